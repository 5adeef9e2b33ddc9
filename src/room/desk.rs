//! What is waiting to be said, and who waits for the answer.
//!
//! Owns the order of arrival and the bounds: at a bound newcomers are told so at once, instead of waiting
//! for an answer that comes too late. Never waits itself.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot::Sender;
use tokio::time::Instant;

use super::Proof;
use super::drive::BEAT;
use super::marks::Marks;
use super::memo::Memo;
use super::said::{self, Said};
use crate::line::bits::Bitmap;
use crate::line::{
    Batch, Claimed, Command, Commanded, Done, Drawn, End, FIGURES, Join, Joined, Keyed,
    MAX_COMMANDS, MAX_ITEMS, MAX_NAMED, Number, Offer, Order, Renewal,
};

/// Newcomers who may wait for a number at once: two seconds of a crowd of 50,000 a second. Whoever comes
/// later is told to try again, which is sooner than an answer would be.
const MAX_NEWCOMERS: usize = 100_000;
/// Everything else that may wait: forty exchanges' worth, half a second to two of a busy node.
const MAX_WAITING: usize = 40 * MAX_ITEMS;
/// Those passed over who are back: more than the head of the line takes in.
const MAX_RETURNS: usize = 100_000;

/// Between two reports of what was counted.
const FIGURES_PAUSE: Duration = Duration::from_secs(2);

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Busy {
    /// Too many wait for one already.
    #[error("the node is at its bound, try again in a moment")]
    Full,
    /// The question was dropped: the node is stopping, or its store refused it.
    #[error("the question was dropped, try again in a moment")]
    Dropped,
    /// The store does not answer. Nobody waits for it.
    #[error("the line can't be reached, try again in a moment")]
    Away,
}

/// A newcomer, and what a letter is to say about them.
type Arriving = (Option<Keyed>, Option<String>);

/// A list of questions of one kind.
type Asked<Q, A> = VecDeque<(Q, Sender<A>)>;

pub(super) struct Desk {
    /// Why nobody is asked: the room is closed, or its store is away.
    silent: Option<Busy>,
    /// Of every number here.
    epoch: u64,
    /// The last batch's.
    sequence: u64,
    offer: Offer,
    /// The line has not been told of it yet.
    offer_due: bool,
    newcomers: Asked<Arriving, Joined>,
    claims: Asked<(Number, Option<String>), Claimed>,
    renewals: Asked<Renewal, Claimed>,
    leaves: Asked<Number, Done>,
    ends: Asked<End, Done>,
    spends: Asked<Number, Done>,
    commands: Asked<Order, Commanded>,
    /// Numbers whose visitor went away before they were told: nobody will use them.
    unwanted: Vec<Number>,
    /// Letters that were delivered, and how many more are wanted.
    sent: Vec<u64>,
    wants: u32,
    /// What was counted since the last batch.
    figures: Vec<u64>,
    figures_told: Instant,
    figures_soon: bool,
    about: Option<String>,
    marks: Marks,
    /// From when on marks may be said again.
    marks_due: Instant,
    /// When they were last said, or none were there.
    marks_since: Instant,
    present: Vec<Number>,
    returns: BTreeSet<Number>,
    /// Whose last connection here has closed.
    hangups: BTreeSet<Number>,
    /// Who inside was heard of.
    touches: BTreeMap<Number, Renewal>,
    /// Who was marked in this period.
    marked: Bitmap,
    period_began: Instant,
    proof: Proof,
    /// Who was drawn to which place: every number here is the line's by this.
    drawn: Arc<Drawn>,
    /// What the line is to be told after an outage.
    pub(super) memo: Memo,
}

impl Desk {
    pub(super) fn new(offer: Offer) -> Desk {
        Desk {
            silent: None,
            epoch: 0,
            sequence: 0,
            offer,
            offer_due: true,
            newcomers: VecDeque::new(),
            claims: VecDeque::new(),
            renewals: VecDeque::new(),
            leaves: VecDeque::new(),
            ends: VecDeque::new(),
            spends: VecDeque::new(),
            commands: VecDeque::new(),
            unwanted: Vec::new(),
            sent: Vec::new(),
            wants: 0,
            figures: Vec::new(),
            figures_told: Instant::now(),
            figures_soon: false,
            about: None,
            marks: Marks::default(),
            marks_due: Instant::now(),
            marks_since: Instant::now(),
            present: Vec::new(),
            returns: BTreeSet::new(),
            hangups: BTreeSet::new(),
            touches: BTreeMap::new(),
            marked: Bitmap::default(),
            period_began: Instant::now(),
            proof: Proof { epoch: 0, number: 0 },
            drawn: Arc::default(),
            memo: Memo::default(),
        }
    }

