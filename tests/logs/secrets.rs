//! A day of all kinds of traffic, with everything told that can be told: and no key, ticket, pass, cookie or password in it.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::saying;
use crate::support::forge::{keys_of, pass_like};
use crate::support::http2::Http2;
use crate::support::operator::{ADMIN, OPERATOR, VIEWER};
use crate::support::redis::RedisServer;
use crate::support::websocket::WebSocket;
use crate::support::{Config, Gateway, Operator, Origin, Request, Response, Visitor};

const SIGNING: &str = "the signing secret of a day, which nobody may see";
const PASS: &str = "the pass secret of a day, which origins share with us";
const OTHER: &str = "a secret in the wrong place of a bad file";
const REDIS: &str = "the-password-of-a-redis";
const PROBE: &str = "a-probe-that-nobody-guesses";
const WRONG: &str = "a-wrong-key-that-somebody-tried";
const SESSION: &str = "the-session-of-the-site-itself";
const CARD: &str = "4111-1111-1111-1111";

/// Everything that must not be told.
#[derive(Default)]
struct Secrets(BTreeSet<String>);

impl Secrets {
    /// Notes every token in a text: all of ours begin with the same letters.
    fn note(&mut self, text: &str) {
        let word = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        for token in text.split(|c| !word(c)).filter(|found| found.starts_with("eyJ")) {
            self.0.insert(token.to_owned());
            // Each part is enough to be a danger; the first is the same in all.
            let parts = token.split('.').skip(1).filter(|part| part.len() > 16);
            self.0.extend(parts.map(str::to_owned));
        }
    }

    fn read(&mut self, response: Response) -> Response {
        self.note(&format!("{:?} {}", response.headers, response.text()));
        response
    }
}

/// A gateway before a Redis that wants a password, and all that it was told.
struct Day {
    origin: Origin,
    redis: RedisServer,
    gateway: Gateway,
    secrets: Secrets,
}

impl Day {
    fn begin() -> Day {
        let redis = RedisServer::setup().password(REDIS).start();
        let origin = Origin::start();
        let bypass = format!("bypass = [{{ header = \"x-probe: {PROBE}\" }}]");
        let room =
            format!("hosts = [\"shop.example\"]\nmax_active = 3\nsingle_use = true\n{bypass}");
        let keys = format!(
            "[keys]\nsigning = [{{ id = \"k1\", secret = \"{SIGNING}\" }}]\npass = [{{ id = \"p1\", secret = \"{PASS}\" }}]\n"
        );
        let config = Config::new(&[origin.address().to_string()])
            .without_keys()
            .room("sale", &room)
            .limits("requests_per_ticket = \"40/m\"\njoin_per_address = \"60/m\"")
            .room("open", "hosts = [\"open.example\"]\nmax_active = 100")
            .room("acme/drop", "hosts = []\nmode = \"hold\"")
            .store_at(&redis.url())
            .store(&format!("password = \"{REDIS}\""))
            .tls()
            .tables(&keys)
            .tables("[log]\nlevel = \"trace\"\naccess = \"all\"");
        let gateway = Gateway::start(config);
        let mut secrets = Secrets::default();
        let known =
            [SIGNING, PASS, OTHER, REDIS, PROBE, WRONG, SESSION, CARD, VIEWER, OPERATOR, ADMIN];
        secrets.0.extend(known.map(str::to_owned));
        Day { origin, redis, gateway, secrets }
    }

    fn call(&mut self, name: &str, body: &Value) -> Value {
        let request = Request::call(&format!("/.anteroom/v1/{name}"), body);
        let answer = self.gateway.connect().ask(&request);
        self.secrets.read(answer).json()
    }

    fn get(&mut self, target: &str) -> Response {
        let answer = self.gateway.connect().ask(&Request::get(target));
        self.secrets.read(answer)
    }

