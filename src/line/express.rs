//! The head of the line: visitors with a place of their own, kept one by one.
//!
//! Owns who is in `express`, `strayed`, `classes`, `classes_away` and `called`, and who of them was heard of when. An
//! ordinary visitor costs bits and never comes here; what does is bounded. What a class's score means is in `class`.

use serde::{Deserialize, Serialize};

use super::batch::Number;
use super::budget::Budget;
use super::class;
use super::scores::Scores;
use super::settings::{ClassOrder, OnAbsence};
use super::state::Line;
use super::view::ExpressUpdate;

/// 10,000 of them are a megabyte in a store, and ten milliseconds to tell a node of.
pub(super) const HEAD_MAX: usize = 10_000;
/// So many at most where they will be drawn: each gets another place then, and the exchange in which 2,500 do takes a Redis 12 ms,
/// one in which 10,000 do takes it more than 40.
pub(super) const DRAWN_MAX: usize = 2_500;
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
    /// Everybody in `express`, `classes` and `called`, by when they were last heard of.
    pub(super) present: Scores,
    version: u64,
    pub(super) changed: bool,
    published_ms: u64,
    /// Class visitors who wait, in their order; see `class`. Snapshots had none once, nor what follows.
    #[serde(default)]
    pub(super) classes: Scores,
    /// Class visitors who are away, by place.
    #[serde(default)]
    pub(super) classes_away: Scores,
    /// The order in which `classes` is.
    #[serde(default)]
    order: ClassOrder,
}

impl Head {
    pub(super) fn contains(&self, number: Number) -> bool {
        self.called.contains(number) || self.waits(number) || self.is_away(number)
    }

    /// Waits here.
    pub(super) fn waits(&self, number: Number) -> bool {
        self.express.contains(number) || self.classes.contains(number)
    }

    /// Would wait here, but is away.
    pub(super) fn is_away(&self, number: Number) -> bool {
        self.strayed.contains(number) || self.classes_away.contains(number)
    }

    /// How many wait here.
    pub(super) fn waiting(&self) -> u64 {
        (self.express.len() + self.classes.len()) as u64
    }

    pub(super) fn len(&self) -> usize {
        let away = self.strayed.len() + self.classes_away.len();
        self.express.len() + self.classes.len() + away + self.called.len()
    }

    /// Puts somebody into express, heard of now.
    pub(super) fn wait(&mut self, number: Number, place: Number, now_ms: u64) {
        self.strayed.remove(number);
        self.express.insert(number, place);
        self.present.insert(number, now_ms);
        self.changed = true;
    }

    /// Puts somebody of a class where they stand, heard of now.
    pub(super) fn wait_classed(&mut self, number: Number, standpoint: u64, now_ms: u64) {
        self.classes_away.remove(number);
        self.classes.insert(number, class::score(standpoint, self.order));
        self.present.insert(number, now_ms);
        self.changed = true;
    }

    /// Gives somebody who waits here, or would, another place.
    pub(super) fn put(&mut self, number: Number, place: Number) {
        for list in [&mut self.express, &mut self.strayed] {
            if list.contains(number) {
                list.insert(number, place);
            }
        }
        for list in [&mut self.classes, &mut self.classes_away] {
            if let Some(score) = list.get(number) {
                list.insert(number, class::at(score, place));
            }
        }
        self.changed = true;
    }

    /// Class visitors stand in this order from now on. Nodes hear of it with the settings, and need no new list.
    pub(super) fn reorder(&mut self, order: ClassOrder) {
        if self.order == order {
            return;
        }
        self.order = order;
        let before = std::mem::take(&mut self.classes);
        for (score, number) in before.iter() {
            self.classes.insert(number, class::score(class::unscored(score), order));
        }
    }

    /// It is their turn.
    pub(super) fn call(&mut self, number: Number, now_ms: u64) {
        self.express.remove(number);
        self.strayed.remove(number);
        self.classes.remove(number);
        self.classes_away.remove(number);
        self.called.insert(number, now_ms);
        if !self.present.contains(number) {
            self.present.insert(number, now_ms); // Being called is no sign of life.
        }
        self.changed = true;
    }

    pub(super) fn remove(&mut self, number: Number) {
        self.express.remove(number);
        self.strayed.remove(number);
        self.classes.remove(number);
        self.classes_away.remove(number);
        self.called.remove(number);
        self.present.remove(number);
        self.changed = true;
    }

    /// Everybody here was just heard of.
    pub(super) fn heard_all(&mut self, now_ms: u64) {
        let here: Vec<Number> = self.present.numbers().collect();
        here.into_iter().for_each(|number| self.present.insert(number, now_ms));
    }

    /// Out of those who wait, and with `keep` among those who are away; whether they waited.
    fn stray(&mut self, number: Number, keep: bool) -> bool {
        let (place, score) = (self.express.get(number), self.classes.get(number));
        self.remove(number);
        if let Some(place) = place.filter(|_| keep) {
            self.strayed.insert(number, place);
        }
        if let Some(score) = score.filter(|_| keep) {
            self.classes_away.insert(number, class::unscored(score));
        }
        place.is_some() || score.is_some()
    }

    /// Nobody; the nodes are to know at once.
    pub(super) fn emptied(self) -> Head {
        let (version, published_ms, order) = (self.version + 1, self.published_ms, self.order);
        Head { version, published_ms, order, ..Head::default() }
    }

    /// Counts a version, at most once a second.
    pub(super) fn publish(&mut self, now_ms: u64) {
        if self.changed && now_ms.saturating_sub(self.published_ms) >= PUBLISH_MS {
            self.version += 1;
            self.changed = false;
            self.published_ms = now_ms;
        }
    }

    /// What is newer than a node has. With bits always: they say of a class visitor only that the number is used.
    pub(super) fn update(&self, have: u64, with_bits: bool) -> Option<ExpressUpdate> {
        let newer = have != self.version || with_bits && self.changed;
        newer.then(|| ExpressUpdate {
            version: self.version,
            waiting: self.express.iter().collect(),
            strayed: self.strayed.iter().collect(),
            called: self.called.numbers().collect(),
            classes: self.classes.iter().collect(),
            classes_away: self.classes_away.iter().collect(),
        })
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = Number> + '_ {
        let waiting = self.express.numbers().chain(self.classes.numbers());
        let away = self.strayed.numbers().chain(self.classes_away.numbers());
        waiting.chain(away).chain(self.called.numbers())
    }

    /// Every number is in one list at most, and present unless away.
    pub(super) fn consistent(&self) -> bool {
        let mut all: Vec<Number> = self.numbers().collect();
        all.sort_unstable();
        let apart = all.windows(2).all(|pair| pair[0] != pair[1]);
        let heard = self.numbers().filter(|number| !self.is_away(*number));
        let here = self.express.len() + self.classes.len() + self.called.len();
        let scored = self
            .classes
            .iter()
            .all(|(score, _)| class::score(class::unscored(score), self.order) == score);
        apart
            && heard.into_iter().all(|number| self.present.contains(number))
            && self.present.len() == here
            && scored
    }
}

impl Line {
    /// One of the head was heard of.
    pub(super) fn mark_present(&mut self, number: Number) {
        if let Some(place) = self.head.strayed.get(number) {
            self.head.wait(number, place, self.clock_ms);
            self.waiting += 1;
        } else if let Some(standpoint) = self.head.classes_away.get(number) {
            self.head.wait_classed(number, standpoint, self.clock_ms);
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
            if self.head.stray(number, keep) {
                self.waiting -= 1;
                self.totals.dropped += 1;
            } else {
                self.no_shows(1);
            }
        }
    }
}
