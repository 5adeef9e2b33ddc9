//! What visitors, apps, origins and operators do: one line each, with its fields.

use serde_json::json;

use super::{assert_common, assert_hash, assert_visitor, call, join, saying};
use crate::support::{Gateway, Operator, Origin, Request, Visitor};

#[test]
fn a_browser_joins_enters_and_waits() {
    let origin = Origin::start();
    let plan = Gateway::before(&origin).top("trusted_proxies = [\"127.0.0.1\"]");
    let gateway = plan.room("sale", "max_active = 1\nuser_header = \"x-user\"").start();
    let mut ann = Visitor::new(&gateway).with("x-user", "ann@example.com");
    let mut bob = Visitor::new(&gateway);
    assert!(ann.open("/").is_from_origin());
    assert_eq!(bob.open("/").state().as_deref(), Some("waiting"));
    let created = gateway.events("queue.created", 2);
    assert_eq!(created.len(), 2);
    for (line, (number, position)) in created.iter().zip([(1, 0), (2, 1)]) {
        assert_common(line, "info");
        assert_visitor(line, number);
        assert_eq!(line["position"], position, "{line}");
        assert!(line["duration_ms"].is_u64(), "{line}");
    }
    assert_eq!(created[0]["user_id"], "ann@example.com");
    let granted = gateway.events("admission.granted", 1);
    assert_common(&granted[0], "info");
    assert_visitor(&granted[0], 1);
    assert_hash(&granted[0]);
    assert!(granted[0]["expires_at"].as_str().is_some_and(|at| at.ends_with('Z')), "{granted:?}");
    assert!(granted[0]["duration_ms"].is_u64(), "{granted:?}");
    assert_eq!(granted[0]["queue_ref"], created[0]["queue_ref"]);
    ann.complete();
    bob.await_turn();
    assert!(bob.open("/").is_from_origin());
    let granted = gateway.events("admission.granted", 2);
    assert_visitor(&granted[1], 2);
    assert!(bob.open("/more").is_from_origin());
    assert_eq!(gateway.log().events("admission.granted").len(), 2, "once an entry");
    assert_eq!(gateway.log().events("queue.heartbeat").len(), 0, "those are for debug");
}

#[test]
fn an_app_joins_twice_and_enters() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1").start();
    let body = json!({
        "event_id": "sale", "device_id": "d1", "user_id": "u1", "metadata": { "campaign": { "a": 1 } },
    });
    let first = call(&gateway, "queue/join", &body).json();
    call(&gateway, "queue/join", &body);
    let created = &gateway.events("queue.created", 1)[0];
    assert_common(created, "info");
    assert_visitor(created, 1);
    assert_eq!((&created["device_id"], &created["user_id"]), (&json!("d1"), &json!("u1")));
    assert_eq!(created["metadata"], json!({ "campaign": { "a": 1 } }), "an object, not text");
    assert_eq!(created["queue_ref"], first["queue_ref"]);
    let granted = &gateway.events("admission.granted", 1)[0];
    assert_common(granted, "info");
    assert_hash(granted);
    assert_eq!((&granted["device_id"], &granted["user_id"]), (&json!("d1"), &json!("u1")));
    assert_eq!(granted["expires_at"], first["expires_at"]);
    let reused = &gateway.events("queue.idempotency_reuse", 1)[0];
    assert_common(reused, "info");
    assert_visitor(reused, 1);
    assert_eq!(reused["device_id"], "d1");
    assert!(reused["duration_ms"].is_u64(), "{reused}");
    assert_eq!(gateway.log().events("queue.created").len(), 1);
}

