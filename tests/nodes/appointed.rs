//! A room that closes by itself while people wait, on three nodes: no turns after that, and nobody new, whichever node they ask.

use std::time::{Duration, Instant};

use anteroom::clock;
use serde_json::{Value, json};

use super::{ask, join, state, three};
use crate::support::{Operator, Visitor, eventually};

/// After the nodes are there.
const OPENS_MS: u64 = 8_000;
const OVERLAP_MS: u64 = 10_000;
const CLOSES_MS: u64 = 12_000;

/// Two events: the second begins before the first has ended, and ends last. Between them nobody is sent away.
fn room(now_ms: u64) -> String {
    let at = |ms: u64| clock::moment(now_ms + ms);
    format!(
        "rate = \"5/s\"\nburst = 1\npoll_max = \"1s\"\nheartbeat_timeout = \"10m\"\nclaim_window = \"10m\"\n\
         schedule = [{{ opens = \"{}\", prequeue = \"1h\", closes = \"{}\" }}, {{ opens = \"{}\", closes = \"{}\" }}]",
        at(OPENS_MS),
        at(OVERLAP_MS + 500),
        at(OVERLAP_MS),
        at(CLOSES_MS),
    )
}

#[test]
fn after_the_end_of_the_last_event_no_node_lets_anybody_in() {
    let _alone = super::alone();
    let began_ms = clock::now_ms();
    let (redis, _origin, nodes) = three(&room(began_ms));
    let since = || clock::now_ms().saturating_sub(began_ms);
    let come = |nth: usize| {
        eventually("a place", || {
            let told = join(&nodes[nth % 3], "sale", &format!("device-{nth}"), &json!({}));
            (told.status == 200).then(|| told.json())
        })
    };
    let tickets: Vec<Value> = (0..40).map(come).collect();
    if since() < OPENS_MS - 500 {
        for (node, ticket) in nodes.iter().zip(&tickets) {
            let told = ask(node, ticket);
            assert_eq!((&told["status"], &told["phase"]), (&json!("waiting"), &json!("prequeue")));
        }
        assert_eq!(state(&redis, "turns"), 0);
    }

    // From the first event into the second there are turns all the time, and places for who comes.
    eventually("the opening", || (state(&redis, "turns") > 0).then_some(()));
    eventually("the second event", || (since() > OVERLAP_MS + 700).then_some(()));
    let between = state(&redis, "turns");
    eventually("turns in it", || (state(&redis, "turns") > between).then_some(()));

    // Over. What was given is given, and may be taken; nothing more is, by no node.
    eventually("the end", || (since() > CLOSES_MS).then_some(()));
    for (nth, node) in nodes.iter().enumerate() {
        eventually("nobody new", || {
            let refused = join(node, "sale", &format!("late-{nth}-{}", since()), &json!({}));
            (refused.status == 503 && refused.code() == "queue_disabled").then_some(())
        });
        let page = Visitor::new(node).open("/");
        assert_eq!((page.status, page.state().as_deref()), (503, Some("error")), "{page:?}");
    }
    let turns = state(&redis, "turns");
    assert!(turns < 40, "somebody still waits: {turns} turns");
    let issued = state(&redis, "issued");
    let until = Instant::now() + Duration::from_secs(2);
    while Instant::now() < until {
        for (nth, node) in nodes.iter().enumerate() {
            assert!(!Visitor::new(node).open("/").is_from_origin());
            let late = join(node, "sale", &format!("later-{nth}"), &json!({}));
            assert_eq!(late.code(), "queue_disabled", "{late:?}");
            assert_eq!(ask(node, &tickets[39])["status"], "waiting");
        }
        assert_eq!((state(&redis, "turns"), state(&redis, "issued")), (turns, issued));
    }
    assert_eq!(ask(&nodes[2], &tickets[0])["status"], "admitted", "whose turn had come has it");
    for node in &nodes {
        let told = Operator::new(node).see("/v1/rooms/sale");
        assert_eq!(told["waiting"], issued - turns, "{told:#}");
    }
}
