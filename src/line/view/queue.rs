//! Who stands where, one after the other: the view read along the line instead of by number.
//!
//! Owns the way from a position to a number. Costs a few cache lines a visitor it names, however long the line is
//! and however many of it are away: the counts before every eighth word find the n-th who is here.

use super::{Bits, STRIDE, View};
use crate::line::batch::Number;

impl Bits {
    /// The place of the `nth` who is here, from 1; above what the bits know of, everybody counts.
    fn nth(&self, nth: u64) -> Number {
        let total = u64::from(self.before.last().copied().unwrap_or(0));
        if nth > total {
            return self.map.upto + (nth - total);
        }
        // The last stride with fewer before it.
        let stride = self.before.partition_point(|before| u64::from(*before) < nth) - 1;
        let mut left = nth - u64::from(self.before[stride]);
        for (index, word) in self.map.live.iter().enumerate().skip(stride * STRIDE) {
            let here = u64::from(word.count_ones());
            if left <= here {
                let mut rest = *word;
                for _ in 1..left {
                    rest &= rest - 1;
                }
                return self.map.from + index as u64 * 64 + u64::from(rest.trailing_zeros());
            }
            left -= here;
        }
        self.map.upto
    }
}

impl View {
    /// Those who wait and are here, from a position on, in their order: position and number. At most `limit`.
    pub fn queue(&self, from: u64, limit: usize) -> Vec<(u64, Number)> {
        let from = from.max(1);
        let (late, classes) = (&self.head.lists.waiting, &self.head.lists.classes);
        let skipped = usize::try_from(from - 1).unwrap_or(usize::MAX);
        let first = late.iter().map(|(_, number)| *number).skip(skipped);
        let mut found: Vec<Number> = first.take(limit).collect();
        // Of those behind the late returners, so many stand before the first that is asked for.
        let before = (from - 1).saturating_sub(late.len() as u64);
        let (mut low, mut high) = (0, classes.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match middle as u64 + self.ordinary_before(middle) < before {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        let (mut classed, mut ordinary) = (low, before - low as u64);
        let mut next = self.nth_ordinary(ordinary);
        while found.len() < limit {
            let due = classed < classes.len()
                && (next.is_none() || self.ordinary_before(classed) <= ordinary);
            match (due, next) {
                (true, _) => {
                    found.push(classes[classed].1);
                    classed += 1;
                }
                (false, Some(place)) => {
                    found.push(place);
                    ordinary += 1;
                    next = self.ordinary_after(place);
                }
                (false, None) => break,
            }
        }
        (from..).zip(found).collect()
    }

    /// The place of an ordinary visitor who is here, with so many before them.
    fn nth_ordinary(&self, before: u64) -> Option<Number> {
        let (mut low, mut high) = (self.counts.released, self.counts.issued);
        if self.ordinary_upto(high) <= before {
            return None;
        }
        while low < high {
            let middle = low + (high - low) / 2;
            match self.ordinary_upto(middle) <= before {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        Some(low)
    }

    /// The next ordinary visitor who is here.
    fn ordinary_after(&self, place: Number) -> Option<Number> {
        let mut nth = self.bits.live_upto(place) + 1;
        loop {
            let next = self.bits.nth(nth);
            if next > self.counts.issued {
                return None;
            }
            if self.is_ordinary(next) {
                return Some(next);
            }
            nth += 1;
        }
    }

    /// Whether somebody who is here by the bits is.
    fn is_ordinary(&self, place: Number) -> bool {
        self.left.binary_search(&place).is_err() && self.taken.binary_search(&place).is_err()
    }

    /// The ordinary ones who are here in `after < place <= upto`, as far as this node knows: whom a release called. At most
    /// `limit`.
    pub fn here_between(&self, after: Number, upto: Number, limit: usize) -> Vec<Number> {
        let first = self.bits.live_upto(after) + 1;
        let places = (first..).map(|nth| self.bits.nth(nth));
        let here = |place: &Number| self.is_ordinary(*place);
        let here = places.take_while(|place| *place <= upto).filter(here).take(limit);
        here.map(|place| self.drawn.ticket(place)).collect()
    }

    /// Those of the head whose turn has come and who are not in yet.
    pub fn called(&self) -> Vec<Number> {
        self.head.lists.called.iter().map(|number| self.drawn.ticket(*number)).collect()
    }
}
