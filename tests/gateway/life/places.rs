//! How many places one address may have: `limits.places_per_address`.

use serde_json::json;

use crate::support::{Gateway, Origin, Request, Response, Visitor, eventually};

/// Two places an address, and a proxy that says whose it is.
fn start(room: &str) -> (Origin, Gateway) {
    let origin = Origin::start();
    let plan = Gateway::before(&origin).top("trusted_proxies = [\"127.0.0.0/8\"]");
    (origin, plan.room("sale", room).limits("places_per_address = 2").start())
}

fn from(gateway: &Gateway, address: &str) -> Visitor {
    Visitor::new(gateway).with("X-Forwarded-For", address)
}

fn join(gateway: &Gateway, address: &str, device: &str) -> Response {
    let body = json!({ "event_id": "sale", "device_id": device });
    let call = Request::call("/.anteroom/v1/queue/join", &body).with("X-Forwarded-For", address);
    gateway.connect().ask(&call)
}

#[test]
fn an_address_gets_so_many_numbers_and_no_more() {
    let (_origin, gateway) = start("mode = \"hold\"");
    let mut crowd: Vec<Visitor> = (0..2).map(|_| from(&gateway, "192.0.2.1")).collect();
    for visitor in &mut crowd {
        assert_eq!(visitor.open("/").state().as_deref(), Some("waiting"));
    }
    let page = from(&gateway, "192.0.2.1").open("/");
    assert_eq!(page.status, 429, "{page:?}");
    let wait: u64 = page.header("retry-after").expect("when").parse().expect("seconds");
    assert!((1..=2 * 86_400).contains(&wait), "{wait}");
    assert_eq!(page.header("set-cookie"), None, "no number: {page:?}");
    let answer = join(&gateway, "192.0.2.1", "phone");
    assert_eq!((answer.status, answer.code().as_str()), (429, "rate_limited"), "{answer:?}");
    assert!(answer.header("retry-after").is_some(), "{answer:?}");
    // Those who have a place keep it; a place that is left still counts.
    for visitor in &mut crowd {
        assert_eq!(visitor.open("/").state().as_deref(), Some("waiting"));
    }
    crowd[0].submit("/.anteroom/v1/queue/leave", "event_id=sale");
    assert_eq!(from(&gateway, "192.0.2.1").open("/").status, 429);
    // Others are not meant.
    assert_eq!(from(&gateway, "192.0.2.2").open("/").state().as_deref(), Some("waiting"));
    assert_eq!(join(&gateway, "192.0.2.3", "other").status, 200);
}

#[test]
fn whoever_got_no_number_is_not_counted() {
    let (_origin, gateway) = start("mode = \"hold\"\nmax_waiting = 1");
    let mut ann = from(&gateway, "192.0.2.1");
    assert_eq!(ann.open("/").state().as_deref(), Some("waiting"));
    for _ in 0..5 {
        let page = from(&gateway, "192.0.2.2").open("/");
        assert_eq!(page.status, 503, "full, and not too often: {page:?}");
    }
    ann.submit("/.anteroom/v1/queue/leave", "event_id=sale");
    eventually("there is room", || {
        let page = from(&gateway, "192.0.2.2").open("/");
        assert_ne!(page.status, 429, "{page:?}");
        (page.state().as_deref() == Some("waiting")).then_some(())
    });
}
