//! Where a place stands: the body every answer about one has, `queue/status` and `queue/heartbeat`.
//!
//! Owns the fields. A poll is most of what a node does in a flash crowd, so it is answered from the view, with one
//! buffer for all of its JSON; only a caller that names its ticket and may come in waits for the line.

use super::arrival::Brought;
use super::asker::{Asker, Caller, named, seek};
use super::draw::put_phase;
use super::error::{
    SOON, gone, put_store_unavailable, queue_disabled, queue_full, store_unavailable,
    unknown_ticket,
};
use super::fields::Fields;
use super::join::put_refused;
use super::json::Json;
use super::request::{Request, from_our_page, must_be_json, value};
use super::turn::{self, Grant, Turn};
use super::verdict::{Verdict, judge};
use super::{Response, arrival};
use crate::gateway::chronicle;
use crate::gateway::decide::Carried;
use crate::gateway::entrance::{Entrance, GENERAL, Identity};
use crate::gateway::head::{Client, Head};
use crate::gateway::live::Live;
use crate::gateway::show::Holder;
use crate::line::{Ending, Joined, Keyed, Reason, Refusal, View};
use crate::room::Proof;

/// Somebody's place, and what an answer about it needs.
pub(super) struct Place<'a> {
    pub(super) entrance: &'a Entrance,
    pub(super) view: &'a View,
    pub(super) proof: Proof,
    /// When the number was given, if that is known.
    pub(super) joined_ms: Option<u64>,
    /// The class; `None`: the general one.
    pub(super) class: Option<&'a str>,
    /// The ticket, for whoever named it.
    pub(super) queue_id: Option<&'a [u8]>,
    pub(super) now_ms: u64,
}

/// What somebody is who is not gone.
pub(super) enum State<'a> {
    /// In the line.
    Waiting,
    /// May come in by opening the page.
    Admitted,
    /// Inside, with the pass for whoever may see it.
    Inside { token: Option<&'a str>, expires_at: u64, fresh: bool },
}

impl<'a> From<&'a Grant> for State<'a> {
    fn from(grant: &'a Grant) -> State<'a> {
        let Grant { token, expires_at, fresh } = grant;
        State::Inside { token: Some(token), expires_at: *expires_at, fresh: *fresh }
    }
}

impl<'a> State<'a> {
    /// Inside: whoever named the ticket has the pass with the answer, all others with the next page they open.
    pub(super) fn inside(grant: &'a Grant, named: bool) -> State<'a> {
        if named { State::from(grant) } else { State::Admitted }
    }

    /// Its name on the wire.
    pub(super) fn name(&self) -> &'static str {
        match self {
            State::Waiting => "waiting",
            State::Admitted | State::Inside { fresh: true, .. } => "admitted",
            State::Inside { .. } => "active",
        }
    }
}

