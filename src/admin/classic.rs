//! The calls that name their room in the body or the query: release, pause, config and metrics, as scripts for other waiting rooms
//! know them.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value, json};
use tokio::time::{Instant, sleep};
use utoipa::{IntoParams, ToSchema};

use super::access::{Act, By, Caller, Look};
use super::change::{self, Written};
use super::history::last_hour;
use super::input::{Asked, Told};
use super::number::{Figure, Whole};
use super::orders::order;
use super::refusal::{ErrorBody, Refusal, no_answer};
use super::rooms::rate;
use super::settings::Role;
use super::verbs::{release_by_hand, set_paused};
use super::{Admin, MADE, parts};
use crate::gateway::entrance::Entrance;
use crate::line::{Change, Command, Mode};
use crate::name;
use crate::stats::abandoned;

/// A room that was made is there within this: a reload of the node.
const MAKING: Duration = Duration::from_secs(10);
const GLANCE: Duration = Duration::from_millis(20);

/// Whom to release.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "event_id": "evt_123", "count": 100, "rate_per_second": 10 }))]
pub(super) struct Release {
    /// Without its tenant.
    event_id: String,
    /// How many to call now.
    #[schema(minimum = 1, maximum = 1_000_000, value_type = Option<u64>)]
    count: Option<Whole>,
    /// And how fast from now on.
    #[schema(value_type = Option<f64>)]
    rate_per_second: Option<Number>,
}

/// What a release did.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({ "released": 100, "remaining_in_queue": 1423, "current_release_rate": 10 }))]
pub(super) struct ReleaseDone {
    released: u64,
    remaining_in_queue: u64,
    #[schema(value_type = f64)]
    current_release_rate: Figure,
}

/// Call the next visitors now
#[utoipa::path(
    post, path = "/v1/admin/release", tag = "classic", request_body = Release,
    responses(
        (status = 200, body = ReleaseDone),
        (status = 404, body = ErrorBody)
    )
)]
pub(super) async fn release(
    State(admin): State<Arc<Admin>>,
    by: By<Act>,
    Told(Release { event_id, count, rate_per_second }): Told<Release>,
) -> Result<Json<ReleaseDone>, Refusal> {
    let entrance = admin.room(&by.caller.scope, &event_id)?;
    if let Some(rate) = &rate_per_second {
        let rate = Written::Number(rate.clone());
        let one = change::rate(&rate)?;
        let words = json!({ "rate": rate });
        change::set(&by.caller.of("rate"), &entrance, vec![one], "set", words).await?;
    }
    let released = match count {
        Some(Whole(count)) => release_by_hand(&by.caller, &entrance, count).await?.released,
        None if rate_per_second.is_some() => 0,
        None => {
            return Err(Refusal::bad(
                "count or rate_per_second is missing: how many to release, or how fast",
            ));
        }
    };
    let view = entrance.room.view();
    Ok(Json(ReleaseDone {
        released,
        remaining_in_queue: view.waiting(),
        current_release_rate: Figure(rate(&view)),
    }))
}

/// What to pause.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "event_id": "evt_123", "paused": true }))]
pub(super) struct Pause {
    /// Without its tenant.
    event_id: String,
    /// Or to resume.
    paused: bool,
}

/// What a pause did.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({ "event_id": "evt_123", "paused": true, "queue_length": 1523 }))]
pub(super) struct PauseDone {
    event_id: String,
    paused: bool,
    queue_length: u64,
}

/// Pause releases, or resume them
#[utoipa::path(
    post, path = "/v1/admin/pause", tag = "classic", request_body = Pause,
    responses(
        (status = 200, body = PauseDone),
        (status = 404, body = ErrorBody)
    )
)]
pub(super) async fn pause(
    State(admin): State<Arc<Admin>>,
    by: By<Act>,
    Told(Pause { event_id, paused }): Told<Pause>,
) -> Result<Json<PauseDone>, Refusal> {
    let entrance = admin.room(&by.caller.scope, &event_id)?;
    set_paused(&by.caller, &entrance, paused).await?;
    let view = entrance.room.view();
    Ok(Json(PauseDone { event_id, paused: view.counts().paused, queue_length: view.waiting() }))
}

