//! Which room guards a request, and where it would go.
//!
//! Owns the rules an operator wrote about hosts, paths and exceptions, and makes them hard to walk
//! around: a host nobody names goes nowhere, a path counts in every reading an origin could give it and in
//! any case, the most specific room wins, and an exception needs certainty. A path with dots that leads to one room for some and to another
//! for others is nobody's: a pass of one must not open the other. Decides nothing about visitors.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;

use ipnet::IpNet;

use super::path::{Readings, unescaped};

/// What an operator wrote about one room.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    /// The room's name.
    pub room: String,
    /// Where its visitors go.
    pub origin: String,
    /// `shop.example.com` or `*.example.com`. `None`: any host. Empty: none, it is asked by its API only.
    pub hosts: Option<Vec<String>>,
    /// `/checkout` or `/drop/*`. `None`: every path.
    pub paths: Option<Vec<String>>,
    /// Exceptions.
    pub bypass: Vec<Bypass>,
}

/// Who need not wait.
#[derive(Clone, PartialEq)]
pub enum Bypass {
    /// Requests for this path, `/static/*`.
    Path(String),
    /// Clients from there.
    Address(IpNet),
    /// Requests with this header and exactly this value.
    Header(String, String),
    /// Requests of this method.
    Method(String),
}

/// A header's value is a secret: whoever knows it need not wait.
impl fmt::Debug for Bypass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bypass::Path(pattern) => f.debug_tuple("Path").field(pattern).finish(),
            Bypass::Address(net) => f.debug_tuple("Address").field(net).finish(),
            Bypass::Header(name, _) => write!(f, "Header({name:?}, …)"),
            Bypass::Method(method) => f.debug_tuple("Method").field(method).finish(),
        }
    }
}

/// What of a request decides its way.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// `Host`, with or without a port.
    pub host: &'a str,
    /// Without the query.
    pub path: &'a str,
    /// `GET`.
    pub method: &'a str,
    /// The client's, as far as trusted proxies say.
    pub address: IpAddr,
    /// Whether a header, by its lower-case name, has exactly this value.
    pub header: &'a dyn Fn(&str, &[u8]) -> bool,
}

/// Where a request goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way<'a> {
    /// Nobody here is called so: 421.
    Misdirected,
    /// Nobody can say what is meant: 400.
    Unclear,
    /// Outside every room.
    Open {
        /// To this origin.
        origin: &'a str,
    },
    /// Guarded by a room, and an exception lets it by.
    Bypassed {
        /// The room.
        room: &'a str,
        /// To this origin.
        origin: &'a str,
        /// For its method alone: the origin must not be told of another one.
        by_method: bool,
    },
    /// Guarded by a room.
    Guarded {
        /// The room.
        room: &'a str,
        /// To this origin, once admitted.
        origin: &'a str,
    },
}

/// The rules, ready for use.
#[derive(Debug, Default)]
pub struct Routes {
    guards: Vec<Guard>,
    /// Exact host → what is said about it.
    exact: HashMap<String, Site>,
    /// `.example.com` → likewise, the longest first.
    wild: Vec<(String, Site)>,
    any: Site,
}

/// A host, or several: its origin, and the rooms on it by index.
#[derive(Clone, Debug, Default)]
struct Site {
    origin: Option<String>,
    rooms: Vec<usize>,
    /// Named as a site: what is said of less specific hosts is said of others.
    own: bool,
}

