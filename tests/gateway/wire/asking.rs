//! `GET queue/status` and `POST queue/heartbeat`: 200, 400, 404, 410.

use serde_json::json;

use super::{assert_time, call, join, room, status, ticket};
use crate::support::{Gateway, Origin, Request, eventually};

/// Where there is a pace there is an estimate; where turns come by hand alone, or not at all, there is none.
#[test]
fn an_estimate_is_told_where_there_is_one() {
    for (text, known) in [("rate = \"1/m\"", true), ("rate = 0", false), ("mode = \"hold\"", false)]
    {
        let (_origin, gateway) = room(text);
        ticket(&gateway, "first");
        let said = status(&gateway, &ticket(&gateway, "mine")).json();
        assert_eq!(said["status"], "waiting", "{text}: {said}");
        assert!(said["estimated_wait_seconds"].is_u64(), "{text}: {said}");
        let [low, high] = ["low", "high"].map(|end| said["eta"][end].as_u64());
        assert_eq!(low.zip(high).is_some_and(|(low, high)| low < high), known, "{text}: {said}");
        assert_eq!(said["eta"].is_null(), !known, "{text}: {said}");
    }
}

#[test]
fn a_status_has_every_field() {
    let (_origin, gateway) = room("mode = \"hold\"\npage = { message = \"Soon\" }");
    ticket(&gateway, "first");
    let mine = ticket(&gateway, "mine");
    let answer = status(&gateway, &mine);
    assert_eq!(answer.status, 200, "{answer:?}");
    let said = answer.json();
    assert_eq!(said["queue_id"], mine, "the same one");
    assert_eq!((&said["position"], &said["status"]), (&2.into(), &"waiting".into()), "{said}");
    assert!(said["estimated_wait_seconds"].is_u64(), "{said}");
    for name in ["enqueued_at", "last_heartbeat", "server_time"] {
        assert_time(&said[name]);
    }
    assert_eq!((&said["waiting"], &said["message"]), (&2.into(), &"Soon".into()), "{said}");
    assert!(said.get("eta").is_some() && said["paused"].is_boolean(), "{said}");
    let bearer =
        Request::get("/.anteroom/v1/queue/status").with("Authorization", &format!("Bearer {mine}"));
    assert_eq!(gateway.connect().ask(&bearer).json()["position"], 2);
    let head = gateway
        .connect()
        .ask(&Request::new("HEAD", &format!("/.anteroom/v1/queue/status?queue_id={mine}")));
    assert_eq!(head.status, 200);
}

/// A ticket in a query is a secret like any other, whatever goes wrong.
#[test]
fn no_ticket_in_a_query_is_ever_logged() {
    let mut origin = Origin::start();
    let plan = Gateway::before(&origin).room("sale", "mode = \"hold\"\npaths = [\"/guarded\"]");
    let gateway = plan.tables("[log]\nlevel = \"debug\"").start();
    let mine = ticket(&gateway, "mine");
    assert_eq!(status(&gateway, &mine).status, 200);
    let beat = format!("/.anteroom/v1/queue/heartbeat?queue_id={mine}");
    assert_eq!(gateway.connect().ask(&Request::post(&beat, "{")).status, 400);
    let mut cut = gateway.connect();
    cut.send(&Request::new("POST", &beat).with("Content-Length", "100").bytes());
    drop(cut);
    origin.stop();
    // The short way, and the long one.
    let page = format!("/page?queue_id={mine}");
    assert_eq!(gateway.connect().ask(&Request::get(&page)).status, 502);
    assert_eq!(gateway.connect().ask(&Request::post(&page, "a=b")).status, 502);
    eventually("the failure is logged", || gateway.log_contains("POST /page").then_some(()));
    assert!(!gateway.log_contains(&mine), "{}", gateway.log().text());
}

#[test]
fn a_heartbeat_says_when_the_next_is_due() {
    let (_origin, gateway) = room("mode = \"hold\"");
    let mine = ticket(&gateway, "mine");
    let answer = call(&gateway, "queue/heartbeat", &json!({ "queue_id": mine }));
    assert_eq!(answer.status, 200, "{answer:?}");
    let said = answer.json();
    assert_eq!(said["queue_id"], mine);
    assert_eq!((&said["position"], &said["status"]), (&1.into(), &"waiting".into()));
    assert!(
        said["next_heartbeat_seconds"].as_u64().is_some_and(|s| (1..=30).contains(&s)),
        "{said}"
    );
    assert_time(&said["server_time"]);
}

