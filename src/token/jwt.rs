//! The envelope: three segments, the header, the signature. Knows nothing of claims.
//!
//! Opening goes from cheap to dear, and each step only sees what the one before let through: size,
//! header, shape (three segments of canonical base64url), signature. Canonical means that exactly one
//! text stands for given bytes, so a token can't be changed into another good one: no padding, no
//! stray bits in a last character. What comes out was signed by a holder of the key.

use std::borrow::Cow;

use base64::Engine as _;
use hmac::Mac as _;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::base64url::B64;
use super::error::{SignError, TokenError};
use super::key::HmacSha256;

/// The longest token that is looked at. Two 128-byte ids full of quotes still fit; a cookie may be
/// 4096 bytes with its name and attributes; 2048 keeps the dearest refusal at 33 hash blocks.
pub const MAX_TOKEN: usize = 2048;

/// The 32 bytes of an HMAC-SHA256 in base64url.
const SIGNATURE: usize = 43;

/// Which of the four a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A place in the line.
    Ticket,
    /// The right to be inside.
    Pass,
    /// A time of arrival, for want of a place.
    Provisional,
    /// Proof of a class.
    Invite,
}

impl Kind {
    /// The header's `typ`.
    #[must_use]
    pub const fn typ(self) -> &'static str {
        match self {
            Self::Ticket => "anteroom-ticket",
            Self::Pass => "anteroom-pass",
            Self::Provisional => "anteroom-provisional",
            Self::Invite => "anteroom-invite",
        }
    }

    fn of(typ: &str) -> Option<Self> {
        [Self::Ticket, Self::Pass, Self::Provisional, Self::Invite]
            .into_iter()
            .find(|kind| kind.typ() == typ)
    }

    /// The envelope for tokens of this kind, under any of the keys. The first signs.
    pub(super) fn envelope(self, keys: impl Iterator<Item = (String, HmacSha256)>) -> Envelope {
        let seals = keys.map(|(id, mac)| Seal::new(self, id, mac)).collect();
        Envelope { kind: self, seals }
    }
}

/// Room for the decoded claims of one token, so that verifying needs no heap. Any number of tokens may
/// use one after another; a verified ticket or pass borrows it.
///
/// Aligned, because vectors are stored into it and words read from it: across the borders of cache
/// lines verifying took 8 % longer.
#[derive(Clone)]
#[repr(align(64))]
pub struct Scratch([u8; MAX_TOKEN / 4 * 3]);

impl Scratch {
    /// An empty one.
    #[must_use]
    pub const fn new() -> Self {
        Self([0; MAX_TOKEN / 4 * 3])
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

/// Doesn't show what is in it: claims are somebody's.
impl std::fmt::Debug for Scratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Scratch(…)")
    }
}

/// The keys for one kind of token in one room.
#[derive(Debug, Clone)]
pub(super) struct Envelope {
    kind: Kind,
    seals: Vec<Seal>,
}

/// One key, with everything about its header done beforehand.
#[derive(Debug, Clone)]
struct Seal {
    key_id: String,
    /// The header segment as we write it, with its dot.
    header: String,
    /// HMAC state after `header`: its 65 bytes or more fill a hash block that is paid for once, here.
    mac: HmacSha256,
    /// HMAC state before any byte, for headers that others wrote.
    bare: HmacSha256,
}

impl Seal {
    fn new(kind: Kind, key_id: String, bare: HmacSha256) -> Self {
        // Neither a type nor a key id has a character that JSON would escape.
        let json = format!(r#"{{"alg":"HS256","typ":"{}","kid":"{key_id}"}}"#, kind.typ());
        let header = B64.encode(json) + ".";
        let mac = bare.clone().chain_update(&header);
        Self { key_id, header, mac, bare }
    }
}

impl Envelope {
    /// Signs claims with the first key.
    pub(super) fn seal(&self, claims: &[u8]) -> Result<String, SignError> {
        let seal = &self.seals[0];
        let encoded = base64::encoded_len(claims.len(), false).ok_or(SignError::LongToken)?;
        let length = seal.header.len() + encoded + 1 + SIGNATURE;
        if length > MAX_TOKEN {
            return Err(SignError::LongToken);
        }
        let mut token = String::with_capacity(length);
        token.push_str(&seal.header);
        B64.encode_string(claims, &mut token);
        let mac = seal.mac.clone().chain_update(&token.as_bytes()[seal.header.len()..]);
        token.push('.');
        B64.encode_string(mac.finalize().into_bytes(), &mut token);
        Ok(token)
    }

    /// The claims' bytes.
    pub(super) fn open<'s>(
        &self,
        token: &[u8],
        scratch: &'s mut Scratch,
    ) -> Result<&'s [u8], TokenError> {
        if token.len() > MAX_TOKEN {
            return Err(TokenError::TooLong);
        }
        let ours = |seal: &&Seal| token.starts_with(seal.header.as_bytes());
        if let Some(seal) = self.seals.iter().find(ours) {
            let parts = Parts::of(&token[seal.header.len()..], scratch)?;
            parts.check(seal.mac.clone())?;
            return Ok(parts.decoded);
        }
        self.open_foreign(token, scratch)
    }

    /// Whether a token begins as those that we sign with these keys do.
    pub(super) fn begins(&self, token: &[u8]) -> bool {
        self.seals.iter().any(|seal| token.starts_with(seal.header.as_bytes()))
    }

    /// The same for a header that isn't byte for byte one of ours.
    #[cold]
    fn open_foreign<'s>(
        &self,
        token: &[u8],
        scratch: &'s mut Scratch,
    ) -> Result<&'s [u8], TokenError> {
        let (encoded, rest) = split_header(token)?;
        let json = B64.decode(encoded).map_err(|_| TokenError::Malformed)?;
        let header = Header::parse(&json)?;
        if header.kind()? != self.kind {
            return Err(TokenError::Type);
        }
        let key_id = header.key_id()?;
        let known = |seal: &&Seal| seal.key_id == key_id;
        let seal = self.seals.iter().find(known).ok_or(TokenError::UnknownKey)?;
        let parts = Parts::of(rest, scratch)?;
        parts.check(seal.bare.clone().chain_update(encoded).chain_update(b"."))?;
        Ok(parts.decoded)
    }
}

