//! `[store]`: whether lines can be kept where the url says. Looks, and makes nothing.

use std::path::Path;

use rustix::fs::{Access, access};

use super::Check;
use crate::config::file::File;
use crate::config::nearest::nearest;
use crate::config::report::{Written, said};

/// One node that needs nothing but itself.
const DEFAULT: &str = "embedded:anteroom.db";

/// Described, and not there yet.
const LATER: [&str; 6] = ["redis", "rediss", "unix", "redis-sentinel", "redis-cluster", "valkey"];

impl Check<'_> {
    /// The url, with a path that counts from the working directory.
    pub(super) fn store(&self, file: &File) -> String {
        let usual = Written {
            value: DEFAULT.to_owned(),
            key: "store.url".to_owned(),
            text: format!("{DEFAULT:?}, its default,"),
        };
        let written = file.store_url.as_ref().unwrap_or(&usual);
        let (scheme, rest) = written.value.split_once(':').unwrap_or((&written.value, ""));
        // What follows the name of a kind we don't know may be a password.
        let key = written.key.as_str();
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
                // The default's sentence tells that it is one; a variable's path counts from where we are.
                let path = match key.starts_with("ANTEROOM_") {
                    true => Path::new(rest).to_owned(),
                    false => self.resolve(Path::new(rest)),
                };
                let shown = if file.store_url.is_some() {
                    format!("{:?}", written.value)
                } else {
                    written.text.clone()
                };
                if let Some((what, means)) = unusable(&path) {
                    self.report.problem(format!("{} {what}", said(key, &shown)), means);
                }
                return format!("embedded:{}", path.display());
            }
            other if LATER.contains(&other) || key == "ANTEROOM_REDIS_ADDR" => {
                let means = "lines are kept by this node alone so far. Use embedded:PATH, or memory: to try things out";
                let what = "names a Redis, which is not available in this version";
                let shown = if LATER.contains(&other) {
                    format!("\"{other}:…\"")
                } else {
                    "…".to_owned()
                };
                self.report.problem(format!("{} {what}", said(key, &shown)), means);
            }
            other => {
                let means = match nearest(other, ["embedded", "memory"]) {
                    Some(meant) => format!("the nearest one is \"{meant}:…\""),
                    None => "write \"embedded:PATH\" for a file, or \"memory:\" to try things out"
                        .to_owned(),
                };
                self.report.problem(format!("{key} names no kind of store"), means);
            }
        }
        written.value.clone()
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
        if let Err(error) = access(path, Access::READ_OK | Access::WRITE_OK) {
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
    if let Err(error) = access(parent, Access::WRITE_OK | Access::EXEC_OK) {
        let means = format!(
            "{}: {error}. Give the node's user the directory, or name another",
            parent.display()
        );
        return Some(("is in a directory that can't be written".to_owned(), means));
    }
    None
}
