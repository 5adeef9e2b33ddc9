//! What is measured while a run lasts.
//!
//! Owns counters and samples, bounded whatever the crowd: time is kept in at most 960 steps, estimates of at most 10,000 visitors.

use crate::line::{Batch, Counts, Eta, MARKS_LISTED, Reply};
use crate::page;

use super::report::{Point, Sample, Told};

/// Steps of time; twice as long ones when they are used up.
const STEPS: usize = 960;
/// Visitors whose estimates are compared with what became of them.
const WATCHED: u32 = 10_000;

/// Everything that is measured.
#[derive(Debug, Default)]
pub(super) struct Tally {
    step_ms: u32,
    steps: Vec<Point>,
    // While people waited.
    pub(super) contested_ms: u64,
    pub(super) contested_entries: u64,
    pub(super) set_turns: f64,
    entries: u64,
    last: Option<(u32, Counts)>,
    entries_then: u64,
    pub(super) peak_waiting: u64,
    pub(super) peak_inside: u64,
    // The store.
    pub(super) calls: u64,
    pub(super) failed: u64,
    second: u32,
    in_second: u64,
    pub(super) calls_peak: u64,
    pub(super) said_bytes: u64,
    pub(super) heard_bytes: u64,
    pub(super) busy_us: u64,
    pub(super) marks: u64,
    pub(super) store_bytes_peak: u64,
    pub(super) bitmap_bytes_peak: u64,
    // Estimates.
    stride: u32,
    watched: Vec<Vec<Promise>>,
    pub(super) at_joining: Vec<Told>,
    pub(super) while_waiting: Vec<Told>,
    pub(super) samples: Vec<Sample>,
    /// When operators changed the rate, and how many estimates that overtook.
    pub(super) changed_ms: Vec<u32>,
    pub(super) overtaken: u64,
}

/// What somebody was told.
#[derive(Clone, Copy, Debug)]
struct Promise {
    at_ms: u32,
    eta: Eta,
}

impl Tally {
    pub(super) fn new(visitors: u32) -> Tally {
        let stride = visitors.div_ceil(WATCHED).max(1);
        let watched = vec![Vec::new(); visitors.div_ceil(stride) as usize];
        Tally { step_ms: 1_000, stride, watched, ..Tally::default() }
    }

    /// The step of a moment, with all before it.
    fn step(&mut self, now_ms: u32) -> &mut Point {
        while now_ms / self.step_ms >= STEPS as u32 {
            self.step_ms *= 2;
            let pairs = self.steps.chunks(2);
            self.steps = pairs.map(|pair| pair[0].with(pair.get(1))).collect();
        }
        let at = (now_ms / self.step_ms) as usize;
        while self.steps.len() <= at {
            let last = self.steps.last();
            let (waiting, inside) = last.map_or((0, 0), |last| (last.waiting, last.inside));
            self.steps.push(Point { waiting, inside, ..Point::default() });
        }
        &mut self.steps[at]
    }

    pub(super) fn steps(self) -> (u32, Vec<Point>) {
        (self.step_ms, self.steps)
    }

    pub(super) fn arrived(&mut self, now_ms: u32) {
        self.step(now_ms).arrivals += 1;
    }

    pub(super) fn entered(&mut self, now_ms: u32) {
        self.entries += 1;
        self.step(now_ms).entries += 1;
    }

    /// An exchange is over. `rate` is what was set while it was due.
    pub(super) fn exchanged(&mut self, now_ms: u32, batch: &Batch, reply: &Reply, rate: f64) {
        let counts = reply.counts;
        self.calls += 1;
        if self.second != now_ms / 1_000 {
            (self.second, self.in_second) = (now_ms / 1_000, 0);
        }
        self.in_second += 1;
        self.calls_peak = self.calls_peak.max(self.in_second);
        self.said_bytes += said(batch);
        self.heard_bytes += heard(reply);
        self.busy_us += crate::room::work(batch).as_micros() as u64;
        self.marks += batch.marks.len() as u64;
        self.store_bytes_peak = self.store_bytes_peak.max(counts.store_bytes());
        self.peak_waiting = self.peak_waiting.max(counts.waiting);
        self.peak_inside = self.peak_inside.max(counts.inside);
        if let Some((then_ms, before)) = self.last {
            let span_ms = u64::from(now_ms - then_ms);
            if before.waiting > 0 && counts.waiting > 0 {
                self.contested_ms += span_ms;
                self.contested_entries += self.entries - self.entries_then;
                self.set_turns += rate * span_ms as f64 / 1_000.0;
            }
            let turns = counts.turns.saturating_sub(before.turns);
            self.step(now_ms).turns += turns;
        }
        let step = self.step(now_ms);
        (step.waiting, step.inside, step.rate) = (counts.waiting, counts.inside, rate);
        (self.last, self.entries_then) = (Some((now_ms, counts)), self.entries);
    }

