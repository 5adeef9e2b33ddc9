//! A form is never sent behind somebody's back: the page says that it was not, and leads to its page by GET.

use super::Crowd;
use super::driver::Browser;
use crate::support::{Gateway, Origin};

#[test]
fn a_form_sent_while_waiting_is_not_sent_and_its_page_opens_afterwards() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1").start();
    let mut crowd = Crowd::before(&gateway, 0);
    let browser = Browser::start();
    browser.visit(&gateway, "/");
    browser.waits();
    origin.forget();
    browser.submit(&gateway, "/order?item=7");
    browser.reads("Your form was not sent.");
    assert_eq!(browser.waits(), 1);
    assert_eq!(browser.path(), "/order?item=7");
    assert!(origin.seen().is_empty());
    browser.until("the page keeps itself current", || browser.is("live"));
    assert!(browser.is("unsent"), "and goes on saying it");
    crowd.ends();
    // Long enough to be read: the form is to be filled in once more.
    browser.until("it is their turn", || browser.state().as_deref() == Some("admitted"));
    browser.reads("Your form was not sent.");
    browser.gets_in();
    assert_eq!(browser.path(), "/order?item=7");
    let seen = origin.seen_at("/order");
    assert_eq!(seen.len(), 1);
    assert_eq!((seen[0].method.as_str(), seen[0].body_bytes), ("GET", 0));
}

#[test]
fn a_form_without_a_place_is_not_sent_and_takes_no_number() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1").start();
    let _crowd = Crowd::before(&gateway, 0);
    let browser = Browser::start();
    // A page of the site itself, beside the waiting room.
    browser.open(&format!("http://{}/form", origin.address()));
    origin.forget();
    browser.submit(&gateway, "/order?item=7");
    browser.reads("Your form was not sent");
    assert!(origin.seen_at("/order").is_empty());
    browser.click("a.button");
    assert_eq!(browser.waits(), 1);
    assert_eq!(
        browser.shown("label").as_deref(),
        Some("A-000002"),
        "the first number after the seat's"
    );
    assert_eq!(browser.path(), "/order?item=7");
    assert!(!browser.is("unsent"));
}
