//! What an exchange changed, for whoever listens; and how fresh this node's knowledge is.
//!
//! Owns the way from one view to the next. Costs nothing while nobody listens, and never waits for who does: whoever is too
//! slow is told how much they missed.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::broadcast;

use super::Room;
use crate::line::{Counts, Ending, Number, Reply, View};

/// Exchanges kept for a listener that is slow: more than a second of them. What they share is held once.
pub(super) const KEPT: usize = 256;

/// One exchange.
#[derive(Debug)]
pub struct News {
    /// The line before it.
    pub before: Arc<View>,
    /// The line after it.
    pub after: Arc<View>,
    /// Whose session is over since, and why.
    pub ended: Vec<(Number, Ending)>,
}

impl Room {
    /// What changes from now on.
    pub fn news(&self) -> broadcast::Receiver<Arc<News>> {
        self.news.subscribe()
    }

    /// How long ago the store last answered. `None`: it never has.
    pub fn heard_ago(&self) -> Option<Duration> {
        let heard_ms = self.heard.load(Ordering::Relaxed).checked_sub(1)?;
        Some(self.made.elapsed().saturating_sub(Duration::from_millis(heard_ms)))
    }

    /// The store's clock minus this node's, in milliseconds.
    pub fn clock_offset_ms(&self) -> i64 {
        self.ahead_ms.load(Ordering::Relaxed)
    }

    /// Whether, of all nodes that speak for this room, this is the one that tells what they all see: it did the last sweep, or
    /// nobody has done one yet, or there is nobody else.
    pub fn is_first(&self, counts: &Counts) -> bool {
        counts.swept_by == self.node || counts.swept_by == 0 || counts.nodes <= 1
    }

    pub(super) fn note_heard(&self) {
        let since_ms = u64::try_from(self.made.elapsed().as_millis()).unwrap_or(u64::MAX - 1);
        self.heard.store(since_ms + 1, Ordering::Relaxed);
    }

    pub(super) fn publish(&self, after: Arc<View>, reply: &Reply) {
        let before = self.view.swap(after.clone());
        self.vigils.tell(&before, &after, reply);
        if self.news.receiver_count() == 0 {
            return;
        }
        let ticket = |number: Number| after.drawn().ticket(number);
        let ended = reply.update.ended.iter();
        let ended = ended.map(|(_, number, why)| (ticket(*number), *why)).collect();
        // Whoever listened may be gone by now.
        let _ = self.news.send(Arc::new(News { before, after, ended }));
    }
}
