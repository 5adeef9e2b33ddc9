//! Numbers with a score, found by number and in the order of (score, number).
//!
//! Owns the pairing of the two orders; knows nothing of what a score means. It is the sorted set
//! of the usual stores, and small: only visitors with something of their own are in one.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::batch::Number;

/// A sorted set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<(Number, u64)>", into = "Vec<(Number, u64)>")]
pub(super) struct Scores {
    score: BTreeMap<Number, u64>,
    order: BTreeSet<(u64, Number)>,
}

impl Scores {
    pub(super) fn insert(&mut self, number: Number, score: u64) {
        if let Some(before) = self.score.insert(number, score) {
            self.order.remove(&(before, number));
        }
        self.order.insert((score, number));
    }

    pub(super) fn remove(&mut self, number: Number) -> Option<u64> {
        let score = self.score.remove(&number)?;
        self.order.remove(&(score, number));
        Some(score)
    }

    pub(super) fn get(&self, number: Number) -> Option<u64> {
        self.score.get(&number).copied()
    }

    pub(super) fn contains(&self, number: Number) -> bool {
        self.score.contains_key(&number)
    }

    pub(super) fn len(&self) -> usize {
        self.score.len()
    }

    /// The lowest: score and number.
    pub(super) fn first(&self) -> Option<(u64, Number)> {
        self.order.first().copied()
    }

    /// All, lowest first: score and number.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, Number)> + '_ {
        self.order.iter().copied()
    }

    /// All, by number.
    pub(super) fn numbers(&self) -> impl Iterator<Item = Number> + '_ {
        self.score.keys().copied()
    }

    /// Up to `most` of those with a score of at most `upto`, lowest first.
    pub(super) fn due(&self, upto: u64, most: usize) -> Vec<Number> {
        let range = self.order.range(..=(upto, Number::MAX));
        range.take(most).map(|(_, number)| *number).collect()
    }
}

impl From<Vec<(Number, u64)>> for Scores {
    fn from(pairs: Vec<(Number, u64)>) -> Self {
        let mut scores = Scores::default();
        for (number, score) in pairs {
            scores.insert(number, score);
        }
        scores
    }
}

impl From<Scores> for Vec<(Number, u64)> {
    fn from(scores: Scores) -> Self {
        scores.score.into_iter().collect()
    }
}
