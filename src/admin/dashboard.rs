//! The dashboard's files: one page, its style and its scripts, from `templates/dashboard`.
//!
//! Owns what a browser may do with them: load nothing from elsewhere, run nothing but these files, be shown in nobody's
//! frame. They know nothing of any room, so they need no key; the page makes the calls that anybody can make.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use super::refusal::{Refusal, no_call};
use super::{Admin, session};

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";

/// Styles are set by script in places (the length of a bar), which is no inline style to a browser.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

/// A file of the page's.
macro_rules! file {
    ($name:literal, $kind:expr) => {
        ($name, $kind, include_str!(concat!("../../templates/dashboard/", $name)))
    };
}

type File = (&'static str, &'static str, &'static str);

const PAGE: File = file!("page.html", HTML);
const LOGIN: File = file!("login.html", HTML);

/// Below `/dashboard/`.
const FILES: [File; 13] = [
    file!("page.css", CSS),
    file!("login.js", JS),
    file!("main.js", JS),
    file!("wire.js", JS),
    file!("words.js", JS),
    file!("parts.js", JS),
    file!("record.js", JS),
    file!("chart.js", JS),
    file!("overview.js", JS),
    file!("room.js", JS),
    file!("people.js", JS),
    file!("verbs.js", JS),
    file!("shadow.js", JS),
];

/// Where they are.
pub(super) fn files() -> Router<Arc<Admin>> {
    Router::new().route("/", get(page)).route("/dashboard/{file}", get(file))
}

/// The dashboard, or the way into it.
async fn page(State(admin): State<Arc<Admin>>, headers: HeaderMap) -> Response {
    let known = session::holder(&admin.access.load(), &headers).is_some();
    serve(if known { PAGE } else { LOGIN })
}

async fn file(Path(name): Path<String>) -> Result<Response, Refusal> {
    match FILES.into_iter().find(|(known, ..)| *known == name) {
        Some(file) => Ok(serve(file)),
        None => Err(no_call().await),
    }
}

fn serve((_, kind, text): File) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "same-origin"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::VARY, "Cookie"),
    ];
    (headers, text).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What one file names, the others have.
    #[test]
    fn every_file_that_is_named_is_there_and_nothing_is_from_elsewhere() {
        for (name, _, text) in FILES.into_iter().chain([PAGE, LOGIN]) {
            for part in text.split("/dashboard/").skip(1) {
                let end = part.find(['\'', '"']).unwrap_or(part.len());
                let known = FILES.iter().any(|(known, ..)| *known == &part[..end]);
                assert!(known, "{name} names {}", &part[..end]);
            }
            let own = text.replace("http://www.w3.org/2000/svg", "");
            assert!(!own.contains("http://") && !own.contains("https://"), "{name}");
            assert!(!own.contains("innerHTML"), "{name}: texts are texts");
        }
    }
}
