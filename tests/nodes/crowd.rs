//! People in front of several nodes: thousands of them, with cookies, through a balancer that knows no favourites.
//!
//! Owns what a browser does about a waiting room: it asks any node, keeps its cookie, polls, goes in when told, looks around,
//! and leaves. What happened goes to the [`History`]; judges nothing.

use std::io;
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, RwLock};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::history::{Event, History, Number, Person};
use super::site;

/// A request that takes longer is given up, as by a balancer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Polls come no further apart than this, whatever the page would do: a run is short.
const POLL: Duration = Duration::from_millis(1_000);
/// How long one stays inside.
const STAY: Duration = Duration::from_millis(300);
/// Inside, between two requests.
const LOOK: Duration = Duration::from_millis(150);

/// Where the nodes are. They come and go.
#[derive(Default)]
pub struct Balancer {
    nodes: RwLock<Vec<SocketAddr>>,
    next: AtomicUsize,
}

impl Balancer {
    /// These from now on.
    pub fn set(&self, nodes: Vec<SocketAddr>) {
        *self.nodes.write().expect("no panic while it is held") = nodes;
    }

    fn pick(&self) -> Option<SocketAddr> {
        let nodes = self.nodes.read().expect("no panic while it is held");
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        nodes.get(turn % nodes.len().max(1)).copied()
    }

    /// Two that are not the same one.
    fn pick_two(&self) -> Option<[SocketAddr; 2]> {
        let nodes = self.nodes.read().expect("no panic while it is held");
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        let pick = |nth: usize| nodes[(turn + nth) % nodes.len()];
        (nodes.len() > 1).then(|| [pick(0), pick(1)])
    }
}

/// Some of a crowd, who come together.
pub struct Party {
    /// So many.
    pub people: usize,
    /// Spread over some time.
    pub over: Duration,
    /// Each stays inside for so long.
    pub stay: Duration,
    /// Polls come no further apart than this.
    pub poll: Duration,
    /// Which nodes they come to.
    pub balancer: Arc<Balancer>,
}

/// A crowd, and what became of it.
pub struct Crowd {
    runtime: tokio::runtime::Runtime,
    pub balancer: Arc<Balancer>,
    pub history: Arc<History>,
    people: JoinSet<()>,
    count: Person,
    site: SocketAddr,
    until: Instant,
}

impl Crowd {
    /// A site, and nobody before it yet. All must be over after `patience`.
    pub fn new(patience: Duration) -> Crowd {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(2).enable_all().build().expect("a runtime");
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port");
        let site = listener.local_addr().expect("an address");
        runtime.spawn(site::serve(listener));
        Crowd {
            runtime,
            balancer: Arc::default(),
            history: Arc::default(),
            people: JoinSet::new(),
            count: 0,
            site,
            until: Instant::now() + patience,
        }
    }

    /// The site behind the nodes.
    pub fn site(&self) -> SocketAddr {
        self.site
    }

    /// So many, spread over some time, who come to all nodes alike.
    pub fn party(&self, people: usize, over: Duration) -> Party {
        Party { people, over, stay: STAY, poll: POLL, balancer: self.balancer.clone() }
    }

    /// They come; who they are.
    pub fn gather(&mut self, party: &Party) -> Range<Person> {
        let first = self.count;
        for nth in 0..party.people {
            let browser = Browser {
                person: self.count,
                balancer: party.balancer.clone(),
                history: self.history.clone(),
                cookie: None,
                ticket: None,
                number: None,
                poll: party.poll,
                until: self.until,
            };
            self.count += 1;
            let arrives = party.over.mul_f64(nth as f64 / party.people as f64);
            let stay = party.stay;
            self.people.spawn_on(
                async move {
                    sleep(arrives).await;
                    browser.visit(stay).await;
                },
                self.runtime.handle(),
            );
        }
        first..self.count
    }

    /// Everybody goes home, or it takes too long: the history tells.
    pub fn disperse(&mut self) {
        let (people, until) = (&mut self.people, self.until);
        self.runtime.block_on(async {
            let left = until.saturating_duration_since(Instant::now());
            let _ = timeout(left, async { while people.join_next().await.is_some() {} }).await;
            people.shutdown().await;
        });
    }
}

/// An answer.
struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// What no two passes have in common, of the one that came with it.
    fn nonce(&self) -> Option<String> {
        claims(self.header("set-cookie")?)?["nonce"].as_str().map(str::to_owned)
    }

    /// The number the site saw, if it was the site who answered.
    fn inside(&self) -> Option<u64> {
        self.header("x-seen-number")?.parse().ok()
    }
}

