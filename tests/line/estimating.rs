//! How long it will take: a range from the turns people really got.

use super::*;

/// Everybody in the line polls, and whoever is called comes in, for so long.
fn run(room: &mut Room, seconds: u64) {
    for _ in 0..seconds * 2 {
        room.wall_ms += 500;
        let Counts { released, lapsed, issued, .. } = *room.view.counts();
        let called =
            (lapsed + 1..=released).filter(|number| room.standing(*number) == Standing::Admitted);
        let claims: Vec<_> = called.take(MAX_ITEMS).collect();
        room.with(|batch| {
            batch.claims = claims;
            batch.marks = (released + 1..=issued).collect();
        });
    }
}

/// What the page said, and when the turn of that number really came.
fn promised_and_kept(room: &mut Room, number: Number) -> (Eta, u64) {
    let position = room.view.position(number).expect("waiting");
    let eta = room.view.reckoned_eta(position);
    let asked_ms = room.wall_ms;
    while room.standing(number) == Standing::Waiting {
        run(room, 1);
    }
    (eta, (room.wall_ms - asked_ms) / 1_000)
}

#[test]
fn without_history_the_set_rate_counts() {
    let mut room = Room::new(rate(4));
    room.join(1_000);
    let eta = room.view.reckoned_eta(400);
    assert_eq!(eta.seconds, 100);
    assert!(eta.low < 100 && eta.high > 100, "a range, not a promise: {eta:?}");
    let pace = Pace::Batch { batch: 50, interval_ms: 10_000, windows: 2 };
    let room = Room::new(Settings { pace: Some(pace), ..Settings::default() });
    assert_eq!(room.view.reckoned_eta(400).seconds, 80);
    assert_eq!(
        Room::new(rate(0)).view.reckoned_eta(60).seconds,
        60,
        "no rate counts as one a second"
    );
    assert_eq!(Room::new(rate(0)).view.eta(60), None, "and nobody is told so");
    assert!(Room::new(rate(5)).view.eta(60).is_some());
    assert_eq!(
        Room::new(seats(3)).view.reckoned_eta(60).seconds,
        20 * 300,
        "seats last a session each"
    );
}

#[test]
fn a_steady_rate_is_told_right() {
    let mut room = Room::new(rate(5));
    room.join(4_000);
    run(&mut room, 120);
    let (eta, kept) = promised_and_kept(&mut room, 2_000);
    assert!(eta.low <= kept && kept <= eta.high, "{eta:?}, was {kept}");
    assert!(eta.seconds.abs_diff(kept) * 10 <= kept, "within a tenth: {eta:?}, was {kept}");
}

#[test]
fn seats_that_free_up_make_a_rate_too() {
    let settings = Settings { session_idle_ms: Some(20_000), ..seats(100) };
    let mut room = Room::new(settings);
    room.join(3_000);
    run(&mut room, 120); // a hundred seats, twenty seconds each: five a second
    let (eta, kept) = promised_and_kept(&mut room, 2_000);
    assert!(eta.low <= kept && kept <= eta.high, "{eta:?}, was {kept}");
}

#[test]
fn a_rate_that_drops_widens_the_range() {
    let mut room = Room::new(rate(10));
    room.join(20_000);
    run(&mut room, 300);
    let before = room.view.reckoned_eta(1_000);
    room.offer(rate(2));
    run(&mut room, 60);
    let after = room.view.reckoned_eta(1_000);
    assert!(after.high - after.low > 2 * (before.high - before.low), "{before:?} {after:?}");
    assert!((100..=500).contains(&after.seconds), "between the two: {after:?}");
}

#[test]
fn a_range_is_never_inside_out_and_never_zero() {
    let mut room = Room::new(rate(3));
    room.join(500);
    for _ in 0..100 {
        run(&mut room, 1);
        for position in [0, 1, 2, 10, 1_000, 10_000_000] {
            let Eta { seconds, low, high } = room.view.reckoned_eta(position);
            assert!(
                low <= seconds && seconds <= high && seconds >= 1,
                "{position}: {low} {seconds} {high}"
            );
        }
    }
}
