//! A node's copy of a line: positions and standings from memory, without asking the store.
//!
//! Owns what a page may say between two exchanges. Decides nothing: whether a turn has come, only
//! the line says. Immutable once built and swapped whole, so any number of requests read it without
//! a lock. Positions are exact as of the last sweep; who joined since counts as here.

mod drawn;
mod queue;
mod steps;
pub(super) mod turns;

use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use super::batch::{
    Batch, Change, Classed, Counts, Ending, Have, Joined, Known, Number, Reason, Reply, Report,
    Standing, Taken,
};
use super::class;
use super::draw::Draws;
use super::endings::Endings;
use super::estimate::{self, Eta, Outlook};
use super::orders::Overrides;
use super::schedule::Phase;
use super::settings::{ClassOrder, Mode, OutOfRange, Settings};
use super::state::Line;
use course::Course;
pub use drawn::Drawn;
use sights::Sights;
use steps::Steps;
use turns::{Before, DEPTHS, Index, Turns};

pub(super) mod course;
mod sights;

/// What is newer than a node has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Update {
    /// Sent after a sweep and whatever else moved many bits at once.
    pub bits: Option<BitsUpdate>,
    /// Sent at most once a second.
    pub express: Option<ExpressUpdate>,
    /// Endings since the last one the node has, oldest first, at most 1,000: serial, number, why.
    pub ended: Vec<(u64, Number, Ending)>,
    /// What is set.
    pub settings: Option<InForce>,
    /// Sent at most twice a second.
    #[serde(default)]
    pub roster: Option<RosterUpdate>,
    /// What was drawn.
    #[serde(default)]
    pub draws: Option<Draws>,
}

/// Who is called what.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RosterUpdate {
    /// Of this list.
    pub version: u64,
    /// By number. Who of them neither waits nor is inside any more may be among them.
    pub names: Vec<Named>,
}

impl RosterUpdate {
    /// Somebody by their number.
    pub fn find(&self, number: Number) -> Option<&Named> {
        let found = self.names.binary_search_by_key(&number, |one| one.number).ok()?;
        Some(&self.names[found])
    }

    /// What somebody is called.
    pub fn name_of(&self, number: Number) -> Option<&str> {
        self.find(number).map(|one| one.name.as_str())
    }
}

/// Somebody with a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named {
    /// Who.
    pub number: Number,
    /// In a seat.
    pub inside: bool,
    /// That seat's slot, counted from 1; 0: none.
    pub slot: u64,
    /// As they wrote it.
    pub name: String,
}

/// What is set, by files and by operators.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InForce {
    /// Counts changes of either.
    pub serial: u64,
    /// As the nodes' files say.
    pub file: Settings,
    /// What operators have set instead.
    pub overrides: Overrides,
}

/// The bitmaps from `lapsed` on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BitsUpdate {
    /// Of these bits.
    pub version: u64,
    /// The place of bit 0, a multiple of 64.
    pub from: Number,
    /// The highest place these bits know of.
    pub upto: Number,
    /// Here.
    pub live: Vec<u64>,
    /// Turn used up.
    pub used: Vec<u64>,
}

/// The head of the line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExpressUpdate {
    /// Of these lists.
    pub version: u64,
    /// Waiting: place and number, in order.
    pub waiting: Vec<(Number, Number)>,
    /// Away: place and number, in order.
    pub strayed: Vec<(Number, Number)>,
    /// Released, by number.
    pub called: Vec<Number>,
    /// Class visitors who wait: score and number, in their order.
    #[serde(default)]
    pub classes: Vec<(u64, Number)>,
    /// Class visitors who are away: place · 16 + 9 − rank, and number, in order.
    #[serde(default)]
    pub classes_away: Vec<(u64, Number)>,
}

