//! A rate that follows the origin's health.
//!
//! Owns the controller: one a line, so that all nodes share one rate. It is told what nodes counted (`figures`), judges it in windows on
//! the room's clock, and says how many turns there may be, between a floor and the rate that was set. Never looks at a single
//! request, and draws no conclusion from silence but one: an origin nobody asks can't be failing any more.
//!
//! # A window
//!
//! lasts a second at least, and until 20 requests were judged, or five seconds; one that follows completions lasts two. While turns are given one in which
//! there was something, but less than five requests, stays open for up to twenty: what few requests say adds up. A request is *fast* if it was answered within the
//! target, *slow* as soon as it was not: nodes count a request that hangs while it hangs. From the sums of a window come, in whole thousandths,
//! the share of the slow (`slow`), the share of errors among answers (`errors`), and from the histogram the time that 95 % took (`p95`), which is
//! made to agree with the share: more than 50 thousandths slow is above the target, fewer is not.
//!
//! # The law of `latency`
//!
//! ```text
//!   aim     +3,000 millionths a second x (50 − slow) / 50, within 500,000 ..= 1,000,000: whoever was slow too often aims lower
//!   now     p95 in thousandths of the target; if slow > 50, at least 1,000 + (slow − 50) · 2,000 / 950; at most 3,000; then
//!           divided by the aim, and at least errors in thousandths of what is allowed; again at most 3,000
//!   level   the mean of the last level and now                              ahead = level + 2 · (level − the last one)
//!   base    level > 1,000: − 6 % a second x (level − 1,000), at most all of it; the base before is one that was too much, if more than three
//!           windows were within bounds before and it was above the floor; if it was growing by 15 %, three quarters of it are, and it is set to them
//!           else, if ahead < 1,000 and the rate is what holds people up (those that mode shadow reckons, too): + 2 % a second x 2 · (1,000 − ahead), at most all of it;
//!           15 % instead of 2 % below four fifths of the last rate that was too much, or if there was none
//!   rate    base, less ½ · (ahead − 1,000) of it; never below the floor
//! ```
//! Entries act on the load only later: visitors take seconds to come, and stay. So the rate follows where the level is going, not where
//! it is, while the base moves slowly; and because what is measured is slow to answer and noisy, `aim` sees to it that in
//! the long run one in twenty is slow, which is what a p95 at its target means.
//!
//! *Collapse*: at least five answers of which half are errors and more than allowed, or at least five slow requests and not an answer to a
//! quarter as many, or fifteen windows in a row in which nine of ten were slow. Then there are no turns at all, until a window is none of it,
//! for which fewer than five are enough now, or has nothing in it: nobody is left who could fail. Then the rate starts at the floor, as for a site that
//! was never better, and if the site is well it grows fast to four fifths of what it was, if that was above the floor, or of what was too much before, if
//! that was more. At the very edge of a collapse that is the floor and nothing by turns. After fifteen more windows in which nine of ten were slow
//! the rate starts, too: that nobody came made the site no quicker, and whoever is inside may stay for good.
//!
//! # The law of `completions`
//!
//! The rate is the floor and five quarters of the completions a second, as a mean of about sixteen seconds, divided by the share of visitors who
//! complete: there is room for growth. While more is slow or wrong than allowed there is none, and it is three quarters, without the floor on
//! top. Collapse is the same.

use serde::{Deserialize, Serialize};

use super::history::{ANSWERS, ERRORS, FAST, LATENCIES, ORIGIN, SLOW};
use super::settings::{Adaptive, Mode, Pace, Signal};
use super::state::Line;

