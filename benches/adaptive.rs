//! A rate that follows the origin, in the real loop: gateway, site and crowd as processes and sockets.
//!
//! `make bench-adaptive` prints what 95 of 100 requests took beside the target, and what was served beside the best of a sweep of fixed
//! rates in the same run: the best that keeps the p95 within the same bound. The site has eight workers, each a request at a time, 50 ms of it on
//! average and as irregular as independent things are: beyond 160 requests a second it can only get slower. The crowd is so many
//! people that without a line they would ask for ten times that, which is measured, too, before a site that is never busy: each enters, asks five
//! times, and comes back as somebody new. A bound that is missed makes it fail.
//!
//! Ratios count, not seconds: the machine is whatever it is. Without `--bench`, as `cargo test` runs it, a handful of people come for a
//! second or two and nothing is judged, so that this can't rot.

#[path = "redis/figures.rs"]
#[allow(dead_code)]
mod figures;
#[path = "gateway/table.rs"]
#[allow(dead_code)]
mod table;

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use figures::{Figures, Measured};
use serde_json::Value;

const WORKERS: usize = 8;
const SERVES: Duration = Duration::from_millis(50);
const REQUESTS: usize = 5;
const THINKS: Duration = Duration::from_millis(200);
const TARGET: Duration = Duration::from_millis(500);
/// What is promised: a p95 of so many targets at most, so much of the best throughput at least, before so many times the capacity.
const P95_MOST: f64 = 1.2;
const BEST_LEAST: f64 = 0.85;
const CROWD_LEAST: f64 = 10.0;
/// What the site is started with instead of arguments: its address and its workers.
const SITE: &str = "ANTEROOM_BENCH_SITE";

/// Requests a second that keep every worker busy: 160.
fn capacity() -> f64 {
    WORKERS as f64 / SERVES.as_secs_f64()
}

/// How long is warmed up and measured.
type Span = (Duration, Duration);

struct Extent {
    people: usize,
    crowd: Span,
    fixed: Span,
    adaptive: Span,
    /// Parts of the capacity.
    sweep: &'static [f64],
}

const fn ms(warm: u64, measured: u64) -> Span {
    (Duration::from_millis(warm), Duration::from_millis(measured))
}

/// A visit takes a second and a quarter of a site that is not busy: 400 people would be ten times too many.
const FULL: Extent = Extent {
    people: 440,
    crowd: ms(4_000, 6_000),
    fixed: ms(8_000, 14_000),
    adaptive: ms(35_000, 40_000),
    sweep: &[0.7, 0.8, 0.9, 1.0, 1.1],
};
const SMALL: Extent = Extent {
    people: 10,
    crowd: ms(200, 300),
    fixed: ms(200, 300),
    adaptive: ms(500, 1_000),
    sweep: &[0.8],
};

fn main() -> ExitCode {
    if let Some((address, workers)) =
        std::env::var(SITE).ok().as_deref().and_then(|site| site.split_once(' '))
    {
        site(address, workers.parse().expect("a number of workers"));
        return ExitCode::SUCCESS;
    }
    let full = std::env::args().any(|argument| argument == "--bench");
    let extent = if full { &FULL } else { &SMALL };
    let figures = judge(extent, full);
    println!("{figures}");
    if figures.is_missed() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// The crowd before a site that is never busy, every fixed rate, and the one that follows.
fn judge(extent: &Extent, full: bool) -> Figures {
    let mut figures = Figures::new(full);
    let part = |value, note: String| Measured::new(value, 2, "x").noting(note);
    let crowd = measure("mode = \"bypass\"", extent.people, extent.people, extent.crowd);
    let name =
        format!("{} people before a site that is never busy, of the capacity", extent.people);
    figures.at_least(name, part(crowd.served / capacity(), crowd.to_string()), CROWD_LEAST);
    let mut best: Option<f64> = None;
    for of_capacity in extent.sweep {
        let rate = of_capacity * capacity() / REQUESTS as f64;
        let settings = format!("rate = \"{:.0}/m\"", rate * 60.0);
        let found = measure(&settings, WORKERS, extent.people, extent.fixed);
        let name = format!("a fixed rate of {of_capacity:.2} of the capacity: p95, of the target");
        figures.told(name, part(found.of_target(), found.to_string()));
        if found.of_target() <= P95_MOST {
            best = Some(best.map_or(found.served, |best| best.max(found.served)));
        }
    }
    let settings = format!(
        "rate = \"{:.0}/s\"\nrate_min = \"2/s\"\nadaptive = {{ target_p95 = \"{}ms\" }}",
        CROWD_LEAST * capacity() / REQUESTS as f64,
        TARGET.as_millis()
    );
    let found = measure(&settings, WORKERS, extent.people, extent.adaptive);
    assert!(found.served > 0.0, "nobody was served");
    let name = "the rate that follows: p95, of the target";
    figures.at_most(name, part(found.of_target(), found.to_string()), P95_MOST);
    // Without a fixed rate that keeps the p95 there is nothing to compare with: missed.
    let (of_best, best) = best.map_or((f64::NAN, 0.0), |best| (found.served / best, best));
    let name = "the rate that follows: throughput, of the best fixed rate's";
    figures.at_least(name, part(of_best, format!("of {best:.1} requests a second")), BEST_LEAST);
    figures
}

struct Found {
    p95: Duration,
    /// Requests a second.
    served: f64,
}

impl Found {
    fn of_target(&self) -> f64 {
        self.p95.as_secs_f64() / TARGET.as_secs_f64()
    }
}

impl std::fmt::Display for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "p95 {} ms, {:.1} requests a second", self.p95.as_millis(), self.served)
    }
}

