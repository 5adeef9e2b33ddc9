//! The page of the draw: what was promised, what came of it, and a check that runs in the visitor's own browser.

use std::time::Duration;

use anteroom::line::{Draw, Drawn, Draws, Permutation};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::driver::Browser;
use super::join;
use super::manner::{DESK, PHONE};
use crate::support::{Gateway, Origin, Request, Visitor, eventually, within};

/// A room that opens with a draw after so many seconds, and lets in one a minute.
fn room(opens_in: u64) -> String {
    let opens = anteroom::clock::moment(anteroom::clock::now_ms() + opens_in * 1_000);
    format!(
        "rate = \"1/m\"\nburst = 1\npoll_max = \"1s\"\n\
         classes = {{ presale = {{ skip = 1.0, open = true }} }}\n\
         schedule = [{{ opens = \"{opens}\", prequeue = \"1h\", draw = true }}]"
    )
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn typed(browser: &Browser, id: &str) -> String {
    let value = browser.script(&format!("return document.getElementById('{id}').value"));
    value.as_str().unwrap_or_default().to_owned()
}

/// What the page says of a number and a place.
fn says(browser: &Browser, number: &str, place: &str, verdict: &str) {
    browser.types("#number", number);
    browser.types("#place", place);
    browser.click("#check button");
    browser.until(&format!("{number} at {place}: {verdict}"), || {
        browser.sees("[role=status] p:not([hidden])").is_some_and(|said| said.starts_with(verdict))
    });
}

#[test]
fn a_visitor_checks_their_own_place_and_a_wrong_one_is_said_to_be() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", &room(12)).start();
    let mut others = join(&gateway, 5);
    let body = json!({ "event_id": "sale", "device_id": "six", "priority_bucket": "presale" });
    let request = Request::call("/.anteroom/v1/queue/join", &body);
    assert_eq!(gateway.connect().ask(&request).json()["class"], "presale");
    let browser = Browser::start();
    browser.visit(&gateway, "/");
    browser.until("the page is connected", || browser.is("live"));
    assert_eq!(browser.sees(".keep a").as_deref(), Some("About the draw"));
    let link = browser.script("return document.querySelector('.keep a').getAttribute('href')");
    let link = link.as_str().expect("an address").to_owned();
    let told: Value = eventually("a promise", || {
        let told = others[0].fetch("/.anteroom/v1/draw").json();
        told["commitment"].is_object().then_some(told)
    });

    // Before the opening there is a promise and nothing else.
    browser.visit(&gateway, &link);
    browser.reads("Nothing has been drawn yet.");
    let hash = told["commitment"]["hash"].as_str().expect("a hash").to_owned();
    browser.until("the promise", || browser.sees("#promise").is_some_and(|is| is.ends_with(&hash)));
    assert_eq!(browser.sees("#seed").as_deref(), Some("–"));
    assert_eq!(typed(&browser, "number"), "7", "by their cookie");

    // After it: the seed, and the place. Whoever stays on the page sees it come.
    eventually("the opening", || {
        others[0].fetch("/.anteroom/v1/draw").json()["draws"].get(0).is_some().then_some(())
    });
    browser.until("the draw", || browser.sees("#good").is_some());
    let told = others[0].fetch("/.anteroom/v1/draw").json();
    let draw = &told["draws"][0];
    assert_eq!(draw["commitment"], hash.as_str());
    assert_eq!(browser.sees("#seed").as_deref(), draw["seed"].as_str());
    let place: u64 = typed(&browser, "place").parse().expect("a place");
    let seed = draw["seed"].as_str().expect("a seed");
    let seed =
        std::array::from_fn(|nth| u8::from_str_radix(&seed[2 * nth..][..2], 16).expect("hex"));
    assert_eq!((&draw["count"], &draw["head"]), (&json!(7), &json!([[6, 1]])), "{draw}");
    let drawn = Permutation::new(seed, 6);
    assert_eq!(place, drawn.place(5) + 2, "the sixth without a class, behind whoever has one");

    // Everybody's place, by hand, as it is on the ticket; and what is not so.
    let places = (0..6).map(|index| drawn.place(index) + 2);
    let numbers = [1, 2, 3, 4, 5, 7].into_iter().zip(places);
    for (number, place) in numbers.chain([(6, 1)]) {
        says(&browser, &format!("A-{number:06}"), &place.to_string(), "Right:");
        let other = (place % 7 + 1).to_string();
        says(&browser, &number.to_string(), &other, "Wrong: this number");
    }
    says(&browser, "8", "1", "Wrong: this number");
    says(&browser, "7", "", "Right:");
    assert_eq!(typed(&browser, "place"), place.to_string(), "found for who does not know it");
    let other = json!({ "commitment": hash, "seed": hex(&[7; 32]), "after": 0, "upto": 6 });
    let verdict = browser.script(&format!("return verdict({other}, 6n)"));
    assert_eq!(verdict, "other-seed");
    // A browser that was shown a promise is not told afterwards that it was another one.
    let (seed, own) = ([7; 32], hex(&Sha256::digest([7_u8; 32])));
    let changed = |opens_at: &Value| {
        let draw = json!({
            "opens_at": opens_at, "commitment": own, "seed": hex(&seed), "after": 0, "upto": 6,
        });
        browser.script(&format!("return verdict({draw}, 6n)"))
    };
    assert_eq!(changed(&draw["opens_at"]), "other-seed");
    assert_eq!(changed(&json!("2020-01-01T00:00:00.000Z")), "good", "of that it was shown none");

    for (dark, screen) in [(false, DESK), (true, PHONE)] {
        browser.dark(dark);
        browser.sized(screen, 1.0);
        assert_eq!(browser.barriers(), Vec::<String>::new(), "dark {dark}");
    }
    browser.is_quiet(gateway.addr());
}

