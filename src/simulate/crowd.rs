//! Who comes, when, and how they behave. Pure: every trait is drawn from the seed and the visitor's index.
//!
//! Owns the description of a crowd. Knows nothing of lines. Visitors are numbered in the order of their arrival, so
//! that whoever has the lower index came first.

use serde::{Deserialize, Serialize};

use super::random::{Chance, What};

/// When they come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// All within a second.
    Once,
    /// A rush that fades: two in three within the first fifth of the time.
    Flash,
    /// As many in every second.
    Even,
    /// A sale's evening: some come early, more and more of them; the doors open after a fifth of the time, and most come within
    /// a tenth of it; the rest trickle in.
    Evening,
}

/// A crowd, described.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Crowd {
    /// How many.
    pub visitors: u32,
    /// When they come.
    pub arrive: Shape,
    /// From the first to the last.
    pub arrive_over_ms: u64,
    /// Half of them give up before this, half later, one in six before half of it; `None`: nobody ever does.
    pub patience_ms: Option<u64>,
    /// The share of people who do not come in when their turn comes.
    pub no_shows: f64,
    /// The share that takes a place and is never heard of again.
    pub bots: f64,
    /// The share of people whose phone sleeps once while they wait, as long as a heartbeat timeout in the mean: most return within
    /// it, the others after it.
    pub sleepers: f64,
    /// How long people stay inside, in the mean.
    pub stay_ms: u64,
}

/// Deviation of the logarithm of patience: one in six has less than half of the median, one in six more than twice.
const PATIENCE_SPREAD: f64 = 0.72;
/// A phone falls asleep so long after its visitor came, in the mean.
const SLEEP_AFTER_MS: f64 = 600_000.0;
/// One in four of those who give up says so; the others close the page.
const SAYS_SO: f64 = 0.25;
/// Three in four tell the origin that they are done, by buying or by leaving; the others fall silent.
const COMPLETES: f64 = 0.75;
/// Near the front a page asks every 2 s; then it has to be loaded.
const NOTICE_MS: (f64, f64) = (300.0, 2_600.0);
/// No run is longer: a visitor's times are kept in 32 bits.
pub(super) const NEVER: u32 = u32::MAX;

/// One run's crowd.
#[derive(Clone, Debug)]
pub(super) struct Traits {
    crowd: Crowd,
    chance: Chance,
    timeout_ms: f64,
}

impl Traits {
    pub(super) fn new(crowd: Crowd, seed: u64, heartbeat_timeout_ms: u64) -> Traits {
        Traits { crowd, chance: Chance::new(seed), timeout_ms: heartbeat_timeout_ms as f64 }
    }

    /// When somebody comes: later than everybody before them.
    pub(super) fn arrives_ms(&self, visitor: u32) -> u32 {
        let share = f64::from(visitor) + self.chance.unit(What::Arrival, u64::from(visitor));
        let part = quantile(self.crowd.arrive, share / f64::from(self.crowd.visitors));
        let over_ms = match self.crowd.arrive {
            Shape::Once => 1_000.0,
            _ => self.crowd.arrive_over_ms as f64,
        };
        (part * over_ms) as u32
    }

    pub(super) fn is_bot(&self, visitor: u32) -> bool {
        self.chance.holds(What::Kind, visitor.into(), self.crowd.bots)
    }

    /// Whether they let their turn go by.
    pub(super) fn is_no_show(&self, visitor: u32) -> bool {
        self.chance.holds(What::NoShow, visitor.into(), self.crowd.no_shows)
    }

    /// Until when they wait.
    pub(super) fn gone_ms(&self, visitor: u32, arrived_ms: u32) -> u32 {
        if self.is_bot(visitor) {
            return arrived_ms;
        }
        let Some(median) = self.crowd.patience_ms else { return NEVER };
        let deviate = self.chance.normal(What::Patience, What::PatienceToo, visitor.into());
        let patience = median as f64 * (PATIENCE_SPREAD * deviate).exp();
        (f64::from(arrived_ms) + patience).min(f64::from(NEVER)) as u32
    }

    /// Whether somebody who gives up says so.
    pub(super) fn says_so(&self, visitor: u32) -> bool {
        !self.is_bot(visitor) && self.chance.holds(What::Says, visitor.into(), SAYS_SO)
    }

