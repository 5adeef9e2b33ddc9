//! Over connections that break, swallow, or lead to the wrong server: nothing is sent twice, nothing is waited for
//! longer than its deadline, and it is found again by itself.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use anteroom::store::StoreError;
use anteroom::store::redis::{DEADLINE, Trouble};

use super::{Caller, trouble};
use crate::support::redis::{RedisServer, Relay};
use crate::support::{PATIENCE, eventually, within};

/// How soon a Redis that is back is found: the longest pause between two diallings, and something to spare on a
/// busy machine.
const FOUND_AGAIN: Duration = Duration::from_secs(4);

#[test]
fn a_node_may_start_before_its_redis() {
    let mut redis = RedisServer::start();
    redis.kill();
    let caller = Caller::new(&redis.url());
    let began = Instant::now();
    let refused = trouble(caller.count("n"));
    assert!(matches!(&refused, Trouble::Away(why) if why.contains("refused")), "{refused}");
    assert!(refused.is_passing());
    assert!(began.elapsed() < DEADLINE, "nobody is there: that is known at once");
    redis.restart();
    within(FOUND_AGAIN, "a Redis that has started", || caller.count("n").ok());
}

/// Nobody hammers at a server that is away, and its return is noticed.
#[test]
fn pauses_between_diallings_are_short_and_there_are_some() {
    let mut redis = RedisServer::start();
    let relay = Relay::to(redis.addr());
    let caller = Caller::new(&relay.url());
    redis.kill(); // The relay takes connections, and hangs up.
    let (before, began) = (relay.connections(), Instant::now());
    let mut asked = 0;
    while began.elapsed() < Duration::from_secs(3) {
        assert!(caller.count("n").is_err());
        asked += 1;
    }
    let dialled = relay.connections() - before;
    assert!((3..=20).contains(&dialled), "{dialled} times in 3 s");
    assert!(asked > 10 * dialled, "whoever asks meanwhile is told at once: {asked}");
    redis.restart();
    within(FOUND_AGAIN, "a Redis that is back", || caller.count("n").ok());
}

#[test]
fn a_link_that_swallows_everything_is_given_up_for_a_new_one() {
    let redis = RedisServer::start();
    let relay = Relay::to(redis.addr());
    let caller = Caller::new(&relay.url());
    assert_eq!(caller.count("n").unwrap(), 1);
    relay.stop();
    let began = Instant::now();
    let swallowed = trouble(caller.count("n"));
    assert_eq!(swallowed, Trouble::Silent);
    assert!(swallowed.to_string().starts_with("does not answer within 1000 ms"), "{swallowed}");
    assert!(began.elapsed() >= DEADLINE, "{:?}", began.elapsed());
    // The old connection stays as it is; only a new one leads anywhere.
    relay.go();
    let counted = within(FOUND_AGAIN, "an answer over a new connection", || caller.count("n").ok());
    assert_eq!(counted, 2, "what was swallowed was not sent again");
    assert!(relay.connections() >= 2);
}

/// Everybody who waits on a dead link is told with the first, not one deadline after the other.
#[test]
fn all_who_wait_on_a_dead_link_are_told_together() {
    let redis = RedisServer::start();
    let relay = Relay::to(redis.addr());
    let caller = Caller::new(&relay.url());
    caller.count("n").unwrap();
    relay.stop();
    let began = Instant::now();
    let asked: Vec<_> = (0..20)
        .map(|_| {
            let (link, count) = (caller.link.clone(), caller.count.clone());
            caller.runtime.spawn(async move { link.eval(&count, &["n".to_owned()], &[]).await })
        })
        .collect();
    for task in asked {
        let told = caller.runtime.block_on(task).unwrap();
        assert!(matches!(trouble(told), Trouble::Silent | Trouble::Away(_)));
    }
    assert!(began.elapsed() < 2 * DEADLINE, "{:?}", began.elapsed());
}

