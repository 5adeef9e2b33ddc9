//! What a ticket and a pass say: the claims, their limits, writing and reading them.
//!
//! The names and the order of the fields are the wire format, fixed for good by `tests/token/golden`.
//! Reading tries the form we write ([`canonical`](super::canonical)) and falls back on `serde_json`,
//! to which order and white space are nothing and further claims are somebody else's business.

use std::borrow::Cow;

use serde::{Deserialize, Serialize, Serializer};

use super::canonical::Reader;
use super::error::{SignError, TokenError};
use super::jwt::{Text, object};

/// The longest device or user id, and room, in bytes: what apps use (a UUID has 36, an e-mail address
/// rarely 64) with room to spare, and short enough for [`MAX_TOKEN`](super::MAX_TOKEN).
pub const MAX_ID: usize = 128;

/// The longest class, slot, visitor id and nonce, in bytes.
pub const MAX_NAME: usize = 64;

/// The largest number, epoch or time: beyond 2^53 − 1 JavaScript rounds.
pub const MAX_NUMBER: u64 = (1 << 53) - 1;

/// Proof of a place in a room's line. The room is that of the keys that sign or verify it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket<'a> {
    /// The visitor's number.
    pub num: u64,
    /// The room's generation in which the number was given.
    pub epoch: u64,
    /// The class by name.
    pub class: Cow<'a, str>,
    /// When the number was given, in unix seconds. How old a ticket may be is for the caller to judge.
    pub joined_at: u64,
    /// The visitor's id, see [`RoomKeys::visitor`](super::RoomKeys::visitor).
    pub visitor: Cow<'a, str>,
    /// The device, as an app named it.
    pub device_id: Option<Cow<'a, str>>,
    /// The user, as an app, a trusted header or an invite named them.
    pub user_id: Option<Cow<'a, str>>,
    /// The user is whom an invite was made for: not only what an app says.
    pub user_proven: bool,
}

/// The right to be inside a room. The room is that of the keys that sign or verify it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pass<'a> {
    /// The device, as an app named it.
    pub device_id: Option<Cow<'a, str>>,
    /// The user, as an app, a trusted header or an invite named them.
    pub user_id: Option<Cow<'a, str>>,
    /// The user is whom an invite was made for: not only what an app says.
    pub user_proven: bool,
    /// The class by name.
    pub class: Cow<'a, str>,
    /// The named seat, in rooms that have them.
    pub slot: Option<Cow<'a, str>>,
    /// The visitor's number.
    pub num: u64,
    /// The room's generation in which the number was given.
    pub epoch: u64,
    /// When this pass was made, in unix seconds. A renewed pass has a later one.
    pub issued_at: u64,
    /// When the visitor entered, in unix seconds. Renewals keep it: `session_max` counts from here.
    pub admitted_at: u64,
    /// The first unix second at which it is no longer good. Also written as `exp` for other libraries.
    pub expires_at: u64,
    /// See [`RoomKeys::nonce`](super::RoomKeys::nonce).
    pub nonce: Cow<'a, str>,
    /// What it is bound to, see [`RoomKeys::bind`](super::RoomKeys::bind); `None`: to nothing.
    pub bind: Option<Cow<'a, str>>,
}

/// A ticket's claims as they are written.
#[derive(Serialize, Deserialize)]
struct TicketClaims<'a> {
    #[serde(borrow)]
    event_id: Text<'a>,
    num: u64,
    #[serde(borrow)]
    sub: Text<'a>,
    epoch: u64,
    #[serde(borrow)]
    class: Text<'a>,
    joined_at: u64,
    #[serde(borrow)]
    visitor: Text<'a>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    device_id: Option<Text<'a>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    user_id: Option<Text<'a>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    user_proven: bool,
}

/// A pass's claims as they are written.
#[derive(Serialize, Deserialize)]
struct PassClaims<'a> {
    #[serde(borrow)]
    event_id: Text<'a>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    device_id: Option<Text<'a>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    user_id: Option<Text<'a>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    user_proven: bool,
    #[serde(borrow)]
    class: Text<'a>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    slot: Option<Text<'a>>,
    num: u64,
    epoch: u64,
    issued_at: u64,
    admitted_at: u64,
    expires_at: u64,
    #[serde(borrow)]
    nonce: Text<'a>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    bind: Option<Text<'a>>,
    exp: u64,
}

