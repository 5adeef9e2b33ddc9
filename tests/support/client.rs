//! HTTP/1.1 over a socket, byte by byte: what is sent is what the test says, nothing is corrected.

use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::PATIENCE;

/// The host that tests ask for unless they say otherwise.
pub const HOST: &str = "shop.example";

/// Read at once, from sockets and of bodies.
const READ: usize = 64 * 1024;

/// A request, well formed unless its parts are not.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    pub target: String,
    pub host: String,
    pub headers: Vec<(String, String)>,
    pub body: Option<Vec<u8>>,
}

impl Request {
    /// Of any method.
    pub fn new(method: &str, target: &str) -> Request {
        Request {
            method: method.to_owned(),
            target: target.to_owned(),
            host: HOST.to_owned(),
            headers: Vec::new(),
            body: None,
        }
    }

    /// GET.
    pub fn get(target: &str) -> Request {
        Request::new("GET", target)
    }

    /// POST with a body.
    pub fn post(target: &str, body: impl Into<Vec<u8>>) -> Request {
        Request { body: Some(body.into()), ..Request::new("POST", target) }
    }

    /// A call of the visitor API.
    pub fn call(target: &str, body: &Value) -> Request {
        Request::post(target, body.to_string()).with("Content-Type", "application/json")
    }

    /// To another host.
    #[must_use]
    pub fn host(mut self, host: &str) -> Request {
        host.clone_into(&mut self.host);
        self
    }

    /// With another header.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Request {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// As a browser opens a page.
    #[must_use]
    pub fn by_browser(self) -> Request {
        self.with("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
            .with("Sec-Fetch-Mode", "navigate")
            .with("Sec-Fetch-Dest", "document")
    }

    /// Its bytes, with a length if there is a body.
    pub fn bytes(&self) -> Vec<u8> {
        let Request { method, target, host, .. } = self;
        let mut head = format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\n");
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if let Some(body) = &self.body {
            head.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        head.push_str("\r\n");
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(self.body.as_deref().unwrap_or_default());
        bytes
    }
}

/// A response, whole.
#[derive(Clone, Default)]
pub struct Response {
    pub status: u16,
    pub version: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// Statuses that came before it: 100.
    pub interim: Vec<u16>,
    /// Neither a length nor chunks: the end of the connection was the end of the body.
    pub until_close: bool,
}

impl fmt::Debug for Response {
    /// For a failed assertion: of a long body the beginning.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} {}", self.version, self.status)?;
        for (name, value) in &self.headers {
            writeln!(f, "  {name}: {value}")?;
        }
        let text: String = self.text().chars().take(400).collect();
        writeln!(f, "  {} bytes: {text}", self.body.len())
    }
}

impl Response {
    /// The first value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// All values of a header.
    pub fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        let named = self.headers.iter().filter(move |(other, _)| other.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        let said = || format!("no JSON in a {}: {}", self.status, self.text());
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{}", said()))
    }

    /// Whether it is the origin's, and not the gateway's own.
    pub fn is_from_origin(&self) -> bool {
        self.header("x-origin").is_some()
    }

    /// The state of a page of the gateway's: `waiting`, `admitted`, `expired`, `joining`, `error`.
    pub fn state(&self) -> Option<String> {
        // Behind it come words about it: `waiting fresh`. The style sheet mentions it, too, in another form.
        let states = self.between("data-anteroom-state=\"", "\"")?;
        states.split(' ').next().map(str::to_owned)
    }

    /// What a page shows in an element: `position`, `waiting`, `label`, `message`.
    pub fn shown(&self, what: &str) -> Option<String> {
        let text = self.text();
        let rest = &text[text.find(&format!("data-anteroom=\"{what}\""))?..];
        let rest = &rest[rest.find('>')? + 1..];
        Some(rest[..rest.find('<')?].to_owned())
    }

    /// The code of an API error.
    #[track_caller]
    pub fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }

    fn between(&self, before: &str, after: &str) -> Option<String> {
        let text = self.text();
        let rest = &text[text.find(before)? + before.len()..];
        Some(rest[..rest.find(after)?].to_owned())
    }
}

/// Anything bytes go through.
trait Wire: Read + Write + Send {}
impl<T: Read + Write + Send> Wire for T {}

