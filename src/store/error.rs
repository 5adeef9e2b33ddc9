//! What can go wrong with a store, in sentences that tell an operator what to do.
//!
//! Ordinary life (full, closed, settling, a number never given) is in the reply. These are broken
//! things, and none of them is ever answered by carrying on with less than was kept.

use std::io;
use std::path::{Path, PathBuf};

use super::redis::{BadAddress, Trouble};
use crate::line::BadBatch;
use crate::name::ROOM_RULE;

/// Why a store can't be opened, or an exchange was not answered.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No such store.
    #[error(
        "\"{url}\" names no store: write \"memory:\" for one that ends with the process, \
         \"embedded:PATH\" for one in a file, or \"redis://HOST:6379\" for one that nodes share"
    )]
    Scheme {
        /// What was asked for.
        url: String,
    },

    /// No such room can be. Nothing was touched.
    #[error("\"{room}\" can't be a room's name: {ROOM_RULE}")]
    Room {
        /// The name, cut to the greatest length.
        room: String,
    },

    /// The batch can't be applied at all. Nothing was touched.
    #[error(transparent)]
    Batch(#[from] BadBatch),

    /// No such Redis can be. The url itself is not shown: it may hold a password.
    #[error("the store's url {0}")]
    Address(#[from] BadAddress),

    /// A Redis, or the way to it. Nobody knows what was done, unless the trouble says so.
    #[error("{address}: {trouble}")]
    Redis {
        /// Whose, without what opens it.
        address: String,
        /// What is the matter.
        trouble: Trouble,
    },

    /// Another process, or another handle of this one, has the file.
    #[error(
        "{}: in use by another process: a line has one keeper. Stop the other one first, or give this \
         one a file of its own", path.display()
    )]
    InUse {
        /// The store's file.
        path: PathBuf,
    },

    /// The path can't be a store's.
    #[error("{}: {why}", path.display())]
    Unusable {
        /// The store's file.
        path: PathBuf,
        /// What is there instead, and what to do.
        why: &'static str,
    },

    /// The system refused.
    #[error("{}: can't {doing}: {source}", path.display())]
    Io {
        /// The store's file.
        path: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// The system's word.
        source: io::Error,
    },

    /// A file of another program, or one whose beginning is destroyed.
    #[error(
        "{}: not a store of Anteroom's ({what}). Nothing in it was changed. If it belongs to another \
         program, name another path; if it was a store, {RESTORE}", path.display()
    )]
    Foreign {
        /// The store's file.
        path: PathBuf,
        /// What was found.
        what: String,
    },

    /// The file is not what was written.
    #[error(
        "{}: damaged ({what}). Nothing is read from it, because a line with a hole in it gives numbers \
         twice. Check the disk; then {RESTORE}", path.display()
    )]
    Damaged {
        /// The store's file.
        path: PathBuf,
        /// What was found.
        what: String,
    },

    /// Written in a newer layout, or by newer rules.
    #[error(
        "{}: written by a newer version of Anteroom ({what} {found}, this one knows up to {known}): \
         start that version", path.display()
    )]
    Newer {
        /// The store's file.
        path: PathBuf,
        /// Of what.
        what: &'static str,
        /// The file's version.
        found: u32,
        /// The newest this program reads.
        known: u32,
    },

    /// The journal was written under other rules: replayed by these it would be another line.
    #[error(
        "{}: left by another version of Anteroom that did not stop cleanly (rules {found}, these are \
         {known}). Start that version once and stop it, then upgrade", path.display()
    )]
    OtherRules {
        /// The store's file.
        path: PathBuf,
        /// The file's version of the rules.
        found: u32,
        /// This program's.
        known: u32,
    },

    /// The file is whole, but gives another line than the one it was written from.
    #[error(
        "{}: this version of Anteroom makes something else of it than the one that wrote it ({what}). \
         Start that version, and report this", path.display()
    )]
    Diverged {
        /// The store's file.
        path: PathBuf,
        /// What came out otherwise.
        what: String,
    },

    /// The room is in Redis in a newer layout. Nothing was touched.
    #[error(
        "the room is kept by a newer version of Anteroom (layout {found} in Redis, this one knows up to \
         {known}): start that version"
    )]
    NewerLayout {
        /// The layout of the room's keys.
        found: u32,
        /// The newest this program reads.
        known: u32,
    },

    /// Redis answered, but not what the script says.
    #[error(
        "the answer from Redis makes no sense ({what}): another program may write to keys that begin with \
         \"anteroom:\". Give Anteroom a Redis, or names, of its own"
    )]
    Answer {
        /// Which part of it.
        what: &'static str,
    },

    /// A write failed, now or earlier. What was answered is kept; what is in memory is ahead of the
    /// file and no longer counts.
    #[error(
        "the store has stopped ({why}) and takes nothing more; what it answered before is kept. Make \
         room on the disk, or mend it, then restart"
    )]
    Failed {
        /// What happened first.
        why: String,
    },
}

/// The two ways on. A new file has a new secret, and each of its rooms an epoch later than any before,
/// so no old ticket meets a new number; a backup's line knows nothing of what came after it until a
/// visitor with a higher number returns.
const RESTORE: &str = "restore a backup (numbers given since it was made may be given again: reset the \
                       rooms), or move the file away: every room then begins anew and all tickets and \
                       passes given so far are void";

impl StoreError {
    pub(super) fn io(path: &Path, doing: &'static str, source: io::Error) -> Self {
        let path = path.to_owned();
        StoreError::Io { path, doing, source }
    }

    pub(super) fn damaged(path: &Path, what: impl Into<String>) -> Self {
        let (path, what) = (path.to_owned(), what.into());
        StoreError::Damaged { path, what }
    }

    pub(super) fn foreign(path: &Path, what: impl Into<String>) -> Self {
        let (path, what) = (path.to_owned(), what.into());
        StoreError::Foreign { path, what }
    }
}
