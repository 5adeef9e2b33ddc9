//! A client of a few lines: one connection, one request at a time, the whole answer read.

use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// A server that says nothing for so long is broken.
const PATIENCE: Duration = Duration::from_secs(30);

/// A connection.
pub struct Client<S: Read + Write> {
    stream: BufReader<S>,
}

/// What came back.
pub struct Answer {
    /// 200.
    pub status: u16,
    /// All of its head.
    pub head: String,
    /// All of its body.
    pub body: Vec<u8>,
}

impl Answer {
    /// Bytes on the wire.
    pub fn length(&self) -> usize {
        self.head.len() + self.body.len()
    }
}

/// A plain connection to a server.
pub fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    Ok(stream)
}

impl Client<TcpStream> {
    /// Connects.
    pub fn open(address: SocketAddr) -> io::Result<Client<TcpStream>> {
        connect(address).map(Client::on)
    }
}

/// Any client.
pub trait Ask {
    /// Sends a request and reads what comes back.
    fn ask(&mut self, request: &str) -> io::Result<Answer>;
}

impl<S: Read + Write> Client<S> {
    /// On a connection.
    pub fn on(stream: S) -> Client<S> {
        Client { stream: BufReader::with_capacity(2_048, stream) }
    }
}

impl<S: Read + Write> Ask for Client<S> {
    fn ask(&mut self, request: &str) -> io::Result<Answer> {
        self.stream.get_mut().write_all(request.as_bytes())?;
        self.stream.get_mut().flush()?;
        let mut head = String::new();
        let mut length = 0;
        loop {
            let start = head.len();
            if self.stream.read_line(&mut head)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let line = head[start..].trim_end();
            if line.is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().map_err(io::Error::other)?;
            }
        }
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or(io::ErrorKind::InvalidData)?;
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        Ok(Answer { status, head, body })
    }
}
