//! A room's keys, ready for use: what signs and verifies its tickets, provisional ones too, and passes.
//!
//! Prepared once a room and shared by all threads; nothing in here changes afterwards.

use base64::Engine as _;
use hmac::Mac as _;

use super::base64url::B64;
use super::claims::{Pass, Ticket, opening};
use super::error::{KeyError, SignError, TokenError};
use super::invite::Invite;
use super::jwt::{Envelope, Kind, Scratch, Unproven};
use super::key::{HmacSha256, Key, check_ids, check_room};
use super::provisional::Provisional;
use super::reference::{REFERENCE, References};

/// The bytes kept of an HMAC that only has to be unlike all others: 128 bits, 22 characters.
const SHORT: usize = 16;

/// Everything that signs and verifies in one room, from [`KeyRing::room`](super::KeyRing::room).
#[derive(Debug, Clone)]
pub struct RoomKeys {
    passes: PassKeys,
    tickets: Envelope,
    provisionals: Envelope,
    invites: Envelope,
    nonce: HmacSha256,
    visitor: HmacSha256,
    subject: HmacSha256,
    references: References,
    /// Of every signing key, the first first: what is bound stays so when keys change.
    binds: Vec<HmacSha256>,
}

/// A token of any kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token<'a> {
    /// A place.
    Ticket(Ticket<'a>),
    /// The right to be inside.
    Pass(Pass<'a>),
    /// A time of arrival.
    Provisional(Provisional<'a>),
    /// Proof of a class.
    Invite(Invite<'a>),
}

impl RoomKeys {
    pub(super) fn prepare(
        passes: PassKeys,
        tickets: Envelope,
        provisionals: Envelope,
        invites: Envelope,
        derived: [HmacSha256; 4],
        binds: Vec<HmacSha256>,
    ) -> Self {
        let [nonce, visitor, subject, reference] = derived;
        let references = References::new(reference);
        Self { passes, tickets, provisionals, invites, nonce, visitor, subject, references, binds }
    }

    /// The room's name, the `event_id` of its tokens.
    #[must_use]
    pub fn room(&self) -> &str {
        &self.passes.room
    }

    /// A ticket's token.
    ///
    /// # Errors
    /// When a field is over its limit.
    pub fn sign_ticket(&self, ticket: &Ticket<'_>) -> Result<String, SignError> {
        self.tickets.seal(&ticket.write(self.room())?)
    }

    /// A pass's token.
    ///
    /// # Errors
    /// When a field is over its limit.
    pub fn sign_pass(&self, pass: &Pass<'_>) -> Result<String, SignError> {
        self.passes.envelope.seal(&pass.write(self.room())?)
    }

    /// A provisional ticket's token.
    ///
    /// # Errors
    /// When a field is over its limit.
    pub fn sign_provisional(&self, provisional: &Provisional<'_>) -> Result<String, SignError> {
        self.provisionals.seal(&provisional.write(self.room())?)
    }

    /// An invite's token.
    ///
    /// # Errors
    /// When a field is over its limit.
    pub fn sign_invite(&self, invite: &Invite<'_>) -> Result<String, SignError> {
        self.invites.seal(&invite.write(self.room())?)
    }

    /// What an invite says, if a key of this room signed it and it is good at `now_ms`. Whether it was used or revoked, the
    /// line knows.
    ///
    /// # Errors
    /// What is wrong with it, the first thing found.
    pub fn verify_invite<'s>(
        &self,
        token: &[u8],
        now_ms: u64,
        scratch: &'s mut Scratch,
    ) -> Result<Invite<'s>, TokenError> {
        let invite = Invite::read(self.invites.open(token, scratch)?, self.room())?;
        match invite.expires_at <= now_ms / 1_000 {
            true => Err(TokenError::Expired { at: invite.expires_at }),
            false => Ok(invite),
        }
    }

    /// What a ticket says, if a key of this room signed it. Its epoch and age are the caller's to judge.
    ///
    /// # Errors
    /// What is wrong with it, the first thing found.
    pub fn verify_ticket<'s>(
        &self,
        token: &[u8],
        scratch: &'s mut Scratch,
    ) -> Result<Ticket<'s>, TokenError> {
        let claims = self.tickets.open(token, scratch)?;
        Ticket::read(claims, self.room(), &self.passes.opening)
    }

    /// What a provisional ticket says, if a key of this room signed it. Its age is the caller's to judge.
    ///
    /// # Errors
    /// What is wrong with it, the first thing found.
    pub fn verify_provisional<'s>(
        &self,
        token: &[u8],
        scratch: &'s mut Scratch,
    ) -> Result<Provisional<'s>, TokenError> {
        let claims = self.provisionals.open(token, scratch)?;
        Provisional::read(claims, self.room())
    }

    /// What a pass says, see [`PassKeys::verify_pass`].
    ///
    /// # Errors
    /// What is wrong with it, the first thing found.
    pub fn verify_pass<'s>(
        &self,
        token: &[u8],
        now_ms: u64,
        scratch: &'s mut Scratch,
    ) -> Result<Pass<'s>, TokenError> {
        self.passes.verify_pass(token, now_ms, scratch)
    }

    /// What a token says, whichever it is; of a pass also after it has run out.
    ///
    /// # Errors
    /// What is wrong with it, the first thing found.
    pub fn read<'s>(
        &self,
        token: &[u8],
        scratch: &'s mut Scratch,
    ) -> Result<Token<'s>, TokenError> {
        let kind = match () {
            () if self.tickets.begins(token) => Kind::Ticket,
            () if self.passes.envelope.begins(token) => Kind::Pass,
            () => Unproven::read(token)?.kind,
        };
        match kind {
            Kind::Ticket => self.verify_ticket(token, scratch).map(Token::Ticket),
            Kind::Pass => self.verify_pass(token, 0, scratch).map(Token::Pass),
            Kind::Provisional => self.verify_provisional(token, scratch).map(Token::Provisional),
            Kind::Invite => self.verify_invite(token, 0, scratch).map(Token::Invite),
        }
    }

    /// A name of some kind (a device, an address) under the room's key: the same every time, and nothing that
    /// would let a reader of the store learn the name.
    #[must_use]
    pub fn fingerprint(&self, kind: &str, name: &str) -> [u8; SHORT] {
        let mac = self.subject.clone().chain_update(kind).chain_update([0]).chain_update(name);
        let mut short = [0; SHORT];
        short.copy_from_slice(&mac.finalize().into_bytes()[..SHORT]);
        short
    }

    /// The nonce of a number's pass. The same every time, so that a claim whose answer was lost is
    /// answered with the same token.
    #[must_use]
    pub fn nonce(&self, epoch: u64, num: u64) -> String {
        short(&self.nonce, epoch, num)
    }

    /// The id by which origins and logs know a visitor: the same every time, and nothing that would let
    /// one guess another's or count visitors.
    #[must_use]
    pub fn visitor(&self, epoch: u64, num: u64) -> String {
        short(&self.visitor, epoch, num)
    }

    /// What binds a pass to these: a hash of them under the room's key, 22 characters.
    #[must_use]
    pub fn bind(&self, to: &[Option<&[u8]>]) -> String {
        let mac = self.binds.first().map(|mac| bound(mac, to));
        mac.map_or_else(String::new, |mac| B64.encode(&mac.finalize().into_bytes()[..SHORT]))
    }

    /// Whether that is what binds a pass to these, by any of the room's keys. Compared in constant time.
    #[must_use]
    pub fn is_bound(&self, bind: &str, to: &[Option<&[u8]>]) -> bool {
        let Ok(hash) = B64.decode(bind) else { return false };
        let fits = |mac| bound(mac, to).verify_truncated_left(&hash).is_ok();
        hash.len() == SHORT && self.binds.iter().any(fits)
    }

    /// What a number is called where it proves nothing: `queue_ref`, "q_" and twelve characters.
    #[must_use]
    pub fn reference(&self, epoch: u64, num: u64) -> String {
        self.reference_text(epoch, num).map(char::from).iter().collect()
    }

    /// The same without an allocation. ASCII.
    #[must_use]
    pub fn reference_text(&self, epoch: u64, num: u64) -> [u8; REFERENCE] {
        self.references.of(epoch, num)
    }

    /// The number that is called so in an epoch.
    #[must_use]
    pub fn number_of(&self, epoch: u64, reference: &str) -> Option<u64> {
        self.references.number(epoch, reference)
    }
}

