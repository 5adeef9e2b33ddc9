//! The verbs: each does what it says, once, and the log says who did it.

use serde_json::{Value, json};

use super::{becomes, held, join, poll};
use crate::support::operator::OPERATOR;
use crate::support::{Gateway, Operator, Origin};

fn labels(released: &Value) -> Vec<&str> {
    let called = released["called"].as_array().expect("a list");
    called.iter().map(|visitor| visitor["label"].as_str().expect("a label")).collect()
}

#[test]
fn a_release_calls_the_next_and_says_whom() {
    let origin = Origin::start();
    let gateway = held(&origin);
    let operator = Operator::with_key(&gateway, OPERATOR);
    let tickets = join(&gateway, "sale", 5);
    let released = operator.does("/v1/rooms/sale/release", &json!({ "count": 2 }));
    assert_eq!((&released["released"], &released["remaining"]), (&json!(2), &json!(3)));
    assert_eq!(labels(&released), ["B-000001", "B-000002"]);
    assert_eq!(released["unnamed"], 0);
    assert_eq!(poll(&gateway, &tickets[0])["queue_ref"], released["called"][0]["queue_ref"]);
    assert_eq!(poll(&gateway, &tickets[0])["status"], "admitted");
    assert_eq!(poll(&gateway, &tickets[2])["status"], "waiting");
    let released = operator.does("/v1/rooms/sale/release", &json!({ "count": 100 }));
    assert_eq!((&released["released"], &released["remaining"]), (&json!(3), &json!(0)));
    assert_eq!(labels(&released), ["B-000003", "B-000004", "B-000005"]);
    let released = operator.does("/v1/rooms/sale/release", &json!({ "count": 1 }));
    assert_eq!((&released["released"], labels(&released).len()), (&json!(0), 0));
}

#[test]
fn operators_at_once_never_release_the_same_visitor_twice() {
    let origin = Origin::start();
    let gateway = held(&origin);
    join(&gateway, "sale", 60);
    let ask = || {
        let operator = Operator::with_key(&gateway, OPERATOR);
        let released =
            (0..5).map(|_| operator.does("/v1/rooms/sale/release", &json!({ "count": 2 })));
        let released: Vec<Value> = released.collect();
        released.iter().flat_map(labels).map(str::to_owned).collect::<Vec<_>>()
    };
    let mut called: Vec<String> = std::thread::scope(|scope| {
        let operators: Vec<_> = (0..6).map(|_| scope.spawn(ask)).collect();
        operators.into_iter().flat_map(|one| one.join().expect("no panic")).collect()
    });
    called.sort();
    let all: Vec<String> = (1..=60).map(|number| format!("B-{number:06}")).collect();
    assert_eq!(called, all);
}

#[test]
fn a_release_keeps_within_the_seats() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "mode = \"hold\"\nmax_active = 2").start();
    join(&gateway, "sale", 5);
    let released = Operator::new(&gateway).does("/v1/rooms/sale/release", &json!({ "count": 5 }));
    assert_eq!((&released["released"], &released["remaining"]), (&json!(2), &json!(3)));
}

#[test]
fn a_pause_holds_the_line_until_it_is_over() {
    let origin = Origin::start();
    let plan = Gateway::before(&origin).room("sale", "rate = \"50/s\"\nburst = 1").embedded();
    let mut gateway = plan.start();
    let paused = Operator::new(&gateway).does("/v1/rooms/sale/pause", &json!({}));
    assert_eq!(paused["paused"], true);
    let tickets = join(&gateway, "sale", 2);
    assert_eq!(gateway.stop().code(), Some(0));
    gateway.restart();
    let operator = Operator::new(&gateway);
    let room = becomes(&operator, "sale", |room| room["waiting"] == 2);
    assert_eq!(room["paused"], true, "it outlives the process");
    assert_eq!(poll(&gateway, &tickets[0])["paused"], true);
    let again = operator.does("/v1/rooms/sale/pause", &json!({}));
    assert_eq!(again["paused"], true, "twice is once");
    assert_eq!(operator.does("/v1/rooms/sale/resume", &json!({}))["paused"], false);
    becomes(&operator, "sale", |room| room["released_total"] == 2);
}

#[test]
fn whoever_is_revoked_is_out() {
    let origin = Origin::start();
    let gateway = held(&origin);
    let operator = Operator::with_key(&gateway, OPERATOR);
    let tickets = join(&gateway, "sale", 3);
    operator.does("/v1/rooms/sale/release", &json!({ "count": 1 }));
    assert_eq!(poll(&gateway, &tickets[0])["status"], "admitted");
    let named = poll(&gateway, &tickets[1])["queue_ref"].clone();
    for (visitor, ticket) in [(json!("b-000001"), &tickets[0]), (named, &tickets[1])] {
        let revoked = operator.does("/v1/rooms/sale/revoke", &json!({ "visitor": visitor }));
        assert_eq!(revoked["revoked"], true, "{revoked:#}");
        assert_eq!(revoked["visitor"]["status"], "expired");
        assert_eq!(revoked["visitor"]["reason"], "revoked");
        assert_eq!(poll(&gateway, ticket)["error"]["code"], "gone");
    }
    let again = operator.does("/v1/rooms/sale/revoke", &json!({ "visitor": "1" }));
    assert_eq!(again["revoked"], false);
    assert_eq!(poll(&gateway, &tickets[2])["position"], 1);
}

