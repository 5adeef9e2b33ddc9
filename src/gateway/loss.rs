//! Visitors while the store is away, and in the moments after: who is let through, who waits, who joins when.
//!
//! Owns `store.on_loss` and the order in which those join who came meanwhile. Pure: how long an outage lasts comes in as
//! an argument. Gives no numbers: whoever comes to a line that can't be reached gets a signed time of arrival (a provisional
//! ticket), and a number by it afterwards.

use std::time::Duration;

use super::decide::{Answer, Carried, Decision, Facts, is_aged};
use super::settings::{Loss, OnLoss};
use crate::line::{Ending, Reason, View};
use crate::room::Proof;

/// How the store stands to this node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contact {
    /// It answers.
    Kept,
    /// It does not.
    Lost(Lost),
    /// It answers again, and those who came meanwhile join one after the other.
    Regained(Replay),
}

/// An outage, as far as it decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// What is done about it at this moment.
    pub stance: OnLoss,
    /// When it began.
    pub began_ms: u64,
}

/// Whoever came in an outage asks again after this long, if they are few.
const SOON: Duration = Duration::from_secs(5);
/// The arrivals of an outage are played again in no more than this, however rarely pages ask otherwise.
const LONGEST: Duration = Duration::from_secs(30);

impl Loss {
    /// What is done about an outage that has lasted so long.
    pub fn stance(&self, lasted: Duration) -> OnLoss {
        match (self.on_loss, self.open_after) {
            (OnLoss::Hold, Some(after)) if lasted >= after => OnLoss::Open,
            (on_loss, _) => on_loss,
        }
    }
}

/// How long those who can't join wait before they ask again: as often as this node can answer so many.
pub fn pause(arrivals: u64, polls_per_second: u32, poll_max: Duration) -> Duration {
    let share = Duration::from_secs(arrivals / u64::from(polls_per_second.max(1)));
    share.max(SOON).min(poll_max.min(LONGEST))
}

/// The arrivals of an outage, played again once the store is back, and faster.
///
/// ```text
///   arrivals   began ├───────── span ─────────┤ found
///   joins                                     ├ settle ├── length ──┤ … until it has caught up
/// ```
/// Nobody joins while it settles, one [`pause`] long: so everybody has asked once and knows their moment. Then somebody
/// who came t after the beginning joins at settle + t · length / span. Newcomers take part in it, so that nobody overtakes:
/// it runs at least twice as fast as people arrive, has caught up after 2 · (settle + length) at the latest, and is over then.
///
/// **What it keeps.** Of two who ask when they are told to, the one who came first joins first, if they came further
/// apart than span / length times what their clocks, and the network, are late. A node keeps who comes up to [`EARLY_MS`]
/// too early until their moment, so that is some tenths of a second: after five minutes of outage, played in 30 s, whoever
/// comes 2 s later is behind. Whoever asks late joins when they ask, and nobody waits for them. Nodes that lost
/// the store at other moments, or found it so, are off by as much: a node tries once a second.
///
/// Every node that lost the store keeps to it, whether anybody came to it meanwhile or not. One that did not, because only others
/// were cut off, or that was started afterwards, has a line and no outage: it gives whoever asks a number at once, as it has done all along. Of
/// those who came to the others, who happens to ask it is early then, by one pause at most while the outage lasts, and by the
/// length of the replay afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replay {
    /// When the outage began.
    pub began_ms: u64,
    /// How long people came who could not join.
    pub span_ms: u64,
    /// For how long the store is back.
    pub elapsed_ms: u64,
    /// Before the first one joins.
    pub settle_ms: u64,
    /// In how long the span is played.
    pub length_ms: u64,
}

/// Whoever comes no earlier than this before their moment is kept until then. A pause is told in whole seconds.
pub const EARLY_MS: u64 = 1_000;

