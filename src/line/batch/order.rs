//! What operators order, and what became of it: the shapes. What an order does is in [`crate::line`]'s `orders`.

use serde::{Deserialize, Serialize};

use super::{Done, Key, MAX_NAMED, Number};

/// What an operator ordered: a verb, by whom, and how it is known again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// What to do.
    pub command: Command,
    /// Who wants it and in which words, as a JSON text: written into the room's book. Empty: nothing is.
    pub note: String,
    /// The same again is answered from memory and not done again.
    pub once: Option<Once>,
}

/// What makes an order the same as another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Once {
    /// By whom, under which name.
    pub key: Key,
    /// What was ordered: another order under the same key is a mistake.
    pub print: Key,
}

impl From<Command> for Order {
    /// An order that nobody signs for.
    fn from(command: Command) -> Order {
        Order { command, note: String::new(), once: None }
    }
}

/// An operator's verb.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// So many turns now, whatever rate and pause say; never beyond the seats.
    Release(u64),
    /// No releases by rate.
    Pause,
    /// Releases by rate again.
    Resume,
    /// A new epoch: older tickets and passes are void.
    Reset,
    /// Takes the place or the seat of a number of the batch's epoch away.
    Revoke(Number),
    /// Sets what the file says otherwise, or takes that back.
    Set(Vec<Change>),
    /// Counts anew whatever is kept as a counter.
    Repair,
    /// Ends the session of a number of the batch's epoch: the visitor is done.
    Complete(Number),
    /// Keeps the seat of a number of the batch's epoch for one idle time more.
    Extend(Number),
    /// Sends a number of the batch's epoch to the end of the line.
    Requeue(Number),
    /// An invite is no longer good.
    RevokeInvite(Key),
}

impl Command {
    /// The number that it is about: one of the batch's epoch.
    pub fn number(&self) -> Option<Number> {
        match self {
            Command::Revoke(number)
            | Command::Complete(number)
            | Command::Extend(number)
            | Command::Requeue(number) => Some(*number),
            _ => None,
        }
    }

    /// How many visitors its answer may name.
    pub fn names(&self) -> usize {
        match self {
            Command::Release(turns) => usize::try_from(*turns).unwrap_or(MAX_NAMED).min(MAX_NAMED),
            _ => 0,
        }
    }
}

/// A setting that is to be in force instead of the file's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Its name: one of [`Settings`](crate::line::Settings)' fields, [`BOOST`], or anything that nodes make something of.
    pub name: String,
    /// Its value as a JSON text; `None`: what the file says.
    pub value: Option<String>,
    /// For how long, on the room's clock; 0: until it is taken back.
    pub for_ms: u64,
}

/// The name under which a pace is in force for a time, whatever else is set.
pub const BOOST: &str = "boost";

/// What became of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Commanded {
    /// Done, or already so.
    Done,
    /// So many were called: those live in `after < place <= upto`, and `express` ones besides.
    Released {
        /// How many in all.
        count: u64,
        /// How many of them from `express`.
        express: u64,
        /// The frontier before.
        after: Number,
        /// The frontier now.
        upto: Number,
        /// Who, in the order of their turns: the first [`MAX_NAMED`](super::MAX_NAMED) of them.
        called: Vec<Number>,
    },
    /// To whatever is about one number. An extension that was made is `Done`.
    Ended(Done),
    /// Another order came under this key before: nothing was done.
    Conflict,
    /// To a repair: how many counters were wrong.
    Repaired(u64),
}
