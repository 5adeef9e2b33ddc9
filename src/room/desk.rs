//! What is waiting to be said, and who waits for the answer.
//!
//! Owns the order of arrival and the bounds: at a bound newcomers are told so at once, instead of waiting
//! for an answer that comes too late. Never waits itself.

use std::collections::{BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use tokio::sync::oneshot::Sender;

use super::Proof;
use crate::line::bits::Bitmap;
use crate::line::{
    Batch, Claimed, Command, Commanded, Done, End, Join, Joined, Keyed, MAX_BULK, MAX_ITEMS,
    Number, Offer, Refusal, Renewal, Reply,
};

/// Newcomers who may wait for a number at once: two seconds of a crowd of 50,000 a second. Whoever comes
/// later is told to try again, which is sooner than an answer would be.
const MAX_NEWCOMERS: usize = 100_000;
/// Everything else that may wait: ten exchanges' worth.
const MAX_WAITING: usize = 10 * MAX_ITEMS;

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Busy {
    /// Too many wait for one already.
    #[error("the node is at its bound, try again in a moment")]
    Full,
    /// The question was dropped: the node is stopping, or its store refused it.
    #[error("the question was dropped, try again in a moment")]
    Dropped,
}

/// A list of questions of one kind.
type Asked<Q, A> = VecDeque<(Q, Sender<A>)>;

pub(super) struct Desk {
    /// Nobody listens any more.
    closed: bool,
    /// Of every number here.
    epoch: u64,
    /// The last batch's.
    sequence: u64,
    offer: Offer,
    /// The line has not been told of it yet.
    offer_due: bool,
    newcomers: Asked<Option<Keyed>, Joined>,
    claims: Asked<Number, Claimed>,
    renewals: Asked<Renewal, Claimed>,
    leaves: Asked<Number, Done>,
    ends: Asked<End, Done>,
    commands: Asked<Command, Commanded>,
    /// Numbers whose visitor went away before they were told: nobody will use them.
    unwanted: Vec<Number>,
    marks: Vec<Number>,
    present: Vec<Number>,
    returns: BTreeSet<Number>,
    /// Who was marked in this period.
    marked: Bitmap,
    period_began: Instant,
    proof: Proof,
}

/// One batch's worth, and who waits for what of it.
#[derive(Default)]
pub(super) struct Said {
    pub(super) batch: Batch,
    /// Those of `batch.joins`, a run's one after the other.
    newcomers: Vec<Sender<Joined>>,
    claims: Vec<Sender<Claimed>>,
    renewals: Vec<Sender<Claimed>>,
    leaves: Vec<Sender<Done>>,
    ends: Vec<Sender<Done>>,
    commands: Vec<Sender<Commanded>>,
}

impl Desk {
    pub(super) fn new(offer: Offer) -> Desk {
        Desk {
            closed: false,
            epoch: 0,
            sequence: 0,
            offer,
            offer_due: true,
            newcomers: VecDeque::new(),
            claims: VecDeque::new(),
            renewals: VecDeque::new(),
            leaves: VecDeque::new(),
            ends: VecDeque::new(),
            commands: VecDeque::new(),
            unwanted: Vec::new(),
            marks: Vec::new(),
            present: Vec::new(),
            returns: BTreeSet::new(),
            marked: Bitmap::default(),
            period_began: Instant::now(),
            proof: Proof { epoch: 0, number: 0 },
        }
    }

    /// Numbers of an earlier epoch mean nothing in a later one: whatever is waiting about them is stale.
    /// Whether `epoch` is the present one.
    pub(super) fn enter_epoch(&mut self, epoch: u64) -> bool {
        if epoch > self.epoch {
            self.epoch = epoch;
            for list in [&mut self.marks, &mut self.present, &mut self.unwanted] {
                list.clear();
            }
            self.returns.clear();
            self.marked.wipe();
            dismiss(&mut self.claims, Claimed::Stale);
            dismiss(&mut self.renewals, Claimed::Stale);
            dismiss(&mut self.leaves, Done::Stale);
            dismiss(&mut self.ends, Done::Stale);
        }
        epoch == self.epoch
    }

    /// Drops every question, and refuses all that follow.
    pub(super) fn close(&mut self) {
        self.closed = true;
        self.newcomers.clear();
        self.claims.clear();
        self.renewals.clear();
        self.leaves.clear();
        self.ends.clear();
        self.commands.clear();
    }

    /// Whether anybody listens.
    pub(super) fn check_open(&self) -> Result<(), Busy> {
        if self.closed { Err(Busy::Dropped) } else { Ok(()) }
    }

    pub(super) fn offer(&mut self, offer: Offer) {
        self.offer = offer;
        self.offer_due = true;
    }

    /// The settings to be told while the line has none, or may have lost them.
    pub(super) fn standing_offer(&self) -> Offer {
        self.offer.clone()
    }

    pub(super) fn prove(&mut self, proof: Proof) {
        if (proof.epoch, proof.number) > (self.proof.epoch, self.proof.number) {
            self.proof = proof;
        }
    }

    /// The highest that any signature has proven.
    pub(super) fn proof(&self) -> Proof {
        self.proof
    }

    pub(super) fn join(
        &mut self,
        keyed: Option<Keyed>,
        answer: Sender<Joined>,
    ) -> Result<(), Busy> {
        if self.newcomers.len() >= MAX_NEWCOMERS {
            self.newcomers.retain(|(_, answer)| !answer.is_closed());
        }
        put(&mut self.newcomers, keyed, answer, MAX_NEWCOMERS)
    }

    pub(super) fn claim(&mut self, number: Number, answer: Sender<Claimed>) -> Result<(), Busy> {
        put(&mut self.claims, number, answer, MAX_WAITING)
    }

    pub(super) fn renew(&mut self, renewal: Renewal, answer: Sender<Claimed>) -> Result<(), Busy> {
        put(&mut self.renewals, renewal, answer, MAX_WAITING)
    }

    pub(super) fn leave(&mut self, number: Number, answer: Sender<Done>) -> Result<(), Busy> {
        put(&mut self.leaves, number, answer, MAX_WAITING)
    }

    pub(super) fn end(&mut self, end: End, answer: Sender<Done>) -> Result<(), Busy> {
        put(&mut self.ends, end, answer, MAX_WAITING)
    }

    pub(super) fn command(
        &mut self,
        command: Command,
        answer: Sender<Commanded>,
    ) -> Result<(), Busy> {
        put(&mut self.commands, command, answer, MAX_WAITING)
    }

    /// Notes a sign of life, once a period; whether the line should hear of it soon.
    pub(super) fn seen(&mut self, number: Number, express: bool, passed: bool) -> bool {
        if passed && !express {
            // Worth saying with every poll: the first answer may have been "not yet".
            return self.returns.insert(number);
        }
        let list = if express { &mut self.present } else { &mut self.marks };
        if (list.len() as u64) < MAX_BULK && self.marked.set(number) {
            list.push(number);
        }
        false
    }

    /// Starts a new period if the last one is over.
    pub(super) fn turn_period(&mut self, period: Duration) {
        if self.period_began.elapsed() >= period {
            self.marked.wipe();
            self.period_began = Instant::now();
        }
    }

    /// As much as one batch may carry, oldest first, kind by kind: what frees seats before what takes
    /// them. Whoever no longer waits for a number or a turn is not asked about.
    pub(super) fn take(&mut self) -> Said {
        let mut said = Said::default();
        let batch = &mut said.batch;
        self.sequence += 1;
        (batch.sequence, batch.epoch) = (self.sequence, self.epoch);
        batch.offer = std::mem::take(&mut self.offer_due).then(|| self.offer.clone());
        batch.marks = std::mem::take(&mut self.marks);
        self.claims.retain(|(_, answer)| !answer.is_closed());
        let mut room = MAX_ITEMS;
        move_to(&mut self.commands, &mut batch.commands, &mut said.commands, &mut room);
        move_to(&mut self.leaves, &mut batch.leaves, &mut said.leaves, &mut room);
        move_to(&mut self.ends, &mut batch.ends, &mut said.ends, &mut room);
        move_to(&mut self.renewals, &mut batch.renewals, &mut said.renewals, &mut room);
        move_to(&mut self.claims, &mut batch.claims, &mut said.claims, &mut room);
        self.take_newcomers(&mut said, &mut room);
        // Nobody waits for what comes of these. Answers stand in the order of their list, so leaves
        // without an asker come last in theirs: see `told`.
        let batch = &mut said.batch;
        batch.leaves.extend(some(&mut self.unwanted, &mut room));
        batch.present = some(&mut self.present, &mut room);
        while room > 0
            && let Some(number) = self.returns.pop_first()
        {
            batch.returns.push(number);
            room -= 1;
        }
        said
    }

    /// Newcomers in the order of their arrival. A run of those about whom nothing is remembered costs one
    /// item, so there is always room for them.
    fn take_newcomers(&mut self, said: &mut Said, room: &mut usize) {
        let joins = &mut said.batch.joins;
        let half = *room / 2; // The other half is for those nobody asks about.
        while let Some((keyed, answer)) = self.newcomers.pop_front() {
            if answer.is_closed() {
                continue;
            }
            let full = joins.len() >= if keyed.is_some() { half } else { half.max(1) };
            match (keyed, joins.last_mut()) {
                (None, Some(Join::Plain(count))) => *count += 1,
                (keyed, _) if full => {
                    self.newcomers.push_front((keyed, answer));
                    break;
                }
                (None, _) => joins.push(Join::Plain(1)),
                (Some(keyed), _) => joins.push(Join::Keyed(keyed)),
            }
            said.newcomers.push(answer);
        }
        *room = room.saturating_sub(joins.len());
    }

    /// Whether anything is left to be said.
    pub(super) fn is_empty(&self) -> bool {
        let asked = self.newcomers.len() + self.claims.len() + self.renewals.len();
        let more = self.leaves.len() + self.ends.len() + self.commands.len();
        asked + more + self.unwanted.len() + self.returns.len() == 0
    }

    /// Numbers of `epoch` that were given to nobody.
    pub(super) fn leave_again(&mut self, epoch: u64, numbers: Vec<Number>) {
        if epoch == self.epoch {
            self.unwanted.extend(numbers);
        }
    }
}

fn put<Q, A>(
    list: &mut Asked<Q, A>,
    question: Q,
    answer: Sender<A>,
    bound: usize,
) -> Result<(), Busy> {
    if list.len() >= bound {
        return Err(Busy::Full);
    }
    list.push_back((question, answer));
    Ok(())
}

fn dismiss<Q, A: Copy>(list: &mut Asked<Q, A>, answer: A) {
    for (_, waiting) in list.drain(..) {
        let _ = waiting.send(answer);
    }
}

/// The first `room` of a list.
fn some(list: &mut Vec<Number>, room: &mut usize) -> Vec<Number> {
    let taken: Vec<Number> = list.drain(..list.len().min(*room)).collect();
    *room -= taken.len();
    taken
}

fn move_to<Q, A>(
    from: &mut Asked<Q, A>,
    questions: &mut Vec<Q>,
    answers: &mut Vec<Sender<A>>,
    room: &mut usize,
) {
    let count = from.len().min(*room);
    *room -= count;
    for (question, answer) in from.drain(..count) {
        questions.push(question);
        answers.push(answer);
    }
}

impl Said {
    /// Whether anybody waits for what the line makes of it.
    pub(super) fn is_asked(&self) -> bool {
        let Said { newcomers, claims, renewals, leaves, ends, commands, .. } = self;
        let unasked = newcomers.is_empty() && claims.is_empty() && renewals.is_empty();
        !(unasked && leaves.is_empty() && ends.is_empty() && commands.is_empty())
    }

    /// Hands out the answers. Numbers whose visitor no longer waits come back: they are to be left again.
    pub(super) fn told(self, reply: &Reply) -> Vec<Number> {
        let mut unwanted = Vec::new();
        let mut newcomers = self.newcomers.into_iter();
        for (join, joined) in self.batch.joins.iter().zip(&reply.joins) {
            let people = match join {
                Join::Plain(count) => *count,
                Join::Keyed(_) => 1,
            };
            for (nth, answer) in (0..people).zip(&mut newcomers) {
                let one = one_of(*joined, nth);
                // A number that its key finds again is not given up: the same client may have it already.
                let (lost, found_again) = (answer.send(one).is_err(), join.is_once());
                if let Joined::Given { epoch, first, .. } = one
                    && lost
                    && !found_again
                    && epoch == reply.counts.epoch
                {
                    unwanted.push(first);
                }
            }
        }
        hand_out(self.claims, &reply.claims);
        hand_out(self.renewals, &reply.renewals);
        hand_out(self.leaves, &reply.leaves);
        hand_out(self.ends, &reply.ends);
        hand_out(self.commands, &reply.commands);
        unwanted
    }
}

/// Whoever no longer waits has gone, and nothing is lost with them but the answer.
fn hand_out<A: Copy>(answers: Vec<Sender<A>>, told: &[A]) {
    for (answer, told) in answers.into_iter().zip(told) {
        let _ = answer.send(*told);
    }
}

/// What a run's outcome is to the `nth` of it.
fn one_of(joined: Joined, nth: u32) -> Joined {
    match joined {
        Joined::Given { count, .. } if nth >= count => Joined::Refused(Refusal::Full),
        Joined::Given { epoch, first, entered, joined_ms, terms, .. } => {
            let inside = nth < entered;
            Joined::Given {
                epoch,
                first: first + u64::from(nth),
                count: 1,
                entered: u32::from(inside),
                joined_ms,
                terms: terms.filter(|_| inside),
            }
        }
        other => other,
    }
}
