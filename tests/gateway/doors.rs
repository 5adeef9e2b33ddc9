//! Two doors, one decision: the same request by HTTP/1.1 and by HTTP/2 gets the same answer.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::http2::Http2;
use crate::support::{Config, Gateway, Origin, Request, Response, Visitor};

/// Of the connection or of the moment, and not of the answer.
const PASSING: [&str; 4] = ["connection", "date", "keep-alive", "transfer-encoding"];

fn start() -> (Origin, Gateway) {
    let origin = Origin::start();
    let config = Config::new(&[origin.address().to_string()])
        .room("sale", "hosts = [\"shop.example\"]\npaths = [\"/sale/*\"]\nmode = \"hold\"")
        .room("shop", "hosts = [\"shop.example\"]\npaths = [\"/shop/*\"]\nmax_active = 2")
        .room("shut", "hosts = [\"shop.example\"]\npaths = [\"/shut/*\"]\nmode = \"closed\"")
        .tls();
    (origin, Gateway::start(config))
}

/// Every run of digits is one `#`: times, and the jitter of polls.
fn without_numbers(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c.is_ascii_digit() {
            false => out.push(c),
            true if out.ends_with('#') => {}
            true => out.push('#'),
        }
    }
    out
}

/// What must be the same: status, headers by name, body.
fn essence(response: &Response) -> (u16, BTreeMap<String, Vec<String>>, String) {
    let mut headers: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in &response.headers {
        let name = name.to_ascii_lowercase();
        if PASSING.contains(&name.as_str()) {
            continue;
        }
        let value = match name.as_str() {
            // Each join gives another number.
            "set-cookie" => {
                let (name, rest) = value.split_once('=').expect("a cookie");
                let attributes = rest.split_once(';').map_or("", |(_, rest)| rest);
                format!("{name}=…;{attributes}")
            }
            "content-length" | "retry-after" => without_numbers(value),
            _ => value.clone(),
        };
        headers.entry(name).or_default().push(value);
    }
    let body = match response.header("content-encoding") {
        Some("gzip") => {
            let mut text = String::new();
            let mut unzipped = flate2::read::GzDecoder::new(&response.body[..]);
            std::io::Read::read_to_string(&mut unzipped, &mut text).expect("gzip");
            text
        }
        _ => response.text(),
    };
    (response.status, headers, without_numbers(&body))
}

/// Everything one may ask for, by name. `ann` waits, `bob` is inside.
fn requests(ann: &Visitor, bob: &Visitor) -> Vec<(&'static str, Request)> {
    let ticket = ann.token().expect("a ticket").1;
    let html = |target: &str| Request::get(target).by_browser();
    let get = Request::get;
    let api = |name: &str| format!("/.anteroom/v1/{name}");
    let call = |name: &str, body: &Value| Request::call(&api(name), body);
    let status = format!("{}?queue_id={ticket}", api("queue/status"));
    vec![
        ("a waiting page", ann.dress(html("/sale/?a=b"))),
        (
            "in German, zipped",
            ann.dress(html("/sale/")).with("Accept-Language", "de").with("Accept-Encoding", "gzip"),
        ),
        ("joining", html("/sale/")),
        ("a part", ann.dress(get("/sale/part"))),
        ("a part of a stranger", get("/sale/part")),
        ("JSON", ann.dress(get("/sale/part")).with("Accept", "application/json")),
        ("a form", ann.dress(Request::post("/sale/form", "a=b").by_browser())),
        ("a form of a stranger", Request::post("/sale/form", "a=b").by_browser()),
        (
            "a frame",
            get("/sale/")
                .with("Accept", "text/html")
                .with("Sec-Fetch-Mode", "navigate")
                .with("Sec-Fetch-Dest", "iframe"),
        ),
        ("closed", html("/shut/")),
        ("closed, for a script", get("/shut/").with("Accept", "application/json")),
        ("another host", html("/").host("nobody.example")),
        ("health", get("/.anteroom/health")),
        ("health of another host", get("/.anteroom/health").host("nobody.example")),
        ("the client", get("/.anteroom/client.js")),
        ("the client, zipped", get("/.anteroom/client.js?v=x").with("Accept-Encoding", "gzip")),
        ("not ours", get("/.anteroom/nothing")),
        ("not ours, dressed up", get("/%2eanteroom/nothing")),
        ("back", ann.dress(html("/.anteroom/continue?to=%2Fsale%2F"))),
        ("cookies off", html("/.anteroom/continue?to=%2Fsale%2F")),
        ("rejoin", ann.dress(Request::post("/.anteroom/rejoin", "to=%2Fsale%2F"))),
        ("status", get(&status)),
        ("status by cookie", ann.dress(get(&format!("{}?event_id=sale", api("queue/status"))))),
        ("status of nobody", get(&format!("{}?event_id=sale", api("queue/status")))),
        ("status of nothing", get(&format!("{}?queue_id=x", api("queue/status")))),
        ("status of which", ann.dress(get(&api("queue/status")))),
        ("a head", Request::new("HEAD", &status)),
        ("heartbeat", call("queue/heartbeat", &json!({ "queue_id": ticket }))),
        ("heartbeat of nothing", call("queue/heartbeat", &json!({ "queue_id": "x" }))),
        ("a join without anything", call("queue/join", &json!({}))),
        ("a join without a device", call("queue/join", &json!({ "event_id": "sale" }))),
        (
            "a join of a room that is none",
            call("queue/join", &json!({ "event_id": "x", "device_id": "d" })),
        ),
        (
            "a join of a closed room",
            call("queue/join", &json!({ "event_id": "shut", "device_id": "d" })),
        ),
        (
            "not JSON",
            Request::post(&api("queue/join"), "hello").with("Content-Type", "application/json"),
        ),
        (
            "not said to be JSON",
            Request::post(&api("queue/join"), "{}").with("Content-Type", "text/plain"),
        ),
        ("by another method", get(&api("queue/join"))),
        ("no such call", get(&api("nothing"))),
        ("too large", Request::post(&api("queue/join"), vec![b' '; 20_000])),
        ("verify nothing", call("admission/verify", &json!({ "event_id": "sale", "token": "x" }))),
        (
            "verify a ticket",
            call("admission/verify", &json!({ "event_id": "sale", "token": ticket })),
        ),
        ("events", bob.dress(get(&format!("{}?event_id=shop", api("queue/events"))))),
        ("no events", get(&format!("{}?queue_id=x", api("queue/events")))),
        ("inside", bob.dress(get("/shop/page"))),
        ("inside, a form", bob.dress(Request::post("/upload", "hello"))),
        ("outside", html("/open")),
        ("a large one", get("/download?bytes=200000")),
        ("another status", get("/reply?status=404&h=X-Thing:1&h=Set-Cookie:a=b")),
        ("not changed", bob.dress(get("/reply?status=304&h=ETag:7"))),
        ("no content", get("/reply?status=204")),
    ]
}

