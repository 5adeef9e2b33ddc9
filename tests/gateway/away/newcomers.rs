//! Whoever comes to a line that can't be reached.

use std::time::{Duration, Instant};

use serde_json::json;

use super::*;
use crate::support::forge::{kind, number};
use crate::support::operator::{ADMIN, Operator};
use crate::support::{CutOff, Origin, Request, eventually};

#[test]
fn their_arrival_is_recorded_and_they_get_their_places_by_it() {
    // Played again in three seconds: their moments are further apart than a client on a busy machine is late.
    let mut scene = Scene::new("max_active = 1\npoll_max = \"3s\"", "");
    scene.lose(Manner::Refusing);
    let mut crowd: Vec<Visitor> = Vec::new();
    for _ in 0..3 {
        let mut visitor = scene.gateway.visitor();
        let page = visitor.open("/tickets?day=1");
        assert_eq!((page.status, page.state().as_deref()), (503, Some("provisional")), "{page:?}");
        assert!((1..=5).contains(&retry_after(&page)));
        assert!(page.header("cache-control").is_some_and(|value| value.contains("no-store")));
        assert!(page.text().contains("Your arrival is recorded"), "{page:?}");
        let arrival = visitor.token().expect("a provisional ticket").1;
        assert_eq!(kind(&arrival), "anteroom-provisional");
        let again = visitor.open("/tickets?day=1");
        assert_eq!(again.state().as_deref(), Some("provisional"));
        assert_eq!(
            again.header("set-cookie"),
            None,
            "one arrival, however often the page is loaded"
        );
        crowd.push(visitor);
        std::thread::sleep(Duration::from_millis(1_500));
    }
    assert!(scene.origin.seen().is_empty());
    scene.find();
    // Somebody who comes now does not overtake them, and the last asks first.
    crowd.push(scene.gateway.visitor());
    let threads: Vec<_> = crowd
        .into_iter()
        .rev()
        .map(|mut visitor| {
            std::thread::spawn(move || {
                let page = until_placed(&mut visitor);
                assert_eq!(page.state().as_deref(), Some("waiting"), "{page:?}");
                number(&visitor.token().expect("a ticket").1)
            })
        })
        .collect();
    let mut numbers: Vec<u64> =
        threads.into_iter().map(|thread| thread.join().expect("a place")).collect();
    numbers.reverse();
    assert!(numbers.is_sorted(), "{numbers:?}");
    assert!(numbers[0] > number(&scene.bob.token().expect("a ticket").1));
    let mut after = scene.gateway.visitor();
    assert_eq!(until_placed(&mut after).state().as_deref(), Some("waiting"));
}

#[test]
fn only_a_page_has_an_arrival() {
    let mut scene = Scene::new(ROOM, "");
    scene.lose(Manner::Hanging);
    let mut visitor = scene.gateway.visitor();
    for answer in [visitor.fetch("/api"), visitor.submit("/buy", "a=b")] {
        assert_eq!(answer.header("set-cookie"), None, "{answer:?}");
        assert_eq!(answer.status, 503);
    }
    assert_eq!(visitor.send(Request::get("/.anteroom/health")).status, 200, "for balancers");
    assert!(scene.origin.seen().is_empty());
}

/// The row of the API's table: 503, the store is not available.
#[test]
fn an_app_that_joins_is_told_so_and_has_its_arrival_signed() {
    let mut scene = Scene::new(ROOM, "");
    scene.lose(Manner::Refusing);
    let app = scene.gateway.visitor();
    let body = json!({ "event_id": "sale", "device_id": "d1" });
    let answer = app.connect().ask(&Request::call("/.anteroom/v1/queue/join", &body));
    assert_eq!((answer.status, answer.code().as_str()), (503, "store_unavailable"), "{answer:?}");
    assert!((1..=5).contains(&retry_after(&answer)));
    let said = answer.json();
    assert_eq!((&said["status"], said.get("position")), (&"provisional".into(), None), "{said}");
    let arrival = said["queue_id"].as_str().expect("an arrival").to_owned();
    assert_eq!(kind(&arrival), "anteroom-provisional");
    assert!(said["server_time"].is_string() && said["next_poll_seconds"].is_u64(), "{said}");
    scene.find();
    // It asks when it is told to, and has a place.
    let until = Instant::now() + PATIENCE;
    let placed = loop {
        let target = format!("/.anteroom/v1/queue/status?queue_id={arrival}");
        let answer = app.connect().ask(&Request::get(&target));
        if answer.status == 200 {
            break answer.json();
        }
        assert!(Instant::now() < until, "{answer:?}");
        std::thread::sleep(Duration::from_secs(retry_after(&answer)));
    };
    assert_eq!((&placed["status"], &placed["position"]), (&"waiting".into(), &2.into()));
    assert_eq!(kind(placed["queue_id"].as_str().expect("a ticket")), "anteroom-ticket");
}

