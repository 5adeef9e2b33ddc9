//! A pass that is bound is good where it was given, and nowhere else: `bind`.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::forge::{expires, number, read};
use crate::support::http2::Http2;
use crate::support::{Gateway, Origin, Request, Response, Visitor, eventually};

fn start(room: &str) -> (Origin, Gateway) {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", room).tls().start();
    (origin, gateway)
}

/// What a pass is bound by.
fn bind(pass: &str) -> Option<String> {
    read(pass).1["bind"].as_str().map(str::to_owned)
}

/// A browser, by its name.
fn browser(gateway: &Gateway, agent: &str) -> Visitor {
    Visitor::secure(gateway).with("User-Agent", agent)
}

/// One that was given the cookies of another.
fn copied(gateway: &Gateway, from: &Visitor, agent: &str) -> Visitor {
    let mut thief = browser(gateway, agent);
    thief.learn_cookies(from);
    thief
}

#[test]
fn a_copied_pass_is_worth_nothing_to_another_agent() {
    let (origin, gateway) = start("bind = [\"agent\"]\nmax_active = 1");
    let mut ann = browser(&gateway, "Firefox/1");
    assert!(ann.open("/").is_from_origin());
    let pass = ann.token().expect("a pass").1;
    assert_eq!(bind(&pass).map(|bind| bind.len()), Some(22), "{:?}", read(&pass));
    origin.forget();
    for agent in ["Firefox/2", "", "firefox/1", "Firefox/1 "] {
        let fits = agent.trim() == "Firefox/1";
        let mut thief = copied(&gateway, &ann, agent);
        let part = thief.fetch("/part");
        assert_eq!(part.is_from_origin(), fits, "{agent:?}: {part:?}");
        let by_http2 = Http2::open(&gateway).ask(&thief.dress(Request::get("/part")));
        assert_eq!(by_http2.is_from_origin(), fits, "{agent:?}: {by_http2:?}");
        if fits {
            continue;
        }
        let json = thief.send(Request::get("/api").with("Accept", "application/json"));
        assert_eq!((json.status, json.code().as_str()), (503, "waiting_room"), "{json:?}");
        assert!(!thief.submit("/order", "a=b").is_from_origin(), "{agent:?}");
        // Whoever opens a page is somebody new.
        let page = thief.open("/page");
        assert_eq!(page.state().as_deref(), Some("waiting"), "{agent:?}: {page:?}");
        assert_ne!(number(&thief.token().expect("a ticket").1), number(&pass));
    }
    assert!(ann.open("/again").is_from_origin(), "the visitor noticed nothing");
}

#[test]
fn renewals_keep_what_a_pass_is_bound_to() {
    let (_origin, gateway) =
        start("bind = [\"agent\"]\nsession_idle = \"4s\"\nsession_first = \"4s\"");
    let mut ann = browser(&gateway, "Firefox/1");
    assert!(ann.open("/").is_from_origin());
    let first = ann.token().expect("a pass").1;
    let renewed = eventually("a renewal", || {
        std::thread::sleep(Duration::from_millis(100));
        assert!(ann.open("/page").is_from_origin());
        ann.token().map(|token| token.1).filter(|token| expires(token) > expires(&first))
    });
    assert_eq!(bind(&renewed), bind(&first));
    assert!(!copied(&gateway, &ann, "Firefox/2").fetch("/part").is_from_origin());
    assert!(copied(&gateway, &ann, "Firefox/1").fetch("/part").is_from_origin());
}

fn call(gateway: &Gateway, agent: &str, name: &str, body: &Value) -> Response {
    let call = Request::call(&format!("/.anteroom/v1/{name}"), body).with("User-Agent", agent);
    gateway.connect().ask(&call)
}

#[test]
fn an_apps_pass_is_bound_to_its_device_and_its_agent() {
    let (_origin, gateway) = start("bind = [\"device\", \"agent\"]\nmax_active = 1");
    let join = json!({ "event_id": "sale", "device_id": "phone-1" });
    let joined = call(&gateway, "App/1", "queue/join", &join).json();
    let pass = joined["token"].as_str().expect("a pass");
    let ask = |pass: &str, device: Option<&str>, agent: &str| {
        let asked = Request::get("/echo").with("X-Admission-Pass", pass).with("User-Agent", agent);
        let asked = match device {
            Some(device) => asked.with("X-Device-ID", device),
            None => asked,
        };
        gateway.connect().ask(&asked).is_from_origin()
    };
    assert!(ask(pass, Some("phone-1"), "App/1"));
    assert!(!ask(pass, Some("phone-2"), "App/1"), "another device");
    assert!(!ask(pass, None, "App/1"), "no device");
    assert!(!ask(pass, Some("phone-1"), "App/2"), "another agent");
    // The same where the pass comes with a later call.
    let wait = json!({ "event_id": "sale", "device_id": "phone-3" });
    let waiting = call(&gateway, "App/1", "queue/join", &wait).json();
    assert_eq!(waiting["status"], "waiting", "{waiting}");
    // The visit is ended by the origin, which is another agent.
    let done = call(&gateway, "curl", "admission/complete", &json!({ "token": pass }));
    assert_eq!(done.status, 200, "{done:?}");
    let ticket = json!({ "queue_id": waiting["queue_id"] });
    let pass = eventually("the turn", || {
        let beat = call(&gateway, "App/1", "queue/heartbeat", &ticket).json();
        beat["token"].as_str().map(str::to_owned)
    });
    assert!(ask(&pass, Some("phone-3"), "App/1"));
    assert!(!ask(&pass, Some("phone-3"), "App/2") && !ask(&pass, None, "App/1"));
}

#[test]
fn by_device_alone_a_browser_is_bound_to_nothing() {
    let (_origin, gateway) = start("bind = [\"device\"]");
    let mut ann = browser(&gateway, "Firefox/1");
    assert!(ann.open("/").is_from_origin());
    assert_eq!(bind(&ann.token().expect("a pass").1), None);
    assert!(copied(&gateway, &ann, "Firefox/2").fetch("/part").is_from_origin());
    let join = json!({ "event_id": "sale", "device_id": "phone-1" });
    let joined = call(&gateway, "App/1", "queue/join", &join).json();
    let pass = joined["token"].as_str().expect("a pass");
    for (device, admitted) in [("phone-1", true), ("phone-2", false)] {
        let asked =
            Request::get("/echo").with("X-Admission-Pass", pass).with("X-Device-ID", device);
        assert_eq!(gateway.connect().ask(&asked).is_from_origin(), admitted, "{device}");
    }
}

#[test]
fn a_room_that_binds_nothing_says_nothing() {
    let (_origin, gateway) = start("");
    let mut ann = browser(&gateway, "Firefox/1");
    assert!(ann.open("/").is_from_origin());
    assert_eq!(bind(&ann.token().expect("a pass").1), None);
    assert!(copied(&gateway, &ann, "Firefox/2").fetch("/part").is_from_origin());
}
