//! An invite: made by an operator, opened as a link, used once, and seen by nobody else.

use serde_json::{Value, json};

use crate::support::operator::Operator;
use crate::support::{Gateway, Origin, Request, Visitor};

const ROOM: &str = "mode = \"hold\"\nclasses = { presale = { skip = 1.0, rank = 2 }, fan = { skip = 0.5, open = true } }\n\
                    class_header = \"x-class\"";

fn start() -> (Origin, Gateway, Operator) {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin)
        .room("sale", ROOM)
        .top("trusted_proxies = [\"127.0.0.1\"]")
        .start();
    let operator = Operator::new(&gateway);
    (origin, gateway, operator)
}

fn invite(operator: &Operator, body: &Value) -> Value {
    operator.does("/v1/rooms/sale/invites", body)["invites"][0].clone()
}

#[test]
fn a_link_is_worth_a_place_at_the_head_once() {
    let (_origin, gateway, operator) = start();
    let mut general = Visitor::new(&gateway);
    assert_eq!(general.open("/drop").state().as_deref(), Some("waiting"));
    let made =
        invite(&operator, &json!({ "class": "presale", "url": "http://shop.example/drop?size=9" }));
    let url = made["url"].as_str().expect("a link");
    let target = url.strip_prefix("http://shop.example").expect("as it was named").to_owned();
    assert!(target.starts_with("/drop?size=9&anteroom_invite="), "{target}");

    // A preview looks at the link, and keeps no cookie: nothing is used up.
    for _ in 0..2 {
        assert_eq!(Visitor::new(&gateway).open(&target).status, 303);
    }
    let mut guest = Visitor::new(&gateway);
    let answer = guest.open(&target);
    assert_eq!((answer.status, answer.header("location")), (303, Some("/drop?size=9")));
    assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
    assert_eq!(guest.open("/drop?size=9").state().as_deref(), Some("waiting"));
    assert_eq!(guest.position(), 1, "before whoever came first");
    let cookie = guest.cookie().expect("a ticket");
    assert!(!cookie.contains("-invite="), "the invite is gone: {cookie}");
    assert_eq!(operator.see("/v1/rooms/sale/invites")["invites"][0]["used"], 1);

    // Somebody else with the same link is anybody.
    let mut late = Visitor::new(&gateway);
    late.open(&target);
    assert_eq!(late.open("/drop?size=9").state().as_deref(), Some("waiting"));
    assert_eq!(late.position(), 3);

    operator.does("/v1/rooms/sale/release", &json!({ "count": 1 }));
    guest.await_turn();
    let inside = guest.open("/drop?size=9");
    assert!(inside.is_from_origin(), "{inside:?}");
    let token = made["token"].as_str().expect("a token");
    assert!(!gateway.log_contains(token), "no log has it");
}

#[test]
fn who_waits_already_gets_ahead_and_gives_up_the_old_place() {
    let (_origin, gateway, operator) = start();
    for _ in 0..3 {
        assert_eq!(Visitor::new(&gateway).open("/").state().as_deref(), Some("waiting"));
    }
    let mut bob = Visitor::new(&gateway);
    bob.open("/");
    assert_eq!(bob.position(), 4);
    let made = invite(&operator, &json!({ "class": "presale" }));
    let token = made["token"].as_str().expect("a token");
    bob.open(&format!("/?anteroom_invite={token}"));
    bob.open("/");
    assert_eq!(bob.position(), 1);
    let room = operator.see("/v1/rooms/sale");
    assert_eq!(room["waiting"], 4, "{room}");
}

#[test]
fn what_is_no_good_is_worth_nothing() {
    let (_origin, gateway, operator) = start();
    Visitor::new(&gateway).open("/");
    let made = invite(&operator, &json!({ "class": "presale", "uses": 0 }));
    let (id, token) = (made["id"].as_str().expect("an id"), made["token"].as_str().expect("one"));
    let forged = format!("{}x", &token[..token.len() - 1]);
    let mut stranger = Visitor::new(&gateway);
    let answer = stranger.open(&format!("/?anteroom_invite={forged}"));
    assert_eq!((answer.status, answer.header("set-cookie")), (303, None));
    operator.does(&format!("/v1/rooms/sale/invites/{id}/revoke"), &json!({}));
    let mut revoked = Visitor::new(&gateway);
    revoked.open(&format!("/?anteroom_invite={token}"));
    revoked.open("/");
    assert_eq!(revoked.position(), 2, "as anybody");
    let app = |body: Value| {
        Visitor::new(&gateway).send(Request::call("/.anteroom/v1/queue/join", &body)).json()
    };
    let told = app(json!({ "event_id": "sale", "device_id": "d1", "invite": token }));
    assert_eq!(
        (&told["class"], &told["class_reason"]),
        (&json!("general"), &json!("invite_revoked"))
    );
    let told = app(json!({ "event_id": "sale", "device_id": "d2", "invite": forged }));
    assert_eq!(told["class_reason"], "invite_invalid");
    let bad = operator.post("/v1/rooms/sale/invites", &json!({ "class": "nobody" }));
    assert_eq!(bad.status, 400);
    let bad = operator.post(
        "/v1/rooms/sale/invites",
        &json!({ "class": "presale", "expires_seconds": 99_999_999 }),
    );
    assert_eq!(bad.status, 400);
}

