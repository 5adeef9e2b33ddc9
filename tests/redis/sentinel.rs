//! Sentinels: whoever they call the master is asked, and looked up again whenever that may have changed.

use std::time::Duration;

use anteroom::store::redis::Trouble;

use super::{Caller, opened_by, trouble};
use crate::support::redis::sentinel::{MASTER, stubborn, stubborn_since, url};
use crate::support::redis::{RedisServer, Relay, Sentinels};
use crate::support::{eventually, within};

/// A Sentinel's own time to notice (0.5 s), to agree and to promote, and ours to dial.
const FAILED_OVER: Duration = Duration::from_secs(15);

fn with_port(watched: &mut Sentinels, port: u16) -> &mut RedisServer {
    watched.servers.iter_mut().find(|server| server.port() == port).expect("one of them")
}

/// The master is killed: nothing was heard twice, and what the replicas had is there.
#[test]
fn a_master_that_dies_is_replaced() {
    let mut watched = Sentinels::start(2);
    let caller = Caller::new(&watched.url());
    assert_eq!(caller.count("n").unwrap(), 1);
    for replica in &watched.servers[1..] {
        eventually("a replica that has heard of it", || {
            (replica.ask::<Option<i64>>(&["GET", "n"]) == Some(1)).then_some(())
        });
    }
    let first = watched.servers[0].port();
    watched.servers[0].kill();
    let told = trouble(caller.count("n"));
    assert!(told.is_passing(), "{told}");
    let counted = within(FAILED_OVER, "the new master", || caller.count("n").ok());
    assert_eq!(counted, 2);
    let second = watched.await_failover(first);
    assert_eq!(with_port(&mut watched, second).ask::<i64>(&["GET", "n"]), 2);
}

/// The old master hangs, and is back when others have taken over: it still takes itself for the master.
#[test]
fn a_master_that_falls_silent_is_replaced_for_good() {
    let mut watched = Sentinels::start(1);
    let caller = Caller::new(&watched.url());
    caller.count("n").unwrap();
    let first = watched.servers[0].port();
    watched.servers[0].freeze();
    within(FAILED_OVER, "the new master", || caller.count("after").ok());
    let second = watched.await_failover(first);
    watched.servers[0].thaw();
    let counted = caller.count("after").unwrap();
    assert_eq!(with_port(&mut watched, second).ask::<i64>(&["GET", "after"]), counted);
}

/// The old master lives, and takes writes for another ten seconds that nobody will ever see.
#[test]
fn a_master_that_was_replaced_while_it_lives_is_left() {
    const LEFT: Duration = Duration::from_secs(6);
    let mut watched = Sentinels::start(1);
    let caller = Caller::new(&watched.url());
    caller.count("before").unwrap();
    let second = watched.fail_over();
    assert_ne!(second, watched.servers[0].port());
    let new = with_port(&mut watched, second);
    within(LEFT, "a question to the new master", || {
        let _ = caller.count("after");
        new.ask::<Option<i64>>(&["GET", "after"])
    });
    let counted: i64 = new.ask(&["GET", "after"]);
    assert_eq!(caller.count("after").unwrap(), counted + 1, "and to no other from then on");
}

#[test]
fn some_sentinels_may_be_dead_and_some_mute() {
    let mut watched = Sentinels::start(0);
    watched.sentinels[0].kill();
    watched.sentinels[1].freeze();
    let caller = Caller::new(&watched.url());
    assert_eq!(caller.count("n").unwrap(), 1);

    // A name that no Sentinel has heard of.
    watched.sentinels[1].thaw();
    let other = watched.url().replace(MASTER, "other");
    let unknown = trouble(Caller::new(&other).count("n"));
    assert_eq!(unknown, Trouble::UnknownMaster("other".to_owned()));
    assert!(unknown.to_string().contains("`sentinel monitor`"), "{unknown}");

    // None at all.
    watched.sentinels[1].kill();
    watched.sentinels[2].kill();
    let gone = trouble(Caller::new(&watched.url()).count("n"));
    assert!(matches!(gone, Trouble::Away(_)), "{gone}");
    assert_eq!(caller.count("n").unwrap(), 2, "who is connected needs none");
}

