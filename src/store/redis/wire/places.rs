//! Places as the bits of a string, in Redis's order.
//!
//! Owns the turning of one order into the other: in Redis the first place of a byte is its highest bit, in
//! [`crate::line`] the first place of a word its lowest.
//!
//! ```text
//!   from 64, bytes 0x80 0x01:  places 64 and 79
//! ```

use crate::line::Number;

/// Bits from a place on, a multiple of 8.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Places {
    pub(super) from: Number,
    pub(super) bytes: Vec<u8>,
}

impl Places {
    /// Zeros from `low`, rounded down, to `high`.
    fn between(low: Number, high: Number) -> Places {
        let from = low / 8 * 8;
        Places { from, bytes: vec![0; ((high - from) / 8 + 1) as usize] }
    }

    /// The inclusive ranges, as far as they lie between `low` and `high`.
    pub(super) fn of_ranges(ranges: &[(Number, Number)], low: Number, high: Number) -> Places {
        let clip = |(start, end): &(Number, Number)| ((*start).max(low), (*end).min(high));
        let ranges = || ranges.iter().map(clip).filter(|(start, end)| start <= end);
        let bounds = ranges().map(|(start, _)| start).min().zip(ranges().map(|(_, end)| end).max());
        let Some((first, last)) = bounds else {
            return Places::default();
        };
        let mut places = Places::between(first, last);
        ranges().for_each(|(start, end)| places.set_range(start, end));
        places
    }

    /// Those of `numbers` within `span` of the highest; the others come back.
    pub(super) fn of_numbers(numbers: &[Number], span: u64) -> (Places, Vec<Number>) {
        let Some(&top) = numbers.iter().max() else {
            return Default::default();
        };
        let within = |number: &&Number| top - **number <= span;
        let bottom = numbers.iter().filter(within).min().copied().unwrap_or(top);
        let mut places = Places::between(bottom, top);
        let mut others = Vec::new();
        for &number in numbers {
            if number < bottom {
                others.push(number);
            } else {
                let index = number - places.from;
                places.bytes[(index / 8) as usize] |= 0x80 >> (index % 8);
            }
        }
        (places, others)
    }

    fn set_range(&mut self, start: Number, end: Number) {
        let (start, end) = (start - self.from, end - self.from);
        let (first, last) = ((start / 8) as usize, (end / 8) as usize);
        let (head, tail) = (0xff >> (start % 8), !(0x7f >> (end % 8)));
        if first == last {
            self.bytes[first] |= head & tail;
        } else {
            self.bytes[first] |= head;
            self.bytes[first + 1..last].fill(0xff);
            self.bytes[last] |= tail;
        }
    }
}

/// The same bits as the line's words, the first place of each its lowest bit.
pub(super) fn words(bytes: &[u8]) -> Vec<u64> {
    let word = |chunk: &[u8]| {
        let mut eight = [0; 8];
        eight[..chunk.len()].copy_from_slice(chunk);
        u64::from_be_bytes(eight).reverse_bits()
    };
    bytes.chunks(8).map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn held(places: &Places) -> BTreeSet<Number> {
        let bit = |index: &u64| places.bytes[(index / 8) as usize] << (index % 8) & 0x80 != 0;
        (0..places.bytes.len() as u64 * 8).filter(bit).map(|index| places.from + index).collect()
    }

    #[test]
    fn the_worked_example() {
        let places = Places { from: 64, bytes: vec![0x80, 0x01] };
        assert_eq!(held(&places), BTreeSet::from([64, 79]));
        assert_eq!(words(&places.bytes), [1 | 1 << 15]);
    }

    #[test]
    fn numbers_far_below_the_others_come_back() {
        let (places, others) = Places::of_numbers(&[5, 1_000, 900, 5], 100);
        assert_eq!((held(&places), others), (BTreeSet::from([900, 1_000]), vec![5, 5]));
    }

    proptest! {
        /// A plain set of places judges both.
        #[test]
        fn agrees_with_a_set(ranges in prop::collection::vec((0..500u64, 0..200u64), 0..8), low in 0..300u64, length in 0..400u64) {
            let ranges: Vec<_> = ranges.iter().map(|(low, length)| (*low, low + length)).collect();
            let high = low + length;
            let inside = |number: &u64| (low..=high).contains(number);
            let expected: BTreeSet<u64> = ranges.iter().flat_map(|(low, high)| *low..=*high).filter(inside).collect();
            let places = Places::of_ranges(&ranges, low, high);
            prop_assert_eq!(held(&places), expected.clone());
            let numbers: Vec<u64> = expected.iter().copied().collect();
            prop_assert_eq!(held(&Places::of_numbers(&numbers, 1_000).0), expected.clone());
            for (index, word) in words(&places.bytes).into_iter().enumerate() {
                for bit in 0..64 {
                    let place = places.from + index as u64 * 64 + bit;
                    prop_assert_eq!(word >> bit & 1 == 1, expected.contains(&place));
                }
            }
        }
    }
}
