//! Losing memory: the line comes back from what nodes and tickets know.

use super::*;

/// Exchanges every half second until the line goes on, as nodes do: with a report and an offer.
fn settle(room: &mut Room, view: &View, settings: &Settings) -> Counts {
    for _ in 0..10 {
        let offer = Some(Offer { version: 1, settings: settings.clone() });
        let known = Known { report: Some(Box::new(view.report())), ..view.known() };
        let reply = room.with(|batch| {
            batch.known = known;
            batch.offer = offer;
        });
        if reply.taken == Taken::Applied {
            return reply.counts;
        }
        room.wall_ms += 500;
    }
    panic!("the line settles within seconds");
}

fn lose(room: &mut Room, line: Line) {
    room.run += 1;
    room.line = line;
}

#[test]
fn restarted_empty_everybody_is_still_there() {
    let settings = Settings { max_waiting: None, ..seats(3) };
    let mut room = Room::new(settings.clone());
    room.join(10);
    room.leave(7);
    room.pass(80_000, &[4, 5, 6, 8, 9, 10]); // ghosts leave, others are admitted
    let view = room.view.clone();
    let before = room.idle();
    lose(&mut room, Line::default());
    let counts = settle(&mut room, &view, &settings);
    assert_eq!((counts.epoch, counts.released), (before.epoch, before.released));
    assert_eq!(counts.issued, 100_010, "a gap above what can have been lost");
    assert_eq!(room.standing(7), Standing::Expired(Reason::Used), "who left stays gone");
    for number in before.released + 1..=10 {
        if number != 7 {
            assert_eq!(room.standing(number), Standing::Waiting, "{number}");
        }
    }
    assert_eq!(counts.admitted, before.admitted);
    let Joined::Given { first: 100_011, .. } = room.join(1) else { panic!("never given before") };
}

#[test]
fn nothing_is_given_or_released_while_settling() {
    let settings = seats(5);
    let mut room = Room::new(settings.clone());
    room.join(2);
    let view = room.view.clone();
    lose(&mut room, Line::default());
    let reply = room.with(|batch| {
        batch.known = view.known();
        batch.offer = Some(Offer { version: 1, settings });
        batch.joins = vec![Join::Plain(1)];
        batch.claims = vec![1];
    });
    assert_eq!(reply.taken, Taken::Settling { left_ms: 2_000 });
    assert!(reply.joins.is_empty() && reply.claims.is_empty());
    assert_eq!(reply.counts.issued, 2);
}

#[test]
fn missing_seats_stay_taken_until_renewed_or_the_session_is_over() {
    let settings = seats(2);
    let mut room = Room::new(settings.clone());
    room.join(4);
    let view = room.view.clone();
    assert_eq!(view.known().taken, 2);
    lose(&mut room, Line::default());
    let counts = settle(&mut room, &view, &settings);
    assert_eq!((counts.inside, counts.missing), (0, 2));
    let renewal = Renewal { number: 1, admitted_ms: START_MS, ..Renewal::default() };
    inside(room.with(|batch| batch.renewals = vec![renewal]).renewals[0]);
    let counts = room.idle();
    assert_eq!((counts.inside, counts.missing, counts.released), (1, 1, 2), "nobody else enters");
    room.pass(300_000, &[3, 4]);
    let counts = room.idle();
    assert_eq!((counts.missing, counts.released), (0, 4));
}

#[test]
fn seats_are_not_counted_twice_because_a_view_is_older_than_its_counters() {
    let settings = Settings { max_active: Some(5), ..hold() };
    let mut room = Room::new(settings.clone());
    room.join(10);
    room.command(Command::Release(5));
    (1..=5).for_each(|number| _ = inside(room.claim(number)));
    let view = room.view.clone();
    lose(&mut room, Line::default());
    let counts = settle(&mut room, &view, &settings);
    assert_eq!(counts.inside + counts.admitted + counts.missing, 5);
    let renewals = (1..=5)
        .map(|number| Renewal { number, admitted_ms: START_MS, ..Renewal::default() })
        .collect();
    let counts = room.with(|batch| batch.renewals = renewals).counts;
    assert_eq!((counts.inside, counts.admitted, counts.missing), (5, 0, 0));
}

