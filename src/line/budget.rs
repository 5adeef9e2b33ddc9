//! How much an exchange does beside its batch's items.
//!
//! Owns the steps that all duties of an exchange share, so that a store never stands still for long, whatever is due at
//! once. Knows nothing of what a duty does.
//!
//! Each duty may take what those before it have left, but for a share of every one that comes later: so none waits for
//! ever, and one alone gets nearly all. What is due to few comes first; endings are forgotten before seats end,
//! because only as many endings can pile up as seats end.
//!
//! ```text
//!   duty                         at most   if all want more
//!   1 the silent of the head          70   70
//!   2 called, and late               100   30
//!   3 strayed, and lapsed            130   30
//!   4 endings to be forgotten, and   160   30
//!     then spends
//!   5 seats whose time is over       190   30
//!   6 turns, by hand and by pace     220   30
//!   7 newcomers who enter at once    250   30
//! ```
//! A sweep goes through all bitmaps, and telling them to a node takes as long again: that is left to the next exchange, unless the node
//! was behind already.

/// Steps of all duties of an exchange: a seat that ends takes Redis 10 µs, one that is taken twice that. With a full batch beside
/// them an exchange stays below 10 ms.
pub const MAX_STEPS: usize = 250;
/// Those that share them.
const DUTIES: usize = 7;
/// What is kept for each that comes later.
const SHARE: usize = 30;

/// What is left for an exchange's duties.
#[derive(Debug)]
pub(super) struct Budget {
    left: usize,
    /// Of these, for duties after the one at work.
    kept: usize,
    /// A duty took all it might: there may be more to do. Or to tell.
    pub(super) backlog: bool,
    /// A sweep was made.
    pub(super) swept: bool,
}

impl Budget {
    pub(super) fn new() -> Budget {
        Budget { left: MAX_STEPS, kept: DUTIES * SHARE, backlog: false, swept: false }
    }

    /// How many steps the next duty may take.
    pub(super) fn next(&mut self) -> usize {
        self.kept -= SHARE;
        self.rest()
    }

    /// How many the duty at work may still take.
    pub(super) fn rest(&self) -> usize {
        self.left - self.kept
    }

    /// The duty at work has taken so many.
    pub(super) fn take(&mut self, steps: usize) {
        self.left -= steps;
    }

    /// A sweep was made: to a node that is up to date the bits are told in the next exchange.
    pub(super) fn sweep(&mut self) {
        (self.swept, self.backlog) = (true, true);
    }

    /// The duty at work found this to be done, of `most` at most.
    pub(super) fn found<T>(&mut self, due: Vec<T>, most: usize) -> Vec<T> {
        self.take(due.len());
        self.backlog |= due.len() == most;
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the module's table has it.
    #[test]
    fn one_duty_alone_gets_nearly_all_and_none_gets_nothing() {
        let mut alone = Budget::new();
        let most = [(); DUTIES].map(|()| alone.next());
        assert_eq!(most, [70, 100, 130, 160, 190, 220, 250]);
        let mut crowded = Budget::new();
        let all = [(); DUTIES].map(|()| {
            let most = crowded.next();
            crowded.found(vec![(); most], most).len()
        });
        assert_eq!((all, crowded.left), ([70, 30, 30, 30, 30, 30, 30], 0));
        assert!(crowded.backlog && !alone.backlog);
    }
}
