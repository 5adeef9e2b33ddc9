//! Those who are kept one by one: inside, known by a device, at the head of the line.

use anteroom::line::{
    Batch, Claimed, Command, Commanded, End, Ending, Join, Joined, Keyed, Number, Renewal, Settings,
};

use super::super::memory::{counted, key};
use super::super::node::{Clock, ITEMS, Node, Spread, default_limits, settings};
use super::super::server::Redis;
use super::Kind;

/// Half of the line has had its turn: they claim, use their passes and are done, in full batches from all over it.
pub(super) fn turns(waiting: u64, rounds: u64) -> Vec<Kind> {
    let redis = Redis::start();
    let mut node = Node::open(&redis, None, settings());
    node.join(waiting);
    let half = waiting / 2;
    let release = node.release(half);
    let spread = || Spread::new(half, ITEMS, rounds);
    let claims = spread().map(|claims| {
        let taken = node.send(Batch { claims, ..Batch::default() });
        assert!(entered(&node) > 0, "their turn has come");
        taken
    });
    let claims = claims.collect();
    let renewals = spread().map(|numbers| {
        let renewal = |number| Renewal { number, admitted_ms: 0, ..Renewal::default() };
        let renewals = numbers.into_iter().map(renewal).collect();
        node.send(Batch { renewals, ..Batch::default() })
    });
    let renewals = renewals.collect();
    let ends = spread().map(|numbers| {
        let end = |number| End { number, why: Ending::Completed };
        node.send(Batch { ends: numbers.into_iter().map(end).collect(), ..Batch::default() })
    });
    let ends = ends.collect();
    vec![
        Kind::new("half of the line is released by hand", vec![release]),
        Kind::new(format!("{ITEMS} claims from all over half of the line"), claims),
        Kind::new(format!("{ITEMS} renewals, likewise"), renewals),
        Kind::new(format!("{ITEMS} are done, likewise"), ends),
    ]
}

/// Sessions of ten seconds, and a full batch of claims every second or two: as many seats expire as are taken, and as many
/// endings are forgotten.
pub(super) fn seats(waiting: u64, rounds: u64) -> Vec<Kind> {
    const SESSION_MS: u64 = 10_000;
    let (redis, clock) = (Redis::start(), Clock::new());
    let short = Settings { session_idle_ms: Some(SESSION_MS), session_max_ms: None, ..settings() };
    let mut node = Node::open(&redis, Some(&clock), short);
    node.join(waiting);
    node.release(waiting / 2);
    // Until the first are forgotten: one session, and two more.
    let before = 3 * SESSION_MS / 2_000 + 1;
    let claim = |claims: Vec<Number>| {
        clock.pass(2_000);
        node.send(Batch { claims, ..Batch::default() })
    };
    let taken: Vec<f64> = Spread::new(waiting / 2, ITEMS, before + rounds).map(claim).collect();
    let name = format!("{ITEMS} claims while seats expire and endings are forgotten");
    vec![Kind::new(name, taken[before as usize..].to_vec())]
}

/// Newcomers by the API, each with an address, a device and a user, under the default limits; and the same ones again.
pub(super) fn devices(waiting: u64, rounds: u64) -> Vec<Kind> {
    let redis = Redis::start();
    let limited = Settings { join_limits: default_limits(), ..settings() };
    let mut node = Node::open(&redis, None, limited);
    node.join(waiting);
    let join = |round: u64| {
        let keyed = |nth: u64| Keyed { user: Some(key(3, nth)), ..counted(nth) };
        let joins = (0..ITEMS).map(|nth| Join::Keyed(keyed(round * ITEMS + nth))).collect();
        Batch { joins, ..Batch::default() }
    };
    let new = (0..rounds).map(|round| {
        let taken = node.send(join(round));
        assert!(node.last.joins.iter().all(|join| matches!(join, Joined::Given { .. })));
        taken
    });
    let new = new.collect();
    let known = (0..rounds).map(|round| {
        let taken = node.send(join(round));
        assert!(node.last.joins.iter().all(|join| matches!(join, Joined::Already { .. })));
        taken
    });
    let known = known.collect();
    let name = format!("{ITEMS} join with a device and a user, default limits");
    vec![Kind::new(name, new), Kind::new("the same ones again", known)]
}

