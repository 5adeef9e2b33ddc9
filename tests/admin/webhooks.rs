//! Letters to whoever wants to be told: each at least once, signed, and never in a visitor's way.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;

use super::{join, poll};
use crate::support::operator::OPERATOR;
use crate::support::redis::RedisServer;
use crate::support::{Config, Gateway, Operator, Origin, Request, eventually, within};

const SECRET: &str = "a-secret-of-the-tests-for-webhooks";

/// What came, and how it was signed.
#[derive(Clone, Debug)]
struct Heard {
    body: Value,
    text: String,
    id: String,
    signature: String,
}

/// Somebody who is told. Says no so many times first; `slow` before each answer.
struct Receiver {
    address: SocketAddr,
    heard: Arc<Mutex<Vec<Heard>>>,
    refusals: Arc<AtomicU64>,
    slow_ms: Arc<AtomicU64>,
}

impl Receiver {
    fn start() -> Receiver {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let heard: Arc<Mutex<Vec<Heard>>> = Arc::default();
        let (refusals, slow_ms) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let shared = (heard.clone(), refusals.clone(), slow_ms.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (heard, refusals, slow_ms) = shared.clone();
                std::thread::spawn(move || answer(stream, &heard, &refusals, &slow_ms));
            }
        });
        Receiver { address, heard, refusals, slow_ms }
    }

    fn heard(&self) -> Vec<Heard> {
        self.heard.lock().expect("not poisoned").clone()
    }

    #[track_caller]
    fn hears(&self, event: &str, count: usize) -> Vec<Heard> {
        within(Duration::from_secs(20), &format!("{count} letters of {event}"), || {
            let of = self.heard().into_iter().filter(|heard| heard.body["event"] == event);
            Some(of.collect::<Vec<_>>()).filter(|heard| heard.len() >= count)
        })
    }
}

/// Requests on one connection, one after the other.
fn answer(
    mut stream: TcpStream,
    heard: &Mutex<Vec<Heard>>,
    refusals: &AtomicU64,
    slow_ms: &AtomicU64,
) {
    let mut buffer = Vec::new();
    loop {
        let end = loop {
            if let Some(at) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
            let mut part = [0; 4096];
            match stream.read(&mut part) {
                Ok(0) | Err(_) => return,
                Ok(count) => buffer.extend_from_slice(&part[..count]),
            }
        };
        let head = String::from_utf8_lossy(&buffer[..end]).to_lowercase();
        let field = |name: &str| {
            let line = head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
            line.unwrap_or_default().trim().to_owned()
        };
        let length: usize = field("content-length").parse().unwrap_or(0);
        while buffer.len() < end + length {
            let mut part = [0; 4096];
            match stream.read(&mut part) {
                Ok(0) | Err(_) => return,
                Ok(count) => buffer.extend_from_slice(&part[..count]),
            }
        }
        let text = String::from_utf8_lossy(&buffer[end..end + length]).into_owned();
        buffer.drain(..end + length);
        std::thread::sleep(Duration::from_millis(slow_ms.load(Ordering::SeqCst)));
        let refuse =
            refusals.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        let status = if refuse.is_ok() { "500 No" } else { "204 Yes" };
        if refuse.is_err() {
            let body = serde_json::from_str(&text).expect("JSON");
            let (id, signature) = (field("x-anteroom-event-id"), field("x-anteroom-signature"));
            heard.lock().expect("not poisoned").push(Heard { body, text, id, signature });
        }
        if stream
            .write_all(format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").as_bytes())
            .is_err()
        {
            return;
        }
    }
}

fn config(origin: &Origin, receiver: &Receiver, room: &str) -> Config {
    let url = format!("webhook_url = \"http://{}/hook\"\n{room}", receiver.address);
    Config::new(&[origin.address().to_string()])
        .room("sale", &url)
        .tables(&format!("[webhooks]\nplain = true\nsecret = \"{SECRET}\""))
}

fn signed(heard: &Heard) -> bool {
    let fields: BTreeMap<&str, &str> =
        heard.signature.split(',').filter_map(|field| field.split_once('=')).collect();
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).expect("any length");
    mac.update(format!("{}.{}", fields["t"], heard.text).as_bytes());
    let hex: String =
        mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    fields["v1"] == hex
}

