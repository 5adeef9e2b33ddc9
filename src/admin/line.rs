//! Who is next, and where one of them stands. All of it from the node's view: nobody is asked, and a line of millions
//! costs what a line of ten does.

use axum::Json;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::access::Look;
use super::input::{self, Asked, InRoom};
use super::refusal::{Refusal, no_visitor};
use super::rooms::{Eta, eta};
use crate::gateway::entrance::Entrance;
use crate::line::{Class, Ending, Number, Reason, Standing, View};
use crate::token::MAX_NUMBER;

/// Named in an answer at most.
const MAX_NAMED: u64 = 1_000;

/// Which part of the line.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Part {
    /// The first position; 1 is next.
    #[param(minimum = 1, maximum = 9007199254740991_u64, default = 1)]
    from: Option<u64>,
    /// How many.
    #[param(minimum = 1, maximum = 1_000, default = 100)]
    limit: Option<u64>,
}

/// A part of the line.
#[derive(Serialize, ToSchema)]
pub(super) struct Line {
    event_id: String,
    /// In all.
    waiting: u64,
    /// In their order.
    visitors: Vec<Visitor>,
    /// Where the next part begins; null: that was the last.
    next: Option<u64>,
}

/// Where somebody stands.
#[derive(Serialize, ToSchema)]
pub(super) struct Visitor {
    number: Number,
    /// As people see it.
    #[schema(examples("A-000123"))]
    label: String,
    /// As answers and logs have it.
    queue_ref: String,
    /// `waiting`, `away`, `admitted` (called, not inside yet), `used` (entered, or gave the place up: this node can't tell
    /// which), `active`, `completed` or `expired`.
    status: &'static str,
    /// Why it is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    /// 1 is next.
    position: Option<u64>,
    /// When the turn comes; null while nobody is released.
    eta: Option<Eta>,
    /// Of whoever waits as a visitor of a class: its rank when they joined. Null: of no class, or not in line.
    class_rank: Option<u64>,
    /// The class, if exactly one of the settings in force that skips or has a rank has that rank: the line keeps place and rank of
    /// a class visitor, and no name. Null: it can't be told.
    class: Option<String>,
    /// What the roster calls them, where a room has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// The slot they sit in, where seats have names.
    #[serde(skip_serializing_if = "Option::is_none")]
    slot: Option<String>,
}

/// Who is next
#[utoipa::path(
    get, path = "/v1/rooms/{id}/line", tag = "visitors",
    params(("id" = String, Path, description = "Without its tenant"), Part),
    responses((status = 200, body = Line))
)]
pub(super) async fn line(
    room: InRoom<Look>,
    Asked(Part { from, limit }): Asked<Part>,
) -> Result<Json<Line>, Refusal> {
    let (from, limit) = (from.unwrap_or(1), limit.unwrap_or(100));
    if !(1..=MAX_NUMBER).contains(&from) || !(1..=MAX_NAMED).contains(&limit) {
        let message =
            format!("from is between 1 and {MAX_NUMBER}, and limit between 1 and {MAX_NAMED}");
        return Err(Refusal::bad(message));
    }
    let entrance = &room.entrance;
    let view = entrance.room.view();
    let queue = view.queue(from, limit as usize);
    let next = queue.last().filter(|_| queue.len() as u64 == limit).map(|(last, _)| last + 1);
    let visitor = |(position, number): &(u64, Number)| Visitor {
        position: Some(*position),
        eta: eta(&view, *position),
        ..Visitor::named(entrance, &view, *number, ("waiting", None))
    };
    Ok(Json(Line {
        event_id: entrance.room.name().to_owned(),
        waiting: view.waiting(),
        visitors: queue.iter().map(visitor).collect(),
        next,
    }))
}

/// One visitor
#[utoipa::path(
    get, path = "/v1/rooms/{id}/visitors/{visitor}", tag = "visitors",
    params(
        ("id" = String, Path, description = "Without its tenant"),
        ("visitor" = String, Path, description = "A number, a label or a queue_ref")
    ),
    responses((status = 200, body = Visitor))
)]
pub(super) async fn visitor(
    room: InRoom<Look>,
    input::Visitor(visitor): input::Visitor,
) -> Result<Json<Visitor>, Refusal> {
    let view = room.entrance.room.view();
    let number = find(&room.entrance, &view, &visitor)?;
    Ok(Json(Visitor::of(&room.entrance, &view, number)))
}

/// The number that somebody goes by: `123`, `A-000123`, `q_…`.
///
/// # Errors
/// 404: there is none of the present epoch.
pub(super) fn find(entrance: &Entrance, view: &View, visitor: &str) -> Result<Number, Refusal> {
    let epoch = view.counts().epoch;
    let prefix = &entrance.settings.ticket_prefix;
    let number = if visitor.starts_with("q_") {
        entrance.keys.number_of(epoch, visitor)
    } else {
        let (before, digits) = visitor.rsplit_once('-').unwrap_or((prefix, visitor));
        let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
        let ours = before.eq_ignore_ascii_case(prefix) && plain;
        ours.then(|| digits.parse().ok()).flatten()
    };
    let given = |number: &Number| (1..=view.counts().issued).contains(number);
    number.filter(given).ok_or_else(no_visitor)
}

impl Visitor {
    /// Where a number stands, as far as this node knows.
    pub(super) fn of(entrance: &Entrance, view: &View, number: Number) -> Visitor {
        let position = view.position(number);
        Visitor {
            position,
            eta: position.and_then(|position| eta(view, position)),
            ..Visitor::named(entrance, view, number, status(view.standing(number)))
        }
    }

    fn named(
        entrance: &Entrance,
        view: &View,
        number: Number,
        (status, reason): (&'static str, Option<&'static str>),
    ) -> Visitor {
        let known = view.roster().find(number);
        let class_rank = view.class_rank(number);
        Visitor {
            number,
            label: entrance.label(number),
            queue_ref: entrance.keys.reference(view.counts().epoch, number),
            status,
            reason,
            position: None,
            eta: None,
            class_rank,
            class: class_rank.and_then(|rank| class_of(view, rank)),
            name: known.map(|known| known.name.clone()),
            slot: known.and_then(|known| entrance.slot_name(known.slot)),
        }
    }
}

/// The only class that places whoever has it, and at this rank.
fn class_of(view: &View, rank: u64) -> Option<String> {
    let places = |class: &&Class| class.rank == rank && (class.skip > 0 || class.rank > 0);
    let mut found = view.settings()?.classes.iter().filter(places);
    let first = found.next()?;
    found.next().is_none().then(|| first.name.clone())
}

fn status(standing: Standing) -> (&'static str, Option<&'static str>) {
    match standing {
        Standing::Unknown => ("unknown", None),
        Standing::Waiting => ("waiting", None),
        Standing::Away => ("away", None),
        Standing::Admitted => ("admitted", None),
        Standing::Active => ("active", None),
        Standing::Completed => ("completed", None),
        Standing::Expired(Reason::Used) => ("used", None),
        Standing::Expired(Reason::Passed) => ("expired", Some("passed")),
        Standing::Expired(Reason::Ended(why)) => ("expired", Some(ending(why))),
    }
}

/// The word of an ending.
pub(super) fn ending(why: Ending) -> &'static str {
    match why {
        Ending::Completed => "completed",
        Ending::Left => "left",
        Ending::Revoked => "revoked",
        Ending::Idle => "idle",
        Ending::Capped => "capped",
        Ending::Requeued => "requeued",
    }
}
