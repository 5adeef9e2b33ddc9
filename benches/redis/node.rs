//! What asks a Redis: a node, as far as a line knows one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anteroom::config::{self, Environment, Quick};
use anteroom::line::{
    Batch, Command, Have, Join, JoinLimit, Known, MAX_BULK, MAX_ITEMS, Mode, Moment, Number, Offer,
    Offered, Question, Reply, Settings, Taken, View,
};
use anteroom::store::Store;

use super::server::Redis;

/// As many as a batch may carry of what needs a step of its own.
pub const ITEMS: u64 = MAX_ITEMS as u64;

/// Nobody is late, nobody silent, nobody stopped; turns are given by hand.
pub fn settings() -> Settings {
    Settings {
        mode: Mode::Hold,
        max_waiting: None,
        claim_window_ms: 86_400_000,
        heartbeat_timeout_ms: 86_400_000,
        ..Settings::default()
    }
}

/// How often one may join where a configuration does not say.
pub fn default_limits() -> Vec<JoinLimit> {
    let said = |text: &str| Some(text.to_owned());
    let options = Quick {
        origin: said("http://127.0.0.1:3000"),
        rate: said("5/s"),
        max_active: None,
        listen: said("127.0.0.1:0"),
    };
    let environment: Environment = [("ANTEROOM_REDIS_ADDR", "memory:")].into_iter().collect();
    let (plan, _) = config::quick(options, &environment).expect("a plan");
    plan.gateway.rooms[0].line.join_limits.clone()
}

/// A clock and a memory in the place of Redis' own: hours pass in seconds, and a loss is a matter of saying so.
#[derive(Clone)]
pub struct Clock(Arc<Hands>);

struct Hands {
    wall_ms: AtomicU64,
    run: AtomicU64,
}

impl Clock {
    /// At some moment.
    pub fn new() -> Clock {
        let wall_ms = AtomicU64::new(1_800_000_000_000);
        Clock(Arc::new(Hands { wall_ms, run: AtomicU64::new(1) }))
    }

    /// Time passes. A room's clock moves two seconds an exchange, and no more.
    pub fn pass(&self, ms: u64) {
        self.0.wall_ms.fetch_add(ms, Ordering::Relaxed);
    }

    /// What Redis knew may be lost.
    pub fn lose(&self) {
        self.0.run.fetch_add(1, Ordering::Relaxed);
    }

    /// Now.
    pub fn moment(&self) -> Moment {
        let Hands { wall_ms, run } = &*self.0;
        Moment { wall_ms: wall_ms.load(Ordering::Relaxed), run: run.load(Ordering::Relaxed) }
    }
}

/// A node.
pub struct Node<'r> {
    /// Where its lines are.
    pub redis: &'r Redis,
    store: Arc<dyn Store>,
    id: u128,
    sequence: u64,
    /// Of its settings.
    version: u64,
    /// Whether it says each time that it has nothing, and so is told everything.
    pub is_forgetful: bool,
    /// What it knows.
    pub view: View,
    /// What it was told last.
    pub last: Reply,
}

