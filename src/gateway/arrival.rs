//! Whoever comes while no numbers are given: their arrival is recorded, and becomes a place afterwards.
//!
//! Owns what a room does about arrivals: the provisional ticket, how often its holder asks, how it joins. The order is
//! [`loss`]'s, and the line's.

use std::net::IpAddr;
use std::time::Duration;

use super::answer::Response;
use super::api::join_limit;
use super::chronicle::{self, Whose};
use super::entrance::{Entrance, Identity};
use super::invite::Proven;
use super::loss::{self, Contact, Lost, Replay};
use super::pace::chance;
use super::settings::OnLoss;
use super::show::{Notice, Reader};
use crate::line::{Key, Keyed, Subject, View};
use crate::room::Proof;
use crate::token::{Provisional, Scratch, Token};

impl Entrance {
    /// How the store stands to this node.
    pub fn contact(&self) -> Contact {
        let Some(outage) = self.room.outage() else { return Contact::Kept };
        let began_ms = outage.began_ms();
        match outage.found() {
            None => {
                // A line that newer nodes keep is not lost: whoever is let through here would go past it.
                let stance = match outage.is_outgrown() {
                    true => OnLoss::Hold,
                    false => self.loss.stance(outage.lasted()),
                };
                Contact::Lost(Lost { stance, began_ms })
            }
            // Nobody came meanwhile, here or anywhere, so nobody is kept waiting for them.
            Some((_, 0)) if self.room.view().counts().nodes <= 1 => Contact::Kept,
            Some((elapsed_ms, arrivals)) => {
                let pauses = (self.arrival_pause(arrivals), self.settings.poll_max);
                let replay = Replay::new(began_ms, outage.span_ms(), elapsed_ms, pauses);
                if replay.is_over() { Contact::Kept } else { Contact::Regained(replay) }
            }
        }
    }

    /// What is done about those without a pass; if the store has not been given up yet, what will be.
    pub fn stance(&self) -> OnLoss {
        match self.contact() {
            Contact::Lost(lost) => lost.stance,
            _ => self.loss.stance(Duration::ZERO),
        }
    }

