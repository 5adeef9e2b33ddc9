//! The visitor API, call by call, over a real line in memory. No sockets: the doors have tests of their own.

mod asking;
mod cost;
mod hostile;
mod joining;
mod leaving;
mod losing;
mod sharing;
mod streaming;
mod verifying;

use std::collections::HashMap;
use std::net::IpAddr;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anteroom::gateway::access::Access;
use anteroom::gateway::answer::Response;
use anteroom::gateway::api;
use anteroom::gateway::entrance::{Entrance, Identity};
use anteroom::gateway::head::{Client, Head};
use anteroom::gateway::live::Live;
use anteroom::gateway::route::{Guard, Routes};
use anteroom::gateway::settings::{self, Bind, Bounds, Cookies, Limits, Loss};
use anteroom::line::{Command, JoinLimit, Mode, Offer, Pace, Rate, Settings, Subject};
use anteroom::page::{Look, Pages};
use anteroom::room::{Proof, Room};
use anteroom::store::{Memory, Store};
use anteroom::token::{Key, KeyRing, Secret};
use serde_json::Value;
use tokio::time::timeout;

use crate::support::shaky::Shaky;

const START_MS: u64 = 1_800_000_000_000;
const HOST: &str = "shop.example";

/// A request's head.
#[derive(Clone, Debug)]
pub struct Asked {
    method: String,
    target: String,
    host: String,
    headers: Vec<(String, Vec<u8>)>,
}

impl Head for Asked {
    fn method(&self) -> &str {
        &self.method
    }
    fn target(&self) -> &str {
        &self.target
    }
    fn host(&self) -> &str {
        &self.host
    }
    fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        let named = self.headers.iter().filter(move |(other, _)| other == name);
        named.map(|(_, value)| value.as_slice())
    }
}

impl Asked {
    fn new(method: &str, call: &str) -> Asked {
        let target = format!("/.anteroom/v1/{call}");
        Asked { method: method.into(), target, host: HOST.into(), headers: Vec::new() }
    }

    fn with(mut self, name: &str, value: impl Into<Vec<u8>>) -> Asked {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    fn on(mut self, host: &str) -> Asked {
        self.host = host.to_owned();
        self
    }

    /// By a page of the site itself.
    fn of_our_page(self) -> Asked {
        self.with("sec-fetch-site", "same-origin")
    }
}

fn get(call: &str) -> Asked {
    Asked::new("GET", call)
}

fn post(call: &str) -> Asked {
    Asked::new("POST", call).with("content-type", "application/json")
}

/// An answer, its body read as JSON.
#[derive(Debug)]
struct Told {
    status: u16,
    response: Response,
    body: Value,
}

impl Told {
    fn new(response: Response) -> Told {
        assert_eq!(response.header("cache-control"), Some("no-store, private"));
        let body = match response.header("content-type") {
            Some("application/json") => serde_json::from_slice(&response.body).expect("JSON"),
            _ => Value::Null,
        };
        if body.is_object() {
            let time = body["server_time"].as_str().expect("every answer says the time");
            assert!(time.len() == 24 && time.ends_with('Z'), "{time}");
        }
        let error = response.status >= 400;
        assert_eq!(body["error"].is_object(), error && body.is_object(), "{body}");
        Told { status: response.status, response, body }
    }

    fn code(&self) -> &str {
        self.body["error"]["code"].as_str().unwrap_or_default()
    }

    fn text(&self, field: &str) -> &str {
        self.body[field].as_str().unwrap_or_else(|| panic!("no {field} in {}", self.body))
    }

    fn is(&self, status: u16, code: &str) {
        assert_eq!((self.status, self.code()), (status, code), "{}", self.body);
    }

