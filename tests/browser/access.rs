//! Every page can be read by everybody: light and dark, on a phone, in long and in backward languages, without a
//! complaint of the browser's.

use serde_json::{Value, json};

use super::Crowd;
use super::driver::Browser;
use super::gallery::{Gallery, PAGES};
use super::manner::{DESK, PHONE, Screen};
use crate::support::{Gateway, Origin};

/// The narrowest that people have, and what zooming to 400 % makes of a desk (WCAG 1.4.10).
const NARROW: Screen = Screen { width: 320, height: 640, mobile: true };

#[test]
fn every_page_passes_axe_in_light_and_dark_fits_a_phone_and_complains_of_nothing() {
    let gallery = Gallery::start();
    let browser = Browser::start();
    browser.open(
        "data:text/html,<html><title>x</title><p style='color:%23aaa;width:9999px'>pale and wide",
    );
    browser.sized(PHONE, 1.0);
    assert!(browser.barriers().len() > 1, "axe-core finds what is wrong where something is");
    assert!(!browser.misfits().is_empty(), "and so do we");
    browser.complaints();
    let mut wrong = Vec::new();
    for page in PAGES {
        gallery.show(&browser, page);
        for (dark, screen) in [(false, DESK), (true, PHONE)] {
            browser.dark(dark);
            browser.sized(screen, 1.0);
            let found = browser.barriers();
            wrong.extend(found.iter().map(|found| format!("{page}, dark {dark}: {found}")));
        }
        wrong.extend(browser.misfits().iter().map(|found| format!("{page}: {found}")));
        wrong.extend(browser.complaints().iter().map(|said| format!("{page}: {said}")));
        if page == "frame" {
            browser.leave_frames();
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let [closed, held] = &gallery.lost;
    let hosts = [
        gallery.gateway.addr(),
        gallery.relay.addr(),
        gallery.origin.address(),
        closed.address(),
        held.address(),
    ];
    let known = |url: &String| {
        hosts.iter().any(|host| url.starts_with(&format!("http://{host}/")))
            || url.starts_with("http://localhost:")
    };
    let elsewhere: Vec<_> = browser.asked_for().into_iter().filter(|url| !known(url)).collect();
    assert!(elsewhere.is_empty(), "other hosts were asked: {elsewhere:#?}");
}

#[test]
fn every_page_fits_a_phone_in_german() {
    fits("de", "ltr");
}

#[test]
fn every_page_fits_a_phone_in_arabic_from_right_to_left() {
    fits("ar", "rtl");
}

/// Without a font for it every sign is an empty box of its width, which must fit just as well.
#[test]
fn every_page_fits_a_phone_in_japanese() {
    fits("ja", "ltr");
}

#[track_caller]
fn fits(language: &str, direction: &str) {
    let gallery = Gallery::start();
    let browser = Browser::start();
    let mut wrong = Vec::new();
    for page in PAGES {
        browser.speaks(language);
        gallery.show(&browser, page);
        for screen in [PHONE, NARROW] {
            browser.sized(screen, 1.0);
            let found = browser.misfits();
            wrong.extend(found.iter().map(|found| format!("{page} at {}: {found}", screen.width)));
        }
        let html = browser.language();
        // The operator's own page is in the operator's language.
        if page != "own" && html != format!("{language} {direction}") {
            wrong.push(format!("{page}: {html}"));
        }
        if page == "frame" {
            browser.leave_frames();
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The live region is empty until there is something to hear, and says it once: what a screen reader is given by Chromium.
#[test]
fn whoever_cannot_see_the_page_hears_that_it_is_their_turn() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1").start();
    let mut crowd = Crowd::before(&gateway, 0);
    let browser = Browser::start();
    browser.visit(&gateway, "/");
    browser.waits();
    // A form that was not sent: the page stays for a moment when the turn comes.
    browser.submit(&gateway, "/order");
    browser.until("the page keeps itself current", || browser.is("unsent") && browser.is("live"));
    assert_eq!(browser.heard(), [""], "one region, and nothing to hear yet");
    crowd.ends();
    browser.until("the turn is announced", || browser.heard() == ["It is your turn"]);
    browser.gets_in();
}

impl Browser {
    /// What the live regions of the page say, as assistive technology is told: politely, and whole.
    #[track_caller]
    fn heard(&self) -> Vec<String> {
        let tree = self.cdp("Accessibility.getFullAXTree", json!({}));
        let nodes = tree["nodes"].as_array().cloned().unwrap_or_default();
        let regions = nodes.iter().filter(|node| {
            let says = |name: &str, value: &str| {
                let properties = node["properties"].as_array().into_iter().flatten();
                let mut named = properties.filter(|property| property["name"] == name);
                named.any(|property| property["value"]["value"] == value)
            };
            node["role"]["value"] == "status" && says("live", "polite")
        });
        let name = |id: &Value| {
            let child = nodes.iter().find(|node| node["nodeId"] == *id);
            let name = child.and_then(|node| node["name"]["value"].as_str());
            name.unwrap_or_default().to_owned()
        };
        let texts = regions.map(|node| node["childIds"].as_array().into_iter().flatten().map(name));
        texts.map(|parts| parts.collect::<String>()).collect()
    }

    /// What does not fit into the window.
    #[track_caller]
    fn misfits(&self) -> Vec<String> {
        let found = self.script(MISFITS);
        let found = found.as_array().into_iter().flatten();
        found.map(Value::to_string).collect()
    }
}

/// What does not fit: the page is wider than the screen, something begins or ends outside of it, or a box is too small
/// for its text.
const MISFITS: &str = "
    const wide = document.documentElement.clientWidth, out = [];
    const page = document.documentElement.scrollWidth, most = self === top ? screen.width : innerWidth;
    if (page > most) out.push(`the page is ${page} wide`);
    for (const e of document.body.querySelectorAll('*')) {
        if (!e.checkVisibility() || e.closest('.sr')) continue;
        const box = e.getBoundingClientRect(), style = getComputedStyle(e);
        const name = `${e.tagName} ${e.className} ${e.textContent.slice(0, 40)}`;
        if (box.left < -1 || box.right > wide + 1) out.push(`${name} from ${box.left} to ${box.right}`);
        if (style.display !== 'inline' && e.scrollWidth > e.clientWidth + 1) out.push(`${name}: text is wider than its box`);
        if (style.overflow !== 'visible' && e.scrollHeight > e.clientHeight + 1) out.push(`${name}: text is higher than its box`);
    }
    return out;";
