//! Rooms as they are.

use serde_json::json;

use super::{becomes, held, join, poll};
use crate::support::{CutOff, Gateway, Operator, Origin, Visitor};

#[test]
fn a_room_is_told_as_it_is() {
    let origin = Origin::start();
    let plan = Gateway::before(&origin).room("sale", "rate = \"120/m\"\nburst = 1\nmax_active = 9");
    let gateway = plan.start();
    let admin = Operator::new(&gateway);
    admin.does("/v1/rooms/sale/pause", &json!({}));
    let tickets = join(&gateway, "sale", 3);
    let room = becomes(&admin, "sale", |room| room["waiting"] == 3);
    for (field, value) in [
        ("id", json!("sale")),
        ("event_id", json!("sale")),
        ("tenant_id", json!("")),
        ("mode", json!("auto")),
        ("paused", json!(true)),
        ("active", json!(0)),
        ("admitted", json!(0)),
        ("max_active", json!(9)),
        ("max_waiting", json!(100_000)),
        ("rate_set", json!(2)),
        ("rate_reached", json!(0)),
        ("joined_total", json!(3)),
        ("released_total", json!(0)),
        ("admitted_total", json!(0)),
        ("completed_total", json!(0)),
        ("expired_total", json!(0)),
        ("no_show_total", json!(0)),
        ("dropped_total", json!(0)),
        ("last_admission_at", json!(null)),
        ("average_wait_seconds", json!(null)),
        ("store", json!("connected")),
    ] {
        assert_eq!(room[field], value, "{field} in {room:#}");
    }
    assert!(room["view_age_seconds"].as_f64().is_some_and(|age| age < 5.0), "{room:#}");
    admin.does("/v1/rooms/sale/resume", &json!({}));
    let room = becomes(&admin, "sale", |room| room["released_total"] == 3);
    assert!(room["rate_reached"].as_f64().is_some_and(|rate| rate > 0.0), "{room:#}");
    for ticket in &tickets {
        assert_eq!(poll(&gateway, ticket)["status"], "admitted");
    }
    let room = becomes(&admin, "sale", |room| room["active"] == 3);
    assert_eq!(room["admitted_total"], 3);
    assert!(room["average_wait_seconds"].as_f64().is_some_and(|wait| wait < 60.0), "{room:#}");
    assert!(room["last_admission_at"].as_str().is_some_and(|time| time.ends_with('Z')), "{room:#}");
    assert!(room["eta"]["seconds"].as_u64().is_some(), "{room:#}");
}

#[test]
fn rooms_are_listed_by_name() {
    let origin = Origin::start();
    let rooms = Gateway::before(&origin).room("zoo", "rate = \"1/s\"\nhosts = [\"zoo.example\"]");
    let gateway = rooms.room("drop", "mode = \"closed\"\nhosts = [\"drop.example\"]").start();
    let listed = Operator::new(&gateway).see("/v1/rooms");
    let rooms = listed["rooms"].as_array().expect("a list");
    let ids: Vec<_> = rooms.iter().map(|room| room["id"].as_str().unwrap_or_default()).collect();
    assert_eq!(ids, ["drop", "zoo"]);
    assert_eq!(rooms[0]["mode"], "closed");
    assert_eq!(rooms[0]["rate_set"], json!(null), "no limit is no number");
}

#[test]
fn a_visit_counts_from_joining_to_completing() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1").start();
    let admin = Operator::new(&gateway);
    let [mut ann, mut bob] = [(); 2].map(|()| Visitor::new(&gateway));
    assert!(ann.open("/").is_from_origin());
    assert_eq!(bob.open("/").state().as_deref(), Some("waiting"));
    becomes(&admin, "sale", |room| room["active"] == 1 && room["waiting"] == 1);
    ann.complete();
    bob.await_turn();
    assert!(bob.open("/").is_from_origin());
    let room = becomes(&admin, "sale", |room| room["admitted_total"] == 2);
    assert_eq!((&room["completed_total"], &room["expired_total"]), (&json!(1), &json!(0)));
    assert!(!room["average_wait_seconds"].is_null(), "bob waited: {room:#}");
}

#[test]
fn while_the_store_is_away_a_room_says_so_and_verbs_are_refused() {
    use crate::support::shaky::Manner;
    let origin = Origin::start();
    let node = CutOff::before(&origin, "mode = \"hold\"", "");
    let admin = Operator::of(node.admin(), Some(crate::support::operator::ADMIN));
    assert_eq!(admin.see("/v1/rooms/sale")["store"], "connected");
    node.store_is(Manner::Refusing);
    becomes(&admin, "sale", |room| room["store"] == "disconnected");
    let refused = admin.post("/v1/rooms/sale/release", &json!({ "count": 1 }));
    assert_eq!((refused.status, refused.code().as_str()), (503, "store_unavailable"));
    assert!(refused.header("retry-after").is_some());
    node.store_is(Manner::Well);
    becomes(&admin, "sale", |room| room["store"] == "connected");
    admin.does("/v1/rooms/sale/release", &json!({ "count": 1 }));
}

#[test]
fn nothing_of_it_is_visible_where_visitors_are() {
    let origin = Origin::start();
    let gateway = held(&origin);
    for path in ["/v1/rooms", "/metrics", "/health", "/openapi.json"] {
        let answer = Visitor::new(&gateway).open(path);
        assert_eq!(answer.state().as_deref(), Some("waiting"), "{path} is the site's: {answer:?}");
    }
}
