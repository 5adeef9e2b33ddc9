//! The head of an HTTP/1 request, read without any doubt about where it ends and what follows.
//!
//! Owns strictness: a request that two servers could cut differently is refused here, so it never reaches one
//! behind us. Reads bytes that are there; never a connection.
//!
//! Refused: a line that does not end in CR LF, folded lines, a name with white space, more than one
//! `Content-Length` or `Host`, a length that is no plain number, `Transfer-Encoding` other than `chunked`, or
//! beside a length, or in HTTP/1.0, a target that is no path, and an absolute one that names another host.

use std::mem::MaybeUninit;

use super::head::Head;

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

/// The lines of a head.
#[derive(Clone, Copy)]
struct Lines<'h, 'b>(&'h [httparse::Header<'b>]);

/// Where the lines of a head are kept: on the caller's stack, so that parsing allocates nothing.
pub struct Storage<'b>([MaybeUninit<httparse::Header<'b>>; MAX_LINES]);

impl Storage<'_> {
    /// For one head.
    pub const fn new() -> Self {
        Storage([const { MaybeUninit::uninit() }; MAX_LINES])
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
        let parsed = request.parse_with_uninit_headers(bytes, &mut storage.0[..max_lines]);
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
        let lines = Lines(request.headers);
        let old = request.version == Some(0);
        let method = request.method.unwrap_or_default();
        if matches!(method, "CONNECT" | "TRACE") {
            return Err(Refused(405, "This method is not served.\n"));
        }
        let (target, authority) = target(request.path.unwrap_or_default())?;
        let host = host(lines, authority, old)?;
        let body = body(lines, old)?;
        if let Some(expected) = lines.all("expect").next()
            && !expected.eq_ignore_ascii_case(b"100-continue")
        {
            return Err(Refused(417, "Only 100-continue can be expected.\n"));
        }
        let closes = lines.lists("connection", b"close");
        let persists = if old { lines.lists("connection", b"keep-alive") } else { !closes };
        let persists = persists && !closes;
        Ok(Some(Http1 { method, target, host, lines, length, body, persists, old }))
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
        let named = self.0.iter().filter(move |line| line.name.eq_ignore_ascii_case(name));
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

/// The path, and the host if the target names one.
fn target(raw: &str) -> Result<(&str, Option<&str>), Refused> {
    if !raw.bytes().all(|byte| (0x21..=0x7e).contains(&byte) && byte != b'#') {
        return Err(BAD("A target has no such characters.\n"));
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

/// Exactly one host, and the same everywhere.
fn host<'b>(
    lines: Lines<'_, 'b>,
    authority: Option<&'b str>,
    old: bool,
) -> Result<&'b str, Refused> {
    let mut found = lines.all("host");
    let host = match (found.next(), found.next()) {
        (Some(host), None) => std::str::from_utf8(host).map_err(|_| BAD("No such host.\n"))?,
        (None, _) if old => authority.unwrap_or_default(),
        (None, _) => return Err(BAD("A request needs a Host.\n")),
        (Some(_), Some(_)) => return Err(BAD("A request has one Host.\n")),
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
                false => Err(Refused(501, "Only chunked is a Transfer-Encoding here.\n")),
            }
        }
    }
}
