//! Seeded visitors who do a bit of everything, and a bare line beside the store to compare with.

use anteroom::line::*;
use anteroom::store::Store;

use super::{Node, exchange};

/// Small, seeded, good enough.
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }
}

/// One room in a store, and the same room as a bare line.
#[derive(Clone)]
pub(crate) struct Twin {
    pub(crate) room: String,
    pub(crate) line: Option<Line>,
    pub(crate) node: Node,
    view: View,
}

impl Twin {
    pub(crate) fn new(room: &str) -> Self {
        Twin {
            room: room.to_owned(),
            line: None,
            node: Node::new(u128::from(room.len() as u64) << 64 | 1),
            view: View::default(),
        }
    }

    /// The same batch to both at the same moment must give the same reply.
    pub(crate) fn step(&mut self, store: &dyn Store, batch: Batch) -> Reply {
        let reply = exchange(store, &self.room, batch.clone()).unwrap();
        let now = Moment { wall_ms: reply.wall_ms, run: reply.run };
        let line = self.line.get_or_insert_with(|| Line::founded(now));
        assert_eq!(line.apply(&batch, now).unwrap(), reply);
        self.view.absorb(&reply);
        self.node.epoch = reply.counts.epoch;
        reply
    }

    /// Some visitors do something.
    pub(crate) fn stir(&mut self, store: &dyn Store, rng: &mut Rng) -> Reply {
        let issued = self.view.counts().issued;
        let mut batch =
            Batch { have: self.view.have(), known: self.view.known(), ..self.node.batch() };
        if self.view.settings().is_none() || rng.below(50) == 0 {
            let pace = match rng.below(3) {
                0 => None,
                _ => Some(Pace::Rate {
                    rate: Rate { count: 1 + rng.below(50), per_ms: 1_000 },
                    burst: 10,
                }),
            };
            let settings = Settings {
                pace,
                max_active: Some(5 + rng.below(40)),
                heartbeat_timeout_ms: 5_000 + rng.below(10_000),
                claim_window_ms: 1_000 + rng.below(10_000),
                session_idle_ms: Some(1_000 + rng.below(20_000)),
                ..Settings::default()
            };
            let version = 1;
            batch.offer = Some(Offer { version, settings });
        }
        let mut some = |most: u64| -> Vec<Number> {
            let count = rng.below(most + 1);
            (0..count).map(|_| 1 + rng.below(issued + 2)).collect()
        };
        batch.marks = some(40);
        batch.present = some(4);
        batch.leaves = some(1);
        batch.returns = some(2);
        batch.claims = some(8);
        let why = Ending::Completed;
        batch.ends = some(2).into_iter().map(|number| End { number, why }).collect();
        let admitted_ms = self.view.counts().clock_ms;
        let renewal = |number| Renewal { number, admitted_ms, ..Renewal::default() };
        batch.renewals = some(2).into_iter().map(renewal).collect();
        for _ in 0..rng.below(4) {
            batch.joins.push(match rng.below(3) {
                0 => Join::Keyed(Keyed {
                    once: Some([rng.below(200) as u8; 16]),
                    ..Keyed::default()
                }),
                _ => Join::Plain(rng.below(6) as u32),
            });
        }
        if rng.below(30) == 0 {
            let commands = [Command::Pause, Command::Resume, Command::Release(3), Command::Reset];
            batch.commands = vec![commands[rng.below(4) as usize].clone().into()];
        }
        self.step(store, batch)
    }

    /// Whether the store's line is this one, by all that a line tells: a node with an empty view asks,
    /// and once more a while later, when duties have been done.
    pub(crate) fn check(&mut self, store: &dyn Store) {
        for _ in 0..2 {
            let batch =
                Batch { have: Have::default(), joins: vec![Join::Plain(1)], ..self.node.batch() };
            self.step(store, batch);
        }
    }
}
