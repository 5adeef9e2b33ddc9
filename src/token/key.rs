//! Secrets, the key ring, and the keys derived from it.
//!
//! A ring holds what the operator configured. No token is signed with a signing secret itself: each
//! room has a key of its own for each [`Purpose`], so a ticket can't be taken for a pass, and an
//! origin that holds its room's pass key can't sign for another room or make a ticket. A pass secret
//! (`[keys] pass`) is the exception for those who want one secret for every origin: it signs as it is.
//!
//! Rotation: put the new key first and keep the old one until its tickets have aged out. The first
//! signs, all verify. The same holds for moving from derived pass keys to a pass secret: passes made
//! with derived keys stay good until they expire.
//!
//! A secret is text, and its bytes are the key: no encoding is guessed. What `keygen` prints, what
//! `secret_file` holds and what an origin hands to its JWT library is the same string everywhere. For
//! the same reason a derived key is the base64url text of its HMAC and not the 32 bytes behind it;
//! both hold the same 256 bits.

use std::fmt;

use base64::Engine as _;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use super::Kind;
use super::base64url::B64;
use super::error::KeyError;
use super::room::{PassKeys, RoomKeys};
use super::seal::Seal;
use crate::name;

pub(super) type HmacSha256 = Hmac<Sha256>;

/// The least bytes of a secret: RFC 7518 wants a key no shorter than the hash, 32 bytes for HS256,
/// and libraries of origins refuse or warn below it.
pub const MIN_SECRET: usize = 32;

/// The longest key id. It rides in every token's header, where 32 bytes cost 43.
pub(super) const MAX_KEY_ID: usize = 32;

/// What a derived key is for. A new one is a line here and a line in `label`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Ticket,
    Pass,
    Provisional,
    Invite,
    Nonce,
    Visitor,
    Subject,
    Reference,
    Bind,
    Session,
}

impl Purpose {
    const fn label(self) -> &'static str {
        match self {
            Self::Ticket => "ticket",
            Self::Pass => "pass",
            Self::Provisional => "provisional",
            Self::Invite => "invite",
            Self::Nonce => "nonce",
            Self::Visitor => "visitor",
            Self::Subject => "subject",
            Self::Reference => "reference",
            Self::Bind => "bind",
            Self::Session => "session",
        }
    }
}

/// Bytes that sign. Never printed: its `Debug` shows nothing of them, not even how many.
#[derive(Clone)]
pub struct Secret(Box<[u8]>);

impl Secret {
    /// A secret from the text of a file or a variable. White space around it, such as the line end
    /// that editors add, is not part of it; every other byte is.
    ///
    /// # Errors
    /// [`KeyError::Short`] below [`MIN_SECRET`] bytes, [`KeyError::NotText`] for control characters.
    pub fn new(text: &str) -> Result<Self, KeyError> {
        let text = text.trim();
        if text.len() < MIN_SECRET {
            return Err(KeyError::Short(text.len()));
        }
        if text.chars().any(char::is_control) {
            return Err(KeyError::NotText);
        }
        Ok(Self(text.as_bytes().into()))
    }

    /// A secret from fresh randomness, and its text: [`MIN_SECRET`] bytes as 43 characters.
    #[must_use]
    pub fn from_entropy(entropy: [u8; MIN_SECRET]) -> (Self, String) {
        let text = B64.encode(entropy);
        (Self(text.as_bytes().into()), text)
    }

    /// The text of the key for a purpose in a room. Purposes have no 0x00 in them, so two pairs never
    /// run into the same input.
    fn derive(&self, purpose: Purpose, room: &str) -> String {
        let mut mac = self.mac();
        mac.update(purpose.label().as_bytes());
        mac.update(&[0]);
        mac.update(room.as_bytes());
        B64.encode(mac.finalize().into_bytes())
    }

    /// HMAC state with this secret as the key.
    pub(super) fn mac(&self) -> HmacSha256 {
        HmacSha256::new_from_slice(&self.0).expect("HMAC takes keys of any length")
    }

