//! Classes: who skips what, who goes before whom, and what an invite is good for. The priorities of the systems this one
//! replaces are played as they wrote them.

use std::collections::BTreeMap;

use super::*;

fn class(name: &str, skip: u64, rank: u64) -> Class {
    Class { name: name.to_owned(), skip, rank }
}

/// Normal, elevated, VIP and premium: none, a tenth, half and all of the line.
fn levels() -> Vec<Class> {
    vec![
        class("normal", 0, 0),
        class("elevated", 100, 1),
        class("vip", 500, 2),
        class("premium", 1_000, 3),
    ]
}

fn of(class: &str) -> Keyed {
    Keyed { class: Some(class.to_owned()), ..Keyed::default() }
}

fn number(joined: Joined) -> Number {
    match joined {
        Joined::Given { first, .. } => first,
        other => panic!("no number: {other:?}"),
    }
}

fn classed(joined: Joined) -> Option<Classed> {
    match joined {
        Joined::Given { class, .. } => class,
        other => panic!("no number: {other:?}"),
    }
}

/// Everybody who waits, called one by one.
fn served(room: &mut Room) -> Vec<Number> {
    let queue: Vec<Number> = room.view.queue(1, 1_000).into_iter().map(|(_, n)| n).collect();
    for (nth, number) in queue.iter().enumerate() {
        assert_eq!(room.view.position(*number), Some(nth as u64 + 1), "of {number}");
    }
    let Commanded::Released { called, .. } = room.command(Command::Release(1_000)) else {
        panic!("a release")
    };
    assert_eq!(called, queue, "whoever is told a position has it");
    called
}

#[test]
fn each_level_skips_its_part_of_the_line() {
    let mut room = Room::new(Settings { classes: levels(), ..hold() });
    room.join(100);
    let place = |joined| match classed(joined) {
        Some(Classed::Placed { place, .. }) => place,
        other => panic!("no place of their own: {other:?}"),
    };
    assert_eq!(place(room.join_keyed(of("elevated"))), 101 - 10);
    assert_eq!(place(room.join_keyed(of("vip"))), 102 - 51);
    assert_eq!(place(room.join_keyed(of("premium"))), 0);
    assert_eq!(classed(room.join_keyed(of("normal"))), Some(Classed::Ordinary));
    assert_eq!(room.view.position(103), Some(1), "the head");
    assert_eq!(room.view.position(102), Some(52), "half of them, and the one at the head");
    assert_eq!(room.view.position(101), Some(93));
    assert_eq!(room.view.position(104), Some(104), "first come, first served");
    assert_eq!(room.view.position(1), Some(2));
    let called = served(&mut room);
    assert_eq!((called[0], called.len()), (103, 104));
}

#[test]
fn premium_enters_at_once_if_there_is_a_seat() {
    let mut room = Room::new(Settings { classes: levels(), ..seats(2) });
    assert_eq!(entered(room.join(2)), 2);
    assert_eq!(entered(room.join(1)), 0);
    assert_eq!(entered(room.join_keyed(of("premium"))), 0, "no seat is free");
    room.leave(1);
    assert_eq!(room.standing(4), Standing::Admitted, "before whoever came first");
    assert_eq!(room.standing(3), Standing::Waiting);
    assert!(matches!(room.claim(4), Claimed::Inside(_)));
    room.leave(2);
    assert_eq!(room.standing(3), Standing::Admitted);
}

/// "Check priority 3 first, then 2, 1, 0; within each, first in first out."
#[test]
fn strict_order_serves_level_by_level() {
    let settings = Settings { classes: levels(), class_order: ClassOrder::Strict, ..hold() };
    let mut room = Room::new(settings);
    let mut came: Vec<(u64, Number)> = Vec::new();
    for level in [0, 1, 0, 3, 2, 1, 3, 0, 2, 1] {
        let joined = room.join_keyed(of(&levels()[level].name));
        came.push((3 - level as u64, number(joined)));
    }
    came.sort();
    let expected: Vec<Number> = came.into_iter().map(|(_, number)| number).collect();
    assert_eq!(served(&mut room), expected);
}

