//! When a node saw the frontier move: how much of a claim window is left is told by it.
//!
//! Owns that memory: of one claim window, in bounded space, shared by all copies of a view. Knows nothing of whose places
//! they are; what was released before this node came, it does not know.

use std::collections::VecDeque;

use super::Number;

/// A window is remembered in so many steps: with two minutes each is a second, and all of them are 2 KB.
const STEPS: u64 = 128;

/// The frontier's way, as far as it was seen.
#[derive(Clone, Debug, Default)]
pub(super) struct Sights {
    /// Up to here nobody knows: it was released before this node came, or so long ago that it is forgotten.
    unknown: Number,
    /// Released up to here, and not before this moment of the room's clock. Both rise.
    seen: VecDeque<(Number, u64)>,
}

impl Sights {
    /// Of a line whose frontier was here when it was first heard of.
    pub(super) fn from(released: Number) -> Sights {
        Sights { unknown: released, seen: VecDeque::new() }
    }

    /// The frontier is here now, and was not yet at `last_ms`. A step that is no longer than the memory is fine keeps the
    /// earlier moment: whoever is told of a window is rather told too little of it.
    pub(super) fn advance(&mut self, released: Number, last_ms: u64, window_ms: u64) {
        match self.seen.back_mut() {
            Some((upto, at_ms)) if last_ms.saturating_sub(*at_ms) < window_ms / STEPS => {
                *upto = released;
            }
            _ => self.seen.push_back((released, last_ms)),
        }
        while let Some((upto, at_ms)) = self.seen.front().copied()
            && last_ms.saturating_sub(at_ms) > window_ms
        {
            self.unknown = upto;
            self.seen.pop_front();
        }
    }

    /// The moment after which the frontier passed this place, if it was seen.
    pub(super) fn passed_ms(&self, place: Number) -> Option<u64> {
        let index = self.seen.partition_point(|(upto, _)| *upto < place);
        self.seen.get(index).filter(|_| place > self.unknown).map(|(_, at_ms)| *at_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stays_small_and_is_never_late() {
        let mut sights = Sights::from(100);
        let window_ms = 120_000;
        for step in 1..=100_000_u64 {
            sights.advance(100 + step, step * 5, window_ms);
            assert!(sights.seen.len() <= STEPS as usize + 2, "{}", sights.seen.len());
            let told_ms = sights.passed_ms(100 + step).expect("just seen");
            let late = (step * 5).saturating_sub(told_ms);
            assert!(told_ms <= step * 5 && late < window_ms / STEPS, "{step}: {late}");
        }
        assert_eq!(sights.passed_ms(100), None, "before this node came");
        assert_eq!(sights.passed_ms(101), None, "long ago");
        assert_eq!(sights.passed_ms(100_101), None, "not yet");
    }
}
