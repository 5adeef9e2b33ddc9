//! An opening with a draw that is put off, brought forward or taken back while people wait for it.

use super::*;

const SECOND: u64 = 1_000;

/// Seconds after the start, and half a minute before that in which numbers are given.
fn event(opens: u64, draw: bool) -> Event {
    let (opens_ms, prequeue_ms) = (START_MS + opens * SECOND, 30 * SECOND);
    Event { opens_ms, prequeue_ms, draw, closes_ms: None, every_ms: None }
}

/// A turn a second while it is open; nobody is missed for being silent.
fn with(schedule: Vec<Event>) -> Settings {
    let heartbeat_timeout_ms = 1_200 * SECOND;
    Settings { schedule, heartbeat_timeout_ms, join_limits: Vec::new(), ..rate(1) }
}

fn until(room: &mut Room, seconds: u64) -> Counts {
    room.pass(START_MS + seconds * SECOND - room.wall_ms, &[])
}

/// A node says what the seed of an opening will be, or shows it.
fn tell(room: &mut Room, opens: u64, shown: bool) {
    let opens_ms = START_MS + opens * SECOND;
    let seed = shown.then_some([opens as u8; 32]);
    let lot = Lot { opens_ms, kid: "k".to_owned(), hash: [opens as u8 + 1; 32], seed };
    room.with(|batch| batch.lot = Some(lot));
}

fn phase(room: &Room) -> Phase {
    room.view.phase(room.wall_ms)
}

fn made(room: &Room) -> Vec<Draw> {
    room.view.drawn().told().made.clone()
}

/// Twenty wait for an opening after thirty seconds, and twenty have gone by.
fn waiting_for_thirty() -> Room {
    let mut room = Room::new(with(vec![event(30, true)]));
    room.join(20);
    tell(&mut room, 30, false);
    until(&mut room, 20);
    room
}

/// Those who came for the first of two times, and those for the second, were all drawn at an opening after so many seconds, as promised.
fn all_were_drawn(room: &Room, opens: u64) {
    let made = made(room);
    assert_eq!(made.len(), 1, "{made:?}");
    let Draw { opens_ms, after, upto, hash, .. } = made[0].clone();
    assert_eq!((after, upto), (0, 40), "whenever they came");
    assert_eq!(opens_ms, START_MS + opens * SECOND);
    assert_eq!(hash, Some([opens as u8 + 1; 32]), "as promised");
    assert!(matches!(phase(room), Phase::Open { .. }));
}

/// Whatever the schedule says until the next opening: closed, or a pre-queue of something else.
#[test]
fn whoever_came_for_an_opening_that_is_put_off_is_drawn_with_those_who_come_later() {
    let between = [None, Some(vec![event(75, false)]), Some(vec![event(10_000, false)])];
    for between in between {
        let mut room = waiting_for_thirty();
        if let Some(schedule) = between {
            room.offer(with(schedule));
            until(&mut room, 60);
        }
        room.offer(with(vec![event(120, true)]));
        assert!(matches!(phase(&room), Phase::Closed(Some(next)) if next.draw));
        assert_eq!(room.join(1), Joined::Refused(Refusal::Closed));
        tell(&mut room, 30, true);
        until(&mut room, 89);
        assert_eq!((made(&room), room.idle().released), (Vec::new(), 0));
        tell(&mut room, 120, false);
        until(&mut room, 95);
        room.join(20);
        until(&mut room, 120);
        tell(&mut room, 120, true);
        all_were_drawn(&room, 120);
    }
}

/// A store that forgets all of it while the opening is put off has it back from a node.
#[test]
fn a_prequeue_that_was_put_off_comes_back_from_a_node() {
    let mut room = Room::new(with(vec![event(60, true)]));
    assert_eq!(room.join(1), Joined::Refused(Refusal::Closed));
    let saved = room.line.clone();
    until(&mut room, 40);
    room.join(20);
    room.offer(with(vec![event(120, true)]));
    room.idle();
    assert!(matches!(phase(&room), Phase::Closed(_)));
    room.line = saved;
    room.run += 1;
    let report = room.view.report();
    room.with(|batch| batch.known.report = Some(Box::new(report)));
    until(&mut room, 45);
    room.offer(with(vec![event(120, true)]));
    until(&mut room, 95);
    room.join(20);
    tell(&mut room, 120, false);
    until(&mut room, 120);
    tell(&mut room, 120, true);
    let Draw { after, upto, .. } = made(&room)[0];
    assert!(after == 0 && upto >= 40, "{after} to {upto}: and a gap, in which numbers may be lost");
}

