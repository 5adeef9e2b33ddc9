//! Redis has lost its memory, or was told to: settling, and resets.

use anteroom::line::{Batch, Command, End, Ending, Known, Settings, Taken};

use super::super::node::{Clock, ITEMS, Node, Spread, settings};
use super::super::server::Redis;
use super::Kind;

/// A long line is lost, with what nodes know of it: half was released, many of them came, some are done. Another run that knows
/// everything still, and one that knows nothing.
pub(super) fn losses(waiting: u64, rounds: u64) -> Vec<Kind> {
    let (redis, clock) = (Redis::start(), Clock::new());
    let mut node = Node::open(&redis, Some(&clock), settings());
    node.join(waiting);
    node.release(waiting / 2);
    for claims in Spread::new(waiting / 2, ITEMS, 10) {
        let end = |number: &u64| End { number: *number, why: Ending::Completed };
        let ends = claims.iter().map(end).collect();
        node.send(Batch { claims, ..Batch::default() });
        node.send(Batch { ends, ..Batch::default() });
    }
    // The bits that a node has are those of the last sweep: here, of its first view.
    let mut kinds = Vec::new();
    for (name, empty) in [("runs again", false), ("runs again, empty", true)] {
        let (mut merges, mut ends) = (Vec::new(), Vec::new());
        for round in 0..rounds.min(4) {
            let mut node = Node::new(&redis, Some(&clock), 100 + u128::from(round));
            node.send(Batch::default());
            if empty {
                redis.flush();
            }
            clock.lose();
            let (settled, end) = settle(&mut node, &clock, settings(), &mut merges);
            assert!(settled, "it goes on");
            ends.push(end);
        }
        kinds.push(Kind::new(format!("a report is merged: Redis {name}"), merges));
        kinds.push(Kind::new(format!("the settling ends: Redis {name}"), ends));
    }
    kinds
}

/// What a node does while a line settles; whether the line has gone on, and what its last exchange took.
pub(super) fn settle(
    node: &mut Node<'_>,
    clock: &Clock,
    settings: Settings,
    merges: &mut Vec<f64>,
) -> (bool, f64) {
    node.offer(settings);
    assert!(matches!(node.last.taken, Taken::Settling { .. }), "{:?}", node.last.taken);
    for report in node.view.report().parts(0) {
        let known = Known { report: Some(Box::new(report)), ..Known::default() };
        merges.push(node.send(Batch { known, ..Batch::default() }));
    }
    clock.pass(2_000);
    let end = node.send(Batch::default());
    (node.last.taken == Taken::Applied, end)
}

/// An operator begins anew.
pub(super) fn resets(waiting: u64, rounds: u64) -> Vec<Kind> {
    let redis = Redis::start();
    let mut node = Node::open(&redis, None, settings());
    let reset = |_| {
        node.join(waiting);
        node.release(waiting / 2);
        for claims in Spread::new(waiting / 2, ITEMS, 10) {
            node.send(Batch { claims, ..Batch::default() });
        }
        node.send(Batch { commands: vec![Command::Reset.into()], ..Batch::default() })
    };
    vec![Kind::new("a reset", (0..rounds.min(4)).map(reset).collect())]
}
