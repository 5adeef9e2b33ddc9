//! Runs made by hand, through the same judges: what random ones reach once in a blue moon.

use anteroom::line::{Command, Mode, Settings};

use super::shrink::run;
use super::steps::{Faithful, Fate, Item, Plan, Room, Step, Who};
use super::subject::Subject;
use super::tally::Tally;
use super::world::Judges;

/// Hundreds were away while they were passed over, and come back to the head all at once.
fn a_crowd_at_the_head(heartbeat_timeout_ms: u64, claim_window_ms: u64) -> Plan {
    let settings =
        Settings { mode: Mode::Hold, heartbeat_timeout_ms, claim_window_ms, ..Settings::default() };
    let room = Room {
        nodes: 1,
        founded: true,
        wall_ms: 1_700_000_000_000,
        settings,
        tickets_prove: false,
        faithful: Faithful::Nobody,
    };
    let away = heartbeat_timeout_ms as u32 * 3 / 2_000;
    let mut steps = vec![
        exchange(vec![Item::Join(700)]),
        idle(away),
        exchange(vec![Item::Join(1)]),
        exchange(vec![Item::Command(Command::Release(1))]),
    ];
    for down in [1, 201, 401] {
        steps.push(exchange(vec![Item::Return { who: Who::Frontier(-down), count: 200 }]));
    }
    Plan { seed: 0, room, steps }
}

fn exchange(items: Vec<Item>) -> Step {
    Step::Exchange { node: 0, after_ms: 10, items, fate: Fate::Answered }
}

fn idle(times: u32) -> Step {
    Step::Idle { node: 0, after_ms: 2_000, times }
}

/// Every one of them, for a line that is kept elsewhere, too.
pub(super) fn all() -> [Plan; 3] {
    [silent_and_back(), called_and_late(), strayed_and_lapsed()]
}

pub(super) fn judged(plan: &Plan, subject: &Subject) -> Tally {
    match run(plan, subject, Judges::All) {
        Ok(tally) => tally,
        Err(failure) => {
            panic!("step {} ({:?}): {}", failure.step, plan.steps[failure.step], failure.why)
        }
    }
}

fn silent_and_back() -> Plan {
    let mut plan = a_crowd_at_the_head(5_000, 60_000);
    plan.steps.push(idle(13));
    for back in [0, 200] {
        plan.steps
            .push(exchange(vec![Item::Present { who: Who::Frontier(-1 - back), count: 200 }]));
    }
    plan.steps.push(exchange(vec![Item::Command(Command::Release(u64::MAX))]));
    plan.steps.push(Step::Look { node: 0, after_ms: 10 });
    plan.steps.push(idle(10));
    plan
}

fn called_and_late() -> Plan {
    let mut plan = a_crowd_at_the_head(30_000, 10_000);
    for _ in 0..3 {
        plan.steps.push(exchange(vec![Item::Command(Command::Release(u64::MAX))]));
    }
    plan.steps.push(idle(12));
    plan
}

fn strayed_and_lapsed() -> Plan {
    let mut plan = a_crowd_at_the_head(5_000, 60_000);
    plan.steps.push(idle(40));
    plan
}

/// What the head's duties left over: so often did one of them take all it might.
const MORE: &str = "more to do than an exchange does";

#[test]
fn hundreds_at_the_head_fall_silent_and_come_back() {
    let tally = judged(&silent_and_back(), &Subject::new(None));
    assert_eq!(tally.of("strayed"), 600 + 180, "all, and those who came back and were not called");
    assert_eq!(tally.of("the steps were too few"), 1);
    assert_eq!(tally.of("called and silent"), 220);
    assert_eq!(tally.of(MORE), 8 + 5, "70 at a time");
}

#[test]
fn hundreds_are_called_and_nobody_comes() {
    let tally = judged(&called_and_late(), &Subject::new(None));
    assert_eq!(tally.of("called and late"), 600);
    assert_eq!(tally.of(MORE), 6, "100 at a time");
}

#[test]
fn hundreds_stray_and_their_time_runs_out() {
    let tally = judged(&strayed_and_lapsed(), &Subject::new(None));
    assert_eq!(tally.of("strayed and lapsed"), 600);
    assert_eq!(tally.of(MORE), 8 + 4, "70 at a time, and then 130");
}
