//! WebSockets: through, only with a pass, and for as long as the session lasts.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use crate::support::websocket::WebSocket;
use crate::support::{Config, Gateway, Origin, Request, Visitor, eventually, tls};

fn inside(room: &str) -> (Origin, Gateway, Visitor) {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", room).start();
    let mut ann = Visitor::new(&gateway);
    assert!(ann.open("/").is_from_origin());
    (origin, gateway, ann)
}

#[test]
fn a_websocket_goes_through() {
    let (origin, _gateway, ann) = inside("max_active = 1");
    let mut socket = WebSocket::open(&ann, "/ws").expect("a WebSocket");
    for text in ["hello", "", &"long ".repeat(5_000)] {
        assert!(socket.echoes(text));
    }
    let seen = origin.last();
    assert_eq!(seen.header("x-anteroom-room"), Some("sale"));
    assert_eq!(seen.header("cookie"), None);
}

#[test]
fn a_websocket_goes_through_over_tls() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1").tls().start();
    let mut ann = Visitor::secure(&gateway);
    assert!(ann.open("/").is_from_origin());
    let mut socket = WebSocket::open(&ann, "/ws").expect("a WebSocket");
    for text in ["hello", "", &"long ".repeat(5_000)] {
        assert!(socket.echoes(text));
    }
    assert_eq!(origin.last().header("x-forwarded-proto"), Some("https"));
}

#[test]
fn a_websocket_goes_through_to_a_server_with_a_certificate() {
    let origin = Origin::start();
    let directory = tempfile::tempdir().expect("a temporary directory");
    tls::write_pair(directory.path());
    let front = tls::Front::before(origin.address(), directory.path());
    let site = "tls = true\nsni = \"origin.shop.example\"\nhealth_interval = \"none\"\n\
                read_timeout = \"1s\"";
    let config = Config::new(&[front.address().to_string()]).site(site);
    let config = config.room("sale", "max_active = 1");
    let gateway = Gateway::start(config.trusting(&directory.path().join("cert.pem")));
    let mut ann = Visitor::new(&gateway);
    assert!(ann.open("/").is_from_origin());
    for target in ["/ws", "/ws?now=1"] {
        let mut socket = WebSocket::open(&ann, target).expect("a WebSocket");
        for text in ["hello", "", &"long ".repeat(5_000)] {
            assert!(socket.echoes(text), "{target}");
        }
        std::thread::sleep(Duration::from_secs(2));
        assert!(socket.echoes("still here"), "{target}");
    }
}

/// cloudflare/pingora#946: where the site's 101 is read before the end of the request's empty body, pingora alone takes
/// that end for the end of the WebSocket. The visitor sees a WebSocket that is closed with its first word.
#[test]
fn a_site_that_agrees_at_once_is_understood() {
    let (_origin, _gateway, ann) = inside("");
    let people: Vec<_> = (0..8)
        .map(|_| {
            let ann = ann.clone();
            std::thread::spawn(move || {
                let lives = |_: &usize| {
                    let socket = WebSocket::open(&ann, "/ws?now=1");
                    socket.is_ok_and(|mut socket| socket.echoes("hello"))
                };
                (0..100).filter(lives).count()
            })
        })
        .collect();
    let lived: usize = people.into_iter().map(|person| person.join().expect("no panic")).sum();
    assert_eq!(lived, 800);
}

/// Nobody takes the connection, and nobody refuses it: the queue of whoever listens is full.
#[test]
fn a_server_that_does_not_answer_is_given_up_in_time() {
    let deaf = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None);
    let deaf = deaf.expect("a socket");
    deaf.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).expect("a port");
    deaf.listen(0).expect("somebody who listens");
    let address = deaf.local_addr().ok().and_then(|address| address.as_socket());
    let address = address.expect("an address");
    let wait = Duration::from_millis(200);
    let waiting: Vec<TcpStream> =
        std::iter::from_fn(|| TcpStream::connect_timeout(&address, wait).ok()).take(20).collect();
    assert!(waiting.len() < 20, "the queue is never full");
    let config = Config::new(&[address.to_string()])
        .site("health_interval = \"none\"\nconnect_timeout = \"1s\"")
        .room("sale", "");
    let gateway = Gateway::start(config);
    let mut ann = Visitor::new(&gateway);
    assert_eq!(ann.open("/").status, 504, "a page");
    // Three tries of a second each. pingora alone gives such a connection twice the time.
    let began = Instant::now();
    let refused = WebSocket::open(&ann, "/ws").err().expect("no WebSocket");
    assert_eq!(refused.status, 504, "{refused:?}");
    assert!(began.elapsed() < Duration::from_millis(5_500), "{:?}", began.elapsed());
}

#[test]
fn not_without_a_pass() {
    let (origin, gateway, _ann) = inside("max_active = 1");
    origin.forget();
    let mut bob = Visitor::new(&gateway);
    let refused = WebSocket::open(&bob, "/ws").err().expect("no WebSocket");
    assert_eq!(refused.status, 503, "{refused:?}");
    bob.open("/");
    let refused = WebSocket::open(&bob, "/ws").err().expect("no WebSocket");
    assert_eq!(refused.status, 503, "{refused:?}");
    assert!(origin.seen().is_empty());
}