/// Whoever says it: told once, by the node it was said to.
#[test]
fn an_end_says_why() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 3").start();
    let changed = |nth: usize| {
        let mut lines = gateway.events("queue.status_changed", nth);
        assert_eq!(lines.len(), nth, "once: {lines:?}");
        let line = lines.remove(nth - 1);
        assert_common(&line, "info");
        (line["status"].clone(), line["reason"].clone(), line)
    };
    let pass = join(&gateway, "d1")["token"].clone();
    call(&gateway, "admission/complete", &json!({ "token": pass }));
    let (status, reason, line) = changed(1);
    assert_eq!(
        (status, reason, &line["device_id"]),
        ("completed".into(), "completed".into(), &json!("d1"))
    );
    assert_visitor(&line, 1);
    let ticket = join(&gateway, "d2")["queue_id"].clone();
    for _ in 0..2 {
        call(&gateway, "queue/leave", &json!({ "queue_id": ticket }));
    }
    let (status, reason, line) = changed(2);
    assert_eq!(
        (status, reason, &line["device_id"]),
        ("expired".into(), "left".into(), &json!("d2"))
    );
    for (nth, (command, ends)) in [
        ("complete", ("completed", "completed")),
        ("revoke", ("expired", "revoked")),
        ("requeue", ("expired", "requeued")),
    ]
    .into_iter()
    .enumerate()
    {
        let mut visitor = Visitor::new(&gateway);
        assert!(visitor.open("/").is_from_origin());
        assert!(visitor.open(&format!("/command?c={command}")).is_from_origin());
        let (status, reason, line) = changed(3 + nth);
        assert_eq!((status, reason), (ends.0.into(), ends.1.into()), "{command}");
        assert_visitor(&line, 3 + nth as u64);
    }
    join(&gateway, "d6");
    Operator::new(&gateway).does("/v1/rooms/sale/revoke", &json!({ "visitor": "6" }));
    let (status, reason, line) = changed(6);
    assert_eq!((status, reason), ("expired".into(), "revoked".into()));
    assert_visitor(&line, 6);
}

#[test]
fn operators_are_told_of_by_name() {
    let origin = Origin::start();
    let plan = Gateway::before(&origin).room("acme/sale", "mode = \"hold\"");
    let gateway = plan.start();
    let operator = Operator::new(&gateway).at("acme");
    operator.does("/v1/rooms/sale/pause", &json!({}));
    let line = &gateway.events("admin.pause", 1)[0];
    assert_eq!((&line["admin_id"], &line["action"]), (&json!("admin"), &json!("pause")), "{line}");
    assert_eq!((&line["event_id"], &line["tenant_id"]), (&json!("acme/sale"), &json!("acme")));
    assert_eq!(line["parameters"], json!({ "from": false, "to": true }), "an object, not text");
    for _ in 0..30 {
        Operator::with_key(&gateway, "a wrong key of somebody").get("/v1/rooms");
    }
    let limited = &saying(&gateway, "rate_limit.hit", 1, |line| line["type"] == "admin")[0];
    assert_eq!((&limited["level"], &limited["identifier"]), (&json!("warn"), &json!("127.0.0.1")));
}

#[test]
fn heartbeats_and_places_are_for_debug() {
    let origin = Origin::start();
    let plan = Gateway::before(&origin).room("sale", "mode = \"hold\"");
    let gateway = plan.tables("[log]\nlevel = \"debug\"").start();
    let ticket = join(&gateway, "d1")["queue_id"].as_str().expect("a ticket").to_owned();
    let poll = format!("/.anteroom/v1/queue/status?queue_id={ticket}");
    assert_eq!(gateway.connect().ask(&Request::get(&poll)).status, 200);
    let beat = &gateway.events("queue.heartbeat", 1)[0];
    assert_common(beat, "debug");
    assert_visitor(beat, 1);
    assert_eq!(beat["position"], 1);
    let mut bob = Visitor::new(&gateway);
    bob.open("/");
    bob.open("/");
    saying(&gateway, "queue.heartbeat", 1, |line| line["number"] == 2);
}

#[test]
fn every_line_has_a_name_and_the_last_one_is_written() {
    let origin = Origin::start();
    let plan = Gateway::before(&origin).room("sale", "max_active = 1").embedded();
    let mut gateway = plan.tables("[log]\nlevel = \"trace\"").start();
    Visitor::new(&gateway).open("/");
    join(&gateway, "d1");
    assert!(!gateway.reload("nonsense"));
    assert_eq!(gateway.stop().code(), Some(0));
    let last = "the last line";
    let text = crate::support::eventually(last, || {
        Some(gateway.log().text()).filter(|text| text.contains("node.stopped"))
    });
    assert!(text.lines().count() >= 8, "{text}");
    for line in text.lines() {
        let read: serde_json::Value = serde_json::from_str(line).expect(line);
        for name in ["timestamp", "level", "service", "event"] {
            assert!(read[name].is_string(), "{name}: {line}");
        }
        assert_ne!(read["event"], "library", "{line}");
    }
}
