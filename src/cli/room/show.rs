//! The node's answers for people: tables, and lines of names and values. What comes from a node is printed without its control
//! characters, as it might be anybody's.

use std::fmt::Write as _;

use serde_json::Value;

use crate::units::{self, grouped};

/// A field as text; nothing for what is not there.
pub(super) fn text(value: &Value, field: &str) -> String {
    match &value[field] {
        Value::Null => String::new(),
        Value::String(text) => text.chars().filter(|one| !one.is_control()).collect(),
        Value::Number(number) => match number.as_u64() {
            Some(whole) => grouped(whole),
            None => number.to_string(),
        },
        other => other.to_string(),
    }
}

/// A number of seconds as people say it.
pub(super) fn span(value: &Value) -> String {
    let Some(seconds) = value.as_f64() else { return "-".to_owned() };
    match seconds.round() as u64 {
        seconds @ 0..60 => format!("{seconds}s"),
        seconds @ 60..3_600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        seconds => format!("{}h {:02}m", seconds / 3_600, seconds / 60 % 60),
    }
}

/// How long until a turn: `4m 10s (3m 20s to 6m 00s)`.
fn eta(value: &Value) -> String {
    match value.is_null() {
        true => "nobody is released".to_owned(),
        false => format!(
            "{} ({} to {})",
            span(&value["seconds"]),
            span(&value["low"]),
            span(&value["high"])
        ),
    }
}

/// `5/s`; nothing is no limit.
fn rate(value: &Value) -> String {
    value.as_f64().map_or_else(|| "-".to_owned(), |rate| format!("{rate}/s"))
}

fn or_any(value: &Value, field: &str) -> String {
    match text(value, field) {
        none if none.is_empty() => "-".to_owned(),
        some => some,
    }
}

