//! The short way to an origin: plain requests over plain connections.
//!
//! Most of what is admitted are requests without a body or with a short one, to servers without TLS. pingora's proxy makes a table of headers of
//! each, copies it for every try, and passes the parts of an answer from task to task. Here the head that the
//! [gate](super::gate) has read is written anew in one piece, and an answer's body goes through as it comes: half the work. What is
//! added and taken away is the same, by the same rules ([`forward`](super::forward)).
//!
//! Owns such a request from its first byte to the last of its answer. Whatever is not plain goes to pingora: long bodies and those whose
//! length nobody knows, upgrades, renewals, TLS, servers that can't be reached. Strict about where an answer ends: one that could be cut differently reaches nobody.
//!
//! - `request`: which requests are plain, and how they are written.
//! - `response`: an answer's head, and where its body ends.
//! - [`pool`]: idle connections.

pub mod pool;
mod request;
mod response;

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::{Buf as _, BytesMut};
// Sets no timer for what is ready at once.
use pingora::time::timeout;
use tokio::io::{AsyncRead as _, AsyncReadExt as _, AsyncWriteExt as _, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep};

pub use request::{Plain, plain};
use response::{Ending, Head};

use super::answer::Shape;
use super::chaperone::{Connected, LONG, Watch, accompany};
use super::fence::Fence;
use super::forward::{Admission, Forward};
use crate::metrics::Failed;

/// Read at once at most.
const READ: usize = 16 * 1024;
/// An answer's head is no longer than this.
const MAX_HEAD: usize = 64 * 1024;

/// What became of a request.
pub enum Passed {
    /// Answered; the connection may be used again.
    Kept,
    /// Answered, or its visitor is gone; the connection is done with.
    Closed,
    /// Nothing was said to anybody: pingora's turn.
    Untouched,
    /// Nothing was said to the visitor: the origin failed, which is this status.
    Failed(u16),
}

/// A request on its way.
pub struct Lane<'a> {
    /// The visitor's connection, its fence up.
    pub stream: &'a mut Fence,
    /// To whom, and with what right.
    pub forward: &'a mut Forward,
    /// How the visitor asked.
    pub shape: Shape,
    /// Between two writes of an answer.
    pub patience: Duration,
}

/// A connection to a server, and what was read from it.
struct Server {
    tcp: TcpStream,
    buffer: BytesMut,
}

