//! What goes into an exchange and what comes out: the shapes of [`crate::line::Line::apply`].
//!
//! Owns the vocabulary between a node and a line. Decides nothing. A line in Redis is asked with
//! the same shapes and must answer the same.
//!
//! ```text
//!   node ── Batch: who came, was seen, left, wants in, what this node knows ──► line
//!   node ◄─ Reply: what became of each, the counters, what is newer than the node has ── line
//! ```
//! Answers stand in the order of what was asked: `reply.claims[i]` is about `batch.claims[i]`.

mod order;

use serde::{Deserialize, Serialize};

pub use order::*;

use super::adaptive::Adapted;
use super::draw::{Draws, Lot};
use super::history::FIGURES;
use super::orders::Overrides;
use super::roster::is_name;
use super::session::MS_MAX;
use super::settings::{MAX_NAME, OutOfRange, Settings, Subject};
use super::view::Update;

/// A visitor's index in a room and epoch: from 1, handed out once, gaps allowed.
pub type Number = u64;

/// A device, address, user or idempotency key as a keyed hash: the line never sees the thing itself.
pub type Key = [u8; 16];

/// When, and on whose memory, an exchange happens. Comes from the store, never from a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// The store's wall clock. May jump either way; the line's own clock does not.
    pub wall_ms: u64,
    /// Which run of the store's memory this is, never 0. Another one than last time means that
    /// something may have been lost in between.
    pub run: u64,
}

/// Everything that happened on one node about one room since its last exchange.
///
/// Every number in it was read from a verified signature or given by an operator, and is of `epoch`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// The node, a UUID made at its start.
    pub node: u128,
    /// 1, 2, 3, …: the same again is a repetition of a batch whose answer was lost.
    pub sequence: u64,
    /// The epoch of every number below. If the line is in another one, they are [`Claimed::Stale`]
    /// and their like, and nothing is done about them.
    pub epoch: u64,
    /// What the node has seen of this room: heals a line that has lost something.
    pub known: Known,
    /// What the node has of the view, so that only what is newer is sent.
    pub have: Have,
    /// The node's settings: when it starts, after a reload, and whenever it is asked for.
    pub offer: Option<Offer>,
    /// Seen, ordinary visitors. Any number of them.
    pub marks: Vec<Number>,
    /// Seen, visitors in `express` or `called`.
    pub present: Vec<Number>,
    /// Gave up their place or their seat.
    pub leaves: Vec<Number>,
    /// Sessions ended by the origin or an operator.
    pub ends: Vec<End>,
    /// Passes in force that were used.
    pub renewals: Vec<Renewal>,
    /// Back, but passed over by the node's view.
    pub returns: Vec<Number>,
    /// Seen by this node while it was cut off from the store: to the head if they were passed over
    /// meanwhile, whatever `lapsed` says.
    pub vouched: Vec<Number>,
    /// Want in now.
    pub claims: Vec<Number>,
    /// From operators.
    pub commands: Vec<Order>,
    /// Newcomers, in the order of their arrival.
    pub joins: Vec<Join>,
    /// Passes in force that are good once, and are used up now.
    #[serde(default)]
    pub spends: Vec<Number>,
    /// What a letter says about whoever enters: who of `claims` and then of `joins`, counted from 0, and a JSON text.
    #[serde(default)]
    pub tags: Vec<(u32, String)>,
    /// Letters that were delivered, or given up.
    #[serde(default)]
    pub sent: Vec<u64>,
    /// How many letters this node would deliver now.
    #[serde(default)]
    pub wants: u32,
    /// What this node counted since its last batch, see [`FIGURES`]; empty is nothing.
    #[serde(default)]
    pub figures: Vec<u64>,
    /// What the node says about itself, as JSON: when it starts, and now and then.
    #[serde(default)]
    pub about: Option<String>,
    /// Whose last connection on this node has closed, in a room with slots.
    #[serde(default)]
    pub hangups: Vec<Number>,
    /// The last draw this node knows of, by its version: if the line knows of a later one, numbers below mean somebody else by
    /// now. They are [`Claimed::Stale`] and their like then, though of the line's epoch, and are to be said again.
    #[serde(default)]
    pub draw: u64,
    /// What this node brings to the next draw.
    #[serde(default)]
    pub lot: Option<Lot>,
}

