//! `queue/leave` and `admission/complete`: what is given back, by whom, and what a browser sees.

use super::*;
use serde_json::json;

fn form(head: Asked) -> Asked {
    let mut head = head;
    head.headers.retain(|(name, _)| name != "content-type");
    head.with("content-type", "application/x-www-form-urlencoded")
        .with("accept", "text/html,*/*;q=0.8")
}

#[test]
fn leaving_frees_the_place() {
    house(vec![room("sale")], async |house| {
        let first = house.join("sale", "d1").await;
        let second = house.join("sale", "d2").await;
        let body = json!({"queue_id": first.text("queue_id")}).to_string();
        let told = house.ask(&post("queue/leave"), &body).await;
        assert_eq!(
            (told.status, told.text("status"), told.text("reason")),
            (200, "expired", "left")
        );
        assert_eq!(told.text("queue_ref"), first.text("queue_ref"));
        assert!(told.response.header("set-cookie").is_none());
        assert_eq!(house.status(second.text("queue_id")).await.body["waiting"], 1);
        assert_eq!(house.ask(&post("queue/leave"), &body).await.status, 200, "twice is once");
        house.ask(&post("queue/leave"), r#"{"queue_id":"x.y.z"}"#).await.is(404, "unknown_ticket");
        house.ask(&post("queue/leave"), "").await.is(400, "missing_ticket");
    });
}

#[test]
fn leaving_by_cookie_needs_a_page_of_ours_and_forgets_it() {
    house(vec![room("sale")], async |house| {
        let (cookie, _) = house.cookie("sale").await;
        let head = post("queue/leave").with("cookie", &*cookie);
        house.ask(&head, "{}").await.is(403, "cross_site");
        assert_eq!(house.entrance("sale").room.view().waiting(), 1);
        let told = house.ask(&head.of_our_page(), "{}").await;
        assert_eq!(told.status, 200);
        assert!(told.response.header("set-cookie").expect("forgotten").contains("Max-Age=0"));
        assert_eq!(house.entrance("sale").room.view().waiting(), 0);
    });
}

#[test]
fn leaving_by_a_form_is_answered_with_a_page() {
    house(vec![room("sale")], async |house| {
        let (cookie, _) = house.cookie("sale").await;
        let head = form(post("queue/leave").with("cookie", &*cookie));
        house.ask(&head, "event_id=sale&to=%2Fdrop%3Fa%3D1").await.is(403, "cross_site");
        let told = house.ask(&head.clone().of_our_page(), "event_id=sale&to=%2Fdrop%3Fa%3D1").await;
        assert_eq!(told.status, 200);
        assert_eq!(told.response.header("content-type"), Some("text/html; charset=utf-8"));
        assert!(told.response.header("set-cookie").expect("forgotten").contains("Max-Age=0"));
        let page = String::from_utf8(told.response.body.into_owned()).expect("text");
        assert!(page.contains("/drop?a=1"), "{page}");
        assert_eq!(house.entrance("sale").room.view().waiting(), 0);
        // Without a place, what was wanted is so; and nobody is led elsewhere.
        let told = house.ask(&form(post("queue/leave")).of_our_page(), "to=//evil.example/").await;
        assert_eq!(told.status, 200);
        assert!(!String::from_utf8_lossy(&told.response.body).contains("evil.example"));
        house
            .ask(&form(post("queue/leave")).of_our_page(), "event_id=none")
            .await
            .is(400, "unknown_event");
    });
}

#[test]
fn somebody_inside_leaves_their_seat() {
    house(vec![room("sale")], async |house| {
        let (cookie, proof) = house.pass_cookie("sale").await;
        let told = house.ask(&post("queue/leave").with("cookie", cookie).of_our_page(), "").await;
        assert_eq!(told.status, 200);
        let view = house.entrance("sale").room.view();
        assert_eq!(view.ending(proof.number), Some(anteroom::line::Ending::Left));
        assert_eq!(view.counts().inside, 0);
    });
}

#[test]
fn completing_frees_the_seat() {
    house(vec![room("sale")], async |house| {
        let joined = house.join("sale", "d1").await;
        house.release(1).await;
        let token = house.status(joined.text("queue_id")).await.text("token").to_owned();
        assert_eq!(house.entrance("sale").room.view().counts().inside, 1);
        let ticket = json!({"token": joined.text("queue_id")}).to_string();
        house.ask(&post("admission/complete"), &ticket).await.is(400, "not_a_pass");
        let body = json!({"token": token}).to_string();
        for _ in 0..2 {
            let told = house.ask(&post("admission/complete"), &body).await;
            assert_eq!((told.status, told.text("status")), (200, "completed"));
            assert_eq!(told.text("queue_ref"), joined.text("queue_ref"));
        }
        let counts = *house.entrance("sale").room.view().counts();
        assert_eq!((counts.inside, counts.completed), (0, 1));
        house
            .ask(&post("admission/complete"), r#"{"token":"x.y.z"}"#)
            .await
            .is(404, "unknown_ticket");
        let (cookie, _) = house.pass_cookie("sale").await;
        let head = post("admission/complete").with("cookie", &*cookie);
        house.ask(&head, "").await.is(403, "cross_site");
        assert_eq!(house.ask(&head.of_our_page(), "").await.status, 200);
        let (cookie, proof) = house.pass_cookie("sale").await;
        let entrance = house.entrance("sale");
        entrance.room.end(proof, anteroom::line::Ending::Revoked).await.expect("an answer");
        let revoked = post("admission/complete").with("cookie", cookie).of_our_page();
        let told = house.ask(&revoked, "").await;
        told.is(410, "gone");
        assert_eq!(told.text("reason"), "revoked");
        assert_eq!(entrance.room.view().counts().completed, 2, "a revoked visit is not completed");
    });
}
