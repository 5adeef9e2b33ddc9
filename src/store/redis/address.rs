//! What a url names: one Redis, those who know where it is, or several that share the work. Pure.
//!
//! Owns the spelling of a store's url and the sentences about urls that can't be used. Never shows a
//! password, and never quotes a url that it can't read: where a slash is out of place, anything in it may
//! be a piece of one.
//!
//! | url | names |
//! |---|---|
//! | `redis://HOST:6379/0` | one server |
//! | `unix:/run/redis.sock?db=0` | one server on this machine |
//! | `redis-sentinel://HOST:26379,HOST:26379/NAME/0` | whichever server the Sentinels call the master NAME |
//! | `redis-cluster://HOST:6379,HOST:6379` | a cluster, by some of its nodes |
//!
//! `rediss` instead of `redis` speaks TLS, also with all they lead to. `valkey` is another word for
//! `redis`. `USER:PASSWORD@` may stand before the first host, or come from elsewhere as [`Access`].

use std::fmt;
use std::path::{Path, PathBuf};

use percent_encoding::percent_decode_str;

const PORT: u16 = 6379;
const SENTINEL_PORT: u16 = 26379;

/// Where a Redis is, and what opens it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Whom to ask.
    pub target: Target,
    /// Whether to speak TLS, to everybody.
    pub tls: bool,
    /// The number of the database.
    pub database: u32,
    /// What opens it.
    pub access: Access,
}

/// Whom to ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// One server.
    Server(Server),
    /// One server, through a socket of this machine.
    Socket(PathBuf),
    /// Whichever server they call the master of this name.
    Sentinels {
        /// Any of them.
        sentinels: Vec<Server>,
        /// The name they watch it under.
        master: String,
    },
    /// The nodes of a cluster, or some of them.
    Cluster(Vec<Server>),
}

/// A host and a port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Server {
    /// A name or an IP address, IPv6 without brackets.
    pub host: String,
    /// Its port.
    pub port: u16,
}

/// What opens a Redis. Given beside a url, or in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// An ACL user; without one the user is `default`.
    pub username: Option<String>,
    /// Its password.
    pub password: Option<Password>,
    /// Who signs the certificates, in PEM. Without it, whoever this machine trusts.
    pub ca_file: Option<PathBuf>,
}

/// A password that nobody may see.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(pub String);

/// Why a url names nothing, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {means}")]
pub struct BadAddress {
    /// "names no host".
    pub what: &'static str,
    /// What to write.
    pub means: String,
}

/// The four forms a url may have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Server,
    Socket,
    Sentinels,
    Cluster,
}

impl Form {
    /// An example, for sentences.
    fn example(self) -> &'static str {
        match self {
            Form::Server => "redis://HOST:6379",
            Form::Socket => "unix:/run/redis/redis.sock",
            Form::Sentinels => "redis-sentinel://HOST:26379,HOST:26379/NAME",
            Form::Cluster => "redis-cluster://HOST:6379,HOST:6379",
        }
    }

    /// What is wrong, why that is, and how it is written.
    fn refuse<T>(self, what: &'static str, why: &str) -> Result<T, BadAddress> {
        let means = match why {
            "" => format!("write {}", self.example()),
            why => format!("{why}. Write {}", self.example()),
        };
        Err(BadAddress { what, means })
    }
}

fn refuse<T>(what: &'static str, means: impl Into<String>) -> Result<T, BadAddress> {
    Err(BadAddress { what, means: means.into() })
}

/// What the word before the colon asks for: the form, and whether over TLS.
fn form(scheme: &str) -> Option<(Form, bool)> {
    if scheme == "unix" {
        return Some((Form::Socket, false));
    }
    let rest = scheme.strip_prefix("redis").or_else(|| scheme.strip_prefix("valkey"))?;
    let (rest, tls) = match rest.strip_prefix('s') {
        Some(rest) => (rest, true),
        None => (rest, false),
    };
    match rest {
        "" => Some((Form::Server, tls)),
        "-sentinel" => Some((Form::Sentinels, tls)),
        "-cluster" => Some((Form::Cluster, tls)),
        _ => None,
    }
}

