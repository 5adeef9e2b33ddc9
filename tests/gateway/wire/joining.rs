//! `POST queue/join`: 200, 400, 409, 429, 503; and the same place for whoever asks twice.

use std::time::Duration;

use serde_json::json;

use super::{assert_time, call, join, room, status};
use crate::support::{Config, Gateway, Origin, Request};

#[test]
fn a_join_says_where_one_stands() {
    let (_origin, gateway) = room("mode = \"hold\"");
    let body = json!({
        "event_id": "sale", "device_id": "dev_abc123", "user_id": "usr_xyz789",
        "priority_bucket": "general", "metadata": { "campaign": "spring" },
    });
    let answer = call(&gateway, "queue/join", &body);
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert!(answer.header("cache-control").is_some_and(|value| value.contains("no-store")));
    assert_eq!(answer.header("set-cookie"), None, "an app keeps it itself");
    assert_eq!(answer.header("access-control-allow-origin"), None);
    let said = answer.json();
    assert_eq!((&said["position"], &said["status"]), (&1.into(), &"waiting".into()), "{said}");
    assert!(said["queue_id"].as_str().is_some_and(|id| id.split('.').count() == 3), "{said}");
    assert!(said["queue_ref"].as_str().is_some_and(|name| name.starts_with("q_")), "{said}");
    assert!(said["estimated_wait_seconds"].is_u64(), "{said}");
    assert!(said["next_poll_seconds"].as_u64().is_some_and(|pause| pause >= 1), "{said}");
    assert_eq!((&said["position_label"], &said["waiting"]), (&"A-000001".into(), &1.into()));
    assert_time(&said["server_time"]);
    assert_time(&said["enqueued_at"]);
    let line = gateway.events("queue.created", 1).remove(0);
    assert_eq!(line["device_id"], "dev_abc123", "{line}");
    assert_eq!(line["user_id"], "usr_xyz789", "{line}");
    assert_eq!((&line["event_id"], &line["position"]), (&"sale".into(), &1.into()), "{line}");
    assert_eq!(line["queue_ref"], said["queue_ref"], "{line}");
    assert!(line.to_string().contains("spring"), "metadata is logged: {line}");
    let ticket = said["queue_id"].as_str().expect("a ticket");
    assert!(!gateway.log_contains(ticket), "and no ticket ever is");
}

#[test]
fn a_join_that_finds_room_is_let_in_at_once() {
    let (_origin, gateway) = room("max_active = 1");
    let said = join(&gateway, "d1").json();
    assert_eq!((&said["status"], &said["position"]), (&"admitted".into(), &0.into()), "{said}");
    assert!(said["token"].is_string() && said["queue_id"].is_string(), "{said}");
    assert_time(&said["expires_at"]);
    let line = gateway.events("admission.granted", 1).remove(0);
    assert!(
        line["token_hash"].is_string() && line["expires_at"].is_string()
            || line["expires_at"].is_u64(),
        "{line}"
    );
    assert!(!gateway.log_contains(said["token"].as_str().expect("a pass")));
    assert_eq!(join(&gateway, "d2").json()["status"], "waiting");
}

