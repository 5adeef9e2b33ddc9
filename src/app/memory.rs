//! What visitors held while they were here is given back when they go.
//!
//! Owns that alone. Knows nothing of connections but how many places are free.
//!
//! The allocator hands pages back to the system that have been free for a second, but only when somebody takes a fresh one. On a node
//! whose visitors have all gone nobody does, and what ten thousand of them held would stay until the next crowd comes.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::sleep;

/// Longer than the allocator waits.
const PAUSE: Duration = Duration::from_millis(1_500);
/// More than any page holds: a fresh one is made for it. Nothing is written, so nothing of it is ever there.
const FRESH: usize = 8 << 20;
/// What is freed by a thread that does not own it is free a look later.
const LOOKS: u32 = 3;

/// Looks, for as long as it is polled, whether places became free.
pub(super) async fn give_back(places: Arc<Semaphore>) {
    let (mut free, mut looks) = (places.available_permits(), 0);
    loop {
        sleep(PAUSE).await;
        let now = places.available_permits();
        if now > free {
            looks = LOOKS;
        }
        free = now;
        if looks > 0 {
            looks -= 1;
            drop(black_box(Vec::<u8>::with_capacity(FRESH)));
        }
    }
}
