//! A crowd through two nodes at once: how long newcomers wait for their number, how often the nodes call, and what it takes
//! of Redis.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anteroom::line::{Batch, Command, Found, Offer, Question, Reply};
use anteroom::room::{Proof, Room};
use anteroom::store::{BoxFuture, Store, StoreError};
use tokio::task::JoinSet;
use tokio::time::{sleep, sleep_until};

use super::beside::grouped;
use super::figures::{Figures, Measured, share};
use super::node::settings;
use super::server::Redis;

/// How much is done, beside what is done everywhere.
pub struct Extent {
    /// Joins that are offered in a second, and those that are numbered at least.
    joins: u64,
    joins_least: u64,
    /// Polls a second.
    polls: u64,
    /// For so long, each.
    time: Duration,
    /// Joins of somebody who comes alone.
    singles: u32,
}

/// For the figures.
pub const FULL: Extent = Extent {
    joins: 52_000,
    joins_least: 50_000,
    polls: 100_000,
    time: Duration::from_secs(10),
    singles: 300,
};
/// For a look whether it runs.
pub const SMALL: Extent = Extent {
    joins: 1_000,
    joins_least: 0,
    polls: 1_000,
    time: Duration::from_millis(300),
    singles: 3,
};

/// Arrivals come in steps of this.
const STEP: Duration = Duration::from_millis(2);
/// Redis' CPU, at most.
const QUARTER: f64 = 25.0;
/// Calls of a node about a room in a second, at most.
const CALLS: f64 = 250.0;
/// A release is answered within.
const RELEASE_MS: f64 = 100.0;

type Nodes = [Arc<Room>; 2];

/// A store that notes when it is asked.
struct Watched {
    store: Arc<dyn Store>,
    asked: Mutex<Vec<Instant>>,
}

impl Watched {
    fn new(store: Arc<dyn Store>) -> Arc<Watched> {
        Arc::new(Watched { store, asked: Mutex::default() })
    }

    /// When it was asked since this was last called.
    fn asked(&self) -> Vec<Instant> {
        std::mem::take(&mut *self.asked.lock().expect("no panic"))
    }
}

impl Store for Watched {
    fn exchange<'a>(
        &'a self,
        room: &'a str,
        batch: Batch,
    ) -> BoxFuture<'a, Result<Reply, StoreError>> {
        self.asked.lock().expect("no panic").push(Instant::now());
        self.store.exchange(room, batch)
    }

    fn find<'a>(
        &'a self,
        room: &'a str,
        question: Question,
    ) -> BoxFuture<'a, Result<Found, StoreError>> {
        self.store.find(room, question)
    }
}

/// All of it.
pub fn measure(all: &super::Extent, figures: &mut Figures) {
    let extent = &all.crowd;
    let redis = Redis::start();
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).enable_all().build().expect("a runtime");
    let stores = [redis.store(None), redis.store(None)].map(Watched::new);
    runtime.block_on(async {
        let nodes: Nodes = [0, 1].map(|node| {
            let offer = Offer { version: 1, settings: settings() };
            let room = Arc::new(Room::new("sale", node as u128 + 1, offer));
            let (driven, store): (_, Arc<Watched>) = (room.clone(), stores[node].clone());
            tokio::spawn(async move { driven.drive(&*store).await });
            room
        });
        while nodes.iter().any(|room| room.view().counts().epoch == 0) {
            sleep(Duration::from_millis(10)).await;
        }
        let alone = share(&singles(&nodes, extent.singles).await, 99);
        figures.told("a join alone, from coming to an answer, p99", Measured::new(alone, 1, "ms"));
        rush(&redis, &nodes, &stores, extent, alone, figures).await;
        polls(&redis, &nodes, extent, figures).await;
        lengthen(&nodes[0], all.waiting()).await;
        both(&redis, &nodes, extent, figures).await;
    });
}

/// One after the other.
async fn singles(nodes: &Nodes, count: u32) -> Vec<f64> {
    let mut taken = Vec::new();
    for _ in 0..count {
        let began = Instant::now();
        nodes[0].join(None).await.expect("an answer");
        taken.push(ms(began.elapsed()));
        sleep(Duration::from_millis(20)).await;
    }
    taken
}

