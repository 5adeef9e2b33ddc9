//! The clock, the memory, and what nodes bring back to a line that has lost something.

use anteroom::line::{Ending, Known, Moment, Number, Report};

use super::{GAP, MAX_HEAL, MAX_PLACES, MAX_TICK_MS, Model, SETTLING_MS, Where};

/// More than any room has had.
const MAX_ISSUED: u64 = 10_000_000_000;
/// Later than any clock.
const MAX_EPOCH: u64 = 281_474_976_710_656;

/// What no node can have seen is not believed.
fn absurd(known: &Known) -> bool {
    known.issued > MAX_ISSUED || known.epoch > MAX_EPOCH
}

/// A line that listens.
#[derive(Clone)]
pub(super) struct Settling {
    since: u64,
    until: u64,
    /// The most seats that any node counted as taken.
    taken: u64,
}

impl Model {
    /// Steps 2 and 3. How far the room's clock has moved.
    pub(super) fn tick(&mut self, moment: Moment) -> u64 {
        let mut advance = 0;
        if self.run == 0 {
            (self.counts.clock_ms, self.period_began) = (moment.wall_ms, moment.wall_ms);
        } else {
            advance = moment.wall_ms.saturating_sub(self.last_wall).min(MAX_TICK_MS);
            self.counts.clock_ms += advance;
        }
        self.last_wall = moment.wall_ms;
        if self.run != moment.run {
            self.run = moment.run;
            let since = self.counts.clock_ms;
            self.settling = Some(Settling { since, until: since + SETTLING_MS, taken: 0 });
        }
        advance
    }

    /// A new generation: nothing about any number is left.
    pub(super) fn begin_epoch(&mut self, epoch: u64) {
        let anteroom::line::Counts { clock_ms, paused, draw, .. } = self.counts;
        let nothing = anteroom::line::Counts::default();
        self.counts = anteroom::line::Counts { epoch, clock_ms, paused, draw, ..nothing };
        self.forget_draws();
        self.base = 0;
        self.visitors.clear();
        self.releases.clear();
        self.devices.clear();
        self.requeued.clear();
        self.spent.clear();
        (self.owed, self.ahead) = (0, 0);
        self.shadow = None;
        self.saved = 0;
        self.period_began = clock_ms;
        if let Some(settling) = &mut self.settling {
            settling.taken = 0;
        }
    }

    /// Step 4: what the node has seen is true, so what the line has not is lost.
    pub(super) fn learn(&mut self, known: &Known) {
        if known.epoch < self.counts.epoch || absurd(known) {
            return;
        }
        if known.epoch > self.counts.epoch {
            self.note("a later epoch was known", 1);
            self.begin_epoch(known.epoch);
        }
        let (issued, mut over) = (self.counts.issued, 0);
        if known.issued > issued {
            if self.settling.is_some() {
                self.counts.issued = known.issued;
            } else if known.issued - issued > MAX_HEAL {
                self.note("nonsense", 1);
                return;
            } else {
                self.note("healed", 1);
                self.append(issued + 1, known.issued);
                self.counts.issued = known.issued + GAP;
            }
            over = self.counts.issued.saturating_sub(MAX_PLACES);
        }
        let released = known.released.min(self.counts.issued).max(over);
        if released > self.counts.released {
            self.note("a later frontier was known", 1);
            self.counts.released = released;
            if self.settling.is_none() {
                self.note_release();
            }
        }
        let lapsed = known.lapsed.min(self.counts.released).max(over);
        if lapsed > self.counts.lapsed {
            self.counts.lapsed = lapsed;
            for visitor in self.visitors.iter_mut().filter(|visitor| visitor.number <= lapsed) {
                visitor.live = false;
            }
        }
        if self.settling.is_some() {
            self.move_base();
        }
    }

    /// What only a line that listens asks for.
    pub(super) fn hear(&mut self, known: &Known) {
        if known.epoch != self.counts.epoch || absurd(known) {
            return;
        }
        let settling = self.settling.as_mut().expect("asked only while settling");
        settling.taken = settling.taken.max(known.taken.min(MAX_ISSUED));
        if let Some(report) = &known.report {
            if report.more {
                let until = (self.counts.clock_ms + 1_000).min(settling.since + 10_000);
                settling.until = settling.until.max(until);
                self.note("a node had more to say", 1);
            }
            self.note("a report was merged", 1);
            self.merge(report, known);
        }
    }

