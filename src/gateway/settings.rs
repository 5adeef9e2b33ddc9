//! What an operator may set about the gateway, as plain values.
//!
//! Owns the shapes and the defaults; never parses text. Whoever reads a file or a command line turns it into these.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use ipnet::IpNet;

use super::route::Guard;
use crate::limit::Allowance;
use crate::line;
use crate::page::Look;
use crate::webhook;

/// Everything about a node's way in. What `listen`, the addresses of `tls`, `threads`, `upgrade_socket`, `grace` and
/// `bounds.connections` say counts at the start; the rest may change while it runs.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Plain HTTP, `127.0.0.1:8080`.
    pub listen: Vec<String>,
    /// HTTP/1.1 and HTTP/2 over TLS.
    pub tls: Vec<Tls>,
    /// Worker threads; `None`: as many as there are cores.
    pub threads: Option<usize>,
    /// Where the next process takes over from this one.
    pub upgrade_socket: Option<PathBuf>,
    /// How long requests under way may take once the node was told to stop.
    pub grace: Duration,
    /// Whose word about the client counts.
    pub trusted_proxies: Vec<IpNet>,
    /// Hosts at whose root the visitor API is served, too.
    pub api_hosts: Vec<String>,
    /// Origins of hosts outside every room: host and origin.
    pub sites: Vec<(String, String)>,
    /// By name.
    pub origins: BTreeMap<String, Origin>,
    /// The rooms.
    pub rooms: Vec<Room>,
    /// What a client may cost at most.
    pub bounds: Bounds,
    /// What becomes of visitors while the store is away.
    pub loss: Loss,
    /// Where letters may go.
    pub webhooks: webhook::Rules,
    /// The share of requests that the log tells of, from 0, none, to 1, all.
    pub access: f64,
}

/// What becomes of visitors while the store is away. Passes go on working whatever it says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loss {
    /// At first.
    pub on_loss: OnLoss,
    /// If they are held: let through after so long.
    pub open_after: Option<Duration>,
}

/// What becomes of those without a pass while the store is away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnLoss {
    /// Places stay as they are last known; whoever is new has their arrival recorded, and joins by it afterwards.
    #[default]
    Hold,
    /// Everybody is let through, without a pass.
    Open,
    /// Places stay; nobody new is taken.
    Closed,
}

/// An address with TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// `0.0.0.0:443`.
    pub listen: String,
    /// One at least. The first is for whoever asks for a name that none has.
    pub certificates: Vec<Certificate>,
}

/// A certificate and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// PEM, the chain.
    pub cert: PathBuf,
    /// PEM.
    pub key: PathBuf,
}

/// A group of servers that answer alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// `127.0.0.1:3000`, `shop.internal:443`.
    pub servers: Vec<String>,
    /// Spoken to over TLS.
    pub tls: bool,
    /// The name on their certificate; `None`: the host of the server's address.
    pub sni: Option<String>,
    /// Until connected.
    pub connect_timeout: Duration,
    /// Between two reads of an answer.
    pub read_timeout: Duration,
    /// Between two writes of a request.
    pub write_timeout: Duration,
    /// How long an idle connection is kept.
    pub keepalive: Duration,
    /// Between two checks of a server; `None`: never, all are presumed well.
    pub health_interval: Option<Duration>,
    /// Asked by a check; `None`: that the server takes a connection is enough.
    pub health_path: Option<String>,
}

impl Default for Origin {
    fn default() -> Origin {
        Origin {
            servers: Vec::new(),
            tls: false,
            sni: None,
            connect_timeout: Duration::from_secs(5),
            read_timeout: Duration::from_secs(60),
            write_timeout: Duration::from_secs(60),
            keepalive: Duration::from_secs(60),
            health_interval: Some(Duration::from_secs(5)),
            health_path: None,
        }
    }
}

