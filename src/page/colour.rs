//! The operator's colour, made readable.
//!
//! Owns the contrast rule of WCAG 2 (AA: 4.5 to 1): whatever colour a brand has, text on it and text in it
//! can be read, on light and on dark.

/// Red, green, blue.
pub(super) type Colour = [u8; 3];

/// What text needs (AA).
const READABLE: f64 = 4.5;

/// `#rgb` or `#rrggbb`.
pub(super) fn parse(text: &str) -> Option<Colour> {
    let digits = text.trim().strip_prefix('#')?;
    let digit = |at: usize| u8::from_str_radix(digits.get(at..=at)?, 16).ok();
    match digits.len() {
        3 => Some([digit(0)? * 17, digit(1)? * 17, digit(2)? * 17]),
        6 => {
            let pair = |at| Some(digit(at)? * 16 + digit(at + 1)?);
            Some([pair(0)?, pair(2)?, pair(4)?])
        }
        _ => None,
    }
}

pub(super) fn hex([r, g, b]: Colour) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// White where it can be read, else black: on any colour one of them has 4.58 to 1, and where both can be
/// read white looks more like a button.
pub(super) fn text_on(colour: Colour) -> Colour {
    if contrast([255; 3], colour) >= READABLE { [255; 3] } else { [0; 3] }
}

/// The colour itself if it can be read on the ground, else the nearest one towards black or white that can.
pub(super) fn readable(colour: Colour, ground: Colour) -> Colour {
    let end = text_on(ground);
    let mixed = |step: u32| {
        let mix =
            |from: u8, to: u8| ((u32::from(from) * (50 - step) + u32::from(to) * step) / 50) as u8;
        [mix(colour[0], end[0]), mix(colour[1], end[1]), mix(colour[2], end[2])]
    };
    (0..=50).map(mixed).find(|mixed| contrast(*mixed, ground) >= READABLE).unwrap_or(end)
}

pub(super) fn contrast(a: Colour, b: Colour) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

fn luminance(colour: Colour) -> f64 {
    let [r, g, b] = colour.map(|part| {
        let part = f64::from(part) / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_read() {
        assert_eq!(parse("#fff"), Some([255; 3]));
        assert_eq!(parse(" #1a2B3c "), Some([0x1a, 0x2b, 0x3c]));
        for bad in ["", "#", "fff", "#ffff", "#ggg", "red", "#12345é", "#+1+2+3"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn every_colour_becomes_readable() {
        for r in (0..=255).step_by(15) {
            for g in (0..=255).step_by(15) {
                for b in (0..=255).step_by(15) {
                    let colour = [r, g, b];
                    assert!(contrast(text_on(colour), colour) >= READABLE);
                    for ground in [[255; 3], [0x17, 0x1a, 0x21]] {
                        let text = readable(colour, ground);
                        assert!(contrast(text, ground) >= READABLE);
                        assert!(contrast(text_on(text), text) >= READABLE);
                    }
                }
            }
        }
        assert_eq!(readable([0, 0, 120], [255; 3]), [0, 0, 120], "good as it is");
    }
}
