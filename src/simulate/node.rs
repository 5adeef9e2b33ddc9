//! A node as the line sees it: what its visitors want, gathered into batches, and when it speaks.
//!
//! Owns a desk and a view. Its pace is that of real nodes ([`crate::room`]): at least 5 ms between two exchanges, more if there is
//! much to say or many nodes say it, and twice a second if there is nothing.

use std::collections::VecDeque;

use crate::line::{Batch, End, Ending, Join, MAX_BULK, MAX_ITEMS, Number, Renewal, Report, View};
use crate::room::{BEAT, Marks};

/// One that runs, or will again.
#[derive(Debug)]
pub(super) struct Node {
    /// Another one after every start.
    pub(super) id: u128,
    pub(super) view: View,
    pub(super) sequence: u64,
    pub(super) up: bool,
    pub(super) desk: Desk,
    /// Said, and not taken yet.
    pub(super) said: Option<Said>,
    /// Whether the line has this node's settings.
    pub(super) offered: bool,
    /// What a line that settles is told of next.
    pub(super) reports: Option<VecDeque<Report>>,
    /// Marks were said up to this half second.
    pub(super) beat: u64,
    /// When it speaks next, and no sooner than when it may.
    pub(super) next_ms: u32,
    pub(super) free_ms: u32,
}

/// What a node has been told and has not yet said. Visitors by index.
#[derive(Debug, Default)]
pub(super) struct Desk {
    pub(super) joins: VecDeque<u32>,
    pub(super) claims: VecDeque<u32>,
    pub(super) renewals: VecDeque<u32>,
    pub(super) ends: VecDeque<u32>,
    pub(super) leaves: VecDeque<u32>,
    pub(super) marks: Marks,
    /// A beat has come: some of them are said.
    pub(super) beat: bool,
}

/// A batch, and who is meant.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) batch: Batch,
    pub(super) joins: Vec<u32>,
    pub(super) claims: Vec<u32>,
}

impl Node {
    pub(super) fn new(id: u128, beat: u64) -> Node {
        Node {
            id,
            view: View::default(),
            sequence: 0,
            up: true,
            desk: Desk::default(),
            said: None,
            offered: false,
            reports: None,
            beat,
            next_ms: 0,
            free_ms: 0,
        }
    }
}

impl Desk {
    /// Whether there is nothing that somebody waits for. Marks are said when they are due.
    pub(super) fn is_empty(&self) -> bool {
        let lists = [&self.joins, &self.claims, &self.renewals, &self.ends, &self.leaves];
        lists.iter().all(|list| list.is_empty())
    }

    /// As much of it as a batch may carry: seats that are free first, then who wants one.
    /// `number` and `entered_ms` are what is known of a visitor.
    pub(super) fn take(
        &mut self,
        number: impl Fn(u32) -> Number,
        entered_ms: impl Fn(u32) -> u64,
    ) -> Said {
        let mut room = MAX_ITEMS;
        let mut some = |list: &mut VecDeque<u32>| {
            let count = list.len().min(room);
            room -= count;
            list.drain(..count).collect::<Vec<u32>>()
        };
        let ends = some(&mut self.ends);
        let claims = some(&mut self.claims);
        let renewals = some(&mut self.renewals);
        let leaves = some(&mut self.leaves);
        let count = self.joins.len().min(MAX_BULK as usize);
        let joins: Vec<u32> = self.joins.drain(..count).collect();
        let batch = Batch {
            marks: if std::mem::take(&mut self.beat) { self.marks.take(BEAT) } else { Vec::new() },
            leaves: leaves.into_iter().map(&number).collect(),
            ends: ends
                .into_iter()
                .map(|visitor| End { number: number(visitor), why: Ending::Completed })
                .collect(),
            renewals: renewals
                .into_iter()
                .map(|visitor| Renewal {
                    number: number(visitor),
                    admitted_ms: entered_ms(visitor),
                    extend: false,
                    slot: 0,
                })
                .collect(),
            claims: claims.iter().map(|visitor| number(*visitor)).collect(),
            joins: (!joins.is_empty()).then_some(Join::Plain(count as u32)).into_iter().collect(),
            ..Batch::default()
        };
        Said { batch, joins, claims }
    }
}
