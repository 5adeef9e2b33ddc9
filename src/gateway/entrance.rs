//! A room as visitors meet it: its line, its keys, its cookie, its pages, its limits.
//!
//! Owns what is the same for every request to a room, and the small steps that both the doors and the API take
//! with it: reading what a visitor brings, writing what they get. Decides nothing: that is
//! [`decide`](super::decide).

use std::borrow::Cow;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use serde::{Deserialize, Serialize};

use super::chronicle::{self, Quiet};
use super::cookie::Jar;
use super::decide::Carried;
use super::head::{Client, Head};
use super::invite::Proven;
use super::pace::{Crowd, chance};
use super::rollout::OUTSIDE;
use super::settings::{self, Bind, Cookies, Loss};
use crate::clock;
use crate::limit::{Allowance, Crowded, Limiter};
use crate::line::{Key, Keyed, Mode, Number, Subject, Terms, View};
use crate::metrics::Outcome;
use crate::page::{Look, Pages};
use crate::room::{Proof, Room};
use crate::stats::Stats;
use crate::token::{MAX_ID, MAX_NAME, Pass, Provisional, RoomKeys, Scratch, Ticket, Token};

/// A room's way in.
pub struct Entrance {
    /// The line.
    pub room: Arc<Room>,
    /// Signs and verifies.
    pub keys: RoomKeys,
    /// What is shown, as long as operators say nothing else.
    shown: ArcSwap<Shown>,
    /// How it is kept.
    pub jar: Jar,
    /// What the operator wrote.
    pub settings: settings::Room,
    /// Requests of addresses without a place.
    pub by_address: Arc<Limiter>,
    /// Requests of numbers.
    pub by_ticket: Arc<Limiter>,
    /// Joins on this node: of addresses always, of devices and users while the line can't count them.
    pub(super) joins: Vec<(Subject, Arc<Limiter>)>,
    /// What is counted about it, and what is remembered.
    pub stats: Arc<Stats>,
    /// What is told of it, and not too often.
    pub(super) quiet: Arc<Quiet>,
    pub(super) polls_per_second: u32,
    pub(super) loss: Loss,
    /// Connections that stay open, by number: in rooms with slots.
    connections: Arc<Mutex<HashMap<Number, usize>>>,
}

impl std::fmt::Debug for Entrance {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "the way into {}", self.room.name())
    }
}

/// Pages, and with which words of operators they were made.
struct Shown {
    /// Of the settings that said so.
    serial: u64,
    message: Option<String>,
    pages: Arc<Pages>,
}

/// What of a pass or ticket outlives the request: who it is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Identity {
    /// The device, as an app named it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_id: Option<String>,
    /// The user, as an app or an invite named them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// It was an invite.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub user_proven: bool,
    /// The class by name; empty: nobody's in particular.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub class: String,
    /// What their pass is bound to, see [`Entrance::bound`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bind: Option<String>,
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
            user_proven: self.user_proven,
            class: if self.class.len() <= MAX_NAME { self.class } else { String::new() },
            bind: self.bind.filter(|bind| bind.len() <= MAX_NAME),
        }
    }

    /// Device and user.
    pub fn names(&self) -> (Option<&str>, Option<&str>) {
        (self.device_id.as_deref(), self.user_id.as_deref())
    }

    /// With what they proved: a class, and perhaps a user.
    pub fn proven(mut self, proven: &Proven) -> Identity {
        self.class.clone_from(&proven.class);
        if let Some(user) = &proven.user_id {
            (self.user_id, self.user_proven) = (Some(user.clone()), true);
        }
        self
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
    /// A time of arrival.
    Provisional(Provisional<'s>),
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
            Held::Pass(pass) if pass.epoch == OUTSIDE => {
                Carried::Outside { lot: pass.num, expires_ms: pass.expires_at * 1_000 }
            }
            Held::Pass(pass) => Carried::Pass {
                proof: Proof { epoch: pass.epoch, number: pass.num },
                issued_ms: pass.issued_at * 1_000,
                first: pass.issued_at == pass.admitted_at,
                expires_ms: pass.expires_at * 1_000,
            },
            Held::Provisional(provisional) => Carried::Provisional {
                arrived_ms: provisional.arrived_ms,
                nonce: provisional.nonce,
            },
        }
    }

    /// The class that a ticket or pass says; `None`: the general one.
    pub fn class(&self) -> Option<&str> {
        match self {
            Held::Ticket(Ticket { class, .. }) | Held::Pass(Pass { class, .. }) => {
                Some(&**class).filter(|class| *class != GENERAL && class.len() <= MAX_NAME)
            }
            Held::Nothing | Held::Provisional(_) => None,
        }
    }

    /// The class that an arrival's holder proved when they came.
    pub fn proven(&self) -> Option<Proven> {
        match self {
            Held::Provisional(arrival) => Proven::on_arrival(arrival),
            _ => None,
        }
    }

    /// Who it is about.
    pub fn identity(&self) -> Identity {
        let owned = |text: &Option<Cow<'_, str>>| text.as_deref().map(str::to_owned);
        match self {
            Held::Nothing => Identity::default(),
            Held::Ticket(Ticket { device_id, user_id, user_proven, class, .. })
            | Held::Pass(Pass { device_id, user_id, user_proven, class, .. }) => Identity {
                device_id: owned(device_id),
                user_id: owned(user_id),
                user_proven: *user_proven,
                class: if class == GENERAL { String::new() } else { class.clone().into_owned() },
                bind: match self {
                    Held::Pass(pass) => owned(&pass.bind),
                    _ => None,
                },
            }
            .within_bounds(),
            Held::Provisional(Provisional { device_id, user_id, .. }) => Identity {
                device_id: owned(device_id),
                user_id: owned(user_id),
                ..Identity::default()
            },
        }
    }
}

