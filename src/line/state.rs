//! The state of one line, and the exchange: what happens, in which order.
//!
//! Owns the fields and the order of the steps; each step is written where its idea lives. The rules
//! are in the parent's documentation, numbered as here.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::adaptive::Control;
use super::aging::Aging;
use super::batch::*;
use super::bits::Bitmap;
use super::budget::Budget;
use super::class::Invites;
use super::draw::Draws;
use super::express::Head;
use super::find::Heard;
use super::heal::Settling;
use super::history::History;
use super::join::{FirstJoin, Window};
use super::letters::Outbox;
use super::orders::{self, Book, Overrides};
use super::packed::Packed;
use super::release::{Bucket, Releases};
use super::roster::Roster;
use super::scores::Scores;
use super::session::Sessions;
use super::settings::{Mode, Pace, Settings, Subject};
use super::shadow::Shadow;
use super::view::Update;

/// The most the room's clock moves in one exchange. Nodes ask twice a second while anybody waits,
/// so four times that is an outage, and an outage must not count against anybody.
const TICK_MAX_MS: u64 = 2_000;

/// One room's line. [`Line::default`] is a line without a memory: it settles first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Line {
    pub(super) run: u64,
    pub(super) epoch: u64,
    /// When the epoch began.
    pub(super) opened_ms: u64,
    pub(super) clock_ms: u64,
    /// The store's wall clock at the last exchange.
    pub(super) wall_ms: u64,
    pub(super) settling: Option<Settling>,
    pub(super) config: Option<Config>,
    pub(super) paused: bool,

    pub(super) issued: Number,
    pub(super) released: Number,
    pub(super) lapsed: Number,
    pub(super) base: Number,
    pub(super) live: Bitmap,
    pub(super) used: Bitmap,
    pub(super) seen: [Bitmap; SEEN_PERIODS],
    /// Which of `seen` is the current one.
    pub(super) ring: usize,
    pub(super) period_began_ms: u64,
    pub(super) bits_version: u64,

    /// Live above `released`, and in express: a counter, see [`Line::check_invariants`].
    pub(super) waiting: u64,
    /// Live above `lapsed` and at or below `released`: those called from express are not in it.
    pub(super) claimable: u64,
    pub(super) head: Head,
    pub(super) sessions: Sessions,
    pub(super) missing: u64,
    pub(super) missing_until_ms: u64,

    pub(super) bucket: Bucket,
    pub(super) releases: Releases,
    pub(super) totals: Totals,

    pub(super) joined: Aging<Packed, FirstJoin>,
    pub(super) limits: Aging<(Subject, u64, Packed), Window>,
    pub(super) nodes: BTreeMap<u128, Node>,
    /// Who did the last sweep.
    #[serde(default)]
    pub(super) swept: Swept,
    /// Whose pass was spent, until when that is remembered. Snapshots had none once, nor what follows.
    #[serde(default)]
    pub(super) spent: Scores,
    /// What operators have set.
    #[serde(default)]
    pub(super) overrides: Overrides,
    /// What they have ordered.
    #[serde(default)]
    pub(super) book: Book,
    /// What they may order again.
    #[serde(default)]
    pub(super) asked: orders::Memory,
    #[serde(default)]
    pub(super) history: History,
    /// What somebody is to be told.
    #[serde(default)]
    pub(super) outbox: Outbox,
    /// What would have happened, in mode shadow.
    #[serde(default)]
    pub(super) shadow: Option<Shadow>,
    /// What they are called.
    #[serde(default)]
    pub(super) roster: Roster,
    /// Invites that were used or revoked.
    #[serde(default)]
    pub(super) invites: Invites,
    /// Thousandths of a turn that class visitors have saved: below a thousand.
    #[serde(default)]
    pub(super) class_balance: u64,
    /// Class joins that got an ordinary place for want of room.
    #[serde(default)]
    pub(super) class_overflow: u64,
    /// What the rate was made of, where it follows the origin.
    #[serde(default)]
    pub(super) control: Control,
    #[serde(default)]
    pub(super) draws: Draws,
}

