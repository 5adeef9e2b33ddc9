//! The naive model of a line: a plain list of visitors, and the rules read aloud.
//!
//! It judges `anteroom::line`. Every visitor is a record with fields, every question is a loop over
//! all of them, nothing is remembered that could be counted. It shares the shapes of an exchange
//! with the line, and the ranges of the settings; not one rule.
//!
//! [`Model::apply`] follows "The exchange, in order" of `anteroom::line` step by step; the files
//! beside this one hold the steps: [`loss`] 2 and 4, [`offer`] 6, [`orders`] 11, [`items`] 8 and 9, [`duties`] 7 and
//! 10, [`adaptive`] 10 where a rate follows the origin, [`schedule`] and [`joins`] 11, [`turns`] 12 and 13.

mod adaptive;
mod classes;
mod duties;
mod items;
mod joins;
mod loss;
mod offer;
mod orders;
mod schedule;
mod shadow;
mod slots;
mod turns;
mod visitor;

use std::collections::BTreeMap;

use anteroom::line::{
    BadBatch, Batch, Claimed, Counts, Draws, Key, Mode, Moment, Number, Pace, Reply, Settings,
    Standing, Taken,
};

pub use classes::{Kind, Waiter};
use joins::{Attempt, FirstJoin};
use loss::Settling;
use orders::Orders;
pub use visitor::{Seat, Visitor, Where};

/// Outside settling a number may be at most this much above `issued` to heal the line.
const MAX_HEAL: u64 = 10_000_000;
/// Numbers left out after a loss.
pub const GAP: u64 = 100_000;
/// How long a line without memory listens, and the most the room's clock moves in an exchange.
const SETTLING_MS: u64 = 2_000;
const MAX_TICK_MS: u64 = 2_000;
/// Steps that all duties of an exchange share, how many duties there are, and what each leaves to every later one.
const STEPS: usize = 250;
const DUTIES: usize = 7;
const LEAVES: usize = 30;
/// A node is remembered this long.
const NODE_MS: u64 = 3_600_000;
/// And counted if it was heard so long before the last sweep.
const HEARD_MS: u64 = 60_000;
/// The head of the line holds no more than this.
const MAX_HEAD: usize = 10_000;
/// And before a draw no more than this.
const MAX_DRAWN: usize = 2_500;
/// A line reaches no further back from `issued` than this.
const MAX_PLACES: u64 = 67_108_864;

/// A room, as a list of visitors.
#[derive(Clone, Default)]
pub struct Model {
    run: u64,
    last_wall: u64,
    settling: Option<Settling>,
    missing_until: u64,
    nodes: BTreeMap<u128, Node>,
    /// Who swept last, and when.
    swept: (u128, u64),
    /// Steps left in this exchange, and duties to come in it.
    steps: usize,
    duties_to_come: usize,
    backlog: bool,

    pub counts: Counts,
    pub base: Number,
    /// By number. A number without a record is given to nobody, or nothing is known about it: away.
    pub visitors: Vec<Visitor>,
    releases: Vec<(u64, Number)>,
    /// Sessions ended so far.
    endings: u64,
    /// Whose pass was spent, and until when that is remembered.
    pub spent: BTreeMap<Number, u64>,

    pub settings: Option<Settings>,
    orders: Orders,
    version: u64,
    credit: u64,
    owed: u64,
    ahead: u64,
    next_batch_at: u64,
    /// Thousandths of a turn that classes have saved.
    saved: u64,
    invites: BTreeMap<Key, classes::Invited>,
    steering: adaptive::Steering,

    /// Heartbeat periods so far, and when this one began.
    turn: u32,
    period_began: u64,

    /// The line that would be, in mode shadow.
    shadow: Option<shadow::Shadow>,

    devices: BTreeMap<Key, FirstJoin>,
    /// Numbers of those who were sent to the end of the line, and when.
    requeued: BTreeMap<Key, (Number, u64)>,
    draws: Draws,
    attempts: Vec<Attempt>,

    /// How often each rule was reached: a rule that no run reaches is judged by nobody.
    pub reached: BTreeMap<&'static str, u64>,
}

/// What is remembered about a node.
#[derive(Clone)]
struct Node {
    sequence: u64,
    heard: u64,
    answers: Reply,
}

impl Model {
    /// A room known to be new.
    pub fn founded(moment: Moment) -> Model {
        let mut model = Model { run: moment.run, last_wall: moment.wall_ms, ..Model::default() };
        (model.counts.clock_ms, model.period_began) = (moment.wall_ms, moment.wall_ms);
        model.counts.epoch = moment.wall_ms / 1_000;
        model
    }

