//! The HTTP/1 door: reads a request's head, and answers by itself whoever is not let in.
//!
//! Owns a connection between two requests: deadlines, limits, what was read and not yet used. What may pass goes on
//! to pingora's proxy with the bytes read so far, and the connection comes back for the next request. In a flash
//! crowd nearly everybody waits, and is answered here: one read, one write, no buffer held in between.
//!
//! Decides nothing: that is [`Live::receive`].

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use arc_swap::ArcSwap;
use bytes::BytesMut;
use pingora::apps::HttpServerApp as _;
use pingora::protocols::Stream;
use pingora::protocols::http::ServerSession;
use pingora::proxy::HttpProxy;
use pingora::server::ShutdownWatch;
// Sets no timer for what is ready at once, as nearly every write is.
use pingora::time::timeout;
use tokio::io::{AsyncRead as _, AsyncReadExt as _, AsyncWriteExt as _, ReadBuf};
use tokio::time::{Instant, sleep, sleep_until};

use super::access::Note;
use super::alarm::Alarm;
use super::answer::{Response, Shape};
use super::api::{self, Events, Streams};
use super::asking::Outcome;
use super::chaperone::Watch;
use super::fence::Fence;
use super::forward::{Forward, TOO_LARGE};
use super::front::Verdict;
use super::head::{Head as _, Peer};
use super::http1::{self, Body, Http1, Refused, Storage};
use super::lane::{self, Lane, Passed, Plain};
use super::live::Live;
use super::proxy::{Handed, Proxy};
use super::settings::Bounds;

/// Read at once at most: nearly every head, and a good part of a body.
const READ: usize = 16 * 1024;

/// A short body is waited for so long: who sends it does so right behind its head. Longer, and a visitor whose pass is taken back meanwhile
/// would reach the origin with it.
const MOMENT: Duration = Duration::from_millis(100);

/// After an answer to a request whose body nobody reads, so much of it is read and thrown away, that the client
/// gets to see the answer instead of a reset.
const LINGER_BYTES: usize = 256 * 1024;
const LINGER: Duration = Duration::from_secs(2);

/// At the end of a process, a connection on which nothing is under way is listened to for this long: what its client
/// sent before it could know is answered, as the connection's last. Less than what a new process waits for the old one's
/// answers.
const FAREWELL: Duration = Duration::from_secs(1);

/// The door.
pub struct Gate {
    live: Arc<ArcSwap<Live>>,
    proxy: Arc<HttpProxy<Proxy>>,
    streams: Arc<Streams>,
    shutdown: ShutdownWatch,
}

/// A head, and what becomes of it.
struct Judged {
    length: usize,
    body: Body,
    /// To another protocol: what follows the head is that one's.
    upgrades: bool,
    shape: Shape,
    step: Step,
    note: Option<Note>,
}

/// What is to be done, without borrowing from what was read.
enum Step {
    Verdict(Verdict),
    /// To the origin, as it is written here.
    Plain(Box<Forward>, Plain),
    Events(Box<Events>),
}

impl Gate {
    /// A door before a proxy.
    pub fn new(
        live: Arc<ArcSwap<Live>>,
        proxy: Arc<HttpProxy<Proxy>>,
        streams: Arc<Streams>,
        shutdown: ShutdownWatch,
    ) -> Gate {
        Gate { live, proxy, streams, shutdown }
    }

