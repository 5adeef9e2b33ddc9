//! A node without its store: what it does by itself, and how it finds back.
//!
//! Owns the turn from *here* to *away* and back again. Gives no numbers and no turns, which only the line can: a seat that
//! somebody has is theirs for as long as the line would have left it to them, and nothing else.

use std::sync::Arc;

use tokio::time::Instant;

use super::said::Said;
use super::{Outage, Proof, Room, Sitting};
use crate::line::{Claimed, Ending, Reason, Settings, Terms};
use crate::store::HOUSE;

impl Room {
    /// Whether the store is away: it failed three times in a row and has not answered since.
    pub fn is_away(&self) -> bool {
        self.outage.load().as_ref().is_some_and(|outage| outage.is_present())
    }

    /// The present outage, or one that is over for no more than moments.
    pub fn outage(&self) -> Option<Arc<Outage>> {
        self.outage.load_full()
    }

    /// What time it is for somebody who comes and can't be given a number; and by the clock of which node, if this one does not
    /// know the store's.
    pub fn arrival(&self) -> (u64, Option<u128>) {
        let (now_ms, guessed) = match &*self.outage.load() {
            Some(outage) => (outage.now_ms(), outage.is_guessed()),
            None => (self.now_ms(), self.heard_ago().is_none()),
        };
        (now_ms, guessed.then_some(self.node))
    }

    /// When somebody came who was told so by a node that went by its own clock, as far as this one knows.
    pub fn came_ms(&self, arrived_ms: u64, clock_of: u128) -> u64 {
        let outage = self.outage.load();
        outage
            .as_ref()
            .map_or(arrived_ms, |outage| outage.came_ms(arrived_ms, clock_of == self.node))
    }

    /// A pass that was in force when the store was lost is to last longer, and the line hears of it afterwards: on the
    /// terms it would have given. The room's clock stands still while nobody can ask it, so the seat is still theirs; if only
    /// this node is cut off it may be somebody else's by now, and there is one more inside than seats until the pass ends.
    pub fn renew_alone(&self, proof: Proof, sitting: Sitting) -> Claimed {
        let Sitting { admitted_ms, slot } = sitting;
        let view = self.view.load();
        if !self.known(proof) {
            return Claimed::Stale;
        }
        let ending = view.ending(proof.number).filter(|_| proof.epoch == view.counts().epoch);
        if let Some(why) = ending.filter(|why| *why != Ending::Idle) {
            return Claimed::Over(Reason::Ended(why));
        }
        let now_ms = self.now_ms();
        let Some(expires_ms) = view.settings().and_then(|set| lasts(set, admitted_ms, now_ms))
        else {
            return Claimed::Over(Reason::Ended(Ending::Capped));
        };
        self.desk().memo.renewed(sitting.renewal(proof.number));
        Claimed::Inside(Terms { admitted_ms, issued_ms: now_ms, expires_ms, slot })
    }

    /// The store is given up for now: whoever waits for an answer is told. `outgrown`: it is there, and this node is too old
    /// for the line in it.
    pub(super) fn lose(&self, since: Instant, error: &str, outgrown: bool, said: &mut Said) {
        let known = self.is_away();
        if !known {
            self.begin_outage(since);
        }
        let news = outgrown && self.outage.load().as_ref().is_some_and(|outage| outage.outgrow());
        if news && self.name != HOUSE {
            tracing::error!(
                event = "store.outgrown",
                event_id = self.name,
                error,
                "newer nodes keep this line: visitors are held here, whatever on_loss says"
            );
        }
        // After that: whoever asks in between is dismissed here, whoever asks later sees that it is away.
        said.dismiss();
        self.desk().lose();
        // What is no room's has no visitors: the rooms tell of it.
        if known || self.name == HOUSE {
            return;
        }
        tracing::error!(
            event = "store.lost",
            event_id = self.name,
            error,
            "the store is away: the node goes on by itself and keeps trying"
        );
    }

    fn begin_outage(&self, since: Instant) {
        let ago_ms = u64::try_from(since.elapsed().as_millis()).unwrap_or(0);
        let last = self.outage.load_full();
        let (began_ms, guessed) =
            (self.now_ms().saturating_sub(ago_ms), self.heard_ago().is_none());
        let outage = Outage::new(since, began_ms, guessed, last.as_deref());
        self.outage.store(Some(Arc::new(outage)));
    }

    /// The line has taken a batch: the store is back, once it has heard of everybody this node vouches for.
    pub(super) fn find(&self) {
        let Some(outage) = self.outage.load_full() else { return };
        if outage.is_forgotten() {
            return self.outage.store(None);
        }
        if !outage.is_present() || !self.desk().memo.is_heard() {
            return;
        }
        let ended = outage.ended(self.now_ms());
        let lasted = ended.lasted();
        let arrivals = ended.arrivals();
        self.desk().find();
        self.outage.store(Some(Arc::new(ended)));
        if self.name == HOUSE {
            return;
        }
        tracing::info!(
            event = "store.back",
            event_id = self.name,
            duration_ms = u64::try_from(lasted.as_millis()).unwrap_or(u64::MAX),
            arrivals,
            "the store is back"
        );
    }
}

/// Until when activity now keeps a seat, by the rule of the line; `None`: `session_max` is over.
fn lasts(settings: &Settings, admitted_ms: u64, now_ms: u64) -> Option<u64> {
    let cap_ms = settings.session_max_ms.map(|max_ms| admitted_ms + max_ms);
    let until_ms = settings.session_idle_ms.map(|idle_ms| now_ms + idle_ms);
    let until_ms = match (until_ms, cap_ms) {
        (Some(until_ms), Some(cap_ms)) => until_ms.min(cap_ms),
        (until_ms, cap_ms) => until_ms.or(cap_ms)?,
    };
    (until_ms > now_ms).then_some(until_ms)
}