    /// Numbers of an earlier epoch mean nothing in a later one: whatever is waiting about them is stale.
    /// Whether `epoch` is the present one.
    pub(super) fn enter_epoch(&mut self, epoch: u64) -> bool {
        if epoch > self.epoch {
            self.epoch = epoch;
            self.marks.clear();
            self.present.clear();
            self.unwanted.clear();
            self.returns.clear();
            self.hangups.clear();
            self.touches.clear();
            self.marked.wipe();
            self.memo.forget();
            dismiss(&mut self.claims, Claimed::Stale);
            dismiss(&mut self.renewals, Claimed::Stale);
            dismiss(&mut self.leaves, Done::Stale);
            dismiss(&mut self.ends, Done::Stale);
            dismiss(&mut self.spends, Done::Stale);
            self.dismiss_revocations();
        }
        epoch == self.epoch
    }

    /// After a draw everybody of it has another number in the line: whatever is waiting about them is about that one.
    pub(super) fn enter_draw(&mut self, drawn: &Arc<Drawn>) {
        if drawn.told().version == self.drawn.told().version {
            return;
        }
        self.drawn = drawn.clone();
        let number = |number: &mut Number| *number = drawn.number(*number);
        let others = self.present.iter_mut().chain(&mut self.unwanted);
        self.marks.iter_mut().chain(others).for_each(number);
        self.claims.iter_mut().for_each(|((claim, _), _)| number(claim));
        self.renewals.iter_mut().for_each(|(renewal, _)| number(&mut renewal.number));
        self.leaves.iter_mut().for_each(|(leave, _)| number(leave));
        self.ends.iter_mut().for_each(|(end, _)| number(&mut end.number));
        self.spends.iter_mut().for_each(|(spend, _)| number(spend));
        self.commands.iter_mut().for_each(|(order, _)| mean(&mut order.command, drawn));
        self.hangups = std::mem::take(&mut self.hangups)
            .into_iter()
            .map(|hung_up| drawn.number(hung_up))
            .collect();
        for touch in std::mem::take(&mut self.touches).into_values() {
            let number = drawn.number(touch.number);
            self.touches.insert(number, Renewal { number, ..touch });
        }
        self.returns = std::mem::take(&mut self.returns)
            .into_iter()
            .map(|returned| drawn.number(returned))
            .collect();
        self.marked.wipe();
        self.memo.enter_draw(drawn);
    }

    /// What a batch said that was made before the last draw, and that the line did not take: it is said again, before
    /// anything else. What is left of it was taken.
    pub(super) fn say_again(&mut self, said: &mut Said) {
        let Batch {
            marks,
            present,
            leaves,
            ends,
            renewals,
            returns,
            vouched,
            claims,
            spends,
            tags,
            hangups,
            ..
        } = &mut said.batch;
        let mut asked = std::mem::take(&mut said.leaves).into_iter();
        for number in std::mem::take(leaves) {
            match asked.next() {
                Some(answer) => self.leaves.push_back((number, answer)),
                None => self.unwanted.push(number),
            }
        }
        for (end, answer) in std::mem::take(ends).into_iter().zip(said.ends.drain(..)) {
            self.ends.push_back((end, answer));
        }
        for (number, answer) in std::mem::take(spends).into_iter().zip(said.spends.drain(..)) {
            self.spends.push_back((number, answer));
        }
        let mut asked = std::mem::take(&mut said.renewals).into_iter();
        for renewal in std::mem::take(renewals) {
            match asked.next() {
                Some(answer) => self.renewals.push_back((renewal, answer)),
                None => self.memo.renewed(renewal),
            }
        }
        for (nth, (number, answer)) in
            std::mem::take(claims).into_iter().zip(said.claims.drain(..)).enumerate()
        {
            let tag = tags.iter().find(|(whose, _)| *whose as usize == nth);
            self.claims.push_back(((number, tag.map(|(_, tag)| tag.clone())), answer));
        }
        self.marks.append(marks);
        self.present.append(present);
        self.returns.extend(returns.drain(..));
        self.hangups.extend(hangups.drain(..));
        self.memo.vouch_again(std::mem::take(vouched));
        let drawn = std::mem::take(&mut self.drawn);
        self.enter_draw(&drawn);
    }

