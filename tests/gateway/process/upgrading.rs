//! `serve --upgrade`: another process takes over, and nobody notices.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::client::Missing;
use crate::support::forge::number;
use crate::support::gateway::{Former, Plan};
use crate::support::http2::Http2;
use crate::support::redis::RedisServer;
use crate::support::site::pattern;
use crate::support::websocket::WebSocket;
use crate::support::{
    Connection, Gateway, Operator, Origin, PATIENCE, Request, Response, Visitor, eventually, tls,
};

fn start(origin: &Origin) -> Gateway {
    let plan = Gateway::before(origin).room("sale", "max_active = 1").embedded();
    plan.top("upgrade_socket = \"upgrade.sock\"").tls().start()
}

/// How somebody is connected.
enum Wire {
    /// Anew for every request.
    Once,
    /// As long as it lasts.
    Kept(Option<Connection>),
    /// The same over TLS.
    Secure(Option<Connection>),
    /// The same by HTTP/2.
    Second(Option<Http2>),
}

/// Where, and with whose certificate.
#[derive(Clone)]
struct Door {
    plain: SocketAddr,
    secure: SocketAddr,
    certificate: Vec<u8>,
}

/// Sends a request. Without a byte of an answer it was not heard: the connection was being closed.
fn over(connection: &mut Connection, request: &Request) -> Result<Response, Missing> {
    // Whoever closes it may say something first.
    let _ = connection.try_send(&request.bytes());
    connection.try_read(false)
}

impl Wire {
    /// Asks, and once more where a connection that was kept is closed before it answers: as every client must that keeps
    /// connections. Whether it had to.
    fn ask(&mut self, door: &Door, request: &Request) -> (bool, Result<Response, String>) {
        let again = match self {
            Wire::Once => None,
            Wire::Kept(kept) | Wire::Secure(kept) => kept.take().map(|mut connection| {
                let answer = over(&mut connection, request);
                *kept = Some(connection);
                match answer {
                    Err(Missing::Closed(0)) => None,
                    answer => Some(answer.map_err(|missing| format!("{missing:?}"))),
                }
            }),
            // What is told to go in time sends nothing on it any more: whatever was sent is answered.
            Wire::Second(kept) => kept
                .as_mut()
                .and_then(|connection| connection.ask_if_open(request))
                .map(|answer| Some(answer.map_err(|error| error.to_string()))),
        };
        let (again, answer) = match again {
            Some(Some(answer)) => (false, answer),
            first => (first.is_some(), self.ask_anew(door, request)),
        };
        if answer.as_ref().is_ok_and(|answer| answer.header("connection") == Some("close")) {
            *self = match self {
                Wire::Kept(_) => Wire::Kept(None),
                Wire::Secure(_) => Wire::Secure(None),
                Wire::Once | Wire::Second(_) => return (again, answer),
            };
        }
        (again, answer)
    }

    fn ask_anew(&mut self, door: &Door, request: &Request) -> Result<Response, String> {
        let mut once = None;
        let (kept, mut connection) = match self {
            Wire::Once => (&mut once, Connection::open(door.plain)),
            Wire::Kept(kept) => (kept, Connection::open(door.plain)),
            Wire::Secure(kept) => {
                (kept, tls::connect(door.secure, "shop.example", &door.certificate))
            }
            Wire::Second(kept) => {
                let connection = kept.insert(Http2::to(door.secure, &door.certificate));
                return connection.try_ask(request).map_err(|error| error.to_string());
            }
        };
        let answer = over(&mut connection, request).map_err(|missing| format!("{missing:?}"));
        *kept = Some(connection);
        answer
    }
}

/// People who come and go while something happens.
struct Crowd {
    stop: Arc<AtomicBool>,
    asked: Arc<AtomicUsize>,
    /// Requests that had to be sent once more, for want of a connection.
    again: Arc<AtomicUsize>,
    /// Orders that were answered.
    orders: Arc<AtomicUsize>,
    failed: Arc<Mutex<Vec<String>>>,
    numbers: Arc<Mutex<Vec<u64>>>,
    people: Vec<std::thread::JoinHandle<()>>,
}

