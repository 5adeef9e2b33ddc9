//! What was, and whether it is sound: history, those inside, the doctor, the export.

use std::process::Command;

use serde_json::{Value, json};

use super::{becomes, held, join, poll};
use crate::support::operator::{ADMIN, OPERATOR};
use crate::support::redis::RedisServer;
use crate::support::{Config, Gateway, Operator, Origin, Visitor, eventually};

fn cli(gateway: &Gateway, words: &[&str]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_anteroom"));
    command.arg("room").args(words).env("ANTEROOM_ADMIN_KEY", ADMIN);
    command.env("ANTEROOM_ADMIN", format!("http://{}", gateway.admin_addr()));
    let done = command.output().expect("it runs");
    let said = [done.stdout, done.stderr].concat();
    (done.status.code().unwrap_or(-1), String::from_utf8_lossy(&said).into_owned())
}

/// The last row of a room's history, once it is as it should be.
#[track_caller]
fn row(operator: &Operator, good: impl Fn(&Value) -> bool) -> Value {
    eventually("the minute is so", || {
        let past = operator.see("/v1/rooms/sale/history?minutes=60");
        let rows = past["minutes"].as_array().expect("rows").clone();
        // A minute may have ended meanwhile.
        let mut sum = rows.last()?.clone();
        for name in ["joins", "entries", "released", "origin_requests", "origin_errors"] {
            let total: u64 = rows.iter().filter_map(|row| row[name].as_u64()).sum();
            sum[name] = total.into();
        }
        let waits = rows.iter().rev().find(|row| row["wait_p50_seconds"].is_number());
        if let Some(waits) = waits {
            sum["wait_p50_seconds"] = waits["wait_p50_seconds"].clone();
        }
        Some(sum).filter(|row| good(row))
    })
}

fn checks_history(gateway: &Gateway) {
    let operator = Operator::with_key(gateway, OPERATOR);
    let tickets = join(gateway, "sale", 4);
    operator.does("/v1/rooms/sale/release", &json!({ "count": 2 }));
    for ticket in &tickets[..2] {
        assert_eq!(poll(gateway, ticket)["status"], "admitted");
    }
    let mut visitor = Visitor::new(gateway);
    visitor.open("/");
    operator.does("/v1/rooms/sale/release", &json!({ "count": 3 }));
    eventually("they are in", || visitor.open("/").is_from_origin().then_some(()));
    visitor.open("/status/500");
    let row =
        row(&operator, |row| row["entries"] == 3 && row["origin_requests"].as_u64() >= Some(2));
    assert_eq!((&row["joins"], &row["released"]), (&json!(5), &json!(5)), "{row:#}");
    assert!(row["wait_p50_seconds"].is_number(), "{row:#}");
    let csv = operator.get("/v1/rooms/sale/history?format=csv");
    assert_eq!(csv.header("content-type"), Some("text/csv; charset=utf-8"));
    let text = csv.text();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("at,waiting,active,"), "{text}");
    let columns = lines[0].split(',').count();
    assert!(
        lines.len() > 1 && lines.iter().all(|line| line.split(',').count() == columns),
        "{text}"
    );
    for bad in ["minutes=0", "minutes=2000", "minutes=x", "format=xml", "more=1"] {
        assert_eq!(operator.get(&format!("/v1/rooms/sale/history?{bad}")).status, 400, "{bad}");
    }
}

#[test]
fn the_past_is_told_minute_by_minute() {
    let origin = Origin::start();
    let mut gateway = Gateway::before(&origin).room("sale", "mode = \"hold\"").embedded().start();
    checks_history(&gateway);
    gateway.stop();
    gateway.restart();
    let operator = Operator::with_key(&gateway, OPERATOR);
    becomes(&operator, "sale", |room| room["view_age_seconds"].is_number());
    let row = row(&operator, |row| row["entries"] == 3);
    assert_eq!(row["joins"], 5, "a restart forgets nothing");
}

#[test]
fn the_past_is_the_same_in_redis() {
    let (redis, origin) = (RedisServer::start(), Origin::start());
    let config = Config::new(&[origin.address().to_string()]);
    let gateway = Gateway::start(config.room("sale", "mode = \"hold\"").store_at(&redis.url()));
    let operator = Operator::with_key(&gateway, OPERATOR);
    becomes(&operator, "sale", |room| room["view_age_seconds"].is_number());
    checks_history(&gateway);
    checks_doctor(&gateway);
}

