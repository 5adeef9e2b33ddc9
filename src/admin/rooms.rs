//! Rooms as they are: counters, rates, and how long it takes. All of it from the node's view, whatever the line's length.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::access::{By, Look};
use super::adaptive::Adaptive;
use super::input::InRoom;
use super::number::Figure;
use super::refusal::Refusal;
use super::{Admin, parts};
use crate::clock;
use crate::gateway::api;
use crate::gateway::entrance::Entrance;
use crate::line::{self, Counts, Mode, Pace, Settings, View};
use crate::stats::expired;
use crate::units;

/// A room as it is.
#[derive(Serialize, ToSchema)]
pub(super) struct Room {
    /// As paths name it: without its tenant.
    id: String,
    /// Its whole name, as in tickets, logs and metrics.
    event_id: String,
    /// Whose it is; empty: nobody's in particular.
    tenant_id: String,
    /// Who is let in at all.
    #[schema(examples("auto", "hold", "drain", "closed"))]
    mode: &'static str,
    /// Whether releases by rate are paused.
    paused: bool,
    /// What its schedule says: open, prequeue or closed. Always open without one, and in every mode but auto and hold.
    #[schema(examples("open", "prequeue", "closed"))]
    phase: &'static str,
    /// When it opens next, by its schedule.
    opens_at: Option<String>,
    /// Whether there will be a draw then; null: it is open, or does not open again.
    draw: Option<bool>,
    /// When it closes, by its schedule.
    closes_at: Option<String>,
    /// Waiting and here.
    waiting: u64,
    /// Of these, visitors of a class.
    class_waiting: u64,
    /// Called, and not inside yet.
    admitted: u64,
    /// Inside.
    active: u64,
    /// Seats; null: any number.
    max_active: Option<u64>,
    /// How many may wait; null: any number.
    max_waiting: Option<u64>,
    /// Turns a second by the settings; null: no such limit.
    #[schema(value_type = Option<f64>)]
    rate_set: Option<Figure>,
    /// Turns a second over the last minute.
    #[schema(value_type = f64)]
    rate_reached: Figure,
    /// Joins a second over the last minute, as this node saw it.
    #[schema(value_type = f64)]
    join_rate: Figure,
    /// Numbers given in this epoch.
    joined_total: u64,
    /// Turns given.
    released_total: u64,
    /// Entered.
    admitted_total: u64,
    /// Completed.
    completed_total: u64,
    /// Sessions that ended without being completed.
    expired_total: u64,
    /// Called, but did not come.
    no_show_total: u64,
    /// Fell silent in line.
    dropped_total: u64,
    /// Entered within the last hour, as this node saw it.
    admissions_last_hour: u64,
    /// When somebody last entered.
    last_admission_at: Option<String>,
    /// How long those waited who entered lately on this node; null: nobody has.
    #[schema(value_type = Option<f64>)]
    average_wait_seconds: Option<Figure>,
    /// How long somebody would wait who joined now; null while nobody is released.
    eta: Option<Eta>,
    /// What waiting visitors are told.
    message: Option<String>,
    #[schema(value_type = f64)]
    claim_window_seconds: Figure,
    #[schema(value_type = Option<f64>)]
    session_idle_seconds: Option<Figure>,
    #[schema(value_type = Option<f64>)]
    session_max_seconds: Option<Figure>,
    #[schema(value_type = f64)]
    heartbeat_timeout_seconds: Figure,
    /// Where admissions are told.
    webhook_url: Option<String>,
    /// To how many of a hundred visitors it applies.
    rollout: u64,
    /// In mode shadow: who would be waiting.
    shadow_waiting: u64,
    /// What operators have set instead of the file's, by name.
    overrides: BTreeMap<String, Set>,
    /// The generation: a reset starts another.
    epoch: u64,
    /// Whether the store answers: `connected` or `disconnected`.
    store: &'static str,
    /// Since the store last answered.
    #[schema(value_type = Option<f64>)]
    view_age_seconds: Option<Figure>,
    /// The store's time.
    server_time: String,
    /// The rate in force and why, where it follows the origin; null: it does not, or is boosted.
    adaptive: Option<Adaptive>,
}

