//! How long it will take: an honest range, from what the line did lately.
//!
//! Owns the arithmetic between a position and a time. Never knows whose position it is. What it learns comes from the counters, as
//! a node's view has seen them change ([`Course`]); a node that has just come knows the settings, and the turns of the last minute.
//!
//! # How fast turns come
//!
//! The least of what pace and seats give:
//! - *pace*: the rate that is set, times what was given of it lately. That is more than one where turns that nobody took are paid back; and
//!   a rate that is changed counts at once. The share of turns that nobody took says what it will come to, a claim window before it does.
//! - *seats*: each is free again after as long as seats were taken lately. Where too few have become free to tell, the rest is presumed
//!   to last one session.
//!
//! While no turn is given because the origin fails, nobody knows, as where turns come by hand alone: nobody is told anything.
//!
//! # Who overtakes
//!
//! Whoever joins with a class takes a turn that a position behind them does not count yet. How many get before ordinary visitors in a second is
//! measured at the middle of each quarter of the line; so many come off the turns that bring somebody forward there. With
//! `class_share` it takes no longer than if classes had all of their share. Before all of the ordinary line nobody is overtaken.
//!
//! ```text
//!   10 turns a second, 4 join with a class that skips half:    │ 10 a second │ 10 a second │ 6 a second │ 6 a second │ end
//! ```
//!
//! # How many go before their turn
//!
//! Whoever goes from the line without a turn makes everybody behind them faster. The share of those who wait that goes in a second is measured, and
//! presumed to fade: patience that has lasted lasts.
//!
//! # The range
//!
//! What is not known widens it: nobody has missed a turn yet because no claim window is over; no seat has become free; nobody
//! can have fallen silent yet; and what was counted is counted with the error of its size. The rest is for what the future brings.

use serde::{Deserialize, Serialize};

use super::batch::Counts;
use super::settings::{Pace, Settings};
use super::view::course::{Course, set_rate};
use super::view::turns::{DEPTHS, Quarters};

/// When somebody's turn will come, in seconds from now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Eta {
    /// The likeliest.
    pub seconds: u64,
    /// Not before.
    pub low: u64,
    /// Not after, if things go on as they have.
    pub high: u64,
}

/// Fewer than this say nothing about a rate yet.
const FEW: f64 = 5.0;
/// Turns that nobody took are paid back by at most half of the rate.
const PAID_BACK_MAX: f64 = 1.5;
/// Below this part of the pace, something else limits.
const LIMITED: f64 = 0.9;
/// The span that tells what is given of a pace: a pace is even, and no-shows are paid back evenly.
const LATELY: f64 = 120.0;
/// Most who come, come sooner than this.
const LATE: f64 = 20.0;
/// The span that tells about seats and about those who go.
const LONG: f64 = 600.0;
/// After so many seconds those who go are half as many: who has waited goes on waiting.
const FADE: f64 = 1_800.0;
/// The span that tells who overtakes, and how much of it must have been seen.
const PASSING: f64 = 300.0;
const PASSING_SEEN: f64 = 10.0;
/// What else those who overtake may become more or fewer by; and the part of the turns that may be theirs before any was seen.
const PASSING_MARGIN: f64 = 0.1;
const PASSING_UNSEEN: f64 = 0.2;
/// However many overtake, this part of the turns is presumed to be left.
const LEFT: f64 = 0.05;
/// What the range allows for beside what is known not to be known.
const MARGIN: f64 = 0.08;

/// What is known of the time to come: the same for everybody who asks one view.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outlook {
    /// Turns a second.
    rate: f64,
    /// Rates that are possible, too.
    slowest: f64,
    fastest: f64,
    /// The share of those who wait that goes in a second, as measured, and at most.
    going: f64,
    going_most: f64,
    /// Turns come together in so many seconds.
    step: f64,
    /// Where there are classes.
    passing: Option<Passing>,
}

/// Who will overtake ordinary visitors.
#[derive(Clone, Copy, Debug)]
struct Passing {
    quarters: Quarters,
    /// So many a second, in each quarter of the line.
    likely: [f64; DEPTHS],
    fewest: [f64; DEPTHS],
    most: [f64; DEPTHS],
    /// The part of the turns that is left to the ordinary line in any case.
    left: f64,
}

impl Passing {
    fn new(quarters: Quarters, settings: Option<&Settings>, course: &Course, rate: f64) -> Passing {
        let lately = course.last(PASSING);
        let left = settings.map_or(0.0, |settings| 1.0 - settings.class_share as f64 / 1_000.0);
        if lately.contested < PASSING_SEEN {
            let (none, most) = ([0.0; DEPTHS], [PASSING_UNSEEN * rate; DEPTHS]);
            return Passing { quarters, likely: none, fewest: none, most, left };
        }
        let seen = lately.overtook.map(|count| count.max(0.0));
        let error = |count: f64| PASSING_MARGIN * count + 1.64 * (count + 1.0).sqrt();
        let a_second = |count: f64| count.max(0.0) / lately.contested;
        Passing {
            quarters,
            likely: seen.map(a_second),
            fewest: seen.map(|count| a_second(count - error(count))),
            most: seen.map(|count| a_second(count + error(count))),
            left,
        }
    }