impl Place<'_> {
    /// One is next; 0 has nobody before them any more.
    pub(super) fn position(&self, state: &State<'_>) -> u64 {
        match state {
            // Who was called since the view was made is as good as next.
            State::Waiting => self.view.position(self.proof.number).unwrap_or(1),
            _ => 0,
        }
    }

    /// When to ask again.
    pub(super) fn pause_seconds(&self, state: &State<'_>, position: u64) -> u64 {
        let longest = self.entrance.settings.poll_max;
        let pause =
            |position| self.entrance.pause(self.view, self.proof.number, position, self.now_ms);
        let pause = match state {
            State::Waiting => pause(Some(position)),
            State::Admitted => pause(None),
            State::Inside { .. } => longest,
        };
        (pause.min(longest).as_millis() as u64 + 500) / 1_000
    }

    /// Whose place it is.
    fn put_name(&self, json: &mut Json) {
        if let Some(queue_id) = self.queue_id {
            json.token("queue_id", queue_id);
        }
        let Proof { epoch, number } = self.proof;
        json.token("queue_ref", &self.entrance.keys.reference_text(epoch, number));
        json.text("event_id", self.entrance.room.name());
    }

    fn put_grant(json: &mut Json, state: &State<'_>) {
        if let State::Inside { token, expires_at, .. } = state {
            if let Some(token) = token {
                json.text("token", token);
            }
            json.second("expires_at", *expires_at);
        }
    }

    /// All that is known about it.
    pub(super) fn put(&self, json: &mut Json, state: &State<'_>) {
        let Place { entrance, view, .. } = self;
        let (position, paused) = (self.position(state), view.is_paused());
        self.put_name(json);
        json.number("position", position);
        json.label("position_label", &entrance.settings.ticket_prefix, self.proof.number);
        json.text("class", self.class.unwrap_or(GENERAL));
        json.number("waiting", view.waiting().max(position));
        let waits = matches!(state, State::Waiting);
        let expected = if waits { view.reckoned_eta(position).seconds } else { 0 };
        json.number("estimated_wait_seconds", expected);
        match view.eta(position).filter(|_| waits) {
            Some(eta) => {
                json.open("eta");
                json.number("low", eta.low);
                json.number("high", eta.high);
                json.close();
            }
            None => json.null("eta"),
        }
        json.text("status", state.name());
        Self::put_grant(json, state);
        if let State::Admitted = state
            && let Some(left_ms) = view.window_left_ms(self.proof.number)
        {
            json.number("claim_window_seconds", left_ms / 1_000);
        }
        if let Some(joined_ms) = self.joined_ms {
            json.second("enqueued_at", joined_ms / 1_000);
        }
        json.moment("last_heartbeat", self.now_ms);
        json.number("next_poll_seconds", self.pause_seconds(state, position).max(1));
        match entrance.message(view) {
            Some(message) => json.text("message", &message),
            None => json.null("message"),
        }
        json.flag("paused", paused);
        if view.settings().is_some_and(|settings| settings.roster) {
            json.number("roster_version", view.roster().version);
        }
        put_phase(json, entrance, view, self.now_ms);
        json.moment("server_time", self.now_ms);
    }

    /// The body of a status.
    pub(super) fn body(&self, state: &State<'_>) -> Vec<u8> {
        let mut json = Json::new();
        self.put(&mut json, state);
        json.end()
    }

    /// The body of a heartbeat.
    fn beat(&self, state: &State<'_>) -> Vec<u8> {
        let mut json = Json::new();
        let position = self.position(state);
        self.put_name(&mut json);
        json.number("position", position);
        json.text("status", state.name());
        Self::put_grant(&mut json, state);
        json.number("next_heartbeat_seconds", self.pause_seconds(state, position).max(1));
        json.moment("server_time", self.now_ms);
        json.end()
    }
}

/// The status body of a place in the line, or of one whose turn has come: for doors that are asked for JSON.
pub fn place(entrance: &Entrance, view: &View, holder: Holder<'_>) -> Vec<u8> {
    let state = match view.position(holder.proof.number) {
        Some(_) => State::Waiting,
        None => State::Admitted,
    };
    held(entrance, view, holder).body(&state)
}

/// A place by a ticket that nobody named.
fn held<'a>(entrance: &'a Entrance, view: &'a View, holder: Holder<'a>) -> Place<'a> {
    let Holder { proof, joined_ms, class } = holder;
    let (joined_ms, now_ms) = (Some(joined_ms), entrance.room.now_ms());
    let class = Some(class).filter(|class| !class.is_empty());
    Place { entrance, view, proof, joined_ms, class, queue_id: None, now_ms }
}

/// What was last known of a place, while the line can't be reached. Nobody is told that their turn is over, or that it
/// has come: only the line says.
pub fn last_place(entrance: &Entrance, view: &View, holder: Holder<'_>) -> Response {
    lost(&held(entrance, view, holder))
}

/// The same of any place.
pub(super) fn lost(place: &Place<'_>) -> Response {
    let Place { entrance, view, proof, now_ms, .. } = *place;
    let mut json = Json::new();
    let message = "the line can't be reached at the moment; the place is kept";
    put_store_unavailable(&mut json, entrance, message);
    let pause = match entrance.last_position(view, proof) {
        Some(position) => {
            place.put(&mut json, &State::Waiting);
            place.pause_seconds(&State::Waiting, position).max(1)
        }
        None => {
            place.put_name(&mut json);
            json.moment("server_time", now_ms);
            SOON
        }
    };
    Response::json(503, json.end()).retry_after(pause)
}

/// Which of the two is answered.
#[derive(Clone, Copy)]
pub(super) enum Call {
    Status,
    Heartbeat,
}

pub(super) fn said(
    asker: &Asker<'_>,
    view: &View,
    now_ms: u64,
    state: &State<'_>,
    call: Call,
) -> Response {
    placed(asker, view, now_ms, state, call, None)
}