impl<'r> Node<'r> {
    /// One that is heard for the first time by a line that is there.
    pub fn new(redis: &'r Redis, clock: Option<&Clock>, id: u128) -> Node<'r> {
        let (view, last) = (View::default(), Reply::default());
        Node {
            redis,
            store: redis.store(clock),
            id,
            sequence: 0,
            version: 0,
            is_forgetful: false,
            view,
            last,
        }
    }

    /// One that opens a new line, by Redis' clock or another.
    pub fn open(redis: &'r Redis, clock: Option<&Clock>, settings: Settings) -> Node<'r> {
        let mut node = Node::new(redis, clock, 1);
        while node.view.counts().epoch == 0 {
            node.offer(settings.clone());
            if let Taken::Settling { left_ms } = node.last.taken {
                match clock {
                    Some(clock) => clock.pass(left_ms),
                    None => std::thread::sleep(Duration::from_millis(left_ms)),
                }
            }
        }
        node
    }

    /// Other settings.
    pub fn offer(&mut self, settings: Settings) -> f64 {
        self.version += 1;
        let offer = Some(Offer { version: self.version, settings });
        let taken = self.send(Batch { offer, ..Batch::default() });
        let refused = matches!(self.last.offered, Some(Offered::Invalid(_)));
        assert!(!refused, "settings that no line has: {:?}", self.last.offered);
        taken
    }

    /// One exchange, and how long it took Redis, in microseconds.
    pub fn send(&mut self, batch: Batch) -> f64 {
        let redis = self.redis;
        redis.spent(|| self.tell(batch)).usec
    }

    /// One exchange.
    pub fn tell(&mut self, batch: Batch) {
        self.sequence += 1;
        let greeting = self.view.greeting(self.id, self.sequence);
        let known = Known { report: batch.known.report, ..greeting.known };
        let Batch { node, sequence, epoch, have, .. } = greeting;
        let have = if self.is_forgetful { Have::default() } else { have };
        let batch = Batch { node, sequence, epoch, known, have, ..batch };
        self.last = self.redis.wait(self.store.exchange("sale", batch)).expect("an answer");
        self.view.absorb(&self.last);
    }

    /// What an operator asks, and how long it took Redis, in microseconds.
    pub fn ask(&self, question: Question) -> f64 {
        let redis = self.redis;
        redis.spent(|| _ = redis.wait(self.store.find("sale", question)).expect("an answer")).usec
    }

    /// So many exchanges with nothing to say, with so much time before each.
    pub fn idle(&mut self, clock: &Clock, exchanges: u64, ms: u64) -> Vec<f64> {
        let mut idle = || {
            clock.pass(ms);
            self.send(Batch::default())
        };
        (0..exchanges).map(|_| idle()).collect()
    }

    /// So many newcomers, whom nobody remembers.
    pub fn join(&mut self, mut people: u64) {
        while people > 0 {
            let now = people.min(MAX_BULK);
            self.send(joins(now));
            people -= now;
        }
    }

    /// Everybody up to `upto` is heard of, in as few exchanges as may be, those of each all over the line.
    pub fn hear_all(&mut self, upto: Number) -> Vec<f64> {
        let parts = upto.div_ceil(MAX_BULK);
        let marks = |part: u64| (part + 1..=upto).step_by(parts as usize).collect();
        let hear = |part| self.send(Batch { marks: marks(part), ..Batch::default() });
        (0..parts).map(hear).collect()
    }

    /// So many turns, by hand.
    pub fn release(&mut self, turns: u64) -> f64 {
        self.send(Batch { commands: vec![Command::Release(turns).into()], ..Batch::default() })
    }
}

/// A batch of newcomers whom nobody remembers.
pub fn joins(people: u64) -> Batch {
    let count = u32::try_from(people).expect("as many as a batch may carry");
    Batch { joins: vec![Join::Plain(count)], ..Batch::default() }
}

/// Numbers from all over 1 to `upto`: `rounds` times `each`, none of them twice.
pub struct Spread {
    upto: Number,
    each: u64,
    rounds: u64,
    round: u64,
}

impl Spread {
    /// As many as there are room for.
    pub fn new(upto: Number, each: u64, rounds: u64) -> Spread {
        let each = each.min(upto / rounds.max(1)).max(1);
        Spread { upto, each, rounds, round: 0 }
    }
}

impl Iterator for Spread {
    type Item = Vec<Number>;

    fn next(&mut self) -> Option<Vec<Number>> {
        let Spread { upto, each, rounds, round } = *self;
        self.round += 1;
        if round >= rounds {
            return None;
        }
        let stride = (upto / (each * rounds)).max(1);
        let number = |nth: u64| 1 + (nth * rounds + round) * stride;
        Some((0..each).map(number).collect())
    }
}