/// A page that stays open from one draw to the next: whoever comes for the second one is told that it is to come, and then their
/// place; those of the first are measured by the first.
#[test]
fn a_second_draw_is_promised_and_checked_as_the_first_was() {
    let origin = Origin::start();
    let began_ms = anteroom::clock::now_ms();
    let at = |seconds: u64| anteroom::clock::moment(began_ms + seconds * 1_000);
    let event = |opens, closes, prequeue| {
        let (opens, closes) = (at(opens), at(closes));
        format!(
            "{{ opens = \"{opens}\", closes = \"{closes}\", prequeue = \"{prequeue}\", draw = true }}"
        )
    };
    let (first, second) = (event(6, 10, "1h"), event(27, 3_600, "17s"));
    let room =
        format!("rate = \"1/m\"\nburst = 1\npoll_max = \"1s\"\nschedule = [{first}, {second}]");
    let gateway = Gateway::before(&origin).room("sale", &room).start();
    let mut early = join(&gateway, 5);
    let browser = Browser::start();
    browser.visit(&gateway, "/.anteroom/draw");
    let drawn = eventually("the first draw", || {
        early[0].fetch("/.anteroom/v1/draw").json()["draws"].get(0).cloned()
    });
    let (one, seed) = (drawn["commitment"].clone(), drawn["seed"].clone());
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    says(&browser, "3", "", "Right:");
    browser.script("window.stayed = true");

    let opens_at =
        |visitor: &mut Visitor| visitor.fetch("/.anteroom/v1/draw").json()["opens_at"].clone();
    eventually("the second pre-queue", || {
        (opens_at(&mut early[0]) == at(27).as_str()).then_some(())
    });
    let mut late = join(&gateway, 2).remove(0);
    let told: Value = eventually("a second promise", || {
        let told = late.fetch("/.anteroom/v1/draw").json();
        (told["commitment"]["opens_at"] == at(27).as_str()).then_some(told)
    });
    let (number, two) = (told["you"]["number"].to_string(), text(&told["commitment"]["hash"]));
    says(&browser, &number, "1", "Nothing has been drawn yet.");
    assert!(browser.sees("#promise").is_some_and(|is| is.ends_with(&two)), "the second promise");
    assert_eq!(browser.sees("#seed").as_deref(), Some("–"));
    says(&browser, "3", "", "Right:");
    assert!(browser.sees("#promise").is_some_and(|is| is.ends_with(&text(&one))));
    assert_eq!(browser.sees("#seed"), Some(text(&seed)));

    says(&browser, &number, "", "Nothing has been drawn yet.");
    let patience = Duration::from_secs(40);
    within(patience, "the second draw", || {
        late.fetch("/.anteroom/v1/draw").json()["draws"].get(1).is_some().then_some(())
    });
    browser.until("it is shown", || browser.sees("#good").is_some());
    let told = late.fetch("/.anteroom/v1/draw").json();
    assert_eq!(browser.sees("#seed").as_deref(), told["draws"][1]["seed"].as_str());
    assert_eq!(typed(&browser, "place"), told["you"]["place"].to_string());
    assert_eq!(browser.script("return window.stayed"), true, "never reloaded");
    browser.is_quiet(gateway.addr());
}

