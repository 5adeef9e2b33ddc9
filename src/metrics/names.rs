//! Every name there is. Dashboards and alerts are written against these: one is changed only with a good reason.

/// How a metric behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only rises.
    Counter,
    /// Rises and falls.
    Gauge,
    /// Counts by size.
    Histogram,
}

/// A metric: without the prefix.
#[derive(Clone, Copy, Debug)]
pub struct Name {
    /// `queue_length`.
    pub name: &'static str,
    /// What it says.
    pub help: &'static str,
    /// What it is told apart by.
    pub labels: &'static [&'static str],
    /// How it behaves.
    pub kind: Kind,
}

/// A room: the whole name, and what stands before its `/`.
const ROOM: &[&str] = &["event_id", "tenant_id"];

const fn gauge(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Name {
    Name { name, help, labels, kind: Kind::Gauge }
}

const fn counter(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Name {
    Name { name, help, labels, kind: Kind::Counter }
}

const fn histogram(
    name: &'static str,
    labels: &'static [&'static str],
    help: &'static str,
) -> Name {
    Name { name, help, labels, kind: Kind::Histogram }
}

// Of a room's line, the same on every node: take the maximum over nodes, not the sum.
pub const QUEUE_LENGTH: Name = gauge("queue_length", ROOM, "Visitors waiting and here.");
pub const CLASS_LENGTH: Name =
    gauge("queue_class_length", ROOM, "Visitors of a class waiting and here, of queue_length.");
pub const JOIN_RATE: Name =
    gauge("queue_join_rate", ROOM, "Numbers given a second, over the last minute.");
pub const ABANDON_RATE: Name = gauge(
    "queue_abandon_rate",
    ROOM,
    "Visitors an hour who fell silent in line or did not come when called, over the last hour.",
);
pub const RELEASE_RATE: Name =
    gauge("release_rate", ROOM, "Turns given a second, over the last minute.");
pub const RELEASE_RATE_SET: Name =
    gauge("release_rate_set", ROOM, "Turns a second by the settings in force; absent without one.");
pub const ADMISSIONS: Name = counter("admissions_total", ROOM, "Visitors who entered.");
pub const EXPIRY_RATE: Name = gauge(
    "admission_token_expiry_rate",
    ROOM,
    "Sessions an hour that ended without being completed, over the last hour.",
);
pub const CONCURRENT: Name =
    gauge("concurrent_admissions", ROOM, "Passes in force: visitors inside.");
pub const PENDING: Name = gauge("admissions_pending", ROOM, "Called, and not inside yet.");
pub const CAPACITY: Name =
    gauge("capacity", ROOM, "Seats by the settings in force; absent without a limit.");
pub const JOINS: Name = counter("joins_total", ROOM, "Numbers given.");
pub const RELEASES: Name = counter("releases_total", ROOM, "Turns given.");
pub const COMPLETIONS: Name = counter("completions_total", ROOM, "Visits completed.");
pub const EXPIRIES: Name =
    counter("expiries_total", ROOM, "Sessions that ended without being completed.");
pub const NO_SHOWS: Name = counter("no_shows_total", ROOM, "Called, but did not come.");
pub const DROPPED: Name = counter("dropped_total", ROOM, "Fell silent in line.");
pub const PAUSED: Name = gauge("paused", ROOM, "1 while nobody is released but by hand.");
pub const PHASE: Name = gauge(
    "phase",
    &["event_id", "tenant_id", "phase"],
    "1 for what the schedule says (open, prequeue or closed), else 0.",
);
pub const OPENS_TIME: Name = gauge(
    "opens_time_seconds",
    ROOM,
    "When the room opens next by its schedule; absent while it is open, and if it does not.",
);
pub const STORE_UP: Name = gauge("store_up", ROOM, "1 while the store answers about this room.");
pub const VIEW_AGE: Name =
    gauge("view_age_seconds", ROOM, "Since this node's last exchange about the room.");
pub const STORE_BYTES: Name = gauge(
    "store_bytes",
    ROOM,
    "What the line takes in a store, places and seats by the arithmetic of docs/sizing.md; without devices and limits.",
);

// Of a room on this node: take the sum over nodes.
pub const QUEUE_WAIT: Name = histogram(
    "queue_wait_time_seconds",
    ROOM,
    "From joining to entering, of visitors who entered on this node.",
);
pub const ETA_ERROR: Name = histogram(
    "eta_error_ratio",
    ROOM,
    "What a wait came to by what was told at its beginning: 1 is right, 2 took twice as long. A sample, of waits from 5 s on.",
);
pub const ETA_RANGE: Name = counter(
    "eta_range_total",
    &["event_id", "tenant_id", "turn"],
    "The same sample, by whether turns came before the range that was told, within it, or after it.",
);
pub const GHOSTS: Name = counter(
    "ghosts_total",
    ROOM,
    "Entered here without having waited, and not back within session_first: bots, previews, monitors.",
);
pub const REQUESTS: Name = counter(
    "requests_total",
    &["event_id", "tenant_id", "outcome"],
    "Requests to guarded pages, by what became of them.",
);

// Of this node.
pub const API_REQUESTS: Name =
    counter("api_requests_total", &["endpoint", "status"], "Calls of both APIs.");
pub const API_DURATION: Name = histogram(
    "api_request_duration_seconds",
    &["endpoint"],
    "How long calls take. Of polls answered from memory one in 64 is measured.",
);
pub const RATE_LIMIT_HITS: Name =
    counter("rate_limit_hits_total", &["type"], "Requests over a limit.");
pub const WEBHOOK_DELIVERIES: Name =
    counter("webhook_delivery_total", &["status"], "Webhooks delivered, or given up.");
pub const REDIS_DURATION: Name =
    histogram("redis_operation_duration_seconds", &[], "Exchanges with Redis.");
pub const STORE_DURATION: Name =
    histogram("store_operation_duration_seconds", &["store"], "Exchanges with the store.");
pub const STORE_ERRORS: Name =
    counter("store_errors_total", &["store"], "Exchanges that the store did not answer.");
pub const ORIGIN_DURATION: Name = histogram(
    "origin_request_duration_seconds",
    &["origin"],
    "From choosing a server to the head of its answer.",
);
pub const ORIGIN_RESPONSES: Name =
    counter("origin_responses_total", &["origin", "status"], "Answers of origins, by class.");
pub const ORIGIN_ERRORS: Name =
    counter("origin_errors_total", &["origin", "kind"], "Requests without an answer.");
pub const CONNECTIONS: Name = gauge("connections", &[], "Visitors' connections open.");
pub const CONNECTIONS_MAX: Name =
    gauge("connections_max", &[], "Visitors' connections that may be open.");
pub const STREAMS: Name = gauge("event_streams", &[], "Streams of server-sent events open.");
pub const ORDER_SPREAD: Name = gauge(
    "order_spread_seconds",
    &[],
    "How far apart in time two nodes may be about one line, while the store answers.",
);
pub const ORDER_SPREAD_LOSING: Name = gauge(
    "order_spread_losing_seconds",
    &[],
    "The same, of a node that is losing its store and does not know it yet.",
);
pub const ADAPTIVE_RATE: Name = gauge(
    "adaptive_rate",
    ROOM,
    "Turns a second in force where the rate adapts; absent elsewhere.",
);
pub const ADAPTIVE_P95: Name = gauge(
    "adaptive_p95_seconds",
    ROOM,
    "What 95 of 100 requests took at most in the last window that was judged.",
);
pub const ADAPTIVE_SLOW: Name =
    gauge("adaptive_slow_ratio", ROOM, "The part of them that took longer than target_p95.");
pub const ADAPTIVE_ERRORS: Name =
    gauge("adaptive_error_ratio", ROOM, "The part of the answers that were errors.");
pub const START_TIME: Name = gauge("start_time_seconds", &[], "When this node started.");
pub const BUILD_INFO: Name = gauge("build_info", &["version"], "Always 1.");

/// The whole table.
pub const ALL: &[Name] = &[
    QUEUE_LENGTH,
    CLASS_LENGTH,
    QUEUE_WAIT,
    JOIN_RATE,
    ABANDON_RATE,
    RELEASE_RATE,
    ADMISSIONS,
    EXPIRY_RATE,
    REDIS_DURATION,
    API_DURATION,
    API_REQUESTS,
    RATE_LIMIT_HITS,
    WEBHOOK_DELIVERIES,
    CONCURRENT,
    RELEASE_RATE_SET,
    PENDING,
    CAPACITY,
    JOINS,
    RELEASES,
    COMPLETIONS,
    EXPIRIES,
    NO_SHOWS,
    DROPPED,
    PAUSED,
    PHASE,
    OPENS_TIME,
    STORE_UP,
    VIEW_AGE,
    STORE_BYTES,
    ETA_ERROR,
    ETA_RANGE,
    GHOSTS,
    REQUESTS,
    STORE_DURATION,
    STORE_ERRORS,
    ORIGIN_DURATION,
    ORIGIN_RESPONSES,
    ORIGIN_ERRORS,
    CONNECTIONS,
    CONNECTIONS_MAX,
    STREAMS,
    ORDER_SPREAD,
    ORDER_SPREAD_LOSING,
    START_TIME,
    BUILD_INFO,
    ADAPTIVE_RATE,
    ADAPTIVE_P95,
    ADAPTIVE_SLOW,
    ADAPTIVE_ERRORS,
];
