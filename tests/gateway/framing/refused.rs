//! Shapes of requests by which one is smuggled past a proxy: refused, the connection closed, the origin never asked.

use std::time::Duration;

use super::open_site;
use crate::support::{Connection, Gateway, Origin, Request};

/// What would be smuggled.
const SMUGGLED: &str = "GET /smuggled HTTP/1.1\r\nHost: shop.example\r\n\r\n";

/// Sends bytes. The statuses of all that comes back, up to the end of the connection.
fn statuses(gateway: &Gateway, bytes: &[u8]) -> Vec<u16> {
    let mut connection = gateway.connect().patient(Duration::from_secs(8));
    // It may be refused before it is all there.
    let _ = connection.try_send(bytes);
    connection.finish();
    let mut statuses = Vec::new();
    while let Ok(response) = connection.try_read(false) {
        statuses.push(response.status);
        assert!(!response.until_close || response.body.is_empty(), "{response:?}");
    }
    statuses
}

/// Each is refused with one of these, and nothing of it is ever seen by the origin.
#[track_caller]
fn all_refused(origin: &Origin, gateway: &Gateway, cases: &[(&str, &str)], with: &[u16]) {
    for (name, text) in cases {
        let got = statuses(gateway, text.as_bytes());
        assert!(got.len() == 1 && with.contains(&got[0]), "{name}: {got:?} for {text:?}");
        let seen: Vec<String> = origin.seen().into_iter().map(|seen| seen.raw).collect();
        assert!(seen.is_empty(), "{name} reached the origin: {seen:?}");
    }
}

/// A POST with these lines, and a body that holds another request.
fn post(lines: &str) -> String {
    format!("POST /evil HTTP/1.1\r\nHost: shop.example\r\n{lines}\r\n0\r\n\r\n{SMUGGLED}")
}

