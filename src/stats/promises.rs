//! What visitors are told about their wait, against what became of it.
//!
//! Owns a sample of estimates in bounded memory. An estimate is about a number's turn, and every view says when turns come, so
//! it is judged on this node wherever its visitor is by then, and nothing is added to a ticket. Whoever has left or fallen
//! silent before their turn proves nothing, and is not judged.

use std::collections::VecDeque;

use crate::line::{Eta, Number, Standing, View};
use crate::metrics::Foretold;

/// Estimates kept at once, evenly over the line: 40 KB a room.
const MOST: usize = 1_024;

/// Estimates below this are not judged: they are told in whole seconds, and views are up to half of one apart.
const LEAST_SECONDS: u64 = 5;

/// An estimate that was told.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Promise {
    number: Number,
    at_ms: u64,
    eta: Eta,
}

/// What became of one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Kept {
    /// What it took by what was told: 1 is right, 2 took twice as long.
    pub(super) ratio: f64,
    /// Against the range that was told.
    pub(super) range: Foretold,
}

/// Estimates told, by number.
#[derive(Debug)]
pub(super) struct Promises {
    told: VecDeque<Promise>,
    /// Between two numbers of the sample.
    stride: u64,
}

impl Default for Promises {
    fn default() -> Promises {
        Promises { told: VecDeque::new(), stride: 1 }
    }
}

impl Promises {
    /// One exchange has made the second view of the first: what became of those whose turn came with it.
    pub(super) fn follow(&mut self, before: &View, after: &View, now_ms: u64) -> Vec<Kept> {
        let generation = |view: &View| (view.counts().epoch, view.counts().draw);
        if generation(before) != generation(after) {
            *self = Promises::default();
            return Vec::new();
        }
        let kept = self.keep(before, after, now_ms);
        self.tell(before, after, now_ms);
        kept
    }

    fn keep(&mut self, before: &View, after: &View, now_ms: u64) -> Vec<Kept> {
        let released = after.counts().released;
        let mut kept = Vec::new();
        while let Some(promise) = self.told.front().filter(|told| told.number <= released) {
            // By the view before: afterwards, who entered at once and who gave up look the same.
            if before.standing(promise.number) == Standing::Waiting {
                kept.push(promise.kept(now_ms));
            }
            self.told.pop_front();
        }
        if self.told.len() < MOST / 4 {
            self.stride = (self.stride / 2).max(1);
        }
        kept
    }

    /// The last number given stands for those given with it.
    fn tell(&mut self, before: &View, after: &View, now_ms: u64) {
        let number = after.counts().issued;
        let next = self.told.back().map_or(0, |last| last.number + self.stride);
        if number <= before.counts().issued || number < next {
            return;
        }
        // While nobody is released nobody is told anything.
        let told = after.position(number).and_then(|position| after.eta(position));
        let Some(eta) = told else { return };
        if eta.seconds < LEAST_SECONDS {
            return;
        }
        self.told.push_back(Promise { number, at_ms: now_ms, eta });
        if self.told.len() > MOST {
            let mut nth = 0;
            self.told.retain(|_| {
                nth += 1;
                nth % 2 == 1
            });
            self.stride *= 2;
        }
    }
}

impl Promise {
    fn kept(&self, now_ms: u64) -> Kept {
        let took = now_ms.saturating_sub(self.at_ms) as f64 / 1_000.0;
        let Eta { seconds, low, high } = self.eta;
        let range = match () {
            () if took < low as f64 => Foretold::Early,
            () if took > high as f64 => Foretold::Late,
            () => Foretold::Within,
        };
        Kept { ratio: took / seconds as f64, range }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Told;
    use super::*;
    use crate::line::{Command, Join};

    /// One a second, and the first at once.
    fn line() -> (Told, Promises) {
        (Told::new(1), Promises::default())
    }

    fn join(told: &mut Told, promises: &mut Promises, count: u32) -> Vec<Kept> {
        told.with(promises, |batch| batch.joins = vec![Join::Plain(count)])
    }

    #[test]
    fn a_turn_that_comes_as_told_is_right() {
        let (mut told, mut promises) = line();
        assert_eq!(join(&mut told, &mut promises, 31), []);
        assert_eq!(promises.told.len(), 1, "of those who came together one stands for all");
        let mut kept = Vec::new();
        for _ in 0..64 {
            told.wall_ms += 500;
            kept.extend(told.with(&mut promises, |_| {}));
        }
        assert!(matches!(kept[..], [Kept { range: Foretold::Within, .. }]), "{kept:?}");
        assert!((0.9..1.1).contains(&kept[0].ratio), "{kept:?}");
    }

    #[test]
    fn a_turn_by_hand_is_early_and_one_after_a_pause_late() {
        let (mut told, mut promises) = line();
        join(&mut told, &mut promises, 31);
        told.wall_ms += 500;
        let kept =
            told.with(&mut promises, |batch| batch.commands = vec![Command::Release(40).into()]);
        assert!(matches!(kept[..], [Kept { range: Foretold::Early, .. }]), "{kept:?}");
        let (mut told, mut promises) = line();
        join(&mut told, &mut promises, 31);
        told.with(&mut promises, |batch| batch.commands = vec![Command::Pause.into()]);
        for _ in 0..100 {
            told.wall_ms += 1_000;
            assert_eq!(told.with(&mut promises, |batch| batch.marks = (1..=31).collect()), []);
        }
        let kept =
            told.with(&mut promises, |batch| batch.commands = vec![Command::Release(40).into()]);
        assert!(matches!(kept[..], [Kept { range: Foretold::Late, ratio: 3.0.. }]), "{kept:?}");
    }

    #[test]
    fn nobody_is_told_anything_in_a_pause() {
        let (mut told, mut promises) = line();
        told.with(&mut promises, |batch| batch.commands = vec![Command::Pause.into()]);
        join(&mut told, &mut promises, 100);
        assert!(promises.told.is_empty());
    }

    #[test]
    fn who_gave_up_proves_nothing() {
        let (mut told, mut promises) = line();
        join(&mut told, &mut promises, 31);
        told.with(&mut promises, |batch| batch.leaves = vec![31]);
        told.wall_ms += 500;
        assert_eq!(join(&mut told, &mut promises, 1), []);
        let kept =
            told.with(&mut promises, |batch| batch.commands = vec![Command::Release(40).into()]);
        assert_eq!(kept.len(), 1, "of the one who came after them");
        assert!(promises.told.is_empty());
    }

    #[test]
    fn a_reset_is_the_end_of_all_promises() {
        let (mut told, mut promises) = line();
        join(&mut told, &mut promises, 31);
        told.with(&mut promises, |batch| batch.commands = vec![Command::Reset.into()]);
        assert!(promises.told.is_empty());
    }

    #[test]
    fn however_many_come_the_sample_is_small_and_even() {
        let (mut told, mut promises) = line();
        for _ in 0..20_000 {
            join(&mut told, &mut promises, 1);
        }
        assert!((MOST / 2..=MOST).contains(&promises.told.len()), "{}", promises.told.len());
        let gaps = promises.told.iter().zip(promises.told.iter().skip(1));
        let gaps: Vec<u64> = gaps.map(|(one, next)| next.number - one.number).collect();
        let (least, most) = (gaps.iter().min(), gaps.iter().max());
        assert!(most <= least.map(|least| least * 2).as_ref(), "{gaps:?}");
        told.with(&mut promises, |batch| batch.commands = vec![Command::Release(20_000).into()]);
        for _ in 0..20 {
            told.with(&mut promises, |_| {});
        }
        assert_eq!((promises.told.len(), promises.stride), (0, 1));
    }
}
