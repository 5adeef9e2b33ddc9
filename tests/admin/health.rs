//! Whether the node is well, and what it is.

use serde_json::json;

use super::held;
use crate::support::shaky::Manner;
use crate::support::{CutOff, Gateway, Operator, Origin, eventually};

#[test]
fn a_node_that_is_well_says_so_to_everybody() {
    let origin = Origin::start();
    let gateway = held(&origin);
    let answer = Operator::nobody(&gateway).get("/health");
    assert_eq!(answer.status, 200);
    let well = json!({ "status": "healthy", "redis": "connected", "store": "memory" });
    assert_eq!(answer.json(), well);
    assert_eq!(Operator::with_key(&gateway, "wrong-key-for-nothing").get("/health").status, 200);
}

#[test]
fn a_node_without_its_store_is_degraded_until_it_is_back() {
    let origin = Origin::start();
    let node = CutOff::before(&origin, "rate = \"5/s\"", "");
    let nobody = Operator::of(node.admin(), None);
    node.store_is(Manner::Refusing);
    let sick = json!({ "status": "degraded", "redis": "disconnected", "store": "memory" });
    eventually("it is noticed", || {
        let answer = nobody.get("/health");
        (answer.status == 503 && answer.json() == sick).then_some(())
    });
    node.store_is(Manner::Well);
    eventually("it is back", || (nobody.get("/health").status == 200).then_some(()));
}

#[test]
fn a_node_says_what_it_is_and_how_fresh_what_it_knows() {
    let origin = Origin::start();
    let gateway = held(&origin);
    let nodes = Operator::new(&gateway).see("/v1/nodes");
    let node = &nodes["nodes"][0];
    assert_eq!(nodes["nodes"].as_array().map(Vec::len), Some(1));
    assert_eq!(node["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!((&node["this"], &node["store"]), (&json!(true), &json!("memory")));
    assert_eq!(node["id"].as_str().map(str::len), Some(36), "{node:#}");
    assert!(node["uptime_seconds"].as_f64().is_some_and(|up| up < 60.0), "{node:#}");
    let room = &node["rooms"][0];
    assert_eq!((&room["id"], &room["store"]), (&json!("sale"), &json!("connected")));
    assert!(room["last_exchange_seconds"].as_f64().is_some_and(|age| age < 5.0), "{node:#}");
    assert!(node["clock_offset_ms"].as_i64().is_some_and(|off| off.abs() < 1_000), "{node:#}");
}

#[test]
fn figures_may_have_a_port_of_their_own() {
    let origin = Origin::start();
    let plan = Gateway::before(&origin).room("sale", "rate = \"5/s\"");
    let gateway = plan.admin("metrics_listen = \"127.0.0.1:0\"").start();
    let listening = gateway.events("node.listening", 3);
    let own = listening.iter().find(|line| line["protocol"] == "metrics").expect("a port");
    let address = own["address"].as_str().expect("an address").parse().expect("an address");
    let there = Operator::of(address, Some(crate::support::operator::ADMIN));
    assert!(there.get("/metrics").text().contains("anteroom_queue_length"));
    assert_eq!(there.get("/health").status, 200);
    assert_eq!(there.get("/v1/rooms").status, 404, "nothing else is there");
}
