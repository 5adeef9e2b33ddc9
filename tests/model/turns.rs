//! Steps 12 and 13: whose turn it is, and who comes in at once.

use anteroom::line::{
    Batch, Claimed, ClassOrder, Commanded, Join, Joined, Keyed, Mode, Number, Pace, Reply, Standing,
};

use super::classes::{Kind, Waiter};
use super::items::Ask;
use super::{Model, Where};

/// Whom a release by hand names.
const NAMED: usize = 1_000;

impl Model {
    pub(super) fn release_by_pace(&mut self, steps: &mut usize, joins: &[Joined]) {
        let turns = self.pace_allows().min(self.seats_free());
        let bound = !matches!(self.settings().mode, Mode::Bypass | Mode::Shadow);
        let (count, ..) = self.release(turns, bound, steps);
        self.backlog |= *steps == 0 && count < turns && self.tally().0 > 0;
        let paid = match self.settings().mode {
            Mode::Bypass => {
                self.note("let in by bypass", count);
                0
            }
            Mode::Shadow => self.reckon(joins),
            _ => count,
        };
        if !self.is_shadow() {
            self.shadow = None;
        }
        if let Some((cost, _)) = Self::cost_and_depth(self.settings().pace) {
            self.credit -= paid * cost;
        }
        if let Some(Pace::Rate { rate, burst }) = self.settings().pace
            && self.credit >= self.full(rate.per_ms, burst)
        {
            self.note("forgiven by rate", u64::from(self.owed > 0));
            (self.credit, self.owed) = (self.full(rate.per_ms, burst), 0);
            self.ahead = self.late_turns() * rate.per_ms;
        }
    }

    pub(super) fn release_by_hand(&mut self, count: u64, steps: &mut usize) -> Commanded {
        let after = self.counts.released;
        let turns = if self.shut() { 0 } else { count.min(self.seats_free()) };
        let (count, express, mut called) = self.release(turns, false, steps);
        called.truncate(NAMED);
        self.note("released by hand", count);
        self.note("called by hand", express);
        Commanded::Released { count, express, after, upto: self.counts.released, called }
    }

    /// Gives so many turns, to whoever is next; how many were given, to the head, and to whom. `bound`: classes get their share.
    fn release(&mut self, turns: u64, bound: bool, steps: &mut usize) -> (u64, u64, Vec<Number>) {
        if turns == 0 {
            return (0, 0, Vec::new());
        }
        let mut waiting = self.in_order(u64::MAX, bound);
        let reached = self.within(steps, &waiting, turns, bound);
        self.note("the steps were too few", u64::from(reached < waiting.len().min(turns as usize)));
        self.count_kinds(&waiting[..reached], bound);
        waiting.truncate(reached);

        let (before, clock) = (self.counts.released, self.counts.clock_ms);
        let mut express = 0;
        for &(Waiter { number, kind }, saved) in &waiting {
            self.saved = saved;
            if kind == Kind::Ordinary {
                self.counts.released = number;
                continue;
            }
            express += 1;
            let visitor = self.visitor(number);
            if let Where::Express { heard, .. } | Where::Classed { heard, .. } = visitor.found {
                visitor.found = Where::Called { at: clock, heard };
            }
        }
        if self.counts.released > before {
            self.note_release();
        }
        let count = waiting.len() as u64;
        self.counts.turns += count;
        (count, express, waiting.iter().map(|(waiter, _)| waiter.number).collect())
    }

    /// Which rules of classes these turns were given by.
    fn count_kinds(&mut self, turns: &[(Waiter, u64)], bound: bool) {
        let (mut classed, mut behind) = (0, 0);
        let mut last = 0;
        for (waiter, _) in turns {
            match waiter.kind {
                Kind::Classed { place, .. } => {
                    classed += 1;
                    behind += u64::from(place <= last);
                }
                Kind::Ordinary => last = waiter.number,
                Kind::Late => {}
            }
        }
        self.note("one of a class was called", classed);
        self.note("one of a class had to share", if bound { behind } else { 0 });
        let strict = self.settings().class_order == ClassOrder::Strict;
        self.note("called in strict order", if strict { classed } else { 0 });
    }

