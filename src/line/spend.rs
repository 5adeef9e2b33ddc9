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
    use crate::line::{Batch, Done, Join, Line, Moment, Offer, Settings};

    /// What was written, without the fields at its end that these bytes are.
    fn without(bytes: &[u8], last: &[Vec<u8>]) -> Vec<u8> {
        let (count, fields) = match bytes {
            [0xdc, high, low, fields @ ..] => (u16::from_be_bytes([*high, *low]), fields),
            [count @ 0x91..=0x9f, fields @ ..] => (u16::from(count & 0x0f), fields),
            other => panic!("no array: {other:x?}"),
        };
        let fields = fields.strip_suffix(&*last.concat()).expect("these are the last");
        let count = count - last.len() as u16;
        [&[0xdc][..], &count.to_be_bytes(), fields].concat()
    }

    fn bytes<T: serde::Serialize>(value: &T) -> Vec<u8> {
        rmp_serde::to_vec(value).expect("it is written")
    }

    /// What an older version kept ends before what it did not know, and is read as if there were none of it.
    #[test]
    fn what_was_kept_before_passes_could_be_spent_is_read() {
        let now = Moment { wall_ms: 1_800_000_000_000, run: 1 };
        let mut line = Line::founded(now);
        let offer = Some(Offer { version: 1, settings: Settings::default() });
        let batch = Batch { sequence: 1, offer, joins: vec![Join::Plain(3)], ..Batch::default() };
        line.apply(&batch, now).unwrap();
        let Line { spent, overrides, book, asked, history, outbox, shadow, roster, .. } = &line;
        let Line { invites, class_balance, class_overflow, control, draws, .. } = &line;
        let last = [
            bytes(spent),
            bytes(overrides),
            bytes(book),
            bytes(asked),
            bytes(history),
            bytes(outbox),
            bytes(shadow),
            bytes(roster),
            bytes(invites),
            bytes(class_balance),
            bytes(class_overflow),
            bytes(control),
            bytes(draws),
        ];
        let before: Line = rmp_serde::from_slice(&without(&bytes(&line), &last)).unwrap();
        (line.book, line.history, line.invites) = Default::default();
        assert_eq!(before, line);
        let answers = Answers::default();
        let before = without(&bytes(&answers), &[bytes(&Vec::<Done>::new())]);
        assert_eq!(rmp_serde::from_slice::<Answers>(&before).unwrap(), answers);
        let Batch { spends, tags, sent, wants, figures, about, hangups, draw, lot, .. } = &batch;
        let last = [
            bytes(spends),
            bytes(tags),
            bytes(sent),
            bytes(wants),
            bytes(figures),
            bytes(about),
            bytes(hangups),
            bytes(draw),
            bytes(lot),
        ];
        let before = without(&bytes(&batch), &last);
        assert_eq!(rmp_serde::from_slice::<Batch>(&before).unwrap(), batch);
    }
}
