//! `schedule`: from what is written about events to the line's own.

use super::Check;
use crate::clock;
use crate::config::file::{self, Room};
use crate::line::{Event, OutOfRange};
use crate::units::span;

impl Check<'_> {
    /// The events of a room. One without an opening is a problem, and left out.
    pub(super) fn schedule(&self, room: &Room) -> Vec<Event> {
        let events: Vec<Event> =
            room.schedule.iter().filter_map(|event| self.event(event)).collect();
        let drawn = events.iter().any(|event| event.draw && event.prequeue_ms == 0);
        if drawn {
            let said = format!("{}.schedule has a draw without a pre-queue", room.path);
            let means = "nobody could come before the opening, so nobody would be drawn. Set \
                         prequeue = \"30m\", or leave draw out";
            self.report.problem(said, means);
        }
        events
    }

    fn event(&self, event: &file::Event) -> Option<Event> {
        if event.opens.is_none() && !event.spoiled.contains("opens") {
            let means = "without an opening nobody would ever be let in. Write opens = \
                         \"2026-12-01T10:00:00Z\"";
            self.report.problem(format!("{} has no opens", event.place), means);
        }
        let value = |written: &Option<crate::config::report::Written<u64>>| {
            written.as_ref().map(|written| written.value)
        };
        Some(Event {
            opens_ms: value(&event.opens)?,
            prequeue_ms: value(&event.prequeue).unwrap_or(0),
            draw: event.draw.as_ref().is_some_and(|draw| draw.value),
            closes_ms: value(&event.closes),
            every_ms: value(&event.every),
        })
    }

    /// A time that makes no sense, in the words of the file. Whether it was one of a schedule.
    pub(super) fn odd_event(&self, room: &Room, found: &OutOfRange) -> bool {
        if found.name == "schedule" {
            let said = format!("{}.schedule has {} events", room.path, found.value);
            self.report.problem(said, format!("{} at most: {}", found.high, found.why));
            return true;
        }
        let Some((nth, key)) =
            found.name.strip_prefix("schedule[").and_then(|rest| rest.split_once("]."))
        else {
            return false;
        };
        let whole: Vec<&file::Event> =
            room.schedule.iter().filter(|event| event.opens.is_some()).collect();
        let Some(event) = nth.parse().ok().and_then(|nth: usize| whole.get(nth)) else {
            return true;
        };
        let (written, moment) = match key {
            "opens" => (&event.opens, true),
            "closes" => (&event.closes, true),
            "prequeue" => (&event.prequeue, false),
            _ => (&event.every, false),
        };
        let show = |ms: u64| if moment { clock::second(ms / 1_000) } else { span(ms) };
        let said = match written {
            Some(written) if moment && found.value < found.low => {
                format!("{} is not after {}", written.said(), show(found.low - 1))
            }
            Some(written) => {
                let (low, high) = (show(found.low), show(found.high));
                format!("{} is not between {low} and {high}", written.said())
            }
            None => format!("{} has every and no {key}", event.place),
        };
        self.report.problem(said, found.why.clone());
        true
    }
}
