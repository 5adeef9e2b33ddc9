//! Operators' questions as the reading script's arguments, and its answers.
//!
//! Owns these shapes; the Lua side is `lua/read.lua`. What comes is read as bytes from outside.

use redis::Value;
use serde::de::DeserializeOwned;

use super::answer::{newer_layout, wrong};
use crate::line::{
    Broken, Entry, Found, Heard, InviteFound, MAX_FOUND, Minute, Number, Question, Terms,
};
use crate::store::StoreError;

/// A question's arguments.
pub fn ask_for(question: Question) -> Vec<Vec<u8>> {
    let (word, first, second) = match question {
        Question::Book { before, limit } => ("book", before, limit.min(MAX_FOUND)),
        Question::History => ("history", 0, 0),
        Question::Inside { skip, limit } => ("inside", skip as u64, limit.min(MAX_FOUND)),
        Question::Nodes => ("nodes", 0, 0),
        Question::Health => ("health", 0, 0),
        Question::Invites => ("invites", 0, MAX_FOUND),
    };
    vec![word.into(), first.to_string().into(), second.to_string().into()]
}

/// What the script found.
///
/// # Errors
/// The keys are of a newer layout, or this is not what the script says.
pub fn found(question: Question, value: Value) -> Result<Found, StoreError> {
    if let Some(newer) = newer_layout(&value) {
        return Err(newer?);
    }
    let Value::BulkString(bytes) = value else {
        return Err(wrong("shape"));
    };
    Ok(match question {
        Question::Book { .. } => {
            let entries: Vec<(u64, u64, String, String)> = read(&bytes, "book")?;
            let entry = |(serial, at_ms, note, result)| Entry { serial, at_ms, note, result };
            Found::Book(entries.into_iter().map(entry).collect())
        }
        Question::History => {
            let mut minutes: Vec<Minute> = read(&bytes, "history")?;
            minutes.sort_by_key(|minute| minute.minute);
            Found::History(minutes)
        }
        Question::Inside { .. } => {
            let seats: Vec<(Number, u64, u64, u64, u64)> = read(&bytes, "inside")?;
            let seat = |(number, admitted_ms, issued_ms, expires_ms, slot)| {
                (number, Terms { admitted_ms, issued_ms, expires_ms, slot })
            };
            Found::Inside(seats.into_iter().map(seat).collect())
        }
        Question::Nodes => {
            let nodes: Vec<(String, u64, String)> = read(&bytes, "nodes")?;
            let node = |(id, ago_ms, about): (String, u64, String)| {
                let node = u128::from_str_radix(&id, 16).map_err(|_| wrong("nodes"))?;
                Ok(Heard { node, ago_ms, about })
            };
            let mut nodes: Vec<Heard> =
                nodes.into_iter().map(node).collect::<Result<_, StoreError>>()?;
            nodes.sort_by_key(|heard| heard.node);
            Found::Nodes(nodes)
        }
        Question::Health => {
            let broken: Vec<(u32, String)> = read(&bytes, "health")?;
            Found::Health(
                broken.into_iter().map(|(number, what)| Broken { number, what }).collect(),
            )
        }
        Question::Invites => {
            let invites: Vec<(String, u64, u64, u64, bool, String)> = read(&bytes, "invites")?;
            let invite = |(id, used, uses, until_ms, revoked, class): (String, _, _, _, _, _)| {
                let id = u128::from_str_radix(&id, 16).map_err(|_| wrong("invites"))?;
                Ok(InviteFound { id: id.to_be_bytes(), used, uses, until_ms, revoked, class })
            };
            let mut invites: Vec<InviteFound> =
                invites.into_iter().map(invite).collect::<Result<_, StoreError>>()?;
            invites.sort_by_key(|found| found.id);
            invites.truncate(MAX_FOUND);
            Found::Invites(invites)
        }
    })
}

fn read<T: DeserializeOwned>(bytes: &[u8], what: &'static str) -> Result<T, StoreError> {
    rmp_serde::from_slice(bytes).map_err(|_| wrong(what))
}
