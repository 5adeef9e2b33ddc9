//! How long it will take: a range from the turns people really got.

use super::*;

/// Everybody in the line polls, and whoever is called comes in, for so long.
fn run(room: &mut Room, seconds: u64) {
    run_with(room, seconds, &mut |_, _| {});
}

/// The same, and something happens besides, in every half second.
fn run_with(room: &mut Room, seconds: u64, also: &mut dyn FnMut(&mut Room, &mut Batch)) {
    for _ in 0..seconds * 2 {
        room.wall_ms += 500;
        let Counts { released, lapsed, issued, .. } = *room.view.counts();
        let called =
            (lapsed + 1..=released).filter(|number| room.standing(*number) == Standing::Admitted);
        let mut batch = room.batch();
        batch.claims = called.chain(room.view.called()).take(MAX_ITEMS / 2).collect();
        batch.marks = (released + 1..=issued).collect();
        also(room, &mut batch);
        room.send(batch);
    }
}

/// What the page said, and when the turn of that number really came.
fn promised_and_kept(room: &mut Room, number: Number) -> (Eta, u64) {
    promised_and_kept_with(room, number, &mut |_, _| {})
}

fn promised_and_kept_with(
    room: &mut Room,
    number: Number,
    also: &mut dyn FnMut(&mut Room, &mut Batch),
) -> (Eta, u64) {
    let position = room.view.position(number).expect("waiting");
    let eta = room.view.reckoned_eta(position);
    let asked_ms = room.wall_ms;
    while room.line.standing(room.view.number(number)) == Standing::Waiting {
        run_with(room, 1, also);
    }
    (eta, (room.wall_ms - asked_ms) / 1_000)
}

/// Whether something told is what it then was, but for so many hundredths.
fn is_near(told: u64, was: u64, hundredths: u64) -> bool {
    told.abs_diff(was).saturating_mul(100) <= was * hundredths
}

#[test]
fn without_history_the_set_rate_counts() {
    let mut room = Room::new(rate(4));
    room.join(1_000);
    let eta = room.view.reckoned_eta(400);
    assert_eq!(eta.seconds, 100);
    assert!(eta.low < 100 && eta.high > 100, "a range, not a promise: {eta:?}");
    let pace = Pace::Batch { batch: 50, interval_ms: 10_000, windows: 2 };
    let room = Room::new(Settings { pace: Some(pace), ..Settings::default() });
    assert_eq!(room.view.reckoned_eta(400).seconds, 80);
    assert_eq!(
        Room::new(rate(0)).view.reckoned_eta(60).seconds,
        60,
        "no rate counts as one a second"
    );
    assert_eq!(Room::new(rate(0)).view.eta(60), None, "and nobody is told so");
    assert!(Room::new(rate(5)).view.eta(60).is_some());
    assert_eq!(
        Room::new(seats(3)).view.reckoned_eta(60).seconds,
        20 * 300,
        "seats last a session each"
    );
    let slots = Settings { slots: ["X", "O", "Z"].map(String::from).to_vec(), ..seats(3) };
    let slots = Room::new(Settings { max_active: None, ..slots });
    assert_eq!(slots.view.reckoned_eta(60).seconds, 20 * 300, "seats with names, too");
}

#[test]
fn a_steady_rate_is_told_right() {
    let mut room = Room::new(rate(5));
    room.join(4_000);
    run(&mut room, 120);
    let (eta, kept) = promised_and_kept(&mut room, 2_000);
    assert!(eta.low <= kept && kept <= eta.high, "{eta:?}, was {kept}");
    assert!(eta.seconds.abs_diff(kept) * 10 <= kept, "within a tenth: {eta:?}, was {kept}");
}

#[test]
fn seats_that_free_up_make_a_rate_too() {
    let settings = Settings { session_idle_ms: Some(20_000), ..seats(100) };
    let mut room = Room::new(settings);
    room.join(3_000);
    run(&mut room, 120); // a hundred seats, twenty seconds each: five a second
    let (eta, kept) = promised_and_kept(&mut room, 2_000);
    assert!(eta.low <= kept && kept <= eta.high, "{eta:?}, was {kept}");
}

