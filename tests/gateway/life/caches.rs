//! A response with a visitor's pass in it is that visitor's alone; one for everybody carries no pass.

use std::time::{Duration, Instant};

use crate::support::{Gateway, Origin, Response, Visitor};

const SHARED: &str = "/reply?h=Cache-Control:public,%20s-maxage=600,%20max-age=60,%20immutable\
    &h=Surrogate-Control:max-age=9&h=CDN-Cache-Control:max-age=9&h=Cloudflare-CDN-Cache-Control:max-age=9";

fn start(room: &str) -> (Origin, Gateway, Visitor) {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", room).start();
    let ann = Visitor::new(&gateway);
    (origin, gateway, ann)
}

#[track_caller]
fn assert_private(page: &Response) {
    let said = page.all("cache-control").collect::<Vec<_>>().join(", ").to_ascii_lowercase();
    for word in ["public", "s-maxage", "immutable"] {
        assert!(!said.contains(word), "{page:?}");
    }
    assert!(said.contains("private"), "{page:?}");
    for name in ["surrogate-control", "cdn-cache-control", "cloudflare-cdn-cache-control"] {
        assert_eq!(page.header(name), None, "{page:?}");
    }
}

#[test]
fn the_response_that_hands_out_a_pass_is_private() {
    for target in
        [SHARED, "/reply", "/reply?h=Cache-Control:PUBLIC", "/reply?h=Cache-Control:private"]
    {
        let (_origin, _gateway, mut ann) = start("max_active = 1");
        let page = ann.open(target);
        assert!(page.is_from_origin(), "{page:?}");
        assert!(ann.token().is_some(), "whoever enters must get the pass: {page:?}");
        assert_private(&page);
        if target == SHARED {
            let said = page.header("cache-control").unwrap_or_default();
            assert!(said.contains("max-age=60"), "for the visitor's own cache it stays: {said}");
        }
    }
}

#[test]
fn whoever_enters_gets_the_pass_even_with_a_304() {
    let (_origin, _gateway, mut ann) = start("max_active = 1");
    let page = ann.open("/reply?status=304");
    assert_eq!(page.status, 304);
    assert!(ann.token().is_some(), "{page:?}");
}

#[test]
fn a_renewal_waits_for_a_response_that_no_cache_keeps() {
    let room = "max_active = 1\nsession_idle = \"6s\"\nsession_first = \"6s\"";
    let (_origin, _gateway, mut ann) = start(room);
    assert!(ann.open("/").is_from_origin());
    let pass = ann.token();
    let began = Instant::now();
    // An eighth of the idle time is long over at the end.
    while began.elapsed() < Duration::from_millis(2_000) {
        for target in [SHARED, "/reply?status=304", "/reply?h=Cache-Control:s-maxage=5"] {
            let page = ann.fetch(target);
            assert!(page.is_from_origin(), "{page:?}");
            assert_eq!(page.header("set-cookie"), None, "{target}: {page:?}");
            if target == SHARED {
                let said = page.header("cache-control").unwrap_or_default();
                assert!(said.contains("public") && said.contains("s-maxage=600"), "{page:?}");
                assert!(page.header("surrogate-control").is_some(), "{page:?}");
            }
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(ann.token(), pass);
    let page = ann.fetch("/reply?h=Cache-Control:max-age=5");
    assert!(page.header("set-cookie").is_some(), "now it may come: {page:?}");
    assert_private(&page);
}

#[test]
fn the_origins_own_cookies_stay() {
    let (_origin, _gateway, mut ann) = start("max_active = 1");
    let page = ann.open("/reply?h=Set-Cookie:a=1&h=Set-Cookie:b=2");
    assert_eq!(page.all("set-cookie").count(), 3, "{page:?}");
}

#[test]
fn what_the_gateway_says_itself_is_kept_by_nobody() {
    let (_origin, _gateway, mut ann) = start("mode = \"hold\"");
    let mut answers = vec![ann.open("/"), ann.open("/"), ann.fetch("/a.js"), ann.status()];
    answers.push(ann.submit("/form", "a=b"));
    answers.push(ann.open("/.anteroom/health"));
    answers.push(ann.open("/.anteroom/nothing"));
    answers.push(ann.open("/.anteroom/continue?to=%2F"));
    answers.push(ann.leave());
    for answer in answers {
        assert!(!answer.is_from_origin());
        let said = answer.header("cache-control").unwrap_or_default();
        assert!(said.contains("no-store"), "{answer:?}");
        assert!(answer.header("vary").is_some_and(|value| value.contains("Cookie")), "{answer:?}");
    }
}
