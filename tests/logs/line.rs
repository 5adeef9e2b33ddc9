//! What the line does by itself: turns, and what time ends.

use std::time::Duration;

use serde_json::json;

use super::{assert_common, assert_visitor, join, saying};
use crate::support::{Gateway, Operator, Origin, Visitor};

#[test]
fn turns_are_one_line_however_many() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "mode = \"hold\"").start();
    for number in 1..=20 {
        join(&gateway, &format!("d{number}"));
    }
    Operator::new(&gateway).does("/v1/rooms/sale/release", &json!({ "count": 15 }));
    let called = gateway.events("queue.called", 1);
    assert_common(&called[0], "info");
    let said = ["count", "after", "upto", "turns", "waiting"].map(|name| &called[0][name]);
    assert_eq!(json!(said), json!([15, 0, 15, 15, 5]), "{called:?}");
    Operator::new(&gateway).does("/v1/rooms/sale/release", &json!({ "count": 2 }));
    let called = gateway.events("queue.called", 2);
    assert_eq!((&called[1]["after"], &called[1]["upto"]), (&json!(15), &json!(17)), "{called:?}");
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(gateway.log().events("queue.called").len(), 2);
}

#[test]
fn sessions_end_by_time_and_turns_are_missed() {
    let origin = Origin::start();
    let room =
        "max_active = 1\nclaim_window = \"1s\"\nsession_idle = \"1s\"\nsession_first = \"1s\"";
    let gateway = Gateway::before(&origin).room("sale", room).start();
    assert!(Visitor::new(&gateway).open("/").is_from_origin());
    join(&gateway, "never comes");
    let ended = saying(&gateway, "queue.status_changed", 1, |line| line["reason"] == "idle");
    assert_common(&ended[0], "info");
    assert_visitor(&ended[0], 1);
    assert_eq!(ended[0]["status"], "expired");
    let missed = saying(&gateway, "queue.status_changed", 1, |line| line["reason"] == "no_show");
    assert_common(&missed[0], "info");
    assert_eq!((&missed[0]["status"], &missed[0]["count"]), (&json!("expired"), &json!(1)));
}

#[test]
fn a_session_has_an_end_and_the_silent_are_counted() {
    let origin = Origin::start();
    let room = "max_active = 1\nheartbeat_timeout = \"5s\"\npoll_max = \"1s\"\nsession_idle = \"none\"\n\
                session_max = \"2s\"\nsession_first = \"2s\"";
    let gateway = Gateway::before(&origin).room("sale", room).start();
    Operator::new(&gateway).does("/v1/rooms/sale/pause", &json!({}));
    for _ in 0..3 {
        Visitor::new(&gateway).open("/");
    }
    Operator::new(&gateway).does("/v1/rooms/sale/release", &json!({ "count": 1 }));
    let silent = saying(&gateway, "queue.status_changed", 1, |line| line["reason"] == "silent");
    assert_common(&silent[0], "info");
    assert_eq!(
        (&silent[0]["status"], &silent[0]["count"]),
        (&json!("away"), &json!(2)),
        "{silent:?}"
    );
    Operator::new(&gateway).does("/v1/rooms/sale/reset", &json!({}));
    Operator::new(&gateway).does("/v1/rooms/sale/resume", &json!({}));
    let entered = join(&gateway, "d1");
    assert_eq!(entered["status"], "admitted", "{entered}");
    let capped = saying(&gateway, "queue.status_changed", 1, |line| line["reason"] == "capped");
    assert_visitor(&capped[0], 1);
}

/// What ended before a process came is not told again by it.
#[test]
fn a_new_process_tells_only_what_is_new() {
    let origin = Origin::start();
    let room = "max_active = 1\nsession_idle = \"1s\"\nsession_first = \"1s\"";
    let mut gateway = Gateway::before(&origin).room("sale", room).embedded().start();
    assert!(Visitor::new(&gateway).open("/").is_from_origin());
    saying(&gateway, "queue.status_changed", 1, |line| line["reason"] == "idle");
    assert_eq!(gateway.stop().code(), Some(0));
    gateway.restart();
    let mut ann = Visitor::new(&gateway);
    assert!(ann.open("/").is_from_origin());
    let ended = saying(&gateway, "queue.status_changed", 1, |line| line["reason"] == "idle");
    assert_eq!(ended.len(), 1, "{ended:?}");
    assert_visitor(&ended[0], 2);
}
