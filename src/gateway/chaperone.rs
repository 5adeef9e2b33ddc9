//! Whoever stays long is accompanied: an open WebSocket or a long response counts as activity, and ends
//! when the session does.
//!
//! Owns the renewals of a request that goes on and on. Knows nothing of what goes through it. Never polls: whoever accompanies sleeps
//! until a renewal is due, or the room has [news](crate::room::Vigil) of the visitor, or the request is over.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::decide::AFTERGLOW_MS;
use super::entrance::Entrance;
use super::forward::Admission;
use crate::line::{Claimed, Ending};
use crate::room::{Busy, Proof, Sitting};

/// What a completed visit may still take.
const AFTERGLOW: Duration = Duration::from_millis(AFTERGLOW_MS);
/// A seat is renewed this many times in its idle time.
const RENEWALS: u32 = 4;

/// A request that takes this long is accompanied, whatever it waits for: what was revoked ends within a second.
pub const LONG: Duration = Duration::from_millis(500);

/// Whether a request under way must end. One waits for it: whoever serves the request.
#[derive(Debug, Default)]
pub struct Watch {
    over: AtomicBool,
    waiting: Mutex<Option<Waker>>,
    /// Whose it is, once that is known.
    session: OnceLock<(Arc<Entrance>, Proof, Sitting)>,
    /// Whoever accompanies it, for as long as it is there.
    companion: OnceLock<AbortHandle>,
}

impl Watch {
    /// It must.
    fn close(&self) {
        self.over.store(true, Ordering::Release);
        if let Some(waiting) = self.waiting().take() {
            waiting.wake();
        }
    }

    /// It is theirs.
    pub fn introduce(&self, admission: &Admission) {
        let session = (admission.entrance.clone(), admission.proof, admission.sitting());
        // A request is one visitor's.
        let _ = self.session.set(session);
        if let Some(waiting) = self.waiting().take() {
            waiting.wake();
        }
    }

    /// Until it must. Somebody stays with whoever stays long.
    pub async fn over(self: &Arc<Watch>) {
        if timeout(LONG, self.closed()).await.is_ok() {
            return;
        }
        self.until(|watch| watch.is_closed() || watch.session.get().is_some()).await;
        if let Some((entrance, proof, sitting)) = self.session.get() {
            accompany(entrance, *proof, *sitting, self);
        }
        self.closed().await;
    }

    /// Whether it must.
    pub fn is_closed(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    /// Until it must.
    pub async fn closed(&self) {
        self.until(Watch::is_closed).await;
    }

    async fn until(&self, so: impl Fn(&Watch) -> bool) {
        poll_fn(|cx| {
            let mut waiting = self.waiting();
            // Looked at while nobody else can take the waker: who changes it comes before or after.
            if so(self) {
                return Poll::Ready(());
            }
            match &mut *waiting {
                Some(waker) => waker.clone_from(cx.waker()),
                none => *none = Some(cx.waker().clone()),
            }
            Poll::Pending
        })
        .await;
    }

    /// Nothing can panic while it is held, so a poisoned one is as good as any.
    fn waiting(&self) -> MutexGuard<'_, Option<Waker>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(companion) = self.companion.get() {
            companion.abort();
        }
    }
}

/// How a body comes along.
#[derive(Debug, Default)]
pub struct Progress {
    /// Parts so far.
    parts: AtomicU64,
    whole: AtomicBool,
}

impl Progress {
    /// Another part came; the last, if it is the `end`.
    pub fn step(&self, end: bool) {
        self.parts.fetch_add(1, Ordering::Relaxed);
        self.whole.fetch_or(end, Ordering::Relaxed);
    }
}

