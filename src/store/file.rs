//! The embedded store's file: three redb tables, and when a thing in them is safe.
//!
//! Owns what is on disk and nothing in memory but the chain's head. Knows no rule of a line.
//!
//! ```text
//!   anteroom    "layout" u32 · "rules" u32 · "run" u64 · "secret" 32 bytes
//!               "base" where the snapshots stand · "head" where the journal ends
//!   snapshots   room → MessagePack of its line
//!   journal     index u64 → entry: what one commit added since the snapshots
//! ```
//! "base" is a digest of the other fields and of every snapshot; "head" is chained from it through every
//! entry ([`Head`]). So the file proves itself whole, beyond the checksums redb has in its pages.
//!
//! # When a commit is safe
//!
//! redb keeps its last two commits. One `fsync` makes the newest durable against a crash. But if a page of
//! it is damaged afterwards, redb takes it for a commit that a crash tore, and falls back on the one
//! before without a word: one in ten of the damaged files tried came back as a sound line that had
//! forgotten its last exchange. So **an answer waits for the commit after its own**: the next group's, or an
//! empty one if nobody else is waiting. Then both commits that redb could fall back on hold it, and
//! damage is either outside of it or found. It costs a second `fsync` of waiting and, under load, none
//! of throughput.

use std::collections::BTreeMap;
use std::path::PathBuf;

use redb::{Database, TableDefinition};
use sha2::{Digest, Sha256};

use super::Secret;
use super::journal::Head;

/// What and how this version writes.
pub(super) const LAYOUT: u32 = 1;

/// The version of the rules of [`crate::line`], and of the shapes of its state and batches. To be raised
/// with every change after which an old journal would give another line: such a journal is then
/// refused, and a clean stop of the old version leaves none.
pub(super) const RULES: u32 = 6;

pub(super) const FIELDS: TableDefinition<&str, &[u8]> = TableDefinition::new("anteroom");
pub(super) const SNAPSHOTS: TableDefinition<&str, &[u8]> = TableDefinition::new("snapshots");
pub(super) const JOURNAL: TableDefinition<u64, &[u8]> = TableDefinition::new("journal");

/// An open store's file. After an error it must not be used again: reopening tells what is in it.
pub(super) struct File {
    pub(super) db: Database,
    pub(super) path: PathBuf,
    pub(super) identity: Identity,
    pub(super) head: Head,
    /// Each room's snapshot.
    pub(super) kept: BTreeMap<String, Kept>,
}

/// A snapshot in the file.
#[derive(Clone, Copy)]
pub(super) struct Kept {
    digest: [u8; 32],
    bytes: u64,
}

impl Kept {
    pub(super) fn of(line: &[u8]) -> Self {
        Kept { digest: Sha256::digest(line).into(), bytes: line.len() as u64 }
    }
}

/// What was drawn when the file was made.
#[derive(Clone, Copy)]
pub(super) struct Identity {
    /// Which memory this is.
    pub(super) run: u64,
    /// What signs where no keys are configured.
    pub(super) secret: Secret,
}

impl File {
    /// Adds an entry.
    pub(super) fn append(&mut self, entry: &[u8]) -> Result<(), redb::Error> {
        let head = self.head.after(entry);
        let commit = self.db.begin_write()?;
        commit.open_table(JOURNAL)?.insert(self.head.next, entry)?;
        commit.open_table(FIELDS)?.insert("head", head.to_bytes().as_slice())?;
        commit.commit()?;
        self.head = head;
        Ok(())
    }

    /// Adds nothing, so that the commit before is no longer the newest.
    pub(super) fn confirm(&mut self) -> Result<(), redb::Error> {
        self.db.begin_write()?.commit()?;
        Ok(())
    }

    /// Replaces the journal by the lines of the rooms it is about. The rooms it is not about have their
    /// snapshots already.
    pub(super) fn snapshot(&mut self, rooms: &[(String, Vec<u8>)]) -> Result<(), redb::Error> {
        let mut kept = self.kept.clone();
        let commit = self.db.begin_write()?;
        let mut snapshots = commit.open_table(SNAPSHOTS)?;
        for (room, line) in rooms {
            snapshots.insert(room.as_str(), line.as_slice())?;
            kept.insert(room.clone(), Kept::of(line));
        }
        drop(snapshots);
        commit.delete_table(JOURNAL)?;
        commit.open_table(JOURNAL)?;
        let base = base(LAYOUT, RULES, &self.identity, self.head.next, &kept);
        let mut fields = commit.open_table(FIELDS)?;
        fields.insert("rules", RULES.to_le_bytes().as_slice())?;
        fields.insert("base", base.to_bytes().as_slice())?;
        fields.insert("head", base.to_bytes().as_slice())?;
        drop(fields);
        commit.commit()?;
        (self.head, self.kept) = (base, kept);
        Ok(())
    }

    /// Bytes of all snapshots.
    pub(super) fn snapshot_bytes(&self) -> u64 {
        self.kept.values().map(|kept| kept.bytes).sum()
    }

    /// The first commits of a new file. Two: see the module's documentation.
    pub(super) fn found(&mut self) -> Result<(), redb::Error> {
        let commit = self.db.begin_write()?;
        let mut fields = commit.open_table(FIELDS)?;
        fields.insert("layout", LAYOUT.to_le_bytes().as_slice())?;
        fields.insert("run", self.identity.run.to_le_bytes().as_slice())?;
        fields.insert("secret", self.identity.secret.0.as_slice())?;
        drop(fields);
        commit.commit()?;
        self.snapshot(&[])?;
        self.confirm()
    }
}

/// The chain's beginning: everything in the file but the journal.
pub(super) fn base(
    layout: u32,
    rules: u32,
    identity: &Identity,
    next: u64,
    kept: &BTreeMap<String, Kept>,
) -> Head {
    let mut all = Sha256::new()
        .chain_update(b"base\0")
        .chain_update(layout.to_le_bytes())
        .chain_update(rules.to_le_bytes())
        .chain_update(identity.run.to_le_bytes())
        .chain_update(identity.secret.0)
        .chain_update(next.to_le_bytes());
    for (room, Kept { digest, .. }) in kept {
        all.update([room.len() as u8]); // names have 128 bytes at most
        all.update(room.as_bytes());
        all.update(digest);
    }
    Head { next, digest: all.finalize().into() }
}
