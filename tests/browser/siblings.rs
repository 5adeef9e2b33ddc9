//! The other pages: each says what is the matter, and leads on as soon as there is a way.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use super::Crowd;
use super::driver::Browser;
use crate::support::{Gateway, Origin, Visitor, eventually};

#[test]
fn a_closed_room_says_so_and_opens() {
    let origin = Origin::start();
    let gateway =
        Gateway::before(&origin).room("sale", "max_active = 1\nmode = \"closed\"").start();
    let browser = Browser::start();
    browser.visit(&gateway, "/drop?size=9");
    browser.reads("Closed for now");
    browser.reads("Next try in ");
    let open = gateway.config().text().replace("mode = \"closed\"", "mode = \"auto\"");
    assert!(gateway.reload(&open));
    browser.click("a.button");
    browser.gets_in();
    assert_eq!(browser.path(), "/drop?size=9");
    browser.is_quiet(gateway.addr());
}

#[test]
fn a_full_line_says_so_and_takes_the_next_when_it_is_not() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1\nmax_waiting = 1").start();
    let mut crowd = Crowd::before(&gateway, 1);
    let browser = Browser::start();
    browser.visit(&gateway, "/drop?size=9");
    browser.reads("The line is full");
    browser.reads("Next try in ");
    crowd.moves();
    browser.until("a place", || {
        if browser.sees("a.button").is_some() {
            browser.click("a.button");
        }
        browser.position() == Some(1)
    });
    assert_eq!(browser.path(), "/drop?size=9");
    browser.is_quiet(gateway.addr());
}

#[test]
fn over_a_limit_the_page_joins_by_itself_a_moment_later() {
    let origin = Origin::start();
    let room = Gateway::before(&origin).room("sale", "max_active = 1");
    let gateway = room.limits("join_per_address = \"3/s\"").start();
    let browser = Browser::start();
    let crowded = AtomicBool::new(true);
    std::thread::scope(|scope| {
        // Others at the same address use it up, as long as it takes.
        scope.spawn(|| {
            while crowded.load(Ordering::SeqCst) {
                Visitor::new(&gateway).open("/");
            }
        });
        let seen = catch_unwind(AssertUnwindSafe(|| {
            eventually("the limit is met", || {
                (Visitor::new(&gateway).open("/").status == 429).then_some(())
            });
            browser.visit(&gateway, "/drop?size=9");
            browser.reads("Joining the line…");
            browser.reads("Next try in ");
            assert_eq!(browser.state().as_deref(), Some("joining"));
            assert_eq!(browser.position(), None, "no number yet");
        }));
        crowded.store(false, Ordering::SeqCst);
        seen.unwrap_or_else(|panic| resume_unwind(panic));
    });
    assert!(browser.waits() > 1, "the first ones are before");
    assert_eq!(browser.path(), "/drop?size=9");
    browser.is_quiet(gateway.addr());
}

#[test]
fn a_long_time_until_the_next_try_is_said_in_minutes() {
    let origin = Origin::start();
    let room = Gateway::before(&origin).room("sale", "max_active = 1");
    let gateway = room.limits("join_per_address = \"4/h\"").start();
    eventually("the limit is met", || {
        (Visitor::new(&gateway).open("/").status == 429).then_some(())
    });
    let browser = Browser::start();
    for (language, before, behind) in
        [("en", "Next try in ", " minutes"), ("de", "Nächster Versuch in ", " Minuten")]
    {
        browser.speaks(language);
        browser.visit(&gateway, "/drop?size=9");
        browser.reads(before);
        let again = browser.shown("again").unwrap_or_default();
        let minutes = again.strip_prefix(before).and_then(|rest| rest.strip_suffix(behind));
        let minutes: u64 =
            minutes.and_then(|n| n.parse().ok()).unwrap_or_else(|| panic!("{again:?}"));
        // A quarter of an hour at least, wherever in its hour this is; pages add up to half of it.
        assert!((15..=114).contains(&minutes), "{again}");
    }
    browser.is_quiet(gateway.addr());
}

#[test]
fn a_site_that_is_down_is_said_to_be_and_found_again() {
    let mut origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 9").start();
    origin.stop();
    let browser = Browser::start();
    browser.visit(&gateway, "/drop?size=9");
    browser.reads("The site is not answering");
    browser.reads("Next try in ");
    origin.start_again();
    browser.click("a.button");
    browser.gets_in();
    assert_eq!(browser.path(), "/drop?size=9");
    browser.is_quiet(gateway.addr());
}

#[test]
fn a_site_that_is_too_slow_is_said_to_be() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin)
        .site("health_interval = \"none\"\nread_timeout = \"200ms\"")
        .room("sale", "max_active = 9")
        .start();
    let browser = Browser::start();
    browser.visit(&gateway, "/slow?ms=2000");
    browser.reads("The site is taking too long");
    browser.is_quiet(gateway.addr());
}
