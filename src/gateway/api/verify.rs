//! `admission/verify`: whether a pass is good, for origins that do not check it themselves.
//!
//! Says no more than the pass does, and whether it still counts: signature, room, epoch, expiry by the store's time, and
//! whether it was ended early. Changes nothing, unless it is asked to `consume`: in a room whose passes are good once
//! (`single_use`) the line then notes that this one is spent, and says so to whoever tries again, on whatever node. Without the
//! line nothing is spent, and nobody is told that it was. A good pass is never counted against the address: an origin asks
//! about all its visitors from one. What is no pass at all is counted like any other guess.

use super::Response;
use super::asker::{count_address, room, visible};
use super::error::{bad, put_error, rate_limited};
use super::fields::Fields;
use super::json::Json;
use super::request::{Request, must_be_json};
use super::turn;
use super::verdict::is_news;
use crate::gateway::chronicle::{self, Whose};
use crate::gateway::entrance::{Entrance, proof_key};
use crate::gateway::head::Client;
use crate::gateway::live::Live;
use crate::gateway::rollout::OUTSIDE;
use crate::line::{Done, Reason};
use crate::page::reason_code;
use crate::room::Proof;
use crate::token::{Pass, Scratch, TokenError, Unproven};

/// Judges a pass.
pub(super) async fn verify(
    live: &Live,
    request: &Request,
    client: &Client,
    body: &[u8],
) -> Result<Response, Response> {
    must_be_json(request)?;
    let fields = Fields::read(body)?;
    let token = fields.text("token", "invalid_token")?.unwrap_or_default().as_bytes();
    let event_id = fields.text("event_id", "invalid_event_id")?.unwrap_or_default();
    if event_id.is_empty() {
        return Err(bad(
            "missing_event_id",
            "event_id is missing: say for which room the pass is to be good",
        ));
    }
    if token.is_empty() {
        return Err(bad("missing_token", "token is missing"));
    }
    let entrance = room(live, request, event_id)?;
    let consume = fields.flag("consume", "invalid_consume")?;
    if consume && !entrance.settings.single_use {
        return Err(bad(
            "not_single_use",
            "passes of this room can't be spent: ask without consume, or set single_use = true for the room",
        ));
    }
    let mut scratch = Scratch::new();
    let now_ms = entrance.room.now_ms();
    let pass = match entrance.keys.verify_pass(token, now_ms, &mut scratch) {
        Ok(pass) => pass,
        Err(TokenError::Expired { .. }) => return Ok(refusal(entrance, "expired")),
        Err(problem) => {
            chronicle::forged(entrance, token);
            count_address(entrance, client.address)?;
            return match reason(live, request, event_id, token, problem) {
                Some(reason) => Ok(refusal(entrance, reason)),
                None => Err(bad("malformed_token", "the token is no JSON Web Token")),
            };
        }
    };
    if pass.epoch == OUTSIDE {
        // Whether it still counts is for the percentage to say.
        return Ok(match pass.num >= entrance.rollout(&entrance.room.view()) {
            true => good(entrance, &pass, false),
            false => refusal(entrance, "revoked"),
        });
    }
    let proof = Proof { epoch: pass.epoch, number: pass.num };
    // While the line can't be asked the signature is enough.
    if is_news(&entrance.room.view(), proof) && !entrance.room.is_away() {
        turn::learnt(entrance, proof).await?;
    }
    match consume {
        true => spend(entrance, proof, &pass).await,
        false => Ok(judged(entrance, proof, &pass, false)),
    }
}

/// A pass whose signature is good, by what this node knows of it.
fn judged(entrance: &Entrance, proof: Proof, pass: &Pass<'_>, consumed: bool) -> Response {
    match void(entrance, proof) {
        Some(reason) => refusal(entrance, reason),
        None => good(entrance, pass, consumed),
    }
}

/// Why a pass does not count any more, as far as this node has heard.
fn void(entrance: &Entrance, proof: Proof) -> Option<&'static str> {
    let view = entrance.room.view();
    let epoch = view.counts().epoch;
    if proof.epoch < epoch {
        return Some("revoked");
    }
    let ending = view.ending(proof.number).filter(|_| proof.epoch == epoch)?;
    Some(reason_code(Reason::Ended(ending)))
}