#[test]
fn an_open_websocket_keeps_its_seat_though_nothing_is_said() {
    let (_origin, gateway, ann) = inside("max_active = 1\nsession_idle = \"2s\"");
    let mut socket = WebSocket::open(&ann, "/ws").expect("a WebSocket");
    let mut bob = Visitor::new(&gateway);
    assert_eq!(bob.open("/").state().as_deref(), Some("waiting"));
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(4_500) {
        std::thread::sleep(Duration::from_millis(200));
        assert_eq!(bob.status().json()["status"], "waiting", "after {:?}", began.elapsed());
    }
    assert!(socket.echoes("still here"));
    drop(socket);
    bob.await_turn();
}

/// However short the deadlines are for whoever asks, and for whoever answers: these two are doing neither.
#[test]
fn silence_is_no_reason_to_close_it() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin)
        .room("sale", "max_active = 1")
        .site("health_interval = \"none\"\nread_timeout = \"1s\"")
        .tables("[bounds]\nbody_timeout = \"1s\"")
        .start();
    let mut ann = Visitor::new(&gateway);
    assert!(ann.open("/").is_from_origin());
    let mut socket = WebSocket::open(&ann, "/ws").expect("a WebSocket");
    assert!(socket.echoes("hello"));
    std::thread::sleep(Duration::from_secs(3));
    assert!(socket.echoes("still here"));
}

/// Before it is one, a WebSocket is a request like any other.
#[test]
fn a_site_that_does_not_agree_in_time_is_given_up() {
    let deaf = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = deaf.local_addr().expect("an address");
    let config = Config::new(&[address.to_string()])
        .site("health_interval = \"none\"\nread_timeout = \"500ms\"")
        .room("sale", "paths = [\"/guarded\"]");
    let gateway = Gateway::start(config);
    let began = Instant::now();
    let refused = WebSocket::open(&Visitor::new(&gateway), "/ws").err().expect("no WebSocket");
    assert_eq!(refused.status, 504, "{refused:?}");
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    drop(deaf);
}

/// Only WebSockets: what an origin and a visitor agree on otherwise would be a tunnel through the gateway.
#[test]
fn nobody_upgrades_to_anything_else() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "paths = [\"/guarded\"]").start();
    let h2c = || {
        Request::get("/echo")
            .with("Upgrade", "h2c")
            .with("HTTP2-Settings", "AAMAAABkAARAAAAAAAIAAAAA")
    };
    for connection in ["Upgrade, HTTP2-Settings", "Upgrade", "keep-alive", "close"] {
        let answer = gateway.connect().ask(&h2c().with("Connection", connection));
        assert!(answer.is_from_origin(), "{connection}: {answer:?}");
        let seen = origin.last();
        for gone in ["upgrade", "http2-settings"] {
            assert_eq!(seen.header(gone), None, "{connection}: {seen:?}");
        }
        let said = seen.header("connection").unwrap_or_default().to_ascii_lowercase();
        assert!(!said.contains("upgrade") && !said.contains("http2"), "{connection}: {said}");
    }
}

#[test]
fn it_is_closed_when_the_session_is_over() {
    let room = "max_active = 1\nsession_idle = \"2s\"\nsession_max = \"3s\"";
    let (_origin, gateway, ann) = inside(room);
    let began = Instant::now();
    let mut socket = WebSocket::open(&ann, "/ws").expect("a WebSocket");
    let mut chatty = WebSocket::open(&ann, "/ws?ms=100").expect("another");
    let mut bob = Visitor::new(&gateway);
    assert_eq!(bob.open("/").state().as_deref(), Some("waiting"));
    assert_eq!(socket.hear(), None, "closed, though nothing was said");
    while chatty.hear().is_some() {}
    let lasted = began.elapsed();
    assert!(lasted > Duration::from_millis(1_800), "{lasted:?}");
    assert!(lasted < Duration::from_secs(8), "{lasted:?}");
    bob.await_turn();
}

#[test]
fn it_is_closed_by_a_revocation() {
    let (_origin, _gateway, ann) = inside("max_active = 1");
    let mut socket = WebSocket::open(&ann, "/ws").expect("a WebSocket");
    assert!(socket.echoes("hello"));
    let began = Instant::now();
    assert!(ann.clone().open("/command?c=revoke").is_from_origin());
    assert_eq!(socket.hear(), None);
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
}

#[test]
fn when_the_visitor_goes_the_origin_hears_of_it() {
    let (origin, gateway, ann) = inside("max_active = 1\nsession_idle = \"1s\"");
    let mut sockets: Vec<WebSocket> =
        (0..3).map(|_| WebSocket::open(&ann, "/ws").expect("a WebSocket")).collect();
    assert!(sockets[0].echoes("hello"));
    let accepted = origin.accepted();
    drop(sockets);
    // The seat is free again only if nobody takes those for still open.
    let mut bob = Visitor::new(&gateway);
    bob.open("/");
    eventually("bob is let in", || bob.open("/").is_from_origin().then_some(()));
    assert!(origin.accepted() >= accepted);
}
