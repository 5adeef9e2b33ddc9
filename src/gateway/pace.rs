//! How often a waiting page asks: rarely far from the front, often near it.
//!
//! Owns the arithmetic between a wait and a pause. Pure; there is no chance in it but what is made of numbers and moments.

use std::time::Duration;

use crate::room::NEAR;

/// Near the front a page asks this often: a turn is noticed soon, and a claim window is never wasted.
const SOONEST: Duration = Duration::from_secs(2);
/// Far from it, after this part of what is left: each answer is then a tenth nearer.
const PART: u32 = 10;
/// Two pages that came together must not ask together for ever.
const JITTER: f64 = 0.15;

/// What decides.
#[derive(Clone, Copy, Debug)]
pub struct Crowd {
    /// How many wait, before all rooms of this node.
    pub waiting: u64,
    /// How many of them are [`NEAR`] their turn.
    pub near: u64,
    /// What this node can answer.
    pub polls_per_second: u32,
    /// The longest pause that keeps a place.
    pub poll_max: Duration,
}

impl Crowd {
    /// The pause before the next poll of somebody whose turn is `eta` away. `chance` is in 0..1.
    ///
    /// The crowd shares the node's budget: with 100,000 waiting and 5,000 polls a second nobody far away asks
    /// more often than every 20 s. Those next in line are few as a rule, and get what they want before the others share the
    /// rest; at a thousand turns a second they are not, so together they never get more than half.
    pub fn pause(&self, eta: Option<Duration>, chance: f64) -> Duration {
        let wanted = eta.map_or(self.poll_max, |eta| (eta / PART).max(SOONEST));
        let budget = f64::from(self.polls_per_second.max(1));
        let near = self.near.min(self.waiting);
        let far = (self.waiting - near) as f64;
        let share = match eta.is_some_and(|eta| eta < NEAR) {
            true => near as f64 / (budget / 2.0),
            false => far / (budget - (near as f64 / SOONEST.as_secs_f64()).min(budget / 2.0)),
        };
        let spread = 1.0 + JITTER * (2.0 * chance - 1.0);
        // The spread goes downwards only at the top: above `poll_max` a place would be lost.
        let longest = self.poll_max.mul_f64(1.0 - JITTER * chance);
        wanted.max(Duration::from_secs_f64(share)).mul_f64(spread).min(longest)
    }
}

/// In 0..1, unlike for every number and moment: enough to keep pages from asking together.
pub fn chance(number: u64, now_ms: u64) -> f64 {
    let mixed = (number ^ now_ms.rotate_left(32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 40) as f64 / f64::from(1 << 24)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(waiting: u64, eta: u64, chance: f64) -> f64 {
        seconds_near(waiting, 10, eta, chance)
    }

    fn seconds_near(waiting: u64, near: u64, eta: u64, chance: f64) -> f64 {
        let poll_max = Duration::from_secs(30);
        let crowd = Crowd { waiting, near, polls_per_second: 5_000, poll_max };
        crowd.pause(Some(Duration::from_secs(eta)), chance).as_secs_f64()
    }

    #[test]
    fn rarely_far_away_and_often_near() {
        assert_eq!(seconds(10, 1, 0.5), 2.0);
        assert_eq!(seconds(10, 100, 0.5), 10.0);
        assert!(seconds(10, 100_000, 1.0) <= 30.0 && seconds(10, 100_000, 0.5) >= 25.0);
    }

    #[test]
    fn a_crowd_keeps_within_the_budget_and_a_place_is_kept() {
        assert!((seconds(100_000, 60, 0.5) - 20.0).abs() < 0.1);
        assert!(seconds(100_000_000, 3600, 0.0) <= 30.0);
        assert_eq!(seconds(100_000, 5, 0.5), 2.0, "the next in line are few");
    }
}