    /// One exchange. `reply.update` stays empty: what a view holds is checked elsewhere.
    pub fn apply(&mut self, batch: &Batch, moment: Moment) -> Result<Reply, BadBatch> {
        batch.check()?;
        if moment.run == 0 {
            return Err(BadBatch::NoRun);
        }
        let advance = self.tick(moment);
        (self.steps, self.duties_to_come, self.backlog) = (STEPS, DUTIES, false);
        let wall = moment.wall_ms;
        let mut reply = Reply { wall_ms: wall, run: moment.run, ..Reply::default() };

        self.learn(&batch.known);
        if self.settling.is_some() {
            reply.offered = batch.offer.as_ref().map(|offer| self.consider(offer));
            self.hear(&batch.known);
            if let Some(left_ms) = self.still_settling() {
                reply.taken = Taken::Settling { left_ms };
                return Ok(self.finish(reply));
            }
            self.settle(wall);
        }

        let last = self.nodes.get(&batch.node).map_or(0, |node| node.sequence);
        if batch.sequence <= last {
            return Ok(self.again(batch, reply, last, advance));
        }

        reply.offered = batch.offer.as_ref().map(|offer| self.consider(offer));
        if self.settings.is_none() {
            reply.taken = Taken::Unconfigured;
            return Ok(self.finish(reply));
        }
        self.end_what_was_set();
        let turned = self.turn_ring();
        self.weigh(&batch.figures);
        self.items(batch, wall, &mut reply);
        self.duties(batch.node, turned, advance, wall);
        let (epoch, drawn) = (self.counts.epoch, self.counts.draw);
        let mut turns = self.may_take();
        let most = turns;
        let orders = batch.commands.iter();
        reply.commands = orders.map(|order| self.order(order, batch, wall, &mut turns)).collect();
        self.follow_schedule(batch.lot.as_ref());
        self.joins(batch, wall, &mut reply);
        self.release_by_pace(&mut turns, &reply.joins);
        self.steps -= most - turns;
        if self.counts.draw == drawn {
            self.enter_waiting_claims(batch, epoch, wall, &mut reply);
        }
        self.enter_joins(batch, wall, &mut reply);

        let node =
            Node { sequence: batch.sequence, heard: self.counts.clock_ms, answers: reply.clone() };
        self.nodes.insert(batch.node, node);
        Ok(self.finish(reply))
    }

    /// A batch that was sent before: nothing in it is done again, everything else is.
    fn again(&mut self, batch: &Batch, mut reply: Reply, last: u64, advance: u64) -> Reply {
        let node = self.nodes.get(&batch.node).expect("a node with a sequence is remembered");
        reply.taken = Taken::Superseded;
        if batch.sequence == last {
            reply = Reply { wall_ms: reply.wall_ms, run: reply.run, ..node.answers.clone() };
            reply.taken = Taken::Repeated;
        }
        if self.settings.is_some() {
            self.end_what_was_set();
            let turned = self.turn_ring();
            self.duties(batch.node, turned, advance, reply.wall_ms);
            let mut turns = self.may_take();
            self.follow_schedule(batch.lot.as_ref());
            self.release_by_pace(&mut turns, &[]);
        }
        self.finish(reply)
    }

    fn note(&mut self, rule: &'static str, times: u64) {
        if times > 0 {
            *self.reached.entry(rule).or_default() += times;
        }
    }

    fn finish(&self, mut reply: Reply) -> Reply {
        reply.counts = self.counts();
        reply
    }

    /// The counters, counted.
    pub fn counts(&self) -> Counts {
        let (waiting, admitted, inside) = self.tally();
        let (swept_by, swept_ms) = self.swept;
        let heard = self.nodes.values().filter(|node| node.heard + HEARD_MS > swept_ms);
        let (nodes, backlog) = (heard.count() as u64, self.backlog);
        let shadow_waiting = self.shadow.as_ref().map_or(0, |shadow| shadow.waiting.len() as u64);
        let classed = |visitor: &&Visitor| matches!(visitor.found, Where::Classed { .. });
        let classed = self.visitors.iter().filter(classed).count() as u64;
        let adapted = self.adapted();
        let counts = Counts { waiting, admitted, inside, shadow_waiting, adapted, ..self.counts };
        let counts = Counts { classed, class_balance: self.saved, ..counts };
        Counts { nodes, swept_by, swept_ms, backlog, ..counts }
    }

    /// How many wait, are admitted, are inside.
    pub fn tally(&self) -> (u64, u64, u64) {
        let (mut waiting, mut admitted, mut inside) = (0, 0, 0);
        for visitor in &self.visitors {
            match self.standing_of(visitor) {
                Standing::Waiting => waiting += 1,
                Standing::Admitted => admitted += 1,
                Standing::Active => inside += 1,
                _ => {}
            }
        }
        (waiting, admitted, inside)
    }

