//! The rate that follows the origin: the law of `anteroom::line`'s `adaptive`, with signed numbers and lists.

use anteroom::line::{
    ANSWERS, Adapted, Adaptive, ERRORS, FAST, LATENCIES, Mode, ORIGIN, Pace, SLOW, Signal, Why,
};

use super::Model;

/// A million a second, as turns in 1,000 s.
const FASTEST: u64 = 1_000_000_000;

/// What the controller remembers.
#[derive(Clone)]
pub(super) struct Steering {
    base: i64,
    rate: i64,
    why: Why,
    too_much: Option<i64>,
    clean_windows: u64,
    slow_windows: u64,
    aim: i64,
    level: Option<i64>,
    done: u64,
    p95_ms: u64,
    slow: u64,
    errors: u64,
    millionths: u64,
    window: Option<Window>,
}

#[derive(Clone)]
struct Window {
    began: u64,
    completed: u64,
    told: Vec<Vec<u64>>,
}

impl Default for Steering {
    fn default() -> Steering {
        Steering {
            base: 0,
            rate: 0,
            why: Why::Starting,
            too_much: None,
            clean_windows: 0,
            slow_windows: 0,
            aim: 1_000_000,
            level: None,
            done: 0,
            p95_ms: 0,
            slow: 0,
            errors: 0,
            millionths: 0,
            window: None,
        }
    }
}

impl Window {
    fn sum(&self, at: usize) -> u64 {
        self.told.iter().map(|figures| figures[at]).sum()
    }

    /// The time that 95 % took at most: as far into its bucket as its share of it.
    fn p95_ms(&self) -> u64 {
        let counts: Vec<u64> = (0..LATENCIES.count).map(|nth| self.sum(ORIGIN + nth)).collect();
        let all: u64 = counts.iter().sum();
        let end_us = |nth: usize| {
            // The fifth end lies half-way between two numbers, and is rounded down.
            let exact = 1_000.0 * 1.5_f64.powi(nth as i32);
            if exact.fract() == 0.5 { exact.floor() as u64 } else { exact.round() as u64 }
        };
        let mut before = 0;
        for (nth, count) in counts.iter().enumerate() {
            if *count > 0 && (before + count) * 100 >= all * 95 {
                let start = if nth == 0 { 0 } else { end_us(nth - 1) };
                let thousandths = (all * 95 - before * 100) * 1_000 / (count * 100);
                return (start + (end_us(nth) - start) * thousandths / 1_000) / 1_000;
            }
            before += count;
        }
        0
    }
}

fn thousandths(part: u64, of: u64) -> u64 {
    (part * 1_000).checked_div(of).unwrap_or(0).min(1_000)
}

fn per_1000s(count: u64, per_ms: u64) -> u64 {
    (count * 1_000_000 / per_ms).clamp(1, FASTEST)
}

impl Model {
    /// How the rate is steered, its floor and its ceiling, if it is.
    fn steered(&self) -> Option<(Adaptive, u64, u64)> {
        let settings = self.settings.as_ref()?;
        let adaptive = settings.adaptive?;
        let Some(Pace::Rate { rate, .. }) = settings.pace else { return None };
        if rate.count == 0 {
            return None;
        }
        let ceiling = per_1000s(rate.count, rate.per_ms);
        let floor = per_1000s(adaptive.min.count, adaptive.min.per_ms).min(ceiling);
        Some((adaptive, floor, ceiling))
    }

    pub(super) fn weigh(&mut self, figures: &[u64]) {
        if figures.is_empty() || self.steered().is_none() {
            return;
        }
        let window = Window { began: 0, completed: 0, told: Vec::new() };
        self.steering.window.get_or_insert(window).told.push(figures.to_vec());
    }

    pub(super) fn adapted(&self) -> Option<Adapted> {
        self.steered()?;
        let Steering { rate, why, p95_ms, slow, errors, .. } = self.steering;
        Some(Adapted { rate: rate as u64, why, p95_ms, slow, errors })
    }

    /// Turns in 1,000 s where they are fewer than was set.
    pub(super) fn slowed(&self) -> Option<u64> {
        let (_, _, ceiling) = self.steered()?;
        Some(self.steering.rate as u64).filter(|rate| *rate < ceiling)
    }

