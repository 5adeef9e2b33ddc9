//! A running node: its rooms, origins, sockets and store, together.
//!
//! Owns what starts before what, and what a reload keeps.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use pingora::proxy::{HttpProxy, http_proxy};
use pingora::server::configuration::ServerConf;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::clock;
use crate::config::{Keys, Plan};
use crate::gateway::api::Streams;
use crate::gateway::entrance::Entrance;
use crate::gateway::gate::Gate;
use crate::gateway::listen::{Porter, bind};
use crate::gateway::live::Live;
use crate::gateway::origin::{BadOrigin, MAX_TRIES, Origin};
use crate::gateway::proxy::Proxy;
use crate::gateway::route::Routes;
use crate::gateway::settings::{self, Settings};
use crate::gateway::tls::Certificate;
use crate::handover::Named;
use crate::line::Offer;
use crate::page::{Look, Pages};
use crate::room::Room;
use crate::store::{self, Opening, Store, StoreError};
use crate::token::{self, Key, KeyError, KeyRing};

/// Idle connections kept to all origins together. pingora's own 128 made a proxy with 64 busy connections to several
/// origins nearly twice as dear.
const KEEPALIVE: usize = 2_048;

/// Under which id the store's own key signs, where none is configured.
const STORE_KEY: &str = "store";

