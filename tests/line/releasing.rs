//! Releasing: the least of rate, seats, batches and an operator's word; in order, to those here.

use super::*;

/// A page that is opened late must not promise the whole window again.
#[test]
fn what_is_left_of_a_claim_window_is_told_by_who_saw_it_begin() {
    let mut room = Room::new(Settings { claim_window_ms: 60_000, ..hold() });
    room.join(10);
    room.pass(5_000, &[]);
    assert_eq!(room.view.window_left_ms(1), None, "not their turn");
    room.command(Command::Release(2));
    let all: Vec<Number> = (1..=10).collect();
    assert_eq!(room.view.window_left_ms(2), Some(60_000), "just called");
    room.pass(20_000, &all);
    room.command(Command::Release(1));
    let left = |room: &Room, number| room.view.window_left_ms(number).expect("seen");
    assert!((39_000..=40_000).contains(&left(&room, 1)), "{}", left(&room, 1));
    assert!((59_000..=60_000).contains(&left(&room, 3)), "{}", left(&room, 3));
    assert_eq!(room.view.window_left_ms(4), None);
    // Never more than the line itself allows: it is over there when it is over here, or a moment later.
    while room.standing(1) == Standing::Admitted {
        room.pass(500, &all);
    }
    let moment = room.view.window_left_ms(1);
    assert!(moment.is_none_or(|left| left <= 1_000), "{moment:?}");
    // A node that came later does not know, and does not guess.
    let mut other = View::default();
    let batch = other.greeting(8, 1);
    other.absorb(&room.line.apply(&batch, room.moment()).expect("a batch within bounds"));
    assert_eq!(other.standing(3), Standing::Admitted);
    assert_eq!(other.window_left_ms(3), None);
    // A new generation begins anew.
    room.command(Command::Reset);
    room.join(3);
    assert_eq!(room.view.window_left_ms(3), None);
}

#[test]
fn by_rate_one_after_the_other() {
    let mut room = Room::new(rate(2));
    room.join(10);
    assert_eq!(room.idle().entered, 1, "the bucket starts full, with one");
    room.pass(1_500, &[]);
    let counts = room.idle();
    assert_eq!((counts.released, counts.waiting), (4, 6));
    assert_eq!(room.standing(4), Standing::Admitted);
    assert_eq!(room.standing(5), Standing::Waiting);
}

#[test]
fn a_quiet_room_lets_in_a_burst_and_no_more() {
    let rate = Rate { count: 10, per_ms: 1_000 };
    let pace = Some(Pace::Rate { rate, burst: 10 });
    let mut room = Room::new(Settings { pace, ..Settings::default() });
    room.pass(10_000, &[]);
    room.wall_ms += 2_000;
    assert_eq!(entered(room.join(100)), 10);
}

#[test]
fn a_fraction_of_a_rate_is_exact_over_an_hour() {
    let rate = Rate { count: 7, per_ms: 60_000 };
    let mut room =
        Room::new(Settings { pace: Some(Pace::Rate { rate, burst: 1 }), ..Settings::default() });
    room.join(1_000);
    let everybody: Vec<_> = (1..=1_000).collect();
    for _ in 0..10 {
        room.pass(360_000, &everybody);
        // Nobody comes in: their turns are owed and come back at half the rate at most.
    }
    let turns = room.idle().turns;
    assert!(
        (420 + 1..=630 + 1).contains(&turns),
        "7 a minute, at most half as many again: {turns}"
    );
}

#[test]
fn seats_are_never_more_than_there_are() {
    let mut room = Room::new(seats(2));
    assert_eq!(entered(room.join(5)), 2);
    assert_eq!(room.idle().admitted, 0);
    assert_eq!(room.end(1, Ending::Completed), Done::Freed);
    let counts = room.idle();
    assert_eq!((counts.inside, counts.admitted, counts.waiting), (1, 1, 2), "replaced at once");
    inside(room.claim(3));
    assert_eq!(room.claim(4), Claimed::Waiting);
    assert_eq!(room.idle().inside, 2);
}

#[test]
fn in_batches_and_what_is_left_over_serves_who_comes_next() {
    let pace = Pace::Batch { batch: 3, interval_ms: 10_000, windows: 2 };
    let mut room = Room::new(Settings { pace: Some(pace), ..Settings::default() });
    assert_eq!(entered(room.join(1)), 1);
    assert_eq!(entered(room.join(1)), 1, "nobody waits for a batch to fill");
    assert_eq!(entered(room.join(5)), 1, "one was left of the first batch");
    room.pass(9_500, &[4, 5, 6, 7]);
    assert_eq!(room.idle().released, 3);
    room.pass(500, &[4, 5, 6, 7]);
    assert_eq!(room.idle().released, 6, "the next batch");
    assert_eq!(room.standing(6), Standing::Admitted);
    room.pass(20_500, &[4, 5, 6, 7]);
    assert_eq!(room.standing(6), Standing::Admitted, "windows x interval, whatever the second");
    room.pass(1_000, &[4, 5, 6, 7]);
    assert_eq!(room.standing(6), Standing::Expired(Reason::Passed));
}