#[test]
fn an_app_proves_a_class_or_joins_as_anybody() {
    let (_origin, gateway, operator) = start();
    let app = |body: Value, class: Option<&str>| {
        let visitor = Visitor::new(&gateway);
        let mut visitor = match class {
            Some(class) => visitor.with("X-Class", class),
            None => visitor,
        };
        visitor.send(Request::call("/.anteroom/v1/queue/join", &body))
    };
    app(json!({ "event_id": "sale", "device_id": "d0" }), None);
    let told =
        app(json!({ "event_id": "sale", "device_id": "d1", "priority_bucket": "presale" }), None)
            .json();
    assert_eq!((&told["class"], &told["class_reason"]), (&json!("general"), &json!("not_proven")));
    let told =
        app(json!({ "event_id": "sale", "device_id": "d2", "priority_bucket": "fan" }), None)
            .json();
    assert_eq!((&told["class"], &told["position"]), (&json!("fan"), &json!(2)), "{told}");
    let told = app(json!({ "event_id": "sale", "device_id": "d3" }), Some("presale")).json();
    assert_eq!((&told["class"], &told["position"]), (&json!("presale"), &json!(1)), "{told}");
    let level =
        app(json!({ "event_id": "sale", "device_id": "d4", "priority_bucket": 1 }), None).json();
    assert_eq!(level["class"], "fan", "the least of the room's classes");
    let unknown =
        app(json!({ "event_id": "sale", "device_id": "d5", "priority_bucket": "vip" }), None);
    assert_eq!((unknown.status, unknown.code().as_str()), (400, "unknown_class"));
    let made = invite(&operator, &json!({ "class": "presale" }));
    let body = json!({ "event_id": "sale", "device_id": "d6", "invite": made["token"] });
    let told = app(body.clone(), None).json();
    assert_eq!((&told["class"], &told["position"]), (&json!("presale"), &json!(2)), "{told}");
    let again = app(body, None).json();
    assert_eq!(
        (&again["class"], &again["queue_id"]),
        (&told["class"], &told["queue_id"]),
        "used once"
    );
}

/// Whom an invite was made for is told as proven, where it was good; what an app says is not.
#[test]
fn the_origin_hears_whom_an_invite_was_made_for() {
    let (origin, gateway, operator) = start();
    let made = invite(&operator, &json!({ "class": "presale", "user_id": "acme" }));
    let token = made["token"].as_str().expect("a token");
    let audit = operator.see("/v1/audit?room=sale");
    let written = &audit["entries"][0];
    assert_eq!(
        (&written["action"], &written["parameters"]["count"]),
        (&json!("invite"), &json!(1))
    );
    assert!(!audit.to_string().contains(token), "the book has no token");

    let mut guest = Visitor::new(&gateway);
    guest.open(&format!("/?anteroom_invite={token}"));
    assert_eq!(guest.open("/").state().as_deref(), Some("waiting"));
    let user = |device: &str| {
        let body =
            json!({ "event_id": "sale", "device_id": device, "user_id": "usr_1", "invite": token });
        gateway.connect().ask(&Request::call("/.anteroom/v1/queue/join", &body)).json()
    };
    let late = user("d1");
    assert_eq!(late["class_reason"], "invite_spent", "{late}");
    let (_, claims) = crate::support::forge::read(late["queue_id"].as_str().expect("a ticket"));
    assert_eq!((&claims["user_id"], &claims["user_proven"]), (&json!("usr_1"), &Value::Null));

    operator.does("/v1/rooms/sale/release", &json!({ "count": 2 }));
    guest.await_turn();
    for path in ["/entering", "/inside"] {
        assert!(guest.open(path).is_from_origin());
        let seen = origin.last();
        assert_eq!(seen.header("x-anteroom-user"), Some("acme"), "{path}");
        assert_eq!(seen.header("x-anteroom-claimed-user"), None, "{path}");
        let pass = seen.header("x-anteroom-pass").expect("a pass").to_owned();
        let body = json!({ "event_id": "sale", "token": pass });
        let told = gateway.connect().ask(&Request::call("/.anteroom/v1/admission/verify", &body));
        assert_eq!(told.json()["user_proven"], true, "{told:?}");
    }
}
