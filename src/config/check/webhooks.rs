//! `[webhooks]`: where letters may go, and what they are signed with.

use super::Check;
use super::secret::Use;
use crate::config::file::File;
use crate::webhook::{Rules, Secret};

/// A secret that somebody thought of could be found by trying.
const MIN_SECRET: usize = 16;

const SIGNING: Use = Use {
    file_key: "secret_file",
    without: "letters would not be signed with it",
    no_text: "it is not text. `anteroom keygen` makes a secret",
};

impl Check<'_> {
    /// The rules, with the hosts that rooms name themselves: whoever writes the file may send letters.
    pub(super) fn webhooks(&self, file: &File) -> Rules {
        let webhooks = &file.webhooks;
        let mut rules = Rules {
            plain: webhooks.plain.as_ref().is_some_and(|plain| plain.value),
            ..Rules::default()
        };
        for host in &webhooks.allow {
            let plain = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
            if host.value.is_empty() || !host.value.chars().all(plain) {
                let means = "letters go to hosts. Write backend.example.com, without https:// and without a path";
                self.report.problem(format!("{} is no host", host.said()), means);
            }
            rules.allow.insert(host.value.to_ascii_lowercase());
        }
        let urls = file.rooms.iter().filter_map(|room| room.webhook_url.as_ref());
        let mut any = false;
        for url in urls {
            any = true;
            let host = url.value.parse::<http::Uri>().ok();
            let host = host.and_then(|uri| uri.host().map(str::to_ascii_lowercase));
            rules.allow.extend(host);
            if let Err(why) = rules.check(&url.value) {
                self.report.problem(format!("{} can't be used", url.said()), format!("it {why}"));
            }
        }
        let secret = match (&webhooks.secret, &webhooks.secret_file, &webhooks.secret_env) {
            (Some(secret), None, None) => Some((secret.key.clone(), secret.value.0.clone())),
            (None, Some(path), None) => self.secret_file(path, &SIGNING),
            (None, None, Some(name)) => self.secret_variable(name, &SIGNING),
            (None, None, None) => {
                if any {
                    let means = "a receiver could not tell them from anybody's. Write secret_file = \"…\" in [webhooks]";
                    self.report.warn("letters are not signed", means);
                }
                None
            }
            _ => {
                let means = "one would be ignored. Keep one of secret, secret_file and secret_env";
                self.report.problem("webhooks has several secrets", means);
                None
            }
        };
        if let Some((place, text)) = secret {
            let text = text.trim();
            if text.len() < MIN_SECRET {
                let means = format!(
                    "it could be guessed. Use {MIN_SECRET} characters or more: `anteroom keygen` makes one"
                );
                self.report.problem(format!("{place} is too short a secret"), means);
            }
            rules.secret = Some(Secret(text.as_bytes().to_vec()));
        }
        rules
    }
}
