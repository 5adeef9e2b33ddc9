//! Joining by a form, in rooms whose visitors have names: for browsers, with scripts or without.
//!
//! Owns that form. What becomes of a name is the line's to say. Whoever has a place keeps it, whatever name they send;
//! whoever has an arrival gives it up for a place, once its moment has come.

use std::time::Instant;

use tokio::time::timeout;

use super::answer::Response;
use super::api;
use super::asking::PATIENCE;
use super::chronicle::{self, Whose};
use super::decide::{Answer, Carried, Decision, Facts, decide};
use super::entrance::{Entrance, Identity};
use super::front::{local, user};
use super::head::Client;
use super::intent::Intent;
use super::invite::{Proven, is_granted};
use super::live::Live;
use super::loss::EARLY_MS;
use super::settings::OnLoss;
use super::show::{Notice, Reader};
use crate::line::{Joined, Key, Keyed, Refusal, Subject, is_name};
use crate::page::Unnamed;
use crate::room::{Busy, Proof};
use crate::token::Scratch;

/// Takes a name, and gives a place under it: then the page that was asked for is asked for again.
pub async fn join_by_name(
    live: &Live,
    request: &api::Request,
    client: &Client,
    body: &[u8],
) -> Response {
    let form = std::str::from_utf8(body).unwrap_or_default();
    let to = api::parameter(form, "to").and_then(local).unwrap_or_else(|| "/".to_owned());
    let path = to.split('?').next().unwrap_or_default().to_owned();
    let Some(entrance) = live.guarding(request, &path).filter(|entrance| entrance.has_roster())
    else {
        return Response::see_other(to);
    };
    let now_ms = entrance.room.now_ms();
    let mut scratch = Scratch::new();
    let held = entrance.held(request, client, &mut scratch).0;
    let carried = held.carried();
    let facts = Facts { intent: Intent::Page, carried, now_ms, contact: entrance.contact() };
    let newcomer = match decide(&facts, &entrance.room.view()) {
        Decision::Join | Decision::Answer(Answer::Over(_)) => true,
        Decision::Arrive { wait_ms: Some(..=EARLY_MS) } => {
            matches!(carried, Carried::Provisional { .. })
        }
        _ => false,
    };
    // A page of another site could send anybody here; whoever has a place has it already.
    if !newcomer || api::from_our_page(request, client).is_err() {
        return Response::see_other(to);
    }
    let mut reader = Reader::of(request, Intent::Page, *client);
    reader.to = to;
    let name = api::parameter(form, "name").unwrap_or_default();
    match is_name(name.trim()) {
        true => {
            let arrived = match carried {
                Carried::Provisional { nonce, .. } => Some((nonce, held.identity())),
                _ => None,
            };
            let user = user(request, client, entrance);
            let proven = entrance.proven(request, client, &held);
            join(entrance, &reader, name.trim(), (arrived, user, proven)).await
        }
        false => entrance.show(&reader, Notice::Name(Some(Unnamed::Unfit))),
    }
}

/// Who joins: by which arrival that was recorded, and counted, before; as whom by the word of a trusted proxy; with what proof.
type Who = (Option<(Key, Identity)>, Option<String>, Option<Proven>);

async fn join(entrance: &Entrance, reader: &Reader, name: &str, who: Who) -> Response {
    let began = Instant::now();
    let (arrived, user, proven) = who;
    let address = reader.client.address;
    let arrival = arrived.as_ref().map(|(nonce, _)| *nonce);
    let (keyed, plain) = match arrived {
        Some((nonce, identity)) => (entrance.arrived(nonce, &identity), identity),
        None => match entrance.newcomer(address, user.as_deref()) {
            Ok(keyed) => (keyed.unwrap_or_default(), Identity::default()),
            Err(retry_ms) => {
                chronicle::limited(entrance, "join_per_address", Whose::Address(address));
                return entrance.show(reader, Notice::Limited(retry_ms));
            }
        },
    };
    let keyed = Keyed { name: Some(name.to_owned()), ..keyed };
    let (keyed, identity) = match &proven {
        Some(proven) => (proven.told(Some(keyed)), plain.clone().proven(proven)),
        None => (keyed, plain.clone()),
    };
    let asked = entrance.room.join_as(Some(keyed), entrance.tag(&identity));
    let joined = match timeout(PATIENCE, asked).await {
        Ok(Ok(joined)) => joined,
        Ok(Err(Busy::Away)) | Err(_) => return alone(entrance, reader, arrival, proven.as_ref()),
        Ok(Err(busy)) => return entrance.show(reader, busy.into()),
    };
    let (proof, joined_ms, identity) = match joined {
        // The place of a device is not shown to whoever only names it.
        Joined::Already { proven: false, .. } => return entrance.show(reader, Notice::Refused),
        Joined::Given { epoch, first: number, joined_ms, class, .. } => {
            let proof = Proof { epoch, number };
            if is_granted(class) {
                (proof, joined_ms, identity)
            } else {
                chronicle::not_classed(entrance, proof, class);
                (proof, joined_ms, plain)
            }
        }
        Joined::Already { epoch, number, joined_ms, class, .. } => {
            let identity = entrance.known(plain, proven.as_ref(), class);
            (Proof { epoch, number }, joined_ms, identity)
        }
        Joined::Refused(Refusal::NameTaken) => {
            return entrance.show(reader, Notice::Name(Some(Unnamed::Taken)));
        }
        Joined::Refused(Refusal::Full) => return entrance.show(reader, Notice::Full),
        Joined::Refused(Refusal::Closed) => return entrance.show(reader, Notice::Closed),
        Joined::Refused(Refusal::Limited { retry_ms, subject }) => {
            let whose = match (subject, &user) {
                (Subject::User, Some(user)) => Whose::Named(user),
                _ => Whose::Address(address),
            };
            chronicle::limited(entrance, api::join_limit(subject), whose);
            return entrance.show(reader, Notice::Limited(retry_ms));
        }
    };
    let position = || entrance.room.view().position(proof.number).unwrap_or(1);
    let user_id = user.as_deref().or(identity.user_id.as_deref());
    let names = (identity.device_id.as_deref(), user_id);
    chronicle::created(entrance, proof, names, position, began.elapsed(), None);
    // A ticket for all: whose turn it is enters with the page, and has the pass then.
    let ticket = entrance.ticket(proof, joined_ms, &identity);
    let (jar, secure) = (&entrance.jar, reader.client.secure);
    let answer = Response::see_other(reader.to.clone());
    let answer = match proven.is_some_and(|proven| proven.once.is_some()) {
        true => answer.with("Set-Cookie", jar.forget_invite(secure)),
        false => answer,
    };
    answer.with("Set-Cookie", jar.keep(&ticket, secure))
}

/// What is done without an answer of the line: the arrival counts, and the name, which an arrival has not, is asked for again.
fn alone(
    entrance: &Entrance,
    reader: &Reader,
    arrival: Option<Key>,
    proven: Option<&Proven>,
) -> Response {
    match (entrance.stance(), arrival) {
        (OnLoss::Open, _) => Response::see_other(reader.to.clone()),
        (OnLoss::Closed, _) => entrance.show(reader, Notice::StoreLost),
        (OnLoss::Hold, None) => entrance.record_counted(reader, proven, None),
        (OnLoss::Hold, Some(nonce)) => {
            entrance.show(reader, Notice::Arrived(entrance.arrival_wait_ms(nonce, None)))
        }
    }
}