    /// What so much time brings at that rate; what is less than a credit stays for the next time.
    pub(super) fn slowed_credits(&mut self, slowed: u64, cost: u64, advance: u64) -> u64 {
        let all = slowed * cost * advance + self.steering.millionths;
        self.steering.millionths = all % 1_000_000;
        all / 1_000_000
    }

    pub(super) fn adapt(&mut self) {
        let Some((adaptive, floor, ceiling)) = self.steered() else {
            self.steering.window = None;
            return;
        };
        let (clock, completed) = (self.counts.clock_ms, self.counts.completed);
        let (floor, ceiling) = (floor as i64, ceiling as i64);
        let stopped = matches!(self.steering.why, Why::Failing | Why::Silent);
        self.steering.base = self.steering.base.clamp(floor, ceiling);
        if !stopped {
            self.steering.rate = self.steering.rate.clamp(floor, ceiling);
        }
        let fresh = Window { began: clock, completed, told: Vec::new() };
        let window = self.steering.window.take().filter(|window| window.began > 0);
        let window = window.unwrap_or(fresh.clone());
        let lasted = clock - window.began;
        let judged = window.sum(FAST) + window.sum(SLOW);
        let some = judged.max(window.sum(ANSWERS));
        let thin = !stopped && some > 0 && some < 5;
        self.note("a window stayed open for want of requests", u64::from(thin && lasted >= 5_000));
        let over = match adaptive.signal {
            _ if thin => lasted >= 20_000,
            Signal::Completions => lasted >= 2_000,
            Signal::Latency => lasted >= 5_000 || (lasted >= 1_000 && judged >= 20),
        };
        if !over {
            self.steering.window = Some(window);
            return;
        }
        let done = completed.saturating_sub(window.completed) * 1_000_000 / lasted;
        let part = lasted.min(16_000);
        self.steering.done = ((16_000 - part) * self.steering.done + part * done) / 16_000;
        let empty = judged + window.sum(ANSWERS) == 0;
        if !empty {
            self.measure(&window, adaptive.target_ms);
        }
        let Steering { slow, errors, .. } = self.steering;
        let well = empty || slow <= 50 && errors <= adaptive.max_errors;
        match self.collapsed(&window, &adaptive).filter(|_| !empty) {
            Some(why) => {
                let steering = &mut self.steering;
                if steering.base > floor {
                    steering.too_much = steering.too_much.max(Some(steering.base));
                }
                (steering.base, steering.rate, steering.why) = (floor, 0, why);
                self.note("the origin failed", u64::from(why == Why::Failing));
                self.note("the origin was silent", u64::from(why == Why::Silent));
            }
            None if stopped => {
                let steering = &mut self.steering;
                (steering.base, steering.rate) = (floor, floor);
                (steering.level, steering.slow_windows) = (None, 0);
                steering.why = Why::Starting;
                self.note("an origin that had failed is tried again", 1);
                self.note("an origin that is not well is tried again", u64::from(!well));
            }
            None if adaptive.signal == Signal::Completions => {
                let (part, floored) = if well { (1_250, floor) } else { (750, 0) };
                let follows = self.steering.done * part / adaptive.completes;
                let rate = (floored + follows as i64).clamp(floor, ceiling);
                (self.steering.base, self.steering.rate) = (rate, rate);
                self.steering.why = Why::Following;
                self.note("the rate followed completions", u64::from(follows > 0));
            }
            None if !empty => self.follow(&adaptive, lasted.min(5_000) as i64, floor, ceiling),
            None => {}
        }
        self.steering.window = Some(fresh);
    }

    fn measure(&mut self, window: &Window, target_ms: u64) {
        let steering = &mut self.steering;
        steering.slow = thousandths(window.sum(SLOW), window.sum(FAST) + window.sum(SLOW));
        steering.errors = thousandths(window.sum(ERRORS), window.sum(ANSWERS));
        steering.p95_ms = window.p95_ms();
        if steering.slow > 50 && steering.p95_ms <= target_ms {
            steering.p95_ms = target_ms + 1;
        }
        if steering.slow <= 50 && steering.p95_ms > target_ms {
            steering.p95_ms = target_ms;
        }
        steering.slow_windows = if steering.slow >= 900 { steering.slow_windows + 1 } else { 0 };
    }

