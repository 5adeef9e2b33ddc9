//! `[log] access`: requests, by whatever door and way.

use serde_json::{Value, json};

use super::{join, saying};
use crate::support::http2::Http2;
use crate::support::{Gateway, Origin, Request, Visitor};

const ROOM: &str = "hosts = [\"shop.example\"]\npaths = [\"/sale/*\", \"/reply\", \"/cut\"]\nmax_active = 1\nbypass = [{ path = \"/sale/static/*\" }]";

fn start(origin: &Origin, log: &str) -> Gateway {
    let plan = Gateway::before(origin).room("sale", ROOM).tls();
    plan.tables(&format!("[log]\n{log}")).start()
}

/// The one line about a path.
#[track_caller]
fn about(gateway: &Gateway, path: &str) -> Value {
    let mut lines = saying(gateway, "access", 1, |line| line["path"] == path);
    assert_eq!(lines.len(), 1, "{lines:?}");
    lines.remove(0)
}

#[track_caller]
fn assert_line(line: &Value, method: &str, status: u16, outcome: &str, room: Option<&str>) {
    assert_eq!((&line["method"], &line["status"]), (&json!(method), &json!(status)), "{line}");
    assert_eq!(
        (&line["outcome"], &line["host"]),
        (&json!(outcome), &json!("shop.example")),
        "{line}"
    );
    assert_eq!(line["event_id"].as_str(), room, "{line}");
    assert!(line["duration_ms"].is_u64() && line["level"] == "info", "{line}");
}

#[test]
fn every_way_a_request_can_take() {
    let origin = Origin::start();
    let gateway = start(&origin, "access = \"all\"");
    let mut ann = Visitor::secure(&gateway);
    let sale = Some("sale");
    let page = ann.open("/sale/enter?secret=1");
    assert!(page.is_from_origin());
    let line = about(&gateway, "/sale/enter");
    assert_line(&line, "GET", 200, "admitted", sale);
    assert!(line["queue_ref"].as_str().is_some_and(|name| name.starts_with("q_")), "{line}");
    // The short way.
    let body = ann.fetch("/sale/lane?secret=1").body.len();
    let line = about(&gateway, "/sale/lane");
    assert_line(&line, "GET", 200, "admitted", sale);
    assert_eq!(line["bytes"], body, "{line}");
    // pingora's.
    ann.submit("/sale/form?secret=1", "a=b");
    assert_line(&about(&gateway, "/sale/form"), "POST", 200, "admitted", sale);
    let mut bob = Visitor::secure(&gateway);
    let page = bob.open("/sale/wait?secret=1");
    let line = about(&gateway, "/sale/wait");
    assert_line(&line, "GET", 503, "waiting", sale);
    assert_eq!(line["bytes"], page.body.len(), "{line}");
    bob.open("/sale/again");
    assert_line(&about(&gateway, "/sale/again"), "GET", 503, "waiting", sale);
    Visitor::secure(&gateway).fetch("/sale/part");
    assert_line(&about(&gateway, "/sale/part"), "GET", 503, "refused", sale);
    bob.fetch("/sale/static/a.css");
    assert_line(&about(&gateway, "/sale/static/a.css"), "GET", 200, "bypassed", sale);
    bob.fetch("/elsewhere");
    assert_line(&about(&gateway, "/elsewhere"), "GET", 200, "unguarded", None);
    ann.fetch("/reply?status=500");
    assert_line(&about(&gateway, "/reply"), "GET", 500, "admitted", sale);
    bob.status();
    assert_line(&about(&gateway, "/.anteroom/v1/queue/status"), "GET", 200, "api", None);
    join(&gateway, "d1");
    assert_line(&about(&gateway, "/.anteroom/v1/queue/join"), "POST", 200, "api", None);
    bob.fetch("/.anteroom/client.js?v=secret");
    assert_line(&about(&gateway, "/.anteroom/client.js"), "GET", 200, "own", None);
    let lost = gateway.connect().ask(&Request::get("/lost").host("nobody.example"));
    assert_eq!(lost.status, 421);
    assert_eq!(about(&gateway, "/lost")["outcome"], "refused");
    gateway.connect().send(b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n");
    let bad = saying(&gateway, "access", 1, |line| line["outcome"] == "unreadable");
    assert_eq!(bad[0]["status"], 400);
    // The other door.
    let mut door = Http2::open(&gateway);
    let second = |path: &str, visitor: &Visitor| visitor.dress(Request::get(path).by_browser());
    assert_eq!(door.ask(&second("/sale/h2?secret=1", &ann)).status, 200);
    assert_line(&about(&gateway, "/sale/h2"), "GET", 200, "admitted", sale);
    assert_eq!(door.ask(&second("/sale/h2/wait?secret=1", &bob)).status, 503);
    assert_line(&about(&gateway, "/sale/h2/wait"), "GET", 503, "waiting", sale);
    let call = Request::get("/.anteroom/v1/status?queue_id=secret");
    door.ask(&call);
    assert_line(&about(&gateway, "/.anteroom/v1/status"), "GET", 404, "api", None);
    assert!(!gateway.log_contains("secret"), "no query is ever told");
}

#[test]
fn none_unless_asked_for_and_a_reload_changes_it() {
    let origin = Origin::start();
    let gateway = start(&origin, "");
    let mut ann = Visitor::new(&gateway);
    ann.open("/sale/");
    ann.fetch("/reply?status=500");
    let text = gateway.config().text();
    assert!(gateway.reload(&text.replace("[log]\n", "[log]\naccess = true\n")));
    ann.fetch("/sale/told");
    about(&gateway, "/sale/told");
    assert!(gateway.reload(&text));
    ann.fetch("/sale/untold");
    assert!(gateway.reload(&text), "a line after it");
    assert_eq!(gateway.log().events("access").len(), 1, "{}", gateway.log().text());
}

#[test]
fn failures_are_told_whatever_the_lot_says() {
    let origin = Origin::start();
    let gateway = start(&origin, "access = \"0.0001%\"");
    let mut ann = Visitor::new(&gateway);
    ann.open("/sale/");
    for _ in 0..50 {
        ann.fetch("/sale/fine");
        // 503, and no failure.
        Visitor::new(&gateway).open("/sale/wait");
    }
    for path in ["/reply?status=502", "/cut"] {
        assert!(ann.fetch(path).status >= 500);
    }
    saying(&gateway, "access", 2, |_| true);
    let told = gateway.log().events("access");
    let told: Vec<_> = told.iter().map(|line| (&line["path"], &line["status"])).collect();
    // One in a million might be drawn.
    assert!(told.len() <= 5, "{told:?}");
    for (path, status) in [("/reply", 502), ("/cut", 502)] {
        assert!(told.contains(&(&json!(path), &json!(status))), "{path} {told:?}");
    }
}

#[test]
fn a_share_is_drawn() {
    let origin = Origin::start();
    let gateway = start(&origin, "access = \"20%\"");
    let mut ann = Visitor::new(&gateway);
    ann.open("/sale/");
    let mut connection = gateway.connect();
    for _ in 0..1_000 {
        let request = ann.dress(Request::get("/sale/lot"));
        assert_eq!(connection.ask(&request).status, 200);
    }
    saying(&gateway, "access", 100, |line| line["path"] == "/sale/lot");
    let told = gateway.log().events("access").len();
    assert!((130..290).contains(&told), "{told} of 1000");
}
