//! A room whose visitors have names: three browsers, one of them without scripts.

use super::driver::{Browser, Setup};
use crate::support::{Gateway, Origin};

const ROOM: &str = "slots = [\"X\"]\nslot_grace = \"2s\"\nroster = true\npoll_max = \"1s\"";

/// Somebody opens a page, is asked for a name, and gives it.
fn named(browser: &Browser, gateway: &Gateway, name: &str) {
    browser.visit(gateway, "/board?game=1");
    browser.reads("What is your name?");
    browser.types("#name", name);
    browser.click("form.name button");
}

/// What a list of the page says, line by line.
fn list(browser: &Browser, name: &str) -> String {
    let text = browser.sees(&format!("[data-anteroom={name}]")).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn everybody_has_a_name_and_sees_who_plays_and_who_waits() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("game", ROOM).start();
    let [ann, bob] = [(); 2].map(|()| Browser::start());
    named(&ann, &gateway, "Ann");
    ann.gets_in();
    assert_eq!(ann.path(), "/board?game=1");
    assert_eq!(origin.last().header("x-anteroom-slot"), Some("X"));

    // A name is one person's, and is text whatever it is.
    named(&bob, &gateway, "ANN");
    bob.reads("Somebody here has this name already.");
    bob.types("#name", "Bob <i>&");
    bob.click("form.name button");
    assert_eq!(bob.waits(), 1);
    assert_eq!(bob.path(), "/board?game=1");
    bob.until("he is in the list", || {
        list(&bob, "players") == "X Ann" && list(&bob, "line") == "1 Bob <i>&"
    });
    assert_eq!(bob.sees(".roster .me").map(|me| me.contains("Bob")), Some(true), "who they are");

    // Without scripts, too.
    let cid = Browser::set_up(Setup { scripts: false, ..Setup::default() });
    named(&cid, &gateway, "Cid");
    assert_eq!(cid.waits(), 2);
    cid.until("he is in the list, too", || list(&cid, "line") == "1 Bob <i>& 2 Cid");
    bob.until("Bob sees Cid come", || list(&bob, "line") == "1 Bob <i>& 2 Cid");

    // Ann loses: Bob plays, and Cid sees it. She is last.
    ann.visit(&gateway, "/command?c=requeue");
    bob.gets_in();
    cid.until("Cid is next", || list(&cid, "players") == "X Bob <i>&" && cid.position() == Some(1));
    ann.visit(&gateway, "/board?game=1");
    assert_eq!(ann.waits(), 2);
    ann.until("names went along", || list(&ann, "line") == "1 Cid 2 Ann");
    ann.is_quiet(gateway.addr());
}
