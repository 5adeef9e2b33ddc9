//! What is told is kept: every store keeps the contract, and the one in a file survives whatever a
//! process or a disk may do to it.

mod contract;
mod damage;
mod durable;
mod format;
mod full;
mod kill;
mod load;
mod paths;

use std::num::NonZeroU64;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anteroom::line::{Batch, Mode, Offer, Reply, Settings};
use anteroom::store::{Clock, Embedded, Opening, Secret, Store, StoreError};

/// A wall clock that moves when told to.
#[derive(Clone)]
pub(crate) struct Hand(Arc<AtomicU64>);

impl Hand {
    fn new() -> Self {
        Hand(Arc::new(AtomicU64::new(1_700_000_000_000)))
    }

    fn pass(&self, ms: u64) {
        self.0.fetch_add(ms, Ordering::SeqCst);
    }

    fn clock(&self) -> Clock {
        let hand = self.0.clone();
        Arc::new(move || hand.load(Ordering::SeqCst))
    }
}

fn opening(clock: Clock) -> Opening {
    Opening { clock, run: NonZeroU64::new(0x5eed).unwrap(), secret: Secret([7; 32]) }
}

/// A directory in memory where there is one, for tests that write hundreds of files and do not care
/// whether any of them reaches a disk.
fn light_dir() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| tempfile::tempdir().unwrap())
}

fn embedded(path: &Path, hand: &Hand) -> Result<Embedded, StoreError> {
    Embedded::open(path, opening(hand.clock()))
}

/// One exchange, waited for.
fn exchange(store: &dyn Store, room: &str, batch: Batch) -> Result<Reply, StoreError> {
    runtime().block_on(store.exchange(room, batch))
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// A room with `seats`, in which nobody is ever late or idle, so that a test decides all that happens.
fn patient(seats: u64) -> Settings {
    const DAY_MS: u64 = 86_400_000;
    Settings {
        mode: Mode::Auto,
        max_active: Some(seats),
        max_waiting: None,
        claim_window_ms: DAY_MS,
        session_idle_ms: Some(DAY_MS),
        session_max_ms: None,
        session_first_ms: 3_600_000,
        heartbeat_timeout_ms: DAY_MS,
        ..Settings::default()
    }
}

/// What one node sends about one room: a batch of the next sequence each time.
#[derive(Clone)]
struct Node {
    id: u128,
    sequence: u64,
    epoch: u64,
}

impl Node {
    fn new(id: u128) -> Self {
        Node { id, sequence: 0, epoch: 0 }
    }

    fn batch(&mut self) -> Batch {
        self.sequence += 1;
        Batch { node: self.id, sequence: self.sequence, epoch: self.epoch, ..Batch::default() }
    }

    /// Brings the settings and learns the epoch.
    fn greet(&mut self, store: &dyn Store, room: &str, settings: Settings) -> Reply {
        let version = 1;
        let offer = Some(Offer { version, settings });
        let batch = Batch { offer, ..self.batch() };
        let reply = exchange(store, room, batch).unwrap();
        self.epoch = reply.counts.epoch;
        reply
    }
}

/// This test binary again, to run one test of it as another process. The test does nothing unless it
/// finds [`ERRAND`] in its environment.
fn errand(test: &str, path: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).env(ERRAND, path);
    command
}

const ERRAND: &str = "ANTEROOM_TEST_ERRAND";

/// The store's path, in a process that was started for a test.
fn errand_path() -> Option<std::path::PathBuf> {
    std::env::var_os(ERRAND).map(Into::into)
}
