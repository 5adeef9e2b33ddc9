//! The judges judged: each flaw is found, by the model and, where visitors would suffer, by the
//! promises alone; and a failure is told in a few steps that fail again.

use super::generate::{Size, plan};
use super::shrink::{Failure, Keep, report, run, shrink};
use super::steps::Plan;
use super::subject::{Flaw, Subject};
use super::world::Judges;

/// The first run in which somebody says this.
fn noticed(flaw: Flaw, judges: Judges, complaint: &str) -> (Plan, Failure) {
    let flawed = Subject::new(Some(flaw));
    let losses = matches!(flaw, Flaw::DeniesLoss | Flaw::IgnoresProofs);
    let found = (0..200).find_map(|seed| {
        let plan = plan(seed, if losses { Size::Small } else { Size::Tiny }, losses, 100);
        let failure = run(&plan, &flawed, judges).err()?;
        failure.why.contains(complaint).then_some((plan, failure))
    });
    found.unwrap_or_else(|| panic!("{judges:?} did not say \"{complaint}\" about {flaw:?}"))
}

#[test]
fn the_model_finds_every_flaw() {
    let flaws = [
        Flaw::ForgetsMarks,
        Flaw::AppliesTwice,
        Flaw::SeatTooMany,
        Flaw::TooFast,
        Flaw::DeniesLoss,
        Flaw::HidesTurns,
        Flaw::LongWindow,
        Flaw::LongPass,
        Flaw::Miscounts,
        Flaw::IgnoresLeaves,
        Flaw::ForgetsTheHead,
        Flaw::IgnoresProofs,
        Flaw::SpendsAgain,
        Flaw::ForgetsClasses,
        Flaw::IgnoresRanks,
        Flaw::OneSlot,
        Flaw::DrawsByAnother,
        Flaw::DrawsNobody,
    ];
    for flaw in flaws {
        let (plan, failure) = noticed(flaw, Judges::All, "");
        println!("{flaw:?}, seed {}, step {}: {}", plan.seed, failure.step, failure.why);
    }
}

/// What a visitor would suffer from is found without any knowledge of the rules.
#[test]
fn the_promises_find_what_visitors_suffer_from() {
    let flaws = [
        (Flaw::ForgetsMarks, "polls, and is"),
        (Flaw::AppliesTwice, "applied twice"),
        (Flaw::SeatTooMany, "seats are taken"),
        (Flaw::TooFast, "more than 1.5"),
        (Flaw::DeniesLoss, "given, after"),
        (Flaw::HidesTurns, "has its turn"),
        (Flaw::SpendsAgain, "spent twice"),
        (Flaw::OneSlot, "sit in slot"),
    ];
    for (flaw, complaint) in flaws {
        let (plan, failure) = noticed(flaw, Judges::PromisesOnly, complaint);
        println!("{flaw:?}, seed {}, step {}: {}", plan.seed, failure.step, failure.why);
    }
}

#[test]
fn a_failure_is_told_in_a_few_steps_that_fail_again() {
    let flawed = Subject::new(Some(Flaw::LongPass));
    let (plan, failure) = noticed(Flaw::LongPass, Judges::All, "joins");
    let (keep, shortest) = shrink(&plan, failure.step, &flawed, Judges::All);
    let told = report(&plan, "flaws", &keep, &shortest);
    let kept = told.split("ANTEROOM_MODEL_KEEP=").nth(1).and_then(|rest| rest.split(' ').next());
    let read =
        Keep::parse(kept.expect("the report says what to keep")).expect("and it can be read");
    assert_eq!(read, keep);
    let again = read.of(&plan);
    assert!(again.steps.len() <= 4, "{told}");
    assert_eq!(
        run(&again, &flawed, Judges::All).err().map(|failure| failure.why),
        Some(shortest.why)
    );
    assert!(run(&again, &Subject::new(None), Judges::All).is_ok(), "only the flaw makes it fail");
}
