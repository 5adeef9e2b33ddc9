//! From what a step says to a batch: the visitors it means are found when it is made.

use anteroom::line::{
    ANSWERS, Batch, Change, Command, ERRORS, End, FAST, FIGURES, Invite, Join, Keyed, Known, Lot,
    MAX_NAMED, Number, Offer, Once, Order, Renewal, SLOW, Seed, requeued,
};

use super::steps::{Item, JoinKey, Ordered, Who};
use super::world::World;

/// An `issued` that no room can have reached.
const NONSENSE: Number = 1 << 41;
/// A batch holds 250 single items.
const MOST: usize = 200;
/// Two ways to write some of them.
const NAMES: [&str; 8] =
    ["Ada", "ADA", "Bo", "\u{c9}mile", "\u{e9}mile", "\"q\"", "\u{674e}", "<b>"];

impl World {
    /// The next batch of a node.
    pub(super) fn batch(&mut self, index: usize, items: &[Item]) -> Batch {
        let node = &mut self.nodes[index];
        node.sequence += 1;
        let mut batch = node.view.greeting(node.id, node.sequence);
        if node.asked {
            batch.known = node.known();
            if let Some(report) = &mut batch.known.report {
                report.more = node.sequence.is_multiple_of(3);
            }
            batch.epoch = batch.known.epoch;
            batch.offer = Some(Offer { version: self.version, settings: self.file.clone() });
        }
        let newest = self.tickets.last().copied().unwrap_or_default();
        batch.epoch = batch.epoch.max(newest.0);
        let mut proven = 0;
        for item in items {
            self.put(index, item, &mut batch, &mut proven);
        }
        if self.room.tickets_prove
            && proven > batch.known.issued
            && batch.epoch >= batch.known.epoch
        {
            if batch.epoch > batch.known.epoch {
                batch.known = Known { epoch: batch.epoch, ..Known::default() };
            }
            batch.known.issued = batch.known.issued.max(proven);
        }
        self.promises.poll(&mut batch);
        batch.lot = self.lot(index, batch.sequence);
        batch
    }

    /// What a node brings to a draw: now and then nothing, or something about another opening.
    fn lot(&self, index: usize, sequence: u64) -> Option<Lot> {
        let (view, now) = (&self.nodes[index].view, self.now.wall_ms);
        let ahead = view.settings().and_then(|settings| settings.phase(now).draw_ahead());
        let due = view.draw_due(now);
        let opens_ms = due.or(ahead).filter(|_| !sequence.is_multiple_of(4))?;
        let opens_ms = if sequence.is_multiple_of(13) { opens_ms + 1 } else { opens_ms };
        let seed: Seed = std::array::from_fn(|nth| (opens_ms.rotate_left(nth as u32) % 251) as u8);
        let (kid, seed) = (format!("k-{index}"), due.map(|_| seed));
        Some(Lot { opens_ms, kid, hash: [index as u8; 32], seed })
    }

