//! What is told about a run: figures for programs, a table for people.
//!
//! Owns the names, which scripts read. Measures nothing.

use std::fmt::Write as _;

use serde::Serialize;

use super::Plan;
use crate::units;

/// Of the JSON. Raised when a name changes or goes; more names may come.
pub const SCHEMA: u32 = 1;

/// A run, told.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: u32,
    /// What was run.
    pub plan: Plan,
    /// From the first arrival to the last entry.
    pub virtual_seconds: f64,
    /// What became of them.
    pub people: People,
    /// From arrival to entry, of those who entered.
    pub wait_seconds: Quantiles,
    /// Whether the rate was what was set.
    pub entries: Entries,
    /// Who came before whom.
    pub fairness: Fairness,
    /// What the page said beside what became of it.
    pub eta: Estimates,
    /// When people joined.
    pub eta_at_joining: Estimates,
    /// And with every mark while they waited.
    pub eta_while_waiting: Estimates,
    /// Estimates that are in neither, because operators changed the rate before they could come true.
    pub eta_overtaken: u64,
    /// What it took.
    pub cost: Cost,
    /// Seconds of a step of `series`.
    pub step_seconds: f64,
    /// The run, step by step.
    pub series: Vec<Point>,
    /// Estimates given to some who joined.
    pub samples: Vec<Sample>,
}

/// What became of everybody: adds up to `visitors`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct People {
    /// Who came.
    pub visitors: u64,
    /// Came in.
    pub entered: u64,
    /// Ran out of patience.
    pub gave_up: u64,
    /// Were called and let it go by.
    pub no_shows: u64,
    /// Were never heard of again.
    pub bots: u64,
    /// Of them, those who got in at once and were inside for a moment.
    pub bots_inside: u64,
    /// Slept through their turn.
    pub passed_over: u64,
    /// Met a line that was full.
    pub turned_away: u64,
    /// Had no turn when the run ended.
    pub still_waiting: u64,
    /// Whose number the line did not know any more: never, or the line has lost somebody.
    pub lost: u64,
    /// By the line's own count: turns that nobody took.
    pub counted_no_shows: u64,
    /// By the line's own count: places skipped by silence; whoever returns counts again.
    pub counted_dropped: u64,
    /// Most at once.
    pub peak_waiting: u64,
    /// Most at once.
    pub peak_inside: u64,
}

/// Seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Quantiles {
    /// One in ten took less.
    pub p10: f64,
    /// One in two.
    pub p50: f64,
    /// Nine in ten.
    pub p90: f64,
    /// All but one in a hundred.
    pub p99: f64,
    /// All.
    pub max: f64,
    /// On average.
    pub mean: f64,
}

/// Entries a second, while people waited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Entries {
    /// Set; `null` where only seats limit.
    pub rate_set: Option<f64>,
    /// Reached.
    pub rate_reached: f64,
    /// The one by the other.
    pub reached_of_set: Option<f64>,
    /// How long people waited.
    pub contested_seconds: f64,
    /// Turns given, for those who came and those who did not.
    pub turns: u64,
}

/// Whether who came first was first, of those who were there when their turn came and entered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Fairness {
    /// Of how many.
    pub compared: u64,
    /// Pairs of whom the later was called first.
    pub turn_inversions: u64,
    /// Kendall's tau of arrivals and turns.
    pub turn_tau: f64,
    /// Pairs of whom the later came in first: how soon somebody notices is a part of it.
    pub entry_inversions: u64,
    /// Kendall's tau of arrivals and entries.
    pub entry_tau: f64,
}

/// How true estimates were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Estimates {
    /// How many were looked at.
    pub count: u64,
    /// Of the likeliest time, by what it was: half were nearer.
    pub median_error: f64,
    /// Nine in ten were nearer.
    pub p90_error: f64,
    /// Told longer (above 0) or shorter than it was, in the middle.
    pub bias: f64,
    /// The share of ranges, as the page shows them, that held what it was.
    pub ranges_right: f64,
    /// The same to the second.
    pub ranges_right_exactly: f64,
}

/// What a store and the nodes had to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Cost {
    /// Exchanges.
    pub calls: u64,
    /// Calls that a store which was away did not answer.
    pub calls_failed: u64,
    /// Of all nodes, on average.
    pub calls_per_second: f64,
    /// Of each.
    pub calls_per_second_and_node: f64,
    /// Of all nodes, in the busiest second.
    pub calls_per_second_peak: u64,
    /// What a Redis would be busy with them, by what nodes reckon their batches take (above what is measured).
    pub store_busy: f64,
    /// Heartbeats said, one a visitor and period.
    pub marks: u64,
    /// A line in Redis, at most.
    pub store_bytes_peak: u64,
    /// The bitmaps of an embedded line, at most.
    pub bitmap_bytes_peak: u64,
    /// To the store, a second.
    pub bytes_said_per_second: f64,
    /// From it.
    pub bytes_heard_per_second: f64,
}

/// A step of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Point {
    /// Who came in it.
    pub arrivals: u64,
    /// Who waited at its end.
    pub waiting: u64,
    /// Who was inside at its end.
    pub inside: u64,
    /// Who entered in it.
    pub entries: u64,
    /// Turns given in it.
    pub turns: u64,
    /// Set at its end; 0 where only seats limit.
    pub rate: f64,
}

impl Point {
    /// The two together.
    pub(super) fn with(self, next: Option<&Point>) -> Point {
        let Some(next) = next else { return self };
        Point {
            arrivals: self.arrivals + next.arrivals,
            entries: self.entries + next.entries,
            turns: self.turns + next.turns,
            ..*next
        }
    }
}

