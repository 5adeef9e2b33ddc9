//! A store that can be lost: it refuses, hangs, or does what it is asked and keeps the answer to itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use anteroom::line::{Batch, Found, Question, Reply};
use anteroom::store::{BoxFuture, Store, StoreError};

/// What becomes of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// It is answered.
    Well,
    /// An error, and nothing is done.
    Refusing,
    /// Nothing is done, and nothing said.
    Hanging,
    /// It is done, and an error is said.
    Mumbling,
}

/// A store around another.
pub struct Shaky<S> {
    store: Arc<S>,
    manner: AtomicU8,
    asked: AtomicU64,
}

const MANNERS: [Manner; 4] = [Manner::Well, Manner::Refusing, Manner::Hanging, Manner::Mumbling];

impl<S: Store> Shaky<S> {
    /// Well, to begin with.
    pub fn around(store: Arc<S>) -> Arc<Shaky<S>> {
        Arc::new(Shaky { store, manner: AtomicU8::new(0), asked: AtomicU64::new(0) })
    }

    /// From now on.
    pub fn is(&self, manner: Manner) {
        self.manner.store(manner as u8, Ordering::SeqCst);
    }

    /// How often it was asked.
    pub fn asked(&self) -> u64 {
        self.asked.load(Ordering::SeqCst)
    }

    /// The store itself.
    pub fn inner(&self) -> &S {
        &self.store
    }
}

impl<S: Store> Store for Shaky<S> {
    fn exchange<'a>(
        &'a self,
        room: &'a str,
        batch: Batch,
    ) -> BoxFuture<'a, Result<Reply, StoreError>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let lost = || Err(StoreError::Failed { why: "the test says so".into() });
        match MANNERS[usize::from(self.manner.load(Ordering::SeqCst))] {
            Manner::Well => self.store.exchange(room, batch),
            Manner::Refusing => Box::pin(async move { lost() }),
            Manner::Hanging => Box::pin(std::future::pending()),
            Manner::Mumbling => Box::pin(async move {
                self.store.exchange(room, batch).await?;
                lost()
            }),
        }
    }

    fn find<'a>(
        &'a self,
        room: &'a str,
        question: Question,
    ) -> BoxFuture<'a, Result<Found, StoreError>> {
        self.store.find(room, question)
    }
}
