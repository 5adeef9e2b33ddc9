//! What becomes of a request to a room: the one decision, whichever door it came through.
//!
//! Owns the picture "Life of a request". Pure: facts and a view come in, a decision goes out; whether a
//! turn has really come only the line says, so what might enter is a question to it ([`Decision::Claim`],
//! [`Decision::Join`]) and never decided here.

use super::intent::Intent;
use super::loss::{self, Contact};
use crate::line::{Ending, Key, Reason, Settings, Standing, View};
use crate::room::Proof;

/// What of a request decides.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// What it is after.
    pub intent: Intent,
    /// What it brought, its signature verified.
    pub carried: Carried,
    /// The store's time.
    pub now_ms: u64,
    /// Whether the line can be asked at all.
    pub contact: Contact,
}

/// What a request brought with it. What is forged, of another room or of a key long gone is nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carried {
    /// Nothing.
    Nothing,
    /// A place in the line.
    Ticket {
        /// Whose.
        proof: Proof,
        /// Since when.
        joined_ms: u64,
    },
    /// The right to be inside, still good or not.
    Pass {
        /// Whose.
        proof: Proof,
        /// When it was made.
        issued_ms: u64,
        /// Made at the entry, and not renewed since.
        first: bool,
        /// Until when it is good.
        expires_ms: u64,
    },
    /// A time of arrival, for want of a place.
    Provisional {
        /// When.
        arrived_ms: u64,
        /// Unlike all others.
        nonce: Key,
    },
    /// A lot by which the room did not apply, see [`rollout`](super::rollout).
    Outside {
        /// From 0 to 99.
        lot: u64,
        /// Until when the pass that says so is good.
        expires_ms: u64,
    },
}

impl Carried {
    /// Whose it is.
    pub fn proof(&self) -> Option<Proof> {
        match self {
            Carried::Nothing | Carried::Provisional { .. } | Carried::Outside { .. } => None,
            Carried::Ticket { proof, .. } | Carried::Pass { proof, .. } => Some(*proof),
        }
    }

    /// When a ticket was given.
    pub fn joined_ms(&self) -> Option<u64> {
        match self {
            Carried::Ticket { joined_ms, .. } => Some(*joined_ms),
            _ => None,
        }
    }
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// To the origin.
    Forward {
        /// Whose pass it is.
        proof: Proof,
        /// The seat is to last longer, and the pass with it.
        renew: bool,
    },
    /// Ask the line to let them in: a turn that may have come, a session that may go on.
    Claim(Proof),
    /// Ask the line for a number.
    Join,
    /// Sent to the end of the line: ask for the number there.
    Requeue(Proof),
    /// A pass that ran out while the store was away: the session goes on, by this node's word.
    Resume(Proof),
    /// To the origin without a pass: the store is away, and that is how it was wanted.
    Open,
    /// No number yet: their time of arrival counts, and they ask again.
    Arrive {
        /// After so long, if that is known.
        wait_ms: Option<u64>,
    },
    /// Answered from the view.
    Answer(Answer),
}

/// What is answered without asking anybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// In the line; this counts as a sign of life.
    Waiting(Proof),
    /// Their turn: the next page they open lets them in. A sign of life, too.
    Admitted(Proof),
    /// Their turn is over, and others wait: one click to join again.
    Over(Reason),
    /// A page in a frame: it opens in a window of its own.
    Frame,
    /// A form without the right to be inside: it was not sent.
    NotSent,
    /// Anything else: not now, and never a number.
    Refused,
    /// The line can't be reached: nobody loses the place they have. A sign of life.
    Lost(Option<Proof>),
}

/// After a visit is complete its pass still serves the parts of the page that says so, for this long. Any pass so
/// near its end does; who completes a visit is given one.
pub const AFTERGLOW_MS: u64 = 30_000;

/// Renewed at most once in an eighth of the idle time: of a visitor's requests one in many costs an exchange.
const RENEWALS: u64 = 8;

/// The decision.
pub fn decide(facts: &Facts, view: &View) -> Decision {
    let decision = loss::decide(facts, view, with_store(facts, view));
    match view.settings().is_some_and(|settings| settings.mode.stops_nobody()) {
        true => unstopped(facts.intent, decision),
        false => decision,
    }
}

/// The same where nobody is stopped: whoever is after a page gets a pass from the line, everything else needs none.
fn unstopped(intent: Intent, decision: Decision) -> Decision {
    match decision {
        Decision::Answer(Answer::Waiting(proof) | Answer::Admitted(proof))
            if intent == Intent::Page =>
        {
            Decision::Claim(proof)
        }
        Decision::Answer(Answer::Over(_)) if intent == Intent::Page => Decision::Join,
        Decision::Answer(_) | Decision::Arrive { .. } => Decision::Open,
        decision => decision,
    }
}

