//! `[rooms.NAME]`: what a user writes about a room.

use std::path::PathBuf;

use super::event::{self, Event};
use super::{PLAIN, Spoiled, Veiled};
use crate::config::node::Node;
use crate::config::reader::{Level, Reader};
use crate::config::report::Written;
use crate::gateway::settings::Cookies;
use crate::line::{ClassOrder, Mode, OnAbsence, Rate, Signal};

/// A room, an exception of it, its limits, its page, a class, what its rate follows, its events.
pub(super) static LEVELS: [&Level; 7] = [
    &Level {
        name: "[rooms.NAME]",
        keys: &[
            "origin",
            "hosts",
            "paths",
            "bypass",
            "mode",
            "rate",
            "burst",
            "batch",
            "interval",
            "windows",
            "max_active",
            "max_waiting",
            "claim_window",
            "session_idle",
            "session_max",
            "session_first",
            "heartbeat_timeout",
            "poll_max",
            "on_absence",
            "ticket_max",
            "ticket_prefix",
            "cookies",
            "cookie_domain",
            "queued_status",
            "user_header",
            "single_use",
            "bind",
            "limits",
            "page",
            "config_version",
            "webhook_url",
            "rollout",
            "slots",
            "slot_grace",
            "roster",
            "classes",
            "class_order",
            "class_share",
            "class_header",
            "rate_min",
            "adaptive",
            "schedule",
        ],
        later: &[],
        ..PLAIN
    },
    &Level {
        name: "bypass of [rooms.NAME]",
        keys: &["path", "address", "header", "method"],
        veiled: true, // a header's value is a secret
        open: &["path", "address", "method"],
        ..PLAIN
    },
    &Level {
        name: "limits of [rooms.NAME]",
        keys: &[
            "join_per_address",
            "join_per_device",
            "join_per_user",
            "requests_per_address",
            "requests_per_ticket",
            "places_per_address",
            "events",
        ],
        ..PLAIN
    },
    &Level {
        name: "page of [rooms.NAME]",
        keys: &["title", "message", "logo", "accent", "file"],
        ..PLAIN
    },
    &Level { name: "a class of [rooms.NAME]", keys: &["skip", "rank", "open"], ..PLAIN },
    &Level {
        name: "[rooms.NAME.adaptive]",
        keys: &["signal", "target_p95", "max_error_ratio", "completion_ratio"],
        ..PLAIN
    },
    &event::LEVEL,
];

/// A room.
#[derive(Debug, Default)]
pub struct Room {
    pub name: String,
    /// `rooms.sale`.
    pub path: String,
    pub origin: Option<Written<String>>,
    pub hosts: Option<Vec<Written<String>>>,
    pub paths: Option<Vec<Written<String>>>,
    pub bypass: Vec<Bypass>,
    pub mode: Option<Written<Mode>>,
    pub webhook_url: Option<Written<String>>,
    pub rollout: Option<Written<u64>>,
    pub rate: Option<Written<Rate>>,
    pub burst: Option<Written<Burst>>,
    pub batch: Option<Written<u64>>,
    pub interval: Option<Written<u64>>,
    pub windows: Option<Written<u64>>,
    pub max_active: Option<Written<u64>>,
    pub max_waiting: Option<Written<Option<u64>>>,
    pub claim_window: Option<Written<u64>>,
    pub session_idle: Option<Written<Option<u64>>>,
    pub session_max: Option<Written<Option<u64>>>,
    pub session_first: Option<Written<u64>>,
    pub heartbeat_timeout: Option<Written<u64>>,
    pub poll_max: Option<Written<u64>>,
    pub on_absence: Option<Written<OnAbsence>>,
    pub ticket_max: Option<Written<u64>>,
    pub ticket_prefix: Option<Written<String>>,
    pub cookies: Option<Written<Cookies>>,
    pub cookie_domain: Option<Written<String>>,
    pub queued_status: Option<Written<u64>>,
    pub user_header: Option<Written<String>>,
    pub single_use: Option<Written<bool>>,
    pub bind: Vec<Written<Binding>>,
    pub limits: Limits,
    pub page: Page,
    pub config_version: Option<Written<u64>>,
    pub slots: Option<Vec<Written<String>>>,
    pub slot_grace: Option<Written<u64>>,
    pub roster: Option<Written<bool>>,
    pub classes: Vec<Class>,
    pub class_order: Option<Written<ClassOrder>>,
    pub class_share: Option<Written<u64>>,
    pub class_header: Option<Written<String>>,
    pub rate_min: Option<Written<Rate>>,
    pub adaptive: Option<Adaptive>,
    pub schedule: Vec<Event>,
    pub spoiled: Spoiled,
}

