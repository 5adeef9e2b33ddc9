//! Being inside: seats by idle time and cap, renewed, resumed, ended, taken back.

use super::*;

/// Five minutes idle, half an hour at most, two seats.
fn room() -> Room {
    Room::new(seats(2))
}

fn renew(room: &mut Room, number: Number) -> Claimed {
    let renewal = Renewal { number, admitted_ms: START_MS, ..Renewal::default() };
    room.with(|batch| batch.renewals = vec![renewal]).renewals[0]
}

#[test]
fn who_has_not_waited_has_thirty_seconds_until_they_come_back_once() {
    let mut room = room();
    room.join(2);
    assert_eq!(inside(renew(&mut room, 1)).expires_ms, START_MS + 300_000);
    room.pass(30_000, &[]);
    assert_eq!(room.standing(1), Standing::Active);
    assert_eq!(room.standing(2), Standing::Expired(Reason::Ended(Ending::Idle)), "a ghost");
}

#[test]
fn who_has_waited_has_the_full_idle_time() {
    let mut room = Room::new(hold());
    room.join(1);
    room.command(Command::Release(1));
    let terms = inside(room.claim(1));
    assert_eq!((terms.admitted_ms, terms.expires_ms), (START_MS, START_MS + 300_000));
}

#[test]
fn a_claim_again_gives_the_same_terms() {
    let mut room = Room::new(hold());
    room.join(1);
    room.command(Command::Release(1));
    let terms = inside(room.claim(1));
    room.pass(10_000, &[]);
    assert_eq!(inside(room.claim(1)), terms);
    assert_eq!(room.idle().entered, 1);
}

#[test]
fn activity_keeps_a_seat_until_the_cap() {
    let mut room = room();
    room.join(1);
    for _ in 0..8 {
        let terms = inside(renew(&mut room, 1));
        assert!(terms.expires_ms <= START_MS + 1_800_000);
        room.pass(240_000, &[]);
    }
    room.pass(120_000, &[]);
    assert_eq!(room.standing(1), Standing::Expired(Reason::Ended(Ending::Capped)));
    assert_eq!(renew(&mut room, 1), Claimed::Over(Reason::Ended(Ending::Capped)));
}

#[test]
fn idle_alone_and_cap_alone() {
    let idle = Settings { session_max_ms: None, ..Settings::default() };
    let mut room = Room::new(idle);
    room.join(1);
    for _ in 0..20 {
        inside(renew(&mut room, 1));
        room.pass(299_000, &[]);
    }
    let cap =
        Settings { session_idle_ms: None, session_max_ms: Some(60_000), ..Settings::default() };
    let mut room = Room::new(cap);
    room.join(1);
    assert_eq!(inside(renew(&mut room, 1)).expires_ms, START_MS + 60_000);
    room.pass(60_000, &[]);
    assert_eq!(renew(&mut room, 1), Claimed::Over(Reason::Ended(Ending::Capped)));
}

#[test]
fn an_idle_session_resumes_while_there_is_a_seat() {
    let mut room = room();
    room.join(2);
    room.pass(31_000, &[]);
    assert_eq!(room.idle().inside, 0);
    let terms = inside(room.claim(1));
    assert_eq!((terms.admitted_ms, room.idle().inside), (START_MS, 1));
    assert_eq!(entered(room.join(2)), 1);
    assert_eq!(room.claim(2), Claimed::Over(Reason::Ended(Ending::Idle)), "no seat is left");
    room.end(1, Ending::Completed);
    room.pass(300_000, &[]);
    assert_eq!(room.claim(2), Claimed::Over(Reason::Ended(Ending::Idle)), "too late");
}

#[test]
fn completed_left_and_revoked_never_resume() {
    for why in [Ending::Completed, Ending::Left, Ending::Revoked] {
        let mut room = room();
        room.join(1);
        assert_eq!(room.end(1, why), Done::Freed);
        assert_eq!(room.end(1, why), Done::Already);
        assert_eq!(room.claim(1), Claimed::Over(Reason::Ended(why)));
        assert_eq!(renew(&mut room, 1), Claimed::Over(Reason::Ended(why)));
        let standing = room.standing(1);
        match why {
            Ending::Completed => assert_eq!(standing, Standing::Completed),
            why => assert_eq!(standing, Standing::Expired(Reason::Ended(why))),
        }
    }
}