#[test]
fn an_end_holds_though_the_line_has_lost_the_seat() {
    let settings = seats(3);
    let mut room = Room::new(settings.clone());
    room.join(4);
    let view = room.view.clone();
    lose(&mut room, Line::default());
    assert_eq!(settle(&mut room, &view, &settings).missing, 3);
    room.end(1, Ending::Completed);
    room.end(2, Ending::Revoked);
    for (number, why) in [(1, Ending::Completed), (2, Ending::Revoked)] {
        let renewal = Renewal { number, admitted_ms: START_MS, ..Renewal::default() };
        let renewed = room.with(|batch| batch.renewals = vec![renewal]).renewals[0];
        assert_eq!(renewed, Claimed::Over(Reason::Ended(why)));
    }
    assert_eq!(room.idle().missing, 2, "whom an operator revokes may never have had a seat");
}

#[test]
fn a_node_that_has_given_no_number_still_knows_that_others_may_have() {
    let mut room = Room::new(hold());
    let view = room.view.clone();
    room.join(5); // by another node, which is not heard while settling
    lose(&mut room, Line::default());
    settle(&mut room, &view, &hold());
    assert!(matches!(room.join(1), Joined::Given { first: 100_001, .. }), "above the gap");
}

#[test]
fn a_batch_of_unknown_fate_is_not_applied_again_after_settling() {
    let mut room = Room::new(hold());
    let batch = Batch {
        joins: vec![Join::Plain(2)],
        commands: vec![Command::Release(1).into()],
        ..room.batch()
    };
    let first = room.send(batch.clone());
    room.run += 1; // the store failed over, with everything in it
    let mut again = room.send(batch.clone());
    while matches!(again.taken, Taken::Settling { .. }) {
        room.wall_ms += 500;
        again = room.send(batch.clone());
    }
    assert_eq!((again.taken, &again.joins), (Taken::Repeated, &first.joins));
    assert_eq!(again.counts.turns, first.counts.turns);
}

#[test]
fn a_replica_that_lags_takes_over() {
    let settings = Settings { max_waiting: None, ..hold() };
    let mut room = Room::new(settings.clone());
    room.join(10);
    let lagging = room.line.clone();
    room.join(10);
    room.command(Command::Release(5));
    inside(room.claim(3));
    room.end(3, Ending::Completed);
    let view = room.view.clone();
    lose(&mut room, lagging);
    let counts = settle(&mut room, &view, &settings);
    assert_eq!((counts.issued, counts.released), (100_020, 5));
    assert_eq!(room.standing(20), Standing::Waiting);
    assert_eq!(room.standing(2), Standing::Admitted);
    assert_eq!(room.standing(3), Standing::Completed, "whoever is done does not come again");
}

#[test]
fn one_ticket_above_issued_is_proof() {
    let mut room = Room::new(hold());
    room.join(5);
    let known = Known { issued: 8, ..room.view.known() };
    let counts = room.with(|batch| batch.known = known).counts;
    assert_eq!((counts.issued, counts.waiting), (100_008, 8), "6 to 8 are presumed here");
    let absurd = Known { issued: u64::MAX / 2, ..room.view.known() };
    assert_eq!(room.with(|batch| batch.known = absurd).counts.issued, 100_008);
}

#[test]
fn a_higher_epoch_on_a_ticket_is_taken_over() {
    let mut room = Room::new(hold());
    room.join(5);
    let epoch = room.idle().epoch;
    let known = Known { epoch: epoch + 3, issued: 2, ..Known::default() };
    let counts = room.with(|batch| batch.known = known).counts;
    assert_eq!((counts.epoch, counts.waiting), (epoch + 3, 2));
}

#[test]
fn a_room_nobody_knows_opens_with_the_clocks_epoch() {
    let mut room = Room::new(hold());
    lose(&mut room, Line::default());
    let counts = settle(&mut room, &View::default(), &hold());
    assert_eq!((counts.issued, counts.epoch), (0, room.wall_ms / 1_000));
}

#[test]
fn a_node_that_was_cut_off_vouches_for_those_it_saw() {
    let settings = Settings { heartbeat_timeout_ms: 60_000, ..hold() };
    let mut room = Room::new(settings);
    room.join(4);
    room.pass(100_000, &[3, 4]); // 1 and 2 poll a node that is cut off
    room.command(Command::Release(1));
    room.pass(130_000, &[3, 4]);
    assert_eq!(room.idle().lapsed, 3);
    assert_eq!(room.claim(1), Claimed::Over(Reason::Passed));
    let reply = room.with(|batch| batch.vouched = vec![1, 2, 3, 4]);
    assert_eq!(reply.vouched[..2], [Claimed::Waiting, Claimed::Waiting]);
    room.pass(1_000, &[4]);
    assert_eq!((room.view.position(1), room.view.position(2)), (Some(1), Some(2)));
    assert_eq!(room.view.position(4), Some(4), "3 did not come in time, but was seen, too");
}
