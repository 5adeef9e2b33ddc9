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
}

pub(super) fn eta(position: u64, outlook: &Outlook) -> Eta {
    let position = position as f64;
    let likely = wait(position, outlook.rate, outlook.going);
    let soon = wait(position, outlook.fastest, outlook.going_most) * (1.0 - MARGIN);
    let late = wait(position, outlook.slowest, outlook.going / 4.0) * (1.0 + MARGIN);
    let seconds = likely.round().max(1.0) as u64;
    Eta {
        seconds,
        low: ((soon - outlook.step).max(0.0).floor() as u64).min(seconds),
        high: ((late + outlook.step).ceil() as u64).max(seconds),
    }
}

/// Seconds until so many have gone, by their turn or otherwise.
///
/// Without those who go it is position / rate. Of everybody before, the share s = going · FADE · (1 − e^(−t/FADE)) goes in t, on the
/// way evenly: as many count as (1 − e^−s) / s. Two rounds are near enough; a third would change it by less than a hundredth.
fn wait(position: f64, rate: f64, going: f64) -> f64 {
    let straight = position / rate;
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

pub(super) fn outlook(counts: &Counts, settings: Option<&Settings>, course: &Course) -> Outlook {
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
    Outlook { rate, slowest, fastest, going, going_most, step }
}

/// Whether turns come by an operator's word alone: nobody knows when.
pub(super) fn is_by_hand(counts: &Counts, settings: Option<&Settings>) -> bool {
    set_rate(settings, counts).is_some_and(|rate| rate <= 0.0)
}

/// Turns a second by pace, and how much faster it may become.
fn by_pace(counts: &Counts, settings: Option<&Settings>, course: &Course) -> (Option<f64>, f64) {
    let Some(set) = set_rate(settings, counts) else { return (None, 1.0) };
    if set <= 0.0 {
        return (Some(1.0), 1.5); // Only by hand.
    }
    let lately = course.last(LATELY);
    let given = match lately.set >= FEW {
        true => lately.turns / lately.set,
        // This node has just come. What turns there were in the last minute, others have seen.
        false => {
            let turns = counts.turns.saturating_sub(counts.turns_1m) as f64;
            let part = turns / (set * 60.0);
            if counts.waiting > 0 && part > 1.0 { part } else { 1.0 }
        }
    };
    let given = given.min(PAID_BACK_MAX);
    let seats = settings.is_some_and(|settings| settings.max_active.is_some());
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
    let seats = settings.max_active? as f64;
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
