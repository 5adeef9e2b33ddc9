//! What operators' looks cost a node: with a thousand waiting and with a million, and with a hundred rooms.
//!
//! The real program, its operators' port over loopback, and the CPU time that the system counts for it. `cargo test` runs it small,
//! so that it can't rot.

use std::io::{BufRead as _, BufReader};
use std::num::NonZeroU64;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anteroom::line::{Batch, Join, Mode, Offer, Settings};
use anteroom::store::{Embedded, Opening, Secret, Store as _};

const KEY: &str = "a-key-of-the-benches-that-may-do-everything";
const DAY_MS: u64 = 86_400_000;

fn main() {
    let whole = std::env::args().any(|argument| argument == "--bench");
    let (many, looks, rooms) = if whole { (1_000_000, 2_000, 100) } else { (10_000, 20, 10) };
    let directory = tempfile::tempdir().expect("a temporary directory");
    let [few, lots] = [1_000, many].map(|waiting| {
        let path = directory.path().join(format!("{waiting}.db"));
        fill(&path, waiting);
        Node::start(directory.path(), &format!("embedded:{}", path.display()), 1)
    });
    println!(
        "\n| look | CPU a look, 1,000 waiting | {many} waiting | ratio |\n|---|---:|---:|---:|"
    );
    let mut missed = 0;
    for path in [
        "/metrics",
        "/v1/rooms",
        "/v1/rooms/sale",
        "/v1/rooms/sale/history?minutes=60",
        "/v1/rooms/sale/line?limit=20",
    ] {
        // In turns, so that both meet the same machine.
        let (mut one, mut other) = (Vec::new(), Vec::new());
        for _ in 0..5 {
            one.push(few.cpu_of(path, looks / 5));
            other.push(lots.cpu_of(path, looks / 5));
        }
        let (one, other) = (median(one), median(other));
        let ratio = other / one.max(1e-3);
        println!("| `{path}` | {one:.0} µs | {other:.0} µs | {ratio:.2} |");
        // Which thread answers is a dozen microseconds either way; what grows with the line would be far beyond that.
        missed += u32::from(whole && ratio > 1.2 && other - one > 20.0);
    }
    drop((few, lots));
    let crowded = Node::start(directory.path(), "memory:", rooms);
    let took: Vec<f64> = (0..looks.min(200))
        .map(|_| {
            let began = Instant::now();
            crowded.look("/metrics");
            began.elapsed().as_secs_f64() * 1_000.0
        })
        .collect();
    let longest = took.iter().copied().fold(0.0, f64::max);
    let middle = median(took);
    println!(
        "| a scrape with {rooms} rooms | {middle:.1} ms (longest {longest:.1}) | ≤ 50 ms | |\n"
    );
    missed += u32::from(whole && middle > 50.0);
    if missed > 0 {
        println!("{missed} missed");
        std::process::exit(1);
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// A line of so many, in a file.
fn fill(path: &Path, waiting: u32) {
    let clock = Arc::new(anteroom::clock::now_ms);
    let opening = Opening { clock, run: NonZeroU64::MIN, secret: Secret([7; 32]) };
    let store = Embedded::open(path, opening).expect("a new store");
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let (mode, heartbeat_timeout_ms) = (Mode::Hold, DAY_MS);
    let settings =
        Settings { mode, max_waiting: None, heartbeat_timeout_ms, ..Settings::default() };
    let offer = Some(Offer { version: 0, settings });
    let joins = vec![Join::Plain(waiting)];
    let first = Batch { node: 1, sequence: 1, offer, ..Batch::default() };
    let epoch = runtime.block_on(store.exchange("sale", first)).expect("an answer").counts.epoch;
    let second = Batch { node: 1, sequence: 2, epoch, joins, ..Batch::default() };
    runtime.block_on(store.exchange("sale", second)).expect("an answer");
    store.close().expect("a clean stop");
}

/// A running node, killed when it is dropped.
struct Node {
    child: Child,
    admin: String,
    agent: ureq::Agent,
}

impl Node {
    fn start(directory: &Path, store: &str, rooms: usize) -> Node {
        let mut config = format!(
            "listen = [\"127.0.0.1:0\"]\n[store]\nurl = \"{store}\"\n[log]\nformat = \"json\"\n\
             [admin]\nlisten = \"127.0.0.1:0\"\nkeys = [{{ name = \"bench\", key = \"{KEY}\", role = \"admin\" }}]\n\
             [origins.site]\nservers = [\"127.0.0.1:9\"]\nhealth_interval = \"1h\"\n"
        );
        for nth in 0..rooms {
            let name = if nth == 0 { "sale".to_owned() } else { format!("room-{nth}") };
            config += &format!(
                "[rooms.{name}]\norigin = \"site\"\nhosts = [\"{name}.test\"]\nmode = \"hold\"\nmax_waiting = \"none\"\n\
                 heartbeat_timeout = \"24h\"\n"
            );
        }
        let path = directory.join("anteroom.toml");
        std::fs::write(&path, config).expect("space for it");
        let mut child = Command::new(env!("CARGO_BIN_EXE_anteroom"))
            .args(["serve", "-c"])
            .arg(&path)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let lines = BufReader::new(child.stdout.take().expect("its log")).lines();
        let mut lines = lines.map_while(Result::ok);
        let admin = lines
            .by_ref()
            .filter_map(|line| serde_json::from_str::<serde_json::Value>(&line).ok())
            .find(|line| line["protocol"] == "admin")
            .expect("it listens");
        let admin = format!("http://{}", admin["address"].as_str().expect("an address"));
        std::thread::spawn(move || lines.for_each(drop)); // or it would wait for a reader
        let agent = ureq::Agent::new_with_defaults();
        let node = Node { child, admin, agent };
        let until = Instant::now() + Duration::from_secs(30);
        while !node.look("/v1/rooms").contains("\"view_age_seconds\":0") {
            assert!(Instant::now() < until, "it never heard of its store");
            std::thread::sleep(Duration::from_millis(50));
        }
        node
    }

    fn look(&self, path: &str) -> String {
        let request = self.agent.get(format!("{}{path}", self.admin));
        let answer = request.header("Authorization", format!("Bearer {KEY}")).call();
        answer.expect("an answer").body_mut().read_to_string().expect("text")
    }

    /// Microseconds of CPU that a look costs the node.
    fn cpu_of(&self, path: &str, looks: u32) -> f64 {
        let before = self.cpu();
        (0..looks).for_each(|_| drop(self.look(path)));
        (self.cpu() - before) * 1e6 / f64::from(looks)
    }

    /// Seconds of CPU so far, from the scheduler's own count in nanoseconds.
    fn cpu(&self) -> f64 {
        let tasks = format!("/proc/{}/task", self.child.id());
        let each = std::fs::read_dir(tasks).expect("its threads").filter_map(Result::ok);
        let spent = |task: std::fs::DirEntry| {
            let text = std::fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
            text.split(' ').next().and_then(|first| first.parse::<f64>().ok()).unwrap_or(0.0)
        };
        each.map(spent).sum::<f64>() / 1e9
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
