//! The calls that name their room in the body or the query: release, pause and metrics, as scripts for other waiting rooms
//! know them.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::Admin;
use super::access::{Act, By, Look};
use super::input::{Asked, Told};
use super::number::{Figure, Whole};
use super::refusal::{ErrorBody, Refusal};
use super::rooms::{lately, rate};
use super::verbs::{release_by_hand, set_paused};
use crate::stats::abandoned;

/// Whom to release.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "event_id": "evt_123", "count": 100 }))]
pub(super) struct Release {
    /// Without its tenant.
    event_id: String,
    /// How many to call now.
    #[schema(minimum = 1, maximum = 1_000_000, value_type = u64, required = true)]
    count: Option<Whole>,
    /// Not available in this version.
    #[schema(ignore)]
    rate_per_second: Option<f64>,
}

/// What a release did.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({ "released": 100, "remaining_in_queue": 1423, "current_release_rate": 10 }))]
pub(super) struct ReleaseDone {
    released: u64,
    remaining_in_queue: u64,
    #[schema(value_type = f64)]
    current_release_rate: Figure,
}

/// Call the next visitors now
#[utoipa::path(
    post, path = "/v1/admin/release", tag = "classic", request_body = Release,
    responses(
        (status = 200, body = ReleaseDone),
        (status = 404, body = ErrorBody)
    )
)]
pub(super) async fn release(
    State(admin): State<Arc<Admin>>,
    by: By<Act>,
    Told(Release { event_id, count, rate_per_second }): Told<Release>,
) -> Result<Json<ReleaseDone>, Refusal> {
    let entrance = admin.room(&by.caller.scope, &event_id)?;
    if rate_per_second.is_some() {
        let message = "rate_per_second is not available in this version: set rate in the configuration, and reload it";
        return Err(Refusal::bad(message));
    }
    let Whole(count) =
        count.ok_or_else(|| Refusal::bad("count is missing: how many to release"))?;
    let done = release_by_hand(&by.caller, &entrance, count).await?;
    Ok(Json(ReleaseDone {
        released: done.released,
        remaining_in_queue: done.remaining,
        current_release_rate: Figure(rate(&entrance.room.view())),
    }))
}

/// What to pause.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "event_id": "evt_123", "paused": true }))]
pub(super) struct Pause {
    /// Without its tenant.
    event_id: String,
    /// Or to resume.
    paused: bool,
}

/// What a pause did.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({ "event_id": "evt_123", "paused": true, "queue_length": 1523 }))]
pub(super) struct PauseDone {
    event_id: String,
    paused: bool,
    queue_length: u64,
}

/// Pause releases, or resume them
#[utoipa::path(
    post, path = "/v1/admin/pause", tag = "classic", request_body = Pause,
    responses(
        (status = 200, body = PauseDone),
        (status = 404, body = ErrorBody)
    )
)]
pub(super) async fn pause(
    State(admin): State<Arc<Admin>>,
    by: By<Act>,
    Told(Pause { event_id, paused }): Told<Pause>,
) -> Result<Json<PauseDone>, Refusal> {
    let entrance = admin.room(&by.caller.scope, &event_id)?;
    set_paused(&by.caller, &entrance, paused).await?;
    let view = entrance.room.view();
    Ok(Json(PauseDone { event_id, paused: view.counts().paused, queue_length: view.waiting() }))
}

/// Which room.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Which {
    /// Without its tenant.
    event_id: String,
}

/// A room's figures.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "event_id": "evt_123", "queue_length": 1523, "average_wait_seconds": 180, "release_rate_per_second": 5,
    "admissions_last_hour": 1800, "abandoned_sessions": 45, "paused": false
}))]
pub(super) struct Metrics {
    event_id: String,
    queue_length: u64,
    /// Of those who entered lately on this node; null: nobody has.
    #[schema(value_type = Option<f64>)]
    average_wait_seconds: Option<Figure>,
    /// As it is set; without a rate, as it is reached.
    #[schema(value_type = f64)]
    release_rate_per_second: Figure,
    admissions_last_hour: u64,
    /// Fell silent in line, or did not come when called.
    abandoned_sessions: u64,
    paused: bool,
}

/// A room's figures
#[utoipa::path(
    get, path = "/v1/admin/metrics", tag = "classic", params(Which),
    responses((status = 200, body = Metrics), (status = 404, body = ErrorBody))
)]
pub(super) async fn metrics(
    State(admin): State<Arc<Admin>>,
    by: By<Look>,
    Asked(Which { event_id }): Asked<Which>,
) -> Result<Json<Metrics>, Refusal> {
    let entrance = admin.room(&by.caller.scope, &event_id)?;
    let view = entrance.room.view();
    Ok(Json(Metrics {
        event_id,
        queue_length: view.waiting(),
        average_wait_seconds: entrance.stats.average_wait().map(Figure),
        release_rate_per_second: Figure(rate(&view)),
        admissions_last_hour: lately(&entrance, &view).entered,
        abandoned_sessions: abandoned(view.counts()),
        paused: view.counts().paused,
    }))
}
