//! `queue/roster`: who plays, in which slot, and who waits, in order; in rooms whose visitors have names.
//!
//! Owns its fields. From the node's view alone: who is inside is told with the names, where somebody waits is counted here.

use super::Response;
use super::asker::{only_room, room};
use super::error::error;
use super::json::Json;
use super::request::value;
use crate::gateway::entrance::Entrance;
use crate::gateway::head::{Client, Head};
use crate::gateway::live::Live;
use crate::line::{Number, Standing, View};

/// Everybody with a name, as this node sees them.
pub struct Everybody<'v> {
    /// Slot (counted from 1; 0: none), number and name, in the order of slots.
    pub players: Vec<(u64, Number, &'v str)>,
    /// Position, number, name, and whether they are away. Those whose turn it is are at 0.
    pub waiting: Vec<(u64, Number, &'v str, bool)>,
}

impl<'v> Everybody<'v> {
    /// By a view.
    pub fn of(view: &'v View) -> Everybody<'v> {
        let (mut players, mut waiting) = (Vec::new(), Vec::new());
        for one in &view.roster().names {
            let name = one.name.as_str();
            if one.inside {
                if view.ending(one.number).is_none() {
                    players.push((one.slot, one.number, name));
                }
                continue;
            }
            match view.standing(one.number) {
                Standing::Waiting | Standing::Away => {
                    let away = view.standing(one.number) == Standing::Away;
                    let position = view.position(one.number).unwrap_or(0);
                    waiting.push((position, one.number, name, away));
                }
                Standing::Admitted => waiting.push((0, one.number, name, false)),
                _ => {}
            }
        }
        // Who has no slot comes last.
        players.sort_by_key(|(slot, number, _)| (slot.wrapping_sub(1), *number));
        waiting.sort_by_key(|(position, number, ..)| (*position, *number));
        Everybody { players, waiting }
    }
}

/// The roster of a room.
pub(super) fn roster(live: &Live, head: &impl Head, client: &Client) -> Result<Response, Response> {
    let event_id = head.query().and_then(|query| value(query, "event_id"));
    let entrance = match event_id.as_deref().filter(|event_id| !event_id.is_empty()) {
        Some(event_id) => room(live, head, event_id)?,
        None => only_room(live, head)?,
    };
    if !entrance.has_roster() {
        return Err(error(404, "no_roster", "the visitors of this room have no names"));
    }
    let now_ms = entrance.room.now_ms();
    if let Err(retry_ms) = entrance.by_address.take(entrance.address(client.address), now_ms) {
        return Err(super::error::rate_limited(entrance, retry_ms));
    }
    Ok(Response::json(200, body(entrance)))
}

fn body(entrance: &Entrance) -> Vec<u8> {
    let view = entrance.room.view();
    let Everybody { players, waiting } = Everybody::of(&view);
    let slots = view.settings().map_or(&[][..], |settings| &settings.slots);
    let slot_name = |slot: u64| {
        let index = usize::try_from(slot).ok()?.checked_sub(1)?;
        slots.get(index).map(String::as_str)
    };
    let mut json = Json::new();
    json.text("event_id", entrance.room.name());
    json.number("version", view.roster().version);
    json.array("slots");
    for slot in slots {
        json.item_text(slot);
    }
    json.end_array();
    json.array("players");
    for (slot, number, name) in players {
        json.item();
        json.text("name", name);
        json.label("label", &entrance.settings.ticket_prefix, number);
        match slot_name(slot) {
            Some(slot) => json.text("slot", slot),
            None => json.null("slot"),
        }
        json.close();
    }
    json.end_array();
    json.array("waiting");
    for (position, number, name, away) in waiting {
        json.item();
        json.text("name", name);
        json.label("label", &entrance.settings.ticket_prefix, number);
        json.number("position", position);
        json.text(
            "status",
            match () {
                () if position == 0 => "admitted",
                () if away => "away",
                () => "waiting",
            },
        );
        json.close();
    }
    json.end_array();
    json.moment("server_time", entrance.room.now_ms());
    json.end()
}
