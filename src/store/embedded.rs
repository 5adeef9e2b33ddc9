//! Lines in one file, across crashes: the `embedded:PATH` store.
//!
//! Owns the way in and out: recovery at the start, the queue to the [writer](super::writer), the clean
//! stop. What is on disk is described in [`super::file`], what is in an entry in [`super::journal`].
//!
//! - **A crash at any moment** costs nobody a place and gives no number twice: what was told is in the
//!   file, and opening it replays the line to where it stood. The room's clock stood still meanwhile.
//! - **Damage** is found when the file is opened, always before anything is read from it: every page is
//!   checked by redb, every snapshot and entry by the chain. What remains: a page that goes bad while the
//!   store runs is read unchecked if redb reads it again, which may end the process; the next start
//!   names it. Lines in memory do not depend on the file. And an older copy put in the file's place is
//!   a sound file: only returning visitors tell the line what it forgot.
//! - **The disk** is a local one: the lock and the order of writes are the system's word.
//! - **A clean stop**, by dropping it, leaves snapshots and an empty journal, which other versions can
//!   read.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, oneshot};

use super::file::RULES;
use super::lines::Lines;
use super::opening::{self, Contents};
use super::writer::{Asked, Request, Writer};
use super::{BoxFuture, Opening, Secret, Store, StoreError, check_room, journal};
use crate::line::{Batch, Found, Question, Reply};

/// Exchanges under way at once. A node has one a room, so this is as many rooms as a node could have;
/// beyond it, callers wait their turn.
const QUEUE: usize = 1_024;

/// The `embedded:PATH` store. Dropping it writes everything and waits for that.
pub struct Embedded {
    /// `None` once closing.
    inbox: Option<Sender<Request>>,
    places: Arc<Semaphore>,
    writer: Option<JoinHandle<Result<(), StoreError>>>,
    secret: Secret,
    recovery: Recovery,
}

/// What opening found and did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Rooms there are.
    pub rooms: usize,
    /// Exchanges replayed: none after a clean stop.
    pub replayed: u64,
    /// How long reading, proving and replaying took.
    pub took: Duration,
}

impl Embedded {
    /// Opens the store in `path`, or makes one there.
    ///
    /// # Errors
    /// In use, not a place for a file, damaged, of another program or version: each with what to do.
    pub fn open(path: &Path, opening: Opening) -> Result<Self, StoreError> {
        let began = Instant::now();
        let (file, contents) = opening::open(path, &opening)?;
        let mut lines = Lines::new(file.identity.run);
        let replayed = recover(&mut lines, &contents)
            .map_err(|what| StoreError::Diverged { path: path.to_owned(), what })?;
        let recovery = Recovery { rooms: lines.len(), replayed, took: began.elapsed() };
        let secret = file.identity.secret;
        let journal_bytes = contents.entries.iter().map(|entry| entry.len() as u64).sum();
        let mut writer = Writer::new(file, lines, opening.clock, journal_bytes);
        if contents.rules != RULES {
            let failed = |why| StoreError::Failed { why };
            writer.snapshot(true).map_err(failed)?;
        }
        tracing::info!(
            event = "store.opened",
            store = %path.display(),
            rooms = recovery.rooms,
            replayed,
            duration_ms = recovery.took.as_millis() as u64,
            "store opened"
        );

        let (inbox, requests) = channel();
        let thread = thread::Builder::new().name("anteroom-store".to_owned());
        let writer = thread
            .spawn(move || writer.run(&requests))
            .map_err(|error| StoreError::io(path, "start a thread for it", error))?;
        Ok(Embedded {
            inbox: Some(inbox),
            places: Arc::new(Semaphore::new(QUEUE)),
            writer: Some(writer),
            secret,
            recovery,
        })
    }

    /// What signs tickets and passes where no keys are configured: made once, with the file.
    pub fn signing_secret(&self) -> Secret {
        self.secret
    }

    /// What opening found.
    pub fn recovery(&self) -> Recovery {
        self.recovery
    }

    /// Writes everything and lets go of the file; the same as dropping it, and says how it went.
    ///
    /// # Errors
    /// A write that failed, now or earlier.
    pub fn close(mut self) -> Result<(), StoreError> {
        self.stop()
    }

    /// Puts a request into the queue, as soon as there is a place.
    async fn send(&self, room: &str, asked: Asked) -> Result<(), StoreError> {
        let place = self.places.clone().acquire_owned().await.map_err(|_| stopped())?;
        let request = Request { room: room.to_owned(), asked, place };
        let inbox = self.inbox.as_ref().ok_or_else(stopped)?;
        inbox.send(request).map_err(|_| stopped())
    }

    fn stop(&mut self) -> Result<(), StoreError> {
        self.inbox = None;
        match self.writer.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            Some(Err(_)) => Err(stopped()),
            None => Ok(()),
        }
    }
}

/// Snapshots, then what happened since; how many exchanges that was.
fn recover(lines: &mut Lines, contents: &Contents) -> Result<u64, String> {
    for (room, line) in &contents.snapshots {
        lines.restore(room.clone(), line)?;
    }
    let mut replayed = 0;
    for entry in &contents.entries {
        let mut rest = entry.as_slice();
        while !rest.is_empty() {
            lines.replay(&journal::pull(&mut rest)?)?;
            replayed += 1;
        }
    }
    Ok(replayed)
}

/// The thread is gone without a word: it panicked, and said why on its way.
fn stopped() -> StoreError {
    let why = "its thread ended".to_owned();
    StoreError::Failed { why }
}

impl Store for Embedded {
    fn exchange<'a>(
        &'a self,
        room: &'a str,
        mut batch: Batch,
    ) -> BoxFuture<'a, Result<Reply, StoreError>> {
        Box::pin(async move {
            check_room(room)?;
            batch.check()?;
            journal::settle_marks(&mut batch); // here, and not where all others wait for it
            let (answer, told) = oneshot::channel();
            self.send(room, Asked::Exchange(Box::new(batch), answer)).await?;
            told.await.map_err(|_| stopped())?
        })
    }

    fn find<'a>(
        &'a self,
        room: &'a str,
        question: Question,
    ) -> BoxFuture<'a, Result<Found, StoreError>> {
        Box::pin(async move {
            check_room(room)?;
            let (answer, told) = oneshot::channel();
            self.send(room, Asked::Find(question, answer)).await?;
            told.await.map_err(|_| stopped())?
        })
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        if let Err(error) = self.stop() {
            tracing::error!(event = "store.unclean", %error, "the store did not stop cleanly");
        }
    }
}

impl fmt::Debug for Embedded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Embedded").field("recovery", &self.recovery).finish_non_exhaustive()
    }
}
