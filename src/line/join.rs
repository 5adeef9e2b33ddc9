//! Newcomers: a number each, once each, and not too often.
//!
//! Owns what is remembered about a join. Never sees a device, an address or a user, only their
//! keyed hashes. Newcomers about whom nothing is to be remembered cost a range of bits together.

use serde::{Deserialize, Serialize};

use super::batch::{
    Batch, Classed, Join, Joined, Key, Keyed, NotClassed, Number, Reason, Refusal, Standing,
};
use super::class::{self, INVITE_MS};
use super::packed::Packed;
use super::settings::{JoinLimit, Mode, Settings, Subject};
use super::state::Line;
use super::sweep::PLACES_MAX;

/// What is kept about the join that gave a key its number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct FirstJoin {
    number: Number,
    joined_ms: u64,
    /// No device: the key is the client's own and proves itself.
    secret: bool,
    idempotency: Option<Packed>,
    proof: Option<Packed>,
    /// As whom: in the ticket, so it must be the same in a ticket that is the same. Snapshots had none once.
    #[serde(default)]
    user: Option<Packed>,
    /// Of a device: when it was on the room's clock. Limits on devices count it from here.
    #[serde(default)]
    at_ms: Option<u64>,
    /// Of which class.
    #[serde(default)]
    class: Option<String>,
}

/// The key under which whoever was sent to the end of the line finds their new number: made from the one they had.
pub fn requeued(number: Number) -> Key {
    let mut key = *b"requeued\0\0\0\0\0\0\0\0";
    key[8..].copy_from_slice(&number.to_be_bytes());
    key
}

impl Keyed {
    /// The join of whoever was sent to the end of the line, with nothing to show but the number they had.
    pub fn requeued(number: Number) -> Keyed {
        Keyed { once: Some(requeued(number)), ..Keyed::default() }
    }
}

/// Joins counted in one window and the one before: a sliding window in two numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Window {
    index: u64,
    current: u64,
    previous: u64,
}

impl Window {
    /// The window as it is at `index`.
    fn at(self, index: u64) -> Window {
        match index.saturating_sub(self.index) {
            0 => self,
            1 => Window { index, current: 0, previous: self.current },
            _ => Window { index, ..Window::default() },
        }
    }

    /// The same, with at least one join counted at `index`, which was before or is the window's own.
    fn with_one(self, index: u64) -> Window {
        let window = self.at(index);
        Window { current: window.current.max(1), ..window }
    }

    fn is_empty(self) -> bool {
        self.current + self.previous == 0
    }

    /// How long until one more is within the limit; 0 if it is now.
    fn retry_ms(self, limit: JoinLimit, now_ms: u64) -> u64 {
        let into_ms = now_ms % limit.per_ms;
        let weighed = |count: u64, into_ms: u64| count * (limit.per_ms - into_ms) / limit.per_ms;
        if self.current + weighed(self.previous, into_ms) < limit.max {
            return 0;
        }
        // In this window the previous one fades; if that is not enough, in the next one this does.
        let fades = |count: u64, room: u64| {
            limit.per_ms.saturating_sub((room * limit.per_ms).saturating_sub(1) / count.max(1))
        };
        if self.current < limit.max {
            let at_ms = fades(self.previous, limit.max - self.current);
            return at_ms.saturating_sub(into_ms).max(1);
        }
        limit.per_ms - into_ms + fades(self.current, limit.max)
    }
}

/// Whether it is by its device that a join is found again.
fn is_device(keyed: &Keyed) -> bool {
    keyed.device.is_some() && keyed.device == keyed.once
}

/// The keys of a join that a limit may count.
fn counted(keyed: &Keyed, subject: Subject) -> Option<Key> {
    match subject {
        Subject::Address => keyed.address,
        Subject::Device => keyed.device,
        Subject::User => keyed.user,
    }
}

impl Line {
    /// Takes the batch's newcomers, in order.
    pub(super) fn join(&mut self, batch: &Batch, joins: &mut Vec<Joined>) {
        let lifetime_ms = self.settings().ticket_max_ms;
        self.joined.age(self.clock_ms, lifetime_ms);
        self.invites.age(self.clock_ms, INVITE_MS);
        let longest_ms = self.settings().join_limits.iter().map(|limit| limit.per_ms).max();
        self.limits.age(self.clock_ms, 2 * longest_ms.unwrap_or(0));
        let mut space = PLACES_MAX.saturating_sub(self.issued - self.lapsed);
        if let Some(max) = self.settings().max_waiting {
            let wanted = max.saturating_add(self.allowance()).saturating_sub(self.waiting);
            space = space.min(wanted);
        }
        let names = batch.joins.iter().filter(|join| join.is_named()).count();
        self.make_room_for_names(names);
        for join in &batch.joins {
            let joined = match join {
                Join::Plain(count) => self.give(u64::from(*count), space),
                Join::Keyed(keyed) => self.join_keyed(keyed, space),
            };
            if let Joined::Given { count, .. } = joined {
                space -= u64::from(count);
            }
            joins.push(joined);
        }
    }

