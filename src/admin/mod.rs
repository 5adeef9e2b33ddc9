//! The operators' port: what a sale looks like, and the levers to steer it.
//!
//! Owns the wire of `/v1/…` on its own address: keys and roles, tenants, names of fields, codes. What becomes of a room is
//! its line's to say: a verb here is a command in the next exchange, so it is atomic, and the same for all nodes. Never
//! serves a visitor, never reads a configuration file, never shows a key.
//!
//! | call | role | does |
//! |---|---|---|
//! | `GET /`, `/dashboard/…`; `POST /login`, `/logout` | none | the dashboard, and the way into it |
//! | `GET /health` | none | whether the store answers |
//! | `GET /metrics` | none, or viewer | what is measured, for Prometheus |
//! | `GET /v1/rooms`, `/v1/rooms/{id}` | viewer | rooms as they are |
//! | `GET /v1/me`, `/v1/updates` | viewer | whose key it is; all rooms, every second |
//! | `GET /v1/rooms/{id}/line`, `/visitors/{visitor}`, `/events` | viewer | who is next; one of them; what happens |
//! | `GET /v1/rooms/{id}/history`, `/inside`, `/health` | viewer | the past; who is inside; whether the line is sound |
//! | `GET /v1/rooms/{id}/shadow` | viewer | what would have happened, in mode shadow |
//! | `POST /v1/rooms/{id}/visitors/{visitor}/complete`, `/extend`, `/revoke`, `/requeue` | operator | one visitor's session |
//! | `POST /v1/rooms/{id}/pause`, `/resume`, `/release`, `/boost`, `/drain`, `/message`, `/revoke` | operator | the verbs |
//! | `PATCH /v1/rooms/{id}` | operator | settings, while it runs |
//! | `POST /v1/rooms/{id}/reset`, `/repair`, `POST /v1/reload` | admin | those that end something |
//! | `POST /v1/admin/release`, `/pause`, `/config`, `GET /v1/admin/metrics` | operator, viewer | the same with the room in the body |
//! | `GET /v1/audit`, `/v1/nodes`, `/openapi.json` | viewer | what was done; the nodes; this table for programs |
//!
//! - `port`: connections. `access`: whose they are. `session`: for how long a browser is theirs. `refusal`, `input`: what is said to bad ones, what is read of good ones.
//! - `rooms`, `updates`, `change`, `verbs`, `line`, `events`, `history`, `shadow`, `audit`, `doctor`, `nodes`, `classic`, `reload`, `scrape`: the calls.
//! - `orders`: how they reach a line, once each. `log`: what of them is written down.
//! - `dashboard`: the files of the page that makes them. `router`: which is where. `document`: what is said of them to programs.

mod access;
mod adaptive;
mod audit;
mod change;
mod classic;
mod dashboard;
mod doctor;
mod document;
mod events;
mod history;
mod input;
pub(crate) mod invites;
mod line;
mod log;
mod nodes;
mod number;
mod orders;
mod port;
mod refusal;
mod reload;
mod rooms;
mod router;
mod scrape;
mod session;
mod settings;
mod shadow;
mod updates;
mod verbs;

use std::sync::{Arc, Weak};
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;
use uuid::Uuid;

pub use port::{Port, bound};
pub use reload::{Reload, Reloads};
pub use settings::{Hash, Key, Role, Settings};

use crate::clock;
use crate::gateway::api::Streams;
use crate::gateway::entrance::Entrance;
use crate::gateway::live::Live;
use crate::line::{Found, Question};
use crate::metrics::Metrics;
use crate::room::{Busy, Room};
use crate::store::Store;
use crate::token::Seal;
use access::{Access, Attempts, Scope};
use refusal::Refusal;
use updates::Updates;

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
    /// The store itself, while this node has it.
    pub keeper: Weak<dyn Store>,
    /// What is kept beside the rooms, see [`HOUSE`](crate::store::HOUSE).
    pub house: Arc<Room>,
    /// Made at its start.
    pub id: Uuid,
    /// When to stop.
    pub shutdown: watch::Receiver<bool>,
}

/// Everything the calls share.
pub struct Admin {
    node: Node,
    started_ms: u64,
    access: ArcSwap<Access>,
    attempts: Attempts,
    reloads: Reloads,
    /// Streams of events to operators.
    listeners: Arc<Semaphore>,
    updates: Updates,
}

/// Before the name of a room that an operator made, among what is set in the house.
pub const MADE: &str = "room/";

/// How long the store may take to answer a question.
const FINDING: Duration = Duration::from_secs(5);

/// Streams of events at once: dashboards, not crowds.
const LISTENERS: usize = 64;

impl Admin {
    /// The port of a node, with these keys and what seals sessions.
    ///
    /// # Errors
    /// No randomness.
    pub fn new(
        node: Node,
        settings: &Settings,
        seal: Seal,
    ) -> Result<Arc<Admin>, getrandom::Error> {
        Ok(Arc::new(Admin {
            started_ms: clock::now_ms(),
            access: ArcSwap::from_pointee(Access::new(settings, seal)),
            attempts: Attempts::new()?,
            reloads: Reloads::default(),
            listeners: Arc::new(Semaphore::new(LISTENERS)),
            updates: Updates::default(),
            node,
        }))
    }

    /// Other keys, from now on.
    pub fn change(&self, settings: &Settings, seal: Seal) {
        self.access.store(Arc::new(Access::new(settings, seal)));
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

    /// What the store itself says about a room.
    ///
    /// # Errors
    /// 503: it does not answer.
    async fn find(&self, room: &str, question: Question) -> Result<Found, Refusal> {
        let gone = || Refusal::from(Busy::Away);
        let keeper = self.node.keeper.upgrade().ok_or_else(gone)?;
        match timeout(FINDING, keeper.find(room, question)).await {
            Ok(Ok(found)) => Ok(found),
            Ok(Err(error)) => {
                tracing::warn!(event_id = room, %error, "the store did not answer an operator");
                Err(gone())
            }
            Err(_) => Err(refusal::no_answer()),
        }
    }

    /// Whether letters may go there.
    ///
    /// # Errors
    /// 400.
    fn check_webhook(&self, url: &str) -> Result<(), Refusal> {
        let rules = self.node.live.load().webhooks.clone();
        rules.check(url).map(|_| ()).map_err(|why| Refusal::bad(format!("webhook_url: {why}")))
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