#[test]
fn a_rate_that_drops_widens_the_range() {
    let mut room = Room::new(rate(10));
    room.join(20_000);
    run(&mut room, 300);
    let before = room.view.reckoned_eta(1_000);
    room.offer(rate(2));
    run(&mut room, 60);
    let after = room.view.reckoned_eta(1_000);
    assert!(after.high - after.low > 2 * (before.high - before.low), "{before:?} {after:?}");
    assert!((100..=500).contains(&after.seconds), "between the two: {after:?}");
}

#[test]
fn a_range_is_never_inside_out_and_never_zero() {
    let mut room = Room::new(rate(3));
    room.join(500);
    for _ in 0..100 {
        run(&mut room, 1);
        for position in [0, 1, 2, 10, 1_000, 10_000_000] {
            let Eta { seconds, low, high } = room.view.reckoned_eta(position);
            assert!(
                low <= seconds && seconds <= high && seconds >= 1,
                "{position}: {low} {seconds} {high}"
            );
        }
    }
}

/// Five a second, from ten minutes after the start on; of those who wait then nobody had a turn because nobody could.
fn opening(draw: bool) -> Room {
    let base = rate(5);
    let event = Event {
        opens_ms: START_MS + 600_000,
        prequeue_ms: 600_000,
        draw,
        closes_ms: (!draw).then_some(START_MS + 700_000),
        every_ms: (!draw).then_some(1_500_000),
    };
    let mut room = Room::new(Settings { schedule: vec![event], ..base });
    room.join(3_000);
    run(&mut room, 599);
    room
}

/// What is told a second after an opening, and soon after, of a thousand and of four hundred places.
fn is_told_as_set(room: &mut Room) {
    for seconds in [1, 9, 50] {
        run(room, seconds);
        for (position, takes) in [(1_000, 200), (400, 80)] {
            let eta = room.view.eta(position).expect("it is open");
            assert!(is_near(eta.seconds, takes, 10), "{seconds} s later: {eta:?}, is {takes}");
            assert!(eta.low <= takes && takes <= eta.high, "{seconds} s later: {eta:?}");
        }
    }
}

#[test]
fn the_time_before_an_opening_says_nothing_about_turns() {
    let mut room = opening(false);
    is_told_as_set(&mut room);
    // Closed, and open again, with those who are left.
    run(&mut room, 1_440);
    assert!(room.view.is_paused() && room.view.waiting() > 2_000);
    while room.view.is_paused() {
        run(&mut room, 1);
    }
    is_told_as_set(&mut room);
}

/// A draw gives everybody another number. Nobody came by that, and nobody went.
#[test]
fn a_draw_says_nothing_about_those_who_go() {
    let mut room = opening(true);
    room.wall_ms += 1_000;
    let (kid, hash) = ("k".to_owned(), [1; 32]);
    let lot = Lot { opens_ms: START_MS + 600_000, kid, hash, seed: Some([7; 32]) };
    room.with(|batch| batch.lot = Some(lot));
    assert_eq!(room.view.counts().draw, 1);
    is_told_as_set(&mut room);
    let last = (1..=3_000).max_by_key(|ticket| room.view.position(*ticket)).expect("somebody");
    let (eta, kept) = promised_and_kept(&mut room, last);
    assert!(is_near(eta.seconds, kept, 5), "{eta:?}, was {kept}");
}

/// So many a minute, in which all of them are given at once.
#[test]
fn batches_that_come_rarely_are_told_right() {
    for minutes in [1, 2, 5, 30] {
        let pace = Pace::Batch { batch: 60 * minutes, interval_ms: minutes * 60_000, windows: 1 };
        let settings = Settings { pace: Some(pace), heartbeat_timeout_ms: 86_400_000, ..rate(1) };
        let mut room = Room::new(settings);
        room.join(20_000);
        for moment in 1..=40 {
            run(&mut room, minutes * 6);
            let eta = room.view.reckoned_eta(3_600);
            assert!(is_near(eta.seconds, 3_600, 15), "{minutes} minutes, moment {moment}: {eta:?}");
        }
    }
}

/// What a node counted: so many answers, of which so many were errors.
fn figures(answers: u64, errors: u64) -> Vec<u64> {
    let mut figures = vec![0; FIGURES];
    (figures[ANSWERS], figures[ERRORS], figures[FAST]) = (answers, errors, answers);
    figures
}

