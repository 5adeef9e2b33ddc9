//! What a process says, line by line, while it runs.

use std::io::{BufRead as _, BufReader, Read};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Lines of standard output and standard error, in the order they came.
#[derive(Clone, Default)]
pub struct Log(Arc<(Mutex<Lines>, Condvar)>);

#[derive(Default)]
struct Lines {
    said: Vec<String>,
    /// Streams that are still open.
    open: usize,
}

impl Log {
    /// Listens to a stream until it ends.
    pub fn listen(&self, stream: impl Read + Send + 'static) {
        self.lines().open += 1;
        let log = self.clone();
        std::thread::spawn(move || {
            for line in BufReader::new(stream).split(b'\n') {
                let Ok(line) = line else { break };
                log.lines().said.push(String::from_utf8_lossy(&line).into_owned());
                log.0.1.notify_all();
            }
            log.lines().open -= 1;
            log.0.1.notify_all();
        });
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything said so far.
    pub fn text(&self) -> String {
        self.lines().said.join("\n")
    }

    /// Whether a line contains this.
    pub fn contains(&self, text: &str) -> bool {
        self.lines().said.iter().any(|line| line.contains(text))
    }

    /// The JSON lines of an event.
    pub fn events(&self, event: &str) -> Vec<Value> {
        let lines = self.lines();
        let read = |line: &String| serde_json::from_str::<Value>(line).ok();
        lines.said.iter().filter_map(read).filter(|line| line["event"] == event).collect()
    }

    /// Waits until `found` finds something in what was said; `None` if it never does.
    pub fn wait_for<T>(
        &self,
        patience: Duration,
        mut found: impl FnMut(&[String]) -> Option<T>,
    ) -> Option<T> {
        let until = Instant::now() + patience;
        let mut lines = self.lines();
        loop {
            if let Some(found) = found(&lines.said) {
                return Some(found);
            }
            let left = until.checked_duration_since(Instant::now())?;
            if lines.open == 0 {
                return None;
            }
            let waited = self.0.1.wait_timeout(lines, left);
            lines = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
