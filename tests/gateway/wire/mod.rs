//! The visitor API over real sockets: every row of its specification, and the client that goes with it.

mod asking;
mod events;
mod joining;
mod pacing;
mod placing;
mod usage;
mod verifying;

use serde_json::{Value, json};

use crate::support::{Gateway, Origin, Request, Response};

/// A room with these settings.
fn room(text: &str) -> (Origin, Gateway) {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", text).start();
    (origin, gateway)
}

/// A call, by its name below `/.anteroom/v1/`.
#[track_caller]
fn call(gateway: &Gateway, name: &str, body: &Value) -> Response {
    gateway.connect().ask(&Request::call(&format!("/.anteroom/v1/{name}"), body))
}

/// A join by a device.
#[track_caller]
fn join(gateway: &Gateway, device: &str) -> Response {
    call(gateway, "queue/join", &json!({ "event_id": "sale", "device_id": device }))
}

/// A join that succeeds: the ticket.
#[track_caller]
fn ticket(gateway: &Gateway, device: &str) -> String {
    let joined = join(gateway, device);
    assert_eq!(joined.status, 200, "{joined:?}");
    joined.json()["queue_id"].as_str().expect("a ticket").to_owned()
}

/// A poll by a ticket.
#[track_caller]
fn status(gateway: &Gateway, ticket: &str) -> Response {
    gateway.connect().ask(&Request::get(&format!("/.anteroom/v1/queue/status?queue_id={ticket}")))
}

/// `2024-01-15T10:23:45Z`, with or without a fraction.
#[track_caller]
fn assert_time(value: &Value) {
    let text = value.as_str().unwrap_or_else(|| panic!("no time: {value}"));
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let shape = text.len() >= 20 && &text[10..11] == "T" && text.ends_with('Z');
    assert!(shape && digits >= 14, "{text}");
}
