//! Loss: what a line does when its memory turns out to be older than its visitors' tickets.
//!
//! Owns settling and the merging of what nodes know. Tickets are the journal: a signature over a
//! number proves that it was given. Whatever is in doubt is decided for the visitor, and the sweeps
//! correct it.

use serde::{Deserialize, Serialize};

use super::batch::{EXACT, Ending, Known, Number, Report};
use super::class;
use super::state::Line;
use super::sweep::PLACES_MAX;

/// Long enough for every node to be heard: they ask every 500 ms, and once more on a reconnect.
const SETTLE_MS: u64 = 2_000;
/// While a node says that there is more, for so long after it: twice as long as a node may be silent between two parts.
const MORE_MS: u64 = 1_000;
/// And no longer than this, however much there is: the head of a line and its names are told in it by any number of nodes, and some
/// hundred thousand endings. For so long nobody is let in.
const SETTLE_MAX_MS: u64 = 10_000;
/// Wider than what can have been lost unseen: two seconds of 50,000 joins each.
const GAP: u64 = 100_000;
/// No room has ever had so many visitors: a report of more is a mistake.
pub(crate) const ISSUED_MAX: u64 = 10_000_000_000;
/// No clock has ever said so: 2^48 is nine million years in seconds.
const EPOCH_MAX: u64 = 1 << 48;
/// A proof further above than this is a mistake: it would cost more bitmap than any room has people.
const HEAL_MAX: u64 = 10_000_000;

