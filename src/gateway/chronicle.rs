//! What happens to visitors, as the log tells it: the names of the events and their fields, for both doors, the API and
//! operators alike.
//!
//! Owns the shape of `queue.*`, `admission.*`, `token.*` and `rate_limit.hit`. Never tells a token: only the beginning of its hash, by which
//! two lines about the same one are found. A place is named by its `queue_ref`, which proves nothing. Costs nothing where nobody
//! reads: what a line needs is looked up only if its level is on, and what anybody can cause at will (limits, forgeries) is one
//! line a second, room and kind, with how many it stands for.
//!
//! What the line does by itself, and every node sees, is [`scribe`](super::scribe)'s.

use std::net::IpAddr;
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use super::entrance::{Entrance, Identity};
use super::invite;
use crate::clock;
use crate::line::{Classed, Key, Terms, View};
use crate::log::Seldom;
use crate::metrics::LIMITS;
use crate::room::Proof;

/// What is told of a room once a second at most.
#[derive(Debug, Default)]
pub struct Quiet {
    limits: [Seldom; LIMITS.len()],
    forged: Seldom,
    open: Seldom,
}

/// A new place, of a device and a user. `position` is looked up only if somebody reads it.
pub fn created(
    entrance: &Entrance,
    proof: Proof,
    (device_id, user_id): (Option<&str>, Option<&str>),
    position: impl FnOnce() -> u64,
    took: Duration,
    metadata: Option<&str>,
) {
    tracing::info!(
        event = "queue.created",
        event_id = entrance.room.name(),
        queue_ref = entrance.keys.reference(proof.epoch, proof.number),
        device_id,
        user_id,
        number = proof.number,
        position = position(),
        duration_ms = millis(took),
        metadata,
    );
}

/// A join that asked for a class and is an ordinary one.
pub fn not_classed(entrance: &Entrance, proof: Proof, classed: Option<Classed>) {
    if let Some(Classed::Not(why)) = classed {
        tracing::info!(
            event = "queue.not_classed",
            event_id = entrance.room.name(),
            queue_ref = entrance.keys.reference(proof.epoch, proof.number),
            reason = invite::word(why),
        );
    }
}

/// A join that the line could not be asked for.
pub fn arrived(entrance: &Entrance, identity: &Identity, metadata: Option<&str>) {
    tracing::info!(
        event = "queue.provisional",
        event_id = entrance.room.name(),
        device_id = identity.device_id,
        user_id = identity.user_id,
        metadata,
    );
}

/// A join that was one before.
pub fn reused(entrance: &Entrance, proof: Proof, device_id: Option<&str>, took: Duration) {
    tracing::info!(
        event = "queue.idempotency_reuse",
        event_id = entrance.room.name(),
        queue_ref = entrance.keys.reference(proof.epoch, proof.number),
        device_id,
        number = proof.number,
        duration_ms = millis(took),
    );
}

/// A pass was made for somebody who entered.
pub fn granted(
    entrance: &Entrance,
    proof: Proof,
    identity: &Identity,
    (token, expires_at): (&str, u64),
    took: Duration,
) {
    tracing::info!(
        event = "admission.granted",
        event_id = entrance.room.name(),
        queue_ref = entrance.keys.reference(proof.epoch, proof.number),
        device_id = identity.device_id,
        user_id = identity.user_id,
        number = proof.number,
        token_hash = token_hash(token.as_bytes()),
        expires_at = clock::second(expires_at),
        duration_ms = millis(took),
    );
}

/// Whether terms are those of an entry that was asked for at `asked_ms`: later claims are answered with the same pass, and are
/// nothing new. A second for clocks that differ.
pub fn is_entry(terms: &Terms, asked_ms: u64) -> bool {
    terms.admitted_ms + 1_000 >= asked_ms
}

/// A pass was made anew, for somebody who is inside.
pub fn renewed(entrance: &Entrance, proof: Proof, token: &str, expires_at: u64) {
    tracing::debug!(
        event = "admission.renewed",
        event_id = entrance.room.name(),
        queue_ref = entrance.keys.reference(proof.epoch, proof.number),
        number = proof.number,
        token_hash = token_hash(token.as_bytes()),
        expires_at = clock::second(expires_at),
    );
}