impl Lane<'_> {
    /// Sends a request as [`plain`] wrote it, its body behind it, and passes its answer on.
    pub async fn pass(mut self, request: &Plain) -> Passed {
        let origin = self.forward.origin.clone();
        let Some(pool) = origin.pool() else { return Passed::Untouched };
        let mut reused = pool.take();
        loop {
            let again = reused.is_some();
            let tcp = match reused.take() {
                Some(tcp) => tcp,
                None => match pool.connect().await {
                    Ok(tcp) => tcp,
                    Err(_) => return Passed::Untouched,
                },
            };
            let mut server = Server { tcp, buffer: BytesMut::with_capacity(READ) };
            let asked = self.forward.ask();
            let read = self.ask(&mut server, &request.bytes).await;
            return match read {
                // Closed while it was idle, in all likelihood.
                Err(Trouble::Silent) if again && request.repeats => continue,
                Err(Trouble::Silent | Trouble::Broken) => {
                    self.forward.origin_failed(Failed::Other);
                    Passed::Failed(502)
                }
                Err(Trouble::Late) => {
                    self.forward.origin_failed(Failed::Timeout);
                    Passed::Failed(504)
                }
                Err(Trouble::Gone) => Passed::Closed,
                Ok(head) => {
                    self.forward.origin_answered(head.status, asked);
                    let (passed, reusable) = Box::pin(self.answer(&mut server, head)).await;
                    if reusable {
                        pool.put(server.tcp);
                    }
                    passed
                }
            };
        }
    }

    /// Sends the request and reads the head of its answer.
    async fn ask(&mut self, server: &mut Server, request: &[u8]) -> Result<Head, Trouble> {
        let write_timeout = self.forward.origin.settings().write_timeout;
        match timeout(write_timeout, server.tcp.write_all(request)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return Err(Trouble::Silent),
            Err(_) => return Err(Trouble::Late),
        }
        loop {
            match self.hear(server).await? {
                Ok(1..) => {}
                _ if server.buffer.is_empty() => return Err(Trouble::Silent),
                _ => return Err(Trouble::Broken),
            }
            loop {
                let head = Head::parse(&server.buffer, self.shape.head_only);
                let Some(head) = head.map_err(|_| Trouble::Broken)? else { break };
                if !head.is_informational() {
                    return Ok(head);
                }
                // Said while the answer is still to come.
                let told = std::mem::take(&mut server.buffer);
                let (early, rest) = told.split_at(head.length);
                if head.is_worth_telling() {
                    self.send(&head.early(early)).await.map_err(|_| Trouble::Gone)?;
                }
                server.buffer.extend_from_slice(rest);
            }
            if server.buffer.len() > MAX_HEAD {
                return Err(Trouble::Broken);
            }
        }
    }

    /// Reads more of an answer whose head is still to come. The deadline that all set stands in for the one that few need.
    async fn hear(&mut self, server: &mut Server) -> Result<io::Result<usize>, Trouble> {
        let patience = self.forward.origin.settings().read_timeout;
        let soon = patience.min(LONG);
        let read = timeout(soon, server.tcp.read_buf(&mut server.buffer));
        if let Ok(read) = unless_gone(self.stream, read).await.ok_or(Trouble::Gone)? {
            return Ok(read);
        }
        let work = async {
            let over = pin!(over(self.forward.admission.as_ref(), Duration::ZERO, false));
            let read = timeout(patience - soon, server.tcp.read_buf(&mut server.buffer));
            let read = unless_gone(self.stream, unless(over, read)).await.ok_or(Trouble::Gone)?;
            read.map_err(|_| Trouble::Gone)?.map_err(|_| Trouble::Late)
        };
        Box::pin(work).await
    }

    /// Passes an answer on; whether the server's connection may be used again.
    async fn answer(&mut self, server: &mut Server, head: Head) -> (Passed, bool) {
        let mut written = Vec::with_capacity(head.length + 128);
        if head.write(&server.buffer, self.forward, self.shape, &mut written).await.is_err() {
            return (Passed::Failed(502), false);
        }
        server.buffer.advance(head.length);
        self.forward.answered.0 = head.status;
        let (reusable, is_stream) = (head.persists, head.is_stream);
        let whole = self.body(server, head.ending, &written, is_stream).await.is_ok();
        let passed = if whole && self.shape.persists { Passed::Kept } else { Passed::Closed };
        // What is left of an answer that was cut would be the next visitor's.
        (passed, reusable && whole && server.buffer.is_empty())
    }

    /// The head, and then the body as it comes.
    async fn body(
        &mut self,
        server: &mut Server,
        mut ending: Ending,
        head: &[u8],
        is_stream: bool,
    ) -> io::Result<()> {
        let read_timeout = self.forward.origin.settings().read_timeout;
        let (stream, patience) = (&mut *self.stream, self.patience);
        let long = if is_stream { Duration::ZERO } else { LONG };
        let mut over = pin!(over(self.forward.admission.as_ref(), long, is_stream));
        timeout(patience, stream.write_all(head)).await.map_err(late)??;
        let began = Instant::now();
        loop {
            let part = ending.take(&server.buffer)?;
            if part.length > 0 {
                if !part.own {
                    let bytes = &server.buffer[..part.length];
                    let sent = timeout(patience, write_part(stream, bytes, &ending));
                    unless(over.as_mut(), sent).await?.map_err(late)??;
                    self.forward.answered.1 += part.length as u64;
                }
                server.buffer.advance(part.length);
            }
            if part.last {
                let sent = timeout(patience, async {
                    if ending.is_rewritten() {
                        stream.write_all(b"0\r\n\r\n").await?;
                    }
                    stream.flush().await
                });
                return unless(over, sent).await?.map_err(late)?;
            }
            if part.length > 0 && !server.buffer.is_empty() {
                continue;
            }
            // Where neither end is ever waited for, nobody else looks.
            if began.elapsed() > LONG && is_ready(over.as_mut()).await {
                return Err(aborted());
            }
            server.buffer.reserve(READ);
            let read = match server.tcp.try_read_buf(&mut server.buffer) {
                // There is nothing more for now: what there is goes out.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let sent = timeout(patience, stream.flush());
                    unless(over.as_mut(), sent).await?.map_err(late)??;
                    let more = timeout(read_timeout, server.tcp.read_buf(&mut server.buffer));
                    let more = unless_gone(stream, unless(over.as_mut(), more));
                    more.await.ok_or_else(aborted)??.map_err(late)??
                }
                read => read?,
            };
            if read == 0 {
                ending.end()?;
            }
        }
    }

    async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let sent = timeout(self.patience, async {
            self.stream.write_all(bytes).await?;
            self.stream.flush().await
        });
        sent.await.map_err(late)?
    }
}