/// What verifies a room's passes and can do nothing else: an origin's half of the keys.
#[derive(Debug, Clone)]
pub struct PassKeys {
    room: String,
    /// See [`opening`].
    opening: String,
    envelope: Envelope,
}

impl PassKeys {
    /// From pass secrets as they are: what `keygen --pass-key` printed, or the shared ones.
    ///
    /// # Errors
    /// No key, an id used twice, or a name that can't be an `event_id`.
    pub fn new(room: &str, keys: &[Key]) -> Result<Self, KeyError> {
        check_room(room)?;
        check_ids(keys.iter())?;
        if keys.is_empty() {
            return Err(KeyError::NoKey);
        }
        Ok(Self::prepare(room, keys.iter().map(|key| (key.id().to_owned(), key.mac()))))
    }

    pub(super) fn prepare(room: &str, keys: impl Iterator<Item = (String, HmacSha256)>) -> Self {
        Self { room: room.to_owned(), opening: opening(room), envelope: Kind::Pass.envelope(keys) }
    }

    /// What a pass says, if a key of this room signed it and it has not expired at `now_ms`, in unix
    /// milliseconds. Its epoch, and whether it was ended early, are the caller's to judge.
    ///
    /// # Errors
    /// What is wrong with it, the first thing found.
    pub fn verify_pass<'s>(
        &self,
        token: &[u8],
        now_ms: u64,
        scratch: &'s mut Scratch,
    ) -> Result<Pass<'s>, TokenError> {
        let claims = self.envelope.open(token, scratch)?;
        let pass = Pass::read(claims, &self.room, &self.opening)?;
        if pass.expires_at <= now_ms / 1000 {
            return Err(TokenError::Expired { at: pass.expires_at });
        }
        Ok(pass)
    }
}

/// Under a key: whether each is there, how long it is, and what it is. So no two lists look the same.
fn bound(mac: &HmacSha256, to: &[Option<&[u8]>]) -> HmacSha256 {
    to.iter().fold(mac.clone(), |mac, one| match one {
        None => mac.chain_update([0]),
        Some(bytes) => mac
            .chain_update([1])
            .chain_update((bytes.len() as u64).to_be_bytes())
            .chain_update(bytes),
    })
}

/// Two numbers under a key, 22 characters. Both have a fixed width, so no two pairs look the same.
fn short(mac: &HmacSha256, epoch: u64, num: u64) -> String {
    let mac = mac.clone().chain_update(epoch.to_be_bytes()).chain_update(num.to_be_bytes());
    B64.encode(&mac.finalize().into_bytes()[..SHORT])
}