/// A place or a session came to its end by somebody's word: the visitor's, the origin's, an operator's. Told by the node it was said
/// to, and so once. Who it was is looked up only if somebody reads it.
pub fn changed(
    entrance: &Entrance,
    proof: Proof,
    device_id: impl FnOnce() -> Option<String>,
    status: &str,
    reason: &str,
) {
    tracing::info!(
        event = "queue.status_changed",
        event_id = entrance.room.name(),
        queue_ref = entrance.keys.reference(proof.epoch, proof.number),
        device_id = device_id(),
        number = proof.number,
        status,
        reason,
    );
}

/// A pass that is good once was used, or tried again: then somebody may have copied it.
pub fn spent(entrance: &Entrance, proof: Proof, device_id: Option<&str>, again: bool) {
    let event_id = entrance.room.name();
    let queue_ref = || entrance.keys.reference(proof.epoch, proof.number);
    match again {
        true => tracing::warn!(
            event = "admission.spent_again",
            event_id,
            queue_ref = queue_ref(),
            device_id,
            number = proof.number,
        ),
        false => tracing::info!(
            event = "admission.spent",
            event_id,
            queue_ref = queue_ref(),
            device_id,
            number = proof.number,
        ),
    }
}

/// Somebody was heard of, and this is where they stand.
pub fn heard(entrance: &Entrance, view: &View, proof: Proof) {
    tracing::debug!(
        event = "queue.heartbeat",
        event_id = entrance.room.name(),
        queue_ref = entrance.keys.reference(proof.epoch, proof.number),
        number = proof.number,
        position = view.position(proof.number),
    );
}

/// Whose limit was reached.
#[derive(Clone, Copy, Debug)]
pub enum Whose<'a> {
    /// An address's.
    Address(IpAddr),
    /// A place's.
    Place(Proof),
    /// An arrival's, by its nonce.
    Arrival(Key),
    /// A device's or a user's, by the name it gave itself.
    Named(&'a str),
}

/// A limit was reached: counted, and told once a second. `count`: how many times since the last line about this limit, by
/// anybody; `identifier` is the last of them.
pub fn limited(entrance: &Entrance, limit: &'static str, whose: Whose<'_>) {
    entrance.stats.meters.limited(limit);
    let Some(known) = LIMITS.iter().position(|known| *known == limit) else { return };
    let Some(count) = entrance.quiet.limits[known].happened() else { return };
    tracing::warn!(
        event = "rate_limit.hit",
        event_id = entrance.room.name(),
        r#type = limit,
        identifier = match whose {
            Whose::Address(address) => address.to_string(),
            Whose::Place(proof) => entrance.keys.reference(proof.epoch, proof.number),
            Whose::Arrival(nonce) => token_hash(&nonce),
            Whose::Named(name) => name.to_owned(),
        },
        count,
    );
}

/// A token that is none of this room's: forged, cut off, of a key long gone, or copied from whom it is bound to.
pub fn forged(entrance: &Entrance, token: &[u8]) {
    let Some(count) = entrance.quiet.forged.happened() else { return };
    tracing::warn!(
        event = "token.refused",
        event_id = entrance.room.name(),
        token_hash = token_hash(token),
        count,
        "a token that is not good here"
    );
}

/// A token could not be made.
pub fn no_token(error: impl std::fmt::Display) {
    tracing::error!(event = "token.failed", %error, "a token could not be made");
}

/// Somebody was let through without a pass. Nobody else counts them.
pub fn let_through(entrance: &Entrance) {
    let Some(count) = entrance.quiet.open.happened() else { return };
    tracing::warn!(
        event = "admission.open",
        event_id = entrance.room.name(),
        count,
        "let through without a pass: the store is away, and on_loss is open"
    );
}

/// The first 16 hexadecimal digits of a token's SHA-256.
pub fn token_hash(token: &[u8]) -> String {
    Sha256::digest(token)[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

fn millis(took: Duration) -> u64 {
    u64::try_from(took.as_millis()).unwrap_or(u64::MAX)
}
