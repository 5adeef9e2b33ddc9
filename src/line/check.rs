//! What must hold after every exchange, written once and checked in debug builds, by the model tests
//! and by operators against a live line.

use serde::{Deserialize, Serialize};

use super::state::Line;

/// An invariant that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("invariant {number} is broken: {what}")]
pub struct Broken {
    /// Which, in the order of [`Line::check_invariants`].
    pub number: u32,
    /// What was found.
    pub what: String,
}

impl Line {
    /// 1. base ≤ lapsed ≤ released ≤ issued; base is whole steps.
    /// 2. Nobody is both live and used.
    /// 3. Nobody is live at or below lapsed, or above issued.
    /// 4. waiting = live above released + in express and in classes.
    /// 5. claimable = live above lapsed and at or below released.
    /// 6. Seats: both orders agree; nobody is both inside and ended.
    /// 7. The head: everybody in one list at most, express, classes and called are present.
    /// 8. Whoever is inside, ended or of the head is not live: one standing a number.
    /// 9. Nothing in the tables was never given.
    /// 10. The bucket is no fuller than its depth, a batch's by the half it may pay back.
    /// 11. Every slot is held by whoever sits in it, and whoever hung up is inside.
    /// 12. No two have the same name.
    /// 13. Class visitors have saved less than a turn.
    pub fn check_invariants(&self) -> Result<(), Broken> {
        let (base, lapsed, released, issued) = (self.base, self.lapsed, self.released, self.issued);
        let hold = |number: u32, holds: bool, what: &dyn Fn() -> String| {
            if holds { Ok(()) } else { Err(Broken { number, what: what() }) }
        };
        hold(1, base <= lapsed && lapsed <= released && released <= issued, &|| {
            format!("base {base}, lapsed {lapsed}, released {released}, issued {issued}")
        })?;
        hold(1, base.is_multiple_of(super::sweep::BASE_STEP), &|| {
            format!("base {base} is not a whole step")
        })?;
        let both = (base / 64..=issued / 64)
            .find(|word| self.live.word(*word) & self.used.word(*word) != 0);
        hold(2, both.is_none(), &|| {
            format!("live and used near place {}", both.unwrap_or(0) * 64)
        })?;
        let stray =
            self.live.first_one(0..=lapsed).or(self.live.first_one(issued + 1..=issued + 100_000));
        hold(3, stray.is_none(), &|| {
            format!("{stray:?} is live, lapsed {lapsed}, issued {issued}")
        })?;
        let ordinary = self.live.count(released + 1..=issued);
        let express = self.head.waiting();
        hold(4, self.waiting == ordinary + express, &|| {
            format!("waiting {} but {ordinary} live and {express} at the head", self.waiting)
        })?;
        let claimable = self.live.count(lapsed + 1..=released);
        hold(5, self.claimable == claimable, &|| {
            format!("claimable {} but {claimable} live", self.claimable)
        })?;
        hold(6, self.sessions.consistent(), &|| "the tables of seats disagree".to_owned())?;
        hold(7, self.head.consistent(), &|| "the lists of the head disagree".to_owned())?;
        let tables = || self.sessions.numbers().chain(self.head.numbers());
        let double = tables().find(|number| self.live.get(*number));
        let double = double.or(self.sessions.numbers().find(|number| self.head.contains(*number)));
        hold(8, double.is_none(), &|| format!("{double:?} stands in two places"))?;
        let unknown = tables().chain(self.spent.numbers()).find(|number| !self.given(*number));
        hold(9, unknown.is_none(), &|| format!("{unknown:?} was never given, issued {issued}"))?;
        let (credit, depth) = (self.bucket.credit, self.bucket_depth());
        hold(10, credit <= depth, &|| format!("credit {credit} in a bucket of {depth}"))?;
        hold(11, self.sessions.slots_consistent(), &|| "the tables of slots disagree".to_owned())?;
        hold(12, self.roster.consistent(), &|| "the tables of names disagree".to_owned())?;
        let balance = self.class_balance;
        hold(13, balance < 1_000, &|| format!("class visitors have saved {balance}"))
    }
}
