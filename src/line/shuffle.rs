//! The order of a draw: a permutation that a seed decides, and anybody can check.
//!
//! Owns the arithmetic. A line never computes it; nodes do, one number at a time, and so do `anteroom draw verify` and the page
//! on which visitors check their place. Nothing is stored, whoever many were drawn.
//!
//! `index` is who, from 0 in the order of arrival; the permutation says which place, from 0. Both leave out whoever was not drawn, and
//! whoever has a place of their own, with that place: [`super::Drawn`]. It is a Feistel network
//! over as many bits as the count needs, at least 2, walked until the result is below the count:
//!
//! ```text
//!   bits = the least for which 2^bits >= count; high = bits / 2 (rounded down), low = bits - high
//!   x = index; repeat
//!     for round in 0 .. rounds       24 rounds below 12 bits, else 10
//!       even: the high part of x ^= F(round, the low part)
//!       odd:  the low part of x  ^= F(round, the high part)
//!   until x < count
//!   F(round, part) = the first 8 bytes of SHA-256(seed 32 bytes, round 1 byte, part 8 bytes), as a number; all
//!                    numbers big-endian; as many of its lowest bits as the other part has
//! ```
//! More rounds where there is little to mix: with 10 rounds two or three visitors would not be drawn evenly.

use sha2::{Digest as _, Sha256};

use super::draw::Seed;

/// What it is called, with what is said of the head of a line in the parent's documentation: who checks a draw made otherwise is
/// to notice.
pub const ALGORITHM: &str = "feistel-sha256-v2";

const ROUNDS: u8 = 10;
const ROUNDS_SMALL: u8 = 24;
/// Below so many bits.
const SMALL: u32 = 12;

/// A permutation of `0..count`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permutation {
    seed: Seed,
    count: u64,
    high: u32,
    low: u32,
    rounds: u8,
}

