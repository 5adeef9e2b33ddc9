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

/// A room whose passes are good once.
fn once(name: &str) -> settings::Room {
    settings::Room { single_use: true, ..room(name) }
}

async fn consume(house: &House, event_id: &str, token: &str) -> Told {
    let body = json!({"token": token, "event_id": event_id, "consume": true}).to_string();
    house.ask(&post("admission/verify"), &body).await
}

#[test]
fn a_pass_that_is_good_once_is_spent_once() {
    house(vec![once("sale")], async |house| {
        let (token, ticket) = pass(house, "sale", "d1").await;
        let told = verify(house, "sale", &token).await;
        assert_eq!((&told.body["valid"], told.body.get("consumed")), (&json!(true), None));
        let first = consume(house, "sale", &token).await;
        assert_eq!(first.status, 200, "{}", first.body);
        assert_eq!((&first.body["valid"], &first.body["consumed"]), (&json!(true), &json!(true)));
        assert_eq!((first.text("device_id"), first.text("user_id")), ("d1", "usr_xyz789"));
        let second = consume(house, "sale", &token).await;
        second.is(410, "gone");
        assert_eq!((second.text("reason"), &second.body["valid"]), ("spent", &json!(false)));
        assert_eq!(second.text("queue_ref"), first.text("queue_ref"));
        assert!(second.body.get("consumed").is_none() && second.body.get("user_id").is_none());
        // Another's is another's, and whoever spent theirs is still inside.
        let (other, _) = pass(house, "sale", "d2").await;
        assert_eq!(consume(house, "sale", &other).await.body["consumed"], true);
        assert_eq!(house.status(&ticket).await.text("token"), token);
        assert_eq!(verify(house, "sale", &token).await.body["valid"], true, "asked, not spent");
    });
}

#[test]
fn a_renewed_pass_is_spent_already() {
    house(vec![once("sale")], async |house| {
        let (token, _) = pass(house, "sale", "d1").await;
        assert_eq!(consume(house, "sale", &token).await.status, 200);
        house.later(60).await;
        let entrance = house.entrance("sale");
        let proof = Proof { epoch: entrance.room.view().counts().epoch, number: 1 };
        let sitting = anteroom::room::Sitting { admitted_ms: START_MS, slot: 0 };
        let renewed = entrance.room.renew(proof, sitting).await.expect("an answer");
        let anteroom::line::Claimed::Inside(terms) = renewed else { panic!("{renewed:?}") };
        let renewed = entrance.pass(proof, &terms, &Identity::default());
        assert_ne!(renewed, token);
        consume(house, "sale", &renewed).await.is(410, "gone");
    });
}

#[test]
fn what_is_not_good_can_not_be_spent() {
    house(vec![once("sale"), room("free")], async |house| {
        let (token, ticket) = pass(house, "sale", "d1").await;
        let entrance = house.entrance("sale");
        let epoch = entrance.room.view().counts().epoch;
        entrance.room.end(Proof { epoch, number: 1 }, Ending::Revoked).await.expect("an answer");
        for (token, reason) in [(&token, "revoked"), (&ticket, "not_a_pass")] {
            let told = consume(house, "sale", token).await;
            assert_eq!((told.status, &told.body["valid"]), (200, &json!(false)), "{}", told.body);
            assert_eq!(told.text("reason"), reason);
            assert!(told.body.get("consumed").is_none());
        }
        let (token, _) = pass(house, "sale", "d2").await;
        house.command(Command::Reset).await;
        assert_eq!(consume(house, "sale", &token).await.text("reason"), "revoked");
        let (token, _) = pass(house, "sale", "d3").await;
        let body = json!({"token": token, "event_id": "sale", "consume": "yes"}).to_string();
        house.ask(&post("admission/verify"), &body).await.is(400, "invalid_consume");
        let body = json!({"token": token, "event_id": "sale", "consume": false}).to_string();
        let told = house.ask(&post("admission/verify"), &body).await;
        assert_eq!((&told.body["valid"], told.body.get("consumed")), (&json!(true), None));
        assert_eq!(consume(house, "sale", &token).await.body["consumed"], true, "not yet spent");
    });
}

#[test]
fn where_passes_are_good_for_the_visit_none_is_spent() {
    house(vec![room("sale")], async |house| {
        let (token, _) = pass(house, "sale", "d1").await;
        let told = consume(house, "sale", &token).await;
        told.is(400, "not_single_use");
        assert!(told.body["error"]["message"].as_str().unwrap().contains("single_use = true"));
    });
}

#[test]
fn two_nodes_spend_a_pass_once_between_them() {
    house(vec![once("sale")], async |house| {
        let live = live(8, vec![once("sale")], Loss::default());
        let other = House { live, wall_ms: house.wall_ms.clone(), store: house.store.clone() };
        let (room, store) = (other.entrance("sale").room.clone(), other.store.clone());
        let driver = tokio::spawn(async move { room.drive(&*store as &dyn Store).await });
        let (token, _) = pass(house, "sale", "d1").await;
        assert_eq!(consume(&other, "sale", &token).await.body["consumed"], true);
        let second = consume(house, "sale", &token).await;
        second.is(410, "gone");
        assert_eq!(second.text("reason"), "spent");
        // What one has ended the other hears of with the answer.
        let (token, _) = pass(house, "sale", "d2").await;
        let body = json!({ "token": token }).to_string();
        assert_eq!(house.ask(&post("admission/complete"), &body).await.status, 200);
        let told = consume(&other, "sale", &token).await;
        assert_eq!((&told.body["valid"], told.text("reason")), (&json!(false), "completed"));
        driver.abort();
    });
}

#[test]
fn each_try_counts_against_its_number_and_none_against_the_origin() {
    let mut sale = once("sale");
    let few = Some(anteroom::limit::Allowance { max: 3, per_ms: 60_000 });
    sale.limits.requests_per_address = few;
    sale.limits.requests_per_ticket = few;
    sale.line.pace = None;
    house(vec![sale], async |house| {
        let mut tokens = Vec::new();
        for nth in 0..6 {
            let from = client(&format!("198.51.100.{nth}"));
            let body = json!({"event_id": "sale", "device_id": nth.to_string()}).to_string();
            let joined = house.ask_from(from, &post("queue/join"), body.as_bytes()).await;
            tokens.push(joined.text("token").to_owned());
        }
        for token in &tokens {
            assert_eq!(consume(house, "sale", token).await.body["consumed"], true);
        }
        consume(house, "sale", &tokens[0]).await.is(410, "gone");
        consume(house, "sale", &tokens[0]).await.is(410, "gone");
        consume(house, "sale", &tokens[0]).await.is(429, "rate_limited");
    });
}
