//! Classes on three nodes and one Redis: whoever brings proof goes where docs/classes.md says, whichever node they came to,
//! and an invite is good as often as it says on all of them together.

use std::sync::Barrier;

use anteroom::clock;
use anteroom::token::Invite;
use serde_json::{Value, json};

use crate::support::redis::RedisServer;
use crate::support::{Config, Gateway, Operator, Origin, Request, Visitor, eventually, forge};

const ROOM: &str = "mode = \"hold\"\npoll_max = \"1s\"\nheartbeat_timeout = \"60s\"\n\
                    classes = { partner = { skip = 0.5 }, presale = { skip = 1.0, rank = 2 } }";

fn start() -> (RedisServer, Origin, Vec<Gateway>) {
    let (redis, origin) = (RedisServer::start(), Origin::start());
    let servers = [origin.address().to_string()];
    let config = Config::new(&servers).room("sale", ROOM).store_at(&redis.url());
    let nodes = (0..3).map(|_| Gateway::start(config.clone())).collect();
    (redis, origin, nodes)
}

/// An invite that no node has heard of: the key they share is all it needs. Its id, and itself.
pub(super) fn invite(class: &str, nth: u8) -> (String, String) {
    let expires_at = clock::now_ms() / 1_000 + 600;
    let invite = Invite { id: [nth; 16], class: class.into(), uses: 1, expires_at, user_id: None };
    (invite.name(), forge::keys("sale").sign_invite(&invite).expect("within limits"))
}

/// An app joins with an invite.
fn join(node: &Gateway, device: &str, token: &str) -> Value {
    let body = json!({ "event_id": "sale", "device_id": device, "invite": token });
    node.connect().ask(&Request::call("/.anteroom/v1/queue/join", &body)).json()
}

/// The line as a node tells it: numbers, in their order.
fn told(node: &Gateway) -> Vec<u64> {
    let line = Operator::new(node).see("/v1/rooms/sale/line");
    let visitors = line["visitors"].as_array().cloned().unwrap_or_default();
    visitors.iter().filter_map(|visitor| visitor["number"].as_u64()).collect()
}

/// Numbers are given in the order of arrival. From the frontier 0 a partner with number 5 stands at 5 − 2 = 3, one with number 9
/// at 9 − 4 = 5, and a presale visitor at the head, whichever number they have.
#[test]
fn everybody_enters_in_the_order_of_classes_whichever_node_they_came_to() {
    let _alone = super::alone();
    let (_redis, _origin, nodes) = start();
    let came = [
        (0, None),
        (1, None),
        (2, None),
        (0, None),
        (1, Some("partner")),
        (2, Some("presale")),
        (0, Some("presale")),
        (1, None),
        (2, Some("partner")),
    ];
    let mut people: Vec<Visitor> = Vec::new();
    for (nth, (node, class)) in came.into_iter().enumerate() {
        let mut visitor = Visitor::new(&nodes[node]);
        if let Some(class) = class {
            let (_, token) = invite(class, nth as u8);
            assert_eq!(visitor.open(&format!("/?anteroom_invite={token}")).status, 303);
        }
        assert_eq!(visitor.open("/").state().as_deref(), Some("waiting"));
        people.push(visitor);
    }
    let order = [6, 7, 1, 2, 5, 3, 4, 9, 8];
    for node in &nodes {
        let mut last = Vec::new();
        let same = |last: &mut Vec<u64>| {
            *last = told(node);
            (*last == order).then_some(())
        };
        eventually("every node tells the same order", || same(&mut last));
    }
    for (nth, number) in order.into_iter().enumerate() {
        let node = &nodes[nth % 3];
        let released = Operator::new(node).does("/v1/rooms/sale/release", &json!({ "count": 1 }));
        assert_eq!(released["called"][0]["number"], number, "turn {nth}: {released}");
        // Over another node than the one they joined at.
        let visitor = &mut people[number as usize - 1];
        visitor.moves_to(&nodes[(came[number as usize - 1].0 + 1) % 3]);
        visitor.await_turn();
        assert!(visitor.open("/").is_from_origin(), "{number} is in");
    }
}

#[test]
fn an_invite_for_one_is_worth_its_class_once_on_all_nodes_together() {
    let (_redis, _origin, nodes) = start();
    for round in 0..8 {
        let (id, token) = invite("presale", round);
        let gate = Barrier::new(nodes.len());
        let mut told: Vec<Value> = std::thread::scope(|scope| {
            let at_once = nodes.iter().enumerate().map(|(nth, node)| {
                let (gate, token) = (&gate, &token);
                scope.spawn(move || {
                    gate.wait();
                    join(node, &format!("device-{round}-{nth}"), token)
                })
            });
            let at_once: Vec<_> = at_once.collect();
            at_once.into_iter().map(|one| one.join().expect("an answer")).collect()
        });
        told.sort_by_key(|told| told["class"].to_string());
        let classes: Vec<&str> = told.iter().filter_map(|told| told["class"].as_str()).collect();
        assert_eq!(classes, ["general", "general", "presale"], "{told:#?}");
        for general in &told[..2] {
            assert_eq!(general["class_requested"], "presale", "{general}");
            assert_eq!(general["class_reason"], "invite_spent", "{general}");
        }
        let known = Operator::new(&nodes[usize::from(round) % 3]).see("/v1/rooms/sale/invites");
        let known = known["invites"].as_array().cloned().unwrap_or_default();
        let used = known.iter().find(|known| known["id"] == *id).map(|known| &known["used"]);
        assert_eq!(used, Some(&json!(1)), "{known:?}");
    }
}

#[test]
fn what_is_revoked_on_one_node_is_worth_nothing_on_another() {
    let (_redis, _origin, nodes) = start();
    let (id, token) = invite("presale", 1);
    let operator = Operator::new(&nodes[0]);
    operator.does(&format!("/v1/rooms/sale/invites/{id}/revoke"), &json!({}));
    for (nth, node) in nodes.iter().enumerate() {
        let told = join(node, &format!("device-{nth}"), &token);
        assert_eq!(told["class"], "general", "{told}");
        assert_eq!(told["class_reason"], "invite_revoked", "{told}");
        let known = Operator::new(node).see("/v1/rooms/sale/invites");
        assert_eq!(known["invites"][0]["revoked"], true, "{known}");
    }
}
