//! Who asks: which room a call is about, and what the caller shows of a place in it, or of an arrival.
//!
//! Owns the order in which a ticket is looked for (named, then by cookie), which rooms a host may be asked
//! about, and the limits every call is under. Whoever shows a good ticket is counted by their number, everybody else by
//! their address; so one who guesses is stopped, and a crowd behind one address is not.

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;

use super::error;
use super::error::{bad, rate_limited, unknown_ticket};
use super::outside;
use super::request::{bearer, value};
use crate::gateway::answer::Response;
use crate::gateway::chronicle::{self, Whose};
use crate::gateway::decide::Carried;
use crate::gateway::entrance::proof_key;
use crate::gateway::entrance::{Entrance, Held, Identity};
use crate::gateway::head::{Client, Head};
use crate::gateway::live::Live;
use crate::room::Proof;
use crate::token::{Scratch, Unproven};

/// A caller with a token whose signature is good.
pub(super) struct Caller<'a> {
    pub(super) entrance: &'a Arc<Entrance>,
    /// Named by the caller, and not brought along by a browser.
    pub(super) named: bool,
    pub(super) token: Cow<'a, [u8]>,
    /// Never nothing.
    pub(super) carried: Carried,
    /// The class that it says; `None`: the general one.
    pub(super) class: Option<String>,
    /// See [`Entrance::agent`].
    pub(super) agent: Option<&'a [u8]>,
}

impl<'a> Caller<'a> {
    /// Whose place it is.
    ///
    /// # Errors
    /// 404 for an arrival, which is none yet; whoever stands outside has none either, and is told so.
    pub(super) fn asker(self) -> Result<Asker<'a>, Response> {
        let Caller { entrance, named, token, carried, class, agent } = self;
        if let Some(answer) = outside::asked(entrance, carried) {
            return Err(answer);
        }
        let Some(proof) = carried.proof() else { return Err(unknown_ticket(entrance)) };
        Ok(Asker { entrance, named, token, proof, carried, class, agent })
    }
}

/// A caller with a ticket or a pass whose signature is good.
pub(super) struct Asker<'a> {
    pub(super) entrance: &'a Arc<Entrance>,
    /// Named by the caller, and not brought along by a browser.
    pub(super) named: bool,
    pub(super) token: Cow<'a, [u8]>,
    pub(super) proof: Proof,
    pub(super) carried: Carried,
    /// The class that it says; `None`: the general one.
    pub(super) class: Option<String>,
    /// See [`Entrance::agent`].
    pub(super) agent: Option<&'a [u8]>,
}

impl Asker<'_> {
    /// Who the token is about, and what a pass of theirs is bound to.
    pub(super) fn identity(&self) -> Identity {
        let identity = self.entrance.read(&self.token, &mut Scratch::new()).identity();
        self.entrance.bound(identity, self.agent)
    }

    /// The ticket as an answer may show it: to whoever named it.
    pub(super) fn shown(&self) -> Option<&[u8]> {
        let ticket = matches!(self.carried, Carried::Ticket { .. });
        (self.named && ticket).then_some(&*self.token)
    }

    /// When the place was given; a pass does not say.
    pub(super) fn joined_ms(&self) -> Option<u64> {
        match self.carried {
            Carried::Ticket { joined_ms, .. } => Some(joined_ms),
            _ => None,
        }
    }

    /// Counts a request of this number.
    ///
    /// # Errors
    /// 429.
    pub(super) fn count(&self) -> Result<(), Response> {
        if self.entrance.is_shadow() {
            return Ok(());
        }
        let now_ms = self.entrance.room.now_ms();
        let taken = self.entrance.by_ticket.take(proof_key(self.proof), now_ms);
        taken.map(drop).map_err(|retry_ms| {
            chronicle::limited(self.entrance, "requests_per_ticket", Whose::Place(self.proof));
            rate_limited(self.entrance, retry_ms)
        })
    }
}

/// The ticket a head names: in its query, or as a bearer.
pub(super) fn named(head: &impl Head) -> Option<Cow<'_, [u8]>> {
    let query = head.query().and_then(|query| value(query, "queue_id"));
    match query {
        Some(Cow::Borrowed(ticket)) => Some(Cow::Borrowed(ticket.as_bytes())),
        Some(Cow::Owned(ticket)) => Some(Cow::Owned(ticket.into_bytes())),
        None => bearer(head).map(Cow::Borrowed),
    }
}

/// Finds who asks, by the ticket they name or else by their cookie.
///
/// # Errors
/// 400 without a ticket, 404 with one that is not of a room that this host may be asked about.
pub(super) fn find<'a>(
    live: &'a Live,
    head: &'a impl Head,
    client: &Client,
    event_id: Option<&str>,
    named: Option<Cow<'a, [u8]>>,
) -> Result<Asker<'a>, Response> {
    seek(live, head, client, event_id, named)?.asker()
}

