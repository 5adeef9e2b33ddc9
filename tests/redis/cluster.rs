//! A cluster: a line is asked for where it is, also while it moves, and after its master has changed.

use std::time::Duration;

use anteroom::store::redis::{Script, Trouble};
use redis::Value;

use super::{Caller, trouble};
use crate::support::redis::{Cluster, RedisServer};
use crate::support::within;

/// A master's silence is noticed after 2 s here.
const SETTLED: Duration = Duration::from_secs(15);

const ROOMS: [&str; 8] = ["sale", "drop", "a", "b", "c", "d", "e", "f"];

fn key(room: &str) -> String {
    format!("anteroom:{{{room}}}:n")
}

#[test]
fn every_line_is_found_on_its_node() {
    let cluster = Cluster::start();
    let mut homes: Vec<usize> = ROOMS.iter().map(|room| cluster.home(&key(room)).1).collect();
    homes.sort_unstable();
    homes.dedup();
    assert_eq!(homes, [0, 1, 2], "these rooms are on all nodes");
    // By any one of its nodes.
    let one = format!("redis-cluster://127.0.0.1:{}", cluster.nodes[1].port());
    for (turn, url) in [(1, cluster.url()), (3, one)] {
        let caller = Caller::new(&url);
        caller.check().unwrap();
        for room in ROOMS {
            assert_eq!(caller.count(&key(room)).unwrap(), turn);
            assert_eq!(caller.count(&key(room)).unwrap(), turn + 1);
        }
    }
    // Two keys of a line are one place; two lines are not.
    let both = Script::new("return redis.call('EXISTS', KEYS[1], KEYS[2])");
    let caller = Caller::new(&cluster.url());
    assert_eq!(caller.eval(&both, &["{a}:x", "{a}:y"], &[]).unwrap(), Value::Int(0));
    let crossed = trouble(caller.eval(&both, &["{a}:x", "{b}:y"], &[]));
    assert!(matches!(&crossed, Trouble::Refused(why) if why.contains("CROSSSLOT")), "{crossed}");
}

#[test]
fn a_line_is_followed_while_it_moves() {
    let cluster = Cluster::start();
    let caller = Caller::new(&cluster.url());
    let key = key("sale");
    let (slot, from) = cluster.home(&key);
    let to = (from + 1) % 3;
    assert_eq!(caller.count(&key).unwrap(), 1);

    // On its way, and not there yet: ASK, with a script that the new node has never heard.
    cluster.begin_move(slot, from, to);
    let _: String = cluster.nodes[to].ask(&["SCRIPT", "FLUSH"]);
    cluster.migrate(std::slice::from_ref(&key), from, to);
    assert_eq!(caller.count(&key).unwrap(), 2, "it is asked for where it is by now");
    assert_eq!(caller.count(&key).unwrap(), 3);

    // Arrived: MOVED.
    cluster.end_move(slot, to);
    assert_eq!(caller.count(&key).unwrap(), 4);
    let there: i64 = cluster.nodes[to].ask(&["GET", &key]);
    assert_eq!(there, 4);

    // Half of a line here and half of it there: asked again later, nothing is done.
    let both = Script::new("return redis.call('EXISTS', KEYS[1], KEYS[2])");
    let other = "anteroom:{sale}:other";
    let _: String = cluster.nodes[to].ask(&["SET", other, "1"]);
    cluster.begin_move(slot, to, from);
    cluster.migrate(&[other.to_owned()], to, from);
    let torn = trouble(caller.eval(&both, &[&key, other], &[]));
    assert!(matches!(&torn, Trouble::NotReady(why) if why.contains("TRYAGAIN")), "{torn}");
}

#[test]
fn a_master_that_is_replaced_is_found_again() {
    let mut cluster = Cluster::start();
    let key = key("sale");
    let (_, home) = cluster.home(&key);
    let replica = cluster.add_replica(home);
    let caller = Caller::new(&cluster.url());
    assert_eq!(caller.count(&key).unwrap(), 1);

    // The old master lives on as a replica, and sends us on.
    cluster.fail_over(replica);
    let counted = within(SETTLED, "the new master", || caller.count(&key).ok());
    assert_eq!(counted, 2);

    // The old master, a replica now, takes over from one that is killed.
    within(SETTLED, "a replica that follows", || {
        let follows = cluster.nodes[home].try_ask::<String>(&["INFO", "replication"]).ok()?;
        follows.contains("master_link_status:up").then_some(())
    });
    cluster.nodes[replica].kill();
    assert!(trouble(caller.count(&key)).is_passing());
    let counted = within(SETTLED, "the master of before", || caller.count(&key).ok());
    assert!(counted >= 2, "{counted}");
    assert_eq!(cluster.nodes[home].info("role"), "master");
}