/// A node's copy of a line.
#[derive(Clone, Debug, Default)]
pub struct View {
    run: u64,
    counts: Counts,
    bits: Arc<Bits>,
    head: Arc<Head>,
    ended: Endings,
    ended_serial: u64,
    settings: Option<Arc<Rules>>,
    /// There are newer ones.
    bits_due: bool,
    /// Who was here by these bits and has left since, in order: the bits are as old as the last sweep.
    left: Arc<Vec<Number>>,
    /// Whom this node vouches for, in order: passed over, and on their way to the head.
    held: Arc<Vec<Number>>,
    /// When the frontier came where it is.
    sights: Arc<Sights>,
    roster: Arc<RosterUpdate>,
    /// Numbers above what the bits know of that are no ordinary visitors', in order.
    taken: Arc<Vec<Number>>,
    /// When class visitors have their turns, found when somebody asks.
    turns: OnceLock<Arc<Turns>>,
    /// Who is drawn to which place.
    drawn: Arc<Drawn>,
    /// The store's wall clock when it last answered.
    wall_ms: u64,
    /// How the line went lately.
    course: Course,
    /// What follows from that for those who wait, found when somebody asks.
    outlook: OnceLock<Outlook>,
}

/// What is set, and what is in force by it.
#[derive(Clone, Debug)]
struct Rules {
    told: InForce,
    settings: Settings,
}

impl Rules {
    fn new(told: InForce) -> Rules {
        Rules { settings: told.file.with(&told.overrides), told }
    }
}

/// The bitmaps, with the number of live places before every eighth word.
#[derive(Clone, Debug, Default)]
struct Bits {
    map: BitsUpdate,
    before: Vec<u32>,
}

/// The head of the line, found by number too.
#[derive(Clone, Debug, Default)]
struct Head {
    lists: ExpressUpdate,
    /// Number, spot and standing, by number.
    members: Vec<(Number, Spot, Standing)>,
    /// Their numbers.
    numbers: Steps,
    /// Where class visitors stand.
    index: Index,
}

/// What a view was before an exchange, as far as how the line goes is learnt from it.
struct Past {
    counts: Counts,
    rules: Option<Arc<Rules>>,
    /// Turns came as they are set.
    runs: bool,
    /// Where there are classes.
    before: Option<Before>,
}

/// Where somebody of the head stands.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Spot {
    /// A late returner, at a place.
    Late(Number),
    /// Of a class, the so-manieth of them, from 0.
    Classed(usize),
    /// Of a class and away, with place and rank in one: see `class`.
    ClassedAway(u64),
    /// Their turn has come.
    Called,
}

/// Who left since the last sweep, at most: 80 KB. Beyond it, the next sweep tells.
const MAX_LEFT: usize = 10_000;

/// Words between two counts: 512 places are one or two cache lines to count through, and the counts
/// of ten million places are 78 KB.
const STRIDE: usize = 8;

impl Bits {
    fn new(map: BitsUpdate) -> Bits {
        let mut total = 0;
        let before = map.live.chunks(STRIDE).map(|words| {
            let before = total;
            total += words.iter().map(|word| word.count_ones()).sum::<u32>();
            before
        });
        let mut before = before.collect::<Vec<_>>();
        before.push(total);
        before.shrink_to_fit();
        Bits { map, before }
    }

    /// Live places at or below `place`; above what the bits know of, everybody counts.
    fn live_upto(&self, place: Number) -> u64 {
        let known = place.min(self.map.upto);
        let beyond = place - known;
        let Some(index) = (known + 1).checked_sub(self.map.from) else {
            return 0;
        };
        let word = (index / 64) as usize;
        let start = word / STRIDE * STRIDE;
        let Some(before) = self.before.get(word / STRIDE) else {
            return beyond;
        };
        let mut count = u64::from(*before);
        let words = &self.map.live;
        count += words[start.min(words.len())..word.min(words.len())]
            .iter()
            .map(|word| u64::from(word.count_ones()))
            .sum::<u64>();
        let rest = words.get(word).map_or(0, |bits| bits & !(u64::MAX << (index % 64)));
        count + u64::from(rest.count_ones()) + beyond
    }

    fn get(words: &[u64], from: Number, place: Number) -> bool {
        let Some(index) = place.checked_sub(from) else {
            return false;
        };
        words.get((index / 64) as usize).is_some_and(|word| word >> (index % 64) & 1 == 1)
    }
}

