//! `queue/join`: a place in the line, or straight in; and the same place again for whoever asks twice.
//!
//! Owns what a join must bring. A device's id is no secret: the place it has is shown only to who proves to be the
//! first join's client, by the ticket, the first join's Idempotency-Key or the same address; everybody else learns the
//! position. A place by cookie counts as proof only for pages of the same site.

use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;

use super::asker::{self, count_address, room};
use super::error::{bad, put_error, queue_disabled, queue_full, rate_limited};
use super::fields::{Fields, id};
use super::json::Json;
use super::request::{Request, bearer, from_our_page, header, must_be_json, not_from_elsewhere};
use super::status::{Place, State};
use super::turn::{self, Grant, Turn};
use super::verdict::{Verdict, judge};
use super::{Response, log};
use crate::gateway::decide::Carried;
use crate::gateway::entrance::proof_key;
use crate::gateway::entrance::{Entrance, GENERAL, Identity};
use crate::gateway::head::Client;
use crate::gateway::live::Live;
use crate::line::{Joined, Key, Keyed, Refusal, Standing, Subject};
use crate::room::Proof;
use crate::token::Scratch;

/// The same join again within this time is one join: an app's retry is no conflict.
const SAME_MS: u64 = 5_000;
/// The longest metadata: it goes into the log, line by line.
const MAX_METADATA: usize = 1_024;
/// Classes that may be asked for by name. Whoever asks without proof joins as general.
const CLASSES: [&str; 4] = [GENERAL, "normal", "presale", "partner"];
/// And by level.
const LEVELS: u64 = 4;

/// What a join brings, checked.
struct Wish<'a> {
    device_id: Option<&'a str>,
    user_id: Option<&'a str>,
    idempotency_key: Option<&'a str>,
    /// Back as JSON, for the log.
    metadata: Option<String>,
}

impl<'a> Wish<'a> {
    fn read(fields: &'a Fields, request: &'a Request, strict: bool) -> Result<Wish<'a>, Response> {
        let device_id = either(fields, request, "device_id", "x-device-id", "invalid_device_id")?;
        let user_id = either(fields, request, "user_id", "x-user-id", "invalid_user_id")?;
        let (name, code) = ("idempotencyKey", "invalid_idempotency_key");
        let idempotency_key = either(fields, request, name, "idempotency-key", code)?;
        if strict && device_id.is_none() && idempotency_key.is_none() {
            let message = "device_id is missing: name the device, or send an Idempotency-Key";
            return Err(bad("missing_device_id", message));
        }
        check_class(fields.get("priority_bucket"))?;
        let metadata = metadata(fields.get("metadata"))?;
        Ok(Wish { device_id, user_id, idempotency_key, metadata })
    }
}

/// A text that may come in the body or in a header; in both it must be the same.
fn either<'a>(
    fields: &'a Fields,
    request: &'a Request,
    field: &'static str,
    name: &'static str,
    code: &'static str,
) -> Result<Option<&'a str>, Response> {
    let in_body = id(field, fields.text(field, code)?, code)?;
    let in_head = id(name, header(request, name, code)?, code)?;
    match (in_body, in_head) {
        (Some(one), Some(other)) if one != other => {
            Err(bad(code, &format!("{field} and the header {name} differ")))
        }
        (one, other) => Ok(one.or(other)),
    }
}

fn check_class(class: Option<&Value>) -> Result<(), Response> {
    let known = match class {
        None => true,
        Some(Value::String(name)) => CLASSES.contains(&name.as_str()),
        Some(Value::Number(level)) => level.as_u64().is_some_and(|level| level < LEVELS),
        Some(_) => {
            return Err(bad(
                "invalid_priority_bucket",
                "priority_bucket must be a name or a level from 0 to 3",
            ));
        }
    };
    match known {
        true => Ok(()),
        false => Err(bad("unknown_class", "priority_bucket names no class of this room")),
    }
}

