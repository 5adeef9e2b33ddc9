//! What would have happened, had a room in mode shadow stopped anybody: the report.
//!
//! Owns the arithmetic from the line's minutes (`line::Shadowed`) to what an operator wants to know before a room is made to
//! count. Who waited how long comes from two curves, who came and who had a turn, straight within each minute; so a wait is right to
//! the minute, while sums and means are exact.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::Admin;
use super::access::Look;
use super::input::InRoom;
use super::number::Figure;
use super::refusal::{ErrorBody, Refusal};
use crate::clock;
use crate::line::{Minute, Shadowed};

/// Visitors of a minute whose wait is looked at, at most: each stands for as many as come between two of them.
const LOOKED_AT: u64 = 60;

/// What would have happened.
#[derive(Serialize, ToSchema)]
pub(super) struct Report {
    event_id: String,
    /// The first and the last minute that were reckoned; null: the room was not in mode shadow within a day.
    since: Option<String>,
    until: Option<String>,
    /// Who came.
    visitors: u64,
    /// Of these, who would have waited, and who would have found the line full.
    would_have_waited: u64,
    would_have_been_refused: u64,
    /// Who would be waiting now.
    waiting: u64,
    /// The most at once, and in which minute.
    longest_line: u64,
    longest_line_at: Option<String>,
    /// How long those who would have waited would have, on average.
    #[schema(value_type = Option<f64>)]
    wait_mean_seconds: Option<Figure>,
    /// Of all who came, to the minute.
    #[schema(value_type = Option<f64>)]
    wait_p50_seconds: Option<Figure>,
    #[schema(value_type = Option<f64>)]
    wait_p90_seconds: Option<Figure>,
    #[schema(value_type = Option<f64>)]
    wait_longest_seconds: Option<Figure>,
}

impl Report {
    fn of(event_id: &str, past: &[Minute]) -> Report {
        let reckoned = |minute: &Minute| Some((minute.minute, minute.shadow?));
        let minutes: Vec<(u64, Shadowed)> = past.iter().filter_map(reckoned).collect();
        let sum = |of: fn(&Shadowed) -> u64| minutes.iter().map(|(_, shadow)| of(shadow)).sum();
        let at = |(minute, _): &(u64, Shadowed)| clock::moment(minute * 60_000);
        // Of several the first.
        let longest = minutes.iter().rev().max_by_key(|(_, shadow)| shadow.peak);
        let longest = longest.filter(|(_, shadow)| shadow.peak > 0);
        let delayed: u64 = sum(|shadow| shadow.delayed);
        let waited_ms: u64 = sum(|shadow| shadow.waited_ms);
        let waits = waits(&minutes);
        Report {
            event_id: event_id.to_owned(),
            since: minutes.first().map(at),
            until: minutes.last().map(at),
            visitors: sum(|shadow| shadow.arrived),
            would_have_waited: delayed,
            would_have_been_refused: sum(|shadow| shadow.refused),
            waiting: minutes.last().map_or(0, |(_, shadow)| shadow.waiting),
            longest_line: longest.map_or(0, |(_, shadow)| shadow.peak),
            longest_line_at: longest.map(at),
            wait_mean_seconds: (delayed > 0)
                .then(|| Figure(waited_ms as f64 / delayed as f64 / 1_000.0)),
            wait_p50_seconds: quantile(&waits, 0.5),
            wait_p90_seconds: quantile(&waits, 0.9),
            wait_longest_seconds: quantile(&waits, 1.0),
        }
    }
}

/// How long visitors would have waited, in seconds, and how many each of them stands for; shortest first.
fn waits(minutes: &[(u64, Shadowed)]) -> Vec<(f64, u64)> {
    let mut found = Vec::new();
    // Who has come before the minute; and the minute in which the next turns are, with those given before it.
    let (mut came, mut server, mut served) = (0, minutes.iter().peekable(), 0);
    for (minute, Shadowed { arrived, refused, .. }) in minutes {
        let joined = arrived - refused;
        let step = joined.div_ceil(LOOKED_AT).max(1);
        for nth in (0..joined).step_by(step as usize) {
            let rank = came + nth;
            while let Some(turns) = server.peek().map(|(_, shadow)| shadow.turns)
                && served + turns <= rank
            {
                served += turns;
                server.next();
            }
            // Who is still waiting has no wait yet.
            let Some((turn, Shadowed { turns, .. })) = server.peek() else { break };
            let within = |nth: u64, all: u64| nth as f64 / all.max(1) as f64;
            let came_at = *minute as f64 + within(nth, joined);
            let turn_at = *turn as f64 + within(rank - served, *turns);
            found.push(((turn_at - came_at).max(0.0) * 60.0, step.min(joined - nth)));
        }
        came += joined;
    }
    found.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    found
}

fn quantile(waits: &[(f64, u64)], share: f64) -> Option<Figure> {
    let all: u64 = waits.iter().map(|(_, count)| count).sum();
    let wanted = (share * all as f64).ceil().max(1.0) as u64;
    let mut below = 0;
    let found = waits.iter().find(|(_, count)| {
        below += count;
        below >= wanted
    });
    found.map(|(wait, _)| Figure(*wait))
}

/// What would have happened, had the room stopped anybody
#[utoipa::path(
    get, path = "/v1/rooms/{id}/shadow", tag = "rooms", params(("id" = String, Path, description = "Without its tenant")),
    responses((status = 200, body = Report), (status = 404, body = ErrorBody), (status = 503, body = ErrorBody))
)]
pub(super) async fn shadow(
    State(admin): State<Arc<Admin>>,
    room: InRoom<Look>,
) -> Result<Json<Report>, Refusal> {
    let event_id = room.entrance.room.name();
    Ok(Json(Report::of(event_id, &admin.past(event_id).await?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minute(minute: u64, arrived: u64, turns: u64, waiting: u64) -> Minute {
        let delayed = arrived.saturating_sub(turns);
        let shadow =
            Shadowed { arrived, delayed, turns, waiting, peak: waiting, ..Shadowed::default() };
        Minute { minute, shadow: Some(shadow), ..Minute::default() }
    }

    /// 600 come within a minute, 60 a minute have a turn: the last of them would have waited nine minutes.
    #[test]
    fn a_crowd_of_ten_minutes() {
        let mut past = vec![Minute { minute: 9, ..Minute::default() }, minute(10, 600, 60, 540)];
        past.extend((11..20).map(|at| minute(at, 0, 60, 540 - 60 * (at - 10))));
        let report = Report::of("sale", &past);
        assert_eq!((report.visitors, report.would_have_waited), (600, 540));
        assert_eq!((report.longest_line, report.waiting), (540, 0));
        assert_eq!(report.longest_line_at.as_deref(), Some(clock::moment(600_000).as_str()));
        let seconds = |figure: Option<Figure>| figure.unwrap().0;
        assert!((seconds(report.wait_longest_seconds) - 540.0).abs() < 15.0);
        assert!((seconds(report.wait_p50_seconds) - 270.0).abs() < 15.0);
    }

    #[test]
    fn nothing_was_reckoned() {
        let report = Report::of("sale", &[Minute { minute: 9, ..Minute::default() }]);
        assert!(report.since.is_none() && report.wait_p50_seconds.is_none());
        assert_eq!(report.visitors, 0);
    }
}
