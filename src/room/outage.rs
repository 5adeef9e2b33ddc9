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
    /// One that began at `lost`, which was `began_ms` by the store's time; or the last one, which goes on.
    pub(super) fn new(lost: Instant, began_ms: u64, last: Option<&Outage>) -> Outage {
        match last.filter(|last| !last.is_forgotten()) {
            Some(last) => Outage {
                lost,
                found: None,
                arrivals: AtomicU64::new(last.arrivals()),
                began_ms: last.began_ms,
                began: last.began,
                outgrown: AtomicBool::new(false),
            },
            None => Outage {
                began_ms,
                began: lost,
                lost,
                found: None,
                arrivals: AtomicU64::new(0),
                outgrown: AtomicBool::new(false),
            },
        }
    }

    /// The same, over.
    pub(super) fn ended(&self) -> Outage {
        let arrivals = self.arrivals();
        Outage {
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
        let first = Outage::new(Instant::now(), 5_000, None);
        first.note_arrival();
        advance(seconds(10)).await;
        assert_eq!((first.lasted(), first.now_ms()), (seconds(10), 15_000));
        let over = first.ended();
        first.note_arrival();
        advance(seconds(20)).await;
        assert_eq!((over.lasted(), over.span_ms()), (seconds(10), 10_000));
        assert_eq!((over.found(), over.now_ms()), (Some((20_000, 1)), 35_000));
        let again = Outage::new(Instant::now(), 999_000, Some(&over));
        advance(seconds(1)).await;
        assert!(again.is_present());
        assert_eq!(again.lasted(), seconds(1), "what an operator waits for counts anew");
        assert_eq!((again.began_ms(), again.span_ms(), again.arrivals()), (5_000, 31_000, 1));
        let over = again.ended();
        advance(MEMORY).await;
        let later = Outage::new(Instant::now(), 999_000, Some(&over));
        assert_eq!((later.began_ms(), later.arrivals()), (999_000, 0), "that one is forgotten");
    }
}
