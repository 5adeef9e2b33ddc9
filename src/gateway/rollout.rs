//! Whom a room applies to at all: `rollout`, a percentage, steady for a visitor.
//!
//! Owns the lot. Everybody has one between 0 and 99; the room applies to those whose lot is below the percentage, all others stand
//! outside it: they are let through, take no number and no seat. The lot is drawn from where somebody comes and with which
//! program, and kept from then on in what they are given: a pass of epoch 0, in which no line ever was, numbered by
//! the lot. Whoever is inside has what the line gave them; when their browser is to forget that, it gets a lot like those outside have, in a pass
//! that is over. So whoever is outside at 10 percent may be inside at 50, and never the other way round. Never asks the line.

use std::borrow::Cow;
use std::net::IpAddr;

use super::decide::Carried;
use super::entrance::{Entrance, Identity};
use super::head::Client;
use crate::line::{Settings, View};
use crate::token::Pass;

/// The epoch of a pass whose holder stands outside: a line's begins with the time.
pub(super) const OUTSIDE: u64 = 0;

/// Lots that there are.
const LOTS: u64 = 100;

/// For so long a pass that only has a lot has been over.
const OVER_MS: u64 = 3_600_000;

/// Somebody to whom the room does not apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outside {
    /// Their lot.
    pub(super) lot: u64,
    /// They have it on them.
    pub(super) known: bool,
}

/// Whether a room that applies to so many of a hundred does not apply to whoever brings this.
pub(super) fn outside(
    carried: Carried,
    now_ms: u64,
    rollout: u64,
    draw: impl FnOnce() -> u64,
) -> Option<Outside> {
    if rollout >= LOTS {
        return None;
    }
    let found = match carried {
        Carried::Outside { lot, expires_ms } if expires_ms > now_ms => Outside { lot, known: true },
        // What was drawn once stays drawn.
        Carried::Outside { lot, .. } => Outside { lot, known: false },
        Carried::Nothing => Outside { lot: draw(), known: false },
        // In the line already, or inside.
        Carried::Ticket { .. } | Carried::Pass { .. } | Carried::Provisional { .. } => return None,
    };
    (found.lot >= rollout).then_some(found)
}

impl Entrance {
    /// To how many of a hundred the room applies: by operators, or else by the file.
    pub fn rollout(&self, view: &View) -> u64 {
        let set = view.overrides().and_then(|overrides| overrides.get("rollout"));
        set.and_then(|text| text.parse().ok()).unwrap_or(self.settings.rollout)
    }

    /// The lot of whoever comes from there with this: a device that an app names, or a program.
    pub(super) fn lot(&self, address: IpAddr, with: &[u8]) -> u64 {
        let with = String::from_utf8_lossy(with);
        let drawn = self.subject("rollout", &format!("{:x?} {with}", self.address(address)));
        drawn.iter().fold(0, |number, byte| (number * 256 + u64::from(*byte)) % LOTS)
    }

    /// The header by which the browser of somebody to whom the room applied forgets their place or seat. Where it applies to a part of its
    /// visitors, they stay in that part, wherever they come from next.
    pub(super) fn forget(&self, client: &Client) -> String {
        match self.rollout(&self.room.view()) {
            rollout @ 1..LOTS => {
                let lot = self.lot(client.address, b"") % rollout;
                // Long ago, whatever a clock elsewhere says.
                let over_ms = self.room.now_ms().saturating_sub(OVER_MS);
                let (over, _) = self.pass_of(lot, &Identity::default(), over_ms, over_ms);
                self.jar.keep(&over, client.secure)
            }
            _ => self.jar.forget(client.secure),
        }
    }

    /// The pass of somebody outside, good for as long as a ticket is; and when it ends, in seconds.
    pub(super) fn pass_outside(&self, lot: u64, identity: &Identity) -> (String, u64) {
        let now_ms = self.room.now_ms();
        let settings = self.room.view().settings().map(|settings| settings.ticket_max_ms);
        let lasts_ms = settings.unwrap_or_else(|| Settings::default().ticket_max_ms);
        self.pass_of(lot, identity, now_ms, now_ms + lasts_ms)
    }

    fn pass_of(&self, lot: u64, identity: &Identity, from_ms: u64, to_ms: u64) -> (String, u64) {
        let (issued_at, expires_at) = (from_ms / 1_000, to_ms / 1_000);
        let pass = Pass {
            device_id: identity.device_id.as_deref().map(Cow::Borrowed),
            user_id: identity.user_id.as_deref().map(Cow::Borrowed),
            user_proven: identity.user_proven,
            class: identity.class_name().into(),
            slot: None,
            num: lot,
            epoch: OUTSIDE,
            issued_at,
            admitted_at: issued_at,
            expires_at,
            nonce: self.keys.nonce(OUTSIDE, lot).into(),
            bind: identity.bind.as_deref().map(Cow::Borrowed),
        };
        (self.keys.sign_pass(&pass).expect("ids are checked where they come in"), expires_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::Proof;

    #[test]
    fn who_is_outside_may_come_inside_and_never_the_other_way_round() {
        let mut applied = 0;
        for rollout in 0..=100 {
            let lots = (0..LOTS).filter(|lot| {
                let kept = Carried::Outside { lot: *lot, expires_ms: 2 };
                let drawn = outside(Carried::Nothing, 1, rollout, || *lot);
                assert_eq!(drawn.is_some(), outside(kept, 1, rollout, || unreachable!()).is_some());
                drawn.is_none()
            });
            let now = lots.count() as u64;
            assert_eq!(now, rollout);
            assert!(now >= applied);
            applied = now;
        }
    }

    #[test]
    fn whoever_has_a_place_keeps_it() {
        let proof = Proof { epoch: 7, number: 1 };
        let ticket = Carried::Ticket { proof, joined_ms: 1 };
        assert_eq!(outside(ticket, 1, 0, || 99), None);
    }
}
