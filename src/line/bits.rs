//! A bitmap indexed by place that costs what it holds.
//!
//! Owns bits, and the search and counting over them; knows nothing of what they mean. The layout:
//!
//! ```text
//!   place p  →  chunk p / 8,192  →  word (p / 64) % 128  →  bit p % 64
//!
//!   first = 8      chunks: [ mixed ][ zeros ][ ones ][ mixed ] …      only a mixed one holds words
//!                  places   65,536   73,728   81,920  90,112
//! ```
//! Worked example: place 70,000 is in chunk 8 (65,536 …), word 69 of it (69 · 64 = 4,416), bit 48.
//!
//! A chunk is 1 KiB: small enough that a line of 100 costs nothing to speak of, large enough that ten
//! million places are 1,221 chunks. A hundred thousand newcomers are a dozen chunks of ones, not 12 KB
//! to write into pages that the system must first hand out (2 µs each, measured). Because places are
//! absolute, moving the base up is dropping chunks from the front; nothing is copied.

use std::collections::VecDeque;
use std::ops::RangeInclusive;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Places a chunk holds.
const CHUNK: u64 = 8_192;
const WORDS: usize = (CHUNK / 64) as usize;

static ZEROS: [u64; WORDS] = [0; WORDS];
static ONES: [u64; WORDS] = [u64::MAX; WORDS];

#[derive(Clone, Debug)]
enum Chunk {
    Zeros,
    Ones,
    Mixed(Box<[u64]>),
}

impl Chunk {
    fn words(&self) -> &[u64] {
        match self {
            Chunk::Zeros => &ZEROS,
            Chunk::Ones => &ONES,
            Chunk::Mixed(words) => words,
        }
    }

    /// The words, to be written.
    fn words_mut(&mut self) -> &mut [u64] {
        if !matches!(self, Chunk::Mixed(_)) {
            *self = Chunk::Mixed(self.words().into());
        }
        match self {
            Chunk::Mixed(words) => words,
            Chunk::Zeros | Chunk::Ones => &mut [],
        }
    }
}

/// Bits by place; all zero to begin with, without an upper end.
#[derive(Clone, Debug, Default)]
pub struct Bitmap {
    /// The number of the first chunk; places below it are zero and stay so.
    first: u64,
    chunks: VecDeque<Chunk>,
}

/// The words of one chunk that a range touches, with the masks of its first and last word.
struct Span {
    chunk: u64,
    low: usize,
    high: usize,
    low_mask: u64,
    high_mask: u64,
}

impl Span {
    /// Whether the range takes the whole chunk.
    fn is_whole(&self) -> bool {
        (self.low, self.high) == (0, WORDS - 1) && self.low_mask & self.high_mask == u64::MAX
    }

    /// The bits of word `index` that belong to the range.
    fn mask(&self, index: usize) -> u64 {
        let mut mask = u64::MAX;
        if index == self.low {
            mask &= self.low_mask;
        }
        if index == self.high {
            mask &= self.high_mask;
        }
        mask
    }
}

/// The chunks from `low` to `high`, in order.
fn spans(low: u64, high: u64) -> impl DoubleEndedIterator<Item = Span> {
    let (first, last) = (low / CHUNK, high / CHUNK);
    let chunks = if low <= high { first..last + 1 } else { 0..0 };
    chunks.map(move |chunk| {
        let from = if chunk == first { low % CHUNK } else { 0 };
        let upto = if chunk == last { high % CHUNK } else { CHUNK - 1 };
        Span {
            chunk,
            low: (from / 64) as usize,
            high: (upto / 64) as usize,
            low_mask: u64::MAX << (from % 64),
            high_mask: u64::MAX >> (63 - upto % 64),
        }
    })
}

fn ones(words: impl Iterator<Item = u64>) -> u64 {
    words.map(|word| u64::from(word.count_ones())).sum()
}

