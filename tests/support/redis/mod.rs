//! Real Redis servers that belong to one test: alone, with replicas, watched by Sentinels, in a cluster.
//!
//! ```ignore
//! let mut redis = RedisServer::start();
//! let tight = RedisServer::setup().line("maxmemory-policy allkeys-lru").start();
//! redis.kill();
//! redis.restart();
//! ```
//! - [`sentinel`]: three Sentinels and what they watch.
//! - [`cluster`]: three masters that share the slots.
//! - [`relay`]: a wire to a server that a test can delay, stop and cut.

pub mod cluster;
pub mod relay;
pub mod sentinel;

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use redis::{FromRedisValue, RedisResult};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::{PATIENCE, eventually, tls};

pub use cluster::Cluster;
pub use relay::Relay;
pub use sentinel::Sentinels;

/// The user whom tests give their own orders by, whatever a server's passwords are.
const CONTROL: &str = "user control on >control ~* &* +@all";

/// What a server is told before it starts.
#[must_use]
#[derive(Clone, Default)]
pub struct Setup {
    lines: Vec<String>,
    /// Where its certificate comes from: all that are set up alike have the same one.
    certificate: Option<Arc<TempDir>>,
    sentinel: bool,
}

impl Setup {
    /// A line of its configuration.
    pub fn line(mut self, line: &str) -> Setup {
        self.lines.push(line.to_owned());
        self
    }

    /// Writes everything to a file before it answers, and reads it at the next start.
    pub fn aof(self) -> Setup {
        self.line("appendonly yes").line("appendfsync always")
    }

    /// The same, and the file is on the disk within a second.
    pub fn aof_every_second(self) -> Setup {
        self.line("appendonly yes").line("appendfsync everysec")
    }

    /// Wants a password of everybody.
    pub fn password(self, password: &str) -> Setup {
        self.line(&format!("requirepass {password}")).line(&format!("masterauth {password}"))
    }

    /// An ACL user: `ops on >secret ~* +@all`.
    pub fn user(self, rule: &str) -> Setup {
        self.line(&format!("user {rule}"))
    }

    /// Speaks TLS on a second port, with a certificate in [`RedisServer::directory`].
    pub fn tls(mut self) -> Setup {
        let directory = tempfile::tempdir().expect("a temporary directory");
        tls::write_pair(directory.path());
        self.certificate = Some(Arc::new(directory));
        self
    }

    /// Follows another one.
    pub fn replica_of(self, master: &RedisServer) -> Setup {
        self.line(&format!("replicaof 127.0.0.1 {}", master.port))
    }

    /// Watches others instead of keeping anything.
    fn sentinel(mut self) -> Setup {
        self.sentinel = true;
        self
    }

    /// Starts it and waits until it answers.
    #[track_caller]
    pub fn start(self) -> RedisServer {
        let directory = tempfile::tempdir().expect("a temporary directory");
        if let Some(certificate) = &self.certificate {
            for file in ["cert.pem", "key.pem"] {
                let copied =
                    std::fs::copy(certificate.path().join(file), directory.path().join(file));
                copied.expect("a file");
            }
        }
        let mut server =
            RedisServer { setup: self, directory, port: 0, tls_port: None, child: None };
        eventually("a redis-server on a free port", || {
            server.port = free_port();
            server.tls_port = server.setup.certificate.as_ref().map(|_| free_port());
            server.write();
            server.launch().then_some(())
        });
        server
    }

    fn text(&self, server: &RedisServer) -> String {
        let directory = server.directory.path().display();
        let mut lines = vec![
            format!("port {}", server.port),
            "bind 127.0.0.1".to_owned(),
            format!("dir {directory}"),
            "logfile redis.log".to_owned(),
            CONTROL.to_owned(),
        ];
        if !self.sentinel {
            lines.extend(["save \"\"", "enable-debug-command yes"].map(str::to_owned));
            lines.push(format!("unixsocket {directory}/redis.sock"));
        }
        if let Some(port) = server.tls_port {
            lines.push(format!("tls-port {port}"));
            lines.push(format!("tls-cert-file {directory}/cert.pem"));
            lines.push(format!("tls-key-file {directory}/key.pem"));
            lines.push(format!("tls-ca-cert-file {directory}/cert.pem"));
            lines.push("tls-auth-clients no".to_owned());
        }
        lines.extend(self.lines.iter().cloned());
        lines.join("\n") + "\n"
    }
}

/// A running server; killed when it is dropped.
pub struct RedisServer {
    setup: Setup,
    directory: TempDir,
    port: u16,
    tls_port: Option<u16>,
    child: Option<Child>,
}

impl RedisServer {
    /// A plain one.
    #[track_caller]
    pub fn start() -> RedisServer {
        RedisServer::setup().start()
    }