/// A room's settings; one that there is not is made.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "event_id": "evt_123", "enabled": true, "release_rate_per_second": 5, "max_queue_size": 10000,
    "admission_token_ttl_seconds": 300, "heartbeat_timeout_seconds": 60, "max_capacity": 5000, "bypass_queue": false
}))]
pub(super) struct Config {
    /// Without its tenant.
    event_id: String,
    /// False: nobody new, nobody released.
    enabled: Option<bool>,
    #[schema(value_type = Option<f64>)]
    release_rate_per_second: Option<Number>,
    max_queue_size: Option<u64>,
    #[schema(minimum = 1)]
    admission_token_ttl_seconds: Option<u64>,
    #[schema(minimum = 5)]
    heartbeat_timeout_seconds: Option<u64>,
    #[schema(minimum = 1)]
    max_capacity: Option<u64>,
    /// True: everybody enters at once.
    bypass_queue: Option<bool>,
    webhook_url: Option<String>,
}

/// What is in force.
#[derive(Serialize, ToSchema)]
pub(super) struct ConfigDone {
    event_id: String,
    config: InForce,
}

/// Settings in force.
#[derive(Serialize, ToSchema)]
pub(super) struct InForce {
    enabled: bool,
    #[schema(value_type = f64)]
    release_rate_per_second: Figure,
    max_queue_size: Option<u64>,
    #[schema(value_type = f64)]
    admission_token_ttl_seconds: Figure,
    #[schema(value_type = f64)]
    heartbeat_timeout_seconds: Figure,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_capacity: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bypass_queue: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    webhook_url: Option<String>,
}

impl Config {
    fn changes(&self, admin: &Admin) -> Result<Vec<Change>, Refusal> {
        let mut changes = Vec::new();
        match (self.enabled, self.bypass_queue) {
            (None, None) => {}
            (Some(false), _) => changes.push(change::mode(Mode::Closed)),
            (_, Some(true)) => changes.push(change::mode(Mode::Bypass)),
            _ => changes.push(change::mode(Mode::Auto)),
        }
        if let Some(rate) = &self.release_rate_per_second {
            changes.push(change::rate(&Written::Number(rate.clone()))?);
        }
        let ms = |seconds: Option<u64>| seconds.map(|seconds| seconds.saturating_mul(1_000));
        for (name, value) in [
            ("max_waiting", self.max_queue_size),
            ("session_idle_ms", ms(self.admission_token_ttl_seconds)),
            ("heartbeat_timeout_ms", ms(self.heartbeat_timeout_seconds)),
            ("max_active", self.max_capacity),
        ] {
            changes.extend(value.map(|value| change::change(name, Some(json!(value)))));
        }
        if let Some(url) = &self.webhook_url {
            admin.check_webhook(url)?;
            changes.push(change::change("webhook_url", Some(json!(url))));
            changes.push(change::change("webhooks", Some(json!(true))));
        }
        Ok(changes)
    }

    /// In the words in which it was said, for the book.
    fn words(&self) -> Value {
        let Config { enabled, release_rate_per_second, max_queue_size, max_capacity, .. } = self;
        let mut words = json!({
            "enabled": enabled,
            "release_rate_per_second": release_rate_per_second,
            "max_queue_size": max_queue_size,
            "admission_token_ttl_seconds": self.admission_token_ttl_seconds,
            "heartbeat_timeout_seconds": self.heartbeat_timeout_seconds,
            "max_capacity": max_capacity,
            "bypass_queue": self.bypass_queue,
            "webhook_url": self.webhook_url,
        });
        if let Some(fields) = words.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
        }
        words
    }
}

