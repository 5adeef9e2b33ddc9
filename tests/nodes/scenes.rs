//! What was asked for by name: operators at the same moment, seats that are never one too many, windows that advance once,
//! and crowds that come at once. Nodes here are rooms with their drivers, in one process, on one real Redis; what needs
//! processes is in [`together`](super::together).

use std::collections::BTreeSet;
use std::num::NonZeroU64;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use anteroom::clock;
use anteroom::line::{
    Claimed, Command, Commanded, Counts, Done, Joined, Mode, Number, Offer, Pace, Rate, Settings,
};
use anteroom::room::{Busy, Proof, Room};
use anteroom::store::{self, Access, Opening, Secret};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

use crate::support::redis::RedisServer;

/// A node: its room, and the conversation with the store.
pub(super) struct Node {
    pub(super) room: Arc<Room>,
    driver: JoinHandle<()>,
}

impl Node {
    /// One that knows its line.
    pub(super) async fn start(redis: &RedisServer, id: u128, settings: Settings) -> Node {
        Node::of(Room::new("sale", id, Offer { version: 1, settings }).into(), redis).await
    }

    /// A room of which nothing was said to a store yet.
    async fn of(room: Arc<Room>, redis: &RedisServer) -> Node {
        let opening = Opening {
            clock: Arc::new(clock::now_ms),
            run: NonZeroU64::MIN,
            secret: Secret([7; 32]),
        };
        let store =
            store::open(&redis.url(), Access::default(), opening).await.expect("a store").store;
        let driven = room.clone();
        let driver = tokio::spawn(async move { driven.drive(&*store).await });
        let node = Node { room, driver };
        while node.counts().epoch == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        node
    }

    pub(super) fn counts(&self) -> Counts {
        *self.room.view().counts()
    }

    pub(super) async fn join(&self) -> (Proof, bool) {
        match self.room.join(None).await.expect("an answer") {
            Joined::Given { epoch, first, entered, .. } => {
                (Proof { epoch, number: first }, entered > 0)
            }
            other => panic!("no number: {other:?}"),
        }
    }

