//! What those hold who count: handles that were looked up once.

use std::sync::OnceLock;
use std::time::Duration;

use prometheus::{Histogram, IntCounter, IntCounterVec};

use super::{LIMITS, STATUSES};

/// Classes of an origin's answers.
pub(super) const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];
/// Ways for an origin to give no answer.
pub(super) const ERRORS: [&str; 3] = ["connect", "timeout", "other"];

/// Calls of one endpoint.
#[derive(Debug)]
pub struct Endpoint {
    pub(super) name: String,
    pub(super) requests: IntCounterVec,
    /// Looked up when there is something to count: a status that never was is no series. The last is for any other.
    pub(super) statuses: [OnceLock<IntCounter>; STATUSES.len() + 1],
    pub(super) duration: Histogram,
}

impl Endpoint {
    /// One more, answered with this.
    pub fn count(&self, status: u16) {
        let known = STATUSES.iter().position(|one| *one == status);
        let counter = &self.statuses[known.unwrap_or(STATUSES.len())];
        let counter = counter.get_or_init(|| {
            let status = known.map_or("other".to_owned(), |_| status.to_string());
            self.requests.with_label_values(&[&self.name, &status])
        });
        counter.inc();
    }

    /// One took so long.
    pub fn took(&self, duration: Duration) {
        self.duration.observe(duration.as_secs_f64());
    }
}

/// What became of a request to a guarded page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// To the origin, with a pass.
    Admitted,
    /// A place in line was shown.
    Waiting,
    /// Too often.
    Limited,
    /// Full, closed, over, or nothing that can wait.
    Refused,
    /// The line could not be asked.
    Lost,
    /// To the origin without a pass, for want of a store.
    Open,
}

impl Outcome {
    pub(super) const ALL: [Outcome; 6] = [
        Outcome::Admitted,
        Outcome::Waiting,
        Outcome::Limited,
        Outcome::Refused,
        Outcome::Lost,
        Outcome::Open,
    ];

    /// Its name, in metrics and in the log.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Outcome::Admitted => "admitted",
            Outcome::Waiting => "waiting",
            Outcome::Limited => "limited",
            Outcome::Refused => "refused",
            Outcome::Lost => "lost",
            Outcome::Open => "open",
        }
    }
}

/// When somebody's turn came, by what they had been told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foretold {
    /// Before the range.
    Early,
    /// Within it.
    Within,
    /// After it.
    Late,
}

impl Foretold {
    pub(super) const ALL: [Foretold; 3] = [Foretold::Early, Foretold::Within, Foretold::Late];

    pub(super) fn name(self) -> &'static str {
        match self {
            Foretold::Early => "early",
            Foretold::Within => "within",
            Foretold::Late => "late",
        }
    }
}

/// What happens in one room.
#[derive(Clone, Debug)]
pub struct Room {
    pub(super) outcomes: [IntCounter; Outcome::ALL.len()],
    pub(super) waits: Histogram,
    pub(super) eta_errors: Histogram,
    pub(super) eta_ranges: [IntCounter; Foretold::ALL.len()],
    pub(super) ghosts: IntCounter,
    pub(super) limits: [IntCounter; LIMITS.len()],
}

impl Room {
    /// One more.
    pub fn count(&self, outcome: Outcome) {
        self.outcomes[outcome as usize].inc();
    }

    /// Somebody entered who has waited so long.
    pub fn waited(&self, seconds: f64) {
        self.waits.observe(seconds);
    }

    /// Somebody's turn came after so much of the time they had been told, and so in the range they had been told.
    pub fn foretold(&self, ratio: f64, range: Foretold) {
        self.eta_errors.observe(ratio);
        self.eta_ranges[range as usize].inc();
    }

    /// So many more did not come back.
    pub fn ghosts(&self, count: u64) {
        self.ghosts.inc_by(count);
    }

    /// Somebody is over a limit.
    pub fn limited(&self, limit: &str) {
        count_limit(&self.limits, limit);
    }
}

pub(super) fn count_limit(limits: &[IntCounter; LIMITS.len()], limit: &str) {
    if let Some(known) = LIMITS.iter().position(|known| *known == limit) {
        limits[known].inc();
    }
}

/// Why an origin gave no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failed {
    /// No connection.
    Connect,
    /// Too slow.
    Timeout,
    /// Anything else.
    Other,
}

/// One origin.
#[derive(Clone, Debug)]
pub struct Origin {
    pub(super) duration: Histogram,
    pub(super) classes: [IntCounter; CLASSES.len()],
    pub(super) errors: [IntCounter; ERRORS.len()],
}

impl Origin {
    /// It answered.
    pub fn answered(&self, status: u16, took: Duration) {
        self.duration.observe(took.as_secs_f64());
        if let Some(class) =
            (status / 100).checked_sub(1).and_then(|at| self.classes.get(usize::from(at)))
        {
            class.inc();
        }
    }

    /// It did not.
    pub fn failed(&self, why: Failed) {
        self.errors[why as usize].inc();
    }
}

/// The store.
#[derive(Clone, Debug)]
pub struct Store {
    pub(super) duration: Histogram,
    /// The same, under the name that only a Redis has.
    pub(super) redis: Option<Histogram>,
    pub(super) errors: IntCounter,
}

impl Store {
    /// It answered.
    pub fn answered(&self, took: Duration) {
        for histogram in std::iter::once(&self.duration).chain(&self.redis) {
            histogram.observe(took.as_secs_f64());
        }
    }

    /// It did not.
    pub fn failed(&self) {
        self.errors.inc();
    }
}

/// Letters.
#[derive(Clone, Debug)]
pub struct Webhooks {
    pub(super) delivered: IntCounter,
    pub(super) retried: IntCounter,
    pub(super) failed: IntCounter,
}

impl Webhooks {
    /// One was.
    pub fn delivered(&self) {
        self.delivered.inc();
    }

    /// One was not, and is tried again.
    pub fn retried(&self) {
        self.retried.inc();
    }

    /// One was given up.
    pub fn failed(&self) {
        self.failed.inc();
    }
}
