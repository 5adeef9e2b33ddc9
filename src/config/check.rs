//! What goes with what: from the file as it was written to what every part is given.
//!
//! Owns every rule about values and between them, and each default that belongs to no module. Looks at the file system
//! (certificates, secrets, pages, where the store will be) and changes nothing there. Never stops at a problem:
//! what is refused gets its default, so that the rest can be judged, and the plan is thrown away in the end.

pub(super) mod admin;
mod bounds;
mod classes;
mod keys;
mod line;
mod listen;
mod loss;
mod origin;
mod overlap;
mod page;
mod pattern;
mod redis;
mod room;
mod schedule;
mod secret;
mod slots;
mod store;
mod webhooks;

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::environment::Environment;
use super::file::File;
use super::report::{Report, Written};
use super::{LogFormat, LogLevel, LogSettings, Plan};
use crate::gateway::settings::Settings;
use crate::units as text;

/// What the rules need besides the values.
pub(super) struct Check<'a> {
    report: &'a Report,
    environment: &'a Environment,
    /// Whose directory paths count from.
    source: Option<&'a Path>,
}

/// Judges a file whole.
pub(super) fn check(
    file: File,
    source: Option<&Path>,
    environment: &Environment,
    report: &Report,
) -> Plan {
    let check = Check { report, environment, source };
    let trusted_proxies = check.trusted_proxies(&file);
    let mut taken = listen::Taken::new();
    let (listen, tls) = check.addresses(&file, &mut taken);
    let origins = check.origins(&file);
    let sites = check.sites(&file);
    let way_in = room::WayIn { tls: !tls.is_empty(), proxies: !trusted_proxies.is_empty() };
    let rooms: Vec<_> = file.rooms.iter().map(|room| check.room(room, &file, way_in)).collect();
    check.between_rooms(&file, &rooms, &sites);
    if file.rooms.is_empty() && file.sites.is_empty() && !file.spoils(&["rooms", "sites"]) {
        let means = "every request would be answered 421. Write a [rooms.NAME], or a [sites.\"HOST\"] for a \
                     host without a room";
        report.problem("there is neither a room nor a site", means);
    }
    let gateway = Settings {
        listen,
        tls,
        threads: check.threads(&file),
        upgrade_socket: check.upgrade_socket(&file),
        grace: check.grace(&file),
        trusted_proxies,
        api_hosts: check.api_hosts(&file),
        sites,
        origins,
        rooms,
        bounds: check.bounds(&file.bounds),
        loss: check.loss(&file),
        webhooks: check.webhooks(&file),
        access: file.log.access.as_ref().map_or(0.0, |access| access.value),
    };
    let log = LogSettings {
        level: file.log.level.as_ref().map_or(LogLevel::Info, |level| level.value),
        format: file.log.format.as_ref().map_or(LogFormat::Auto, |format| format.value),
    };
    let store = check.store(&file);
    let keys = check.keys(&file);
    let admin = check.admin(&file, &mut taken);
    let metrics = check.metrics(&file);
    Plan { gateway, store, keys, log, admin, metrics, source: source.map(Path::to_owned) }
}

impl Check<'_> {
    /// A path that counts from the file's directory.
    fn resolve(&self, path: &Path) -> PathBuf {
        match self.source.and_then(Path::parent) {
            Some(directory) => directory.join(path),
            None => path.to_owned(),
        }
    }

    /// A duration within its range.
    fn duration(
        &self,
        written: Option<&Written<u64>>,
        default: Duration,
        (low, high): (u64, u64),
        why: &str,
    ) -> Duration {
        let Some(written) = written else { return default };
        self.within(written, low, high, text::span, why).map_or(default, Duration::from_millis)
    }

    /// A number within its range; `show` gives its unit.
    fn within(
        &self,
        written: &Written<u64>,
        low: u64,
        high: u64,
        show: fn(u64) -> String,
        why: &str,
    ) -> Option<u64> {
        if (low..=high).contains(&written.value) {
            return Some(written.value);
        }
        let said = format!("{} is not between {} and {}", written.said(), show(low), show(high));
        self.report.problem(said, why);
        None
    }
}
