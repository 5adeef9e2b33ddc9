//! `POST admission/verify`: 200 with yes or no, 400 for what is no token.

use serde_json::json;

use super::{assert_time, call, join, room, ticket};
use crate::support::eventually;
use crate::support::forge::{keys, keys_of, pass_like};

#[test]
fn a_good_pass_and_what_it_says() {
    let (_origin, gateway) = room("max_active = 1");
    let body = json!({ "event_id": "sale", "device_id": "dev_abc123", "user_id": "usr_xyz789" });
    let pass = call(&gateway, "queue/join", &body).json()["token"].clone();
    let answer = call(&gateway, "admission/verify", &json!({ "token": pass, "event_id": "sale" }));
    assert_eq!(answer.status, 200, "{answer:?}");
    let said = answer.json();
    assert_eq!(said["valid"], true, "{said}");
    assert_eq!((&said["event_id"], &said["device_id"]), (&"sale".into(), &"dev_abc123".into()));
    assert_eq!(said["user_id"], "usr_xyz789");
    assert_time(&said["issued_at"]);
    assert_time(&said["expires_at"]);
}

#[test]
fn a_bad_one_is_no_and_no_error() {
    let (_origin, gateway) = room("max_active = 1");
    let pass = join(&gateway, "d1").json()["token"].as_str().expect("a pass").to_owned();
    let waiting = ticket(&gateway, "d2");
    let day = 86_400;
    let cases = [
        ("a ticket", waiting, "not_a_pass"),
        (
            "forged",
            pass_like(&pass, &keys_of("another secret, of at least 32 bytes", "sale"), |_| {}),
            "unknown",
        ),
        ("of another room", pass_like(&pass, &keys("other"), |_| {}), "unknown"),
        ("over", pass_like(&pass, &keys("sale"), |pass| pass.expires_at -= day), "expired"),
        ("of an older epoch", pass_like(&pass, &keys("sale"), |pass| pass.epoch -= 1), "revoked"),
    ];
    for (name, token, reason) in cases {
        let answer =
            call(&gateway, "admission/verify", &json!({ "token": token, "event_id": "sale" }));
        assert_eq!(answer.status, 200, "{name}: {answer:?}");
        let said = answer.json();
        assert_eq!((&said["valid"], &said["reason"]), (&false.into(), &reason.into()), "{name}");
    }
    call(&gateway, "admission/complete", &json!({ "token": pass }));
    let said = eventually("completed", || {
        let said =
            call(&gateway, "admission/verify", &json!({ "token": pass, "event_id": "sale" }))
                .json();
        (said["valid"] == false).then_some(said)
    });
    assert_eq!(said["reason"], "completed");
}

#[test]
fn what_is_no_token_is_400() {
    let (_origin, gateway) = room("max_active = 1");
    for (body, code) in [
        (json!({ "token": "x", "event_id": "sale" }), "malformed_token"),
        (json!({ "token": "", "event_id": "sale" }), "missing_token"),
        (json!({ "event_id": "sale" }), "missing_token"),
        (json!({ "token": "x" }), "missing_event_id"),
        (json!({ "token": "x", "event_id": "none" }), "unknown_event"),
        (json!({ "token": 7, "event_id": "sale" }), "invalid_token"),
        (json!({}), "missing_event_id"),
    ] {
        let answer = call(&gateway, "admission/verify", &body);
        assert_eq!((answer.status, answer.code().as_str()), (400, code), "{body}");
    }
}
