//! The states of the page that come and go by themselves, each reached for real.

use serde_json::Value;

use super::driver::Browser;
use super::relay::Relay;
use super::{Crowd, join};
use crate::support::{Gateway, Origin};

#[test]
fn admitted_counts_down_and_goes_in_by_itself() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1").start();
    let mut crowd = Crowd::before(&gateway, 0);
    let browser = Browser::start();
    // The site takes its time: as long as it does, the page stays.
    browser.visit(&gateway, "/slow?ms=3000");
    browser.waits();
    browser.script(DIARY);
    crowd.ends();
    browser.gets_in();
    assert_eq!(browser.path(), "/slow?ms=3000");
    let diary = browser.script("return JSON.parse(sessionStorage.diary || '[]')");
    let shown: Vec<&str> =
        diary.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let left: Vec<u64> = shown.iter().filter_map(|line| countdown(line)).collect();
    assert!(left.len() >= 2 && left.is_sorted_by(|a, b| a > b), "it counts: {shown:#?}");
    assert!((100..=120).contains(&left[0]), "of two minutes: {shown:#?}");
    assert!(shown.iter().all(|line| line.starts_with("admitted ")), "and back: {shown:#?}");
    assert!(shown.iter().any(|line| line.contains("✓ ")), "in the tab, too: {shown:#?}");
}

/// Keeps what the page shows once it is somebody's turn, for afterwards: a driver waits while another page is loading.
const DIARY: &str = "
    const write = () => {
        const state = document.body.dataset.anteroomState;
        if (state.startsWith('waiting')) return;
        const left = document.querySelector('[data-anteroom=window]');
        const diary = JSON.parse(sessionStorage.diary || '[]');
        diary.push([state, document.title, left.checkVisibility() ? left.textContent : ''].join(' | '));
        sessionStorage.diary = JSON.stringify(diary);
    };
    new MutationObserver(write).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });";

/// The seconds of `Your turn is kept for 1:59`.
fn countdown(line: &str) -> Option<u64> {
    let (minutes, seconds) = line.split_once("Your turn is kept for ")?.1.split_once(':')?;
    Some(60 * minutes.parse::<u64>().ok()? + seconds.parse::<u64>().ok()?)
}

#[test]
fn expired_says_why_and_joins_again() {
    let origin = Origin::start();
    let gateway =
        Gateway::before(&origin).room("sale", "max_active = 1\nclaim_window = \"2s\"").start();
    let mut crowd = Crowd::before(&gateway, 0);
    let browser = Browser::start();
    browser.visit(&gateway, "/drop?size=9");
    browser.waits();
    let mut next = join(&gateway, 2);
    browser.offline(true);
    crowd.ends();
    // The turn comes, nobody takes it, and it goes to the next one.
    next[0].await_turn();
    assert!(next[0].open("/").is_from_origin());
    browser.offline(false);
    browser.until("over", || browser.state().as_deref() == Some("expired"));
    browser.reads("Your turn has passed");
    browser.reads("Your turn came while you were away");
    assert!(browser.title().starts_with("Your turn has passed · "), "{}", browser.title());
    let focus = browser.script("return document.activeElement.textContent");
    assert_eq!(focus, "Your turn has passed", "where screen readers go on");
    browser.click("[data-anteroom=rejoin]");
    assert_eq!(browser.waits(), 2, "at the end of the line");
    assert_eq!(browser.path(), "/drop?size=9");
}

#[test]
fn an_error_says_so_and_tries_again_by_itself() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1").start();
    let _crowd = Crowd::before(&gateway, 0);
    let relay = Relay::to(&gateway);
    let browser = Browser::start();
    browser.open(&relay.url("/drop?size=9"));
    browser.waits();
    let label = browser.shown("label");
    relay.breaks(true);
    browser.until("an error", || browser.state().as_deref() == Some("error"));
    browser.reads("Something went wrong");
    browser.reads("Next try in ");
    assert_eq!(browser.sees("a.button").as_deref(), Some("Try now"));
    relay.breaks(false);
    assert_eq!(browser.waits(), 1);
    assert_eq!(browser.shown("label"), label);
}

#[test]
fn a_held_line_says_that_it_is_paused() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1\nmode = \"hold\"").start();
    let browser = Browser::start();
    browser.visit(&gateway, "/");
    browser.waits();
    browser.reads("The line is paused for a moment. You keep your place.");
    assert_eq!(browser.shown("eta").as_deref(), Some("paused"));
    browser.is_quiet(gateway.addr());
}

#[test]
fn a_visit_that_is_over_says_why_and_leads_back_into_the_line() {
    let origin = Origin::start();
    let gateway =
        Gateway::before(&origin).room("sale", "max_active = 1\nsession_max = \"3s\"").start();
    let browser = Browser::start();
    browser.visit(&gateway, "/cart?id=7");
    assert!(browser.is_inside());
    let _others = join(&gateway, 3);
    browser.until("the visit is over", || {
        browser.visit(&gateway, "/cart?id=7");
        !browser.is_inside()
    });
    assert_eq!(browser.state().as_deref(), Some("expired"));
    browser.reads("Your visit has ended");
    browser.reads("The time for one visit is over");
    browser.click("button.button");
    browser.waits();
    assert_eq!(browser.shown("label").as_deref(), Some("A-000005"), "behind those who wait");
    assert_eq!(browser.path(), "/cart?id=7");
    browser.is_quiet(gateway.addr());
}
