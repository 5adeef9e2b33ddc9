//! What the gateway itself answers: with a length, without a body for HEAD, and never anything after it.

use std::time::Duration;

use super::open_site;
use crate::support::http2::Http2;
use crate::support::site::pattern;
use crate::support::{Gateway, Origin, Request, Visitor};

/// One of everything the gateway answers by itself.
fn everything(visitor: &Visitor) -> Vec<Request> {
    let get = |target: &str| visitor.dress(Request::get(target));
    let html = |target: &str| visitor.dress(Request::get(target).by_browser());
    vec![
        html("/"),
        Request::get("/").by_browser(),
        get("/part"),
        get("/part").with("Accept", "application/json"),
        html("/.anteroom/health"),
        html("/.anteroom/client.js"),
        html("/.anteroom/client.js").with("Accept-Encoding", "gzip"),
        html("/").with("Accept-Encoding", "gzip"),
        html("/.anteroom/nothing"),
        html("/.anteroom/continue?to=%2F"),
        Request::get("/.anteroom/continue?to=%2F").by_browser(),
        get("/.anteroom/v1/queue/status"),
        Request::get("/.anteroom/v1/queue/status"),
        get("/.anteroom/v1/queue/status?queue_id=x"),
        get("/.anteroom/v1/nothing"),
        get("/.anteroom/v1/queue/join"),
        Request::get("/").host("nobody.example"),
        Request::post("/form", "a=b").by_browser(),
        Request::call("/.anteroom/v1/queue/join", &serde_json::json!({})),
        Request::post("/.anteroom/v1/queue/leave", "{}"),
        Request::post("/.anteroom/rejoin", "to=%2F"),
        Request::new("OPTIONS", "/"),
        Request::new("DELETE", "/.anteroom/v1/queue/status"),
    ]
}

fn waiting() -> (Origin, Gateway, Visitor) {
    let origin = Origin::start();
    let room = "mode = \"hold\"\nhosts = [\"shop.example\"]";
    let gateway = Gateway::before(&origin).room("sale", room).start();
    let mut ann = Visitor::new(&gateway);
    ann.open("/");
    (origin, gateway, ann)
}

#[test]
fn every_answer_says_how_long_it_is() {
    let (origin, gateway, ann) = waiting();
    for request in everything(&ann) {
        let answer = gateway.connect().ask(&request);
        assert!(!answer.until_close, "{request:?}: {answer:?}");
        assert_eq!(answer.all("content-length").count(), 1, "{request:?}: {answer:?}");
        assert_eq!(answer.header("transfer-encoding"), None, "{request:?}: {answer:?}");
        assert!(answer.header("date").is_some(), "{request:?}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{request:?}");
        assert_eq!(answer.header("server"), None, "{request:?}: {answer:?}");
    }
    assert!(origin.seen().is_empty());
}

#[test]
fn a_head_has_no_body_and_the_same_head() {
    let (_origin, gateway, ann) = waiting();
    let mut connection = gateway.connect();
    for request in everything(&ann).into_iter().filter(|request| request.method == "GET") {
        let get = connection.ask(&request);
        let head = connection.ask(&Request { method: "HEAD".into(), ..request.clone() });
        assert!(head.body.is_empty());
        assert_eq!(head.all("content-length").count(), 1, "{request:?}: {head:?}");
        // A HEAD takes no number, so a page that would give one has another answer.
        let same = head.status == get.status && get.header("set-cookie").is_none();
        let html = get.header("content-type").is_some_and(|kind| kind.contains("html"));
        if same && !html && request.target != "/.anteroom/v1/queue/join" {
            let length = |response: &crate::support::Response| {
                response.header("content-length").and_then(|value| value.parse::<i64>().ok())
            };
            let (one, other) = (length(&get).expect("a length"), length(&head).expect("a length"));
            assert!((one - other).abs() < 8, "{request:?}: {get:?}{head:?}");
        }
    }
    // Nothing was left over on the way.
    assert_eq!(connection.ask(&Request::get("/.anteroom/health")).status, 200);
}

#[test]
fn a_head_that_is_forwarded_has_no_body_either() {
    let (_origin, gateway) = open_site();
    let mut connection = gateway.connect();
    for target in ["/echo", "/download?bytes=100000", "/stream"] {
        let head = connection.ask(&Request::new("HEAD", target));
        if target == "/stream" {
            break; // The site itself answers that one with a body: only that nothing hangs is of interest.
        }
        assert!(head.is_from_origin(), "{target}: {head:?}");
        assert!(connection.ask(&Request::get("/echo")).is_from_origin(), "{target}");
    }
}

/// What comes first is all there is, for anything that fits into a segment of the loopback.
#[track_caller]
fn comes_in_one_piece(gateway: &Gateway, request: &Request) {
    let mut connection = gateway.connect().patient(Duration::from_secs(5));
    for _ in 0..20 {
        connection.send(&request.bytes());
        let bytes = connection.read_some().expect("an answer");
        let text = String::from_utf8_lossy(&bytes);
        let (head, body) = text.split_once("\r\n\r\n").expect("a whole head");
        let head = head.to_ascii_lowercase();
        let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
        let gzip = head.contains("content-encoding: gzip");
        let body = if gzip { bytes.len() - head.len() - 4 } else { body.len() };
        assert_eq!(length, Some(body.to_string().as_str()), "{request:?}: {head}");
    }
}

#[test]
fn an_answer_is_one_write() {
    let (_origin, gateway, ann) = waiting();
    comes_in_one_piece(&gateway, &ann.dress(Request::get("/.anteroom/v1/queue/status")));
    let page = ann.dress(Request::get("/").by_browser());
    comes_in_one_piece(&gateway, &page);
    comes_in_one_piece(&gateway, &page.with("Accept-Encoding", "gzip"));
}

#[test]
fn a_forwarded_answer_is_one_write_too() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "").start();
    let mut ann = Visitor::new(&gateway);
    assert!(ann.open("/").is_from_origin());
    comes_in_one_piece(&gateway, &ann.dress(Request::get("/echo")));
}

/// An origin that says neither how long its answer is nor that there are chunks: the end of its connection is the end.
#[test]
fn an_answer_without_a_length_arrives_whole() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "paths = [\"/x\"]").tls().start();
    for bytes in [0, 1, 5_000, 1_000_000] {
        let target = format!("/unmeasured?bytes={bytes}");
        let mut connection = gateway.connect();
        let answer = connection.ask(&Request::get(&target));
        assert!(answer.is_from_origin(), "{answer:?}");
        assert!(answer.body == pattern(bytes), "{bytes}: {answer:?}");
        // One can tell that it is whole, and ask again.
        assert!(!answer.until_close, "{answer:?}");
        assert!(connection.ask(&Request::get("/echo")).is_from_origin());
        let mut old = gateway.connect();
        old.send(format!("GET {target} HTTP/1.0\r\nHost: shop.example\r\n\r\n").as_bytes());
        assert!(old.read().body == pattern(bytes), "HTTP/1.0, {bytes}");
        let by_http2 = Http2::open(&gateway).ask(&Request::get(&target));
        assert!(by_http2.is_from_origin() && by_http2.body == pattern(bytes), "HTTP/2, {bytes}");
    }
}
