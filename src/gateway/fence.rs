//! Keeps what belongs to the next request away from whoever serves this one.
//!
//! While pingora waits for an origin it reads on, to notice a visitor who hangs up, and takes the first byte of a
//! pipelined request for an error of the present one. Behind a fence it sees the end of a connection and nothing
//! else; what comes early is kept, and is there when the connection comes back.
//!
//! Whoever says that they will say no more may have left, or only sent their last request (`nc -N`, old clients): nobody can tell before an answer
//! is written. So an end is seen `STAY` late: most answers are there by then, and an origin works for nobody no longer than that.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use async_trait::async_trait;
use bytes::BytesMut;
use pingora::protocols::raw_connect::ProxyDigest;
use pingora::protocols::tls::SslDigest;
use pingora::protocols::{
    GetProxyDigest, GetSocketDigest, GetTimingDigest, Peek, Shutdown, SocketDigest, Ssl, Stream,
    TimingDigest, UniqueID, UniqueIDType,
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// What is kept at most; whoever sends more waits until it is their turn.
const MAX_EARLY: usize = 16 * 1024;

/// For so long whoever says no more is taken to be there still.
const STAY: Duration = Duration::from_secs(5);

/// A connection that may be lent out.
#[derive(Debug)]
pub struct Fence {
    stream: Stream,
    up: bool,
    early: BytesMut,
    /// It has ended, and that is seen then.
    end: Option<Pin<Box<Sleep>>>,
}

impl Fence {
    /// Around a connection. It is down, and hides nothing.
    pub fn new(stream: Stream) -> Fence {
        Fence { stream, up: false, early: BytesMut::new(), end: None }
    }

    /// From now on what comes is the next request's.
    pub fn raise(&mut self) {
        self.up = true;
    }

    /// Down again: what came early.
    pub fn lower(&mut self) -> BytesMut {
        self.up = false;
        std::mem::take(&mut self.early)
    }
}

impl AsyncRead for Fence {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.up {
            return Pin::new(&mut self.stream).poll_read(cx, buf);
        }
        while self.end.is_none() && self.early.len() < MAX_EARLY {
            let mut bytes = [0; 1024];
            let mut some = ReadBuf::new(&mut bytes);
            ready!(Pin::new(&mut self.stream).poll_read(cx, &mut some))?;
            match some.filled() {
                [] => self.end = Some(Box::pin(sleep(STAY))),
                said => self.early.extend_from_slice(said),
            }
        }
        match &mut self.end {
            // Gone, whatever was said before.
            Some(end) => end.as_mut().poll(cx).map(Ok),
            // Nobody wakes us: there is nothing to be woken for.
            None => Poll::Pending,
        }
    }
}

impl AsyncWrite for Fence {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[async_trait]
impl Shutdown for Fence {
    async fn shutdown(&mut self) {
        self.stream.shutdown().await;
    }
}

impl UniqueID for Fence {
    fn id(&self) -> UniqueIDType {
        self.stream.id()
    }
}

impl Ssl for Fence {
    fn get_ssl_digest(&self) -> Option<Arc<SslDigest>> {
        self.stream.get_ssl_digest()
    }
}

impl Peek for Fence {}

impl GetTimingDigest for Fence {
    fn get_timing_digest(&self) -> Vec<Option<TimingDigest>> {
        self.stream.get_timing_digest()
    }
}

impl GetProxyDigest for Fence {
    fn get_proxy_digest(&self) -> Option<Arc<ProxyDigest>> {
        self.stream.get_proxy_digest()
    }
}

impl GetSocketDigest for Fence {
    fn get_socket_digest(&self) -> Option<Arc<SocketDigest>> {
        self.stream.get_socket_digest()
    }
}
