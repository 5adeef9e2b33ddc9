//! From the numbers on tickets to those of the line, and back.
//!
//! Owns the one boundary between the two. Before a draw they are the same; at a draw everybody of it gets another number in the
//! line, and keeps their ticket; whoever stood at the head of the line, or was further, keeps both. Whatever asks a [`View`] about
//! somebody, or tells of somebody, uses the ticket's number; the line, its batches and its replies use the line's. To translate twice changes nothing: nobody is drawn twice, and numbers that
//! were drawn to are never drawn from.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::View;
use crate::line::batch::Number;
use crate::line::draw::{Draw, Draws};
use crate::line::schedule::Phase;
use crate::line::shuffle::Permutation;

/// Who was drawn to which place.
#[derive(Clone, Debug, Default)]
pub struct Drawn {
    told: Draws,
    orders: Vec<Order>,
}

/// Who was drawn to which place, once.
#[derive(Clone, Debug)]
struct Order {
    permutation: Permutation,
    /// Those who were drawn,
    numbers: Rest,
    /// and where to.
    places: Rest,
}

/// The numbers from one on, without some.
#[derive(Clone, Debug)]
struct Rest {
    first: Number,
    without: Vec<Number>,
}

impl Rest {
    fn new(range: RangeInclusive<Number>, without: impl Iterator<Item = Number>) -> Rest {
        let mut without: Vec<Number> = without.filter(|number| range.contains(number)).collect();
        without.sort_unstable();
        without.dedup();
        Rest { first: *range.start(), without }
    }

    /// The how manyth a number is, from 0, if it is not left out.
    fn index(&self, number: Number) -> Option<u64> {
        let below = self.without.binary_search(&number).err()?;
        Some(number.checked_sub(self.first)? - below as u64)
    }

    /// The `index`-th number.
    fn number(&self, index: u64) -> Number {
        let (mut low, mut high) = (0, self.without.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.without[middle] - self.first - middle as u64 <= index {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        self.first + index + low as u64
    }
}

impl Order {
    fn of(draw: &Draw) -> Order {
        let Draw { after, upto, seed, kept, head, .. } = draw;
        let apart = head.iter().map(|(number, _)| number).chain(kept);
        let numbers = Rest::new(after + 1..=*upto, apart.copied());
        let places = head.iter().map(|(_, place)| *place);
        let places = Rest::new(upto + 1..=upto + draw.count(), places);
        let drawn = draw.count().saturating_sub(head.len() as u64);
        let permutation = Permutation::new(*seed, drawn);
        Order { permutation, numbers, places }
    }
}

impl Drawn {
    /// By what the line tells.
    pub fn new(told: Draws) -> Drawn {
        let orders = told.made.iter().map(Order::of).collect();
        Drawn { told, orders }
    }

    /// What the line tells of draws.
    pub fn told(&self) -> &Draws {
        &self.told
    }

    /// The line's number for whoever has a ticket.
    pub fn number(&self, ticket: Number) -> Number {
        let mut draws = self.told.made.iter().zip(&self.orders);
        let found = draws.rfind(|(draw, _)| draw.is_of(ticket));
        let index = found.and_then(|(_, order)| Some((order, order.numbers.index(ticket)?)));
        match index {
            Some((order, index)) => order.places.number(order.permutation.place(index)),
            None => ticket,
        }
    }

    /// The number on the ticket of whoever has this one in the line.
    pub fn ticket(&self, number: Number) -> Number {
        let mut draws = self.told.made.iter().zip(&self.orders);
        let drawn_to = |draw: &Draw| draw.upto < number && number <= draw.upto + draw.count();
        let found = draws.rfind(|(draw, _)| drawn_to(draw));
        let index = found.and_then(|(_, order)| Some((order, order.places.index(number)?)));
        match index {
            Some((order, index)) => order.numbers.number(order.permutation.index(index)),
            None => number,
        }
    }

    /// In which draw, and to which place in it, from 1, a ticket's number was drawn; or which it has as one of the head of the line.
    pub fn place(&self, ticket: Number) -> Option<(&Draw, u64)> {
        let draw = self.told.made.iter().rfind(|draw| draw.is_of(ticket))?;
        if draw.kept.binary_search(&ticket).is_ok() {
            return None;
        }
        let place = draw.place_of(ticket).unwrap_or_else(|| self.number(ticket));
        Some((draw, place - draw.upto))
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

    /// What the schedule says about a moment of the store's wall clock, as far as it counts.
    pub fn phase(&self, wall_ms: u64) -> Phase {
        let open = Phase::Open { closes_ms: None };
        let draws = &self.drawn.told;
        self.settings().map_or(open, |settings| settings.phase_in_force(wall_ms, draws))
    }

    /// Whether whoever has a ticket will be drawn: not if they came before the pre-queue, or after the draw.
    pub fn is_drawn_later(&self, ticket: Number, wall_ms: u64) -> bool {
        match self.drawn.told.prequeue {
            Some(prequeue) => self.number(ticket) > prequeue.after,
            // The line has not noted yet that it began.
            None => matches!(self.phase(wall_ms), Phase::Prequeue(next) if next.draw),
        }
    }

    /// The opening whose draw is due at a moment of the store's wall clock, and was not made.
    pub fn draw_due(&self, wall_ms: u64) -> Option<u64> {
        self.drawn.told.due(self.settings()?, wall_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(after: Number, upto: Number, kept: &[Number], head: &[(Number, Number)]) -> Draw {
        let (seed, kid, hash) = ([7; 32], String::new(), None);
        let (kept, head) = (kept.to_vec(), head.to_vec());
        Draw { version: 1, opens_ms: 1, after, upto, seed, kid, hash, kept, head }
    }

    /// There and back, with those who stand apart at either end, in a row and everywhere.
    #[test]
    fn everybody_has_a_number_of_their_own_and_their_ticket_back() {
        let one = draw(10, 30, &[11, 20], &[(12, 31), (13, 40), (29, 41), (30, 48)]);
        let two = draw(60, 63, &[], &[(61, 66), (62, 64), (63, 65)]);
        let three = draw(70, 80, &[], &[]);
        assert!([&one, &two, &three].into_iter().all(Draw::is_sound));
        let drawn = Drawn::new(Draws { made: vec![one, two, three], ..Draws::default() });
        for (after, upto) in [(10, 30), (60, 63), (70, 80)] {
            let mut places = Vec::new();
            for ticket in after + 1..=upto {
                let number = drawn.number(ticket);
                assert_eq!((drawn.ticket(number), drawn.number(number)), (ticket, number));
                places.extend(drawn.place(ticket).map(|(draw, place)| {
                    assert_eq!(draw.after, after);
                    place
                }));
            }
            places.sort_unstable();
            let count = places.len() as u64;
            assert_eq!(places, (1..=count).collect::<Vec<_>>(), "of {after} to {upto}");
        }
        for nobody in [1, 10, 49, 60, 200] {
            assert_eq!((drawn.number(nobody), drawn.place(nobody).is_none()), (nobody, true));
        }
        assert_eq!([11, 12, 20].map(|kept| drawn.number(kept)), [11, 12, 20]);
        assert_eq!(drawn.place(12).map(|(_, place)| place), Some(1));
    }
}
