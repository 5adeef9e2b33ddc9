//! What a ticket or a pass is worth at this moment, as far as the node's view says.
//!
//! Pure: a token's content, a view and the time come in, a verdict goes out. Whether a turn has really come
//! only the line says: [`Verdict::Ask`].

use crate::gateway::decide::Carried;
use crate::line::{Ending, Reason, Standing, View};
use crate::room::Proof;

/// What is to be said, or done first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// In the line. Whoever was away is back by asking.
    Waiting,
    /// May come in: by opening the page.
    Admitted,
    /// Inside, until then.
    Active { expires_ms: u64 },
    /// Over.
    Gone(Reason),
    /// Nothing of this room, or no longer.
    Unknown,
    /// More than this node has heard of: the line hears of it first.
    Learn,
    /// Perhaps inside, perhaps to be let in: the line says.
    Ask,
}

/// Judges. `named`: the caller named the ticket, and so is let in by asking; one who came by cookie enters with the
/// next page they open.
pub(super) fn judge(carried: Carried, named: bool, view: &View, now_ms: u64) -> Verdict {
    match carried {
        Carried::Nothing => Verdict::Unknown,
        Carried::Ticket { proof, .. } | Carried::Pass { proof, .. }
            if proof.epoch < view.counts().epoch =>
        {
            Verdict::Unknown
        }
        Carried::Ticket { proof, .. } | Carried::Pass { proof, .. } if is_news(view, proof) => {
            Verdict::Learn
        }
        Carried::Ticket { proof, joined_ms } => ticket(proof, joined_ms, named, view, now_ms),
        Carried::Pass { proof, expires_ms, .. } => pass(proof, expires_ms, named, view, now_ms),
    }
}

/// Whether a good signature tells this node something new.
pub(super) fn is_news(view: &View, proof: Proof) -> bool {
    let counts = view.counts();
    (proof.epoch, proof.number) > (counts.epoch, counts.issued)
}

fn ticket(proof: Proof, joined_ms: u64, named: bool, view: &View, now_ms: u64) -> Verdict {
    let aged = |max_ms: u64| now_ms.saturating_sub(joined_ms) > max_ms;
    if view.settings().is_some_and(|settings| aged(settings.ticket_max_ms)) {
        return Verdict::Unknown;
    }
    match view.standing(proof.number) {
        Standing::Unknown => Verdict::Unknown,
        Standing::Waiting | Standing::Away => Verdict::Waiting,
        Standing::Admitted | Standing::Active if named => Verdict::Ask,
        Standing::Admitted | Standing::Active => Verdict::Admitted,
        // A view does not know who is inside, only that their turn is used.
        Standing::Expired(Reason::Used | Reason::Ended(Ending::Idle)) if named => Verdict::Ask,
        Standing::Expired(reason) => Verdict::Gone(reason),
        Standing::Completed => Verdict::Gone(Reason::Ended(Ending::Completed)),
    }
}

fn pass(proof: Proof, expires_ms: u64, named: bool, view: &View, now_ms: u64) -> Verdict {
    match view.ending(proof.number) {
        None | Some(Ending::Idle) => {}
        Some(why) => return Verdict::Gone(Reason::Ended(why)),
    }
    if expires_ms > now_ms {
        return Verdict::Active { expires_ms };
    }
    let idle_ms = view.settings().and_then(|settings| settings.session_idle_ms);
    match idle_ms.is_some_and(|idle_ms| now_ms - expires_ms < idle_ms) {
        true if named => Verdict::Ask,
        true => Verdict::Admitted,
        false => Verdict::Gone(Reason::Ended(Ending::Idle)),
    }
}
