//! The dashboard: what operators see of a line, and do to it, in a real browser.

use std::net::SocketAddr;

use serde_json::json;

use super::driver::Browser;
use super::manner::{DESK, PHONE, Screen};
use super::{come, join};
use crate::support::gateway::Signal;
use crate::support::operator::{ADMIN, OPERATOR, VIEWER};
use crate::support::shaky::Manner;
use crate::support::{CutOff, Gateway, Operator, Origin, Visitor};

/// A wall during a sale.
const WALL: Screen = Screen { width: 2560, height: 1440, mobile: false };

impl Browser {
    /// Logs in at the operators' port.
    #[track_caller]
    pub fn logs_in(&self, admin: SocketAddr, key: &str) {
        self.open(&format!("http://{admin}/"));
        self.types("#key", key);
        self.click("#login .primary");
        self.until("the dashboard is live", || self.sees("#line").as_deref() == Some("Live"));
    }

    /// The number under a name.
    fn tile(&self, name: &str) -> Option<u64> {
        let script = format!(
            "const tile = [...document.querySelectorAll('.tile')].find(e => e.querySelector('dt').textContent === {});
             return tile ? tile.querySelector('.value').textContent : null;",
            json!(name)
        );
        let text = self.try_script(&script).ok()?;
        text.as_str()?.replace(',', "").parse().ok()
    }

    /// Finds a visitor, of whom this is told.
    #[track_caller]
    pub(super) fn finds(&self, ticket: &str, told: &str) {
        self.types("#visitor", ticket);
        self.click("[role=search] button");
        self.until("somebody is found", || {
            self.sees(".found").is_some_and(|found| found.contains(ticket) && found.contains(told))
        });
    }

    /// Does a verb: its button, and the one that confirms.
    #[track_caller]
    fn does(&self, verb: &str, fields: &[(&str, &str)]) {
        self.click(&format!("[data-verb={verb}]"));
        for (field, value) in fields {
            self.types(&format!("#field-{field}"), value);
        }
        self.click("dialog [type=submit], dialog .end button:last-child");
        self.until("the dialog closes", || self.sees("dialog").is_none());
    }
}

#[test]
fn an_operator_logs_in_watches_the_line_move_and_pauses_it() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "rate = \"2/s\"\nburst = 1").start();
    come(&gateway, 60);
    let browser = Browser::start();
    browser.open(&format!("http://{}/", gateway.admin_addr()));
    browser.types("#key", "no-key-of-anybodys-at-all");
    browser.click("#login .primary");
    browser.reads("This key is not known here.");
    browser.logs_in(gateway.admin_addr(), OPERATOR);
    browser.reads("operator · operator");
    assert_eq!(browser.sees("h1").as_deref(), Some("sale"), "one room is all there is to see");
    let before = browser.tile("Waiting").expect("a number");
    browser.until("the line moves", || browser.tile("Waiting").is_some_and(|now| now + 2 < before));
    browser.until("it is told as it happens", || {
        browser.sees(".ticker li").is_some_and(|told| told.contains("called"))
    });
    browser.click("[data-verb=pause]");
    browser.reads("Nobody is called until you resume");
    browser.click("dialog .quiet");
    assert!(browser.sees("dialog").is_none(), "nothing was done");
    browser.does("pause", &[]);
    browser.until("it is paused", || browser.sees(".title .pill").as_deref() == Some("Paused"));
    let room = Operator::new(&gateway).see("/v1/rooms/sale");
    assert_eq!(room["paused"], true, "for everybody");
    browser.until("the page has the same", || browser.tile("Waiting") == room["waiting"].as_u64());
    browser.does("resume", &[]);
    browser.until("it is open", || browser.sees(".title .pill").as_deref() == Some("Open"));
    // The figures of the wrong key came over the network, and are no complaint.
    browser.is_quiet(gateway.admin_addr());
}

