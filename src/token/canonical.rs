//! Reads claims in exactly the form we write them, in one pass and without allocating.
//!
//! Not a JSON parser: fields come in our order, without white space, and strings have no escapes.
//! Anything else makes a method answer `None`, and the caller asks `serde_json`, which decides. So
//! a mistake here could only be one of accepting; the tests hold every reading against `serde_json`'s.
//!
//! Fields have a predictable length (a UUID, ten digits), and the loops are cut so that the CPU guesses
//! where one ends and reads on. Finding the end by arithmetic on eight bytes at once was no faster.

use super::MAX_NUMBER;

/// The digits of [`MAX_NUMBER`]. As many can't overflow a `u64`.
const MAX_DIGITS: usize = 16;

/// What is left to read.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn new(claims: &'a [u8]) -> Self {
        Self(claims)
    }

    /// These characters must come next.
    #[inline]
    pub(super) fn expect(&mut self, literal: &str) -> Option<()> {
        self.0 = self.0.strip_prefix(literal.as_bytes())?;
        Some(())
    }

    /// Whether these characters come next. Then they are read.
    #[inline]
    pub(super) fn takes(&mut self, literal: &str) -> bool {
        self.expect(literal).is_some()
    }

    /// A string up to its closing quote; the opening one was part of the literal before.
    #[inline]
    pub(super) fn text(&mut self) -> Option<&'a str> {
        let special = |&b: &u8| b == b'"' || b == b'\\' || b < b' ';
        let mut plain = 0;
        // A step of eight has one branch, so a device id of 36 bytes has four and not 36.
        for eight in self.0.as_chunks::<8>().0 {
            if eight.iter().fold(false, |any, b| any | special(b)) {
                break;
            }
            plain += 8;
        }
        let end = plain + self.0[plain..].iter().position(special)?;
        let (text, rest) = self.0.split_at(end);
        self.0 = rest.strip_prefix(b"\"")?;
        std::str::from_utf8(text).ok()
    }

    /// The string after a literal, where the literal comes next. The outer `None` as everywhere.
    #[inline]
    pub(super) fn text_after(&mut self, literal: &str) -> Option<Option<&'a str>> {
        match self.0.strip_prefix(literal.as_bytes()) {
            None => Some(None),
            Some(rest) => {
                self.0 = rest;
                self.text().map(Some)
            }
        }
    }

    /// A whole number as JSON writes it: no sign, no leading zero.
    #[inline]
    pub(super) fn number(&mut self) -> Option<u64> {
        let mut value = 0;
        let mut digits = 0;
        while let Some(digit @ b'0'..=b'9') = self.0.get(digits) {
            if digits == MAX_DIGITS {
                return None;
            }
            value = value * 10 + u64::from(digit - b'0');
            digits += 1;
        }
        if digits == 0 || (digits > 1 && self.0[0] == b'0') || value > MAX_NUMBER {
            return None;
        }
        self.0 = &self.0[digits..];
        Some(value)
    }

    /// A time in unix seconds, which has ten digits until the year 2286.
    #[inline]
    pub(super) fn seconds(&mut self) -> Option<u64> {
        if let Some((digits, rest)) = self.0.split_first_chunk::<10>()
            && let [b',' | b'}', ..] = rest
            && digits[0] != b'0'
            && digits.iter().fold(true, |all, b| all & b.is_ascii_digit())
        {
            self.0 = rest;
            return Some(digits.iter().fold(0, |value, b| value * 10 + u64::from(b - b'0')));
        }
        self.number()
    }

    /// Nothing may be left.
    pub(super) fn end(self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::Reader;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_number_is_read_as_json_reads_it(text in "[0-9]{1,20}[^0-9]{0,9}") {
            let digits = text.bytes().take_while(u8::is_ascii_digit).count();
            let expected = serde_json::from_str(&text[..digits]).ok();
            let expected = expected.filter(|&number: &u64| number <= super::MAX_NUMBER);
            let mut reader = Reader(text.as_bytes());
            prop_assert_eq!(reader.number(), expected);
            if expected.is_some() {
                prop_assert_eq!(reader.0, &text.as_bytes()[digits..]);
            }
        }

        #[test]
        fn a_text_ends_at_its_quote_or_not_at_all(text in "[ -~é𝄞\u{0}-\u{1f}\u{7f}]{0,40}", tail in ".{0,9}") {
            let quoted = format!("\"{text}\"{tail}");
            let read = Reader(&quoted.as_bytes()[1..]).text();
            // Up to the first quote, whatever the rest is, `serde_json` must agree that this is a string.
            let end = quoted[1..].find('"').map_or(quoted.len(), |at| at + 2);
            let json = serde_json::from_str::<&str>(&quoted[..end]).ok();
            prop_assert_eq!(read, json.filter(|_| !quoted[..end].contains('\\')));
        }
    }

    #[test]
    fn the_largest_number_is_the_last() {
        let read = |text: &str| Reader(text.as_bytes()).number();
        assert_eq!(read("9007199254740991"), Some(super::MAX_NUMBER));
        assert_eq!(read("9007199254740992"), None);
        assert_eq!(read("90071992547409910"), None);
        assert_eq!(read("00"), None);
        assert_eq!(read("0"), Some(0));
        assert_eq!(read(""), None);
        assert_eq!(read("-1"), None);
    }
}