/// A window's least length, and its greatest while fewer than [`ENOUGH`] were judged.
const WINDOW_MS: u64 = 1_000;
const WINDOW_MAX_MS: u64 = 5_000;
/// Completions are fewer than requests.
const COMPLETIONS_MS: u64 = 2_000;
const ENOUGH: u64 = 20;
/// Its greatest while there are some, but fewer than [`FEW`].
const WINDOW_FEW_MS: u64 = 20_000;
/// What completions a second are the mean of.
const MEAN_MS: u64 = 16_000;
/// A p95 at its target: so many thousandths are slow.
const SLOW_ALLOWED: u64 = 50;
/// Nothing is worse than this, in thousandths of what is allowed.
const WORST: u64 = 3_000;
const AIM: std::ops::RangeInclusive<u64> = 500_000..=1_000_000;
/// Per second, in thousandths: growth near a rate that was too much, and far below it; and the fall.
const GROWTH: u64 = 20;
const GROWTH_FREE: u64 = 150;
const FALL: u64 = 60;
/// What fast growth comes back to: two seconds of it, in which those it let in were on their way and nothing was measured of them. Without
/// that a site is over its target for half a minute at first; with half of it, half empty.
const BACK: u64 = 750;
/// Fewer answers or slow requests say nothing about a collapse, unless there was one.
const FEW: u64 = 5;
const ALL_SLOW_MAX: u64 = 15;
/// After so many windows within bounds, the rate that was too much is forgotten by a hundredth a window.
const CLEAN: u64 = 10;
/// Turns in 1,000 s: the fastest that is steered, a million a second.
const FASTEST: u64 = 1_000_000_000;

/// The ends of [`LATENCIES`] in microseconds, as whole numbers. The last bucket has none: whatever is in it took this long.
const ENDS_US: [u64; LATENCIES.count] = [
    1_000, 1_500, 2_250, 3_375, 5_062, 7_594, 11_391, 17_086, 25_629, 38_443, 57_665, 86_498,
    129_746, 194_620, 291_929, 437_894, 656_841, 985_261, 1_477_892, 2_216_838, 3_325_257,
    4_987_885, 7_481_828, 11_222_741, 16_834_112, 25_251_168, 37_876_752, 56_815_129, 85_222_693,
];

/// Why the rate is what it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// Nothing has been measured yet, or not since a collapse.
    #[default]
    Starting,
    /// Within bounds: it grows.
    Growing,
    /// Within bounds: at the rate that was set, or close to the bounds, or nobody waits because of it.
    Steady,
    /// More than one in twenty took longer than the target.
    Slow,
    /// More errors than allowed.
    Errors,
    /// No turns: half of all answers, or more, are errors.
    Failing,
    /// No turns: the origin hardly answers.
    Silent,
    /// It follows completions.
    Following,
}

impl Why {
    /// By its code where a line is not kept in Rust.
    pub(crate) fn from_code(code: u64) -> Option<Why> {
        use Why::*;
        [Starting, Growing, Steady, Slow, Errors, Failing, Silent, Following]
            .get(code as usize)
            .copied()
    }

    /// The word in answers and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Why::Starting => "starting",
            Why::Growing => "growing",
            Why::Steady => "steady",
            Why::Slow => "slow",
            Why::Errors => "errors",
            Why::Failing => "failing",
            Why::Silent => "silent",
            Why::Following => "following",
        }
    }
}

/// The rate in force, and what it was made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adapted {
    /// Turns in 1,000 s.
    pub rate: u64,
    /// Why.
    pub why: Why,
    /// What 95 % of the last window's requests took at most, as far as a histogram tells.
    pub p95_ms: u64,
    /// Thousandths of them that took longer than the target.
    pub slow: u64,
    /// Thousandths of the answers that were errors.
    pub errors: u64,
}

/// The controller's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Control {
    /// Turns in 1,000 s: what it believes in, and what is in force.
    base: u64,
    rate: u64,
    /// 1: no turns.
    stopped: u64,
    why: u64,
    /// The last rate that was too much; 0: none.
    bad: u64,
    /// Windows within bounds since.
    clean: u64,
    /// Windows in a row in which nearly all were slow.
    all_slow: u64,
    /// Below 1,000,000: 1,000,000 − aim, so that none is the highest.
    lowered: u64,
    /// 0: none yet.
    level: u64,
    /// Completions in 1,000 s.
    done: u64,
    /// Of the last window.
    p95_ms: u64,
    slow_share: u64,
    error_share: u64,
    /// Millionths of a credit.
    carry: u64,
    /// The window that runs; 0: none.
    began_ms: u64,
    /// Of the line, when it began.
    completed: u64,
    fast: u64,
    slow: u64,
    answers: u64,
    errors: u64,
    took: [u64; LATENCIES.count],
}