/// Ends a request whose body has stopped for this long: pingora has no such deadline for HTTP/2.
pub fn hurry(progress: &Arc<Progress>, patience: Duration, watch: &Arc<Watch>) {
    let (progress, watch) = (progress.clone(), Arc::downgrade(watch));
    tokio::spawn(async move {
        loop {
            let before = progress.parts.load(Ordering::Relaxed);
            sleep(patience).await;
            let Some(watch) = watch.upgrade() else { return };
            if progress.whole.load(Ordering::Relaxed) {
                return;
            }
            if progress.parts.load(Ordering::Relaxed) == before {
                return watch.close();
            }
        }
    });
}

/// Stays with a request until it is over, or its visitor's time is. One is enough.
pub fn accompany(entrance: &Arc<Entrance>, proof: Proof, sitting: Sitting, watch: &Arc<Watch>) {
    let (entrance, request) = (entrance.clone(), Arc::downgrade(watch));
    watch.companion.get_or_init(|| {
        let companion = tokio::spawn(async move {
            stay(&entrance, proof, sitting).await;
            if let Some(watch) = request.upgrade() {
                watch.close();
            }
        });
        companion.abort_handle()
    });
}

/// Until the visitor's time is over. Never keeps a view while it waits: each holds what the line was like then.
async fn stay(entrance: &Entrance, proof: Proof, sitting: Sitting) {
    let room = &entrance.room;
    let pause = pause(entrance);
    let vigil = room.vigil(proof.number);
    let mut renewed = Instant::now();
    let mut seated = renewed;
    loop {
        let news = vigil.news();
        let (void, ending) = {
            let view = room.view();
            (view.counts().epoch > proof.epoch, view.ending(proof.number))
        };
        match ending {
            // This node may be the last to hear that a session was resumed.
            None | Some(Ending::Idle) if !void => {}
            // The page that says thank you may finish, and its pictures.
            Some(Ending::Completed) if !void => return sleep(AFTERGLOW).await,
            _ => return,
        }
        if timeout_at(renewed + pause, news).await.is_ok() {
            continue;
        }
        renewed = Instant::now();
        match room.renew(proof, sitting).await {
            Ok(Claimed::Over(_) | Claimed::Stale) => return,
            // Another process speaks for the line now: a seat of which it hears nothing is not kept.
            Err(Busy::Dropped) if idle(entrance).is_some_and(|idle| seated.elapsed() >= idle) => {
                return;
            }
            Err(Busy::Dropped) => {}
            _ => seated = renewed,
        }
    }
}

/// For how long a seat is kept of which nothing is heard.
fn idle(entrance: &Entrance) -> Option<Duration> {
    let idle_ms = entrance.room.view().settings()?.session_idle_ms;
    idle_ms.map(Duration::from_millis)
}

/// Between two renewals.
fn pause(entrance: &Entrance) -> Duration {
    let view = entrance.room.view();
    let pause = idle(entrance).unwrap_or(Duration::from_secs(60)) / RENEWALS;
    // Another connection of theirs may close, here or elsewhere: this one says in time that it is open.
    entrance.slot_grace(&view).map_or(pause, |grace| pause.min(grace / (RENEWALS - 1)))
}

/// A connection that stays open, of somebody in a room with slots. When their last one on this node is gone, the line hears of it.
#[derive(Debug)]
pub struct Connected {
    entrance: Arc<Entrance>,
    proof: Proof,
}

impl Connected {
    /// One more; `None` where nobody asks.
    pub fn new(entrance: &Arc<Entrance>, proof: Proof) -> Option<Connected> {
        entrance.slot_grace(&entrance.room.view())?;
        entrance.connections().entry(proof.number).and_modify(|open| *open += 1).or_insert(1);
        Some(Connected { entrance: entrance.clone(), proof })
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        let number = self.proof.number;
        let last = {
            let mut connections = self.entrance.connections();
            let open = connections.get(&number).copied().unwrap_or(1);
            match open > 1 {
                true => _ = connections.insert(number, open - 1),
                false => _ = connections.remove(&number),
            }
            open <= 1
        };
        if last {
            self.entrance.room.hang_up(self.proof);
        }
    }
}
