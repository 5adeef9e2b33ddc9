//! What a path may mean to the origin behind us.
//!
//! Owns the readings of a path; knows no rooms and no rules. An origin is free to decode `%2f`, to take
//! `\` for `/`, to drop `;v=1` from a segment, or to do none of it. Whoever guards `/checkout` must
//! know all of `/./checkout`, `/%63heckout`, `//checkout`, `/x/../checkout`, `/%2fcheckout`, `/checkout;a`, `/checkout%3Fa`
//! and `/%2563heckout` to be ways there. So a path has several readings:
//!
//! | reading | as whom |
//! |---|---|
//! | plain | a careful server (RFC 3986): unreserved characters decoded, dots and double slashes resolved |
//! | loose | the most careless one: everything decoded, again and again, `\` is `/`, parameters dropped, and what a segment of a file's name ends with on Windows |
//! | cut | the same, and what was decoded is taken apart again: it ends at `?`, `#` or a zero |
//!
//! each of them in capitals or not. A room guards a path if any reading lies in it. A rule that lets by counts only if all agree, and
//! to the letter.

use std::borrow::Cow;

/// Careless servers decode once too often; nobody was seen to do it more than twice.
const MAX_DECODINGS: usize = 3;

/// What gives a path its parts, or hides what does.
const STRUCTURE: &[u8] = b"/\\;%?#\0";
/// What was decoded ends here, if it is taken apart again.
const ENDS: [char; 3] = ['?', '#', '\0'];

/// A path in all its readings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Readings<'a> {
    plain: Cow<'a, str>,
    /// Those that differ from it.
    others: Vec<String>,
    certain: bool,
}

impl<'a> Readings<'a> {
    /// Reads a request's path, without its query.
    pub fn of(raw: &'a str) -> Readings<'a> {
        if is_simple(raw) {
            return Readings { plain: Cow::Borrowed(raw), others: Vec::new(), certain: true };
        }
        let plain = resolve(&decode(raw, is_unreserved));
        let decoded = decode_all(raw);
        let (loose, cut) =
            (loosely(&decoded), loosely(decoded.split(ENDS).next().unwrap_or_default()));
        // An escaped space is a space to everybody; an escaped slash is one only to some.
        let certain = cut == loose && decode(&plain, |byte| !STRUCTURE.contains(&byte)) == loose;
        let mut others = vec![folded(&loose), folded(&cut), loose, cut];
        others.dedup();
        others.retain(|reading| *reading != plain);
        Readings { plain: Cow::Owned(plain), others, certain }
    }

    /// As a careful server reads it.
    pub fn plain(&self) -> &str {
        &self.plain
    }

    /// Every reading there is.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.plain()).chain(self.others.iter().map(String::as_str))
    }

    /// Whether every origin reads it alike.
    pub fn is_certain(&self) -> bool {
        self.certain
    }
}

/// Nothing in it that anybody could read otherwise: nearly every path there is. Empty segments and those of dots are
/// not told apart from others that begin or end with a dot, such as `/.well-known`: those are read the long way.
fn is_simple(raw: &str) -> bool {
    let mut before = b'/';
    let ordinary = |byte: u8| {
        let hidden =
            (before == b'/') & matches!(byte, b'/' | b'.') | (before == b'.') & (byte == b'/');
        before = byte;
        ORDINARY[usize::from(byte)] & !hidden
    };
    !raw.ends_with('.') && raw.strip_prefix('/').is_some_and(|rest| rest.bytes().all(ordinary))
}

/// What stands for itself in a path.
const ORDINARY: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128u8 {
        table[byte as usize] = byte.is_ascii_alphanumeric();
        byte += 1;
    }
    let marks = b"-._~/!$&'()*+,=:@";
    let mut at = 0;
    while at < marks.len() {
        table[marks[at] as usize] = true;
        at += 1;
    }
    table
};

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

/// Replaces the escapes of the bytes that `wanted` picks; what is no escape stays as it is.
fn decode(path: &str, wanted: impl Fn(u8) -> bool) -> String {
    let bytes = path.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, after)) = rest.split_first() {
        match escape(rest).filter(|byte| wanted(*byte)) {
            Some(byte) => {
                decoded.push(byte);
                rest = &rest[3..];
            }
            None => {
                decoded.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// The byte of an escape at the beginning.
fn escape(bytes: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = bytes else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    Some((digit(*high)? * 16 + digit(*low)?) as u8)
}

/// Drops empty and dot segments; always begins with a slash.
fn resolve(path: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => _ = segments.pop(),
            segment => segments.push(segment),
        }
    }
    let last = path.rsplit('/').next().unwrap_or_default();
    let folder = matches!(last, "" | "." | "..") && !segments.is_empty();
    format!("/{}{}", segments.join("/"), if folder { "/" } else { "" })
}

/// Until there is nothing left to decode.
fn decode_all(raw: &str) -> String {
    let mut path = raw.to_owned();
    for _ in 0..MAX_DECODINGS {
        let decoded = decode(&path, |_| true);
        if decoded == path {
            break;
        }
        path = decoded;
    }
    path
}

/// A path that was decoded, read without care.
fn loosely(decoded: &str) -> String {
    let path: String =
        decoded.chars().filter(|c| *c != '\0').map(|c| if c == '\\' { '/' } else { c }).collect();
    let bare = path.split('/').map(|segment| {
        let segment = segment.split(';').next().unwrap_or_default();
        // "checkout." and "checkout " are files of the name "checkout".
        if matches!(segment, "." | "..") { segment } else { segment.trim_end_matches(['.', ' ']) }
    });
    resolve(&bare.collect::<Vec<_>>().join("/"))
}

/// Without the difference that case makes, beyond the letters for which a comparison needs none of this: of `É`, and of `ſ`,
/// whose capital is `S`.
fn folded(text: &str) -> String {
    if text.is_ascii() { text.to_owned() } else { text.to_uppercase().to_lowercase() }
}

/// A pattern as it is compared with what was decoded: nothing escaped, no capitals beyond ASCII.
pub fn unescaped(pattern: &str) -> String {
    folded(&decode_all(pattern))
}
