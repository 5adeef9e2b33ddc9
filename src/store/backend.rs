//! The file under redb: opened as if after a crash, always.
//!
//! redb trusts a file that was closed cleanly and reads its pages unverified; a damaged one can then
//! panic deep inside (one in sixty did, of 7,700 damaged in turn, with redb 4.4). A file left by a
//! crash it trusts in nothing: it walks every page against its checksum before using any. That walk is
//! what a store wants at every start, so redb is shown a header that says "not closed". It costs one
//! read of the file, and not one of the 7,700 panicked.
//!
//! The second bit hidden here is the one that makes redb take a commit slot unseen because it was
//! written in two phases. With both bits out of the way redb takes the newest slot whose whole tree
//! verifies, or else the one before it. Why that loses nothing that was told: see [`super::file`].
//!
//! ```text
//!   byte 0..9   "redb" 1A 0A A9 0D 0A
//!   byte 9      bit 0 which slot is the primary · bit 1 not closed · bit 2 written in two phases
//! ```

use std::fs::File;
use std::io;
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, Ordering};

use redb::backends::FileBackend;
use redb::{BackendError, DatabaseError, StorageBackend};

const FLAGS: usize = 9;
const NOT_CLOSED: u8 = 0b010;
const TWO_PHASES: u8 = 0b100;

/// A file that redb must verify.
#[derive(Debug)]
pub(super) struct Wary {
    file: FileBackend,
    /// Whatever is in the file is rubbish: emptied at the first look, which redb takes once it has the
    /// lock and not before.
    scrap: AtomicBool,
}

impl Wary {
    /// A store's file.
    pub(super) fn new(file: File) -> Result<Self, DatabaseError> {
        Ok(Wary { file: FileBackend::new(file)?, scrap: AtomicBool::new(false) })
    }

    /// A file to be made, perhaps over the remains of one that never was.
    pub(super) fn scrapping(file: File) -> Result<Self, DatabaseError> {
        let wary = Wary::new(file)?;
        wary.scrap.store(true, Ordering::Relaxed);
        Ok(wary)
    }
}

impl StorageBackend for Wary {
    fn len(&self) -> io::Result<u64> {
        if self.scrap.swap(false, Ordering::Relaxed) {
            self.file.set_len(0)?;
        }
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read(offset, out)?;
        if offset == 0
            && let Some(flags) = out.get_mut(FLAGS)
        {
            *flags = (*flags | NOT_CLOSED) & !TWO_PHASES;
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.file.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.file.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.try_lock_range(start, end)
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.file.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.query_lock_range(start, end)
    }
}
