//! Invites: links that prove a class, made, listed and revoked.
//!
//! Owns what an operator says about an invite. What it is worth at the door is the line's to say; the token itself is shown
//! once, to whoever made it, and kept nowhere.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::Admin;
use super::access::{Act, Look};
use super::input::{self, InRoom, Told};
use super::orders::order;
use super::refusal::{ErrorBody, Refusal};
use crate::clock;
use crate::gateway::arrival::nonce;
use crate::gateway::entrance::Entrance;
use crate::gateway::invite::PARAMETER;
use crate::line::{Command, Found, Key, Question};
use crate::token::{self, MAX_ID};

/// Invites that one call makes.
const MAX_COUNT: u64 = 1_000;
/// As long as the line remembers what became of one.
pub(crate) const MAX_SECONDS: u64 = 30 * 86_400;
/// A week.
const SECONDS: u64 = 7 * 86_400;

/// What invites are to be.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "class": "presale", "uses": 1, "count": 100, "url": "https://shop.example.com/drop" }))]
pub(super) struct Wanted {
    /// A class of the room.
    class: String,
    /// How often each may be used; 0: any number of times. By default once.
    #[schema(maximum = 1_000_000)]
    uses: Option<u32>,
    /// For how long they are good; by default a week.
    #[schema(minimum = 1, maximum = 2_592_000)]
    expires_seconds: Option<u64>,
    /// Whom they are for: in the ticket and the pass of whoever uses one.
    #[schema(max_length = 256)]
    user_id: Option<String>,
    /// How many; by default one.
    #[schema(minimum = 1, maximum = 1000)]
    count: Option<u64>,
    /// The address that the links lead to.
    url: Option<String>,
}

/// Invites, as they were made.
#[derive(Serialize, ToSchema)]
pub(super) struct Made {
    invites: Vec<Link>,
}

/// An invite. Its token is shown here and nowhere else.
#[derive(Serialize, ToSchema)]
struct Link {
    /// 32 hex digits, by which it is revoked.
    id: String,
    class: String,
    uses: u32,
    expires_at: String,
    token: String,
    /// The address with the token, if one was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
}

/// Make invites
#[utoipa::path(
    post, path = "/v1/rooms/{id}/invites", tag = "invites", request_body = Wanted,
    params(("id" = String, Path, description = "Without its tenant")),
    responses((status = 200, body = Made), (status = 400, body = ErrorBody), (status = 503, body = ErrorBody))
)]
pub(super) async fn make(
    room: InRoom<Act>,
    Told(wanted): Told<Wanted>,
) -> Result<Json<Made>, Refusal> {
    let entrance = &room.entrance;
    let view = entrance.room.view();
    let classes = view.settings().map_or(&[][..], |settings| &settings.classes);
    if !classes.iter().any(|class| class.name == wanted.class) {
        return Err(Refusal::bad("class names no class of this room"));
    }
    let (count, uses) = (wanted.count.unwrap_or(1), wanted.uses.unwrap_or(1));
    let seconds = wanted.expires_seconds.unwrap_or(SECONDS);
    if !(1..=MAX_COUNT).contains(&count) {
        return Err(Refusal::bad(format!("count is not between 1 and {MAX_COUNT}")));
    }
    if !(1..=MAX_SECONDS).contains(&seconds) {
        return Err(Refusal::bad(format!("expires_seconds is not between 1 and {MAX_SECONDS}")));
    }
    if wanted.user_id.as_ref().is_some_and(|user| user.len() > MAX_ID) {
        return Err(Refusal::bad(format!("user_id has more than {MAX_ID} bytes")));
    }
    let expires_at = entrance.room.now_ms() / 1_000 + seconds;
    let made = |nth: u64| {
        // The same order again makes the same invites: a retry is no second set.
        let again = room.caller().again.as_deref().map(|again| {
            entrance.subject("invite", &format!("{}\0{again}\0{nth}", room.caller().name))
        });
        let id = again.or_else(nonce).ok_or_else(no_randomness)?;
        link(entrance, id, &wanted, uses, expires_at)
    };
    let invites = (0..count).map(made).collect::<Result<Vec<_>, Refusal>>()?;
    let mut words =
        json!({ "class": wanted.class, "uses": uses, "count": count, "expires_seconds": seconds });
    // All that an invite is made of: under one key it is one order.
    for (name, value) in [("user_id", &wanted.user_id), ("url", &wanted.url)] {
        if let Some(value) = value {
            words[name] = json!(value);
        }
    }
    order(room.caller(), &entrance.room, Command::Set(Vec::new()), "invite", words).await?;
    Ok(Json(Made { invites }))
}

