//! A room's line: who waits, who enters when. Every rule between two of its settings.

use super::Check;
use crate::config::file::{Burst, Limit, Room};
use crate::config::report::Written;
use crate::line::{Adaptive, JoinLimit, OutOfRange, Pace, Rate, Settings, Signal, Subject};
use crate::units::{grouped, span};

/// Browsers wake a tab in the background once a minute; with a slow network and a busy machine it takes more.
const HIDDEN_TAB_MS: u64 = 60_000;

/// Below it, `heartbeat_timeout` forgets people whose tab was only in the background.
const QUIET_HEARTBEAT_MS: u64 = 90_000;

const POLL_MAX_MS: u64 = 30_000;

const MINUTE_MS: u64 = 60_000;
const DAY_MS: u64 = 86_400_000;

/// More is no limit: a number that the line counts to.
const MOST_PLACES: u64 = 1_000_000;

/// A batch where nothing more is said: two windows of ten seconds.
const INTERVAL_MS: u64 = 10_000;
const WINDOWS: u64 = 2;

const HOUR_MS: u64 = 3_600_000;

/// A rate that follows the origin, where nothing more is said: answers within half a second, one error in twenty, never below a
/// twentieth of the rate.
const TARGET_P95_MS: u64 = 500;
const MAX_ERRORS: u64 = 50;
const FLOOR_PART: u64 = 20;