/// What follows the header's dot, decoded but not yet trusted.
struct Parts<'t, 's> {
    /// The claims' segment as it was signed.
    encoded: &'t [u8],
    decoded: &'s [u8],
    signature: [u8; 32],
}

impl<'t, 's> Parts<'t, 's> {
    /// A signature is always 43 characters, so the dot before it needs no search; a dot anywhere else
    /// is no character of base64url.
    fn of(rest: &'t [u8], scratch: &'s mut Scratch) -> Result<Self, TokenError> {
        let (rest, signature) =
            rest.split_last_chunk::<SIGNATURE>().ok_or(TokenError::Malformed)?;
        let Some((b'.', encoded @ [_, ..])) = rest.split_last() else {
            return Err(TokenError::Malformed);
        };
        let mut parts = Self { encoded, decoded: &[], signature: [0; 32] };
        match B64.decode_slice(signature, &mut parts.signature) {
            Ok(32) => {}
            _ => return Err(TokenError::Malformed),
        }
        let length =
            B64.decode_slice(encoded, &mut scratch.0).map_err(|_| TokenError::Malformed)?;
        parts.decoded = scratch.0.get(..length).ok_or(TokenError::Malformed)?;
        Ok(parts)
    }

    /// Compares signatures in constant time. `mac` has seen the header and its dot.
    fn check(&self, mut mac: HmacSha256) -> Result<(), TokenError> {
        mac.update(self.encoded);
        mac.verify_slice(&self.signature).map_err(|_| TokenError::Signature)
    }
}

/// The header segment, and what follows its dot.
fn split_header(token: &[u8]) -> Result<(&[u8], &[u8]), TokenError> {
    let dot = token.iter().position(|&b| b == b'.').ok_or(TokenError::Malformed)?;
    match dot {
        0 => Err(TokenError::Malformed),
        _ => Ok((&token[..dot], &token[dot + 1..])),
    }
}

/// A header others wrote. Fields we don't know change nothing, except `crit`, which says that they do.
/// A key, or where to fetch one (`jwk`, `jku`, `x5c`), is never taken from a token.
#[derive(Deserialize)]
struct Header<'a> {
    #[serde(borrow, default)]
    alg: Option<Text<'a>>,
    #[serde(borrow, default)]
    typ: Option<Text<'a>>,
    #[serde(borrow, default)]
    kid: Option<Text<'a>>,
    #[serde(default)]
    crit: Present,
}

impl<'a> Header<'a> {
    fn parse(json: &'a [u8]) -> Result<Self, TokenError> {
        let header: Self = object(json).ok_or(TokenError::Malformed)?;
        match (&header.alg, header.crit.0) {
            (_, true) => Err(TokenError::Malformed),
            (Some(Text(alg)), false) if alg == "HS256" => Ok(header),
            _ => Err(TokenError::Algorithm),
        }
    }

    fn kind(&self) -> Result<Kind, TokenError> {
        self.typ.as_ref().and_then(|Text(typ)| Kind::of(typ)).ok_or(TokenError::Type)
    }

    fn key_id(&self) -> Result<&str, TokenError> {
        self.kid.as_ref().map(|Text(kid)| &**kid).ok_or(TokenError::UnknownKey)
    }
}

/// What a token says of itself, with nothing proven: for showing to people and for picking a key to
/// try, never for a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unproven {
    /// The header's `typ`.
    pub kind: Kind,
    /// The header's `kid`.
    pub key_id: String,
    /// The claims' `event_id`.
    pub room: String,
}

impl Unproven {
    /// Reads a token without a key.
    ///
    /// # Errors
    /// As far as they show without a key, the errors of verifying it.
    pub fn read(token: &[u8]) -> Result<Self, TokenError> {
        #[derive(Deserialize)]
        struct Claims<'a> {
            #[serde(borrow)]
            event_id: Text<'a>,
        }
        if token.len() > MAX_TOKEN {
            return Err(TokenError::TooLong);
        }
        let (encoded, rest) = split_header(token)?;
        let json = B64.decode(encoded).map_err(|_| TokenError::Malformed)?;
        let header = Header::parse(&json)?;
        let (kind, key_id) = (header.kind()?, header.key_id()?.to_owned());
        let mut scratch = Scratch::new();
        let parts = Parts::of(rest, &mut scratch)?;
        let claims: Claims<'_> =
            object(parts.decoded).ok_or(TokenError::Claims("name no room in event_id"))?;
        Ok(Self { kind, key_id, room: claims.event_id.0.into_owned() })
    }
}

/// A JSON object with the fields of `T`. Known fields given twice are refused, and so is an array,
/// which `serde` would take for the fields in order.
pub(super) fn object<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Option<T> {
    match json.trim_ascii_start() {
        json @ [b'{', ..] => serde_json::from_slice(json).ok(),
        _ => None,
    }
}

/// A string that borrows where it has no escapes. A type of its own because `serde` borrows no
/// `Cow` inside an `Option`.
#[derive(Deserialize)]
pub(super) struct Text<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// Whether a field is there, whatever its value, `null` too.
#[derive(Default)]
struct Present(bool);

impl<'de> Deserialize<'de> for Present {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self(true))
    }
}