const CLASSES: &str =
    "mode = \"hold\"\npoll_max = \"1s\"\nclasses = { presale = { skip = 1.0, rank = 2 } }";

/// A link with an invite to a room.
fn link(gateway: &CutOff) -> String {
    let operator = Operator::of(gateway.admin(), Some(ADMIN));
    let made = operator.does("/v1/rooms/sale/invites", &json!({ "class": "presale" }));
    format!("/?anteroom_invite={}", made["invites"][0]["token"].as_str().expect("a token"))
}

/// The store fails at the moment at which somebody who waits opens a link: they have their place, and nothing is put over it.
#[test]
fn a_place_is_not_given_up_for_an_arrival() {
    for manner in [Manner::Refusing, Manner::Hanging] {
        let origin = Origin::start();
        let gateway = CutOff::before(&origin, CLASSES, "");
        let [mut ann, mut bob] = [(); 2].map(|()| gateway.visitor());
        for visitor in [&mut ann, &mut bob] {
            assert_eq!(visitor.open("/").state().as_deref(), Some("waiting"));
        }
        let ticket = bob.token();
        bob.open(&link(&gateway));
        gateway.store_is(manner);
        for _ in 0..3 {
            let page = bob.open("/");
            let state = page.state().unwrap_or_default();
            assert!(state.starts_with("waiting"), "{manner:?}: {page:?}");
            assert_eq!(page.shown("position").as_deref(), Some("2"), "{manner:?}");
            assert_eq!(page.header("set-cookie"), None, "{manner:?}: {page:?}");
        }
        gateway.store_is(Manner::Well);
        eventually("the invite is used", || {
            bob.open("/");
            (bob.status().json()["class"] == "presale").then_some(())
        });
        assert_ne!(bob.token(), ticket);
        assert_eq!(bob.position(), 1, "{manner:?}");
    }
}

/// Whoever comes meanwhile with an invite has its class with their place, though the cookie that kept it is gone by then.
#[test]
fn an_arrival_keeps_what_was_proven() {
    let origin = Origin::start();
    let gateway = CutOff::before(&origin, CLASSES, "");
    let mut ann = gateway.visitor();
    assert_eq!(ann.open("/").state().as_deref(), Some("waiting"));
    let link = link(&gateway);
    gateway.store_is(Manner::Refusing);
    eventually("the store is given up", || (ann.status().status == 503).then_some(()));
    let mut bob = gateway.visitor();
    bob.open(&link);
    assert_eq!(bob.open("/").state().as_deref(), Some("provisional"));
    let (name, arrival) = bob.token().expect("an arrival");
    assert_eq!(kind(&arrival), "anteroom-provisional");
    bob.forget();
    bob.keep(&name, &arrival);
    gateway.store_is(Manner::Well);
    until_placed(&mut bob);
    let told = bob.status().json();
    assert_eq!((&told["class"], &told["position"]), (&"presale".into(), &1.into()), "{told}");
}

