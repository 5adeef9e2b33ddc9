//! What would have happened: everybody is let in, and a line of counters beside them says who would have waited.

use super::*;

/// One turn a second, by the shadow's count.
fn shadow() -> Settings {
    Settings { mode: Mode::Shadow, ..rate(1) }
}

/// The minute that runs.
fn told(room: &Room) -> Option<Shadowed> {
    let Found::History(past) = room.line.find(Question::History) else { panic!("minutes") };
    past.last().and_then(|minute| minute.shadow)
}

#[track_caller]
fn reckoned(room: &Room) -> Shadowed {
    told(room).expect("a shadow")
}

#[test]
fn nobody_is_stopped_and_it_is_told_who_would_have_waited() {
    let mut room = Room::new(shadow());
    assert_eq!(entered(room.join(10)), 10, "whatever the rate says");
    let first = reckoned(&room);
    assert_eq!((first.arrived, first.turns, first.delayed, first.waiting), (10, 1, 9, 9));
    room.pass(4_000, &[]);
    let then = reckoned(&room);
    assert_eq!((then.turns, then.waiting, then.peak), (5, 5, 9));
    // Nine wait for the first second, eight for the next, and so on: read twice a second, what was so before.
    assert_eq!(then.waited_ms, 1_000 * (9 + 8 + 7 + 6), "{then:?}");
    room.pass(20_000, &[]);
    assert_eq!((reckoned(&room).turns, reckoned(&room).waiting), (10, 0), "all had their turn");
    assert_eq!(room.idle().waiting, 0);
}

#[test]
fn limits_refuse_nobody_but_are_told_of() {
    let mut room = Room::new(Settings { max_waiting: Some(3), ..shadow() });
    assert_eq!(entered(room.join(10)), 10);
    let told = reckoned(&room);
    assert_eq!((told.arrived, told.refused), (10, 6), "three, and the one whose turn it is");
    assert_eq!((told.turns, told.delayed, told.waiting), (1, 3, 3));
}

/// Of the seats that the shadow has as many become free as of the real ones.
#[test]
fn its_seats_become_free_as_the_real_ones_do() {
    let mut room = Room::new(Settings { mode: Mode::Shadow, ..seats(2) });
    assert_eq!(entered(room.join(5)), 5, "all of them, on two seats");
    assert_eq!((reckoned(&room).turns, reckoned(&room).waiting), (2, 3));
    room.pass(5_000, &[]);
    assert_eq!(reckoned(&room).turns, 2, "nobody has gone yet");
    room.with(|batch| batch.leaves = (1..=5).collect());
    room.idle();
    assert_eq!((reckoned(&room).turns, reckoned(&room).waiting), (4, 1));
}

#[test]
fn a_pause_is_the_shadows_alone_and_another_mode_is_its_end() {
    let mut room = Room::new(shadow());
    room.command(Command::Pause);
    assert_eq!(entered(room.join(4)), 4, "nobody is stopped");
    let before = reckoned(&room);
    room.pass(3_000, &[]);
    assert_eq!(reckoned(&room).turns, before.turns);
    room.command(Command::Resume);
    room.pass(3_000, &[]);
    assert!(reckoned(&room).turns > before.turns);
    room.offer(rate(1));
    room.idle();
    assert_eq!(told(&room), None);
    // The bucket is the one it was: the shadow paid from it.
    assert!(entered(room.join(5)) <= 1, "now they wait");
}
