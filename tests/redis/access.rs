//! Who is let in, and where lines may be kept: each obstacle with what to do about it, and no password in it.

use std::time::Duration;

use anteroom::store::StoreError;
use anteroom::store::redis::{Access, Trouble, script};

use super::{Caller, opened_by, trouble};
use crate::support::redis::RedisServer;
use crate::support::within;

const SECRET: &str = "hunter2";
/// How soon a change on the server is noticed.
const NOTICED: Duration = Duration::from_secs(4);

/// The sentence, and that it shows nothing it should not.
#[track_caller]
fn said<T: std::fmt::Debug>(answer: Result<T, StoreError>) -> String {
    let error = answer.expect_err("an obstacle");
    let (said, shown) = (error.to_string(), format!("{error:?}"));
    assert!(!said.contains(SECRET) && !shown.contains(SECRET), "{said} {shown}");
    said
}

#[test]
fn a_password_opens_it_in_the_url_or_beside_it() {
    let redis = RedisServer::setup().password(SECRET).start();
    let port = redis.port();
    let inside = Caller::new(&format!("redis://:{SECRET}@127.0.0.1:{port}"));
    assert_eq!(inside.count("n").unwrap(), 1);
    let beside = Caller::with(&redis.url(), opened_by(None, SECRET));
    assert_eq!(beside.count("n").unwrap(), 2);
    assert!(!format!("{:?}", inside.link).contains(SECRET), "{:?}", inside.link);

    let none = said(Caller::new(&redis.url()).count("n"));
    assert!(none.contains("wants another password (NOAUTH"), "{none}");
    assert!(none.contains("store.password_file"), "{none}");
    let wrong = said(Caller::with(&redis.url(), opened_by(None, "hunter")).count("n"));
    assert!(wrong.contains("wants another password (WRONGPASS"), "{wrong}");
    assert!(wrong.starts_with(&format!("127.0.0.1:{port}: ")), "{wrong}");
}

#[test]
fn a_password_that_is_not_wanted_is_not_quoted() {
    let open = RedisServer::start();
    let unwanted = said(Caller::with(&open.url(), opened_by(None, SECRET)).count("n"));
    assert!(unwanted.contains("AUTH was answered ERR"), "{unwanted}");
}

#[test]
fn an_acl_user_needs_what_an_exchange_does_and_no_more() {
    let redis = RedisServer::setup()
        .user(&format!("ops on >{SECRET} ~anteroom:* +@all -@dangerous +info"))
        .user(&format!("mute on >{SECRET} ~anteroom:* +@all -@dangerous"))
        .user(&format!("reader on >{SECRET} ~anteroom:* +@all -@dangerous +info -incr"))
        .user(&format!("plain on >{SECRET} ~anteroom:* +info +incr"))
        .start();
    let caller = |user: &str| Caller::with(&redis.url(), opened_by(Some(user), SECRET));
    assert_eq!(caller("ops").count("anteroom:{sale}:n").unwrap(), 1);
    caller("ops").check().unwrap();

    let elsewhere = said(caller("ops").count("n"));
    assert!(elsewhere.contains("its user may not do that (NOPERM"), "{elsewhere}");
    for (user, command) in [("mute", "info"), ("plain", "evalsha"), ("reader", "")] {
        let denied = said(caller(user).count("anteroom:{sale}:n"));
        assert!(denied.contains("its user may not do that"), "{user}: {denied}");
        assert!(denied.contains(command), "{user}: {denied}");
        assert!(denied.contains("~anteroom:* +@all -@dangerous +info"), "{user}: {denied}");
    }
    let nobody = said(caller("nobody").count("n"));
    assert!(nobody.contains("WRONGPASS"), "{nobody}");
}

/// So the documented user may do whatever any exchange does; `store::contract` has exchanges as that user.
#[test]
fn nothing_the_script_calls_is_dangerous_but_info() {
    let redis = RedisServer::start();
    let dangerous: Vec<String> = redis.ask(&["ACL", "CAT", "dangerous"]);
    assert!(dangerous.iter().any(|name| name == "keys"), "{dangerous:?}");
    let mut called: Vec<String> = Vec::new();
    for before in ["call('", "many('"] {
        let calls = script::TEXT.split(before).skip(1);
        let names = calls.filter_map(|rest| rest.split('\'').next());
        called.extend(names.map(str::to_ascii_lowercase));
    }
    called.sort();
    called.dedup();
    assert!(called.len() > 20 && called.contains(&"bitop".to_owned()), "{called:?}");
    let known: Vec<String> = redis.ask(&["COMMAND", "LIST"]);
    for name in &called {
        assert!(known.contains(name), "{name} is no command");
        assert!(name == "info" || !dangerous.contains(name), "{name}");
    }
}

/// Rights that change while a connection is open count at once, both ways.
#[test]
fn a_password_that_is_changed_is_noticed() {
    let redis = RedisServer::setup().user(&format!("ops on >{SECRET} ~* +@all")).start();
    let caller = Caller::with(&redis.url(), opened_by(Some("ops"), SECRET));
    assert_eq!(caller.count("n").unwrap(), 1);
    let _: i64 = redis.ask(&["ACL", "DELUSER", "ops"]);
    caller.trouble(|trouble| matches!(trouble, Trouble::Locked(_)));
    let rule = format!(">{SECRET}");
    let _: String = redis.ask(&["ACL", "SETUSER", "ops", "on", &rule, "~*", "+@all"]);
    within(NOTICED, "a user who is back", || caller.count("n").ok());
}

#[test]
fn a_server_that_throws_things_away_is_not_used() {
    let redis = RedisServer::setup().line("maxmemory-policy allkeys-lru").start();
    let caller = Caller::new(&redis.url());
    let evicts = said(caller.check());
    assert!(evicts.contains("maxmemory-policy is allkeys-lru"), "{evicts}");
    assert!(evicts.contains("CONFIG SET maxmemory-policy noeviction"), "{evicts}");
    assert!(!trouble(caller.count("n")).is_passing());
    let _: String = redis.ask(&["CONFIG", "SET", "maxmemory-policy", "noeviction"]);
    within(NOTICED, "a server that keeps things", || caller.count("n").ok());

    caller.check().unwrap();
    let _: String = redis.ask(&["CONFIG", "SET", "maxmemory-policy", "volatile-ttl"]);
    assert_eq!(trouble(caller.check()), Trouble::Evicts("volatile-ttl".to_owned()));
}

#[test]
fn where_config_is_forbidden_info_tells_as_much() {
    let redis = RedisServer::setup()
        .user(&format!("ops on >{SECRET} ~* +@all -@dangerous +info"))
        .line("maxmemory-policy allkeys-random")
        .start();
    let caller = Caller::with(&redis.url(), opened_by(Some("ops"), SECRET));
    assert_eq!(trouble(caller.check()), Trouble::Evicts("allkeys-random".to_owned()));
}

#[test]
fn a_check_reaches_whom_nobody_has_asked_yet() {
    let mut redis = RedisServer::start();
    let caller = Caller::with(&redis.url(), Access::default());
    caller.check().unwrap();
    redis.kill();
    assert!(trouble(caller.check()).is_passing());
    redis.restart();
    within(NOTICED, "a server that is back", || caller.check().ok());
}
