//! Runs a plan: nodes with real views, a store that may lose things, the line and its model.

use anteroom::line::{BadBatch, Batch, Command, Join, Moment, Reply, Settings, Taken, View};

use super::compare;
use super::node::{Node, Ticket};
use super::promises::Promises;
use super::steps::{Bad, Fate, Plan, Room, Step};
use super::subject::Subject;
use super::tally::Tally;
use crate::model::Model;

/// Who judges.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Judges {
    All,
    /// What was promised to visitors, seen from outside, without the model.
    PromisesOnly,
}

/// A line written down.
#[derive(Clone)]
struct Saved {
    line: Subject,
    model: Model,
    settings: Option<Settings>,
}

pub(super) struct World {
    pub(super) room: Room,
    judges: Judges,
    pub(super) now: Moment,
    line: Subject,
    model: Model,
    pub(super) nodes: Vec<Node>,
    started: u128,
    /// The latest tickets of everybody.
    pub(super) tickets: Vec<Ticket>,
    /// The settings that nodes offer, and their version.
    pub(super) file: Settings,
    pub(super) version: u64,
    saved: Vec<Saved>,
    pub(super) promises: Promises,
    tally: Tally,
}

impl World {
    pub(super) fn new(plan: &Plan, subject: &Subject, judges: Judges) -> World {
        let room = plan.room.clone();
        let now = Moment { wall_ms: room.wall_ms, run: 1 };
        let (line, model) = match room.founded {
            true => (subject.founded(now), Model::founded(now)),
            false => (subject.empty(), Model::default()),
        };
        let mut world = World {
            judges,
            now,
            line,
            model,
            nodes: Vec::new(),
            started: 0,
            tickets: Vec::new(),
            file: room.settings.clone(),
            version: 1,
            saved: Vec::new(),
            promises: Promises::new(&room),
            tally: Tally::default(),
            room,
        };
        world.started = world.room.nodes as u128;
        world.nodes = (1..=world.started).map(Node::new).collect();
        world
    }

    /// What the run did.
    pub(super) fn into_tally(mut self) -> Tally {
        for (rule, times) in &self.model.reached {
            self.tally.add(*rule, *times);
        }
        self.tally
    }