#[test]
fn what_cannot_be_a_join_is_400() {
    let (_origin, gateway) = room("mode = \"hold\"");
    let long = "x".repeat(200);
    let cases = [
        ("no event", json!({ "device_id": "d" }), "missing_event_id"),
        ("an empty event", json!({ "event_id": "", "device_id": "d" }), "missing_event_id"),
        ("another event", json!({ "event_id": "none", "device_id": "d" }), "unknown_event"),
        ("a number for an event", json!({ "event_id": 7, "device_id": "d" }), "invalid_event_id"),
        ("no device", json!({ "event_id": "sale" }), "missing_device_id"),
        (
            "a number for a device",
            json!({ "event_id": "sale", "device_id": 7 }),
            "invalid_device_id",
        ),
        ("a long device", json!({ "event_id": "sale", "device_id": long }), "invalid_device_id"),
        (
            "a broken device",
            json!({ "event_id": "sale", "device_id": "a\nb" }),
            "invalid_device_id",
        ),
        (
            "a list for metadata",
            json!({ "event_id": "sale", "device_id": "d", "metadata": [] }),
            "invalid_metadata",
        ),
        (
            "much metadata",
            json!({ "event_id": "sale", "device_id": "d", "metadata": { "a": "x".repeat(2_000) } }),
            "invalid_metadata",
        ),
        (
            "an unknown class",
            json!({ "event_id": "sale", "device_id": "d", "priority_bucket": "gold" }),
            "unknown_class",
        ),
    ];
    for (name, body, code) in cases {
        let answer = call(&gateway, "queue/join", &body);
        assert_eq!((answer.status, answer.code().as_str()), (400, code), "{name}: {answer:?}");
        assert!(answer.json()["error"]["message"].is_string(), "{name}");
    }
    for (name, body) in
        [("no JSON", "{"), ("a list", "[]"), ("twice", "{\"a\":1,\"a\":2}"), ("text", "hello")]
    {
        let request = Request::post("/.anteroom/v1/queue/join", body)
            .with("Content-Type", "application/json");
        let answer = gateway.connect().ask(&request);
        assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_json"), "{name}");
    }
    let differing =
        Request::call("/.anteroom/v1/queue/join", &json!({ "event_id": "sale", "device_id": "d" }))
            .with("X-Device-ID", "e");
    assert_eq!(gateway.connect().ask(&differing).code(), "invalid_device_id");
    assert_eq!(join(&gateway, "d").json()["position"], 1, "none of them took a number");
}

#[test]
fn headers_stand_for_fields() {
    let (_origin, gateway) = room("mode = \"hold\"");
    let request = Request::call("/.anteroom/v1/queue/join", &json!({ "event_id": "sale" }))
        .with("X-Device-ID", "phone")
        .with("X-User-ID", "ann");
    let said = gateway.connect().ask(&request).json();
    assert_eq!(said["position"], 1, "{said}");
    let body = json!({ "event_id": "sale", "device_id": "phone", "user_id": "ann" });
    let same = call(&gateway, "queue/join", &body).json();
    assert_eq!(same["queue_id"], said["queue_id"]);
    assert_eq!(same["position"], 1, "the same device: {same}");
}

#[test]
fn a_repeated_join_is_one_join_and_later_a_conflict_with_the_same_ticket() {
    let (_origin, gateway) = room("mode = \"hold\"");
    let first = join(&gateway, "d1").json();
    let again = join(&gateway, "d1");
    assert_eq!(again.status, 200, "within five seconds: {again:?}");
    assert_eq!(again.json()["queue_id"], first["queue_id"], "byte for byte");
    assert_eq!(join(&gateway, "d2").json()["position"], 2);
    // By the ticket itself, whoever asks.
    let bearer = format!("Bearer {}", first["queue_id"].as_str().expect("a ticket"));
    let request = Request::call(
        "/.anteroom/v1/queue/join",
        &json!({ "event_id": "sale", "device_id": "d1" }),
    )
    .with("Authorization", &bearer);
    assert_eq!(gateway.connect().ask(&request).json()["queue_id"], first["queue_id"]);
    std::thread::sleep(Duration::from_millis(5_100));
    let later = join(&gateway, "d1");
    assert_eq!((later.status, later.code().as_str()), (409, "already_in_queue"), "{later:?}");
    let later = later.json();
    assert_eq!((&later["queue_id"], &later["position"]), (&first["queue_id"], &1.into()));
    gateway.events("queue.idempotency_reuse", 3);
}

