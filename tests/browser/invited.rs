//! A link with an invite, opened by somebody: ahead of those who wait, and nothing of it left in the address.

use serde_json::json;

use super::driver::Browser;
use super::join;
use crate::support::{Gateway, Operator, Origin};

#[test]
fn a_link_leads_ahead_of_those_who_wait_and_only_once() {
    let origin = Origin::start();
    let room = "mode = \"hold\"\npoll_max = \"1s\"\nclasses = { presale = { skip = 1.0 } }";
    let gateway = Gateway::before(&origin).room("sale", room).start();
    let _line = join(&gateway, 3);
    let operator = Operator::new(&gateway);
    let wanted = json!({ "class": "presale", "url": "/drop?size=9" });
    let made = operator.does("/v1/rooms/sale/invites", &wanted);
    let link = made["invites"][0]["url"].as_str().expect("a link");

    let guest = Browser::start();
    guest.visit(&gateway, link);
    assert_eq!(guest.waits(), 1, "before whoever came first");
    assert_eq!(guest.path(), "/drop?size=9", "without the invite");
    assert_eq!(guest.shown("class").as_deref(), Some("presale"), "what it is worth");
    guest.until("the page is connected", || guest.is("live") && guest.is("classed"));
    let trace = guest.script("return document.referrer + document.documentElement.outerHTML");
    assert!(!trace.to_string().contains("anteroom_invite"), "{trace}");

    // Somebody it was passed on to is anybody.
    let other = Browser::start();
    other.visit(&gateway, link);
    assert_eq!(other.waits(), 5);
    assert!(!other.is("classed") && other.sees("[data-anteroom=class]").is_none());
    assert_eq!(other.path(), "/drop?size=9");

    // The same browser again: the same place.
    guest.visit(&gateway, link);
    assert_eq!(guest.waits(), 1);
    operator.does("/v1/rooms/sale/release", &json!({ "count": 1 }));
    guest.gets_in();
    assert_eq!(guest.path(), "/drop?size=9");
    assert_eq!(origin.last().header("x-anteroom-class"), Some("presale"));
    assert_eq!(other.position(), Some(4));
    guest.is_quiet(gateway.addr());
}

/// Where everybody has a name the link leads to the form for it, and the name to the place.
#[test]
fn a_link_is_worth_as_much_where_names_are_asked_for() {
    let origin = Origin::start();
    let room = "mode = \"hold\"\npoll_max = \"1s\"\nslots = [\"X\"]\nroster = true\n\
                classes = { presale = { skip = 1.0 } }";
    let gateway = Gateway::before(&origin).room("sale", room).start();
    let operator = Operator::new(&gateway);
    let link = || {
        let wanted = json!({ "class": "presale", "url": "/board?game=1" });
        let made = operator.does("/v1/rooms/sale/invites", &wanted);
        made["invites"][0]["url"].as_str().expect("a link").to_owned()
    };
    let named = |browser: &Browser, address: &str, name: &str| {
        browser.visit(&gateway, address);
        browser.reads("What is your name?");
        browser.types("#name", name);
        browser.click("form.name button");
    };
    let [ann, bob] = [(); 2].map(|()| Browser::start());
    named(&ann, "/board?game=1", "Ann");
    assert_eq!(ann.waits(), 1);
    named(&bob, &link(), "Bob");
    assert_eq!(bob.waits(), 1, "before Ann");
    assert_eq!(bob.path(), "/board?game=1");
    assert_eq!(bob.shown("class").as_deref(), Some("presale"));

    // Ann has a name and a place: a link shows her both.
    ann.visit(&gateway, &link());
    assert_eq!(ann.waits(), 2);
    ann.until("she is connected", || ann.is("live"));
    ann.is_quiet(gateway.addr());
    bob.is_quiet(gateway.addr());
}
