//! Over a sound connection: a script runs once, by its hash or its text, and nothing waits that need not.

use std::net::SocketAddr;
use std::os::fd::AsRawFd as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anteroom::store::redis::{Address, DEADLINE, Link, Script, Trouble};
use redis::Value;
use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};

use super::{Caller, runtime, trouble, trusting};
use crate::support::redis::{RedisServer, Relay};

#[test]
fn keys_and_arguments_arrive_as_they_are() {
    let redis = RedisServer::start();
    let caller = Caller::new(&redis.url());
    let echo = Script::new("return {KEYS[1], KEYS[2], ARGV[1], ARGV[2], #ARGV}");
    let bytes: Vec<u8> = (0..=255).collect();
    let answer = caller.eval(&echo, &["{sale}:a", "{sale}:b"], &[&bytes, b""]).unwrap();
    let text = |text: &str| Value::BulkString(text.as_bytes().to_vec());
    let rest = [Value::BulkString(bytes), text(""), Value::Int(2)];
    assert_eq!(
        answer,
        Value::Array([vec![text("{sale}:a"), text("{sale}:b")], rest.into()].concat())
    );
    assert_eq!(caller.eval(&Script::new("return #KEYS + #ARGV"), &[], &[]).unwrap(), Value::Int(0));
}

#[test]
fn a_socket_and_a_database_of_its_own() {
    let redis = RedisServer::start();
    let socket = format!("unix:{}?db=3", redis.socket().display());
    assert_eq!(Caller::new(&socket).count("n").unwrap(), 1);
    assert_eq!(Caller::new(&format!("{}/3", redis.url())).count("n").unwrap(), 2);
    assert_eq!(Caller::new(&redis.url()).count("n").unwrap(), 1);
    let refused = trouble(Caller::new(&format!("{}/99", redis.url())).count("n"));
    assert!(refused.to_string().contains("DB index is out of range"), "{refused}");
}

#[test]
fn a_script_that_was_forgotten_is_said_again() {
    let redis = RedisServer::start();
    let caller = Caller::new(&redis.url());
    let calls = |verb: &str| {
        let all: String = redis.ask(&["INFO", "commandstats"]);
        let line = all.lines().find(|line| line.starts_with(&format!("cmdstat_{verb}:")));
        let calls = line.and_then(|line| line.split(['=', ',']).nth(1)?.parse::<u32>().ok());
        calls.unwrap_or_default()
    };
    assert_eq!((caller.count("n").unwrap(), calls("evalsha"), calls("eval")), (1, 1, 1));
    assert_eq!((caller.count("n").unwrap(), calls("evalsha"), calls("eval")), (2, 2, 1));
    let _: String = redis.ask(&["SCRIPT", "FLUSH"]);
    assert_eq!((caller.count("n").unwrap(), calls("evalsha"), calls("eval")), (3, 3, 2));
    let sha1: Vec<bool> = redis.ask(&["SCRIPT", "EXISTS", caller.count.sha1()]);
    assert_eq!(sha1, [true]);
}

/// Rooms ask at the same time, over one connection.
#[test]
fn many_at_once_share_a_connection() {
    let redis = RedisServer::start();
    let relay = Relay::to(redis.addr());
    let caller = Caller::new(&relay.url());
    let asked: Vec<_> = (0..200)
        .map(|_| {
            let (link, count) = (caller.link.clone(), caller.count.clone());
            caller.runtime.spawn(async move { link.eval(&count, &["n".to_owned()], &[]).await })
        })
        .collect();
    let mut counted: Vec<Value> =
        asked.into_iter().map(|task| caller.runtime.block_on(task).unwrap().unwrap()).collect();
    counted.sort_by_key(|value| if let Value::Int(count) = value { *count } else { 0 });
    assert_eq!(counted, (1..=200).map(Value::Int).collect::<Vec<_>>());
    assert_eq!(relay.connections(), 1);
}

/// A connection ends with the runtime it was opened in; the next runtime opens its own, without an error.
#[test]
fn a_runtime_that_ends_takes_its_connection_along() {
    let redis = RedisServer::start();
    let link = Arc::new(Link::new(Address::parse(&redis.url()).unwrap()).unwrap());
    let count = Script::new(super::COUNT);
    for turn in 1..=3 {
        let answer = runtime().block_on(link.eval(&count, &["n".to_owned()], &[]));
        assert_eq!(answer.unwrap(), Value::Int(turn));
    }
}

#[test]
fn small_writes_are_not_held_back() {
    let redis = RedisServer::start();
    let caller = Caller::new(&redis.url());
    caller.count("n").unwrap();
    let sockets = connections_to(redis.addr());
    assert!(!sockets.is_empty());
    assert!(sockets.iter().all(|no_delay| *no_delay));
}

/// This process's connections to an address: whether they send at once.
fn connections_to(address: SocketAddr) -> Vec<bool> {
    let this = pidfd_open(getpid(), PidfdFlags::empty()).expect("this process");
    let files = std::fs::read_dir("/proc/self/fd").expect("a list of files");
    let numbers = files.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    numbers
        .filter(|number| *number != this.as_raw_fd())
        .filter_map(|number| pidfd_getfd(&this, number, PidfdGetfdFlags::empty()).ok())
        .filter(|file| {
            let peer = rustix::net::getpeername(file).ok().flatten();
            peer.and_then(|peer| SocketAddr::try_from(peer).ok()) == Some(address)
        })
        .map(|file| rustix::net::sockopt::tcp_nodelay(&file).expect("a TCP socket"))
        .collect()
}

/// A slow network is slow, and nothing else: nothing is given up that would have come.
#[test]
fn three_hundred_milliseconds_each_way_are_no_fault() {
    let redis = RedisServer::start();
    let relay = Relay::to(redis.addr());
    relay.delay(Duration::from_millis(300));
    let caller = Caller::new(&relay.url());
    for turn in 1..=3 {
        assert_eq!(caller.count("n").unwrap(), turn);
    }
    assert_eq!(relay.connections(), 1);
}

/// Dialling may take longer than anybody waits: it goes on without them.
#[test]
fn a_connection_that_takes_longer_than_a_deadline_is_there_in_the_end() {
    let redis = RedisServer::setup().tls().start();
    let relay = Relay::to(SocketAddr::from(([127, 0, 0, 1], redis.tls_port())));
    // TLS and the look at the server take 0.6 s each.
    relay.delay(Duration::from_millis(300));
    let caller = Caller::with(&format!("rediss://{}", relay.addr()), trusting(&redis));
    let began = Instant::now();
    assert_eq!(trouble(caller.count("n")), Trouble::Silent);
    assert!(began.elapsed() >= DEADLINE, "{:?}", began.elapsed());
    assert_eq!(caller.count("n").unwrap(), 1);
    assert_eq!(relay.connections(), 1);
}

#[test]
fn what_a_script_says_itself_is_not_taken_for_a_fault_of_the_link() {
    let redis = RedisServer::start();
    let relay = Relay::to(redis.addr());
    let caller = Caller::new(&relay.url());
    let broken = Script::new("return redis.error_reply('NEWER 3 2')");
    let said = trouble(caller.eval(&broken, &[], &[]));
    assert_eq!(said, Trouble::Refused("NEWER 3 2".to_owned()));
    let nil = Script::new("return nil + 1");
    let said = trouble(caller.eval(&nil, &[], &[]));
    assert!(matches!(&said, Trouble::Refused(why) if why.contains("arithmetic")), "{said}");
    assert_eq!(caller.count("n").unwrap(), 1);
    assert_eq!(relay.connections(), 1, "the connection is as good as before");
}