/// Somebody.
struct Browser {
    person: Person,
    balancer: Arc<Balancer>,
    history: Arc<History>,
    cookie: Option<String>,
    /// What the cookie was before they came in.
    ticket: Option<String>,
    number: Option<Number>,
    poll: Duration,
    until: Instant,
}

const PAGE: &str = "Accept: text/html\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n";
const SCRIPT: &str =
    "Accept: application/json\r\nSec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: cors\r\n";
const STATUS: &str = "/.anteroom/v1/queue/status";

impl Browser {
    async fn visit(mut self, stay: Duration) {
        if self.wait().await.is_none() {
            return;
        }
        let began = Instant::now();
        while began.elapsed() < stay {
            sleep(LOOK).await;
            self.look("/in").await;
        }
        if self.leave().await {
            self.try_again().await;
        }
        self.note(Event::Home);
    }

    /// Until inside. `None`: lost, or it took too long.
    async fn wait(&mut self) -> Option<()> {
        let mut open = true;
        while Instant::now() < self.until {
            let asked = Instant::now();
            let (target, dress) = if open { ("/", PAGE) } else { (STATUS, SCRIPT) };
            self.ticket.clone_from(&self.cookie);
            let Ok(answer) = self.ask(target, dress).await else {
                self.note(Event::Unanswered);
                sleep(Duration::from_millis(100)).await;
                continue;
            };
            self.learn(&answer, asked);
            if answer.inside().is_some() {
                let number = self.number?;
                self.note(Event::Entered { number });
                return Some(());
            }
            open = match self.understand(&answer, asked, open) {
                Told::Come if self.person % 10 == 5 && self.come_twice().await => return Some(()),
                Told::Come => true,
                Told::Wait(pause) => {
                    sleep(pause.min(self.poll)).await;
                    // Without a ticket there is nothing to poll with.
                    self.cookie.is_none()
                }
                Told::Gone => return None,
            };
        }
        None
    }

    /// One in ten has the page open twice: both come in on the same ticket at the same moment, by two nodes. Whether they did.
    async fn come_twice(&mut self) -> bool {
        let (Some(number), Some(nodes)) = (self.number, self.balancer.pick_two()) else {
            return false;
        };
        let asked = Instant::now();
        let (one, other) =
            tokio::join!(self.ask_of(nodes[0], "/", PAGE), self.ask_of(nodes[1], "/", PAGE));
        let inside: Vec<Answer> =
            [one, other].into_iter().flatten().filter(|answer| answer.inside().is_some()).collect();
        let Some(last) = inside.last() else { return false };
        self.note(Event::Entered { number });
        let seen = |answer: &Answer| (answer.inside().unwrap_or_default(), answer.nonce());
        if let [one, other] = &inside[..] {
            self.note(Event::Both { number, seen: [seen(one), seen(other)] });
        }
        self.learn(last, asked);
        true
    }

    /// What an answer means that did not come from the site.
    fn understand(&self, answer: &Answer, asked: Instant, page: bool) -> Told {
        let retry = answer.header("retry-after").and_then(|value| value.parse().ok());
        let pause = Duration::from_secs_f64(retry.unwrap_or(0.3));
        if page {
            return Told::Wait(pause);
        }
        let said = answer.json();
        let error = said["error"]["code"].as_str();
        match (answer.status, said["status"].as_str(), self.number) {
            (200, Some("waiting" | "away"), Some(number)) => {
                self.note(Event::Waiting { number, asked });
                let pause = said["next_poll_seconds"].as_f64().unwrap_or(1.0);
                Told::Wait(Duration::from_secs_f64(pause))
            }
            (200, Some("admitted" | "active"), Some(number)) => {
                self.note(Event::Called { number });
                Told::Come
            }
            (_, Some("provisional"), _) => {
                self.note(Event::Provisional);
                Told::Wait(pause)
            }
            (503, _, _) if error == Some("store_unavailable") => {
                self.note(Event::Away);
                Told::Wait(pause)
            }
            // Busy, or limited: the page tries again by itself.
            (429 | 503, _, _) if error != Some("queue_full") => Told::Wait(pause),
            (status, _, number) => {
                let why =
                    format!("{status} for {number:?}: {}", String::from_utf8_lossy(&answer.body));
                self.note(Event::Lost { why });
                Told::Gone
            }
        }
    }