#[test]
fn ten_are_released_and_the_visitors_browser_gets_in() {
    let origin = Origin::start();
    let room = "mode = \"hold\"\npoll_max = \"1s\"";
    let gateway = Gateway::before(&origin).room("sale", room).start();
    let _line = join(&gateway, 5);
    let visitor = Browser::start();
    visitor.visit(&gateway, "/drop?size=9");
    assert_eq!(visitor.waits(), 6);
    let browser = Browser::start();
    browser.logs_in(gateway.admin_addr(), OPERATOR);
    browser.until("all are counted", || browser.tile("Waiting") == Some(6));
    browser.until("the next are named", || browser.text().contains("A-000006"));
    browser.types("#visitor", "A-000006");
    browser.click("[role=search] button");
    browser.until("somebody is found", || {
        browser.sees(".found").is_some_and(|found| found.contains("Waiting") && found.contains('6'))
    });
    browser.does("release", &[("count", "10")]);
    browser.reads("6 people called: A-000001 to A-000006.");
    visitor.gets_in();
    assert_eq!(visitor.path(), "/drop?size=9");
    browser.until("nobody waits", || browser.tile("Waiting") == Some(0));
    browser.is_quiet(gateway.admin_addr());
}

#[test]
fn a_visitor_who_is_revoked_is_out() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "mode = \"hold\"").start();
    let _line = join(&gateway, 2);
    let browser = Browser::start();
    browser.logs_in(gateway.admin_addr(), OPERATOR);
    browser.types("#visitor", "2");
    browser.click("[role=search] button");
    browser.until("somebody is found", || browser.sees(".found .danger").is_some());
    browser.click(".found .danger");
    browser.reads("Revoke A-000002?");
    browser.click("dialog .danger");
    browser.reads("A-000002 is out.");
    browser.until("one is left", || browser.tile("Waiting") == Some(1));
    browser.types("#visitor", "A-999999");
    browser.click("[role=search] button");
    browser.reads("Nobody here has the ticket A-999999.");
}

#[test]
fn a_message_is_read_by_those_who_wait() {
    let origin = Origin::start();
    let room = "mode = \"hold\"\npoll_max = \"1s\"";
    let gateway = Gateway::before(&origin).room("sale", room).start();
    let calls = Operator::new(&gateway).see("/openapi.json");
    let browser = Browser::start();
    browser.logs_in(gateway.admin_addr(), OPERATOR);
    if calls["paths"].get("/v1/rooms/{id}/message").is_none() {
        assert!(
            browser.sees("[data-verb=message]").is_none(),
            "a verb that is not there has no button"
        );
        return;
    }
    let visitor = Browser::start();
    visitor.visit(&gateway, "/");
    visitor.waits();
    browser.does("message", &[("text", "We start at eight. <b>Really</b>.")]);
    visitor.until("the message is shown", || {
        visitor.shown("message").as_deref() == Some("We start at eight. <b>Really</b>.")
    });
    browser.reads("Visitors read: “We start at eight. <b>Really</b>.”");
}

#[test]
fn who_may_only_look_has_no_buttons_and_only_an_admin_resets() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "mode = \"hold\"").start();
    let _line = join(&gateway, 1);
    let browser = Browser::start();
    browser.logs_in(gateway.admin_addr(), VIEWER);
    browser.reads("Your key may look, and not act.");
    assert!(browser.sees("[data-verb]").is_none());
    browser.click("#logout");
    browser.until("one is asked for a key again", || browser.sees("#key").is_some());
    browser.logs_in(gateway.admin_addr(), OPERATOR);
    browser.until("there are verbs", || browser.sees("[data-verb=release]").is_some());
    assert!(browser.sees("[data-verb=reset]").is_none());
    browser.click("#logout");
    browser.until("one is asked for a key again", || browser.sees("#key").is_some());
    browser.logs_in(gateway.admin_addr(), ADMIN);
    browser.click("[data-verb=reset]");
    browser.types("#field-name", "sole");
    browser.click("dialog .danger");
    browser.reads("That is not sale.");
    assert_eq!(browser.tile("Waiting"), Some(1));
    browser.types("#field-name", "sale");
    browser.click("dialog .danger");
    browser.until("it begins anew", || browser.tile("Waiting") == Some(0));
}

#[test]
fn a_session_that_ends_leads_back_to_the_key() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "mode = \"hold\"").start();
    let browser = Browser::start();
    browser.logs_in(gateway.admin_addr(), OPERATOR);
    let config = gateway.config().text();
    let other = config.replace(OPERATOR, "another-key-of-the-tests-for-the-same-name");
    assert!(gateway.reload(&other));
    browser.until("one is asked for a key", || browser.sees("#key").is_some());
}

