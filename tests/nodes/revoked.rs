//! Taken away: whoever is revoked on one node is out on every other within a second, whatever they have open there.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use super::three;
use crate::support::forge::number;
use crate::support::websocket::WebSocket;
use crate::support::{Gateway, Operator, PATIENCE, Request, Visitor, eventually};

/// On every node, open connections too.
const SOON: Duration = Duration::from_secs(1);

const ROOM: &str = "max_active = 10\nsession_idle = \"10m\"";

/// What somebody does on a node that is not the one where they are revoked.
#[derive(Clone, Copy, Debug)]
enum Open {
    WebSocket,
    Stream,
    Requests,
}

/// Does it until it ends, and says when that was; one more is `open` when it goes on well.
fn until_it_ends(visitor: &Visitor, node: &Gateway, what: Open, open: &AtomicUsize) -> Instant {
    let mut visitor = visitor.clone();
    visitor.moves_to(node);
    let began = Instant::now();
    match what {
        Open::WebSocket => {
            let mut socket = WebSocket::open(&visitor, "/ws?ms=50").expect("a WebSocket");
            assert!(socket.hear().is_some());
            open.fetch_add(1, Ordering::Relaxed);
            while began.elapsed() < PATIENCE && socket.hear().is_some() {}
        }
        Open::Stream => {
            let mut connection = visitor.connect();
            let request = Request::get("/stream?chunks=300&ms=50").by_browser();
            connection.send(&visitor.dress(request).bytes());
            assert!(connection.read_head().is_from_origin());
            // For longer than a short answer takes.
            (0..30).for_each(|_| _ = connection.read_chunk());
            open.fetch_add(1, Ordering::Relaxed);
            let mut chunks = 30;
            while connection.try_read_chunk().is_ok_and(|chunk| !chunk.is_empty()) {
                chunks += 1;
            }
            assert!(chunks < 300, "the whole of it");
        }
        Open::Requests => {
            assert!(visitor.fetch("/part").is_from_origin());
            open.fetch_add(1, Ordering::Relaxed);
            while began.elapsed() < PATIENCE && visitor.fetch("/part").is_from_origin() {}
        }
    }
    Instant::now()
}

/// All of it goes on at the other two nodes, and ends soon when `revoke` has begun.
fn outlasts<const N: usize>(
    nodes: &[Gateway],
    visitor: &Visitor,
    all: [Open; N],
    revoke: impl FnOnce() -> Instant,
) {
    let open = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let each = nodes[1..].iter().flat_map(|node| all.map(|what| (node, what)));
        let each: Vec<_> = each
            .map(|(node, what)| {
                let open = &open;
                (what, scope.spawn(move || until_it_ends(visitor, node, what, open)))
            })
            .collect();
        eventually("all of it goes on", || {
            (open.load(Ordering::Relaxed) == each.len()).then_some(())
        });
        let revoked = revoke();
        for (what, ended) in each {
            let after = ended.join().expect("no panic").saturating_duration_since(revoked);
            println!("{what:?} ended {after:?} after the revocation began");
            assert!(after < SOON, "{what:?}: {after:?}");
        }
    });
}

/// Somebody who is inside.
fn enter(node: &Gateway) -> Visitor {
    let mut visitor = Visitor::new(node);
    eventually("a seat", || visitor.open("/").is_from_origin().then_some(()));
    visitor
}

#[test]
fn by_an_operator_and_by_the_origin_within_a_second() {
    let _alone = super::alone();
    let (_redis, _origin, nodes) = three(ROOM);
    let operator = Operator::new(&nodes[0]);
    let mut out = Vec::new();
    // Nothing else makes these nodes speak with their store, which they do twice a second: at different times before they do.
    for pause in [50, 200, 350] {
        let ann = enter(&nodes[1]);
        let number = number(&ann.token().expect("a pass").1);
        let path = format!("/v1/rooms/sale/visitors/{number}");
        eventually("known to the first node, too", || {
            (operator.get(&path).status == 200).then_some(())
        });
        outlasts(&nodes, &ann, [Open::WebSocket, Open::Stream], || {
            std::thread::sleep(Duration::from_millis(pause));
            let began = Instant::now();
            assert_eq!(operator.does(&format!("{path}/revoke"), &json!({}))["done"], true);
            began
        });
        out.push(ann);
    }

    // With requests in between, each of them verified offline.
    let ann = enter(&nodes[1]);
    let path = format!("/v1/rooms/sale/visitors/{}", number(&ann.token().expect("a pass").1));
    eventually("known to the first node, too", || {
        (operator.get(&path).status == 200).then_some(())
    });
    outlasts(&nodes, &ann, [Open::WebSocket, Open::Requests], || {
        let began = Instant::now();
        assert_eq!(operator.does(&format!("{path}/revoke"), &json!({}))["done"], true);
        began
    });
    out.push(ann);

    // By the origin's word, in an answer that another node carries.
    let bob = enter(&nodes[2]);
    outlasts(&nodes, &bob, [Open::WebSocket, Open::Stream, Open::Requests], || {
        let mut same = bob.clone();
        same.moves_to(&nodes[0]);
        let began = Instant::now();
        assert!(same.open("/command?c=revoke").is_from_origin());
        assert_eq!(same.token(), None, "the cookie goes");
        began
    });
    out.push(bob);
    for node in &nodes {
        for visitor in &out {
            let mut visitor = visitor.clone();
            visitor.moves_to(node);
            assert!(!visitor.fetch("/part").is_from_origin(), "and stays out");
        }
    }
}
