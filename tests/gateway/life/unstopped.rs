//! Rooms that stop nobody, or not everybody: bypass, shadow, and a rollout by percent.

use serde_json::{Value, json};

use crate::support::operator::OPERATOR;
use crate::support::redis::RedisServer;
use crate::support::{Config, Gateway, Operator, Origin, Request, Visitor, eventually};

fn start(room: &str) -> (Origin, Gateway, Operator) {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", room).start();
    let operator = Operator::with_key(&gateway, OPERATOR);
    (origin, gateway, operator)
}

fn patch(operator: &Operator, body: &Value) {
    let request = Request::new("PATCH", "/v1/rooms/sale").with("Content-Type", "application/json");
    let done = operator.send(Request { body: Some(body.to_string().into_bytes()), ..request });
    assert_eq!(done.status, 200, "{}", done.text());
}

/// Whatever somebody asks for, with or without anything of ours.
fn is_stopped_by_nothing(gateway: &Gateway) {
    let mut ann = Visitor::new(gateway);
    assert!(ann.open("/").is_from_origin());
    assert!(ann.fetch("/basket.json").is_from_origin());
    let mut stranger = Visitor::new(gateway);
    assert!(stranger.fetch("/basket.json").is_from_origin(), "a part of a page, without a pass");
    assert!(stranger.submit("/basket", "a=b").is_from_origin(), "a form, without a pass");
    assert_eq!(stranger.token(), None, "and none is given for it");
}

#[test]
fn in_bypass_and_in_shadow_nothing_is_refused() {
    for mode in ["bypass", "shadow"] {
        let (_origin, gateway, _) = start(&format!("mode = \"{mode}\"\nrate = 0\nmax_active = 1"));
        is_stopped_by_nothing(&gateway);
    }
}

#[test]
fn in_shadow_nobody_waits_and_who_would_have_is_told() {
    let origin = Origin::start();
    let room = "mode = \"shadow\"\nrate = \"1/h\"\nmax_waiting = 7";
    let plan = Gateway::before(&origin).room("sale", room);
    let gateway = plan.limits("join_per_address = \"2/m\"\nrequests_per_address = \"2/m\"").start();
    let operator = Operator::with_key(&gateway, OPERATOR);
    let mut visitors: Vec<Visitor> = (0..10).map(|_| Visitor::new(&gateway)).collect();
    for visitor in &mut visitors {
        assert!(visitor.open("/").is_from_origin());
        assert!(visitor.open("/again").is_from_origin());
    }
    let body = json!({ "event_id": "sale", "device_id": "d1" });
    let app = gateway.connect().ask(&Request::call("/.anteroom/v1/queue/join", &body));
    assert_eq!((app.status, &app.json()["status"]), (200, &json!("admitted")));
    // Of eleven one has the turn of the hour, seven would wait, and three find the line full.
    let report = eventually("all are reckoned", || {
        let report = operator.see("/v1/rooms/sale/shadow");
        (report["visitors"] == 11).then_some(report)
    });
    assert_eq!(report["would_have_waited"], 7, "{report:#}");
    assert_eq!(report["would_have_been_refused"], 3, "{report:#}");
    assert_eq!((&report["longest_line"], &report["waiting"]), (&json!(7), &json!(7)));
    assert!(report["longest_line_at"].is_string() && report["since"].is_string());
    assert_eq!(operator.see("/v1/rooms/sale")["shadow_waiting"], 7);

    patch(&operator, &json!({ "mode": "auto" }));
    eventually("the room counts", || {
        let mut late = Visitor::new(&gateway);
        (late.open("/").state().as_deref() == Some("waiting")).then_some(())
    });
    for visitor in &mut visitors {
        assert!(visitor.open("/").is_from_origin(), "whoever is inside stays");
    }
    assert_eq!(operator.see("/v1/rooms/sale")["shadow_waiting"], 0);
}

/// Visitors who differ by their programs.
fn crowd(gateway: &Gateway, count: usize) -> Vec<Visitor> {
    (0..count).map(|nth| Visitor::new(gateway).with("User-Agent", &format!("b/{nth}"))).collect()
}