impl Head {
    /// Of lists in this order.
    fn new(lists: ExpressUpdate, order: ClassOrder) -> Head {
        let late = |standing| {
            move |(place, number): &(Number, Number)| (*number, Spot::Late(*place), standing)
        };
        let waiting = lists.waiting.iter().map(late(Standing::Waiting));
        let strayed = lists.strayed.iter().map(late(Standing::Away));
        let classes = (0..).zip(&lists.classes);
        let classes =
            classes.map(|(nth, (_, number))| (*number, Spot::Classed(nth), Standing::Waiting));
        let away = lists.classes_away.iter().map(|(standpoint, number)| {
            (*number, Spot::ClassedAway(class::unscored(*standpoint)), Standing::Away)
        });
        let called = lists.called.iter().map(|number| (*number, Spot::Called, Standing::Admitted));
        let members = waiting.chain(strayed).chain(classes).chain(away).chain(called);
        let mut members: Vec<_> = members.collect();
        members.sort_unstable_by_key(|(number, ..)| *number);
        let numbers = Steps::of(&members, |(number, ..)| *number);
        let index = Index::of(&lists.classes, order);
        Head { lists, members, numbers, index }
    }

    /// Spot and standing of a number, if it is of the head.
    fn find(&self, number: Number) -> Option<(Spot, Standing)> {
        let upto = self.numbers.upto(&self.members, |(number, ..)| *number, number);
        let (found, spot, standing) = *self.members.get(upto.checked_sub(1)?)?;
        (found == number).then_some((spot, standing))
    }

    /// With newcomers of classes in it: their numbers, and place and rank in one.
    fn with(&self, newcomers: &[(Number, u64)], order: ClassOrder) -> Head {
        let mut lists = self.lists.clone();
        for (number, standpoint) in newcomers {
            let one = (class::score(*standpoint, order), *number);
            if let Err(at) = lists.classes.binary_search(&one) {
                lists.classes.insert(at, one);
            }
        }
        Head::new(lists, order)
    }

    /// With its class visitors in this order.
    fn reordered(&self, order: ClassOrder) -> Head {
        let mut lists = self.lists.clone();
        for (score, _) in &mut lists.classes {
            *score = class::score(class::unscored(*score), order);
        }
        lists.classes.sort_unstable();
        Head::new(lists, order)
    }

    /// Number, and place and rank in one, of class visitors who wait or are away.
    fn classed(&self) -> impl Iterator<Item = (Number, u64)> + '_ {
        let lists = self.lists.classes.iter().chain(&self.lists.classes_away);
        lists.map(|(score, number)| (*number, class::unscored(*score)))
    }

    /// Number and place of whoever is waiting or away.
    fn express(&self) -> impl Iterator<Item = (Number, Number)> + '_ {
        let lists = &self.lists;
        lists.waiting.iter().chain(&lists.strayed).map(|(place, number)| (*number, *place))
    }

    /// How many late returners wait here before (place, number).
    fn before(&self, place: Number, number: Number) -> u64 {
        self.lists.waiting.partition_point(|other| *other < (place, number)) as u64
    }
}

impl View {
    /// What is known before the first exchange: the settings this node is about to offer.
    pub fn expecting(settings: Settings) -> View {
        let told = InForce { serial: 0, file: settings, overrides: Overrides::default() };
        View { settings: Some(Arc::new(Rules::new(told))), ..View::default() }
    }