    /// How many of those who wait get a turn. A step calls one of the head, or goes to the next ordinary visitor and takes
    /// all whose numbers follow within as many as may go before one of a class does.
    fn within(
        &self,
        steps: &mut usize,
        waiting: &[(Waiter, u64)],
        turns: u64,
        bound: bool,
    ) -> usize {
        let strict = self.settings().class_order == ClassOrder::Strict;
        let share = self.settings().class_share;
        let (mut reached, mut left, mut saved) = (0, turns, self.saved);
        while *steps > 0 {
            let Some((first, _)) = waiting.get(reached).filter(|_| left > 0) else {
                break;
            };
            let mut taken = 1;
            if first.kind == Kind::Ordinary {
                let class = waiting[reached..].iter().find_map(|(waiter, _)| match waiter.kind {
                    Kind::Classed { place, rank } => Some((place, rank)),
                    _ => None,
                });
                let (mut most, mut below) = (left, Number::MAX);
                if let Some((place, rank)) = class {
                    let ahead = place <= first.number || strict && rank > 0;
                    if !ahead {
                        below = place;
                    } else if bound && share > 0 {
                        // They wait for their share.
                        most = most.min((1_000 - share - saved).div_ceil(share));
                    }
                }
                let follows = |(other, _): &&(Waiter, u64)| {
                    other.kind == Kind::Ordinary
                        && other.number - first.number < most
                        && other.number < below
                };
                taken = waiting[reached..].iter().take_while(follows).count();
            }
            reached += taken;
            left -= taken as u64;
            saved = waiting[reached - 1].1;
            *steps -= 1;
        }
        reached
    }

    /// Claims that still waited when they were asked.
    pub(super) fn enter_waiting_claims(
        &mut self,
        batch: &Batch,
        epoch: u64,
        wall: u64,
        reply: &mut Reply,
    ) {
        let lasts = self.settings().session_ms();
        for (number, claimed) in batch.claims.iter().zip(&mut reply.claims) {
            if !matches!(claimed, Claimed::Waiting | Claimed::Away) {
                continue;
            }
            if self.counts.epoch != epoch {
                *claimed = Claimed::Stale;
                self.note("a claim went stale on its way", 1);
                continue;
            }
            match self.standing(*number) {
                Standing::Admitted => {
                    *claimed = Claimed::Inside(self.enter(*number, lasts, wall));
                    self.note("a waiting claim entered", 1);
                }
                Standing::Active => {
                    let Where::Inside(seat) = &self.visitor(*number).found else {
                        unreachable!("active")
                    };
                    *claimed = Claimed::Inside(seat.terms);
                }
                Standing::Expired(reason) => {
                    *claimed = Claimed::Over(reason);
                    self.note("revoked while claiming", 1);
                }
                // By an operator's word, in this very exchange.
                Standing::Completed => *claimed = self.over(*number),
                // Those who have entered meanwhile may have made room at the head.
                Standing::Away => *claimed = self.ask(Ask::Claim, *number, wall),
                _ => {}
            }
        }
    }

    /// Newcomers of this batch whose turn it is already.
    pub(super) fn enter_joins(&mut self, batch: &Batch, wall: u64, reply: &mut Reply) {
        let full = self.settings().session_ms();
        let first = self.settings().session_first_ms.min(full);
        let mut left = self.may_take();
        for (join, joined) in batch.joins.iter().zip(&mut reply.joins) {
            let an_app = matches!(join, Join::Keyed(Keyed { once: Some(_), .. }));
            let lasts = if an_app { full } else { first };
            let Joined::Given { first, count, entered, terms, .. } = joined else {
                continue;
            };
            let slots = !self.settings().slots.is_empty();
            let people = if slots { u64::from(*count).min(1) } else { u64::from(*count) };
            for number in *first..*first + people {
                self.note("as many entered as may", u64::from(left == 0));
                if left == 0 || self.standing(number) != Standing::Admitted {
                    break;
                }
                *terms = Some(self.enter(number, lasts, wall));
                *entered += 1;
                left -= 1;
                self.note("an app entered at once", u64::from(an_app));
            }
        }
    }
}
