//! Whoever is inside stays inside.

use std::time::Duration;

use super::*;
use crate::support::Request;
use crate::support::forge::{expires, keys, number, pass_like};

/// Passes that are good for four seconds, and renewed after half of one. Not less: the room's clock moves by two when the store
/// is back.
const SHORT: &str =
    "max_active = 1\npoll_max = \"1s\"\nsession_idle = \"4s\"\nsession_first = \"4s\"";

#[test]
fn a_pass_does_not_end_because_the_store_is_away() {
    let mut scene = Scene::new(SHORT, "");
    scene.lose(Manner::Hanging);
    let first = scene.ann.token().expect("a pass").1;
    let began = std::time::Instant::now();
    while began.elapsed() < Duration::from_secs(6) {
        assert!(scene.ann.open("/in").is_from_origin());
        std::thread::sleep(Duration::from_millis(300));
    }
    let renewed = scene.ann.token().expect("a pass").1;
    assert_eq!(number(&renewed), number(&first));
    assert!(expires(&renewed) > expires(&first), "longer than the first was good");
    scene.find();
    assert!(scene.ann.open("/in").is_from_origin());
    assert_eq!(scene.bob.open("/").state().as_deref(), Some("waiting"), "her seat is hers");
}

#[test]
fn one_that_ran_out_meanwhile_goes_on_with_the_request_that_brings_it() {
    let mut scene = Scene::new(SHORT, "");
    scene.lose(Manner::Refusing);
    let (name, first) = scene.ann.token().expect("a pass");
    std::thread::sleep(Duration::from_secs(5));
    let answer = scene.ann.submit("/buy", "a=b");
    assert!(answer.is_from_origin(), "a form must not be lost for it: {answer:?}");
    assert_ne!(scene.ann.token().expect("a pass").1, first);
    // But not one that had run out before.
    let mut eve = scene.gateway.visitor();
    let old = pass_like(&first, &keys("sale"), |pass| {
        pass.issued_at -= 600;
        pass.expires_at -= 600;
    });
    eve.keep(&name, &old);
    let page = eve.open("/");
    assert!(!page.is_from_origin(), "{page:?}");
}

#[test]
fn a_node_that_never_heard_of_the_store_lets_passes_in() {
    let mut scene = Scene::new(ROOM, "");
    let (name, pass) = scene.ann.token().expect("a pass");
    let (_, ticket) = scene.bob.token().expect("a ticket");
    let other = CutOff::starting(&scene.origin, ROOM, "", Manner::Refusing);
    let mut ann = other.visitor();
    ann.keep(&name, &pass);
    // The first request may be one too many for a store that has not been given up yet.
    let page = eventually("she is let in", || {
        Some(ann.open("/in")).filter(crate::support::Response::is_from_origin)
    });
    assert_eq!(page.status, 200);
    assert!(ann.fetch("/part").is_from_origin());
    let mut bob = other.visitor();
    bob.keep(&name, &ticket);
    let page = bob.open("/");
    assert_eq!((page.status, page.state().as_deref()), (503, Some("error")), "{page:?}");
    assert_eq!(page.header("set-cookie"), None, "his place is where it was");
    assert_eq!(scene.bob.position(), 1);
    let mut eve = other.visitor();
    eve.keep(&name, &pass.replace('a', "b"));
    assert!(!eve.open("/").is_from_origin(), "a signature is a signature");
}

#[test]
fn what_the_origin_orders_is_done_afterwards() {
    let mut scene = Scene::new(ROOM, "");
    scene.lose(Manner::Refusing);
    let page = scene.ann.open("/command?c=complete");
    assert!(page.is_from_origin());
    assert!(page.header("set-cookie").is_some(), "the pass that serves the pictures of thank you");
    scene.gateway.store_is(Manner::Well);
    scene.bob.await_turn();
    assert!(scene.bob.open("/").is_from_origin(), "the seat is free");
    let gone = scene.ann.send(Request::get("/.anteroom/v1/queue/status"));
    assert_eq!(gone.status, 410, "{gone:?}");
}