/// A server that is stopped hears late what it was asked, and hears it once.
#[test]
fn a_frozen_server_is_given_up_and_hears_nothing_twice() {
    let redis = RedisServer::start();
    let caller = Caller::new(&redis.url());
    assert_eq!(caller.count("n").unwrap(), 1);
    redis.freeze();
    assert_eq!(trouble(caller.count("n")), Trouble::Silent);
    // A connection is taken by the system, and nobody speaks on it.
    assert_eq!(trouble(caller.count("n")), Trouble::Silent);
    redis.thaw();
    eventually("what was sent before", || (redis.ask::<i64>(&["GET", "n"]) == 2).then_some(()));
    let counted = within(FOUND_AGAIN, "an answer", || caller.count("n").ok());
    assert_eq!(counted, 3);
}

#[test]
fn a_connection_that_breaks_is_replaced() {
    let redis = RedisServer::start();
    let relay = Relay::to(redis.addr());
    let caller = Caller::new(&relay.url());
    assert_eq!(caller.count("n").unwrap(), 1);
    for turn in 2..=4 {
        relay.hang_up();
        // Whoever asks before the end of it was heard of is told, and nobody after that.
        let counted = (0..2).find_map(|_| caller.count("n").ok());
        assert_eq!(counted.and_then(|count| usize::try_from(count).ok()), Some(turn));
        assert_eq!(relay.connections(), turn);
    }
}

#[test]
fn a_master_that_became_a_replica_is_let_go() {
    let (redis, other) = (RedisServer::start(), RedisServer::start());
    let relay = Relay::to(redis.addr());
    let caller = Caller::new(&relay.url());
    assert_eq!(caller.count("n").unwrap(), 1);
    let _: String = redis.ask(&["REPLICAOF", "127.0.0.1", &other.port().to_string()]);
    let replica = trouble(caller.count("n"));
    assert_eq!(replica, Trouble::Replica);
    assert!(replica.to_string().contains("redis-sentinel://"), "{replica}");
    assert_eq!(trouble(caller.count("n")), Trouble::Replica, "it is looked at before it is asked");
    assert!(relay.connections() >= 2);
    let _: String = redis.ask(&["REPLICAOF", "NO", "ONE"]);
    within(FOUND_AGAIN, "a master again", || caller.count("n").ok());
}

#[test]
fn a_server_that_is_loading_is_waited_for() {
    let mut redis = RedisServer::start();
    let caller = Caller::new(&redis.url());
    let _: String = redis.ask(&["DEBUG", "POPULATE", "4000"]);
    assert_eq!(caller.count("n").unwrap(), 1);
    let _: String = redis.ask(&["SAVE"]);
    redis.add("key-load-delay 500");
    redis.add("loading-process-events-interval-bytes 1024");
    std::thread::scope(|scope| {
        let restarting = scope.spawn(|| redis.restart());
        let said = caller.trouble(|trouble| matches!(trouble, Trouble::NotReady(_)));
        assert!(said.contains("loading"), "{said}");
        assert!(!restarting.is_finished(), "it was told while it was loading");
    });
    let counted = within(FOUND_AGAIN, "a server that has loaded", || caller.count("n").ok());
    assert_eq!(counted, 2);
}

/// `LOADING` and `MASTERDOWN` come over connections that are open already, too.
#[test]
fn a_replica_without_its_master_is_let_go() {
    let mut master = RedisServer::start();
    let replica = RedisServer::setup()
        .replica_of(&master)
        .line("replica-serve-stale-data no")
        .line("replica-read-only no")
        .start();
    eventually("a replica that follows", || {
        (replica.info("master_link_status") == "up").then_some(())
    });
    let _: String = replica.ask(&["REPLICAOF", "NO", "ONE"]);
    let caller = Caller::new(&replica.url());
    assert_eq!(caller.count("n").unwrap(), 1);
    master.kill();
    let _: String = replica.ask(&["REPLICAOF", "127.0.0.1", &master.port().to_string()]);
    let told = trouble(caller.count("n"));
    assert!(matches!(&told, Trouble::NotReady(why) if why.contains("MASTERDOWN")), "{told}");
    assert_eq!(trouble(caller.count("n")), Trouble::Replica, "looked at anew");
    let _: String = replica.ask(&["REPLICAOF", "NO", "ONE"]);
    within(FOUND_AGAIN, "a master", || caller.count("n").ok());
}