    fn merge(&mut self, report: &Report, known: &Known) {
        let (clock, issued) = (self.counts.clock_ms, self.counts.issued);
        self.believe_draws(&report.draws);
        let given =
            |range: &(Number, Number)| range.0.max(1)..=range.1.min(issued).min(known.issued);
        for number in report.used.iter().flat_map(given) {
            let visitor = self.visitor(number);
            (visitor.used, visitor.live) = (true, false);
        }
        let (lapsed, released, turn) =
            (self.counts.lapsed, self.counts.released.min(known.released), self.turn);
        for number in report.live.iter().flat_map(given) {
            let visitor = self.visitor(number);
            if !visitor.used && number > lapsed && number <= released {
                (visitor.live, visitor.seen) = (true, turn);
            }
        }
        for &(number, place) in report.express.iter().filter(|(number, _)| *number <= issued) {
            let visitor = self.visitor(number);
            if visitor.ordinary() {
                visitor.take(Where::Express { place, heard: clock });
            }
        }
        for &(number, standpoint) in report.classes.iter().filter(|(number, _)| *number <= issued) {
            let visitor = self.visitor(number);
            if visitor.ordinary() {
                let (place, rank) = (standpoint / 16, 9 - standpoint % 16);
                visitor.take(Where::Classed { place, rank, heard: clock });
                self.note("one of a class was brought back", 1);
            }
        }
        for &number in report.called.iter().filter(|number| **number <= issued) {
            let visitor = self.visitor(number);
            if !matches!(
                visitor.found,
                Where::Inside(_) | Where::Ended { .. } | Where::Called { .. }
            ) {
                visitor.take(Where::Called { at: clock, heard: clock });
            }
        }
        for &(number, why) in report.ended.iter().filter(|(number, _)| *number <= issued) {
            let serial = self.next_ending();
            let visitor = self.visitor(number);
            let seat = match &visitor.found {
                // Who merely went idle may be back since.
                Where::Inside(_) | Where::Ended { .. } if why == Ending::Idle => continue,
                Where::Inside(seat) => seat.clone(),
                Where::Ended { why: Ending::Idle, seat, .. } => seat.clone(),
                Where::Ended { .. } => continue,
                _ => {
                    self.end_unknown(number, why);
                    continue;
                }
            };
            visitor.take(Where::Ended { why, at: clock, serial, seat });
        }
        for (number, name) in &report.names {
            self.remember_name(*number, name);
        }
        self.counts.paused |= report.paused;
        self.believe(&report.overrides);
    }

    /// Whether the line still listens, and for how long at least.
    pub(super) fn still_settling(&self) -> Option<u64> {
        let settling = self.settling.as_ref()?;
        let left = settling.until.saturating_sub(self.counts.clock_ms);
        (left > 0 || self.settings.is_none()).then_some(left)
    }

    /// The end of settling: whoever may be here is.
    pub(super) fn settle(&mut self, wall: u64) {
        let settling = self.settling.take().expect("asked only while settling");
        for number in self.counts.released + 1..=self.counts.issued {
            let visitor = self.visitor(number);
            if visitor.ordinary() && !visitor.used {
                visitor.live = true;
            }
        }
        self.all_just_seen();
        self.note_release();
        if self.counts.epoch > 0 {
            self.counts.issued += GAP;
            (self.credit, self.owed, self.ahead) = (0, 0, 0);
            self.period_began = self.counts.clock_ms;
        }
        let (_, admitted, inside) = self.tally();
        self.counts.missing = settling.taken.saturating_sub(inside + admitted);
        self.note("settled", 1);
        self.note("seats found missing", self.counts.missing);
        self.missing_until = self.counts.clock_ms + self.settings().session_ms();
        if self.counts.epoch == 0 {
            self.period_began = self.counts.clock_ms;
            self.counts.epoch = wall / 1_000;
        }
    }

    /// Everybody here, and at the head, was heard of now.
    pub(super) fn all_just_seen(&mut self) {
        let (turn, clock) = (self.turn, self.counts.clock_ms);
        for visitor in &mut self.visitors {
            if visitor.live {
                visitor.seen = turn;
            }
            if let Where::Express { heard, .. }
            | Where::Classed { heard, .. }
            | Where::Called { heard, .. } = &mut visitor.found
            {
                *heard = clock;
            }
        }
    }
}