impl Routes {
    /// From rooms, and from the origins of hosts that are outside of them.
    pub fn new(guards: Vec<Guard>, sites: &[(String, String)]) -> Routes {
        let mut routes = Routes { guards, ..Routes::default() };
        for guard in &mut routes.guards {
            if let Some(paths) = &mut guard.paths {
                paths.extend(paths.clone().iter().map(|pattern| unescaped(pattern)));
                paths.sort_unstable();
                paths.dedup();
            }
            // Last: a method is why somebody is let by only where nothing else is.
            guard.bypass.sort_by_key(|rule| matches!(rule, Bypass::Method(_)));
        }
        for (host, origin) in sites {
            let site = routes.site(host);
            site.own = true;
            site.origin.get_or_insert_with(|| origin.clone());
        }
        for index in 0..routes.guards.len() {
            let Guard { hosts, origin, .. } = routes.guards[index].clone();
            for host in hosts.unwrap_or_else(|| vec!["*".to_owned()]) {
                let site = routes.site(&host);
                site.rooms.push(index);
                site.origin.get_or_insert_with(|| origin.clone());
            }
        }
        routes.wild.sort_by_key(|(suffix, _)| std::cmp::Reverse(suffix.len()));
        routes
    }

    fn site(&mut self, host: &str) -> &mut Site {
        let host = host.to_ascii_lowercase();
        match host.strip_prefix('*') {
            Some("") => &mut self.any,
            Some(suffix) => {
                let known = self.wild.iter().position(|(other, _)| other == suffix);
                let index = known.unwrap_or_else(|| {
                    self.wild.push((suffix.to_owned(), Site::default()));
                    self.wild.len() - 1
                });
                &mut self.wild[index].1
            }
            None => self.exact.entry(host).or_default(),
        }
    }

    /// Where a request goes.
    pub fn way(&self, asked: &Asked<'_>) -> Way<'_> {
        let mut sites = self.sites(asked.host);
        let readings = Readings::of(asked.path);
        if !readings.is_clear() {
            return Way::Unclear;
        }
        let Some(guard) = self.guard(sites.clone(), readings.all(), readings.is_dotted()) else {
            return match sites.find_map(|site| site.origin.as_deref()) {
                Some(origin) => Way::Open { origin },
                None => Way::Misdirected,
            };
        };
        let mut alike = true;
        if !readings.is_one() {
            for reading in readings.all() {
                let one = std::iter::once(reading);
                let found = self.guard(sites.clone(), one, readings.is_dotted());
                let same = found.is_some_and(|found| std::ptr::eq(found, guard));
                if readings.is_dotted() && found.is_some() && !same {
                    return Way::Unclear;
                }
                alike &= same;
            }
        }
        let (room, origin) = (&*guard.room, &*guard.origin);
        match guard.exception(asked, &readings).filter(|_| alike) {
            Some(rule) => {
                let by_method = matches!(rule, Bypass::Method(_));
                Way::Bypassed { room, origin, by_method }
            }
            None => Way::Guarded { room, origin },
        }
    }

    /// The room that guards a path, whatever exceptions there are.
    pub fn room(&self, host: &str, path: &str) -> Option<&str> {
        let readings = Readings::of(path);
        let guard = self.guard(self.sites(host), readings.all(), readings.is_dotted());
        guard.map(|guard| guard.room.as_str())
    }

    /// The rooms on a host, most specific first.
    pub fn rooms<'r>(&'r self, host: &str) -> impl Iterator<Item = &'r str> {
        let rooms = self.sites(host).flat_map(|site| &site.rooms);
        rooms.map(|index| self.guards[*index].room.as_str())
    }

    /// The most specific host first; on it, the most specific path in any reading. `from`: it is enough that one begins there.
    fn guard<'r, 'p>(
        &'r self,
        mut sites: impl Iterator<Item = &'r Site>,
        readings: impl Iterator<Item = &'p str> + Clone,
        from: bool,
    ) -> Option<&'r Guard> {
        sites.find_map(|site| {
            let rooms = site.rooms.iter().map(|index| &self.guards[*index]);
            let matching = rooms.filter_map(|guard| {
                let depth = guard.depth(readings.clone(), from)?;
                Some((depth, guard))
            });
            // Of equals the first that was written.
            let (_, guard) =
                matching.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
            Some(guard)
        })
    }

    /// What is said about a host, most specific first, and no further than where it is named as a site.
    fn sites<'r>(&'r self, host: &str) -> impl Iterator<Item = &'r Site> + Clone {
        let host = bare_host(host);
        let exact = self.exact.get(&*host);
        // A wildcard stands for one or more labels, never for none.
        let wild = self.wild.iter().filter(move |(suffix, _)| {
            host.len() > suffix.len() && host.ends_with(suffix.as_str())
        });
        let mut named = false;
        let all = exact.into_iter().chain(wild.map(|(_, site)| site)).chain([&self.any]);
        all.take_while(move |site| {
            let before = named;
            named |= site.own;
            !before
        })
    }
}

