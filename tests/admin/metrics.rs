//! `/metrics`: every figure there is, in the form Prometheus reads, and the same cost however many wait.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use anteroom::metrics::{ALL, Kind};
use serde_json::json;

use super::{becomes, join, poll};
use crate::support::{Gateway, Operator, Origin, Request, Visitor, eventually};

/// Samples by name and labels, read strictly: a line that is no sample, comment or end is a failure.
fn parse(text: &str) -> BTreeMap<String, f64> {
    let mut samples = BTreeMap::new();
    let mut typed = BTreeSet::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').expect("a name and a type");
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            assert!(typed.insert(name.to_owned()), "{name} is told twice");
            continue;
        }
        if line.starts_with("# HELP ") {
            continue;
        }
        let (series, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("{line:?}"));
        let name = series.split('{').next().expect("a name");
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        assert!(name.bytes().all(plain), "{line}");
        let family = ["_bucket", "_sum", "_count"]
            .iter()
            .find_map(|suffix| name.strip_suffix(suffix).filter(|name| typed.contains(*name)));
        assert!(typed.contains(family.unwrap_or(name)), "{line} has no type");
        let value = value.parse().unwrap_or_else(|_| panic!("{line}"));
        assert!(samples.insert(series.to_owned(), value).is_none(), "{series} twice");
    }
    samples
}

fn scrape(gateway: &Gateway) -> BTreeMap<String, f64> {
    let answer = Operator::nobody(gateway).get("/metrics");
    assert_eq!(answer.status, 200);
    let kind = answer.header("content-type");
    assert_eq!(kind, Some("text/plain; version=0.0.4; charset=utf-8"));
    parse(&answer.text())
}

const SALE: &str = "{event_id=\"sale\",tenant_id=\"\"}";

#[test]
fn what_happens_is_counted() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "rate = \"5/s\"\nmax_active = 1").start();
    let [mut ann, mut bob] = [(); 2].map(|()| Visitor::new(&gateway));
    assert!(ann.open("/").is_from_origin());
    assert_eq!(bob.open("/").state().as_deref(), Some("waiting"));
    let admin = Operator::new(&gateway);
    becomes(&admin, "sale", |room| room["active"] == 1 && room["waiting"] == 1);
    let now = scrape(&gateway);
    let figure = |name: &str| now.get(&format!("anteroom_{name}")).copied();
    for (name, value) in [
        ("queue_length", 1.0),
        ("queue_class_length", 0.0),
        ("concurrent_admissions", 1.0),
        ("capacity", 1.0),
        ("release_rate_set", 5.0),
        ("admissions_total", 1.0),
        ("joins_total", 2.0),
        ("paused", 0.0),
        ("store_up", 1.0),
    ] {
        assert_eq!(figure(&format!("{name}{SALE}")), Some(value), "{name} in {now:#?}");
    }
    let outcome = |outcome: &str| {
        figure(&format!("requests_total{{event_id=\"sale\",outcome=\"{outcome}\",tenant_id=\"\"}}"))
    };
    assert_eq!((outcome("admitted"), outcome("waiting")), (Some(1.0), Some(1.0)));
    assert_eq!(figure("origin_responses_total{origin=\"site\",status=\"2xx\"}"), Some(1.0));
    assert_eq!(figure("origin_request_duration_seconds_count{origin=\"site\"}"), Some(1.0));
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(figure(&format!("build_info{{version=\"{version}\"}}")), Some(1.0));
    for (name, spread) in [
        ("order_spread_seconds", anteroom::room::SPREAD),
        ("order_spread_losing_seconds", anteroom::room::SPREAD_LOSING),
    ] {
        assert_eq!(figure(name), Some(spread.as_secs_f64()), "{name}");
    }
    assert!(figure("store_operation_duration_seconds_count{store=\"memory\"}") > Some(0.0));
    assert_eq!(figure("redis_operation_duration_seconds_count"), Some(0.0), "there is none");
    ann.complete();
    bob.await_turn();
    assert!(bob.open("/").is_from_origin());
    let now = scrape(&gateway);
    let figure = |name: &str| now.get(&format!("anteroom_{name}{SALE}")).copied();
    assert_eq!(figure("queue_wait_time_seconds_count"), Some(1.0), "bob waited, once");
    assert_eq!(figure("completions_total"), Some(1.0));
    let polls =
        now.get("anteroom_api_requests_total{endpoint=\"/v1/queue/status\",status=\"200\"}");
    assert!(polls.is_some_and(|polls| *polls >= 1.0), "{now:#?}");
    let looks = "anteroom_api_requests_total{endpoint=\"/v1/rooms/{id}\",status=\"200\"}";
    assert!(now.get(looks).is_some_and(|looks| *looks >= 1.0), "{now:#?}");
}

/// Thirty are told of thirty seconds, and called at once.
#[test]
fn what_people_were_told_is_held_against_what_came() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "rate = \"1/s\"\nburst = 1").start();
    join(&gateway, "sale", 30);
    let admin = Operator::new(&gateway);
    becomes(&admin, "sale", |room| room["joined_total"] == 30);
    let bytes = scrape(&gateway).get(&format!("anteroom_store_bytes{SALE}")).copied();
    assert!(bytes.is_some_and(|bytes| (15.0..1_000.0).contains(&bytes)), "{bytes:?}");
    admin.does("/v1/rooms/sale/release", &json!({ "count": 40 }));
    let early = "anteroom_eta_range_total{event_id=\"sale\",tenant_id=\"\",turn=\"early\"}";
    let now = eventually("they are judged", || {
        Some(scrape(&gateway)).filter(|now| now.get(early).is_some_and(|early| *early >= 20.0))
    });
    let count = now.get(&format!("anteroom_eta_error_ratio_count{SALE}")).copied();
    let sum = now.get(&format!("anteroom_eta_error_ratio_sum{SALE}")).copied();
    assert!(count.is_some_and(|count| (20.0..=30.0).contains(&count)), "{count:?}");
    assert!(sum < count.map(|count| count / 2.0), "{sum:?} of {count:?}");
}

