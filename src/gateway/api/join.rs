//! `queue/join`: a place in the line, or straight in; and the same place again for whoever asks twice.
//!
//! Owns what a join must bring. A device's id is no secret: the place it has is shown only to who proves to be the
//! first join's client, by the ticket, or by the first join's Idempotency-Key or the same address as the same user;
//! everybody else learns the position. As another user it would be another ticket, and a place has one. A place by
//! cookie counts as proof only for pages of the same site.

use std::sync::Arc;
use std::time::Instant;

use super::Response;
use super::arrival;
use super::asker::{self, Caller, count_address, room};
use super::error::{
    bad, name_required, name_taken, put_error, queue_disabled, queue_full, rate_limited,
    store_unavailable,
};
use super::fields::{Fields, id};
use super::json::Json;
use super::outside;
use super::request::{Request, bearer, from_our_page, header, must_be_json, not_from_elsewhere};
use super::status::{Call, Place, State, lost};
use super::turn::{self, Grant, Turn};
use super::verdict::{Verdict, judge};
use super::wish::Wish;
use crate::gateway::arrival::nonce;
use crate::gateway::chronicle::{self, Whose};
use crate::gateway::decide::Carried;
use crate::gateway::entrance::proof_key;
use crate::gateway::entrance::{Entrance, GENERAL, Identity};
use crate::gateway::head::Client;
use crate::gateway::invite::{self, is_granted};
use crate::gateway::live::Live;
use crate::gateway::settings::OnLoss;
use crate::line::{Classed, Joined, Key, Keyed, Refusal, Standing, Subject};
use crate::room::Proof;
use crate::token::Scratch;

/// The same join again within this time is one join: an app's retry is no conflict.
const SAME_MS: u64 = 5_000;
/// A place that the caller proves to have, by its ticket.
struct Shown {
    token: Vec<u8>,
    proof: Proof,
    joined_ms: u64,
    identity: Identity,
}

