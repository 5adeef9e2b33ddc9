//! `GET queue/events`: the status as it changes, and only so many streams on a node.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{call, join, room, status, ticket};
use crate::support::{Config, Connection, Gateway, Origin, Request, Response, Visitor, eventually};

struct Stream(Connection);

impl Stream {
    fn open(gateway: &Gateway, ticket: &str) -> Result<Stream, Response> {
        let mut connection = gateway.connect();
        let target = format!("/.anteroom/v1/queue/events?queue_id={ticket}");
        connection.send(&Request::get(&target).with("Accept", "text/event-stream").bytes());
        let head = connection.read_head();
        match head.status {
            200 => {
                assert_eq!(head.header("content-type"), Some("text/event-stream"), "{head:?}");
                assert!(
                    head.header("cache-control").is_some_and(|value| value.contains("no-store"))
                );
                Ok(Stream(connection))
            }
            _ => Err(head),
        }
    }

    /// The next event; `None`: the stream is over.
    #[track_caller]
    fn next(&mut self) -> Option<Value> {
        let until = Instant::now() + Duration::from_secs(20);
        while Instant::now() < until {
            let chunk = self.0.read_chunk();
            if chunk.is_empty() {
                return None;
            }
            let text = String::from_utf8(chunk).expect("UTF-8");
            if let Some(data) = text.lines().find_map(|line| line.strip_prefix("data: ")) {
                return Some(serde_json::from_str(data).expect("JSON"));
            }
        }
        panic!("no event in time");
    }
}

#[test]
fn a_stream_tells_of_the_place_and_ends_with_the_turn() {
    let (_origin, gateway) = room("max_active = 1");
    let first = join(&gateway, "first").json();
    let mine = ticket(&gateway, "mine");
    let mut stream = Stream::open(&gateway, &mine).expect("a stream");
    let said = stream.next().expect("an event at once");
    assert_eq!((&said["status"], &said["position"]), (&"waiting".into(), &1.into()), "{said}");
    assert_eq!(said["queue_id"], mine);
    let began = Instant::now();
    call(&gateway, "admission/complete", &json!({ "token": first["token"] }));
    let said = stream.next().expect("the turn");
    assert_eq!(said["status"], "admitted", "{said}");
    assert!(said["token"].is_string(), "{said}");
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert_eq!(stream.next(), None, "and that is all");
}

#[test]
fn a_stream_is_refused_like_a_poll() {
    let (_origin, gateway) = room("mode = \"hold\"");
    let refused = Stream::open(&gateway, "x").err().expect("no stream");
    assert_eq!(refused.status, 404);
    let nothing = gateway.connect().ask(&Request::get("/.anteroom/v1/queue/events"));
    assert_eq!((nothing.status, nothing.code().as_str()), (400, "missing_ticket"), "{nothing:?}");
}

/// However many rooms there are, streams leave connections to those who come.
#[test]
fn there_are_only_so_many_of_all_rooms_together() {
    let origin = Origin::start();
    let config = Config::new(&[origin.address().to_string()])
        .room("sale", "paths = [\"/sale\"]\nmode = \"hold\"")
        .room("more", "paths = [\"/more\"]\nmode = \"hold\"")
        .tables("[bounds]\nstreams = 2\n");
    let gateway = Gateway::start(config);
    let ticket = |room: &str, device: &str| {
        let named = json!({ "event_id": room, "device_id": device });
        let joined = call(&gateway, "queue/join", &named).json();
        joined["queue_id"].as_str().expect("a ticket").to_owned()
    };
    let one = Stream::open(&gateway, &ticket("sale", "one")).expect("a stream");
    let _two = Stream::open(&gateway, &ticket("more", "two")).expect("a stream");
    let three = ticket("more", "three");
    let target = format!("/.anteroom/v1/queue/events?queue_id={three}");
    let refused = gateway.connect().ask(&Request::get(&target));
    assert_eq!((refused.status, refused.code().as_str()), (503, "too_many_streams"));
    drop(one);
    eventually("a place is free", || Stream::open(&gateway, &three).ok());
}

#[test]
fn there_are_only_so_many_on_a_node() {
    let origin = Origin::start();
    let plan = Gateway::before(&origin).room("sale", "mode = \"hold\"").limits("events = 3");
    let gateway = plan.start();
    let tickets: Vec<String> = (0..4).map(|n| ticket(&gateway, &format!("d{n}"))).collect();
    let mut streams: Vec<Stream> = tickets[..3]
        .iter()
        .map(|ticket| Stream::open(&gateway, ticket).expect("a stream"))
        .collect();
    for stream in &mut streams {
        stream.next().expect("an event");
    }
    let mut connection = gateway.connect();
    let target = format!("/.anteroom/v1/queue/events?queue_id={}", tickets[3]);
    let refused = connection.ask(&Request::get(&target));
    assert_eq!((refused.status, refused.code().as_str()), (503, "too_many_streams"), "{refused:?}");
    assert!(refused.header("retry-after").is_some());
    drop(streams.pop());
    eventually("one more fits", || Stream::open(&gateway, &tickets[3]).ok());
}

