//! A seal: the proof that something came from this installation, and was not changed since.
//!
//! Owns no form: what is sealed, and how it is written, is whoever's that asks. Its parts must be such that two
//! different ones never run into the same bytes.

use base64::Engine as _;
use hmac::Mac as _;

use super::base64url::B64;
use super::key::HmacSha256;

/// Keys that seal, prepared. The first seals, all verify.
#[derive(Clone)]
pub struct Seal(Vec<HmacSha256>);

impl Seal {
    pub(super) fn new(keys: impl Iterator<Item = HmacSha256>) -> Seal {
        Seal(keys.collect())
    }

    /// The seal of these parts, one after the other: 43 characters. `None`: there is no key.
    #[must_use]
    pub fn of(&self, parts: &[&[u8]]) -> Option<String> {
        let mac = over(self.0.first()?, parts);
        Some(B64.encode(mac.finalize().into_bytes()))
    }

    /// Whether it is theirs, in a time that does not tell how much of it is right.
    #[must_use]
    pub fn verifies(&self, parts: &[&[u8]], seal: &str) -> bool {
        let Ok(seal) = B64.decode(seal) else { return false };
        self.0.iter().any(|key| over(key, parts).verify_slice(&seal).is_ok())
    }
}

fn over(key: &HmacSha256, parts: &[&[u8]]) -> HmacSha256 {
    let mut mac = key.clone();
    parts.iter().for_each(|part| mac.update(part));
    mac
}

#[cfg(test)]
mod tests {
    use crate::token::{Key, KeyRing, Secret};

    fn ring(ids: &[&str]) -> KeyRing {
        let key = |id: &&str| {
            let secret = Secret::new(&id.repeat(40)).expect("long enough");
            Key::new(id, secret).expect("an id")
        };
        KeyRing::new(ids.iter().map(key).collect(), Vec::new()).expect("a ring")
    }

    #[test]
    fn a_seal_holds_for_its_parts_and_as_long_as_its_key_is_in_the_ring() {
        let old = ring(&["a"]).sessions();
        let seal = old.of(&[b"one", b"two"]).expect("a key");
        assert_eq!(seal.len(), 43);
        assert!(old.verifies(&[b"one", b"two"], &seal));
        assert!(!old.verifies(&[b"one", b"tow"], &seal));
        assert!(ring(&["b", "a"]).sessions().verifies(&[b"one", b"two"], &seal));
        assert!(!ring(&["b"]).sessions().verifies(&[b"one", b"two"], &seal));
        for wrong in ["", "=", "é", &seal[1..], &format!("{seal}A")] {
            assert!(!old.verifies(&[b"one", b"two"], wrong), "{wrong}");
        }
    }
}