    async fn release(&self, count: u64) -> (Number, Number) {
        match self.room.command(Command::Release(count)).await.expect("an answer") {
            Commanded::Released { after, upto, count: called, .. } => {
                assert_eq!(upto - after, called, "everybody is here");
                (after, upto)
            }
            other => panic!("no release: {other:?}"),
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// Only by hand, and nobody is ever late.
fn by_hand() -> Settings {
    Settings {
        mode: Mode::Hold,
        max_waiting: None,
        claim_window_ms: 600_000,
        heartbeat_timeout_ms: 600_000,
        ..Settings::default()
    }
}

pub(super) fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime")
}

/// Three hundred in three seconds instead of a minute, and both operators call next for as long as anybody is left.
#[test]
fn two_operators_call_next_at_once_while_people_join() {
    const PEOPLE: u64 = 300;
    let redis = RedisServer::start();
    runtime().block_on(async {
        let (a, b) =
            (Node::start(&redis, 1, by_hand()).await, Node::start(&redis, 2, by_hand()).await);
        let joining = async {
            let mut given = BTreeSet::new();
            for nth in 0..PEOPLE {
                let (proof, _) = if nth % 2 == 0 { a.join().await } else { b.join().await };
                assert!(given.insert(proof.number), "{} was given twice", proof.number);
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            given
        };
        let called = Mutex::new(BTreeSet::new());
        let operator = async |node: &Node| {
            let (mut sum, mut in_vain) = (0, 0);
            while called.lock().expect("no panic").len() < PEOPLE as usize {
                let (after, upto) = node.release(1).await;
                assert!(upto <= after + 1, "one at a time");
                for number in after + 1..=upto {
                    assert!(
                        called.lock().expect("no panic").insert(number),
                        "{number} was called twice"
                    );
                }
                sum += upto - after;
                in_vain += u64::from(upto == after);
            }
            (sum, in_vain)
        };
        let (given, (one, early), (other, _)) = tokio::join!(joining, operator(&a), operator(&b));
        assert_eq!(given, (1..=PEOPLE).collect());
        assert_eq!(
            called.into_inner().expect("no panic"),
            given,
            "in order, and nobody was left out"
        );
        assert_eq!(one + other, PEOPLE, "what was released is what was called");
        assert!(one > 0 && other > 0 && early > 0, "both at once, and faster than people came");
        a.release(1).await;
        let counts = a.counts();
        assert_eq!((counts.released, counts.turns, counts.waiting), (PEOPLE, PEOPLE, 0));
    });
}

#[test]
fn a_leaver_is_replaced_at_once_and_never_three_are_inside() {
    let redis = RedisServer::start();
    let settings = Settings { mode: Mode::Auto, max_active: Some(2), ..by_hand() };
    runtime().block_on(async {
        let nodes = [
            Node::start(&redis, 1, settings.clone()).await,
            Node::start(&redis, 2, settings.clone()).await,
            Node::start(&redis, 3, settings).await,
        ];
        let mut inside = Vec::new();
        let mut waiting = Vec::new();
        for nth in 0..12 {
            let (proof, entered) = nodes[nth % 3].join().await;
            if entered { inside.push(proof) } else { waiting.push(proof) }
        }
        assert_eq!((inside.len(), waiting.len()), (2, 10));
        for (turn, next) in waiting.into_iter().enumerate() {
            let (node, other) = (&nodes[turn % 3], &nodes[(turn + 1) % 3]);
            assert_eq!(other.room.claim(next).await, Ok(Claimed::Waiting), "two are inside");
            let leaver = inside.remove(0);
            assert_eq!(node.room.leave(leaver).await, Ok(Done::Freed));
            // By the next exchange of any node the seat is theirs.
            let claimed = other.room.claim(next).await;
            assert!(matches!(claimed, Ok(Claimed::Inside(_))), "{claimed:?} after {leaver:?} left");
            inside.push(next);
            let counts = other.counts();
            assert!(counts.inside + counts.admitted <= 2, "{counts:?}");
        }
    });
}

/// How many turns windows of five gave, in how much of the room's own time. Nobody shows up, and nobody is late yet.
async fn windows(redis: &RedisServer, nodes: u128) -> (u64, u64) {
    let pace = Pace::Batch { batch: 5, interval_ms: 1_000, windows: 100 };
    let settings = Settings { mode: Mode::Auto, pace: Some(pace), ..by_hand() };
    let mut all = Vec::new();
    for id in 1..=nodes {
        all.push(Node::start(redis, id, settings.clone()).await);
    }
    for _ in 0..100 {
        all[0].join().await;
    }
    let before = all[0].counts();
    tokio::time::sleep(Duration::from_secs(5)).await;
    let after = all[0].counts();
    (after.turns - before.turns, after.clock_ms - before.clock_ms)
}

#[test]
fn windows_advance_once_per_interval_however_many_nodes() {
    for nodes in [1, 3] {
        let redis = RedisServer::start();
        let (turns, ms) = runtime().block_on(windows(&redis, nodes));
        let expected = ms / 1_000 * 5;
        assert!(
            (expected..=expected + 5).contains(&turns),
            "{turns} turns in {ms} ms by {nodes} nodes, {expected} are due"
        );
    }
}

/// As many calls as one node may make of Redis in a second.
const CALLS_A_SECOND: u64 = 250;

#[test]
fn a_hundred_thousand_join_at_once() {
    let redis = RedisServer::start();
    runtime().block_on(async {
        let nodes: Vec<Arc<Node>> = vec![
            Arc::new(Node::start(&redis, 1, by_hand()).await),
            Arc::new(Node::start(&redis, 2, by_hand()).await),
        ];
        let before = exchanges(&redis);
        let began = Instant::now();
        let mut joining = tokio::task::JoinSet::new();
        for nth in 0..100_000 {
            let node = nodes[nth % 2].clone();
            joining.spawn(async move { node.join().await.0.number });
        }
        let numbers: BTreeSet<Number> = joining.join_all().await.into_iter().collect();
        let (took, calls) = (began.elapsed(), exchanges(&redis) - before);
        println!("100,000 joins through two nodes in {took:?}, {calls} calls of Redis");
        assert_eq!(numbers, (1..=100_000).collect());
        // By the time it took, and by the people: a busy machine must not excuse a call for each of a few.
        let most = 2 * CALLS_A_SECOND * (1 + took.as_secs());
        assert!(calls <= most.min(1_000), "{calls} calls in {took:?}");
    });
}

/// Whoever comes while as many wait for their number as a node holds is told so at once; everybody else is given one.
#[test]
fn beyond_its_bound_a_node_says_so_at_once() {
    const BOUND: usize = 100_000;
    let redis = RedisServer::start();
    runtime().block_on(async {
        let room = Arc::new(Room::new("sale", 1, Offer { version: 1, settings: by_hand() }));
        let mut asked = Vec::new();
        let mut refused = 0;
        for _ in 0..BOUND + 500 {
            let mut join = Box::pin(room.join(None));
            match join.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Pending => asked.push(join),
                Poll::Ready(Err(Busy::Full)) => refused += 1,
                Poll::Ready(other) => panic!("answered without a store: {other:?}"),
            }
        }
        assert_eq!((asked.len(), refused), (BOUND, 500));
        let _node = Node::of(room.clone(), &redis).await;
        let mut numbers = BTreeSet::new();
        for join in asked {
            match join.await {
                Ok(Joined::Given { first, .. }) => assert!(numbers.insert(first)),
                other => panic!("no number: {other:?}"),
            }
        }
        assert_eq!(numbers, (1..=BOUND as u64).collect());
    });
}

/// Three nodes share the rate, and whoever was called enters at any of them.
#[test]
fn ten_thousand_are_released_a_second() {
    const PEOPLE: u64 = 60_000;
    let redis = RedisServer::start();
    let rate = Rate { count: 10_000, per_ms: 1_000 };
    let pace = Some(Pace::Rate { rate, burst: 1_000 });
    let settings = Settings { mode: Mode::Auto, pace, ..by_hand() };
    runtime().block_on(async {
        let held = Settings { mode: Mode::Hold, ..settings.clone() };
        let mut nodes = Vec::new();
        for id in 1..=3 {
            nodes.push(Node::start(&redis, id, held.clone()).await);
        }
        let mut joining = tokio::task::JoinSet::new();
        for nth in 0..PEOPLE {
            let room = nodes[nth as usize % 3].room.clone();
            joining.spawn(async move { room.join(None).await });
        }
        let given = joining.join_all().await;
        assert!(given.iter().all(|joined| matches!(joined, Ok(Joined::Given { .. }))));
        let [node, ..] = &nodes[..] else { panic!("three") };
        for node in &nodes {
            node.room.offer(Offer { version: 2, settings: settings.clone() });
        }
        while node.counts().turns == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let before = node.counts();
        tokio::time::sleep(Duration::from_secs(3)).await;
        let after = node.counts();
        let (turns, ms) = (after.turns - before.turns, after.clock_ms - before.clock_ms);
        let due = ms * 10;
        println!("{turns} turns in {ms} ms by three nodes");
        assert!(turns + 1_000 >= due && turns <= due + 1_000, "{turns} turns in {ms} ms");
        let mut claiming = tokio::task::JoinSet::new();
        for number in 1..=after.released {
            let room = nodes[number as usize % 3].room.clone();
            let proof = Proof { epoch: after.epoch, number };
            claiming.spawn(async move { room.claim(proof).await });
        }
        let claimed = claiming.join_all().await;
        let inside = claimed.iter().filter(|one| matches!(one, Ok(Claimed::Inside(_)))).count();
        assert_eq!(inside as u64, after.released, "everybody who was called is in");
    });
}

/// Calls of the script.
fn exchanges(redis: &RedisServer) -> u64 {
    redis.calls("evalsha") + redis.calls("eval")
}