fn metadata(value: Option<&Value>) -> Result<Option<String>, Response> {
    let code = "invalid_metadata";
    match value {
        None => Ok(None),
        Some(value @ Value::Object(_)) => match value.to_string() {
            text if text.len() <= MAX_METADATA => Ok(Some(text)),
            _ => Err(bad(code, "metadata is longer than 1 KiB")),
        },
        Some(_) => Err(bad(code, "metadata must be an object")),
    }
}

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
    let wish = Wish::read(&fields, request, strict)?;
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
        class: String::new(),
    };
    if let Some(shown) = shown(entrance, request, client, wish.device_id).await? {
        log::reused(entrance, shown.proof, wish.device_id, began.elapsed());
        return again(entrance, shown).await;
    }
    count_address(entrance, client.address)?;
    let keyed = keyed(entrance, client, &wish, identity.user_id.as_deref())?;
    match turn::asked(entrance, entrance.room.join(keyed)).await? {
        Joined::Given { epoch, first, joined_ms, terms, .. } => {
            let proof = Proof { epoch, number: first };
            let grant = terms.map(|terms| Grant::new(entrance, proof, &terms, &identity));
            let place = Reply { entrance, proof, joined_ms, grant: grant.as_ref() };
            let ticket = entrance.ticket(proof, joined_ms, &identity);
            let (body, position) = place.body(Some(ticket.as_bytes()), None);
            log::created(
                entrance,
                proof,
                &identity,
                position,
                began.elapsed(),
                wish.metadata.as_deref(),
            );
            if let Some(grant) = &grant {
                log::granted(entrance, proof, &identity, grant);
            }
            Ok(Response::json(200, body))
        }
        Joined::Already { epoch, number, joined_ms, proven, standing } => {
            let proof = Proof { epoch, number };
            log::reused(entrance, proof, wish.device_id, began.elapsed());
            if !proven {
                return Ok(conflict_of_a_stranger(entrance, proof, standing));
            }
            let token = entrance.ticket(proof, joined_ms, &identity).into_bytes();
            again(entrance, Shown { token, proof, joined_ms, identity }).await
        }
        Joined::Refused(Refusal::Full) => Err(queue_full(entrance)),
        Joined::Refused(Refusal::Closed) => Err(queue_disabled(entrance)),
        Joined::Refused(Refusal::Limited { subject, retry_ms }) => {
            Err(limited(entrance, client, &identity, subject, retry_ms))
        }
    }
}

/// The place a caller shows a ticket of, if it is one still, and of no other device.
async fn shown(
    entrance: &Arc<Entrance>,
    request: &Request,
    client: &Client,
    device_id: Option<&str>,
) -> Result<Option<Shown>, Response> {
    let mut scratch = Scratch::new();
    let (held, token) = match bearer(request) {
        Some(token) => (entrance.read(token, &mut scratch), Some(token)),
        None if from_our_page(request, client).is_ok() => {
            entrance.held(request, client, &mut scratch)
        }
        None => return Ok(None),
    };
    let carried = held.carried();
    let identity = held.identity();
    let (Carried::Ticket { proof, joined_ms }, Some(token)) = (carried, token) else {
        return Ok(None);
    };
    if device_id.is_some()
        && identity.device_id.is_some()
        && identity.device_id.as_deref() != device_id
    {
        return Ok(None);
    }
    let verdict = || judge(carried, true, &entrance.room.view(), entrance.room.now_ms());
    if verdict() == Verdict::Learn {
        turn::learnt(entrance, proof).await?;
    }
    match verdict() {
        Verdict::Waiting | Verdict::Admitted | Verdict::Active { .. } | Verdict::Ask => {}
        Verdict::Gone(_) | Verdict::Unknown | Verdict::Learn => return Ok(None),
    }
    if let Err(retry_ms) = entrance.by_ticket.take(proof_key(proof), entrance.room.now_ms()) {
        log::limited(
            entrance,
            "requests_per_ticket",
            &entrance.keys.reference(proof.epoch, proof.number),
        );
        return Err(rate_limited(entrance, retry_ms));
    }
    Ok(Some(Shown { token: token.to_vec(), proof, joined_ms, identity }))
}

