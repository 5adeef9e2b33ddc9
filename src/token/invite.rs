//! An invite: proof that whoever brings it is of a class.
//!
//! Owns its claims. It is worth a class when joining, and no place; how often it was used and whether it was revoked, the
//! line knows by its id. Rare, so it is read by `serde_json` alone.

use std::borrow::Cow;

use base64::Engine as _;
use serde::{Deserialize, Serialize};

use super::base64url::B64;
use super::claims::{ids, json, lend, names, numbers, small};
use super::error::{SignError, TokenError};
use super::jwt::{Text, object};

/// Bytes of an id: as many as a key of the line has. 22 characters.
const ID: usize = 16;

/// An invite. The room is that of the keys that sign or verify it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invite<'a> {
    /// Unlike all others.
    pub id: [u8; ID],
    /// The class by name.
    pub class: Cow<'a, str>,
    /// How often it may be used; 0: any number of times.
    pub uses: u32,
    /// Until when it is good, in unix seconds.
    pub expires_at: u64,
    /// The user it was made for.
    pub user_id: Option<Cow<'a, str>>,
}

/// The claims as they are written.
#[derive(Serialize, Deserialize)]
struct Claims<'a> {
    #[serde(borrow)]
    event_id: Text<'a>,
    #[serde(borrow)]
    class: Text<'a>,
    #[serde(borrow)]
    id: Text<'a>,
    uses: u32,
    exp: u64,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    user_id: Option<Text<'a>>,
}

impl<'a> Invite<'a> {
    /// Its id as people and the admin API name it: 32 hex digits.
    #[must_use]
    pub fn name(&self) -> String {
        self.id.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The claims as JSON.
    pub(super) fn write(&self, room: &str) -> Result<Vec<u8>, SignError> {
        numbers([("exp", self.expires_at)])?;
        ids([("user_id", self.user_id.as_ref())])?;
        names([("class", Some(&self.class))])?;
        Ok(json(&Claims {
            event_id: lend(room),
            class: lend(&self.class),
            id: Text(B64.encode(self.id).into()),
            uses: self.uses,
            exp: self.expires_at,
            user_id: self.user_id.as_deref().map(lend),
        }))
    }

    /// Reads signed claims.
    pub(super) fn read(claims: &'a [u8], room: &str) -> Result<Self, TokenError> {
        let claims: Claims<'_> =
            object(claims).ok_or(TokenError::Claims("are not those of an invite"))?;
        small([claims.exp])?;
        if claims.event_id.0 != room {
            return Err(TokenError::OtherRoom);
        }
        let mut id = [0; ID];
        if B64.decode_slice(claims.id.0.as_bytes(), &mut id) != Ok(ID) {
            return Err(TokenError::Claims("have an id of another length"));
        }
        Ok(Self {
            id,
            class: claims.class.0,
            uses: claims.uses,
            expires_at: claims.exp,
            user_id: claims.user_id.map(|text| text.0),
        })
    }
}
