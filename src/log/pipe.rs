//! The way out: lines are put together in memory, and a thread of its own writes them to standard output.
//!
//! Owns what is told and not yet written. Whoever serves visitors never waits for whoever reads the log: a reader that is slow
//! has up to [`MOST`] to catch up with, and beyond that lines are lost, and counted (`log.lost`). In a crowd many lines
//! are one write.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tracing_subscriber::fmt::MakeWriter;

/// Bytes that wait to be written at most: a second of 25,000 joins.
const MOST: usize = 8 * 1024 * 1024;
/// Memory that is kept for the next lines.
const KEPT: usize = 256 * 1024;
/// How long the end of a process waits for what is still to be written.
const PATIENCE: Duration = Duration::from_secs(2);

/// The way out. All copies are one.
#[derive(Clone, Default)]
pub(super) struct Pipe(Arc<Shared>);

#[derive(Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    /// There is something to write.
    more: Condvar,
    /// There is not.
    done: Condvar,
}

#[derive(Default)]
struct Waiting {
    bytes: Vec<u8>,
    /// Lines there was no room for.
    lost: u64,
    writing: bool,
}

/// What was told is written when this is dropped.
#[must_use = "what was told last is written when this is dropped"]
pub struct Told(Option<Pipe>);

impl Pipe {
    /// Begins to write; not at all if nothing is sent this way.
    pub(super) fn open(self, used: bool) -> Told {
        if !used {
            return Told(None);
        }
        let pipe = self.clone();
        let writing = thread::Builder::new().name("anteroom-log".to_owned());
        // Without a thread there is no log, and a node that serves.
        let writing = writing.spawn(move || pipe.write_on(&mut io::stdout()));
        Told(writing.is_ok().then_some(self))
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_on(&self, out: &mut impl Write) {
        loop {
            self.write_once(out);
        }
    }

    /// Waits for something to write, and writes it.
    fn write_once(&self, out: &mut impl Write) {
        let mut waiting = self.waiting();
        while waiting.bytes.is_empty() && waiting.lost == 0 {
            waiting = self.0.more.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        let mut bytes = std::mem::take(&mut waiting.bytes);
        let lost = std::mem::take(&mut waiting.lost);
        waiting.writing = true;
        drop(waiting);
        // If nobody reads any more there is nobody to tell.
        let _ = out.write_all(&bytes).and_then(|()| out.flush());
        bytes.clear();
        bytes.shrink_to(KEPT);
        let mut waiting = self.waiting();
        waiting.writing = false;
        if waiting.bytes.is_empty() {
            waiting.bytes = bytes;
        }
        drop(waiting);
        self.0.done.notify_all();
        if lost > 0 {
            tracing::warn!(
                event = "log.lost",
                count = lost,
                "lines of the log are lost: whoever reads it is too slow"
            );
        }
    }

    fn put(&self, line: &[u8]) {
        let mut waiting = self.waiting();
        if waiting.bytes.len() + line.len() > MOST {
            waiting.lost += 1;
            return;
        }
        let first = waiting.bytes.is_empty();
        waiting.bytes.extend_from_slice(line);
        drop(waiting);
        if first {
            self.0.more.notify_one();
        }
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        let Some(pipe) = &self.0 else { return };
        let busy = |waiting: &mut Waiting| waiting.writing || !waiting.bytes.is_empty();
        let _ = pipe.0.done.wait_timeout_while(pipe.waiting(), PATIENCE, busy);
    }
}

/// Each call is a line.
impl Write for &Pipe {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.put(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Pipe {
    type Writer = &'a Pipe;

    fn make_writer(&'a self) -> &'a Pipe {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_lines_are_one_write_and_too_many_are_counted() {
        let pipe = Pipe::default();
        let line = [b'x'; 1024];
        for _ in 0..MOST / 1024 + 3 {
            pipe.put(&line);
        }
        assert_eq!(pipe.waiting().lost, 3);
        let mut out = Vec::new();
        pipe.write_once(&mut out);
        assert_eq!(out.len(), MOST);
        let waiting = pipe.waiting();
        assert_eq!((waiting.lost, waiting.bytes.len()), (0, 0));
        assert!(waiting.bytes.capacity() <= KEPT, "a crowd leaves nothing behind");
    }

    #[test]
    fn the_end_waits_for_the_last_line() {
        let pipe = Pipe::default();
        pipe.put(b"last\n");
        let told = Told(Some(pipe.clone()));
        let writer = thread::spawn(move || {
            let mut out = Vec::new();
            pipe.write_once(&mut out);
            out
        });
        drop(told);
        assert_eq!(writer.join().unwrap(), b"last\n");
    }
}
