//! What the line promises, one scenario a promise. The random runs against a naive model are in
//! `line_model`; these are the sentences a reader can check by eye.

mod adaptive;
mod bounded;
mod classes;
mod drawing;
mod estimating;
mod joining;
mod loss;
mod moved;
mod presence;
mod queueing;
mod releasing;
mod repeating;
mod schedules;
mod sessions;
mod shadow;
mod slots;
mod spending;

use anteroom::line::*;

/// A line, its store's clock and one node that talks to it.
pub struct Room {
    pub line: Line,
    pub wall_ms: u64,
    pub run: u64,
    pub sequence: u64,
    pub view: View,
}

pub const START_MS: u64 = 1_800_000_000_000;
const NODE: u128 = 7;

impl Room {
    pub fn new(settings: Settings) -> Room {
        let line = Line::founded(Moment { wall_ms: START_MS, run: 1 });
        let mut room = Room { line, wall_ms: START_MS, run: 1, sequence: 0, view: View::default() };
        let reply = room.offer(settings);
        assert_eq!(reply.offered, Some(Offered::Taken));
        room
    }

    pub fn batch(&self) -> Batch {
        Batch { epoch: self.line.counts().epoch, ..self.view.greeting(NODE, self.sequence + 1) }
    }

    /// One exchange now.
    pub fn send(&mut self, batch: Batch) -> Reply {
        self.sequence = self.sequence.max(batch.sequence);
        let reply = self.line.apply(&batch, self.moment()).expect("a batch within bounds");
        self.line.check_invariants().expect("invariants hold");
        self.view.absorb(&reply);
        reply
    }

    pub fn moment(&self) -> Moment {
        Moment { wall_ms: self.wall_ms, run: self.run }
    }

    pub fn with(&mut self, edit: impl FnOnce(&mut Batch)) -> Reply {
        let mut batch = self.batch();
        edit(&mut batch);
        self.send(batch)
    }

    pub fn offer(&mut self, settings: Settings) -> Reply {
        self.with(|batch| batch.offer = Some(Offer { version: 1, settings }))
    }

    pub fn idle(&mut self) -> Counts {
        self.with(|_| {}).counts
    }

    /// Lets time pass as a quiet node does: two exchanges a second, with `polls` seen in each.
    pub fn pass(&mut self, ms: u64, polls: &[Number]) -> Counts {
        let end = self.wall_ms + ms;
        while self.wall_ms < end {
            self.wall_ms = (self.wall_ms + 500).min(end);
            self.with(|batch| batch.marks = polls.to_vec());
        }
        self.line.counts()
    }

    /// Plain newcomers; what became of them.
    pub fn join(&mut self, count: u32) -> Joined {
        self.with(|batch| batch.joins = vec![Join::Plain(count)]).joins[0]
    }

    pub fn join_keyed(&mut self, keyed: Keyed) -> Joined {
        self.with(|batch| batch.joins = vec![Join::Keyed(keyed)]).joins[0]
    }

    pub fn claim(&mut self, number: Number) -> Claimed {
        self.with(|batch| batch.claims = vec![number]).claims[0]
    }

    pub fn leave(&mut self, number: Number) -> Done {
        self.with(|batch| batch.leaves = vec![number]).leaves[0]
    }

    pub fn end(&mut self, number: Number, why: Ending) -> Done {
        self.with(|batch| batch.ends = vec![End { number, why }]).ends[0]
    }

    pub fn spend(&mut self, number: Number) -> Done {
        self.with(|batch| batch.spends = vec![number]).spends[0]
    }

    pub fn command(&mut self, command: Command) -> Commanded {
        self.with(|batch| batch.commands = vec![command.into()]).commands.remove(0)
    }

    pub fn standing(&self, number: Number) -> Standing {
        self.line.standing(number)
    }
}

/// How many a reply let in at once.
pub fn entered(joined: Joined) -> u32 {
    match joined {
        Joined::Given { entered, .. } => entered,
        other => panic!("no numbers: {other:?}"),
    }
}

pub fn inside(claimed: Claimed) -> Terms {
    match claimed {
        Claimed::Inside(terms) => terms,
        other => panic!("not inside: {other:?}"),
    }
}

/// `count` turns a second, one at a time.
pub fn rate(count: u64) -> Settings {
    let rate = Rate { count, per_ms: 1_000 };
    Settings { pace: Some(Pace::Rate { rate, burst: 1 }), ..Settings::default() }
}

/// So many seats and no rate.
pub fn seats(max_active: u64) -> Settings {
    Settings { max_active: Some(max_active), ..Settings::default() }
}

/// Nobody enters but by hand.
pub fn hold() -> Settings {
    Settings { mode: Mode::Hold, ..Settings::default() }
}
