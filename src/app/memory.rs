//! What visitors held while they were here is given back when they go.
//!
//! Owns that alone. Knows nothing of connections but how many places are free.
//!
//! The allocator hands pages back to the system that have been free for a second, but each thread its own, and only when it takes a fresh
//! one. On a node whose visitors have all gone none does, and what ten thousand of them held would stay until the next crowd comes. So every
//! worker takes one then: as many tasks as it needs for each to get some, each of which keeps its thread for a moment, so that the others are
//! left to the others.

use std::hint::black_box;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::sleep;

/// Longer than the allocator waits.
const PAUSE: Duration = Duration::from_millis(1_500);
/// So many have gone before it is worth a moment of every thread: a megabyte.
const WORTH: usize = 256;
/// More than any page holds: a fresh one is made for it. Nothing is written, so nothing of it is ever there.
const FRESH: usize = 8 << 20;
/// What is freed by a thread that does not own it is free a look later, and a busy thread may miss one.
const LOOKS: u32 = 4;
/// Tasks for each worker, and how long each keeps one: long enough for another to wake up, too short for a visitor to notice.
const TASKS: usize = 2;
const MOMENT: Duration = Duration::from_millis(1);

/// Looks, for as long as it is polled, whether places became free.
pub(super) async fn give_back(places: Arc<Semaphore>) {
    let (mut fewest, mut looks) = (places.available_permits(), 0);
    loop {
        sleep(PAUSE).await;
        let free = places.available_permits();
        if free >= fewest + WORTH {
            looks = LOOKS;
            fewest = free;
        }
        fewest = fewest.min(free);
        if looks > 0 {
            looks -= 1;
            for _ in 0..TASKS * Handle::current().metrics().num_workers() {
                tokio::spawn(async {
                    drop(black_box(Vec::<u8>::with_capacity(FRESH)));
                    thread::sleep(MOMENT);
                });
            }
        }
    }
}
