//! What a node remembers of a room's past: how long people really waited, what they had been told, who never came back, and
//! the counters up to an hour back.
//!
//! Owns a running mean, a ring of samples, and what `promises` and `ghosts` keep, in bounded memory. Decides nothing, and is gone with the process: a line's
//! own counters are in its store.

mod ghosts;
mod promises;
mod verdicts;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, sleep};

use crate::line::{
    ANSWERS, Counts, ERRORS, FIGURES, GHOSTS, LATENCIES, ORIGIN, SLOW, Terms, WAITS,
};
use crate::metrics::{self, Metrics};
use crate::room::{News, Proof, Room};
use ghosts::Ghosts;
use promises::Promises;
pub use verdicts::UnderWay;
use verdicts::Verdicts;

/// Between two samples; an hour of them is 20 KB a room.
const SAMPLE: Duration = Duration::from_secs(10);
/// Between two reports of what was counted.
const TELL: Duration = Duration::from_secs(1);
/// The same in a room whose rate follows the origin.
const TELL_SOON: Duration = Duration::from_millis(500);
const HOUR: Duration = Duration::from_secs(3_600);
const MINUTE: Duration = Duration::from_secs(60);

/// The mean is over about so many: the crowd of now, not of this morning.
const RECENT: u64 = 200;

/// Entries that are known to be counted: a claim is answered as often as it is made, and is one entry.
const REMEMBERED: usize = 1_024;
/// Terms older than this were given to an earlier claim, here or on another node.
const FRESH_MS: u64 = 5_000;

/// The past of a room, as this node saw it.
pub struct Stats {
    /// What counts in this room.
    pub meters: metrics::Room,
    waits: Mutex<Mean>,
    entered: Box<[AtomicU64]>,
    samples: Mutex<VecDeque<Sample>>,
    /// What is counted for the line's history, and not told yet.
    figures: Box<[AtomicU64]>,
    promises: Mutex<Promises>,
    ghosts: Mutex<Ghosts>,
    verdicts: Verdicts,
}

#[derive(Default)]
struct Mean {
    count: u64,
    seconds: f64,
}

#[derive(Clone, Copy)]
struct Sample {
    at: Instant,
    counts: Counts,
}

/// How much happened lately.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lately {
    /// Joins a second, over the last minute.
    pub joins_per_second: f64,
    /// Entered within the last hour.
    pub entered: u64,
    /// Abandoned an hour.
    pub abandoned_per_hour: f64,
    /// Sessions that ended uncompleted, an hour.
    pub expired_per_hour: f64,
}

/// Sessions that ended without being completed.
pub fn expired(counts: &Counts) -> u64 {
    counts.entered.saturating_sub(counts.inside + counts.completed)
}

/// Fell silent in line, or did not come when called.
pub fn abandoned(counts: &Counts) -> u64 {
    counts.dropped + counts.no_shows
}

impl Stats {
    /// Of a room of which nothing is known yet.
    pub fn new(meters: metrics::Room) -> Stats {
        Stats {
            meters,
            waits: Mutex::default(),
            entered: (0..REMEMBERED).map(|_| AtomicU64::new(0)).collect(),
            samples: Mutex::default(),
            figures: (0..FIGURES).map(|_| AtomicU64::new(0)).collect(),
            promises: Mutex::default(),
            ghosts: Mutex::default(),
            verdicts: Verdicts::default(),
        }
    }

    /// The origin answered a visitor of this room.
    pub fn origin_answered(&self, status: u16, took: Duration) {
        self.figure(ORIGIN + LATENCIES.of(took.as_secs_f64() * 1_000.0));
        self.figure(ANSWERS);
        if status >= 500 {
            self.figure(ERRORS);
        }
    }

    /// It did not.
    pub fn origin_failed(&self) {
        self.figure(ANSWERS);
        self.figure(ERRORS);
    }

    fn figure(&self, at: usize) {
        self.figures[at].fetch_add(1, Ordering::Relaxed);
    }

    /// What was counted since the last time; empty if nothing was.
    fn take_figures(&self) -> Vec<u64> {
        let taken: Vec<u64> =
            self.figures.iter().map(|figure| figure.swap(0, Ordering::Relaxed)).collect();
        if taken.iter().all(|figure| *figure == 0) { Vec::new() } else { taken }
    }

    /// Of a room whose counters nobody reads.
    pub fn unread(room: &str) -> Arc<Stats> {
        Arc::new(Stats::new(Metrics::default().room(room)))
    }

