//! The calls that name their room in the body, request by request as scripts for other waiting rooms have them.

use serde_json::{Value, json};

use super::{becomes, join, poll};
use crate::support::operator::OPERATOR;
use crate::support::{Gateway, Operator, Origin, eventually};

fn start(origin: &Origin) -> Gateway {
    Gateway::before(origin).room("evt_123", "rate = \"10/s\"\nburst = 1").start()
}

fn fields(body: &Value) -> Vec<&str> {
    body.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[test]
fn pause_release_and_metrics_answer_as_they_are_known() {
    let origin = Origin::start();
    let gateway = start(&origin);
    let operator = Operator::with_key(&gateway, OPERATOR);
    let pause = |paused: bool| json!({ "event_id": "evt_123", "paused": paused });
    let told = operator.does("/v1/admin/pause", &pause(true));
    assert_eq!(told, json!({ "event_id": "evt_123", "paused": true, "queue_length": 0 }));
    let tickets = join(&gateway, "evt_123", 5);
    becomes(&operator, "evt_123", |room| room["waiting"] == 5);
    let told = operator.does("/v1/admin/release", &json!({ "event_id": "evt_123", "count": 2 }));
    let expected = json!({ "released": 2, "remaining_in_queue": 3, "current_release_rate": 10 });
    assert_eq!(told, expected);
    for ticket in &tickets[..2] {
        assert_eq!(poll(&gateway, ticket)["status"], "admitted");
    }
    let told = operator.see("/v1/admin/metrics?event_id=evt_123");
    let names = [
        "abandoned_sessions",
        "admissions_last_hour",
        "average_wait_seconds",
        "event_id",
        "paused",
        "queue_length",
        "release_rate_per_second",
    ];
    assert_eq!(fields(&told), names);
    assert_eq!((&told["event_id"], &told["queue_length"]), (&json!("evt_123"), &json!(3)));
    assert_eq!((&told["release_rate_per_second"], &told["paused"]), (&json!(10), &json!(true)));
    assert_eq!(
        (&told["admissions_last_hour"], &told["abandoned_sessions"]),
        (&json!(2), &json!(0))
    );
    assert!(told["average_wait_seconds"].as_f64().is_some_and(|wait| wait < 60.0), "{told:#}");
    let told = operator.does("/v1/admin/pause", &pause(false));
    assert_eq!((&told["event_id"], &told["paused"]), (&json!("evt_123"), &json!(false)));
    becomes(&operator, "evt_123", |room| room["waiting"] == 0);
}

/// The seed's own examples, request by request.
#[test]
fn release_with_a_rate_and_config_answer_as_they_are_known() {
    let origin = Origin::start();
    let gateway = start(&origin);
    let admin = Operator::new(&gateway);
    let rate = json!({ "event_id": "evt_123", "count": 100, "rate_per_second": 10 });
    let told = admin.does("/v1/admin/release", &rate);
    let expected = json!({ "released": 0, "remaining_in_queue": 0, "current_release_rate": 10 });
    assert_eq!(told, expected);
    let config = json!({
        "event_id": "evt_123", "enabled": true, "release_rate_per_second": 5, "max_queue_size": 10000,
        "admission_token_ttl_seconds": 300, "heartbeat_timeout_seconds": 60
    });
    let told = admin.does("/v1/admin/config", &config);
    let expected = json!({ "event_id": "evt_123", "config": {
        "enabled": true, "release_rate_per_second": 5, "max_queue_size": 10000,
        "admission_token_ttl_seconds": 300, "heartbeat_timeout_seconds": 60
    } });
    assert_eq!(told, expected);
    let more = json!({ "event_id": "evt_123", "max_capacity": 5000, "bypass_queue": true });
    let told = admin.does("/v1/admin/config", &more);
    assert_eq!(told["config"]["max_capacity"], 5000);
    assert_eq!(told["config"]["bypass_queue"], true);
    assert_eq!(admin.see("/v1/rooms/evt_123")["mode"], "bypass");
    let closed = json!({ "event_id": "evt_123", "enabled": false });
    assert_eq!(admin.does("/v1/admin/config", &closed)["config"]["enabled"], false);
    let room = admin.see("/v1/rooms/evt_123");
    assert_eq!((&room["mode"], &room["rate_set"]), (&json!("closed"), &json!(5)));
    assert_eq!(room["overrides"]["rate"]["value"], "5/s");
    let hook = json!({ "event_id": "evt_123", "webhook_url": "https://backend.example.com/webhooks/admission" });
    let refused = admin.post("/v1/admin/config", &hook);
    assert_eq!(refused.status, 400, "a host that nobody allowed");
    assert!(refused.text().contains("[webhooks]"), "{}", refused.text());
}

#[test]
fn a_room_that_there_is_not_is_made_by_who_may() {
    let origin = Origin::start();
    let mut gateway =
        Gateway::before(&origin).room("evt_123", "rate = \"10/s\"").embedded().start();
    let config =
        json!({ "event_id": "evt_new", "release_rate_per_second": 0.5, "max_capacity": 7 });
    let operator = Operator::with_key(&gateway, OPERATOR);
    assert_eq!(operator.post("/v1/admin/config", &config).status, 404);
    let admin = Operator::new(&gateway);
    let told = admin.does("/v1/admin/config", &config);
    assert_eq!(told["config"]["release_rate_per_second"], 0.5);
    let tickets = join(&gateway, "evt_new", 1);
    assert_eq!(poll(&gateway, &tickets[0])["status"], "admitted", "nobody waits there");
    for bad in ["a b", "", "x/y", "ö"] {
        let refused = admin.post("/v1/admin/config", &json!({ "event_id": bad }));
        assert_eq!(refused.status, 400, "{bad}");
    }
    gateway.stop();
    gateway.restart();
    let admin = Operator::new(&gateway);
    let room = eventually("the room is back", || {
        Some(admin.get("/v1/rooms/evt_new")).filter(|answer| answer.status == 200)
    });
    assert_eq!(room.json()["max_active"], 7);
}

#[test]
fn what_can_not_be_meant_is_refused() {
    let origin = Origin::start();
    let gateway = start(&origin);
    let admin = Operator::new(&gateway);
    let nothing = admin.post("/v1/admin/release", &json!({ "event_id": "evt_123" }));
    assert_eq!(nothing.status, 400);
    assert!(nothing.text().contains("count or rate_per_second is missing"));
    assert_eq!(admin.get("/v1/admin/metrics").status, 400);
    for event_id in ["evt_124", "", "a/b", "evt_123/"] {
        let body = json!({ "event_id": event_id, "count": 1 });
        assert_eq!(admin.post("/v1/admin/release", &body).status, 404, "{event_id}");
        let body = json!({ "event_id": event_id, "paused": true });
        assert_eq!(admin.post("/v1/admin/pause", &body).status, 404, "{event_id}");
    }
}
