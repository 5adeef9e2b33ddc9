//! Joining: a number each, once each, refused with a reason.

use super::*;

fn key(byte: u8) -> Option<Key> {
    Some([byte; 16])
}

fn device(byte: u8) -> Keyed {
    Keyed { once: key(byte), device: key(byte), ..Keyed::default() }
}

#[test]
fn an_empty_room_lets_newcomers_straight_in() {
    let mut room = Room::new(seats(3));
    let Joined::Given { first: 1, count: 2, entered: 2, terms: Some(terms), .. } = room.join(2)
    else {
        panic!("two enter");
    };
    assert_eq!(terms.expires_ms, START_MS + 30_000, "session_first: they may never come back");
    assert_eq!(entered(room.join(2)), 1, "one seat is left");
    assert_eq!(room.standing(3), Standing::Active);
    assert_eq!(room.standing(4), Standing::Waiting);
    assert_eq!(room.view.position(4), Some(1));
}

#[test]
fn numbers_go_on_in_the_order_of_arrival() {
    let mut room = Room::new(hold());
    let reply = room.with(|batch| {
        batch.joins = vec![Join::Plain(3), Join::Keyed(device(1)), Join::Plain(2)];
    });
    let firsts: Vec<_> = reply
        .joins
        .iter()
        .map(|joined| match joined {
            Joined::Given { first, count, .. } => (*first, *count),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(firsts, [(1, 3), (4, 1), (5, 2)]);
    assert_eq!(reply.counts.waiting, 6);
}

#[test]
fn a_device_gets_its_number_again_until_it_is_over() {
    let mut room = Room::new(hold());
    let first = Keyed { idempotency: key(9), proof: key(8), ..device(1) };
    room.join_keyed(first.clone());
    room.wall_ms += 400;
    let Joined::Already { number, joined_ms, proven, standing, .. } = room.join_keyed(first) else {
        panic!("known");
    };
    assert_eq!((number, joined_ms, proven), (1, START_MS, true));
    assert_eq!(standing, Standing::Waiting);
    let Joined::Already { proven, .. } = room.join_keyed(device(1)) else { panic!("known") };
    assert!(!proven, "a device id is not a secret");
    let elsewhere = Keyed { proof: key(7), idempotency: key(9), ..device(1) };
    let Joined::Already { proven, .. } = room.join_keyed(elsewhere) else { panic!("known") };
    assert!(proven, "the first join's idempotency key is");
    let counted = Keyed { address: key(8), ..device(1) };
    let Joined::Already { proven, .. } = room.join_keyed(counted) else { panic!("known") };
    assert!(!proven, "an address that is counted proves nothing");
    assert_eq!(room.leave(1), Done::Freed);
    assert!(matches!(room.join_keyed(device(1)), Joined::Given { first: 2, .. }));
}

#[test]
fn an_idempotency_key_alone_works_like_a_device_and_proves_itself() {
    let mut room = Room::new(hold());
    let once = Keyed { once: key(5), ..Keyed::default() };
    room.join_keyed(once.clone());
    let Joined::Already { number: 1, proven: true, .. } = room.join_keyed(once) else {
        panic!("the same join");
    };
}

#[test]
fn a_repeated_join_is_by_the_same_user_or_proves_nothing() {
    let as_user = |user: Option<u8>, keyed: Keyed| Keyed { user: user.and_then(key), ..keyed };
    let by_device = Keyed { idempotency: key(9), address: key(8), ..device(1) };
    let by_key = Keyed { once: key(5), idempotency: key(5), ..Keyed::default() };
    for keyed in [by_device, by_key] {
        for (first, again) in [(Some(1), Some(2)), (Some(1), None), (None, Some(1))] {
            let mut room = Room::new(hold());
            room.join_keyed(as_user(first, keyed.clone()));
            let told = room.join_keyed(as_user(again, keyed.clone()));
            assert!(matches!(told, Joined::Already { number: 1, proven: false, .. }), "{told:?}");
            let told = room.join_keyed(as_user(first, keyed.clone()));
            assert!(matches!(told, Joined::Already { number: 1, proven: true, .. }), "{told:?}");
        }
    }
    let mut room = Room::new(hold());
    room.join_keyed(as_user(Some(1), device(1)));
    let told = room.join_keyed(as_user(Some(1), device(1)));
    assert!(matches!(told, Joined::Already { proven: false, .. }), "the user alone proves nothing");
}

#[test]
fn an_app_that_finds_room_has_the_full_session() {
    let mut room = Room::new(seats(3));
    let by_key = Keyed { once: key(5), ..Keyed::default() };
    let counted = Keyed { address: key(4), ..Keyed::default() };
    for (keyed, lasts_ms) in [(device(1), 300_000), (by_key, 300_000), (counted, 30_000)] {
        let told = room.join_keyed(keyed.clone());
        let Joined::Given { entered: 1, terms: Some(terms), .. } = told else {
            panic!("enters: {told:?}");
        };
        assert_eq!(terms.expires_ms, START_MS + lasts_ms, "{keyed:?}");
    }
}

#[test]
fn a_full_line_refuses_and_counts_who_may_enter_at_once() {
    let settings = Settings { max_waiting: Some(5), ..seats(2) };
    let mut room = Room::new(settings);
    assert!(
        matches!(room.join(10), Joined::Given { first: 1, count: 7, entered: 2, .. }),
        "two enter, five wait, three are refused"
    );
    assert_eq!(room.join(1), Joined::Refused(Refusal::Full));
    room.leave(3);
    assert!(matches!(room.join(9), Joined::Given { count: 1, .. }));
}

#[test]
fn a_room_without_a_line_still_lets_people_in() {
    let mut room = Room::new(Settings { max_waiting: Some(0), ..seats(2) });
    assert_eq!(entered(room.join(5)), 2);
    assert_eq!(room.idle().waiting, 0);
    assert_eq!(room.join(1), Joined::Refused(Refusal::Full));
}

#[test]
fn drain_and_closed_take_nobody_new_but_know_their_own() {
    for mode in [Mode::Drain, Mode::Closed] {
        let mut room = Room::new(hold());
        room.join_keyed(device(1));
        room.offer(Settings { mode, max_active: Some(1), ..Settings::default() });
        assert_eq!(room.join(1), Joined::Refused(Refusal::Closed));
        let Joined::Already { number: 1, standing, .. } = room.join_keyed(device(1)) else {
            panic!("its place is kept");
        };
        let emptying = if mode == Mode::Drain { Standing::Admitted } else { Standing::Waiting };
        assert_eq!(standing, emptying);
    }
}

#[test]
fn too_many_joins_are_refused_until_the_time_named() {
    let limit = JoinLimit { subject: Subject::Address, max: 2, per_ms: 60_000 };
    let user = JoinLimit { subject: Subject::User, max: 1, per_ms: 3_600_000 };
    let mut room = Room::new(Settings { join_limits: vec![limit, user], ..hold() });
    let from = |address: u8| Keyed { address: key(address), ..Keyed::default() };
    assert!(matches!(room.join_keyed(from(1)), Joined::Given { .. }));
    assert!(matches!(room.join_keyed(from(1)), Joined::Given { .. }));
    let Joined::Refused(Refusal::Limited { subject: Subject::Address, retry_ms }) =
        room.join_keyed(from(1))
    else {
        panic!("the third in a minute");
    };
    assert!(matches!(room.join_keyed(from(2)), Joined::Given { .. }), "another address");
    room.pass(retry_ms - 1, &[]);
    assert!(matches!(room.join_keyed(from(1)), Joined::Refused(_)), "refusals are not counted");
    room.pass(1, &[]);
    assert!(matches!(room.join_keyed(from(1)), Joined::Given { .. }));
    let as_user = Keyed { user: key(3), address: key(4), ..Keyed::default() };
    assert!(matches!(room.join_keyed(as_user.clone()), Joined::Given { .. }));
    assert!(matches!(
        room.join_keyed(as_user),
        Joined::Refused(Refusal::Limited { subject: Subject::User, .. })
    ));
}

/// A device's first join is counted like any other, though nothing is kept of it but the join itself: a user, of whom nothing
/// else is remembered, meets the same limit at the same moments.
#[test]
fn the_first_join_of_a_device_counts() {
    for pause_ms in [0, 500, 7_000, 29_500, 31_000, 59_500, 61_000, 119_500, 121_000] {
        let limit = |subject| JoinLimit { subject, max: 2, per_ms: 60_000 };
        let join_limits = vec![limit(Subject::Device), limit(Subject::User)];
        let mut room = Room::new(Settings { join_limits, ..hold() });
        let user = Keyed { user: key(1), ..Keyed::default() };
        let mut refused = Vec::new();
        for nth in 0..6 {
            let [by_device, by_user] =
                [device(1), user.clone()].map(|keyed| room.join_keyed(keyed));
            match (by_device, by_user) {
                (
                    Joined::Refused(Refusal::Limited { retry_ms: one, .. }),
                    Joined::Refused(Refusal::Limited { retry_ms: other, .. }),
                ) => {
                    assert_eq!(one, other, "after {pause_ms} ms");
                    refused.push(nth);
                }
                (Joined::Given { .. } | Joined::Already { .. }, Joined::Given { .. }) => {}
                other => panic!("{other:?}, the {nth}th after {pause_ms} ms"),
            }
            if nth % 2 == 0 {
                room.leave(1); // Whether it waits or comes anew makes no difference.
            }
            room.pass(pause_ms, &[]);
        }
        // Two a minute are allowed.
        assert_eq!(refused.is_empty(), pause_ms > 30_000, "{pause_ms} ms: {refused:?}");
    }
}

#[test]
fn a_device_that_is_forgotten_sooner_than_its_limit_is_counted_by_it() {
    let join_limits = vec![JoinLimit { subject: Subject::Device, max: 2, per_ms: 3_600_000 }];
    let mut room = Room::new(Settings { join_limits, ticket_max_ms: 60_000, ..hold() });
    for _ in 0..2 {
        assert!(matches!(room.join_keyed(device(1)), Joined::Given { .. }));
        let number = room.line.counts().issued;
        room.leave(number);
        room.pass(180_000, &[]);
    }
    assert!(matches!(room.join_keyed(device(1)), Joined::Refused(Refusal::Limited { .. })));
}

#[test]
fn a_hundred_thousand_at_once() {
    let mut room = Room::new(Settings { max_waiting: None, ..seats(10) });
    assert!(matches!(
        room.join(100_000),
        Joined::Given { first: 1, count: 100_000, entered: 10, .. }
    ));
    assert_eq!(room.idle().waiting, 99_990);
    assert_eq!(room.view.position(100_000), Some(99_990));
}

#[test]
fn one_exchange_lets_in_some_and_the_rest_come_with_the_next() {
    let mut room = Room::new(Settings { max_waiting: None, ..Settings::default() });
    assert_eq!(entered(room.join(2_500)), 249, "the steps but for the one that called them");
    assert_eq!(room.standing(250), Standing::Admitted);
    let reply = room.with(|batch| batch.claims = (250..=499).collect());
    assert!(reply.claims.iter().all(|claimed| matches!(claimed, Claimed::Inside(_))));
    assert_eq!(reply.counts.inside, 499);
}

#[test]
fn a_batch_out_of_bounds_is_refused_whole() {
    let mut room = Room::new(hold());
    let before = room.line.clone();
    let mut batch = room.batch();
    batch.claims = (1..=251).collect();
    let moment = room.moment();
    assert_eq!(room.line.apply(&batch, moment), Err(BadBatch::TooManyItems(251)));
    batch.claims.clear();
    batch.commands = vec![Command::Pause.into(); 11];
    assert_eq!(room.line.apply(&batch, moment), Err(BadBatch::TooManyCommands(11)));
    batch.commands.clear();
    let report = Report { called: vec![1; 501], ..Report::default() };
    batch.known.report = Some(Box::new(report));
    assert_eq!(room.line.apply(&batch, moment), Err(BadBatch::TooLongReport(501)));
    batch.known.report = None;
    batch.joins = vec![Join::Plain(700_000), Join::Plain(700_000)];
    assert_eq!(room.line.apply(&batch, moment), Err(BadBatch::TooManyBulk(1_400_000)));
    batch = Batch { sequence: 0, ..room.batch() };
    assert_eq!(room.line.apply(&batch, moment), Err(BadBatch::NoSequence));
    batch.sequence = 2;
    assert_eq!(room.line.apply(&batch, Moment { run: 0, ..moment }), Err(BadBatch::NoRun));
    assert_eq!(room.line, before);
}
