//! Steps 7 and 10: what is due because time has passed.

use anteroom::line::{Ending, Number, OnAbsence, Pace};

use super::{LEAVES, Model, NODE_MS, Visitor, Where};

/// `base` moves in steps of this, and only in a line longer than that.
const BASE_STEP: u64 = 32_768;
const BASE_MIN: u64 = 524_288;

impl Model {
    /// A heartbeat period may be over.
    pub(super) fn turn_ring(&mut self) -> bool {
        let over = self.period_began + self.settings().period_ms() <= self.counts.clock_ms;
        if over {
            self.turn += 1;
            self.period_began = self.counts.clock_ms;
        }
        over
    }

    pub(super) fn duties(&mut self, node: u128, turned: bool, advance: u64, wall: u64) {
        self.miss_the_silent();
        if turned {
            self.sweep();
            self.backlog = true; // Where the head is told at once, the bits may be told in the next exchange.
            self.swept = (node, self.counts.clock_ms);
        } else {
            self.move_base();
        }
        self.lapse();
        self.forget_endings(wall);
        self.forget_spends();
        self.end_seats(wall);
        self.end_hung_up();
        self.adapt();
        self.refill(advance);
        if self.missing_until <= self.counts.clock_ms {
            self.note("missing seats were forgotten", self.counts.missing);
            self.counts.missing = 0;
        }
    }

    /// Steps the next duty may take: what is left, but for some for each of those to come.
    pub(super) fn may_take(&mut self) -> usize {
        self.duties_to_come -= 1;
        self.steps - LEAVES * self.duties_to_come
    }

    /// The first of those that are due, by time and number: as many as this duty may do.
    fn due(&mut self, when: impl Fn(&Visitor) -> Option<u64>) -> Vec<Number> {
        let most = self.may_take();
        let mut due: Vec<(u64, Number)> = self
            .visitors
            .iter()
            .filter_map(|visitor| Some((when(visitor)?, visitor.number)))
            .collect();
        due.sort();
        due.truncate(most);
        self.steps -= due.len();
        self.backlog |= due.len() == most;
        self.note("more to do than an exchange does", u64::from(due.len() == most));
        due.into_iter().map(|(_, number)| number).collect()
    }

    fn end_seats(&mut self, wall: u64) {
        let clock = self.counts.clock_ms;
        let max = self.settings().session_max_ms;
        let over = self.due(|visitor| match &visitor.found {
            Where::Inside(seat) if seat.free_at <= clock => Some(seat.free_at),
            _ => None,
        });
        self.note("as many seats ended as may", u64::from(self.steps == 2 * LEAVES));
        for number in over {
            let Where::Inside(seat) = &mut self.visitor(number).found else {
                unreachable!("{number} is inside")
            };
            if seat.terms.expires_ms > wall {
                seat.free_at = clock + (seat.terms.expires_ms - wall);
                self.note("a seat was kept by the wall clock", 1);
            } else if max.is_some_and(|max| seat.entered + max <= clock) {
                self.note("capped", 1);
                self.end_session(number, Ending::Capped);
            } else {
                self.note("idle", 1);
                self.end_session(number, Ending::Idle);
            }
        }
    }

    fn forget_endings(&mut self, wall: u64) {
        let clock = self.counts.clock_ms;
        let kept = 2 * self.settings().session_ms();
        let old = self.due(|visitor| match visitor.found {
            Where::Ended { at, serial, .. } if at + kept <= clock => Some(serial),
            _ => None,
        });
        self.note("an ending was forgotten", old.len() as u64);
        for number in old {
            let next = self.next_ending();
            let visitor = self.visitor(number);
            match &mut visitor.found {
                // As long as its pass is good, it is not forgotten.
                Where::Ended { at, serial, seat, .. } if seat.terms.expires_ms > wall => {
                    (*at, *serial) = (clock, next);
                }
                found => *found = Where::Line,
            }
        }
    }

    /// A spend is remembered while there is, or was, a session that is.
    fn forget_spends(&mut self) {
        let clock = self.counts.clock_ms;
        let kept = 2 * self.settings().session_ms();
        let mut due: Vec<(u64, Number)> =
            self.spent.iter().map(|(number, until)| (*until, *number)).collect();
        due.retain(|(until, _)| *until <= clock);
        due.sort();
        // What the endings have left.
        let most = self.steps - LEAVES * self.duties_to_come;
        due.truncate(most);
        self.steps -= due.len();
        self.backlog |= due.len() == most;
        self.note("as many spends were forgotten as may", u64::from(due.len() == most));
        for (_, number) in due {
            let found = self.find(number).map(|visitor| &visitor.found);
            if let Some(Where::Inside(_) | Where::Ended { .. }) = found {
                self.spent.insert(number, clock + kept);
                self.note("a spend was kept for its seat", 1);
            } else {
                self.spent.remove(&number);
                self.note("a spend was forgotten", 1);
            }
        }
    }