/// The highest a node has seen, in its view or on any signature it verified.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Known {
    /// The epoch the rest is about.
    pub epoch: u64,
    /// The highest number issued.
    pub issued: Number,
    /// The highest place released.
    pub released: Number,
    /// The highest place whose claim window is over.
    pub lapsed: Number,
    /// Seats the view counted as taken: inside, admitted and missing.
    pub taken: u64,
    /// What the view holds, in [parts](Report::parts); asked for by [`Taken::Settling`], read only then.
    pub report: Option<Box<Report>>,
}

/// A node's view, brought to a line that lost its memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Numbers live at or below `known.released`, and used, from the view's `lapsed` on.
    pub live: Vec<(Number, Number)>,
    /// Numbers whose turn is used up, as inclusive ranges like `live`.
    pub used: Vec<(Number, Number)>,
    /// Waiting or away ahead of the ordinary line: number and place.
    pub express: Vec<(Number, Number)>,
    /// Released from `express`, not yet in.
    pub called: Vec<Number>,
    /// Sessions that are over.
    pub ended: Vec<(Number, Ending)>,
    /// Whether releases by rate are paused.
    pub paused: bool,
    /// What operators have set, and how often they have; with the first part.
    #[serde(default)]
    pub overrides: Overrides,
    /// The names of those who wait or are inside.
    #[serde(default)]
    pub names: Vec<(Number, String)>,
    /// Class visitors, waiting or away: number, and place · 16 + 9 − rank.
    #[serde(default)]
    pub classes: Vec<(Number, u64)>,
    /// What was drawn; with the first part.
    #[serde(default)]
    pub draws: Draws,
    /// This is a part, and there is another: the line is to wait for it.
    #[serde(default)]
    pub more: bool,
}

impl Report {
    /// What is in it but for ranges.
    pub fn items(&self) -> usize {
        let head = self.express.len() + self.called.len() + self.classes.len();
        head + self.ended.len() + self.names.len()
    }

    /// The same in parts that a batch may carry, one each: the ranges first and alone, since a long line's take as long as the most
    /// that a part may list; then whoever is at the head, names, and endings, of which there may be more than anybody waits for. In each
    /// round of parts another node begins with another one, so that together they have said all of it soonest.
    pub fn parts(&self, node: u128) -> Vec<Report> {
        let (live, used, paused) = (self.live.clone(), self.used.clone(), self.paused);
        let (overrides, draws) = (self.overrides.clone(), self.draws.clone());
        let ranges = Report { live, used, paused, overrides, draws, ..Report::default() };
        let part = |nth: usize| {
            let (mut skip, mut room) = (nth * MAX_REPORTED, MAX_REPORTED);
            Report {
                called: window(&self.called, &mut skip, &mut room),
                express: window(&self.express, &mut skip, &mut room),
                classes: window(&self.classes, &mut skip, &mut room),
                names: window(&self.names, &mut skip, &mut room),
                ended: window(&self.ended, &mut skip, &mut room),
                paused,
                more: true,
                ..Report::default()
            }
        };
        let mut parts: Vec<Report> = (0..self.items().div_ceil(MAX_REPORTED)).map(part).collect();
        for round in parts.chunks_mut(ROUND) {
            round.rotate_left((node % round.len() as u128) as usize);
        }
        parts.insert(0, Report { more: true, ..ranges });
        if let Some(last) = parts.last_mut() {
            last.more = false;
        }
        parts
    }
}

/// Parts of a report that nodes say each in an order of its own: as many as a few nodes get to say while a line settles, and
/// whatever is newer than they are comes in a round before.
const ROUND: usize = 16;

