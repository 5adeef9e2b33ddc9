//! The program itself, run as an operator runs it.

use std::io::Write as _;
use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

pub use rustix::process::Signal;
use rustix::process::{Pid, Resource, Rlimit, kill_process, prlimit};
use serde_json::Value;
use tempfile::TempDir;

use super::client::Connection;
use super::config::Config;
use super::log::Log;
use super::origin::Origin;
use super::{PATIENCE, eventually, tls};

/// A configuration that is about to be started: `Gateway::before(&origin).room(…).start()`.
#[derive(Clone)]
#[must_use]
pub struct Plan(Config);

/// A running gateway; killed when it is dropped.
pub struct Gateway {
    process: Process,
    directory: TempDir,
    config: Config,
}

/// One process of it.
struct Process {
    child: Child,
    log: Log,
    plain: SocketAddr,
    secure: Option<SocketAddr>,
    admin: SocketAddr,
}

/// A process that was replaced by another, and is about to end; killed when it is dropped.
pub struct Former(Process);

impl Gateway {
    /// A gateway before an origin, with no room yet.
    pub fn before(origin: &Origin) -> Plan {
        Plan(Config::new(&[origin.address().to_string()]))
    }

    /// Starts what a configuration says.
    pub fn start(config: Config) -> Gateway {
        let directory = tempfile::tempdir().expect("a temporary directory");
        if config.has_tls() {
            tls::write_pair(directory.path());
        }
        write(directory.path(), &config.text());
        let process = Process::start(directory.path(), &config, false);
        Gateway { process, directory, config }
    }

    /// Where it listens for plain HTTP.
    pub fn addr(&self) -> SocketAddr {
        self.process.plain
    }

    /// Where it listens for TLS.
    pub fn tls_addr(&self) -> SocketAddr {
        self.process.secure.expect("the configuration has tls()")
    }

    /// Where it listens for operators.
    pub fn admin_addr(&self) -> SocketAddr {
        self.process.admin
    }

    /// A directory of its own: the configuration is in it, and the store.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The configuration it was started with, to be changed and given to [`Gateway::reload`].
    pub fn config(&self) -> Config {
        self.config.clone()
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.process.child.id()
    }

    /// A connection to it.
    pub fn connect(&self) -> Connection {
        Connection::open(self.addr())
    }

    /// What it has said.
    pub fn log(&self) -> &Log {
        &self.process.log
    }

    /// Whether it has said this.
    pub fn log_contains(&self, text: &str) -> bool {
        self.log().contains(text)
    }

    /// The lines of an event, as soon as there are so many.
    #[track_caller]
    pub fn events(&self, event: &str, at_least: usize) -> Vec<Value> {
        eventually(&format!("{at_least} lines of {event} in:\n{}", self.log().text()), || {
            Some(self.log().events(event)).filter(|lines| lines.len() >= at_least)
        })
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(self.process.id(), signal).expect("the process is there");
    }

    /// Writes another configuration file and has it read. Returns whether it was taken.
    #[track_caller]
    pub fn reload(&self, text: &str) -> bool {
        let count = |event| self.log().events(event).len();
        let (taken, refused) = (count("config.reloaded"), count("config.refused"));
        write(self.directory(), text);
        self.signal(Signal::HUP);
        eventually("an answer to SIGHUP in the log", || {
            match (count("config.reloaded") > taken, count("config.refused") > refused) {
                (false, false) => None,
                (taken, _) => Some(taken),
            }
        })
    }

    /// Starts another process that takes over from this one (`serve --upgrade`). Needs an `upgrade_socket`.
    #[track_caller]
    pub fn upgrade(&mut self) -> Former {
        let process = Process::start(self.directory.path(), &self.config, true);
        Former(std::mem::replace(&mut self.process, process))
    }

    /// Kills it without a warning, and starts it again on what is left. The port is another one.
    #[track_caller]
    pub fn crash_and_restart(&mut self) {
        self.process.kill();
        self.process = Process::start(self.directory.path(), &self.config, false);
    }

    /// Waits for its end.
    #[track_caller]
    pub fn wait(&mut self) -> ExitStatus {
        self.process.wait(PATIENCE)
    }

    /// Tells it to stop, and waits for that. The store is closed then.
    #[track_caller]
    pub fn stop(&mut self) -> ExitStatus {
        self.signal(Signal::TERM);
        self.wait()
    }

    /// Starts it again after [`Gateway::stop`]. The port is another one.
    #[track_caller]
    pub fn restart(&mut self) {
        self.process = Process::start(self.directory.path(), &self.config, false);
    }

    /// The disk is full from now on: the system lets the process write no file any more.
    pub fn fill_disk(&self) {
        let limit = Rlimit { current: Some(0), maximum: None };
        prlimit(Some(self.process.id()), Resource::Fsize, limit).expect("the process is there");
    }

    /// From now on it may open so many files more, and no others.
    pub fn runs_out_of_files(&self, more: usize) {
        let files = std::fs::read_dir(format!("/proc/{}/fd", self.pid())).expect("the process");
        let number = |file: std::fs::DirEntry| file.file_name().to_string_lossy().parse().ok();
        let open: Vec<u64> = files.flatten().filter_map(number).collect();
        // The limit is one of numbers, and the lowest free one is taken.
        let limit = (0..).filter(|number| !open.contains(number)).nth(more).expect("a number");
        let limit = Rlimit { current: Some(limit), maximum: Some(limit) };
        prlimit(Some(self.process.id()), Resource::Nofile, limit).expect("the process is there");
    }

