//! `[keys]`: secrets from where they are kept to keys that sign.
//!
//! Never quotes what stands in this table: it may be a secret in the wrong field.

use super::Check;
use super::secret::{Use, is_open_to_others};
use crate::config::Keys;
use crate::config::file::{self, File};
use crate::token::{Key, KeyError, KeyRing, Secret};

const SIGNING: Use = Use {
    file_key: "secret_file",
    without: "nothing could be signed with it",
    no_text: "it is not text. `anteroom keygen` makes a secret",
};

impl Check<'_> {
    pub(super) fn keys(&self, file: &File) -> Keys {
        let mut ids: Vec<(&str, &str)> = Vec::new();
        for key in file.signing.iter().chain(&file.pass) {
            let Some(id) = &key.id else { continue };
            match ids.iter().find(|(other, _)| *other == id.value) {
                Some((_, place)) => {
                    let means = "which one verifies a token would depend on their order. Each key of `signing` \
                                 and `pass` needs an id of its own";
                    self.report
                        .problem(format!("{}.id is the same as that of {place}", key.path), means);
                }
                None => ids.push((&id.value, &key.path)),
            }
        }
        let signing: Vec<Key> = file.signing.iter().filter_map(|key| self.key(key)).collect();
        let pass: Vec<Key> = file.pass.iter().filter_map(|key| self.key(key)).collect();
        if let Err(error @ KeyError::Shared(_)) = KeyRing::new(signing.clone(), pass.clone()) {
            self.report.problem("keys.pass and keys.signing share a secret", error.to_string());
        }
        let inline = |key: &file::Key| key.secret.is_some() && !key.path.starts_with("ANTEROOM_");
        if let Some(path) = self.source.filter(|path| is_open_to_others(path))
            && file.signing.iter().chain(&file.pass).any(inline)
        {
            let means = "every user of this machine can read the secret in it. chmod o-rwx the file, or use secret_file";
            self.report.warn(
                format!("keys has a secret, and {} is open to others", path.display()),
                means,
            );
        }
        Keys { signing, pass }
    }

    fn key(&self, key: &file::Key) -> Option<Key> {
        let path = &key.path;
        if key.id.is_none() && !key.spoiled.contains("id") {
            let means = "tokens name the key that signed them. Write id = \"k1\", and another one for the next key";
            self.report.problem(format!("{path} has no id"), means);
        }
        let given = [key.secret.is_some(), key.secret_file.is_some(), key.secret_env.is_some()];
        let spoiled =
            ["secret", "secret_file", "secret_env"].iter().any(|k| key.spoiled.contains(k));
        match given.iter().filter(|given| **given).count() {
            0 if spoiled => return None,
            0 => {
                let means =
                    "nothing could be signed with it. Give it secret_file, secret_env or secret";
                self.report.problem(format!("{path} has no secret"), means);
                return None;
            }
            1 => {}
            _ => {
                let means = "which one counts can't be told. Keep one of secret_file, secret_env and secret";
                self.report.problem(format!("{path} has more than one secret"), means);
                return None;
            }
        }
        let (place, text) = if let Some(written) = &key.secret {
            (written.key.clone(), written.value.0.clone())
        } else if let Some(written) = &key.secret_file {
            self.secret_file(written, &SIGNING)?
        } else {
            self.secret_variable(key.secret_env.as_ref()?, &SIGNING)?
        };
        let secret = match Secret::new(&text) {
            Ok(secret) => secret,
            Err(error) => {
                self.report
                    .problem(format!("{place} holds nothing to sign with"), error.to_string());
                return None;
            }
        };
        match Key::new(&key.id.as_ref()?.value, secret) {
            Ok(key) => Some(key),
            Err(error) => {
                let means = format!("{error}; tokens carry it as it is");
                self.report.problem(format!("{path}.id is not an id"), means);
                None
            }
        }
    }
}
