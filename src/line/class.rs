//! Classes: who skips what, and the invites that prove it.
//!
//! Owns a class visitor's place, the order among class visitors, and what is remembered about invites. Whether
//! somebody may ask for a class is others' business: whoever asks here has proven it, or was free to ask. Never
//! touches the bitmaps but for one bit: a class number is `used` from the first moment on, so that nothing that goes
//! over the ordinary line meets it.
//!
//! # The score
//!
//! A class visitor stands in a set ordered by one whole number, the same in Lua:
//!
//! ```text
//!   skip     place · 16 + (9 − rank)
//!   strict   (9 − rank) · 2^44 + place · 16 + (9 − rank)
//! ```
//! So the order is (place, rank, number) or (rank, place, number), the higher rank first; and place and rank are
//! read from either in the same way. No place reaches 2^40.

use serde::{Deserialize, Serialize};

use super::aging::Aging;
use super::batch::{Classed, Invite, Key, Keyed, NotClassed, Number};
use super::express::{DRAWN_MAX, HEAD_MAX};
use super::packed::Packed;
use super::settings::{Class, ClassOrder};
use super::state::Line;

/// The highest rank.
pub(super) const RANK_MAX: u64 = 9;
/// Ranks in a score: one more than there are, and the next power of two.
const RANKS: u64 = 16;
/// Above every place with its rank.
const STRICT: u64 = 1 << 44;
/// An invite is good for no longer than this, a day more than anybody can make one for; and for so long at least what became of
/// it is remembered.
pub(super) const INVITE_MS: u64 = 31 * 86_400_000;
/// Invites that are remembered at once: ten megabytes.
pub(super) const INVITES_MAX: usize = 100_000;

/// Where a class visitor stands, as one number, whatever the order is.
pub(super) fn standpoint(place: Number, rank: u64) -> u64 {
    place * RANKS + (RANK_MAX - rank.min(RANK_MAX))
}

/// The same in an order.
pub(super) fn score(standpoint: u64, order: ClassOrder) -> u64 {
    match order {
        ClassOrder::Skip => standpoint,
        ClassOrder::Strict => standpoint % RANKS * STRICT + standpoint,
    }
}

/// From a score of either order.
pub(super) fn unscored(score: u64) -> u64 {
    score % STRICT
}

pub(super) fn place(score: u64) -> Number {
    unscored(score) / RANKS
}

pub(super) fn rank(score: u64) -> u64 {
    RANK_MAX.saturating_sub(score % RANKS)
}

/// The same rank at another place.
pub(super) fn at(score: u64, now: Number) -> u64 {
    score - place(score) * RANKS + now * RANKS
}

/// The last standpoint below a place.
pub(super) fn below(place: Number) -> Option<u64> {
    (place * RANKS).checked_sub(1)
}

/// Whether somebody with this score goes before an ordinary visitor at a place.
pub(super) fn precedes(score: u64, order: ClassOrder, ordinary: Number) -> bool {
    order == ClassOrder::Strict && rank(score) > 0 || place(score) <= ordinary
}

impl Class {
    /// Where somebody with this number stands: the part of the places from the frontier on that they skip is
    /// rounded down.
    pub(super) fn place(&self, number: Number, released: Number) -> Number {
        number - self.skip * number.saturating_sub(released) / 1_000
    }

    /// Skips nothing and goes before nobody.
    pub(super) fn is_ordinary(&self) -> bool {
        self.skip == 0 && self.rank == 0
    }
}

/// What became of an invite.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Invited {
    /// In which epoch it was used: a reset gives uses back, since it takes the places.
    epoch: u64,
    used: u64,
    /// So often it may be; 0: any number of times, or it was revoked before anybody came with it.
    uses: u64,
    /// Until when it is good, by the wall clock; 0: not known.
    until_ms: u64,
    revoked: bool,
    class: String,
}

/// Invites that were used or revoked.
pub(super) type Invites = Aging<Packed, Invited>;

/// What is known of an invite.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InviteFound {
    /// Which.
    pub id: Key,
    /// How often it was used in this epoch.
    pub used: u64,
    /// How often it may be; 0: any number of times, or nobody has come with it yet.
    pub uses: u64,
    /// Until when it is good, by the wall clock; 0: nobody has come with it yet.
    pub until_ms: u64,
    /// It was revoked.
    pub revoked: bool,
    /// The class; empty: nobody has come with it yet.
    pub class: String,
}

impl Line {
    /// The class of a name, with its index in the settings.
    pub(super) fn class(&self, name: &str) -> Option<(usize, &Class)> {
        self.settings().classes.iter().enumerate().find(|(_, class)| class.name == name)
    }

