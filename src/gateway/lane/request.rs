//! Which requests are plain, and how they are written.

use super::super::answer::put_number;
use super::super::cookie::without_ours;
use super::super::forward::{Forward, Value};
use super::super::head::Head as _;
use super::super::http1::{Body, Http1};

/// What a connection says to its next end, and to nobody behind that.
const HOP_BY_HOP: [&str; 10] = [
    "connection",
    "keep-alive",
    "proxy-connection",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "http2-settings",
];

/// A longer body is not waited for: it goes through as it comes.
const MAX_BODY: u64 = 16 * 1024;

/// A request as its origin gets it.
pub struct Plain {
    /// Its head, and then its body.
    pub bytes: Vec<u8>,
    /// How long its body is, which follows the head that was read.
    pub body: usize,
    /// Whether it may be sent again where nobody knows if it was heard.
    pub repeats: bool,
}

/// A request with its head written, if it is plain: it has a short body or none, of `most` bytes, and wants nothing but an answer.
pub fn plain(head: &Http1<'_, '_>, forward: &Forward, most: Option<u64>) -> Option<Plain> {
    let renews = forward.admission.as_ref().is_some_and(|admission| admission.renew);
    let body = match head.body {
        Body::None => 0,
        Body::Length(length) if length <= most.unwrap_or(MAX_BODY).min(MAX_BODY) => length,
        Body::Length(_) | Body::Chunked => return None,
    };
    if head.old || renews || !forward.origin.is_plain() || !is_ordinary(head) {
        return None;
    }
    let body = body as usize;
    let repeats = matches!(head.method(), "GET" | "HEAD" | "OPTIONS" | "PUT" | "DELETE");
    Some(Plain { bytes: written(head, forward, body), body, repeats })
}

/// The head, with room for a body.
fn written(head: &Http1<'_, '_>, forward: &Forward, body: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(head.length + 1_024 + body);
    for part in [head.method(), " ", head.target(), " HTTP/1.1\r\n"] {
        bytes.extend_from_slice(part.as_bytes());
    }
    for (name, value) in head.lines() {
        let start = bytes.len();
        bytes.extend(name.bytes().map(|byte| byte.to_ascii_lowercase()));
        // A name is a token: nothing but letters, digits and a few signs.
        let lower = std::str::from_utf8(&bytes[start..]).unwrap_or_default();
        // The scheme is told anew, even after a trusted proxy.
        let told = lower == "x-forwarded-proto";
        if told || HOP_BY_HOP.contains(&lower) || forward.withholds(lower) {
            bytes.truncate(start);
            continue;
        }
        let rest = if lower == "cookie" { without_ours(value) } else { None };
        let value = rest.as_deref().unwrap_or(value);
        if lower == "cookie" && value.is_empty() {
            bytes.truncate(start);
            continue;
        }
        put(&mut bytes, value);
    }
    forward.tell(|name, value| {
        bytes.extend_from_slice(name.as_str().as_bytes());
        match value {
            Value::Text(text) => put(&mut bytes, text),
            Value::Number(number) => {
                bytes.extend_from_slice(b": ");
                put_number(&mut bytes, number);
                bytes.extend_from_slice(b"\r\n");
            }
        }
    });
    bytes.extend_from_slice(b"\r\n");
    bytes
}

/// Whether nothing about it needs a table of its headers.
fn is_ordinary(head: &Http1<'_, '_>) -> bool {
    let rare = ["upgrade", "expect"];
    let keeps = |token: &[u8]| {
        let token = token.trim_ascii();
        token.eq_ignore_ascii_case(b"keep-alive") || token.eq_ignore_ascii_case(b"close")
    };
    let mut tokens = head.all("connection").flat_map(|line| line.split(|byte| *byte == b','));
    tokens.all(keeps)
        && rare.iter().all(|name| head.get(name).is_none())
        && head.all("cookie").nth(1).is_none()
}

fn put(bytes: &mut Vec<u8>, value: &[u8]) {
    bytes.extend_from_slice(b": ");
    bytes.extend_from_slice(value);
    bytes.extend_from_slice(b"\r\n");
}
