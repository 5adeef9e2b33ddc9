//! Whoever does not read what they asked for holds nothing for long.

use std::io::Read as _;
use std::time::{Duration, Instant};

use crate::support::{Gateway, Origin, Request, Visitor, eventually};

fn start(room: &str) -> (Origin, Gateway) {
    let origin = Origin::start();
    let plan = Gateway::before(&origin).room("sale", room);
    (origin, plan.tables("[bounds]\nbody_timeout = \"1s\"\n").start())
}

/// Files a process has open: every connection is one.
fn open_files(gateway: &Gateway) -> usize {
    let path = format!("/proc/{}/fd", gateway.pid());
    std::fs::read_dir(path).map_or(0, Iterator::count)
}

#[test]
fn a_reader_that_stops_is_dropped() {
    let (_origin, gateway) = start("mode = \"hold\"");
    let before = open_files(&gateway);
    let mut connection = gateway.connect();
    // More pages than all buffers between here and there hold.
    let one = Request::get("/").by_browser().bytes();
    let many = one.repeat(200);
    let began = Instant::now();
    let _ = connection.tcp().set_write_timeout(Some(Duration::from_millis(500)));
    while began.elapsed() < Duration::from_secs(4) {
        if connection.try_send(&many).is_err() {
            break;
        }
    }
    eventually("the connection is given up", || (open_files(&gateway) <= before).then_some(()));
}

#[test]
fn a_reader_of_the_site_that_stops_is_dropped() {
    let (_origin, gateway) = start("");
    let mut ann = Visitor::new(&gateway);
    assert!(ann.open("/").is_from_origin());
    let mut connection = gateway.connect();
    let asked = ann.dress(Request::get("/download?bytes=60000000"));
    connection.send(&asked.bytes());
    // One byte, and then nothing for longer than the site or the gateway has patience.
    let mut one = [0; 1];
    let mut tcp = connection.tcp();
    tcp.read_exact(&mut one).expect("it begins");
    eventually("the connection is given up", || {
        // What is in the buffers may still come, the rest must not.
        (connected(&gateway) == 0).then_some(())
    });
}

/// Connections of clients that the gateway holds, as the system lists them.
fn connected(gateway: &Gateway) -> usize {
    let port = format!("{:04X}", gateway.addr().port());
    let table = std::fs::read_to_string("/proc/net/tcp").expect("a table of connections");
    let held = |line: &&str| {
        let mut fields = line.split_whitespace().skip(1);
        let local = fields.next().unwrap_or_default();
        let state = fields.nth(1).unwrap_or_default();
        local.ends_with(&format!(":{port}")) && matches!(state, "01" | "08")
    };
    table.lines().filter(held).count()
}