#[test]
fn who_only_knows_a_device_learns_no_ticket() {
    let origin = Origin::start();
    let plan = Gateway::before(&origin).room("sale", "mode = \"hold\"");
    let gateway = plan.top("trusted_proxies = [\"127.0.0.0/8\"]").start();
    let from = |address: &str, key: Option<&str>| {
        let body = json!({ "event_id": "sale", "device_id": "d1" });
        let request =
            Request::call("/.anteroom/v1/queue/join", &body).with("X-Forwarded-For", address);
        let request =
            key.into_iter().fold(request, |request, key| request.with("Idempotency-Key", key));
        gateway.connect().ask(&request)
    };
    let mine = from("203.0.113.5", Some("my key")).json();
    let stranger = from("198.51.100.7", None);
    assert_eq!(
        (stranger.status, stranger.code().as_str()),
        (409, "already_in_queue"),
        "{stranger:?}"
    );
    assert_eq!(stranger.json()["position"], 1);
    assert_eq!(stranger.json().get("queue_id"), None, "{stranger:?}");
    assert_eq!(from("198.51.100.7", Some("a guess")).json().get("queue_id"), None);
    assert_eq!(from("203.0.113.5", None).json()["queue_id"], mine["queue_id"], "the same address");
    assert_eq!(
        from("198.51.100.7", Some("my key")).json()["queue_id"],
        mine["queue_id"],
        "the same key"
    );
}

#[test]
fn an_idempotency_key_stands_for_a_device() {
    let (_origin, gateway) = room("mode = \"hold\"");
    let by_header = Request::call("/.anteroom/v1/queue/join", &json!({ "event_id": "sale" }))
        .with("Idempotency-Key", "k-1");
    let first = gateway.connect().ask(&by_header).json();
    assert_eq!(first["position"], 1, "{first}");
    assert_eq!(gateway.connect().ask(&by_header).json()["queue_id"], first["queue_id"]);
    let by_body = json!({ "event_id": "sale", "idempotencyKey": "k-1" });
    assert_eq!(call(&gateway, "queue/join", &by_body).json()["queue_id"], first["queue_id"]);
    let other = json!({ "event_id": "sale", "idempotencyKey": "k-2" });
    assert_eq!(call(&gateway, "queue/join", &other).json()["position"], 2);
}

#[test]
fn limits_say_when_to_try_again() {
    for (limit, text) in [
        ("join_per_device", "join_per_device = \"2/m\""),
        ("join_per_address", "join_per_address = \"2/m\""),
        ("join_per_user", "join_per_user = \"2/m\""),
    ] {
        let origin = Origin::start();
        let gateway = Gateway::before(&origin).room("sale", "mode = \"hold\"").limits(text).start();
        let ask = |n: usize| {
            let device = if limit == "join_per_device" { "d".to_owned() } else { format!("d{n}") };
            let body = json!({ "event_id": "sale", "device_id": device, "user_id": "u" });
            call(&gateway, "queue/join", &body)
        };
        let answers: Vec<_> = (0..4).map(ask).collect();
        let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
        assert_eq!(statuses, [200, 200, 429, 429], "{limit}");
        let refused = &answers[3];
        assert_eq!(refused.code(), "rate_limited", "{limit}");
        let wait: u64 =
            refused.header("retry-after").and_then(|value| value.parse().ok()).expect("seconds");
        // A window slides: what was done in it counts for a while after it.
        assert!((1..=120).contains(&wait), "{limit}: {wait}");
        let line = gateway.events("rate_limit.hit", 1).remove(0);
        assert_eq!(line["level"], "warn", "{line}");
        assert!(line.to_string().contains(limit), "{line}");
    }
}

/// Who has one address of IPv6 has as many as they like: the network counts.
#[test]
fn of_ipv6_a_whole_network_is_one_address() {
    let origin = Origin::start();
    let plan = Gateway::before(&origin).room("sale", "mode = \"hold\"");
    let plan = plan.limits("join_per_address = \"2/m\"");
    let gateway = plan.top("trusted_proxies = [\"127.0.0.0/8\"]").start();
    let join = |address: &str| {
        let body = json!({ "event_id": "sale", "device_id": address });
        let request = Request::call("/.anteroom/v1/queue/join", &body);
        gateway.connect().ask(&request.with("X-Forwarded-For", address)).status
    };
    assert_eq!(join("2001:db8:1:1::1"), 200);
    assert_eq!(join("2001:db8:1:1:ffff::2"), 200);
    assert_eq!(join("2001:db8:1:1:aaaa:bbbb:cccc:3"), 429, "the third of one network");
    assert_eq!(join("2001:db8:1:2::1"), 200, "the first of the next");
    assert_eq!([join("192.0.2.1"), join("192.0.2.2"), join("192.0.2.3")], [200; 3]);
}

