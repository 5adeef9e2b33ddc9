//! When a room is open by its schedule, and the draw: step 11, between orders and joins.

use anteroom::line::{Commitment, Draw, Draws, Event, Lot, Mode, Number, Prequeue, Settings};

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

    fn follows(&self) -> bool {
        [Mode::Auto, Mode::Hold].contains(&self.settings().mode)
    }

    /// Whoever comes now will be drawn.
    pub(super) fn before_a_draw(&self) -> bool {
        self.draws.prequeue.is_some()
    }

    /// As far as it counts.
    pub(super) fn now(&self) -> Now {
        match (self.scheduled(self.last_wall), self.draws.prequeue) {
            _ if !self.follows() => Now::Open,
            (Now::Closed { .. }, _) if self.settings().mode == Mode::Hold => Now::Open,
            (Now::Open, Some(_)) => {
                self.draw_due().map_or(Now::Open, |opens| Now::Before { opens, draw: true })
            }
            (now, _) => now,
        }
    }

    /// When those of the pre-queue should have been drawn.
    fn draw_due(&self) -> Option<u64> {
        let expected = self.draws.prequeue?.opens_ms;
        let wall = self.last_wall;
        let drawn = self.settings().schedule.iter().filter(|event| event.draw);
        let all = drawn.flat_map(|event| times(event, wall));
        let on = all.filter(|(opens, closes)| *opens <= wall && closes.is_none_or(|it| wall < it));
        let fresh: Vec<u64> = on.map(|(opens, _)| opens).filter(|it| !self.had(*it)).collect();
        if fresh.contains(&expected) { Some(expected) } else { fresh.into_iter().max() }
    }

    fn had(&self, opens: u64) -> bool {
        self.draws.made.iter().any(|made| made.opens_ms == opens)
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
        if !self.follows() {
            return;
        }
        let before = self.draws.prequeue;
        let issued = self.counts.issued;
        match now {
            Now::Before { opens, draw: true } => {
                let after = before.map_or(issued, |before| before.after);
                let now = Prequeue { opens_ms: opens, after };
                let moved = before.is_some_and(|before| before.opens_ms != opens);
                self.note("an opening was moved", u64::from(moved));
                self.prequeue(Some(now).filter(|_| !self.had(opens)));
            }
            Now::Open => {
                let Some(before) = before else { return };
                let Some(due) = self.draw_due() else {
                    // On hold it is open for nobody.
                    if self.settings().mode == Mode::Auto {
                        self.prequeue(None);
                        self.note("opened without its draw", 1);
                    }
                    return;
                };
                let after = before.after.max(self.counts.released);
                if issued < after + 2 {
                    return self.prequeue(None);
                }
                self.note("an opening was brought forward", u64::from(due != before.opens_ms));
                match lot {
                    Some(Lot { opens_ms, kid, seed: Some(seed), .. }) if *opens_ms == due => {
                        self.draw(after, due, kid.clone(), *seed);
                    }
                    _ => {
                        self.prequeue(Some(Prequeue { opens_ms: due, ..before }));
                        self.note("a draw waits for its seed", 1);
                    }
                }
            }
            _ => self.note("a pre-queue was put off", u64::from(before.is_some())),
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
        let (mut kept, mut guests, mut inside) = (Vec::new(), Vec::new(), 0);
        let settings = self.settings().clone();
        for visitor in self.visitors.iter_mut().filter(|visitor| visitor.number > after) {
            (visitor.used, visitor.live) = (true, false);
            let number = visitor.number;
            match visitor.found {
                Where::Express { place, .. } | Where::Strayed { place } => {
                    guests.push(Guest { number, skip: part(number, place, released), rank: 9 });
                }
                Where::Classed { place, rank, .. } | Where::ClassedAway { place, rank } => {
                    let skip = class_part(&settings, number, (place, rank), released);
                    guests.push(Guest { number, skip, rank });
                }
                Where::Called { .. } => kept.push(number),
                Where::Inside(_) => {
                    kept.push(number);
                    inside += 1;
                }
                _ => {}
            }
        }
        let others = upto - after - (kept.len() + guests.len()) as u64;
        let head = seat(&guests, others, upto, &seed);
        let count = others + head.len() as u64;
        self.counts.issued = upto + count;
        self.append(upto + 1, upto + count);
        for (number, new) in &head {
            let hole = self.visitor(*new);
            (hole.used, hole.live) = (true, false);
            self.visitor(*number).stand(*new);
        }
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
        self.note("drawn on hold", u64::from(settings.mode == Mode::Hold));
        self.note("drawn, though some still waited", u64::from(after > released));
        self.note("drawn as promised", u64::from(hash.is_some()));
        self.note("drawn with somebody at the head", head.len() as u64);
        self.note("drawn with somebody inside", inside);
        let version = self.counts.draw;
        self.draws.version = version;
        self.draws.made.push(Draw { version, opens_ms, after, upto, seed, kid, hash, kept, head });
        if self.draws.made.len() > REMEMBERED {
            self.draws.made.remove(0);
        }
        self.prequeue(None);
    }

    /// Whether this number was given before a draw, and is nobody's place since.
    fn was_drawn(&self, number: Number) -> bool {
        self.draws.made.iter().any(|draw| draw.after < number && number <= draw.upto)
    }

    /// The same; or it is the place of somebody at the head, whose number is another.
    pub(super) fn is_no_place(&self, number: Number) -> bool {
        let place = |draw: &Draw| draw.head.iter().any(|(_, place)| *place == number);
        self.was_drawn(number) || self.draws.made.iter().any(place)
    }

    /// The same, and the line can't say what became of it.
    pub(super) fn is_drawn(&self, number: Number) -> bool {
        use anteroom::line::{Reason, Standing};
        let kept = self.draws.made.iter().any(|draw| {
            draw.kept.contains(&number) || draw.head.iter().any(|(them, _)| *them == number)
        });
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
            let numbers = self.visitors.iter().map(|visitor| visitor.number);
            // A place whose turn is over is over as it is.
            let over = numbers.filter(|number| {
                self.was_drawn(*number) || *number > self.counts.lapsed && self.is_no_place(*number)
            });
            let over: Vec<Number> = over.collect();
            for (number, new) in known.made.iter().flat_map(|draw| &draw.head) {
                let (lapsed, issued) = (self.counts.lapsed, self.counts.issued);
                if let Ok(at) = self.visitors.binary_search_by_key(number, |it| it.number)
                    && lapsed < *new
                    && *new <= issued
                {
                    self.visitors[at].stand(*new);
                }
            }
            for number in over {
                let visitor = self.visitor(number);
                (visitor.used, visitor.live) = (true, false);
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

/// Somebody at the head, who skips so many thousandths of the line.
#[derive(Clone, Debug)]
struct Guest {
    number: Number,
    skip: u64,
    rank: u64,
}

/// What somebody of a class skips, told by where they stand.
fn class_part(
    settings: &Settings,
    number: Number,
    (place, rank): (Number, u64),
    released: Number,
) -> u64 {
    let mut best: Option<(u64, u64)> = None;
    for class in &settings.classes {
        if class.rank != rank || class.rank == 0 && class.skip == 0 {
            continue;
        }
        let would = number - (number - released) * class.skip / 1_000;
        let far = would.abs_diff(place);
        if best.is_none_or(|(least, skip)| far < least || far == least && class.skip > skip) {
            best = Some((far, class.skip));
        }
    }
    best.map_or_else(|| part(number, place, released), |(_, skip)| skip)
}

/// The thousandths of those before a number that a place skips.
fn part(number: Number, place: Number, released: Number) -> u64 {
    let place = place.clamp(released, number);
    (number - place) * 1_000 / (number - released)
}

/// A number below so many, again and again: two generators, and the difference of what they say.
fn dice(seed: &[u8; 32]) -> impl FnMut(u64) -> u64 {
    let word = |at: usize| i128::from(u32::from_be_bytes(seed[at..at + 4].try_into().unwrap()));
    let mut first = 1 + word(0) % 2_147_483_562;
    let mut second = 1 + word(4) % 2_147_483_398;
    move |sides| {
        first = first * 40_014 % 2_147_483_563;
        second = second * 40_692 % 2_147_483_399;
        let said = (first - second - 1).rem_euclid(2_147_483_562);
        (said % i128::from(sides)) as u64
    }
}

/// Everybody at the head and their place, by number.
fn seat(guests: &[Guest], others: u64, upto: Number, seed: &[u8; 32]) -> Vec<(Number, Number)> {
    if guests.is_empty() {
        return Vec::new();
    }
    let (mut throw, many) = (dice(seed), guests.len() as u64);
    let mut crowd = guests.to_vec();
    let mut left = many;
    while left > 1 {
        let chosen = throw(left);
        left -= 1;
        crowd.swap(left as usize, chosen as usize);
    }
    let wide = others.max(many);
    let start = throw(wide);
    let mut queue = Vec::new();
    for (came, guest) in crowd.into_iter().enumerate() {
        let in_line = (came as u64 * wide + start) / many;
        let before = in_line - guest.skip * in_line / 1_000;
        queue.push((before, 9 - guest.rank, came, guest.number));
    }
    queue.sort();
    // One after the other, each behind as many others as they did not skip: the next free place from there on.
    let mut placed = Vec::new();
    for (before, _, _, number) in queue {
        let stands = upto + 1 + before.min(others) + placed.len() as u64;
        placed.push((number, stands));
    }
    placed.sort();
    placed
}