/// Who of them is let through.
fn let_through(crowd: &mut [Visitor]) -> Vec<bool> {
    crowd.iter_mut().map(|visitor| visitor.open("/").is_from_origin()).collect()
}

#[test]
fn a_room_applies_to_a_part_of_its_visitors_and_to_the_same_ones_every_time() {
    let (origin, gateway, operator) = start("mode = \"hold\"\nrollout = 30");
    let mut people = crowd(&gateway, 400);
    let free = let_through(&mut people);
    let stopped = free.iter().filter(|free| !**free).count();
    assert!((80..=160).contains(&stopped), "{stopped} of 400, 120 are to be expected");
    assert_eq!(
        operator.see("/v1/rooms/sale")["joined_total"],
        stopped,
        "a number for each of these"
    );
    assert_eq!(operator.see("/v1/rooms/sale")["active"], 0, "the others hold no seat");
    assert_eq!(let_through(&mut people), free, "by what they were given");
    assert_eq!(let_through(&mut crowd(&gateway, 50)), free[..50], "and without cookies");

    let outside = free.iter().position(|free| *free).expect("somebody");
    let cookie = people[outside].token().expect("their lot").1;
    // From elsewhere, with another program: the cookie counts.
    let mut moved = Visitor::new(&gateway).with("User-Agent", "other/1");
    moved.learn_cookies(&people[outside]);
    assert!(moved.open("/").is_from_origin());
    let seen = origin.last();
    assert_eq!(
        seen.header("x-anteroom-pass"),
        Some(cookie.as_str()),
        "origins that check see a pass"
    );
    assert_eq!(seen.header("cookie"), None);
    let body = json!({ "event_id": "sale", "token": cookie });
    let judged = gateway.connect().ask(&Request::call("/.anteroom/v1/admission/verify", &body));
    assert_eq!(judged.json()["valid"], true, "{}", judged.text());

    patch(&operator, &json!({ "rollout": 60 }));
    eventually("the percentage is in force", || {
        (operator.see("/v1/rooms/sale")["rollout"] == 60).then_some(())
    });
    let later = let_through(&mut people);
    let more = later.iter().filter(|free| !**free).count();
    assert!((190..=290).contains(&more), "{more} of 400, 240 are to be expected");
    assert!(
        free.iter().zip(&later).all(|(before, now)| *before || !*now),
        "whoever was among the 30 is among the 60"
    );
    patch(&operator, &json!({ "rollout": 100 }));
    eventually("everybody", || {
        let all = let_through(&mut people);
        all.iter().all(|free| !*free).then_some(())
    });
    let judged = gateway.connect().ask(&Request::call("/.anteroom/v1/admission/verify", &body));
    assert_eq!(judged.json()["valid"], false, "the room applies to its holder");
    patch(&operator, &json!({ "rollout": null }));
    eventually("as the file says", || {
        (operator.see("/v1/rooms/sale")["rollout"] == 30).then_some(())
    });
    assert!(let_through(&mut people).iter().all(|free| !*free), "whoever waits goes on waiting");
}

/// Whoever was in the line and has left it is no stranger: wherever they come from next, the room still applies to them.
#[test]
fn who_has_left_stays_among_those_to_whom_the_room_applies() {
    let (_origin, gateway, _) = start("mode = \"hold\"\nrollout = 30");
    let mut people = crowd(&gateway, 40);
    let free = let_through(&mut people);
    let strangers: Vec<usize> = (0..free.len()).filter(|nth| free[*nth]).collect();
    for nth in (0..free.len()).filter(|nth| !free[*nth]).take(5) {
        let before = people[nth].token();
        assert_eq!(people[nth].leave().status, 200);
        let kept = people[nth].token().expect("their lot");
        assert_ne!(Some(&kept), before.as_ref(), "the place is gone");
        let body = json!({ "event_id": "sale", "token": kept.1 });
        let judged = gateway.connect().ask(&Request::call("/.anteroom/v1/admission/verify", &body));
        assert_eq!(judged.json()["valid"], false, "it lets nobody in: {}", judged.text());
        // From where others are let through.
        for stranger in strangers.iter().take(5) {
            let mut moved = Visitor::new(&gateway).with("User-Agent", &format!("b/{stranger}"));
            moved.learn_cookies(&people[nth]);
            let page = moved.open("/");
            assert_eq!(page.state().as_deref(), Some("waiting"), "{page:?}");
            assert_eq!(moved.leave().status, 200);
        }
    }
}