    /// Apps: every call, well and badly.
    fn apps(&mut self) {
        let mut tickets = Vec::new();
        for device in ["d1", "d2", "d3", "d4", "d1"] {
            let body = json!({ "event_id": "sale", "device_id": device, "idempotencyKey": "once" });
            tickets.push(self.call("queue/join", &body));
        }
        let (pass, hasty) = (tickets[0]["token"].clone(), tickets[1]["queue_id"].clone());
        let waiting = tickets[3]["queue_id"].as_str().expect("a ticket").to_owned();
        for name in ["queue/status", "status"] {
            self.get(&format!("/.anteroom/v1/{name}?queue_id={waiting}"));
            self.get(&format!("/.anteroom/v1/{name}?queue_id={waiting}x"));
            self.get(&format!(
                "/.anteroom/v1/{name}?queue_id={pass}&event_id=sale",
                pass = pass.as_str().expect("a pass")
            ));
        }
        let bearer = Request::get("/.anteroom/v1/queue/status");
        let bearer = bearer.with("Authorization", &format!("Bearer {waiting}"));
        let answer = self.gateway.connect().ask(&bearer);
        self.secrets.read(answer);
        let mut stream = self.gateway.connect();
        let events = Request::get(&format!("/.anteroom/v1/queue/events?queue_id={waiting}"));
        stream.send(&events.bytes());
        assert_eq!(stream.read_head().status, 200);
        let chunk = stream.read_chunk();
        self.secrets.note(&String::from_utf8_lossy(&chunk));
        drop(stream);
        self.call("queue/heartbeat", &json!({ "queue_id": waiting }));
        for _ in 0..60 {
            self.call("queue/heartbeat", &json!({ "queue_id": hasty }));
        }
        let verify = json!({ "token": pass, "event_id": "sale" });
        assert_eq!(self.call("admission/verify", &verify)["valid"], true);
        let consume = json!({ "token": pass, "event_id": "sale", "consume": true });
        self.call("admission/verify", &consume);
        self.call("admission/verify", &consume);
        let forged = pass_like(pass.as_str().expect("a pass"), &keys_of(OTHER, "sale"), |_| {});
        self.secrets.note(&forged);
        self.call("admission/verify", &json!({ "token": forged, "event_id": "sale" }));
        for bad in [json!({ "token": waiting, "event_id": "sale" }), json!({ "token": 7 })] {
            self.call("admission/verify", &bad);
        }
        // An app at the site itself.
        let pass = pass.as_str().expect("a pass").to_owned();
        let site = Request::get(&format!("/page?pass={pass}")).with("X-Admission-Pass", &pass);
        let answer = self.gateway.connect().ask(&site);
        self.secrets.read(answer);
        self.call("admission/complete", &json!({ "token": pass }));
        self.call("admission/complete", &json!({ "token": waiting }));
        self.call("queue/leave", &json!({ "queue_id": waiting }));
        self.call("queue/leave", &json!({ "queue_id": format!("{waiting}x") }));
        // What can't be read, with tickets in it.
        for bad in [
            format!(
                "GET /.anteroom/v1/status?queue_id={waiting} HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"
            ),
            format!("GET /{waiting}\u{7f} HTTP/1.1\r\nHost: a\r\n\r\n"),
            format!("{waiting}\r\n\r\n"),
            format!(
                "POST /.anteroom/v1/queue/leave HTTP/1.1\r\nHost: shop.example\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n{{\"queue_id\":\"{waiting}\""
            ),
        ] {
            let mut connection = self.gateway.connect();
            connection.send(bad.as_bytes());
            connection.finish();
            let _ = connection.try_read(false);
        }
    }

    /// Browsers: pages, forms, forged cookies, both doors, a failing site.
    fn browsers(&mut self) {
        let origin_fails = ["/cut?key=hidden", "/reply?status=500"];
        let mut visitors: Vec<Visitor> = (0..4).map(|_| Visitor::secure(&self.gateway)).collect();
        for visitor in &mut visitors {
            visitor.keep("session", SESSION);
            let page = visitor.open(&format!("/checkout?card={CARD}"));
            self.secrets.read(page);
            let status = visitor.status();
            self.secrets.read(status);
            let form = visitor.submit(&format!("/order?card={CARD}"), &format!("card={CARD}"));
            self.secrets.read(form);
            for path in origin_fails {
                let failed = visitor.fetch(path);
                self.secrets.read(failed);
                let failed = visitor.submit(path, &format!("card={CARD}"));
                self.secrets.read(failed);
            }
        }
        let Some((name, good)) = visitors[0].token() else { panic!("a cookie") };
        let mut door = Http2::open(&self.gateway);
        for value in
            [good.clone(), format!("{good}x"), good[..good.len() - 2].to_owned(), "x".to_owned()]
        {
            self.secrets.note(&value);
            let mut mallory = Visitor::secure(&self.gateway);
            mallory.keep(&name, &value);
            let page = mallory.open("/again");
            self.secrets.read(page);
            let request = mallory.dress(Request::get(&format!("/h2?t={value}")).by_browser());
            let page = door.ask(&request);
            self.secrets.read(page);
        }
        let basic = Request::get("/basic").with("Authorization", &format!("Basic {SESSION}"));
        let answer = visitors[0].send(basic.with("x-probe", PROBE));
        self.secrets.read(answer);
        if let Ok(mut socket) = WebSocket::open(&visitors[0], &format!("/ws?card={CARD}")) {
            assert!(socket.echoes(CARD));
        }
        for command in ["extend", "nonsense", "complete", "revoke", "requeue"] {
            let mut visitor = Visitor::new(&self.gateway).at("open.example");
            for path in ["/".to_owned(), format!("/command?c={command}&card={CARD}")] {
                let page = visitor.open(&path);
                self.secrets.read(page);
            }
            let left = visitor.leave();
            self.secrets.read(left);
        }
        let rejoin = visitors[1].submit("/.anteroom/rejoin", "to=/checkout");
        self.secrets.read(rejoin);
        let resumed = visitors[1].open(&format!("/.anteroom/continue?to=/checkout?card={CARD}"));
        self.secrets.read(resumed);
        for seen in self.origin.seen() {
            self.secrets.note(&format!("{:?}", seen.headers));
        }
    }

