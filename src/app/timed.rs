//! A store that is timed: the same answers, and how long they took.

use std::sync::Arc;
use std::time::Instant;

use crate::line::{Batch, Found, Question, Reply};
use crate::metrics;
use crate::store::{BoxFuture, Store, StoreError};

pub(super) struct Timed {
    pub(super) store: Arc<dyn Store>,
    pub(super) meter: metrics::Store,
}

impl Store for Timed {
    fn exchange<'a>(
        &'a self,
        room: &'a str,
        batch: Batch,
    ) -> BoxFuture<'a, Result<Reply, StoreError>> {
        Box::pin(async move {
            let watch = Watch { began: Instant::now(), meter: Some(&self.meter) };
            let answer = self.store.exchange(room, batch).await;
            match &answer {
                Ok(_) => watch.answered(),
                Err(_) => drop(watch),
            }
            answer
        })
    }

    fn find<'a>(
        &'a self,
        room: &'a str,
        question: Question,
    ) -> BoxFuture<'a, Result<Found, StoreError>> {
        self.store.find(room, question) // an operator's: no part of what visitors wait for
    }
}

/// Whoever gives up waiting drops the question, and that is a failure, too.
struct Watch<'a> {
    began: Instant,
    meter: Option<&'a metrics::Store>,
}

impl Watch<'_> {
    fn answered(mut self) {
        if let Some(meter) = self.meter.take() {
            meter.answered(self.began.elapsed());
        }
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if let Some(meter) = self.meter {
            meter.failed();
        }
    }
}
