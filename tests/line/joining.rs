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
    assert_eq!(terms.expires_ms, START_MS + 30_000, "session_first: they have not waited");
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
    let first = Keyed { idempotency: key(9), address: key(8), ..device(1) };
    room.join_keyed(first.clone());
    room.wall_ms += 400;
    let Joined::Already { number, joined_ms, proven, standing, .. } = room.join_keyed(first) else {
        panic!("known");
    };
    assert_eq!((number, joined_ms, proven), (1, START_MS, true));
    assert_eq!(standing, Standing::Waiting);
    let Joined::Already { proven, .. } = room.join_keyed(device(1)) else { panic!("known") };
    assert!(!proven, "a device id is not a secret");
    let elsewhere = Keyed { address: key(7), idempotency: key(9), ..device(1) };
    let Joined::Already { proven, .. } = room.join_keyed(elsewhere) else { panic!("known") };
    assert!(proven, "the first join's idempotency key is");
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
fn one_exchange_lets_in_a_thousand_and_the_rest_come_with_the_next() {
    let mut room = Room::new(Settings { max_waiting: None, ..Settings::default() });
    assert_eq!(entered(room.join(2_500)), 1_000);
    assert_eq!(room.standing(1_001), Standing::Admitted);
    let reply = room.with(|batch| batch.claims = (1_001..=2_000).collect());
    assert!(reply.claims.iter().all(|claimed| matches!(claimed, Claimed::Inside(_))));
    assert_eq!(reply.counts.inside, 2_000);
}

#[test]
fn a_batch_out_of_bounds_is_refused_whole() {
    let mut room = Room::new(hold());
    let before = room.line.clone();
    let mut batch = room.batch();
    batch.claims = (1..=1_001).collect();
    let moment = room.moment();
    assert_eq!(room.line.apply(&batch, moment), Err(BadBatch::TooManyItems(1_001)));
    batch.claims.clear();
    batch.joins = vec![Join::Plain(700_000), Join::Plain(700_000)];
    assert_eq!(room.line.apply(&batch, moment), Err(BadBatch::TooManyBulk(1_400_000)));
    batch = Batch { sequence: 0, ..room.batch() };
    assert_eq!(room.line.apply(&batch, moment), Err(BadBatch::NoSequence));
    batch.sequence = 2;
    assert_eq!(room.line.apply(&batch, Moment { run: 0, ..moment }), Err(BadBatch::NoRun));
    assert_eq!(room.line, before);
}
