//! `[store]` where it names a Redis: what the url says, and what opens it. Opens no connection: a node starts while its
//! Redis is down.

use std::path::PathBuf;

use super::Check;
use super::secret::{Use, is_open_to_others};
use crate::config::StoreSettings;
use crate::config::file::{File, Store};
use crate::config::report::said;
use crate::store::redis::{Access, Address, BadAddress, Password, certificates_in};

const OPENING: Use = Use {
    file_key: "password_file",
    without: "Redis would let nobody in",
    no_text: "it is not text. Write the password into it, in one line",
};

impl Check<'_> {
    pub(super) fn redis(&self, file: &File, key: &str, scheme: &str, url: &str) -> StoreSettings {
        self.keys_for_redis(file, key, scheme);
        let store = &file.store;
        let ca_file = self.ca_file(store, scheme);
        let refuse = |bad: BadAddress| {
            let shown = said(key, &format!("\"{scheme}:…\""));
            self.report.problem(format!("{shown} {}", bad.what), bad.means);
        };
        let address = match Address::parse(url) {
            Ok(address) => address.resolved(|path| self.of_store(key, path)),
            Err(bad) => {
                refuse(bad);
                return StoreSettings { url: format!("{scheme}:"), access: Access::default() };
            }
        };
        let inside = address.access.password.is_some();
        // A variable's url that has a password in it overrules the file's.
        let beside = if inside && is_variable(key) && !store.passwords().any(is_variable) {
            Access { ca_file, ..Access::default() }
        } else {
            let username = store.username.as_ref().map(|written| written.value.clone());
            Access { username, password: self.password(store, inside), ca_file }
        };
        let url = address.to_string();
        match address.with(beside) {
            Ok(address) => StoreSettings { url, access: address.access },
            // Whatever was to be its password is reported already.
            Err(_) if store.passwords().next().is_some() || spoils(store) => {
                StoreSettings { url, access: Access::default() }
            }
            Err(bad) => {
                refuse(bad);
                StoreSettings { url, access: Access::default() }
            }
        }
    }

    /// Nodes that share a line must take each other's tickets.
    fn keys_for_redis(&self, file: &File, key: &str, scheme: &str) {
        let spoiled = file.spoils(&["keys"]) || file.keys_spoiled.contains("signing");
        if file.signing.is_empty() && !spoiled {
            let means = "this store needs [keys] signing, the same on every node: none could read another's tickets. Make \
                         a secret with `anteroom keygen`, and write signing = [{ id = \"k1\", secret_file = \"…\" }]";
            let shown = said(key, &format!("\"{scheme}:…\""));
            self.report.problem(format!("{shown} names a Redis, and there is no key"), means);
        }
    }

    /// The one password that was given beside the url.
    fn password(&self, store: &Store, inside: bool) -> Option<Password> {
        let given: Vec<&str> = store.passwords().collect();
        let in_url = inside && !given.iter().any(|key| is_variable(key));
        if given.len() + usize::from(in_url) > 1 {
            let means = "which one counts can't be told. Keep one: in the url, password_file, password_env or password";
            self.report.problem("store has more than one password", means);
            return None;
        }
        let (place, text) = if let Some(written) = &store.password {
            self.warn_of_readers(&written.key);
            (written.key.clone(), written.value.0.clone())
        } else if let Some(written) = &store.password_file {
            self.secret_file(written, &OPENING)?
        } else {
            self.secret_variable(store.password_env.as_ref()?, &OPENING)?
        };
        // Editors end a line.
        let password = text.trim_end_matches(['\r', '\n']);
        if password.is_empty() || password.contains(['\r', '\n']) {
            let means = "a password is one line of text. Leave the key out where Redis wants none";
            self.report.problem(format!("{place} holds no password"), means);
            return None;
        }
        Some(Password(password.to_owned()))
    }

    fn warn_of_readers(&self, key: &str) {
        if let Some(path) = self.source.filter(|path| is_open_to_others(path))
            && !is_variable(key)
        {
            let means = "every user of this machine can read the password in it. chmod o-rwx the file, or use \
                         password_file";
            let said = format!("{key} is there, and {} is open to others", path.display());
            self.report.warn(said, means);
        }
    }

    /// Who signs the certificates of Redis.
    fn ca_file(&self, store: &Store, scheme: &str) -> Option<PathBuf> {
        let written = store.ca_file.as_ref()?;
        let path = self.resolve(&written.value);
        if let Err(error) = certificates_in(&path) {
            self.report
                .problem(format!("{} names nobody to trust", written.said()), error.to_string());
        } else if !Address::is_tls(scheme) {
            let means = "nothing is proven without TLS. Write rediss:// if Redis speaks it";
            self.report.warn(format!("{} has no effect", written.said()), means);
        }
        Some(path)
    }
}

fn is_variable(key: &str) -> bool {
    key.starts_with("ANTEROOM_")
}

fn spoils(store: &Store) -> bool {
    ["password", "password_file", "password_env"].iter().any(|key| store.spoiled.contains(key))
}
