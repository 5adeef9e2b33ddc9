//! What the line does by itself, as the log tells it: turns it gives (`queue.called`), sessions whose time is over, turns that
//! nobody took and visitors who fell silent (`queue.status_changed`).
//!
//! Owns who tells it, and how much of it. All nodes see the same in their views, and none knows in whose exchange it happened.
//! So it is told by one: the node that did the line's last [sweep](crate::line), which every view names. It tells what changed since its own
//! last exchange, so nothing is missing where one node follows another, and what happened within that moment may be told by
//! both: `upto` and `turns` show it. Before the first sweep of a new line every node tells. A node that ends while it is the one
//! takes along what would be told until the next sweep, half of `heartbeat_timeout` at most. All others tell the same at level
//! debug. A store of one node's own has but one.
//!
//! What ended by somebody's word is told where it was said ([`chronicle::changed`](super::chronicle::changed)), and not again here.
//!
//! Turns are one line a moment, however many: nobody wants a line for each of ten thousand. Ends of sessions have a line
//! each, up to a bound, and one for the rest; for turns not taken and places fallen silent there are only numbers.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::sleep;

use super::entrance::Entrance;
use crate::line::{Counts, Ending, MAX_TOLD, Number, OnAbsence, Reason, Settings};
use crate::page::reason_code;
use crate::room::{News, Room};

/// What happens within so long is told together.
const MOMENT: Duration = Duration::from_millis(200);
/// Ends that have a line of their own, in a moment.
const MAX_NAMED: usize = 50;

/// At info by the one who tells, at debug by all others.
macro_rules! tell {
    ($first:expr, $($field:tt)+) => {
        match $first {
            true => tracing::info!($($field)+),
            false => tracing::debug!($($field)+),
        }
    };
}

/// Writes down what happens in a room.
pub struct Scribe {
    room: Arc<Room>,
    /// As visitors meet it now: a reload makes another.
    entrance: ArcSwapOption<Entrance>,
    /// No other node speaks for the room.
    alone: bool,
}

/// What is known, and told.
#[derive(Default)]
struct Known {
    counts: Counts,
    /// Sessions that ended before this node came are no news: until the first exchange that could tell of all there are.
    caught_up: bool,
}

impl Scribe {
    /// Of a room that no other node speaks for, or of one that others may.
    pub fn new(room: Arc<Room>, alone: bool) -> Scribe {
        Scribe { room, entrance: ArcSwapOption::empty(), alone }
    }

    /// The room as visitors meet it from now on.
    pub fn follow(&self, entrance: Arc<Entrance>) {
        self.entrance.store(Some(entrance));
    }

    /// Writes for as long as it is polled; not at all if nobody would read it.
    pub async fn write(self: Arc<Self>) {
        if !tracing::enabled!(tracing::Level::INFO) {
            return;
        }
        let mut news = self.room.news();
        let mut known = Known::default();
        while let Some(batch) = gathered(&mut news).await {
            self.tell(&batch, &mut known);
        }
    }

    fn tell(&self, news: &[Arc<News>], known: &mut Known) {
        let Some(last) = news.last() else { return };
        let is = *last.after.counts();
        let was = known.before(news, is.epoch);
        let caught_up = known.caught_up;
        known.caught_up |= all_told(news);
        known.counts = is;
        let Some(entrance) = self.entrance.load_full() else { return };
        let first = self.alone || self.room.is_first(&is);
        called(&entrance, first, &was, &is);
        if caught_up {
            let ended: Vec<_> = news.iter().flat_map(|news| &news.ended).copied().collect();
            expired(&entrance, first, is.epoch, &ended);
        }
        missed(&entrance, first, (&was, &is), last.after.settings());
    }
}

impl Known {
    /// The counters that were told last. Of a generation that is over nothing more is told, and the next one counts from zero; what
    /// was before this node came is no news.
    fn before(&self, news: &[Arc<News>], epoch: u64) -> Counts {
        if self.counts.epoch == epoch {
            return self.counts;
        }
        let first =
            news.iter().map(|news| news.after.counts()).find(|counts| counts.epoch == epoch);
        match first.filter(|_| self.counts.epoch == 0) {
            Some(first) => *first,
            None => Counts { epoch, ..Counts::default() },
        }
    }
}

/// The next exchange, and those that follow it within a moment. `None`: nobody speaks for the room any more.
async fn gathered(news: &mut Receiver<Arc<News>>) -> Option<Vec<Arc<News>>> {
    let first = loop {
        match news.recv().await {
            Ok(first) => break first,
            // The counters of the next one tell of these, too.
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return None,
        }
    };
    let mut batch = vec![first];
    sleep(MOMENT).await;
    while let Ok(more) = news.try_recv() {
        batch.push(more);
    }
    Some(batch)
}

/// Whether one of these exchanges left none of what had ended for the next.
fn all_told(news: &[Arc<News>]) -> bool {
    news.iter().any(|news| news.ended.len() < MAX_TOLD)
}

fn called(entrance: &Entrance, first: bool, was: &Counts, is: &Counts) {
    if is.turns <= was.turns {
        return;
    }
    tell!(
        first,
        event = "queue.called",
        event_id = entrance.room.name(),
        count = is.turns - was.turns,
        after = was.released,
        upto = is.released,
        turns = is.turns,
        waiting = is.waiting,
    );
}

/// Sessions whose time is over.
fn expired(entrance: &Entrance, first: bool, epoch: u64, ended: &[(Number, Ending)]) {
    let by_time = |(_, why): &&(Number, Ending)| matches!(why, Ending::Idle | Ending::Capped);
    for (number, why) in ended.iter().filter(by_time).take(MAX_NAMED) {
        tell!(
            first,
            event = "queue.status_changed",
            event_id = entrance.room.name(),
            queue_ref = entrance.keys.reference(epoch, *number),
            number,
            status = "expired",
            reason = reason_code(Reason::Ended(*why)),
        );
    }
    let more = ended.iter().filter(by_time).skip(MAX_NAMED);
    let (mut idle, mut capped) = (0, 0);
    for (_, why) in more {
        *if *why == Ending::Idle { &mut idle } else { &mut capped } += 1;
    }
    counted(entrance, first, "expired", reason_code(Reason::Ended(Ending::Idle)), idle);
    counted(entrance, first, "expired", reason_code(Reason::Ended(Ending::Capped)), capped);
}

/// Turns that nobody took, and places that fell silent.
fn missed(
    entrance: &Entrance,
    first: bool,
    (was, is): (&Counts, &Counts),
    settings: Option<&Settings>,
) {
    let removed = settings.is_some_and(|settings| settings.on_absence == OnAbsence::Remove);
    let silent = if removed { "expired" } else { "away" };
    let since = |then: u64, now: u64| now.saturating_sub(then);
    counted(entrance, first, "expired", "no_show", since(was.no_shows, is.no_shows));
    counted(entrance, first, silent, "silent", since(was.dropped, is.dropped));
}

fn counted(entrance: &Entrance, first: bool, status: &str, reason: &str, count: u64) {
    if count > 0 {
        tell!(
            first,
            event = "queue.status_changed",
            event_id = entrance.room.name(),
            status,
            reason,
            count,
        );
    }
}
