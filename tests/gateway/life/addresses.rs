//! No address of ours leads to another site: what came with a request goes back as a path on this one, or not at all.

use crate::support::http2::Http2;
use crate::support::{Gateway, Origin, Request, Response, Visitor};

/// Where a browser would end up elsewhere, or where the head of the answer would end.
const ELSEWHERE: [&str; 22] = [
    "//evil.example",
    "///evil.example/",
    "//evil.example/%2e%2e",
    "/\\evil.example",
    "\\/evil.example",
    "\\\\evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    "\t//evil.example",
    " //evil.example",
    "/\r\nSet-Cookie: a=b",
    "/\0/evil.example",
    "https://evil.example/",
    "HTTPS:evil.example",
    "https:/evil.example",
    "//shop.example@evil.example/",
    "javascript:alert(1)",
    "data:text/html,x",
    "evil.example",
    "?x",
    "",
    // Not elsewhere, but round and round.
    "/.anteroom/continue?to=/",
];

/// What leads somewhere on this site, and does.
const HERE: [&str; 5] = ["/", "/drop?size=9&to=//x", "/a//b", "/@evil.example", "/%2f/evil"];

fn escaped(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

fn start() -> (Origin, Gateway, Visitor) {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "mode = \"hold\"").tls().start();
    let mut bob = Visitor::secure(&gateway);
    assert_eq!(bob.open("/").state().as_deref(), Some("waiting"));
    (origin, gateway, bob)
}

#[track_caller]
fn assert_leads_to(answer: &Response, wanted: &str, what: &str) {
    assert_eq!(answer.status, 303, "{what}: {answer:?}");
    assert_eq!(answer.all("location").collect::<Vec<_>>(), [wanted], "{what}: {answer:?}");
    assert_eq!(answer.all("set-cookie").count(), 0, "{what}: {answer:?}");
}

#[test]
fn the_way_back_stays_on_this_site() {
    let (_origin, gateway, bob) = start();
    let mut second = Http2::open(&gateway);
    let mut all = |to: &str, wanted: &str| {
        let back = Request::get(&format!("/.anteroom/continue?to={}", escaped(to)));
        let form = Request::post("/.anteroom/rejoin", format!("event_id=sale&to={}", escaped(to)))
            .with("Content-Type", "application/x-www-form-urlencoded");
        for (name, request) in [("continue", back), ("rejoin", form)] {
            let request = bob.dress(request.by_browser());
            assert_leads_to(&bob.connect().ask(&request), wanted, &format!("{name} {to:?}"));
            assert_leads_to(&second.ask(&request), wanted, &format!("{name} {to:?} by HTTP/2"));
        }
    };
    ELSEWHERE.iter().for_each(|to| all(to, "/"));
    HERE.iter().for_each(|to| all(to, to));
}

#[test]
fn as_it_is_written_it_stays_here_too() {
    let (_origin, _gateway, bob) = start();
    for to in [
        "//evil.example",
        "/\\evil.example",
        "https://evil.example/",
        "https:evil.example",
        "%2F%2Fevil.example",
        "/%5cevil.example",
        "%5c%5cevil.example",
        "/%09/evil.example",
        "+//evil.example",
    ] {
        for target in [
            format!("/.anteroom/continue?to={to}"),
            // Of several the first counts, and a name is a name.
            format!("/.anteroom/continue?to={to}&to=/fine"),
            format!("/.anteroom/continue?To=/fine&to={to}"),
        ] {
            let request = bob.dress(Request::get(&target).by_browser());
            assert_leads_to(&bob.connect().ask(&request), "/", &target);
        }
        let request = bob.dress(Request::post("/.anteroom/rejoin", format!("to={to}")));
        assert_leads_to(&bob.connect().ask(&request.by_browser()), "/", to);
    }
}

#[test]
fn no_page_of_ours_links_to_another_site() {
    let (_origin, _gateway, bob) = start();
    for target in
        ["//evil.example/drop", "/\\evil.example", "//evil.example?x", "/./\\/evil.example"]
    {
        let waiting = bob.dress(Request::get(target).by_browser());
        let stranger = Request::get(target).by_browser();
        let unsent = Request::post(target, "a=b").by_browser();
        let frame = Request::get(target)
            .with("Accept", "text/html")
            .with("Sec-Fetch-Mode", "navigate")
            .with("Sec-Fetch-Dest", "iframe");
        for request in [waiting, stranger, unsent, frame] {
            let page = bob.connect().ask(&request);
            assert!(!page.is_from_origin() && page.header("location").is_none(), "{page:?}");
            let text = page.text();
            assert!(text.contains("evil.example"), "the way back is there: {text}");
            for leads in ["=\"//", "=\"/\\", "url=//", "url=/\\", "to=//", "to=%2F%2F"] {
                assert!(!text.contains(leads), "{target}: {leads} in {text}");
            }
        }
    }
}

#[test]
fn whoever_leaves_is_not_sent_elsewhere_either() {
    let (_origin, gateway, _bob) = start();
    for to in ELSEWHERE {
        let mut bob = Visitor::secure(&gateway);
        bob.open("/");
        let form = format!("event_id=sale&to={}", escaped(to));
        let page = bob.submit("/.anteroom/v1/queue/leave", &form);
        assert_eq!(page.state().as_deref(), Some("expired"), "{to:?}: {page:?}");
        assert!(page.text().contains("name=\"to\" value=\"/\""), "{to:?}: {}", page.text());
    }
}
