//! `[origins]` and `[sites]`: where requests go.

use std::collections::{BTreeMap, BTreeSet};

use super::Check;
use super::pattern::{self, Wrong};
use crate::config::file::{self, File};
use crate::config::nearest::nearest;
use crate::config::report::Written;
use crate::gateway::settings::Origin;

const MINUTE: u64 = 60_000;

impl Check<'_> {
    /// All origins; those nobody uses get a warning.
    pub(super) fn origins(&self, file: &File) -> BTreeMap<String, Origin> {
        let rooms = file.rooms.iter().filter_map(|room| room.origin.as_ref());
        let sites = file.sites.iter().filter_map(|site| site.origin.as_ref());
        let used: BTreeSet<&str> = rooms.chain(sites).map(|name| name.value.as_str()).collect();
        let mut origins = BTreeMap::new();
        for written in &file.origins {
            if !used.contains(written.name.as_str()) {
                let means =
                    "no request would ever go there. Name it in a room or a site, or remove it";
                self.report.warn(format!("{} is used by nobody", written.path), means);
            }
            origins.insert(written.name.clone(), self.origin(written));
        }
        origins
    }

    fn origin(&self, written: &file::Origin) -> Origin {
        let usual = Origin::default();
        let mut servers = Vec::new();
        for server in written.servers.iter().flatten() {
            match pattern::server(&server.value) {
                Ok(address) if servers.contains(&address) => {
                    let means = "it would get twice its share. Name each server once";
                    self.report.problem(format!("{} is there twice", server.said()), means);
                }
                Ok(address) => servers.push(address),
                Err(Wrong(what, means)) => {
                    self.report.problem(format!("{} {what}", server.said()), means);
                }
            }
        }
        if written.servers.as_ref().is_none_or(Vec::is_empty)
            && !written.spoiled.contains("servers")
        {
            let means = "requests would have nowhere to go. Write servers = [\"127.0.0.1:3000\"]";
            self.report.problem(format!("{} has no servers", written.path), means);
        }
        let tls = written.tls.as_ref().map_or(usual.tls, |tls| tls.value);
        if let Some(sni) = &written.sni {
            if !tls && !written.spoiled.contains("tls") {
                let means = "it is the name on a certificate, and without tls = true there is none. Add that, or \
                             remove it";
                self.report.problem(format!("{} has no effect", sni.said()), means);
            }
            if let Err(Wrong(what, means)) = pattern::host(&sni.value) {
                self.report.problem(format!("{} {what}", sni.said()), means);
            }
        }
        let health_interval = match &written.health_interval {
            None => usual.health_interval,
            Some(Written { value: None, .. }) => None,
            Some(Written { value: Some(ms), key, text }) => {
                let interval = Written { value: *ms, key: key.clone(), text: text.clone() };
                let why = "a check each second finds a dead server soon enough; \"none\" switches checks off";
                Some(self.duration(
                    Some(&interval),
                    usual.health_interval.unwrap_or_default(),
                    (500, 60 * MINUTE),
                    why,
                ))
            }
        };
        if let Some(path) = &written.health_path {
            if !path.value.starts_with('/') {
                let means = format!("a check asks for a path. Write \"/{}\"", path.value);
                self.report.problem(format!("{} does not begin with /", path.said()), means);
            }
            if health_interval.is_none() {
                let means = "health_interval = \"none\" switches checks off. Remove one of the two";
                self.report.problem(format!("{} has no effect", path.said()), means);
            }
        }
        let connect =
            "a server that is up answers in milliseconds, and a visitor waits as long as this";
        let silence = "an answer may take a while, and a visitor waits as long as this";
        let keep = "a new connection for every request costs more than an idle one";
        let within = |written: &Option<Written<u64>>, usual, range, why| {
            self.duration(written.as_ref(), usual, range, why)
        };
        Origin {
            servers,
            tls,
            sni: written.sni.as_ref().map(|sni| sni.value.clone()),
            connect_timeout: within(
                &written.connect_timeout,
                usual.connect_timeout,
                (10, 5 * MINUTE),
                connect,
            ),
            read_timeout: within(
                &written.read_timeout,
                usual.read_timeout,
                (100, 24 * 60 * MINUTE),
                silence,
            ),
            write_timeout: within(
                &written.write_timeout,
                usual.write_timeout,
                (100, 24 * 60 * MINUTE),
                silence,
            ),
            keepalive: within(&written.keepalive, usual.keepalive, (1_000, 60 * MINUTE), keep),
            health_interval,
            health_path: written.health_path.as_ref().map(|path| path.value.clone()),
        }
    }

    /// Hosts outside every room, or outside its paths: host and origin. `"*"` is any host.
    pub(super) fn sites(&self, file: &File) -> Vec<(String, String)> {
        let mut sites: Vec<(String, String)> = Vec::new();
        for site in &file.sites {
            let host = match site.host.as_str() {
                "*" => Ok("*".to_owned()),
                host => pattern::host_pattern(host),
            };
            if let Err(Wrong(what, means)) = &host {
                self.report.problem(format!("{} {what}", site.path), means);
            }
            if site.origin.is_none() && !site.spoiled.contains("origin") {
                let means = "its requests would have nowhere to go. Write origin = \"NAME\", one of [origins.NAME]";
                self.report.problem(format!("{} has no origin", site.path), means);
            }
            let origin = site.origin.as_ref().and_then(|origin| self.origin_name(origin, file));
            if let (Ok(host), Some(origin)) = (host, origin) {
                match sites.iter().any(|(other, _)| *other == host) {
                    // TOML sees to keys that are the same; these differ in capitals.
                    true => self.report.problem(
                        format!("{} is there twice", site.path),
                        "capitals don't count in a host, and each host has one origin. Remove one of them",
                    ),
                    false => sites.push((host, origin)),
                }
            }
        }
        sites
    }

    /// The name of an origin that there is.
    pub(super) fn origin_name(&self, written: &Written<String>, file: &File) -> Option<String> {
        let names = || file.origins.iter().map(|origin| origin.name.as_str());
        if names().any(|name| name == written.value) || file.spoils(&["origins"]) {
            return Some(written.value.clone());
        }
        let cause = "requests would have nowhere to go";
        let means = match nearest(&written.value, names()) {
            Some(meant) => format!("{cause}. The nearest one is {meant}"),
            None => match names().collect::<Vec<_>>() {
                none if none.is_empty() => format!("{cause}. Write [origins.{}]", written.value),
                some => format!("{cause}. [origins] has {}", some.join(", ")),
            },
        };
        self.report.problem(format!("{} is no origin there is", written.said()), means);
        None
    }
}
