//! The usual structure for a line in Redis: a list for the order, a sorted set for positions, a hash for each visitor,
//! and a script call for every join and every poll.

use redis::{Cmd, Connection, cmd};

use super::server::Redis;

const JOIN: &str = "
redis.call('RPUSH', KEYS[1], ARGV[1])
redis.call('ZADD', KEYS[2], ARGV[2], ARGV[1])
redis.call('HSET', KEYS[3], 'queue_id', ARGV[3], 'session_id', ARGV[4], 'status', 'waiting', 'priority', '0',
  'enqueued_at', ARGV[2], 'last_heartbeat', ARGV[2], 'ip_address', ARGV[5], 'user_agent', ARGV[7],
  'metadata', ARGV[6])
redis.call('EXPIRE', KEYS[3], 1800)
return redis.call('LLEN', KEYS[1])";

const POLL: &str = "
redis.call('HSET', KEYS[2], 'last_heartbeat', ARGV[2])
redis.call('EXPIRE', KEYS[2], 1800)
return { redis.call('ZRANK', KEYS[1], ARGV[1]), redis.call('HGET', KEYS[2], 'status') }";

/// Joins that are sent in one go where nothing is measured.
const AT_ONCE: u64 = 1_000;

/// It, on a server of its own.
pub struct Usual {
    connection: Connection,
    join: String,
    poll: String,
    /// How many have joined.
    pub waiting: u64,
}

impl Usual {
    /// Nobody yet.
    pub fn new(redis: &Redis) -> Usual {
        let mut connection = redis.connect();
        let mut load = |script: &str| {
            let load: &mut Cmd = &mut cmd("SCRIPT");
            load.arg("LOAD").arg(script).query(&mut connection).expect("a hash")
        };
        let (join, poll) = (load(JOIN), load(POLL));
        Usual { connection, join, poll, waiting: 0 }
    }

    /// Somebody joins.
    pub fn join(&mut self) {
        let call = self.joining(self.waiting);
        call.query::<u64>(&mut self.connection).expect("a length");
        self.waiting += 1;
    }

    /// So many wait then.
    pub fn fill(&mut self, upto: u64) {
        while self.waiting < upto {
            let next = upto.min(self.waiting + AT_ONCE);
            let mut calls = redis::pipe();
            for visitor in self.waiting..next {
                calls.add_command(self.joining(visitor)).ignore();
            }
            calls.query::<()>(&mut self.connection).expect("lengths");
            self.waiting = next;
        }
    }

    /// Somebody asks where they stand.
    pub fn poll(&mut self, visitor: u64) {
        let id = id(visitor);
        let mut call = cmd("EVALSHA");
        call.arg(&self.poll).arg(2).arg("queue:sale:positions").arg(format!("position:{id}"));
        call.arg(&id).arg(1_900_000_000_000_000 + visitor);
        call.query::<(u64, String)>(&mut self.connection).expect("a position");
    }

    fn joining(&self, visitor: u64) -> Cmd {
        let id = id(visitor);
        let mut call = cmd("EVALSHA");
        call.arg(&self.join).arg(3);
        call.arg("queue:sale:waiting").arg("queue:sale:positions").arg(format!("position:{id}"));
        call.arg(&id).arg(1_800_000_000_000_000 + visitor).arg("sale");
        let [_, a, b, c] = u32::try_from(visitor).unwrap_or_default().to_be_bytes();
        call.arg(format!("session-{visitor:012}")).arg(format!("10.{a}.{b}.{c}")).arg("{}");
        call.arg("Mozilla/5.0 (X11; Linux x86_64)");
        call
    }
}

/// 36 characters, as of a UUID.
fn id(visitor: u64) -> String {
    format!("6f1c0b4e-7d32-4a58-9c1f-{visitor:012x}")
}
