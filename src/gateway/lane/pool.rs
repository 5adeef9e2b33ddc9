//! Idle connections to servers.
//!
//! Owns them between two requests, and how a new one is opened. Knows nothing of HTTP.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

/// Kept to one server at most: more than a node's workers have under way at once in nearly every site.
const MAX_IDLE: usize = 1_024;

/// The connections to one server.
#[derive(Debug)]
pub struct Pool {
    server: SocketAddr,
    connect_timeout: Duration,
    keepalive: Duration,
    /// The last to come back is at the end, and the first to go out again.
    idle: Mutex<VecDeque<(TcpStream, Instant)>>,
}

impl Pool {
    /// Of a server.
    pub fn new(server: SocketAddr, connect_timeout: Duration, keepalive: Duration) -> Pool {
        Pool { server, connect_timeout, keepalive, idle: Mutex::default() }
    }

    /// Whose.
    pub fn server(&self) -> SocketAddr {
        self.server
    }

    /// One that is open still, as far as can be told without asking.
    pub fn take(&self) -> Option<TcpStream> {
        let mut idle = self.idle();
        while let Some((tcp, since)) = idle.pop_back() {
            let quiet = matches!(tcp.try_read(&mut [0; 1]), Err(error) if error.kind() == io::ErrorKind::WouldBlock);
            if quiet && since.elapsed() < self.keepalive {
                return Some(tcp);
            }
        }
        None
    }

    /// Back, for the next request.
    pub fn put(&self, tcp: TcpStream) {
        let mut idle = self.idle();
        if idle.len() < MAX_IDLE && !self.keepalive.is_zero() {
            idle.push_back((tcp, Instant::now()));
        }
    }

    /// Closes those that have been idle for long, or that the server has closed.
    pub fn tidy(&self) {
        let open = |tcp: &TcpStream| matches!(tcp.try_read(&mut [0; 1]), Err(error) if error.kind() == io::ErrorKind::WouldBlock);
        self.idle().retain(|(tcp, since)| since.elapsed() < self.keepalive && open(tcp));
    }

    /// Another one.
    ///
    /// # Errors
    /// The server can't be reached in time.
    pub async fn connect(&self) -> io::Result<TcpStream> {
        let connected = timeout(self.connect_timeout, TcpStream::connect(self.server)).await;
        let tcp = connected.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
        tcp.set_nodelay(true)?;
        Ok(tcp)
    }

    /// Nothing can panic while it is held, so a poisoned one is as good as any.
    fn idle(&self) -> MutexGuard<'_, VecDeque<(TcpStream, Instant)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
