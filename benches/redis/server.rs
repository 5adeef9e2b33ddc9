//! A Redis of our own, and what it says about itself.

use std::cell::RefCell;
use std::net::{Ipv4Addr, TcpListener};
use std::num::NonZeroU64;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anteroom::store::redis::Address;
use anteroom::store::{self, Access, Opening, Secret, Store};
use redis::{Connection, FromRedisValue, Value};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::node::Clock;

/// A server that takes longer to start will not.
const START: Duration = Duration::from_secs(20);
/// What the log of slow calls hears of while many speak at once, in microseconds. Less, and it would hear of the
/// commands inside of scripts, too, and they would take the longer for it.
const SLOW_USEC: u32 = 1_000;

/// Which one is there, if any.
pub fn installed() -> Option<String> {
    let output = Command::new("redis-server").arg("--version").output().ok()?;
    let said = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    let version = said.split_whitespace().find_map(|word| word.strip_prefix("v="))?;
    Some(format!("redis-server {version}"))
}

/// A running server; gone when it is dropped.
pub struct Redis {
    child: Child,
    port: u16,
    plain: RefCell<Option<Connection>>,
    runtime: Runtime,
    _folder: TempDir,
}

/// An entry of the log of slow calls: its number, when, microseconds, words, by whom and their name.
type Slow = (u64, u64, u64, Vec<Vec<u8>>, String, String);

/// What something took of it.
#[derive(Clone, Copy, Debug)]
pub struct Spent {
    /// Script calls.
    pub calls: f64,
    /// Microseconds in them.
    pub usec: f64,
    /// Of its process.
    pub cpu_ms: f64,
}

impl Spent {
    /// What `some` of `all` of them took.
    pub fn scaled(self, all: u64, some: u64) -> Spent {
        let part = some as f64 / all as f64;
        let Spent { calls, usec, cpu_ms } = self;
        Spent { calls: calls * part, usec: usec * part, cpu_ms: cpu_ms * part }
    }
}

impl Redis {
    /// A new one, empty.
    pub fn start() -> Redis {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = free.local_addr().expect("its address").port();
        drop(free);
        let mut command = Command::new("redis-server");
        command.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""]);
        command.arg("--dir").arg(folder.path()).stdin(Stdio::null()).stdout(Stdio::null());
        let child = command.spawn().expect("redis-server");
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(1).enable_all().build().expect("a runtime");
        let redis = Redis { child, port, plain: RefCell::new(None), runtime, _folder: folder };
        let client = redis::Client::open(redis.url()).expect("an address");
        let began = Instant::now();
        let plain = loop {
            match client.get_connection() {
                Ok(connection) => break connection,
                Err(error) => assert!(began.elapsed() < START, "redis-server: {error}"),
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        *redis.plain.borrow_mut() = Some(plain);
        redis
    }

    /// `redis://…`.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// A connection for whoever wants to speak plainly.
    pub fn connect(&self) -> Connection {
        let client = redis::Client::open(self.url()).expect("an address");
        client.get_connection().expect("a connection")
    }

    /// The store, as a node opens it; by another clock, if there is one.
    pub fn store(&self, clock: Option<&Clock>) -> Arc<dyn Store> {
        if let Some(clock) = clock.cloned() {
            let address = Address::parse(&self.url()).expect("an address");
            let store = store::Redis::new(address).expect("a store");
            return Arc::new(store.turned_by(move || clock.moment()));
        }
        let now = Arc::new(anteroom::clock::now_ms);
        let opening = Opening { clock: now, run: NonZeroU64::MIN, secret: Secret([7; 32]) };
        let url = self.url();
        self.wait(store::open(&url, Access::default(), opening)).expect("a store").store
    }

    /// Waits for what a store is asked.
    pub fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// What it holds.
    pub fn bytes(&self) -> f64 {
        field(&self.info("memory"), "used_memory")
    }

    /// The most it ever held.
    pub fn most_bytes(&self) -> f64 {
        field(&self.info("memory"), "used_memory_peak")
    }

    /// What it was sent since it was started.
    pub fn bytes_in(&self) -> f64 {
        field(&self.info("stats"), "total_net_input_bytes")
    }

    /// Everything in it is gone.
    pub fn flush(&self) {
        self.say::<Value>(&["FLUSHALL"]);
    }

    /// What some work takes of it.
    pub fn spent(&self, work: impl FnOnce()) -> Spent {
        let before = self.spent_so_far();
        work();
        let after = self.spent_so_far();
        Spent {
            calls: after.calls - before.calls,
            usec: after.usec - before.usec,
            cpu_ms: after.cpu_ms - before.cpu_ms,
        }
    }

    /// Since it was started.
    pub fn spent_so_far(&self) -> Spent {
        let (mut calls, mut usec) = (0.0, 0.0);
        let commands = self.info("commandstats");
        for line in commands.lines().filter(|line| line.starts_with("cmdstat_eval")) {
            calls += number(line, "calls=");
            usec += number(line, "usec=");
        }
        let cpu = self.info("cpu");
        let cpu_ms = (field(&cpu, "used_cpu_user") + field(&cpu, "used_cpu_sys")) * 1e3;
        Spent { calls, usec, cpu_ms }
    }

    /// From now on it notes what takes long, and counts anew.
    pub fn watch(&self) {
        let slower = SLOW_USEC.to_string();
        self.say::<Value>(&["CONFIG", "SET", "slowlog-log-slower-than", &slower]);
        self.say::<Value>(&["CONFIG", "SET", "slowlog-max-len", "100000"]);
        self.say::<Value>(&["SLOWLOG", "RESET"]);
        self.say::<Value>(&["CONFIG", "RESETSTAT"]);
    }

    /// The median, the 99th percentile and the longest of the script calls since it watches, in microseconds.
    pub fn watched(&self) -> (f64, f64, f64) {
        let stats = self.info("latencystats");
        let line = stats.lines().find(|line| line.contains("usec_evalsha:")).unwrap_or_default();
        let (half, most) = (number(line, "p50="), number(line, "p99="));
        let entries: Vec<Slow> = self.say(&["SLOWLOG", "GET", "-1"]);
        let scripts = entries.iter().filter(|(_, _, _, words, ..)| words[0].starts_with(b"EVAL"));
        let longest = scripts.map(|(_, _, usec, ..)| *usec as f64).fold(most, f64::max);
        (half, most, longest)
    }

    fn info(&self, section: &str) -> String {
        self.say(&["INFO", section])
    }

    /// Anything, in its own words.
    pub fn say<T: FromRedisValue>(&self, words: &[&str]) -> T {
        let mut plain = self.plain.borrow_mut();
        let plain = plain.as_mut().expect("open since it was started");
        let (verb, rest) = words.split_first().expect("a command");
        redis::cmd(verb).arg(rest).query(plain).expect("an answer")
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        // Gone already: as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `name:12.5`.
fn field(info: &str, name: &str) -> f64 {
    let mut pairs = info.lines().filter_map(|line| line.split_once(':'));
    let found = pairs.find(|(key, _)| *key == name);
    found.and_then(|(_, value)| value.trim().parse().ok()).expect("a field of INFO")
}

/// `calls=12,`.
fn number(line: &str, name: &str) -> f64 {
    let rest = line.split(name).nth(1).unwrap_or_default();
    let value = rest.split([',', '\r']).next();
    value.and_then(|value| value.trim().parse().ok()).unwrap_or_default()
}