impl Control {
    /// What nodes counted, into the window that runs.
    fn count(&mut self, figures: &[u64]) {
        let one = |at: usize| figures.get(at).copied().unwrap_or(0);
        self.fast += one(FAST);
        self.slow += one(SLOW);
        self.answers += one(ANSWERS);
        self.errors += one(ERRORS);
        let took = figures.get(ORIGIN..ORIGIN + LATENCIES.count).unwrap_or(&[]);
        self.took.iter_mut().zip(took).for_each(|(sum, count)| *sum += count);
    }

    /// Another window, from now on.
    fn open(&mut self, clock_ms: u64, completed: u64) {
        (self.began_ms, self.completed) = (clock_ms, completed);
        (self.fast, self.slow, self.answers, self.errors) = (0, 0, 0, 0);
        self.took = Default::default();
    }

    fn judged(&self) -> u64 {
        self.fast + self.slow
    }

    /// Whether it is over after so long.
    fn is_over(&self, lasted_ms: u64, signal: Signal) -> bool {
        let some = self.judged().max(self.answers);
        let few = self.stopped == 0 && (1..FEW).contains(&some);
        match signal {
            _ if few => lasted_ms >= WINDOW_FEW_MS,
            Signal::Latency => {
                lasted_ms >= WINDOW_MAX_MS || lasted_ms >= WINDOW_MS && self.judged() >= ENOUGH
            }
            Signal::Completions => lasted_ms >= COMPLETIONS_MS,
        }
    }

    /// So many were completed in it.
    fn complete(&mut self, completed: u64, lasted_ms: u64) {
        let done = completed.saturating_sub(self.completed) * 1_000_000 / lasted_ms;
        let weight = lasted_ms.min(MEAN_MS);
        self.done = ((MEAN_MS - weight) * self.done + weight * done) / MEAN_MS;
    }

    /// What 95 % took at most, in microseconds: between the ends of its bucket.
    fn p95_us(&self) -> u64 {
        let wanted = 95 * self.took.iter().sum::<u64>();
        let (mut below, mut low) = (0, 0);
        for (count, end) in self.took.iter().zip(ENDS_US) {
            if *count > 0 && 100 * (below + count) >= wanted {
                let part = (wanted - 100 * below) * 1_000 / (100 * count);
                return low + (end - low) * part / 1_000;
            }
            below += count;
            low = end;
        }
        0
    }

    /// The shares of the window, and its p95, which agrees with them.
    fn measure(&mut self, target_ms: u64) {
        let share = |part: u64, of: u64| (part * 1_000).checked_div(of).unwrap_or(0).min(1_000);
        self.slow_share = share(self.slow, self.judged());
        self.error_share = share(self.errors, self.answers);
        let p95_ms = self.p95_us() / 1_000;
        self.p95_ms = match self.slow_share > SLOW_ALLOWED {
            true => p95_ms.max(target_ms + 1),
            false => p95_ms.min(target_ms),
        };
    }

    /// Why there should be no turns, if so.
    fn collapse(&mut self, allowed: u64) -> Option<Why> {
        self.all_slow = if self.slow_share >= 900 { self.all_slow + 1 } else { 0 };
        let few = if self.stopped == 1 { 1 } else { FEW };
        let errors = self.error_share;
        if self.answers >= few && errors >= 500 && errors > allowed {
            return Some(Why::Failing);
        }
        let unanswered = self.slow >= few && self.answers * 4 < self.slow;
        let late = (ALL_SLOW_MAX..2 * ALL_SLOW_MAX).contains(&self.all_slow);
        (unanswered || late).then_some(Why::Silent)
    }

