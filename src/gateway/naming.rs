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
use super::front::local;
use super::head::Client;
use super::intent::Intent;
use super::live::Live;
use super::loss::EARLY_MS;
use super::settings::OnLoss;
use super::show::{Notice, Reader};
use crate::line::{Joined, Key, Keyed, Refusal, is_name};
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
            join(entrance, &reader, name.trim(), arrived).await
        }
        false => entrance.show(&reader, Notice::Name(Some(Unnamed::Unfit))),
    }
}

/// `arrived`: whose arrival was recorded, and counted, before.
async fn join(
    entrance: &Entrance,
    reader: &Reader,
    name: &str,
    arrived: Option<(Key, Identity)>,
) -> Response {
    let began = Instant::now();
    let address = reader.client.address;
    let arrival = arrived.as_ref().map(|(nonce, _)| *nonce);
    let (keyed, identity) = match arrived {
        Some((nonce, identity)) => (entrance.arrived(nonce, &identity), identity),
        None => match entrance.newcomer(address, None) {
            Ok(keyed) => (keyed.unwrap_or_default(), Identity::default()),
            Err(retry_ms) => {
                chronicle::limited(entrance, "join_per_address", Whose::Address(address));
                return entrance.show(reader, Notice::Limited(retry_ms));
            }
        },
    };
    let keyed = Keyed { name: Some(name.to_owned()), ..keyed };
    let asked = entrance.room.join_as(Some(keyed), entrance.tag(&identity));
    let joined = match timeout(PATIENCE, asked).await {
        Ok(Ok(joined)) => joined,
        Ok(Err(Busy::Away)) | Err(_) => return alone(entrance, reader, arrival),
        Ok(Err(busy)) => return entrance.show(reader, busy.into()),
    };
    match joined {
        // The place of a device is not shown to whoever only names it.
        Joined::Already { proven: false, .. } => entrance.show(reader, Notice::Refused),
        Joined::Given { epoch, first: number, joined_ms, .. }
        | Joined::Already { epoch, number, joined_ms, .. } => {
            let proof = Proof { epoch, number };
            let position = || entrance.room.view().position(number).unwrap_or(1);
            chronicle::created(entrance, proof, identity.names(), position, began.elapsed(), None);
            // A ticket for all: whose turn it is enters with the page, and has the pass then.
            let ticket = entrance.ticket(proof, joined_ms, &identity);
            let cookie = entrance.jar.keep(&ticket, reader.client.secure);
            Response::see_other(reader.to.clone()).with("Set-Cookie", cookie)
        }
        Joined::Refused(Refusal::NameTaken) => {
            entrance.show(reader, Notice::Name(Some(Unnamed::Taken)))
        }
        Joined::Refused(Refusal::Full) => entrance.show(reader, Notice::Full),
        Joined::Refused(Refusal::Closed) => entrance.show(reader, Notice::Closed),
        Joined::Refused(Refusal::Limited { retry_ms, .. }) => {
            chronicle::limited(entrance, "join_per_address", Whose::Address(address));
            entrance.show(reader, Notice::Limited(retry_ms))
        }
    }
}

/// What is done without an answer of the line: the arrival counts, and the name, which an arrival has not, is asked for again.
fn alone(entrance: &Entrance, reader: &Reader, arrival: Option<Key>) -> Response {
    match (entrance.stance(), arrival) {
        (OnLoss::Open, _) => Response::see_other(reader.to.clone()),
        (OnLoss::Closed, _) => entrance.show(reader, Notice::StoreLost),
        (OnLoss::Hold, None) => entrance.record_counted(reader, None),
        (OnLoss::Hold, Some(nonce)) => {
            entrance.show(reader, Notice::Arrived(entrance.arrival_wait_ms(nonce, None)))
        }
    }
}
