//! Simulated crowds: what the line promises about rates, order and estimates, held to it on a virtual clock.
//!
//! Small crowds, so that a debug build runs them in seconds with every invariant checked after every exchange. The same
//! figures at large size: docs/scale.md.

mod command;

use anteroom::line::{Pace, Rate, Settings};
use anteroom::simulate::{BadPlan, Change, Crowd, Faults, Plan, Report, Shape, chart, run};

/// A room with a rate: so many a minute.
fn rate(per_minute: u64) -> Settings {
    let rate = Rate { count: per_minute, per_ms: 60_000 };
    let pace = Some(Pace::Rate { rate, burst: per_minute.div_ceil(60).max(1) });
    Settings { pace, max_waiting: None, ..Settings::default() }
}

fn seats(max_active: u64) -> Settings {
    Settings { max_active: Some(max_active), max_waiting: None, ..Settings::default() }
}

/// Everybody is patient, awake and comes.
fn crowd(visitors: u32) -> Crowd {
    Crowd {
        visitors,
        arrive: Shape::Flash,
        arrive_over_ms: 600_000,
        patience_ms: None,
        no_shows: 0.0,
        bots: 0.0,
        sleepers: 0.0,
        stay_ms: 120_000,
    }
}

/// As a crowd on the internet is.
fn mixed(visitors: u32) -> Crowd {
    let patience_ms = Some(2 * 3_600_000);
    Crowd { patience_ms, no_shows: 0.05, bots: 0.02, sleepers: 0.1, ..crowd(visitors) }
}

fn plan(crowd: Crowd, settings: Settings) -> Plan {
    let (faults, changes, left_out) = (Faults::default(), vec![], vec![]);
    Plan { crowd, settings, nodes: 2, faults, changes, seed: 1, left_out }
}

fn simulate(plan: &Plan) -> Report {
    run(plan, &mut |_, _| {}).expect("a plan that can be run")
}

/// Everybody is somewhere.
fn everybody(report: &Report) -> u64 {
    let people = &report.people;
    let entered = people.entered + people.gave_up + people.no_shows + people.bots;
    entered + people.passed_over + people.turned_away + people.still_waiting + people.lost
}

#[test]
fn the_same_seed_is_the_same_day_and_another_one_another() {
    let plan = plan(mixed(1_500), rate(120));
    let json = |plan: &Plan| serde_json::to_string(&simulate(plan)).expect("figures");
    assert_eq!(json(&plan), json(&plan));
    assert_ne!(json(&plan), json(&Plan { seed: 2, ..plan.clone() }));
}

#[test]
fn everybody_is_accounted_for() {
    let full = Settings { max_waiting: Some(500), ..rate(120) };
    let crowd = Crowd { patience_ms: Some(600_000), no_shows: 0.2, bots: 0.1, ..mixed(2_000) };
    for (settings, turned_away) in [(rate(120), false), (full, true), (seats(200), false)] {
        let report = simulate(&plan(crowd.clone(), settings));
        let people = &report.people;
        assert_eq!(everybody(&report), 2_000, "{people:?}");
        assert_eq!((people.lost, people.still_waiting), (0, 0), "{people:?}");
        assert_eq!(people.turned_away > 0, turned_away, "{people:?}");
        assert!(people.entered > 300 && people.gave_up > 20 && people.no_shows > 50, "{people:?}");
        let bots = people.bots * 10;
        assert!(turned_away || (1_500..=2_500).contains(&bots), "one in ten: {people:?}");
        let arrivals: u64 = report.series.iter().map(|point| point.arrivals).sum();
        let entries: u64 = report.series.iter().map(|point| point.entries).sum();
        assert_eq!((arrivals, entries), (2_000, people.entered), "the series says the same");
    }
}

#[test]
fn whoever_comes_first_is_called_first() {
    let report = simulate(&plan(crowd(2_000), rate(120)));
    let fair = &report.fairness;
    assert_eq!(fair.compared, 2_000, "nobody is left out");
    // Only who came within the same moment on two nodes may be called in another order.
    assert!(fair.turn_tau > 0.999_9, "{fair:?}");
    assert!(fair.entry_tau > 0.99, "{fair:?}");
    let alone = simulate(&Plan { nodes: 1, ..plan(crowd(2_000), rate(120)) });
    assert_eq!(alone.fairness.turn_inversions, 0, "on one node there is one order");
}

