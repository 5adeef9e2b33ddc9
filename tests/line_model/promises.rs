//! What was promised to visitors, checked on what they see: no rule of the line is repeated here.

use std::collections::{BTreeMap, BTreeSet};

use anteroom::line::{
    Batch, Claimed, Classed, Command, Commanded, Counts, Done, Drawn, Joined, Number, Order, Pace,
    Reply, Settings, Standing, Taken,
};

use super::steps::{Faithful, Room};
use super::subject::Subject;

/// So many visitors poll and are watched.
const POLLING: usize = 12;
/// A node silent for so long may be forgotten.
const AN_HOUR: u64 = 3_600_000;

pub(super) struct Promises {
    faithful: Faithful,
    /// The settings in force.
    pub(super) settings: Option<Settings>,
    last: Counts,
    run: u64,
    /// A node has forgotten what it knew.
    nodes_lost: bool,
    /// The last exchange found the line settling.
    settling: bool,
    /// Given numbers by epoch and first: the last, and whether a node heard of them.
    given: BTreeMap<(u64, Number), (Number, bool)>,
    /// The first answers to each batch.
    answers: BTreeMap<(u128, u64), Reply>,
    /// When each node was last heard of.
    heard: BTreeMap<u128, u64>,
    /// Who polls, and when on the room's clock they were last heard of.
    polling: BTreeMap<Number, u64>,
    /// In small rooms: who waited after the last exchange.
    waiting: BTreeSet<Number>,
    pace: Option<Metered>,
    /// Passes that were spent, by epoch and number: until when no pass of theirs can be spent again.
    spent: BTreeMap<(u64, Number), u64>,
    /// Those of a class, by epoch and number: their places are not their numbers.
    classed: BTreeSet<(u64, Number)>,
    /// Who was told last to sit where, of those inside, in this epoch and run and under these slots.
    slots: BTreeMap<Number, u64>,
}

/// Turns by pace since the settings last changed.
struct Metered {
    pace: Pace,
    turns: u64,
    /// The least of 2·cost·turns − 3·count·clock so far, after an exchange.
    least: i128,
    intervals: Vec<(u64, u64)>,
}

impl Promises {
    pub(super) fn new(room: &Room) -> Promises {
        Promises {
            faithful: room.faithful,
            settings: None,
            last: Counts::default(),
            run: 0,
            nodes_lost: false,
            settling: false,
            given: BTreeMap::new(),
            answers: BTreeMap::new(),
            heard: BTreeMap::new(),
            polling: BTreeMap::new(),
            waiting: BTreeSet::new(),
            pace: None,
            spent: BTreeMap::new(),
            classed: BTreeSet::new(),
            slots: BTreeMap::new(),
        }
    }

    pub(super) fn anybody_polls(&self) -> bool {
        !self.polling.is_empty()
    }

    /// A node starts anew.
    pub(super) fn node_lost(&mut self) {
        self.nodes_lost = true;
    }

    /// The store lost its memory. If not every node speaks while the line settles, or one has forgotten
    /// as well, nothing is promised about what nobody else knew.
    pub(super) fn lost(&mut self, settings: Option<Settings>, all_speak: bool) {
        let all_speak = all_speak && !self.nodes_lost;
        self.settings = settings;
        self.given.retain(|_, (_, heard)| *heard && all_speak);
        self.answers.clear();
        self.waiting.clear();
        self.spent.clear();
        self.pace = None;
        // Nor about a draw of which nobody had heard.
        if !all_speak || self.last.draw > 0 {
            self.polling.clear();
        }
    }

    /// Adds the polls that are due to a batch.
    pub(super) fn poll(&mut self, batch: &mut Batch) {
        let Some(settings) = &self.settings else {
            return;
        };
        let clock = self.last.clock_ms;
        let patience = match self.faithful {
            Faithful::Nobody => return,
            Faithful::Eager => settings.period_ms(),
            Faithful::Lazy => 2 * settings.period_ms() - 2_000,
        };
        let due = |heard: u64| heard + patience <= clock + 2_000;
        batch.marks.extend(
            self.polling.iter().filter(|(_, heard)| due(**heard)).map(|(number, _)| *number),
        );
    }

