//! The line read along its order is the line read by number.

use anteroom::line::*;

use super::{Room, hold};

/// The same by asking for every number: slow, and plainly right.
fn naive(view: &View) -> Vec<(u64, Number)> {
    let numbers = 1..=view.counts().issued;
    let waiting = numbers.filter(|number| view.standing(*number) == Standing::Waiting);
    let mut all: Vec<_> = waiting.map(|n| (view.position(n).expect("waiting"), n)).collect();
    all.sort_unstable();
    all
}

#[track_caller]
fn check(view: &View) {
    let all = naive(view);
    assert_eq!(view.queue(1, usize::MAX), all);
    assert!(all.iter().enumerate().all(|(index, (position, _))| *position == index as u64 + 1));
    for from in [0, 1, 2, 63, 64, 65, 500, all.len() as u64, all.len() as u64 + 1, u64::MAX] {
        for limit in [0, 1, 2, 100] {
            let first = all.partition_point(|(position, _)| *position < from.max(1));
            let part: Vec<_> = all[first..].iter().copied().take(limit).collect();
            assert_eq!(view.queue(from, limit), part, "from {from} limit {limit}");
        }
    }
}

#[test]
fn who_is_next_is_who_stands_first() {
    let mut room = Room::new(hold());
    check(&room.view);
    room.join(1_000);
    check(&room.view);
    // Half of them are silent, and skipped; some of the rest give up.
    let here: Vec<Number> = (1..=1_000).filter(|n| n % 2 == 0 && n % 7 != 0).collect();
    room.pass(400_000, &here);
    assert!(room.view.waiting() < 500);
    check(&room.view);
    for number in [2, 4, 500, 998] {
        assert_eq!(room.leave(number), Done::Freed);
        room.view.leave(number);
    }
    check(&room.view);
    room.join(300);
    check(&room.view);
}

#[test]
fn whoever_comes_back_to_the_head_is_listed_there() {
    let mut room = Room::new(hold());
    room.join(200);
    let here: Vec<Number> = (1..=200).filter(|n| n % 10 != 0).collect();
    room.pass(400_000, &here);
    room.command(Command::Release(50));
    check(&room.view);
    // Passed over while away: to the head, before all who wait.
    for number in [10, 30, 20] {
        room.with(|batch| batch.returns = vec![number]);
    }
    room.pass(3_000, &here);
    assert_eq!(room.view.queue(1, 3).iter().map(|(_, n)| *n).collect::<Vec<_>>(), [10, 20, 30]);
    check(&room.view);
}

#[test]
fn a_release_names_whom_it_called() {
    let mut room = Room::new(hold());
    room.join(500);
    let here: Vec<Number> = (1..=500).filter(|n| n % 3 != 0).collect();
    room.pass(400_000, &here);
    let next: Vec<Number> = room.view.queue(1, 40).iter().map(|(_, number)| *number).collect();
    let Commanded::Released { count, express, after, upto, .. } =
        room.command(Command::Release(40))
    else {
        panic!("no release");
    };
    assert_eq!((count, express), (40, 0));
    assert_eq!(room.view.here_between(after, upto, usize::MAX), next);
    assert_eq!(room.view.here_between(after, upto, 3), next[..3]);
    assert_eq!(room.view.here_between(upto, upto, 3), [] as [Number; 0]);
    check(&room.view);
}

/// A part of a line of ten million costs what a part of a line of ten does: no walk over those before it.
#[test]
fn a_part_far_back_is_found_at_once() {
    let settings = Settings { max_waiting: None, ..hold() };
    let mut room = Room::new(settings);
    for _ in 0..10 {
        room.join(1_000_000);
    }
    let began = std::time::Instant::now();
    for from in (1..10_000_000).step_by(100_003) {
        assert_eq!(room.view.queue(from, 2), [(from, from), (from + 1, from + 1)]);
    }
    let each = began.elapsed() / 100;
    assert!(each < std::time::Duration::from_millis(5), "{each:?} a part");
}