/// The server that a Sentinel names says itself what it is.
#[test]
fn a_master_that_says_it_is_a_replica_is_not_used() {
    let master = RedisServer::start();
    let replica = RedisServer::setup().replica_of(&master).start();
    let wrong = stubborn(&replica);
    let told = trouble(Caller::new(&url([&wrong])).count("n"));
    assert_eq!(told, Trouble::Replica);
}

/// Of two masters, the one that most Sentinels name.
#[test]
fn one_sentinel_alone_is_not_believed() {
    let (right, wrong) = (RedisServer::start(), RedisServer::start());
    let sentinels = [&wrong, &right, &right].map(stubborn);
    let url = url(&sentinels);
    for turn in 1..=5 {
        assert_eq!(Caller::new(&url).count("n").unwrap(), turn);
    }
    assert_eq!(right.ask::<i64>(&["GET", "n"]), 5);
}

/// The third Sentinel is dead, and which of the two answers first is a matter of chance.
#[test]
fn of_two_masters_that_as_many_sentinels_name_the_one_of_the_later_failover_is_asked() {
    let (before, after) = (RedisServer::start(), RedisServer::start());
    let mut dead = stubborn(&before);
    dead.kill();
    let sentinels = [stubborn_since(&before, 3), stubborn_since(&after, 4), dead];
    let url = url(&sentinels);
    for turn in 1..=20 {
        assert_eq!(Caller::new(&url).count("n").unwrap(), turn);
    }
    assert_eq!(after.ask::<i64>(&["GET", "n"]), 20);
}

/// Nothing tells the two apart: whoever is asked already is asked on.
#[test]
fn a_master_is_not_left_for_another_that_is_no_better() {
    let servers = [RedisServer::start(), RedisServer::start()];
    let sentinels = [stubborn(&servers[0]), stubborn(&servers[1])];
    let relays = [Relay::to(sentinels[0].addr()), Relay::to(sentinels[1].addr())];
    let (one, other) = (relays[0].addr(), relays[1].addr());
    let caller = Caller::new(&format!("redis-sentinel://{one},{other}/{MASTER}"));
    caller.count("n").unwrap();
    let clients = |server: &RedisServer| -> String { server.ask(&["CLIENT", "LIST"]) };
    let connection = || {
        let both = servers.iter().map(clients).collect::<String>();
        let ours = both.lines().find(|client| client.contains("name=anteroom"));
        ours.and_then(|client| Some(client.split_once(" name=")?.0.to_owned()))
    };
    let first = connection();
    assert!(first.is_some());
    // One of them names the other one each time: all are asked again, then, and it comes to nothing.
    eventually("Sentinels that were asked on", || {
        let asked = relays.iter().map(Relay::connections).sum::<usize>();
        (asked >= 12).then_some(())
    });
    caller.count("n").unwrap();
    assert_eq!(connection(), first);
}

#[test]
fn sentinels_with_a_password_are_shown_the_same_one() {
    let secret = RedisServer::setup().password("hunter2");
    let watched = Sentinels::with(secret, RedisServer::setup().line("requirepass hunter2"), 1);
    let caller = Caller::with(&watched.url(), opened_by(None, "hunter2"));
    assert_eq!(caller.count("n").unwrap(), 1);
    let locked = Caller::new(&watched.url()).count("n").expect_err("a password is missing");
    assert!(locked.to_string().contains("wants another password"), "{locked}");
}

/// Each is told from the other, with the url to write.
#[test]
fn a_sentinel_is_no_redis_and_a_redis_no_sentinel() {
    let redis = RedisServer::start();
    let sentinel = trouble(Caller::new(&stubborn(&redis).url()).count("n"));
    assert!(sentinel.to_string().contains("redis-sentinel://HOST:26379/NAME"), "{sentinel}");
    let plain = trouble(Caller::new(&url([&redis])).count("n"));
    assert!(plain.to_string().contains("is no Sentinel"), "{plain}");
}
