//! WebSocket by hand: as much as an echo needs, on both ends.

use std::io::{self, BufRead, Read as _, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha1::{Digest as _, Sha1};

use super::client::{Connection, Missing, Request, Response};
use super::origin::Seen;
use super::visitor::Visitor;

/// What RFC 6455 says a server adds to the key.
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/// The example key of RFC 6455.
const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";

/// What a site takes to agree, unless it is asked for `now=1`: one that agrees at once meets a race in pingora 0.9.1
/// (cloudflare/pingora#946), which has a test of its own.
const THOUGHT: Duration = Duration::from_millis(50);

const TEXT: u8 = 0x81;
const CLOSE: u8 = 0x88;

/// The answer to a key.
pub fn accept(key: &str) -> String {
    STANDARD.encode(Sha1::digest(format!("{key}{GUID}")))
}

/// The site's end: sends back what it gets, and with `ms=` something by itself, so often.
pub(super) fn serve(
    seen: &Seen,
    name: &str,
    input: &mut impl BufRead,
    out: &mut TcpStream,
) -> io::Result<()> {
    let Some(key) = seen.header("sec-websocket-key") else {
        return super::site::refuse(out, "no WebSocket");
    };
    if seen.number("now").is_none() {
        std::thread::sleep(THOUGHT);
    }
    write!(out, "HTTP/1.1 101 Switching Protocols\r\nX-Origin: {name}\r\n")?;
    write!(out, "Upgrade: websocket\r\nConnection: Upgrade\r\n")?;
    write!(out, "Sec-WebSocket-Accept: {}\r\n\r\n", accept(key))?;
    if let Some(ms) = seen.number("ms") {
        let mut out = out.try_clone()?;
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(Duration::from_millis(ms.max(10)));
                if out.write_all(&frame(TEXT, b"tick", None)).is_err() {
                    return;
                }
            }
        });
    }
    loop {
        let mut head = [0; 2];
        input.read_exact(&mut head)?;
        let mut length = usize::from(head[1] & 0x7f);
        if length == 126 {
            let mut long = [0; 2];
            input.read_exact(&mut long)?;
            length = usize::from(u16::from_be_bytes(long));
        }
        let mut mask = [0; 4];
        if head[1] & 0x80 != 0 {
            input.read_exact(&mut mask)?;
        }
        let mut said = vec![0; length];
        input.read_exact(&mut said)?;
        masked(&mut said, mask);
        out.write_all(&frame(head[0], &said, None))?;
        if head[0] == CLOSE {
            return Ok(());
        }
    }
}

fn frame(kind: u8, said: &[u8], mask: Option<[u8; 4]>) -> Vec<u8> {
    let flag = if mask.is_some() { 0x80 } else { 0 };
    let mut bytes = vec![kind];
    match u8::try_from(said.len()) {
        Ok(length @ ..126) => bytes.push(flag | length),
        _ => {
            let length = u16::try_from(said.len()).expect("a short message");
            bytes.push(flag | 126);
            bytes.extend_from_slice(&length.to_be_bytes());
        }
    }
    let mut said = said.to_vec();
    if let Some(mask) = mask {
        bytes.extend_from_slice(&mask);
        masked(&mut said, mask);
    }
    bytes.extend_from_slice(&said);
    bytes
}

fn masked(said: &mut [u8], mask: [u8; 4]) {
    for (byte, mask) in said.iter_mut().zip(mask.iter().cycle()) {
        *byte ^= mask;
    }
}

/// A visitor's end.
pub struct WebSocket {
    connection: Connection,
    patience: Duration,
}

impl WebSocket {
    /// Opens one; the response if there is none to be had.
    pub fn open(visitor: &Visitor, target: &str) -> Result<WebSocket, Response> {
        let request = Request::get(target)
            .with("Upgrade", "websocket")
            .with("Connection", "Upgrade")
            .with("Sec-WebSocket-Version", "13")
            .with("Sec-WebSocket-Key", KEY)
            .with("Sec-Fetch-Mode", "websocket");
        let mut connection = visitor.connect();
        connection.send(&visitor.dress(request).bytes());
        let response = match connection.try_read(false) {
            Ok(response) => response,
            Err(missing) => panic!("no answer to a WebSocket: {missing:?}"),
        };
        match response.status {
            101 => {
                assert_eq!(response.header("sec-websocket-accept"), Some(accept(KEY).as_str()));
                Ok(WebSocket { connection, patience: super::PATIENCE })
            }
            _ => Err(response),
        }
    }

    /// Sends a text.
    pub fn say(&mut self, text: &str) -> io::Result<()> {
        self.connection.try_send(&frame(TEXT, text.as_bytes(), Some([1, 2, 3, 4])))
    }

    /// The next text; `None`: it was closed.
    #[track_caller]
    pub fn hear(&mut self) -> Option<String> {
        let until = Instant::now() + self.patience;
        let mut read = |length: usize| match self.connection.read_exactly(length, until) {
            Ok(bytes) => Some(bytes),
            Err(Missing::Closed(_)) => None,
            Err(other) => panic!("{other:?}"),
        };
        let head = read(2)?;
        let mut length = usize::from(head[1] & 0x7f);
        if length == 126 {
            let long = read(2)?;
            length = usize::from(u16::from_be_bytes([long[0], long[1]]));
        }
        let said = read(length)?;
        (head[0] == TEXT).then(|| String::from_utf8_lossy(&said).into_owned())
    }

    /// Whether what is said comes back.
    pub fn echoes(&mut self, text: &str) -> bool {
        let said = self.say(text);
        let heard = self.hear();
        let echoed = said.is_ok() && heard.as_deref() == Some(text);
        if !echoed {
            eprintln!("said {:?} of {} bytes, heard {heard:?}", said, text.len());
        }
        echoed
    }
}
