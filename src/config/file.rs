//! What the user wrote: the file's tables and keys, each value with its words.
//!
//! Owns the list of keys there are, and their kinds: text, durations, rates, lists. Decides nothing about what a
//! value may be or what goes with what; that is [`super::check`]'s. Everything is optional here, defaults are
//! not applied, and paths are still as they were written.

mod admin;
mod event;
mod keys;
mod room;
mod webhooks;

use std::path::PathBuf;

use toml::de::DeTable;

use super::node::Node;
use super::reader::{Level, Reader};
use super::report::{Report, Written};
use super::{LogFormat, LogLevel};
use crate::gateway::settings::OnLoss;

pub(super) use admin::{Admin, AdminKey};
pub(super) use event::Event;
pub(super) use keys::{Key, Veiled};
pub(super) use room::{Binding, Burst, Bypass, Limit, Room};
pub(super) use webhooks::Webhooks;

/// The file.
#[derive(Debug, Default)]
pub(super) struct File {
    pub(super) listen: Option<Vec<Written<String>>>,
    pub(super) tls: Vec<Tls>,
    pub(super) threads: Option<Written<u64>>,
    pub(super) upgrade_socket: Option<Written<PathBuf>>,
    pub(super) grace: Option<Written<u64>>,
    pub(super) trusted_proxies: Vec<Written<String>>,
    pub(super) api_hosts: Vec<Written<String>>,
    pub(super) config_version: Option<Written<u64>>,
    pub(super) store: Store,
    pub(super) signing: Vec<Key>,
    pub(super) pass: Vec<Key>,
    /// Of `[keys]`.
    pub(super) keys_spoiled: Spoiled,
    pub(super) log: Log,
    pub(super) admin: Admin,
    pub(super) metrics_prefix: Option<Written<String>>,
    pub(super) sites: Vec<Site>,
    pub(super) origins: Vec<Origin>,
    pub(super) bounds: Bounds,
    pub(super) rooms: Vec<Room>,
    pub(super) webhooks: Webhooks,
    /// Keys with a value of the wrong kind.
    pub(super) spoiled: Spoiled,
}

/// Keys with a value of the wrong kind, which is reported already.
pub(super) type Spoiled = std::collections::BTreeSet<&'static str>;

/// `[[tls]]`.
#[derive(Debug, Default)]
pub(super) struct Tls {
    pub(super) path: String,
    pub(super) listen: Option<Written<String>>,
    pub(super) cert: Option<Written<PathBuf>>,
    pub(super) key: Option<Written<PathBuf>>,
    pub(super) spoiled: Spoiled,
}

/// `[store]`.
#[derive(Debug, Default)]
pub(super) struct Store {
    /// Behind a veil: it may hold a password.
    pub(super) url: Option<Written<String>>,
    pub(super) username: Option<Written<String>>,
    pub(super) password: Option<Written<Veiled>>,
    pub(super) password_file: Option<Written<PathBuf>>,
    pub(super) password_env: Option<Written<String>>,
    pub(super) ca_file: Option<Written<PathBuf>>,
    pub(super) on_loss: Option<Written<OnLoss>>,
    pub(super) open_after: Option<Written<u64>>,
    pub(super) spoiled: Spoiled,
}

/// `[log]`.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) level: Option<Written<LogLevel>>,
    pub(super) format: Option<Written<LogFormat>>,
    /// A share, from 0 to 1.
    pub(super) access: Option<Written<f64>>,
}

/// `[sites."HOST"]`.
#[derive(Debug, Default)]
pub(super) struct Site {
    pub(super) host: String,
    pub(super) path: String,
    pub(super) origin: Option<Written<String>>,
    pub(super) spoiled: Spoiled,
}

/// `[origins.NAME]`.
#[derive(Debug, Default)]
pub(super) struct Origin {
    pub(super) name: String,
    pub(super) path: String,
    pub(super) servers: Option<Vec<Written<String>>>,
    pub(super) tls: Option<Written<bool>>,
    pub(super) sni: Option<Written<String>>,
    pub(super) connect_timeout: Option<Written<u64>>,
    pub(super) read_timeout: Option<Written<u64>>,
    pub(super) write_timeout: Option<Written<u64>>,
    pub(super) keepalive: Option<Written<u64>>,
    pub(super) health_interval: Option<Written<Option<u64>>>,
    pub(super) health_path: Option<Written<String>>,
    pub(super) spoiled: Spoiled,
}