    fn collapsed(&self, window: &Window, adaptive: &Adaptive) -> Option<Why> {
        let (answers, slow) = (window.sum(ANSWERS), window.sum(SLOW));
        let Steering { errors, slow_windows, why, .. } = self.steering;
        let least = if matches!(why, Why::Failing | Why::Silent) { 1 } else { 5 };
        if answers >= least && errors >= 500 && errors > adaptive.max_errors {
            return Some(Why::Failing);
        }
        let silent = slow >= least && answers * 4 < slow || (15..30).contains(&slow_windows);
        silent.then_some(Why::Silent)
    }

    /// The law of latency.
    fn follow(&mut self, adaptive: &Adaptive, span: i64, floor: i64, ceiling: i64) {
        let waiting = self.tally().0 > 0;
        let holds_up = match self.settings().mode {
            _ if self.counts.paused => false,
            Mode::Auto | Mode::Drain => waiting && self.seats_free() > 0,
            Mode::Shadow => self.shadow.as_ref().is_some_and(|shadow| {
                let seats = self.settings().seats();
                !shadow.waiting.is_empty() && seats.is_none_or(|seats| shadow.inside < seats)
            }),
            _ => false,
        };
        let shadowed = holds_up && self.is_shadow();
        self.note("a shadow was held up by its rate", u64::from(shadowed));
        let steering = &mut self.steering;
        let slow = steering.slow as i64;
        let correction = 3 * (slow - 50).abs() * span / 50 * (slow - 50).signum();
        steering.aim = (steering.aim - correction).clamp(500_000, 1_000_000);

        let mut latency = steering.p95_ms as i64 * 1_000 / adaptive.target_ms as i64;
        if slow > 50 {
            latency = latency.max(1_000 + (slow - 50) * 2_000 / 950);
        }
        latency = latency.min(3_000) * 1_000_000 / steering.aim;
        let errors = steering.errors as i64 * 1_000 / adaptive.max_errors as i64;
        let now = latency.max(errors).min(3_000);
        let last = steering.level.filter(|level| *level > 0).unwrap_or(now);
        let level = (last + now) / 2;
        let ahead = (level + 2 * (level - last)).max(0);
        steering.level = Some(level);

        let before = steering.base;
        let close = |rate: i64| rate > 0 && before * 10 >= rate * 8;
        let (near, mut overrun) = (steering.too_much.is_some_and(close), 0);
        if level > 1_000 {
            if steering.clean_windows > 3 && before > floor {
                if !near {
                    steering.base = (before * 3 / 4).max(floor);
                }
                steering.too_much = Some(steering.base);
                overrun = u64::from(!near);
            }
            steering.clean_windows = 0;
            let over = (level - 1_000).min(1_000);
            steering.base -= steering.base * 60 * over / 1_000 * span / 1_000_000;
        } else {
            steering.clean_windows += 1;
            if let Some(rate) = steering.too_much.as_mut().filter(|rate| **rate > 0) {
                if steering.clean_windows > 10 {
                    *rate += (*rate / 100).max(1);
                }
                if *rate > ceiling {
                    steering.too_much = None;
                }
            }
            if holds_up && ahead < 1_000 {
                let near = steering.too_much.is_some_and(close);
                let growth = if near { 20 } else { 150 };
                let room = (2 * (1_000 - ahead)).min(1_000);
                let more = before * growth * room / 1_000 * span / 1_000_000;
                steering.base += more.max(1);
            }
        }
        steering.base = steering.base.clamp(floor, ceiling);
        let cut = (ahead - 1_000).clamp(0, 2_000) / 2;
        steering.rate = (steering.base * (1_000 - cut) / 1_000).max(floor);
        steering.why = match level > 1_000 {
            true if errors >= latency => Why::Errors,
            true => Why::Slow,
            false if steering.base > before => Why::Growing,
            false => Why::Steady,
        };
        let why = steering.why;
        self.note("the rate grew too far", overrun);
        self.note("the rate fell", u64::from(why == Why::Slow));
        self.note("the rate fell by errors", u64::from(why == Why::Errors));
        self.note("the rate grew", u64::from(why == Why::Growing));
    }
}