impl Permutation {
    /// The one that a seed decides.
    pub fn new(seed: Seed, count: u64) -> Permutation {
        let bits = (u64::BITS - count.saturating_sub(1).leading_zeros()).max(2);
        let (high, low) = (bits / 2, bits - bits / 2);
        let rounds = if bits < SMALL { ROUNDS_SMALL } else { ROUNDS };
        Permutation { seed, count, high, low, rounds }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The place of the `index`-th; both from 0 and below the count.
    pub fn place(&self, index: u64) -> u64 {
        self.walk(index, |x| (0..self.rounds).fold(x, |x, round| self.round(x, round)))
    }

    /// Whose place it is.
    pub fn index(&self, place: u64) -> u64 {
        self.walk(place, |x| (0..self.rounds).rev().fold(x, |x, round| self.round(x, round)))
    }

    fn walk(&self, from: u64, once: impl Fn(u64) -> u64) -> u64 {
        if from >= self.count {
            return from; // Of nobody: whoever asks has mistaken the range.
        }
        let mut x = once(from);
        while x >= self.count {
            x = once(x);
        }
        x
    }

    /// One round, which undoes itself.
    fn round(&self, x: u64, round: u8) -> u64 {
        let (high, low) = (x >> self.low, x & mask(self.low));
        match round.is_multiple_of(2) {
            true => x ^ (self.mixed(round, low) & mask(self.high)) << self.low,
            false => x ^ self.mixed(round, high) & mask(self.low),
        }
    }

    fn mixed(&self, round: u8, part: u64) -> u64 {
        let mut hash = Sha256::new();
        hash.update(self.seed);
        hash.update([round]);
        hash.update(part.to_be_bytes());
        hash.finalize()[..8].iter().fold(0, |all, byte| all << 8 | u64::from(*byte))
    }
}

fn mask(bits: u32) -> u64 {
    (1 << bits) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seed(nth: u64) -> Seed {
        Sha256::digest(nth.to_be_bytes()).into()
    }

    /// Numbers from another program: draws that were published must be checked for ever.
    #[test]
    fn it_is_what_it_was() {
        let seed: Seed = std::array::from_fn(|nth| nth as u8);
        let places: Vec<u64> = (0..8).map(|n| Permutation::new(seed, 8).place(n)).collect();
        assert_eq!(places, [5, 6, 3, 0, 7, 1, 2, 4]);
        assert_eq!(Permutation::new(seed, 1_000_000).place(123_456), 531_862);
    }

    #[test]
    fn everybody_gets_one_place_whatever_the_count() {
        for count in (1..=300).chain([1_023, 1_024, 1_025, 2_047, 3_000, 4_096, 4_097, 5_000]) {
            let draw = Permutation::new(seed(count), count);
            let mut taken = vec![false; count as usize];
            for index in 0..count {
                let place = draw.place(index);
                assert!(!taken[place as usize], "{count}: place {place} twice");
                taken[place as usize] = true;
                assert_eq!(draw.index(place), index, "{count}");
            }
        }
    }

    /// Chi-square of how often each index got each place, over many seeds.
    fn chi_square(count: u64, seeds: u64) -> f64 {
        let mut seen = vec![0_u64; (count * count) as usize];
        for nth in 0..seeds {
            let draw = Permutation::new(seed(nth * 1_000_003 + count), count);
            for index in 0..count {
                seen[(index * count + draw.place(index)) as usize] += 1;
            }
        }
        let expected = seeds as f64 / count as f64;
        seen.iter().map(|seen| (*seen as f64 - expected).powi(2) / expected).sum()
    }

    /// Within five standard deviations of what chance gives: (count - 1)^2 degrees of freedom. Seeds are fixed.
    #[test]
    fn every_place_is_as_likely_for_everybody() {
        for (count, seeds) in [(2, 20_000), (3, 12_000), (5, 8_000), (17, 4_000), (64, 1_500)] {
            let found = chi_square(count, seeds);
            let degrees = ((count - 1) * (count - 1)) as f64;
            let far = (found - degrees).abs() / (2.0 * degrees).sqrt();
            assert!(
                far < 5.0,
                "{count} drawn {seeds} times: chi-square {found}, {degrees} expected"
            );
        }
    }

    /// All orders of three and four are as likely, not only all places.
    #[test]
    fn every_order_is_as_likely() {
        for (count, orders) in [(3_u64, 6_usize), (4, 24)] {
            let mut seen = std::collections::BTreeMap::<Vec<u64>, u64>::new();
            let seeds = 12_000;
            for nth in 0..seeds {
                let draw = Permutation::new(seed(nth), count);
                *seen.entry((0..count).map(|index| draw.place(index)).collect()).or_default() += 1;
            }
            assert_eq!(seen.len(), orders);
            let expected = seeds as f64 / orders as f64;
            let far = |seen: &u64| (*seen as f64 - expected).powi(2) / expected;
            let found: f64 = seen.values().map(far).sum();
            let degrees = (orders - 1) as f64;
            assert!(found < degrees + 5.0 * (2.0 * degrees).sqrt(), "{count}: {found}");
        }
    }

    /// To have come early is no use: index and place are not related, in a crowd of any size.
    #[test]
    fn arriving_early_gives_nothing() {
        for (count, seeds) in [(10, 3_000), (1_000, 60), (50_000, 2)] {
            let middle = (count - 1) as f64 / 2.0;
            let (mut together, mut alone) = (0.0, 0.0);
            for nth in 0..seeds {
                let draw = Permutation::new(seed(nth + 77), count);
                for index in 0..count {
                    let place = draw.place(index);
                    together += (index as f64 - middle) * (place as f64 - middle);
                    alone += (index as f64 - middle).powi(2);
                }
            }
            let related = together / alone;
            let chance = 1.0 / ((count * seeds) as f64).sqrt();
            assert!(related.abs() < 5.0 * chance, "{count}: {related} where chance gives {chance}");
        }
    }
}