    /// This view with a reply's news in it. What the reply does not bring is shared, not copied.
    pub fn absorb(&mut self, reply: &Reply) {
        // A line that settles knows less than this node, and is about to ask for it.
        if matches!(reply.taken, Taken::Settling { .. }) {
            return;
        }
        let (first, last) = (self.run != reply.run, self.counts);
        if first {
            // A store that has lost its memory goes on as before, but its counters begin anew.
            let course = std::mem::take(&mut self.course);
            *self = View { run: reply.run, course, ..View::default() };
        }
        let past = self.past(reply.counts.released);
        if self.counts.epoch != reply.counts.epoch {
            self.ended = Endings::default();
            self.left = Arc::default();
            self.taken = Arc::default();
        }
        (self.turns, self.outlook) = (OnceLock::new(), OnceLock::new());
        (self.counts, self.wall_ms) = (reply.counts, reply.wall_ms);
        // What the line did before somebody changed how long it remembers, it did by what was before.
        let session_ms = |view: &View| view.settings().map_or(0, Settings::session_ms);
        let before_ms = session_ms(self);
        let Update { bits, express, ended, settings, roster, draws } = &reply.update;
        if let Some(draws) = draws {
            self.drawn = Arc::new(Drawn::new(draws.clone()));
        }
        // An exchange that sweeps leaves the bits to the next one.
        self.bits_due = bits.is_none() && reply.counts.swept_ms == reply.counts.clock_ms;
        if let Some(bits) = bits {
            self.bits = Arc::new(Bits::new(bits.clone()));
            self.left = Arc::default();
            self.taken = Arc::default();
        }
        if let Some(roster) = roster {
            self.roster = Arc::new(roster.clone());
        }
        let before = self.order();
        if let Some(settings) = settings {
            self.settings = Some(Arc::new(Rules::new(settings.clone())));
        }
        let order = self.order();
        if order != before {
            self.head = Arc::new(self.head.reordered(order));
        }
        if let Some(express) = express {
            self.head = Arc::new(Head::new(express.clone(), order));
            let called = express.called.iter().copied();
            let classed = self.head.classed().map(|(number, _)| number).collect::<Vec<_>>();
            self.take(called.chain(classed));
        } else if reply.taken == Taken::Applied {
            self.welcome(&reply.joins);
        }
        let released = self.counts.released;
        if first || last.epoch != self.counts.epoch {
            self.sights = Arc::new(Sights::from(released));
        } else if released > last.released {
            let window_ms = self.settings().map_or(0, Settings::claim_window_ms);
            Arc::make_mut(&mut self.sights).advance(released, last.clock_ms, window_ms);
        }
        if let Some((last, ..)) = ended.last() {
            for (_, number, why) in ended {
                // Out of the line by somebody's word: the bits tell of it with the next sweep only.
                if matches!(why, Ending::Left | Ending::Revoked | Ending::Requeued) {
                    self.leave(*number);
                }
            }
            let keep_ms = 2 * session_ms(self).max(before_ms);
            let news = ended.iter().map(|(_, number, why)| (*number, *why));
            self.ended.add(news, self.counts.clock_ms, keep_ms);
            self.ended_serial = *last;
        }
        if last.epoch != self.counts.epoch {
            self.course = Course::begin();
        } else if !first {
            self.look_back(&past);
        }
    }

    /// What an exchange that brings the frontier here is compared with.
    fn past(&self, released: Number) -> Past {
        Past {
            counts: self.counts,
            rules: self.settings.clone(),
            runs: self.runs(),
            before: self.has_classes().then(|| self.before(released)),
        }
    }

    /// How the line went since then.
    fn look_back(&mut self, past: &Past) {
        let turns = self.counts.turns.saturating_sub(past.counts.turns);
        let overtook = (past.runs && self.runs()).then(|| match &past.before {
            Some(before) => self.overtook(before, turns),
            None => [0.0; DEPTHS],
        });
        let settings = past.rules.as_deref().map(|rules| &rules.settings);
        self.course.advance(&past.counts, &self.counts, settings, overtook);
    }

    /// Whether turns come as they are set: what comes of them then says what will.
    fn runs(&self) -> bool {
        let freely = self.settings().is_some_and(|settings| settings.mode.stops_nobody());
        !(freely || self.is_paused() || estimate::is_unknown(&self.counts, self.settings()))
    }

    /// Somebody left, by this node's own word: nobody is to be told otherwise until the next sweep. By the line's number.
    pub fn leave(&mut self, number: Number) {
        let express = self.head.find(number).is_some();
        let here = self.standing_of(number) == Standing::Waiting && !express;
        if here && self.left.len() < MAX_LEFT {
            let mut left = Vec::clone(&self.left);
            let at = left.partition_point(|other| *other < number);
            left.insert(at, number);
            self.left = Arc::new(left);
            self.turns = OnceLock::new();
        }
    }

    /// This node vouches for these, in order: they wait, until the head of the line says where. By the line's number.
    pub fn hold(&mut self, numbers: &Arc<Vec<Number>>) {
        self.held = numbers.clone();
    }

