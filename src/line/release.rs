//! Whose turn it is, and how many at a time.
//!
//! Owns the bucket, the frontier `released`, and the record of when it moved, from which claim windows
//! and the honest rate come.
//!
//! # The bucket
//!
//! One turn costs `per_ms` credits and every millisecond brings `count`: whole numbers, no drift.
//! A turn that nobody took comes back as `owed`, and refill pays it back on top, at most half of
//! itself at a time, so that a room full of no-shows is reached by the rate that was set, and what the
//! pace releases in any t is at most 1.5·rate·t + burst. It does not wait for claim windows to end: who is *late* is paid for in
//! advance (`ahead`), and if they come after all, refill brings that much less, at least half of itself. Late is who has let half a claim window go by:
//! a minute by default, in which hidden tabs are woken once. So the rate is reached after that instead of several claim windows; and what is late at once is all that entries can be ahead of it. A bucket that is full when an exchange ends held
//! nobody up: what is above its depth is lost, and what is owed is forgiven. Not before the release: with a
//! depth of one turn, every exchange would cut off a fraction of the next one.
//!
//! ```text
//!   rate 5/s, burst 5: count 5, per_ms 1,000, depth 5,000
//!   200 ms after empty:  credit 1,000 = one turn;  with two turns owed:  credit 1,500, owed 1,500
//!                        with two late:   credit 1,500, ahead 500;  came after all:  the next 200 ms bring 500, ahead 0
//! ```

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::batch::{Commanded, MAX_ITEMS, MAX_NAMED, Number};
use super::budget::Budget;
use super::class;
use super::letters::CALLED_MAX;
use super::schedule::Phase;
use super::settings::{Mode, Pace};
use super::state::Line;

/// No more is owed than this: with the most that can come on top in one exchange it stays exact, see
/// [`Settings::problems`](super::Settings::problems).
const OWED_MAX: u64 = 1 << 51;
/// How far back the honest rate looks.
const RATE_SPAN_MS: u64 = 600_000;

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Bucket {
    pub(super) credit: u64,
    owed: u64,
    next_batch_ms: u64,
    /// Paid for those who are late, before it was owed. Snapshots had none once.
    #[serde(default)]
    ahead: u64,
}

impl Bucket {
    /// Nothing is owed any more, nor paid ahead.
    pub(super) fn forgiven(self) -> Bucket {
        Bucket { owed: 0, ahead: 0, ..self }
    }

    /// What `fresh` credits come to with what is owed, and with what is late: at most half more, or half less.
    fn settle(&mut self, fresh: u64, late: u64) -> u64 {
        let both = self.owed.min(self.ahead);
        self.owed -= both;
        self.ahead -= both;
        let due = self.owed + late;
        if due < self.ahead {
            let less = (self.ahead - due).min(fresh / 2);
            self.ahead -= less;
            return fresh - less;
        }
        let back = (due - self.ahead).min(fresh / 2);
        let paid = back.min(self.owed);
        self.owed -= paid;
        self.ahead += back - paid;
        fresh + back
    }
}

impl Pace {
    /// Credits a turn costs.
    fn cost(self) -> u64 {
        match self {
            Pace::Rate { rate, .. } => rate.per_ms,
            Pace::Batch { .. } => 1,
        }
    }

    /// Turns that may be had at once.
    fn depth(self) -> u64 {
        match self {
            Pace::Rate { burst, .. } => burst,
            Pace::Batch { batch, .. } => batch,
        }
    }
}

/// What was released when, a line a second.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Releases {
    seconds: VecDeque<Second>,
    /// What stood before the oldest second here.
    before: Second,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Second {
    second: u64,
    released: Number,
    turns: u64,
}

impl Second {
    /// When it is over: somebody released in its last millisecond gets a whole claim window, too.
    fn end_ms(self) -> u64 {
        (self.second + 1) * 1_000
    }
}

impl Releases {
    /// The last second that had ended `ago_ms` before now.
    fn ago(&self, ago_ms: u64, now_ms: u64) -> Second {
        let later = self.seconds.partition_point(|second| second.end_ms() + ago_ms <= now_ms);
        later.checked_sub(1).map_or(self.before, |index| self.seconds[index])
    }
}

