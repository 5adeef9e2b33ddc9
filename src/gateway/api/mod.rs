//! The visitor API: joining, asking, staying, leaving, over HTTP and JSON. The same through either door.
//!
//! Owns the wire: names of fields, codes, statuses. What becomes of a place is the line's to say, and what it says is
//! only written down here. Never reads or writes a connection; the doors bring a head and a body and take an answer.
//!
//! | call | does |
//! |---|---|
//! | `POST queue/join`, `join` | a place, or straight in |
//! | `GET queue/status`, `status` | where a place stands; a sign of life |
//! | `POST queue/heartbeat` | the same, in few words |
//! | `GET queue/events` | the same, as it changes |
//! | `GET queue/roster` | who plays and who waits, by name |
//! | `POST queue/leave` | gives a place up |
//! | `POST admission/verify` | whether a pass is good, for origins that do not check it themselves; spends it, if asked to |
//! | `POST admission/complete` | the visit is over, the seat is free |
//!
//! Below `/.anteroom/v1/` on every host, and below `/v1/` on hosts of the API's own. A ticket that is named (in the
//! body, the query or as a bearer) stands for itself. One that came by cookie came by itself: then whatever changes
//! something must be asked by a page of the same site, and no answer shows ticket or pass, which scripts of a page
//! have no business with. Pages of other sites may not read anything: there are no CORS headers, and apps need none.
//!
//! - `request`, `fields`, `wish`: what is read. `json`, `error`: what is written.
//! - `asker`: which room, whose ticket. `verdict`: what it is worth now; pure. `turn`: what the line says of it.
//! - `join`, `arrival`, `status`, `events`, `leave`, `verify`: the calls. `meters`: what is counted; what is told is
//!   [`chronicle`](super::chronicle)'s.

mod arrival;
mod asker;
mod draw;
mod error;
mod events;
mod fields;
mod join;
mod json;
mod leave;
mod meters;
mod outside;
mod request;
mod roster;
mod status;
mod turn;
mod verdict;
mod verify;
mod wish;

pub use draw::{draw_page, phase};
pub use error::{closed_seconds, error, queue_disabled, too_large};
pub use events::{Events, Streams, events};
pub use join::join_limit;
pub use meters::Meters;
pub use request::{Request, from_our_page, parameter};
pub use roster::Everybody;
pub use status::{last_place, place};

use std::time::Instant;

use super::answer::Response;
use super::head::{Client, Head};
use super::live::Live;
use crate::clock;

/// The longest body a call takes: a join with the longest ids and metadata fills a fifth of it.
pub const MAX_BODY: usize = 16 * 1_024;

/// Every host has the API here.
const HERE: &str = "/.anteroom/v1/";
/// Its own hosts have it here, too.
const AT_ROOT: &str = "/v1/";

/// What can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Endpoint {
    /// `strict`: the seed's call; otherwise the short one, for which a bare POST is enough.
    Join {
        strict: bool,
    },
    Status,
    Heartbeat,
    Events,
    Leave,
    Verify,
    Complete,
    Roster,
    Draw,
}

impl Endpoint {
    fn named(name: &str) -> Option<Endpoint> {
        Some(match name {
            "queue/join" => Endpoint::Join { strict: true },
            "join" => Endpoint::Join { strict: false },
            "queue/status" | "status" => Endpoint::Status,
            "queue/heartbeat" => Endpoint::Heartbeat,
            "queue/events" => Endpoint::Events,
            "queue/leave" => Endpoint::Leave,
            "admission/verify" => Endpoint::Verify,
            "admission/complete" => Endpoint::Complete,
            "queue/roster" => Endpoint::Roster,
            "draw" => Endpoint::Draw,
            _ => return None,
        })
    }

    /// The methods it takes, as `Allow` lists them.
    fn methods(self) -> &'static str {
        match self {
            Endpoint::Status | Endpoint::Roster | Endpoint::Draw => "GET, HEAD",
            Endpoint::Events => "GET",
            _ => "POST",
        }
    }

    fn takes(self, method: &str) -> bool {
        self.methods().split(", ").any(|one| one == method)
    }
}

/// That this node is well, for balancers.
pub fn health() -> Response {
    let mut json = json::Json::new();
    json.text("status", "healthy");
    json.moment("server_time", clock::now_ms());
    Response::json(200, json.end())
}

/// Which call of the API a request is, if it is of the API: `queue/status`. Whether there is such a call is
/// [`answer_now`]'s to say.
pub fn endpoint<'a>(live: &Live, head: &'a impl Head) -> Option<&'a str> {
    let path = head.path();
    match path.strip_prefix(HERE) {
        Some(endpoint) => Some(endpoint),
        None if asker::is_api_host(live, head.host()) => path.strip_prefix(AT_ROOT),
        None => None,
    }
}

/// Answers what needs neither the line nor a body: nearly every poll, and what can't be asked at all. `None`: it is
/// for [`events`], if it is `queue/events`, or for [`call`].
pub fn answer_now(
    live: &Live,
    head: &impl Head,
    client: &Client,
    endpoint: &str,
) -> Option<Response> {
    let Some(call) = Endpoint::named(endpoint) else {
        return Some(error(404, "not_found", "there is no such call"));
    };
    if !call.takes(head.method()) {
        let answer = error(405, "method_not_allowed", "this call takes another method");
        return Some(answer.with("Allow", call.methods()));
    }
    match call {
        Endpoint::Status => {
            let measured = live.meters.begin_poll();
            let answer = status::answer_now(live, head, client)?;
            live.meters.answered(call, answer.status, measured);
            Some(answer)
        }
        Endpoint::Roster => {
            let measured = live.meters.begin_poll();
            let answer = roster::roster(live, head, client).unwrap_or_else(|refusal| refusal);
            live.meters.answered(call, answer.status, measured);
            Some(answer)
        }
        Endpoint::Draw => {
            let began = Instant::now();
            let answer = draw::draw(live, head, client).unwrap_or_else(|refusal| refusal);
            live.meters.answered(call, answer.status, Some(began));
            Some(answer)
        }
        _ => None,
    }
}

/// Answers everything else. `body` is the whole body, at most [`MAX_BODY`]; of a longer one the door says
/// [`too_large`].
pub async fn call(
    live: &Live,
    request: Request,
    client: Client,
    endpoint: &str,
    body: &[u8],
) -> Response {
    let Some(call) = Endpoint::named(endpoint) else {
        return error(404, "not_found", "there is no such call");
    };
    if body.len() > MAX_BODY {
        return too_large();
    }
    let began = Instant::now();
    let answer = match call {
        Endpoint::Join { strict } => join::join(live, &request, &client, body, strict).await,
        Endpoint::Status => status::status(live, &request, &client).await,
        Endpoint::Heartbeat => status::heartbeat(live, &request, &client, body).await,
        Endpoint::Leave => leave::leave(live, &request, &client, body).await,
        Endpoint::Complete => leave::complete(live, &request, &client, body).await,
        Endpoint::Verify => verify::verify(live, &request, &client, body).await,
        Endpoint::Roster => Err(error(404, "not_found", "this call takes no body")),
        Endpoint::Draw => draw::draw(live, &request, &client),
        Endpoint::Events => Err(error(404, "not_found", "this call is answered as a stream")),
    };
    // A refusal is an answer, too.
    let answer = answer.unwrap_or_else(|refusal| refusal);
    live.meters.answered(call, answer.status, Some(began));
    answer
}
