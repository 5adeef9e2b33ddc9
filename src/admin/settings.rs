//! What an operator may set about the operators' port, as plain values.
//!
//! Owns roles, and what is kept of a key: its hash. Never parses a file; never holds a key itself.

use std::fmt;

use sha2::{Digest as _, Sha256};

/// Everything about the operators' port. Addresses count at the start; the rest may change while it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `127.0.0.1:9090`; `None`: there is no such port.
    pub listen: Option<String>,
    /// An address of its own for `/metrics` and `/health`.
    pub metrics_listen: Option<String>,
    /// Who may ask.
    pub keys: Vec<Key>,
    /// Whether `/metrics` is for everybody who reaches the port.
    pub metrics_public: bool,
}

/// Who may ask, and for what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The log names whoever uses it so.
    pub name: String,
    /// What is kept of it.
    pub hash: Hash,
    /// What it is good for.
    pub role: Role,
    /// Whose rooms; `None`: everybody's.
    pub tenant: Option<String>,
}

/// What somebody may do. Each may do what those before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Looks.
    Viewer,
    /// Acts on rooms: pauses, releases, revokes.
    Operator,
    /// Everything: resets rooms, reloads the configuration.
    Admin,
}

impl Role {
    /// As they are written.
    pub const WORDS: [(&'static str, Role); 3] =
        [("viewer", Role::Viewer), ("operator", Role::Operator), ("admin", Role::Admin)];

    /// `operator`.
    pub fn name(self) -> &'static str {
        match self {
            Role::Viewer => "viewer",
            Role::Operator => "operator",
            Role::Admin => "admin",
        }
    }
}

/// SHA-256 of a key's text. A plain hash is enough, where a password would need a slow and salted one: a key of
/// `anteroom keygen --admin` is 32 random bytes, which nobody finds by trying, however fast they try.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Hash([u8; 32]);

impl Hash {
    /// Of a key.
    pub fn of(key: &[u8]) -> Hash {
        Hash(Sha256::digest(key).into())
    }

    /// From 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Hash> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        let mut hash = [0; 32];
        for (byte, pair) in hash.iter_mut().zip(digits.chunks(2)) {
            let high = char::from(pair[0]).to_digit(16)?;
            let low = char::from(pair[1]).to_digit(16)?;
            *byte = u8::try_from(high << 4 | low).ok()?;
        }
        Some(Hash(hash))
    }

    /// Its bytes, for whoever seals something with it.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Whether two are the same, in a time that does not tell how much of them is.
    pub fn matches(&self, other: &Hash) -> bool {
        let different = self.0.iter().zip(&other.0).fold(0, |all, (one, two)| all | (one ^ two));
        std::hint::black_box(different) == 0
    }
}

impl fmt::Display for Hash {
    /// 64 hexadecimal digits, as [`Hash::parse`] reads them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    /// Nothing of it: whoever chose a short key has it guessed from its hash.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hash(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_what_sha256sum_says() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Hash::of(b"abc").to_string(), abc);
        assert_eq!(Hash::parse(abc), Some(Hash::of(b"abc")));
        assert_eq!(Hash::parse(&abc.to_uppercase()), Some(Hash::of(b"abc")));
        for bad in ["", "abc", &abc[1..], &abc.replace('b', "g"), &"é".repeat(32)] {
            assert_eq!(Hash::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn one_bit_makes_another_hash() {
        let one = Hash::of(b"abc");
        assert!(one.matches(&Hash::of(b"abc")));
        for bit in 0..256 {
            let mut other = one;
            other.0[bit / 8] ^= 1 << (bit % 8);
            assert!(!one.matches(&other));
        }
    }

    #[test]
    fn each_role_may_do_what_those_before_it_may() {
        assert!(Role::Viewer < Role::Operator && Role::Operator < Role::Admin);
        assert!(Role::WORDS.iter().all(|(word, role)| *word == role.name()));
    }
}
