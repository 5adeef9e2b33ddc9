//! When a room is open: events written down beforehand, and which of them a moment falls into.
//!
//! Owns the times of events. Pure arithmetic on the store's wall clock, so that every node and the line itself say the same.
//! Events that come again are computed, never listed.

use serde::{Deserialize, Serialize};

use super::draw::Draws;
use super::settings::{Mode, OutOfRange, Settings};

/// Events that a room may have: a year of weeks is one that comes again.
pub const MAX_EVENTS: usize = 32;
/// The latest moment an event may name: the year 9999.
const LAST_MS: u64 = 253_402_300_799_999;
/// A pre-queue is no longer than tickets are good.
const MAX_PREQUEUE_MS: u64 = 30 * 86_400_000;
/// Between two openings of an event that comes again.
const MIN_EVERY_MS: u64 = 60_000;
const MAX_EVERY_MS: u64 = 366 * 86_400_000;

/// One event, or all of those that come again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// When visitors are let in from, by the wall clock; of an event that comes again, the first time.
    pub opens_ms: u64,
    /// For so long before that numbers are given.
    pub prequeue_ms: u64,
    /// Whether those who came before the opening are drawn.
    pub draw: bool,
    /// When it ends, the first time.
    pub closes_ms: Option<u64>,
    /// It comes again after so long.
    pub every_ms: Option<u64>,
}

/// What a schedule says about a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Visitors are let in, until then if an end is set.
    Open {
        /// The latest end of the events that are on.
        closes_ms: Option<u64>,
    },
    /// Numbers are given, nobody is let in by pace.
    Prequeue(Opening),
    /// Nobody new, nobody let in.
    Closed(Option<Opening>),
}

/// An opening that is to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// From when on numbers are given for it.
    pub from_ms: u64,
    /// When visitors are let in from.
    pub opens_ms: u64,
    /// Whether those who came before are drawn.
    pub draw: bool,
}

fn gcd(one: i128, two: i128) -> i128 {
    if two == 0 { one } else { gcd(two, one % two) }
}

impl Phase {
    /// The next opening at which there is a draw.
    pub fn draw_ahead(&self) -> Option<u64> {
        match self {
            Phase::Prequeue(next) | Phase::Closed(Some(next)) if next.draw => Some(next.opens_ms),
            _ => None,
        }
    }
}

impl Event {
    /// Whether it is on: since when, and when it ends, if ever.
    fn on(&self, wall_ms: u64) -> Option<(u64, Option<u64>)> {
        let since_ms = wall_ms.checked_sub(self.opens_ms)?;
        let later_ms = self.every_ms.map_or(0, |every_ms| since_ms / every_ms * every_ms);
        let closes_ms = self.closes_ms.map(|closes_ms| closes_ms + later_ms);
        let on = closes_ms.is_none_or(|closes_ms| wall_ms < closes_ms);
        on.then_some((self.opens_ms + later_ms, closes_ms))
    }

    /// Whether it opens, this time or another, less than so long after an opening of another event, or with it.
    pub fn opens_within(&self, span_ms: u64, other: &Event) -> bool {
        let every = |event: &Event| event.every_ms.map(|every_ms| i128::from(every_ms.max(1)));
        let apart_ms = i128::from(self.opens_ms) - i128::from(other.opens_ms);
        let after_ms = match (every(self), every(other)) {
            (None, None) => apart_ms,
            (Some(ours), None) => apart_ms.max(apart_ms.rem_euclid(ours)),
            (None, Some(theirs)) => apart_ms.min(apart_ms.rem_euclid(theirs)),
            // Sooner or later they are as close as ever they can be.
            (Some(ours), Some(theirs)) => apart_ms.rem_euclid(gcd(ours, theirs)),
        };
        (0..i128::from(span_ms)).contains(&after_ms)
    }

    /// The next time it opens.
    fn next(&self, wall_ms: u64) -> Option<Opening> {
        let opens_ms = match wall_ms.checked_sub(self.opens_ms) {
            None => self.opens_ms,
            Some(since_ms) => {
                let every_ms = self.every_ms?;
                self.opens_ms + (since_ms / every_ms + 1) * every_ms
            }
        };
        let from_ms = opens_ms.saturating_sub(self.prequeue_ms);
        Some(Opening { from_ms, opens_ms, draw: self.draw })
    }
}

