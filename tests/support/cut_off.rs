//! A gateway on real sockets, in this process, whose store can be taken away.

use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::sync::Arc;

use anteroom::app::{Node, sockets};
use anteroom::config::{self, Environment};
use anteroom::store::{Memory, Opened};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::config::Config;
use super::origin::Origin;
use super::shaky::{Manner, Shaky};
use super::visitor::Visitor;

/// A running node.
pub struct CutOff {
    runtime: Option<Runtime>,
    node: Arc<Node>,
    address: SocketAddr,
    admin: SocketAddr,
    store: Arc<Shaky<Memory>>,
    _directory: TempDir,
}

impl CutOff {
    /// Before an origin, with one room and what `[store]` says about losing it.
    pub fn before(origin: &Origin, room: &str, store: &str) -> CutOff {
        CutOff::starting(origin, room, store, Manner::Well)
    }

    /// The same, with a store that is like this from the beginning.
    pub fn starting(origin: &Origin, room: &str, store: &str, manner: Manner) -> CutOff {
        let config = Config::new(&[origin.address().to_string()]).room("sale", room).store(store);
        CutOff::run(&config, manner)
    }

    /// The same, with limits.
    pub fn limited(origin: &Origin, room: &str, limits: &str, manner: Manner) -> CutOff {
        let config = Config::new(&[origin.address().to_string()]).room("sale", room).limits(limits);
        CutOff::run(&config, manner)
    }

    fn run(config: &Config, manner: Manner) -> CutOff {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("anteroom.toml");
        std::fs::write(&path, config.text()).expect("space for it");
        let (plan, _) = config::load(&path, &Environment::default())
            .unwrap_or_else(|problems| panic!("{problems}"));
        let clock = Arc::new(anteroom::clock::now_ms);
        let store = Shaky::around(Arc::new(Memory::new(clock, NonZeroU64::MIN)));
        store.is(manner);
        let opened = Opened { store: store.clone(), secret: None };
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(2).enable_all().build().expect("a runtime");
        let (node, address, admin) = runtime.block_on(async {
            let sockets = sockets(&plan, Vec::new()).expect("a free port");
            let [address, admin] = [0, 1].map(|at| sockets[at].1.local_addr().expect("an address"));
            let node = Node::start_with(plan, opened, &sockets, Vec::new()).await;
            (node.unwrap_or_else(|failure| panic!("{failure}")), address, admin)
        });
        CutOff { runtime: Some(runtime), node, address, admin, store, _directory: directory }
    }

    /// From now on.
    pub fn store_is(&self, manner: Manner) {
        self.store.is(manner);
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where it listens for operators.
    pub fn admin(&self) -> SocketAddr {
        self.admin
    }

    /// The address of a page.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Somebody new.
    pub fn visitor(&self) -> Visitor {
        Visitor::of(self.address)
    }
}

impl Drop for CutOff {
    fn drop(&mut self) {
        self.node.close();
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
