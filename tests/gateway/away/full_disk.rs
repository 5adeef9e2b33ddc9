//! A real process whose store is lost for good: its disk is full. And what was told meanwhile holds after a restart.

use super::*;
use crate::support::forge::{kind, number};
use crate::support::{Gateway, Request};

#[test]
fn a_full_disk_costs_nobody_their_place_or_their_seat() {
    let origin = Origin::start();
    let mut gateway = Gateway::before(&origin).room("sale", ROOM).embedded().start();
    let [mut ann, mut bob] = [(); 2].map(|()| Visitor::new(&gateway));
    assert!(ann.open("/").is_from_origin());
    bob.open("/");
    gateway.fill_disk();
    let mut cid = Visitor::new(&gateway);
    let page = cid.open("/");
    assert_eq!(page.state().as_deref(), Some("provisional"), "{page:?}");
    let arrival = cid.token().expect("an arrival").1;
    assert_eq!(kind(&arrival), "anteroom-provisional");
    assert!(ann.open("/in").is_from_origin());
    assert_eq!(bob.status().code(), "store_unavailable");
    assert_eq!(bob.send(Request::get("/.anteroom/health")).status, 200);
    let lost = gateway.events("store.lost", 1);
    assert_eq!(lost[0]["level"], "error", "{lost:?}");
    assert!(lost[0]["error"].as_str().is_some_and(|error| error.contains("the store has stopped")));
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(gateway.log().events("store.lost").len(), 1, "one line, however often it tries");

    // There is space again for the next process.
    gateway.crash_and_restart();
    for visitor in [&mut ann, &mut bob, &mut cid] {
        visitor.moves_to(&gateway);
    }
    assert!(ann.open("/in").is_from_origin());
    let page = until_placed(&mut cid);
    assert_eq!(page.state().as_deref(), Some("waiting"), "{page:?}");
    eventually("bob is in the line", || (bob.status().status == 200).then_some(()));
    let [bob, cid] = [bob, cid].map(|visitor| number(&visitor.token().expect("a ticket").1));
    assert!(bob < cid);
}