#[test]
fn one_visitor_leaves_streams_for_others_and_a_room_for_the_others() {
    let origin = Origin::start();
    let room = "mode = \"hold\"\npaths = [\"/other/*\"]";
    let plan = Gateway::before(&origin).room("sale", "mode = \"hold\"").limits("events = 100");
    let gateway = plan.room("other", room).limits("events = 1").start();
    let [greedy, next] = ["d1", "d2"].map(|device| ticket(&gateway, device));
    let mut streams: Vec<Stream> =
        (0..8).map(|_| Stream::open(&gateway, &greedy).expect("a stream")).collect();
    streams.iter_mut().for_each(|stream| _ = stream.next().expect("an event"));
    let target = format!("/.anteroom/v1/queue/events?queue_id={greedy}");
    let refused = gateway.connect().ask(&Request::get(&target));
    assert_eq!((refused.status, refused.code().as_str()), (503, "too_many_streams"), "{refused:?}");
    assert!(Stream::open(&gateway, &next).expect("a stream").next().is_some());
    let join = json!({ "event_id": "other", "device_id": "d3" });
    let joined = call(&gateway, "queue/join", &join).json();
    let other = joined["queue_id"].as_str().expect("a ticket");
    let mut other = Stream::open(&gateway, other).expect("those of another room are not counted");
    assert!(other.next().is_some());
    drop(streams.pop());
    eventually("one more of theirs fits", || Stream::open(&gateway, &greedy).ok());
}

/// Sent to the end of the line, whoever listens with the old ticket is told of the place there, and gets its ticket.
#[test]
fn a_stream_follows_to_the_end_of_the_line() {
    let (_origin, gateway) = room("max_active = 1");
    let first = call(&gateway, "queue/join", &json!({ "event_id": "sale", "device_id": "first" }));
    let old = first.json()["queue_id"].as_str().expect("a ticket").to_owned();
    let inside = Stream::open(&gateway, &old).expect("a stream").next().expect("the turn");
    let next = ticket(&gateway, "next");
    let pass = inside["token"].as_str().expect("a pass");
    let command = Request::get("/command?c=requeue").with("X-Admission-Pass", pass);
    assert!(gateway.connect().ask(&command).is_from_origin());
    eventually("the seat is the next one's", || {
        (status(&gateway, &next).json()["status"] == "admitted").then_some(())
    });
    let said = Stream::open(&gateway, &old).expect("a stream").next().expect("an event");
    assert_eq!((&said["status"], &said["position"]), (&"waiting".into(), &1.into()), "{said}");
    let new = said["queue_id"].as_str().expect("a ticket");
    assert_ne!(new, old);
    let polled = status(&gateway, new).json();
    assert_eq!(polled["queue_ref"], said["queue_ref"], "one and the same place");
}

/// The same by the cookie of the pass that is over.
#[test]
fn a_stream_by_cookie_follows_to_the_end_of_the_line() {
    let (_origin, gateway) = room("max_active = 1");
    let mut visitor = Visitor::new(&gateway);
    assert!(visitor.open("/").is_from_origin());
    let _next = ticket(&gateway, "next");
    let old = visitor.cookie().expect("a cookie");
    assert!(visitor.open("/command?c=requeue").is_from_origin());
    let mut connection = gateway.connect();
    let request = Request::get("/.anteroom/v1/queue/events").with("Cookie", &old);
    connection.send(&request.with("Sec-Fetch-Site", "same-origin").bytes());
    assert_eq!(connection.read_head().status, 200);
    let mut stream = Stream(connection);
    let said = stream.next().expect("an event");
    assert_eq!(said["status"], "waiting", "{said}");
    assert!(said.get("queue_id").is_none(), "the cookie comes with the next page: {said}");
    let page = visitor.status();
    assert_eq!(page.json()["queue_ref"], said["queue_ref"], "{page:?}");
}

#[test]
fn a_stream_ends_when_its_place_does() {
    let (_origin, gateway) = room("mode = \"hold\"");
    let mine = ticket(&gateway, "mine");
    let mut stream = Stream::open(&gateway, &mine).expect("a stream");
    stream.next().expect("an event");
    call(&gateway, "queue/leave", &json!({ "queue_id": mine }));
    let said = stream.next().expect("the end");
    assert_eq!((&said["status"], &said["reason"]), (&"expired".into(), &"left".into()), "{said}");
    assert_eq!(stream.next(), None);
}