/// A room, all but its line's rules of no interest to the line.
#[derive(Clone, Debug)]
pub struct Room {
    /// What it guards; its name and origin, too.
    pub guard: Guard,
    /// The line's.
    pub line: line::Settings,
    /// `config_version`: a file with a lower one is refused by the line.
    pub version: u64,
    /// People see `A-000123`.
    pub ticket_prefix: String,
    /// How a browser keeps ticket and pass.
    pub cookies: Cookies,
    /// One line for several hosts below this domain.
    pub cookie_domain: Option<String>,
    /// The status of a waiting page: 200, 202, 429 or 503.
    pub queued_status: u16,
    /// Between two polls of one visitor at most.
    pub poll_max: Duration,
    /// From trusted proxies only: names the user.
    pub user_header: Option<String>,
    /// Whether a pass can be spent, by whoever verifies it.
    pub single_use: bool,
    /// What passes are bound to.
    pub bind: Bind,
    /// What one may ask for how often.
    pub limits: Limits,
    /// How its pages look.
    pub look: Look,
    /// Where admissions are told.
    pub webhook_url: Option<String>,
    /// To how many of a hundred visitors it applies.
    pub rollout: u64,
    /// From trusted proxies only: names the class.
    pub class_header: Option<String>,
    /// Classes that anyone may have.
    pub open_classes: Vec<String>,
}

impl Room {
    /// One that an operator made: reachable by the visitor API only, with what a file would say by default.
    pub fn made(name: &str) -> Room {
        Room {
            guard: Guard {
                room: name.to_owned(),
                origin: String::new(),
                hosts: Some(Vec::new()),
                paths: None,
                bypass: Vec::new(),
            },
            line: line::Settings::default(),
            version: 0,
            ticket_prefix: "A".to_owned(),
            cookies: Cookies::Lax,
            cookie_domain: None,
            queued_status: 503,
            poll_max: Duration::from_secs(30),
            user_header: None,
            single_use: false,
            bind: Bind::default(),
            limits: Limits {
                requests_per_address: Some(Allowance { max: 100, per_ms: 60_000 }),
                requests_per_ticket: Some(Allowance { max: 60, per_ms: 60_000 }),
                places_per_address: None,
                events: 2_000,
            },
            look: Look::default(),
            webhook_url: None,
            rollout: 100,
            class_header: None,
            open_classes: Vec::new(),
        }
    }
}

/// What a pass is bound to, so that a copy of it is worth nothing elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bind {
    /// The device that an app named when it joined, against `X-Device-ID`.
    pub device: bool,
    /// `User-Agent`.
    pub agent: bool,
}

/// Whether a page works inside another site's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cookies {
    /// `SameSite=Lax`: in a window of its own.
    Lax,
    /// `SameSite=None; Partitioned`: in frames, too. Needs TLS.
    Partitioned,
}

/// Requests one client may send to a room. Joins are limited by the line: see [`line::Settings::join_limits`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Of an address without a valid ticket or pass, to the API and to the waiting page.
    pub requests_per_address: Option<Allowance>,
    /// Of one number.
    pub requests_per_ticket: Option<Allowance>,
    /// Places of an address: one of the line's limits on joins, too.
    pub places_per_address: Option<Allowance>,
    /// Streams of server-sent events at once on this node.
    pub events: usize,
}

/// What a client may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Connections at once.
    pub connections: usize,
    /// Of them, from one address that is no trusted proxy's.
    pub connections_per_address: usize,
    /// Streams of server-sent events at once, of all rooms together.
    pub streams: usize,
    /// Until a whole request head is here, from its first byte on; also until the first byte of a connection.
    pub header_timeout: Duration,
    /// Between two requests of a connection.
    pub idle_timeout: Duration,
    /// Bytes of a request head.
    pub header_bytes: usize,
    /// Lines of a request head.
    pub header_lines: usize,
    /// Bytes of a request's body on its way to the origin; `None`: any.
    pub body_bytes: Option<u64>,
    /// Between two reads of a request's body, and between two writes of an answer.
    pub body_timeout: Duration,
    /// Polls a second this node is good for: the pace of waiting pages keeps within it.
    pub polls_per_second: u32,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds {
            connections: 100_000,
            connections_per_address: 20_000,
            streams: 50_000,
            header_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(15),
            header_bytes: 32 * 1024,
            header_lines: 100,
            body_bytes: None,
            body_timeout: Duration::from_secs(60),
            polls_per_second: 5_000,
        }
    }
}
