//! The log: every event with its fields, once, from whatever way it happened; and never a secret.

mod crowd;
mod events;
mod line;
mod requests;
mod secrets;
mod together;

use serde_json::{Value, json};

use crate::support::{Gateway, Request, Response};

/// A call of the API.
#[track_caller]
fn call(gateway: &Gateway, name: &str, body: &Value) -> Response {
    gateway.connect().ask(&Request::call(&format!("/.anteroom/v1/{name}"), body))
}

/// A join of a device.
#[track_caller]
fn join(gateway: &Gateway, device: &str) -> Value {
    let joined = call(gateway, "queue/join", &json!({ "event_id": "sale", "device_id": device }));
    assert_eq!(joined.status, 200, "{joined:?}");
    joined.json()
}

/// The lines of an event that say this, as soon as there are so many.
#[track_caller]
fn saying(
    gateway: &Gateway,
    event: &str,
    at_least: usize,
    says: impl Fn(&Value) -> bool,
) -> Vec<Value> {
    let what = format!("{at_least} such lines of {event} in\n{}", gateway.log().text());
    crate::support::eventually(&what, || {
        let lines: Vec<Value> =
            gateway.log().events(event).into_iter().filter(|line| says(line)).collect();
        (lines.len() >= at_least).then_some(lines)
    })
}

/// What every line has, and those that are about the room.
#[track_caller]
fn assert_common(line: &Value, level: &str) {
    assert_eq!((&line["service"], &line["level"]), (&json!("anteroom"), &json!(level)), "{line}");
    let timestamp = line["timestamp"].as_str().unwrap_or_default();
    assert!(timestamp.len() == 24 && timestamp.ends_with('Z'), "{line}");
    assert_eq!((&line["event_id"], &line["tenant_id"]), (&json!("sale"), &json!("")), "{line}");
}

/// What a line about a visitor has besides.
#[track_caller]
fn assert_visitor(line: &Value, number: u64) {
    assert_eq!(line["number"], number, "{line}");
    let name = line["queue_ref"].as_str().unwrap_or_default();
    assert!(name.starts_with("q_") && name.len() == 14, "{line}");
}

/// Sixteen hexadecimal digits.
#[track_caller]
fn assert_hash(line: &Value) {
    let hash = line["token_hash"].as_str().unwrap_or_default();
    assert!(hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()), "{line}");
}
