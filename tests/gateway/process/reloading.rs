//! SIGHUP: the file is read again; what is open stays open, and a bad file changes nothing.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use crate::support::forge::number;
use crate::support::{Config, Gateway, Origin, Request, Visitor, eventually};

fn held() -> (Origin, Gateway, Visitor) {
    let origin = Origin::start();
    let room = "mode = \"hold\"\nmax_active = 5\npage = { message = \"before\" }";
    let gateway = Gateway::before(&origin).room("sale", room).start();
    let mut bob = Visitor::new(&gateway);
    assert_eq!(bob.open("/").shown("message").as_deref(), Some("before"));
    (origin, gateway, bob)
}

#[test]
fn what_changed_shows_on_connections_that_stayed_open() {
    let (_origin, gateway, mut bob) = held();
    let mut connection = gateway.connect();
    let page = bob.dress(Request::get("/").by_browser());
    assert_eq!(connection.ask(&page).shown("message").as_deref(), Some("before"));
    let text = gateway.config().text();
    assert!(gateway.reload(&text.replace("\"before\"", "\"after\"")));
    let answer = connection.ask(&page);
    assert_eq!(answer.shown("message").as_deref(), Some("after"), "{answer:?}");
    assert_eq!(answer.shown("label").as_deref(), Some("A-000001"), "the same place");
    assert_eq!(bob.status().json()["message"], "after");
    // And the line's own rules.
    let open = text.replace("mode = \"hold\"", "mode = \"auto\"");
    assert!(gateway.reload(&open));
    bob.await_turn();
    assert!(bob.open("/").is_from_origin());
}

#[test]
fn a_bad_file_is_refused_whole() {
    let (_origin, gateway, mut bob) = held();
    let text = gateway.config().text();
    let bad = [
        ("not TOML", "what is this".to_owned()),
        ("an unknown key", format!("hold_on = 1\n{}", text.replace("\"before\"", "\"after\""))),
        (
            "an origin that is none",
            text.replace("\"before\"", "\"after\"")
                .replace("origin = \"site\"", "origin = \"sight\""),
        ),
        ("a value out of range", text.replace("max_active = 5", "max_active = 0")),
        ("nothing", String::new()),
    ];
    for (name, bad) in bad {
        assert!(!gateway.reload(&bad), "{name}: {}", gateway.log().text());
        let page = bob.open("/");
        assert_eq!(page.shown("message").as_deref(), Some("before"), "{name}");
        assert_eq!(bob.position(), 1, "{name}");
    }
    let refused = gateway.events("config.refused", 5);
    assert!(refused.iter().all(|line| line["level"] == "error"), "{refused:?}");
    assert!(gateway.reload(&text.replace("\"before\"", "\"after\"")), "a good one is taken again");
    assert_eq!(bob.open("/").shown("message").as_deref(), Some("after"));
}

#[test]
fn a_room_that_is_new_is_there_and_one_that_is_gone_is_not() {
    let (origin, gateway, mut bob) = held();
    let more = gateway.config().room("more", "paths = [\"/more/*\"]\nmode = \"closed\"");
    assert!(gateway.reload(&more.text()));
    assert_eq!(bob.open("/more/").state().as_deref(), Some("error"), "closed");
    assert_eq!(bob.open("/").state().as_deref(), Some("waiting"));
    assert!(gateway.reload(&gateway.config().text()));
    eventually("the room is gone", || {
        (bob.open("/more/").state().as_deref() == Some("waiting")).then_some(())
    });
    assert!(origin.seen().is_empty());
}

#[test]
fn another_origin_is_used_at_once() {
    let (first, second) = (Origin::named("first"), Origin::named("second"));
    let gateway = Gateway::before(&first).room("sale", "paths = [\"/x\"]").start();
    let mut connection = gateway.connect();
    let asked = Request::get("/");
    assert_eq!(connection.ask(&asked).header("x-origin"), Some("first"));
    let text = gateway.config().text();
    let moved = text.replace(&first.address().to_string(), &second.address().to_string());
    assert!(gateway.reload(&moved));
    assert_eq!(connection.ask(&asked).header("x-origin"), Some("second"));
}

/// What a reload leaves as it was it does not forget: which server is sick, and who has asked how often.
#[test]
fn what_is_known_of_servers_and_visitors_stays_known() {
    let origins = ["a", "b"].map(Origin::named);
    let servers = origins.each_ref().map(|origin| origin.address().to_string());
    let config = Config::new(&servers)
        .site("health_interval = \"2s\"\nhealth_path = \"/health\"")
        .room("sale", "paths = [\"/sale/*\"]\nmode = \"hold\"\npage = { message = \"before\" }")
        .limits("requests_per_address = \"3/h\"");
    let gateway = Gateway::start(config);
    let sick_answers = || {
        let answers = (0..8).map(|_| gateway.connect().ask(&Request::get("/")));
        answers.filter(|answer| answer.header("x-origin") == Some("b")).count()
    };
    let refused = || gateway.connect().ask(&Request::get("/sale/").by_browser()).status == 429;
    assert_eq!([(); 4].map(|()| refused()), [false, false, false, true]);
    origins[1].sickens(true);
    eventually("the sick one is left out", || (sick_answers() == 0).then_some(()));
    let text = gateway.config().text();
    for message in ["\"after\"", "\"after that\""] {
        assert!(gateway.reload(&text.replace("\"before\"", message)));
        assert_eq!(sick_answers(), 0, "it is as sick as it was");
        assert!(refused(), "and they have asked as often");
    }
    origins[1].sickens(false);
    eventually("it is well, and looked after still", || (sick_answers() > 0).then_some(()));
    // What is said anew about them counts from now on.
    let other = text.replace("3/h", "4/h").replace("\"2s\"", "\"3s\"");
    assert!(gateway.reload(&other));
    assert!(!refused());
}