/// Joins.
pub(super) async fn join(
    live: &Live,
    request: &Request,
    client: &Client,
    body: &[u8],
    strict: bool,
) -> Result<Response, Response> {
    let began = Instant::now();
    not_from_elsewhere(request)?;
    must_be_json(request)?;
    let fields = Fields::read(body)?;
    let entrance = match fields.text("event_id", "invalid_event_id")? {
        Some(event_id) if !event_id.is_empty() => room(live, request, event_id)?,
        _ if strict => {
            return Err(bad("missing_event_id", "event_id is missing: say which room to join"));
        }
        _ => asker::only_room(live, request)?,
    };
    let view = entrance.room.view();
    let classes = view.settings().map_or(&[][..], |settings| &settings.classes);
    let wish = Wish::read(&fields, request, strict, classes)?;
    // A trusted proxy knows better than an app who the user is.
    let user_header = entrance.settings.user_header.as_deref().filter(|_| client.vouched);
    let vouched = match user_header.map(str::to_ascii_lowercase) {
        Some(name) => id(&name, header(request, &name, "invalid_user_id")?, "invalid_user_id")?
            .map(str::to_owned),
        None => None,
    };
    let identity = Identity {
        device_id: wish.device_id.map(str::to_owned),
        user_id: vouched.or_else(|| wish.user_id.map(str::to_owned)),
        ..Identity::default()
    };
    let mut identity = entrance.bound(identity, entrance.agent(request));
    let wanted = Wanted::of(entrance, request, client, &wish);
    match shown(entrance, request, client, wish.device_id).await? {
        Proven::Place(shown) => {
            chronicle::reused(entrance, shown.proof, wish.device_id, began.elapsed());
            return again(entrance, shown, &wanted).await;
        }
        Proven::Arrival(caller) => {
            let brought = arrival::Brought { name: wish.name, wanted };
            return arrival::answer(caller, client, Call::Status, brought).await;
        }
        Proven::Nothing => {}
    }
    if entrance.has_roster() && wish.name.is_none() {
        return Err(name_required());
    }
    count_address(entrance, client.address)?;
    if let Some(answer) = outside::joined(entrance, request, client, &identity) {
        return Ok(answer);
    }
    if let Some(wait_ms) = arrival::instead(entrance) {
        return arrive(entrance, client, &wish, &identity, &wanted, wait_ms);
    }
    let plain = identity.clone();
    if let Some(proven) = &wanted.proven {
        identity = identity.proven(proven);
    }
    let keyed = keyed(entrance, client, &wish, identity.user_id.as_deref())?;
    let keyed = match &wanted.proven {
        Some(proven) => Some(proven.told(keyed)),
        None => keyed,
    };
    let Some(joined) = turn::joined(entrance, keyed, &identity).await? else {
        // Lost while they waited: they were counted when they came.
        return Err(match entrance.stance() {
            OnLoss::Closed => store_unavailable(entrance),
            _ => provisional(entrance, &wish, &plain, &wanted, None),
        });
    };
    match joined {
        Joined::Given { epoch, first, joined_ms, terms, class, .. } => {
            let proof = Proof { epoch, number: first };
            if !is_granted(class) {
                identity = plain;
                chronicle::not_classed(entrance, proof, class);
            }
            let grant = terms.map(|terms| {
                entrance.came(proof, &terms);
                Grant::new(entrance, proof, &terms, &identity)
            });
            let class = (&*identity.class, wanted.refused(class));
            let place = Reply { entrance, proof, joined_ms, grant: grant.as_ref(), class };
            let ticket = entrance.ticket(proof, joined_ms, &identity);
            let (body, position) = place.body(Some(ticket.as_bytes()), None);
            chronicle::created(
                entrance,
                proof,
                identity.names(),
                || position,
                began.elapsed(),
                wish.metadata.as_deref(),
            );
            if let Some(grant) = &grant {
                grant.tell(entrance, proof, &identity, began);
            }
            Ok(Response::json(200, body))
        }
        Joined::Already { epoch, number, joined_ms, proven, standing, class } => {
            let proof = Proof { epoch, number };
            chronicle::reused(entrance, proof, wish.device_id, began.elapsed());
            if !proven {
                return Ok(stranger(entrance, proof, standing));
            }
            let identity = entrance.known(plain, wanted.proven.as_ref(), class);
            let token = entrance.ticket(proof, joined_ms, &identity).into_bytes();
            again(entrance, Shown { token, proof, joined_ms, identity }, &wanted).await
        }
        Joined::Refused(Refusal::Full) => Err(queue_full(entrance)),
        Joined::Refused(Refusal::Closed) => Err(queue_disabled(entrance)),
        Joined::Refused(Refusal::NameTaken) => Err(name_taken(entrance)),
        Joined::Refused(Refusal::Limited { subject, retry_ms }) => {
            Err(limited(entrance, client, &identity, subject, retry_ms))
        }
    }
}

/// What a caller proves to have.
enum Proven<'a> {
    Nothing,
    Place(Shown),
    /// A time of arrival.
    Arrival(Caller<'a>),
}

