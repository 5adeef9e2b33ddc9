//! A room's past, minute by minute: as JSON for charts, as CSV for spreadsheets.
//!
//! Owns the rows. The line keeps counters and histograms; differences, rates and quantiles are made here.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::Admin;
use super::access::Look;
use super::input::{Asked, InRoom};
use super::number::Figure;
use super::refusal::{ErrorBody, Refusal};
use crate::clock;
use crate::line::{
    ANSWERS, ERRORS, Found, GHOSTS, LATENCIES, Minute, NO_RATE, ORIGIN, Question, WAITS,
};

/// Minutes of a day.
const DAY: u64 = 1_440;

/// What is asked for.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Since {
    /// The last so many minutes.
    #[param(minimum = 1, maximum = 1440)]
    minutes: Option<u64>,
    /// `json` or `csv`; without it `Accept` decides.
    #[param(inline)]
    format: Option<Format>,
}

#[derive(Clone, Copy, Deserialize, PartialEq, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Format {
    Json,
    Csv,
}

/// The past of a room.
#[derive(Serialize, ToSchema)]
pub(super) struct History {
    event_id: String,
    /// Oldest first; the last one runs. A minute in which no node spoke is left out.
    minutes: Vec<Row>,
}

/// A minute.
#[derive(Serialize, ToSchema)]
pub(super) struct Row {
    /// When it began.
    at: String,
    /// Waiting at its end, and so with the next two.
    waiting: u64,
    active: u64,
    admitted: u64,
    /// In it, and so with all that follow.
    joins: u64,
    released: u64,
    entries: u64,
    completions: u64,
    /// Called, and did not come.
    no_shows: u64,
    /// Fell silent in line.
    drop_outs: u64,
    /// Entered without waiting, and never came back.
    ghosts: u64,
    /// How long those had waited who entered; null: nobody did.
    #[schema(value_type = Option<f64>)]
    wait_p50_seconds: Option<Figure>,
    #[schema(value_type = Option<f64>)]
    wait_p90_seconds: Option<Figure>,
    #[schema(value_type = Option<f64>)]
    wait_p99_seconds: Option<Figure>,
    /// Turns a second, as they were set; null: no such limit.
    #[schema(value_type = Option<f64>)]
    rate_set: Option<Figure>,
    /// Turns a second, as they were given.
    #[schema(value_type = f64)]
    rate_reached: Figure,
    /// Answers of the origin to visitors of this room, as all nodes saw them.
    origin_requests: u64,
    origin_errors: u64,
    #[schema(value_type = Option<f64>)]
    origin_p50_ms: Option<Figure>,
    #[schema(value_type = Option<f64>)]
    origin_p95_ms: Option<Figure>,
}

const COLUMNS: &str = "at,waiting,active,admitted,joins,released,entries,completions,no_shows,drop_outs,ghosts,\
wait_p50_seconds,wait_p90_seconds,wait_p99_seconds,rate_set,rate_reached,origin_requests,origin_errors,origin_p50_ms,\
origin_p95_ms\n";

impl Row {
    fn of(before: Option<&Minute>, now: &Minute) -> Row {
        // Totals count from the beginning of an epoch.
        let before = before.filter(|before| before.epoch == now.epoch);
        let since = |total: fn(&Minute) -> u64| total(now).saturating_sub(before.map_or(0, total));
        let turns = since(|minute| minute.turns);
        let span = before.map_or(1, |before| (now.minute - before.minute).max(1));
        let part = |from: usize, count: usize| now.figures.get(from..from + count).unwrap_or(&[]);
        let one = |at: usize| now.figures.get(at).copied().unwrap_or(0);
        let wait = |share| WAITS.quantile(part(0, WAITS.count), share).map(rounded);
        let took = |share| LATENCIES.quantile(part(ORIGIN, LATENCIES.count), share).map(rounded);
        Row {
            at: clock::moment(now.minute * 60_000),
            waiting: now.waiting,
            active: now.inside,
            admitted: now.admitted,
            joins: since(|minute| minute.issued),
            released: turns,
            entries: since(|minute| minute.entered),
            completions: since(|minute| minute.completed),
            no_shows: since(|minute| minute.no_shows),
            drop_outs: since(|minute| minute.dropped),
            ghosts: one(GHOSTS),
            wait_p50_seconds: wait(0.5),
            wait_p90_seconds: wait(0.9),
            wait_p99_seconds: wait(0.99),
            rate_set: (now.rate != NO_RATE).then(|| Figure(now.rate as f64 / 1_000.0)),
            rate_reached: rounded(turns as f64 / (60.0 * span as f64)),
            origin_requests: one(ANSWERS),
            origin_errors: one(ERRORS),
            origin_p50_ms: took(0.5),
            origin_p95_ms: took(0.95),
        }
    }

