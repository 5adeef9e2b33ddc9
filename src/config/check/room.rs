//! A room: what it guards, how its visitors are recognised, how often they may ask.

use std::time::Duration;

use super::Check;
use super::pattern::{self, Wrong};
use crate::config::file::{self, File};
use crate::config::report::Written;
use crate::gateway::route::{Bypass, Guard};
use crate::gateway::settings::{Bind, Cookies, Limits, Room};
use crate::limit::Allowance;
use crate::name;

/// How visitors come in, as far as cookies care.
#[derive(Clone, Copy)]
pub(super) struct WayIn {
    /// By TLS, ended here.
    pub(super) tls: bool,
    /// Through proxies, which may have ended TLS.
    pub(super) proxies: bool,
}

const MINUTE_MS: u64 = 60_000;
const REQUESTS_PER_ADDRESS: Allowance = Allowance { max: 100, per_ms: MINUTE_MS };
const REQUESTS_PER_TICKET: Allowance = Allowance { max: 60, per_ms: MINUTE_MS };
const EVENTS: usize = 2_000;
const QUEUED_STATUS: u16 = 503;
const TICKET_PREFIX: &str = "A";

/// People read it out over a telephone.
const MAX_PREFIX: usize = 8;

/// A bypass header is a key to the house: shorter ones are found by trying.
const SHORT_HEADER: usize = 16;

