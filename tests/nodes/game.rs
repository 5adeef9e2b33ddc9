//! A game for two, and a line of people who want to play: `seeds/001`, played by three nodes on one Redis with real WebSockets.
//!
//! Two named seats; whoever has waited longest takes the one that is free, under its name; the loser goes to the end, the winner
//! stays; who hangs up is missed after a while. Never three, never the same name twice.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::seats::Seats;
use crate::support::forge::read;
use crate::support::operator::Operator;
use crate::support::redis::RedisServer;
use crate::support::websocket::WebSocket;
use crate::support::{Config, Gateway, Origin, Request, Visitor, eventually, within};

/// A room for two, with names.
const ROOM: &str = "slots = [\"X\", \"O\"]\nslot_grace = \"2s\"\nroster = true\nsession_idle = \"1m\"\nclaim_window = \"1m\"";

fn start(count: usize, room: &str) -> (RedisServer, Origin, Vec<Gateway>) {
    let (redis, origin) = (RedisServer::start(), Origin::start());
    let servers = [origin.address().to_string()];
    let config = Config::new(&servers).room("sale", room).store_at(&redis.url());
    let nodes = (0..count).map(|_| Gateway::start(config.clone())).collect();
    (redis, origin, nodes)
}

/// Somebody with an app.
struct Player {
    device: String,
    ticket: String,
    pass: Option<String>,
}

impl Player {
    fn join(node: &Gateway, name: &str) -> Result<Player, Value> {
        let device = format!("device-of-{name}");
        let body = json!({ "event_id": "sale", "device_id": device, "name": name });
        let answer = node.connect().ask(&Request::call("/.anteroom/v1/queue/join", &body));
        if answer.status != 200 {
            return Err(answer.json());
        }
        let told = answer.json();
        let ticket = told["queue_id"].as_str().expect("a ticket").to_owned();
        Ok(Player { device, ticket, pass: told["token"].as_str().map(str::to_owned) })
    }

    /// Where they stand; takes the ticket and the pass that come with it.
    fn ask(&mut self, node: &Gateway) -> Value {
        let target = format!("/.anteroom/v1/queue/status?queue_id={}", self.ticket);
        let answer = node.connect().ask(&Request::get(&target));
        let told = answer.json();
        if let Some(ticket) = told["queue_id"].as_str() {
            self.ticket = ticket.to_owned();
        }
        self.pass = told["token"].as_str().map(str::to_owned).or(self.pass.take());
        told
    }

    fn slot(&self) -> Option<String> {
        let (_, claims) = read(self.pass.as_ref()?);
        claims["slot"].as_str().map(str::to_owned)
    }

    /// Until it is their turn; in which slot they sit then.
    #[track_caller]
    fn turn(&mut self, node: &Gateway) -> String {
        self.pass = None;
        within(Duration::from_secs(15), &format!("the turn of {}", self.device), || {
            self.ask(node);
            self.slot()
        })
    }

    fn browser(&self, node: &Gateway) -> Visitor {
        let pass = self.pass.as_ref().expect("a pass");
        Visitor::of(node.addr()).with("X-Admission-Pass", pass)
    }

    #[track_caller]
    fn connect(&self, node: &Gateway) -> WebSocket {
        WebSocket::open(&self.browser(node), "/ws?ms=100").expect("a WebSocket")
    }
}

/// Who plays in which slot, and who waits in which order.
fn roster(node: &Gateway) -> (Vec<String>, Vec<String>) {
    let told = node.connect().ask(&Request::get("/.anteroom/v1/queue/roster?event_id=sale")).json();
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let list = |name: &str| told[name].as_array().cloned().unwrap_or_default();
    let players = list("players");
    let players =
        players.iter().map(|one| format!("{} {}", text(&one["slot"]), text(&one["name"])));
    let waiting = list("waiting").iter().map(|one| text(&one["name"])).collect();
    (players.collect(), waiting)
}

