//! The head of an HTTP/1 request, read without any doubt about where it ends and what follows.
//!
//! Owns strictness: a request that two servers could cut differently is refused here, so it never reaches one
//! behind us. Reads bytes that are there; never a connection.
//!
//! Refused: a line that does not end in CR LF, folded lines, a name with white space, more than one
//! `Content-Length` or `Host`, a length that is no plain number, `Transfer-Encoding` other than `chunked`, or
//! beside a length, or in HTTP/1.0, a target that is no path, and an absolute one that names another host. A target that says what
//! it should in other words than pingora takes is [mended] first.

use std::mem::MaybeUninit;

use http::Version;

use super::head::Head;

/// pingora takes no longer target.
const MAX_TARGET: usize = u16::MAX as usize - 1;

/// The lines a head may have at most, whatever the configuration allows.
pub const MAX_LINES: usize = 128;

/// A request's head.
pub struct Http1<'h, 'b> {
    method: &'b str,
    target: &'b str,
    host: &'b str,
    lines: Lines<'h, 'b>,
    /// Its bytes, the empty line included.
    pub length: usize,
    /// What follows it.
    pub body: Body,
    /// Whether the client wants to send another request on this connection.
    pub persists: bool,
    /// HTTP/1.0.
    pub old: bool,
}

/// The lines of a head. Some twenty names are looked for in every head, and most are not in it: so each line has a mark
/// made of its name, and it is known which marks there are.
#[derive(Clone, Copy)]
struct Lines<'h, 'b> {
    lines: &'h [httparse::Header<'b>],
    marks: &'h [u8],
    /// A bit for each mark.
    present: u64,
}

/// Below 64. The same for a name in whatever case, and seldom for two names in one head: made of its length, and of a
/// letter in which `sec-fetch-mode` and its sisters differ.
fn mark(name: &str) -> u8 {
    let bytes = name.as_bytes();
    let letter = bytes.get(bytes.len().wrapping_sub(4)).map_or(0, u8::to_ascii_lowercase);
    letter.wrapping_mul(5).wrapping_add(bytes.len() as u8) % 64
}

/// Where the lines of a head are kept: on the caller's stack, so that parsing allocates nothing.
pub struct Storage<'b> {
    lines: [MaybeUninit<httparse::Header<'b>>; MAX_LINES],
    marks: [u8; MAX_LINES],
}

impl Storage<'_> {
    /// For one head.
    pub const fn new() -> Self {
        Storage { lines: [const { MaybeUninit::uninit() }; MAX_LINES], marks: [0; MAX_LINES] }
    }
}

impl Default for Storage<'_> {
    fn default() -> Self {
        Storage::new()
    }
}

/// What follows a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// Nothing.
    None,
    /// So many bytes.
    Length(u64),
    /// Chunks.
    Chunked,
}

/// Why a head is refused: status and words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused(pub u16, pub &'static str);

const BAD: fn(&'static str) -> Refused = |why| Refused(400, why);

impl<'h, 'b> Http1<'h, 'b> {
    /// Reads a head. `None`: it is not all there yet.
    ///
    /// # Errors
    /// What it is refused with.
    pub fn parse(
        bytes: &'b [u8],
        max_lines: usize,
        storage: &'h mut Storage<'b>,
    ) -> Result<Option<Http1<'h, 'b>>, Refused> {
        let max_lines = max_lines.min(MAX_LINES);
        let mut request = httparse::Request::new(&mut []);
        let Storage { lines, marks } = storage;
        let parsed = request.parse_with_uninit_headers(bytes, &mut lines[..max_lines]);
        let length = match parsed {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(httparse::Error::TooManyHeaders) => {
                return Err(Refused(431, "Too many header lines.\n"));
            }
            Err(httparse::Error::Version) => {
                return Err(Refused(505, "HTTP/1.0 or HTTP/1.1, please.\n"));
            }
            Err(_) => return Err(BAD("This is no HTTP request.\n")),
        };
        line_ends(&bytes[..length])?;
        let mut present = 0;
        for (mark, line) in marks.iter_mut().zip(&*request.headers) {
            *mark = self::mark(line.name);
            present |= 1 << *mark;
        }
        let lines = Lines { lines: request.headers, marks, present };
        let old = request.version == Some(0);
        let method = request.method.unwrap_or_default();
        if matches!(method, "CONNECT" | "TRACE") {
            return Err(Refused(405, "This method is not served.\n"));
        }
        let (target, authority) = target(request.path.unwrap_or_default())?;
        let version = if old { Version::HTTP_10 } else { Version::HTTP_11 };
        let host = one_host(lines.all("host"), authority, version)?;
        let body = body(lines, old)?;
        expectation(lines.all("expect").next())?;
        let closes = lines.lists("connection", b"close");
        let persists = if old { lines.lists("connection", b"keep-alive") } else { !closes };
        let persists = persists && !closes;
        Ok(Some(Http1 { method, target, host, lines, length, body, persists, old }))
    }
}

impl Http1<'_, '_> {
    /// Every line, name and value, in the order they came in.
    pub fn lines(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.lines.lines.iter().map(|line| (line.name, line.value.trim_ascii()))
    }
}

impl Head for Http1<'_, '_> {
    fn method(&self) -> &str {
        self.method
    }
    fn target(&self) -> &str {
        self.target
    }
    fn host(&self) -> &str {
        self.host
    }
    fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.lines.all(name)
    }
}

