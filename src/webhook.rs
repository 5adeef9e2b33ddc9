//! Webhooks: letters that a line wrote, delivered to whoever wants to be told.
//!
//! Owns what is posted and how often it is tried. Never in anybody's way: a letter is in the store by the time its visitor is
//! inside, and whatever becomes of it, they are. A letter is handed to one node at a time; if that node dies, another gets
//! it, so a receiver may see the same `id` twice and nothing is lost.
//!
//! ```text
//!   line ── letter ──► a node's Courier ── POST, signed ──► 2xx: done
//!                          └ else again after 1, 2 and 4 seconds, then given up, and counted
//! ```

mod post;
mod rules;

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};

use post::Poster;
pub use post::trusted_by_this_machine;
pub use rules::{Rules, Secret, Target};

use crate::clock;
use crate::gateway::entrance::{Entrance, Identity};
use crate::gateway::live::Live;
use crate::line::{LEASE_MS, Letter, Terms};
use crate::metrics::{Metrics, Webhooks};
use crate::room::{Proof, Room};

/// Letters under way at once on a node.
const AT_ONCE: usize = 16;
/// Taken from a line at once: so many are tried within a lease, at worst.
const TAKEN: u32 = 32;
/// Between looks at a line that has none.
const GLANCE: Duration = Duration::from_millis(200);
/// After a try that failed.
const PAUSES: [Duration; 3] =
    [Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4)];

/// Delivers the letters of a node's rooms.
pub struct Courier {
    live: Arc<ArcSwap<Live>>,
    poster: Poster,
    places: Arc<Semaphore>,
    counted: Webhooks,
}

impl Courier {
    /// One for all rooms.
    pub fn new(live: Arc<ArcSwap<Live>>, metrics: &Metrics) -> Arc<Courier> {
        let (places, counted) = (Arc::new(Semaphore::new(AT_ONCE)), metrics.webhooks());
        Arc::new(Courier { live, poster: Poster::default(), places, counted })
    }

    /// Delivers a room's letters, for as long as it is polled.
    pub async fn serve(self: Arc<Self>, room: Arc<Room>) {
        loop {
            while room.view().counts().letters == 0 || room.is_away() {
                sleep(GLANCE).await;
            }
            let letters = room.take_letters(TAKEN).await;
            if letters.is_empty() {
                sleep(GLANCE).await; // All are on other nodes' hands.
            }
            let taken = Instant::now();
            let under_way = letters.into_iter().map(|letter| self.deliver(&room, letter, taken));
            futures_util::future::join_all(under_way).await;
        }
    }

    /// Until it is delivered, or given up. One whose lease is over before its turn has come is somebody else's.
    async fn deliver(&self, room: &Room, letter: Letter, taken: Instant) {
        let Ok(_place) = self.places.acquire().await else { return };
        let patience: Duration = PAUSES.iter().sum::<Duration>() + post::PATIENCE * 4;
        if taken.elapsed() + patience > Duration::from_millis(LEASE_MS) {
            return;
        }
        let serial = letter.serial;
        let live = self.live.load_full();
        let Some(entrance) = live.entrances.get(room.name()) else { return };
        let target = entrance.webhook_url(&room.view()).map(|url| live.webhooks.check(&url));
        let body = body(entrance, &letter);
        match (target, body) {
            (Some(Ok(target)), Some(body)) => {
                let delivered = self.try_all(&target, &id(room, &letter), &body).await;
                if delivered {
                    self.counted.delivered();
                } else {
                    self.counted.failed();
                    tracing::error!(
                        event = "webhook.failed",
                        event_id = room.name(),
                        webhook_id = id(room, &letter),
                        host = target.host,
                        "given up after four tries"
                    );
                }
            }
            // Nobody wants to be told any more, or it may not go there: not kept for ever.
            _ => self.counted.failed(),
        }
        room.sent(serial);
    }

    async fn try_all(&self, target: &Target, id: &str, body: &Value) -> bool {
        let text: Arc<str> = body.to_string().into();
        for pause in PAUSES.iter().map(Some).chain([None]) {
            match self.poster.post(target, id, text.clone()).await {
                Ok(()) => return true,
                Err(problem) => {
                    tracing::warn!(
                        event = "webhook.retry",
                        webhook_id = id,
                        host = target.host,
                        problem
                    );
                }
            }
            if let Some(pause) = pause {
                self.counted.retried();
                sleep(*pause).await;
            }
        }
        false
    }
}

/// The same however often a letter is sent, and another for every letter: serials begin anew with a store that lost its memory.
fn id(room: &Room, letter: &Letter) -> String {
    format!("{}:{}:{}", room.name(), letter.at_ms, letter.serial)
}

/// What a letter says to its receiver. `None`: it is of a version that this one does not know.
fn body(entrance: &Entrance, letter: &Letter) -> Option<Value> {
    let said: Value = serde_json::from_str(&letter.text).ok()?;
    let number = |name: &str| said[name].as_u64();
    let reference = |epoch: u64, number: u64| entrance.keys.reference(epoch, number);
    // A letter is the line's: since a draw it has other numbers than the tickets.
    let drawn = entrance.room.view().drawn().clone();
    let mut body = if let Some(entered) = number("entered").map(|entered| drawn.ticket(entered)) {
        let epoch = number("epoch")?;
        let terms = Terms {
            admitted_ms: number("admitted_ms")?,
            issued_ms: number("issued_ms")?,
            expires_ms: number("expires_ms")?,
            slot: number("slot").unwrap_or(0),
        };
        let identity: Identity = serde_json::from_value(said["tag"].clone()).unwrap_or_default();
        json!({
            "event": "admission_granted",
            "device_id": identity.device_id,
            "user_id": identity.user_id,
            // Made again, byte for byte as the visitor has it: a store never holds one.
            "token": entrance.pass(Proof { epoch, number: entered }, &terms, &identity),
            "issued_at": clock::moment(terms.issued_ms),
            "expires_at": clock::moment(terms.expires_ms),
            "queue_id": reference(epoch, entered),
            "number": entered,
        })
    } else if let Some(called) = said["called"].as_array() {
        let epoch = number("epoch")?;
        let called = called.iter().filter_map(Value::as_u64).map(|number| drawn.ticket(number));
        let named: Vec<Value> = called
            .map(|number| json!({ "queue_id": reference(epoch, number), "label": entrance.label(number) }))
            .collect();
        json!({ "event": "called", "count": number("count")?, "visitors": named })
    } else {
        let event = match &said {
            said if said["paused"] == true => "room_paused",
            said if said["paused"] == false => "room_resumed",
            said if said["emptied"] == true => "room_emptied",
            said if said["opened"] == true => "room_opened",
            _ => return None,
        };
        json!({ "event": event })
    };
    body["id"] = id(&entrance.room, letter).into();
    body["event_id"] = entrance.room.name().into();
    body["occurred_at"] = clock::moment(letter.at_ms).into();
    Some(body)
}
