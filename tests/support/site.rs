//! What the site answers.
//!
//! | path | answer |
//! |---|---|
//! | `/echo` | the request as JSON: method, target, headers |
//! | `/slow?ms=` | a page after so long; with `drip=1` its head at once |
//! | `/stream?chunks=&ms=&bytes=` | chunks, so far apart, so long |
//! | `/upload` | length and SHA-256 of what was sent, as JSON |
//! | `/download?bytes=` | [`pattern`], with a length; with `chunked=1` in chunks |
//! | `/unmeasured?bytes=` | [`pattern`], up to the end of the connection: no length, no chunks |
//! | `/ws` | a WebSocket that sends back what it gets; with `ms=` also something by itself, so often; `now=1`: agreed to at once |
//! | `/command?c=` | a page with `X-Anteroom-Command` |
//! | `/reply?status=&h=Name:Value&h=…` | a page with this status and these headers |
//! | `/cut` | the connection closed without an answer |
//! | `/health` | 200, or 503 while the origin is [sick](super::origin::Origin::sickens) |
//! | anything else | a page that says which path it is |
//!
//! Every answer has `X-Origin` with the origin's name.

use std::io::{self, BufRead, Read as _, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;

use super::origin::{Seen, Shared};
use super::websocket;

/// What every page of the site contains.
pub const MARKER: &str = "<p id=\"inside\">You are inside.</p>";

/// The longest a site takes over anything: a test that forgets it must not hang.
const LONGEST_MS: u64 = 30_000;

/// `length` bytes that are the same every time, and nowhere the same as shifted ones.
pub fn pattern(length: usize) -> Vec<u8> {
    let word = |n: usize| (n as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes();
    (0..length.div_ceil(8)).flat_map(word).take(length).collect()
}

/// Answers what can't be read.
pub(super) fn refuse(out: &mut TcpStream, problem: &str) -> io::Result<()> {
    write!(
        out,
        "HTTP/1.1 400 Bad Request\r\nX-Origin: refused\r\nContent-Length: {}\r\n",
        problem.len()
    )?;
    write!(out, "Connection: close\r\n\r\n{problem}")
}

/// Answers a request. Whether the connection may be used again.
pub(super) fn answer(
    seen: &Seen,
    shared: &Shared,
    input: &mut impl BufRead,
    out: &mut TcpStream,
) -> io::Result<bool> {
    let pause = |name| {
        let ms = seen.number(name).unwrap_or(0).min(LONGEST_MS);
        std::thread::sleep(Duration::from_millis(ms));
    };
    let mut page = Answer::page(seen, shared);
    match seen.path() {
        "/echo" => {
            let echo =
                json!({ "method": seen.method, "target": seen.target, "headers": seen.headers });
            page = page.json(&echo.to_string());
        }
        "/upload" => {
            let got = json!({ "bytes": seen.body_bytes, "sha256": seen.body_sha256 });
            page = page.json(&got.to_string());
        }
        "/slow" => pause("ms"),
        "/stream" => {
            let bytes = seen.number("bytes").unwrap_or(1_000) as usize;
            let chunks = seen.number("chunks").unwrap_or(5);
            page.write_chunked_head(out)?;
            for number in 0..chunks {
                if number > 0 {
                    pause("ms");
                }
                let chunk = pattern(bytes);
                write_chunk(out, &chunk)?;
            }
            out.write_all(b"0\r\n\r\n")?;
            return Ok(true);
        }
        "/download" => {
            let body = pattern(seen.number("bytes").unwrap_or(1_000) as usize);
            page = page.with("Content-Type", "application/octet-stream");
            if seen.number("chunked").is_some() {
                page.write_chunked_head(out)?;
                for part in body.chunks(10_007) {
                    write_chunk(out, part)?;
                }
                out.write_all(b"0\r\n\r\n")?;
                return Ok(true);
            }
            page.body = body;
        }
        "/unmeasured" => {
            let body = pattern(seen.number("bytes").unwrap_or(1_000) as usize);
            out.write_all(format!("{}Connection: close\r\n\r\n", page.head()).as_bytes())?;
            out.write_all(&body)?;
            return Ok(false);
        }
        "/ws" => return websocket::serve(seen, shared.name(), input, out).map(|()| false),
        "/command" => {
            let command = seen.parameter("c").unwrap_or_default();
            page = page.with("X-Anteroom-Command", &command);
        }
        "/reply" => {
            page.status = seen.number("status").unwrap_or(200) as u16;
            let query = seen.target.split_once('?').map_or("", |(_, query)| query);
            for pair in query.split('&').filter_map(|pair| pair.strip_prefix("h=")) {
                let one = Seen { target: format!("/?h={pair}"), ..Seen::default() };
                let header = one.parameter("h").unwrap_or_default();
                if let Some((name, value)) = header.split_once(':') {
                    page = page.with(name, value.trim());
                }
            }
        }
        "/cut" => return Ok(false),
        "/health" if shared.is_sick() => page.status = 503,
        _ => {}
    }
    page.write(out, seen.method == "HEAD")?;
    Ok(!seen.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close")))
}

struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Answer {
    fn page(seen: &Seen, shared: &Shared) -> Answer {
        let path = seen.path().replace('&', "&amp;").replace('<', "&lt;");
        let body = format!(
            "<!doctype html><html lang=\"en\"><title>The site</title><h1>{path}</h1>{MARKER}</html>\n"
        );
        let answer = Answer { status: 200, headers: Vec::new(), body: body.into_bytes() };
        answer.with("X-Origin", shared.name()).with("Content-Type", "text/html; charset=utf-8")
    }

    fn with(mut self, name: &str, value: &str) -> Answer {
        if name.eq_ignore_ascii_case("content-type") {
            self.headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        }
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    fn json(mut self, body: &str) -> Answer {
        self.body = body.as_bytes().to_vec();
        self.with("Content-Type", "application/json")
    }

    fn head(&self) -> String {
        let mut head = format!("HTTP/1.1 {} Whatever\r\n", self.status);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head
    }

    fn write_chunked_head(&self, out: &mut TcpStream) -> io::Result<()> {
        out.write_all(format!("{}Transfer-Encoding: chunked\r\n\r\n", self.head()).as_bytes())
    }

    fn write(&self, out: &mut TcpStream, head_only: bool) -> io::Result<()> {
        let empty = matches!(self.status, 204 | 304);
        let mut bytes = self.head().into_bytes();
        if !empty {
            bytes.extend_from_slice(format!("Content-Length: {}\r\n", self.body.len()).as_bytes());
        }
        bytes.extend_from_slice(b"\r\n");
        if !empty && !head_only {
            bytes.extend_from_slice(&self.body);
        }
        out.write_all(&bytes)
    }
}

fn write_chunk(out: &mut TcpStream, chunk: &[u8]) -> io::Result<()> {
    let mut bytes = format!("{:x}\r\n", chunk.len()).into_bytes();
    bytes.extend_from_slice(chunk);
    bytes.extend_from_slice(b"\r\n");
    out.write_all(&bytes)
}
