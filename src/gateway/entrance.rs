//! A room as visitors meet it: its line, its keys, its cookie, its pages, its limits.
//!
//! Owns what is the same for every request to a room, and the small steps that both the doors and the API take
//! with it: reading what a visitor brings, writing what they get. Decides nothing: that is
//! [`decide`](super::decide).

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use super::cookie::Jar;
use super::decide::Carried;
use super::head::{Client, Head};
use super::pace::Crowd;
use super::settings::{self, Cookies};
use crate::limit::{Allowance, Crowded, Limiter};
use crate::line::{Key, Keyed, Number, Subject, Terms, View};
use crate::page::{Look, Pages};
use crate::room::{Proof, Room};
use crate::token::{MAX_ID, MAX_NAME, Pass, RoomKeys, Scratch, Ticket, Token};

/// A room's way in.
pub struct Entrance {
    /// The line.
    pub room: Arc<Room>,
    /// Signs and verifies.
    pub keys: RoomKeys,
    /// What is shown.
    pub pages: Pages,
    /// How it is kept.
    pub jar: Jar,
    /// What the operator wrote.
    pub settings: settings::Room,
    /// Requests of addresses without a place.
    pub by_address: Limiter,
    /// Requests of numbers.
    pub by_ticket: Limiter,
    /// Joins of addresses, on this node.
    joins: Limiter,
    polls_per_second: u32,
}

/// What of a pass or ticket outlives the request: who it is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The device, as an app named it.
    pub device_id: Option<String>,
    /// The user, as an app named them.
    pub user_id: Option<String>,
    /// The class by name; empty: nobody's in particular.
    pub class: String,
}

/// The class of whoever has none.
pub const GENERAL: &str = "general";

impl Identity {
    /// What an origin that shares a pass key signed beyond our bounds is not ours to sign again.
    fn within_bounds(self) -> Identity {
        let fits = |id: &String| id.len() <= MAX_ID;
        Identity {
            device_id: self.device_id.filter(fits),
            user_id: self.user_id.filter(fits),
            class: if self.class.len() <= MAX_NAME { self.class } else { String::new() },
        }
    }

    /// The class, by its name.
    pub fn class_name(&self) -> &str {
        if self.class.is_empty() { GENERAL } else { &self.class }
    }
}

/// What a visitor brought, verified.
pub enum Held<'s> {
    /// Nothing that counts.
    Nothing,
    /// A place.
    Ticket(Ticket<'s>),
    /// The right to be inside, good or run out.
    Pass(Pass<'s>),
}

impl Held<'_> {
    /// What decides about it.
    pub fn carried(&self) -> Carried {
        match self {
            Held::Nothing => Carried::Nothing,
            Held::Ticket(ticket) => Carried::Ticket {
                proof: Proof { epoch: ticket.epoch, number: ticket.num },
                joined_ms: ticket.joined_at * 1_000,
            },
            Held::Pass(pass) => Carried::Pass {
                proof: Proof { epoch: pass.epoch, number: pass.num },
                issued_ms: pass.issued_at * 1_000,
                first: pass.issued_at == pass.admitted_at,
                expires_ms: pass.expires_at * 1_000,
            },
        }
    }

    /// Who it is about.
    pub fn identity(&self) -> Identity {
        let owned = |text: &Option<Cow<'_, str>>| text.as_deref().map(str::to_owned);
        match self {
            Held::Nothing => Identity::default(),
            Held::Ticket(Ticket { device_id, user_id, class, .. })
            | Held::Pass(Pass { device_id, user_id, class, .. }) => Identity {
                device_id: owned(device_id),
                user_id: owned(user_id),
                class: class.clone().into_owned(),
            }
            .within_bounds(),
        }
    }
}

impl Entrance {
    /// A room's way in. `polls_per_second` is what the node is good for.
    pub fn new(
        room: Arc<Room>,
        keys: RoomKeys,
        settings: settings::Room,
        polls_per_second: u32,
    ) -> Entrance {
        let by_address = |limit: &&crate::line::JoinLimit| limit.subject == Subject::Address;
        let joins = settings.line.join_limits.iter().find(by_address);
        let joins = joins.map(|limit| Allowance { max: limit.max, per_ms: limit.per_ms });
        let framed = settings.cookies == Cookies::Partitioned;
        let look = Look { framed, ..settings.look.clone() };
        Entrance {
            pages: Pages::new(room.name(), &look),
            jar: Jar::new(room.name(), settings.cookies, settings.cookie_domain.as_deref()),
            by_address: Limiter::new(settings.limits.requests_per_address, Crowded::Together),
            by_ticket: Limiter::new(settings.limits.requests_per_ticket, Crowded::Free),
            joins: Limiter::new(joins, Crowded::Together),
            room,
            keys,
            settings,
            polls_per_second,
        }
    }

