//! Whoever is too slow to send is cut off, however they drip.

use std::time::{Duration, Instant};

use crate::support::http2::Http2;
use crate::support::{Connection, Gateway, Origin, Request, Visitor, tls};

fn start() -> (Origin, Gateway) {
    let origin = Origin::start();
    let plan = Gateway::before(&origin).room("sale", "max_active = 1").tls();
    let bounds =
        "[bounds]\nheader_timeout = \"1s\"\nidle_timeout = \"1s\"\nbody_timeout = \"1s\"\n";
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
        if connection.tcp().peek(&mut answered).is_ok() {
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
    let parts = ["G", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: shop.example\r\n"];
    let mut connections = parts.map(|part| {
        let mut connection = gateway.connect();
        connection.send(part.as_bytes());
        connection
    });
    let began = Instant::now();
    for connection in &mut connections {
        let (_, said) = ends_after(connection);
        assert_about_a_second(began.elapsed());
        let said = String::from_utf8_lossy(&said).into_owned();
        assert!(said.is_empty() || said.starts_with("HTTP/1.1 408 "), "{said}");
    }
}

#[test]
fn whoever_says_nothing_is_not_kept() {
    let (_origin, gateway) = start();
    let certificate = tls::certificate(gateway.directory());
    let mut silent = gateway.connect();
    let mut before_tls = Connection::open(gateway.tls_addr());
    let mut behind_tls = tls::connect(gateway.tls_addr(), "shop.example", &certificate);
    // A handshake comes with the first word; this one is none.
    behind_tls.send(b"");
    let began = Instant::now();
    let (took, said) = ends_after(&mut silent);
    assert_about_a_second(took);
    assert!(said.is_empty(), "{said:?}");
    assert!(behind_tls.rest().is_some(), "behind TLS: kept for ever");
    assert!(began.elapsed() < Duration::from_secs(6), "behind TLS: {:?}", began.elapsed());
    assert!(before_tls.rest().is_some(), "before TLS: kept for ever");
    assert!(began.elapsed() < Duration::from_secs(15), "before TLS: {:?}", began.elapsed());
}

#[test]
fn whoever_agrees_on_http_2_and_then_says_nothing_is_not_kept() {
    let (_origin, gateway) = start();
    let certificate = tls::certificate(gateway.directory());
    let connect = || tls::connect_for(b"h2", gateway.tls_addr(), "shop.example", &certificate);
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let mut kept =
        [("nothing", &b""[..]), ("half a greeting", &preface[..9]), ("a greeting", preface)].map(
            |(name, said)| {
                let mut connection = connect().patient(Duration::from_secs(14));
                connection.send(said);
                (name, connection)
            },
        );
    for (name, connection) in &mut kept {
        assert!(connection.rest().is_some(), "{name}: kept for ever");
    }
}

#[test]
fn an_idle_connection_is_closed_whoever_answered_last() {
    let (_origin, gateway) = start();
    let mut ann = Visitor::new(&gateway);
    assert!(ann.open("/").is_from_origin());
    let mut asked = [
        ("forwarded", ann.dress(Request::get("/part"))),
        ("answered", Request::get("/part")),
        ("a call", Request::get("/.anteroom/health")),
        ("sent", ann.dress(Request::post("/upload", "x"))),
    ]
    .map(|(name, request)| {
        let mut connection = gateway.connect();
        connection.ask(&request);
        (name, connection)
    });
    let mut second = Http2::open(&gateway);
    assert_eq!(second.ask(&Request::get("/.anteroom/health")).status, 200);
    let began = Instant::now();
    for (name, connection) in &mut asked {
        let (_, said) = ends_after(connection);
        assert!(said.is_empty(), "{name}: {}", String::from_utf8_lossy(&said));
        assert_about_a_second(began.elapsed());
    }
    assert!(second.ends(Duration::from_secs(8)), "HTTP/2 is kept for ever");
}

#[test]
fn a_body_that_stops_over_http_2_is_cut_off() {
    let (origin, gateway) = start();
    let mut ann = Visitor::secure(&gateway);
    assert!(ann.open("/").is_from_origin());
    let mut door = Http2::open(&gateway);
    stalls(&mut door, &ann.dress(Request::new("POST", "/upload")));
    let whole = origin.seen_at("/upload").into_iter().filter(|seen| seen.problem.is_none()).count();
    assert_eq!(whole, 0);
}

#[test]
fn a_call_whose_body_stops_over_http_2_is_cut_off() {
    let (_origin, gateway) = start();
    let mut door = Http2::open(&gateway);
    stalls(&mut door, &Request::new("POST", "/.anteroom/v1/queue/join"));
}

/// A body that does not come ends in a refusal, by status or by a reset, and soon.
#[track_caller]
fn stalls(door: &mut Http2, request: &Request) {
    let began = Instant::now();
    if let Ok(answer) = door.stall(request) {
        assert!((400..500).contains(&answer.status), "{answer:?}");
    }
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

#[test]
fn a_body_that_stops_is_cut_off() {
    let (origin, gateway) = start();
    let mut ann = Visitor::new(&gateway);
    assert!(ann.open("/").is_from_origin());
    for (name, head) in [
        ("forwarded", ann.dress(Request::new("POST", "/upload")).with("Content-Length", "1000")),
        (
            "chunked",
            ann.dress(Request::new("POST", "/upload")).with("Transfer-Encoding", "chunked"),
        ),
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

#[test]
fn a_call_whose_body_stops_is_cut_off_and_is_no_error_of_ours() {
    let (_origin, gateway) = start();
    let mut connection = gateway.connect();
    let head = Request::new("POST", "/.anteroom/v1/queue/join").with("Content-Length", "1000");
    connection.send(&head.bytes());
    connection.send(b"{");
    let (took, said) = ends_after(&mut connection);
    assert_about_a_second(took);
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(said.is_empty() || said.starts_with("HTTP/1.1 408 "), "{said}");
    let log = gateway.log().text();
    assert!(!log.contains("\"level\":\"error\""), "{log}");
}
