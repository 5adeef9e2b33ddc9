//! The virtual clock, and everything that happens on it.
//!
//! Owns time and the visitors' states. A moment is whatever comes next: somebody arrives, does something, a node
//! speaks, something breaks. Who enters is the line's word; what people are told is the view's.

mod breaks;
mod ending;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

use super::calendar::{Act, Calendar};
use super::crowd::{NEVER, Traits};
use super::node::{Node, Said};
use super::report::Report;
use super::tally::Tally;
use super::{Plan, paced};
use crate::line::{
    Claimed, Joined, Line, Moment, Number, Offer, Pace, Reply, Settings, Standing, Taken,
};
use crate::room;
use breaks::{Break, breaks};

/// The wall clock at the first arrival: some day.
const START_MS: u64 = 1_800_000_000_000;
/// Marks are said no more often than this.
const BEAT_MS: u64 = room::BEAT.as_millis() as u64;
/// A node that was killed is back after so long.
const RESTART_MS: u32 = 5_000;
/// A store that does not answer does so for so long.
const OUTAGE_MS: u32 = 30_000;
/// A node asks a store that does not answer so often.
const RETRY_MS: u32 = 1_000;
/// Who is to wait a little more asks again after so long, and so does whoever a node has left without an answer.
const ASK_AGAIN_MS: u32 = 2_000;
/// The first page of somebody who got in at once loads its pictures.
const PICTURES_MS: u32 = 2_000;
/// No run lasts longer: 45 days.
const END_MS: u32 = 3_900_000_000;
/// Numbers that are looked at together.
const RUN: u64 = 64;
/// Nobody has this number.
const NOBODY: u32 = u32::MAX;

/// What somebody is up to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Not here yet, or not answered yet.
    Coming,
    Waiting,
    /// Their turn has come, and they know.
    Called,
    /// Their turn came while they slept, or they came back late.
    Roused,
    Entered,
    GaveUp,
    NoShow,
    Passed,
    TurnedAway,
    Lost,
}

pub(super) struct World<'a> {
    plan: &'a Plan,
    traits: Traits,
    settings: Settings,
    version: u64,
    now_ms: u32,
    line: Line,
    run: u64,
    away_until_ms: u32,
    nodes: Vec<Node>,
    up: Vec<usize>,
    started: u128,
    agenda: BinaryHeap<Reverse<(u32, usize)>>,
    calendar: Calendar,
    breaks: VecDeque<(u32, Break)>,
    // By visitor.
    next_arrival: u32,
    arrived_ms: Vec<u32>,
    /// Until when they wait; once they have entered, when that was.
    until_ms: Vec<u32>,
    number: Vec<u32>,
    state: Vec<State>,
    /// Visitors by number.
    visitors: Vec<u32>,
    frontier: Number,
    /// Not yet decided.
    open: u64,
    called: Vec<u32>,
    entered: Vec<u32>,
    bots_inside: u64,
    last_entry_ms: u32,
    tally: Tally,
}