impl Crowd {
    fn start(gateway: &Gateway, inside: &Visitor, waiting: &Visitor) -> Crowd {
        let mut crowd = Crowd {
            stop: Arc::default(),
            asked: Arc::default(),
            again: Arc::default(),
            orders: Arc::default(),
            failed: Arc::default(),
            numbers: Arc::default(),
            people: Vec::new(),
        };
        let page = inside.dress(Request::get("/echo"));
        // The same visitor: over TLS the cookie has another name.
        let mut secure = Visitor::secure(gateway);
        let (name, pass) = inside.token().expect("a pass");
        secure.keep(&format!("__Host-{name}"), &pass);
        let secure_page = secure.dress(Request::get("/echo"));
        let poll = waiting.dress(Request::get("/.anteroom/v1/queue/status"));
        let ticket = waiting.token().expect("a ticket").1;
        let beat = Request::call("/.anteroom/v1/queue/heartbeat", &json!({ "queue_id": ticket }));
        let kept = || Wire::Kept(None);
        for (name, wire, request) in [
            ("inside", Wire::Once, &page),
            ("poll", Wire::Once, &poll),
            ("beat", Wire::Once, &beat),
            ("inside, kept", kept(), &page),
            ("poll, kept", kept(), &poll),
            ("beat, kept", kept(), &beat),
            ("inside, over TLS", Wire::Secure(None), &secure_page),
            ("beat, over TLS", Wire::Secure(None), &beat),
            ("inside, by HTTP/2", Wire::Second(None), &secure_page),
            ("beat, by HTTP/2", Wire::Second(None), &beat),
        ] {
            let request = request.clone();
            crowd.person(gateway, name, wire, move |_| request.clone());
        }
        // None of them may be sent twice.
        for (name, wire) in [
            ("orders, kept", kept()),
            ("orders, over TLS", Wire::Secure(None)),
            ("orders, by HTTP/2", Wire::Second(None)),
        ] {
            let dress = if matches!(wire, Wire::Kept(_)) { inside } else { &secure };
            let order = dress.dress(Request::post("/upload", "an order"));
            crowd.person(gateway, name, wire, move |_| order.clone());
        }
        for (person, wire) in
            [Wire::Once, kept(), Wire::Secure(None), Wire::Second(None)].into_iter().enumerate()
        {
            let join = move |n: usize| {
                let device = format!("device {person} {n}");
                let body = json!({ "event_id": "sale", "device_id": device });
                Request::call("/.anteroom/v1/queue/join", &body)
            };
            crowd.person(gateway, "join", wire, join);
        }
        crowd
    }

    fn person(
        &mut self,
        gateway: &Gateway,
        name: &'static str,
        mut wire: Wire,
        request: impl Fn(usize) -> Request + Send + 'static,
    ) {
        let certificate = tls::certificate(gateway.directory());
        let door = Door { plain: gateway.addr(), secure: gateway.tls_addr(), certificate };
        let (stop, asked) = (self.stop.clone(), self.asked.clone());
        let (again, orders) = (self.again.clone(), self.orders.clone());
        let (failed, numbers) = (self.failed.clone(), self.numbers.clone());
        self.people.push(std::thread::spawn(move || {
            for n in 0.. {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                let (twice, answer) = wire.ask(&door, &request(n));
                again.fetch_add(usize::from(twice), Ordering::Relaxed);
                asked.fetch_add(1, Ordering::Relaxed);
                match answer {
                    Ok(answer) if answer.status == 200 => {
                        orders
                            .fetch_add(usize::from(name.starts_with("orders")), Ordering::Relaxed);
                        if let Some(ticket) = answer.json()["queue_id"].as_str() {
                            numbers.lock().expect("no panic").push(number(ticket));
                        }
                    }
                    other => {
                        failed.lock().expect("no panic").push(format!("{name} {n}: {other:?}"))
                    }
                }
                std::thread::sleep(Duration::from_millis(3));
            }
        }));
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }

    /// Waits for so many more requests.
    #[track_caller]
    fn goes_on(&self, more: usize) {
        let from = self.asked();
        eventually("the crowd goes on", || (self.asked() >= from + more).then_some(()));
    }

    /// Ends it: how many requests there were, how many of them twice, how many orders; what failed, and the numbers of who joined.
    fn end(self) -> ([usize; 3], Vec<String>, Vec<u64>) {
        self.stop.store(true, Ordering::Relaxed);
        for person in self.people {
            person.join().expect("no panic");
        }
        let failed = self.failed.lock().expect("no panic").clone();
        let numbers = self.numbers.lock().expect("no panic").clone();
        let counts = [&self.asked, &self.again, &self.orders];
        (counts.map(|count| count.load(Ordering::Relaxed)), failed, numbers)
    }
}

