//! A configuration, as an operator would write it.

use std::fmt::Write as _;

/// The secret that signs in tests: known, so that tests can sign, too.
pub const SECRET: &str = "a signing secret of the tests, known to all";

/// Limits that no test runs into unless it asks for them: all tests come from one address.
const NO_LIMITS: &str = "join_per_address = \"none\"\njoin_per_device = \"none\"\njoin_per_user = \"none\"\n\
     requests_per_address = \"none\"\nrequests_per_ticket = \"none\"\n";

/// A configuration file in the making.
#[derive(Clone, Debug)]
pub struct Config {
    top: String,
    tables: String,
    origins: Vec<(String, Vec<String>, String)>,
    rooms: Vec<Room>,
    store: String,
    tls: bool,
    keys: bool,
}

#[derive(Clone, Debug)]
struct Room {
    name: String,
    text: String,
    limits: String,
}

impl Config {
    /// One origin named `site`, and no room yet. Plain HTTP on a free port, a store in memory, a known key.
    pub fn new(servers: &[String]) -> Config {
        let site = ("site".to_owned(), servers.to_vec(), "health_interval = \"none\"".to_owned());
        Config {
            top: String::new(),
            tables: String::new(),
            origins: vec![site],
            rooms: Vec::new(),
            store: "memory:".to_owned(),
            tls: false,
            keys: true,
        }
    }

    /// A room before `site`, with lines of TOML of its own.
    #[must_use]
    pub fn room(mut self, name: &str, text: &str) -> Config {
        let (name, limits) = (name.to_owned(), NO_LIMITS.to_owned());
        self.rooms.push(Room { name, text: text.to_owned(), limits });
        self
    }

    /// The limits of the last room: lines of `[rooms.NAME.limits]`. Without a word there are none.
    #[must_use]
    pub fn limits(mut self, text: &str) -> Config {
        let room = self.rooms.last_mut().expect("limits are a room's");
        for line in text.lines() {
            let key = line.split('=').next().unwrap_or_default().trim();
            let kept = room.limits.lines().filter(|old| !old.starts_with(key));
            room.limits = kept.map(|old| format!("{old}\n")).collect::<String>() + line + "\n";
        }
        self
    }

    /// Another origin.
    #[must_use]
    pub fn origin(mut self, name: &str, servers: &[String], text: &str) -> Config {
        self.origins.push((name.to_owned(), servers.to_vec(), text.to_owned()));
        self
    }

    /// What is said about `site`, instead of no health checks.
    #[must_use]
    pub fn site(mut self, text: &str) -> Config {
        self.origins[0].2 = text.to_owned();
        self
    }

    /// Lines at the top of the file.
    #[must_use]
    pub fn top(mut self, text: &str) -> Config {
        self.top.push_str(text);
        self.top.push('\n');
        self
    }

    /// Tables of their own, such as `[bounds]`.
    #[must_use]
    pub fn tables(mut self, text: &str) -> Config {
        self.tables.push_str(text);
        self.tables.push('\n');
        self
    }

    /// A store in a file beside the configuration, which outlives the process.
    #[must_use]
    pub fn embedded(mut self) -> Config {
        self.store = "embedded:anteroom.db".to_owned();
        self
    }

    /// A listener with TLS, too; HTTP/1.1 and HTTP/2.
    #[must_use]
    pub fn tls(mut self) -> Config {
        self.tls = true;
        self
    }

    /// No `[keys]`: the store keeps one.
    #[must_use]
    pub fn without_keys(mut self) -> Config {
        self.keys = false;
        self
    }

    /// Whether there is a listener with TLS.
    pub fn has_tls(&self) -> bool {
        self.tls
    }

    /// The file.
    pub fn text(&self) -> String {
        let mut text = String::from("listen = [\"127.0.0.1:0\"]\nthreads = 2\n");
        text.push_str(&self.top);
        if self.tls {
            text.push_str(
                "[[tls]]\nlisten = \"127.0.0.1:0\"\ncert = \"cert.pem\"\nkey = \"key.pem\"\n",
            );
        }
        let mut line = |line: String| {
            text.push_str(&line);
            text.push('\n');
        };
        line(format!("[store]\nurl = \"{}\"", self.store));
        if self.keys {
            line(format!("[keys]\nsigning = [{{ id = \"k1\", secret = \"{SECRET}\" }}]"));
        }
        for (name, servers, text) in &self.origins {
            line(format!("[origins.{name}]\nservers = {servers:?}\n{text}"));
        }
        for Room { name, text, limits } in &self.rooms {
            let origin = if text.contains("origin = ") { "" } else { "origin = \"site\"\n" };
            line(format!("[rooms.{name}]\n{origin}{text}"));
            line(format!("[rooms.{name}.limits]\n{limits}"));
        }
        let _ = write!(text, "{}", self.tables);
        text
    }
}
