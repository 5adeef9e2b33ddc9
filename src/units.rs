//! Durations, rates and sizes as people write them, and back.
//!
//! Owns the spelling; never judges whether a value makes sense where it stands. Whatever comes in, nothing here
//! panics or rounds: a rate is an exact fraction, and what can't be said exactly is refused with the sentence
//! that says how to write it.

use crate::line::Rate;

/// The units of a duration, shortest first: written, and in milliseconds.
const UNITS: [(&str, u64); 5] =
    [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

/// The times of a rate. No day: a line's limits look back an hour or so, and 24/h says it.
const TIMES: [(&str, u64); 3] = [("s", 1_000), ("m", 60_000), ("h", 3_600_000)];

/// Both families, because both are in use and differ by 7 % at a gigabyte.
const SIZES: [(&str, u64); 7] = [
    ("B", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
];

/// Digits after the point of a rate. 0.000001/s is one in eleven days, slower than any line may be.
const MAX_DECIMALS: usize = 6;

/// `300ms 5s 2m 1h 1d`, in milliseconds.
///
/// # Errors
/// What to write instead, as the end of a sentence.
pub fn duration(text: &str) -> Result<u64, String> {
    let how = "write a whole number and its unit: 300ms, 5s, 2m, 1h or 1d";
    let (digits, unit) = split(text);
    if unit.is_empty() && !digits.is_empty() {
        return Err(format!("it has no unit. Write \"{digits}s\" if seconds are meant"));
    }
    let (Some(number), Some(unit_ms)) = (whole(digits), find(&UNITS, unit)) else {
        return Err(how.to_owned());
    };
    number.checked_mul(unit_ms).ok_or_else(|| "it is longer than time itself".to_owned())
}

/// `2026-12-01T10:00:00Z` or `2026-12-01T11:00:00+01:00`, in unix milliseconds.
///
/// # Errors
/// What to write instead, as the end of a sentence.
pub fn moment(text: &str) -> Result<u64, String> {
    let how =
        || "write a date, a time and its zone: 2026-12-01T10:00:00Z or …T11:00:00+01:00".to_owned();
    let number = |range: std::ops::Range<usize>| {
        let digits = text.get(range).filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()))?;
        digits.parse::<i64>().ok()
    };
    let mark = |at: usize, marks: &[u8]| text.as_bytes().get(at).is_some_and(|b| marks.contains(b));
    let fields = || {
        let date = (number(0..4)?, number(5..7)?, number(8..10)?);
        let marks = mark(4, b"-") && mark(7, b"-") && mark(10, b"Tt ") && mark(13, b":");
        let seconds = if mark(16, b":") { (number(17..19)?, 19) } else { (0, 16) };
        marks.then_some((date, number(11..13)?, number(14..16)?, seconds))
    };
    let ((year, month, day), hour, minute, (second, end)) = fields().ok_or_else(how)?;
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    if !(1..=days).contains(&day) || hour > 23 || minute > 59 || second > 59 || year < 1970 {
        return Err("there is no such day or time".to_owned());
    }
    let rest = &text[end..];
    let digits = rest
        .strip_prefix('.')
        .map_or(0, |rest| 1 + rest.bytes().take_while(u8::is_ascii_digit).count());
    let zone = &rest[digits..];
    let offset = match zone.as_bytes() {
        [] => return Err(format!("it has no zone. Write \"{text}Z\" if UTC is meant")),
        [b'Z' | b'z'] => 0,
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let two = |high: u8, low: u8| {
                let digit = |byte: u8| byte.is_ascii_digit().then(|| i64::from(byte - b'0'));
                Some(digit(high)? * 10 + digit(low)?)
            };
            let minutes = two(*h1, *h2).zip(two(*m1, *m2)).filter(|(h, m)| *h < 24 && *m < 60);
            let (hours, minutes) = minutes.ok_or_else(how)?;
            (hours * 60 + minutes) * if *sign == b'+' { 60 } else { -60 }
        }
        _ => return Err(how()),
    };
    // Days since 1970, counted from March on (Howard Hinnant's `days_from_civil`).
    let from_march = (month + 9) % 12;
    let year = year - i64::from(month <= 2);
    let (era, of_era) = (year / 400, year % 400);
    let of_year = (153 * from_march + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
    let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second - offset;
    let ms = rest.get(1..digits).map_or(0, |part| {
        format!("{part:0<3}").get(..3).and_then(|ms| ms.parse().ok()).unwrap_or(0)
    });
    u64::try_from(seconds)
        .map(|seconds| seconds * 1_000 + ms)
        .map_err(|_| "it was before 1970".to_owned())
}

