//! What an operator may set about a line, as plain numbers: milliseconds, counts, exact fractions.
//!
//! Owns the ranges in which each value makes sense and the sentence for a value that does not.
//! Never parses text: durations and rates are written by people, and reading them is the
//! configuration's business.
//!
//! Every value here may change while people wait; [`crate::line`] says what each change does.

use serde::{Deserialize, Serialize};

use super::batch::BOOST;
use super::class::RANK_MAX;
use super::history::NO_RATE;
use super::orders::Overrides;
use super::schedule::Event;

/// Everything about a room that decides who joins and who enters when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Whether newcomers are taken and visitors released at all.
    pub mode: Mode,
    /// How fast visitors are released; `None` leaves only the seats as a limit.
    pub pace: Option<Pace>,
    /// How many may be inside at once; `None` is no limit.
    pub max_active: Option<u64>,
    /// How many may wait at once; `None` is no limit.
    pub max_waiting: Option<u64>,
    /// How long an admitted visitor may take to come in. With [`Pace::Batch`] the windows decide
    /// instead: see [`Settings::claim_window_ms`].
    pub claim_window_ms: u64,
    /// How long a seat is kept without activity. At least one of this and `session_max_ms` is set.
    pub session_idle_ms: Option<u64>,
    /// How long a seat is kept at all.
    pub session_max_ms: Option<u64>,
    /// The first pass of somebody who opened a page and entered without having waited: whoever never comes
    /// back (a bot without cookies, a preview) holds a seat no longer than this.
    pub session_first_ms: u64,
    /// How long a waiting visitor may be silent before their place is skipped.
    pub heartbeat_timeout_ms: u64,
    /// What becomes of a silent visitor's place.
    pub on_absence: OnAbsence,
    /// How long a ticket is good, and so how long a device is remembered.
    pub ticket_max_ms: u64,
    /// How often one address, device or user may try to join.
    pub join_limits: Vec<JoinLimit>,
    /// Whether somebody wants to be told what happens: letters are written then.
    #[serde(default)]
    pub webhooks: bool,
    /// The names of the seats: there are no others then. Empty: seats have none.
    #[serde(default)]
    pub slots: Vec<String>,
    /// How long a seat with a name is kept when its visitor's last connection has closed and nothing else is heard of them.
    #[serde(default = "slot_grace_ms")]
    pub slot_grace_ms: u64,
    /// Whether those who wait or are inside have names.
    #[serde(default)]
    pub roster: bool,
    /// Who skips what.
    #[serde(default)]
    pub classes: Vec<Class>,
    /// In which order classes are served.
    #[serde(default)]
    pub class_order: ClassOrder,
    /// Of the turns by pace for which both a class visitor and an ordinary one wait, at most so many thousandths are
    /// class visitors'.
    #[serde(default = "whole")]
    pub class_share: u64,
    /// The rate follows the origin, with the pace's as its ceiling.
    #[serde(default)]
    pub adaptive: Option<Adaptive>,
    /// When the room is open; without events, always. Counts in mode `auto`.
    #[serde(default)]
    pub schedule: Vec<Event>,
}

fn slot_grace_ms() -> u64 {
    10_000
}

/// A thousand thousandths: no bound.
fn whole() -> u64 {
    1_000
}

/// Who skips what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Class {
    /// What it is called, in tickets and on pages.
    pub name: String,
    /// Thousandths of the line that a newcomer passes.
    pub skip: u64,
    /// Goes first at an equal place; with [`ClassOrder::Strict`] at any.
    pub rank: u64,
}

/// In which order classes are served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClassOrder {
    /// By place; at an equal one the higher rank first.
    #[default]
    Skip,
    /// Whoever has a higher rank goes before everybody who has a lower one; without a rank, by place.
    Strict,
}

/// Who is let in at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// A line when one is needed.
    Auto,
    /// Everybody new waits; releases only by hand.
    Hold,
    /// Nobody new; the line empties at its pace.
    Drain,
    /// Nobody new, nobody released, not even by hand.
    Closed,
    /// No line: everybody enters at once, whatever rate and seats say.
    Bypass,
    /// Likewise, and beside it the line reckons who would have waited.
    Shadow,
}

impl Mode {
    /// Whether nobody is stopped.
    pub fn stops_nobody(self) -> bool {
        matches!(self, Mode::Bypass | Mode::Shadow)
    }

