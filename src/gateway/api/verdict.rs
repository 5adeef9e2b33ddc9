//! What a ticket or a pass is worth at this moment, as far as the node's view says.
//!
//! Pure: a token's content, a view and the time come in, a verdict goes out. Whether a turn has really come
//! only the line says: [`Verdict::Ask`].

use crate::gateway::decide::Carried;
use crate::gateway::loss::{Contact, Lost};
use crate::gateway::settings::OnLoss;
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
    /// The line can't be reached: what was last known, and nothing is over.
    Lost,
}

/// Judges. `named`: the caller named the ticket, and so is let in by asking; one who came by cookie enters with the
/// next page they open.
pub(super) fn judge(
    carried: Carried,
    named: bool,
    view: &View,
    now_ms: u64,
    contact: Contact,
) -> Verdict {
    let verdict = with_store(carried, named, view, now_ms);
    let Contact::Lost(Lost { stance, .. }) = contact else { return verdict };
    match (verdict, carried) {
        (Verdict::Learn, Carried::Pass { expires_ms, .. }) if expires_ms > now_ms => {
            Verdict::Active { expires_ms }
        }
        // How a session ended is known for good; whether a turn went by only the line says.
        (Verdict::Unknown | Verdict::Active { .. } | Verdict::Gone(Reason::Ended(_)), _) => verdict,
        // The next page they open is let through.
        _ if stance == OnLoss::Open && !named => Verdict::Admitted,
        _ => Verdict::Lost,
    }
}

fn with_store(carried: Carried, named: bool, view: &View, now_ms: u64) -> Verdict {
    match carried {
        Carried::Nothing | Carried::Provisional { .. } | Carried::Outside { .. } => {
            Verdict::Unknown
        }
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
        // A view does not know who is inside, only that their turn is used: by them, if the answer with the pass got lost.
        Standing::Expired(Reason::Used) => Verdict::Ask,
        Standing::Expired(Reason::Ended(Ending::Idle)) if named => Verdict::Ask,
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
