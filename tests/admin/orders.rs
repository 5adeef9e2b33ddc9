//! Orders: settings that change while a room runs, once each, on every node, and written down.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{becomes, held, join, poll};
use crate::support::operator::{ADMIN, OPERATOR, VIEWER};
use crate::support::redis::RedisServer;
use crate::support::{Config, Gateway, Operator, Origin, Request, eventually, within};

fn patch(operator: &Operator, body: &Value) -> Value {
    let response = operator.send(patching(body));
    assert_eq!(response.status, 200, "{response:?}");
    response.json()
}

fn patching(body: &Value) -> Request {
    let call = Request::call("/v1/rooms/sale", body);
    Request { method: "PATCH".to_owned(), ..call }
}

/// An order under a key.
fn once(operator: &Operator, path: &str, key: &str, body: &Value) -> crate::support::Response {
    operator.send(Request::call(path, body).with("Idempotency-Key", key))
}

#[test]
fn settings_change_while_it_runs_and_are_taken_back() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin)
        .room(
            "sale",
            "mode = \"hold\"\nrate = \"2/s\"\nmax_active = 10\npage = { message = \"Hello\" }",
        )
        .start();
    let operator = Operator::with_key(&gateway, OPERATOR);
    assert_eq!(operator.see("/v1/rooms/sale")["message"], "Hello");
    let room = patch(
        &operator,
        &json!({ "rate": "8/s", "max_active": 20, "claim_window": "3m", "session_idle": 90 }),
    );
    assert_eq!((&room["rate_set"], &room["max_active"]), (&json!(8), &json!(20)), "{room:#}");
    assert_eq!(
        (&room["claim_window_seconds"], &room["session_idle_seconds"]),
        (&json!(180), &json!(90))
    );
    assert_eq!(room["overrides"]["rate"], json!({ "value": "8/s", "until": null }));
    assert_eq!(room["overrides"]["claim_window"]["value"], "3m");
    let ticket = &join(&gateway, "sale", 1)[0];
    let told = "Back at \"ten\" <b>& so</b>";
    operator.does("/v1/rooms/sale/message", &json!({ "text": told }));
    assert_eq!(poll(&gateway, ticket)["message"], told);
    let page = gateway.connect().ask(&Request::get("/").by_browser());
    assert!(
        page.text().contains("Back at &#34;ten&#34; &#60;b&#62;")
            || page.text().contains("&lt;b&gt;"),
        "{}",
        page.text()
    );
    let room = patch(&operator, &json!({ "rate": null, "max_active": null, "message": null }));
    assert_eq!((&room["rate_set"], &room["max_active"]), (&json!(2), &json!(10)));
    assert_eq!(room["message"], "Hello");
    assert_eq!(room["overrides"].as_object().expect("an object").len(), 2, "{room:#}");
    let drained = operator.does("/v1/rooms/sale/drain", &json!({}));
    assert_eq!(drained["mode"], "drain");
    let refused =
        gateway.connect().ask(&Request::call("/.anteroom/v1/join", &json!({ "event_id": "sale" })));
    assert_eq!(refused.status, 503);
}

#[test]
fn what_can_not_be_set_is_refused_and_nothing_changes() {
    let origin = Origin::start();
    let gateway = held(&origin);
    let operator = Operator::with_key(&gateway, OPERATOR);
    for (body, word) in [
        (json!({}), "nothing"),
        (json!({ "rate": "5" }), "rate"),
        (json!({ "rate": "-1/s" }), "rate"),
        (json!({ "rate": [] }), "text or a number"),
        (json!({ "max_active": 0 }), "max_active"),
        (json!({ "mode": "open" }), "expected one of"),
        (json!({ "heartbeat_timeout": "1s" }), "heartbeat_timeout"),
        (json!({ "session_max": "90d" }), "session_max"),
        (json!({ "burst": 5 }), "burst"),
        (json!({ "message": "x".repeat(501) }), "message"),
        (json!({ "webhook_url": "http://127.0.0.1:1/" }), "webhook_url"),
        (json!({ "colour": "red" }), "colour"),
    ] {
        let refused = operator.send(patching(&body));
        assert_eq!(refused.status, 400, "{body}: {refused:?}");
        assert!(refused.text().contains(word), "{body}: {}", refused.text());
    }
    let room = operator.see("/v1/rooms/sale");
    assert_eq!((&room["overrides"], &room["mode"]), (&json!({}), &json!("hold")));
    let viewer = Operator::with_key(&gateway, VIEWER);
    assert_eq!(viewer.send(patching(&json!({ "max_active": 3 }))).status, 403);
}