/// It opens when the file or an operator says so, and those who came are drawn then: at a moment that is to come as was promised at once,
/// at one that is past without a promise. The seed of the opening that was is worth nothing.
#[test]
fn an_opening_that_is_brought_forward_has_its_draw_then() {
    for opens in [25, 20, 15] {
        let mut room = waiting_for_thirty();
        room.offer(with(vec![event(opens, true)]));
        assert!(matches!(phase(&room), Phase::Prequeue(next) if next.draw));
        if opens > 20 {
            tell(&mut room, opens, false);
            until(&mut room, opens);
        }
        tell(&mut room, 30, true);
        assert_eq!((made(&room), room.idle().released), (Vec::new(), 0));
        assert_eq!(room.view.draw_due(room.wall_ms), Some(START_MS + opens * SECOND));
        tell(&mut room, opens, true);
        let made = made(&room);
        let promised = (opens > 20).then_some([opens as u8 + 1; 32]);
        assert_eq!((made[0].after, made[0].upto, made[0].hash), (0, 20, promised));
        assert!(matches!(phase(&room), Phase::Open { .. }));
        until(&mut room, 28);
        assert!(room.line.counts().released > 20, "nobody waits for the opening that was");
    }
}

/// Nobody is drawn where there is no draw: they have their turns in the order in which they came, and so have they when there is one later.
#[test]
fn without_a_draw_the_room_opens_in_the_order_of_arrival() {
    let (now, later) = (event(20, false), event(25, false));
    for schedule in [vec![], vec![now], vec![later], vec![later, event(30, true)]] {
        let mut room = waiting_for_thirty();
        room.offer(with(schedule));
        until(&mut room, 25);
        assert!(matches!(phase(&room), Phase::Open { .. }), "{:?}", phase(&room));
        tell(&mut room, 30, true);
        until(&mut room, 35);
        let released = room.line.counts().released;
        assert!((9..=16).contains(&released), "{released}");
        assert!(matches!(room.claim(released), Claimed::Inside(_)));
        room.offer(with(vec![event(70, true)]));
        until(&mut room, 45);
        room.join(20);
        until(&mut room, 70);
        tell(&mut room, 70, true);
        let made = made(&room);
        assert_eq!((made.len(), made[0].after, made[0].upto), (1, 20, 40));
    }
}

/// What is shut has no opening: whoever is held back while the schedule is rewritten is drawn when it has a draw again.
#[test]
fn a_room_on_hold_has_its_draw_though_its_schedule_was_taken_away_for_a_while() {
    let mut room = waiting_for_thirty();
    let held = |schedule| Settings { mode: Mode::Hold, ..with(schedule) };
    room.offer(held(vec![event(30, true)]));
    room.offer(held(vec![]));
    assert_eq!(phase(&room), Phase::Open { closes_ms: None });
    until(&mut room, 60);
    room.offer(held(vec![event(120, true)]));
    room.join(20);
    until(&mut room, 100);
    room.offer(with(vec![event(120, true)]));
    tell(&mut room, 120, false);
    until(&mut room, 120);
    tell(&mut room, 120, true);
    all_were_drawn(&room, 120);
}

/// Its seed is known to everybody: whoever is put back to it has no draw.
#[test]
fn an_opening_that_had_its_draw_has_no_other() {
    let mut room = waiting_for_thirty();
    until(&mut room, 30);
    tell(&mut room, 30, true);
    until(&mut room, 35);
    room.offer(with(vec![event(90, true)]));
    until(&mut room, 65);
    room.join(20);
    room.offer(with(vec![event(30, true)]));
    tell(&mut room, 30, true);
    assert_eq!(made(&room).len(), 1);
    assert!(matches!(phase(&room), Phase::Open { .. }));
    let before = room.idle().released;
    assert_eq!(until(&mut room, 70).released, before + 5);
}