    /// From when to when their phone sleeps.
    pub(super) fn sleep_ms(&self, visitor: u32, arrived_ms: u32) -> Option<(u32, u32)> {
        let whose = visitor.into();
        if !self.chance.holds(What::Sleeper, whose, self.crowd.sleepers) {
            return None;
        }
        let after = self.chance.exponential(What::SleepAt, whose, SLEEP_AFTER_MS);
        let length = self.chance.exponential(What::SleepFor, whose, self.timeout_ms);
        let from = f64::from(arrived_ms) + after;
        let cut = |ms: f64| ms.min(f64::from(NEVER)) as u32;
        Some((cut(from), cut(from + length)))
    }

    /// How long it takes somebody to notice that it is their turn, and to come.
    pub(super) fn notice_ms(&self, visitor: u32) -> u32 {
        let (low, high) = NOTICE_MS;
        (low + (high - low) * self.chance.unit(What::Notice, visitor.into())) as u32
    }

    /// How long they stay.
    pub(super) fn stay_ms(&self, visitor: u32) -> u32 {
        let mean = self.crowd.stay_ms as f64;
        self.chance.exponential(What::Stay, visitor.into(), mean).min(f64::from(NEVER)) as u32
    }

    pub(super) fn completes(&self, visitor: u32) -> bool {
        self.chance.holds(What::Completes, visitor.into(), COMPLETES)
    }

    /// Any of so many nodes: another one at another moment, as balancers have it.
    pub(super) fn node(&self, visitor: u32, moment: u64, nodes: usize) -> usize {
        let whose = u64::from(visitor) ^ moment.rotate_left(32);
        (self.chance.number(What::Node, whose) % nodes as u64) as usize
    }
}

/// Which part of the time has gone by when this share has come.
fn quantile(shape: Shape, share: f64) -> f64 {
    match shape {
        Shape::Once | Shape::Even => share,
        // A rush that halves every seventh of the time, cut off at its end.
        Shape::Flash => {
            const DECAY: f64 = 5.0;
            -(1.0 - share * (1.0 - (-DECAY).exp())).ln() / DECAY
        }
        Shape::Evening => {
            const OPENS: f64 = 0.2;
            const EARLY: f64 = 0.15;
            const RUSH: f64 = 0.55;
            match share {
                early if early < EARLY => OPENS * (early / EARLY).sqrt(),
                rush if rush < EARLY + RUSH => OPENS + 0.1 * (rush - EARLY) / RUSH,
                late => 0.3 + 0.7 * (late - EARLY - RUSH) / (1.0 - EARLY - RUSH),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traits(arrive: Shape) -> Traits {
        let crowd = Crowd {
            visitors: 10_000,
            arrive,
            arrive_over_ms: 600_000,
            patience_ms: Some(3_600_000),
            no_shows: 0.3,
            bots: 0.1,
            sleepers: 0.2,
            stay_ms: 60_000,
        };
        Traits::new(crowd, 1, 150_000)
    }

    #[test]
    fn they_come_in_order_within_the_time_and_in_the_shape() {
        for (shape, first_fifth) in
            [(Shape::Once, 1.0), (Shape::Even, 0.2), (Shape::Flash, 0.636), (Shape::Evening, 0.15)]
        {
            let traits = traits(shape);
            let times: Vec<u32> = (0..10_000).map(|visitor| traits.arrives_ms(visitor)).collect();
            assert!(times.is_sorted(), "{shape:?}");
            assert!(times.iter().all(|ms| *ms <= 600_000), "{shape:?}");
            let early = times.iter().filter(|ms| **ms < 120_000).count() as f64 / 10_000.0;
            assert!((early - first_fifth).abs() < 0.01, "{shape:?}: {early}");
        }
    }

    #[test]
    fn patience_is_as_described() {
        let traits = traits(Shape::Even);
        let mut waits: Vec<u32> = (0..10_000)
            .filter(|visitor| !traits.is_bot(*visitor))
            .map(|visitor| traits.gone_ms(visitor, 0))
            .collect();
        waits.sort_unstable();
        let at = |share: f64| f64::from(waits[(waits.len() as f64 * share) as usize]) / 3_600_000.0;
        assert!((at(0.5) - 1.0).abs() < 0.05, "{}", at(0.5));
        assert!((at(1.0 / 6.0) - 0.5).abs() < 0.03, "{}", at(1.0 / 6.0));
        assert!((8_700..=9_300).contains(&waits.len()), "the others are bots: {}", waits.len());
    }
}