    fn put(&mut self, index: usize, item: &Item, batch: &mut Batch, proven: &mut Number) {
        let epoch = batch.epoch;
        let lists = [&batch.present, &batch.leaves, &batch.returns, &batch.vouched, &batch.claims];
        let items: usize = lists.iter().map(|list| list.len()).sum::<usize>()
            + batch.spends.len()
            + batch.hangups.len();
        let mut any = |who: Who, count: u64| {
            let (number, on_ticket) = self.nodes[index].find(who, epoch, &self.tickets);
            if on_ticket {
                *proven = number.max(*proven);
            }
            (0..count).map_while(move |down| number.checked_sub(down)).collect::<Vec<_>>()
        };
        if let Item::Mark { who, count } = item {
            return batch.marks.extend(any(*who, *count));
        }
        let left = MOST.saturating_sub(items) as u64;
        let mut run = |who: Who, count: u64| any(who, count.min(left));
        match item {
            Item::Mark { .. } => {}
            Item::Present { who, count } => batch.present.extend(run(*who, *count)),
            Item::Leave { who, count } => batch.leaves.extend(run(*who, *count)),
            Item::Spend { who, count } => batch.spends.extend(run(*who, *count)),
            Item::Return { who, count } => batch.returns.extend(run(*who, *count)),
            Item::Vouch { who, count } => batch.vouched.extend(run(*who, *count)),
            Item::Claim { who, count } => batch.claims.extend(run(*who, *count)),
            Item::End { who, why } => {
                batch
                    .ends
                    .extend(run(*who, 1).iter().map(|number| End { number: *number, why: *why }));
            }
            Item::HangUp { who, count } => batch.hangups.extend(run(*who, *count)),
            Item::SentBack { who } => {
                let once = run(*who, 1).first().map(|number| requeued(*number));
                batch.joins.push(Join::Keyed(Keyed { once, ..Keyed::default() }));
            }
            Item::Renew { who, ago_ms, slot, extend } => {
                let Some(&number) = run(*who, 1).first() else {
                    return;
                };
                let entered =
                    self.nodes[index].entered.iter().rev().find(|(inside, _)| *inside == number);
                let admitted_ms = entered
                    .map_or(self.now.wall_ms.saturating_sub(*ago_ms), |(_, admitted)| *admitted);
                let (slot, extend) = (*slot, *extend);
                batch.renewals.push(Renewal { number, admitted_ms, slot, extend });
            }
            Item::MarkMine => {
                let given = &self.nodes[index].given;
                batch.marks.extend(&given[given.len().saturating_sub(150)..]);
            }
            Item::Join(count) => batch.joins.push(Join::Plain(*count)),
            Item::JoinKey(key) => {
                let keyed = keyed(*key, self.now.wall_ms);
                let known = keyed.once.and_then(|once| self.nodes[index].devices.get(&once));
                let over = known.copied().filter(|_| key.over);
                batch.joins.push(Join::Keyed(Keyed { over, ..keyed }));
            }
            Item::Command(command) if fits(batch, command) => {
                batch.commands.push(command.clone().into())
            }
            Item::Command(_) => {}
            Item::Order { what, once } if batch.commands.len() < 10 => {
                let command = match what {
                    Ordered::Plain(command) => command.clone(),
                    Ordered::Revoke(who) => {
                        Command::Revoke(run(*who, 1).first().copied().unwrap_or(0))
                    }
                    Ordered::Complete(who) => {
                        Command::Complete(run(*who, 1).first().copied().unwrap_or(0))
                    }
                    Ordered::Extend(who) => {
                        Command::Extend(run(*who, 1).first().copied().unwrap_or(0))
                    }
                    Ordered::Requeue(who) => {
                        Command::Requeue(run(*who, 1).first().copied().unwrap_or(0))
                    }
                    Ordered::Set(changes) => Command::Set(changes.iter().map(change).collect()),
                };
                if !fits(batch, &command) {
                    return;
                }
                let once = once.map(|(key, print)| Once { key: [key; 16], print: [print; 16] });
                let note = format!(r#"{{"admin_id":"ops","action":"{}"}}"#, batch.sequence);
                batch.commands.push(Order { command, note, once });
            }
            Item::Order { .. } => {}
            Item::Post(post) => {
                batch.wants = post.wants;
                batch.sent = (post.sent..post.sent + 5).collect();
                batch.tags = vec![(post.tagged, r#"{"device_id":"d-1/\"x\""}"#.to_owned())];
                if post.figures {
                    batch.figures =
                        (0..FIGURES as u64).map(|nth| nth * batch.sequence % 7).collect();
                    // An origin that is well, slow, wrong, or says nothing.
                    let verdicts = match batch.sequence / 3 % 8 {
                        0 | 1 => [40, 0, 1, 39],
                        2 => [40, 0, 1, 20],
                        3 => [30, 25, 0, 30],
                        4 => [0, 0, 30, 2],
                        5 | 6 => [batch.sequence % 2, 0, 0, 1],
                        _ => [7, 1, 2, 9],
                    };
                    for (at, count) in [ANSWERS, ERRORS, SLOW, FAST].into_iter().zip(verdicts) {
                        batch.figures[at] = count;
                    }
                }
                batch.about = post.about.map(|nth| format!(r#"{{"version":"{nth}"}}"#));
            }
            Item::Offer { change, version } => {
                let mut settings = self.file.clone();
                change.make(&mut settings);
                if *version < 0 {
                    batch.offer = Some(Offer { version: self.version.saturating_sub(1), settings });
                    return;
                }
                self.version += version.unsigned_abs();
                if settings.problems().is_empty() {
                    self.file = settings.clone();
                }
                batch.offer = Some(Offer { version: self.version, settings });
            }
            Item::Nonsense if batch.known.epoch > 0 => {
                batch.known.issued = NONSENSE;
                (batch.known.released, batch.known.lapsed) = (NONSENSE, NONSENSE);
            }
            Item::Nonsense => {}
            Item::OldEpoch => batch.epoch = batch.epoch.saturating_sub(1),
        }
    }
}

fn change((name, value, for_ms): &(&str, Option<String>, u64)) -> Change {
    Change { name: (*name).to_owned(), value: value.clone(), for_ms: *for_ms }
}

fn keyed(key: JoinKey, wall_ms: u64) -> Keyed {
    let hash = |kind: u8, key: Option<u8>| {
        key.map(|key| [kind, key, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    };
    Keyed {
        once: hash(1 + u8::from(key.by_device), key.once),
        idempotency: hash(1, key.idempotency),
        proof: hash(3, key.proof),
        address: hash(3, key.address),
        device: hash(2, key.once.filter(|_| key.by_device)),
        user: hash(4, key.user),
        name: key.name.map(|name| NAMES[name as usize % NAMES.len()].to_owned()),
        class: key.class.map(|nth| format!("class-{nth}")),
        invite: key.invite.map(|(id, uses, good_for)| Invite {
            id: [id; 16],
            uses,
            until_ms: wall_ms.saturating_add_signed(good_for),
        }),
        over: None,
    }
}

/// Whether its answer may name them, beside those of the orders before it.
fn fits(batch: &Batch, command: &Command) -> bool {
    let named: usize = batch.commands.iter().map(|order| order.command.names()).sum();
    named + command.names() <= MAX_NAMED
}