    /// Whether the bits are those of the last sweep.
    pub fn is_current(&self) -> bool {
        !self.bits_due
    }

    /// These newcomers of classes are known here before the next list of the head.
    fn welcome(&mut self, joins: &[Joined]) {
        let mut newcomers = Vec::new();
        for joined in joins {
            if let Joined::Given { epoch, first, entered, class, .. } = joined
                && let Some(Classed::Placed { place, rank }) = class
                && *epoch == self.counts.epoch
            {
                self.take(std::iter::once(*first));
                if *entered == 0 {
                    newcomers.push((*first, class::standpoint(*place, *rank)));
                }
            }
        }
        if !newcomers.is_empty() {
            let order = self.order();
            self.head = Arc::new(self.head.with(&newcomers, order));
        }
    }

    /// Notes numbers that are no ordinary visitors' and that the bits do not know of.
    fn take(&mut self, numbers: impl Iterator<Item = Number>) {
        let upto = self.bits.map.upto;
        let new: Vec<Number> = numbers
            .filter(|number| *number > upto && self.taken.binary_search(number).is_err())
            .collect();
        if !new.is_empty() {
            let mut taken = [&self.taken[..], &new].concat();
            taken.sort_unstable();
            taken.dedup();
            self.taken = Arc::new(taken);
        }
    }

    /// The counters.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The settings in force, once an exchange has brought them; before that, those this node offers.
    pub fn settings(&self) -> Option<&Settings> {
        self.settings.as_deref().map(|rules| &rules.settings)
    }

    /// What would be out of range with these changes, that is not so now.
    pub fn problems_with(&self, changes: &[Change]) -> Vec<OutOfRange> {
        self.settings.as_deref().map_or_else(Vec::new, |rules| rules.told.problems_with(changes))
    }

    /// What operators have set instead of the file's.
    pub fn overrides(&self) -> Option<&Overrides> {
        self.settings.as_deref().map(|rules| &rules.told.overrides)
    }

    /// Whether nobody is let in for the moment but by hand: a time would be a promise nobody keeps.
    pub fn is_paused(&self) -> bool {
        let mode = self.settings().map(|settings| settings.mode);
        let shut = !matches!(self.phase(self.wall_ms), Phase::Open { .. });
        self.counts.paused || shut || matches!(mode, Some(Mode::Hold | Mode::Closed))
    }

    /// How many wait.
    pub fn waiting(&self) -> u64 {
        self.counts.waiting
    }

    /// Where a waiting or away visitor stands: 1 is next. `None` if the number does not wait.
    pub fn position(&self, number: Number) -> Option<u64> {
        let number = self.number(number);
        // Nearly everybody: here by the bits, and so nowhere else.
        if self.is_plainly_here(number) {
            return Some(self.head.lists.waiting.len() as u64 + self.before_ordinary(number) + 1);
        }
        let found = self.head.find(number);
        if !matches!(self.standing_at(number, found), Standing::Waiting | Standing::Away) {
            return None;
        }
        let (released, late) = (self.counts.released, self.head.lists.waiting.len() as u64);
        Some(match found.map(|(spot, _)| spot) {
            Some(Spot::Late(place)) => self.head.before(place, number) + 1,
            Some(Spot::Classed(nth)) => late + nth as u64 + self.ordinary_before(nth) + 1,
            Some(Spot::ClassedAway(standpoint)) => {
                late + self.before_classed(standpoint, number) + 1
            }
            Some(Spot::Called) => return None,
            None if number > released => late + self.before_ordinary(number) + 1,
            // Whoever was passed over would come back at the frontier, behind those who are on their way there.
            None => {
                let held = self.held.partition_point(|other| *other < number) as u64;
                self.head.before(released, number) + held + 1
            }
        })
    }

    /// Whether the bits alone say that somebody waits: whoever is live is not of the head, inside or gone, unless they left
    /// since.
    fn is_plainly_here(&self, number: Number) -> bool {
        let BitsUpdate { from, upto, live, .. } = &self.bits.map;
        let Counts { issued, released, .. } = self.counts;
        number > released
            && number <= issued.min(*upto)
            && Bits::get(live, *from, number)
            && self.left.binary_search(&number).is_err()
            && self.ended.get(number).is_none()
    }

