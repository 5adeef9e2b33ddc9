//! `queue/join`: the seed's table row by row, and who gets a place a second time.

use super::*;
use serde_json::json;

#[test]
fn a_join_answers_field_by_field() {
    house(vec![room("sale")], async |house| {
        house.join("sale", "d0").await;
        let body = r#"{"event_id":"sale","device_id":"dev_abc123","user_id":"usr_xyz789","priority_bucket":"general","metadata":{"campaign":"x"},"unknown":[1]}"#;
        let told = house.ask(&post("queue/join"), body).await;
        assert_eq!(told.status, 200);
        let expected = json!({
            "event_id": "sale", "position": 2, "position_label": "A-000002", "waiting": 2, "status": "waiting",
            "estimated_wait_seconds": 2, "eta": null, "message": "Doors at \"nine\"",
            "paused": false, "class": "general", "enqueued_at": "2027-01-15T08:00:00Z",
        });
        for (field, value) in expected.as_object().expect("an object") {
            assert_eq!(&told.body[field], value, "{field} in {}", told.body);
        }
        assert_eq!(told.text("queue_id").split('.').count(), 3, "a signed ticket");
        assert!(told.text("queue_ref").starts_with("q_"));
        assert!((1..=30).contains(&told.body["next_poll_seconds"].as_u64().expect("a number")));
        assert!(told.body.get("token").is_none());
        let number = house
            .entrance("sale")
            .keys
            .number_of(house.entrance("sale").room.view().counts().epoch, told.text("queue_ref"));
        assert_eq!(number, Some(2));
    });
}

#[test]
fn a_join_that_finds_room_comes_in_at_once() {
    house(vec![open("sale", Some(1))], async |house| {
        let told = house.join("sale", "d1").await;
        assert_eq!(told.text("status"), "admitted");
        assert_eq!((&told.body["position"], &told.body["eta"]), (&json!(0), &Value::Null));
        assert_eq!(told.text("expires_at"), "2027-01-15T08:05:00Z", "an app has the full session");
        let checked = house
            .ask(
                &post("admission/verify"),
                &json!({"event_id": "sale", "token": told.text("token")}).to_string(),
            )
            .await;
        assert_eq!(checked.body["valid"], true);
        assert_eq!(checked.body["device_id"], "d1");
        assert_eq!(house.join("sale", "d2").await.text("status"), "waiting");
    });
}

