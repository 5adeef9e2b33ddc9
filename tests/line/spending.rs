//! Passes that are good once.

use super::*;

fn renew(room: &mut Room, number: Number) -> Claimed {
    let renewal = Renewal { number, admitted_ms: START_MS, ..Renewal::default() };
    room.with(|batch| batch.renewals = vec![renewal]).renewals[0]
}

#[test]
fn a_pass_is_spent_once() {
    let mut room = Room::new(seats(2));
    room.join(3);
    assert_eq!(room.spend(1), Done::Freed);
    assert_eq!(room.spend(1), Done::Already);
    let twice = room.with(|batch| batch.spends = vec![2, 2, 1, 0, 99]);
    let expected = [Done::Freed, Done::Already, Done::Already, Done::Unknown, Done::Unknown];
    assert_eq!(twice.spends, expected);
    assert_eq!(twice.counts.inside, 2, "and its visitor stays where they are");
}

#[test]
fn a_batch_that_comes_again_spends_nothing_twice() {
    let mut room = Room::new(seats(1));
    room.join(1);
    let batch = Batch { spends: vec![1], ..room.batch() };
    assert_eq!(room.send(batch.clone()).spends, [Done::Freed]);
    let again = room.send(batch);
    assert_eq!((again.taken, &again.spends[..]), (Taken::Repeated, &[Done::Freed][..]));
}

#[test]
fn a_renewed_pass_is_the_same_pass() {
    let mut room = Room::new(Settings { session_max_ms: None, ..seats(1) });
    room.join(1);
    assert_eq!(room.spend(1), Done::Freed);
    for _ in 0..20 {
        inside(renew(&mut room, 1));
        room.pass(290_000, &[]);
        assert_eq!(room.spend(1), Done::Already, "however long the visit is");
    }
}

#[test]
fn a_session_that_is_over_spends_nothing_anew() {
    let mut room = Room::new(seats(1));
    room.join(1);
    inside(renew(&mut room, 1));
    assert_eq!(room.spend(1), Done::Freed);
    assert_eq!(room.end(1, Ending::Completed), Done::Freed);
    assert_eq!(room.spend(1), Done::Already);
    room.pass(590_000, &[]);
    assert_eq!(room.spend(1), Done::Already, "its pass may be good for as long");
}

#[test]
fn a_resumed_pass_is_the_same_pass() {
    let mut room = Room::new(seats(1));
    room.join(1);
    inside(renew(&mut room, 1));
    assert_eq!(room.spend(1), Done::Freed);
    room.pass(301_000, &[]);
    assert_eq!(room.standing(1), Standing::Expired(Reason::Ended(Ending::Idle)));
    inside(room.claim(1));
    assert_eq!(room.spend(1), Done::Already);
}

#[test]
fn a_pass_whose_seat_the_line_has_lost_is_spent_once_too() {
    let mut room = Room::new(seats(1));
    let lost = room.line.clone();
    room.join(1);
    inside(renew(&mut room, 1));
    room.line = lost;
    let spent = |room: &mut Room| {
        room.with(|batch| {
            batch.known.issued = 1;
            batch.spends = vec![1];
        })
        .spends[0]
    };
    assert_eq!(spent(&mut room), Done::Freed, "the pass proves itself");
    assert_eq!(spent(&mut room), Done::Already);
    assert_eq!(room.idle().inside, 0, "to spend is not to enter");
}

#[test]
fn spends_are_forgotten_when_no_pass_can_be_good_any_more() {
    let mut room = Room::new(Settings { max_waiting: None, ..Settings::default() });
    room.join(1_000);
    for some in (1..=1_000).collect::<Vec<Number>>().chunks(MAX_ITEMS) {
        room.with(|batch| batch.spends = some.to_vec());
    }
    let bytes = |room: &Room| format!("{:?}", room.line).len();
    let full = bytes(&room);
    // Their passes are over after thirty seconds, and that is forgotten after ten minutes more: by then each was kept
    // for another ten.
    room.pass(1_190_000, &[]);
    assert_eq!(room.spend(1), Done::Already);
    room.pass(20_000, &[]);
    assert!(bytes(&room) < full / 10, "{} of {full} bytes are left", bytes(&room));
    assert_eq!(room.spend(1), Done::Freed, "a number that nothing is known of");
}

#[test]
fn a_longer_visit_by_an_older_setting_is_not_forgotten() {
    let hour = Settings { session_idle_ms: Some(3_600_000), session_max_ms: None, ..seats(1) };
    let mut room = Room::new(hour);
    room.join(1);
    inside(renew(&mut room, 1));
    room.offer(Settings { session_idle_ms: Some(10_000), session_max_ms: None, ..seats(1) });
    assert_eq!(room.spend(1), Done::Freed);
    room.end(1, Ending::Revoked);
    room.pass(3_500_000, &[]);
    assert_eq!(room.spend(1), Done::Already, "its pass is good for an hour");
}

#[test]
fn a_reset_begins_anew() {
    let mut room = Room::new(seats(1));
    room.join(1);
    assert_eq!(room.spend(1), Done::Freed);
    let epoch = room.idle().epoch;
    room.command(Command::Reset);
    room.join(1);
    let stale = room.with(|batch| (batch.epoch, batch.spends) = (epoch, vec![1]));
    assert_eq!(stale.spends, [Done::Stale]);
    assert_eq!(room.spend(1), Done::Freed, "another visitor has this number now");
}
