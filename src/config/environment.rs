//! Variables that overrule the file, and those it names.
//!
//! Owns what each `ANTEROOM_…` variable changes. The variables come in as a value: a test is not at the mercy of the
//! machine it runs on. Never shows a value that may be a secret.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::net::SocketAddr;

use super::LogLevel;
use super::check::admin::DEFAULT_LISTEN;
use super::file::{AdminKey, File, Key, Veiled};
use super::nearest::nearest;
use super::report::{Report, VEIL, Written, quoted};
use crate::admin::Role;

/// The variables of a process.
#[derive(Clone, Default)]
pub struct Environment(BTreeMap<OsString, OsString>);

impl<N: Into<OsString>, V: Into<OsString>> FromIterator<(N, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(variables: I) -> Environment {
        let pairs = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        Environment(pairs.collect())
    }
}

impl fmt::Debug for Environment {
    /// Only names.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.keys()).finish()
    }
}

/// What stands for the options of `serve` without a file.
pub(super) const QUICK: [&str; 4] =
    ["ANTEROOM_ORIGIN", "ANTEROOM_RATE", "ANTEROOM_MAX_ACTIVE", "ANTEROOM_LISTEN"];

/// The id of the key that a variable brings. Passes name it, so it stays the same.
const VARIABLE_KEY: &str = "env";

impl Environment {
    /// A variable's value. Empty counts as not set: that is what `NAME=${OTHER:-}` leaves behind.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(std::ffi::OsStr::new(name))?.to_str().filter(|value| !value.is_empty())
    }

    /// A variable that may be quoted.
    pub(super) fn written(&self, name: &'static str) -> Option<Written<String>> {
        let value = self.get(name)?.to_owned();
        let text = quoted(&value);
        Some(Written { value, key: name.to_owned(), text })
    }

    /// Puts the variables in the place of what the file says.
    pub(super) fn overrule(&self, file: &mut File, report: &Report) {
        if let Some(port) = self.written("ANTEROOM_PORT") {
            overrule_port(port, file, report);
        }
        if let Some(url) = self.get("ANTEROOM_REDIS_ADDR") {
            let (key, text) = ("ANTEROOM_REDIS_ADDR".to_owned(), VEIL.to_owned());
            file.store.url = Some(Written { value: url.to_owned(), key, text });
        }
        if let Some(password) = self.get("ANTEROOM_REDIS_PASSWORD") {
            let (key, text) = ("ANTEROOM_REDIS_PASSWORD".to_owned(), VEIL.to_owned());
            let value = Veiled(password.to_owned());
            file.store.password = Some(Written { value, key, text });
            (file.store.password_file, file.store.password_env) = (None, None);
        }
        if let Some(secret) = self.get("ANTEROOM_TOKEN_SECRET") {
            let path = "ANTEROOM_TOKEN_SECRET".to_owned();
            let written = |value| Written { value, key: path.clone(), text: VEIL.to_owned() };
            let id = written(VARIABLE_KEY.to_owned());
            let secret = Written {
                value: Veiled(secret.to_owned()),
                key: path.clone(),
                text: VEIL.to_owned(),
            };
            // It signs; what the file has goes on verifying, so that no pass in force is lost.
            let key =
                Key { id: Some(id), secret: Some(secret), path: path.clone(), ..Key::default() };
            file.pass.insert(0, key);
        }
        self.overrule_admin(file, report);
        if let Some(level) = self.written("ANTEROOM_LOG_LEVEL") {
            match LogLevel::WORDS.iter().find(|(word, _)| *word == level.value.to_lowercase()) {
                Some((_, found)) => file.log.level = Some(level.map(|_| *found)),
                None => {
                    let words = LogLevel::WORDS.map(|(word, _)| word);
                    let means = match nearest(&level.value, words) {
                        Some(meant) => {
                            format!("the nearest one is {meant}. There are {}", words.join(", "))
                        }
                        None => format!("write one of {}", words.join(", ")),
                    };
                    report.problem(format!("{} is none of its words", level.said()), means);
                }
            }
        }
    }

    /// The operators' port. A key comes on top of what the file has.
    fn overrule_admin(&self, file: &mut File, report: &Report) {
        if let Some(listen) = self.written("ANTEROOM_ADMIN_LISTEN") {
            let address = Some(listen.value.clone()).filter(|address| address != "none");
            file.admin.listen = Some(listen.map(|_| address));
        }
        if let Some(port) = self.written("ANTEROOM_METRICS_PORT") {
            overrule_metrics_port(port, file, report);
        }
        if let Some(key) = self.get("ANTEROOM_ADMIN_API_KEY") {
            let path = "ANTEROOM_ADMIN_API_KEY".to_owned();
            let veiled = |value| Written { value, key: path.clone(), text: VEIL.to_owned() };
            let role = Written { value: Role::Admin, key: path.clone(), text: VEIL.to_owned() };
            let value = Veiled(key.to_owned());
            file.admin.keys.push(AdminKey {
                name: Some(veiled(VARIABLE_KEY.to_owned())),
                key: Some(Written { value, key: path.clone(), text: VEIL.to_owned() }),
                role: Some(role),
                path,
                ..AdminKey::default()
            });
        }
    }

    /// Says which variables have no effect beside a file.
    pub(super) fn warn_of_unused(&self, report: &Report) {
        for name in QUICK.into_iter().filter(|name| self.get(name).is_some()) {
            let means = "it stands for an option of `anteroom serve` without a file. Remove it, or write what \
                         it says into the file";
            report.warn(format!("{name} has no effect beside a file"), means);
        }
    }
}

