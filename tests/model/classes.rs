//! Classes and invites, of step 11 and 12: where somebody of a class stands, and whose turn it is among all.

use anteroom::line::{Class, ClassOrder, Classed, Joined, Key, Keyed, NotClassed, Number};

use super::{MAX_DRAWN, MAX_HEAD, Model, Where};

/// Longer than any invite is good.
const MONTH_MS: u64 = 31 * 24 * 3_600_000;

/// What is known of an invite: used in which epoch and how often; and whether it was revoked.
#[derive(Clone, Default)]
pub(super) struct Invited {
    epoch: u64,
    used: u64,
    revoked: bool,
}

/// Somebody who waits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waiter {
    pub number: Number,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Late,
    Classed { place: Number, rank: u64 },
    Ordinary,
}

impl Model {
    pub(super) fn class_of(&self, name: &str) -> Option<(usize, Class)> {
        let classes = &self.settings().classes;
        let index = classes.iter().position(|class| class.name == name)?;
        Some((index, classes[index].clone()))
    }

    /// A newcomer, with the class they asked for if they get it.
    pub(super) fn join_classed(&mut self, keyed: &Keyed, room: &mut u64, wall: u64) -> Joined {
        let classed = keyed.class.as_ref().map(|name| self.judge(name, keyed, wall));
        let joined = self.give(1, room, wall);
        let Joined::Given { epoch, first, count, entered, joined_ms, terms, .. } = joined else {
            return joined;
        };
        match classed {
            Some(Classed::Placed { place, rank }) => {
                let heard = self.counts.clock_ms;
                self.visitor(first).take(Where::Classed { place, rank, heard });
                self.note("joined with a class", 1);
            }
            Some(Classed::Not(NotClassed::Crowded)) => self.counts.class_overflow += 1,
            _ => {}
        }
        if let (Some(Classed::Placed { .. } | Classed::Ordinary), Some(invite)) =
            (classed, keyed.invite)
        {
            let epoch = self.counts.epoch;
            let known = self.invites.entry(invite.id).or_default();
            (known.used, known.epoch) =
                if known.epoch == epoch { (known.used + 1, epoch) } else { (1, epoch) };
            self.note("an invite was used", 1);
        }
        Joined::Given { epoch, first, count, entered, joined_ms, terms, class: classed }
    }

    fn judge(&mut self, name: &str, keyed: &Keyed, wall: u64) -> Classed {
        let Some((_, class)) = self.class_of(name) else {
            self.note("a class that is none", 1);
            return Classed::Not(NotClassed::Unknown);
        };
        if let Some(invite) = keyed.invite {
            let known = self.invites.get(&invite.id).cloned().unwrap_or_default();
            let used = if known.epoch == self.counts.epoch { known.used } else { 0 };
            if invite.until_ms <= wall || invite.until_ms - wall > MONTH_MS {
                self.note("an invite was over", 1);
                return Classed::Not(NotClassed::Expired);
            }
            if known.revoked {
                self.note("a revoked invite came", 1);
                return Classed::Not(NotClassed::Revoked);
            }
            if invite.uses > 0 && used >= u64::from(invite.uses) {
                self.note("a spent invite came", 1);
                return Classed::Not(NotClassed::Spent);
            }
        }
        if class.skip == 0 && class.rank == 0 {
            return Classed::Ordinary;
        }
        let most = if self.before_a_draw() { MAX_DRAWN } else { MAX_HEAD };
        if self.at_the_head() >= most {
            return Classed::Not(NotClassed::Crowded);
        }
        let number = self.counts.issued + 1;
        let skipped = (number - self.counts.released) * class.skip / 1_000;
        Classed::Placed { place: number - skipped, rank: class.rank }
    }

    pub(super) fn revoke_invite(&mut self, id: Key) {
        self.invites.entry(id).or_default().revoked = true;
        self.note("an invite was revoked", 1);
    }

    /// Everybody who waits, in the order of their turns: one after the other, whoever is next. With `bound`, classes get no more
    /// than their share of the turns for which both they and others wait; what they have saved after each turn.
    pub(crate) fn in_order(&self, most: u64, bound: bool) -> Vec<(Waiter, u64)> {
        let (mut late, mut classed, mut ordinary) = (Vec::new(), Vec::new(), Vec::new());
        for visitor in &self.visitors {
            let number = visitor.number;
            match visitor.found {
                Where::Express { place, .. } => late.push((place, number)),
                Where::Classed { place, rank, .. } => classed.push((place, rank, number)),
                _ if self.standing_of(visitor) == anteroom::line::Standing::Waiting => {
                    ordinary.push(number);
                }
                _ => {}
            }
        }
        let strict = self.settings().class_order == ClassOrder::Strict;
        late.sort();
        match strict {
            false => classed.sort_by_key(|(place, rank, number)| (*place, 9 - rank, *number)),
            true => classed.sort_by_key(|(place, rank, number)| (9 - rank, *place, *number)),
        }
        ordinary.sort();
        let share = self.settings().class_share;
        let (mut late, mut classed) = (late.into_iter(), classed.into_iter().peekable());
        let mut ordinary = ordinary.into_iter().peekable();
        let (mut order, mut saved) = (Vec::new(), self.saved);
        while (order.len() as u64) < most {
            if let Some((_, number)) = late.next() {
                order.push((Waiter { number, kind: Kind::Late }, saved));
                continue;
            }
            let class_first = match (classed.peek(), ordinary.peek()) {
                (None, None) => break,
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (Some(&(place, rank, _)), Some(&number)) => {
                    let first = place <= number || strict && rank > 0;
                    if !bound || share == 1_000 {
                        first
                    } else if first && saved + share >= 1_000 {
                        saved = saved + share - 1_000;
                        true
                    } else {
                        saved = (saved + share).min(999);
                        false
                    }
                }
            };
            let next = match class_first {
                true => classed.next().map(|(place, rank, number)| Waiter {
                    number,
                    kind: Kind::Classed { place, rank },
                }),
                false => ordinary.next().map(|number| Waiter { number, kind: Kind::Ordinary }),
            };
            order.extend(next.map(|waiter| (waiter, saved)));
        }
        order
    }
}
