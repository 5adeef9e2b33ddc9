//! TLS: to a server that proves who it is, and to no other.

use std::net::{Ipv4Addr, SocketAddr};

use anteroom::store::StoreError;
use anteroom::store::redis::{Access, Address, Link, Trouble};

use super::{Caller, trouble, trusting};
use crate::support::redis::sentinel::{MASTER, secure};
use crate::support::redis::{Cluster, RedisServer, Relay};

#[test]
fn a_file_names_whom_to_trust() {
    let redis = RedisServer::setup().tls().start();
    for host in ["127.0.0.1", "localhost"] {
        let url = format!("rediss://{host}:{}", redis.tls_port());
        let caller = Caller::with(&url, trusting(&redis));
        caller.count("n").unwrap();
        caller.check().unwrap();
    }
}

#[test]
fn nobody_else_is_trusted() {
    let (redis, other) = (RedisServer::setup().tls().start(), RedisServer::setup().tls().start());
    let url = format!("rediss://127.0.0.1:{}", redis.tls_port());
    let stranger = trouble(Caller::with(&url, trusting(&other)).count("n"));
    assert!(matches!(stranger, Trouble::Untrusted(_)), "{stranger}");
    assert!(stranger.to_string().contains("store.ca_file"), "{stranger}");
    assert!(!stranger.is_passing());
    // The same server, by a name that is not on its certificate.
    let elsewhere = SocketAddr::from((Ipv4Addr::new(127, 0, 0, 2), redis.tls_port()));
    let home = SocketAddr::from((Ipv4Addr::LOCALHOST, redis.tls_port()));
    let _wire = Relay::between(elsewhere, home);
    let other_name =
        trouble(Caller::with(&format!("rediss://{elsewhere}"), trusting(&redis)).count("n"));
    assert!(matches!(other_name, Trouble::Untrusted(_)), "{other_name}");
}

/// Where this machine trusts somebody, that is not a certificate made for a test; where nobody, it says so.
#[test]
fn without_a_file_this_machine_decides() {
    let redis = RedisServer::setup().tls().start();
    let url = format!("rediss://localhost:{}", redis.tls_port());
    let told = match Link::new(Address::parse(&url).unwrap()) {
        Ok(_) => trouble(Caller::new(&url).count("n")),
        Err(StoreError::Redis { trouble, .. }) => trouble,
        Err(other) => panic!("{other}"),
    };
    assert!(matches!(told, Trouble::Untrusted(_)), "{told}");
}

#[test]
fn one_side_with_tls_and_the_other_without() {
    let redis = RedisServer::setup().tls().start();
    let plain = format!("rediss://127.0.0.1:{}", redis.port());
    // It waits for the end of what it takes for a command, if that has no line end in it by chance.
    Caller::with(&plain, trusting(&redis)).trouble(|trouble| match trouble {
        Trouble::Misnamed(what) => what.contains("does not speak TLS"),
        Trouble::Away(why) => why.contains("TLS"),
        _ => false,
    });
    let secure = format!("redis://127.0.0.1:{}", redis.tls_port());
    let told = trouble(Caller::new(&secure).count("n"));
    assert!(matches!(told, Trouble::Away(_) | Trouble::Garbled(_) | Trouble::Silent), "{told}");
}

#[test]
fn a_file_that_names_nobody_is_refused_at_once() {
    let redis = RedisServer::setup().tls().start();
    let address = |file: &str| {
        let ca_file = Some(redis.directory().join(file));
        let access = Access { ca_file, ..Access::default() };
        Address::parse("rediss://127.0.0.1").unwrap().with(access).unwrap()
    };
    assert!(matches!(Link::new(address("no.pem")), Err(StoreError::Io { .. })));
    for file in ["redis.conf", "key.pem"] {
        let refused = Link::new(address(file)).expect_err("no certificates in it");
        assert!(refused.to_string().contains("not a list of certificates"), "{refused}");
    }
    assert!(Link::new(address("cert.pem")).is_ok());
}

/// Whom a Sentinel names is spoken to over TLS as well, and so is the Sentinel.
#[test]
fn a_sentinel_over_tls() {
    let (server, sentinel) = secure();
    let url = format!("rediss-sentinel://127.0.0.1:{}/{MASTER}", sentinel.tls_port());
    let caller = Caller::with(&url, trusting(&server));
    caller.check().unwrap();
    assert_eq!(caller.count("n").unwrap(), 1);
    assert_eq!(server.ask::<i64>(&["GET", "n"]), 1);
    let stranger = RedisServer::setup().tls().start();
    let told = trouble(Caller::with(&url, trusting(&stranger)).count("n"));
    assert!(matches!(told, Trouble::Untrusted(_)), "{told}");
}

/// What is named by others is spoken to over TLS as well.
#[test]
fn a_cluster_over_tls() {
    let cluster = Cluster::with(RedisServer::setup().tls().line("tls-cluster yes"));
    let seed = &cluster.nodes[0];
    let url = format!("rediss-cluster://127.0.0.1:{}", seed.tls_port());
    let caller = Caller::with(&url, trusting(seed));
    for room in ["a", "b", "c", "d", "e", "f"] {
        assert_eq!(caller.count(&format!("{{{room}}}:n")).unwrap(), 1);
    }
}