impl Settings {
    /// What the schedule says about a moment of the wall clock. Open if any event is on; else the pre-queue of the one that opens
    /// first, if any has begun; else closed until the first one begins. Without events a room is always open.
    pub fn phase(&self, wall_ms: u64) -> Phase {
        let events = &self.schedule;
        let on = events.iter().filter_map(|event| event.on(wall_ms));
        let ends: Vec<Option<u64>> = on.map(|(_, closes_ms)| closes_ms).collect();
        if events.is_empty() || !ends.is_empty() {
            let forever = events.is_empty() || ends.contains(&None);
            let last_ms = ends.iter().flatten().max().copied();
            return Phase::Open { closes_ms: last_ms.filter(|_| !forever) };
        }
        let next = || events.iter().filter_map(|event| event.next(wall_ms));
        let begun = next().filter(|next| next.from_ms <= wall_ms);
        // Of several at one time the first that is written.
        match begun.min_by_key(|next| next.opens_ms) {
            Some(next) => Phase::Prequeue(next),
            None => Phase::Closed(next().min_by_key(|next| next.from_ms)),
        }
    }

    /// The openings with a draw of the events that are on.
    pub(super) fn drawn_at(&self, wall_ms: u64) -> impl Iterator<Item = u64> {
        let drawn = self.schedule.iter().filter(|event| event.draw);
        drawn.filter_map(move |event| Some(event.on(wall_ms)?.0))
    }

    /// The same as `phase`, as far as it counts: in the modes auto and hold, for in every other an operator's word does. Whoever comes to a room
    /// on hold waits, even while the schedule says closed. A draw that is due and was not made yet keeps the room before its opening.
    pub(super) fn phase_in_force(&self, wall_ms: u64, draws: &Draws) -> Phase {
        let open = Phase::Open { closes_ms: None };
        if !self.mode.follows_schedule() {
            return open;
        }
        match self.phase(wall_ms) {
            Phase::Open { closes_ms } => match draws.due(self, wall_ms) {
                Some(opens_ms) => Phase::Prequeue(Opening { from_ms: 0, opens_ms, draw: true }),
                None => Phase::Open { closes_ms },
            },
            Phase::Closed(_) if self.mode == Mode::Hold => open,
            phase => phase,
        }
    }

