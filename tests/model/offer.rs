//! Step 6: settings that change while people wait.

use anteroom::line::{Offer, Offered, Pace};

use super::Model;

impl Model {
    pub(super) fn consider(&mut self, offer: &Offer) -> Offered {
        let problems = offer.settings.problems();
        if !problems.is_empty() {
            return Offered::Invalid(problems);
        }
        if self.settings.is_some() && offer.version < self.version {
            return Offered::Older(self.version);
        }
        let old = self.settings.replace(offer.settings.clone());
        self.version = offer.version;
        self.change_pace(old.as_ref().and_then(|old| old.pace), offer.settings.pace);
        let heartbeat = offer.settings.heartbeat_timeout_ms;
        if old.is_some_and(|old| old.heartbeat_timeout_ms != heartbeat) {
            self.all_just_seen();
        }
        Offered::Taken
    }

    /// Whole turns are kept, as far as the new bucket holds them; without a pace before, it is full.
    fn change_pace(&mut self, old: Option<Pace>, new: Option<Pace>) {
        if old == new {
            return;
        }
        let (turns, owed) = match Self::cost_and_depth(old) {
            Some((cost, _)) => (self.credit / cost, self.owed / cost),
            None => (u64::MAX, 0),
        };
        (self.credit, self.owed) = match Self::cost_and_depth(new) {
            Some((cost, depth)) => (turns.min(depth) * cost, owed * cost),
            None => (0, 0),
        };
        if let Some(Pace::Batch { interval_ms, .. }) = new {
            self.next_batch_at = self.counts.clock_ms + interval_ms;
        }
    }
}