/// Up to `room` of a list, after `skip`; both are counted down for the next list.
fn window<T: Clone>(list: &[T], skip: &mut usize, room: &mut usize) -> Vec<T> {
    let start = list.len().min(*skip);
    let end = list.len().min(start + *room);
    *skip -= start;
    *room -= end - start;
    list[start..end].to_vec()
}

/// Versions of the parts of a view that are sent only when newer; zero is "nothing".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Have {
    /// The run of the store's memory these are about; of another one nothing counts.
    pub run: u64,
    /// Of the bitmaps.
    pub bits: u64,
    /// Of `express` and `called`.
    pub express: u64,
    /// The last ending received.
    pub ended: u64,
    /// Of the settings.
    pub settings: u64,
    /// Of the roster.
    #[serde(default)]
    pub roster: u64,
    /// Of what was drawn.
    #[serde(default)]
    pub draws: u64,
}

/// Settings from a node's file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Offer {
    /// `config_version`: an offer below the one in force is refused.
    pub version: u64,
    /// What the file says.
    pub settings: Settings,
}

/// A session to be ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// Whose.
    pub number: Number,
    /// Why.
    pub why: Ending,
}

/// Why a session is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The origin said the visitor is done.
    Completed,
    /// The visitor left.
    Left,
    /// An operator or the origin took the seat away.
    Revoked,
    /// No activity for `session_idle`: may be resumed within another one.
    Idle,
    /// `session_max` is over.
    Capped,
    /// The origin or an operator sent the visitor to the end of the line.
    Requeued,
}

/// A pass in force that was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Renewal {
    /// Whose.
    pub number: Number,
    /// When the pass says its visitor was admitted: lets a line that lost the seat take it back.
    pub admitted_ms: u64,
    /// The slot on the pass, counted from 1: it comes back with the seat. 0: none.
    #[serde(default)]
    pub slot: u64,
    /// By the origin's word: for one idle time more than activity is worth.
    #[serde(default)]
    pub extend: bool,
}

/// One arrival, or a run of them that need nothing but numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "a batch has 250 of them at most")]
pub enum Join {
    /// This many newcomers about whom nothing is to be remembered.
    Plain(u32),
    /// A newcomer who may come twice or too often.
    Keyed(Keyed),
}

impl Join {
    /// Whether it brings a name.
    pub(super) fn is_named(&self) -> bool {
        matches!(self, Join::Keyed(Keyed { name: Some(_), .. }))
    }

    /// Whether a key finds its number again.
    pub fn is_once(&self) -> bool {
        matches!(self, Join::Keyed(Keyed { once: Some(_), .. }))
    }
}

/// What is remembered and counted about a newcomer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keyed {
    /// The same `once` again is the same join: a device, or else an idempotency key.
    pub once: Option<Key>,
    /// Proof that a repeated join comes from the first one's client.
    pub idempotency: Option<Key>,
    /// Proof likewise: where the client is.
    pub proof: Option<Key>,
    /// The client's address: counted.
    pub address: Option<Key>,
    /// Counted.
    pub device: Option<Key>,
    /// Counted; and a repeated join proves nothing unless it has the first one's.
    pub user: Option<Key>,
    /// As whom the roster shows them.
    #[serde(default)]
    pub name: Option<String>,
    /// The class they are to be of: proven, or free to ask for.
    #[serde(default)]
    pub class: Option<String>,
    /// What proves it, if it can be used up.
    #[serde(default)]
    pub invite: Option<Invite>,
    /// The number it has, of which the line can't tell where it stands since it was drawn: the node knows that it is over.
    #[serde(default)]
    pub over: Option<Number>,
}

/// A signed invite that somebody came with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invite {
    /// Which.
    pub id: Key,
    /// How often it may be used; 0: any number of times.
    pub uses: u32,
    /// Until when it is good, by the wall clock.
    pub until_ms: u64,
}

/// What became of somebody who asked for a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Classed {
    /// Of it, with a place of their own.
    Placed {
        /// Where.
        place: Number,
        /// Among those at the same place, or at all.
        rank: u64,
    },
    /// Of it, and it skips nothing: in the ordinary line.
    Ordinary,
    /// Not of it: in the ordinary line.
    Not(NotClassed),
}

