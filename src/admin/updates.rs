//! Rooms as they are, every second, as server-sent events: what the dashboard draws.
//!
//! Owns the rhythm. What is told is made once a second for everybody who sees the same rooms, however many listen.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::response::sse::{Event, Sse};
use futures_util::Stream;
use futures_util::stream;
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::{Interval, MissedTickBehavior, interval};
use utoipa::ToSchema;

use super::Admin;
use super::access::{By, Look, Scope};
use super::events::{Place, listen};
use super::number::Figure;
use super::refusal::{ErrorBody, Refusal};
use super::rooms::Room;
use crate::clock;

/// Between two of them. People see a number change, and still read it.
const BEAT: Duration = Duration::from_secs(1);

/// What was made within this is told again: a little less than a beat, so that a listener never hears the same one twice.
const FRESH: Duration = Duration::from_millis(900);

/// What was made lately, for each who see the same.
#[derive(Default)]
pub(super) struct Updates(Mutex<HashMap<Scope, (Instant, Arc<str>)>>);

/// All of it.
#[derive(Serialize, ToSchema)]
pub(super) struct Update {
    /// As `/v1/rooms` has them.
    rooms: Vec<Room>,
    /// `connected`, or `disconnected` while the store of any of these rooms does not answer.
    store: &'static str,
    node: ThisNode,
}

/// The node that tells.
#[derive(Serialize, ToSchema)]
struct ThisNode {
    /// Made at its start.
    id: String,
    version: &'static str,
    /// `redis`, `embedded` or `memory`.
    store: &'static str,
    #[schema(value_type = f64)]
    uptime_seconds: Figure,
    /// Visitors' connections; null in a tenant's view: the node is nobody's.
    connections: Option<u64>,
    /// How many there may be.
    connections_max: Option<u64>,
    /// Visitors who listen for events.
    streams: Option<u64>,
}

/// The rooms, every second
///
/// One event, `rooms`, a second: the rooms as `/v1/rooms` has them, whether the store answers, and the node that tells.
#[utoipa::path(
    get, path = "/v1/updates", tag = "rooms",
    params(("X-Tenant-ID" = Option<String>, Header, description = "Whose rooms; `*`: everybody's")),
    responses(
        (status = 200, content_type = "text/event-stream", body = Update),
        (status = 401, body = ErrorBody), (status = 503, body = ErrorBody)
    )
)]
pub(super) async fn updates(
    State(admin): State<Arc<Admin>>,
    by: By<Look>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Refusal> {
    let place = listen(&admin)?;
    let mut beat = interval(BEAT);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let shutdown = admin.node.shutdown.clone();
    let listener = Listener { admin, scope: by.caller.scope, beat, shutdown, place };
    Ok(Sse::new(stream::unfold(listener, |mut listener| async move {
        let event = listener.next().await?;
        Some((Ok(event), listener))
    })))
}

struct Listener {
    admin: Arc<Admin>,
    scope: Scope,
    beat: Interval,
    shutdown: watch::Receiver<bool>,
    place: Place,
}

impl Listener {
    /// The next one. `None`: the node ends, or other keys are in force.
    async fn next(&mut self) -> Option<Event> {
        tokio::select! {
            _ = self.beat.tick() => {}
            _ = self.shutdown.wait_for(|stopping| *stopping) => return None,
        }
        if !self.place.is_good() {
            return None;
        }
        let told = self.admin.updates.told(&self.admin, &self.scope);
        Some(Event::default().event("rooms").data(&*told))
    }
}

impl Updates {
    fn told(&self, admin: &Admin, scope: &Scope) -> Arc<str> {
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Who asks for tenants that nobody has must not fill the memory.
        made.retain(|_, (at, _)| at.elapsed() < FRESH);
        if let Some((_, told)) = made.get(scope) {
            return told.clone();
        }
        let told: Arc<str> =
            serde_json::to_string(&Update::of(admin, scope)).unwrap_or_default().into();
        made.insert(scope.clone(), (Instant::now(), told.clone()));
        told
    }
}

impl Update {
    fn of(admin: &Admin, scope: &Scope) -> Update {
        let rooms = admin.rooms(scope);
        let away = rooms.iter().any(|entrance| entrance.room.is_away());
        let shared = matches!(scope, Scope::Of(tenant) if !tenant.is_empty());
        let (places, most) = &admin.node.places;
        let own = |figure: usize| (!shared).then_some(figure as u64);
        Update {
            rooms: rooms.iter().map(|entrance| Room::of(entrance)).collect(),
            store: if away { "disconnected" } else { "connected" },
            node: ThisNode {
                id: admin.node.id.to_string(),
                version: env!("CARGO_PKG_VERSION"),
                store: admin.node.store,
                uptime_seconds: Figure(
                    clock::now_ms().saturating_sub(admin.started_ms) as f64 / 1_000.0,
                ),
                connections: own(most.saturating_sub(places.available_permits())),
                connections_max: own(*most),
                streams: own(admin.node.streams.open()),
            },
        }
    }
}
