//! The journal's bytes: exchanges as they happened, and the chain that proves none is missing.
//!
//! Owns the two encodings and decides nothing: what is written when is the writer's business, where
//! the file's.
//!
//! The line is deterministic, so its inputs are the line: replaying room, time and batch of every
//! exchange since a snapshot gives the same line bit for bit. A record also keeps a print of what was
//! answered. If replaying gives another answer, the rules are not those that wrote it, and that is found
//! out instead of carried on with.
//!
//! ```text
//!   entry   what one commit adds:   record, record, …
//!   record  room's length u8 · room · wall clock v · print 8 bytes
//!           marks v · gaps between them v… · body's length v · body: MessagePack of the batch, no marks
//!   v       LEB128: 7 bits a byte, least first, the high bit says that more follow
//! ```
//! Marks are nearly all of a busy room's bytes: as gaps, 100,000 among ten million take 1.3 bytes each
//! instead of the 5 of MessagePack.

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::line::{Batch, Reply};

/// One exchange.
#[derive(Debug, PartialEq)]
pub(super) struct Record {
    /// Whose.
    pub(super) room: String,
    /// When.
    pub(super) wall_ms: u64,
    /// [`print()`] of the answer.
    pub(super) print: [u8; 8],
    /// What happened, marks sorted.
    pub(super) batch: Batch,
}

/// Brings a batch into the one form that is applied, written and replayed: marks are a set, and a sorted
/// one is small.
pub(super) fn settle_marks(batch: &mut Batch) {
    batch.marks.sort_unstable();
    batch.marks.dedup();
}

/// Appends a record. `batch` must have been through [`settle_marks`], and comes back without its marks.
///
/// # Errors
/// None that a batch could cause; the encoder's type has one.
pub(super) fn push(
    entry: &mut Vec<u8>,
    room: &str,
    wall_ms: u64,
    batch: &mut Batch,
    reply: &Reply,
) -> Result<(), rmp_serde::encode::Error> {
    let marks = std::mem::take(&mut batch.marks);
    let body = rmp_serde::to_vec(batch)?;
    let print = print(reply)?;
    entry.push(room.len() as u8); // names have 128 bytes at most
    entry.extend(room.as_bytes());
    push_varint(entry, wall_ms);
    entry.extend(print);
    push_varint(entry, marks.len() as u64);
    let mut before = 0;
    for mark in marks {
        push_varint(entry, mark - before);
        before = mark;
    }
    push_varint(entry, body.len() as u64);
    entry.extend(body);
    Ok(())
}

/// The next record, and `entry` moved behind it.
///
/// # Errors
/// What does not fit. An entry that the chain vouches for always does, unless the shapes changed.
pub(super) fn pull(entry: &mut &[u8]) -> Result<Record, String> {
    let cut = || "an entry ends inside a record".to_owned();
    let length = usize::from(*take(entry, 1).ok_or_else(cut)?.first().ok_or_else(cut)?);
    let room = take(entry, length).ok_or_else(cut)?;
    let room = String::from_utf8(room.to_vec()).map_err(|error| error.to_string())?;
    let wall_ms = take_varint(entry).ok_or_else(cut)?;
    let print = take(entry, 8).ok_or_else(cut)?.try_into();
    let print = print.map_err(|_| cut())?;
    let count = take_varint(entry).ok_or_else(cut)?;
    let mut marks = Vec::with_capacity((count as usize).min(entry.len())); // a mark has a byte or more
    let mut before = 0_u64;
    for _ in 0..count {
        let gap = take_varint(entry).ok_or_else(cut)?;
        before = before.checked_add(gap).ok_or_else(cut)?;
        marks.push(before);
    }
    let length = take_varint(entry).ok_or_else(cut)?;
    let body = take(entry, usize::try_from(length).unwrap_or(usize::MAX)).ok_or_else(cut)?;
    let batch: Batch = rmp_serde::from_slice(body).map_err(|error| error.to_string())?;
    Ok(Record { room, wall_ms, print, batch: Batch { marks, ..batch } })
}

/// Eight bytes that differ if the answers do. The update is left out: it is a copy of the line, may have
/// megabytes, and a line that differs in it soon differs in the rest.
pub(super) fn print(reply: &Reply) -> Result<[u8; 8], rmp_serde::encode::Error> {
    #[derive(Serialize)]
    struct Told<'a>(
        &'a crate::line::Taken,
        &'a Option<crate::line::Offered>,
        [&'a [crate::line::Done]; 3],
        [&'a [crate::line::Claimed]; 4],
        &'a [crate::line::Commanded],
        &'a [crate::line::Joined],
        &'a crate::line::Counts,
    );
    let told = Told(
        &reply.taken,
        &reply.offered,
        [&reply.leaves, &reply.ends, &reply.spends],
        [&reply.renewals, &reply.returns, &reply.vouched, &reply.claims],
        &reply.commands,
        &reply.joins,
        &reply.counts,
    );
    let digest = Sha256::digest(rmp_serde::to_vec(&told)?);
    let mut print = [0; 8];
    print.copy_from_slice(&digest[..8]);
    Ok(print)
}

/// Where the journal ends: how many entries were ever written, and a digest of all that the lines stand
/// on. A missing, added, altered or moved entry or snapshot gives another one. It is no signature:
/// whoever may write the file can also write a new chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// The next entry's index.
    pub(super) next: u64,
    /// Over everything before it.
    pub(super) digest: [u8; 32],
}

impl Head {
    /// Bytes in the file.
    pub(super) const LEN: usize = 40;

    /// The head after one more entry.
    #[must_use]
    pub(super) fn after(self, entry: &[u8]) -> Head {
        let digest = Sha256::new()
            .chain_update(b"entry\0")
            .chain_update(self.digest)
            .chain_update(self.next.to_le_bytes())
            .chain_update(entry)
            .finalize();
        Head { next: self.next + 1, digest: digest.into() }
    }

    pub(super) fn to_bytes(self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..8].copy_from_slice(&self.next.to_le_bytes());
        bytes[8..].copy_from_slice(&self.digest);
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Head> {
        let (next, digest) = bytes.split_first_chunk::<8>()?;
        Some(Head { next: u64::from_le_bytes(*next), digest: digest.try_into().ok()? })
    }
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(taken)
}

fn push_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7f);
        value |= bits << shift;
        if (bits << shift) >> shift != bits {
            return None; // more than 64 bits
        }
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}