#[test]
fn whoever_went_idle_and_is_then_revoked_does_not_resume() {
    let mut room = room();
    room.join(1);
    room.pass(31_000, &[]);
    assert_eq!(room.end(1, Ending::Revoked), Done::Already);
    assert_eq!(room.claim(1), Claimed::Over(Reason::Ended(Ending::Revoked)));
}

#[test]
fn revoking_somebody_who_waits_takes_the_place() {
    let mut room = Room::new(hold());
    room.join(2);
    assert_eq!(room.end(1, Ending::Revoked), Done::Freed);
    assert_eq!(room.standing(1), Standing::Expired(Reason::Ended(Ending::Revoked)));
    assert_eq!(room.idle().waiting, 1);
}

#[test]
fn a_revoked_pass_stays_revoked_for_as_long_as_it_is_good() {
    let hour = Settings { session_idle_ms: Some(3_600_000), session_max_ms: None, ..seats(1) };
    let mut room = Room::new(hour);
    room.join(2);
    inside(renew(&mut room, 1));
    room.end(1, Ending::Revoked);
    inside(room.claim(2));
    room.offer(Settings { session_idle_ms: Some(10_000), session_max_ms: None, ..seats(1) });
    for _ in 0..20 {
        room.pass(9_000, &[]);
        inside(renew(&mut room, 2));
    }
    assert_eq!(renew(&mut room, 1), Claimed::Over(Reason::Ended(Ending::Revoked)));
    assert_eq!(room.idle().inside, 1);
    room.pass(3_600_000, &[]);
    assert_eq!(room.standing(1), Standing::Expired(Reason::Used), "and is forgotten then");
}

#[test]
fn without_an_idle_time_a_first_pass_that_ran_out_resumes_too() {
    let mut room = Room::new(Settings { session_idle_ms: None, ..seats(1) });
    room.join(1);
    room.pass(31_000, &[]);
    inside(room.claim(1));
}

#[test]
fn a_wall_clock_that_runs_back_keeps_the_seat_as_long_as_the_pass() {
    let mut room = room();
    room.join(1);
    inside(renew(&mut room, 1));
    room.wall_ms -= 600_000;
    room.pass(301_000, &[]);
    assert_eq!(room.standing(1), Standing::Active, "the pass is good for ten minutes more");
    room.pass(600_000, &[]);
    assert_eq!(room.standing(1), Standing::Expired(Reason::Ended(Ending::Idle)));
}

#[test]
fn an_expired_pass_whose_seat_is_still_held_is_renewed() {
    let mut room = room();
    room.join(1);
    room.wall_ms += 3_600_000; // the store was away: the room's clock stood still
    let terms = inside(room.claim(1));
    assert!(terms.expires_ms > room.wall_ms);
}

#[test]
fn lowering_max_active_lets_nobody_in_until_enough_have_gone() {
    let mut room = room();
    room.join(5);
    room.offer(seats(1));
    room.end(1, Ending::Completed);
    assert_eq!(room.idle().admitted, 0);
    room.end(2, Ending::Completed);
    assert_eq!(room.idle().admitted, 1);
}

#[test]
fn a_reset_voids_every_number() {
    let mut room = room();
    room.join(5);
    let epoch = room.idle().epoch;
    room.command(Command::Reset);
    let counts = room.idle();
    assert!(counts.epoch > epoch);
    assert_eq!((counts.issued, counts.waiting, counts.inside), (0, 0, 0));
    let stale = room.with(|batch| {
        batch.epoch = epoch;
        batch.claims = vec![1];
        batch.leaves = vec![2];
        batch.marks = vec![3];
        batch.renewals = vec![Renewal { number: 1, admitted_ms: START_MS, ..Renewal::default() }];
    });
    assert_eq!((stale.claims[0], stale.leaves[0]), (Claimed::Stale, Done::Stale));
    assert_eq!(stale.renewals[0], Claimed::Stale);
    assert!(matches!(room.join(1), Joined::Given { first: 1, .. }));
}
