//! Chance that can be repeated: every draw is a function of the seed, of whom it is about and of what is drawn.
//!
//! So nothing depends on the order in which visitors are looked at, and nothing about them has to be kept that can be
//! drawn again.

/// What is drawn: another word, another chance.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    Arrival = 1,
    Kind,
    NoShow,
    Sleeper,
    SleepAt,
    SleepFor,
    Patience,
    PatienceToo,
    Stay,
    Completes,
    Notice,
    Node,
    Says,
    Fault,
}

/// Chances of one run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chance {
    seed: u64,
}

impl Chance {
    pub(super) fn new(seed: u64) -> Chance {
        Chance { seed: mix(seed) }
    }

    /// Any number, the same for the same question.
    pub(super) fn number(self, what: What, whose: u64) -> u64 {
        mix(self.seed ^ mix(whose.wrapping_mul(32) + what as u64))
    }

    /// In 0..1, and neither 0 nor 1: its logarithm is a number.
    pub(super) fn unit(self, what: What, whose: u64) -> f64 {
        ((self.number(what, whose) >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
    }

    /// Whether something holds that holds for so large a share.
    pub(super) fn holds(self, what: What, whose: u64, share: f64) -> bool {
        self.unit(what, whose) < share
    }

    /// A time with this mean, after which nothing is remembered.
    pub(super) fn exponential(self, what: What, whose: u64, mean: f64) -> f64 {
        -mean * self.unit(what, whose).ln()
    }

    /// A normal deviate.
    pub(super) fn normal(self, one: What, other: What, whose: u64) -> f64 {
        let radius = (-2.0 * self.unit(one, whose).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit(other, whose)).cos()
    }
}

/// SplitMix64's last step: every bit of the input moves every bit of the output.
fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_means_come_out_and_seeds_differ() {
        let (chance, n) = (Chance::new(7), 100_000_u64);
        let share =
            (0..n).filter(|v| chance.holds(What::NoShow, *v, 0.3)).count() as f64 / n as f64;
        assert!((share - 0.3).abs() < 0.01, "{share}");
        let mean = (0..n).map(|v| chance.exponential(What::Stay, v, 40.0)).sum::<f64>() / n as f64;
        assert!((mean - 40.0).abs() < 1.0, "{mean}");
        let normal = |v| chance.normal(What::Patience, What::PatienceToo, v);
        let spread = (0..n).map(|v| normal(v).powi(2)).sum::<f64>() / n as f64;
        assert!((spread - 1.0).abs() < 0.02, "{spread}");
        assert_ne!(chance.number(What::Node, 1), Chance::new(8).number(What::Node, 1));
        assert_ne!(chance.number(What::Node, 1), chance.number(What::Says, 1));
    }
}
