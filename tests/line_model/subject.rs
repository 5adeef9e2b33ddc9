//! The line that is judged, or one with a flaw built in: a judge that finds no flaw is no judge.

use std::rc::Rc;

use anteroom::line::{
    BadBatch, Batch, Claimed, ClassOrder, Done, InForce, Join, Joined, Line, Moment, Number,
    Offered, Pace, Reply, Settings, Standing, Taken,
};

use super::mirror::{Mirror, Redis};

/// What is wrong with a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Flaw {
    /// Two of three batches lose their marks.
    ForgetsMarks,
    /// A batch that comes again is a new one.
    AppliesTwice,
    /// One seat more than there is.
    SeatTooMany,
    /// Twice the rate.
    TooFast,
    /// A loss of memory goes unnoticed, whatever nodes prove.
    DeniesLoss,
    /// Whose turn has come is told to wait.
    HidesTurns,
    /// A claim window of a second more.
    LongWindow,
    /// A pass that lasts a millisecond longer than its seat.
    LongPass,
    /// One too many waiting, from three on.
    Miscounts,
    /// Leaves are answered, not done.
    IgnoresLeaves,
    /// Signs of life from the head of the line get lost.
    ForgetsTheHead,
    /// What nodes have seen is not believed.
    IgnoresProofs,
    /// A pass that was spent is spent again.
    SpendsAgain,
    /// Nobody is of a class.
    ForgetsClasses,
    /// Ranks of classes count for nothing.
    IgnoresRanks,
    /// Everybody is told to sit in the first slot.
    OneSlot,
    /// A draw is made from another seed than nodes bring.
    DrawsByAnother,
    /// Nobody is ever drawn.
    DrawsNobody,
}

#[derive(Clone, Debug)]
pub(super) struct Subject {
    line: Line,
    /// The same line in Redis.
    mirror: Option<Mirror>,
    flaw: Option<Flaw>,
    applied: u64,
    /// What a line with other settings than these says it has.
    settings: Option<Settings>,
    /// What it says it has.
    told: Option<InForce>,
}

impl Subject {
    pub(super) fn new(flaw: Option<Flaw>) -> Subject {
        Subject {
            line: Line::default(),
            mirror: None,
            flaw,
            applied: 0,
            settings: None,
            told: None,
        }
    }

    /// One that is also kept in Redis.
    pub(super) fn mirrored(redis: &Rc<Redis>) -> Subject {
        Subject { mirror: Some(Mirror::new(redis)), ..Subject::new(None) }
    }

    pub(super) fn empty(&self) -> Subject {
        let mirror = self.mirror.as_ref().map(Mirror::empty);
        Subject { mirror, ..Subject::new(self.flaw) }
    }

    pub(super) fn founded(&self, now: Moment) -> Subject {
        let mirror = self.mirror.as_ref().map(|mirror| mirror.founded(now));
        Subject { line: Line::founded(now), mirror, ..Subject::new(self.flaw) }
    }

    pub(super) fn standing(&self, number: Number) -> Standing {
        match self.line.standing(number) {
            Standing::Admitted if self.flaw == Some(Flaw::HidesTurns) => Standing::Waiting,
            standing => standing,
        }
    }

    /// The same state, however many exchanges it took.
    pub(super) fn same_line(&self, other: &Subject) -> bool {
        self.line == other.line
    }

    /// What is in force by files and operators, as it was meant: a flaw may be to do otherwise.
    pub(super) fn settings_in_force(&self) -> Option<Settings> {
        let told = self.told.as_ref()?;
        let file = self.settings.as_ref().unwrap_or(&told.file);
        Some(file.with(&told.overrides))
    }

    /// The line in Redis, if it is kept there, too.
    pub(super) fn mirror(&self) -> Option<&Mirror> {
        self.mirror.as_ref()
    }

    pub(super) fn check_invariants(&self) -> Result<(), String> {
        self.line.check_invariants().map_err(|broken| broken.to_string())
    }

