//! What time brings: sweeps, lapses, moves of the base; and all of it at once.

use anteroom::line::{Batch, Join, MAX_BULK, Number, OnAbsence, Settings};

use super::super::beside::grouped;
use super::super::node::{Clock, ITEMS, Node, Spread, settings};
use super::super::server::Redis;
use super::Kind;

/// The shortest there is: half of it is a period.
const HEARTBEAT_MS: u64 = 5_000;
const PERIOD_MS: u64 = HEARTBEAT_MS / 2;

/// A period ends: everybody is here; half is not; and the places of half of them are given up.
pub(super) fn sweeps(waiting: u64, rounds: u64) -> Vec<Kind> {
    let (redis, clock) = (Redis::start(), Clock::new());
    let lively =
        |on_absence| Settings { heartbeat_timeout_ms: HEARTBEAT_MS, on_absence, ..settings() };
    let mut node = Node::open(&redis, Some(&clock), lively(OnAbsence::Keep));
    node.join(waiting);
    let all = |node: &mut Node<'_>| {
        node.hear_all(waiting);
    };
    let half = |node: &mut Node<'_>| {
        for part in (1..=waiting).step_by(2).collect::<Vec<_>>().chunks(MAX_BULK as usize) {
            node.send(Batch { marks: part.to_vec(), ..Batch::default() });
        }
    };
    let periods = |node: &mut Node<'_>, heard: &dyn Fn(&mut Node<'_>)| -> Vec<f64> {
        let mut period = || {
            heard(node);
            let taken = node.idle(&clock, 2, PERIOD_MS / 2);
            node.idle(&clock, 1, 0);
            assert!(node.last.update.bits.is_some(), "a sweep brings new bits");
            taken[1]
        };
        (0..rounds.max(4)).map(|_| period()).collect()
    };
    let everybody = periods(&mut node, &all);
    assert_eq!(node.view.counts().waiting, waiting);
    let some = periods(&mut node, &half);
    assert_eq!(node.view.counts().waiting, waiting.div_ceil(2));
    node.hear_all(waiting);
    node.offer(lively(OnAbsence::Remove));
    let removed = periods(&mut node, &half);
    vec![
        Kind::new("a sweep, everybody is here", everybody),
        Kind::new("a sweep, half of them are not", some),
        Kind::new("a sweep that takes the places of half of them", removed),
    ]
}

/// Most of a line has its turn, nobody comes, and their claim windows end: the base moves.
pub(super) fn base_moves(waiting: u64, rounds: u64) -> Vec<Kind> {
    let (redis, clock) = (Redis::start(), Clock::new());
    let hasty = Settings { claim_window_ms: 1_000, ..settings() };
    let mut node = Node::open(&redis, Some(&clock), hasty);
    let (mut lapses, mut moves) = (Vec::new(), Vec::new());
    for _ in 0..rounds.min(5) {
        let counts = node.view.counts();
        node.join(waiting - counts.waiting);
        // Where `used` is, there is something to move.
        let issued = node.view.counts().issued;
        node.send(Batch { leaves: vec![issued], ..Batch::default() });
        let turns = waiting / 5 * 4;
        node.release(turns);
        clock.pass(2_000);
        // The base moves before windows end, so one exchange after that.
        lapses.push(node.send(Batch::default()));
        assert_eq!(node.view.counts().no_shows % turns, 0, "nobody came");
        moves.push(node.send(Batch::default()));
    }
    vec![
        Kind::new("the windows of most of the line end", lapses),
        Kind::new("the base moves", moves),
    ]
}

/// A sweep every other exchange, and in each as much as it may carry: marks from all over, claims while seats expire and
/// endings are forgotten, newcomers; and the node has nothing yet, every time.
pub(super) fn everything(waiting: u64, rounds: u64) -> Vec<Kind> {
    const SESSION_MS: u64 = 5_000;
    let (redis, clock) = (Redis::start(), Clock::new());
    let busy = Settings {
        heartbeat_timeout_ms: HEARTBEAT_MS,
        session_idle_ms: Some(SESSION_MS),
        session_max_ms: None,
        ..settings()
    };
    let mut node = Node::open(&redis, Some(&clock), busy);
    node.join(waiting);
    node.hear_all(waiting);
    node.release(waiting / 2);
    let before = 3 * SESSION_MS / (PERIOD_MS / 2) + 1;
    let crowd = MAX_BULK.min(waiting);
    let marks = (1..=waiting).step_by((waiting / crowd) as usize).take(crowd as usize);
    let marks: Vec<Number> = marks.collect();
    node.is_forgetful = true;
    let send = |claims| {
        clock.pass(PERIOD_MS / 2);
        let joins = vec![Join::Plain(100)];
        node.send(Batch { marks: marks.clone(), claims, joins, ..Batch::default() })
    };
    let taken: Vec<f64> = Spread::new(waiting / 2, ITEMS, before + rounds).map(send).collect();
    let name = format!(
        "{} marks, {ITEMS} claims, joins, seats and endings due, a sweep, a first view",
        grouped(crowd)
    );
    vec![Kind::new(name, taken[before as usize..].to_vec())]
}
