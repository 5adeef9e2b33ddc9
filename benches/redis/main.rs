//! Lines in Redis beside the usual structure for one, and what was promised about them.
//!
//! `make bench-redis` prints one table (bytes, calls, CPU, the time of a call from 10,000 to 10 million waiting) and then
//! every figure that was promised: as it was measured, its bound, and whether it held. What a call takes is Redis'
//! own count of it (`INFO commandstats`), CPU is that of its process, bytes are `used_memory`: none of them depends on how
//! quick this program is. Bounds of a batch are the crate's, so this follows them. A bound that is missed makes it fail.
//! Without `--bench` everything is done small, so that this can't rot, and nothing is judged; without a redis-server it
//! says so.
//!
//! `make bench-redis ONLY="memory kinds"` measures these alone, of: table, memory, kinds or one of its scenes by name (draws,
//! longest, …), crowd.
//!
//! - [`server`]: a Redis of our own, and what it says about itself.
//! - [`node`]: what asks it: batches as a node sends them, by Redis' clock or by one that can be turned.
//! - [`usual`]: the usual structure.
//! - [`beside`]: the table.
//! - [`memory`], [`kinds`] with its scenes, [`crowd`]: the figures.
//! - [`figures`]: how they are told.

mod beside;
mod crowd;
mod figures;
mod kinds;
mod memory;
mod node;
mod server;
#[path = "../gateway/table.rs"]
#[allow(dead_code)]
mod table;
mod usual;

use std::process::ExitCode;

use anteroom::line::PLACES_MAX;
use figures::Figures;

/// How much is done.
struct Extent {
    /// Waiting, from few to many, in ours.
    lines: &'static [u64],
    /// Up to so many of them in the usual structure: ten million would be 6 GB.
    usual: u64,
    /// As many places as a line may have, or, small, some more than `lines`.
    places: u64,
    /// Inside, or with a device.
    people: u64,
    /// Times a figure is taken.
    rounds: u64,
    /// Joins a second that are offered, and for how long.
    crowd: crowd::Extent,
}

impl Extent {
    /// The longest line.
    fn waiting(&self) -> u64 {
        self.lines.iter().copied().max().unwrap_or_default()
    }
}

const FULL: Extent = Extent {
    lines: &[10_000, 100_000, 1_000_000, 10_000_000],
    places: PLACES_MAX,
    usual: 1_000_000,
    people: 100_000,
    rounds: 50,
    crowd: crowd::FULL,
};

const SMALL: Extent = Extent {
    lines: &[2_000, 40_000],
    places: 600_000,
    usual: 2_000,
    people: 2_000,
    rounds: 3,
    crowd: crowd::SMALL,
};

fn main() -> ExitCode {
    let full = std::env::args().any(|argument| argument == "--bench");
    let Some(version) = server::installed() else {
        println!("redis-server is not installed: left out. make bench-redis installs it");
        return ExitCode::SUCCESS;
    };
    println!("{version}\n");
    let extent = if full { &FULL } else { &SMALL };
    let mut figures = Figures::new(full);
    if is_wanted("table") {
        println!("{}", beside::table(extent, &mut figures));
    }
    if is_wanted("memory") {
        memory::measure(extent, &mut figures);
    }
    kinds::measure(extent, &mut figures, is_wanted);
    if is_wanted("crowd") {
        crowd::measure(extent, &mut figures);
    }
    println!("{figures}");
    if figures.is_missed() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Whether a part is to be measured: it was named, or none was.
fn is_wanted(part: &str) -> bool {
    let mut named =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).peekable();
    named.peek().is_none() || named.any(|name| name == part)
}
