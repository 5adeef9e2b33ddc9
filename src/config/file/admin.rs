//! `[admin]` and `[metrics]`. Of the keys nothing is ever quoted: a key in the wrong field would be in a log.

use std::path::PathBuf;

use super::{PLAIN, Spoiled, Veiled};
use crate::admin::Role;
use crate::config::node::Node;
use crate::config::reader::{Level, Reader};
use crate::config::report::Written;

/// `[admin]`, one of its keys, and `[metrics]`.
pub(super) static LEVELS: [&Level; 3] = [
    &Level {
        name: "[admin]",
        keys: &["listen", "metrics_listen", "keys", "metrics_public"],
        ..PLAIN
    },
    &Level {
        name: "a key of [admin]",
        keys: &["name", "key", "key_file", "key_env", "key_hash", "role", "tenant"],
        veiled: true,
        ..PLAIN
    },
    &Level { name: "[metrics]", keys: &["prefix"], ..PLAIN },
];

/// `[admin]`.
#[derive(Debug, Default)]
pub struct Admin {
    /// Whether there is such a table.
    pub(in crate::config) written: bool,
    pub(in crate::config) listen: Option<Written<Option<String>>>,
    pub(in crate::config) metrics_listen: Option<Written<String>>,
    pub(in crate::config) keys: Vec<AdminKey>,
    pub(in crate::config) metrics_public: Option<Written<bool>>,
    pub(in crate::config) spoiled: Spoiled,
}

/// `{ name = "ops", key_file = "…", role = "operator" }`.
#[derive(Debug, Default)]
pub struct AdminKey {
    /// `admin.keys[0]`.
    pub(in crate::config) path: String,
    pub(in crate::config) name: Option<Written<String>>,
    pub(in crate::config) key: Option<Written<Veiled>>,
    pub(in crate::config) key_file: Option<Written<PathBuf>>,
    pub(in crate::config) key_env: Option<Written<String>>,
    pub(in crate::config) key_hash: Option<Written<String>>,
    pub(in crate::config) role: Option<Written<Role>>,
    pub(in crate::config) tenant: Option<Written<String>>,
    pub(in crate::config) spoiled: Spoiled,
}

impl Admin {
    pub(super) fn read(admin: Reader<'_>) -> Admin {
        Admin {
            written: true,
            listen: admin.or_none("listen", |node| node.text().map(str::to_owned)),
            metrics_listen: admin.text("metrics_listen"),
            keys: admin.tables("keys", LEVELS[1]).into_iter().map(AdminKey::read).collect(),
            metrics_public: admin.read("metrics_public", Node::flag),
            spoiled: admin.into_spoiled(),
        }
    }
}

impl AdminKey {
    fn read(key: Reader<'_>) -> AdminKey {
        AdminKey {
            path: key.path().to_owned(),
            name: key.text("name"),
            key: key.text("key").map(|key| key.map(Veiled)),
            key_file: key.read("key_file", Node::path),
            key_env: key.text("key_env"),
            key_hash: key.text("key_hash"),
            role: key.word("role", &Role::WORDS, &[]),
            tenant: key.text("tenant"),
            spoiled: key.into_spoiled(),
        }
    }
}
