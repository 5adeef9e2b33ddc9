//! The log: how a line looks, how it gets out, and how often one and the same thing is told.
//!
//! Owns the form, the level and the way to standard output. What is told is for each module to say: of visitors
//! [`chronicle`](crate::gateway::chronicle), of requests [`access`](crate::gateway::access), of operators `admin::log`. Tokens, keys and
//! cookies are never told, only hashes of them.
//!
//! - `line`: a JSON object a line, for machines.
//! - `pipe`: the way out; nobody who tells something waits for whoever reads it.
//! - `seldom`: one line for many.

mod line;
mod pipe;
mod seldom;

use std::io::{self, IsTerminal as _};

use tracing_subscriber::EnvFilter;

pub use pipe::Told;
pub use seldom::Seldom;

use crate::config::{LogFormat, LogLevel, LogSettings};
use line::Lines;
use pipe::Pipe;

/// Libraries beside us tell of every visitor who hangs up; only what is broken is of interest. That somebody else was quicker to
/// take an idle connection to an origin is not.
const OTHERS: &str = "error,pingora_core::connectors=off";

/// Under which name requests are told of: whoever wants those wants them whatever the level is.
pub const ACCESS: &str = "anteroom::access";

/// Sends what is told to standard output, from now on. Once a process. What is under way when [`Told`] is dropped is
/// written first.
pub fn start(settings: &LogSettings) -> Told {
    let pipe = Pipe::default();
    let filter = EnvFilter::new(filter(settings.level));
    let writer = pipe.clone();
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer);
    let json = match settings.format {
        LogFormat::Json => true,
        LogFormat::Text => false,
        LogFormat::Auto => !io::stdout().is_terminal(),
    };
    let started = match json {
        true => builder.event_format(Lines).try_init(),
        false => {
            builder.with_ansi(io::stdout().is_terminal()).with_target(false).compact().try_init()
        }
    };
    // Somebody who tells first is right: tests start more than one node in a process.
    pipe.open(started.is_ok())
}

fn filter(level: LogLevel) -> String {
    let least = match level {
        LogLevel::Error | LogLevel::Warn => LogLevel::Info,
        level => level,
    };
    format!("{OTHERS},anteroom={},{ACCESS}={}", level.name(), least.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_told_whatever_the_level() {
        assert!(filter(LogLevel::Error).ends_with("anteroom=error,anteroom::access=info"));
        assert!(filter(LogLevel::Warn).ends_with("anteroom=warn,anteroom::access=info"));
        assert!(filter(LogLevel::Trace).ends_with("anteroom=trace,anteroom::access=trace"));
    }
}
