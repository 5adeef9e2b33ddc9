//! A line as apps see it: order, positions, leaving, completing.

use serde_json::json;

use super::{call, join, room, status, ticket};
use crate::support::eventually;

#[test]
fn first_come_first_served() {
    let (_origin, gateway) = room("max_active = 1");
    let mut token = join(&gateway, "d0").json()["token"].clone();
    let tickets: Vec<String> = (1..=5).map(|n| ticket(&gateway, &format!("d{n}"))).collect();
    for (place, ticket) in tickets.iter().enumerate() {
        assert_eq!(status(&gateway, ticket).json()["position"], place + 1);
    }
    for (place, ticket) in tickets.iter().enumerate() {
        assert_eq!(call(&gateway, "admission/complete", &json!({ "token": token })).status, 200);
        token = eventually("the next one's turn", || {
            for later in &tickets[place + 1..] {
                assert_eq!(status(&gateway, later).json()["status"], "waiting", "out of turn");
            }
            let said = status(&gateway, ticket).json();
            (said["status"] == "admitted").then(|| said["token"].clone())
        });
    }
}

#[test]
fn a_ticket_completes_nothing() {
    let (_origin, gateway) = room("mode = \"hold\"");
    let mine = ticket(&gateway, "d1");
    let answer = call(&gateway, "admission/complete", &json!({ "token": mine }));
    assert_eq!((answer.status, answer.code().as_str()), (400, "not_a_pass"), "{answer:?}");
    assert_eq!(status(&gateway, &mine).json()["position"], 1);
}

#[test]
fn who_left_joins_anew_at_the_end() {
    let (_origin, gateway) = room("mode = \"hold\"");
    let mine = ticket(&gateway, "d1");
    let other = ticket(&gateway, "d2");
    assert_eq!(call(&gateway, "queue/leave", &json!({ "queue_id": mine })).status, 200);
    let again = eventually("a new place", || {
        let joined = join(&gateway, "d1");
        (joined.status == 200).then(|| joined.json())
    });
    assert_ne!(again["queue_id"], mine, "a new place: {again}");
    assert!(again["position"].as_u64() > status(&gateway, &other).json()["position"].as_u64());
}
