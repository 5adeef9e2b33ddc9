//! A scheduled opening: the page counts down, opens by itself, and nobody has a place before they are drawn.

use super::driver::Browser;
use super::join;
use crate::support::{Gateway, Origin, Visitor};

/// In line when the schedule closes the room: told so, and how long it is until it opens.
#[test]
fn whoever_waits_while_a_room_is_closed_sees_when_it_opens() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "rate = 0\npoll_max = \"1s\"").start();
    let browser = Browser::start();
    browser.visit(&gateway, "/");
    assert_eq!(browser.waits(), 1);
    assert!(!browser.is("paused"));
    assert_eq!(browser.shown("eta").as_deref(), Some("–"), "by hand: nobody knows when");
    let opens = anteroom::clock::moment(anteroom::clock::now_ms() + 3_600_000);
    let config = gateway.config().text();
    let schedule = format!("rate = 0\nschedule = [{{ opens = \"{opens}\" }}]");
    assert!(gateway.reload(&config.replace("rate = 0", &schedule)));
    let clock = || browser.shown("eta").unwrap_or_default();
    let counts =
        || ["59:", "58:"].iter().any(|minute| clock().starts_with(&format!("Opens in {minute}")));
    browser.until("it is told", || browser.is("paused") && counts());
    let before = clock();
    browser.until("it runs", || clock() != before);
    assert_eq!(browser.position(), Some(1), "the place is kept");
    // Opened anew, too, from the first moment on.
    browser.visit(&gateway, "/");
    browser.until("the page is there", || browser.is("paused") && counts());
    browser.is_quiet(gateway.addr());
}

#[test]
fn the_page_counts_down_to_a_drawn_opening_and_gets_in() {
    let origin = Origin::start();
    let opens = anteroom::clock::moment(anteroom::clock::now_ms() + 15_000);
    let schedule = format!("[{{ opens = \"{opens}\", prequeue = \"1h\", draw = true }}]");
    let room = format!("rate = \"20/s\"\nschedule = {schedule}");
    let gateway = Gateway::before(&origin).room("sale", &room).start();
    join(&gateway, 3);
    let browser = Browser::start();
    browser.visit(&gateway, "/");
    browser.until("the page is connected", || browser.is("live"));
    let clock = || browser.shown("eta").unwrap_or_default();
    browser.until("a countdown", || clock().starts_with("Opens in 0:"));
    let page = Visitor::new(&gateway).open("/").text();
    assert!(page.contains("data-anteroom=\"position\">–<"), "nor without scripts: {page}");
    assert!(!browser.is("paused"), "an opening to come is no pause");
    browser.until("nobody has been drawn", || browser.shown("position").as_deref() == Some("–"));
    let before = clock();
    browser.until("it runs", || clock() != before);
    assert!(origin.seen().is_empty(), "nobody is let in before");
    browser.until("the opening", || browser.is_inside());
}
