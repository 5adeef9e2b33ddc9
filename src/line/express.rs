//! The head of the line: visitors with a place of their own, kept one by one.
//!
//! Owns who is in `express`, `strayed` and `called`, and who of them was heard of when. An ordinary
//! visitor costs bits and never comes here; what does is bounded.

use serde::{Deserialize, Serialize};

use super::batch::Number;
use super::budget::Budget;
use super::scores::Scores;
use super::settings::OnAbsence;
use super::state::Line;
use super::view::ExpressUpdate;

/// 10,000 of them are a megabyte in a store, and ten milliseconds to tell a node of.
pub(super) const HEAD_MAX: usize = 10_000;
/// Lists of this kind go to the nodes no more often than this.
const PUBLISH_MS: u64 = 1_000;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Head {
    /// Waiting, by place.
    pub(super) express: Scores,
    /// Away, by place.
    pub(super) strayed: Scores,
    /// Released, by when.
    pub(super) called: Scores,
    /// Everybody in `express` and `called`, by when they were last heard of.
    pub(super) present: Scores,
    version: u64,
    changed: bool,
    published_ms: u64,
}

impl Head {
    pub(super) fn contains(&self, number: Number) -> bool {
        self.called.contains(number)
            || self.express.contains(number)
            || self.strayed.contains(number)
    }

    pub(super) fn len(&self) -> usize {
        self.express.len() + self.strayed.len() + self.called.len()
    }

    /// Puts somebody into express, heard of now.
    pub(super) fn wait(&mut self, number: Number, place: Number, now_ms: u64) {
        self.strayed.remove(number);
        self.express.insert(number, place);
        self.present.insert(number, now_ms);
        self.changed = true;
    }

    /// It is their turn.
    pub(super) fn call(&mut self, number: Number, now_ms: u64) {
        self.express.remove(number);
        self.strayed.remove(number);
        self.called.insert(number, now_ms);
        if !self.present.contains(number) {
            self.present.insert(number, now_ms); // Being called is no sign of life.
        }
        self.changed = true;
    }

    pub(super) fn remove(&mut self, number: Number) {
        self.express.remove(number);
        self.strayed.remove(number);
        self.called.remove(number);
        self.present.remove(number);
        self.changed = true;
    }

    /// Everybody here was just heard of.
    pub(super) fn heard_all(&mut self, now_ms: u64) {
        let here: Vec<Number> = self.present.numbers().collect();
        here.into_iter().for_each(|number| self.present.insert(number, now_ms));
    }

    fn stray(&mut self, number: Number, place: Number) {
        self.remove(number);
        self.strayed.insert(number, place);
    }

    /// Nobody; the nodes are to know at once.
    pub(super) fn emptied(self) -> Head {
        Head { version: self.version + 1, published_ms: self.published_ms, ..Head::default() }
    }

    /// Counts a version, at most once a second.
    pub(super) fn publish(&mut self, now_ms: u64) {
        if self.changed && now_ms.saturating_sub(self.published_ms) >= PUBLISH_MS {
            self.version += 1;
            self.changed = false;
            self.published_ms = now_ms;
        }
    }

    pub(super) fn update(&self, have: u64) -> Option<ExpressUpdate> {
        (have != self.version).then(|| ExpressUpdate {
            version: self.version,
            waiting: self.express.iter().collect(),
            strayed: self.strayed.iter().collect(),
            called: self.called.numbers().collect(),
        })
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = Number> + '_ {
        self.express.numbers().chain(self.strayed.numbers()).chain(self.called.numbers())
    }

    /// Every number is in one of the three at most, and present if in `express` or `called`.
    pub(super) fn consistent(&self) -> bool {
        let here = self.express.len() + self.called.len();
        let apart = self.strayed.numbers().all(|number| {
            !self.express.contains(number)
                && !self.called.contains(number)
                && !self.present.contains(number)
        }) && self.express.numbers().all(|number| !self.called.contains(number));
        let heard = self
            .express
            .numbers()
            .chain(self.called.numbers())
            .all(|number| self.present.contains(number));
        apart && heard && self.present.len() == here
    }
}

impl Line {
    /// One of the head was heard of.
    pub(super) fn mark_present(&mut self, number: Number) {
        if let Some(place) = self.head.strayed.get(number) {
            self.head.wait(number, place, self.clock_ms);
            self.waiting += 1;
        } else if self.head.present.contains(number) {
            self.head.present.insert(number, self.clock_ms);
        }
    }

    /// Those of the head who have been silent for as long as anybody in the bitmaps can be before a
    /// sweep notices it.
    pub(super) fn notice_strays(&mut self, budget: &mut Budget) {
        let most = budget.next();
        let silence_ms = self.settings().heartbeat_timeout_ms * 3 / 2;
        let keep = self.settings().on_absence == OnAbsence::Keep;
        let Some(upto_ms) = self.clock_ms.checked_sub(silence_ms) else {
            return;
        };
        for number in budget.found(self.head.present.due(upto_ms, most), most) {
            if let Some(place) = self.head.express.get(number) {
                self.waiting -= 1;
                self.totals.dropped += 1;
                if keep {
                    self.head.stray(number, place);
                } else {
                    self.head.remove(number);
                }
            } else {
                self.head.remove(number);
                self.no_shows(1);
            }
        }
    }
}
