//! A key as a snapshot has it: sixteen bytes, and not sixteen numbers.
//!
//! Owns that form. A line keeps some for every device that joined, and nobody is answered while a snapshot of it is
//! taken: written number by number they were two thirds of that time.

use std::fmt;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::batch::Key;

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Packed(pub(super) Key);

impl Serialize for Packed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Packed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(Form)
    }
}

struct Form;

impl<'de> Visitor<'de> for Form {
    type Value = Packed;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes of a key")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Packed, E> {
        bytes.try_into().map(Packed).map_err(|_| E::invalid_length(bytes.len(), &self))
    }

    /// As snapshots had it once.
    fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<Packed, A::Error> {
        let mut key = Key::default();
        for (nth, byte) in key.iter_mut().enumerate() {
            *byte = numbers.next_element()?.ok_or_else(|| A::Error::invalid_length(nth, &self))?;
        }
        Ok(Packed(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_read_in_either_form_and_in_no_other() {
        let key: Key = std::array::from_fn(|nth| 255 - nth as u8);
        let packed = rmp_serde::to_vec(&Packed(key)).unwrap();
        assert_eq!(packed.len(), 2 + key.len());
        let numbers = rmp_serde::to_vec(&key).unwrap();
        for bytes in [&packed, &numbers] {
            assert_eq!(rmp_serde::from_slice::<Packed>(bytes).unwrap(), Packed(key));
        }
        for bytes in [rmp_serde::to_vec(&key[1..]).unwrap(), vec![0xc4, 1, 7], vec![0xc0]] {
            assert!(rmp_serde::from_slice::<Packed>(&bytes).is_err(), "{bytes:?}");
        }
    }
}
