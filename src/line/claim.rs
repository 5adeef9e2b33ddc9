//! A visitor shows up: seen, back, or wanting in.
//!
//! Owns what a sign of life does to a place. Whoever is passed over while away gets one more turn at
//! the head if they come back before their claim window is over; nobody gets two.

use super::batch::{Batch, Claimed, Classed, Joined, Number, Reason};
use super::budget::Budget;
use super::express::HEAD_MAX;
use super::state::Line;

/// What somebody was before they were taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Was {
    /// Their turn had come.
    Admitted,
    /// It had not, or was over.
    Other,
}

impl Line {
    /// An ordinary visitor was heard of.
    pub(super) fn mark(&mut self, place: Number) {
        if !self.given(place) || place < self.base {
            return;
        }
        self.seen[self.ring].set(place);
        if place > self.released && !self.used.get(place) && self.live.set(place) {
            self.waiting += 1;
        }
    }

    /// Somebody wants in.
    pub(super) fn claim(&mut self, number: Number) -> Claimed {
        match self.come_back(number, false) {
            Claimed::Admitted => {
                self.take_out(number);
                self.used.set(number);
                Claimed::Inside(self.enter(number, true))
            }
            other => other,
        }
    }

    /// Somebody is here again. `vouched`: a node that was cut off saw them in time.
    pub(super) fn come_back(&mut self, number: Number, vouched: bool) -> Claimed {
        if !self.given(number) {
            return Claimed::Unknown;
        }
        if let Some(seat) = self.sessions.seat(number) {
            return self.claim_again(number, seat);
        }
        if let Some(why) = self.sessions.ending(number) {
            return self.resume(number, why);
        }
        if self.head.contains(number) {
            self.mark_present(number);
            let called = self.head.called.contains(number);
            return if called { Claimed::Admitted } else { Claimed::Waiting };
        }
        if number < self.base {
            return Claimed::Over(Reason::Passed);
        }
        if self.used.get(number) {
            return Claimed::Over(Reason::Used);
        }
        self.mark(number);
        match () {
            () if number > self.released => Claimed::Waiting,
            () if self.live.get(number) => Claimed::Admitted,
            () if number > self.lapsed || vouched => self.late_return(number),
            () => Claimed::Over(Reason::Passed),
        }
    }

    /// To the head, once: `used` says that it was. While there is no room they stay where they are, and are to ask again.
    fn late_return(&mut self, number: Number) -> Claimed {
        if self.head.len() >= HEAD_MAX {
            return Claimed::Away;
        }
        self.used.set(number);
        self.head.wait(number, self.released, self.clock_ms);
        self.waiting += 1;
        Claimed::Waiting
    }

    /// Takes somebody out of the line, wherever they stand in it.
    pub(super) fn take_out(&mut self, number: Number) -> Was {
        if self.head.contains(number) {
            let was = if self.head.called.contains(number) { Was::Admitted } else { Was::Other };
            self.waiting -= u64::from(self.head.waits(number));
            self.head.remove(number);
            return was;
        }
        if !self.live.clear(number) {
            return Was::Other;
        }
        if number > self.released {
            self.waiting -= 1;
            return Was::Other;
        }
        self.claimable -= 1;
        Was::Admitted
    }

    /// Asks again for those of the batch's claims that had to wait: their turn came in this very exchange, or room at the head.
    pub(super) fn enter_claims(
        &mut self,
        batch: &Batch,
        (epoch, draw): (u64, u64),
        claims: &mut [Claimed],
    ) {
        if (self.epoch, self.draws.version) == (epoch, draw + 1) {
            return; // They waited, and wait where the draw has put them: under another number.
        }
        for (nth, (number, claimed)) in batch.claims.iter().zip(claims).enumerate() {
            if matches!(claimed, Claimed::Waiting | Claimed::Away) {
                *claimed = match self.epoch == epoch {
                    true => self.claim_and_tell(*number, batch.tag(nth)),
                    false => Claimed::Stale,
                };
            }
        }
    }

    /// A claim, and a letter if it was an entry.
    pub(super) fn claim_and_tell(&mut self, number: Number, tag: Option<&str>) -> Claimed {
        let before = self.totals.entered;
        let claimed = self.claim(number);
        if let Claimed::Inside(terms) = claimed
            && self.totals.entered > before
        {
            self.write_entered(number, terms, tag);
        }
        claimed
    }

    /// Lets in those of the batch's newcomers whose turn came in this very exchange, as far as the budget goes.
    pub(super) fn enter_joins(&mut self, batch: &Batch, budget: &mut Budget, joins: &mut [Joined]) {
        let mut left = budget.next();
        for (nth, (join, joined)) in batch.joins.iter().zip(joins).enumerate() {
            let Joined::Given { first, count, entered, terms, class, .. } = joined else {
                continue;
            };
            // They have one answer, and a slot is one person's: the rest of a run claims.
            let people = if self.settings().slots.is_empty() { *count } else { 1.min(*count) };
            let end = match class {
                // Called or not, whatever the frontier says.
                Some(Classed::Placed { .. }) => {
                    *first + u64::from(self.head.called.contains(*first))
                }
                _ => (*first + u64::from(people)).min(self.released + 1),
            };
            for number in (*first..end).take(left) {
                self.take_out(number);
                self.used.set(number);
                let now = self.enter(number, join.is_once());
                self.write_entered(number, now, batch.tag(batch.claims.len() + nth));
                *terms = Some(now);
                *entered += 1;
                left -= 1;
            }
        }
    }
}
