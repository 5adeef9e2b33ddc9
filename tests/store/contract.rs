//! One suite over every store. What only one of them can do is in a file of its own.

use std::any::Any;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anteroom::line::*;
use anteroom::store::redis::Address;
use anteroom::store::{BoxFuture, Memory, Redis, Store, StoreError};

use super::load::{Rng, Twin};
use super::{Hand, Node, embedded, exchange, opening, patient, runtime};
use crate::support::PATIENCE;
use crate::support::redis::{Cluster, RedisServer, Sentinels, Setup};

/// A store to try, with its clock, and what must outlive it.
struct Rig {
    store: Arc<dyn Store>,
    hand: Hand,
    _keep: Option<Box<dyn Any>>,
}

fn in_memory() -> Rig {
    let hand = Hand::new();
    let opening = opening(hand.clock());
    Rig { store: Arc::new(Memory::new(opening.clock, opening.run)), hand, _keep: None }
}

fn in_a_file() -> Rig {
    let (hand, keep) = (Hand::new(), tempfile::tempdir().unwrap());
    Rig {
        store: Arc::new(embedded(&keep.path().join("store"), &hand).unwrap()),
        hand,
        _keep: Some(Box::new(keep)),
    }
}

/// A Redis that was found empty settles first, by the same clock: a node waits for that, and so does this.
struct Settled(Redis, Hand);

impl Store for Settled {
    fn exchange<'a>(
        &'a self,
        room: &'a str,
        batch: Batch,
    ) -> BoxFuture<'a, Result<Reply, StoreError>> {
        Box::pin(async move {
            loop {
                let reply = self.0.exchange(room, batch.clone()).await?;
                match reply.taken {
                    Taken::Settling { left_ms } => self.1.pass(left_ms.min(500)),
                    _ => return Ok(reply),
                }
            }
        })
    }

    fn find<'a>(
        &'a self,
        room: &'a str,
        question: Question,
    ) -> BoxFuture<'a, Result<Found, StoreError>> {
        self.0.find(room, question)
    }
}

/// A store there, by a clock that moves when told to.
fn settled(url: &str) -> (Hand, Settled) {
    let hand = Hand::new();
    let (clock, run) = (hand.clock(), 0x5eed);
    let store = Redis::new(Address::parse(url).expect("an address")).expect("a store");
    let store = store.turned_by(move || Moment { wall_ms: clock(), run });
    (hand.clone(), Settled(store, hand))
}

fn at(url: &str, keep: impl Any) -> Rig {
    let (hand, store) = settled(url);
    Rig { store: Arc::new(store), hand, _keep: Some(Box::new(keep)) }
}

fn in_redis() -> Rig {
    let server = RedisServer::start();
    at(&server.url(), server)
}

fn in_redis_with_a_file() -> Rig {
    let server = RedisServer::setup().aof().start();
    at(&server.url(), server)
}

/// A Redis with a file that is killed without a warning and starts again from it: once when nobody is under way, and once more in
/// the thick of it. Whoever was not answered asks again, as the contract says.
struct Killed {
    store: Settled,
    server: Mutex<RedisServer>,
    answered: AtomicUsize,
    kills: AtomicUsize,
}

/// After so many answers.
const KILLED_AFTER: [usize; 2] = [1, 20];

impl Store for Killed {
    fn exchange<'a>(
        &'a self,
        room: &'a str,
        batch: Batch,
    ) -> BoxFuture<'a, Result<Reply, StoreError>> {
        Box::pin(async move {
            let kills = self.kills.load(Ordering::SeqCst);
            let due = KILLED_AFTER.get(kills);
            if due.is_some_and(|due| self.answered.load(Ordering::SeqCst) >= *due) {
                self.kills.store(kills + 1, Ordering::SeqCst);
                self.server.lock().expect("not poisoned").restart();
            }
            let until = Instant::now() + PATIENCE;
            loop {
                match self.store.exchange(room, batch.clone()).await {
                    Err(StoreError::Redis { trouble, .. })
                        if trouble.is_passing() && Instant::now() < until =>
                    {
                        tokio::time::sleep(Duration::from_millis(10)).await;
                    }
                    answer => {
                        self.answered.fetch_add(usize::from(answer.is_ok()), Ordering::SeqCst);
                        return answer;
                    }
                }
            }
        })
    }

    fn find<'a>(
        &'a self,
        room: &'a str,
        question: Question,
    ) -> BoxFuture<'a, Result<Found, StoreError>> {
        self.store.find(room, question)
    }
}