/// What is set instead of the file's.
#[derive(Serialize, ToSchema)]
pub(super) struct Set {
    #[schema(value_type = Value)]
    value: Value,
    /// When it ends; null: when it is taken back.
    until: Option<String>,
}

/// A range of time, in seconds from now.
#[derive(Serialize, ToSchema)]
pub(super) struct Eta {
    /// The likeliest.
    seconds: u64,
    /// Not before.
    low: u64,
    /// Not after, if things go on as they have.
    high: u64,
}

impl From<line::Eta> for Eta {
    fn from(line::Eta { seconds, low, high }: line::Eta) -> Eta {
        Eta { seconds, low, high }
    }
}

/// All rooms.
#[derive(Serialize, ToSchema)]
pub(super) struct Rooms {
    rooms: Vec<Room>,
}

/// The rooms
#[utoipa::path(
    get,
    path = "/v1/rooms",
    tag = "rooms",
    params((
        "X-Tenant-ID" = Option<String>, Header, description = "Whose rooms; `*`: everybody's",
        pattern = r"^(\*|[A-Za-z0-9._-]{1,126})$", nullable = false
    )),
    responses((status = 200, body = Rooms))
)]
pub(super) async fn list(State(admin): State<Arc<Admin>>, by: By<Look>) -> Json<Rooms> {
    let rooms = admin.rooms(&by.caller.scope);
    Json(Rooms { rooms: rooms.iter().map(|entrance| Room::of(entrance)).collect() })
}

/// One room
#[utoipa::path(
    get,
    path = "/v1/rooms/{id}",
    tag = "rooms",
    params(("id" = String, Path, description = "Without its tenant")),
    responses((status = 200, body = Room))
)]
pub(super) async fn one(room: InRoom<Look>) -> Result<Json<Room>, Refusal> {
    Ok(Json(Room::of(&room.entrance)))
}

impl Room {
    pub(super) fn of(entrance: &Entrance) -> Room {
        let room = &entrance.room;
        let view = room.view();
        let counts = *view.counts();
        let settings = view.settings();
        let lately = entrance.stats.lately(&counts);
        let (tenant, id) = parts(room.name());
        let (phase, opens, closes_ms) = api::phase(&view, room.now_ms());
        Room {
            id: id.to_owned(),
            event_id: room.name().to_owned(),
            tenant_id: tenant.to_owned(),
            mode: settings.map_or("auto", |settings| mode(settings.mode)),
            paused: counts.paused,
            phase,
            opens_at: opens.map(|(opens_ms, _)| clock::moment(opens_ms)),
            draw: opens.map(|(_, draw)| draw),
            closes_at: closes_ms.map(clock::moment),
            waiting: counts.waiting,
            class_waiting: counts.classed,
            admitted: counts.admitted,
            active: counts.inside,
            max_active: settings.and_then(|settings| settings.max_active),
            max_waiting: settings.and_then(|settings| settings.max_waiting),
            rate_set: settings.and_then(rate_set).map(Figure),
            rate_reached: Figure(rate_reached(&counts)),
            join_rate: Figure(lately.joins_per_second),
            joined_total: counts.issued,
            released_total: counts.turns,
            admitted_total: counts.entered,
            completed_total: counts.completed,
            expired_total: expired(&counts),
            no_show_total: counts.no_shows,
            dropped_total: counts.dropped,
            admissions_last_hour: lately.entered,
            last_admission_at: (counts.last_entry_ms > 0)
                .then(|| clock::moment(counts.last_entry_ms)),
            average_wait_seconds: entrance.stats.average_wait().map(Figure),
            eta: eta(&view, counts.waiting + 1),
            message: entrance.message(&view).map(|text| text.into_owned()),
            claim_window_seconds: seconds(settings.map_or(0, Settings::claim_window_ms)),
            session_idle_seconds: settings.and_then(|it| it.session_idle_ms).map(seconds),
            session_max_seconds: settings.and_then(|it| it.session_max_ms).map(seconds),
            heartbeat_timeout_seconds: seconds(settings.map_or(0, |it| it.heartbeat_timeout_ms)),
            webhook_url: entrance.webhook_url(&view).map(|url| url.into_owned()),
            rollout: entrance.rollout(&view),
            shadow_waiting: counts.shadow_waiting,
            overrides: overrides(&view, room.now_ms()),
            epoch: counts.epoch,
            store: store(entrance),
            view_age_seconds: room.heard_ago().map(|ago| Figure(ago.as_secs_f64())),
            server_time: clock::moment(room.now_ms()),
            adaptive: Adaptive::of(&view),
        }
    }
}

