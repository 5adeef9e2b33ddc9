//! The client as it is served, under Node: `make tools` installs that.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::*;

#[test]
fn the_client_keeps_its_promises() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("client.mjs");
    std::fs::write(&script, anteroom::page::client().plain).expect("a file");
    let cases = folder.path().join("cases.json");
    std::fs::write(&cases, cases_of_every_language().to_string()).expect("a file");
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/page/client.mjs");
    let output = Command::new("node")
        .arg(tests)
        .env("ANTEROOM_CLIENT", &script)
        .env("ANTEROOM_CASES", &cases)
        .output()
        .unwrap_or_else(|error| panic!("node: {error}: run make tools"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
}

/// What the server writes, and the words it gives the client: `[{words, sibling, estimates, numbers}]`.
fn cases_of_every_language() -> Value {
    let pages = Pages::new("sale", &Look::default());
    let cases = |language: Language| {
        let shown = |place: &Place<'_>| {
            let page = Page::Waiting { place, fresh: false, unsent: false };
            rendered(&pages, &page, language)
        };
        let between = |html: &str, start: &str, end: &str| {
            let (_, rest) = html.split_once(start).expect("it is there");
            rest.split_once(end).expect("it ends").0.to_owned()
        };
        let words = |html: &str| {
            let words = between(html, "id=\"anteroom-words\">", "</script>");
            serde_json::from_str::<Value>(&words).expect("JSON")
        };
        let busy = rendered(&pages, &Page::Busy { retry_seconds: 9, to: "/" }, language);
        let minutes =
            (1..=130).flat_map(|minutes| [(0, minutes * 60), (minutes * 60, minutes * 60)]);
        let ranges =
            (1..60).flat_map(|low| (1..6).map(move |more| (low * 47, low * 47 * (10 + more) / 10)));
        let hours = (2..130).map(|hours| (hours * 2_000, hours * 3_600));
        let estimate = |(low, high)| {
            let eta = Some(Eta { seconds: low, low, high });
            json!([low, high, between(&shown(&Place { eta, ..place() }), "\"eta\">", "<")])
        };
        let number = |position| {
            let html = shown(&Place { position, ..place() });
            json!([position, between(&html, "\"position\">", "<")])
        };
        let numbers = [0, 7, 999, 1_000, 1_523, 9_999, 10_000, 123_456, 1_234_567, 98_765_432];
        json!({
            "words": words(&shown(&place())),
            "sibling": words(&busy),
            "estimates": minutes.chain(ranges).chain(hours).map(estimate).collect::<Vec<_>>(),
            "numbers": numbers.map(number),
        })
    };
    Language::all().map(cases).collect()
}