#[test]
fn while_the_store_is_away_the_page_says_so_and_how_old_its_figures_are() {
    let origin = Origin::start();
    let gateway = CutOff::before(&origin, "mode = \"hold\"", "");
    let mut ann: Visitor = gateway.visitor();
    ann.open("/");
    let browser = Browser::start();
    browser.logs_in(gateway.admin(), OPERATOR);
    browser.until("somebody waits", || browser.tile("Waiting") == Some(1));
    gateway.store_is(Manner::Refusing);
    browser.until("it says so", || browser.sees(".title .pill").as_deref() == Some("Store away"));
    browser.reads("Visitors keep their places.");
    assert_eq!(browser.sees("#store").as_deref(), Some("Store away"));
    assert_eq!(browser.tile("Waiting"), Some(1), "as it was");
    let dead = browser.script("return document.querySelector('[data-verb=release]').disabled");
    assert_eq!(dead, true, "nothing can be done");
    gateway.store_is(Manner::Well);
    browser.until("it is well", || browser.sees(".title .pill").as_deref() == Some("Held"));
}

#[test]
fn a_node_that_says_nothing_is_told_of_and_when_it_speaks_the_page_goes_on() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "mode = \"hold\"").start();
    let browser = Browser::start();
    browser.logs_in(gateway.admin_addr(), VIEWER);
    gateway.signal(Signal::STOP);
    browser.until("it says so", || {
        browser.sees("#banner").is_some_and(|said| said.contains("No connection to this node"))
    });
    gateway.signal(Signal::CONT);
    browser.until("it goes on", || browser.sees("#banner").is_none());
}

/// Somebody of a class, somebody inside who is sent to the end by a button, and the buttons only where they do something.
#[test]
fn classes_are_shown_and_a_visitor_is_sent_to_the_end_by_a_button() {
    let origin = Origin::start();
    let room =
        "max_active = 1\npoll_max = \"1s\"\nclasses = { presale = { skip = 1.0, rank = 2 } }";
    let gateway = Gateway::before(&origin).room("sale", room).start();
    let mut ann = Visitor::new(&gateway);
    assert!(ann.open("/").is_from_origin());
    assert!(ann.open("/").is_from_origin(), "who comes back has the whole session");
    let _line = join(&gateway, 2);
    let operator = Operator::new(&gateway);
    let made = operator.does("/v1/rooms/sale/invites", &json!({ "class": "presale", "url": "/" }));
    let guest = Browser::start();
    guest.visit(&gateway, made["invites"][0]["url"].as_str().expect("a link"));
    assert_eq!(guest.waits(), 1);
    assert_eq!(guest.shown("class").as_deref(), Some("presale"));

    let browser = Browser::start();
    browser.logs_in(gateway.admin_addr(), OPERATOR);
    browser.reads("1 of a class");
    browser.until("the next is of a class", || {
        browser
            .sees("tbody tr")
            .is_some_and(|first| first.contains("A-000004") && first.contains("presale"))
    });
    browser.finds("A-000004", "presale");
    assert!(browser.sees("[data-steer]").is_none(), "whoever waits has no session");
    browser.finds("A-000001", "Standing");
    browser.click("[data-steer=requeue]");
    browser.reads("Requeue A-000001?");
    browser.click("dialog .quiet");
    assert!(browser.sees("dialog").is_none(), "nothing was done");
    browser.click("[data-steer=extend]");
    browser.click("dialog .primary");
    browser.reads("A-000001 has more time.");
    browser.click("[data-steer=requeue]");
    browser.click("dialog .primary");
    browser.reads("A-000001 is at the end of the line.");
    guest.gets_in();
    assert_eq!(origin.last().header("x-anteroom-class"), Some("presale"));
    assert_eq!(ann.open("/").state().as_deref(), Some("waiting"));
    assert_eq!(ann.position(), 3);
    browser.until("nobody of a class waits", || !browser.text().contains("of a class"));
    browser.finds("A-000004", "Standing");
    browser.click("[data-steer=complete]");
    browser.click("dialog .primary");
    browser.reads("A-000004 is done.");
    let audit = operator.see("/v1/audit").to_string();
    for action in ["extend", "requeue", "complete"] {
        assert!(audit.contains(&format!("\"action\":\"{action}\"")), "{action} in {audit}");
    }
    browser.is_quiet(gateway.admin_addr());
}

