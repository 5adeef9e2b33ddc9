//! One JSON object a line: timestamp, level, service, event, and what the event says of itself.
//!
//! Owns what every line has, whoever tells it. A line about a room names it (`event_id`), and so its tenant stands beside it
//! (`tenant_id`, empty without one). In a flash crowd there are thousands of lines a second: each is written straight
//! into one buffer, without a table of its fields.

use std::fmt::{self, Write};

use serde_json::Value;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use crate::clock;
use crate::metrics::tenant_of;

/// Fields that are JSON already.
const NESTED: [&str; 2] = ["metadata", "parameters"];

/// The form.
pub(super) struct Lines;

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
        let level = event.metadata().level().as_str().to_ascii_lowercase();
        let timestamp = clock::moment(clock::now_ms());
        write!(writer, r#"{{"timestamp":"{timestamp}","level":"{level}","service":"anteroom""#)?;
        let mut line = Line { out: &mut writer, named: false, written: Ok(()) };
        event.record(&mut line);
        let Line { named, written, .. } = line;
        written?;
        if !named {
            // A library's: what it tells has no name.
            writer.write_str(r#","event":"library""#)?;
        }
        writer.write_str("}\n")
    }
}

struct Line<'w, W> {
    out: &'w mut W,
    /// Whether it has said which event it is.
    named: bool,
    written: fmt::Result,
}

impl<W: Write> Line<'_, W> {
    fn put(&mut self, field: &Field, value: impl FnOnce(&mut W) -> fmt::Result) {
        let name = match field.name() {
            // Where in a library something was said tells of the machine it was built on.
            "log.target" => "source",
            name if name.starts_with("log.") => return,
            name => name,
        };
        self.named |= name == "event";
        if self.written.is_ok() {
            self.written = write!(self.out, ",\"{name}\":").and_then(|()| value(self.out));
        }
    }

    fn put_text(&mut self, field: &Field, text: &str) {
        self.put(field, |out| match nested(field, text) {
            Some(value) => write!(out, "{value}"),
            None => quoted(out, format_args!("{text}")),
        });
        if field.name() == "event_id" && self.written.is_ok() {
            self.written = self
                .out
                .write_str(",\"tenant_id\":")
                .and_then(|()| quoted(self.out, format_args!("{}", tenant_of(text))));
        }
    }
}

/// What is JSON itself stays so; whoever wrote it, the line stays one line.
fn nested(field: &Field, text: &str) -> Option<Value> {
    NESTED.contains(&field.name()).then(|| serde_json::from_str(text).ok()).flatten()
}

impl<W: Write> Visit for Line<'_, W> {
    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, |out| write!(out, "{value}"));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, |out| write!(out, "{value}"));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, |out| match value.is_finite() {
            true => write!(out, "{value}"),
            false => out.write_str("null"),
        });
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, |out| write!(out, "{value}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put_text(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match NESTED.contains(&field.name()) {
            true => self.put_text(field, &format!("{value:?}")),
            false => self.put(field, |out| quoted(out, format_args!("{value:?}"))),
        }
    }
}

fn quoted(out: &mut impl Write, text: fmt::Arguments<'_>) -> fmt::Result {
    out.write_char('"')?;
    Escaped(out).write_fmt(text)?;
    out.write_char('"')
}

/// Text inside of quotes.
struct Escaped<'w, W>(&'w mut W);

impl<W: Write> Write for Escaped<'_, W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text;
        let special = |c: char| c == '"' || c == '\\' || c.is_control();
        while let Some(at) = rest.find(special) {
            let (plain, behind) = rest.split_at(at);
            self.0.write_str(plain)?;
            let mut behind = behind.chars();
            match behind.next() {
                Some(quote @ ('"' | '\\')) => write!(self.0, "\\{quote}")?,
                Some('\n') => self.0.write_str("\\n")?,
                Some(control) => write!(self.0, "\\u{:04x}", u32::from(control))?,
                None => {}
            }
            rest = behind.as_str();
        }
        self.0.write_str(rest)
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use tracing_subscriber::fmt::MakeWriter;

    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl<'a> MakeWriter<'a> for Kept {
        type Writer = Kept;
        fn make_writer(&'a self) -> Kept {
            self.clone()
        }
    }

    /// What is told as one line of text.
    fn told(tell: impl FnOnce()) -> String {
        let kept = Kept::default();
        let subscriber =
            tracing_subscriber::fmt().with_writer(kept.clone()).event_format(Lines).finish();
        tracing::subscriber::with_default(subscriber, tell);
        let bytes = kept.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn whatever_is_told_it_is_one_object_on_one_line() {
        let evil = "a \"b\" \\ c\nd\r\t\u{7f}\u{85}\u{0} é 🎟";
        let text = told(|| {
            let absent: Option<&str> = None;
            tracing::warn!(
                event = "some.thing",
                event_id = "acme/sale",
                evil,
                shown = %evil,
                debug = ?evil,
                absent,
                number = 7_u64,
                below = -7_i64,
                float = 0.5,
                nan = f64::NAN,
                flag = true,
                metadata = "{\"a\":\n{\"b\":1}}",
                parameters = %"no JSON",
                "some words"
            );
        });
        assert_eq!(text.matches('\n').count(), 1, "{text}");
        let line: Value = serde_json::from_str(&text).unwrap();
        let said = |name: &str| line[name].clone();
        assert_eq!((said("level"), said("service")), ("warn".into(), "anteroom".into()));
        assert_eq!((said("event"), said("message")), ("some.thing".into(), "some words".into()));
        assert_eq!((said("event_id"), said("tenant_id")), ("acme/sale".into(), "acme".into()));
        assert_eq!((said("evil"), said("shown")), (evil.into(), evil.into()));
        assert_eq!(said("debug"), format!("{evil:?}"));
        assert_eq!(line.get("absent"), None);
        assert_eq!((said("number"), said("below")), (7.into(), (-7).into()));
        assert_eq!((said("float"), said("nan")), (0.5.into(), Value::Null));
        assert_eq!((said("flag"), said("parameters")), (true.into(), "no JSON".into()));
        assert_eq!(line["metadata"]["a"]["b"], 1);
        assert_eq!(said("timestamp").as_str().map(str::len), Some(24));
    }

    #[test]
    fn every_line_has_an_event() {
        let line: Value = serde_json::from_str(&told(|| tracing::error!("oh"))).unwrap();
        assert_eq!((&line["event"], &line["message"]), (&"library".into(), &"oh".into()));
        let line: Value =
            serde_json::from_str(&told(|| tracing::info!(event = "e", event_id = "sale"))).unwrap();
        assert_eq!(line["tenant_id"], "");
    }
}
