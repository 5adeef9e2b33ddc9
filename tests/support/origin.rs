//! A site behind the gateway: real HTTP/1.1 in threads, with a memory of who asked for what.
//!
//! Owns sockets and the reading of requests, strictly: what it can't read it remembers as a problem, so that a test sees
//! everything that ever reached it. What it answers is [`super::site`]'s.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::{PATIENCE, eventually, site};

/// Of a body, so much is kept; its length and hash are of all of it.
const KEPT: usize = 1 << 20;

/// A request as it came.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    pub method: String,
    pub target: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub body_bytes: u64,
    pub body_sha256: String,
    /// The whole head.
    pub raw: String,
    /// What was wrong with it.
    pub problem: Option<String>,
}

impl Seen {
    /// The first value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// All values of a header.
    pub fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        let named = self.headers.iter().filter(move |(other, _)| other.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value.as_str())
    }

    /// The path, without the query.
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// The first value of a name in the query; `%xx` is decoded.
    pub fn parameter(&self, name: &str) -> Option<String> {
        let (_, query) = self.target.split_once('?')?;
        query.split('&').find_map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (key == name).then(|| decoded(value))
        })
    }

    /// A number in the query.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.parameter(name)?.parse().ok()
    }
}

fn decoded(value: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = value.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = rest.get(1..3).filter(|_| *first == b'%');
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &rest[3..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A running site; gone when it is dropped.
pub struct Origin {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

/// What its threads share.
pub(super) struct Shared {
    name: String,
    seen: Mutex<Vec<Seen>>,
    open: Mutex<Vec<TcpStream>>,
    accepted: AtomicUsize,
    answering: AtomicUsize,
    stopping: AtomicBool,
    sick: AtomicBool,
}

impl Origin {
    /// Starts one.
    pub fn start() -> Origin {
        Origin::named("origin")
    }

    /// Starts one that says who it is in `X-Origin`.
    pub fn named(name: &str) -> Origin {
        let shared = Arc::new(Shared {
            name: name.to_owned(),
            seen: Mutex::default(),
            open: Mutex::default(),
            accepted: AtomicUsize::new(0),
            answering: AtomicUsize::new(0),
            stopping: AtomicBool::new(false),
            sick: AtomicBool::new(false),
        });
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut origin = Origin { address: any, shared, accepting: None };
        origin.listen();
        origin
    }

    fn listen(&mut self) {
        let listener = eventually("a port for the origin", || TcpListener::bind(self.address).ok());
        self.address = listener.local_addr().expect("an address");
        self.shared.stopping.store(false, Ordering::SeqCst);
        let shared = self.shared.clone();
        self.accepting = Some(std::thread::spawn(move || {
            for stream in listener.incoming() {
                if shared.stopping.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                shared.accepted.fetch_add(1, Ordering::SeqCst);
                if let Ok(same) = stream.try_clone() {
                    shared.open().push(same);
                }
                let shared = shared.clone();
                // Whoever is gone is gone.
                std::thread::spawn(move || drop(serve(stream, &shared)));
            }
        }));
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Everything that ever reached it.
    pub fn seen(&self) -> Vec<Seen> {
        self.shared.seen().clone()
    }

    /// What reached it for a path.
    pub fn seen_at(&self, path: &str) -> Vec<Seen> {
        self.seen().into_iter().filter(|seen| seen.path() == path).collect()
    }

    /// The last request.
    #[track_caller]
    pub fn last(&self) -> Seen {
        self.seen().pop().expect("a request reached the origin")
    }

    /// Connections it has accepted.
    pub fn accepted(&self) -> usize {
        self.shared.accepted.load(Ordering::SeqCst)
    }

    /// Answers it has not come to the end of.
    pub fn answering(&self) -> usize {
        self.shared.answering.load(Ordering::SeqCst)
    }

    /// Forgets what it has seen.
    pub fn forget(&self) {
        self.shared.seen().clear();
    }

    /// Says at `/health` from now on that it is sick, or that it is well. Otherwise it answers as ever.
    pub fn sickens(&self, sick: bool) {
        self.shared.sick.store(sick, Ordering::SeqCst);
    }

    /// Stops: nobody listens any more, and every connection is cut.
    pub fn stop(&mut self) {
        let Some(accepting) = self.accepting.take() else { return };
        self.shared.stopping.store(true, Ordering::SeqCst);
        // Whoever waits in accept gets one more.
        let _ = TcpStream::connect_timeout(&self.address, PATIENCE);
        let _ = accepting.join();
        for stream in self.shared.open().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Listens again, at the same address.
    pub fn start_again(&mut self) {
        if self.accepting.is_none() {
            self.listen();
        }
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Shared {
    fn seen(&self) -> MutexGuard<'_, Vec<Seen>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self) -> MutexGuard<'_, Vec<TcpStream>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_sick(&self) -> bool {
        self.sick.load(Ordering::SeqCst)
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

/// Serves a connection to its end.
fn serve(stream: TcpStream, shared: &Shared) -> io::Result<()> {
    let _ = stream.set_nodelay(true);
    let mut out = stream.try_clone()?;
    let mut input = BufReader::new(stream);
    while let Some(mut seen) = head(&mut input)? {
        if seen.header("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
            out.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        if seen.problem.is_none() {
            seen.problem = body(&mut input, &mut seen)?;
        }
        shared.seen().push(seen.clone());
        if let Some(problem) = &seen.problem {
            return site::refuse(&mut out, problem);
        }
        shared.answering.fetch_add(1, Ordering::SeqCst);
        let stays = site::answer(&seen, shared, &mut input, &mut out);
        shared.answering.fetch_sub(1, Ordering::SeqCst);
        if !stays? {
            break;
        }
    }
    let _ = out.shutdown(Shutdown::Both);
    Ok(())
}

/// The head of the next request; `None`: there is none.
fn head(input: &mut impl io::BufRead) -> io::Result<Option<Seen>> {
    let mut seen = Seen::default();
    loop {
        let mut line = Vec::new();
        if input.read_until(b'\n', &mut line)? == 0 {
            let begun = !seen.raw.is_empty();
            seen.problem = Some("the head has no end".to_owned());
            return Ok(begun.then_some(seen));
        }
        let line = String::from_utf8_lossy(&line).into_owned();
        seen.raw.push_str(&line);
        let Some(text) = line.strip_suffix("\r\n") else {
            seen.problem = Some(format!("a line without CR LF: {line:?}"));
            return Ok(Some(seen));
        };
        if text.is_empty() {
            return Ok(Some(seen));
        }
        match text.split_once(':') {
            _ if seen.method.is_empty() => {
                let mut parts = text.split(' ');
                seen.method = parts.next().unwrap_or_default().to_owned();
                seen.target = parts.next().unwrap_or_default().to_owned();
                if seen.method.is_empty() || parts.next() != Some("HTTP/1.1") {
                    seen.problem = Some(format!("no request line: {text:?}"));
                    return Ok(Some(seen));
                }
            }
            Some((name, value)) if !name.is_empty() && !name.contains([' ', '\t']) => {
                seen.headers.push((name.to_owned(), value.trim().to_owned()));
            }
            _ => {
                seen.problem = Some(format!("no header: {text:?}"));
                return Ok(Some(seen));
            }
        }
    }
}

/// Reads a body; what is wrong with it.
fn body(input: &mut impl io::BufRead, seen: &mut Seen) -> io::Result<Option<String>> {
    let lengths: Vec<String> = seen.all("content-length").map(str::to_owned).collect();
    let encodings: Vec<String> = seen.all("transfer-encoding").map(str::to_owned).collect();
    let mut hash = Sha256::new();
    let mut take = |seen: &mut Seen, part: &[u8]| {
        hash.update(part);
        seen.body_bytes += part.len() as u64;
        let room = KEPT.saturating_sub(seen.body.len()).min(part.len());
        seen.body.extend_from_slice(&part[..room]);
    };
    let problem = match (lengths.as_slice(), encodings.as_slice()) {
        ([], []) => None,
        ([length], []) => match length.parse::<u64>() {
            Err(_) => Some(format!("a length of {length}")),
            Ok(length) => copy(input, length, |part| take(seen, part))?,
        },
        ([], [encoding]) if encoding.eq_ignore_ascii_case("chunked") => loop {
            let mut line = String::new();
            input.read_line(&mut line)?;
            let digits = line.split(';').next().unwrap_or_default().trim();
            let Ok(length) = u64::from_str_radix(digits, 16) else {
                break Some(format!("a chunk of {line:?}"));
            };
            if let Some(problem) = copy(input, length, |part| take(seen, part))? {
                break Some(problem);
            }
            let mut end = String::new();
            input.read_line(&mut end)?;
            match (end.as_str(), length) {
                ("\r\n", 0) => break None,
                ("\r\n", _) => {}
                _ => break Some(format!("a chunk that ends in {end:?}")),
            }
        },
        _ => Some(format!("lengths {lengths:?} and encodings {encodings:?}")),
    };
    seen.body_sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(problem)
}

fn copy(
    input: &mut impl io::Read,
    length: u64,
    mut take: impl FnMut(&[u8]),
) -> io::Result<Option<String>> {
    let mut left = length;
    let mut buffer = vec![0; 64 * 1024];
    while left > 0 {
        let most = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let read = input.read(&mut buffer[..most])?;
        if read == 0 {
            return Ok(Some(format!("a body that ends {left} bytes early")));
        }
        take(&buffer[..read]);
        left -= read as u64;
    }
    Ok(None)
}

/// The headers of a request as `/echo` shows them.
pub fn echoed<'a>(echo: &'a Value, name: &str) -> Option<&'a str> {
    let headers = echo["headers"].as_array()?;
    let named = |pair: &&Value| pair[0].as_str().is_some_and(|n| n.eq_ignore_ascii_case(name));
    headers.iter().find(named).and_then(|pair| pair[1].as_str())
}
