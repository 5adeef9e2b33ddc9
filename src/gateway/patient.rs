//! A connection to an origin for a request that is to become something else: a WebSocket.
//!
//! pingora proxies both directions of a request at once and, of two things that are ready, does either first. If an origin
//! says 101 before the end of the request's empty body was noted, that end is taken for the end of the WebSocket
//! (cloudflare/pingora#946): one in a hundred, where the origin is quick. So here nothing is read at the first try after
//! something was written: by the second one the end of the body has been noted.
//!
//! Nor has pingora two deadlines for reading, one for an answer and none for what an answer may become: two ends of a WebSocket may be
//! silent for as long as they like. So an answer's deadline is here, until the origin has [agreed](Agreed).
//!
//! Owns that pause, that deadline, and how long it takes to connect; nothing else.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use pingora::connectors::L4Connect;
use pingora::protocols::l4::socket::SocketAddr;
use pingora::protocols::l4::stream::Stream;
use pingora::protocols::l4::virt::{VirtualSockOpt, VirtualSocket, VirtualSocketStream};
use pingora::{Error, ErrorType, Result};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep, timeout};

/// Connects as pingora does, and pauses.
#[derive(Debug)]
pub struct Patient {
    /// Until connected. pingora sees to that only where it connects itself.
    pub connect_timeout: Duration,
    /// Between two things the origin says, until it has agreed.
    pub read_timeout: Duration,
    /// Whether it has.
    pub agreed: Agreed,
}

/// Whether an origin has agreed to become something else. Known to whoever sees its answer.
#[derive(Clone, Debug, Default)]
pub struct Agreed(Arc<AtomicBool>);

impl Agreed {
    /// It has.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[async_trait]
impl L4Connect for Patient {
    async fn connect(&self, address: &SocketAddr) -> Result<Stream> {
        let failed = |problem| Error::because(ErrorType::ConnectError, "an upgrade", problem);
        let SocketAddr::Inet(address) = address else {
            return Err(failed(io::Error::from(io::ErrorKind::Unsupported)));
        };
        let connected = timeout(self.connect_timeout, TcpStream::connect(address)).await;
        let late = |late| Error::because(ErrorType::ConnectTimedout, "an upgrade", late);
        let tcp = connected.map_err(late)?.map_err(failed)?;
        let (agreed, read_timeout) = (self.agreed.clone(), self.read_timeout);
        let pausing = Pausing { tcp, wrote: false, agreed, read_timeout, late: None };
        Ok(VirtualSocketStream::new(Box::new(pausing)).into())
    }
}

#[derive(Debug)]
struct Pausing {
    tcp: TcpStream,
    /// Since the last try to read.
    wrote: bool,
    agreed: Agreed,
    read_timeout: Duration,
    /// When what is waited for comes too late.
    late: Option<Pin<Box<Sleep>>>,
}

impl Pausing {
    /// Whether the origin has been silent for too long.
    fn is_late(&mut self, cx: &mut Context<'_>) -> bool {
        let late = self.late.get_or_insert_with(|| Box::pin(sleep(self.read_timeout)));
        late.as_mut().poll(cx).is_ready()
    }
}

impl AsyncRead for Pausing {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if std::mem::take(&mut self.wrote) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let read = Pin::new(&mut self.tcp).poll_read(cx, buf);
        if read.is_ready() || self.agreed.is_set() {
            self.late = None;
            return read;
        }
        match self.is_late(cx) {
            true => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            false => Poll::Pending,
        }
    }
}

impl AsyncWrite for Pausing {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.wrote = true;
        Pin::new(&mut self.tcp).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_shutdown(cx)
    }
}

impl VirtualSocket for Pausing {
    fn set_socket_option(&self, option: VirtualSockOpt) -> io::Result<()> {
        match option {
            VirtualSockOpt::NoDelay => self.tcp.set_nodelay(true),
            _ => Ok(()),
        }
    }
}
