//! A place for one connection: opened when somebody asks for it, shared by all who do.
//!
//! Owns when to dial: once at a time, not again too soon, and on behalf of nobody in particular. Whoever asks
//! waits a [`DEADLINE`] at most; the dialling goes on without them, so that a slow network, where it takes
//! longer than that, is reached in the end.

use std::fmt::Display;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout, timeout_at};

use super::connection::{Connection, DEADLINE, Task};
use super::trouble::{Failure, Trouble};

/// How long dialling may take in all. A name, a connection, TLS and a look are five round trips, and those of
/// Sentinels come before: 5 s are enough where one takes half a second, as by satellite.
const DIALLING: Duration = Duration::from_secs(5);

/// After a dialling that failed, the next one waits a little longer each time: from something that is hardly
/// noticed to something that lets a server start, and never so long that its return goes unnoticed.
const PAUSE_MIN: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// A place for one connection.
#[derive(Default)]
pub(super) struct Slot(Mutex<Option<Dialling>>);

/// The last dialling, under way or done.
struct Dialling {
    /// `None` while it is under way.
    outcome: watch::Receiver<Option<Outcome>>,
    _task: Task,
}

type Outcome = Result<Arc<Connection>, Failed>;

/// Why there is no connection, and until when nobody tries again.
#[derive(Clone)]
struct Failed {
    failure: Failure,
    times: u32,
    until: Instant,
}

impl Slot {
    /// The connection; `open` makes one if there is none.
    ///
    /// # Errors
    /// Why there is none. Nothing was asked then.
    pub(super) async fn connection<F>(
        &self,
        whom: &impl Display,
        open: impl Fn() -> F,
    ) -> Result<Arc<Connection>, Failure>
    where
        F: Future<Output = Result<Connection, Failure>> + Send + 'static,
    {
        let deadline = Instant::now() + DEADLINE;
        loop {
            let mut outcome = self.dialled(whom, &open);
            let told = match timeout_at(deadline, outcome.wait_for(Option::is_some)).await {
                Err(_) => return Err(Trouble::Silent.of(whom)),
                // It was dialled in a runtime that has ended since.
                Ok(Err(_)) => continue,
                Ok(Ok(told)) => told.clone(),
            };
            match told {
                Some(Ok(connection)) if connection.is_open() => return Ok(connection),
                Some(Err(failed)) => return Err(failed.failure),
                _ => {}
            }
        }
    }

    /// The connection, if there is one already.
    pub(super) fn open_connection(&self) -> Option<Arc<Connection>> {
        let dialling = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let outcome = dialling.as_ref()?.outcome.borrow();
        let connection = outcome.as_ref()?.as_ref().ok()?;
        connection.is_open().then(|| connection.clone())
    }

    /// A dialling that may still lead to something, or a new one.
    fn dialled<F>(
        &self,
        whom: &impl Display,
        open: impl Fn() -> F,
    ) -> watch::Receiver<Option<Outcome>>
    where
        F: Future<Output = Result<Connection, Failure>> + Send + 'static,
    {
        let mut dialling = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut failures = 0;
        if let Some(last) = &*dialling {
            let useful = match &*last.outcome.borrow() {
                None => last.outcome.has_changed().is_ok(),
                Some(Ok(connection)) => connection.is_open(),
                Some(Err(failed)) => {
                    failures = failed.times;
                    Instant::now() < failed.until
                }
            };
            if useful {
                return last.outcome.clone();
            }
        }
        let (tell, outcome) = watch::channel(None);
        let (opening, whom) = (open(), whom.to_string());
        let task = Task::spawn(async move {
            let opened = match timeout(DIALLING, opening).await {
                Ok(opened) => opened,
                Err(_) => Err(Trouble::Silent.of(whom)),
            };
            let outcome = opened.map(Arc::new).map_err(|failure| Failed {
                failure,
                times: failures.saturating_add(1),
                until: Instant::now() + pause(failures),
            });
            tell.send_replace(Some(outcome));
        });
        *dialling = Some(Dialling { outcome: outcome.clone(), _task: task });
        outcome
    }
}

/// Between half of what it is and all of it, so that the nodes of a site do not all come at once.
fn pause(failures: u32) -> Duration {
    let longest = PAUSE_MIN.saturating_mul(1 << failures.min(10)).min(PAUSE_MAX);
    let chance = getrandom::u32().unwrap_or(u32::MAX);
    longest / 2 + longest.mul_f64(f64::from(chance) / f64::from(u32::MAX)) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_stay_short() {
        for failures in [0, 1, 3, 5, 31, u32::MAX] {
            let longest = PAUSE_MIN * 2u32.pow(failures.min(10));
            for _ in 0..100 {
                let pause = pause(failures);
                assert!(pause >= longest.min(PAUSE_MAX) / 2, "{failures}: {pause:?}");
                assert!(pause <= longest.min(PAUSE_MAX), "{failures}: {pause:?}");
            }
        }
    }
}