    /// Whether events begin and end by the schedule.
    pub(super) fn follows_schedule(self) -> bool {
        matches!(self, Mode::Auto | Mode::Hold)
    }
}

/// How fast visitors are released.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pace {
    /// A token bucket that starts full.
    Rate {
        /// Turns a time.
        rate: Rate,
        /// The bucket's depth in turns.
        burst: u64,
    },
    /// `batch` turns at the start of each interval; what is left over serves who joins next.
    Batch {
        /// Turns an interval.
        batch: u64,
        /// The interval's length.
        interval_ms: u64,
        /// A turn stays open for this many intervals.
        windows: u64,
    },
}

/// `count` turns every `per_ms`, an exact fraction: 0.2/s is 1 every 5,000 ms. Zero: only by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rate {
    /// Turns.
    pub count: u64,
    /// In this many milliseconds.
    pub per_ms: u64,
}

/// How a rate follows the origin: `adaptive` has the law.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adaptive {
    /// What it follows.
    pub signal: Signal,
    /// Of all requests 95 % are to be answered within this.
    pub target_ms: u64,
    /// Thousandths of the answers that may be errors.
    pub max_errors: u64,
    /// The floor.
    pub min: Rate,
    /// Thousandths of those who enter that complete, where completions are followed.
    pub completes: u64,
}

/// What an adaptive rate follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Signal {
    /// How long answers take.
    Latency,
    /// How many visitors complete.
    Completions,
}

/// What becomes of the place of a visitor who has not been heard of for the heartbeat timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnAbsence {
    /// Skipped while away, theirs again on return if the turn has not come.
    Keep,
    /// Given up.
    Remove,
}

/// At most `max` joins every `per_ms` by one and the same subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinLimit {
    /// What is counted.
    pub subject: Subject,
    /// How many joins.
    pub max: u64,
    /// In this many milliseconds, as a sliding window.
    pub per_ms: u64,
}

/// What a join limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Subject {
    /// A client address.
    Address,
    /// A device.
    Device,
    /// A user.
    User,
}

/// A value out of its range, with the range and what lies outside it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{name} = {value} is out of range {low}..={high}: {why}")]
pub struct OutOfRange {
    /// The setting.
    pub name: String,
    /// What was asked for.
    pub value: u64,
    /// The least value allowed.
    pub low: u64,
    /// The greatest value allowed.
    pub high: u64,
    /// What goes wrong outside.
    pub why: String,
}

/// Depths and batches: with the longest `per_ms` a full bucket is 8.64e13 credits, and every
/// product the line forms stays below 2^53, where Lua's numbers are still exact.
const MAX_COUNT: u64 = 1_000_000;
/// One turn a day is the slowest rate that still moves.
const DAY_MS: u64 = 86_400_000;
const HOUR_MS: u64 = 3_600_000;
/// More seats than a person could tell apart by name.
const SLOTS_MAX: u64 = 64;
/// As a pass carries it.
const SLOT_BYTES: u64 = 40;
/// Those who wait, and those inside, in a room that shows their names.
const ROSTER_MAX: u64 = 1_000;
/// Classes of a room: each is a label of metrics.
const MAX_CLASSES: u64 = 32;
/// Bytes of a class's name.
pub(super) const MAX_NAME: u64 = 64;

impl Default for Settings {
    /// The defaults of the configuration file: no rate, no seats, nobody is ever stopped.
    fn default() -> Self {
        Settings {
            mode: Mode::Auto,
            pace: None,
            max_active: None,
            max_waiting: Some(100_000),
            claim_window_ms: 120_000,
            session_idle_ms: Some(300_000),
            session_max_ms: Some(1_800_000),
            session_first_ms: 30_000,
            heartbeat_timeout_ms: 150_000,
            on_absence: OnAbsence::Keep,
            ticket_max_ms: DAY_MS,
            join_limits: Vec::new(),
            webhooks: false,
            slots: Vec::new(),
            slot_grace_ms: slot_grace_ms(),
            roster: false,
            classes: Vec::new(),
            class_order: ClassOrder::Skip,
            class_share: whole(),
            adaptive: None,
            schedule: Vec::new(),
        }
    }
}

