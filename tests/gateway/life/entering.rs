//! In at once, or in line and then in: always at the URL that was asked for, and always in order.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::forge::{kind, number};
use crate::support::{Gateway, Origin, Request, Visitor, eventually};

#[test]
fn where_there_is_room_the_same_request_goes_in() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1").start();
    let mut ann = Visitor::new(&gateway);
    let page = ann.open("/tickets?day=1");
    assert!(page.is_from_origin(), "{page:?}");
    assert_eq!(page.status, 200);
    let seen = origin.seen();
    assert_eq!(seen.len(), 1, "one request, and no other");
    assert_eq!(seen[0].target, "/tickets?day=1");
    let cookie = page.header("set-cookie").expect("a pass");
    for part in ["HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=604800"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains("Secure"), "plain HTTP: {cookie}");
    assert_eq!(kind(&ann.token().expect("a pass").1), "anteroom-pass");
    assert!(ann.open("/more").is_from_origin());
}

#[test]
fn a_turn_comes_and_leads_where_one_wanted_to_be() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1").start();
    let mut ann = Visitor::new(&gateway);
    let mut bob = Visitor::new(&gateway);
    ann.open("/");
    origin.forget();

    let page = bob.open("/tickets?day=2");
    assert_eq!(page.state().as_deref(), Some("waiting"), "{page:?}");
    assert_eq!(page.status, 503);
    assert_eq!(page.header("location"), None, "no redirect");
    assert_eq!(page.shown("position").as_deref(), Some("1"));
    assert_eq!(page.shown("label").as_deref(), Some("A-000002"));
    assert!(page.header("retry-after").is_some());
    assert!(page.header("cache-control").is_some_and(|value| value.contains("no-store")));
    assert!(page.header("vary").is_some_and(|value| value.contains("Cookie")));
    let ticket = bob.token().expect("a ticket").1;
    assert_eq!(kind(&ticket), "anteroom-ticket");
    let again = bob.open("/tickets?day=2");
    assert_eq!(again.state().as_deref(), Some("waiting"), "{again:?}");
    assert_eq!(again.header("set-cookie"), None, "one number, however often the page is loaded");
    assert!(origin.seen().is_empty(), "nothing of somebody who waits reaches the site");

    ann.complete();
    bob.await_turn();
    origin.forget();
    let page = bob.open("/tickets?day=2");
    assert!(page.is_from_origin(), "{page:?}");
    assert_eq!(origin.last().target, "/tickets?day=2");
    assert_eq!(origin.seen().len(), 1);
    let pass = bob.token().expect("a pass").1;
    assert_eq!(kind(&pass), "anteroom-pass");
    assert_eq!(number(&pass), number(&ticket));
}

#[test]
fn the_position_falls_and_the_first_in_line_is_the_first_in() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1").start();
    let [mut ann, mut bob, mut cid, mut dan] = [(); 4].map(|()| Visitor::new(&gateway));
    assert!(ann.open("/").is_from_origin());
    for (place, visitor) in [&mut bob, &mut cid, &mut dan].into_iter().enumerate() {
        visitor.open("/");
        assert_eq!(visitor.position(), place as u64 + 1);
    }
    ann.complete();
    bob.await_turn();
    eventually("the others move up", || (dan.position() == 2).then_some(()));
    assert_eq!(cid.position(), 1);
    assert_eq!(cid.open("/").state().as_deref(), Some("waiting"), "a seat is one seat");
    assert!(bob.open("/").is_from_origin());
    bob.complete();
    cid.await_turn();
    assert_eq!(dan.open("/").state().as_deref(), Some("waiting"), "out of turn");
    assert_eq!(dan.status().json()["status"], "waiting");
    assert!(cid.open("/").is_from_origin());
    cid.complete();
    dan.await_turn();
    assert!(dan.open("/").is_from_origin());
}

#[test]
fn a_rate_lets_a_line_in_one_after_the_other() {
    let origin = Origin::start();
    let room = "rate = \"5/s\"\nburst = 1";
    let gateway = Gateway::before(&origin).room("sale", room).start();
    let mut first = Visitor::new(&gateway);
    assert!(first.open("/").is_from_origin());
    let mut line: Vec<Visitor> = (0..5).map(|_| Visitor::new(&gateway)).collect();
    let mut numbers = Vec::new();
    for visitor in &mut line {
        visitor.open("/");
        numbers.push(number(&visitor.token().expect("a ticket or a pass").1));
    }
    assert!(numbers.is_sorted(), "{numbers:?}");
    for visitor in &mut line {
        eventually("everybody gets in", || visitor.open("/").is_from_origin().then_some(()));
    }
}

