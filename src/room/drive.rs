//! The conversation with the store: one exchange at a time, paced by what there is to say.
//!
//! Owns the sequence and the timing. Never gives up on a batch: it is sent until it is answered.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::{sleep, timeout};

use super::desk::Said;
use super::{Proof, Room};
use crate::line::{Batch, Known, Reply, Taken, View};
use crate::store::{Store, StoreError};

/// Between two exchanges at least: 200 a second are enough for anybody, and what a crowd says in 5 ms is
/// one batch.
const PAUSE: Duration = Duration::from_millis(5);
/// Between two exchanges at most while anybody waits or is inside: a quarter of what the room's clock takes
/// for an outage.
const BEAT: Duration = Duration::from_millis(500);
/// And when nobody is there.
const IDLE: Duration = Duration::from_secs(10);
/// Between two tries at a store that does not answer.
const RETRY: Duration = Duration::from_millis(200);

impl Room {
    /// Talks to the store for as long as it is polled. A room has one driver on a node.
    pub async fn drive(&self, store: &dyn Store) {
        let mut sequence = 0;
        let mut asked = Instant::now();
        loop {
            let began = Instant::now();
            let said = self.desk().take();
            if said.is_asked() {
                asked = began;
            }
            self.converse(store, said, &mut sequence).await;
            sleep(PAUSE.saturating_sub(began.elapsed())).await;
            let counts = *self.view.load().counts();
            let quiet =
                counts.waiting + counts.admitted + counts.inside == 0 && asked.elapsed() >= IDLE;
            let beat = if quiet { IDLE } else { BEAT };
            let _ = timeout(beat.saturating_sub(began.elapsed()), self.said.notified()).await;
        }
    }

    /// One batch, until the line has taken it.
    async fn converse(&self, store: &dyn Store, mut said: Said, sequence: &mut u64) {
        loop {
            *sequence += 1;
            self.address(&mut said.batch, *sequence);
            let Some(reply) = self.exchange(store, &said.batch).await else { return };
            self.absorb(&reply);
            match reply.taken {
                Taken::Applied | Taken::Repeated => {
                    let unwanted = said.told(&reply);
                    self.desk().unwanted(reply.counts.epoch, unwanted);
                    return;
                }
                Taken::Superseded => {}
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
    fn address(&self, batch: &mut Batch, sequence: u64) {
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
        (batch.node, batch.sequence, batch.have) = (self.node, sequence, view.have());
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

    fn absorb(&self, reply: &Reply) {
        let mut view = View::clone(&self.view.load());
        view.absorb(reply);
        let mut desk = self.desk();
        desk.enter_epoch(view.counts().epoch);
        if let Some(settings) = view.settings() {
            desk.turn_period(Duration::from_millis(settings.period_ms()));
        }
        drop(desk);
        self.view.store(Arc::new(view));
    }
}
