//! Load, and what it cost: wrk for measuring, our own client for a handful of requests.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::client::{Ask as _, Client};
use super::process::{Core, Process, command};

/// One run against one server.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// CPU time of the server for one request, in microseconds.
    pub micros: f64,
    /// Requests a second.
    pub rate: f64,
}

/// How much is sent.
#[derive(Clone, Copy, Debug)]
pub enum Amount {
    /// By wrk, for so many seconds.
    Seconds(u64),
    /// By ourselves, one after the other.
    Requests(usize),
}

/// What is sent.
pub enum Requests {
    /// These, over and over.
    Same(Vec<String>),
    /// Each another one: a number of 12 digits between two texts, counted up from here.
    Numbered(String, usize, String),
}

impl Requests {
    fn nth(&self, nth: usize) -> String {
        match self {
            Requests::Same(all) => all[nth % all.len()].clone(),
            Requests::Numbered(before, from, after) => format!("{before}{:012}{after}", from + nth),
        }
    }
}

/// Keepalive connections wrk has.
pub const CONNECTIONS: usize = 64;

/// Sends requests, and tells what one cost the server. `folder` is for wrk's script.
///
/// # Panics
/// If any answer is not 2xx, or missing: a server is not to be praised for being quick at refusing.
pub fn run(
    server: &Process,
    address: SocketAddr,
    requests: &Requests,
    amount: Amount,
    folder: &Path,
) -> Sample {
    let script = folder.join("requests.lua");
    fs::write(&script, lua(requests)).expect("a script");
    let cpu = server.cpu();
    let began = Instant::now();
    let (count, seconds) = match amount {
        Amount::Seconds(seconds) => wrk(address, &script, seconds),
        Amount::Requests(count) => {
            few(address, requests, count).expect("answers");
            (count as f64, began.elapsed().as_secs_f64())
        }
    };
    let spent = server.cpu() - cpu;
    Sample { micros: spent.as_secs_f64() * 1e6 / count, rate: count / seconds }
}

fn few(address: SocketAddr, requests: &Requests, count: usize) -> io::Result<()> {
    let mut client = Client::open(address)?;
    for nth in 0..count {
        let answer = client.ask(&requests.nth(nth))?;
        assert!((200..300).contains(&answer.status), "{}", answer.head);
    }
    Ok(())
}

/// Requests answered, and the seconds they took.
fn wrk(address: SocketAddr, script: &Path, seconds: u64) -> (f64, f64) {
    let mut wrk = command(Core::Others, "wrk");
    wrk.args(["-t1", &format!("-c{CONNECTIONS}"), &format!("-d{seconds}s"), "--timeout", "10s"]);
    wrk.arg("-s").arg(script).arg(format!("http://{address}/"));
    let output = wrk.stdin(Stdio::null()).output().expect("wrk");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    for bad in ["Non-2xx", "Socket errors"] {
        assert!(!text.contains(bad), "{address}: {text}");
    }
    summary(&text).unwrap_or_else(|| panic!("wrk said something else: {text}"))
}

/// `  154321 requests in 3.10s, 512.12MB read`.
fn summary(text: &str) -> Option<(f64, f64)> {
    let line = text.lines().find(|line| line.contains(" requests in "))?;
    let (count, rest) = line.trim().split_once(" requests in ")?;
    let time = rest.split(',').next()?;
    let seconds = match (time.strip_suffix("ms"), time.strip_suffix('s'), time.strip_suffix('m')) {
        (Some(ms), _, _) => ms.parse::<f64>().ok()? / 1e3,
        (_, Some(s), _) => s.parse().ok()?,
        (_, _, Some(m)) => m.parse::<f64>().ok()? * 60.0,
        _ => return None,
    };
    Some((count.parse().ok()?, seconds))
}

/// Whole requests: wrk has little to put together.
fn lua(requests: &Requests) -> String {
    // Rust and Lua agree about all escapes there are in a request.
    let quoted = |text: &str| format!("{text:?}");
    match requests {
        Requests::Same(all) => {
            let all: Vec<String> = all.iter().map(|one| quoted(one)).collect();
            format!(
                "local all = {{\n{}\n}}\nlocal at = 0\n\
                 request = function() at = at % #all + 1; return all[at] end\n",
                all.join(",\n")
            )
        }
        Requests::Numbered(before, from, after) => format!(
            "local at, before, after = {from}, {}, {}\n\
             request = function() at = at + 1; return before .. string.format(\"%012d\", at) .. after end\n",
            quoted(before),
            quoted(after)
        ),
    }
}

/// How long a server takes for a request when so many a second come, whether it keeps up or not.
#[derive(Clone, Debug)]
pub struct Delays {
    /// What was offered, a second.
    pub offered: u64,
    /// What was answered, a second.
    pub reached: f64,
    /// From when a request should have been sent to when its answer was whole, in order.
    sorted: Vec<Duration>,
}

impl Delays {
    /// So many of a thousand were no longer than this.
    pub fn at(&self, thousandth: usize) -> Duration {
        self.sorted[(self.sorted.len() * thousandth / 1_000).min(self.sorted.len() - 1)]
    }
}

/// Offers `rate` requests a second for a while, over `connections` connections with a thread each. A request
/// that is late because an answer before it was, counts from when it should have been sent.
pub fn offer(
    address: SocketAddr,
    request: &(impl Fn(usize) -> String + Sync),
    rate: u64,
    connections: usize,
    time: Duration,
) -> Delays {
    let began = Instant::now() + Duration::from_millis(200);
    let total = (rate as f64 * time.as_secs_f64()) as usize;
    let one = |first: usize| {
        let mut client = Client::open(address).expect("a connection");
        let mut delays = Vec::with_capacity(total / connections + 1);
        for nth in (first..total).step_by(connections) {
            let request = request(nth);
            let due = began + Duration::from_secs_f64(nth as f64 / rate as f64);
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            let answer = client.ask(&request).expect("an answer");
            delays.push(due.elapsed());
            assert!((200..300).contains(&answer.status), "{}", answer.head);
        }
        delays
    };
    let mut sorted: Vec<Duration> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..connections)
            .map(|first| {
                let thread = std::thread::Builder::new().stack_size(128 * 1_024);
                thread.spawn_scoped(scope, move || one(first)).expect("a thread")
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("a thread")).collect()
    });
    let reached = total as f64 / began.elapsed().as_secs_f64();
    sorted.sort_unstable();
    Delays { offered: rate, reached, sorted }
}
