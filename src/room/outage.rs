//! A time in which the store does not answer: when it began, how long it lasts, who came meanwhile.
//!
//! Owns the clock of an outage. It runs on the node's monotonic time from the moment the store was lost, so neither a
//! wall clock that is set nor a store that comes back with another time puts two arrivals into another order.
//! Decides nothing about visitors.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// An outage that is over is remembered for so long: longer than it takes to let those join who came meanwhile.
/// A store that is lost again before is taken to have been away all along, as far as their order goes.
const MEMORY: Duration = Duration::from_secs(120);

/// An outage, present or just over.
#[derive(Debug)]
pub struct Outage {
    /// When it began, by the store's time as this node knew it.
    began_ms: u64,
    /// This node had not heard the store's time: that is by its own clock.
    guessed: bool,
    /// By how much its own clock was behind, where it had to guess: known once the store is back.
    behind_ms: i64,
    began: Instant,
    /// When the store was last lost: later than `began` if it came back for a moment only.
    lost: Instant,
    /// When the store was back, and how many had come by then.
    found: Option<(Instant, u64)>,
    arrivals: AtomicU64,
    /// The store is there, and the line in it is a newer version's.
    outgrown: AtomicBool,
}

impl Outage {
    /// One that began at `lost`, which was `began_ms` by the store's time, or as far as this node can guess; or the last one, which
    /// goes on.
    pub(super) fn new(
        lost: Instant,
        began_ms: u64,
        guessed: bool,
        last: Option<&Outage>,
    ) -> Outage {
        match last.filter(|last| !last.is_forgotten()) {
            Some(last) => Outage {
                lost,
                found: None,
                arrivals: AtomicU64::new(last.arrivals()),
                outgrown: AtomicBool::new(false),
                ..*last
            },
            None => Outage {
                began_ms,
                guessed,
                behind_ms: 0,
                began: lost,
                lost,
                found: None,
                arrivals: AtomicU64::new(0),
                outgrown: AtomicBool::new(false),
            },
        }
    }

    /// The same, over; it is `now_ms` by the store's time.
    pub(super) fn ended(&self, now_ms: u64) -> Outage {
        let arrivals = self.arrivals();
        let (mut began_ms, mut behind_ms) = (self.began_ms, self.behind_ms);
        if self.guessed {
            behind_ms = now_ms.cast_signed() - self.now_ms().cast_signed();
            began_ms = began_ms.saturating_add_signed(behind_ms);
        }
        Outage {
            began_ms,
            guessed: false,
            behind_ms,
            found: Some((Instant::now(), arrivals)),
            arrivals: AtomicU64::new(arrivals),
            outgrown: AtomicBool::new(false),
            ..*self
        }
    }

    /// Whether it is over for so long that nobody asks about it any more.
    pub(super) fn is_forgotten(&self) -> bool {
        self.found.is_some_and(|(found, _)| found.elapsed() >= MEMORY)
    }

    /// Whether the store is away.
    pub fn is_present(&self) -> bool {
        self.found.is_none()
    }

    /// Whether this node is too old for the line: newer ones are at it, and keep its promises.
    pub fn is_outgrown(&self) -> bool {
        self.outgrown.load(Ordering::Relaxed)
    }

    /// This node is too old for the line; whether that is news. It stays so until the line can be read again, whatever else
    /// becomes of the store meanwhile.
    pub(super) fn outgrow(&self) -> bool {
        !self.outgrown.swap(true, Ordering::Relaxed)
    }

    /// For how long the store has been away, or was.
    pub fn lasted(&self) -> Duration {
        self.found.map_or_else(Instant::now, |(found, _)| found) - self.lost
    }

    /// When it began, in unix milliseconds.
    pub fn began_ms(&self) -> u64 {
        self.began_ms
    }

    /// For how long people came who could not join, in milliseconds.
    pub fn span_ms(&self) -> u64 {
        millis(self.found.map_or_else(Instant::now, |(found, _)| found) - self.began)
    }

    /// For how long the store is back, in milliseconds, and how many had come before.
    pub fn found(&self) -> Option<(u64, u64)> {
        self.found.map(|(found, arrivals)| (millis(found.elapsed()), arrivals))
    }

