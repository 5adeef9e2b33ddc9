//! `queue/events`: the status as it changes, as server-sent events.
//!
//! Owns the stream's rhythm. The first event comes at once; then one for every change, at the pace at which a page would
//! have polled, and at once when the turn comes or is over, which ends the stream. Whoever is sent to the end of the line
//! is told of the place there by the same stream. Every event and every sign of life in between counts as a poll. A stream
//! holds a connection for as long as its visitor waits, so there are only so many on a node, of a room, and of a visitor: whoever gets none polls.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::error::{at, gone_body};
use super::status::{Place, State, asked_by, moved};
use super::turn::{self, Turn};
use super::verdict::{Verdict, judge};
use super::{Endpoint, Response};
use crate::gateway::chronicle;
use crate::gateway::decide::Carried;
use crate::gateway::entrance::Entrance;
use crate::gateway::head::{Client, Head};
use crate::gateway::live::Live;
use crate::line::{Ending, Number, Reason, View};
use crate::room::Proof;
use crate::token::Scratch;

/// Between two looks at the view: how late a turn is noticed at most.
const LOOK: Duration = Duration::from_millis(250);
/// Silence that proxies and phones still take for a live connection.
const SILENCE: Duration = Duration::from_secs(15);
/// What a browser waits before it connects again, unless the stream told it to stop.
const OPENING: &[u8] = b"retry: 5000\n";

/// As many may one visitor have: a tab or an app each, and some that have not noticed yet that they are over.
const MAX_OWN: usize = 8;

/// The streams open on a node.
#[derive(Debug, Default)]
pub struct Streams(Mutex<HashMap<String, Open>>);

/// Those of a room: how many, and whose.
#[derive(Debug, Default)]
struct Open {
    all: usize,
    of: HashMap<Number, usize>,
}

impl Streams {
    /// None yet.
    pub fn new() -> Arc<Streams> {
        Arc::new(Streams::default())
    }

    /// How many there are.
    pub fn open(&self) -> usize {
        self.lock().values().map(|open| open.all).sum()
    }

    /// One more, if there are fewer than `in_all`, the room has fewer than `most`, and whose it is has fewer than one may have.
    fn take(
        self: &Arc<Streams>,
        (room, number): (&str, Number),
        most: usize,
        in_all: usize,
    ) -> Option<Opened> {
        let mut rooms = self.lock();
        if rooms.values().map(|open| open.all).sum::<usize>() >= in_all {
            return None;
        }
        let open = rooms.entry(room.to_owned()).or_default();
        let own = open.of.get(&number).copied().unwrap_or(0);
        if open.all >= most || own >= MAX_OWN {
            return None;
        }
        open.all += 1;
        open.of.insert(number, own + 1);
        Some(Opened { streams: self.clone(), room: room.to_owned(), number })
    }

    /// Nothing can panic while it is held.
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Open>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One of them; gone with it.
struct Opened {
    streams: Arc<Streams>,
    room: String,
    number: Number,
}

impl Drop for Opened {
    fn drop(&mut self) {
        let mut rooms = self.streams.lock();
        let Some(open) = rooms.get_mut(&self.room) else { return };
        open.all -= 1;
        if let Some(own) = open.of.get_mut(&self.number) {
            *own -= 1;
            if *own == 0 {
                open.of.remove(&self.number);
            }
        }
        if open.all == 0 {
            rooms.remove(&self.room);
        }
    }
}

/// A stream. The door writes [`Events::response_headers`], then every chunk until there are no more or the client is
/// gone. Dropping it frees its place among the node's.
pub struct Events {
    entrance: Arc<Entrance>,
    named: bool,
    token: Vec<u8>,
    proof: Proof,
    carried: Carried,
    /// `None`: the general one.
    class: Option<String>,
    /// See [`Entrance::agent`].
    agent: Option<Vec<u8>>,
    /// What was said last; `None`: nothing yet.
    last: Option<Glance>,
    /// When something was last sent.
    sent: Instant,
    /// When a change is next worth an event.
    due: Instant,
    over: bool,
    _opened: Opened,
}

/// What of a place is worth an event when it changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Glance {
    position: u64,
    waiting: u64,
    paused: bool,
    seconds: u64,
}

