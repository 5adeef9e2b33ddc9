//! A provisional ticket: proof of when somebody came while there was nobody who could give them a number.
//!
//! Owns its claims. It is worth one join and no place: when the line can be reached again, whoever holds it joins
//! by the time it says. Rare and short-lived, so it is read by `serde_json` alone.

use std::borrow::Cow;

use base64::Engine as _;
use serde::{Deserialize, Serialize};

use super::base64url::B64;
use super::claims::{ids, json, lend, numbers, small};
use super::error::{SignError, TokenError};
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
}

impl<'a> Provisional<'a> {
    /// The claims as JSON.
    pub(super) fn write(&self, room: &str) -> Result<Vec<u8>, SignError> {
        numbers([("arrived_ms", self.arrived_ms)])?;
        ids([("device_id", self.device_id.as_ref()), ("user_id", self.user_id.as_ref())])?;
        Ok(json(&Claims {
            event_id: lend(room),
            arrived_ms: self.arrived_ms,
            clock_of: self.clock_of.map(|node| Text(format!("{node:032x}").into())),
            nonce: Text(B64.encode(self.nonce).into()),
            device_id: self.device_id.as_deref().map(lend),
            user_id: self.user_id.as_deref().map(lend),
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
        let mut nonce = [0; NONCE];
        let length = B64.decode_slice(claims.nonce.0.as_bytes(), &mut nonce);
        if length != Ok(NONCE) {
            return Err(TokenError::Claims("have a nonce of another length"));
        }
        let node = |text: Text<'_>| u128::from_str_radix(&text.0, 16);
        let clock_of = claims.clock_of.map(node).transpose();
        Ok(Self {
            arrived_ms: claims.arrived_ms,
            clock_of: clock_of.map_err(|_| TokenError::Claims("name a clock that is no node's"))?,
            nonce,
            device_id: claims.device_id.map(|text| text.0),
            user_id: claims.user_id.map(|text| text.0),
        })
    }
}
