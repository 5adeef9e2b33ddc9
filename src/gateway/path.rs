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
//! | kept | one that leaves double slashes as they are |
//! | loose | the most careless one: everything decoded, again and again, `\` is `/`, parameters dropped, and what a segment of a file's name ends with on Windows |
//! | cut | the same, and what was decoded is taken apart again: it ends at `?`, `#` or a zero |
//! | beyond | one that takes `//a/b` for the path `/b` of the host `a`, as `new URL` does |
//!
//! each of them in capitals or not. A room guards a path if any reading lies in it. A rule that lets by counts only if all agree, and
//! to the letter.
//!
//! With segments of dots this would not do: `/drop//../item` is `/item` to who drops the empty segment first, `/drop/item` to who
//! follows the standard, and itself to who goes by its beginning. So such a path has every reading that any chain of servers could come
//! to, each doing one thing to it (`STEPS`); to be in a room it need only begin there; and nothing about it is certain. No browser sends one, so one that
//! would have very many readings is [not clear](Readings::is_clear), and nobody's.

use std::borrow::Cow;

/// Careless servers decode once too often; nobody was seen to do it more than twice.
const MAX_DECODINGS: usize = 3;

/// A path with dots has so many readings, and is so long, at most: what it costs to find them is bounded. Those that people write to get
/// around something have a dozen.
const MAX_READINGS: usize = 128;
const MAX_DOTTED: usize = 512;

/// So many servers in a row take two slashes for the beginning of a host, at most.
const MAX_HOSTS: usize = 4;

/// What gives a path its parts, or hides what does.
const STRUCTURE: &[u8] = b"/\\;%?#\0";
/// What was decoded ends here, if it is taken apart again.
const ENDS: [char; 3] = ['?', '#', '\0'];

/// What some drop, because nobody sees it.
const UNSEEN: [u8; 4] = *b"\0\t\n\r";

/// A path in all its readings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Readings<'a> {
    plain: Cow<'a, str>,
    /// With its empty segments, if it has any.
    kept: Option<String>,
    /// Those that differ from it.
    others: Vec<String>,
    certain: bool,
    dotted: bool,
    clear: bool,
}

impl<'a> Readings<'a> {
    /// Reads a request's path, without its query.
    pub fn of(raw: &'a str) -> Readings<'a> {
        if is_simple(raw) {
            return Readings::alone(Cow::Borrowed(raw));
        }
        let decoded = decode_all(raw);
        match has_dots(&decoded) {
            true => Readings::of_dotted(raw),
            false => Readings::of_dotless(raw, &decoded),
        }
    }

    fn alone(plain: Cow<'a, str>) -> Readings<'a> {
        let (others, kept) = (Vec::new(), None);
        Readings { plain, kept, others, certain: true, dotted: false, clear: true }
    }

    fn of_dotless(raw: &str, decoded: &str) -> Readings<'a> {
        let text = rooted(decode(raw, is_unreserved));
        let (loose, cut) = (rooted(loosely(decoded)), rooted(loosely(&cut(decoded))));
        let mut beyond: Vec<String> = Vec::new();
        let mut clear = true;
        for text in [&text, &loose, &cut] {
            let mut rest = Cow::from(text);
            for _ in 0..MAX_HOSTS {
                if rest.starts_with("//") {
                    rest = Cow::from(beyond_host(&rest));
                    beyond.push(merge(&rest));
                }
            }
            clear &= !rest.starts_with("//");
        }
        let (plain, loose, cut) = (merge(&text), merge(&loose), merge(&cut));
        // An escaped space is a space to everybody; an escaped slash is one only to some.
        let alike = cut == loose && decode(&plain, |byte| !STRUCTURE.contains(&byte)) == loose;
        let certain = alike && beyond.is_empty();
        let mut others = vec![folded(&loose), folded(&cut), loose, cut];
        others.extend(beyond.iter().map(|path| folded(path)).collect::<Vec<_>>());
        others.extend(beyond);
        others.dedup();
        others.retain(|reading| *reading != plain);
        let kept = (text != plain).then_some(text);
        Readings { kept, others, certain, clear, ..Readings::alone(Cow::Owned(plain)) }
    }

    fn of_dotted(raw: &str) -> Readings<'a> {
        let plain = resolve(&merge(&rooted(decode(raw, is_unreserved))));
        let mut found = vec![rooted(raw.to_owned())];
        let mut at = 0;
        while at < found.len() && found.len() <= MAX_READINGS && raw.len() <= MAX_DOTTED {
            for (marks, step) in STEPS {
                if found[at].bytes().any(|byte| marks.contains(&byte)) {
                    let reading = step(&found[at]);
                    if !found.contains(&reading) {
                        found.push(reading);
                    }
                }
            }
            at += 1;
        }
        let clear = at == found.len();
        let capitals = found.iter().filter(|reading| !reading.is_ascii()).map(|text| folded(text));
        let others = capitals.collect::<Vec<_>>().into_iter().chain(found).collect();
        let plain = Readings::alone(Cow::Owned(plain));
        Readings { others, certain: false, dotted: true, clear, ..plain }
    }

    /// As a careful server reads it.
    pub fn plain(&self) -> &str {
        &self.plain
    }

    /// The same by one that leaves empty segments as they are, if it has any.
    pub fn kept(&self) -> Option<&str> {
        self.kept.as_deref()
    }

    /// Every reading there is.
    pub fn all(&self) -> impl Iterator<Item = &str> + Clone {
        let others = self.kept.iter().chain(&self.others);
        std::iter::once(self.plain()).chain(others.map(String::as_str))
    }