/// Uses a good pass up, if nobody has before.
async fn spend(entrance: &Entrance, proof: Proof, pass: &Pass<'_>) -> Result<Response, Response> {
    // Each try costs the line a step.
    if let Err(retry_ms) = entrance.by_ticket.take(proof_key(proof), entrance.room.now_ms()) {
        chronicle::limited(entrance, "requests_per_ticket", Whose::Place(proof));
        return Err(rate_limited(entrance, retry_ms));
    }
    match turn::asked(entrance, entrance.room.spend(proof)).await? {
        // With its answer the line told what this node had not heard yet: a pass that another one ended is void.
        Done::Freed => {
            if void(entrance, proof).is_none() {
                chronicle::spent(entrance, proof, pass.device_id.as_deref(), false);
            }
            Ok(judged(entrance, proof, pass, true))
        }
        Done::Already => {
            chronicle::spent(entrance, proof, pass.device_id.as_deref(), true);
            Err(spent(entrance, proof))
        }
        Done::Stale => Ok(refusal(entrance, "revoked")),
        Done::Unknown => Ok(refusal(entrance, "unknown")),
    }
}

/// Why a token is not good; `None`: it is none.
fn reason(
    live: &Live,
    request: &Request,
    event_id: &str,
    token: &[u8],
    problem: TokenError,
) -> Option<&'static str> {
    match problem {
        TokenError::TooLong | TokenError::Malformed => None,
        TokenError::Type => Some("not_a_pass"),
        TokenError::OtherRoom => Some("other_room"),
        // Each room has keys of its own: whose it is shows where it is good.
        TokenError::Signature | TokenError::UnknownKey => {
            let says = Unproven::read(token).ok().filter(|says| says.room != event_id);
            let other = says.and_then(|says| visible(live, request, &says.room));
            let theirs = other
                .is_some_and(|other| other.keys.verify_pass(token, 0, &mut Scratch::new()).is_ok());
            Some(if theirs { "other_room" } else { "unknown" })
        }
        TokenError::Algorithm | TokenError::Claims(_) | TokenError::Expired { .. } => {
            Some("unknown")
        }
    }
}

fn refusal(entrance: &Entrance, reason: &str) -> Response {
    let mut json = Json::new();
    json.flag("valid", false);
    json.text("reason", reason);
    json.text("event_id", entrance.room.name());
    json.moment("server_time", entrance.room.now_ms());
    Response::json(200, json.end())
}

/// A pass that was used up before.
fn spent(entrance: &Entrance, proof: Proof) -> Response {
    let mut json = Json::new();
    put_error(&mut json, "gone", "the pass was spent before: it is good once");
    json.flag("valid", false);
    json.text("reason", "spent");
    json.text("event_id", entrance.room.name());
    json.number("number", proof.number);
    json.token("queue_ref", &entrance.keys.reference_text(proof.epoch, proof.number));
    json.moment("server_time", entrance.room.now_ms());
    Response::json(410, json.end())
}

fn good(entrance: &Entrance, pass: &Pass<'_>, consumed: bool) -> Response {
    let mut json = Json::new();
    json.flag("valid", true);
    if consumed {
        json.flag("consumed", true);
    }
    json.text("event_id", entrance.room.name());
    json.maybe("device_id", pass.device_id.as_deref());
    json.maybe("user_id", pass.user_id.as_deref());
    if pass.user_proven {
        json.flag("user_proven", true);
    }
    json.second("issued_at", pass.issued_at);
    json.second("expires_at", pass.expires_at);
    json.second("admitted_at", pass.admitted_at);
    json.text("class", &pass.class);
    json.maybe("slot", pass.slot.as_deref());
    json.number("number", pass.num);
    json.token("queue_ref", &entrance.keys.reference_text(pass.epoch, pass.num));
    json.moment("server_time", entrance.room.now_ms());
    Response::json(200, json.end())
}
