//! Large and long bodies, byte for byte.

use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};

use crate::support::forge::expires;
use crate::support::site::pattern;
use crate::support::{Gateway, Origin, Request, Visitor, eventually};

const LARGE: usize = 50_000_000;

fn inside(room: &str) -> (Origin, Gateway, Visitor) {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", room).start();
    let mut ann = Visitor::new(&gateway);
    assert!(ann.open("/").is_from_origin());
    (origin, gateway, ann)
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn fifty_megabytes_up() {
    let (_origin, _gateway, mut ann) = inside("max_active = 1");
    let body = pattern(LARGE);
    let hash = sha256(&body);
    let got = ann.send(Request::post("/upload", body)).json();
    assert_eq!((&got["bytes"], &got["sha256"]), (&LARGE.into(), &hash.into()));
}

#[test]
fn fifty_megabytes_down() {
    let (_origin, _gateway, mut ann) = inside("max_active = 1");
    for (kind, length) in [("", LARGE), ("&chunked=1", LARGE / 10)] {
        let got = ann.fetch(&format!("/download?bytes={length}{kind}"));
        assert!(got.is_from_origin());
        assert_eq!(got.body.len(), length);
        assert_eq!(sha256(&got.body), sha256(&pattern(length)), "{kind}");
    }
}

#[test]
fn up_and_down_over_tls_and_http_2() {
    use crate::support::http2::Http2;
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "").tls().start();
    let mut ann = Visitor::secure(&gateway);
    assert!(ann.open("/").is_from_origin());
    let body = pattern(3_000_000);
    let hash = sha256(&body);
    assert_eq!(ann.send(Request::post("/upload", body.clone())).json()["sha256"], hash);
    let mut door = Http2::open(&gateway);
    assert_eq!(door.ask(&ann.dress(Request::post("/upload", body))).json()["sha256"], hash);
    let got = door.ask(&ann.dress(Request::get("/download?bytes=3000000")));
    assert_eq!(sha256(&got.body), hash);
}

#[test]
fn a_stream_arrives_as_it_is_made() {
    let (_origin, gateway, ann) = inside("max_active = 1");
    let mut connection = gateway.connect();
    let asked = Request::get("/stream?chunks=5&ms=300&bytes=2000");
    connection.send(&ann.dress(asked).bytes());
    let head = connection.read_head();
    assert_eq!(head.status, 200, "{head:?}");
    let began = Instant::now();
    let mut bytes = connection.read_chunk();
    assert!(
        began.elapsed() < Duration::from_millis(1_000),
        "the first part does not wait for the last"
    );
    loop {
        let chunk = connection.read_chunk();
        if chunk.is_empty() {
            break;
        }
        bytes.extend_from_slice(&chunk);
    }
    assert!(began.elapsed() >= Duration::from_millis(1_100), "{:?}", began.elapsed());
    assert_eq!(bytes, pattern(2_000).repeat(5), "untouched");
    assert!(connection.ask(&ann.dress(Request::get("/echo"))).is_from_origin(), "and goes on");
}

#[test]
fn a_long_response_keeps_the_seat() {
    let room = "max_active = 1\nsession_idle = \"2s\"";
    let (_origin, gateway, ann) = inside(room);
    let mut bob = Visitor::new(&gateway);
    let mut connection = gateway.connect();
    connection.send(&ann.dress(Request::get("/stream?chunks=9&ms=500&bytes=100")).bytes());
    connection.read_head();
    assert_eq!(bob.open("/").state().as_deref(), Some("waiting"));
    let mut chunks = 0;
    while !connection.read_chunk().is_empty() {
        chunks += 1;
        assert_eq!(bob.status().json()["status"], "waiting", "after {chunks} chunks");
    }
    assert_eq!(chunks, 9, "and comes to its end");
    bob.await_turn();
}

/// By either door: a long response is not a way to stay.
#[test]
fn a_long_response_ends_with_the_session() {
    use crate::support::http2::Http2;
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 2").tls().start();
    for http2 in [false, true] {
        let mut ann = Visitor::secure(&gateway);
        assert!(ann.open("/").is_from_origin());
        let long = ann.dress(Request::get("/stream?chunks=100&ms=200&bytes=100"));
        origin.forget();
        let asking = std::thread::spawn({
            let (ann, mut door) = (ann.clone(), Http2::open(&gateway));
            move || match http2 {
                true => door.try_ask(&long).is_ok(),
                false => {
                    let mut connection = ann.connect();
                    connection.send(&long.bytes());
                    connection.try_read(false).is_ok()
                }
            }
        });
        eventually("it is under way", || (!origin.seen_at("/stream").is_empty()).then_some(()));
        let began = Instant::now();
        assert!(ann.open("/command?c=revoke").is_from_origin());
        assert!(
            !asking.join().expect("no panic"),
            "a response that came to its end, HTTP/2 {http2}"
        );
        assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    }
}

/// The short way, the long way, and over HTTP/2: nobody waits for the origin longer than they may be there.
#[test]
fn a_request_that_is_not_answered_yet_ends_with_the_session() {
    use crate::support::http2::Http2;
    #[derive(Clone, Copy, Debug)]
    enum Way {
        Short,
        Long,
        Http2,
    }
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 2").tls().start();
    for way in [Way::Short, Way::Long, Way::Http2] {
        let mut ann = Visitor::secure(&gateway);
        assert!(ann.open("/").is_from_origin());
        let slow = ann.dress(match way {
            Way::Long => Request::post("/slow?ms=20000", b"a body".to_vec()),
            _ => Request::get("/slow?ms=20000"),
        });
        origin.forget();
        let asking = std::thread::spawn({
            let (ann, mut door) = (ann.clone(), Http2::open(&gateway));
            move || {
                let answered = match way {
                    Way::Http2 => door.try_ask(&slow).is_ok(),
                    _ => {
                        let mut connection = ann.connect();
                        connection.send(&slow.bytes());
                        connection.try_read(false).is_ok()
                    }
                };
                (answered, Instant::now())
            }
        });
        eventually("it is under way", || (!origin.seen_at("/slow").is_empty()).then_some(()));
        let revoked = Instant::now();
        assert!(ann.open("/command?c=revoke").is_from_origin());
        let (answered, ended) = asking.join().expect("no panic");
        assert!(!answered, "{way:?}: an answer");
        let after = ended.saturating_duration_since(revoked);
        assert!(after < Duration::from_secs(1), "{way:?}: {after:?}");
    }
}

/// Whichever way it takes: the gateway has more than the visitor reads, and still notices.
#[test]
fn a_response_that_nobody_reads_ends_with_the_session() {
    for way in ["keep-alive", "x-named"] {
        let (origin, gateway, mut ann) = inside("");
        let first = expires(&ann.token().expect("a pass").1);
        // A pass is renewed the long way. A name in Connection is too much for the short one, too.
        eventually("a pass that needs no renewal", || {
            assert!(ann.fetch("/echo").is_from_origin());
            ann.token().filter(|(_, token)| expires(token) > first)
        });
        let mut connection = gateway.connect();
        let endless = Request::get("/stream?chunks=10000&bytes=100000").with("Connection", way);
        connection.send(&ann.dress(endless).bytes());
        assert_eq!(connection.read_head().status, 200);
        assert!(ann.open("/command?c=revoke").is_from_origin());
        eventually("the site may stop", || (origin.answering() == 0).then_some(()));
    }
}
