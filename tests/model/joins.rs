//! Step 11: newcomers, and those who come twice or too often.

use anteroom::line::{
    Batch, Classed, Join, Joined, Key, Keyed, Mode, Number, Refusal, Reply, Standing, Subject,
};

use super::items::Ask;
use super::{MAX_PLACES, Model};

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
    proof: Option<Key>,
    user: Option<Key>,
    at: u64,
    class: Option<String>,
}

impl Model {
    pub(super) fn joins(&mut self, batch: &Batch, wall: u64, reply: &mut Reply) {
        if batch.joins.is_empty() {
            return;
        }
        let mut room = MAX_PLACES.saturating_sub(self.counts.issued - self.counts.lapsed);
        if let Some(max_waiting) = self.settings().max_waiting {
            let (waiting, _, _) = self.tally();
            let now = self.pace_allows().min(self.seats_free());
            room = room.min(max_waiting.saturating_add(now).saturating_sub(waiting));
        }
        let named = |join: &&Join| matches!(join, Join::Keyed(keyed) if keyed.name.is_some());
        self.expect_names(batch.joins.iter().filter(named).count());
        for join in &batch.joins {
            let joined = match join {
                Join::Plain(count) => self.give(*count, &mut room, wall),
                Join::Keyed(keyed) => self.join_keyed(keyed, &mut room, wall),
            };
            reply.joins.push(joined);
        }
    }

    /// Numbers, if there is room for them.
    pub(super) fn give(&mut self, count: u32, room: &mut u64, wall: u64) -> Joined {
        if self.settings().mode == Mode::Drain || self.shut() {
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
            class: None,
        }
    }

    fn join_keyed(&mut self, keyed: &Keyed, room: &mut u64, wall: u64) -> Joined {
        let closed = self.settings().mode == Mode::Drain || self.shut();
        if !self.repeats(keyed) && (closed || *room == 0) {
            return Joined::Refused(if closed { Refusal::Closed } else { Refusal::Full });
        }
        if let Some(name) = &keyed.name
            && !self.repeats(keyed)
            && self.is_taken(name)
        {
            return Joined::Refused(Refusal::NameTaken);
        }
        if let Some(refusal) = keyed.over.is_none().then(|| self.count_attempt(keyed)).flatten() {
            return Joined::Refused(refusal);
        }
        if let Some(already) = self.sent_back(keyed, wall).or_else(|| self.known_join(keyed, wall))
        {
            return already;
        }
        let joined = self.join_classed(keyed, room, wall);
        if let (Joined::Given { first, joined_ms, class, .. }, Some(once)) = (joined, keyed.once) {
            let (Keyed { idempotency, proof, user, .. }, at) =
                (keyed.clone(), self.counts.clock_ms);
            let got_it = class.is_some_and(|class| !matches!(class, Classed::Not(_)));
            let class = keyed.class.clone().filter(|_| got_it);
            let first = FirstJoin { number: first, joined_ms, idempotency, proof, user, at, class };
            self.devices.insert(once, first);
            self.requeued.remove(&once);
        }
        if let (Joined::Given { first, .. }, Some(name)) = (joined, &keyed.name) {
            self.call(first, name);
        }
        joined
    }

    /// Whether this join repeats one whose number can still do anything.
    fn repeats(&self, keyed: &Keyed) -> bool {
        let first = keyed.once.and_then(|once| {
            let sent = self.requeued.get(&once).map(|(number, _)| *number);
            sent.or(self.devices.get(&once).map(|first| first.number))
        });
        first.is_some_and(|number| {
            if self.is_drawn(number) {
                return keyed.over != Some(number);
            }
            !matches!(
                self.standing(number),
                Standing::Unknown | Standing::Completed | Standing::Expired(_)
            )
        })
    }

    /// Whoever was sent to the end of the line comes for their number, and has nothing else to show.
    fn sent_back(&mut self, keyed: &Keyed, wall: u64) -> Option<Joined> {
        let (number, joined_ms) = *self.requeued.get(&keyed.once?)?;
        if !self.repeats(keyed) {
            return None;
        }
        let drawn = self.is_drawn(number);
        if !drawn {
            self.ask(Ask::Return, number, wall);
        }
        self.note("came for their number at the end", 1);
        let standing = if drawn { Standing::Waiting } else { self.standing(number) };
        let (epoch, proven) = (self.counts.epoch, keyed.user.is_none());
        Some(Joined::Already { epoch, number, joined_ms, proven, standing, class: None })
    }

