//! What is in force: the rules, rooms and origins of the last good configuration, swapped whole.
//!
//! Owns the lookup from a request to a room and an origin. Changed by nobody: a reload makes another one.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::Arc;

use ipnet::IpNet;

use super::access::Access;
use super::api::Meters;
use super::entrance::Entrance;
use super::head::{Client, Head, Peer, is_among};
use super::origin::Origin;
use super::route::{Asked, Routes, Way, same};
use super::settings::Bounds;
use crate::metrics::Metrics;
use crate::page::{Look, Pages};
use crate::webhook;

/// A configuration, ready for use.
pub struct Live {
    /// Which room guards what.
    pub routes: Routes,
    /// Rooms by name.
    pub entrances: HashMap<String, Arc<Entrance>>,
    /// Origins by name.
    pub origins: HashMap<String, Arc<Origin>>,
    /// Whose word about clients counts.
    pub trusted_proxies: Vec<IpNet>,
    /// Hosts at whose root the visitor API is, in lower case.
    pub api_hosts: HashSet<String>,
    /// Outside every room.
    pub pages: Pages,
    /// What a client may cost.
    pub bounds: Bounds,
    /// What counts calls of the API.
    pub meters: Arc<Meters>,
    /// Where letters may go.
    pub webhooks: Arc<webhook::Rules>,
    /// Which requests are told of.
    pub access: Access,
}

impl Live {
    /// Before anything is in force.
    pub fn nothing(metrics: &Metrics) -> Live {
        Live {
            routes: Routes::new(Vec::new(), &[]),
            entrances: HashMap::new(),
            origins: HashMap::new(),
            trusted_proxies: Vec::new(),
            api_hosts: HashSet::new(),
            pages: Pages::new("", &Look::default()),
            bounds: Bounds::default(),
            meters: Arc::new(Meters::new(metrics)),
            webhooks: Arc::default(),
            access: Access::default(),
        }
    }

    /// Whether what connects from an address may be a proxy of ours, with many people behind it.
    pub fn trusts(&self, address: IpAddr) -> bool {
        is_among(&self.trusted_proxies, address)
    }

    /// Who is asking.
    pub fn client(&self, head: &impl Head, peer: Peer) -> Client {
        Client::behind(peer, head, &self.trusted_proxies)
    }

    /// Where a request for `path` on its host goes.
    pub fn way<'l>(&'l self, head: &impl Head, path: &str, client: &Client) -> Way<'l> {
        self.routes.way(&Asked {
            host: head.host(),
            path,
            method: head.method(),
            address: client.address,
            header: &|name, value| head.all(name).any(|found| same(found, value)),
        })
    }

    /// The room that guards `path` on the host of a request, whatever exceptions there are.
    pub fn guarding(&self, head: &impl Head, path: &str) -> Option<&Arc<Entrance>> {
        self.entrances.get(self.routes.room(head.host(), path)?)
    }

    /// The rooms on the host of a request.
    pub fn on_host(&self, head: &impl Head) -> impl Iterator<Item = &Arc<Entrance>> {
        self.routes.rooms(head.host()).filter_map(|room| self.entrances.get(room))
    }
}