    /// Where a number stands, as far as this node knows: the table of the parent's documentation.
    pub fn standing(&self, number: Number) -> Standing {
        self.standing_of(self.number(number))
    }

    /// The same by the line's number.
    fn standing_of(&self, number: Number) -> Standing {
        self.standing_at(number, self.head.find(number))
    }

    /// The same of somebody for whom the head was searched.
    fn standing_at(&self, number: Number, found: Option<(Spot, Standing)>) -> Standing {
        let Counts { issued, released, lapsed, .. } = self.counts;
        let BitsUpdate { from, upto, live, used, .. } = &self.bits.map;
        if number == 0 || number > issued {
            return Standing::Unknown;
        }
        match self.ended.get(number) {
            Some(Ending::Completed) => return Standing::Completed,
            Some(why) => return Standing::Expired(Reason::Ended(why)),
            None => {}
        }
        if let Some((_, standing)) = found {
            return standing;
        }
        if self.left.binary_search(&number).is_ok() {
            return Standing::Expired(Reason::Ended(Ending::Left));
        }
        if self.held.binary_search(&number).is_ok() {
            return Standing::Waiting;
        }
        match () {
            () if Bits::get(used, *from, number) => Standing::Expired(Reason::Used),
            // Of a class, and no longer at the head.
            () if self.taken.binary_search(&number).is_ok() => Standing::Expired(Reason::Used),
            () if number <= lapsed => Standing::Expired(Reason::Passed),
            () if number <= *upto && !Bits::get(live, *from, number) => Standing::Away,
            () if number <= released => Standing::Admitted,
            () => Standing::Waiting,
        }
    }

    /// How much is left of the claim window of somebody whose turn has come: what this node has seen itself, and rather
    /// less than more. `None`: it came before this node did, or at the head of the line, or it has not come.
    pub fn window_left_ms(&self, number: Number) -> Option<u64> {
        let number = self.number(number);
        let express = self.head.find(number).is_some();
        if self.standing_of(number) != Standing::Admitted || express {
            return None;
        }
        let window_ms = self.settings()?.claim_window_ms();
        let passed_ms = self.sights.passed_ms(number)?;
        Some(window_ms.saturating_sub(self.counts.clock_ms.saturating_sub(passed_ms)))
    }

    /// Who is called what, as far as this node has heard.
    pub fn roster(&self) -> &RosterUpdate {
        &self.roster
    }

    /// How a number's session ended, if this node has heard of it.
    pub fn ending(&self, number: Number) -> Option<Ending> {
        self.ended.get(self.number(number))
    }

    /// The rank of a class visitor who waits or is away. What class it is the line does not keep.
    pub fn class_rank(&self, number: Number) -> Option<u64> {
        match self.head.find(self.number(number))?.0 {
            Spot::Classed(nth) => Some(class::rank(self.head.lists.classes[nth].0)),
            Spot::ClassedAway(standpoint) => Some(class::rank(standpoint)),
            Spot::Late(_) | Spot::Called => None,
        }
    }

    /// Whether a number is of the head of the line, and so to be marked one by one.
    pub fn is_express(&self, number: Number) -> bool {
        self.head.find(self.number(number)).is_some()
    }

    /// How long until the turn of somebody at this position, if that can be told: not while nobody is let in but by hand, nor while
    /// the origin fails.
    pub fn eta(&self, position: u64) -> Option<Eta> {
        let is_told = !self.is_paused() && !estimate::is_unknown(&self.counts, self.settings());
        is_told.then(|| self.reckoned_eta(position))
    }

    /// The same, were everybody let in again, by hand one a second, and by an origin that fails as fast as lately: what nobody is told,
    /// and what the pace of polls needs.
    pub fn reckoned_eta(&self, position: u64) -> Eta {
        let look = || {
            let quarters = self.has_classes().then(|| self.quarters());
            estimate::outlook(&self.counts, self.settings(), &self.course, quarters)
        };
        estimate::eta(position, self.outlook.get_or_init(look))
    }

