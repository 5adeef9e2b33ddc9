//! Steps 12 and 13: whose turn it is, and who comes in at once.

use anteroom::line::{
    Batch, Claimed, Commanded, Join, Joined, Keyed, Mode, Number, Pace, Reply, Standing,
};

use super::{Model, Where};

/// Whom a release by hand names.
const NAMED: usize = 1_000;

impl Model {
    pub(super) fn release_by_pace(&mut self, steps: &mut usize, joins: &[Joined]) {
        let turns = self.pace_allows().min(self.seats_free());
        let (count, ..) = self.release(turns, steps);
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
            && self.credit >= burst * rate.per_ms
        {
            self.note("forgiven by rate", u64::from(self.owed > 0));
            (self.credit, self.owed) = (burst * rate.per_ms, 0);
        }
    }

    pub(super) fn release_by_hand(&mut self, count: u64, steps: &mut usize) -> Commanded {
        let after = self.counts.released;
        let turns =
            if self.settings().mode == Mode::Closed { 0 } else { count.min(self.seats_free()) };
        let (count, express, mut called) = self.release(turns, steps);
        called.truncate(NAMED);
        self.note("released by hand", count);
        self.note("called by hand", express);
        Commanded::Released { count, express, after, upto: self.counts.released, called }
    }

    /// Gives so many turns, in the order of places; how many were given, to the head, and to whom.
    fn release(&mut self, turns: u64, steps: &mut usize) -> (u64, u64, Vec<Number>) {
        if turns == 0 {
            return (0, 0, Vec::new());
        }
        let mut waiting: Vec<(Number, bool, Number)> = Vec::new();
        for visitor in &self.visitors {
            match visitor.found {
                Where::Express { place, .. } => waiting.push((place, false, visitor.number)),
                _ if self.standing_of(visitor) == Standing::Waiting => {
                    waiting.push((visitor.number, true, visitor.number));
                }
                _ => {}
            }
        }
        waiting.sort();
        let reached = within(steps, &waiting, turns);
        self.note("the steps were too few", u64::from(reached < waiting.len().min(turns as usize)));
        waiting.truncate(reached);

        let (before, clock) = (self.counts.released, self.counts.clock_ms);
        let mut express = 0;
        for &(_, ordinary, number) in &waiting {
            if ordinary {
                self.counts.released = number;
                continue;
            }
            express += 1;
            if let Where::Express { heard, .. } = self.visitor(number).found {
                self.visitor(number).found = Where::Called { at: clock, heard };
            }
        }
        if self.counts.released > before {
            self.note_release();
        }
        let count = waiting.len() as u64;
        self.counts.turns += count;
        (count, express, waiting.iter().map(|(_, _, number)| *number).collect())
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
            if *claimed != Claimed::Waiting {
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

/// How many of those who wait get a turn. A step calls one of the head, or goes to the next ordinary
/// visitor and takes all whose numbers follow within as many as turns are left.
fn within(steps: &mut usize, waiting: &[(Number, bool, Number)], turns: u64) -> usize {
    let (mut reached, mut left) = (0, turns);
    while *steps > 0 {
        let Some(&(_, ordinary, first)) = waiting.get(reached).filter(|_| left > 0) else {
            break;
        };
        let mut taken = 1;
        if ordinary {
            let follows = |(_, ordinary, number): &&(Number, bool, Number)| {
                *ordinary && number - first < left
            };
            taken = waiting[reached..].iter().take_while(follows).count();
        }
        reached += taken;
        left -= taken as u64;
        *steps -= 1;
    }
    reached
}