impl Line {
    /// A pace was set: whole turns stay turns.
    pub(super) fn change_pace(&mut self, before: Option<Pace>) {
        let pace = self.pace();
        if pace == before {
            return;
        }
        let Some(pace) = pace else {
            self.bucket = Bucket::default();
            return;
        };
        let Bucket { credit, owed, ahead, .. } = self.bucket;
        let (turns, owed, ahead) = match before {
            Some(old) => (credit / old.cost(), owed / old.cost(), ahead / old.cost()),
            None => (pace.depth(), 0, 0),
        };
        let next_batch_ms = match pace {
            Pace::Batch { interval_ms, .. } => self.clock_ms + interval_ms,
            Pace::Rate { .. } => 0,
        };
        let credit = turns.min(pace.depth()) * pace.cost();
        let kept = |turns: u64| turns.saturating_mul(pace.cost()).min(OWED_MAX);
        self.bucket = Bucket { credit, owed: kept(owed), next_batch_ms, ahead: kept(ahead) };
    }

    /// So many turns are to come back.
    pub(super) fn owe(&mut self, turns: u64) {
        let owed = self.bucket.owed + turns * self.pace().map_or(0, Pace::cost);
        self.bucket.owed = owed.min(OWED_MAX);
    }

    /// What those are worth who were called a while ago and have not come yet.
    fn late(&self) -> u64 {
        if self.claimable == 0 {
            return 0;
        }
        let late_ms = self.settings().claim_window_ms() / 2;
        let upto = self.releases.ago(late_ms, self.clock_ms).released;
        self.live.count(self.lapsed + 1..=upto) * self.pace().map_or(0, Pace::cost)
    }

    pub(super) fn refill(&mut self, elapsed_ms: u64) {
        let late = self.late();
        let slowed = self.slowed();
        if slowed.is_some() {
            self.bucket.credit = self.bucket.credit.min(self.full());
        }
        let full = self.bucket.credit >= self.full();
        match self.pace() {
            // A bucket that was full when the last exchange ended held nobody up, and gains nothing.
            Some(Pace::Rate { rate, .. }) if !full => {
                let fresh = match slowed {
                    Some(slowed) => self.slowed_credits(slowed, rate.per_ms, elapsed_ms),
                    None => rate.count * elapsed_ms,
                };
                let bucket = &mut self.bucket;
                bucket.credit += bucket.settle(fresh, late);
            }
            Some(Pace::Batch { batch, interval_ms, .. })
                if self.clock_ms >= self.bucket.next_batch_ms =>
            {
                let bucket = &mut self.bucket;
                if bucket.credit > 0 {
                    (bucket.owed, bucket.ahead) = (0, late);
                }
                bucket.credit = bucket.settle(batch, late);
                let late_ms = self.clock_ms - bucket.next_batch_ms;
                bucket.next_batch_ms += (late_ms / interval_ms + 1) * interval_ms;
            }
            _ => {}
        }
    }

    /// Credits of a bucket that is full: of one that is slowed, a second of it, rounded up.
    fn full(&self) -> u64 {
        let Some(pace) = self.pace() else { return 0 };
        let second = self.slowed().map_or(u64::MAX, |rate| rate.div_ceil(1_000).max(1));
        pace.depth().min(second) * pace.cost()
    }

    /// The most credit there can be.
    pub(super) fn bucket_depth(&self) -> u64 {
        match self.pace() {
            Some(Pace::Batch { batch, .. }) => batch + batch / 2,
            Some(pace) => pace.depth() * pace.cost(),
            None => 0,
        }
    }

    /// Turns the pace allows now.
    fn by_pace(&self) -> u64 {
        match self.settings().mode {
            mode if mode.stops_nobody() => u64::MAX,
            Mode::Hold | Mode::Closed => 0,
            _ if self.paused => 0,
            _ if !matches!(self.phase(), Phase::Open { .. }) => 0,
            _ => self.affordable(),
        }
    }