    /// One that is told something first.
    pub fn setup() -> Setup {
        Setup::default()
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its address.
    pub fn addr(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.port))
    }

    /// `redis://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Its port for TLS.
    pub fn tls_port(&self) -> u16 {
        self.tls_port.expect("it was set up with tls()")
    }

    /// Its socket.
    pub fn socket(&self) -> PathBuf {
        self.directory.path().join("redis.sock")
    }

    /// A directory of its own: the data is in it, the log, and the certificate.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Asks it something, past all passwords.
    #[track_caller]
    pub fn ask<T: FromRedisValue>(&self, words: &[&str]) -> T {
        self.try_ask(words).unwrap_or_else(|error| panic!("{words:?}: {error}"))
    }

    /// Asks it something that it may refuse.
    pub fn try_ask<T: FromRedisValue>(&self, words: &[&str]) -> RedisResult<T> {
        let url = format!("redis://control:control@127.0.0.1:{}", self.port);
        let mut connection = redis::Client::open(url)?.get_connection_with_timeout(PATIENCE)?;
        connection.set_read_timeout(Some(PATIENCE))?;
        let (verb, arguments) = words.split_first().expect("a command");
        redis::cmd(verb).arg(arguments).query(&mut connection)
    }

    /// A field of its INFO.
    #[track_caller]
    pub fn info(&self, field: &str) -> String {
        let info: String = self.ask(&["INFO", "everything"]);
        let mut lines = info.lines().filter_map(|line| line.split_once(':'));
        let found = lines.find(|(name, _)| *name == field).map(|(_, value)| value.to_owned());
        found.unwrap_or_else(|| panic!("no {field} in INFO"))
    }

    /// How often it has run a command, those that scripts ran among them.
    #[track_caller]
    pub fn calls(&self, command: &str) -> u64 {
        self.counted(&format!("cmdstat_{command}"), "calls=")
    }

    /// How often it has answered with an error of this code.
    #[track_caller]
    pub fn errors(&self, code: &str) -> u64 {
        self.counted(&format!("errorstat_{code}"), "count=")
    }

    /// `name:…,before=N,…`; what never happened is not there.
    #[track_caller]
    fn counted(&self, name: &str, before: &str) -> u64 {
        let info: String = self.ask(&["INFO", "everything"]);
        let mut lines = info.lines().filter_map(|line| line.split_once(':'));
        let Some((_, value)) = lines.find(|(field, _)| *field == name) else { return 0 };
        let count = value.split(',').find_map(|part| part.strip_prefix(before));
        count.and_then(|count| count.parse().ok()).unwrap_or_else(|| panic!("{name}:{value}"))
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.as_ref().expect("a running server").id()
    }

    /// SIGKILL: what is not on disk is lost.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// SIGSTOP: connections stay open, and nobody answers.
    pub fn freeze(&self) {
        self.signal(Signal::STOP);
    }

    /// SIGCONT.
    pub fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.pid()).ok().and_then(Pid::from_raw).expect("a process");
        kill_process(pid, signal).expect("a process of ours");
    }

    /// The same again, on the same port, with what is on disk. Running, it is killed first.
    #[track_caller]
    pub fn restart(&mut self) {
        self.kill();
        eventually("the same port again", || self.launch().then_some(()));
    }

    /// The same again, with nothing.
    #[track_caller]
    pub fn restart_empty(&mut self) {
        self.kill();
        let _ = std::fs::remove_file(self.directory.path().join("dump.rdb"));
        let _ = std::fs::remove_dir_all(self.directory.path().join("appendonlydir"));
        self.restart();
    }

    /// A line more in its configuration, from the next start on.
    pub fn add(&mut self, line: &str) {
        self.setup.lines.push(line.to_owned());
        self.write();
    }

    fn write(&self) {
        let text = self.setup.text(self);
        std::fs::write(self.directory.path().join("redis.conf"), text).expect("a file");
    }

    /// Whether it came up; it does not where somebody has its port.
    fn launch(&mut self) -> bool {
        let mut command = Command::new("redis-server");
        command.arg(self.directory.path().join("redis.conf"));
        if self.setup.sentinel {
            command.arg("--sentinel");
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().expect("redis-server: make tools installs it");
        let child = self.child.insert(child);
        let ended = eventually("an answer of a redis-server", || {
            if child.try_wait().expect("our own child").is_some() {
                return Some(true);
            }
            let url = format!("redis://control:control@127.0.0.1:{}", self.port);
            let mut connection = redis::Client::open(url).ok()?.get_connection().ok()?;
            redis::cmd("PING").query::<String>(&mut connection).ok().map(|_| false)
        });
        if ended {
            self.child = None;
        }
        !ended
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A port that nobody has, nor the one that a cluster adds to it. redis-server can't be told to find one itself.
/// Below those the system hands out, so that no connection of another test takes it meanwhile.
pub(super) fn free_port() -> u16 {
    const FIRST: u16 = 12_000;
    const PORTS: u16 = 9_000;
    const BUS: u16 = 10_000;
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Another process of tests begins elsewhere.
    let start = u16::try_from(std::process::id() % 90).expect("below 90") * 100;
    eventually("a free port", || {
        let next = (start + NEXT.fetch_add(1, Ordering::Relaxed) % PORTS) % PORTS;
        let free = |port| TcpListener::bind(("127.0.0.1", port)).is_ok();
        (free(FIRST + next) && free(FIRST + next + BUS)).then_some(FIRST + next)
    })
}