impl<'a> Ticket<'a> {
    /// The claims as JSON.
    pub(super) fn write(&self, room: &str) -> Result<Vec<u8>, SignError> {
        numbers([("num", self.num), ("epoch", self.epoch), ("joined_at", self.joined_at)])?;
        names([("class", Some(&self.class)), ("visitor", Some(&self.visitor))])?;
        ids([("device_id", self.device_id.as_ref()), ("user_id", self.user_id.as_ref())])?;
        Ok(json(&TicketClaims {
            event_id: Text(room.into()),
            num: self.num,
            sub: Text(self.num.to_string().into()),
            epoch: self.epoch,
            class: lend(&self.class),
            joined_at: self.joined_at,
            visitor: lend(&self.visitor),
            device_id: self.device_id.as_deref().map(lend),
            user_id: self.user_id.as_deref().map(lend),
            user_proven: self.user_proven,
        }))
    }

    /// Reads signed claims. `opening` is the beginning of the room's claims, see [`opening`].
    pub(super) fn read(claims: &'a [u8], room: &str, opening: &str) -> Result<Self, TokenError> {
        match Self::read_canonical(claims, opening) {
            Some(ticket) => Ok(ticket),
            None => Self::read_any(claims, room),
        }
    }

    fn read_canonical(claims: &'a [u8], opening: &str) -> Option<Self> {
        let mut reader = Reader::new(claims);
        reader.expect(opening)?;
        reader.expect(r#","num":"#)?;
        let num = reader.number()?;
        reader.expect(r#","sub":""#)?;
        if reader.number()? != num {
            return None;
        }
        reader.expect(r#"","epoch":"#)?;
        let epoch = reader.number()?;
        reader.expect(r#","class":""#)?;
        let class = reader.text()?.into();
        reader.expect(r#","joined_at":"#)?;
        let joined_at = reader.seconds()?;
        reader.expect(r#","visitor":""#)?;
        let visitor = reader.text()?.into();
        let device_id = reader.text_after(r#","device_id":""#)?.map(Cow::Borrowed);
        let user_id = reader.text_after(r#","user_id":""#)?.map(Cow::Borrowed);
        let user_proven = reader.takes(r#","user_proven":true"#);
        reader.expect("}")?;
        reader.end()?;
        Some(Self { num, epoch, class, joined_at, visitor, device_id, user_id, user_proven })
    }

    #[cold]
    fn read_any(claims: &'a [u8], room: &str) -> Result<Self, TokenError> {
        let claims: TicketClaims<'_> =
            object(claims).ok_or(TokenError::Claims("are not those of a ticket"))?;
        small([claims.num, claims.epoch, claims.joined_at])?;
        if claims.event_id.0 != room {
            return Err(TokenError::OtherRoom);
        }
        if claims.sub.0 != claims.num.to_string() {
            return Err(TokenError::Claims("have a sub that isn't num"));
        }
        Ok(Self {
            num: claims.num,
            epoch: claims.epoch,
            class: claims.class.0,
            joined_at: claims.joined_at,
            visitor: claims.visitor.0,
            device_id: claims.device_id.map(|text| text.0),
            user_id: claims.user_id.map(|text| text.0),
            user_proven: claims.user_proven,
        })
    }
}

impl<'a> Pass<'a> {
    /// The claims as JSON.
    pub(super) fn write(&self, room: &str) -> Result<Vec<u8>, SignError> {
        numbers([
            ("num", self.num),
            ("epoch", self.epoch),
            ("issued_at", self.issued_at),
            ("admitted_at", self.admitted_at),
            ("expires_at", self.expires_at),
        ])?;
        names([
            ("class", Some(&self.class)),
            ("slot", self.slot.as_ref()),
            ("nonce", Some(&self.nonce)),
            ("bind", self.bind.as_ref()),
        ])?;
        ids([("device_id", self.device_id.as_ref()), ("user_id", self.user_id.as_ref())])?;
        Ok(json(&PassClaims {
            event_id: Text(room.into()),
            device_id: self.device_id.as_deref().map(lend),
            user_id: self.user_id.as_deref().map(lend),
            user_proven: self.user_proven,
            class: lend(&self.class),
            slot: self.slot.as_deref().map(lend),
            num: self.num,
            epoch: self.epoch,
            issued_at: self.issued_at,
            admitted_at: self.admitted_at,
            expires_at: self.expires_at,
            nonce: lend(&self.nonce),
            bind: self.bind.as_deref().map(lend),
            exp: self.expires_at,
        }))
    }

    /// Reads signed claims. `opening` is the beginning of the room's claims, see [`opening`].
    pub(super) fn read(claims: &'a [u8], room: &str, opening: &str) -> Result<Self, TokenError> {
        match Self::read_canonical(claims, opening) {
            Some(pass) => Ok(pass),
            None => Self::read_any(claims, room),
        }
    }

    fn read_canonical(claims: &'a [u8], opening: &str) -> Option<Self> {
        let mut reader = Reader::new(claims);
        reader.expect(opening)?;
        let device_id = reader.text_after(r#","device_id":""#)?.map(Cow::Borrowed);
        let user_id = reader.text_after(r#","user_id":""#)?.map(Cow::Borrowed);
        let user_proven = reader.takes(r#","user_proven":true"#);
        reader.expect(r#","class":""#)?;
        let class = reader.text()?.into();
        let slot = reader.text_after(r#","slot":""#)?.map(Cow::Borrowed);
        reader.expect(r#","num":"#)?;
        let num = reader.number()?;
        reader.expect(r#","epoch":"#)?;
        let epoch = reader.number()?;
        reader.expect(r#","issued_at":"#)?;
        let issued_at = reader.seconds()?;
        reader.expect(r#","admitted_at":"#)?;
        let admitted_at = reader.seconds()?;
        reader.expect(r#","expires_at":"#)?;
        let expires_at = reader.seconds()?;
        reader.expect(r#","nonce":""#)?;
        let nonce = reader.text()?.into();
        let bind = reader.text_after(r#","bind":""#)?.map(Cow::Borrowed);
        reader.expect(r#","exp":"#)?;
        if reader.seconds()? != expires_at {
            return None;
        }
        reader.expect("}")?;
        reader.end()?;
        Some(Self {
            device_id,
            user_id,
            user_proven,
            class,
            slot,
            num,
            epoch,
            issued_at,
            admitted_at,
            expires_at,
            nonce,
            bind,
        })
    }

    #[cold]
    fn read_any(claims: &'a [u8], room: &str) -> Result<Self, TokenError> {
        let claims: PassClaims<'_> =
            object(claims).ok_or(TokenError::Claims("are not those of a pass"))?;
        small([claims.num, claims.epoch, claims.issued_at, claims.admitted_at, claims.expires_at])?;
        if claims.event_id.0 != room {
            return Err(TokenError::OtherRoom);
        }
        // A library of an origin goes by `exp`, we by `expires_at`: they must not differ.
        if claims.exp != claims.expires_at {
            return Err(TokenError::Claims("have an exp that isn't expires_at"));
        }
        Ok(Self {
            device_id: claims.device_id.map(|text| text.0),
            user_id: claims.user_id.map(|text| text.0),
            user_proven: claims.user_proven,
            class: claims.class.0,
            slot: claims.slot.map(|text| text.0),
            num: claims.num,
            epoch: claims.epoch,
            issued_at: claims.issued_at,
            admitted_at: claims.admitted_at,
            expires_at: claims.expires_at,
            nonce: claims.nonce.0,
            bind: claims.bind.map(|text| text.0),
        })
    }
}

/// How all claims of a room begin. A room's name needs no escapes, see
/// [`check_room`](super::key::check_room).
pub(super) fn opening(room: &str) -> String {
    format!(r#"{{"event_id":"{room}""#)
}

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

pub(super) fn lend(text: &str) -> Text<'_> {
    Text(Cow::Borrowed(text))
}

pub(super) fn json(claims: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(claims).expect("strings and whole numbers are always JSON")
}

pub(super) fn numbers<const N: usize>(fields: [(&'static str, u64); N]) -> Result<(), SignError> {
    match fields.into_iter().find(|(_, number)| *number > MAX_NUMBER) {
        Some((name, _)) => Err(SignError::LargeNumber(name)),
        None => Ok(()),
    }
}

/// A field that may be absent.
type Field<'f, 'a> = (&'static str, Option<&'f Cow<'a, str>>);

pub(super) fn names<const N: usize>(fields: [Field<'_, '_>; N]) -> Result<(), SignError> {
    longer_than(MAX_NAME, fields).map_or(Ok(()), |name| Err(SignError::LongName(name)))
}

pub(super) fn ids<const N: usize>(fields: [Field<'_, '_>; N]) -> Result<(), SignError> {
    longer_than(MAX_ID, fields).map_or(Ok(()), |name| Err(SignError::LongId(name)))
}

fn longer_than<const N: usize>(limit: usize, fields: [Field<'_, '_>; N]) -> Option<&'static str> {
    let long = |(_, text): &Field<'_, '_>| text.is_some_and(|text| text.len() > limit);
    fields.into_iter().find(long).map(|(name, _)| name)
}

pub(super) fn small<const N: usize>(numbers: [u64; N]) -> Result<(), TokenError> {
    match numbers.into_iter().all(|number| number <= MAX_NUMBER) {
        true => Ok(()),
        false => Err(TokenError::Claims("have a number beyond 2^53 - 1")),
    }
}

#[cfg(test)]
mod tests;