impl<'a> World<'a> {
    pub(super) fn new(plan: &'a Plan) -> World<'a> {
        let visitors = plan.crowd.visitors;
        let traits = Traits::new(plan.crowd.clone(), plan.seed, plan.settings.heartbeat_timeout_ms);
        let people = visitors as usize;
        let nodes = plan.nodes as usize;
        World {
            plan,
            traits,
            settings: plan.settings.clone(),
            version: 1,
            now_ms: 0,
            line: Line::founded(Moment { wall_ms: START_MS, run: 1 }),
            run: 1,
            away_until_ms: 0,
            nodes: (1..=plan.nodes).map(|id| Node::new(id.into(), 0)).collect(),
            up: (0..nodes).collect(),
            started: nodes as u128,
            // They were not started in the same millisecond.
            agenda: (0..nodes).map(|node| Reverse(((node * 500 / nodes) as u32, node))).collect(),
            calendar: Calendar::default(),
            breaks: breaks(plan),
            next_arrival: 0,
            arrived_ms: vec![0; people],
            until_ms: vec![NEVER; people],
            number: vec![0; people],
            state: vec![State::Coming; people],
            visitors: Vec::with_capacity(people + 1),
            frontier: 0,
            open: visitors.into(),
            called: Vec::new(),
            entered: Vec::new(),
            bots_inside: 0,
            last_entry_ms: 0,
            tally: Tally::new(visitors),
        }
    }

    pub(super) fn run(mut self, progress: &mut dyn FnMut(f64, u64)) -> Report {
        for Reverse((at_ms, node)) in &self.agenda {
            self.nodes[*node].next_ms = *at_ms;
        }
        let mut told = u64::MAX;
        while self.open > 0 && self.now_ms < END_MS {
            let times = [
                self.arrival_ms(),
                self.calendar.next_ms(),
                self.agenda.peek().map(|Reverse((ms, _))| *ms),
                self.breaks.front().map(|(ms, _)| *ms),
            ];
            let Some(next_ms) = times.into_iter().flatten().min() else { break };
            self.now_ms = next_ms.max(self.now_ms);
            while let Some((ms, what)) = self.breaks.front().copied()
                && ms <= self.now_ms
            {
                self.breaks.pop_front();
                self.happen(what);
            }
            while self.arrival_ms().is_some_and(|ms| ms <= self.now_ms) {
                self.arrive();
            }
            while let Some((act, visitor)) = self.calendar.due(self.now_ms) {
                self.act(act, visitor);
            }
            while let Some(Reverse((ms, node))) = self.agenda.peek().copied()
                && ms <= self.now_ms
            {
                self.agenda.pop();
                if self.nodes[node].next_ms == ms && self.nodes[node].up {
                    self.speak(node);
                }
            }
            let share = 1.0 - self.open as f64 / f64::from(self.plan.crowd.visitors);
            let permille = (share * 1_000.0) as u64;
            if permille != told {
                told = permille;
                progress(share, self.now_ms.into());
            }
        }
        self.report()
    }

    fn arrival_ms(&self) -> Option<u32> {
        let visitor = self.next_arrival;
        (visitor < self.plan.crowd.visitors).then(|| self.traits.arrives_ms(visitor))
    }

    fn arrive(&mut self) {
        let visitor = self.next_arrival;
        self.next_arrival += 1;
        let arrived_ms = self.traits.arrives_ms(visitor);
        self.arrived_ms[visitor as usize] = arrived_ms;
        self.until_ms[visitor as usize] = self.traits.gone_ms(visitor, arrived_ms);
        self.tally.arrived(self.now_ms);
        let node = self.node_of(visitor);
        self.nodes[node].desk.joins.push_back(visitor);
        self.wake(node);
    }

    /// Where a request of somebody goes now.
    fn node_of(&self, visitor: u32) -> usize {
        match self.up.len() {
            0 => 0, // All are down: whoever comes back first has it.
            up => self.up[self.traits.node(visitor, self.now_ms.into(), up)],
        }
    }

    /// There is something to say: as soon as this node may.
    fn wake(&mut self, node: usize) {
        let found = &mut self.nodes[node];
        let soonest_ms = found.free_ms.max(self.now_ms);
        if found.up && found.next_ms > soonest_ms {
            found.next_ms = soonest_ms;
            self.agenda.push(Reverse((soonest_ms, node)));
        }
    }

    fn speaks_at(&mut self, node: usize, at_ms: u32, free_ms: u32) {
        (self.nodes[node].next_ms, self.nodes[node].free_ms) = (at_ms, free_ms);
        self.agenda.push(Reverse((at_ms, node)));
    }

    fn act(&mut self, act: Act, visitor: u32) {
        let index = visitor as usize;
        let node = self.node_of(visitor);
        let desk = &mut self.nodes[node].desk;
        match (act, self.state[index]) {
            (Act::Claim, State::Called | State::Roused) => {
                if self.until_ms[index] <= self.now_ms {
                    return self.decide(visitor, State::GaveUp);
                }
                desk.claims.push_back(visitor);
            }
            (Act::Renew, State::Entered) => {
                desk.renewals.push_back(visitor);
                self.plan_renewal(visitor);
            }
            (Act::Complete, State::Entered) => desk.ends.push_back(visitor),
            _ => return,
        }
        self.wake(node);
    }

    /// Whoever stays uses the site, twice an idle time.
    fn plan_renewal(&mut self, visitor: u32) {
        let idle_ms = self.settings.session_idle_ms.unwrap_or(u64::MAX);
        let stays_until = u64::from(self.until_ms[visitor as usize])
            .saturating_add(self.traits.stay_ms(visitor).into());
        let next_ms = u64::from(self.now_ms).saturating_add(idle_ms / 2);
        if next_ms < stays_until && next_ms < END_MS.into() {
            self.calendar.add(next_ms as u32, Act::Renew, visitor);
        }
    }

    /// It is over for somebody.
    fn decide(&mut self, visitor: u32, state: State) {
        self.state[visitor as usize] = state;
        self.open -= 1;
    }

    /// A node says what it has to say.
    fn speak(&mut self, node: usize) {
        if self.now_ms < self.away_until_ms {
            self.tally.failed += 1;
            let next_ms = self.now_ms + RETRY_MS;
            return self.speaks_at(node, next_ms, next_ms);
        }
        self.collect_marks(node);
        let mut said = self.compose(node);
        let moment = Moment { wall_ms: START_MS + u64::from(self.now_ms), run: self.run };
        let Ok(reply) = self.line.apply(&said.batch, moment) else {
            // Never: a desk gives no more than a batch may carry.
            debug_assert!(false, "a batch was refused: {:?}", said.batch.check());
            return;
        };
        let rate = turns_per_second(&self.settings);
        self.tally.exchanged(self.now_ms, &said.batch, &reply, rate);
        self.tally.bitmap_bytes_peak =
            self.tally.bitmap_bytes_peak.max(self.line.bitmap_bytes() as u64);
        let Node { view, reports, offered, .. } = &mut self.nodes[node];
        view.absorb(&reply);
        let rest_ms =
            room::rest(room::work(&said.batch), &reply.counts).as_micros().div_ceil(1_000);
        let free_ms = self.now_ms + rest_ms as u32;
        match reply.taken {
            Taken::Settling { left_ms } => {
                let parts = reports.get_or_insert_with(|| view.report().parts(node as u128).into());
                let left_ms = left_ms.clamp(5, BEAT_MS) as u32;
                let next_ms = if parts.is_empty() { self.now_ms + left_ms } else { free_ms };
                said.batch.offer = None;
                *offered = false;
                self.nodes[node].said = Some(said);
                self.speaks_at(node, next_ms, next_ms);
            }
            Taken::Unconfigured => {
                *offered = false;
                self.nodes[node].said = Some(said);
                self.speaks_at(node, free_ms, free_ms);
            }
            Taken::Applied | Taken::Repeated | Taken::Superseded => {
                *offered = true;
                *reports = None;
                self.hear(node, &said, &reply);
                let counts = &reply.counts;
                let anybody = counts.waiting + counts.admitted + counts.inside > 0;
                let beat = if anybody { room::BEAT } else { room::IDLE }.as_millis() as u32;
                let more = counts.backlog || !self.nodes[node].desk.is_empty();
                let next_ms = if more { free_ms } else { self.now_ms + beat };
                self.speaks_at(node, next_ms, free_ms);
            }
        }
    }

    /// The next batch, or the last one again.
    fn compose(&mut self, node: usize) -> Said {
        let World { number, until_ms, version, settings, .. } = self;
        let found = &mut self.nodes[node];
        let mut said = found.said.take().unwrap_or_else(|| {
            found.sequence += 1;
            let number = |visitor: u32| number[visitor as usize].into();
            let entered = |visitor: u32| START_MS + u64::from(until_ms[visitor as usize]);
            found.desk.take(number, entered)
        });
        let greeting = found.view.greeting(found.id, found.sequence);
        let batch = &mut said.batch;
        (batch.node, batch.sequence) = (greeting.node, greeting.sequence);
        (batch.known, batch.have) = (greeting.known, greeting.have);
        if batch.epoch == 0 {
            // A node that has just been started reads it from the tickets it is shown.
            let read = if number_known(batch) { self.line.counts().epoch } else { 0 };
            batch.epoch = greeting.epoch.max(read);
        }
        if let Some(report) = found.reports.as_mut().and_then(VecDeque::pop_front) {
            batch.known.report = Some(Box::new(report));
        }
        if !found.offered {
            batch.offer = Some(Offer { version: *version, settings: settings.clone() });
        }
        said
    }

    /// Everybody who is here is heard of once a period: so many runs of numbers in every half second.
    fn collect_marks(&mut self, node: usize) {
        let beat = u64::from(self.now_ms) / BEAT_MS;
        let found = &mut self.nodes[node];
        let before = std::mem::replace(&mut found.beat, beat);
        found.desk.beat |= beat > before;
        found.desk.marks.keep_within(Duration::from_millis(self.settings.period_ms()));
        let beats = (self.settings.period_ms() / BEAT_MS).max(1);
        let first = self.frontier + 1;
        let last = self.visitors.len() as u64;
        for beat in beat.saturating_sub(beats).max(before) + 1..=beat {
            let mut run = first / RUN;
            run += (beat % beats + beats - run % beats) % beats;
            while run * RUN < last {
                if self.up[(run % self.up.len() as u64) as usize] == node {
                    let numbers = (run * RUN).max(first)..((run + 1) * RUN).min(last);
                    numbers.for_each(|number| self.poll(node, number));
                }
                run += beats;
            }
        }
    }

    /// Whoever has this number asks, if they are still there.
    fn poll(&mut self, node: usize, number: Number) {
        let visitor = self.visitors[number as usize];
        if visitor == NOBODY || self.state[visitor as usize] != State::Waiting {
            return;
        }
        let index = visitor as usize;
        if self.until_ms[index] <= self.now_ms {
            if self.traits.says_so(visitor) {
                self.nodes[node].desk.leaves.push_back(visitor);
            }
            return self.decide(visitor, State::GaveUp);
        }
        if self.sleeps(visitor).is_some() {
            return;
        }
        self.nodes[node].desk.marks.push(number);
        if self.tally.watches(visitor) {
            self.tell(node, visitor);
        }
    }

    /// Until when somebody sleeps who does now.
    fn sleeps(&self, visitor: u32) -> Option<u32> {
        let (from, until) = self.traits.sleep_ms(visitor, self.arrived_ms[visitor as usize])?;
        (from..until).contains(&self.now_ms).then_some(until)
    }

    /// What the page says to somebody who waits.
    fn tell(&mut self, node: usize, visitor: u32) {
        let view = &self.nodes[node].view;
        let number = self.number[visitor as usize].into();
        if view.standing(number) == Standing::Waiting
            && let Some(position) = view.position(number)
            && let Some(eta) = view.eta(position)
        {
            self.tally.told(visitor, self.now_ms, eta);
        }
    }

    fn hear(&mut self, node: usize, said: &Said, reply: &Reply) {
        if let Some(joined) = reply.joins.first() {
            self.hear_joins(node, &said.joins, joined);
        }
        for (visitor, claimed) in said.claims.iter().zip(&reply.claims) {
            match claimed {
                Claimed::Inside(_) => self.enter(*visitor, false),
                Claimed::Waiting | Claimed::Admitted | Claimed::Away => {
                    self.state[*visitor as usize] = State::Roused;
                    self.calendar.add(self.now_ms + ASK_AGAIN_MS, Act::Claim, *visitor);
                }
                Claimed::Over(_) => self.decide(*visitor, State::Passed),
                Claimed::Unknown | Claimed::Stale => self.decide(*visitor, State::Lost),
            }
        }
        let released = reply.counts.released;
        let turn_came = self.called.len();
        while self.frontier < released {
            self.frontier += 1;
            self.call(self.frontier);
        }
        // Those of one exchange are called together: none of them before another.
        self.called[turn_came..].sort_unstable();
    }

    fn hear_joins(&mut self, node: usize, visitors: &[u32], joined: &Joined) {
        let (first, count, entered) = match joined {
            Joined::Given { first, count, entered, .. } => (*first, *count, *entered),
            _ => (0, 0, 0),
        };
        let (given, refused) = visitors.split_at(count as usize);
        refused.iter().for_each(|visitor| self.decide(*visitor, State::TurnedAway));
        if !given.is_empty() {
            self.visitors.resize(first as usize, NOBODY);
            self.visitors.extend_from_slice(given);
        }
        for (nth, (number, visitor)) in (first..).zip(given).enumerate() {
            self.number[*visitor as usize] = number as u32;
            self.state[*visitor as usize] = State::Waiting;
            if nth < entered as usize {
                self.called.push(*visitor);
                self.enter(*visitor, true);
            } else if self.tally.watches(*visitor) {
                self.tell(node, *visitor);
            }
        }
    }

    /// The frontier has passed a number.
    fn call(&mut self, number: Number) {
        let visitor = self.visitors.get(number as usize).copied().unwrap_or(NOBODY);
        if visitor == NOBODY || self.state[visitor as usize] != State::Waiting {
            return;
        }
        let index = visitor as usize;
        if self.until_ms[index] <= self.now_ms {
            return self.decide(visitor, State::GaveUp);
        }
        let sleeps = self.sleeps(visitor);
        if sleeps.is_none() && self.tally.watches(visitor) {
            self.tally.kept(visitor, self.now_ms);
        }
        if self.traits.is_no_show(visitor) {
            return self.decide(visitor, State::NoShow);
        }
        let (state, at_ms) = match sleeps {
            Some(until_ms) => (State::Roused, until_ms),
            None => (State::Called, self.now_ms + self.traits.notice_ms(visitor)),
        };
        if state == State::Called {
            self.called.push(visitor);
        }
        self.state[index] = state;
        self.calendar.add(at_ms, Act::Claim, visitor);
    }

    fn enter(&mut self, visitor: u32, at_once: bool) {
        let index = visitor as usize;
        // Whoever was asleep when their turn came has no order to be held to.
        if at_once || self.state[index] == State::Called {
            self.entered.push(visitor);
        }
        self.until_ms[index] = self.now_ms;
        self.last_entry_ms = self.now_ms;
        self.decide(visitor, State::Entered);
        if self.traits.is_bot(visitor) {
            self.bots_inside += 1;
            return;
        }
        self.tally.entered(self.now_ms);
        if at_once {
            self.calendar.add(self.now_ms + PICTURES_MS, Act::Renew, visitor);
        } else {
            self.plan_renewal(visitor);
        }
        let done_ms = self.now_ms.saturating_add(self.traits.stay_ms(visitor));
        if self.traits.completes(visitor) && done_ms < END_MS {
            self.calendar.add(done_ms, Act::Complete, visitor);
        }
    }

    fn happen(&mut self, what: Break) {
        match what {
            Break::Kill(which) => {
                let Some(node) = self.up.get(which as usize % self.up.len().max(1)).copied() else {
                    return;
                };
                self.kill(node);
                let at = (self.now_ms + RESTART_MS, Break::Restart(node));
                let place = self.breaks.partition_point(|(ms, _)| *ms <= at.0);
                self.breaks.insert(place, at);
            }
            Break::Restart(node) => {
                self.started += 1;
                let beat = u64::from(self.now_ms) / BEAT_MS;
                let desk = std::mem::take(&mut self.nodes[node].desk);
                self.nodes[node] = Node { desk, ..Node::new(self.started, beat) };
                self.up.push(node);
                self.up.sort_unstable();
                self.speaks_at(node, self.now_ms, self.now_ms);
            }
            Break::Outage => self.away_until_ms = self.now_ms + OUTAGE_MS,
            Break::Loss => {
                self.line = Line::default();
                self.run += 1;
            }
            Break::Change(nth) => {
                let rate = self.plan.changes[nth].rate;
                self.settings.pace = Some(paced(self.settings.pace, rate));
                self.version += 1;
                self.tally.changed_ms.push(self.now_ms);
                self.nodes.iter_mut().for_each(|node| node.offered = false);
            }
        }
    }

    /// What a node was about to say is lost. Whoever asked it for something asks another one.
    fn kill(&mut self, node: usize) {
        self.up.retain(|other| *other != node);
        let found = &mut self.nodes[node];
        found.up = false;
        let desk = std::mem::take(&mut found.desk);
        let said = found.said.take().unwrap_or_default();
        for visitor in said.claims.into_iter().chain(desk.claims) {
            self.calendar.add(self.now_ms + ASK_AGAIN_MS, Act::Claim, visitor);
        }
        for visitor in said.joins.into_iter().chain(desk.joins) {
            let other = self.node_of(visitor);
            self.nodes[other].desk.joins.push_back(visitor);
            self.wake(other);
        }
    }
}

/// Whether a batch is about anybody.
fn number_known(batch: &crate::line::Batch) -> bool {
    batch.items() > 0 || !batch.marks.is_empty()
}

/// By the pace alone; 0 without one.
fn turns_per_second(settings: &Settings) -> f64 {
    match settings.pace {
        Some(Pace::Rate { rate, .. }) => rate.count as f64 * 1_000.0 / rate.per_ms as f64,
        Some(Pace::Batch { batch, interval_ms, .. }) => batch as f64 * 1_000.0 / interval_ms as f64,
        None => 0.0,
    }
}
