//! Step 12 in mode shadow: who would have waited.

use anteroom::line::{Joined, Mode};

use super::Model;

/// Somebody who would be waiting, or has been.
#[derive(Clone)]
pub(super) struct Delayed;

#[derive(Clone, Default)]
pub(super) struct Shadow {
    /// In the order of their coming.
    pub(super) waiting: Vec<Delayed>,
    pub(super) inside: u64,
    /// Thousandths.
    freed: u64,
    /// Really inside when it was last reckoned, and entered by then.
    seats: u64,
    entered: u64,
}

impl Model {
    /// One exchange; how many turns it cost the bucket.
    pub(super) fn reckon(&mut self, joins: &[Joined]) -> u64 {
        let came = joins.iter().map(|joined| match joined {
            Joined::Given { count, .. } => u64::from(*count),
            _ => 0,
        });
        let (_, _, inside) = self.tally();
        let entered = self.counts.entered;
        let begun = Shadow { inside, seats: inside, entered, ..Shadow::default() };
        let mut shadow = self.shadow.take().unwrap_or(begun);
        let here = shadow.seats + (entered - shadow.entered);
        if here > inside {
            shadow.freed += 1_000 * shadow.inside * (here - inside) / here;
            self.note("a shadow's seat became free", shadow.freed / 1_000);
        }
        while shadow.freed >= 1_000 {
            shadow.freed -= 1_000;
            shadow.inside = shadow.inside.saturating_sub(1);
        }
        (shadow.seats, shadow.entered) = (inside, entered);

        let mut turns = if self.counts.paused { 0 } else { self.bucket_allows() };
        if let Some(seats) = self.settings().seats() {
            turns = turns.min(seats.saturating_sub(shadow.inside));
        }
        let most = self.settings().max_waiting.map_or(u64::MAX, |most| most.saturating_add(turns));
        for _ in 0..came.sum::<u64>() {
            match (shadow.waiting.len() as u64) < most {
                true => shadow.waiting.push(Delayed),
                false => self.note("a shadow's line was full", 1),
            }
        }
        let turns = turns.min(shadow.waiting.len() as u64);
        shadow.waiting.drain(..turns as usize);
        shadow.inside += turns;
        self.note("would have waited", shadow.waiting.len() as u64);
        self.shadow = Some(shadow);
        turns
    }

    pub(super) fn is_shadow(&self) -> bool {
        self.settings().mode == Mode::Shadow
    }
}
