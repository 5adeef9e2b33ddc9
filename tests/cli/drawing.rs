//! `anteroom draw verify`: what was published is checked without a node, and says of everybody what the node says.

use serde_json::{Value, json};

use super::{anteroom, file, run};
use crate::support::{Config, Gateway, Origin, Request, eventually};

/// A draw that a gateway made, and what it tells each visitor: their number and place.
fn published() -> (Value, Vec<(u64, u64)>) {
    let origin = Origin::start();
    let opens = anteroom::clock::moment(anteroom::clock::now_ms() + 6_000);
    let room = format!(
        "rate = \"1/m\"\nburst = 1\nclasses = {{ presale = {{ skip = 1.0, open = true }} }}\n\
         schedule = [{{ opens = \"{opens}\", prequeue = \"1h\", draw = true }}]"
    );
    let gateway = Gateway::start(Config::new(&[origin.address().to_string()]).room("sale", &room));
    let join = |nth: usize| {
        let class = if nth.is_multiple_of(4) { "presale" } else { "general" };
        let body = json!({
            "event_id": "sale", "device_id": format!("device-{nth}"), "priority_bucket": class,
        });
        let request = Request::call("/.anteroom/v1/queue/join", &body);
        let told = gateway.connect().ask(&request).json();
        assert_eq!(told["class"], class, "{told}");
        told["queue_id"].as_str().expect("a ticket").to_owned()
    };
    let tickets: Vec<String> = (0..9).map(join).collect();
    let told = |ticket: &str| {
        let request =
            Request::get("/.anteroom/v1/draw").with("Authorization", &format!("Bearer {ticket}"));
        gateway.connect().ask(&request).json()
    };
    let all = eventually("the draw", || {
        let all = told(&tickets[0]);
        (all["draws"].as_array().is_some_and(|draws| !draws.is_empty())).then_some(all)
    });
    let theirs = tickets.iter().map(|ticket| {
        let you = told(ticket)["you"].clone();
        (you["number"].as_u64().expect("a number"), you["place"].as_u64().expect("a place"))
    });
    (all, theirs.collect())
}

fn verify(answer: &Value, more: &[&str]) -> (i32, String, String) {
    let file = file(&answer.to_string());
    let path = file.path().to_str().expect("UTF-8");
    run(&mut anteroom(&[&["draw", "verify", "--json", path], more].concat()))
}

#[test]
fn everybody_has_the_place_that_they_were_told_and_what_is_not_so_is_said() {
    let (answer, theirs) = published();
    let draw = &answer["draws"][0];
    assert_eq!(draw["head"].as_array().map(Vec::len), Some(3), "{draw}");
    let mut places: Vec<u64> = theirs.iter().map(|(_, place)| *place).collect();
    places.sort_unstable();
    assert_eq!(places, (1..=9).collect::<Vec<_>>());
    for (nth, (number, place)) in theirs.iter().enumerate() {
        let (code, out, err) = verify(&answer, &["--number", &number.to_string()]);
        assert_eq!(code, 0, "{err}");
        assert!(out.contains("good: the seed is the one that was promised"), "{out}");
        let own = if nth.is_multiple_of(4) { ", one of its own" } else { "" };
        let said = format!("number {number}: place {place} of 9{own}\n");
        assert!(out.ends_with(&said), "{said} in {out}");
        assert!(own.is_empty() || *place <= 3, "they skip all: {place}");
    }
    let (code, out, err) = verify(&answer, &["--number", "10"]);
    assert_eq!((code, out.as_str()), (64, ""));
    assert!(err.contains("--number 10 was not drawn: 1 to 9 were"), "{err}");

    let changed = |key: &str, value: Value| {
        let mut answer = answer.clone();
        answer["draws"][0][key] = value;
        answer
    };
    let (code, out, _) = verify(&changed("seed", json!("07".repeat(32))), &[]);
    assert_eq!((code, out.starts_with("not good: this is not the seed")), (1, true), "{out}");
    // Whoever is shown another draw than was promised them, with a commitment to suit, has saved theirs.
    let saved = draw["commitment"].as_str().expect("a promise");
    let (code, out, err) = verify(&answer, &["--commitment", saved, "--number", "1"]);
    assert_eq!((code, out.starts_with("good: the seed is")), (0, true), "{out}{err}");
    let mut other = changed("seed", json!("07".repeat(32)));
    let hash = <sha2::Sha256 as sha2::Digest>::digest([7_u8; 32]);
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    other["draws"][0]["commitment"] = json!(hash);
    assert_eq!(verify(&other, &[]).0, 0, "by what it says itself");
    let (code, out, _) = verify(&other, &["--commitment", saved]);
    assert_eq!((code, out.starts_with("not good: this is not the seed")), (1, true), "{out}");
    assert_eq!(verify(&other, &["--commitment", "07"]).0, 64);

    let (code, out, _) = verify(&changed("commitment", json!(null)), &[]);
    assert_eq!((code, out.starts_with("not good: nothing was promised")), (1, true), "{out}");
    // Two with one place, somebody who is both, and another algorithm.
    let twice = verify(&changed("head", json!([[1, 2], [5, 2]])), &[]);
    let both = verify(&changed("kept", json!([1])), &[]);
    let mut other = answer.clone();
    other["algorithm"] = json!("feistel-sha256-v1");
    for (code, out, err) in [twice, both, verify(&other, &[])] {
        assert_eq!((code, out.as_str()), (64, ""), "{err}");
    }
}

/// Several openings in one answer: the number says which, and without one it is the last.
#[test]
fn the_draw_of_a_number_is_found_among_several() {
    let draw = |after: u64, upto: u64, seed: u8, kept: &[u64]| {
        let seed = [seed; 32];
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let hash = <sha2::Sha256 as sha2::Digest>::digest(seed);
        json!({
            "after": after, "upto": upto, "seed": hex(&seed), "commitment": hex(&hash),
            "kept": kept, "head": [],
        })
    };
    let draws = [draw(0, 5, 1, &[3]), draw(10, 14, 2, &[])];
    let answer = json!({ "algorithm": anteroom::line::ALGORITHM, "draws": &draws });
    let said = |more: &[&str]| {
        let (code, out, err) = verify(&answer, more);
        assert_eq!(code, 0, "{err}");
        out
    };
    assert!(said(&[]).contains("drawn: 4, numbers 11 to 14"));
    assert!(said(&["--number", "12"]).contains("drawn: 4, numbers 11 to 14"));
    let first = said(&["--number", "2"]);
    assert!(first.contains("drawn: 4, numbers 1 to 5") && first.contains("of 4\n"), "{first}");
    assert!(said(&["--number", "3"]).contains("number 3: not drawn, its turn had come before"));
    // So does the promise that somebody saved, and then the number has to be of that draw.
    let saved = draws[0]["commitment"].as_str().expect("a promise");
    assert!(said(&["--commitment", saved]).contains("drawn: 4, numbers 1 to 5"));
    let (code, _, err) = verify(&answer, &["--commitment", saved, "--number", "12"]);
    assert_eq!((code, err.contains("--number 12 was not drawn: 1 to 5 were")), (64, true), "{err}");
}