    /// From the floor, as if nothing were known but the rate that was too much.
    fn start(&mut self, low: u64) {
        (self.stopped, self.base, self.rate) = (0, low, low);
        (self.level, self.all_slow, self.why) = (0, 0, Why::Starting as u64);
    }

    /// Far below the last rate that was too much, or there was none.
    fn grows_free(&self) -> bool {
        self.bad == 0 || self.base * 10 < self.bad * 8
    }

    /// The law of `latency`, for a window of so long. Whether the rate holds people up.
    fn follow_latency(&mut self, adaptive: &Adaptive, span_ms: u64, high: u64, limits: bool) {
        let (slow, low) = (self.slow_share, adaptive.floor().min(high));
        self.lowered = match slow > SLOW_ALLOWED {
            true => (self.lowered + 3 * (slow - SLOW_ALLOWED) * span_ms / SLOW_ALLOWED)
                .min(AIM.end() - AIM.start()),
            false => {
                self.lowered.saturating_sub(3 * (SLOW_ALLOWED - slow) * span_ms / SLOW_ALLOWED)
            }
        };
        let mut latency = self.p95_ms * 1_000 / adaptive.target_ms;
        if slow > SLOW_ALLOWED {
            latency = latency.max(1_000 + (slow - SLOW_ALLOWED) * 2_000 / 950);
        }
        let latency = latency.min(WORST) * AIM.end() / (AIM.end() - self.lowered);
        let errors = self.error_share * 1_000 / adaptive.max_errors;
        let now = latency.max(errors).min(WORST);
        let before = if self.level == 0 { now } else { self.level };
        self.level = (before + now) / 2;
        let ahead = (3 * self.level).saturating_sub(2 * before);

        let grown = self.base;
        if self.level > 1_000 {
            if self.clean > 3 && self.base > low {
                if self.grows_free() {
                    self.base = (self.base * BACK / 1_000).max(low);
                }
                self.bad = self.base;
            }
            self.clean = 0;
            let over = (self.level - 1_000).min(1_000);
            self.base -= self.base * FALL * over / 1_000 * span_ms / 1_000_000;
        } else {
            self.clean += 1;
            if self.bad > 0 && self.clean > CLEAN {
                self.bad += (self.bad / 100).max(1);
            }
            if self.bad > high {
                self.bad = 0;
            }
            if ahead < 1_000 && limits {
                let growth = if self.grows_free() { GROWTH_FREE } else { GROWTH };
                let room = (2 * (1_000 - ahead)).min(1_000);
                self.base += (self.base * growth * room / 1_000 * span_ms / 1_000_000).max(1);
            }
        }
        self.base = self.base.clamp(low, high);
        let cut = ahead.saturating_sub(1_000).min(2_000) / 2;
        self.rate = (self.base * (1_000 - cut) / 1_000).max(low);
        let why = match self.level > 1_000 {
            true if errors >= latency => Why::Errors,
            true => Why::Slow,
            false if self.base > grown => Why::Growing,
            false => Why::Steady,
        };
        self.why = why as u64;
    }

    /// The law of `completions`.
    fn follow_completions(&mut self, adaptive: &Adaptive, high: u64, within: bool) {
        let low = adaptive.floor().min(high);
        self.base = match within {
            true => (low + self.done * 1_250 / adaptive.completes).min(high),
            false => (self.done * 750 / adaptive.completes).clamp(low, high),
        };
        (self.rate, self.why) = (self.base, Why::Following as u64);
    }
}

impl Adaptive {
    /// Turns in 1,000 s.
    fn floor(&self) -> u64 {
        (self.min.count * 1_000_000 / self.min.per_ms).clamp(1, FASTEST)
    }
}