/// One estimate, beside what it was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Told {
    /// Seconds.
    pub was: f64,
    /// Told beside that, by it.
    pub error: f64,
    /// It was within what was told.
    pub exact: bool,
    /// It was within what the page said.
    pub right: bool,
}

/// What somebody was told when they joined, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sample {
    /// When.
    pub joined: f64,
    /// The likeliest.
    pub told: f64,
    /// Not before.
    pub low: f64,
    /// Not after.
    pub high: f64,
    /// And it was.
    pub was: f64,
}

impl Quantiles {
    /// Of so many seconds, in any order.
    pub(super) fn of(mut seconds: Vec<f64>) -> Quantiles {
        if seconds.is_empty() {
            return Quantiles::default();
        }
        seconds.sort_unstable_by(f64::total_cmp);
        let at = |share: f64| seconds[((seconds.len() - 1) as f64 * share).round() as usize];
        let mean = seconds.iter().sum::<f64>() / seconds.len() as f64;
        Quantiles { p10: at(0.1), p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1.0), mean }
    }
}

impl Estimates {
    pub(super) fn of(told: &[Told]) -> Estimates {
        if told.is_empty() {
            return Estimates::default();
        }
        let share = |holds: fn(&Told) -> bool| {
            told.iter().filter(|told| holds(told)).count() as f64 / told.len() as f64
        };
        let sizes = Quantiles::of(told.iter().map(|told| told.error.abs()).collect());
        Estimates {
            count: told.len() as u64,
            median_error: sizes.p50,
            p90_error: sizes.p90,
            bias: Quantiles::of(told.iter().map(|told| told.error).collect()).p50,
            ranges_right: share(|told| told.right),
            ranges_right_exactly: share(|told| told.exact),
        }
    }
}

/// 83 %.
fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// 1 h 02 m 03 s, as much of it as matters.
fn time(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match (whole / 3_600, whole / 60 % 60, whole % 60) {
        (0, 0, _) => format!("{seconds:.1} s"),
        (0, minutes, seconds) => format!("{minutes} m {seconds:02} s"),
        (hours, minutes, _) => format!("{} h {minutes:02} m", units::grouped(hours)),
    }
}

/// 1.2 MB.
fn bytes(count: f64) -> String {
    match count {
        small if small < 1e3 => format!("{small:.0} B"),
        thousands if thousands < 1e6 => format!("{:.1} KB", thousands / 1e3),
        millions if millions < 1e9 => format!("{:.1} MB", millions / 1e6),
        more => format!("{:.1} GB", more / 1e9),
    }
}

impl Report {
    /// A table for people.
    pub fn table(&self) -> String {
        let mut out = String::new();
        let mut row = |name: &str, value: String| {
            let _ = writeln!(out, "  {name:<26} {value}");
        };
        let count = units::grouped;
        let People { visitors, .. } = self.people;
        let part = |some: u64| {
            format!("{:>13}   {}", count(some), percent(some as f64 / visitors.max(1) as f64))
        };
        row("visitors", format!("{:>13}   in {}", count(visitors), time(self.virtual_seconds)));
        let people = &self.people;
        let always = [("entered", people.entered), ("gave up", people.gave_up)];
        let seldom = [
            ("did not come", people.no_shows),
            ("bots", people.bots),
            ("slept through their turn", people.passed_over),
            ("met a full line", people.turned_away),
            ("still waiting", people.still_waiting),
            ("lost", people.lost),
        ];
        let seldom = seldom.into_iter().filter(|(_, some)| *some > 0);
        for (name, some) in always.into_iter().chain(seldom) {
            row(name, part(some));
        }
        row("most waiting at once", format!("{:>13}", count(people.peak_waiting)));
        row("most inside at once", format!("{:>13}", count(people.peak_inside)));
        let wait = &self.wait_seconds;
        row(
            "wait",
            format!(
                "half {}   nine in ten {}   99 in 100 {}   longest {}",
                time(wait.p50),
                time(wait.p90),
                time(wait.p99),
                time(wait.max)
            ),
        );
        let entries = &self.entries;
        let reached = format!("{:.3}/s while people waited", entries.rate_reached);
        row(
            "rate reached",
            match (entries.rate_set, entries.reached_of_set) {
                (Some(set), Some(of)) => format!("{reached}, {} of {set:.3}/s", percent(of)),
                _ => format!("{reached}, by seats"),
            },
        );
        for (name, eta) in [("estimates", &self.eta), ("those at joining", &self.eta_at_joining)] {
            row(
                name,
                format!(
                    "half within {}, nine in ten within {}; ranges right {}",
                    percent(eta.median_error),
                    percent(eta.p90_error),
                    percent(eta.ranges_right)
                ),
            );
        }
        let fair = &self.fairness;
        row(
            "order of turns",
            format!("tau {:.9}, {} inversions", fair.turn_tau, count(fair.turn_inversions)),
        );
        row(
            "order of entries",
            format!("tau {:.9}, {} inversions", fair.entry_tau, count(fair.entry_inversions)),
        );
        let cost = &self.cost;
        row(
            "store",
            format!(
                "{} at most, {} busy; {:.1} calls/s, {:.1} a node, {} in the busiest second",
                bytes(cost.store_bytes_peak as f64),
                percent(cost.store_busy),
                cost.calls_per_second,
                cost.calls_per_second_and_node,
                count(cost.calls_per_second_peak)
            ),
        );
        row(
            "on the wire",
            format!(
                "{}/s to the store, {}/s back",
                bytes(cost.bytes_said_per_second),
                bytes(cost.bytes_heard_per_second)
            ),
        );
        out
    }
}