    /// Somebody who joined at `joined_ms` is inside on these terms: counted once, however often they are told.
    pub fn entered(&self, proof: Proof, joined_ms: u64, terms: &Terms, now_ms: u64) {
        if terms.admitted_ms + FRESH_MS < now_ms {
            return;
        }
        let slot = &self.entered[(proof.number % REMEMBERED as u64) as usize];
        // Epochs are few and numbers below 2^53: no two of them look alike.
        let key = proof.number ^ proof.epoch.rotate_right(11);
        if slot.swap(key, Ordering::Relaxed) == key {
            return;
        }
        let seconds = terms.admitted_ms.saturating_sub(joined_ms) as f64 / 1_000.0;
        self.meters.waited(seconds);
        self.figure(WAITS.of(seconds));
        let mut mean = lock(&self.waits);
        mean.count += 1;
        mean.seconds += (seconds - mean.seconds) / mean.count.min(RECENT) as f64;
    }

    /// How long those waited who entered lately on this node, in seconds. `None`: nobody has.
    pub fn average_wait(&self) -> Option<f64> {
        let mean = lock(&self.waits);
        (mean.count > 0).then_some(mean.seconds)
    }

    /// Somebody is inside who has not waited, in a room with sessions of this length.
    pub fn came(&self, proof: Proof, terms: &Terms, session_ms: u64) {
        lock(&self.ghosts).entered(proof.epoch, proof.number, terms, session_ms);
    }

    /// Remembers what happens in a room, for as long as it is polled.
    pub async fn watch(self: Arc<Self>, room: Arc<Room>) {
        tokio::join!(self.sample_all(&room), self.follow_all(&room));
    }

    /// What each exchange tells.
    async fn follow_all(&self, room: &Room) {
        let mut news = room.news();
        loop {
            match news.recv().await {
                Ok(news) => self.follow(&news, room.now_ms()),
                // Whose turn came meanwhile is not judged.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return,
            }
        }
    }

    fn follow(&self, news: &News, now_ms: u64) {
        for kept in lock(&self.promises).follow(&news.before, &news.after, now_ms) {
            self.meters.foretold(kept.ratio, kept.range);
        }
        let epoch = news.after.counts().epoch;
        let ghosts = lock(&self.ghosts).ended(epoch, &news.ended, now_ms);
        self.figures[GHOSTS].fetch_add(ghosts, Ordering::Relaxed);
        self.meters.ghosts(ghosts);
    }

    /// The counters and what was counted, now and then.
    async fn sample_all(&self, room: &Room) {
        let mut sampled: Option<Instant> = None;
        loop {
            if room.heard_ago().is_some() && sampled.is_none_or(|at| at.elapsed() >= SAMPLE) {
                self.sample(*room.view().counts());
                sampled = Some(Instant::now());
            }
            let adaptive = room.view().settings().and_then(|settings| settings.adaptive);
            let target_ms = adaptive.map_or(0, |adaptive| adaptive.target_ms);
            let overdue = self.verdicts.overdue(target_ms);
            self.figures[SLOW].fetch_add(overdue, Ordering::Relaxed);
            let figures = self.take_figures();
            if !figures.is_empty() {
                room.count(&figures, adaptive.is_some());
            }
            sleep(if adaptive.is_some() { TELL_SOON } else { TELL }).await;
        }
    }

    fn sample(&self, counts: Counts) {
        let now = Instant::now();
        let mut samples = lock(&self.samples);
        // A new epoch counts from zero: what was before says nothing about it.
        if samples.back().is_some_and(|last| last.counts.epoch != counts.epoch) {
            samples.clear();
        }
        samples.push_back(Sample { at: now, counts });
        while samples.get(1).is_some_and(|next| next.at + HOUR <= now) {
            samples.pop_front();
        }
    }

    /// How much happened up to these counters.
    pub fn lately(&self, counts: &Counts) -> Lately {
        let now = Instant::now();
        let samples = lock(&self.samples);
        let same = |sample: &&Sample| sample.counts.epoch == counts.epoch;
        let ago = |span: Duration| {
            let later = samples.partition_point(|sample| sample.at + span <= now);
            samples.get(later.saturating_sub(1)).filter(same)
        };
        let (Some(first), Some(minute)) = (ago(HOUR), ago(MINUTE)) else {
            return Lately::default();
        };
        let since = |then: u64, now: u64| now.saturating_sub(then);
        let seconds = |sample: &Sample| (now - sample.at).max(SAMPLE).as_secs_f64();
        let an_hour = |then: u64, now: u64| since(then, now) as f64 * 3_600.0 / seconds(first);
        Lately {
            joins_per_second: since(minute.counts.issued, counts.issued) as f64 / seconds(minute),
            entered: since(first.counts.entered, counts.entered),
            abandoned_per_hour: an_hour(abandoned(&first.counts), abandoned(counts)),
            expired_per_hour: an_hour(expired(&first.counts), expired(counts)),
        }
    }
}

