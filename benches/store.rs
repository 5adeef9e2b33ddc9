//! The embedded store beside the one in memory, and beside the disk itself: what it costs to keep what is
//! told, and how long a start after a crash takes.
//!
//! Most of it is the disk's `fsync`, so the figures are of this machine at this moment; the first line
//! says what one takes. Without `--bench` everything is done once, small, so that this file can't rot.

use std::fs::File;
use std::io::Write as _;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use anteroom::line::*;
use anteroom::store::{Embedded, Memory, Opening, Secret, Store};
use tokio::runtime::{Builder, Runtime};

fn main() {
    let full = std::env::args().any(|argument| argument == "--bench");
    let rounds = if full { 500 } else { 5 };
    let folder = tempfile::tempdir().expect("a temporary directory");
    println!("a write and its fsync: {:?}", fsync(&folder.path().join("raw"), rounds));

    let file = Embedded::open(&folder.path().join("store"), opening()).expect("a new store");
    let memory = Memory::new(opening().clock, opening().run);
    for (name, store) in [("memory", &memory as &dyn Store), ("embedded", &file)] {
        let mut node = Node::greeting(store, "sale");
        println!("{name}: a join {:?}", each(rounds, || node.send(store, "sale", join(1))));
        let marks = || Batch { marks: (1..=100).collect(), ..Batch::default() };
        println!("{name}: 100 marks {:?}", each(rounds, || node.send(store, "sale", marks())));
        for rooms in [1, 16, 256] {
            let joins = if full { 20 } else { 1 };
            let rate = f64::from(rooms * joins) / at_once(store, rooms, joins).as_secs_f64();
            println!(
                "{name}: {rate:.0} joins a second in {rooms} rooms at once, one after the other in each"
            );
        }
    }
    recovery(folder.path(), if full { 10_000_000 } else { 10_000 });
}

fn opening() -> Opening {
    let run = NonZeroU64::MIN;
    Opening { clock: Arc::new(|| 1_800_000_000_000), run, secret: Secret([7; 32]) }
}

fn runtime() -> Runtime {
    Builder::new_current_thread().build().expect("a runtime")
}

/// The mean time of `work`.
fn each(rounds: u32, mut work: impl FnMut()) -> Duration {
    let began = Instant::now();
    (0..rounds).for_each(|_| work());
    began.elapsed() / rounds
}

fn fsync(path: &Path, rounds: u32) -> Duration {
    let mut file = File::create(path).expect("a file");
    each(rounds, || {
        file.write_all(&[0; 100]).expect("a write");
        file.sync_data().expect("a sync");
    })
}

fn join(count: u32) -> Batch {
    Batch { joins: vec![Join::Plain(count)], ..Batch::default() }
}

/// A node in one room.
struct Node {
    sequence: u64,
    epoch: u64,
}

impl Node {
    fn greeting(store: &dyn Store, room: &str) -> Node {
        let settings = Settings { mode: Mode::Hold, max_waiting: None, ..Settings::default() };
        let offer = Some(Offer { version: 1, settings });
        let mut node = Node { sequence: 0, epoch: 0 };
        let batch = node.address(Batch { offer, ..Batch::default() });
        let reply = runtime().block_on(store.exchange(room, batch)).expect("an answer");
        node.epoch = reply.counts.epoch;
        node
    }

    fn address(&mut self, batch: Batch) -> Batch {
        self.sequence += 1;
        Batch { node: 1, sequence: self.sequence, epoch: self.epoch, ..batch }
    }

    fn send(&mut self, store: &dyn Store, room: &str, batch: Batch) {
        let batch = self.address(batch);
        runtime().block_on(store.exchange(room, batch)).expect("an answer");
    }
}

/// So many rooms at once, each with one join after the other.
fn at_once(store: &dyn Store, rooms: u32, joins: u32) -> Duration {
    let names: Vec<String> = (0..rooms).map(|room| format!("{rooms}/{room}")).collect();
    let mut all: Vec<_> = names
        .iter()
        .map(|name| {
            let mut node = Node::greeting(store, name);
            Box::pin(async move {
                for _ in 0..joins {
                    store.exchange(name, node.address(join(1))).await.expect("an answer");
                }
            })
        })
        .collect();
    let began = Instant::now();
    runtime().block_on(std::future::poll_fn(|context| {
        all.retain_mut(|room| room.as_mut().poll(context).is_pending());
        if all.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    }));
    began.elapsed()
}

/// A crash with so many waiting and a busy journal, and the start after it.
fn recovery(folder: &Path, waiting: u32) {
    let (path, copy) = (folder.join("crashed"), folder.join("copy"));
    let store = Embedded::open(&path, opening()).expect("a new store");
    let mut node = Node::greeting(&store, "sale");
    for _ in 0..10 {
        node.send(&store, "sale", join(waiting / 10));
    }
    for round in 0..8_u64 {
        let marks = (0..100_000).map(|nth: u64| (nth * 7_919 + round) % u64::from(waiting) + 1);
        node.send(&store, "sale", Batch { marks: marks.collect(), ..join(1) });
    }
    std::fs::copy(&path, &copy).expect("a copy, as a crash leaves it");
    let recovery = Embedded::open(&copy, opening()).expect("sound").recovery();
    println!(
        "a start with {waiting} waiting and {} exchanges to replay, 100,000 marks each: {:?}",
        recovery.replayed, recovery.took
    );
    let began = Instant::now();
    store.close().expect("a clean stop");
    println!("a clean stop with {waiting} waiting: {:?}", began.elapsed());
}