/// Opens a stream for whoever could poll.
///
/// # Errors
/// What a poll would be refused with, and 503 beyond the bound.
pub fn events(
    live: &Live,
    node: &Arc<Streams>,
    head: &impl Head,
    client: &Client,
) -> Result<Events, Response> {
    let asker = asked_by(live, head, client)?;
    asker.count()?;
    let entrance = asker.entrance;
    let now_ms = entrance.room.now_ms();
    let most = entrance.settings.limits.events;
    let whose = (entrance.room.name(), asker.proof.number);
    let Some(opened) = node.take(whose, most, live.bounds.streams) else {
        let message = "there are as many streams open on this node as there may be, in all or of this visitor: poll queue/status instead";
        return Err(at(now_ms, 503, "too_many_streams", message).retry_after(30));
    };
    let contact = entrance.contact();
    match judge(asker.carried, asker.named, &entrance.room.view(), now_ms, contact) {
        Verdict::Unknown => return Err(super::error::unknown_ticket(entrance)),
        Verdict::Gone(Reason::Ended(Ending::Requeued)) => {}
        Verdict::Gone(reason) => return Err(super::error::gone(entrance, asker.proof, reason)),
        _ => {}
    }
    live.meters.answered(Endpoint::Events, 200, None);
    Ok(Events {
        entrance: entrance.clone(),
        named: asker.named,
        proof: asker.proof,
        carried: asker.carried,
        class: asker.class,
        agent: asker.agent.map(<[u8]>::to_vec),
        token: asker.token.into_owned(),
        last: None,
        sent: Instant::now(),
        due: Instant::now(),
        over: false,
        _opened: opened,
    })
}

impl Events {
    /// The head of a stream, without a body.
    pub fn response_headers() -> Response {
        Response::new(200, "text/event-stream", &b""[..]).with("X-Accel-Buffering", "no")
    }

    /// The next chunk. `None`: the stream is over.
    pub async fn next(&mut self) -> Option<Vec<u8>> {
        if self.over {
            return None;
        }
        if self.last.is_none() && turn::learnt(&self.entrance, self.proof).await.is_err() {
            self.over = true; // The store is away: the client comes back by itself.
            return Some([OPENING, b"\n"].concat());
        }
        loop {
            if let Some(chunk) = self.look().await {
                self.sent = Instant::now();
                return Some(chunk);
            }
            sleep(LOOK).await;
        }
    }

    /// What is to be said now, if anything.
    async fn look(&mut self) -> Option<Vec<u8>> {
        let entrance = self.entrance.clone();
        let (view, now_ms) = (entrance.room.view(), entrance.room.now_ms());
        match judge(self.carried, self.named, &view, now_ms, entrance.contact()) {
            Verdict::Waiting => self.look_at_place(&view, now_ms),
            // As long as the line does not say more, they wait; as long as it says nothing, where they were.
            Verdict::Lost if entrance.last_position(&view, self.proof).is_some() => {
                self.look_at_place(&view, now_ms)
            }
            Verdict::Learn | Verdict::Lost => self.keep_alive(),
            Verdict::Admitted => Some(self.last_event(self.body(&view, &State::Admitted))),
            Verdict::Active { expires_ms } => {
                let expires_at = expires_ms / 1_000;
                let state = State::Inside { token: None, expires_at, fresh: false };
                Some(self.last_event(self.body(&view, &state)))
            }
            Verdict::Unknown => {
                let refusal = super::error::unknown_ticket(&entrance);
                Some(self.last_event(refusal.body.into_owned()))
            }
            Verdict::Gone(Reason::Ended(Ending::Requeued)) => self.follow(&entrance).await,
            Verdict::Gone(reason) => {
                Some(self.last_event(gone_body(&entrance, self.proof, reason)))
            }
            Verdict::Ask => self.ask(&entrance).await,
        }
    }