/// The decision while the line can be asked.
fn with_store(facts: &Facts, view: &View) -> Decision {
    let epoch = view.counts().epoch;
    match facts.carried {
        Carried::Ticket { proof, joined_ms } if proof.epoch >= epoch => {
            with_ticket(facts, view, proof, joined_ms)
        }
        Carried::Pass { proof, issued_ms, first, expires_ms } if proof.epoch >= epoch => {
            with_pass(facts, view, proof, (issued_ms, first), expires_ms)
        }
        // A generation that is over: whatever it gave is void.
        _ => with_nothing(facts.intent),
    }
}

fn with_nothing(intent: Intent) -> Decision {
    match intent {
        Intent::Page => Decision::Join,
        Intent::Form => Decision::Answer(Answer::NotSent),
        Intent::Frame => Decision::Answer(Answer::Frame),
        Intent::Part => Decision::Answer(Answer::Refused),
    }
}

fn with_ticket(facts: &Facts, view: &View, proof: Proof, joined_ms: u64) -> Decision {
    let aged = |max_ms: u64| facts.now_ms.saturating_sub(joined_ms) > max_ms;
    if view.settings().is_some_and(|settings| aged(settings.ticket_max_ms)) {
        return with_nothing(facts.intent);
    }
    let passed = view.number(proof.number) <= view.counts().released;
    match standing(view, proof) {
        // More than this node has heard of: the line hears of it first.
        Standing::Unknown => Decision::Claim(proof),
        Standing::Waiting => Decision::Answer(Answer::Waiting(proof)),
        // Passed over, and back: every moment counts.
        Standing::Away if passed => Decision::Claim(proof),
        Standing::Away => Decision::Answer(Answer::Waiting(proof)),
        Standing::Admitted | Standing::Active => match facts.intent {
            Intent::Page => Decision::Claim(proof),
            _ => Decision::Answer(Answer::Admitted(proof)),
        },
        Standing::Completed => over(facts, view, Reason::Ended(Ending::Completed)),
        // Used up by leaving, or by coming in: whoever never got the answer with their pass is inside.
        Standing::Expired(Reason::Used) if facts.intent == Intent::Page => Decision::Claim(proof),
        Standing::Expired(Reason::Ended(Ending::Requeued)) => Decision::Requeue(proof),
        Standing::Expired(reason) => over(facts, view, reason),
    }
}

fn with_pass(
    facts: &Facts,
    view: &View,
    proof: Proof,
    (issued_ms, first): (u64, bool),
    expires_ms: u64,
) -> Decision {
    if proof.epoch > view.counts().epoch {
        return Decision::Claim(proof);
    }
    match view.ending(proof.number) {
        None | Some(Ending::Idle) => {}
        // The page that says thank you has its pictures, from a pass that is good for moments only.
        Some(Ending::Completed)
            if facts.intent == Intent::Part
                && (facts.now_ms..=facts.now_ms + AFTERGLOW_MS).contains(&expires_ms) =>
        {
            return Decision::Forward { proof, renew: false };
        }
        Some(Ending::Requeued) => return Decision::Requeue(proof),
        Some(why) => return over(facts, view, Reason::Ended(why)),
    }
    let idle_ms = view.settings().and_then(|settings| settings.session_idle_ms);
    if expires_ms > facts.now_ms {
        let renew = is_aged(facts, view, issued_ms, first, expires_ms);
        return Decision::Forward { proof, renew };
    }
    // Any method: somebody who filled in a form for too long must not lose it for that.
    match idle_ms.is_some_and(|idle| facts.now_ms - expires_ms < idle) {
        true => Decision::Claim(proof),
        false => over(facts, view, Reason::Ended(Ending::Idle)),
    }
}

/// Whether a good pass is to be renewed.
pub(super) fn is_aged(
    facts: &Facts,
    view: &View,
    issued_ms: u64,
    first: bool,
    expires_ms: u64,
) -> bool {
    let idle_ms = view.settings().and_then(|settings| settings.session_idle_ms);
    let used_ms = facts.now_ms.saturating_sub(issued_ms);
    let aged = idle_ms.is_some_and(|idle| used_ms >= idle / RENEWALS);
    // Whoever entered without having waited has a short pass, and the full time once it comes back.
    let whole_ms = view.settings().map_or(0, Settings::session_ms);
    aged || (first && expires_ms.saturating_sub(issued_ms) < whole_ms)
}

/// Nobody waits: a page simply joins again. Otherwise it asks whether to.
fn over(facts: &Facts, view: &View, reason: Reason) -> Decision {
    match facts.intent {
        Intent::Page if view.waiting() == 0 => Decision::Join,
        Intent::Page => Decision::Answer(Answer::Over(reason)),
        intent => with_nothing(intent),
    }
}

/// A later epoch than the view's is unknown to it, whatever the number.
fn standing(view: &View, proof: Proof) -> Standing {
    match proof.epoch == view.counts().epoch {
        true => view.standing(proof.number),
        false => Standing::Unknown,
    }
}
