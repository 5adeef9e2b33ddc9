//! A tab that was closed, a browser that was quit: the place is kept.

use super::driver::Browser;
use super::{Crowd, join};
use crate::support::{Gateway, Origin};

#[test]
fn a_closed_tab_and_a_closed_browser_find_their_place_again() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1").start();
    let mut crowd = Crowd::before(&gateway, 1);
    let mut browser = Browser::start();
    browser.visit(&gateway, "/drop/7?size=9");
    assert_eq!(browser.waits(), 2);
    let label = browser.shown("label").expect("a ticket");
    join(&gateway, 3);

    let first = browser.tab();
    let second = browser.open_tab();
    browser.switch_to(&first);
    browser.close_tab();
    assert_eq!(browser.tab(), second);
    browser.visit(&gateway, "/drop/7?size=9");
    assert_eq!(browser.waits(), 2, "the same place, before those who came later");
    assert_eq!(browser.shown("label").as_deref(), Some(label.as_str()));

    crowd.moves();
    browser.restart();
    browser.visit(&gateway, "/drop/7?size=9");
    assert_eq!(browser.waits(), 1);
    assert_eq!(browser.shown("label").as_deref(), Some(label.as_str()));
    crowd.ends();
    browser.gets_in();
    assert_eq!(browser.path(), "/drop/7?size=9");
}

#[test]
fn two_tabs_are_one_place_and_both_get_in() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1").start();
    let mut crowd = Crowd::before(&gateway, 0);
    let browser = Browser::start();
    browser.visit(&gateway, "/one");
    browser.waits();
    let (one, label) = (browser.tab(), browser.shown("label"));
    let two = browser.open_tab();
    browser.visit(&gateway, "/two");
    assert_eq!(browser.waits(), 1);
    assert_eq!(browser.shown("label"), label);
    crowd.ends();
    browser.gets_in();
    assert_eq!(browser.path(), "/two");
    browser.switch_to(&one);
    browser.gets_in();
    assert_eq!(browser.path(), "/one");
    assert_ne!(one, two);
}
