//! A cluster of three masters.

use std::ops::RangeInclusive;

use super::{RedisServer, Setup};
use crate::support::eventually;

/// Three masters, each with a third of the slots.
pub struct Cluster {
    /// The masters, and then replicas.
    pub nodes: Vec<RedisServer>,
}

const SLOTS: [RangeInclusive<u16>; 3] = [0..=5460, 5461..=10922, 10923..=16383];

impl Cluster {
    /// Three masters.
    #[track_caller]
    pub fn start() -> Cluster {
        Cluster::with(RedisServer::setup())
    }

    /// Three masters that are told something first; with TLS, `tls-cluster yes`.
    #[track_caller]
    pub fn with(setup: Setup) -> Cluster {
        let setup = member(setup);
        let nodes: Vec<RedisServer> = SLOTS.iter().map(|_| setup.clone().start()).collect();
        for (index, (node, slots)) in nodes.iter().zip(SLOTS).enumerate() {
            let [first, last] = [slots.start(), slots.end()].map(u16::to_string);
            let _: String = node.ask(&["CLUSTER", "ADDSLOTSRANGE", &first, &last]);
            // Else the nodes would have to find out by themselves whose word counts.
            let epoch = (index + 1).to_string();
            let _: String = node.ask(&["CLUSTER", "SET-CONFIG-EPOCH", &epoch]);
            meet(node, &nodes[0]);
        }
        let cluster = Cluster { nodes };
        cluster.settle();
        cluster
    }

    /// One more node, which follows one of the masters.
    #[track_caller]
    pub fn add_replica(&mut self, of: usize) -> usize {
        let replica = member(RedisServer::setup()).start();
        meet(&replica, &self.nodes[0]);
        let id = self.id(of);
        eventually("a replica of a master it knows", || {
            replica.try_ask::<String>(&["CLUSTER", "REPLICATE", &id]).ok()
        });
        self.nodes.push(replica);
        self.settle();
        let replica = self.nodes.last().expect("a node");
        eventually("a replica that follows", || {
            (replica.info("master_link_status") == "up").then_some(())
        });
        self.nodes.len() - 1
    }

    /// `redis-cluster://…`, by all its nodes.
    pub fn url(&self) -> String {
        let each: Vec<String> =
            self.nodes.iter().map(|node| format!("127.0.0.1:{}", node.port())).collect();
        format!("redis-cluster://{}", each.join(","))
    }

    /// The slot of a key, and the master that had it at the start.
    pub fn home(&self, key: &str) -> (u16, usize) {
        let slot: u16 = self.nodes[0].ask(&["CLUSTER", "KEYSLOT", key]);
        let home = SLOTS.iter().position(|slots| slots.contains(&slot));
        (slot, home.expect("every slot has a home"))
    }

    /// Begins to move a slot: the old node sends those who ask for what it no longer has to the new one, for once.
    pub fn begin_move(&self, slot: u16, from: usize, to: usize) {
        let (slot, ids) = (slot.to_string(), [self.id(from), self.id(to)]);
        let _: String = self.nodes[to].ask(&["CLUSTER", "SETSLOT", &slot, "IMPORTING", &ids[0]]);
        let _: String = self.nodes[from].ask(&["CLUSTER", "SETSLOT", &slot, "MIGRATING", &ids[1]]);
    }

    /// The keys that a node has of a slot.
    pub fn keys(&self, slot: u16, node: usize) -> Vec<String> {
        self.nodes[node].ask(&["CLUSTER", "GETKEYSINSLOT", &slot.to_string(), "1000"])
    }

    /// Takes keys along.
    pub fn migrate(&self, keys: &[String], from: usize, to: usize) {
        let port = self.nodes[to].port().to_string();
        let mut words = vec!["MIGRATE", "127.0.0.1", &port, "", "0", "5000"];
        words.extend(["AUTH2", "control", "control", "KEYS"]);
        words.extend(keys.iter().map(String::as_str));
        let _: String = self.nodes[from].ask(&words);
    }

    /// Ends it: the slot is the new node's, and everybody is told.
    pub fn end_move(&self, slot: u16, to: usize) {
        let (slot, id) = (slot.to_string(), self.id(to));
        for node in [to, 0, 1, 2] {
            let _: String = self.nodes[node].ask(&["CLUSTER", "SETSLOT", &slot, "NODE", &id]);
        }
    }

    /// Makes a replica the master of its slots.
    #[track_caller]
    pub fn fail_over(&self, replica: usize) {
        let _: String = self.nodes[replica].ask(&["CLUSTER", "FAILOVER"]);
        eventually("a new master", || (self.nodes[replica].info("role") == "master").then_some(()));
    }

    fn id(&self, node: usize) -> String {
        self.nodes[node].ask(&["CLUSTER", "MYID"])
    }

    /// Until every node knows every other and whose every slot is, and none sees anything wrong: one that may serve a part
    /// is content before it has heard of the rest.
    #[track_caller]
    pub fn settle(&self) {
        let known = format!("cluster_known_nodes:{}\r\n", self.nodes.len());
        let settled = ["cluster_state:ok\r\n", "cluster_slots_ok:16384\r\n", &known];
        for node in &self.nodes {
            eventually("a cluster at one with itself", || {
                let info: String = node.ask(&["CLUSTER", "INFO"]);
                settled.iter().all(|line| info.contains(line)).then_some(())
            });
        }
    }
}

fn member(setup: Setup) -> Setup {
    setup.line("cluster-enabled yes").line("cluster-node-timeout 2000")
}

fn meet(node: &RedisServer, other: &RedisServer) {
    // Those that speak TLS among themselves, and the port of it.
    let port = other.tls_port.unwrap_or(other.port).to_string();
    let _: String = node.ask(&["CLUSTER", "MEET", "127.0.0.1", &port]);
}