    /// How long to wait, in seconds.
    fn retry_after(&self) -> u64 {
        self.response.header("retry-after").expect("Retry-After").parse().expect("seconds")
    }
}

/// A gateway without doors.
struct House {
    live: Live,
    wall_ms: Arc<AtomicU64>,
    store: Arc<Shaky<Memory>>,
}

/// Nobody is let in but by hand, and yet nothing is paused.
fn by_hand() -> Pace {
    Pace::Rate { rate: Rate { count: 0, per_ms: 1_000 }, burst: 1 }
}

fn client(address: &str) -> Client {
    let address: IpAddr = address.parse().expect("an address");
    Client { address, peer: address, secure: true, vouched: false }
}

/// A room where everybody waits until they are let in by hand.
fn room(name: &str) -> settings::Room {
    settings::Room {
        guard: Guard {
            room: name.into(),
            origin: "shop".into(),
            hosts: Some(vec![HOST.into()]),
            ..Guard::default()
        },
        line: Settings { pace: Some(by_hand()), ..Settings::default() },
        version: 1,
        ticket_prefix: "A".into(),
        cookies: Cookies::Lax,
        cookie_domain: None,
        queued_status: 503,
        poll_max: Duration::from_secs(30),
        user_header: None,
        single_use: false,
        class_header: None,
        open_classes: Vec::new(),
        bind: Bind::default(),
        limits: Limits {
            requests_per_address: None,
            requests_per_ticket: None,
            places_per_address: None,
            events: 2,
        },
        look: Look { message: Some("Doors at \"nine\"".into()), ..Look::default() },
        webhook_url: None,
        rollout: 100,
    }
}

/// A room that lets in whoever comes, as long as there are seats.
fn open(name: &str, seats: Option<u64>) -> settings::Room {
    let mut room = room(name);
    room.line = Settings { max_active: seats, ..Settings::default() };
    room
}

fn limit(subject: Subject, max: u64) -> JoinLimit {
    JoinLimit { subject, max, per_ms: 60_000 }
}

/// Runs `work` with a gateway over these rooms.
fn house<T>(rooms: Vec<settings::Room>, work: impl AsyncFnOnce(&House) -> T) -> T {
    losing_house(rooms, Loss::default(), async |house: &House| {
        for room in house.live.entrances.values() {
            room.room.command(Command::Release(0)).await.expect("a line");
        }
        work(house).await
    })
}

/// The same, with something to be done about losing its store; nobody has asked it yet.
fn losing_house<T>(
    rooms: Vec<settings::Room>,
    loss: Loss,
    work: impl AsyncFnOnce(&House) -> T,
) -> T {
    // Time stands still while anything can be done, and jumps when nothing can: no test waits for it.
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build().expect("a runtime");
    runtime.block_on(async {
        let wall_ms = Arc::new(AtomicU64::new(START_MS));
        let clock = wall_ms.clone();
        let clock = Arc::new(move || clock.load(Ordering::SeqCst));
        let store = Shaky::around(Arc::new(Memory::new(clock, NonZeroU64::MIN)));
        let house = House { live: live(7, rooms, loss), wall_ms, store: store.clone() };
        let drivers = house.live.entrances.values().map(|entrance| {
            let (room, store) = (entrance.room.clone(), store.clone());
            tokio::spawn(async move { room.drive(&*store as &dyn Store).await })
        });
        let drivers: Vec<_> = drivers.collect();
        let deadline = Duration::from_secs(24 * 3_600);
        let done = timeout(deadline, work(&house)).await.expect("within the deadline");
        drivers.iter().for_each(tokio::task::JoinHandle::abort);
        done
    })
}

/// A gateway whose rooms nobody speaks for.
fn undriven(rooms: Vec<settings::Room>) -> House {
    let store = Shaky::around(Arc::new(Memory::new(Arc::new(|| START_MS), NonZeroU64::MIN)));
    House { live: live(7, rooms, Loss::default()), wall_ms: Arc::default(), store }
}

/// The rooms of a node, without anybody who drives them.
fn live(node: u128, rooms: Vec<settings::Room>, loss: Loss) -> Live {
    let secret = Secret::new("an example; `anteroom keygen` makes real ones").expect("long enough");
    let keys = KeyRing::new(vec![Key::new("k1", secret).expect("an id")], vec![]).expect("a ring");
    let guards = rooms.iter().map(|room| room.guard.clone()).collect();
    let entrances = rooms.into_iter().map(|settings| {
        let name = settings.guard.room.clone();
        let offer = Offer { version: 1, settings: settings.line.clone() };
        let room = Arc::new(Room::new(&*name, node, offer));
        let keys = keys.room(&name).expect("a room's name");
        (name, Arc::new(Entrance::new(room, keys, settings, 5_000, loss)))
    });
    Live {
        routes: Routes::new(guards, &[]),
        entrances: entrances.collect(),
        origins: HashMap::new(),
        trusted_proxies: Vec::new(),
        api_hosts: ["api.example".to_owned()].into(),
        pages: Pages::new("", &Look::default()),
        bounds: Bounds::default(),
        meters: Arc::default(),
        webhooks: Arc::default(),
        access: Access::default(),
    }
}

impl House {
    fn entrance(&self, room: &str) -> &Arc<Entrance> {
        &self.live.entrances[room]
    }