#[test]
fn an_app_outside_is_admitted_without_a_number() {
    let (_origin, gateway, operator) = start("mode = \"hold\"\nrollout = 0");
    let body = json!({ "event_id": "sale", "device_id": "d1" });
    let joined = gateway.connect().ask(&Request::call("/.anteroom/v1/queue/join", &body)).json();
    assert_eq!(
        (&joined["status"], &joined["position"]),
        (&json!("admitted"), &json!(0)),
        "{joined:#}"
    );
    let pass = joined["token"].as_str().expect("a pass");
    let with = Request::get("/app").with("X-Admission-Pass", pass);
    assert!(gateway.connect().ask(&with).is_from_origin());
    let queue_id = joined["queue_id"].as_str().expect("what to ask with");
    let target = format!("/.anteroom/v1/queue/status?queue_id={queue_id}");
    let status = gateway.connect().ask(&Request::get(&target));
    assert_eq!((status.status, &status.json()["status"]), (200, &json!("active")));
    assert_eq!(operator.see("/v1/rooms/sale")["joined_total"], 0);
}

/// One draws, another one knows; and three nodes reckon one shadow.
#[test]
fn nodes_agree() {
    let (redis, origin) = (RedisServer::start(), Origin::start());
    let node = |room: &str| {
        let config = Config::new(&[origin.address().to_string()]);
        Gateway::start(config.room("sale", room).store_at(&redis.url()))
    };
    let nodes = [(); 3].map(|()| node("mode = \"shadow\"\nrate = \"1/h\"\nrollout = 50"));
    let operator = Operator::with_key(&nodes[0], OPERATOR);
    eventually("a line", || {
        operator.see("/v1/rooms/sale")["view_age_seconds"].is_number().then_some(())
    });
    let mut crowds = nodes.each_ref().map(|node| crowd(node, 60));
    for visitor in crowds.iter_mut().flatten() {
        assert!(visitor.open("/").is_from_origin());
    }
    let seen = origin.seen();
    let numbered = seen.iter().filter(|seen| seen.header("x-anteroom-number").is_some());
    let joined = numbered.count() as u64;
    assert!((30..=150).contains(&joined), "{joined} of 180, 90 are to be expected");
    assert_eq!(joined % 3, 0, "the same lots on every node");
    for node in &nodes {
        let operator = Operator::with_key(node, OPERATOR);
        eventually("every node has heard of all", || {
            (operator.see("/v1/rooms/sale")["joined_total"] == joined).then_some(())
        });
    }
    // Whoever is let by on one node is on every other, wherever they come from by then.
    let outside = (0..60).find(|nth| {
        assert!(crowds[0][*nth].open("/").is_from_origin());
        origin.last().header("x-anteroom-number").is_none()
    });
    let outside = &crowds[0][outside.expect("one of sixty")];
    let (_, pass) = outside.token().expect("their lot");
    for node in &nodes {
        let mut moved = Visitor::new(node).with("User-Agent", "other/1");
        moved.learn_cookies(outside);
        assert!(moved.open("/").is_from_origin());
        let seen = origin.last();
        assert_eq!(seen.header("x-anteroom-number"), None);
        assert_eq!(seen.header("x-anteroom-pass"), Some(&*pass));
    }
    let report = operator.see("/v1/rooms/sale/shadow");
    assert_eq!(report["visitors"], joined, "{report:#}");
    assert_eq!(report["would_have_waited"], joined - 1, "{report:#}");
    for node in &nodes[1..] {
        let elsewhere = Operator::with_key(node, OPERATOR).see("/v1/rooms/sale/shadow");
        assert_eq!(elsewhere["would_have_waited"], report["would_have_waited"]);
    }
}
