//! Visits that the origin steers, over one node, as the others see it; and how long a visit may last that goes over all of them.

use std::time::{Duration, Instant};

use super::three;
use crate::support::forge::expires;
use crate::support::{Gateway, Origin, Visitor, eventually};

/// Somebody who is inside, known to all nodes.
fn enter(nodes: &[Gateway], at: usize) -> Visitor {
    let mut visitor = Visitor::new(&nodes[at]);
    eventually("a seat", || visitor.open("/").is_from_origin().then_some(()));
    visitor
}

/// The same visitor at each node, with what they have now.
fn everywhere<'a>(
    nodes: &'a [Gateway],
    visitor: &'a Visitor,
) -> impl Iterator<Item = Visitor> + 'a {
    nodes.iter().map(move |node| {
        let mut same = visitor.clone();
        same.moves_to(node);
        same
    })
}

fn pass(visitor: &Visitor) -> String {
    visitor.token().expect("a pass").1
}

#[test]
fn the_origin_s_word_at_one_node_holds_at_the_others() {
    let _alone = super::alone();
    let (_redis, origin, nodes) =
        three("max_active = 3\nsession_idle = \"5m\"\nsession_max = \"1h\"");
    let [mut ann, mut bob, mut cid] = [0, 1, 2].map(|at| enter(&nodes, at));
    // For the seats that become free, or whoever is thrown out would be in again as somebody new.
    let [mut dee, mut eve] = [1, 2].map(|at| Visitor::new(&nodes[at]));
    for visitor in [&mut dee, &mut eve] {
        assert_eq!(visitor.open("/").state().as_deref(), Some("waiting"), "there are three seats");
    }

    // Extended at one node: the next request, at another one, does not take it back.
    assert!(ann.open("/").is_from_origin());
    let before = expires(&pass(&ann));
    ann.moves_to(&nodes[1]);
    assert!(ann.open("/command?c=extend").is_from_origin());
    let extended = expires(&pass(&ann));
    assert!(extended >= before + 250, "one idle time more: {before} → {extended}");
    for mut same in everywhere(&nodes, &ann) {
        assert!(same.open("/").is_from_origin());
        assert!(expires(&pass(&same)) >= extended, "nobody takes it back");
    }

    // Complete: the seat is Dee's, who asks another node; pictures may still come, pages may not.
    let done = bob.clone();
    bob.moves_to(&nodes[0]);
    assert!(bob.open("/command?c=complete").is_from_origin());
    dee.moves_to(&nodes[2]);
    dee.await_turn();
    assert!(dee.open("/").is_from_origin());
    over(&origin, &nodes, &done);

    // Revoke: nothing is left of it anywhere.
    let taken = cid.clone();
    cid.moves_to(&nodes[1]);
    assert!(cid.open("/command?c=revoke").is_from_origin());
    assert_eq!(cid.token(), None, "the cookie goes");
    eve.moves_to(&nodes[0]);
    eve.await_turn();
    over(&origin, &nodes, &taken);
    for mut same in everywhere(&nodes, &taken) {
        assert!(!same.fetch("/part").is_from_origin());
    }
    for mut same in everywhere(&nodes, &ann) {
        assert!(same.open("/").is_from_origin(), "Ann is where she was");
    }
}

/// Whoever kept the pass opens no page with it, at any node.
#[track_caller]
fn over(origin: &Origin, nodes: &[Gateway], visitor: &Visitor) {
    for same in everywhere(nodes, visitor) {
        eventually("no page for an old pass", || {
            (!same.clone().open("/").is_from_origin()).then_some(())
        });
    }
    origin.forget();
    for same in everywhere(nodes, visitor) {
        assert!(!same.clone().submit("/order", "a=b").is_from_origin());
    }
    assert!(origin.seen().is_empty());
}

/// Never silent for an idle time, each time at another node; and it ends where the cap is, on all of them.
#[test]
fn a_visit_over_all_nodes_lasts_beyond_the_idle_time_and_not_beyond_the_cap() {
    const IDLE: Duration = Duration::from_secs(3);
    const MAX: Duration = Duration::from_secs(10);
    let _alone = super::alone();
    let (_redis, _origin, nodes) =
        three("max_active = 2\nsession_idle = \"3s\"\nsession_max = \"10s\"");
    let came = Instant::now();
    let mut busy = enter(&nodes, 0);
    let admitted = Instant::now();
    let idle = enter(&nodes, 1);
    let mut waiting = Visitor::new(&nodes[2]);
    assert_eq!(waiting.open("/").state().as_deref(), Some("waiting"));
    let (mut round, mut freed) = (0, false);
    let lasted = loop {
        round += 1;
        busy.moves_to(&nodes[round % 3]);
        if !busy.fetch("/part").is_from_origin() {
            break admitted.elapsed();
        }
        assert!(came.elapsed() < 2 * MAX, "for ever");
        if !freed && waiting.status().json()["status"] == "admitted" {
            assert!(admitted.elapsed() > IDLE / 2, "the seat of whoever was silent");
            assert!(waiting.open("/").is_from_origin());
            freed = true;
        }
        std::thread::sleep(Duration::from_millis(200));
    };
    println!("{lasted:?} in {round} requests");
    assert!(freed, "who was silent for an idle time has lost the seat");
    assert!(lasted > 2 * IDLE, "beyond the idle time: {lasted:?}");
    // As the pass says: by the clock, to a second.
    assert!(came.elapsed() >= MAX - Duration::from_secs(1), "before its time");
    assert!(lasted < MAX + Duration::from_secs(3), "{lasted:?}");
    for visitor in [&busy, &idle] {
        for mut same in everywhere(&nodes, visitor) {
            assert!(!same.fetch("/part").is_from_origin(), "over on every node");
        }
    }
}
