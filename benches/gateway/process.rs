//! Servers as processes: started on a core of their own, watched through `/proc`, gone when we let go of them.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Linux counts in these, on every machine.
const TICK: Duration = Duration::from_millis(10);
/// A server that takes longer to start will not.
const START: Duration = Duration::from_secs(20);

/// Who shares a core with whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Core {
    /// Whatever is measured: alone, one after the other.
    Measured,
    /// Whatever measures, and the origin.
    Others,
}

/// A running process.
pub struct Process {
    child: Child,
}

impl Process {
    /// Starts one. What it says to its standard output nobody reads.
    pub fn start(mut command: Command) -> Process {
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        Process { child }
    }

    /// Starts a server, and waits until it takes connections.
    pub fn serve(command: Command, address: SocketAddr) -> Process {
        let shown = format!("{command:?}");
        let mut process = Process::start(command);
        let began = Instant::now();
        while TcpStream::connect(address).is_err() {
            let ended = process.child.try_wait().expect("a child of ours");
            assert!(ended.is_none(), "{shown} ended: {ended:?}");
            assert!(began.elapsed() < START, "{shown} does not listen on {address}");
            sleep(Duration::from_millis(10));
        }
        process
    }

    /// Its id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The time it has had on a core so far, all its threads together.
    pub fn cpu(&self) -> Duration {
        let path = format!("/proc/{}/stat", self.child.id());
        let stat = fs::read_to_string(&path).expect("a process of ours");
        // The name, in brackets, may contain anything.
        let (_, fields) = stat.rsplit_once(')').expect("a name in brackets");
        let ticks = fields.split_whitespace().skip(11).take(2);
        let ticks: u32 = ticks.map(|field| field.parse::<u32>().expect("ticks")).sum();
        TICK * ticks
    }

    /// The memory it occupies, in KiB.
    pub fn resident(&self) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let status = fs::read_to_string(&path).expect("a process of ours");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let field = line.and_then(|line| line.split_whitespace().next());
        field.and_then(|field| field.parse().ok()).expect("a number of KiB")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Gone already: as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A command on its core, with as many open files as the system allows. It does not outlive us.
pub fn command(core: Core, program: &str) -> Command {
    const RAISED: &str = r#"ulimit -n "$(ulimit -Hn)"; exec "$@""#;
    let mut command = Command::new("sh");
    command.args(["-c", RAISED, "sh"]).env("PATH", path());
    if let Some(list) = cores(core) {
        command.args(["taskset", "-c", &list]);
    }
    if is_installed("setpriv") {
        command.args(["setpriv", "--pdeathsig", "KILL"]);
    }
    command.arg(program);
    command
}

/// Where a process belongs: the first core, or all others.
fn cores(core: Core) -> Option<String> {
    // Ours alone are few once we are on the others ourselves.
    let ours = std::env::var(CORES).ok().or_else(allowed)?;
    let (first, others) = ours.split_once(',').filter(|_| is_installed("taskset"))?;
    Some(if core == Core::Measured { first } else { others }.to_owned())
}

/// Handed on to ourselves on other cores: all that there were.
pub const CORES: &str = "ANTEROOM_BENCH_CORES";

/// The cores we may use: `0,1,2,3`.
pub fn allowed() -> Option<String> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    let mut all: Vec<String> = Vec::new();
    for part in list.trim().split(',') {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        all.extend((low.parse::<u32>().ok()?..=high.parse().ok()?).map(|core| core.to_string()));
    }
    Some(all.join(","))
}

/// Whether a program is there.
pub fn is_installed(program: &str) -> bool {
    std::env::split_paths(&path()).any(|folder| folder.join(program).is_file())
}

/// A program of ours: `anteroom`, `examples/tuned`. What is measured was built as users have it, by `make bench-gateway`;
/// a few requests go to that of our own build. `None`: it is not there.
pub fn ours(name: &str) -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    // `target/debug/deps/gateway-…`
    let built = own.parent()?.parent()?;
    let folder = if is_full() { built.parent()?.join("release") } else { built.to_owned() };
    Some(folder.join(name)).filter(|path| path.is_file())
}

/// Whether this is about figures.
pub fn is_full() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}

/// Where programs are. Servers are for administrators, in many systems' eyes.
fn path() -> OsString {
    let mut path = std::env::var_os("PATH").unwrap_or_default();
    path.push(":/usr/local/sbin:/usr/sbin:/sbin");
    path
}

/// An address nobody listens on.
pub fn free_address() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listener.local_addr().expect("its address")
}

/// Writes a file that is nobody else's business.
pub fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    let mut options = OpenOptions::new();
    let file = options.write(true).create(true).truncate(true).mode(0o600).open(&path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).expect("a file");
    path
}