/// Every node shows this, soon.
#[track_caller]
fn everybody_sees(nodes: &[Gateway], players: [&str; 2], waiting: &[&str]) {
    let mut last = Vec::new();
    let same = |shown: &(Vec<String>, Vec<String>)| {
        shown.0 == players && shown.1.iter().eq(waiting.iter())
    };
    let until = Instant::now() + Duration::from_secs(5);
    while Instant::now() < until {
        last = nodes.iter().map(roster).collect();
        if last.iter().all(same) {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("{players:?} and {waiting:?} expected, but nodes show {last:?}");
}

/// Whether what is said comes back, between whatever else the game says.
fn lives(socket: &mut WebSocket, text: &str) -> bool {
    socket.say(text).is_ok() && (0..200).map_while(|_| socket.hear()).any(|heard| heard == text)
}

/// Whether a connection ends by itself.
fn ends(socket: &mut WebSocket, patience: Duration) -> Option<Duration> {
    let began = Instant::now();
    while began.elapsed() < patience {
        if socket.hear().is_none() {
            return Some(began.elapsed());
        }
    }
    None
}

#[test]
fn two_play_and_the_others_wait() {
    let (redis, origin, nodes) = start(3, ROOM);
    let [one, two, three] = &nodes[..] else { panic!("three nodes") };
    let seats = Seats::watch(&redis.url());
    let mut ann = Player::join(one, "Ann").expect("a place");
    let mut bob = Player::join(two, " Bob ").expect("a place");
    let mut cid = Player::join(three, "Cid <b>").expect("a place");
    let mut dee = Player::join(one, "Dée").expect("a place");
    assert_eq!((ann.slot().as_deref(), bob.slot().as_deref()), (Some("X"), Some("O")));
    assert_eq!((cid.pass.as_ref(), dee.pass.as_ref()), (None, None), "there are two");
    let taken = Player::join(three, "DÉE").err().expect("nobody is called as somebody else is");
    assert_eq!(taken["error"]["code"], "name_taken", "{taken}");
    let nameless = json!({ "event_id": "sale", "device_id": "nobody" });
    let nameless = one.connect().ask(&Request::call("/.anteroom/v1/queue/join", &nameless));
    assert_eq!((nameless.status, nameless.code().as_str()), (400, "name_required"));
    everybody_sees(&nodes, ["X Ann", "O Bob"], &["Cid <b>", "Dée"]);

    // What the game is told, by any node.
    for (player, node, slot) in [(&ann, three, "X"), (&bob, one, "O")] {
        assert!(player.browser(node).fetch("/move").is_from_origin());
        assert_eq!(origin.last().header("x-anteroom-slot"), Some(slot));
    }
    let mut anns = ann.connect(two);
    let mut bobs = bob.connect(three);
    assert!(lives(&mut anns, "my move") && lives(&mut bobs, "mine"));

    // Bob loses: out at once, everywhere, and to the end of the line. Ann stays.
    assert!(bob.browser(one).fetch("/command?c=requeue").is_from_origin());
    let ended = ends(&mut bobs, Duration::from_secs(3)).expect("Bob's connection ends");
    assert!(ended < Duration::from_secs(1), "after {ended:?}");
    assert_eq!(cid.turn(two), "O", "the oldest of those who wait, in the place that is free");
    let told = eventually("Bob's new place", || {
        let told = bob.ask(two);
        (told["status"] == "waiting").then_some(told)
    });
    assert_eq!(told["position"], 2, "behind Dée: {told}");
    everybody_sees(&nodes, ["X Ann", "O Cid <b>"], &["Dée", "Bob"]);
    assert!(lives(&mut anns, "the winner stays"));
    let cids = cid.connect(one);

    // Ann hangs up. Nothing else is heard of her: after slot_grace, and not before, her place is free.
    let began = Instant::now();
    drop(anns);
    assert_eq!(dee.turn(three), "X");
    assert!(began.elapsed() >= Duration::from_secs(2), "after {:?}", began.elapsed());
    everybody_sees(&nodes, ["X Dée", "O Cid <b>"], &["Bob"]);

    // Cid's page is loaded anew, over another node: he was never gone.
    drop(cids);
    std::thread::sleep(Duration::from_millis(500));
    let mut cids = cid.connect(three);
    std::thread::sleep(Duration::from_secs(4));
    assert!(lives(&mut cids, "still here"), "an open connection keeps its seat");
    everybody_sees(&nodes, ["X Dée", "O Cid <b>"], &["Bob"]);
    // Dée never had a connection, and asks now and then: nobody misses one.
    assert!(dee.browser(two).fetch("/move").is_from_origin());
    ann.ask(one);
    seats.judge(2);
}

/// Complete, extend and requeue, by an operator's word.
#[test]
fn sessions_are_steered_from_anywhere() {
    let (redis, _origin, nodes) = start(2, ROOM);
    let seats = Seats::watch(&redis.url());
    let [here, there] = &nodes[..] else { panic!("two nodes") };
    let ann = Player::join(there, "Ann").expect("a place");
    let mut bob = Player::join(there, "Bob").expect("a place");
    let mut cid = Player::join(there, "Cid").expect("a place");
    let operator = Operator::new(here);
    let order = |who: &str, verb: &str| {
        operator.does(&format!("/v1/rooms/sale/visitors/{who}/{verb}"), &json!({}))
    };
    everybody_sees(&nodes, ["X Ann", "O Bob"], &["Cid"]);
    let told = order("A-000001", "extend");
    assert_eq!((&told["done"], &told["visitor"]["name"]), (&json!(true), &json!("Ann")), "{told}");
    assert_eq!(told["visitor"]["slot"], "X");
    let inside = operator.see("/v1/rooms/sale/inside");
    let until = |nth: usize| inside["passes"][nth]["expires_at"].as_str().map(str::to_owned);
    assert_ne!(until(0), until(1), "one idle time more: {inside}");
    assert_eq!(order("2", "requeue")["done"], true);
    assert_eq!(cid.turn(here), "O");
    assert_eq!(bob.ask(here)["position"], 1);
    assert_eq!(order("1", "complete")["done"], true);
    assert_eq!(order("1", "complete")["done"], false, "once");
    assert_eq!(order("1", "extend")["done"], false, "she is done");
    assert_eq!(bob.turn(there), "X");
    everybody_sees(&nodes, ["X Bob", "O Cid"], &[]);
    assert!(!ann.browser(here).open("/").is_from_origin());
    let audit = operator.see("/v1/audit").to_string();
    for action in ["extend", "requeue", "complete"] {
        assert!(audit.contains(&format!("\"action\":\"{action}\"")), "{action} in {audit}");
    }
    seats.judge(2);
}
