//! Leaving the line, and turns that go by.

use crate::support::forge::number;
use crate::support::{Gateway, Origin, Visitor, eventually};

/// A line shows those who left until it is swept: every half of `heartbeat_timeout`.
const SWEPT_OFTEN: &str = "max_active = 1\nheartbeat_timeout = \"5s\"";

/// Ann is inside, the others wait in order.
fn line<const N: usize>(room: &str) -> (Origin, Gateway, Visitor, [Visitor; N]) {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", room).start();
    let mut ann = Visitor::new(&gateway);
    assert!(ann.open("/").is_from_origin());
    let others = [(); N].map(|()| {
        let mut visitor = Visitor::new(&gateway);
        assert_eq!(visitor.open("/").state().as_deref(), Some("waiting"));
        visitor
    });
    (origin, gateway, ann, others)
}

#[test]
fn who_leaves_makes_room_for_those_behind() {
    let (_origin, _gateway, _ann, [mut bob, mut cid]) = line(SWEPT_OFTEN);
    let before = number(&bob.token().expect("a ticket").1);
    let left = bob.leave();
    assert_eq!(left.status, 200, "{left:?}");
    assert_eq!(left.json()["reason"], "left");
    assert_eq!(bob.token(), None, "the cookie goes: {left:?}");
    eventually("cid moves up", || (cid.position() == 1).then_some(()));
    assert_eq!(bob.open("/").state().as_deref(), Some("waiting"));
    assert!(number(&bob.token().expect("a ticket").1) > before, "at the end");
    assert_eq!(bob.position(), 2);
}

#[test]
fn leaving_works_without_scripts() {
    let (_origin, _gateway, _ann, [mut bob, mut cid]) = line(SWEPT_OFTEN);
    let page = bob.submit("/.anteroom/v1/queue/leave", "event_id=sale&to=%2Ftickets");
    assert_eq!(page.status, 200, "{page:?}");
    assert_eq!(page.state().as_deref(), Some("expired"), "{page:?}");
    assert!(page.text().contains("value=\"/tickets\""), "{}", page.text());
    assert_eq!(bob.token(), None);
    eventually("cid moves up", || (cid.position() == 1).then_some(()));
}

#[test]
fn who_is_inside_and_leaves_frees_the_seat() {
    let (_origin, _gateway, mut ann, [mut bob]) = line("max_active = 1");
    assert_eq!(ann.leave().status, 200);
    bob.await_turn();
    assert!(bob.open("/").is_from_origin());
}

#[test]
fn another_site_cannot_make_anybody_leave() {
    use crate::support::Request;
    let (_origin, _gateway, _ann, [mut bob]) = line("max_active = 1");
    for site in ["cross-site", "same-site", "none"] {
        let form = Request::post("/.anteroom/v1/queue/leave", "event_id=sale")
            .with("Content-Type", "application/x-www-form-urlencoded")
            .with("Sec-Fetch-Site", site)
            .by_browser();
        let answer = bob.send(form);
        assert!(answer.status >= 400, "{site}: {answer:?}");
        let call = Request::post("/.anteroom/v1/queue/leave", "{}").with("Sec-Fetch-Site", site);
        assert!(bob.send(call).status >= 400, "{site}");
    }
    assert_eq!(bob.position(), 1);
}

#[test]
fn a_turn_that_went_by_asks_before_it_joins_again_while_others_wait() {
    let room = "max_active = 1\nclaim_window = \"1s\"";
    let (_origin, _gateway, mut ann, [mut bob, mut cid, mut dan]) = line(room);
    ann.complete();
    bob.await_turn();
    cid.await_turn();
    assert!(cid.open("/").is_from_origin());
    assert_eq!(dan.status().json()["status"], "waiting");
    let gone = bob.status();
    assert_eq!((gone.status, gone.json()["reason"].as_str()), (410, Some("passed")), "{gone:?}");
    let page = bob.open("/tickets");
    assert_eq!(page.state().as_deref(), Some("expired"), "{page:?}");
    assert!(page.text().contains("action=\"/.anteroom/rejoin\""));
    assert_eq!(page.header("set-cookie"), None, "not by itself");
    let back = bob.submit("/.anteroom/rejoin", "event_id=sale&to=%2Ftickets");
    assert_eq!((back.status, back.header("location")), (303, Some("/tickets")), "{back:?}");
    assert_eq!(bob.token(), None);
    assert_eq!(bob.open("/tickets").state().as_deref(), Some("waiting"));
    assert_eq!(bob.position(), 2, "at the end");
}

#[test]
fn a_turn_that_went_by_joins_again_by_itself_where_nobody_waits() {
    let room = "max_active = 1\nclaim_window = \"1s\"";
    let (_origin, _gateway, mut ann, [mut bob]) = line(room);
    ann.complete();
    bob.await_turn();
    eventually("the turn goes by", || (bob.status().status == 410).then_some(()));
    assert!(bob.open("/").is_from_origin(), "there is room, and nobody waits");
}

#[test]
fn the_rejoin_button_takes_nobodys_place_away() {
    let (_origin, _gateway, _ann, [mut bob, _cid]) = line("max_active = 1");
    let answer = bob.submit("/.anteroom/rejoin", "event_id=sale&to=%2F");
    assert_eq!(answer.status, 303, "{answer:?}");
    assert!(bob.token().is_some(), "whoever waits keeps their place: {answer:?}");
    assert_eq!(bob.position(), 1);
}
