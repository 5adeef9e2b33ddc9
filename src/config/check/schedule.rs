//! `schedule`: from what is written about events to the line's own.

use super::Check;
use crate::clock;
use crate::config::file::{self, Room};
use crate::line::{DRAWS_KEPT, Event, OutOfRange};
use crate::units::span;

impl Check<'_> {
    /// The events of a room. One without an opening is a problem, and left out.
    pub(super) fn schedule(&self, room: &Room, ticket_max_ms: u64) -> Vec<Event> {
        let written: Vec<(&file::Event, Event)> =
            room.schedule.iter().filter_map(|event| Some((event, self.event(event)?))).collect();
        self.entangled(&written);
        let events: Vec<Event> = written.into_iter().map(|(_, event)| event).collect();
        self.forgotten_draws(room, &events, ticket_max_ms);
        let drawn = events.iter().any(|event| event.draw && event.prequeue_ms == 0);
        if drawn {
            let said = format!("{}.schedule has a draw without a pre-queue", room.path);
            let means = "nobody could come before the opening, so nobody would be drawn. Set \
                         prequeue = \"30m\", or leave draw out";
            self.report.problem(said, means);
        }
        events
    }

    /// Who waits through more draws than are remembered would lose their place: there are no more while a ticket is good.
    fn forgotten_draws(&self, room: &Room, events: &[Event], ticket_max_ms: u64) {
        let drawn = || events.iter().filter(|event| event.draw);
        let again = drawn().filter_map(|event| event.every_ms);
        let again = again.map(|every_ms| ticket_max_ms.div_ceil(every_ms.max(1)));
        let again = again.fold(0, u64::saturating_add);
        let once: Vec<u64> =
            drawn().filter(|event| event.every_ms.is_none()).map(|event| event.opens_ms).collect();
        let from = |from: &u64| {
            let good = *from..from.saturating_add(ticket_max_ms);
            once.iter().filter(|opens_ms| good.contains(opens_ms)).count() as u64
        };
        let draws = again.saturating_add(once.iter().map(from).max().unwrap_or(0));
        let kept = DRAWS_KEPT as u64;
        if draws > kept {
            let good = span(ticket_max_ms);
            let said = format!("{}.schedule has {draws} draws while a ticket is good", room.path);
            let means = format!(
                "the last {kept} are remembered, and whoever waits for longer would lose their place. With \
                 ticket_max = \"{good}\" an event with a draw may come again every {}: open less often, \
                 lower ticket_max, or leave draw out",
                span(ticket_max_ms.div_ceil(kept))
            );
            self.report.problem(said, means);
        }
    }

    /// Events with a draw that come to nothing, because another one is in their way.
    fn entangled(&self, events: &[(&file::Event, Event)]) {
        for (drawn_at, drawn) in events.iter().filter(|(_, event)| event.draw) {
            let others = events.iter().filter(|(other_at, _)| other_at.place != drawn_at.place);
            for (other_at, other) in others {
                let (drawn_at, other_at) = (&drawn_at.place, &other_at.place);
                let lasts_ms = other
                    .closes_ms
                    .map_or(u64::MAX, |closes_ms| closes_ms.saturating_sub(other.opens_ms));
                if drawn.opens_within(lasts_ms, other) {
                    let said = format!("{drawn_at} has a draw, and opens while {other_at} is open");
                    let means = "a room that is open has no pre-queue, so nobody would be drawn. Let \
                                 the one end before the other's pre-queue begins";
                    self.report.warn(said, means);
                } else if !other.draw && drawn.opens_within(drawn.prequeue_ms, other) {
                    let said = format!(
                        "{other_at} opens during the pre-queue of {drawn_at}, which has a draw"
                    );
                    let means = "the room opens then, and who has come would not be drawn. Let it end before \
                                 that pre-queue begins, or open after the draw";
                    self.report.warn(said, means);
                }
            }
        }
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
