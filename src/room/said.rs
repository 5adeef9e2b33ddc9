//! One batch on its way, and who waits for what of it.
//!
//! Owns the join between the line's answers and those who asked. Answers stand in the order of their list.

use tokio::sync::oneshot::{self, Sender};

use crate::line::{Batch, Claimed, Commanded, Done, Join, Joined, Number, Refusal, Reply};

/// One batch's worth, and who waits for what of it.
#[derive(Default)]
pub(super) struct Said {
    pub(super) batch: Batch,
    /// Those of `batch.joins`, a run's one after the other.
    pub(super) newcomers: Vec<Sender<Joined>>,
    pub(super) claims: Vec<Sender<Claimed>>,
    pub(super) renewals: Vec<Sender<Claimed>>,
    pub(super) leaves: Vec<Sender<Done>>,
    pub(super) ends: Vec<Sender<Done>>,
    pub(super) spends: Vec<Sender<Done>>,
    pub(super) commands: Vec<Sender<Commanded>>,
}

impl Said {
    /// Whether anybody waits for what the line makes of it.
    pub(super) fn is_asked(&self) -> bool {
        let Said { newcomers, claims, renewals, leaves, ends, spends, commands, .. } = self;
        let unasked = newcomers.is_empty() && claims.is_empty() && renewals.is_empty();
        let undone = leaves.is_empty() && ends.is_empty() && spends.is_empty();
        !(unasked && undone && commands.is_empty())
    }

    /// Nobody waits for it any more: whoever did is told so by their question being dropped. An end is no question: if the line does
    /// not take this batch, it is said again.
    pub(super) fn dismiss(&mut self) {
        self.ends.iter_mut().for_each(dismiss);
        self.newcomers.clear();
        self.claims.clear();
        self.renewals.clear();
        self.leaves.clear();
        self.spends.clear();
        self.commands.clear();
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
            for nth in 0..people {
                let one = one_of(*joined, nth);
                let lost = newcomers.next().is_none_or(|answer| answer.send(one).is_err());
                // A number that its key finds again is not given up: the same client may have it already.
                let found_again = join.is_once();
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
        hand_out(self.spends, &reply.spends);
        hand_out(self.commands, &reply.commands);
        unwanted
    }
}

/// Nobody waits for this answer any more.
pub(super) fn dismiss<A>(answer: &mut Sender<A>) {
    *answer = oneshot::channel().0;
}

/// Whoever no longer waits has gone, and nothing is lost with them but the answer.
fn hand_out<A: Clone>(answers: Vec<Sender<A>>, told: &[A]) {
    for (answer, told) in answers.into_iter().zip(told) {
        let _ = answer.send(told.clone());
    }
}

/// What a run's outcome is to the `nth` of it.
fn one_of(joined: Joined, nth: u32) -> Joined {
    match joined {
        Joined::Given { count, .. } if nth >= count => Joined::Refused(Refusal::Full),
        Joined::Given { epoch, first, entered, joined_ms, terms, class, .. } => {
            let inside = nth < entered;
            Joined::Given {
                epoch,
                first: first + u64::from(nth),
                count: 1,
                entered: u32::from(inside),
                joined_ms,
                terms: terms.filter(|_| inside),
                class,
            }
        }
        other => other,
    }
}
