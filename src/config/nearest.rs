//! The word somebody meant.
//!
//! Owns the guess; knows no keys of its own. Wrong guesses are worse than none, so a word that is far from
//! everything known gets no answer.

/// Longer words are nobody's slip of the finger, and comparing them costs the product of their lengths.
const MAX_WORD: usize = 40;

/// The known word that is nearest to a wrong one, if it is near at all: one slip in three letters.
/// A swapped pair is one slip; `-` for `_` and capitals are none.
pub(super) fn nearest<'k>(
    wrong: &str,
    known: impl IntoIterator<Item = &'k str>,
) -> Option<&'k str> {
    if wrong.chars().count() > MAX_WORD {
        return None;
    }
    let plain = wrong.to_ascii_lowercase().replace(['-', ' '], "_");
    let slips = |word: &str| strsim::damerau_levenshtein(&plain, word);
    let (word, slips) =
        known.into_iter().map(|word| (word, slips(word))).min_by_key(|(_, slips)| *slips)?;
    // With two letters or fewer, one slip would make anything of anything.
    let bearable = plain.chars().count().max(word.chars().count()) / 3;
    (slips <= bearable).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn slips_of_the_finger() {
        let keys = ["rate", "burst", "max_active", "max_waiting", "heartbeat_timeout"];
        for (wrong, meant) in [
            ("max_actve", "max_active"),
            ("max-active", "max_active"),
            ("maxactive", "max_active"),
            ("Rate", "rate"),
            ("raet", "rate"),
            ("heartbeat_time_out", "heartbeat_timeout"),
        ] {
            assert_eq!(nearest(wrong, keys), Some(meant), "{wrong}");
        }
        for far in ["", "x", "colour", "speed", &"m".repeat(10_000)] {
            assert_eq!(nearest(far, keys), None, "{far}");
        }
        assert_eq!(nearest("rate", []), None);
    }
}