    /// One step, or what is wrong after it.
    pub(super) fn step(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::Exchange { node, after_ms, items, fate } => {
                self.pass(*after_ms);
                let batch = self.batch(*node, items);
                if *fate != Fate::NeverSent {
                    self.send(*node, batch, *fate == Fate::Answered)?;
                }
            }
            Step::Again { node, after_ms, back, heard } => {
                self.pass(*after_ms);
                let sent = &self.nodes[*node].sent;
                if let Some(batch) =
                    sent.len().checked_sub(1 + back).map(|index| sent[index].clone())
                {
                    self.send(*node, batch, *heard)?;
                }
            }
            Step::Idle { node, after_ms, times } => {
                for _ in 0..*times {
                    self.pass(*after_ms);
                    let batch = self.batch(*node, &[]);
                    self.send(*node, batch, true)?;
                }
            }
            Step::Restart { node } => {
                self.started += 1;
                self.nodes[*node].restarted(self.started);
                self.promises.node_lost();
            }
            Step::Save => {
                let settings = self.promises.settings.clone();
                self.saved.insert(
                    0,
                    Saved { line: self.line.clone(), model: self.model.clone(), settings },
                );
                self.saved.truncate(3);
            }
            Step::Lose { back, all } => self.lose(*back, *all)?,
            Step::Look { node, after_ms } => self.look(*node, *after_ms)?,
            Step::Bad { node, how } => self.refuse(*node, *how)?,
        }
        Ok(())
    }

    fn pass(&mut self, ms: i64) {
        self.now.wall_ms = self.now.wall_ms.saturating_add_signed(ms).max(1_000);
    }

    /// Delivers a batch. Whoever polls does not wait for a node that repeats itself or is behind.
    fn send(&mut self, node: usize, batch: Batch, heard: bool) -> Result<Reply, String> {
        let said = (batch.epoch, batch.draw);
        let reply = self.deliver(node, batch, heard)?;
        let now = (reply.counts.epoch, reply.counts.draw);
        let behind = reply.taken == Taken::Applied && said != now;
        let again = matches!(reply.taken, Taken::Repeated | Taken::Superseded);
        if (again || behind) && self.promises.anybody_polls() {
            let mut batch = self.batch(node, &[]);
            (batch.epoch, batch.draw) = now;
            self.deliver(node, batch, true)?;
        }
        Ok(reply)
    }

    /// Delivers a batch, and judges what comes of it.
    fn deliver(&mut self, node: usize, batch: Batch, heard: bool) -> Result<Reply, String> {
        let reply = self.exchange(&batch, heard)?;
        if self.nodes[node].sent.last().is_none_or(|last| last.sequence < batch.sequence) {
            self.nodes[node].sent.push(batch.clone());
        }
        if heard {
            self.nodes[node].absorb(&batch, &reply, &mut self.tickets)?;
            if reply.taken == Taken::Applied && self.judges == Judges::All {
                compare::kept_up(&self.model, &self.nodes[node].view, &reply)?;
            }
        }
        Ok(reply)
    }

    fn exchange(&mut self, batch: &Batch, heard: bool) -> Result<Reply, String> {
        let Moment { wall_ms, run } = self.now;
        let reply = self
            .line
            .apply(batch, self.now)
            .map_err(|bad| format!("refused a good batch: {bad}"))?;
        if std::env::var_os("ANTEROOM_MODEL_TRACE").is_some() {
            println!("{wall_ms} {batch:?}\n  {reply:?}");
        }
        self.line
            .check_invariants()
            .map_err(|broken| format!("an invariant is broken: {broken}"))?;
        if (reply.wall_ms, reply.run) != (wall_ms, run) {
            return Err("the reply is of another moment".to_owned());
        }
        let has_bits = batch.have.run == run && batch.have.bits > 0;
        if reply.taken == Taken::Applied && reply.update.bits.is_none() && !has_bits {
            return Err("a node that has nothing is told of no bits".to_owned());
        }
        if self.judges == Judges::All {
            let expected = self
                .model
                .apply(batch, self.now)
                .map_err(|bad| format!("the model refused: {bad}"))?;
            compare::replies(&expected, &reply)?;
            compare::standings(&self.model, &self.line)?;
        }
        self.promises.check(batch, &reply, &self.line, heard)?;
        self.tally.count(batch, &reply);
        Ok(reply)
    }

    /// The store comes back with less than it had.
    fn lose(&mut self, back: Option<usize>, all: bool) -> Result<(), String> {
        let saved = back.and_then(|back| self.saved.get(back)).cloned();
        let saved = saved.unwrap_or_else(|| Saved {
            line: self.line.empty(),
            model: Model::default(),
            settings: None,
        });
        let reached = std::mem::take(&mut self.model.reached);
        (self.line, self.model) = (saved.line, saved.model);
        self.model.reached = reached;
        self.now.run += 1;
        self.promises.lost(saved.settings, all);
        self.tally.add("losses", 1);
        if all {
            for index in 0..self.nodes.len() {
                self.pass(100);
                self.nodes[index].asked = true;
                let batch = self.batch(index, &[]);
                self.send(index, batch, true)?;
            }
        }
        Ok(())
    }

    /// A whole view, read.
    fn look(&mut self, node: usize, after_ms: i64) -> Result<(), String> {
        self.pass(after_ms);
        let mut batch = self.batch(node, &[]);
        batch.have = Default::default();
        let mut twin = self.line.clone();
        let reply = self.deliver(node, batch.clone(), true)?;
        if twin.apply(&batch, self.now).as_ref() != Ok(&reply) || !self.line.same_line(&twin) {
            return Err("the same line and the same batch gave something else".to_owned());
        }
        if self.judges == Judges::All && reply.taken == Taken::Applied {
            let mut view = View::default();
            view.absorb(&reply);
            compare::view(&self.model, &view)?;
            self.tally.add("looks", 1);
        }
        Ok(())
    }

    /// What can't be applied is refused, and touches nothing.
    fn refuse(&mut self, node: usize, how: Bad) -> Result<(), String> {
        let mut batch =
            self.nodes[node].view.greeting(self.nodes[node].id, self.nodes[node].sequence + 1);
        batch.joins.push(Join::Plain(3));
        batch.commands.push(Command::Reset.into());
        let mut now = self.now;
        now.wall_ms += 1_000;
        let expected = match how {
            Bad::NoSequence => {
                batch.sequence = 0;
                BadBatch::NoSequence
            }
            Bad::NoRun => {
                now.run = 0;
                BadBatch::NoRun
            }
            Bad::Items => {
                batch.claims = (1..=250).collect();
                BadBatch::TooManyItems(251)
            }
            Bad::Bulk => {
                batch.joins.push(Join::Plain(1_000_000));
                BadBatch::TooManyBulk(1_000_003)
            }
        };
        let before = self.line.clone();
        let refused = self.line.apply(&batch, now);
        if refused != Err(expected.clone()) {
            return Err(format!("a bad batch ({expected}) got {refused:?}"));
        }
        let untouched = self.line.same_line(&before);
        untouched
            .then_some(())
            .ok_or_else(|| format!("a refused batch ({expected}) changed the line"))
    }
}