/// Lower case, without a port or a final dot.
fn bare_host(host: &str) -> Cow<'_, str> {
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.split_once(':').map_or(host, |(name, _)| name),
    };
    let name = name.strip_suffix('.').unwrap_or(name);
    match name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => name.to_ascii_lowercase().into(),
        false => name.into(),
    }
}

/// How much of a path a pattern fixes, if it fits: `/drop/*` is everything below `/drop` and itself,
/// `/checkout` is itself, with or without a slash at the end. `alike` says whether two texts are one; `from`, whether it is enough
/// that the path begins there.
fn fits(pattern: &str, path: &str, alike: fn(&[u8], &[u8]) -> bool, from: bool) -> Option<usize> {
    let (stem, open) = match pattern.strip_suffix("/*") {
        Some(stem) => (stem, true),
        None => (pattern.strip_suffix('/').unwrap_or(pattern), false),
    };
    let (start, rest) = path.as_bytes().split_at_checked(stem.len())?;
    // What follows is looked at first: for most paths it says no at once.
    let inside = matches!(rest, b"" | b"/") || ((open | from) && rest.starts_with(b"/"));
    (inside && alike(start, stem.as_bytes())).then_some(2 * pattern.len() + usize::from(!open))
}

/// Many an origin takes `/CHECKOUT` for `/checkout`: Express as it comes, IIS, whatever serves files from Windows.
fn in_any_case(one: &[u8], other: &[u8]) -> bool {
    one.eq_ignore_ascii_case(other)
}

/// Others do not, and an exception holds for what it names alone.
fn to_the_letter(one: &[u8], other: &[u8]) -> bool {
    one == other
}

impl Guard {
    /// How specifically this room guards a path, in any of these readings.
    fn depth<'p>(
        &self,
        readings: impl Iterator<Item = &'p str> + Clone,
        from: bool,
    ) -> Option<usize> {
        match &self.paths {
            None => Some(0),
            Some(patterns) => {
                let in_any = |pattern: &String| {
                    let depths = readings.clone();
                    depths.filter_map(|path| fits(pattern, path, in_any_case, from)).max()
                };
                patterns.iter().filter_map(in_any).max()
            }
        }
    }

    /// The rule that lets it by.
    fn exception(&self, asked: &Asked<'_>, readings: &Readings<'_>) -> Option<&Bypass> {
        let names = |pattern: &str, path| fits(pattern, path, to_the_letter, false).is_some();
        let applies = |rule: &&Bypass| match rule {
            Bypass::Path(pattern) => {
                names(pattern, readings.plain())
                    && readings.kept().is_none_or(|kept| names(pattern, kept))
            }
            Bypass::Address(net) => net.contains(&asked.address),
            Bypass::Header(name, value) => {
                (asked.header)(&name.to_ascii_lowercase(), value.as_bytes())
            }
            Bypass::Method(method) => method == asked.method,
        };
        let certain = readings.is_certain();
        self.bypass.iter().find(|rule| certain && applies(rule))
    }
}

/// Compares without telling by its time where the two differ: the value is a secret.
pub fn same(found: &[u8], value: &[u8]) -> bool {
    let differing = found.iter().zip(value).fold(0, |all, (one, other)| all | (one ^ other));
    found.len() == value.len() && differing == 0
}
