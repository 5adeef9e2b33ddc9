//! The draw: at a scheduled opening everybody who came before it gets a place by lot.
//!
//! Owns which numbers were drawn when, and what was promised beforehand. Never computes an ordinary visitor's place: at the opening
//! those drawn, `after < number <= upto`, all get new numbers, and which of the new ones stands for which of the old is a permutation
//! that nodes compute from the seed ([`super::shuffle`]). So a draw among millions costs a few ranges of bits, and no storage. Those at
//! the head of the line keep their numbers; where among the new ones they stand is written down one by one ([`super::redraw`]).
//!
//! ```text
//!         after          upto                    issued
//!   before  │ drawn, by arrival │
//!   after   │ used, dead        │ drawn, by lot    │ who comes now
//! ```

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::batch::Number;
use super::class;
use super::redraw::{self, Apart};
use super::schedule::Phase;
use super::settings::{Mode, Settings};
use super::state::Line;
use super::sweep::PLACES_MAX;

/// Draws that are remembered: numbers of older ones are over. A configuration has no more while a ticket is good.
pub const DRAWS_KEPT: usize = 16;
/// Fewer have nothing to draw.
const FEWEST: u64 = 2;

/// What a draw is made from.
pub type Seed = [u8; 32];

/// What a node brings to a draw: before the opening what it will be, at the opening the seed itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lot {
    /// Of which opening.
    pub opens_ms: u64,
    /// The key that the seed is made with.
    pub kid: String,
    /// The seed's SHA-256.
    pub hash: Seed,
    /// The seed. Only ever sent when the opening is due.
    pub seed: Option<Seed>,
}

/// What was promised before an opening: the first promise counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commitment {
    /// Of which opening.
    pub opens_ms: u64,
    /// The key that the seed is made with.
    pub kid: String,
    /// The seed's SHA-256.
    pub hash: Seed,
}

/// Those who come before an opening at which there is a draw. It ends with the draw, or when the room opens without one; an opening that
/// is put off, or taken back, does not end it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prequeue {
    /// Which opening they came for last.
    pub opens_ms: u64,
    /// The last number given before it began.
    pub after: Number,
}

/// A draw that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draw {
    /// 1, 2, 3, … in a room, across epochs.
    pub version: u64,
    /// At which opening.
    pub opens_ms: u64,
    /// Who was drawn: those above this,
    pub after: Number,
    /// and up to this.
    pub upto: Number,
    /// What the places are computed from.
    pub seed: Seed,
    /// With which key it was made.
    pub kid: String,
    /// What was promised before; `None`: nothing was.
    pub hash: Option<Seed>,
    /// Those of the range who were not drawn, in order: their turn had come, or they were inside.
    pub kept: Vec<Number>,
    /// Those of the range who stood at the head of the line, in order, each with the place that they have since: no other has it.
    #[serde(default)]
    pub head: Vec<(Number, Number)>,
}

impl Draw {
    /// How many places there are, above `upto`.
    pub fn count(&self) -> u64 {
        (self.upto - self.after).saturating_sub(self.kept.len() as u64)
    }

    /// Whether it can be: everybody is of the range once, and has a place of their own.
    pub fn is_sound(&self) -> bool {
        let rises = |numbers: &[Number], low: Number, high: Number| {
            numbers.windows(2).all(|pair| pair[0] < pair[1])
                && numbers.iter().all(|number| (low + 1..=high).contains(number))
        };
        let mut apart: Vec<Number> = self.head.iter().map(|(number, _)| *number).collect();
        let in_order = rises(&apart, self.after, self.upto);
        apart.extend(&self.kept);
        apart.sort_unstable();
        let mut places: Vec<Number> = self.head.iter().map(|(_, place)| *place).collect();
        places.sort_unstable();
        in_order
            && self.kept.is_sorted()
            && self.after < self.upto
            && rises(&apart, self.after, self.upto)
            && rises(&places, self.upto, self.upto + self.count())
    }

    /// Whether a number was drawn to another one.
    pub fn contains(&self, number: Number) -> bool {
        self.is_of(number)
            && self.kept.binary_search(&number).is_err()
            && self.place_of(number).is_none()
    }

