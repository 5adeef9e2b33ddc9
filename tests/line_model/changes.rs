//! Settings for a room, and what an operator changes about them while people wait. Times are as short
//! as their ranges allow, so that a run of a few minutes sees them pass.

use anteroom::line::{
    Adaptive, Class, ClassOrder, Event, JoinLimit, Mode, OnAbsence, Pace, Rate, Settings, Signal,
    Subject,
};

use super::generate::Size;
use super::rng::Rng;
use super::steps::Change;

/// What a room starts with.
pub(super) fn settings(rng: &mut Rng, size: Size) -> Settings {
    let mut settings = Settings::default();
    Change::Session(Some(5_000), Some(20_000)).make(&mut settings);
    for _ in 0..24 {
        let mut changed = settings.clone();
        change(rng, size).make(&mut changed);
        if changed.problems().is_empty() {
            settings = changed;
        }
    }
    if rng.one_in(30) {
        settings.max_active = Some(0); // refused: a line without settings, until an offer mends it
    }
    if rng.below(4) > 0 {
        settings.mode = Mode::Auto;
    }
    if size == Size::Huge && rng.one_in(2) {
        // Everybody is called at once and nobody comes: the line is dead behind, and `base` moves.
        settings.pace = None;
        (settings.mode, settings.max_active, settings.max_waiting) = (Mode::Auto, None, None);
        settings.claim_window_ms = 1_000;
    }
    settings
}

/// One setting, changed.
pub(super) fn change(rng: &mut Rng, size: Size) -> Change {
    let big = matches!(size, Size::Medium | Size::Huge);
    match rng.below(39) {
        32..=33 => Change::Classes(classes(rng)),
        34 => {
            Change::ClassOrder(rng.pick(&[ClassOrder::Skip, ClassOrder::Skip, ClassOrder::Strict]))
        }
        35..=36 => Change::ClassShare(rng.pick(&[1_000, 1_000, 500, 333, 100, 0, 999])),
        0 => Change::Nothing,
        1 => {
            Change::Mode(rng.pick(&[Mode::Auto, Mode::Auto, Mode::Hold, Mode::Drain, Mode::Closed]))
        }
        2..=6 => Change::Pace(pace(rng, big)),
        7..=9 => {
            let seats = if big { [1, 300, 5_000, 1_000_000] } else { [1, 2, 5, 30] };
            Change::MaxActive(rng.below(3).checked_sub(1).map(|_| rng.pick(&seats)))
        }
        10 => {
            let most = if big { [0, 1_000, 200_000, 3_000_000] } else { [0, 3, 20, 100] };
            Change::MaxWaiting((rng.below(3) == 0).then(|| rng.pick(&most)))
        }
        11..=12 => Change::ClaimWindow(rng.pick(&[1_000, 1_001, 3_000, 10_000, 30_000])),
        13..=15 => {
            let ms = [1_000, 2_500, 4_000, 15_000];
            let (idle, max) = (rng.pick(&ms), rng.pick(&ms) * rng.range(1, 4));
            let which = rng.below(6);
            Change::Session((which != 0).then_some(idle), (which != 1).then_some(max))
        }
        16 => Change::SessionFirst(rng.pick(&[1_000, 1_500, 6_000, 60_000])),
        17..=19 => Change::Heartbeat(rng.pick(&[5_000, 5_001, 8_000, 12_000, 30_000])),
        20..=21 => {
            Change::OnAbsence(rng.pick(&[OnAbsence::Keep, OnAbsence::Keep, OnAbsence::Remove]))
        }
        22..=25 => {
            // The longest time is the same for all: a line need not count for longer than it is told to.
            let mut limits = vec![JoinLimit {
                subject: Subject::Address,
                max: rng.range(1, 20),
                per_ms: 20_000,
            }];
            for subject in [Subject::Address, Subject::Device, Subject::User] {
                if rng.one_in(2) {
                    let (max, per_ms) = (rng.range(1, 6), rng.pick(&[1_000, 3_000, 20_000]));
                    let per_ms = if subject == Subject::Address { 3_000 } else { per_ms };
                    limits.push(JoinLimit { subject, max, per_ms });
                }
            }
            Change::Limits(limits)
        }
        26 => Change::Webhooks(rng.below(3) > 0),
        27..=28 if !big => {
            Change::Slots(rng.pick(&[0, 1, 2, 2, 3, 5]), rng.pick(&[1_000, 1_500, 4_000]))
        }
        29..=30 if !big => Change::Roster(rng.below(4) > 0),
        37..=38 => Change::Adaptive(adaptive(rng)),
        _ => rng.pick(&[
            Change::ClaimWindow(0),
            Change::MaxActive(Some(0)),
            Change::Heartbeat(4_999),
            Change::Session(None, None),
            Change::SessionFirst(0),
            Change::Slots(65, 1_000),
            Change::Slots(2, 0),
            Change::ClassShare(1_001),
            Change::Adaptive(Some(Adaptive { completes: 0, ..STEERED })),
            Change::Nothing,
            Change::Nothing,
        ]),
    }
}

