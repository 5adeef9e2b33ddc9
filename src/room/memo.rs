//! What a node has to tell a line that has not listened for a while.
//!
//! Owns whom it saw and whose pass it renewed meanwhile, and for whom the head of the line has no room yet. Decides nothing:
//! whoever was passed over is vouched for until the line has said what comes of it. Of a visitor it keeps a bit, of those it
//! vouches for a number.
//!
//! ```text
//!   seen ── the line listens ──► vouched ── said ──► placed: the next list of the head has them
//!           and has passed them over  ▲                │
//!   back in time, and no room ────────┴── no room ◄────┘
//! ```
//! All the way they wait, as far as anybody here is told ([`View::hold`]).

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use tokio::time::Instant;

use super::drive::BEAT;
use crate::line::bits::Bitmap;
use crate::line::{Batch, Claimed, Drawn, Number, Reason, Renewal, Reply, Standing, View};

/// Passes renewed without the line, each once: more than one node has visitors inside, and two megabytes.
const MAX_RENEWED: usize = 100_000;

#[derive(Default)]
pub(super) struct Memo {
    /// Passes renewed without the line.
    renewed: BTreeMap<Number, Renewal>,
    /// Who was seen while the line did not listen; `None`: it does.
    seen: Option<Bitmap>,
    /// Those whom it passed over and has not placed, in order.
    vouched: VecDeque<Number>,
    /// When the head of the line last had no room for them.
    full: Option<Instant>,
    /// Those, and whoever was placed since the head was last told, in order.
    held: Arc<Vec<Number>>,
}

impl Memo {
    /// The line does not listen.
    pub(super) fn open(&mut self) {
        self.seen.get_or_insert_default();
    }

    /// The line has heard everything.
    pub(super) fn close(&mut self) {
        self.seen = None;
    }

    /// Numbers of an epoch that is over mean nothing.
    pub(super) fn forget(&mut self) {
        self.renewed.clear();
        self.vouched.clear();
        self.held = Arc::default();
        if let Some(seen) = &mut self.seen {
            seen.wipe();
        }
    }

    /// Whoever was drawn has another number. Who was seen is asked about by the one they had: see `vouch`.
    pub(super) fn enter_draw(&mut self, drawn: &Drawn) {
        self.vouched.iter_mut().for_each(|number| *number = drawn.number(*number));
        let held: Vec<Number> = self.held.iter().map(|number| drawn.number(*number)).collect();
        self.held = in_order(held);
        self.renewed = std::mem::take(&mut self.renewed)
            .into_iter()
            .map(|(number, admitted_ms)| (drawn.number(number), admitted_ms))
            .collect();
    }

    /// These are back in time. Where others have no room they stand behind them.
    pub(super) fn queue(&mut self, returns: &mut BTreeSet<Number>) {
        if self.is_full() && !returns.is_empty() {
            self.vouched.extend(std::mem::take(returns));
            self.hold();
        }
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
    /// an outage, and by what the line says now, not by what it said before.
    pub(super) fn vouch(&mut self, view: &View) {
        if !view.is_current() {
            return;
        }
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
        self.hold();
    }

    /// The line has taken a batch. Those for whom its head had no room are vouched for until it has: they were back in time.
    pub(super) fn heard(&mut self, batch: &Batch, reply: &Reply) {
        let Batch { vouched, returns, claims, .. } = batch;
        let asked = [(vouched, &reply.vouched), (returns, &reply.returns), (claims, &reply.claims)];
        let answers = asked.into_iter().flat_map(|(numbers, told)| numbers.iter().zip(told));
        let away = answers.filter(|(_, told)| **told == Claimed::Away);
        let refused: Vec<Number> = away.map(|(number, _)| *number).collect();
        if !refused.is_empty() {
            // A claim that is refused meanwhile does not put off when it is asked again.
            self.full = self.full.filter(|_| self.is_full()).or_else(|| Some(Instant::now()));
            refused.into_iter().rev().for_each(|number| self.vouched.push_front(number));
            self.hold();
        }
        // What was not taken is said again: see `vouch_again`.
        let all_taken = !reply.vouched.contains(&Claimed::Stale);
        if reply.update.express.is_some() && all_taken && !self.held.is_empty() {
            self.held = Arc::default();
            self.hold();
        }
    }

    fn hold(&mut self) {
        let held: Vec<Number> = self.held.iter().chain(&self.vouched).copied().collect();
        self.held = in_order(held);
    }

    /// Those who are not to be told that their turn is over.
    pub(super) fn held(&self) -> &Arc<Vec<Number>> {
        &self.held
    }

    /// Whether the head had no room a moment ago. Asked in every exchange a full line would do little else.
    fn is_full(&self) -> bool {
        self.full.is_some_and(|full| full.elapsed() < BEAT)
    }

    /// As much of it as there is room for in a batch, behind what is asked there.
    pub(super) fn put(&mut self, batch: &mut Batch, room: &mut usize) {
        let count = if self.is_full() { 0 } else { self.vouched.len().min(*room) };
        *room -= count;
        batch.vouched.extend(self.vouched.drain(..count));
        while *room > 0
            && let Some((_, renewal)) = self.renewed.pop_first()
        {
            batch.renewals.push(renewal);
            *room -= 1;
        }
    }

    /// Whether nothing is left that can be said now.
    pub(super) fn is_empty(&self) -> bool {
        self.renewed.is_empty() && (self.vouched.is_empty() || self.is_full())
    }

    /// Whether the line has heard of everybody who is vouched for, as far as it has room for them.
    pub(super) fn is_heard(&self) -> bool {
        self.seen.is_none() && (self.vouched.is_empty() || self.is_full())
    }
}

fn in_order(mut numbers: Vec<Number>) -> Arc<Vec<Number>> {
    numbers.sort_unstable();
    numbers.dedup();
    Arc::new(numbers)
}
