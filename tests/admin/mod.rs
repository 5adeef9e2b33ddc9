//! The operators' port: who may ask, what is told, what is done.

mod cli;
mod cost;
mod dashboard;
mod document;
mod events;
mod foreign;
mod fuzzed;
mod health;
mod keys;
mod lines;
mod metrics;
mod named;
mod orders;
mod past;
mod rooms;
mod tenants;
mod upgrading;
mod verbs;
mod watched;
mod webhooks;

use serde_json::{Value, json};

use crate::support::client::HOST;
use crate::support::{Gateway, Operator, Origin, Request, eventually};

/// A gateway with one room in which everybody waits until they are released.
fn held(origin: &Origin) -> Gateway {
    Gateway::before(origin).room("sale", "mode = \"hold\"\nticket_prefix = \"B\"").start()
}

/// So many join a room over its API: their tickets, in their order. The node has heard of all of them.
#[track_caller]
fn join(gateway: &Gateway, room: &str, count: usize) -> Vec<String> {
    join_at(gateway, HOST, room, count)
}

/// The same on another host.
#[track_caller]
fn join_at(gateway: &Gateway, host: &str, room: &str, count: usize) -> Vec<String> {
    let mut connection = gateway.connect();
    let tickets = (0..count).map(|_| {
        let body = json!({ "event_id": room });
        let answer = connection.ask(&Request::call("/.anteroom/v1/join", &body).host(host));
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()["queue_id"].as_str().expect("a ticket").to_owned()
    });
    tickets.collect()
}

/// Where a ticket stands.
#[track_caller]
fn poll(gateway: &Gateway, ticket: &str) -> Value {
    let request = Request::get("/.anteroom/v1/queue/status")
        .with("Authorization", &format!("Bearer {ticket}"));
    gateway.connect().ask(&request).json()
}

/// Waits until a room's status is as it should be.
#[track_caller]
fn becomes(operator: &Operator, room: &str, good: impl Fn(&Value) -> bool) -> Value {
    let path = format!("/v1/rooms/{room}");
    eventually("the room is so", || Some(operator.see(&path)).filter(|room| good(room)))
}
