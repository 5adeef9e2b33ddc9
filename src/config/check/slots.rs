//! Seats with names, and visitors with names: what a room needs to have them.
//!
//! Owns these checks. Changes no settings but those that follow from them.

use super::Check;
use crate::config::file::Room;
use crate::line::Settings;

/// More seats than a person could tell apart by name.
const SLOTS: usize = 64;
/// Bytes of a name.
const NAME: usize = 40;
/// Those who wait in a room with a roster, and those inside.
const ROSTER: u64 = 1_000;

impl Check<'_> {
    /// Slots, and as many seats; names for visitors, and no more visitors than a page can show.
    pub(super) fn slots(&self, room: &Room, line: &mut Settings) {
        self.named_seats(room, line);
        if line.roster {
            self.roster(room, line);
        }
    }

    fn named_seats(&self, room: &Room, line: &mut Settings) {
        let path = &room.path;
        let slots = room.slots.as_deref().unwrap_or_default();
        if slots.is_empty() {
            if room.slots.is_some() {
                let means = "name at least one seat, or remove it and use max_active";
                self.report.problem(format!("{path}.slots is empty"), means);
            } else if let Some(grace) = &room.slot_grace {
                let means = "it is about slots, and there are none. Write slots = [\"X\", \"O\"], or remove it";
                self.report.problem(format!("{} has no effect", grace.said()), means);
            }
            return;
        }
        if slots.len() > SLOTS {
            let said = format!("{path}.slots names {} seats, more than {SLOTS}", slots.len());
            self.report
                .problem(said, "a room with more seats has max_active, and no names for them");
            return;
        }
        for (nth, slot) in slots.iter().enumerate() {
            let name = &slot.value;
            let plain = |byte: u8| (b' '..=b'~').contains(&byte);
            if name.is_empty()
                || name.len() > NAME
                || !name.bytes().all(plain)
                || name.trim() != name
            {
                let means =
                    format!("a slot's name goes into a header: 1 to {NAME} plain characters");
                self.report.problem(format!("{} is no name for a slot", slot.said()), means);
                return;
            }
            if slots[..nth].iter().any(|other| other.value == *name) {
                let said = format!("{} is there twice", slot.said());
                self.report.problem(said, "a slot is one seat: give each a name of its own");
                return;
            }
        }
        let count = slots.len() as u64;
        if let Some(seats) = room.max_active.as_ref().filter(|seats| seats.value != count) {
            let said = format!("{} and {path}.slots with {count} names differ", seats.said());
            self.report.problem(said, "there are as many seats as slots: remove max_active");
            return;
        }
        line.slots = slots.iter().map(|slot| slot.value.clone()).collect();
        line.max_active = Some(count);
    }

    fn roster(&self, room: &Room, line: &mut Settings) {
        let path = &room.path;
        if line.schedule.iter().any(|event| event.draw) {
            let means = "a draw gives everybody another number, and names stand under numbers: nobody \
                         would have theirs. Leave draw out, or roster";
            let said = format!("{path}.schedule has a draw, which does not go with roster");
            self.report.problem(said, means);
        }
        let means = format!("a roster shows everybody: write a number up to {ROSTER}");
        match &room.max_waiting {
            None => line.max_waiting = Some(ROSTER),
            Some(most) if most.value.is_none_or(|most| most > ROSTER) => {
                self.report.problem(format!("{} does not go with roster", most.said()), &means);
                line.max_waiting = Some(ROSTER);
            }
            Some(_) => {}
        }
        if room.slots.is_some() || room.spoils(&["slots", "max_active"]) {
            return;
        }
        match &room.max_active {
            None => {
                let said = format!("{path}.roster = true needs max_active, or slots");
                self.report.problem(said, &means);
            }
            Some(seats) if seats.value > ROSTER => {
                self.report.problem(format!("{} does not go with roster", seats.said()), &means);
            }
            Some(_) => return,
        }
        line.max_active = Some(ROSTER);
    }
}
