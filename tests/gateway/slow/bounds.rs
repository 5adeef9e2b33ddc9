//! Bounds on connections and bodies, and answers before a body is read.

use std::time::{Duration, Instant};

use crate::support::{Connection, Gateway, Origin, Request, Visitor, eventually};

#[test]
fn beyond_the_bound_a_connection_is_told_so() {
    let origin = Origin::start();
    let plan = Gateway::before(&origin).room("sale", "");
    let gateway = plan.tables("[bounds]\nconnections = 5\n").start();
    let mut held: Vec<Connection> = (0..5).map(|_| gateway.connect()).collect();
    for connection in &mut held {
        assert_eq!(connection.ask(&Request::get("/.anteroom/health")).status, 200);
    }
    for turn in 0..20 {
        let mut one_more = gateway.connect();
        let refused = one_more.read();
        assert_eq!(refused.status, 503, "{turn}: {refused:?}");
        assert!(refused.header("retry-after").is_some());
        assert!(one_more.ends());
    }
    // Most clients speak first.
    for turn in 0..20 {
        let mut one_more = gateway.connect();
        let _ = one_more.try_send(&Request::get("/").bytes());
        let refused = one_more.try_read(false);
        assert!(matches!(&refused, Ok(answer) if answer.status == 503), "{turn}: {refused:?}");
    }
    for connection in &mut held {
        assert_eq!(connection.ask(&Request::get("/.anteroom/health")).status, 200, "those stay");
    }
    held.pop();
    eventually("there is room again", || {
        let mut connection = gateway.connect();
        let asked = connection.try_send(&Request::get("/.anteroom/health").bytes());
        let answer = asked.ok().and_then(|()| connection.try_read(false).ok())?;
        (answer.status == 200).then_some(())
    });
}

#[test]
fn one_address_leaves_places_for_others() {
    let origin = Origin::start();
    let text = "[bounds]\nconnections_per_address = 3\n";
    let gateway = Gateway::before(&origin).room("sale", "").tls().tables(text).start();
    let health = Request::get("/.anteroom/health");
    let mut held: Vec<Connection> = (0..3).map(|_| gateway.connect()).collect();
    held.iter_mut().for_each(|one| assert_eq!(one.ask(&health).status, 200));
    let mut one_more = gateway.connect();
    assert_eq!(one_more.read().status, 503);
    assert!(one_more.ends());
    // By TLS nothing is said that no client could read.
    let mut secure = Connection::open(gateway.tls_addr());
    assert!(secure.ends(), "at once, without a word");
    // Behind a proxy that is trusted there are many.
    let proxied = gateway.config().top("trusted_proxies = [\"127.0.0.0/8\"]").text();
    assert!(gateway.reload(&proxied));
    assert_eq!(gateway.connect().ask(&health).status, 200);
    assert!(gateway.reload(&gateway.config().text()));
    held.pop();
    eventually("a place for that address", || {
        let mut connection = gateway.connect();
        let asked = connection.try_send(&health.bytes());
        let answer = asked.ok().and_then(|()| connection.try_read(false).ok())?;
        (answer.status == 200).then_some(())
    });
}

#[test]
fn when_files_run_out_whoever_comes_waits_and_whoever_is_there_is_served() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "").start();
    let health = Request::get("/.anteroom/health");
    let mut held = gateway.connect();
    assert_eq!(held.ask(&health).status, 200);
    gateway.runs_out_of_files(5);
    let mut crowd: Vec<Connection> = (0..64).map(|_| gateway.connect()).collect();
    eventually("a warning", || gateway.log_contains("limit of open files").then_some(()));
    assert_eq!(held.ask(&health).status, 200, "it goes on");
    let mut last = crowd.pop().expect("somebody");
    last.send(&health.bytes());
    drop(crowd);
    assert_eq!(last.read().status, 200, "as soon as there is a file again");
}

