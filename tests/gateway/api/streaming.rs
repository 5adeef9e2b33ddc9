//! `queue/events`: the status as it changes.

use super::*;
use anteroom::gateway::api::{Events, Streams};
use serde_json::json;

fn open_stream(house: &House, node: &Arc<Streams>, head: &Asked) -> Result<Events, Told> {
    api::events(&house.live, node, head, &client("192.0.2.1")).map_err(Told::new)
}

/// The next event; signs of life are passed over, and counted.
async fn next(events: &mut Events) -> Option<(Value, usize)> {
    let mut quiet = 0;
    while let Some(chunk) = events.next().await {
        let text = String::from_utf8(chunk).expect("text");
        assert!(text.ends_with("\n\n"), "{text:?}");
        let data: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
        match data[..] {
            [one] => return Some((serde_json::from_str(one).expect("JSON"), quiet)),
            _ => quiet += 1,
        }
    }
    None
}

#[test]
fn a_stream_tells_at_once_then_of_changes_and_ends_with_the_turn() {
    house(vec![room("sale")], async |house| {
        let first = house.join("sale", "d1").await;
        let second = house.join("sale", "d2").await;
        let ticket = second.text("queue_id");
        let node = Streams::new();
        let mut events =
            open_stream(house, &node, &get(&format!("queue/events?queue_id={ticket}")))
                .unwrap_or_else(|_| panic!("a stream"));
        assert_eq!(node.open(), 1);
        let head = Events::response_headers();
        assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")));
        assert_eq!(head.header("x-accel-buffering"), Some("no"));
        let (now, _) = next(&mut events).await.expect("an event");
        assert_eq!(
            (&now["position"], &now["status"], &now["queue_id"]),
            (&json!(2), &json!("waiting"), &json!(ticket))
        );
        house
            .ask(&post("queue/leave"), &json!({"queue_id": first.text("queue_id")}).to_string())
            .await;
        // Positions are as of the last sweep; how many wait is known at once.
        let (now, _) = next(&mut events).await.expect("an event");
        assert_eq!(now["waiting"], 1);
        house.release(1).await;
        let (now, _) = next(&mut events).await.expect("an event");
        assert_eq!(now["status"], "admitted");
        assert!(now["token"].is_string());
        assert!(next(&mut events).await.is_none(), "the stream is over");
        drop(events);
        assert_eq!(node.open(), 0);
    });
}

#[test]
fn silence_is_broken_before_anybody_takes_it_for_the_end() {
    house(vec![room("sale")], async |house| {
        let (cookie, proof) = house.cookie("sale").await;
        let node = Streams::new();
        let poll = get("queue/events").with("cookie", &*cookie);
        let mut events = open_stream(house, &node, &poll).unwrap_or_else(|_| panic!("a stream"));
        next(&mut events).await.expect("an event");
        let began = tokio::time::Instant::now();
        let chunk = events.next().await.expect("a sign of life");
        assert_eq!(chunk, b": here\n\n");
        assert!(began.elapsed() <= Duration::from_secs(15));
        let gone = tokio::spawn({
            let room = house.entrance("sale").room.clone();
            async move { room.leave(proof).await }
        });
        house.later(160).await;
        gone.await.expect("no panic").expect("an answer");
        let (now, _) = next(&mut events).await.expect("an event");
        assert_eq!((&now["status"], &now["reason"]), (&json!("expired"), &json!("used")));
        assert!(next(&mut events).await.is_none());
    });
}

#[test]
fn a_stream_keeps_a_place() {
    house(vec![room("sale")], async |house| {
        let (cookie, proof) = house.cookie("sale").await;
        house.join("sale", "silent").await;
        let node = Streams::new();
        let poll = get("queue/events").with("cookie", &*cookie);
        let mut events = open_stream(house, &node, &poll).unwrap_or_else(|_| panic!("a stream"));
        house.later(100).await;
        events.next().await.expect("the place");
        house.later(130).await; // Whoever was silent for two periods of 75 s is away.
        let view = house.entrance("sale").room.view();
        assert_eq!((view.waiting(), view.position(proof.number)), (1, Some(1)));
    });
}

#[test]
fn a_browsers_stream_says_that_it_is_time() {
    house(vec![room("sale")], async |house| {
        let (cookie, _) = house.cookie("sale").await;
        let node = Streams::new();
        let poll = get("queue/events").with("cookie", &*cookie);
        let mut events = open_stream(house, &node, &poll).unwrap_or_else(|_| panic!("a stream"));
        next(&mut events).await.expect("an event");
        house.release(1).await;
        let (now, _) = next(&mut events).await.expect("an event");
        assert_eq!(
            (&now["status"], &now["claim_window_seconds"]),
            (&json!("admitted"), &json!(120))
        );
        assert!(now.get("token").is_none());
        assert!(next(&mut events).await.is_none());
    });
}

#[test]
fn there_are_only_so_many_and_not_for_everybody() {
    house(vec![room("sale")], async |house| {
        let joined = house.join("sale", "d1").await;
        let head = get(&format!("queue/events?queue_id={}", joined.text("queue_id")));
        let node = Streams::new();
        let one = open_stream(house, &node, &head);
        let two = open_stream(house, &node, &head);
        assert!(one.is_ok() && two.is_ok());
        let three = open_stream(house, &node, &head).err().expect("too many");
        three.is(503, "too_many_streams");
        assert!(three.retry_after() > 0);
        drop(one);
        assert!(open_stream(house, &node, &head).is_ok());
        let refused = |head: &Asked| open_stream(house, &node, head).err().expect("refused");
        refused(&get("queue/events?queue_id=x.y.z")).is(404, "unknown_ticket");
        refused(&get("queue/events")).is(400, "missing_ticket");
        let leave = json!({"queue_id": joined.text("queue_id")}).to_string();
        house.ask(&post("queue/leave"), &leave).await;
        assert_eq!(node.open(), 1, "refusals hold no place");
    });
}
