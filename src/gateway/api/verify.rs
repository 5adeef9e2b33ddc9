//! `admission/verify`: whether a pass is good, for origins that do not check it themselves.
//!
//! Says no more than the pass does, and whether it still counts: signature, room, epoch, expiry by the store's time, and
//! whether it was ended early. Changes nothing. A good pass is never counted against anybody: an origin asks about
//! all its visitors from one address. What is no pass at all is counted like any other guess.

use super::Response;
use super::asker::{count_address, room, visible};
use super::error::bad;
use super::fields::Fields;
use super::json::Json;
use super::request::{Request, must_be_json};
use super::turn;
use super::verdict::is_news;
use crate::gateway::entrance::Entrance;
use crate::gateway::head::Client;
use crate::gateway::live::Live;
use crate::line::Reason;
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
    let mut scratch = Scratch::new();
    let now_ms = entrance.room.now_ms();
    let pass = match entrance.keys.verify_pass(token, now_ms, &mut scratch) {
        Ok(pass) => pass,
        Err(TokenError::Expired { .. }) => return Ok(refusal(entrance, "expired")),
        Err(problem) => {
            count_address(entrance, client.address)?;
            return match reason(live, request, event_id, token, problem) {
                Some(reason) => Ok(refusal(entrance, reason)),
                None => Err(bad("malformed_token", "the token is no JSON Web Token")),
            };
        }
    };
    let proof = Proof { epoch: pass.epoch, number: pass.num };
    if is_news(&entrance.room.view(), proof) {
        turn::learnt(entrance, proof).await?;
    }
    let view = entrance.room.view();
    if pass.epoch < view.counts().epoch {
        return Ok(refusal(entrance, "revoked"));
    }
    match view.ending(pass.num) {
        Some(why) => Ok(refusal(entrance, reason_code(Reason::Ended(why)))),
        None => Ok(good(entrance, &pass)),
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

fn good(entrance: &Entrance, pass: &Pass<'_>) -> Response {
    let mut json = Json::new();
    json.flag("valid", true);
    json.text("event_id", entrance.room.name());
    json.maybe("device_id", pass.device_id.as_deref());
    json.maybe("user_id", pass.user_id.as_deref());
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