#[test]
fn the_same_answer_through_either_door() {
    let (_origin, gateway) = start();
    let [mut ann, mut bob] = [(); 2].map(|()| Visitor::secure(&gateway));
    assert_eq!(ann.open("/sale/").state().as_deref(), Some("waiting"));
    assert!(bob.open("/shop/").is_from_origin());
    let mut second = Http2::open(&gateway);
    let mut differing = Vec::new();
    for (name, request) in requests(&ann, &bob) {
        let one = ann.connect().ask(&request);
        let two = second.ask(&request);
        assert!(two.version == "HTTP/2" && one.version == "HTTP/1.1");
        let (one, two) = (essence(&one), essence(&two));
        if one != two {
            differing.push(format!("{name}:\n  HTTP/1.1 {one:?}\n  HTTP/2   {two:?}"));
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n\n"));
}

#[test]
fn a_visit_by_http_2() {
    let (origin, gateway) = start();
    let mut door = Http2::open(&gateway);
    let [mut ann, mut bob, mut cid] = [(); 3].map(|()| Visitor::secure(&gateway));
    let mut open = |visitor: &mut Visitor, target: &str| {
        let page = door.ask(&visitor.dress(Request::get(target).by_browser()));
        visitor.learn(&page);
        page
    };
    assert!(open(&mut ann, "/shop/").is_from_origin());
    assert!(open(&mut bob, "/shop/").is_from_origin());
    assert_eq!(open(&mut cid, "/shop/1").state().as_deref(), Some("waiting"));
    assert!(open(&mut ann, "/shop/echo").is_from_origin());
    let seen = origin.last();
    assert_eq!(seen.header("x-forwarded-proto"), Some("https"));
    assert_eq!(seen.header("x-anteroom-number"), Some("1"));
    assert_eq!(seen.header("cookie"), None);
    assert_eq!(seen.all("host").collect::<Vec<_>>(), ["shop.example"]);
    let left = Request::call("/.anteroom/v1/queue/leave", &json!({ "event_id": "shop" }));
    let left = left.with("Sec-Fetch-Site", "same-origin");
    let answer = Http2::open(&gateway).ask(&ann.dress(left));
    assert_eq!(answer.status, 200, "{answer:?}");
    let page = crate::support::eventually("cid is let in", || {
        Some(open(&mut cid, "/shop/1")).filter(Response::is_from_origin)
    });
    assert_eq!(page.status, 200);
    assert_eq!(origin.last().target, "/shop/1");
}

#[test]
fn many_requests_at_once_on_one_connection() {
    let (_origin, gateway) = start();
    let mut ann = Visitor::secure(&gateway);
    ann.open("/sale/");
    let mut bob = Visitor::secure(&gateway);
    assert!(bob.open("/shop/").is_from_origin());
    let mut door = Http2::open(&gateway);
    let requests: Vec<Request> = (0..90)
        .map(|n| match n % 3 {
            0 => ann.dress(Request::get("/sale/").by_browser()),
            1 => bob.dress(Request::get(&format!("/echo?{n}"))),
            _ => Request::get("/.anteroom/health"),
        })
        .collect();
    for (n, answer) in door.ask_all(&requests).iter().enumerate() {
        match n % 3 {
            0 => assert_eq!(answer.state().as_deref(), Some("waiting"), "{n}"),
            1 => assert_eq!(answer.json()["target"], format!("/echo?{n}")),
            _ => assert_eq!(answer.status, 200, "{n}"),
        }
    }
}

#[test]
fn what_is_strict_by_one_door_is_strict_by_the_other() {
    let (origin, gateway) = start();
    let mut door = Http2::open(&gateway);
    let cases = [
        ("two hosts", Request::get("/evil").with("Host", "evil.example")),
        ("too much", Request::get("/evil").with("X-Big", &"a".repeat(60_000))),
    ];
    for (name, request) in cases {
        match door.try_ask(&request) {
            Ok(answer) => {
                assert!((400..500).contains(&answer.status), "{name}: {answer:?}");
                assert!(!answer.is_from_origin(), "{name}: {answer:?}");
            }
            // Refused by the protocol itself.
            Err(_) => door = Http2::open(&gateway),
        }
    }
    assert!(origin.seen().is_empty());
    let large = Request::post("/sale/form", vec![b'a'; 3_000_000]).by_browser();
    assert_eq!(door.ask(&large).status, 503, "answered before it is read");
    let after = Http2::open(&gateway).ask(&Request::get("/.anteroom/health"));
    assert_eq!(after.status, 200);
}
