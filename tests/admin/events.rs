//! What happens, told as it happens.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{held, join, poll};
use crate::support::operator::VIEWER;
use crate::support::{Connection, Gateway, Operator, Origin, PATIENCE, Request, eventually};

/// A stream of events.
struct Stream {
    connection: Connection,
    unread: String,
}

impl Stream {
    fn open(gateway: &Gateway) -> Stream {
        let viewer = Operator::with_key(gateway, VIEWER);
        let mut connection = Connection::open(viewer.address);
        connection.send(&viewer.dress(Request::get("/v1/rooms/sale/events")).bytes());
        let head = connection.read_head();
        assert_eq!(head.status, 200, "{head:?}");
        assert_eq!(head.header("content-type"), Some("text/event-stream"));
        Stream { connection, unread: String::new() }
    }

    fn next(&mut self) -> (String, Value) {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(end) = self.unread.find("\n\n") {
                let event: String = self.unread.drain(..end + 2).collect();
                let field = |name: &str| {
                    event.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned)
                };
                if let (Some(name), Some(data)) = (field("event: "), field("data: ")) {
                    return (name, serde_json::from_str(&data).expect("JSON"));
                }
                continue;
            }
            assert!(Instant::now() < until, "no event: {}", self.unread);
            self.unread += &String::from_utf8_lossy(&self.connection.read_chunk());
        }
    }

    /// The next one of a name.
    fn named(&mut self, wanted: &str) -> Value {
        loop {
            let (name, data) = self.next();
            if name == wanted {
                return data;
            }
        }
    }
}

#[test]
fn joins_calls_entries_and_ends_are_told_as_they_happen() {
    let origin = Origin::start();
    let gateway = held(&origin);
    let admin = Operator::new(&gateway);
    let mut stream = Stream::open(&gateway);
    let (name, counts) = stream.next();
    assert_eq!((name.as_str(), &counts["waiting"]), ("counts", &json!(0)), "first how it is");
    let tickets = join(&gateway, "sale", 3);
    let mut upto = 0;
    while upto < 3 {
        let enqueued = stream.named("enqueued");
        assert_eq!(enqueued["from"], upto + 1, "no number is missing: {enqueued}");
        upto = enqueued["upto"].as_u64().expect("a number");
        assert_eq!(enqueued["count"].as_u64(), Some(upto + 1 - enqueued["from"].as_u64().unwrap()));
    }
    admin.does("/v1/rooms/sale/release", &json!({ "count": 2 }));
    let called = stream.named("called");
    assert_eq!(called["count"], 2);
    assert_eq!(called["visitors"][0]["label"], "B-000001");
    assert_eq!(called["visitors"][1]["queue_ref"], poll(&gateway, &tickets[1])["queue_ref"]);
    let token = poll(&gateway, &tickets[0])["token"].as_str().expect("a pass").to_owned();
    let mut entered = 0;
    while entered < 2 {
        entered += stream.named("admitted")["count"].as_u64().expect("a number");
    }
    let body = json!({ "token": token, "event_id": "sale" });
    let complete = Request::call("/.anteroom/v1/admission/complete", &body);
    assert_eq!(gateway.connect().ask(&complete).status, 200);
    let completed = stream.named("completed");
    assert_eq!(
        (&completed["visitor"]["number"], &completed["reason"]),
        (&json!(1), &json!("completed"))
    );
    admin.does("/v1/rooms/sale/revoke", &json!({ "visitor": "2" }));
    let expired = stream.named("expired");
    assert_eq!((&expired["visitor"]["number"], &expired["reason"]), (&json!(2), &json!("revoked")));
    let epoch = admin.does("/v1/rooms/sale/reset", &json!({}))["epoch"].clone();
    assert_eq!(stream.named("reset")["epoch"], epoch);
}

#[test]
fn a_crowd_is_a_few_events_and_no_number_is_missing() {
    let origin = Origin::start();
    let gateway = held(&origin);
    let mut stream = Stream::open(&gateway);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| join(&gateway, "sale", 100));
        }
    });
    let (mut upto, mut events) = (0, 0);
    while upto < 400 {
        let enqueued = stream.named("enqueued");
        assert_eq!(enqueued["from"], upto + 1);
        upto = enqueued["upto"].as_u64().expect("a number");
        events += 1;
    }
    assert!(events < 100, "{events} events for 400 joins");
}

#[test]
fn the_end_of_a_node_ends_its_streams() {
    let origin = Origin::start();
    let mut gateway = held(&origin);
    let mut stream = Stream::open(&gateway);
    stream.next();
    let began = Instant::now();
    assert_eq!(gateway.stop().code(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(10), "nobody waits for a dashboard");
    eventually("the stream ends", || match stream.connection.try_read_chunk() {
        Ok(chunk) if !chunk.is_empty() => None,
        _ => Some(()),
    });
}

#[test]
fn there_are_only_so_many_streams() {
    let origin = Origin::start();
    let gateway = held(&origin);
    let mut streams: Vec<Stream> = (0..64).map(|_| Stream::open(&gateway)).collect();
    let viewer = Operator::with_key(&gateway, VIEWER);
    let refused = viewer.get("/v1/rooms/sale/events");
    assert_eq!((refused.status, refused.code().as_str()), (503, "too_many_streams"));
    assert_eq!(viewer.get("/v1/rooms").status, 200, "the rest goes on");
    streams.pop();
    eventually("its place is free", || {
        let mut connection = Connection::open(viewer.address);
        connection.send(&viewer.dress(Request::get("/v1/rooms/sale/events")).bytes());
        (connection.read_head().status == 200).then_some(())
    });
}