/// As many joins as one Redis is to feed, and an operator who releases meanwhile.
async fn rush(
    redis: &Redis,
    nodes: &Nodes,
    stores: &[Arc<Watched>],
    extent: &Extent,
    alone: f64,
    figures: &mut Figures,
) {
    let operator = nodes[1].clone();
    let until = Instant::now() + extent.time.mul_f64(0.95);
    let releases = tokio::spawn(async move {
        let mut taken = Vec::new();
        while Instant::now() < until {
            let began = Instant::now();
            operator.command(Command::Release(1)).await.expect("an answer");
            taken.push(ms(began.elapsed()));
            sleep(Duration::from_millis(10)).await;
        }
        taken
    });
    stores.iter().for_each(|store| _ = store.asked());
    redis.watch();
    let before = redis.spent_so_far();
    let began = Instant::now();
    let joined = arrivals(nodes, extent.joins, extent.time).await;
    let seconds = began.elapsed().as_secs_f64();
    let asked: Vec<Vec<Instant>> = stores.iter().map(|store| store.asked()).collect();
    let after = redis.spent_so_far();
    let (median, p99, longest) = redis.watched();
    let cpu = (after.cpu_ms - before.cpu_ms) / 10.0 / seconds;
    let calls = (after.calls - before.calls) / seconds / nodes.len() as f64;
    let turns = asked.iter().flat_map(|asked| asked.windows(2));
    let turns: Vec<f64> = turns.map(|pair| ms(pair[1] - pair[0])).collect();
    let waits: Vec<f64> = joined.iter().map(Joined::ms).collect();
    // Whoever comes while one is under way rides in the next: that is the one they wait for.
    let begun: Vec<f64> = joined.iter().map(|join| join.begun(&asked[join.node])).collect();

    let offered = grouped(extent.joins);
    let reached = Measured::new(joined.len() as f64 / seconds, 0, "a second");
    figures.at_least("joins through two nodes", reached, extent.joins_least as f64);
    let meanwhile = format!("with {offered} joins a second");
    figures.at_most(format!("Redis' CPU {meanwhile}"), Measured::new(cpu, 1, "%"), QUARTER);
    let measured = Measured::new(calls, 0, "a second");
    figures.at_most(format!("Redis calls of a node {meanwhile}"), measured, CALLS);
    let own = Measured::new(p99 / 1e3, 2, "ms");
    let note = format!("median {:.2}, longest {:.2}", median / 1e3, longest / 1e3);
    figures.told(format!("an exchange in Redis {meanwhile}, p99"), own.noting(note));
    let turn = Measured::new(share(&turns, 99), 1, "ms");
    let turn = turn.noting(format!("median {:.1}", share(&turns, 50)));
    figures.told(format!("from one exchange of a node to its next {meanwhile}, p99"), turn);
    let wait = Measured::new(share(&waits, 99), 1, "ms");
    let wait = wait.noting(format!("median {:.1}, alone {alone:.1}", share(&waits, 50)));
    figures.told(format!("a join {meanwhile}, p99"), wait);
    let measured = Measured::new(share(&begun, 99), 0, "");
    let measured = measured.noting(format!("most {:.0}", share(&begun, 100)));
    figures.at_most(
        format!("exchanges that begin while a join waits, {meanwhile}, p99"),
        measured,
        1.0,
    );
    let releases = releases.await.expect("no panic");
    let measured = Measured::new(share(&releases, 99), 1, "ms");
    let measured = measured.noting(format!("of {}", releases.len()));
    figures.at_most(format!("a release command {meanwhile}, p99"), measured, RELEASE_MS);
}

/// Somebody who got a number.
struct Joined {
    node: usize,
    /// When they were to come: a node that is late to notice them makes them wait, too.
    due: Instant,
    came: Instant,
    answered: Instant,
}

impl Joined {
    /// The wait for a number.
    fn ms(&self) -> f64 {
        ms(self.answered - self.due)
    }

    /// How many of their node's exchanges began while they waited.
    fn begun(&self, asked: &[Instant]) -> f64 {
        let upto = |moment| asked.partition_point(|asked| *asked <= moment);
        (upto(self.answered) - upto(self.came)) as f64
    }
}

/// Everybody who came, as they were answered.
async fn arrivals(nodes: &Nodes, rate: u64, time: Duration) -> Vec<Joined> {
    let began = tokio::time::Instant::now();
    let steps = (time.as_nanos() / STEP.as_nanos()) as u32;
    let each = (rate as f64 * STEP.as_secs_f64()) as usize;
    let mut joining = JoinSet::new();
    for step in 0..steps {
        let due = began + STEP * step;
        sleep_until(due).await;
        for nth in 0..each {
            let node = nth % nodes.len();
            let room = nodes[node].clone();
            joining.spawn(async move {
                let came = Instant::now();
                room.join(None).await.expect("an answer");
                Joined { node, due: due.into_std(), came, answered: Instant::now() }
            });
        }
    }
    joining.join_all().await
}

