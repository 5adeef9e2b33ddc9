//! An answer's head, and where its body ends.
//!
//! Owns the framing of answers (RFC 9112, 6.3). An answer whose end two readers could see in different places is an
//! error here, so that nothing an origin sends is ever taken for the answer to somebody else's request.

use std::borrow::Cow;
use std::io;

use pingora::http::ResponseHeader;

use super::super::answer::{Shape, put_number, with_date};
use super::super::forward::{Forward, Order, names_another};

/// Lines of an answer's head at most.
const MAX_LINES: usize = 128;
/// A line of a chunked body that is no chunk: its size with extensions, or a trailer.
const MAX_LINE: usize = 16 * 1024;

/// The head of an answer.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) status: u16,
    /// Its bytes, the empty line included.
    pub(super) length: usize,
    /// Where its body ends.
    pub(super) ending: Ending,
    /// Whether the server takes another request on this connection.
    pub(super) persists: bool,
    /// Whether it goes on for as long as somebody listens.
    pub(super) is_stream: bool,
    /// Whether there is something in it for us alone, or something twice.
    ours: bool,
}

/// An answer that makes no sense.
#[derive(Debug)]
pub(super) struct Nonsense;

/// What a server says to us.
const COMMAND: &str = "x-anteroom-command";

/// What goes on to nobody: what a server says about its own connection, and to us.
fn is_own(name: &str) -> bool {
    let own = ["connection", "keep-alive", "proxy-connection", "upgrade", COMMAND];
    own.iter().any(|own| name.eq_ignore_ascii_case(own))
}

/// Whether a line of a head, or of trailers, is a command. Only that of an answer's head is obeyed.
fn is_command(line: &[u8]) -> bool {
    let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
    name.trim_ascii().eq_ignore_ascii_case(COMMAND.as_bytes())
}

