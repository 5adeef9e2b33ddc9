//! The verbs: what operators do to a room. Each is a command in the next exchange, so it happens once and for all nodes.

use std::time::Duration;

use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::timeout;
use utoipa::ToSchema;

use super::access::{Act, Caller, Rule};
use super::input::{InRoom, Told};
use super::line::{Visitor, find};
use super::log;
use super::number::Whole;
use super::refusal::{Refusal, no_answer, no_visitor};
use super::rooms::Room;
use crate::gateway::entrance::Entrance;
use crate::line::{Command, Commanded, Done, Ending, Number};
use crate::room::{Busy, Proof};

/// How long the line may take: longer than any exchange, shorter than an operator's patience.
const DEADLINE: Duration = Duration::from_secs(5);

/// As many as a line ever lets wait for one exchange.
const MAX_RELEASE: u64 = 1_000_000;

/// Named in an answer at most.
const MAX_NAMED: usize = 1_000;

/// Nothing.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

/// How many.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "count": 100 }))]
pub(super) struct Count {
    /// Turns to give now, whatever rate and pause say; never beyond the seats.
    #[schema(minimum = 1, maximum = 1_000_000, value_type = u64)]
    count: Whole,
}

/// What a release did.
#[derive(Serialize, ToSchema)]
pub(super) struct Released {
    event_id: String,
    /// How many were called: fewer than asked for if fewer wait, or seats are few.
    pub(super) released: u64,
    /// Who still waits.
    pub(super) remaining: u64,
    /// Whom it called, up to 1,000 of them, in their order.
    called: Vec<Named>,
    /// How many more, or from the head of the line, are not named.
    unnamed: u64,
}

/// A visitor by all their names.
#[derive(Serialize, ToSchema)]
pub(super) struct Named {
    number: Number,
    /// As people see it.
    #[schema(examples("A-000123"))]
    label: String,
    /// As answers and logs have it.
    queue_ref: String,
}

impl Named {
    pub(super) fn of(entrance: &Entrance, epoch: u64, number: Number) -> Named {
        let queue_ref = entrance.keys.reference(epoch, number);
        Named { number, label: entrance.label(number), queue_ref }
    }
}

/// Stop releasing by rate
#[utoipa::path(
    post, path = "/v1/rooms/{id}/pause", tag = "verbs", request_body = Option<Nothing>,
    params(("id" = String, Path, description = "Without its tenant")),
    responses((status = 200, body = Room))
)]
pub(super) async fn pause(room: InRoom<Act>, _: Told<Nothing>) -> Result<Json<Room>, Refusal> {
    set_paused(room.caller(), &room.entrance, true).await?;
    Ok(Json(Room::of(&room.entrance)))
}

/// Release by rate again
#[utoipa::path(
    post, path = "/v1/rooms/{id}/resume", tag = "verbs", request_body = Option<Nothing>,
    params(("id" = String, Path, description = "Without its tenant")),
    responses((status = 200, body = Room))
)]
pub(super) async fn resume(room: InRoom<Act>, _: Told<Nothing>) -> Result<Json<Room>, Refusal> {
    set_paused(room.caller(), &room.entrance, false).await?;
    Ok(Json(Room::of(&room.entrance)))
}

/// Call the next visitors now
#[utoipa::path(
    post, path = "/v1/rooms/{id}/release", tag = "verbs", request_body = Count,
    params(("id" = String, Path, description = "Without its tenant")),
    responses(
        (status = 200, body = Released)
    )
)]
pub(super) async fn release(
    room: InRoom<Act>,
    Told(Count { count: Whole(count) }): Told<Count>,
) -> Result<Json<Released>, Refusal> {
    release_by_hand(room.caller(), &room.entrance, count).await.map(Json)
}

/// Start anew: every ticket and pass is void
#[utoipa::path(
    post, path = "/v1/rooms/{id}/reset", tag = "verbs", request_body = Option<Nothing>,
    params(("id" = String, Path, description = "Without its tenant")),
    responses((status = 200, body = Room))
)]
pub(super) async fn reset(room: InRoom<Rule>, _: Told<Nothing>) -> Result<Json<Room>, Refusal> {
    command(room.caller(), &room.entrance, Command::Reset, "reset", json!({})).await?;
    Ok(Json(Room::of(&room.entrance)))
}

