//! Seats with names: which of them somebody gets, and when one is given up because nobody is on the line any more.
//!
//! Owns the choice of a slot. A slot is a place in the list of [`Settings::slots`](super::Settings::slots), counted from 1, and goes with its
//! seat: taken when that is, free when that is. Never lets anybody in, and never knows what a slot is called.

use super::batch::{Ending, Number};
use super::budget::Budget;
use super::state::Line;

impl Line {
    /// The slot of somebody who sits down, or sits: the one wanted, if it is theirs or free; else the lowest that is free.
    /// While seats are missing nobody knows which are.
    pub(super) fn slot_for(&self, number: Number, wanted: u64) -> u64 {
        let slots = 1..=self.settings().slots.len() as u64;
        let free = |slot: &u64| self.sessions.holder(*slot).is_none_or(|holder| holder == number);
        if slots.contains(&wanted) && free(&wanted) {
            return wanted;
        }
        let mut slots = if self.missing > 0 { 0..=0 } else { slots };
        slots.find(|slot| *slot > 0 && free(slot)).unwrap_or(0)
    }

    /// Somebody's last connection on a node has closed: their seat is left soon, unless they are heard of.
    pub(super) fn hang_up(&mut self, number: Number) {
        let settings = self.settings();
        if !settings.slots.is_empty() && self.sessions.seat(number).is_some() {
            let due_ms = self.clock_ms + settings.slot_grace_ms;
            self.sessions.hung.insert(number, due_ms);
        }
    }

    /// Those who closed their last connection and were not heard of since have left. In the steps that the seats whose
    /// time is over have left.
    pub(super) fn end_hung_up(&mut self, budget: &mut Budget) {
        let most = budget.rest();
        for number in budget.found(self.sessions.hung.due(self.clock_ms, most), most) {
            if let Some(seat) = self.sessions.seat(number) {
                self.shut(number, seat, Ending::Left);
            }
        }
    }
}
