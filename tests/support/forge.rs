//! Tickets and passes made by a test, with the gateway's own keys or with others.

use anteroom::token::{Key, KeyRing, Pass, RoomKeys, Secret, Ticket};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

use super::config::SECRET;

/// A room's keys, as the gateways of the tests have them.
pub fn keys(room: &str) -> RoomKeys {
    keys_of(SECRET, room)
}

/// A room's keys under another secret.
pub fn keys_of(secret: &str, room: &str) -> RoomKeys {
    let key = Key::new("k1", Secret::new(secret).expect("a secret")).expect("a key");
    KeyRing::new(vec![key], Vec::new()).expect("a ring").room(room).expect("a room")
}

/// Header and claims of a token, whoever signed it.
#[track_caller]
pub fn read(token: &str) -> (Value, Value) {
    let mut parts = token.split('.').map(|part| {
        let bytes = URL_SAFE_NO_PAD.decode(part).expect("base64url");
        serde_json::from_slice::<Value>(&bytes).unwrap_or_default()
    });
    (parts.next().expect("a header"), parts.next().expect("claims"))
}

/// `anteroom-ticket` or `anteroom-pass`.
#[track_caller]
pub fn kind(token: &str) -> String {
    read(token).0["typ"].as_str().unwrap_or_default().to_owned()
}

/// The number in a token.
#[track_caller]
pub fn number(token: &str) -> u64 {
    read(token).1["num"].as_u64().expect("a number")
}

/// When a pass ends, in unix seconds.
#[track_caller]
pub fn expires(token: &str) -> u64 {
    read(token).1["expires_at"].as_u64().expect("a time")
}

/// A pass like `token`, changed and signed.
#[track_caller]
pub fn pass_like(token: &str, keys: &RoomKeys, change: impl FnOnce(&mut Pass<'_>)) -> String {
    let (_, claims) = read(token);
    let field = |name: &str| claims[name].as_u64().unwrap_or_default();
    let (num, epoch) = (field("num"), field("epoch"));
    let mut pass = Pass {
        device_id: None,
        user_id: None,
        user_proven: false,
        class: "general".into(),
        slot: None,
        num,
        epoch,
        issued_at: field("issued_at"),
        admitted_at: field("admitted_at"),
        expires_at: field("expires_at"),
        nonce: keys.nonce(epoch, num).into(),
        bind: None,
    };
    change(&mut pass);
    keys.sign_pass(&pass).expect("a pass")
}

/// A ticket like `token`, changed and signed.
#[track_caller]
pub fn ticket_like(token: &str, keys: &RoomKeys, change: impl FnOnce(&mut Ticket<'_>)) -> String {
    let (_, claims) = read(token);
    let field = |name: &str| claims[name].as_u64().unwrap_or_default();
    let (num, epoch) = (field("num"), field("epoch"));
    let mut ticket = Ticket {
        num,
        epoch,
        class: "general".into(),
        joined_at: field("joined_at"),
        visitor: keys.visitor(epoch, num).into(),
        device_id: None,
        user_id: None,
        user_proven: false,
    };
    change(&mut ticket);
    keys.sign_ticket(&ticket).expect("a ticket")
}
