//! Without JavaScript: the page loads itself again, and everything works by links and forms.

use super::Crowd;
use super::driver::{Browser, Setup};
use crate::support::{Gateway, Origin};

fn plain() -> Browser {
    Browser::set_up(Setup { scripts: false, ..Setup::default() })
}

#[test]
fn without_scripts_the_page_shows_the_place_and_gets_in_by_refresh() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1").start();
    let mut crowd = Crowd::before(&gateway, 1);
    let browser = plain();
    browser.visit(&gateway, "/tickets?day=2");
    assert_eq!(browser.waits(), 2);
    let label = browser.shown("label").expect("a ticket");
    assert_eq!(browser.shown("waiting").as_deref(), Some("2"));
    assert!(browser.title().contains('2'), "{}", browser.title());
    let text = browser.text();
    for only_with_scripts in ["Connected", "Reconnecting", "Updated"] {
        assert!(!text.contains(only_with_scripts), "{only_with_scripts} in {text}");
    }
    crowd.moves();
    browser.until("the position falls", || browser.position() == Some(1));
    assert_eq!(browser.shown("label"), Some(label));
    assert_eq!(browser.path(), "/tickets?day=2", "by way of /.anteroom/continue and back");
    crowd.ends();
    browser.gets_in();
    assert_eq!(browser.path(), "/tickets?day=2");
    browser.is_quiet(gateway.addr());
}

#[test]
fn without_scripts_one_leaves_by_a_form_and_joins_again() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1").start();
    let _crowd = Crowd::before(&gateway, 1);
    let browser = plain();
    browser.visit(&gateway, "/tickets?day=2");
    assert_eq!(browser.shown("label").as_deref(), Some("A-000003"));
    browser.click("[data-anteroom=leave]");
    browser.reads("You have left the line");
    browser.click("button.button, a.button");
    browser.waits();
    assert_eq!(browser.shown("label").as_deref(), Some("A-000004"), "at the end of the line");
    assert_eq!(browser.path(), "/tickets?day=2");
}
