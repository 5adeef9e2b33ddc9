//! A node with its real view, and the visitors who come to it with their tickets.

use std::collections::BTreeMap;

use anteroom::line::{Batch, Claimed, Join, Joined, Key, Keyed, Known, Number, Reply, Taken, View};

use super::compare;
use super::steps::Who;

/// A ticket: its epoch and its number.
pub(super) type Ticket = (u64, Number);

/// So many tickets are remembered, here and in the room.
const TICKETS: usize = 300;

#[derive(Default)]
pub(super) struct Node {
    pub(super) id: u128,
    pub(super) sequence: u64,
    pub(super) view: View,
    /// The line asked for a report and an offer.
    pub(super) asked: bool,
    pub(super) sent: Vec<Batch>,
    /// Numbers given to this node's visitors.
    pub(super) given: Vec<Number>,
    /// Visitors it saw inside, and when their pass says they entered.
    pub(super) entered: Vec<(Number, u64)>,
    /// The number that a key was given, or given again.
    pub(super) devices: BTreeMap<Key, Number>,
    /// Visitors who came back after they had been passed over.
    returned: Vec<Number>,
}

impl Node {
    pub(super) fn new(id: u128) -> Node {
        Node { id, asked: true, ..Node::default() }
    }

    /// Another process in its place: the tickets are in the browsers, all else is gone.
    pub(super) fn restarted(&mut self, id: u128) {
        let (given, entered) = (std::mem::take(&mut self.given), std::mem::take(&mut self.entered));
        *self = Node { given, entered, ..Node::new(id) };
    }

    /// All this node knows, with a report.
    pub(super) fn known(&self) -> Known {
        Known { report: Some(Box::new(self.view.report())), ..self.view.known() }
    }

    /// An answer has come.
    pub(super) fn absorb(
        &mut self,
        batch: &Batch,
        reply: &Reply,
        tickets: &mut Vec<Ticket>,
    ) -> Result<(), String> {
        let (known, epoch) = (self.known(), reply.counts.epoch);
        let settling = matches!(reply.taken, Taken::Settling { .. });
        if self.view.counts().epoch != epoch && !settling {
            self.given.clear();
            self.entered.clear();
            self.returned.clear();
        }
        self.view.absorb(reply);
        self.asked = matches!(reply.taken, Taken::Settling { .. } | Taken::Unconfigured);
        if settling {
            compare::kept(&known, &self.known())?;
        }
        self.visitors_told(batch, reply, tickets);
        Ok(())
    }

    fn visitors_told(&mut self, batch: &Batch, reply: &Reply, tickets: &mut Vec<Ticket>) {
        for joined in &reply.joins {
            let Joined::Given { epoch, first, count, entered, terms, .. } = *joined else {
                continue;
            };
            let last = first + u64::from(count) - 1;
            for number in (first..=last).filter(|number| number - first < 100 || last - number < 20)
            {
                tickets.push((epoch, number));
                if epoch != reply.counts.epoch {
                    continue;
                }
                self.given.push(number);
                if let Some(terms) = terms.filter(|_| number < first + u64::from(entered)) {
                    self.entered.push((number, terms.admitted_ms));
                }
            }
        }
        for (join, joined) in batch.joins.iter().zip(&reply.joins) {
            if let Join::Keyed(Keyed { once: Some(once), .. }) = join
                && let Joined::Given { first: number, .. } | Joined::Already { number, .. } = joined
            {
                self.devices.insert(*once, *number);
            }
        }
        for (number, claimed) in batch.claims.iter().zip(&reply.claims) {
            if let Claimed::Inside(terms) = claimed {
                self.entered.push((*number, terms.admitted_ms));
            }
        }
        let vouched = batch.vouched.iter().zip(&reply.vouched);
        for (number, claimed) in batch.returns.iter().zip(&reply.returns).chain(vouched) {
            if *claimed == Claimed::Waiting && *number <= reply.counts.released {
                self.returned.push(*number);
            }
        }
        self.given.drain(..self.given.len().saturating_sub(TICKETS));
        tickets.drain(..tickets.len().saturating_sub(TICKETS));
    }

    /// A number, and whether it stands on a ticket of this epoch.
    pub(super) fn find(&self, who: Who, epoch: u64, tickets: &[Ticket]) -> (Number, bool) {
        let counts = self.view.counts();
        let back = |list: &[Number], back: u64| {
            let back = back as usize % list.len().max(1);
            list.len().checked_sub(1 + back).map_or((0, false), |index| (list[index], true))
        };
        match who {
            Who::Mine(k) => back(&self.given, k),
            Who::Anyones(k) => {
                let current = tickets.iter().filter(|ticket| ticket.0 == epoch);
                back(&current.map(|ticket| ticket.1).collect::<Vec<_>>(), k)
            }
            Who::Entered(k) => {
                let numbers: Vec<Number> = self.entered.iter().map(|(number, _)| *number).collect();
                back(&numbers, k)
            }
            Who::Returned(k) => back(&self.returned, k),
            Who::Frontier(off) => (counts.released.saturating_add_signed(off), false),
            Who::Lapsed(off) => (counts.lapsed.saturating_add_signed(off), false),
            Who::Share(thousandths) => (counts.issued * thousandths / 1_000, false),
            Who::Beyond(above) => (counts.issued + 1 + above, false),
        }
    }
}