    /// The join this one repeats, if its number can still do anything.
    fn known_join(&mut self, keyed: &Keyed, wall: u64) -> Option<Joined> {
        let FirstJoin { number, joined_ms, idempotency, proof, user, class, .. } =
            self.devices.get(&keyed.once?)?.clone();
        let drawn = self.is_drawn(number);
        self.note("a drawn one joined again", u64::from(drawn));
        if drawn && keyed.over == Some(number) {
            self.note("a drawn one was over", 1);
            return None;
        }
        if !drawn
            && matches!(
                self.standing(number),
                Standing::Unknown | Standing::Completed | Standing::Expired(_)
            )
        {
            return None;
        }
        let before = self.standing(number);
        if !drawn {
            self.ask(Ask::Return, number, wall);
        }
        self.note("back by joining again", u64::from(self.standing(number) != before));
        let same = |a: Option<Key>, b: Option<Key>| a.is_some() && a == b;
        let the_same_client = same(idempotency, keyed.idempotency)
            || same(proof, keyed.proof)
            || keyed.device.is_none();
        let proven = the_same_client && user == keyed.user;
        self.note("again as another user", u64::from(the_same_client && !proven));
        self.note("again as the same user", u64::from(proven && user.is_some()));
        // Where a drawn one stands, nodes know.
        let standing = if drawn { Standing::Waiting } else { self.standing(number) };
        let epoch = self.counts.epoch;
        let class = class.and_then(|name| self.class_of(&name)).map(|(index, _)| index as u32);
        self.note("one of a class joined again", u64::from(class.is_some()));
        Some(Joined::Already { epoch, number, joined_ms, proven, standing, class })
    }

    /// Counts a join by its subjects, unless one of them has come too often. What a device's first join was is known from
    /// the device: it is counted as soon as there is anything else to count.
    fn count_attempt(&mut self, keyed: &Keyed) -> Option<Refusal> {
        if self.is_shadow() {
            return None;
        }
        let clock = self.counts.clock_ms;
        let by_device = keyed.device.is_some() && keyed.device == keyed.once;
        let first = keyed.once.filter(|_| by_device).and_then(|device| self.devices.get(&device));
        let mut attempts = Vec::new();
        for limit in &self.settings().join_limits {
            let (subject, per_ms) = (limit.subject, limit.per_ms);
            let key = match subject {
                Subject::Address => keyed.address,
                Subject::Device => keyed.device,
                Subject::User => keyed.user,
            };
            let Some(key) = key else { continue };
            let counts_devices = by_device && subject == Subject::Device;
            let at_times = |one: &Attempt| {
                ((one.subject, one.per_ms, one.key) == (subject, per_ms, key)).then_some(one.at)
            };
            let mut times: Vec<u64> = self.attempts.iter().filter_map(at_times).collect();
            let of = |times: &[u64], window: u64| {
                times.iter().filter(|at| *at / per_ms == window).count() as u64
            };
            if let Some(FirstJoin { at, .. }) = first.filter(|_| counts_devices)
                && of(&times, at / per_ms) == 0
            {
                times.push(*at);
                attempts.push(Attempt { subject, per_ms, key, at: *at });
            }
            let window = clock / per_ms;
            let now = of(&times, window);
            let before = if window == 0 { 0 } else { of(&times, window - 1) };
            let estimate = now + before * (per_ms - clock % per_ms) / per_ms;
            if estimate + 1 > limit.max {
                self.note("too many joins", 1);
                return Some(Refusal::Limited { subject, retry_ms: 1 });
            }
            let outlived = self.settings().ticket_max_ms >= 2 * per_ms;
            if counts_devices && first.is_none() && now + before == 0 && outlived {
                continue;
            }
            attempts.push(Attempt { subject, per_ms, key, at: clock });
        }
        let longest = 2 * attempts.iter().map(|one| one.per_ms).max().unwrap_or(0);
        self.attempts.retain(|one| one.at + longest.max(2 * one.per_ms) > clock);
        self.attempts.extend(attempts);
        None
    }
}
