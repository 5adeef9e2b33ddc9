//! From a batch to the script's arguments, and from its answer to a reply.
//!
//! Owns the shapes between Rust and Lua; the Lua side is `lua/lib/batch.lua` and `lua/lib/reply.lua`. Pure: it
//! decides nothing about visitors and does no IO. What comes from Redis is read as bytes from outside: it may
//! be anything, and becomes a reply or an error.

mod answer;
mod ask;
mod draws;
mod find;
mod places;

pub use answer::decode;
pub use ask::{Call, encode};
pub use draws::parse as draws;
pub use find::{ask_for, found};

use crate::line::Ending;

/// Endings by the number that stands for each; 0 stands for none.
const ENDINGS: [Ending; 6] = [
    Ending::Completed,
    Ending::Left,
    Ending::Revoked,
    Ending::Idle,
    Ending::Capped,
    Ending::Requeued,
];

/// An ending's number.
fn code(why: Ending) -> u64 {
    match why {
        Ending::Completed => 1,
        Ending::Left => 2,
        Ending::Revoked => 3,
        Ending::Idle => 4,
        Ending::Capped => 5,
        Ending::Requeued => 6,
    }
}

/// The ending that a number stands for.
fn ending(code: u64) -> Option<Ending> {
    ENDINGS.get(usize::try_from(code).ok()?.checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_have_one_number_each() {
        for why in ENDINGS {
            assert_eq!(ending(code(why)), Some(why));
        }
        assert_eq!((ending(0), ending(7)), (None, None));
    }
}
