//! What operators ordered: settings in force instead of the file's, the book of all orders, and orders that come again.
//!
//! Owns how an order is known again and what is written down about it. What a verb does is where its idea lives. Texts are
//! kept as they come: who signs for an order and what a setting is called elsewhere is nobody's business here.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::aging::Aging;
use super::batch::*;
use super::packed::Packed;
use super::settings::{OutOfRange, Settings};
use super::state::Line;
use super::view::InForce;

/// Entries of a book: the last sale's, at least.
pub(super) const BOOK_MAX: usize = 1_000;
/// For so long an order is known again, and for as long again at most.
const ASKED_MS: u64 = 86_400_000;
/// Settings that operators may have set at once: there are a dozen.
const OVERRIDES_MAX: usize = 64;
/// A boost ends within a day.
const BOOST_MAX_MS: u64 = 86_400_000;

/// What operators have set, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overrides {
    /// Counts changes: of two copies the later one is right.
    pub serial: u64,
    /// What is set.
    pub set: BTreeMap<String, Override>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Override {
    /// Its value, as a JSON text.
    pub value: String,
    /// When it ends, on the room's clock; 0: when it is taken back.
    pub until_ms: u64,
}

impl Overrides {
    /// What is set under a name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.set.get(name).map(|found| found.value.as_str())
    }
}

/// An order as it was carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// 1, 2, 3, … in a room, across epochs.
    pub serial: u64,
    /// When, by the store's wall clock.
    pub at_ms: u64,
    /// Who wanted it and in which words: the order's note.
    pub note: String,
    /// What came of it, as a JSON text.
    pub result: String,
}

/// The last orders.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Book {
    pub(super) serial: u64,
    pub(super) entries: VecDeque<Entry>,
}

/// An order that was carried out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Asked {
    print: Packed,
    answer: Commanded,
}

/// Orders that may come again.
pub(super) type Memory = Aging<Packed, Asked>;

impl Command {
    /// Whether a line could carry it out.
    ///
    /// # Errors
    /// What can't be set.
    pub fn check(&self) -> Result<(), BadBatch> {
        match self {
            Command::Set(changes) => check_changes(changes),
            _ => Ok(()),
        }
    }
}

fn check_changes(changes: &[Change]) -> Result<(), BadBatch> {
    if changes.len() > OVERRIDES_MAX {
        return Err(BadBatch::TooLong("changes"));
    }
    for Change { name, value, for_ms } in changes {
        let bad = |why: String| BadBatch::BadChange { name: name.clone(), why };
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._/-".contains(&byte);
        if name.is_empty() || name.len() > 160 || !name.bytes().all(plain) {
            return Err(bad("a name is letters, digits and ._/-".to_owned()));
        }
        let Some(value) = value else { continue };
        if value.len() > MAX_TEXT {
            return Err(bad(format!("a value has at most {MAX_TEXT} bytes")));
        }
        if *for_ms > BOOST_MAX_MS || name == BOOST && *for_ms == 0 {
            return Err(bad("a time is more than none and at most a day".to_owned()));
        }
        let one = Override { value: value.clone(), until_ms: 0 };
        let one = Overrides { serial: 1, set: BTreeMap::from([(name.clone(), one)]) };
        let settings = Settings::default().checked_with(&one).map_err(bad)?;
        if let Some(problem) = settings.problems().first() {
            return Err(bad(problem.to_string()));
        }
    }
    Ok(())
}

impl InForce {
    /// What would be out of range with these changes, and is not now: each alone may be well, and not beside the others.
    pub(super) fn problems_with(&self, changes: &[Change]) -> Vec<OutOfRange> {
        let mut overrides = self.overrides.clone();
        for Change { name, value, .. } in changes {
            match value.clone() {
                Some(value) => {
                    overrides.set.insert(name.clone(), Override { value, until_ms: 0 });
                }
                None => _ = overrides.set.remove(name),
            }
        }
        let settings = self.file.with(&overrides);
        let mut found = settings.problems();
        let (slots, seats) = (settings.slots.len() as u64, settings.max_active.unwrap_or(0));
        if slots > 0 && seats > slots {
            let (name, why) =
                ("max_active".to_owned(), "there are no more seats than slots".to_owned());
            found.push(OutOfRange { name, value: seats, low: 1, high: slots, why });
        }
        let now = self.file.with(&self.overrides).problems();
        found.retain(|problem| !now.contains(problem));
        found
    }
}

impl Line {
    /// Carries an order out, unless it was before.
    pub(super) fn order(&mut self, order: &Order, batch: &Batch, steps: &mut usize) -> Commanded {
        let Some(Once { key, print }) = order.once else {
            return self.carry_out(order, batch, steps);
        };
        self.asked.age(self.clock_ms, ASKED_MS);
        let (key, print) = (Packed(key), Packed(print));
        match self.asked.get(&key) {
            Some(asked) if asked.print == print => asked.answer.clone(),
            Some(_) => Commanded::Conflict,
            None => {
                let answer = self.carry_out(order, batch, steps);
                self.asked.put(key, Asked { print, answer: answer.clone() });
                answer
            }
        }
    }