    fn miss_the_silent(&mut self) {
        let clock = self.counts.clock_ms;
        let patience = self.settings().heartbeat_timeout_ms * 3 / 2;
        let remove = self.settings().on_absence == OnAbsence::Remove;
        let silent = self.due(|visitor| match visitor.found {
            Where::Express { heard, .. }
            | Where::Classed { heard, .. }
            | Where::Called { heard, .. }
                if heard + patience <= clock =>
            {
                Some(heard)
            }
            _ => None,
        });
        for number in silent {
            let visitor = self.visitor(number);
            if let Where::Express { place, .. } = visitor.found {
                visitor.found = if remove { Where::Line } else { Where::Strayed { place } };
                self.counts.dropped += 1;
                self.note("strayed", 1);
            } else if let Where::Classed { place, rank, .. } = visitor.found {
                let away = Where::ClassedAway { place, rank };
                visitor.found = if remove { Where::Line } else { away };
                self.counts.dropped += 1;
                self.note("one of a class strayed", 1);
            } else {
                visitor.found = Where::Line;
                self.no_shows(1);
                self.note("called and silent", 1);
            }
        }
    }

    fn no_shows(&mut self, count: u64) {
        self.counts.no_shows += count;
        self.owe(count);
    }

    /// Whoever was not heard of for two whole periods is not here.
    fn sweep(&mut self) {
        let (turn, lapsed, released) = (self.turn, self.counts.lapsed, self.counts.released);
        let remove = self.settings().on_absence == OnAbsence::Remove;
        let (mut no_shows, dropped) = (0, self.counts.dropped);
        for visitor in &mut self.visitors {
            if visitor.live && visitor.number > lapsed && turn - visitor.seen > 2 {
                (visitor.live, visitor.used) = (false, remove);
                if visitor.number <= released {
                    no_shows += 1;
                } else {
                    self.counts.dropped += 1;
                }
            }
        }
        self.no_shows(no_shows);
        self.note("swept while admitted", no_shows);
        self.note("swept", self.counts.dropped - dropped);
        let (clock, nodes) = (self.counts.clock_ms, self.nodes.len());
        self.nodes.retain(|_, node| node.heard + NODE_MS > clock);
        self.note("a node was forgotten", (nodes - self.nodes.len()) as u64);
        self.forget_names(false);
        let said = |visitor: &Visitor| visitor.live || visitor.used || visitor.name.is_some();
        self.visitors.retain(|visitor| said(visitor) || !visitor.ordinary());
    }

    pub(super) fn move_base(&mut self) {
        let length = self.counts.issued - self.base;
        if length > BASE_MIN && self.counts.lapsed - self.base >= length / 4 {
            let base = self.counts.lapsed / BASE_STEP * BASE_STEP;
            self.base = base;
            self.note("base moved", 1);
            let said = |visitor: &Visitor| visitor.number >= base || visitor.name.is_some();
            self.visitors.retain(|visitor| said(visitor) || !visitor.ordinary());
        }
    }

    /// `released` has moved, in this second.
    pub(super) fn note_release(&mut self) {
        let second = self.counts.clock_ms / 1_000;
        self.releases.retain(|(earlier, _)| *earlier != second);
        self.releases.push((second, self.counts.released));
    }

