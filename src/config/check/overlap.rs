//! What two rooms have to do with each other: one path guarded twice, one host with two origins.

use super::Check;
use crate::config::file::File;
use crate::gateway::route::Guard;
use crate::gateway::settings::Room;

/// How any host is written among patterns.
const ANY: &str = "*";

impl Check<'_> {
    /// `rooms` are those of `file`, in its order.
    pub(super) fn between_rooms(&self, file: &File, rooms: &[Room], sites: &[(String, String)]) {
        // A room with a pattern that was refused has no say: what it guards is not known.
        let known: Vec<(&str, &Guard)> = file
            .rooms
            .iter()
            .zip(rooms)
            .filter(|(written, _)| !written.spoils(&["hosts", "paths"]))
            .map(|(written, room)| (written.path.as_str(), &room.guard))
            .collect();
        for (index, (path, guard)) in known.iter().enumerate() {
            for (other_path, other) in &known[index + 1..] {
                if let Some(place) = shared(guard, other) {
                    let means = "whose line a visitor joins would depend on their order. Give each its own \
                                 hosts or paths";
                    self.report
                        .problem(format!("{path} and {other_path} both guard {place}"), means);
                }
            }
        }
        let mut judged: Vec<&str> = Vec::new();
        for host in known.iter().flat_map(|(_, guard)| hosts(guard)) {
            if !judged.contains(&host) {
                judged.push(host);
                self.one_origin(host, &known, sites);
            }
        }
    }

    /// Paths of a host that no room guards go to one origin, and which one must be plain.
    fn one_origin(&self, host: &str, known: &[(&str, &Guard)], sites: &[(String, String)]) {
        let on_it = || known.iter().filter(|(_, guard)| hosts(guard).contains(&host));
        let mut origins: Vec<&str> = on_it().map(|(_, guard)| guard.origin.as_str()).collect();
        origins.sort_unstable();
        origins.dedup();
        origins.retain(|origin| !origin.is_empty());
        let named = sites.iter().any(|(site, _)| site == host);
        let everything = |guard: &&Guard| match &guard.paths {
            None => true,
            Some(paths) => paths.iter().any(|path| path == "/*"),
        };
        let covered = known
            .iter()
            .map(|(_, guard)| *guard)
            .filter(everything)
            .any(|guard| hosts(guard).iter().any(|pattern| covers(pattern, host)));
        if origins.len() < 2 || named || covered {
            return;
        }
        let paths: Vec<&str> = on_it().map(|(path, _)| *path).collect();
        let shown = if host == ANY { "any host" } else { host };
        let said = format!("{} share {shown} and differ in their origin", paths.join(" and "));
        let means = format!(
            "where its other paths go would depend on their order. Write [sites.{host:?}] with the \
                             origin of the rest"
        );
        self.report.problem(said, means);
    }
}

/// Every host a room names.
fn hosts(guard: &Guard) -> Vec<&str> {
    match &guard.hosts {
        None => vec![ANY],
        Some(hosts) => hosts.iter().map(String::as_str).collect(),
    }
}

/// A host and path that both rooms name.
fn shared(one: &Guard, other: &Guard) -> Option<String> {
    let (theirs, other_paths) = (hosts(other), paths(other));
    let host = hosts(one).into_iter().find(|host| theirs.contains(host))?;
    let same = |path: &&str| other_paths.iter().find(|other| other.eq_ignore_ascii_case(path));
    let (path, other) = paths(one).into_iter().find_map(|path| Some((path, *same(&path)?)))?;
    let host = if host == ANY { "any host, " } else { host };
    Some(match path == other {
        true => format!("{host}{path}"),
        false => format!("{host}{path}: to a room, {other} is the same"),
    })
}

/// Every path a room names; `/a/` and `/a` are the same to the router.
fn paths(guard: &Guard) -> Vec<&str> {
    let plain = |path: &'_ String| -> usize {
        match path.len() > 1 && path.ends_with('/') {
            true => path.len() - 1,
            false => path.len(),
        }
    };
    match &guard.paths {
        None => vec!["/*"],
        Some(paths) => paths.iter().map(|path| &path[..plain(path)]).collect(),
    }
}

/// Whether a pattern speaks of every host that another one speaks of.
fn covers(pattern: &str, host: &str) -> bool {
    match pattern.strip_prefix('*') {
        Some("") => true,
        Some(suffix) => host.len() > suffix.len() && host.ends_with(suffix) || host == pattern,
        None => pattern == host,
    }
}