#[test]
fn a_turn_is_taken_by_the_very_request_that_finds_it() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1").start();
    let [mut ann, mut bob] = [(); 2].map(|()| Visitor::new(&gateway));
    ann.open("/");
    bob.open("/here");
    ann.complete();
    // No poll: only the page again, as browsers without scripts do it.
    let page = eventually("bob's page is let in", || {
        Some(bob.open("/here")).filter(|page| page.is_from_origin())
    });
    assert!(page.header("set-cookie").is_some(), "the pass comes with it: {page:?}");
    assert_eq!(origin.seen_at("/here").len(), 1);
}

#[test]
fn over_tls_the_cookie_is_guarded_by_its_name() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1").tls().start();
    let mut ann = Visitor::secure(&gateway);
    let page = ann.open("/");
    assert!(page.is_from_origin(), "{page:?}");
    let (name, pass) = ann.token().expect("a pass");
    assert!(name.starts_with("__Host-anteroom-"), "{name}");
    let cookie = page.header("set-cookie").expect("a pass");
    assert!(cookie.contains("; Secure"), "{cookie}");
    // Whoever can write plain cookies for the host can't put one in its place.
    let mut eve = Visitor::secure(&gateway);
    eve.keep(name.trim_start_matches("__Host-"), &pass);
    assert_eq!(eve.open("/").state().as_deref(), Some("waiting"));
    let mut eve = Visitor::new(&gateway);
    eve.keep(&name, &pass);
    assert_eq!(eve.open("/").state().as_deref(), Some("waiting"));
}

/// The answer with the pass can get lost on its way. Whoever has only their ticket then is inside, and is told so for as long
/// as that lasts: a node's own copy of the line says no more than that the turn is used.
#[test]
fn whoever_never_got_their_pass_is_not_told_that_their_turn_is_over() {
    let origin = Origin::start();
    let room = "max_active = 1\nheartbeat_timeout = \"5s\"\npoll_max = \"1s\"";
    let gateway = Gateway::before(&origin).room("sale", room).start();
    let mut ann = Visitor::new(&gateway);
    let mut bob = Visitor::new(&gateway);
    ann.open("/");
    bob.open("/");
    let (name, ticket) = bob.token().expect("a ticket");
    ann.complete();
    bob.await_turn();
    assert!(bob.open("/").is_from_origin());
    bob.keep(&name, &ticket);
    // Two sweeps: the copy hears of used turns with each.
    let until = Instant::now() + Duration::from_secs(6);
    while Instant::now() < until {
        let status = bob.status();
        assert_eq!(status.json()["status"], "admitted", "{status:?}");
        assert_eq!(status.json()["token"], Value::Null, "by cookie the pass comes with the page");
        std::thread::sleep(Duration::from_millis(250));
    }
    assert!(bob.open("/").is_from_origin());
    assert_eq!(kind(&bob.token().expect("a pass").1), "anteroom-pass");
}

/// Near the front a page asks every two seconds, and two tabs of one visitor use up what a ticket may ask. The request that
/// enters got the page that says "too many requests", while the claim window ran.
#[test]
fn two_tabs_that_ask_too_often_do_not_keep_their_visitor_out() {
    let origin = Origin::start();
    let plan = Gateway::before(&origin).room("sale", "max_active = 1");
    let gateway = plan.limits("requests_per_ticket = \"6/h\"").start();
    let [mut ann, mut bob] = [(); 2].map(|()| Visitor::new(&gateway));
    assert!(ann.open("/").is_from_origin());
    assert_eq!(bob.open("/").state().as_deref(), Some("waiting"));
    let mut tabs = [(); 2].map(|()| gateway.connect());
    let poll = bob.dress(Request::get("/.anteroom/v1/queue/status"));
    for _ in 0..6 {
        for tab in &mut tabs {
            tab.ask(&poll);
        }
    }
    assert_eq!(tabs.each_mut().map(|tab| tab.ask(&poll).status), [429, 429]);
    let page = bob.open("/tickets");
    assert_eq!(
        (page.status, page.is_from_origin()),
        (429, false),
        "a page that merely waits: {page:?}"
    );
    ann.complete();
    eventually("the turn is theirs", || bob.open("/tickets").is_from_origin().then_some(()));
}
