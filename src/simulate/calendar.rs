//! What visitors do next, in order of time.
//!
//! Owns the order: by moment, then by visitor, so that a run does not depend on who was entered first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What somebody does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// Comes in, or tries to.
    Claim,
    /// Uses the site.
    Renew,
    /// Is done.
    Complete,
}

/// Acts to come, eight bytes each.
#[derive(Debug, Default)]
pub(super) struct Calendar {
    heap: BinaryHeap<Reverse<u64>>,
}

impl Calendar {
    pub(super) fn add(&mut self, at_ms: u32, act: Act, visitor: u32) {
        self.heap.push(Reverse(u64::from(at_ms) << 32 | u64::from(visitor) << 2 | act as u64));
    }

    /// When the next one is due.
    pub(super) fn next_ms(&self) -> Option<u32> {
        self.heap.peek().map(|Reverse(event)| (event >> 32) as u32)
    }

    /// The next one, if it is due.
    pub(super) fn due(&mut self, now_ms: u32) -> Option<(Act, u32)> {
        if self.next_ms()? > now_ms {
            return None;
        }
        let Reverse(event) = self.heap.pop()?;
        let act = match event & 3 {
            0 => Act::Claim,
            1 => Act::Renew,
            _ => Act::Complete,
        };
        Some((act, (event as u32) >> 2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acts_come_in_order_of_time_and_when_they_are_due() {
        let mut calendar = Calendar::default();
        let last = super::super::VISITORS_MAX - 1;
        calendar.add(9, Act::Renew, 1);
        calendar.add(5, Act::Complete, last);
        calendar.add(5, Act::Claim, 7);
        assert_eq!((calendar.next_ms(), calendar.due(4)), (Some(5), None));
        assert_eq!(calendar.due(5), Some((Act::Claim, 7)));
        assert_eq!(calendar.due(6), Some((Act::Complete, last)));
        assert_eq!((calendar.due(6), calendar.due(9)), (None, Some((Act::Renew, 1))));
    }
}