    /// What this node has, for its next batch.
    pub fn have(&self) -> Have {
        Have {
            run: self.run,
            bits: self.bits.map.version,
            express: self.head.lists.version,
            ended: self.ended_serial,
            settings: self.settings.as_ref().map_or(0, |rules| rules.told.serial),
            roster: self.roster.version,
            draws: self.drawn.told().serial,
        }
    }

    /// What this node knows, for its next batch.
    pub fn known(&self) -> Known {
        let Counts { epoch, issued, released, lapsed, inside, admitted, missing, .. } = self.counts;
        Known { epoch, issued, released, lapsed, taken: inside + admitted + missing, report: None }
    }

    /// All this node knows, for a line that settles.
    pub fn report(&self) -> Report {
        let map = &self.bits.map;
        let mut live = runs(&map.live, map.from);
        live.retain(|(low, _)| *low <= self.counts.released);
        Report {
            live,
            used: runs(&map.used, map.from),
            express: self.head.express().collect(),
            called: self.head.lists.called.clone(),
            ended: self.ended.newest_first(),
            paused: self.counts.paused,
            overrides: self.overrides().cloned().unwrap_or_default(),
            names: self.roster.names.iter().map(|one| (one.number, one.name.clone())).collect(),
            classes: self.head.classed().collect(),
            draws: self.drawn.told().clone(),
            more: false,
        }
    }

    /// A batch that says no more than that this node is there.
    pub fn greeting(&self, node: u128, sequence: u64) -> Batch {
        Batch {
            node,
            sequence,
            epoch: self.counts.epoch,
            known: self.known(),
            have: self.have(),
            draw: self.drawn.told().version,
            ..Batch::default()
        }
    }

    /// Heap bytes of the bitmaps and their counts.
    pub fn bitmap_bytes(&self) -> usize {
        let Bits { map, before } = &*self.bits;
        (map.live.capacity() + map.used.capacity()) * 8 + before.capacity() * 4
    }
}

/// The runs of ones, as inclusive ranges.
fn runs(words: &[u64], from: Number) -> Vec<(Number, Number)> {
    let mut runs: Vec<(Number, Number)> = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let mut rest = *word;
        while rest != 0 {
            let low = rest.trailing_zeros();
            let length = (!(rest >> low)).trailing_zeros();
            let start = from + index as u64 * 64 + u64::from(low);
            let end = start + u64::from(length) - 1;
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == start => *last = end,
                _ => runs.push((start, end)),
            }
            rest &= if low + length == 64 { 0 } else { u64::MAX << (low + length) };
        }
    }
    runs
}

impl Line {
    /// What is newer than a node has; but for the bits in an exchange that has swept, if those that the node has were the line's
    /// until then. Older ones may be of another epoch, or of before an outage: by them it would judge who was passed over.
    pub(super) fn update(&self, have: &Have, swept: bool) -> Update {
        let known = have.run == self.run;
        let have = if known { *have } else { Have::default() };
        let from = self.lapsed / 64 * 64;
        let withheld = swept && known && self.bits_version.checked_sub(1) == Some(have.bits);
        let bits = (!withheld && have.bits != self.bits_version).then(|| BitsUpdate {
            version: self.bits_version,
            from,
            upto: self.issued,
            live: self.live.copy(from, self.issued),
            // Few above the frontier have used up their turn: the rest would be zeros.
            used: self.used.copy(from, self.used.last_one(from..=self.issued).unwrap_or(from)),
        });
        let sends_bits = bits.is_some();
        let changed = |told: &InForce| told.serial != have.settings;
        Update {
            bits,
            express: self.head.update(have.express, sends_bits),
            ended: self.sessions.endings_after(have.ended),
            settings: self.in_force().filter(changed),
            roster: self.roster_update(have.roster),
            draws: (have.draws != self.draws.serial).then(|| self.draws.clone()),
        }
    }

    /// What is set, by files and by operators.
    pub fn in_force(&self) -> Option<InForce> {
        self.config.as_ref().map(|config| InForce {
            serial: config.serial,
            file: config.offered().clone(),
            overrides: self.overrides.clone(),
        })
    }
}
