//! An invite: made by an operator, opened as a link, used once, and seen by nobody else.

use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::operator::Operator;
use crate::support::{Gateway, Origin, Request, Visitor, eventually};

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

/// Whoever opens a link while they wait keeps the place they have until they have the better one, and the page they load again
/// and again says that they are there.
#[test]
fn a_place_is_not_lost_for_an_invite_that_can_not_be_used_now() {
    let origin = Origin::start();
    let room = "mode = \"hold\"\nmax_waiting = 3\nheartbeat_timeout = \"5s\"\npoll_max = \"1s\"\n\
                on_absence = \"remove\"\nclasses = { presale = { skip = 1.0 } }";
    let gateway = Gateway::before(&origin).room("sale", room).start();
    let operator = Operator::new(&gateway);
    let made = invite(&operator, &json!({ "class": "presale" }));
    let link = format!("/?anteroom_invite={}", made["token"].as_str().expect("a token"));
    let mut others = [(); 2].map(|()| Visitor::new(&gateway));
    for visitor in &mut others {
        visitor.open("/");
    }
    let mut bob = Visitor::new(&gateway);
    bob.open("/");
    let ticket = bob.token();
    bob.open(&link);

    // The line is full, for longer than it keeps anybody it does not hear of.
    let until = Instant::now() + Duration::from_secs(9);
    while Instant::now() < until {
        let page = bob.open("/");
        assert_eq!(page.state().as_deref(), Some("waiting"), "{page:?}");
        assert_eq!(page.shown("position").as_deref(), Some("3"), "{page:?}");
        assert_eq!(page.header("set-cookie"), None, "{page:?}");
        others.iter_mut().for_each(|other| assert_eq!(other.status().status, 200));
        sleep(Duration::from_millis(300));
    }
    let switch = |mode: &str| {
        let call = Request::call("/v1/rooms/sale", &json!({ "mode": mode }));
        let answer = operator.send(Request { method: "PATCH".to_owned(), ..call });
        assert_eq!(answer.status, 200, "{answer:?}");
    };
    switch("closed");
    let page = bob.open("/");
    assert_eq!(page.state().as_deref(), Some("waiting"), "{page:?}");
    assert_eq!(bob.tokens().first(), ticket.as_ref().map(|(_, token)| token));
    assert_eq!(operator.see("/v1/rooms/sale")["waiting"], 3);

    // Once it can be used, it is.
    switch("hold");
    others[0].leave();
    eventually("there is room", || {
        bob.open("/");
        (bob.position() == 1).then_some(())
    });
    assert_ne!(bob.token(), ticket);
    assert_eq!(operator.see("/v1/rooms/sale/invites")["invites"][0]["used"], 1);
}

/// Many share an address, and were counted when they came.
#[test]
fn who_was_counted_once_may_come_sooner() {
    let origin = Origin::start();
    let room = "mode = \"hold\"\nclasses = { presale = { skip = 1.0 } }";
    let gateway = Gateway::before(&origin)
        .room("sale", room)
        .limits("places_per_address = 2\njoin_per_address = \"2/m\"")
        .start();
    let operator = Operator::new(&gateway);
    let made = invite(&operator, &json!({ "class": "presale" }));
    let link = format!("/?anteroom_invite={}", made["token"].as_str().expect("a token"));
    Visitor::new(&gateway).open("/");
    let mut bob = Visitor::new(&gateway);
    bob.open("/");
    assert_eq!(Visitor::new(&gateway).open("/").status, 429);
    bob.open(&link);
    assert_eq!(bob.open("/").state().as_deref(), Some("waiting"));
    assert_eq!(bob.position(), 1);
}

/// An invite that is used up changes nothing for whoever waits, and is looked at once.
#[test]
fn a_place_outlives_an_invite_that_is_no_good() {
    let (_origin, gateway, operator) = start();
    let made = invite(&operator, &json!({ "class": "presale" }));
    let link = format!("/?anteroom_invite={}", made["token"].as_str().expect("a token"));
    Visitor::new(&gateway).open("/");
    let mut bob = Visitor::new(&gateway);
    bob.open("/");
    let ticket = bob.token();
    let mut first = Visitor::new(&gateway);
    first.open(&link);
    first.open("/");
    assert_eq!(first.position(), 1);
    bob.open(&link);
    let page = bob.open("/");
    assert_eq!(page.state().as_deref(), Some("waiting"), "{page:?}");
    assert_eq!((bob.token(), bob.position()), (ticket, 3));
    assert_eq!(bob.tokens().len(), 1, "the invite is gone");
}