/// The head of the line, as long as it gets: half of the line was away when their turn came, and is back.
pub(super) fn head(waiting: u64, rounds: u64) -> Vec<Kind> {
    let (redis, clock) = (Redis::start(), Clock::new());
    let lively = || Settings { heartbeat_timeout_ms: 5_000, ..settings() };
    let mut node = Node::open(&redis, Some(&clock), lively());
    node.join(waiting);
    let middle = waiting / 2;
    // The head is told of once a second, so in every one of these.
    let note = |node: &mut Node<'_>, batch: Batch| {
        clock.pass(1_000);
        node.send(batch)
    };
    // Nobody but one is heard of for as long as it takes the sweeps to notice.
    while node.view.counts().waiting > 1 {
        note(&mut node, Batch { marks: vec![middle], ..Batch::default() });
    }
    node.offer(settings());
    node.release(1);
    assert_eq!(node.view.counts().released, middle);
    let (mut back, mut members) = (Vec::new(), Vec::new());
    for returns in Spread::new(middle - 1, ITEMS, 20_000_u64.div_ceil(ITEMS)) {
        let before = node.view.counts().waiting;
        back.push(note(&mut node, Batch { returns, ..Batch::default() }));
        if let Some(head) = &node.last.update.express {
            members = head.waiting.iter().map(|(_, number)| *number).collect();
        }
        if node.view.counts().waiting == before {
            break;
        }
    }
    let all_over = |count: u64| -> Vec<Number> {
        let stride = (members.len() / count as usize).max(1);
        members.iter().copied().step_by(stride).take(count as usize).collect()
    };
    let present = || Batch { present: all_over(ITEMS), ..Batch::default() };
    let present = (0..rounds).map(|_| note(&mut node, present())).collect();
    let view =
        |id: u64| Node::new(&redis, Some(&clock), 100 + u128::from(id)).send(Batch::default());
    let views = (0..rounds).map(view).collect();
    // Half of the head is called, some of them come in, and the others fall silent.
    let turns = (members.len() as u64 / 2 / rounds).max(1);
    let called = (0..rounds).map(|_| {
        let commands = vec![Command::Release(turns).into()];
        let taken = note(&mut node, Batch { commands, ..Batch::default() });
        assert!(matches!(node.last.commands[..], [Commanded::Released { express: 1.., .. }]));
        taken
    });
    let called = called.collect();
    let claims = members.iter().copied().take(ITEMS as usize).collect();
    let claimed = vec![note(&mut node, Batch { claims, ..Batch::default() })];
    assert!(entered(&node) > 0, "some of them were called");
    node.offer(lively());
    // Of the called it is a turn that nobody took, of the others a place.
    let gone = |node: &Node<'_>| node.view.counts().no_shows + node.view.counts().dropped;
    let (silence, before) = (8, gone(&node));
    let silent: Vec<f64> =
        (0..silence + rounds).map(|_| note(&mut node, Batch::default())).collect();
    assert!(gone(&node) >= before + rounds, "some of the head, in each");
    vec![
        Kind::new(format!("{ITEMS} come back to the head of the line, and it is told"), back),
        Kind::new(format!("{ITEMS} of a full head are heard of"), present),
        Kind::new("a new node's first view, with a full head", views),
        Kind::new("a release from a full head, and it is told", called),
        Kind::new(format!("{ITEMS} claims of those called from it"), claimed),
        Kind::new("a full head falls silent", silent[silence as usize - 1..].to_vec()),
    ]
}

/// How many of the last batch's claims were granted.
fn entered(node: &Node<'_>) -> usize {
    node.last.claims.iter().filter(|claimed| matches!(claimed, Claimed::Inside(_))).count()
}
