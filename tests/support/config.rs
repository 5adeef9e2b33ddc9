//! A configuration, as an operator would write it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::operator::{ADMIN, OPERATOR, VIEWER};

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
    more_store: String,
    admin: String,
    admin_keys: String,
    tls: bool,
    keys: bool,
    trusted: Option<PathBuf>,
    environment: Vec<(String, String)>,
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
            more_store: String::new(),
            admin: String::new(),
            admin_keys: String::new(),
            tls: false,
            keys: true,
            trusted: None,
            environment: Vec::new(),
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

    /// More lines of `[store]`.
    #[must_use]
    pub fn store(mut self, text: &str) -> Config {
        text.clone_into(&mut self.more_store);
        self
    }

    /// More lines of `[admin]`.
    #[must_use]
    pub fn admin(mut self, text: &str) -> Config {
        self.admin.push_str(text);
        self.admin.push('\n');
        self
    }

    /// Another key of the operators' port: `name = "…", key = "…", role = "…", tenant = "…"`.
    #[must_use]
    pub fn admin_key(mut self, text: &str) -> Config {
        let _ = write!(self.admin_keys, "{{ {text} }}, ");
        self
    }

    /// A store at this url.
    #[must_use]
    pub fn store_at(mut self, url: &str) -> Config {
        url.clone_into(&mut self.store);
        self
    }

    /// Variables that the process is started with.
    #[must_use]
    pub fn environment(mut self, variables: &[(&str, &str)]) -> Config {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        self.environment.extend(variables.iter().map(owned));
        self
    }

    /// See [`Config::environment`].
    pub fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.environment.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// A listener with TLS, too; HTTP/1.1 and HTTP/2.
    #[must_use]
    pub fn tls(mut self) -> Config {
        self.tls = true;
        self
    }

    /// Whose certificates the program believes, instead of those the system does. Not in the file: `SSL_CERT_FILE`.
    #[must_use]
    pub fn trusting(mut self, certificate: &Path) -> Config {
        self.trusted = Some(certificate.to_owned());
        self
    }

    /// What [`Config::trusting`] says.
    pub fn trusted(&self) -> Option<&Path> {
        self.trusted.as_deref()
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
        let keys = [("viewer", VIEWER), ("operator", OPERATOR), ("admin", ADMIN)];
        let mut admin = String::new();
        for (role, key) in keys {
            admin += &format!("{{ name = \"{role}\", key = \"{key}\", role = \"{role}\" }}, ");
        }
        line(format!("[admin]\nlisten = \"127.0.0.1:0\"\nkeys = [{admin}{}]", self.admin_keys));
        line(self.admin.clone());
        line(format!("[store]\nurl = \"{}\"\n{}", self.store, self.more_store));
        if self.keys {
            line(format!("[keys]\nsigning = [{{ id = \"k1\", secret = \"{SECRET}\" }}]"));
        }
        for (name, servers, text) in &self.origins {
            line(format!("[origins.{name}]\nservers = {servers:?}\n{text}"));
        }
        for Room { name, text, limits } in &self.rooms {
            let origin = if text.contains("origin = ") { "" } else { "origin = \"site\"\n" };
            let name = if name.contains('/') { format!("{name:?}") } else { name.clone() };
            line(format!("[rooms.{name}]\n{origin}{text}"));
            line(format!("[rooms.{name}.limits]\n{limits}"));
        }
        let _ = write!(text, "{}", self.tables);
        text
    }
}