/// Where visitors have names, a class comes with the name: by an invite or by a proxy's word; and who has one keeps it.
#[test]
fn a_name_brings_its_class_along() {
    let origin = Origin::start();
    let room = "mode = \"hold\"\nslots = [\"X\"]\nroster = true\nclass_header = \"x-class\"\n\
                user_header = \"x-user\"\n\
                classes = { presale = { skip = 1.0, rank = 2 }, fan = { skip = 0.5 } }";
    let gateway = Gateway::before(&origin)
        .room("game", room)
        .limits("join_per_user = \"1/m\"")
        .top("trusted_proxies = [\"127.0.0.1\"]")
        .start();
    let operator = Operator::new(&gateway);
    let named = |mut visitor: Visitor, name: &str, link: Option<&str>| {
        if let Some(link) = link {
            assert_eq!(visitor.open(link).status, 303);
        }
        let form = visitor.open("/");
        assert!(form.text().contains("What is your name?"), "{form:?}");
        let answer = visitor.submit("/.anteroom/join", &format!("name={name}&to=/"));
        (visitor, answer)
    };
    let class = |visitor: &mut Visitor| {
        let told = visitor.status().json();
        (told["class"].clone(), told["position"].clone())
    };
    let (mut ann, _) = named(Visitor::new(&gateway), "Ann", None);
    assert_eq!(class(&mut ann), (json!("general"), json!(1)));
    let made = operator.does("/v1/rooms/game/invites", &json!({ "class": "presale" }));
    let token = made["invites"][0]["token"].as_str().expect("a token").to_owned();
    let link = format!("/?anteroom_invite={token}");
    let (mut bob, answer) = named(Visitor::new(&gateway), "Bob", Some(&link));
    assert_eq!(answer.status, 303, "{answer:?}");
    assert_eq!(class(&mut bob), (json!("presale"), json!(1)));
    assert_eq!(bob.tokens().len(), 1, "the invite is gone");
    assert_eq!(operator.see("/v1/rooms/game/invites")["invites"][0]["used"], 1);
    let (mut cid, _) = named(Visitor::new(&gateway), "Cid", Some(&link));
    assert_eq!(class(&mut cid), (json!("general"), json!(3)), "it is used up");
    let (mut dot, _) = named(Visitor::new(&gateway).with("X-Class", "fan"), "Dot", None);
    assert_eq!(class(&mut dot).0, "fan");

    // Whoever has a name has it with their place: neither is given up, and there is no second form.
    let made = operator.does("/v1/rooms/game/invites", &json!({ "class": "presale" }));
    let token = made["invites"][0]["token"].as_str().expect("a token");
    ann.open(&format!("/?anteroom_invite={token}"));
    let page = ann.open("/");
    assert_eq!(page.state().as_deref(), Some("waiting"), "{page:?}");
    assert!(!page.text().contains("What is your name?"), "{page:?}");

    // Users are counted by the word of a proxy, as they are where there are no names.
    let user = || Visitor::new(&gateway).with("X-User", "usr_1");
    assert_eq!(named(user(), "Eve", None).1.status, 303);
    assert_eq!(named(user(), "Eva", None).1.status, 429);
}

/// An app that waits is told why its invite is not used; it is after it gave its place up.
#[test]
fn an_app_that_waits_keeps_its_place_and_its_invite() {
    let (_origin, gateway, operator) = start();
    let app = |call: &str, body: Value| {
        gateway.connect().ask(&Request::call(&format!("/.anteroom/v1/queue/{call}"), &body)).json()
    };
    app("join", json!({ "event_id": "sale", "device_id": "d0" }));
    let made = invite(&operator, &json!({ "class": "presale" }));
    let plain = json!({ "event_id": "sale", "device_id": "d1" });
    let invited = json!({ "event_id": "sale", "device_id": "d1", "invite": made["token"] });
    let first = app("join", plain);
    let told = app("join", invited.clone());
    assert_eq!((&told["queue_id"], &told["class"]), (&first["queue_id"], &json!("general")));
    assert_eq!(
        (&told["class_requested"], &told["class_reason"]),
        (&json!("presale"), &json!("already_waiting"))
    );
    assert_eq!(operator.see("/v1/rooms/sale/invites")["invites"], json!([]), "it is not used");
    app("leave", json!({ "queue_id": first["queue_id"] }));
    let told = app("join", invited.clone());
    assert_eq!((&told["class"], &told["position"]), (&json!("presale"), &json!(1)), "{told}");
    assert_eq!(told.get("class_reason"), None, "{told}");
    assert_eq!(app("join", invited).get("class_reason"), None, "it has what it asks for");
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
    // Nor is it where the same device joins again with it.
    let again = user("d1");
    let (_, claims) = crate::support::forge::read(again["queue_id"].as_str().expect("a ticket"));
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
