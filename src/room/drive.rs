//! The conversation with the store: one exchange at a time, paced by what there is to say.
//!
//! Owns the sequence and the timing. Never gives up on a batch: it is sent until it is answered.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::time::{sleep, timeout};

use super::desk::Said;
use super::{Proof, Room};
use crate::clock;
use crate::line::{Batch, Done, Known, Reply, Taken, View};
use crate::store::{Store, StoreError};

/// Between two exchanges at least: 200 a second are enough for anybody, and what a crowd says in 5 ms is
/// one batch.
const PAUSE: Duration = Duration::from_millis(5);
/// Between two exchanges at most while anybody waits or is inside: a quarter of what the room's clock takes
/// for an outage.
const BEAT: Duration = Duration::from_millis(500);
/// And when nobody is there: less than the room's clock may move at once (2 s), or it would run slow, and
/// limits and rates with it.
const IDLE: Duration = Duration::from_millis(1_500);
/// Nobody is there if nobody has asked for this long.
const QUIET: Duration = Duration::from_secs(10);
/// Between two tries at a store that does not answer.
const RETRY: Duration = Duration::from_millis(200);

impl Room {
    /// Talks to the store for as long as it is polled. A room has one driver on a node.
    pub async fn drive(&self, store: &dyn Store) {
        let mut asked = Instant::now();
        loop {
            let said = self.desk().take();
            if said.is_asked() {
                asked = Instant::now();
            }
            self.converse(store, said).await;
            sleep(PAUSE).await;
            if !self.desk().is_empty() {
                continue; // More than one batch could carry.
            }
            let counts = *self.view.load().counts();
            let anybody = counts.waiting + counts.admitted + counts.inside > 0;
            let beat = if anybody || asked.elapsed() < QUIET { BEAT } else { IDLE };
            let _ = timeout(beat, self.said.notified()).await;
        }
    }

    /// One batch, until the line has taken it.
    async fn converse(&self, store: &dyn Store, mut said: Said) {
        loop {
            self.address(&mut said.batch);
            let Some(reply) = self.exchange(store, &said.batch).await else { return };
            self.absorb(&reply, &said.batch);
            match reply.taken {
                Taken::Applied | Taken::Repeated => {
                    let unwanted = said.told(&reply);
                    self.desk().leave_again(reply.counts.epoch, unwanted);
                    return;
                }
                // Never, while a room has one driver; asked again it would be as before.
                Taken::Superseded => return,
                Taken::Unconfigured => said.batch.offer = Some(self.desk().standing_offer()),
                Taken::Settling { left_ms } => {
                    said.batch.offer = Some(self.desk().standing_offer());
                    said.batch.known.report = Some(Box::new(self.view.load().report()));
                    sleep(Duration::from_millis(left_ms).clamp(PAUSE, BEAT)).await;
                }
            }
        }
    }

    /// Says who speaks, and what this node knows by now.
    fn address(&self, batch: &mut Batch) {
        let view = self.view.load();
        let Proof { epoch, number } = self.desk().proof();
        let report = batch.known.report.take();
        let mut known = view.known();
        if epoch > known.epoch {
            known = Known { epoch, issued: number, ..Known::default() };
        } else if epoch == known.epoch {
            known.issued = known.issued.max(number);
        }
        batch.known = Known { report, ..known };
        (batch.node, batch.have) = (self.node, view.have());
    }

    /// The same batch until the store answers; `None` if it never will.
    async fn exchange(&self, store: &dyn Store, batch: &Batch) -> Option<Reply> {
        loop {
            match store.exchange(&self.name, batch.clone()).await {
                Ok(reply) => return Some(reply),
                Err(error @ (StoreError::Room { .. } | StoreError::Batch(_))) => {
                    tracing::error!(event_id = self.name, %error, "a batch was refused and is dropped");
                    return None;
                }
                Err(error) => {
                    tracing::warn!(event_id = self.name, %error, "the store did not answer");
                    sleep(RETRY).await;
                }
            }
        }
    }

    fn absorb(&self, reply: &Reply, batch: &Batch) {
        let ahead_ms = reply.wall_ms.cast_signed() - clock::now_ms().cast_signed();
        self.ahead_ms.store(ahead_ms, Ordering::Relaxed);
        let mut view = View::clone(&self.view.load());
        view.absorb(reply);
        if batch.epoch == reply.counts.epoch {
            let done = batch.leaves.iter().zip(&reply.leaves);
            done.filter(|(_, done)| **done == Done::Freed)
                .for_each(|(number, _)| view.leave(*number));
        }
        let mut desk = self.desk();
        desk.enter_epoch(view.counts().epoch);
        if let Some(settings) = view.settings() {
            desk.turn_period(Duration::from_millis(settings.period_ms()));
        }
        drop(desk);
        self.view.store(Arc::new(view));
    }
}