impl Line {
    /// What steers the rate, and the highest it may be in 1,000 s, if anything does.
    fn steered(&self) -> Option<(Adaptive, u64)> {
        let settings = self.settings();
        match (settings.adaptive, settings.pace) {
            (Some(adaptive), Some(Pace::Rate { rate, .. })) if rate.count > 0 => {
                Some((adaptive, settings.rate_per_1000s().clamp(1, FASTEST)))
            }
            _ => None,
        }
    }

    /// What nodes counted may matter to the rate.
    pub(super) fn weigh_figures(&mut self, figures: &[u64]) {
        if self.steered().is_some() {
            self.control.count(figures);
        }
    }

    /// Judges the window that runs, if it is over.
    pub(super) fn adapt(&mut self) {
        let Some((adaptive, high)) = self.steered() else {
            if self.control.began_ms > 0 {
                self.control.open(0, 0);
            }
            return;
        };
        let (clock_ms, completed) = (self.clock_ms, self.totals.completed);
        let held_up = match self.settings().mode {
            Mode::Auto | Mode::Drain => self.waiting > 0 && self.free_seats() > 0,
            Mode::Shadow => self.would_hold_up(),
            _ => false,
        };
        let limits = held_up && !self.paused;
        let low = adaptive.floor().min(high);
        let control = &mut self.control;
        control.base = control.base.clamp(low, high);
        if control.stopped == 0 {
            control.rate = control.rate.clamp(low, high);
        }
        if control.began_ms == 0 {
            control.open(clock_ms, completed);
        }
        let lasted_ms = clock_ms - control.began_ms;
        if !control.is_over(lasted_ms, adaptive.signal) {
            return;
        }
        control.complete(completed, lasted_ms);
        let empty = control.judged() + control.answers == 0;
        if !empty {
            control.measure(adaptive.target_ms);
        }
        let span_ms = lasted_ms.min(WINDOW_MAX_MS);
        let collapse = if empty { None } else { control.collapse(adaptive.max_errors) };
        let within = empty
            || control.slow_share <= SLOW_ALLOWED && control.error_share <= adaptive.max_errors;
        if let Some(why) = collapse {
            if control.base > low {
                control.bad = control.bad.max(control.base);
            }
            (control.stopped, control.base, control.rate) = (1, low, 0);
            control.why = why as u64;
        } else if control.stopped == 1 {
            control.start(low);
        } else if adaptive.signal == Signal::Completions {
            control.follow_completions(&adaptive, high, within);
        } else if !empty {
            control.follow_latency(&adaptive, span_ms, high, limits);
        }
        control.open(clock_ms, completed);
    }

    /// The rate in force and its reasons, if it is steered.
    pub(super) fn adapted(&self) -> Option<Adapted> {
        let Control { rate, why, p95_ms, slow_share, error_share, .. } = self.control;
        self.steered().map(|_| Adapted {
            rate,
            why: Why::from_code(why).unwrap_or_default(),
            p95_ms,
            slow: slow_share,
            errors: error_share,
        })
    }

    /// Turns in 1,000 s, if they are fewer than was set.
    pub(super) fn slowed(&self) -> Option<u64> {
        let (_, high) = self.steered()?;
        (self.control.rate < high).then_some(self.control.rate)
    }

    /// Credits that a time is worth at so many turns in 1,000 s, to the last millionth.
    pub(super) fn slowed_credits(&mut self, rate: u64, cost: u64, elapsed_ms: u64) -> u64 {
        let millionths = rate * cost * elapsed_ms + self.control.carry;
        self.control.carry = millionths % 1_000_000;
        millionths / 1_000_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_buckets_are_those_of_the_histogram() {
        for (nth, end) in ENDS_US.iter().enumerate() {
            let exact = LATENCIES.first * LATENCIES.factor.powi(nth as i32) * 1_000.0;
            assert!((*end as f64 - exact).abs() <= 1.0, "bucket {nth}: {end} and {exact}");
        }
    }

    #[test]
    fn codes_are_those_of_the_words() {
        for code in 0..8 {
            assert_eq!(Why::from_code(code).map(|why| why as u64), Some(code));
        }
        assert_eq!(Why::from_code(8), None);
    }
}