    /// Of orders, only some are about a number.
    fn dismiss_revocations(&mut self) {
        for (order, answer) in std::mem::take(&mut self.commands) {
            match order.command.number() {
                Some(_) => _ = answer.send(Commanded::Ended(Done::Stale)),
                _ => self.commands.push_back((order, answer)),
            }
        }
    }

    /// Drops every question, and refuses all that follow.
    pub(super) fn close(&mut self) {
        self.silent = Some(Busy::Dropped);
        self.dismiss();
        self.ends.clear();
    }

    /// The store is away: drops every question, and refuses all that follow. What is no question stays.
    pub(super) fn lose(&mut self) {
        self.silent = self.silent.or(Some(Busy::Away));
        self.dismiss();
        self.ends.iter_mut().for_each(|(_, answer)| said::dismiss(answer));
        self.memo.open();
    }

    /// The store is back.
    pub(super) fn find(&mut self) {
        self.silent = self.silent.filter(|why| *why != Busy::Away);
        self.memo.close();
    }

    fn dismiss(&mut self) {
        self.newcomers.clear();
        self.claims.clear();
        self.renewals.clear();
        self.leaves.clear();
        self.spends.clear();
        self.commands.clear();
    }

    /// Whether anybody listens.
    fn check_open(&self) -> Result<(), Busy> {
        self.silent.map_or(Ok(()), Err)
    }

    pub(super) fn offer(&mut self, offer: Offer) {
        self.offer = offer;
        self.offer_due = true;
    }

    /// The settings to be told while the line has none, or may have lost them.
    pub(super) fn standing_offer(&self) -> Offer {
        self.offer.clone()
    }

    pub(super) fn prove(&mut self, proof: Proof) {
        if (proof.epoch, proof.number) > (self.proof.epoch, self.proof.number) {
            self.proof = proof;
        }
    }

    /// The highest that any signature has proven.
    pub(super) fn proof(&self) -> Proof {
        self.proof
    }

    pub(super) fn join(&mut self, newcomer: Arriving, answer: Sender<Joined>) -> Result<(), Busy> {
        self.check_open()?;
        if self.newcomers.len() >= MAX_NEWCOMERS {
            self.newcomers.retain(|(_, answer)| !answer.is_closed());
        }
        put(&mut self.newcomers, newcomer, answer, MAX_NEWCOMERS)
    }

    pub(super) fn claim(
        &mut self,
        claim: (Number, Option<String>),
        answer: Sender<Claimed>,
    ) -> Result<(), Busy> {
        self.check_open()?;
        let claim = (self.drawn.number(claim.0), claim.1);
        put(&mut self.claims, claim, answer, MAX_WAITING)
    }

    pub(super) fn renew(&mut self, renewal: Renewal, answer: Sender<Claimed>) -> Result<(), Busy> {
        self.check_open()?;
        let renewal = Renewal { number: self.drawn.number(renewal.number), ..renewal };
        put(&mut self.renewals, renewal, answer, MAX_WAITING)
    }

    pub(super) fn leave(&mut self, number: Number, answer: Sender<Done>) -> Result<(), Busy> {
        self.check_open()?;
        put(&mut self.leaves, self.drawn.number(number), answer, MAX_WAITING)
    }

    /// An end is no question: it is said to the line whether or not anybody is told what came of it.
    pub(super) fn end(&mut self, end: End, answer: Sender<Done>) -> Result<(), Busy> {
        let end = End { number: self.drawn.number(end.number), ..end };
        put(&mut self.ends, end, answer, MAX_WAITING)?;
        self.check_open()
    }

    pub(super) fn spend(&mut self, number: Number, answer: Sender<Done>) -> Result<(), Busy> {
        self.check_open()?;
        put(&mut self.spends, self.drawn.number(number), answer, MAX_WAITING)
    }

    pub(super) fn command(
        &mut self,
        mut order: Order,
        answer: Sender<Commanded>,
    ) -> Result<(), Busy> {
        self.check_open()?;
        mean(&mut order.command, &self.drawn);
        put(&mut self.commands, order, answer, MAX_WAITING)
    }

    pub(super) fn want_letters(&mut self, wants: u32) {
        self.wants = wants;
    }

    pub(super) fn letter_sent(&mut self, serial: u64) {
        self.sent.push(serial);
    }

    pub(super) fn introduce(&mut self, about: String) {
        self.about = Some(about);
    }

    pub(super) fn count(&mut self, figures: &[u64], soon: bool) {
        self.figures_soon = soon;
        self.figures.resize(FIGURES, 0);
        self.figures.iter_mut().zip(figures).for_each(|(sum, figure)| *sum += figure);
    }