    /// The state for a derived key.
    fn derived_mac(&self, purpose: Purpose, room: &str) -> HmacSha256 {
        Self(self.derive(purpose, room).into_bytes().into()).mac()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// A secret and the id under which tokens name it (`kid`).
#[derive(Debug, Clone)]
pub struct Key {
    id: String,
    secret: Secret,
}

impl Key {
    /// A key. The id is written into headers as it is, so only characters that need no escaping.
    ///
    /// # Errors
    /// [`KeyError::Id`] unless the id is 1 to 32 letters, digits, `-` or `_`.
    pub fn new(id: &str, secret: Secret) -> Result<Self, KeyError> {
        let fits = (1..=MAX_KEY_ID).contains(&id.len());
        if !fits || !id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_')) {
            return Err(KeyError::Id);
        }
        Ok(Self { id: id.to_owned(), secret })
    }

    /// The id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The secret as it is, as a pass secret signs.
    pub(super) fn mac(&self) -> HmacSha256 {
        self.secret.mac()
    }
}

/// All keys of an installation.
#[derive(Debug, Clone)]
pub struct KeyRing {
    /// Never empty.
    signing: Vec<Key>,
    pass: Vec<Key>,
}

impl KeyRing {
    /// A ring of signing keys, and of pass keys if origins share a secret. The first of each signs.
    ///
    /// # Errors
    /// No signing key; an id used twice, in either list; a pass key with a signing key's secret.
    pub fn new(signing: Vec<Key>, pass: Vec<Key>) -> Result<Self, KeyError> {
        if signing.is_empty() {
            return Err(KeyError::NoKey);
        }
        check_ids(signing.iter().chain(&pass))?;
        // Both sides come from the operator, so comparing them tells an attacker nothing.
        let known = |key: &&Key| signing.iter().any(|s| s.secret.0 == key.secret.0);
        if let Some(key) = pass.iter().find(known) {
            return Err(KeyError::Shared(key.id.clone()));
        }
        Ok(Self { signing, pass })
    }

    /// The keys of one room, prepared. Worth keeping: it costs some 20 hash blocks a key.
    ///
    /// # Errors
    /// [`KeyError::Room`] if the name can't be an `event_id`.
    pub fn room(&self, room: &str) -> Result<RoomKeys, KeyError> {
        check_room(room)?;
        let derived = |purpose| {
            let mac = move |key: &Key| (key.id.clone(), key.secret.derived_mac(purpose, room));
            self.signing.iter().map(mac)
        };
        let passes = self.pass.iter().map(|key| (key.id.clone(), key.mac()));
        let first = &self.signing[0].secret;
        Ok(RoomKeys::prepare(
            PassKeys::prepare(room, passes.chain(derived(Purpose::Pass))),
            Kind::Ticket.envelope(derived(Purpose::Ticket)),
            Kind::Provisional.envelope(derived(Purpose::Provisional)),
            Kind::Invite.envelope(derived(Purpose::Invite)),
            [Purpose::Nonce, Purpose::Visitor, Purpose::Subject, Purpose::Reference]
                .map(|purpose| first.derived_mac(purpose, room)),
            derived(Purpose::Bind).map(|(_, mac)| mac).collect(),
        ))
    }

    /// What the draw at a room's opening is made from, with the key of this id, or with the first; and that key's id. `None`: there is no
    /// such key.
    #[must_use]
    pub fn seed(&self, room: &str, opens_ms: u64, kid: Option<&str>) -> Option<(String, [u8; 32])> {
        let key = match kid {
            Some(kid) => self.signing.iter().find(|key| key.id == kid)?,
            None => &self.signing[0],
        };
        let mut mac = key.secret.mac();
        mac.update(b"draw\0");
        mac.update(room.as_bytes());
        mac.update(&[0]);
        mac.update(opens_ms.to_string().as_bytes());
        Some((key.id.clone(), mac.finalize().into_bytes().into()))
    }

    /// What operators' sessions are sealed with. They are of no room: a name that none can have stands for it.
    #[must_use]
    pub fn sessions(&self) -> Seal {
        Seal::new(self.signing.iter().map(|key| key.secret.derived_mac(Purpose::Session, "")))
    }

    /// The secret with which an origin verifies the passes of a room, where they are signed with derived
    /// keys: 43 characters, to be used as they are. For people's eyes and for nobody's log.
    ///
    /// # Errors
    /// [`KeyError::Room`] if the name can't be an `event_id`.
    pub fn pass_key(&self, room: &str) -> Result<String, KeyError> {
        check_room(room)?;
        Ok(self.signing[0].secret.derive(Purpose::Pass, room))
    }
}

/// Refuses an id that occurs twice.
pub(super) fn check_ids<'k>(keys: impl Iterator<Item = &'k Key>) -> Result<(), KeyError> {
    let mut ids: Vec<&str> = keys.map(Key::id).collect();
    ids.sort_unstable();
    match ids.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(KeyError::Duplicate(pair[0].to_owned())),
        None => Ok(()),
    }
}

pub(super) fn check_room(room: &str) -> Result<(), KeyError> {
    match name::is_room(room) {
        true => Ok(()),
        false => Err(KeyError::Room(name::shortened(room))),
    }
}
