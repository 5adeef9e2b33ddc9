//! What an operator changes on one node while a room runs, judged at the others: modes, a boost that ends by itself, and back to what
//! the file says.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{ask, join, patch, three};
use crate::support::{Gateway, Operator, Visitor, eventually};

/// By hand, if the file has its way.
const ROOM: &str = "rate = 0\nmax_active = 50\nsession_idle = \"10m\"\nheartbeat_timeout = \"10m\"\nclaim_window = \"10m\"";

/// Three nodes; everything is ordered on the first.
struct Room<'a> {
    nodes: &'a [Gateway],
    operator: Operator,
    people: usize,
}

impl Room<'_> {
    /// Another app joins on this node: its answer.
    fn comes(&mut self, node: usize) -> Value {
        self.people += 1;
        join(&self.nodes[node], "sale", &format!("device-{}", self.people), &json!({})).json()
    }

    /// One app on each of the other nodes.
    fn come(&mut self) -> [Value; 2] {
        [1, 2].map(|node| self.comes(node))
    }

    /// What the room is like on each of the other nodes, once it is so.
    #[track_caller]
    fn others(&self, what: &str, is: impl Fn(&Value) -> bool) {
        for node in &self.nodes[1..] {
            let operator = Operator::new(node);
            eventually(what, || is(&operator.see("/v1/rooms/sale")).then_some(()));
        }
    }

    /// Sets a mode on the first node; the others have it within a second, as they say.
    #[track_caller]
    fn switch(&self, mode: &Value) {
        let began = Instant::now();
        patch(&self.operator, "sale", &json!({ "mode": mode }));
        let mode = mode.as_str().unwrap_or("auto");
        self.others(mode, |room| room["mode"] == mode);
        println!("{mode} was everywhere after {:?}", began.elapsed());
    }

    /// Two who joined on these nodes stand so, each as the other node tells it, too.
    #[track_caller]
    fn stand(&self, tickets: &[Value; 2], status: &str) {
        for (ticket, node) in tickets.iter().flat_map(|ticket| [(ticket, 1), (ticket, 2)]) {
            eventually(&format!("{status} on node {node}"), || {
                (ask(&self.nodes[node], ticket)["status"] == status).then_some(())
            });
        }
    }

    #[track_caller]
    fn stay(&self, tickets: &[Value; 2], status: &str) {
        let until = Instant::now() + Duration::from_millis(1_500);
        while Instant::now() < until {
            for (ticket, node) in tickets.iter().flat_map(|ticket| [(ticket, 1), (ticket, 2)]) {
                assert_eq!(ask(&self.nodes[node], ticket)["status"], status);
            }
        }
    }
}

fn is_by_hand(room: &Value) -> bool {
    room["rate_set"].as_f64() == Some(0.0)
}

#[test]
fn a_mode_set_on_one_node_is_every_nodes() {
    let _alone = super::alone();
    let (_redis, _origin, nodes) = three(ROOM);
    let mut room = Room { nodes: &nodes, operator: Operator::new(&nodes[0]), people: 0 };
    let first = room.come();
    room.stay(&first, "waiting");

    // Whoever waits and whoever comes.
    room.switch(&json!("bypass"));
    room.stand(&first, "admitted");
    for node in &nodes[1..] {
        assert!(Visitor::new(node).open("/").is_from_origin(), "at once");
    }

    room.switch(&json!("hold"));
    let held = room.come();
    room.stay(&held, "waiting");
    let mut browser = Visitor::new(&nodes[1]);
    assert_eq!(browser.open("/").state().as_deref(), Some("waiting"));

    // Nobody new, and the line goes on: here by hand.
    room.switch(&json!("drain"));
    for node in [1, 2] {
        let refused = room.comes(node);
        assert_eq!(refused["error"]["code"], "queue_disabled", "{refused}");
    }
    room.operator.does("/v1/rooms/sale/release", &json!({ "count": 2 }));
    room.stand(&held, "admitted");
    assert_eq!(browser.status().json()["status"], "waiting");

    room.switch(&json!("closed"));
    for node in [1, 2] {
        let refused = room.comes(node);
        assert_eq!(refused["error"]["code"], "queue_disabled", "{refused}");
        let page = Visitor::new(&nodes[node]).open("/");
        assert_eq!((page.status, page.state().as_deref()), (503, Some("error")));
    }
    browser.moves_to(&nodes[2]);
    assert_eq!(browser.status().json()["status"], "waiting", "who waited keeps the place");

    // Back to what the file says: by hand.
    room.switch(&Value::Null);
    room.others("nothing is set", |room| room["overrides"] == json!({}));
    let last = room.come();
    room.stay(&last, "waiting");
}

#[test]
fn a_boost_and_settings_are_every_nodes_until_they_end() {
    let _alone = super::alone();
    let (_redis, _origin, nodes) = three(ROOM);
    let mut room = Room { nodes: &nodes, operator: Operator::new(&nodes[0]), people: 0 };
    let waiting = room.come();
    room.stay(&waiting, "waiting");
    let boost = json!({ "rate": "20/s", "seconds": 5 });
    let boosted = room.operator.does("/v1/rooms/sale/boost", &boost);
    assert_eq!(boosted["rate_set"], 20, "{boosted:#}");
    room.others("the boost", |room| room["rate_set"] == 20);
    room.stand(&waiting, "admitted");
    // By itself, on all of them.
    room.others("its end", |room| room["overrides"] == json!({}) && is_by_hand(room));
    let after = room.come();
    room.stay(&after, "waiting");

    // Two are in: of the next two one has a seat, and then both.
    patch(&room.operator, "sale", &json!({ "max_active": 3, "rate": "20/s" }));
    room.others("seats", |room| room["max_active"] == 3);
    eventually("the third seat", || {
        (ask(&nodes[2], &after[0])["status"] == "admitted").then_some(())
    });
    assert_eq!(ask(&nodes[1], &after[1])["status"], "waiting");
    patch(&room.operator, "sale", &json!({ "max_active": 4 }));
    room.stand(&after, "admitted");
    patch(&room.operator, "sale", &json!({ "max_active": null, "rate": null }));
    room.others("what the file says", |room| {
        room["overrides"] == json!({}) && room["max_active"] == 50 && is_by_hand(room)
    });
}
