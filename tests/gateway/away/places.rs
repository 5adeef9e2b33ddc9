//! Whoever waits keeps their place, and sees where it was.

use super::*;
use crate::support::Request;

#[test]
fn the_page_stays_with_the_last_known_place() {
    for manner in [Manner::Refusing, Manner::Hanging, Manner::Mumbling] {
        let mut scene = Scene::new(ROOM, "");
        let ticket = scene.bob.token();
        scene.lose(manner);
        let page = scene.bob.open("/");
        assert_eq!(page.state().as_deref(), Some("waiting"), "{manner:?}: {page:?}");
        assert!(page.text().contains("data-anteroom-state=\"waiting reconnecting"), "{page:?}");
        assert_eq!(page.shown("position").as_deref(), Some("1"));
        assert_eq!(page.shown("label").as_deref(), Some("A-000002"));
        let told = scene.bob.status();
        assert_eq!((told.status, told.code().as_str()), (503, "store_unavailable"));
        assert_eq!(
            (&told.json()["position"], &told.json()["status"]),
            (&1.into(), &"waiting".into())
        );
        assert!(retry_after(&told) > 0);
        let json = scene.bob.send(Request::get("/").with("Accept", "application/json"));
        assert_eq!((json.status, json.code().as_str()), (503, "store_unavailable"));
        assert_eq!(json.json()["position"], 1);
        scene.find();
        assert_eq!(scene.bob.open("/").header("set-cookie"), None);
        assert_eq!((scene.bob.token(), scene.bob.position()), (ticket, 1));
        scene.ann.complete();
        scene.bob.await_turn();
        assert!(scene.bob.open("/").is_from_origin());
    }
}

#[test]
fn a_turn_that_has_come_is_kept_until_it_can_be_taken() {
    let mut scene = Scene::new(ROOM, "");
    scene.ann.complete();
    scene.bob.await_turn();
    scene.gateway.store_is(Manner::Refusing);
    eventually("the store is given up", || (scene.bob.status().status == 503).then_some(()));
    let page = scene.bob.open("/");
    assert_eq!((page.status, page.state().as_deref()), (503, Some("error")), "{page:?}");
    assert!(page.text().contains("Nobody loses their place"), "{page:?}");
    assert_eq!(page.header("set-cookie"), None);
    scene.gateway.store_is(Manner::Well);
    scene.bob.await_turn();
    assert!(scene.bob.open("/").is_from_origin());
}

#[test]
fn giving_up_a_place_has_to_wait() {
    let mut scene = Scene::new(ROOM, "");
    scene.lose(Manner::Refusing);
    let page = scene.bob.submit("/.anteroom/v1/queue/leave", "event_id=sale&to=/");
    assert_eq!((page.status, page.state().as_deref()), (503, Some("error")), "{page:?}");
    assert_eq!(scene.bob.leave().code(), "store_unavailable");
    // Joining again costs nobody the place they have.
    let page = scene.bob.submit("/.anteroom/rejoin", "to=/");
    assert_eq!((page.status, page.header("set-cookie")), (303, None));
    scene.find();
    assert_eq!(scene.bob.position(), 1, "whoever was told that it failed has not left");
}