    /// Serves a connection to its end.
    pub async fn attend(self: Arc<Self>, stream: Stream, peer: Peer) {
        let mut stream = Box::new(Fence::new(stream));
        let mut unread = BytesMut::new();
        let mut bounds = self.live.load().bounds;
        // What may end the wait for any request: registered once, and not for each.
        let mut alarm = Alarm::at(Instant::now() + bounds.header_timeout);
        let (mut shutdown, mut stopped) = (self.shutdown.clone(), false);
        let mut stopping = pin!(shutdown.wait_for(|stopping| *stopping));
        let mut farewell = |cx: &mut Context<'_>| {
            stopped = stopped || stopping.as_mut().poll(cx).is_ready();
            if stopped { Poll::Ready(()) } else { Poll::Pending }
        };
        loop {
            if unread.is_empty() {
                let begun = first_bytes(&mut stream, &mut unread, &mut alarm, &mut farewell);
                if begun.await.is_none() {
                    break;
                }
            }
            let judged = self.next(&mut stream, &mut unread, peer, &bounds).await;
            let Some(judged) = judged else { break };
            match self.handle(stream, judged, &mut unread, &bounds).await {
                Some(back) => stream = back,
                None => return,
            }
            bounds = self.live.load().bounds;
            alarm.put_off(Instant::now() + bounds.idle_timeout);
        }
        hang_up(&mut stream).await;
    }

    /// The next request, which has begun. `None`: it ended, or was refused.
    async fn next(
        &self,
        stream: &mut Fence,
        unread: &mut BytesMut,
        peer: Peer,
        bounds: &Bounds,
    ) -> Option<Judged> {
        let mut deadline = None;
        loop {
            let refused = match self.judge(unread, peer, bounds) {
                Ok(Some(judged)) => return Some(judged),
                Ok(None) if unread.len() >= bounds.header_bytes => {
                    Refused(431, "The head of this request is too large.\n")
                }
                Ok(None) => {
                    let late = || Instant::now() + bounds.header_timeout;
                    let deadline = *deadline.get_or_insert_with(late);
                    let more = tokio::select! {
                        read = read_line(stream, unread, bounds.header_bytes) => read,
                        () = sleep_until(deadline) => {
                            let late = Refused(408, "The head of this request took too long.\n");
                            self.live.load().access.unreadable(late.0);
                            refuse(stream, late).await;
                            return None;
                        }
                    };
                    match more {
                        true => continue,
                        false => return None,
                    }
                }
                Err(refused) => match http1::mended(unread) {
                    Some(mended) => {
                        *unread = BytesMut::from(&*mended);
                        continue;
                    }
                    None => refused,
                },
            };
            self.live.load().access.unreadable(refused.0);
            refuse(stream, refused).await;
            return None;
        }
    }

    /// Judges what was read, if it is a whole head. Nothing of the storage for it outlives this call, so it is
    /// no part of what a waiting connection costs.
    fn judge(&self, unread: &[u8], peer: Peer, bounds: &Bounds) -> Result<Option<Judged>, Refused> {
        let mut storage = Storage::new();
        let Some(head) = Http1::parse(unread, bounds.header_lines, &mut storage)? else {
            return Ok(None);
        };
        if head.length > bounds.header_bytes {
            return Err(Refused(431, "The head of this request is too large.\n"));
        }
        let live = self.live.load();
        let mut note = live.access.note(&head);
        let verdict = live.receive(&head, peer);
        if let Some(note) = &mut note {
            note.judged(&live, &head, &verdict);
        }
        let step = match verdict {
            Verdict::Events(client) => match api::events(&live, &self.streams, &head, &client) {
                Ok(events) => Step::Events(Box::new(events)),
                Err(answer) => Step::Verdict(Verdict::Answer(answer)),
            },
            Verdict::Forward(forward) => match lane::plain(&head, &forward, bounds.body_bytes) {
                Some(request) => Step::Plain(forward, request),
                None => Step::Verdict(Verdict::Forward(forward)),
            },
            verdict => Step::Verdict(verdict),
        };
        // Whoever answers before a body is read reads no further.
        let whole = head.body == Body::None || matches!(step, Step::Plain(..));
        let persists = head.persists && whole && !*self.shutdown.borrow();
        let shape = Shape { head_only: head.method() == "HEAD", persists, old: head.old };
        let upgrades = head.get("upgrade").is_some();
        Ok(Some(Judged { length: head.length, body: head.body, upgrades, shape, step, note }))
    }

    /// Does what a request comes to. The connection comes back if it may be used again.
    async fn handle(
        &self,
        mut stream: Box<Fence>,
        judged: Judged,
        unread: &mut BytesMut,
        bounds: &Bounds,
    ) -> Option<Box<Fence>> {
        let Judged { length, body, upgrades, shape, step, mut note } = judged;
        let handed = match step {
            Step::Plain(mut forward, mut request) => {
                let whole = length + request.body;
                let passed = match come(&mut stream, unread, whole).await.ok()? {
                    true => {
                        request.bytes.extend_from_slice(&unread[length..whole]);
                        self.send(&mut stream, &mut forward, &request, shape, unread, bounds).await
                    }
                    false => Passed::Untouched,
                };
                if let Some(note) = &mut note {
                    note.answered(forward.answered.0, forward.answered.1);
                }
                match passed {
                    Passed::Kept => {
                        drop_front(unread, whole);
                        return Some(stream);
                    }
                    Passed::Closed => {
                        drop(note);
                        hang_up(&mut stream).await;
                        return None;
                    }
                    Passed::Failed(status) => {
                        let answer = self.explain(&forward, unread, bounds, status);
                        let (said, used) = ((&answer, note), (whole, Body::None));
                        return answer_with(stream, said, used, shape, unread, bounds).await;
                    }
                    Passed::Untouched => Handed::Forward(forward),
                }
            }
            Step::Verdict(Verdict::Forward(forward)) => Handed::Forward(forward),
            Step::Verdict(Verdict::Answer(answer)) => {
                let said = (&answer, note);
                return answer_with(stream, said, (length, body), shape, unread, bounds).await;
            }
            Step::Verdict(Verdict::Ask(asking)) => {
                let outcome = Box::pin(asking.outcome()).await;
                if let Some(note) = &mut note {
                    note.decided(&outcome);
                }
                match outcome {
                    Outcome::Answer(answer) => {
                        let said = (&answer, note);
                        return answer_with(stream, said, (length, body), shape, unread, bounds)
                            .await;
                    }
                    Outcome::Forward(forward) => Handed::Forward(forward),
                }
            }
            Step::Verdict(Verdict::Call(endpoint, client)) => Handed::Call(endpoint, client),
            Step::Events(events) => {
                if let Some(note) = &mut note {
                    note.answered(200, 0);
                }
                Box::pin(tell(&mut stream, *events, shape, self.shutdown.clone())).await;
                return None;
            }
            // Made into events or an answer where the head was at hand.
            Step::Verdict(Verdict::Events(_)) => return None,
        };
        if let Some(refusal) = too_large(&handed, body, bounds) {
            let said = (&refusal, note);
            return answer_with(stream, said, (length, body), shape, unread, bounds).await;
        }
        let handed = (handed, note);
        // No part of what a waiting connection holds.
        Box::pin(self.hand_on(stream, handed, length, (body, upgrades), unread, bounds)).await
    }

    /// The short way. What comes early stays with what is not used yet.
    async fn send(
        &self,
        stream: &mut Fence,
        forward: &mut Forward,
        request: &Plain,
        shape: Shape,
        unread: &mut BytesMut,
        bounds: &Bounds,
    ) -> Passed {
        stream.raise();
        let lane = Lane { stream, forward, shape, patience: bounds.body_timeout };
        let passed = Box::pin(lane.pass(request)).await;
        unread.extend_from_slice(&stream.lower());
        passed
    }

    /// The page of an origin that fails, for the head that was read.
    fn explain(&self, forward: &Forward, unread: &[u8], bounds: &Bounds, status: u16) -> Response {
        let mut storage = Storage::new();
        match Http1::parse(unread, bounds.header_lines, &mut storage) {
            Ok(Some(head)) => forward.explain(&self.live.load(), &head, status),
            _ => Response::plain(status, ""),
        }
    }

    /// To the proxy, with what was read. Of a request without a body that is its head alone: what follows it is
    /// the next one's, and stays here.
    async fn hand_on(
        &self,
        mut stream: Box<Fence>,
        (handed, note): (Handed, Option<Note>),
        length: usize,
        (body, upgrades): (Body, bool),
        unread: &mut BytesMut,
        bounds: &Bounds,
    ) -> Option<Box<Fence>> {
        let rest = match body {
            Body::None if unread.len() > length => unread.split_off(length),
            _ => BytesMut::new(),
        };
        if body == Body::None && !upgrades {
            stream.raise();
        }
        let mut session = ServerSession::new_http1(stream);
        session.set_read_timeout(Some(bounds.body_timeout));
        session.set_write_timeout(Some(bounds.body_timeout));
        let ServerSession::H1(http1) = &mut session else { return None };
        http1.set_pipelined_prefix(std::mem::take(unread));
        let watch = Arc::new(Watch::default());
        session.set_connection_user_context(Some(Box::new((handed, watch.clone(), note))));
        let reused = tokio::select! {
            biased;
            reused = self.proxy.process_new_http(session, &self.shutdown) => reused,
            () = watch.over() => None,
        };
        let mut stream = reused?.consume().0.into_any().downcast::<Fence>().ok()?;
        *unread = rest;
        unread.extend_from_slice(&stream.lower());
        Some(stream)
    }
}

