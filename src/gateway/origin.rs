//! The servers behind us: which of them gets the next request, and how they are spoken to.
//!
//! Owns balancing, health and the options of connections. Knows nothing of rooms or visitors.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use pingora::lb::health_check::{HttpHealthCheck, TcpHealthCheck};
use pingora::lb::selection::RoundRobin;
use pingora::lb::{Backend, Backends, LoadBalancer, discovery};
use pingora::protocols::l4::socket::SocketAddr as AnyAddr;
use pingora::upstreams::peer::HttpPeer;

use super::settings;

/// Tries at another server before a request is given up.
pub const MAX_TRIES: usize = 3;

/// A health check may take so long: a server that needs longer to say that it is well, is not.
const CHECK_TIMEOUT: Duration = Duration::from_secs(3);

/// A group of servers that answer alike.
pub struct Origin {
    name: String,
    settings: settings::Origin,
    servers: LoadBalancer<RoundRobin>,
    /// How each of them is reached.
    peers: Vec<HttpPeer>,
}

/// Why an origin can't be used.
#[derive(Debug, thiserror::Error)]
#[error("origins.{origin}: {server}: {problem}")]
pub struct BadOrigin {
    origin: String,
    server: String,
    problem: String,
}

impl Origin {
    /// Looks the servers' names up. They stay as they are found until the next reload.
    ///
    /// # Errors
    /// A name that can't be found.
    pub async fn new(name: &str, settings: settings::Origin) -> Result<Origin, BadOrigin> {
        let mut names = Vec::new();
        for server in &settings.servers {
            let bad = |problem: String| BadOrigin {
                origin: name.to_owned(),
                server: server.clone(),
                problem,
            };
            let found =
                tokio::net::lookup_host(server).await.map_err(|error| bad(error.to_string()))?;
            let host = server.rsplit_once(':').map_or(server.as_str(), |(host, _)| host);
            let before = names.len();
            names.extend(found.map(|address| (address, host.trim_matches(['[', ']']).to_owned())));
            if names.len() == before {
                return Err(bad("no address has this name".to_owned()));
            }
        }
        names.sort();
        names.dedup_by_key(|(address, _)| *address);
        let servers = names.iter().map(|(address, _)| Backend {
            addr: AnyAddr::Inet(*address),
            weight: 1,
            ext: Default::default(),
        });
        let discovery = discovery::Static::new(servers.collect());
        let mut servers = LoadBalancer::from_backends(Backends::new(discovery));
        servers.set_health_check(check(&settings, &names));
        // Static: nothing can go wrong, and nothing is waited for.
        let _ = servers.update().await;
        let peers = names.iter().map(|(address, host)| peer(*address, host, &settings)).collect();
        Ok(Origin { name: name.to_owned(), settings, servers, peers })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the operator wrote.
    pub fn settings(&self) -> &settings::Origin {
        &self.settings
    }

    /// The next server in turn that is well. If none is, the next one all the same: a check may be wrong, and
    /// an error from the server itself says more than one from us.
    pub fn next(&self) -> Option<HttpPeer> {
        // One server needs no choice, and choosing allocates.
        if let [only] = self.peers.as_slice() {
            return Some(only.clone());
        }
        let well = self.servers.select(b"", self.peers.len());
        let server = well.or_else(|| self.servers.select_with(b"", 1, |_, _| true))?;
        self.peers.iter().find(|peer| peer._address == server.addr).cloned()
    }

    /// Checks the servers for as long as it is polled.
    pub async fn watch(self: Arc<Self>) {
        let Some(interval) = self.settings.health_interval else { return };
        loop {
            self.servers.backends().run_health_check(true).await;
            tokio::time::sleep(interval).await;
        }
    }
}

fn check(
    settings: &settings::Origin,
    names: &[(SocketAddr, String)],
) -> Box<dyn pingora::lb::health_check::HealthCheck + Send + Sync> {
    let sni = settings.sni.clone().or_else(|| names.first().map(|(_, host)| host.clone()));
    let sni = sni.unwrap_or_default();
    match &settings.health_path {
        Some(path) => {
            let mut check = HttpHealthCheck::<()>::new(&sni, settings.tls);
            check.consecutive_failure = 2;
            check.peer_template.options.connection_timeout = Some(CHECK_TIMEOUT);
            check.peer_template.options.read_timeout = Some(CHECK_TIMEOUT);
            if let Ok(uri) = path.parse() {
                check.req.set_uri(uri);
            }
            Box::new(check)
        }
        None => {
            let mut check =
                if settings.tls { TcpHealthCheck::new_tls(&sni) } else { TcpHealthCheck::new() };
            check.consecutive_failure = 2;
            check.peer_template.options.connection_timeout = Some(CHECK_TIMEOUT);
            check
        }
    }
}

/// A server as pingora knows it.
fn peer(address: SocketAddr, host: &str, settings: &settings::Origin) -> HttpPeer {
    let sni = match settings.tls {
        true => settings.sni.clone().unwrap_or_else(|| host.to_owned()),
        false => String::new(),
    };
    let mut peer = HttpPeer::new(address, settings.tls, sni);
    let options = &mut peer.options;
    options.connection_timeout = Some(settings.connect_timeout);
    options.total_connection_timeout = Some(2 * settings.connect_timeout);
    options.read_timeout = Some(settings.read_timeout);
    options.write_timeout = Some(settings.write_timeout);
    options.idle_timeout = Some(settings.keepalive);
    peer
}
