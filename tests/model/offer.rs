//! Step 6: settings that change while people wait.

use anteroom::line::Pace;

use super::Model;

impl Model {
    /// Whole turns are kept, as far as the new bucket holds them; without a pace before, it is full.
    pub(super) fn change_pace(&mut self, old: Option<Pace>, new: Option<Pace>) {
        if old == new {
            return;
        }
        let (turns, owed, ahead) = match Self::cost_and_depth(old) {
            Some((cost, _)) => (self.credit / cost, self.owed / cost, self.ahead / cost),
            None => (u64::MAX, 0, 0),
        };
        (self.credit, self.owed, self.ahead) = match Self::cost_and_depth(new) {
            Some((cost, depth)) => (turns.min(depth) * cost, owed * cost, ahead * cost),
            None => (0, 0, 0),
        };
        if let Some(Pace::Batch { interval_ms, .. }) = new {
            self.next_batch_at = self.counts.clock_ms + interval_ms;
        }
    }
}
