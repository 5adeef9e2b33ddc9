//! The gateway beside nginx, HAProxy and bare pingora: CPU time a request, throughput, delays, memory.
//!
//! `make bench-gateway` prints the tables. Every server has one worker on the first core; wrk, with 64
//! connections, and the origin have the others. The servers take turns in short rounds, in another order each, so a
//! noisy neighbour hits all of them alike, and ratios are made within a round. The figure to look at is the server's own CPU time a request:
//! throughput here also depends on what else runs. All get the same requests, those of a browser.
//!
//! `make bench-gateway ONLY="admitted page"` measures these alone, of: admitted, form, page, status, join, delays, memory,
//! counts. The harness itself is built as the tests are, which is quick; what it measures, as users have it.
//!
//! A bound that is missed makes it fail, and is named at the end.
//!
//! Without `--bench`, as `cargo test` runs it, every server that is installed gets a few hundred requests, so that
//! this can't rot.

mod cases;
mod client;
mod counts;
mod idle;
mod load;
mod origin;
mod ours;
mod peers;
mod process;
mod requests;
mod second;
mod table;

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use idle::Way;
use load::{Amount, offer};
use ours::{Certificate, Node};
use process::{CORES, Core, allowed, command, is_full, is_installed};
use table::Table;

/// How much is done.
pub struct Extent {
    rounds: usize,
    amount: Amount,
    /// Waiting, in the two lines.
    waiting: [u32; 2],
    /// Requests of as many visitors are made beforehand.
    visitors: u64,
    /// Offered a second, each in turn until one is kept up with.
    offered: &'static [u64],
    /// How long.
    offering: Duration,
    /// Over so many connections.
    offerers: usize,
    /// Connections on which nothing is said.
    idle: usize,
    /// After so long a server has done what it does after an answer, or after a connection has gone.
    settled: Duration,
}

const FULL: Extent = Extent {
    rounds: 7,
    amount: Amount::Seconds(3),
    waiting: [100_000, 1_000_000],
    visitors: 1_024,
    offered: &[10_000, 7_500, 5_000, 2_500],
    offering: Duration::from_secs(10),
    offerers: 256,
    idle: 10_000,
    settled: Duration::from_millis(1_500),
};

const SMALL: Extent = Extent {
    rounds: 1,
    amount: Amount::Requests(25),
    waiting: [1_000, 2_000],
    visitors: 8,
    offered: &[100],
    offering: Duration::from_millis(200),
    offerers: 4,
    idle: 10,
    settled: Duration::from_millis(10),
};

fn main() -> ExitCode {
    let full = is_full();
    if full && std::env::var_os(CORES).is_none() {
        // Once more, away from the core where servers are measured, and with files enough.
        let own = std::env::current_exe().expect("a path");
        let mut again = command(Core::Others, &own.display().to_string());
        again.args(std::env::args().skip(1)).env(CORES, allowed().unwrap_or_default());
        let status = again.status().expect("ourselves");
        return if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    if full && !is_installed("wrk") {
        eprintln!("wrk is not installed: make bench-gateway does that");
        return ExitCode::FAILURE;
    }
    let folder = tempfile::tempdir().expect("a temporary directory");
    println!("{}\n", machine());
    let missed = measure(folder.path(), if full { &FULL } else { &SMALL });
    if missed.is_empty() {
        return ExitCode::SUCCESS;
    }
    eprintln!("missed:\n{}", missed.join("\n"));
    ExitCode::FAILURE
}

/// Measures all that is wanted: the bounds that were missed.
fn measure(folder: &Path, extent: &Extent) -> Vec<String> {
    let behind = peers::origin(folder);
    // Good enough for a few requests.
    let site = behind.as_ref().map_or_else(origin::start, |origin| origin.address);
    let certificate = Certificate::make(folder);
    let nodes = extent.waiting.map(|waiting| {
        Node::start(folder, &waiting.to_string(), site, waiting, Some(&certificate))
    });
    let joined = Node::start(folder, "joined", site, 1_000, None);
    let missed = cases::measure(folder, extent, site, &nodes, &joined);
    if is_wanted("delays") {
        println!("{}", delays(extent, &nodes[0], &joined));
    }
    if is_wanted("memory") {
        println!("{}", memory(folder, extent, site, &certificate));
    }
    if is_wanted("counts") {
        println!("{}", counts::table(folder, extent, &nodes[0]));
    }
    missed
}

/// Whether a part is to be measured: it was named, or none was.
pub fn is_wanted(part: &str) -> bool {
    let mut named =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).peekable();
    named.peek().is_none() || named.any(|name| name == part)
}