/// Why somebody is not of the class they asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotClassed {
    /// There is no such class, or no more.
    Unknown,
    /// As many are at the head of the line as it holds, or as many invites are remembered.
    Crowded,
    /// The invite was used as often as it may be.
    Spent,
    /// The invite was revoked.
    Revoked,
    /// The invite's time is over, or longer than any invite's can be.
    Expired,
}

/// What the line made of a batch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The store's wall clock.
    pub wall_ms: u64,
    /// The run of the store's memory.
    pub run: u64,
    /// Whether the batch was applied. If not, the lists below are empty.
    pub taken: Taken,
    /// To `batch.offer`.
    pub offered: Option<Offered>,
    /// To `batch.leaves`.
    pub leaves: Vec<Done>,
    /// To `batch.ends`.
    pub ends: Vec<Done>,
    /// To `batch.spends`.
    pub spends: Vec<Done>,
    /// To `batch.renewals`.
    pub renewals: Vec<Claimed>,
    /// To `batch.returns`.
    pub returns: Vec<Claimed>,
    /// To `batch.vouched`.
    pub vouched: Vec<Claimed>,
    /// To `batch.claims`.
    pub claims: Vec<Claimed>,
    /// To `batch.commands`.
    pub commands: Vec<Commanded>,
    /// To `batch.joins`.
    pub joins: Vec<Joined>,
    /// Letters for this node to deliver: theirs for [`LEASE_MS`], then anybody's again.
    pub letters: Vec<Letter>,
    /// The counters, always.
    pub counts: Counts,
    /// What is newer than `batch.have`.
    pub update: Update,
}

/// Whether a batch was applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Taken {
    /// Now.
    #[default]
    Applied,
    /// Before: these are the answers it got then.
    Repeated,
    /// Never: a later one of this node was applied already.
    Superseded,
    /// Not yet, or not known: the line is collecting what the nodes know. Send it again, with a report
    /// and an offer, under the same sequence: if it was applied before the loss, it is not applied again.
    Settling {
        /// How long at least.
        left_ms: u64,
    },
    /// Not yet: nobody has offered settings. Send it again with an offer, under the same sequence.
    Unconfigured,
}

/// What became of an offer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Offered {
    /// In force.
    Taken,
    /// Refused: this version is in force.
    Older(u64),
    /// Refused whole.
    Invalid(Vec<OutOfRange>),
}

/// What became of a leave, an end or a spend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Done {
    /// The place or the seat is free; the pass is spent.
    Freed,
    /// There was nothing to free any more; the pass was spent before.
    Already,
    /// Such a number was never given.
    Unknown,
    /// Of another epoch.
    Stale,
}

/// What became of a claim, a return or a renewal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Claimed {
    /// Inside, on these terms, from now on or already.
    Inside(Terms),
    /// In the line; counted as seen.
    Waiting,
    /// Admitted, may come in: said of returns, which do not enter by themselves.
    Admitted,
    /// The turn is over.
    Over(Reason),
    /// Such a number was never given.
    Unknown,
    /// Of another epoch.
    Stale,
    /// Passed over, and back, but the head of the line is full: whoever saw them in time is to vouch for them until there is room.
    Away,
}

/// The times of a pass, and its slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// When the visitor entered.
    pub admitted_ms: u64,
    /// When the pass was last renewed.
    pub issued_ms: u64,
    /// Until when it is good.
    pub expires_ms: u64,
    /// Which of [`Settings::slots`] it is, counted from 1; 0: none.
    #[serde(default)]
    pub slot: u64,
}

/// Why a number can do nothing any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The turn came and went.
    Passed,
    /// The turn was used, or the place given up.
    Used,
    /// The session ended so.
    Ended(Ending),
}