impl Entrance {
    /// A room's way in. `polls_per_second` is what the node is good for, `loss` what it does without a store.
    pub fn new(
        room: Arc<Room>,
        keys: RoomKeys,
        settings: settings::Room,
        polls_per_second: u32,
        loss: Loss,
    ) -> Entrance {
        // Whoever is refused by one has been counted by those before it: that is no loss where they forget soonest.
        let mut limits = settings.line.join_limits.clone();
        limits.sort_by_key(|limit| limit.per_ms);
        let joins = limits.iter().map(|limit| {
            let allowance = Allowance { max: limit.max, per_ms: limit.per_ms };
            (limit.subject, Arc::new(Limiter::new(Some(allowance), Crowded::Together)))
        });
        let pages = pages(&room, &settings, settings.look.message.clone());
        Entrance {
            shown: ArcSwap::from_pointee(Shown {
                serial: 0,
                message: settings.look.message.clone(),
                pages: Arc::new(pages),
            }),
            jar: Jar::new(room.name(), settings.cookies, settings.cookie_domain.as_deref()),
            by_address: Limiter::new(settings.limits.requests_per_address, Crowded::Together)
                .into(),
            by_ticket: Limiter::new(settings.limits.requests_per_ticket, Crowded::Free).into(),
            joins: joins.collect(),
            stats: Stats::unread(room.name()),
            quiet: Arc::default(),
            room,
            keys,
            settings,
            polls_per_second,
            loss,
            connections: Arc::default(),
        }
    }

    /// The same, going on from what was in force before: who has asked how often is not forgotten where as much is allowed as was.
    #[must_use]
    pub fn after(self, before: Option<&Arc<Entrance>>) -> Entrance {
        let Some(before) = before else { return self };
        let went_on = |one: &Arc<Limiter>, other: &Arc<Limiter>| match one.allowance() {
            allowance if allowance == other.allowance() => other.clone(),
            _ => one.clone(),
        };
        let joins = self.joins.iter().map(|(subject, limiter)| {
            let same = |(other, known): &&(Subject, Arc<Limiter>)| {
                other == subject && known.allowance() == limiter.allowance()
            };
            let known = before.joins.iter().find(same).map(|(_, known)| known);
            (*subject, known.unwrap_or(limiter).clone())
        });
        Entrance {
            by_address: went_on(&self.by_address, &before.by_address),
            by_ticket: went_on(&self.by_ticket, &before.by_ticket),
            joins: joins.collect(),
            quiet: before.quiet.clone(),
            connections: before.connections.clone(),
            ..self
        }
    }

    /// The same, counted by these.
    #[must_use]
    pub fn counted_by(self, stats: Arc<Stats>) -> Entrance {
        Entrance { stats, ..self }
    }

    /// How long a seat is kept after its visitor's last connection, where seats have names.
    pub fn slot_grace(&self, view: &View) -> Option<Duration> {
        let settings = view.settings().filter(|settings| !settings.slots.is_empty())?;
        Some(Duration::from_millis(settings.slot_grace_ms))
    }

    /// What a slot is called.
    pub fn slot_name(&self, slot: u64) -> Option<String> {
        let index = usize::try_from(slot).ok()?.checked_sub(1)?;
        self.room.view().settings()?.slots.get(index).cloned()
    }

