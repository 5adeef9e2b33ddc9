//! Steps 8 and 9: what a batch says about visitors.

use anteroom::line::{
    Batch, Claimed, Done, End, Ending, Number, Reason, Renewal, Reply, Standing, Terms,
};

use super::{MAX_HEAD, Model, Seat, Where};

/// The ways to ask for one's place.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Ask {
    Claim,
    Return,
    Vouched,
}

impl Model {
    pub(super) fn items(&mut self, batch: &Batch, wall: u64, reply: &mut Reply) {
        let before_the_draw = batch.draw != self.counts.draw;
        self.note("of a time before the draw", u64::from(before_the_draw));
        if batch.epoch != self.counts.epoch || before_the_draw {
            reply.leaves = vec![Done::Stale; batch.leaves.len()];
            reply.ends = vec![Done::Stale; batch.ends.len()];
            reply.spends = vec![Done::Stale; batch.spends.len()];
            reply.renewals = vec![Claimed::Stale; batch.renewals.len()];
            reply.returns = vec![Claimed::Stale; batch.returns.len()];
            reply.vouched = vec![Claimed::Stale; batch.vouched.len()];
            reply.claims = vec![Claimed::Stale; batch.claims.len()];
            return;
        }
        batch.marks.iter().for_each(|number| self.mark(*number));
        batch.present.iter().for_each(|number| self.heard(*number));
        reply.leaves = batch.leaves.iter().map(|number| self.leave(*number)).collect();
        reply.ends = batch.ends.iter().map(|end| self.end(*end)).collect();
        reply.spends = batch.spends.iter().map(|number| self.spend(*number)).collect();
        reply.renewals = batch.renewals.iter().map(|renewal| self.renew(*renewal, wall)).collect();
        let mut asked = |ask: Ask, list: &[Number]| -> Vec<Claimed> {
            list.iter().map(|number| self.ask(ask, *number, wall)).collect()
        };
        reply.returns = asked(Ask::Return, &batch.returns);
        reply.vouched = asked(Ask::Vouched, &batch.vouched);
        reply.claims = asked(Ask::Claim, &batch.claims);
        batch.hangups.iter().for_each(|number| self.hang_up(*number));
    }

    /// An ordinary visitor was seen.
    fn mark(&mut self, number: Number) {
        if number == 0 || number < self.base || number > self.counts.issued {
            return;
        }
        let (turn, released) = (self.turn, self.counts.released);
        let visitor = self.visitor(number);
        visitor.seen = turn;
        if number > released && !visitor.used {
            visitor.live = true;
        }
    }

    /// A visitor at the head was seen.
    fn heard(&mut self, number: Number) {
        let clock = self.counts.clock_ms;
        if self.find(number).is_none() {
            return;
        }
        let visitor = self.visitor(number);
        match &mut visitor.found {
            Where::Express { heard, .. }
            | Where::Classed { heard, .. }
            | Where::Called { heard, .. } => *heard = clock,
            Where::ClassedAway { place, rank } => {
                visitor.found = Where::Classed { place: *place, rank: *rank, heard: clock };
                self.note("one of a class came back", 1);
            }
            Where::Strayed { place } => {
                visitor.found = Where::Express { place: *place, heard: clock };
                self.note("a strayed one came back", 1);
            }
            _ => {}
        }
    }

    fn leave(&mut self, number: Number) -> Done {
        let standing = self.standing(number);
        match standing {
            Standing::Unknown => return Done::Unknown,
            Standing::Completed | Standing::Expired(_) => return Done::Already,
            Standing::Admitted => {
                self.note("an admitted one left", 1);
                self.owe(1);
            }
            Standing::Active => {
                self.end_session(number, Ending::Left);
                return Done::Freed;
            }
            Standing::Waiting | Standing::Away => {}
        }
        self.visitor(number).take(Where::Line);
        Done::Freed
    }

    fn spend(&mut self, number: Number) -> Done {
        let standing = self.standing(number);
        if standing == Standing::Unknown {
            return Done::Unknown;
        }
        if self.spent.contains_key(&number) {
            self.note("spent again", 1);
            return Done::Already;
        }
        self.note("spent, and no seat known", u64::from(standing != Standing::Active));
        let until = self.counts.clock_ms + 2 * self.settings().session_ms();
        self.spent.insert(number, until);
        Done::Freed
    }