/// A third of the cluster is gone, with nobody to take over: its lines wait, the others go on.
#[test]
fn a_node_that_is_gone_takes_only_its_own_lines_along() {
    let partial = RedisServer::setup().line("cluster-require-full-coverage no");
    let mut cluster = Cluster::with(partial);
    let mine = key("sale");
    let (_, home) = cluster.home(&mine);
    let keys = ROOMS.map(key);
    let others: Vec<&String> = keys.iter().filter(|key| cluster.home(key).1 != home).collect();
    let caller = Caller::new(&cluster.url());
    assert_eq!(caller.count(&mine).unwrap(), 1);
    cluster.nodes[home].kill();
    assert!(trouble(caller.count(&mine)).is_passing());
    assert!(!others.is_empty());
    for key in others {
        assert_eq!(caller.count(key).unwrap(), 1);
    }
    cluster.nodes[home].restart();
    within(SETTLED, "its lines again", || caller.count(&mine).ok());
}

/// The usual setting: a cluster that lacks a part takes nothing at all, and says so.
#[test]
fn a_cluster_that_is_down_is_waited_for() {
    let mut cluster = Cluster::start();
    let mine = key("sale");
    let gone = (cluster.home(&mine).1 + 1) % 3;
    let caller = Caller::new(&cluster.url());
    assert_eq!(caller.count(&mine).unwrap(), 1);
    cluster.nodes[gone].kill();
    let mut counted = 1;
    let told = within(SETTLED, "a cluster that is down", || match caller.count(&mine) {
        Ok(count) => {
            counted = count;
            None
        }
        Err(error) => Some(trouble(Err::<(), _>(error))),
    });
    assert!(matches!(&told, Trouble::NotReady(why) if why.contains("CLUSTERDOWN")), "{told}");
    let told = trouble(caller.count(&mine));
    assert!(told.is_passing(), "{told}");
    cluster.nodes[gone].restart();
    let again = within(SETTLED, "a cluster again", || caller.count(&mine).ok());
    assert_eq!(again, counted + 1);
}

/// The only node that was named is gone, its lines are with others by now, and those hesitate once: whoever was asked before is asked
/// again.
#[test]
fn a_seed_that_is_gone_locks_nobody_out_of_a_cluster_that_goes_on() {
    let partial = RedisServer::setup().line("cluster-require-full-coverage no");
    let mut cluster = Cluster::with(partial);
    let mine = key("sale");
    let (_, home) = cluster.home(&mine);
    let seed = (home + 1) % 3;
    let caller = Caller::new(&format!("redis-cluster://127.0.0.1:{}", cluster.nodes[seed].port()));
    assert_eq!(caller.count(&mine).unwrap(), 1);
    cluster.nodes[seed].kill();
    for _ in 0..2 {
        cluster.nodes[home].freeze();
        assert_eq!(trouble(caller.count(&mine)), Trouble::Silent);
        cluster.nodes[home].thaw();
        within(SETTLED, "the line where it was", || caller.count(&mine).ok());
    }
}

#[test]
fn seeds_may_be_dead_or_mute() {
    let cluster = Cluster::start();
    let mut dead = RedisServer::start();
    dead.kill();
    let mute = RedisServer::start();
    mute.freeze();
    let seeds = [dead.port(), mute.port(), cluster.nodes[2].port()];
    let each = seeds.map(|port| format!("127.0.0.1:{port}"));
    let caller = Caller::new(&format!("redis-cluster://{}", each.join(",")));
    for room in ROOMS {
        assert_eq!(caller.count(&key(room)).unwrap(), 1);
    }
    let none = Caller::new(&format!("redis-cluster://{}", each[..1].join(",")));
    assert!(trouble(none.count("n")).is_passing());
}

/// Each is told from the other, with the url to write.
#[test]
fn a_node_is_no_redis_of_its_own_and_the_other_way_round() {
    let cluster = Cluster::start();
    let node = trouble(Caller::new(&cluster.nodes[0].url()).count("n"));
    assert!(node.to_string().contains("write redis-cluster://"), "{node}");
    let redis = RedisServer::start();
    let alone = format!("redis-cluster://127.0.0.1:{}", redis.port());
    let alone = trouble(Caller::new(&alone).count("n"));
    assert!(alone.to_string().contains("is no node of a cluster"), "{alone}");
    assert!(!alone.is_passing());
}