/// `5/s`, `300/m`, `0.2/s`, or `0` for none at all, as an exact fraction.
///
/// # Errors
/// What to write instead, as the end of a sentence.
pub fn rate(text: &str) -> Result<Rate, String> {
    let how = "write a number and its time: 5/s, 300/m, 0.2/s or 40/h";
    if text == "0" {
        return Ok(Rate { count: 0, per_ms: 1_000 });
    }
    let Some((number, time)) = text.split_once('/') else {
        return match decimal(text) {
            Some(_) => Err(format!("it has no time. Write \"{text}/s\" if per second is meant")),
            None => Err(how.to_owned()),
        };
    };
    let (Some((digits, scale)), Some(time_ms)) = (decimal(number), find(&TIMES, time)) else {
        return Err(how.to_owned());
    };
    let Some(per_ms) = time_ms.checked_mul(scale) else { return Err(how.to_owned()) };
    // What the point brought in is taken out again as far as it goes: 0.2/s is 2 in 10 s and so 1 in 5 s, and
    // 5/s stays 5 in 1 s as it was written.
    let common = gcd(digits, scale);
    Ok(Rate { count: digits / common, per_ms: per_ms / common })
}

/// `20/m`: at most so many in so many milliseconds.
///
/// # Errors
/// What to write instead, as the end of a sentence.
pub fn allowance(text: &str) -> Result<(u64, u64), String> {
    let parsed = text.split_once('/').and_then(|(number, time)| {
        let max = whole(number)?;
        Some((max, find(&TIMES, time)?))
    });
    match parsed {
        Some((0, _)) => {
            Err("it would refuse everybody. Write \"none\" for no limit, or close the \
                             room with mode = \"closed\""
                .to_owned())
        }
        Some(both) => Ok(both),
        None => Err("write a whole number and its time: 5/s, 20/m or 30/h; \"none\" for no limit"
            .to_owned()),
    }
}

/// `64KiB`, `10MB`, `4096B`.
///
/// # Errors
/// What to write instead, as the end of a sentence.
pub fn bytes(text: &str) -> Result<u64, String> {
    let (digits, unit) = split(text);
    let unit = if unit.is_empty() { "B" } else { unit };
    match (whole(digits), find(&SIZES, unit)) {
        (Some(number), Some(size)) => {
            number.checked_mul(size).ok_or_else(|| "it is more than there is".to_owned())
        }
        _ => Err("write a whole number and its unit: 4096, 64KiB, 10MiB, 1GiB, or KB, MB, GB for \
                  powers of ten"
            .to_owned()),
    }
}

/// A duration as [`duration`] reads it, in the largest unit that says it exactly.
pub fn span(ms: u64) -> String {
    let fits = |unit: &&(&str, u64)| ms.is_multiple_of(unit.1);
    let (unit, size) = UNITS.iter().rev().find(fits).copied().unwrap_or(UNITS[0]);
    match ms {
        0 => "0s".to_owned(),
        _ => format!("{}{unit}", ms / size),
    }
}

/// So many in so many milliseconds, as people say it: `5/s`, `20/m`, else `1 every 5s`.
pub fn pace(count: u64, per_ms: u64) -> String {
    match TIMES.iter().find(|(_, time)| *time == per_ms) {
        Some((time, _)) => format!("{}/{time}", grouped(count)),
        None => format!("{} every {}", grouped(count), span(per_ms)),
    }
}

/// A size as [`bytes()`] reads it.
pub fn size(bytes: u64) -> String {
    let family = &SIZES[..4];
    let fits = |unit: &&(&str, u64)| bytes.is_multiple_of(unit.1);
    let (unit, size) = family.iter().rev().find(fits).copied().unwrap_or(SIZES[0]);
    match bytes {
        0 => "0B".to_owned(),
        _ => format!("{}{unit}", bytes / size),
    }
}