/// The place a caller shows a ticket of, if it is one still, and of no other device; or their arrival.
async fn shown<'a>(
    entrance: &'a Arc<Entrance>,
    request: &'a Request,
    client: &Client,
    device_id: Option<&str>,
) -> Result<Proven<'a>, Response> {
    let named = bearer(request).is_some();
    let mut scratch = Scratch::new();
    let (held, token) = match bearer(request) {
        Some(token) => (entrance.read(token, &mut scratch), Some(token)),
        None if from_our_page(request, client).is_ok() => {
            entrance.held(request, client, &mut scratch)
        }
        None => return Ok(Proven::Nothing),
    };
    let carried = held.carried();
    let agent = entrance.agent(request);
    let identity = entrance.bound(held.identity(), agent);
    let Some(token) = token else { return Ok(Proven::Nothing) };
    if device_id.is_some()
        && identity.device_id.is_some()
        && identity.device_id.as_deref() != device_id
    {
        return Ok(Proven::Nothing);
    }
    let (proof, joined_ms) = match carried {
        Carried::Ticket { proof, joined_ms } => (proof, joined_ms),
        Carried::Provisional { .. } => {
            let token = token.into();
            return Ok(Proven::Arrival(Caller {
                entrance,
                named,
                token,
                carried,
                class: None,
                agent,
            }));
        }
        Carried::Nothing | Carried::Pass { .. } | Carried::Outside { .. } => {
            return Ok(Proven::Nothing);
        }
    };
    let verdict = || {
        let (view, now_ms) = (entrance.room.view(), entrance.room.now_ms());
        judge(carried, true, &view, now_ms, entrance.contact())
    };
    if verdict() == Verdict::Learn {
        turn::learnt(entrance, proof).await?;
    }
    match verdict() {
        Verdict::Waiting | Verdict::Admitted | Verdict::Active { .. } | Verdict::Ask => {}
        Verdict::Lost => {}
        Verdict::Gone(_) | Verdict::Unknown | Verdict::Learn => return Ok(Proven::Nothing),
    }
    if let Err(retry_ms) = entrance.by_ticket.take(proof_key(proof), entrance.room.now_ms()) {
        chronicle::limited(entrance, "requests_per_ticket", Whose::Place(proof));
        return Err(rate_limited(entrance, retry_ms));
    }
    Ok(Proven::Place(Shown { token: token.to_vec(), proof, joined_ms, identity }))
}

/// The place somebody has already: the same ticket, byte for byte, and the pass if it is their turn.
async fn again(
    entrance: &Arc<Entrance>,
    shown: Shown,
    wanted: &Wanted,
) -> Result<Response, Response> {
    let Shown { token, proof, joined_ms, identity } = shown;
    let carried = Carried::Ticket { proof, joined_ms };
    let now_ms = entrance.room.now_ms();
    let view = entrance.room.view();
    let class = identity.class.clone();
    let turn = match judge(carried, true, &view, now_ms, entrance.contact()) {
        Verdict::Waiting => Turn::Waiting,
        Verdict::Lost => {
            entrance.room.seen(proof);
            let (class, queue_id) = (some(&class), Some(&token[..]));
            let joined_ms = Some(joined_ms);
            let place = Place { entrance, view: &view, proof, joined_ms, class, queue_id, now_ms };
            return Err(lost(&place));
        }
        _ => turn::claim(entrance, proof, Some(joined_ms), || identity).await?,
    };
    let grant = match turn {
        Turn::Inside(grant) => Some(grant),
        Turn::Waiting => {
            entrance.room.seen(proof);
            None
        }
        Turn::Gone(reason) => return Err(super::error::gone(entrance, proof, reason)),
        Turn::Unknown => return Err(super::error::unknown_ticket(entrance)),
    };
    let same = now_ms.saturating_sub(joined_ms) <= SAME_MS;
    let message = "this device is in the line already; here is its place";
    let conflict = (!same).then_some(message);
    let class = (class.as_str(), wanted.too_late(&class));
    let place = Reply { entrance, proof, joined_ms, grant: grant.as_ref(), class };
    let (body, _) = place.body(Some(&token), conflict);
    Ok(Response::json(if same { 200 } else { 409 }, body))
}

/// Whoever only knows a device's id learns where it stands, and nothing that would let them take the place.
pub(super) fn stranger(entrance: &Entrance, proof: Proof, standing: Standing) -> Response {
    let view = entrance.room.view();
    let (state, position) = match standing {
        Standing::Admitted => ("admitted", 0),
        Standing::Active => ("active", 0),
        _ => ("waiting", view.position(proof.number).unwrap_or(1)),
    };
    let mut json = Json::new();
    let message = "this device is in the line already; show its ticket, or the Idempotency-Key it joined with, as the \
                   same user";
    put_error(&mut json, "already_in_queue", message);
    json.text("event_id", entrance.room.name());
    json.number("position", position);
    json.text("status", state);
    json.moment("server_time", entrance.room.now_ms());
    Response::json(409, json.end())
}

