//! What runs without a file: `serve` before a site, and `demo` on a machine that has nothing.

use std::net::SocketAddr;
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::support::log::Log;
use crate::support::redis::RedisServer;
use crate::support::{Connection, Origin, PATIENCE, Request, Visitor, eventually};

/// A program in a directory of its own; killed when it is dropped.
struct Running {
    child: Child,
    log: Log,
    directory: TempDir,
}

impl Running {
    fn start(arguments: &[&str]) -> Running {
        Running::start_with(arguments, &[])
    }

    fn start_with(arguments: &[&str], variables: &[(&str, &str)]) -> Running {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let mut command = super::anteroom(arguments);
        command.current_dir(directory.path()).env("TMPDIR", directory.path());
        command.env("ANTEROOM_ADMIN_LISTEN", "127.0.0.1:0");
        command.envs(variables.iter().copied());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let log = Log::default();
        log.listen(child.stdout.take().expect("a pipe"));
        log.listen(child.stderr.take().expect("a pipe"));
        Running { child, log, directory }
    }

    /// Where it listens: the address behind these words.
    fn address(&self, before: &str) -> SocketAddr {
        let address = |line: &String| {
            let rest = line.split_once(before)?.1;
            rest.split(['"', '/']).next()?.parse().ok()
        };
        let found = self.log.wait_for(PATIENCE, |lines| lines.iter().find_map(address));
        found.unwrap_or_else(|| panic!("it does not listen:\n{}", self.log.text()))
    }

    fn end(&mut self, signal: Signal) -> ExitStatus {
        kill_process(Pid::from_child(&self.child), signal).expect("the process is there");
        eventually("it ends", || self.child.try_wait().expect("a child of ours"))
    }

    /// What it left in its directory.
    fn left(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.directory.path()).expect("a directory");
        let name = |entry: std::fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        entries.map(|entry| name(entry.expect("an entry"))).collect()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("--- it said:\n{}\n---", self.log.text());
        }
    }
}

#[test]
fn one_command_puts_a_room_before_a_whole_site() {
    let origin = Origin::start();
    let site = format!("http://{}", origin.address());
    let mut node = Running::start(&[
        "serve",
        "--origin",
        &site,
        "--rate",
        "5/s",
        "--max-active",
        "1",
        "--listen",
        "127.0.0.1:0",
    ]);
    let address = node.address("\"address\":\"");
    let [mut ann, mut bob] = [(); 2].map(|()| Visitor::of(address));
    assert!(ann.open("/").is_from_origin());
    let page = bob.open("/any/path?at=all");
    assert_eq!(page.state().as_deref(), Some("waiting"), "{page:?}");
    ann.complete();
    bob.await_turn();
    assert!(bob.open("/any/path?at=all").is_from_origin());
    assert_eq!(node.end(Signal::TERM).code(), Some(0), "{}", node.log.text());
    assert_eq!(node.left(), ["anteroom.db"], "the line outlives the process");
}

#[test]
fn the_demo_is_a_line_that_one_can_join_and_get_through() {
    let mut demo = Running::start(&["demo", "--visitors", "60", "--listen", "127.0.0.1:0"]);
    let address = demo.address("http://");
    let told =
        |lines: &[String]| lines.iter().any(|line| line.contains("  in line ")).then_some(());
    assert!(demo.log.wait_for(PATIENCE, told).is_some(), "it tells how it goes");
    let operators = demo.address("Operators are answered at http://");
    let key = demo.log.text();
    let key = key.split_once("with the key ").and_then(|(_, rest)| rest.lines().next());
    let rooms =
        Request::get("/v1/rooms").with("Authorization", &format!("Bearer {}", key.expect("a key")));
    assert_eq!(Connection::open(operators).ask(&rooms).status, 200, "the key is the key");
    let mut ann = Visitor::of(address);
    assert_eq!(ann.open("/").state().as_deref(), Some("waiting"));
    // Limits are real here, too: whoever asks more often than they are told to is not answered.
    let mut positions = Vec::new();
    let until = Instant::now() + PATIENCE;
    loop {
        let status = ann.status().json();
        match status["position"].as_u64() {
            Some(position) if status["status"] == "waiting" => positions.push(position),
            _ => break assert_eq!(status["status"], "admitted", "{status}"),
        }
        assert!(Instant::now() < until, "never in: {positions:?}");
        let pause = status["next_poll_seconds"].as_u64().expect("a pace");
        std::thread::sleep(Duration::from_secs(pause));
    }
    assert!(positions.is_sorted_by(|a, b| a > b), "the line moves: {positions:?}");
    let page = ann.open("/");
    assert_eq!((page.status, page.state()), (200, None), "{page:?}");
    assert_eq!(demo.end(Signal::INT).code(), Some(0), "{}", demo.log.text());
    assert!(demo.log.contains("The demo is over. Nothing is left behind."));
    assert!(demo.left().is_empty(), "{:?}", demo.left());
}

#[test]
fn a_demo_in_a_redis_leaves_it_as_it_was() {
    const SECRET: &str = "not-for-everybody";
    for signal in [Signal::INT, Signal::TERM] {
        let redis = RedisServer::setup().password(SECRET).start();
        let _: String = redis.ask(&["SET", "somebody's", "own"]);
        let url = redis.url();
        let arguments = ["demo", "--visitors", "20", "--listen", "127.0.0.1:0", "--redis", &url];
        let mut demo = Running::start_with(&arguments, &[("ANTEROOM_REDIS_PASSWORD", SECRET)]);
        let mut ann = Visitor::of(demo.address("http://"));
        ann.open("/");
        assert!(ann.cookie().is_some(), "a place in the line");
        let rooms: Vec<String> = redis.ask(&["KEYS", "anteroom:{demo-*}:state"]);
        assert_eq!(rooms.len(), 1, "it keeps its line there");
        assert_eq!(demo.end(signal).code(), Some(0), "{}", demo.log.text());
        assert!(demo.log.contains("The demo is over. Nothing is left behind."));
        let keys: Vec<String> = redis.ask(&["KEYS", "*"]);
        assert_eq!(keys, ["somebody's"]);
        assert!(demo.left().is_empty(), "{:?}", demo.left());
        assert!(!demo.log.contains(SECRET));
    }
}

#[test]
fn a_demo_says_what_it_could_not_take_back() {
    let mut redis = RedisServer::start();
    let url = redis.url();
    let arguments = ["demo", "--visitors", "1", "--listen", "127.0.0.1:0", "--redis", &url];
    let mut demo = Running::start(&arguments);
    demo.address("http://");
    redis.kill();
    assert_eq!(demo.end(Signal::INT).code(), Some(0), "{}", demo.log.text());
    assert!(demo.log.contains("In Redis there may still be anteroom:{demo-"));
}