/// Where windows are skipped while the line is short, whoever comes after a skipped one is passed by the next at once. Here nothing is
/// skipped and nothing passes anybody: a turn lasts for all its windows from when it was given, whenever the interval began.
#[test]
fn a_window_never_expires_somebody_who_has_just_been_issued_a_ticket() {
    let (batch, interval_ms) = (3, 10_000);
    for windows in [1, 2] {
        let pace = Pace::Batch { batch, interval_ms, windows };
        for after_ms in [0, 500, 9_500, 10_000, 10_500, 35_000, 39_500] {
            let mut room = Room::new(Settings { pace: Some(pace), ..Settings::default() });
            // A quiet time: intervals end, and nobody is there to be called.
            room.pass(after_ms, &[]);
            room.command(Command::Pause);
            room.join(1);
            room.command(Command::Resume);
            room.idle();
            assert_eq!(room.standing(1), Standing::Admitted, "at once, after {after_ms} ms");
            // Just before the next window, and well into it.
            room.pass(windows * interval_ms - 500, &[1]);
            assert_eq!(room.standing(1), Standing::Admitted, "{windows} x 10 s, {after_ms} ms");
            assert!(matches!(room.claim(1), Claimed::Inside(_)), "and may come in");
        }
    }
}

#[test]
fn what_a_batch_leaves_over_serves_who_joins_next_and_is_not_saved_up() {
    let pace = Pace::Batch { batch: 3, interval_ms: 10_000, windows: 2 };
    let mut room = Room::new(Settings { pace: Some(pace), ..Settings::default() });
    assert_eq!(entered(room.join(2)), 2);
    room.pass(5_000, &[]);
    assert_eq!(entered(room.join(1)), 1, "the third of the batch, five seconds later");
    assert_eq!(entered(room.join(1)), 0, "there is no fourth");
    // Four intervals in which one is called: the others' turns are nobody's.
    room.pass(40_000, &[4]);
    assert_eq!(room.idle().released, 4);
    assert_eq!(entered(room.join(9)), 3, "one batch, whatever was left over before");
}

#[test]
fn a_batch_is_given_once_an_interval_however_many_nodes_ask() {
    let pace = Pace::Batch { batch: 3, interval_ms: 10_000, windows: 2 };
    for nodes in [1, 7] {
        let mut room = Room::new(Settings { pace: Some(pace), ..Settings::default() });
        room.join(1_000);
        let first = room.idle().turns;
        let mut sequences = vec![0; nodes];
        for _ in 0..300 {
            room.wall_ms += 200;
            for (node, sequence) in sequences.iter_mut().enumerate() {
                *sequence += 1;
                let batch = room.view.greeting(node as u128 + 100, *sequence);
                room.line.apply(&batch, room.moment()).expect("a batch within bounds");
            }
        }
        // What nobody claimed comes back, at most half a batch an interval.
        let turns = room.line.counts().turns - first;
        assert!((6 * 3..=6 * 4).contains(&turns), "{turns} turns in a minute with {nodes} nodes");
        room.line.check_invariants().expect("invariants hold");
    }
}

#[test]
fn by_hand_whatever_rate_pause_and_hold_say_but_never_beyond_the_seats() {
    let mut room = Room::new(Settings { max_active: Some(4), ..hold() });
    room.join(10);
    room.command(Command::Pause);
    let called = room.command(Command::Release(3));
    assert_eq!(
        called,
        Commanded::Released { count: 3, express: 0, after: 0, upto: 3, called: vec![1, 2, 3] }
    );
    let called = room.command(Command::Release(3));
    assert_eq!(
        called,
        Commanded::Released { count: 1, express: 0, after: 3, upto: 4, called: vec![4] }
    );
    let called = room.command(Command::Release(1));
    assert_eq!(
        called,
        Commanded::Released { count: 0, express: 0, after: 4, upto: 4, called: vec![] }
    );
    room.offer(Settings { mode: Mode::Closed, ..Settings::default() });
    let called = room.command(Command::Release(1));
    assert_eq!(
        called,
        Commanded::Released { count: 0, express: 0, after: 4, upto: 4, called: vec![] }
    );
}

