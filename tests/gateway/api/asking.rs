//! `queue/status` and `queue/heartbeat`: where a place stands, for whoever may know.

use super::*;
use anteroom::gateway::intent::Intent;
use anteroom::gateway::show::{Holder, Reader};
use serde_json::json;

#[test]
fn a_status_answers_field_by_field() {
    house(vec![room("sale")], async |house| {
        house.join("sale", "d0").await;
        let joined = house.join("sale", "d1").await;
        let ticket = joined.text("queue_id");
        house.later(4).await;
        let told = house.status(ticket).await;
        assert_eq!(told.status, 200);
        let expected = json!({
            "queue_id": ticket, "queue_ref": joined.text("queue_ref"), "event_id": "sale", "position": 2,
            "position_label": "A-000002", "waiting": 2, "estimated_wait_seconds": 2, "status": "waiting",
            "enqueued_at": "2027-01-15T08:00:00Z", "paused": false, "message": "Doors at \"nine\"",
        });
        for (field, value) in expected.as_object().expect("an object") {
            assert_eq!(&told.body[field], value, "{field} in {}", told.body);
        }
        assert!(told.text("last_heartbeat") >= "2027-01-15T08:00:04.000Z");
        assert_eq!(told.text("last_heartbeat"), told.text("server_time"));
        let bearer = get("queue/status").with("authorization", format!("Bearer {ticket}"));
        assert_eq!(house.ask(&bearer, "").await.text("queue_id"), ticket);
        house.command(Command::Pause).await;
        let told = house.status(ticket).await;
        assert_eq!((&told.body["paused"], &told.body["eta"]), (&json!(true), &Value::Null));
        assert!(told.body["estimated_wait_seconds"].is_u64(), "always a number");
    });
}

