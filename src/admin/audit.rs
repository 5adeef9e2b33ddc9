//! What operators did: the books of the rooms whoever asks may know of, newest first.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::access::{By, Look, Scope};
use super::input::Asked;
use super::refusal::{ErrorBody, Refusal};
use super::{Admin, parts};
use crate::clock;
use crate::line::{Entry, Found, MAX_FOUND, Question};
use crate::store::HOUSE;

/// What is asked for.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Which {
    /// Of this room alone, without its tenant.
    room: Option<String>,
    /// At most so many.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
    /// Of one room, those before this one.
    before: Option<u64>,
}

/// What was done.
#[derive(Serialize, ToSchema)]
pub(super) struct Audit {
    /// Newest first.
    entries: Vec<Done>,
}

/// One thing.
#[derive(Serialize, ToSchema)]
struct Done {
    /// Counts up in each room.
    id: u64,
    at: String,
    /// The room's whole name; null: it was about the node, or all rooms.
    event_id: Option<String>,
    tenant_id: String,
    /// The key's name; null: a node's file.
    admin_id: Option<String>,
    role: Option<String>,
    action: String,
    /// What was asked for.
    #[schema(value_type = Object)]
    parameters: Value,
    /// What came of it, with what was before.
    #[schema(value_type = Object)]
    result: Value,
    #[serde(skip)]
    at_ms: u64,
}

impl Done {
    fn of(room: &str, entry: Entry) -> Done {
        let note: Value = serde_json::from_str(&entry.note).unwrap_or_default();
        let text = |name: &str| note[name].as_str().map(str::to_owned);
        Done {
            id: entry.serial,
            at: clock::moment(entry.at_ms),
            event_id: (room != HOUSE).then(|| room.to_owned()),
            tenant_id: parts(room).0.to_owned(),
            admin_id: text("admin_id"),
            role: text("role"),
            action: text("action").unwrap_or_default(),
            parameters: note
                .get("parameters")
                .cloned()
                .unwrap_or_else(|| Value::Object(Default::default())),
            result: serde_json::from_str(&entry.result).unwrap_or_default(),
            at_ms: entry.at_ms,
        }
    }
}

/// What operators did
#[utoipa::path(
    get, path = "/v1/audit", tag = "node", params(Which),
    responses(
        (status = 200, body = Audit), (status = 400, body = ErrorBody), (status = 404, body = ErrorBody),
        (status = 503, body = ErrorBody)
    )
)]
pub(super) async fn audit(
    State(admin): State<Arc<Admin>>,
    by: By<Look>,
    Asked(Which { room, limit, before }): Asked<Which>,
) -> Result<Json<Audit>, Refusal> {
    let limit = limit.unwrap_or(100);
    if !(1..=MAX_FOUND).contains(&limit) {
        return Err(Refusal::bad(format!("limit is not between 1 and {MAX_FOUND}")));
    }
    let scope = &by.caller.scope;
    let names = match &room {
        Some(id) => vec![admin.room(scope, id)?.room.name().to_owned()],
        None if before.is_some() => return Err(Refusal::bad("before goes with a room")),
        None => {
            let rooms = admin.rooms(scope);
            let names = rooms.iter().map(|entrance| entrance.room.name().to_owned());
            // What is nobody's in particular is for those who are.
            let house = (*scope == Scope::All || *scope == Scope::Of(String::new()))
                .then(|| HOUSE.to_owned())
                .filter(|_| by.caller.tenant.is_none());
            names.chain(house).collect()
        }
    };
    let mut entries = Vec::new();
    for name in names {
        let question = Question::Book { before: before.unwrap_or(0), limit };
        if let Found::Book(found) = admin.find(&name, question).await? {
            entries.extend(found.into_iter().map(|entry| Done::of(&name, entry)));
        }
    }
    entries.sort_by_key(|done| std::cmp::Reverse((done.at_ms, done.id)));
    entries.truncate(limit);
    Ok(Json(Audit { entries }))
}
