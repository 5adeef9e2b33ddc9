//! The same line once more, in a real Redis: every batch is applied to both, and what comes of it and what is
//! left must be equal, to the last bit.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use anteroom::line::{BadBatch, Batch, Line, Moment, Reply};
use anteroom::store::redis::{script, wire};
use redis::{Cmd, Connection, FromRedisValue, RedisResult, Value, cmd};

use super::keys;
use crate::support::redis::RedisServer;

/// A server, with the script in it.
pub(super) struct Redis {
    _server: RedisServer,
    connection: RefCell<Connection>,
    sha1: String,
    rooms: Cell<u64>,
}

impl Redis {
    pub(super) fn start() -> Rc<Redis> {
        let server = RedisServer::start();
        let url = format!("unix:{}", server.socket().display());
        let mut connection = redis::Client::open(url).unwrap().get_connection().unwrap();
        let sha1 = cmd("SCRIPT").arg("LOAD").arg(script::TEXT).query(&mut connection).unwrap();
        let (connection, rooms) = (RefCell::new(connection), Cell::new(0));
        Rc::new(Redis { _server: server, connection, sha1, rooms })
    }

    pub(super) fn ask<T: FromRedisValue>(&self, cmd: &Cmd) -> T {
        self.try_ask(cmd).unwrap_or_else(|error| panic!("Redis says: {error}"))
    }

    /// Something that it may refuse.
    pub(super) fn try_ask<T: FromRedisValue>(&self, cmd: &Cmd) -> RedisResult<T> {
        cmd.query(&mut *self.connection.borrow_mut())
    }

    /// Several questions, answered together.
    pub(super) fn ask_all(&self, questions: &redis::Pipeline) -> Vec<Value> {
        questions.query(&mut *self.connection.borrow_mut()).unwrap()
    }
}

/// A room in Redis. A copy is a copy of its keys.
pub(super) struct Mirror {
    redis: Rc<Redis>,
    room: String,
}

impl Mirror {
    /// A room that nobody has heard of.
    pub(super) fn new(redis: &Rc<Redis>) -> Mirror {
        redis.rooms.set(redis.rooms.get() + 1);
        Mirror { redis: redis.clone(), room: format!("room-{}", redis.rooms.get()) }
    }

    /// A room known to be new, as a store that knows so would write it.
    pub(super) fn founded(&self, now: Moment) -> Mirror {
        let mirror = Mirror::new(&self.redis);
        let Moment { wall_ms, run } = now;
        let mut founding = cmd("HSET");
        founding.arg(&mirror.keys()[0]);
        founding.arg("layout").arg(script::LAYOUT).arg("run").arg(run);
        founding.arg("epoch").arg(wall_ms / 1_000);
        for field in ["opened_ms", "clock_ms", "wall_ms", "period_began_ms"] {
            founding.arg(field).arg(wall_ms);
        }
        founding.arg("bits_version").arg(1).arg("head_version").arg(1);
        mirror.redis.ask::<u64>(&founding);
        mirror
    }

    pub(super) fn empty(&self) -> Mirror {
        Mirror::new(&self.redis)
    }

    /// The room's keys.
    pub(super) fn keys(&self) -> Vec<String> {
        script::keys(&self.room)
    }

    /// The full name of one of them.
    pub(super) fn key(&self, name: &str) -> String {
        format!("anteroom:{{{}}}:{name}", self.room)
    }

    /// The question that an exchange is; without a moment, the server's own counts.
    pub(super) fn question(&self, batch: &Batch, now: Option<Moment>) -> Result<Cmd, BadBatch> {
        let call = wire::encode(&self.room, batch, now)?;
        let mut evaluate = cmd("EVALSHA");
        evaluate.arg(&self.redis.sha1).arg(call.keys.len()).arg(call.keys).arg(call.args);
        Ok(evaluate)
    }

    /// What the script says.
    pub(super) fn exchange(&self, batch: &Batch, now: Moment) -> Result<Reply, BadBatch> {
        let value = self.redis.ask(&self.question(batch, Some(now))?);
        Ok(wire::decode(value).unwrap_or_else(|error| panic!("{error}")))
    }

    /// The line that the keys hold.
    pub(super) fn line(&self) -> Line {
        keys::read(&self.redis, &self.keys())
    }

    /// Applies a batch to the room in Redis, and panics unless it did what the line has done.
    pub(super) fn follow(
        &self,
        batch: &Batch,
        now: Moment,
        reply: &Result<Reply, BadBatch>,
        line: &Line,
    ) {
        same("the reply", reply, &self.exchange(batch, now));
        same("the line", line, &self.line());
    }
}

/// Equal, or the first lines in which the two differ.
fn same<T: PartialEq + std::fmt::Debug>(what: &str, expected: &T, got: &T) {
    if expected == got {
        return;
    }
    let (expected, got) = (format!("{expected:#?}"), format!("{got:#?}"));
    let mut text = String::new();
    let (mut expected, mut got) = (expected.lines(), got.lines());
    let mut heading = "";
    while let (Some(expected), Some(got)) = (expected.next(), got.next()) {
        if expected != got {
            text += &format!("\n  {heading}\n  line  {}\n  Redis {}", expected.trim(), got.trim());
            if text.len() > 2_000 {
                break;
            }
        }
        if expected.starts_with("    ") && !expected.starts_with("     ") {
            heading = expected.trim();
        }
    }
    panic!("{what} in Redis is another one:{text}");
}

impl Clone for Mirror {
    fn clone(&self) -> Self {
        let copy = self.empty();
        let mut copying = redis::pipe();
        for (from, to) in self.keys().iter().zip(copy.keys()) {
            copying.cmd("COPY").arg(from).arg(to);
        }
        self.redis.ask_all(&copying);
        copy
    }
}

impl Drop for Mirror {
    fn drop(&mut self) {
        let _: Result<u64, _> =
            cmd("UNLINK").arg(self.keys()).query(&mut *self.redis.connection.borrow_mut());
    }
}

impl std::fmt::Debug for Mirror {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "{} in Redis", self.room)
    }
}