/// Nothing can panic while it is held.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::promises::Kept;
    use super::*;
    use crate::line::{Batch, Line, Moment, Offer, Pace, Rate, Settings, View};

    /// A line that a node hears of, without a store or a clock.
    pub(super) struct Told {
        line: Line,
        view: View,
        sequence: u64,
        pub(super) wall_ms: u64,
    }

    impl Told {
        /// So many a second.
        pub(super) fn new(per_second: u64) -> Told {
            let wall_ms = 1_800_000_000_000;
            let line = Line::founded(Moment { wall_ms, run: 1 });
            let mut told = Told { line, view: View::default(), sequence: 0, wall_ms };
            let rate = Rate { count: per_second, per_ms: 1_000 };
            let pace = Some(Pace::Rate { rate, burst: 1 });
            let settings = Settings { pace, ..Settings::default() };
            let offer = Some(Offer { version: 1, settings });
            told.with(&mut Promises::default(), |batch| batch.offer = offer);
            told
        }

        /// One exchange.
        pub(super) fn with(
            &mut self,
            promises: &mut Promises,
            edit: impl FnOnce(&mut Batch),
        ) -> Vec<Kept> {
            self.sequence += 1;
            let mut batch = self.view.greeting(7, self.sequence);
            batch.epoch = self.line.counts().epoch;
            edit(&mut batch);
            let moment = Moment { wall_ms: self.wall_ms, run: 1 };
            let reply = self.line.apply(&batch, moment).expect("a batch within bounds");
            let before = self.view.clone();
            self.view.absorb(&reply);
            batch.leaves.iter().for_each(|number| self.view.leave(*number));
            promises.follow(&before, &self.view, self.wall_ms)
        }
    }

    fn stats() -> Arc<Stats> {
        Stats::unread("sale")
    }

    fn terms(admitted_ms: u64) -> Terms {
        Terms { admitted_ms, issued_ms: admitted_ms, expires_ms: admitted_ms + 1_000, slot: 0 }
    }

    #[test]
    fn an_entry_is_one_however_often_it_is_told() {
        let stats = stats();
        assert_eq!(stats.average_wait(), None);
        let [ann, bob] = [1, 2].map(|number| Proof { epoch: 3, number });
        for _ in 0..5 {
            stats.entered(ann, 10_000, &terms(20_000), 20_100);
        }
        assert_eq!(stats.average_wait(), Some(10.0));
        stats.entered(bob, 10_000, &terms(40_000), 40_000);
        assert_eq!(stats.average_wait(), Some(20.0));
        stats.entered(Proof { epoch: 3, number: 9 }, 0, &terms(40_000), 46_000);
        assert_eq!(stats.average_wait(), Some(20.0), "told of before, elsewhere");
    }

    #[test]
    fn the_mean_is_that_of_lately() {
        let stats = stats();
        for number in 1..=5_000 {
            let wait = if number < 3_000 { 100_000 } else { 10_000 };
            stats.entered(Proof { epoch: 1, number }, 0, &terms(wait), wait);
        }
        let mean = stats.average_wait().expect("many");
        assert!((10.0..11.0).contains(&mean), "{mean}");
    }

    #[tokio::test(start_paused = true)]
    async fn what_happened_within_the_hour() {
        let stats = stats();
        let at = |minutes: u64| Counts {
            epoch: 1,
            issued: minutes * 120,
            entered: minutes * 60,
            inside: 10.min(minutes * 60),
            dropped: minutes,
            ..Counts::default()
        };
        assert_eq!(stats.lately(&at(5)), Lately::default(), "nothing is known yet");
        for minute in 0..180 {
            stats.sample(at(minute));
            advance(MINUTE).await;
        }
        let lately = stats.lately(&at(180));
        assert_eq!((lately.joins_per_second, lately.entered), (2.0, 3_600));
        assert_eq!((lately.abandoned_per_hour, lately.expired_per_hour), (60.0, 3_600.0));
        assert!(lock(&stats.samples).len() <= 62, "an hour is kept");
        let reset = Counts { epoch: 2, ..Counts::default() };
        assert_eq!(stats.lately(&reset), Lately::default());
        stats.sample(reset);
        assert_eq!(lock(&stats.samples).len(), 1);
    }
}
