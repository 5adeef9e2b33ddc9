//! Secrets, from where they are kept: a file, or a variable.
//!
//! Owns what is said about those that can't be found, and who else can read them. Never quotes what was written: it may
//! be the secret itself, in the wrong field. What is plainly the path of a file or the name of a variable is named,
//! because an operator looks there next.

use std::fs::File as Disk;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::Check;
use crate::config::report::Written;

/// A secret is a line. Who names a disk by mistake must not wait for it to be read.
const MAX_SECRET_FILE: u64 = 64 * 1024;

/// What a secret is for, for sentences.
pub(super) struct Use {
    /// The key to use instead of a variable.
    pub(super) file_key: &'static str,
    /// What its absence would cause.
    pub(super) without: &'static str,
    /// What to do about a file that holds no text.
    pub(super) no_text: &'static str,
}

impl Check<'_> {
    /// Where it was found, for sentences, and the text.
    pub(super) fn secret_file(
        &self,
        written: &Written<PathBuf>,
        purpose: &Use,
    ) -> Option<(String, String)> {
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
                    io::ErrorKind::InvalidData => purpose.no_text.to_owned(),
                    _ => format!("{error}. Paths count from the directory of this file"),
                };
                self.report.problem(format!("{place} can't be read"), means);
                None
            }
        }
    }

    /// The same, of a variable.
    pub(super) fn secret_variable(
        &self,
        written: &Written<String>,
        purpose: &Use,
    ) -> Option<(String, String)> {
        let name = &written.value;
        let place = match is_plainly_a_variable(name) {
            true => format!("{} = {name:?}", written.key),
            false => written.key.clone(),
        };
        match self.environment.get(name) {
            Some(text) => Some((place, text.to_owned())),
            None => {
                let Use { file_key, without, .. } = purpose;
                let means = format!(
                    "{without}. Set the variable in the environment of the node, or use {file_key}"
                );
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
