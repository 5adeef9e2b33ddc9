//! What was asked for by name and needs whole nodes: two seats and a crowd before them, and windows that advance though whoever
//! opened the last one is killed.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use serde_json::json;

use super::crowd::Party;
use super::history::Event;
use super::{Fleet, Store, alone};
use crate::support::operator::OPERATOR;
use crate::support::redis::{RedisServer, Relay};
use crate::support::{Config, Gateway, Operator, Origin, Visitor, eventually};

/// Seats are two, sixty want in, and each goes again soon.
#[test]
fn of_sixty_two_are_inside_and_a_leaver_is_replaced_at_once() {
    const PEOPLE: usize = 60;
    const SEATS: usize = 2;
    let redis = RedisServer::start();
    let mut fleet = Fleet::start(&vec![redis.url(); 3], SEATS, "");
    let party = fleet.crowd.party(PEOPLE, Duration::from_millis(300));
    // Pages ask as often here as it takes to see what is at once.
    fleet.gather_party(&Party { poll: Duration::from_millis(100), ..party });
    let history = fleet.crowd.history.clone();
    // The judge counts who is inside at every moment.
    let saw = fleet.judge("sixty before two seats", Store::Answers);
    assert_eq!(saw.entered, PEOPLE);
    let entered = history.when(|event| matches!(event, Event::Entered { .. }));
    let left = history.when(|event| matches!(event, Event::Leaving { .. }));
    // Whoever leaves first makes room for the third, and so on.
    let gaps = left.iter().zip(&entered[SEATS..]).map(|((left, _), (entered, _))| *entered - *left);
    let gaps: Vec<Duration> = gaps.collect();
    let longest = gaps.iter().max().expect("leavers");
    let mean = gaps.iter().sum::<Duration>() / gaps.len() as u32;
    println!("a seat was empty for {mean:?}, at most for {longest:?}");
    assert!(mean < Duration::from_secs(1), "{mean:?}");
    assert!(*longest < Duration::from_secs(3), "{longest:?}");
}

/// A node, and the wire that tells when it speaks.
struct Wired {
    node: Gateway,
    relay: Relay,
    bytes: [usize; 2],
}

impl Wired {
    /// Whether it has spoken since the look before the last one.
    fn has_spoken(&mut self) -> bool {
        let now = self.relay.bytes();
        let before = self.bytes[0];
        self.bytes = [self.bytes[1], now];
        now != before
    }
}

#[test]
fn windows_advance_though_the_node_that_opened_the_last_one_is_killed() {
    const BATCH: u64 = 5;
    const INTERVAL_MS: u64 = 1_000;
    let _alone = alone();
    let (redis, origin) = (RedisServer::start(), Origin::start());
    let room = "batch = 5\ninterval = \"1s\"\nwindows = 100\nmax_waiting = \"none\"\nheartbeat_timeout = \"10m\"";
    let mut nodes: Vec<Wired> = (0..3)
        .map(|_| {
            let relay = Relay::to(redis.addr());
            let config = Config::new(&[origin.address().to_string()]).room("sale", room);
            let node = Gateway::start(config.store_at(&relay.url()));
            Wired { node, relay, bytes: [0; 2] }
        })
        .collect();
    for nth in 0..120 {
        Visitor::new(&nodes[nth % 3].node).open("/");
    }
    let look =
        || -> (u64, u64) { redis.ask(&["HMGET", "anteroom:{sale}:state", "turns", "clock_ms"]) };
    let (first, began_ms) = look();
    let mut turns = first;
    let mut killed = 0;
    let until = Instant::now() + Duration::from_secs(60);
    let ended_ms = loop {
        let spoken: Vec<usize> = nodes
            .iter_mut()
            .enumerate()
            .filter_map(|(index, wired)| wired.has_spoken().then_some(index))
            .collect();
        let (now, clock_ms) = look();
        if now != turns {
            assert_eq!(now - turns, BATCH, "one window at a time");
            turns = now;
            let opened = (turns - first) / BATCH;
            // If two spoke at the same moment, it is one of the next windows.
            if let [index] = spoken[..]
                && opened >= 2 * (killed + 1)
                && nodes.len() > 1
            {
                drop(nodes.remove(index));
                killed += 1;
            }
            if killed == 2 && opened >= 8 {
                break clock_ms;
            }
        }
        assert!(Instant::now() < until, "{turns} turns, {killed} killed");
        std::thread::sleep(Duration::from_millis(1));
    };
    let due = (ended_ms - began_ms) / INTERVAL_MS * BATCH;
    let given = turns - first;
    println!("{given} turns in {} ms, with two of three nodes killed", ended_ms - began_ms);
    assert!((due..=due + BATCH).contains(&given), "{given} turns, {due} are due");
}

/// Sixty wait, and an operator at each of two nodes calls next at the same moment, again and again.
#[test]
fn operators_at_two_nodes_never_call_the_same_visitor() {
    let (redis, origin) = (RedisServer::start(), Origin::start());
    let room = "mode = \"hold\"\nticket_prefix = \"B\"";
    let nodes = [(); 2].map(|()| {
        let config = Config::new(&[origin.address().to_string()]).room("sale", room);
        Gateway::start(config.store_at(&redis.url()))
    });
    for nth in 0..60 {
        Visitor::new(&nodes[nth % 2]).open("/");
    }
    // Each names whom it called by its own view: both have heard of everybody first.
    for node in &nodes {
        let operator = Operator::new(node);
        eventually("sixty in line", || {
            (operator.get("/v1/rooms/sale").json()["waiting"] == 60).then_some(())
        });
    }
    let together = Barrier::new(nodes.len());
    let ask = |node: &Gateway| -> Vec<String> {
        let operator = Operator::with_key(node, OPERATOR);
        let next = |_| {
            together.wait();
            let released = operator.does("/v1/rooms/sale/release", &json!({ "count": 1 }));
            assert_eq!(released["released"], 1, "{released}");
            released["called"][0]["label"].as_str().expect("a label").to_owned()
        };
        (0..30).map(next).collect()
    };
    let mut called: Vec<String> = std::thread::scope(|scope| {
        let operators: Vec<_> = nodes.iter().map(|node| scope.spawn(|| ask(node))).collect();
        operators.into_iter().flat_map(|one| one.join().expect("no panic")).collect()
    });
    called.sort();
    let all: Vec<String> = (1..=60).map(|number| format!("B-{number:06}")).collect();
    assert_eq!(called, all);
}
