//! Which language a reader reads.
//!
//! Owns the choice by `Accept-Language`. The header is anybody's text: what can't be read is skipped.

use super::words::{ALL, Words};

/// One of the languages there are words for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Language(u8);

/// More preferences than any browser sends; the rest of a long header is not looked at.
const MAX_PREFERENCES: usize = 32;

/// The quality of what has none, in thousandths.
const BEST: u32 = 1_000;

impl Language {
    pub(super) const COUNT: usize = ALL.len();

    /// The one the reader likes best, by q-value and then by order; English if none is known.
    pub fn of(accept_language: Option<&[u8]>) -> Language {
        let header = accept_language.unwrap_or_default();
        let mut best = (Language(0), 0);
        for preference in header.split(|byte| *byte == b',').take(MAX_PREFERENCES) {
            let mut fields = preference.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
            let tag = fields.next().unwrap_or_default();
            let quality = fields.find_map(quality).unwrap_or(BEST);
            if quality > best.1
                && let Some(language) = Language::tagged(tag)
            {
                best = (language, quality);
            }
            if best.1 == BEST {
                break; // Of equals the first counts, and nothing is more than this.
            }
        }
        best.0
    }

    /// Its tag: "en".
    pub fn code(self) -> &'static str {
        self.words().code
    }

    /// All of them.
    pub fn all() -> impl Iterator<Item = Language> {
        (0..ALL.len()).map(|index| Language(index as u8))
    }

    /// By the first part of a tag: `pt-BR` and `pt-PT` both read `pt`. Chinese is read in two scripts, which the tag says, or the country.
    pub(super) fn tagged(tag: &[u8]) -> Option<Language> {
        let mut parts = tag.split(|byte| matches!(byte, b'-' | b'_'));
        let primary = parts.next().unwrap_or_default();
        // What Hebrew was called until 1989; some phones still do.
        let primary = if primary.eq_ignore_ascii_case(b"iw") { b"he" } else { primary };
        let is = |part: &[u8], names: &[&[u8]]| names.iter().any(|n| part.eq_ignore_ascii_case(n));
        let said = parts.find(|part| is(part, &[b"hant", b"hans", b"tw", b"hk", b"mo"]));
        let code = match said {
            Some(part) if is(primary, &[b"zh"]) && !is(part, &[b"hans"]) => &b"zh-hant"[..],
            _ => primary,
        };
        Language::all().find(|language| code.eq_ignore_ascii_case(language.code().as_bytes()))
    }

    pub(super) fn words(self) -> &'static Words {
        ALL[usize::from(self.0)]
    }

    pub(super) fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// `q=0.8` in thousandths. What is no number counts as not wanted.
fn quality(field: &[u8]) -> Option<u32> {
    let (b'q' | b'Q', value) = field.split_first()? else { return None };
    let value = value.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let value = std::str::from_utf8(value).ok().and_then(|value| value.parse::<f32>().ok());
    // A float's cast to an integer saturates, and NaN is 0.
    Some((value.unwrap_or(0.0).clamp(0.0, 1.0) * BEST as f32) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(header: &str) -> &'static str {
        Language::of(Some(header.as_bytes())).code()
    }

    #[test]
    fn the_one_liked_best() {
        assert_eq!(Language::of(None).code(), "en");
        assert_eq!(of("de-CH,de;q=0.9,en;q=0.8"), "de");
        assert_eq!(of("en;q=0.2, fr;q=0.7"), "fr");
        assert_eq!(of("xx, ja ; q = 0.5, en;q=0.4"), "ja");
        assert_eq!(of("fr, de"), "fr", "of equals the first");
        assert_eq!(of("de;q=0, fr;q=0.1"), "fr");
        assert_eq!(of("PT-br"), "pt");
        for traditional in ["zh_TW", "zh-hk", "zh-Hant", "zh-Hant-CN", "zh-MO;q=0.9,zh;q=0.8"] {
            assert_eq!(of(traditional), "zh-Hant", "{traditional}");
        }
        for simplified in ["zh", "zh-CN", "zh-SG", "zh-Hans-HK", "zh-hans"] {
            assert_eq!(of(simplified), "zh", "{simplified}");
        }
        assert_eq!(of("en-HK"), "en");
        assert_eq!(of("iw"), "he");
        assert_eq!(of("*"), "en");
        assert_eq!(of("xx-YY"), "en");
    }

    #[test]
    fn junk_is_skipped() {
        for junk in
            ["", ",,,;;;", ";q=", "de;q=x", "q=1", "de;q=-1", "de;q=NaN", "de;q=", "-", "deutsch"]
        {
            assert_eq!(of(junk), "en", "{junk}");
        }
        assert_eq!(Language::of(Some(&[0xff, 0, b',', b'd', b'e'])).code(), "de");
        assert_eq!(of(&format!("{}de", "xx,".repeat(1_000_000))), "en");
        assert_eq!(of("de;q=99"), "de");
    }
}