#[test]
fn a_schedule_is_shown_and_when_it_opens() {
    let origin = Origin::start();
    let at = |seconds: u64| anteroom::clock::moment(anteroom::clock::now_ms() + seconds * 1_000);
    let room = |name: &str, event: &str| {
        format!("hosts = [\"{name}.example\"]\nrate = \"5/s\"\nschedule = [{{ {event} }}]")
    };
    let gateway = Gateway::before(&origin)
        .room(
            "soon",
            &room("soon", &format!("opens = \"{}\", prequeue = \"2h\", draw = true", at(3_600))),
        )
        .room("later", &room("later", &format!("opens = \"{}\"", at(7_200))))
        .room("now", &room("now", &format!("opens = \"{}\", closes = \"{}\"", at(0), at(5_400))))
        .start();
    let browser = Browser::start();
    browser.logs_in(gateway.admin_addr(), VIEWER);
    for said in ["Pre-queue", "Closed by schedule", "with a draw", "by its schedule", "in 59:"] {
        browser.reads(said);
    }
    browser.open(&format!("http://{}/#/rooms/soon", gateway.admin_addr()));
    browser.until("a room", || browser.sees(".title .pill").as_deref() == Some("Pre-queue"));
    browser.reads("Numbers are given, and nobody is let in. Opens ");
    browser.reads("until it opens, with a draw");
    browser.open(&format!("http://{}/#/rooms/later", gateway.admin_addr()));
    browser
        .until("a room", || browser.sees(".title .pill").as_deref() == Some("Closed by schedule"));
    let note = || browser.sees(".title + .soft").unwrap_or_default();
    browser.until("a countdown", || note().contains(", in 1:59:"));
    let before = note();
    browser.until("it runs", || note() != before);
    browser.open(&format!("http://{}/#/rooms/now", gateway.admin_addr()));
    browser.until("a room", || browser.sees(".title .pill").as_deref() == Some("Open"));
    browser.reads(", in 1:29:");
    browser.is_quiet(gateway.admin_addr());
}

/// The sentence that explains a rate that follows the origin, from a real origin that is slow.
#[test]
fn an_adaptive_rate_is_explained() {
    let origin = Origin::start();
    let room = "rate = \"20/s\"\nrate_min = \"1/s\"\nadaptive = { target_p95 = \"50ms\" }";
    let gateway = Gateway::before(&origin).room("sale", room).start();
    let mut inside = Visitor::new(&gateway);
    assert!(inside.open("/").is_from_origin());
    let browser = Browser::start();
    browser.logs_in(gateway.admin_addr(), VIEWER);
    browser.until("the sentence", || {
        for _ in 0..3 {
            inside.fetch("/slow?ms=150");
        }
        let said = browser.text();
        let sentence = said.lines().find(|line| line.starts_with("rate ")).unwrap_or_default();
        sentence.contains("/s: origin p95 ") && sentence.ends_with("ms over target 50ms")
    });
    browser.is_quiet(gateway.admin_addr());
}

#[test]
fn a_room_in_mode_shadow_tells_what_would_have_been() {
    let origin = Origin::start();
    let room = "mode = \"shadow\"\nrate = \"1/m\"\nburst = 1";
    let gateway = Gateway::before(&origin).room("sale", room).start();
    for _ in 0..4 {
        assert!(Visitor::new(&gateway).open("/").is_from_origin());
    }
    let browser = Browser::start();
    browser.logs_in(gateway.admin_addr(), OPERATOR);
    browser.reads("Had the room counted");
    browser.until("the report", || {
        let said = browser.text();
        said.contains("Would have waited\n3 (75 of 100)") && said.contains("Came\n4")
    });
    browser.is_quiet(gateway.admin_addr());
}

