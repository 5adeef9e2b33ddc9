//! What a node has to tell a line that has not listened for a while.
//!
//! Owns whom it saw and whose pass it renewed meanwhile, in bounded memory. Decides nothing: whoever was passed over is
//! vouched for, and the line says what comes of it.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use crate::line::bits::Bitmap;
use crate::line::{Batch, Drawn, Number, Reason, Renewal, Standing, View};

/// Passes renewed without the line, each once: more than one node has visitors inside, and two megabytes.
const MAX_RENEWED: usize = 100_000;

/// How long it takes at most until this node hears who is at the head of the line: that is told once a second, and asked for
/// twice.
const HEAD_TOLD: Duration = Duration::from_millis(1_600);

#[derive(Default)]
pub(super) struct Memo {
    /// Passes renewed without the line.
    renewed: BTreeMap<Number, Renewal>,
    /// Who was seen while the line did not listen; `None`: it does.
    seen: Option<Bitmap>,
    /// Those of them whom it passed over meanwhile.
    vouched: Vec<Number>,
    /// When the last of them was said.
    vouched_at: Option<Instant>,
}

impl Memo {
    /// The line does not listen.
    pub(super) fn open(&mut self) {
        self.seen.get_or_insert_default();
    }

    /// The line has heard everything.
    pub(super) fn close(&mut self) {
        (self.seen, self.vouched_at) = (None, None);
    }

    /// Numbers of an epoch that is over mean nothing.
    pub(super) fn forget(&mut self) {
        self.renewed.clear();
        self.vouched.clear();
        if let Some(seen) = &mut self.seen {
            seen.wipe();
        }
    }

    /// Whoever was drawn has another number. Who was seen is asked about by the one they had: see `vouch`.
    pub(super) fn enter_draw(&mut self, drawn: &Drawn) {
        self.vouched.iter_mut().for_each(|number| *number = drawn.number(*number));
        self.renewed = std::mem::take(&mut self.renewed)
            .into_iter()
            .map(|(number, admitted_ms)| (drawn.number(number), admitted_ms))
            .collect();
    }

    /// The line did not take these.
    pub(super) fn vouch_again(&mut self, numbers: Vec<Number>) {
        self.vouched.extend(numbers);
    }

    /// Notes a sign of life.
    pub(super) fn saw(&mut self, number: Number) {
        if let Some(seen) = &mut self.seen {
            seen.set(number);
        }
    }

    /// Notes a pass that was renewed.
    pub(super) fn renewed(&mut self, renewal: Renewal) {
        if self.renewed.len() < MAX_RENEWED {
            self.renewed.insert(renewal.number, renewal);
        }
    }

    /// The line listens again, and this is what became of it: those who were seen and passed over are vouched for. Once
    /// an outage, or somebody for whom it is too late would keep the node away by asking.
    pub(super) fn vouch(&mut self, view: &View) {
        let Some(seen) = self.seen.take() else { return };
        let released = view.counts().released;
        let passed = |number: &Number| {
            matches!(view.standing(*number), Standing::Away | Standing::Expired(Reason::Passed))
        };
        let mut next = 1;
        while let Some(number) = seen.first_one(next..=released) {
            self.vouched.extend(Some(number).filter(passed).map(|number| view.number(number)));
            next = number + 1;
        }
    }

    /// As much of it as there is room for in a batch, behind what is asked there.
    pub(super) fn put(&mut self, batch: &mut Batch, room: &mut usize) {
        let count = self.vouched.len().min(*room);
        *room -= count;
        batch.vouched.extend(self.vouched.drain(..count));
        if count > 0 {
            self.vouched_at = Some(Instant::now());
        }
        while *room > 0
            && let Some((_, renewal)) = self.renewed.pop_first()
        {
            batch.renewals.push(renewal);
            *room -= 1;
        }
    }

    /// Whether nothing is left to be said.
    pub(super) fn is_empty(&self) -> bool {
        self.renewed.is_empty() && self.vouched.is_empty()
    }

    /// Whether the line has heard of everybody who is vouched for, and its word of them has come back. Until then they
    /// look as if they were over.
    pub(super) fn is_heard(&self) -> bool {
        self.seen.is_none()
            && self.vouched.is_empty()
            && self.vouched_at.is_none_or(|at| at.elapsed() > HEAD_TOLD)
    }
}
