//! In which order class visitors and the ordinary line get their turns, from now on.
//!
//! Owns the arithmetic of positions where there are classes: whoever waits now is served in exactly this order, if nobody
//! joins, leaves or is called by hand. Knows nothing of late returners, who go before all of these.
//!
//! With `class_share` below one, where a class visitor stands depends on everyone of a class before: found in one pass
//! over the class visitors, when somebody first asks. Without it a position costs two searches more than in a line
//! without classes.

use super::View;
use crate::line::batch::Number;
use crate::line::class;
use crate::line::settings::{Class, ClassOrder, Settings};

/// When a class visitor has their turn.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Turn {
    /// So many of the ordinary line have theirs before.
    ordinary: u64,
    /// Thousandths of a turn that class visitors have saved then.
    saved: u64,
}

impl View {
    fn order(&self) -> ClassOrder {
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
    fn turns(&self) -> &[Turn] {
        self.turns.get_or_init(|| {
            let all = self.ordinary_upto(self.counts.issued);
            let mut last = self.first_turn();
            let mut next = |(score, _): &(u64, Number)| {
                last = self.turn_after(last, *score, all);
                last
            };
            self.head.lists.classes.iter().map(&mut next).collect()
        })
    }

    /// How many of the ordinary line go before the `nth` of a class, from 0.
    pub(super) fn ordinary_before(&self, nth: usize) -> u64 {
        match self.share() {
            1_000.. => self.ahead_of(self.head.lists.classes[nth].0),
            _ => self.turns()[nth].ordinary,
        }
    }

    /// How many but for late returners go before a class visitor, here or away.
    pub(super) fn before_classed(&self, standpoint: u64, number: Number) -> u64 {
        let classes = &self.head.lists.classes;
        let score = class::score(standpoint, self.order());
        let nth = classes.partition_point(|other| *other < (score, number));
        let ordinary = match self.share() {
            1_000.. => self.ahead_of(score),
            _ if classes.get(nth) == Some(&(score, number)) => self.turns()[nth].ordinary,
            _ => {
                let last = nth.checked_sub(1).map_or(self.first_turn(), |last| self.turns()[last]);
                self.turn_after(last, score, self.ordinary_upto(self.counts.issued)).ordinary
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
        let order = self.order();
        let found = match order {
            ClassOrder::Skip => self.head.index.upto(classes, number),
            ClassOrder::Strict => None,
        };
        let by_order = found.unwrap_or_else(|| {
            classes.partition_point(|(score, _)| class::precedes(*score, order, number))
        });
        if self.share() >= 1_000 {
            return ordinary + by_order as u64;
        }
        let (turns, all) = (self.turns(), self.ordinary_upto(self.counts.issued));
        if ordinary < all {
            let before = turns.partition_point(|turn| turn.ordinary <= ordinary);
            return ordinary + before.min(by_order) as u64;
        }
        // Away, and behind everybody who is here: back, they would be the last to share with. What is saved lasts for
        // less than a thousand turns.
        let mut before = turns.partition_point(|turn| turn.ordinary < all).min(by_order);
        let mut last = before.checked_sub(1).map_or(self.first_turn(), |last| turns[last]);
        while before < by_order {
            last = self.turn_after(last, classes[before].0, all + 1);
            if last.ordinary > all {
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

/// How many class visitors stand up to a place, found by it: for lists in the order of places. Ten thousand of them are
/// counted in two looks at memory, where a search would take fourteen.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    /// The first place.
    from: Number,
    /// Each step of the index is so many bits of a place.
    shift: u32,
    /// How many stand below each step, and at the end all; empty where the list is in another order.
    below: Vec<u32>,
}

/// Steps of an index: 32 KB.
const STEPS: u64 = 8_192;

impl Index {
    pub(super) fn of(classes: &[(u64, Number)]) -> Index {
        let places = || classes.iter().map(|(score, _)| class::place(*score));
        let (Some(from), Some(last)) = (places().next(), places().next_back()) else {
            return Index::default();
        };
        if !places().is_sorted() {
            return Index::default();
        }
        let shift = (0..64).find(|shift| (last - from) >> shift < STEPS).unwrap_or(63);
        let mut below = Vec::new();
        for (nth, place) in (0..).zip(places()) {
            let step = ((place - from) >> shift) as usize; // below STEPS
            below.resize(below.len().max(step + 1), nth);
        }
        below.push(u32::try_from(classes.len()).unwrap_or(u32::MAX)); // the head is bounded
        Index { from, shift, below }
    }

    /// How many stand at or below a place; `None`: the list is in another order.
    fn upto(&self, classes: &[(u64, Number)], place: Number) -> Option<usize> {
        let all = *self.below.last()? as usize;
        let Some(into) = place.checked_sub(self.from) else { return Some(0) };
        let step = usize::try_from(into >> self.shift).unwrap_or(usize::MAX);
        let Some(high) = step.checked_add(1).and_then(|next| self.below.get(next)) else {
            return Some(all);
        };
        let (low, high) = (self.below[step] as usize, *high as usize);
        let near = &classes[low..high];
        Some(low + near.partition_point(|(score, _)| class::place(*score) <= place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_counts_as_a_search_would_however_they_stand() {
        let lists: [Vec<u64>; 7] = [
            vec![],
            vec![5],
            (1..200).collect(),
            vec![3; 50],
            (0..100).map(|nth| nth * nth).collect(),
            [vec![1; 40], vec![1_000_000; 3]].concat(),
            (0..10_000).map(|nth| nth * 977).collect(),
        ];
        for places in lists {
            let classes: Vec<(u64, Number)> = places
                .iter()
                .zip(1..)
                .map(|(place, number)| (class::standpoint(*place, 0), number))
                .collect();
            let index = Index::of(&classes);
            let some = [999_999, 1_000_000, 1_000_001, 9_769_022, 9_769_023, u64::MAX / 64];
            for number in (0..2_200).chain(some) {
                let searched = places.partition_point(|place| *place <= number);
                let found = index.upto(&classes, number).unwrap_or(0);
                assert_eq!(found, searched, "{number} among {}", places.len());
            }
        }
        let ranks = [(class::standpoint(9, 3), 1), (class::standpoint(2, 0), 2)];
        assert_eq!(Index::of(&ranks).upto(&ranks, 5), None, "in another order");
    }
}