    /// Whether a newcomer is of the class they ask for. Nobody's: `None`.
    pub(super) fn classify(&self, keyed: &Keyed) -> Option<Classed> {
        let name = keyed.class.as_deref()?;
        let class = self.class(name).map(|(_, class)| class);
        let refused = |why| Some(Classed::Not(why));
        let Some(class) = class else {
            return refused(NotClassed::Unknown);
        };
        if let Some(why) = keyed.invite.and_then(|invite| self.refuses(invite)) {
            return refused(why);
        }
        if class.is_ordinary() {
            return Some(Classed::Ordinary);
        }
        let most = if self.draws.prequeue.is_some() { DRAWN_MAX } else { HEAD_MAX };
        if self.head.len() >= most {
            return refused(NotClassed::Crowded);
        }
        let place = class.place(self.issued + 1, self.released);
        Some(Classed::Placed { place, rank: class.rank })
    }

    /// Why an invite is not good.
    fn refuses(&self, invite: Invite) -> Option<NotClassed> {
        let left_ms = invite.until_ms.saturating_sub(self.wall_ms);
        let found = self.invites.get(&Packed(invite.id));
        match found {
            _ if left_ms == 0 || left_ms > INVITE_MS => Some(NotClassed::Expired),
            Some(found) if found.revoked => Some(NotClassed::Revoked),
            Some(found) => {
                let used = if found.epoch == self.epoch { found.used } else { 0 };
                (invite.uses > 0 && used >= u64::from(invite.uses)).then_some(NotClassed::Spent)
            }
            None => (self.invites.len() >= INVITES_MAX).then_some(NotClassed::Crowded),
        }
    }

    /// An invite was used.
    pub(super) fn spend_invite(&mut self, invite: Invite, class: &str) {
        let before = self.invites.get(&Packed(invite.id)).cloned().unwrap_or_default();
        let used = if before.epoch == self.epoch { before.used } else { 0 };
        let invited = Invited {
            epoch: self.epoch,
            used: used + 1,
            uses: u64::from(invite.uses),
            until_ms: invite.until_ms,
            revoked: before.revoked,
            class: class.to_owned(),
        };
        self.invites.put(Packed(invite.id), invited);
    }

    /// An invite is no longer good; how often it was used.
    pub(super) fn revoke_invite(&mut self, id: Key) -> u64 {
        self.invites.age(self.clock_ms, INVITE_MS);
        let before = self.invites.get(&Packed(id)).cloned().unwrap_or_default();
        let used = if before.epoch == self.epoch { before.used } else { 0 };
        self.invites.put(Packed(id), Invited { revoked: true, ..before });
        used
    }

    /// What is known of invites, by their ids.
    pub(super) fn invites_found(&self, limit: usize) -> Vec<InviteFound> {
        let mut found: Vec<InviteFound> = self
            .invites
            .iter()
            .map(|(id, invited)| InviteFound {
                id: id.0,
                used: if invited.epoch == self.epoch { invited.used } else { 0 },
                uses: invited.uses,
                until_ms: invited.until_ms,
                revoked: invited.revoked,
                class: invited.class.clone(),
            })
            .collect();
        found.sort_by_key(|found| found.id);
        found.truncate(limit);
        found
    }

    /// Those of a class who wait stand in the order that is set from now on.
    pub(super) fn rank_classes(&mut self) {
        let order = self.settings().class_order;
        self.head.reorder(order);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_says_place_and_rank_and_stands_in_their_order() {
        let mut scores = Vec::new();
        for at in [0, 1, 7, 8, 1 << 39] {
            for with in 0..=RANK_MAX {
                for order in [ClassOrder::Skip, ClassOrder::Strict] {
                    let score = score(standpoint(at, with), order);
                    assert_eq!((place(score), rank(score)), (at, with), "{order:?}");
                    assert_eq!(unscored(score), standpoint(at, with));
                    assert!(score < 1 << 53);
                    assert_eq!(unscored(super::at(score, 7)), standpoint(7, with));
                }
                scores.push((at, with));
            }
        }
        let sorted = |order| {
            let mut sorted = scores.clone();
            sorted.sort_by_key(|(at, with)| score(standpoint(*at, *with), order));
            sorted
        };
        assert!(sorted(ClassOrder::Skip).is_sorted_by_key(|(at, with)| (*at, 9 - *with)));
        assert!(sorted(ClassOrder::Strict).is_sorted_by_key(|(at, with)| (9 - *with, *at)));
        assert!(Some(standpoint(7, 0)) <= below(8) && below(8) < Some(standpoint(8, 9)));
        assert_eq!(below(0), None);
    }

    /// Whoever joins later never stands before somebody of the same class.
    #[test]
    fn places_of_a_class_never_go_back() {
        for skip in [0, 1, 100, 333, 500, 999, 1_000] {
            let class = Class { name: "c".to_owned(), skip, rank: 0 };
            let mut last = 0;
            for number in 1..2_000_u64 {
                let place = class.place(number, number / 3);
                assert!(place >= last && place <= number && place >= number / 3);
                last = place;
            }
        }
        let class = |skip| Class { name: "c".to_owned(), skip, rank: 0 };
        assert_eq!(
            [0, 100, 500, 1_000].map(|skip| class(skip).place(1_000, 0)),
            [1_000, 900, 500, 0]
        );
        assert_eq!(class(100).place(5, 0), 5, "a tenth of five places is none");
    }
}
