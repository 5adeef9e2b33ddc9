//! What anybody can cause at will is one line a second, and says for how many it stands.

use serde_json::{Value, json};

use super::{assert_common, assert_hash, call, join, saying};
use crate::support::{Gateway, Origin, Request, Visitor};

fn counted(lines: &[Value]) -> u64 {
    lines.iter().map(|line| line["count"].as_u64().expect("a count")).sum()
}

#[test]
fn limits_are_told_once_a_second() {
    let origin = Origin::start();
    let plan = Gateway::before(&origin).room("sale", "mode = \"hold\"");
    let gateway = plan.limits("join_per_address = \"3/m\"\nrequests_per_ticket = \"5/m\"").start();
    let ticket = join(&gateway, "d1")["queue_id"].clone();
    let poll = Request::get(&format!(
        "/.anteroom/v1/queue/status?queue_id={}",
        ticket.as_str().expect("a ticket")
    ));
    let mut connection = gateway.connect();
    let began = std::time::Instant::now();
    let refused = (0..500).filter(|_| connection.ask(&poll).status == 429).count();
    let refused_joins = (0..200).filter(|n| {
        let body = json!({ "event_id": "sale", "device_id": format!("e{n}") });
        call(&gateway, "queue/join", &body).status == 429
    });
    let refused_joins = refused_joins.count();
    for _ in 0..20 {
        // A browser, by the same limits.
        assert_eq!(Visitor::new(&gateway).open("/").status, 429);
    }
    let seconds = began.elapsed().as_secs() as usize;
    assert!(refused > 400 && refused_joins > 100, "{refused} {refused_joins}");
    let hits = saying(&gateway, "rate_limit.hit", 1, |line| line["type"] == "requests_per_ticket");
    assert!(hits.len() <= seconds + 2, "{} lines in {seconds} s", hits.len());
    assert!(counted(&hits) <= refused as u64);
    assert_common(&hits[0], "warn");
    assert!(hits[0]["identifier"].as_str().is_some_and(|name| name.starts_with("q_")));
    let joins = saying(&gateway, "rate_limit.hit", 1, |line| line["type"] == "join_per_address");
    assert!(joins.len() <= seconds + 2, "{} lines in {seconds} s", joins.len());
    assert_eq!(joins[0]["identifier"], "127.0.0.1");
}

#[test]
fn forgeries_are_told_by_their_hash() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1").start();
    let mut ann = Visitor::new(&gateway);
    ann.open("/");
    let (name, good) = ann.token().expect("a pass");
    let forged = format!("{}x", &good[..good.len() - 1]);
    for _ in 0..100 {
        let mut mallory = Visitor::new(&gateway);
        mallory.keep(&name, &forged);
        mallory.fetch("/picture");
    }
    let told = gateway.events("token.refused", 1);
    assert!(told.len() < 30, "{told:?}");
    assert_common(&told[0], "warn");
    assert_hash(&told[0]);
    assert!(!gateway.log_contains(&forged) && !gateway.log_contains(&good));
}
