//! The origin steers: `X-Anteroom-Command`.

use crate::support::forge::{expires, number};
use crate::support::{Gateway, Origin, Request, Visitor, eventually};

/// Ann is inside, Bob waits.
fn start() -> (Origin, Gateway, Visitor, Visitor) {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1").start();
    let [mut ann, mut bob] = [(); 2].map(|()| Visitor::new(&gateway));
    assert!(ann.open("/").is_from_origin());
    assert_eq!(bob.open("/").state().as_deref(), Some("waiting"));
    (origin, gateway, ann, bob)
}

#[test]
fn complete_frees_the_seat_and_the_thank_you_page_has_its_pictures() {
    let (origin, _gateway, mut ann, mut bob) = start();
    let page = ann.open("/command?c=complete");
    assert!(page.is_from_origin(), "{page:?}");
    assert_eq!(page.header("x-anteroom-command"), None, "that is between the two of us");
    bob.await_turn();
    let picture = ann.fetch("/thanks.png");
    assert!(picture.is_from_origin(), "{picture:?}");
    assert!(bob.open("/").is_from_origin());
    origin.forget();
    let page = ann.open("/again");
    assert!(!page.is_from_origin(), "a new page needs a new turn: {page:?}");
    assert!(!ann.submit("/order", "a=b").is_from_origin(), "and so does a form");
    assert!(origin.seen().is_empty());
}

#[test]
fn extend_gives_another_idle_time() {
    let (_origin, _gateway, mut ann, _bob) = start();
    let first = expires(&ann.token().expect("a pass").1);
    let page = ann.open("/command?c=extend");
    assert_eq!(page.header("x-anteroom-command"), None);
    let extended = expires(&ann.token().expect("a pass").1);
    // From the half minute of somebody who did not wait to five minutes.
    assert!(extended > first + 200, "{first} → {extended}");
}

#[test]
fn revoke_ends_it_at_once() {
    let (origin, gateway, mut ann, mut bob) = start();
    let old = ann.clone();
    let page = ann.open("/command?c=revoke");
    assert!(page.is_from_origin());
    assert_eq!(page.header("x-anteroom-command"), None);
    assert_eq!(ann.token(), None, "the cookie goes: {page:?}");
    origin.forget();
    // Whoever kept it all the same has nothing.
    let mut thief = old;
    eventually("the pass is void", || (!thief.fetch("/part").is_from_origin()).then_some(()));
    assert!(!thief.clone().open("/").is_from_origin());
    assert!(!thief.submit("/order", "a=b").is_from_origin());
    bob.await_turn();
    assert!(bob.open("/").is_from_origin());
    drop(gateway);
}

#[test]
fn requeue_sends_to_the_end_of_the_line() {
    let (_origin, gateway, mut ann, mut bob) = start();
    let before = number(&ann.token().expect("a pass").1);
    let mut cid = Visitor::new(&gateway);
    assert_eq!(cid.open("/").state().as_deref(), Some("waiting"));
    let page = ann.open("/command?c=requeue");
    assert!(page.is_from_origin());
    assert_eq!(page.header("x-anteroom-command"), None);
    bob.await_turn();
    assert_eq!(ann.open("/").state().as_deref(), Some("waiting"));
    assert!(number(&ann.token().expect("a ticket").1) > before);
    assert_eq!((cid.position(), ann.position()), (1, 2));
}

#[test]
fn what_is_no_command_does_nothing_and_is_not_shown() {
    let (_origin, gateway, mut ann, mut bob) = start();
    for command in ["", "explode", "complete,revoke", "COMPLETE!"] {
        let page = ann.open(&format!("/command?c={command}"));
        assert!(page.is_from_origin(), "{page:?}");
        assert_eq!(page.header("x-anteroom-command"), None, "{command}");
    }
    assert_eq!(bob.position(), 1);
    eventually("a warning", || gateway.log_contains("explode").then_some(()));
}

#[test]
fn outside_of_every_room_commands_are_removed_too() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "paths = [\"/x\"]").start();
    let page = gateway.connect().ask(&Request::get("/command?c=complete"));
    assert!(page.is_from_origin());
    assert_eq!(page.header("x-anteroom-command"), None, "{page:?}");
}

#[test]
fn a_visitor_commands_nothing() {
    let (_origin, _gateway, mut ann, mut bob) = start();
    let request = Request::get("/echo").with("X-Anteroom-Command", "complete");
    assert!(ann.send(request).is_from_origin());
    assert_eq!(bob.position(), 1);
    assert!(ann.open("/").is_from_origin());
}