fn seconds(ms: u64) -> Figure {
    Figure(ms as f64 / 1_000.0)
}

/// What operators have set, in the words in which they set it.
fn overrides(view: &View, now_ms: u64) -> BTreeMap<String, Set> {
    let clock_ms = view.counts().clock_ms;
    let set = view.overrides().map(|overrides| &overrides.set);
    let set = set.into_iter().flatten().filter(|(name, _)| *name != "webhooks");
    set.map(|(name, set)| {
        let value: Value = serde_json::from_str(&set.value).unwrap_or_default();
        // On the room's clock, which may run behind the wall's.
        let until = (set.until_ms > 0)
            .then(|| clock::moment(now_ms + set.until_ms.saturating_sub(clock_ms)));
        let (name, value) = match (name.as_str(), value.as_u64()) {
            ("pace", _) => ("rate", paced(&value)),
            ("boost", _) => ("boost", paced(&value)),
            (name, Some(ms)) if name.ends_with("_ms") => {
                (name.trim_end_matches("_ms"), units::span(ms).into())
            }
            (name, _) => (name, value),
        };
        (name.to_owned(), Set { value, until })
    })
    .collect()
}

/// `"8/s"`.
fn paced(value: &Value) -> Value {
    match serde_json::from_value(value.clone()) {
        Ok(Pace::Rate { rate, .. }) => units::pace(rate.count, rate.per_ms).into(),
        Ok(Pace::Batch { batch, interval_ms, .. }) => units::pace(batch, interval_ms).into(),
        Err(_) => value.clone(),
    }
}

/// What somebody at a position may expect. Nothing, while nobody is released.
pub(super) fn eta(view: &View, position: u64) -> Option<Eta> {
    view.eta(position).map(Into::into)
}

/// Whether the store answers about a room.
pub(super) fn store(entrance: &Entrance) -> &'static str {
    if entrance.room.is_away() { "disconnected" } else { "connected" }
}

/// The word of a mode.
pub(super) fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Auto => "auto",
        Mode::Hold => "hold",
        Mode::Drain => "drain",
        Mode::Closed => "closed",
        Mode::Bypass => "bypass",
        Mode::Shadow => "shadow",
    }
}

/// Turns a second by the settings.
pub(super) fn rate_set(settings: &Settings) -> Option<f64> {
    let per_second = |count: u64, per_ms: u64| count as f64 * 1_000.0 / per_ms.max(1) as f64;
    Some(match settings.pace? {
        Pace::Rate { rate, .. } => per_second(rate.count, rate.per_ms),
        Pace::Batch { batch, interval_ms, .. } => per_second(batch, interval_ms),
    })
}

/// Turns a second over the last minute, or over a younger line's life.
pub(super) fn rate_reached(counts: &Counts) -> f64 {
    let age_ms = counts.clock_ms.saturating_sub(counts.turns_since_ms);
    let span_ms = age_ms.clamp(1_000, 60_000);
    counts.turns.saturating_sub(counts.turns_1m) as f64 * 1_000.0 / span_ms as f64
}

/// The rate to tell where there is place for one only: what is set, or else what is reached.
pub(super) fn rate(view: &View) -> f64 {
    view.settings().and_then(rate_set).unwrap_or_else(|| rate_reached(view.counts()))
}
