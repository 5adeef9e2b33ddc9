//! A reader's own language, with its numbers and durations, as the page comes and as the script keeps it.

use super::come;
use super::driver::{Browser, Setup};
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
    let languages = "de-AT,de;q=0.9,en;q=0.5";
    let browser = Browser::set_up(Setup { languages, ..Setup::default() });
    for (language, direction, mark, duration) in [
        ("de", "ltr", '.', "Minuten"),
        ("ar", "rtl", ',', "دقيقة"),
        ("fr", "ltr", '\u{202f}', "minutes"),
    ] {
        // The first one is the browser's own.
        if language != "de" {
            browser.speaks(language);
        }
        browser.visit(&gateway, "/");
        browser.waits();
        assert_eq!(browser.language(), format!("{language} {direction}"));
        let read = |when: &str| {
            let (position, eta) = (browser.shown("position"), browser.shown("eta"));
            let position = position.unwrap_or_default();
            let marked = position.chars().nth(1) == Some(mark) && position.chars().count() == 5;
            assert!(marked, "{language}, {when}: {position:?}");
            let eta = eta.unwrap_or_default();
            assert!(eta.contains(duration) && eta.contains('–'), "{language}, {when}: {eta:?}");
            position
        };
        let first = read("as it comes");
        // The script writes it the same way: looked at again, it asks at once.
        browser.until("the script has asked", || {
            browser.script("dispatchEvent(new Event('focus'))");
            browser.shown("position").is_some_and(|position| position != first)
        });
        read("later");
        browser.is_quiet(gateway.addr());
    }
}
