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
        let (released, issued) = (self.counts.released, self.counts.issued);
        let from = from.max(1);
        // The first place up to which so many stand.
        let (mut low, mut high) = (released, issued);
        if self.standing_upto(high) < from {
            return Vec::new();
        }
        while low < high {
            let middle = low + (high - low) / 2;
            match self.standing_upto(middle) < from {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        let start = low;
        let head = &self.head.lists.waiting;
        // At the frontier itself stand those of the head who are before everybody.
        let before = start.checked_sub(1).filter(|_| start > released);
        let mut position = before.map_or(0, |place| self.standing_upto(place));
        let mut express = before.map_or(0, |place| head.partition_point(|(at, _)| *at <= place));
        let mut nth = self.bits.live_upto(start.saturating_sub(1).max(released)) + 1;
        let mut found = Vec::new();
        while found.len() < limit {
            let next = self.bits.nth(nth);
            let number = match head.get(express) {
                Some((place, number)) if *place <= next || next > issued => {
                    express += 1;
                    *number
                }
                _ if next > issued => break,
                _ => {
                    nth += 1;
                    if self.left.binary_search(&next).is_ok() {
                        continue;
                    }
                    next
                }
            };
            position += 1;
            if position >= from {
                found.push((position, number));
            }
        }
        found
    }

    /// How many stand at or before a place that is not below the frontier.
    fn standing_upto(&self, place: Number) -> u64 {
        let released = self.counts.released;
        let place = place.max(released);
        let ordinary = self.bits.live_upto(place) - self.bits.live_upto(released);
        let gone = |place| self.left.partition_point(|number| *number <= place) as u64;
        let express = self.head.lists.waiting.partition_point(|(at, _)| *at <= place) as u64;
        ordinary.saturating_sub(gone(place) - gone(released)) + express
    }

    /// The ordinary ones who are here in `after < place <= upto`, as far as this node knows: whom a release called. At most
    /// `limit`.
    pub fn here_between(&self, after: Number, upto: Number, limit: usize) -> Vec<Number> {
        let first = self.bits.live_upto(after) + 1;
        let places = (first..).map(|nth| self.bits.nth(nth));
        let here = |place: &Number| self.left.binary_search(place).is_err();
        places.take_while(|place| *place <= upto).filter(here).take(limit).collect()
    }

    /// Those of the head whose turn has come and who are not in yet.
    pub fn called(&self) -> &[Number] {
        &self.head.lists.called
    }
}
