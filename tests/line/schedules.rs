//! When a room is open by its schedule: events that close, overlap and come again, hour by hour on a clock of the test's own.

use super::*;

const MINUTE: u64 = 60_000;

fn event(opens_ms: u64, closes_ms: Option<u64>) -> Event {
    Event {
        opens_ms: START_MS + opens_ms,
        prequeue_ms: 0,
        draw: false,
        closes_ms: closes_ms.map(|closes_ms| START_MS + closes_ms),
        every_ms: None,
    }
}

/// Ten turns a second while it is open; nobody is missed for being silent.
fn scheduled(schedule: Vec<Event>) -> Room {
    let base = rate(10);
    Room::new(Settings { schedule, heartbeat_timeout_ms: 20 * MINUTE, ..base })
}

fn phase(room: &Room) -> Phase {
    room.view.phase(room.wall_ms)
}

fn open_until(closes_ms: u64) -> Phase {
    Phase::Open { closes_ms: Some(START_MS + closes_ms) }
}

/// Whether somebody new gets a number.
fn takes(room: &mut Room) -> bool {
    match room.join(1) {
        Joined::Given { count: 1, .. } => true,
        Joined::Refused(Refusal::Closed) => false,
        other => panic!("{other:?}"),
    }
}

#[test]
fn after_closing_nobody_new_and_no_turns_and_who_is_inside_stays() {
    let mut room = scheduled(vec![event(0, Some(10_000))]);
    room.join(200);
    room.pass(9_500, &[]);
    assert_eq!(phase(&room), open_until(10_000));
    let terms = inside(room.claim(2));
    let before = room.idle();
    assert!((10..200).contains(&before.released), "{before:?}");
    room.pass(500, &[]);
    assert_eq!(phase(&room), Phase::Closed(None));
    let closed = room.idle();
    assert!(closed.released <= before.released + 5, "the last half second at most");
    assert!(!takes(&mut room));
    room.pass(30_000, &[]);
    assert_eq!(room.idle().released, closed.released);
    assert_eq!(room.claim(200), Claimed::Waiting);
    assert_eq!(inside(room.claim(2)), terms);
    assert_eq!(room.idle().waiting, closed.waiting);
}

#[test]
fn overlapping_events_are_one_opening() {
    let early = Event { prequeue_ms: 20_000, ..event(20_000, Some(40_000)) };
    // Its time before falls into the other one: open is open.
    let late = Event { prequeue_ms: 20_000, ..event(30_000, Some(60_000)) };
    let inner = event(32_000, Some(34_000));
    let mut room = scheduled(vec![late, inner, early]);
    assert!(matches!(phase(&room), Phase::Prequeue(next) if next.opens_ms == START_MS + 20_000));
    room.join(600);
    room.pass(19_500, &[]);
    assert_eq!(room.idle().released, 0, "before the opening");
    let mut released = Vec::new();
    for (ms, closes_ms) in [(25_000, 40_000), (31_000, 60_000), (33_000, 60_000), (39_000, 60_000)]
    {
        room.pass(START_MS + ms - room.wall_ms, &[]);
        assert_eq!(phase(&room), open_until(closes_ms), "at {ms}");
        released.push(room.idle().released);
    }
    room.pass(START_MS + 50_000 - room.wall_ms, &[]);
    assert_eq!(phase(&room), open_until(60_000), "the first has closed, the second has not");
    released.push(room.idle().released);
    assert!(released.is_sorted_by(|one, next| one < next), "turns all the time: {released:?}");
    room.pass(START_MS + 60_000 - room.wall_ms, &[]);
    assert_eq!(phase(&room), Phase::Closed(None));
    assert!(!takes(&mut room));
}

/// Open for a minute, every five minutes, and numbers are given from a minute before.
#[test]
fn an_event_comes_again_and_again() {
    let weekly = Event {
        prequeue_ms: MINUTE,
        every_ms: Some(5 * MINUTE),
        ..event(MINUTE, Some(2 * MINUTE))
    };
    let mut room = scheduled(vec![weekly]);
    for round in 0..3 {
        let opens_ms = START_MS + MINUTE + round * 5 * MINUTE;
        room.pass(opens_ms - 30_000 - room.wall_ms, &[]);
        let Phase::Prequeue(next) = phase(&room) else { panic!("round {round}") };
        assert_eq!((next.opens_ms, next.from_ms), (opens_ms, opens_ms - MINUTE));
        let before = room.idle();
        assert!(takes(&mut room));
        assert_eq!(room.idle().released, before.released, "not before the opening");
        room.pass(35_000, &[]);
        assert_eq!(phase(&room), Phase::Open { closes_ms: Some(opens_ms + MINUTE) });
        assert_eq!(room.idle().released, before.issued + 1, "everybody who came");
        assert_eq!(entered(room.join(1)), 1, "and who comes now");
        room.pass(MINUTE, &[]);
        let Phase::Closed(Some(next)) = phase(&room) else { panic!("round {round}") };
        assert_eq!(next.opens_ms, opens_ms + 5 * MINUTE);
        assert!(!takes(&mut room));
    }
}

/// An operator's word goes before the schedule, both ways.
#[test]
fn an_operators_mode_goes_before_the_schedule() {
    let closed = vec![event(0, Some(1_000))];
    let mut room = scheduled(closed.clone());
    room.pass(2_000, &[]);
    assert!(!takes(&mut room));
    room.offer(Settings { mode: Mode::Hold, schedule: closed.clone(), ..rate(10) });
    assert!(takes(&mut room), "they wait");
    assert_eq!(room.pass(2_000, &[]).released, 0);
    room.offer(Settings { mode: Mode::Bypass, schedule: closed.clone(), ..rate(10) });
    assert_eq!(entered(room.join(1)), 1);
    room.offer(Settings { schedule: closed, ..rate(10) });
    assert!(!takes(&mut room), "back to what the schedule says");
}
