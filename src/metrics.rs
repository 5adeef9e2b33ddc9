//! What is measured, and what it is called: one table of names, and the counters behind it.
//!
//! Owns the names, the help, the labels and their bounds. Rooms and origins come from the configuration, endpoints and
//! statuses from lists here, so no visitor makes a series. Whoever counts holds counters that were looked up once: a
//! request costs an atomic addition and never a label. Decides nothing, and knows neither HTTP nor rooms.
//!
//! What a line knows itself (how many wait, how many entered) is not counted here a second time: it is read from the node's
//! view when somebody asks, which costs the same however long the line is.
//!
//! - `names`: the table.
//! - `meters`: what those hold who count.
//! - `scrape`: from all of it to text.

mod meters;
mod names;
mod scrape;

use std::collections::BTreeSet;
use std::sync::{Mutex, OnceLock, PoisonError};

use prometheus::{
    Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, Opts, Registry,
};

use meters::{CLASSES, ERRORS};
pub use meters::{Endpoint, Failed, Foretold, Origin, Outcome, Room, Store, Webhooks};
pub use names::{ALL, Kind, Name};
pub use scrape::{NodeFigures, RoomFigures};

/// What an operator may set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Before every name.
    pub prefix: String,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { prefix: "anteroom_".to_owned() }
    }
}

/// Answers from memory take microseconds, those of the line milliseconds, those of a lost store seconds.
const API: [f64; 12] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];
/// An exchange in memory takes microseconds, in a Redis a millisecond; after 1.5 s it is given up.
const STORE: [f64; 11] = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.5, 1.5];
/// From a second to half a day.
const WAITS: [f64; 13] = [
    1.0, 5.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1_200.0, 1_800.0, 3_600.0, 14_400.0, 43_200.0,
];
/// Of what was told: a tenth and a quarter off are what a range allows for, twice as long is what people complain about.
const ETA_ERRORS: [f64; 12] = [0.1, 0.25, 0.5, 0.75, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 4.0, 10.0];
/// From a cache's answer to the patience of a visitor.
const ORIGIN: [f64; 12] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0];

/// Statuses that are counted each for itself; any other is `other`.
const STATUSES: [u16; 16] =
    [200, 202, 204, 400, 401, 403, 404, 405, 409, 410, 413, 415, 429, 431, 500, 503];

/// What may be over a limit.
pub(crate) const LIMITS: [&str; 6] = [
    "join_per_address",
    "join_per_device",
    "join_per_user",
    "requests_per_address",
    "requests_per_ticket",
    "admin",
];

/// Everything a node counts. One a node.
pub struct Metrics {
    prefix: String,
    registry: Registry,
    api_requests: IntCounterVec,
    api_durations: HistogramVec,
    limits: [IntCounter; LIMITS.len()],
    waits: HistogramVec,
    eta_errors: HistogramVec,
    eta_ranges: IntCounterVec,
    ghosts: IntCounterVec,
    requests: IntCounterVec,
    origin_durations: HistogramVec,
    origin_responses: IntCounterVec,
    origin_errors: IntCounterVec,
    store_durations: HistogramVec,
    store_errors: IntCounterVec,
    redis_durations: Histogram,
    webhooks: IntCounterVec,
    /// Rooms and origins that are told of.
    told: Mutex<(BTreeSet<String>, BTreeSet<String>)>,
}

impl Default for Metrics {
    fn default() -> Metrics {
        Metrics::new(&Settings::default())
    }
}

impl Metrics {
    /// Nothing counted yet.
    ///
    /// # Panics
    /// Never: the names of the table are good, and each is there once. A test makes one.
    pub fn new(settings: &Settings) -> Metrics {
        let registry = Registry::new();
        let prefix = settings.prefix.clone();
        let counters = |name: &Name| {
            let vec = IntCounterVec::new(options(&prefix, name), name.labels).expect("a good name");
            registry.register(Box::new(vec.clone())).expect("there once");
            vec
        };
        let histograms = |name: &Name, buckets: &[f64]| {
            let options = HistogramOpts::from(options(&prefix, name)).buckets(buckets.to_vec());
            let vec = HistogramVec::new(options, name.labels).expect("a good name");
            registry.register(Box::new(vec.clone())).expect("there once");
            vec
        };
        let limits = counters(&names::RATE_LIMIT_HITS);
        let webhooks = counters(&names::WEBHOOK_DELIVERIES);
        for status in ["success", "retry", "failure"] {
            webhooks.with_label_values(&[status]);
        }
        let none: [&str; 0] = [];
        Metrics {
            webhooks,
            api_requests: counters(&names::API_REQUESTS),
            api_durations: histograms(&names::API_DURATION, &API),
            limits: LIMITS.map(|limit| limits.with_label_values(&[limit])),
            waits: histograms(&names::QUEUE_WAIT, &WAITS),
            eta_errors: histograms(&names::ETA_ERROR, &ETA_ERRORS),
            eta_ranges: counters(&names::ETA_RANGE),
            ghosts: counters(&names::GHOSTS),
            requests: counters(&names::REQUESTS),
            origin_durations: histograms(&names::ORIGIN_DURATION, &ORIGIN),
            origin_responses: counters(&names::ORIGIN_RESPONSES),
            origin_errors: counters(&names::ORIGIN_ERRORS),
            store_durations: histograms(&names::STORE_DURATION, &STORE),
            store_errors: counters(&names::STORE_ERRORS),
            redis_durations: histograms(&names::REDIS_DURATION, &STORE).with_label_values(&none),
            told: Mutex::default(),
            registry,
            prefix,
        }
    }

