//! Who was heard of, and which of them the line is told of next.
//!
//! Owns which marks are said together. Has no clock: whoever asks says how long ago it last did. Knows nothing of what a mark does.
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
//! A part is [`PART`] places, or more: as many as it takes to be through within an eighth of a period, however long a beat and its exchange
//! last. Later than that would be too late: whoever polls three times in a timeout is marked half a timeout (a period) and a third after the
//! time before, and an eighth of a period later that makes nine tenths of a timeout. For the beats in which a period ends and a mark is said the
//! desk begins its periods early; what is left is for the answers of the store.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::line::{MARKS_LISTED, MAX_BULK, Number};

/// 64 KiB of bits: beside them what an exchange takes that says nothing is most of it.
pub const PART: u64 = 1 << 19;
/// Of a period.
const THROUGH: u32 = 8;

#[derive(Debug, Default)]
pub(crate) struct Marks {
    /// As many as there are: whoever adds to it says each once a period.
    list: Vec<Number>,
    /// Where the next part begins.
    next: Number,
    /// How long the line was when this round began at its front: what is left of it would make ever shorter parts.
    span: u64,
    /// Until when all of a line is to be said.
    through: Duration,
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
        self.through = period / THROUGH;
    }

    /// Those whose turn it is. `since`: for how long nothing was said, though there was something.
    pub(crate) fn take(&mut self, since: Duration) -> Vec<Number> {
        if self.list.len() <= MARKS_LISTED {
            return std::mem::take(&mut self.list);
        }
        let part = self.part(since);
        let first = *part.start();
        let said = self.list.extract_if(.., |number| part.contains(number));
        let said: Vec<Number> = said.take(MAX_BULK as usize).collect();
        if said.len() as u64 == MAX_BULK {
            self.next = first; // More than a batch carries: the rest of them comes next.
        }
        said
    }

    /// The next part in which there is somebody.
    fn part(&mut self, since: Duration) -> RangeInclusive<Number> {
        let lowest = |from: Number| self.list.iter().copied().filter(|at| *at >= from).min();
        let (front, end) = (lowest(0).unwrap_or(0), self.list.iter().copied().max().unwrap_or(0));
        let (first, span) = match lowest(self.next) {
            Some(first) => (first, self.span.max(end - first)),
            None => (front, end - front),
        };
        let (since, through) = (since.as_millis() as u64, self.through.as_millis() as u64);
        let places = span.saturating_mul(since) / through.max(1);
        (self.next, self.span) = (first + PART.max(places + 1), span);
        first..=self.next - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEAT: Duration = Duration::from_millis(500);

    /// What is said every so often until nothing is left, of marks all over a line.
    fn said(marks: &mut Marks, places: u64, stride: usize, every: Duration) -> Vec<Vec<Number>> {
        marks.list.extend((1..=places).step_by(stride));
        std::iter::from_fn(|| (marks.len() > 0).then(|| marks.take(every))).collect()
    }

    #[test]
    fn a_long_line_is_told_of_a_part_a_beat() {
        for places in [500_000, 3_000_000, 10_000_000] {
            let mut marks = Marks::default();
            marks.keep_within(Duration::from_secs(75));
            let said = said(&mut marks, places, 7, BEAT);
            let span = |part: &Vec<Number>| part.last().unwrap() - part[0];
            let longest = said.iter().map(span).max().unwrap();
            assert!(longest <= PART.max(places / 18 + 1), "{places}: {longest}");
            assert!(said.len() as u64 <= (places / PART + 1).min(19), "{places}: {}", said.len());
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
        assert_eq!(said(&mut marks, 10_000_000, 11, BEAT).len(), 1);
        marks.keep_within(Duration::from_secs(75));
        let stride = 10_000_000 / MARKS_LISTED;
        assert_eq!(said(&mut marks, 10_000_000, stride, BEAT).len(), 1);
    }

    /// A store that is slow to answer, and one that is slower.
    #[test]
    fn a_line_is_told_within_an_eighth_of_a_period_however_rarely_a_node_speaks() {
        for (period, every) in [(30, 503), (30, 800), (75, 503), (75, 800), (75, 2_000)] {
            let (period, every) = (Duration::from_secs(period), Duration::from_millis(every));
            let mut marks = Marks::default();
            marks.keep_within(period);
            let beats = said(&mut marks, 10_000_000, 11, every).len() as u32;
            let late = every * (beats - 1);
            assert!(late <= period / 8, "{period:?}, {every:?}: {late:?}");
        }
    }

    /// Nobody is turned away, and those whom a batch can't carry are not left for the next time round.
    #[test]
    fn more_than_a_batch_carries_is_said_in_the_next() {
        let mut marks = Marks::default();
        marks.keep_within(Duration::from_secs(75));
        let long_ago = Duration::from_secs(600);
        marks.list.extend(1..=2 * MAX_BULK + 10);
        let said: Vec<_> = (0..3).map(|_| marks.take(long_ago)).collect();
        assert_eq!(said.iter().map(Vec::len).collect::<Vec<_>>(), [1_000_000, 1_000_000, 10]);
        assert!(said.concat().into_iter().eq(1..=2 * MAX_BULK + 10));
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
            assert_eq!(marks.take(BEAT).contains(&9_000_000), far);
        }
    }
}