impl<'h, 'b> Lines<'h, 'b> {
    fn all(self, name: &str) -> impl Iterator<Item = &'b [u8]> + use<'h, 'b, '_> {
        let wanted = mark(name);
        let lines = if self.present >> wanted & 1 == 1 { self.lines } else { &[] };
        let lines = lines.iter().zip(self.marks);
        let likely = lines.filter(move |(_, mark)| **mark == wanted).map(|(line, _)| line);
        let named = likely.filter(move |line| line.name.eq_ignore_ascii_case(name));
        named.map(|line| line.value.trim_ascii())
    }

    fn lists(self, name: &str, word: &[u8]) -> bool {
        let mut items = self.all(name).flat_map(|line| line.split(|byte| *byte == b','));
        items.any(|item| item.trim_ascii().eq_ignore_ascii_case(word))
    }
}

/// httparse takes a bare LF for a line's end; not everybody behind us does.
fn line_ends(head: &[u8]) -> Result<(), Refused> {
    // Without a way out in the middle, so that many bytes are looked at at once.
    let bare =
        |all: bool, (before, byte): (&u8, &u8)| all | ((*byte == b'\n') & (*before != b'\r'));
    let bare = head.iter().zip(head.iter().skip(1)).fold(head.first() == Some(&b'\n'), bare);
    if bare { Err(BAD("A line must end in CR LF.\n")) } else { Ok(()) }
}

/// What pingora takes for no part of a target, though some write it there: browsers escape it.
fn is_unwritten(byte: u8, in_query: bool) -> bool {
    match byte {
        b'<' | b'>' => true,
        b'"' => in_query,
        b'`' => !in_query,
        _ => false,
    }
}

fn has_unwritten(target: &str) -> bool {
    let bytes = target.as_bytes();
    if memchr::memchr3(b'<', b'>', b'"', bytes).is_none() && memchr::memchr(b'`', bytes).is_none() {
        return false;
    }
    let query = target.find('?').unwrap_or(target.len());
    bytes.iter().enumerate().any(|(at, byte)| is_unwritten(*byte, at > query))
}

/// A head that [`Http1::parse`] refuses for its target, with that target as pingora takes it: escaped, and without a host that differs from
/// the line `Host` by its capitals or by a port that goes without saying. So all ways to an origin are the same. `None`: that is not why.
pub fn mended(head: &[u8]) -> Option<Vec<u8>> {
    let (line, rest) = head.split_at(memchr::memchr(b'\n', head)?);
    let start = memchr::memchr(b' ', line)? + 1;
    let end = memchr::memrchr(b' ', line).filter(|end| *end > start)?;
    let whole = std::str::from_utf8(&line[start..end]).ok()?;
    let local = local(whole, rest);
    let target = local.unwrap_or(whole);
    if local.is_none() && !has_unwritten(target) {
        return None;
    }
    let query = target.find('?').unwrap_or(target.len());
    let mut mended = Vec::with_capacity(head.len() + 64);
    mended.extend_from_slice(&head[..start]);
    for (at, byte) in target.bytes().enumerate() {
        match is_unwritten(byte, at > query) {
            true => mended.extend_from_slice(format!("%{byte:02X}").as_bytes()),
            false => mended.push(byte),
        }
    }
    mended.extend_from_slice(&head[end..]);
    Some(mended)
}

/// The path of a target that names its host in other words than the line `Host` among `lines`.
fn local<'t>(target: &'t str, lines: &[u8]) -> Option<&'t str> {
    let (scheme, rest) = target.split_once("://")?;
    let port = if scheme.eq_ignore_ascii_case("https") { ":443" } else { ":80" };
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let lines = lines.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).skip(1);
    let lines = lines.take_while(|line| !line.is_empty());
    let mut hosts = lines.filter_map(|line| {
        let (name, value) = line.split_at(memchr::memchr(b':', line)?);
        name.eq_ignore_ascii_case(b"host").then(|| value[1..].trim_ascii())
    });
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return None };
    let host = std::str::from_utf8(host).ok()?;
    let bare = |name: &str| name.strip_suffix(port).unwrap_or(name).to_ascii_lowercase();
    let known = ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    let same = known && host != authority && bare(host) == bare(authority);
    match path {
        "" if same => Some("/"),
        path if same && path.starts_with('/') => Some(path),
        _ => None,
    }
}

