//! How often one and the same may do something, counted on this node.
//!
//! Owns the counting of requests and joins by address and by ticket, in bounded memory. Knows nothing of HTTP. What
//! must hold over all nodes is counted by the line; this is the cheap first sieve, and all there is while the line can't be
//! asked.
//!
//! A window slides: what was done in the last whole window counts in proportion to how much of it still lies
//! within the time looked back on. So nobody does twice as much around the turn of a window.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, BuildHasherDefault, Hasher};
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
    shards: Vec<Mutex<Shard>>,
}

/// How often each key came.
type Counts = HashMap<Key, u32, Mixed>;

type Mixed = BuildHasherDefault<Mixer>;

/// 2^64 over the golden ratio: odd, and with no pattern in its bits.
const GOLDEN: u128 = 0x9E37_79B9_7F4A_7C15;

/// Spreads keys over a table. A key is a hash under a secret of the room's, or a number that somebody was given: nobody
/// can choose many that fall together, so mixing them well is enough.
#[derive(Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        for word in bytes.chunks(8) {
            let mut whole = [0; 8];
            whole[..word.len()].copy_from_slice(word);
            let product = u128::from(self.0 ^ u64::from_le_bytes(whole)) * GOLDEN;
            self.0 = (product >> 64) as u64 ^ product as u64;
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[derive(Default)]
struct Shard {
    /// The window `now` is of, by its number.
    window: u64,
    now: Counts,
    before: Counts,
}

impl Limiter {
    /// With an allowance, or without any limit.
    pub fn new(allowance: Option<Allowance>, crowded: Crowded) -> Limiter {
        let shards = allowance.map_or(0, |_| SHARDS);
        Limiter { allowance, crowded, shards: (0..shards).map(|_| Mutex::default()).collect() }
    }

    /// What it allows; `None`: everything.
    pub fn allowance(&self) -> Option<Allowance> {
        self.allowance
    }

    /// Counts one more, if it is allowed: the share of the allowance that is used up now, in 0..=1.
    ///
    /// # Errors
    /// After how many milliseconds the next one would be.
    pub fn take(&self, key: Key, now_ms: u64) -> Result<f64, u64> {
        self.judge(key, now_ms, true)
    }

    /// Whether one more would be allowed, without counting it.
    ///
    /// # Errors
    /// After how many milliseconds it would be.
    pub fn check(&self, key: Key, now_ms: u64) -> Result<(), u64> {
        self.judge(key, now_ms, false).map(|_| ())
    }

    fn judge(&self, key: Key, now_ms: u64, count: bool) -> Result<f64, u64> {
        let Some(Allowance { max, per_ms }) = self.allowance else { return Ok(0.0) };
        // By bits that the tables within make no use of: those take the highest and the lowest.
        let shard = &self.shards[(Mixed::default().hash_one(key) >> 32) as usize % SHARDS];
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
        if count {
            *shard.now.entry(key).or_default() += 1;
        }
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
            false => Counts::default(),
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
    fn asking_whether_it_is_allowed_counts_nothing() {
        let limiter = limiter(1);
        for _ in 0..5 {
            assert_eq!(limiter.check([1; 16], 600_000), Ok(()));
        }
        assert!(limiter.take([1; 16], 600_000).is_ok());
        assert_eq!(limiter.check([1; 16], 600_000), limiter.take([1; 16], 600_000).map(|_| ()));
        assert!(limiter.check([1; 16], 600_000).is_err());
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
