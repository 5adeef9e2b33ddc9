//! How the line went lately, as this node saw it: what estimates are made of.
//!
//! Owns sums of the counters' differences over the last ten minutes, in bounded space, shared by all copies of a view. Every exchange adds
//! one difference; what a node has not seen, it does not know.
//!
//! ```text
//!   clock     …│ 10 s │ 10 s │ 10 s │ now      sums from the beginning, noted every ten seconds:
//!   turns     …│  120 │  170 │  218 │ 244      any span of the last ten minutes is a difference of two
//! ```

use std::collections::VecDeque;
use std::ops::Sub;
use std::sync::Arc;

use super::turns::DEPTHS;
use crate::line::batch::Counts;
use crate::line::settings::{Pace, Settings};

/// How far back it goes.
const SPAN_MS: u64 = 600_000;
/// How fine: sixty notes, 7 KB.
const STEP_MS: u64 = 10_000;
/// More newcomers than this in one exchange are not looked at: numbers that were left out after a loss look like them.
const LEAP: u64 = 100_000;

/// The course of a line.
#[derive(Clone, Debug, Default)]
pub(in crate::line) struct Course {
    now: Sums,
    notes: Arc<VecDeque<Sums>>,
}

/// Since this node has known the line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::line) struct Sums {
    /// Milliseconds of the room's clock that were looked at.
    pub(in crate::line) clock_ms: f64,
    /// Seconds in which people waited, and turns came as they are set: not before an opening, nor while anybody or the origin held them.
    pub(in crate::line) contested: f64,
    /// Turns given in them.
    pub(in crate::line) turns: f64,
    /// Turns that the pace alone would have given in them.
    pub(in crate::line) set: f64,
    /// Turns given at any time.
    pub(in crate::line) given: f64,
    /// Turns that nobody took.
    pub(in crate::line) missed: f64,
    /// Went from the line without a turn, less those who came back.
    pub(in crate::line) gone: f64,
    /// Person-seconds of waiting.
    pub(in crate::line) waited: f64,
    /// Seats that became free.
    pub(in crate::line) freed: f64,
    /// Seat-seconds in which they were taken.
    pub(in crate::line) taken: f64,
    /// Those who got before ordinary visitors from behind, less those of them who went: in contested seconds, by how far back the
    /// ordinary visitors stood.
    pub(in crate::line) overtook: [f64; DEPTHS],
}

impl Sub for Sums {
    type Output = Sums;

    fn sub(self, before: Sums) -> Sums {
        Sums {
            clock_ms: self.clock_ms - before.clock_ms,
            contested: self.contested - before.contested,
            turns: self.turns - before.turns,
            set: self.set - before.set,
            given: self.given - before.given,
            missed: self.missed - before.missed,
            gone: self.gone - before.gone,
            waited: self.waited - before.waited,
            freed: self.freed - before.freed,
            taken: self.taken - before.taken,
            overtook: std::array::from_fn(|depth| self.overtook[depth] - before.overtook[depth]),
        }
    }
}

/// Turns a second by the pace, or as the origin's health allows: none while it fails. `None` where there is no pace.
pub(in crate::line) fn set_rate(settings: Option<&Settings>, counts: &Counts) -> Option<f64> {
    if let Some(adapted) = counts.adapted {
        return Some(adapted.rate as f64 / 1_000.0);
    }
    settings.and_then(|settings| settings.pace).map(|pace| match pace {
        Pace::Rate { rate, .. } => rate.count as f64 * 1_000.0 / rate.per_ms as f64,
        Pace::Batch { batch, interval_ms, .. } => batch as f64 * 1_000.0 / interval_ms as f64,
    })
}

fn seats_taken(counts: &Counts) -> u64 {
    counts.inside + counts.admitted + counts.missing
}

impl Course {
    /// Of a line that was first heard of now.
    pub(super) fn begin() -> Course {
        Course { now: Sums::default(), notes: Arc::new(VecDeque::from([Sums::default()])) }
    }

    /// An exchange later, with the settings that were in force until now. What people who waited saw of it, if turns came as they
    /// are set: who got before them.
    pub(super) fn advance(
        &mut self,
        last: &Counts,
        now: &Counts,
        settings: Option<&Settings>,
        overtook: Option<[f64; DEPTHS]>,
    ) {
        let difference = |now: u64, last: u64| now as f64 - last as f64;
        let seconds = difference(now.clock_ms, last.clock_ms).max(0.0) / 1_000.0;
        let turns = difference(now.turns, last.turns).max(0.0);
        let sums = &mut self.now;
        sums.clock_ms += seconds * 1_000.0;
        if let Some(overtook) = overtook.filter(|_| last.waiting > 0 && now.waiting > 0) {
            sums.contested += seconds;
            sums.turns += turns;
            sums.set += set_rate(settings, now).unwrap_or(0.0) * seconds;
            sums.overtook.iter_mut().zip(overtook).for_each(|(sum, more)| *sum += more);
        }
        sums.given += turns;
        sums.missed += difference(now.no_shows, last.no_shows).max(0.0);
        // Who was drawn has another number, and did not come by it.
        if now.draw == last.draw && now.issued.saturating_sub(last.issued) < LEAP {
            let joined = difference(now.issued, last.issued);
            sums.gone += joined - turns - difference(now.waiting, last.waiting);
        }
        sums.waited += last.waiting as f64 * seconds;
        sums.freed += (turns - difference(seats_taken(now), seats_taken(last))).max(0.0);
        sums.taken += seats_taken(last) as f64 * seconds;
        let noted_ms = self.notes.back().map_or(0.0, |note| note.clock_ms);
        if sums.clock_ms - noted_ms >= STEP_MS as f64 {
            let notes = Arc::make_mut(&mut self.notes);
            notes.push_back(*sums);
            while notes.front().is_some_and(|note| note.clock_ms + (SPAN_MS as f64) < sums.clock_ms)
            {
                notes.pop_front();
            }
        }
    }

    /// What happened in the last so many seconds, or as far back as is known.
    pub(in crate::line) fn last(&self, seconds: f64) -> Sums {
        self.now - self.ago(seconds)
    }

    /// The sums as they were so long ago; the oldest, if that is too long.
    pub(in crate::line) fn ago(&self, seconds: f64) -> Sums {
        let then_ms = self.now.clock_ms - seconds * 1_000.0;
        let later = self.notes.partition_point(|note| note.clock_ms <= then_ms);
        let note = self.notes.get(later.saturating_sub(1)).copied();
        note.unwrap_or(self.now)
    }

    /// For how long this node has looked on, at most ten minutes.
    pub(in crate::line) fn seconds(&self) -> f64 {
        self.last(SPAN_MS as f64 / 1_000.0).clock_ms / 1_000.0
    }
}