    /// What is out of range in the schedule.
    pub(super) fn schedule_problems(&self, found: &mut Vec<OutOfRange>) {
        let mut range = |name: &str, value: u64, low: u64, high: u64, why: &str| {
            if !(low..=high).contains(&value) {
                let (name, why) = (name.to_owned(), why.to_owned());
                found.push(OutOfRange { name, value, low, high, why });
            }
        };
        let most = MAX_EVENTS as u64;
        let count = self.schedule.len() as u64;
        range("schedule", count, 0, most, "events that come again are one, with `every`");
        for (nth, event) in self.schedule.iter().enumerate() {
            let name = |key: &str| format!("schedule[{nth}].{key}");
            let Event { opens_ms, prequeue_ms, closes_ms, every_ms, .. } = *event;
            range(&name("opens"), opens_ms, 1, LAST_MS, "no clock says so");
            let longest = MAX_PREQUEUE_MS.min(opens_ms);
            let why = "tickets of a longer pre-queue would be over before it opens";
            range(&name("prequeue"), prequeue_ms, 0, longest, why);
            if let Some(closes_ms) = closes_ms {
                let why = "it would close before it opens";
                range(&name("closes"), closes_ms, opens_ms.saturating_add(1), LAST_MS, why);
            }
            let Some(every_ms) = every_ms else { continue };
            range(&name("every"), every_ms, MIN_EVERY_MS, MAX_EVERY_MS, "a minute to a year");
            let Some(closes_ms) = closes_ms else {
                let why = "what never closes can't open again: set `closes`";
                range(&name("closes"), 0, opens_ms.saturating_add(1), LAST_MS, why);
                continue;
            };
            let lasts_ms = closes_ms.saturating_sub(opens_ms).saturating_add(prequeue_ms);
            let why = "with its pre-queue it would begin again before it is over";
            range(&name("every"), every_ms, lasts_ms.max(MIN_EVERY_MS), MAX_EVERY_MS, why);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: u64 = 3_600_000;

    fn event(opens: u64, prequeue: u64, closes: Option<u64>, every: Option<u64>) -> Event {
        let closes_ms = closes.map(|hour| hour * HOUR);
        let every_ms = every.map(|hours| hours * HOUR);
        let (opens_ms, prequeue_ms) = (opens * HOUR, prequeue * HOUR);
        Event { opens_ms, prequeue_ms, draw: false, closes_ms, every_ms }
    }

    fn at(schedule: &[Event], hour: u64) -> Phase {
        Settings { schedule: schedule.to_vec(), ..Settings::default() }.phase(hour * HOUR)
    }

    fn prequeue(from: u64, opens: u64, draw: bool) -> Phase {
        Phase::Prequeue(Opening { from_ms: from * HOUR, opens_ms: opens * HOUR, draw })
    }

    #[test]
    fn one_event_has_three_phases_and_an_end() {
        let schedule = [event(100, 2, Some(110), None)];
        let next = Opening { from_ms: 98 * HOUR, opens_ms: 100 * HOUR, draw: false };
        assert_eq!(at(&schedule, 97), Phase::Closed(Some(next)));
        assert_eq!(at(&schedule, 98), prequeue(98, 100, false));
        let open = Phase::Open { closes_ms: Some(110 * HOUR) };
        assert_eq!((at(&schedule, 100), at(&schedule, 109)), (open, open));
        assert_eq!(at(&schedule, 110), Phase::Closed(None));
        assert_eq!(at(&[], 5), Phase::Open { closes_ms: None }, "no schedule");
        assert_eq!(at(&[event(100, 0, None, None)], 5_000), Phase::Open { closes_ms: None });
    }

    #[test]
    fn events_come_again_and_again() {
        let schedule = [event(100, 2, Some(110), Some(24))];
        for week in [0, 1, 7, 10_000] {
            let later = week * 24;
            assert_eq!(at(&schedule, 99 + later), prequeue(98 + later, 100 + later, false));
            let open = Phase::Open { closes_ms: Some((110 + later) * HOUR) };
            assert_eq!(at(&schedule, 109 + later), open);
            let Phase::Closed(Some(next)) = at(&schedule, 110 + later) else { panic!("closed") };
            assert_eq!(next.opens_ms, (124 + later) * HOUR);
        }
    }

    #[test]
    fn of_several_the_open_one_counts_then_the_first_to_open() {
        let mut later = event(110, 20, Some(120), None);
        later.draw = true;
        let schedule = [later, event(100, 5, Some(105), None)];
        assert_eq!(at(&schedule, 92), prequeue(90, 110, true));
        assert_eq!(at(&schedule, 96), prequeue(95, 100, false), "that one opens first");
        assert_eq!(at(&schedule, 101), Phase::Open { closes_ms: Some(105 * HOUR) });
        assert_eq!(at(&schedule, 106), prequeue(90, 110, true));
        let both = [event(100, 0, Some(105), None), event(104, 0, Some(108), None)];
        assert_eq!(at(&both, 104), Phase::Open { closes_ms: Some(108 * HOUR) });
        assert_eq!(at(&schedule, 91).draw_ahead(), Some(110 * HOUR));
        assert_eq!(at(&schedule, 96).draw_ahead(), None);
    }

    /// Against every opening of a hundred days.
    #[test]
    fn events_that_meet_are_found_whenever_they_do() {
        let openings = |event: &Event| -> Vec<u64> {
            let again = event.every_ms.map_or(1, |every| 2_400 * HOUR / every);
            (0..again).map(|nth| event.opens_ms + nth * event.every_ms.unwrap_or(0)).collect()
        };
        let some: Vec<Event> = [None, Some(8), Some(12), Some(35), Some(36)]
            .into_iter()
            .flat_map(|every| {
                [100, 101, 107, 131].map(|opens| event(opens, 0, Some(opens + 1), every))
            })
            .collect();
        for (one, other) in some.iter().flat_map(|one| some.iter().map(move |other| (one, other))) {
            for span in [1, 3, 7].map(|hours| hours * HOUR) {
                let theirs = openings(other);
                let meets = openings(one)
                    .iter()
                    .any(|at| theirs.iter().any(|from| (*from..from + span).contains(at)));
                assert_eq!(one.opens_within(span, other), meets, "{one:?} {span} {other:?}");
            }
        }
    }

    #[test]
    fn nonsense_is_named() {
        let problems = |event: Event| {
            let schedule = vec![event];
            let problems = Settings { schedule, ..Settings::default() }.problems();
            problems.into_iter().map(|problem| problem.name).collect::<Vec<_>>()
        };
        assert!(problems(event(100, 2, Some(110), Some(24))).is_empty());
        assert_eq!(problems(event(0, 0, None, None)), ["schedule[0].opens"]);
        assert_eq!(problems(event(100, 2, Some(100), None)), ["schedule[0].closes"]);
        assert_eq!(problems(event(100, 1_000, None, None)), ["schedule[0].prequeue"]);
        assert_eq!(problems(event(100, 2, None, Some(24))), ["schedule[0].closes"]);
        assert_eq!(problems(event(100, 15, Some(110), Some(24))), ["schedule[0].every"]);
        let schedule = vec![event(100, 0, None, None); 33];
        assert_eq!(Settings { schedule, ..Settings::default() }.problems().len(), 1);
    }
}
