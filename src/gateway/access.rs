//! Requests, as the log tells of them: one line each, for a share of them drawn by lot (`log.access`).
//!
//! Owns the lot, and a request's line from its head to the last byte of its answer: whichever door it came through and whatever way it
//! took, the line is written when its [`Note`] is dropped. So a request that is given up half way has one, too. What comes back
//! 5xx to somebody who was let through is told whatever the lot says; a waiting page's 503 is no failure.
//!
//! Never tells a query, a header or a body: tickets come in them. Where it is off, a request costs one comparison.

use std::cell::Cell;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::Instant;

use super::answer::Response;
use super::api;
use super::asking::Outcome;
use super::entrance::Entrance;
use super::forward::Forward;
use super::front::{Verdict, is_ours};
use super::head::Head;
use super::live::Live;
use super::route::Way;
use crate::log::ACCESS;
use crate::metrics;
use crate::room::Proof;

/// Bytes of a method, a host and a path that are told at most.
const MAX_METHOD: usize = 16;
const MAX_HOST: usize = 255;
const MAX_PATH: usize = 1_024;

/// How many requests are told of.
#[derive(Clone, Copy, Debug, Default)]
pub struct Access {
    share: f64,
}

/// A request on its way. It is told when this is dropped.
pub struct Note(Box<Kept>);

struct Kept {
    /// The lot fell on it.
    drawn: bool,
    began: Instant,
    method: String,
    host: String,
    path: String,
    entrance: Option<Arc<Entrance>>,
    proof: Option<Proof>,
    outcome: &'static str,
    /// To an origin.
    passes: bool,
    /// 0: there was no answer.
    status: u16,
    bytes: u64,
}

impl Access {
    /// A share of all, from 0 to 1.
    pub fn new(share: f64) -> Access {
        Access { share }
    }

    /// A note about a request; none where requests are not told of.
    pub fn note(&self, head: &impl Head) -> Option<Note> {
        (self.share > 0.0).then(|| Note::new(drawn(self.share), head))
    }

    /// A request that could not be read was answered with this.
    pub fn unreadable(&self, status: u16) {
        if self.share > 0.0 && drawn(self.share) {
            tracing::info!(target: ACCESS, event = "access", status, outcome = "unreadable");
        }
    }
}

impl Note {
    fn new(drawn: bool, head: &impl Head) -> Note {
        Note(Box::new(Kept {
            drawn,
            began: Instant::now(),
            method: beginning(head.method(), MAX_METHOD),
            host: beginning(head.host(), MAX_HOST),
            path: beginning(head.path(), MAX_PATH),
            entrance: None,
            proof: None,
            outcome: "refused",
            passes: false,
            status: 0,
            bytes: 0,
        }))
    }

    /// What becomes of it, by its head.
    pub fn judged(&mut self, live: &Live, head: &impl Head, verdict: &Verdict) {
        let path = head.path();
        match verdict {
            Verdict::Forward(forward) => {
                self.passes(forward);
                if forward.admission.is_some() {
                    return;
                }
                let room = match live.way(head, path, &forward.client) {
                    Way::Bypassed { room, .. } => {
                        self.0.outcome = "bypassed";
                        room
                    }
                    Way::Guarded { room, .. } => room,
                    Way::Open { .. } | Way::Misdirected | Way::Unclear => {
                        self.0.outcome = "unguarded";
                        return;
                    }
                };
                self.0.entrance = live.entrances.get(room).cloned();
            }
            Verdict::Ask(asking) => self.0.entrance = Some(asking.entrance.clone()),
            Verdict::Call(..) | Verdict::Events(_) => self.0.outcome = "api",
            Verdict::Answer(answer) => {
                self.becomes(answer);
                if answer.outcome.is_some() {
                    self.0.entrance = live.guarding(head, path).cloned();
                } else if api::endpoint(live, head).is_some() {
                    self.0.outcome = "api";
                } else if is_ours(path) {
                    self.0.outcome = "own";
                }
            }
        }
    }

    /// What became of it, by the word of the line.
    pub fn decided(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Answer(answer) => self.becomes(answer),
            Outcome::Forward(forward) => self.passes(forward),
        }
    }

    /// An answer was sent: its status, and as far as it is known the length of its body.
    pub fn answered(&mut self, status: u16, bytes: u64) {
        (self.0.status, self.0.bytes) = (status, bytes);
    }

    fn becomes(&mut self, answer: &Response) {
        if let Some(outcome) = answer.outcome {
            self.0.outcome = outcome.name();
        }
    }

    fn passes(&mut self, forward: &Forward) {
        self.0.passes = true;
        match &forward.admission {
            Some(admission) => {
                self.0.outcome = metrics::Outcome::Admitted.name();
                self.0.entrance = Some(admission.entrance.clone());
                self.0.proof = Some(admission.proof);
            }
            None => self.0.outcome = metrics::Outcome::Open.name(),
        }
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        let note = &self.0;
        let failed = note.passes && note.status >= 500;
        if !(note.drawn || failed) {
            return;
        }
        let entrance = note.entrance.as_deref();
        let queue_ref = |entrance: &Entrance| {
            note.proof.map(|proof| entrance.keys.reference(proof.epoch, proof.number))
        };
        tracing::info!(
            target: ACCESS,
            event = "access",
            method = note.method,
            host = note.host,
            path = note.path,
            status = (note.status > 0).then_some(note.status),
            bytes = note.bytes,
            outcome = note.outcome,
            event_id = entrance.map(|entrance| entrance.room.name()),
            queue_ref = entrance.and_then(queue_ref),
            duration_ms = note.began.elapsed().as_millis() as u64,
        );
    }
}

/// The first so many bytes; nothing beyond ASCII gets here.
fn beginning(text: &str, most: usize) -> String {
    text.get(..text.len().min(most)).unwrap_or_default().to_owned()
}

/// Whether the lot falls on the next one.
fn drawn(share: f64) -> bool {
    thread_local! {
        static STATE: Cell<u64> = Cell::new(RandomState::new().hash_one(0));
    }
    // SplitMix64: good enough for a lot, and a few cycles.
    let state = STATE.get().wrapping_add(0x9E37_79B9_7F4A_7C15);
    STATE.set(state);
    let mut word = state;
    word = (word ^ word >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ word >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^= word >> 31;
    ((word >> 11) as f64) < share * (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lot_falls_on_as_many_as_it_should() {
        let of = |share: f64| (0..100_000).filter(|_| drawn(share)).count();
        assert_eq!((of(0.0), of(1.0)), (0, 100_000));
        let (tenth, hundredth) = (of(0.1), of(0.01));
        assert!((9_500..10_500).contains(&tenth), "{tenth}");
        assert!((850..1_150).contains(&hundredth), "{hundredth}");
    }

    #[test]
    fn long_names_are_cut() {
        assert_eq!(beginning("/abc", 2), "/a");
        assert_eq!(beginning("/abc", 9), "/abc");
    }
}