    /// Turns the bucket pays for.
    pub(super) fn affordable(&self) -> u64 {
        match self.pace() {
            None => u64::MAX,
            Some(Pace::Rate { rate, .. }) if rate.count == 0 => 0,
            Some(Pace::Rate { .. }) if self.slowed() == Some(0) => 0,
            Some(pace) => self.bucket.credit / pace.cost(),
        }
    }

    /// Whether nobody is let in at all, by the mode or by the schedule.
    pub(super) fn is_closed(&self) -> bool {
        self.settings().mode == Mode::Closed || matches!(self.phase(), Phase::Closed(_))
    }

    /// Turns that may be given now.
    pub(super) fn allowance(&self) -> u64 {
        self.by_pace().min(self.free_seats())
    }

    /// Calls as many as may be called, in the steps that are left; whether there is more to do. So many have come in
    /// this exchange, and so much time went by since the one before.
    pub(super) fn release_by_pace(
        &mut self,
        steps: &mut usize,
        arrived: u64,
        elapsed_ms: u64,
    ) -> bool {
        let wanted = self.allowance();
        let most = if self.settings().webhooks { CALLED_MAX } else { 0 };
        let mut called = Vec::new();
        let bound = !self.settings().mode.stops_nobody();
        let (count, _) = self.release(wanted, bound, steps, &mut called, most);
        self.write_called(count, &called);
        let paid = match self.settings().mode {
            // Nobody pays for turns that everybody has.
            Mode::Bypass => 0,
            Mode::Shadow => self.reckon(arrived, elapsed_ms),
            _ => count,
        };
        if self.settings().mode != Mode::Shadow {
            self.shadow = None;
        }
        self.bucket.credit -= paid * self.pace().map_or(0, Pace::cost);
        let full = self.full();
        if let Some(Pace::Rate { .. }) = self.pace()
            && self.bucket.credit >= full
        {
            // Who is late held nobody up, either.
            let ahead = self.late();
            self.bucket = Bucket { credit: full, owed: 0, ahead, ..self.bucket };
        }
        *steps == 0 && count < wanted && self.waiting > 0
    }

    /// An operator calls so many, whatever rate, pause and hold say; never beyond the seats.
    pub(super) fn release_by_hand(&mut self, wanted: u64, steps: &mut usize) -> Commanded {
        let after = self.released;
        let closed = self.is_closed();
        let wanted = if closed { 0 } else { wanted.min(self.free_seats()) };
        let mut called = Vec::new();
        let (count, express) = self.release(wanted, false, steps, &mut called, MAX_NAMED);
        self.write_called(count, &called);
        Commanded::Released { count, express, after, upto: self.released, called }
    }

    /// Calls the next `wanted` who are here: late returners, then class visitors and the ordinary line in their order, by
    /// `class_share` if the turns are `bound`. How many there were, and how many of them from the head. A step goes to the
    /// next live place and over as many as are wanted: a line of people costs one; only people and gaps in turn cost one
    /// each. The first `most` are named in `called`.
    fn release(
        &mut self,
        mut wanted: u64,
        bound: bool,
        steps: &mut usize,
        called: &mut Vec<Number>,
        most: usize,
    ) -> (u64, u64) {
        let (order, share) = (self.settings().class_order, self.settings().class_share);
        let bound = bound && share < 1_000;
        let (mut ordinary, mut express, mut cursor) = (0, 0, self.released);
        while wanted > 0 && *steps > 0 {
            let next = self.live.first_one(cursor + 1..=self.issued);
            let classed = self.head.classes.first();
            let late = self.head.express.first().map(|(_, number)| number);
            let mut run = (wanted, self.issued); // so many of the ordinary line at most, up to here
            let ahead = match (next, classed) {
                _ if late.is_some() => late,
                (_, None) => None,
                (None, Some((_, number))) => Some(number),
                (Some(next), Some((score, number))) => {
                    let precedes = class::precedes(score, order, next);
                    let saved = self.class_balance + share;
                    match precedes {
                        true if !bound => Some(number),
                        true if saved >= 1_000 => {
                            self.class_balance = saved - 1_000;
                            Some(number)
                        }
                        true => {
                            let lacking = (1_000 - saved).checked_next_multiple_of(share);
                            run.0 = lacking.map_or(wanted, |lacking| wanted.min(lacking / share));
                            None
                        }
                        false => {
                            run.1 = class::place(score) - 1;
                            None
                        }
                    }
                }
            };
            match (ahead, next) {
                (None, None) => break,
                (Some(number), _) => {
                    self.head.call(number, self.clock_ms);
                    if called.len() < most {
                        called.push(number);
                    }
                    express += 1;
                    wanted -= 1;
                }
                (None, Some(next)) => {
                    let high = run.1.min(next.saturating_add(run.0 - 1));
                    let count = self.live.count(next..=high);
                    self.name(next, high, called, most);
                    cursor = high;
                    ordinary += count;
                    wanted -= count;
                    if bound && classed.is_some() {
                        let saved = self.class_balance + count * share;
                        self.class_balance = saved.min(999);
                    }
                }
            }
            *steps -= 1;
        }
        if let Some(last) = self.live.last_one(self.released + 1..=cursor) {
            self.released = last;
        }
        self.claimable += ordinary;
        self.waiting -= ordinary + express;
        self.totals.turns += ordinary + express;
        (ordinary + express, express)
    }