#[test]
fn lengths_that_contradict_each_other() {
    let (origin, gateway) = open_site();
    let cases = [
        ("length and chunks", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
        ("chunks and length", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"),
        ("no length and chunks", "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n"),
        ("two lengths", "Content-Length: 5\r\nContent-Length: 6\r\n"),
        ("the same twice", "Content-Length: 5\r\nContent-Length: 5\r\n"),
        ("a list", "Content-Length: 5, 5\r\n"),
        ("a sign", "Content-Length: +5\r\n"),
        ("less than none", "Content-Length: -1\r\n"),
        ("letters", "Content-Length: 5a\r\n"),
        ("hexadecimal", "Content-Length: 0x5\r\n"),
        ("a point", "Content-Length: 5.0\r\n"),
        ("nothing", "Content-Length: \r\n"),
        ("quoted", "Content-Length: \"5\"\r\n"),
        ("two numbers", "Content-Length: 5 5\r\n"),
        ("beyond all numbers", "Content-Length: 99999999999999999999\r\n"),
        ("2^64 + 5", "Content-Length: 18446744073709551621\r\n"),
    ];
    let cases = cases.map(|(name, lines)| (name, post(lines)));
    let cases: Vec<(&str, &str)> =
        cases.iter().map(|(name, text)| (*name, text.as_str())).collect();
    all_refused(&origin, &gateway, &cases, &[400]);
}

#[test]
fn encodings_that_somebody_might_read_otherwise() {
    let (origin, gateway) = open_site();
    let cases = [
        ("another word", "Transfer-Encoding: xchunked\r\n"),
        ("a list", "Transfer-Encoding: gzip, chunked\r\n"),
        ("the other way round", "Transfer-Encoding: chunked, identity\r\n"),
        ("none", "Transfer-Encoding: identity\r\n"),
        ("empty", "Transfer-Encoding: \r\n"),
        ("twice", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
        ("two kinds", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n"),
        ("a vertical tab", "Transfer-Encoding: \u{b}chunked\r\n"),
        ("a form feed", "Transfer-Encoding: chunked\u{c}\r\n"),
        ("quoted", "Transfer-Encoding: \"chunked\"\r\n"),
        ("a parameter", "Transfer-Encoding: chunked;q=1\r\n"),
        ("a comma", "Transfer-Encoding: chunked,\r\n"),
        ("a space before the colon", "Transfer-Encoding : chunked\r\n"),
        ("a tab before the colon", "Transfer-Encoding\t: chunked\r\n"),
        ("folded", "Transfer-Encoding:\r\n chunked\r\n"),
        ("folded behind another", "X: y\r\n Transfer-Encoding: chunked\r\n"),
        ("a bare CR", "X: y\rTransfer-Encoding: chunked\r\n"),
        ("a bare LF", "X: y\nTransfer-Encoding: chunked\r\n"),
        ("a NUL", "Transfer-Encoding: chunked\0\r\n"),
    ];
    let cases = cases.map(|(name, lines)| (name, post(lines)));
    let cases: Vec<(&str, &str)> =
        cases.iter().map(|(name, text)| (*name, text.as_str())).collect();
    all_refused(&origin, &gateway, &cases, &[400]);
    let old =
        "POST /evil HTTP/1.0\r\nHost: shop.example\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    all_refused(&origin, &gateway, &[("in HTTP/1.0", &format!("{old}{SMUGGLED}"))], &[400]);
}

#[test]
fn lines_that_are_none() {
    let (origin, gateway) = open_site();
    let head = |lines: &str| format!("GET /evil HTTP/1.1\r\nHost: shop.example\r\n{lines}\r\n");
    let cases = [
        ("folded", head("X: a\r\n b\r\n")),
        ("folded by a tab", head("X: a\r\n\tb\r\n")),
        ("white space before a name", head(" X: a\r\n")),
        ("no colon", head("hello\r\n")),
        ("no name", head(": a\r\n")),
        ("a space in a name", head("X y: a\r\n")),
        ("a space before the colon", head("X : a\r\n")),
        ("a bracket in a name", head("X(: a\r\n")),
        ("a NUL in a name", head("X\0: a\r\n")),
        ("a NUL in a value", head("X: a\0b\r\n")),
        ("a bare CR in a value", head("X: a\rb\r\n")),
        ("bare LFs", "GET /evil HTTP/1.1\nHost: shop.example\n\n".to_owned()),
        ("one bare LF", "GET /evil HTTP/1.1\r\nHost: shop.example\n\r\n".to_owned()),
        ("a bare LF at the end", "GET /evil HTTP/1.1\r\nHost: shop.example\r\n\n".to_owned()),
        ("a line folded at once", "GET /evil HTTP/1.1\r\n Host: shop.example\r\n\r\n".to_owned()),
        ("a bad expectation", head("Expect: 200-ok\r\n")),
    ];
    let cases: Vec<(&str, &str)> =
        cases.iter().map(|(name, text)| (*name, text.as_str())).collect();
    all_refused(&origin, &gateway, &cases, &[400, 417]);
}

#[test]
fn hosts_in_doubt() {
    let (origin, gateway) = open_site();
    let head = |lines: &str| format!("GET /evil HTTP/1.1\r\n{lines}\r\n");
    let cases = [
        ("none", head("")),
        ("empty", head("Host: \r\n")),
        ("two", head("Host: shop.example\r\nHost: evil.example\r\n")),
        ("the same twice", head("Host: shop.example\r\nhost: shop.example\r\n")),
        ("a list", head("Host: shop.example, evil.example\r\n")),
        ("a space", head("Host: shop.example evil.example\r\n")),
        ("a user", head("Host: shop.example@evil.example\r\n")),
        ("a path", head("Host: shop.example/evil\r\n")),
        ("a query", head("Host: shop.example?evil\r\n")),
        ("a fragment", head("Host: shop.example#evil\r\n")),
        ("a quote", head("Host: \"shop.example\"\r\n")),
        ("not ASCII", head("Host: shöp.example\r\n")),
        ("a backslash", head("Host: shop.example\\evil\r\n")),
        (
            "another one in the target",
            "GET http://evil.example/evil HTTP/1.1\r\nHost: shop.example\r\n\r\n".to_owned(),
        ),
        (
            "another port in the target",
            "GET http://shop.example:443/evil HTTP/1.1\r\nHost: shop.example\r\n\r\n".to_owned(),
        ),
        (
            "two hosts beside a target that names one in capitals",
            "GET http://SHOP.example/evil HTTP/1.1\r\nHost: shop.example\r\nHost: shop.example\r\n\r\n"
                .to_owned(),
        ),
        (
            "a user in the target",
            "GET http://a@shop.example/evil HTTP/1.1\r\nHost: shop.example\r\n\r\n".to_owned(),
        ),
        (
            "a target without a path",
            "GET http://shop.example?evil HTTP/1.1\r\nHost: shop.example\r\n\r\n".to_owned(),
        ),
        (
            "another scheme",
            "GET ftp://shop.example/evil HTTP/1.1\r\nHost: shop.example\r\n\r\n".to_owned(),
        ),
    ];
    let cases: Vec<(&str, &str)> =
        cases.iter().map(|(name, text)| (*name, text.as_str())).collect();
    all_refused(&origin, &gateway, &cases, &[400]);
}

#[test]
fn request_lines_that_are_none() {
    let (origin, gateway) = open_site();
    let line = |line: &str| format!("{line}\r\nHost: shop.example\r\n\r\n");
    let cases = [
        ("HTTP/0.9", "GET /evil\r\n\r\n".to_owned()),
        ("HTTP/0.9 with headers", line("GET /evil")),
        ("HTTP/2 in plain", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned()),
        ("HTTP/3", line("GET /evil HTTP/3.0")),
        ("HTTP/1.2", line("GET /evil HTTP/1.2")),
        ("lower case", line("GET /evil http/1.1")),
        ("no number", line("GET /evil HTTP")),
        ("two spaces", line("GET  /evil HTTP/1.1")),
        ("a tab", line("GET\t/evil\tHTTP/1.1")),
        ("a space in the target", line("GET /evil x HTTP/1.1")),
        ("no target", line("GET HTTP/1.1")),
        ("a target without a slash", line("GET evil HTTP/1.1")),
        ("a star", line("GET * HTTP/1.1")),
        ("a star for OPTIONS", line("OPTIONS * HTTP/1.1")),
        ("a fragment", line("GET /evil#x HTTP/1.1")),
        ("not ASCII", line("GET /évil HTTP/1.1")),
        ("a control character", line("GET /evil\u{1} HTTP/1.1")),
        ("DEL", line("GET /evil\u{7f} HTTP/1.1")),
        ("a NUL in the method", line("GE\0T /evil HTTP/1.1")),
        ("a colon in the method", line("GET: /evil HTTP/1.1")),
        (
            "CONNECT",
            "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n".to_owned(),
        ),
        ("CONNECT with a path", line("CONNECT /evil HTTP/1.1")),
        ("TRACE", line("TRACE /evil HTTP/1.1")),
        ("words", "hello, are you there?\r\n\r\n".to_owned()),
        ("a status line", "HTTP/1.1 200 OK\r\n\r\n".to_owned()),
    ];
    let cases: Vec<(&str, &str)> =
        cases.iter().map(|(name, text)| (*name, text.as_str())).collect();
    all_refused(&origin, &gateway, &cases, &[400, 405, 505]);
    // A greeting of TLS on the wrong port, and noise.
    for bytes in [&b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..], &[0xff; 300], &[0; 64]] {
        let got = statuses(&gateway, bytes);
        assert!(got.is_empty() || got == [400], "{got:?} for {bytes:?}");
    }
    assert!(origin.seen().is_empty());
}

#[test]
fn too_much_of_a_head() {
    let (origin, gateway) = open_site();
    let big =
        format!("GET /evil HTTP/1.1\r\nHost: shop.example\r\nX: {}\r\n\r\n", "a".repeat(33_000));
    let many =
        format!("GET /evil HTTP/1.1\r\nHost: shop.example\r\n{}\r\n", "X: y\r\n".repeat(100));
    let long = format!("GET /{} HTTP/1.1\r\nHost: shop.example\r\n\r\n", "evil".repeat(9_000));
    let endless = "GET /evil HTTP/1.1\r\nX: ".to_owned() + &"a".repeat(100_000);
    let cases = [("bytes", &big), ("lines", &many), ("a target", &long), ("no end", &endless)];
    let cases: Vec<(&str, &str)> =
        cases.iter().map(|(name, text)| (*name, text.as_str())).collect();
    all_refused(&origin, &gateway, &cases, &[431]);
    // As much as is allowed is allowed.
    let lines = "X: y\r\n".repeat(98);
    let request = format!("GET /fine HTTP/1.1\r\nHost: shop.example\r\n{lines}\r\n");
    let mut connection = gateway.connect();
    connection.send(request.as_bytes());
    assert!(connection.read().is_from_origin());
    let request = Request::get("/fine").with("X", &"a".repeat(31_000));
    assert!(gateway.connect().ask(&request).is_from_origin());
}

#[test]
fn what_follows_a_body_that_is_none_is_never_taken_for_a_request() {
    let (origin, gateway) = open_site();
    let chunked = |body: &str| {
        let head =
            "POST /upload HTTP/1.1\r\nHost: shop.example\r\nTransfer-Encoding: chunked\r\n\r\n";
        format!("{head}{body}{SMUGGLED}")
    };
    let cases = [
        ("no number", chunked("x\r\nhello\r\n0\r\n\r\n")),
        ("letters behind it", chunked("5x\r\nhello\r\n0\r\n\r\n")),
        ("less than none", chunked("-5\r\nhello\r\n0\r\n\r\n")),
        ("a prefix", chunked("0x5\r\nhello\r\n0\r\n\r\n")),
        ("beyond all numbers", chunked("fffffffffffffffff5\r\nhello\r\n0\r\n\r\n")),
        ("no end of a chunk", chunked("5\r\nhelloGET /smuggled HTTP/1.1\r\n\r\n0\r\n\r\n")),
        ("bare LFs", chunked("5\nhello\n0\n\n")),
        ("a bare LF in an extension", chunked("5;a\nb\r\nhello\r\n0\r\n\r\n")),
        ("a space before it", chunked(" 5\r\nhello\r\n0\r\n\r\n")),
        ("nothing", chunked("\r\nhello\r\n0\r\n\r\n")),
    ];
    for (name, text) in cases {
        let got = statuses(&gateway, text.as_bytes());
        assert!(got.len() <= 1, "{name}: {got:?}");
        let paths: Vec<String> = origin.seen().into_iter().map(|seen| seen.target).collect();
        assert!(!paths.iter().any(|path| path == "/smuggled"), "{name}: {paths:?}");
    }
    for seen in origin.seen() {
        assert!(!seen.raw.contains("/smuggled"), "{seen:?}");
    }
}

#[test]
fn the_absolute_form_of_the_same_host_is_that_host() {
    let (origin, gateway) = open_site();
    for target in ["http://shop.example/echo?a=b", "https://shop.example/echo?a=b"] {
        let answer = gateway.connect().ask(&Request::get(target));
        assert!(answer.is_from_origin(), "{target}: {answer:?}");
        let seen = origin.last();
        assert_eq!(seen.target, "/echo?a=b", "behind us nobody is a proxy");
        let host = seen.all("host").collect::<Vec<_>>();
        assert!(host.len() == 1 && host[0].eq_ignore_ascii_case("shop.example"), "{host:?}");
    }
    for target in ["http://shop.example", "http://SHOP.example:80"] {
        let bare = gateway.connect().ask(&Request::get(target));
        assert!(bare.is_from_origin());
        assert_eq!(origin.last().target, "/");
    }
    // A host has no capitals, and a port that goes without saying is none; on the long way, too.
    for target in [
        "HTTP://SHOP.Example/echo?a=B",
        "http://shop.example:80/echo?a=B",
        "https://Shop.example:443/echo?a=B",
    ] {
        let short = Request::get(target);
        let long = short.clone().with("X-Named", "1").with("Connection", "x-named");
        for request in [short, long] {
            let answer = gateway.connect().ask(&request);
            assert!(answer.is_from_origin(), "{request:?}: {answer:?}");
            assert_eq!(origin.last().target, "/echo?a=B");
            assert_eq!(origin.last().all("host").collect::<Vec<_>>(), ["shop.example"]);
        }
        let guarded = target.replace("/echo", "/guarded");
        assert_eq!(gateway.connect().ask(&Request::get(&guarded).by_browser()).status, 503);
    }
}

/// What browsers escape and others do not: every way to the origin takes it, and says the same.
#[test]
fn a_target_is_escaped_where_its_writer_forgot() {
    let origin = Origin::start();
    let room = "paths = [\"/guarded/*\"]";
    let gateway = Gateway::before(&origin).room("sale", room).start();
    for (target, heard) in [
        ("/?q=<b>", "/?q=%3Cb%3E"),
        ("/a`b?c=`", "/a%60b?c=`"),
        ("/a\"b?c=\"d\"&e='", "/a\"b?c=%22d%22&e='"),
        ("/<a>?b", "/%3Ca%3E?b"),
        ("http://shop.example/?a=<", "/?a=%3C"),
        ("/{a}|^[b]\\?c={}|^[]\\~", "/{a}|^[b]\\?c={}|^[]\\~"),
    ] {
        let short = Request::get(target);
        let long = short.clone().with("X-Named", "1").with("Connection", "x-named");
        let body = Request::post(target, vec![b'a'; 20_000]);
        let mut connection = gateway.connect();
        for request in [short, long, body] {
            let answer = connection.ask(&request);
            assert!(answer.is_from_origin(), "{request:?}: {answer:?}");
            assert_eq!(origin.last().target, heard);
        }
        // Whoever enters comes by the line.
        let entering = format!("/guarded{}", target.trim_start_matches("http://shop.example"));
        assert!(crate::support::Visitor::new(&gateway).open(&entering).is_from_origin());
        assert_eq!(origin.last().target, format!("/guarded{heard}"));
    }
    assert!(origin.seen().iter().all(|seen| seen.problem.is_none()));
}

#[test]
fn a_refusal_ends_the_connection_and_not_what_was_answered_before() {
    let (origin, gateway) = open_site();
    let mut connection: Connection = gateway.connect();
    let good = Request::get("/first").bytes();
    connection.send(
        &[&good[..], b"GET /evil HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", SMUGGLED.as_bytes()]
            .concat(),
    );
    assert!(connection.read().is_from_origin());
    assert_eq!(connection.read().status, 400);
    assert!(connection.ends());
    assert_eq!(origin.seen().len(), 1);
}