/// The path, and the host if the target names one.
fn target(raw: &str) -> Result<(&str, Option<&str>), Refused> {
    plain_target(raw)?;
    if raw.len() > MAX_TARGET {
        return Err(Refused(414, "This target is too long.\n"));
    }
    if has_unwritten(raw) {
        return Err(BAD("A target has such characters only escaped.\n"));
    }
    if raw.starts_with('/') {
        return Ok((raw, None));
    }
    let scheme = raw.get(..7).filter(|scheme| scheme.eq_ignore_ascii_case("http://"));
    let secure = raw.get(..8).filter(|scheme| scheme.eq_ignore_ascii_case("https://"));
    let Some(scheme) = scheme.or(secure) else {
        return Err(BAD("A target is a path or an address.\n"));
    };
    let rest = &raw[scheme.len()..];
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    match path {
        "" => Ok(("/", Some(authority))),
        path if path.starts_with('/') => Ok((path, Some(authority))),
        _ => Err(BAD("An address needs a path.\n")),
    }
}

/// What has no place in a target, whichever door it comes by: HTTP/2 as pingora reads it takes any byte from 0x80 on.
///
/// # Errors
/// What it is refused with.
pub(super) fn plain_target(raw: &str) -> Result<(), Refused> {
    let strange = |byte: u8| !(0x21..=0x7e).contains(&byte) | (byte == b'#');
    match raw.bytes().fold(false, |any, byte| any | strange(byte)) {
        true => Err(BAD("A target has no such characters.\n")),
        false => Ok(()),
    }
}

/// Exactly one host, and the same everywhere: by the lines that name it, and by the target.
///
/// # Errors
/// What it is refused with.
pub(super) fn one_host<'b>(
    mut lines: impl Iterator<Item = &'b [u8]>,
    authority: Option<&'b str>,
    version: Version,
) -> Result<&'b str, Refused> {
    let old = version == Version::HTTP_10;
    let host = match (lines.next(), lines.next(), authority) {
        (Some(host), None, _) => std::str::from_utf8(host).map_err(|_| BAD("No such host.\n"))?,
        (None, _, Some(authority)) if old || version == Version::HTTP_2 => authority,
        (None, _, _) if old => "",
        (None, ..) => return Err(BAD("A request needs a Host.\n")),
        (Some(_), Some(_), _) => return Err(BAD("A request has one Host.\n")),
    };
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:[]%".contains(&byte);
    if !host.bytes().all(plain) || (host.is_empty() && !old) {
        return Err(BAD("No such host.\n"));
    }
    if authority.is_some_and(|authority| authority != host) {
        return Err(BAD("Target and Host differ.\n"));
    }
    Ok(host)
}

/// What a client may expect before it goes on.
///
/// # Errors
/// What it is refused with.
pub(super) fn expectation(expected: Option<&[u8]>) -> Result<(), Refused> {
    match expected.is_none_or(|expected| expected.eq_ignore_ascii_case(b"100-continue")) {
        true => Ok(()),
        false => Err(Refused(417, "Only 100-continue can be expected.\n")),
    }
}

fn body(lines: Lines<'_, '_>, old: bool) -> Result<Body, Refused> {
    let mut lengths = lines.all("content-length");
    let mut encodings = lines.all("transfer-encoding");
    match (lengths.next(), encodings.next()) {
        (None, None) => Ok(Body::None),
        (Some(_), Some(_)) => Err(BAD("Content-Length and Transfer-Encoding.\n")),
        (Some(length), None) => {
            let digits = !length.is_empty() && length.iter().all(u8::is_ascii_digit);
            let number = std::str::from_utf8(length).ok().filter(|_| digits && length.len() < 19);
            match (number.and_then(|number| number.parse().ok()), lengths.next()) {
                (Some(0), None) => Ok(Body::None),
                (Some(length), None) => Ok(Body::Length(length)),
                _ => Err(BAD("Content-Length is one plain number.\n")),
            }
        }
        (None, Some(_)) if old => Err(BAD("HTTP/1.0 has no Transfer-Encoding.\n")),
        (None, Some(encoding)) => {
            match encoding.eq_ignore_ascii_case(b"chunked") && encodings.next().is_none() {
                true => Ok(Body::Chunked),
                false => Err(BAD("Only chunked is a Transfer-Encoding here.\n")),
            }
        }
    }
}
