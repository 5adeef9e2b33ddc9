//! Lines in this process's memory, gone with it.
//!
//! The plainest thing that keeps the contract. Never writes anything anywhere.

use std::collections::HashMap;
use std::fmt;
use std::num::NonZeroU64;
use std::sync::{Arc, Mutex, PoisonError};

use super::{BoxFuture, Clock, Store, StoreError, check_room};
use crate::line::{Batch, Found, Line, Moment, Question, Reply};

/// The `memory:` store.
pub struct Memory {
    clock: Clock,
    run: u64,
    /// Two locks, so that a long exchange in one room does not hold up another.
    rooms: Mutex<HashMap<String, Arc<Mutex<Option<Line>>>>>,
}

impl Memory {
    /// An empty one. `run` is random: another process's memory is another one.
    pub fn new(clock: Clock, run: NonZeroU64) -> Self {
        Memory { clock, run: run.get(), rooms: Mutex::default() }
    }

    /// Neither lock is ever held across an await: there is none.
    fn apply(&self, room: &str, batch: &Batch) -> Result<Reply, StoreError> {
        check_room(room)?;
        batch.check()?;
        let line = {
            let mut rooms = self.rooms.lock().map_err(broken)?;
            match rooms.get(room) {
                Some(line) => line.clone(),
                None => rooms.entry(room.to_owned()).or_default().clone(),
            }
        };
        let mut line = line.lock().map_err(broken)?;
        // Read under the lock: time must not run back between two batches of a room.
        let now = Moment { wall_ms: (self.clock)(), run: self.run };
        let line = line.get_or_insert_with(|| Line::founded(now));
        Ok(line.apply(batch, now)?)
    }
}

/// A panic left a line half changed: better no line than that one.
fn broken<T>(_: PoisonError<T>) -> StoreError {
    let why = "an earlier exchange did not end".to_owned();
    StoreError::Failed { why }
}

impl Store for Memory {
    fn exchange<'a>(
        &'a self,
        room: &'a str,
        batch: Batch,
    ) -> BoxFuture<'a, Result<Reply, StoreError>> {
        Box::pin(async move { self.apply(room, &batch) })
    }

    fn find<'a>(
        &'a self,
        room: &'a str,
        question: Question,
    ) -> BoxFuture<'a, Result<Found, StoreError>> {
        Box::pin(async move {
            check_room(room)?;
            let line = self.rooms.lock().map_err(broken)?.get(room).cloned();
            let Some(line) = line else { return Ok(question.nothing()) };
            let line = line.lock().map_err(broken)?;
            Ok(line.as_ref().map_or_else(|| question.nothing(), |line| line.find(question)))
        })
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").field("run", &self.run).finish_non_exhaustive()
    }
}
