//! The conversation with the store: one exchange at a time, paced by what there is to say.
//!
//! Owns the sequence and the timing. Never gives up on a batch: it is sent until it is answered.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use super::said::Said;
use super::{Proof, Room};
use crate::clock;
use crate::line::{
    Batch, Claimed, Counts, Done, Known, MARKS_LISTED, MAX_STEPS, MAX_TOLD, Reply, Report, Taken,
    View,
};
use crate::store::{Store, StoreError};

/// Between two exchanges at least: 200 a second are enough for anybody, and what a crowd says in 5 ms is
/// one batch. More if there is much to say or many nodes say it: see [`pause`].
const PAUSE: Duration = Duration::from_millis(5);
/// What an exchange takes of a Redis on a quiet core, measured with 3,000,000 waiting: one that says nothing, and each
/// item that needs a command of its own, of the dearest kind (claims all over the line, joins with a device and a user).
const EXCHANGE: Duration = Duration::from_micros(200);
const ITEM: Duration = Duration::from_micros(25);
/// And each mark that is listed; more are a bitmap, which takes no longer than the longest list.
const MARK: Duration = Duration::from_micros(2);
/// Between two exchanges at most while anybody waits or is inside: a quarter of what the room's clock takes
/// for an outage. Marks are said no more often.
pub(crate) const BEAT: Duration = Duration::from_millis(500);
/// And when nobody is there: less than the room's clock may move at once (2 s), or it would run slow, and
/// limits and rates with it; and less than the second in which an operator's change is to be on every node.
pub(crate) const IDLE: Duration = Duration::from_millis(900);
/// Nobody is there if nobody has asked for this long.
const QUIET: Duration = Duration::from_secs(10);
/// How long the store may take to answer: longer than any exchange takes, and three times that is less than visitors
/// are let wait.
const DEADLINE: Duration = Duration::from_millis(1_500);
/// Who is at the head of the line, and whom it called from there, is told once a second.
const HEAD: Duration = Duration::from_secs(1);
/// How old what a node tells may be while its store answers: the way back of the answer it tells from, the time until it asks
/// again, and the whole of the next exchange, with what is told less often. So much may lie between two nodes: somebody may
/// be told to wait for so long after one node has called somebody behind them. The line itself knows one order.
pub const SPREAD: Duration = HEAD
    .saturating_add(DEADLINE)
    // The pause is a part of it, however many nodes speak.
    .saturating_add(BEAT)
    .saturating_add(DEADLINE);
/// The same for a node that loses its store: it tells what it knew until it has failed `FAILURES` times. Then it is
/// away, and tells nobody to wait for a turn.
pub const SPREAD_LOSING: Duration = SPREAD
    .saturating_add(DEADLINE.saturating_mul(FAILURES - 1))
    .saturating_add(RETRY.saturating_mul(2_u32.pow(FAILURES - 1) - 1));
/// Errors, or answers that did not come, after which the store is away. One may be a connection that broke, two a
/// failover.
const FAILURES: u32 = 3;
/// Between two tries at a store that does not answer: at first, and at most. A store that is back is noticed within a second,
/// and one that is struggling is not asked more often than a quiet one.
const RETRY: Duration = Duration::from_millis(100);
const RETRY_MAX: Duration = Duration::from_secs(1);

impl Room {
    /// Talks to the store for as long as it is polled. A room has one driver on a node.
    pub async fn drive(&self, store: &dyn Store) {
        let mut asked = Instant::now();
        loop {
            let said = self.desk().take();
            if said.is_asked() {
                asked = Instant::now();
            }
            let work = work(&said.batch);
            let more = self.converse(store, said).await;
            self.find();
            let counts = *self.view.load().counts();
            let pause = rest(work, &counts);
            sleep(pause).await;
            if more || !self.desk().is_empty() {
                continue; // More than one exchange could do, or one batch carry.
            }
            let anybody = counts.waiting + counts.admitted + counts.inside > 0;
            let beat = if anybody || asked.elapsed() < QUIET { BEAT } else { IDLE };
            let _ = timeout(beat - pause, self.said.notified()).await;
        }
    }