/// A port of its own for the metrics, on the host of `metrics_listen` or else of the operators' port. If that is this very
/// port, they are there already.
fn overrule_metrics_port(port: Written<String>, file: &mut File, report: &Report) {
    let Ok(number) = port.value.parse::<u16>() else {
        let means = "write a number from 0 to 65535; 0 lets the system choose";
        return report.problem(format!("{} is not a port", port.said()), means);
    };
    let listen = match &file.admin.listen {
        None => Some(DEFAULT_LISTEN.to_owned()),
        Some(written) => written.value.clone(),
    };
    let near = file.admin.metrics_listen.as_ref().map(|written| written.value.clone());
    let near = near.or_else(|| listen.clone()).and_then(|near| near.parse::<SocketAddr>().ok());
    let mut address = near.unwrap_or(SocketAddr::from(([127, 0, 0, 1], 0)));
    address.set_port(number);
    let same = number != 0 && listen.as_deref() == Some(&address.to_string());
    file.admin.metrics_listen = (!same).then(|| port.map(|_| address.to_string()));
}

/// Another port for the one address there is; its host stays.
fn overrule_port(port: Written<String>, file: &mut File, report: &Report) {
    let Ok(number) = port.value.parse::<u16>() else {
        let means = "write a number from 0 to 65535; 0 lets the system choose";
        return report.problem(format!("{} is not a port", port.said()), means);
    };
    let listen = file.listen.get_or_insert_default();
    // What is typed outranks what is set.
    if listen.iter().any(|address| address.key.starts_with("--")) {
        return;
    }
    let host = match listen.as_slice() {
        [] => Some("0.0.0.0".to_owned()),
        [one] => one.value.parse::<SocketAddr>().ok().map(|address| match address {
            SocketAddr::V4(address) => address.ip().to_string(),
            SocketAddr::V6(address) => format!("[{}]", address.ip()),
        }),
        several => {
            let means = format!(
                "`listen` has {}, and which one is meant can't be told. Leave one there, or unset it",
                several.len()
            );
            return report.problem(format!("{} is the port of one address", port.said()), means);
        }
    };
    // An address that can't be read is reported where it stands.
    if let Some(host) = host {
        *listen = vec![port.map(|_| format!("{host}:{number}"))];
    }
}