/// What this ran on.
fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let info = read("/proc/cpuinfo");
    let model = info.lines().find_map(|line| line.strip_prefix("model name"));
    let model = model.and_then(|line| line.split_once(": ")).map_or("unknown", |(_, name)| name);
    let cores = info.lines().filter(|line| line.starts_with("processor")).count();
    format!("{model}, {cores} cores, Linux {}", read("/proc/sys/kernel/osrelease").trim())
}

/// Makes the nth request.
type Nth<'a> = dyn Fn(usize) -> String + Sync + 'a;

/// How long visitors wait for an answer.
fn delays(extent: &Extent, node: &Node, joined: &Node) -> Table {
    let mut table = Table::new(["", "offered /s", "answered /s", "p50 ms", "p99 ms", "p99.9 ms"]);
    let tickets: Vec<String> =
        (0..extent.visitors).map(|nth| node.ticket(nth, extent.visitors, false)).collect();
    let polls: Vec<String> = tickets.iter().map(|cookie| requests::poll(cookie)).collect();
    let status = |nth: usize| polls[nth % polls.len()].clone();
    let (before, after) = requests::join();
    let page = |_: usize| requests::page(None);
    // Devices that nobody had before.
    let next = AtomicU64::new(500_000_000_000);
    let app = |_: usize| format!("{before}{:012}{after}", next.fetch_add(1, Ordering::Relaxed));
    let rows: [(&str, &Node, &Nth<'_>); 3] = [
        ("status poll", node, &status),
        ("a page that joins", joined, &page),
        ("an app that joins", joined, &app),
    ];
    for (name, node, request) in rows {
        for rate in extent.offered {
            let address = node.server.address;
            let delays = offer(address, &request, *rate, extent.offerers, extent.offering);
            let ms = |thousandth| format!("{:.2}", delays.at(thousandth).as_secs_f64() * 1e3);
            let (offered, reached) = (delays.offered.to_string(), format!("{:.0}", delays.reached));
            table.row([name.to_owned(), offered, reached, ms(500), ms(990), ms(999)]);
            if delays.reached >= 0.98 * *rate as f64 {
                break;
            }
        }
    }
    table
}

/// What waiting connections cost.
fn memory(
    folder: &Path,
    extent: &Extent,
    site: std::net::SocketAddr,
    certificate: &Certificate,
) -> Table {
    let head = format!("{} idle connections, KiB each", extent.idle);
    let mut table = Table::new([&head, "open", "after they have gone", "and 1,000 visitors later"]);
    let mut row = |name: &str, idle: idle::Idle| {
        let [open, after, later] =
            [idle.open, idle.after, idle.later].map(|each| format!("{each:.1}"));
        table.row([name.to_owned(), open, after, later]);
    };
    let ours = Node::start(folder, "idle", site, 100_000, Some(certificate));
    let page = requests::page(Some(&ours.ticket(1, 2, false)));
    let process = &ours.server.process;
    let plain = ours.server.address;
    row("anteroom, waiting", idle::measure(process, plain, extent, &page, &Way::Plain));
    if let Some(secure) = ours.secure {
        let page = requests::page(Some(&ours.ticket(1, 2, true)));
        for (name, way) in
            [("the same, TLS", Way::secure(certificate)), ("by HTTP/2", Way::second(certificate))]
        {
            row(name, idle::measure(process, secure, extent, &page, &way));
        }
    }
    let page = requests::page(None);
    for (name, peer) in [
        ("bare pingora, tuned", peers::pingora("tuned", site)),
        ("bare pingora, as it comes", peers::pingora("bare", site)),
        ("nginx, a file", peers::nginx_files(folder, &[b'x'; 4_096], b"x", true)),
    ] {
        if let Some(peer) = peer {
            row(name, idle::measure(&peer.process, peer.address, extent, &page, &Way::Plain));
        }
    }
    table
}
