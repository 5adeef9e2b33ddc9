//! A described crowd before the real line, on a virtual clock.
//!
//! Owns a run: the crowd's behaviour, nodes that speak to a line as real ones do, faults, and what is told about it afterwards.
//! Nothing here decides who enters: that is [`crate::line`], asked with its own batches, and positions and estimates
//! are told by its own [`View`](crate::line::View), one a node. Pure: no IO, no clock, no chance but the seed's; the same plan gives the same
//! report.
//!
//! ```text
//!   crowd ── arrivals, polls, turns taken or not ──► node, node, node ── Batch ──► line
//!     ▲                                                │  ▲                          │
//!     └── places, estimates, "it is your turn" ────────┘  └────────── Reply ─────────┘
//! ```
//! - `crowd`, `random`: who comes, when, and how they behave.
//! - `calendar`: what each of them does next.
//! - `node`: a node's desk, and its pace, which is [`crate::room`]'s.
//! - `world`: the virtual clock, and everything that happens on it.
//! - `tally`: what is measured while it runs; `fairness`: who came before whom; `report`: what is told; `chart`: a picture of it.
//!
//! Ten million visitors take minutes because a waiting visitor costs what they cost a line: one mark a heartbeat period, looked
//! at in runs of 64 numbers, and nothing between. Arrivals, turns and sessions are events; being patient is not.

mod calendar;
mod chart;
mod crowd;
mod fairness;
mod node;
mod random;
mod report;
mod tally;
mod world;

use serde::Serialize;

use crate::line::{Mode, OutOfRange, Pace, Rate, Settings};

pub use chart::chart;
pub use crowd::{Crowd, Shape};
pub use report::{
    Cost, Entries, Estimates, Fairness, People, Point, Quantiles, Report, SCHEMA, Sample, Told,
};

/// A run, described.
#[derive(Clone, Debug, Serialize)]
pub struct Plan {
    /// Who comes.
    pub crowd: Crowd,
    /// The room.
    pub settings: Settings,
    /// Nodes that share the line.
    pub nodes: u32,
    /// What goes wrong.
    pub faults: Faults,
    /// What operators change: when, and the rate from then on.
    pub changes: Vec<Change>,
    /// Another one is another day with the same crowd.
    pub seed: u64,
    /// What the room has and a run does not, see [`leave_out`].
    pub left_out: Vec<&'static str>,
}

/// Another rate, from a moment on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// After the first arrival.
    pub at_ms: u64,
    /// From then on.
    pub rate: Rate,
}

/// How often what goes wrong, spread over the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Faults {
    /// A node is killed and started anew: what it was about to say is lost.
    pub nodes: u32,
    /// The store does not answer for a while.
    pub outages: u32,
    /// The store starts anew with nothing.
    pub losses: u32,
}

/// A visitor is 29 bits of an event, and more would be more than a run's memory.
pub const VISITORS_MAX: u32 = 100_000_000;
/// Each has a view of its own.
pub const NODES_MAX: u32 = 1_000;

/// Where it is told what a run does not do.
pub const DOES_NOT: &str = "\"What it does not do\" in docs/scale.md";

/// Why a plan can't be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPlan {
    /// Nobody comes, or more than can be simulated.
    #[error("{0} visitors: give 1 to {VISITORS_MAX}")]
    Visitors(u32),
    /// No node, or more than can be simulated.
    #[error("{0} nodes: give 1 to {NODES_MAX}")]
    Nodes(u32),
    /// More than everybody.
    #[error("{what} = {share}: give a share from 0% to 100%")]
    Share {
        /// Of whom.
        what: &'static str,
        /// What was given.
        share: String,
    },
    /// Nothing stops anybody, or nobody ever enters.
    #[error("nobody would wait, or nobody would ever enter: give a rate above 0, or seats")]
    Limitless,
    /// Nobody joins, enters or waits in such a room.
    #[error("mode = \"{0}\": a run is of mode \"auto\". Write --set mode=auto")]
    Mode(&'static str),
    /// What has no counterpart on a virtual clock with a described crowd.
    #[error("{0}: a run has none, see {DOES_NOT}")]
    LeftOut(&'static str),
    /// The room can't be so.
    #[error("{0}")]
    Setting(OutOfRange),
}

/// Takes out of a room's settings what a run has none of: wall time, an origin, and visitors who prove or are called something. The
/// keys of what was there.
pub fn leave_out(settings: &mut Settings) -> Vec<&'static str> {
    let found = left_out(settings);
    *settings = Settings {
        schedule: Vec::new(),
        adaptive: None,
        classes: Vec::new(),
        slots: Vec::new(),
        roster: false,
        ..settings.clone()
    };
    found
}

