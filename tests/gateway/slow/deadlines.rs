//! Whoever is too slow to send is cut off, however they drip.

use std::time::{Duration, Instant};

use crate::support::{Connection, Gateway, Origin, Request, Visitor};

fn start() -> (Origin, Gateway) {
    let origin = Origin::start();
    let plan = Gateway::before(&origin).room("sale", "max_active = 1").tls();
    let bounds = "[bounds]\nheader_timeout = \"1s\"\nidle_timeout = \"1s\"\nbody_timeout = \"1s\"\n";
    (origin, plan.tables(bounds).start())
}

/// How long it takes until the other end closes; what it says before is `said`.
fn ends_after(connection: &mut Connection) -> (Duration, Vec<u8>) {
    let began = Instant::now();
    let said = connection.rest().expect("it ends in time");
    (began.elapsed(), said)
}

#[track_caller]
fn assert_about_a_second(took: Duration) {
    let range = Duration::from_millis(700)..Duration::from_secs(6);
    assert!(range.contains(&took), "{took:?}");
}

#[test]
fn a_head_that_drips_is_cut_off_by_one_deadline_for_all_of_it() {
    let (origin, gateway) = start();
    let mut connection = gateway.connect();
    let head = Request::get("/").with("X-Slow", &"a".repeat(2_000)).bytes();
    let began = Instant::now();
    let mut closed = None;
    // Each byte comes well within the deadline; the whole does not.
    for byte in head {
        if connection.try_send(&[byte]).is_err() {
            closed = Some(began.elapsed());
            break;
        }
        if began.elapsed() > Duration::from_secs(8) {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
        let mut answered = [0; 1];
        let _ = connection.tcp().set_read_timeout(Some(Duration::from_millis(1)));
        if matches!(connection.tcp().peek(&mut answered), Ok(_)) {
            closed = Some(began.elapsed());
            break;
        }
    }
    assert_about_a_second(closed.expect("cut off"));
    let status = connection.read().status;
    assert_eq!(status, 408);
    assert!(origin.seen().is_empty());
}

#[test]
fn a_head_that_stops_is_cut_off() {
    let (_origin, gateway) = start();
    for part in ["G", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: shop.example\r\n"] {
        let mut connection = gateway.connect();
        connection.send(part.as_bytes());
        let (took, said) = ends_after(&mut connection);
        assert_about_a_second(took);
        let said = String::from_utf8_lossy(&said).into_owned();
        assert!(said.is_empty() || said.starts_with("HTTP/1.1 408 "), "{said}");
    }
}

#[test]
fn whoever_says_nothing_is_not_kept() {
    let (_origin, gateway) = start();
    let (took, said) = ends_after(&mut gateway.connect());
    assert_about_a_second(took);
    assert!(said.is_empty(), "{said:?}");
    // Nor whoever says nothing where TLS is spoken.
    let mut silent = Connection::open(gateway.tls_addr());
    let (took, _) = ends_after(&mut silent);
    assert!(took < Duration::from_secs(15), "{took:?}");
}

#[test]
fn an_idle_connection_is_closed_whoever_answered_last() {
    let (_origin, gateway) = start();
    let mut ann = Visitor::new(&gateway);
    assert!(ann.open("/").is_from_origin());
    let requests = [
        ("forwarded", ann.dress(Request::get("/part"))),
        ("answered", Request::get("/part")),
        ("a call", Request::get("/.anteroom/health")),
        ("sent", ann.dress(Request::post("/upload", "x"))),
    ];
    for (name, request) in requests {
        let mut connection = gateway.connect();
        connection.ask(&request);
        let (took, said) = ends_after(&mut connection);
        assert!(said.is_empty(), "{name}: {}", String::from_utf8_lossy(&said));
        assert_about_a_second(took);
    }
}

#[test]
fn a_body_that_stops_is_cut_off() {
    let (origin, gateway) = start();
    let mut ann = Visitor::new(&gateway);
    assert!(ann.open("/").is_from_origin());
    for (name, head) in [
        ("forwarded", ann.dress(Request::new("POST", "/upload")).with("Content-Length", "1000")),
        ("chunked", ann.dress(Request::new("POST", "/upload")).with("Transfer-Encoding", "chunked")),
        ("a call", Request::new("POST", "/.anteroom/v1/queue/join").with("Content-Length", "1000")),
    ] {
        let mut connection = gateway.connect();
        connection.send(&head.bytes());
        connection.send(b"3");
        let (took, said) = ends_after(&mut connection);
        assert_about_a_second(took);
        let said = String::from_utf8_lossy(&said).into_owned();
        assert!(said.is_empty() || said.starts_with("HTTP/1.1 4"), "{name}: {said}");
    }
    let whole = origin.seen_at("/upload").into_iter().filter(|seen| seen.problem.is_none()).count();
    assert_eq!(whole, 0);
}
