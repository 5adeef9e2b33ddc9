//! The calls that name their room in the body, request by request as scripts for other waiting rooms have them.

use serde_json::{Value, json};

use super::{becomes, join, poll};
use crate::support::operator::OPERATOR;
use crate::support::{Gateway, Operator, Origin};

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

#[test]
fn what_is_not_there_yet_is_refused_and_not_ignored() {
    let origin = Origin::start();
    let gateway = start(&origin);
    let admin = Operator::new(&gateway);
    let rate = json!({ "event_id": "evt_123", "count": 1, "rate_per_second": 10 });
    let refused = admin.post("/v1/admin/release", &rate);
    assert_eq!(refused.status, 400);
    assert!(refused.text().contains("rate_per_second is not available in this version"));
    let nothing = admin.post("/v1/admin/release", &json!({ "event_id": "evt_123" }));
    assert_eq!(nothing.status, 400);
    assert!(nothing.text().contains("count is missing"));
    assert_eq!(admin.get("/v1/admin/metrics").status, 400);
    for event_id in ["evt_124", "", "a/b", "evt_123/"] {
        let body = json!({ "event_id": event_id, "count": 1 });
        assert_eq!(admin.post("/v1/admin/release", &body).status, 404, "{event_id}");
        let body = json!({ "event_id": event_id, "paused": true });
        assert_eq!(admin.post("/v1/admin/pause", &body).status, 404, "{event_id}");
    }
}
