//! Tickets and passes: nothing that was changed, made elsewhere without the key, made for another room
//! or for another use is taken for good; everything that was signed rightly is.

mod foreign;
mod golden;
mod mutated;
mod origins;
mod rings;
mod shapes;

use anteroom::token::{
    Key, KeyRing, Pass, Provisional, RoomKeys, Scratch, Secret, Ticket, TokenError,
};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as B64;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;

/// In the year 2100: libraries elsewhere look at the real clock.
const EXPIRES: u64 = 4_102_444_800;
const NOW_MS: u64 = (EXPIRES - 300) * 1000;

const SECRET: &str = "a secret of the tests, known to all";
const PASS_SECRET: &str = "a pass secret of the tests, known too";

fn key(id: &str, secret: &str) -> Key {
    Key::new(id, Secret::new(secret).expect("a good secret")).expect("a good id")
}

fn ring() -> KeyRing {
    KeyRing::new(vec![key("k1", SECRET)], vec![]).expect("good keys")
}

fn shared_ring() -> KeyRing {
    KeyRing::new(vec![key("k1", SECRET)], vec![key("p1", PASS_SECRET)]).expect("good keys")
}

fn sale() -> RoomKeys {
    ring().room("sale").expect("a good room")
}

fn pass() -> Pass<'static> {
    Pass {
        device_id: Some("d1".into()),
        user_id: None,
        user_proven: false,
        class: "general".into(),
        slot: None,
        num: 7,
        epoch: 1,
        issued_at: EXPIRES - 300,
        admitted_at: EXPIRES - 600,
        expires_at: EXPIRES,
        nonce: sale().nonce(1, 7).into(),
        bind: None,
    }
}

fn ticket() -> Ticket<'static> {
    Ticket {
        num: 7,
        epoch: 1,
        class: "general".into(),
        joined_at: EXPIRES - 900,
        visitor: sale().visitor(1, 7).into(),
        device_id: Some("d1".into()),
        user_id: None,
        user_proven: false,
    }
}

fn provisional() -> Provisional<'static> {
    Provisional {
        arrived_ms: NOW_MS,
        clock_of: None,
        nonce: [7; 16],
        device_id: Some("d1".into()),
        user_id: None,
        class: None,
        invite: None,
    }
}

/// The claims of [`pass`] as JSON, to be spoilt.
fn pass_claims() -> Value {
    json!({
        "event_id": "sale", "device_id": "d1", "class": "general", "num": 7, "epoch": 1,
        "issued_at": EXPIRES - 300, "admitted_at": EXPIRES - 600, "expires_at": EXPIRES,
        "nonce": sale().nonce(1, 7), "exp": EXPIRES,
    })
}

/// The claims of [`ticket`] as JSON, to be spoilt.
fn ticket_claims() -> Value {
    json!({
        "event_id": "sale", "num": 7, "sub": "7", "epoch": 1, "class": "general",
        "joined_at": EXPIRES - 900, "visitor": sale().visitor(1, 7), "device_id": "d1",
    })
}

/// `value` with a field changed, or taken out if `to` is null.
fn with(mut value: Value, field: &str, to: Value) -> Value {
    let object = value.as_object_mut().expect("an object");
    match to {
        Value::Null => object.remove(field),
        to => object.insert(field.to_owned(), to),
    };
    value
}

const PASS_HEADER: &str = r#"{"alg":"HS256","typ":"anteroom-pass","kid":"k1"}"#;
const TICKET_HEADER: &str = r#"{"alg":"HS256","typ":"anteroom-ticket","kid":"k1"}"#;

fn pass_key() -> String {
    ring().pass_key("sale").expect("a good room")
}

/// Any header and claims, signed with any key: what a holder of the key could make.
fn forge(header: &str, claims: &[u8], key: &str) -> String {
    let input = format!("{}.{}", B64.encode(header), B64.encode(claims));
    format!("{input}.{}", B64.encode(hmac(key.as_bytes(), input.as_bytes())))
}

fn hmac(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mac = Hmac::<Sha256>::new_from_slice(key).expect("any length");
    mac.chain_update(message).finalize().into_bytes().into()
}

/// Claims under a header, signed with the room's pass key.
fn forge_pass(header: &str, claims: &Value) -> String {
    forge(header, claims.to_string().as_bytes(), &pass_key())
}

/// What the room says to a token as a pass; owned, because only outcomes are compared.
fn judge_pass(keys: &RoomKeys, token: &str, now_ms: u64) -> Result<Pass<'static>, TokenError> {
    let mut scratch = Scratch::new();
    let pass = keys.verify_pass(token.as_bytes(), now_ms, &mut scratch)?;
    Ok(Pass {
        device_id: pass.device_id.map(|id| id.into_owned().into()),
        user_id: pass.user_id.map(|id| id.into_owned().into()),
        class: pass.class.into_owned().into(),
        slot: pass.slot.map(|slot| slot.into_owned().into()),
        nonce: pass.nonce.into_owned().into(),
        bind: pass.bind.map(|bind| bind.into_owned().into()),
        ..pass
    })
}

/// What the room says to a token as a ticket.
fn judge_ticket(keys: &RoomKeys, token: &str) -> Result<Ticket<'static>, TokenError> {
    let mut scratch = Scratch::new();
    let ticket = keys.verify_ticket(token.as_bytes(), &mut scratch)?;
    Ok(Ticket {
        class: ticket.class.into_owned().into(),
        visitor: ticket.visitor.into_owned().into(),
        device_id: ticket.device_id.map(|id| id.into_owned().into()),
        user_id: ticket.user_id.map(|id| id.into_owned().into()),
        ..ticket
    })
}
