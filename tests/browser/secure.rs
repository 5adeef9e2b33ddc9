//! Over TLS, as every real site is visited: by HTTP/2, with a cookie that the browser guards.

use serde_json::{Value, json};

use super::Crowd;
use super::driver::{Browser, Setup, secure_url};
use crate::support::{Gateway, Origin};

impl Browser {
    /// The gateway's cookies, whichever page they are for, as the browser keeps them.
    #[track_caller]
    fn places(&self) -> Vec<Value> {
        let mut kept = self.cdp("Storage.getCookies", json!({}));
        let kept = kept["cookies"].as_array_mut().map(std::mem::take).unwrap_or_default();
        let ours =
            |cookie: &Value| cookie["name"].as_str().is_some_and(|n| n.contains("anteroom-"));
        kept.into_iter().filter(ours).collect()
    }

    /// The protocol by which the page came.
    #[track_caller]
    fn protocol(&self) -> Value {
        self.script("return performance.getEntriesByType('navigation')[0].nextHopProtocol")
    }
}

/// What a browser refuses from anybody but this very host over TLS, and shows to no script.
#[track_caller]
fn assert_guarded(cookie: &Value) {
    assert!(cookie["name"].as_str().is_some_and(|n| n.starts_with("__Host-anteroom-")), "{cookie}");
    assert_eq!((&cookie["secure"], &cookie["httpOnly"]), (&json!(true), &json!(true)), "{cookie}");
    assert_eq!(
        (&cookie["path"], &cookie["domain"]),
        (&json!("/"), &json!("localhost")),
        "{cookie}"
    );
}

#[test]
fn a_visitor_waits_and_gets_in_by_http_2() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1").tls().start();
    let mut crowd = Crowd::before(&gateway, 1);
    origin.forget();
    let browser = Browser::start();
    browser.visit_secure(&gateway, "/tickets?day=2");
    assert_eq!(browser.waits(), 2);
    assert_eq!(browser.protocol(), "h2");
    let label = browser.shown("label");
    let [ticket] = &browser.places()[..] else { panic!("one cookie: {:?}", browser.places()) };
    assert_guarded(ticket);
    assert_eq!(ticket["sameSite"], "Lax");
    crowd.moves();
    browser.until("the position falls", || browser.position() == Some(1));
    browser.visit_secure(&gateway, "/tickets?day=2");
    assert_eq!((browser.waits(), browser.shown("label")), (1, label), "the cookie came back");
    assert!(origin.seen_at("/tickets").is_empty(), "nobody who waits reaches the site");
    crowd.ends();
    browser.gets_in();
    assert_eq!((browser.path().as_str(), browser.protocol()), ("/tickets?day=2", json!("h2")));
    let seen = origin.seen_at("/tickets");
    assert_eq!(seen.len(), 1, "once, and not twice");
    assert_eq!(seen[0].header("x-forwarded-proto"), Some("https"));
    assert_eq!(seen[0].header("cookie"), None);
    let [pass] = &browser.places()[..] else { panic!("one cookie: {:?}", browser.places()) };
    assert_guarded(pass);
    assert_ne!(pass["value"], ticket["value"]);
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
}

/// A shop inside a portal's page, in a browser that keeps no cookies for sites in frames but those that are kept apart
/// for each page around them.
#[test]
fn a_room_with_partitioned_cookies_works_inside_another_site() {
    let origin = Origin::start();
    let room = "max_active = 1\ncookies = \"partitioned\"";
    let gateway = Gateway::before(&origin).room("sale", room).tls().start();
    let mut crowd = Crowd::before(&gateway, 1);
    let elsewhere = Origin::named("elsewhere");
    let browser = Browser::set_up(Setup { tracking: false, ..Setup::default() });
    let around = format!("http://{}/", elsewhere.address());
    browser.open(&around);
    browser.enter_frame(&secure_url(&gateway, "/drop?size=9"));
    assert_eq!(browser.waits(), 2);
    let label = browser.shown("label");
    assert_eq!(label.as_deref(), Some("A-000003"));
    browser.until("the page is connected", || browser.is("live"));
    let [ticket] = &browser.places()[..] else { panic!("one cookie: {:?}", browser.places()) };
    assert_guarded(ticket);
    assert_eq!(ticket["sameSite"], "None");
    let key = &ticket["partitionKey"]["topLevelSite"];
    assert_eq!(key, "http://127.0.0.1", "{ticket}");
    crowd.moves();
    browser.until("the position falls", || browser.position() == Some(1));

    // Around it the portal may load again: it is the same place.
    browser.open(&around);
    browser.enter_frame(&secure_url(&gateway, "/drop?size=9"));
    assert_eq!((browser.waits(), browser.shown("label")), (1, label));
    // In a window of its own the same browser is somebody else: nobody can follow it from one to the other.
    let frame = browser.tab();
    browser.open_tab();
    browser.visit_secure(&gateway, "/drop?size=9");
    assert_eq!((browser.waits(), browser.shown("label").as_deref()), (2, Some("A-000004")));
    browser.close_tab();
    browser.switch_to(&frame);

    crowd.ends();
    let find = json!({ "using": "css selector", "value": "iframe" });
    let element = browser.command("POST", "/element", &find);
    browser.command("POST", "/frame", &json!({ "id": element }));
    browser.gets_in();
    let seen = origin.seen_at("/drop");
    assert_eq!(seen.last().and_then(|seen| seen.header("x-anteroom-number")), Some("3"));
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:?}");
}