/// What is written about a join.
struct Reply<'a> {
    entrance: &'a Arc<Entrance>,
    proof: Proof,
    joined_ms: u64,
    grant: Option<&'a Grant>,
    /// By its name, empty for the general one; and if another one was asked for, which and why it is not that.
    class: (&'a str, Option<(&'a str, &'static str)>),
}

/// The class that a join asks for, and what proves it.
#[derive(Default)]
pub(super) struct Wanted {
    asked: Option<String>,
    pub(super) proven: Option<invite::Proven>,
    /// What is wrong with the proof.
    wrong: &'static str,
}

impl Wanted {
    /// An invite counts before a proxy's word, and that before what anyone may have.
    fn of(entrance: &Entrance, request: &Request, client: &Client, wish: &Wish<'_>) -> Wanted {
        let invited = wish.invite.map(|token| entrance.invite(token));
        let wrong = if matches!(invited, Some(None)) { "invite_invalid" } else { "not_proven" };
        let is_open = |name: &&String| entrance.settings.open_classes.contains(name);
        let open = wish.class.as_ref().filter(is_open).map(|name| invite::Proven::said(name));
        let proven = invited.flatten().or_else(|| entrance.vouched(request, client)).or(open);
        let asked = match &proven {
            Some(proven) => Some(proven.class.clone()),
            None if wish.invite.is_some() && wish.class.is_none() => Some(GENERAL.to_owned()),
            None => wish.class.clone(),
        };
        Wanted { asked, proven, wrong }
    }

    /// What was proven on arrival counts where nothing else is proven, and an invite before what is none.
    pub(super) fn or(self, arrived: Option<invite::Proven>) -> Wanted {
        let is_invited = |proven: &invite::Proven| proven.invite.is_some();
        let counts = |arrived: &invite::Proven| {
            let own = self.proven.as_ref();
            own.is_none_or(|own| is_invited(arrived) && !is_invited(own))
        };
        match arrived.filter(counts) {
            Some(proven) => {
                Wanted { asked: Some(proven.class.clone()), proven: Some(proven), ..self }
            }
            None => self,
        }
    }

    /// What was asked for by whoever has a place already, and why they have another class.
    fn too_late(&self, class: &str) -> Option<(&str, &'static str)> {
        let asked = self.asked.as_deref().filter(|asked| *asked != some(class).unwrap_or(GENERAL));
        asked.map(|asked| match self.proven {
            Some(_) => (asked, "already_waiting"),
            None => (asked, self.wrong),
        })
    }

    /// What was asked for and not given, and why.
    pub(super) fn refused(&self, classed: Option<Classed>) -> Option<(&str, &'static str)> {
        let asked = self.asked.as_deref()?;
        match classed {
            None => Some((asked, self.wrong)),
            Some(Classed::Not(why)) => Some((asked, invite::word(why))),
            Some(Classed::Placed { .. } | Classed::Ordinary) => None,
        }
    }
}

impl Reply<'_> {
    /// The body, and the position in it.
    fn body(&self, queue_id: Option<&[u8]>, conflict: Option<&str>) -> (Vec<u8>, u64) {
        let view = self.entrance.room.view();
        let (class, refused) = self.class;
        let place = Place {
            entrance: self.entrance,
            view: &view,
            proof: self.proof,
            joined_ms: Some(self.joined_ms),
            class: some(class),
            queue_id,
            now_ms: self.entrance.room.now_ms(),
        };
        let state = self.grant.map_or(State::Waiting, State::from);
        let mut json = Json::new();
        if let Some(message) = conflict {
            put_error(&mut json, "already_in_queue", message);
        }
        put_refused(&mut json, refused);
        place.put(&mut json, &state);
        (json.end(), place.position(&state))
    }
}