/// Fifty a second at most, and as fast as the origin is well.
#[test]
fn while_the_origin_fails_nobody_is_told_a_time() {
    let base = rate(50);
    let adaptive = Adaptive {
        signal: Signal::Latency,
        target_ms: 500,
        max_errors: 50,
        min: Rate { count: 1, per_ms: 1_000 },
        completes: 1_000,
    };
    let mut room = Room::new(Settings { adaptive: Some(adaptive), max_waiting: None, ..base });
    room.join(50_000);
    let rate = |room: &Room| room.view.counts().adapted.expect("adaptive").rate;
    let mut well = |_: &mut Room, batch: &mut Batch| batch.figures = figures(30, 0);
    let mut fails = |_: &mut Room, batch: &mut Batch| batch.figures = figures(30, 30);
    while rate(&room) < 12_000 {
        run_with(&mut room, 1, &mut well);
    }
    let before = room.view.eta(1_000).expect("turns come").seconds;
    assert!((50..300).contains(&before), "{before}");
    while rate(&room) > 0 {
        run_with(&mut room, 1, &mut fails);
    }
    let turns = room.view.counts().turns;
    for _ in 0..40 {
        assert!(!room.view.is_paused(), "no operator's word");
        assert_eq!(room.view.eta(1_000), None, "nobody knows");
        let apps = room.view.reckoned_eta(1_000).seconds;
        assert!((50..=1_000).contains(&apps), "a number for apps, as it was lately: {apps}");
        run_with(&mut room, 5, &mut fails);
    }
    assert_eq!(room.view.counts().turns, turns);
    while rate(&room) == 0 {
        run_with(&mut room, 1, &mut well);
    }
    run_with(&mut room, 20, &mut well);
    let rate = rate(&room) as f64 / 1_000.0;
    let after = room.view.eta(1_000).expect("turns come").seconds;
    assert!(is_near(after, (1_000.0 / rate) as u64, 15), "{after} at {rate} a second");
}

/// Who comes, all the time: so many a second without a class, and of each class. Every other time before another node.
struct Inflow {
    general: u64,
    classes: Vec<(Class, u64)>,
    half_seconds: u64,
    elsewhere: u64,
}

impl Inflow {
    fn come(&mut self, room: &mut Room, batch: &mut Batch) {
        let before = self.half_seconds;
        self.half_seconds += 1;
        // Each of those with a class is heard of every now and then.
        let all = room.view.queue(1, usize::MAX).into_iter().map(|(_, number)| number);
        let classed: Vec<Number> =
            all.filter(|number| room.view.class_rank(*number).is_some()).collect();
        let turn = before as usize * 100 % classed.len().max(1);
        batch.present = classed.into_iter().skip(turn).take(100).collect();
        let due = |a_second: u64| (before + 1) * a_second / 2 - before * a_second / 2;
        let mut joins = vec![Join::Plain(due(self.general) as u32)];
        for (class, a_second) in &self.classes {
            let keyed = Keyed { class: Some(class.name.clone()), ..Keyed::default() };
            joins.extend((0..due(*a_second)).map(|_| Join::Keyed(keyed.clone())));
        }
        if before.is_multiple_of(2) {
            batch.joins = joins;
            return;
        }
        self.elsewhere += 1;
        let epoch = room.line.counts().epoch;
        let mut other = Batch { epoch, joins, ..View::default().greeting(8, self.elsewhere) };
        other.draw = batch.draw;
        room.line.apply(&other, room.moment()).expect("within bounds");
    }
}