/// A connection to the gateway.
pub struct Connection {
    /// What lies between us and the socket, such as TLS. Nothing: one file a connection is all it takes.
    wire: Option<Box<dyn Wire>>,
    tcp: TcpStream,
    unread: Vec<u8>,
    patience: Duration,
}

/// Why there is no response.
#[derive(Debug)]
pub enum Missing {
    /// The other end closed, after so many bytes of a response.
    Closed(usize),
    /// Nothing came for too long.
    Silent,
    /// It can't be read.
    Garbled(String),
}

impl Connection {
    /// Connects.
    #[track_caller]
    pub fn open(address: SocketAddr) -> Connection {
        let tcp = TcpStream::connect_timeout(&address, PATIENCE).expect("a connection");
        Connection::new(None, tcp)
    }

    /// On top of something else, such as TLS; `tcp` is what it goes through.
    pub fn over(wire: impl Read + Write + Send + 'static, tcp: TcpStream) -> Connection {
        Connection::new(Some(Box::new(wire)), tcp)
    }

    fn new(wire: Option<Box<dyn Wire>>, tcp: TcpStream) -> Connection {
        let _ = tcp.set_nodelay(true);
        let _ = tcp.set_write_timeout(Some(PATIENCE));
        Connection { wire, tcp, unread: Vec::new(), patience: PATIENCE }
    }

    /// Waits no longer than this for anything.
    #[must_use]
    pub fn patient(mut self, patience: Duration) -> Connection {
        self.patience = patience;
        self
    }

    /// The socket.
    pub fn tcp(&self) -> &TcpStream {
        &self.tcp
    }

    /// Sends bytes.
    #[track_caller]
    pub fn send(&mut self, bytes: &[u8]) {
        self.try_send(bytes).expect("the other end takes it");
    }

