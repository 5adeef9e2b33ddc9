//! The configuration: from what a user wrote to what every part is given, or to every problem at once.
//!
//! Owns the file's keys, the spelling of their values, the defaults that are nobody else's, and every rule between
//! two keys. There are two forms: `file` is what was written, with the words for complaints; [`Plan`] is what is
//! used, each module's own `Settings`. Knows everyone's Settings; nobody knows it. Never opens a socket, never
//! makes or changes a file, never reads the process's environment (it comes in as [`Environment`]), and never shows
//! a secret: not in a problem, not in a `Debug`.
//!
//! - `nearest`: the key somebody meant. Pure.
//! - `report`: problems and warnings, collected.
//! - `node`, `reader`: TOML, read without stopping at the first mistake.
//! - `file`: the keys there are.
//! - `environment`: variables that overrule the file.
//! - `quick`: a site without a file.
//! - `check`: what goes with what.

mod check;
mod environment;
mod file;
mod nearest;
mod node;
mod quick;
mod reader;
mod report;

use std::path::{Path, PathBuf};

use toml::de::DeTable;

use crate::gateway::settings::Settings;
use crate::store::redis::Access;
use crate::token::Key;
use crate::{admin, metrics};

pub use environment::Environment;
pub use file::known_keys;
pub use quick::{Quick, quick};
pub use report::{Problem, Problems, Warning};

use file::File;
use report::Report;

/// Everything a node is told.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The way in, and the rooms.
    pub gateway: Settings,
    /// Where lines are kept.
    pub store: StoreSettings,
    /// What signs.
    pub keys: Keys,
    /// What is told to whoever reads along.
    pub log: LogSettings,
    /// The operators' port.
    pub admin: admin::Settings,
    /// What is measured.
    pub metrics: metrics::Settings,
    /// The file this came from.
    pub source: Option<PathBuf>,
}

/// Where lines are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreSettings {
    /// As [`crate::store::open`] takes it; a path in it counts from the working directory. What opens it is not
    /// in it: it may be shown.
    pub url: String,
    /// What opens it, if it is a Redis.
    pub access: Access,
}

/// What signs. Both may be empty: then the embedded store's own key does.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    /// The first signs tickets and derives pass keys; all verify.
    pub signing: Vec<Key>,
    /// Shared with origins; the first signs passes.
    pub pass: Vec<Key>,
}

/// What is logged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogSettings {
    /// The least important that is told.
    pub level: LogLevel,
    /// How.
    pub format: LogFormat,
}

/// How important a line of the log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogLevel {
    /// Broken things.
    Error,
    /// Limits, suspicion, configuration.
    Warn,
    /// Joins, releases, passes.
    Info,
    /// Heartbeats, positions.
    Debug,
    /// Everything.
    Trace,
}

impl LogLevel {
    const WORDS: [(&'static str, LogLevel); 5] = [
        ("error", LogLevel::Error),
        ("warn", LogLevel::Warn),
        ("info", LogLevel::Info),
        ("debug", LogLevel::Debug),
        ("trace", LogLevel::Trace),
    ];

    /// `info`.
    pub fn name(self) -> &'static str {
        let named = LogLevel::WORDS.iter().find(|(_, level)| *level == self);
        named.map_or("info", |(name, _)| name)
    }
}

/// How a line of the log looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people on a terminal, else for machines.
    Auto,
    /// For machines.
    Json,
    /// For people.
    Text,
}

impl LogFormat {
    const WORDS: [(&'static str, LogFormat); 3] =
        [("auto", LogFormat::Auto), ("json", LogFormat::Json), ("text", LogFormat::Text)];
}

/// Reads a file, with what the environment overrules.
///
/// # Errors
/// Every problem there is. A file that isn't TOML has only those that make it unreadable: guesses at the rest of it
/// would bury them.
pub fn load(path: &Path, environment: &Environment) -> Result<(Plan, Vec<Warning>), Problems> {
    let report = Report::new(Some(path.display().to_string()));
    let source = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) => {
            let means = format!("{error}. Name another file with -c or ANTEROOM_CONFIG");
            report.problem("can't be read", means);
            return report.verdict(None);
        }
    };
    let Ok(source) = String::from_utf8(source) else {
        report.problem("is not text", "a configuration is TOML, in UTF-8. Name another file");
        return report.verdict(None);
    };
    let (table, errors) = DeTable::parse_recoverable(&source);
    if !errors.is_empty() {
        report_errors(&source, &errors, &report);
        return report.verdict(None);
    }
    let mut file = File::read(&source, table.get_ref(), &report);
    environment.overrule(&mut file, &report);
    environment.warn_of_unused(&report);
    let plan = check::check(file, Some(path), environment, &report);
    report.verdict(Some(plan))
}

/// Where TOML ends to be TOML. A bracket that is left open makes a mistake of every line after it, so the first
/// few lines are told, each once.
fn report_errors(source: &str, errors: &[toml::de::Error], report: &Report) {
    const MOST: usize = 3;
    let place = |error: &toml::de::Error| error.span().map_or(source.len(), |span| span.start);
    let mut errors: Vec<_> = errors.iter().collect();
    errors.sort_by_key(|error| place(error));
    let placed = errors.into_iter().map(|error| (position(source, place(error)), error.message()));
    let mut told: Vec<usize> = Vec::new();
    for ((line, column), message) in placed {
        if told.len() < MOST && !told.contains(&line) {
            told.push(line);
            // Not the error's own sentence, which shows the line: there may be a secret on it.
            report.unreadable(line, column, "is not TOML", message);
        }
    }
}

/// Line and column of a byte, from 1, the column in characters.
fn position(source: &str, offset: usize) -> (usize, usize) {
    let mut before = source.get(..offset).unwrap_or(source).split('\n');
    let last = before.next_back().unwrap_or_default();
    (before.count() + 1, last.chars().count() + 1)
}
