//! A scheduled opening: the page counts down, opens by itself, and nobody has a place before they are drawn.

use super::driver::Browser;
use super::join;
use crate::support::{Gateway, Origin};

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
    browser.until("a countdown", || clock().starts_with("0:"));
    assert!(!browser.is("paused"), "an opening to come is no pause");
    assert_eq!(browser.shown("position").as_deref(), Some("–"), "nobody has been drawn");
    let before = clock();
    browser.until("it runs", || clock() != before);
    assert!(origin.seen().is_empty(), "nobody is let in before");
    browser.until("the opening", || browser.is_inside());
}
