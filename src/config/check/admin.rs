//! `[admin]` and `[metrics]`: who may steer the node, from where, and what its figures are called.
//!
//! Never quotes what stands in a key's table: it may be the key itself in the wrong field.

use std::net::SocketAddr;

use super::Check;
use super::listen::Taken;
use super::secret::{Use, is_open_to_others};
use crate::admin::{Hash, Key, Settings};
use crate::config::file::{AdminKey, File};
use crate::config::report::Written;
use crate::{metrics, name};

/// This machine only. The seat of those who run a sale is not for visitors.
pub(in crate::config) const DEFAULT_LISTEN: &str = "127.0.0.1:9090";

/// A key that somebody thought of. Below the first it is refused; below the second it might be guessed from its hash.
const MIN_KEY: usize = 16;
const GOOD_KEY: usize = 32;

/// Shorter than any key that `keygen` makes: one in the wrong field is no name.
const MAX_NAME: usize = 32;

const ASKING: Use = Use {
    file_key: "key_file",
    without: "nobody could ask with it",
    no_text: "it is not text. `anteroom keygen --admin` makes a key",
};

impl Check<'_> {
    pub(super) fn admin(&self, file: &File, taken: &mut Taken) -> Settings {
        let admin = &file.admin;
        let usual = Written {
            value: Some(DEFAULT_LISTEN.to_owned()),
            key: "admin.listen".to_owned(),
            text: format!("{DEFAULT_LISTEN:?}"),
        };
        let spoiled = file.spoils(&["admin"]) || admin.spoiled.contains("listen");
        let listen = admin.listen.clone().or_else(|| (!spoiled).then_some(usual));
        let listen = listen.and_then(|written| {
            let address = Written { value: written.value?, key: written.key, text: written.text };
            let found = self.address(&address, taken)?;
            Some((address, found))
        });
        let keys = self.admin_keys(file);
        if let Some((written, address)) = &listen
            && !keys.is_empty()
            && address.parse::<SocketAddr>().is_ok_and(|address| !address.ip().is_loopback())
        {
            let means = "keys would travel unencrypted. Listen on 127.0.0.1, and let a proxy with TLS, a tunnel or a network of \
                         your own lead there";
            self.report.warn(format!("{} is open to other machines", written.said()), means);
        }
        let metrics_listen = admin.metrics_listen.as_ref();
        let metrics_listen = metrics_listen.and_then(|written| self.address(written, taken));
        if admin.written
            && admin.keys.is_empty()
            && !admin.spoiled.contains("keys")
            && listen.is_some()
        {
            let means = "only /health and /metrics are answered. Make a key with `anteroom keygen --admin`, and write keys = \
                         [{ name = \"ops\", key_hash = \"…\", role = \"admin\" }]";
            self.report.warn("admin has no keys", means);
        }
        let tenants = keys.iter().any(|key| key.tenant.is_some());
        let metrics_public = match &admin.metrics_public {
            None => !tenants,
            Some(written) => {
                if written.value && tenants {
                    let means = "whoever reaches the port reads every tenant's figures. Leave it out, and each sees its own \
                                 with its key";
                    self.report.warn(format!("{} is for all tenants", written.said()), means);
                }
                written.value
            }
        };
        let listen = listen.map(|(_, address)| address);
        Settings { listen, metrics_listen, keys, metrics_public }
    }

    fn admin_keys(&self, file: &File) -> Vec<Key> {
        let mut keys: Vec<(&AdminKey, Key)> = Vec::new();
        for written in &file.admin.keys {
            let Some(key) = self.admin_key(written, file) else { continue };
            if let Some((other, _)) = keys.iter().find(|(_, other)| other.name == key.name) {
                let said = format!("{}.name is the same as that of {}", written.path, other.path);
                self.report
                    .problem(said, "the log could not tell who did what. Name each key otherwise");
            }
            if let Some((other, _)) = keys.iter().find(|(_, other)| other.hash == key.hash) {
                let said = format!("{} is the same key as {}", written.path, other.path);
                self.report.problem(said, "whose role counts can't be told. Make one for each with `anteroom keygen --admin`");
            }
            keys.push((written, key));
        }
        let inline = |key: &AdminKey| key.key.is_some() && !key.path.starts_with("ANTEROOM_");
        if let Some(path) = self.source.filter(|path| is_open_to_others(path))
            && file.admin.keys.iter().any(inline)
        {
            let means = "every user of this machine can read the key in it. chmod o-rwx the file, or use key_hash";
            let said = format!("admin has a key, and {} is open to others", path.display());
            self.report.warn(said, means);
        }
        keys.into_iter().map(|(_, key)| key).collect()
    }

    fn admin_key(&self, key: &AdminKey, file: &File) -> Option<Key> {
        let path = &key.path;
        let missing = |field: &str, means: &str| {
            if !key.spoiled.contains(field) {
                self.report.problem(format!("{path} has no {field}"), means);
            }
        };
        if key.name.is_none() {
            missing(
                "name",
                "the log says who did what. Write name = \"ops\", and another one for the next key",
            );
        }
        if key.role.is_none() {
            missing(
                "role",
                "what it is good for can't be told. Write role = \"viewer\", \"operator\" or \"admin\"",
            );
        }
        let hash = self.admin_hash(key);
        let tenant = match &key.tenant {
            None => None,
            Some(written) => Some(self.tenant(key, &written.value, file)?),
        };
        let Written { value: name, .. } = key.name.as_ref()?;
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._@-".contains(&byte);
        if name.is_empty() || name.len() > MAX_NAME || !name.bytes().all(plain) {
            let means = format!("a name has 1 to {MAX_NAME} letters, digits or . _ @ -");
            self.report.problem(format!("{path}.name is no name"), means);
            return None;
        }
        let role = key.role.as_ref().map(|role| role.value)?;
        Some(Key { name: name.clone(), hash: hash?, role, tenant })
    }

    /// What is kept of a key.
    fn admin_hash(&self, key: &AdminKey) -> Option<Hash> {
        const FORMS: [&str; 4] = ["key_hash", "key_file", "key_env", "key"];
        let path = &key.path;
        let given = [
            key.key_hash.is_some(),
            key.key_file.is_some(),
            key.key_env.is_some(),
            key.key.is_some(),
        ];
        match given.iter().filter(|given| **given).count() {
            0 if FORMS.iter().any(|form| key.spoiled.contains(form)) => return None,
            0 => {
                let means = "nobody could ask with it. Give it key_hash, key_file, key_env or key; `anteroom keygen --admin` makes one";
                self.report.problem(format!("{path} has no key"), means);
                return None;
            }
            1 => {}
            _ => {
                let means = "which one counts can't be told. Keep one of key_hash, key_file, key_env and key";
                self.report.problem(format!("{path} has more than one key"), means);
                return None;
            }
        }
        if let Some(written) = &key.key_hash {
            let found = Hash::parse(written.value.trim());
            if found.is_none() {
                let means = "write the 64 hexadecimal digits that `anteroom keygen --admin` prints beside the key";
                self.report.problem(format!("{path}.key_hash is no hash"), means);
            }
            return found;
        }
        let (place, text) = if let Some(written) = &key.key {
            (written.key.clone(), written.value.0.clone())
        } else if let Some(written) = &key.key_file {
            self.secret_file(written, &ASKING)?
        } else {
            self.secret_variable(key.key_env.as_ref()?, &ASKING)?
        };
        let text = text.trim();
        if text.len() < MIN_KEY || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            let means = format!(
                "a key has at least {MIN_KEY} letters, digits and signs, without a space: it is sent in a header. `anteroom keygen \
                 --admin` makes one"
            );
            self.report.problem(format!("{place} holds no key"), means);
            return None;
        }
        if text.len() < GOOD_KEY {
            let means =
                "it may be guessed. `anteroom keygen --admin` makes one that nobody guesses";
            self.report.warn(format!("{place} is a short key"), means);
        }
        Some(Hash::of(text.as_bytes()))
    }

    fn tenant(&self, key: &AdminKey, tenant: &str, file: &File) -> Option<String> {
        if !name::is_room(tenant) || tenant.contains('/') {
            let means =
                "a tenant is what stands before the / in a room's name: letters, digits or . _ -";
            self.report.problem(format!("{}.tenant is no tenant", key.path), means);
            return None;
        }
        let has = |room: &crate::config::file::Room| {
            room.name.split_once('/').is_some_and(|(owner, _)| owner == tenant)
        };
        if !file.rooms.iter().any(has) {
            let means =
                "whoever has it sees nothing. Name a room TENANT/ROOM, or mend the spelling";
            self.report.warn(format!("{}.tenant has no room", key.path), means);
        }
        Some(tenant.to_owned())
    }

    pub(super) fn metrics(&self, file: &File) -> metrics::Settings {
        let usual = metrics::Settings::default();
        let Some(written) = &file.metrics_prefix else { return usual };
        let prefix = &written.value;
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let begins = !prefix.starts_with(|first: char| first.is_ascii_digit());
        if prefix.len() > MAX_NAME || !begins || !prefix.bytes().all(plain) {
            let means = format!(
                "a metric's name has letters, digits and _, and does not begin with a digit. Write at most {MAX_NAME} of them"
            );
            self.report.problem(format!("{} is no prefix", written.said()), means);
            return usual;
        }
        metrics::Settings { prefix: prefix.clone() }
    }
}
