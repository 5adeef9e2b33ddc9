//! Names: who waits and who plays, in rooms that show it.
//!
//! Owns the roster: a name for a number, and that no two who wait or are inside have the same one, however it is written.
//! Never decides about a place. A name is taken for as long as its visitor waits or is inside; what is left of
//! others goes at the next sweep, so that whoever looks at the roster asks where each number stands.

use std::collections::BTreeMap;

use icu_normalizer::ComposingNormalizerBorrowed;
use serde::{Deserialize, Serialize};

use super::batch::{Ending, Number, Reason, Standing};
use super::state::Line;
use super::view::{Named, RosterUpdate};

/// Characters of a name.
pub const NAME_MAX: usize = 40;
/// Names that are kept: those of everybody a room with a roster may hold, the newcomers of a batch, and some who may come back.
pub(super) const NAMES_MAX: usize = 2_500;
/// Rosters go to the nodes no more often than this: a promotion is to be seen while it is one.
const PUBLISH_MS: u64 = 500;

/// Whether somebody may be called so: 1 to 40 characters, no space at either end, nothing that can't be seen.
pub fn is_name(name: &str) -> bool {
    let length = name.chars().take(NAME_MAX + 1).count();
    (1..=NAME_MAX).contains(&length) && name.trim() == name && !name.chars().any(is_unseen)
}

/// Controls, what changes how others are read (marks of direction, joiners, spaces without width), and letters without a form.
fn is_unseen(character: char) -> bool {
    let odd = matches!(character, '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}');
    character.is_control() || odd
}

/// What the ways to write the same name have in common: in any case, with accents that are part of a letter or come behind it, in letters of any
/// width.
pub(crate) fn folded(name: &str) -> String {
    let words: Vec<&str> = name.split_whitespace().collect();
    let plain = ComposingNormalizerBorrowed::new_nfkc().normalize(&words.join(" ")).into_owned();
    plain.to_lowercase()
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Roster {
    names: BTreeMap<Number, String>,
    /// Folded, and whose.
    taken: BTreeMap<String, Number>,
    version: u64,
    changed: bool,
    published_ms: u64,
}

impl Roster {
    fn put(&mut self, number: Number, name: &str) {
        if let Some(before) = self.taken.insert(folded(name), number) {
            self.names.remove(&before);
        }
        self.names.insert(number, name.to_owned());
        self.changed = true;
    }

    fn remove(&mut self, number: Number) -> Option<String> {
        let name = self.names.remove(&number)?;
        self.taken.remove(&folded(&name));
        self.changed = true;
        Some(name)
    }

    /// Something else than the name has changed about a number.
    pub(super) fn moved(&mut self, number: Number) {
        self.changed |= self.names.contains_key(&number);
    }

    /// Nobody; the nodes are to know at once.
    pub(super) fn emptied(self) -> Roster {
        let version = self.version + u64::from(!self.names.is_empty());
        Roster { version, published_ms: self.published_ms, ..Roster::default() }
    }

    /// Counts a version, at most twice a second.
    pub(super) fn publish(&mut self, now_ms: u64) {
        if self.changed && now_ms.saturating_sub(self.published_ms) >= PUBLISH_MS {
            self.version += 1;
            self.changed = false;
            self.published_ms = now_ms;
        }
    }

    /// Whether the two tables say the same.
    pub(super) fn consistent(&self) -> bool {
        self.names.len() == self.taken.len()
            && self.names.iter().all(|(number, name)| self.taken.get(&folded(name)) == Some(number))
    }
}

impl Line {
    /// If so many more names may be too many, those of everybody who neither waits nor is inside are forgotten: once for all newcomers of a
    /// batch, not for each.
    pub(super) fn make_room_for_names(&mut self, more: usize) {
        if self.settings().roster && self.roster.names.len() + more > NAMES_MAX {
            self.forget_names(true);
        }
    }

    /// Whether a newcomer can't be called so: somebody who waits or is inside is, or there are too many names.
    pub(super) fn name_refused(&self, name: &str) -> bool {
        if !self.settings().roster {
            return false;
        }
        let taken = self.roster.taken.get(&folded(name)).is_some_and(|number| {
            use Standing::{Active, Admitted, Away, Waiting};
            matches!(self.standing(*number), Waiting | Away | Admitted | Active)
        });
        taken || self.roster.names.len() >= NAMES_MAX
    }

    /// A newcomer has a name.
    pub(super) fn give_name(&mut self, number: Number, name: &str) {
        if self.settings().roster {
            self.roster.put(number, name);
        }
    }

    /// A visitor has another number.
    pub(super) fn move_name(&mut self, from: Number, to: Number) {
        if let Some(name) = self.roster.remove(from) {
            self.roster.put(to, &name);
        }
    }

    /// A node brings a name to a line that lost its memory.
    pub(super) fn merge_name(&mut self, number: Number, name: &str) {
        let Roster { names, taken, .. } = &self.roster;
        let known = names.contains_key(&number) || taken.contains_key(&folded(name));
        if self.given(number) && !known && names.len() < NAMES_MAX {
            self.roster.put(number, name);
        }
    }

    /// Names of those who neither wait nor are inside are gone; of those who may come back to their seat only if there are `too_many`.
    pub(super) fn forget_names(&mut self, too_many: bool) {
        let over = |number: &Number| match self.standing(*number) {
            Standing::Expired(Reason::Ended(Ending::Idle)) => too_many,
            Standing::Expired(_) | Standing::Completed | Standing::Unknown => true,
            _ => false,
        };
        let none = !self.settings().roster;
        let gone: Vec<Number> =
            self.roster.names.keys().copied().filter(|number| none || over(number)).collect();
        for number in gone {
            self.roster.remove(number);
        }
    }

    /// The roster, if the node has another one.
    pub(super) fn roster_update(&self, have: u64) -> Option<RosterUpdate> {
        let Roster { names, version, .. } = &self.roster;
        let named = |(number, name): (&Number, &String)| {
            let seat = self.sessions.seat(*number);
            let slot = seat.map_or(0, |seat| seat.slot());
            Named { number: *number, inside: seat.is_some(), slot, name: name.clone() }
        };
        (*version > 0 && have != *version)
            .then(|| RosterUpdate { version: *version, names: names.iter().map(named).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_what_people_can_see() {
        for good in ["A", "Ada Lovelace", "李小龍", "x".repeat(40).as_str(), "Zoë-3 😀"] {
            assert!(is_name(good), "{good:?}");
        }
        let long = "x".repeat(41);
        for bad in
            ["", " ", " Ada", "Ada ", "A\nB", "a\u{202e}b", "\u{200b}", "\u{3164}", long.as_str()]
        {
            assert!(!is_name(bad), "{bad:?}");
        }
        assert_eq!(folded("ADA  Lovelace"), folded("ada lovelace"));
        assert_eq!(folded("ÉMILE"), "émile");
        assert_eq!(folded("Jose\u{301}"), folded("JOSÉ"));
        assert_eq!(folded("Ａｄａ"), "ada");
    }
}
