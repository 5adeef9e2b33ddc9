//! The draw as a node sees it: when somebody came is no use to anybody, whatever class they have; every place is
//! one person's; and whoever was further than waiting is not drawn.

use sha2::{Digest as _, Sha256};

use super::*;

const OPENS_MS: u64 = START_MS + 10_000;

fn class(name: &str, skip: u64, rank: u64) -> Class {
    Class { name: name.to_owned(), skip, rank }
}

/// A room whose pre-queue has begun, and in which nobody has a turn but by hand.
fn before(classes: Vec<Class>) -> Room {
    let pace = Some(Pace::Rate { rate: Rate { count: 0, per_ms: 1_000 }, burst: 1 });
    let event = Event {
        opens_ms: OPENS_MS,
        prequeue_ms: 10_000,
        draw: true,
        closes_ms: None,
        every_ms: None,
    };
    let schedule = vec![event];
    let join_limits = Vec::new();
    Room::new(Settings { pace, classes, schedule, join_limits, ..Settings::default() })
}

/// They come one after the other, each with a class or (empty) without one.
fn come(room: &mut Room, who: &[&str]) {
    let join = |class: &&str| match *class {
        "" => Join::Plain(1),
        class => Join::Keyed(Keyed { class: Some(class.to_owned()), ..Keyed::default() }),
    };
    for some in who.chunks(200) {
        room.with(|batch| batch.joins = some.iter().map(join).collect());
    }
}

/// The opening.
fn draw(room: &mut Room, nth: u64) {
    let seed: Seed = Sha256::digest(nth.to_be_bytes()).into();
    room.wall_ms = room.wall_ms.max(OPENS_MS);
    let lot = Lot { opens_ms: OPENS_MS, kid: "k".to_owned(), hash: [1; 32], seed: Some(seed) };
    room.with(|batch| batch.lot = Some(lot));
}

/// Where those who came stand after the `nth` draw, in the order in which they came. Everybody has a position, nobody shares one.
fn drawn(classes: &[Class], who: &[&str], nth: u64) -> Vec<u64> {
    let mut room = before(classes.to_vec());
    come(&mut room, who);
    draw(&mut room, nth);
    let all = who.len() as u64;
    assert_eq!(room.view.waiting(), all, "nobody waits whom there is not");
    let numbers = 1..=all;
    let positions: Vec<u64> =
        numbers.map(|number| room.view.position(number).expect("a position")).collect();
    let mut sorted = positions.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (1..=all).collect::<Vec<_>>());
    if nth < 3 {
        let queue: Vec<Number> = room.view.queue(1, 1_000).into_iter().map(|(_, n)| n).collect();
        let told = room.view.drawn().clone();
        for (at, number) in queue.iter().enumerate() {
            assert_eq!(positions[told.ticket(*number) as usize - 1], at as u64 + 1);
        }
        let Commanded::Released { called, .. } = room.command(Command::Release(1_000)) else {
            panic!("a release")
        };
        assert_eq!(called, queue, "whoever is told a position has it");
    }
    positions
}

