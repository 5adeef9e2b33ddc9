//! In which order class visitors and the ordinary line get their turns, from now on.
//!
//! Owns the arithmetic of positions where there are classes: whoever waits now is served in exactly this order, if nobody
//! joins, leaves or is called by hand. Knows nothing of late returners, who go before all of these. Whoever joins later and gets before
//! others is seen from one exchange to the next, at a few places of the line: how far somebody is moved back by that depends on where
//! they stand, because a class that skips half of the line gets before its second half only.
//!
//! Where class visitors stand is found in one pass over them, when one of them first asks a view: with `class_share` below one it
//! depends on everyone of a class before. However it is set, `steps` say how many class visitors go before an ordinary one, so
//! that a position costs two looks at memory more than in a line without classes.

use std::sync::Arc;

use super::steps::Steps;
use super::{ExpressUpdate, View};
use crate::line::batch::{Counts, Number};
use crate::line::class;
use crate::line::settings::{Class, ClassOrder, Settings};

/// At so many places of the line it is looked at how many get before others.
pub(in crate::line) const DEPTHS: usize = 4;

/// A line before an exchange: who got before others in it is seen afterwards.
#[derive(Clone, Debug)]
pub(super) struct Before {
    /// In the middle of each quarter.
    places: [Number; DEPTHS],
    /// So many of the head went before an ordinary visitor there,
    ahead: [u64; DEPTHS],
    /// and so many ordinary visitors have their turn in the exchange.
    called: u64,
    order: ClassOrder,
}

/// Where an ordinary visitor would stand at the head of the line, and where at the end of each quarter of it.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::line) struct Quarters {
    /// So many go before all of the ordinary line.
    pub(in crate::line) head: f64,
    /// So many go before, and so many of these are of the ordinary line.
    pub(in crate::line) ends: [(f64, f64); DEPTHS],
}

/// When a class visitor has their turn.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Turn {
    /// So many of the ordinary line have theirs before.
    ordinary: u64,
    /// Thousandths of a turn that class visitors have saved then.
    saved: u64,
}

/// The turns of class visitors.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    /// In their order.
    each: Vec<Turn>,
    /// By how many of the ordinary line go before.
    steps: Steps,
    /// How many there are of the ordinary line.
    all: u64,
}

/// Which class visitors go before an ordinary one by the order alone.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    order: ClassOrder,
    /// So many go before the whole ordinary line, by their rank.
    ranked: usize,
    /// Where the others stand.
    places: Steps,
}

impl Index {
    /// Of a list in this order.
    pub(super) fn of(classes: &[(u64, Number)], order: ClassOrder) -> Index {
        let ranked = match order {
            ClassOrder::Skip => 0,
            ClassOrder::Strict => classes.partition_point(|(score, _)| class::rank(*score) > 0),
        };
        let places = Steps::of(&classes[ranked..], |(score, _)| class::place(*score));
        Index { order, ranked, places }
    }

    /// How many of the same list go before an ordinary visitor, if this order is in force.
    fn before(&self, classes: &[(u64, Number)], order: ClassOrder, number: Number) -> usize {
        if order != self.order {
            // Set a moment ago: the list comes with one of the next exchanges.
            return classes.partition_point(|(score, _)| class::precedes(*score, order, number));
        }
        let place = |(score, _): &(u64, Number)| class::place(*score);
        self.ranked + self.places.upto(&classes[self.ranked..], place, number)
    }
}

impl View {
    /// In which order class visitors go, as it is set.
    pub(super) fn order(&self) -> ClassOrder {
        self.settings().map_or(ClassOrder::Skip, |settings| settings.class_order)
    }

    fn share(&self) -> u64 {
        self.settings().map_or(1_000, |settings: &Settings| settings.class_share)
    }

    /// Ordinary visitors who are here above the frontier, up to a place.
    pub(super) fn ordinary_upto(&self, place: Number) -> u64 {
        let released = self.counts.released;
        let place = place.max(released);
        let here = self.bits.live_upto(place) - self.bits.live_upto(released);
        let between = |list: &[Number]| match list.first() {
            Some(first) if *first <= place => {
                let upto = |place| list.partition_point(|number| *number <= place) as u64;
                upto(place) - upto(released)
            }
            _ => 0, // Nearly always: those who joined since the last sweep are behind.
        };
        here.saturating_sub(between(&self.left) + between(&self.taken))
    }

    /// How many of the ordinary line go before a class visitor by their order alone.
    fn ahead_of(&self, score: u64) -> u64 {
        match self.order() {
            ClassOrder::Strict if class::rank(score) > 0 => 0,
            _ => self.ordinary_upto(class::place(score).saturating_sub(1)),
        }
    }

    /// Whether anybody may get before others from behind.
    pub(super) fn has_classes(&self) -> bool {
        self.settings().is_some_and(|settings| !settings.classes.iter().all(Class::is_ordinary))
    }

    /// So many eighths of the way from the frontier to the end of the line.
    fn place_at(&self, eighths: usize) -> Number {
        let Counts { released, issued, .. } = self.counts;
        released + issued.saturating_sub(released) * eighths as u64 / (2 * DEPTHS as u64)
    }

    /// How many of the head go before an ordinary visitor by the order alone.
    fn head_before(&self, number: Number) -> u64 {
        let ExpressUpdate { waiting, classes, .. } = &self.head.lists;
        (waiting.len() + self.head.index.before(classes, self.order(), number)) as u64
    }