impl Address {
    /// The words before the colon that name a Redis; `valkey` stands for `redis` in each.
    pub const SCHEMES: [&'static str; 7] = [
        "redis",
        "rediss",
        "unix",
        "redis-sentinel",
        "rediss-sentinel",
        "redis-cluster",
        "rediss-cluster",
    ];

    /// Whether a url with this word before its colon names a Redis at all.
    pub fn is_scheme(scheme: &str) -> bool {
        form(scheme).is_some()
    }

    /// Whether a url with this word before its colon speaks TLS.
    pub fn is_tls(scheme: &str) -> bool {
        form(scheme).is_some_and(|(_, tls)| tls)
    }

    /// Reads a url.
    ///
    /// # Errors
    /// What is wrong with it, and what to write instead.
    pub fn parse(url: &str) -> Result<Address, BadAddress> {
        let (scheme, rest) = url.split_once(':').unwrap_or((url, ""));
        let Some((form, tls)) = form(scheme) else {
            let means = format!("write one of {}, followed by ://", Address::SCHEMES.join(", "));
            return refuse("names no kind of Redis", means);
        };
        if form == Form::Socket {
            return socket(rest);
        }
        if rest.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return form.refuse("has a space or a line end in it", "");
        }
        let Some(rest) = rest.strip_prefix("//") else {
            return form.refuse("has no // after its kind", "");
        };
        if rest.contains(['?', '#']) {
            let means = "it has none. A password with ? or # in it goes into password_file, or is written with \
                         %3F and %23";
            return refuse("has parameters", means);
        }
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        if path.contains('@') {
            let means = "no host can be there. A password with a slash in it goes into password_file, or is \
                         written with %2F";
            return refuse("has an @ after its first slash", means);
        }
        let (access, hosts) = match authority.rsplit_once('@') {
            Some((access, hosts)) => (opened_by(form, access)?, hosts),
            None => (Access::default(), authority),
        };
        let path = path.strip_suffix('/').unwrap_or(path);
        let (target, database) = match form {
            Form::Sentinels => {
                let sentinels = servers(form, hosts, SENTINEL_PORT)?;
                let (master, database) = path.split_once('/').unwrap_or((path, ""));
                if master.is_empty() {
                    return form.refuse("names no master", "Sentinels watch each one under a name");
                }
                let master = master.to_owned();
                (Target::Sentinels { sentinels, master }, number(form, database)?)
            }
            Form::Cluster => {
                if !matches!(path, "" | "0") {
                    return form.refuse("names a database", "a cluster has one only, number 0");
                }
                (Target::Cluster(servers(form, hosts, PORT)?), 0)
            }
            Form::Server | Form::Socket => {
                if hosts.contains(',') {
                    let means = format!(
                        "only Sentinels and the nodes of a cluster may be several. Write {} or {}",
                        Form::Sentinels.example(),
                        Form::Cluster.example()
                    );
                    return refuse("names several servers", means);
                }
                (Target::Server(server(form, hosts, PORT)?), number(form, path)?)
            }
        };
        Ok(Address { target, tls, database, access })
    }

    /// The same, with what was given beside the url in the place of what is in it.
    ///
    /// # Errors
    /// A user without a password.
    pub fn with(mut self, beside: Access) -> Result<Address, BadAddress> {
        self.access.username = beside.username.or(self.access.username);
        self.access.password = beside.password.or(self.access.password);
        self.access.ca_file = beside.ca_file.or(self.access.ca_file);
        if self.access.username.is_some() && self.access.password.is_none() {
            let means = "a user is let in by a password. Give one with password_file, or leave the user out";
            return refuse("has a user and no password", means);
        }
        Ok(self)
    }

    /// The same, with the path of a socket made another one.
    #[must_use]
    pub fn resolved(mut self, resolve: impl FnOnce(&Path) -> PathBuf) -> Address {
        if let Target::Socket(path) = &mut self.target {
            *path = resolve(path);
        }
        self
    }
}

