//! Sessions: what a browser holds once somebody has logged in with a key.
//!
//! Owns the cookie, and the rule that keeps pages of other sites from acting by it. Nothing is kept of a session: the
//! cookie says whose it is and until when, under a seal that has the key's hash in it, so it holds on every node with
//! the same keys, survives a restart, and ends with its key. The seal is made with the installation's own secret: whoever
//! reads a hash in a configuration file could otherwise make sessions of it.
//!
//! ```text
//! anteroom-session=1800000000.ops.<43 characters>     until when, in seconds since 1970; the key's name; the seal
//! ```
//!
//! The gateway withholds every cookie called `anteroom-…` from origins: browsers tell hosts apart, but not their ports.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cookie::{Cookie, SameSite, time::Duration};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::access::{Access, By, Caller, Look, Peer};
use super::input::Told;
use super::refusal::{ErrorBody, Refusal};
use super::settings::Key;
use super::{Admin, log};
use crate::clock;

const NAME: &str = "anteroom-session";

/// A sale's day, and not the next one's.
const LASTS_SECONDS: u64 = 12 * 3_600;

/// Cookies of one name that are looked at: a browser sends one, whoever sends more is up to something.
const MAX_SAME: usize = 4;

/// Whose session a request comes with. One that is over, or of a key that is gone, is none.
pub(super) fn holder<'a>(access: &'a Access, headers: &HeaderMap) -> Option<&'a Key> {
    let now = clock::now_ms() / 1_000;
    values(headers).take(MAX_SAME).find_map(|value| open(access, value, now))
}

fn values(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';'));
    pairs.filter_map(|pair| pair.trim().strip_prefix(NAME)?.strip_prefix('='))
}

fn open<'a>(access: &'a Access, value: &str, now: u64) -> Option<&'a Key> {
    // A name may have dots in it, the others have none.
    let (until, rest) = value.split_once('.')?;
    let (name, seal) = rest.rsplit_once('.')?;
    let key = access.keys.iter().find(|key| key.name == name)?;
    let good = access.seal.verifies(&sealed(key, until), seal);
    (good && until.parse::<u64>().ok()? > now).then_some(key)
}

/// What a seal is over. A hash has one length, and no dot is in a time.
fn sealed<'a>(key: &'a Key, until: &'a str) -> [&'a [u8]; 4] {
    [key.hash.bytes(), until.as_bytes(), b".", key.name.as_bytes()]
}

fn seal(access: &Access, key: &Key, now: u64) -> Option<String> {
    let until = (now + LASTS_SECONDS).to_string();
    let seal = access.seal.of(&sealed(key, &until))?;
    Some(format!("{until}.{}.{seal}", key.name))
}

/// For this host alone, and for no script. Not `Secure`: this port speaks plain HTTP, and what a header says of a proxy
/// with TLS before it anybody may have written; a browser would drop the cookie wherever there is none.
fn cookie(value: &str, seconds: u64) -> String {
    let age = Duration::seconds(i64::try_from(seconds).unwrap_or(0));
    let cookie = Cookie::build((NAME, value)).path("/").http_only(true).max_age(age);
    cookie.same_site(SameSite::Strict).build().to_string()
}

/// Whether a request by cookie may do what it does. A cookie comes along whoever asks, so only our own page may change
/// something by it.
///
/// # Errors
/// 403.
pub(super) fn may_act(method: &Method, headers: &HeaderMap) -> Result<(), Refusal> {
    if method == Method::GET || method == Method::HEAD {
        return Ok(());
    }
    from_our_page(headers)
}

/// # Errors
/// 403: a browser says that another site asks, or does not say that ours does.
fn from_our_page(headers: &HeaderMap) -> Result<(), Refusal> {
    let said = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let ours = match said(header::HeaderName::from_static("sec-fetch-site")) {
        Some("same-origin") => true,
        // Typed by a person, or a browser that does not say, as over plain HTTP: then it says its origin, on every POST.
        None | Some("none") => is_ours(said(header::ORIGIN), said(header::HOST)),
        Some(_) => false,
    };
    match ours {
        true => Ok(()),
        false => {
            let message = "by session only the dashboard itself may do this: scripts send Authorization: Bearer KEY";
            Err(Refusal::new(StatusCode::FORBIDDEN, "cross_site", message))
        }
    }
}

/// Whether an origin is the host that was asked. With TLS or without: a proxy before us may have it.
fn is_ours(origin: Option<&str>, host: Option<&str>) -> bool {
    let (Some(origin), Some(host)) = (origin, host) else { return false };
    let of = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    of.is_some_and(|of| !of.is_empty() && of.eq_ignore_ascii_case(host))
}

/// A key.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Login {
    key: String,
}

/// A key becomes a session. Wrong ones count, as they do everywhere.
pub(super) async fn login(
    State(admin): State<Arc<Admin>>,
    peer: Option<Extension<Peer>>,
    headers: HeaderMap,
    Told(Login { key: sent }): Told<Login>,
) -> Result<Response, Refusal> {
    from_our_page(&headers)?;
    let address = Peer::or_unknown(peer.map(|Extension(peer)| peer));
    admin.attempts.check(address).inspect_err(|_| admin.node.metrics.limited("admin"))?;
    let access = admin.access.load_full();
    let Some(key) = access.find(sent.trim().as_bytes()) else {
        log::refused(address);
        return Err(admin.attempts.failed(address));
    };
    let now = clock::now_ms() / 1_000;
    let value = seal(&access, key, now);
    let value = value.ok_or_else(|| Refusal::forbidden("this node can't seal a session"))?;
    log::acted(&Caller::new(key, &HeaderMap::new())?, None, "login", &json!({}));
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie(&value, LASTS_SECONDS))])
        .into_response())
}

/// The browser forgets its session.
pub(super) async fn logout(headers: HeaderMap) -> Result<Response, Refusal> {
    from_our_page(&headers)?;
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie("", 0))]).into_response())
}

/// Whoever asks.
#[derive(Serialize, ToSchema)]
pub(super) struct Me {
    /// The key's name.
    name: String,
    /// `viewer`, `operator` or `admin`.
    role: &'static str,
    /// Whose rooms it sees; null: everybody's.
    tenant_id: Option<String>,
}

/// Whose key this is
#[utoipa::path(
    get, path = "/v1/me", tag = "node",
    responses((status = 200, body = Me), (status = 401, body = ErrorBody))
)]
pub(super) async fn me(by: By<Look>) -> Json<Me> {
    let Caller { name, role, tenant, .. } = by.caller;
    Json(Me { name: name.to_string(), role: role.name(), tenant_id: tenant })
}
