//! What is read of a request: a room, a body, a query. What can't be read is refused with a sentence.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use futures_util::StreamExt as _;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::access::{By, Caller, Needs};
use super::port::MAX_BYTES;
use super::refusal::Refusal;
use super::{Admin, refusal};
use crate::gateway::entrance::Entrance;

/// Of a body that is too long, so much is read and thrown away.
const MAX_DRAINED: usize = 1024 * 1024;
/// For a whole body, however slowly it drips.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// The room in the path, and whoever asks about it and may.
pub(super) struct InRoom<N> {
    pub(super) by: By<N>,
    pub(super) entrance: Arc<Entrance>,
}

impl<N> InRoom<N> {
    pub(super) fn caller(&self) -> &Caller {
        &self.by.caller
    }
}

impl<N: Needs> FromRequestParts<Arc<Admin>> for InRoom<N> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, admin: &Arc<Admin>) -> Result<Self, Refusal> {
        let by = By::from_request_parts(parts, admin).await?;
        let id = parameter(parts, "id").await.ok_or_else(refusal::no_room)?;
        let entrance = admin.room(&by.caller.scope, &id)?;
        Ok(InRoom { by, entrance })
    }
}

/// A part of the path, by its name.
async fn parameter(parts: &mut Parts, name: &str) -> Option<String> {
    let path = Path::<Vec<(String, String)>>::from_request_parts(parts, &()).await.ok()?;
    path.0.into_iter().find(|(found, _)| found == name).map(|(_, value)| value)
}

/// The visitor in the path.
pub(super) struct Visitor(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for Visitor {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Visitor, Refusal> {
        parameter(parts, "visitor").await.map(Visitor).ok_or_else(refusal::no_visitor)
    }
}

/// The invite in the path.
pub(super) struct Invite(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for Invite {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Invite, Refusal> {
        parameter(parts, "invite").await.map(Invite).ok_or_else(refusal::no_visitor)
    }
}

/// What stands behind the `?`.
pub(super) struct Asked<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Asked<T>, Refusal> {
        match Query::<T>::from_request_parts(parts, state).await {
            Ok(Query(asked)) => Ok(Asked(asked)),
            Err(error) => Err(Refusal::bad(error.body_text())),
        }
    }
}

/// A body of JSON. None at all, or `null`, is an empty object: a verb that needs nothing takes nothing.
pub(super) struct Told<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<Arc<Admin>> for Told<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, _: &Arc<Admin>) -> Result<Told<T>, Refusal> {
        let (parts, body) = request.into_parts();
        let body = read(body).await?;
        if body.is_empty() {
            return parse(b"{}");
        }
        if !is_json(&parts.headers) {
            let message = "a body is JSON: Content-Type: application/json";
            let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            return Err(Refusal::new(status, "unsupported_media_type", message));
        }
        match body.trim_ascii() {
            b"null" => parse(b"{}"),
            body => parse(body),
        }
    }
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<Told<T>, Refusal> {
    // A list would do for an object without fields, and nobody means that.
    if !body.starts_with(b"{") {
        return Err(Refusal::bad("a body is an object"));
    }
    serde_json::from_slice(body).map(Told).map_err(|error| Refusal::bad(error.to_string()))
}

/// The whole body. One that is too long is read on for a while and thrown away, so that its sender gets to see why.
async fn read(body: Body) -> Result<Vec<u8>, Refusal> {
    let mut parts = body.into_data_stream();
    let reading = async {
        let (mut body, mut length) = (Vec::new(), 0);
        while let Some(part) = parts.next().await {
            let Ok(part) = part else { return Err(Refusal::bad("the body ends too soon")) };
            length += part.len();
            if length <= MAX_BYTES {
                body.extend_from_slice(&part);
            } else if length > MAX_DRAINED {
                break;
            }
        }
        match length > MAX_BYTES {
            false => Ok(body),
            true => {
                let message = format!("a body has at most {MAX_BYTES} bytes");
                Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message))
            }
        }
    };
    timeout(BODY_TIMEOUT, reading).await.unwrap_or_else(|_| {
        let message = "the body took too long";
        Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, "timeout", message))
    })
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}