    fn join_keyed(&mut self, keyed: &Keyed, space: u64) -> Joined {
        let known = self.first_join(keyed);
        if known.is_none()
            && let Some(refusal) = self.refusal(space)
        {
            return Joined::Refused(refusal); // Before it is counted: strangers must not fill a table.
        }
        if known.is_none() && keyed.name.as_deref().is_some_and(|name| self.name_refused(name)) {
            return Joined::Refused(Refusal::NameTaken);
        }
        // Whoever asks a second time, because the line could not tell, was counted the first time.
        if keyed.over.is_none()
            && let Some(refusal) = self.count_attempt(keyed)
        {
            return Joined::Refused(refusal);
        }
        if let Some(first) = known {
            return self.join_again(keyed, first);
        }
        let classed = self.classify(keyed);
        let joined = match classed {
            Some(Classed::Placed { place, rank }) => self.give_classed(place, rank),
            _ => self.give(1, space),
        };
        let joined = self.note_class(keyed, classed, joined);
        if let (Joined::Given { first: number, joined_ms, .. }, Some(once)) = (joined, keyed.once) {
            let first = FirstJoin {
                number,
                joined_ms,
                secret: keyed.device.is_none(),
                idempotency: keyed.idempotency.map(Packed),
                proof: keyed.proof.map(Packed),
                user: keyed.user.map(Packed),
                at_ms: is_device(keyed).then_some(self.clock_ms),
                class: keyed.class.clone().filter(|_| !matches!(classed, Some(Classed::Not(_)))),
            };
            self.joined.put(Packed(once), first);
        }
        if let (Joined::Given { first: number, .. }, Some(name)) = (joined, &keyed.name) {
            self.give_name(number, name);
        }
        joined
    }

    /// Somebody was sent to the end of the line: a number there, found again by the one they had. Whoever was let in once
    /// is not refused because many wait.
    pub(super) fn join_requeued(&mut self, from: Number) {
        let space = PLACES_MAX.saturating_sub(self.issued - self.lapsed);
        if let Joined::Given { first: number, joined_ms, .. } = self.give(1, space) {
            let first = FirstJoin {
                number,
                joined_ms,
                secret: true,
                idempotency: None,
                proof: None,
                user: None,
                at_ms: None,
                class: None,
            };
            self.joined.put(Packed(requeued(from)), first);
            self.move_name(from, number);
        }
    }

    /// A number at the head of the line. There is room: it was asked before.
    fn give_classed(&mut self, place: Number, rank: u64) -> Joined {
        self.issued += 1;
        let first = self.issued;
        self.used.set(first);
        self.head.wait_classed(first, class::standpoint(place, rank), self.clock_ms);
        self.waiting += 1;
        self.given_now(first, 1)
    }

    /// What became of the class that was asked for is told, and an invite that got it is used.
    fn note_class(&mut self, keyed: &Keyed, classed: Option<Classed>, joined: Joined) -> Joined {
        let Joined::Given { epoch, first, count, entered, joined_ms, terms, .. } = joined else {
            return joined;
        };
        match classed {
            Some(Classed::Not(NotClassed::Crowded)) => self.class_overflow += 1,
            Some(Classed::Placed { .. } | Classed::Ordinary) => {
                if let (Some(invite), Some(name)) = (keyed.invite, &keyed.class) {
                    self.spend_invite(invite, name);
                }
            }
            _ => {}
        }
        Joined::Given { epoch, first, count, entered, joined_ms, terms, class: classed }
    }

    /// The join that gave this key a number, if that is not over.
    fn first_join(&self, keyed: &Keyed) -> Option<FirstJoin> {
        let first = self.joined.get(&Packed(keyed.once?))?;
        match self.standing(first.number) {
            // Under which number it stands since, nodes know.
            Standing::Expired(_) if self.is_drawn(first.number) => {
                (keyed.over != Some(first.number)).then(|| first.clone())
            }
            Standing::Expired(_) | Standing::Completed | Standing::Unknown => None,
            _ => Some(first.clone()),
        }
    }

    /// Whether a number stands for another one since a draw.
    fn is_drawn(&self, number: Number) -> bool {
        let over = self.standing(number);
        matches!(over, Standing::Expired(Reason::Used | Reason::Passed))
            && self.draws.contain(number)
    }

    /// A key that has a number gets it again, and counts as here.
    fn join_again(&mut self, keyed: &Keyed, first: FirstJoin) -> Joined {
        let drawn = self.is_drawn(first.number);
        if !drawn {
            self.come_back(first.number, false);
        }
        let same =
            |ours: Option<Key>, first: Option<Packed>| ours.is_some() && ours.map(Packed) == first;
        let their_own = first.secret
            || same(keyed.idempotency, first.idempotency)
            || same(keyed.proof, first.proof);
        // As somebody else they would be given another ticket of the same place.
        let proven = their_own && keyed.user.map(Packed) == first.user;
        let (epoch, number, joined_ms) = (self.epoch, first.number, first.joined_ms);
        let class = first.class.as_deref().and_then(|name| self.class(name));
        let class = class.and_then(|(index, _)| u32::try_from(index).ok());
        if let Some(once) = keyed.once {
            self.joined.put(Packed(once), first);
        }
        let standing = if drawn { Standing::Waiting } else { self.standing(number) };
        Joined::Already { epoch, number, joined_ms, proven, standing, class }
    }