#[test]
fn a_navigation_over_its_limit_gets_a_page_without_a_number_that_tries_again() {
    use crate::support::Visitor;
    let origin = Origin::start();
    let plan = Gateway::before(&origin).room("sale", "mode = \"hold\"");
    let gateway = plan.limits("join_per_address = \"2/m\"").start();
    for _ in 0..2 {
        assert_eq!(Visitor::new(&gateway).open("/").state().as_deref(), Some("waiting"));
    }
    let mut third = Visitor::new(&gateway);
    let page = third.open("/");
    assert_eq!((page.status, page.state().as_deref()), (429, Some("joining")), "{page:?}");
    assert!(page.header("retry-after").is_some());
    assert_eq!(third.token(), None);
}

#[test]
fn the_short_name_joins_too() {
    let (_origin, gateway) = room("mode = \"hold\"");
    let bare = gateway
        .connect()
        .ask(&Request::new("POST", "/.anteroom/v1/join").with("Content-Length", "0"));
    assert_eq!(bare.status, 200, "one room on this host, and nothing more to say: {bare:?}");
    let named = call(&gateway, "join", &json!({ "event_id": "sale", "device_id": "d" }));
    assert_eq!(named.json()["position"], 2, "{named:?}");
    let ticket = named.json()["queue_id"].as_str().expect("a ticket").to_owned();
    let target = format!("/.anteroom/v1/status?queue_id={ticket}");
    assert_eq!(gateway.connect().ask(&Request::get(&target)).json()["position"], 2);
    assert_eq!(status(&gateway, &ticket).json()["position"], 2);
    let bearer = Request::get("/.anteroom/v1/status");
    let bearer = bearer.with("Authorization", &format!("Bearer {ticket}"));
    assert_eq!(gateway.connect().ask(&bearer).json()["position"], 2);
}

#[test]
fn rooms_are_asked_on_their_own_hosts_and_all_of_them_at_the_apis() {
    let origin = Origin::start();
    let config = Config::new(&[origin.address().to_string()])
        .top("api_hosts = [\"queue.example\"]")
        .room("sale", "hosts = [\"shop.example\"]\nmode = \"hold\"")
        .room("gala", "hosts = [\"gala.example\"]\nmode = \"hold\"")
        .room("app", "hosts = []\nmode = \"hold\"");
    let gateway = Gateway::start(config);
    let join = |host: &str, path: &str, room: &str| {
        let body = json!({ "event_id": room, "device_id": format!("{host}{path}{room}") });
        gateway.connect().ask(&Request::call(path, &body).host(host)).status
    };
    let here = "/.anteroom/v1/queue/join";
    assert_eq!(join("shop.example", here, "sale"), 200);
    assert_eq!(join("shop.example", here, "gala"), 400, "of another host");
    assert_eq!(join("shop.example", here, "app"), 200, "of none");
    for room in ["sale", "gala", "app"] {
        assert_eq!(join("queue.example", "/v1/queue/join", room), 200, "{room}");
        assert_eq!(join("QUEUE.example:8080", "/v1/queue/join", room), 200, "{room}");
        assert_eq!(join("queue.example", here, room), 200, "{room}");
    }
    // By their short names, too.
    let body = json!({ "event_id": "gala", "device_id": "short" });
    let ask = |request: Request| gateway.connect().ask(&request.host("queue.example"));
    let joined = ask(Request::call("/v1/join", &body));
    assert_eq!(joined.status, 200, "{joined:?}");
    let bearer = format!("Bearer {}", joined.json()["queue_id"].as_str().expect("a ticket"));
    let status = ask(Request::get("/v1/status").with("Authorization", &bearer));
    assert_eq!(status.json()["event_id"], "gala", "{status:?}");
    assert!(origin.seen().is_empty());
    // Elsewhere `/v1` is the site's.
    let answer = gateway.connect().ask(&Request::get("/v1/queue/join").host("shop.example"));
    assert_eq!(answer.status, 503, "guarded like any other path: {answer:?}");
    let answer = gateway.connect().ask(&Request::get("/anything").host("queue.example"));
    assert_eq!(answer.status, 421, "{answer:?}");
}