    /// What time it is for somebody who comes now.
    pub fn now_ms(&self) -> u64 {
        self.began_ms + millis(self.began.elapsed())
    }

    /// Whether this node does not know the store's time, and goes by its own clock.
    pub(super) fn is_guessed(&self) -> bool {
        self.guessed
    }

    /// When somebody came of whom only a node's own clock tells. That node knows afterwards how far off it was. Another believes
    /// what falls into the outage; else nobody knows more than that they came in it, and they are the last who did.
    pub(super) fn came_ms(&self, arrived_ms: u64, ours: bool) -> u64 {
        let latest_ms = self.began_ms.saturating_add(self.span_ms());
        match ours {
            true => arrived_ms.saturating_add_signed(self.behind_ms),
            false if (self.began_ms..=latest_ms).contains(&arrived_ms) => arrived_ms,
            false => latest_ms,
        }
    }

    /// How many came that this node could give no number.
    pub fn arrivals(&self) -> u64 {
        self.arrivals.load(Ordering::Relaxed)
    }

    /// One more.
    pub fn note_arrival(&self) {
        self.arrivals.fetch_add(1, Ordering::Relaxed);
    }
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_store_lost_again_soon_was_never_back_for_those_who_came() {
        let seconds = Duration::from_secs;
        let first = Outage::new(Instant::now(), 5_000, false, None);
        first.note_arrival();
        advance(seconds(10)).await;
        assert_eq!((first.lasted(), first.now_ms()), (seconds(10), 15_000));
        let over = first.ended(999_000);
        first.note_arrival();
        advance(seconds(20)).await;
        assert_eq!((over.lasted(), over.span_ms()), (seconds(10), 10_000));
        assert_eq!((over.found(), over.now_ms()), (Some((20_000, 1)), 35_000));
        let again = Outage::new(Instant::now(), 999_000, true, Some(&over));
        advance(seconds(1)).await;
        assert!(again.is_present());
        assert_eq!(again.lasted(), seconds(1), "what an operator waits for counts anew");
        assert_eq!((again.began_ms(), again.span_ms(), again.arrivals()), (5_000, 31_000, 1));
        let over = again.ended(999_000);
        advance(MEMORY).await;
        let later = Outage::new(Instant::now(), 999_000, false, Some(&over));
        assert_eq!((later.began_ms(), later.arrivals()), (999_000, 0), "that one is forgotten");
    }

    /// A node that starts in an outage goes by its own clock, and knows afterwards what time it was.
    #[tokio::test(start_paused = true)]
    async fn a_clock_that_was_wrong_is_put_right_once_the_store_says() {
        const NOW_MS: u64 = 50_000_000;
        for off_ms in [0, 600_000, -600_000] {
            let wrong = |ms: u64| ms.saturating_add_signed(off_ms);
            let alone = Outage::new(Instant::now(), wrong(NOW_MS), true, None);
            advance(Duration::from_secs(3)).await;
            let arrived_ms = alone.now_ms();
            assert_eq!((alone.is_guessed(), arrived_ms), (true, wrong(NOW_MS + 3_000)));
            assert_eq!(alone.came_ms(arrived_ms, true), arrived_ms, "nobody knows better yet");
            advance(Duration::from_secs(17)).await;
            let over = alone.ended(NOW_MS + 20_000);
            assert_eq!((over.is_guessed(), over.began_ms()), (false, NOW_MS));
            assert_eq!(over.came_ms(arrived_ms, true), NOW_MS + 3_000);
            assert_eq!(over.now_ms(), NOW_MS + 20_000);
            let again = Outage::new(Instant::now(), NOW_MS + 20_000, false, Some(&over));
            assert_eq!(again.came_ms(arrived_ms, true), NOW_MS + 3_000, "as long as it matters");

            // To a node that knew the time all along they came last, unless that clock may have been right.
            let other = Outage::new(Instant::now(), NOW_MS, false, None);
            advance(Duration::from_secs(20)).await;
            let other = other.ended(NOW_MS + 20_000);
            let expected = if off_ms == 0 { NOW_MS + 3_000 } else { NOW_MS + 20_000 };
            assert_eq!(other.came_ms(arrived_ms, false), expected);
        }
    }
}
