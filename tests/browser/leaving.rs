//! Leaving the line: asked once, done at once, and one click to join again.

use super::driver::Browser;
use super::{Crowd, join};
use crate::support::{Gateway, Origin};

#[test]
fn who_leaves_is_asked_first_and_can_join_again() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1").start();
    let mut crowd = Crowd::before(&gateway, 0);
    let browser = Browser::start();
    browser.visit(&gateway, "/drop?size=9");
    browser.waits();
    crowd.line.extend(join(&gateway, 1));

    browser.click("[data-anteroom=leave]");
    assert_eq!(browser.question(), "Leave the line? You will lose your place.");
    browser.answer(false);
    assert_eq!((browser.waits(), browser.shown("label").as_deref()), (1, Some("A-000002")));

    browser.click("[data-anteroom=leave]");
    browser.question();
    browser.answer(true);
    browser.reads("You have left the line");
    let left = gateway.events("queue.status_changed", 1);
    assert_eq!((&left[0]["number"], &left[0]["reason"]), (&2.into(), &"left".into()));
    // The place is the next one's now.
    crowd.moves();

    browser.click("button.button, a.button");
    browser.until("a new place", || browser.shown("label").as_deref() == Some("A-000004"));
    assert_eq!(browser.path(), "/drop?size=9");
    browser.is_quiet(gateway.addr());
}

#[test]
fn leaving_in_one_tab_does_not_accuse_the_browser_in_another() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1").start();
    let _crowd = Crowd::before(&gateway, 1);
    let browser = Browser::start();
    browser.visit(&gateway, "/one");
    browser.waits();
    let one = browser.tab();
    // It has asked once: the cookie is kept, there is no doubt any more.
    browser.until("the page has asked", || {
        let asked = "return performance.getEntriesByType('resource').some(e => e.name.includes('/queue/status'))";
        browser.script(asked) == true
    });
    browser.open_tab();
    browser.visit(&gateway, "/two");
    browser.waits();
    browser.click("[data-anteroom=leave]");
    browser.question();
    browser.answer(true);
    browser.reads("You have left the line");
    browser.switch_to(&one);
    browser.until("the place is gone here, too", || browser.state().as_deref() != Some("waiting"));
    assert!(!browser.text().contains("Cookies are switched off"), "{}", browser.text());
}
