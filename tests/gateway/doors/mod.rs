//! Two doors, one decision: the same request by HTTP/1.1 and by HTTP/2 gets the same answer.

mod asked;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use self::asked::House;
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

/// Who it is about is another one with each join.
fn without_names(mut json: Value) -> Value {
    for name in ["queue_id", "queue_ref"] {
        if let Some(value) = json.get_mut(name) {
            *value = "…".into();
        }
    }
    json
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
    let body = match serde_json::from_str(&body) {
        Ok(json) => without_names(json).to_string(),
        Err(_) => body,
    };
    (response.status, headers, without_numbers(&body))
}

#[test]
fn the_same_answer_through_either_door() {
    let house = House::open();
    let anybody = Visitor::secure(&house.gateway);
    let mut second = Http2::open(&house.gateway);
    let mut wrong = Vec::new();
    for (name, status, request) in house.requests() {
        let one = anybody.connect().ask(&request);
        let two = second.ask(&request);
        assert!(two.version == "HTTP/2" && one.version == "HTTP/1.1");
        let (one, two) = (essence(&one), essence(&two));
        if one != two || one.0 != status {
            wrong.push(format!("{name}, {status}:\n  HTTP/1.1 {one:?}\n  HTTP/2   {two:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
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
    let many = (0..150)
        .fold(Request::get("/evil"), |request, nth| request.with(&format!("X-Line-{nth}"), "1"));
    let cases = [
        ("TRACE", Request::new("TRACE", "/evil")),
        ("an expectation", Request::get("/evil").with("Expect", "200-ok")),
        ("too many lines", many),
        ("a length and no body", Request::get("/evil").with("Content-Length", "5")),
        ("a length of another body", Request::post("/evil", "12345").with("Content-Length", "4")),
        ("TE", Request::get("/evil").with("TE", "chunked")),
        ("a connection's header", Request::get("/evil").with("Transfer-Encoding", "chunked")),
        ("not ASCII", Request::get("/\u{e9}vil")),
        ("two hosts", Request::get("/evil").with("Host", "evil.example")),
        ("a user", Request::get("/evil").host("a@shop.example")),
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