    /// Figures ride along with what is said anyway, and not more often than a chart could show, unless a rate follows them.
    fn figures_due(&self) -> bool {
        let due = self.figures_soon || self.figures_told.elapsed() >= FIGURES_PAUSE;
        due && !self.figures.is_empty()
    }

    /// Notes a sign of life, once a period; whether the line should hear of it soon.
    pub(super) fn seen(&mut self, number: Number, express: bool, passed: bool) -> bool {
        let number = self.drawn.number(number);
        self.memo.saw(number);
        if passed && !express {
            // Worth saying with every poll: the first answer may have been "not yet".
            return self.returns.len() < MAX_RETURNS && self.returns.insert(number);
        }
        if self.marked.set(number) {
            match express {
                true => self.present.push(number),
                false => self.marks.push(number),
            }
        }
        false
    }

    pub(super) fn touch(&mut self, renewal: Renewal) {
        let renewal = Renewal { number: self.drawn.number(renewal.number), ..renewal };
        self.hangups.remove(&renewal.number);
        if self.touches.len() < MAX_WAITING {
            self.touches.insert(renewal.number, renewal);
        }
    }

    pub(super) fn hang_up(&mut self, number: Number) {
        if self.hangups.len() < MAX_WAITING {
            self.hangups.insert(self.drawn.number(number));
        }
    }

    /// Starts a new period if the last one is over: two beats before the line's would be, because it is noticed in an exchange, and
    /// what is said then is said in another.
    pub(super) fn turn_period(&mut self, period: Duration) {
        self.marks.keep_within(period);
        if self.period_began.elapsed() + 2 * BEAT >= period {
            self.marked.wipe();
            self.period_began = Instant::now();
        }
    }

    /// As much as one batch may carry, oldest first, kind by kind: what frees seats before what takes
    /// them. Whoever no longer waits for a number or a turn is not asked about, and their pass is not spent.
    pub(super) fn take(&mut self) -> Said {
        let mut said = Said::default();
        let batch = &mut said.batch;
        self.sequence += 1;
        (batch.sequence, batch.epoch) = (self.sequence, self.epoch);
        batch.draw = self.drawn.told().version;
        batch.offer = std::mem::take(&mut self.offer_due).then(|| self.offer.clone());
        batch.marks = self.take_marks();
        batch.about = self.about.clone();
        batch.wants = std::mem::take(&mut self.wants);
        if self.figures_due() {
            batch.figures = std::mem::take(&mut self.figures);
            self.figures_told = Instant::now();
        }
        self.claims.retain(|(_, answer)| !answer.is_closed());
        self.spends.retain(|(_, answer)| !answer.is_closed());
        let mut named = 0;
        let fits = |(order, _): &&(Order, Sender<Commanded>)| {
            named += order.command.names();
            named <= MAX_NAMED
        };
        let mut room = self.commands.iter().take(MAX_COMMANDS).take_while(fits).count();
        move_to(&mut self.commands, &mut batch.commands, &mut said.commands, &mut room);
        let mut room = MAX_ITEMS - batch.commands.len();
        move_to(&mut self.leaves, &mut batch.leaves, &mut said.leaves, &mut room);
        move_to(&mut self.ends, &mut batch.ends, &mut said.ends, &mut room);
        move_to(&mut self.spends, &mut batch.spends, &mut said.spends, &mut room);
        move_to(&mut self.renewals, &mut batch.renewals, &mut said.renewals, &mut room);
        let mut claims = Vec::new();
        move_to(&mut self.claims, &mut claims, &mut said.claims, &mut room);
        for (nth, (number, tag)) in claims.into_iter().enumerate() {
            batch.claims.push(number);
            batch.tags.extend(tag.map(|tag| (nth as u32, tag)));
        }
        self.take_newcomers(&mut said, &mut room);
        // Nobody waits for what comes of these. Answers stand in the order of their list, so leaves and
        // renewals without an asker come last in theirs: see `told`.
        let batch = &mut said.batch;
        batch.leaves.extend(some(&mut self.unwanted, &mut room));
        batch.sent = some(&mut self.sent, &mut room);
        while room > 0
            && let Some((_, touch)) = self.touches.pop_first()
        {
            batch.renewals.push(touch);
            room -= 1;
        }
        while room > 0
            && let Some(number) = self.hangups.pop_first()
        {
            batch.hangups.push(number);
            room -= 1;
        }
        self.memo.queue(&mut self.returns);
        self.memo.put(batch, &mut room);
        batch.present = some(&mut self.present, &mut room);
        while room > 0
            && let Some(number) = self.returns.pop_first()
        {
            batch.returns.push(number);
            room -= 1;
        }
        said
    }