#[test]
fn faults_lose_nobody() {
    let faults = Faults { nodes: 3, outages: 2, losses: 2 };
    for seed in 1..=3 {
        let plan = Plan { faults, nodes: 3, seed, ..plan(crowd(2_500), rate(120)) };
        let report = simulate(&plan);
        assert_eq!(report.people.entered, 2_500, "seed {seed}: {:?}", report.people);
        assert!(report.cost.calls_failed > 50, "seed {seed}: the store was away");
        // Who came while the store was away joins by node, and so perhaps before who came seconds earlier to another.
        assert!(report.fairness.turn_tau > 0.995, "seed {seed}: {:?}", report.fairness);
    }
}

#[test]
fn a_node_alone_that_dies_is_waited_for() {
    let faults = Faults { nodes: 2, ..Faults::default() };
    let report = simulate(&Plan { faults, nodes: 1, ..plan(crowd(1_000), rate(120)) });
    assert_eq!(report.people.entered, 1_000, "{:?}", report.people);
}

#[test]
fn bots_hold_no_seats() {
    let settings = Settings { session_idle_ms: Some(60_000), ..seats(100) };
    let people = Crowd { arrive: Shape::Even, ..crowd(1_200) };
    let alone = simulate(&plan(people.clone(), settings.clone()));
    // As many people, and two bots for each three of them.
    let among = Crowd { visitors: 2_000, bots: 0.4, ..people };
    let among = simulate(&plan(among, settings));
    assert!(among.people.bots_inside > 0, "some got in: {:?}", among.people);
    assert!(alone.people.peak_inside <= 100 && among.people.peak_inside <= 100);
    let (without, with) = (alone.virtual_seconds, among.virtual_seconds);
    assert!(with < without * 1.15, "{with} s among bots, {without} s without");
}

#[test]
fn the_rate_that_is_set_is_reached_with_three_in_ten_who_do_not_come() {
    for seed in 1..=3 {
        for arrive in [Shape::Flash, Shape::Once, Shape::Even] {
            let crowd = Crowd { no_shows: 0.3, arrive, ..crowd(3_000) };
            let report = simulate(&Plan { seed, ..plan(crowd, rate(120)) });
            let reached = report.entries.reached_of_set.expect("a rate is set");
            assert!((0.95..=1.05).contains(&reached), "{arrive:?}, seed {seed}: {reached}");
        }
    }
}

#[test]
fn whoever_comes_late_after_all_is_taken_off_again() {
    // Phones that sleep through the call and wake within the claim window: paid for in advance, and in they come.
    let settings = Settings { claim_window_ms: 600_000, ..rate(120) };
    let report = simulate(&plan(Crowd { sleepers: 1.0, ..crowd(3_000) }, settings));
    let reached = report.entries.reached_of_set.expect("a rate is set");
    assert!((0.93..=1.05).contains(&reached), "{reached}");
    // What the pace gives in any time is bounded.
    let longest = (60.0 / report.step_seconds).ceil() as usize;
    for minute in report.series.windows(longest) {
        let turns: u64 = minute.iter().map(|point| point.turns).sum();
        let most = 1.5 * 2.0 * (longest as f64 * report.step_seconds + 1.0) + 2.0;
        assert!(turns as f64 <= most, "{turns} turns in a minute, {most} at most");
    }
}

/// Crowds in which what pages say must be true: a name, a crowd, a room, a change.
fn judged() -> Vec<(&'static str, Crowd, Settings, Option<Change>)> {
    let change = |minutes: u64, per_minute: u64| {
        let rate = Rate { count: per_minute, per_ms: 60_000 };
        Some(Change { at_ms: minutes * 60_000, rate })
    };
    let no_shows = Crowd { no_shows: 0.3, ..mixed(3_000) };
    vec![
        ("as it comes", mixed(3_000), rate(120), None),
        ("no-shows", no_shows.clone(), rate(120), None),
        (
            "all at once, no-shows",
            Crowd { arrive: Shape::Once, ..no_shows.clone() },
            rate(120),
            None,
        ),
        ("drop-outs", Crowd { patience_ms: Some(1_800_000), ..mixed(4_000) }, rate(120), None),
        ("seats", mixed(3_000), seats(400), None),
        ("seats and no-shows", no_shows.clone(), seats(400), None),
        ("seats and a rate", mixed(3_000), Settings { max_active: Some(500), ..rate(300) }, None),
        ("slower half-way", mixed(3_000), rate(180), change(8, 90)),
        ("faster half-way, no-shows", no_shows, rate(90), change(10, 180)),
    ]
}

