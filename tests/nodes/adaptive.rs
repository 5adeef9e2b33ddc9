//! A rate that follows the origin, shared by three nodes on one Redis: what one node sees of the origin, all of them go by.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{alone, state};
use crate::support::redis::RedisServer;
use crate::support::{Config, Gateway, Operator, Origin, PATIENCE, Visitor, eventually, within};

const ROOM: &str =
    "rate = \"60/s\"\nrate_min = \"2/s\"\nmax_waiting = \"none\"\nheartbeat_timeout = \"10m\"";
const LATENCY: &str = "adaptive = { target_p95 = \"400ms\" }";
const COMPLETIONS: &str = "adaptive = { signal = \"completions\" }";

struct Three {
    redis: RedisServer,
    nodes: Vec<Gateway>,
    /// Of each node one who is inside.
    inside: Vec<Visitor>,
    waiting: Vec<Visitor>,
    _origin: Origin,
}

impl Three {
    fn start(adaptive: &str) -> Three {
        let (redis, origin) = (RedisServer::start(), Origin::start());
        let nodes: Vec<Gateway> = (0..3)
            .map(|_| {
                let config = Config::new(&[origin.address().to_string()]);
                let config = config.room("sale", &format!("{ROOM}\n{adaptive}"));
                Gateway::start(config.store_at(&redis.url()))
            })
            .collect();
        let inside = nodes.iter().map(|node| {
            let mut visitor = Visitor::new(node);
            eventually("a seat", || visitor.open("/").is_from_origin().then_some(()));
            visitor
        });
        let inside = inside.collect();
        let come = |nth: usize| {
            let mut visitor = Visitor::new(&nodes[nth % 3]);
            visitor.open("/");
            visitor
        };
        let waiting = (0..120).map(come).collect();
        Three { redis, nodes, inside, waiting, _origin: origin }
    }

    fn told(&self, node: usize) -> Value {
        Operator::new(&self.nodes[node]).see("/v1/rooms/sale")["adaptive"].clone()
    }

    /// Those inside ask for this, again and again, until every node says so.
    fn ask_until(&mut self, path: &str, what: &str, good: impl Fn(&Value) -> bool) -> Duration {
        let began = Instant::now();
        eventually(what, || {
            for visitor in &mut self.inside {
                for _ in 0..3 {
                    visitor.fetch(path);
                }
            }
            (0..3).all(|node| good(&self.told(node))).then_some(())
        });
        began.elapsed()
    }
}

fn rate(told: &Value) -> f64 {
    told["rate"].as_f64().unwrap_or(0.0)
}

