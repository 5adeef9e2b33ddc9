//! A line with as many places as one may have, in bitmaps as long as they get: nearly a third more, because `base` stays where it is
//! until a quarter of them is over.

use anteroom::line::{
    Batch, ClassOrder, Command, MAX_BULK, MAX_LETTERS, Number, OnAbsence, Settings,
};

use super::super::beside::grouped;
use super::super::node::{Clock, ITEMS, Node, Spread, settings};
use super::super::server::Redis;
use super::Kind;
use super::full::{self, HEAD, fill_head, rich};
use super::loss::settle;

/// The shortest there is: half of it is a period.
const HEARTBEAT_MS: u64 = 5_000;
/// Steps in which places become over until the base is about to move.
const STEPS: u32 = 5;

/// What costs by the length: marks as bits, views, sweeps, losses, a move of the base.
pub(super) fn longest(places: u64, rounds: u64) -> Vec<Kind> {
    let (redis, clock) = (Redis::start(), Clock::new());
    // Some are left for those of a class, and for who comes meanwhile.
    let mut node = grow(&redis, &clock, places - 3 * HEAD);
    let kind = |name: &str, taken| Kind::new(format!("{} places: {name}", grouped(places)), taken);
    let rounds = rounds.min(5);
    let nothing = (0..rounds).map(|_| node.send(Batch::default())).collect();
    let marks = all_over(&node, MAX_BULK);
    let marked = || Batch { marks: marks.clone(), ..Batch::default() };
    let heard = (0..rounds).map(|_| node.send(marked())).collect();
    let first = |id: u64| Node::new(&redis, Some(&clock), 100 + u128::from(id));
    let views = (0..rounds).map(|id| first(id).send(Batch::default())).collect();
    let mut kinds = vec![
        kind("nothing to say", nothing),
        kind(&format!("{} marks from all over the line", grouped(marks.len() as u64)), heard),
        kind("a new node's first view", views),
    ];
    // Settings that are offered count everybody as seen.
    for (name, on_absence) in [
        ("a sweep", OnAbsence::Keep),
        ("a sweep that takes the places of those who are not here", OnAbsence::Remove),
    ] {
        node.offer(Settings { heartbeat_timeout_ms: HEARTBEAT_MS, on_absence, ..settings() });
        let sweep = |_| {
            node.send(marked());
            let taken = node.idle(&clock, 2, HEARTBEAT_MS / 4)[1];
            node.idle(&clock, 1, 0);
            assert!(node.last.update.bits.is_some(), "a sweep brings new bits");
            taken
        };
        kinds.push(kind(name, (0..rounds).map(sweep).collect()));
    }
    kinds.push(kind(
        "everything at once, the head and the outbox full",
        everything(&mut node, &clock, &marks, rounds),
    ));
    node.is_forgetful = false;
    node.offer(rich());
    let (mut merges, mut ends) = (Vec::new(), Vec::new());
    for empty in [false, true] {
        let mut node = first(200 + u64::from(empty));
        node.send(Batch::default());
        if empty {
            redis.flush();
        }
        clock.lose();
        let (settled, end) = settle(&mut node, &clock, rich(), &mut merges);
        assert!(settled, "it goes on");
        ends.push(end);
    }
    kinds.push(kind("a report is merged", merges));
    kinds.push(kind("the settling ends, and everybody is presumed here", ends));
    kinds.push(kind("the base moves", base_moves(places)));
    kinds
}

/// A line in which so many places are not over yet, and nearly a third as many are. With a quarter over the base would move; newcomers
/// take the places of those who are over, so each step gets three quarters nearer to that.
fn grow<'r>(redis: &'r Redis, clock: &Clock, places: u64) -> Node<'r> {
    let hasty = Settings { claim_window_ms: 1_000, ..settings() };
    let mut node = Node::open(redis, Some(clock), hasty);
    node.join(places);
    // Where `used` is, there is something to read and to move.
    node.send(Batch { leaves: vec![node.view.counts().issued], ..Batch::default() });
    let mut over = 0;
    for _ in 0..STEPS {
        let more = (places - 3 * over) / 4 - 1;
        lapse(&mut node, clock, more);
        over += more;
        node.join(more);
    }
    let counts = node.view.counts();
    assert_eq!((counts.lapsed, counts.issued), (over, places + over), "the base has not moved");
    node.offer(settings());
    node
}

