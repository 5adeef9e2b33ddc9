//! A browser that keeps no cookies is told so, and takes one number at most, not one a second.

use super::Crowd;
use super::driver::{Browser, Setup};
use crate::support::{Gateway, Origin, Visitor};

/// How many numbers the line has given: the next one's, less one.
fn given(gateway: &Gateway) -> u64 {
    let label = Visitor::new(gateway).open("/").shown("label").expect("a ticket");
    label.trim_start_matches("A-").parse::<u64>().expect("a number") - 1
}

#[test]
fn with_scripts_the_page_says_that_cookies_are_off_and_joins_no_more() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1").start();
    let _crowd = Crowd::before(&gateway, 1);
    let browser = Browser::set_up(Setup { cookies: false, ..Setup::default() });
    browser.visit(&gateway, "/drop?size=9");
    browser.reads("Cookies are switched off");
    assert!(browser.path().starts_with("/.anteroom/continue?to="), "{}", browser.path());
    let before = given(&gateway);
    assert_eq!(before, 3, "one number, for the one visit");
    let again =
        browser.script("return document.querySelectorAll('script, meta[http-equiv]').length");
    assert_eq!(again, 0, "nothing that would try again by itself");
    browser.is_quiet(gateway.addr());
    // By hand one may try again: that is one visit more.
    browser.click("a.button");
    browser.reads("Cookies are switched off");
    assert_eq!(given(&gateway), before + 2, "one for the visit, one for the last look");
}

#[test]
fn without_scripts_the_first_refresh_says_it() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1").start();
    let _crowd = Crowd::before(&gateway, 0);
    let setup = Setup { cookies: false, scripts: false, ..Setup::default() };
    let browser = Browser::set_up(setup);
    browser.visit(&gateway, "/drop?size=9");
    assert!(browser.shown("position").is_some(), "{}", browser.text());
    browser.reads("Cookies are switched off");
    assert_eq!(given(&gateway), 2);
}