/// Positions of everybody with a class, a draw a row: what came of so many draws.
fn draws(classes: &[Class], who: &[&str], of: &str, seeds: u64) -> Vec<Vec<u64>> {
    let theirs = |positions: Vec<u64>| {
        let of = positions.into_iter().zip(who).filter(|(_, class)| **class == of);
        of.map(|(position, _)| position).collect()
    };
    (0..seeds).map(|nth| theirs(drawn(classes, who, nth))).collect()
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

/// Whether to have come early is no use: within five standard deviations of what chance gives, for all of them and for the first.
fn is_by_lot(what: &str, rows: &[Vec<u64>]) {
    let people = rows[0].len();
    let (middle, average) =
        ((people - 1) as f64 / 2.0, mean(rows.iter().flatten().map(|it| *it as f64)));
    let (mut together, mut came, mut stands) = (0.0, 0.0, 0.0);
    for (index, position) in rows.iter().flat_map(|row| row.iter().enumerate()) {
        let (index, position) = (index as f64 - middle, *position as f64 - average);
        together += index * position;
        came += index * index;
        stands += position * position;
    }
    let related = together / (came * stands).sqrt();
    let chance = 1.0 / ((people * rows.len()) as f64).sqrt();
    assert!(related.abs() < 5.0 * chance, "{what}: {related} where chance gives {chance}");
    let spread = (stands / (people * rows.len()) as f64).sqrt() / (rows.len() as f64).sqrt();
    for index in [0, 1, people - 1] {
        let theirs = mean(rows.iter().map(|row| row[index] as f64));
        let far = (theirs - average).abs();
        assert!(far < 5.0 * spread, "{what}: {index} stands at {theirs} of {average} ± {spread}");
    }
}

/// So many without a class, and every third with one, the first too.
fn mixed<'a>(classes: &[&'a str], people: usize) -> Vec<&'a str> {
    let one =
        |nth: usize| if nth.is_multiple_of(3) { classes[nth / 3 % classes.len()] } else { "" };
    (0..people).map(one).collect()
}

#[test]
fn without_a_class_everybody_is_drawn_alike() {
    let rows = draws(&[], &[""; 40], "", 400);
    is_by_lot("no classes at all", &rows);
    let classes = [class("fan", 500, 0), class("presale", 1_000, 2)];
    let rows = draws(&classes, &mixed(&["fan", "presale"], 40), "", 400);
    is_by_lot("beside classes", &rows);
}

#[test]
fn whoever_skips_all_is_before_all_others_in_an_order_by_lot() {
    let classes = [class("presale", 1_000, 0)];
    let who = mixed(&["presale"], 36);
    let rows = draws(&classes, &who, "presale", 600);
    is_by_lot("skip 1.0", &rows);
    let mut seen = vec![0_u64; 12 * 12];
    for row in &rows {
        assert!(row.iter().all(|position| *position <= 12), "before everybody else: {row:?}");
        row.iter()
            .enumerate()
            .for_each(|(at, position)| seen[at * 12 + *position as usize - 1] += 1);
    }
    // Every one of them at every place, as often as chance has it.
    let expected = rows.len() as f64 / 12.0;
    let found: f64 = seen.iter().map(|seen| (*seen as f64 - expected).powi(2) / expected).sum();
    assert!((found - 121.0).abs() < 5.0 * 242_f64.sqrt(), "chi-square {found}, 121 expected");
}

#[test]
fn whoever_skips_half_stands_at_half_of_where_the_others_are() {
    let classes = [class("partner", 500, 0)];
    for who in [mixed(&["partner"], 60), [vec!["partner"; 6], vec![""; 60]].concat()] {
        let rows = draws(&classes, &who, "partner", 500);
        is_by_lot("skip 0.5", &rows);
        let theirs = rows[0].len() as f64;
        let others = who.len() as f64 - theirs;
        // Those of their class before them are half of the others in it.
        let average = mean(rows.iter().flatten().map(|it| *it as f64)) - 1.0 - (theirs - 1.0) / 2.0;
        assert!(
            (average - others / 4.0).abs() < others / 40.0,
            "{average} of {others} before them"
        );
    }
    // Somebody alone stands anywhere in it, too.
    let rows = draws(&classes, &[vec!["partner"], vec![""; 40]].concat(), "partner", 500);
    let average = mean(rows.iter().flatten().map(|it| *it as f64));
    assert!((9.0..=12.5).contains(&average), "{average} of 41");
}

#[test]
fn a_large_part_of_a_short_line_is_no_tie_for_the_first() {
    let classes = [class("vip", 950, 1)];
    is_by_lot("skip 0.95", &draws(&classes, &mixed(&["vip"], 15), "vip", 1_500));
    let nobody_else = draws(&classes, &["vip"; 6], "vip", 1_500);
    is_by_lot("nobody else", &nobody_else);
    is_by_lot("first", &draws(&classes, &["vip", "vip", "", ""], "vip", 2_000));
}

