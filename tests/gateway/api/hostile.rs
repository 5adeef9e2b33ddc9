//! What nobody should send: other methods, other bodies, anything at all. Never a panic, never a wrong success.

use super::*;
use proptest::prelude::*;

const CALLS: [&str; 9] = [
    "queue/join",
    "join",
    "queue/status",
    "status",
    "queue/heartbeat",
    "queue/leave",
    "admission/verify",
    "admission/complete",
    "queue/events",
];

#[test]
fn other_methods_and_other_calls() {
    house(vec![room("sale")], async |house| {
        for call in CALLS {
            let reads = call.ends_with("status") || call.ends_with("events");
            for method in ["GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "get"] {
                let right = method == if reads { "GET" } else { "POST" };
                if right {
                    continue;
                }
                let told = house.ask(&Asked::new(method, call), "").await;
                told.is(405, "method_not_allowed");
                assert!(told.response.header("allow").expect("Allow").contains(if reads {
                    "GET"
                } else {
                    "POST"
                }));
                assert!(told.response.header("access-control-allow-origin").is_none());
            }
        }
        for call in [
            "",
            "queue",
            "queue/",
            "queue/status/",
            "queue//status",
            "QUEUE/STATUS",
            "../v1/join",
            "lots",
        ] {
            house.ask(&post(call), "").await.is(404, "not_found");
            house.ask(&get(call), "").await.is(404, "not_found");
        }
        for path in [
            "/",
            "/.anteroom",
            "/.anteroom/v1",
            "/.anteroom/v2/queue/status",
            "/v1/queue/status",
            "/x/.anteroom/v1/join",
        ] {
            let head = Asked { target: path.into(), ..get("") };
            assert_eq!(api::endpoint(&house.live, &head), None, "{path}");
        }
        let head = Asked { target: "/.anteroom/v1/queue/status?x=/v1/join".into(), ..get("") };
        assert_eq!(api::endpoint(&house.live, &head), Some("queue/status"));
    });
}

#[test]
fn other_kinds_of_bodies() {
    house(vec![room("sale")], async |house| {
        let form = "application/x-www-form-urlencoded";
        for call in CALLS.into_iter().filter(|call| Asked::new("POST", call).method == "POST") {
            if call.ends_with("status") || call.ends_with("events") {
                continue;
            }
            for kind in ["text/plain", "multipart/form-data; boundary=x", "application/xml", form] {
                if kind == form && call == "queue/leave" {
                    continue;
                }
                let head = Asked::new("POST", call).with("content-type", kind);
                house.ask(&head, "{}").await.is(415, "unsupported_media_type");
            }
            let large = " ".repeat(api::MAX_BODY + 1);
            house.ask(&post(call), &large).await.is(413, "too_large");
        }
        Told::new(api::too_large()).is(413, "too_large");
        Told::new(api::error(400, "x", "a \"b\"")).is(400, "x");
    });
}

/// Something like JSON that somebody might send.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,40}".prop_map(Value::from),
        Just(Value::from("sale")),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((".{0,8}", inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    let names = prop::sample::select(vec![
        "event_id",
        "device_id",
        "user_id",
        "priority_bucket",
        "metadata",
        "idempotencyKey",
        "queue_id",
        "token",
        "to",
    ]);
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        prop::collection::vec((names, value()), 0..8).prop_map(|fields| {
            let object: serde_json::Map<_, _> =
                fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
            Value::Object(object).to_string().into_bytes()
        }),
        "[a-z_]{0,9}(=[ -~]{0,30})?(&[a-z_]{0,9}=[ -~]{0,30}){0,4}".prop_map(String::into_bytes),
    ]
}

#[test]
fn anything_at_all_is_answered() {
    house(vec![room("sale"), room("other")], async |house| {
        let ticket = house.join("sale", "d").await.text("queue_id").to_owned();
        let mut runner = proptest::test_runner::TestRunner::deterministic();
        let headers = prop::collection::vec(
            (
                prop::sample::select(vec![
                    "cookie",
                    "authorization",
                    "content-type",
                    "origin",
                    "sec-fetch-site",
                    "x-device-id",
                    "x-user-id",
                    "idempotency-key",
                    "accept",
                    "x-admission-pass",
                ]),
                prop_oneof![
                    prop::collection::vec(any::<u8>(), 0..60),
                    Just(b"same-origin".to_vec()),
                    Just(b"application/x-www-form-urlencoded".to_vec()),
                    Just(b"text/html".to_vec()),
                    Just(ticket.clone().into_bytes()),
                    Just(format!("Bearer {ticket}").into_bytes()),
                    Just(
                        format!("{}={ticket}", house.entrance("sale").jar.name(true)).into_bytes()
                    ),
                ],
            ),
            0..5,
        );
        let anything = (prop::sample::select(CALLS.to_vec()), "[ -~]{0,60}", headers, body());
        for _ in 0..3_000 {
            let tree = anything.new_tree(&mut runner).expect("a case");
            let (call, query, headers, body) = proptest::strategy::ValueTree::current(&tree);
            let reads = call.ends_with("status") || call.ends_with("events");
            let mut head =
                Asked::new(if reads { "GET" } else { "POST" }, &format!("{call}?{query}"));
            for (name, value) in headers {
                head = head.with(name, value);
            }
            let told = match call {
                "queue/events" => match api::events(
                    &house.live,
                    &api::Streams::new(),
                    &head,
                    &client("192.0.2.1"),
                ) {
                    Ok(mut events) => {
                        events.next().await.expect("an event");
                        continue;
                    }
                    Err(refusal) => Told::new(refusal),
                },
                _ => house.ask_from(client("192.0.2.1"), &head, &body).await,
            };
            assert!(
                matches!(told.status, 200 | 400 | 403 | 404 | 409 | 410 | 415),
                "{call} {} {}",
                told.status,
                told.body
            );
        }
    });
}