impl Bitmap {
    fn chunk(&self, chunk: u64) -> &Chunk {
        let index = chunk.checked_sub(self.first);
        index.and_then(|index| self.chunks.get(index as usize)).unwrap_or(&Chunk::Zeros)
    }

    /// A chunk, made if there is none yet; `None` below the first.
    fn chunk_mut(&mut self, chunk: u64) -> Option<&mut Chunk> {
        let index = chunk.checked_sub(self.first)? as usize;
        if index >= self.chunks.len() {
            self.chunks.resize(index + 1, Chunk::Zeros);
        }
        self.chunks.get_mut(index)
    }

    /// Whether the bit at `place` is set.
    pub fn get(&self, place: u64) -> bool {
        self.word(place / 64) >> (place % 64) & 1 == 1
    }

    /// Sets a bit; whether that changed anything.
    pub fn set(&mut self, place: u64) -> bool {
        let change = place / CHUNK >= self.first && !self.get(place);
        if change {
            self.add_word(place / 64, 1 << (place % 64));
        }
        change
    }

    /// Clears a bit; whether that changed anything.
    pub fn clear(&mut self, place: u64) -> bool {
        let change = self.get(place);
        if change && let Some(chunk) = self.chunk_mut(place / CHUNK) {
            chunk.words_mut()[(place % CHUNK / 64) as usize] &= !(1 << (place % 64));
        }
        change
    }

    /// Sets every bit of a range.
    pub fn set_range(&mut self, range: RangeInclusive<u64>) {
        for span in spans(*range.start(), *range.end()) {
            let Some(chunk) = self.chunk_mut(span.chunk) else {
                continue;
            };
            if span.is_whole() {
                *chunk = Chunk::Ones;
                continue;
            }
            let words = chunk.words_mut();
            words[span.low] |= span.mask(span.low);
            words[span.high] |= span.mask(span.high);
            if span.low + 1 < span.high {
                words[span.low + 1..span.high].fill(u64::MAX);
            }
        }
    }

    /// Clears every bit of a range.
    pub fn clear_range(&mut self, range: RangeInclusive<u64>) {
        self.edit(range, |_, bits| bits);
    }

    /// Clears, in a range, the bits that `gone` picks, given the number of a word and its bits within
    /// the range. A chunk left empty is given back.
    pub fn edit(&mut self, range: RangeInclusive<u64>, mut gone: impl FnMut(u64, u64) -> u64) {
        for span in spans(*range.start(), *range.end()) {
            let Some(index) = span.chunk.checked_sub(self.first) else {
                continue;
            };
            let Some(chunk) = self.chunks.get_mut(index as usize) else {
                return;
            };
            if matches!(chunk, Chunk::Zeros) {
                continue;
            }
            for index in span.low..=span.high {
                let within = chunk.words()[index] & span.mask(index);
                if within == 0 {
                    continue;
                }
                let bits = within & gone(span.chunk * WORDS as u64 + index as u64, within);
                if bits != 0 {
                    chunk.words_mut()[index] &= !bits;
                }
            }
            if chunk.words() == ZEROS {
                *chunk = Chunk::Zeros;
            }
        }
    }

    /// How many bits of a range are set.
    pub fn count(&self, range: RangeInclusive<u64>) -> u64 {
        let mut total = 0;
        for span in spans(*range.start(), *range.end()) {
            let chunk = self.chunk(span.chunk);
            if matches!(chunk, Chunk::Zeros) {
                continue;
            }
            total += match &chunk.words()[span.low..=span.high] {
                [only] => ones([only & span.low_mask & span.high_mask].into_iter()),
                [low, middle @ .., high] => {
                    ones([low & span.low_mask, high & span.high_mask].into_iter())
                        + ones(middle.iter().copied())
                }
                [] => 0,
            };
        }
        total
    }

    /// The first set bit of a range.
    pub fn first_one(&self, range: RangeInclusive<u64>) -> Option<u64> {
        self.search(spans(*range.start(), *range.end()), |words, span| {
            (span.low..=span.high).find_map(|index| {
                let word = words[index] & span.mask(index);
                (word != 0).then(|| (index, u64::from(word.trailing_zeros())))
            })
        })
    }