    /// Names those who are here from one place to another, as far as there is room.
    fn name(&self, mut next: Number, high: Number, called: &mut Vec<Number>, most: usize) {
        while called.len() < most
            && let Some(number) = self.live.first_one(next..=high)
        {
            called.push(number);
            next = number + 1;
        }
    }

    /// Notes where the frontier is, if it moved.
    pub(super) fn record_release(&mut self) {
        let now = Second {
            second: self.clock_ms / 1_000,
            released: self.released,
            turns: self.totals.turns,
        };
        let Releases { seconds, before } = &mut self.releases;
        let last = seconds.back().unwrap_or(before);
        if (last.released, last.turns) == (now.released, now.turns) {
            return;
        }
        match seconds.back_mut() {
            Some(last) if last.second == now.second => *last = now,
            _ => seconds.push_back(now),
        }
    }

    /// Ends the claim windows that are over.
    pub(super) fn lapse(&mut self, budget: &mut Budget) {
        let window_ms = self.settings().claim_window_ms();
        let clock_ms = self.clock_ms;
        let upto = self.releases.ago(window_ms, clock_ms).released;
        if upto > self.lapsed {
            let no_shows = self.lapse_to(upto);
            self.no_shows(no_shows);
        }
        let keep_ms = window_ms.max(RATE_SPAN_MS);
        for _ in 0..MAX_ITEMS {
            let oldest = self.releases.seconds.front().copied();
            let Some(oldest) = oldest.filter(|oldest| oldest.end_ms() + keep_ms <= clock_ms) else {
                break;
            };
            self.releases.before = oldest;
            self.releases.seconds.pop_front();
        }
        let most = budget.next();
        if let Some(upto_ms) = clock_ms.checked_sub(window_ms) {
            for number in budget.found(self.head.called.due(upto_ms, most), most) {
                self.head.remove(number);
                self.no_shows(1);
            }
        }
        let most = budget.next();
        for number in budget.found(self.head.strayed.due(self.lapsed, most), most) {
            self.head.remove(number);
        }
        let most = budget.rest();
        let away = class::below(self.lapsed);
        let away = away.map_or(Vec::new(), |upto| self.head.classes_away.due(upto, most));
        for number in budget.found(away, most) {
            self.head.remove(number);
        }
    }

    /// Moves `lapsed`; how many were still expected.
    pub(super) fn lapse_to(&mut self, place: Number) -> u64 {
        let range = self.lapsed + 1..=place;
        let count = self.live.count(range.clone());
        self.live.clear_range(range);
        self.claimable -= count;
        self.lapsed = place;
        count
    }

    /// Turns given up to one and up to ten minutes ago.
    pub(super) fn turns_ago(&self) -> (u64, u64) {
        let upto = |ago_ms| self.releases.ago(ago_ms, self.clock_ms).turns;
        (upto(60_000), upto(RATE_SPAN_MS))
    }
}