/// Rooms of several tenants, some of them with a line.
fn several(origin: &Origin) -> Gateway {
    let room = |host: &str, more: &str| format!("hosts = [\"{host}.example\"]\n{more}");
    let gateway = Gateway::before(origin)
        .room("northern-lights", &room("lights", "rate = \"2/s\"\nmax_active = 40"))
        .room("presale", &room("presale", "mode = \"hold\""))
        .room("aurora/a-tour-with-a-name-that-is-longer-than-most", &room("tour", "max_active = 1"))
        .start();
    for (host, count) in [("lights", 30), ("presale", 7), ("tour", 4)] {
        for _ in 0..count {
            Visitor::new(&gateway).at(&format!("{host}.example")).open("/");
        }
    }
    gateway
}

#[test]
fn every_room_is_there_at_a_glance_and_tenants_can_be_told_apart() {
    let origin = Origin::start();
    let gateway = several(&origin);
    let browser = Browser::start();
    browser.logs_in(gateway.admin_addr(), VIEWER);
    let cards = || browser.script("return document.querySelectorAll('.card').length");
    browser.until("three rooms", || cards() == 3);
    for name in ["northern-lights", "presale", "a-tour-with-a-name", "Held", "This node"] {
        browser.reads(name);
    }
    browser.script(
        "const select = document.querySelector('#tenant select'); select.value = 't:aurora';
         select.dispatchEvent(new Event('change', { bubbles: true }))",
    );
    // One room is all there is to see of this tenant's.
    browser
        .until("one room", || browser.sees("h1").is_some_and(|name| name.starts_with("aurora/")));
    browser.until("those who wait", || browser.tile("Waiting") == Some(3));
    browser.open(&format!("http://{}/#/rooms/presale", gateway.admin_addr()));
    browser.until("a room by its address", || browser.sees("h1").as_deref() == Some("presale"));
    browser.until("those who wait", || browser.tile("Waiting") == Some(7));
    browser.open(&format!("http://{}/#/rooms/no-such-room", gateway.admin_addr()));
    browser.reads("There is no such room, or not any more.");
}

#[test]
fn it_passes_axe_in_light_and_dark_and_fits_from_a_phone_to_a_wall() {
    let origin = Origin::start();
    let gateway = several(&origin);
    let browser = Browser::start();
    let mut wrong = Vec::new();
    let mut look = |what: &str| {
        for (screen, dark) in [(PHONE, false), (PHONE, true), (DESK, false), (WALL, true)] {
            browser.sized(screen, 1.0);
            browser.dark(dark);
            std::thread::sleep(std::time::Duration::from_millis(1_200));
            let name =
                format!("{what} at {} {}", screen.width, if dark { "dark" } else { "light" });
            wrong.extend(browser.barriers().iter().map(|found| format!("{name}: {found}")));
            let out = browser.script(OUTSIDE);
            let out = out.as_array().into_iter().flatten();
            wrong.extend(out.map(|found| format!("{name}: {found}")));
        }
        browser.sized(DESK, 1.0);
    };
    browser.open(&format!("http://{}/", gateway.admin_addr()));
    look("the login");
    browser.logs_in(gateway.admin_addr(), ADMIN);
    browser.until("there are cards", || browser.sees(".card").is_some());
    look("all rooms");
    browser.sized(PHONE, 1.0);
    let columns = "return getComputedStyle(document.querySelector('.cards')).gridTemplateColumns.split(' ').length";
    let began = std::time::Instant::now();
    browser.until("one a row", || browser.script(columns) == 1);
    assert!(
        began.elapsed() < std::time::Duration::from_millis(900),
        "before there are new figures"
    );
    browser.sized(DESK, 1.0);
    browser.click(".card h2 a");
    browser.until("a room", || browser.sees(".title .pill").is_some());
    look("a room");
    browser.click("[data-verb=reset]");
    look("a dialog");
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "the console says: {complaints:#?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is wider than the window.
const OUTSIDE: &str = "
    const wide = document.documentElement.clientWidth, out = [];
    if (document.documentElement.scrollWidth > wide) out.push(`the page is ${document.documentElement.scrollWidth} wide`);
    for (const e of document.body.querySelectorAll('*')) {
        if (!e.checkVisibility() || e.closest('.sr') || e.closest('svg')) continue;
        const box = e.getBoundingClientRect();
        if (box.left < -1 || box.right > wide + 1) out.push(`${e.tagName} ${e.className} from ${box.left} to ${box.right}`);
    }
    return out;";
