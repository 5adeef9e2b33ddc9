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

use super::house::{follow, introduce, made};
use super::memory::give_back;
use super::timed::Timed;
use crate::admin::{self, Admin};
use crate::clock;
use crate::config::{Keys, Plan};
use crate::gateway::access::Access;
use crate::gateway::api::{Meters, Streams};
use crate::gateway::entrance::Entrance;
use crate::gateway::gate::Gate;
use crate::gateway::listen::{Porter, bind};
use crate::gateway::live::Live;
use crate::gateway::origin::{BadOrigin, MAX_TRIES, Origin};
use crate::gateway::proxy::Proxy;
use crate::gateway::route::Routes;
use crate::gateway::scribe::Scribe;
use crate::gateway::settings::{self, Settings};
use crate::gateway::tls;
use crate::handover::Named;
use crate::line::{self, Offer};
use crate::metrics::Metrics;
use crate::page::{Look, Pages};
use crate::room::{Crowd, Room, SPREAD, SPREAD_LOSING};
use crate::stats::Stats;
use crate::store::{self, HOUSE, Opened, Opening, Store, StoreError};
use crate::token::{self, Key, KeyError, KeyRing};
use crate::webhook::Courier;

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
    /// One for operators.
    #[error(
        "[admin] {address}: {problem}. Name another with listen in [admin] or ANTEROOM_ADMIN_LISTEN; \"none\" is none"
    )]
    AdminListen {
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

/// Of each address with TLS, and where they come from.
pub type Certificates = Vec<(settings::Tls, Arc<tls::Certificates>)>;

/// A running node.
pub struct Node {
    live: Arc<ArcSwap<Live>>,
    /// What the store keeps for want of configured keys.
    secret: Option<store::Secret>,
    /// What the file says, without the rooms that operators made.
    written: tokio::sync::Mutex<Written>,
    /// What is kept beside the rooms, and who speaks for it.
    house: Arc<Room>,
    _housekeeping: Mutex<Vec<Task>>,
    certificates: Certificates,
    /// Of all rooms, before and after a reload; without the store once that is let go.
    shared: Mutex<Option<Shared>>,
    stop: watch::Sender<bool>,
    places: Arc<Semaphore>,
    connections: usize,
    running: Mutex<Running>,
    /// Those who take connections in.
    porters: Mutex<Vec<JoinHandle<()>>>,
    metrics: Arc<Metrics>,
    admin: Arc<Admin>,
    /// Operators' connections that could still be taken.
    admin_places: Arc<Semaphore>,
}

/// What of a plan a node needs again when an operator makes a room.
struct Written {
    gateway: Settings,
    ring: KeyRing,
}

/// What goes on in the background for a configuration.
#[derive(Clone, Default)]
struct Running {
    rooms: HashMap<String, Hosted>,
    /// Of the origins' health, by name.
    checks: HashMap<String, Arc<Task>>,
}

/// A room, what was last offered to its line, the conversation with the store, and what is remembered. A reload keeps all
/// of it.
#[derive(Clone)]
struct Hosted {
    room: Arc<Room>,
    offer: Offer,
    driver: Arc<Task>,
    stats: Arc<Stats>,
    _sampler: Arc<Task>,
    _courier: Arc<Task>,
    scribe: Arc<Scribe>,
    _writing: Arc<Task>,
}

/// What every room of a node shares, whatever the configuration.
#[derive(Clone)]
struct Shared {
    store: Arc<dyn Store>,
    metrics: Arc<Metrics>,
    crowd: Arc<Crowd>,
    courier: Arc<Courier>,
    /// The node's own: it speaks to each room under a name that begins so.
    id: u128,
    /// Whether no other node can share its rooms.
    alone: bool,
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

/// Before the address of a socket for operators, and of one for their metrics alone. Visitors' have nothing there.
const ADMIN: &str = "admin ";
const METRICS: &str = "metrics ";

/// The addresses of a plan, those that were inherited and those that are bound now: visitors' first, plain ones before
/// those with TLS.
///
/// # Errors
/// The first that can't be listened on.
pub fn sockets(plan: &Plan, mut inherited: Vec<Named>) -> Result<Vec<Named>, Failure> {
    let plain = plan.gateway.listen.iter();
    let secure = plan.gateway.tls.iter().map(|tls| &tls.listen);
    let admin = plan.admin.listen.iter().map(|address| (ADMIN, address));
    let metrics = plan.admin.metrics_listen.iter().map(|address| (METRICS, address));
    let visitors = plain.chain(secure).map(|address| ("", address));
    let mut sockets = Vec::new();
    for (purpose, address) in visitors.chain(admin).chain(metrics) {
        let name = format!("{purpose}{address}");
        let known = inherited.iter().position(|(other, _)| *other == name);
        let failed = |problem| match purpose {
            "" => Failure::Listen { address: address.clone(), problem },
            _ => Failure::AdminListen { address: address.clone(), problem },
        };
        let socket = match known {
            Some(index) => inherited.remove(index).1,
            None => {
                let parsed: SocketAddr = address
                    .parse()
                    .map_err(|_| failed(io::Error::other("not an address and a port")))?;
                bind(parsed).map_err(failed)?
            }
        };
        sockets.push((name, socket));
    }
    Ok(sockets)
}

/// The certificates of a plan.
///
/// # Errors
/// The first that can't be used.
pub fn certificates(settings: &Settings) -> Result<Certificates, Failure> {
    let read = |tls: &settings::Tls| {
        let found = tls::Certificates::read(&tls.certificates).map_err(Failure::Tls)?;
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
        let opened = store::open(&plan.store.url, plan.store.access.clone(), opening()?).await?;
        Node::start_with(plan, opened, sockets, certificates).await
    }

    /// The same over a store that is open already.
    ///
    /// # Errors
    /// What keeps it from starting; nothing goes on in the background then.
    pub async fn start_with(
        plan: Plan,
        opened: Opened,
        sockets: &[Named],
        certificates: Certificates,
    ) -> Result<Arc<Node>, Failure> {
        let (stop, shutdown) = watch::channel(false);
        let connections = plan.gateway.bounds.connections;
        let ring = ring(&plan.keys, opened.secret.as_ref())?;
        let metrics = Arc::new(Metrics::new(&plan.metrics));
        let kind = kind(&plan.store.url);
        let store = Timed { store: opened.store, meter: metrics.store(kind) };
        let store: Arc<dyn Store> = Arc::new(store);
        let mut id = [0; 16];
        getrandom::fill(&mut id)?;
        let id = uuid::Builder::from_random_bytes(id).into_uuid();
        // Letters are made of what is in force, and rooms deliver them: nothing is, before both are there.
        let live = Arc::new(ArcSwap::from_pointee(Live::nothing(&metrics)));
        let shared = Shared {
            courier: Courier::new(live.clone(), &metrics),
            store,
            metrics: metrics.clone(),
            crowd: Arc::default(),
            id: id.as_u128(),
            alone: kind != "redis",
        };
        let before = live.load_full();
        let nothing = (&*before, &Running::default());
        let (first, running) = self::live(&plan.gateway, &ring, &shared, nothing).await?;
        live.store(Arc::new(first));
        let offer = Offer { version: 0, settings: line::Settings::default() };
        let house = Arc::new(Room::new(HOUSE, id.as_u128(), offer));
        let streams = Streams::new();
        let places = Arc::new(Semaphore::new(connections));
        let seen = admin::Node {
            live: live.clone(),
            metrics: metrics.clone(),
            places: (places.clone(), connections),
            streams: streams.clone(),
            store: kind,
            keeper: Arc::downgrade(&shared.store),
            house: house.clone(),
            id,
            shutdown: shutdown.clone(),
        };
        let admin = Admin::new(seen, &plan.admin, ring.sessions())?;
        let node = Arc::new(Node {
            live: live.clone(),
            secret: opened.secret,
            certificates,
            written: tokio::sync::Mutex::new(Written { gateway: plan.gateway.clone(), ring }),
            house: house.clone(),
            _housekeeping: Mutex::default(),
            shared: Mutex::new(Some(shared.clone())),
            stop,
            places,
            connections,
            running: Mutex::new(running),
            porters: Mutex::default(),
            metrics,
            admin,
            admin_places: Arc::new(Semaphore::new(admin::bound())),
        });
        let proxy = Arc::new(proxy(&live, &streams, &shutdown));
        let gate = Gate::new(live.clone(), proxy.clone(), streams, shutdown.clone());
        let (places, guests) = (node.places.clone(), Arc::default());
        let porter = Porter { gate: Arc::new(gate), proxy, live, places, guests, shutdown };
        let visitors = plan.gateway.listen.len() + plan.gateway.tls.len();
        let (visitors, operators) = sockets.split_at(visitors.min(sockets.len()));
        node.welcome(&porter, visitors, plan.gateway.listen.len())?;
        node.welcome_operators(operators)?;
        let tasks = vec![
            Task::spawn(drive(house.clone(), shared.store)),
            Task::spawn(give_back(node.places.clone())),
            Task::spawn(introduce(Arc::downgrade(&node))),
            Task::spawn(follow(Arc::downgrade(&node), house)),
        ];
        *node._housekeeping.lock().unwrap_or_else(PoisonError::into_inner) = tasks;
        tracing::info!(
            event = "node.started",
            version = env!("CARGO_PKG_VERSION"),
            spread_ms = millis(SPREAD),
            spread_losing_ms = millis(SPREAD_LOSING),
            "started: for so long what this node tells may be behind what another one does"
        );
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
                    let (_, certificates) = &self.certificates[index];
                    Some(Arc::new(certificates.acceptor().map_err(Failure::Tls)?))
                }
            };
            let protocol = if acceptor.is_some() { "https" } else { "http" };
            tracing::info!(event = "node.listening", %address, protocol, "listening");
            let welcoming = tokio::spawn(porter.clone().welcome(listener, acceptor));
            self.porters.lock().unwrap_or_else(PoisonError::into_inner).push(welcoming);
        }
        Ok(())
    }

    /// Takes operators' connections in.
    fn welcome_operators(&self, sockets: &[Named]) -> Result<(), Failure> {
        for (name, socket) in sockets {
            let (purpose, address) = match name.strip_prefix(METRICS) {
                Some(address) => ("metrics", address),
                None => ("admin", name.trim_start_matches(ADMIN)),
            };
            let failed = |problem| Failure::AdminListen { address: address.to_owned(), problem };
            let socket = socket.try_clone().map_err(failed)?;
            let listened = socket.local_addr().map_err(failed)?;
            let listener = TcpListener::from_std(socket).map_err(failed)?;
            let places = self.admin_places.clone();
            let port = match purpose {
                "metrics" => admin::Port::for_metrics(&self.admin, places),
                _ => admin::Port::new(&self.admin, places),
            };
            tracing::info!(event = "node.listening", address = %listened, protocol = purpose, "listening");
            let welcoming = tokio::spawn(port.welcome(listener));
            self.porters.lock().unwrap_or_else(PoisonError::into_inner).push(welcoming);
        }
        Ok(())
    }

    /// What operators ask for that only whoever started the node can do.
    pub fn reloads(&self) -> tokio::sync::mpsc::Receiver<admin::Reload> {
        self.admin.reloads().listen()
    }

    /// Puts another plan in force. Rooms that stay keep their lines; connections stay open.
    ///
    /// # Errors
    /// What is wrong with it; the old one stays in force whole.
    pub async fn reload(&self, plan: Plan) -> Result<(), Failure> {
        let ring = ring(&plan.keys, self.secret.as_ref())?;
        // Those of addresses that are listened on; everything is read before anything is put in force.
        let mut fresh = Vec::new();
        for (tls, certificates) in &self.certificates {
            let now = plan.gateway.tls.iter().find(|now| now.listen == tls.listen).unwrap_or(tls);
            let read = tls::Certificates::read(&now.certificates).map_err(Failure::Tls)?;
            fresh.push((certificates, read));
        }
        let mut written = self.written.lock().await;
        let before = std::mem::replace(&mut *written, Written { gateway: plan.gateway, ring });
        if let Err(failure) = self.put_in_force(&written).await {
            *written = before;
            return Err(failure);
        }
        for (certificates, fresh) in fresh {
            certificates.replace(fresh);
        }
        self.admin.change(&plan.admin, written.ring.sessions());
        Ok(())
    }

    /// The same file once more, because operators have made a room.
    pub(super) async fn refresh(&self) -> Result<(), Failure> {
        let written = self.written.lock().await;
        self.put_in_force(&written).await
    }

    /// Says in the house who this node is.
    pub(super) fn introduce(&self) {
        self.house.introduce(self.admin.about());
    }

    /// What the file says, and the rooms that operators have made.
    async fn put_in_force(&self, written: &Written) -> Result<(), Failure> {
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(shared) = shared else { return Ok(()) };
        let mut settings = written.gateway.clone();
        for name in made(&self.house) {
            if !settings.rooms.iter().any(|room| room.guard.room == name) {
                settings.rooms.push(settings::Room::made(&name));
            }
        }
        let (before, known) = (self.live.load_full(), self.running().clone());
        let known = (&*before, &known);
        let (live, running) = live(&settings, &written.ring, &shared, known).await?;
        let (rooms, origins) = (&live.entrances, &live.origins);
        self.metrics.retain(|room| rooms.contains_key(room), |name| origins.contains_key(name));
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
        let operators = u32::try_from(admin::bound()).unwrap_or(u32::MAX);
        let _ = timeout(patience, async {
            let _ = self.places.acquire_many(all).await;
            let _ = self.admin_places.acquire_many(operators).await;
        })
        .await;
    }

    /// Whether no other process can have its store while it is open.
    pub fn is_alone(&self) -> bool {
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.as_ref().is_some_and(|shared| shared.alone)
    }

    /// Ends the conversations with the store and closes it. Whoever asks afterwards is told to come back.
    pub async fn let_go(&self) {
        let tasks =
            std::mem::take(&mut *self._housekeeping.lock().unwrap_or_else(PoisonError::into_inner));
        for task in tasks {
            task.end().await;
        }
        let running = std::mem::take(&mut *self.running());
        for hosted in running.rooms.into_values() {
            if let Some(driver) = Arc::into_inner(hosted.driver) {
                driver.end().await;
            }
        }
        let store = self.shared.lock().unwrap_or_else(PoisonError::into_inner).take();
        // The last to drop it writes and waits for that: not on a thread that serves visitors.
        let _ = tokio::task::spawn_blocking(move || drop(store)).await;
    }
}