/// `[bounds]`.
#[derive(Debug, Default)]
pub(super) struct Bounds {
    pub(super) connections: Option<Written<u64>>,
    pub(super) connections_per_address: Option<Written<u64>>,
    pub(super) streams: Option<Written<u64>>,
    pub(super) header_timeout: Option<Written<u64>>,
    pub(super) idle_timeout: Option<Written<u64>>,
    pub(super) header_bytes: Option<Written<u64>>,
    pub(super) header_lines: Option<Written<u64>>,
    pub(super) body_bytes: Option<Written<Option<u64>>>,
    pub(super) body_timeout: Option<Written<u64>>,
    pub(super) polls_per_second: Option<Written<u64>>,
}

const PLAIN: Level = Level { name: "", keys: &[], later: &[], veiled: false, open: &[] };

static TOP: Level = Level {
    name: "the top of the file",
    keys: &[
        "listen",
        "tls",
        "threads",
        "upgrade_socket",
        "grace",
        "trusted_proxies",
        "api_hosts",
        "config_version",
        "store",
        "keys",
        "log",
        "admin",
        "metrics",
        "sites",
        "origins",
        "bounds",
        "rooms",
        "webhooks",
    ],
    ..PLAIN
};

static TLS: Level = Level { name: "[[tls]]", keys: &["listen", "cert", "key"], ..PLAIN };

static STORE: Level = Level {
    name: "[store]",
    keys: &[
        "url",
        "username",
        "password",
        "password_file",
        "password_env",
        "ca_file",
        "on_loss",
        "open_after",
    ],
    veiled: true,
    open: &["ca_file"],
    ..PLAIN
};

const ON_LOSS: [(&str, OnLoss); 3] =
    [("hold", OnLoss::Hold), ("open", OnLoss::Open), ("closed", OnLoss::Closed)];

static LOG: Level = Level { name: "[log]", keys: &["level", "format", "access"], ..PLAIN };

static SITE: Level = Level { name: "[sites.\"HOST\"]", keys: &["origin"], ..PLAIN };

static ORIGIN: Level = Level {
    name: "[origins.NAME]",
    keys: &[
        "servers",
        "tls",
        "sni",
        "connect_timeout",
        "read_timeout",
        "write_timeout",
        "keepalive",
        "health_interval",
        "health_path",
    ],
    ..PLAIN
};

static BOUNDS: Level = Level {
    name: "[bounds]",
    keys: &[
        "connections",
        "connections_per_address",
        "streams",
        "header_timeout",
        "idle_timeout",
        "header_bytes",
        "header_lines",
        "body_bytes",
        "body_timeout",
        "polls_per_second",
    ],
    ..PLAIN
};

/// Every table there is.
fn levels() -> impl Iterator<Item = &'static Level> {
    let node = [&TOP, &TLS, &STORE].into_iter().chain(keys::LEVELS).chain([&LOG]);
    let site = [&SITE, &ORIGIN, &BOUNDS].into_iter().chain(room::LEVELS);
    node.chain(site).chain(admin::LEVELS).chain([&webhooks::LEVEL])
}

/// Every table with its keys: what the manual must tell of.
pub fn known_keys() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    levels().map(|level| (level.name, level.keys))
}

/// Where a key belongs that stands where it doesn't, such as one written below a table's heading by mistake.
pub(super) fn home_of(key: &str) -> Option<&'static str> {
    levels().find(|level| level.keys.contains(&key)).map(|level| level.name)
}

impl Store {
    /// Whatever is written for a password, and the key it is written under.
    pub(super) fn passwords(&self) -> impl Iterator<Item = &str> {
        let keys = [
            self.password.as_ref().map(|written| &written.key),
            self.password_file.as_ref().map(|written| &written.key),
            self.password_env.as_ref().map(|written| &written.key),
        ];
        keys.into_iter().flatten().map(String::as_str)
    }
}

impl File {
    /// Whether something was written there and refused already.
    pub(super) fn spoils(&self, keys: &[&str]) -> bool {
        keys.iter().any(|key| self.spoiled.contains(key))
    }

