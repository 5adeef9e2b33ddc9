//! A room's past, minute by minute, for a day.
//!
//! Owns when a minute is over and what is remembered of it: the line's own counters as they stood, and what the nodes counted
//! meanwhile, added up. In bounded memory: a minute takes the place of the one a day before. Never computes a rate or
//! a quantile: whoever reads does.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::batch::EXACT;
use super::shadow::Shadowed;
use super::state::Line;

/// Minutes that are kept: a day, and an hour of it twice.
pub const MINUTES: u64 = 1_500;
/// Numbers a node counts: `waits` of those who entered and `origin` times by [`Buckets`], then origin answers and errors among
/// them, whoever entered without waiting and never came back, and in a room whose rate follows the origin, requests by their verdict.
pub const FIGURES: usize = WAITS.count + LATENCIES.count + 5;
/// Where each kind begins.
pub const ORIGIN: usize = WAITS.count;
/// Answers of the origin.
pub const ANSWERS: usize = WAITS.count + LATENCIES.count;
/// Of these, errors.
pub const ERRORS: usize = ANSWERS + 1;
/// Entered without having waited, and not seen again.
pub const GHOSTS: usize = ANSWERS + 2;
/// Requests answered within the target.
pub const FAST: usize = ANSWERS + 3;
/// Requests that were not, counted as soon as that is certain.
pub const SLOW: usize = ANSWERS + 4;

/// A room whose pace nobody has set.
pub const NO_RATE: u64 = EXACT - 1;

/// Seconds waited: from one second to four days.
pub const WAITS: Buckets = Buckets { first: 1.0, factor: 1.5, count: 32 };
/// Milliseconds an origin took: from one to a minute and a half.
pub const LATENCIES: Buckets = Buckets { first: 1.0, factor: 1.5, count: 29 };

/// A histogram whose buckets grow by a factor: quantiles are right to that factor, at any scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Buckets {
    /// The first bucket ends here.
    pub first: f64,
    /// Each next one so much later.
    pub factor: f64,
    /// How many there are; the last has no end.
    pub count: usize,
}

impl Buckets {
    /// The bucket of a value.
    pub fn of(&self, value: f64) -> usize {
        let mut end = self.first;
        (0..self.count - 1)
            .find(|_| {
                let inside = value <= end;
                end *= self.factor;
                inside
            })
            .unwrap_or(self.count - 1)
    }

    /// The mean, as far as the middles of buckets tell. `None`: there are none.
    pub fn mean(&self, counts: &[u64]) -> Option<f64> {
        let total: u64 = counts.iter().sum();
        let (mut sum, mut low, mut high) = (0.0, 0.0, self.first);
        for count in counts {
            sum += *count as f64 * (low + high) / 2.0;
            low = high;
            high *= self.factor;
        }
        (total > 0).then(|| sum / total as f64)
    }

    /// The value below which a share of all lies, between the ends of its bucket. `None`: there are none.
    pub fn quantile(&self, counts: &[u64], share: f64) -> Option<f64> {
        let total: u64 = counts.iter().sum();
        let wanted = share * total as f64;
        let (mut below, mut low, mut high) = (0.0, 0.0, self.first);
        for count in counts {
            let count = *count as f64;
            if count > 0.0 && below + count >= wanted {
                return Some(low + (high - low) * ((wanted - below) / count).clamp(0.0, 1.0));
            }
            below += count;
            low = high;
            high *= self.factor;
        }
        None
    }
}

