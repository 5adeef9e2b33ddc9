//! What a room keeps one by one, as much of it as it may: a full head of class visitors, a full roster, a full outbox, many
//! inside and gone. What costs by these is done to all of them at once somewhere.

use anteroom::line::{
    Batch, Claimed, Class, ClassOrder, Command, End, Ending, Join, Joined, Keyed, MAX_LETTERS,
    Number, Question, Settings,
};

use super::super::beside::grouped;
use super::super::memory::key;
use super::super::node::{Clock, ITEMS, Node, default_limits, settings};
use super::super::server::Redis;
use super::Kind;
use super::loss::settle;

/// As many as the head of a line holds.
pub(super) const HEAD: u64 = 10_000;
/// As many names as a roster holds.
pub(super) const NAMES: u64 = 4_000;
/// Letters that wait, at most.
const LETTERS: u64 = 10_000;

/// One class; everything that somebody is told of; names; the default limits.
pub(super) fn rich() -> Settings {
    Settings {
        classes: vec![Class { name: "guests".to_owned(), skip: 0, rank: 1 }],
        webhooks: true,
        roster: true,
        join_limits: default_limits(),
        ..settings()
    }
}

/// Somebody of the class, with everything that is kept of a newcomer; the first four thousand have a name.
pub(super) fn guest(nth: u64) -> Keyed {
    let device = Some(key(1, nth));
    Keyed {
        once: device,
        device,
        proof: Some(key(2, nth)),
        address: Some(key(2, nth)),
        user: Some(key(3, nth)),
        name: (nth < NAMES).then(|| format!("a guest of the house, number {nth}")),
        class: Some("guests".to_owned()),
        ..Keyed::default()
    }
}

/// So many of them, from one on.
pub(super) fn guests(first: u64, count: u64) -> Vec<Join> {
    (first..first + count).map(|nth| Join::Keyed(guest(nth))).collect()
}

/// The head is full of them; their numbers.
pub(super) fn fill_head(node: &mut Node<'_>) -> Vec<Number> {
    let mut numbers = Vec::new();
    for first in (0..HEAD).step_by(ITEMS as usize) {
        node.send(Batch { joins: guests(first, ITEMS), ..Batch::default() });
        numbers.extend(node.last.joins.iter().map(|joined| match joined {
            Joined::Given { first, .. } => *first,
            other => panic!("a guest was given no number: {other:?}"),
        }));
    }
    assert_eq!(node.view.counts().classed, HEAD, "the head is full");
    numbers
}

/// A full head: a new order of it, and a loss. What is told of it goes with each.
pub(super) fn heads(rounds: u64) -> Vec<Kind> {
    let (redis, clock) = (Redis::start(), Clock::new());
    let mut node = Node::open(&redis, Some(&clock), rich());
    node.join(HEAD);
    let guests = fill_head(&mut node);
    let order = |nth: u64| [ClassOrder::Strict, ClassOrder::Skip][nth as usize % 2];
    let orders = (0..rounds).map(|nth| {
        clock.pass(1_000);
        node.offer(Settings { class_order: order(nth), ..rich() })
    });
    let orders = orders.collect();
    let (mut merges, mut ends) = (Vec::new(), Vec::new());
    for round in 0..rounds.min(4) {
        let mut node = Node::new(&redis, Some(&clock), 100 + u128::from(round));
        node.send(Batch::default());
        if round % 2 == 1 {
            redis.flush();
        }
        clock.lose();
        let (settled, end) = settle(&mut node, &clock, rich(), &mut merges);
        assert!(settled, "it goes on");
        ends.push(end);
    }
    let name = |what: &str| format!("a full head with a full roster: {what}");
    let mut kinds = vec![
        Kind::new(name("another order of its classes, and it is told"), orders),
        Kind::new(name("a report is merged"), merges),
        Kind::new(name("the settling ends"), ends),
    ];
    // All of them have had their turn, and are seated or gone.
    node.offer(rich());
    let mut called = Vec::new();
    let mut claims = Vec::new();
    for some in guests.chunks(ITEMS as usize).take(rounds as usize) {
        clock.pass(1_000);
        let commands = vec![Command::Release(ITEMS).into()];
        called.push(node.send(Batch { commands, ..Batch::default() }));
        clock.pass(1_000);
        claims.push(node.send(Batch { claims: some.to_vec(), ..Batch::default() }));
    }
    kinds.push(Kind::new(name("a release, and it is told"), called));
    kinds.push(Kind::new(name(&format!("{ITEMS} claims, and it is told")), claims));
    kinds
}

