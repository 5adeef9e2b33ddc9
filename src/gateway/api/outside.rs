//! Apps to which a room does not apply, see [`rollout`](crate::gateway::rollout): they are inside without having joined.
//!
//! Owns what they are told. Never asks the line: they have no number, hold no seat, and can't lose either.

use super::Response;
use super::json::Json;
use super::request::Request;
use crate::gateway::decide::Carried;
use crate::gateway::entrance::{Entrance, Identity};
use crate::gateway::head::{Client, Head as _};
use crate::gateway::rollout;
use crate::token::Scratch;

/// The answer to a join of somebody to whom the room does not apply.
pub(super) fn joined(
    entrance: &Entrance,
    request: &Request,
    client: &Client,
    identity: &Identity,
) -> Option<Response> {
    let (view, now_ms) = (entrance.room.view(), entrance.room.now_ms());
    let carried = entrance.held(request, client, &mut Scratch::new()).0.carried();
    let carried = match carried {
        Carried::Outside { .. } => carried,
        _ => Carried::Nothing,
    };
    let draw = || {
        let program = request.get("user-agent").unwrap_or_default();
        let device = identity.device_id.as_deref().map(str::as_bytes);
        entrance.lot(client.address, device.unwrap_or(program))
    };
    let found = rollout::outside(carried, now_ms, entrance.rollout(&view), draw)?;
    let (token, expires_at) = entrance.pass_outside(found.lot, identity);
    Some(Response::json(200, body(entrance, "admitted", Some(&token), expires_at)))
}

/// The answer to any other call of such a one; `None`: the room applies to them.
pub(super) fn asked(entrance: &Entrance, carried: Carried) -> Option<Response> {
    let Carried::Outside { expires_ms, .. } = carried else { return None };
    let (view, now_ms) = (entrance.room.view(), entrance.room.now_ms());
    rollout::outside(carried, now_ms, entrance.rollout(&view), || 0).filter(|found| found.known)?;
    Some(Response::json(200, body(entrance, "active", None, expires_ms / 1_000)))
}

fn body(entrance: &Entrance, status: &str, token: Option<&str>, expires_at: u64) -> Vec<u8> {
    let mut json = Json::new();
    if let Some(token) = token {
        json.text("queue_id", token);
    }
    json.text("event_id", entrance.room.name());
    json.number("position", 0);
    json.number("waiting", entrance.room.view().waiting());
    json.number("estimated_wait_seconds", 0);
    json.null("eta");
    json.text("status", status);
    if let Some(token) = token {
        json.text("token", token);
    }
    json.second("expires_at", expires_at);
    json.number("next_poll_seconds", entrance.settings.poll_max.as_secs().max(1));
    json.moment("server_time", entrance.room.now_ms());
    json.end()
}