    /// One batch, until the line has taken it; whether there is more to do, or to hear.
    async fn converse(&self, store: &dyn Store, mut said: Said) -> bool {
        // Of the memory that asks for them.
        let mut reports: Option<(u64, VecDeque<Report>)> = None;
        loop {
            self.address(&mut said.batch);
            let Some(reply) = self.exchange(store, &mut said).await else { return false };
            self.absorb(&reply, &said.batch);
            match reply.taken {
                Taken::Applied | Taken::Repeated => {
                    if said.batch.wants > 0 {
                        self.receive(&reply.letters);
                    }
                    if is_of_before_a_draw(&said.batch, &reply) {
                        self.desk().say_again(&mut said);
                    }
                    let unwanted = said.told(&reply);
                    self.desk().leave_again(reply.counts.epoch, unwanted);
                    return reply.counts.backlog || reply.update.ended.len() >= MAX_TOLD;
                }
                // Never, while a room has one driver; asked again it would be as before.
                Taken::Superseded => return false,
                Taken::Unconfigured => {
                    if said.batch.offer.is_some() {
                        sleep(BEAT).await; // It was refused, and would be again.
                    }
                    said.batch.offer = Some(self.desk().standing_offer());
                }
                Taken::Settling { left_ms } => {
                    said.batch.offer = Some(self.desk().standing_offer());
                    let (_, parts) = match &mut reports {
                        Some(parts) if parts.0 == reply.run => parts,
                        none => {
                            let parts = self.view.load().report().parts(self.node);
                            none.insert((reply.run, parts.into()))
                        }
                    };
                    let report = parts.pop_front();
                    let work = items(report.as_ref().map_or(0, Report::items));
                    said.batch.known.report = report.map(Box::new);
                    let left = Duration::from_millis(left_ms).clamp(PAUSE, BEAT);
                    let next = pause(EXCHANGE + work, self.view.load().counts().nodes);
                    sleep(if parts.is_empty() { left } else { next }).await;
                }
            }
        }
    }

    /// Says who speaks, and what this node knows by now.
    fn address(&self, batch: &mut Batch) {
        let view = self.view.load();
        let Proof { epoch, number } = self.desk().proof();
        let report = batch.known.report.take();
        let mut known = view.known();
        if epoch > known.epoch {
            known = Known { epoch, issued: number, ..Known::default() };
        } else if epoch == known.epoch {
            known.issued = known.issued.max(number);
        }
        batch.known = Known { report, ..known };
        (batch.node, batch.have) = (self.node, view.have());
        batch.lot = self.lot(&view);
    }

    /// The same batch until the store answers; `None` if it never will. After [`FAILURES`] in a row nobody
    /// waits for that any more.
    async fn exchange(&self, store: &dyn Store, said: &mut Said) -> Option<Reply> {
        let since = Instant::now();
        let (mut failures, mut outgrown) = (0, false);
        loop {
            let asked = timeout(DEADLINE, store.exchange(&self.name, said.batch.clone())).await;
            let error = match asked {
                Ok(Ok(reply)) => return Some(reply),
                Ok(Err(error @ (StoreError::Room { .. } | StoreError::Batch(_)))) => {
                    tracing::error!(event = "store.refused", event_id = self.name, %error, "a batch was refused and is dropped");
                    return None;
                }
                Ok(Err(error)) => {
                    outgrown = matches!(error, StoreError::NewerLayout { .. });
                    error.to_string()
                }
                Err(_) => format!("no answer in {} ms", DEADLINE.as_millis()),
            };
            tracing::debug!(
                event = "store.silent",
                event_id = self.name,
                error,
                "the store did not answer"
            );
            failures += 1;
            if failures >= FAILURES {
                self.lose(since, &error, outgrown, said);
            }
            sleep((RETRY * 2_u32.pow(failures.min(5) - 1)).min(RETRY_MAX)).await;
        }
    }

    fn absorb(&self, reply: &Reply, batch: &Batch) {
        let ahead_ms = reply.wall_ms.cast_signed() - clock::now_ms().cast_signed();
        self.ahead_ms.store(ahead_ms, Ordering::Relaxed);
        self.note_heard();
        let mut view = View::clone(&self.view.load());
        view.absorb(reply);
        if batch.epoch == reply.counts.epoch {
            let done = batch.leaves.iter().zip(&reply.leaves);
            done.filter(|(_, done)| **done == Done::Freed)
                .for_each(|(number, _)| view.leave(*number));
        }
        let mut desk = self.desk();
        desk.enter_epoch(view.counts().epoch);
        desk.enter_draw(view.drawn());
        if matches!(reply.taken, Taken::Applied | Taken::Repeated) {
            if batch.epoch == reply.counts.epoch {
                desk.memo.heard(batch, reply);
            }
            if self.is_away() {
                desk.memo.vouch(&view);
            }
        }
        view.hold(desk.memo.held());
        if let Some(settings) = view.settings() {
            desk.turn_period(Duration::from_millis(settings.period_ms()));
        }
        drop(desk);
        self.share.follow(&view);
        self.publish(Arc::new(view), reply);
    }
}

