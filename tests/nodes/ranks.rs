//! The rest of what docs/classes.md promises, on three nodes and one Redis: order by rank, a share, classes that anybody may have, those that a
//! trusted proxy names, and an invite that is good twice.

use std::sync::Barrier;

use anteroom::clock;
use anteroom::token::Invite;
use serde_json::{Value, json};

use super::{ask, join, three_with};
use crate::support::redis::RedisServer;
use crate::support::{Config, Gateway, Operator, Visitor, eventually, forge};

const STRICT: &str = "mode = \"hold\"\npaths = [\"/strict\"]\nclass_order = \"strict\"\nheartbeat_timeout = \"10m\"\n\
    classes = { low = { skip = 0.1, rank = 1, open = true }, mid = { skip = 0.5, rank = 2, open = true }, \
    top = { skip = 1.0, rank = 3, open = true } }";
const SHARED: &str = "rate = \"5/s\"\nburst = 1\npaths = [\"/shared\"]\nclass_share = 0.5\nheartbeat_timeout = \"10m\"\n\
    classes = { vip = { skip = 1.0, rank = 1, open = true } }";
const NAMED: &str = "mode = \"hold\"\npaths = [\"/named\"]\nclass_header = \"x-class\"\nheartbeat_timeout = \"10m\"\n\
    classes = { gold = { skip = 1.0, rank = 1 } }";

fn rooms(config: Config) -> Config {
    let config = config.room("strict", STRICT).room("shared", SHARED).room("named", NAMED);
    config.top("trusted_proxies = [\"127.0.0.1\"]")
}

/// The line as a node tells it: numbers, in their order.
fn told(node: &Gateway, room: &str) -> Vec<u64> {
    let line = Operator::new(node).see(&format!("/v1/rooms/{room}/line"));
    let visitors = line["visitors"].as_array().cloned().unwrap_or_default();
    visitors.iter().filter_map(|visitor| visitor["number"].as_u64()).collect()
}

#[track_caller]
fn everybody_tells(nodes: &[Gateway], room: &str, order: &[u64]) {
    for node in nodes {
        let mut last = Vec::new();
        let same = |last: &mut Vec<u64>| {
            *last = told(node, room);
            (*last == order).then_some(())
        };
        eventually(&format!("every node tells {order:?}"), || same(&mut last));
    }
}

/// Whoever says so is of it, on whichever node, and a higher rank goes before every lower one.
fn by_rank(nodes: &[Gateway]) {
    let came = ["", "low", "", "mid", "top", "low", "mid", "", "top"];
    for (nth, class) in came.into_iter().enumerate() {
        let more = if class.is_empty() { json!({}) } else { json!({ "priority_bucket": class }) };
        let told = join(&nodes[nth % 3], "strict", &format!("device-{nth}"), &more).json();
        let expected = if class.is_empty() { "general" } else { class };
        assert_eq!((&told["class"], &told["class_reason"]), (&json!(expected), &Value::Null));
    }
    everybody_tells(nodes, "strict", &[5, 9, 4, 7, 2, 6, 1, 3, 8]);
    let called = Operator::new(&nodes[2]).does("/v1/rooms/strict/release", &json!({ "count": 4 }));
    let called = called["called"].as_array().cloned().unwrap_or_default();
    let called: Vec<_> = called.iter().map(|one| one["number"].as_u64()).collect();
    assert_eq!(called, [5, 9, 4, 7].map(Some), "in the order that was told");
    everybody_tells(nodes, "strict", &[2, 6, 1, 3, 8]);
}

/// Turns, and those of a class who wait, at one moment of Redis.
fn turns(redis: &RedisServer) -> (u64, u64) {
    let mut pipe = redis::pipe();
    pipe.atomic().hget("anteroom:{shared}:state", "turns").zcard("anteroom:{shared}:classes");
    let client = redis::Client::open(redis.url()).expect("an address");
    let mut connection = client.get_connection().expect("a connection");
    let (turns, waiting): (Option<u64>, u64) = pipe.query(&mut connection).expect("an answer");
    (turns.unwrap_or(0), waiting)
}