/// So many more have their turn, and do not come.
fn lapse(node: &mut Node<'_>, clock: &Clock, turns: u64) -> f64 {
    node.release(turns);
    clock.pass(2_000);
    node.send(Batch::default())
}

/// So many from the whole of a line.
fn all_over(node: &Node<'_>, most: u64) -> Vec<Number> {
    let counts = node.view.counts();
    let stride = ((counts.issued - counts.lapsed) / most).max(1) as usize;
    (counts.lapsed + 1..=counts.issued).step_by(stride).take(most as usize).collect()
}

/// As much of everything as there may be: the head and the outbox are full, seats expire, endings are forgotten; and in each
/// exchange marks as bits, claims with tags, newcomers with all that is kept of one, turns by hand for the head and by pace, a
/// sweep every other time, and a node that has nothing yet, so that it is told all of it.
fn everything(node: &mut Node<'_>, clock: &Clock, marks: &[Number], rounds: u64) -> Vec<f64> {
    let busy = || Settings {
        heartbeat_timeout_ms: HEARTBEAT_MS,
        session_idle_ms: Some(HEARTBEAT_MS),
        session_max_ms: None,
        class_order: ClassOrder::Strict,
        ..rich()
    };
    node.offer(busy());
    let guests = fill_head(node);
    let counts = *node.view.counts();
    // The ordinary half: their turn has come before those of the class come in between.
    node.offer(Settings { class_order: ClassOrder::Skip, ..busy() });
    node.release(counts.waiting / 2);
    let half = node.view.counts().released;
    node.offer(busy());
    node.is_forgetful = true;
    // A quarter of a batch's items are claims, half are newcomers.
    let (each, before) = (ITEMS / 4, 3 * HEARTBEAT_MS / (HEARTBEAT_MS / 4) + 1);
    let claims = Spread::new(half - counts.released, each, before + 2 * rounds);
    let tag = format!("{{\"tag\":\"{}\"}}", "x".repeat(2_000));
    let mut send = |(nth, claims): (u64, Vec<Number>)| {
        clock.pass(HEARTBEAT_MS / 4);
        let mut claims: Vec<Number> = claims.into_iter().map(|nth| counts.released + nth).collect();
        // Of those who were called from the head in the exchange before, some come in.
        let called = guests.iter().skip((nth * each) as usize).take(claims.len() / 2);
        let ordinary = claims.len() - called.len();
        claims.splice(ordinary.., called.copied());
        let present =
            guests.iter().rev().copied().take(ITEMS as usize / 2 - claims.len() - 1).collect();
        let commands = vec![Command::Release(ITEMS).into()];
        let tags = (0..claims.len() as u32).map(|nth| (nth, tag.clone())).collect();
        let joins = full::guests(HEAD + nth * ITEMS, ITEMS / 2);
        let wants = MAX_LETTERS;
        let marks = marks.to_vec();
        node.send(Batch {
            marks,
            present,
            claims,
            commands,
            tags,
            joins,
            wants,
            ..Batch::default()
        })
    };
    let taken: Vec<f64> = (0..).zip(claims).map(&mut send).collect();
    taken[before as usize..].to_vec()
}

/// A quarter of the bitmaps is over, and the next exchange gives it back.
fn base_moves(places: u64) -> Vec<f64> {
    let (redis, clock) = (Redis::start(), Clock::new());
    let mut node = grow(&redis, &clock, places);
    node.offer(Settings { claim_window_ms: 1_000, ..settings() });
    lapse(&mut node, &clock, places / 4);
    let before = redis.bytes();
    let taken = node.send(Batch::default());
    assert!(redis.bytes() < before, "the base has moved");
    vec![taken]
}
