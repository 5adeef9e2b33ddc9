//! Runs made by hand, through the same judges: what random ones reach once in a blue moon.

use anteroom::line::{Command, Mode, Settings};

use super::shrink::run;
use super::steps::{Faithful, Fate, Item, Plan, Room, Step, Who};
use super::subject::Subject;
use super::tally::Tally;
use super::world::Judges;

/// Thousands were away while they were passed over, and come back to the head all at once.
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
        exchange(vec![Item::Join(3_000)]),
        idle(away),
        exchange(vec![Item::Join(1)]),
        exchange(vec![Item::Command(Command::Release(1))]),
    ];
    for down in [1, 901, 1_801] {
        steps.push(exchange(vec![Item::Return { who: Who::Frontier(-down), count: 900 }]));
    }
    Plan { seed: 0, room, steps }
}

fn exchange(items: Vec<Item>) -> Step {
    Step::Exchange { node: 0, after_ms: 10, items, fate: Fate::Answered }
}

fn idle(times: u32) -> Step {
    Step::Idle { node: 0, after_ms: 2_000, times }
}

fn judged(plan: &Plan) -> Tally {
    match run(plan, &Subject::new(None), Judges::All) {
        Ok(tally) => tally,
        Err(failure) => {
            panic!("step {} ({:?}): {}", failure.step, plan.steps[failure.step], failure.why)
        }
    }
}

#[test]
fn thousands_at_the_head_fall_silent_and_come_back() {
    let mut plan = a_crowd_at_the_head(5_000, 60_000);
    plan.steps.push(idle(7));
    for back in [0, 900] {
        plan.steps
            .push(exchange(vec![Item::Present { who: Who::Frontier(-1 - back), count: 900 }]));
    }
    plan.steps.push(exchange(vec![Item::Command(Command::Release(u64::MAX))]));
    plan.steps.push(Step::Look { node: 0, after_ms: 10 });
    plan.steps.push(idle(7));
    let tally = judged(&plan);
    assert_eq!(
        tally.of("strayed"),
        2_700 + 800,
        "all, and those who came back and were not called"
    );
    assert_eq!(tally.of("a thousand silent at once"), 3);
    assert_eq!(tally.of("a thousand steps were too few"), 1);
    assert_eq!(tally.of("called and silent"), 1_000);
}

#[test]
fn thousands_are_called_and_nobody_comes() {
    let mut plan = a_crowd_at_the_head(30_000, 10_000);
    for _ in 0..3 {
        plan.steps.push(exchange(vec![Item::Command(Command::Release(u64::MAX))]));
    }
    plan.steps.push(idle(8));
    let tally = judged(&plan);
    assert_eq!(tally.of("called and late"), 2_700);
    assert_eq!(tally.of("a thousand late at once"), 2);
}

#[test]
fn thousands_stray_and_their_time_runs_out() {
    let mut plan = a_crowd_at_the_head(5_000, 14_000);
    plan.steps.push(idle(12));
    let tally = judged(&plan);
    assert_eq!(tally.of("strayed and lapsed"), 2_700);
    assert_eq!(tally.of("a thousand strayed ones gone at once"), 2);
}