#[test]
fn a_heartbeat_answers_field_by_field() {
    house(vec![room("sale")], async |house| {
        let joined = house.join("sale", "d1").await;
        let ticket = joined.text("queue_id");
        let told = house.heartbeat(ticket).await;
        assert_eq!((told.status, told.text("queue_id")), (200, ticket));
        assert_eq!((&told.body["position"], told.text("status")), (&json!(1), "waiting"));
        assert!((1..=30).contains(&told.body["next_heartbeat_seconds"].as_u64().expect("seconds")));
        house.release(1).await;
        let told = house.heartbeat(ticket).await;
        assert_eq!(told.text("status"), "admitted");
        assert!(told.text("token").len() > 100 && told.text("expires_at").ends_with('Z'));
        house.heartbeat("x.y.z").await.is(404, "unknown_ticket");
        house.ask(&post("queue/heartbeat"), r#"{"queue_id":7}"#).await.is(400, "invalid_queue_id");
        house.ask(&post("queue/heartbeat"), "{}").await.is(400, "missing_ticket");
        house.later(2_000).await;
        house.heartbeat(ticket).await.is(410, "gone");
    });
}

#[test]
fn polls_keep_a_place() {
    house(vec![room("sale")], async |house| {
        let polling = house.join("sale", "d1").await;
        let silent = house.join("sale", "d2").await;
        let beating = house.join("sale", "d3").await;
        house.later(100).await;
        house.status(polling.text("queue_id")).await;
        house.heartbeat(beating.text("queue_id")).await;
        house.later(130).await; // Whoever was silent for two periods of 75 s is away.
        let told = house.status(beating.text("queue_id")).await;
        assert_eq!((&told.body["position"], &told.body["waiting"]), (&json!(2), &json!(2)));
        let back = house.status(silent.text("queue_id")).await;
        assert_eq!(
            (back.text("status"), &back.body["position"]),
            ("waiting", &json!(2)),
            "its place is kept"
        );
    });
}

#[test]
fn a_named_ticket_is_let_in_by_asking() {
    house(vec![room("sale")], async |house| {
        let joined = house.join("sale", "d1").await;
        let ticket = joined.text("queue_id");
        house.release(1).await;
        let told = house.status(ticket).await;
        assert_eq!((told.status, told.text("status")), (200, "admitted"));
        assert_eq!(told.text("expires_at"), "2027-01-15T08:05:00Z");
        let token = told.text("token").to_owned();
        house.later(60).await;
        let again = house.status(ticket).await;
        assert_eq!(
            (again.text("status"), again.text("token")),
            ("admitted", &*token),
            "the same token"
        );
        house.later(70).await;
        let inside = house.status(ticket).await;
        assert_eq!((inside.text("status"), inside.text("token")), ("active", &*token));
        // As does the pass itself.
        let shown = house.status(&token).await;
        assert_eq!(
            (shown.text("status"), shown.text("expires_at")),
            ("active", "2027-01-15T08:05:00Z")
        );
        assert!(shown.body.get("queue_id").is_none(), "a pass is no ticket");
        house.later(2_000).await;
        let over = house.status(ticket).await;
        over.is(410, "gone");
        assert_eq!(over.text("status"), "expired");
    });
}

#[test]
fn by_cookie_nothing_is_claimed_and_nothing_shown() {
    house(vec![room("sale")], async |house| {
        let (cookie, _) = house.cookie("sale").await;
        let poll = get("queue/status").with("cookie", &*cookie);
        let told = house.ask(&poll, "").await;
        assert_eq!((told.status, told.text("status")), (200, "waiting"));
        assert!(told.body.get("queue_id").is_none(), "scripts have no business with it");
        house.release(1).await;
        let told = house.ask(&poll, "").await;
        assert_eq!(
            (told.text("status"), &told.body["claim_window_seconds"]),
            ("admitted", &json!(120))
        );
        assert!(told.body.get("token").is_none());
        assert_eq!(
            house.entrance("sale").room.view().counts().inside,
            0,
            "the page's navigation claims"
        );
        let (cookie, _) = house.pass_cookie("sale").await;
        let inside = house.ask(&get("queue/status").with("cookie", &*cookie), "").await;
        assert_eq!(
            (inside.text("status"), inside.text("expires_at")),
            ("active", "2027-01-15T08:05:00Z")
        );
        assert!(inside.body.get("token").is_none() && inside.body.get("queue_id").is_none());
    });
}

#[test]
fn what_is_told_of_a_claim_window_is_what_is_left_of_it() {
    house(vec![room("sale")], async |house| {
        let (cookie, proof) = house.cookie("sale").await;
        let poll = get("queue/status").with("cookie", &*cookie);
        house.release(1).await;
        house.later(40).await;
        let told = house.ask(&poll, "").await;
        let left = told.body["claim_window_seconds"].as_u64().expect("seconds");
        assert!((78..=80).contains(&left), "{left} s after 40 s of 120");
        // The page says the same.
        let entrance = house.entrance("sale");
        let page = Reader::of(&get("x"), Intent::Page, client("192.0.2.1"));
        let holder = Holder { proof, joined_ms: START_MS, class: "" };
        let page = entrance.show_place(&page, &entrance.room.view(), holder, false);
        let page = String::from_utf8_lossy(&page.body).into_owned();
        assert!(page.contains(&format!("data-anteroom-window=\"{left}\"")), "{page}");
    });
}

#[test]
fn a_browser_says_which_room_where_there_are_several() {
    house(vec![room("a"), room("b")], async |house| {
        let (cookie, _) = house.cookie("b").await;
        house
            .ask(&get("queue/status").with("cookie", &*cookie), "")
            .await
            .is(400, "missing_event_id");
        let told = house.ask(&get("queue/status?event_id=b").with("cookie", &*cookie), "").await;
        assert_eq!((told.status, told.text("event_id")), (200, "b"));
        house
            .ask(&get("queue/status?event_id=c").with("cookie", &*cookie), "")
            .await
            .is(400, "unknown_event");
        house
            .ask(&get("queue/status?event_id=a").with("cookie", &*cookie), "")
            .await
            .is(400, "missing_ticket");
        let ticket = house.join("a", "d").await.text("queue_id").to_owned();
        assert_eq!(
            house.status(&ticket).await.text("event_id"),
            "a",
            "a ticket says itself whose it is"
        );
        let foreign =
            house.ask(&get(&format!("queue/status?event_id=b&queue_id={ticket}")), "").await;
        foreign.is(404, "unknown_ticket");
    });
}

#[test]
fn tickets_that_are_none() {
    let mut other = room("other");
    other.guard.hosts = Some(vec!["other.example".into()]);
    house(vec![room("sale"), other], async |house| {
        house.ask(&get("queue/status"), "").await.is(400, "missing_ticket");
        let joined = house.join("sale", "d1").await;
        let ticket = joined.text("queue_id").to_owned();
        let signature = ticket.rfind('.').expect("three parts") + 1;
        let flipped = if ticket.as_bytes()[signature] == b'A' { "B" } else { "A" };
        let forged = format!("{}{flipped}{}", &ticket[..signature], &ticket[signature + 1..]);
        for bad in ["", "x", "a.b.c", &ticket[..ticket.len() - 1], &forged, &"x".repeat(5_000)] {
            house.status(bad).await.is(404, "unknown_ticket");
        }
        let cookie = format!("{}={forged}", house.entrance("sale").jar.name(true));
        house.ask(&get("queue/status").with("cookie", cookie), "").await.is(404, "unknown_ticket");
        let foreign = house
            .ask(&post("queue/join").on("other.example"), r#"{"event_id":"other","device_id":"d"}"#)
            .await;
        house.status(foreign.text("queue_id")).await.is(404, "unknown_ticket");
        let by_api =
            get(&format!("queue/status?queue_id={}", foreign.text("queue_id"))).on("api.example");
        assert_eq!(house.ask(&by_api, "").await.text("event_id"), "other");
        house.later(24 * 3_600 + 2).await;
        house.status(&ticket).await.is(404, "unknown_ticket");
        let young = house.join("sale", "d2").await;
        house.command(Command::Reset).await;
        house.status(young.text("queue_id")).await.is(404, "unknown_ticket");
    });
}

#[test]
fn what_is_gone_says_why() {
    let mut sale = room("sale");
    sale.line.claim_window_ms = 10_000;
    house(vec![sale], async |house| {
        let gone = |told: Told, status: &str, reason: &str| {
            told.is(410, "gone");
            assert_eq!((told.text("status"), told.text("reason")), (status, reason));
            assert_eq!(told.text("event_id"), "sale");
        };
        let passed = house.join("sale", "d1").await;
        house.release(1).await;
        house.later(400).await;
        gone(house.status(passed.text("queue_id")).await, "expired", "passed");
        gone(house.heartbeat(passed.text("queue_id")).await, "expired", "passed");
        let left = house.join("sale", "d2").await;
        house
            .ask(&post("queue/leave"), &json!({"queue_id": left.text("queue_id")}).to_string())
            .await;
        house.later(160).await; // A view hears of it with the next sweep.
        gone(house.status(left.text("queue_id")).await, "expired", "used");
        let done = house.join("sale", "d3").await;
        house.release(1).await;
        let token = house.status(done.text("queue_id")).await.text("token").to_owned();
        let told =
            house.ask(&post("admission/complete"), &json!({"token": token}).to_string()).await;
        assert_eq!((told.status, told.text("status")), (200, "completed"));
        gone(house.status(done.text("queue_id")).await, "completed", "completed");
        gone(house.status(&token).await, "completed", "completed");
        let revoked = house.pass_cookie("sale").await;
        let entrance = house.entrance("sale");
        entrance.room.end(revoked.1, anteroom::line::Ending::Revoked).await.expect("an answer");
        gone(
            house.ask(&get("queue/status").with("cookie", revoked.0), "").await,
            "expired",
            "revoked",
        );
    });
}

#[test]
fn a_session_that_went_idle_may_go_on_for_a_while() {
    house(vec![room("sale")], async |house| {
        let (cookie, _) = house.pass_cookie("sale").await;
        let poll = get("queue/status").with("cookie", &*cookie);
        house.later(310).await;
        assert_eq!(
            house.ask(&poll, "").await.text("status"),
            "admitted",
            "the page's navigation resumes"
        );
        house.later(310).await;
        let over = house.ask(&poll, "").await;
        over.is(410, "gone");
        assert_eq!(over.text("reason"), "idle");
    });
}

#[test]
fn polls_by_cookie_need_no_permission_but_posts_do() {
    house(vec![room("sale")], async |house| {
        let (cookie, _) = house.cookie("sale").await;
        let beat = post("queue/heartbeat").with("cookie", &*cookie);
        for head in [
            beat.clone(),
            beat.clone().with("sec-fetch-site", "cross-site"),
            beat.clone().with("origin", "https://evil.example"),
        ] {
            house.ask(&head, "").await.is(403, "cross_site");
        }
        assert_eq!(house.ask(&beat.clone().of_our_page(), "").await.status, 200);
        assert_eq!(house.ask(&beat.with("origin", "https://shop.example"), "{}").await.status, 200);
    });
}

#[test]
fn too_many_requests() {
    let mut sale = room("sale");
    sale.limits.requests_per_ticket = Some(anteroom::limit::Allowance { max: 3, per_ms: 60_000 });
    sale.limits.requests_per_address = Some(anteroom::limit::Allowance { max: 4, per_ms: 60_000 });
    house(vec![sale], async |house| {
        let one = house.join("sale", "d1").await; // The address's first.
        let other = house.join("sale", "d2").await; // Its second.
        for _ in 0..3 {
            assert_eq!(house.status(one.text("queue_id")).await.status, 200);
        }
        let told = house.status(one.text("queue_id")).await;
        told.is(429, "rate_limited");
        assert!((1..=120).contains(&told.retry_after()));
        house.heartbeat(one.text("queue_id")).await.is(429, "rate_limited");
        assert_eq!(
            house.status(other.text("queue_id")).await.status,
            200,
            "by number, not by address"
        );
        house.status("a.b.c").await.is(404, "unknown_ticket");
        house.ask(&get("queue/status"), "").await.is(400, "missing_ticket");
        house.status("a.b.c").await.is(429, "rate_limited");
        assert_eq!(house.status(other.text("queue_id")).await.status, 200);
        let elsewhere = house.ask_from(client("198.51.100.1"), &get("queue/status"), b"").await;
        elsewhere.is(400, "missing_ticket");
    });
}

#[test]
fn a_ticket_this_node_has_not_heard_of_is_asked_about() {
    house(vec![room("sale")], async |house| {
        let entrance = house.entrance("sale");
        house.join("sale", "d1").await;
        let epoch = entrance.room.view().counts().epoch;
        let ticket = entrance.ticket(Proof { epoch, number: 5 }, START_MS, &Identity::default());
        let told = house.status(&ticket).await;
        assert_eq!(
            (told.status, told.text("status"), told.text("position_label")),
            (200, "waiting", "A-000005")
        );
    });
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build().expect("a runtime");
    runtime.block_on(async {
        let house = undriven(vec![room("sale")]);
        let proof = Proof { epoch: 1, number: 5 };
        let ticket = house.entrance("sale").ticket(proof, START_MS, &Identity::default());
        house.status(&ticket).await.is(503, "store_unavailable");
    });
}
