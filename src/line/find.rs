//! What is asked of a line beside exchanges: by operators, now and then, never on a visitor's way.
//!
//! Owns the questions and their answers. Changes nothing.

use serde::{Deserialize, Serialize};

use super::batch::{Number, Terms};
use super::check::Broken;
use super::class::InviteFound;
use super::history::Minute;
use super::orders::Entry;
use super::state::Line;

/// Of a list, at most so many are told at once.
pub const MAX_FOUND: usize = 1_000;

/// A question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// The last orders before this one, newest first; 0 is the end of the book.
    Book {
        /// Not this one, and none after it.
        before: u64,
        /// At most so many.
        limit: usize,
    },
    /// The past, oldest first.
    History,
    /// Who is inside, in the order in which their seats will be free.
    Inside {
        /// Without the first so many.
        skip: usize,
        /// At most so many.
        limit: usize,
    },
    /// The nodes that were heard of.
    Nodes,
    /// What must hold and does not. Of sessions that are over a store may look at the last ones alone.
    Health,
    /// Invites that were used or revoked, by their ids; if there are more than [`MAX_FOUND`], some of them.
    Invites,
}

/// An answer. Of a room that nobody has heard of everything is empty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Found {
    /// Orders.
    Book(Vec<Entry>),
    /// Minutes.
    History(Vec<Minute>),
    /// Numbers, and the times of their passes.
    Inside(Vec<(Number, Terms)>),
    /// Nodes.
    Nodes(Vec<Heard>),
    /// What is broken.
    Health(Vec<Broken>),
    /// Invites.
    Invites(Vec<InviteFound>),
}

/// A node, as a line knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heard {
    /// Its UUID.
    pub node: u128,
    /// How long ago it was heard of, on the room's clock.
    pub ago_ms: u64,
    /// What it says about itself, as a JSON text; empty: nothing yet.
    pub about: String,
}

impl Question {
    /// The answer of a room that nobody has heard of.
    pub fn nothing(self) -> Found {
        Line::default().find(self)
    }
}

impl Line {
    /// Answers a question.
    pub fn find(&self, question: Question) -> Found {
        match question {
            Question::Book { before, limit } => {
                let until = |entry: &&Entry| before == 0 || entry.serial < before;
                let newest = self.book.entries.iter().rev().filter(until);
                Found::Book(newest.take(limit.min(MAX_FOUND)).cloned().collect())
            }
            Question::History => Found::History(self.history()),
            Question::Inside { skip, limit } => {
                Found::Inside(self.sessions.those_inside(skip, limit.min(MAX_FOUND)))
            }
            Question::Nodes => Found::Nodes(self.heard()),
            Question::Health => Found::Health(self.check_invariants().err().into_iter().collect()),
            Question::Invites => Found::Invites(self.invites_found(MAX_FOUND)),
        }
    }
}