#[test]
fn classes_and_ranks_keep_their_order_and_nobody_theirs_in_one() {
    let classes = [class("partner", 500, 0), class("presale", 1_000, 0), class("vip", 500, 2)];
    let who = mixed(&["vip", "partner", "presale"], 54);
    let of = |name: &str| draws(&classes, &who, name, 400);
    let (partner, presale, vip) = (of("partner"), of("presale"), of("vip"));
    for (name, rows) in [("partner", &partner), ("presale", &presale), ("vip", &vip)] {
        is_by_lot(name, rows);
    }
    let average = |rows: &[Vec<u64>]| mean(rows.iter().flatten().map(|it| *it as f64));
    assert!(average(&presale) < average(&vip) && average(&presale) < average(&partner));
    let apart = (average(&vip) - average(&partner)).abs();
    assert!(apart < 2.0, "the same part of the line: {apart}");
    let strict = |row: &[u64], other: &[u64]| row.iter().max() < other.iter().min();
    let all =
        draws(&[class("a", 1_000, 1), class("b", 1_000, 0)], &mixed(&["b", "a"], 36), "a", 50);
    let lower =
        draws(&[class("a", 1_000, 1), class("b", 1_000, 0)], &mixed(&["b", "a"], 36), "b", 50);
    assert!(all.iter().zip(&lower).all(|(a, b)| strict(a, b)), "the higher rank at one place");
}

#[test]
fn whoever_is_inside_or_called_before_the_opening_is_not_drawn() {
    let mut room = before(vec![class("presale", 1_000, 0)]);
    come(&mut room, &["presale", "presale", "presale", "", "", ""]);
    assert!(matches!(room.command(Command::Release(2)), Commanded::Released { .. }));
    inside(room.claim(1));
    assert_eq!(room.standing(1), Standing::Active);
    draw(&mut room, 5);
    let told = room.view.drawn().told().made.clone();
    assert_eq!((told[0].kept.clone(), told[0].count()), (vec![1, 2], 4));
    assert_eq!(told[0].head.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [3]);
    for number in [1, 2, 3] {
        assert_eq!(room.view.number(number), number, "their number is theirs");
    }
    assert_eq!(room.view.drawn().place(1), None, "no place was drawn for them");
    assert_eq!(room.view.drawn().place(3).map(|(_, place)| place), Some(1));
    assert_eq!((room.view.standing(2), room.view.waiting()), (Standing::Admitted, 4));
    assert_eq!(room.standing(1), Standing::Active);
    let renewal = Renewal { number: 1, admitted_ms: 0, slot: 0, extend: false };
    let renewed = room.with(|batch| batch.renewals = vec![renewal]).renewals[0];
    assert!(matches!(renewed, Claimed::Inside(_)), "{renewed:?}");
    assert_eq!(room.line.counts().inside, 1);
    inside(room.claim(2));
    let mut positions: Vec<u64> =
        (3..=6).map(|number| room.view.position(number).expect("a position")).collect();
    assert_eq!(positions[0], 1, "of the class");
    positions.sort_unstable();
    assert_eq!(positions, [1, 2, 3, 4]);
}

/// Their session was over before the opening for want of a sign of them, and their number was drawn like any: whoever is back in time has their
/// seat again, under the number on their ticket.
#[test]
fn whoever_was_idle_at_the_opening_resumes_after_it() {
    let mut room = before(vec![class("presale", 1_000, 0)]);
    let settings = room.view.settings().expect("known").clone();
    room.offer(Settings { session_idle_ms: Some(6_000), ..settings });
    come(&mut room, &["presale", "", "", "", ""]);
    room.command(Command::Release(1));
    inside(room.claim(1));
    room.pass(9_000, &[2, 3, 4, 5]);
    let idle = Standing::Expired(Reason::Ended(Ending::Idle));
    assert_eq!(room.view.standing(1), idle);
    draw(&mut room, 4);
    assert!(room.view.drawn().told().made[0].contains(1));
    assert_eq!((room.view.standing(1), room.view.number(1)), (idle, 1));
    inside(room.claim(1));
    assert_eq!((room.standing(1), room.idle().inside), (Standing::Active, 1));
}

