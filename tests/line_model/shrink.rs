//! From a run that fails to the shortest one that does, and its words.

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::steps::{Plan, Step};
use super::subject::Subject;
use super::tally::Tally;
use super::world::{Judges, World};

/// Making a run short is worth so much time.
const PATIENCE: Duration = Duration::from_secs(60);

/// Why and where a run failed.
pub(super) struct Failure {
    pub(super) step: usize,
    pub(super) why: String,
}

/// Runs a plan to its end, or to the first thing that is wrong.
pub(super) fn run(plan: &Plan, subject: &Subject, judges: Judges) -> Result<Tally, Failure> {
    let mut world = World::new(plan, subject, judges);
    for (index, step) in plan.steps.iter().enumerate() {
        let outcome = catch_unwind(AssertUnwindSafe(|| world.step(step)));
        let why = match outcome {
            Ok(Ok(())) => continue,
            Ok(Err(why)) => why,
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                let text =
                    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                format!("a panic: {}", text.unwrap_or_default())
            }
        };
        return Err(Failure { step: index, why });
    }
    Ok(world.into_tally())
}

/// Which steps of a plan are kept, and which items of each: what `ANTEROOM_MODEL_KEEP` says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Keep(Vec<(usize, Vec<usize>)>);

impl Keep {
    pub(super) fn all(plan: &Plan) -> Keep {
        let items = |step: &Step| match step {
            Step::Exchange { items, .. } => (0..items.len()).collect(),
            _ => Vec::new(),
        };
        Keep(plan.steps.iter().map(items).enumerate().collect())
    }

    /// Reads `3,7:0+2,9`: step 3 without items, items 0 and 2 of step 7, step 9.
    pub(super) fn parse(text: &str) -> Option<Keep> {
        let step = |part: &str| {
            let (step, items) = part.split_once(':').unwrap_or((part, ""));
            let items = items.split('+').filter(|item| !item.is_empty());
            Some((
                step.trim().parse().ok()?,
                items.map(|item| item.parse().ok()).collect::<Option<_>>()?,
            ))
        };
        text.split(',').map(step).collect::<Option<_>>().map(Keep)
    }

    fn text(&self) -> String {
        let step = |(step, items): &(usize, Vec<usize>)| {
            let items: Vec<String> = items.iter().map(usize::to_string).collect();
            if items.is_empty() { step.to_string() } else { format!("{step}:{}", items.join("+")) }
        };
        self.0.iter().map(step).collect::<Vec<_>>().join(",")
    }

    /// The plan with nothing else in it.
    pub(super) fn of(&self, plan: &Plan) -> Plan {
        let mut steps = Vec::new();
        for (index, kept) in &self.0 {
            let Some(mut step) = plan.steps.get(*index).cloned() else {
                continue;
            };
            if let Step::Exchange { items, .. } = &mut step {
                *items = kept.iter().filter_map(|item| items.get(*item).cloned()).collect();
            }
            steps.push(step);
        }
        Plan { steps, ..plan.clone() }
    }
}

/// Takes away whatever the failure does not need: halves, quarters, … single steps, then items.
pub(super) fn shrink(
    plan: &Plan,
    failed_at: usize,
    subject: &Subject,
    judges: Judges,
) -> (Keep, Failure) {
    let until = Instant::now() + PATIENCE;
    let mut keep = Keep::all(plan);
    keep.0.truncate(failed_at + 1);
    let mut failure = Failure { step: failed_at, why: String::new() };
    let mut fails = |candidate: &Keep| match run(&candidate.of(plan), subject, judges) {
        Err(found) if Instant::now() < until => {
            failure = found;
            true
        }
        _ => false,
    };
    fails(&keep);
    let mut chunk = keep.0.len().div_ceil(2);
    while chunk > 0 && Instant::now() < until {
        let mut start = 0;
        let mut removed = false;
        while start < keep.0.len() {
            let mut fewer = keep.clone();
            fewer.0.drain(start..(start + chunk).min(keep.0.len()));
            if fails(&fewer) {
                keep = fewer;
                removed = true;
            } else {
                start += chunk;
            }
        }
        if chunk > 1 {
            chunk = chunk.div_ceil(2);
        } else if !removed {
            break;
        }
    }
    for step in 0..keep.0.len() {
        for item in (0..keep.0[step].1.len()).rev() {
            let mut fewer = keep.clone();
            fewer.0[step].1.remove(item);
            if fails(&fewer) {
                keep = fewer;
            }
        }
    }
    (keep, failure)
}

/// All that is needed to see it again.
pub(super) fn report(plan: &Plan, kind: &str, keep: &Keep, failure: &Failure) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "seed {} ({kind}) fails after {} steps: {}",
        plan.seed,
        keep.0.len(),
        failure.why
    );
    let _ = writeln!(text, "{:?}", plan.room);
    for (index, step) in keep.of(plan).steps.iter().enumerate() {
        let _ = writeln!(text, "{index:3}. {step:?}");
    }
    let steps = plan.steps.len();
    let _ = writeln!(
        text,
        "again: ANTEROOM_MODEL_SEED={} ANTEROOM_MODEL_STEPS={steps} ANTEROOM_MODEL_KEEP={} cargo test --test main line_model::{kind}",
        plan.seed,
        keep.text()
    );
    text
}