/// Alone each of them could be set in some room.
#[test]
fn what_does_not_go_with_the_rest_is_refused() {
    let origin = Origin::start();
    let game = "slots = [\"X\", \"O\"]\nmax_waiting = 100\nroster = true";
    let gateway = Gateway::before(&origin).room("sale", game).start();
    let operator = Operator::with_key(&gateway, OPERATOR);
    for (body, word) in [
        (json!({ "max_active": 50 }), "no more seats than slots"),
        (json!({ "max_waiting": 100_000 }), "everybody is shown everybody's name"),
    ] {
        let refused = operator.send(patching(&body));
        assert_eq!(refused.status, 400, "{body}: {refused:?}");
        assert!(refused.text().contains(word), "{body}: {}", refused.text());
    }
    assert_eq!(operator.see("/v1/rooms/sale")["overrides"], json!({}));
    assert_eq!(patch(&operator, &json!({ "max_active": 1 }))["max_active"], 1);
}

#[test]
fn a_boost_ends_by_itself() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "rate = \"1/h\"\nburst = 1").start();
    let operator = Operator::with_key(&gateway, OPERATOR);
    let room = operator.does("/v1/rooms/sale/boost", &json!({ "rate": "50/s", "seconds": 1 }));
    assert_eq!(room["rate_set"], 50, "{room:#}");
    assert!(room["overrides"]["boost"]["until"].is_string());
    becomes(&operator, "sale", |room| room["overrides"] == json!({}));
    assert!(operator.see("/v1/rooms/sale")["rate_set"].as_f64().is_some_and(|rate| rate < 0.001));
    for bad in [json!({ "rate": "50/s", "seconds": 90_000 }), json!({ "rate": "x", "seconds": 5 })]
    {
        assert_eq!(operator.post("/v1/rooms/sale/boost", &bad).status, 400, "{bad}");
    }
}

#[test]
fn bypass_lets_everybody_in_and_closed_nobody() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "rate = 0\nmax_active = 1").start();
    let operator = Operator::with_key(&gateway, OPERATOR);
    let waiting = join(&gateway, "sale", 3);
    assert_eq!(poll(&gateway, &waiting[2])["status"], "waiting");
    patch(&operator, &json!({ "mode": "bypass" }));
    for ticket in &waiting {
        eventually("they are in", || (poll(&gateway, ticket)["status"] != "waiting").then_some(()));
    }
    assert!(gateway.connect().ask(&Request::get("/").by_browser()).is_from_origin());
    patch(&operator, &json!({ "mode": null }));
    let late = &join(&gateway, "sale", 1)[0];
    assert_eq!(poll(&gateway, late)["status"], "waiting");
    patch(&operator, &json!({ "mode": "closed" }));
    let newcomer = Request::call(
        "/.anteroom/v1/queue/join",
        &json!({ "event_id": "sale", "device_id": "one-more" }),
    );
    eventually("nobody new is taken", || {
        let refused = gateway.connect().ask(&newcomer);
        (refused.status == 503 && refused.code() == "queue_disabled").then_some(())
    });
    let page = gateway.connect().ask(&Request::get("/").by_browser());
    assert!(!page.is_from_origin() && page.header("set-cookie").is_none(), "{page:?}");
    assert_eq!(poll(&gateway, late)["status"], "waiting", "who waits keeps their place");
    patch(&operator, &json!({ "mode": null }));
    eventually("newcomers are taken again", || {
        (gateway.connect().ask(&newcomer).status == 200).then_some(())
    });
}

#[test]
fn an_order_that_comes_again_is_carried_out_once() {
    let origin = Origin::start();
    let gateway = held(&origin);
    let operator = Operator::with_key(&gateway, OPERATOR);
    join(&gateway, "sale", 10);
    let release = json!({ "count": 2 });
    let first = once(&operator, "/v1/rooms/sale/release", "k-1", &release).json();
    assert_eq!(first["released"], 2);
    for _ in 0..3 {
        let again = once(&operator, "/v1/rooms/sale/release", "k-1", &release);
        assert_eq!((again.status, &again.json()["released"]), (200, &json!(2)));
        assert_eq!(again.json()["called"], first["called"], "the same are named");
    }
    assert_eq!(operator.see("/v1/rooms/sale")["released_total"], 2);
    let other = once(&operator, "/v1/rooms/sale/release", "k-1", &json!({ "count": 3 }));
    assert_eq!((other.status, other.code().as_str()), (409, "conflict"));
    let admin = Operator::with_key(&gateway, ADMIN);
    let theirs = once(&admin, "/v1/rooms/sale/release", "k-1", &release).json();
    assert_eq!(theirs["released"], 2, "another's key is another key");
    let revoke = json!({ "visitor": "9" });
    for _ in 0..2 {
        let revoked = once(&operator, "/v1/rooms/sale/revoke", "k-2", &revoke).json();
        assert_eq!(revoked["revoked"], true);
    }
    let long = "x".repeat(201);
    for bad in ["", long.as_str()] {
        assert_eq!(once(&operator, "/v1/rooms/sale/release", bad, &release).status, 400);
    }
}

