//! Letters: what happened in a room, for whoever wants to be told, until a node says that they were.
//!
//! Owns the outbox. A letter is written in the exchange in which the thing happens, so none is lost with a node; it is handed to
//! a node for a time, and to another if nothing is heard of it. So each is delivered at least once. Never delivers
//! anything itself, and knows of whoever entered only what a tag says.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::batch::*;
use super::state::Line;

/// Letters that may wait. Beyond, those that have been due longest are thrown away: news is worth less the older it is, and
/// whatever a node has taken is on its way.
pub(super) const OUTBOX_MAX: usize = 10_000;
/// Those whom one letter names.
pub(super) const CALLED_MAX: usize = 100;

/// Letters that nobody has delivered yet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Outbox {
    serial: u64,
    letters: BTreeMap<u64, Kept>,
    /// (when it may be taken, serial).
    due: std::collections::BTreeSet<(u64, u64)>,
    pub(super) lost: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Kept {
    at_ms: u64,
    /// From when on any node may take it, on the room's clock.
    due_ms: u64,
    text: String,
}

impl Outbox {
    pub(super) fn len(&self) -> u64 {
        self.letters.len() as u64
    }

    fn remove(&mut self, serial: u64) {
        if let Some(kept) = self.letters.remove(&serial) {
            self.due.remove(&(kept.due_ms, serial));
        }
    }
}

impl Line {
    /// Somebody wants to be told of this, if anybody wants to be told of anything.
    pub(super) fn write_letter(&mut self, text: String) {
        if !self.settings().webhooks {
            return;
        }
        let (at_ms, due_ms, outbox) = (self.wall_ms, self.clock_ms, &mut self.outbox);
        outbox.serial += 1;
        outbox.letters.insert(outbox.serial, Kept { at_ms, due_ms, text });
        outbox.due.insert((due_ms, outbox.serial));
        if outbox.letters.len() > OUTBOX_MAX
            && let Some(&(_, longest)) = outbox.due.first()
        {
            outbox.remove(longest);
            outbox.lost += 1;
        }
    }

    /// Somebody entered on these terms.
    pub(super) fn write_entered(&mut self, number: Number, terms: Terms, tag: Option<&str>) {
        let Terms { admitted_ms, issued_ms, expires_ms, slot } = terms;
        let (epoch, tag) = (self.epoch, tag.unwrap_or("{}"));
        self.write_letter(format!(
            r#"{{"entered":{number},"epoch":{epoch},"admitted_ms":{admitted_ms},"issued_ms":{issued_ms},"expires_ms":{expires_ms},"slot":{slot},"tag":{tag}}}"#
        ));
    }

    /// So many were called.
    pub(super) fn write_called(&mut self, count: u64, called: &[Number]) {
        if count > 0 {
            let named: Vec<String> = called.iter().take(CALLED_MAX).map(u64::to_string).collect();
            let (epoch, named) = (self.epoch, named.join(","));
            self.write_letter(format!(r#"{{"called":[{named}],"epoch":{epoch},"count":{count}}}"#));
        }
    }

    /// These were delivered, or given up.
    pub(super) fn forget_letters(&mut self, sent: &[u64]) {
        sent.iter().for_each(|serial| self.outbox.remove(*serial));
    }

    /// As many as a node would deliver now, those first that have been due longest: its own for a while.
    pub(super) fn hand_out_letters(&mut self, wants: u32) -> Vec<Letter> {
        let (clock_ms, outbox) = (self.clock_ms, &mut self.outbox);
        let wants = wants.min(MAX_LETTERS) as usize;
        let due: Vec<_> = outbox.due.range(..=(clock_ms, u64::MAX)).take(wants).copied().collect();
        let mut letters = Vec::new();
        for (due_ms, serial) in due {
            outbox.due.remove(&(due_ms, serial));
            if let Some(kept) = outbox.letters.get_mut(&serial) {
                kept.due_ms = clock_ms + LEASE_MS;
                outbox.due.insert((kept.due_ms, serial));
                letters.push(Letter { serial, at_ms: kept.at_ms, text: kept.text.clone() });
            }
        }
        letters
    }
}