    /// What counts calls of one endpoint: a path, with its parameters by name.
    pub fn endpoint(&self, endpoint: &str) -> Endpoint {
        Endpoint {
            name: endpoint.to_owned(),
            requests: self.api_requests.clone(),
            statuses: std::array::from_fn(|_| OnceLock::new()),
            duration: self.api_durations.with_label_values(&[endpoint]),
        }
    }

    /// What counts in a room.
    pub fn room(&self, room: &str) -> Room {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).0.insert(room.to_owned());
        let tenant = tenant_of(room);
        Room {
            outcomes: Outcome::ALL
                .map(|outcome| self.requests.with_label_values(&[room, tenant, outcome.name()])),
            waits: self.waits.with_label_values(&[room, tenant]),
            eta_errors: self.eta_errors.with_label_values(&[room, tenant]),
            eta_ranges: Foretold::ALL
                .map(|turn| self.eta_ranges.with_label_values(&[room, tenant, turn.name()])),
            ghosts: self.ghosts.with_label_values(&[room, tenant]),
            limits: self.limits.clone(),
        }
    }

    /// What counts at an origin.
    pub fn origin(&self, origin: &str) -> Origin {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).1.insert(origin.to_owned());
        Origin {
            duration: self.origin_durations.with_label_values(&[origin]),
            classes: CLASSES.map(|class| self.origin_responses.with_label_values(&[origin, class])),
            errors: ERRORS.map(|kind| self.origin_errors.with_label_values(&[origin, kind])),
        }
    }

    /// What counts at a store of this kind.
    pub fn store(&self, kind: &str) -> Store {
        Store {
            duration: self.store_durations.with_label_values(&[kind]),
            redis: (kind == "redis").then(|| self.redis_durations.clone()),
            errors: self.store_errors.with_label_values(&[kind]),
        }
    }

    /// What counts letters.
    pub fn webhooks(&self) -> Webhooks {
        let counter = |status: &str| self.webhooks.with_label_values(&[status]);
        Webhooks {
            delivered: counter("success"),
            retried: counter("retry"),
            failed: counter("failure"),
        }
    }

    /// Somebody is over a limit.
    pub fn limited(&self, limit: &str) {
        meters::count_limit(&self.limits, limit);
    }

    /// Rooms and origins that are no longer there are no longer told of.
    pub fn retain(&self, is_room: impl Fn(&str) -> bool, is_origin: impl Fn(&str) -> bool) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let (rooms, origins) = &mut *told;
        rooms.retain(|room| {
            let stays = is_room(room);
            if !stays {
                let tenant = tenant_of(room);
                let _ = self.waits.remove_label_values(&[room, tenant]);
                let _ = self.eta_errors.remove_label_values(&[room, tenant]);
                let _ = self.ghosts.remove_label_values(&[room, tenant]);
                for turn in Foretold::ALL {
                    let _ = self.eta_ranges.remove_label_values(&[room, tenant, turn.name()]);
                }
                for outcome in Outcome::ALL {
                    let labels = [room, tenant, outcome.name()];
                    let _ = self.requests.remove_label_values(&labels);
                }
            }
            stays
        });
        origins.retain(|origin| {
            let stays = is_origin(origin);
            if !stays {
                let _ = self.origin_durations.remove_label_values(&[origin]);
                for class in CLASSES {
                    let _ = self.origin_responses.remove_label_values(&[origin.as_str(), class]);
                }
                for kind in ERRORS {
                    let _ = self.origin_errors.remove_label_values(&[origin.as_str(), kind]);
                }
            }
            stays
        });
    }
}

fn options(prefix: &str, name: &Name) -> Opts {
    Opts::new(format!("{prefix}{}", name.name), name.help)
}

/// What stands before the `/` of a room's name; nothing if there is none.
pub fn tenant_of(room: &str) -> &str {
    room.split_once('/').map_or("", |(tenant, _)| tenant)
}