#[test]
fn another_order_needs_no_new_list() {
    let skip = Settings { classes: levels(), ..hold() };
    let mut room = Room::new(skip.clone());
    room.join(3);
    for level in [1, 2, 1, 3, 2] {
        room.join_keyed(of(&levels()[level].name));
    }
    room.pass(1_000, &[]);
    let reply = room.offer(Settings { class_order: ClassOrder::Strict, ..skip });
    assert!(reply.update.express.is_none(), "nobody came or went");
    let queue: Vec<Number> = room.view.queue(1, 9).into_iter().map(|(_, n)| n).collect();
    assert_eq!(queue, [7, 5, 8, 4, 6, 1, 2, 3], "as it is from now on");
    assert_eq!(served(&mut room), queue);
}

#[test]
fn presale_partner_general() {
    let classes =
        vec![class("presale", 1_000, 2), class("partner", 500, 1), class("general", 0, 0)];
    let mut room = Room::new(Settings { classes, ..hold() });
    room.join(4);
    let partner = number(room.join_keyed(of("partner")));
    let presale = [number(room.join_keyed(of("presale"))), number(room.join_keyed(of("presale")))];
    let general = number(room.join_keyed(of("general")));
    assert_eq!(served(&mut room), [presale[0], presale[1], 1, 2, partner, 3, 4, general]);
}

#[test]
fn at_an_equal_place_rank_then_number() {
    let classes = vec![class("low", 1_000, 1), class("high", 1_000, 7)];
    let mut room = Room::new(Settings { classes, ..hold() });
    room.join(3);
    let low = number(room.join_keyed(of("low")));
    let high = [number(room.join_keyed(of("high"))), number(room.join_keyed(of("high")))];
    assert_eq!(served(&mut room), [high[0], high[1], low, 1, 2, 3]);
}

/// One turn in four, as long as both wait; then whoever is left has all of them.
#[test]
fn a_share_keeps_the_line_moving() {
    let base = rate(1);
    let settings = Settings { classes: levels(), class_share: 250, ..base };
    let mut room = Room::new(settings);
    room.with(|_| {});
    room.join(1); // takes the turn that the bucket starts with
    room.join(8);
    let premium: Vec<Number> = (0..4).map(|_| number(room.join_keyed(of("premium")))).collect();
    let told: Vec<Number> = room.view.queue(1, 100).into_iter().map(|(_, n)| n).collect();
    let mut called = Vec::new();
    let all: Vec<Number> = (1..=13).collect();
    for _ in 0..40 {
        room.wall_ms += 500;
        let before: Vec<Number> = told.iter().copied().filter(|n| !called.contains(n)).collect();
        let queue: Vec<Number> = room.view.queue(1, 100).into_iter().map(|(_, n)| n).collect();
        assert_eq!(queue, before, "what was told stays true");
        room.with(|batch| {
            batch.marks = all.clone();
            batch.present = premium.clone();
        });
        let news = told.iter().filter(|n| room.standing(**n) == Standing::Admitted);
        let news: Vec<Number> = news.copied().filter(|n| !called.contains(n)).collect();
        called.extend(news);
        room.wall_ms += 500;
        room.with(|batch| batch.marks = all.clone());
        let news: Vec<Number> = told
            .iter()
            .copied()
            .filter(|n| room.standing(*n) == Standing::Admitted && !called.contains(n))
            .collect();
        called.extend(news);
    }
    assert_eq!(called, told);
    let classes: Vec<bool> = called.iter().map(|number| premium.contains(number)).collect();
    for window in classes[..8].windows(4) {
        assert!(window.iter().filter(|classed| **classed).count() <= 1, "{classes:?}");
    }
    assert_eq!(classes.iter().filter(|classed| **classed).count(), 4);
}

#[test]
fn away_and_back_a_class_visitor_has_their_place() {
    let settings = Settings { classes: levels(), heartbeat_timeout_ms: 10_000, ..hold() };
    let mut room = Room::new(settings);
    room.join(2);
    let vip = number(room.join_keyed(of("premium")));
    room.pass(16_000, &[1, 2]);
    assert_eq!(room.standing(vip), Standing::Away);
    assert_eq!(room.view.position(1), Some(1), "skipped while away");
    assert_eq!(room.with(|batch| batch.returns = vec![vip]).returns, [Claimed::Waiting]);
    assert_eq!(room.standing(vip), Standing::Waiting);
    room.pass(1_500, &[1, 2]);
    assert_eq!((room.view.position(vip), room.view.position(1)), (Some(1), Some(2)));
    assert_eq!(room.leave(vip), Done::Freed);
    assert_eq!(room.standing(vip), Standing::Expired(Reason::Used), "found nowhere: over");
}