#[test]
fn an_admission_is_told_with_the_very_pass_that_the_visitor_has() {
    let (origin, receiver) = (Origin::start(), Receiver::start());
    let gateway = Gateway::start(config(&origin, &receiver, "mode = \"hold\""));
    let operator = Operator::with_key(&gateway, OPERATOR);
    let body = json!({ "event_id": "sale", "device_id": "dev_abc123", "user_id": "usr_xyz789" });
    let joined = gateway.connect().ask(&Request::call("/.anteroom/v1/queue/join", &body)).json();
    let ticket = joined["queue_id"].as_str().expect("a ticket");
    operator.does("/v1/rooms/sale/release", &json!({ "count": 1 }));
    let token = poll(&gateway, ticket)["token"].clone();
    assert!(token.is_string());
    let heard = receiver.hears("admission_granted", 1).remove(0);
    let body = &heard.body;
    assert_eq!(body["token"], token);
    assert_eq!((&body["event_id"], &body["device_id"]), (&json!("sale"), &json!("dev_abc123")));
    assert_eq!((&body["user_id"], &body["queue_id"]), (&json!("usr_xyz789"), &joined["queue_ref"]));
    assert!(body["issued_at"].is_string() && body["expires_at"].is_string(), "{body:#}");
    assert!(
        heard.id == body["id"].as_str().unwrap_or_default().to_lowercase() && signed(&heard),
        "{heard:?}"
    );
    let called = receiver.hears("called", 1).remove(0);
    assert_eq!(
        (&called.body["count"], &called.body["visitors"][0]["queue_id"]),
        (&json!(1), &joined["queue_ref"])
    );
    assert_eq!(receiver.hears("room_emptied", 1).len(), 1);
    operator.does("/v1/rooms/sale/pause", &json!({}));
    operator.does("/v1/rooms/sale/resume", &json!({}));
    receiver.hears("room_paused", 1);
    receiver.hears("room_resumed", 1);
    let open = Request {
        method: "PATCH".to_owned(),
        ..Request::call("/v1/rooms/sale", &json!({ "mode": "auto" }))
    };
    assert_eq!(operator.send(open).status, 200);
    receiver.hears("room_opened", 1);
    assert!(!gateway.log_contains(SECRET));
    let metrics = operator.get("/metrics").text();
    assert!(metrics.contains("anteroom_webhook_delivery_total{status=\"success\"}"), "{metrics}");
}

#[test]
fn a_receiver_that_fails_is_asked_again_and_nobody_waits_for_it() {
    let (origin, receiver) = (Origin::start(), Receiver::start());
    // Of two letters, the call and the admission, each is refused twice.
    receiver.refusals.store(4, Ordering::SeqCst);
    receiver.slow_ms.store(700, Ordering::SeqCst);
    let gateway = Gateway::start(config(&origin, &receiver, ""));
    let asked = Instant::now();
    assert!(gateway.connect().ask(&Request::get("/").by_browser()).is_from_origin());
    assert!(asked.elapsed() < Duration::from_millis(600), "nobody waits for a letter");
    let heard = receiver.hears("admission_granted", 1);
    assert!(asked.elapsed() > Duration::from_secs(3), "after a second, and after two");
    assert!(signed(&heard[0]));
    let seen = receiver.heard();
    let ids: std::collections::BTreeSet<&str> =
        seen.iter().map(|heard| heard.id.as_str()).collect();
    assert_eq!(ids.len(), seen.len(), "none twice: {seen:?}");
}

/// Nobody is there. Visitors enter; the letter is given up and counted; the line does not fill up.
#[test]
fn a_receiver_that_is_gone_costs_nobody_anything() {
    let origin = Origin::start();
    let receiver = Receiver::start();
    let gone = TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .expect("a port");
    let gateway = Gateway::start(config(&origin, &Receiver { address: gone, ..receiver }, ""));
    for _ in 0..5 {
        assert!(gateway.connect().ask(&Request::get("/").by_browser()).is_from_origin());
    }
    let operator = Operator::with_key(&gateway, OPERATOR);
    within(Duration::from_secs(40), "all are given up", || {
        let metrics = operator.get("/metrics").text();
        let failed = "anteroom_webhook_delivery_total{status=\"failure\"} ";
        let count = metrics.lines().find_map(|line| line.strip_prefix(failed)?.parse::<f64>().ok());
        (count >= Some(10.0)).then_some(())
    });
    assert_eq!(gateway.events("webhook.failed", 10).len(), 10);
}

/// A node takes letters and is killed before they are delivered: another one delivers them.
#[test]
fn letters_of_a_node_that_died_are_delivered_by_another() {
    let (redis, origin, receiver) = (RedisServer::start(), Origin::start(), Receiver::start());
    receiver.slow_ms.store(60_000, Ordering::SeqCst);
    let node = || Gateway::start(config(&origin, &receiver, "").store_at(&redis.url()));
    let first = node();
    eventually("a visitor is in", || {
        first.connect().ask(&Request::get("/").by_browser()).is_from_origin().then_some(())
    });
    let tickets = join(&first, "sale", 1);
    eventually("the letters are on their way", || {
        let waiting: Option<u64> = redis.ask(&["HGET", "anteroom:{sale}:state", "letters"]);
        (waiting >= Some(2)).then_some(())
    });
    drop((first, tickets)); // killed
    receiver.slow_ms.store(0, Ordering::SeqCst);
    // A lease is a minute on the room's clock: it is cut short here, or the test would wait for it.
    let second = node();
    eventually("the second node speaks", || {
        let members: Vec<Vec<u8>> = redis.ask(&["ZRANGE", "anteroom:{sale}:due", "0", "-1"]);
        let client = redis::Client::open(redis.url()).expect("an address");
        let mut connection = client.get_connection().expect("it is there");
        for member in &members {
            let mut due = redis::cmd("ZADD");
            due.arg("anteroom:{sale}:due").arg(0).arg(member);
            due.exec(&mut connection).expect("it is set");
        }
        (receiver.heard().iter().filter(|heard| heard.body["event"] == "admission_granted").count()
            >= 2)
            .then_some(())
    });
    drop(second);
}
