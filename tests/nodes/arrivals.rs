//! An outage that lasts: whoever comes meanwhile gets a place by their arrival, whichever node they came to and whichever they ask
//! afterwards. Judged sharply: it lasts many times as long as two arrivals may be apart and still change places.

use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::crowd::{Balancer, Party};
use super::{ARRIVALS, Fleet, Store, ask, join};
use crate::support::redis::{RedisServer, Relay};
use crate::support::{Config, Gateway, within};

/// So many come while it lasts, and a third as many afterwards, while those who came before get their places.
const PEOPLE: usize = 120;
/// So few that there is a line afterwards.
const SEATS: usize = 6;
const AWAY: Duration = Duration::from_secs(25);

/// Three nodes that all find the wire to Redis cut.
fn cut(room: &str, own: impl Fn(usize, Config) -> Config) -> (RedisServer, Relay, Fleet) {
    let redis = RedisServer::start();
    let mut relay = Relay::to(redis.addr());
    let fleet = Fleet::with(&vec![relay.url(); 3], SEATS, room, own);
    relay.cut();
    for node in &fleet.nodes {
        node.events("store.lost", 1);
    }
    (redis, relay, fleet)
}

/// Of three nodes the clocks of the last two: ten minutes ahead and behind.
fn clocked(index: usize, config: Config) -> Config {
    let library = crate::support::faketime();
    let library = library.expect("libfaketime is not installed: make tools does that");
    let own = [
        ("LD_PRELOAD", library.as_str()),
        ("FAKETIME", ["+0", "+600s", "-600s"][index]),
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
    ];
    config.environment(&own)
}

/// Those nodes are started again, and do not know what time it is.
fn restart(fleet: &mut Fleet) {
    for node in &mut fleet.nodes[1..] {
        node.crash_and_restart();
        node.events("store.lost", 1);
    }
    fleet.refresh();
}

fn judge(fleet: Fleet, what: &str) {
    let saw = fleet.judge(what, Store::IsLost);
    assert!(saw.provisional >= PEOPLE, "they came while it was away: {saw}");
    assert!(saw.outrun < ARRIVALS, "{saw}");
    assert_eq!(saw.unanswered, 0, "{saw}");
}

/// One node had no arrivals of its own: it keeps to the order of the others all the same.
#[test]
fn arrivals_keep_their_order_on_a_node_that_had_none() {
    let (_redis, mut relay, mut fleet) = cut("", |_, config| config);
    fleet.crowd.balancer.set(vec![fleet.nodes[0].addr(), fleet.nodes[1].addr()]);
    fleet.gather(PEOPLE, AWAY);
    sleep(AWAY);
    relay.mend();
    let back = fleet.nodes[2].events("store.back", 1);
    fleet.refresh();
    fleet.gather(PEOPLE / 3, AWAY / 2);
    assert_eq!(back[0]["arrivals"].as_u64(), Some(0), "nobody came to the third one");
    judge(fleet, "one node had no arrivals");
}

/// Who came to one of these stays there: it knows afterwards what time it was. Who came to the one that knew asks any of them.
#[test]
fn arrivals_keep_their_order_on_nodes_that_started_by_wrong_clocks() {
    let (_redis, mut relay, mut fleet) = cut("", clocked);
    restart(&mut fleet);
    let addresses: Vec<_> = fleet.nodes.iter().map(Gateway::addr).collect();
    let bound = addresses.iter().map(|address| {
        let balancer = Arc::new(Balancer::default());
        balancer.set(vec![*address]);
        balancer
    });
    let bound: Vec<Arc<Balancer>> = bound.collect();
    let come = |fleet: &mut Fleet, people: usize, over: Duration| {
        for balancer in &bound {
            let party = fleet.crowd.party(people / 3, over);
            fleet.gather_party(&Party { balancer: balancer.clone(), ..party });
        }
    };
    come(&mut fleet, PEOPLE, AWAY);
    sleep(AWAY);
    relay.mend();
    for node in &fleet.nodes {
        node.events("store.back", 1);
    }
    bound[0].set(addresses);
    come(&mut fleet, PEOPLE / 3, AWAY / 2);
    judge(fleet, "two nodes started by wrong clocks");
}

/// The same with people who ask any node: what can't be is corrected by one that knows the time, as soon as it is asked.
#[test]
fn an_arrival_by_a_wrong_clock_counts_from_when_a_node_that_knows_the_time_hears_of_it() {
    const APART: Duration = Duration::from_secs(3);
    let (_redis, mut relay, mut fleet) = cut("mode = \"hold\"", clocked);
    restart(&mut fleet);
    let [right, ahead, behind] = &fleet.nodes[..] else { panic!("three") };
    let come = |node: &Gateway, who: &str| {
        let told = join(node, "sale", who, &json!({}));
        assert_eq!((told.status, told.json()["status"].as_str()), (503, Some("provisional")));
        told.json()
    };
    let late = [come(ahead, "eve"), come(behind, "fay")];
    let mut places = vec![("ann", come(right, "ann"))];
    sleep(APART);
    for (who, node) in [("bob", ahead), ("cid", behind)] {
        let arrival = come(node, who);
        let same = ask(node, &arrival);
        assert_eq!(same["queue_id"], arrival["queue_id"], "it does not know better");
        let dated = ask(right, &arrival);
        assert_ne!(dated["queue_id"], arrival["queue_id"]);
        assert_eq!(ask(right, &dated)["queue_id"], dated["queue_id"], "once is enough");
        places.push((who, dated));
    }
    sleep(APART);
    places.push(("dan", come(right, "dan")));
    sleep(APART);
    relay.mend();
    right.events("store.back", 1);
    // Nobody who knows the time has heard of these two before: they were the last who came.
    places.extend(["eve", "fay"].into_iter().zip(late));
    sleep(APART);
    places.push(("gus", come(right, "gus")));
    let mut numbers: Vec<(u64, &str)> = std::thread::scope(|scope| {
        let asking =
            places.iter().map(|(who, arrival)| (*who, scope.spawn(move || number(right, arrival))));
        let asking: Vec<_> = asking.collect();
        asking.into_iter().map(|(who, asked)| (asked.join().expect("a number"), who)).collect()
    });
    numbers.sort_unstable();
    let order: Vec<&str> = numbers.into_iter().map(|(_, who)| who).collect();
    let position = |who: &str| order.iter().position(|one| *one == who);
    for (first, then) in [
        ("ann", "bob"),
        ("ann", "cid"),
        ("bob", "dan"),
        ("cid", "dan"),
        ("dan", "eve"),
        ("dan", "fay"),
    ] {
        assert!(position(first) < position(then), "{first} before {then}: {order:?}");
    }
    assert_eq!(order.last(), Some(&"gus"), "who comes afterwards is behind them all: {order:?}");
}

/// The number that becomes of an arrival.
fn number(node: &Gateway, arrival: &Value) -> u64 {
    within(Duration::from_secs(40), "a number", || {
        sleep(Duration::from_millis(500));
        let told = ask(node, arrival);
        if told["status"] == "provisional" {
            return None;
        }
        let ticket = told["queue_id"].as_str()?.split('.').nth(1)?;
        let claims: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(ticket).ok()?).ok()?;
        claims["num"].as_u64()
    })
}