    /// Turns that nobody took in time.
    fn lapse(&mut self) {
        let clock = self.counts.clock_ms;
        let window = self.settings().claim_window_ms();
        let over = |second: u64| (second + 1) * 1_000 + window <= clock;
        let lapsed = self
            .releases
            .iter()
            .filter(|(second, _)| over(*second))
            .map(|(_, released)| *released)
            .max();
        self.releases.retain(|(second, _)| !over(*second));
        if let Some(lapsed) = lapsed.filter(|lapsed| *lapsed > self.counts.lapsed) {
            self.counts.lapsed = lapsed;
            let mut no_shows = 0;
            for visitor in
                self.visitors.iter_mut().filter(|visitor| visitor.live && visitor.number <= lapsed)
            {
                visitor.live = false;
                no_shows += 1;
            }
            self.no_shows(no_shows);
            self.note("lapsed", no_shows);
        }

        let late = self.due(|visitor| match visitor.found {
            Where::Called { at, .. } if at + window <= clock => Some(at),
            _ => None,
        });
        self.no_shows(late.len() as u64);
        self.note("called and late", late.len() as u64);
        let lapsed = self.counts.lapsed;
        let strayed = self.due(|visitor| match visitor.found {
            Where::Strayed { place } if place <= lapsed => Some(place),
            _ => None,
        });
        self.note("strayed and lapsed", strayed.len() as u64);
        let classed = self.lapsed_of_classes();
        for number in late.into_iter().chain(strayed).chain(classed) {
            self.visitor(number).found = Where::Line;
        }
    }

    /// Those of a class who are away, in what the duty before has left.
    fn lapsed_of_classes(&mut self) -> Vec<Number> {
        let lapsed = self.counts.lapsed;
        let most = self.steps - LEAVES * self.duties_to_come;
        let mut due: Vec<(Number, u64, Number)> = Vec::new();
        for visitor in &self.visitors {
            if let Where::ClassedAway { place, rank } = visitor.found
                && place < lapsed
            {
                due.push((place, 9 - rank, visitor.number));
            }
        }
        due.sort();
        due.truncate(most);
        self.steps -= due.len();
        self.backlog |= due.len() == most;
        self.note("one of a class strayed and lapsed", due.len() as u64);
        due.into_iter().map(|(_, _, number)| number).collect()
    }

    /// Released in a second that ended half a claim window ago, and still expected.
    pub(super) fn late_turns(&self) -> u64 {
        let long_ago = self.settings().claim_window_ms() / 2;
        let clock = self.counts.clock_ms;
        let then =
            self.releases.iter().filter(|(second, _)| (second + 1) * 1_000 + long_ago <= clock);
        let place = then.map(|(_, released)| *released).max().unwrap_or(0);
        let late = |visitor: &&super::Visitor| visitor.live && visitor.number <= place;
        self.visitors.iter().filter(late).count() as u64
    }

    /// What comes in, with what is to come back and what was given too early.
    fn with_debts(&mut self, add: u64, late: u64, pace: &str) -> u64 {
        let (owed, ahead) = (self.owed as i128, self.ahead as i128);
        let half = (add / 2) as i128;
        let debt = owed - ahead;
        let extra = (debt + late as i128).clamp(-half, half);
        let left = debt - extra;
        self.owed = left.max(0) as u64;
        self.ahead = (-left).max(0) as u64;
        match (pace, extra.signum()) {
            ("rate", 1) if owed > ahead => self.note("paid back by rate", 1),
            ("rate", 1) => self.note("paid ahead by rate", 1),
            ("batch", 1) if owed > ahead => self.note("paid back by batch", 1),
            ("batch", 1) => self.note("paid ahead by batch", 1),
            (_, -1) => self.note("taken off", 1),
            _ => {}
        }
        (add as i128 + extra) as u64
    }

    fn refill(&mut self, advance: u64) {
        let slowed = self.slowed();
        if let (Some(_), Some(Pace::Rate { rate, burst })) = (slowed, self.settings().pace) {
            self.credit = self.credit.min(self.full(rate.per_ms, burst));
        }
        match self.settings().pace {
            None => {}
            Some(Pace::Rate { rate, burst }) if self.credit >= self.full(rate.per_ms, burst) => {}
            Some(Pace::Rate { rate, .. }) => {
                let add = match slowed {
                    Some(slowed) => self.slowed_credits(slowed, rate.per_ms, advance),
                    None => rate.count * advance,
                };
                let late = self.late_turns() * rate.per_ms;
                self.credit += self.with_debts(add, late, "rate");
            }
            Some(Pace::Batch { batch, interval_ms, .. }) => {
                if self.counts.clock_ms < self.next_batch_at {
                    return;
                }
                if self.credit > 0 {
                    self.note("forgiven by batch", u64::from(self.owed > 0));
                    (self.owed, self.ahead) = (0, self.late_turns());
                }
                let late = self.late_turns();
                self.credit = self.with_debts(batch, late, "batch");
                while self.next_batch_at <= self.counts.clock_ms {
                    self.next_batch_at += interval_ms;
                }
            }
        }
    }
}