/// Columns under their heads; figures to the right.
pub(super) fn table(heads: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([heads[column].len()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let is_figure = |column: usize| {
        let figure = |cell: &String| cell.starts_with(|c: char| c.is_ascii_digit() || c == '-');
        rows.iter().all(|row| figure(&row[column]))
    };
    let figures: Vec<bool> = (0..heads.len()).map(is_figure).collect();
    let mut out = String::new();
    let mut line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut line = String::new();
        for (column, cell) in cells.enumerate() {
            let width = widths[column];
            let _ = match figures[column] {
                true => write!(line, "{cell:>width$}  "),
                false => write!(line, "{cell:<width$}  "),
            };
        }
        let _ = writeln!(out, "{}", line.trim_end());
    };
    line(&mut heads.iter().copied());
    for row in rows {
        line(&mut row.iter().map(String::as_str));
    }
    out
}

fn facts(facts: &[(&str, String)]) -> String {
    let mut out = String::new();
    for (name, value) in facts.iter().filter(|(_, value)| !value.is_empty()) {
        let _ = writeln!(out, "{name:<14} {value}");
    }
    out
}

fn items<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value[field].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// `auto`, `auto, paused`.
fn mode(room: &Value) -> String {
    let paused = if room["paused"] == true { ", paused" } else { "" };
    let part = match room["rollout"].as_u64() {
        Some(percent @ ..100) => format!(", for {percent} of 100 visitors"),
        _ => String::new(),
    };
    format!("{}{paused}{part}", text(room, "mode"))
}

/// What a schedule says of a room: `prequeue, opens in 12m 05s, with a draw`. Nothing, if it is open for good.
fn phase(room: &Value) -> String {
    let left = |field: &str| {
        let ms = |field: &str| units::moment(room[field].as_str()?).ok();
        let left_ms = ms(field)?.saturating_sub(ms("server_time")?);
        Some(span(&(left_ms as f64 / 1_000.0).into()))
    };
    let draw = if room["draw"] == true { ", with a draw" } else { "" };
    match (text(room, "phase").as_str(), left("opens_at"), left("closes_at")) {
        ("open", _, Some(closes)) => format!("open, closes in {closes}"),
        ("open" | "", ..) => String::new(),
        (phase, Some(opens), _) => format!("{phase}, opens in {opens}{draw}"),
        (phase, None, _) => phase.to_owned(),
    }
}

pub(super) fn list(answer: &Value) -> String {
    let row = |room: &Value| {
        vec![
            text(room, "event_id"),
            match phase(room) {
                open if open.is_empty() => mode(room),
                phase => format!("{}, {phase}", mode(room)),
            },
            text(room, "waiting"),
            text(room, "admitted"),
            format!("{} of {}", text(room, "active"), or_any(room, "max_active")),
            rate(&room["rate_set"]),
            rate(&room["rate_reached"]),
            span(&room["average_wait_seconds"]),
            span(&room["eta"]["seconds"]),
            text(room, "store"),
        ]
    };
    let rows: Vec<Vec<String>> = items(answer, "rooms").iter().map(row).collect();
    let heads = [
        "ROOM", "MODE", "WAITING", "CALLED", "INSIDE", "RATE", "REACHED", "WAITED", "ETA", "STORE",
    ];
    table(&heads, &rows)
}

pub(super) fn status(room: &Value) -> String {
    facts(&[
        ("room", text(room, "event_id")),
        ("mode", mode(room)),
        ("schedule", phase(room)),
        ("waiting", format!("{}, at most {}", text(room, "waiting"), or_any(room, "max_waiting"))),
        (
            "of a class",
            if room["class_waiting"] == 0 { String::new() } else { text(room, "class_waiting") },
        ),
        ("called", text(room, "admitted")),
        ("inside", format!("{} of {}", text(room, "active"), or_any(room, "max_active"))),
        (
            "rate",
            format!("{} set, {} reached", rate(&room["rate_set"]), rate(&room["rate_reached"])),
        ),
        ("adaptive", text(&room["adaptive"], "reason")),
        ("joins", format!("{}, {} in all", rate(&room["join_rate"]), text(room, "joined_total"))),
        (
            "entered",
            format!(
                "{} in the last hour, {} in all",
                text(room, "admissions_last_hour"),
                text(room, "admitted_total")
            ),
        ),
        ("completed", text(room, "completed_total")),
        ("expired", text(room, "expired_total")),
        ("no-shows", text(room, "no_show_total")),
        ("dropped", text(room, "dropped_total")),
        ("waited", span(&room["average_wait_seconds"])),
        ("eta", eta(&room["eta"])),
        ("last entry", text(room, "last_admission_at")),
        (
            "store",
            format!("{}, heard of {} ago", text(room, "store"), span(&room["view_age_seconds"])),
        ),
    ])
}

/// What would have happened.
pub(super) fn shadow(report: &Value) -> String {
    if report["since"].is_null() {
        return "nothing was reckoned: the room was not in mode shadow within the last day\n"
            .to_owned();
    }
    let visitors = report["visitors"].as_u64().unwrap_or(0).max(1) as f64;
    let share = |field: &str| {
        let of_a_hundred = report[field].as_f64().unwrap_or(0.0) / visitors * 100.0;
        format!("{} ({of_a_hundred:.1} of 100)", text(report, field))
    };
    facts(&[
        ("room", text(report, "event_id")),
        ("reckoned", format!("{} to {}", text(report, "since"), text(report, "until"))),
        ("visitors", text(report, "visitors")),
        ("would wait", share("would_have_waited")),
        ("refused", share("would_have_been_refused")),
        (
            "longest line",
            match report["longest_line_at"].as_str() {
                Some(_) => {
                    let at = text(report, "longest_line_at");
                    format!(
                        "{} at {at}, {} now",
                        text(report, "longest_line"),
                        text(report, "waiting")
                    )
                }
                None => "none".to_owned(),
            },
        ),
        ("mean wait", span(&report["wait_mean_seconds"])),
        ("half waited", format!("{} at most", span(&report["wait_p50_seconds"]))),
        ("90 of 100", format!("{} at most", span(&report["wait_p90_seconds"]))),
        ("longest", span(&report["wait_longest_seconds"])),
    ])
}

/// The class by name, or what is known of it.
fn class(visitor: &Value) -> String {
    match (text(visitor, "class"), visitor["class_rank"].as_u64()) {
        (name, _) if !name.is_empty() => name,
        (_, Some(rank)) => format!("of rank {rank}"),
        (_, None) => String::new(),
    }
}

pub(super) fn line(answer: &Value) -> String {
    let row = |visitor: &Value| {
        vec![
            text(visitor, "position"),
            text(visitor, "label"),
            text(visitor, "queue_ref"),
            span(&visitor["eta"]["seconds"]),
            class(visitor),
        ]
    };
    let mut rows: Vec<Vec<String>> = items(answer, "visitors").iter().map(row).collect();
    let waiting = text(answer, "waiting");
    let heads = ["POSITION", "TICKET", "REFERENCE", "ETA", "CLASS"];
    // A room without classes has no such column.
    let columns = if rows.iter().all(|row| row[4].is_empty()) { 4 } else { 5 };
    rows.iter_mut().for_each(|row| row.truncate(columns));
    match rows.is_empty() {
        true => format!("nobody there; {waiting} wait in all\n"),
        false => table(&heads[..columns], &rows),
    }
}

pub(super) fn visitor(visitor: &Value) -> String {
    let reason = match text(visitor, "reason") {
        none if none.is_empty() => none,
        reason => format!(", {reason}"),
    };
    let waits = !visitor["position"].is_null();
    facts(&[
        ("ticket", text(visitor, "label")),
        ("reference", text(visitor, "queue_ref")),
        ("status", format!("{}{reason}", text(visitor, "status"))),
        ("class", class(visitor)),
        ("name", text(visitor, "name")),
        ("slot", text(visitor, "slot")),
        ("position", text(visitor, "position")),
        ("eta", if waits { eta(&visitor["eta"]) } else { String::new() }),
    ])
}

pub(super) fn paused(room: &Value) -> String {
    let state = if room["paused"] == true { "is paused" } else { "goes on" };
    format!("{} {state}: {} wait\n", text(room, "event_id"), text(room, "waiting"))
}

pub(super) fn released(answer: &Value) -> String {
    let called = items(answer, "called");
    let label = |visitor: Option<&Value>| visitor.map(|one| text(one, "label")).unwrap_or_default();
    let whom = match called.len() {
        0 => String::new(),
        1 => format!(": {}", label(called.first())),
        _ => format!(": {} to {}", label(called.first()), label(called.last())),
    };
    format!("released {}{whom}; {} wait\n", text(answer, "released"), text(answer, "remaining"))
}

pub(super) fn steered(answer: &Value) -> String {
    let who = visitor(&answer["visitor"]);
    match answer["done"] == true {
        true => format!("Done.\n{who}"),
        false => format!("Nothing was done: their session is over, or has not begun.\n{who}"),
    }
}

pub(super) fn revoked(answer: &Value) -> String {
    let label = text(&answer["visitor"], "label");
    match answer["revoked"] == true {
        true => format!("{label} is out\n"),
        false => format!("{label} was out already\n"),
    }
}

pub(super) fn reset(room: &Value) -> String {
    format!("{} starts anew: epoch {}\n", text(room, "event_id"), room["epoch"])
}

pub(super) fn reloaded(_: &Value) -> String {
    "the new configuration is in force\n".to_owned()
}

/// What operators did.
pub(super) fn audit(answer: &Value) -> String {
    let entries = items(answer, "entries");
    let row = |entry: &Value| {
        let who = text(entry, "admin_id");
        let who = if who.is_empty() { "a file".to_owned() } else { who };
        let what = format!("{} -> {}", entry["parameters"], entry["result"]);
        let mut what: String = what.chars().filter(|c| !c.is_control()).collect();
        if what.chars().count() > MAX_WHAT {
            what = what.chars().take(MAX_WHAT).chain(['…']).collect();
        }
        format!(
            "{}  {:<12} {:<16} {:<10} {what}\n",
            text(entry, "at"),
            who,
            text(entry, "event_id"),
            text(entry, "action")
        )
    };
    entries.iter().map(row).collect()
}

/// Whether a line is sound.
pub(super) fn health(answer: &Value) -> String {
    let (repaired, health) = match answer.get("health") {
        Some(health) => (answer["repaired"].as_u64(), health),
        None => (None, answer),
    };
    let mut said = repaired.map_or(String::new(), |count| format!("{count} counters repaired\n"));
    let broken = items(health, "broken");
    if broken.is_empty() {
        said += &format!("{}: everything holds that must\n", text(health, "event_id"));
    }
    for one in broken {
        let (invariant, found) = (&one["invariant"], text(one, "found"));
        said += &format!("invariant {invariant}: {found}\n  repair: {}\n", text(one, "repair"));
    }
    said
}

/// Of what was done, so much fits a line.
const MAX_WHAT: usize = 100;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn figures_stand_to_the_right_and_names_to_the_left() {
        let rows = [["sale", "1,523"], ["drop", "7"]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(
            table(&["ROOM", "WAITING"], &rows),
            "ROOM  WAITING\nsale    1,523\ndrop        7\n"
        );
        assert_eq!(table(&["ROOM"], &[]), "ROOM\n");
    }

    #[test]
    fn times_as_people_say_them() {
        for (seconds, said) in [(0.4, "0s"), (59.0, "59s"), (61.0, "1m 01s"), (7_260.0, "2h 01m")] {
            assert_eq!(span(&json!(seconds)), said);
        }
        assert_eq!(span(&Value::Null), "-");
    }

    #[test]
    fn no_node_writes_onto_the_terminal_what_it_likes() {
        assert_eq!(text(&json!({ "label": "A\u{1b}[2J-1" }), "label"), "A[2J-1");
    }
}