    /// Whether a number is of the range.
    pub fn is_of(&self, number: Number) -> bool {
        self.after < number && number <= self.upto
    }

    /// The place of somebody who stood at the head of the line.
    pub fn place_of(&self, number: Number) -> Option<Number> {
        let found = self.head.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        Some(self.head[found].1)
    }
}

/// What was drawn, and what is to be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draws {
    /// Counts changes of any of this: of two copies the later one is right.
    pub serial: u64,
    /// Counts draws: a batch made before one is about other numbers.
    pub version: u64,
    /// The pre-queue that runs, or was put off, if there is a draw at its end.
    pub prequeue: Option<Prequeue>,
    /// The last promise.
    pub commitment: Option<Commitment>,
    /// The last draws of this epoch, oldest first.
    pub made: Vec<Draw>,
}

impl Draws {
    /// Whether a number was given before one of these draws, and is another since.
    pub(super) fn contain(&self, number: Number) -> bool {
        self.made.iter().any(|draw| draw.contains(number))
    }

    /// At which opening those of the pre-queue are drawn, if it has come: at the one they came for, while that is on, else at the last
    /// with a draw that is. Nobody is drawn at an opening that had its draw, though the clock runs back: its seed has been shown.
    pub(super) fn due(&self, settings: &Settings, wall_ms: u64) -> Option<u64> {
        let expected = self.prequeue.filter(|_| settings.mode.follows_schedule())?.opens_ms;
        let on = settings.drawn_at(wall_ms).filter(|opens_ms| !self.had(*opens_ms));
        on.max_by_key(|opens_ms| (*opens_ms == expected, *opens_ms))
    }

    /// Whether there was a draw at an opening.
    fn had(&self, opens_ms: u64) -> bool {
        self.made.iter().any(|draw| draw.opens_ms == opens_ms)
    }

    /// Of an epoch that begins: numbers of the last one were drawn, those of this one were not.
    pub(super) fn of_new_epoch(self) -> Draws {
        let (prequeue, made) = (None, Vec::new());
        let serial = self.serial + u64::from(self.prequeue.is_some() || !self.made.is_empty());
        Draws { serial, prequeue, made, ..self }
    }
}

impl Line {
    /// What the schedule says now, as far as it counts.
    pub(super) fn phase(&self) -> Phase {
        self.settings().phase_in_force(self.wall_ms, &self.draws)
    }

    /// Notes what begins and ends by the schedule, and draws when it is time.
    pub(super) fn follow_schedule(&mut self, lot: Option<&Lot>) {
        let phase = self.settings().phase(self.wall_ms);
        if let Some(Lot { opens_ms, kid, hash, .. }) = lot
            && phase.draw_ahead() == Some(*opens_ms)
            && self.draws.commitment.as_ref().is_none_or(|known| known.opens_ms != *opens_ms)
        {
            let commitment = Commitment { opens_ms: *opens_ms, kid: kid.clone(), hash: *hash };
            self.draws.commitment = Some(commitment);
            self.draws.serial += 1;
        }
        let mode = self.settings().mode;
        if !mode.follows_schedule() {
            return;
        }
        match (phase, self.draws.prequeue) {
            (Phase::Prequeue(next), before) if next.draw => {
                let after = before.map_or(self.issued, |before| before.after);
                let now = Prequeue { opens_ms: next.opens_ms, after };
                self.set_prequeue(Some(now).filter(|now| !self.draws.had(now.opens_ms)));
            }
            (Phase::Open { .. }, Some(before)) => {
                let after = before.after.max(self.released);
                let due = self.draws.due(self.settings(), self.wall_ms);
                match due.filter(|_| self.issued.saturating_sub(after) >= FEWEST) {
                    Some(opens_ms) => match lot.filter(|lot| lot.opens_ms == opens_ms) {
                        Some(lot @ Lot { seed: Some(seed), .. }) => self.draw(after, lot, *seed),
                        _ => self.set_prequeue(Some(Prequeue { opens_ms, ..before })),
                    },
                    // To a room on hold no opening comes.
                    None if due.is_none() && mode == Mode::Hold => {}
                    None => self.set_prequeue(None),
                }
            }
            // None has begun, or it was put off: whoever came is drawn with those who come later.
            _ => {}
        }
    }

