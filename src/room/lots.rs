//! What this node brings to a draw, and whom its questions mean after one.
//!
//! Owns when a seed may be shown: not before the store's clock says that the opening has come. Computes none: whoever has the keys
//! does, see [`Lots`].

use std::time::Duration;

use sha2::{Digest as _, Sha256};

use super::{Newcomer, Proof, Room};
use crate::line::{Joined, Keyed, Lot, Seed, Standing, View};

/// If nobody has the key of the promise, a draw is better made with another than not at all, and says so.
const PATIENCE: Duration = Duration::from_secs(30);

/// Makes seeds.
pub trait Lots: Send + Sync {
    /// The seed for an opening, with the key of this id, or with the first; and that key's id.
    fn seed(&self, opens_ms: u64, kid: Option<&str>) -> Option<(String, Seed)>;
}

impl<F: Fn(u64, Option<&str>) -> Option<(String, Seed)> + Send + Sync> Lots for F {
    fn seed(&self, opens_ms: u64, kid: Option<&str>) -> Option<(String, Seed)> {
        self(opens_ms, kid)
    }
}

impl Room {
    /// From now on seeds come from here.
    pub fn draw_with(&self, lots: std::sync::Arc<dyn Lots>) {
        self.lots.store(Some(std::sync::Arc::new(lots)));
    }

    /// Before an opening what the seed will be, if nobody has said so; when it has come, the seed.
    pub(super) fn lot(&self, view: &View) -> Option<Lot> {
        let lots = self.lots.load_full()?;
        let (now_ms, told) = (self.now_ms(), view.drawn().told());
        let promised =
            |opens_ms: u64| told.commitment.as_ref().filter(|promise| promise.opens_ms == opens_ms);
        let made = |opens_ms: u64, kid: Option<&str>, shown: bool| {
            let (kid, seed) = lots.seed(opens_ms, kid)?;
            let hash = Sha256::digest(seed).into();
            Some(Lot { opens_ms, kid, hash, seed: shown.then_some(seed) })
        };
        if let Some(due_ms) = view.draw_due(now_ms) {
            let kid = promised(due_ms).map(|promise| promise.kid.as_str());
            let late = now_ms.saturating_sub(due_ms) > PATIENCE.as_millis() as u64;
            let other = || if late { made(due_ms, None, true) } else { None };
            return made(due_ms, kid, true).or_else(other);
        }
        let ahead = view.settings()?.phase(now_ms).draw_ahead()?;
        if promised(ahead).is_some() { None } else { made(ahead, None, false) }
    }

    /// What became of a join whose number was drawn to another place: the line can't tell, this node can.
    pub(super) async fn drawn_again(
        &self,
        joined: Joined,
        keyed: Option<Keyed>,
        tag: Option<String>,
    ) -> Newcomer {
        let Joined::Already { epoch, number, joined_ms, proven, class, .. } = joined else {
            return Ok(joined);
        };
        let view = self.view();
        if view.drawn().number(number) == number || epoch != view.counts().epoch {
            return Ok(joined);
        }
        let standing = view.standing(number);
        if matches!(standing, Standing::Completed | Standing::Expired(_) | Standing::Unknown) {
            let keyed = keyed.map(|keyed| Keyed { over: Some(number), ..keyed });
            return self.ask(|desk, answer| desk.join((keyed, tag), answer)).await;
        }
        self.seen(Proof { epoch, number });
        Ok(Joined::Already { epoch, number, joined_ms, proven, standing, class })
    }
}
