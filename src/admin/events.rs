//! What happens in a room, as server-sent events: the difference between two views, and whose session is over.
//!
//! Owns the rhythm: what happens within a moment is one event of each kind, so a crowd of thousands a second is still
//! something one can watch. Whoever reads too slowly is told that they missed something, and goes on from the present.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::Stream;
use futures_util::stream;
use serde_json::{Value, json};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::sleep;

use super::Admin;
use super::access::{Access, Look};
use super::input::InRoom;
use super::line::ending;
use super::refusal::Refusal;
use super::verbs::Named;
use crate::gateway::entrance::Entrance;
use crate::line::{Ending, Number, View};
use crate::room::News;

/// What happens within so long is told together.
const MOMENT: Duration = Duration::from_millis(200);
/// Silence that proxies still take for a live connection.
const SILENCE: Duration = Duration::from_secs(15);
/// Named in an event at most.
const MAX_NAMED: usize = 1_000;

/// What happens
///
/// Events: `counts` at first and whenever they change; `enqueued` (from, upto, count), `called` (visitors, count), `admitted` (count),
/// `completed` and `expired` (visitor, reason), `reset` (epoch), `missed` (exchanges).
#[utoipa::path(
    get, path = "/v1/rooms/{id}/events", tag = "rooms",
    params(("id" = String, Path, description = "Without its tenant")),
    responses(
        (status = 200, content_type = "text/event-stream", body = String)
    )
)]
pub(super) async fn events(
    State(admin): State<Arc<Admin>>,
    room: InRoom<Look>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Refusal> {
    let place = listen(&admin)?;
    let listener = Listener {
        news: room.entrance.room.news(),
        told: vec![counts(&room.entrance.room.view())],
        shutdown: admin.node.shutdown.clone(),
        entrance: room.entrance,
        place,
    };
    let events = stream::unfold(listener, |mut listener| async move {
        let event = listener.next().await?;
        Some((Ok(event), listener))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(SILENCE)))
}

/// A place among those who listen. It ends when the keys change: whoever still has one comes again at once.
pub(super) struct Place {
    admin: Arc<Admin>,
    access: Arc<Access>,
    _permit: OwnedSemaphorePermit,
}

impl Place {
    pub(super) fn is_good(&self) -> bool {
        Arc::ptr_eq(&self.access, &self.admin.access.load())
    }
}

/// # Errors
/// 503: there is none left.
pub(super) fn listen(admin: &Arc<Admin>) -> Result<Place, Refusal> {
    let Ok(permit) = admin.listeners.clone().try_acquire_owned() else {
        let message = "this port has as many streams open as it may";
        let status = StatusCode::SERVICE_UNAVAILABLE;
        return Err(Refusal::new(status, "too_many_streams", message).after(30));
    };
    Ok(Place { admin: admin.clone(), access: admin.access.load_full(), _permit: permit })
}

struct Listener {
    entrance: Arc<Entrance>,
    news: Receiver<Arc<News>>,
    /// What is still to be said, the next one last.
    told: Vec<(&'static str, Value)>,
    shutdown: watch::Receiver<bool>,
    place: Place,
}

impl Listener {
    /// The next event. `None`: the node ends, or nobody speaks for the room any more, or other keys are in force.
    async fn next(&mut self) -> Option<Event> {
        while self.told.is_empty() {
            self.listen().await?;
        }
        if !self.place.is_good() {
            return None;
        }
        let (name, data) = self.told.pop()?;
        Some(Event::default().event(name).data(data.to_string()))
    }

    /// Waits for something, and gathers what comes with it.
    async fn listen(&mut self) -> Option<()> {
        let first = tokio::select! {
            first = self.news.recv() => first,
            _ = self.shutdown.wait_for(|stopping| *stopping) => return None,
        };
        let mut news = match first {
            Ok(news) => vec![news],
            Err(RecvError::Lagged(missed)) => {
                self.told.push(("missed", json!({ "exchanges": missed })));
                return Some(());
            }
            Err(RecvError::Closed) => return None,
        };
        sleep(MOMENT).await;
        // What is missed now is told with the next.
        while let Ok(more) = self.news.try_recv() {
            news.push(more);
        }
        self.told = tell(&self.entrance, &news);
        self.told.reverse();
        Some(())
    }
}

/// Several exchanges, one after the other, in words.
fn tell(entrance: &Entrance, news: &[Arc<News>]) -> Vec<(&'static str, Value)> {
    let (Some(first), Some(last)) = (news.first(), news.last()) else { return Vec::new() };
    let (before, after) = (&first.before, &last.after);
    let (was, is) = (before.counts(), after.counts());
    let mut told = Vec::new();
    if was.epoch != is.epoch {
        // Of one that is over nothing is told, and before the first exchange there was none.
        if was.epoch > 0 {
            told.push(("reset", json!({ "epoch": is.epoch })));
        }
        told.push(counts(after));
        return told;
    }
    let named = |number: &Number| json!(Named::of(entrance, is.epoch, *number));
    // At a draw everybody gets another number: nobody came.
    if is.issued > was.issued && is.draw == was.draw {
        let (from, count) = (was.issued + 1, is.issued - was.issued);
        told.push(("enqueued", json!({ "from": from, "upto": is.issued, "count": count })));
    }
    if is.turns > was.turns {
        let mut called = after.here_between(was.released, is.released, MAX_NAMED);
        let known = before.called();
        let fresh = after.called().into_iter().filter(|number| !known.contains(number));
        called.extend(fresh.take(MAX_NAMED - called.len()));
        let visitors: Vec<Value> = called.iter().map(named).collect();
        told.push(("called", json!({ "visitors": visitors, "count": is.turns - was.turns })));
    }
    if is.entered > was.entered {
        told.push(("admitted", json!({ "count": is.entered - was.entered })));
    }
    for (number, why) in news.iter().flat_map(|news| &news.ended) {
        let name = if *why == Ending::Completed { "completed" } else { "expired" };
        told.push((name, json!({ "visitor": named(number), "reason": ending(*why) })));
    }
    let counted = counts(after);
    if counted != counts(before) {
        told.push(counted);
    }
    told
}

fn counts(view: &View) -> (&'static str, Value) {
    let counts = view.counts();
    let told = json!({
        "waiting": counts.waiting,
        "admitted": counts.admitted,
        "active": counts.inside,
        "released_total": counts.turns,
        "admitted_total": counts.entered,
        "completed_total": counts.completed,
        "paused": counts.paused,
    });
    ("counts", told)
}
