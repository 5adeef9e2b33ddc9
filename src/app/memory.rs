//! What visitors held while they were here is given back when they go.
//!
//! Owns that alone. Knows nothing of connections but how many places are free.
//!
//! In pages of the usual size: the kernel puts what the allocator has given back in parts together again to huge ones, so that a node that everybody
//! has left took more from hour to hour.
//!
//! The allocator hands pages back to the system that have been free for a second, but only when somebody takes a fresh one; and each thread
//! looks for what others have freed of its own once in ten thousand times that it takes something unusual. On a node whose visitors
//! have all gone nobody takes anything, and what ten thousand of them held would stay until the next crowd comes. So every worker takes
//! as much as that then, in small portions: two tasks for each, and each task keeps its thread for a moment, so that the others are left to
//! the others.

use std::hint::black_box;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::sleep;

/// A crowd that comes and goes in between is none.
const GLANCE: Duration = Duration::from_millis(250);
/// Between two looks: longer than the allocator waits.
const GLANCES: u32 = 6;
/// So many have gone before it is worth ten milliseconds of every thread: four megabytes.
const WORTH: usize = 1_000;
/// More than any page holds: a fresh one is made for it. Nothing is written, so nothing of it is ever there.
const FRESH: usize = 1 << 20;
/// What is freed by a thread that does not own it is free a look later, and a busy thread may miss one.
const LOOKS: usize = 6;
/// For each worker and look; how often each of them takes something; and how long it keeps its thread then: long enough for another one to
/// wake up, too short for a visitor to notice.
const TASKS: usize = 2;
const TAKES: usize = 1_500;
const MOMENT: Duration = Duration::from_millis(1);

/// No huge pages for this process. Where there are none nothing is to be done.
pub(super) fn keep_pages_small() {
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::disable_transparent_huge_pages(true);
}

/// Looks, for as long as it is polled, whether places became free.
pub(super) async fn give_back(places: Arc<Semaphore>) {
    let (mut fewest, mut looks) = (places.available_permits(), 0);
    for glance in (0..GLANCES).cycle() {
        sleep(GLANCE).await;
        let free = places.available_permits();
        if free >= fewest + WORTH {
            looks = LOOKS;
            fewest = free;
        }
        fewest = fewest.min(free);
        if looks > 0 && glance == 0 {
            looks -= 1;
            for _ in 0..TASKS * Handle::current().metrics().num_workers() {
                tokio::spawn(async {
                    for _ in 0..TAKES {
                        drop(black_box(Vec::<u8>::with_capacity(FRESH)));
                    }
                    thread::sleep(MOMENT);
                });
            }
        }
    }
}
