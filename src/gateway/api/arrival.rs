//! A join that the line could not be asked for: the arrival is recorded, and becomes a place with a later poll.
//!
//! Owns what an app is told meanwhile (`provisional`) and the step from an arrival to a number. An arrival is worth one number,
//! however often it is shown: its nonce, or its device, is the key by which the line finds it again. It carries the class that was
//! proven. It has no name: where visitors have one, another join brings it, and the place is of that moment.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use tokio::time::sleep;

use super::Response;
use super::asker::{Asker, Caller};
use super::error::{
    name_required, name_taken, put_store_unavailable, queue_disabled, queue_full, rate_limited,
};
use super::join::{self, Wanted, join_limit, put_refused, stranger};
use super::json::Json;
use super::status::{Call, State, placed};
use super::turn::{self, Grant, Turn};
use crate::gateway::chronicle::{self, Whose};
use crate::gateway::decide::Carried;
use crate::gateway::entrance::{Entrance, Identity};
use crate::gateway::head::Client;
use crate::gateway::invite::is_granted;
use crate::gateway::loss::{Contact, EARLY_MS};
use crate::gateway::settings::OnLoss;
use crate::line::{Joined, Key, Keyed, Refusal, Subject};
use crate::room::Proof;
use crate::token::Scratch;

/// How long somebody who came then has to wait yet. `Err`: there is no line to be asked, and nobody knows for how long.
fn wait_ms(entrance: &Entrance, arrived_ms: u64) -> Result<u64, ()> {
    match entrance.contact() {
        Contact::Kept => Ok(0),
        Contact::Regained(replay) => Ok(replay.wait_ms(arrived_ms)),
        Contact::Lost(_) => Err(()),
    }
}

/// Whether whoever joins now has their arrival recorded instead, and when they are to ask again.
pub(super) fn instead(entrance: &Entrance) -> Option<Option<u64>> {
    match entrance.contact() {
        Contact::Kept => None,
        Contact::Regained(replay) => Some(replay.wait_ms(u64::MAX)).filter(|ms| *ms > 0).map(Some),
        Contact::Lost(lost) => (lost.stance != OnLoss::Closed).then_some(None),
    }
}

