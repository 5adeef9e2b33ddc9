//! The embedded store's one thread: applies what comes, writes it, answers.
//!
//! Owns the file and the lines, and therefore the order of things: apply, commit, commit once more, tell.
//! Nobody else touches either, so there is no lock and nothing is told out of order.
//!
//! ```text
//!   queue ─► apply all that wait, any rooms ─► one entry ─► commit n ─► the next group is commit n+1
//!                                                                       └─► group n is answered
//! ```
//! **Group commit.** While one commit is under way, others queue; the next takes all of them. So a slow
//! disk makes groups larger, not the queue longer.
//!
//! **Marks wait.** An exchange that tells nothing lasting is answered at once and written with the next
//! that does, or after [`MARKS_WAIT`]. The journal has one order, so a crash loses only a tail of such.
//!
//! **A failed write is the end.** The lines in memory are then ahead of the file, by exchanges whose fate
//! only the file knows: a commit that reported an error may still be in it. Going on from memory could
//! tell what a crash then forgets; going back is what opening does. So everything waiting and everything
//! later gets the same error, the file is let go, and whoever opens it next finds all that was ever
//! answered and perhaps some that was not. For those the sender repeats its batch, and is answered from
//! the line's own memory. Whoever does so within one process begins with an empty view: the versions in
//! an old one may be of sweeps that are forgotten.

use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::file::File;
use super::lines::Lines;
use super::{Clock, StoreError, journal};
use crate::line::{BadBatch, Batch, Found, Question, Reply};

/// How long marks may be in memory alone. Visitors poll every few seconds and a new process knows of no
/// mark, so a crash puts each off by one poll; an idle store costs at most one commit a second.
const MARKS_WAIT: Duration = Duration::from_secs(1);

/// The journal is replaced by snapshots when it is larger than all of them, and than this. So far a start
/// replays it in 0.1 s (12,000 joins); beyond, every byte of journal pays for one of snapshot, so a large
/// line is not rewritten for a few joins.
const JOURNAL_MIN: u64 = 1 << 20;

/// A group is cut here, so that one commit stays a matter of milliseconds.
const GROUP_BYTES: usize = 4 << 20;

/// A question on its way.
pub(super) struct Request {
    pub(super) room: String,
    pub(super) asked: Asked,
    /// Its place in the queue, free again when it is answered.
    pub(super) place: OwnedSemaphorePermit,
}

/// What is asked, and who waits for the answer.
pub(super) enum Asked {
    /// An exchange, its marks settled: see [`journal::settle_marks`].
    Exchange(Box<Batch>, oneshot::Sender<Answer>),
    /// An operator's question: answered from memory, without waiting for the disk.
    Find(Question, oneshot::Sender<Result<Found, StoreError>>),
}

impl Asked {
    fn fail(self, error: StoreError) {
        match self {
            Asked::Exchange(_, answer) => _ = answer.send(Err(error)),
            Asked::Find(_, answer) => _ = answer.send(Err(error)),
        }
    }
}

pub(super) type Answer = Result<Reply, StoreError>;

/// A reply that may not be told yet.
struct Held {
    answer: oneshot::Sender<Answer>,
    reply: Reply,
    _place: OwnedSemaphorePermit,
}

/// The thread's own.
pub(super) struct Writer {
    file: File,
    lines: Lines,
    clock: Clock,
    /// Applied, not yet written.
    entry: Vec<u8>,
    /// Since when.
    oldest: Option<Instant>,
    journal_bytes: u64,
}

impl Writer {
    pub(super) fn new(file: File, lines: Lines, clock: Clock, journal_bytes: u64) -> Self {
        Writer { file, lines, clock, entry: Vec::new(), oldest: None, journal_bytes }
    }

    /// Until the last sender is gone, and everything they sent is answered.
    ///
    /// # Errors
    /// The write that failed.
    pub(super) fn run(mut self, inbox: &Receiver<Request>) -> Result<(), StoreError> {
        let mut unconfirmed = Vec::new();
        let why = match self.serve(inbox, &mut unconfirmed) {
            Ok(()) => return Ok(()),
            Err(why) => why,
        };
        let path = self.file.path.display().to_string();
        tracing::error!(
            event = "store.failed",
            store = path,
            why,
            "the store stopped at a failed write"
        );
        drop(self); // lets go of the file
        let failed = || StoreError::Failed { why: why.clone() };
        for held in unconfirmed {
            let _ = held.answer.send(Err(failed()));
        }
        while let Ok(request) = inbox.recv() {
            request.asked.fail(failed());
        }
        Err(failed())
    }