    /// Counts a join against every limit it falls under, unless one of them refuses it.
    ///
    /// The first join of a device is remembered anyhow, with its time: as long as that is all there is to count, a limit on
    /// devices keeps nothing of its own. Most devices join once.
    fn count_attempt(&mut self, keyed: &Keyed) -> Option<Refusal> {
        let Settings { mode, join_limits, ticket_max_ms, .. } = self.settings();
        if *mode == Mode::Shadow {
            return None;
        }
        let device = keyed.once.filter(|_| is_device(keyed));
        let first = device.and_then(|device| self.joined.get(&Packed(device)));
        let mut windows = Vec::with_capacity(join_limits.len());
        for limit in join_limits {
            let Some(key) = counted(keyed, limit.subject) else {
                continue;
            };
            let slot = (limit.subject, limit.per_ms, Packed(key));
            let mut window = self.limits.get(&slot).copied().unwrap_or_default();
            let device = device.filter(|_| limit.subject == Subject::Device);
            if let (Some(_), Some(at_ms)) = (device, first.and_then(|first| first.at_ms)) {
                window = window.with_one(at_ms / limit.per_ms);
            }
            let mut window = window.at(self.clock_ms / limit.per_ms);
            let retry_ms = window.retry_ms(*limit, self.clock_ms);
            if retry_ms > 0 {
                return Some(Refusal::Limited { subject: limit.subject, retry_ms });
            }
            // Remembered for as long as it counts: two windows.
            let remembered = 2 * limit.per_ms <= *ticket_max_ms;
            if device.is_some() && first.is_none() && window.is_empty() && remembered {
                continue;
            }
            window.current += 1;
            windows.push((slot, window));
        }
        for (slot, window) in windows {
            self.limits.put(slot, window);
        }
        None
    }

    /// Why nobody new is taken.
    fn refusal(&self, space: u64) -> Option<Refusal> {
        if self.is_closed() || self.settings().mode == Mode::Drain {
            return Some(Refusal::Closed);
        }
        (space == 0).then_some(Refusal::Full)
    }

    /// Gives up to `wanted` numbers.
    fn give(&mut self, wanted: u64, space: u64) -> Joined {
        if let Some(refusal) = self.refusal(space) {
            return Joined::Refused(refusal);
        }
        let count = wanted.min(space);
        let first = self.issued + 1;
        self.issued += count;
        self.live.set_range(first..=self.issued);
        self.seen[self.ring].set_range(first..=self.issued);
        self.waiting += count;
        self.given_now(first, count)
    }

    fn given_now(&self, first: Number, count: u64) -> Joined {
        let count = u32::try_from(count).unwrap_or(u32::MAX); // at most what was wanted, a u32
        Joined::Given {
            epoch: self.epoch,
            first,
            count,
            entered: 0,
            joined_ms: self.wall_ms,
            terms: None,
            class: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_before_users_were_is_read() {
        let key = Some(Packed([7; 16]));
        let before = rmp_serde::to_vec(&(3_u64, 1_000_u64, false, key, None::<Packed>)).unwrap();
        let first = FirstJoin {
            number: 3,
            joined_ms: 1_000,
            secret: false,
            idempotency: key,
            proof: None,
            user: None,
            at_ms: None,
            class: None,
        };
        assert_eq!(rmp_serde::from_slice::<FirstJoin>(&before).unwrap(), first);
        let now = rmp_serde::to_vec(&FirstJoin { user: key, ..first.clone() }).unwrap();
        assert_eq!(rmp_serde::from_slice::<FirstJoin>(&now).unwrap().user, key);
    }

    /// The moment a refusal names is the moment the next one is taken, and not a millisecond later.
    #[test]
    fn retry_names_the_first_moment() {
        for max in 1..6u64 {
            let limit = JoinLimit { subject: Subject::Address, max, per_ms: 1_000 };
            for current in 0..8 {
                for previous in 0..8 {
                    for into in (0..1_000).step_by(37) {
                        let now_ms = 5_000 + into;
                        let window = Window { index: 5, current, previous };
                        let free = |ms: u64| window.at(ms / 1_000).retry_ms(limit, ms) == 0;
                        let retry_ms = window.retry_ms(limit, now_ms);
                        assert!(
                            free(now_ms + retry_ms),
                            "{window:?} {limit:?} at {now_ms}: {retry_ms}"
                        );
                        assert!(
                            retry_ms == 0 || !free(now_ms + retry_ms - 1),
                            "{window:?} {limit:?} {now_ms} {retry_ms}"
                        );
                    }
                }
            }
        }
    }
}