impl Check<'_> {
    /// The line's settings, and how far apart polls may be.
    pub(super) fn line(&self, room: &Room) -> (Settings, u64) {
        let usual = Settings::default();
        let value = |written: &Option<Written<u64>>, usual: u64| {
            written.as_ref().map_or(usual, |w| w.value)
        };
        let mut line = Settings {
            classes: self.classes(room),
            class_order: room.class_order.as_ref().map_or(usual.class_order, |order| order.value),
            class_share: value(&room.class_share, usual.class_share),
            mode: room.mode.as_ref().map_or(usual.mode, |mode| mode.value),
            pace: self.pace(room),
            max_active: room.max_active.as_ref().map(|seats| seats.value),
            max_waiting: room.max_waiting.as_ref().map_or(usual.max_waiting, |max| max.value),
            claim_window_ms: value(&room.claim_window, usual.claim_window_ms),
            session_idle_ms: room.session_idle.as_ref().map_or(usual.session_idle_ms, |w| w.value),
            session_max_ms: room.session_max.as_ref().map_or(usual.session_max_ms, |w| w.value),
            session_first_ms: usual.session_first_ms,
            heartbeat_timeout_ms: value(&room.heartbeat_timeout, usual.heartbeat_timeout_ms),
            on_absence: room.on_absence.as_ref().map_or(usual.on_absence, |word| word.value),
            ticket_max_ms: value(&room.ticket_max, usual.ticket_max_ms),
            join_limits: join_limits(room),
            webhooks: usual.webhooks,
            slots: Vec::new(),
            slot_grace_ms: value(&room.slot_grace, usual.slot_grace_ms),
            roster: room.roster.as_ref().is_some_and(|roster| roster.value),
            adaptive: self.adaptive(room),
            schedule: self.schedule(room, value(&room.ticket_max, usual.ticket_max_ms)),
        };
        self.slots(room, &mut line);
        self.sessions(room, &mut line, &usual);
        for problem in line.problems() {
            self.out_of_range(room, &problem);
        }
        let poll_max = self.polls(room, &line);
        (line, poll_max)
    }

    /// How many places an address may have: as joins in the life of a ticket, or in the longest time that joins are
    /// counted in.
    pub(super) fn places(&self, room: &Room, ticket_max_ms: u64) -> Option<JoinLimit> {
        let places = room.limits.places_per_address.as_ref().filter(|places| places.value > 0)?;
        if places.value > MOST_PLACES {
            let said = format!("{} is not between 0 and {}", places.said(), grouped(MOST_PLACES));
            self.report.problem(said, "it would never stop anybody. Write 0 for no limit");
            return None;
        }
        let per_ms = ticket_max_ms.clamp(MINUTE_MS, DAY_MS);
        Some(JoinLimit { subject: Subject::Address, max: places.value, per_ms })
    }

    /// A smooth rate, batches, or neither.
    fn pace(&self, room: &Room) -> Option<Pace> {
        let path = &room.path;
        if let (Some(rate), Some(batch)) = (&room.rate, &room.batch) {
            let means = "a line has one pace. Keep rate, or keep batch with interval and windows";
            self.report.problem(
                format!("{} and {} exclude each other", rate.said(), batch.briefly()),
                means,
            );
        }
        if room.batch.is_none() && !room.spoils(&["batch"]) {
            let interval = room.interval.as_ref().map(Written::said);
            for said in interval.into_iter().chain(room.windows.as_ref().map(Written::said)) {
                let means =
                    "it is about batches, and there is none. Write batch = 50, or remove it";
                self.report.problem(format!("{said} has no effect"), means);
            }
        }
        if let Some(burst) = &room.burst
            && room.rate.is_none()
            && !room.spoils(&["rate"])
        {
            let means = "it is the depth of a rate's bucket, and there is no rate. Write rate = \"5/s\", or remove it";
            self.report.problem(format!("{} has no effect", burst.said()), means);
        }
        if let Some(rate) = &room.rate {
            return Some(Pace::Rate { rate: rate.value, burst: self.burst(room, rate.value) });
        }
        let batch = room.batch.as_ref()?;
        if let Some(claim) = &room.claim_window {
            let means = format!(
                "with batches a turn stays open for windows x interval. Remove it from {path}"
            );
            self.report.warn(format!("{} has no effect", claim.said()), means);
        }
        let interval_ms = room.interval.as_ref().map_or(INTERVAL_MS, |interval| interval.value);
        let windows = room.windows.as_ref().map_or(WINDOWS, |windows| windows.value);
        Some(Pace::Batch { batch: batch.value, interval_ms, windows })
    }

    /// What the rate follows, with the rate that was set as its ceiling.
    fn adaptive(&self, room: &Room) -> Option<Adaptive> {
        let Some(written) = &room.adaptive else {
            if let Some(floor) = &room.rate_min {
                let means = "it is the floor of a rate that follows the origin. Write [rooms.NAME.adaptive], or remove it";
                self.report.problem(format!("{} has no effect", floor.said()), means);
            }
            return None;
        };
        let Some(rate) = &room.rate else {
            if !room.spoils(&["rate"]) {
                let means = "there is no rate that could be lowered. Write rate = \"50/s\": it is the most that is released";
                self.report.problem(format!("{} has no effect", written.path), means);
            }
            return None;
        };
        let Rate { count, per_ms } = rate.value;
        if count == 0 {
            let means =
                "it is the ceiling of a rate that follows the origin. Raise it, or remove adaptive";
            self.report.problem(format!("{} releases nobody", rate.said()), means);
            return None;
        }
        let signal = written.signal.as_ref().map_or(Signal::Latency, |signal| signal.value);
        if let Some(share) = &written.completion_ratio
            && signal == Signal::Latency
        {
            let means = "it is about completions. Write signal = \"completions\", or remove it";
            self.report.problem(format!("{} has no effect", share.said()), means);
        }
        if let Some(floor) = &room.rate_min
            && u128::from(floor.value.count) * u128::from(per_ms)
                > u128::from(count) * u128::from(floor.value.per_ms)
        {
            let means = "the floor lies below the ceiling. Lower it, or raise rate";
            self.report.problem(format!("{} is more than {}", floor.said(), rate.briefly()), means);
            return None;
        }
        let usual = Rate { count, per_ms: (per_ms * FLOOR_PART).min(HOUR_MS) };
        let value = |written: &Option<Written<u64>>, usual: u64| {
            written.as_ref().map_or(usual, |written| written.value)
        };
        Some(Adaptive {
            signal,
            target_ms: value(&written.target_p95, TARGET_P95_MS),
            max_errors: value(&written.max_error_ratio, MAX_ERRORS),
            min: room.rate_min.as_ref().map_or(usual, |floor| floor.value),
            completes: value(&written.completion_ratio, 1_000),
        })
    }

    /// One second of the rate, at least 1, unless something else is written.
    fn burst(&self, room: &Room, rate: Rate) -> u64 {
        let second = u128::from(rate.count) * 1_000 / u128::from(rate.per_ms.max(1));
        let usual = u64::try_from(second).unwrap_or(u64::MAX).max(1);
        match &room.burst {
            None => usual,
            Some(Written { value: Burst::Turns(turns), .. }) => *turns,
            Some(burst @ Written { value: Burst::MaxActive, .. }) => match &room.max_active {
                Some(seats) => seats.value,
                None => {
                    if !room.spoils(&["max_active"]) {
                        let means =
                            "there is no max_active to take it from. Write one, or a number here";
                        self.report.problem(format!("{} has no number", burst.said()), means);
                    }
                    usual
                }
            },
        }
    }

    /// Passes: idle time, absolute time, and the first one of who did not wait.
    fn sessions(&self, room: &Room, line: &mut Settings, usual: &Settings) {
        if line.session_idle_ms.is_none() && line.session_max_ms.is_none() {
            let said = format!("{}.session_idle and session_max are both \"none\"", room.path);
            self.report.problem(said, "a seat must end some time. Write one of them");
            (line.session_idle_ms, line.session_max_ms) =
                (usual.session_idle_ms, usual.session_max_ms);
        }
        let whole = line.session_ms();
        line.session_first_ms = match &room.session_first {
            // Without a word about it, no longer than what it is the first part of.
            None => usual.session_first_ms.min(whole),
            Some(first) => first.value,
        };
        if let Some(first) = &room.session_first
            && first.value > whole
            && !room.spoils(&["session_idle", "session_max"])
        {
            let (name, written) = match line.session_idle_ms {
                Some(idle) if idle == whole => ("session_idle", &room.session_idle),
                _ => ("session_max", &room.session_max),
            };
            let means = format!(
                "who enters without having waited would stay longer than who waited. Lower it to {}",
                span(whole)
            );
            let said =
                format!("{} is longer than {}", first.said(), named(written.as_ref(), name, whole));
            self.report.problem(said, means);
        }
        if let (Some(idle), Some(max)) = (&room.session_idle, line.session_max_ms)
            && idle.value.is_some_and(|idle| idle > max)
            && !room.spoils(&["session_max"])
        {
            let max = named(room.session_max.as_ref(), "session_max", max);
            let means = "every session ends by session_max, whatever its visitor does. Raise session_max, or switch it \
                         off with \"none\"";
            self.report.warn(format!("{} is longer than {max}", idle.said()), means);
        }
    }

    /// How far apart polls may be, judged with all that depends on hearing of a visitor in time.
    fn polls(&self, room: &Room, line: &Settings) -> u64 {
        let heartbeat = line.heartbeat_timeout_ms;
        let claim = match line.pace {
            // Not the line's own product: these two may still be anything.
            Some(Pace::Batch { interval_ms, windows, .. }) => interval_ms.saturating_mul(windows),
            _ => line.claim_window_ms,
        };
        let usual = POLL_MAX_MS.min(heartbeat / 3).min(claim / 2).max(1_000);
        if let Some(written) = &room.heartbeat_timeout
            && written.value < QUIET_HEARTBEAT_MS
        {
            let means = "browsers wake a tab in the background once a minute: who looks at another tab may lose \
                         their place. Raise it to 90s or more";
            self.report.warn(format!("{} is short", written.said()), means);
        }
        if claim < HIDDEN_TAB_MS && !room.spoils(&["claim_window", "interval", "windows"]) {
            let means = "browsers wake a tab in the background once a minute: who looks at another tab may miss \
                         their turn. Raise it to 60s or more";
            self.report.warn(format!("{} is short", claim_said(room, claim)), means);
        }
        let Some(poll) = &room.poll_max else { return usual };
        let why = "a page can't ask more often than that, and more seldom it looks dead";
        if self.within(poll, 1_000, 3_600_000, span, why).is_none() {
            return usual;
        }
        if heartbeat < 3 * poll.value && !room.spoils(&["heartbeat_timeout"]) {
            let cause = "waiting visitors would lose their place between two polls";
            match &room.heartbeat_timeout {
                Some(heartbeat) => self.report.problem(
                    format!("{} is shorter than three times {}", heartbeat.said(), poll.briefly()),
                    format!("{cause}. Raise it to {} or lower poll_max", span(3 * poll.value)),
                ),
                None => self.report.problem(
                    format!(
                        "{} is longer than a third of {}",
                        poll.said(),
                        named::<u64>(None, "heartbeat_timeout", heartbeat)
                    ),
                    format!(
                        "{cause}. Lower it to {} or raise heartbeat_timeout",
                        span(heartbeat / 3)
                    ),
                ),
            }
        }
        if claim < poll.value && !room.spoils(&["claim_window", "interval", "windows"]) {
            let said = format!("{} is longer than {}", poll.said(), claim_briefly(room, claim));
            let means = format!(
                "a turn could be over before its visitor asks again. Lower it to {} or less",
                span(claim / 2)
            );
            self.report.problem(said, means);
        }
        poll.value
    }

    /// A value out of the line's range, in the words of the file.
    fn out_of_range(&self, room: &Room, found: &OutOfRange) {
        if self.odd_event(room, found) {
            return;
        }
        let path = &room.path;
        let count = grouped as fn(u64) -> String;
        fn number<T>(written: &Option<Written<T>>) -> Option<String> {
            written.as_ref().map(Written::said)
        }
        let part = |thousandths: u64| (thousandths as f64 / 1_000.0).to_string();
        let part = part as fn(u64) -> String;
        let (said, show) = match found.name.as_str() {
            "rate.count" | "rate.per_ms" => (number(&room.rate), count),
            "burst" => (number(&room.burst), count),
            "batch" => (number(&room.batch), count),
            "windows" => (number(&room.windows), count),
            "max_active" => (number(&room.max_active), count),
            "interval" => (number(&room.interval), span as _),
            "windows x interval" => {
                (Some(format!("{path}.windows x interval = {}", span(found.value))), span as _)
            }
            "claim_window" => (number(&room.claim_window), span as _),
            "session_idle" => (number(&room.session_idle), span as _),
            "session_max" => (number(&room.session_max), span as _),
            "session_first" => (number(&room.session_first), span as _),
            "heartbeat_timeout" => (number(&room.heartbeat_timeout), span as _),
            "ticket_max" => (number(&room.ticket_max), span as _),
            "slot_grace" => (number(&room.slot_grace), span as _),
            "rate_min" => (number(&room.rate_min), count),
            "target_p95" | "max_error_ratio" | "completion_ratio" => {
                let how = room.adaptive.as_ref();
                let target = how.and_then(|how| number(&how.target_p95));
                match found.name.as_str() {
                    "target_p95" => (target, span as _),
                    "max_error_ratio" => (how.and_then(|how| number(&how.max_error_ratio)), part),
                    _ => (how.and_then(|how| number(&how.completion_ratio)), part),
                }
            }
            limit => {
                let limits = [
                    &room.limits.join_per_address,
                    &room.limits.join_per_device,
                    &room.limits.join_per_user,
                ];
                let all = limits.into_iter().flatten().flatten();
                let mut same =
                    all.filter(|written| written.value.is_some_and(|(max, _)| max == found.value));
                (same.find(|written| written.key.contains(limit)).map(Written::said), count)
            }
        };
        // What is not written has its default, or follows from something that has a problem of its own.
        let Some(said) = said else { return };
        let (low, high) = (show(found.low), show(found.high));
        let what = match found.name.as_str() {
            "rate.count" => format!("counts to more than {high}"),
            "rate.per_ms" => "is slower than one a day".to_owned(),
            "rate_min" => {
                "is 0, slower than one an hour, or faster than a million a second".to_owned()
            }
            _ => format!("is not between {low} and {high}"),
        };
        self.report.problem(format!("{said} {what}"), too_much(found).unwrap_or(&found.why));
    }
}