#[test]
fn without_a_ticket_400_with_a_wrong_one_404() {
    let (_origin, gateway) = room("mode = \"hold\"");
    let get = |target: &str| gateway.connect().ask(&Request::get(target));
    let nothing = get("/.anteroom/v1/queue/status");
    assert_eq!((nothing.status, nothing.code().as_str()), (400, "missing_ticket"));
    let nothing = call(&gateway, "queue/heartbeat", &json!({}));
    assert_eq!((nothing.status, nothing.code().as_str()), (400, "missing_ticket"));
    for wrong in ["x", "q_abc123", "a.b.c", "%00", "eyJhbGciOiJub25lIn0.e30."] {
        let answer = status(&gateway, wrong);
        assert_eq!((answer.status, answer.code().as_str()), (404, "unknown_ticket"), "{wrong}");
        let beat = call(&gateway, "queue/heartbeat", &json!({ "queue_id": wrong }));
        assert_eq!((beat.status, beat.code().as_str()), (404, "unknown_ticket"), "{wrong}");
    }
    let other = get("/.anteroom/v1/queue/status?event_id=none&queue_id=x");
    assert_eq!((other.status, other.code().as_str()), (400, "unknown_event"));
    for (method, target) in
        [("POST", "queue/status"), ("GET", "queue/heartbeat"), ("PUT", "queue/join")]
    {
        let request =
            Request::new(method, &format!("/.anteroom/v1/{target}")).with("Content-Length", "0");
        let answer = gateway.connect().ask(&request);
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (405, "method_not_allowed"),
            "{method} {target}"
        );
        assert!(answer.header("allow").is_some());
    }
    assert_eq!(get("/.anteroom/v1/nothing").code(), "not_found");
}

#[test]
fn admitted_with_the_token_and_the_same_one_until_it_is_used_up() {
    let (_origin, gateway) = room("max_active = 1");
    let first = join(&gateway, "first").json();
    let mine = ticket(&gateway, "mine");
    let done = call(&gateway, "admission/complete", &json!({ "token": first["token"] }));
    assert_eq!((done.status, &done.json()["status"]), (200, &"completed".into()), "{done:?}");
    let said = eventually("the turn", || {
        let said = status(&gateway, &mine).json();
        (said["status"] == "admitted").then_some(said)
    });
    assert_eq!(said["position"], 0, "{said}");
    assert!(said["token"].is_string(), "{said}");
    assert_time(&said["expires_at"]);
    let beat = call(&gateway, "queue/heartbeat", &json!({ "queue_id": mine }));
    assert_eq!((beat.status, &beat.json()["token"]), (200, &said["token"]), "{beat:?}");
    assert_eq!(status(&gateway, &mine).json()["token"], said["token"]);
    let completed = call(&gateway, "admission/complete", &json!({ "token": said["token"] }));
    assert_eq!(completed.status, 200);
    for answer in
        [status(&gateway, &mine), call(&gateway, "queue/heartbeat", &json!({ "queue_id": mine }))]
    {
        assert_eq!((answer.status, answer.code().as_str()), (410, "gone"), "{answer:?}");
        assert_eq!(answer.json()["reason"], "completed", "{answer:?}");
        assert_time(&answer.json()["server_time"]);
    }
}

