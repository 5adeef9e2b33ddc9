//! Ten thousand people who only wait.

use std::time::{Duration, Instant};

use crate::support::{Connection, Gateway, Origin, Request, Visitor, eventually, raise_open_files};

/// A connection's share of the process: ten kibibytes in the release build, which the bench measures. A debug build
/// has larger futures.
const EACH: u64 = 24 * 1_024;

#[test]
fn ten_thousand_idle_connections_are_served_and_cost_little() {
    let files = raise_open_files();
    // Some of this process's own are in use by other tests.
    let count = usize::try_from(files.saturating_sub(3_000).min(10_000)).expect("a small number");
    println!("{count} connections, with {files} open files allowed");
    assert!(count >= 1_000, "this system allows too few open files: {files}");
    let origin = Origin::start();
    let plan = Gateway::before(&origin).room("sale", "max_active = 1");
    let gateway =
        plan.tables("[bounds]\nidle_timeout = \"120s\"\nheader_timeout = \"120s\"\n").start();
    let [mut ann, mut bob] = [(); 2].map(|()| Visitor::new(&gateway));
    assert!(ann.open("/").is_from_origin());
    bob.open("/");
    let poll = bob.dress(Request::get("/.anteroom/v1/queue/status")).bytes();
    let page = bob.dress(Request::get("/").by_browser()).bytes();
    let before = gateway.resident_bytes();
    let began = Instant::now();
    let mut crowd: Vec<Connection> = Vec::with_capacity(count);
    for number in 0..count {
        let mut connection = gateway.connect();
        // Half of them have asked for a page, the others for a poll.
        connection.send(if number % 2 == 0 { &page } else { &poll });
        crowd.push(connection);
    }
    for connection in &mut crowd {
        let answer = connection.read();
        assert!(matches!(answer.status, 200 | 503), "{answer:?}");
    }
    println!("connected and answered in {:?}", began.elapsed());
    let grown = gateway.resident_bytes().saturating_sub(before);
    let each = grown / count as u64;
    println!("{each} bytes each");
    assert!(each < EACH, "{each} bytes a connection");
    // Everybody is still served, in and out of the crowd, and nobody was dropped.
    let asked = Instant::now();
    assert!(ann.open("/").is_from_origin());
    assert_eq!(bob.position(), 1);
    assert!(asked.elapsed() < Duration::from_secs(2), "{:?}", asked.elapsed());
    for connection in crowd.iter_mut().step_by(97) {
        connection.send(&poll);
        assert_eq!(connection.read().json()["position"], 1);
    }
    drop(crowd);
    eventually("all of them are gone", || {
        let files =
            std::fs::read_dir(format!("/proc/{}/fd", gateway.pid())).map_or(0, Iterator::count);
        (files < 200).then_some(())
    });
    let kept = eventually("what they cost is given back, though nobody comes", || {
        let kept = gateway.resident_bytes().saturating_sub(before);
        (kept < grown / 2).then_some(kept)
    });
    println!("{kept} bytes of {grown} kept");
}