/// Whether a batch was made before a draw of which the line knew, and so was not taken but for its newcomers and orders.
fn is_of_before_a_draw(batch: &Batch, reply: &Reply) -> bool {
    let Reply { leaves, ends, spends, renewals, returns, vouched, claims, .. } = reply;
    let done = leaves.iter().chain(ends).chain(spends).all(|done| *done == Done::Stale);
    let claimed = renewals.iter().chain(returns).chain(vouched).chain(claims);
    batch.epoch == reply.counts.epoch
        && batch.draw < reply.counts.draw
        && done
        && claimed.clone().all(|claimed| *claimed == Claimed::Stale)
}

/// What so many items take of a Redis.
fn items(count: usize) -> Duration {
    ITEM.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX))
}

/// What a batch takes of it: by what is said, not by how long the answer takes. A slow link is no load.
pub(crate) fn work(batch: &Batch) -> Duration {
    let marks = batch.marks.len().min(MARKS_LISTED) as u32;
    EXCHANGE.saturating_add(items(batch.items())).saturating_add(MARK * marks)
}

/// How long a node is silent after an exchange: what it said, and what the line did beside it.
pub(crate) fn rest(work: Duration, counts: &Counts) -> Duration {
    let duties = if counts.backlog { MAX_STEPS } else { 0 };
    pause(work.saturating_add(items(duties)), counts.nodes)
}

/// How long a node is silent after an exchange of so much work: twice as long as the store is busy if every node says as much, so
/// that a room keeps a Redis busy for a third of the time at most. Never longer than the room's clock may wait.
fn pause(work: Duration, nodes: u64) -> Duration {
    let nodes = u32::try_from(nodes.max(1)).unwrap_or(u32::MAX);
    work.saturating_mul(2).saturating_mul(nodes).clamp(PAUSE, BEAT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::{MAX_BULK, MAX_ITEMS};

    /// What a batch with so many claims and marks takes.
    fn batch(claims: usize, marks: usize) -> Duration {
        let (claims, marks) = (vec![1; claims], vec![1; marks]);
        work(&Batch { claims, marks, ..Batch::default() })
    }

    #[test]
    fn the_pause_grows_with_what_was_said_and_with_who_else_speaks() {
        assert_eq!(pause(batch(0, 0), 0), PAUSE, "before anything is known");
        assert_eq!(pause(batch(0, 0), 1), PAUSE);
        assert_eq!(pause(batch(80, 0), 1), PAUSE, "200 µs and 80 times 25 µs, twice");
        assert_eq!(pause(batch(100, 0), 1), Duration::from_micros(5_400));
        assert_eq!(pause(batch(100, 0), 10), Duration::from_micros(54_000));
        assert_eq!(pause(batch(100, 500), 10), Duration::from_micros(74_000), "marks count, too");
        let twenty = Duration::from_micros(8_000);
        assert_eq!(pause(batch(0, 0), 20), twenty, "twenty that have nothing to say");
        let bitmap = batch(0, MAX_BULK as usize);
        assert_eq!(bitmap, batch(0, MARKS_LISTED), "a bitmap takes as long as the longest list");
        let all = batch(MAX_ITEMS, MARKS_LISTED);
        assert_eq!(pause(all, 1_000), BEAT, "nobody waits longer for their turn");
        assert_eq!(pause(items(usize::MAX), u64::MAX), BEAT);
        for (claims, marks, nodes) in [(MAX_ITEMS, 0, 1), (MAX_ITEMS, 1_000, 8), (50, 9, 30)] {
            let busy = batch(claims, marks) * nodes as u32;
            let share =
                busy.as_secs_f64() / (pause(batch(claims, marks), nodes) + busy).as_secs_f64();
            assert!(share < 0.34, "{claims} claims, {marks} marks of {nodes} nodes: {share}");
        }
    }
}
