//! Which call is where, and the document that says so to programs.

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use utoipa::OpenApi as _;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::access::{By, Look};
use super::document::Document;
use super::port::MAX_BYTES;
use super::refusal::Refusal;
use super::{
    Admin, access, audit, change, classic, dashboard, doctor, document, events, history, invites,
    line, nodes, refusal, reload, rooms, scrape, session, shadow, updates, verbs,
};

fn calls() -> OpenApiRouter<Arc<Admin>> {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(nodes::health))
        .routes(routes!(scrape::metrics))
        .routes(routes!(session::me))
        .routes(routes!(updates::updates))
        .routes(routes!(rooms::list))
        .routes(routes!(rooms::one, change::patch))
        .routes(routes!(history::history))
        .routes(routes!(shadow::shadow))
        .routes(routes!(doctor::health))
        .routes(routes!(doctor::inside))
        .routes(routes!(doctor::repair))
        .routes(routes!(verbs::pause))
        .routes(routes!(verbs::resume))
        .routes(routes!(verbs::release))
        .routes(routes!(verbs::reset))
        .routes(routes!(verbs::revoke))
        .routes(routes!(verbs::boost))
        .routes(routes!(verbs::drain))
        .routes(routes!(verbs::message))
        .routes(routes!(invites::list, invites::make))
        .routes(routes!(invites::revoke))
        .routes(routes!(line::line))
        .routes(routes!(line::visitor))
        .routes(routes!(verbs::complete))
        .routes(routes!(verbs::extend))
        .routes(routes!(verbs::revoke_one))
        .routes(routes!(verbs::requeue))
        .routes(routes!(events::events))
        .routes(routes!(nodes::nodes))
        .routes(routes!(audit::audit))
        .routes(routes!(reload::reload))
        .routes(routes!(classic::release))
        .routes(routes!(classic::pause))
        .routes(routes!(classic::config))
        .routes(routes!(classic::metrics))
}

/// The whole port.
pub(super) fn whole(admin: Arc<Admin>) -> Router {
    let (router, document) = calls().split_for_parts();
    // It never changes: made once.
    let document: Arc<str> = document::complete(document).to_json().unwrap_or_default().into();
    let tell = move |_: By<Look>| {
        let document = document.clone();
        async move { ([(header::CONTENT_TYPE, "application/json")], document.to_string()) }
    };
    finish(router.route("/openapi.json", get(tell)), open(), admin)
}

/// What needs no key: the page, and the way into it. It is not in the document: whoever tries every call in there would
/// be taken for somebody who guesses keys.
fn open() -> Router<Arc<Admin>> {
    dashboard::files()
        .route("/login", post(session::login))
        .route("/logout", post(session::logout))
        .method_not_allowed_fallback(refusal::no_method)
}

/// `/metrics` and `/health` alone.
pub(super) fn metrics(admin: Arc<Admin>) -> Router {
    let router =
        Router::new().route("/health", get(nodes::health)).route("/metrics", get(scrape::metrics));
    finish(router, Router::new(), admin)
}

fn finish(router: Router<Arc<Admin>>, open: Router<Arc<Admin>>, admin: Arc<Admin>) -> Router {
    router
        .fallback(refusal::no_call)
        .method_not_allowed_fallback(refusal::no_method)
        .layer(middleware::from_fn_with_state(admin.clone(), access::admit))
        .merge(open)
        .layer(middleware::from_fn(seal))
        .route_layer(middleware::from_fn_with_state(admin.clone(), count))
        .with_state(admin)
}

/// Nothing that is said here is anybody else's. A head that is too long is refused: hyper has read it by then, and would
/// have refused one of twice the length.
async fn seal(request: Request, next: Next) -> Response {
    let lines = request.headers().iter();
    let length: usize = lines.map(|(name, value)| name.as_str().len() + value.len()).sum();
    let mut response = match length + request.uri().path().len() > MAX_BYTES {
        true => {
            let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
            let message = format!("a head has at most {MAX_BYTES} bytes");
            Refusal::new(status, "too_large", message).into_response()
        }
        false => next.run(request).await,
    };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Counts calls by the path that they matched, so there are as many as there are calls.
async fn count(
    State(admin): State<Arc<Admin>>,
    path: Option<MatchedPath>,
    request: Request,
    next: Next,
) -> Response {
    let began = Instant::now();
    let response = next.run(request).await;
    if let Some(path) = path {
        let endpoint = admin.node.metrics.endpoint(path.as_str());
        endpoint.count(response.status().as_u16());
        endpoint.took(began.elapsed());
    }
    response.into_response()
}