    /// Operators, with right keys, wrong ones, and none.
    fn operators(&mut self) {
        Operator::new(&self.gateway).at("acme").does("/v1/rooms/drop/reset", &json!({}));
        for key in [VIEWER, OPERATOR, ADMIN, WRONG] {
            let operator = Operator::with_key(&self.gateway, key);
            for path in [
                "/v1/rooms",
                "/v1/rooms/sale",
                "/v1/rooms/sale/line",
                "/v1/nodes",
                "/metrics",
                "/health",
            ] {
                operator.get(path);
                operator.get(&format!("{path}?key={key}"));
            }
            for verb in ["pause", "resume", "reload"] {
                operator.post(&format!("/v1/rooms/sale/{verb}"), &json!({}));
            }
            operator.post("/v1/rooms/sale/release", &json!({ "count": 2 }));
            operator.post("/v1/rooms/sale/revoke", &json!({ "visitor": "1" }));
            operator.post("/v1/admin/release", &json!({ "event_id": "sale", "count": 1 }));
            let basic = Request::get("/v1/rooms").with("Authorization", &format!("Basic {key}"));
            Operator::nobody(&self.gateway).send(basic);
        }
    }

    /// Files that are no good, with secrets in the wrong place.
    fn reloads(&mut self) {
        let text = self.gateway.config().text();
        for bad in [
            text.replace("secret = ", "secert = "),
            text.replace(&format!("secret = \"{SIGNING}\""), &format!("secret = \"{OTHER}")),
            text.replace(
                &format!("secret = \"{SIGNING}\""),
                "secret = [\"a secret in the wrong place of a bad file\"]",
            ),
            text.replace(&format!("password = \"{REDIS}\""), &format!("passwort = \"{REDIS}\"")),
            text.replace("[log]", &format!("token = \"{OTHER}\"\n[log]")),
            text.replace("x-probe: ", "x-probe "),
        ] {
            assert_ne!(bad, text);
            assert!(!self.gateway.reload(&bad), "{bad}");
        }
        assert!(self.gateway.reload(&text));
    }

    /// The store is lost, and found.
    fn outage(&mut self) {
        self.redis.kill();
        self.gateway.events("store.lost", 1);
        for visitor in &mut [Visitor::secure(&self.gateway), Visitor::secure(&self.gateway)] {
            let page = visitor.open("/during");
            self.secrets.read(page);
            let status = visitor.status();
            self.secrets.read(status);
        }
        let joined = self.call("queue/join", &json!({ "event_id": "sale", "device_id": "late" }));
        assert_eq!(joined["status"], "provisional", "{joined}");
        self.redis.restart();
        self.gateway.events("store.back", 1);
    }
}

#[test]
fn no_secret_is_ever_told() {
    let mut day = Day::begin();
    day.apps();
    day.browsers();
    day.operators();
    day.reloads();
    day.outage();
    for event in [
        "queue.created",
        "queue.called",
        "queue.heartbeat",
        "queue.status_changed",
        "queue.idempotency_reuse",
        "queue.provisional",
        "admission.granted",
        "admission.spent",
        "admission.spent_again",
        "admission.renewed",
        "rate_limit.hit",
        "token.refused",
        "origin.command",
        "admin.release",
        "admin.refused",
        "config.refused",
        "store.silent",
        "access",
    ] {
        saying(&day.gateway, event, 1, |_| true);
    }
    assert_eq!(day.gateway.stop().code(), Some(0));
    let text = crate::support::eventually("the last line", || {
        Some(day.gateway.log().text()).filter(|text| text.contains("node.stopped"))
    });
    let tokens = day.secrets.0.iter().filter(|secret| secret.starts_with("eyJ")).count();
    assert!(tokens > 20, "{tokens} tokens");
    for secret in &day.secrets.0 {
        let line = text.lines().find(|line| line.contains(secret.as_str()));
        assert_eq!(line, None, "this must not be told: {secret}");
    }
    assert!(!text.contains("eyJ"), "nor any other token");
    assert!(!text.contains("queue_id=") && !text.contains("?card="), "nor a query");
}