#[test]
fn a_server_out_of_memory_says_so_and_keeps_what_it_has() {
    let redis = RedisServer::start();
    let caller = Caller::new(&redis.url());
    assert_eq!(caller.count("n").unwrap(), 1);
    let _: String = redis.ask(&["CONFIG", "SET", "maxmemory", "1"]);
    assert_eq!(trouble(caller.count("n")), Trouble::Full);
    let _: String = redis.ask(&["CONFIG", "SET", "maxmemory", "0"]);
    assert_eq!(caller.count("n").unwrap(), 2);
}

/// It takes nothing that it could not save, and says so; once its disk takes it, it goes on.
#[test]
fn a_server_that_can_not_save_is_waited_for_and_says_what_to_do() {
    let redis = RedisServer::setup().line("save 3600 1").start();
    let caller = Caller::new(&redis.url());
    assert_eq!(caller.count("n").unwrap(), 1);
    // Where its file should go there is something else.
    let obstacle = redis.directory().join("dump.rdb");
    std::fs::create_dir(&obstacle).unwrap();
    let _: String = redis.ask(&["BGSAVE"]);
    eventually("a save that failed", || {
        (redis.info("rdb_last_bgsave_status") == "err").then_some(())
    });
    let told = trouble(caller.count("n"));
    assert!(matches!(&told, Trouble::Unsaved(why) if why.starts_with("MISCONF")), "{told}");
    assert!(told.is_passing(), "nobody need restart a node for that");
    assert!(told.to_string().contains("make room on that disk"), "{told}");
    assert!(!told.to_string().contains("Report this"), "{told}");
    std::fs::remove_dir(&obstacle).unwrap();
    let _: String = redis.ask(&["BGSAVE"]);
    let counted = within(FOUND_AGAIN, "a server that can save", || caller.count("n").ok());
    assert_eq!(counted, 2, "what it refused it did not do");
}

#[test]
fn whatever_else_listens_there_is_not_believed() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("redis://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let _ = stream.read(&mut [0; 64]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    let told = trouble(Caller::new(&url).count("n"));
    assert!(matches!(told, Trouble::Garbled(_) | Trouble::Away(_)), "{told}");
    let nowhere = trouble(Caller::new("unix:/no/such/socket").count("n"));
    assert!(matches!(nowhere, Trouble::Away(_)), "{nowhere}");
}

#[test]
fn a_full_house_is_waited_for() {
    let redis = RedisServer::setup().line("maxclients 4").start();
    let kept: Vec<TcpStream> = (0..4).map(|_| TcpStream::connect(redis.addr()).unwrap()).collect();
    let caller = Caller::new(&redis.url());
    eventually("a house that is full", || {
        let told = caller.count("n").err()?;
        let passing = matches!(&told, StoreError::Redis { trouble, .. } if trouble.is_passing());
        assert!(passing, "{told}");
        Some(())
    });
    drop(kept);
    within(FOUND_AGAIN, "a place", || caller.count("n").ok());
}

/// A master that is cut off from its replicas gives nothing away (`min-replicas-to-write`), and is used again when one is there.
#[test]
fn a_master_without_replicas_is_waited_for() {
    let redis = RedisServer::start();
    let caller = Caller::new(&redis.url());
    assert_eq!(caller.count("n").unwrap(), 1);
    let _: String = redis.ask(&["CONFIG", "SET", "min-replicas-to-write", "1"]);
    let told = trouble(caller.count("n"));
    assert!(matches!(&told, Trouble::NotReady(why) if why.contains("NOREPLICAS")), "{told}");
    assert!(told.is_passing());
    assert_eq!(redis.ask::<i64>(&["GET", "n"]), 1, "nothing was done");
    let _replica = RedisServer::setup().replica_of(&redis).start();
    let counted = within(PATIENCE, "a replica that follows", || caller.count("n").ok());
    assert_eq!(counted, 2, "and nothing twice");
}