fn checks_doctor(gateway: &Gateway) {
    let (code, said) = cli(gateway, &["doctor", "sale"]);
    assert_eq!((code, said.as_str()), (0, "sale: everything holds that must\n"));
    let (code, said) = cli(gateway, &["doctor", "sale", "--fix"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.starts_with("0 counters repaired\n"), "{said}");
}

#[test]
fn a_sound_line_is_said_to_be_and_operators_can_not_repair() {
    let origin = Origin::start();
    let gateway = held(&origin);
    join(&gateway, "sale", 3);
    checks_doctor(&gateway);
    let operator = Operator::with_key(&gateway, OPERATOR);
    assert_eq!(operator.post("/v1/rooms/sale/repair", &json!({})).status, 403);
}

/// Somebody else wrote into Redis: the doctor says what is wrong, and repairs what can be counted.
#[test]
fn a_counter_that_somebody_spoiled_is_found_and_counted_anew() {
    let (redis, origin) = (RedisServer::start(), Origin::start());
    let config = Config::new(&[origin.address().to_string()]);
    let gateway = Gateway::start(config.room("sale", "mode = \"hold\"").store_at(&redis.url()));
    let operator = Operator::with_key(&gateway, OPERATOR);
    becomes(&operator, "sale", |room| room["view_age_seconds"].is_number());
    join(&gateway, "sale", 5);
    let _: u64 = redis.ask(&["HSET", "anteroom:{sale}:state", "waiting", "77"]);
    let (code, said) = cli(&gateway, &["doctor", "sale"]);
    assert_eq!(code, 1, "{said}");
    assert!(
        said.contains("invariant 4: waiting 77 but 5 live")
            && said.contains("repair: counted anew"),
        "{said}"
    );
    let (code, said) = cli(&gateway, &["doctor", "sale", "--fix"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("1 counters repaired") && said.contains("everything holds"), "{said}");
    becomes(&operator, "sale", |room| room["waiting"] == 5);
}

#[test]
fn an_export_has_the_line_the_passes_and_the_overrides_and_no_token() {
    let origin = Origin::start();
    let gateway = held(&origin);
    let operator = Operator::with_key(&gateway, OPERATOR);
    let tickets = join(&gateway, "sale", 6);
    operator.does("/v1/rooms/sale/release", &json!({ "count": 2 }));
    let token = poll(&gateway, &tickets[0])["token"].as_str().expect("a pass").to_owned();
    operator.does("/v1/rooms/sale/message", &json!({ "text": "Hello" }));
    let (code, said) = cli(&gateway, &["export", "sale"]);
    assert_eq!(code, 0, "{said}");
    let lines: Vec<Value> =
        said.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let kinds = |kind: &str| lines.iter().filter(|line| line["kind"] == kind).collect::<Vec<_>>();
    assert_eq!((kinds("room").len(), kinds("override").len()), (1, 1), "{said}");
    assert_eq!((kinds("waiting").len(), kinds("pass").len()), (4, 1), "{said}");
    assert_eq!(kinds("override")[0]["name"], "message");
    assert_eq!(kinds("pass")[0]["nonce_hash"].as_str().map(str::len), Some(64));
    assert!(
        !said.contains(&token) && tickets.iter().all(|ticket| !said.contains(ticket)),
        "{said}"
    );
}

#[test]
fn the_terminal_sets_and_tells() {
    let origin = Origin::start();
    let gateway = held(&origin);
    join(&gateway, "sale", 1);
    for words in [
        &["rate", "7/s"][..],
        &["mode", "drain"],
        &["boost", "30/s", "--for", "2m"],
        &["message", "Soon."],
        &["mode", "file"],
    ] {
        let (code, said) = cli(&gateway, words);
        assert_eq!(code, 0, "{words:?}: {said}");
    }
    let room = Operator::new(&gateway).see("/v1/rooms/sale");
    assert_eq!((&room["rate_set"], &room["mode"]), (&json!(30), &json!("hold")), "{room:#}");
    assert_eq!(
        (&room["message"], &room["overrides"]["rate"]["value"]),
        (&json!("Soon."), &json!("7/s"))
    );
    let (code, said) = cli(&gateway, &["audit"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("message") && said.contains("boost"), "{said}");
    let (code, said) = cli(&gateway, &["history"]);
    assert!(code == 0 && said.starts_with("at,waiting"), "{said}");
    let (code, said) = cli(&gateway, &["rate", "fast"]);
    assert_eq!(code, 64, "{said}");
    let (code, said) = cli(&gateway, &["boost", "5/s", "--for", "soon"]);
    assert_eq!(code, 64, "{said}");
}
