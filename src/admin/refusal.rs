//! What is said to a request that is not answered otherwise: `{"error":{"code":"…","message":"…"}}`.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::room::Busy;

/// Whoever meets a line that can't be asked tries again after so long, in seconds.
const AGAIN: u64 = 2;

/// Why not.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    code: &'static str,
    message: String,
    problems: Vec<String>,
    retry_seconds: Option<u64>,
}

/// The body of every refusal.
#[derive(Serialize, ToSchema)]
#[schema(as = Error, example = json!({ "error": { "code": "not_found", "message": "there is no such room" } }))]
pub(super) struct ErrorBody {
    error: Error,
}

/// What is wrong.
#[derive(Serialize, ToSchema)]
#[schema(as = ErrorDetail)]
struct Error {
    /// For programs.
    code: &'static str,
    /// For people.
    message: String,
    /// Each of several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<String>,
}

impl Refusal {
    pub(super) fn new(
        status: StatusCode,
        code: &'static str,
        message: impl Into<String>,
    ) -> Refusal {
        Refusal { status, code, message: message.into(), problems: Vec::new(), retry_seconds: None }
    }

    /// 400.
    pub(super) fn bad(message: impl Into<String>) -> Refusal {
        Refusal::new(StatusCode::BAD_REQUEST, "bad_request", message)
    }

    /// 401.
    pub(super) fn unknown() -> Refusal {
        let message = "this needs a key: Authorization: Bearer KEY";
        Refusal::new(StatusCode::UNAUTHORIZED, "unauthorized", message)
    }

    /// 403.
    pub(super) fn forbidden(message: impl Into<String>) -> Refusal {
        Refusal::new(StatusCode::FORBIDDEN, "forbidden", message)
    }

    /// 409.
    pub(super) fn conflict(message: impl Into<String>) -> Refusal {
        Refusal::new(StatusCode::CONFLICT, "conflict", message)
    }

    pub(super) fn after(self, seconds: u64) -> Refusal {
        Refusal { retry_seconds: Some(seconds), ..self }
    }

    pub(super) fn with_problems(self, problems: Vec<String>) -> Refusal {
        Refusal { problems, ..self }
    }
}

/// 404, whether there is none or it is somebody else's.
pub(super) fn no_room() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, "not_found", "there is no such room")
}

/// 404.
pub(super) fn no_visitor() -> Refusal {
    let message =
        "there is no such visitor: a number, a label or a queue_ref of this room's present epoch";
    Refusal::new(StatusCode::NOT_FOUND, "unknown_visitor", message)
}

/// 404.
pub(super) async fn no_call() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, "not_found", "there is no such call")
}

/// 405. Which methods there are is in `Allow`.
pub(super) async fn no_method() -> Refusal {
    let message = "this call takes another method";
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message)
}

impl From<Busy> for Refusal {
    fn from(busy: Busy) -> Refusal {
        let code = match busy {
            Busy::Full => "busy",
            Busy::Dropped | Busy::Away => "store_unavailable",
        };
        Refusal::new(StatusCode::SERVICE_UNAVAILABLE, code, busy.to_string()).after(AGAIN)
    }
}

/// 503: the line did not answer in time.
pub(super) fn no_answer() -> Refusal {
    let message = "the line did not answer in time: what was asked may still happen, so look before asking again";
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "store_unavailable", message).after(AGAIN)
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let Refusal { status, code, message, problems, retry_seconds } = self;
        let error = Error { code, message, problems };
        let mut response = (status, Json(ErrorBody { error })).into_response();
        let headers = response.headers_mut();
        if let Some(seconds) = retry_seconds {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        if status == StatusCode::UNAUTHORIZED {
            let bearer = HeaderValue::from_static("Bearer realm=\"anteroom\"");
            headers.insert(header::WWW_AUTHENTICATE, bearer);
        }
        response
    }
}