/// The same to whoever was just given the place: which class they asked for and did not get, and why.
pub(super) fn placed(
    asker: &Asker<'_>,
    view: &View,
    now_ms: u64,
    state: &State<'_>,
    call: Call,
    refused: Option<(&str, &'static str)>,
) -> Response {
    let place = shown(asker, view, now_ms);
    Response::json(
        200,
        match call {
            Call::Status => {
                let mut json = Json::new();
                put_refused(&mut json, refused);
                place.put(&mut json, state);
                json.end()
            }
            Call::Heartbeat => place.beat(state),
        },
    )
}

/// The place that a caller shows.
fn shown<'a>(asker: &'a Asker<'_>, view: &'a View, now_ms: u64) -> Place<'a> {
    Place {
        entrance: asker.entrance,
        view,
        proof: asker.proof,
        joined_ms: asker.joined_ms(),
        class: asker.class.as_deref(),
        queue_id: asker.shown(),
        now_ms,
    }
}

/// What a verdict comes to without asking anybody; `None`: the line is to be asked.
fn from_view(
    asker: &Asker<'_>,
    view: &View,
    now_ms: u64,
    verdict: Verdict,
    call: Call,
) -> Option<Response> {
    let state = match verdict {
        Verdict::Ask | Verdict::Learn => return None,
        Verdict::Unknown => return Some(unknown_ticket(asker.entrance)),
        // They have another number: the line says which.
        Verdict::Gone(Reason::Ended(Ending::Requeued)) => return None,
        Verdict::Gone(reason) => return Some(gone(asker.entrance, asker.proof, reason)),
        Verdict::Lost => {
            let Asker { entrance, proof, .. } = *asker;
            entrance.room.seen(proof);
            chronicle::heard(entrance, view, proof);
            return Some(lost(&shown(asker, view, now_ms)));
        }
        Verdict::Waiting => State::Waiting,
        Verdict::Admitted => State::Admitted,
        Verdict::Active { expires_ms } => {
            State::Inside { token: None, expires_at: expires_ms / 1_000, fresh: false }
        }
    };
    if !matches!(state, State::Inside { .. }) {
        asker.entrance.room.seen(asker.proof);
        chronicle::heard(asker.entrance, view, asker.proof);
    }
    Some(said(asker, view, now_ms, &state, call))
}

/// A poll, from memory.
pub(super) fn answer_now(live: &Live, head: &impl Head, client: &Client) -> Option<Response> {
    let caller = match polled_by(live, head, client) {
        Ok(caller) => caller,
        Err(refusal) => return Some(refusal),
    };
    if let Carried::Provisional { .. } = caller.carried {
        return arrival::answer_now(&caller, client);
    }
    let asker = match caller.asker() {
        Ok(asker) => asker,
        Err(refusal) => return Some(refusal),
    };
    let room = &asker.entrance.room;
    let (view, now_ms) = (room.view(), room.now_ms());
    let verdict = judge(asker.carried, asker.named, &view, now_ms, asker.entrance.contact());
    let elsewhere = verdict == Verdict::Gone(Reason::Ended(Ending::Requeued));
    if matches!(verdict, Verdict::Ask | Verdict::Learn) || elsewhere {
        return None; // Counted there.
    }
    if let Err(refusal) = asker.count() {
        return Some(refusal);
    }
    from_view(&asker, &view, now_ms, verdict, Call::Status)
}

/// Who a poll is by.
fn polled_by<'a>(
    live: &'a Live,
    head: &'a impl Head,
    client: &Client,
) -> Result<Caller<'a>, Response> {
    let event_id = head.query().and_then(|query| value(query, "event_id"));
    seek(live, head, client, event_id.as_deref(), named(head))
}

/// Whose place a stream is about.
pub(super) fn asked_by<'a>(
    live: &'a Live,
    head: &'a impl Head,
    client: &Client,
) -> Result<Asker<'a>, Response> {
    polled_by(live, head, client)?.asker()
}

/// A poll for which the line is asked.
pub(super) async fn status(
    live: &Live,
    request: &Request,
    client: &Client,
) -> Result<Response, Response> {
    answer(polled_by(live, request, client)?, client, Call::Status).await
}

/// A sign of life.
pub(super) async fn heartbeat(
    live: &Live,
    request: &Request,
    client: &Client,
    body: &[u8],
) -> Result<Response, Response> {
    must_be_json(request)?;
    let fields = Fields::read(body)?;
    let caller = called_by(live, request, client, &fields, "queue_id")?;
    answer(caller, client, Call::Heartbeat).await
}

/// Whose place a POST is about.
pub(super) fn by_body<'a>(
    live: &'a Live,
    request: &'a Request,
    client: &Client,
    fields: &'a Fields,
    field: &'static str,
) -> Result<Asker<'a>, Response> {
    called_by(live, request, client, fields, field)?.asker()
}

