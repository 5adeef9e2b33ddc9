//! What would have happened: the line of a room in which nobody is stopped.
//!
//! Owns the reckoning of mode `shadow`, in which everybody is let in at once, as in bypass. Beside them it keeps a line of counters alone:
//! who comes joins it, the bucket that is set gives its turns, and the seats that are set bound them. Nobody in it gives
//! up, and the visits there take as long as the real ones do: of its seats the same share becomes free as of the real ones. Changes nothing
//! about anybody.

use serde::{Deserialize, Serialize};

use super::state::Line;

/// The line beside the line. Begins with whoever is inside, and nobody waiting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Shadow {
    pub(super) waiting: u64,
    pub(super) inside: u64,
    /// Thousandths of a seat that has become free.
    pub(super) freed: u64,
    /// Who was really inside after the last exchange, and had entered by then.
    pub(super) seats: u64,
    pub(super) entered: u64,
    /// Of the minute that runs.
    pub(super) minute: Shadowed,
}

/// What would have happened in a minute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shadowed {
    /// Came.
    pub arrived: u64,
    /// Of these, would have had to wait.
    pub delayed: u64,
    /// Of these, would have found the line full.
    pub refused: u64,
    /// Would have been let in.
    pub turns: u64,
    /// Would have been waiting at its end.
    pub waiting: u64,
    /// The most at once.
    pub peak: u64,
    /// All their waiting together, in milliseconds.
    pub waited_ms: u64,
}

impl Line {
    /// Reckons an exchange in which so many came and so much time went by: the turns that the bucket pays for.
    pub(super) fn reckon(&mut self, arrived: u64, elapsed_ms: u64) -> u64 {
        let (inside, entered) = (self.sessions.inside(), self.totals.entered);
        let Some(mut shadow) = self.shadow else {
            let begun = Shadow { inside, seats: inside, entered, ..Shadow::default() };
            self.shadow = Some(begun);
            return self.reckon(arrived, 0);
        };
        let here = shadow.seats + entered - shadow.entered;
        let left = here.saturating_sub(inside);
        shadow.freed += left * 1_000 * shadow.inside / here.max(1);
        shadow.inside = shadow.inside.saturating_sub(shadow.freed / 1_000);
        shadow.freed %= 1_000;
        (shadow.seats, shadow.entered) = (inside, entered);

        let by_pace = if self.paused { 0 } else { self.affordable() };
        let seats = self.settings().seats().unwrap_or(u64::MAX);
        let allowed = by_pace.min(seats.saturating_sub(shadow.inside));
        let full = self.settings().max_waiting.unwrap_or(u64::MAX).saturating_add(allowed);
        let joined = arrived.min(full.saturating_sub(shadow.waiting));
        let turns = allowed.min(shadow.waiting + joined);
        let minute = &mut shadow.minute;
        minute.waited_ms += shadow.waiting * elapsed_ms;
        minute.arrived += arrived;
        minute.refused += arrived - joined;
        // Whoever waited before goes first.
        minute.delayed += joined - turns.saturating_sub(shadow.waiting);
        minute.turns += turns;
        shadow.waiting = shadow.waiting + joined - turns;
        shadow.inside += turns;
        minute.waiting = shadow.waiting;
        minute.peak = minute.peak.max(shadow.waiting);
        self.shadow = Some(shadow);
        turns
    }

    /// Whether the pace is what would hold somebody up.
    pub(super) fn would_hold_up(&self) -> bool {
        let seats = self.settings().seats().unwrap_or(u64::MAX);
        self.shadow.is_some_and(|shadow| shadow.waiting > 0 && shadow.inside < seats)
    }

    /// What a minute came to; the next one begins with whoever waits.
    pub(super) fn shadow_minute(&mut self) -> Option<Shadowed> {
        let shadow = self.shadow.as_mut()?;
        let waiting = shadow.waiting;
        let next = Shadowed { waiting, peak: waiting, ..Shadowed::default() };
        Some(std::mem::replace(&mut shadow.minute, next))
    }
}