/// The place somebody has already: the same ticket, byte for byte, and the pass if it is their turn.
async fn again(entrance: &Arc<Entrance>, shown: Shown) -> Result<Response, Response> {
    let Shown { token, proof, joined_ms, identity } = shown;
    let carried = Carried::Ticket { proof, joined_ms };
    let now_ms = entrance.room.now_ms();
    let turn = match judge(carried, true, &entrance.room.view(), now_ms) {
        Verdict::Waiting => Turn::Waiting,
        _ => turn::claim(entrance, proof, || identity).await?,
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
    let place = Reply { entrance, proof, joined_ms, grant: grant.as_ref() };
    let (body, _) = place.body(Some(&token), conflict);
    Ok(Response::json(if same { 200 } else { 409 }, body))
}

/// Whoever only knows a device's id learns where it stands, and nothing that would let them take the place.
fn conflict_of_a_stranger(entrance: &Entrance, proof: Proof, standing: Standing) -> Response {
    let view = entrance.room.view();
    let (state, position) = match standing {
        Standing::Admitted => ("admitted", 0),
        Standing::Active => ("active", 0),
        _ => ("waiting", view.position(proof.number).unwrap_or(1)),
    };
    let mut json = Json::new();
    let message = "this device is in the line already; show its ticket, or the Idempotency-Key it joined with";
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
}

impl Reply<'_> {
    /// The body, and the position in it.
    fn body(&self, queue_id: Option<&[u8]>, conflict: Option<&str>) -> (Vec<u8>, u64) {
        let view = self.entrance.room.view();
        let place = Place {
            entrance: self.entrance,
            view: &view,
            proof: self.proof,
            joined_ms: Some(self.joined_ms),
            queue_id,
            now_ms: self.entrance.room.now_ms(),
        };
        let state = self.grant.map_or(State::Waiting, State::from);
        let mut json = Json::new();
        if let Some(message) = conflict {
            put_error(&mut json, "already_in_queue", message);
        }
        json.text("class", GENERAL);
        place.put(&mut json, &state);
        (json.end(), place.position(&state))
    }
}

/// What the line is told about a newcomer; nothing, if there is nothing to remember.
fn keyed(
    entrance: &Entrance,
    client: &Client,
    wish: &Wish<'_>,
    user_id: Option<&str>,
) -> Result<Option<Keyed>, Response> {
    let counted = entrance.newcomer(client.address, user_id).map_err(|retry_ms| {
        log::limited(entrance, "join_per_address", &client.address.to_string());
        rate_limited(entrance, retry_ms)
    })?;
    let key = |kind: &str, name: Option<&str>| -> Option<Key> {
        name.map(|name| entrance.subject(kind, name))
    };
    let device = key("device", wish.device_id);
    let idempotency = key("idempotency", wish.idempotency_key);
    let Some(once) = device.or(idempotency) else { return Ok(counted) };
    // The address is proof of a repeated join, so here the line always hears of it.
    let address = Some(entrance.address(client.address));
    let user = key("user", user_id);
    Ok(Some(Keyed { once: Some(once), idempotency, address, device, user }))
}

fn limited(
    entrance: &Entrance,
    client: &Client,
    identity: &Identity,
    subject: Subject,
    retry_ms: u64,
) -> Response {
    let address = client.address.to_string();
    let (limit, identifier) = match subject {
        Subject::Address => ("join_per_address", Some(address.as_str())),
        Subject::Device => ("join_per_device", identity.device_id.as_deref()),
        Subject::User => ("join_per_user", identity.user_id.as_deref()),
    };
    log::limited(entrance, limit, identifier.unwrap_or_default());
    rate_limited(entrance, retry_ms)
}
