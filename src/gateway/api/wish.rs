//! What a join brings with it, checked.
//!
//! Owns the fields of a join and the headers that stand for them. Never looks at the line.

use serde_json::Value;

use super::Response;
use super::error::bad;
use super::fields::{Fields, id};
use super::request::{Request, header};
use crate::gateway::entrance::GENERAL;
use crate::line::{Class, is_name};

/// The longest metadata: it goes into the log, line by line.
const MAX_METADATA: usize = 1_024;
/// Classes that may be asked for by name in any room. Whoever asks without proof joins as general.
const CLASSES: [&str; 4] = [GENERAL, "normal", "presale", "partner"];
/// And by level.
const LEVELS: u64 = 4;

/// What a join brings, checked.
pub(super) struct Wish<'a> {
    pub(super) device_id: Option<&'a str>,
    pub(super) user_id: Option<&'a str>,
    pub(super) idempotency_key: Option<&'a str>,
    /// Back as JSON, for the log.
    pub(super) metadata: Option<String>,
    /// The class that is asked for, by its name in this room; `None`: none in particular.
    pub(super) class: Option<String>,
    /// What is to prove it.
    pub(super) invite: Option<&'a str>,
    /// For the roster.
    pub(super) name: Option<String>,
}

impl<'a> Wish<'a> {
    /// Reads it. `strict`: something must say who joins.
    pub(super) fn read(
        fields: &'a Fields,
        request: &'a Request,
        strict: bool,
        classes: &[Class],
    ) -> Result<Wish<'a>, Response> {
        let device_id = either(fields, request, "device_id", "x-device-id", "invalid_device_id")?;
        let user_id = either(fields, request, "user_id", "x-user-id", "invalid_user_id")?;
        let (name, code) = ("idempotencyKey", "invalid_idempotency_key");
        let idempotency_key = either(fields, request, name, "idempotency-key", code)?;
        if strict && device_id.is_none() && idempotency_key.is_none() {
            let message = "device_id is missing: name the device, or send an Idempotency-Key";
            return Err(bad("missing_device_id", message));
        }
        let class = class(fields.get("priority_bucket"), classes)?;
        let metadata = metadata(fields.get("metadata"))?;
        let invite = fields.text("invite", "invalid_invite")?;
        let name = roster_name(fields)?;
        Ok(Wish { device_id, user_id, idempotency_key, metadata, class, invite, name })
    }
}

/// A text that may come in the body or in a header; in both it must be the same.
fn either<'a>(
    fields: &'a Fields,
    request: &'a Request,
    field: &'static str,
    name: &'static str,
    code: &'static str,
) -> Result<Option<&'a str>, Response> {
    let in_body = id(field, fields.text(field, code)?, code)?;
    let in_head = id(name, header(request, name, code)?, code)?;
    match (in_body, in_head) {
        (Some(one), Some(other)) if one != other => {
            Err(bad(code, &format!("{field} and the header {name} differ")))
        }
        (one, other) => Ok(one.or(other)),
    }
}

/// The class of this room that is asked for. A level counts the room's classes that skip anything or have a rank, from
/// the least: 0 is nobody's in particular, and whoever asks for more levels than there are asks for the highest.
fn class(asked: Option<&Value>, classes: &[Class]) -> Result<Option<String>, Response> {
    let known = |name: &str| classes.iter().any(|class| class.name == name);
    match asked {
        None => Ok(None),
        Some(Value::String(name)) if name == GENERAL => Ok(None),
        Some(Value::String(name)) if known(name) || CLASSES.contains(&name.as_str()) => {
            Ok(Some(name.clone()))
        }
        Some(Value::Number(level)) if level.as_u64().is_some_and(|level| level < LEVELS) => {
            let level = level.as_u64().and_then(|level| usize::try_from(level).ok()).unwrap_or(0);
            let mut ranked: Vec<&Class> =
                classes.iter().filter(|class| class.skip > 0 || class.rank > 0).collect();
            ranked.sort_by_key(|class| (class.skip, class.rank));
            let nth = level.min(ranked.len()).checked_sub(1);
            Ok(nth.map(|nth| ranked[nth].name.clone()))
        }
        Some(Value::String(_) | Value::Number(_)) => {
            Err(bad("unknown_class", "priority_bucket names no class of this room"))
        }
        Some(_) => Err(bad(
            "invalid_priority_bucket",
            "priority_bucket must be a name or a level from 0 to 3",
        )),
    }
}

/// A name as it is shown: without spaces around it.
fn roster_name(fields: &Fields) -> Result<Option<String>, Response> {
    let code = "invalid_name";
    match fields.text("name", code)?.map(str::trim) {
        None => Ok(None),
        Some(name) if is_name(name) => Ok(Some(name.to_owned())),
        Some(_) => Err(bad(code, "name is 1 to 40 characters that can be seen")),
    }
}

fn metadata(value: Option<&Value>) -> Result<Option<String>, Response> {
    let code = "invalid_metadata";
    match value {
        None => Ok(None),
        Some(value @ Value::Object(_)) => match value.to_string() {
            text if text.len() <= MAX_METADATA => Ok(Some(text)),
            _ => Err(bad(code, "metadata is longer than 1 KiB")),
        },
        Some(_) => Err(bad(code, "metadata must be an object")),
    }
}
