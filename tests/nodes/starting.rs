//! `anteroom serve` and a Redis that is not there, not fit, or gone: what an operator and a visitor see of it.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::redis::RedisServer;
use crate::support::{Config, Gateway, Origin, Visitor, eventually};

fn config(origin: &Origin, redis: &RedisServer) -> Config {
    let room = "max_active = 1\npoll_max = \"1s\"";
    Config::new(&[origin.address().to_string()]).room("sale", room).store_at(&redis.url())
}

#[test]
fn a_node_starts_while_redis_is_down_and_goes_on_once_it_is_up() {
    let origin = Origin::start();
    let mut redis = RedisServer::start();
    redis.kill();
    let node = Gateway::start(config(&origin, &redis));
    let [mut ann, mut bob] = [(); 2].map(|()| Visitor::new(&node));
    let page = ann.open("/");
    assert_eq!((page.status, page.state().as_deref()), (503, Some("provisional")), "{page:?}");
    let told = node.events("store.away", 1);
    let message = told[0]["message"].as_str().unwrap_or_default();
    assert!(
        message.contains("can't be reached") && message.contains("Starting without it"),
        "{message}"
    );
    assert!(origin.seen().is_empty(), "nobody is let past a line that is not there");

    redis.restart();
    node.events("store.back", 1);
    eventually("ann is inside", || ann.open("/").is_from_origin().then_some(()));
    eventually("bob has a place", || {
        (bob.open("/").state().as_deref() == Some("waiting")).then_some(())
    });
    ann.complete();
    bob.await_turn();
    assert!(bob.open("/").is_from_origin());
}

#[test]
fn a_redis_that_may_throw_lines_away_ends_a_start_with_a_clear_sentence() {
    let redis = RedisServer::setup().line("maxmemory-policy allkeys-lru").start();
    let (origin, directory) = (Origin::start(), tempfile::tempdir().expect("a directory"));
    let path = directory.path().join("anteroom.toml");
    std::fs::write(&path, config(&origin, &redis).text()).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_anteroom"));
    let output = command.args(["serve", "-c"]).arg(&path).output().expect("it ends by itself");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(&format!("127.0.0.1:{}", redis.port())), "{said}");
    assert!(said.contains("may throw lines away when its memory is full"), "{said}");
    assert!(said.contains("CONFIG SET maxmemory-policy noeviction"), "{said}");
}

/// Until then everybody is held; then the site is open, without a pass; and once Redis is back it is guarded again.
#[test]
fn doors_open_after_the_time_that_was_set_and_not_before() {
    const OPEN_AFTER: Duration = Duration::from_secs(10);
    let origin = Origin::start();
    let mut redis = RedisServer::setup().aof().start();
    let node = Gateway::start(config(&origin, &redis).store("open_after = \"10s\""));
    let [mut ann, mut bob] = [(); 2].map(|()| Visitor::new(&node));
    assert!(ann.open("/").is_from_origin());
    assert_eq!(bob.open("/").state().as_deref(), Some("waiting"));
    origin.forget();
    redis.kill();
    let lost = Instant::now();
    let opened = eventually("the doors open", || {
        let mut eve = Visitor::new(&node);
        let page = eve.open("/");
        let held = matches!(page.state().as_deref(), Some("provisional" | "waiting"));
        assert!(held || page.is_from_origin(), "{page:?}");
        std::thread::sleep(Duration::from_millis(100));
        page.is_from_origin().then(|| lost.elapsed())
    });
    assert!(opened > OPEN_AFTER - Duration::from_secs(1), "{opened:?}");
    assert!(opened < OPEN_AFTER + Duration::from_secs(3), "{opened:?}");
    assert!(bob.open("/").is_from_origin(), "those in line, too");
    redis.restart();
    node.events("store.back", 1);
    eventually("guarded again", || {
        (bob.open("/").state().as_deref() == Some("waiting")).then_some(())
    });
}
