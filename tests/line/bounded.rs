//! However much is due at once, an exchange does a bounded part of it, nobody's turn to be done comes never, and the reply says
//! that there is more.

use super::*;

/// So many inside whose seats end at the same moment, and the room at that moment.
fn seats_that_end_together(count: u64) -> Room {
    let settings = Settings {
        max_waiting: None,
        session_idle_ms: Some(60_000),
        session_max_ms: None,
        heartbeat_timeout_ms: 5_000,
        ..hold()
    };
    let mut room = Room::new(settings);
    room.join(u32::try_from(count).unwrap());
    room.command(Command::Release(count));
    let numbers: Vec<Number> = (1..=count).collect();
    for some in numbers.chunks(MAX_ITEMS) {
        room.with(|batch| batch.claims = some.to_vec());
    }
    assert_eq!(room.idle().inside, count);
    room.pass(59_500, &[]);
    room.wall_ms += 500;
    room
}

#[test]
fn seats_that_end_together_take_several_exchanges_and_the_reply_says_so() {
    let mut room = seats_that_end_together(1_000);
    let mut inside = Vec::new();
    loop {
        let counts = room.idle();
        inside.push(counts.inside);
        if !counts.backlog {
            break;
        }
    }
    assert_eq!(inside, [810, 620, 430, 240, 50, 0]);
}

/// Endings are to be forgotten, seats end and turns are given over gaps: each gets on in every exchange.
#[test]
fn no_duty_waits_for_all_the_others() {
    let mut room = seats_that_end_together(1_000);
    while room.idle().backlog {}
    // A thousand more enter, so that their seats end when those endings are old; of a crowd behind them few are here.
    room.pass(60_000, &[]);
    room.join(902_000);
    room.command(Command::Release(1_000));
    let next: Vec<Number> = (1_001..=2_000).collect();
    for some in next.chunks(MAX_ITEMS) {
        room.with(|batch| batch.claims = some.to_vec());
    }
    let here: Vec<Number> = (1..=300).map(|nth| 2_000 + nth * 3_000).collect();
    room.pass(59_500, &here);
    room.wall_ms += 500;
    let forgotten = |room: &Room| {
        let used = Standing::Expired(Reason::Used);
        (1..=1_000).filter(|number| room.standing(*number) == used).count()
    };
    let Counts { inside, waiting, .. } = room.line.counts();
    assert_eq!((forgotten(&room), inside, waiting), (0, 1_000, 300));
    let settings = room.view.settings().unwrap().clone();
    room.offer(Settings { mode: Mode::Auto, pace: Some(burst(500)), ..settings });
    let Counts { inside, admitted, backlog, .. } = *room.view.counts();
    assert_eq!((forgotten(&room), inside, admitted), (160, 1_000 - 30, 30));
    assert!(backlog);
    let mut exchanges = 1;
    while room.idle().backlog {
        exchanges += 1;
    }
    let Counts { inside, admitted, .. } = *room.view.counts();
    assert_eq!((forgotten(&room), inside, admitted), (1_000, 0, 300));
    assert!(exchanges < 20, "{exchanges}");
}

/// So many turns at once, and then hardly any.
fn burst(burst: u64) -> Pace {
    Pace::Rate { rate: Rate { count: 1, per_ms: 86_400_000 }, burst }
}

#[test]
fn turns_by_pace_over_gaps_are_more_to_do() {
    let settings = Settings { max_waiting: None, heartbeat_timeout_ms: 5_000, ..hold() };
    let mut room = Room::new(settings.clone());
    room.join(1_000_000);
    let here: Vec<_> = (1..=400).map(|nth| nth * 2_500).collect();
    room.pass(8_000, &here);
    let counts =
        room.offer(Settings { mode: Mode::Auto, pace: Some(burst(500)), ..settings }).counts;
    assert_eq!((counts.admitted, counts.backlog), (220, true));
    let counts = room.idle();
    assert_eq!((counts.admitted, counts.backlog), (400, false));
}

#[test]
fn nodes_are_counted_if_they_were_heard_around_the_last_sweep_or_since() {
    let settings = Settings { heartbeat_timeout_ms: 200_000, ..hold() };
    let mut room = Room::new(settings);
    let speak = |room: &mut Room, node: u128| {
        let sequence = room.sequence + 1;
        room.send(Batch { node, sequence, ..room.batch() }).counts
    };
    assert_eq!(room.line.counts().nodes, 1);
    assert_eq!(speak(&mut room, 8).nodes, 2);
    assert_eq!(speak(&mut room, 9).nodes, 3);
    assert_eq!(speak(&mut room, 8).nodes, 3, "heard before");
    let counts = room.pass(30_000, &[]);
    assert_eq!((counts.nodes, counts.swept_by, counts.swept_ms), (3, 0, 0), "no sweep yet");
    assert_eq!(speak(&mut room, 9).nodes, 3);
    let counts = room.pass(80_000, &[]);
    assert_eq!((counts.swept_by, counts.nodes), (7, 1), "the others were silent for over a minute");
    assert_eq!(counts.swept_ms, START_MS + 100_000, "half the heartbeat timeout");
    assert_eq!(speak(&mut room, 8).nodes, 2, "back");
    assert_eq!(speak(&mut room, 8).nodes, 2);
    room.wall_ms += 89_999;
    room.command(Command::Reset);
    assert_eq!(room.idle().nodes, 2, "a reset changes nothing about nodes");
}

#[test]
fn the_node_that_comes_first_sweeps() {
    let mut room = Room::new(Settings { heartbeat_timeout_ms: 5_000, ..hold() });
    for node in [8, 9, 8] {
        room.wall_ms += 2_000;
        room.idle();
        room.wall_ms += 500;
        let sequence = room.sequence + 1;
        let counts = room.send(Batch { node, sequence, ..room.batch() }).counts;
        assert_eq!((counts.swept_by, counts.swept_ms), (node, counts.clock_ms));
        assert_eq!(room.idle().swept_by, node);
    }
}
