//! Apps: a pass in a header, and its renewal under the same name.

use std::time::Duration;

use serde_json::json;

use crate::support::forge::{expires, number};
use crate::support::{Gateway, Origin, Request, eventually};

fn join(gateway: &Gateway, device: &str) -> serde_json::Value {
    let body = json!({ "event_id": "sale", "device_id": device, "user_id": "usr_1" });
    let answer = gateway.connect().ask(&Request::call("/.anteroom/v1/queue/join", &body));
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

#[test]
fn a_pass_in_a_header_opens_the_door() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1").start();
    let joined = join(&gateway, "phone-1");
    assert_eq!(joined["status"], "admitted", "{joined}");
    let pass = joined["token"].as_str().expect("a pass");
    let asked = Request::get("/echo").with("Accept", "application/json");
    let answer = gateway.connect().ask(&asked.clone().with("X-Admission-Pass", pass));
    assert!(answer.is_from_origin(), "{answer:?}");
    let seen = origin.last();
    assert_eq!(seen.header("x-admission-pass"), None, "the origin gets it under our name");
    assert_eq!(seen.header("x-anteroom-pass"), Some(pass));
    assert_eq!(seen.header("x-anteroom-claimed-user"), Some("usr_1"));
    assert_eq!(seen.header("x-anteroom-user"), None, "a body's word is no proof");
    let answer = gateway.connect().ask(&asked);
    assert_eq!((answer.status, answer.code().as_str()), (503, "waiting_room"));
    let waiting = join(&gateway, "phone-2");
    assert_eq!(waiting["status"], "waiting");
    let ticket = waiting["queue_id"].as_str().expect("a ticket");
    let answer = gateway.connect().ask(&asked.with("X-Admission-Pass", ticket));
    assert!(!answer.is_from_origin(), "a ticket is no pass: {answer:?}");
}

#[test]
fn a_renewed_pass_comes_under_the_same_name() {
    let origin = Origin::start();
    let room = "max_active = 1\nsession_idle = \"4s\"\nsession_first = \"4s\"";
    let gateway = Gateway::before(&origin).room("sale", room).start();
    let joined = join(&gateway, "phone-1");
    let pass = joined["token"].as_str().expect("a pass").to_owned();
    let renewed = eventually("a renewal", || {
        std::thread::sleep(Duration::from_millis(100));
        let asked = Request::get("/echo").with("X-Admission-Pass", &pass);
        let answer = gateway.connect().ask(&asked);
        assert!(answer.is_from_origin(), "{answer:?}");
        assert_eq!(answer.header("set-cookie"), None, "an app has no cookies");
        answer.header("x-admission-pass").filter(|new| **new != pass).map(str::to_owned)
    });
    assert_eq!(number(&renewed), number(&pass));
    assert!(expires(&renewed) > expires(&pass));
    let asked = Request::get("/echo").with("X-Admission-Pass", &renewed);
    assert!(gateway.connect().ask(&asked).is_from_origin());
}

#[test]
fn what_an_origin_orders_reaches_an_app_without_cookies() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "").start();
    for (command, hands_out) in
        [("extend", true), ("complete", true), ("revoke", false), ("requeue", false)]
    {
        let joined = join(&gateway, command);
        let pass = joined["token"].as_str().expect("a pass");
        let asked = |target: &str| Request::get(target).with("X-Admission-Pass", pass);
        let answer = gateway.connect().ask(&asked(&format!("/command?c={command}")));
        assert!(answer.is_from_origin(), "{command}: {answer:?}");
        assert_eq!(answer.header("set-cookie"), None, "{command}: {answer:?}");
        assert_eq!(answer.header("x-admission-pass").is_some(), hands_out, "{command}: {answer:?}");
        if !hands_out {
            eventually("the pass is void", || {
                (!gateway.connect().ask(&asked("/part")).is_from_origin()).then_some(())
            });
        }
    }
}

#[test]
fn an_app_that_waits_is_let_in_by_asking() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1").start();
    let first = join(&gateway, "phone-1");
    let second = join(&gateway, "phone-2");
    let ticket = second["queue_id"].as_str().expect("a ticket").to_owned();
    let done = json!({ "token": first["token"] });
    let answer = gateway.connect().ask(&Request::call("/.anteroom/v1/admission/complete", &done));
    assert_eq!(answer.status, 200, "{answer:?}");
    let target = format!("/.anteroom/v1/queue/status?queue_id={ticket}");
    let status = eventually("the turn", || {
        let status = gateway.connect().ask(&Request::get(&target)).json();
        (status["status"] == "admitted").then_some(status)
    });
    let pass = status["token"].as_str().expect("a pass");
    let answer = gateway.connect().ask(&Request::get("/echo").with("X-Admission-Pass", pass));
    assert!(answer.is_from_origin(), "{answer:?}");
    let again = gateway.connect().ask(&Request::get(&target)).json();
    assert_eq!(again["token"], status["token"], "the same token, byte for byte");
}