/// In a line with people of classes all the time: the last of the line, somebody in the middle and somebody near its end, told and kept.
fn overtaken(what: &str, order: ClassOrder, share: u64, classes: &[(u64, u64, u64)], general: u64) {
    let class = |nth: usize, (skip, rank, a_second): (u64, u64, u64)| {
        (Class { name: format!("c{nth}"), skip, rank }, a_second)
    };
    let classes: Vec<(Class, u64)> =
        classes.iter().enumerate().map(|(nth, one)| class(nth, *one)).collect();
    let settings = Settings {
        classes: classes.iter().map(|(class, _)| class.clone()).collect(),
        class_order: order,
        class_share: share,
        max_waiting: None,
        ..rate(10)
    };
    let mut inflow = Inflow { general, classes, half_seconds: 0, elsewhere: 0 };
    for part in [0.3, 0.6, 1.0] {
        let mut room = Room::new(settings.clone());
        room.join(1_500);
        let mut come = |room: &mut Room, batch: &mut Batch| inflow.come(room, batch);
        run_with(&mut room, 100, &mut come);
        // Of those who come after these the view may not know yet that they have a class.
        let known = room.view.counts().issued;
        run_with(&mut room, 2, &mut come);
        let all = room.view.waiting();
        let queue = room.view.queue(1, (all as f64 * part) as usize);
        let ordinary = |number: &Number| {
            let waits = room.standing(*number) == Standing::Waiting;
            *number <= known && waits && room.view.class_rank(*number).is_none()
        };
        let last = queue.iter().rev().map(|(_, number)| *number).find(ordinary);
        let number = last.expect("somebody without a class");
        let position = room.view.position(number);
        let (eta, kept) = promised_and_kept_with(&mut room, number, &mut come);
        let case = format!("{what}, {part} of {all}, at {position:?}: {eta:?}, was {kept}");
        assert!(is_near(eta.seconds, kept, 15), "{case}");
        assert!(eta.low <= kept && kept <= eta.high, "{case}");
    }
}

#[test]
fn those_who_will_overtake_are_counted_in() {
    let (skip, strict) = (ClassOrder::Skip, ClassOrder::Strict);
    overtaken("nobody of the class comes", skip, 1_000, &[(1_000, 0, 0)], 5);
    overtaken("all of the line", skip, 1_000, &[(1_000, 0, 5)], 5);
    overtaken("and nobody else comes", skip, 1_000, &[(1_000, 0, 5)], 0);
    overtaken("by rank", strict, 1_000, &[(0, 1, 5)], 5);
    overtaken("half of it", skip, 1_000, &[(500, 0, 5)], 5);
    overtaken("a tenth of it", skip, 1_000, &[(100, 0, 4)], 6);
    overtaken("two classes", skip, 1_000, &[(1_000, 0, 2), (500, 0, 3)], 5);
    overtaken("two ranks and one without", strict, 1_000, &[(0, 1, 2), (0, 2, 2), (500, 0, 2)], 4);
}

#[test]
fn no_more_than_their_share_will_overtake() {
    let (skip, strict) = (ClassOrder::Skip, ClassOrder::Strict);
    overtaken("more than the share", skip, 250, &[(1_000, 0, 5)], 5);
    overtaken("less than the share", skip, 500, &[(1_000, 0, 2)], 8);
    overtaken("by rank", strict, 250, &[(0, 1, 5)], 5);
    overtaken("by rank, less", strict, 500, &[(0, 1, 2)], 5);
    overtaken("half of the line", skip, 250, &[(500, 0, 5)], 5);
    overtaken("as many as there are turns", skip, 300, &[(1_000, 0, 12)], 3);
    overtaken("none of them", skip, 0, &[(1_000, 0, 5)], 5);
}

/// Somebody of the class is overtaken by nobody who comes later: a backlog of them goes as fast as turns come.
#[test]
fn those_who_overtake_are_told_right_too() {
    let class = Class { name: "c".to_owned(), skip: 1_000, rank: 0 };
    for share in [250, 1_000] {
        let settings = Settings { classes: vec![class.clone()], class_share: share, ..rate(10) };
        let mut room = Room::new(settings);
        room.join(4_000);
        let mut inflow =
            Inflow { general: 2, classes: vec![(class.clone(), 8)], half_seconds: 0, elsewhere: 0 };
        let mut come = |room: &mut Room, batch: &mut Batch| inflow.come(room, batch);
        run_with(&mut room, 100, &mut come);
        for _ in 0..2 {
            let joins =
                vec![Join::Keyed(Keyed { class: Some("c".to_owned()), ..Keyed::default() }); 100];
            room.with(|batch| batch.joins = joins);
        }
        let last = room.view.counts().issued;
        let (eta, kept) = promised_and_kept_with(&mut room, last, &mut come);
        assert!(is_near(eta.seconds, kept, 15), "share {share}: {eta:?}, was {kept}");
    }
}