    /// Whether there is but one.
    pub fn is_one(&self) -> bool {
        self.kept.is_none() && self.others.is_empty()
    }

    /// Whether every origin reads it alike, but for what it does with empty segments.
    pub fn is_certain(&self) -> bool {
        self.certain
    }

    /// Whether some origin finds a segment of dots in it.
    pub fn is_dotted(&self) -> bool {
        self.dotted
    }

    /// Whether all its readings are known.
    pub fn is_clear(&self) -> bool {
        self.clear
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

/// What one server on the way may do to a path that has one of these bytes.
type Step = (&'static [u8], fn(&str) -> String);

/// None makes a path longer, so there is an end to what they can come to.
const STEPS: [Step; 13] = [
    (b"%", |path| decode(path, |byte| byte == b'.')),
    (b"%", |path| decode(path, is_unreserved)),
    (b"%", |path| decode(path, |_| true)),
    (b"%", unwide),
    (b"\\", unslash),
    (b";", without_parameters),
    (b". ", trimmed),
    (&UNSEEN, without_unseen),
    (b"?#\0", cut),
    (b"/", merge),
    (b".", resolve),
    (b".", resolve_first),
    (b"/", beyond_host),
];

/// With a slash before it.
fn rooted(path: String) -> String {
    if path.starts_with('/') { path } else { format!("/{path}") }
}

/// Whether a segment is one of dots to anybody, or may become one.
fn has_dots(decoded: &str) -> bool {
    let is_dots = |segment: &str| {
        let mut bytes = segment.bytes().filter(|byte| !UNSEEN.contains(byte));
        let mut next = bytes.next();
        if next != Some(b'.') {
            return false;
        }
        next = bytes.next();
        if next == Some(b'.') {
            next = bytes.next();
        }
        matches!(next, None | Some(b';' | b'?' | b'#' | b' '))
    };
    decoded.split(['/', '\\']).any(is_dots)
}

/// The segments of a path.
fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.strip_prefix('/').unwrap_or(path).split('/')
}

/// Without empty segments and those of one dot.
fn merge(path: &str) -> String {
    let mut merged = String::with_capacity(path.len() + 1);
    let mut folder = true;
    for segment in segments(path) {
        folder = matches!(segment, "" | ".");
        if !folder {
            merged.extend(["/", segment]);
        }
    }
    if folder {
        merged.push('/');
    }
    merged
}

/// Without segments of dots, as the standards say (RFC 3986, 5.2.4): two take away the one before, and be it an empty one.
fn resolve(path: &str) -> String {
    let mut left = Vec::new();
    let mut folder = false;
    for segment in segments(path) {
        folder = matches!(segment, "." | "..");
        match segment {
            "." => {}
            ".." => _ = left.pop(),
            segment => left.push(segment),
        }
    }
    if folder {
        left.push("");
    }
    format!("/{}", left.join("/"))
}

/// The same of the first two dots alone: some look once, and others at what there is before the next.
fn resolve_first(path: &str) -> String {
    let mut left: Vec<&str> = segments(path).collect();
    if let Some(dots) = left.iter().position(|segment| *segment == "..") {
        left.drain(dots.saturating_sub(1)..=dots);
    }
    format!("/{}", left.join("/"))
}

/// Until there is nothing left to decode.
fn decode_all(raw: &str) -> String {
    let mut path = raw.to_owned();
    for _ in 0..MAX_DECODINGS {
        let decoded = unwide(&decode(&path, |_| true));
        if decoded == path {
            break;
        }
        path = decoded;
    }
    path
}

/// With the escapes that only IIS knows, `%u0063`, replaced.
fn unwide(path: &str) -> String {
    let mut parts = path.split("%u");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits =
            part.get(..4).filter(|four| four.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let wide = digits.and_then(|four| char::from_u32(u32::from_str_radix(four, 16).ok()?));
        match wide {
            Some(wide) => {
                plain.push(wide);
                plain.push_str(&part[4..]);
            }
            None => plain.extend(["%u", part]),
        }
    }
    plain
}

/// A path that was decoded, read without care.
fn loosely(decoded: &str) -> String {
    trimmed(&without_parameters(&unslash(&without_unseen(decoded))))
}

fn unslash(path: &str) -> String {
    path.replace('\\', "/")
}

fn without_unseen(path: &str) -> String {
    path.replace(UNSEEN.map(char::from), "")
}

/// `/checkout;v=1` is `/checkout` to whoever knows parameters.
fn without_parameters(path: &str) -> String {
    each_segment(path, |segment| segment.split(';').next().unwrap_or_default())
}

/// "checkout." and "checkout " are files of the name "checkout".
fn trimmed(path: &str) -> String {
    each_segment(path, |segment| match segment.trim_end_matches(' ') {
        dots @ ("." | "..") => dots,
        _ => segment.trim_end_matches(['.', ' ']),
    })
}

fn each_segment(path: &str, with: fn(&str) -> &str) -> String {
    path.split('/').map(with).collect::<Vec<_>>().join("/")
}

/// Up to where it ends, if it is taken apart once more.
fn cut(path: &str) -> String {
    path.split(ENDS).next().unwrap_or_default().to_owned()
}

/// Without what two slashes at the beginning make a host of.
fn beyond_host(path: &str) -> String {
    match path.strip_prefix("//") {
        Some(rest) => {
            let rest = rest.trim_start_matches('/');
            rest.find('/').map_or_else(|| "/".to_owned(), |at| rest[at..].to_owned())
        }
        None => path.to_owned(),
    }
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
