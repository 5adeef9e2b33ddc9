//! Several requests on one connection, some answered here, some by the origin: each gets its own answer, in order.

use serde_json::json;

use super::open_site;
use crate::support::client::Missing;
use crate::support::{Gateway, Origin, Request, Visitor, eventually};

#[test]
fn answered_and_forwarded_ones_mixed_come_back_in_order() {
    let (origin, gateway) = open_site();
    let requests: Vec<Request> = (0..40)
        .map(|n| match n % 5 {
            0 => Request::get(&format!("/echo?n={n}")),
            1 => Request::get("/guarded"),
            2 => Request::get("/.anteroom/health"),
            3 => Request::get(&format!("/other/{n}")),
            _ => Request::get("/.anteroom/nothing"),
        })
        .collect();
    let mut connection = gateway.connect();
    let bytes: Vec<u8> = requests.iter().flat_map(Request::bytes).collect();
    connection.send(&bytes);
    for (n, request) in requests.iter().enumerate() {
        let response = connection.read();
        let expected = match n % 5 {
            0 | 3 => 200,
            1 => 503,
            2 => 200,
            _ => 404,
        };
        assert_eq!(response.status, expected, "{n}: {request:?}: {response:?}");
        match n % 5 {
            0 => assert_eq!(response.json()["target"], format!("/echo?n={n}")),
            2 => assert_eq!(response.json()["status"], "healthy"),
            3 => assert!(response.text().contains(&format!("/other/{n}"))),
            _ => assert!(!response.is_from_origin()),
        }
    }
    let seen: Vec<String> = origin.seen().into_iter().map(|seen| seen.target).collect();
    assert_eq!(seen.len(), 16, "{seen:?}");
    connection.finish();
    assert!(connection.ends(), "and nothing more");
}

/// One connection, many turns of: a page of somebody who waits, a page of somebody inside, a poll.
#[test]
fn a_connection_serves_who_waits_and_who_is_inside_alike() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1").start();
    let [mut ann, mut bob] = [(); 2].map(|()| Visitor::new(&gateway));
    assert!(ann.open("/").is_from_origin());
    bob.open("/");
    let mut connection = gateway.connect();
    for turn in 0..30 {
        let inside = connection.ask(&ann.dress(Request::get(&format!("/echo?{turn}"))));
        assert!(inside.is_from_origin(), "{turn}: {inside:?}");
        let waiting = connection.ask(&bob.dress(Request::get("/").by_browser()));
        assert_eq!(waiting.state().as_deref(), Some("waiting"), "{turn}: {waiting:?}");
        let sent = connection.ask(&ann.dress(Request::post("/upload", vec![7; 3_000])));
        assert_eq!(sent.json()["bytes"], 3_000, "{turn}");
        let status = connection.ask(&bob.dress(Request::get("/.anteroom/v1/queue/status")));
        assert_eq!(status.json()["position"], 1, "{turn}");
        let ticket = bob.token().expect("a ticket").1;
        let beat = Request::call("/.anteroom/v1/queue/heartbeat", &json!({ "queue_id": ticket }));
        assert_eq!(connection.ask(&beat).json()["position"], 1, "{turn}");
    }
}

/// What follows a body at once is either the next request or, where the proxy gives the connection up, nobody's: it is
/// never lost on a connection that stays open, and never answered out of turn.
#[test]
fn what_follows_a_body_is_the_next_request_or_the_end() {
    let (origin, gateway) = open_site();
    let chunked = |body: &str| {
        let head = "POST /upload?chunked HTTP/1.1\r\nHost: shop.example\r\nTransfer-Encoding: chunked\r\n\r\n";
        format!("{head}{:x}\r\n{body}\r\n0\r\n\r\n", body.len()).into_bytes()
    };
    let call = Request::call("/.anteroom/v1/queue/heartbeat", &json!({ "queue_id": "x" }));
    let first = [
        ("a length", Request::post("/upload?n=1", "first").bytes(), 200),
        ("chunks", chunked("first"), 200),
        ("a call", call.bytes(), 404),
        ("a form that waits", Request::post("/guarded", "first").by_browser().bytes(), 503),
    ];
    for (name, first, status) in first {
        origin.forget();
        let mut connection = gateway.connect();
        let next = [Request::get("/echo?next").bytes(), Request::get("/.anteroom/health").bytes()];
        connection.send(&[first, next.concat()].concat());
        let answer = connection.read();
        assert_eq!(answer.status, status, "{name}: {answer:?}");
        match connection.try_read(false) {
            Ok(second) => {
                assert_eq!(second.json()["target"], "/echo?next", "{name}");
                assert_eq!(connection.read().json()["status"], "healthy", "{name}");
            }
            Err(Missing::Closed(0)) => {
                assert!(origin.seen_at("/echo").is_empty(), "{name}: done, and not told");
            }
            Err(other) => panic!("{name}: {other:?}"),
        }
    }
}