/// Who a POST is by: a token in a field of its body, as a bearer, or by the cookie of a page of ours.
pub(super) fn called_by<'a>(
    live: &'a Live,
    request: &'a Request,
    client: &Client,
    fields: &'a Fields,
    field: &'static str,
) -> Result<Caller<'a>, Response> {
    let code = if field == "token" { "invalid_token" } else { "invalid_queue_id" };
    let event_id = fields.text("event_id", "invalid_event_id")?;
    let in_body = fields.text(field, code)?.map(|text| text.as_bytes().into());
    let named = in_body.or_else(|| named(request));
    if named.is_none() && request.get("cookie").is_some() {
        from_our_page(request, client)?;
    }
    seek(live, request, client, event_id, named)
}

async fn answer(caller: Caller<'_>, client: &Client, call: Call) -> Result<Response, Response> {
    if let Carried::Provisional { .. } = caller.carried {
        return arrival::answer(caller, client, call, Brought::default()).await;
    }
    let asker = caller.asker()?;
    asker.count()?;
    let Asker { entrance, proof, carried, named, .. } = asker;
    let room = &entrance.room;
    let mut view = room.view();
    let mut verdict = judge(carried, named, &view, room.now_ms(), entrance.contact());
    if verdict == Verdict::Learn {
        turn::learnt(entrance, proof).await?;
        view = room.view();
        verdict = judge(carried, named, &view, room.now_ms(), entrance.contact());
    }
    if let Some(answer) = from_view(&asker, &view, room.now_ms(), verdict, call) {
        return Ok(answer);
    }
    if verdict == Verdict::Gone(Reason::Ended(Ending::Requeued)) {
        return requeued(&asker, client, call).await;
    }
    let turn = turn::claim(entrance, proof, carried.joined_ms(), || asker.identity()).await?;
    let (view, now_ms) = (room.view(), room.now_ms());
    Ok(match turn {
        Turn::Inside(grant) => said(&asker, &view, now_ms, &State::inside(&grant, named), call),
        Turn::Waiting => said(&asker, &view, now_ms, &State::Waiting, call),
        Turn::Gone(Reason::Ended(Ending::Requeued)) => {
            return requeued(&asker, client, call).await;
        }
        Turn::Gone(reason) => gone(entrance, proof, reason),
        Turn::Unknown => unknown_ticket(entrance),
    })
}

/// The number at the end of the line that somebody has instead of this one, and the ticket of it.
///
/// # Errors
/// 503: the room is closed or full, or the store is away.
pub(super) async fn moved(
    entrance: &Entrance,
    from: Proof,
    identity: Identity,
) -> Result<(Proof, u64, String), Response> {
    let identity = Identity { bind: None, ..identity };
    let keyed = Keyed::requeued(entrance.room.view().number(from.number));
    let joined = turn::joined(entrance, Some(keyed), &identity).await?;
    let (proof, joined_ms) = match joined {
        Some(Joined::Given { epoch, first: number, joined_ms, .. })
        | Some(Joined::Already { epoch, number, joined_ms, .. }) => {
            (Proof { epoch, number }, joined_ms)
        }
        Some(Joined::Refused(Refusal::Closed)) => return Err(queue_disabled(entrance)),
        Some(Joined::Refused(_)) => return Err(queue_full(entrance)),
        None => return Err(store_unavailable(entrance)),
    };
    let ticket = entrance.ticket(proof, joined_ms, &identity);
    Ok((proof, joined_ms, ticket))
}

/// The place at the end of the line that somebody has instead of theirs, with the ticket of it: in the answer for whoever named
/// theirs, else as a cookie.
async fn requeued(asker: &Asker<'_>, client: &Client, call: Call) -> Result<Response, Response> {
    let Asker { entrance, named, .. } = *asker;
    let (proof, joined_ms, ticket) = moved(entrance, asker.proof, asker.identity()).await?;
    let (view, now_ms) = (entrance.room.view(), entrance.room.now_ms());
    let queue_id = named.then_some(ticket.as_bytes());
    let state = match view.position(proof.number) {
        Some(_) => State::Waiting,
        None if proof.number > view.counts().issued => State::Waiting,
        None => State::Admitted,
    };
    let (joined_ms, class) = (Some(joined_ms), asker.class.as_deref());
    let place = Place { entrance, view: &view, proof, joined_ms, class, queue_id, now_ms };
    let answer = Response::json(
        200,
        match call {
            Call::Status => place.body(&state),
            Call::Heartbeat => place.beat(&state),
        },
    );
    Ok(match named {
        true => answer,
        false => answer.with("Set-Cookie", entrance.jar.keep(&ticket, client.secure)),
    })
}