    /// A turn that only the line can tell of: to whoever named the ticket the pass comes with the event.
    async fn ask(&mut self, entrance: &Entrance) -> Option<Vec<u8>> {
        let identity = || {
            let identity = entrance.read(&self.token, &mut Scratch::new()).identity();
            entrance.bound(identity, self.agent.as_deref())
        };
        let turn = match turn::claim(entrance, self.proof, self.carried.joined_ms(), identity).await
        {
            Ok(turn) => turn,
            Err(_) => return self.keep_alive(), // The store is away: the turn is kept.
        };
        let view = entrance.room.view();
        match turn {
            Turn::Inside(grant) => {
                let body = self.body(&view, &State::inside(&grant, self.named));
                Some(self.last_event(body))
            }
            Turn::Waiting => self.look_at_place(&view, entrance.room.now_ms()),
            Turn::Gone(Reason::Ended(Ending::Requeued)) => self.follow(entrance).await,
            Turn::Gone(reason) => Some(self.last_event(gone_body(entrance, self.proof, reason))),
            Turn::Unknown => {
                let refusal = super::error::unknown_ticket(entrance);
                Some(self.last_event(refusal.body.into_owned()))
            }
        }
    }

    /// Goes on with the place at the end of the line that they have instead of theirs. The ticket of it comes with the event
    /// for whoever named theirs, and with the next poll, or page, as a cookie.
    async fn follow(&mut self, entrance: &Entrance) -> Option<Vec<u8>> {
        let identity = entrance.read(&self.token, &mut Scratch::new()).identity();
        match moved(entrance, self.proof, identity).await {
            Ok((proof, joined_ms, ticket)) => {
                (self.proof, self.token) = (proof, ticket.into_bytes());
                self.carried = Carried::Ticket { proof, joined_ms };
                (self.last, self.due) = (None, Instant::now());
                self.look_at_place(&entrance.room.view(), entrance.room.now_ms())
            }
            Err(_) if entrance.room.is_away() => self.keep_alive(), // Nobody loses that place.
            Err(refusal) => Some(self.last_event(refusal.body.into_owned())),
        }
    }

    fn look_at_place(&mut self, view: &View, now_ms: u64) -> Option<Vec<u8>> {
        let place = self.place(view, now_ms);
        let position = place.position(&State::Waiting);
        let glance = Glance {
            position,
            waiting: view.waiting(),
            paused: view.is_paused(),
            seconds: view.reckoned_eta(position).seconds,
        };
        if self.last == Some(glance) || Instant::now() < self.due {
            return self.keep_alive();
        }
        let pause = place.pause_seconds(&State::Waiting, position).max(1);
        let chunk = event(&place.body(&State::Waiting), self.last.is_none());
        self.due = Instant::now() + Duration::from_secs(pause).min(SILENCE);
        self.last = Some(glance);
        self.seen();
        Some(chunk)
    }

    /// A comment, if it was quiet for long.
    fn keep_alive(&mut self) -> Option<Vec<u8>> {
        // A little sooner than the bound, since nobody looks in between.
        if self.sent.elapsed() + LOOK < SILENCE {
            return None;
        }
        self.seen();
        Some(b": here\n\n".to_vec())
    }

    fn seen(&self) {
        self.entrance.room.seen(self.proof);
        chronicle::heard(&self.entrance, &self.entrance.room.view(), self.proof);
    }

    fn last_event(&mut self, body: Vec<u8>) -> Vec<u8> {
        self.seen();
        self.over = true;
        event(&body, self.last.is_none())
    }

    fn body(&self, view: &View, state: &State<'_>) -> Vec<u8> {
        self.place(view, self.entrance.room.now_ms()).body(state)
    }

    fn place<'a>(&'a self, view: &'a View, now_ms: u64) -> Place<'a> {
        let (joined_ms, ticket) = match self.carried {
            Carried::Ticket { joined_ms, .. } => (Some(joined_ms), true),
            _ => (None, false),
        };
        let queue_id = (self.named && ticket).then_some(&*self.token);
        Place {
            entrance: &self.entrance,
            view,
            proof: self.proof,
            joined_ms,
            class: self.class.as_deref(),
            queue_id,
            now_ms,
        }
    }
}

/// An event. JSON of ours is one line, so it is one field.
fn event(body: &[u8], first: bool) -> Vec<u8> {
    let opening = if first { OPENING } else { b"" };
    [opening, b"data: ", body, b"\n\n"].concat()
}
