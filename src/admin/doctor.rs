//! Whether a line is as it must be, and who is inside: read from the store itself, for `anteroom room doctor` and `export`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use utoipa::{IntoParams, ToSchema};

use super::Admin;
use super::access::{Look, Rule};
use super::input::{Asked, InRoom, Told};
use super::orders::order;
use super::refusal::{ErrorBody, Refusal};
use super::verbs::{Named, Nothing};
use crate::clock;
use crate::line::{Command, Commanded, Found, MAX_FOUND, Question};

/// A line's health.
#[derive(Serialize, ToSchema)]
#[schema(as = LineHealth)]
pub(super) struct Health {
    event_id: String,
    /// Everything holds that must.
    healthy: bool,
    /// What does not.
    broken: Vec<Broken>,
}

/// Something that must hold and does not.
#[derive(Serialize, ToSchema)]
struct Broken {
    /// Which, in the order of the line's documentation.
    invariant: u32,
    found: String,
    /// What a repair does about it.
    repair: &'static str,
}

/// What a repair did.
#[derive(Serialize, ToSchema)]
pub(super) struct Repaired {
    /// Counters that were wrong.
    repaired: u64,
    health: Health,
}

/// Counters can be counted anew; what is said twice about somebody only a reset or time mends.
fn remedy(invariant: u32) -> &'static str {
    match invariant {
        2 => "whose turn is used up is no longer counted as here",
        4 | 5 => "counted anew",
        _ => "none: export the room, then reset it, or restore the store",
    }
}

/// Check a line against what must hold
#[utoipa::path(
    get, path = "/v1/rooms/{id}/health", tag = "rooms", params(("id" = String, Path, description = "Without its tenant")),
    responses((status = 200, body = Health), (status = 404, body = ErrorBody), (status = 503, body = ErrorBody))
)]
pub(super) async fn health(
    State(admin): State<Arc<Admin>>,
    room: InRoom<Look>,
) -> Result<Json<Health>, Refusal> {
    examine(&admin, room.entrance.room.name()).await.map(Json)
}

/// Count anew whatever is kept as a counter
#[utoipa::path(
    post, path = "/v1/rooms/{id}/repair", tag = "rooms", request_body = Option<Nothing>,
    params(("id" = String, Path, description = "Without its tenant")),
    responses((status = 200, body = Repaired), (status = 404, body = ErrorBody), (status = 503, body = ErrorBody))
)]
pub(super) async fn repair(
    State(admin): State<Arc<Admin>>,
    room: InRoom<Rule>,
    _: Told<Nothing>,
) -> Result<Json<Repaired>, Refusal> {
    let line = &room.entrance.room;
    let told = order(room.caller(), line, Command::Repair, "repair", json!({})).await?;
    let repaired = if let Commanded::Repaired(count) = told { count } else { 0 };
    Ok(Json(Repaired { repaired, health: examine(&admin, line.name()).await? }))
}

async fn examine(admin: &Admin, room: &str) -> Result<Health, Refusal> {
    let found = match admin.find(room, Question::Health).await? {
        Found::Health(broken) => broken,
        _ => Vec::new(),
    };
    let broken = found.into_iter().map(|broken| Broken {
        invariant: broken.number,
        repair: remedy(broken.number),
        found: broken.what,
    });
    let broken: Vec<Broken> = broken.collect();
    Ok(Health { event_id: room.to_owned(), healthy: broken.is_empty(), broken })
}

/// Which of those inside.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Window {
    /// Without the first so many.
    skip: Option<usize>,
    /// At most so many.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
}

/// Those inside.
#[derive(Serialize, ToSchema)]
pub(super) struct Inside {
    event_id: String,
    /// In the order in which their seats will be free.
    passes: Vec<Pass>,
}

/// A pass in force.
#[derive(Serialize, ToSchema)]
struct Pass {
    #[serde(flatten)]
    named: Named,
    /// SHA-256 of the pass's nonce: the same visit's passes have the same, and nobody can make one of it.
    nonce_hash: String,
    admitted_at: String,
    issued_at: String,
    expires_at: String,
    /// Where seats have names.
    #[serde(skip_serializing_if = "Option::is_none")]
    slot: Option<String>,
    /// Where visitors have names.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

/// Who is inside
#[utoipa::path(
    get, path = "/v1/rooms/{id}/inside", tag = "rooms",
    params(("id" = String, Path, description = "Without its tenant"), Window),
    responses(
        (status = 200, body = Inside), (status = 400, body = ErrorBody), (status = 404, body = ErrorBody),
        (status = 503, body = ErrorBody)
    )
)]
pub(super) async fn inside(
    State(admin): State<Arc<Admin>>,
    room: InRoom<Look>,
    Asked(Window { skip, limit }): Asked<Window>,
) -> Result<Json<Inside>, Refusal> {
    let limit = limit.unwrap_or(MAX_FOUND);
    if !(1..=MAX_FOUND).contains(&limit) {
        return Err(Refusal::bad(format!("limit is not between 1 and {MAX_FOUND}")));
    }
    let entrance = &room.entrance;
    let question = Question::Inside { skip: skip.unwrap_or(0).min(u32::MAX as usize), limit };
    let seats = match admin.find(entrance.room.name(), question).await? {
        Found::Inside(seats) => seats,
        _ => Vec::new(),
    };
    let view = entrance.room.view();
    let epoch = view.counts().epoch;
    let pass = |(number, terms): (u64, crate::line::Terms)| {
        let number = view.drawn().ticket(number);
        let hash = Sha256::digest(entrance.keys.nonce(epoch, number).as_bytes());
        Pass {
            named: Named::of(entrance, epoch, number),
            nonce_hash: hash.iter().map(|byte| format!("{byte:02x}")).collect(),
            admitted_at: clock::moment(terms.admitted_ms),
            issued_at: clock::moment(terms.issued_ms),
            expires_at: clock::moment(terms.expires_ms),
            slot: entrance.slot_name(terms.slot),
            name: view.roster().name_of(number).map(str::to_owned),
        }
    };
    let event_id = entrance.room.name().to_owned();
    Ok(Json(Inside { event_id, passes: seats.into_iter().map(pass).collect() }))
}
