//! What the gateway itself answers: with a length, without a body for HEAD, and never anything after it.

use super::open_site;
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

#[test]
fn an_answer_is_one_write() {
    use std::time::Duration;
    let (_origin, gateway, ann) = waiting();
    // What comes first is all there is, for anything that fits into a segment of the loopback.
    let mut connection = gateway.connect().patient(Duration::from_secs(5));
    let mut whole = 0;
    for _ in 0..20 {
        connection.send(&ann.dress(Request::get("/.anteroom/v1/queue/status")).bytes());
        let bytes = connection.read_some().expect("an answer");
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").expect("a whole head");
        let length = head.split("Content-Length: ").nth(1).and_then(|rest| rest.lines().next());
        whole += usize::from(length == Some(body.len().to_string().as_str()));
    }
    assert_eq!(whole, 20);
}
