//! The servers behind us: which of them gets the next request, and how they are spoken to.
//!
//! Owns balancing, health and the options of connections. Knows nothing of rooms or visitors.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use pingora::lb::health_check::{HealthCheck, HttpHealthCheck, TcpHealthCheck};
use pingora::lb::selection::RoundRobin;
use pingora::lb::{Backend, Backends, LoadBalancer, discovery};
use pingora::protocols::l4::socket::SocketAddr as AnyAddr;
use pingora::upstreams::peer::{H1UpgradePolicy, HttpPeer};

use super::lane::pool::Pool;
use super::patient::{Agreed, Patient};
use super::settings;
use crate::metrics::{self, Metrics};

/// Tries at another server before a request is given up.
pub const MAX_TRIES: usize = 3;

/// Between two looks at idle connections where no server is checked.
const TIDY: Duration = Duration::from_secs(5);

/// A health check may take so long: a server that needs longer to say that it is well, is not.
const CHECK_TIMEOUT: Duration = Duration::from_secs(3);

/// Checks in a row that must fail before a server is left out: one may have been bad luck.
const FAILURES: usize = 2;

/// A group of servers that answer alike.
pub struct Origin {
    name: String,
    settings: settings::Origin,
    servers: LoadBalancer<RoundRobin>,
    /// Where they were found, and under which names.
    names: Vec<(SocketAddr, String)>,
    /// How each of them is reached.
    peers: Vec<HttpPeer>,
    /// Idle connections to each of them, in the same order, for plain requests; none, where TLS is spoken.
    pools: Vec<Pool>,
    /// What is counted about it.
    pub(super) meter: metrics::Origin,
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
        let names = Origin::find(name, &settings).await?;
        Ok(Origin::of(name, settings, names).await)
    }

    /// The one there was, with all it knows of its servers, if it is what this would be.
    ///
    /// # Errors
    /// A name that can't be found.
    pub async fn after(
        before: Option<&Arc<Origin>>,
        name: &str,
        settings: &settings::Origin,
        metrics: &Metrics,
    ) -> Result<Arc<Origin>, BadOrigin> {
        let names = Origin::find(name, settings).await?;
        match before.filter(|before| before.settings == *settings && before.names == names) {
            Some(before) => Ok(before.clone()),
            None => {
                let origin = Origin::of(name, settings.clone(), names).await;
                Ok(Arc::new(origin.counted_by(metrics.origin(name))))
            }
        }
    }

    /// Addresses of its servers, each once, with their names.
    async fn find(
        name: &str,
        settings: &settings::Origin,
    ) -> Result<Vec<(SocketAddr, String)>, BadOrigin> {
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
        Ok(names)
    }

    async fn of(
        name: &str,
        settings: settings::Origin,
        names: Vec<(SocketAddr, String)>,
    ) -> Origin {
        let servers = names.iter().map(|(address, _)| Backend {
            addr: AnyAddr::Inet(*address),
            weight: 1,
            ext: Default::default(),
        });
        let discovery = discovery::Static::new(servers.collect());
        let mut servers = LoadBalancer::from_backends(Backends::new(discovery));
        servers.set_health_check(Box::new(Checks::new(&settings, &names)));
        // Static: nothing can go wrong, and nothing is waited for.
        let _ = servers.update().await;
        let peers = names.iter().map(|(address, host)| peer(*address, host, &settings)).collect();
        let plain = names.iter().filter(|_| !settings.tls);
        let pool = |address| Pool::new(address, settings.connect_timeout, settings.keepalive);
        let pools = plain.map(|(address, _)| pool(*address)).collect();
        let meter = Metrics::default().origin(name);
        Origin { name: name.to_owned(), settings, servers, names, peers, pools, meter }
    }

    /// The same, counted by these.
    #[must_use]
    pub fn counted_by(self, meter: metrics::Origin) -> Origin {
        Origin { meter, ..self }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the operator wrote.
    pub fn settings(&self) -> &settings::Origin {
        &self.settings
    }

    /// The next server for a request that is to become something else: over a connection of its own.
    pub fn next_for_upgrade(&self, agreed: Agreed) -> Option<HttpPeer> {
        /// pingora looks for idle connections by this: nobody else's is found, nor this one by anybody.
        static OWN: AtomicU64 = AtomicU64::new(1);
        let mut peer = self.next()?;
        peer.group_key = OWN.fetch_add(1, Ordering::Relaxed);
        peer.options.idle_timeout = Some(Duration::ZERO);
        // Seen to by whoever is patient.
        peer.options.read_timeout = None;
        peer.options.custom_l4 = Some(Arc::new(Patient {
            connect_timeout: self.settings.connect_timeout,
            read_timeout: self.settings.read_timeout,
            agreed,
        }));
        Some(peer)
    }

    /// The next server in turn that is well. If none is, the next one all the same: a check may be wrong, and
    /// an error from the server itself says more than one from us.
    pub fn next(&self) -> Option<HttpPeer> {
        self.choose().map(|chosen| self.peers[chosen].clone())
    }

    /// Whether its servers are spoken to without TLS.
    pub fn is_plain(&self) -> bool {
        !self.pools.is_empty()
    }

    /// The connections to the next server in turn, likewise; `None` where TLS is spoken.
    pub fn pool(&self) -> Option<&Pool> {
        self.pools.get(self.choose()?)
    }

    fn choose(&self) -> Option<usize> {
        // One server needs no choice, and choosing allocates.
        if self.peers.len() == 1 {
            return Some(0);
        }
        let well = self.servers.select(b"", self.peers.len());
        let server = well.or_else(|| self.servers.select_with(b"", 1, |_, _| true))?;
        self.peers.iter().position(|peer| peer._address == server.addr)
    }

    /// Checks the servers, and closes connections nobody needs any more, for as long as it is polled.
    pub async fn watch(self: Arc<Self>) {
        loop {
            if self.settings.health_interval.is_some() {
                self.servers.backends().run_health_check(true).await;
            }
            self.pools.iter().for_each(Pool::tidy);
            tokio::time::sleep(self.settings.health_interval.unwrap_or(TIDY)).await;
        }
    }
}