/// Who skips what.
#[derive(Debug, Default)]
pub struct Class {
    pub name: String,
    /// `rooms.sale.classes.vip`.
    pub path: String,
    /// In thousandths.
    pub skip: Option<Written<u64>>,
    pub rank: Option<Written<u64>>,
    pub open: Option<Written<bool>>,
}

impl Class {
    fn read((name, class): (String, Reader<'_>)) -> Class {
        Class {
            name,
            path: class.path().to_owned(),
            skip: class.read("skip", Node::thousandths),
            rank: class.count("rank"),
            open: class.read("open", Node::flag),
        }
    }
}

/// How deep the bucket is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Burst {
    /// So many turns.
    Turns(u64),
    /// As many as there are seats.
    MaxActive,
}

/// What a pass can be bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    Device,
    Agent,
}

/// An exception: one of the four.
#[derive(Debug, Default)]
pub struct Bypass {
    /// `rooms.sale.bypass[0]`.
    pub place: String,
    pub path: Option<Written<String>>,
    pub address: Option<Written<String>>,
    pub header: Option<Written<Veiled>>,
    pub method: Option<Written<String>>,
    pub spoiled: Spoiled,
}

/// A limit: so many in so many milliseconds; `None`: switched off.
pub type Limit = Option<(u64, u64)>;

/// How often one may do what.
#[derive(Debug, Default)]
pub struct Limits {
    pub join_per_address: Option<Vec<Written<Limit>>>,
    pub join_per_device: Option<Vec<Written<Limit>>>,
    pub join_per_user: Option<Vec<Written<Limit>>>,
    pub requests_per_address: Option<Written<Limit>>,
    pub requests_per_ticket: Option<Written<Limit>>,
    pub places_per_address: Option<Written<u64>>,
    pub events: Option<Written<u64>>,
}

/// How the pages look.
#[derive(Debug, Default)]
pub struct Page {
    /// `rooms.sale.page`.
    pub path: String,
    pub title: Option<Written<String>>,
    pub message: Option<Written<String>>,
    pub logo: Option<Written<String>>,
    pub accent: Option<Written<String>>,
    pub file: Option<Written<PathBuf>>,
}

/// What a rate follows; shares in thousandths.
#[derive(Debug, Default)]
pub struct Adaptive {
    /// `rooms.sale.adaptive`.
    pub path: String,
    pub signal: Option<Written<Signal>>,
    pub target_p95: Option<Written<u64>>,
    pub max_error_ratio: Option<Written<u64>>,
    pub completion_ratio: Option<Written<u64>>,
}

impl Room {
    /// Whether something was written there and refused already.
    pub fn spoils(&self, keys: &[&str]) -> bool {
        keys.iter().any(|key| self.spoiled.contains(key))
    }

