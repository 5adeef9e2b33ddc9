//! Whoever stays with somebody inside, until this node hears that their session is over.
//!
//! Owns who is to be woken for whom. An exchange wakes those alone whose visitors' endings it brought (all, if the line has begun
//! anew or was drawn), at once: who waits costs nothing meanwhile, however many they are. Decides nothing: whoever is
//! woken looks at the view.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use super::Room;
use crate::line::{Number, Reply, View};

/// Those who are stayed with, by the number on their tickets.
#[derive(Default)]
pub(super) struct Vigils(Mutex<HashMap<Number, Kept>>);

/// One of them, and how many stay with them.
struct Kept {
    news: Arc<Notify>,
    by: usize,
}

/// Somebody stays with a visitor, until this is dropped.
pub struct Vigil<'a> {
    vigils: &'a Vigils,
    number: Number,
    news: Arc<Notify>,
}

impl Room {
    /// Stays with whoever has this number.
    pub fn vigil(&self, number: Number) -> Vigil<'_> {
        let mut kept = self.vigils.lock();
        let one = kept.entry(number).or_insert_with(|| Kept { news: Arc::default(), by: 0 });
        one.by += 1;
        Vigil { vigils: &self.vigils, number, news: one.news.clone() }
    }
}

impl Vigil<'_> {
    /// Until there is news of them, from now on: asked for before one looks at the view, none is missed.
    pub fn news(&self) -> Notified<'_> {
        self.news.notified()
    }
}

impl Drop for Vigil<'_> {
    fn drop(&mut self) {
        let mut kept = self.vigils.lock();
        if let Some(one) = kept.get_mut(&self.number) {
            one.by -= 1;
            if one.by == 0 {
                kept.remove(&self.number);
            }
        }
    }
}

impl Vigils {
    /// The view has changed from one to the other.
    pub(super) fn tell(&self, before: &View, after: &View, reply: &Reply) {
        let kept = self.lock();
        if kept.is_empty() {
            return;
        }
        let anew = before.counts().epoch != after.counts().epoch || reply.update.draws.is_some();
        if anew {
            kept.values().for_each(|one| one.news.notify_waiters());
            return;
        }
        for (_, number, _) in &reply.update.ended {
            let ticket = after.drawn().ticket(*number);
            // Who was out before a draw was not drawn, and has the number they had.
            let theirs = [Some(*number), Some(ticket).filter(|ticket| ticket != number)];
            let theirs = theirs.iter().flatten().filter_map(|number| kept.get(number));
            theirs.for_each(|one| one.news.notify_waiters());
        }
    }

    /// Nothing can panic while it is held, so a poisoned one is as good as any.
    fn lock(&self) -> MutexGuard<'_, HashMap<Number, Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