#[test]
fn gone_says_why() {
    let (_origin, gateway) = room("max_active = 1\nclaim_window = \"1s\"");
    let first = join(&gateway, "first").json();
    let passed = ticket(&gateway, "passed");
    call(&gateway, "admission/complete", &json!({ "token": first["token"] }));
    // Nobody asks for the one whose turn it is, until it is over.
    std::thread::sleep(std::time::Duration::from_millis(2_500));
    let gone = eventually("the turn is over", || {
        Some(status(&gateway, &passed)).filter(|answer| answer.status != 200)
    });
    assert_eq!((gone.status, &gone.json()["reason"]), (410, &"passed".into()), "{gone:?}");
    // Admitted, and the token has run out since.
    let (_origin, gateway) = room("max_active = 1\nsession_idle = \"1s\"");
    let inside = join(&gateway, "idle").json();
    assert!(inside["token"].is_string(), "{inside}");
    let inside = inside["queue_id"].as_str().expect("a ticket").to_owned();
    // Who asks too often is told that instead.
    std::thread::sleep(std::time::Duration::from_millis(2_500));
    let gone = eventually("the session is over", || {
        Some(status(&gateway, &inside)).filter(|answer| answer.status != 200)
    });
    assert_eq!((gone.status, gone.code().as_str()), (410, "gone"), "{gone:?}");
    assert_eq!(gone.json()["reason"], "idle", "{gone:?}");
    assert_eq!(gone.json().get("token"), None, "{gone:?}");
    let beat = call(&gateway, "queue/heartbeat", &json!({ "queue_id": inside }));
    assert_eq!((beat.status, &beat.json()["reason"]), (410, &"idle".into()), "{beat:?}");
}

#[test]
fn who_left_is_gone() {
    let (_origin, gateway) = room("mode = \"hold\"");
    let left = ticket(&gateway, "left");
    let gave_up = call(&gateway, "queue/leave", &json!({ "queue_id": left }));
    assert_eq!((gave_up.status, &gave_up.json()["reason"]), (200, &"left".into()), "{gave_up:?}");
    let again = call(&gateway, "queue/leave", &json!({ "queue_id": left }));
    assert_eq!(again.status, 200, "what is given up stays so: {again:?}");
    let patience = std::time::Duration::from_secs(5);
    let gone = crate::support::within(patience, "a place that was given up is gone", || {
        Some(status(&gateway, &left)).filter(|answer| answer.status != 200)
    });
    assert_eq!((gone.status, &gone.json()["reason"]), (410, &"left".into()), "{gone:?}");
}

#[test]
fn a_page_asks_by_its_cookie_and_learns_no_token() {
    use crate::support::Visitor;
    let (_origin, gateway) = room("max_active = 1");
    let [mut ann, mut bob] = [(); 2].map(|()| Visitor::new(&gateway));
    assert!(ann.open("/").is_from_origin());
    bob.open("/");
    let said = bob.status().json();
    assert_eq!(said.get("queue_id"), None, "{said}");
    assert_eq!(said["position"], 1);
    let beat = bob.call("queue/heartbeat", &json!({}));
    assert_eq!(beat.status, 200, "{beat:?}");
    assert_eq!(beat.json().get("queue_id"), None);
    let inside = ann.status().json();
    assert_eq!(inside["status"], "active", "{inside}");
    assert_eq!(inside.get("token"), None, "{inside}");
    ann.complete();
    bob.await_turn();
    let said = bob.status().json();
    assert_eq!(said.get("token"), None, "the page's next navigation enters: {said}");
    // Another site's page can't act by the cookie.
    let foreign = Request::call("/.anteroom/v1/queue/heartbeat", &json!({}))
        .with("Sec-Fetch-Site", "cross-site");
    let refused = bob.send(foreign);
    assert!((400..500).contains(&refused.status), "{refused:?}");
}

#[test]
fn requests_are_limited_by_ticket_and_by_address() {
    let origin = Origin::start();
    let plan = Gateway::before(&origin).room("sale", "mode = \"hold\"");
    let gateway =
        plan.limits("requests_per_ticket = \"5/m\"\nrequests_per_address = \"20/m\"").start();
    let (mine, other) = (ticket(&gateway, "mine"), ticket(&gateway, "other"));
    let statuses: Vec<u16> = (0..7).map(|_| status(&gateway, &mine).status).collect();
    assert_eq!(statuses, [200, 200, 200, 200, 200, 429, 429]);
    let limited = status(&gateway, &mine);
    assert_eq!(limited.code(), "rate_limited");
    assert!(limited.header("retry-after").is_some());
    assert_eq!(status(&gateway, &other).status, 200, "others are not meant");
    let guesses: Vec<u16> = (0..30).map(|_| status(&gateway, "a.guess.only").status).collect();
    assert_eq!((guesses[0], guesses[29]), (404, 429), "{guesses:?}");
    assert_eq!(status(&gateway, &other).status, 200, "and whoever has a ticket never pays for it");
}
