//! One visitor, and where the table of standings puts them.

use anteroom::line::{Ending, Number, Reason, Standing, Terms};

use super::Model;

/// Everything that is known about a number.
#[derive(Clone, Debug)]
pub struct Visitor {
    pub number: Number,
    /// Here.
    pub live: bool,
    /// The turn was taken, or the place given up.
    pub used: bool,
    /// The heartbeat period in which they were last heard of.
    pub seen: u32,
    pub found: Where,
    /// What the roster calls them.
    pub name: Option<String>,
}

/// Where a visitor is found, beside the ordinary line.
#[derive(Clone, Debug)]
pub enum Where {
    /// Nowhere else.
    Line,
    /// Waiting at the head.
    Express { place: Number, heard: u64 },
    /// Away from the head.
    Strayed { place: Number },
    /// Of a class, waiting at a place of their own.
    Classed { place: Number, rank: u64, heard: u64 },
    /// Of a class, and away.
    ClassedAway { place: Number, rank: u64 },
    /// Released from the head.
    Called { at: u64, heard: u64 },
    /// In a seat.
    Inside(Box<Seat>),
    /// The session is over; this was its seat.
    Ended { why: Ending, at: u64, serial: u64, seat: Box<Seat> },
}

/// A seat in use.
#[derive(Clone, Debug)]
pub struct Seat {
    pub entered: u64,
    pub free_at: u64,
    pub terms: Terms,
    /// When it is left, because nobody is on the line.
    pub left_at: Option<u64>,
}

impl Visitor {
    /// A number about which nothing is known.
    pub fn nobody(number: Number) -> Visitor {
        Visitor { number, live: false, used: false, seen: 0, found: Where::Line, name: None }
    }

    /// Found nowhere but in the ordinary line.
    pub fn ordinary(&self) -> bool {
        matches!(self.found, Where::Line)
    }

    /// Whoever has a place of their own has another.
    pub fn stand(&mut self, new: Number) {
        match &mut self.found {
            Where::Express { place, .. }
            | Where::Strayed { place }
            | Where::Classed { place, .. }
            | Where::ClassedAway { place, .. } => *place = new,
            _ => {}
        }
    }

    /// From the line to somewhere else: whatever happens there, the place is used.
    pub fn take(&mut self, found: Where) {
        (self.live, self.used, self.found) = (false, true, found);
    }
}

impl Model {
    /// The table of standings, from top to bottom.
    pub fn standing_of(&self, visitor: &Visitor) -> Standing {
        match visitor.found {
            Where::Inside(_) => return Standing::Active,
            Where::Ended { why: Ending::Completed, .. } => return Standing::Completed,
            Where::Ended { why, .. } => return Standing::Expired(Reason::Ended(why)),
            Where::Called { .. } => return Standing::Admitted,
            Where::Express { .. } | Where::Classed { .. } => return Standing::Waiting,
            Where::Strayed { .. } | Where::ClassedAway { .. } => return Standing::Away,
            Where::Line => {}
        }
        if visitor.number < self.base {
            Standing::Expired(Reason::Passed)
        } else if visitor.used {
            Standing::Expired(Reason::Used)
        } else if visitor.number <= self.counts.lapsed {
            Standing::Expired(Reason::Passed)
        } else if !visitor.live {
            Standing::Away
        } else if visitor.number <= self.counts.released {
            Standing::Admitted
        } else {
            Standing::Waiting
        }
    }
}