    fn carry_out(&mut self, order: &Order, batch: &Batch, steps: &mut usize) -> Commanded {
        let (answer, result) = match &order.command {
            Command::Release(count) => self.ordered_release(*count, steps),
            Command::Pause => self.ordered_pause(true),
            Command::Resume => self.ordered_pause(false),
            Command::Reset => {
                let from = self.epoch;
                self.begin_epoch((from + 1).max(self.wall_ms / 1_000));
                (Commanded::Done, format!(r#"{{"from":{from},"to":{}}}"#, self.epoch))
            }
            Command::Revoke(number) => self.ordered_end(*number, Ending::Revoked, "revoked", batch),
            Command::Complete(number) => {
                self.ordered_end(*number, Ending::Completed, "completed", batch)
            }
            Command::Requeue(number) => {
                self.ordered_end(*number, Ending::Requeued, "requeued", batch)
            }
            Command::Extend(number) => self.ordered_extension(*number, batch),
            Command::Set(changes) => (Commanded::Done, self.ordered_changes(changes)),
            Command::Repair => {
                let wrong = self.repair();
                (Commanded::Repaired(wrong), format!(r#"{{"repaired":{wrong}}}"#))
            }
            Command::RevokeInvite(id) => {
                let used = self.revoke_invite(*id);
                let id: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
                (Commanded::Done, format!(r#"{{"invite":"{id}","used":{used}}}"#))
            }
        };
        if !order.note.is_empty() {
            self.write_down(order.note.clone(), result);
        }
        answer
    }

    fn ordered_end(
        &mut self,
        number: Number,
        why: Ending,
        word: &str,
        batch: &Batch,
    ) -> (Commanded, String) {
        let done = match self.means(batch) {
            true => self.end(End { number, why }),
            false => Done::Stale,
        };
        let freed = done == Done::Freed;
        (Commanded::Ended(done), format!(r#"{{"number":{number},"{word}":{freed}}}"#))
    }

    fn ordered_extension(&mut self, number: Number, batch: &Batch) -> (Commanded, String) {
        let answer = match () {
            () if !self.means(batch) => Commanded::Ended(Done::Stale),
            () if !self.given(number) => Commanded::Ended(Done::Unknown),
            () if self.keep_longer(number) => Commanded::Done,
            () => Commanded::Ended(Done::Already),
        };
        let extended = answer == Commanded::Done;
        (answer, format!(r#"{{"number":{number},"extended":{extended}}}"#))
    }

    fn ordered_release(&mut self, count: u64, steps: &mut usize) -> (Commanded, String) {
        let answer = self.release_by_hand(count, steps);
        let result = match &answer {
            Commanded::Released { count, after, upto, .. } => {
                format!(r#"{{"released":{count},"after":{after},"upto":{upto}}}"#)
            }
            _ => "{}".to_owned(),
        };
        (answer, result)
    }

    fn ordered_pause(&mut self, paused: bool) -> (Commanded, String) {
        let from = std::mem::replace(&mut self.paused, paused);
        if from != paused {
            self.write_letter(format!(r#"{{"paused":{paused}}}"#));
        }
        (Commanded::Done, format!(r#"{{"from":{from},"to":{paused}}}"#))
    }

    /// What was in force before, as an object: null where the file was.
    fn ordered_changes(&mut self, changes: &[Change]) -> String {
        let mut from = Vec::new();
        for Change { name, value, for_ms } in changes {
            let until_ms = if *for_ms > 0 { self.clock_ms + for_ms } else { 0 };
            let before = match value {
                Some(value) => {
                    let value = value.clone();
                    self.overrides.set.insert(name.clone(), Override { value, until_ms })
                }
                None => self.overrides.set.remove(name),
            };
            let before = before.map_or("null".to_owned(), |before| before.value);
            from.push(format!(r#""{name}":{before}"#));
        }
        self.overrides.serial += 1;
        self.put_in_force();
        format!(r#"{{"from":{{{}}}}}"#, from.join(","))
    }

    /// Whatever was set for a time, and whose time is over, is no longer set.
    pub(super) fn end_overrides(&mut self) {
        let clock_ms = self.clock_ms;
        let over = |set: &Override| set.until_ms > 0 && set.until_ms <= clock_ms;
        if self.overrides.set.values().any(over) {
            self.overrides.set.retain(|_, set| !over(set));
            self.overrides.serial += 1;
            self.put_in_force();
        }
    }

    /// The later of two copies counts: brought by a node to a line that lost its memory.
    pub(super) fn merge_overrides(&mut self, known: &Overrides) {
        if known.serial > self.overrides.serial {
            self.overrides = known.clone();
            self.put_in_force();
        }
    }

    /// Writes down that a node's file says something else than the one before.
    pub(super) fn write_offer(&mut self, from: Option<&Settings>, to: &Settings, node: u128) {
        // Plain numbers and words: nothing can fail.
        let text = |settings: &Settings| serde_json::to_string(settings).unwrap_or_default();
        let (from, to) = (from.map_or("null".to_owned(), text), text(to));
        let note = format!(r#"{{"action":"configure","node":"{node:032x}"}}"#);
        self.write_down(note, format!(r#"{{"from":{from},"to":{to}}}"#));
    }

    /// Writes an order into the book.
    pub(super) fn write_down(&mut self, note: String, result: String) {
        self.book.serial += 1;
        let entry = Entry { serial: self.book.serial, at_ms: self.wall_ms, note, result };
        self.book.entries.push_back(entry);
        if self.book.entries.len() > BOOK_MAX {
            self.book.entries.pop_front();
        }
    }
}
