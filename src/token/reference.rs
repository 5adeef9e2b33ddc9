//! What a number is called where it proves nothing: in answers, logs, webhooks and operators' look-ups.
//!
//! Owns the names `q_…`: "q_" and twelve characters of base32, a permutation of 60 bits under a key of the room's, so that
//! a name tells nobody how many came before and no two numbers share one. Whoever has the key turns it back. It
//! is written into every answer to a poll, so it is cheap: four rounds of SipHash-2-4, not of HMAC.
//!
//! ```text
//!   60 bits   ┌ left 30 ┐┌ right 30 ┐      each round: (left, right) ← (right, left ⊕ F(key, epoch, round, right))
//!   q_ 0 1 2 3 4 5 6 7 8 9 a b             five bits a character, the highest first
//! ```
//! A key that is rotated changes the names, as it does nonces and visitor ids.

use hmac::Mac as _;

use super::claims::MAX_NUMBER;
use super::key::HmacSha256;

/// The letters and digits that people do not take for one another (Crockford's).
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const PREFIX: &[u8; 2] = b"q_";
/// Twelve characters of five bits.
const CHARACTERS: usize = 12;
const HALF: u32 = 30;
const MASK: u64 = (1 << HALF) - 1;
/// With as many a Feistel network is as good as random, if its rounds are (Luby and Rackoff).
const ROUNDS: u64 = 4;

/// The length of a name.
pub const REFERENCE: usize = PREFIX.len() + CHARACTERS;

/// The names of a room's numbers.
#[derive(Clone)]
pub(super) struct References {
    key: (u64, u64),
}

/// Shows nothing of the key.
impl std::fmt::Debug for References {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("References(…)")
    }
}

impl References {
    pub(super) fn new(mac: HmacSha256) -> Self {
        let bytes = mac.finalize().into_bytes();
        let word =
            |at: usize| bytes[at..at + 8].iter().fold(0, |word, b| word << 8 | u64::from(*b));
        Self { key: (word(0), word(8)) }
    }

    pub(super) fn of(&self, epoch: u64, num: u64) -> [u8; REFERENCE] {
        let (mut left, mut right) = (num >> HALF & MASK, num & MASK);
        for round in 0..ROUNDS {
            (left, right) = (right, left ^ self.mix(epoch, round, right));
        }
        let bits = left << HALF | right;
        let mut text = [0; REFERENCE];
        text[..PREFIX.len()].copy_from_slice(PREFIX);
        for (nth, character) in text[PREFIX.len()..].iter_mut().enumerate() {
            *character = ALPHABET[(bits >> (5 * (CHARACTERS - 1 - nth)) & 31) as usize];
        }
        text
    }

    /// Back again. `None`: no name of a number; of numbers there are 2^53, so 127 of 128 mistyped ones are noticed.
    pub(super) fn number(&self, epoch: u64, text: &str) -> Option<u64> {
        let characters = text.as_bytes().strip_prefix(PREFIX)?;
        if characters.len() != CHARACTERS {
            return None;
        }
        let mut bits = 0;
        for character in characters {
            let read = match character.to_ascii_lowercase() {
                b'o' => b'0',
                b'i' | b'l' => b'1',
                other => other,
            };
            let value = ALPHABET.iter().position(|known| *known == read)?;
            bits = bits << 5 | value as u64;
        }
        let (mut left, mut right) = (bits >> HALF, bits & MASK);
        for round in (0..ROUNDS).rev() {
            (left, right) = (right ^ self.mix(epoch, round, left), left);
        }
        let num = left << HALF | right;
        (num <= MAX_NUMBER).then_some(num)
    }

    fn mix(&self, epoch: u64, round: u64, half: u64) -> u64 {
        siphash(self.key, [epoch, round << HALF | half]) & MASK
    }
}

/// SipHash-2-4 of two words.
fn siphash((k0, k1): (u64, u64), words: [u64; 2]) -> u64 {
    let mut v = [
        k0 ^ 0x736f_6d65_7073_6575,
        k1 ^ 0x646f_7261_6e64_6f6d,
        k0 ^ 0x6c79_6765_6e65_7261,
        k1 ^ 0x7465_6462_7974_6573,
    ];
    // The last block is the length, 16 bytes, in its highest byte.
    for word in [words[0], words[1], 16 << 56] {
        v[3] ^= word;
        rounds(&mut v, 2);
        v[0] ^= word;
    }
    v[2] ^= 0xff;
    rounds(&mut v, 4);
    v[0] ^ v[1] ^ v[2] ^ v[3]
}

fn rounds(v: &mut [u64; 4], count: usize) {
    let [mut a, mut b, mut c, mut d] = *v;
    for _ in 0..count {
        a = a.wrapping_add(b);
        c = c.wrapping_add(d);
        b = b.rotate_left(13) ^ a;
        d = d.rotate_left(16) ^ c;
        a = a.rotate_left(32).wrapping_add(d);
        c = c.wrapping_add(b);
        b = b.rotate_left(17) ^ c;
        d = d.rotate_left(21) ^ a;
        c = c.rotate_left(32);
    }
    *v = [a, b, c, d];
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The vector of the paper's appendix: key 00..0f, message 00..0e, 15 bytes. Ours are 16, so it is the
    /// reference implementation's for that length.
    #[test]
    fn siphash_as_published() {
        let key = (0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908);
        let words = [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908];
        assert_eq!(siphash(key, words), 0x3f2a_cc7f_57c2_9bdb);
    }

    fn some() -> References {
        References { key: (7, 11) }
    }

    proptest! {
        #[test]
        fn there_and_back(epoch in any::<u64>(), num in 0..=MAX_NUMBER) {
            let text = String::from_utf8(some().of(epoch, num).to_vec()).unwrap();
            prop_assert_eq!(text.len(), REFERENCE);
            prop_assert_eq!(some().number(epoch, &text), Some(num));
            prop_assert_eq!(some().number(epoch, &text.to_uppercase().replace("Q_", "q_")), Some(num));
            prop_assert_ne!(some().number(epoch ^ 1, &text), Some(num));
        }

        #[test]
        fn any_text_is_read_without_harm(text in ".{0,20}", twelve in "q_[0-9a-zA-Z]{12}") {
            let _ = some().number(1, &text);
            if let Some(num) = some().number(1, &twelve) {
                prop_assert!(num <= MAX_NUMBER);
            }
        }
    }

    #[test]
    fn neighbours_look_unlike_one_another() {
        let names: Vec<_> = (1..=1_000).map(|num| some().of(1, num)).collect();
        let alike = |one: &[u8; REFERENCE], other: &[u8; REFERENCE]| {
            one[2..].iter().zip(&other[2..]).filter(|(a, b)| a == b).count()
        };
        assert!(names.windows(2).all(|pair| alike(&pair[0], &pair[1]) < 8));
        let total: usize = names.windows(2).map(|pair| alike(&pair[0], &pair[1])).sum();
        assert!(total < 1_000, "by chance 12 of 32 a pair agree, some 375 in all: {total}");
    }
}