    /// Seconds until somebody at a position has their turn, if so many a second overtake.
    fn straight(&self, position: f64, rate: f64, passing: &[f64; DEPTHS]) -> f64 {
        let Quarters { head, ends } = self.quarters;
        if position <= head {
            return position / rate; // Of the head themselves.
        }
        let (mut seconds, mut from) = (0.0, 0.0);
        for (quarter, (end, _)) in ends.into_iter().enumerate() {
            // Whoever stands behind everybody is of the last quarter.
            let upto = if quarter + 1 < DEPTHS { position.min(end).max(from) } else { position };
            seconds += (upto - from) / (rate - passing[quarter]).max(rate * LEFT);
            from = upto;
        }
        let bound = match self.left > 0.0 {
            true => self.ordinary(position) / (rate * self.left),
            false => f64::INFINITY,
        };
        seconds.min(bound).max(position / rate)
    }

    /// How many of so many, behind the head, are of the ordinary line.
    fn ordinary(&self, position: f64) -> f64 {
        let (mut from, mut ordinary) = (self.quarters.head, 0.0);
        for (end, upto) in self.quarters.ends {
            if position < end {
                return ordinary + (upto - ordinary) * (position - from) / (end - from);
            }
            (from, ordinary) = (end, upto);
        }
        ordinary + (position - from)
    }
}

impl Outlook {
    /// Seconds until so many would have gone by their turn alone, at this rate and if so many of those overtake.
    fn straight(&self, position: f64, rate: f64, who: fn(&Passing) -> &[f64; DEPTHS]) -> f64 {
        match &self.passing {
            Some(passing) => passing.straight(position, rate, who(passing)),
            None => position / rate,
        }
    }
}

pub(super) fn eta(position: u64, outlook: &Outlook) -> Eta {
    let position = position as f64;
    let Outlook { rate, slowest, fastest, going, going_most, .. } = *outlook;
    let likely = wait(outlook.straight(position, rate, |who| &who.likely), going);
    let fast = outlook.straight(position, fastest, |who| &who.fewest);
    let soon = wait(fast, going_most) * (1.0 - MARGIN);
    let slow = outlook.straight(position, slowest, |who| &who.most);
    let late = wait(slow, going / 4.0) * (1.0 + MARGIN);
    let seconds = likely.round().max(1.0) as u64;
    Eta {
        seconds,
        low: ((soon - outlook.step).max(0.0).floor() as u64).min(seconds),
        high: ((late + outlook.step).ceil() as u64).max(seconds),
    }
}

/// Seconds until all before have gone, by their turn or otherwise.
///
/// Without those who go it is `straight`. Of everybody before, the share s = going · FADE · (1 − e^(−t/FADE)) goes in t, on the
/// way evenly: as many count as (1 − e^−s) / s. Two rounds are near enough; a third would change it by less than a hundredth.
fn wait(straight: f64, going: f64) -> f64 {
    if going == 0.0 {
        return straight;
    }
    let mut seconds = straight;
    for _ in 0..2 {
        let share = going * FADE * (1.0 - (-seconds / FADE).exp());
        let counting = if share > 1e-6 { (1.0 - (-share).exp()) / share } else { 1.0 };
        seconds = straight * counting;
    }
    seconds
}

pub(super) fn outlook(
    counts: &Counts,
    settings: Option<&Settings>,
    course: &Course,
    quarters: Option<Quarters>,
) -> Outlook {
    let long = course.last(LONG);
    let (by_pace, unknown) = by_pace(counts, settings, course);
    let by_seats = by_seats(counts, settings, course);
    let (rate, slowest, fastest) = match (by_pace, by_seats) {
        (None, None) => (1.0, 1.0 / 1.5, 1.5),
        (Some(pace), None) => (pace, pace, pace * unknown),
        (None, Some((seats, error))) => (seats, seats / (1.0 + error), seats * (1.0 + error)),
        (Some(pace), Some((seats, error))) => (
            pace.min(seats),
            pace.min(seats / (1.0 + error)),
            (pace * unknown).min(seats * (1.0 + error)),
        ),
    };
    // Nobody can be silent for too long before two or three periods are over.
    let timeout = settings.map_or(150.0, |settings| settings.heartbeat_timeout_ms as f64 / 1_000.0);
    let seen = course.seconds();
    let going = if seen >= 2.0 * timeout && long.waited > 0.0 {
        (long.gone / long.waited).clamp(0.0, 0.01)
    } else {
        0.0
    };
    // Twice what was seen; before anything was, one in three in an hour, and one in five who was never there.
    let unseen = (1.0 - seen / LONG).max(0.0);
    let (going_most, fastest) = (going * 2.0 + 1e-4 * unseen, fastest * (1.0 + 0.25 * unseen));
    let step = match settings.and_then(|settings| settings.pace) {
        Some(Pace::Batch { interval_ms, .. }) => interval_ms as f64 / 1_000.0,
        _ => 2.0,
    };
    let passing = quarters.map(|quarters| Passing::new(quarters, settings, course, rate));
    Outlook { rate, slowest, fastest, going, going_most, step, passing }
}

