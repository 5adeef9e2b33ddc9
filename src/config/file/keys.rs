//! `[keys]`: where secrets come from. Nothing in it is ever quoted, not even an id: a secret in the wrong field would
//! be in a log.

use std::fmt;
use std::path::PathBuf;

use super::PLAIN;
use crate::config::node::Node;
use crate::config::reader::{Level, Reader};
use crate::config::report::Written;

/// `[keys]` and one of its keys.
pub(super) static LEVELS: [&Level; 2] = [
    &Level { name: "[keys]", keys: &["signing", "pass"], veiled: true, ..PLAIN },
    &Level {
        name: "a key of [keys]",
        keys: &["id", "secret", "secret_file", "secret_env"],
        veiled: true,
        ..PLAIN
    },
];

/// `{ id = "k1", secret_file = "…" }`.
#[derive(Debug, Default)]
pub struct Key {
    /// `keys.signing[0]`.
    pub path: String,
    pub id: Option<Written<String>>,
    pub secret: Option<Written<Veiled>>,
    pub secret_file: Option<Written<PathBuf>>,
    pub secret_env: Option<Written<String>>,
    pub spoiled: super::Spoiled,
}

/// Text that is never shown.
#[derive(Clone, Default)]
pub struct Veiled(pub(in crate::config) String);

impl fmt::Debug for Veiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Veiled(…)")
    }
}

impl Key {
    /// All keys of `signing` or `pass`.
    pub(super) fn read_all(keys: &Reader<'_>, which: &'static str) -> Vec<Key> {
        let read = |key: Reader<'_>| Key {
            path: key.path().to_owned(),
            id: key.text("id"),
            secret: key.text("secret").map(|secret| secret.map(Veiled)),
            secret_file: key.read("secret_file", Node::path),
            secret_env: key.text("secret_env"),
            spoiled: key.into_spoiled(),
        };
        keys.tables(which, LEVELS[1]).into_iter().map(read).collect()
    }
}
