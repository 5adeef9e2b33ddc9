//! Orders: what an operator wants of a line, with who wants it and how it is known again.
//!
//! Owns the note that goes into a room's book and the prints of `Idempotency-Key`. What comes of an order is the line's to say,
//! once and for all nodes.

use std::time::Duration;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::time::timeout;

use super::access::Caller;
use super::log;
use super::refusal::{Refusal, no_answer};
use crate::line::{Command, Commanded, Done, Key, MAX_TEXT, Once, Order};
use crate::room::{Busy, Room};
use crate::store::HOUSE;

/// How long the line may take: longer than any exchange, shorter than an operator's patience.
const DEADLINE: Duration = Duration::from_secs(5);

/// Has an order carried out, and written down.
///
/// # Errors
/// 400: no line could. 409: another order came under its key. 503: the line can't be reached.
pub(super) async fn order(
    caller: &Caller,
    room: &Room,
    command: Command,
    action: &str,
    parameters: Value,
) -> Result<Commanded, Refusal> {
    command.check().map_err(|bad| Refusal::bad(bad.to_string()))?;
    let once = caller.again.as_deref().map(|again| Once {
        key: print(&[&caller.name, caller.tenant.as_deref().unwrap_or("*"), again]),
        print: print(&[action, &parameters.to_string()]),
    });
    let before = room.view().counts().paused;
    let order = Order { command, note: note(caller, action, &parameters), once };
    let told = asked(room.command(order)).await?;
    if told == Commanded::Conflict {
        return Err(Refusal::conflict(
            "another order came under this Idempotency-Key: use a new key for a new order",
        ));
    }
    let name = Some(room.name()).filter(|name| *name != HOUSE);
    log::acted(caller, name, action, &with_outcome(parameters, action, before, &told));
    Ok(told)
}

/// What was asked for, and what came of it, for the log.
fn with_outcome(mut said: Value, action: &str, paused: bool, told: &Commanded) -> Value {
    match told {
        Commanded::Released { count, after, upto, .. } => {
            (said["released"], said["after"], said["upto"]) =
                (json!(count), json!(after), json!(upto));
        }
        Commanded::Ended(done) => said["revoked"] = json!(*done == Done::Freed),
        Commanded::Repaired(count) => said["repaired"] = json!(count),
        _ if ["pause", "resume"].contains(&action) => {
            (said["from"], said["to"]) = (json!(paused), json!(action == "pause"));
        }
        _ => {}
    }
    said
}

/// Who wants what, for the book.
fn note(caller: &Caller, action: &str, parameters: &Value) -> String {
    let note = |parameters: &Value| {
        let (admin_id, role) = (&*caller.name, caller.role.name());
        json!({ "admin_id": admin_id, "role": role, "action": action, "parameters": parameters })
            .to_string()
    };
    let whole = note(parameters);
    if whole.len() <= MAX_TEXT { whole } else { note(&json!({})) }
}

/// Texts with their lengths before them: no two lists look alike.
fn print(parts: &[&str]) -> Key {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let mut key = Key::default();
    key.copy_from_slice(&hash.finalize()[..16]);
    key
}

/// Waits for the line's answer, and not for ever.
///
/// # Errors
/// 503.
pub(super) async fn asked<A>(
    question: impl Future<Output = Result<A, Busy>>,
) -> Result<A, Refusal> {
    match timeout(DEADLINE, question).await {
        Ok(answer) => Ok(answer?),
        Err(_) => Err(no_answer()),
    }
}