/// A gateway with these settings, a site of its own with so many workers, and the crowd before them.
fn measure(settings: &str, workers: usize, people: usize, (warm, measured): Span) -> Found {
    let folder = tempfile::tempdir().expect("a folder");
    let (site, gateway) = (free_address(), free_address());
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.env(SITE, format!("{site} {workers}"));
    let _site = Process::start(command, site);
    let _gateway = Process::start(serve(folder.path(), site, gateway, settings), gateway);
    let crowd = Arc::new(Crowd::default());
    let visitors: Vec<_> = (0..people)
        .map(|seed| {
            let crowd = crowd.clone();
            thread::Builder::new()
                .stack_size(256 << 10)
                .spawn(move || crowd.come_and_go(gateway, seed as u64 + 1))
                .expect("a thread a visitor")
        })
        .collect();
    sleep(warm);
    crowd.counts.store(true, Ordering::SeqCst);
    let began = Instant::now();
    sleep(measured);
    crowd.counts.store(false, Ordering::SeqCst);
    let seconds = began.elapsed().as_secs_f64();
    crowd.over.store(true, Ordering::SeqCst);
    visitors.into_iter().for_each(|visitor| _ = visitor.join());
    let mut took = crowd.took.lock().expect("nobody panicked").clone();
    took.sort();
    let p95 = took.get(took.len() * 95 / 100).copied().unwrap_or_default();
    Found { p95, served: took.len() as f64 / seconds }
}

#[derive(Default)]
struct Crowd {
    counts: AtomicBool,
    over: AtomicBool,
    took: Mutex<Vec<Duration>>,
}

impl Crowd {
    /// One after the other, as somebody new each time.
    fn come_and_go(&self, gateway: SocketAddr, seed: u64) {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut wire = None;
        while !self.over.load(Ordering::SeqCst) {
            if self.visit(gateway, &mut wire, &mut dice).is_none() {
                wire = None; // cut, or refused: again
                sleep(Duration::from_millis(200));
            }
        }
    }