/// Held from before the pre-queue on, and opened before the opening or after it: whoever came in the pre-queue is drawn, at the opening.
#[test]
fn a_room_on_hold_is_drawn_at_its_opening_all_the_same() {
    for auto_ms in [8_000, 15_000] {
        let event = Event {
            opens_ms: OPENS_MS,
            prequeue_ms: 5_000,
            draw: true,
            closes_ms: None,
            every_ms: None,
        };
        let base = Settings { heartbeat_timeout_ms: 60_000, join_limits: Vec::new(), ..rate(1) };
        let auto = Settings { schedule: vec![event], ..base };
        let mut room = Room::new(Settings { mode: Mode::Hold, ..auto.clone() });
        let phase = |room: &Room| room.view.phase(room.wall_ms);
        come(&mut room, &[""; 3]);
        assert_eq!(phase(&room), Phase::Open { closes_ms: None }, "who comes waits");
        room.pass(6_000, &[]);
        assert!(matches!(phase(&room), Phase::Prequeue(next) if next.draw), "{:?}", phase(&room));
        come(&mut room, &[""; 20]);
        let promise = Lot { opens_ms: OPENS_MS, kid: "k".to_owned(), hash: [1; 32], seed: None };
        room.with(|batch| batch.lot = Some(promise));
        assert!(room.view.drawn().told().commitment.is_some(), "promised while held");
        let open = |room: &mut Room| {
            room.pass(START_MS + auto_ms - room.wall_ms, &[]);
            assert_eq!(room.idle().released, 0, "held, or before the opening");
            room.offer(auto.clone());
        };
        if START_MS + auto_ms < OPENS_MS {
            open(&mut room);
        }
        draw(&mut room, 3);
        let made = room.view.drawn().told().made.clone();
        assert_eq!((made.len(), made[0].after, made[0].upto), (1, 3, 23), "{made:?}");
        assert_eq!(made[0].hash, Some([1; 32]), "as promised");
        if START_MS + auto_ms > OPENS_MS {
            assert!(matches!(phase(&room), Phase::Open { .. }));
            assert!(room.view.is_paused());
            open(&mut room);
        }
        room.pass(30_000, &[]);
        let next = room.line.counts().released;
        assert!(next > made[0].upto, "those who came first, then those who were drawn: {next}");
    }
}

#[test]
fn before_a_draw_the_head_is_shorter_and_who_comes_too_late_is_told() {
    let mut room = before(vec![class("presale", 1_000, 0)]);
    come(&mut room, &["presale"; 2_500]);
    let late = || Keyed { class: Some("presale".to_owned()), ..Keyed::default() };
    let class_of = |joined| match joined {
        Joined::Given { class, .. } => class,
        other => panic!("no number: {other:?}"),
    };
    let crowded = Some(Classed::Not(NotClassed::Crowded));
    assert_eq!(class_of(room.join_keyed(late())), crowded);
    draw(&mut room, 1);
    assert_eq!(room.view.position(2_501), Some(2_501), "drawn, alone");
    assert!(matches!(class_of(room.join_keyed(late())), Some(Classed::Placed { .. })));
}

/// A store that loses the draw has it back from a node, and the places at the head stay nobody's in the ordinary line.
#[test]
fn a_draw_comes_back_with_the_places_of_the_head() {
    let mut room = before(vec![class("partner", 500, 0)]);
    come(&mut room, &mixed(&["partner"], 30));
    let saved = room.line.clone();
    draw(&mut room, 9);
    let positions = |room: &Room| -> Vec<Option<u64>> {
        (1..=30).map(|number| room.view.position(number)).collect()
    };
    let drawn = positions(&room);
    room.line = saved;
    room.run += 1;
    let report = room.view.report();
    room.with(|batch| batch.known.report = Some(Box::new(report)));
    room.wall_ms += 2_500;
    room.idle();
    room.idle();
    assert_eq!(positions(&room), drawn);
    let place = room.view.drawn().told().made[0].head[0].1;
    assert_eq!(room.standing(place), Standing::Expired(Reason::Used));
}
