//! The wall clock, and how its times are written: ISO 8601, UTC.
//!
//! Owns the one place where the clock of this machine is read, and the calendar. What a room does goes by its store's
//! time, which comes with every exchange.

use std::time::{SystemTime, UNIX_EPOCH};

/// The end of the year 9999: beyond it a year has five digits, and no client reads that.
const LAST: u64 = 253_402_300_799;

/// This node's time.
pub fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

/// `2024-01-15T10:23:45.042Z`.
pub fn put_moment(out: &mut Vec<u8>, unix_ms: u64) {
    put(out, unix_ms / 1_000);
    out.push(b'.');
    put_padded(out, unix_ms % 1_000, 3);
    out.push(b'Z');
}

/// `2024-01-15T10:23:45.042Z`, as text.
pub fn moment(unix_ms: u64) -> String {
    let mut out = Vec::new();
    put_moment(&mut out, unix_ms);
    String::from_utf8_lossy(&out).into_owned()
}

/// `2024-01-15T10:23:45Z`, as text.
pub fn second(unix_seconds: u64) -> String {
    let mut out = Vec::new();
    put_second(&mut out, unix_seconds);
    String::from_utf8_lossy(&out).into_owned()
}

/// `2024-01-15T10:23:45Z`.
pub fn put_second(out: &mut Vec<u8>, unix_seconds: u64) {
    put(out, unix_seconds);
    out.push(b'Z');
}

fn put(out: &mut Vec<u8>, unix_seconds: u64) {
    let seconds = unix_seconds.min(LAST);
    let (year, month, day) = date(seconds / 86_400);
    let of_day = seconds % 86_400;
    let fields = [
        (year, 4, b'-'),
        (month, 2, b'-'),
        (day, 2, b'T'),
        (of_day / 3_600, 2, b':'),
        (of_day / 60 % 60, 2, b':'),
    ];
    for (value, width, mark) in fields {
        put_padded(out, value, width);
        out.push(mark);
    }
    put_padded(out, of_day % 60, 2);
}

/// Year, month and day of a day since 1970. Counted from March on, so that the leap day comes last in its year
/// (Howard Hinnant's `civil_from_days`).
fn date(day: u64) -> (u64, u64, u64) {
    let day = day + 719_468;
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

/// Digits, with zeros before them up to a width; a longer number is written whole.
pub fn put_padded(out: &mut Vec<u8>, number: u64, width: usize) {
    let mut digits = [b'0'; 20];
    let mut at = digits.len();
    let mut rest = number;
    while rest > 0 {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    out.extend_from_slice(&digits[at.min(digits.len() - width)..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_times() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_827_696, "2000-02-29T12:34:56Z"),
            (1_705_314_225, "2024-01-15T10:23:45Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (LAST, "9999-12-31T23:59:59Z"),
            (u64::MAX, "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(second(seconds), text);
        }
    }

    /// Day after day for 800 years, against the rule everybody learns.
    #[test]
    fn every_day_follows_the_one_before() {
        let (mut year, mut month, mut day) = (1970, 1, 1);
        for since in 0..292_194 {
            assert_eq!(date(since), (year, month, day));
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let length = match month {
                2 => 28 + u64::from(leap),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            day += 1;
            if day > length {
                (day, month) = (1, month + 1);
            }
            if month > 12 {
                (month, year) = (1, year + 1);
            }
        }
    }

    #[test]
    fn digits_fill_their_width_and_go_beyond_it() {
        for (number, width, text) in [(7, 3, "007"), (0, 2, "00"), (1_234_567, 6, "1234567")] {
            let mut out = Vec::new();
            put_padded(&mut out, number, width);
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
        let mut out = Vec::new();
        put_padded(&mut out, u64::MAX, 6);
        assert_eq!(String::from_utf8(out).unwrap(), u64::MAX.to_string());
    }
}
