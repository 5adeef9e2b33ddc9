//! What tests need of the world: a real gateway, a site behind it, and people in front of it.
//!
//! Everything is on loopback and port 0, belongs to one test, and is gone with it. Nothing sleeps to be safe: whoever
//! waits, waits for something, and not for ever ([`PATIENCE`]).
//!
//! ```ignore
//! let origin = Origin::start();
//! let gateway = Gateway::before(&origin).room("sale", "max_active = 1").start();
//! let mut ann = Visitor::new(&gateway);
//! assert!(ann.open("/tickets").is_from_origin());
//! let mut bob = Visitor::new(&gateway);
//! assert_eq!(bob.open("/tickets").state().as_deref(), Some("waiting"));
//! ```
//!
//! - [`gateway`]: the program itself, started with a configuration, with signals, logs, reload and upgrade.
//! - [`origin`]: a site that does what it is asked for and remembers who asked.
//! - [`client`]: HTTP/1.1 byte by byte. [`visitor`]: a browser's headers and cookies on top of it.
//! - [`operator`]: somebody at the operators' port.
//! - [`tls`]: a certificate made for the test; HTTP/1.1 over TLS. [`http2`]: HTTP/2; [`frames`]: the same, frame by frame.
//! - [`mod@redis`]: Redis servers, Sentinels, a cluster, and a wire to them that can be delayed, stopped and cut.
//! - [`shaky`]: a store that can be lost; [`cut_off`]: a gateway that has one.
//! - [`tools`]: programs of others that judge ours. [`websocket`]: frames. [`forge`]: tickets and passes made by a test.

// A module for many tests: not everything is used by everyone.
#![allow(dead_code, unused_imports)]

pub mod client;
pub mod config;
pub mod cut_off;
pub mod forge;
pub mod frames;
pub mod gateway;
pub mod http2;
pub mod log;
pub mod operator;
pub mod origin;
pub mod redis;
pub mod shaky;
pub mod site;
pub mod tls;
pub mod tools;
pub mod visitor;
pub mod websocket;

use std::time::{Duration, Instant};

pub use client::{Connection, Request, Response};
pub use config::Config;
pub use cut_off::CutOff;
pub use gateway::Gateway;
pub use operator::Operator;
pub use origin::{Origin, Seen};
pub use visitor::Visitor;

/// How long anything may take before it is a failure: far longer than it takes on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Between two looks at something that will change.
const LOOK: Duration = Duration::from_millis(20);

/// Asks again and again until there is an answer.
///
/// # Panics
/// If there is none for too long: `what` says what was waited for.
#[track_caller]
pub fn eventually<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    within(PATIENCE, what, &mut ask)
}

/// Asks again and again for so long.
#[track_caller]
pub fn within<T>(patience: Duration, what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + patience;
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < until, "in {patience:?} never: {what}");
        std::thread::sleep(LOOK);
    }
}

/// Lets this process and its children open as many files as the system allows, and says how many that are.
pub fn raise_open_files() -> u64 {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let now = getrlimit(Resource::Nofile);
    let most = now.maximum.unwrap_or(1 << 20);
    if now.current.is_some_and(|current| current < most) {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(most), maximum: now.maximum });
    }
    getrlimit(Resource::Nofile).current.unwrap_or(most)
}

/// The library that turns a process's clock, if it is installed.
pub fn faketime() -> Option<String> {
    let folders = std::fs::read_dir("/usr/lib").ok()?.flatten().map(|folder| folder.path());
    let mut libraries = folders.map(|folder| folder.join("faketime/libfaketime.so.1"));
    libraries.find(|path| path.is_file()).map(|path| path.display().to_string())
}
