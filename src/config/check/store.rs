//! `[store]`: whether lines can be kept where the url says. Looks, and makes nothing.

use std::path::{Path, PathBuf};

use rustix::fs::{Access as Right, access};

use super::Check;
use crate::config::StoreSettings;
use crate::config::file::{File, Store};
use crate::config::nearest::nearest;
use crate::config::report::{Written, said};
use crate::store::redis::{Access, Address};

/// One node that needs nothing but itself.
const DEFAULT: &str = "embedded:anteroom.db";

/// The variable that may leave out what kind of store it names.
const REDIS_VARIABLE: &str = "ANTEROOM_REDIS_ADDR";

impl Check<'_> {
    /// The url, with a path that counts from the working directory, and what opens it.
    pub(super) fn store(&self, file: &File) -> StoreSettings {
        let usual = Written {
            value: DEFAULT.to_owned(),
            key: "store.url".to_owned(),
            text: format!("{DEFAULT:?}, its default,"),
        };
        let written = file.store.url.as_ref().unwrap_or(&usual);
        let (key, url) = (written.key.as_str(), as_meant(written));
        let (scheme, rest) = url.split_once(':').unwrap_or((&url, ""));
        if Address::is_scheme(scheme) {
            return self.redis(file, key, scheme, &url);
        }
        self.only_for_redis(&file.store);
        // What follows the name of a kind we don't know may be a password.
        match scheme {
            "memory" if rest.is_empty() => {}
            "memory" => {
                let means = "nothing is kept, so it has no name. Write \"memory:\"";
                self.report.problem(
                    format!("{} has something after it", said(key, "\"memory:…\"")),
                    means,
                );
            }
            "embedded" if rest.is_empty() => {
                let means = "lines need a file. Write \"embedded:anteroom.db\"";
                self.report.problem(format!("{} names no file", said(key, "\"embedded:\"")), means);
            }
            "embedded" => {
                let path = self.of_store(key, Path::new(rest));
                let shown = match &file.store.url {
                    Some(_) => format!("{url:?}"),
                    // Its sentence tells that it is the default.
                    None => written.text.clone(),
                };
                if let Some((what, means)) = unusable(&path) {
                    self.report.problem(format!("{} {what}", said(key, &shown)), means);
                }
                let url = format!("embedded:{}", path.display());
                return StoreSettings { url, access: Access::default() };
            }
            other => {
                let kinds = Address::SCHEMES.into_iter().chain(["embedded", "memory"]);
                let means = match nearest(other, kinds) {
                    Some(meant) => format!("the nearest one is \"{meant}:…\""),
                    None => "write \"embedded:PATH\" for a file, \"redis://HOST:6379\" for a Redis that nodes share, or \
                             \"memory:\" to try things out"
                        .to_owned(),
                };
                self.report.problem(format!("{key} names no kind of store"), means);
            }
        }
        StoreSettings { url, access: Access::default() }
    }

    /// A path in a url: a variable's counts from where we are, the file's from where it is.
    pub(super) fn of_store(&self, key: &str, path: &Path) -> PathBuf {
        match key.starts_with("ANTEROOM_") {
            true => path.to_owned(),
            false => self.resolve(path),
        }
    }

    /// What opens a Redis opens no other store. No obstacle: a variable may have put another one in its place.
    fn only_for_redis(&self, store: &Store) {
        let others = [
            store.username.as_ref().map(|written| written.key.as_str()),
            store.ca_file.as_ref().map(|written| written.key.as_str()),
        ];
        for key in store.passwords().chain(others.into_iter().flatten()) {
            let means = "it opens a Redis, and the store is none. Remove it, or write store.url = \"redis://…\"";
            self.report.warn(format!("{key} has no effect"), means);
        }
    }
}

/// The url. `ANTEROOM_REDIS_ADDR=redis:6379` is a host and a port.
fn as_meant(written: &Written<String>) -> String {
    let url = &written.value;
    let named = ["memory:", "embedded:", "unix:"].iter().any(|kind| url.starts_with(kind));
    match written.key == REDIS_VARIABLE && !named && !url.contains("://") {
        true => format!("redis://{url}"),
        false => url.clone(),
    }
}

/// Why no store can be at a path: what, and what to do.
fn unusable(path: &Path) -> Option<(String, String)> {
    let parent =
        path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if let Ok(found) = path.metadata() {
        if !found.is_file() {
            let means = format!("{} is a directory or a device. Name a file", path.display());
            return Some(("is not a file".to_owned(), means));
        }
        if let Err(error) = access(path, Right::READ_OK | Right::WRITE_OK) {
            let means = format!(
                "{}: {error}. Give the node's user the file, or name another",
                path.display()
            );
            return Some(("can't be written".to_owned(), means));
        }
    }
    if !parent.is_dir() {
        let means = format!("there is no directory {}. Make it, or name another", parent.display());
        return Some(("has no directory to be in".to_owned(), means));
    }
    // A new file comes into being beside its place, and moves there.
    if let Err(error) = access(parent, Right::WRITE_OK | Right::EXEC_OK) {
        let means = format!(
            "{}: {error}. Give the node's user the directory, or name another",
            parent.display()
        );
        return Some(("is in a directory that can't be written".to_owned(), means));
    }
    None
}
