//! Origins that fail, are slow, are several, and come back.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::support::forge::{kind, number};
use crate::support::{Config, Gateway, Origin, Request, Visitor, eventually};

#[test]
fn an_origin_that_is_down_gives_a_page_and_the_pass_all_the_same() {
    let mut origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1").start();
    origin.stop();
    let mut ann = Visitor::new(&gateway);
    let page = ann.open("/tickets?a=b");
    assert_eq!(page.status, 502, "{page:?}");
    assert_eq!(page.state().as_deref(), Some("error"), "{page:?}");
    assert!(page.text().contains("href=\"/tickets?a=b\""), "{}", page.text());
    assert!(page.header("cache-control").is_some_and(|value| value.contains("no-store")));
    assert!(!page.until_close && page.header("content-length").is_some());
    let pass = ann.token().expect("a pass").1;
    assert_eq!(kind(&pass), "anteroom-pass");
    let json = ann.send(Request::get("/api").with("Accept", "application/json"));
    assert_eq!((json.status, json.code().as_str()), (502, "origin_unavailable"), "{json:?}");
    let sent = ann.submit("/order", "a=b");
    assert_eq!(sent.status, 502, "{sent:?}");
    assert_eq!(gateway.connect().ask(&Request::get("/.anteroom/health")).status, 200);
    let mut bob = Visitor::new(&gateway);
    assert_eq!(bob.open("/").state().as_deref(), Some("waiting"), "the seat is hers");
    origin.start_again();
    let page =
        eventually("it is back", || Some(ann.open("/")).filter(|page| page.is_from_origin()));
    assert_eq!(page.status, 200);
    assert_eq!(origin.last().header("x-anteroom-number"), Some(number(&pass).to_string().as_str()));
}

#[test]
fn an_origin_that_is_slow_gives_a_page_in_time() {
    let origin = Origin::start();
    let site = "health_interval = \"none\"\nread_timeout = \"1s\"";
    let gateway = Gateway::before(&origin).site(site).room("sale", "max_active = 1").start();
    let mut ann = Visitor::new(&gateway);
    let began = Instant::now();
    let page = ann.open("/slow?ms=8000");
    assert_eq!(page.status, 504, "{page:?}");
    assert!(began.elapsed() < Duration::from_secs(6), "{:?}", began.elapsed());
    assert!(ann.token().is_some(), "the pass comes with it: {page:?}");
    assert_eq!(page.state().as_deref(), Some("error"));
    assert!(ann.open("/").is_from_origin(), "others of its pages are fine");
    assert_eq!(origin.seen_at("/slow").len(), 1, "asked once");
}

#[test]
fn a_response_that_breaks_off_is_not_made_whole() {
    let mut origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "paths = [\"/x\"]").start();
    let mut connection = gateway.connect();
    connection.send(&Request::get("/stream?chunks=50&ms=100&bytes=1000").bytes());
    connection.read_head();
    connection.read_chunk();
    origin.stop();
    let mut ended = false;
    for _ in 0..60 {
        match connection.try_read_chunk() {
            Ok(chunk) if chunk.is_empty() => panic!("an end that was never said"),
            Ok(_) => {}
            Err(_) => {
                ended = true;
                break;
            }
        }
    }
    assert!(ended);
}

#[test]
fn what_may_have_been_done_is_not_done_twice() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "paths = [\"/x\"]").start();
    // A connection that is kept, so that the next request goes over one that was used before.
    assert!(gateway.connect().ask(&Request::get("/echo")).is_from_origin());
    let answer = gateway.connect().ask(&Request::post("/cut", "order=1"));
    assert_eq!(answer.status, 502, "{answer:?}");
    assert_eq!(origin.seen_at("/cut").len(), 1);
    let answer = gateway.connect().ask(&Request::get("/cut"));
    assert_eq!(answer.status, 502, "{answer:?}");
    assert!(origin.seen_at("/cut").len() <= 4);
}

/// Answers by the name of who gave them.
fn tally(gateway: &Gateway, requests: usize) -> BTreeMap<String, usize> {
    let mut tally = BTreeMap::new();
    for n in 0..requests {
        let answer = gateway.connect().ask(&Request::get(&format!("/{n}")));
        let name = answer.header("x-origin").map_or(answer.status.to_string(), str::to_owned);
        *tally.entry(name).or_default() += 1;
    }
    tally
}

#[test]
fn several_origins_share_the_work_and_stand_in_for_each_other() {
    let mut origins = ["a", "b", "c"].map(Origin::named);
    let servers: Vec<String> = origins.iter().map(|origin| origin.address().to_string()).collect();
    let config =
        Config::new(&servers).site("health_interval = \"1s\"").room("sale", "paths = [\"/x\"]");
    let gateway = Gateway::start(config);
    let shares = tally(&gateway, 30);
    assert_eq!(shares.len(), 3, "{shares:?}");
    assert!(shares.values().all(|share| *share >= 5), "{shares:?}");

    origins[1].stop();
    let shares = tally(&gateway, 30);
    assert_eq!(shares.keys().collect::<Vec<_>>(), ["a", "c"], "nobody notices: {shares:?}");

    origins[0].stop();
    origins[2].stop();
    let shares = tally(&gateway, 5);
    assert_eq!(shares.keys().collect::<Vec<_>>(), ["502"], "{shares:?}");

    for origin in &mut origins {
        origin.start_again();
    }
    assert!(!tally(&gateway, 1).contains_key("502"), "the first that is back serves at once");
    eventually("all share again", || (tally(&gateway, 9).len() == 3).then_some(()));
}

#[test]
fn a_sick_server_is_left_out() {
    let origins = ["well", "sick"].map(Origin::named);
    let servers: Vec<String> = origins.iter().map(|origin| origin.address().to_string()).collect();
    // The site says 404 to this, unless it is asked for by the one that is well.
    let site = "health_interval = \"1s\"\nhealth_path = \"/reply?status=500\"";
    let gateway = Gateway::start(Config::new(&servers).site(site).room("sale", "paths = [\"/x\"]"));
    eventually("the checks have been made", || {
        let checked = origins.iter().all(|origin| origin.seen_at("/reply").len() >= 3);
        checked.then_some(())
    });
    let answer = gateway.connect().ask(&Request::get("/"));
    assert!(answer.is_from_origin(), "if all seem sick, they are asked all the same: {answer:?}");
}

#[test]
fn a_connection_the_origin_closed_meanwhile_costs_nobody_an_error() {
    let mut origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "paths = [\"/x\"]").start();
    for turn in 0..10 {
        let answer = gateway.connect().ask(&Request::get(&format!("/echo?{turn}")));
        assert!(answer.is_from_origin(), "{turn}: {answer:?}");
        origin.stop();
        origin.start_again();
    }
}

#[test]
fn connections_to_the_origin_are_kept() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "paths = [\"/x\"]").start();
    for _ in 0..30 {
        assert!(gateway.connect().ask(&Request::get("/echo")).is_from_origin());
    }
    assert!(origin.accepted() <= 5, "{} connections for 30 requests", origin.accepted());
}