/// Two periods, not one: a visitor seen just before a period ends must still count for a whole
/// timeout. With a 60 s timeout and 30 s periods, absence is noticed after 60 to 90 s. The third
/// bitmap is the one being written while the other two are judged.
const SEEN_PERIODS: usize = 3;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Config {
    /// The offer's version.
    pub(super) version: u64,
    /// Counts changes, so that nodes notice one.
    pub(super) serial: u64,
    /// In force.
    pub(super) settings: Settings,
    /// As they were offered, where operators have set something else.
    #[serde(default)]
    pub(super) file: Option<Settings>,
}

impl Config {
    /// As they were offered.
    pub(super) fn offered(&self) -> &Settings {
        self.file.as_ref().unwrap_or(&self.settings)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Totals {
    pub(super) turns: u64,
    pub(super) entered: u64,
    pub(super) completed: u64,
    pub(super) no_shows: u64,
    pub(super) dropped: u64,
    pub(super) last_entry_ms: u64,
}

/// A sweep: the node whose exchange did it, and when on the room's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Swept {
    by: u128,
    at_ms: u64,
}

/// What a node was last told, in case it did not hear it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Node {
    sequence: u64,
    heard_ms: u64,
    answers: Answers,
    /// What it says about itself.
    #[serde(default)]
    about: String,
}

/// The parts of a reply that answer the batch's items.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Answers {
    offered: Option<Offered>,
    leaves: Vec<Done>,
    ends: Vec<Done>,
    renewals: Vec<Claimed>,
    returns: Vec<Claimed>,
    vouched: Vec<Claimed>,
    claims: Vec<Claimed>,
    commands: Vec<Commanded>,
    joins: Vec<Joined>,
    /// Snapshots had none once.
    #[serde(default)]
    spends: Vec<Done>,
}

/// Whether a room that let nobody in does from now on.
fn opens(before: Mode, now: Mode) -> bool {
    let shut = |mode| matches!(mode, Mode::Hold | Mode::Closed);
    shut(before) && !shut(now)
}

/// A node that has been silent this long will not repeat its last batch.
const NODE_MEMORY_MS: u64 = 3_600_000;
/// One that was silent for this long at a sweep is not counted: a quiet one asks every 0.9 s.
const NODE_SILENT_MS: u64 = 60_000;

impl Line {
    /// A line in a store that knows this room to be new: nothing can have been lost.
    pub fn founded(now: Moment) -> Line {
        let mut line = Line { run: now.run, ..Line::default() };
        line.tick(now);
        line.begin_epoch(now.wall_ms / 1_000);
        line
    }