/// Where a number stands. Every number is in exactly one of these states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Standing {
    /// Never given.
    Unknown,
    /// In the line and here.
    Waiting,
    /// In the line, skipped while not here; passed over but still in time to return to the head.
    Away,
    /// May enter: a seat is reserved.
    Admitted,
    /// Inside.
    Active,
    /// Done, by the origin's word.
    Completed,
    /// Over.
    Expired(Reason),
}

/// Something that happened and that somebody wants to be told of, by whichever node takes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Letter {
    /// 1, 2, 3, … in a room, across epochs.
    pub serial: u64,
    /// When it happened, by the store's wall clock.
    pub at_ms: u64,
    /// What, as a JSON text.
    pub text: String,
}

/// What became of a join.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Joined {
    /// Numbers were given. Fewer than asked for: the line was full for the rest.
    Given {
        /// Of this epoch: a repeated batch may be answered after a reset.
        epoch: u64,
        /// The first of them.
        first: Number,
        /// How many.
        count: u32,
        /// The first so many of them are inside already, on these terms.
        entered: u32,
        /// When.
        joined_ms: u64,
        /// The terms of those who entered.
        terms: Option<Terms>,
        /// What became of the class that was asked for, if one was.
        #[serde(default)]
        class: Option<Classed>,
    },
    /// This key has a number, and it is not over.
    Already {
        /// Of this epoch.
        epoch: u64,
        /// The number.
        number: Number,
        /// When it was given.
        joined_ms: u64,
        /// The caller has shown to be the first join's client, and joins as the same user.
        proven: bool,
        /// Where it stands.
        standing: Standing,
        /// Its class, by its index in the settings in force; `None`: of none, or of one that is no more.
        #[serde(default)]
        class: Option<u32>,
    },
    /// No number.
    Refused(Refusal),
}

impl Joined {
    /// How many numbers were given.
    pub fn given(&self) -> u32 {
        match self {
            Joined::Given { count, .. } => *count,
            Joined::Already { .. } | Joined::Refused(_) => 0,
        }
    }
}

/// Why a newcomer got no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refusal {
    /// `max_waiting` are waiting.
    Full,
    /// The mode takes nobody new.
    Closed,
    /// Too many joins.
    Limited {
        /// Of this.
        subject: Subject,
        /// The next one is taken after so long.
        retry_ms: u64,
    },
    /// Somebody who waits or is inside has this name.
    NameTaken,
}

/// The counters of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// The generation.
    pub epoch: u64,
    /// The room's own clock.
    pub clock_ms: u64,
    /// The highest number given.
    pub issued: Number,
    /// The frontier: the highest place released.
    pub released: Number,
    /// Claim windows are over up to here.
    pub lapsed: Number,
    /// Here and waiting.
    pub waiting: u64,
    /// Released, here, not yet in.
    pub admitted: u64,
    /// Inside.
    pub inside: u64,
    /// Seats taken by visitors the line has lost sight of.
    pub missing: u64,
    /// Releases by rate are paused.
    pub paused: bool,
    /// Turns given in this epoch, in all and up to a minute and ten minutes ago: the honest rate.
    pub turns: u64,
    /// See `turns`.
    pub turns_1m: u64,
    /// See `turns`.
    pub turns_10m: u64,
    /// How far back the ten minutes reach in a young line.
    pub turns_since_ms: u64,
    /// Entered, in this epoch.
    pub entered: u64,
    /// Completed, in this epoch.
    pub completed: u64,
    /// Admitted, but did not come.
    pub no_shows: u64,
    /// Gone from the line by silence; whoever returns is counted again.
    pub dropped: u64,
    /// When somebody last entered.
    pub last_entry_ms: u64,
    /// Nodes heard of within a minute of the last sweep, or since.
    pub nodes: u64,
    /// The node that did the last sweep, and when on the room's clock; 0 and 0 before the first.
    pub swept_by: u128,
    /// See `swept_by`.
    pub swept_ms: u64,
    /// There was more to be done than one exchange does: ask again soon.
    pub backlog: bool,
    /// Letters that wait to be delivered, or are under way.
    #[serde(default)]
    pub letters: u64,
    /// Letters that were thrown away because too many waited.
    #[serde(default)]
    pub letters_lost: u64,
    /// Who would wait, in mode shadow.
    #[serde(default)]
    pub shadow_waiting: u64,
    /// Of those who wait, class visitors.
    #[serde(default)]
    pub classed: u64,
    /// Class joins that got an ordinary place for want of room, in this epoch.
    #[serde(default)]
    pub class_overflow: u64,
    /// Thousandths of a turn that class visitors have saved by `class_share`.
    #[serde(default)]
    pub class_balance: u64,
    /// The rate in force and its reasons, where it follows the origin.
    #[serde(default)]
    pub adapted: Option<Adapted>,
    /// The last draw's version.
    #[serde(default)]
    pub draw: u64,
}

