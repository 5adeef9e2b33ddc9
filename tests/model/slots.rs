//! Seats with names, and visitors with names.

use anteroom::line::{Ending, Mode, Number, Reason, Standing};

use super::{MAX_PLACES, Model, Where};

/// More names than this are not kept.
const MAX_NAMES: usize = 2_500;

impl Model {
    /// Who sits in a slot.
    fn in_slot(&self, slot: u64) -> Option<Number> {
        let sits = |found: &Where| matches!(found, Where::Inside(seat) if seat.terms.slot == slot);
        self.visitors.iter().find(|visitor| sits(&visitor.found)).map(|visitor| visitor.number)
    }

    /// The slot somebody gets who had, or wants, this one.
    pub(super) fn slot_for(&mut self, number: Number, wanted: u64) -> u64 {
        let count = self.settings().slots.len() as u64;
        let theirs =
            |model: &Model, slot: u64| model.in_slot(slot).is_none_or(|holder| holder == number);
        if wanted > 0 && wanted <= count && theirs(self, wanted) {
            return wanted;
        }
        if self.counts.missing > 0 {
            self.note("no slot while seats are missing", u64::from(count > 0));
            return 0;
        }
        let lowest = (1..=count).find(|slot| theirs(self, *slot));
        self.note("another slot than before", u64::from(wanted > 0 && lowest.is_some()));
        lowest.unwrap_or(0)
    }

    /// The last connection on a node has closed.
    pub(super) fn hang_up(&mut self, number: Number) {
        let due = self.counts.clock_ms + self.settings().slot_grace_ms;
        if self.settings().slots.is_empty() || self.standing(number) != Standing::Active {
            return;
        }
        if let Where::Inside(seat) = &mut self.visitor(number).found {
            seat.left_at = Some(due);
        }
    }

    /// Whoever hung up and was not heard of since has left.
    pub(super) fn end_hung_up(&mut self) {
        let clock = self.counts.clock_ms;
        let mut due: Vec<(u64, Number)> = Vec::new();
        for visitor in &self.visitors {
            if let Where::Inside(seat) = &visitor.found
                && let Some(at) = seat.left_at.filter(|at| *at <= clock)
            {
                due.push((at, visitor.number));
            }
        }
        due.sort();
        let most = self.steps - super::LEAVES * self.duties_to_come;
        due.truncate(most);
        self.steps -= due.len();
        self.backlog |= due.len() == most;
        self.note("hung up, and left", due.len() as u64);
        for (_, number) in due {
            self.end_session(number, Ending::Left);
        }
    }

    /// To the end of the line.
    pub(super) fn requeue(&mut self, number: Number) {
        let closed = self.settings().mode == Mode::Drain || self.shut();
        if closed || self.counts.issued - self.counts.lapsed >= MAX_PLACES {
            return;
        }
        self.note("requeued", 1);
        let new = self.counts.issued + 1;
        self.counts.issued = new;
        self.append(new, new);
        let mut key = [0; 16];
        key[..8].copy_from_slice(b"requeued");
        key[8..].copy_from_slice(&number.to_be_bytes());
        self.devices.remove(&key);
        self.requeued.insert(key, (new, self.last_wall));
        let name = self.visitor(number).name.take();
        self.note("a name went along", u64::from(name.is_some()));
        self.visitor(new).name = name;
    }

    /// So many newcomers have a name.
    pub(super) fn expect_names(&mut self, count: usize) {
        if count > 0 && self.settings().roster && self.names() + count > MAX_NAMES {
            let idle = Standing::Expired(Reason::Ended(Ending::Idle));
            let named = self.visitors.iter().filter(|visitor| visitor.name.is_some());
            let back = named.filter(|visitor| self.standing_of(visitor) == idle).count();
            self.note("names of the idle were too many", u64::from(back > 0));
            self.forget_names(true);
        }
    }

    /// Whether nobody else may be called so now.
    pub(super) fn is_taken(&mut self, name: &str) -> bool {
        if !self.settings().roster {
            return false;
        }
        let same = |other: &Option<String>| {
            let other = other.as_ref().map(|other| other.to_lowercase());
            other == Some(name.to_lowercase())
        };
        let here =
            |standing: Standing| !matches!(standing, Standing::Completed | Standing::Expired(_));
        let taken = self
            .visitors
            .iter()
            .any(|visitor| same(&visitor.name) && here(self.standing_of(visitor)));
        self.note("a name was taken", u64::from(taken));
        taken || self.names() >= MAX_NAMES
    }

    fn names(&self) -> usize {
        self.visitors.iter().filter(|visitor| visitor.name.is_some()).count()
    }

    pub(super) fn call(&mut self, number: Number, name: &str) {
        if !self.settings().roster {
            return;
        }
        let folded = name.to_lowercase();
        for visitor in &mut self.visitors {
            if visitor.name.as_ref().is_some_and(|other| other.to_lowercase() == folded) {
                visitor.name = None;
            }
        }
        self.visitor(number).name = Some(name.to_owned());
        self.note("named", 1);
    }

    /// A node remembers a name.
    pub(super) fn remember_name(&mut self, number: Number, name: &str) {
        let folded = name.to_lowercase();
        let taken = |other: &Option<String>| {
            other.as_ref().is_some_and(|other| other.to_lowercase() == folded)
        };
        if number == 0
            || number > self.counts.issued
            || self.find(number).is_some_and(|visitor| visitor.name.is_some())
            || self.visitors.iter().any(|visitor| taken(&visitor.name))
            || self.names() >= MAX_NAMES
        {
            return;
        }
        self.visitor(number).name = Some(name.to_owned());
        self.note("a name came back from a node", 1);
    }

    /// Whoever is gone needs no name.
    pub(super) fn forget_names(&mut self, too_many: bool) {
        let none = !self.settings().roster;
        let gone: Vec<Number> = self
            .visitors
            .iter()
            .filter(|visitor| {
                let over = match self.standing_of(visitor) {
                    Standing::Expired(Reason::Ended(Ending::Idle)) => too_many,
                    Standing::Completed | Standing::Expired(_) => true,
                    _ => false,
                };
                visitor.name.is_some() && (none || over)
            })
            .map(|visitor| visitor.number)
            .collect();
        for number in gone {
            self.visitor(number).name = None;
        }
    }

    /// Every name of somebody who waits or is inside: who, and in which slot.
    pub fn roster(&self) -> Vec<(Number, String, Option<u64>)> {
        let mut roster = Vec::new();
        for visitor in &self.visitors {
            let slot = match &visitor.found {
                Where::Inside(seat) => Some(seat.terms.slot),
                _ => None,
            };
            let over =
                matches!(self.standing_of(visitor), Standing::Completed | Standing::Expired(_));
            if let Some(name) = visitor.name.clone().filter(|_| !over) {
                roster.push((visitor.number, name, slot));
            }
        }
        roster
    }
}