/// What the line says is about values that are too low. Some that are too high have another reason.
fn too_much(found: &OutOfRange) -> Option<&'static str> {
    let why = match found.name.as_str() {
        "max_active" => "it would never stop anybody. Leave it out for no limit",
        "burst" | "batch" => "a line that lets in so many at once is none",
        "windows" => "a turn would stay open for ever",
        limit if limit.starts_with("limits.") => {
            "it would never stop anybody. Write \"none\" for no limit"
        }
        "claim_window" | "session_idle" | "session_max" | "session_first" | "ticket_max"
        | "heartbeat_timeout" | "slot_grace" => "nobody is remembered for that long",
        _ => return None,
    };
    (found.value > found.high).then_some(why)
}

/// How often one may join: as written, else as by default; `"none"` is no limit.
fn join_limits(room: &Room) -> Vec<JoinLimit> {
    let of = |written: &Option<Vec<Written<Limit>>>, subject, usual: &[(u64, u64)]| {
        let limits: Vec<(u64, u64)> = match written {
            Some(limits) => limits.iter().filter_map(|limit| limit.value).collect(),
            None => usual.to_vec(),
        };
        limits.into_iter().map(move |(max, per_ms)| JoinLimit { subject, max, per_ms })
    };
    let limits = &room.limits;
    of(&limits.join_per_address, Subject::Address, &[(20, MINUTE_MS)])
        .chain(of(&limits.join_per_device, Subject::Device, &[(5, MINUTE_MS)]))
        .chain(of(&limits.join_per_user, Subject::User, &[(10, MINUTE_MS), (30, 60 * MINUTE_MS)]))
        .collect()
}

/// `session_idle = "5m"`, or that it is so by default.
fn named<T>(written: Option<&Written<T>>, name: &str, ms: u64) -> String {
    match written {
        Some(written) => written.briefly(),
        None => format!("{name} = \"{}\", its default", span(ms)),
    }
}

/// What makes a turn end, for the beginning of a sentence.
fn claim_said(room: &Room, ms: u64) -> String {
    match (&room.batch, &room.claim_window) {
        (Some(_), _) => format!("{}.windows x interval = {}", room.path, span(ms)),
        (None, Some(claim)) => claim.said(),
        (None, None) => format!("{}.claim_window = \"{}\", its default,", room.path, span(ms)),
    }
}

/// The same, further on in it.
fn claim_briefly(room: &Room, ms: u64) -> String {
    match &room.batch {
        Some(_) => format!("windows x interval = {}", span(ms)),
        None => named(room.claim_window.as_ref(), "claim_window", ms),
    }
}
