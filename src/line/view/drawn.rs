//! From the numbers on tickets to those of the line, and back.
//!
//! Owns the one boundary between the two. Before a draw they are the same; at a draw everybody of it gets another number in the
//! line, and keeps their ticket. Whatever asks a [`View`] about somebody, or tells of somebody, uses the ticket's number;
//! the line, its batches and its replies use the line's. To translate twice changes nothing: nobody is drawn twice, and numbers that
//! were drawn to are never drawn from.

use std::sync::Arc;

use super::View;
use crate::line::batch::Number;
use crate::line::draw::{Draw, Draws, Prequeue};
use crate::line::schedule::{Opening, Phase};
use crate::line::settings::Mode;
use crate::line::shuffle::Permutation;

/// Who was drawn to which place.
#[derive(Clone, Debug, Default)]
pub struct Drawn {
    told: Draws,
    permutations: Vec<Permutation>,
}

impl Draw {
    /// The order that was drawn.
    pub fn permutation(&self) -> Permutation {
        Permutation::new(self.seed, self.count())
    }
}

impl Drawn {
    /// By what the line tells.
    pub fn new(told: Draws) -> Drawn {
        let permutations = told.made.iter().map(Draw::permutation).collect();
        Drawn { told, permutations }
    }

    /// What the line tells of draws.
    pub fn told(&self) -> &Draws {
        &self.told
    }

    /// The line's number for whoever has a ticket.
    pub fn number(&self, ticket: Number) -> Number {
        let draws = self.told.made.iter().zip(&self.permutations);
        match draws.rev().find(|(draw, _)| draw.contains(ticket)) {
            Some((draw, order)) => draw.upto + 1 + order.place(ticket - draw.after - 1),
            None => ticket,
        }
    }

    /// The number on the ticket of whoever has this one in the line.
    pub fn ticket(&self, number: Number) -> Number {
        let draws = self.told.made.iter().zip(&self.permutations);
        let drawn_to = |draw: &Draw| draw.upto < number && number <= draw.upto + draw.count();
        match draws.rev().find(|(draw, _)| drawn_to(draw)) {
            Some((draw, order)) => draw.after + 1 + order.index(number - draw.upto - 1),
            None => number,
        }
    }

    /// In which draw, and to which place in it, from 1, a ticket's number was drawn.
    pub fn place(&self, ticket: Number) -> Option<(&Draw, u64)> {
        let draw = self.told.made.iter().rev().find(|draw| draw.contains(ticket))?;
        Some((draw, self.number(ticket) - draw.upto))
    }
}

impl View {
    /// The boundary between tickets and the line.
    pub fn drawn(&self) -> &Arc<Drawn> {
        &self.drawn
    }

    /// The line's number for whoever has a ticket. Who was taken out of the line before a draw was not drawn: they keep the
    /// number under which that is known.
    pub fn number(&self, ticket: Number) -> Number {
        if self.ended.get(ticket).is_some() {
            return ticket;
        }
        self.drawn.number(ticket)
    }

    /// What the schedule says about a moment of the store's wall clock, as far as it counts: in every mode but `auto` an operator's
    /// word does. A draw that is due and was not made yet keeps the room before its opening.
    pub fn phase(&self, wall_ms: u64) -> Phase {
        let open = Phase::Open { closes_ms: None };
        let Some(settings) = self.settings().filter(|settings| settings.mode == Mode::Auto) else {
            return open;
        };
        match (settings.phase(wall_ms), self.drawn.told.prequeue) {
            (Phase::Open { .. }, Some(Prequeue { opens_ms, .. })) => {
                Phase::Prequeue(Opening { from_ms: 0, opens_ms, draw: true })
            }
            (phase, _) => phase,
        }
    }
}