    pub(super) fn read((name, room): (String, Reader<'_>)) -> Room {
        const MODES: [(&str, Mode); 6] = [
            ("auto", Mode::Auto),
            ("hold", Mode::Hold),
            ("drain", Mode::Drain),
            ("closed", Mode::Closed),
            ("bypass", Mode::Bypass),
            ("shadow", Mode::Shadow),
        ];
        const ABSENCE: [(&str, OnAbsence); 2] =
            [("keep", OnAbsence::Keep), ("remove", OnAbsence::Remove)];
        const COOKIES: [(&str, Cookies); 2] =
            [("lax", Cookies::Lax), ("partitioned", Cookies::Partitioned)];
        const BINDINGS: [(&str, Binding); 2] =
            [("device", Binding::Device), ("agent", Binding::Agent)];
        let burst = |node: &Node<'_>| match node.as_text() {
            Some("max_active") => Some(Burst::MaxActive),
            Some(_) => node.refuse(
                "is not a number of turns",
                "write a whole number without quotes, or \"max_active\"",
            ),
            None => node.count().map(Burst::Turns),
        };
        const ORDERS: [(&str, ClassOrder); 2] =
            [("skip", ClassOrder::Skip), ("strict", ClassOrder::Strict)];
        let [_, bypass, limits, page, class, adaptive, event] = LEVELS;
        Room {
            name,
            path: room.path().to_owned(),
            origin: room.text("origin"),
            hosts: room.texts("hosts"),
            paths: room.texts("paths"),
            bypass: room.tables("bypass", bypass).into_iter().map(Bypass::read).collect(),
            mode: room.word("mode", &MODES, &[]),
            rate: room.read("rate", Node::rate),
            burst: room.read("burst", burst),
            batch: room.count("batch"),
            interval: room.duration("interval"),
            windows: room.count("windows"),
            max_active: room.count("max_active"),
            max_waiting: room.or_none("max_waiting", Node::count),
            claim_window: room.duration("claim_window"),
            session_idle: room.or_none("session_idle", Node::duration),
            session_max: room.or_none("session_max", Node::duration),
            session_first: room.duration("session_first"),
            heartbeat_timeout: room.duration("heartbeat_timeout"),
            poll_max: room.duration("poll_max"),
            on_absence: room.word("on_absence", &ABSENCE, &[]),
            ticket_max: room.duration("ticket_max"),
            ticket_prefix: room.text("ticket_prefix"),
            cookies: room.word("cookies", &COOKIES, &[]),
            cookie_domain: room.text("cookie_domain"),
            queued_status: room.count("queued_status"),
            user_header: room.text("user_header"),
            single_use: room.read("single_use", Node::flag),
            bind: room.words("bind", &BINDINGS),
            limits: room.table("limits", limits).map(|l| Limits::read(&l)).unwrap_or_default(),
            page: room.table("page", page).map(|page| Page::read(&page)).unwrap_or_default(),
            config_version: room.count("config_version"),
            rate_min: room.read("rate_min", Node::rate),
            adaptive: room.table("adaptive", adaptive).map(|how| Adaptive::read(&how)),
            webhook_url: room.text("webhook_url"),
            rollout: room.count("rollout"),
            slots: room.texts("slots"),
            slot_grace: room.duration("slot_grace"),
            roster: room.read("roster", Node::flag),
            classes: room.named("classes", class).into_iter().map(Class::read).collect(),
            class_order: room.word("class_order", &ORDERS, &[]),
            class_share: room.read("class_share", Node::thousandths),
            class_header: room.text("class_header"),
            schedule: room.tables("schedule", event).into_iter().map(Event::read).collect(),
            spoiled: room.into_spoiled(),
        }
    }
}

impl Bypass {
    fn read(rule: Reader<'_>) -> Bypass {
        Bypass {
            place: rule.path().to_owned(),
            path: rule.text("path"),
            address: rule.text("address"),
            header: rule.text("header").map(|header| header.map(Veiled)),
            method: rule.text("method"),
            spoiled: rule.into_spoiled(),
        }
    }
}

impl Limits {
    fn read(limits: &Reader<'_>) -> Limits {
        Limits {
            join_per_address: limits.one_or_many("join_per_address", Node::allowance),
            join_per_device: limits.one_or_many("join_per_device", Node::allowance),
            join_per_user: limits.one_or_many("join_per_user", Node::allowance),
            requests_per_address: limits.read("requests_per_address", Node::allowance),
            requests_per_ticket: limits.read("requests_per_ticket", Node::allowance),
            places_per_address: limits.count("places_per_address"),
            events: limits.count("events"),
        }
    }
}

impl Adaptive {
    fn read(how: &Reader<'_>) -> Adaptive {
        const SIGNALS: [(&str, Signal); 2] =
            [("latency", Signal::Latency), ("completions", Signal::Completions)];
        Adaptive {
            path: how.path().to_owned(),
            signal: how.word("signal", &SIGNALS, &[]),
            target_p95: how.duration("target_p95"),
            max_error_ratio: how.read("max_error_ratio", Node::thousandths),
            completion_ratio: how.read("completion_ratio", Node::thousandths),
        }
    }
}

impl Page {
    fn read(page: &Reader<'_>) -> Page {
        Page {
            path: page.path().to_owned(),
            title: page.text("title"),
            message: page.text("message"),
            logo: page.text("logo"),
            accent: page.text("accent"),
            file: page.read("file", Node::path),
        }
    }
}
