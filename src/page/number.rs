//! Numbers and spans of time in the reader's form.
//!
//! Owns the rounding of an estimate, which `templates/client.js` repeats: a page that was sent and the same
//! page kept current must read alike. A test holds the two together.

use super::words::{Forms, Words};

/// For programs: digits and nothing else.
pub(super) fn write_plain(number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(digits(number, &mut [0; DIGITS]));
}

/// The digits of the largest number.
const DIGITS: usize = 20;

fn digits(number: u64, room: &mut [u8; DIGITS]) -> &[u8] {
    let (mut start, mut rest) = (room.len(), number);
    loop {
        start -= 1;
        room[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            return &room[start..];
        }
    }
}

/// With the digits grouped as the language does.
pub(super) fn write_number(number: u64, words: &Words, out: &mut Vec<u8>) {
    let mut room = [0; DIGITS];
    let digits = digits(number, &mut room);
    if digits.len() < 3 + words.group_from {
        out.extend_from_slice(digits);
        return;
    }
    let (first, groups) = digits.split_at((digits.len() - 1) % 3 + 1);
    out.extend_from_slice(first);
    for group in groups.chunks(3) {
        out.extend_from_slice(words.group.as_bytes());
        out.extend_from_slice(group);
    }
}

/// An estimate as people say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Span {
    Soon,
    Minutes(u64, u64),
    Hours(u64, u64),
}

/// Rounded outwards, the coarser the longer: an exact range would flicker with every poll and promise
/// what nobody can keep.
fn span(low: u64, high: u64) -> Span {
    let minutes = high.div_ceil(60);
    let step = match minutes {
        0 | 1 => return Span::Soon,
        2..=20 => 1,
        21..=60 => 5,
        61..=120 => 10,
        _ => return Span::Hours((low / 3600).max(1), high.div_ceil(3600)),
    };
    let rounded = low / 60 / step * step;
    let from = if rounded == 0 { (low / 60).max(1) } else { rounded };
    Span::Minutes(from, minutes.div_ceil(step) * step)
}

/// What a page says for an estimate, in seconds: from the least to the most that its words mean.
pub(crate) fn shown(low: u64, high: u64) -> (u64, u64) {
    match span(low.min(high), high) {
        Span::Soon => (0, 60),
        Span::Minutes(low, high) => (low * 60, high * 60),
        Span::Hours(low, high) => (low * 3_600, high * 3_600),
    }
}

/// What is left, as "12:34" or "1:02:03".
pub(super) fn write_clock(seconds: u64, out: &mut Vec<u8>) {
    let two = |number: u64, out: &mut Vec<u8>| {
        out.extend([b'0' + (number / 10) as u8, b'0' + (number % 10) as u8]);
    };
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
    match hours {
        0 => write_plain(minutes, out),
        hours => {
            write_plain(hours, out);
            out.push(b':');
            two(minutes, out);
        }
    }
    out.push(b':');
    two(seconds % 60, out);
}

/// "about 4–6 minutes".
pub(super) fn write_eta(low: u64, high: u64, words: &Words, out: &mut Vec<u8>) {
    let (forms, low, high) = match span(low.min(high), high) {
        Span::Soon => return out.extend_from_slice(words.soon.as_bytes()),
        Span::Minutes(low, high) => (&words.minutes, low, high),
        Span::Hours(low, high) => (&words.hours, low, high),
    };
    fill(words.about, out, |out| write_range(low, high, forms, words, out));
}

fn write_range(low: u64, high: u64, forms: &Forms, words: &Words, out: &mut Vec<u8>) {
    fill(forms.of(words.plural, high, low < high), out, |out| {
        if low < high {
            write_number(low, words, out);
            out.extend_from_slice(words.range.as_bytes());
        }
        write_number(high, words, out);
    });
}

/// A pattern with its `{}` filled; one without is written as it is.
fn fill(pattern: &str, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    match pattern.split_once("{}") {
        Some((before, after)) => {
            out.extend_from_slice(before.as_bytes());
            write(out);
            out.extend_from_slice(after.as_bytes());
        }
        None => out.extend_from_slice(pattern.as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Language;

    fn eta(language: &str, low: u64, high: u64) -> String {
        let mut out = Vec::new();
        write_eta(low, high, Language::of(Some(language.as_bytes())).words(), &mut out);
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn estimates_read_as_people_say_them() {
        assert_eq!(eta("en", 0, 0), "less than a minute");
        assert_eq!(eta("en", 20, 60), "less than a minute");
        assert_eq!(eta("en", 61, 119), "about 1–2 minutes");
        assert_eq!(eta("en", 240, 350), "about 4–6 minutes");
        assert_eq!(eta("en", 300, 300), "about 5 minutes");
        assert_eq!(eta("en", 23 * 60, 42 * 60), "about 20–45 minutes");
        assert_eq!(eta("en", 100, 42 * 60), "about 1–45 minutes");
        assert_eq!(eta("en", 71 * 60, 102 * 60), "about 70–110 minutes");
        assert_eq!(eta("en", 7_500, 10_000), "about 2–3 hours");
        assert_eq!(eta("ru", 240, 350), "примерно 4–6 минут");
        assert_eq!(eta("ru", 240, 1_250), "примерно 4–25 минут");
        assert_eq!(eta("ru", 60, 180), "примерно 1–3 минуты");
        assert_eq!(eta("ar", 120, 120), "حوالي دقيقتين");
        assert_eq!(eta("ar", 60, 120), "حوالي 1–2 دقيقة");
        assert_eq!(eta("ja", 240, 350), "約4～6分");
    }

    #[test]
    fn numbers_are_grouped() {
        let number = |language: &str, number| {
            let mut out = Vec::new();
            write_number(number, Language::of(Some(language.as_bytes())).words(), &mut out);
            String::from_utf8(out).expect("UTF-8")
        };
        assert_eq!(number("en", 0), "0");
        assert_eq!(number("en", 999), "999");
        assert_eq!(number("en", 1_523), "1,523");
        assert_eq!(number("en", u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!(number("de", 1_234_567), "1.234.567");
        assert_eq!(number("es", 1_523), "1523");
        assert_eq!(number("es", 15_230), "15.230");
    }
}
