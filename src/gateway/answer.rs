//! An answer the gateway gives itself: a status, headers and a body, the same through either door.
//!
//! Owns what every answer of ours must say (never stored, private, how long it is) and how it looks on an HTTP/1
//! connection: one buffer, so one write. Knows nothing of rooms.

use std::borrow::Cow;
use std::cell::RefCell;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::metrics::Outcome;

/// A header's value.
type Value = Cow<'static, str>;

/// An answer, whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// 503.
    pub status: u16,
    /// Names in the case they are written in; none of them is about framing.
    pub headers: Vec<(&'static str, Value)>,
    /// All of it.
    pub body: Cow<'static, [u8]>,
    /// What became of a request to a guarded page, if it was one. Not written; for the log.
    pub outcome: Option<Outcome>,
}

impl Response {
    /// An answer that nobody may keep: it is about one visitor and one moment.
    pub fn new(
        status: u16,
        content_type: &'static str,
        body: impl Into<Cow<'static, [u8]>>,
    ) -> Response {
        let mut headers = Vec::with_capacity(12);
        headers.push(("Content-Type", Value::Borrowed(content_type)));
        headers.push(("Cache-Control", "no-store, private".into()));
        headers.push(("Vary", "Cookie".into()));
        headers.push(("X-Content-Type-Options", "nosniff".into()));
        Response { status, headers, body: body.into(), outcome: None }
    }

    /// A few words.
    pub fn plain(status: u16, words: &'static str) -> Response {
        Response::new(status, "text/plain; charset=utf-8", words.as_bytes())
    }

    /// JSON.
    pub fn json(status: u16, body: Vec<u8>) -> Response {
        Response::new(status, "application/json", body)
    }

    /// To another page, by GET. A header is ASCII: what is not is escaped, as in the request that it makes.
    pub fn see_other(location: String) -> Response {
        let location = match location.is_ascii() {
            true => location,
            false => location.bytes().fold(String::new(), |mut escaped, byte| {
                match byte.is_ascii() {
                    true => escaped.push(char::from(byte)),
                    false => escaped.push_str(&format!("%{byte:02X}")),
                }
                escaped
            }),
        };
        Response::new(303, "text/plain; charset=utf-8", &b""[..]).with("Location", location)
    }

    /// With another header.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Value>) -> Response {
        self.headers.push((name, value.into()));
        self
    }

    /// What it is to whoever asked for a guarded page.
    #[must_use]
    pub fn about(self, outcome: Outcome) -> Response {
        Response { outcome: Some(outcome), ..self }
    }

    /// When to try again, in seconds.
    #[must_use]
    pub fn retry_after(self, seconds: u64) -> Response {
        self.with("Retry-After", seconds.max(1).to_string())
    }

    /// The first value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let named = |(other, _): &&(&str, Value)| other.eq_ignore_ascii_case(name);
        self.headers.iter().find(named).map(|(_, value)| value.as_ref())
    }

    /// Writes the head of an answer whose body comes bit by bit: in chunks, or up to the end of the connection.
    pub fn write_open(&self, out: &mut Vec<u8>, chunked: bool) {
        self.write_head(out);
        out.extend_from_slice(match chunked {
            true => b"\r\nTransfer-Encoding: chunked".as_slice(),
            false => b"",
        });
        out.extend_from_slice(b"\r\nConnection: close\r\n\r\n");
    }

    /// Writes it as HTTP/1.1. A HEAD's answer says how long the body would be and has none.
    pub fn write(&self, out: &mut Vec<u8>, shape: Shape) {
        out.reserve(self.body.len() + 640);
        self.write_head(out);
        if self.status != 204 && self.status != 304 {
            out.extend_from_slice(b"\r\nContent-Length: ");
            put_number(out, self.body.len() as u64);
        }
        out.extend_from_slice(match shape.persists {
            false => b"\r\nConnection: close".as_slice(),
            true if shape.old => b"\r\nConnection: keep-alive",
            true => b"",
        });
        out.extend_from_slice(b"\r\n\r\n");
        if !shape.head_only {
            out.extend_from_slice(&self.body);
        }
    }

    /// The status line and the headers, without the line end after the last.
    fn write_head(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"HTTP/1.1 ");
        put_number(out, u64::from(self.status));
        out.push(b' ');
        out.extend_from_slice(reason(self.status).as_bytes());
        out.extend_from_slice(b"\r\nDate: ");
        with_date(|date| out.extend_from_slice(date));
        for (name, value) in &self.headers {
            out.extend_from_slice(b"\r\n");
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b": ");
            // A line end in a value would be a header of somebody else's making; what is written in this program has none.
            let evil = |byte: u8| matches!(byte, b'\r' | b'\n' | 0);
            match value {
                Value::Owned(made) if made.bytes().fold(false, |any, byte| any | evil(byte)) => {
                    out.extend(made.bytes().filter(|byte| !evil(*byte)));
                }
                value => out.extend_from_slice(value.as_bytes()),
            }
        }
    }
}

/// How an answer goes out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shape {
    /// The request was a HEAD.
    pub head_only: bool,
    /// The connection stays for another request.
    pub persists: bool,
    /// The client speaks HTTP/1.0 and must be told that it stays.
    pub old: bool,
}

/// Digits, without an allocation.
pub(super) fn put_number(out: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// The time of day as headers have it, made once a second and thread.
pub(super) fn with_date<T>(use_it: impl FnOnce(&[u8]) -> T) -> T {
    thread_local! {
        static LAST: RefCell<(u64, String)> = const { RefCell::new((u64::MAX, String::new())) };
    }
    let now = SystemTime::now();
    let second = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    LAST.with_borrow_mut(|(made, text)| {
        if *made != second {
            (*made, *text) = (second, httpdate::fmt_http_date(now));
        }
        use_it(text.as_bytes())
    })
}

/// The words of a status.
fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        202 => "Accepted",
        204 => "No Content",
        303 => "See Other",
        304 => "Not Modified",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        409 => "Conflict",
        410 => "Gone",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        417 => "Expectation Failed",
        421 => "Misdirected Request",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(response: &Response, shape: Shape) -> String {
        let mut out = Vec::new();
        response.write(&mut out, shape);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn an_answer_has_a_length_and_no_foreign_headers() {
        let evil = Response::plain(503, "no").with("Location", "/a\r\nSet-Cookie: b=c".to_owned());
        let text = written(&evil, Shape { persists: true, ..Shape::default() });
        assert!(text.starts_with("HTTP/1.1 503 Service Unavailable\r\nDate: "), "{text}");
        assert!(text.contains("\r\nContent-Length: 2\r\n") && text.ends_with("\r\n\r\nno"));
        assert!(!text.contains("\r\nSet-Cookie"), "{text}");
        let head = written(&evil, Shape { head_only: true, ..Shape::default() });
        assert!(head.contains("Content-Length: 2\r\nConnection: close\r\n\r\n"), "{head}");
        assert!(head.ends_with("\r\n\r\n"));
    }

    #[test]
    fn digits() {
        for number in [0, 7, 10, 99, 100, u64::MAX] {
            let mut out = Vec::new();
            put_number(&mut out, number);
            assert_eq!(String::from_utf8(out).unwrap(), number.to_string());
        }
    }
}