    /// What a token is, if it is of this room. Good or run out alike: that is for the decision to say.
    pub fn read<'s>(&self, token: &[u8], scratch: &'s mut Scratch) -> Held<'s> {
        match self.keys.read(token, scratch) {
            Ok(Token::Ticket(ticket)) => Held::Ticket(ticket),
            Ok(Token::Pass(pass)) => Held::Pass(pass),
            Err(_) => Held::Nothing,
        }
    }

    /// What a request brought by its cookie, or as an app's pass, and the token itself.
    pub fn held<'h, 's>(
        &'h self,
        head: &'h impl Head,
        client: &Client,
        scratch: &'s mut Scratch,
    ) -> (Held<'s>, Option<&'h [u8]>) {
        let app = head.get("x-admission-pass");
        let mut found = app.into_iter().chain(self.jar.values(head, client.secure));
        let Some(mut token) = found.next() else { return (Held::Nothing, None) };
        // Nearly always there is one. Of several the first that is good counts: a planted one hides nobody.
        for next in found {
            if matches!(self.read(token, &mut Scratch::new()), Held::Nothing) {
                token = next;
            }
        }
        (self.read(token, scratch), Some(token))
    }

    /// The ticket of a number: the same join gives the same one, byte for byte.
    pub fn ticket(&self, proof: Proof, joined_ms: u64, identity: &Identity) -> String {
        let ticket = Ticket {
            num: proof.number,
            epoch: proof.epoch,
            class: identity.class_name().into(),
            joined_at: joined_ms / 1_000,
            visitor: self.keys.visitor(proof.epoch, proof.number).into(),
            device_id: identity.device_id.as_deref().map(Cow::Borrowed),
            user_id: identity.user_id.as_deref().map(Cow::Borrowed),
        };
        self.keys.sign_ticket(&ticket).expect("ids are checked where they come in")
    }

    /// The pass of a number inside: the same terms give the same one, byte for byte.
    pub fn pass(&self, proof: Proof, terms: &Terms, identity: &Identity) -> String {
        let pass = Pass {
            device_id: identity.device_id.as_deref().map(Cow::Borrowed),
            user_id: identity.user_id.as_deref().map(Cow::Borrowed),
            class: identity.class_name().into(),
            slot: None,
            num: proof.number,
            epoch: proof.epoch,
            issued_at: terms.issued_ms / 1_000,
            admitted_at: terms.admitted_ms / 1_000,
            expires_at: terms.expires_ms / 1_000,
            nonce: self.keys.nonce(proof.epoch, proof.number).into(),
        };
        self.keys.sign_pass(&pass).expect("ids are checked where they come in")
    }

    /// Whether it works inside other sites' pages: a browser keeps cookies there only over TLS.
    pub fn is_framed(&self, client: &Client) -> bool {
        self.settings.cookies == Cookies::Partitioned && client.secure
    }

    /// `A-000123`.
    pub fn label(&self, number: Number) -> String {
        format!("{}-{number:06}", self.settings.ticket_prefix)
    }

    /// The pause before the next poll of somebody at `position`.
    pub fn pause(&self, view: &View, number: Number, position: Option<u64>) -> Duration {
        let crowd = Crowd {
            waiting: view.waiting(),
            polls_per_second: self.polls_per_second,
            poll_max: self.settings.poll_max,
        };
        let eta = match position {
            Some(_) if view.is_paused() => None,
            Some(position) => Some(Duration::from_secs(view.eta(position).seconds)),
            None => Some(Duration::ZERO),
        };
        crowd.pause(eta, chance(number, self.room.now_ms()))
    }

    /// Counts a request: by its number if it has one, else by its address.
    ///
    /// # Errors
    /// After how many milliseconds the next one would be allowed.
    pub fn limit(&self, proof: Option<Proof>, client: &Client, now_ms: u64) -> Result<f64, u64> {
        match proof {
            Some(proof) => self.by_ticket.take(proof_key(proof), now_ms),
            None => self.by_address.take(self.address(client.address), now_ms),
        }
    }

    /// What the line is told about a newcomer from an address: nothing, until this node has seen half of what
    /// the address may do. So a crowd of strangers costs the store a number each and no more.
    ///
    /// # Errors
    /// After how many milliseconds the address may try again.
    pub fn newcomer(&self, address: IpAddr, user: Option<&str>) -> Result<Option<Keyed>, u64> {
        let now_ms = self.room.now_ms();
        let share = self.joins.take(self.address(address), now_ms)?;
        let address = (share > 0.5).then(|| self.address(address));
        let user = user.map(|user| self.subject("user", user));
        let keyed = Keyed { address, user, ..Keyed::default() };
        Ok((keyed != Keyed::default()).then_some(keyed))
    }

    /// An address as the line and the limits know it: IPv4 whole, of IPv6 the network that one customer has.
    pub fn address(&self, address: IpAddr) -> Key {
        let text = match address {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                format!("{a:x}:{b:x}:{c:x}:{d:x}")
            }
        };
        self.subject("address", &text)
    }

    /// A name under the room's key: nobody who reads the store learns it.
    pub fn subject(&self, kind: &str, name: &str) -> Key {
        self.keys.fingerprint(kind, name)
    }
}

/// A number as the limits know it.
pub fn proof_key(proof: Proof) -> Key {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&proof.epoch.to_be_bytes());
    key[8..].copy_from_slice(&proof.number.to_be_bytes());
    key
}

/// In 0..1, unlike for every number and moment: enough to keep pages from asking together.
fn chance(number: Number, now_ms: u64) -> f64 {
    let mixed = (number ^ now_ms.rotate_left(32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 40) as f64 / f64::from(1 << 24)
}