    /// Which slot is called so, counted from 1; 0: none.
    pub fn slot_of(&self, name: Option<&str>) -> u64 {
        let view = self.room.view();
        let slots = view.settings().map_or(&[][..], |settings| &settings.slots);
        let found = name.and_then(|name| slots.iter().position(|slot| slot == name));
        found.map_or(0, |index| index as u64 + 1)
    }

    /// Whether visitors have names here.
    pub fn has_roster(&self) -> bool {
        self.room.view().settings().is_some_and(|settings| settings.roster)
    }

    /// Connections that stay open, by number.
    pub(super) fn connections(&self) -> MutexGuard<'_, HashMap<Number, usize>> {
        // Nothing can panic while it is held.
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a letter is to say about somebody who enters, if anybody is told: who they are, so that whichever node delivers it can
    /// make their pass again.
    pub fn tag(&self, identity: &Identity) -> Option<String> {
        let told = self.room.view().settings().is_some_and(|settings| settings.webhooks);
        told.then(|| serde_json::to_string(identity).ok()).flatten()
    }

    /// What waiting visitors are told: by operators, or else by the file.
    pub fn message<'v>(&'v self, view: &'v View) -> Option<Cow<'v, str>> {
        match view.overrides().and_then(|overrides| overrides.get("message")) {
            Some(text) => serde_json::from_str(text).ok().map(Cow::Owned),
            None => self.settings.look.message.as_deref().map(Cow::Borrowed),
        }
    }

    /// Where admissions are told: as operators set it, or else the file.
    pub fn webhook_url<'v>(&'v self, view: &'v View) -> Option<Cow<'v, str>> {
        match view.overrides().and_then(|overrides| overrides.get("webhook_url")) {
            Some(text) => serde_json::from_str(text).ok().map(Cow::Owned),
            None => self.settings.webhook_url.as_deref().map(Cow::Borrowed),
        }
    }

    /// What is shown. Made anew when operators have said something else, which is seldom.
    pub fn pages(&self) -> Arc<Pages> {
        let (view, shown) = (self.room.view(), self.shown.load());
        let serial = view.have().settings;
        if shown.serial == serial {
            return shown.pages.clone();
        }
        let message = self.message(&view).map(Cow::into_owned);
        let made = match message == shown.message {
            true => shown.pages.clone(),
            false => Arc::new(pages(&self.room, &self.settings, message.clone())),
        };
        self.shown.store(Arc::new(Shown { serial, message, pages: made.clone() }));
        made
    }

    /// Whether the room stops nobody at the moment.
    pub(super) fn stops_nobody(&self) -> bool {
        self.room.view().settings().is_some_and(|settings| settings.mode.stops_nobody())
    }

    /// Whether it is only reckoned who would be stopped: then limits refuse nobody, either.
    pub(super) fn is_shadow(&self) -> bool {
        self.room.view().settings().is_some_and(|settings| settings.mode == Mode::Shadow)
    }

    /// Counts what became of a request.
    pub(super) fn count(&self, outcome: Outcome) {
        self.stats.meters.count(outcome);
    }

    /// Somebody came and was let in at once.
    pub(super) fn came(&self, proof: Proof, terms: &Terms) {
        let session_ms = self.room.view().settings().map_or(0, |settings| settings.session_ms());
        self.stats.came(proof, terms, session_ms);
    }

