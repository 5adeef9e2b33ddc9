//! A reader's own language, with its numbers and durations, as the page comes and as the script keeps it.

use super::driver::{Browser, Setup};
use super::come;
use crate::support::{Gateway, Origin};

/// A line of a thousand and more, twenty minutes long.
fn long_line(origin: &Origin) -> Gateway {
    let gateway = Gateway::before(origin).room("sale", "rate = \"1/s\"\nburst = 1").start();
    come(&gateway, 1_250);
    gateway
}

#[test]
fn numbers_and_durations_are_in_the_reader_s_form() {
    let origin = Origin::start();
    let gateway = long_line(&origin);
    for (languages, language, direction, title, number, duration) in [
        ("de-AT,de;q=0.9,en;q=0.5", "de", "ltr", "Warteschlange", "1.2", "Minuten"),
        ("fr,en", "fr", "ltr", "file", "1\u{202f}2", "minutes"),
        ("ar-EG,ar", "ar", "rtl", "", "1", "دقيقة"),
    ] {
        let browser = Browser::set_up(Setup { languages, ..Setup::default() });
        browser.visit(&gateway, "/");
        browser.waits();
        let html = browser.script("return document.documentElement.lang + ' ' + document.documentElement.dir");
        assert_eq!(html, format!("{language} {direction}"));
        assert!(browser.text().contains(title), "{}", browser.text());
        let (first, eta) = (browser.shown("position").unwrap_or_default(), browser.shown("eta"));
        assert!(first.starts_with(number), "{language}: {first:?}");
        assert!(eta.as_ref().is_some_and(|eta| eta.contains(duration)), "{language}: {eta:?}");
        assert!(eta.is_some_and(|eta| eta.contains('–') || eta.contains('-')), "a range");
        // The script writes it the same way: looked at again, it asks at once.
        browser.until("the script has asked", || {
            browser.script("dispatchEvent(new Event('focus'))");
            browser.shown("position").is_some_and(|position| position != first)
        });
        let (later, eta) = (browser.shown("position").unwrap_or_default(), browser.shown("eta"));
        assert!(later.starts_with(number), "{language}: {first:?}, then {later:?}");
        assert!(eta.as_ref().is_some_and(|eta| eta.contains(duration)), "{language}: {eta:?}");
        browser.is_quiet(gateway.addr());
    }
}