    /// Reads all of it. What is of the wrong kind is reported and left out.
    pub(super) fn read(source: &str, table: &DeTable<'_>, report: &Report) -> File {
        let top = Reader::top(source, report, table, &TOP);
        let tls = |tls: Reader<'_>| Tls {
            path: tls.path().to_owned(),
            listen: tls.text("listen"),
            cert: tls.read("cert", Node::path),
            key: tls.read("key", Node::path),
            spoiled: tls.into_spoiled(),
        };
        let table = top.table("keys", keys::LEVELS[0]);
        let keys = |which| table.iter().flat_map(|keys| Key::read_all(keys, which)).collect();
        let (signing, pass) = (keys("signing"), keys("pass"));
        File {
            listen: top.texts("listen"),
            tls: top.tables("tls", &TLS).into_iter().map(tls).collect(),
            threads: top.count("threads"),
            upgrade_socket: top.read("upgrade_socket", Node::path),
            grace: top.duration("grace"),
            trusted_proxies: top.texts("trusted_proxies").unwrap_or_default(),
            api_hosts: top.texts("api_hosts").unwrap_or_default(),
            config_version: top.count("config_version"),
            store: top.table("store", &STORE).map(Store::read).unwrap_or_default(),
            signing,
            pass,
            keys_spoiled: table.map(Reader::into_spoiled).unwrap_or_default(),
            log: top.table("log", &LOG).map(|log| Log::read(&log)).unwrap_or_default(),
            admin: top.table("admin", admin::LEVELS[0]).map(Admin::read).unwrap_or_default(),
            metrics_prefix: top
                .table("metrics", admin::LEVELS[2])
                .and_then(|metrics| metrics.text("prefix")),
            sites: top.named("sites", &SITE).into_iter().map(Site::read).collect(),
            origins: top.named("origins", &ORIGIN).into_iter().map(Origin::read).collect(),
            bounds: top.table("bounds", &BOUNDS).map(|b| Bounds::read(&b)).unwrap_or_default(),
            rooms: top.named("rooms", room::LEVELS[0]).into_iter().map(Room::read).collect(),
            webhooks: top
                .table("webhooks", &webhooks::LEVEL)
                .map(Webhooks::read)
                .unwrap_or_default(),
            spoiled: top.into_spoiled(),
        }
    }
}

impl Store {
    fn read(store: Reader<'_>) -> Store {
        Store {
            url: store.text("url"),
            username: store.text("username"),
            password: store.text("password").map(|password| password.map(Veiled)),
            password_file: store.read("password_file", Node::path),
            password_env: store.text("password_env"),
            ca_file: store.read("ca_file", Node::path),
            on_loss: store.word("on_loss", &ON_LOSS, &[]),
            open_after: store.duration("open_after"),
            spoiled: store.into_spoiled(),
        }
    }
}

impl Log {
    fn read(log: &Reader<'_>) -> Log {
        Log {
            level: log.word("level", &LogLevel::WORDS, &[]),
            format: log.word("format", &LogFormat::WORDS, &[]),
            access: log.read("access", Node::share),
        }
    }
}

impl Site {
    fn read((host, site): (String, Reader<'_>)) -> Site {
        let path = site.path().to_owned();
        Site { host, path, origin: site.text("origin"), spoiled: site.into_spoiled() }
    }
}

impl Origin {
    fn read((name, origin): (String, Reader<'_>)) -> Origin {
        Origin {
            name,
            path: origin.path().to_owned(),
            servers: origin.texts("servers"),
            tls: origin.read("tls", Node::flag),
            sni: origin.text("sni"),
            connect_timeout: origin.duration("connect_timeout"),
            read_timeout: origin.duration("read_timeout"),
            write_timeout: origin.duration("write_timeout"),
            keepalive: origin.duration("keepalive"),
            health_interval: origin.or_none("health_interval", Node::duration),
            health_path: origin.text("health_path"),
            spoiled: origin.into_spoiled(),
        }
    }
}

impl Bounds {
    fn read(bounds: &Reader<'_>) -> Bounds {
        Bounds {
            connections: bounds.count("connections"),
            connections_per_address: bounds.count("connections_per_address"),
            streams: bounds.count("streams"),
            header_timeout: bounds.duration("header_timeout"),
            idle_timeout: bounds.duration("idle_timeout"),
            header_bytes: bounds.read("header_bytes", Node::bytes),
            header_lines: bounds.count("header_lines"),
            body_bytes: bounds.or_none("body_bytes", Node::bytes),
            body_timeout: bounds.duration("body_timeout"),
            polls_per_second: bounds.count("polls_per_second"),
        }
    }
}
