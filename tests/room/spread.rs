//! How old what a node tells may be: the bound that is exported is the one that is reached, to some milliseconds.

use std::collections::HashMap;

use anteroom::room::{SPREAD, SPREAD_LOSING};
use tokio::time::Instant;

use super::*;

/// The longest an answer may take and still be one.
const SLOWEST: Duration = Duration::from_millis(1_499);
/// Who is at the head of the line is told once a second: here is nobody.
const HEAD: Duration = Duration::from_secs(1);
/// Waiting is measured in milliseconds, and each of a few waits may be one longer.
const SLACK: Duration = Duration::from_millis(10);

/// Does at once what it is asked and takes as long as it may to say so; and notes when it did it.
struct Slow {
    line: Mutex<Line>,
    began: Instant,
    /// By the line's clock, which moves with every exchange.
    applied: Mutex<HashMap<u64, Instant>>,
    /// From now on it says nothing.
    mute: AtomicU64,
}

impl Slow {
    fn apply(&self, batch: &Batch) -> Reply {
        let wall_ms = START_MS + self.began.elapsed().as_millis() as u64;
        let mut line = self.line.lock().expect("not poisoned");
        let reply = line.apply(batch, Moment { wall_ms, run: 1 }).expect("a good batch");
        let mut applied = self.applied.lock().expect("not poisoned");
        applied.entry(reply.counts.clock_ms).or_insert_with(Instant::now);
        reply
    }
}

impl Store for Slow {
    fn exchange<'a>(
        &'a self,
        _: &'a str,
        batch: Batch,
    ) -> BoxFuture<'a, Result<Reply, StoreError>> {
        Box::pin(async move {
            if self.mute.load(Ordering::SeqCst) > 0 {
                std::future::pending::<()>().await;
            }
            let reply = self.apply(&batch);
            tokio::time::sleep(SLOWEST).await;
            Ok(reply)
        })
    }

    fn find<'a>(
        &'a self,
        room: &'a str,
        question: Question,
    ) -> BoxFuture<'a, Result<Found, StoreError>> {
        let _ = room;
        Box::pin(async move { Ok(question.nothing()) })
    }
}

/// The oldest that was told to somebody in line, until `over`.
async fn oldest(store: &Slow, room: &Room, over: impl Fn() -> bool) -> Duration {
    let mut oldest = Duration::ZERO;
    while !over() {
        let told = room.view().counts().clock_ms;
        let since = store.applied.lock().expect("not poisoned")[&told];
        oldest = oldest.max(since.elapsed());
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    oldest
}

/// A room with somebody in line, and a store as slow as may be.
fn with_slow(work: impl AsyncFnOnce(Arc<Slow>, Arc<Room>)) {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build().expect("a runtime");
    runtime.block_on(async {
        let store = Arc::new(Slow {
            line: Mutex::new(Line::founded(Moment { wall_ms: START_MS, run: 1 })),
            began: Instant::now(),
            applied: Mutex::default(),
            mute: AtomicU64::new(0),
        });
        let room = Arc::new(Room::new("sale", 7, hold()));
        let (driven, asked) = (room.clone(), store.clone());
        let driver = tokio::spawn(async move { driven.drive(&*asked).await });
        number(room.join(None).await);
        work(store, room).await;
        driver.abort();
    });
}

#[test]
fn what_is_told_is_as_old_as_the_spread_at_most() {
    with_slow(async |store, room| {
        let until = Instant::now() + Duration::from_secs(60);
        let oldest = oldest(&store, &room, || Instant::now() > until).await;
        let bound = SPREAD - HEAD;
        assert!(oldest <= bound, "{oldest:?} is more than {bound:?}");
        assert!(oldest + SLACK >= bound, "{oldest:?}: a bound of {bound:?} is too careful");
        assert!(!room.is_away());
    });
}

#[test]
fn a_node_that_loses_its_store_tells_nothing_older_before_it_says_so() {
    with_slow(async |store, room| {
        // The last answer before it falls silent has just come, and was as old as may be.
        let told = room.view().counts().clock_ms;
        until(|| room.view().counts().clock_ms > told).await;
        store.mute.store(1, Ordering::SeqCst);
        let oldest = oldest(&store, &room, || room.is_away()).await;
        let bound = SPREAD_LOSING - HEAD;
        assert!(oldest <= bound, "{oldest:?} is more than {bound:?}");
        assert!(oldest + SLACK >= bound, "{oldest:?}: a bound of {bound:?} is too careful");
    });
}