    /// Marks wait for company, a beat at most: while newcomers make for two hundred exchanges a second, a few marks in each, all over a
    /// long line, would cost more than all the rest. Nobody waits for what comes of them, and on a quiet node they are no sooner.
    /// In step: an exchange that comes just before the beat does not make them wait for two.
    fn take_marks(&mut self) -> Vec<Number> {
        let now = Instant::now();
        if self.marks.len() == 0 {
            self.marks_since = now;
        }
        if self.marks.len() == 0 || now < self.marks_due {
            return Vec::new();
        }
        let late = now - self.marks_due;
        self.marks_due = if late < BEAT { self.marks_due + BEAT } else { now + BEAT };
        let since = now - std::mem::replace(&mut self.marks_since, now);
        self.marks.take(since)
    }

    /// Newcomers in the order of their arrival. A run of those about whom nothing is remembered costs one
    /// item, so there is always room for them.
    fn take_newcomers(&mut self, said: &mut Said, room: &mut usize) {
        let Batch { joins, tags, claims, .. } = &mut said.batch;
        let half = *room / 2; // The other half is for those nobody asks about.
        let claims = claims.len();
        while let Some(((keyed, tag), answer)) = self.newcomers.pop_front() {
            if answer.is_closed() {
                continue;
            }
            // Whoever has a tag is nobody of a run: it is about one.
            let keyed = keyed.or(tag.as_ref().map(|_| Keyed::default()));
            let full = joins.len() >= if keyed.is_some() { half } else { half.max(1) };
            match (keyed, joins.last_mut()) {
                (None, Some(Join::Plain(count))) => *count += 1,
                (keyed, _) if full => {
                    self.newcomers.push_front(((keyed, tag), answer));
                    break;
                }
                (None, _) => joins.push(Join::Plain(1)),
                (Some(keyed), _) => {
                    tags.extend(tag.map(|tag| ((claims + joins.len()) as u32, tag)));
                    joins.push(Join::Keyed(keyed));
                }
            }
            said.newcomers.push(answer);
        }
        *room = room.saturating_sub(joins.len());
    }

    /// Whether anything is left to be said.
    pub(super) fn is_empty(&self) -> bool {
        let asked = self.newcomers.len() + self.claims.len() + self.renewals.len();
        let more = self.leaves.len() + self.ends.len() + self.spends.len() + self.commands.len();
        let unasked = self.unwanted.len() + self.returns.len() + self.sent.len();
        asked + more + unasked + self.hangups.len() + self.touches.len() == 0
            && self.memo.is_empty()
    }

    /// Numbers of `epoch` that were given to nobody.
    pub(super) fn leave_again(&mut self, epoch: u64, numbers: Vec<Number>) {
        if epoch == self.epoch {
            self.unwanted.extend(numbers);
        }
    }
}

fn put<Q, A>(
    list: &mut Asked<Q, A>,
    question: Q,
    answer: Sender<A>,
    bound: usize,
) -> Result<(), Busy> {
    if list.len() >= bound {
        return Err(Busy::Full);
    }
    list.push_back((question, answer));
    Ok(())
}

/// An order about somebody is about the number they have in the line.
fn mean(command: &mut Command, drawn: &Drawn) {
    if let Command::Revoke(whom)
    | Command::Complete(whom)
    | Command::Requeue(whom)
    | Command::Extend(whom) = command
    {
        *whom = drawn.number(*whom);
    }
}

fn dismiss<Q, A: Copy>(list: &mut Asked<Q, A>, answer: A) {
    for (_, waiting) in list.drain(..) {
        let _ = waiting.send(answer);
    }
}

/// The first `room` of a list.
fn some(list: &mut Vec<Number>, room: &mut usize) -> Vec<Number> {
    let taken: Vec<Number> = list.drain(..list.len().min(*room)).collect();
    *room -= taken.len();
    taken
}

fn move_to<Q, A>(
    from: &mut Asked<Q, A>,
    questions: &mut Vec<Q>,
    answers: &mut Vec<Sender<A>>,
    room: &mut usize,
) {
    let count = from.len().min(*room);
    *room -= count;
    for (question, answer) in from.drain(..count) {
        questions.push(question);
        answers.push(answer);
    }
}
