//! Those inside, and those who were: seats, their times, and how they end.
//!
//! Owns seats. A seat's time runs on the room's clock, a pass's on the wall clock; a seat is free only
//! when both are over, so a clock that runs back never lets two passes share one seat.

use std::collections::BTreeMap;
use std::ops::{Bound, RangeInclusive};

use serde::{Deserialize, Serialize};

use super::batch::{
    Claimed, Done, End, Ending, MAX_TOLD, Number, Reason, Renewal, Standing, Terms,
};
use super::budget::Budget;
use super::claim::Was;
use super::scores::Scores;
use super::state::Line;

/// No clock says more than this: 9,000 years, and six bytes.
pub(crate) const MS_MAX: u64 = (1 << 48) - 1;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Sessions {
    seats: BTreeMap<Number, Seat>,
    /// When each seat is free, unless it is renewed.
    until: Scores,
    ended: BTreeMap<Number, Ended>,
    /// Endings in the order they happened.
    log: BTreeMap<u64, Number>,
    /// The last ending's.
    serial: u64,
    /// Slots in use, and whose they are.
    #[serde(default)]
    held: BTreeMap<u64, Number>,
    /// Whose last connection has closed, and when their seat is left for that.
    #[serde(default)]
    pub(super) hung: Scores,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Seat {
    /// On the room's clock.
    entered_ms: u64,
    terms: Terms,
}

impl Seat {
    pub(super) fn slot(self) -> u64 {
        self.terms.slot
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Ended {
    serial: u64,
    why: Ending,
    at_ms: u64,
    seat: Seat,
}

impl Sessions {
    pub(super) fn inside(&self) -> u64 {
        self.seats.len() as u64
    }

    pub(super) fn seat(&self, number: Number) -> Option<Seat> {
        self.seats.get(&number).copied()
    }

    /// Who has a slot.
    pub(super) fn holder(&self, slot: u64) -> Option<Number> {
        self.held.get(&slot).copied()
    }

    /// Whether every slot is held by whoever sits in it, and whoever hung up is inside.
    pub(super) fn slots_consistent(&self) -> bool {
        let sitting = self.seats.iter().filter(|(_, seat)| seat.terms.slot > 0);
        let mut sitting: Vec<_> = sitting.map(|(who, seat)| (seat.terms.slot, *who)).collect();
        sitting.sort_unstable();
        sitting.into_iter().eq(self.held.iter().map(|(slot, who)| (*slot, *who)))
            && self.hung.numbers().all(|number| self.seats.contains_key(&number))
    }

    pub(super) fn ending(&self, number: Number) -> Option<Ending> {
        self.ended.get(&number).map(|ended| ended.why)
    }

    /// Whether somebody is inside, or was and is remembered.
    pub(super) fn knows(&self, number: Number) -> bool {
        self.seats.contains_key(&number) || self.ended.contains_key(&number)
    }

    /// The seat of a session that is over.
    pub(super) fn ended_seat(&self, number: Number) -> Option<Seat> {
        self.ended.get(&number).map(|ended| ended.seat)
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = Number> + '_ {
        self.seats.keys().chain(self.ended.keys()).copied()
    }

    /// Those of a range of numbers who are inside, in order.
    pub(super) fn inside_of(
        &self,
        range: RangeInclusive<Number>,
    ) -> impl Iterator<Item = Number> + '_ {
        self.seats.range(range).map(|(number, _)| *number)
    }

    /// Who is inside, in the order in which their seats will be free.
    pub(super) fn those_inside(&self, skip: usize, limit: usize) -> Vec<(Number, Terms)> {
        let numbers = self.until.iter().map(|(_, number)| number).skip(skip).take(limit);
        numbers.filter_map(|number| Some((number, self.seats.get(&number)?.terms))).collect()
    }

    /// Endings after `serial`, oldest first.
    pub(super) fn endings_after(&self, serial: u64) -> Vec<(u64, Number, Ending)> {
        let later = self.log.range((Bound::Excluded(serial), Bound::Unbounded)).take(MAX_TOLD);
        later.map(|(serial, number)| (*serial, *number, self.ended[number].why)).collect()
    }

    /// None inside, none ended; serials go on, so that nodes notice.
    pub(super) fn emptied(self) -> Sessions {
        Sessions { serial: self.serial, ..Sessions::default() }
    }

    /// Whether the two orders of each table hold the same numbers.
    pub(super) fn consistent(&self) -> bool {
        self.seats.keys().copied().eq(self.until.numbers())
            && self.log.len() == self.ended.len()
            && self.log.iter().all(|(serial, number)| {
                self.ended.get(number).is_some_and(|ended| ended.serial == *serial)
            })
            && self.ended.keys().all(|number| !self.seats.contains_key(number))
    }

    fn sit(&mut self, number: Number, seat: Seat, until_ms: u64) {
        if let Some(ended) = self.ended.remove(&number) {
            self.log.remove(&ended.serial);
        }
        self.stand_up(number);
        if seat.terms.slot > 0 {
            self.held.insert(seat.terms.slot, number);
        }
        self.seats.insert(number, seat);
        self.until.insert(number, until_ms);
    }

    /// Nobody sits there any more; the slot is free.
    fn stand_up(&mut self, number: Number) {
        if let Some(seat) = self.seats.remove(&number) {
            self.held.remove(&seat.terms.slot);
        }
        self.hung.remove(number);
    }

    fn close(&mut self, number: Number, seat: Seat, why: Ending, at_ms: u64) {
        self.stand_up(number);
        self.until.remove(number);
        self.serial += 1;
        let ended = Ended { serial: self.serial, why, at_ms, seat };
        if let Some(before) = self.ended.insert(number, ended) {
            self.log.remove(&before.serial);
        }
        self.log.insert(self.serial, number);
    }
}

impl Line {
    /// Gives a visitor their seat. Whoever may be nobody who comes back gets it for `session_first` only.
    pub(super) fn enter(&mut self, number: Number, comes_back: bool) -> Terms {
        let settings = self.settings();
        let full_ms = settings.session_ms();
        let span_ms = if comes_back { full_ms } else { full_ms.min(settings.session_first_ms) };
        let terms = Terms {
            admitted_ms: self.wall_ms,
            issued_ms: self.wall_ms,
            expires_ms: self.wall_ms + span_ms,
            slot: self.slot_for(number, 0),
        };
        self.totals.entered += 1;
        self.totals.last_entry_ms = self.wall_ms;
        self.sit(number, Seat { entered_ms: self.clock_ms, terms }, self.clock_ms + span_ms);
        terms
    }

    fn sit(&mut self, number: Number, seat: Seat, until_ms: u64) {
        if self.sessions.seat(number).map(Seat::slot) != Some(seat.slot()) {
            self.roster.moved(number);
        }
        self.sessions.sit(number, seat, until_ms);
    }

    /// Ends a session, or ends it otherwise than it had ended.
    pub(super) fn shut(&mut self, number: Number, seat: Seat, why: Ending) {
        self.roster.moved(number);
        self.sessions.close(number, seat, why, self.clock_ms);
    }

    /// How long a seat is kept without activity.
    fn idle_ms(&self) -> u64 {
        let settings = self.settings();
        settings.session_idle_ms.or(settings.session_max_ms).unwrap_or(0)
    }

    /// Until when activity now keeps a seat, or so many idle times; `None` if `session_max` is over.
    fn renewed_until_ms(&self, entered_ms: u64, times: u64) -> Option<u64> {
        let until_ms = self.clock_ms + times * self.idle_ms();
        match self.settings().session_max_ms.map(|max_ms| entered_ms + max_ms) {
            Some(cap_ms) if cap_ms <= self.clock_ms => None,
            Some(cap_ms) => Some(until_ms.min(cap_ms)),
            None => Some(until_ms),
        }
    }

    /// Extends a seat, or gives one back; never shortens what a pass in the world already says.
    fn extend(&mut self, number: Number, mut seat: Seat, times: u64) -> Claimed {
        let Some(until_ms) = self.renewed_until_ms(seat.entered_ms, times) else {
            return self.close(number, seat, Ending::Capped);
        };
        let until_ms = until_ms.max(self.sessions.until.get(number).unwrap_or(0));
        seat.terms.slot = self.slot_for(number, seat.terms.slot);
        seat.terms.issued_ms = self.wall_ms;
        let expires_ms = self.wall_ms + (until_ms - self.clock_ms.min(until_ms));
        seat.terms.expires_ms = seat.terms.expires_ms.max(expires_ms);
        self.sit(number, seat, until_ms);
        Claimed::Inside(seat.terms)
    }

    fn close(&mut self, number: Number, seat: Seat, why: Ending) -> Claimed {
        self.shut(number, seat, why);
        Claimed::Over(Reason::Ended(why))
    }

    /// Somebody inside asks again: the same terms, byte for byte, unless the pass has run out.
    pub(super) fn claim_again(&mut self, number: Number, seat: Seat) -> Claimed {
        self.sessions.hung.remove(number);
        if seat.terms.expires_ms > self.wall_ms {
            return Claimed::Inside(seat.terms);
        }
        self.extend(number, seat, 1)
    }

    /// Somebody whose session is over asks again: an idle one resumes while there is a seat.
    pub(super) fn resume(&mut self, number: Number, why: Ending) -> Claimed {
        let over = Claimed::Over(Reason::Ended(why));
        let (Ending::Idle, Some(ended)) = (why, self.sessions.ended.get(&number).copied()) else {
            return over;
        };
        let in_time = ended.at_ms + self.idle_ms() > self.clock_ms;
        if !in_time
            || self.free_seats() == 0
            || self.renewed_until_ms(ended.seat.entered_ms, 1).is_none()
        {
            return over;
        }
        self.extend(number, ended.seat, 1)
    }

    /// A pass in force was used.
    pub(super) fn renewal(&mut self, renewal: Renewal) -> Claimed {
        let number = renewal.number;
        if !self.given(number) {
            return Claimed::Unknown;
        }
        let times = 1 + u64::from(renewal.extend);
        if let Some(seat) = self.sessions.seat(number) {
            return self.extend(number, seat, times);
        }
        if let Some(why) = self.sessions.ending(number) {
            return self.resume(number, why);
        }
        self.find_missing(number);
        let admitted_ms = renewal.admitted_ms.min(MS_MAX);
        let age_ms = self.wall_ms.saturating_sub(admitted_ms);
        let (issued_ms, slot) = (self.wall_ms, renewal.slot);
        let terms = Terms { admitted_ms, issued_ms, expires_ms: 0, slot };
        let entered_ms = self.clock_ms.saturating_sub(age_ms);
        self.extend(number, Seat { entered_ms, terms }, times)
    }

    /// An operator keeps somebody's seat for an idle time more; whether there was one.
    pub(super) fn keep_longer(&mut self, number: Number) -> bool {
        let seat = self.sessions.seat(number);
        seat.is_some_and(|seat| matches!(self.extend(number, seat, 2), Claimed::Inside(_)))
    }

    pub(super) fn end(&mut self, end: End) -> Done {
        let End { number, why } = end;
        if !self.given(number) {
            return Done::Unknown;
        }
        if let Some(seat) = self.sessions.seat(number) {
            self.totals.completed += u64::from(why == Ending::Completed);
            self.close(number, seat, why);
            self.requeue_if(why, number);
            return Done::Freed;
        }
        if let Some(ended) = self.sessions.ended.get(&number).copied() {
            if ended.why == Ending::Idle {
                self.totals.completed += u64::from(why == Ending::Completed);
                self.close(number, ended.seat, why);
            }
            return Done::Already;
        }
        self.totals.completed += u64::from(why == Ending::Completed);
        let in_line = matches!(
            self.standing(number),
            Standing::Waiting | Standing::Away | Standing::Admitted
        );
        match why {
            // Of somebody in the line this takes the place; a turn that had come is owed.
            Ending::Revoked | Ending::Left | Ending::Requeued if in_line => {
                if self.take_out(number) == Was::Admitted {
                    self.owe(1);
                }
                self.used.set(number);
            }
            // Otherwise there was a session, and the line has lost it.
            _ => self.find_missing(number),
        }
        self.close_unknown(number, why);
        if in_line {
            self.requeue_if(why, number);
            return Done::Freed;
        }
        Done::Already
    }

    /// Whoever was sent to the end of the line has a place there, at once.
    fn requeue_if(&mut self, why: Ending, number: Number) {
        if why == Ending::Requeued {
            self.join_requeued(number);
        }
    }

    /// Notes an ending for as long as a pass made now would be good: how good the real one is, is unknown.
    pub(super) fn close_unknown(&mut self, number: Number, why: Ending) {
        let expires_ms = self.wall_ms + self.settings().session_ms();
        let (admitted_ms, issued_ms) = (self.wall_ms, self.wall_ms);
        let terms = Terms { admitted_ms, issued_ms, expires_ms, slot: 0 };
        self.shut(number, Seat { entered_ms: self.clock_ms, terms }, why);
    }

    /// Somebody turns out to have, or to have had, a seat the line did not know of: they are nowhere else,
    /// and one less is missing, unless a seat was held for them as admitted.
    fn find_missing(&mut self, number: Number) {
        if self.take_out(number) != Was::Admitted {
            self.missing = self.missing.saturating_sub(1);
        }
        self.used.set(number);
    }

    /// Somebody gives up their seat or their place.
    pub(super) fn leave(&mut self, number: Number) -> Done {
        if !self.given(number) {
            return Done::Unknown;
        }
        if let Some(seat) = self.sessions.seat(number) {
            self.close(number, seat, Ending::Left);
            return Done::Freed;
        }
        if self.sessions.ending(number).is_some() {
            return Done::Already;
        }
        let over = number < self.base || number <= self.lapsed || self.used.get(number);
        if over && !self.head.contains(number) {
            return Done::Already;
        }
        if self.take_out(number) == Was::Admitted {
            self.owe(1);
        }
        self.used.set(number);
        Done::Freed
    }

    /// Frees the seats whose time is over.
    pub(super) fn expire_sessions(&mut self, budget: &mut Budget) {
        let most = budget.next();
        for number in budget.found(self.sessions.until.due(self.clock_ms, most), most) {
            let Some(seat) = self.sessions.seat(number) else {
                continue;
            };
            if seat.terms.expires_ms > self.wall_ms {
                let left_ms = seat.terms.expires_ms - self.wall_ms;
                self.sessions.until.insert(number, self.clock_ms + left_ms);
                continue;
            }
            let capped = self.renewed_until_ms(seat.entered_ms, 1).is_none();
            self.close(number, seat, if capped { Ending::Capped } else { Ending::Idle });
        }
    }

    /// Forgets old endings.
    pub(super) fn forget_endings(&mut self, budget: &mut Budget) {
        let keep_ms = 2 * self.settings().session_ms();
        let most = budget.next();
        let old = |(_, number): &(&u64, &Number)| {
            self.sessions.ended[number].at_ms + keep_ms <= self.clock_ms
        };
        let due = self.sessions.log.iter().take_while(old).take(most);
        let due = due.map(|(serial, number)| (*serial, *number)).collect();
        for (serial, number) in budget.found(due, most) {
            let ended = self.sessions.ended[&number];
            if ended.seat.terms.expires_ms > self.wall_ms {
                // Its pass is still good: forgotten, it would open the door again.
                self.shut(number, ended.seat, ended.why);
                continue;
            }
            self.sessions.log.remove(&serial);
            self.sessions.ended.remove(&number);
        }
    }
}
