//! What a server says about itself, and whether lines can be kept there. Pure.
//!
//! Owns every condition on a server, read from `INFO`, which needs fewer rights than CONFIG and ROLE and says
//! what both would, and of a node from `CLUSTER INFO`. A server is looked at whenever a connection to it is opened, not only at the start:
//! a failover may lead to one that was set up otherwise.

use super::trouble::Trouble;

/// The first version with `BITCOUNT … BIT`, shebangs and whole scripts refused when out of memory.
const OLDEST: (u32, u32) = (7, 0);

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The only one who may write.
    Master,
    /// A node of a cluster, which knows the master of each line if it is not the one itself.
    Node,
}

/// Whether a server can take a part.
pub(super) fn judge(info: &str, part: Part) -> Result<(), Trouble> {
    let field = |name: &str| {
        let mut lines = info.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(key, _)| *key == name).map(|(_, value)| value.trim())
    };
    let missing = |name| Trouble::Garbled(format!("its INFO has no {name}"));
    // Valkey has its own word for it.
    match (field("redis_mode").or_else(|| field("server_mode")), part) {
        (Some("sentinel"), _) => {
            return Err(Trouble::Misnamed(
                "is a Sentinel, and keeps no lines: write redis-sentinel://HOST:26379/NAME",
            ));
        }
        (Some("cluster"), Part::Master) => {
            return Err(Trouble::Misnamed(
                "is a node of a cluster: write redis-cluster://HOST:6379",
            ));
        }
        (Some("standalone"), Part::Node) => {
            return Err(Trouble::Misnamed("is no node of a cluster: write redis://HOST:6379"));
        }
        _ => {}
    }
    let version = field("redis_version").ok_or_else(|| missing("redis_version"))?;
    if numbers(version).is_none_or(|found| found < OLDEST) {
        return Err(Trouble::TooOld(version.to_owned()));
    }
    let policy = field("maxmemory_policy").ok_or_else(|| missing("maxmemory_policy"))?;
    if policy != "noeviction" {
        return Err(Trouble::Evicts(policy.to_owned()));
    }
    if field("loading") == Some("1") {
        return Err(Trouble::NotReady("it is loading its data".to_owned()));
    }
    if part == Part::Node && field("cluster_state") != Some("ok") {
        return Err(Trouble::NotReady("it has lost sight of its cluster".to_owned()));
    }
    match (field("role"), part) {
        (Some("master"), _) | (Some(_), Part::Node) => Ok(()),
        (Some(_), Part::Master) => Err(Trouble::Replica),
        (None, _) => Err(missing("role")),
    }
}

fn numbers(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split('.').map(str::parse);
    match (parts.next(), parts.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => Some((major, minor)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\n\r\n# Memory\r\n\
                        maxmemory_policy:noeviction\r\n# Persistence\r\nloading:0\r\nrole:master\r\n";

    fn but(from: &str, to: &str) -> Result<(), Trouble> {
        assert!(GOOD.contains(from));
        judge(&GOOD.replace(from, to), Part::Master)
    }

    #[test]
    fn a_server_must_be_new_and_keep_what_it_has_and_be_the_master() {
        assert_eq!(judge(GOOD, Part::Master), Ok(()));
        assert_eq!(but("7.0.15", "8.1"), Ok(()));
        assert_eq!(but("7.0.15", "10.0.1"), Ok(()));
        assert_eq!(but("7.0.15", "6.2.14"), Err(Trouble::TooOld("6.2.14".to_owned())));
        assert_eq!(but("7.0.15", "new"), Err(Trouble::TooOld("new".to_owned())));
        assert_eq!(
            but("noeviction", "allkeys-lru"),
            Err(Trouble::Evicts("allkeys-lru".to_owned()))
        );
        assert_eq!(but("role:master", "role:slave"), Err(Trouble::Replica));
        assert!(matches!(but("loading:0", "loading:1"), Err(Trouble::NotReady(_))));
    }

    #[test]
    fn a_server_must_be_what_the_url_says() {
        assert!(matches!(but("standalone", "sentinel"), Err(Trouble::Misnamed(_))));
        assert!(matches!(but("standalone", "cluster"), Err(Trouble::Misnamed(_))));
        assert!(matches!(judge(GOOD, Part::Node), Err(Trouble::Misnamed(_))));
        for mode in ["sentinel", "cluster"] {
            let valkey = but("redis_mode:standalone", &format!("server_mode:{mode}"));
            assert!(matches!(valkey, Err(Trouble::Misnamed(_))), "{valkey:?}");
        }
        let node = GOOD.replace("standalone", "cluster") + "cluster_state:ok\r\n";
        assert_eq!(judge(&node, Part::Node), Ok(()));
        let lost = node.replace("state:ok", "state:fail");
        assert!(matches!(judge(&lost, Part::Node), Err(Trouble::NotReady(_))));
        let replica = node.replace("role:master", "role:slave");
        assert_eq!(judge(&replica, Part::Node), Ok(()), "it knows who the master is");
    }

    #[test]
    fn what_is_not_said_is_not_presumed() {
        for line in ["redis_version:7.0.15", "maxmemory_policy:noeviction", "role:master"] {
            assert!(matches!(but(line, ""), Err(Trouble::Garbled(_))), "{line}");
        }
        assert!(matches!(judge("", Part::Master), Err(Trouble::Garbled(_))));
        assert!(matches!(
            judge("HTTP/1.1 400 Bad Request", Part::Master),
            Err(Trouble::Garbled(_))
        ));
    }
}