    /// Judges an exchange by what it did to visitors.
    pub(super) fn check(
        &mut self,
        batch: &Batch,
        reply: &Reply,
        line: &Subject,
        heard: bool,
    ) -> Result<(), String> {
        let before = std::mem::replace(&mut self.last, reply.counts);
        let same_run = std::mem::replace(&mut self.run, reply.run) == reply.run;
        let same_epoch = same_run && before.epoch == reply.counts.epoch;
        if same_epoch && reply.counts.draw != before.draw {
            self.drawn(batch, reply)?;
        }
        // What an exchange spends, it remembers by the settings before its orders.
        let lasted = self.settings.as_ref().map_or(u64::MAX, Settings::session_ms);
        if let Some(now) = line.settings_in_force() {
            let old = self.settings.replace(now.clone()).unwrap_or_default();
            if old.pace != now.pace {
                self.pace = None;
            }
            // Whoever sat in one that is no more is told of another when they ask.
            if old.slots != now.slots {
                self.slots.clear();
            }
        }
        if same_epoch {
            monotone(&before, &reply.counts)?;
        } else {
            self.pace = None;
            self.waiting.clear();
            self.slots.clear();
            if before.epoch != reply.counts.epoch {
                self.polling.clear();
            }
        }
        self.once(batch, reply)?;
        self.no_number_twice(reply, heard)?;
        self.no_pass_twice(batch, reply, lasted)?;
        self.no_slot_twice(batch, reply, line)?;
        if same_epoch {
            // Lowered in this very exchange: who entered before that found a seat.
            if !reply.taken.eq(&Taken::Applied) || !batch.commands.iter().any(lowers_seats) {
                self.seats(batch, &before, reply)?;
            }
            // An order that came again gives no turns, though its answer says so.
            if batch.commands.iter().any(|order| order.once.is_some()) {
                self.pace = None;
            } else {
                self.rate(&before, reply)?;
            }
            if !self.settling {
                self.order(batch, &before, reply, line)?;
            }
        }
        self.settling = matches!(reply.taken, Taken::Settling { .. });
        self.waiting = self.who_waits(&reply.counts, line);
        self.polls(batch, reply, line, heard)
    }

    /// Whoever polls goes on under the number they were drawn to, and nobody is drawn to the same.
    fn drawn(&mut self, batch: &Batch, reply: &Reply) -> Result<(), String> {
        // A line that settles was told of it.
        let brought = batch.known.report.as_ref().map(|report| &report.draws);
        let told = reply.update.draws.as_ref().or(brought);
        let told = told.ok_or("a draw that no node is told of")?;
        let drawn = Drawn::new(told.clone());
        let before = self.polling.len();
        self.polling = std::mem::take(&mut self.polling)
            .into_iter()
            .map(|(number, heard)| (drawn.number(number), heard))
            .collect();
        if self.polling.len() < before || self.polling.keys().any(|it| *it > reply.counts.issued) {
            return Err("two who poll were drawn to one place, or to none".to_owned());
        }
        for number in self.polling.keys() {
            if drawn.number(drawn.ticket(*number)) != *number {
                return Err(format!("{number} is not whom it was drawn from"));
            }
        }
        Ok(())
    }

