//! Without a network the page says so, over the last known place, and goes on by itself when there is one.

use super::Crowd;
use super::driver::Browser;
use super::relay::Relay;
use crate::support::{Gateway, Origin};

#[test]
fn in_a_tunnel_the_last_place_stays_and_behind_it_the_line_goes_on() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1").start();
    let mut crowd = Crowd::before(&gateway, 2);
    let browser = Browser::start();
    browser.visit(&gateway, "/tunnel");
    assert_eq!(browser.waits(), 3);
    let label = browser.shown("label");
    browser.offline(true);
    browser.until("the page is cut off", || browser.is("reconnecting"));
    browser.reads("Reconnecting…");
    browser.reads("This is your last known place");
    assert!(!browser.text().contains("Connected"));
    assert_eq!((browser.position(), browser.shown("label")), (Some(3), label.clone()));
    crowd.moves();
    assert_eq!(browser.position(), Some(3), "nothing new is known");
    browser.offline(false);
    browser.until("the page is back", || browser.is("live") && browser.position() == Some(2));
    assert_eq!(browser.shown("label"), label);
    assert!(!browser.text().contains("Reconnecting"));
    crowd.moves();
    crowd.ends();
    browser.gets_in();
    assert_eq!(browser.path(), "/tunnel");
}

#[test]
fn a_server_that_is_gone_is_asked_again_until_it_is_back() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1").start();
    let mut crowd = Crowd::before(&gateway, 0);
    let mut relay = Relay::to(&gateway);
    let browser = Browser::start();
    browser.open(&relay.url("/far?away=1"));
    browser.waits();
    relay.cut();
    browser.until("the page is cut off", || browser.is("reconnecting"));
    assert_eq!(browser.position(), Some(1));
    crowd.ends();
    // Nothing tells the browser that the network is back: it tries again after a pause of its own.
    relay.mend();
    browser.gets_in();
    assert_eq!(browser.path(), "/far?away=1");
}