impl Settings {
    /// These, with what operators have set instead. What is not of the line is left to others.
    ///
    /// # Errors
    /// What can't be a setting's value.
    pub(super) fn checked_with(&self, overrides: &Overrides) -> Result<Settings, String> {
        let mut settings = self.clone();
        for (name, set) in &overrides.set {
            let value = set.value.as_str();
            match name.as_str() {
                "mode" => settings.mode = read(value)?,
                "pace" => settings.pace = read(value)?,
                "max_active" => settings.max_active = read(value)?,
                "max_waiting" => settings.max_waiting = read(value)?,
                "claim_window_ms" => settings.claim_window_ms = read(value)?,
                "session_idle_ms" => settings.session_idle_ms = Some(read(value)?),
                "session_max_ms" => settings.session_max_ms = Some(read(value)?),
                "heartbeat_timeout_ms" => settings.heartbeat_timeout_ms = read(value)?,
                "webhooks" => settings.webhooks = read(value)?,
                "adaptive" => settings.adaptive = read(value)?,
                "schedule" => settings.schedule = read(value)?,
                _ => _ = read::<serde_json::Value>(value)?,
            }
        }
        if let Some(boost) = overrides.get(BOOST) {
            settings.pace = read(boost)?;
            settings.adaptive = None; // A boost is somebody's word that the origin bears it.
        }
        Ok(settings)
    }

    /// These, with what operators have set instead, which was checked before it was.
    pub fn with(&self, overrides: &Overrides) -> Settings {
        self.checked_with(overrides).unwrap_or_else(|_| self.clone())
    }

    /// Turns in a thousand seconds, as far as a pace says.
    pub(super) fn rate_per_1000s(&self) -> u64 {
        match self.pace {
            None => NO_RATE,
            Some(Pace::Rate { rate, .. }) => rate.count * 1_000_000 / rate.per_ms,
            Some(Pace::Batch { batch, interval_ms, .. }) => batch * 1_000_000 / interval_ms,
        }
    }

    /// The claim window in force: a batch's turns stay open for `windows` intervals.
    pub fn claim_window_ms(&self) -> u64 {
        match self.pace {
            Some(Pace::Batch { interval_ms, windows, .. }) => interval_ms * windows,
            _ => self.claim_window_ms,
        }
    }

    /// How long a seat lasts from its last activity on.
    pub fn session_ms(&self) -> u64 {
        match (self.session_idle_ms, self.session_max_ms) {
            (Some(idle), Some(max)) => idle.min(max),
            (Some(only), None) | (None, Some(only)) => only,
            (None, None) => 0, // out of range: `problems` says so
        }
    }

    /// How many may be inside at once: never more than there are slots.
    pub fn seats(&self) -> Option<u64> {
        match self.slots.len() as u64 {
            0 => self.max_active,
            slots => Some(self.max_active.map_or(slots, |seats| seats.min(slots))),
        }
    }

    /// A visitor is seen once a period or more often; two silent periods make an absence.
    pub fn period_ms(&self) -> u64 {
        self.heartbeat_timeout_ms / 2
    }