    /// A batch applied twice is applied once.
    fn once(&mut self, batch: &Batch, reply: &Reply) -> Result<(), String> {
        let key = (batch.node, batch.sequence);
        let clock = reply.counts.clock_ms;
        if self.heard.insert(batch.node, clock).is_some_and(|last| last + AN_HOUR <= clock) {
            self.answers.retain(|(node, _), _| *node != batch.node);
        }
        match reply.taken {
            Taken::Applied => {
                let first = Reply { update: Default::default(), ..reply.clone() };
                if self.answers.insert(key, first).is_some() {
                    return Err("the same batch was applied twice".to_owned());
                }
            }
            Taken::Repeated => {
                if let Some(first) = self.answers.get(&key)
                    && (&first.joins, &first.claims, &first.commands, &first.spends)
                        != (&reply.joins, &reply.claims, &reply.commands, &reply.spends)
                {
                    return Err("the same batch got other answers the second time".to_owned());
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn no_number_twice(&mut self, reply: &Reply, heard: bool) -> Result<(), String> {
        for joined in &reply.joins {
            let Joined::Given { epoch, first, count, class, .. } = *joined else {
                continue;
            };
            if let Some(Classed::Placed { .. }) = class {
                self.classed.insert((epoch, first));
            }
            let last = first + u64::from(count) - 1;
            if reply.taken == Taken::Repeated {
                if let Some(range) = self.given.get_mut(&(epoch, first)) {
                    range.1 |= heard;
                }
                continue;
            }
            let below = self.given.range(..=(epoch, last)).next_back();
            if let Some(((_, theirs), (upto, _))) =
                below.filter(|((of, _), (upto, _))| *of == epoch && *upto >= first)
            {
                return Err(format!("{first}..={last} given, after {theirs}..={upto}"));
            }
            self.given.insert((epoch, first), (last, heard));
        }
        Ok(())
    }

    /// A pass that is good once is spent once, for as long as it can be good.
    fn no_pass_twice(&mut self, batch: &Batch, reply: &Reply, lasted: u64) -> Result<(), String> {
        if reply.taken != Taken::Applied {
            return Ok(());
        }
        let clock = reply.counts.clock_ms;
        let lasts = self.settings.as_ref().map_or(0, Settings::session_ms).min(lasted);
        let spent = batch.spends.iter().zip(&reply.spends);
        for (number, _) in spent.filter(|(_, done)| **done == Done::Freed) {
            let before = self.spent.insert((batch.epoch, *number), clock + lasts);
            if before.is_some_and(|until| clock < until) {
                return Err(format!("the pass of {number} was spent twice"));
            }
        }
        Ok(())
    }

    /// No two who are inside after an exchange were told to sit in the same slot.
    fn no_slot_twice(
        &mut self,
        batch: &Batch,
        reply: &Reply,
        line: &Subject,
    ) -> Result<(), String> {
        if reply.taken != Taken::Applied {
            return Ok(());
        }
        let inside = |(number, claimed): (Number, &Claimed)| match claimed {
            Claimed::Inside(terms) => Some((number, terms.slot)),
            _ => None,
        };
        let claims = batch.claims.iter().copied().zip(&reply.claims);
        let renewals = batch.renewals.iter().map(|it| it.number).zip(&reply.renewals);
        let joins = reply.joins.iter().filter_map(|joined| match joined {
            Joined::Given { first, entered: 1, terms: Some(terms), .. } => {
                Some((*first, terms.slot))
            }
            _ => None,
        });
        let told: Vec<_> = claims.chain(renewals).filter_map(inside).chain(joins).collect();
        self.slots.extend(told);
        self.slots.retain(|number, slot| *slot > 0 && line.standing(*number) == Standing::Active);
        let mut sits = BTreeMap::new();
        for (number, slot) in &self.slots {
            if let Some(other) = sits.insert(slot, number) {
                return Err(format!("{other} and {number} sit in slot {slot}"));
            }
        }
        Ok(())
    }

    /// Whoever released or resumed found a seat free.
    fn seats(&self, batch: &Batch, before: &Counts, reply: &Reply) -> Result<(), String> {
        let limited = |settings: &&Settings| !settings.mode.stops_nobody();
        let settings = self.settings.as_ref().filter(limited);
        let Some(seats) = settings.and_then(Settings::seats) else {
            return Ok(());
        };
        let counts = &reply.counts;
        let taken = counts.inside + counts.admitted + counts.missing;
        if taken > seats && counts.turns > before.turns {
            return Err(format!(
                "{taken} of {seats} seats are taken after {} turns",
                counts.turns - before.turns
            ));
        }
        let was = before.inside + before.admitted + before.missing;
        let brought_back =
            reply.renewals.iter().any(|renewed| matches!(renewed, Claimed::Inside(_)));
        let healed = batch.known.released > before.released || self.settling;
        if taken > seats && taken > was && !brought_back && !healed {
            return Err(format!("{taken} of {seats} seats are taken, {was} were before"));
        }
        Ok(())
    }

    /// In any stretch of time no more turns by pace than one and a half times the pace, and a burst.
    fn rate(&mut self, before: &Counts, reply: &Reply) -> Result<(), String> {
        let limited = |settings: &&Settings| !settings.mode.stops_nobody();
        let Some(pace) = self.settings.as_ref().filter(limited).and_then(|settings| settings.pace)
        else {
            self.pace = None;
            return Ok(());
        };
        let mut turns = reply.counts.turns - before.turns;
        if reply.taken == Taken::Applied {
            for commanded in &reply.commands {
                if let Commanded::Released { count, .. } = commanded {
                    turns -= count;
                }
            }
        }
        let clock = reply.counts.clock_ms;
        let start = Metered { pace, turns: 0, least: i128::MAX, intervals: Vec::new() };
        let metered = self.pace.get_or_insert(start);
        match metered.pace {
            Pace::Rate { rate, burst } => {
                let (cost, count, clock) =
                    (i128::from(rate.per_ms), i128::from(rate.count), i128::from(clock));
                let level = |turns: u64| 2 * cost * i128::from(turns) - 3 * count * clock;
                metered.turns += turns;
                let level = level(metered.turns);
                if level.saturating_sub(metered.least) > 2 * cost * i128::from(burst) {
                    return Err(format!(
                        "{turns} turns now are more than 1.5 {rate:?} and {burst}"
                    ));
                }
                metered.least = metered.least.min(level);
            }
            Pace::Batch { batch, interval_ms, .. } => {
                metered.intervals.retain(|(at, _)| at + interval_ms > clock);
                metered.intervals.push((clock, turns));
                let recent: u64 = metered.intervals.iter().map(|(_, turns)| turns).sum();
                if recent > 2 * (batch + batch / 2) {
                    return Err(format!("{recent} turns in one interval by batches of {batch}"));
                }
            }
        }
        Ok(())
    }

    /// Nobody who waits is passed over, but for those who were silent and come back only now.
    fn order(
        &self,
        batch: &Batch,
        before: &Counts,
        reply: &Reply,
        line: &Subject,
    ) -> Result<(), String> {
        let mut back: Vec<Number> = [&batch.returns[..], &batch.vouched, &batch.claims].concat();
        back.extend(reply.joins.iter().filter_map(|joined| match joined {
            Joined::Already { number, .. } => Some(*number),
            _ => None,
        }));
        for &number in self.waiting.range(before.released + 1..) {
            if number > reply.counts.released {
                break;
            }
            let classed = self.classed.contains(&(reply.counts.epoch, number));
            let waits = line.standing(number) == Standing::Waiting && !classed;
            if waits && !back.contains(&number) {
                return Err(format!("{number} waits, and {} has its turn", reply.counts.released));
            }
        }
        Ok(())
    }

    fn who_waits(&self, counts: &Counts, line: &Subject) -> BTreeSet<Number> {
        let upto = counts.issued.min(counts.released + 1_000);
        (1..=upto)
            .rev()
            .take(1_500)
            .filter(|number| line.standing(*number) == Standing::Waiting)
            .collect()
    }

    /// Whoever polls keeps the place until the turn comes.
    fn polls(
        &mut self,
        batch: &Batch,
        reply: &Reply,
        line: &Subject,
        heard: bool,
    ) -> Result<(), String> {
        let clock = reply.counts.clock_ms;
        let settling = matches!(reply.taken, Taken::Settling { .. });
        let applied = reply.taken == Taken::Applied;
        let ended = batch.ends.iter().map(|end| &end.number);
        let renewed = batch.renewals.iter().map(|renewal| &renewal.number);
        let ordered: Vec<Number> =
            batch.commands.iter().filter_map(|order| order.command.number()).collect();
        for number in batch.leaves.iter().chain(ended).chain(renewed).chain(&ordered) {
            self.polling.remove(number);
        }
        if applied && (batch.epoch, batch.draw) == (reply.counts.epoch, reply.counts.draw) {
            for number in &batch.marks {
                self.polling.entry(*number).and_modify(|heard| *heard = clock);
            }
        }
        let mut served = Vec::new();
        for (&number, last) in &mut self.polling {
            if settling {
                *last = clock;
                continue;
            }
            match line.standing(number) {
                Standing::Waiting if number > reply.counts.released => {}
                Standing::Admitted | Standing::Active => served.push(number),
                lost => return Err(format!("{number} polls, and is {lost:?}")),
            }
        }
        for number in served {
            self.polling.remove(&number);
        }
        if applied && heard && self.faithful != Faithful::Nobody {
            for joined in &reply.joins {
                // Whoever is of a class is marked one by one, and has a place of their own.
                let Joined::Given { first, count, class: None, .. } = *joined else {
                    continue;
                };
                let number = first + u64::from(count) / 2;
                if self.polling.len() < POLLING && line.standing(number) == Standing::Waiting {
                    self.polling.insert(number, clock);
                }
            }
        }
        Ok(())
    }
}

fn lowers_seats(order: &Order) -> bool {
    matches!(&order.command, Command::Set(changes) if changes.iter().any(|one| one.name == "max_active" || one.name == "mode"))
}

fn monotone(before: &Counts, after: &Counts) -> Result<(), String> {
    let rises = |counts: &Counts| {
        [counts.clock_ms, counts.issued, counts.released, counts.lapsed, counts.turns]
    };
    if rises(before).iter().zip(rises(after)).any(|(before, after)| *before > after) {
        return Err(format!("a counter fell:\n  from {before:?}\n  to   {after:?}"));
    }
    if after.lapsed > after.released || after.released > after.issued {
        return Err(format!("lapsed, released, issued are out of order: {after:?}"));
    }
    Ok(())
}
