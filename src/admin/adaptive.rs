//! Why a rate is what it is, where it follows the origin: figures for programs, a sentence for people.
//!
//! Owns the words. Decides nothing: the line does.

use serde::Serialize;
use utoipa::ToSchema;

use super::number::Figure;
use crate::line::{Adapted, Adaptive as How, Signal, View, Why};
use crate::units::span;

/// A rate that follows the origin.
#[derive(Serialize, ToSchema)]
pub(super) struct Adaptive {
    /// Turns a second in force.
    #[schema(value_type = f64)]
    rate: Figure,
    /// Never less than this, but after a collapse.
    #[schema(value_type = f64)]
    rate_min: Figure,
    /// `latency` or `completions`.
    signal: &'static str,
    /// `starting`, `growing`, `steady`, `slow`, `errors`, `failing`, `silent` or `following`.
    why: &'static str,
    /// The same in a sentence.
    reason: String,
    /// What 95 of 100 requests took at most, lately.
    p95_ms: u64,
    target_p95_ms: u64,
    /// The part of requests that took longer than that.
    #[schema(value_type = f64)]
    slow_ratio: Figure,
    /// The part of answers that were errors, lately.
    #[schema(value_type = f64)]
    error_ratio: Figure,
    #[schema(value_type = f64)]
    max_error_ratio: Figure,
}

impl Adaptive {
    /// Of a room, if its rate follows the origin.
    pub(super) fn of(view: &View) -> Option<Adaptive> {
        let (told, how) = (view.counts().adapted?, view.settings()?.adaptive?);
        let part = |thousandths: u64| Figure(thousandths as f64 / 1_000.0);
        Some(Adaptive {
            rate: part(told.rate),
            rate_min: Figure(how.min.count as f64 * 1_000.0 / how.min.per_ms as f64),
            signal: match how.signal {
                Signal::Latency => "latency",
                Signal::Completions => "completions",
            },
            why: told.why.name(),
            reason: reason(&told, &how),
            p95_ms: told.p95_ms,
            target_p95_ms: how.target_ms,
            slow_ratio: part(told.slow),
            error_ratio: part(told.errors),
            max_error_ratio: part(how.max_errors),
        })
    }
}

/// `rate 12/s: origin p95 840ms over target 500ms`.
fn reason(told: &Adapted, how: &How) -> String {
    let rate = told.rate as f64 / 1_000.0;
    let digits = if rate < 10.0 { 100.0 } else { 10.0 };
    let rate = (rate * digits).round() / digits;
    let percent = |thousandths: u64| format!("{}%", thousandths as f64 / 10.0);
    let (p95, target) = (span(told.p95_ms), span(how.target_ms));
    let (errors, allowed) = (percent(told.errors), percent(how.max_errors));
    let why = match told.why {
        Why::Starting => "it starts low, and grows while the origin is well".to_owned(),
        Why::Growing => format!("origin p95 {p95} within target {target}, growing"),
        Why::Steady => format!("origin p95 {p95} within target {target}"),
        Why::Slow => format!("origin p95 {p95} over target {target}"),
        Why::Errors => format!("origin errors {errors} over {allowed}"),
        Why::Failing => format!("stopped, {errors} of the origin's answers are errors"),
        Why::Silent => format!("stopped, the origin hardly answers within {target}"),
        Why::Following => "it follows completions".to_owned(),
    };
    format!("rate {rate}/s: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::Rate;

    #[test]
    fn a_rate_is_explained_in_a_sentence() {
        let how = How {
            signal: Signal::Latency,
            target_ms: 500,
            max_errors: 50,
            min: Rate { count: 1, per_ms: 1_000 },
            completes: 1_000,
        };
        let told = |rate, why| Adapted { rate, why, p95_ms: 840, slow: 120, errors: 75 };
        let said = |rate, why| reason(&told(rate, why), &how);
        assert_eq!(said(12_000, Why::Slow), "rate 12/s: origin p95 840ms over target 500ms");
        assert_eq!(said(1_234, Why::Errors), "rate 1.23/s: origin errors 7.5% over 5%");
        let stopped = "rate 0/s: stopped, 7.5% of the origin's answers are errors";
        assert_eq!(said(0, Why::Failing), stopped);
    }
}