    /// Keeps what an answer gave.
    fn learn(&mut self, answer: &Answer, asked: Instant) {
        let Some(cookie) = answer.header("set-cookie") else { return };
        let cookie = cookie.split(';').next().unwrap_or_default();
        if cookie.ends_with('=') {
            return;
        }
        self.cookie = Some(cookie.to_owned());
        match (number_of(cookie), self.number) {
            (None, _) => self.note(Event::Provisional),
            (Some(number), None) => {
                self.number = Some(number);
                self.note(Event::Given { number, asked });
            }
            (Some(number), Some(before)) if number != before => {
                let why = format!("{before:?} became {number:?}");
                self.note(Event::Lost { why });
            }
            _ => {}
        }
    }

    /// A request of somebody inside.
    async fn look(&mut self, target: &str) -> bool {
        let asked = Instant::now();
        match self.ask(target, PAGE).await {
            Ok(answer) if answer.inside().is_some() => {
                self.learn(&answer, asked);
                true
            }
            Ok(answer) => {
                self.note(Event::TurnedAway { status: answer.status });
                false
            }
            Err(_) => {
                self.note(Event::Unanswered);
                false
            }
        }
    }

    /// Gives the seat back, by the site's word; whether the line has heard of it. The history counts it as given back when it
    /// is first asked for.
    async fn leave(&mut self) -> bool {
        if let Some(number) = self.number {
            self.note(Event::Leaving { number });
        }
        for _ in 0..3 {
            match self.ask("/done", PAGE).await {
                // What is left of a visit that is complete comes with a cookie of its own.
                Ok(answer) if answer.inside().is_some() => {
                    return answer.header("set-cookie").is_some();
                }
                _ => sleep(LOOK).await,
            }
        }
        false
    }

    /// One in ten tries the old ticket once more: the line itself is asked, so no node's memory can be too old.
    async fn try_again(&mut self) {
        if !self.person.is_multiple_of(10) || self.ticket.is_none() {
            return;
        }
        self.cookie = self.ticket.take();
        let Ok(answer) = self.ask("/", PAGE).await else { return };
        if let (Some(seen), Some(number)) = (answer.inside(), self.number) {
            if seen == number.1 {
                self.note(Event::Again { number });
                return;
            }
            // In as somebody new, since nobody waits: not for long.
            if let Some(cookie) = answer.header("set-cookie") {
                self.cookie = Some(cookie.split(';').next().unwrap_or_default().to_owned());
                let _ = self.ask("/done", PAGE).await;
            }
        }
    }

    fn note(&self, event: Event) {
        self.history.note(self.person, event);
    }

    async fn ask(&self, target: &str, dress: &str) -> io::Result<Answer> {
        let node = self.balancer.pick().ok_or(io::ErrorKind::NotConnected)?;
        self.ask_of(node, target, dress).await
    }

    async fn ask_of(&self, node: SocketAddr, target: &str, dress: &str) -> io::Result<Answer> {
        let cookie = self.cookie.as_ref().map(|cookie| format!("Cookie: {cookie}\r\n"));
        let request = format!(
            "GET {target} HTTP/1.1\r\nHost: shop.example.com\r\n{dress}{}Connection: close\r\n\r\n",
            cookie.unwrap_or_default()
        );
        timeout(PATIENCE, fetch(node, &request)).await?
    }
}

/// What to do next.
enum Told {
    Come,
    Wait(Duration),
    Gone,
}

async fn fetch(node: SocketAddr, request: &str) -> io::Result<Answer> {
    let mut stream = TcpStream::connect(node).await?;
    stream.write_all(request.as_bytes()).await?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await?;
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
    let end = end.ok_or(io::ErrorKind::UnexpectedEof)?;
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let status = head.get(9..12).and_then(|status| status.parse().ok());
    Ok(Answer {
        status: status.ok_or(io::ErrorKind::InvalidData)?,
        head,
        body: bytes[end + 4..].to_vec(),
    })
}

/// The number a cookie's token is about; none in a place without one.
fn number_of(cookie: &str) -> Option<Number> {
    let claims = claims(cookie)?;
    Some((claims["epoch"].as_u64()?, claims["num"].as_u64()?))
}

/// What a cookie's token says.
fn claims(cookie: &str) -> Option<Value> {
    let claims = cookie.split_once('=')?.1.split('.').nth(1)?;
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok()
}
