//! A cluster: which node a line is on, learnt from the nodes themselves.
//!
//! Owns the routes. A question goes to the node that answered the last one about the same line, or to any; a
//! node that does not have the line says who does (MOVED), and that is remembered. So there is no map of
//! slots to fetch, to keep or to be wrong, at the price of one more round trip for a line's first question.
//!
//! The redis crate's cluster client is not used: it sends a question again by itself when a connection breaks,
//! which may be heard twice, and without its retries it follows no MOVED either; besides, it keeps a
//! connection to every node.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use redis::Value;
use tokio::task::JoinSet;

use super::address::Server;
use super::connection::{Connection, Fault, Place};
use super::dialler::Dialler;
use super::eval::Question;
use super::info::Part;
use super::link::blame;
use super::slot::Slot;
use super::trouble::{Failure, Trouble};

/// How often a question is sent on. A slot that moves is at its new node after one or two.
const REDIRECTS: usize = 4;

/// The nodes of a cluster, as far as they are known.
pub(super) struct Cluster {
    seeds: Vec<Server>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// By what the line's keys have in common.
    routes: HashMap<String, Server>,
    slots: HashMap<Server, Arc<Slot>>,
}

impl Cluster {
    /// One that some nodes are known of.
    pub(super) fn new(seeds: Vec<Server>) -> Cluster {
        Cluster { seeds, known: Mutex::default() }
    }

    /// Asks whoever has the line.
    pub(super) async fn eval(
        &self,
        dialler: &Arc<Dialler>,
        question: Question<'_>,
    ) -> Result<Value, Failure> {
        let tag = question.keys.first().map_or("", |key| tag(key));
        let route = self.known().routes.get(tag).cloned();
        let mut connection = match route {
            Some(server) => self.follow(dialler, tag, &server).await?,
            None => self.any(dialler).await?,
        };
        let mut asking = false;
        for _ in 0..REDIRECTS {
            let fault = match question.on(&connection, asking).await {
                Ok(answer) => return Ok(answer),
                Err(fault) => fault,
            };
            let Some(redirect) = Redirect::read(&fault, &connection.place) else {
                // Whoever has it now, the others will know.
                self.known().routes.remove(tag);
                return Err(blame(&connection, &fault));
            };
            asking = redirect.asking;
            if !asking {
                self.known().routes.insert(tag.to_owned(), redirect.to.clone());
            }
            connection = self.follow(dialler, tag, &redirect.to).await?;
        }
        self.known().routes.remove(tag);
        Err(Trouble::NotReady("its nodes do not agree on who has the line".to_owned())
            .of(&dialler.address))
    }

    /// The node a route leads to; a route that leads to nobody is forgotten.
    async fn follow(
        &self,
        dialler: &Arc<Dialler>,
        tag: &str,
        server: &Server,
    ) -> Result<Arc<Connection>, Failure> {
        let slot = self.slot(server);
        let connected = connect(dialler.clone(), slot, server.clone()).await;
        if connected.is_err() {
            self.known().routes.remove(tag);
        }
        connected
    }

    /// Any node: one that is connected, or the first that can be. Seeds may be gone while the others go on, so whoever
    /// had a line is tried as well.
    pub(super) async fn any(&self, dialler: &Arc<Dialler>) -> Result<Arc<Connection>, Failure> {
        let open = self.known().slots.values().find_map(|slot| slot.open_connection());
        if let Some(connection) = open {
            return Ok(connection);
        }
        let mut servers: HashSet<Server> = self.known().slots.keys().cloned().collect();
        servers.extend(self.seeds.iter().cloned());
        let mut connecting = JoinSet::new();
        for server in servers {
            connecting.spawn(connect(dialler.clone(), self.slot(&server), server));
        }
        let mut failure = None;
        while let Some(connected) = connecting.join_next().await {
            match connected {
                Ok(Ok(connection)) => return Ok(connection),
                Ok(Err(found)) => failure = failure.or(Some(found)),
                Err(_) => {}
            }
        }
        let nobody = || Trouble::Away("none of its nodes".to_owned()).of(&dialler.address);
        Err(failure.unwrap_or_else(nobody))
    }

    /// The place for a node's connection. Nodes that nobody asks for any more lose theirs.
    fn slot(&self, server: &Server) -> Arc<Slot> {
        let mut known = self.known();
        let Known { routes, slots } = &mut *known;
        if let Some(slot) = slots.get(server) {
            return slot.clone();
        }
        slots.retain(|server, slot| {
            self.seeds.contains(server)
                || slot.open_connection().is_some()
                || routes.values().any(|route| route == server)
        });
        slots.entry(server.clone()).or_default().clone()
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn connect(
    dialler: Arc<Dialler>,
    slot: Arc<Slot>,
    server: Server,
) -> Result<Arc<Connection>, Failure> {
    let open = || {
        let (dialler, place) = (dialler.clone(), Place::Server(server.clone()));
        async move { dialler.open(&place, Part::Node).await }
    };
    slot.connection(&server, open).await
}

/// What decides where a key is: what stands between the first braces, or else all of it.
fn tag(key: &str) -> &str {
    let inside = key.split_once('{').and_then(|(_, rest)| rest.split_once('}'));
    inside.map(|(tag, _)| tag).filter(|tag| !tag.is_empty()).unwrap_or(key)
}

/// Who has the line instead.
#[derive(Debug, PartialEq, Eq)]
struct Redirect {
    to: Server,
    /// Only for this once: the slot is on its way.
    asking: bool,
}

impl Redirect {
    /// `MOVED 3999 127.0.0.1:6381`; without a host it is that of whoever says so.
    fn read(fault: &Fault, from: &Place) -> Option<Redirect> {
        let Fault::Said(error) = fault else { return None };
        let asking = match error.code() {
            "MOVED" => false,
            "ASK" => true,
            _ => return None,
        };
        let (_, place) = error.details()?.split_once(' ')?;
        let (host, port) = place.rsplit_once(':')?;
        let host = match (host, from) {
            ("" | "?", Place::Server(server)) => &server.host,
            (host, _) => host.trim_start_matches('[').trim_end_matches(']'),
        };
        let to = Server { host: host.to_owned(), port: port.parse().ok()? };
        Some(Redirect { to, asking })
    }
}