    /// Every value out of range; empty when these settings can be used.
    pub fn problems(&self) -> Vec<OutOfRange> {
        let mut found = Vec::new();
        let mut range = |name: &str, value: u64, low: u64, high: u64, why: &str| {
            if !(low..=high).contains(&value) {
                let (name, why) = (name.to_owned(), why.to_owned());
                found.push(OutOfRange { name, value, low, high, why });
            }
        };
        match self.pace {
            Some(Pace::Rate { rate, burst }) => {
                range("rate.count", rate.count, 0, MAX_COUNT, "a faster room needs no line");
                range(
                    "rate.per_ms",
                    rate.per_ms,
                    1,
                    DAY_MS,
                    "a rate needs a time of a day or less",
                );
                range("burst", burst, 1, MAX_COUNT, "a bucket without depth lets nobody in");
            }
            Some(Pace::Batch { batch, interval_ms, windows }) => {
                range("batch", batch, 1, MAX_COUNT, "an empty batch lets nobody in");
                range(
                    "interval",
                    interval_ms,
                    1_000,
                    DAY_MS,
                    "a node asks at most every half second",
                );
                range("windows", windows, 1, 100, "a turn needs a window to be taken in");
                range(
                    "windows x interval",
                    interval_ms.saturating_mul(windows),
                    1_000,
                    DAY_MS,
                    "it is the claim window, and a turn nobody takes would block a seat that long",
                );
            }
            None => {}
        }
        if let Some(adaptive) = self.adaptive {
            let Adaptive { target_ms, max_errors, min, completes, .. } = adaptive;
            range("target_p95", target_ms, 1, 60_000, "a visitor waits no longer for a page");
            range("max_error_ratio", max_errors, 1, 1_000, "a share of all answers");
            range("completion_ratio", completes, 1, 1_000, "a share of visitors");
            range("rate_min", min.per_ms, 1, HOUR_MS, "an origin that nobody asks tells nothing");
            let most = min.per_ms.saturating_mul(1_000).min(MAX_COUNT);
            range("rate_min", min.count, 1, most, "the floor must let somebody in, and few");
        }
        if let Some(seats) = self.max_active {
            range("max_active", seats, 1, u64::from(u32::MAX), "nobody could ever enter");
        }
        range(
            "claim_window",
            self.claim_window_ms,
            1_000,
            DAY_MS,
            "a page needs a moment to come in",
        );
        match (self.session_idle_ms, self.session_max_ms) {
            (None, None) => {
                let why = "set session_idle, session_max or both: a seat must end some time";
                range("session_idle", 0, 1_000, 30 * DAY_MS, why);
            }
            (idle, max) => {
                for (name, value) in [("session_idle", idle), ("session_max", max)] {
                    if let Some(ms) = value {
                        range(
                            name,
                            ms,
                            1_000,
                            30 * DAY_MS,
                            "a pass must outlive the page it opens",
                        );
                    }
                }
            }
        }
        let first = self.session_first_ms;
        range(
            "session_first",
            first,
            1_000,
            HOUR_MS,
            "the browser must have time to come back once",
        );
        range(
            "heartbeat_timeout",
            self.heartbeat_timeout_ms,
            5_000,
            DAY_MS,
            "half of it is the period in which every waiting visitor must be heard of once",
        );
        range("ticket_max", self.ticket_max_ms, 60_000, 30 * DAY_MS, "the line must fit into it");
        range("slots", self.slots.len() as u64, 0, SLOTS_MAX, "use max_active for more seats");
        for (nth, slot) in self.slots.iter().enumerate() {
            let bytes = slot.len() as u64;
            range("slots: a name's bytes", bytes, 1, SLOT_BYTES, "it goes into a header");
            let before = self.slots[..nth].iter().filter(|other| *other == slot).count() as u64;
            range("slots: seats of one name", 1 + before, 1, 1, "a slot is one seat");
        }
        let grace_ms = self.slot_grace_ms;
        range("slot_grace", grace_ms, 1_000, HOUR_MS, "a page that is loaded anew takes a moment");
        if self.roster {
            let why = "everybody is shown everybody's name";
            range("max_waiting", self.max_waiting.unwrap_or(u64::MAX), 0, ROSTER_MAX, why);
            range("max_active", self.seats().unwrap_or(u64::MAX), 1, ROSTER_MAX, why);
        }
        for limit in &self.join_limits {
            let name = format!("limits.join_per_{}", limit.subject.name());
            range(&name, limit.max, 1, MAX_COUNT, "use mode = \"closed\" to refuse everybody");
            range(&name, limit.per_ms, 1_000, DAY_MS, "a limit needs a time of a day or less");
        }
        let count = self.classes.len() as u64;
        range("classes", count, 0, MAX_CLASSES, "nobody could tell them apart");
        for class in &self.classes {
            let name = |what: &str| format!("classes.{}{what}", class.name);
            let length = class.name.len() as u64;
            range(&name(""), length, 1, MAX_NAME, "that is the length of its name");
            range(
                &name(".skip"),
                class.skip,
                0,
                1_000,
                "more than the whole line can't be skipped",
            );
            range(&name(".rank"), class.rank, 0, RANK_MAX, "one digit ranks");
        }
        range("class_share", self.class_share, 0, 1_000, "it is a part of all turns");
        self.schedule_problems(&mut found);
        found
    }
}

fn read<T: serde::de::DeserializeOwned>(value: &str) -> Result<T, String> {
    serde_json::from_str(value).map_err(|error| error.to_string())
}

impl Subject {
    /// The word in configuration, logs and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Subject::Address => "address",
            Subject::Device => "device",
            Subject::User => "user",
        }
    }
}