/// Not all that is pipelined comes in one piece: a request may come while the one before is at the origin.
#[test]
fn a_request_that_comes_while_another_is_under_way_waits_for_it() {
    let (origin, gateway) = open_site();
    for next in ["/echo?next", "/.anteroom/health", "/guarded"] {
        origin.forget();
        let mut connection = gateway.connect();
        connection.send(&Request::get("/slow?ms=300").bytes());
        eventually("it is under way", || (!origin.seen_at("/slow").is_empty()).then_some(()));
        connection.send(&Request::get(next).bytes());
        let first = connection.read();
        assert!(first.is_from_origin(), "with {next} behind it: {first:?}");
        match connection.try_read(false) {
            Ok(second) => assert_eq!(second.status, if next == "/guarded" { 503 } else { 200 }),
            // Allowed, though nobody does it for fun: the client asks again.
            Err(Missing::Closed(0)) => {}
            Err(other) => panic!("{next}: {other:?}"),
        }
    }
}

#[test]
fn heads_that_come_in_pieces_are_whole() {
    let (_origin, gateway) = open_site();
    let bytes = [
        Request::get("/guarded").bytes(),
        Request::get("/echo?split").bytes(),
        Request::get("/.anteroom/health").bytes(),
    ]
    .concat();
    let mut connection = gateway.connect();
    for split in 1..bytes.len() {
        connection.send(&bytes[..split]);
        // Long enough for the other end to see a part by itself, most of the time.
        std::thread::sleep(std::time::Duration::from_micros(500));
        connection.send(&bytes[split..]);
        assert_eq!(connection.read().status, 503, "{split}");
        assert_eq!(connection.read().json()["target"], "/echo?split", "{split}");
        assert_eq!(connection.read().json()["status"], "healthy", "{split}");
    }
}

#[test]
fn http_1_0_is_served_and_keeps_its_manners() {
    let (_origin, gateway) = open_site();
    for target in ["/guarded", "/echo", "/.anteroom/health"] {
        let mut connection = gateway.connect();
        connection.send(format!("GET {target} HTTP/1.0\r\nHost: shop.example\r\n\r\n").as_bytes());
        let answer = connection.read();
        assert!(answer.header("transfer-encoding").is_none(), "{target}: {answer:?}");
        assert!(connection.ends(), "{target}: one request, one connection");
        let mut connection = gateway.connect();
        for turn in 0..2 {
            let head = format!(
                "GET {target} HTTP/1.0\r\nHost: shop.example\r\nConnection: keep-alive\r\n\r\n"
            );
            connection.send(head.as_bytes());
            let answer = connection.read();
            let kept = answer.header("connection").map(str::to_ascii_lowercase);
            assert_eq!(kept.as_deref(), Some("keep-alive"), "{target} {turn}: {answer:?}");
        }
    }
}

#[test]
fn who_asks_for_an_end_gets_one() {
    let (_origin, gateway) = open_site();
    for target in ["/guarded", "/echo", "/.anteroom/health"] {
        let mut connection = gateway.connect();
        let answer = connection.ask(&Request::get(target).with("Connection", "close"));
        let said = answer.header("connection").map(str::to_ascii_lowercase);
        assert_eq!(said.as_deref(), Some("close"), "{target}: {answer:?}");
        assert!(connection.ends(), "{target}");
    }
}
