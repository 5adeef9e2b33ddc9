//! `[webhooks]`. Of the secret nothing is ever quoted.

use std::path::PathBuf;

use super::{PLAIN, Veiled};
use crate::config::node::Node;
use crate::config::reader::{Level, Reader};
use crate::config::report::Written;

pub(super) static LEVEL: Level = Level {
    name: "[webhooks]",
    keys: &["allow", "plain", "secret", "secret_file", "secret_env"],
    veiled: true,
    open: &["allow", "plain"],
    ..PLAIN
};

/// `[webhooks]`.
#[derive(Debug, Default)]
pub struct Webhooks {
    pub(in crate::config) allow: Vec<Written<String>>,
    pub(in crate::config) plain: Option<Written<bool>>,
    pub(in crate::config) secret: Option<Written<Veiled>>,
    pub(in crate::config) secret_file: Option<Written<PathBuf>>,
    pub(in crate::config) secret_env: Option<Written<String>>,
}

impl Webhooks {
    pub(super) fn read(webhooks: Reader<'_>) -> Webhooks {
        Webhooks {
            allow: webhooks.texts("allow").unwrap_or_default(),
            plain: webhooks.read("plain", Node::flag),
            secret: webhooks.text("secret").map(|secret| secret.map(Veiled)),
            secret_file: webhooks.read("secret_file", Node::path),
            secret_env: webhooks.text("secret_env"),
        }
    }
}