#[test]
fn under_load_not_one_request_fails_and_the_line_goes_on() {
    let origin = Origin::start();
    let mut gateway = start(&origin);
    let address = gateway.addr();
    let [mut ann, mut bob] = [(); 2].map(|()| Visitor::new(&gateway));
    assert!(ann.open("/").is_from_origin());
    assert!(ann.open("/").is_from_origin());
    let label = bob.open("/").shown("label");
    let crowd = Crowd::start(&gateway, &ann, &bob);
    crowd.goes_on(100);
    let mut busy = gateway.connect();
    busy.send(&ann.dress(Request::get("/slow?ms=1000")).bytes());
    eventually("it is under way", || (!origin.seen_at("/slow").is_empty()).then_some(()));
    for _ in 0..4 {
        let mut former = gateway.upgrade();
        assert_eq!(gateway.addr(), address, "the same socket");
        crowd.goes_on(100);
        assert_eq!(former.wait().code(), Some(0), "{}", former.log().text());
        crowd.goes_on(100);
    }
    assert!(busy.read().is_from_origin(), "what was under way is finished by the old process");
    let ([asked, again, orders], failed, mut numbers) = crowd.end();
    assert_eq!(again, 0, "so many of {asked} had to be sent again");
    assert!(
        failed.is_empty(),
        "{} of {asked} failed: {:#?}",
        failed.len(),
        &failed[..failed.len().min(5)]
    );
    assert_eq!(origin.seen_at("/upload").len(), orders, "every order once");
    assert_eq!(bob.open("/").shown("label"), label);
    assert_eq!(bob.position(), 1);
    assert!(ann.open("/").is_from_origin());
    // Everybody who joined has a number of their own; polls and heartbeats of bob repeat his.
    let bobs = number(&bob.token().expect("a ticket").1);
    numbers.retain(|number| *number != bobs);
    let count = numbers.len();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), count, "a number was given twice");
    ann.complete();
    bob.await_turn();
    assert!(bob.open("/").is_from_origin());
}

/// Nobody may send an order twice: one that is on its way over a connection that was kept is answered, as its last. What
/// takes long is finished by the process that began it.
#[test]
fn what_is_on_its_way_is_answered_and_what_goes_on_goes_on() {
    const LENGTH: usize = 50_000_000;
    let origin = Origin::start();
    let plan = Gateway::before(&origin).room("sale", "max_active = 1").embedded();
    let mut gateway = plan.top("upgrade_socket = \"upgrade.sock\"\ngrace = \"5m\"").start();
    let mut ann = Visitor::new(&gateway);
    assert!(ann.open("/").is_from_origin());
    assert!(ann.open("/").is_from_origin());
    let mut socket = WebSocket::open(&ann, "/ws").expect("a WebSocket");
    assert!(socket.echoes("before"));
    // More than fits between the two while nobody reads it.
    let mut download = gateway.connect();
    download.send(&ann.dress(Request::get(&format!("/download?bytes={LENGTH}"))).bytes());
    assert_eq!(download.read_head().status, 200);
    let order = ann.dress(Request::post("/upload", "an order"));
    let address = gateway.addr();
    let orders = std::thread::spawn(move || {
        let (mut connection, began) = (Connection::open(address), Instant::now());
        for nth in 1.. {
            let answer = connection.ask(&order);
            assert!(answer.is_from_origin(), "{nth}: {answer:?}");
            if answer.header("connection") == Some("close") {
                return nth;
            }
            assert!(began.elapsed() < 6 * PATIENCE, "it is never told to go");
        }
        0
    });
    let sent = || origin.seen_at("/upload").len();
    eventually("orders are sent", || (sent() >= 3).then_some(()));
    let mut former = gateway.upgrade();
    let answered: usize = orders.join().expect("every order is answered");
    assert_eq!(sent(), answered, "each of them once");
    assert!(socket.echoes("after"), "a WebSocket stays");
    let body = download.read_exactly(LENGTH, Instant::now() + 2 * PATIENCE).expect("all of it");
    assert!(body == pattern(LENGTH), "a download goes on");
    assert!(ann.open("/").is_from_origin(), "and the new process knows who is inside");
    assert!(socket.echoes("still"));
    drop((socket, download));
    assert_eq!(former.wait().code(), Some(0), "{}", former.log().text());
}

/// A room for one, who is connected while the process is relieved; the process before, too.
fn connected_through(plan: Plan) -> (Gateway, Former, Visitor, WebSocket) {
    let plan = plan.room("sale", "max_active = 1\nsession_idle = \"2s\"");
    let mut gateway = plan.top("upgrade_socket = \"upgrade.sock\"\ngrace = \"5m\"").start();
    let mut ann = Visitor::new(&gateway);
    assert!(ann.open("/").is_from_origin());
    let mut socket = WebSocket::open(&ann, "/ws").expect("a WebSocket");
    assert!(socket.echoes("before"));
    let former = gateway.upgrade();
    assert!(socket.echoes("after"));
    (gateway, former, ann, socket)
}

