//! The verbs: what operators do to a room. Each is a command in the next exchange, so it happens once and for all nodes.

use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::access::{Act, Caller, Rule};
use super::change::{self, Written};
use super::input::{self, InRoom, Told};
use super::line::{Visitor, find};
use super::number::Whole;
use super::orders::order;
use super::refusal::{ErrorBody, Refusal, no_visitor};
use super::rooms::Room;
use crate::gateway::chronicle;
use crate::gateway::entrance::Entrance;
use crate::line::{BOOST, Command, Commanded, Done, Mode, Number};
use crate::room::Proof;

/// As many as a line ever lets wait for one exchange.
const MAX_RELEASE: u64 = 1_000_000;

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
    order(room.caller(), &room.entrance.room, Command::Reset, "reset", json!({})).await?;
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
    let parameters = json!({ "visitor": entrance.label(number) });
    let told = order(room.caller(), &entrance.room, Command::Revoke(number), "revoke", parameters);
    let revoked = match told.await? {
        Commanded::Ended(Done::Freed) => true,
        Commanded::Ended(Done::Unknown | Done::Stale) => return Err(no_visitor()),
        _ => false,
    };
    if revoked {
        // Who it is only their ticket would say.
        let proof = Proof { epoch: view.counts().epoch, number };
        chronicle::changed(entrance, proof, || None, "expired", "revoked");
    }
    let visitor = Visitor::of(entrance, &entrance.room.view(), number);
    Ok(Json(Revoked { revoked, visitor }))
}

/// What became of an order about one visitor.
#[derive(Serialize, ToSchema)]
pub(super) struct Steered {
    /// Whether anything was done: somebody who is over is not steered any more.
    done: bool,
    visitor: Visitor,
}

/// End a visitor's session: they are done
#[utoipa::path(
    post, path = "/v1/rooms/{id}/visitors/{visitor}/complete", tag = "visitors", request_body = Option<Nothing>,
    params(
        ("id" = String, Path, description = "Without its tenant"),
        ("visitor" = String, Path, description = "A number, a label or a queue_ref")
    ),
    responses((status = 200, body = Steered))
)]
pub(super) async fn complete(
    room: InRoom<Act>,
    input::Visitor(visitor): input::Visitor,
    _: Told<Nothing>,
) -> Result<Json<Steered>, Refusal> {
    steer(&room, &visitor, Command::Complete, ("complete", "completed", "completed")).await
}

/// Keep a visitor's seat for one idle time more
#[utoipa::path(
    post, path = "/v1/rooms/{id}/visitors/{visitor}/extend", tag = "visitors", request_body = Option<Nothing>,
    params(
        ("id" = String, Path, description = "Without its tenant"),
        ("visitor" = String, Path, description = "A number, a label or a queue_ref")
    ),
    responses((status = 200, body = Steered))
)]
pub(super) async fn extend(
    room: InRoom<Act>,
    input::Visitor(visitor): input::Visitor,
    _: Told<Nothing>,
) -> Result<Json<Steered>, Refusal> {
    steer(&room, &visitor, Command::Extend, ("extend", "active", "extended")).await
}

/// Take one visitor's place or seat away
#[utoipa::path(
    post, path = "/v1/rooms/{id}/visitors/{visitor}/revoke", tag = "visitors", request_body = Option<Nothing>,
    params(
        ("id" = String, Path, description = "Without its tenant"),
        ("visitor" = String, Path, description = "A number, a label or a queue_ref")
    ),
    responses((status = 200, body = Steered))
)]
pub(super) async fn revoke_one(
    room: InRoom<Act>,
    input::Visitor(visitor): input::Visitor,
    _: Told<Nothing>,
) -> Result<Json<Steered>, Refusal> {
    steer(&room, &visitor, Command::Revoke, ("revoke", "expired", "revoked")).await
}

/// Send a visitor to the end of the line
#[utoipa::path(
    post, path = "/v1/rooms/{id}/visitors/{visitor}/requeue", tag = "visitors", request_body = Option<Nothing>,
    params(
        ("id" = String, Path, description = "Without its tenant"),
        ("visitor" = String, Path, description = "A number, a label or a queue_ref")
    ),
    responses((status = 200, body = Steered))
)]
pub(super) async fn requeue(
    room: InRoom<Act>,
    input::Visitor(visitor): input::Visitor,
    _: Told<Nothing>,
) -> Result<Json<Steered>, Refusal> {
    steer(&room, &visitor, Command::Requeue, ("requeue", "expired", "requeued")).await
}

