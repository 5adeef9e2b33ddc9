//! Disks that fail and power that is cut, at every single operation: inside the crate, because the disk
//! has to be put under the file.
//!
//! The disk here keeps what was written since the last sync apart. A cut keeps any sectors of it and
//! loses the others; so a store that tells before it has synced is caught, which no killed process could
//! show.

use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use redb::{Builder, StorageBackend};
use tokio::sync::{Semaphore, oneshot};

use super::file::{File, Identity};
use super::journal::{Head, settle_marks};
use super::lines::Lines;
use super::writer::{Asked, Request, Writer};
use super::{Embedded, Opening, Secret, Store, StoreError};
use crate::line::*;

const RUN: u64 = 5;
const SECTOR: usize = 512;

fn opening() -> Opening {
    Opening {
        clock: Arc::new(|| 1_700_000_000_000),
        run: NonZeroU64::new(RUN).unwrap(),
        secret: Secret([3; 32]),
    }
}

struct Rng(u64);

impl Rng {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 33) % bound
    }
}

#[derive(Debug, Default)]
struct Disk {
    synced: Vec<u8>,
    seen: Vec<u8>,
    unsynced: Vec<(usize, Vec<u8>)>,
    /// Operations until everything fails.
    left: u64,
    /// Operations done.
    done: u64,
}

impl Disk {
    fn spend(&mut self) -> io::Result<()> {
        self.done += 1;
        self.left = self.left.checked_sub(1).ok_or_else(|| io::Error::other("the disk is gone"))?;
        Ok(())
    }

    /// What is there after the power comes back. A length not synced is there or not; what was written
    /// beyond it goes with it.
    fn after_cut(&self, rng: &mut Rng) -> Vec<u8> {
        let mut left = self.synced.clone();
        if rng.below(2) == 0 {
            left.resize(self.seen.len(), 0);
        }
        let keep = rng.below(5); // of four sectors
        for (at, data) in &self.unsynced {
            for (index, sector) in data.chunks(SECTOR).enumerate() {
                let at = at + index * SECTOR;
                if rng.below(4) < keep && at + sector.len() <= left.len() {
                    left[at..at + sector.len()].copy_from_slice(sector);
                }
            }
        }
        left
    }
}

#[derive(Clone, Debug)]
struct Faulty(Arc<Mutex<Disk>>);

impl StorageBackend for Faulty {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.lock().unwrap().seen.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let disk = self.0.lock().unwrap();
        out.copy_from_slice(&disk.seen[offset as usize..offset as usize + out.len()]);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut disk = self.0.lock().unwrap();
        disk.spend()?;
        disk.seen.resize(len as usize, 0);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut disk = self.0.lock().unwrap();
        disk.spend()?;
        let len = disk.seen.len();
        disk.synced.resize(len, 0);
        for (at, data) in std::mem::take(&mut disk.unsynced) {
            disk.synced[at..at + data.len()].copy_from_slice(&data);
        }
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut disk = self.0.lock().unwrap();
        disk.spend()?;
        let at = offset as usize;
        disk.seen[at..at + data.len()].copy_from_slice(data);
        disk.unsynced.push((at, data.to_vec()));
        Ok(())
    }
}

/// A new store's file on a disk that fails after so many operations.
fn file_on(disk: &Faulty) -> File {
    let db = Builder::new().create_with_backend(disk.clone()).unwrap();
    let (secret, digest) = (Secret([3; 32]), [0; 32]);
    let mut file = File {
        db,
        path: "faulty".into(),
        identity: Identity { run: RUN, secret },
        head: Head { next: 0, digest },
        kept: BTreeMap::new(),
    };
    file.found().unwrap();
    file
}

fn batch(sequence: u64) -> Batch {
    let settings = Settings { max_active: Some(3), ..Settings::default() };
    let offer = (sequence == 1).then_some(Offer { version: 1, settings });
    Batch {
        node: 1,
        sequence,
        offer,
        joins: vec![Join::Plain(sequence as u32 % 4)],
        marks: (1..sequence * 40).collect(),
        ..Batch::default()
    }
}