    fn visit(
        &self,
        gateway: SocketAddr,
        wire: &mut Option<BufReader<TcpStream>>,
        dice: &mut Dice,
    ) -> Option<()> {
        if wire.is_none() {
            *wire = Some(BufReader::new(TcpStream::connect(gateway).ok()?));
        }
        let wire = wire.as_mut()?;
        let joined = ask(wire, "POST /.anteroom/v1/join", "", r#"{"event_id":"sale"}"#)?;
        let mut answer: Value = serde_json::from_slice(&joined).ok()?;
        let ticket = answer["queue_id"].as_str()?.to_owned();
        let bearer = format!("Authorization: Bearer {ticket}\r\n");
        while answer["token"].is_null() {
            if self.over.load(Ordering::SeqCst) {
                return None;
            }
            sleep(Duration::from_secs(1).mul_f64(0.5 + dice.next()));
            let told = ask(wire, "GET /.anteroom/v1/queue/status", &bearer, "")?;
            answer = serde_json::from_slice(&told).ok()?;
        }
        let pass = format!("X-Admission-Pass: {}\r\n", answer["token"].as_str()?);
        for _ in 0..REQUESTS {
            let began = Instant::now();
            ask(wire, "GET /page", &pass, "")?;
            if self.counts.load(Ordering::SeqCst) {
                self.took.lock().expect("nobody panicked").push(began.elapsed());
            }
            sleep(THINKS.mul_f64(0.5 + dice.next()));
        }
        Some(())
    }
}

/// One request and the body of its answer; `None`: there was none, or not 200.
fn ask(wire: &mut BufReader<TcpStream>, what: &str, headers: &str, body: &str) -> Option<Vec<u8>> {
    let length = body.len();
    let request = format!(
        "{what} HTTP/1.1\r\nHost: shop.example\r\nContent-Type: application/json\r\n{headers}Content-Length: {length}\r\n\r\n{body}"
    );
    wire.get_mut().write_all(request.as_bytes()).ok()?;
    let (mut line, mut length, mut good) = (String::new(), 0, false);
    loop {
        line.clear();
        wire.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let text = line.trim_end();
        if text.is_empty() {
            break;
        }
        good |= text.starts_with("HTTP/1.1 200");
        if let Some((name, value)) = text.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    wire.read_exact(&mut body).ok()?;
    good.then_some(body)
}

/// The site: a queue, and workers who take one after the other from it.
fn site(address: &str, workers: u64) {
    let listener = TcpListener::bind(address).expect("the address is free");
    let desk: Arc<(Mutex<VecDeque<Arc<Turn>>>, Condvar)> = Arc::default();
    for seed in 1..=workers {
        let desk = desk.clone();
        thread::spawn(move || {
            let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
            loop {
                let next = {
                    let queue = desk.0.lock().expect("nobody panicked");
                    let mut queue =
                        desk.1.wait_while(queue, |queue| queue.is_empty()).expect("likewise");
                    queue.pop_front()
                };
                let Some(turn) = next else { continue };
                sleep(SERVES.mul_f64(-(1.0 - dice.next()).ln()));
                turn.done();
            }
        });
    }
    for stream in listener.incoming().flatten() {
        let desk = desk.clone();
        thread::spawn(move || answer_all(stream, &desk));
    }
}

type Desk = (Mutex<VecDeque<Arc<Turn>>>, Condvar);

fn answer_all(stream: TcpStream, desk: &Desk) -> Option<()> {
    let mut wire = BufReader::new(stream);
    let mut line = String::new();
    loop {
        let mut any = false;
        loop {
            line.clear();
            wire.read_line(&mut line).ok().filter(|read| *read > 0)?;
            if line.trim_end().is_empty() {
                break;
            }
            any = true;
        }
        if !any {
            continue;
        }
        let turn = Arc::new(Turn::default());
        desk.0.lock().ok()?.push_back(turn.clone());
        desk.1.notify_one();
        turn.wait();
        let page = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nyes";
        wire.get_mut().write_all(page).ok()?;
    }
}

/// A request at the site.
#[derive(Default)]
struct Turn {
    over: Mutex<bool>,
    told: Condvar,
}

impl Turn {
    fn done(&self) {
        *self.over.lock().expect("nobody panicked") = true;
        self.told.notify_all();
    }

    fn wait(&self) {
        let over = self.over.lock().expect("nobody panicked");
        drop(self.told.wait_while(over, |over| !*over).expect("likewise"));
    }
}

fn serve(folder: &Path, site: SocketAddr, gateway: SocketAddr, settings: &str) -> Command {
    let config = format!(
        "listen = [\"{gateway}\"]\nadmin.listen = \"none\"\n\
         [store]\nurl = \"embedded:{}\"\n\
         [origins.shop]\nservers = [\"{site}\"]\nhealth_interval = \"none\"\n\
         [rooms.sale]\norigin = \"shop\"\n{settings}\nmax_waiting = \"none\"\n\
         limits = {{ join_per_address = \"none\", requests_per_address = \"none\", requests_per_ticket = \"none\" }}\n",
        folder.join("line.redb").display()
    );
    let path = folder.join("anteroom.toml");
    std::fs::write(&path, config).expect("space for it");
    let mut command = Command::new(env!("CARGO_BIN_EXE_anteroom"));
    command.arg("serve").arg("--config").arg(path);
    command
}

struct Process(Child);

impl Process {
    fn start(mut command: Command, address: SocketAddr) -> Process {
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let mut process = Process(child);
        let began = Instant::now();
        while TcpStream::connect(address).is_err() {
            let ended = process.0.try_wait().expect("a child of ours");
            assert!(ended.is_none(), "{command:?} ended: {ended:?}");
            assert!(began.elapsed() < Duration::from_secs(20), "{command:?} does not listen");
            sleep(Duration::from_millis(10));
        }
        process
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn free_address() -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    listener.local_addr().expect("an address")
}

/// Random numbers that are the same every time.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}