fn no_randomness() -> Refusal {
    Refusal::new(
        axum::http::StatusCode::SERVICE_UNAVAILABLE,
        "no_randomness",
        "the system has no randomness: try again",
    )
}

fn link(
    entrance: &Entrance,
    id: Key,
    wanted: &Wanted,
    uses: u32,
    expires_at: u64,
) -> Result<Link, Refusal> {
    let invite = token::Invite {
        id,
        class: wanted.class.as_str().into(),
        uses,
        expires_at,
        user_id: wanted.user_id.as_deref().map(Into::into),
    };
    let token =
        entrance.keys.sign_invite(&invite).map_err(|error| Refusal::bad(error.to_string()))?;
    let url = wanted.url.as_deref().map(|url| with_token(url, &token));
    let expires_at = clock::second(expires_at);
    Ok(Link { id: invite.name(), class: wanted.class.clone(), uses, expires_at, token, url })
}

/// An address with an invite in it.
pub(crate) fn with_token(url: &str, token: &str) -> String {
    let (url, fragment) = url.split_once('#').map_or((url, ""), |(url, rest)| (url, rest));
    let sign = if url.contains('?') { '&' } else { '?' };
    let mark = if fragment.is_empty() { "" } else { "#" };
    format!("{url}{sign}{PARAMETER}={token}{mark}{fragment}")
}

/// Invites that were used or revoked.
#[derive(Serialize, ToSchema)]
pub(super) struct Invites {
    /// At most 1,000, by their ids. One that nobody has used yet is not among them: nobody but its holder knows it.
    invites: Vec<Known>,
}

/// What became of an invite.
#[derive(Serialize, ToSchema)]
struct Known {
    id: String,
    /// Empty: revoked before anybody came with it.
    class: String,
    /// How often it was used since the last reset.
    used: u64,
    /// How often it may be; 0: any number of times, or not known.
    uses: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    revoked: bool,
}

/// List the invites that were used or revoked
#[utoipa::path(
    get, path = "/v1/rooms/{id}/invites", tag = "invites",
    params(("id" = String, Path, description = "Without its tenant")),
    responses((status = 200, body = Invites), (status = 503, body = ErrorBody))
)]
pub(super) async fn list(
    State(admin): State<Arc<Admin>>,
    room: InRoom<Look>,
) -> Result<Json<Invites>, Refusal> {
    let found = match admin.find(room.entrance.room.name(), Question::Invites).await? {
        Found::Invites(invites) => invites,
        _ => Vec::new(),
    };
    let known = found.into_iter().map(|found| Known {
        id: found.id.iter().map(|byte| format!("{byte:02x}")).collect(),
        class: found.class,
        used: found.used,
        uses: found.uses,
        expires_at: (found.until_ms > 0).then(|| clock::second(found.until_ms / 1_000)),
        revoked: found.revoked,
    });
    Ok(Json(Invites { invites: known.collect() }))
}

/// A revoked invite.
#[derive(Serialize, ToSchema)]
pub(super) struct Revoked {
    id: String,
    revoked: bool,
}

/// Revoke an invite: whoever comes with it from now on joins as anybody
#[utoipa::path(
    post, path = "/v1/rooms/{id}/invites/{invite}/revoke", tag = "invites",
    request_body = Option<super::verbs::Nothing>,
    params(
        ("id" = String, Path, description = "Without its tenant"),
        ("invite" = String, Path, description = "Its id: 32 hex digits", pattern = "^[0-9a-f]{32}$")
    ),
    responses((status = 200, body = Revoked), (status = 400, body = ErrorBody), (status = 503, body = ErrorBody))
)]
pub(super) async fn revoke(
    room: InRoom<Act>,
    input::Invite(invite): input::Invite,
    _: Told<super::verbs::Nothing>,
) -> Result<Json<Revoked>, Refusal> {
    let plain = invite.len() == 32 && invite.bytes().all(|byte| byte.is_ascii_hexdigit());
    let id = u128::from_str_radix(&invite, 16).ok().filter(|_| plain);
    let Some(id) = id else {
        return Err(Refusal::bad(
            "an invite's id is 32 hex digits, as it was told when it was made",
        ));
    };
    let command = Command::RevokeInvite(id.to_be_bytes());
    let words = json!({ "invite": invite });
    order(room.caller(), &room.entrance.room, command, "revoke_invite", words).await?;
    Ok(Json(Revoked { id: invite, revoked: true }))
}
