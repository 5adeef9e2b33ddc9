//! The operators' port: what a sale looks like, and the levers to steer it.
//!
//! Owns the wire of `/v1/…` on its own address: keys and roles, tenants, names of fields, codes. What becomes of a room is
//! its line's to say: a verb here is a command in the next exchange, so it is atomic, and the same for all nodes. Never
//! serves a visitor, never reads a configuration file, never shows a key.
//!
//! | call | role | does |
//! |---|---|---|
//! | `GET /health` | none | whether the store answers |
//! | `GET /metrics` | none, or viewer | what is measured, for Prometheus |
//! | `GET /v1/rooms`, `/v1/rooms/{id}` | viewer | rooms as they are |
//! | `GET /v1/rooms/{id}/line`, `/visitors/{visitor}`, `/events` | viewer | who is next; one of them; what happens |
//! | `POST /v1/rooms/{id}/pause`, `/resume`, `/release`, `/revoke` | operator | the verbs |
//! | `POST /v1/rooms/{id}/reset`, `POST /v1/reload` | admin | those that end something |
//! | `POST /v1/admin/release`, `/pause`, `GET /v1/admin/metrics` | operator, viewer | the same with the room in the body |
//! | `GET /v1/nodes`, `/openapi.json` | viewer | this node; this table for programs |
//!
//! - `port`: connections. `access`: whose they are. `refusal`, `input`: what is said to bad ones, what is read of good ones.
//! - `rooms`, `verbs`, `line`, `events`, `nodes`, `classic`, `reload`, `scrape`: the calls. `log`: what of them is written down.
//! - `router`: which is where. `document`: what is said of them to programs.

mod access;
mod classic;
mod document;
mod events;
mod input;
mod line;
mod log;
mod nodes;
mod number;
mod port;
mod refusal;
mod reload;
mod rooms;
mod router;
mod scrape;
mod settings;
mod verbs;

use std::sync::Arc;
use std::time::Instant;

use arc_swap::ArcSwap;
use tokio::sync::{Semaphore, watch};
use uuid::Uuid;

pub use port::{Port, bound};
pub use reload::{Reload, Reloads};
pub use settings::{Hash, Key, Role, Settings};

use crate::clock;
use crate::gateway::api::Streams;
use crate::gateway::entrance::Entrance;
use crate::gateway::live::Live;
use crate::metrics::Metrics;
use access::{Access, Attempts, Scope};
use refusal::Refusal;

/// What the operators' port knows of its node.
pub struct Node {
    /// What is in force.
    pub live: Arc<ArcSwap<Live>>,
    /// What is counted.
    pub metrics: Arc<Metrics>,
    /// Visitors' connections that could still be taken, and how many there may be.
    pub places: (Arc<Semaphore>, usize),
    /// Visitors' streams.
    pub streams: Arc<Streams>,
    /// `embedded`, `memory` or `redis`.
    pub store: &'static str,
    /// When to stop.
    pub shutdown: watch::Receiver<bool>,
}

/// Everything the calls share.
pub struct Admin {
    node: Node,
    id: Uuid,
    started: Instant,
    started_ms: u64,
    access: ArcSwap<Access>,
    attempts: Attempts,
    reloads: Reloads,
    /// Streams of events to operators.
    listeners: Arc<Semaphore>,
}

/// Streams of events at once: dashboards, not crowds.
const LISTENERS: usize = 64;

impl Admin {
    /// The port of a node, with these keys.
    ///
    /// # Errors
    /// No randomness.
    pub fn new(node: Node, settings: &Settings) -> Result<Arc<Admin>, getrandom::Error> {
        let mut id = [0; 16];
        getrandom::fill(&mut id)?;
        Ok(Arc::new(Admin {
            id: uuid::Builder::from_random_bytes(id).into_uuid(),
            started: Instant::now(),
            started_ms: clock::now_ms(),
            access: ArcSwap::from_pointee(Access::new(settings)),
            attempts: Attempts::new()?,
            reloads: Reloads::default(),
            listeners: Arc::new(Semaphore::new(LISTENERS)),
            node,
        }))
    }

    /// Other keys, from now on.
    pub fn change(&self, settings: &Settings) {
        self.access.store(Arc::new(Access::new(settings)));
    }

    /// Who is asked to read the configuration again.
    pub fn reloads(&self) -> &Reloads {
        &self.reloads
    }

    /// A room, if whoever asks may know of it. One that is somebody else's is as one that is not there.
    ///
    /// # Errors
    /// 404; 400 if it can't be told whose room is meant.
    fn room(&self, scope: &Scope, id: &str) -> Result<Arc<Entrance>, Refusal> {
        let name = scope.name(id)?;
        let live = self.node.live.load();
        name.and_then(|name| live.entrances.get(&name).cloned()).ok_or_else(refusal::no_room)
    }

    /// The rooms whoever asks may know of, by name.
    fn rooms(&self, scope: &Scope) -> Vec<Arc<Entrance>> {
        let live = self.node.live.load();
        let entrances = live.entrances.values();
        let mut rooms: Vec<_> =
            entrances.filter(|entrance| scope.covers(entrance.room.name())).cloned().collect();
        rooms.sort_by(|one, other| one.room.name().cmp(other.room.name()));
        rooms
    }
}

/// What stands before the `/` of a room's name, and what behind it.
fn parts(room: &str) -> (&str, &str) {
    room.split_once('/').unwrap_or(("", room))
}
