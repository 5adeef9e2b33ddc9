//! What visitors see: every page in every language, whole, honest about hostile input, and small.

mod client;
mod look;
mod shapes;

use std::io::Read as _;

use anteroom::line::{Ending, Eta, Reason};
use anteroom::page::{Language, Look, Page, Pages, Place};

const ADDRESS: &str = "/drop/7?size=9&colour=red";

/// A place somewhere in the middle of a long line.
fn place() -> Place<'static> {
    Place {
        label: "A-004711",
        class: "",
        position: 1_523,
        waiting: 20_417,
        eta: Some(Eta { seconds: 300, low: 240, high: 350 }),
        paused: false,
        opens_seconds: None,
        last_known: false,
        draw: false,
        is_drawn_later: false,
        waited_seconds: 200,
        next_poll_seconds: 20,
        return_to: ADDRESS,
        roster: None,
    }
}

const CLOSED: Page<'static> = Page::Closed { again_seconds: None, opens_seconds: None, to: "/" };

/// One of every page, by name.
fn every<'a>(place: &'a Place<'a>, to: &'a str) -> Vec<(&'static str, Page<'a>)> {
    let waiting = |fresh, unsent| Page::Waiting { place, fresh, unsent };
    let over = |reason| Page::Over { reason, to };
    vec![
        ("waiting", waiting(false, false)),
        ("fresh", waiting(true, false)),
        ("unsent", waiting(false, true)),
        ("admitted", Page::Admitted { place, window_seconds: Some(105), unsent: false }),
        ("passed", over(Reason::Passed)),
        ("used", over(Reason::Used)),
        ("completed", over(Reason::Ended(Ending::Completed))),
        ("left", over(Reason::Ended(Ending::Left))),
        ("revoked", over(Reason::Ended(Ending::Revoked))),
        ("idle", over(Reason::Ended(Ending::Idle))),
        ("capped", over(Reason::Ended(Ending::Capped))),
        ("closed", Page::Closed { again_seconds: None, opens_seconds: None, to }),
        ("full", Page::Full { to }),
        ("busy", Page::Busy { retry_seconds: 12, to }),
        ("store-lost", Page::StoreLost { retry_seconds: 7, to }),
        ("arrived", Page::Arrived { retry_seconds: 4, to }),
        ("origin-down", Page::OriginDown { to }),
        ("origin-slow", Page::OriginSlow { to }),
        ("frame", Page::Frame { to }),
        ("cookies-off", Page::CookiesOff { to }),
        ("not-sent", Page::NotSent { to }),
        ("draw", Page::Draw),
    ]
}

fn rendered(pages: &Pages, page: &Page<'_>, language: Language) -> String {
    let mut out = Vec::new();
    pages.render(page, language, false, &mut out);
    String::from_utf8(out).expect("UTF-8")
}

fn gzipped(pages: &Pages, page: &Page<'_>, language: Language) -> Vec<u8> {
    let mut out = Vec::new();
    pages.render(page, language, true, &mut out);
    out
}

fn inflated(bytes: &[u8]) -> String {
    let mut text = String::new();
    flate2::read::GzDecoder::new(bytes).read_to_string(&mut text).expect("a good stream");
    text
}

fn language(code: &str) -> Language {
    Language::of(Some(code.as_bytes()))
}
