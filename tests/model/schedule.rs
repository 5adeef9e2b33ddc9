//! When a room is open by its schedule, and the draw: step 11, between orders and joins.

use anteroom::line::{Commitment, Draw, Draws, Event, Lot, Mode, Number, Prequeue};

use super::{MAX_PLACES, Model, Where};

/// So many draws are remembered.
const REMEMBERED: usize = 16;

/// What the schedule says about a moment.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Now {
    Open,
    Before { opens: u64, draw: bool },
    Closed { next: Option<(u64, bool)> },
}

/// All times an event opens, as far as they may matter: when it opens, and when it ends.
fn times(event: &Event, wall: u64) -> Vec<(u64, Option<u64>)> {
    let mut found = vec![(event.opens_ms, event.closes_ms)];
    while let (Some(every), Some(&(opens, closes))) = (event.every_ms, found.last())
        && opens <= wall
    {
        found.push((opens + every, closes.map(|closes| closes + every)));
    }
    found
}

impl Model {
    /// By the schedule alone.
    fn scheduled(&self, wall: u64) -> Now {
        let events = &self.settings().schedule;
        let mut next: Vec<(u64, u64, bool)> = Vec::new();
        for event in events {
            for (opens, closes) in times(event, wall) {
                if opens <= wall && closes.is_none_or(|closes| wall < closes) {
                    return Now::Open;
                }
                if opens > wall {
                    next.push((opens.saturating_sub(event.prequeue_ms), opens, event.draw));
                }
            }
        }
        if events.is_empty() {
            return Now::Open;
        }
        let begun = next.iter().filter(|(from, ..)| *from <= wall);
        match begun.min_by_key(|(_, opens, _)| *opens) {
            Some(&(_, opens, draw)) => Now::Before { opens, draw },
            None => {
                let first = next.iter().min_by_key(|(from, ..)| *from);
                Now::Closed { next: first.map(|&(_, opens, draw)| (opens, draw)) }
            }
        }
    }

    /// As far as it counts.
    pub(super) fn now(&self) -> Now {
        match (self.scheduled(self.last_wall), self.draws.prequeue) {
            _ if self.settings().mode != Mode::Auto => Now::Open,
            (Now::Open, Some(due)) => Now::Before { opens: due.opens_ms, draw: true },
            (now, _) => now,
        }
    }

    /// Nobody new, nobody let in.
    pub(super) fn shut(&self) -> bool {
        self.settings().mode == Mode::Closed || matches!(self.now(), Now::Closed { .. })
    }

    pub(super) fn follow_schedule(&mut self, lot: Option<&Lot>) {
        let now = self.scheduled(self.last_wall);
        let ahead = match now {
            Now::Before { opens, draw: true } | Now::Closed { next: Some((opens, true)) } => opens,
            _ => 0,
        };
        if let Some(lot) = lot.filter(|lot| lot.opens_ms == ahead) {
            let known = self.draws.commitment.as_ref().map(|known| known.opens_ms);
            if known != Some(ahead) {
                let Lot { opens_ms, kid, hash, .. } = lot.clone();
                self.draws.commitment = Some(Commitment { opens_ms, kid, hash });
                self.draws.serial += 1;
                self.note("promised", 1);
            }
        }
        if self.settings().mode != Mode::Auto {
            return;
        }
        let before = self.draws.prequeue;
        let issued = self.counts.issued;
        match now {
            Now::Before { opens, draw: true } => {
                let again = self.draws.made.last().is_some_and(|made| made.opens_ms == opens);
                let after = before.map_or(issued, |before| before.after);
                self.prequeue((!again).then_some(Prequeue { opens_ms: opens, after }));
            }
            Now::Open => {
                let Some(due) = before else { return };
                let after = due.after.max(self.counts.released);
                if issued < after + 2 {
                    return self.prequeue(None);
                }
                match lot {
                    Some(Lot { opens_ms, kid, seed: Some(seed), .. })
                        if *opens_ms == due.opens_ms =>
                    {
                        self.draw(after, *opens_ms, kid.clone(), *seed);
                    }
                    _ => self.note("a draw waits for its seed", 1),
                }
            }
            _ => self.prequeue(None),
        }
    }

    fn prequeue(&mut self, now: Option<Prequeue>) {
        self.draws.serial += u64::from(self.draws.prequeue != now);
        self.draws.prequeue = now;
    }

