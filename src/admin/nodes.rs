//! The node itself: whether it is well, since when it runs, how fresh what it knows is.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use super::access::{By, Look};
use super::number::Figure;
use super::rooms::store;
use super::{Admin, parts};
use crate::clock;
use crate::gateway::entrance::Entrance;

/// Whether the node is well.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({ "status": "healthy", "redis": "connected", "store": "redis" }))]
pub(super) struct Health {
    /// `healthy`, or `degraded` while the store of any room does not answer.
    status: &'static str,
    /// Whether the store answers, whatever its kind: `connected` or `disconnected`.
    redis: &'static str,
    /// Which kind of store it is: `redis`, `embedded` or `memory`.
    store: &'static str,
}

/// Whether the node is well
#[utoipa::path(
    get, path = "/health", tag = "node", security(()),
    responses((status = 200, body = Health), (status = 503, body = Health))
)]
pub(super) async fn health(State(admin): State<Arc<Admin>>) -> (StatusCode, Json<Health>) {
    let away = admin.node.live.load().entrances.values().any(|entrance| entrance.room.is_away());
    let (code, status, redis) = match away {
        false => (StatusCode::OK, "healthy", "connected"),
        true => (StatusCode::SERVICE_UNAVAILABLE, "degraded", "disconnected"),
    };
    (code, Json(Health { status, redis, store: admin.node.store }))
}

/// The nodes.
#[derive(Serialize, ToSchema)]
pub(super) struct Nodes {
    nodes: Vec<Node>,
}

/// A running gateway.
#[derive(Serialize, ToSchema)]
struct Node {
    /// Made at its start.
    id: String,
    version: &'static str,
    started_at: String,
    #[schema(value_type = f64)]
    uptime_seconds: Figure,
    /// `redis`, `embedded` or `memory`.
    store: &'static str,
    /// Whether it is the one that answers.
    this: bool,
    rooms: Vec<RoomOfNode>,
}

/// What a node knows of a room, and how well.
#[derive(Serialize, ToSchema)]
struct RoomOfNode {
    id: String,
    event_id: String,
    tenant_id: String,
    /// Whether the store answers about it.
    store: &'static str,
    /// Since the last exchange; null: there was none yet.
    #[schema(value_type = Option<f64>)]
    last_exchange_seconds: Option<Figure>,
    /// The store's clock minus the node's.
    clock_offset_ms: i64,
}

/// This node
#[utoipa::path(
    get, path = "/v1/nodes", tag = "node",
    responses((status = 200, body = Nodes))
)]
pub(super) async fn nodes(State(admin): State<Arc<Admin>>, by: By<Look>) -> Json<Nodes> {
    let rooms = admin.rooms(&by.caller.scope);
    let room = |entrance: &Arc<Entrance>| {
        let (tenant, id) = parts(entrance.room.name());
        RoomOfNode {
            id: id.to_owned(),
            event_id: entrance.room.name().to_owned(),
            tenant_id: tenant.to_owned(),
            store: store(entrance),
            last_exchange_seconds: entrance.room.heard_ago().map(|ago| Figure(ago.as_secs_f64())),
            clock_offset_ms: entrance.room.clock_offset_ms(),
        }
    };
    let this = Node {
        id: admin.id.to_string(),
        version: env!("CARGO_PKG_VERSION"),
        started_at: clock::moment(admin.started_ms),
        uptime_seconds: Figure(admin.started.elapsed().as_secs_f64()),
        store: admin.node.store,
        this: true,
        rooms: rooms.iter().map(room).collect(),
    };
    Json(Nodes { nodes: vec![this] })
}