/// Checks each server under its own name, which pingora's checks do not: they have one for all.
struct Checks {
    /// By address.
    servers: Vec<(AnyAddr, Arc<Checking>)>,
}

type Checking = dyn HealthCheck + Send + Sync;

impl Checks {
    fn new(settings: &settings::Origin, names: &[(SocketAddr, String)]) -> Checks {
        let mut by_name: HashMap<&str, Arc<Checking>> = HashMap::new();
        let servers = names.iter().map(|(address, host)| {
            let name = settings.sni.as_deref().unwrap_or(host);
            let check = by_name.entry(name).or_insert_with(|| check(settings, name));
            (AnyAddr::Inet(*address), check.clone())
        });
        Checks { servers: servers.collect() }
    }
}

#[async_trait]
impl HealthCheck for Checks {
    async fn check(&self, server: &Backend) -> pingora::Result<()> {
        match self.servers.iter().find(|(address, _)| *address == server.addr) {
            Some((_, check)) => check.check(server).await,
            None => Ok(()),
        }
    }

    fn health_threshold(&self, success: bool) -> usize {
        if success { 1 } else { FAILURES }
    }
}

/// Of servers with this name.
fn check(settings: &settings::Origin, name: &str) -> Arc<Checking> {
    match &settings.health_path {
        Some(path) => {
            let mut check = HttpHealthCheck::<()>::new(name, settings.tls);
            check.peer_template.options.connection_timeout = Some(CHECK_TIMEOUT);
            check.peer_template.options.read_timeout = Some(CHECK_TIMEOUT);
            if let Ok(uri) = path.parse() {
                check.req.set_uri(uri);
            }
            Arc::new(check)
        }
        None => {
            let mut check =
                if settings.tls { TcpHealthCheck::new_tls(name) } else { TcpHealthCheck::new() };
            check.peer_template.options.connection_timeout = Some(CHECK_TIMEOUT);
            Arc::new(*check)
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
    // WebSockets and nothing else: any other protocol would be a tunnel that nobody watches.
    options.http_upstream_request_policy.h1_upgrade = H1UpgradePolicy::WebSocketOnly;
    peer
}