async fn steer(
    room: &InRoom<Act>,
    visitor: &str,
    command: fn(Number) -> Command,
    (action, status, reason): (&'static str, &'static str, &'static str),
) -> Result<Json<Steered>, Refusal> {
    let entrance = &room.entrance;
    let view = entrance.room.view();
    let number = find(entrance, &view, visitor)?;
    let parameters = json!({ "visitor": entrance.label(number) });
    let told = order(room.caller(), &entrance.room, command(number), action, parameters);
    let done = match told.await? {
        Commanded::Ended(Done::Freed) | Commanded::Done => true,
        Commanded::Ended(Done::Unknown | Done::Stale) => return Err(no_visitor()),
        _ => false,
    };
    if done && action != "extend" {
        // Who it is only their ticket would say.
        let proof = Proof { epoch: view.counts().epoch, number };
        chronicle::changed(entrance, proof, || None, status, reason);
    }
    let visitor = Visitor::of(entrance, &entrance.room.view(), number);
    Ok(Json(Steered { done, visitor }))
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
    order(caller, &entrance.room, verb, action, json!({})).await.map(|_| ())
}

pub(super) async fn release_by_hand(
    caller: &Caller,
    entrance: &Entrance,
    count: u64,
) -> Result<Released, Refusal> {
    if !(1..=MAX_RELEASE).contains(&count) {
        return Err(Refusal::bad(format!("count is not between 1 and {MAX_RELEASE}")));
    }
    let parameters = json!({ "count": count });
    let told =
        order(caller, &entrance.room, Command::Release(count), "release", parameters).await?;
    let (released, called) = match told {
        Commanded::Released { count, called, .. } => (count, called),
        _ => (0, Vec::new()),
    };
    let view = entrance.room.view();
    let named =
        |number: &Number| Named::of(entrance, view.counts().epoch, view.drawn().ticket(*number));
    Ok(Released {
        event_id: entrance.room.name().to_owned(),
        released,
        remaining: view.waiting(),
        unnamed: released.saturating_sub(called.len() as u64),
        called: called.iter().map(named).collect(),
    })
}

/// For a while.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "rate": "20/s", "seconds": 300 }))]
pub(super) struct Boost {
    /// Turns a time, as `"20/s"` or as a number a second.
    #[schema(value_type = Value)]
    rate: Written,
    /// For so long; 0 ends a boost.
    #[schema(maximum = 86400)]
    seconds: u64,
}

/// Release at another rate for a while
#[utoipa::path(
    post, path = "/v1/rooms/{id}/boost", tag = "verbs", request_body = Boost,
    params(("id" = String, Path, description = "Without its tenant")),
    responses(
        (status = 200, body = Room), (status = 400, body = ErrorBody), (status = 403, body = ErrorBody),
        (status = 409, body = ErrorBody), (status = 503, body = ErrorBody)
    )
)]
pub(super) async fn boost(
    room: InRoom<Act>,
    Told(Boost { rate, seconds }): Told<Boost>,
) -> Result<Json<Room>, Refusal> {
    let one = match seconds {
        0 => change::change(BOOST, None),
        _ => change::boost(&rate, seconds.saturating_mul(1_000))?,
    };
    let words = json!({ "rate": rate, "seconds": seconds });
    change::set(room.caller(), &room.entrance, vec![one], "boost", words).await?;
    Ok(Json(Room::of(&room.entrance)))
}

/// Take nobody new; the line empties at its pace
#[utoipa::path(
    post, path = "/v1/rooms/{id}/drain", tag = "verbs", request_body = Option<Nothing>,
    params(("id" = String, Path, description = "Without its tenant")),
    responses((status = 200, body = Room), (status = 403, body = ErrorBody), (status = 503, body = ErrorBody))
)]
pub(super) async fn drain(room: InRoom<Act>, _: Told<Nothing>) -> Result<Json<Room>, Refusal> {
    let one = change::mode(Mode::Drain);
    change::set(room.caller(), &room.entrance, vec![one], "drain", json!({})).await?;
    Ok(Json(Room::of(&room.entrance)))
}

/// What to say.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "text": "The second half goes on sale at noon." }))]
pub(super) struct Message {
    /// What waiting visitors are told; empty: what the file says.
    #[schema(max_length = 500)]
    text: String,
}

/// Tell waiting visitors something
#[utoipa::path(
    post, path = "/v1/rooms/{id}/message", tag = "verbs", request_body = Message,
    params(("id" = String, Path, description = "Without its tenant")),
    responses(
        (status = 200, body = Room), (status = 400, body = ErrorBody), (status = 403, body = ErrorBody),
        (status = 409, body = ErrorBody), (status = 503, body = ErrorBody)
    )
)]
pub(super) async fn message(
    room: InRoom<Act>,
    Told(Message { text }): Told<Message>,
) -> Result<Json<Room>, Refusal> {
    let text = Some(change::check_message(&text)?).filter(|text| !text.is_empty());
    let one = change::change("message", text.clone().map(Value::String));
    change::set(room.caller(), &room.entrance, vec![one], "message", json!({ "text": text }))
        .await?;
    Ok(Json(Room::of(&room.entrance)))
}
