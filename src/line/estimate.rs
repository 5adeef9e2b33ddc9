//! How long it will take: an honest range, from the turns people really got.
//!
//! Owns the arithmetic between a position and a time. Never knows whose position it is.

use serde::{Deserialize, Serialize};

use super::batch::Counts;
use super::settings::{Pace, Settings};

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

/// Fewer turns than this say nothing about a rate yet.
const FEW: f64 = 5.0;

/// The range spans the rates of the last minute and the last ten, each widened by what chance does to
/// a count of that size (1.64 deviations: nine times in ten). Without history the set rate counts, and
/// a rate nobody has set counts as one a second.
pub(super) fn eta(position: u64, counts: &Counts, settings: Option<&Settings>) -> Eta {
    let age_ms = counts.clock_ms.saturating_sub(counts.turns_since_ms);
    let measured = |before: u64, span_ms: u64| {
        let turns = (counts.turns - before.min(counts.turns)) as f64;
        let seconds = span_ms.min(age_ms).max(1_000) as f64 / 1_000.0;
        (turns >= FEW).then(|| (turns / seconds, 1.64 / turns.sqrt()))
    };
    let recent = measured(counts.turns_1m, 60_000).map(|found| in_force(found, counts));
    let long = measured(counts.turns_10m, 600_000);
    let (low, likely, high) = match (recent, long) {
        (None, None) => {
            let rate = set_rate(settings, counts);
            (rate / 1.5, rate, rate * 1.5)
        }
        (recent, long) => {
            let (fast, fast_error) = recent.or(long).unwrap_or((1.0, 1.0));
            let (slow, slow_error) = long.or(recent).unwrap_or((1.0, 1.0));
            let low = (fast * (1.0 - fast_error)).min(slow * (1.0 - slow_error));
            let high = (fast * (1.0 + fast_error)).max(slow * (1.0 + slow_error));
            // A far position is reached at the long-run rate, a near one at that of this minute.
            let seconds_at_fast = position as f64 / fast;
            let weight = (seconds_at_fast / 600.0).clamp(0.0, 1.0);
            (low.max(slow / 10.0), fast * (1.0 - weight) + slow * weight, high)
        }
    };
    let at = |rate: f64| position as f64 / rate;
    let seconds = at(likely).round().max(1.0) as u64;
    Eta {
        seconds,
        low: (at(high).floor() as u64).min(seconds),
        high: (at(low).ceil() as u64).max(seconds),
    }
}

/// What was measured, or what is in force where that follows the origin and is less: it fell since.
fn in_force((rate, error): (f64, f64), counts: &Counts) -> (f64, f64) {
    let adapted = counts.adapted.filter(|adapted| adapted.rate > 0);
    (adapted.map_or(rate, |adapted| rate.min(adapted.rate as f64 / 1_000.0)), error)
}

/// Turns a second by the settings alone, or as the origin's health allows.
fn set_rate(settings: Option<&Settings>, counts: &Counts) -> f64 {
    if let Some(adapted) = counts.adapted.filter(|adapted| adapted.rate > 0) {
        return adapted.rate as f64 / 1_000.0;
    }
    let rate = match settings.and_then(|settings| settings.pace) {
        Some(Pace::Rate { rate, .. }) => rate.count as f64 * 1_000.0 / rate.per_ms as f64,
        Some(Pace::Batch { batch, interval_ms, .. }) => batch as f64 * 1_000.0 / interval_ms as f64,
        None => 0.0,
    };
    if rate > 0.0 { rate } else { 1.0 }
}