    /// What a token is, if it is of this room. Good or run out alike: that is for the decision to say.
    pub fn read<'s>(&self, token: &[u8], scratch: &'s mut Scratch) -> Held<'s> {
        match self.keys.read(token, scratch) {
            Ok(Token::Ticket(ticket)) => Held::Ticket(ticket),
            Ok(Token::Pass(pass)) => Held::Pass(pass),
            Ok(Token::Provisional(arrival)) => {
                self.dated(arrival).map_or(Held::Nothing, Held::Provisional)
            }
            Ok(Token::Invite(_)) => Held::Nothing,
            Err(_) => Held::Nothing,
        }
    }

    /// The same of a token that came with a request: a pass that is bound to something else is none.
    fn read_with<'s>(&self, token: &[u8], head: &impl Head, scratch: &'s mut Scratch) -> Held<'s> {
        match self.read(token, scratch) {
            Held::Pass(pass) if !self.suits(&pass, head) => Held::Nothing,
            held => held,
        }
    }

    /// Whether a pass is bound to nothing else than what a request comes with. One that is bound to nothing was given
    /// before the room wanted it; its next renewal binds it.
    fn suits(&self, pass: &Pass<'_>, head: &impl Head) -> bool {
        let wanted = self.settings.bind;
        let Some(bind) = pass.bind.as_deref().filter(|_| wanted != Bind::default()) else {
            return true;
        };
        let device = pass.device_id.as_deref().filter(|_| wanted.device);
        let device = device.map(|_| head.get("x-device-id").unwrap_or_default());
        self.keys.is_bound(bind, &[device, self.agent(head)])
    }

    /// What names the program that asks, if passes are bound to it.
    pub fn agent<'h>(&self, head: &'h impl Head) -> Option<&'h [u8]> {
        self.settings.bind.agent.then(|| head.get("user-agent").unwrap_or_default())
    }

    /// Somebody whose pass is made with a request of this agent: as the room wants it bound, unless it is already.
    #[must_use]
    pub fn bound(&self, mut identity: Identity, agent: Option<&[u8]>) -> Identity {
        if identity.bind.is_none() && self.settings.bind != Bind::default() {
            let device = identity.device_id.as_deref().filter(|_| self.settings.bind.device);
            let device = device.map(str::as_bytes);
            let anything = device.is_some() || agent.is_some();
            identity.bind = anything.then(|| self.keys.bind(&[device, agent]));
        }
        identity
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
        let Some(first) = found.next() else { return (Held::Nothing, None) };
        // Nearly always there is one. Of several none hides a better one, whoever put it there.
        let token = found.fold(first, |best, next| {
            let worth = |token| self.worth(&self.read_with(token, head, &mut Scratch::new()));
            if worth(next) > worth(best) { next } else { best }
        });
        let held = self.read_with(token, head, scratch);
        if matches!(held, Held::Nothing) {
            chronicle::forged(self, token);
        }
        (held, Some(token))
    }

    /// Which of several is taken for what a visitor has: what may still be good before what is over, of those the last that was
    /// given. One that a browser still has from before the cookie was set for another domain is older.
    fn worth(&self, held: &Held<'_>) -> (bool, u64) {
        let (epoch, now_ms) = (self.room.view().counts().epoch, self.room.now_ms());
        match held.carried() {
            Carried::Nothing => (false, 0),
            Carried::Ticket { proof, joined_ms } => (proof.epoch >= epoch, joined_ms),
            Carried::Pass { proof, issued_ms, expires_ms, .. } => {
                (proof.epoch >= epoch && now_ms < expires_ms, issued_ms)
            }
            // Whoever has a place has it, whatever the lot was before.
            Carried::Outside { expires_ms, .. } => (now_ms < expires_ms, 0),
            Carried::Provisional { arrived_ms, .. } => (true, arrived_ms),
        }
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
            user_proven: identity.user_proven,
        };
        self.keys.sign_ticket(&ticket).expect("ids are checked where they come in")
    }

    /// The pass of a number inside: the same terms give the same one, byte for byte.
    pub fn pass(&self, proof: Proof, terms: &Terms, identity: &Identity) -> String {
        let slot = self.slot_name(terms.slot);
        let pass = Pass {
            device_id: identity.device_id.as_deref().map(Cow::Borrowed),
            user_id: identity.user_id.as_deref().map(Cow::Borrowed),
            user_proven: identity.user_proven,
            class: identity.class_name().into(),
            slot: slot.map(Cow::Owned),
            num: proof.number,
            epoch: proof.epoch,
            issued_at: terms.issued_ms / 1_000,
            admitted_at: terms.admitted_ms / 1_000,
            expires_at: terms.expires_ms / 1_000,
            nonce: self.keys.nonce(proof.epoch, proof.number).into(),
            bind: identity.bind.as_deref().map(Cow::Borrowed),
        };
        self.keys.sign_pass(&pass).expect("ids are checked where they come in")
    }

    /// Whether it works inside other sites' pages: a browser keeps cookies there only over TLS.
    pub fn is_framed(&self, client: &Client) -> bool {
        self.settings.cookies == Cookies::Partitioned && client.secure
    }

    /// `A-000123`.
    pub fn label(&self, number: Number) -> String {
        let mut label = Vec::from(self.settings.ticket_prefix.as_bytes());
        label.push(b'-');
        clock::put_padded(&mut label, number, 6);
        // Text and digits: nothing else can come of it.
        String::from_utf8(label).unwrap_or_default()
    }

    /// Within how many seconds after an opening pages ask: as long as it takes this node to answer all of them.
    pub fn opening_spread(&self, view: &View) -> u64 {
        let all = self.room.crowd().waiting();
        let seconds = all.div_ceil(u64::from(self.polls_per_second.max(1)));
        let longest = view.settings().map_or(30, |settings| settings.heartbeat_timeout_ms / 3_000);
        seconds.clamp(2, longest.max(2))
    }

    /// The pause before the next poll of somebody at `position`.
    pub fn pause(
        &self,
        view: &View,
        number: Number,
        position: Option<u64>,
        now_ms: u64,
    ) -> Duration {
        let all = self.room.crowd();
        let crowd = Crowd {
            waiting: all.waiting(),
            near: all.near(),
            polls_per_second: self.polls_per_second,
            poll_max: view.settings().map_or(self.settings.poll_max, |settings| {
                // Operators may have shortened it since: three polls must fit.
                let third = Duration::from_millis(settings.heartbeat_timeout_ms / 3);
                self.settings.poll_max.min(third)
            }),
        };
        let eta = match position {
            Some(_) if view.is_paused() => None,
            Some(position) => {
                // Where only seats are short, one may be free at any moment: no estimate keeps the page from asking.
                let seats_only = view.settings().is_some_and(|settings| settings.pace.is_none());
                let soon = if seats_only { position } else { u64::MAX };
                Some(Duration::from_secs(view.reckoned_eta(position).seconds.min(soon)))
            }
            None => Some(Duration::ZERO),
        };
        crowd.pause(eta, chance(number, now_ms))
    }

    /// Counts a request: by its number or arrival if it has one, else by its address.
    ///
    /// # Errors
    /// After how many milliseconds the next one would be allowed.
    pub fn limit(&self, carried: Carried, client: &Client, now_ms: u64) -> Result<f64, u64> {
        if self.is_shadow() {
            return Ok(0.0);
        }
        let ticket = match carried {
            Carried::Provisional { nonce, .. } => Some(nonce),
            _ => carried.proof().map(proof_key),
        };
        match ticket {
            Some(key) => self.by_ticket.take(key, now_ms),
            None => self.by_address.take(self.address(client.address), now_ms),
        }
    }

    /// Counts a question to the line whether a turn has come, apart from all others: tabs that ask how long it takes must not
    /// use up what the request needs that enters.
    ///
    /// # Errors
    /// After how many milliseconds the next one would be allowed.
    pub fn limit_claims(&self, proof: Proof, now_ms: u64) -> Result<f64, u64> {
        if self.is_shadow() {
            return Ok(0.0);
        }
        self.by_ticket.take(claim_key(proof), now_ms)
    }

    /// What the line is told about a newcomer from an address: nothing, until this node has seen its share of half of what
    /// the address may do. So a crowd of strangers costs the store a number each and no more.
    ///
    /// Where places are limited, the line hears of every address and counts alone: a node counts who asks, and a line
    /// whom it gives a number. Whoever was told that the room is full must not be without one for a day.
    ///
    /// # Errors
    /// After how many milliseconds the address may try again.
    pub fn newcomer(&self, address: IpAddr, user: Option<&str>) -> Result<Option<Keyed>, u64> {
        let address = self.counted(address)?;
        let user = user.map(|user| self.subject("user", user));
        let keyed = Keyed { address, user, ..Keyed::default() };
        Ok((keyed != Keyed::default()).then_some(keyed))
    }

    /// Counts a join of an address on this node; the address, if the line is to count it, too. What all nodes together keep to
    /// themselves is at most half of what an address may do, however many they are; one node keeps the limit alone.
    fn counted(&self, address: IpAddr) -> Result<Option<Key>, u64> {
        let mut limits =
            self.joins.iter().filter(|(subject, _)| *subject == Subject::Address).peekable();
        if limits.peek().is_none() || self.is_shadow() {
            return Ok(None);
        }
        let (now_ms, address) = (self.room.now_ms(), self.address(address));
        let nodes = self.room.view().counts().nodes.max(1);
        let places = self.settings.limits.places_per_address;
        let mut told = places.map(|_| address);
        for (_, limit) in limits.filter(|(_, limit)| limit.allowance() != places) {
            if limit.take(address, now_ms)? * nodes as f64 > 0.5 {
                told = Some(address);
            }
        }
        Ok(told)
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

fn pages(room: &Room, settings: &settings::Room, message: Option<String>) -> Pages {
    let framed = settings.cookies == Cookies::Partitioned;
    Pages::new(
        room.name(),
        &Look { framed, message, roster: settings.line.roster, ..settings.look.clone() },
    )
}

/// A number as the limits know it.
pub fn proof_key(proof: Proof) -> Key {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&proof.epoch.to_be_bytes());
    key[8..].copy_from_slice(&proof.number.to_be_bytes());
    key
}

/// Likewise, for the requests that would enter: no epoch is ever so high.
fn claim_key(proof: Proof) -> Key {
    proof_key(Proof { epoch: !proof.epoch, ..proof })
}