impl Head {
    /// Reads a head. `None`: it is not all there yet.
    pub(super) fn parse(bytes: &[u8], head_only: bool) -> Result<Option<Head>, Nonsense> {
        let mut lines = [httparse::EMPTY_HEADER; MAX_LINES];
        let mut response = httparse::Response::new(&mut lines);
        let length = match response.parse(bytes) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(_) => return Err(Nonsense),
        };
        let status = response.code.unwrap_or_default();
        let old = response.version == Some(0);
        let (mut closes, mut keeps, mut chunked) = (false, false, false);
        let (mut is_stream, mut ours, mut content_length) = (false, false, None);
        for line in &*response.headers {
            let (name, value) = (line.name, line.value.trim_ascii());
            let lists = |word: &[u8]| {
                value
                    .split(|byte| *byte == b',')
                    .any(|one| one.trim_ascii().eq_ignore_ascii_case(word))
            };
            // Most names are of another length, which is seen at once.
            match name.len() {
                10 if name.eq_ignore_ascii_case("connection") => {
                    closes |= lists(b"close");
                    keeps |= lists(b"keep-alive");
                    let mut words = value.split(|byte| *byte == b',');
                    ours |= words.any(|word| names_another(word.trim_ascii()).is_some());
                }
                12 if name.eq_ignore_ascii_case("content-type") => {
                    is_stream = value.starts_with(b"text/event-stream");
                }
                14 if name.eq_ignore_ascii_case("content-length") => {
                    let number = number(value).ok_or(Nonsense)?;
                    if content_length.is_some_and(|before| before != number) {
                        return Err(Nonsense);
                    }
                    // Said once: not everybody behind us takes it twice.
                    ours |= content_length.is_some();
                    content_length = Some(number);
                }
                17 if name.eq_ignore_ascii_case("transfer-encoding") => {
                    if chunked || old || !value.eq_ignore_ascii_case(b"chunked") {
                        return Err(Nonsense);
                    }
                    chunked = true;
                }
                18 if name.eq_ignore_ascii_case(COMMAND) => ours = true,
                _ => {}
            }
        }
        if (chunked && content_length.is_some()) || status == 101 {
            return Err(Nonsense);
        }
        let empty = head_only || status < 200 || matches!(status, 204 | 304);
        let ending = match (empty, chunked, content_length) {
            (true, ..) => Ending::Length(0),
            (_, true, _) => Ending::Chunked(Chunks::default()),
            (_, _, Some(length)) => Ending::Length(length),
            (_, _, None) => Ending::Close { ended: false },
        };
        let persists = !closes && (!old || keeps) && !matches!(ending, Ending::Close { .. });
        Ok(Some(Head { status, length, ending, persists, is_stream, ours }))
    }

    /// Whether the answer itself is still to come.
    pub(super) fn is_informational(&self) -> bool {
        self.status < 200
    }

    /// Whether a visitor has any use for it: nobody waits to be told to go on.
    pub(super) fn is_worth_telling(&self) -> bool {
        self.status != 100
    }

    /// The bytes of one that is not the answer yet, as the visitor gets them.
    pub(super) fn early<'b>(&self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        if !self.ours {
            return bytes.into();
        }
        let lines = bytes.split_inclusive(|byte| *byte == b'\n');
        lines.filter(|line| !is_command(line)).flatten().copied().collect::<Vec<u8>>().into()
    }

    /// Writes it as the visitor gets it. What the origin commands is done first.
    pub(super) async fn write(
        &self,
        bytes: &[u8],
        forward: &mut Forward,
        shape: Shape,
        out: &mut Vec<u8>,
    ) -> Result<(), Nonsense> {
        let mut lines = [httparse::EMPTY_HEADER; MAX_LINES];
        let mut response = httparse::Response::new(&mut lines);
        response.parse(&bytes[..self.length]).map_err(|_| Nonsense)?;
        out.extend_from_slice(b"HTTP/1.1 ");
        put_number(out, u64::from(self.status));
        out.push(b' ');
        out.extend_from_slice(response.reason.unwrap_or_default().as_bytes());
        out.extend_from_slice(b"\r\n");
        let mut put = |name: &[u8], value: &[u8]| {
            for part in [name, b": ", value, b"\r\n"] {
                out.extend_from_slice(part);
            }
        };
        let lines = || response.headers.iter().filter(|line| !is_own(line.name));
        if self.ours || forward.hands_out() {
            let changed = self.changed(&response, forward).await?;
            for (name, value) in &changed.headers {
                put(name.as_str().as_bytes(), value.as_bytes());
            }
        } else {
            lines().for_each(|line| put(line.name.as_bytes(), line.value));
        }
        if !lines().any(|line| line.name.eq_ignore_ascii_case("date")) {
            with_date(|date| put(b"Date", date));
        }
        if self.ending.is_rewritten() {
            put(b"Transfer-Encoding", b"chunked");
        }
        if !shape.persists {
            put(b"Connection", b"close");
        }
        out.extend_from_slice(b"\r\n");
        Ok(())
    }

    /// The rare case: the headers in a table, what is ordered in them done, and the visitor's pass among them.
    async fn changed(
        &self,
        response: &httparse::Response<'_, '_>,
        forward: &mut Forward,
    ) -> Result<ResponseHeader, Nonsense> {
        let mut header = ResponseHeader::build(self.status, Some(response.headers.len() + 2))
            .map_err(|_| Nonsense)?;
        for line in &*response.headers {
            let said =
                [COMMAND, "connection"].iter().any(|ours| line.name.eq_ignore_ascii_case(ours));
            if said || !is_own(line.name) {
                header.append_header(line.name.to_owned(), line.value).map_err(|_| Nonsense)?;
            }
        }
        let order = Order::of(&header);
        if let (Some(order), Some(admission)) = (order, &mut forward.admission) {
            admission.obey_in_time(order).await;
        }
        forward.undress(&mut header, order).map_err(|_| Nonsense)?;
        header.remove_header("connection");
        Ok(header)
    }
}

/// A plain number; a list of the same one is that number (RFC 9112, 6.3).
fn number(value: &[u8]) -> Option<u64> {
    let digits = !value.is_empty() && value.len() < 19 && value.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(value).ok().filter(|_| digits)?.parse().ok()
}