    fn set_prequeue(&mut self, prequeue: Option<Prequeue>) {
        if self.draws.prequeue != prequeue {
            self.draws.prequeue = prequeue;
            self.draws.serial += 1;
        }
    }

    /// Everybody above `after` is drawn.
    fn draw(&mut self, after: Number, lot: &Lot, seed: Seed) {
        let upto = self.issued;
        let drawn = after + 1..=upto;
        let called = self.head.called.numbers().filter(|number| drawn.contains(number));
        let mut kept: Vec<Number> = called.chain(self.sessions.inside_of(drawn.clone())).collect();
        kept.sort_unstable();
        let apart = self.apart(&drawn);
        let others = upto - after - (kept.len() + apart.len()) as u64;
        let head = redraw::places(apart, others, upto, &seed);
        let promised = self.draws.commitment.as_ref();
        let promised = promised.filter(|promised| promised.opens_ms == lot.opens_ms);
        let hash = promised.map(|promised| promised.hash);
        self.draws.version += 1;
        let (version, opens_ms, kid) = (self.draws.version, lot.opens_ms, lot.kid.clone());
        let draw = Draw { version, opens_ms, after, upto, seed, kid, hash, kept, head };
        let all_over = after == self.released && self.lapsed == self.released;

        let here = self.live.count(drawn.clone());
        self.live.clear_range(drawn.clone());
        self.used.set_range(drawn);
        self.issued = upto + draw.count();
        let places = upto + 1..=self.issued;
        self.live.set_range(places.clone());
        self.seen[self.ring].set_range(places);
        for (number, place) in &draw.head {
            self.head.put(*number, *place);
            self.live.clear(*place);
            self.used.set(*place);
        }
        self.waiting = self.waiting - here + others;
        self.bits_version += 1;
        // Nothing at or below `upto` is anybody's any more, or more than a line holds: it must not cost a bitmap.
        let over = if all_over { upto } else { self.issued.saturating_sub(PLACES_MAX) };
        self.pass_over(over);

        self.draws.made.push(draw);
        let old = self.draws.made.len().saturating_sub(DRAWS_KEPT);
        self.draws.made.drain(..old);
        self.set_prequeue(None);
    }

    /// Those of the range who have a place of their own, in order.
    fn apart(&self, drawn: &RangeInclusive<Number>) -> Vec<Apart> {
        let (released, classes) = (self.released, &self.settings().classes);
        let theirs = |(_, number): &(u64, Number)| drawn.contains(number);
        let late = self.head.express.iter().chain(self.head.strayed.iter()).filter(theirs);
        let late = late.map(|(place, number)| Apart::late(number, place, released));
        let classed = self.head.classes.iter().chain(self.head.classes_away.iter()).filter(theirs);
        let classed = classed.map(|(score, number)| {
            let stands = (class::place(score), class::rank(score));
            Apart::classed(number, stands, released, classes)
        });
        let mut apart: Vec<Apart> = late.chain(classed).collect();
        apart.sort_unstable_by_key(|one| one.number);
        apart
    }

    /// The later of two copies counts: brought by a node to a line that lost its memory. Whoever counts anew comes after.
    pub(super) fn merge_draws(&mut self, known: &Draws) {
        if known.serial <= self.draws.serial {
            return;
        }
        self.draws = known.clone();
        for draw in &known.made {
            let drawn = self.base.max(draw.after + 1)..=self.issued.min(draw.upto);
            self.used.set_range(drawn.clone());
            self.live.clear_range(drawn);
            let ahead = self.lapsed + 1..=self.issued;
            for (number, place) in draw.head.iter().filter(|(_, place)| ahead.contains(place)) {
                self.used.set(*place);
                self.live.clear(*place);
                if self.head.waits(*number) || self.head.is_away(*number) {
                    self.head.put(*number, *place);
                }
            }
        }
    }
}