/// Who came while no pre-queue ran is in no draw; and one that was brought forward to a time that is past was not promised, which proves nothing.
#[test]
fn who_is_in_no_draw_and_what_was_not_promised_is_told() {
    let origin = Origin::start();
    let schedule = |opens_ms: u64, prequeue: &str| {
        let opens = anteroom::clock::moment(opens_ms);
        format!("schedule = [{{ opens = \"{opens}\", prequeue = \"{prequeue}\", draw = true }}]")
    };
    let now_ms = anteroom::clock::now_ms();
    let first = schedule(now_ms + 3_600_000, "1m");
    let room = format!("mode = \"hold\"\npoll_max = \"1s\"\n{first}");
    let gateway = Gateway::before(&origin).room("sale", &room).start();
    let rewrite = |text: &str| {
        assert!(gateway.reload(&gateway.config().text().replace(&first, text)));
    };
    let browser = Browser::start();
    browser.visit(&gateway, "/");
    browser.until("the page is connected", || browser.is("live"));
    browser.visit(&gateway, "/.anteroom/draw");
    browser.until("it is in no draw", || browser.sees("#outside").is_some());

    rewrite(&schedule(now_ms + 3_600_000, "2h"));
    eventually("the pre-queue", || {
        let told = gateway.connect().ask(&Request::get("/.anteroom/v1/draw")).json();
        (told["phase"] == "prequeue").then_some(())
    });
    let mut others = join(&gateway, 3);
    let mut later = |wanted: bool| {
        let told = others[2].fetch("/.anteroom/v1/draw").json();
        (told["you"]["drawn_later"] == wanted || !told["you"]["place"].is_null()).then_some(told)
    };
    eventually("they will be drawn", || later(true));
    rewrite(&schedule(now_ms - 60_000, "2h"));
    let draw = eventually("the draw", || later(false))["draws"][0].clone();
    assert_eq!((&draw["commitment"], &draw["after"]), (&Value::Null, &json!(1)));
    browser.visit(&gateway, "/.anteroom/draw");
    browser.until("it is in no draw", || browser.sees("#outside").is_some());
    says(&browser, "3", "", "Nothing was promised before this draw");
    let place = typed(&browser, "place");
    assert!(["1", "2", "3"].contains(&&*place), "{place}");
    says(&browser, "3", "4", "Wrong: this number was not drawn to this place.");
    browser.is_quiet(gateway.addr());
}

/// The script's arithmetic is the line's, for any count.
#[test]
fn the_script_draws_as_the_line_does() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1").start();
    let browser = Browser::start();
    browser.visit(&gateway, "/.anteroom/draw");
    browser.reads("Nothing has been drawn yet.");
    for count in [1, 2, 3, 4, 5, 17, 1_000, 2_048, 2_049, 4_097, 1_000_000, (1 << 40) + 1] {
        let seed: [u8; 32] = Sha256::digest(u64::to_be_bytes(count)).into();
        let drawn = Permutation::new(seed, count);
        for index in [0, count / 3, count / 2, count - 1] {
            let (after, number) = (10, 10 + index + 1);
            let draw = json!({ "seed": hex(&seed), "after": after, "upto": after + count });
            let found = browser.script(&format!("return placeOf({draw}, {number}n).then(String)"));
            let wanted = (drawn.place(index) + 1).to_string();
            assert_eq!(found, wanted.as_str(), "{index} of {count}");
        }
    }
    // With some who were not drawn, and some with places of their own.
    let (after, upto, seed) = (20, 60, [7; 32]);
    let (kept, head) = (vec![21, 40], vec![(22, 61), (35, 70), (36, 71), (60, 63)]);
    let own = head.iter().map(|(number, place)| [*number, place - upto]).collect::<Vec<_>>();
    let told =
        json!({ "seed": hex(&seed), "after": after, "upto": upto, "kept": kept, "head": own });
    let (kid, hash, version, opens_ms) = (String::new(), None, 1, 1);
    let draw = Draw { version, opens_ms, after, upto, seed, kid, hash, kept, head };
    assert!(draw.is_sound());
    let drawn = Drawn::new(Draws { made: vec![draw], ..Draws::default() });
    for number in after + 1..=upto {
        let found = browser.script(&format!("return placeOf({told}, {number}n).then(String)"));
        let wanted = drawn.place(number).map_or("undefined".to_owned(), |(_, at)| at.to_string());
        assert_eq!(found, wanted.as_str(), "{number}");
    }
}

#[test]
fn a_closed_page_counts_down_to_its_opening_and_gets_in() {
    let origin = Origin::start();
    let opens = anteroom::clock::moment(anteroom::clock::now_ms() + 10_000);
    let room = format!("rate = \"20/s\"\nschedule = [{{ opens = \"{opens}\" }}]");
    let gateway = Gateway::before(&origin).room("sale", &room).start();
    let browser = Browser::start();
    browser.visit(&gateway, "/drop?size=9");
    browser.reads("Closed for now");
    browser.reads("Opens in 0:0");
    let before = browser.shown("eta");
    browser.until("it runs", || browser.shown("eta") != before);
    browser.gets_in();
    assert_eq!(browser.path(), "/drop?size=9");
    browser.is_quiet(gateway.addr());
}
