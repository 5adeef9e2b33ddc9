//! Settings that operators change while a room runs: what may be said, and what the line and the nodes are told.
//!
//! Owns the names and spellings of `PATCH /v1/rooms/{id}`. A change is an order like any other: it is in force on every node
//! within a second, survives restarts, and is shown as an override of what the file says.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;
use utoipa::ToSchema;

use super::Admin;
use super::access::{Act, Caller};
use super::input::{InRoom, Told};
use super::orders::order;
use super::refusal::{ErrorBody, Refusal};
use super::rooms::Room;
use crate::gateway::entrance::Entrance;
use crate::line::{BOOST, Change, Command, Mode, Pace, Rate, Settings};
use crate::units;

/// Characters of a message: a few lines on a phone.
const MAX_MESSAGE: usize = 500;

/// What is to be otherwise than the file says. What is not named stays; null takes a change back.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(example = json!({ "rate": "8/s", "max_active": 800, "message": "The second half goes on sale at noon." }))]
pub(super) struct Patch {
    /// Who is let in at all.
    #[serde(deserialize_with = "given")]
    #[schema(value_type = Option<String>, examples("auto", "hold", "drain", "closed", "bypass", "shadow"))]
    mode: Option<Option<Mode>>,
    /// Turns a time, as `"5/s"` or as a number a second.
    #[serde(deserialize_with = "given")]
    #[schema(value_type = Option<Value>, examples("5/s", 5))]
    rate: Option<Option<Written>>,
    /// How many of them at once; by default those of a second.
    #[schema(minimum = 1)]
    burst: Option<u64>,
    /// Seats.
    #[serde(deserialize_with = "given")]
    #[schema(value_type = Option<u64>, minimum = 1)]
    max_active: Option<Option<u64>>,
    /// How many may wait.
    #[serde(deserialize_with = "given")]
    #[schema(value_type = Option<u64>)]
    max_waiting: Option<Option<u64>>,
    /// As `"2m"`, or as a number of seconds; so are the next three.
    #[serde(deserialize_with = "given")]
    #[schema(value_type = Option<Value>)]
    claim_window: Option<Option<Written>>,
    #[serde(deserialize_with = "given")]
    #[schema(value_type = Option<Value>)]
    session_idle: Option<Option<Written>>,
    #[serde(deserialize_with = "given")]
    #[schema(value_type = Option<Value>)]
    session_max: Option<Option<Written>>,
    #[serde(deserialize_with = "given")]
    #[schema(value_type = Option<Value>)]
    heartbeat_timeout: Option<Option<Written>>,
    /// What waiting visitors are told.
    #[serde(deserialize_with = "given")]
    #[schema(value_type = Option<String>, max_length = 500)]
    message: Option<Option<String>>,
    /// Where admissions are told.
    #[serde(deserialize_with = "given")]
    #[schema(value_type = Option<String>)]
    webhook_url: Option<Option<String>>,
    /// To how many of a hundred visitors the room applies; the others are let through.
    #[serde(deserialize_with = "given")]
    #[schema(value_type = Option<u64>, minimum = 0, maximum = 100)]
    rollout: Option<Option<u64>>,
}

/// A value as people write it, or as a number.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(untagged, expecting = "text or a number is expected")]
pub(super) enum Written {
    Text(String),
    Number(serde_json::Number),
}

/// Null is something else than nothing.
fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

impl Written {
    fn rate(&self) -> Result<Rate, Refusal> {
        let text = match self {
            Written::Text(text) => text.clone(),
            Written::Number(number) => format!("{number}/s"),
        };
        units::rate(&text).map_err(|why| Refusal::bad(format!("rate: {why}")))
    }

    fn duration_ms(&self, name: &str) -> Result<u64, Refusal> {
        let text = match self {
            Written::Text(text) => text.clone(),
            Written::Number(number) => match number.as_f64() {
                Some(seconds) if (0.0..1e9).contains(&seconds) => {
                    return Ok((seconds * 1_000.0).round() as u64);
                }
                _ => number.to_string(),
            },
        };
        units::duration(&text).map_err(|why| Refusal::bad(format!("{name}: {why}")))
    }
}

/// A rate with its depth: those of a second, at least one, unless something else is said.
pub(super) fn pace(rate: Rate, burst: Option<u64>) -> Pace {
    let second = (rate.count * 1_000).div_ceil(rate.per_ms.max(1)).max(1);
    Pace::Rate { rate, burst: burst.unwrap_or(second) }
}

/// A change that stays until it is taken back.
pub(super) fn change(name: &str, value: Option<Value>) -> Change {
    Change { name: name.to_owned(), value: value.map(|value| value.to_string()), for_ms: 0 }
}

/// A pace that stays.
pub(super) fn rate(rate: &Written) -> Result<Change, Refusal> {
    Ok(change("pace", Some(json!(pace(rate.rate()?, None)))))
}

/// A pace for a time.
pub(super) fn boost(rate: &Written, for_ms: u64) -> Result<Change, Refusal> {
    let value = Some(json!(pace(rate.rate()?, None)).to_string());
    Ok(Change { name: BOOST.to_owned(), value, for_ms })
}

