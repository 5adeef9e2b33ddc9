//! `[store] on_loss`, `open_after`: what becomes of visitors while the store is away.

use std::time::Duration;

use super::Check;
use crate::config::file::File;
use crate::gateway::settings::{Loss, OnLoss};
use crate::units as text;

/// Shorter, and a failover opens the site; longer is never.
const AFTER_MS: (u64, u64) = (10_000, 86_400_000);

impl Check<'_> {
    pub(super) fn loss(&self, file: &File) -> Loss {
        let on_loss = file.store.on_loss.as_ref().map_or(OnLoss::Hold, |on_loss| on_loss.value);
        let Some(after) = &file.store.open_after else { return Loss { on_loss, open_after: None } };
        if on_loss != OnLoss::Hold {
            let what = format!("{} is without effect", after.said());
            let means = "only visitors who are held can be let through later. Remove it, or write on_loss = \"hold\"";
            self.report.problem(what, means);
        }
        let (low, high) = AFTER_MS;
        let why = "sooner, a store that is only failing over would open the site; without open_after it stays guarded";
        let after_ms = self.within(after, low, high, text::span, why);
        Loss { on_loss, open_after: after_ms.map(Duration::from_millis) }
    }
}
