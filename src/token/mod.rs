//! Tickets and passes: the state a visitor carries, signed.
//!
//! A [`Ticket`] proves a place in a room's line, a [`Pass`] the right to be inside until it expires, and a
//! [`Provisional`] ticket when somebody came while there was no line to be asked.
//! All are JSON Web Tokens (JWT, RFC 7519) signed with HMAC-SHA256 (`HS256`), so any JWT library
//! verifies a pass with the room's pass key and without asking us:
//!
//! ```text
//! base64url(header) . base64url(claims) . base64url(HMAC-SHA256(key, everything before this dot))
//!
//! header   {"alg":"HS256","typ":"anteroom-pass","kid":"k1"}
//! claims   {"event_id":"sale","device_id":"d1","class":"general","num":7,"epoch":1,"issued_at":…,
//!           "admitted_at":…,"expires_at":…,"nonce":"…","exp":…}
//! key      base64url(HMAC-SHA256(signing secret, "pass" ‖ 0x00 ‖ "sale")), its 43 characters as they are
//! ```
//!
//! This module owns the format, the keys and every check that needs nothing but the token and the
//! time. It has no clock, no randomness and no IO: time and secrets come in as arguments, and the
//! same input gives the same bytes. It never judges what only a room knows (its epoch, whether a
//! number was issued or ended, how old a ticket may be), never reads claims before the signature
//! over them was found right, and never puts bytes of a token or of a secret into an error.
//!
//! Verifying a pass is the hot path of the product: every request of an admitted visitor. So a
//! room's keys are prepared once ([`RoomKeys`]), and a token in exactly the form we sign costs little
//! more than its HMAC: the header is recognised by comparing bytes and its hash is already done, the
//! claims are decoded into a [`Scratch`] of the caller's and read in order. Any other valid
//! form, from another JWT library, takes the slower road through `serde_json` to the same answer.
//!
//! ```
//! use anteroom::token::{Key, KeyRing, Pass, Scratch, Secret};
//!
//! let secret = Secret::new("an example; `anteroom keygen` makes real ones")?;
//! let sale = KeyRing::new(vec![Key::new("k1", secret)?], vec![])?.room("sale")?;
//! let pass = Pass {
//!     device_id: None,
//!     user_id: None,
//!     user_proven: false,
//!     class: "general".into(),
//!     slot: None,
//!     num: 7,
//!     epoch: 1,
//!     issued_at: 1_800_000_000,
//!     admitted_at: 1_800_000_000,
//!     expires_at: 1_800_000_300,
//!     nonce: sale.nonce(1, 7).into(),
//!     bind: None,
//! };
//! let token = sale.sign_pass(&pass)?;
//! let now_ms = 1_800_000_010_000;
//! assert_eq!(sale.verify_pass(token.as_bytes(), now_ms, &mut Scratch::new())?, pass);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod base64url;
mod canonical;
mod claims;
mod error;
mod invite;
mod jwt;
mod key;
mod provisional;
mod reference;
mod room;
mod seal;

pub use claims::{MAX_ID, MAX_NAME, MAX_NUMBER, Pass, Ticket};
pub use error::{KeyError, SignError, TokenError};
pub use invite::Invite;
pub use jwt::{Kind, MAX_TOKEN, Scratch, Unproven};
pub use key::{Key, KeyRing, MIN_SECRET, Secret};
pub use provisional::Provisional;
pub use reference::REFERENCE;
pub use room::{PassKeys, RoomKeys, Token};
pub use seal::Seal;