#[test]
fn three_nodes_share_one_rate_that_follows_the_origin() {
    let _alone = alone();
    let mut three = Three::start(LATENCY);
    let took = three.ask_until("/reply?status=500", "no turns", |told| told["why"] == "failing");
    println!("no turns {took:?} after the first error");
    assert!(took < Duration::from_secs(8), "{took:?}");
    let told = three.told(0);
    assert_eq!((&told["rate"], &told["signal"]), (&json!(0), &json!("latency")), "{told:#}");
    assert!(told["error_ratio"].as_f64().is_some_and(|part| part >= 0.5), "{told:#}");
    let reason = told["reason"].as_str().expect("a sentence");
    assert!(reason.starts_with("rate 0/s: stopped, "), "{reason}");

    // Nobody is called while it goes on so, by any node.
    let stopped = state(&three.redis, "turns");
    let until = Instant::now() + Duration::from_secs(3);
    while Instant::now() < until {
        for visitor in &mut three.inside {
            visitor.fetch("/reply?status=500");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(state(&three.redis, "turns"), stopped);
    // But by hand.
    let operator = Operator::with_key(&three.nodes[1], crate::support::operator::OPERATOR);
    assert_eq!(operator.does("/v1/rooms/sale/release", &json!({ "count": 2 }))["released"], 2);

    // Well again: from the floor, and upwards.
    three.ask_until("/fine", "turns again", |told| rate(told) >= 2.0);
    assert!(rate(&three.told(0)) < 10.0, "gradually: {:#}", three.told(0));
    three.ask_until("/fine", "growth", |told| rate(told) > 3.0);
    assert!(state(&three.redis, "turns") > stopped + 2);
    // Of one mind, as soon as nothing new is told.
    eventually("the same rate everywhere", || {
        let all: Vec<f64> = (0..3).map(|node| rate(&three.told(node))).collect();
        all.iter().all(|one| *one == all[0]).then_some(())
    });
    let metrics = Operator::new(&three.nodes[2]).get("/metrics").text();
    let line = metrics.lines().find(|line| line.starts_with("anteroom_adaptive_rate{"));
    let told: f64 = line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).expect("a rate");
    assert!(told >= 2.0, "{line:?}");
}

/// An origin that hangs gives no answers that could be slow. People go on asking it, as they do.
#[test]
fn an_origin_that_hangs_is_seen_while_it_hangs() {
    let _alone = alone();
    let mut three = Three::start(LATENCY);
    three.ask_until("/fine", "figures", |told| told["why"] != "starting");
    let began = Instant::now();
    let mut asking = Vec::new();
    eventually("no turns", || {
        for (node, inside) in three.nodes.iter().zip(&three.inside) {
            let mut same = Visitor::new(node);
            same.learn_cookies(inside);
            asking.push(std::thread::spawn(move || same.fetch("/slow?ms=15000")));
        }
        std::thread::sleep(Duration::from_millis(200));
        (0..3).all(|node| three.told(node)["why"] == "silent").then_some(())
    });
    let took = began.elapsed();
    println!("no turns {took:?} after the first request that hangs");
    assert!(took < Duration::from_secs(10), "{took:?}: before anything was answered");
    asking.into_iter().for_each(|asking| _ = asking.join());
}

/// Not one error, and answers that take half as long again as they may: fewer turns, on every node.
#[test]
fn an_origin_that_becomes_slow_gets_fewer_visitors() {
    let _alone = alone();
    let mut three = Three::start(LATENCY);
    three.ask_until("/fine", "growth", |told| rate(told) > 5.0);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Four at a time on each node, as long as it takes.
        for inside in three.inside.iter().flat_map(|inside| [inside; 4]) {
            let (mut same, over) = (inside.clone(), &over);
            scope.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    same.fetch("/slow?ms=600");
                }
            });
        }
        let fewer = within(PATIENCE, "fewer turns everywhere", || {
            let all: Vec<Value> = (0..3).map(|node| three.told(node)).collect();
            let fewer = all.iter().all(|told| told["why"] == "slow" && rate(told) < 4.0);
            fewer.then_some(all)
        });
        over.store(true, Ordering::Relaxed);
        for told in fewer {
            assert!(rate(&told) >= 2.0, "never below the floor: {told:#}");
            assert!(told["p95_ms"].as_f64().is_none_or(|p95| p95 > 400.0), "{told:#}");
            let reason = told["reason"].as_str().expect("a sentence");
            assert!(reason.contains("over target 400ms"), "{reason}");
        }
    });
}

/// A rate that follows how many visits end well, at whichever node they do.
#[test]
fn completions_on_any_node_are_what_all_of_them_follow() {
    let _alone = alone();
    let mut three = Three::start(COMPLETIONS);
    let (mut completed, mut waiting) = (0, std::mem::take(&mut three.waiting));
    eventually("more turns than the floor, everywhere", || {
        // Whoever is next in line, over another node than the one they came to.
        for (nth, mut visitor) in waiting.drain(..waiting.len().min(6)).enumerate() {
            visitor.moves_to(&three.nodes[nth % 3]);
            visitor.await_turn();
            assert!(visitor.open("/").is_from_origin());
            visitor.complete();
            completed += 1;
        }
        let good = |told: &Value| told["why"] == "following" && rate(told) > 2.5;
        (0..3).all(|node| good(&three.told(node))).then_some(())
    });
    assert!(completed > 0 && !waiting.is_empty(), "{completed}");
    for told in (0..3).map(|node| three.told(node)) {
        assert_eq!(told["signal"], "completions", "{told:#}");
        assert!((2.0..=60.0).contains(&rate(&told)), "{told:#}");
    }
}
