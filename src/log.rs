//! How the log looks: a JSON object a line for machines, a line of words for people.
//!
//! Owns the form and the level. What is told is for each module to say; tokens, keys and cookies are never told.

use std::fmt;
use std::io::{self, IsTerminal as _};

use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use crate::clock;
use crate::config::{LogFormat, LogSettings};

/// Libraries beside us tell of every visitor who hangs up; only what is broken is of interest. That somebody else was quicker to
/// take an idle connection to an origin is not.
const OTHERS: &str = "error,pingora_core::connectors=off";

/// Sends what is told to standard output, from now on. Once a process.
pub fn start(settings: &LogSettings) {
    let filter = format!("{OTHERS},anteroom={}", settings.level.name());
    let builder =
        tracing_subscriber::fmt().with_env_filter(EnvFilter::new(filter)).with_writer(io::stdout);
    let json = match settings.format {
        LogFormat::Json => true,
        LogFormat::Text => false,
        LogFormat::Auto => !io::stdout().is_terminal(),
    };
    // Somebody who tells first is right: tests start more than one node in a process.
    let _ = match json {
        true => builder.event_format(Lines).try_init(),
        false => builder.with_target(false).compact().try_init(),
    };
}

/// One JSON object a line: timestamp, level, service, and what the event says of itself.
struct Lines;

impl<S, N> FormatEvent<S, N> for Lines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut line = Line(Map::new());
        line.0.insert("timestamp".to_owned(), clock::moment(clock::now_ms()).into());
        let level = event.metadata().level().as_str().to_ascii_lowercase();
        line.0.insert("level".to_owned(), level.into());
        line.0.insert("service".to_owned(), "anteroom".into());
        event.record(&mut line);
        writeln!(writer, "{}", Value::Object(line.0))
    }
}

struct Line(Map<String, Value>);

impl Line {
    /// Where in a library something was said is nobody's business, and tells of the machine it was built on.
    fn put(&mut self, field: &Field, value: Value) {
        if !field.name().starts_with("log.") {
            self.0.insert(field.name().to_owned(), value);
        }
    }
}

impl Visit for Line {
    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value.into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, value.into());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, format!("{value:?}").into());
    }
}