/// Whose.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "visitor": "A-000123" }))]
pub(super) struct Whose {
    /// A number, a label or a queue_ref.
    visitor: String,
}

/// What became of somebody.
#[derive(Serialize, ToSchema)]
pub(super) struct Revoked {
    /// Whether there was a place or a seat to take away.
    revoked: bool,
    visitor: Visitor,
}

/// Take a visitor's place or seat away
#[utoipa::path(
    post, path = "/v1/rooms/{id}/revoke", tag = "verbs", request_body = Whose,
    params(("id" = String, Path, description = "Without its tenant")),
    responses(
        (status = 200, body = Revoked)
    )
)]
pub(super) async fn revoke(
    room: InRoom<Act>,
    Told(Whose { visitor }): Told<Whose>,
) -> Result<Json<Revoked>, Refusal> {
    let entrance = &room.entrance;
    let view = entrance.room.view();
    // Known to this node: what an operator types proves nothing, and must not look as if it did.
    let number = find(entrance, &view, &visitor)?;
    let proof = Proof { epoch: view.counts().epoch, number };
    let done = asked(entrance.room.end(proof, Ending::Revoked)).await?;
    let revoked = match done {
        Done::Freed => true,
        Done::Already => false,
        Done::Unknown | Done::Stale => return Err(no_visitor()),
    };
    let parameters = json!({ "number": number, "revoked": revoked });
    log::acted(room.caller(), Some(entrance.room.name()), "revoke", &parameters);
    let visitor = Visitor::of(entrance, &entrance.room.view(), number);
    Ok(Json(Revoked { revoked, visitor }))
}

pub(super) async fn set_paused(
    caller: &Caller,
    entrance: &Entrance,
    paused: bool,
) -> Result<(), Refusal> {
    let (verb, action) = match paused {
        true => (Command::Pause, "pause"),
        false => (Command::Resume, "resume"),
    };
    let from = entrance.room.view().counts().paused;
    let parameters = json!({ "from": from, "to": paused });
    command(caller, entrance, verb, action, parameters).await.map(|_| ())
}

pub(super) async fn release_by_hand(
    caller: &Caller,
    entrance: &Entrance,
    count: u64,
) -> Result<Released, Refusal> {
    if !(1..=MAX_RELEASE).contains(&count) {
        return Err(Refusal::bad(format!("count is not between 1 and {MAX_RELEASE}")));
    }
    let told = asked(entrance.room.command(Command::Release(count))).await?;
    let (released, after, upto) = match told {
        Commanded::Released { count, after, upto, .. } => (count, after, upto),
        Commanded::Done => (0, 0, 0),
    };
    let parameters = json!({ "count": count, "released": released, "after": after, "upto": upto });
    log::acted(caller, Some(entrance.room.name()), "release", &parameters);
    let view = entrance.room.view();
    let called = view.here_between(after, upto, MAX_NAMED.min(released as usize));
    let named = |number: &Number| Named::of(entrance, view.counts().epoch, *number);
    Ok(Released {
        event_id: entrance.room.name().to_owned(),
        released,
        remaining: view.waiting(),
        unnamed: released.saturating_sub(called.len() as u64),
        called: called.iter().map(named).collect(),
    })
}

async fn command(
    caller: &Caller,
    entrance: &Entrance,
    verb: Command,
    action: &str,
    parameters: Value,
) -> Result<Commanded, Refusal> {
    let told = asked(entrance.room.command(verb)).await?;
    log::acted(caller, Some(entrance.room.name()), action, &parameters);
    Ok(told)
}

/// Waits for the line's answer, and not for ever.
async fn asked<A>(question: impl Future<Output = Result<A, Busy>>) -> Result<A, Refusal> {
    match timeout(DEADLINE, question).await {
        Ok(answer) => Ok(answer?),
        Err(_) => Err(no_answer()),
    }
}
