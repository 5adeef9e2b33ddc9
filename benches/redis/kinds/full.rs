//! What a room keeps one by one, as much of it as it may: a full head of class visitors, a full roster, a full outbox, many
//! inside and gone. What costs by these is done to all of them at once somewhere.

use std::collections::VecDeque;

use anteroom::line::{
    Batch, Change, Claimed, Class, ClassOrder, Command, End, Ending, Join, Joined, Keyed,
    MAX_COMMANDS, MAX_LETTERS, MAX_NAMED, Number, Question, Renewal, Settings,
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
const NAMES: u64 = 2_500;
/// Letters that wait, at most.
const LETTERS: u64 = 10_000;

/// One class; everything that somebody is told of; the default limits. Where names are shown there may be few.
pub(super) fn rich() -> Settings {
    Settings {
        classes: vec![Class { name: "guests".to_owned(), skip: 0, rank: 1 }],
        webhooks: true,
        join_limits: default_limits(),
        ..settings()
    }
}

/// Somebody of the class, with everything that is kept of a newcomer but a name.
pub(super) fn guest(nth: u64) -> Keyed {
    let device = Some(key(1, nth));
    Keyed {
        once: device,
        device,
        proof: Some(key(2, nth)),
        address: Some(key(2, nth)),
        user: Some(key(3, nth)),
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
        numbers.extend(given(node));
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
    let name = |what: &str| format!("a full head: {what}");
    let mut kinds = vec![
        Kind::new(name("another order of its classes"), orders),
        Kind::new(name("a report is merged"), merges),
        Kind::new(name("the settling ends"), ends),
    ];
    // All of them have had their turn, and are seated or gone.
    node.offer(Settings { class_order: ClassOrder::Strict, ..rich() });
    assert_eq!(node.view.counts().classed, HEAD, "nobody of it was lost");
    let mut called = Vec::new();
    let mut claims = Vec::new();
    for some in guests.chunks(ITEMS as usize).take(rounds as usize) {
        clock.pass(1_000);
        let commands = vec![Command::Release(ITEMS).into()];
        called.push(node.send(Batch { commands, ..Batch::default() }));
        assert!(node.last.update.express.is_some(), "it is told");
        clock.pass(1_000);
        claims.push(node.send(Batch { claims: some.to_vec(), ..Batch::default() }));
    }
    kinds.push(Kind::new(name("a release, and it is told"), called));
    kinds.push(Kind::new(name(&format!("{ITEMS} claims, and it is told")), claims));
    kinds
}

/// A full roster: as many wait and are inside as may where names are shown, and all other names are of those who are gone.
/// Newcomers ask for names, so that room is made; whoever is inside is sent to the end of the line; a sweep forgets who is gone.
pub(super) fn rosters(rounds: u64) -> Vec<Kind> {
    const HEARTBEAT_MS: u64 = 5_000;
    const MOST: u64 = 1_000;
    let (redis, clock) = (Redis::start(), Clock::new());
    let named = || Settings {
        roster: true,
        max_waiting: Some(MOST),
        max_active: Some(MOST),
        join_limits: default_limits(),
        ..settings()
    };
    let mut node = Node::open(&redis, Some(&clock), named());
    let mut people = Guests::default();
    people.join(&mut node, &clock, MOST);
    node.release(MOST);
    let inside: Vec<Number> = people.waiting.drain(..).collect();
    for claims in inside.chunks(ITEMS as usize) {
        node.send(Batch { claims: claims.to_vec(), ..Batch::default() });
    }
    assert_eq!(node.view.counts().inside, MOST);
    people.join(&mut node, &clock, MOST);
    let mut room = Vec::new();
    for _ in 0..rounds {
        people.fill(&mut node, &clock);
        room.push(people.join(&mut node, &clock, ITEMS)[0]);
        assert!(names(&node) < NAMES, "those who are gone were forgotten");
    }
    let mut sent = Vec::new();
    for some in inside.chunks(ITEMS as usize) {
        people.fill(&mut node, &clock);
        clock.pass(500);
        let end = |number: &Number| End { number: *number, why: Ending::Requeued };
        sent.push(node.send(Batch { ends: some.iter().map(end).collect(), ..Batch::default() }));
        assert!(node.last.update.roster.is_some(), "it is told");
        let issued = node.view.counts().issued;
        people.waiting.extend(issued + 1 - ITEMS..=issued);
    }
    let mut sweeps = Vec::new();
    for _ in 0..rounds {
        node.offer(named());
        people.fill(&mut node, &clock);
        node.offer(Settings { heartbeat_timeout_ms: HEARTBEAT_MS, ..named() });
        node.idle(&clock, 1, HEARTBEAT_MS / 4);
        sweeps.push(node.idle(&clock, 1, HEARTBEAT_MS / 4)[0]);
        assert!(names(&node) < NAMES, "those who are gone were forgotten");
        people.join(&mut node, &clock, ITEMS);
    }
    let name = |what: &str| format!("{} names: {what}", grouped(NAMES));
    vec![
        Kind::new(
            name(&format!(
                "{ITEMS} newcomers have some, those who are gone are forgotten, it is told"
            )),
            room,
        ),
        Kind::new(name(&format!("{ITEMS} inside are sent to the end, it is told")), sent),
        Kind::new(name("a sweep, those who are gone are forgotten, it is told"), sweeps),
    ]
}

/// How many names a node was told last.
fn names(node: &Node<'_>) -> u64 {
    node.view.roster().names.len() as u64
}

/// Those with a name.
#[derive(Default)]
struct Guests {
    came: u64,
    waiting: VecDeque<Number>,
}

impl Guests {
    /// So many newcomers; what their exchanges took. What is told of names is told with each.
    fn join(&mut self, node: &mut Node<'_>, clock: &Clock, count: u64) -> Vec<f64> {
        let join = |_| {
            clock.pass(500);
            let keyed = |nth| Keyed {
                class: None,
                name: Some(format!("a guest of the house, number {nth}")),
                ..guest(nth)
            };
            let joins = (self.came..self.came + ITEMS).map(|nth| Join::Keyed(keyed(nth))).collect();
            self.came += ITEMS;
            let taken = node.send(Batch { joins, ..Batch::default() });
            self.waiting.extend(given(node));
            taken
        };
        (0..count / ITEMS).map(join).collect()
    }

    /// Some leave and others come, until there are as many names as there may be.
    fn fill(&mut self, node: &mut Node<'_>, clock: &Clock) {
        while names(node) + ITEMS <= NAMES {
            let leaves = self.waiting.drain(..ITEMS as usize).collect();
            node.send(Batch { leaves, ..Batch::default() });
            self.join(node, clock, ITEMS);
        }
        let leaves = self.waiting.drain(..ITEMS as usize).collect();
        node.send(Batch { leaves, ..Batch::default() });
        assert_eq!(names(node), NAMES);
    }
}

/// The numbers that a batch's newcomers were given.
fn given(node: &Node<'_>) -> Vec<Number> {
    let given = |joined: &Joined| match joined {
        Joined::Given { first, .. } => *first,
        other => panic!("a guest was given no number: {other:?}"),
    };
    node.last.joins.iter().map(given).collect()
}

/// Every entry is a letter, and the outbox is full: as many are thrown away. A million were delivered before.
pub(super) fn letters(rounds: u64) -> Vec<Kind> {
    let (redis, clock) = (Redis::start(), Clock::new());
    let told = Settings { webhooks: true, ..settings() };
    let mut node = Node::open(&redis, Some(&clock), told);
    let people = LETTERS + (rounds + 1) * ITEMS;
    node.join(people);
    node.release(people);
    let tag = format!("{{\"tag\":\"{}\"}}", "x".repeat(2_000));
    redis.say::<u64>(&["HSET", "anteroom:{sale}:state", "letter_serial", "1000000"]);
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

/// A room whose seats have names, full, and short sessions: many sat there in the time for which that is remembered.
pub(super) fn games(rounds: u64) -> Vec<Kind> {
    const SEATS: u64 = 64;
    const GAMES: u64 = 300;
    let (redis, clock) = (Redis::start(), Clock::new());
    let slots = (1..=SEATS).map(|seat| format!("table {seat}")).collect();
    let mut node = Node::open(&redis, Some(&clock), Settings { slots, ..settings() });
    node.join((GAMES + rounds) * SEATS);
    let (mut seated, mut renewed, mut over) = (Vec::new(), Vec::new(), Vec::new());
    for game in 0..GAMES + rounds {
        clock.pass(1_000);
        node.release(SEATS);
        let players: Vec<Number> = (1..=SEATS).map(|nth| game * SEATS + nth).collect();
        seated.push(node.send(Batch { claims: players.clone(), ..Batch::default() }));
        assert_eq!(node.view.counts().inside, SEATS);
        let renewal = |number: &Number| Renewal { number: *number, ..Renewal::default() };
        let renewals = players.iter().map(renewal).collect();
        renewed.push(node.send(Batch { renewals, ..Batch::default() }));
        let end = |number: &Number| End { number: *number, why: Ending::Completed };
        over.push(node.send(Batch { ends: players.iter().map(end).collect(), ..Batch::default() }));
    }
    let name =
        |what: &str| format!("{SEATS} named seats, {} sat there: {what}", grouped(GAMES * SEATS));
    let last = |taken: Vec<f64>| taken[GAMES as usize..].to_vec();
    vec![
        Kind::new(name("all are taken"), last(seated)),
        Kind::new(name("all are renewed"), last(renewed)),
        Kind::new(name("all are left"), last(over)),
    ]
}

/// As many orders as a batch may carry, each of the dearest, in a long line with a full head.
pub(super) fn orders(waiting: u64, rounds: u64) -> Vec<Kind> {
    let (redis, clock) = (Redis::start(), Clock::new());
    let mut node = Node::open(&redis, Some(&clock), rich());
    node.join(waiting);
    fill_head(&mut node);
    node.send(Batch { leaves: vec![1, 2, 3], ..Batch::default() });
    let mut ten = |what: &dyn Fn(usize) -> Command| -> Vec<f64> {
        let some = |nth| (0..MAX_COMMANDS).map(|one| what(nth as usize + one).into()).collect();
        let send = |nth| {
            clock.pass(1_000);
            node.send(Batch { commands: some(nth), ..Batch::default() })
        };
        (0..rounds).map(send).collect()
    };
    let timeout = |nth: usize| {
        let value = if nth.is_multiple_of(2) { "86000000" } else { "86400000" };
        let name = "heartbeat_timeout_ms".to_owned();
        Command::Set(vec![Change { name, value: Some(value.to_owned()), for_ms: 0 }])
    };
    let name = |what: &str| format!("{MAX_COMMANDS} orders: {what}");
    vec![
        Kind::new(name("repairs"), ten(&|_| Command::Repair)),
        Kind::new(name("another timeout of heartbeats, with a full head"), ten(&timeout)),
        Kind::new(
            name("releases"),
            ten(&|_| Command::Release(MAX_NAMED as u64 / MAX_COMMANDS as u64)),
        ),
    ]
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