/// Where visitors have names an arrival has none: it is asked for once its moment has come, in the browser and in an app.
#[test]
fn who_came_meanwhile_is_asked_for_a_name() {
    let origin = Origin::start();
    let room = "slots = [\"X\"]\nroster = true\npoll_max = \"1s\"";
    let gateway = CutOff::starting(&origin, room, "", Manner::Refusing);
    let [mut ann, mut bob] = [(); 2].map(|()| gateway.visitor());
    for visitor in [&mut ann, &mut bob] {
        eventually("their arrival is recorded", || {
            let page = visitor.open("/board");
            (page.state().as_deref() == Some("provisional")).then_some(())
        });
    }
    let join = |more: serde_json::Value, bearer: Option<&str>| {
        let mut body = json!({ "event_id": "sale", "device_id": "d1" });
        body.as_object_mut()
            .expect("an object")
            .extend(more.as_object().cloned().into_iter().flatten());
        let call = Request::call("/.anteroom/v1/queue/join", &body);
        gateway.visitor().connect().ask(&match bearer {
            Some(token) => call.with("Authorization", &format!("Bearer {token}")),
            None => call,
        })
    };
    let app = join(json!({ "name": "Cid" }), None).json();
    let arrival = app["queue_id"].as_str().expect("an arrival").to_owned();
    assert_eq!(kind(&arrival), "anteroom-provisional");
    gateway.store_is(Manner::Well);

    // One after the other: the form, with what is wrong with a name, and the place.
    for (visitor, name) in [(&mut ann, "Ann"), (&mut bob, "Bob")] {
        let page = until_placed(visitor);
        assert!(page.text().contains("What is your name?"), "{page:?}");
        assert_eq!(kind(&visitor.token().expect("still").1), "anteroom-provisional");
        if name == "Bob" {
            let taken = visitor.submit("/.anteroom/join", "name=ann&to=/board");
            assert!(taken.text().contains("Somebody here has this name already"), "{taken:?}");
        }
        let placed = visitor.submit("/.anteroom/join", &format!("name={name}&to=/board"));
        assert_eq!((placed.status, placed.header("location")), (303, Some("/board")), "{placed:?}");
        // One arrival is one place, however often the form is sent.
        let token = visitor.token().expect("a ticket").1;
        assert_eq!(kind(&token), "anteroom-ticket");
        visitor.submit("/.anteroom/join", "name=Other&to=/board");
        assert_eq!(visitor.token().expect("a ticket").1, token);
    }
    assert!(ann.open("/board").is_from_origin());
    assert_eq!(bob.open("/board").state().as_deref(), Some("waiting"));

    let told = Request::get(&format!("/.anteroom/v1/queue/status?queue_id={arrival}"));
    let answer = eventually("its moment", || {
        let answer = gateway.visitor().connect().ask(&told);
        (answer.status != 503).then_some(answer)
    });
    assert_eq!((answer.status, answer.code().as_str()), (400, "name_required"), "{answer:?}");
    let again = join(json!({ "name": "Cid" }), Some(&arrival)).json();
    assert_eq!((&again["status"], &again["position"]), (&"waiting".into(), &2.into()), "{again}");
    let roster = Request::get("/.anteroom/v1/queue/roster?event_id=sale");
    eventually("all by their names", || {
        let told = gateway.visitor().connect().ask(&roster).json();
        let names = |list: &str| told[list].as_array().cloned().unwrap_or_default();
        let names = [names("players"), names("waiting")].concat();
        let names: Vec<&str> = names.iter().filter_map(|one| one["name"].as_str()).collect();
        (names == ["Ann", "Bob", "Cid"]).then_some(())
    });
}

/// The store goes while they write their name: that they came counts, from then on.
#[test]
fn a_name_that_is_sent_too_late_is_an_arrival() {
    for manner in [Manner::Refusing, Manner::Hanging] {
        let origin = Origin::start();
        let room = "slots = [\"X\"]\nroster = true\npoll_max = \"1s\"";
        let gateway = CutOff::starting(&origin, room, "", Manner::Well);
        let mut ann = gateway.visitor();
        let page = until_placed(&mut ann);
        assert!(page.text().contains("What is your name?"), "{page:?}");
        gateway.store_is(manner);
        let sent = ann.submit("/.anteroom/join", "name=Ann&to=/board");
        assert_eq!(sent.state().as_deref(), Some("provisional"), "{manner:?}: {sent:?}");
        assert_eq!(kind(&ann.token().expect("an arrival").1), "anteroom-provisional");
        gateway.store_is(Manner::Well);
        let page = until_placed(&mut ann);
        assert!(page.text().contains("What is your name?"), "{manner:?}: {page:?}");
        let placed = ann.submit("/.anteroom/join", "name=Ann&to=/board");
        assert_eq!(placed.status, 303, "{manner:?}: {placed:?}");
        assert!(ann.open("/board").is_from_origin(), "{manner:?}");
    }
}