    /// Sends bytes, if the other end takes them.
    pub fn try_send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.wire {
            None => self.tcp.write_all(bytes),
            Some(wire) => wire.write_all(bytes).and_then(|()| wire.flush()),
        }
    }

    /// Says that nothing more will be sent.
    pub fn finish(&self) {
        let _ = self.tcp.shutdown(Shutdown::Write);
    }

    /// Sends a request and reads its response.
    #[track_caller]
    pub fn ask(&mut self, request: &Request) -> Response {
        self.send(&request.bytes());
        self.receive(request.method == "HEAD")
    }

    /// Reads the response to a request that was no HEAD.
    #[track_caller]
    pub fn read(&mut self) -> Response {
        self.receive(false)
    }

    #[track_caller]
    fn receive(&mut self, head_only: bool) -> Response {
        match self.try_read(head_only) {
            Ok(response) => response,
            Err(missing) => panic!("no response: {missing:?}"),
        }
    }

    /// Reads a response, if there is one.
    pub fn try_read(&mut self, head_only: bool) -> Result<Response, Missing> {
        let until = Instant::now() + self.patience;
        let mut response = self.read_head_until(until)?;
        let length = response.header("content-length").map(str::to_owned);
        let chunked = response.header("transfer-encoding").is_some();
        let empty = head_only || matches!(response.status, 101 | 204 | 304);
        response.body = match (empty, chunked, length) {
            (true, ..) => Vec::new(),
            (_, true, None) => self.read_chunks(until)?,
            (_, true, Some(_)) => return Err(Missing::Garbled("length and chunks".to_owned())),
            (_, false, Some(length)) => {
                let length = length.parse().map_err(|_| Missing::Garbled(length))?;
                self.read_exactly(length, until)?
            }
            (_, false, None) => {
                response.until_close = true;
                self.read_to_end(until)?
            }
        };
        Ok(response)
    }

    /// Reads the head of a response; its body is for [`Connection::read_chunk`] or [`Connection::read_exactly`].
    #[track_caller]
    pub fn read_head(&mut self) -> Response {
        let until = Instant::now() + self.patience;
        self.read_head_until(until).expect("the head of a response")
    }

    fn read_head_until(&mut self, until: Instant) -> Result<Response, Missing> {
        let mut interim = Vec::new();
        loop {
            let end = loop {
                match self.unread.windows(4).position(|four| four == b"\r\n\r\n") {
                    Some(end) => break end + 4,
                    None => self.fill(until)?,
                }
            };
            let head: Vec<u8> = self.unread.drain(..end).collect();
            let response = parse(&head)
                .ok_or_else(|| Missing::Garbled(String::from_utf8_lossy(&head).into_owned()))?;
            match response.status {
                100 | 102..=199 => interim.push(response.status),
                _ => return Ok(Response { interim, ..response }),
            }
        }
    }

    /// The next chunk of a body; empty: it was the last.
    #[track_caller]
    pub fn read_chunk(&mut self) -> Vec<u8> {
        let until = Instant::now() + self.patience;
        self.read_chunk_until(until).expect("a chunk")
    }

    /// The next chunk of a body, if there is one; empty: it was the last.
    pub fn try_read_chunk(&mut self) -> Result<Vec<u8>, Missing> {
        let until = Instant::now() + self.patience;
        self.read_chunk_until(until)
    }

    fn read_chunk_until(&mut self, until: Instant) -> Result<Vec<u8>, Missing> {
        let line = loop {
            match self.unread.windows(2).position(|two| two == b"\r\n") {
                Some(end) => break self.unread.drain(..end + 2).collect::<Vec<u8>>(),
                None => self.fill(until)?,
            }
        };
        let garbled = || Missing::Garbled(String::from_utf8_lossy(&line).into_owned());
        let digits = std::str::from_utf8(&line).map_err(|_| garbled())?.trim();
        let length = usize::from_str_radix(digits, 16).map_err(|_| garbled())?;
        let chunk = self.read_exactly(length, until)?;
        match self.read_exactly(2, until)?.as_slice() {
            b"\r\n" => Ok(chunk),
            _ => Err(Missing::Garbled("a chunk without an end".to_owned())),
        }
    }

    fn read_chunks(&mut self, until: Instant) -> Result<Vec<u8>, Missing> {
        let mut body = Vec::new();
        loop {
            let chunk = self.read_chunk_until(until)?;
            if chunk.is_empty() {
                return Ok(body);
            }
            body.extend_from_slice(&chunk);
        }
    }

    /// So many bytes.
    pub fn read_exactly(&mut self, length: usize, until: Instant) -> Result<Vec<u8>, Missing> {
        while self.unread.len() < length {
            self.fill(until)?;
        }
        let rest = self.unread.split_off(length);
        Ok(std::mem::replace(&mut self.unread, rest))
    }

    /// Everything up to the end.
    fn read_to_end(&mut self, until: Instant) -> Result<Vec<u8>, Missing> {
        loop {
            match self.fill(until) {
                Ok(()) => {}
                Err(Missing::Closed(_)) => return Ok(std::mem::take(&mut self.unread)),
                Err(missing) => return Err(missing),
            }
        }
    }

    /// Whatever comes up to the end of the connection; `None` if it does not end in time.
    pub fn rest(&mut self) -> Option<Vec<u8>> {
        let until = Instant::now() + self.patience;
        self.read_to_end(until).ok()
    }

    /// Whether the other end closes the connection without another word.
    pub fn ends(&mut self) -> bool {
        self.rest().is_some_and(|rest| rest.is_empty())
    }

    /// Some bytes, whatever there is first.
    pub fn read_some(&mut self) -> Result<Vec<u8>, Missing> {
        if self.unread.is_empty() {
            self.fill(Instant::now() + self.patience)?;
        }
        Ok(std::mem::take(&mut self.unread))
    }

    fn fill(&mut self, until: Instant) -> Result<(), Missing> {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Missing::Silent);
        }
        let _ = self.tcp.set_read_timeout(Some(left));
        let mut bytes = vec![0; READ];
        let read = match &mut self.wire {
            None => self.tcp.read(&mut bytes),
            Some(wire) => wire.read(&mut bytes),
        };
        match read {
            Ok(0) => Err(Missing::Closed(self.unread.len())),
            Ok(read) => {
                self.unread.extend_from_slice(&bytes[..read]);
                Ok(())
            }
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut => Err(Missing::Silent),
                ErrorKind::Interrupted => Ok(()),
                // However it ended, it has ended.
                _ => Err(Missing::Closed(self.unread.len())),
            },
        }
    }
}

/// A response's head.
fn parse(head: &[u8]) -> Option<Response> {
    let text = std::str::from_utf8(head).ok()?;
    let mut lines = text.split("\r\n");
    let mut status = lines.next()?.splitn(3, ' ');
    let version = status.next()?.to_owned();
    let status = status.next()?.parse().ok()?;
    let mut headers = Vec::new();
    for line in lines.take_while(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':')?;
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
    Some(Response { status, version, headers, ..Response::default() })
}