#[test]
fn a_connection_that_stays_behind_keeps_its_seat_where_nodes_share_a_store() {
    let (redis, origin) = (RedisServer::start(), Origin::start());
    let plan = Gateway::before(&origin).with(|config| config.store_at(&redis.url()));
    let (gateway, mut former, ann, mut socket) = connected_through(plan);
    let mut bob = Visitor::new(&gateway);
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(5) {
        assert!(socket.echoes("still"), "after {:?}", began.elapsed());
        assert_eq!(bob.open("/").state().as_deref(), Some("waiting"), "the seat is taken");
        std::thread::sleep(Duration::from_millis(100));
    }
    let revoked =
        format!("/v1/rooms/sale/visitors/{}/revoke", number(&ann.token().expect("a pass").1));
    let began = Instant::now();
    assert_eq!(Operator::new(&gateway).does(&revoked, &json!({}))["done"], true);
    while socket.echoes("still") {
        assert!(began.elapsed() < Duration::from_secs(1), "a revocation ends it as any other");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(former.wait().code(), Some(0), "{}", former.log().text());
}

#[test]
fn a_connection_that_stays_behind_ends_with_its_seat_where_one_process_has_the_store() {
    let origin = Origin::start();
    let (gateway, mut former, _, mut socket) =
        connected_through(Gateway::before(&origin).embedded());
    let mut bob = Visitor::new(&gateway);
    eventually("the seat is free", || bob.open("/").is_from_origin().then_some(()));
    eventually("nobody is in on it any more", || (!socket.echoes("still")).then_some(()));
    assert_eq!(former.wait().code(), Some(0), "{}", former.log().text());
}

#[test]
fn a_new_process_that_cannot_start_changes_nothing() {
    let origin = Origin::start();
    let gateway = start(&origin);
    let mut ann = Visitor::new(&gateway);
    assert!(ann.open("/").is_from_origin());
    let path = gateway.directory().join("anteroom.toml");
    let good = std::fs::read_to_string(&path).expect("the file");
    std::fs::write(&path, good.replace("max_active = 1", "max_active = 0")).expect("a file");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_anteroom"));
    command.args(["serve", "--upgrade", "-c"]).arg(&path);
    let output = command.output().expect("it ends by itself");
    assert_eq!(output.status.code(), Some(64), "{output:?}");
    assert!(ann.open("/").is_from_origin());
    let mut bob = Visitor::new(&gateway);
    assert_eq!(bob.open("/").state().as_deref(), Some("waiting"));
}

/// Its file is good, and it holds the sockets already, when a name in it turns out to lead nowhere.
#[test]
fn a_new_process_that_fails_with_the_sockets_in_its_hands_changes_nothing() {
    let origin = Origin::start();
    let mut gateway = start(&origin);
    let mut ann = Visitor::new(&gateway);
    assert!(ann.open("/").is_from_origin());
    let path = gateway.directory().join("anteroom.toml");
    let good = std::fs::read_to_string(&path).expect("the file");
    let server = origin.address().to_string();
    std::fs::write(&path, good.replace(&server, "no-such.invalid:80")).expect("a file");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_anteroom"));
    command.args(["serve", "--upgrade", "-c"]).arg(&path).current_dir(gateway.directory());
    let output = command.output().expect("it ends by itself");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("no-such.invalid"), "{output:?}");
    eventually("the old one heard of it", || {
        gateway.log_contains("a process that would take over did not").then_some(())
    });
    assert!(ann.open("/").is_from_origin());
    let mut bob = Visitor::new(&gateway);
    assert_eq!(bob.open("/").state().as_deref(), Some("waiting"));
    // And a better one may still come.
    std::fs::write(&path, good).expect("a file");
    let mut former = gateway.upgrade();
    assert_eq!(former.wait().code(), Some(0), "{}", former.log().text());
    assert!(ann.open("/").is_from_origin());
    assert_eq!(bob.open("/").state().as_deref(), Some("waiting"));
}

#[test]
fn where_nobody_is_to_be_relieved_it_simply_starts() {
    let origin = Origin::start();
    let mut gateway = start(&origin);
    assert_eq!(gateway.stop().code(), Some(0));
    let mut former = gateway.upgrade();
    assert_eq!(former.wait().code(), Some(0));
    assert!(Visitor::new(&gateway).open("/").is_from_origin());
}