/// A mode's word.
pub(super) fn mode(mode: Mode) -> Change {
    change("mode", Some(json!(mode)))
}

impl Patch {
    /// What the line is told, and in which words the book tells of it.
    fn changes(
        self,
        admin: &Admin,
        settings: Option<&Settings>,
    ) -> Result<(Vec<Change>, Value), Refusal> {
        let mut changes = Vec::new();
        let mut words = serde_json::Map::new();
        let mut put = |name: &str, word: Value, change: Change| {
            words.insert(name.to_owned(), word);
            changes.push(change);
        };
        if let Some(given) = self.mode {
            put("mode", json!(given), change("mode", given.map(|mode| json!(mode))));
        }
        match (self.rate, self.burst) {
            (Some(None), _) => put("rate", Value::Null, change("pace", None)),
            (Some(Some(rate)), burst) => {
                let pace = pace(rate.rate()?, burst);
                put("rate", paces(pace), change("pace", Some(json!(pace))));
            }
            (None, Some(burst)) => match settings.and_then(|settings| settings.pace) {
                Some(Pace::Rate { rate, .. }) => {
                    let pace = pace(rate, Some(burst));
                    put("burst", json!(burst), change("pace", Some(json!(pace))));
                }
                _ => return Err(Refusal::bad("burst: there is no rate that it could go with")),
            },
            (None, None) => {}
        }
        let counts = [("max_active", self.max_active), ("max_waiting", self.max_waiting)];
        for (name, given) in counts.into_iter().filter_map(|(name, given)| Some((name, given?))) {
            put(name, json!(given), change(name, given.map(|count| json!(count))));
        }
        let times = [
            ("claim_window", "claim_window_ms", self.claim_window),
            ("session_idle", "session_idle_ms", self.session_idle),
            ("session_max", "session_max_ms", self.session_max),
            ("heartbeat_timeout", "heartbeat_timeout_ms", self.heartbeat_timeout),
        ];
        for (word, name, given) in times {
            let Some(given) = given else { continue };
            let ms = given.map(|written| written.duration_ms(word)).transpose()?;
            put(word, json!(ms.map(units::span)), change(name, ms.map(|ms| json!(ms))));
        }
        if let Some(text) = self.message {
            let text = text.map(|text| check_message(&text)).transpose()?;
            put("message", json!(text), change("message", text.map(Value::String)));
        }
        if let Some(percent) = self.rollout {
            if percent.is_some_and(|percent| percent > 100) {
                return Err(Refusal::bad("rollout: a percentage is at most 100"));
            }
            put(
                "rollout",
                json!(percent),
                change("rollout", percent.map(|percent| json!(percent))),
            );
        }
        if let Some(url) = self.webhook_url {
            if let Some(url) = &url {
                admin.check_webhook(url)?;
            }
            put("webhook_url", json!(url), change("webhook_url", url.clone().map(Value::String)));
            changes.push(change("webhooks", url.map(|_| json!(true))));
        }
        if changes.is_empty() {
            return Err(Refusal::bad("nothing is to be changed: name a setting"));
        }
        Ok((changes, Value::Object(words)))
    }
}

fn paces(pace: Pace) -> Value {
    match pace {
        Pace::Rate { rate, .. } => json!(units::pace(rate.count, rate.per_ms)),
        Pace::Batch { batch, interval_ms, .. } => json!(units::pace(batch, interval_ms)),
    }
}

/// A message that fits a page.
pub(super) fn check_message(text: &str) -> Result<String, Refusal> {
    let text = text.trim();
    if text.chars().count() > MAX_MESSAGE {
        return Err(Refusal::bad(format!("message: at most {MAX_MESSAGE} characters")));
    }
    if text.chars().any(|c| c.is_control() && c != '\n') {
        return Err(Refusal::bad("message: no control characters"));
    }
    Ok(text.to_owned())
}

/// Orders changes of a room, if they go with what else is set.
pub(super) async fn set(
    caller: &Caller,
    entrance: &Entrance,
    changes: Vec<Change>,
    action: &str,
    words: Value,
) -> Result<(), Refusal> {
    if let Some(problem) = entrance.room.view().problems_with(&changes).first() {
        return Err(Refusal::bad(problem.to_string()));
    }
    order(caller, &entrance.room, Command::Set(changes), action, words).await.map(|_| ())
}

/// Change settings while the room runs
#[utoipa::path(
    patch, path = "/v1/rooms/{id}", tag = "rooms", request_body = Patch,
    params(("id" = String, Path, description = "Without its tenant")),
    responses(
        (status = 200, body = Room), (status = 400, body = ErrorBody), (status = 403, body = ErrorBody),
        (status = 404, body = ErrorBody), (status = 409, body = ErrorBody), (status = 503, body = ErrorBody)
    )
)]
pub(super) async fn patch(
    State(admin): State<Arc<Admin>>,
    room: InRoom<Act>,
    Told(patch): Told<Patch>,
) -> Result<Json<Room>, Refusal> {
    let entrance = &room.entrance;
    let (changes, words) = patch.changes(&admin, entrance.room.view().settings())?;
    set(room.caller(), entrance, changes, "set", words).await?;
    Ok(Json(Room::of(entrance)))
}
