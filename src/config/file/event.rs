//! `schedule` of `[rooms.NAME]`: what a user writes about when a room is open.

use super::{PLAIN, Spoiled};
use crate::config::node::Node;
use crate::config::reader::{Level, Reader};
use crate::config::report::Written;
use crate::units;

/// An event.
pub(super) static LEVEL: Level = Level {
    name: "schedule of [rooms.NAME]",
    keys: &["opens", "prequeue", "draw", "closes", "every"],
    ..PLAIN
};

/// An event, or all of those that come again. Times are unix milliseconds.
#[derive(Debug, Default)]
pub struct Event {
    /// `rooms.sale.schedule[0]`.
    pub place: String,
    pub opens: Option<Written<u64>>,
    pub prequeue: Option<Written<u64>>,
    pub draw: Option<Written<bool>>,
    pub closes: Option<Written<u64>>,
    pub every: Option<Written<u64>>,
    pub spoiled: Spoiled,
}

impl Event {
    pub(super) fn read(event: Reader<'_>) -> Event {
        let every = |node: &Node<'_>| match node.as_text() {
            Some("hour") => Some(3_600_000),
            Some("day") => Some(86_400_000),
            Some("week") => Some(7 * 86_400_000),
            Some(text) => match units::duration(text) {
                Ok(ms) => Some(ms),
                Err(_) => node.refuse(
                    "is no time between two openings",
                    "write \"hour\", \"day\", \"week\", or a duration such as \"12h\"",
                ),
            },
            None => node.duration(),
        };
        Event {
            place: event.path().to_owned(),
            opens: event.read("opens", Node::moment),
            prequeue: event.duration("prequeue"),
            draw: event.read("draw", Node::flag),
            closes: event.read("closes", Node::moment),
            every: event.read("every", every),
            spoiled: event.into_spoiled(),
        }
    }
}