/// Those who wait ask where they stand; nothing of that goes to Redis but who was heard of.
async fn polls(redis: &Redis, nodes: &Nodes, extent: &Extent, figures: &mut Figures) {
    let before = redis.spent_so_far();
    let began = Instant::now();
    ask(nodes, extent).await;
    let seconds = began.elapsed().as_secs_f64();
    let calls = redis.spent_so_far().calls - before.calls;
    let measured = Measured::new(calls / seconds / nodes.len() as f64, 1, "a second");
    let polls = grouped(extent.polls);
    figures.at_most(format!("Redis calls of a node with {polls} polls a second"), measured, CALLS);
}

/// Everybody who waits asks once, in an order of no kind.
async fn ask(nodes: &Nodes, extent: &Extent) {
    let epoch = nodes[0].view().counts().epoch;
    let people = nodes[0].view().counts().issued;
    let began = tokio::time::Instant::now();
    let steps = (extent.time.as_nanos() / STEP.as_nanos()) as u32;
    let each = (extent.polls as f64 * STEP.as_secs_f64()) as u64;
    let mut answered = 0_u64;
    for step in 0..steps {
        sleep_until(began + STEP * step).await;
        for nth in 0..each {
            let number = 1 + (u64::from(step) * each + nth) * 7_919 % people;
            let room = &nodes[(nth % 2) as usize];
            answered += u64::from(room.view().position(number).is_some());
            room.seen(Proof { epoch, number });
        }
    }
    assert!(answered > 0, "they have positions");
}

/// A line of so many.
async fn lengthen(node: &Arc<Room>, upto: u64) {
    let mut joining = JoinSet::new();
    for nth in node.view().counts().issued..upto {
        let room = node.clone();
        joining.spawn(async move { room.join(None).await.map(drop) });
        // As many at once as a node lets wait.
        if nth % 50_000 == 0 {
            while joining.join_next().await.is_some() {}
        }
    }
    joining.join_all().await;
}

/// A line as long as one gets, in which people ask while others come: each exchange could be full of marks.
async fn both(redis: &Redis, nodes: &Nodes, extent: &Extent, figures: &mut Figures) {
    let waiting = nodes[0].view().counts().waiting;
    redis.watch();
    let (before, bytes) = (redis.spent_so_far(), redis.bytes_in());
    let began = Instant::now();
    // A tenth of the crowd: what is still coming when so many are there.
    let (joined, ()) =
        tokio::join!(arrivals(nodes, extent.joins / 10, extent.time), ask(nodes, extent));
    let waits: Vec<f64> = joined.iter().map(Joined::ms).collect();
    let seconds = began.elapsed().as_secs_f64();
    let after = redis.spent_so_far();
    let (_, p99, longest) = redis.watched();
    let with = format!(
        "with {} joins and {} polls a second, {} waiting",
        grouped(extent.joins / 10),
        grouped(extent.polls),
        grouped(waiting)
    );
    let calls = (after.calls - before.calls) / seconds / nodes.len() as f64;
    figures.at_most(
        format!("Redis calls of a node {with}"),
        Measured::new(calls, 0, "a second"),
        CALLS,
    );
    let cpu = (after.cpu_ms - before.cpu_ms) / 10.0 / seconds;
    figures.at_most(format!("Redis' CPU {with}"), Measured::new(cpu, 1, "%"), QUARTER);
    let sent = (redis.bytes_in() - bytes) / 1e6 / seconds / nodes.len() as f64;
    let bits = waiting as f64 / 8e6;
    let note = format!("the line's bits are {bits:.2} MB");
    figures.told(
        format!("what a node tells Redis {with}"),
        Measured::new(sent, 2, "MB a second").noting(note),
    );
    let note = format!("longest {:.2}", longest / 1e3);
    figures.told(
        format!("an exchange in Redis {with}, p99"),
        Measured::new(p99 / 1e3, 2, "ms").noting(note),
    );
    let measured = Measured::new(share(&waits, 99), 1, "ms");
    figures.told(
        format!("a join {with}, p99"),
        measured.noting(format!("median {:.1}", share(&waits, 50))),
    );
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