impl Drop for Killed {
    fn drop(&mut self) {
        let (answered, kills) = (self.answered.get_mut(), self.kills.get_mut());
        assert!(std::thread::panicking() || *answered < 2 || *kills > 0, "it was never killed");
    }
}

fn in_redis_killed_and_back_from_its_file() -> Rig {
    let server = RedisServer::setup().aof().start();
    let (hand, store) = settled(&server.url());
    let store = Killed {
        store,
        server: Mutex::new(server),
        answered: AtomicUsize::new(0),
        kills: AtomicUsize::new(0),
    };
    Rig { store: Arc::new(store), hand, _keep: None }
}

fn in_a_cluster() -> Rig {
    let cluster = Cluster::start();
    at(&cluster.url(), cluster)
}

fn behind_sentinels() -> Rig {
    let sentinels = Sentinels::start(1);
    at(&sentinels.url(), sentinels)
}

/// The user that docs/sizing.md tells operators to make, and its password.
fn documented_user() -> Setup {
    let docs = include_str!("../../docs/sizing.md");
    let (_, rest) = docs.split_once("`user ").expect("a rule");
    let (rule, _) = rest.split_once('`').expect("its end");
    RedisServer::setup().user(&rule.replace("SECRET", "secret"))
}

/// A url with that user in it.
fn by_that_user(url: &str) -> String {
    url.replacen("://", "://anteroom:secret@", 1)
}

fn by_the_documented_user() -> Rig {
    let server = documented_user().start();
    at(&by_that_user(&server.url()), server)
}

fn by_the_documented_user_in_a_cluster() -> Rig {
    let cluster = Cluster::with(documented_user());
    at(&by_that_user(&cluster.url()), cluster)
}

