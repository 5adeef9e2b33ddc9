//! Asking the line, and not for ever.
//!
//! Owns the deadline. A question that was given up is harmless: claims, leaves and ends may be repeated, and a number
//! that nobody was told of is left again. Only a spend may not: it is done at most once, and what nobody was told of may be
//! done.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use super::error::{busy, store_unavailable};
use super::verdict::is_news;
use crate::gateway::answer::Response;
use crate::gateway::chronicle;
use crate::gateway::entrance::{Entrance, Identity};
use crate::line::{Claimed, Joined, Keyed, Reason, Terms};
use crate::room::{Busy, Proof};

/// Longer than any exchange, shorter than an app's patience.
const DEADLINE: Duration = Duration::from_secs(5);
/// Between two looks at the view: an exchange takes a few milliseconds, and seldom does anybody have to look.
const LOOK: Duration = Duration::from_millis(20);

/// Waits for the line's answer.
///
/// # Errors
/// 503.
pub(super) async fn asked<A>(
    entrance: &Entrance,
    question: impl Future<Output = Result<A, Busy>>,
) -> Result<A, Response> {
    match timeout(DEADLINE, question).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(why)) => Err(busy(entrance, why)),
        Err(_) => Err(store_unavailable(entrance)),
    }
}

/// Asks for a number. `None`: the line can't be reached, or not in time.
///
/// # Errors
/// 503.
pub(super) async fn joined(
    entrance: &Entrance,
    keyed: Option<Keyed>,
    identity: &Identity,
) -> Result<Option<Joined>, Response> {
    match timeout(DEADLINE, entrance.room.join_as(keyed, entrance.tag(identity))).await {
        Ok(Ok(joined)) => Ok(Some(joined)),
        Ok(Err(Busy::Away)) | Err(_) => Ok(None),
        Ok(Err(why)) => Err(busy(entrance, why)),
    }
}

/// Waits until this node has heard of a number that a good signature proves: another node has given it, or this one has
/// just started.
///
/// # Errors
/// 503.
pub(super) async fn learnt(entrance: &Entrance, proof: Proof) -> Result<(), Response> {
    let until = Instant::now() + DEADLINE;
    while is_news(&entrance.room.view(), proof) {
        if Instant::now() >= until || entrance.room.is_away() {
            return Err(store_unavailable(entrance));
        }
        // Seeing it proves it: the line hears of it in the next exchange.
        entrance.room.seen(proof);
        sleep(LOOK).await;
    }
    Ok(())
}

/// What the line says of a named ticket.
pub(super) enum Turn {
    /// In the line.
    Waiting,
    /// Inside, with this.
    Inside(Grant),
    /// Over.
    Gone(Reason),
    /// Not of this line, after all.
    Unknown,
}

/// A pass, to be handed out.
pub(super) struct Grant {
    pub(super) token: String,
    /// In seconds, as the pass says it.
    pub(super) expires_at: u64,
    /// Within the claim window of its visitor's entry.
    pub(super) fresh: bool,
}

impl Grant {
    /// The pass of a number inside, the same one for the same terms.
    pub(super) fn new(
        entrance: &Entrance,
        proof: Proof,
        terms: &Terms,
        identity: &Identity,
    ) -> Grant {
        let window_ms = entrance.room.view().settings().map_or(0, |set| set.claim_window_ms());
        let inside_ms = entrance.room.now_ms().saturating_sub(terms.admitted_ms);
        Grant {
            token: entrance.pass(proof, terms, identity),
            expires_at: terms.expires_ms / 1_000,
            fresh: inside_ms < window_ms,
        }
    }

    /// Tells that it was made for somebody who entered.
    pub(super) fn tell(
        &self,
        entrance: &Entrance,
        proof: Proof,
        identity: &Identity,
        began: std::time::Instant,
    ) {
        let pass = (self.token.as_str(), self.expires_at);
        chronicle::granted(entrance, proof, identity, pass, began.elapsed());
    }
}

/// Asks to be let in. `joined_ms`: since when they have waited, if they have.
///
/// # Errors
/// 503.
pub(super) async fn claim(
    entrance: &Entrance,
    proof: Proof,
    joined_ms: Option<u64>,
    identity: impl FnOnce() -> Identity,
) -> Result<Turn, Response> {
    let (asked_ms, began) = (entrance.room.now_ms(), std::time::Instant::now());
    let identity = identity();
    let claim = entrance.room.claim_as(proof, entrance.tag(&identity));
    Ok(match asked(entrance, claim).await? {
        Claimed::Inside(terms) => {
            if let Some(joined_ms) = joined_ms {
                let now_ms = entrance.room.now_ms();
                entrance.stats.entered(proof, joined_ms, &terms, now_ms);
            }
            let grant = Grant::new(entrance, proof, &terms, &identity);
            if chronicle::is_entry(&terms, asked_ms) {
                grant.tell(entrance, proof, &identity, began);
            }
            Turn::Inside(grant)
        }
        Claimed::Waiting | Claimed::Admitted | Claimed::Away => Turn::Waiting,
        Claimed::Over(reason) => Turn::Gone(reason),
        Claimed::Unknown | Claimed::Stale => Turn::Unknown,
    })
}
