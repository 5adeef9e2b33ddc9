//! The node itself: whether it is well, since when it runs, how fresh what it knows is.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::access::{By, Look};
use super::number::Figure;
use super::refusal::Refusal;
use super::rooms::store;
use super::{Admin, parts};
use crate::clock;
use crate::gateway::entrance::Entrance;
use crate::line::{Found, Question};
use crate::store::HOUSE;

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
    version: String,
    started_at: String,
    #[schema(value_type = f64)]
    uptime_seconds: Figure,
    /// `redis`, `embedded` or `memory`.
    store: String,
    /// Whether it is the one that answers.
    this: bool,
    /// Since the store last heard of it.
    #[schema(value_type = f64)]
    last_heard_seconds: Figure,
    /// The store's clock minus the node's.
    clock_offset_ms: i64,
    /// What it knows of rooms, if it is the one that answers; of others, the rooms whose duties they did last.
    rooms: Vec<RoomOfNode>,
}

/// What a node knows of a room, and how well.
#[derive(Serialize, ToSchema)]
struct RoomOfNode {
    id: String,
    event_id: String,
    tenant_id: String,
    /// Whether the store answers about it; null: that node knows.
    store: Option<&'static str>,
    /// Since the last exchange; null: there was none yet, or that node knows.
    #[schema(value_type = Option<f64>)]
    last_exchange_seconds: Option<Figure>,
    /// When this node last did what is due now and then for all nodes; null: another one did.
    swept_at: Option<String>,
}

/// What a node says about itself, in every exchange of the house.
#[derive(Serialize, Deserialize)]
pub(super) struct About {
    version: String,
    started_ms: u64,
    store: String,
    clock_offset_ms: i64,
}

/// Nodes that were silent for this long are not told of.
const SILENT_MS: u64 = 60_000;

impl Admin {
    /// What this node says about itself.
    pub fn about(&self) -> String {
        let about = About {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_ms: self.started_ms,
            store: self.node.store.to_owned(),
            clock_offset_ms: self.node.house.clock_offset_ms(),
        };
        serde_json::to_string(&about).unwrap_or_default()
    }
}

/// The nodes
#[utoipa::path(
    get, path = "/v1/nodes", tag = "node",
    responses((status = 200, body = Nodes))
)]
pub(super) async fn nodes(
    State(admin): State<Arc<Admin>>,
    by: By<Look>,
) -> Result<Json<Nodes>, Refusal> {
    let rooms = admin.rooms(&by.caller.scope);
    let heard = match admin.find(HOUSE, Question::Nodes).await? {
        Found::Nodes(heard) => heard,
        _ => Vec::new(),
    };
    let own = admin.node.id.as_u128();
    let mut nodes: Vec<Node> = heard
        .into_iter()
        .filter(|heard| heard.ago_ms < SILENT_MS && heard.node != own)
        .filter_map(|heard| {
            let about: About = serde_json::from_str(&heard.about).ok()?;
            Some(Node::of(heard.node, about, heard.ago_ms, false, &rooms))
        })
        .collect();
    if let Ok(about) = serde_json::from_str(&admin.about()) {
        let ago_ms = admin.node.house.heard_ago().map_or(0, |ago| ago.as_millis() as u64);
        nodes.insert(0, Node::of(own, about, ago_ms, true, &rooms));
    }
    Ok(Json(Nodes { nodes }))
}

impl Node {
    fn of(id: u128, about: About, ago_ms: u64, this: bool, rooms: &[Arc<Entrance>]) -> Node {
        let now_ms = clock::now_ms();
        let room = |entrance: &Arc<Entrance>| {
            let (tenant, name) = parts(entrance.room.name());
            let counts = *entrance.room.view().counts();
            // A node speaks to each room under a name of its own, which begins as its own does.
            let swept = counts.swept_ms > 0 && counts.swept_by >> 32 == id >> 32;
            let ago_ms = counts.clock_ms.saturating_sub(counts.swept_ms);
            (this || swept).then(|| RoomOfNode {
                id: name.to_owned(),
                event_id: entrance.room.name().to_owned(),
                tenant_id: tenant.to_owned(),
                store: this.then(|| store(entrance)),
                last_exchange_seconds: this
                    .then(|| entrance.room.heard_ago().map(|ago| Figure(ago.as_secs_f64())))
                    .flatten(),
                swept_at: swept.then(|| clock::moment(now_ms.saturating_sub(ago_ms))),
            })
        };
        Node {
            id: Uuid::from_u128(id).to_string(),
            version: about.version,
            started_at: clock::moment(about.started_ms),
            uptime_seconds: Figure(now_ms.saturating_sub(about.started_ms) as f64 / 1_000.0),
            store: about.store,
            this,
            last_heard_seconds: Figure(ago_ms as f64 / 1_000.0),
            clock_offset_ms: about.clock_offset_ms,
            rooms: rooms.iter().filter_map(room).collect(),
        }
    }
}
