//! An operator's own page: plain HTML whose marked elements are kept current.

use super::Crowd;
use super::driver::Browser;
use crate::support::{Gateway, Origin};

#[test]
fn an_own_page_shows_the_place_moves_and_lets_in() {
    let origin = Origin::start();
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/page/own.html");
    let room = format!("max_active = 1\npage = {{ file = {own:?}, message = \"Doors at ten.\" }}");
    let gateway = Gateway::before(&origin).room("sale", &room).start();
    let mut crowd = Crowd::before(&gateway, 2);
    let browser = Browser::start();
    browser.visit(&gateway, "/records?id=7");
    assert_eq!(browser.waits(), 3);
    browser.reads("Aurora Records");
    assert_eq!(browser.shown("message").as_deref(), Some("Doors at ten."));
    assert_eq!(browser.shown("label").as_deref(), Some("A-000004"));
    assert_eq!(browser.script("return document.body.dataset.mine"), "ran", "its own script");
    let font = browser.script("return getComputedStyle(document.body).fontFamily");
    assert!(font.as_str().is_some_and(|font| font.contains("Georgia")), "its own style: {font}");
    crowd.moves();
    browser.until("the position falls", || browser.position() == Some(2));
    browser.offline(true);
    browser.reads("The line is gone for a moment. We keep knocking.");
    browser.offline(false);
    browser.until("back", || browser.is("live"));
    assert!(!browser.text().contains("We keep knocking"));
    crowd.moves();
    crowd.ends();
    browser.gets_in();
    assert_eq!(browser.path(), "/records?id=7");
}

#[test]
fn its_leave_button_works() {
    let origin = Origin::start();
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/page/own.html");
    let room = format!("max_active = 1\npage = {{ file = {own:?} }}");
    let gateway = Gateway::before(&origin).room("sale", &room).start();
    let _crowd = Crowd::before(&gateway, 1);
    let browser = Browser::start();
    browser.visit(&gateway, "/");
    browser.waits();
    browser.click("[data-anteroom=leave]");
    browser.question();
    browser.answer(true);
    browser.reads("You have left the line");
    browser.is_quiet(gateway.addr());
}