    pub(super) fn apply(&mut self, batch: &Batch, now: Moment) -> Result<Reply, BadBatch> {
        let reply = self.apply_flawed(batch, now)?;
        self.told = self.line.in_force();
        Ok(reply)
    }

    fn apply_flawed(&mut self, batch: &Batch, now: Moment) -> Result<Reply, BadBatch> {
        let Some(flaw) = self.flaw else {
            let reply = self.line.apply(batch, now);
            if let Some(mirror) = &self.mirror {
                mirror.follow(batch, now, &reply, &self.line);
            }
            return reply;
        };
        self.applied += 1;
        let (mut changed, mut moment) = (batch.clone(), now);
        let settings = changed.offer.as_mut().map(|offer| &mut offer.settings);
        match (flaw, settings) {
            (Flaw::ForgetsMarks, _) if !self.applied.is_multiple_of(3) => changed.marks.clear(),
            (Flaw::AppliesTwice, _) => changed.sequence = changed.sequence.min(1) * self.applied,
            (Flaw::SeatTooMany, Some(settings)) => {
                settings.max_active = settings.max_active.map(|seats| seats + u64::from(seats > 0));
            }
            (Flaw::TooFast, Some(settings)) => {
                if let Some(Pace::Rate { rate, .. }) = &mut settings.pace {
                    rate.count *= 2;
                }
            }
            (Flaw::LongWindow, Some(settings)) if settings.claim_window_ms > 0 => {
                settings.claim_window_ms += 1_000
            }
            (Flaw::DeniesLoss, _) => {
                moment.run = moment.run.min(1);
                changed.known = Default::default();
            }
            (Flaw::IgnoresLeaves, _) => changed.leaves.clear(),
            (Flaw::ForgetsTheHead, _) => changed.present.clear(),
            (Flaw::IgnoresProofs, _) => changed.known = Default::default(),
            (Flaw::ForgetsClasses, _) => {
                for join in &mut changed.joins {
                    if let Join::Keyed(keyed) = join {
                        keyed.class = None;
                    }
                }
            }
            (Flaw::IgnoresRanks, Some(settings)) => settings.class_order = ClassOrder::Skip,
            (Flaw::DrawsByAnother, _) => {
                let seed = changed.lot.as_mut().and_then(|lot| lot.seed.as_mut());
                seed.into_iter().for_each(|seed| seed[0] ^= 1);
            }
            (Flaw::DrawsNobody, _) => changed.lot = None,
            _ => {}
        }
        let before = self.line.clone();
        let mut reply = self.line.apply(&changed, moment)?;
        reply.run = now.run;
        if reply.offered == Some(Offered::Taken) && reply.taken != Taken::Repeated {
            self.settings = batch.offer.as_ref().map(|offer| offer.settings.clone());
        }
        if let (Some(told), Some(settings)) = (&mut reply.update.settings, &self.settings) {
            told.file = settings.clone();
        }
        match flaw {
            Flaw::LongPass => {
                for joined in &mut reply.joins {
                    if let Joined::Given { terms: Some(terms), .. } = joined {
                        terms.expires_ms += 1;
                    }
                }
            }
            Flaw::OneSlot => {
                let joined = reply.joins.iter_mut().filter_map(|joined| match joined {
                    Joined::Given { terms, .. } => terms.as_mut(),
                    _ => None,
                });
                let claimed = reply.claims.iter_mut().chain(&mut reply.renewals);
                let claimed = claimed.filter_map(|claimed| match claimed {
                    Claimed::Inside(terms) => Some(terms),
                    _ => None,
                });
                joined.chain(claimed).for_each(|terms| terms.slot = terms.slot.min(1));
            }
            Flaw::SpendsAgain => {
                let again = |done: &mut Done| {
                    if *done == Done::Already {
                        *done = Done::Freed;
                    }
                };
                reply.spends.iter_mut().for_each(again);
            }
            Flaw::Miscounts if reply.counts.waiting > 2 => reply.counts.waiting += 1,
            Flaw::IgnoresLeaves => {
                let mut honest = before;
                reply.leaves = honest.apply(batch, moment)?.leaves;
            }
            _ => {}
        }
        Ok(reply)
    }
}