    /// What an exchange is to be compared with that brings the frontier here.
    pub(super) fn before(&self, released: Number) -> Before {
        let places = std::array::from_fn(|depth| self.place_at(2 * depth + 1));
        Before {
            places,
            ahead: places.map(|place| self.head_before(place)),
            called: self.ordinary_upto(released),
            order: self.order(),
        }
    }

    /// How many got before an ordinary visitor in the middle of each quarter, since then and in so many turns: those of the head who were
    /// called, and those who are there now. Less than none if more of them went.
    pub(super) fn overtook(&self, before: &Before, turns: u64) -> [f64; DEPTHS] {
        if self.order() != before.order {
            return [0.0; DEPTHS];
        }
        let called = turns.saturating_sub(before.called) as f64;
        std::array::from_fn(|depth| {
            let ahead = self.head_before(before.places[depth]) as f64;
            called + ahead - before.ahead[depth] as f64
        })
    }

    /// Where ordinary visitors stand.
    pub(super) fn quarters(&self) -> Quarters {
        let late = self.head.lists.waiting.len() as u64;
        let before = |place: Number| (late + self.before_ordinary(place + 1)) as f64;
        Quarters {
            head: before(self.counts.released),
            ends: std::array::from_fn(|quarter| {
                let place = self.place_at(2 * quarter + 2);
                (before(place), self.ordinary_upto(place) as f64)
            }),
        }
    }

    /// The turn of a class visitor after another one's. `all`: how many of the ordinary line there are.
    fn turn_after(&self, last: Turn, score: u64, all: u64) -> Turn {
        let share = self.share();
        let by_order = self.ahead_of(score).clamp(last.ordinary.min(all), all);
        let gone = by_order - last.ordinary.min(by_order);
        let (ordinary, saved) = (by_order, (last.saved + gone * share).min(999));
        match () {
            // Nobody to share with.
            () if ordinary >= all => Turn { ordinary, saved },
            () if saved + share >= 1_000 => Turn { ordinary, saved: saved + share - 1_000 },
            () if share == 0 => Turn { ordinary: all, saved },
            () => {
                let lacking = (1_000 - share - saved).div_ceil(share);
                match ordinary + lacking < all {
                    true => Turn {
                        ordinary: ordinary + lacking,
                        saved: (saved + lacking * share).min(999) + share - 1_000,
                    },
                    false => {
                        Turn { ordinary: all, saved: (saved + (all - ordinary) * share).min(999) }
                    }
                }
            }
        }
    }

    /// The turns of those of a class who wait, one after the other.
    fn turns(&self) -> &Turns {
        self.turns.get_or_init(|| {
            let all = self.ordinary_upto(self.counts.issued);
            let mut last = self.first_turn();
            let mut next = |(score, _): &(u64, Number)| {
                last = self.turn_after(last, *score, all);
                last
            };
            let each: Vec<Turn> = self.head.lists.classes.iter().map(&mut next).collect();
            let steps = Steps::of(&each, |turn| turn.ordinary);
            Arc::new(Turns { each, steps, all })
        })
    }

    /// How many of the ordinary line go before the `nth` of a class, from 0.
    pub(super) fn ordinary_before(&self, nth: usize) -> u64 {
        self.turns().each[nth].ordinary
    }

    /// How many but for late returners would go before a class visitor who is not in the line, if they came there.
    pub(super) fn before_classed(&self, standpoint: u64, number: Number) -> u64 {
        let classes = &self.head.lists.classes;
        let score = class::score(standpoint, self.order());
        let nth = classes.partition_point(|other| *other < (score, number));
        let ordinary = match self.share() {
            1_000.. => self.ahead_of(score),
            _ => {
                let Turns { each, all, .. } = self.turns();
                let last = nth.checked_sub(1).map_or(self.first_turn(), |last| each[last]);
                self.turn_after(last, score, *all).ordinary
            }
        };
        nth as u64 + ordinary
    }

    /// How many but for late returners go before an ordinary visitor above the frontier, here or away.
    pub(super) fn before_ordinary(&self, number: Number) -> u64 {
        let ordinary = self.ordinary_upto(number - 1);
        let classes = &self.head.lists.classes;
        if classes.is_empty() {
            return ordinary;
        }
        let by_order = || self.head.index.before(classes, self.order(), number);
        if self.share() >= 1_000 {
            return ordinary + by_order() as u64;
        }
        let Turns { each, steps, all } = self.turns();
        if ordinary < *all {
            let before = steps.upto(each, |turn| turn.ordinary, ordinary);
            return ordinary + before.min(by_order()) as u64;
        }
        // Away, and behind everybody who is here: back, they would be the last to share with. What is saved lasts for
        // less than a thousand turns.
        let by_order = by_order();
        let mut before = each.partition_point(|turn| turn.ordinary < *all).min(by_order);
        let mut last = before.checked_sub(1).map_or(self.first_turn(), |last| each[last]);
        while before < by_order {
            last = self.turn_after(last, classes[before].0, all + 1);
            if last.ordinary > *all {
                break;
            }
            before += 1;
        }
        ordinary + before as u64
    }

    /// Where somebody would stand who joined with this class now: 1 is next.
    pub fn position_with(&self, class: &Class) -> u64 {
        let number = self.counts.issued + 1;
        let late = self.head.lists.waiting.len() as u64;
        late + 1
            + match class.is_ordinary() {
                true => self.before_ordinary(number),
                false => {
                    let place = class.place(number, self.counts.released);
                    self.before_classed(class::standpoint(place, class.rank), number)
                }
            }
    }

    fn first_turn(&self) -> Turn {
        Turn { ordinary: 0, saved: self.counts.class_balance }
    }
}
