//! A line whose slot moves from one node of a cluster to another. The script names all keys of a line, those that do not exist,
//! too, and a slot that moves answers no question about a key that is not there: so the line is held for as long as that takes.

use crate::support::redis::Cluster;
use crate::support::{Config, Gateway, Origin, Visitor, eventually};

/// Visitors saw what they see when Redis is down, for as long as the slot moved, and nothing else: no answer was given by half a
/// line.
#[test]
fn a_line_whose_slot_moves_is_held_and_goes_on_by_itself() {
    let (cluster, origin) = (Cluster::start(), Origin::start());
    let key = "anteroom:{sale}:state";
    let (slot, from) = cluster.home(key);
    let to = (from + 1) % 3;
    let room = "max_active = 1\npoll_max = \"1s\"";
    let config = Config::new(&[origin.address().to_string()]).room("sale", room);
    let node = Gateway::start(config.store_at(&cluster.url()));
    let [mut ann, mut bob, mut eve] = [(); 3].map(|()| Visitor::new(&node));
    assert!(ann.open("/").is_from_origin());
    assert_eq!(bob.open("/").state().as_deref(), Some("waiting"));
    let issued = |at: usize| -> Option<u64> { cluster.nodes[at].ask(&["HGET", key, "issued"]) };
    let given = issued(from).expect("a line");

    // It begins, and no key has moved yet: those that do not exist are missing.
    cluster.begin_move(slot, from, to);
    node.events("store.lost", 1);
    assert!(cluster.nodes[from].errors("TRYAGAIN") > 0);
    let mut held = || {
        assert_eq!(bob.status().code(), "store_unavailable");
        assert!(ann.open("/").is_from_origin(), "passes work");
        assert_eq!(eve.open("/").state().as_deref(), Some("provisional"));
    };
    held();
    // Half of it has: nobody gives an answer by the other half.
    let keys = cluster.keys(slot, from);
    assert!(keys.len() > 2, "{keys:?}");
    let (some, rest) = keys.split_at(keys.len() / 2);
    cluster.migrate(some, from, to);
    let before = cluster.nodes[from].errors("TRYAGAIN");
    eventually("it is asked again", || {
        (cluster.nodes[from].errors("TRYAGAIN") > before).then_some(())
    });
    held();
    // All of it has: the old node sends us on, and the new one misses what does not exist.
    cluster.migrate(rest, from, to);
    eventually("it is asked for at the other one", || {
        let sent_on = cluster.nodes[from].errors("ASK") > 0;
        (sent_on && cluster.nodes[to].errors("TRYAGAIN") > 0).then_some(())
    });
    held();

    cluster.end_move(slot, to);
    node.events("store.back", 1);
    assert!(issued(to).is_some_and(|now| now >= given), "the line is there, whole");
    eventually("bob has his place", || (bob.status().status == 200).then_some(()));
    assert_eq!(bob.position(), 1);
    eventually("eve has one behind him", || {
        (eve.open("/").state().as_deref() == Some("waiting")).then_some(())
    });
    assert_eq!(eve.position(), 2);
    ann.complete();
    bob.await_turn();
    assert!(bob.open("/").is_from_origin());
}
