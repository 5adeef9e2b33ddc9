//! Two nodes at one line: what both see is told by one of them.

use std::time::Duration;

use serde_json::{Value, json};

use super::join;
use crate::support::redis::RedisServer;
use crate::support::{Config, Gateway, Operator, Origin, eventually};

fn called(nodes: &[Gateway], level: &str) -> Vec<Vec<Value>> {
    let of = |node: &Gateway| {
        let lines = node.log().events("queue.called");
        lines.into_iter().filter(|line| line["level"] == level).collect()
    };
    nodes.iter().map(of).collect()
}

#[test]
fn turns_are_told_by_the_node_that_swept_last() {
    let redis = RedisServer::start();
    let origin = Origin::start();
    let room =
        "mode = \"hold\"\nheartbeat_timeout = \"5s\"\npoll_max = \"1s\"\non_absence = \"keep\"";
    let start = || {
        let config = Config::new(&[origin.address().to_string()]).room("sale", room);
        Gateway::start(config.store_at(&redis.url()).tables("[log]\nlevel = \"debug\""))
    };
    let nodes = [start(), start()];
    join(&nodes[0], "first");
    // Until one has swept, and both know of it.
    eventually("a sweep", || {
        let swept: Option<u64> = redis.ask(&["HGET", "anteroom:{sale}:state", "swept_ms"]);
        swept.filter(|at| *at > 0)
    });
    std::thread::sleep(Duration::from_secs(1));
    let before = called(&nodes, "info");
    assert!(before.iter().all(Vec::is_empty), "{before:?}");
    for number in 0..6 {
        join(&nodes[number % 2], &format!("d{number}"));
        Operator::new(&nodes[number % 2]).does("/v1/rooms/sale/release", &json!({ "count": 1 }));
    }
    let turns = |lines: &[Vec<Value>]| -> u64 {
        lines.iter().flatten().map(|line| line["count"].as_u64().unwrap_or(0)).sum()
    };
    eventually("both have seen them all", || {
        (turns(&called(&nodes, "info")) + turns(&called(&nodes, "debug")) >= 12).then_some(())
    });
    let [info, debug] = ["info", "debug"].map(|level| called(&nodes, level));
    // A moment may be told by both where one follows the other, and none is missing.
    let told = turns(&info);
    assert!((6..=8).contains(&told), "{info:?} {debug:?}");
}
