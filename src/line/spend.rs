//! Passes that are good once: which of them were spent.
//!
//! Owns that memory. It goes by number, because whatever a pass becomes, renewed or resumed, it is the same one.
//! A spend outlives every pass of its number: it is kept for as long as the line knows of a seat, in use or
//! over, and an ending in turn is kept for as long as its pass is good. Of a seat that the line has lost nothing is
//! known: its pass is spent, too, and remembered for as long as an ending of which nothing else is known.
//! Changes nothing about who is inside.

use super::batch::{Done, Number};
use super::budget::Budget;
use super::state::Line;

impl Line {
    /// A pass is used up, once.
    pub(super) fn spend(&mut self, number: Number) -> Done {
        if !self.given(number) {
            return Done::Unknown;
        }
        if self.spent.contains(number) {
            return Done::Already;
        }
        self.remember_spent(number);
        Done::Freed
    }

    fn remember_spent(&mut self, number: Number) {
        self.spent.insert(number, self.clock_ms + 2 * self.settings().session_ms());
    }

    /// Forgets those of which no pass can be good any more, in what the endings before have left.
    pub(super) fn forget_spent(&mut self, budget: &mut Budget) {
        let most = budget.rest();
        for number in budget.found(self.spent.due(self.clock_ms, most), most) {
            match self.sessions.knows(number) {
                true => self.remember_spent(number),
                false => _ = self.spent.remove(number),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::line::state::Answers;
    use crate::line::{Batch, Join, Line, Moment, Offer, Settings};

    /// What was written, without its last field, which was an empty list.
    fn without_last(bytes: &[u8]) -> Vec<u8> {
        match bytes {
            [0xdc, high, low, fields @ .., 0x90] => {
                let count = u16::from_be_bytes([*high, *low]) - 1;
                [&[0xdc][..], &count.to_be_bytes(), fields].concat()
            }
            [count @ 0x91..=0x9f, fields @ .., 0x90] => [&[count - 1], fields].concat(),
            other => panic!("no array with an empty list at its end: {other:x?}"),
        }
    }

    #[test]
    fn what_was_kept_before_passes_could_be_spent_is_read() {
        let now = Moment { wall_ms: 1_800_000_000_000, run: 1 };
        let mut line = Line::founded(now);
        let offer = Some(Offer { version: 1, settings: Settings::default() });
        let batch = Batch { sequence: 1, offer, joins: vec![Join::Plain(3)], ..Batch::default() };
        line.apply(&batch, now).unwrap();
        let before = without_last(&rmp_serde::to_vec(&line).unwrap());
        assert_eq!(rmp_serde::from_slice::<Line>(&before).unwrap(), line);
        let before = without_last(&rmp_serde::to_vec(&Answers::default()).unwrap());
        assert_eq!(rmp_serde::from_slice::<Answers>(&before).unwrap(), Answers::default());
        let before = without_last(&rmp_serde::to_vec(&batch).unwrap());
        assert_eq!(rmp_serde::from_slice::<Batch>(&before).unwrap(), batch);
    }
}
