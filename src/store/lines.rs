//! The embedded store's lines: applied as batches come, rebuilt from what was written of them.
//!
//! Owns the lines in memory and the question whether an exchange must be on disk before it is
//! answered. Does no IO.

use std::collections::BTreeMap;

use super::journal::{self, Record};
use crate::line::{BadBatch, Batch, Counts, Found, Line, Moment, Question, Reply, Taken};

/// Every room of a store.
pub(super) struct Lines {
    run: u64,
    rooms: BTreeMap<String, Room>,
}

struct Room {
    line: Line,
    /// As last told.
    counts: Counts,
    /// The journal has something about it.
    changed: bool,
}

impl Room {
    fn new(line: Line) -> Self {
        let counts = line.counts();
        let changed = false;
        Room { line, counts, changed }
    }
}

impl Lines {
    pub(super) fn new(run: u64) -> Self {
        let rooms = BTreeMap::new();
        Lines { run, rooms }
    }

    pub(super) fn len(&self) -> usize {
        self.rooms.len()
    }

    /// The exchange, and whether it has to be written before it is told.
    /// Answers a question about a room.
    pub(super) fn find(&self, room: &str, question: Question) -> Found {
        self.rooms.get(room).map_or_else(|| question.nothing(), |room| room.line.find(question))
    }

    pub(super) fn apply(
        &mut self,
        room: &str,
        wall_ms: u64,
        batch: &Batch,
    ) -> Result<(Reply, bool), BadBatch> {
        batch.check()?;
        let now = Moment { wall_ms, run: self.run };
        let room = self.rooms.entry(room.to_owned());
        let room = room.or_insert_with(|| Room::new(Line::founded(now)));
        let reply = room.line.apply(batch, now)?;
        let lasting = !only_seen(batch)
            || reply.taken != Taken::Applied
            || lasting(reply.counts) != lasting(room.counts);
        (room.counts, room.changed) = (reply.counts, true);
        Ok((reply, lasting))
    }

    /// The same exchange once more.
    ///
    /// # Errors
    /// It comes out otherwise than it did.
    pub(super) fn replay(&mut self, record: &Record) -> Result<(), String> {
        let (room, sequence) = (&record.room, record.batch.sequence);
        let reply = self.apply(room, record.wall_ms, &record.batch);
        let (reply, _) = reply.map_err(|error| format!("{room}, batch {sequence}: {error}"))?;
        let print = journal::print(&reply).map_err(|error| error.to_string())?;
        if print != record.print {
            return Err(format!("{room}, batch {sequence}: answered otherwise"));
        }
        Ok(())
    }

    /// Takes a room's line from its snapshot.
    ///
    /// # Errors
    /// These bytes are no line, or one that can't be.
    pub(super) fn restore(&mut self, room: String, bytes: &[u8]) -> Result<(), String> {
        let line: Line =
            rmp_serde::from_slice(bytes).map_err(|error| format!("{room}: {error}"))?;
        line.check_invariants().map_err(|error| format!("{room}: {error}"))?;
        self.rooms.insert(room, Room::new(line));
        Ok(())
    }

    /// The lines that the journal is about, encoded; all of them if asked for.
    pub(super) fn snapshots(&self, all: bool) -> Result<Vec<(String, Vec<u8>)>, String> {
        let mut encoded = Vec::new();
        for (name, room) in self.rooms.iter().filter(|(_, room)| all || room.changed) {
            let bytes = rmp_serde::to_vec(&room.line).map_err(|error| error.to_string())?;
            debug_assert_eq!(
                rmp_serde::from_slice::<Line>(&bytes).ok().as_ref(),
                Some(&room.line),
                "a snapshot must read back as the line it was taken of"
            );
            encoded.push((name.clone(), bytes));
        }
        Ok(encoded)
    }

    /// The journal is empty again.
    pub(super) fn kept(&mut self) {
        self.rooms.values_mut().for_each(|room| room.changed = false);
    }
}

/// Nothing in it but who was seen, and what the node has: what the next polls repeat anyhow.
fn only_seen(batch: &Batch) -> bool {
    let Batch {
        node: _,
        sequence: _,
        epoch: _,
        known: _,
        have: _,
        marks: _,
        present: _,
        offer,
        leaves,
        ends,
        renewals,
        returns,
        vouched,
        claims,
        commands,
        joins,
        spends,
        tags: _,
        sent,
        wants,
        figures,
        about: _,
        hangups,
        draw: _,
        lot,
    } = batch;
    let lists = [leaves, returns, vouched, claims, spends, hangups];
    offer.is_none()
        && lot.is_none()
        && ends.is_empty()
        && renewals.is_empty()
        && commands.is_empty()
        && joins.is_empty()
        && sent.is_empty()
        && *wants == 0
        && figures.is_empty()
        && lists.iter().all(|list| list.is_empty())
}

/// What must never be told and then forgotten. Who is here, and the clock, may: a crash gives both back a
/// second late.
fn lasting(counts: Counts) -> Counts {
    Counts {
        clock_ms: 0,
        waiting: 0,
        dropped: 0,
        turns_1m: 0,
        turns_10m: 0,
        nodes: 0,
        swept_by: 0,
        swept_ms: 0,
        backlog: false,
        ..counts
    }
}
