//! Many nodes, one line: whatever breaks, nobody loses their place, nobody overtakes, nobody is in twice.
//!
//! Three real nodes and a real Redis, thousands of people with cookies before them, and a judge who sees only what people
//! see ([`history`]), and one who reads in Redis how many seats are taken ([`seats`]). [`faults`] has a test for each thing that can break, and says what visitors saw meanwhile;
//! [`scenes`] and [`together`] have those that were asked for by name. [`calls`] counts what all that costs Redis, [`starting`] and
//! [`outgrown`] have one node that meets a Redis not made for it, [`moving`] a line that moves, [`adaptive`] a rate that follows the origin, [`classes`]
//! and [`ranks`] visitors with proof, [`drawing`] and [`appointed`] openings, [`game`] seats with names, [`sessions`] and [`revoked`] what ends a
//! visit, [`arrivals`] those who come in an outage that lasts, [`noshows`] those who do not come, [`switched`] what operators change meanwhile, [`windows`] batches at intervals.

mod adaptive;
mod appointed;
mod arrivals;
mod calls;
mod classes;
mod crowd;
mod drawing;
mod faults;
mod game;
mod history;
mod limits;
mod moving;
mod noshows;
mod outgrown;
mod ranks;
mod revoked;
mod scenes;
mod seats;
mod sessions;
mod site;
mod starting;
mod switched;
mod together;
mod windows;

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crowd::{Crowd, Party};
use history::{Event, Person, Summary, Terms};
use seats::Seats;
use serde_json::{Value, json};

use crate::support::redis::RedisServer;
use crate::support::{Config, Gateway, Operator, Origin, Request, Response, raise_open_files};

/// One at a time: each of these keeps the whole machine busy.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    raise_open_files();
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Two who came to different nodes in an outage may have their numbers the other way round if they came less than this apart: nodes
/// begin to play it again when they find the store, which they try once a second with a deadline of a second, and play it
/// twice as fast.
const ARRIVALS: Duration = Duration::from_secs(4);

/// A number in the state of the line, as it lies in Redis.
#[track_caller]
fn state(redis: &RedisServer, field: &str) -> u64 {
    let found: Option<u64> = redis.ask(&["HGET", "anteroom:{sale}:state", field]);
    found.unwrap_or(0)
}

/// Three nodes with this room, before one site and on one Redis.
fn three(room: &str) -> (RedisServer, Origin, Vec<Gateway>) {
    three_with(|config| config.room("sale", room))
}

/// The same, with whatever rooms are added.
fn three_with(rooms: impl FnOnce(Config) -> Config) -> (RedisServer, Origin, Vec<Gateway>) {
    let (redis, origin) = (RedisServer::start(), Origin::start());
    let config = rooms(Config::new(&[origin.address().to_string()])).store_at(&redis.url());
    let nodes = (0..3).map(|_| Gateway::start(config.clone())).collect();
    (redis, origin, nodes)
}

/// Somebody with an app joins a room.
fn join(node: &Gateway, room: &str, device: &str, more: &Value) -> Response {
    let mut body = json!({ "event_id": room, "device_id": device });
    let (Some(body_of), Some(more)) = (body.as_object_mut(), more.as_object()) else {
        panic!("objects")
    };
    body_of.extend(more.clone());
    node.connect().ask(&Request::call("/.anteroom/v1/queue/join", &body))
}

/// Where somebody with an app stands, as this node tells.
fn ask(node: &Gateway, ticket: &Value) -> Value {
    let ticket = ticket["queue_id"].as_str().expect("a ticket");
    let target = format!("/.anteroom/v1/queue/status?queue_id={ticket}");
    node.connect().ask(&Request::get(&target)).json()
}

