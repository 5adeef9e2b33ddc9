//! How many wait in all rooms of a node together: they share what it can answer.
//!
//! Owns two sums that every room's driver keeps current, so that whoever answers a poll reads them without a lock and
//! without going through the rooms. Decides nothing: how often pages ask is the gateway's.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::line::View;

/// Whoever has less than this before their turn is near it.
pub const NEAR: Duration = Duration::from_secs(8);

/// Those who wait before any room of a node.
#[derive(Debug, Default)]
pub struct Crowd {
    waiting: AtomicU64,
    near: AtomicU64,
}

impl Crowd {
    /// All of them.
    pub fn waiting(&self) -> u64 {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Those of them who are [`NEAR`] their turn.
    pub fn near(&self) -> u64 {
        self.near.load(Ordering::Relaxed)
    }
}

/// One room's part of it. Changed by its driver alone, and taken back when that ends.
#[derive(Debug, Default)]
pub(super) struct Share {
    pub(super) crowd: Arc<Crowd>,
    own: Crowd,
}

impl Share {
    pub(super) fn of(crowd: &Arc<Crowd>) -> Share {
        Share { crowd: crowd.clone(), own: Crowd::default() }
    }

    /// As many as a view tells of.
    pub(super) fn follow(&self, view: &View) {
        self.set(view.waiting(), near(view));
    }

    pub(super) fn set(&self, waiting: u64, near: u64) {
        for (all, own, now) in [
            (&self.crowd.waiting, &self.own.waiting, waiting),
            (&self.crowd.near, &self.own.near, near),
        ] {
            let before = own.swap(now, Ordering::Relaxed);
            // Adds less than nothing where it has become less.
            all.fetch_add(now.wrapping_sub(before), Ordering::Relaxed);
        }
    }
}

/// How many of those who wait are near their turn. The time to it rises with the position, so a search finds it.
fn near(view: &View) -> u64 {
    let (mut near, mut far) = (0, view.waiting() + 1);
    if view.is_paused() {
        return 0;
    }
    while near + 1 < far {
        let middle = near + (far - near) / 2;
        match view.reckoned_eta(middle).seconds < NEAR.as_secs() {
            true => near = middle,
            false => far = middle,
        }
    }
    near
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_room_changes_its_own_part() {
        let crowd = Arc::new(Crowd::default());
        let rooms = [(); 3].map(|()| Share::of(&crowd));
        for (n, room) in (1..).zip(&rooms) {
            room.set(100 * n, n);
        }
        assert_eq!((crowd.waiting(), crowd.near()), (600, 6));
        rooms[1].set(50, 0);
        assert_eq!((crowd.waiting(), crowd.near()), (450, 4));
        rooms.iter().for_each(|room| room.set(0, 0));
        assert_eq!((crowd.waiting(), crowd.near()), (0, 0));
    }

    #[test]
    fn near_is_who_has_seconds_left() {
        let rate = crate::line::Rate { count: 100, per_ms: 1_000 };
        let pace = Some(crate::line::Pace::Rate { rate, burst: 1 });
        let settings = crate::line::Settings { pace, ..Default::default() };
        let mut line = crate::line::Line::founded(crate::line::Moment { wall_ms: 1, run: 1 });
        let mut view = View::default();
        let mut batch = view.greeting(7, 1);
        batch.offer = Some(crate::line::Offer { version: 1, settings });
        batch.joins = vec![crate::line::Join::Plain(5_000)];
        let reply = line.apply(&batch, crate::line::Moment { wall_ms: 1, run: 1 });
        view.absorb(&reply.expect("a batch within bounds"));
        let found = near(&view);
        assert!((700..=800).contains(&found), "{found} of {}", view.waiting());
    }
}
