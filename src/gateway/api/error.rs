//! What the API says when it does not do what was asked: one form, one code for a program, one sentence for people.
//!
//! Owns codes, statuses and sentences. Never quotes a token, and of what came with a request at most the name of a
//! field.

use super::draw::put_phase;
use super::json::Json;
use crate::clock;
use crate::gateway::answer::Response;
use crate::gateway::entrance::Entrance;
use crate::gateway::loss::{Contact, Lost};
use crate::gateway::settings::OnLoss;
use crate::line::{Ending, Phase, Reason, View};
use crate::page::reason_code;
use crate::room::{Busy, Proof};

/// Seconds after which a full or closed room is asked again.
const LATER: u64 = 30;
/// Seconds after which one is asked again that a schedule keeps closed for longer.
const LONGEST: u64 = 3_600;
/// Seconds after which a store that did not answer is asked again.
pub(super) const SOON: u64 = 5;

/// An error about no room in particular.
pub fn error(status: u16, code: &'static str, message: &str) -> Response {
    at(clock::now_ms(), status, code, message)
}

/// The body was longer than the door takes in.
pub fn too_large() -> Response {
    error(413, "too_large", "the body is longer than 16 KiB")
}

/// An error at a room's time.
pub(super) fn at(now_ms: u64, status: u16, code: &'static str, message: &str) -> Response {
    let mut json = Json::new();
    put_error(&mut json, code, message);
    json.moment("server_time", now_ms);
    Response::json(status, json.end())
}

/// The part of an answer that says that it is an error.
pub(super) fn put_error(json: &mut Json, code: &str, message: &str) {
    json.open("error");
    json.text("code", code);
    json.text("message", message);
    json.close();
}

/// What was sent can't be read.
pub(super) fn bad(code: &'static str, message: &str) -> Response {
    error(400, code, message)
}

/// Neither forged, foreign and older tickets nor those that are too old are told apart: nobody learns from the answer
/// how near a guess was.
pub(super) fn unknown_ticket(entrance: &Entrance) -> Response {
    at(
        entrance.room.now_ms(),
        404,
        "unknown_ticket",
        "there is no such ticket here, or it is too old: join again",
    )
}

/// A number that can do nothing any more.
pub(super) fn gone(entrance: &Entrance, proof: Proof, reason: Reason) -> Response {
    Response::json(410, gone_body(entrance, proof, reason))
}

/// The body of a 410, which is also the last event of a stream.
pub(super) fn gone_body(entrance: &Entrance, proof: Proof, reason: Reason) -> Vec<u8> {
    let completed = reason == Reason::Ended(Ending::Completed);
    let message = match reason {
        Reason::Passed => "the turn came and went: join again",
        Reason::Used => "the turn was used, or the place was given up",
        Reason::Ended(Ending::Completed) => "the visit is completed",
        Reason::Ended(Ending::Left) => "the place was given up",
        Reason::Ended(Ending::Revoked) => "the admission was revoked",
        Reason::Ended(Ending::Idle) => "the session ended after a time without activity",
        Reason::Ended(Ending::Capped) => "the session has lasted as long as it may",
        Reason::Ended(Ending::Requeued) => "back to the end of the line: join again",
    };
    let mut json = Json::new();
    put_error(&mut json, "gone", message);
    json.text("status", if completed { "completed" } else { "expired" });
    json.text("reason", reason_code(reason));
    json.token("queue_ref", &entrance.keys.reference_text(proof.epoch, proof.number));
    json.text("event_id", entrance.room.name());
    json.moment("server_time", entrance.room.now_ms());
    json.end()
}

/// Too often.
pub(super) fn rate_limited(entrance: &Entrance, retry_ms: u64) -> Response {
    at(
        entrance.room.now_ms(),
        429,
        "rate_limited",
        "too many requests: wait as long as Retry-After says",
    )
    .retry_after(retry_ms.div_ceil(1_000))
}

/// `max_waiting` are waiting.
pub(super) fn queue_full(entrance: &Entrance) -> Response {
    at(entrance.room.now_ms(), 503, "queue_full", "the line is full: try again later")
        .retry_after(LATER)
}

/// Everybody has a name here.
pub(super) fn name_required() -> Response {
    bad("name_required", "name is missing: this room shows who plays and who waits")
}

/// Somebody else is called so.
pub(super) fn name_taken(entrance: &Entrance) -> Response {
    let message = "somebody who waits or is inside has this name: choose another";
    at(entrance.room.now_ms(), 409, "name_taken", message)
}

/// Nobody new is taken.
pub fn queue_disabled(entrance: &Entrance) -> Response {
    let (view, now_ms) = (entrance.room.view(), entrance.room.now_ms());
    let mut json = Json::new();
    put_error(&mut json, "queue_disabled", "the room takes nobody new at the moment");
    put_phase(&mut json, entrance, &view, now_ms);
    json.moment("server_time", now_ms);
    Response::json(503, json.end()).retry_after(closed_seconds(&view, now_ms).unwrap_or(LATER))
}

/// How long until numbers are given again, by the schedule: an hour at most, for it may change.
pub fn closed_seconds(view: &View, now_ms: u64) -> Option<u64> {
    match view.phase(now_ms) {
        Phase::Closed(Some(next)) => {
            Some(next.from_ms.saturating_sub(now_ms).div_ceil(1_000).clamp(1, LONGEST))
        }
        Phase::Closed(None) => Some(LONGEST),
        _ => None,
    }
}

/// The line did not answer in time.
pub(super) fn store_unavailable(entrance: &Entrance) -> Response {
    let mut json = Json::new();
    put_store_unavailable(
        &mut json,
        entrance,
        "the line can't be reached at the moment; places are kept",
    );
    json.moment("server_time", entrance.room.now_ms());
    Response::json(503, json.end()).retry_after(SOON)
}

/// The part of an answer that says that the line can't be reached, and whether the site is open meanwhile.
pub(super) fn put_store_unavailable(json: &mut Json, entrance: &Entrance, message: &str) {
    put_error(json, "store_unavailable", message);
    if let Contact::Lost(Lost { stance: OnLoss::Open, .. }) = entrance.contact() {
        json.flag("open", true);
    }
}

/// The line could not be asked.
pub(super) fn busy(entrance: &Entrance, busy: Busy) -> Response {
    match busy {
        Busy::Full => {
            let message = "too many are being answered at once: try again in a moment";
            at(entrance.room.now_ms(), 503, "busy", message).retry_after(2)
        }
        Busy::Dropped | Busy::Away => store_unavailable(entrance),
    }
}