    /// Through the API, as a door does it.
    async fn ask_from(&self, client: Client, head: &Asked, body: &[u8]) -> Told {
        let endpoint = api::endpoint(&self.live, head).expect("a call of the API");
        if let Some(answer) = api::answer_now(&self.live, head, &client, endpoint) {
            return Told::new(answer);
        }
        let request = api::Request::of(&self.live, head);
        Told::new(api::call(&self.live, request, client, endpoint, body).await)
    }

    async fn ask(&self, head: &Asked, body: &str) -> Told {
        self.ask_from(client("192.0.2.1"), head, body.as_bytes()).await
    }

    /// A join of a device that must succeed.
    async fn join(&self, room: &str, device: &str) -> Told {
        let body = format!(r#"{{"event_id":"{room}","device_id":"{device}"}}"#);
        let told = self.ask(&post("queue/join"), &body).await;
        assert_eq!(told.status, 200, "{}", told.body);
        told
    }

    async fn status(&self, ticket: &str) -> Told {
        self.ask(&get(&format!("queue/status?queue_id={ticket}")), "").await
    }

    async fn heartbeat(&self, ticket: &str) -> Told {
        self.ask(&post("queue/heartbeat"), &format!(r#"{{"queue_id":"{ticket}"}}"#)).await
    }

    async fn command(&self, command: Command) {
        for entrance in self.live.entrances.values() {
            entrance.room.command(command.clone()).await.expect("a line");
        }
    }

    async fn release(&self, count: u64) {
        self.command(Command::Release(count)).await;
    }

    /// Time passes, and the line notices.
    async fn later(&self, seconds: u64) {
        for _ in 0..seconds.div_ceil(2) {
            self.wall_ms.fetch_add(2_000, Ordering::SeqCst);
            self.release(0).await;
        }
    }

    /// A page's cookie: with a ticket that nobody named a device for.
    async fn cookie(&self, room: &str) -> (String, Proof) {
        let entrance = self.entrance(room);
        let joined = entrance.room.join(None).await.expect("an answer");
        let anteroom::line::Joined::Given { epoch, first, joined_ms, .. } = joined else {
            panic!("{joined:?}");
        };
        let proof = Proof { epoch, number: first };
        let ticket = entrance.ticket(proof, joined_ms, &Identity::default());
        (format!("a=b; {}={ticket}", entrance.jar.name(true)), proof)
    }

    /// The cookie of somebody inside.
    async fn pass_cookie(&self, room: &str) -> (String, Proof) {
        let (_, proof) = self.cookie(room).await;
        self.release(1).await;
        let entrance = self.entrance(room);
        let Ok(anteroom::line::Claimed::Inside(terms)) = entrance.room.claim(proof).await else {
            panic!("not inside");
        };
        let pass = entrance.pass(proof, &terms, &Identity::default());
        (format!("{}={pass}", entrance.jar.name(true)), proof)
    }
}