#[test]
fn two_operators_call_different_people() {
    let mut room = Room::new(hold());
    room.join(5);
    let reply = room.with(|batch| {
        batch.commands = vec![Command::Release(1).into(), Command::Release(1).into()]
    });
    let upto: Vec<_> = reply
        .commands
        .iter()
        .map(|done| match done {
            Commanded::Released { count: 1, upto, .. } => *upto,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(upto, [1, 2]);
}

#[test]
fn pause_stops_the_rate_and_resume_goes_on_without_a_flood() {
    let mut room = Room::new(rate(1));
    room.join(100);
    room.command(Command::Pause);
    let everybody: Vec<_> = (1..=100).collect();
    assert_eq!(room.pass(30_000, &everybody).released, 1);
    room.command(Command::Resume);
    assert_eq!(room.idle().released, 2, "one second's worth, not thirty");
}

#[test]
fn rate_zero_is_only_by_hand() {
    let mut room = Room::new(rate(0));
    room.join(3);
    assert_eq!(room.pass(5_000, &[1, 2, 3]).released, 0);
    room.command(Command::Release(2));
    assert_eq!(room.idle().released, 2);
}

#[test]
fn a_turn_not_taken_comes_back_and_is_paid_at_half_the_rate() {
    let settings = Settings { claim_window_ms: 5_000, ..rate(1) };
    let mut room = Room::new(settings);
    room.join(1_000);
    let everybody: Vec<_> = (1..=1_000).collect();
    let start = room.pass(60_000, &everybody).turns;
    let turns = room.pass(60_000, &everybody).turns - start;
    assert!(
        (85..=90).contains(&turns),
        "nobody comes: 60 a minute and half as many again, {turns}"
    );
}

#[test]
fn many_gaps_take_several_exchanges() {
    let settings = Settings { max_waiting: None, heartbeat_timeout_ms: 5_000, ..hold() };
    let mut room = Room::new(settings);
    (0..4).for_each(|_| _ = room.join(1_000_000));
    let here: Vec<_> = (1..=400).map(|nth| nth * 10_000).collect();
    assert_eq!(room.pass(8_000, &here).waiting, 400);
    let called = room.command(Command::Release(300));
    let upto = 2_200_000;
    let first = here[..220].to_vec();
    assert_eq!(
        called,
        Commanded::Released { count: 220, express: 0, after: 0, upto, called: first }
    );
    let Commanded::Released { count: 80, upto, .. } = room.command(Command::Release(80)) else {
        panic!("the rest");
    };
    assert_eq!(upto, 300 * 10_000);
}

#[test]
fn every_setting_changes_under_way() {
    let mut room = Room::new(rate(1));
    room.join(50);
    room.offer(Settings { max_active: Some(10), ..Settings::default() });
    let counts = room.idle();
    assert_eq!((counts.inside + counts.admitted, counts.waiting), (10, 40));
    let pace = Pace::Batch { batch: 5, interval_ms: 10_000, windows: 2 };
    room.offer(Settings { pace: Some(pace), max_active: Some(1_000), ..Settings::default() });
    assert_eq!(room.idle().waiting, 35, "a new pace starts full");
    room.offer(rate(3));
    assert_eq!(room.idle().waiting, 35, "what a batch had left over, cut to the bucket's depth");
    let lower = room.with(|batch| {
        batch.offer = Some(Offer { version: 0, settings: hold() });
    });
    assert_eq!(lower.offered, Some(Offered::Older(1)));
}

#[test]
fn settings_out_of_range_are_refused_with_the_range() {
    let mut room = Room::new(rate(1));
    let bad = Settings {
        heartbeat_timeout_ms: 10,
        session_idle_ms: None,
        session_max_ms: None,
        max_active: Some(0),
        pace: Some(Pace::Rate { rate: Rate { count: 1, per_ms: 0 }, burst: 0 }),
        ..Settings::default()
    };
    let Some(Offered::Invalid(problems)) = room.offer(bad).offered else { panic!("refused") };
    let names: Vec<_> = problems.iter().map(|problem| problem.name.as_str()).collect();
    assert_eq!(names, ["rate.per_ms", "burst", "max_active", "session_idle", "heartbeat_timeout"]);
    assert!(problems[4].to_string().contains("heartbeat_timeout = 10 is out of range 5000..="));
    room.join(1);
    assert_eq!(room.idle().entered, 1, "the old settings go on");
}

/// Turns that nobody has taken for half a claim window are paid for in advance, and taken off again if they are taken after all.
#[test]
fn who_is_late_is_made_up_for_before_the_claim_window_is_over() {
    let mut room = Room::new(rate(2));
    let all: Vec<Number> = (1..=1_000).collect();
    room.join(1_000);
    let turns = |room: &mut Room, seconds: u64| {
        let before = room.idle().turns;
        room.pass(seconds * 1_000, &all).turns - before
    };
    let first = turns(&mut room, 60);
    assert!((118..=122).contains(&first), "two a second while nobody can be late: {first}");
    let second = turns(&mut room, 30);
    assert!((87..=91).contains(&second), "half as many again: {second}");
    // They come after all, all of them.
    let Counts { lapsed, released, .. } = room.idle();
    for number in lapsed + 1..=released {
        if room.standing(number) == Standing::Admitted {
            inside(room.claim(number));
        }
    }
    assert_eq!(room.idle().admitted, 0);
    let third = turns(&mut room, 20);
    assert!((19..=22).contains(&third), "half as many, until what was paid is back: {third}");
    turns(&mut room, 15);
    let fourth = turns(&mut room, 10);
    assert!((19..=21).contains(&fourth), "and then as before: {fourth}");
}