#[test]
fn what_a_join_must_bring() {
    house(vec![room("sale")], async |house| {
        for (body, code) in [
            ("{", "invalid_json"),
            ("[]", "invalid_json"),
            (r#"{"event_id":"sale","device_id":"a","device_id":"b"}"#, "invalid_json"),
            ("", "missing_event_id"),
            (r#"{"device_id":"d"}"#, "missing_event_id"),
            (r#"{"event_id":null,"device_id":"d"}"#, "missing_event_id"),
            (r#"{"event_id":7,"device_id":"d"}"#, "invalid_event_id"),
            (r#"{"event_id":"other","device_id":"d"}"#, "unknown_event"),
            (r#"{"event_id":"sale"}"#, "missing_device_id"),
            (r#"{"event_id":"sale","device_id":""}"#, "missing_device_id"),
            (r#"{"event_id":"sale","device_id":["d"]}"#, "invalid_device_id"),
            (r#"{"event_id":"sale","device_id":"a\u0007"}"#, "invalid_device_id"),
            (r#"{"event_id":"sale","device_id":"d","user_id":1}"#, "invalid_user_id"),
            (
                r#"{"event_id":"sale","device_id":"d","idempotencyKey":{}}"#,
                "invalid_idempotency_key",
            ),
            (r#"{"event_id":"sale","device_id":"d","metadata":[]}"#, "invalid_metadata"),
            (r#"{"event_id":"sale","device_id":"d","priority_bucket":"vip"}"#, "unknown_class"),
            (r#"{"event_id":"sale","device_id":"d","priority_bucket":4}"#, "unknown_class"),
            (r#"{"event_id":"sale","device_id":"d","priority_bucket":-1}"#, "unknown_class"),
            (
                r#"{"event_id":"sale","device_id":"d","priority_bucket":{}}"#,
                "invalid_priority_bucket",
            ),
        ] {
            house.ask(&post("queue/join"), body).await.is(400, code);
        }
        let long = json!({"event_id": "sale", "device_id": "d".repeat(129)});
        house.ask(&post("queue/join"), &long.to_string()).await.is(400, "invalid_device_id");
        let fat =
            json!({"event_id": "sale", "device_id": "d", "metadata": {"x": "y".repeat(1_024)}});
        house.ask(&post("queue/join"), &fat.to_string()).await.is(400, "invalid_metadata");
        let wrong = house.ask(&post("queue/join"), r#"{"event_id":"sale","device_id":1}"#).await;
        assert!(
            wrong.body["error"]["message"].as_str().unwrap().contains("device_id"),
            "names the field"
        );
        assert_eq!(house.entrance("sale").room.view().counts().issued, 0, "nobody got a number");
        for class in [json!("general"), json!("presale"), json!("partner"), json!(0), json!(3)] {
            let body = json!({"event_id": "sale", "device_id": class.to_string(), "priority_bucket": class});
            let told = house.ask(&post("queue/join"), &body.to_string()).await;
            assert_eq!((told.status, told.text("class")), (200, "general"));
        }
    });
}

#[test]
fn ids_may_come_as_headers_but_not_twice_unlike() {
    house(vec![room("sale")], async |house| {
        let head = post("queue/join").with("x-device-id", "d1").with("x-user-id", "u1");
        let told = house.ask(&head, r#"{"event_id":"sale"}"#).await;
        assert_eq!(told.status, 200);
        let same = house.ask(&head, r#"{"event_id":"sale","device_id":"d1"}"#).await;
        assert_eq!(same.text("queue_id"), told.text("queue_id"));
        house
            .ask(&head, r#"{"event_id":"sale","device_id":"d2"}"#)
            .await
            .is(400, "invalid_device_id");
        house.ask(&head, r#"{"event_id":"sale","user_id":"u2"}"#).await.is(400, "invalid_user_id");
        let keyed = post("queue/join").with("idempotency-key", "k1");
        let body = r#"{"event_id":"sale","idempotencyKey":"k2"}"#;
        house.ask(&keyed, body).await.is(400, "invalid_idempotency_key");
        let odd = post("queue/join").with("x-device-id", vec![0xff]);
        house.ask(&odd, r#"{"event_id":"sale"}"#).await.is(400, "invalid_device_id");
    });
}

#[test]
fn the_same_device_again_has_the_same_ticket() {
    house(vec![room("sale")], async |house| {
        let body = r#"{"event_id":"sale","device_id":"d1","user_id":"u1"}"#;
        let first = house.ask(&post("queue/join"), body).await;
        let soon = house.ask(&post("queue/join"), body).await;
        assert_eq!(soon.status, 200, "within five seconds it is one join");
        assert_eq!(soon.text("queue_id"), first.text("queue_id"), "byte for byte");
        house.later(6).await;
        let late = house.ask(&post("queue/join"), body).await;
        late.is(409, "already_in_queue");
        assert_eq!(late.text("queue_id"), first.text("queue_id"));
        assert_eq!((&late.body["position"], late.text("status")), (&json!(1), "waiting"));
    });
}

#[test]
fn the_same_device_as_another_user_learns_the_position_and_no_more() {
    house(vec![room("sale")], async |house| {
        let keyed = post("queue/join").with("idempotency-key", "k1");
        let first =
            house.ask(&keyed, r#"{"event_id":"sale","device_id":"d1","user_id":"u1"}"#).await;
        for body in [
            r#"{"event_id":"sale","device_id":"d1","user_id":"u2"}"#,
            r#"{"event_id":"sale","device_id":"d1"}"#,
        ] {
            let other = house.ask(&keyed, body).await;
            other.is(409, "already_in_queue");
            assert_eq!((&other.body["position"], other.text("status")), (&json!(1), "waiting"));
            assert!(other.body.get("queue_id").is_none() && other.body.get("queue_ref").is_none());
        }
        let same =
            house.ask(&keyed, r#"{"event_id":"sale","device_id":"d1","user_id":"u1"}"#).await;
        assert_eq!((same.status, same.text("queue_id")), (200, first.text("queue_id")));
        let body = r#"{"event_id":"sale","device_id":"d1","user_id":"u2"}"#;
        let bearer =
            post("queue/join").with("authorization", format!("Bearer {}", first.text("queue_id")));
        let shown = house.ask(&bearer, body).await;
        assert_eq!((shown.status, shown.text("queue_id")), (200, first.text("queue_id")));
    });
}

#[test]
fn an_idempotency_key_is_one_users() {
    house(vec![room("sale")], async |house| {
        let keyed = post("queue/join").with("idempotency-key", "k1");
        let first = house.ask(&keyed, r#"{"event_id":"sale","user_id":"u1"}"#).await;
        let other = house.ask(&keyed, r#"{"event_id":"sale","user_id":"u2"}"#).await;
        other.is(409, "already_in_queue");
        assert!(other.body.get("queue_id").is_none());
        let same = house.ask(&keyed, r#"{"event_id":"sale","user_id":"u1"}"#).await;
        assert_eq!((same.status, same.text("queue_id")), (200, first.text("queue_id")));
    });
}

#[test]
fn a_device_id_alone_proves_nothing() {
    house(vec![room("sale")], async |house| {
        let body = br#"{"event_id":"sale","device_id":"d1"}"#;
        let keyed = post("queue/join").with("idempotency-key", "k1");
        let first = house.ask_from(client("192.0.2.1"), &keyed, body).await;
        assert_eq!(first.status, 200);
        let ticket = first.text("queue_id");
        let elsewhere = client("198.51.100.7");
        let stranger = house.ask_from(elsewhere, &post("queue/join"), body).await;
        stranger.is(409, "already_in_queue");
        assert_eq!(stranger.body["position"], 1);
        assert!(
            stranger.body.get("queue_id").is_none() && stranger.body.get("queue_ref").is_none()
        );
        let same_key = house.ask_from(elsewhere, &keyed, body).await;
        assert_eq!((same_key.status, same_key.text("queue_id")), (200, ticket));
        let bearer = post("queue/join").with("authorization", format!("Bearer {ticket}"));
        let shown = house.ask_from(elsewhere, &bearer, body).await;
        assert_eq!((shown.status, shown.text("queue_id")), (200, ticket));
        let forged = post("queue/join").with("authorization", format!("Bearer {ticket}x"));
        house.ask_from(elsewhere, &forged, body).await.is(409, "already_in_queue");
    });
}

#[test]
fn an_idempotency_key_stands_for_a_device() {
    house(vec![room("sale")], async |house| {
        let body = r#"{"event_id":"sale","idempotencyKey":"k1"}"#;
        let first = house.ask(&post("queue/join"), body).await;
        assert_eq!(first.status, 200);
        let head = post("queue/join").with("idempotency-key", "k1");
        let again = house.ask_from(client("203.0.113.9"), &head, br#"{"event_id":"sale"}"#).await;
        assert_eq!((again.status, again.text("queue_id")), (200, first.text("queue_id")));
        let device = house.join("sale", "k1").await;
        assert_ne!(device.text("queue_id"), first.text("queue_id"), "a device is no key");
    });
}

#[test]
fn a_browser_in_line_joins_no_second_time() {
    house(vec![room("sale")], async |house| {
        let (cookie, proof) = house.cookie("sale").await;
        let body = r#"{"event_id":"sale","device_id":"d1"}"#;
        let told =
            house.ask(&post("queue/join").with("cookie", &*cookie).of_our_page(), body).await;
        assert_eq!(told.status, 200);
        assert!(cookie.ends_with(told.text("queue_id")));
        // From a neighbour the cookie says nothing, and this is somebody new; from another site nobody joins.
        let from = |site: &'static str| {
            post("queue/join").with("cookie", &*cookie).with("sec-fetch-site", site)
        };
        let told = house.ask(&from("same-site"), body).await;
        assert_eq!(told.body["position"], proof.number + 1);
        house.ask(&from("cross-site"), body).await.is(403, "cross_site");
    });
}

#[test]
fn whoever_is_admitted_gets_the_pass_by_joining_again() {
    house(vec![room("sale")], async |house| {
        house.join("sale", "d1").await;
        house.release(1).await;
        let again = house.join("sale", "d1").await;
        assert_eq!(again.text("status"), "admitted");
        let token = again.text("token").to_owned();
        house.later(6).await;
        let body = r#"{"event_id":"sale","device_id":"d1"}"#;
        let late = house.ask(&post("queue/join"), body).await;
        assert_eq!((late.status, late.text("token")), (409, &*token));
    });
}

#[test]
fn whose_turn_is_over_joins_anew() {
    house(vec![room("sale")], async |house| {
        let first = house.join("sale", "d1").await;
        house
            .ask(&post("queue/leave"), &json!({"queue_id": first.text("queue_id")}).to_string())
            .await;
        let second = house.join("sale", "d1").await;
        assert_ne!(first.text("queue_id"), second.text("queue_id"));
    });
}

#[test]
fn too_many_joins() {
    let mut sale = room("sale");
    sale.line.join_limits =
        vec![limit(Subject::Device, 5), limit(Subject::Address, 8), limit(Subject::User, 2)];
    house(vec![sale], async |house| {
        for _ in 0..5 {
            house.join("sale", "d1").await;
        }
        let body = r#"{"event_id":"sale","device_id":"d1"}"#;
        let device =
            house.ask_from(client("198.51.100.1"), &post("queue/join"), body.as_bytes()).await;
        device.is(429, "rate_limited");
        assert!((1..=120).contains(&device.retry_after()));
        for device in ["d2", "d3", "d4"] {
            house.join("sale", device).await;
        }
        let body = r#"{"event_id":"sale","device_id":"d5"}"#;
        let address = house.ask(&post("queue/join"), body).await;
        address.is(429, "rate_limited");
        assert!((1..=120).contains(&address.retry_after()));
        for (nth, status) in [(1, 200), (2, 200), (3, 429)] {
            let body = format!(r#"{{"event_id":"sale","device_id":"u{nth}","user_id":"u"}}"#);
            let from = client(&format!("203.0.113.{nth}"));
            let told = house.ask_from(from, &post("queue/join"), body.as_bytes()).await;
            assert_eq!(told.status, status, "{}", told.body);
        }
    });
}

#[test]
fn full_closed_and_away() {
    let mut full = room("full");
    full.line.max_waiting = Some(1);
    let mut closed = room("closed");
    closed.line.mode = Mode::Closed;
    house(vec![full, closed], async |house| {
        house.join("full", "d1").await;
        let told = house.ask(&post("queue/join"), r#"{"event_id":"full","device_id":"d2"}"#).await;
        told.is(503, "queue_full");
        assert!(told.retry_after() > 0);
        let told =
            house.ask(&post("queue/join"), r#"{"event_id":"closed","device_id":"d2"}"#).await;
        told.is(503, "queue_disabled");
        assert!(told.retry_after() > 0);
    });
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build().expect("a runtime");
    runtime.block_on(async {
        let house = undriven(vec![room("sale")]);
        let body = r#"{"event_id":"sale","device_id":"d2"}"#;
        let told = house.ask(&post("queue/join"), body).await; // Nobody drives it: the store is away.
        told.is(503, "store_unavailable");
        assert!(told.retry_after() > 0);
    });
}

#[test]
fn rooms_are_joined_where_they_are() {
    let mut hidden = room("t/hidden");
    hidden.guard.hosts = Some(vec![]);
    let mut other = room("other");
    other.guard.hosts = Some(vec!["other.example".into()]);
    house(vec![room("sale"), hidden, other], async |house| {
        let join = async |host: &str, root: bool, event: &str| {
            let mut head =
                post("queue/join").on(host).with("x-device-id", format!("{host}{event}"));
            if root {
                head.target = "/v1/queue/join".into();
            }
            house.ask(&head, &format!(r#"{{"event_id":"{event}"}}"#)).await.status
        };
        assert_eq!(join(HOST, false, "sale").await, 200);
        assert_eq!(join(HOST, false, "other").await, 400, "not on this host");
        assert_eq!(join(HOST, false, "t/hidden").await, 200, "on no host: by the API of any");
        assert_eq!(join("other.example", false, "other").await, 200);
        assert_eq!(
            join("API.example:8443", true, "other").await,
            200,
            "the API's own host knows all"
        );
        assert_eq!(join("api.example", false, "sale").await, 200);
        let root = Asked { target: "/v1/queue/join".into(), ..post("queue/join") };
        assert!(api::endpoint(&house.live, &root).is_none(), "elsewhere the root is the site's");
    });
}

#[test]
fn the_short_join_needs_nothing() {
    house(vec![room("sale")], async |house| {
        let told = house.ask(&Asked::new("POST", "join"), "").await;
        assert_eq!((told.status, told.text("status")), (200, "waiting"));
        let bearer =
            get("status").with("authorization", format!("Bearer {}", told.text("queue_id")));
        assert_eq!(house.ask(&bearer, "").await.text("status"), "waiting");
        house.release(1).await;
        assert_eq!(house.ask(&bearer, "").await.text("status"), "admitted");
    });
    house(vec![room("a"), room("b")], async |house| {
        house.ask(&Asked::new("POST", "join"), "").await.is(400, "missing_event_id");
    });
}

#[test]
fn a_trusted_proxy_names_the_user() {
    let mut sale = room("sale");
    sale.user_header = Some("X-Account".into());
    sale.line.pace = None;
    house(vec![sale], async |house| {
        let head = post("queue/join").with("x-account", "real").with("x-device-id", "d1");
        let body = br#"{"event_id":"sale","user_id":"claimed"}"#;
        let user = async |vouched: bool, device: &str| {
            let mut head = head.clone();
            head.headers.retain(|(name, _)| name != "x-device-id");
            let head = head.with("x-device-id", device);
            let from = Client { vouched, ..client("192.0.2.1") };
            let told = house.ask_from(from, &head, body).await;
            let body = json!({"event_id": "sale", "token": told.text("token")}).to_string();
            house.ask(&post("admission/verify"), &body).await.body["user_id"].clone()
        };
        assert_eq!(user(true, "d1").await, "real");
        assert_eq!(user(false, "d2").await, "claimed", "anybody can send a header");
    });
}