    pub(super) fn end(&mut self, End { number, why }: End) -> Done {
        match self.standing(number) {
            Standing::Unknown => Done::Unknown,
            Standing::Active => {
                self.end_session(number, why);
                if why == Ending::Requeued {
                    self.requeue(number);
                }
                Done::Freed
            }
            Standing::Expired(Reason::Ended(Ending::Idle)) => {
                let (clock, next) = (self.counts.clock_ms, self.next_ending());
                if let Where::Ended { why: old, at, serial, .. } = &mut self.visitor(number).found {
                    (*old, *at, *serial) = (why, clock, next);
                }
                self.counts.completed += u64::from(why == Ending::Completed);
                Done::Already
            }
            Standing::Completed | Standing::Expired(Reason::Ended(_)) => Done::Already,
            standing => {
                let in_line = !matches!(standing, Standing::Expired(_));
                let an_operators = matches!(why, Ending::Revoked | Ending::Left | Ending::Requeued);
                if in_line && an_operators {
                    self.owe(u64::from(standing == Standing::Admitted));
                } else {
                    self.found_missing(number);
                    self.note("a lost session ended", 1);
                }
                self.counts.completed += u64::from(why == Ending::Completed);
                self.end_unknown(number, why);
                if in_line && why == Ending::Requeued {
                    self.requeue(number);
                }
                if in_line { Done::Freed } else { Done::Already }
            }
        }
    }

    /// Somebody the line had lost sight of: one less is missing, unless a seat was held for them.
    fn found_missing(&mut self, number: Number) {
        if self.standing(number) != Standing::Admitted {
            self.counts.missing = self.counts.missing.saturating_sub(1);
        }
    }

    /// The end of a session about which nothing else is known.
    pub(super) fn end_unknown(&mut self, number: Number, why: Ending) {
        let (clock, wall, serial) = (self.counts.clock_ms, self.last_wall, self.next_ending());
        let lasts = self.settings.clone().unwrap_or_default().session_ms();
        let terms = Terms { admitted_ms: wall, issued_ms: wall, expires_ms: wall + lasts, slot: 0 };
        let seat = Box::new(Seat { entered: clock, free_at: clock, terms, left_at: None });
        self.visitor(number).take(Where::Ended { why, at: clock, serial, seat });
    }

    pub(super) fn next_ending(&mut self) -> u64 {
        self.endings += 1;
        self.endings
    }

    /// A session is over, now.
    pub(super) fn end_session(&mut self, number: Number, why: Ending) {
        let (at, serial) = (self.counts.clock_ms, self.next_ending());
        let visitor = self.visitor(number);
        let Where::Inside(seat) = &visitor.found else { unreachable!("{number} is inside") };
        let mut seat = seat.clone();
        seat.left_at = None;
        visitor.take(Where::Ended { why, at, serial, seat });
        self.counts.completed += u64::from(why == Ending::Completed);
    }

    fn renew(&mut self, renewal: Renewal, wall: u64) -> Claimed {
        let Renewal { number, admitted_ms, slot, extend } = renewal;
        match self.standing(number) {
            Standing::Unknown => return Claimed::Unknown,
            Standing::Active => {}
            _ => match self.find(number).map(|visitor| &visitor.found) {
                Some(Where::Ended { .. }) => {
                    return self.resume(number, wall).unwrap_or_else(|| self.over(number));
                }
                _ => {
                    self.found_missing(number);
                    let entered =
                        self.counts.clock_ms.saturating_sub(wall.saturating_sub(admitted_ms));
                    let kept = self.slot_for(number, slot);
                    let missing = self.counts.missing;
                    self.note("a slot came back", u64::from(kept > 0 && kept == slot));
                    self.note(
                        "a slot came back, others missing",
                        u64::from(kept > 0 && missing > 0),
                    );
                    let terms = Terms { admitted_ms, issued_ms: wall, expires_ms: 0, slot: kept };
                    self.visitor(number).take(Where::Inside(Box::new(Seat {
                        entered,
                        free_at: 0,
                        terms,
                        left_at: None,
                    })));
                    self.note("a seat was taken back", 1);
                }
            },
        }
        self.note("extended", u64::from(extend));
        self.extend(number, wall, if extend { 2 } else { 1 })
    }

    /// The seat of a visitor inside lasts so many idle times, unless its cap is reached.
    pub(super) fn extend(&mut self, number: Number, wall: u64, times: u64) -> Claimed {
        let clock = self.counts.clock_ms;
        let (idle, max) = (self.settings().session_idle_ms, self.settings().session_max_ms);
        let Where::Inside(seat) = &self.visitor(number).found else {
            unreachable!("{number} is inside")
        };
        let slot = seat.terms.slot;
        let slot = self.slot_for(number, slot);
        let back =
            matches!(&self.visitor(number).found, Where::Inside(seat) if seat.left_at.is_some());
        self.note("hung up, and heard of again", u64::from(back));
        let Where::Inside(seat) = &mut self.visitor(number).found else {
            unreachable!("{number} is inside")
        };
        let cap = max.map_or(u64::MAX, |max| seat.entered + max);
        if cap <= clock {
            self.note("capped when renewed", 1);
            self.end_session(number, Ending::Capped);
            return self.over(number);
        }
        let lasts = idle.or(max).expect("settings in range end a seat some time");
        seat.free_at = seat.free_at.max((clock + times * lasts).min(cap));
        (seat.left_at, seat.terms.slot) = (None, slot);
        seat.terms.issued_ms = wall;
        seat.terms.expires_ms = seat.terms.expires_ms.max(wall + (seat.free_at - clock));
        Claimed::Inside(seat.terms)
    }

