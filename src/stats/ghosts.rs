//! Whoever enters without having waited, and does not come back: bots without cookies, previews, monitors.
//!
//! Owns who entered here for `session_first` only. Whether they came back is not asked of anybody: a seat that was used once
//! more lasts a whole session, so one that ends earlier by silence was not, whatever node it might have come back to.

use std::collections::BTreeMap;

use crate::line::{Ending, Number, Terms};

/// Remembered at once: 30 s of 2,000 entries a second. Beyond it some are not counted.
const MOST: usize = 65_536;

/// Those who have not come back yet, or might not have.
#[derive(Debug, Default)]
pub(super) struct Ghosts {
    epoch: u64,
    /// When a session that was used once more would end at the earliest, by number.
    earliest: BTreeMap<Number, u64>,
}

impl Ghosts {
    /// Somebody entered without having waited, in a room with sessions of this length.
    pub(super) fn entered(&mut self, epoch: u64, number: Number, terms: &Terms, session_ms: u64) {
        self.turn(epoch);
        let earliest_ms = terms.admitted_ms + session_ms;
        if epoch == self.epoch && terms.expires_ms < earliest_ms && self.earliest.len() < MOST {
            self.earliest.insert(number, earliest_ms);
        }
    }

    /// Sessions are over: how many of them were ghosts'.
    pub(super) fn ended(&mut self, epoch: u64, ended: &[(Number, Ending)], now_ms: u64) -> u64 {
        self.turn(epoch);
        let mut ghosts = 0;
        for (number, why) in ended {
            let noted = self.earliest.remove(number);
            let silent = *why == Ending::Idle && noted.is_some_and(|earliest| now_ms < earliest);
            ghosts += u64::from(silent);
        }
        // Numbers are given in the order of time.
        while self.earliest.first_key_value().is_some_and(|(_, earliest)| *earliest <= now_ms) {
            self.earliest.pop_first();
        }
        ghosts
    }

    /// Numbers of a later epoch are other people's.
    fn turn(&mut self, epoch: u64) {
        if epoch > self.epoch {
            *self = Ghosts { epoch, earliest: BTreeMap::new() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION_MS: u64 = 300_000;

    fn terms(admitted_ms: u64, span_ms: u64) -> Terms {
        Terms { admitted_ms, issued_ms: admitted_ms, expires_ms: admitted_ms + span_ms, slot: 0 }
    }

    fn three() -> Ghosts {
        let mut ghosts = Ghosts::default();
        for number in 1..=3 {
            ghosts.entered(1, number, &terms(1_000, 30_000), SESSION_MS);
        }
        ghosts
    }

    #[test]
    fn whoever_falls_silent_before_a_whole_session_never_came_back() {
        let mut ghosts = three();
        assert_eq!(ghosts.ended(1, &[(1, Ending::Idle), (9, Ending::Idle)], 31_000), 1);
        assert_eq!(ghosts.ended(1, &[(1, Ending::Idle)], 32_000), 0, "counted once");
        assert_eq!(ghosts.ended(1, &[(2, Ending::Completed), (3, Ending::Left)], 33_000), 0);
        assert!(ghosts.earliest.is_empty());
    }

    #[test]
    fn whoever_came_back_is_none() {
        let mut ghosts = three();
        // Back after a second, then silent for a whole session.
        assert_eq!(ghosts.ended(1, &[(1, Ending::Idle)], 2_000 + SESSION_MS), 0);
        assert!(ghosts.earliest.is_empty(), "the others are inside for long");
        // An app has a whole session at once.
        ghosts.entered(1, 4, &terms(1_000, SESSION_MS), SESSION_MS);
        assert!(ghosts.earliest.is_empty());
    }

    #[test]
    fn a_reset_takes_them_all_and_their_number_is_bounded() {
        let mut ghosts = three();
        assert_eq!(ghosts.ended(2, &[(1, Ending::Idle)], 31_000), 0);
        ghosts.entered(1, 5, &terms(1_000, 30_000), SESSION_MS);
        assert!(ghosts.earliest.is_empty(), "of an epoch that is over");
        for number in 0..MOST as u64 + 10 {
            ghosts.entered(2, number, &terms(1_000, 30_000), SESSION_MS);
        }
        assert_eq!(ghosts.earliest.len(), MOST);
    }
}
