//! Reading the configuration again, by an operator's word: the same as SIGHUP, with an answer.
//!
//! Owns the way to whoever reads it. That is not done here: this port knows no file.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use serde_json::json;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, timeout};
use utoipa::ToSchema;

use super::access::{By, Rule};
use super::input::Told;
use super::orders::order;
use super::refusal::{ErrorBody, Refusal};
use super::verbs::Nothing;
use super::{Admin, log};
use crate::line::Command;

/// Names of origins are looked up, files read: seconds at most.
const DEADLINE: Duration = Duration::from_secs(30);

/// A node that answers operators has begun to listen for reloads within this.
const BEGINNING: Duration = Duration::from_secs(2);
const GLANCE: Duration = Duration::from_millis(20);

/// Asked for once; the answer is every problem there is.
pub type Reload = oneshot::Sender<Result<(), Vec<String>>>;

/// Who is asked.
#[derive(Default)]
pub struct Reloads(Mutex<Option<mpsc::Sender<Reload>>>);

impl Reloads {
    /// Whoever reads the configuration listens here, from now on.
    pub fn listen(&self) -> mpsc::Receiver<Reload> {
        let (sender, receiver) = mpsc::channel(1);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
        receiver
    }

    fn sender(&self) -> Option<mpsc::Sender<Reload>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The configuration is in force.
#[derive(Serialize, ToSchema)]
pub(super) struct Reloaded {
    reloaded: bool,
}

/// Read the configuration again
#[utoipa::path(
    post, path = "/v1/reload", tag = "node", request_body = Option<Nothing>,
    responses(
        (status = 200, body = Reloaded), (status = 400, body = ErrorBody, description = "Refused whole; the old one goes on")
    )
)]
pub(super) async fn reload(
    State(admin): State<Arc<Admin>>,
    by: By<Rule>,
    _: Told<Nothing>,
) -> Result<Json<Reloaded>, Refusal> {
    if by.caller.tenant.is_some() {
        return Err(Refusal::forbidden(
            "the configuration is every tenant's: this needs a key without a tenant",
        ));
    }
    let busy = |message: &str| {
        Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "reload_unavailable", message).after(5)
    };
    let (answer, told) = oneshot::channel();
    let asked = async {
        // A node that has only just begun listens in a moment.
        for _ in 0..BEGINNING.as_millis() / GLANCE.as_millis() {
            if admin.reloads.sender().is_some() {
                break;
            }
            sleep(GLANCE).await;
        }
        admin.reloads.sender()?.send(answer).await.ok()?;
        told.await.ok()
    };
    match timeout(DEADLINE, asked).await {
        Ok(Some(Ok(()))) => {
            // Into the book of what is no room's; it is done, whether or not that can be written now.
            let book =
                order(&by.caller, &admin.node.house, Command::Set(Vec::new()), "reload", json!({}));
            if book.await.is_err() {
                log::acted(&by.caller, None, "reload", &json!({}));
            }
            Ok(Json(Reloaded { reloaded: true }))
        }
        Ok(Some(Err(problems))) => {
            let message = "the configuration is refused, the old one goes on";
            let refusal = Refusal::new(StatusCode::BAD_REQUEST, "bad_configuration", message);
            Err(refusal.with_problems(problems))
        }
        Ok(None) => Err(busy("this node has no configuration to read again")),
        Err(_) => Err(busy("reading the configuration takes too long")),
    }
}