#[test]
fn the_book_says_who_did_what_and_what_was_before() {
    let origin = Origin::start();
    let mut gateway = Gateway::before(&origin)
        .room("sale", "mode = \"hold\"").room("acme/sale", "hosts = [\"acme.test\"]\nmode = \"hold\"")
        .admin_key("name = \"theirs\", key = \"a-key-of-a-tenant-that-is-long-enough\", role = \"operator\", tenant = \"acme\"")
        .embedded().start();
    let (operator, admin) = (Operator::with_key(&gateway, OPERATOR), Operator::new(&gateway));
    join(&gateway, "sale", 3);
    patch(&operator, &json!({ "max_active": 5 }));
    patch(&operator, &json!({ "max_active": 6 }));
    operator.does("/v1/rooms/sale/release", &json!({ "count": 2 }));
    operator.does("/v1/rooms/sale/pause", &json!({}));
    admin.does("/v1/reload", &json!({}));
    let theirs = Operator::with_key(&gateway, "a-key-of-a-tenant-that-is-long-enough");
    theirs.does("/v1/rooms/sale/pause", &json!({}));
    let told = admin.see("/v1/audit?room=sale");
    let entries = told["entries"].as_array().expect("a list");
    let actions: Vec<&str> = entries.iter().filter_map(|entry| entry["action"].as_str()).collect();
    assert_eq!(actions, ["pause", "release", "set", "set", "configure"], "{told:#}");
    assert_eq!(
        (&entries[0]["admin_id"], &entries[0]["role"]),
        (&json!("operator"), &json!("operator"))
    );
    assert_eq!(entries[0]["result"], json!({ "from": false, "to": true }));
    assert_eq!(entries[1]["result"], json!({ "released": 2, "after": 0, "upto": 2 }));
    assert_eq!(entries[2]["parameters"], json!({ "max_active": 6 }));
    assert_eq!(entries[2]["result"], json!({ "from": { "max_active": 5 } }));
    assert_eq!(entries[3]["result"], json!({ "from": { "max_active": null } }));
    let older = admin.see(&format!("/v1/audit?room=sale&limit=2&before={}", entries[1]["id"]));
    assert_eq!(older["entries"][0]["id"], entries[2]["id"]);
    let all = admin.see("/v1/audit");
    let all = all["entries"].as_array().expect("a list");
    assert!(
        all.iter().any(|entry| entry["action"] == "reload" && entry["event_id"].is_null()),
        "{all:#?}"
    );
    assert!(all.iter().all(|entry| entry["tenant_id"] == ""));
    let seen = theirs.see("/v1/audit");
    let seen = seen["entries"].as_array().expect("a list");
    assert!(
        !seen.is_empty() && seen.iter().all(|entry| entry["event_id"] == "acme/sale"),
        "{seen:#?}"
    );
    gateway.stop();
    gateway.restart();
    let admin = Operator::new(&gateway);
    becomes(&admin, "sale", |room| room["paused"] == true && room["max_active"] == 6);
    let after = admin.see("/v1/audit?room=sale");
    assert_eq!(after["entries"].as_array().map(Vec::len), Some(5), "{after:#}");
}

/// Two nodes on one Redis: a change on one is seen on the other within a second, and is still there after both have restarted.
#[test]
fn what_is_changed_on_one_node_is_so_on_all() {
    let redis = RedisServer::start();
    let origin = Origin::start();
    let node = || {
        let config = Config::new(&[origin.address().to_string()]);
        Gateway::start(config.room("sale", "mode = \"hold\"").store_at(&redis.url()))
    };
    let mut nodes = [node(), node()];
    let [one, other] = [&nodes[0], &nodes[1]].map(|node| Operator::with_key(node, OPERATOR));
    becomes(&one, "sale", |room| {
        room["store"] == "connected" && room["view_age_seconds"].is_number()
    });
    becomes(&other, "sale", |room| room["view_age_seconds"].is_number());
    let tickets = join(&nodes[0], "sale", 6);
    for nth in 0..5 {
        let asked = Instant::now();
        one.does("/v1/rooms/sale/message", &json!({ "text": format!("the {nth}th") }));
        within(Duration::from_secs(1), "the other node knows", || {
            (other.see("/v1/rooms/sale")["message"] == format!("the {nth}th")).then_some(())
        });
        assert!(asked.elapsed() < Duration::from_secs(2));
    }
    let key = |operator: &Operator| {
        once(operator, "/v1/rooms/sale/release", "same", &json!({ "count": 2 })).json()
    };
    assert_eq!(key(&one)["called"], key(&other)["called"], "a retry on another node");
    assert_eq!(one.see("/v1/rooms/sale")["released_total"], 2);
    let [two, six] = std::thread::scope(|scope| {
        let asks = [(&one, 200), (&other, 600)].map(|(operator, most)| {
            let name = if most == 200 { "max_active" } else { "max_waiting" };
            scope.spawn(move || patch(operator, &json!({ name: most })))
        });
        asks.map(|ask| ask.join().expect("no panic"))
    });
    drop((two, six));
    let both = |room: &Value| room["max_active"] == 200 && room["max_waiting"] == 600;
    becomes(&one, "sale", both);
    becomes(&other, "sale", both);
    let known = one.see("/v1/nodes");
    assert_eq!(known["nodes"].as_array().map(Vec::len), Some(2), "{known:#}");
    assert_eq!(
        known["nodes"].as_array().into_iter().flatten().filter(|node| node["this"] == true).count(),
        1
    );
    let config = json!({ "event_id": "made", "release_rate_per_second": 3 });
    Operator::new(&nodes[0]).does("/v1/admin/config", &config);
    within(Duration::from_secs(3), "the room is on the other node", || {
        (other.get("/v1/rooms/made").status == 200).then_some(())
    });
    for node in &mut nodes {
        node.stop();
        node.restart();
    }
    let other = Operator::with_key(&nodes[1], OPERATOR);
    becomes(&other, "sale", both);
    assert_eq!(poll(&nodes[1], &tickets[0])["status"], "admitted");
    within(Duration::from_secs(10), "the room that was made is back", || {
        let found = other.get("/v1/rooms/made");
        (found.status == 200 && found.json()["rate_set"] == 3).then_some(())
    });
}