    /// A session that ended by idleness a moment ago goes on, if there is a seat.
    fn resume(&mut self, number: Number, wall: u64) -> Option<Claimed> {
        let clock = self.counts.clock_ms;
        let (idle, max) = (self.settings().session_idle_ms, self.settings().session_max_ms);
        let session = self.settings().session_ms();
        let Where::Ended { why: Ending::Idle, at, seat, .. } = &self.find(number)?.found else {
            return None;
        };
        let cap = max.map_or(u64::MAX, |max| seat.entered + max);
        let resumable = idle.or(max).unwrap_or(0);
        if clock - at >= resumable || cap <= clock || self.seats_free() == 0 {
            return None;
        }
        let mut seat = seat.clone();
        seat.free_at = (clock + session).min(cap);
        seat.terms.issued_ms = wall;
        seat.terms.expires_ms = seat.terms.expires_ms.max(wall + (seat.free_at - clock));
        let before = seat.terms.slot;
        seat.terms.slot = self.slot_for(number, before);
        self.note("resumed in the same slot", u64::from(before > 0 && before == seat.terms.slot));
        let terms = seat.terms;
        self.visitor(number).found = Where::Inside(seat);
        self.note("resumed", 1);
        Some(Claimed::Inside(terms))
    }

    /// A claim, or one of its gentler forms.
    pub(super) fn ask(&mut self, ask: Ask, number: Number, wall: u64) -> Claimed {
        match self.standing(number) {
            Standing::Unknown => Claimed::Unknown,
            Standing::Active => {
                let Where::Inside(seat) = &mut self.visitor(number).found else {
                    unreachable!("{number} is inside")
                };
                seat.left_at = None;
                if seat.terms.expires_ms > wall {
                    return Claimed::Inside(seat.terms);
                }
                self.note("a pass that had run out was renewed", 1);
                self.extend(number, wall, 1)
            }
            Standing::Expired(Reason::Ended(Ending::Idle)) => {
                self.resume(number, wall).unwrap_or_else(|| self.over(number))
            }
            Standing::Admitted if ask == Ask::Claim => {
                let lasts = self.settings().session_ms();
                Claimed::Inside(self.enter(number, lasts, wall))
            }
            Standing::Admitted => {
                self.mark(number);
                self.heard(number);
                Claimed::Admitted
            }
            Standing::Waiting => {
                self.mark(number);
                self.heard(number);
                Claimed::Waiting
            }
            Standing::Away => self.come_back(number),
            Standing::Expired(Reason::Passed) if ask == Ask::Vouched && number >= self.base => {
                self.note("vouched for, though lapsed", 1);
                self.put_at_the_head(number)
            }
            Standing::Completed | Standing::Expired(_) => self.over(number),
        }
    }

    /// Somebody who was away is here again.
    fn come_back(&mut self, number: Number) -> Claimed {
        let passed_over = number <= self.counts.released;
        if passed_over && self.find(number).is_none_or(|visitor| visitor.ordinary()) {
            return self.put_at_the_head(number);
        }
        self.mark(number);
        self.heard(number);
        Claimed::Waiting
    }

    /// If there is room; else somebody asks again for them.
    fn put_at_the_head(&mut self, number: Number) -> Claimed {
        if self.at_the_head() >= MAX_HEAD {
            self.note("no room at the head", 1);
            return Claimed::Away;
        }
        let (place, heard) = (self.counts.released, self.counts.clock_ms);
        self.visitor(number).take(Where::Express { place, heard });
        self.note("to the head", 1);
        Claimed::Waiting
    }

    /// How many have a place of their own, or had one and were called.
    pub(super) fn at_the_head(&self) -> usize {
        let elsewhere =
            |found: &Where| matches!(found, Where::Line | Where::Inside(_) | Where::Ended { .. });
        self.visitors.iter().filter(|visitor| !elsewhere(&visitor.found)).count()
    }

    /// From admitted to inside.
    pub(super) fn enter(&mut self, number: Number, lasts: u64, wall: u64) -> Terms {
        let clock = self.counts.clock_ms;
        let slot = self.slot_for(number, 0);
        self.note("a slot was given", u64::from(slot > 0));
        let terms = Terms { admitted_ms: wall, issued_ms: wall, expires_ms: wall + lasts, slot };
        let seat = Seat { entered: clock, free_at: clock + lasts, terms, left_at: None };
        self.visitor(number).take(Where::Inside(Box::new(seat)));
        self.counts.entered += 1;
        terms
    }
}