/// A batch that can't be applied at all. The line is untouched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum BadBatch {
    /// Too many items that need a step of their own.
    #[error(
        "a batch carries {0} single items, at most {MAX_ITEMS} are allowed: send the rest in the next one"
    )]
    TooManyItems(usize),
    /// Too many commands.
    #[error(
        "a batch carries {0} commands, at most {MAX_COMMANDS} are allowed: send the rest in the next one"
    )]
    TooManyCommands(usize),
    /// Releases that would name too many.
    #[error(
        "releases of a batch may name {0} visitors, at most {MAX_NAMED} are allowed: send the rest in the next one"
    )]
    TooManyNamed(usize),
    /// Too long a report.
    #[error(
        "a report carries {0} single items, at most {MAX_REPORTED} are allowed: send it in parts"
    )]
    TooLongReport(usize),
    /// Too many marks or plain joins.
    #[error(
        "a batch carries {0} marks or joins, at most {MAX_BULK} are allowed: send the rest in the next one"
    )]
    TooManyBulk(u64),
    /// A setting that no line could have.
    #[error("{name} can't be set so: {why}")]
    BadChange {
        /// Which.
        name: String,
        /// Why not.
        why: String,
    },
    /// Texts that are too long, or figures that are none.
    #[error("a batch's {0} are more, or longer, than a line keeps")]
    TooLong(&'static str),
    /// No sequence, or one that no node gets to.
    #[error("a batch's sequence starts at 1 and counts up by one")]
    NoSequence,
    /// A store without a run id.
    #[error("a store's run id is never 0")]
    NoRun,
}

/// Items that cost the store a step of their own: so many take Redis 5 ms, see `budget`.
pub const MAX_ITEMS: usize = 250;
/// Commands among them: one may cost as much as ten others.
pub const MAX_COMMANDS: usize = 10;
/// What a report may carry but for ranges: while a line settles, an exchange does nothing else.
pub const MAX_REPORTED: usize = 2 * MAX_ITEMS;
/// Endings that one reply tells: they cost little, and however many nodes end sessions, each must hear of all.
pub const MAX_TOLD: usize = 1_000;
/// Marks that take a store no longer one by one (2 µs each) than as the bits of a line of ten million (2 ms with their way there).
/// Up to so many a batch costs the same in a line of any length; more are sent as bits, which cost by the length.
pub const MARKS_LISTED: usize = 1_000;
/// Marks and plain joins cost a bit each.
pub const MAX_BULK: u64 = 1_000_000;
/// Whom a release by hand names in its answer, and all those of a batch together: each is looked for by itself.
pub const MAX_NAMED: usize = 1_000;
/// Bytes of a text that is kept as it comes: a note, a setting, a tag, what a node says of itself.
pub const MAX_TEXT: usize = 2_048;
/// Letters that one reply hands out.
pub const MAX_LETTERS: u32 = 50;
/// For so long a letter is the node's that took it: longer than three tries with their pauses take.
pub const LEASE_MS: u64 = 60_000;
/// Whole numbers up to here are exact where a line is kept in Lua, too.
pub(crate) const EXACT: u64 = 1 << 53;

