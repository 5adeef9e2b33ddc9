//! `anteroom check`: the start-up path without starting.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::net::ToSocketAddrs as _;
use std::process::ExitCode;

use clap::Args;

use super::source::{Found, Source};
use super::{Done, USAGE};
use crate::config::{Environment, Plan};
use crate::gateway::settings::Room;
use crate::line::{Mode, Pace};
use crate::units::{grouped, pace};

/// Say whether a configuration is good, with every problem at once: exit code 0 or 64
#[derive(Args)]
#[command(
    after_help = "Options may also be given as ANTEROOM_CONFIG, _ORIGIN, _RATE, _MAX_ACTIVE, _LISTEN."
)]
pub(super) struct Check {
    #[command(flatten)]
    source: Source,
}

impl Check {
    pub(super) fn run(self) -> Done {
        let environment: Environment = std::env::vars_os().collect();
        let (text, code, said) = match self.source.plan(&environment) {
            Err(refused) => (String::new(), USAGE.into(), refused.text()),
            Ok(found) => match unknown(&found) {
                lost if lost.is_empty() => (summary(&found), ExitCode::SUCCESS, found.warned()),
                lost => (String::new(), USAGE.into(), found.warned() + &lost),
            },
        };
        let _ = io::stderr().write_all(said.as_bytes());
        Ok((text, code))
    }
}

/// The servers whose names lead nowhere, as problems: a node that does not find one does not start. All are looked up at
/// once, for a name that nobody answers for takes its time.
fn unknown(Found { plan, name, .. }: &Found) -> String {
    let servers = plan.gateway.origins.iter().flat_map(|(origin, settings)| {
        settings.servers.iter().map(move |server| (origin.as_str(), server.as_str()))
    });
    let servers: Vec<(&str, &str)> = servers.collect();
    let found: Vec<_> = std::thread::scope(|scope| {
        let asked = servers.iter().map(|(_, server)| scope.spawn(|| is_known(server)));
        let asked: Vec<_> = asked.collect();
        asked.into_iter().map(|one| one.join().unwrap_or(Ok(()))).collect()
    });
    let mut text = String::new();
    let mut count = 0;
    for ((origin, server), found) in servers.iter().zip(found) {
        if let Err(problem) = found {
            let _ = writeln!(
                text,
                "{name}: origins.{origin}: {server:?} is not found: {problem}:\n  names are looked up when a node \
                 starts, and it would not. Correct the name, or write the server's address."
            );
            count += 1;
        }
    }
    if count > 0 {
        let noun = if count == 1 { "problem" } else { "problems" };
        let _ = writeln!(text, "anteroom: {count} {noun} in the configuration");
    }
    text
}

/// # Errors
/// Why it has no address.
fn is_known(server: &str) -> io::Result<()> {
    match server.to_socket_addrs()?.next() {
        Some(_) => Ok(()),
        None => Err(io::Error::other("no address has this name")),
    }
}

/// What would run, in a few lines.
fn summary(Found { plan, warnings, name }: &Found) -> String {
    let warned = match warnings.len() {
        0 => String::new(),
        1 => ", with a warning".to_owned(),
        several => format!(", with {several} warnings"),
    };
    let mut text = format!("{name} is good{warned}.\n");
    let mut line = |what: &str, about: &str| {
        let _ = writeln!(text, "  {what:<8} {about}");
    };
    for address in &plan.gateway.listen {
        line("listens", &format!("http://{address}"));
    }
    for tls in &plan.gateway.tls {
        let certificates = match tls.certificates.len() {
            1 => String::new(),
            several => format!(", {several} certificates"),
        };
        line("listens", &format!("https://{}{certificates}", tls.listen));
    }
    if let Some(address) = &plan.admin.listen {
        line("admin", &format!("http://{address}, {}", operators(plan)));
    }
    if let Some(address) = &plan.admin.metrics_listen {
        line("metrics", &format!("http://{address}/metrics"));
    }
    line("store", &plan.store.url);
    line("keys", &signing(plan));
    for room in &plan.gateway.rooms {
        line("room", &guarded(room));
        line("", &limits(room));
    }
    for (host, origin) in &plan.gateway.sites {
        let host = if host == "*" { "any other host" } else { host };
        line("site", &format!("{host} -> {origin}"));
    }
    for (name, origin) in &plan.gateway.origins {
        let scheme = if origin.tls { "https" } else { "http" };
        line("origin", &format!("{name}: {scheme}://{}", origin.servers.join(", ")));
    }
    text
}

/// Names and roles only.
fn operators(plan: &Plan) -> String {
    let keys = plan.admin.keys.iter().map(|key| format!("{} ({})", key.name, key.role.name()));
    match keys.collect::<Vec<_>>() {
        none if none.is_empty() => {
            "health and metrics only: `anteroom keygen --admin` makes a key for the rest".to_owned()
        }
        keys => format!("keys: {}", keys.join(", ")),
    }
}

/// Ids only.
fn signing(plan: &Plan) -> String {
    let ids = |keys: &[crate::token::Key]| {
        let ids: Vec<&str> = keys.iter().map(crate::token::Key::id).collect();
        ids.join(", ")
    };
    let signing = match plan.keys.signing.as_slice() {
        [] => "the store's own".to_owned(),
        keys => ids(keys),
    };
    match plan.keys.pass.as_slice() {
        [] => signing,
        keys => format!("{signing}; passes: {}", ids(keys)),
    }
}

/// `sale: shop.example.com /checkout /drop/* -> shop`.
fn guarded(Room { guard, .. }: &Room) -> String {
    let hosts = match &guard.hosts {
        None => "any host".to_owned(),
        Some(hosts) if hosts.is_empty() => return format!("{}: over its API only", guard.room),
        Some(hosts) => hosts.join(" "),
    };
    let paths = match &guard.paths {
        None => "every path".to_owned(),
        Some(paths) => paths.join(" "),
    };
    let mut text = format!("{}: {hosts}, {paths} -> {}", guard.room, guard.origin);
    if !guard.bypass.is_empty() {
        let _ = write!(text, ", exceptions: {}", guard.bypass.len());
    }
    text
}

/// `5/s, burst 5; 500 inside, 100,000 waiting`.
fn limits(Room { line, .. }: &Room) -> String {
    let mut parts = Vec::new();
    match line.mode {
        Mode::Auto => {}
        Mode::Hold => parts.push("hold".to_owned()),
        Mode::Drain => parts.push("drain".to_owned()),
        Mode::Closed => parts.push("closed".to_owned()),
        Mode::Bypass => parts.push("bypass".to_owned()),
        Mode::Shadow => parts.push("shadow".to_owned()),
    }
    parts.push(match line.pace {
        None => "any pace".to_owned(),
        Some(Pace::Rate { rate, .. }) if rate.count == 0 => "released by hand only".to_owned(),
        Some(Pace::Rate { rate, burst }) => {
            format!("{}, burst {}", pace(rate.count, rate.per_ms), grouped(burst))
        }
        Some(Pace::Batch { batch, interval_ms, windows }) => {
            format!("{} in {windows} windows", pace(batch, interval_ms))
        }
    });
    let seats = line.max_active.map_or("any number".to_owned(), grouped);
    let waiting = line.max_waiting.map_or("any number".to_owned(), grouped);
    parts.push(format!("{seats} inside, {waiting} waiting"));
    parts.join(", ")
}