/// `unix:/run/redis.sock`, `unix:///run/redis.sock`, each with `?db=2`.
fn socket(rest: &str) -> Result<Address, BadAddress> {
    let form = Form::Socket;
    let (path, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    let path = path.strip_prefix("//").unwrap_or(path);
    if path.is_empty() {
        return form.refuse("names no socket", "");
    }
    let database = match parameters.strip_prefix("db=") {
        Some(database) => number(form, database)?,
        None if parameters.is_empty() => 0,
        None => {
            let means = "only the number of a database may be one: ?db=2. User and password have keys of their own";
            return refuse("has parameters", means);
        }
    };
    let target = Target::Socket(PathBuf::from(path));
    Ok(Address { target, tls: false, database, access: Access::default() })
}

/// `user:password`, `:password` or `user`.
fn opened_by(form: Form, text: &str) -> Result<Access, BadAddress> {
    let decoded = |text: &str| match percent_decode_str(text).decode_utf8() {
        Ok(text) => Ok((!text.is_empty()).then(|| text.into_owned())),
        Err(_) => form.refuse("has a user or password that is not text", ""),
    };
    let (username, password) = text.split_once(':').unwrap_or((text, ""));
    let password = decoded(password)?.map(Password);
    Ok(Access { username: decoded(username)?, password, ca_file: None })
}

fn servers(form: Form, text: &str, port: u16) -> Result<Vec<Server>, BadAddress> {
    text.split(',').map(|one| server(form, one, port)).collect()
}

/// `host`, `host:port`, `[::1]:port`.
fn server(form: Form, text: &str, usual: u16) -> Result<Server, BadAddress> {
    let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, port)) => (host, port),
        None => match text.split_once(':') {
            Some((_, more)) if more.contains(':') => {
                return form.refuse("has too many colons", "an IPv6 address stands in [brackets]");
            }
            Some((host, _)) => (host, &text[host.len()..]),
            None => (text, ""),
        },
    };
    if host.is_empty() || host.contains(['[', ']']) {
        return form.refuse("names no host", "");
    }
    let port = match port.strip_prefix(':') {
        None if port.is_empty() => Some(usual),
        port => port.and_then(|port| port.parse().ok()).filter(|port| *port != 0),
    };
    match port {
        Some(port) => Ok(Server { host: host.to_owned(), port }),
        None => form.refuse("has a port that is none", "a port is a number up to 65535"),
    }
}

fn number(form: Form, text: &str) -> Result<u32, BadAddress> {
    match text {
        "" => Ok(0),
        text => match text.parse() {
            Ok(number) if number <= i32::MAX as u32 => Ok(number),
            _ => {
                let last = if form == Form::Socket { "?db=0" } else { "/0" };
                let means =
                    format!("databases are numbered from 0. Write {}{last}", form.example());
                refuse("has a database that is no number", means)
            }
        },
    }
}

impl fmt::Display for Address {
    /// The url, without what opens it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = if self.tls { "s" } else { "" };
        let joined = |servers: &[Server]| {
            let each: Vec<String> = servers.iter().map(Server::to_string).collect();
            each.join(",")
        };
        match &self.target {
            Target::Server(server) => write!(f, "redis{s}://{server}")?,
            Target::Socket(path) => write!(f, "unix:{}", path.display())?,
            Target::Sentinels { sentinels, master } => {
                write!(f, "redis{s}-sentinel://{}/{master}", joined(sentinels))?;
            }
            Target::Cluster(seeds) => write!(f, "redis{s}-cluster://{}", joined(seeds))?,
        }
        match (self.database, &self.target) {
            (0, _) => Ok(()),
            (number, Target::Socket(_)) => write!(f, "?db={number}"),
            (number, _) => write!(f, "/{number}"),
        }
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(..)")
    }
}