    /// Where a number stands.
    pub fn standing(&self, number: Number) -> Standing {
        if number == 0 || number > self.counts.issued {
            return Standing::Unknown;
        }
        match self.find(number) {
            Some(visitor) => self.standing_of(visitor),
            None => self.standing_of(&self.nobody(number)),
        }
    }

    /// The record of a number, if there is one.
    pub fn find(&self, number: Number) -> Option<&Visitor> {
        let index = self.visitors.binary_search_by_key(&number, |visitor| visitor.number).ok()?;
        Some(&self.visitors[index])
    }

    /// The record of a number, made if there is none.
    fn visitor(&mut self, number: Number) -> &mut Visitor {
        let index = match self.visitors.binary_search_by_key(&number, |visitor| visitor.number) {
            Ok(index) => index,
            Err(index) => {
                let nobody = self.nobody(number);
                self.visitors.insert(index, nobody);
                index
            }
        };
        &mut self.visitors[index]
    }

    /// A number about which nothing is known but whether it was drawn.
    fn nobody(&self, number: Number) -> Visitor {
        Visitor { used: self.is_no_place(number), ..Visitor::nobody(number) }
    }

    /// Newcomers at the end: live and seen.
    fn append(&mut self, first: Number, last: Number) {
        for number in first..=last {
            let mut visitor = Visitor::nobody(number);
            (visitor.live, visitor.seen) = (true, self.turn);
            self.visitors.push(visitor);
        }
    }

    fn settings(&self) -> &Settings {
        self.settings.as_ref().expect("only an exchange with settings comes here")
    }

    /// Seats that are not taken.
    fn seats_free(&self) -> u64 {
        let settings = self.settings();
        if matches!(settings.mode, Mode::Bypass | Mode::Shadow) {
            return u64::MAX;
        }
        let slots = settings.slots.len() as u64;
        if slots > 0 && self.counts.missing > 0 {
            return 0;
        }
        let limits = [settings.max_active, Some(slots).filter(|slots| *slots > 0)];
        let Some(seats) = limits.into_iter().flatten().min() else {
            return u64::MAX;
        };
        let (_, admitted, inside) = self.tally();
        seats.saturating_sub(inside + admitted + self.counts.missing)
    }

    /// What one turn costs in credits, and how many turns the bucket holds.
    fn cost_and_depth(pace: Option<Pace>) -> Option<(u64, u64)> {
        match pace {
            Some(Pace::Rate { rate, burst }) => Some((rate.per_ms, burst)),
            Some(Pace::Batch { batch, .. }) => Some((1, batch)),
            None => None,
        }
    }

    /// Credits of a bucket that is full: a slowed one holds a second of turns, and one at least.
    fn full(&self, cost: u64, burst: u64) -> u64 {
        let second = self.slowed().map(|slowed| slowed.div_ceil(1_000).max(1));
        cost * second.map_or(burst, |second| second.min(burst))
    }

    /// Turns that were given and not taken come back.
    fn owe(&mut self, turns: u64) {
        if let Some((cost, _)) = Self::cost_and_depth(self.settings().pace) {
            self.owed += turns * cost;
        }
    }

    /// How many turns the pace allows now.
    fn pace_allows(&self) -> u64 {
        let settings = self.settings();
        if matches!(settings.mode, Mode::Bypass | Mode::Shadow) {
            return u64::MAX;
        }
        let open = self.now() == schedule::Now::Open;
        if self.counts.paused || !open || matches!(settings.mode, Mode::Hold | Mode::Closed) {
            return 0;
        }
        self.bucket_allows()
    }

    /// How many turns the bucket holds.
    fn bucket_allows(&self) -> u64 {
        match self.settings().pace {
            None => u64::MAX,
            Some(Pace::Rate { rate, .. }) if rate.count == 0 => 0,
            Some(Pace::Rate { .. }) if self.slowed() == Some(0) => 0,
            Some(Pace::Rate { rate, .. }) => self.credit / rate.per_ms,
            Some(Pace::Batch { .. }) => self.credit,
        }
    }

    /// What is said of a number that can do nothing any more.
    fn over(&self, number: Number) -> Claimed {
        match self.standing(number) {
            Standing::Expired(reason) => Claimed::Over(reason),
            Standing::Completed => {
                Claimed::Over(anteroom::line::Reason::Ended(anteroom::line::Ending::Completed))
            }
            other => unreachable!("{number} is {other:?}, not over"),
        }
    }
}