/// The same, with those who have but an arrival to show.
///
/// # Errors
/// The same.
pub(super) fn seek<'a>(
    live: &'a Live,
    head: &'a impl Head,
    client: &Client,
    event_id: Option<&str>,
    named: Option<Cow<'a, [u8]>>,
) -> Result<Caller<'a>, Response> {
    let entrance = match event_id {
        Some(event_id) => Some(room(live, head, event_id)?),
        None => only(live, head),
    };
    let mut scratch = Scratch::new();
    match named {
        Some(token) => {
            let mut at = entrance.filter(|_| !token.is_empty());
            let said = |held: Held<'_>| (held.carried(), held.class().map(str::to_owned));
            let mut held = at.map(|entrance| said(entrance.read(&token, &mut scratch)));
            if event_id.is_none() && matches!(held, None | Some((Carried::Nothing, _))) {
                // Not of the room this host is known for: then of the one it says it is of.
                at = Unproven::read(&token).ok().and_then(|says| visible(live, head, &says.room));
                held = at.map(|entrance| said(entrance.read(&token, &mut scratch)));
            }
            match at.zip(held) {
                Some((entrance, (carried, class))) if carried != Carried::Nothing => {
                    let agent = entrance.agent(head);
                    Ok(Caller { entrance, named: true, token, carried, class, agent })
                }
                _ => Err(match at.or(entrance) {
                    Some(entrance) => {
                        chronicle::forged(entrance, &token);
                        refused(entrance, client.address, || unknown_ticket(entrance))
                    }
                    None => error(404, "unknown_ticket", "there is no such ticket here"),
                }),
            }
        }
        None => {
            let Some(entrance) = entrance else { return Err(which_room()) };
            let (held, token) = entrance.held(head, client, &mut scratch);
            let (carried, class) = (held.carried(), held.class().map(str::to_owned));
            match (carried, token) {
                (Carried::Nothing, token) | (_, token @ None) => {
                    Err(refused(entrance, client.address, || match token {
                        Some(_) => unknown_ticket(entrance),
                        None => bad(
                            "missing_ticket",
                            "name a ticket as queue_id, as a bearer or by cookie",
                        ),
                    }))
                }
                (carried, Some(token)) => {
                    let (token, agent) = (Cow::Borrowed(token), entrance.agent(head));
                    Ok(Caller { entrance, named: false, token, carried, class, agent })
                }
            }
        }
    }
}

fn which_room() -> Response {
    bad("missing_event_id", "there is not exactly one room on this host: say which in event_id")
}

/// A refusal of somebody without a place, unless their address was refused too often.
fn refused(entrance: &Entrance, address: IpAddr, answer: impl FnOnce() -> Response) -> Response {
    count_address(entrance, address).err().unwrap_or_else(answer)
}

/// Counts a request of an address.
///
/// # Errors
/// 429.
pub(super) fn count_address(entrance: &Entrance, address: IpAddr) -> Result<(), Response> {
    if entrance.is_shadow() {
        return Ok(());
    }
    let taken = entrance.by_address.take(entrance.address(address), entrance.room.now_ms());
    taken.map(drop).map_err(|retry_ms| {
        chronicle::limited(entrance, "requests_per_address", Whose::Address(address));
        rate_limited(entrance, retry_ms)
    })
}

/// The room of an `event_id`.
///
/// # Errors
/// 400.
pub(super) fn room<'l>(
    live: &'l Live,
    head: &impl Head,
    event_id: &str,
) -> Result<&'l Arc<Entrance>, Response> {
    visible(live, head, event_id)
        .ok_or_else(|| bad("unknown_event", "there is no room of this event_id here"))
}

/// The only room on a host.
///
/// # Errors
/// 400 if there are none or several.
pub(super) fn only_room<'l>(
    live: &'l Live,
    head: &impl Head,
) -> Result<&'l Arc<Entrance>, Response> {
    only(live, head).ok_or_else(which_room)
}

/// A room by its name, if this host may be asked about it: it is on it, or on none, or the host is the API's own.
pub(super) fn visible<'l>(
    live: &'l Live,
    head: &impl Head,
    name: &str,
) -> Option<&'l Arc<Entrance>> {
    let entrance = live.entrances.get(name)?;
    let on_none = entrance.settings.guard.hosts.as_ref().is_some_and(Vec::is_empty);
    let open = on_none
        || is_api_host(live, head.host())
        || live.on_host(head).any(|other| Arc::ptr_eq(other, entrance));
    open.then_some(entrance)
}

fn only<'l>(live: &'l Live, head: &impl Head) -> Option<&'l Arc<Entrance>> {
    let mut rooms = live.on_host(head);
    let first = rooms.next()?;
    // A room may be written for a host and for a wildcard that covers it.
    rooms.all(|other| Arc::ptr_eq(other, first)).then_some(first)
}

/// Whether a host is the API's own.
pub(super) fn is_api_host(live: &Live, host: &str) -> bool {
    if live.api_hosts.is_empty() {
        return false;
    }
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.split(':').next().unwrap_or_default(),
    };
    let name = name.strip_suffix('.').unwrap_or(name);
    live.api_hosts.iter().any(|own| own.eq_ignore_ascii_case(name))
}
