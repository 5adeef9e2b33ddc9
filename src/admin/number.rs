//! Numbers as programs like to read them: `5`, not `5.0`; and as some write them.

use std::fmt;

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number that may have a fraction, at most three digits of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Figure(pub(super) f64);

impl Serialize for Figure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rounded = (self.0 * 1_000.0).round() / 1_000.0;
        match rounded.fract() == 0.0 && (0.0..1e15).contains(&rounded) {
            true => serializer.serialize_u64(rounded as u64),
            false => serializer.serialize_f64(rounded),
        }
    }
}

/// A whole number from a body: `5`, and `5.0`, which is the same number to JSON Schema and to languages that know only one
/// kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Whole(pub(super) u64);

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Whole, D::Error> {
        deserializer.deserialize_any(Written)
    }
}

struct Written;

impl Visitor<'_> for Written {
    type Value = Whole;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number that is not negative")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Whole, E> {
        Ok(Whole(number))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Whole, E> {
        // Up to here all of them are exact.
        let exact = (0.0..=(1_u64 << 53) as f64).contains(&number);
        match number.fract() == 0.0 && exact {
            true => Ok(Whole(number as u64)),
            false => Err(E::invalid_value(Unexpected::Float(number), &self)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_may_have_a_point() {
        let read = |text: &str| serde_json::from_str(text).ok().map(|Whole(number)| number);
        for (text, number) in [
            ("5", Some(5)),
            ("5.0", Some(5)),
            ("1e3", Some(1_000)),
            ("9007199254740992.0", Some(1 << 53)),
            ("18446744073709551615", Some(u64::MAX)),
            ("5.5", None),
            ("-1", None),
            ("-1.0", None),
            ("1e300", None),
            ("\"5\"", None),
            ("null", None),
        ] {
            assert_eq!(read(text), number, "{text}");
        }
    }

    #[test]
    fn whole_numbers_have_no_point() {
        let text = |number| serde_json::to_string(&Figure(number)).expect("a number");
        for (number, written) in
            [(5.0, "5"), (0.2, "0.2"), (0.0, "0"), (1.0 / 3.0, "0.333"), (-1.5, "-1.5")]
        {
            assert_eq!(text(number), written);
        }
    }
}
