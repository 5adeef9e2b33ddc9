//! The line that is judged, or one with a flaw built in: a judge that finds no flaw is no judge.

use anteroom::line::{
    BadBatch, Batch, Joined, Line, Moment, Number, Offered, Pace, Reply, Settings, Standing, Taken,
};

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
}

#[derive(Clone, Debug)]
pub(super) struct Subject {
    line: Line,
    flaw: Option<Flaw>,
    applied: u64,
    /// What a line with other settings than these says it has.
    settings: Option<Settings>,
}

impl Subject {
    pub(super) fn new(flaw: Option<Flaw>) -> Subject {
        Subject { line: Line::default(), flaw, applied: 0, settings: None }
    }

    pub(super) fn empty(&self) -> Subject {
        Subject::new(self.flaw)
    }

    pub(super) fn founded(&self, now: Moment) -> Subject {
        Subject { line: Line::founded(now), ..self.empty() }
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

    pub(super) fn check_invariants(&self) -> Result<(), String> {
        self.line.check_invariants().map_err(|broken| broken.to_string())
    }

    pub(super) fn apply(&mut self, batch: &Batch, now: Moment) -> Result<Reply, BadBatch> {
        let Some(flaw) = self.flaw else {
            return self.line.apply(batch, now);
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
            _ => {}
        }
        let before = self.line.clone();
        let mut reply = self.line.apply(&changed, moment)?;
        reply.run = now.run;
        if reply.offered == Some(Offered::Taken) && reply.taken != Taken::Repeated {
            self.settings = batch.offer.as_ref().map(|offer| offer.settings.clone());
        }
        if let (Some((_, told)), Some(settings)) = (&mut reply.update.settings, &self.settings) {
            *told = settings.clone();
        }
        match flaw {
            Flaw::LongPass => {
                for joined in &mut reply.joins {
                    if let Joined::Given { terms: Some(terms), .. } = joined {
                        terms.expires_ms += 1;
                    }
                }
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