/// A number beyond those given is proof of a loss if it comes with a signature. An operator's is no proof.
#[test]
fn a_mistyped_number_changes_nothing() {
    let origin = Origin::start();
    let gateway = held(&origin);
    let operator = Operator::with_key(&gateway, OPERATOR);
    join(&gateway, "sale", 2);
    for visitor in
        ["3", "999999", "0", "", "B-000003", "A-000001", "q_000000000000", "q_", "-1", "1e3", "１"]
    {
        let answer = operator.post("/v1/rooms/sale/revoke", &json!({ "visitor": visitor }));
        assert_eq!((answer.status, answer.code().as_str()), (404, "unknown_visitor"), "{visitor}");
    }
    join(&gateway, "sale", 1);
    assert_eq!(operator.see("/v1/rooms/sale")["joined_total"], 3);
}

#[test]
fn a_reset_voids_every_ticket() {
    let origin = Origin::start();
    let gateway = held(&origin);
    let admin = Operator::new(&gateway);
    let tickets = join(&gateway, "sale", 2);
    let before = admin.see("/v1/rooms/sale");
    let reset = admin.does("/v1/rooms/sale/reset", &json!({}));
    assert!(reset["epoch"].as_u64() > before["epoch"].as_u64(), "{reset:#}");
    assert_eq!((&reset["waiting"], &reset["joined_total"]), (&json!(0), &json!(0)));
    assert_eq!(poll(&gateway, &tickets[0])["error"]["code"], "unknown_ticket");
    join(&gateway, "sale", 1);
    assert_eq!(admin.see("/v1/rooms/sale")["joined_total"], 1);
}

#[test]
fn every_change_is_in_the_log_with_who_made_it() {
    let origin = Origin::start();
    let gateway = held(&origin);
    let [operator, admin] =
        [OPERATOR, crate::support::operator::ADMIN].map(|key| Operator::with_key(&gateway, key));
    join(&gateway, "sale", 2);
    operator.does("/v1/rooms/sale/pause", &json!({}));
    operator.does("/v1/rooms/sale/resume", &json!({}));
    operator.does("/v1/rooms/sale/release", &json!({ "count": 1 }));
    operator.does("/v1/rooms/sale/revoke", &json!({ "visitor": "2" }));
    admin.does("/v1/rooms/sale/reset", &json!({}));
    for (action, by, parameters) in [
        ("pause", "operator", json!({ "from": false, "to": true })),
        ("resume", "operator", json!({ "from": true, "to": false })),
        ("release", "operator", json!({ "count": 1, "released": 1, "after": 0, "upto": 1 })),
        ("revoke", "operator", json!({ "visitor": "B-000002", "revoked": true })),
        ("reset", "admin", json!({})),
    ] {
        let said = &gateway.events(&format!("admin.{action}"), 1)[0];
        assert_eq!((&said["admin_id"], &said["action"]), (&json!(by), &json!(action)), "{said:#}");
        assert_eq!((&said["event_id"], &said["level"]), (&json!("sale"), &json!("info")));
        assert_eq!(said["parameters"], parameters, "{action}");
    }
    for key in [OPERATOR, crate::support::operator::ADMIN] {
        assert!(!gateway.log_contains(key), "a key is never told");
    }
}

#[test]
fn a_reload_is_taken_or_refused_whole_with_every_problem() {
    let origin = Origin::start();
    let gateway = held(&origin);
    let admin = Operator::new(&gateway);
    let path = gateway.directory().join("anteroom.toml");
    let good = std::fs::read_to_string(&path).expect("the file");
    std::fs::write(&path, good.replace("mode = \"hold\"", "mode = \"hld\"\nrate = \"5\""))
        .expect("space for it");
    let refused = admin.post("/v1/reload", &json!({}));
    assert_eq!((refused.status, refused.code().as_str()), (400, "bad_configuration"));
    let problems = refused.json()["error"]["problems"].clone();
    let problems = problems.as_array().expect("a list");
    assert_eq!(problems.len(), 2, "{problems:#?}");
    assert!(problems.iter().any(|one| one.as_str().is_some_and(|text| text.contains("mode"))));
    assert_eq!(admin.see("/v1/rooms/sale")["mode"], "hold");
    std::fs::write(&path, good.replace("mode = \"hold\"", "mode = \"closed\""))
        .expect("space for it");
    assert_eq!(admin.does("/v1/reload", &json!({})), json!({ "reloaded": true }));
    becomes(&admin, "sale", |room| room["mode"] == "closed");
    assert_eq!(gateway.events("admin.reload", 1)[0]["admin_id"], "admin");
    assert_eq!(gateway.events("config.refused", 1).len(), 1);
}