#[test]
fn whoever_enters_and_never_comes_back_is_a_ghost() {
    let origin = Origin::start();
    let gateway =
        Gateway::before(&origin).room("sale", "max_active = 9\nsession_first = \"1s\"").start();
    let [mut bot, mut ann] = [(); 2].map(|()| Visitor::new(&gateway));
    assert!(bot.open("/").is_from_origin());
    assert!(ann.open("/").is_from_origin() && ann.open("/").is_from_origin());
    let ghosts = format!("anteroom_ghosts_total{SALE}");
    assert_eq!(scrape(&gateway).get(&ghosts), Some(&0.0));
    let admin = Operator::new(&gateway);
    becomes(&admin, "sale", |room| room["active"] == 1);
    eventually("the bot is counted", || {
        (scrape(&gateway).get(&ghosts) == Some(&1.0)).then_some(())
    });
    assert!(ann.open("/").is_from_origin());
    assert_eq!(scrape(&gateway).get(&ghosts), Some(&1.0));
}

#[test]
fn every_figure_of_the_table_is_there_and_no_visitor_makes_another() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin)
        .room("sale", "rate = \"5/s\"\nmax_active = 9\nadaptive = {}")
        .room(
            "doors",
            "hosts = [\"doors.example\"]\nschedule = [{ opens = \"2096-12-01T10:00:00Z\" }]",
        )
        .start();
    let tickets = join(&gateway, "sale", 1);
    poll(&gateway, &tickets[0]);
    let before = scrape(&gateway);
    let told = |name: &str| before.keys().any(|series| series.split('{').next() == Some(name));
    for metric in ALL {
        let name = format!("anteroom_{}", metric.name);
        let name = if metric.kind == Kind::Histogram { format!("{name}_count") } else { name };
        assert!(told(&name), "{name}");
    }
    let phase = |room: &str, phase: &str| {
        let labels = format!("{{event_id=\"{room}\",phase=\"{phase}\",tenant_id=\"\"}}");
        before.get(&format!("anteroom_phase{labels}")).copied()
    };
    for (room, said) in [("sale", "open"), ("doors", "closed")] {
        for word in ["open", "prequeue", "closed"] {
            assert_eq!(phase(room, word), Some(f64::from(u8::from(word == said))), "{room} {word}");
        }
    }
    let opens = before.get("anteroom_opens_time_seconds{event_id=\"doors\",tenant_id=\"\"}");
    assert_eq!(opens.copied(), Some(4_005_194_400.0), "2096-12-01T10:00:00Z");
    for n in 0..50 {
        let mut connection = gateway.connect();
        for path in [format!("/page/{n}"), format!("/.anteroom/v1/call/{n}")] {
            connection.ask(&Request::get(&path).with("X-Device-ID", &format!("device-{n}")));
        }
        let body = json!({ "event_id": format!("room-{n}") });
        connection.ask(&Request::call("/.anteroom/v1/join", &body));
        Operator::new(&gateway).get(&format!("/v1/rooms/room-{n}"));
        Operator::new(&gateway).get(&format!("/v1/no/such/{n}"));
    }
    let series = |samples: &BTreeMap<String, f64>| samples.len();
    let after = scrape(&gateway);
    assert!(series(&after) < series(&before) + 60, "{} and {}", series(&before), series(&after));
}

#[test]
fn an_operator_may_ask_for_a_key_and_another_prefix() {
    let origin = Origin::start();
    let plan = Gateway::before(&origin).room("sale", "rate = \"5/s\"");
    let gateway = plan.admin("metrics_public = false").tables("[metrics]\nprefix = \"\"").start();
    assert_eq!(Operator::nobody(&gateway).get("/metrics").status, 401);
    let told = Operator::new(&gateway).get("/metrics").text();
    assert!(told.contains("\nqueue_length{event_id=\"sale\""), "{told}");
}

#[test]
fn a_room_that_a_reload_removes_is_no_longer_told_of() {
    let origin = Origin::start();
    let plan = Gateway::before(&origin).room("sale", "rate = \"5/s\"\nhosts = [\"a.example\"]");
    let gateway = plan.room("drop", "rate = \"5/s\"\nhosts = [\"b.example\"]").start();
    assert!(scrape(&gateway).keys().any(|series| series.contains("\"drop\"")));
    let fewer = gateway.config().text();
    let start = fewer.find("[rooms.drop]").expect("the room");
    assert!(gateway.reload(&fewer[..start]));
    assert!(!scrape(&gateway).keys().any(|series| series.contains("\"drop\"")));
}

/// A figure with 100 rooms, as many as anybody has.
#[test]
fn a_scrape_of_a_hundred_rooms_is_quick() {
    let origin = Origin::start();
    let mut plan = Gateway::before(&origin);
    for n in 0..100 {
        plan =
            plan.room(&format!("room-{n}"), &format!("rate = \"5/s\"\nhosts = [\"h{n}.example\"]"));
    }
    let gateway = plan.start();
    scrape(&gateway);
    let took = (0..5).map(|_| {
        let began = Instant::now();
        Operator::nobody(&gateway).get("/metrics");
        began.elapsed()
    });
    let best = took.min().expect("five");
    println!("a scrape of 100 rooms: {best:?}");
    assert!(best < Duration::from_millis(500), "{best:?}, unoptimised");
}
