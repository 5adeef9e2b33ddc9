//! The line does what its model does, and what was promised to visitors, whatever happens.
//!
//! Seeded random runs of a room: nodes with views, tickets in browsers, a store that may lose its
//! memory. After every exchange the line is compared with [`crate::model`] (answers, counters, the
//! standing of every number), its invariants are checked, and so are [`promises`], which know nothing
//! of the rules. A run that fails is made short and printed.
//!
//! | variable | |
//! |---|---|
//! | `ANTEROOM_MODEL_SEED` | runs this seed alone |
//! | `ANTEROOM_MODEL_RUNS` | so many times as many seeds |
//! | `ANTEROOM_MODEL_STEPS` | steps a run |
//! | `ANTEROOM_MODEL_KEEP` | with a seed: only these of its steps, as a failure prints them |
//! | `ANTEROOM_MODEL_TRACE` | prints every batch and its reply |

mod batches;
mod changes;
mod compare;
mod flaws;
mod generate;
mod keys;
mod mirror;
mod node;
mod promises;
mod redis;
mod rng;
mod scenarios;
mod script;
mod shrink;
mod steps;
mod subject;
mod tally;
mod world;

use std::time::Instant;

use generate::{Size, plan};
use shrink::{Keep, report, run, shrink};
use subject::Subject;
use tally::Tally;
use world::Judges;

fn variable<T: std::str::FromStr>(name: &str) -> Option<T> {
    let text = std::env::var(format!("ANTEROOM_MODEL_{name}")).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("ANTEROOM_MODEL_{name}={text} can't be read")))
}

/// Runs seeds of one kind; panics with the shortest failing run. Every rule named must be reached.
fn judge(
    kind: &str,
    line: Subject,
    (size, losses): (Size, bool),
    (runs, steps): (u64, usize),
    rules: &[&str],
) {
    let steps = variable("STEPS").unwrap_or(steps);
    let only: Option<u64> = variable("SEED");
    let keep: Option<String> = variable("KEEP");
    let seeds = only.map_or(0..runs * variable("RUNS").unwrap_or(1), |seed| seed..seed + 1);
    let (started, mut total) = (Instant::now(), Tally::default());
    for seed in seeds {
        let mut plan = plan(seed, size, losses, steps);
        if let Some(keep) = &keep {
            plan = Keep::parse(keep).expect("ANTEROOM_MODEL_KEEP as a failure prints it").of(&plan);
        }
        match run(&plan, &line, Judges::All) {
            Ok(tally) => total.join(tally),
            Err(failure) => {
                let (keep, failure) = shrink(&plan, failure.step, &line, Judges::All);
                panic!("{}", report(&plan, kind, &keep, &failure));
            }
        }
    }
    let exchanges = total.of("exchanges");
    println!(
        "{kind}: {exchanges} exchanges, {:.0} a second",
        exchanges as f64 / started.elapsed().as_secs_f64()
    );
    println!("{total}");
    for rule in rules.iter().filter(|_| only.is_none()) {
        assert!(total.of(rule) > 0, "{kind}: no run reached \"{rule}\"");
    }
}

/// What runs in tiny rooms must reach, and so on.
const TINY: &[&str] = &[
    "resumed",
    "a seat was taken back",
    "a seat was kept by the wall clock",
    "a pass that had run out was renewed",
    "capped when renewed",
    "capped",
    "idle",
    "an ending was forgotten",
    "spent again",
    "spent, and no seat known",
    "a spend was kept for its seat",
    "a spend was forgotten",
    "to the head",
    "vouched for, though lapsed",
    "back by joining again",
    "again as another user",
    "again as the same user",
    "an app entered at once",
    "too many joins",
    "strayed",
    "a strayed one came back",
    "strayed and lapsed",
    "called by hand",
    "called and late",
    "called and silent",
    "swept",
    "swept while admitted",
    "lapsed",
    "an admitted one left",
    "paid back by rate",
    "paid back by batch",
    "paid ahead by rate",
    "paid ahead by batch",
    "taken off",
    "forgiven by rate",
    "forgiven by batch",
    "a waiting claim entered",
    "a claim went stale on its way",
    "a slot was given",
    "resumed in the same slot",
    "another slot than before",
    "a slot came back",
    "hung up, and left",
    "hung up, and heard of again",
    "requeued",
    "came for their number at the end",
    "named",
    "a name was taken",
    "a name went along",
    "extended",
    "extended by order",
    "a node was forgotten",
    "another order under the same key",
    "an order came again",
    "set",
    "let in by bypass",
    "would have waited",
    "a shadow's seat became free",
    "a shadow's line was full",
    "promised",
    "drawn",
    "drawn as promised",
    "drawn on hold",
    "drawn, though some still waited",
    "a draw waits for its seed",
    "an opening was moved",
    "a pre-queue was put off",
    "opened without its draw",
    "an opening was brought forward",
    "of a time before the draw",
    "a drawn one joined again",
    "a drawn one was over",
    "set for a time",
    "what was set for a time ended",
    "joined with a class",
    "one of a class was called",
    "one of a class had to share",
    "called in strict order",
    "one of a class strayed",
    "one of a class came back",
    "one of a class strayed and lapsed",
    "one of a class joined again",
    "a class that is none",
    "an invite was used",
    "an invite was over",
    "an invite was revoked",
    "a revoked invite came",
    "a spent invite came",
    "Repeated",
    "Superseded",
    "Unconfigured",
    "the rate grew",
    "the rate fell",
    "the rate fell by errors",
    "the origin failed",
    "the origin was silent",
    "an origin that had failed is tried again",
    "the rate followed completions",
    "a window stayed open for want of requests",
];
const SMALL: &[&str] = &["cut short by a full line"];
const MEDIUM: &[&str] = &["as many seats ended as may"];
const HUGE: &[&str] = &["base moved", "as many entered as may"];
/// The first is one run in fifty's: those in Redis, which are fewer, need not reach it.
const LOSSES: &[&str] = &[
    "healed",
    "losses",
    "settled",
    "a report was merged",
    "a node had more to say",
    "a later epoch was known",
    "a later frontier was known",
    "seats found missing",
    "missing seats were forgotten",
    "what was set came back from a node",
    "a name came back from a node",
    "no slot while seats are missing",
    "a slot came back, others missing",
    "one of a class was brought back",
    "draws came back from a node",
];

#[test]
fn tiny_rooms() {
    judge("tiny_rooms", Subject::new(None), (Size::Tiny, false), (300, 150), TINY);
}

#[test]
fn small_rooms() {
    judge("small_rooms", Subject::new(None), (Size::Small, false), (300, 150), SMALL);
}

#[test]
fn medium_rooms() {
    judge("medium_rooms", Subject::new(None), (Size::Medium, false), (40, 100), MEDIUM);
}

#[test]
fn huge_rooms() {
    judge("huge_rooms", Subject::new(None), (Size::Huge, false), (10, 60), HUGE);
}

#[test]
fn rooms_that_lose_their_memory() {
    let (name, size) = ("rooms_that_lose_their_memory", Size::Small);
    judge(name, Subject::new(None), (size, true), (400, 100), LOSSES);
}