    /// What is in `unconfirmed` when this fails has not been told.
    fn serve(
        &mut self,
        inbox: &Receiver<Request>,
        unconfirmed: &mut Vec<Held>,
    ) -> Result<(), String> {
        let mut open = true;
        while open || !unconfirmed.is_empty() {
            let first = self.next(inbox, unconfirmed.is_empty(), &mut open);
            let (group, lasting) = self.take(first, inbox)?;
            let confirmed = unconfirmed.len();
            unconfirmed.extend(group);
            if lasting || confirmed > 0 || self.overdue() {
                let twice = self.commit()?;
                // Without anything lasting in it, the group tells of no later commit than this one's.
                if lasting && !twice {
                    tell(unconfirmed.drain(..confirmed));
                    continue;
                }
            }
            tell(unconfirmed.drain(..));
        }
        self.commit()?;
        self.snapshot(false)
    }

    /// Waits for a request as long as there is nothing else to do.
    fn next(&self, inbox: &Receiver<Request>, idle: bool, open: &mut bool) -> Option<Request> {
        let waited = match (idle, self.oldest) {
            (false, _) => inbox.try_recv().map_err(|error| error == TryRecvError::Disconnected),
            (true, None) => inbox.recv().map_err(|_| true),
            (true, Some(since)) => inbox
                .recv_timeout(MARKS_WAIT.saturating_sub(since.elapsed()))
                .map_err(|error| error == RecvTimeoutError::Disconnected),
        };
        match waited {
            Ok(request) => Some(request),
            Err(disconnected) => {
                *open &= !disconnected;
                None
            }
        }
    }

    /// Applies `first` and all that queue behind it; whether anything in the group is lasting.
    fn take(
        &mut self,
        first: Option<Request>,
        inbox: &Receiver<Request>,
    ) -> Result<(Vec<Held>, bool), String> {
        let (mut group, mut any) = (Vec::new(), false);
        let mut next = first;
        while let Some(Request { room, asked, place }) = next {
            match asked {
                Asked::Exchange(batch, answer) => match self.apply(&room, *batch)? {
                    Ok((reply, lasting)) => {
                        any |= lasting;
                        group.push(Held { answer, reply, _place: place });
                    }
                    Err(bad) => _ = answer.send(Err(bad.into())),
                },
                Asked::Find(question, answer) => {
                    let _ = answer.send(Ok(self.lines.find(&room, question)));
                }
            }
            next = match self.entry.len() < GROUP_BYTES {
                true => inbox.try_recv().ok(),
                false => None,
            };
        }
        Ok((group, any))
    }

    /// Applies one batch and writes it down; what came of it, and whether that is lasting. A bad one is not applied.
    fn apply(
        &mut self,
        room: &str,
        mut batch: Batch,
    ) -> Result<Result<(Reply, bool), BadBatch>, String> {
        let wall_ms = (self.clock)();
        let applied = self.lines.apply(room, wall_ms, &batch);
        if let Ok((reply, _)) = &applied {
            self.oldest.get_or_insert_with(Instant::now);
            journal::push(&mut self.entry, room, wall_ms, &mut batch, reply)
                .map_err(|error| error.to_string())?;
        }
        Ok(applied)
    }

    fn overdue(&self) -> bool {
        self.oldest.is_some_and(|since| since.elapsed() >= MARKS_WAIT)
            || self.entry.len() as u64 >= JOURNAL_MIN
    }

    /// Writes what there is. `true` if it was two commits, and so confirmed itself.
    fn commit(&mut self) -> Result<bool, String> {
        self.oldest = None;
        if self.entry.is_empty() {
            self.file.confirm().map_err(|error| error.to_string())?;
            return Ok(false);
        }
        let entry = std::mem::take(&mut self.entry);
        self.file.append(&entry).map_err(|error| error.to_string())?;
        self.journal_bytes += entry.len() as u64;
        if self.journal_bytes <= self.file.snapshot_bytes().max(JOURNAL_MIN) {
            return Ok(false);
        }
        self.snapshot(false)?;
        Ok(true)
    }

    /// Replaces the journal by the lines it is about, or by all.
    pub(super) fn snapshot(&mut self, all: bool) -> Result<(), String> {
        let rooms = self.lines.snapshots(all)?;
        if rooms.is_empty() && !all {
            return Ok(());
        }
        self.file.snapshot(&rooms).map_err(|error| error.to_string())?;
        self.lines.kept();
        self.journal_bytes = 0;
        Ok(())
    }
}

fn tell(held: impl Iterator<Item = Held>) {
    for Held { answer, reply, .. } in held {
        let _ = answer.send(Ok(reply)); // whoever no longer waits will ask again
    }
}
