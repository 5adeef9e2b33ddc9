//! How often pages ask, where several rooms share a node.

use serde_json::json;

use super::call;
use crate::support::{Config, Gateway, Origin, Request, eventually};

/// So many more wait before a room; the ticket of the last.
fn fill(gateway: &Gateway, room: &str, count: usize) -> String {
    let mut ticket = String::new();
    for n in 0..count {
        let device = format!("{room}{n}");
        let joined =
            call(gateway, "queue/join", &json!({ "event_id": room, "device_id": device })).json();
        ticket = joined["queue_id"].as_str().expect("a ticket").to_owned();
    }
    ticket
}

#[test]
fn a_crowd_before_one_room_slows_the_pages_of_another() {
    let origin = Origin::start();
    // Nobody is released; a rate that nobody has set counts as one a second, and the twentieth has twenty seconds to go.
    let room = |name: &str| format!("paths = [\"/{name}/*\"]\nrate = \"0\"");
    let config = Config::new(&[origin.address().to_string()])
        .room("one", &room("one"))
        .room("two", &room("two"))
        .tables("[bounds]\npolls_per_second = 4");
    let gateway = Gateway::start(config);
    let last = fill(&gateway, "one", 20);
    let target = format!("/.anteroom/v1/queue/status?queue_id={last}");
    let pause = || {
        let status = gateway.connect().ask(&Request::get(&target)).json();
        assert_eq!((&status["status"], &status["position"]), (&json!("waiting"), &json!(20)));
        status["next_poll_seconds"].as_u64().expect("a pause")
    };
    // Thirteen of twenty are not near their turn, and have half of four polls a second.
    let alone = eventually("all are counted", || Some(pause()).filter(|pause| *pause >= 5));
    assert!((5..=8).contains(&alone), "{alone}");
    fill(&gateway, "two", 20);
    let together = eventually("both are counted", || Some(pause()).filter(|pause| *pause >= 11));
    assert!((11..=15).contains(&together), "{together}");
}
