//! Only a person who opens a page takes a number. Everything else gets a short answer, and never one.

use crate::support::{Gateway, Origin, Request, Visitor};

fn full_room() -> (Origin, Gateway) {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1").start();
    assert!(Visitor::new(&gateway).open("/").is_from_origin());
    origin.forget();
    (origin, gateway)
}

#[test]
fn what_is_no_page_gets_no_number_and_never_passes() {
    let (origin, gateway) = full_room();
    let html = "text/html,*/*;q=0.8";
    let plain = |request: Request| request;
    let cases: [(&str, Request); 12] = [
        ("a picture", plain(Request::get("/a.png").with("Accept", "image/*"))),
        ("a script's call", Request::get("/api").with("Accept", "application/json")),
        ("nothing said", Request::get("/")),
        ("a HEAD", Request { method: "HEAD".into(), ..Request::get("/").with("Accept", html) }),
        ("fetch", Request::get("/").with("Accept", html).with("Sec-Fetch-Mode", "cors")),
        ("a prefetch", Request::get("/").by_browser().with("Sec-Purpose", "prefetch")),
        ("a prerender", Request::get("/").by_browser().with("Sec-Purpose", "prefetch;prerender")),
        ("an old prefetch", Request::get("/").by_browser().with("X-Moz", "prefetch")),
        ("a put", Request { method: "PUT".into(), ..Request::post("/", "x").by_browser() }),
        ("options", Request { method: "OPTIONS".into(), ..Request::get("/").by_browser() }),
        ("json sent", Request::post("/api", "{}").with("Accept", "application/json")),
        ("a delete", Request { method: "DELETE".into(), ..Request::get("/").by_browser() }),
    ];
    for (name, request) in cases {
        let answer = gateway.connect().ask(&request);
        assert_eq!(answer.status, 503, "{name}: {answer:?}");
        assert!(answer.header("retry-after").is_some(), "{name}: {answer:?}");
        assert_eq!(answer.header("set-cookie"), None, "{name}");
        if request.headers.contains(&("Accept".into(), "application/json".into())) {
            assert_eq!(answer.code(), "waiting_room", "{name}");
        }
    }
    assert!(origin.seen().is_empty());
    let mut bob = Visitor::new(&gateway);
    assert_eq!(bob.open("/").shown("label").as_deref(), Some("A-000002"), "no number was used up");
}

#[test]
fn a_form_is_told_that_it_was_not_sent() {
    let (origin, gateway) = full_room();
    let mut bob = Visitor::new(&gateway);
    let page = bob.submit("/order", "what=7");
    assert_eq!(page.status, 503);
    assert!(page.header("content-type").is_some_and(|kind| kind.contains("text/html")));
    assert_eq!(bob.token(), None, "no number by a form");
    // Nor by one who has a place already: it keeps the place.
    bob.open("/order");
    let page = bob.submit("/order", "what=7");
    assert!(page.text().contains("data-anteroom-state=\"waiting unsent\""), "{page:?}");
    assert!(origin.seen().is_empty());
}

#[test]
fn a_frame_leads_out_of_itself() {
    let (origin, gateway) = full_room();
    let request = Request::get("/shop?a=1&b=2").with("Accept", "text/html");
    let framed = request.with("Sec-Fetch-Mode", "navigate").with("Sec-Fetch-Dest", "iframe");
    let page = gateway.connect().ask(&framed);
    assert_eq!(page.status, 503);
    assert!(page.text().contains("target=\"_top\""), "{page:?}");
    assert!(page.text().contains("href=\"/shop?a=1&amp;b=2\""), "{}", page.text());
    assert_eq!(page.header("set-cookie"), None);
    assert!(origin.seen().is_empty());
}

#[test]
fn a_page_that_reads_json_gets_json() {
    let (_origin, gateway) = full_room();
    let mut bob = Visitor::new(&gateway);
    bob.open("/");
    let request = Request::get("/api").with("Accept", "application/json");
    let answer = bob.send(request.with("Sec-Fetch-Mode", "cors"));
    assert_eq!(answer.status, 503, "{answer:?}");
    let said = answer.json();
    assert_eq!((&said["status"], &said["position"]), (&"waiting".into(), &1.into()), "{said}");
    assert_eq!(said.get("queue_id"), None, "a script of a page has no business with the ticket");
}

#[test]
fn whoever_does_not_keep_cookies_is_told_so() {
    let (_origin, gateway) = full_room();
    let mut bob = Visitor::new(&gateway);
    let page = bob.open("/here?x=1");
    // Without scripts the fresh page goes on by this address.
    assert!(page.text().contains("url=/.anteroom/continue?to="), "{}", page.text());
    let back = bob.open("/.anteroom/continue?to=%2Fhere%3Fx%3D1");
    assert_eq!((back.status, back.header("location")), (303, Some("/here?x=1")), "{back:?}");
    bob.forget();
    let page = bob.open("/.anteroom/continue?to=%2Fhere%3Fx%3D1");
    assert_eq!(page.header("location"), None, "{page:?}");
    assert_eq!(page.header("set-cookie"), None, "no number");
    assert!(page.text().contains("href=\"/here?x=1\""), "{}", page.text());
}
