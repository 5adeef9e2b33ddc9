//! The store goes away while people look at the page.

use super::driver::Browser;
use crate::support::shaky::Manner;
use crate::support::{CutOff, Origin};

/// Pages ask every second, and find out soon.
const ROOM: &str = "max_active = 1\npoll_max = \"1s\"";

#[test]
fn a_waiting_page_stays_with_its_place_and_goes_on_by_itself() {
    let origin = Origin::start();
    let gateway = CutOff::before(&origin, ROOM, "");
    let mut ann = gateway.visitor();
    assert!(ann.open("/").is_from_origin());
    let browser = Browser::start();
    browser.open(&gateway.url("/drop?size=9"));
    browser.waits();
    gateway.store_is(Manner::Refusing);
    browser.until("it says so", || browser.is("reconnecting"));
    browser.reads("This is your last known place");
    assert_eq!(browser.shown("position").as_deref(), Some("1"));
    // Whoever loads the page again sees the same.
    browser.open(&gateway.url("/drop?size=9"));
    browser.until("the client is there", || browser.script("return !!self.anteroom") == true);
    assert!(browser.is("waiting") && browser.is("reconnecting"), "{:?}", browser.state());
    assert_eq!(browser.shown("position").as_deref(), Some("1"));
    gateway.store_is(Manner::Well);
    browser.until("it is connected again", || browser.is("live"));
    ann.complete();
    browser.gets_in();
    assert_eq!(browser.path(), "/drop?size=9");
}

#[test]
fn an_arrival_becomes_a_place_and_a_place_a_visit_without_a_click() {
    let origin = Origin::start();
    let gateway = CutOff::starting(&origin, ROOM, "", Manner::Refusing);
    let browser = Browser::start();
    browser.open(&gateway.url("/drop?size=9"));
    browser.until("its arrival is recorded", || browser.is("provisional"));
    browser.reads("Your arrival is recorded");
    browser.reads("Next try in");
    let mut before = gateway.visitor();
    before.open("/");
    gateway.store_is(Manner::Well);
    browser.gets_in();
    assert_eq!(browser.path(), "/drop?size=9", "there is one seat, and the browser came first");
}