    /// Everybody above `after` is somebody else from now on.
    fn draw(&mut self, after: Number, opens_ms: u64, kid: String, seed: [u8; 32]) {
        let (upto, released, lapsed) =
            (self.counts.issued, self.counts.released, self.counts.lapsed);
        let count = upto - after;
        let turn = self.turn;
        let mut kept = Vec::new();
        for visitor in self.visitors.iter_mut().filter(|visitor| visitor.number > after) {
            (visitor.used, visitor.live) = (true, false);
            match &mut visitor.found {
                Where::Express { place, .. }
                | Where::Strayed { place }
                | Where::Classed { place, .. }
                | Where::ClassedAway { place, .. } => {
                    kept.push(visitor.number);
                    let nth = lot(&seed, visitor.number) % count + 1;
                    let skipped = place.saturating_sub(released);
                    *place = upto + nth * skipped / (visitor.number - released);
                }
                Where::Called { .. } => kept.push(visitor.number),
                _ => {}
            }
        }
        self.counts.issued = upto + count;
        self.turn = turn;
        self.append(upto + 1, upto + count);
        self.counts.draw += 1;
        let over = match released == lapsed && after == released {
            true => upto,
            false => self.counts.issued.saturating_sub(MAX_PLACES),
        };
        if over > released {
            self.counts.released = over;
            self.note_release();
        }
        if over > lapsed {
            self.counts.lapsed = over;
            for visitor in self.visitors.iter_mut().filter(|visitor| visitor.number <= over) {
                visitor.live = false;
            }
        }
        let promised = self.draws.commitment.as_ref().filter(|it| it.opens_ms == opens_ms);
        let hash = promised.map(|promised| promised.hash);
        self.note("drawn", 1);
        self.note("drawn, though some still waited", u64::from(after > released));
        self.note("drawn as promised", u64::from(hash.is_some()));
        self.note("drawn with somebody at the head", kept.len() as u64);
        let version = self.counts.draw;
        self.draws.version = version;
        self.draws.made.push(Draw { version, opens_ms, after, upto, seed, kid, hash, kept });
        if self.draws.made.len() > REMEMBERED {
            self.draws.made.remove(0);
        }
        self.prequeue(None);
    }

    /// Whether this number was given before a draw, and is somebody else's place since.
    pub(super) fn was_drawn(&self, number: Number) -> bool {
        self.draws.made.iter().any(|draw| draw.after < number && number <= draw.upto)
    }

    /// The same, and the line can't say what became of it.
    pub(super) fn is_drawn(&self, number: Number) -> bool {
        use anteroom::line::{Reason, Standing};
        let kept = self.draws.made.iter().any(|draw| draw.kept.contains(&number));
        let over = Standing::Expired(Reason::Used) == self.standing(number)
            || Standing::Expired(Reason::Passed) == self.standing(number);
        over && self.was_drawn(number) && !kept
    }

    /// A node's copy is later than what is left of ours.
    pub(super) fn believe_draws(&mut self, known: &Draws) {
        if known.serial > self.draws.serial {
            self.note("draws came back from a node", 1);
            self.draws = known.clone();
            self.counts.draw = known.version;
            let ranges: Vec<_> = known.made.iter().map(|it| it.after + 1..=it.upto).collect();
            for visitor in &mut self.visitors {
                if ranges.iter().any(|range| range.contains(&visitor.number)) {
                    (visitor.used, visitor.live) = (true, false);
                }
            }
        }
    }

    /// Numbers begin anew.
    pub(super) fn forget_draws(&mut self) {
        let anything = self.draws.prequeue.is_some() || !self.draws.made.is_empty();
        self.draws.serial += u64::from(anything);
        self.draws.prequeue = None;
        self.draws.made.clear();
    }
}

/// Which lot somebody with a place of their own draws.
fn lot(seed: &[u8; 32], number: Number) -> u64 {
    let bytes = |range: std::ops::Range<usize>| {
        seed[range].iter().fold(0_u64, |all, byte| all * 256 + u64::from(*byte))
    };
    let prime = (1_u64 << 31) - 1;
    let mut mixed = (number % prime + bytes(0..3)) % prime;
    mixed = mixed * (bytes(3..5) + 1) % prime;
    mixed + bytes(5..9)
}
