//! SIGTERM: what is under way is finished, and that is all.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::support::gateway::Signal;
use crate::support::http2::Http2;
use crate::support::websocket::WebSocket;
use crate::support::{Gateway, Origin, Request, Visitor, eventually};

#[test]
fn what_is_under_way_is_finished_and_then_it_ends() {
    for signal in [Signal::TERM, Signal::INT] {
        let origin = Origin::start();
        let mut gateway = Gateway::before(&origin).room("sale", "").start();
        let mut ann = Visitor::new(&gateway);
        assert!(ann.open("/").is_from_origin());
        let mut idle = gateway.connect();
        assert_eq!(idle.ask(&Request::get("/.anteroom/health")).status, 200);
        let mut fresh = gateway.connect();
        let mut busy = gateway.connect();
        busy.send(&ann.dress(Request::get("/slow?ms=4000")).bytes());
        let mut late = gateway.connect();
        assert_eq!(late.ask(&Request::get("/.anteroom/health")).status, 200);
        eventually("it is under way", || (!origin.seen_at("/slow").is_empty()).then_some(()));
        let began = Instant::now();
        gateway.signal(signal);
        let last = late.ask(&ann.dress(Request::post("/upload", "on its way")));
        assert!(last.is_from_origin(), "{last:?}");
        assert!(idle.ends() && fresh.ends(), "whoever asks nothing is let go");
        assert!(began.elapsed() < Duration::from_millis(3_500), "soon: {:?}", began.elapsed());
        eventually("nobody new is taken", || TcpStream::connect(gateway.addr()).err());
        let answer = busy.read();
        assert!(answer.is_from_origin(), "{answer:?}");
        let ended = gateway.wait();
        assert_eq!(ended.code(), Some(0), "{}", gateway.log().text());
        assert!(
            began.elapsed() < Duration::from_secs(10),
            "well within the grace: {:?}",
            began.elapsed()
        );
        assert!(gateway.log_contains("node.stopped"));
    }
}

#[test]
fn whoever_never_ends_is_cut_off_after_the_grace() {
    let origin = Origin::start();
    let mut gateway = Gateway::before(&origin).room("sale", "").top("grace = \"1s\"").start();
    let mut ann = Visitor::new(&gateway);
    assert!(ann.open("/").is_from_origin());
    let mut socket = WebSocket::open(&ann, "/ws").expect("a WebSocket");
    assert!(socket.echoes("hello"));
    let began = Instant::now();
    assert_eq!(gateway.stop().code(), Some(0));
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(900) && took < Duration::from_secs(6), "{took:?}");
    assert_eq!(socket.hear(), None);
}

#[test]
fn told_twice_it_ends_at_once() {
    let origin = Origin::start();
    let mut gateway = Gateway::before(&origin).room("sale", "").start();
    let mut ann = Visitor::new(&gateway);
    assert!(ann.open("/").is_from_origin());
    let _socket = WebSocket::open(&ann, "/ws").expect("a WebSocket");
    let began = Instant::now();
    gateway.signal(Signal::TERM);
    eventually("nobody new is taken", || TcpStream::connect(gateway.addr()).err());
    gateway.signal(Signal::TERM);
    assert_eq!(gateway.wait().code(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

#[test]
fn a_clean_stop_keeps_every_place_and_seat() {
    let origin = Origin::start();
    let plan = Gateway::before(&origin).room("sale", "max_active = 1").embedded();
    let mut gateway = plan.start();
    let [mut ann, mut bob] = [(); 2].map(|()| Visitor::new(&gateway));
    assert!(ann.open("/").is_from_origin());
    let label = bob.open("/").shown("label");
    assert_eq!(gateway.stop().code(), Some(0));
    gateway.restart();
    ann.moves_to(&gateway);
    bob.moves_to(&gateway);
    assert!(ann.open("/").is_from_origin());
    assert_eq!(bob.open("/").shown("label"), label);
    assert_eq!(bob.position(), 1);
    let mut cid = Visitor::new(&gateway);
    assert_eq!(cid.open("/").shown("label").as_deref(), Some("A-000003"), "no gap");
}

#[test]
fn streams_of_events_end_with_the_node() {
    let origin = Origin::start();
    let mut gateway = Gateway::before(&origin).room("sale", "mode = \"hold\"").start();
    let mut ann = Visitor::new(&gateway);
    ann.open("/");
    let mut stream = gateway.connect();
    stream.send(&ann.dress(Request::get("/.anteroom/v1/queue/events")).bytes());
    assert_eq!(stream.read_head().status, 200);
    stream.read_chunk();
    let began = Instant::now();
    assert_eq!(gateway.stop().code(), Some(0));
    assert!(
        began.elapsed() < Duration::from_secs(10),
        "nobody waits for a waiting page: {:?}",
        began.elapsed()
    );
}

#[test]
fn what_is_under_way_by_http_2_is_finished_too() {
    let origin = Origin::start();
    let mut gateway = Gateway::before(&origin).room("sale", "").tls().start();
    let mut idle = Http2::open(&gateway);
    assert_eq!(idle.ask(&Request::get("/.anteroom/health")).status, 200);
    let mut ann = Visitor::secure(&gateway);
    assert!(ann.open("/").is_from_origin());
    let slow = ann.dress(Request::get("/slow?ms=1500"));
    let mut busy = Http2::open(&gateway);
    let under_way = std::thread::spawn(move || busy.try_ask(&slow));
    eventually("it is under way", || (!origin.seen_at("/slow").is_empty()).then_some(()));
    let began = Instant::now();
    gateway.signal(Signal::TERM);
    assert!(idle.ends(Duration::from_millis(1_400)), "whoever asks nothing is let go");
    let answer = under_way.join().expect("no panic").expect("an answer");
    assert!(answer.is_from_origin(), "{answer:?}");
    assert_eq!(gateway.wait().code(), Some(0), "{}", gateway.log().text());
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}
