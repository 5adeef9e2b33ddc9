//! Requests under way to the origin, and whether they were answered in time.
//!
//! Owns the verdict on each: fast if it was answered within the target, slow as soon as it was not, once. So an origin that hangs
//! is seen while it hangs. Keeps a count for each quarter of a second, not a record for each request.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use tokio::time::Instant;

use super::Stats;
use crate::line::{FAST, SLOW};

/// The width of a slot.
const SLOT_MS: u64 = 250;
/// More than the longest target and the pauses between two looks take.
const SLOTS: usize = 1_024;

/// What a room has under way.
pub(super) struct Verdicts {
    since: Instant,
    /// 0: nobody wants to know.
    target_ms: AtomicU64,
    /// Requests that began in a slot and have no verdict.
    open: Box<[AtomicI64]>,
    /// Whatever began before this slot has one.
    judged: AtomicU64,
}

impl Default for Verdicts {
    fn default() -> Verdicts {
        Verdicts {
            since: Instant::now(),
            target_ms: AtomicU64::new(0),
            open: (0..SLOTS).map(|_| AtomicI64::new(0)).collect(),
            judged: AtomicU64::new(0),
        }
    }
}

impl Verdicts {
    fn now_ms(&self) -> u64 {
        self.since.elapsed().as_millis() as u64
    }

    fn slot(&self, slot: u64) -> &AtomicI64 {
        &self.open[(slot % SLOTS as u64) as usize]
    }

    /// How many have become slow since the last look: requests that were not answered within the target, whose length this is from now on.
    pub(super) fn overdue(&self, target_ms: u64) -> u64 {
        self.target_ms.store(target_ms, Ordering::Relaxed);
        let until_ms = self.now_ms().saturating_sub(target_ms);
        let (from, to) = (self.judged.load(Ordering::Relaxed), until_ms / SLOT_MS);
        if to <= from {
            return 0;
        }
        // First said, then counted: who ends meanwhile is counted here, or there, or taken back.
        self.judged.store(to, Ordering::SeqCst);
        let slots = from..to.min(from + SLOTS as u64);
        let late: i64 = slots.map(|slot| self.slot(slot).swap(0, Ordering::SeqCst).max(0)).sum();
        if target_ms == 0 { 0 } else { late.unsigned_abs() }
    }
}

/// A request on its way. Dropped without an answer, it has no verdict but that it took too long.
pub struct UnderWay {
    stats: Arc<Stats>,
    began: Instant,
    /// `None`: nobody wanted to know when it began.
    slot: Option<u64>,
}

impl UnderWay {
    /// From now on.
    pub fn new(stats: &Arc<Stats>) -> UnderWay {
        let verdicts = &stats.verdicts;
        let wanted = verdicts.target_ms.load(Ordering::Relaxed) > 0;
        let slot = wanted.then(|| verdicts.now_ms() / SLOT_MS);
        if let Some(slot) = slot {
            verdicts.slot(slot).fetch_add(1, Ordering::SeqCst);
        }
        UnderWay { stats: stats.clone(), began: Instant::now(), slot }
    }

    /// It was answered.
    pub fn answered(mut self) {
        if self.close() {
            let target_ms = self.stats.verdicts.target_ms.load(Ordering::Relaxed);
            let late = self.began.elapsed().as_millis() as u64 > target_ms;
            self.stats.figure(if late { SLOW } else { FAST });
        }
    }

    /// Whether it had no verdict yet; it is not under way any more.
    fn close(&mut self) -> bool {
        let verdicts = &self.stats.verdicts;
        let open = self.slot.take().filter(|slot| *slot >= verdicts.judged.load(Ordering::SeqCst));
        if let Some(slot) = open {
            verdicts.slot(slot).fetch_sub(1, Ordering::SeqCst);
        }
        open.is_some()
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::advance;

    use super::*;

    fn counted(stats: &Stats) -> (u64, u64) {
        let late = stats.verdicts.overdue(500);
        let figures = stats.take_figures();
        let one = |at: usize| figures.get(at).copied().unwrap_or(0);
        (one(FAST), one(SLOW) + late)
    }

    #[tokio::test(start_paused = true)]
    async fn every_request_has_one_verdict_and_a_hanging_one_has_it_while_it_hangs() {
        let stats = Stats::unread("sale");
        drop(UnderWay::new(&stats));
        UnderWay::new(&stats).answered();
        assert_eq!(counted(&stats), (0, 0), "nobody wanted to know");
        let all: Vec<UnderWay> = (0..5).map(|_| UnderWay::new(&stats)).collect();
        let mut all = all.into_iter();
        all.next().unwrap().answered();
        advance(Duration::from_millis(400)).await;
        all.next().unwrap().answered();
        assert_eq!(counted(&stats), (2, 0));
        advance(Duration::from_millis(500)).await;
        assert_eq!(counted(&stats), (0, 3), "they hang");
        all.next().unwrap().answered();
        drop(all);
        assert_eq!(counted(&stats), (0, 0), "counted before");
        // Answered late, but before anybody looked.
        let late = UnderWay::new(&stats);
        advance(Duration::from_millis(700)).await;
        late.answered();
        assert_eq!(counted(&stats), (0, 1));
        // Given up by the visitor before it was late.
        drop(UnderWay::new(&stats));
        advance(Duration::from_secs(1_000)).await;
        assert_eq!(counted(&stats), (0, 0));
        // After a day without a look.
        let late = UnderWay::new(&stats);
        advance(Duration::from_secs(86_400)).await;
        assert_eq!(counted(&stats), (0, 1));
        late.answered();
        assert_eq!(counted(&stats), (0, 0));
    }
}