#[test]
fn a_body_beyond_its_bound_is_refused() {
    let origin = Origin::start();
    let plan = Gateway::before(&origin).room("sale", "paths = [\"/x\"]");
    let gateway = plan.tables("[bounds]\nbody_bytes = 10000\n").start();
    let fits = gateway.connect().ask(&Request::post("/upload", vec![7; 10_000]));
    assert_eq!(fits.json()["bytes"], 10_000);
    origin.forget();
    for length in ["10001", "1000000000000"] {
        let mut connection = gateway.connect();
        let head = Request::new("POST", "/upload").with("Content-Length", length);
        connection.send(&head.bytes());
        let refused = connection.read();
        assert_eq!(refused.status, 413, "{length}: {refused:?}");
        assert!(connection.ends(), "{length}");
    }
    assert!(origin.seen().is_empty());
    let mut connection = gateway.connect();
    connection.send(&Request::new("POST", "/upload").with("Transfer-Encoding", "chunked").bytes());
    for _ in 0..11 {
        let _ = connection.try_send(format!("3e8\r\n{}\r\n", "a".repeat(1_000)).as_bytes());
    }
    let refused = connection.read();
    assert_eq!(refused.status, 413, "{refused:?}");
    assert!(connection.ends());
    let whole = origin.seen().into_iter().filter(|seen| seen.problem.is_none()).count();
    assert_eq!(whole, 0, "the origin never takes a part for the whole");
}

/// Who sends it all before they listen gets to see why it is refused, and not a reset.
#[test]
fn whoever_sends_too_much_learns_why() {
    let origin = Origin::start();
    let plan = Gateway::before(&origin).room("sale", "paths = [\"/x\"]").tls();
    let gateway = plan.tables("[bounds]\nbody_bytes = 10000\n").start();
    let [plain, secure] = [Visitor::new(&gateway), Visitor::secure(&gateway)];
    for length in [20_000, 100_000, 200_000] {
        for target in ["/upload", "/.anteroom/v1/queue/join", "/.anteroom/rejoin"] {
            for visitor in [&plain, &secure] {
                let request = Request::post(target, vec![b'a'; length]);
                let mut connection = visitor.connect();
                let sent = connection.try_send(&request.bytes());
                assert!(sent.is_ok(), "{length} to {target}: {sent:?}");
                let refused = connection.read();
                assert_eq!(refused.status, 413, "{length} to {target}: {refused:?}");
                assert!(connection.ends(), "{length} to {target}");
            }
        }
    }
    assert!(origin.seen().is_empty());
}

#[test]
fn a_refusal_of_a_body_speaks_of_its_own_bound() {
    let origin = Origin::start();
    let plan = Gateway::before(&origin).room("sale", "paths = [\"/x\"]");
    let gateway = plan.tables("[bounds]\nbody_bytes = 10000\n").start();
    let refused = gateway.connect().ask(&Request::post("/upload", vec![7; 10_001]));
    assert_eq!(refused.status, 413);
    assert!(!refused.text().contains("16 KiB"), "that is the bound of the API: {refused:?}");
}

#[test]
fn a_call_of_the_api_has_a_bound_of_its_own() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "mode = \"hold\"").start();
    for (name, request) in [
        ("a join", Request::post("/.anteroom/v1/queue/join", vec![b' '; 20_000])),
        ("a rejoin", Request::post("/.anteroom/rejoin", vec![b' '; 20_000])),
    ] {
        let answer = gateway.connect().ask(&request);
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (413, "too_large"),
            "{name}: {answer:?}"
        );
    }
    let mut connection = gateway.connect();
    let head =
        Request::new("POST", "/.anteroom/v1/queue/join").with("Content-Length", "1000000000000");
    connection.send(&head.bytes());
    let began = Instant::now();
    let _ = connection.try_send(&vec![b' '; 40_000]);
    assert_eq!(connection.read().status, 413);
    assert!(began.elapsed() < Duration::from_secs(5));
}

/// Ten megabytes of a form by somebody who has to wait: they get their answer, and not a reset.
#[test]
fn an_answer_comes_before_the_body_is_read() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "mode = \"hold\"").start();
    let mut ann = Visitor::new(&gateway);
    ann.open("/");
    let head = |length: usize| {
        let request = Request::new("POST", "/order").by_browser();
        ann.dress(request.with("Content-Length", &length.to_string())).bytes()
    };
    for length in [100, 100_000, 10_000_000] {
        let mut connection = gateway.connect().patient(Duration::from_secs(10));
        connection.send(&head(length));
        let body = vec![b'a'; length];
        let mut sender = connection.tcp().try_clone().expect("a file more");
        let sending = std::thread::spawn(move || {
            // It may well be cut off.
            let _ = std::io::Write::write_all(&mut sender, &body);
        });
        let answer = connection.read();
        assert_eq!(answer.status, 503, "{length}: {answer:?}");
        assert_eq!(answer.state().as_deref(), Some("waiting"), "{length}");
        sending.join().expect("no panic");
        assert!(connection.rest().is_some(), "{length}: the connection ends");
    }
    assert!(origin.seen().is_empty());
}
