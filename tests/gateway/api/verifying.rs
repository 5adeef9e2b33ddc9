//! `admission/verify`: what an origin is told about a pass.

use super::*;
use anteroom::line::Ending;
use serde_json::json;

async fn verify(house: &House, event_id: &str, token: &str) -> Told {
    house
        .ask(&post("admission/verify"), &json!({"token": token, "event_id": event_id}).to_string())
        .await
}

/// The pass of somebody who waited, and their ticket.
async fn pass(house: &House, room: &str, device: &str) -> (String, String) {
    let body = json!({"event_id": room, "device_id": device, "user_id": "usr_xyz789"}).to_string();
    let joined = house.ask(&post("queue/join"), &body).await;
    house.release(1).await;
    let ticket = joined.text("queue_id").to_owned();
    (house.status(&ticket).await.text("token").to_owned(), ticket)
}

#[test]
fn a_good_pass_field_by_field() {
    house(vec![room("sale")], async |house| {
        let (token, _) = pass(house, "sale", "dev_abc123").await;
        let told = verify(house, "sale", &token).await;
        assert_eq!(told.status, 200);
        let expected = json!({
            "valid": true, "event_id": "sale", "device_id": "dev_abc123", "user_id": "usr_xyz789",
            "issued_at": "2027-01-15T08:00:00Z", "expires_at": "2027-01-15T08:05:00Z",
            "admitted_at": "2027-01-15T08:00:00Z", "class": "general", "slot": null, "number": 1,
        });
        for (field, value) in expected.as_object().expect("an object") {
            assert_eq!(&told.body[field], value, "{field} in {}", told.body);
        }
        for _ in 0..200 {
            assert_eq!(verify(house, "sale", &token).await.body["valid"], true);
        }
    });
}

#[test]
fn what_is_not_good_says_why() {
    house(vec![room("sale"), room("other")], async |house| {
        let reason = async |event_id: &str, token: &str| {
            let told = verify(house, event_id, token).await;
            assert_eq!((told.status, &told.body["valid"]), (200, &json!(false)), "{}", told.body);
            told.text("reason").to_owned()
        };
        let (token, ticket) = pass(house, "sale", "d1").await;
        assert_eq!(reason("other", &token).await, "other_room");
        assert_eq!(reason("sale", &ticket).await, "not_a_pass");
        let signature = token.rfind('.').expect("three parts") + 1;
        let flipped = if token.as_bytes()[signature] == b'A' { "B" } else { "A" };
        let forged = format!("{}{flipped}{}", &token[..signature], &token[signature + 1..]);
        assert_eq!(reason("sale", &forged).await, "unknown");
        assert_eq!(reason("other", &forged).await, "unknown");
        let (revoked, _) = pass(house, "sale", "d2").await;
        let entrance = house.entrance("sale");
        let epoch = entrance.room.view().counts().epoch;
        entrance.room.end(Proof { epoch, number: 2 }, Ending::Revoked).await.expect("an answer");
        assert_eq!(reason("sale", &revoked).await, "revoked");
        house.ask(&post("admission/complete"), &json!({"token": token}).to_string()).await;
        assert_eq!(reason("sale", &token).await, "completed");
        let (old, _) = pass(house, "sale", "d3").await;
        let (void, _) = pass(house, "other", "d3").await;
        house.later(310).await;
        assert_eq!(reason("sale", &old).await, "expired");
        drop(void);
        let (void, _) = pass(house, "other", "d4").await;
        house.command(Command::Reset).await;
        assert_eq!(reason("other", &void).await, "revoked", "a reset voids it");
    });
}

#[test]
fn what_is_no_token_is_malformed() {
    house(vec![room("sale")], async |house| {
        let long = "x".repeat(5_000);
        for bad in ["x", "a.b", "a.b.c", "…", &long] {
            verify(house, "sale", bad).await.is(400, "malformed_token");
        }
        verify(house, "sale", "").await.is(400, "missing_token");
        verify(house, "", "x").await.is(400, "missing_event_id");
        verify(house, "none", "x").await.is(400, "unknown_event");
        house
            .ask(&post("admission/verify"), r#"{"token":[],"event_id":"sale"}"#)
            .await
            .is(400, "invalid_token");
    });
}

#[test]
fn guesses_are_counted_and_good_passes_are_not() {
    let mut sale = room("sale");
    sale.limits.requests_per_address = Some(anteroom::limit::Allowance { max: 3, per_ms: 60_000 });
    house(vec![sale], async |house| {
        let (token, _) = pass(house, "sale", "d1").await; // The address's first request.
        verify(house, "sale", "x").await.is(400, "malformed_token");
        verify(house, "sale", "x").await.is(400, "malformed_token");
        verify(house, "sale", "x").await.is(429, "rate_limited");
        assert_eq!(verify(house, "sale", &token).await.body["valid"], true);
    });
}