/// Which class was asked for and not given, and why.
pub(super) fn put_refused(json: &mut Json, refused: Option<(&str, &'static str)>) {
    if let Some((asked, why)) = refused {
        json.text("class_requested", asked);
        json.text("class_reason", why);
    }
}

/// A class by its name; empty is the general one.
pub(super) fn some(class: &str) -> Option<&str> {
    Some(class).filter(|class| !class.is_empty())
}

/// No line to be joined: the arrival is recorded, and counted here instead of there.
fn arrive(
    entrance: &Entrance,
    client: &Client,
    wish: &Wish<'_>,
    identity: &Identity,
    wanted: &Wanted,
    wait_ms: Option<u64>,
) -> Result<Response, Response> {
    let user_id = identity.user_id.as_deref();
    match entrance.count_arrival(client.address, wish.device_id, user_id) {
        Ok(()) => Err(provisional(entrance, wish, identity, wanted, wait_ms)),
        Err((subject, retry_ms)) => Err(limited(entrance, client, identity, subject, retry_ms)),
    }
}

/// A provisional ticket. The same Idempotency-Key has the same nonce, and so finds its number again.
fn provisional(
    entrance: &Entrance,
    wish: &Wish<'_>,
    identity: &Identity,
    wanted: &Wanted,
    wait_ms: Option<u64>,
) -> Response {
    let key = wish.idempotency_key.map(|key| entrance.subject("idempotency", key));
    let Some(nonce) = key.or_else(nonce) else { return store_unavailable(entrance) };
    let ticket = entrance.arrive(nonce, identity, wanted.proven.as_ref());
    chronicle::arrived(entrance, identity, wish.metadata.as_deref());
    // What is proven is looked at when its moment has come; what is not, never.
    let refused = wanted.refused(None).filter(|_| wanted.proven.is_none());
    arrival::recorded(entrance, nonce, Some(ticket.as_bytes()), wait_ms, refused)
}

/// What the line is told about a newcomer; nothing, if there is nothing to remember.
fn keyed(
    entrance: &Entrance,
    client: &Client,
    wish: &Wish<'_>,
    user_id: Option<&str>,
) -> Result<Option<Keyed>, Response> {
    let counted = entrance.newcomer(client.address, user_id).map_err(|retry_ms| {
        chronicle::limited(entrance, "join_per_address", Whose::Address(client.address));
        rate_limited(entrance, retry_ms)
    })?;
    let key = |kind: &str, name: Option<&str>| -> Option<Key> {
        name.map(|name| entrance.subject(kind, name))
    };
    let name = wish.name.clone().filter(|_| entrance.has_roster());
    let counted = match (counted, name) {
        (None, None) => None,
        (counted, name) => Some(Keyed { name, ..counted.unwrap_or_default() }),
    };
    let device = key("device", wish.device_id);
    let idempotency = key("idempotency", wish.idempotency_key);
    let Some(once) = device.or(idempotency) else { return Ok(counted) };
    // The address is proof of a repeated join; whether it is counted, too, is another matter.
    let proof = Some(entrance.address(client.address));
    let counted = counted.unwrap_or_default();
    Ok(Some(Keyed { once: Some(once), idempotency, proof, device, ..counted }))
}

fn limited(
    entrance: &Entrance,
    client: &Client,
    identity: &Identity,
    subject: Subject,
    retry_ms: u64,
) -> Response {
    let whose = match subject {
        Subject::Address => Whose::Address(client.address),
        Subject::Device => Whose::Named(identity.device_id.as_deref().unwrap_or_default()),
        Subject::User => Whose::Named(identity.user_id.as_deref().unwrap_or_default()),
    };
    chronicle::limited(entrance, join_limit(subject), whose);
    rate_limited(entrance, retry_ms)
}

/// What the limit of a subject's joins is called.
pub fn join_limit(subject: Subject) -> &'static str {
    match subject {
        Subject::Address => "join_per_address",
        Subject::Device => "join_per_device",
        Subject::User => "join_per_user",
    }
}
