//! Step 11: newcomers, and those who come twice or too often.

use anteroom::line::{
    Batch, Join, Joined, Key, Keyed, Mode, Number, Refusal, Reply, Standing, Subject,
};

use super::Model;
use super::items::Ask;

/// One join that was counted, by one of its subjects.
#[derive(Clone)]
pub(super) struct Attempt {
    subject: Subject,
    per_ms: u64,
    key: Key,
    at: u64,
}

/// The join to which a key belongs.
#[derive(Clone)]
pub(super) struct FirstJoin {
    number: Number,
    joined_ms: u64,
    idempotency: Option<Key>,
    address: Option<Key>,
}

impl Model {
    pub(super) fn joins(&mut self, batch: &Batch, wall: u64, reply: &mut Reply) {
        if batch.joins.is_empty() {
            return;
        }
        let mut room = u64::MAX;
        if let Some(max_waiting) = self.settings().max_waiting {
            let (waiting, _, _) = self.tally();
            let now = self.pace_allows().min(self.seats_free());
            room = max_waiting.saturating_add(now).saturating_sub(waiting);
        }
        for join in &batch.joins {
            let joined = match join {
                Join::Plain(count) => self.give(*count, &mut room, wall),
                Join::Keyed(keyed) => self.join_keyed(keyed, &mut room, wall),
            };
            reply.joins.push(joined);
        }
    }

    /// Numbers, if there is room for them.
    fn give(&mut self, count: u32, room: &mut u64, wall: u64) -> Joined {
        if matches!(self.settings().mode, Mode::Drain | Mode::Closed) {
            return Joined::Refused(Refusal::Closed);
        }
        let count = u64::from(count).min(*room) as u32;
        self.note("cut short by a full line", u64::from(u64::from(count) == *room && count > 0));
        if count == 0 {
            return Joined::Refused(Refusal::Full);
        }
        *room -= u64::from(count);
        let first = self.counts.issued + 1;
        self.counts.issued += u64::from(count);
        self.append(first, self.counts.issued);
        Joined::Given {
            epoch: self.counts.epoch,
            first,
            count,
            entered: 0,
            joined_ms: wall,
            terms: None,
        }
    }

    fn join_keyed(&mut self, keyed: &Keyed, room: &mut u64, wall: u64) -> Joined {
        let closed = matches!(self.settings().mode, Mode::Drain | Mode::Closed);
        if !self.repeats(keyed) && (closed || *room == 0) {
            return Joined::Refused(if closed { Refusal::Closed } else { Refusal::Full });
        }
        if let Some(refusal) = self.count_attempt(keyed) {
            return Joined::Refused(refusal);
        }
        if let Some(already) = self.known_join(keyed, wall) {
            return already;
        }
        let joined = self.give(1, room, wall);
        if let (Joined::Given { first, joined_ms, .. }, Some(once)) = (joined, keyed.once) {
            let Keyed { idempotency, address, .. } = *keyed;
            self.devices.insert(once, FirstJoin { number: first, joined_ms, idempotency, address });
        }
        joined
    }

    /// Whether this join repeats one whose number can still do anything.
    fn repeats(&self, keyed: &Keyed) -> bool {
        let first = keyed.once.and_then(|once| self.devices.get(&once));
        first.is_some_and(|first| {
            !matches!(
                self.standing(first.number),
                Standing::Unknown | Standing::Completed | Standing::Expired(_)
            )
        })
    }

    /// The join this one repeats, if its number can still do anything.
    fn known_join(&mut self, keyed: &Keyed, wall: u64) -> Option<Joined> {
        let FirstJoin { number, joined_ms, idempotency, address } =
            self.devices.get(&keyed.once?)?.clone();
        if matches!(
            self.standing(number),
            Standing::Unknown | Standing::Completed | Standing::Expired(_)
        ) {
            return None;
        }
        let before = self.standing(number);
        self.ask(Ask::Return, number, wall);
        self.note("back by joining again", u64::from(self.standing(number) != before));
        let same = |a: Option<Key>, b: Option<Key>| a.is_some() && a == b;
        let proven = same(idempotency, keyed.idempotency)
            || same(address, keyed.address)
            || keyed.device.is_none();
        let (epoch, standing) = (self.counts.epoch, self.standing(number));
        Some(Joined::Already { epoch, number, joined_ms, proven, standing })
    }

    /// Counts a join by its subjects, unless one of them has come too often.
    fn count_attempt(&mut self, keyed: &Keyed) -> Option<Refusal> {
        let clock = self.counts.clock_ms;
        let mut attempts = Vec::new();
        for limit in &self.settings().join_limits {
            let (subject, per_ms) = (limit.subject, limit.per_ms);
            let key = match subject {
                Subject::Address => keyed.address,
                Subject::Device => keyed.device,
                Subject::User => keyed.user,
            };
            let Some(key) = key else { continue };
            let of = |window: u64| {
                let same =
                    |one: &&Attempt| (one.subject, one.per_ms, one.key) == (subject, per_ms, key);
                self.attempts.iter().filter(same).filter(|one| one.at / per_ms == window).count()
                    as u64
            };
            let window = clock / per_ms;
            let before = if window == 0 { 0 } else { of(window - 1) };
            let estimate = of(window) + before * (per_ms - clock % per_ms) / per_ms;
            if estimate + 1 > limit.max {
                self.note("too many joins", 1);
                return Some(Refusal::Limited { subject, retry_ms: 1 });
            }
            attempts.push(Attempt { subject, per_ms, key, at: clock });
        }
        let longest = 2 * attempts.iter().map(|one| one.per_ms).max().unwrap_or(0);
        self.attempts.retain(|one| one.at + longest.max(2 * one.per_ms) > clock);
        self.attempts.extend(attempts);
        None
    }
}
