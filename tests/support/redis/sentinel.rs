//! Three Sentinels, a master and its replicas.

use super::{RedisServer, Setup};
use crate::support::eventually;

/// The name the master is watched under.
pub const MASTER: &str = "mymaster";

/// A master, its replicas, and three Sentinels over them.
pub struct Sentinels {
    /// The first is the master at the start.
    pub servers: Vec<RedisServer>,
    /// Those who watch.
    pub sentinels: Vec<RedisServer>,
}

impl Sentinels {
    /// A master with so many replicas.
    #[track_caller]
    pub fn start(replicas: usize) -> Sentinels {
        Sentinels::with(RedisServer::setup(), RedisServer::setup(), replicas)
    }

    /// The same, with servers and Sentinels that are told something first. Sentinels are told of passwords by
    /// `sentinel auth-pass`.
    #[track_caller]
    pub fn with(server: Setup, sentinel: Setup, replicas: usize) -> Sentinels {
        let mut servers = vec![server.clone().start()];
        for _ in 0..replicas {
            let replica = server.clone().replica_of(&servers[0]).start();
            eventually("a replica that follows", || {
                (replica.info("master_link_status") == "up").then_some(())
            });
            servers.push(replica);
        }
        let watch = watching(sentinel, &servers[0], 2, 500);
        let sentinels: Vec<RedisServer> = (0..3).map(|_| watch.clone().start()).collect();
        for sentinel in &sentinels {
            eventually("Sentinels that know each other and all servers", || {
                let seen = [("num-other-sentinels", 2), ("num-slaves", replicas)];
                let all = seen.iter().all(|(field, count)| {
                    self::field(sentinel, field).as_deref() == Some(&count.to_string())
                });
                all.then_some(())
            });
        }
        Sentinels { servers, sentinels }
    }

    /// `redis-sentinel://…/mymaster`.
    pub fn url(&self) -> String {
        url(&self.sentinels)
    }

    /// Who is the master, to one of the Sentinels.
    pub fn master_of(&self, sentinel: usize) -> u16 {
        let named: (String, u16) =
            self.sentinels[sentinel].ask(&["SENTINEL", "GET-MASTER-ADDR-BY-NAME", MASTER]);
        named.1
    }

    /// Waits until all Sentinels have agreed on another master than the one on this port.
    #[track_caller]
    pub fn await_failover(&self, from: u16) -> u16 {
        eventually("another master", || {
            let named: Vec<u16> = (0..3).map(|index| self.master_of(index)).collect();
            (named[0] != from && named.iter().all(|port| *port == named[0])).then_some(named[0])
        })
    }

    /// The first replica follows nobody from now on: whatever happens next, it does not know of it.
    pub fn stop_following(&self) {
        // Nobody is there.
        self.servers[1].ask::<String>(&["REPLICAOF", "127.0.0.1", "1"]);
    }

    /// The master is killed, and the replica takes over with what it has.
    #[track_caller]
    pub fn lose_the_master(&mut self) -> u16 {
        let from = self.master_of(0);
        self.servers[0].kill();
        self.await_failover(from)
    }

    /// Makes a replica the master while the old one lives.
    #[track_caller]
    pub fn fail_over(&self) -> u16 {
        let from = self.master_of(0);
        // It refuses while it still looks at what a failover before this one did.
        eventually("a failover that begins", || {
            self.sentinels[0].try_ask::<String>(&["SENTINEL", "FAILOVER", MASTER]).ok()
        });
        self.await_failover(from)
    }
}

/// `redis-sentinel://…/mymaster`, by these.
pub fn url<'a>(sentinels: impl IntoIterator<Item = &'a RedisServer>) -> String {
    let each = sentinels.into_iter().map(|one| format!("127.0.0.1:{}", one.port()));
    format!("redis-sentinel://{}/{MASTER}", each.collect::<Vec<_>>().join(","))
}

/// One Sentinel alone, which never notices anything: whatever becomes of the server, it names that one.
#[track_caller]
pub fn stubborn(server: &RedisServer) -> RedisServer {
    stubborn_since(server, 0)
}

/// The same, which knows of so many failovers: the last of them made that server the master.
#[track_caller]
pub fn stubborn_since(server: &RedisServer, failovers: u64) -> RedisServer {
    const NEVER_MS: u64 = 600_000;
    let setup = watching(RedisServer::setup(), server, 1, NEVER_MS);
    setup.line(&format!("sentinel config-epoch {MASTER} {failovers}")).start()
}

/// A server and one Sentinel over it that speak TLS to each other and to everybody, with the same certificate.
#[track_caller]
pub fn secure() -> (RedisServer, RedisServer) {
    let setup = RedisServer::setup().tls().line("tls-replication yes");
    let server = setup.clone().start();
    let sentinel = watching_at(setup, server.tls_port(), 1, 500).start();
    (server, sentinel)
}

fn watching(setup: Setup, master: &RedisServer, quorum: usize, down_after_ms: u64) -> Setup {
    watching_at(setup, master.port(), quorum, down_after_ms)
}

fn watching_at(setup: Setup, port: u16, quorum: usize, down_after_ms: u64) -> Setup {
    setup
        .sentinel()
        .line(&format!("sentinel monitor {MASTER} 127.0.0.1 {port} {quorum}"))
        .line(&format!("sentinel auth-user {MASTER} control"))
        .line(&format!("sentinel auth-pass {MASTER} control"))
        .line(&format!("sentinel down-after-milliseconds {MASTER} {down_after_ms}"))
        .line(&format!("sentinel failover-timeout {MASTER} 3000"))
}

fn field(sentinel: &RedisServer, name: &str) -> Option<String> {
    let all: Vec<String> = sentinel.ask(&["SENTINEL", "MASTER", MASTER]);
    all.chunks(2).find(|pair| pair[0] == name).map(|pair| pair[1].clone())
}
