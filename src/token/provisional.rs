//! A provisional ticket: proof of when somebody came while there was nobody who could give them a number.
//!
//! Owns its claims. It is worth one join and no place: when the line can be reached again, whoever holds it joins
//! by the time it says. Rare and short-lived, so it is read by `serde_json` alone.

use std::borrow::Cow;

use base64::Engine as _;
use serde::{Deserialize, Serialize};

use super::base64url::B64;
use super::claims::{ids, json, lend, names, numbers, small};
use super::error::{SignError, TokenError};
use super::invite::Invite;
use super::jwt::{Text, object};

/// Bytes of a nonce: as many as a key of the line has, for it becomes one. 22 characters.
const NONCE: usize = 16;

/// Proof of an arrival. The room is that of the keys that sign or verify it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provisional<'a> {
    /// When its holder came, in unix milliseconds: those who came within one second are told apart, too.
    pub arrived_ms: u64,
    /// The node by whose own clock that is: it had not heard its store's time yet. `None`: it is the store's.
    pub clock_of: Option<u128>,
    /// Unlike all others: the same one joins once, however often it is shown.
    pub nonce: [u8; NONCE],
    /// The device, as an app named it.
    pub device_id: Option<Cow<'a, str>>,
    /// The user, as an app or a trusted header named them.
    pub user_id: Option<Cow<'a, str>>,
    /// The class that was proven by something else than an invite, by name.
    pub class: Option<Cow<'a, str>>,
    /// The invite that was brought. Whether it is good, the line says when its holder joins.
    pub invite: Option<Invite<'a>>,
}

/// The claims as they are written.
#[derive(Serialize, Deserialize)]
struct Claims<'a> {
    #[serde(borrow)]
    event_id: Text<'a>,
    arrived_ms: u64,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    clock_of: Option<Text<'a>>,
    #[serde(borrow)]
    nonce: Text<'a>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    device_id: Option<Text<'a>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    user_id: Option<Text<'a>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    class: Option<Text<'a>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    invite: Option<Brought<'a>>,
}

/// An invite in them: of this room, which is said already.
#[derive(Serialize, Deserialize)]
struct Brought<'a> {
    #[serde(borrow)]
    class: Text<'a>,
    #[serde(borrow)]
    id: Text<'a>,
    uses: u32,
    exp: u64,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    user_id: Option<Text<'a>>,
}

impl<'a> Brought<'a> {
    fn of(invite: &'a Invite<'_>) -> Self {
        Self {
            class: lend(&invite.class),
            id: Text(B64.encode(invite.id).into()),
            uses: invite.uses,
            exp: invite.expires_at,
            user_id: invite.user_id.as_deref().map(lend),
        }
    }

    fn read(self) -> Result<Invite<'a>, TokenError> {
        small([self.exp])?;
        Ok(Invite {
            id: key(&self.id.0, "have an invite with an id of another length")?,
            class: self.class.0,
            uses: self.uses,
            expires_at: self.exp,
            user_id: self.user_id.map(|text| text.0),
        })
    }
}

/// Sixteen bytes, as 22 characters.
fn key(text: &str, wrong: &'static str) -> Result<[u8; NONCE], TokenError> {
    let mut key = [0; NONCE];
    match B64.decode_slice(text.as_bytes(), &mut key) {
        Ok(NONCE) => Ok(key),
        _ => Err(TokenError::Claims(wrong)),
    }
}

impl<'a> Provisional<'a> {
    /// The claims as JSON.
    pub(super) fn write(&self, room: &str) -> Result<Vec<u8>, SignError> {
        numbers([("arrived_ms", self.arrived_ms)])?;
        ids([("device_id", self.device_id.as_ref()), ("user_id", self.user_id.as_ref())])?;
        names([("class", self.class.as_ref())])?;
        Ok(json(&Claims {
            event_id: lend(room),
            arrived_ms: self.arrived_ms,
            clock_of: self.clock_of.map(|node| Text(format!("{node:032x}").into())),
            nonce: Text(B64.encode(self.nonce).into()),
            device_id: self.device_id.as_deref().map(lend),
            user_id: self.user_id.as_deref().map(lend),
            class: self.class.as_deref().map(lend),
            invite: self.invite.as_ref().map(Brought::of),
        }))
    }

    /// Reads signed claims.
    pub(super) fn read(claims: &'a [u8], room: &str) -> Result<Self, TokenError> {
        let claims: Claims<'_> =
            object(claims).ok_or(TokenError::Claims("are not those of a provisional ticket"))?;
        small([claims.arrived_ms])?;
        if claims.event_id.0 != room {
            return Err(TokenError::OtherRoom);
        }
        let node = |text: Text<'_>| u128::from_str_radix(&text.0, 16);
        let clock_of = claims.clock_of.map(node).transpose();
        Ok(Self {
            arrived_ms: claims.arrived_ms,
            clock_of: clock_of.map_err(|_| TokenError::Claims("name a clock that is no node's"))?,
            nonce: key(&claims.nonce.0, "have a nonce of another length")?,
            device_id: claims.device_id.map(|text| text.0),
            user_id: claims.user_id.map(|text| text.0),
            class: claims.class.map(|text| text.0),
            invite: claims.invite.map(Brought::read).transpose()?,
        })
    }
}