/// A full roster: whoever has a name is sent to the end of the line, others ask for names while there are too many, a sweep
/// looks for those who are gone.
pub(super) fn rosters(rounds: u64) -> Vec<Kind> {
    const HEARTBEAT_MS: u64 = 5_000;
    let (redis, clock) = (Redis::start(), Clock::new());
    let named = || Settings { roster: true, ..settings() };
    let mut node = Node::open(&redis, Some(&clock), named());
    let newcomers = |first: u64, count: u64| {
        let keyed = |nth: u64| Keyed {
            class: None,
            name: Some(format!("a guest of the house, number {nth}")),
            ..guest(nth)
        };
        let joins = (first..first + count).map(|nth| Join::Keyed(keyed(nth))).collect();
        Batch { joins, ..Batch::default() }
    };
    for first in (0..NAMES).step_by(ITEMS as usize) {
        node.send(newcomers(first, ITEMS));
    }
    let mut refused = Vec::new();
    for _ in 0..rounds {
        clock.pass(500);
        refused.push(node.send(newcomers(NAMES, ITEMS)));
        assert!(node.last.joins.iter().all(|joined| matches!(joined, Joined::Refused(_))));
    }
    let mut numbers: Vec<Number> = (1..=NAMES).collect();
    let mut sent = Vec::new();
    for _ in 0..rounds {
        clock.pass(500);
        let some: Vec<Number> = numbers.drain(..ITEMS as usize).collect();
        let first = node.view.counts().issued + 1;
        let end = |number: &Number| End { number: *number, why: Ending::Requeued };
        sent.push(node.send(Batch { ends: some.iter().map(end).collect(), ..Batch::default() }));
        numbers.extend(first..first + ITEMS);
    }
    assert!(node.last.update.roster.as_ref().is_some_and(|told| told.names.len() as u64 == NAMES));
    node.offer(Settings { heartbeat_timeout_ms: HEARTBEAT_MS, ..named() });
    let sweeps = (0..rounds).map(|nth| {
        // A few leave, so there is somebody to forget.
        let leaves = numbers.drain(..ITEMS as usize / 2).collect();
        clock.pass(HEARTBEAT_MS / 4 + nth % 2);
        node.send(Batch { leaves, marks: numbers.clone(), ..Batch::default() });
        clock.pass(HEARTBEAT_MS / 4);
        node.send(Batch::default())
    });
    let sweeps = sweeps.collect();
    let name = |what: &str| format!("a full roster: {what}");
    vec![
        Kind::new(name(&format!("{ITEMS} newcomers for whom there is no name left")), refused),
        Kind::new(name(&format!("{ITEMS} with a name are sent to the end, and it is told")), sent),
        Kind::new(name("a sweep, and some names are forgotten"), sweeps),
    ]
}

/// Every entry is a letter, and the outbox is full: as many are thrown away.
pub(super) fn letters(rounds: u64) -> Vec<Kind> {
    let (redis, clock) = (Redis::start(), Clock::new());
    let told = Settings { webhooks: true, ..settings() };
    let mut node = Node::open(&redis, Some(&clock), told);
    let people = LETTERS + (rounds + 1) * ITEMS;
    node.join(people);
    node.release(people);
    let tag = format!("{{\"tag\":\"{}\"}}", "x".repeat(2_000));
    let mut taken = Vec::new();
    for claims in (1..=people).collect::<Vec<_>>().chunks(ITEMS as usize) {
        let tags = (0..claims.len() as u32).map(|nth| (nth, tag.clone())).collect();
        let (claims, wants) = (claims.to_vec(), MAX_LETTERS);
        taken.push(node.send(Batch { claims, tags, wants, ..Batch::default() }));
        assert!(node.last.claims.iter().all(|claimed| matches!(claimed, Claimed::Inside(_))));
    }
    assert!(node.view.counts().letters_lost > 0, "the outbox is full");
    let full = taken.len() - rounds as usize;
    let name = format!(
        "{ITEMS} claims, a letter of each with two kilobytes of a tag, and the outbox is full"
    );
    vec![Kind::new(name, taken[full..].to_vec())]
}

/// An operator asks whether all is well, and for invites, while many are inside and many were.
pub(super) fn questions(people: u64, rounds: u64) -> Vec<Kind> {
    let redis = Redis::start();
    let mut node = Node::open(&redis, None, settings());
    node.join(2 * people);
    node.release(2 * people);
    for claims in (1..=2 * people).collect::<Vec<_>>().chunks(ITEMS as usize) {
        node.send(Batch { claims: claims.to_vec(), ..Batch::default() });
    }
    for ended in (1..=people).collect::<Vec<_>>().chunks(ITEMS as usize) {
        let end = |number: &Number| End { number: *number, why: Ending::Completed };
        node.send(Batch { ends: ended.iter().map(end).collect(), ..Batch::default() });
    }
    let asked = |question: Question| (0..rounds).map(|_| node.ask(question)).collect();
    let with = format!("with {} inside and as many who were", grouped(people));
    vec![
        Kind::new(format!("a question: whether all is well, {with}"), asked(Question::Health)),
        Kind::new(
            format!("a question: who is inside, {with}"),
            asked(Question::Inside { skip: 0, limit: 1_000 }),
        ),
    ]
}
