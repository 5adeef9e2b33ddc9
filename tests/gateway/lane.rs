//! The short way of plain requests: what an origin answers reaches its visitor whole, and nobody else.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use crate::support::client::Missing;
use crate::support::{Config, Gateway, Origin, PATIENCE, Request};

/// What a site says to a request, and whether it stays for another.
type Said = (&'static [u8], bool);

/// A site that says to each request, in turn, exactly what it is told to.
struct Verbatim {
    address: SocketAddr,
    said: Receiver<String>,
}

impl Verbatim {
    /// Answers with `answers` in turn, and with the last of them for ever.
    fn new(answers: &'static [Said]) -> Verbatim {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let (say, said) = channel();
        std::thread::spawn(move || {
            let nth = Arc::new(AtomicUsize::new(0));
            for stream in listener.incoming().flatten() {
                let (nth, say) = (nth.clone(), say.clone());
                std::thread::spawn(move || serve(stream, answers, &nth, &say));
            }
        });
        Verbatim { address, said }
    }

    /// The next head that reached it.
    fn heard(&self) -> String {
        self.said.recv_timeout(PATIENCE).expect("a request reaches the origin")
    }

    fn gateway(&self) -> Gateway {
        let config = Config::new(&[self.address.to_string()]);
        // Everything but a path that nobody asks for.
        Gateway::start(config.room("sale", "paths = [\"/guarded\"]"))
    }
}

/// Waits for a request, and reads its head.
fn accept(listener: &TcpListener) -> TcpStream {
    let (mut stream, _) = listener.accept().expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("a deadline");
    let mut head = Vec::new();
    let mut byte = [0; 1];
    while !head.ends_with(b"\r\n\r\n") {
        assert_eq!(stream.read(&mut byte).expect("a head"), 1, "a whole head");
        head.push(byte[0]);
    }
    stream
}

/// Whether the gateway hangs up.
fn is_closed(stream: &mut TcpStream) -> bool {
    match stream.read(&mut [0; 1]) {
        Ok(read) => read == 0,
        Err(error) => error.kind() == ErrorKind::ConnectionReset,
    }
}

fn serve(mut stream: TcpStream, answers: &[Said], nth: &AtomicUsize, say: &Sender<String>) {
    let mut head = Vec::new();
    let mut byte = [0; 1];
    while let Ok(1) = stream.read(&mut byte) {
        head.push(byte[0]);
        if !head.ends_with(b"\r\n\r\n") {
            continue;
        }
        let nth = nth.fetch_add(1, Ordering::SeqCst);
        let (answer, stays) = answers[nth.min(answers.len() - 1)];
        let _ = say.send(String::from_utf8_lossy(&std::mem::take(&mut head)).into_owned());
        if stream.write_all(answer).is_err() || !stays {
            return;
        }
    }
}

const OK: Said = (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", true);

#[test]
fn an_answer_without_a_length_reaches_the_visitor_whole_and_keeps_the_connection() {
    let site = Verbatim::new(&[(b"HTTP/1.1 200 OK\r\nX-A: b\r\n\r\nall there is", false), OK]);
    let gateway = site.gateway();
    let mut connection = gateway.connect();
    let answer = connection.ask(&Request::get("/"));
    assert_eq!((answer.status, answer.text().as_str()), (200, "all there is"), "{answer:?}");
    assert_eq!(answer.header("transfer-encoding"), Some("chunked"));
    assert_eq!(connection.ask(&Request::get("/")).text(), "ok");
}

#[test]
fn chunks_trailers_early_hints_and_answers_without_a_body_pass_as_they_are() {
    let site = Verbatim::new(&[
        (b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nX-T: 1\r\n\r\n", true),
        (b"HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\nContent-Length: 1000\r\n\r\n", true),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\nX-Length: none\r\n\r\n", true),
        OK,
    ]);
    let gateway = site.gateway();
    let mut connection = gateway.connect();
    connection.send(&Request::get("/").bytes());
    let mut said = String::new();
    while !said.ends_with("0\r\nX-T: 1\r\n\r\n") {
        said += &String::from_utf8_lossy(&connection.read_some().expect("the whole answer"));
    }
    assert!(
        said.starts_with("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 200 OK\r\n"),
        "{said}"
    );
    assert!(said.contains("\r\n\r\n5;a=b\r\nhello\r\n0\r\n"), "{said}");
    let unchanged = connection.ask(&Request::get("/"));
    assert_eq!((unchanged.status, unchanged.header("etag")), (304, Some("\"x\"")));
    assert_eq!(connection.ask(&Request::get("/")).status, 204);
    assert_eq!(connection.ask(&Request::get("/")).text(), "ok");
}

/// What a site says to us alone goes on to nobody, wherever it says it; only in an answer's own head it is heard.
#[test]
fn a_command_before_an_answer_or_after_it_reaches_nobody() {
    // A name in Connection is too much for the short way.
    let long = Request::get("/").with("X-Named", "1").with("Connection", "x-named");
    for (request, trailers) in [(Request::get("/"), "X-T: 1\r\nX-U: 2\r\n"), (long, "")] {
        let site = Verbatim::new(&[
            (b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\nX-Anteroom-Command: revoke\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-T: 1\r\nx-anteroom-command: revoke\r\nX-U: 2\r\n\r\n", true),
            OK,
        ]);
        let gateway = site.gateway();
        let mut connection = gateway.connect();
        connection.send(&request.bytes());
        let (mut said, end) = (String::new(), format!("0\r\n{trailers}\r\n"));
        while !said.ends_with(&end) {
            said += &String::from_utf8_lossy(&connection.read_some().expect("the whole answer"));
        }
        assert!(said.to_lowercase().contains("link: </a.css>"), "{said}");
        assert!(said.contains("\r\n\r\n5\r\nhello\r\n"), "{said}");
        assert!(!said.to_lowercase().contains("command"), "{said}");
        assert_eq!(connection.ask(&Request::get("/")).text(), "ok");
    }
}

/// What could be read as two answers is none: the rest of it must not become somebody else's.
#[test]
fn an_answer_that_could_end_in_two_places_reaches_nobody() {
    let site = Verbatim::new(&[
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 30\r\n\r\nokHTTP/1.1 200 OK\r\n\r\n", true),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\nok", true),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", true),
        (b"HTTP/1.1 101 Switching Protocols\r\nX-Length: none\r\n\r\n", true),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok and what nobody asked for", true),
        OK,
    ]);
    let gateway = site.gateway();
    for nth in 0..4 {
        let answer = gateway.connect().ask(&Request::get("/"));
        assert_eq!(answer.status, 502, "{nth}: {answer:?}");
    }
    let mut connection = gateway.connect();
    assert_eq!(connection.ask(&Request::get("/")).text(), "ok");
    assert_eq!(connection.ask(&Request::get("/")).text(), "ok", "over a connection of its own");
}

#[test]
fn chunks_that_make_no_sense_end_the_connection_and_not_the_body() {
    let site = Verbatim::new(&[(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\nx\r\n0\r\n\r\n",
        true,
    )]);
    let gateway = site.gateway();
    let mut connection = gateway.connect();
    connection.send(&Request::get("/").bytes());
    let read = connection.try_read(false);
    assert!(matches!(read, Err(Missing::Closed(_))), "a body that seems whole: {read:?}");
}

#[test]
fn a_body_that_ends_early_is_seen_to_be_cut() {
    let site =
        Verbatim::new(&[(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nten bytes.", false)]);
    let gateway = site.gateway();
    let mut connection = gateway.connect();
    connection.send(&Request::get("/").bytes());
    let cut = connection.try_read(false);
    assert!(matches!(cut, Err(Missing::Closed(10..))), "{cut:?}");
}

/// An idle connection that the site has closed is no reason to trouble anybody.
#[test]
fn a_connection_closed_while_idle_is_replaced() {
    let site = Verbatim::new(&[OK, (b"", false), OK]);
    let gateway = site.gateway();
    let mut connection = gateway.connect();
    assert_eq!(connection.ask(&Request::get("/")).text(), "ok");
    assert_eq!(connection.ask(&Request::get("/")).text(), "ok", "asked again over a new one");
    let heads = [(); 3].map(|()| site.heard());
    assert!(heads.iter().all(|head| head.starts_with("GET / HTTP/1.1\r\n")), "{heads:?}");
}

/// What may have been done must not be done twice: it is asked again only what may be.
#[test]
fn an_order_that_a_closed_connection_may_have_heard_is_not_sent_again() {
    for (method, again) in [("POST", false), ("PATCH", false), ("PUT", true), ("DELETE", true)] {
        let site = Verbatim::new(&[OK, (b"", false), OK]);
        let gateway = site.gateway();
        let mut connection = gateway.connect();
        assert_eq!(connection.ask(&Request::get("/")).text(), "ok");
        let answer = connection.ask(&Request::new(method, "/").with("Content-Length", "0"));
        assert_eq!(answer.status, if again { 200 } else { 502 }, "{method}: {answer:?}");
        site.heard();
        let begins = |head: String| head.starts_with(&format!("{method} / HTTP/1.1\r\n"));
        assert!(begins(site.heard()), "{method}");
        assert_eq!(site.said.try_recv().is_ok_and(begins), again, "{method}");
    }
}

/// A short body goes with its head in one piece, if it is there in a moment, and later it goes the long way; what follows it is the next request.
#[test]
fn a_short_body_is_followed_by_the_next_request() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "paths = [\"/guarded\"]").start();
    for pause_ms in [0, 20, 400] {
        let mut connection = gateway.connect();
        for length in [1, 1_000, 16 * 1024, 16 * 1024 + 1] {
            let bytes = Request::post("/upload", vec![b'a'; length]).bytes();
            let (head, body) = bytes.split_at(bytes.len() - length);
            let next = Request::get("/echo?next").bytes();
            if pause_ms == 0 && length <= 1_000 {
                connection.send(&[&bytes[..], &next].concat());
            } else {
                connection.send(head);
                std::thread::sleep(Duration::from_millis(pause_ms));
                connection.send(body);
            }
            let answer = connection.read();
            assert_eq!(answer.json()["bytes"], length, "{length} after {pause_ms} ms");
            if pause_ms != 0 || length > 1_000 {
                connection.send(&next);
            }
            assert_eq!(connection.read().json()["target"], "/echo?next");
        }
    }
    let problems: Vec<_> = origin.seen().into_iter().filter_map(|seen| seen.problem).collect();
    assert!(problems.is_empty(), "{problems:?}");
}

/// What `Connection` names is for the next end alone, on either way; but not what says where a body ends.
#[test]
fn what_an_origin_says_of_its_connection_goes_no_further() {
    let long = Request::get("/").with("X-Named", "1").with("Connection", "x-named");
    for request in [Request::get("/"), long] {
        let site = Verbatim::new(&[
            (b"HTTP/1.1 200 OK\r\nX-Inner: 1\r\nX-Other: 2\r\nConnection: keep-alive, X-inner,Content-Length\r\nKeep-Alive: timeout=77\r\nContent-Length: 2\r\n\r\nok", true),
            OK,
        ]);
        let gateway = site.gateway();
        let mut connection = gateway.connect();
        let answer = connection.ask(&request);
        assert_eq!((answer.status, answer.text().as_str()), (200, "ok"));
        assert_eq!((answer.header("x-inner"), answer.header("x-other")), (None, Some("2")));
        assert!(answer.all("keep-alive").all(|line| !line.contains("77")), "{answer:?}");
        assert_eq!(connection.ask(&Request::get("/")).text(), "ok");
    }
}

/// A length that is said twice is one length, and goes on once: the next to read it may not see it so.
#[test]
fn a_length_that_is_said_twice_goes_on_once() {
    let long = Request::get("/").with("X-Named", "1").with("Connection", "x-named");
    for request in [Request::get("/"), long] {
        let site = Verbatim::new(&[
            (
                b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-A: b\r\nContent-Length: 2\r\n\r\nok",
                true,
            ),
            OK,
        ]);
        let gateway = site.gateway();
        let mut connection = gateway.connect();
        let answer = connection.ask(&request);
        assert_eq!((answer.status, answer.text().as_str()), (200, "ok"), "{answer:?}");
        assert_eq!(answer.all("content-length").collect::<Vec<_>>(), ["2"]);
        assert_eq!(answer.header("x-a"), Some("b"));
        assert_eq!(connection.ask(&Request::get("/")).text(), "ok");
    }
}

/// `nc -N` and old clients say all they have to say, and then that it was all.
#[test]
fn whoever_says_no_more_still_listens() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "paths = [\"/guarded\"]").tls().start();
    let short = Request::get("/slow?ms=300");
    let long = short.clone().with("X-Named", "1").with("Connection", "x-named");
    let body = Request::post("/slow?ms=300", vec![b'a'; 100]);
    for request in [short, long, body, Request::get("/stream?chunks=4&ms=100&bytes=100")] {
        let mut connection = gateway.connect();
        connection.send(&request.bytes());
        connection.finish();
        let answer = connection.read();
        assert!(answer.is_from_origin(), "{request:?}: {answer:?}");
        assert!(connection.ends(), "and there is no next request to wait for");
    }
}

/// The rest of an answer is nobody's, whatever ended it: its visitor, or the gateway's patience. It was given to whoever came
/// next, if the request had said that it was its connection's last.
#[test]
fn the_rest_of_an_answer_that_was_cut_reaches_nobody() {
    for (read_timeout, waits) in [("60s", false), ("300ms", true)] {
        for last in ["close", "keep-alive"] {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
            let address = listener.local_addr().expect("an address");
            let site = format!("health_interval = \"none\"\nread_timeout = \"{read_timeout}\"");
            let config = Config::new(&[address.to_string()]).site(&site);
            let gateway = Gateway::start(config.room("sale", "paths = [\"/guarded\"]"));
            let mut ann = gateway.connect();
            ann.send(&Request::get("/ann").with("Connection", last).bytes());
            let mut cut = accept(&listener);
            cut.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nten bytes.")
                .expect("the gateway listens");
            assert_eq!(ann.read_head().status, 200);
            if waits {
                let rest = ann.rest().expect("an end");
                assert_eq!(rest, b"ten bytes.", "cut after {read_timeout}");
            }
            drop(ann);
            assert!(is_closed(&mut cut), "kept, with {last}, {read_timeout}");
            let _ = cut.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged");
            let mut bob = gateway.connect();
            bob.send(&Request::get("/bob").bytes());
            accept(&listener).write_all(OK.0).expect("the gateway listens");
            assert_eq!(bob.read().text(), "ok", "after {last}, {read_timeout}");
        }
    }
}

#[test]
fn the_origin_hears_what_it_would_hear_the_long_way() {
    let site = Verbatim::new(&[OK]);
    let gateway = site.gateway();
    let request = || {
        Request::get("/a%20b?c=d")
            .with("X-Own", "1")
            .with("X-Anteroom-Room", "forged")
            .with("X_Anteroom_User", "forged")
            .with("Forwarded", "for=1.2.3.4")
            .with("X-Forwarded-For", "1.2.3.4")
            .with("X-Client-IP", "1.2.3.4")
            .with("True-Client-IP", "1.2.3.4")
            .with("CF-Connecting-IP", "1.2.3.4")
            .with("cf_connecting_ip", "1.2.3.4")
            .with("X-Original-URI", "/forged")
            .with("X-Override-URL", "/forged")
            .with("Cookie", "a=b; anteroom-00ff00ff=x; c=d")
            .with("TE", "trailers")
            .with("Proxy-Authorization", "secret")
    };
    let sorted = |head: String| {
        let mut lines: Vec<String> = head.lines().skip(1).map(str::to_ascii_lowercase).collect();
        lines.sort();
        lines
    };
    let mut connection = gateway.connect();
    assert_eq!(connection.ask(&request()).text(), "ok");
    let short = site.heard();
    // A name in Connection is too much for the short way.
    assert_eq!(
        connection.ask(&request().with("X-Named", "1").with("Connection", "x-named")).text(),
        "ok"
    );
    let long = site.heard();
    assert_eq!(short.lines().next(), long.lines().next());
    assert_eq!(sorted(short.clone()), sorted(long));
    for (part, is_there) in [
        ("cookie: a=b; c=d", true),
        ("x-own: 1", true),
        ("forged", false),
        ("secret", false),
        ("1.2.3.4", false),
    ] {
        assert_eq!(short.contains(part), is_there, "{part}: {short}");
    }
}

#[test]
fn whoever_hangs_up_is_not_waited_for() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let site = Verbatim { address, said: channel().1 };
    let gateway = site.gateway();
    let mut connection = gateway.connect();
    connection.send(&Request::get("/").bytes());
    let mut stream = accept(&listener);
    drop(connection);
    assert!(is_closed(&mut stream), "the origin hears of it");
}