/// One turn in two while both wait; by hand whoever is next by the order.
fn by_share(redis: &RedisServer, nodes: &[Gateway]) {
    const EACH: u64 = 10;
    let operator = Operator::new(&nodes[1]);
    operator.does("/v1/rooms/shared/pause", &json!({}));
    let come = |nth: u64| {
        let more =
            if nth.is_multiple_of(2) { json!({ "priority_bucket": "vip" }) } else { json!({}) };
        join(&nodes[nth as usize % 3], "shared", &format!("device-{nth}"), &more).json()
    };
    let tickets: Vec<Value> = (0..2 * EACH).map(come).collect();
    assert_eq!(turns(redis), (0, EACH), "nobody is called while it is paused");
    let called = operator.does("/v1/rooms/shared/release", &json!({ "count": 3 }));
    assert_eq!(called["released"], 3, "{called}");
    assert_eq!(turns(redis), (3, EACH - 3), "a share does not bound turns by hand");
    operator.does("/v1/rooms/shared/resume", &json!({}));
    let mut seen = 0;
    eventually("those of the class have had their turns", || {
        let (turns, waiting) = turns(redis);
        let (turns, classed) = (turns - 3, EACH - 3 - waiting);
        seen = seen.max(turns);
        assert!(2 * classed <= turns + 2, "{classed} of {turns} turns: more than their share");
        assert!(2 * classed + 2 >= turns, "{classed} of {turns} turns: less than their share");
        (waiting == 0).then_some(())
    });
    assert!(seen >= 2 * (EACH - 3) - 1, "and as many others meanwhile: {seen}");
    eventually("then whoever is left", || (turns(redis).0 == 2 * EACH).then_some(()));
    for (nth, ticket) in tickets.iter().enumerate() {
        let told = eventually("their turn, on another node", || {
            let told = ask(&nodes[(nth + 1) % 3], ticket);
            (told["status"] != "waiting").then_some(told)
        });
        assert_eq!(told["status"], "admitted", "{told}");
    }
}

/// What a proxy says counts where it is trusted. A name that is no class here, and a claim by whoever asks, are nothing.
fn by_header(redis: &RedisServer, origin: &str, nodes: &[Gateway]) {
    let config = Config::new(&[origin.to_owned()]).room("named", NAMED).store_at(&redis.url());
    let wary = Gateway::start(config);
    let come = |node: &Gateway, class: &str| {
        let mut visitor = Visitor::new(node).with("X-Class", class);
        assert_eq!(visitor.open("/named").state().as_deref(), Some("waiting"));
        visitor
    };
    let mut first = come(&nodes[0], "none");
    come(&wary, "gold");
    come(&nodes[1], "gold");
    come(&nodes[2], "gold");
    let asking = json!({ "priority_bucket": "gold" });
    let claimed = join(&nodes[0], "named", "device", &asking).json();
    assert_eq!(claimed["class"], "general", "{claimed}");
    everybody_tells(nodes, "named", &[3, 4, 1, 2, 5]);
    everybody_tells(std::slice::from_ref(&wary), "named", &[3, 4, 1, 2, 5]);
    first.moves_to(&nodes[2]);
    let status = first.fetch("/.anteroom/v1/queue/status?event_id=named").json();
    assert_eq!(status["position"], 3, "{status}");
}

#[test]
fn by_rank_by_share_and_by_a_proxys_word() {
    let _alone = super::alone();
    let (redis, origin, nodes) = three_with(rooms);
    by_rank(&nodes);
    by_share(&redis, &nodes);
    by_header(&redis, &origin.address().to_string(), &nodes);
    // Two places, and three nodes that give them at once.
    for round in 0..6 {
        invited(&nodes, round);
    }
}

/// An invite for two, used on three nodes at once: two have the class, and the third is told why not.
fn invited(nodes: &[Gateway], round: u8) {
    let expires_at = clock::now_ms() / 1_000 + 600;
    let invite =
        Invite { id: [round; 16], class: "gold".into(), uses: 2, expires_at, user_id: None };
    let token = forge::keys("named").sign_invite(&invite).expect("within limits");
    let (gate, more) = (Barrier::new(nodes.len()), json!({ "invite": token }));
    let mut told: Vec<Value> = std::thread::scope(|scope| {
        let at_once = nodes.iter().enumerate().map(|(nth, node)| {
            let (gate, more) = (&gate, &more);
            scope.spawn(move || {
                gate.wait();
                join(node, "named", &format!("guest-{round}-{nth}"), more).json()
            })
        });
        let at_once: Vec<_> = at_once.collect();
        at_once.into_iter().map(|one| one.join().expect("an answer")).collect()
    });
    told.sort_by_key(|told| told["class"].to_string());
    let classes: Vec<&str> = told.iter().filter_map(|told| told["class"].as_str()).collect();
    assert_eq!(classes, ["general", "gold", "gold"], "{told:#?}");
    assert_eq!(told[0]["class_requested"], "gold", "{told:#?}");
    assert_eq!(told[0]["class_reason"], "invite_spent", "{told:#?}");
    for node in nodes {
        let known = Operator::new(node).see("/v1/rooms/named/invites");
        let known = known["invites"].as_array().cloned().unwrap_or_default();
        let used = known.iter().find(|known| known["id"] == *invite.name());
        assert_eq!(used.map(|used| &used["used"]), Some(&json!(2)), "{known:?}");
    }
}