/// One setting, set by an operator or taken back: its name, its value as JSON, and for how long.
pub(super) fn override_(rng: &mut Rng, size: Size) -> (&'static str, Option<String>, u64) {
    let text = |value: serde_json::Value| Some(value.to_string());
    let json = |pace: Option<Pace>| serde_json::to_string(&pace).ok();
    let big = matches!(size, Size::Medium | Size::Huge);
    let ms = [1_000, 2_500, 4_000, 15_000];
    let (name, value) = match rng.below(11) {
        0 => (
            "mode",
            serde_json::to_string(&rng.pick(&[
                Mode::Auto,
                Mode::Hold,
                Mode::Bypass,
                Mode::Shadow,
                Mode::Shadow,
            ]))
            .ok(),
        ),
        1 => ("pace", json(pace(rng, big))),
        2 => ("boost", json(pace(rng, big))),
        3 => (
            "max_active",
            text(if rng.one_in(3) { ().into() } else { rng.pick(&[1, 2, 30]).into() }),
        ),
        4 => {
            ("max_waiting", text(if rng.one_in(3) { ().into() } else { rng.pick(&[3, 20]).into() }))
        }
        5 => ("session_idle_ms", text(rng.pick(&ms).into())),
        6 => ("session_max_ms", text((rng.pick(&ms) * 3).into())),
        7 => ("heartbeat_timeout_ms", text(rng.pick(&[5_000, 8_000, 12_000]).into())),
        9 => ("adaptive", serde_json::to_string(&adaptive(rng)).ok()),
        8 => ("webhooks", text((rng.below(3) > 0).into())),
        _ => ("message", text("Back at \"ten\" / elf Uhr \u{e9}".into())),
    };
    let for_ms = if name == "boost" || rng.one_in(4) { rng.pick(&[500, 3_000, 20_000]) } else { 0 };
    (name, value.filter(|_| !rng.one_in(3)), for_ms)
}

/// Up to four, the fifth name is never one of them.
fn classes(rng: &mut Rng) -> Vec<Class> {
    let class = |rng: &mut Rng, nth: u64| Class {
        name: format!("class-{nth}"),
        skip: rng.pick(&[0, 100, 333, 500, 500, 1_000, 1_000]),
        rank: rng.pick(&[0, 0, 1, 2, 9]),
    };
    (0..rng.range(1, 4)).map(|nth| class(rng, nth)).collect()
}

pub(super) const STEERED: Adaptive = Adaptive {
    signal: Signal::Latency,
    target_ms: 500,
    max_errors: 50,
    min: Rate { count: 1, per_ms: 1_000 },
    completes: 1_000,
};

/// The rate follows the origin, mostly.
fn adaptive(rng: &mut Rng) -> Option<Adaptive> {
    let min = Rate { count: rng.pick(&[1, 1, 20]), per_ms: rng.pick(&[500, 1_000, 60_000]) };
    let signal = rng.pick(&[Signal::Latency, Signal::Latency, Signal::Completions]);
    let (target_ms, max_errors) = (rng.pick(&[3, 500, 60_000]), rng.pick(&[1, 50, 600]));
    let completes = rng.pick(&[1, 500, 1_000]);
    (rng.below(4) > 0).then_some(Adaptive { signal, target_ms, max_errors, min, completes })
}

/// Events of a room whose run begins at `start`: some before it, some during it.
pub(super) fn schedule(rng: &mut Rng, start: u64) -> Vec<Event> {
    let event = |rng: &mut Rng| {
        let opens_ms = (start + rng.range(0, 150_000)).saturating_sub(20_000).max(1);
        let prequeue_ms = rng.pick(&[0, 5_000, 20_000, 60_000]).min(opens_ms);
        let lasts = rng.pick(&[5_000, 20_000, 60_000]);
        let every_ms = rng.one_in(2).then(|| (prequeue_ms + lasts).max(60_000));
        let closes = every_ms.is_some() || rng.one_in(3);
        let closes_ms = closes.then_some(opens_ms + lasts);
        Event { opens_ms, prequeue_ms, draw: rng.below(4) > 0, closes_ms, every_ms }
    };
    (0..rng.pick(&[0, 1, 1, 1, 2, 3])).map(|_| event(rng)).collect()
}

fn pace(rng: &mut Rng, big: bool) -> Option<Pace> {
    let turns: &[u64] = if big { &[1, 200, 5_000, 1_000_000] } else { &[1, 2, 3, 10] };
    match rng.below(8) {
        0..=1 => None,
        2..=5 => {
            let count = if rng.one_in(10) { 0 } else { rng.pick(turns) };
            let rate = Rate { count, per_ms: rng.pick(&[1, 700, 1_000, 1_000, 5_000]) };
            Some(Pace::Rate { rate, burst: rng.pick(turns) })
        }
        _ => {
            let (interval_ms, windows) = (rng.pick(&[1_000, 2_500, 7_000]), rng.range(1, 3));
            Some(Pace::Batch { batch: rng.pick(turns), interval_ms, windows })
        }
    }
}