#[test]
fn estimates_are_near_and_ranges_hold() {
    for (name, crowd, settings, change) in judged() {
        for seed in 1..=2 {
            let changes = change.into_iter().collect();
            let plan = Plan { changes, seed, ..plan(crowd.clone(), settings.clone()) };
            let report = simulate(&plan);
            let eta = &report.eta;
            assert!(eta.count > 1_000, "{name}, seed {seed}: {eta:?}");
            assert!(eta.median_error <= 0.15, "{name}, seed {seed}: {eta:?}");
            assert!(eta.ranges_right >= 0.9, "{name}, seed {seed}: {eta:?}");
            let overtaken = report.eta_overtaken > 0;
            assert_eq!(overtaken, change.is_some(), "{name}: what operators do is nobody's guess");
        }
    }
}

#[test]
fn a_plan_that_can_not_be_run_says_why() {
    let good = plan(crowd(10), rate(60));
    let said = |plan: Plan| run(&plan, &mut |_, _| {}).expect_err("not run").to_string();
    assert!(said(plan(crowd(0), rate(60))).contains("1 to 100000000"));
    assert!(said(Plan { nodes: 0, ..good.clone() }).contains("1 to 1000"));
    assert!(said(plan(Crowd { bots: 1.5, ..crowd(10) }, rate(60))).contains("0% to 100%"));
    assert_eq!(run(&plan(crowd(10), rate(0)), &mut |_, _| {}).err(), Some(BadPlan::Limitless));
    let nothing = Settings { max_waiting: None, ..Settings::default() };
    assert_eq!(run(&plan(crowd(10), nothing), &mut |_, _| {}).err(), Some(BadPlan::Limitless));
    let short = Settings { heartbeat_timeout_ms: 1, ..rate(60) };
    assert!(said(plan(crowd(10), short)).contains("heartbeat_timeout"));
    let stops = vec![Change { at_ms: 5, rate: Rate { count: 0, per_ms: 1_000 } }];
    assert!(said(Plan { changes: stops, ..good }).contains("above 0"));
}

#[test]
fn progress_rises_to_the_end() {
    let (mut last, mut told) = (0.0, 0);
    run(&plan(crowd(500), rate(240)), &mut |share, _| {
        assert!(share >= last, "{share} after {last}");
        (last, told) = (share, told + 1);
    })
    .expect("a plan that can be run");
    assert!(last > 0.99 && told > 100, "{last}, told {told} times");
}

/// Whether tags are closed in the order in which they were opened; which there are.
fn tags(svg: &str) -> Vec<String> {
    let (mut open, mut all) = (Vec::new(), Vec::new());
    for part in svg.split('<').skip(1) {
        let (tag, text) = part.split_once('>').expect("a tag that ends");
        assert!(!text.contains('>') && tag.matches('"').count() % 2 == 0, "{part}");
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
        match tag {
            closed if closed.starts_with('/') => assert_eq!(open.pop().as_deref(), Some(name)),
            alone if alone.ends_with('/') => all.push(name.to_owned()),
            _ => {
                open.push(name.to_owned());
                all.push(name.to_owned());
            }
        }
    }
    assert!(open.is_empty(), "never closed: {open:?}");
    all
}

#[test]
fn the_chart_is_whole() {
    let report = simulate(&plan(mixed(1_000), rate(120)));
    let svg = chart(&report);
    let tags = tags(&svg);
    let count = |name: &str| tags.iter().filter(|tag| *tag == name).count();
    assert!(count("polyline") >= 6 && count("circle") > 100, "{} tags", tags.len());
    assert!(svg.contains("prefers-color-scheme:dark") && svg.contains("1,000 visitors"));
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "no figure is missing");
    // And of a run in which nothing happens.
    let calm = Crowd { arrive: Shape::Even, ..crowd(3) };
    let svg = chart(&simulate(&plan(calm, rate(600))));
    assert!(!svg.contains("NaN") && !self::tags(&svg).is_empty());
}
