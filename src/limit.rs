//! How often one and the same may do something, counted on this node.
//!
//! Owns the counting of requests and joins by address and by ticket, in bounded memory. Knows nothing of HTTP. What
//! must hold over all nodes is counted by the line; this is the cheap first sieve.
//!
//! A window slides: what was done in the last whole window counts in proportion to how much of it still lies
//! within the time looked back on. So nobody does twice as much around the turn of a window.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::sync::{Mutex, PoisonError};

use crate::line::Key;

/// At most `max` in any `per_ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// How many.
    pub max: u64,
    /// In this many milliseconds.
    pub per_ms: u64,
}

/// Locks, so that threads seldom meet.
const SHARDS: usize = 16;
/// Keys a lock and window: 16 x 131,072 keys of about 50 bytes are 100 MB at worst, and two million addresses a minute.
const MAX_KEYS: usize = 131_072;

/// What becomes of whoever comes when all places for counting are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crowded {
    /// Counted together with all others that found no place, so that a flood of addresses is limited as one.
    Together,
    /// Not counted: a signed number is nobody's flood.
    Free,
}

/// A count for each key. Without an allowance everything is allowed.
pub struct Limiter {
    allowance: Option<Allowance>,
    crowded: Crowded,
    hasher: RandomState,
    shards: Vec<Mutex<Shard>>,
}

#[derive(Default)]
struct Shard {
    /// The window `now` is of, by its number.
    window: u64,
    now: HashMap<Key, u32>,
    before: HashMap<Key, u32>,
}

impl Limiter {
    /// With an allowance, or without any limit.
    pub fn new(allowance: Option<Allowance>, crowded: Crowded) -> Limiter {
        let shards = allowance.map_or(0, |_| SHARDS);
        Limiter {
            allowance,
            crowded,
            hasher: RandomState::new(),
            shards: (0..shards).map(|_| Mutex::default()).collect(),
        }
    }

    /// Counts one more, if it is allowed: the share of the allowance that is used up now, in 0..=1.
    ///
    /// # Errors
    /// After how many milliseconds the next one would be.
    pub fn take(&self, key: Key, now_ms: u64) -> Result<f64, u64> {
        let Some(Allowance { max, per_ms }) = self.allowance else { return Ok(0.0) };
        let shard = &self.shards[self.hasher.hash_one(key) as usize % SHARDS];
        let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
        shard.turn(now_ms / per_ms);
        let key = match (shard.has_place(&key), self.crowded) {
            (true, _) => key,
            (false, Crowded::Together) => Key::default(),
            (false, Crowded::Free) => return Ok(0.0),
        };
        let before = u64::from(shard.before.get(&key).copied().unwrap_or(0));
        let now = u64::from(shard.now.get(&key).copied().unwrap_or(0));
        let elapsed = now_ms % per_ms;
        // Exact in whole numbers: before · (per − elapsed) / per + now + 1 ≤ max.
        let used = before * (per_ms - elapsed) + (now + 1) * per_ms;
        if used > max * per_ms {
            return Err(retry(before, now, elapsed, max, per_ms));
        }
        *shard.now.entry(key).or_default() += 1;
        Ok(used as f64 / (max * per_ms) as f64)
    }
}

/// When there is room for one more, if nobody else asks: in this window as the last one fades, else in the next
/// as this one does.
fn retry(before: u64, now: u64, elapsed: u64, max: u64, per_ms: u64) -> u64 {
    if now < max && before > 0 {
        // before · (per − t) ≤ (max − now − 1) · per
        let faded = per_ms - (max - now - 1) * per_ms / before;
        return faded.saturating_sub(elapsed).max(1);
    }
    let faded = per_ms - (max - 1) * per_ms / now.max(1);
    per_ms - elapsed + faded
}

impl Shard {
    fn turn(&mut self, window: u64) {
        if window == self.window {
            return;
        }
        // A clock that steps back a little stays in the window it was in.
        if window < self.window && self.window - window < 2 {
            return;
        }
        self.before = match window == self.window + 1 {
            true => std::mem::take(&mut self.now),
            false => HashMap::new(),
        };
        self.now.clear();
        self.window = window;
    }

    fn has_place(&self, key: &Key) -> bool {
        self.now.len() < MAX_KEYS || self.now.contains_key(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limiter(max: u64) -> Limiter {
        Limiter::new(Some(Allowance { max, per_ms: 60_000 }), Crowded::Together)
    }

    #[test]
    fn as_many_as_allowed_and_then_after_the_time_it_says() {
        let limiter = limiter(5);
        for used in 1..=5 {
            assert_eq!(limiter.take([1; 16], 600_000), Ok(f64::from(used) / 5.0));
        }
        let wait = limiter.take([1; 16], 610_000).unwrap_err();
        assert!(limiter.take([2; 16], 610_000).is_ok(), "others are not meant");
        assert!(limiter.take([1; 16], 610_000 + wait - 1).is_err());
        assert!(limiter.take([1; 16], 610_000 + wait).is_ok());
    }

    #[test]
    fn never_twice_as_many_around_the_turn_of_a_window() {
        let limiter = limiter(60);
        let done = (0..240).filter(|n| limiter.take([7; 16], 600_000 + 30_000 + n * 500).is_ok());
        let times: Vec<u64> = done.collect();
        for (first, start) in times.iter().enumerate() {
            let within = times[first..].iter().take_while(|time| (*time - start) * 500 < 60_000);
            assert!(within.count() <= 90, "{times:?}");
        }
    }

    #[test]
    fn a_flood_of_keys_costs_bounded_memory_and_is_limited_as_one() {
        let limiter = limiter(100);
        let key = |n: u64| {
            let mut key = [9; 16];
            key[..8].copy_from_slice(&n.to_be_bytes());
            key
        };
        let refused = (0..3_000_000).filter(|n| limiter.take(key(*n), 600_000).is_err()).count();
        assert!(refused > 800_000, "{refused}");
        let kept: usize = limiter.shards.iter().map(|s| s.lock().unwrap().now.len()).sum();
        assert!(kept <= SHARDS * (MAX_KEYS + 1), "{kept}");
    }

    #[test]
    fn a_crowd_of_signed_numbers_is_never_refused_for_being_one() {
        let allowance = Allowance { max: 1, per_ms: 60_000 };
        let limiter = Limiter::new(Some(allowance), Crowded::Free);
        let key = |n: u64| [n.to_be_bytes(), [0; 8]].concat().try_into().unwrap();
        assert!((0..3_000_000).all(|n| limiter.take(key(n), 600_000).is_ok()));
        assert!(limiter.take(key(0), 600_000).is_err(), "who has a place is counted");
    }

    #[test]
    fn no_allowance_is_no_limit() {
        let limiter = Limiter::new(None, Crowded::Free);
        assert!((0..1_000).all(|_| limiter.take([1; 16], 0) == Ok(0.0)));
    }
}