/// Where a body ends.
#[derive(Debug)]
pub(super) enum Ending {
    /// After so many bytes.
    Length(u64),
    /// Where it says so itself.
    Chunked(Chunks),
    /// Where the connection does: the visitor gets it in chunks.
    Close {
        /// It did.
        ended: bool,
    },
}

/// What of some bytes belongs to a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) length: usize,
    /// It was said to us, and goes on to nobody.
    pub(super) own: bool,
    /// The body ends with it.
    pub(super) last: bool,
}

impl Ending {
    /// What of these bytes, which come next, belongs to the body.
    pub(super) fn take(&mut self, bytes: &[u8]) -> io::Result<Part> {
        match self {
            Ending::Length(left) => {
                let length = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                *left -= length as u64;
                Ok(Part { length, own: false, last: *left == 0 })
            }
            Ending::Chunked(chunks) => chunks.take(bytes),
            Ending::Close { ended } => Ok(Part { length: bytes.len(), own: false, last: *ended }),
        }
    }

    /// The connection has ended.
    pub(super) fn end(&mut self) -> io::Result<()> {
        match self {
            Ending::Close { ended } => {
                *ended = true;
                Ok(())
            }
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Whether the visitor gets it in chunks of our making.
    pub(super) fn is_rewritten(&self) -> bool {
        matches!(self, Ending::Close { .. })
    }
}

/// How far a chunked body has come.
#[derive(Debug, Default)]
pub(super) struct Chunks {
    at: At,
    /// Of a chunk's size, or of its bytes.
    left: u64,
    /// Bytes of the present line.
    line: usize,
}

/// What comes next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum At {
    /// A digit of a size.
    #[default]
    Size,
    /// What a size may be followed by.
    Extension,
    /// The LF of a size's line.
    SizeEnd,
    /// A chunk.
    Data,
    /// The CR after it.
    DataCr,
    /// The LF after that.
    DataEnd,
    /// A trailer, or the end.
    Trailer,
    /// The LF of a trailer.
    TrailerEnd,
    /// The last LF.
    Last,
}

impl Chunks {
    /// A trailer is taken as a whole, or left until it is all there: one that is a command is a part of its own.
    fn take(&mut self, bytes: &[u8]) -> io::Result<Part> {
        let bad = || io::Error::from(io::ErrorKind::InvalidData);
        // Where the trailer that is read begins.
        let (mut at, mut trailer) = (0, 0);
        while at < bytes.len() {
            if self.at == At::Data {
                let length = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len() - at);
                self.left -= length as u64;
                at += length;
                if self.left == 0 {
                    self.at = At::DataCr;
                }
                continue;
            }
            let byte = bytes[at];
            at += 1;
            self.line += 1;
            if self.line > MAX_LINE {
                return Err(bad());
            }
            self.at = match (self.at, byte) {
                (At::Size, byte) if byte.is_ascii_hexdigit() => {
                    let digit = u64::from((byte as char).to_digit(16).unwrap_or_default());
                    // Sixteen digits would be more than anybody sends.
                    if self.line > 15 {
                        return Err(bad());
                    }
                    self.left = self.left * 16 + digit;
                    At::Size
                }
                (At::Size, b'\r') if self.line > 1 => At::SizeEnd,
                (At::Size, b';' | b' ' | b'\t') if self.line > 1 => At::Extension,
                (At::Extension, b'\r') => At::SizeEnd,
                (At::Extension, byte) if byte != b'\n' => At::Extension,
                (At::SizeEnd, b'\n') => {
                    trailer = at;
                    self.begin(if self.left == 0 { At::Trailer } else { At::Data })
                }
                (At::DataCr, b'\r') => At::DataEnd,
                (At::DataEnd, b'\n') => self.begin(At::Size),
                (At::Trailer, b'\r') if self.line == 1 => At::Last,
                (At::Trailer, b'\r') => At::TrailerEnd,
                (At::Trailer, byte) if byte != b'\n' => At::Trailer,
                (At::TrailerEnd, b'\n') if is_command(&bytes[trailer..at]) => {
                    self.at = self.begin(At::Trailer);
                    // What stands before it goes first.
                    let own = trailer == 0;
                    return Ok(Part { length: if own { at } else { trailer }, own, last: false });
                }
                (At::TrailerEnd, b'\n') => {
                    trailer = at;
                    self.begin(At::Trailer)
                }
                (At::Last, b'\n') => return Ok(Part { length: at, own: false, last: true }),
                _ => return Err(bad()),
            };
        }
        if self.line > 0 && matches!(self.at, At::Trailer | At::TrailerEnd) {
            (self.at, at) = (self.begin(At::Trailer), trailer);
        }
        Ok(Part { length: at, own: false, last: false })
    }

