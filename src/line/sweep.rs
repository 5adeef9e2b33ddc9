//! Time passes: periods turn, the silent are skipped, the dead part of the bitmaps is given back.
//!
//! Owns the ring of `seen` bitmaps and `base`. A sweep is three ORs and an AND over the bitmaps, whoever
//! is in them; it costs the same for a thousand absentees as for a million.

use super::settings::OnAbsence;
use super::state::Line;

/// `base` is a multiple of this: 4 KiB of a bitmap.
pub(super) const BASE_STEP: u64 = 32_768;
/// Places a line may hold from `lapsed` on: 1.3 MiB of a bitmap, ten million people who wait and one in eleven places whose visitor has
/// left. `base` follows `lapsed`, so no bitmap is longer than a third more, and whatever is done to all of them at once takes a
/// Redis less than 20 ms, but for an exchange in which everything there is comes together: 26 to 29. 2^24 places took it 19, 2^26 took 300 (`make bench-redis ONLY=kinds`).
pub const PLACES_MAX: u64 = 21 << 19;
/// Below 64 KiB a bitmap is not worth moving.
const BASE_MIN_BITS: u64 = 64 * 1024 * 8;

impl Line {
    /// Starts a new period when the last one is over; whether it did.
    pub(super) fn turn_ring(&mut self) -> bool {
        if self.clock_ms - self.period_began_ms < self.settings().period_ms() {
            return false;
        }
        self.ring = (self.ring + 1) % self.seen.len();
        self.seen[self.ring].wipe();
        self.period_began_ms = self.clock_ms;
        true
    }

    /// Skips whoever has not been heard of in this period and the two before.
    pub(super) fn sweep(&mut self) {
        let remove = self.settings().on_absence == OnAbsence::Remove;
        let Line { live, used, seen, .. } = self;
        let mut sweep = |low: u64, high: u64| {
            let mut gone = 0;
            live.edit(low..=high, |word, here| {
                let silent = here & !(seen[0].word(word) | seen[1].word(word) | seen[2].word(word));
                gone += u64::from(silent.count_ones());
                if remove {
                    used.add_word(word, silent);
                }
                silent
            });
            gone
        };
        let no_shows = sweep(self.lapsed + 1, self.released);
        let dropped = sweep(self.released + 1, self.issued);
        self.totals.dropped += dropped;
        self.waiting -= dropped;
        self.claimable -= no_shows;
        self.no_shows(no_shows);
        self.bits_version += 1;
    }

    /// Everybody live was just heard of.
    pub(super) fn presume_seen(&mut self) {
        let from = self.lapsed / 64;
        for word in from..=self.issued / 64 {
            self.seen[self.ring].add_word(word, self.live.word(word));
        }
        self.head.heard_all(self.clock_ms);
    }

    /// Gives back what is below `lapsed` once it is a quarter of what there is.
    pub(super) fn move_base(&mut self) {
        let (dead, all) = (self.lapsed - self.base, self.issued - self.base);
        if all <= BASE_MIN_BITS || dead < all / 4 {
            return;
        }
        self.base = self.lapsed / BASE_STEP * BASE_STEP;
        for bits in [&mut self.live, &mut self.used].into_iter().chain(&mut self.seen) {
            bits.drop_below(self.base);
        }
    }

    /// So many turns came and were not taken.
    pub(super) fn no_shows(&mut self, count: u64) {
        self.totals.no_shows += count;
        self.owe(count);
    }
}