    /// The last set bit of a range.
    pub fn last_one(&self, range: RangeInclusive<u64>) -> Option<u64> {
        self.search(spans(*range.start(), *range.end()).rev(), |words, span| {
            (span.low..=span.high).rev().find_map(|index| {
                let word = words[index] & span.mask(index);
                (word != 0).then(|| (index, 63 - u64::from(word.leading_zeros())))
            })
        })
    }

    fn search(
        &self,
        mut spans: impl Iterator<Item = Span>,
        within: impl Fn(&[u64], &Span) -> Option<(usize, u64)>,
    ) -> Option<u64> {
        spans.find_map(|span| {
            let chunk = self.chunk(span.chunk);
            if matches!(chunk, Chunk::Zeros) {
                return None;
            }
            let (index, bit) = within(chunk.words(), &span)?;
            Some(span.chunk * CHUNK + index as u64 * 64 + bit)
        })
    }

    /// Word `number` (places 64·number …) as it stands.
    pub fn word(&self, number: u64) -> u64 {
        self.chunk(number / WORDS as u64).words()[(number % WORDS as u64) as usize]
    }

    /// Adds bits to word `number`.
    pub fn add_word(&mut self, number: u64, bits: u64) {
        if bits & !self.word(number) != 0
            && let Some(chunk) = self.chunk_mut(number / WORDS as u64)
        {
            chunk.words_mut()[(number % WORDS as u64) as usize] |= bits;
        }
    }

    /// The words that hold `from` (a multiple of 64) to `upto`.
    pub fn copy(&self, from: u64, upto: u64) -> Vec<u64> {
        let mut copy = Vec::with_capacity(((upto + 1).saturating_sub(from) / 64 + 1) as usize);
        for span in spans(from, upto) {
            copy.extend_from_slice(&self.chunk(span.chunk).words()[span.low..=span.high]);
        }
        copy
    }

    /// Clears everything from the first chunk on; the first chunk stays where it is.
    pub fn wipe(&mut self) {
        self.chunks.clear();
    }

    /// Forgets the whole chunks below `place`, for good.
    pub fn drop_below(&mut self, place: u64) {
        let first = (place / CHUNK).max(self.first);
        let gone = (first - self.first).min(self.chunks.len() as u64);
        self.chunks.drain(..gone as usize);
        self.first = first;
    }

    /// Heap bytes held.
    pub fn bytes(&self) -> usize {
        let mixed = self.chunks.iter().filter(|chunk| matches!(chunk, Chunk::Mixed(_))).count();
        mixed * WORDS * 8 + self.chunks.capacity() * size_of::<Chunk>()
    }
}

/// Equal bits, however they are held.
impl PartialEq for Bitmap {
    fn eq(&self, other: &Self) -> bool {
        let end = |map: &Bitmap| map.first + map.chunks.len() as u64;
        let mut chunks = self.first.min(other.first)..end(self).max(end(other));
        chunks.all(|chunk| self.chunk(chunk).words() == other.chunk(chunk).words())
    }
}

/// As one byte string: the first chunk's number, then for each chunk 0 (zeros), 1 (ones) or 2 and its
/// words, little-endian.
impl Serialize for Bitmap {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bytes = Vec::with_capacity(8 + self.bytes());
        bytes.extend(self.first.to_le_bytes());
        for chunk in &self.chunks {
            match chunk {
                Chunk::Zeros => bytes.push(0),
                Chunk::Ones => bytes.push(1),
                Chunk::Mixed(words) => {
                    bytes.push(2);
                    words.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
                }
            }
        }
        serializer.serialize_bytes(&bytes)
    }
}

impl<'de> Deserialize<'de> for Bitmap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = deserializer.deserialize_byte_buf(ByteBuf)?;
        Bitmap::from_bytes(&bytes).ok_or_else(|| D::Error::custom("a bitmap is cut short"))
    }
}

