//! Sessions that are over, as a node remembers them.
//!
//! Owns a map that is copied with every view and yet costs little to copy: levels, the largest first, each
//! shared and never changed. What is new becomes a level of its own and is merged with those before it that
//! are not much larger, so a million endings are a handful of levels, and adding one touches few others.
//! What the line has forgotten itself is dropped when its level is merged.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use super::batch::{Ending, Number};

#[derive(Clone, Debug, Default)]
pub(super) struct Endings {
    levels: Vec<Arc<HashMap<Number, Ended>>>,
}

#[derive(Clone, Copy, Debug)]
struct Ended {
    why: Ending,
    heard_ms: u64,
}

impl Endings {
    pub(super) fn get(&self, number: Number) -> Option<Ending> {
        self.levels.iter().rev().find_map(|level| level.get(&number)).map(|ended| ended.why)
    }

    /// Adds what was heard at `now_ms`; what was heard `keep_ms` before may go.
    pub(super) fn add(
        &mut self,
        news: impl Iterator<Item = (Number, Ending)>,
        now_ms: u64,
        keep_ms: u64,
    ) {
        let mut level: HashMap<_, _> =
            news.map(|(number, why)| (number, Ended { why, heard_ms: now_ms })).collect();
        while let Some(before) = self.levels.pop_if(|before| before.len() <= 2 * level.len()) {
            let mut merged = Arc::unwrap_or_clone(before);
            merged.retain(|_, ended| ended.heard_ms + keep_ms > now_ms);
            merged.extend(level);
            level = merged;
        }
        self.levels.push(Arc::new(level));
    }

    /// Every ending there is, what was heard last first; of two of one number the later.
    pub(super) fn newest_first(&self) -> Vec<(Number, Ending)> {
        let mut all: HashMap<Number, Ended> = HashMap::new();
        for level in &self.levels {
            all.extend(level.iter().map(|(number, ended)| (*number, *ended)));
        }
        let mut all: Vec<(Number, Ended)> = all.into_iter().collect();
        all.sort_unstable_by_key(|(number, ended)| (Reverse(ended.heard_ms), *number));
        all.into_iter().map(|(number, ended)| (number, ended.why)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_endings_are_few_levels_and_the_old_ones_go() {
        let mut endings = Endings::default();
        for number in 1..=100_000 {
            endings.add([(number, Ending::Idle)].into_iter(), number, 10_000);
        }
        endings.add([(99_999, Ending::Completed)].into_iter(), 100_001, 10_000);
        assert_eq!(endings.get(99_999), Some(Ending::Completed));
        assert_eq!(endings.get(95_000), Some(Ending::Idle));
        assert_eq!(endings.get(1), None, "forgotten long ago");
        assert!(endings.levels.len() < 20, "{} levels", endings.levels.len());
        let held: usize = endings.levels.iter().map(|level| level.len()).sum();
        assert!(held < 40_000, "{held} held for 10,000 that count");
        let newest = endings.newest_first();
        assert_eq!(newest[..2], [(99_999, Ending::Completed), (100_000, Ending::Idle)]);
        assert_eq!(newest.iter().filter(|(number, _)| *number == 99_999).count(), 1);
        let rest = newest[1..].iter().map(|(number, _)| *number);
        assert!(rest.is_sorted_by(|one, next| one > next), "what was heard last comes first");
    }
}