/// A configuration, ready for use, and what goes on for it in the background. Rooms that are `known` stay, and origins that are what they
/// were before: a reload that changes something else forgets nothing of them. `alone`: no other node can speak for them.
async fn live(
    settings: &Settings,
    ring: &KeyRing,
    shared: &Shared,
    (before, known): (&Live, &Running),
) -> Result<(Live, Running), Failure> {
    let Shared { store, metrics, crowd, courier, id, alone } = shared;
    let mut origins = HashMap::new();
    for (name, origin) in &settings.origins {
        let origin = Origin::after(before.origins.get(name), name, origin, metrics).await?;
        origins.insert(name.clone(), origin);
    }
    let mut prepared = Vec::new();
    for room in &settings.rooms {
        // A line remembers what each node last said: a room that comes back is somebody new to it.
        let mut nth = [0; 4];
        getrandom::fill(&mut nth)?;
        let speaker = id >> 32 << 32 | u128::from(u32::from_be_bytes(nth));
        prepared.push((room, ring.room(&room.guard.room)?, speaker));
    }
    // From here on nothing can fail.
    let mut running = Running::default();
    let mut entrances = HashMap::new();
    for (room, keys, speaker) in prepared {
        let name = &room.guard.room;
        let offer = Offer { version: room.version, settings: room.line.clone() };
        let hosted = match known.rooms.get(name) {
            Some(hosted) => {
                if hosted.offer != offer {
                    hosted.room.offer(offer.clone());
                }
                Hosted { offer, ..hosted.clone() }
            }
            None => {
                let room = Arc::new(Room::new(name, speaker, offer.clone()).among(crowd));
                let driver = Arc::new(Task::spawn(drive(room.clone(), store.clone())));
                let stats = Arc::new(Stats::new(metrics.room(name)));
                let _sampler = Arc::new(Task::spawn(stats.clone().watch(room.clone())));
                let _courier = Arc::new(Task::spawn(courier.clone().serve(room.clone())));
                let scribe = Arc::new(Scribe::new(room.clone(), *alone));
                let _writing = Arc::new(Task::spawn(scribe.clone().write()));
                Hosted { room, offer, driver, stats, _sampler, _courier, scribe, _writing }
            }
        };
        let (keyring, drawn) = (ring.clone(), name.clone());
        let lots = move |opens_ms: u64, kid: Option<&str>| keyring.seed(&drawn, opens_ms, kid);
        hosted.room.draw_with(Arc::new(lots));
        let polls = settings.bounds.polls_per_second;
        let entrance = Entrance::new(hosted.room.clone(), keys, room.clone(), polls, settings.loss);
        let entrance = entrance.counted_by(hosted.stats.clone()).after(before.entrances.get(name));
        let entrance = Arc::new(entrance);
        hosted.scribe.follow(entrance.clone());
        entrances.insert(name.clone(), entrance);
        running.rooms.insert(name.clone(), hosted);
    }
    for (name, origin) in &origins {
        let same = before.origins.get(name).is_some_and(|before| Arc::ptr_eq(before, origin));
        let check = known.checks.get(name).filter(|_| same).cloned();
        let check = check.unwrap_or_else(|| Arc::new(Task::spawn(origin.clone().watch())));
        running.checks.insert(name.clone(), check);
    }
    let guards = settings.rooms.iter().map(|room| room.guard.clone()).collect();
    let live = Live {
        routes: Routes::new(guards, &settings.sites),
        entrances,
        origins,
        trusted_proxies: settings.trusted_proxies.clone(),
        api_hosts: settings.api_hosts.iter().map(|host| host.to_ascii_lowercase()).collect(),
        pages: Pages::new("", &Look::default()),
        bounds: settings.bounds,
        meters: Arc::new(Meters::new(metrics)),
        webhooks: Arc::new(settings.webhooks.clone()),
        access: Access::new(settings.access),
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

/// The kind of store that a url names.
fn kind(url: &str) -> &'static str {
    match url.split_once(':') {
        Some(("memory", _)) => "memory",
        Some(("embedded", _)) => "embedded",
        _ => "redis",
    }
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

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
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
