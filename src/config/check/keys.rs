//! `[keys]`: secrets from where they are kept to keys that sign.
//!
//! Never quotes what stands in this table: it may be a secret in the wrong field. What is plainly the path of a
//! file or the name of a variable is named, because an operator looks there next.

use std::fs::File as Disk;
use std::io::{self, Read as _};
use std::path::Path;

use super::Check;
use crate::config::Keys;
use crate::config::file::{self, File};
use crate::config::report::Written;
use crate::token::{Key, KeyError, KeyRing, Secret};

/// A secret is a line. Who names a disk by mistake must not wait for it to be read.
const MAX_SECRET_FILE: u64 = 64 * 1024;

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
            self.secret_file(written)?
        } else {
            self.secret_variable(key.secret_env.as_ref()?)?
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

    /// Where it was found, for sentences, and the text.
    fn secret_file(&self, written: &Written<std::path::PathBuf>) -> Option<(String, String)> {
        let path = self.resolve(&written.value);
        let place = match is_plainly_a_path(&written.value, &path) {
            true => format!("{} = {:?}", written.key, written.value),
            false => written.key.clone(),
        };
        match read_secret(&path) {
            Ok(text) => {
                if is_open_to_others(&path) {
                    let means = "every user of this machine can read the secret. chmod o-rwx it";
                    self.report.warn(format!("{place} is open to others"), means);
                }
                Some((place, text))
            }
            Err(error) => {
                let means = match error.kind() {
                    io::ErrorKind::InvalidData => {
                        "it is not text. `anteroom keygen` makes a secret".to_owned()
                    }
                    _ => format!("{error}. Paths count from the directory of this file"),
                };
                self.report.problem(format!("{place} can't be read"), means);
                None
            }
        }
    }

    fn secret_variable(&self, written: &Written<String>) -> Option<(String, String)> {
        let name = &written.value;
        let place = match is_plainly_a_variable(name) {
            true => format!("{} = {name:?}", written.key),
            false => written.key.clone(),
        };
        match self.environment.get(name) {
            Some(text) => Some((place, text.to_owned())),
            None => {
                let means = "nothing could be signed with it. Set the variable in the environment of the node, or use \
                             secret_file";
                self.report.problem(format!("{place} names a variable that is not set"), means);
                None
            }
        }
    }
}

fn read_secret(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    Disk::open(path)?.take(MAX_SECRET_FILE).read_to_string(&mut text)?;
    Ok(text)
}

/// A secret has neither an ending nor a directory that exists.
fn is_plainly_a_path(written: &Path, resolved: &Path) -> bool {
    let short = written.as_os_str().len() < 32;
    let parent = written.parent().filter(|parent| parent.components().count() > 1);
    resolved.is_file()
        || (short && written.extension().is_some())
        || parent.is_some_and(Path::is_dir)
}

/// Capitals with underscores, `ANTEROOM_KEY`: no secret that `keygen` makes looks so.
fn is_plainly_a_variable(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    name.contains('_') && name.len() < 40 && name.bytes().all(plain)
}

/// Whether any user of the machine may read it. The group may: that is how a service is given a secret.
pub(super) fn is_open_to_others(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o004 != 0)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}
