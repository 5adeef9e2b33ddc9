//! A map that forgets by itself, without a clock of its own and without walking its entries.
//!
//! Owns two generations: what is written goes into the young one, what is read may come from
//! either. When a generation is over, the young one becomes the old one and the old one is dropped
//! whole. So an entry lives for one to two lifetimes after its last write, and forgetting a million
//! of them is one step.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound(
    serialize = "K: Serialize + Ord, V: Serialize",
    deserialize = "K: Deserialize<'de> + Ord, V: Deserialize<'de>"
))]
pub(super) struct Aging<K, V> {
    young: BTreeMap<K, V>,
    old: BTreeMap<K, V>,
    /// When the young generation began.
    since_ms: u64,
}

impl<K: Ord, V> Default for Aging<K, V> {
    fn default() -> Self {
        Aging { young: BTreeMap::new(), old: BTreeMap::new(), since_ms: 0 }
    }
}

impl<K: Ord, V> Aging<K, V> {
    pub(super) fn get(&self, key: &K) -> Option<&V> {
        self.young.get(key).or_else(|| self.old.get(key))
    }

    pub(super) fn put(&mut self, key: K, value: V) {
        self.old.remove(&key);
        self.young.insert(key, value);
    }

    pub(super) fn len(&self) -> usize {
        self.young.len() + self.old.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.young.iter().chain(&self.old)
    }

    /// Starts a generation if the last one began `lifetime_ms` ago or more.
    pub(super) fn age(&mut self, now_ms: u64, lifetime_ms: u64) {
        if now_ms.saturating_sub(self.since_ms) >= lifetime_ms {
            self.old = std::mem::take(&mut self.young);
            self.since_ms = now_ms;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_lives_for_one_to_two_lifetimes() {
        let mut map = Aging::default();
        map.age(1_000, 100);
        map.put("early", 1);
        map.age(1_099, 100);
        map.put("late", 2);
        map.age(1_100, 100);
        assert_eq!((map.get(&"early"), map.get(&"late")), (Some(&1), Some(&2)));
        map.put("late", 3);
        map.age(1_200, 100);
        assert_eq!((map.get(&"early"), map.get(&"late")), (None, Some(&3)));
    }
}