impl Replay {
    /// Of an outage that lasted `span_ms` and is over since `elapsed_ms`.
    pub fn new(
        began_ms: u64,
        span_ms: u64,
        elapsed_ms: u64,
        pauses: (Duration, Duration),
    ) -> Replay {
        let (settle, poll_max) = pauses;
        let settle_ms = settle.as_millis() as u64;
        let longest_ms = poll_max.min(LONGEST).as_millis() as u64;
        Replay { began_ms, span_ms, elapsed_ms, settle_ms, length_ms: longest_ms.min(span_ms / 2) }
    }

    /// How long somebody who came at `arrived_ms` has yet to wait; 0: they join now. Nobody waits longer than who comes now.
    pub fn wait_ms(&self, arrived_ms: u64) -> u64 {
        let latest_ms = self.span_ms + self.elapsed_ms;
        let after_ms = arrived_ms.saturating_sub(self.began_ms).min(latest_ms);
        let share_ms = u128::from(after_ms) * u128::from(self.length_ms);
        let share_ms = (share_ms / u128::from(self.span_ms.max(1))) as u64;
        (self.settle_ms + share_ms).saturating_sub(self.elapsed_ms)
    }

    /// Whether it has caught up: whoever comes joins.
    pub fn is_over(&self) -> bool {
        self.wait_ms(u64::MAX) == 0
    }
}

/// What becomes of a request that would otherwise be decided so.
pub(super) fn decide(facts: &Facts, view: &View, usual: Decision) -> Decision {
    match facts.contact {
        Contact::Kept => usual,
        Contact::Lost(lost) => without_store(facts, view, usual, lost),
        Contact::Regained(replay) if usual == Decision::Join => {
            let arrived_ms = match facts.carried {
                Carried::Provisional { arrived_ms, .. } => arrived_ms,
                _ => u64::MAX,
            };
            match replay.wait_ms(arrived_ms) {
                0 => Decision::Join,
                wait_ms => Decision::Arrive { wait_ms: Some(wait_ms) },
            }
        }
        Contact::Regained(_) => usual,
    }
}

fn without_store(facts: &Facts, view: &View, usual: Decision, lost: Lost) -> Decision {
    if let Carried::Pass { proof, issued_ms, first, expires_ms } = facts.carried
        && is_good(view, proof)
    {
        // Perhaps of a generation this node has not heard of yet: the signature is enough.
        if expires_ms > facts.now_ms {
            let renew = is_aged(facts, view, issued_ms, first, expires_ms);
            return Decision::Forward { proof, renew };
        }
        // The room's clock has stood still since, however long that is: their seat is still theirs.
        if expires_ms > lost.began_ms {
            return Decision::Resume(proof);
        }
    }
    match (usual, lost.stance) {
        (Decision::Forward { .. }, _) => usual,
        (_, OnLoss::Open) => Decision::Open,
        (Decision::Join, OnLoss::Hold) => Decision::Arrive { wait_ms: None },
        (Decision::Join, OnLoss::Closed) => Decision::Answer(Answer::Lost(None)),
        (Decision::Claim(proof), _) => {
            let ticket = matches!(facts.carried, Carried::Ticket { .. });
            Decision::Answer(Answer::Lost(ticket.then_some(proof)))
        }
        (Decision::Answer(Answer::Waiting(proof) | Answer::Admitted(proof)), _) => {
            Decision::Answer(Answer::Lost(Some(proof)))
        }
        // Whether a turn went by only the line says; how a session ended is known for good.
        (Decision::Answer(Answer::Over(Reason::Passed | Reason::Used)), _) => {
            Decision::Answer(Answer::Lost(facts.carried.proof()))
        }
        (other, _) => other,
    }
}

/// Whether a session may go on, as far as this node knows.
fn is_good(view: &View, proof: Proof) -> bool {
    let epoch = view.counts().epoch;
    let ending = view.ending(proof.number).filter(|_| proof.epoch == epoch);
    proof.epoch >= epoch && matches!(ending, None | Some(Ending::Idle))
}
