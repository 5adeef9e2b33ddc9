//! Who was heard of, and which of them the line is told of next.
//!
//! Owns which marks are said in a beat. Has no clock: whoever asks once a beat is told. Knows nothing of what a mark does.
//!
//! Few are a list, which costs the same in a line of any length. Many travel as bits, a bit for each place from the first to the last of
//! them: of a long line that is a megabyte. So they are said a part of the line at a time, in each beat the next one, and from the
//! front again:
//!
//! ```text
//!            front                                        end
//!   line     │ ·· ·   ··│·   · · · │  ··  ·· ·│ · ·       │
//!   beat       1          2          3          4           5 = 1
//! ```
//! A part is [`PART`] places, or as many as it takes to be through within an eighth of a period. Later than that would be too late:
//! whoever polls three times in a timeout is marked half a timeout (a period) and a third after the time before, and an eighth of a
//! period later that makes nine tenths of a timeout.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::drive::BEAT;
use crate::line::{MARKS_LISTED, MAX_BULK, Number};

/// 64 KiB of bits: beside them what an exchange takes that says nothing is most of it.
pub const PART: u64 = 1 << 19;
/// Of a period.
const THROUGH: u32 = 8;

#[derive(Debug, Default)]
pub(crate) struct Marks {
    list: Vec<Number>,
    /// Where the next part begins.
    next: Number,
    /// In how many a line is said.
    parts: u64,
}

impl Marks {
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn push(&mut self, number: Number) {
        self.list.push(number);
    }

    pub(super) fn append(&mut self, numbers: &mut Vec<Number>) {
        self.list.append(numbers);
    }

    pub(super) fn clear(&mut self) {
        self.list.clear();
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Number> {
        self.list.iter_mut()
    }

    /// How long a period is.
    pub(crate) fn keep_within(&mut self, period: Duration) {
        self.parts = ((period / THROUGH).as_millis() / BEAT.as_millis()) as u64;
    }

    /// Those whose turn it is in a beat.
    pub(crate) fn take(&mut self) -> Vec<Number> {
        if self.list.len() <= MARKS_LISTED {
            return std::mem::take(&mut self.list);
        }
        let part = self.part();
        let part = self.list.extract_if(.., |number| part.contains(number));
        part.take(MAX_BULK as usize).collect()
    }

    /// The next part in which there is somebody.
    fn part(&mut self) -> RangeInclusive<Number> {
        let lowest = |from: Number| self.list.iter().copied().filter(|at| *at >= from).min();
        let (front, end) = (lowest(0).unwrap_or(0), self.list.iter().copied().max().unwrap_or(0));
        let first = lowest(self.next).unwrap_or(front);
        let places = PART.max((end - front) / self.parts.max(1) + 1);
        self.next = first + places;
        first..=self.next - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said in each beat until nothing is left, of marks all over a line.
    fn said(marks: &mut Marks, places: u64, stride: usize) -> Vec<Vec<Number>> {
        marks.list.extend((1..=places).step_by(stride));
        std::iter::from_fn(|| (marks.len() > 0).then(|| marks.take())).collect()
    }

    #[test]
    fn a_long_line_is_told_of_a_part_a_beat() {
        let mut marks = Marks::default();
        marks.keep_within(Duration::from_secs(75));
        for places in [500_000, 3_000_000, 10_000_000] {
            let said = said(&mut marks, places, 7);
            let span = |part: &Vec<Number>| part.last().unwrap() - part[0];
            let longest = said.iter().map(span).max().unwrap();
            assert!(longest <= PART.max(places / 18 + 1), "{places}: {longest}");
            assert!(said.len() as u64 <= (places / PART + 1).min(18), "{places}: {}", said.len());
            let mut all = said.concat();
            all.sort_unstable();
            assert!(all.into_iter().eq((1..=places).step_by(7)), "{places}: each once");
        }
    }

    /// A period of two and a half seconds leaves a beat for all of them.
    #[test]
    fn short_periods_and_short_lists_are_said_at_once() {
        let mut marks = Marks::default();
        marks.keep_within(Duration::from_millis(2_500));
        assert_eq!(said(&mut marks, 10_000_000, 7).len(), 1);
        marks.keep_within(Duration::from_secs(75));
        let stride = 10_000_000 / MARKS_LISTED;
        assert_eq!(said(&mut marks, 10_000_000, stride).len(), 1);
    }

    /// Who is heard of again and again at the front does not keep the others waiting, and a part in which there is nobody is
    /// passed over.
    #[test]
    fn every_part_has_its_turn() {
        let mut marks = Marks::default();
        marks.keep_within(Duration::from_secs(75));
        marks.push(9_000_000);
        for far in [false, true] {
            marks.list.extend(1..=1_001);
            assert_eq!(marks.take().contains(&9_000_000), far);
        }
    }
}
