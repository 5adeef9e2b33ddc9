//! Seats with names: who sits in which, who goes to the end, and how long a place is kept for whoever is not on the line any more.

use super::*;

/// Two named seats, five minutes idle.
fn game() -> Settings {
    Settings { slots: vec!["X".to_owned(), "O".to_owned()], ..Settings::default() }
}

/// A newcomer: their number, and the slot they sit in at once; 0: they wait.
fn come(room: &mut Room, name: &str) -> (Number, u64) {
    match room.join_keyed(Keyed { name: Some(name.to_owned()), ..Keyed::default() }) {
        Joined::Given { first, terms, .. } => (first, terms.map_or(0, |terms| terms.slot)),
        other => panic!("no number: {other:?}"),
    }
}

fn renewal(number: Number, slot: u64) -> Renewal {
    Renewal { number, admitted_ms: START_MS, slot, extend: false }
}

fn renew(room: &mut Room, renewal: Renewal) -> Claimed {
    room.with(|batch| batch.renewals = vec![renewal]).renewals[0]
}

#[test]
fn the_lowest_free_slot_is_the_next_one_s_and_whoever_sits_keeps_theirs() {
    let mut room = Room::new(game());
    assert_eq!([come(&mut room, "Ann"), come(&mut room, "Bob")], [(1, 1), (2, 2)]);
    assert_eq!([come(&mut room, "Cid"), come(&mut room, "Dée")], [(3, 0), (4, 0)]);
    assert_eq!(inside(renew(&mut room, renewal(2, 2))).slot, 2);
    assert_eq!(inside(renew(&mut room, renewal(2, 1))).slot, 2, "1 is Ann's");
    room.leave(1);
    assert_eq!(room.standing(3), Standing::Admitted, "the oldest waiter, at once");
    assert_eq!(room.claim(4), Claimed::Waiting, "one place, one turn");
    assert_eq!(inside(room.claim(3)).slot, 1);
    room.leave(2);
    assert_eq!(inside(room.claim(4)).slot, 2);
    assert_eq!(room.idle().inside, 2);
}

/// The loser goes to the end, behind whoever waits, with their name; the winner stays.
#[test]
fn whoever_is_sent_back_waits_behind_those_who_waited() {
    let settings = Settings { roster: true, max_waiting: Some(100), ..game() };
    let mut room = Room::new(settings);
    for name in ["Ann", "Bob", "Cid", "Dée"] {
        come(&mut room, name);
    }
    assert_eq!(room.end(2, Ending::Requeued), Done::Freed);
    assert_eq!(room.end(2, Ending::Requeued), Done::Already);
    assert_eq!(room.standing(2), Standing::Expired(Reason::Ended(Ending::Requeued)));
    let Joined::Already { number: 5, standing: Standing::Waiting, .. } =
        room.join_keyed(Keyed::requeued(2))
    else {
        panic!("Bob's new number")
    };
    let bob = Keyed { name: Some("BOB".to_owned()), ..Keyed::default() };
    assert_eq!(room.join_keyed(bob), Joined::Refused(Refusal::NameTaken), "it went along");
    assert_eq!(inside(room.claim(3)).slot, 2);
    assert_eq!((room.view.position(4), room.view.position(5)), (Some(1), Some(2)));
    assert_eq!(room.standing(1), Standing::Active, "the winner stays");
    // In turn they lose, and each time whoever has waited longest plays.
    for (loser, next, slot) in [(1, 4, 1), (3, 5, 2), (4, 6, 1)] {
        room.end(loser, Ending::Requeued);
        assert_eq!(inside(room.claim(next)).slot, slot, "{next} for {loser}");
    }
}

/// Names of those who may come back are kept as far as there is room: three thousand come in three minutes, a thousand at a time, to seats that they
/// leave by being silent.
#[test]
fn newcomers_have_names_however_many_have_just_gone() {
    let settings = Settings {
        roster: true,
        max_active: Some(1_000),
        max_waiting: Some(1_000),
        session_idle_ms: Some(60_000),
        session_first_ms: 60_000,
        ..Settings::default()
    };
    let mut room = Room::new(settings);
    let named = |name: String| Join::Keyed(Keyed { name: Some(name), ..Keyed::default() });
    for group in 1..=3 {
        for first in (0..1_000).step_by(100) {
            let names = (first..first + 100).map(|nth| named(format!("{nth} of {group}")));
            let reply = room.with(|batch| batch.joins = names.collect());
            let given = |joined: &Joined| matches!(joined, Joined::Given { entered: 1, .. });
            assert!(reply.joins.iter().all(given), "{group}, {first}: {:?}", reply.joins[99]);
        }
        let again = Keyed { name: Some(format!("7 of {group}")), ..Keyed::default() };
        assert_eq!(room.join_keyed(again), Joined::Refused(Refusal::NameTaken), "who is inside");
        room.pass(70_000, &[]);
    }
}

#[test]
fn whoever_hangs_up_is_missed_after_a_while_unless_they_are_heard_of() {
    let mut room = Room::new(Settings { slot_grace_ms: 10_000, ..game() });
    for name in ["Ann", "Bob", "Cid"] {
        come(&mut room, name);
    }
    room.with(|batch| batch.hangups = vec![1, 2, 3]);
    room.pass(9_500, &[3]);
    inside(renew(&mut room, renewal(2, 2)));
    room.pass(1_000, &[3]);
    assert_eq!(room.standing(1), Standing::Expired(Reason::Ended(Ending::Left)), "not before");
    assert_eq!(room.standing(2), Standing::Active, "a page that was loaded anew");
    assert_eq!(inside(room.claim(3)).slot, 1);
    room.pass(15_000, &[]);
    assert_eq!(room.standing(2), Standing::Active, "heard of once, that is over");
    assert_eq!(room.standing(3), Standing::Active, "who only waited then had nothing to hang up");
}

/// One idle time more than activity is worth, by the origin's word or an operator's; never beyond the cap.
#[test]
fn an_extension_is_one_idle_time_more() {
    let mut room = Room::new(Settings { session_max_ms: Some(1_000_000), ..game() });
    come(&mut room, "Ann");
    come(&mut room, "Bob");
    assert_eq!(inside(renew(&mut room, renewal(1, 1))).expires_ms, START_MS + 300_000);
    let extended = inside(renew(&mut room, Renewal { extend: true, ..renewal(1, 1) }));
    assert_eq!((extended.expires_ms, extended.slot), (START_MS + 600_000, 1));
    assert_eq!(room.command(Command::Extend(2)), Commanded::Done);
    room.pass(450_000, &[]);
    assert_eq!([room.standing(1), room.standing(2)], [Standing::Active; 2]);
    let last = inside(renew(&mut room, Renewal { extend: true, ..renewal(1, 1) }));
    assert_eq!(last.expires_ms, START_MS + 1_000_000, "the cap is the cap");
    room.pass(151_000, &[]);
    assert_eq!(room.standing(2), Standing::Expired(Reason::Ended(Ending::Idle)));
    assert_eq!(room.command(Command::Extend(2)), Commanded::Ended(Done::Already));
    assert_eq!(room.command(Command::Extend(9)), Commanded::Ended(Done::Unknown));
}
