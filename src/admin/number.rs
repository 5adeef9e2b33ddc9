//! Numbers as programs like to read them: `5`, not `5.0`.

use serde::{Serialize, Serializer};

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

#[cfg(test)]
mod tests {
    use super::*;

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