fn invited(id: u8, uses: u32, good_for_ms: u64) -> Keyed {
    let invite = Invite { id: [id; 16], uses, until_ms: START_MS + good_for_ms };
    Keyed { invite: Some(invite), ..of("vip") }
}

#[test]
fn an_invite_is_good_as_often_and_as_long_as_it_says() {
    let mut room = Room::new(Settings { classes: levels(), ..hold() });
    let not = |why| Some(Classed::Not(why));
    let is_placed = |joined| matches!(classed(joined), Some(Classed::Placed { .. }));
    assert!(is_placed(room.join_keyed(invited(1, 1, 60_000))));
    assert_eq!(classed(room.join_keyed(invited(1, 1, 60_000))), not(NotClassed::Spent));
    assert!(is_placed(room.join_keyed(invited(2, 2, 60_000))));
    assert!(is_placed(room.join_keyed(invited(2, 2, 60_000))));
    assert_eq!(classed(room.join_keyed(invited(2, 2, 60_000))), not(NotClassed::Spent));
    assert!((0..5).all(|_| is_placed(room.join_keyed(invited(3, 0, 60_000)))), "any number");
    assert_eq!(classed(room.join_keyed(invited(4, 1, 0))), not(NotClassed::Expired));
    let year_ms = 365 * 86_400_000;
    assert_eq!(classed(room.join_keyed(invited(4, 1, year_ms))), not(NotClassed::Expired));
    room.command(Command::RevokeInvite([3; 16]));
    assert_eq!(classed(room.join_keyed(invited(3, 0, 60_000))), not(NotClassed::Revoked));
    let Found::Invites(found) = room.line.find(Question::Invites) else { panic!("invites") };
    let told: Vec<_> = found.iter().map(|one| (one.id[0], one.used, one.revoked)).collect();
    assert_eq!(told, [(1, 1, false), (2, 2, false), (3, 5, true)]);
    // A reset takes the places, so it gives the uses back; a revocation stays.
    room.command(Command::Reset);
    assert!(is_placed(room.join_keyed(invited(1, 1, 60_000))));
    assert_eq!(classed(room.join_keyed(invited(3, 0, 60_000))), not(NotClassed::Revoked));
}

#[test]
fn the_same_device_uses_an_invite_once() {
    let mut room = Room::new(Settings { classes: levels(), ..hold() });
    let device = Some([9; 16]);
    let keyed = Keyed { once: device, device, proof: Some([8; 16]), ..invited(1, 1, 60_000) };
    let first = number(room.join_keyed(keyed.clone()));
    let Joined::Already { number, proven: true, class: Some(2), .. } = room.join_keyed(keyed)
    else {
        panic!("the same number, of the third class")
    };
    assert_eq!(number, first);
}

#[test]
fn who_has_no_class_here_joins_as_anybody() {
    let mut room = Room::new(Settings { classes: levels(), ..hold() });
    assert_eq!(classed(room.join_keyed(of("nobody"))), Some(Classed::Not(NotClassed::Unknown)));
    assert_eq!(room.view.position(1), Some(1));
    assert_eq!(classed(room.join_keyed(Keyed::default())), None);
}

/// Beyond what the head holds, a class join is an ordinary one, and counted.
#[test]
fn the_head_is_bounded() {
    let mut room = Room::new(Settings { classes: levels(), max_waiting: None, ..hold() });
    for _ in 0..40 {
        let joins = vec![Join::Keyed(of("premium")); 250];
        assert!(
            room.with(|batch| batch.joins = joins)
                .joins
                .iter()
                .all(|joined| { matches!(classed(*joined), Some(Classed::Placed { .. })) })
        );
    }
    let over = classed(room.join_keyed(of("premium")));
    assert_eq!(over, Some(Classed::Not(NotClassed::Crowded)));
    assert_eq!((room.idle().class_overflow, room.idle().classed), (1, 10_000));
    assert_eq!(room.view.position(10_001), Some(10_001));
}

