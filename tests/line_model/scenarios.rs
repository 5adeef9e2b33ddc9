//! Runs made by hand, through the same judges: what random ones reach once in a blue moon.

use anteroom::line::{Adaptive, Class, ClassOrder, Command, Event, Mode, Pace, Rate, Settings};

use super::changes::STEERED;
use super::shrink::run;
use super::steps::{Change, Faithful, Fate, Item, JoinKey, Plan, Post, Room, Step, Who};
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
pub(super) fn all() -> [Plan; 10] {
    let drawn = drawn_with_a_head(ClassOrder::Strict, false);
    let [plain, lost] = [false, true].map(|lost| drawn_with_a_head(ClassOrder::Skip, lost));
    let heads = [silent_and_back(), called_and_late(), strayed_and_lapsed()];
    let [silent, late, lapsed] = heads;
    let [shadow, far, better] = [held_up_in_shadow(), grown_too_far(), failed_and_better()];
    [silent, late, lapsed, drawn, plain, lost, shadow, far, better, drawn_after_all()]
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

/// Three classes come before an opening among others; some are let in by hand, some fall silent, the rest are drawn. If `lost`, the
/// store comes back as it was before the draw.
fn drawn_with_a_head(class_order: ClassOrder, lost: bool) -> Plan {
    let wall_ms = 1_700_000_000_000;
    let class = |nth: u64, skip, rank| Class { name: format!("class-{nth}"), skip, rank };
    let classes = vec![class(0, 1_000, 0), class(1, 500, 0), class(2, 500, 3)];
    let (opens_ms, prequeue_ms) = (wall_ms + 30_000, 60_000);
    let event = Event { opens_ms, prequeue_ms, draw: true, closes_ms: None, every_ms: None };
    let rate = Rate { count: 1, per_ms: 1_000 };
    let settings = Settings {
        pace: Some(Pace::Rate { rate, burst: 1 }),
        heartbeat_timeout_ms: 10_000,
        schedule: vec![event],
        join_limits: Vec::new(),
        classes,
        class_order,
        ..Settings::default()
    };
    let (tickets_prove, faithful) = (false, Faithful::Nobody);
    let room = Room { nodes: 1, founded: true, wall_ms, settings, tickets_prove, faithful };
    let everybody = Who::Anyones(1);
    let of = |class: u8| {
        Item::JoinKey(JoinKey {
            once: None,
            by_device: false,
            idempotency: None,
            proof: None,
            address: None,
            user: None,
            name: None,
            class: Some(class),
            invite: None,
            over: false,
        })
    };
    let mut steps: Vec<Step> =
        (0..50).map(|nth| exchange(vec![of(nth % 3), Item::Join(3), of(0), of(1)])).collect();
    steps.push(exchange(vec![Item::Command(Command::Release(5))]));
    steps.push(exchange(vec![Item::Claim { who: everybody, count: 240 }]));
    steps.push(exchange(vec![Item::Claim { who: Who::Share(250), count: 100 }]));
    steps.push(exchange(vec![Item::Command(Command::Release(3))]));
    steps.extend([idle(4), exchange(vec![Item::Present { who: everybody, count: 200 }]), idle(5)]);
    steps.extend([Step::Save, idle(10), Step::Look { node: 0, after_ms: 10 }]);
    if lost {
        steps.push(Step::Lose { back: Some(0), all: true });
        steps.extend([idle(4), Step::Look { node: 0, after_ms: 10 }]);
    }
    steps.push(exchange(vec![of(1), Item::Join(2), Item::Command(Command::Release(100))]));
    steps.extend([Step::Look { node: 0, after_ms: 10 }, idle(10)]);
    Plan { seed: 0, room, steps }
}

/// An opening is put off while people wait for it, some of whom are inside by then, others leave, and brought forward to a time that is past; so
/// is another one, that is taken away in the end.
fn drawn_after_all() -> Plan {
    let mut plan = drawn_with_a_head(ClassOrder::Skip, false);
    let event = plan.room.settings.schedule[0];
    let to = |schedule: Vec<Event>| {
        let (change, version) = (Change::Schedule(schedule), 1);
        exchange(vec![Item::Offer { change, version }])
    };
    let at = |after_ms: u64, prequeue_ms: u64| {
        let opens_ms = plan.room.wall_ms + after_ms;
        Event { opens_ms, prequeue_ms, ..event }
    };
    let come = || exchange(vec![Item::Join(5), Item::Claim { who: Who::Anyones(1), count: 200 }]);
    let before = plan.steps.iter().position(|step| matches!(step, Step::Save));
    plan.steps.truncate(before.expect("a step before the opening"));
    plan.steps.extend([to(vec![at(120_000, 30_000)]), idle(4), come(), idle(4)]);
    plan.steps.extend([to(vec![at(120_000, 90_000)]), come(), idle(2)]);
    plan.steps.extend([to(vec![at(10_000, 0)]), idle(4), Step::Look { node: 0, after_ms: 10 }]);
    plan.steps.extend([to(vec![at(180_000, 150_000)]), come(), to(vec![]), idle(10)]);
    plan
}

/// So many come to a room whose rate follows a site.
fn steered(mode: Mode, newcomers: u32, adaptive: Adaptive) -> Plan {
    let rate = Rate { count: 50, per_ms: 1_000 };
    let settings = Settings {
        mode,
        pace: Some(Pace::Rate { rate, burst: 50 }),
        max_active: Some(150),
        adaptive: Some(Adaptive { target_ms: 60_000, ..adaptive }),
        ..Settings::default()
    };
    let (wall_ms, tickets_prove, faithful) = (1_700_000_000_000, false, Faithful::Nobody);
    let room = Room { nodes: 1, founded: true, wall_ms, settings, tickets_prove, faithful };
    Plan { seed: 0, room, steps: vec![exchange(vec![Item::Join(newcomers)])] }
}

/// A second, and what the node saw of the site.
fn second() -> Step {
    let post = Post { wants: 0, sent: 0, tagged: 0, figures: true, about: None };
    let (items, fate) = (vec![Item::Post(post)], Fate::Answered);
    Step::Exchange { node: 0, after_ms: 1_000, items, fate }
}

/// Hundreds come to a room in shadow whose rate follows a site that is well, fails and is well again.
fn held_up_in_shadow() -> Plan {
    let mut plan = steered(Mode::Shadow, 200, STEERED);
    plan.steps.extend((0..60).map(|_| second()));
    plan
}

/// Thousands wait before a site that is well, and then, never having been slow before, is. What a node saw of it goes by the number of the
/// exchange.
fn grown_too_far() -> Plan {
    let mut plan = steered(Mode::Auto, 5_000, Adaptive { max_errors: 850, ..STEERED });
    plan.steps.extend((3..80).map(|sequence| match sequence / 3 % 8 {
        0..=3 if sequence < 24 => second(),
        7 => second(),
        _ => exchange(Vec::new()),
    }));
    plan
}

/// Thousands wait before a site that is well, fails, and is better then, but not well.
fn failed_and_better() -> Plan {
    let mut plan = steered(Mode::Auto, 5_000, STEERED);
    plan.steps.extend((2..24).map(|sequence| match sequence / 3 % 8 {
        0 | 1 | 3 | 7 => second(),
        _ => exchange(Vec::new()),
    }));
    plan
}

#[test]
fn a_site_that_failed_and_is_not_well_is_tried_again() {
    let tally = judged(&failed_and_better(), &Subject::new(None));
    assert!(tally.of("the origin failed") > 0, "{tally}");
    assert_eq!(tally.of("an origin that is not well is tried again"), 1, "{tally}");
}

#[test]
fn a_rate_that_grew_too_far_comes_back() {
    let tally = judged(&grown_too_far(), &Subject::new(None));
    assert!(tally.of("the rate grew") > 3, "{tally}");
    assert_eq!(tally.of("the rate grew too far"), 1, "{tally}");
    assert_eq!(tally.of("the origin failed") + tally.of("the origin was silent"), 0, "{tally}");
}

#[test]
fn a_shadow_is_held_up_by_its_rate_and_the_rate_grows() {
    let tally = judged(&held_up_in_shadow(), &Subject::new(None));
    assert!(tally.of("a shadow was held up by its rate") > 10, "{tally}");
    assert!(tally.of("the rate grew") > 5, "{tally}");
}

#[test]
fn a_head_is_drawn_and_who_is_inside_is_not() {
    for (order, lost) in
        [(ClassOrder::Skip, false), (ClassOrder::Strict, false), (ClassOrder::Skip, true)]
    {
        let tally = judged(&drawn_with_a_head(order, lost), &Subject::new(None));
        assert_eq!(tally.of("drawn"), 1, "{order:?}");
        assert!(tally.of("drawn with somebody at the head") > 100, "{order:?}");
        assert!(tally.of("drawn with somebody inside") > 0, "{order:?}");
        assert_eq!(tally.of("draws came back from a node"), u64::from(lost));
    }
}

#[test]
fn whoever_waits_for_an_opening_that_is_moved_is_drawn_once() {
    let tally = judged(&drawn_after_all(), &Subject::new(None));
    assert!(tally.of("a pre-queue was put off") > 5, "{tally}");
    assert_eq!((tally.of("drawn"), tally.of("an opening was brought forward")), (1, 1));
    assert!(tally.of("drawn with somebody inside") > 0, "{tally}");
    assert_eq!(tally.of("opened without its draw"), 1);
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