/// Change settings, of a room that is made if there is none
#[utoipa::path(
    post, path = "/v1/admin/config", tag = "classic", request_body = Config,
    responses(
        (status = 200, body = ConfigDone), (status = 400, body = ErrorBody), (status = 403, body = ErrorBody),
        (status = 404, body = ErrorBody), (status = 409, body = ErrorBody), (status = 503, body = ErrorBody)
    )
)]
pub(super) async fn config(
    State(admin): State<Arc<Admin>>,
    by: By<Act>,
    Told(config): Told<Config>,
) -> Result<Json<ConfigDone>, Refusal> {
    let changes = config.changes(&admin)?;
    let entrance = match admin.room(&by.caller.scope, &config.event_id) {
        Err(_) if by.caller.role >= Role::Admin => admin.make(&by.caller, &config.event_id).await?,
        found => found?,
    };
    if !changes.is_empty() {
        change::set(&by.caller, &entrance, changes, "config", config.words()).await?;
    }
    let view = entrance.room.view();
    let settings = view.settings().cloned().unwrap_or_default();
    let seconds = |ms: u64| Figure(ms as f64 / 1_000.0);
    let config = InForce {
        enabled: settings.mode != Mode::Closed,
        release_rate_per_second: Figure(rate(&view)),
        max_queue_size: settings.max_waiting,
        admission_token_ttl_seconds: seconds(settings.session_ms()),
        heartbeat_timeout_seconds: seconds(settings.heartbeat_timeout_ms),
        max_capacity: settings.max_active,
        bypass_queue: (settings.mode == Mode::Bypass).then_some(true),
        webhook_url: entrance.webhook_url(&view).map(|url| url.into_owned()),
    };
    let event_id = parts(entrance.room.name()).1.to_owned();
    Ok(Json(ConfigDone { event_id, config }))
}

impl Admin {
    /// A room that there was not: reachable by the visitor API only, on every node.
    ///
    /// # Errors
    /// 400: no room could be called so. 503: it is not there in time.
    async fn make(&self, caller: &Caller, id: &str) -> Result<Arc<Entrance>, Refusal> {
        let name = caller.scope.name(id)?.filter(|name| name::is_room(name));
        let name = name.ok_or_else(|| {
            Refusal::bad("event_id is no name for a room: letters, digits, . _ and -")
        })?;
        let one = change::change(&format!("{MADE}{name}"), Some(json!({})));
        let caller = caller.of("make");
        let words = json!({ "event_id": name });
        order(&caller, &self.node.house, Command::Set(vec![one]), "make", words).await?;
        let until = Instant::now() + MAKING;
        loop {
            if let Some(entrance) = self.node.live.load().entrances.get(&name)
                && entrance.room.heard_ago().is_some()
            {
                return Ok(entrance.clone());
            }
            if Instant::now() > until {
                return Err(no_answer());
            }
            sleep(GLANCE).await;
        }
    }
}

/// Which room.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Which {
    /// Without its tenant.
    event_id: String,
}

/// A room's figures.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "event_id": "evt_123", "queue_length": 1523, "average_wait_seconds": 180, "release_rate_per_second": 5,
    "admissions_last_hour": 1800, "abandoned_sessions": 45, "paused": false
}))]
pub(super) struct Metrics {
    event_id: String,
    queue_length: u64,
    /// Of those who entered within the last hour.
    #[schema(value_type = f64)]
    average_wait_seconds: Figure,
    /// As it is set; without a rate, as it is reached.
    #[schema(value_type = f64)]
    release_rate_per_second: Figure,
    admissions_last_hour: u64,
    /// Fell silent in line, or did not come when called.
    abandoned_sessions: u64,
    paused: bool,
}

/// A room's figures
#[utoipa::path(
    get, path = "/v1/admin/metrics", tag = "classic", params(Which),
    responses((status = 200, body = Metrics), (status = 404, body = ErrorBody))
)]
pub(super) async fn metrics(
    State(admin): State<Arc<Admin>>,
    by: By<Look>,
    Asked(Which { event_id }): Asked<Which>,
) -> Result<Json<Metrics>, Refusal> {
    let entrance = admin.room(&by.caller.scope, &event_id)?;
    let view = entrance.room.view();
    let (admissions_last_hour, wait) = last_hour(&admin.past(entrance.room.name()).await?);
    Ok(Json(Metrics {
        event_id,
        queue_length: view.waiting(),
        average_wait_seconds: Figure(wait.or(entrance.stats.average_wait()).unwrap_or(0.0)),
        release_rate_per_second: Figure(rate(&view)),
        admissions_last_hour,
        abandoned_sessions: abandoned(view.counts()),
        paused: view.counts().paused,
    }))
}