    /// Another line.
    fn begin(&mut self, at: At) -> At {
        self.line = 0;
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(text: &str) -> Option<Head> {
        Head::parse(text.as_bytes(), false).ok().flatten()
    }

    #[test]
    fn an_answer_ends_where_everybody_sees_it_end() {
        assert!(matches!(
            head("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n").map(|head| head.ending),
            Some(Ending::Length(5))
        ));
        let none = head("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n");
        assert!(matches!(none.map(|head| head.ending), Some(Ending::Length(0))));
        let close = head("HTTP/1.1 200 OK\r\n\r\n").expect("a head");
        assert!(matches!(close.ending, Ending::Close { .. }) && !close.persists);
        assert!(
            head("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
                .is_some_and(|head| !head.persists)
        );
        assert!(
            head("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n").is_some_and(|head| !head.persists)
        );
        for doubtful in [
            "Content-Length: 5\r\nContent-Length: 6",
            "Content-Length: 5, 5",
            "Content-Length: +5",
            "Content-Length: 5\r\nTransfer-Encoding: chunked",
            "Transfer-Encoding: gzip, chunked",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        ] {
            let text = format!("HTTP/1.1 200 OK\r\n{doubtful}\r\n\r\n");
            assert!(Head::parse(text.as_bytes(), false).is_err(), "{doubtful}");
        }
    }

    /// What goes on of a body that comes in pieces, and where it ends.
    fn taken(body: &[u8], step: usize) -> (Vec<u8>, usize) {
        let (mut chunks, mut at, mut come, mut told) = (Chunks::default(), 0, step, Vec::new());
        loop {
            let piece = &body[at..come.min(body.len())];
            let part = chunks.take(piece).expect("a good body");
            assert!(part.length > 0 || come < body.len(), "there is no more to come");
            if !part.own {
                told.extend_from_slice(&piece[..part.length]);
            }
            at += part.length;
            if part.last {
                return (told, at);
            }
            if part.length == 0 || at == come {
                come += step;
            }
        }
    }

    #[test]
    fn a_command_among_trailers_goes_no_further_in_however_many_pieces() {
        let body = b"1\r\nx\r\n0\r\nA: b\r\nX-Anteroom-COMMAND : revoke\r\nC: d\r\n\r\nnext";
        for step in 1..body.len() {
            let (told, end) = taken(body, step);
            assert_eq!(
                String::from_utf8_lossy(&told),
                "1\r\nx\r\n0\r\nA: b\r\nC: d\r\n\r\n",
                "in steps of {step}"
            );
            assert_eq!(end, body.len() - 4);
        }
    }

    /// In however many pieces a chunked body comes, its end is seen, and what follows is not it.
    #[test]
    fn chunks_end_where_they_say() {
        let body = b"4;x=\"y\"\r\nWiki\r\n10\r\n0123456789abcdef\r\n0\r\nA: b\r\n\r\nHTTP/1.1 200";
        let end = body.len() - 12;
        for step in 1..body.len() {
            assert_eq!(taken(body, step), (body[..end].to_vec(), end), "in steps of {step}");
        }
        for bad in [
            "\r\n",
            "g\r\n",
            "4\nWiki",
            "4\r\nWikiX",
            "4\r\nWiki\rX",
            "0\r\nA\n\r\n",
            "1000000000000000\r\n",
        ] {
            assert!(Chunks::default().take(bad.as_bytes()).is_err(), "{bad:?}");
        }
    }
}