impl Batch {
    /// How much in it costs the store a step of its own.
    pub fn items(&self) -> usize {
        let keyed = self.joins.iter().filter(|join| matches!(join, Join::Keyed(_))).count();
        let lists = [&self.present, &self.leaves, &self.returns, &self.vouched, &self.claims];
        let numbers: usize = lists.iter().map(|list| list.len()).sum();
        let others = self.ends.len() + self.spends.len() + self.renewals.len();
        numbers + keyed + self.commands.len() + others + self.sent.len() + self.hangups.len()
    }

    /// What a letter says about one of the claims, or of the joins after them.
    pub(super) fn tag(&self, nth: usize) -> Option<&str> {
        self.tags.iter().find(|(whose, _)| *whose as usize == nth).map(|(_, tag)| tag.as_str())
    }

    /// Whether this batch may be applied.
    pub fn check(&self) -> Result<(), BadBatch> {
        if self.sequence == 0 || self.sequence >= EXACT {
            return Err(BadBatch::NoSequence);
        }
        let reported = self.known.report.as_ref().map_or(0, |report| report.items());
        if reported > MAX_REPORTED {
            return Err(BadBatch::TooLongReport(reported));
        }
        let items = self.items();
        if items > MAX_ITEMS || self.joins.len() > MAX_ITEMS {
            return Err(BadBatch::TooManyItems(items.max(self.joins.len())));
        }
        if self.commands.len() > MAX_COMMANDS {
            return Err(BadBatch::TooManyCommands(self.commands.len()));
        }
        let named = self.commands.iter().map(|order| order.command.names()).sum();
        if named > MAX_NAMED {
            return Err(BadBatch::TooManyNamed(named));
        }
        let plain = |join: &Join| match join {
            Join::Plain(count) => u64::from(*count),
            Join::Keyed(_) => 0,
        };
        let plain = self.joins.iter().map(plain).sum::<u64>();
        if plain > MAX_BULK || self.marks.len() as u64 > MAX_BULK {
            return Err(BadBatch::TooManyBulk(plain.max(self.marks.len() as u64)));
        }
        self.check_texts()?;
        self.check_classes()?;
        self.commands.iter().try_for_each(|order| order.command.check())
    }

    fn check_classes(&self) -> Result<(), BadBatch> {
        let keyed = self.joins.iter().filter_map(|join| match join {
            Join::Keyed(keyed) => Some(keyed),
            Join::Plain(_) => None,
        });
        let good = |keyed: &Keyed| {
            let named = keyed.class.as_ref().is_none_or(|name| name.len() as u64 <= MAX_NAME);
            named && keyed.invite.is_none_or(|invite| invite.until_ms <= MS_MAX)
        };
        if keyed.into_iter().all(good) { Ok(()) } else { Err(BadBatch::TooLong("classes")) }
    }

    fn check_texts(&self) -> Result<(), BadBatch> {
        let long = |text: &str| text.len() > MAX_TEXT;
        let hold = |what, holds| if holds { Ok(()) } else { Err(BadBatch::TooLong(what)) };
        hold("notes", !self.commands.iter().any(|order| long(&order.note)))?;
        let tags = self.tags.len() <= MAX_ITEMS && !self.tags.iter().any(|(_, tag)| long(tag));
        hold("tags", tags)?;
        hold("words about itself", !self.about.as_deref().is_some_and(long))?;
        let unfit = |join: &Join| match join {
            Join::Keyed(Keyed { name: Some(name), .. }) => !is_name(name),
            _ => false,
        };
        let reported = self.known.report.iter().flat_map(|report| &report.names);
        let names =
            !self.joins.iter().any(unfit) && reported.clone().all(|(_, name)| is_name(name));
        hold("names", names)?;
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._~-".contains(&byte);
        let named = |kid: &str| (1..=64).contains(&kid.len()) && kid.bytes().all(plain);
        hold("lots", self.lot.as_ref().is_none_or(|lot| named(&lot.kid) && lot.opens_ms < EXACT))?;
        let few = self.figures.iter().all(|figure| *figure < EXACT / 4_096);
        hold("figures", self.figures.is_empty() || self.figures.len() == FIGURES && few)
    }
}