/// Why a node does not start.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// An address can't be listened on.
    #[error("listen {address}: {problem}")]
    Listen {
        /// Which.
        address: String,
        /// Why.
        problem: io::Error,
    },
    /// A certificate can't be used.
    #[error("tls: {0}")]
    Tls(String),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An origin.
    #[error(transparent)]
    Origin(#[from] BadOrigin),
    /// A key or a room's name.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The store keeps no key, and none is configured.
    #[error("this store needs [keys] signing: make one with `anteroom keygen`")]
    NoKeys,
    /// The system.
    #[error("the system refuses: {0}")]
    Runtime(io::Error),
    /// Taking over.
    #[error("taking over from the running process: {0}")]
    Handover(io::Error),
    /// Taking over, from nowhere.
    #[error("--upgrade needs `upgrade_socket` in the configuration of both processes")]
    NoSocket,
    /// No randomness.
    #[error("no randomness from the system: {0}")]
    Entropy(#[from] getrandom::Error),
}

/// A certificate, and where it comes from.
pub type Certificates = Vec<(settings::Tls, Arc<Certificate>)>;

/// A running node.
pub struct Node {
    live: Arc<ArcSwap<Live>>,
    /// What the store keeps for want of configured keys.
    secret: Option<store::Secret>,
    certificates: Certificates,
    stop: watch::Sender<bool>,
    places: Arc<Semaphore>,
    connections: usize,
    running: Mutex<Running>,
    store: Mutex<Option<Arc<dyn Store>>>,
    /// Those who take connections in.
    porters: Mutex<Vec<JoinHandle<()>>>,
}

/// What goes on in the background for a configuration.
#[derive(Default)]
struct Running {
    rooms: HashMap<String, Hosted>,
    /// Of the origins' health.
    checks: Vec<Task>,
}

/// A room, what was last offered to its line, and the conversation with the store. A reload keeps all three.
#[derive(Clone)]
struct Hosted {
    room: Arc<Room>,
    offer: Offer,
    driver: Arc<Task>,
}

/// Something that goes on until nobody wants it any more.
struct Task(JoinHandle<()>);

impl Task {
    fn spawn(future: impl Future<Output = ()> + Send + 'static) -> Task {
        Task(tokio::spawn(future))
    }

    /// Until it has let go of all it held.
    async fn end(mut self) {
        self.0.abort();
        let _ = (&mut self.0).await;
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The addresses of a plan, those that were inherited and those that are bound now.
///
/// # Errors
/// The first that can't be listened on.
pub fn sockets(settings: &Settings, mut inherited: Vec<Named>) -> Result<Vec<Named>, Failure> {
    let plain = settings.listen.iter();
    let secure = settings.tls.iter().map(|tls| &tls.listen);
    let mut sockets = Vec::new();
    for address in plain.chain(secure) {
        let known = inherited.iter().position(|(name, _)| name == address);
        let failed = |problem| Failure::Listen { address: address.clone(), problem };
        let socket = match known {
            Some(index) => inherited.swap_remove(index).1,
            None => {
                let parsed: SocketAddr = address
                    .parse()
                    .map_err(|_| failed(io::Error::other("not an address and a port")))?;
                bind(parsed).map_err(failed)?
            }
        };
        sockets.push((address.clone(), socket));
    }
    Ok(sockets)
}

/// The certificates of a plan.
///
/// # Errors
/// The first that can't be used.
pub fn certificates(settings: &Settings) -> Result<Certificates, Failure> {
    let read = |tls: &settings::Tls| {
        let found = Certificate::read(&tls.cert, &tls.key).map_err(Failure::Tls)?;
        Ok((tls.clone(), Arc::new(found)))
    };
    settings.tls.iter().map(read).collect()
}

/// All that can go wrong with a start but the store, which somebody else still has.
///
/// # Errors
/// What would keep a node from starting.
pub async fn rehearse(plan: &Plan) -> Result<(), Failure> {
    for (name, origin) in &plan.gateway.origins {
        Origin::new(name, origin.clone()).await?;
    }
    if !plan.keys.signing.is_empty() {
        let ring = KeyRing::new(plan.keys.signing.clone(), plan.keys.pass.clone())?;
        for room in &plan.gateway.rooms {
            ring.room(&room.guard.room)?;
        }
    }
    Ok(())
}

impl Node {
    /// Starts a node on sockets that listen already, in the order of [`sockets`].
    ///
    /// # Errors
    /// What keeps it from starting; nothing goes on in the background then.
    pub async fn start(
        plan: Plan,
        sockets: &[Named],
        certificates: Certificates,
    ) -> Result<Arc<Node>, Failure> {
        let opened = store::open(&plan.store.url, opening()?)?;
        let (stop, shutdown) = watch::channel(false);
        let connections = plan.gateway.bounds.connections;
        let ring = ring(&plan.keys, opened.secret.as_ref())?;
        let none = HashMap::new();
        let (live, running) = live(&plan.gateway, &ring, &opened.store, &none).await?;
        let live = Arc::new(ArcSwap::from_pointee(live));
        let node = Arc::new(Node {
            live: live.clone(),
            secret: opened.secret,
            certificates,
            stop,
            places: Arc::new(Semaphore::new(connections)),
            connections,
            running: Mutex::new(running),
            store: Mutex::new(Some(opened.store)),
            porters: Mutex::default(),
        });
        let streams = Streams::new();
        let proxy = Arc::new(proxy(&live, &streams, &shutdown));
        let gate = Gate::new(live.clone(), proxy.clone(), streams, shutdown.clone());
        let places = node.places.clone();
        let porter = Porter { gate: Arc::new(gate), proxy, live, places, shutdown };
        node.welcome(&porter, sockets, plan.gateway.listen.len())?;
        Ok(node)
    }

    /// Takes connections in.
    fn welcome(&self, porter: &Porter, sockets: &[Named], plain: usize) -> Result<(), Failure> {
        for (index, (name, socket)) in sockets.iter().enumerate() {
            let failed = |problem| Failure::Listen { address: name.clone(), problem };
            let socket = socket.try_clone().map_err(failed)?;
            let address = socket.local_addr().map_err(failed)?;
            let listener = TcpListener::from_std(socket).map_err(failed)?;
            let acceptor = match index.checked_sub(plain) {
                None => None,
                Some(index) => {
                    let (_, certificate) = &self.certificates[index];
                    Some(Arc::new(certificate.acceptor().map_err(Failure::Tls)?))
                }
            };
            let protocol = if acceptor.is_some() { "https" } else { "http" };
            tracing::info!(event = "node.listening", %address, protocol, "listening");
            let welcoming = tokio::spawn(porter.clone().welcome(listener, acceptor));
            self.porters.lock().unwrap_or_else(PoisonError::into_inner).push(welcoming);
        }
        Ok(())
    }

    /// Puts another plan in force. Rooms that stay keep their lines; connections stay open.
    ///
    /// # Errors
    /// What is wrong with it; the old one stays in force whole.
    pub async fn reload(&self, plan: Plan) -> Result<(), Failure> {
        let Some(store) = self.store.lock().unwrap_or_else(PoisonError::into_inner).clone() else {
            return Ok(());
        };
        let ring = ring(&plan.keys, self.secret.as_ref())?;
        // Those of addresses that are listened on; everything is read before anything is put in force.
        let mut fresh = Vec::new();
        for (tls, certificate) in &self.certificates {
            let now = plan.gateway.tls.iter().find(|now| now.listen == tls.listen).unwrap_or(tls);
            let read = Certificate::read(&now.cert, &now.key).map_err(Failure::Tls)?;
            fresh.push((certificate, read));
        }
        let known = self.running().rooms.clone();
        let (live, running) = live(&plan.gateway, &ring, &store, &known).await?;
        for (certificate, fresh) in fresh {
            certificate.replace(fresh);
        }
        self.live.store(Arc::new(live));
        // What is no longer wanted ends here.
        *self.running() = running;
        Ok(())
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes nobody in any more; connections without a request are closed.
    pub fn close(&self) {
        self.stop.send_replace(true);
    }

    /// Until nothing is under way, or this long.
    pub async fn idle(&self, patience: Duration) {
        // Until then a connection may be on its way to a place.
        let porters =
            std::mem::take(&mut *self.porters.lock().unwrap_or_else(PoisonError::into_inner));
        for porter in porters {
            let _ = porter.await;
        }
        let all = u32::try_from(self.connections).unwrap_or(u32::MAX);
        let _ = timeout(patience, self.places.acquire_many(all)).await;
    }

    /// Ends the conversations with the store and closes it. Whoever asks afterwards is told to come back.
    pub async fn let_go(&self) {
        let running = std::mem::take(&mut *self.running());
        for hosted in running.rooms.into_values() {
            if let Some(driver) = Arc::into_inner(hosted.driver) {
                driver.end().await;
            }
        }
        let store = self.store.lock().unwrap_or_else(PoisonError::into_inner).take();
        // The last to drop it writes and waits for that: not on a thread that serves visitors.
        let _ = tokio::task::spawn_blocking(move || drop(store)).await;
    }
}

/// A configuration, ready for use, and what goes on for it in the background. Rooms that are `known` stay.
async fn live(
    settings: &Settings,
    ring: &KeyRing,
    store: &Arc<dyn Store>,
    known: &HashMap<String, Hosted>,
) -> Result<(Live, Running), Failure> {
    let mut origins = HashMap::new();
    for (name, origin) in &settings.origins {
        origins.insert(name.clone(), Arc::new(Origin::new(name, origin.clone()).await?));
    }
    let mut prepared = Vec::new();
    for room in &settings.rooms {
        // A line remembers what each node last said: a room that comes back is somebody new to it.
        let mut speaker = [0; 16];
        getrandom::fill(&mut speaker)?;
        prepared.push((room, ring.room(&room.guard.room)?, u128::from_be_bytes(speaker)));
    }
    // From here on nothing can fail.
    let mut running = Running::default();
    let mut entrances = HashMap::new();
    for (room, keys, speaker) in prepared {
        let name = &room.guard.room;
        let offer = Offer { version: room.version, settings: room.line.clone() };
        let hosted = match known.get(name) {
            Some(hosted) => {
                if hosted.offer != offer {
                    hosted.room.offer(offer.clone());
                }
                Hosted { offer, ..hosted.clone() }
            }
            None => {
                let room = Arc::new(Room::new(name, speaker, offer.clone()));
                let driver = Arc::new(Task::spawn(drive(room.clone(), store.clone())));
                Hosted { room, offer, driver }
            }
        };
        let polls = settings.bounds.polls_per_second;
        let entrance = Entrance::new(hosted.room.clone(), keys, room.clone(), polls);
        entrances.insert(name.clone(), Arc::new(entrance));
        running.rooms.insert(name.clone(), hosted);
    }
    running.checks = origins.values().map(|origin| Task::spawn(origin.clone().watch())).collect();
    let guards = settings.rooms.iter().map(|room| room.guard.clone()).collect();
    let live = Live {
        routes: Routes::new(guards, &settings.sites),
        entrances,
        origins,
        trusted_proxies: settings.trusted_proxies.clone(),
        api_hosts: settings.api_hosts.iter().map(|host| host.to_ascii_lowercase()).collect(),
        pages: Pages::new("", &Look::default()),
        bounds: settings.bounds,
    };
    Ok((live, running))
}

async fn drive(room: Arc<Room>, store: Arc<dyn Store>) {
    /// Whoever asks a room that nobody speaks for any more is told so at once.
    struct Silence(Arc<Room>);
    impl Drop for Silence {
        fn drop(&mut self) {
            self.0.close();
        }
    }
    let room = Silence(room);
    room.0.drive(&*store).await;
}

fn proxy(
    live: &Arc<ArcSwap<Live>>,
    streams: &Arc<Streams>,
    shutdown: &watch::Receiver<bool>,
) -> HttpProxy<Proxy> {
    let conf = ServerConf {
        upstream_keepalive_pool_size: KEEPALIVE,
        max_retries: MAX_TRIES,
        ..ServerConf::default()
    };
    let inner = Proxy::new(live.clone(), streams.clone(), shutdown.clone());
    http_proxy(&Arc::new(conf), inner)
}

fn ring(keys: &Keys, secret: Option<&store::Secret>) -> Result<KeyRing, Failure> {
    let signing = match (keys.signing.is_empty(), secret) {
        (false, _) => keys.signing.clone(),
        (true, Some(secret)) => {
            vec![Key::new(STORE_KEY, token::Secret::from_entropy(secret.0).0)?]
        }
        (true, None) => return Err(Failure::NoKeys),
    };
    Ok(KeyRing::new(signing, keys.pass.clone())?)
}

fn opening() -> Result<Opening, Failure> {
    let (mut run, mut secret) = ([0; 8], [0; 32]);
    getrandom::fill(&mut run)?;
    getrandom::fill(&mut secret)?;
    Ok(Opening {
        clock: Arc::new(clock::now_ms),
        run: NonZeroU64::new(u64::from_be_bytes(run)).unwrap_or(NonZeroU64::MIN),
        secret: store::Secret(secret),
    })
}