    /// Bytes of memory it holds.
    pub fn resident_bytes(&self) -> u64 {
        let path = format!("/proc/{}/status", self.pid());
        let status = std::fs::read_to_string(path).expect("the process is there");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB")).expect("VmRSS in kB");
        kib.trim().parse::<u64>().expect("a number") * 1_024
    }
}

impl Former {
    /// Waits for its end.
    #[track_caller]
    pub fn wait(&mut self) -> ExitStatus {
        self.0.wait(PATIENCE)
    }

    /// What it has said.
    pub fn log(&self) -> &Log {
        &self.0.log
    }
}

fn write(directory: &Path, text: &str) {
    // Whole or not at all: the process may read it at any time.
    let mut file = tempfile::NamedTempFile::new_in(directory).expect("a file, for nobody else");
    file.write_all(text.as_bytes()).expect("space for it");
    file.persist(config_path(directory)).expect("a name for it");
}

fn config_path(directory: &Path) -> PathBuf {
    directory.join("anteroom.toml")
}

impl Process {
    #[track_caller]
    fn start(directory: &Path, config: &Config, upgrade: bool) -> Process {
        // A file that may not grow is an error then, and not the end.
        let mut command = Command::new("sh");
        command.args(["-c", r#"trap "" XFSZ; exec "$0" "$@""#]);
        command.arg(env!("CARGO_BIN_EXE_anteroom"));
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("ANTEROOM_") {
                command.env_remove(name);
            }
        }
        command.arg("serve").arg("-c").arg(config_path(directory));
        command.args(upgrade.then_some("--upgrade"));
        command.envs(config.variables());
        command.envs(config.trusted().map(|path| ("SSL_CERT_FILE", path)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.current_dir(directory).spawn().expect("the program starts");
        let log = Log::default();
        log.listen(child.stdout.take().expect("a pipe"));
        log.listen(child.stderr.take().expect("a pipe"));
        let listening = log.wait_for(PATIENCE, |lines| addresses(lines, config.has_tls()));
        let Some((plain, secure, admin)) = listening else {
            let _ = child.kill();
            let _ = child.wait();
            panic!("the gateway does not listen:\n{}\n{}", log.text(), config.text());
        };
        Process { child, log, plain, secure, admin }
    }

    fn id(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    #[track_caller]
    fn wait(&mut self, patience: Duration) -> ExitStatus {
        let Process { child, log, .. } = self;
        super::within(patience, "the process ends", || match child.try_wait() {
            Ok(ended) => ended,
            Err(error) => panic!("{error}\n{}", log.text()),
        })
    }

    fn kill(&mut self) {
        let _ = self.child.kill();
        let ended = self.child.wait().expect("a child of ours");
        assert!(ended.signal().is_some() || ended.code().is_some());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        if std::thread::panicking() {
            eprintln!("--- the gateway said:\n{}\n---", self.log.text());
        }
    }
}

/// The addresses in the log, once all are there.
fn addresses(lines: &[String], tls: bool) -> Option<(SocketAddr, Option<SocketAddr>, SocketAddr)> {
    let said = |protocol: &str| {
        lines.iter().find_map(|line| {
            let line: Value = serde_json::from_str(line).ok()?;
            let listening = line["event"] == "node.listening" && line["protocol"] == protocol;
            listening.then(|| line["address"].as_str()?.parse().ok())?
        })
    };
    let (plain, admin) = (said("http")?, said("admin")?);
    match tls {
        true => said("https").map(|secure| (plain, Some(secure), admin)),
        false => Some((plain, None, admin)),
    }
}

impl Plan {
    /// Starts it.
    pub fn start(self) -> Gateway {
        Gateway::start(self.0)
    }

    /// Changes the configuration by any of [`Config`]'s verbs.
    pub fn with(self, change: impl FnOnce(Config) -> Config) -> Plan {
        Plan(change(self.0))
    }

    /// See [`Config::room`].
    pub fn room(self, name: &str, text: &str) -> Plan {
        Plan(self.0.room(name, text))
    }

    /// See [`Config::limits`].
    pub fn limits(self, text: &str) -> Plan {
        Plan(self.0.limits(text))
    }

    /// See [`Config::site`].
    pub fn site(self, text: &str) -> Plan {
        Plan(self.0.site(text))
    }

    /// See [`Config::top`].
    pub fn top(self, text: &str) -> Plan {
        Plan(self.0.top(text))
    }

    /// See [`Config::tables`].
    pub fn tables(self, text: &str) -> Plan {
        Plan(self.0.tables(text))
    }

    /// See [`Config::admin`].
    pub fn admin(self, text: &str) -> Plan {
        Plan(self.0.admin(text))
    }

    /// See [`Config::admin_key`].
    pub fn admin_key(self, text: &str) -> Plan {
        Plan(self.0.admin_key(text))
    }

    /// See [`Config::embedded`].
    pub fn embedded(self) -> Plan {
        Plan(self.0.embedded())
    }

    /// See [`Config::tls`].
    pub fn tls(self) -> Plan {
        Plan(self.0.tls())
    }
}
