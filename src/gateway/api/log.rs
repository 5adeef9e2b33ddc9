//! What the API writes into the log.
//!
//! Owns the events' names and fields. Never a token: only the beginning of its hash, by which two lines about the same one
//! are found.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use super::turn::Grant;
use crate::clock::now_ms;
use crate::gateway::entrance::{Entrance, Identity};
use crate::room::Proof;

/// Between two lines about limits: whoever runs into one a thousand times a second must not fill a disk.
const SELDOM_MS: u64 = 100;

/// A new place.
pub(super) fn created(
    entrance: &Entrance,
    proof: Proof,
    identity: &Identity,
    position: u64,
    took: Duration,
    metadata: Option<&str>,
) {
    tracing::info!(
        event = "queue.created",
        event_id = entrance.room.name(),
        queue_ref = entrance.keys.reference(proof.epoch, proof.number),
        device_id = identity.device_id,
        user_id = identity.user_id,
        number = proof.number,
        position,
        duration_ms = millis(took),
        metadata,
    );
}

/// A join that the line could not be asked for.
pub(super) fn arrived(entrance: &Entrance, identity: &Identity, metadata: Option<&str>) {
    tracing::info!(
        event = "queue.provisional",
        event_id = entrance.room.name(),
        device_id = identity.device_id,
        user_id = identity.user_id,
        metadata,
    );
}

/// A join that was one before.
pub(super) fn reused(entrance: &Entrance, proof: Proof, device_id: Option<&str>, took: Duration) {
    tracing::info!(
        event = "queue.idempotency_reuse",
        event_id = entrance.room.name(),
        queue_ref = entrance.keys.reference(proof.epoch, proof.number),
        device_id,
        number = proof.number,
        duration_ms = millis(took),
    );
}

/// A pass was made.
pub(super) fn granted(entrance: &Entrance, proof: Proof, identity: &Identity, grant: &Grant) {
    tracing::info!(
        event = "admission.granted",
        event_id = entrance.room.name(),
        queue_ref = entrance.keys.reference(proof.epoch, proof.number),
        device_id = identity.device_id,
        number = proof.number,
        token_hash = token_hash(grant.token.as_bytes()),
        expires_at = grant.expires_at,
    );
}

/// A place or a session came to its end, by its visitor's word.
pub(super) fn changed(entrance: &Entrance, proof: Proof, status: &str, reason: &str) {
    tracing::info!(
        event = "queue.status_changed",
        event_id = entrance.room.name(),
        queue_ref = entrance.keys.reference(proof.epoch, proof.number),
        number = proof.number,
        status,
        reason,
    );
}

/// A pass that is good once was used, or tried again: then somebody may have copied it.
pub(super) fn spent(entrance: &Entrance, proof: Proof, again: bool) {
    let queue_ref = entrance.keys.reference(proof.epoch, proof.number);
    let (event_id, number) = (entrance.room.name(), proof.number);
    if again {
        tracing::warn!(event = "admission.spent_again", event_id, queue_ref, number);
    } else {
        tracing::info!(event = "admission.spent", event_id, queue_ref, number);
    }
}

/// Somebody was heard of.
pub(super) fn heard(entrance: &Entrance, proof: Proof) {
    tracing::debug!(
        event = "queue.heartbeat",
        event_id = entrance.room.name(),
        queue_ref = entrance.keys.reference(proof.epoch, proof.number),
        number = proof.number,
    );
}

/// A limit was reached. `count`: how many times since the last such line, of anybody.
pub(super) fn limited(entrance: &Entrance, limit: &'static str, identifier: &str) {
    entrance.stats.meters.limited(limit);
    static LAST_MS: AtomicU64 = AtomicU64::new(0);
    static HITS: AtomicU64 = AtomicU64::new(0);
    HITS.fetch_add(1, Ordering::Relaxed);
    let (now_ms, last_ms) = (now_ms(), LAST_MS.load(Ordering::Relaxed));
    let due = now_ms.abs_diff(last_ms) >= SELDOM_MS;
    let order = Ordering::Relaxed;
    if !due || LAST_MS.compare_exchange(last_ms, now_ms, order, order).is_err() {
        return;
    }
    tracing::warn!(
        event = "rate_limit.hit",
        event_id = entrance.room.name(),
        r#type = limit,
        identifier,
        count = HITS.swap(0, Ordering::Relaxed),
    );
}

/// The first 16 hexadecimal digits of a token's SHA-256.
pub(super) fn token_hash(token: &[u8]) -> String {
    Sha256::digest(token)[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

fn millis(took: Duration) -> u64 {
    u64::try_from(took.as_millis()).unwrap_or(u64::MAX)
}
