//! A visitor's connection, as small as one can be while nothing is said.
//!
//! Owns the buffering of writes: what a response consists of goes out together, and no buffer is held in between.
//! Knows nothing of HTTP. pingora's own stream keeps a read and a write buffer for as long as the connection
//! lives: 41 KiB each for ten thousand people who only wait.

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsRawFd as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use async_trait::async_trait;
use pingora::protocols::raw_connect::ProxyDigest;
use pingora::protocols::{
    GetProxyDigest, GetSocketDigest, GetTimingDigest, Peek, Shutdown, SocketDigest, Ssl,
    TimingDigest, UniqueID, UniqueIDType,
};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;

/// Writes below this wait for company: a response's head and its first part are one segment then.
const GATHER: usize = 16 * 1024;
/// A write of this size with nothing before it need not be copied.
const LARGE: usize = 2 * 1024;
/// Room for what nearly every response comes to, head and first part, so that it is found once.
const USUAL: usize = 4 * 1024;

/// A connection.
#[derive(Debug)]
pub struct Connection {
    tcp: TcpStream,
    /// Written, not yet sent.
    unsent: Vec<u8>,
    digest: Option<Arc<SocketDigest>>,
}

impl Connection {
    /// A connection as it was accepted.
    pub fn new(tcp: TcpStream) -> Connection {
        Connection { tcp, unsent: Vec::new(), digest: None }
    }

    /// With the other end's address where pingora looks for it: HTTP/2 needs it there.
    #[must_use]
    pub fn known_as(mut self, peer: SocketAddr) -> Connection {
        let digest = SocketDigest::from_raw_fd(self.tcp.as_raw_fd());
        let _ = digest.peer_addr.set(Some(peer.into()));
        self.digest = Some(Arc::new(digest));
        self
    }

    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut sent = 0;
        let outcome = loop {
            if sent == self.unsent.len() {
                break Poll::Ready(Ok(()));
            }
            match Pin::new(&mut self.tcp).poll_write(cx, &self.unsent[sent..]) {
                Poll::Ready(Ok(0)) => break Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Poll::Ready(Ok(more)) => sent += more,
                Poll::Ready(Err(error)) => break Poll::Ready(Err(error)),
                Poll::Pending => break Poll::Pending,
            }
        };
        match sent == self.unsent.len() {
            // The memory goes, too.
            true => self.unsent = Vec::new(),
            false => _ = self.unsent.drain(..sent),
        }
        outcome
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_read(cx, buf)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.unsent.is_empty() && bytes.len() >= LARGE {
            return Pin::new(&mut self.tcp).poll_write(cx, bytes);
        }
        if self.unsent.len() + bytes.len() > GATHER {
            ready!(self.poll_send(cx))?;
            if bytes.len() >= LARGE {
                return Pin::new(&mut self.tcp).poll_write(cx, bytes);
            }
        }
        if self.unsent.is_empty() {
            self.unsent.reserve(USUAL);
        }
        self.unsent.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_send(cx))?;
        Pin::new(&mut self.tcp).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_send(cx))?;
        Pin::new(&mut self.tcp).poll_shutdown(cx)
    }
}

#[async_trait]
impl Shutdown for Connection {
    async fn shutdown(&mut self) {
        // The other end may be gone already.
        let _ = AsyncWriteExt::shutdown(self).await;
    }
}

impl UniqueID for Connection {
    fn id(&self) -> UniqueIDType {
        self.tcp.as_raw_fd()
    }
}

impl Ssl for Connection {}

impl Peek for Connection {}

impl GetTimingDigest for Connection {
    fn get_timing_digest(&self) -> Vec<Option<TimingDigest>> {
        Vec::new()
    }
}

impl GetProxyDigest for Connection {
    fn get_proxy_digest(&self) -> Option<Arc<ProxyDigest>> {
        None
    }
}

impl GetSocketDigest for Connection {
    fn get_socket_digest(&self) -> Option<Arc<SocketDigest>> {
        self.digest.clone()
    }
}