#[test]
fn nobody_waits_for_a_store_that_hangs() {
    let mut scene = Scene::new(ROOM, "");
    scene.gateway.store_is(Manner::Hanging);
    // The first may have to wait until the store is given up.
    let began = Instant::now();
    let mut first = scene.gateway.visitor();
    let page = first.open("/");
    assert_eq!(page.state().as_deref(), Some("provisional"), "{page:?}");
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    scene.lose(Manner::Hanging);
    let began = Instant::now();
    for _ in 0..20 {
        let page = scene.gateway.visitor().open("/");
        assert_eq!(page.state().as_deref(), Some("provisional"), "{page:?}");
    }
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
}

#[test]
fn a_start_without_a_store_listens_and_is_well_as_soon_as_it_is_there() {
    for manner in [Manner::Refusing, Manner::Hanging] {
        let origin = Origin::start();
        let gateway = CutOff::starting(&origin, ROOM, "", manner);
        let mut ann = gateway.visitor();
        assert_eq!(ann.send(Request::get("/.anteroom/health")).status, 200);
        let page = ann.open("/");
        assert_eq!(page.state().as_deref(), Some("provisional"), "{manner:?}: {page:?}");
        gateway.store_is(Manner::Well);
        let page = until_placed(&mut ann);
        assert!(page.is_from_origin(), "{manner:?}: there is room: {page:?}");
        assert_eq!(kind(&ann.token().expect("a pass").1), "anteroom-pass");
    }
}

#[test]
fn closed_means_nobody_new() {
    let mut scene = Scene::new(ROOM, "on_loss = \"closed\"");
    scene.lose(Manner::Refusing);
    let mut visitor = scene.gateway.visitor();
    let page = visitor.open("/");
    assert_eq!((page.status, page.state().as_deref()), (503, Some("error")), "{page:?}");
    assert_eq!(page.header("set-cookie"), None);
    assert!(page.text().contains("The line can’t be reached"), "{page:?}");
    assert!(scene.ann.open("/in").is_from_origin(), "passes go on working");
    scene.find();
    assert_eq!(visitor.open("/").state().as_deref(), Some("waiting"));
}

#[test]
fn open_means_everybody_without_a_pass_and_a_line_again_afterwards() {
    let mut scene = Scene::new(ROOM, "on_loss = \"open\"");
    scene.lose(Manner::Refusing);
    let mut visitor = scene.gateway.visitor();
    for answer in [visitor.open("/a"), visitor.fetch("/b"), visitor.submit("/c", "d=e")] {
        assert!(answer.is_from_origin(), "{answer:?}");
        assert_eq!(answer.header("set-cookie"), None, "nobody was given a pass");
    }
    assert!(scene.bob.open("/waited").is_from_origin(), "who waits is let through, too");
    let seen = scene.origin.seen();
    let told = |name: &str| seen.iter().any(|request| request.header(name).is_some());
    assert!(!told("x-anteroom-pass") && !told("x-anteroom-number"), "and the origin sees it");
    assert!(!seen.iter().any(|request| {
        request.header("cookie").is_some_and(|cookie| cookie.contains("anteroom-"))
    }));
    scene.find();
    assert_eq!(visitor.open("/a").state().as_deref(), Some("waiting"));
    assert_eq!(scene.bob.open("/").state().as_deref(), Some("waiting"), "Bob has his place still");
    assert_eq!(scene.bob.position(), 1);
}

#[test]
fn limits_hold_while_nobody_can_be_asked() {
    let origin = Origin::start();
    let gateway = CutOff::limited(&origin, ROOM, "join_per_address = \"3/m\"", Manner::Refusing);
    let pages: Vec<_> = (0..5).map(|_| gateway.visitor().open("/")).collect();
    let statuses: Vec<_> = pages.iter().map(|page| page.status).collect();
    assert_eq!(statuses, [503, 503, 503, 429, 429]);
    assert!(retry_after(&pages[4]) > 0);
}