    /// Applies one node's batch: the whole exchange, in the order of the parent's documentation.
    pub fn apply(&mut self, batch: &Batch, now: Moment) -> Result<Reply, BadBatch> {
        batch.check()?;
        if now.run == 0 {
            return Err(BadBatch::NoRun);
        }
        let elapsed_ms = self.tick(now);
        if self.run != now.run {
            self.run = now.run;
            self.begin_settling();
        }
        self.learn(&batch.known);
        let last = self.nodes.get(&batch.node).map_or(0, |node| node.sequence);
        let fresh = batch.sequence > last;
        let mut answers = Answers::default();
        if fresh || self.settling.is_some() {
            answers.offered = batch.offer.as_ref().map(|offer| self.take_offer(offer, batch.node));
        }
        if !self.settled(&batch.known) {
            let left_ms = self.settling_left_ms();
            return Ok(self.reply(batch, Taken::Settling { left_ms }, answers, &Budget::new()));
        }
        if self.config.is_none() {
            return Ok(self.reply(batch, Taken::Unconfigured, answers, &Budget::new()));
        }

        let waited = self.waiting > 0;
        self.turn_minute();
        self.end_overrides();
        let mut budget = Budget::new();
        let turned = self.turn_ring();
        if fresh {
            self.hear(batch, &mut answers);
        }
        self.notice_strays(&mut budget);
        if turned {
            self.sweep();
            budget.sweep();
            self.swept = Swept { by: batch.node, at_ms: self.clock_ms };
            self.nodes.retain(|_, node| node.heard_ms + NODE_MEMORY_MS > self.clock_ms);
            self.forget_names(false);
        } else {
            self.move_base();
        }
        self.lapse(&mut budget);
        self.forget_endings(&mut budget);
        self.forget_spent(&mut budget);
        self.expire_sessions(&mut budget);
        self.end_hung_up(&mut budget);
        self.adapt();
        self.refill(elapsed_ms);
        self.forget_missing();
        let (epoch, draw) = (self.epoch, self.draws.version);
        let most = budget.next();
        let mut steps = most;
        if fresh {
            let orders = batch.commands.iter();
            answers.commands = orders.map(|order| self.order(order, batch, &mut steps)).collect();
        }
        self.follow_schedule(batch.lot.as_ref());
        if fresh {
            self.join(batch, &mut answers.joins);
        }
        let arrived = answers.joins.iter().map(|joined| u64::from(joined.given())).sum();
        budget.backlog |= self.release_by_pace(&mut steps, arrived, elapsed_ms);
        budget.take(most - steps);
        if fresh {
            self.enter_claims(batch, (epoch, draw), &mut answers.claims);
            self.enter_joins(batch, &mut budget, &mut answers.joins);
        }
        self.record_release();
        self.head.publish(self.clock_ms);
        self.roster.publish(self.clock_ms);
        if waited && self.waiting == 0 {
            self.write_letter(r#"{"emptied":true}"#.to_owned());
        }

        let taken = match batch.sequence.cmp(&last) {
            std::cmp::Ordering::Greater => {
                let (sequence, heard_ms) = (batch.sequence, self.clock_ms);
                let before = self.nodes.remove(&batch.node).map(|node| node.about);
                let about = batch.about.clone().or(before).unwrap_or_default();
                let node = Node { sequence, heard_ms, answers: answers.clone(), about };
                self.nodes.insert(batch.node, node);
                Taken::Applied
            }
            std::cmp::Ordering::Equal => {
                if let Some(node) = self.nodes.get(&batch.node) {
                    answers = node.answers.clone();
                }
                Taken::Repeated
            }
            std::cmp::Ordering::Less => Taken::Superseded,
        };
        let letters = self.hand_out_letters(batch.wants);
        let reply = self.reply(batch, taken, answers, &budget);
        Ok(Reply { letters, ..reply })
    }

    /// Moves the room's clock; by how much.
    fn tick(&mut self, now: Moment) -> u64 {
        let elapsed_ms = now.wall_ms.saturating_sub(self.wall_ms).min(TICK_MAX_MS);
        self.wall_ms = now.wall_ms;
        if self.clock_ms == 0 {
            self.clock_ms = now.wall_ms;
            return 0;
        }
        self.clock_ms += elapsed_ms;
        elapsed_ms
    }

    /// Whether the batch's numbers are the line's: of this epoch, and of no time before the last draw.
    pub(super) fn means(&self, batch: &Batch) -> bool {
        (batch.epoch, batch.draw) == (self.epoch, self.draws.version)
    }

    /// What the batch says about numbers, in the order of the parent's step 8 and 9.
    fn hear(&mut self, batch: &Batch, answers: &mut Answers) {
        self.add_figures(&batch.figures);
        self.weigh_figures(&batch.figures);
        self.forget_letters(&batch.sent);
        if !self.means(batch) {
            answers.leaves = vec![Done::Stale; batch.leaves.len()];
            answers.ends = vec![Done::Stale; batch.ends.len()];
            answers.spends = vec![Done::Stale; batch.spends.len()];
            answers.renewals = vec![Claimed::Stale; batch.renewals.len()];
            answers.returns = vec![Claimed::Stale; batch.returns.len()];
            answers.vouched = vec![Claimed::Stale; batch.vouched.len()];
            answers.claims = vec![Claimed::Stale; batch.claims.len()];
            return;
        }
        batch.marks.iter().for_each(|number| self.mark(*number));
        batch.present.iter().for_each(|number| self.mark_present(*number));
        answers.leaves = batch.leaves.iter().map(|number| self.leave(*number)).collect();
        answers.ends = batch.ends.iter().map(|end| self.end(*end)).collect();
        answers.spends = batch.spends.iter().map(|number| self.spend(*number)).collect();
        answers.renewals = batch.renewals.iter().map(|renewal| self.renewal(*renewal)).collect();
        answers.returns =
            batch.returns.iter().map(|number| self.come_back(*number, false)).collect();
        answers.vouched =
            batch.vouched.iter().map(|number| self.come_back(*number, true)).collect();
        let claims = batch.claims.iter().enumerate();
        answers.claims =
            claims.map(|(nth, number)| self.claim_and_tell(*number, batch.tag(nth))).collect();
        batch.hangups.iter().for_each(|number| self.hang_up(*number));
    }

    fn take_offer(&mut self, offer: &Offer, node: u128) -> Offered {
        let problems = offer.settings.problems();
        if !problems.is_empty() {
            return Offered::Invalid(problems);
        }
        if let Some(config) = &self.config
            && offer.version < config.version
        {
            return Offered::Older(config.version);
        }
        let (version, settings) = (offer.version, offer.settings.clone());
        let before = self.config.as_ref().map(|config| config.offered().clone());
        if before.as_ref() != Some(&settings) {
            self.write_offer(before.as_ref(), &settings, node);
        }
        match &mut self.config {
            Some(config) if config.offered() == &settings => config.version = version,
            Some(config) => {
                (config.version, config.file) = (version, Some(settings));
                self.put_in_force();
            }
            None => {
                let now = settings.with(&self.overrides);
                let file = (now != settings).then_some(settings);
                self.config = Some(Config { version, serial: 1, settings: now, file });
                self.change_pace(None);
                self.rank_classes();
            }
        }
        Offered::Taken
    }

    /// What the file says and what operators have set instead, together, from now on. Something of either has changed.
    pub(super) fn put_in_force(&mut self) {
        let Some(config) = &mut self.config else { return };
        let offered = config.offered().clone();
        let now = offered.with(&self.overrides);
        let before = std::mem::replace(&mut config.settings, now);
        let now = &config.settings;
        config.file = (*now != offered).then_some(offered);
        config.serial += 1;
        let (opens, timeout_ms) = (opens(before.mode, now.mode), now.heartbeat_timeout_ms);
        self.change_pace(before.pace);
        self.rank_classes();
        if before.heartbeat_timeout_ms != timeout_ms {
            self.presume_seen();
        }
        if opens {
            self.write_letter(r#"{"opened":true}"#.to_owned());
        }
    }

    /// Voids every number given so far. Settings, pause, credit and what limits joins stay: a reset
    /// is not a way around a rate.
    pub(super) fn begin_epoch(&mut self, epoch: u64) {
        let version = self.bits_version;
        let before = std::mem::take(self);
        *self = Line {
            run: before.run,
            epoch,
            opened_ms: before.clock_ms,
            clock_ms: before.clock_ms,
            wall_ms: before.wall_ms,
            settling: before.settling.map(Settling::of_new_epoch),
            config: before.config,
            paused: before.paused,
            ring: before.ring,
            period_began_ms: before.clock_ms,
            bits_version: version + 1,
            head: before.head.emptied(),
            sessions: before.sessions.emptied(),
            bucket: before.bucket.forgiven(),
            limits: before.limits,
            nodes: before.nodes,
            swept: before.swept,
            overrides: before.overrides,
            book: before.book,
            asked: before.asked,
            history: before.history,
            outbox: before.outbox,
            roster: before.roster.emptied(),
            invites: before.invites,
            control: before.control,
            draws: before.draws.of_new_epoch(),
            ..Line::default()
        };
    }

    /// The settings in force; the defaults in a line that has none and so does nothing.
    pub(super) fn settings(&self) -> &Settings {
        static DEFAULT: std::sync::LazyLock<Settings> = std::sync::LazyLock::new(Settings::default);
        self.config.as_ref().map_or(&DEFAULT, |config| &config.settings)
    }

    pub(super) fn pace(&self) -> Option<Pace> {
        self.settings().pace
    }

    /// Admitted: may enter, with a seat reserved.
    pub(super) fn admitted(&self) -> u64 {
        self.claimable + self.head.called.len() as u64
    }

    /// Seats that nobody holds, is admitted to, or is missing from.
    pub(super) fn free_seats(&self) -> u64 {
        if self.settings().mode.stops_nobody() {
            return u64::MAX;
        }
        let settings = self.settings();
        if !settings.slots.is_empty() && self.missing > 0 {
            return 0; // Whose names are theirs is not known.
        }
        let taken = self.sessions.inside() + self.admitted() + self.missing;
        settings.seats().map_or(u64::MAX, |seats| seats.saturating_sub(taken))
    }

    /// Whether such a number was ever given.
    pub(super) fn given(&self, number: Number) -> bool {
        (1..=self.issued).contains(&number)
    }

    /// Where a number stands: the table of the parent's documentation.
    pub fn standing(&self, number: Number) -> Standing {
        if !self.given(number) {
            return Standing::Unknown;
        }
        if self.sessions.seat(number).is_some() {
            return Standing::Active;
        }
        if let Some(why) = self.sessions.ending(number) {
            return match why {
                Ending::Completed => Standing::Completed,
                why => Standing::Expired(Reason::Ended(why)),
            };
        }
        if self.head.called.contains(number) {
            return Standing::Admitted;
        }
        if self.head.waits(number) {
            return Standing::Waiting;
        }
        if self.head.is_away(number) {
            return Standing::Away;
        }
        match () {
            () if number < self.base => Standing::Expired(Reason::Passed),
            () if self.used.get(number) => Standing::Expired(Reason::Used),
            () if number <= self.lapsed => Standing::Expired(Reason::Passed),
            () if !self.live.get(number) => Standing::Away,
            () if number <= self.released => Standing::Admitted,
            () => Standing::Waiting,
        }
    }

    /// Nodes heard of since a minute before the last sweep.
    fn nodes_heard(&self) -> u64 {
        let heard = |node: &&Node| node.heard_ms + NODE_SILENT_MS > self.swept.at_ms;
        self.nodes.values().filter(heard).count() as u64
    }

    /// The nodes heard of in the last hour.
    pub(super) fn heard(&self) -> Vec<Heard> {
        let heard = |(node, found): (&u128, &Node)| Heard {
            node: *node,
            ago_ms: self.clock_ms.saturating_sub(found.heard_ms),
            about: found.about.clone(),
        };
        self.nodes.iter().map(heard).collect()
    }

    /// The counters as they stand.
    pub fn counts(&self) -> Counts {
        let (turns_1m, turns_10m) = self.turns_ago();
        Counts {
            epoch: self.epoch,
            clock_ms: self.clock_ms,
            issued: self.issued,
            released: self.released,
            lapsed: self.lapsed,
            waiting: self.waiting,
            admitted: self.admitted(),
            inside: self.sessions.inside(),
            missing: self.missing,
            paused: self.paused,
            turns: self.totals.turns,
            turns_1m,
            turns_10m,
            turns_since_ms: self.opened_ms,
            entered: self.totals.entered,
            completed: self.totals.completed,
            no_shows: self.totals.no_shows,
            dropped: self.totals.dropped,
            last_entry_ms: self.totals.last_entry_ms,
            nodes: self.nodes_heard(),
            swept_by: self.swept.by,
            swept_ms: self.swept.at_ms,
            backlog: false,
            letters: self.outbox.len(),
            letters_lost: self.outbox.lost,
            shadow_waiting: self.shadow.map_or(0, |shadow| shadow.waiting),
            classed: self.head.classes.len() as u64,
            class_overflow: self.class_overflow,
            class_balance: self.class_balance,
            adapted: self.adapted(),
            draw: self.draws.version,
        }
    }

    /// Heap bytes of the bitmaps: what waiting visitors cost.
    pub fn bitmap_bytes(&self) -> usize {
        let seen = self.seen.iter().map(Bitmap::bytes).sum::<usize>();
        self.live.bytes() + self.used.bytes() + seen
    }

    fn reply(&mut self, batch: &Batch, taken: Taken, answers: Answers, budget: &Budget) -> Reply {
        debug_assert_eq!(self.check_invariants().map_err(|broken| broken.to_string()), Ok(()));
        // A line that settles knows less than the node.
        let update = match taken {
            Taken::Settling { .. } => Update::default(),
            _ => self.update(&batch.have, budget.swept),
        };
        Reply {
            wall_ms: self.wall_ms,
            run: self.run,
            taken,
            offered: answers.offered,
            leaves: answers.leaves,
            ends: answers.ends,
            spends: answers.spends,
            renewals: answers.renewals,
            returns: answers.returns,
            vouched: answers.vouched,
            claims: answers.claims,
            commands: answers.commands,
            joins: answers.joins,
            letters: Vec::new(),
            counts: Counts { backlog: budget.backlog, ..self.counts() },
            update,
        }
    }
}
