//! Step 11, its first half: what operators order.

use std::collections::BTreeMap;

use anteroom::line::{
    Batch, Change, Claimed, Command, Commanded, Done, End, Ending, Key, Number, Offer, Offered,
    Once, Order, Overrides, Settings, Standing,
};

use super::Model;

/// An order is known again for a day, and for as long again at most.
const DAY_MS: u64 = 86_400_000;

/// What operators have set and done.
#[derive(Clone, Default)]
pub(super) struct Orders {
    file: Option<Settings>,
    serial: u64,
    /// A value, and when it ends.
    set: BTreeMap<String, (String, Option<u64>)>,
    /// What was ordered under a key, its answer, and in which generation.
    asked: BTreeMap<Key, (Key, Commanded, u64)>,
    generation: u64,
    since: u64,
}

impl Model {
    pub(super) fn order(
        &mut self,
        order: &Order,
        batch: &Batch,
        wall: u64,
        steps: &mut usize,
    ) -> Commanded {
        let Some(Once { key, print }) = order.once else {
            return self.command(&order.command, batch, wall, steps);
        };
        let clock = self.counts.clock_ms;
        if clock - self.orders.since >= DAY_MS {
            (self.orders.since, self.orders.generation) = (clock, self.orders.generation + 1);
        }
        let now = self.orders.generation;
        let known = self.orders.asked.get(&key).filter(|(_, _, then)| then + 1 >= now).cloned();
        match known {
            Some((other, _, _)) if other != print => {
                self.note("another order under the same key", 1);
                Commanded::Conflict
            }
            Some((_, answer, _)) => {
                self.note("an order came again", 1);
                answer
            }
            None => {
                let answer = self.command(&order.command, batch, wall, steps);
                self.orders.asked.insert(key, (print, answer.clone(), now));
                answer
            }
        }
    }

    fn command(
        &mut self,
        command: &Command,
        batch: &Batch,
        wall: u64,
        steps: &mut usize,
    ) -> Commanded {
        match command {
            Command::Pause => self.counts.paused = true,
            Command::Resume => self.counts.paused = false,
            Command::Reset => self.begin_epoch((self.counts.epoch + 1).max(wall / 1_000)),
            Command::Release(count) => return self.release_by_hand(*count, steps),
            Command::Revoke(_)
            | Command::Complete(_)
            | Command::Requeue(_)
            | Command::Extend(_)
                if (batch.epoch, batch.draw) != (self.counts.epoch, self.counts.draw) =>
            {
                return Commanded::Ended(Done::Stale);
            }
            Command::Revoke(number) => return self.ordered_end(*number, Ending::Revoked),
            Command::Complete(number) => return self.ordered_end(*number, Ending::Completed),
            Command::Requeue(number) => return self.ordered_end(*number, Ending::Requeued),
            Command::Extend(number) => {
                let extended = match self.standing(*number) {
                    Standing::Unknown => return Commanded::Ended(Done::Unknown),
                    Standing::Active => self.extend(*number, wall, 2),
                    _ => return Commanded::Ended(Done::Already),
                };
                if !matches!(extended, Claimed::Inside(_)) {
                    return Commanded::Ended(Done::Already);
                }
                self.note("extended by order", 1);
            }
            Command::Set(changes) => self.set(changes),
            Command::Repair => return Commanded::Repaired(0),
            Command::RevokeInvite(id) => self.revoke_invite(*id),
        }
        Commanded::Done
    }

    fn ordered_end(&mut self, number: Number, why: Ending) -> Commanded {
        Commanded::Ended(self.end(End { number, why }))
    }

    fn set(&mut self, changes: &[Change]) {
        for Change { name, value, for_ms } in changes {
            let until = (*for_ms > 0).then(|| self.counts.clock_ms + for_ms);
            match value {
                Some(value) => {
                    self.note("set for a time", u64::from(until.is_some()));
                    self.orders.set.insert(name.clone(), (value.clone(), until));
                }
                None => _ = self.orders.set.remove(name),
            }
        }
        self.orders.serial += 1;
        self.put_in_force();
        self.note("set", 1);
    }

    /// What was set for a time, and whose time is over.
    pub(super) fn end_what_was_set(&mut self) {
        let clock = self.counts.clock_ms;
        let before = self.orders.set.len();
        self.orders.set.retain(|_, (_, until)| until.is_none_or(|until| until > clock));
        if self.orders.set.len() < before {
            self.note("what was set for a time ended", 1);
            self.orders.serial += 1;
            self.put_in_force();
        }
    }

    /// A node's copy is later than what is left of ours.
    pub(super) fn believe(&mut self, known: &Overrides) {
        if known.serial > self.orders.serial {
            self.orders.serial = known.serial;
            let one = |(name, set): (&String, &anteroom::line::Override)| {
                let until = (set.until_ms > 0).then_some(set.until_ms);
                (name.clone(), (set.value.clone(), until))
            };
            self.orders.set = known.set.iter().map(one).collect();
            self.note("what was set came back from a node", 1);
            self.put_in_force();
        }
    }

    pub(super) fn consider(&mut self, offer: &Offer) -> Offered {
        let problems = offer.settings.problems();
        if !problems.is_empty() {
            return Offered::Invalid(problems);
        }
        if self.settings.is_some() && offer.version < self.version {
            return Offered::Older(self.version);
        }
        self.version = offer.version;
        self.orders.file = Some(offer.settings.clone());
        self.put_in_force();
        Offered::Taken
    }

    /// The file, and over it what operators set: field by field, as JSON.
    fn put_in_force(&mut self) {
        let Some(file) = &self.orders.file else { return };
        let mut fields = serde_json::to_value(file).expect("settings are JSON");
        let value = |text: &str| serde_json::from_str(text).expect("a value is JSON");
        for (name, (text, _)) in &self.orders.set {
            if fields.get(name).is_some() {
                fields[name] = value(text);
            }
        }
        if let Some((text, _)) = self.orders.set.get("boost") {
            fields["pace"] = value(text);
            fields["adaptive"] = serde_json::Value::Null;
        }
        let now: Settings = serde_json::from_value(fields).expect("settings again");
        let (pace, heartbeat) = (now.pace, now.heartbeat_timeout_ms);
        let old = self.settings.replace(now);
        self.change_pace(old.as_ref().and_then(|old| old.pace), pace);
        if old.is_some_and(|old| old.heartbeat_timeout_ms != heartbeat) {
            self.all_just_seen();
        }
    }
}