#[test]
fn certificates_are_read_again() {
    use crate::support::tls;
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "").tls().start();
    let mut before = Visitor::secure(&gateway);
    assert!(before.open("/").is_from_origin());
    let mut open = before.connect();
    let asked = before.dress(Request::get("/echo"));
    assert!(open.ask(&asked).is_from_origin());
    tls::write_pair(gateway.directory());
    assert!(gateway.reload(&gateway.config().text()));
    let mut after = Visitor::secure(&gateway);
    assert!(
        after.open("/").is_from_origin(),
        "by the new certificate, which alone this one trusts"
    );
    assert!(open.ask(&asked).is_from_origin(), "and what was open stays so");
}

#[test]
fn every_name_gets_the_certificate_that_is_good_for_it() {
    use crate::support::{client::HOST, tls};
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "").tls().start();
    let (first, other) = (gateway.directory().to_owned(), gateway.directory().join("other"));
    std::fs::create_dir(&other).expect("a directory");
    tls::write_pair_for(&other, &["tickets.test", "*.tickets.test"]);
    let more =
        "[[tls]]\nlisten = \"127.0.0.1:0\"\ncert = \"other/cert.pem\"\nkey = \"other/key.pem\"\n";
    let text = gateway.config().text().replacen("[[tls]]", &format!("{more}[[tls]]"), 1);
    assert!(gateway.reload(&text));
    let [first, other] = [first, other].map(|directory| tls::certificate(&directory));
    for (host, certificate) in [
        (HOST, &first),
        ("localhost", &first),
        ("127.0.0.1", &other), // Names no host: the first that is written.
        ("tickets.test", &other),
        ("www.tickets.test", &other),
        ("elsewhere.test", &other),
    ] {
        let shown = tls::shown(gateway.tls_addr(), host);
        assert!(shown == *certificate, "{host} gets another one");
    }
    let visitor = tls::connect(gateway.tls_addr(), "tickets.test", &other)
        .ask(&Request::get("/").by_browser().host("tickets.test"));
    assert!(visitor.is_from_origin(), "{visitor:?}");
}

/// Joins of one device after another; where the room is gone, or about to go, nobody gets anything.
fn joins(gateway: &Gateway, who: &str, count: usize) -> Vec<u64> {
    let join = |n: usize| {
        let body = json!({ "event_id": "sale", "device_id": format!("{who} {n}") });
        let answer = gateway.connect().ask(&Request::call("/.anteroom/v1/queue/join", &body));
        assert!(matches!(answer.status, 200 | 400 | 503), "{answer:?}");
        (answer.status == 200)
            .then(|| number(answer.json()["queue_id"].as_str().expect("a ticket")))
    };
    (0..count).filter_map(join).collect()
}

/// Somebody else goes on until this is dropped, by a failure, too.
struct GoesOn<'a>(&'a AtomicBool);

impl Drop for GoesOn<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[test]
fn a_room_that_comes_back_goes_on_where_it_was() {
    let origin = Origin::start();
    let without = Config::new(&[origin.address().to_string()]).room("more", "paths = [\"/more\"]");
    let with = without.clone().room("sale", "mode = \"hold\"");
    for [with, without] in
        [[with.clone(), without.clone()], [with.clone().embedded(), without.clone().embedded()]]
    {
        let gateway = Gateway::start(with.clone());
        let mut bob = Visitor::new(&gateway);
        let label = bob.open("/").shown("label");
        assert_eq!(label.as_deref(), Some("A-000001"));
        let mut numbers = vec![1];
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            // Somebody is always just joining.
            let restless = scope.spawn(|| {
                let turns = (0..).take_while(|_| !over.load(Ordering::SeqCst));
                turns.flat_map(|turn| joins(&gateway, &format!("restless {turn}"), 5)).collect()
            });
            let goes_on = GoesOn(&over);
            for turn in 0..6 {
                let before = joins(&gateway, &format!("before {turn}"), 5);
                assert_eq!(before.len(), 5, "the room is there");
                assert!(before.is_sorted() && before[0] > *numbers.last().expect("bob's"));
                numbers.extend(before);
                assert!(gateway.reload(&without.text()));
                eventually("the room is gone", || bob.open("/").is_from_origin().then_some(()));
                assert!(joins(&gateway, &format!("gone {turn}"), 2).is_empty());
                assert!(gateway.reload(&with.text()));
                eventually("the room is back", || {
                    (bob.open("/").state().as_deref() == Some("waiting")).then_some(())
                });
            }
            drop(goes_on);
            let others: Vec<u64> = restless.join().expect("no panic");
            assert!(!others.is_empty());
            numbers.extend(others);
        });
        let given = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), given, "a number was given twice");
        let page = bob.open("/");
        assert_eq!(page.shown("label"), label, "and nobody has lost a place");
        assert_eq!(page.shown("position").as_deref(), Some("1"));
    }
}