fn left_out(settings: &Settings) -> Vec<&'static str> {
    let Settings { schedule, adaptive, classes, slots, roster, .. } = settings;
    let keys = [
        ("schedule", !schedule.is_empty()),
        ("adaptive", adaptive.is_some()),
        ("classes", !classes.is_empty()),
        ("slots", !slots.is_empty()),
        ("roster", *roster),
    ];
    keys.into_iter().filter(|(_, there)| *there).map(|(key, _)| key).collect()
}

impl Plan {
    /// Whether it can be run.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn check(&self) -> Result<(), BadPlan> {
        let crowd = &self.crowd;
        if !(1..=VISITORS_MAX).contains(&crowd.visitors) {
            return Err(BadPlan::Visitors(crowd.visitors));
        }
        if !(1..=NODES_MAX).contains(&self.nodes) {
            return Err(BadPlan::Nodes(self.nodes));
        }
        let shares =
            [("no-shows", crowd.no_shows), ("bots", crowd.bots), ("sleepers", crowd.sleepers)];
        for (what, share) in shares {
            if !(0.0..=1.0).contains(&share) {
                return Err(BadPlan::Share { what, share: format!("{}%", share * 100.0) });
            }
        }
        match self.settings.mode {
            Mode::Auto => {}
            Mode::Hold => return Err(BadPlan::Mode("hold")),
            Mode::Drain => return Err(BadPlan::Mode("drain")),
            Mode::Closed => return Err(BadPlan::Mode("closed")),
            Mode::Bypass => return Err(BadPlan::Mode("bypass")),
            Mode::Shadow => return Err(BadPlan::Mode("shadow")),
        }
        if let Some(key) = left_out(&self.settings).first() {
            return Err(BadPlan::LeftOut(key));
        }
        let moves = |settings: &Settings| match settings.pace {
            Some(Pace::Rate { rate, .. }) => rate.count > 0,
            Some(Pace::Batch { .. }) => true,
            None => settings.max_active.is_some(),
        };
        let mut settings = self.settings.clone();
        for rate in std::iter::once(None).chain(self.changes.iter().map(|change| Some(change.rate)))
        {
            if let Some(rate) = rate {
                settings.pace = Some(paced(settings.pace, rate));
            }
            if let Some(problem) = settings.problems().into_iter().next() {
                return Err(BadPlan::Setting(problem));
            }
            if !moves(&settings) {
                return Err(BadPlan::Limitless);
            }
        }
        Ok(())
    }
}

/// The same pace at another rate: a bucket as many seconds deep as it was, else one.
fn paced(before: Option<Pace>, rate: Rate) -> Pace {
    let turns = |rate: Rate| rate.count as f64 * 1_000.0 / rate.per_ms as f64;
    let seconds = match before {
        Some(Pace::Rate { rate, burst }) if rate.count > 0 => burst as f64 / turns(rate),
        _ => 1.0,
    };
    Pace::Rate { rate, burst: ((turns(rate) * seconds).ceil() as u64).max(1) }
}

/// Lets it happen. `progress` is told from time to time how much of it is over, as a share, and how long it has taken in there.
///
/// # Errors
/// The plan can't be run.
pub fn run(plan: &Plan, progress: &mut dyn FnMut(f64, u64)) -> Result<Report, BadPlan> {
    plan.check()?;
    Ok(world::World::new(plan).run(progress))
}
