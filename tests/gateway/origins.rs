//! Origins that fail, are slow, are several, and come back.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};

use crate::support::forge::{kind, number};
use crate::support::http2::Http2;
use crate::support::site::pattern;
use crate::support::{Config, Gateway, Origin, Request, Visitor, eventually, tls};

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

/// Three servers, and a gateway before them that looks after them like this.
fn three(site: &str) -> ([Origin; 3], Gateway) {
    let origins = ["a", "b", "c"].map(Origin::named);
    let servers: Vec<String> = origins.iter().map(|origin| origin.address().to_string()).collect();
    let config = Config::new(&servers).site(site).room("sale", "max_active = 9").tls();
    (origins, Gateway::start(config))
}

#[test]
fn a_sick_server_is_left_out_until_it_is_well() {
    let (origins, gateway) = three("health_interval = \"1s\"\nhealth_path = \"/health\"");
    let mut ann = Visitor::new(&gateway);
    assert!(ann.open("/").is_from_origin());
    let pass = ann.dress(Request::get("/page"));
    // It goes on answering: only the check knows.
    let shares = |count: usize| {
        let mut shares = BTreeMap::new();
        for _ in 0..count {
            let answer = gateway.connect().ask(&pass);
            assert_eq!(answer.status, 200, "{answer:?}");
            *shares.entry(answer.header("x-origin").unwrap_or_default().to_owned()).or_insert(0) +=
                1;
        }
        shares
    };
    assert_eq!(shares(9).len(), 3);
    for (sick, left) in [(1, ["a", "c"]), (0, ["b", "c"])] {
        origins[sick].sickens(true);
        eventually("it is left out", || (shares(6).len() == 2).then_some(()));
        let asked = shares(12);
        assert_eq!(asked.keys().collect::<Vec<_>>(), left, "{asked:?}");
        origins[sick].sickens(false);
        eventually("it is back", || (shares(6).len() == 3).then_some(()));
    }
    // If all seem sick they are asked all the same: a check may be wrong.
    origins.iter().for_each(|origin| origin.sickens(true));
    let checks = || origins.iter().map(|origin| origin.seen_at("/health").len()).min();
    let before = checks();
    eventually("all have been checked", || (checks() >= before.map(|n| n + 4)).then_some(()));
    assert_eq!(shares(9).len(), 3);
}

/// Before any check has noticed it, and with bodies: nothing of them was sent to the one that did not answer.
#[test]
fn a_server_that_is_gone_is_noticed_by_nobody() {
    let (mut origins, gateway) = three("health_interval = \"none\"");
    let mut ann = Visitor::secure(&gateway);
    assert!(ann.open("/").is_from_origin());
    origins[1].stop();
    let mut second = Http2::open(&gateway);
    let sizes = [0, 10, 100_000, 3_000_000];
    for turn in 0..12 {
        let body = pattern(sizes[turn % sizes.len()]);
        let hash: String = Sha256::digest(&body).iter().map(|byte| format!("{byte:02x}")).collect();
        let order = ann.dress(Request::post(&format!("/upload?{turn}"), body.clone()));
        let page = ann.dress(Request::get(&format!("/page?{turn}")));
        for answer in [ann.connect().ask(&order), second.ask(&order)] {
            assert!(answer.is_from_origin(), "{turn}: {answer:?}");
            assert_eq!(answer.json()["bytes"], body.len(), "{turn}: {answer:?}");
            assert_eq!(answer.json()["sha256"], hash, "{turn}: {answer:?}");
        }
        for answer in [ann.connect().ask(&page), second.ask(&page)] {
            assert!(answer.is_from_origin(), "{turn}: {answer:?}");
        }
    }
    let orders: usize = origins.iter().map(|origin| origin.seen_at("/upload").len()).sum();
    assert_eq!(orders, 24, "each order once");
    assert!(origins[1].seen_at("/upload").is_empty());
    // Nobody has to tell the gateway that it is back.
    origins[1].start_again();
    eventually("it has its share again", || {
        assert!(ann.fetch("/back").is_from_origin());
        (!origins[1].seen_at("/back").is_empty()).then_some(())
    });
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

#[test]
fn each_server_is_checked_under_its_own_name() {
    let names = ["localhost", "127.0.0.1"];
    let origins = names.map(Origin::named);
    let directories = names.map(|name| {
        let directory = tempfile::tempdir().expect("a temporary directory");
        tls::write_pair_for(directory.path(), &[name]);
        directory
    });
    // Each has a certificate for its own name alone; all are believed.
    let known = tempfile::NamedTempFile::new().expect("a file");
    let pem = |directory: &tempfile::TempDir| {
        std::fs::read_to_string(directory.path().join("cert.pem")).expect("a certificate")
    };
    std::fs::write(known.path(), directories.iter().map(pem).collect::<String>()).expect("space");
    let fronts = [0, 1].map(|n| tls::Front::before(origins[n].address(), directories[n].path()));
    let servers = [0, 1].map(|n| format!("{}:{}", names[n], fronts[n].address().port()));
    let site = "tls = true\nhealth_interval = \"500ms\"\nhealth_path = \"/health\"";
    let config = Config::new(&servers).site(site).room("sale", "").trusting(known.path());
    let gateway = Gateway::start(config);
    for (name, origin) in names.iter().zip(&origins) {
        let checks = eventually("checks of each", || {
            Some(origin.seen_at("/health")).filter(|checks| checks.len() >= 3)
        });
        assert!(checks.iter().all(|check| check.header("host") == Some(name)), "{checks:?}");
    }
    let mut ann = Visitor::new(&gateway);
    assert!(ann.open("/").is_from_origin());
    eventually("both serve", || {
        assert!(ann.fetch("/part").is_from_origin());
        origins.iter().all(|origin| !origin.seen_at("/part").is_empty()).then_some(())
    });
}

#[test]
fn a_server_with_a_certificate_is_asked_over_tls_and_no_other_is_believed() {
    let origin = Origin::start();
    let [ours, others] = [(); 2].map(|()| tempfile::tempdir().expect("a temporary directory"));
    tls::write_pair(ours.path());
    tls::write_pair(others.path());
    let front = tls::Front::before(origin.address(), ours.path());
    let ask = |name: &str, trusted: &Path| {
        let checks = "health_interval = \"1s\"\nhealth_path = \"/health\"";
        let site = format!("tls = true\nsni = \"{name}\"\n{checks}");
        let config = Config::new(&[front.address().to_string()]).site(&site);
        let config = config.room("sale", "max_active = 9").trusting(&trusted.join("cert.pem"));
        let gateway = Gateway::start(config);
        let answer = Visitor::new(&gateway).open("/page");
        (gateway, answer)
    };
    let (gateway, answer) = ask("origin.shop.example", ours.path());
    assert!(answer.is_from_origin(), "{answer:?}");
    eventually("a check over TLS", || (!origin.seen_at("/health").is_empty()).then_some(()));
    drop(gateway);
    origin.forget();
    for (what, name, trusted) in [
        ("another name", "origin.invalid", ours.path()),
        ("signed by nobody we know", "origin.shop.example", others.path()),
    ] {
        let (_gateway, answer) = ask(name, trusted);
        assert_eq!((answer.status, answer.is_from_origin()), (502, false), "{what}: {answer:?}");
    }
    assert!(origin.seen().is_empty());
}