/// Whoever waits, one turn after the other by the rules as they are written, as if those who are `back` were here, too. `placed`: place and
/// rank of class visitors.
fn walk(
    room: &Room,
    placed: &BTreeMap<Number, (Number, u64)>,
    here: &[Number],
    back: Option<Number>,
) -> Vec<Number> {
    let settings = room.view.settings().expect("they were offered");
    let (strict, share) = (settings.class_order == ClassOrder::Strict, settings.class_share);
    let (mut classed, mut ordinary): (Vec<Number>, Vec<Number>) =
        here.iter().copied().chain(back).partition(|number| placed.contains_key(number));
    classed.sort_by_key(|number| {
        let (place, rank) = placed[number];
        (if strict { 9 - rank } else { 0 }, place, 9 - rank, *number)
    });
    ordinary.sort_unstable();
    let mut classed = classed.into_iter().peekable();
    let mut ordinary = ordinary.into_iter().peekable();
    let (mut order, mut saved) = (Vec::new(), room.line.counts().class_balance);
    loop {
        let class_first = match (classed.peek(), ordinary.peek()) {
            (None, None) => return order,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (Some(classed), Some(ordinary)) => {
                let (place, rank) = placed[classed];
                let first = (place <= *ordinary || strict && rank > 0) && saved + share >= 1_000;
                saved = if first { saved + share - 1_000 } else { (saved + share).min(999) };
                first
            }
        };
        order.extend(if class_first { classed.next() } else { ordinary.next() });
    }
}

/// Hundreds of people in a random crowd: some in a class, some away, some called already; everybody's position, and the queue.
#[test]
fn positions_are_those_of_a_walk_from_turn_to_turn() {
    for (seed, share) in (1..).zip([0, 1, 250, 500, 999, 1_000, 333, 1_000]) {
        for class_order in [ClassOrder::Skip, ClassOrder::Strict] {
            walked(seed, class_order, share);
        }
    }
}

fn walked(seed: u64, class_order: ClassOrder, class_share: u64) {
    let mut state = seed;
    let mut below = |limit: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % limit
    };
    let classes: Vec<Class> = (0..5)
        .map(|nth| class(&format!("c{nth}"), below(1_001), (nth + below(3)) % 4))
        .filter(|class| class.skip > 0 || class.rank > 0)
        .collect();
    let names: Vec<String> = classes.iter().map(|class| class.name.clone()).collect();
    let (max_waiting, heartbeat_timeout_ms) = (None, 10_000);
    let settings =
        Settings { classes, class_order, class_share, max_waiting, heartbeat_timeout_ms, ..hold() };
    let mut room = Room::new(settings.clone());
    let mut placed = BTreeMap::new();
    for _ in 0..50 {
        room.join(1 + below(12) as u32);
        for _ in 0..below(6) {
            let joined = room.join_keyed(of(&names[below(names.len() as u64) as usize]));
            if let Some(Classed::Placed { place, rank }) = classed(joined) {
                placed.insert(number(joined), (place, rank));
            }
        }
    }
    let issued = room.line.counts().issued;
    let polls: Vec<Number> = (1..=issued).filter(|_| below(5) > 0).collect();
    let (present, marks): (Vec<Number>, Vec<Number>) =
        polls.into_iter().partition(|number| placed.contains_key(number));
    let pass = |room: &mut Room, seconds: u64| {
        for _ in 0..seconds {
            room.wall_ms += 1_000;
            room.with(|batch| (batch.marks, batch.present) = (marks.clone(), present.clone()));
        }
    };
    pass(&mut room, 16);
    let paced = Settings { mode: Mode::Auto, pace: rate(7).pace, ..settings.clone() };
    room.with(|batch| batch.offer = Some(Offer { version: 2, settings: paced }));
    pass(&mut room, 3);
    room.with(|batch| batch.offer = Some(Offer { version: 3, settings }));
    pass(&mut room, 12);

    let case = format!("seed {seed}, {class_order:?}, class_share {class_share}");
    let of = |wanted: Standing| -> Vec<Number> {
        (1..=issued).filter(|number| room.standing(*number) == wanted).collect()
    };
    let (here, away) = (of(Standing::Waiting), of(Standing::Away));
    let released = room.line.counts().released;
    assert!(here.len() > 100 && away.len() > 20, "{case}: a crowd worth the name");
    let order = walk(&room, &placed, &here, None);
    for (nth, number) in (1..).zip(&order) {
        assert_eq!(room.view.position(*number), Some(nth), "{case}: {number}");
    }
    let queue: Vec<Number> =
        room.view.queue(1, order.len() + 1).into_iter().map(|(_, n)| n).collect();
    assert_eq!(queue, order, "{case}");
    for number in
        away.into_iter().filter(|number| *number > released || placed.contains_key(number))
    {
        let back = walk(&room, &placed, &here, Some(number));
        let nth = back.iter().position(|other| *other == number).map(|nth| nth as u64 + 1);
        assert_eq!(room.view.position(number), nth, "{case}: {number}, who is away");
    }
}