    /// Whether somebody's estimates are looked at.
    pub(super) fn watches(&self, visitor: u32) -> bool {
        visitor.is_multiple_of(self.stride)
    }

    pub(super) fn told(&mut self, visitor: u32, at_ms: u32, eta: Eta) {
        self.watched[(visitor / self.stride) as usize].push(Promise { at_ms, eta });
    }

    /// Somebody's turn has come.
    pub(super) fn kept(&mut self, visitor: u32, now_ms: u32) {
        let promises = std::mem::take(&mut self.watched[(visitor / self.stride) as usize]);
        for (nth, promise) in promises.iter().enumerate() {
            // Nobody can tell what operators will do.
            if self.changed_ms.iter().any(|ms| (promise.at_ms..now_ms).contains(ms)) {
                self.overtaken += 1;
                continue;
            }
            let told = promise.against(now_ms);
            match nth {
                0 => {
                    self.at_joining.push(told);
                    self.samples.push(Sample {
                        joined: f64::from(promise.at_ms) / 1_000.0,
                        told: promise.eta.seconds as f64,
                        low: promise.eta.low as f64,
                        high: promise.eta.high as f64,
                        was: told.was,
                    });
                }
                _ => self.while_waiting.push(told),
            }
        }
    }
}

impl Promise {
    /// What was told beside what became of it: to the second, and as the page says it, in minutes.
    fn against(self, now_ms: u32) -> Told {
        let was = f64::from(now_ms - self.at_ms) / 1_000.0;
        let Eta { seconds, low, high } = self.eta;
        let within = |low: u64, high: u64| low as f64 - 1.0 <= was && was <= high as f64 + 1.0;
        let (from, to) = page::shown(low, high);
        Told {
            was,
            error: (seconds as f64 - was) / was.max(1.0),
            exact: within(low, high),
            right: within(from, to),
        }
    }
}

/// Bytes of a batch on its way to Redis: heads and lists as msgpack has them, more than 1,000 marks as bits.
fn said(batch: &Batch) -> u64 {
    let marks = match batch.marks.len() {
        count if count <= MARKS_LISTED => count as u64 * 5,
        _ => {
            let (low, high) = batch
                .marks
                .iter()
                .fold((u64::MAX, 0), |(low, high), mark| (low.min(*mark), high.max(*mark)));
            (high - low) / 8 + 1
        }
    };
    let report = batch.known.report.as_ref();
    let spans = report.map_or(0, |report| batch.known.issued / 4 + report.items() as u64 * 10);
    let offer = batch.offer.as_ref().map_or(0, |_| 400);
    let items = batch.items() as u64 * 5 + batch.renewals.len() as u64 * 9;
    HEAD_SAID + marks + items + spans + offer
}

/// Bytes of a reply: counters, answers, and what of the view is newer.
fn heard(reply: &Reply) -> u64 {
    let update = &reply.update;
    let bits =
        update.bits.as_ref().map_or(0, |bits| (bits.live.len() + bits.used.len()) as u64 * 8);
    let head = update.express.as_ref().map_or(0, |head| {
        (head.waiting.len() + head.strayed.len() + head.called.len()) as u64 * 10
    });
    let settings = update.settings.as_ref().map_or(0, |_| 400);
    let answers = reply.claims.len() + reply.renewals.len();
    HEAD_HEARD + bits + head + settings + update.ended.len() as u64 * 12 + answers as u64 * 28
}

/// Keys, script, counters of a call, and of its answer: as counted on a connection that says nothing.
const HEAD_SAID: u64 = 1_300;
const HEAD_HEARD: u64 = 300;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::{Join, Renewal, View};
    use crate::store::redis::wire;

    /// What is counted is near what the script's arguments really are.
    #[test]
    fn bytes_are_those_of_the_wire() {
        let lists = [(0, 0), (200, 900), (100, 5_000), (0, 100_000)];
        for (claims, marks) in lists {
            let batch = Batch {
                marks: (0..marks).map(|mark| 9_000_000 + 3 * mark).collect(),
                claims: (0..claims).map(|claim| 8_000_000 + claim).collect(),
                renewals: (0..claims / 4)
                    .map(|number| Renewal {
                        number: 7_000_000 + number,
                        admitted_ms: 1_800_000_000_000,
                        slot: 0,
                        extend: false,
                    })
                    .collect(),
                joins: vec![Join::Plain(1_000)],
                ..View::default().greeting(7, 1)
            };
            let call = wire::encode("sale", &batch, None).expect("a batch within bounds");
            let keys: usize = call.keys.iter().map(|key| key.len() + 10).sum();
            let args: usize = call.args.iter().map(|arg| arg.len() + 10).sum();
            let (counted, sent) = (said(&batch) as f64, (keys + args) as f64);
            assert!((counted / sent - 1.0).abs() < 0.25, "{claims} {marks}: {counted} of {sent}");
        }
    }
}