/// One minute as it ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Minute {
    /// Which: minutes since 1970, by the store's wall clock.
    pub minute: u64,
    /// The generation; the totals below count from its beginning.
    pub epoch: u64,
    /// Here and waiting.
    pub waiting: u64,
    /// Called, not yet in.
    pub admitted: u64,
    /// Inside.
    pub inside: u64,
    /// Numbers given.
    pub issued: u64,
    /// Turns given.
    pub turns: u64,
    /// Entered.
    pub entered: u64,
    /// Completed.
    pub completed: u64,
    /// Called, and did not come.
    pub no_shows: u64,
    /// Gone by silence.
    pub dropped: u64,
    /// Turns in a thousand seconds, as it was set, or as it followed the origin; [`NO_RATE`]: no such limit.
    pub rate: u64,
    /// What nodes counted, see [`FIGURES`]; empty: nothing.
    pub figures: Vec<u64>,
    /// What would have happened, in mode shadow.
    #[serde(default)]
    pub shadow: Option<Shadowed>,
}

/// What is remembered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct History {
    /// The minute that runs; 0: none yet.
    pub(super) minute: u64,
    /// What nodes counted in it.
    pub(super) figures: Vec<u64>,
    /// Those before, by their place in the ring.
    pub(super) past: BTreeMap<u64, Minute>,
}

impl Line {
    /// Closes the minute that ran, if another has begun: with the counters as the last exchange left them.
    pub(super) fn turn_minute(&mut self) {
        let minute = self.wall_ms / 60_000;
        let last = self.history.minute;
        if minute == last {
            return;
        }
        self.history.minute = minute;
        let figures = std::mem::take(&mut self.history.figures);
        let shadow = self.shadow_minute();
        if last > 0 {
            let past = self.minute(last, figures, shadow);
            self.history.past.insert(last % MINUTES, past);
        }
    }

    fn minute(&self, minute: u64, figures: Vec<u64>, shadow: Option<Shadowed>) -> Minute {
        Minute {
            minute,
            epoch: self.epoch,
            waiting: self.waiting,
            admitted: self.admitted(),
            inside: self.sessions.inside(),
            issued: self.issued,
            turns: self.totals.turns,
            entered: self.totals.entered,
            completed: self.totals.completed,
            no_shows: self.totals.no_shows,
            dropped: self.totals.dropped,
            rate: self.slowed().unwrap_or(self.settings().rate_per_1000s()),
            figures,
            shadow,
        }
    }

    /// Adds what a node counted to the minute that runs.
    pub(super) fn add_figures(&mut self, figures: &[u64]) {
        if figures.is_empty() {
            return;
        }
        let sums = &mut self.history.figures;
        sums.resize(FIGURES, 0);
        sums.iter_mut().zip(figures).for_each(|(sum, figure)| *sum += figure);
    }

    /// The past, oldest first, and the minute that runs as it stands.
    pub fn history(&self) -> Vec<Minute> {
        let mut past: Vec<Minute> = self.history.past.values().cloned().collect();
        past.sort_by_key(|minute| minute.minute);
        if self.history.minute > 0 {
            let shadow = self.shadow.map(|shadow| shadow.minute);
            past.push(self.minute(self.history.minute, self.history.figures.clone(), shadow));
        }
        past
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_in_the_bucket_whose_end_it_does_not_pass() {
        assert_eq!((WAITS.of(0.0), WAITS.of(1.0), WAITS.of(1.01), WAITS.of(1.5)), (0, 0, 1, 1));
        assert_eq!(WAITS.of(f64::MAX), WAITS.count - 1);
        assert!(WAITS.first * WAITS.factor.powi(WAITS.count as i32 - 1) > 86_400.0);
    }

    #[test]
    fn quantiles_are_right_to_a_bucket() {
        let mut counts = vec![0; WAITS.count];
        assert_eq!(WAITS.quantile(&counts, 0.5), None);
        for wait in 1..=1_000 {
            counts[WAITS.of(f64::from(wait))] += 1;
        }
        for (share, exact) in [(0.5, 500.0), (0.9, 900.0), (0.99, 990.0)] {
            let found = WAITS.quantile(&counts, share).unwrap();
            assert!((found / exact).ln().abs() <= WAITS.factor.ln(), "{share}: {found}");
        }
    }
}