    fn csv(&self) -> String {
        let figure = |figure: &Option<Figure>| figure.map_or(String::new(), |it| it.0.to_string());
        let Row { at, waiting, active, admitted, joins, released, entries, completions, .. } = self;
        let Row { no_shows, drop_outs, ghosts, origin_requests, origin_errors, .. } = self;
        let [p50, p90, p99] =
            [&self.wait_p50_seconds, &self.wait_p90_seconds, &self.wait_p99_seconds].map(figure);
        let [set, fast, slow] =
            [&self.rate_set, &self.origin_p50_ms, &self.origin_p95_ms].map(figure);
        let reached = self.rate_reached.0;
        format!(
            "{at},{waiting},{active},{admitted},{joins},{released},{entries},{completions},{no_shows},{drop_outs},\
             {ghosts},{p50},{p90},{p99},{set},{reached},{origin_requests},{origin_errors},{fast},{slow}\n"
        )
    }
}

/// To a thousandth: a histogram knows no more.
fn rounded(value: f64) -> Figure {
    Figure((value * 1_000.0).round() / 1_000.0)
}

/// The rows of the last so many minutes.
pub(super) fn rows(past: &[Minute], minutes: u64) -> Vec<Row> {
    let last = past.last().map_or(0, |minute| minute.minute);
    let first = past.partition_point(|minute| minute.minute + minutes <= last);
    let row = |at: usize| Row::of(at.checked_sub(1).and_then(|at| past.get(at)), &past[at]);
    (first..past.len()).map(row).collect()
}

/// Entered within the last hour, and the mean of how long they had waited.
pub(super) fn last_hour(past: &[Minute]) -> (u64, Option<f64>) {
    let hour = rows(past, 60);
    let entered = hour.iter().map(|row| row.entries).sum();
    let last = past.last().map_or(0, |minute| minute.minute);
    let first = past.partition_point(|minute| minute.minute + 60 <= last);
    let mut sums = vec![0; WAITS.count];
    for minute in &past[first..] {
        sums.iter_mut().zip(&minute.figures).for_each(|(sum, count)| *sum += count);
    }
    (entered, WAITS.mean(&sums))
}

/// A room's past
#[utoipa::path(
    get, path = "/v1/rooms/{id}/history", tag = "rooms", params(("id" = String, Path, description = "Without its tenant"), Since),
    responses(
        (status = 200, content((History = "application/json"), (String = "text/csv"))),
        (status = 400, body = ErrorBody), (status = 404, body = ErrorBody), (status = 503, body = ErrorBody)
    )
)]
pub(super) async fn history(
    State(admin): State<Arc<Admin>>,
    room: InRoom<Look>,
    Asked(Since { minutes, format }): Asked<Since>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let minutes = minutes.unwrap_or(DAY);
    if !(1..=DAY).contains(&minutes) {
        return Err(Refusal::bad(format!("minutes is not between 1 and {DAY}")));
    }
    let event_id = room.entrance.room.name().to_owned();
    let rows = rows(&admin.past(&event_id).await?, minutes);
    let accepted =
        headers.get(header::ACCEPT).is_some_and(|accept| accept.as_bytes() == b"text/csv");
    if format == Some(Format::Csv) || (format.is_none() && accepted) {
        let csv: String = rows.iter().map(Row::csv).collect();
        let name = format!("attachment; filename=\"{}.csv\"", event_id.replace('/', "-"));
        let kind = "text/csv; charset=utf-8".to_owned();
        let head = [(header::CONTENT_TYPE, kind), (header::CONTENT_DISPOSITION, name)];
        return Ok((head, format!("{COLUMNS}{csv}")).into_response());
    }
    Ok(Json(History { event_id, minutes: rows }).into_response())
}

impl Admin {
    /// A room's minutes, oldest first.
    pub(super) async fn past(&self, room: &str) -> Result<Vec<Minute>, Refusal> {
        match self.find(room, Question::History).await? {
            Found::History(minutes) => Ok(minutes),
            _ => Ok(Vec::new()),
        }
    }
}
