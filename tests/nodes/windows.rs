//! Batches at intervals, on three nodes: what one leaves over serves who joins next at whichever node, nobody waits for it to fill, and no
//! window's end takes a turn from somebody who has just got it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{ask, join, state, three};
use crate::support::{Operator, Visitor, eventually};

/// A batch of three, its interval, and for how many of them a turn is good.
fn room(interval: &str, windows: u32) -> String {
    format!(
        "batch = 3\ninterval = \"{interval}\"\nwindows = {windows}\npoll_max = \"1s\"\n\
         heartbeat_timeout = \"10m\"\nmax_waiting = \"none\""
    )
}

#[test]
fn what_a_batch_leaves_over_serves_who_joins_next_wherever() {
    let _alone = super::alone();
    let (redis, _origin, nodes) = three(&room("10s", 2));
    for node in &nodes {
        let operator = Operator::new(node);
        eventually("a line", || {
            operator.see("/v1/rooms/sale")["view_age_seconds"].is_number().then_some(())
        });
    }
    let come = |nth: usize| -> Value {
        eventually("an answer", || {
            let told = join(&nodes[nth % 3], "sale", &format!("device-{nth}"), &json!({}));
            (told.status == 200).then(|| told.json())
        })
    };
    let began = Instant::now();
    for nth in 0..3 {
        let told = come(nth);
        assert_eq!(told["status"], "admitted", "nobody waits for a batch to fill: {told:#}");
    }
    let next = come(3);
    assert_eq!((&next["status"], state(&redis, "turns")), (&json!("waiting"), 3), "{next:#}");
    assert!(began.elapsed() < Duration::from_secs(8), "all of it in one interval");
    // The next batch is for whoever waits; what is left of it for two who come to the other nodes.
    eventually("the next batch", || (ask(&nodes[1], &next)["status"] == "admitted").then_some(()));
    for nth in [4, 5] {
        let told = come(nth);
        assert_eq!(told["status"], "admitted", "left over: {told:#}");
    }
    assert_eq!(come(6)["status"], "waiting");
    assert_eq!(state(&redis, "turns"), 6);
}

#[test]
fn no_window_ends_a_turn_that_was_just_given() {
    let _alone = super::alone();
    let (_redis, _origin, nodes) = three(&room("3s", 3));
    let operator = Operator::new(&nodes[0]);
    // One at each node, called at another moment of the interval each: at once, by what their batch had left over.
    let mut called: Vec<(Instant, Visitor)> = Vec::new();
    for node in &nodes {
        operator.does("/v1/rooms/sale/pause", &json!({}));
        let mut visitor = Visitor::new(node);
        eventually("a place", || {
            (visitor.open("/").state().as_deref() == Some("waiting")).then_some(())
        });
        operator.does("/v1/rooms/sale/resume", &json!({}));
        visitor.await_turn();
        called.push((Instant::now(), visitor));
        std::thread::sleep(Duration::from_millis(900));
    }
    let mut absent = called.remove(1).1;
    for (since, visitor) in &mut called {
        // Two windows have ended in between, or three.
        std::thread::sleep(Duration::from_millis(6_800).saturating_sub(since.elapsed()));
        assert_eq!(visitor.status().json()["status"], "admitted");
        assert!(visitor.open("/").is_from_origin(), "and they may come in");
    }
    eventually("whoever does not come loses it in the end", || {
        let told = absent.status();
        (told.status == 410 || told.json()["status"] == "expired").then_some(())
    });
}