impl Check<'_> {
    pub(super) fn room(&self, room: &file::Room, file: &File, way_in: WayIn) -> Room {
        if !name::is_room(&room.name) {
            self.report.problem(format!("{} can't be a room's name", room.path), name::ROOM_RULE);
        }
        let guard = self.guard(room, file);
        let (mut line, poll_max) = self.line(room);
        let places = self.places(room, line.ticket_max_ms);
        line.join_limits.extend(places);
        line.webhooks = room.webhook_url.is_some();
        let unlimited = line.pace.is_none() && line.max_active.is_none();
        if unlimited
            && !room.spoils(&["rate", "batch", "max_active"])
            && line.mode == crate::line::Mode::Auto
        {
            let means = "nobody would ever wait. Write rate = \"5/s\", max_active = 500 or both";
            self.report.warn(format!("{} has no limit", room.path), means);
        }
        let cookies = self.cookies(room, way_in);
        let look = self.look(room, &guard, cookies == Cookies::Partitioned);
        let limit = |written: &Option<Written<Option<(u64, u64)>>>, usual| match written {
            Some(limit) => limit.value.map(|(max, per_ms)| Allowance { max, per_ms }),
            None => Some(usual),
        };
        let limits = Limits {
            requests_per_address: limit(&room.limits.requests_per_address, REQUESTS_PER_ADDRESS),
            requests_per_ticket: limit(&room.limits.requests_per_ticket, REQUESTS_PER_TICKET),
            places_per_address: places
                .map(|places| Allowance { max: places.max, per_ms: places.per_ms }),
            events: room
                .limits
                .events
                .as_ref()
                .map_or(EVENTS, |events| usize::try_from(events.value).unwrap_or(usize::MAX)),
        };
        let version = room.config_version.as_ref().or(file.config_version.as_ref());
        Room {
            line,
            version: version.map_or(0, |version| version.value),
            ticket_prefix: self.ticket_prefix(room),
            cookies,
            cookie_domain: self.cookie_domain(room, &guard),
            queued_status: self.queued_status(room),
            poll_max: Duration::from_millis(poll_max),
            user_header: self.header(room.user_header.as_ref(), way_in),
            single_use: room.single_use.as_ref().is_some_and(|single_use| single_use.value),
            bind: Bind {
                device: room.bind.iter().any(|to| to.value == file::Binding::Device),
                agent: room.bind.iter().any(|to| to.value == file::Binding::Agent),
            },
            limits,
            look,
            guard,
            webhook_url: room.webhook_url.as_ref().map(|url| url.value.clone()),
            rollout: self.rollout(room),
            class_header: self.header(room.class_header.as_ref(), way_in),
            open_classes: open_classes(room),
        }
    }

    /// What it guards.
    fn guard(&self, room: &file::Room, file: &File) -> Guard {
        let patterns = |list: &Vec<Written<String>>, read: fn(&str) -> Result<String, Wrong>| {
            let mut good = Vec::new();
            for written in list {
                match read(&written.value) {
                    Ok(pattern) => good.push(pattern),
                    Err(Wrong(what, means)) => {
                        self.report.problem(format!("{} {what}", written.said()), means);
                    }
                }
            }
            good
        };
        if room.origin.is_none() && !room.spoils(&["origin"]) {
            let means = "its visitors would have nowhere to go. Write origin = \"NAME\", one of [origins.NAME]";
            self.report.problem(format!("{} has no origin", room.path), means);
        }
        if room.paths.as_ref().is_some_and(Vec::is_empty) && !room.spoils(&["paths"]) {
            let means = "it would guard nothing. Leave it out for every path, or write hosts = [] for a room that is \
                         asked over its API only";
            self.report.problem(format!("{}.paths = [] is empty", room.path), means);
        }
        let origin = room.origin.as_ref().and_then(|origin| self.origin_name(origin, file));
        Guard {
            room: room.name.clone(),
            origin: origin.unwrap_or_default(),
            hosts: room.hosts.as_ref().map(|hosts| patterns(hosts, pattern::host_pattern)),
            paths: room.paths.as_ref().map(|paths| patterns(paths, pattern::path)),
            bypass: room.bypass.iter().filter_map(|rule| self.bypass(rule)).collect(),
        }
    }

    /// An exception: exactly one of its four kinds.
    fn bypass(&self, rule: &file::Bypass) -> Option<Bypass> {
        let refuse = |said: String, Wrong(what, means): Wrong| {
            self.report.problem(format!("{said} {what}"), means);
            None
        };
        let lets_all_by = |said: String| {
            let means = "nobody would ever wait here. Say more exactly who need not wait";
            self.report.warn(format!("{said} lets everybody by"), means);
        };
        match (&rule.path, &rule.address, &rule.header, &rule.method) {
            (Some(path), None, None, None) => match pattern::path(&path.value) {
                Ok(good) => {
                    if good == "/*" {
                        lets_all_by(path.said());
                    }
                    Some(Bypass::Path(good))
                }
                Err(wrong) => refuse(path.said(), wrong),
            },
            (None, Some(address), None, None) => match pattern::network(&address.value) {
                Ok(network) => {
                    if network.prefix_len() == 0 {
                        lets_all_by(address.said());
                    }
                    Some(Bypass::Address(network))
                }
                Err(wrong) => refuse(address.said(), wrong),
            },
            (None, None, Some(header), None) => self.bypass_header(&header.key, &header.value.0),
            (None, None, None, Some(method)) => {
                let name = &method.value;
                if name.is_empty()
                    || !name.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-')
                {
                    let means = "write one such as OPTIONS".to_owned();
                    return refuse(method.said(), Wrong("is not a method".to_owned(), means));
                }
                if name.bytes().any(|byte| byte.is_ascii_lowercase()) {
                    let means =
                        format!("it would fit nothing. Write \"{}\"", name.to_ascii_uppercase());
                    return refuse(method.said(), Wrong("is in small letters".to_owned(), means));
                }
                if name == "GET" {
                    lets_all_by(method.said());
                }
                Some(Bypass::Method(name.clone()))
            }
            (None, None, None, None) if !rule.spoiled.is_empty() => None,
            (None, None, None, None) => {
                let means = "it would let nobody by. Write one of path, address, header and method";
                self.report.problem(format!("{} says nothing", rule.place), means);
                None
            }
            _ => {
                let means = "whether one is enough or all are needed can't be told. Write one a rule; each lets by on \
                             its own";
                self.report.problem(format!("{} says several things", rule.place), means);
                None
            }
        }
    }

    /// `name: value`. The value is a secret and is not quoted, nor is a text that has no name.
    fn bypass_header(&self, key: &str, text: &str) -> Option<Bypass> {
        let (name, value) = match text.split_once(':') {
            Some((name, value)) => (name.trim(), value.trim()),
            None => ("", ""),
        };
        if name.is_empty() || value.is_empty() {
            let means = "without a value anybody could send it. Write \"x-probe: SECRET\", a name and its value";
            self.report.problem(format!("{key} has no name and value"), means);
            return None;
        }
        let name = match pattern::header_name(name) {
            Ok(name) => name,
            Err(Wrong(what, means)) => {
                self.report.problem(format!("{key} {what}"), means);
                return None;
            }
        };
        if value.len() < SHORT_HEADER {
            let means = format!(
                "whoever guesses it need not wait. Use a value of {SHORT_HEADER} characters or more"
            );
            self.report.warn(format!("{key} has a short value"), means);
        }
        Some(Bypass::Header(name, value.to_owned()))
    }

    fn cookies(&self, room: &file::Room, way_in: WayIn) -> Cookies {
        let Some(written) = &room.cookies else { return Cookies::Lax };
        if written.value == Cookies::Partitioned && !way_in.tls && !way_in.proxies {
            let means = "browsers keep such cookies on https only, and nobody would keep a place. Add [[tls]], or \
                         name the proxy that ends TLS in trusted_proxies";
            self.report.problem(format!("{} needs TLS", written.said()), means);
        }
        written.value
    }

    /// A domain above every host of the room.
    fn cookie_domain(&self, room: &file::Room, guard: &Guard) -> Option<String> {
        let written = room.cookie_domain.as_ref()?;
        let domain = match pattern::host(written.value.trim_start_matches('.')) {
            Ok(domain) if domain.contains('.') && domain.parse::<std::net::IpAddr>().is_err() => {
                domain
            }
            _ => {
                let means = "browsers would refuse the cookie. Write a domain such as example.com";
                self.report.problem(format!("{} is no domain for cookies", written.said()), means);
                return None;
            }
        };
        if room.spoils(&["hosts"]) {
            return Some(domain);
        }
        let Some(hosts) = &guard.hosts else {
            let means = "on other hosts browsers would refuse the cookie. Write hosts = [\"…\"], those below it";
            self.report.problem(format!("{} needs hosts", written.said()), means);
            return None;
        };
        for host in hosts {
            let name = host.strip_prefix("*.").unwrap_or(host);
            let below = name
                .strip_suffix(domain.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
            if !below {
                let means = format!(
                    "browsers would refuse the cookie on {host}, and nobody would keep a place there. \
                                     Give that host a room of its own, or change the domain"
                );
                self.report.problem(format!("{} is not above every host", written.said()), means);
            }
        }
        Some(domain)
    }

    fn rollout(&self, room: &file::Room) -> u64 {
        let Some(written) = &room.rollout else { return 100 };
        if written.value > 100 {
            let means = "it says to how many of a hundred visitors the room applies; the others are let through. Write 0 to 100";
            self.report.problem(format!("{} is more than 100", written.said()), means);
        }
        written.value.min(100)
    }

    fn queued_status(&self, room: &file::Room) -> u16 {
        match &room.queued_status {
            None => QUEUED_STATUS,
            Some(written) => match written.value {
                status @ (200 | 202 | 429 | 503) => status as u16,
                _ => {
                    let means = "503 and 429 tell search engines and caches to come back; 200 and 202 are for \
                                 clients that would take those for errors";
                    self.report.problem(
                        format!("{} is not one of 200, 202, 429, 503", written.said()),
                        means,
                    );
                    QUEUED_STATUS
                }
            },
        }
    }

    fn ticket_prefix(&self, room: &file::Room) -> String {
        let Some(written) = &room.ticket_prefix else { return TICKET_PREFIX.to_owned() };
        let plain = written.value.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !plain || !(1..=MAX_PREFIX).contains(&written.value.len()) {
            let means = format!("people read it out. Write 1 to {MAX_PREFIX} of A-Z a-z 0-9");
            self.report.problem(format!("{} is no prefix for a number", written.said()), means);
        }
        written.value.clone()
    }

    /// A header that trusted proxies set.
    fn header(&self, written: Option<&Written<String>>, way_in: WayIn) -> Option<String> {
        let written = written?;
        if !way_in.proxies {
            let means = "it is believed from trusted_proxies only, and there are none. Name the proxy that sets it";
            self.report.warn(format!("{} is never read", written.said()), means);
        }
        match pattern::header_name(&written.value) {
            Ok(name) => Some(name),
            Err(Wrong(what, means)) => {
                self.report.problem(format!("{} {what}", written.said()), means);
                None
            }
        }
    }
}

/// Classes that anyone may have.
fn open_classes(room: &file::Room) -> Vec<String> {
    let open =
        room.classes.iter().filter(|class| class.open.as_ref().is_some_and(|open| open.value));
    open.map(|class| class.name.clone()).collect()
}