impl Bitmap {
    fn from_bytes(bytes: &[u8]) -> Option<Bitmap> {
        let (first, mut rest) = bytes.split_first_chunk::<8>()?;
        let mut map = Bitmap { first: u64::from_le_bytes(*first), chunks: VecDeque::new() };
        while let Some((flag, after)) = rest.split_first() {
            rest = after;
            map.chunks.push_back(match flag {
                0 => Chunk::Zeros,
                1 => Chunk::Ones,
                2 => {
                    let (words, after) = rest.split_at_checked(WORDS * 8)?;
                    rest = after;
                    let (words, _) = words.as_chunks::<8>();
                    Chunk::Mixed(words.iter().map(|word| u64::from_le_bytes(*word)).collect())
                }
                _ => return None,
            });
        }
        Some(map)
    }
}

/// Reads a byte string without going through a sequence of numbers.
struct ByteBuf;

impl<'de> serde::de::Visitor<'de> for ByteBuf {
    type Value = Vec<u8>;

    fn expecting(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        formatter.write_str("a byte string")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }

    fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_worked_example() {
        let mut map = Bitmap::default();
        assert!(map.set(70_000));
        assert_eq!(map.chunk(8).words()[69], 1 << 48);
        assert!(map.bytes() < 2 * 1_024, "one chunk of words, the others of zeros");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// A plain set of places judges every operation.
        #[test]
        fn agrees_with_a_set(ops in prop::collection::vec((0..6u8, 0..200_000u64, 0..70_000u64), 1..60)) {
            let (mut map, mut set, mut floor) = (Bitmap::default(), BTreeSet::new(), 0);
            for (op, low, length) in ops {
                let high = low + length;
                match op {
                    0 => prop_assert_eq!(map.set(low), low >= floor && set.insert(low)),
                    1 => prop_assert_eq!(map.clear(low), set.remove(&low)),
                    2 => {
                        map.set_range(low..=high);
                        set.extend(low.max(floor)..=high);
                    }
                    3 => {
                        map.clear_range(low..=high);
                        set.retain(|place| !(low..=high).contains(place));
                    }
                    4 => {
                        map.drop_below(low);
                        floor = floor.max(low / CHUNK * CHUNK);
                        set.retain(|place| *place >= floor);
                    }
                    _ => {
                        map.edit(low..=high, |word, bits| if word % 2 == 0 { bits } else { 0 });
                        set.retain(|place| !(low..=high).contains(place) || place / 64 % 2 == 1);
                    }
                }
                prop_assert_eq!(map.count(low..=high), set.range(low..=high).count() as u64);
                prop_assert_eq!(map.first_one(low..=high), set.range(low..=high).next().copied());
                prop_assert_eq!(map.last_one(low..=high), set.range(low..=high).next_back().copied());
                prop_assert_eq!(map.get(high), set.contains(&high));
                let words = map.copy(low / 64 * 64, high);
                for place in [low, high] {
                    let index = place - low / 64 * 64;
                    prop_assert_eq!(words[index as usize / 64] >> (index % 64) & 1 == 1, set.contains(&place));
                }
            }
            let bytes = rmp_serde::to_vec(&map).expect("serialises");
            prop_assert_eq!(rmp_serde::from_slice::<Bitmap>(&bytes).expect("reads back"), map);
        }
    }

    #[test]
    fn a_range_that_ends_before_it_begins_is_empty() {
        let mut map = Bitmap::default();
        map.set_range(RangeInclusive::new(5, 4));
        assert_eq!(map.count(0..=100), 0);
        assert_eq!(map.first_one(RangeInclusive::new(9, 8)), None);
    }

    #[test]
    fn cut_short_is_an_error() {
        let mut map = Bitmap::default();
        map.set(1);
        let bytes = rmp_serde::to_vec(&map).expect("serialises");
        assert!(rmp_serde::from_slice::<Bitmap>(&bytes[..bytes.len() - 1]).is_err());
    }
}