/// Why there is no answer.
enum Trouble {
    /// Not a byte of one came.
    Silent,
    /// It makes no sense, or ended before its head did.
    Broken,
    /// It took too long.
    Late,
    /// The visitor has hung up, or their time is over.
    Gone,
}

fn late<E>(_: E) -> io::Error {
    io::ErrorKind::TimedOut.into()
}

fn aborted() -> io::Error {
    io::ErrorKind::ConnectionAborted.into()
}

async fn write_part(stream: &mut Fence, part: &[u8], ending: &Ending) -> io::Result<()> {
    if ending.is_rewritten() {
        stream.write_all(format!("{:x}\r\n", part.len()).as_bytes()).await?;
        stream.write_all(part).await?;
        return stream.write_all(b"\r\n").await;
    }
    stream.write_all(part).await
}

/// Until the visitor's time is over. Somebody stays with whoever stays `long`.
async fn over(admission: Option<&Admission>, long: Duration, is_stream: bool) {
    let Some(admission) = admission else { return std::future::pending().await };
    if !long.is_zero() {
        sleep(long).await;
    }
    let watch = Arc::new(Watch::default());
    let (entrance, proof) = (&admission.entrance, admission.proof);
    let _connected = if is_stream { Connected::new(entrance, proof) } else { None };
    accompany(entrance, proof, admission.sitting(), &watch);
    watch.closed().await;
}

/// What comes of `work`, unless the visitor's time is over first.
async fn unless<T>(
    over: Pin<&mut impl Future<Output = ()>>,
    work: impl Future<Output = T>,
) -> io::Result<T> {
    tokio::select! {
        biased;
        done = work => Ok(done),
        () = over => Err(aborted()),
    }
}

/// Whether something has happened, as of now.
async fn is_ready(mut what: Pin<&mut impl Future<Output = ()>>) -> bool {
    poll_fn(|cx| Poll::Ready(what.as_mut().poll(cx).is_ready())).await
}

/// What comes of `work`, unless the visitor hangs up first. What they say meanwhile is the next request's, and kept.
async fn unless_gone<T>(stream: &mut Fence, work: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        done = work => Some(done),
        () = gone(stream) => None,
    }
}

/// Until the visitor hangs up: behind a raised fence nothing else is heard.
async fn gone(stream: &mut Fence) {
    poll_fn(|cx| {
        let mut byte = [0; 1];
        Pin::new(&mut *stream).poll_read(cx, &mut ReadBuf::new(&mut byte)).map(drop)
    })
    .await;
}