/// A body that says itself that it is over its bound is refused here, where somebody lingers for it: who sends it
/// gets to see why, and not a reset.
fn too_large(handed: &Handed, body: Body, bounds: &Bounds) -> Option<Response> {
    let Body::Length(length) = body else { return None };
    match handed {
        Handed::Call(..) => (length > api::MAX_BODY as u64).then(api::too_large),
        Handed::Forward(_) => {
            let over = bounds.body_bytes.is_some_and(|bound| length > bound);
            over.then(|| Response::plain(413, TOO_LARGE))
        }
    }
}

/// Waits for a request to begin, or for a reason not to.
async fn first_bytes(
    stream: &mut Fence,
    unread: &mut BytesMut,
    alarm: &mut Alarm,
    farewell: &mut impl FnMut(&mut Context<'_>) -> Poll<()>,
) -> Option<()> {
    tokio::select! {
        biased;
        read = read_some(stream, unread) => matches!(read, Ok(1..)).then_some(()),
        () = alarm.rings() => None,
        () = async {
            poll_fn(farewell).await;
            // Whoever has only just come has a request on the way, and whoever stays may have one.
            Box::pin(sleep(FAREWELL)).await;
        } => None,
    }
}

async fn answer_with(
    mut stream: Box<Fence>,
    (answer, mut note): (&Response, Option<Note>),
    (length, body): (usize, Body),
    shape: Shape,
    unread: &mut BytesMut,
    bounds: &Bounds,
) -> Option<Box<Fence>> {
    respond(&mut stream, answer, shape, bounds.body_timeout).await.ok()?;
    if let Some(note) = &mut note {
        note.answered(answer.status, if shape.head_only { 0 } else { answer.body.len() as u64 });
    }
    drop(note);
    if shape.persists {
        drop_front(unread, length);
        return Some(stream);
    }
    if body != Body::None {
        Box::pin(linger(&mut stream)).await;
    } else {
        hang_up(&mut stream).await;
    }
    None
}

/// Forgets what was used; nothing is kept if that was all.
fn drop_front(unread: &mut BytesMut, length: usize) {
    match unread.len() == length {
        true => *unread = BytesMut::new(),
        false => _ = unread.split_to(length),
    }
}

/// Reads what is there into a buffer of the thread, and only then into one of the connection: whoever says
/// nothing holds none.
async fn read_some(stream: &mut Fence, unread: &mut BytesMut) -> io::Result<usize> {
    thread_local! {
        static SCRATCH: RefCell<Box<[u8]>> = RefCell::new(vec![0; READ].into());
    }
    poll_fn(|cx| {
        SCRATCH.with_borrow_mut(|scratch| {
            let mut buffer = ReadBuf::new(scratch);
            ready!(Pin::new(&mut *stream).poll_read(cx, &mut buffer))?;
            unread.extend_from_slice(buffer.filled());
            Poll::Ready(Ok(buffer.filled().len()))
        })
    })
    .await
}

/// Whether a short body is there in a moment, as it is where it was sent with its head. An error: it will not come.
async fn come(stream: &mut Fence, unread: &mut BytesMut, whole: usize) -> io::Result<bool> {
    if unread.len() >= whole {
        return Ok(true);
    }
    match Box::pin(timeout(MOMENT, read_upto(stream, unread, whole))).await {
        Ok(read) => read.map(|()| true),
        Err(_) => Ok(false),
    }
}

/// Reads until so many bytes are there. An error: nothing more comes.
async fn read_upto(stream: &mut Fence, unread: &mut BytesMut, most: usize) -> io::Result<()> {
    while unread.len() < most {
        if read_some(stream, unread).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(())
}

/// Reads until a line more may be there, or `most` bytes are: a head that comes byte by byte is parsed once a line. Whether it goes on.
async fn read_line(stream: &mut Fence, unread: &mut BytesMut, most: usize) -> bool {
    loop {
        let known = unread.len();
        if !matches!(read_some(stream, unread).await, Ok(1..)) {
            return false;
        }
        if unread.len() >= most || memchr::memchr(b'\n', &unread[known..]).is_some() {
            return true;
        }
    }
}

async fn respond(
    stream: &mut Fence,
    answer: &Response,
    shape: Shape,
    patience: Duration,
) -> io::Result<()> {
    let mut bytes = Vec::new();
    answer.write(&mut bytes, shape);
    send(stream, &bytes, patience).await
}

/// A reader that is too slow is given up: what it holds would be held for as long as it likes.
async fn send(stream: &mut Fence, bytes: &[u8], patience: Duration) -> io::Result<()> {
    let sent = timeout(patience, async {
        stream.write_all(bytes).await?;
        stream.flush().await
    });
    sent.await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
}

async fn refuse(stream: &mut Fence, refused: Refused) {
    let Refused(status, words) = refused;
    let answer = Response::plain(status, words);
    if respond(stream, &answer, Shape::default(), LINGER).await.is_ok() {
        Box::pin(linger(stream)).await;
    }
}

/// Says goodbye; a peer that does not take it is left.
async fn hang_up(stream: &mut Fence) {
    let _ = timeout(LINGER, stream.shutdown()).await;
}

/// Closes our side, and reads on for a moment.
async fn linger(stream: &mut Fence) {
    let _ = timeout(LINGER, async {
        let _ = stream.shutdown().await;
        let mut left = LINGER_BYTES;
        let mut scratch = [0; 4096];
        while let Ok(read @ 1..) = stream.read(&mut scratch).await {
            left = left.saturating_sub(read);
            if left == 0 {
                break;
            }
        }
    })
    .await;
}

/// Tells of a place for as long as somebody listens.
async fn tell(stream: &mut Fence, mut events: Events, shape: Shape, mut shutdown: ShutdownWatch) {
    let chunked = !shape.old;
    let mut head = Vec::new();
    Events::response_headers().write_open(&mut head, chunked);
    if send(stream, &head, LINGER).await.is_err() {
        return;
    }
    loop {
        let mut said = [0; 64];
        let event = tokio::select! {
            event = events.next() => event,
            // Whoever listens says nothing; what comes is their leaving.
            _ = stream.read(&mut said) => return,
            // They come back to whoever serves then.
            _ = shutdown.wait_for(|stopping| *stopping) => None,
        };
        let Some(event) = event else { break };
        let mut bytes = Vec::with_capacity(event.len() + 16);
        if chunked {
            bytes.extend_from_slice(format!("{:x}\r\n", event.len()).as_bytes());
        }
        bytes.extend_from_slice(&event);
        if chunked {
            bytes.extend_from_slice(b"\r\n");
        }
        if send(stream, &bytes, LINGER).await.is_err() {
            return;
        }
    }
    if chunked {
        let _ = send(stream, b"0\r\n\r\n", LINGER).await;
    }
    hang_up(stream).await;
}