/// Whether no turns come by pace, but by an operator's word alone, or when the origin is well again: nobody knows when.
pub(super) fn is_unknown(counts: &Counts, settings: Option<&Settings>) -> bool {
    set_rate(settings, counts).is_some_and(|rate| rate <= 0.0)
}

/// Turns a second by pace, and how much faster it may become.
fn by_pace(counts: &Counts, settings: Option<&Settings>, course: &Course) -> (Option<f64>, f64) {
    let Some(set) = set_rate(settings, counts) else { return (None, 1.0) };
    if set <= 0.0 {
        return (Some(presumed(counts, settings, course)), 1.5);
    }
    let lately = course.last(LATELY);
    let given = match settings.and_then(|settings| settings.pace) {
        // A batch is given whole: between two there are no turns, and when there are it is more than the pace.
        Some(Pace::Batch { .. }) => 1.0,
        // One more as it was set: who has had none yet will have one.
        _ if lately.set >= FEW => (lately.turns + 1.0) / (lately.set + 1.0),
        // This node has just come. What turns there were in the last minute, others have seen.
        _ => {
            let turns = counts.turns.saturating_sub(counts.turns_1m) as f64;
            let part = turns / (set * 60.0);
            if counts.waiting > 0 && part > 1.0 { part } else { 1.0 }
        }
    };
    let given = given.min(PAID_BACK_MAX);
    let seats = settings.is_some_and(|settings| settings.seats().is_some());
    if given < LIMITED {
        // Where there are seats, they are what limits, and are looked at by themselves.
        return (Some(if seats { set } else { set * given }), 1.0);
    }
    match share_missed(settings, course) {
        Some(share) => {
            (Some(set * (1.0 / (1.0 - share)).clamp(given.min(1.0), PAID_BACK_MAX)), 1.1)
        }
        // As long as no claim window is over, nobody can have missed a turn; but some have not come for a while.
        None => {
            let called = course.last(LATELY).given;
            let missing = counts.admitted as f64 - course.last(LATE).given;
            let share = if called >= 4.0 * FEW { (missing / called).clamp(0.0, 0.3) } else { 0.0 };
            let given = given.max(1.0 / (1.0 - share));
            (Some(set * given), PAID_BACK_MAX / given.max(1.0))
        }
    }
}

/// Turns a second that are reckoned with while none come by pace: one where they come by hand alone; where the origin fails as
/// many as there were lately, or as it will start with.
fn presumed(counts: &Counts, settings: Option<&Settings>, course: &Course) -> f64 {
    let steered = settings.filter(|_| counts.adapted.is_some());
    let Some(adaptive) = steered.and_then(|settings| settings.adaptive) else { return 1.0 };
    let long = course.last(LONG);
    match long.set > 0.0 && long.contested > 0.0 {
        true => long.set / long.contested,
        false => adaptive.min.count as f64 * 1_000.0 / adaptive.min.per_ms as f64,
    }
}

/// The share of turns that nobody takes: those missed lately, of the turns a claim window before.
fn share_missed(settings: Option<&Settings>, course: &Course) -> Option<f64> {
    let window = settings?.claim_window_ms() as f64 / 1_000.0;
    let span = (course.seconds() - window).min(LONG / 2.0);
    if span < 15.0 {
        return None;
    }
    let judged = course.ago(window) - course.ago(window + span);
    let missed = course.last(span).missed;
    (judged.given >= 4.0 * FEW).then(|| (missed / judged.given).clamp(0.0, 0.9))
}

/// Turns a second by seats, and the error of that.
fn by_seats(counts: &Counts, settings: Option<&Settings>, course: &Course) -> Option<(f64, f64)> {
    let settings = settings?;
    let seats = settings.seats()? as f64;
    let session = settings.session_ms() as f64 / 1_000.0;
    let long = course.last(LONG);
    let taken = (counts.inside + counts.admitted + counts.missing).max(1) as f64;
    // As long as fewer have become free, nobody knows how long people stay.
    let presumed = (taken / 2.0 - long.freed).max(0.0);
    let turnover = (long.freed + presumed) / (long.taken + presumed * session).max(1.0);
    // Sessions that are all as long end together: then it matters which of them were just seen to.
    let together = 0.5 * taken / (long.freed + taken);
    let error = 1.64 / (long.freed + FEW).sqrt() + together + 0.4 * presumed / taken;
    Some((seats * turnover, error))
}

impl Counts {
    /// What a line takes of a Redis: five bits for each place from the oldest that may still be claimed to the newest, and so
    /// much for each seat: what `make bench-redis` holds a Redis to. Nobody is asked for it.
    pub fn store_bytes(&self) -> u64 {
        const SEAT: u64 = 140;
        self.issued.saturating_sub(self.lapsed) * 5 / 8 + self.inside * SEAT
    }
}