/// What somebody is told whose arrival is all there is.
pub(super) fn recorded(
    entrance: &Entrance,
    nonce: Key,
    queue_id: Option<&[u8]>,
    wait_ms: Option<u64>,
    refused: Option<(&str, &'static str)>,
) -> Response {
    let seconds = (entrance.arrival_wait_ms(nonce, wait_ms) / 1_000).max(1);
    let mut json = Json::new();
    let message = "the line can't be reached at the moment; your arrival is recorded: ask again with this queue_id";
    put_store_unavailable(&mut json, entrance, message);
    put_refused(&mut json, refused);
    if let Some(queue_id) = queue_id {
        json.token("queue_id", queue_id);
    }
    json.text("event_id", entrance.room.name());
    json.text("status", "provisional");
    json.number("next_poll_seconds", seconds);
    json.moment("server_time", entrance.room.now_ms());
    Response::json(503, json.end()).retry_after(seconds)
}

/// A poll of somebody whose moment has not come, from memory; `None`: the line is to be asked.
pub(super) fn answer_now(caller: &Caller<'_>, client: &Client) -> Option<Response> {
    let Carried::Provisional { arrived_ms, nonce } = caller.carried else { return None };
    let known_ms = match wait_ms(caller.entrance, arrived_ms) {
        Ok(..=EARLY_MS) => return None,
        known => known.ok(),
    };
    if let Err(refusal) = count(caller.entrance, nonce) {
        return Some(refusal);
    }
    let entrance = caller.entrance;
    let again = entrance.date_again(&caller.token);
    let token = again.as_deref().map_or(&*caller.token, str::as_bytes);
    let answer = recorded(entrance, nonce, caller.named.then_some(token), known_ms, None);
    Some(match again.as_deref().filter(|_| !caller.named) {
        Some(ticket) => answer.with("Set-Cookie", entrance.jar.keep(ticket, client.secure)),
        None => answer,
    })
}

/// Counts a request of this arrival.
fn count(entrance: &Entrance, nonce: Key) -> Result<(), Response> {
    let taken = entrance.by_ticket.take(nonce, entrance.room.now_ms());
    taken.map(drop).map_err(|retry_ms| {
        chronicle::limited(entrance, "requests_per_ticket", Whose::Arrival(nonce));
        rate_limited(entrance, retry_ms)
    })
}

/// What another join brings to an arrival; a poll brings nothing.
#[derive(Default)]
pub(super) struct Brought {
    pub(super) name: Option<String>,
    /// Instead of what was proven when it was recorded.
    pub(super) wanted: Wanted,
}

/// A poll by an arrival: it joins, if it may.
pub(super) async fn answer(
    caller: Caller<'_>,
    client: &Client,
    call: Call,
    brought: Brought,
) -> Result<Response, Response> {
    if let Some(answer) = answer_now(&caller, client) {
        return Ok(answer);
    }
    let Caller { entrance, named, token, carried, agent, .. } = caller;
    let Carried::Provisional { arrived_ms, nonce } = carried else {
        return Err(super::error::unknown_ticket(entrance));
    };
    count(entrance, nonce)?;
    // A time of arrival has no name: it comes with another join.
    let name = brought.name.filter(|_| entrance.has_roster());
    if entrance.has_roster() && name.is_none() {
        return Err(name_required());
    }
    // A little early: until their moment.
    sleep(Duration::from_millis(wait_ms(entrance, arrived_ms).unwrap_or(0))).await;
    let began = Instant::now();
    let mut scratch = Scratch::new();
    let held = entrance.read(&token, &mut scratch);
    let wanted = brought.wanted.or(held.proven());
    let plain = entrance.bound(held.identity(), agent);
    let identity = match &wanted.proven {
        Some(proven) => plain.clone().proven(proven),
        None => plain.clone(),
    };
    let queue_id = named.then_some(&*token);
    let keyed = Keyed { name, ..entrance.arrived(nonce, &identity) };
    let keyed = match &wanted.proven {
        Some(proven) => proven.told(Some(keyed)),
        None => keyed,
    };
    let Some(joined) = turn::joined(entrance, Some(keyed), &identity).await? else {
        return Err(recorded(entrance, nonce, queue_id, None, None));
    };
    let (identity, refused) = match joined {
        Joined::Given { class, .. } if is_granted(class) => (identity, None),
        Joined::Given { class, .. } => (plain, wanted.refused(class)),
        Joined::Already { class, .. } => {
            (entrance.known(plain, wanted.proven.as_ref(), class), None)
        }
        Joined::Refused(_) => (plain, None),
    };
    let (proof, joined_ms, grant) = place(entrance, joined, &identity, began).await?;
    let ticket = entrance.ticket(proof, joined_ms, &identity);
    let cookie = (!named).then(|| entrance.jar.keep(&ticket, client.secure));
    let (token, carried) = (Cow::Owned(ticket.into_bytes()), Carried::Ticket { proof, joined_ms });
    let class = join::some(&identity.class).map(str::to_owned);
    let asker = Asker { entrance, named, token, proof, carried, class, agent };
    let state = match &grant {
        // Who came by cookie enters with the next page they open.
        Some(_) if !named => State::Admitted,
        Some(grant) => State::from(grant),
        None => State::Waiting,
    };
    let (view, now_ms) = (entrance.room.view(), entrance.room.now_ms());
    let answer = placed(&asker, &view, now_ms, &state, call, refused);
    Ok(match cookie {
        Some(cookie) => answer.with("Set-Cookie", cookie),
        None => answer,
    })
}

/// What the line made of an arrival: a number, and perhaps the pass that goes with it.
async fn place(
    entrance: &Entrance,
    joined: Joined,
    identity: &Identity,
    began: Instant,
) -> Result<(Proof, u64, Option<Grant>), Response> {
    match joined {
        Joined::Given { epoch, first, joined_ms, terms, class, .. } => {
            let proof = Proof { epoch, number: first };
            chronicle::not_classed(entrance, proof, class);
            let position = || entrance.room.view().position(first).unwrap_or(0);
            chronicle::created(entrance, proof, identity.names(), position, began.elapsed(), None);
            let grant = terms.map(|terms| Grant::new(entrance, proof, &terms, identity));
            if let Some(grant) = &grant {
                grant.tell(entrance, proof, identity, began);
            }
            Ok((proof, joined_ms, grant))
        }
        Joined::Already { epoch, number, standing, proven: false, .. } => {
            Err(stranger(entrance, Proof { epoch, number }, standing))
        }
        Joined::Already { epoch, number, joined_ms, .. } => {
            let proof = Proof { epoch, number };
            chronicle::reused(entrance, proof, identity.device_id.as_deref(), began.elapsed());
            match turn::claim(entrance, proof, Some(joined_ms), || identity.clone()).await? {
                Turn::Inside(grant) => Ok((proof, joined_ms, Some(grant))),
                Turn::Waiting => Ok((proof, joined_ms, None)),
                Turn::Gone(reason) => Err(super::error::gone(entrance, proof, reason)),
                Turn::Unknown => Err(super::error::unknown_ticket(entrance)),
            }
        }
        Joined::Refused(Refusal::Full) => Err(queue_full(entrance)),
        Joined::Refused(Refusal::Closed) => Err(queue_disabled(entrance)),
        Joined::Refused(Refusal::NameTaken) => Err(name_taken(entrance)),
        Joined::Refused(Refusal::Limited { retry_ms, subject }) => {
            let whose = match subject {
                Subject::User => identity.user_id.as_deref(),
                _ => identity.device_id.as_deref(),
            };
            let whose = Whose::Named(whose.unwrap_or_default());
            chronicle::limited(entrance, join_limit(subject), whose);
            Err(rate_limited(entrance, retry_ms))
        }
    }
}
