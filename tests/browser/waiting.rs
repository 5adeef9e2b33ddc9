//! Arrive, wait, watch the line move, and be inside: where one wanted to be.

use serde_json::json;

use super::driver::Browser;
use super::{Crowd, come, join};
use crate::support::{Gateway, Origin};

#[test]
fn a_visitor_waits_sees_the_position_fall_and_gets_in_at_the_address_asked_for() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "rate = \"2/s\"\nburst = 1").start();
    come(&gateway, 12);
    origin.forget();
    let browser = Browser::start();
    browser.visit(&gateway, "/tickets?day=2&name=Zo%C3%AB");
    let mut seen = vec![browser.waits()];
    let label = browser.shown("label").expect("a ticket");
    assert_eq!(browser.path(), "/tickets?day=2&name=Zo%C3%AB", "no redirect");
    assert!(origin.seen().is_empty(), "nobody who waits reaches the site");
    browser.until("the visitor gets in", || {
        let position = browser.position();
        if let Some(position) = position.filter(|position| seen.last() != Some(position)) {
            seen.push(position);
            assert!(seen.is_sorted_by(|a, b| a > b), "the position rose: {seen:?}");
            assert_eq!(browser.shown("label").as_deref().unwrap_or(&label), label);
        }
        browser.is_inside()
    });
    assert!(seen.len() > 1, "a wait of seconds in which the page never moved: {seen:?}");
    assert_eq!(browser.path(), "/tickets?day=2&name=Zo%C3%AB");
    assert_eq!(origin.seen_at("/tickets").len(), 1, "once, and not twice");
    assert_eq!(origin.seen_at("/tickets")[0].target, "/tickets?day=2&name=Zo%C3%AB");
    browser.is_quiet(gateway.addr());
    // The waiting page is no stop on the way back.
    browser.command("POST", "/back", &json!({}));
    assert_eq!(browser.state(), None, "{}", browser.text());
}

#[test]
fn the_page_says_all_there_is_to_know_and_the_tab_the_position() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1").start();
    let mut crowd = Crowd::before(&gateway, 2);
    let browser = Browser::start();
    browser.visit(&gateway, "/");
    join(&gateway, 2);
    assert_eq!(browser.waits(), 3);
    assert_eq!(browser.shown("label").as_deref(), Some("A-000004"));
    // Seats and sessions are all that is known yet: three sessions at the front of one seat, roughly.
    assert_eq!(browser.shown("eta").as_deref(), Some("about 4–40 minutes"));
    browser.until("the page is connected", || browser.is("live"));
    browser.reads("Connected");
    browser.reads("Updated at ");
    browser.reads("Keep this page open.");
    browser.until("the others are counted", || browser.shown("waiting").as_deref() == Some("5"));
    assert!(browser.title().contains('3'), "{}", browser.title());
    crowd.moves();
    browser.until("the position falls", || browser.position() == Some(2));
    browser.until("the tab shows it", || browser.title().starts_with("#2 · "));
    browser.is_quiet(gateway.addr());
}
