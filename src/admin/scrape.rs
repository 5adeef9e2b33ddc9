//! `/metrics`: what was counted, and what the views say at this moment.

use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::Admin;
use super::access::{Caller, Scope};
use super::rooms::{rate_reached, rate_set};
use crate::gateway::api;
use crate::gateway::entrance::Entrance;
use crate::metrics::{NodeFigures, RoomFigures};
use crate::room::{SPREAD, SPREAD_LOSING};
use crate::stats::expired;

/// Prometheus' text form, the version every server and agent reads.
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// What is measured, for Prometheus
///
/// With a tenant's key only what is about its rooms.
#[utoipa::path(
    get, path = "/metrics", tag = "node", security((), ("key" = [])),
    responses((status = 200, content_type = "text/plain", body = String))
)]
pub(super) async fn metrics(
    State(admin): State<Arc<Admin>>,
    caller: Option<Extension<Caller>>,
) -> Response {
    let tenant = caller.and_then(|caller| match &caller.scope {
        Scope::Of(tenant) if caller.tenant.is_some() || !tenant.is_empty() => Some(tenant.clone()),
        _ => None,
    });
    let rooms = admin.rooms(&Scope::All);
    let figures: Vec<RoomFigures> = rooms.iter().map(|entrance| room(entrance)).collect();
    let text = admin.node.metrics.expose(&node(&admin), &figures, tenant.as_deref());
    ([(header::CONTENT_TYPE, TEXT)], text).into_response()
}

fn node(admin: &Admin) -> NodeFigures {
    let (places, most) = &admin.node.places;
    NodeFigures {
        connections: most.saturating_sub(places.available_permits()) as u64,
        connections_max: *most as u64,
        streams: admin.node.streams.open() as u64,
        order_spread: [SPREAD, SPREAD_LOSING].map(|spread| spread.as_secs_f64()),
        started: admin.started_ms as f64 / 1_000.0,
        version: env!("CARGO_PKG_VERSION"),
    }
}

fn room(entrance: &Entrance) -> RoomFigures {
    let view = entrance.room.view();
    let (counts, settings) = (view.counts(), view.settings());
    let lately = entrance.stats.lately(counts);
    let (phase, opens, _) = api::phase(&view, entrance.room.now_ms());
    RoomFigures {
        room: entrance.room.name().to_owned(),
        waiting: counts.waiting,
        class_waiting: counts.classed,
        inside: counts.inside,
        admitted: counts.admitted,
        max_active: settings.and_then(|settings| settings.max_active),
        rate_set: settings.and_then(rate_set),
        rate_reached: rate_reached(counts),
        joins_per_second: lately.joins_per_second,
        abandoned_per_hour: lately.abandoned_per_hour,
        expired_per_hour: lately.expired_per_hour,
        joins: counts.issued,
        releases: counts.turns,
        entered: counts.entered,
        completed: counts.completed,
        expired: expired(counts),
        no_shows: counts.no_shows,
        dropped: counts.dropped,
        paused: view.is_paused(),
        phase,
        opens: opens.map(|(opens_ms, _)| opens_ms as f64 / 1_000.0),
        store_up: !entrance.room.is_away(),
        view_age: entrance.room.heard_ago().map(|ago| ago.as_secs_f64()),
        store_bytes: counts.store_bytes(),
        adapted: counts.adapted,
    }
}
