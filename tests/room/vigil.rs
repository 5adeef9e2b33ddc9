//! Whoever stays with somebody inside hears of their ending with the exchange that brought it; of nobody else's.

use std::pin::Pin;

use super::*;

fn is_told(news: Pin<&mut impl Future>) -> bool {
    news.poll(&mut Context::from_waker(Waker::noop())).is_ready()
}

#[test]
fn an_ending_wakes_those_who_stay_with_that_visitor() {
    with(Noting::founded(), offer(Settings::default()), async |room| {
        let ann = number(room.join(None).await);
        let bob = number(room.join(None).await);
        let (one, other, his) = (room.vigil(ann), room.vigil(ann), room.vigil(bob));
        let mut news = pin!(one.news());
        let mut unasked = pin!(other.news());
        let mut bobs = pin!(his.news());
        assert!(!is_told(news.as_mut()) && !is_told(bobs.as_mut()));
        assert_eq!(room.end(proof(&room, ann), Ending::Revoked).await, Ok(Done::Freed));
        assert!(is_told(news.as_mut()));
        assert!(is_told(unasked.as_mut()), "whoever looked at the view first misses nothing");
        tokio::time::sleep(Duration::from_secs(5)).await;
        assert!(!is_told(bobs.as_mut()), "ten exchanges, and none was about him");
        // Numbers of an epoch that is over are nobody's.
        assert_eq!(room.command(Command::Reset).await, Ok(Commanded::Done));
        assert!(is_told(bobs.as_mut()));
    });
}

#[test]
fn whoever_still_stays_is_woken_when_others_have_gone() {
    with(Noting::founded(), offer(Settings::default()), async |room| {
        let ann = number(room.join(None).await);
        let (gone, stays) = (room.vigil(ann), room.vigil(ann));
        drop(gone);
        let mut news = pin!(stays.news());
        assert_eq!(room.leave(proof(&room, ann)).await, Ok(Done::Freed));
        assert!(is_told(news.as_mut()));
    });
}
