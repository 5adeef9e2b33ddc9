//! A room looks like the operator's: name, words, picture, colour.

use super::Crowd;
use super::driver::Browser;
use crate::support::{Gateway, Origin};

#[test]
fn title_message_logo_and_colour_are_the_operator_s() {
    let origin = Origin::start();
    let logo = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browser/logo.svg");
    let page = format!(
        "page = {{ title = \"Aurora Records\", message = \"Doors at ten. <b>Bring</b> a friend.\", logo = {logo:?}, accent = \"#b3261e\" }}"
    );
    let gateway = Gateway::before(&origin).room("sale", &format!("max_active = 1\n{page}")).start();
    let _crowd = Crowd::before(&gateway, 0);
    let browser = Browser::start();
    browser.visit(&gateway, "/");
    browser.waits();
    assert_eq!(browser.sees("header").as_deref(), Some("Aurora Records"));
    assert!(browser.title().ends_with(" · Aurora Records"), "{}", browser.title());
    assert_eq!(
        browser.shown("message").as_deref(),
        Some("Doors at ten. <b>Bring</b> a friend."),
        "as text"
    );
    let picture = browser.script("const i = document.querySelector('header img'); return i.complete && i.naturalWidth > 0 && i.checkVisibility()");
    assert_eq!(picture, true);
    let accent = "return getComputedStyle(document.documentElement).getPropertyValue('--a')";
    assert_eq!(browser.script(accent), "#b3261e");
    browser.dark(true);
    let darker = browser.script(accent);
    assert_ne!(darker, "#b3261e", "another tone of it, that can be read on a dark ground");
    browser.is_quiet(gateway.addr());
}
