//! HTTP/2 frame by frame, for those who do not keep to it: what is sent is what the test says.

use std::io;
use std::time::{Duration, Instant};

use super::client::{Connection, HOST, Missing};
use super::gateway::Gateway;
use super::{PATIENCE, tls};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Kinds of frames.
pub const HEADERS: u8 = 1;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;

/// Flags of a frame of headers.
pub const END_STREAM: u8 = 1;
pub const END_HEADERS: u8 = 4;

/// Settings.
pub const MAX_CONCURRENT_STREAMS: u16 = 3;
pub const INITIAL_WINDOW_SIZE: u16 = 4;
pub const MAX_HEADER_LIST_SIZE: u16 = 6;

/// Why a stream ended that was not looked at, and a connection that asked for too much.
pub const REFUSED_STREAM: u32 = 7;
pub const ENHANCE_YOUR_CALM: u32 = 11;

/// A frame.
#[derive(Clone, Debug)]
pub struct Frame {
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
    pub payload: Vec<u8>,
}

impl Frame {
    /// The number that is all of its payload: the code of a reset.
    pub fn code(&self) -> Option<u32> {
        self.payload.as_slice().try_into().map(u32::from_be_bytes).ok()
    }

    /// What it says of a setting.
    pub fn setting(&self, id: u16) -> Option<u32> {
        let mut settings = self.payload.chunks_exact(6);
        settings.find_map(|one| {
            let (name, value) = one.split_at(2);
            (name == id.to_be_bytes()).then(|| u32::from_be_bytes(value.try_into().expect("four")))
        })
    }
}

/// A connection.
pub struct Frames {
    connection: Connection,
}

impl Frames {
    /// Connects, and greets with these settings.
    #[track_caller]
    pub fn open(gateway: &Gateway, settings: &[(u16, u32)]) -> Frames {
        let certificate = tls::certificate(gateway.directory());
        let mut connection = tls::connect_for(b"h2", gateway.tls_addr(), HOST, &certificate);
        connection.send(PREFACE);
        let mut frames = Frames { connection };
        let setting =
            |(id, value): &(u16, u32)| [&id.to_be_bytes()[..], &value.to_be_bytes()].concat();
        frames.send(SETTINGS, 0, 0, &settings.iter().flat_map(setting).collect::<Vec<u8>>());
        frames
    }

    /// Waits no longer than this for anything.
    #[must_use]
    pub fn patient(self, patience: Duration) -> Frames {
        Frames { connection: self.connection.patient(patience) }
    }

    /// Sends a frame.
    #[track_caller]
    pub fn send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        self.try_send(kind, flags, stream, payload).expect("the other end takes it");
    }

    /// Sends a frame, if the other end takes it.
    pub fn try_send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> io::Result<()> {
        self.connection.try_send(&framed(kind, flags, stream, payload))
    }

    /// Sends frames in one piece.
    #[track_caller]
    pub fn send_all(&mut self, frames: &[u8]) {
        self.connection.send(frames);
    }

    /// Asks for a page, whole.
    #[track_caller]
    pub fn ask(&mut self, stream: u32, target: &str, cookie: Option<&str>) {
        let head = head(target, cookie);
        self.send(HEADERS, END_HEADERS | END_STREAM, stream, &head);
    }

    /// The next frame, if there is one.
    pub fn read(&mut self) -> Result<Frame, Missing> {
        let until = Instant::now() + PATIENCE;
        let head = self.connection.read_exactly(9, until)?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        let payload = self.connection.read_exactly(length, until)?;
        Ok(Frame { kind: head[3], flags: head[4], stream, payload })
    }

    /// The next frame of this kind.
    #[track_caller]
    pub fn read_kind(&mut self, kind: u8) -> Frame {
        loop {
            match self.read() {
                Ok(frame) if frame.kind == kind => return frame,
                Ok(_) => {}
                Err(missing) => panic!("no frame of kind {kind}: {missing:?}"),
            }
        }
    }

    /// Whatever comes up to the end of the connection; `None` if it does not end in time.
    pub fn rest(&mut self) -> Option<Vec<u8>> {
        self.connection.rest()
    }
}

/// A frame's bytes.
pub fn framed(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a short frame").to_be_bytes();
    let head = [&length[1..], &[kind, flags], &stream.to_be_bytes()].concat();
    [&head[..], payload].concat()
}

/// The fields of a request for a page, each written out (RFC 7541, 6.2.2).
pub fn head(target: &str, cookie: Option<&str>) -> Vec<u8> {
    let mut fields =
        vec![(":method", "GET"), (":scheme", "https"), (":authority", HOST), (":path", target)];
    fields.push(("accept", "text/html"));
    fields.extend(cookie.map(|cookie| ("cookie", cookie)));
    let field = |(name, value): (&str, &str)| [&[0][..], &text(name), &text(value)].concat();
    fields.into_iter().flat_map(field).collect()
}

/// A text with its length before it (5.1, 5.2).
fn text(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.len();
    if rest < 127 {
        bytes.push(rest as u8);
    } else {
        bytes.push(127);
        rest -= 127;
        while rest >= 128 {
            bytes.push((rest % 128 + 128) as u8);
            rest /= 128;
        }
        bytes.push(rest as u8);
    }
    bytes.extend_from_slice(text.as_bytes());
    bytes
}