macro_rules! store_contract {
    ($checks:tt; $($rig:ident),*) => { $(store_contract!(@one $rig $checks);)* };
    (@one $rig:ident [$($check:ident),* $(,)?]) => {
        mod $rig {
            $(#[test] fn $check() { super::$check(&super::$rig()); })*
        }
    };
}

store_contract!([
    numbers_are_given_once_and_in_order,
    a_repeated_batch_is_answered_as_the_first_time,
    an_older_batch_is_superseded,
    a_claim_is_answered_the_same_twice,
    a_pass_is_spent_once_whatever_node_asks,
    rooms_know_nothing_of_each_other,
    names_that_can_be_names_are_taken,
    names_that_can_not_are_refused,
    a_batch_out_of_bounds_touches_nothing,
    time_and_run_are_the_stores,
    nodes_at_once_share_one_line,
    whoever_stops_waiting_may_ask_again,
    the_store_adds_no_rules_to_the_line,
]; in_memory, in_a_file);

// What a line in Redis adds to the rules, which is nothing, is the model tests' to say.
store_contract!([
    numbers_are_given_once_and_in_order,
    a_repeated_batch_is_answered_as_the_first_time,
    an_older_batch_is_superseded,
    a_claim_is_answered_the_same_twice,
    a_pass_is_spent_once_whatever_node_asks,
    rooms_know_nothing_of_each_other,
    names_that_can_be_names_are_taken,
    names_that_can_not_are_refused,
    a_batch_out_of_bounds_touches_nothing,
    time_and_run_are_the_stores,
    nodes_at_once_share_one_line,
    whoever_stops_waiting_may_ask_again,
]; in_redis, in_redis_with_a_file, in_redis_killed_and_back_from_its_file, in_a_cluster, behind_sentinels);

// Rights: of the whole script they are the same for every batch but for what it calls, see `redis::access`.
store_contract!([
    numbers_are_given_once_and_in_order,
    a_claim_is_answered_the_same_twice,
    nodes_at_once_share_one_line,
]; by_the_documented_user, by_the_documented_user_in_a_cluster);

fn given(joined: &Joined) -> (Number, u32) {
    match joined {
        Joined::Given { first, count, .. } => (*first, *count),
        other => panic!("no number: {other:?}"),
    }
}

fn join(node: &mut Node, count: u32) -> Batch {
    Batch { joins: vec![Join::Plain(count)], ..node.batch() }
}

fn numbers_are_given_once_and_in_order(rig: &Rig) {
    let (mut a, mut b) = (Node::new(1), Node::new(2));
    a.greet(&*rig.store, "sale", patient(10));
    b.greet(&*rig.store, "sale", patient(10));
    let mut next = 1;
    for count in [1, 5, 1_000, 1] {
        for node in [&mut a, &mut b] {
            let reply = exchange(&*rig.store, "sale", join(node, count)).unwrap();
            assert_eq!(given(&reply.joins[0]), (next, count));
            next += u64::from(count);
            assert_eq!(reply.counts.issued, next - 1);
        }
    }
}

fn a_repeated_batch_is_answered_as_the_first_time(rig: &Rig) {
    let mut node = Node::new(1);
    node.greet(&*rig.store, "sale", patient(2));
    let batch = join(&mut node, 5);
    let first = exchange(&*rig.store, "sale", batch.clone()).unwrap();
    rig.hand.pass(700);
    let again = exchange(&*rig.store, "sale", batch).unwrap();
    assert_eq!((first.taken, again.taken), (Taken::Applied, Taken::Repeated));
    assert_eq!(first.joins, again.joins);
    assert_eq!(first.counts.issued, again.counts.issued);
}

fn an_older_batch_is_superseded(rig: &Rig) {
    let mut node = Node::new(1);
    node.greet(&*rig.store, "sale", patient(2));
    let (older, newer) = (join(&mut node, 5), join(&mut node, 7));
    exchange(&*rig.store, "sale", newer).unwrap();
    let reply = exchange(&*rig.store, "sale", older).unwrap();
    assert_eq!(reply.taken, Taken::Superseded);
    assert_eq!((reply.joins.len(), reply.counts.issued), (0, 7));
}

fn a_claim_is_answered_the_same_twice(rig: &Rig) {
    let mut node = Node::new(1);
    node.greet(&*rig.store, "sale", patient(1));
    let reply = exchange(&*rig.store, "sale", join(&mut node, 3)).unwrap();
    let Joined::Given { entered: 1, terms: Some(terms), .. } = reply.joins[0] else {
        panic!("the first of three has the one seat: {:?}", reply.joins)
    };
    for _ in 0..2 {
        rig.hand.pass(100);
        let batch = Batch { claims: vec![1, 2, 99], ..node.batch() };
        let reply = exchange(&*rig.store, "sale", batch).unwrap();
        let expected = [Claimed::Inside(terms), Claimed::Waiting, Claimed::Unknown];
        assert_eq!(reply.claims, expected);
    }
}

fn a_pass_is_spent_once_whatever_node_asks(rig: &Rig) {
    let (mut a, mut b) = (Node::new(1), Node::new(2));
    a.greet(&*rig.store, "sale", patient(2));
    b.greet(&*rig.store, "sale", patient(2));
    exchange(&*rig.store, "sale", join(&mut a, 2)).unwrap();
    let spend = |node: &mut Node, numbers: &[Number]| {
        let batch = Batch { spends: numbers.to_vec(), ..node.batch() };
        let first = exchange(&*rig.store, "sale", batch.clone()).unwrap();
        let again = exchange(&*rig.store, "sale", batch).unwrap();
        assert_eq!((&again.spends, again.taken), (&first.spends, Taken::Repeated));
        first.spends
    };
    assert_eq!(spend(&mut a, &[1, 99]), [Done::Freed, Done::Unknown]);
    assert_eq!(spend(&mut b, &[1, 2, 2]), [Done::Already, Done::Freed, Done::Already]);
    assert_eq!(spend(&mut a, &[2]), [Done::Already]);
}

fn rooms_know_nothing_of_each_other(rig: &Rig) {
    let mut nodes = [Node::new(1), Node::new(1), Node::new(1)];
    let rooms = ["sale", "acme/sale", "sale.2"];
    for (node, room) in nodes.iter_mut().zip(rooms) {
        node.greet(&*rig.store, room, patient(1));
    }
    for (index, (node, room)) in nodes.iter_mut().zip(rooms).enumerate() {
        let reply = exchange(&*rig.store, room, join(node, index as u32 + 1)).unwrap();
        assert_eq!(given(&reply.joins[0]), (1, index as u32 + 1));
        assert_eq!((reply.counts.inside, reply.counts.waiting), (1, index as u64));
    }
}

fn names_that_can_be_names_are_taken(rig: &Rig) {
    let long = "x".repeat(128);
    for (nth, name) in ["a", "A-b_c.9", "acme/sale", "..", "a/b", &long].into_iter().enumerate() {
        let mut node = Node::new(1);
        node.greet(&*rig.store, name, patient(1));
        // Each has a line of its own.
        let reply = exchange(&*rig.store, name, join(&mut node, nth as u32 + 1)).unwrap();
        assert_eq!(given(&reply.joins[0]), (1, nth as u32 + 1), "{name}");
    }
}

fn names_that_can_not_are_refused(rig: &Rig) {
    let longer = "x".repeat(129);
    for name in ["", "/", "a/", "/a", "a/b/c", "a b", "a\0", "ä", "{a}", "a:b", &longer] {
        match exchange(&*rig.store, name, Node::new(1).batch()) {
            Err(error @ StoreError::Room { .. }) => {
                assert!(error.to_string().contains("can't be a room's name"));
            }
            other => panic!("{name:?} was taken: {other:?}"),
        }
    }
}

fn a_batch_out_of_bounds_touches_nothing(rig: &Rig) {
    let mut node = Node::new(1);
    let none = Batch { sequence: 0, ..join(&mut node, 1) };
    let many = Batch { claims: vec![1; MAX_ITEMS + 1], ..join(&mut node, 1) };
    let bulk = join(&mut node, MAX_BULK as u32 + 1);
    let refuse =
        |batch: &Batch, expected: BadBatch| match exchange(&*rig.store, "sale", batch.clone()) {
            Err(StoreError::Batch(bad)) => assert_eq!(bad, expected),
            other => panic!("{other:?}"),
        };
    for _ in 0..2 {
        refuse(&none, BadBatch::NoSequence);
        refuse(&many, BadBatch::TooManyItems(MAX_ITEMS + 1));
        refuse(&bulk, BadBatch::TooManyBulk(MAX_BULK + 1));
        // The second time round in a room that exists.
        node.greet(&*rig.store, "sale", patient(1));
    }
    let reply = exchange(&*rig.store, "sale", join(&mut node, 1)).unwrap();
    assert_eq!(given(&reply.joins[0]), (1, 1));
}

fn time_and_run_are_the_stores(rig: &Rig) {
    let mut node = Node::new(1);
    let first = node.greet(&*rig.store, "sale", patient(1));
    rig.hand.pass(1_234);
    let second = exchange(&*rig.store, "sale", node.batch()).unwrap();
    assert_eq!(second.wall_ms, first.wall_ms + 1_234);
    assert_eq!(second.counts.clock_ms, first.counts.clock_ms + 1_234);
    assert_ne!(first.run, 0);
    assert_eq!(first.run, second.run);
}

fn nodes_at_once_share_one_line(rig: &Rig) {
    Node::new(99).greet(&*rig.store, "sale", patient(10));
    let nodes = 8_u32;
    let mut numbers: Vec<Number> = runtime().block_on(async {
        let tasks: Vec<_> = (0..nodes)
            .map(|id| {
                let store = rig.store.clone();
                tokio::spawn(async move {
                    let (mut node, mut mine) = (Node::new(id.into()), Vec::new());
                    for _ in 0..25 {
                        let reply = store.exchange("sale", join(&mut node, 2)).await.unwrap();
                        let (first, count) = given(&reply.joins[0]);
                        mine.extend(first..first + u64::from(count));
                        let taken = reply.counts.inside + reply.counts.admitted;
                        assert!(taken <= 10, "{taken} on ten seats");
                    }
                    assert!(mine.is_sorted(), "a node's later join is later in the line");
                    mine
                })
            })
            .collect();
        let mut all = Vec::new();
        for task in tasks {
            all.extend(task.await.unwrap());
        }
        all
    });
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=u64::from(nodes) * 50).collect::<Vec<_>>());
}

fn whoever_stops_waiting_may_ask_again(rig: &Rig) {
    let mut node = Node::new(1);
    node.greet(&*rig.store, "sale", patient(1));
    let batch = join(&mut node, 4);
    runtime().block_on(async {
        let asked = rig.store.exchange("sale", batch.clone());
        // Polled once, then dropped: whether it was applied, nobody knows.
        let _ = tokio::time::timeout(std::time::Duration::ZERO, asked).await;
        let reply = rig.store.exchange("sale", batch).await.unwrap();
        assert!(matches!(reply.taken, Taken::Applied | Taken::Repeated));
        assert_eq!(given(&reply.joins[0]), (1, 4));
        assert_eq!(reply.counts.issued, 4);
    });
}

fn the_store_adds_no_rules_to_the_line(rig: &Rig) {
    let mut rng = Rng(11);
    let mut twins = [Twin::new("a"), Twin::new("acme/b")];
    for _ in 0..150 {
        rig.hand.pass(rng.below(1_500));
        let twin = &mut twins[rng.below(2) as usize];
        twin.stir(&*rig.store, &mut rng);
    }
}