/// Whether this can be true.
fn plausible(known: &Known) -> bool {
    known.issued <= ISSUED_MAX && known.epoch <= EPOCH_MAX
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Settling {
    until_ms: u64,
    /// It is over then, whatever is missing.
    #[serde(default)]
    latest_ms: u64,
    /// The most seats any node counted as taken.
    taken: u64,
}

impl Settling {
    /// Seats of an epoch that is void are nobody's.
    pub(super) fn of_new_epoch(self) -> Settling {
        Settling { taken: 0, ..self }
    }
}

impl Line {
    pub(super) fn begin_settling(&mut self) {
        let (until_ms, latest_ms) = (self.clock_ms + SETTLE_MS, self.clock_ms + SETTLE_MAX_MS);
        self.settling = Some(Settling { until_ms, latest_ms, taken: 0 });
    }

    pub(super) fn settling_left_ms(&self) -> u64 {
        self.settling.map_or(0, |settling| settling.until_ms.saturating_sub(self.clock_ms))
    }

    /// Takes over whatever the node has seen and the line has not.
    pub(super) fn learn(&mut self, known: &Known) {
        if known.epoch < self.epoch || !plausible(known) {
            return;
        }
        if known.epoch > self.epoch {
            self.begin_epoch(known.epoch);
        }
        let mut floor = 0;
        if known.issued > self.issued {
            if self.settling.is_some() {
                self.issued = known.issued;
            } else if known.issued - self.issued > HEAL_MAX {
                return;
            } else {
                let lost = self.issued + 1..=known.issued;
                self.waiting += known.issued - self.issued;
                self.seen[self.ring].set_range(lost.clone());
                self.live.set_range(lost);
                self.issued = known.issued + GAP;
                self.bits_version += 1;
            }
            floor = self.issued.saturating_sub(PLACES_MAX);
        }
        self.pass_to(known.released.min(self.issued).max(floor));
        let lapsed = known.lapsed.min(self.released).max(floor);
        if lapsed > self.lapsed {
            self.lapse_to(lapsed);
        }
        if self.settling.is_some() {
            self.move_base(); // Before a report is merged: what is over must not cost a bitmap.
        }
    }

    /// The frontier is here, if it was not yet.
    fn pass_to(&mut self, released: Number) {
        if released > self.released {
            let passed = self.live.count(self.released + 1..=released);
            self.waiting -= passed;
            self.claimable += passed;
            self.released = released;
        }
    }

    /// Whatever is at or below this place is over.
    pub(super) fn pass_over(&mut self, place: Number) {
        self.pass_to(place);
        if place > self.lapsed {
            self.lapse_to(place);
        }
    }

    /// Takes in what only a line that settles asks for.
    fn hear_out(&mut self, known: &Known) {
        if known.epoch != self.epoch || !plausible(known) {
            return;
        }
        if let Some(settling) = &mut self.settling {
            // No more seats than numbers.
            settling.taken = settling.taken.max(known.taken.min(ISSUED_MAX));
            if known.report.as_ref().is_some_and(|report| report.more) {
                let until_ms = (self.clock_ms + MORE_MS).min(settling.latest_ms);
                settling.until_ms = settling.until_ms.max(until_ms);
            }
        }
        if let Some(report) = &known.report {
            self.merge(report, known);
        }
    }

    /// Whether the line may go on; ends the settling when its time is over and settings are known.
    pub(super) fn settled(&mut self, known: &Known) -> bool {
        if self.settling.is_some() {
            self.hear_out(known);
        }
        let Some(settling) = self.settling else {
            return true;
        };
        if self.clock_ms < settling.until_ms || self.config.is_none() {
            return false;
        }
        self.settling = None;
        if self.epoch == 0 {
            self.begin_epoch(self.wall_ms / 1_000); // A room nobody knows: there was nothing to lose.
        } else {
            self.presume_everybody();
        }
        let counted = self.sessions.inside() + self.admitted();
        self.missing = settling.taken.saturating_sub(counted);
        self.missing_until_ms = self.clock_ms + self.settings().session_ms();
        true
    }

    /// Whoever may be here, is; numbering goes on where nobody can have been.
    fn presume_everybody(&mut self) {
        self.live.set_range(self.released + 1..=self.issued);
        self.without_used();
        self.seen[self.ring].set_range(self.lapsed + 1..=self.issued);
        self.head.heard_all(self.clock_ms);
        self.period_began_ms = self.clock_ms;
        self.issued += GAP;
        self.bucket = self.bucket.forgiven();
        self.bucket.credit = 0;
        self.bits_version += 1;
        self.recount();
    }

    /// Unites a node's view with what is here; `used` wins over `live`.
    fn merge(&mut self, report: &Report, known: &Known) {
        let clip = |(low, high): (Number, Number), floor: Number, ceiling: Number| {
            low.max(floor)..=high.min(ceiling)
        };
        self.merge_draws(&report.draws);
        for range in &report.used {
            self.used.set_range(clip(*range, self.base.max(1), known.issued.min(self.issued)));
        }
        for range in &report.live {
            self.live.set_range(clip(*range, self.lapsed + 1, known.released.min(self.released)));
        }
        self.without_used();
        self.recount();
        for (number, place) in &report.express {
            if self.unplaced(*number) {
                self.used.set(*number);
                self.take_out(*number);
                self.head.wait(*number, (*place).min(self.issued), self.clock_ms);
                self.waiting += 1;
            }
        }
        for (number, standpoint) in &report.classes {
            let standpoint = standpoint.min(&(EXACT - 1));
            if self.unplaced(*number) {
                self.used.set(*number);
                self.take_out(*number);
                let place = class::place(*standpoint).min(self.issued);
                let standpoint = class::standpoint(place, class::rank(*standpoint));
                self.head.wait_classed(*number, standpoint, self.clock_ms);
                self.waiting += 1;
            }
        }
        for number in &report.called {
            let waits = self.head.waits(*number) || self.head.is_away(*number);
            if waits || self.unplaced(*number) {
                self.used.set(*number);
                self.take_out(*number);
                self.head.call(*number, self.clock_ms);
            }
        }
        for (number, why) in &report.ended {
            self.merge_ending(*number, *why);
        }
        for (number, name) in &report.names {
            self.merge_name(*number, name);
        }
        self.paused |= report.paused;
        self.merge_overrides(&report.overrides);
    }

    /// A node knows that a session is over. One that merely went idle may have been resumed since.
    fn merge_ending(&mut self, number: Number, why: Ending) {
        let seat = self.sessions.seat(number);
        let known = match self.sessions.ending(number) {
            Some(Ending::Idle) => why == Ending::Idle,
            Some(_) => true,
            None => seat.is_some() && why == Ending::Idle,
        };
        if !self.given(number) || known {
            return;
        }
        match seat.or(self.sessions.ended_seat(number)) {
            Some(seat) => self.shut(number, seat, why),
            None => {
                self.take_out(number);
                self.used.set(number);
                self.close_unknown(number, why);
            }
        }
    }

    /// A number that stands nowhere but in the bitmaps.
    fn unplaced(&self, number: Number) -> bool {
        self.given(number)
            && self.sessions.seat(number).is_none()
            && self.sessions.ending(number).is_none()
            && !self.head.contains(number)
    }

    fn without_used(&mut self) {
        let Line { live, used, .. } = self;
        live.edit(self.lapsed + 1..=self.issued, |word, _| used.word(word));
    }

    /// Counts anew what is otherwise kept as counters.
    fn recount(&mut self) {
        let ordinary = self.live.count(self.released + 1..=self.issued);
        self.waiting = ordinary + self.head.waiting();
        self.claimable = self.live.count(self.lapsed + 1..=self.released);
    }

    /// Counts anew, by an operator's word; how many counters were wrong.
    pub(super) fn repair(&mut self) -> u64 {
        let before = (self.waiting, self.claimable);
        self.without_used();
        self.recount();
        u64::from(before.0 != self.waiting) + u64::from(before.1 != self.claimable)
    }

    pub(super) fn forget_missing(&mut self) {
        if self.clock_ms >= self.missing_until_ms {
            self.missing = 0;
        }
    }
}