/// The next thing a stream of a place's status says.
fn next_status(stream: &mut crate::support::Connection) -> Value {
    loop {
        let text = String::from_utf8(stream.read_chunk()).expect("UTF-8");
        if let Some(data) = text.lines().find_map(|line| line.strip_prefix("data: ")) {
            return serde_json::from_str(data).expect("JSON");
        }
    }
}

/// A release on one node calls a visitor who listens on another within a second, again and again.
#[test]
fn a_release_is_heard_on_every_node_within_a_second() {
    let (redis, origin) = (RedisServer::start(), Origin::start());
    let node = || {
        let config = Config::new(&[origin.address().to_string()]);
        Gateway::start(config.room("sale", "mode = \"hold\"").store_at(&redis.url()))
    };
    let (one, other) = (node(), node());
    let operator = Operator::with_key(&one, OPERATOR);
    becomes(&operator, "sale", |room| room["view_age_seconds"].is_number());
    becomes(&Operator::with_key(&other, OPERATOR), "sale", |room| {
        room["view_age_seconds"].is_number()
    });
    for ticket in join(&one, "sale", 5) {
        let mut stream = other.connect();
        let target = format!("/.anteroom/v1/queue/events?queue_id={ticket}");
        stream.send(&Request::get(&target).with("Accept", "text/event-stream").bytes());
        assert_eq!(stream.read_head().status, 200);
        assert_eq!(next_status(&mut stream)["status"], "waiting");
        let released = Instant::now();
        operator.does("/v1/rooms/sale/release", &json!({ "count": 1 }));
        let told = loop {
            let told = next_status(&mut stream);
            if told["status"] != "waiting" {
                break told;
            }
        };
        let took = released.elapsed();
        assert!(took < Duration::from_secs(1), "{took:?}");
        assert_eq!(told["status"], "admitted", "{told:#}");
        assert!(told["token"].is_string(), "in, with a pass");
    }
}

/// An invite is all that was said of it: under one key it is one order, and another one is refused.
#[test]
fn an_invite_under_a_key_is_for_one_user_and_one_address() {
    let origin = Origin::start();
    let room = "mode = \"hold\"\nclasses = { presale = { skip = 1.0 } }";
    let gateway = Gateway::before(&origin).room("sale", room).start();
    let operator = Operator::new(&gateway);
    let make = |user: Value, url: Value| {
        let body = json!({ "class": "presale", "user_id": user, "url": url });
        once(&operator, "/v1/rooms/sale/invites", "key-1", &body)
    };
    let first = make(json!("acme"), json!("/drop"));
    assert_eq!(first.status, 200, "{first:?}");
    let again = make(json!("acme"), json!("/drop"));
    assert_eq!(again.json()["invites"][0]["id"], first.json()["invites"][0]["id"]);
    for (user, url) in [("emca", "/drop"), ("acme", "/other")] {
        let other = make(json!(user), json!(url));
        assert_eq!((other.status, other.json().get("invites")), (409, None), "{user} {url}");
    }
    assert_eq!(make(Value::Null, json!("/drop")).status, 409);
    let written = &operator.see("/v1/audit?room=sale")["entries"][0]["parameters"];
    assert_eq!((&written["user_id"], &written["url"]), (&json!("acme"), &json!("/drop")));
}
