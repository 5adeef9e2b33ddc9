//! One line for many: what may happen a thousand times a second is told once in a while, with how often it was.
//!
//! Owns the count since the last line. Exact figures are the metrics'.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::clock;

/// Between two lines about one and the same.
const PAUSE: Duration = Duration::from_secs(1);

/// How often something happened that has not been told.
#[derive(Debug, Default)]
pub struct Seldom {
    last_ms: AtomicU64,
    untold: AtomicU64,
}

impl Seldom {
    /// Nothing has happened yet.
    pub const fn new() -> Seldom {
        Seldom { last_ms: AtomicU64::new(0), untold: AtomicU64::new(0) }
    }

    /// It happened. If it is time for a line: for how many it stands, this one among them.
    pub fn happened(&self) -> Option<u64> {
        self.happened_at(clock::now_ms())
    }

    fn happened_at(&self, now_ms: u64) -> Option<u64> {
        let order = Ordering::Relaxed;
        self.untold.fetch_add(1, order);
        let last_ms = self.last_ms.load(order);
        // A clock that was set back must not silence it for as long.
        let due = u128::from(now_ms.abs_diff(last_ms)) >= PAUSE.as_millis();
        let first = due && self.last_ms.compare_exchange(last_ms, now_ms, order, order).is_ok();
        first.then(|| self.untold.swap(0, order))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_are_one_line_that_says_so() {
        let seldom = Seldom::new();
        assert_eq!(seldom.happened_at(5_000), Some(1), "the first is told at once");
        let more = (0..1_000).filter_map(|nth| seldom.happened_at(5_000 + nth % 1_000)).count();
        assert_eq!(more, 0);
        assert_eq!(seldom.happened_at(6_000), Some(1_001));
        assert_eq!(seldom.happened_at(6_500), None);
        assert_eq!(seldom.happened_at(2_000), Some(2), "the clock was set back");
    }
}