/// 1,000,000.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The digits at the start, and what follows them.
fn split(text: &str) -> (&str, &str) {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

/// A number of digits only: `parse` alone would take "+5".
fn whole(digits: &str) -> Option<u64> {
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

/// The digits of a decimal number, and by what they are too large: "0.25" is 25 and 100.
pub(super) fn decimal(text: &str) -> Option<(u64, u64)> {
    let (before, after) = match text.split_once('.') {
        Some((_, "")) => return None,
        Some(parts) => parts,
        None => (text, ""),
    };
    if after.len() > MAX_DECIMALS {
        return None;
    }
    let scale = 10u64.pow(after.len() as u32);
    let fraction = if after.is_empty() { 0 } else { whole(after)? };
    Some((whole(before)?.checked_mul(scale)?.checked_add(fraction)?, scale))
}

fn find(units: &[(&str, u64)], unit: &str) -> Option<u64> {
    units.iter().find(|(name, _)| *name == unit).map(|(_, size)| *size)
}

fn gcd(one: u64, other: u64) -> u64 {
    match other {
        0 => one.max(1),
        _ => gcd(other, one % other),
    }
}

/// `off`, `all`, or a percentage: `1%`, `0.1%`. A share of 1.
///
/// # Errors
/// What to write instead, as the end of a sentence.
pub fn share(text: &str) -> Result<f64, String> {
    let how = "write \"off\", \"all\", or a percentage such as \"1%\" or \"0.1%\"";
    match text {
        "off" => return Ok(0.0),
        "all" => return Ok(1.0),
        _ => {}
    }
    let Some(number) = text.strip_suffix('%') else {
        return Err(match decimal(text) {
            Some(_) => no_percent(text),
            None => how.to_owned(),
        });
    };
    let Some((number, scale)) = decimal(number) else { return Err(how.to_owned()) };
    let share = number as f64 / scale as f64 / 100.0;
    if share > 1.0 {
        return Err("there are no more than all. Write \"all\", or up to \"100%\"".to_owned());
    }
    Ok(share)
}

/// What is said about a share without its sign.
pub(super) fn no_percent(number: &str) -> String {
    format!("it has no unit. Write \"{number}%\" if percent are meant")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_have_a_zone() {
        for seconds in [0, 951_827_696, 1_705_314_225, 1_709_251_199, 4_107_542_400] {
            assert_eq!(moment(&crate::clock::second(seconds)), Ok(seconds * 1_000));
        }
        assert_eq!(moment("2026-12-01T11:00:00+01:00"), moment("2026-12-01T10:00Z"));
        assert_eq!(moment("2026-12-01 04:30:00.25-05:30"), Ok(1_796_119_200_250));
        let zone = moment("2026-12-01T10:00:00").unwrap_err();
        assert!(zone.contains("no zone") && zone.contains("2026-12-01T10:00:00Z"), "{zone}");
        for bad in [
            "",
            "tomorrow",
            "2026-12-01",
            "2026-02-29T10:00:00Z",
            "2026-13-01T10:00:00Z",
            "2026-12-01T24:00:00Z",
            "2026-12-01T10:00:00+1",
            "1969-12-31T23:59:59Z",
            "2026-12-01T10:00:00.Zé",
        ] {
            assert!(moment(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn durations() {
        for (text, ms) in
            [("300ms", 300), ("5s", 5_000), ("2m", 120_000), ("1h", 3_600_000), ("0s", 0)]
        {
            assert_eq!(duration(text), Ok(ms), "{text}");
            assert_eq!(duration(&span(ms)), Ok(ms), "{text}");
        }
        assert_eq!(span(86_400_000), "1d");
        assert_eq!(span(150_000), "150s");
        for bad in ["", "s", "5 s", "5sec", "-5s", "+5s", "1.5h", "1h30m", "5S", "٣s"] {
            assert!(duration(bad).unwrap_err().starts_with("write"), "{bad}");
        }
        assert!(duration("90").unwrap_err().contains("\"90s\""));
        assert!(duration("999999999999999999d").is_err());
    }

    #[test]
    fn rates_are_exact() {
        let exactly = |count, per_ms| Ok(Rate { count, per_ms });
        assert_eq!(rate("5/s"), exactly(5, 1_000));
        assert_eq!(rate("300/m"), exactly(300, 60_000));
        assert_eq!(rate("0.2/s"), exactly(1, 5_000));
        assert_eq!(rate("2.5/m"), exactly(5, 120_000));
        assert_eq!(rate("40/h"), exactly(40, 3_600_000));
        assert_eq!(rate("0"), exactly(0, 1_000));
        assert_eq!(rate("0/m"), exactly(0, 60_000));
        assert_eq!(rate("0.0/s"), exactly(0, 1_000));
        assert_eq!(rate("5.0/s"), exactly(5, 1_000));
        for bad in ["", "/s", "5/", "5/d", "5 /s", "5/ s", "-1/s", "1e3/s", ".5/s", "5./s", "5/s/s"]
        {
            assert!(rate(bad).is_err(), "{bad}");
        }
        assert!(rate("5").unwrap_err().contains("\"5/s\""));
        assert!(rate("0.1234567/s").is_err(), "finer than a line can tell apart");
    }

    #[test]
    fn shares() {
        for (text, share_of) in
            [("off", 0.0), ("0%", 0.0), ("all", 1.0), ("100%", 1.0), ("50%", 0.5), ("0.1%", 0.001)]
        {
            assert_eq!(share(text), Ok(share_of), "{text}");
        }
        for bad in ["", "%", "1 %", "-1%", "some", "1/s", "0.1234567%"] {
            assert!(share(bad).unwrap_err().starts_with("write"), "{bad}");
        }
        assert!(share("5").unwrap_err().contains("\"5%\""));
        assert!(share("100.1%").unwrap_err().contains("100%"));
    }

    #[test]
    fn the_rest() {
        assert_eq!(allowance("20/m"), Ok((20, 60_000)));
        assert!(allowance("0/m").unwrap_err().contains("none"));
        assert!(allowance("0.5/s").is_err());
        assert_eq!(bytes("64KiB"), Ok(65_536));
        assert_eq!(bytes("10MB"), Ok(10_000_000));
        assert_eq!(bytes("512"), Ok(512));
        for bad in ["", "KiB", "5K", "5kib", "1.5MiB", "99999999999999GiB"] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
        assert_eq!(
            (grouped(0), grouped(999), grouped(1_000)),
            ("0".into(), "999".into(), "1,000".into())
        );
        assert_eq!(grouped(12_345_678), "12,345,678");
        assert_eq!((pace(5, 1_000), pace(1, 5_000)), ("5/s".into(), "1 every 5s".into()));
        assert_eq!((size(32 * 1024), size(1_000)), ("32KiB".into(), "1000B".into()));
    }
}