/// Numbers given after so many batches.
fn issued_after(batches: u64) -> u64 {
    (1..=batches).map(|sequence| sequence % 4).sum()
}

/// Batches one after the other, sometimes several under way, until one fails: how many were answered,
/// in order, and how many were sent.
fn drive(file: File, rng: &mut Rng, most: u64) -> (u64, u64) {
    let writer = Writer::new(file, Lines::new(RUN), opening().clock, 0);
    let places = Arc::new(Semaphore::new(8));
    let (inbox, requests) = channel();
    let (mut told, mut sent) = (0, 0);
    std::thread::scope(|scope| {
        let thread = scope.spawn(move || writer.run(&requests));
        'all: while sent < most {
            let mut asked = Vec::new();
            for _ in 0..=rng.below(3) {
                sent += 1;
                let (answer, answered) = oneshot::channel();
                let mut batch = batch(sent);
                settle_marks(&mut batch);
                let place = places.clone().try_acquire_owned().unwrap();
                let (room, asked_for) =
                    ("sale".to_owned(), Asked::Exchange(Box::new(batch), answer));
                let request = Request { room, asked: asked_for, place };
                inbox.send(request).unwrap();
                asked.push(answered);
            }
            for answered in asked {
                match answered.blocking_recv().unwrap() {
                    Ok(reply) => {
                        told += 1;
                        assert_eq!(reply.counts.issued, issued_after(told));
                    }
                    Err(StoreError::Failed { why }) => {
                        assert!(!why.is_empty());
                        break 'all;
                    }
                    Err(other) => panic!("{other:?}"),
                }
            }
        }
        drop(inbox);
        let failed = thread.join().unwrap().is_err();
        assert!(failed || told == sent, "a failed write is reported");
    });
    (told, sent)
}

/// The file opened for good: it must hold what was told, and nothing that was never sent.
fn check(path: &Path, bytes: &[u8], told: u64, sent: u64, what: &str) {
    std::fs::write(path, bytes).unwrap();
    let store = Embedded::open(path, opening()).unwrap_or_else(|error| panic!("{what}: {error}"));
    let look = Batch { joins: Vec::new(), ..batch(sent + 1) };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let reply = runtime.block_on(store.exchange("sale", look)).unwrap();
    let issued = reply.counts.issued;
    let states: Vec<u64> = (told..=sent).map(issued_after).collect();
    assert!(states.contains(&issued), "{what}: {issued} given, {told} of {sent} batches were told");
}

fn dir() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| tempfile::tempdir().unwrap())
}

/// Operations that so many batches take, to know where to cut.
fn operations(most: u64) -> (u64, u64) {
    let disk = Faulty(Arc::new(Mutex::new(Disk { left: u64::MAX, ..Disk::default() })));
    let file = file_on(&disk);
    let made = disk.0.lock().unwrap().done;
    let (told, sent) = drive(file, &mut Rng(1), most);
    assert!(told == sent && sent >= most);
    let done = disk.0.lock().unwrap().done;
    (made, done)
}

#[test]
fn a_cut_at_any_operation_loses_nothing_that_was_told() {
    let (dir, most) = (dir(), 12);
    let path = dir.path().join("store");
    let (made, done) = operations(most);
    for cut in made..done + 20 {
        for seed in 0..2 {
            let mut rng = Rng(cut * 10 + seed);
            let disk = Faulty(Arc::new(Mutex::new(Disk { left: u64::MAX, ..Disk::default() })));
            let file = file_on(&disk);
            let spent = disk.0.lock().unwrap().done;
            disk.0.lock().unwrap().left = cut.saturating_sub(spent);
            let (told, sent) = drive(file, &mut rng, most);
            let disk = disk.0.lock().unwrap();
            let what = format!("cut at operation {cut} of {done}, seed {seed}");
            check(&path, &disk.after_cut(&mut rng), told, sent, &what);
            // The same failure without a cut: the process ends, the system keeps all that was written.
            check(&path, &disk.seen, told, sent, &format!("{what}, power kept"));
        }
    }
}