    /// A time of arrival as far as this node knows it; `None`: it does not count for anything any more.
    pub(super) fn dated<'s>(&self, mut arrival: Provisional<'s>) -> Option<Provisional<'s>> {
        if let Some(node) = arrival.clock_of {
            arrival.arrived_ms = self.room.came_ms(arrival.arrived_ms, node);
        }
        self.counts(&arrival).then_some(arrival)
    }

    /// Another ticket for somebody whose own says something that can't be: it is by the clock of a node that did not know what
    /// time it was. While the store is away they have come by now, and lose no more than the time until they asked again;
    /// afterwards only that node knows better.
    pub(super) fn date_again(&self, token: &[u8]) -> Option<String> {
        self.room.outage().filter(|outage| outage.is_present())?;
        let mut scratch = Scratch::new();
        let Ok(Token::Provisional(arrival)) = self.keys.read(token, &mut scratch) else {
            return None;
        };
        let (said_ms, known) = (arrival.arrived_ms, self.room.arrival().1.is_none());
        let arrival = self.dated(arrival).filter(|dated| known && dated.arrived_ms != said_ms)?;
        self.keys.sign_provisional(&Provisional { clock_of: None, ..arrival }).ok()
    }

    /// Whether a time of arrival still counts for anything.
    fn counts(&self, arrival: &Provisional<'_>) -> bool {
        let age_ms = self.room.now_ms().saturating_sub(arrival.arrived_ms);
        self.room.view().settings().is_none_or(|settings| age_ms <= settings.ticket_max_ms)
    }

    /// Counts somebody who can't be given a number now against every limit on joins: the line can't.
    ///
    /// # Errors
    /// What there was too much of, and after how many milliseconds there may be more.
    pub fn count_arrival(
        &self,
        address: IpAddr,
        device: Option<&str>,
        user: Option<&str>,
    ) -> Result<(), (Subject, u64)> {
        let now_ms = self.room.now_ms();
        for (subject, limit) in &self.joins {
            let key = match subject {
                Subject::Address => Some(self.address(address)),
                Subject::Device => device.map(|device| self.subject("device", device)),
                Subject::User => user.map(|user| self.subject("user", user)),
            };
            if let Some(key) = key {
                limit.take(key, now_ms).map_err(|retry_ms| (*subject, retry_ms))?;
            }
        }
        Ok(())
    }

    /// Counts and records the arrival of somebody who opens a page and can't be given a number now.
    pub fn record(
        &self,
        reader: &Reader,
        user: Option<&str>,
        proven: Option<&Proven>,
        wait_ms: Option<u64>,
    ) -> Response {
        if let Err((subject, retry_ms)) = self.count_arrival(reader.client.address, None, user) {
            let whose = match (subject, user) {
                (Subject::User, Some(user)) => Whose::Named(user),
                _ => Whose::Address(reader.client.address),
            };
            chronicle::limited(self, join_limit(subject), whose);
            return self.show(reader, Notice::Limited(retry_ms));
        }
        self.record_counted(reader, proven, wait_ms)
    }

    /// The same, of somebody who was counted when they came.
    pub fn record_counted(
        &self,
        reader: &Reader,
        proven: Option<&Proven>,
        wait_ms: Option<u64>,
    ) -> Response {
        let Some(nonce) = nonce() else { return self.show(reader, Notice::StoreLost) };
        let identity = Identity::default();
        let ticket = self.arrive(nonce, &identity, proven);
        chronicle::arrived(self, &identity, None);
        let wait_ms = self.arrival_wait_ms(nonce, wait_ms);
        let answer = self.show(reader, Notice::Arrived(wait_ms));
        answer.with("Set-Cookie", self.jar.keep(&ticket, reader.client.secure))
    }

    /// The provisional ticket of somebody who comes now, with what they prove: an invite's link is opened once.
    pub fn arrive(&self, nonce: Key, identity: &Identity, proven: Option<&Proven>) -> String {
        if let Some(outage) = self.room.outage() {
            outage.note_arrival();
        }
        let (arrived_ms, clock_of) = self.room.arrival();
        let arrival = Provisional {
            arrived_ms,
            clock_of,
            nonce,
            device_id: identity.device_id.as_deref().map(Into::into),
            user_id: identity.user_id.as_deref().map(Into::into),
            class: None,
            invite: None,
        };
        // With somebody else's name beside their own, an arrival may be longer than any token.
        let proven = proven.map(|proven| self.keys.sign_provisional(&proven.put(arrival.clone())));
        proven.and_then(Result::ok).unwrap_or_else(|| {
            self.keys.sign_provisional(&arrival).expect("ids are checked where they come in")
        })
    }

    /// What the line is told about somebody whose arrival was recorded, and counted, before: that they are one and
    /// the same, however often they ask. The device and the user have to be, for that; the address, which many may
    /// share who all come back at once, does not.
    pub fn arrived(&self, nonce: Key, identity: &Identity) -> Keyed {
        let device = identity.device_id.as_deref().map(|device| self.subject("device", device));
        let user = identity.user_id.as_deref().map(|user| self.subject("user", user));
        let once = Some(device.unwrap_or(nonce));
        Keyed { once, idempotency: Some(nonce), device, user, ..Keyed::default() }
    }

    /// How long somebody whose arrival is recorded waits before they ask again. Their moment is told to them as soon as it
    /// is known; until then they are spread.
    pub fn arrival_wait_ms(&self, nonce: Key, known_ms: Option<u64>) -> u64 {
        known_ms.unwrap_or_else(|| {
            let arrivals = self.room.outage().map_or(0, |outage| outage.arrivals());
            let [first, ..] = nonce.as_chunks::<8>().0 else { return 0 };
            let spread = 1.0 - chance(u64::from_be_bytes(*first), self.room.now_ms()) / 2.0;
            self.arrival_pause(arrivals).mul_f64(spread).as_millis() as u64
        })
    }

    fn arrival_pause(&self, arrivals: u64) -> Duration {
        loss::pause(arrivals, self.polls_per_second, self.settings.poll_max)
    }

    /// The place that was last heard of, if it is still one.
    pub fn last_position(&self, view: &View, proof: Proof) -> Option<u64> {
        view.position(proof.number).filter(|_| proof.epoch == view.counts().epoch)
    }
}

/// Unlike all others; `None`: the system has no randomness.
pub fn nonce() -> Option<Key> {
    let mut nonce = Key::default();
    getrandom::fill(&mut nonce).inspect_err(|error| chronicle::no_token(error)).ok().map(|()| nonce)
}
