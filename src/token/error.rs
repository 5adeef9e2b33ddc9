//! What can be wrong with a key, with something to sign, and with a token from outside.
//!
//! The messages are for operators and for answers to visitors: they say what is wrong and how to
//! mend it, and never contain bytes of a token or of a secret.

use crate::name::ROOM_RULE;

use super::{MAX_ID, MAX_NAME, MAX_NUMBER, MAX_TOKEN, MIN_SECRET, key};

/// Why keys can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The secret can be guessed.
    #[error(
        "the secret has {0} bytes, it needs at least {MIN_SECRET}; `anteroom keygen` makes one"
    )]
    Short(usize),
    /// The secret has characters that don't survive being copied.
    #[error(
        "the secret contains control characters, it must be one line of text; `anteroom keygen` makes one"
    )]
    NotText,
    /// The key id doesn't fit a header as it is. Not quoted: it could be a secret in the wrong field.
    #[error("a key id has 1 to {} letters, digits, '-' or '_'", key::MAX_KEY_ID)]
    Id,
    /// Two keys share an id: which one verifies a token would depend on their order.
    #[error("the key id {0:?} is used twice, each key of `signing` and `pass` needs its own")]
    Duplicate(String),
    /// A pass secret is known to origins: one that equals the signing secret would let them make tickets.
    #[error(
        "the pass key {0:?} has the same secret as a signing key: origins know it and could make tickets; use two secrets"
    )]
    Shared(String),
    /// There is nothing to sign with.
    #[error("there is no key, at least one is needed")]
    NoKey,
    /// The room's name can't be an `event_id`.
    #[error("{0:?} can't be a room's name: {ROOM_RULE}")]
    Room(String),
}

/// Why a ticket or pass was not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignError {
    /// A device or user id is longer than [`MAX_ID`] bytes.
    #[error("{0} is longer than {MAX_ID} bytes")]
    LongId(&'static str),
    /// A class, slot, visitor id or nonce is longer than [`MAX_NAME`] bytes.
    #[error("{0} is longer than {MAX_NAME} bytes")]
    LongName(&'static str),
    /// A number that JavaScript would round.
    #[error("{0} is larger than {MAX_NUMBER}")]
    LargeNumber(&'static str),
    /// Only ids made of control characters get here: each of them takes six bytes in JSON.
    #[error("the token would be longer than {MAX_TOKEN} bytes")]
    LongToken,
}

/// Why a token is not good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// Longer than [`MAX_TOKEN`] bytes: nothing of it was read.
    #[error("the token is longer than {MAX_TOKEN} bytes")]
    TooLong,
    /// Not three segments of canonical base64url, or a header that isn't a JSON object we can honour.
    #[error("the token is malformed")]
    Malformed,
    /// Signed otherwise than with HS256, or said not to be signed at all.
    #[error("the token's algorithm is not HS256")]
    Algorithm,
    /// A ticket where a pass is wanted, the reverse, or something else altogether.
    #[error("the token is of another type than the one wanted")]
    Type,
    /// Signed with a key that isn't in the ring, or no longer.
    #[error("the token names no key of ours")]
    UnknownKey,
    /// The bytes are not those that were signed, or another secret signed them.
    #[error("the token's signature is wrong")]
    Signature,
    /// Signed, but not what a ticket or pass says.
    #[error("the token's claims {0}")]
    Claims(&'static str),
    /// For another room.
    #[error("the token is for another room")]
    OtherRoom,
    /// A pass that was good until `at`, in unix seconds.
    #[error("the pass expired at {at}, in unix seconds")]
    Expired {
        /// The first second at which it was no longer good.
        at: u64,
    },
}