/// An operator changes settings.
#[track_caller]
fn patch(operator: &Operator, room: &str, body: &Value) -> Value {
    let call = Request::call(&format!("/v1/rooms/{room}"), body);
    let answer = operator.send(Request { method: "PATCH".to_owned(), ..call });
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

/// Nodes that share a line, and the crowd before them.
struct Fleet {
    _alone: MutexGuard<'static, ()>,
    nodes: Vec<Gateway>,
    crowd: Crowd,
    seats: usize,
    people: usize,
    /// Who reads in Redis how many seats are taken.
    watched: Option<Seats>,
}

impl Fleet {
    /// A node for each of these stores, which are the same one seen from different ends; `room` is added to what
    /// every room here says.
    fn start(stores: &[String], seats: usize, room: &str) -> Fleet {
        Fleet::with(stores, seats, room, |_, config| config)
    }

    /// The same, each node with something of its own.
    fn with(
        stores: &[String],
        seats: usize,
        room: &str,
        own: impl Fn(usize, Config) -> Config,
    ) -> Fleet {
        let alone = alone();
        let crowd = Crowd::new(Duration::from_secs(120));
        let room = format!("max_active = {seats}\nmax_waiting = \"none\"\n{room}");
        let nodes = stores.iter().enumerate().map(|(index, store)| {
            let config =
                Config::new(&[crowd.site().to_string()]).room("sale", &room).store_at(store);
            Gateway::start(own(index, config))
        });
        let nodes: Vec<Gateway> = nodes.collect();
        let fleet = Fleet { _alone: alone, nodes, crowd, seats, people: 0, watched: None };
        fleet.refresh();
        fleet
    }

    /// The balancer learns where the nodes are.
    fn refresh(&self) {
        self.crowd.balancer.set(self.nodes.iter().map(Gateway::addr).collect());
    }

    /// A crowd comes, over some seconds, and each of it stays inside for a moment.
    fn gather(&mut self, people: usize, over: Duration) {
        let party = self.crowd.party(people, over);
        self.gather_party(&party);
    }

    /// The same of a crowd of another kind; who they are.
    fn gather_party(&mut self, party: &Party) -> Range<Person> {
        self.people += party.people;
        self.crowd.gather(party)
    }

    /// From now on it is read in Redis, too, how many seats are taken: people see only those who are inside.
    fn watch_seats(&mut self, redis: &RedisServer) {
        self.watched = Some(Seats::watch(&redis.url()));
    }

    /// How late nodes may tell something, as they say themselves when they start.
    fn bound(&self, store: Store) -> Duration {
        let started = self.nodes[0].events("node.started", 1);
        let field = match store {
            Store::Answers => "spread_ms",
            Store::IsLost => "spread_losing_ms",
        };
        Duration::from_millis(started[0][field].as_u64().expect("a bound"))
    }

    /// Waits until so many have been inside.
    #[track_caller]
    fn await_entries(&self, entries: usize) {
        self.await_events(&format!("{entries} entries"), entries, |event| {
            matches!(event, Event::Entered { .. })
        });
    }

    /// Waits until something has happened so often.
    #[track_caller]
    fn await_events(&self, what: &str, count: usize, is: fn(&Event) -> bool) {
        crate::support::within(Duration::from_secs(60), what, || {
            (self.crowd.history.count(is) >= count).then_some(())
        });
    }

    /// Everybody goes home, and the judge speaks.
    #[track_caller]
    fn judge(self, what: &str, store: Store) -> Summary {
        self.judge_with(what, store, |_| {})
    }

    /// The same on other terms.
    #[track_caller]
    fn judge_with(mut self, what: &str, store: Store, but: impl Fn(&mut Terms)) -> Summary {
        self.crowd.disperse();
        let mut terms = Terms {
            people: self.people,
            max_active: self.seats,
            spread: self.bound(store),
            cut_off: 0..0,
            forgotten: None,
            arrivals: ARRIVALS,
        };
        but(&mut terms);
        if let Some(watched) = self.watched.take() {
            watched.judge(self.seats as u64);
        }
        let summary = self.crowd.history.judge(&terms);
        println!("{what}: {summary}");
        summary
    }
}

/// What may be between two nodes.
#[derive(Clone, Copy)]
enum Store {
    /// It answers both, sooner or later.
    Answers,
    /// It does not, for a while.
    IsLost,
}
