//! Exceptions, and the tricks by which one would get by without one.

use crate::support::http2::Http2;
use crate::support::{Config, Gateway, Origin, Request, Response, Visitor};

/// Sends a target exactly as it is.
fn raw(gateway: &Gateway, target: &str) -> Response {
    gateway.connect().ask(&Request::get(target).by_browser())
}

/// A room over everything, held, with one exception.
fn held(bypass: &str) -> (Origin, Gateway) {
    let origin = Origin::start();
    let room = format!("mode = \"hold\"\nbypass = [{bypass}]");
    let gateway = Gateway::before(&origin).room("sale", &room).start();
    (origin, gateway)
}

#[test]
fn by_path() {
    let (origin, gateway) = held("{ path = \"/static/*\" }, { path = \"/robots.txt\" }");
    for target in
        ["/static/a.css", "/static/a%20b.css", "/static/", "/static/x/y?z=/..", "/robots.txt"]
    {
        let page = raw(&gateway, target);
        assert!(page.is_from_origin(), "{target}: {page:?}");
        assert_eq!(page.header("set-cookie"), None, "{target}");
        assert_eq!(origin.last().target, target, "as it came");
    }
    origin.forget();
    assert!(!raw(&gateway, "/robots.txt.bak").is_from_origin());
    assert!(origin.seen().is_empty());
}

#[test]
fn no_path_that_might_mean_another_one_is_an_exception() {
    let (origin, gateway) = held("{ path = \"/static/*\" }");
    let tricks = [
        "/static/../secret",
        "/static/%2e%2e/secret",
        "/static/.%2e/secret",
        "/static/%2E%2E/secret",
        "/static/..%2fsecret",
        "/static/..%2Fsecret",
        "/static%2f..%2fsecret",
        "/static/%252e%252e/secret",
        "/static/%252e%252e%252fsecret",
        "/static/..;/secret",
        "/static/..;a=b/secret",
        "/static/;/../secret",
        "/static/..\\secret",
        "/static\\..\\secret",
        "/static/..%5csecret",
        "/static/..%5Csecret",
        "/static/..%255csecret",
        "/static/%00/../secret",
        "/static/a%00.css",
        "/static/..%00/secret",
        "/static//../secret",
        "/static/x/../../secret",
        "/static/./../secret",
        "//static/../secret",
        "/x/static/a.css",
        "/staticx/a.css",
        "/static.css",
        "/static%2fa.css",
        "/%73tatic/%2e%2e%2fsecret",
        "/secret?/static/",
        "/secret/..;/static/../secret",
        "/STATIC/a.css",
        "/static/%u002e%u002e/secret/..%2f..%2fsecret",
        "/static/..%3Fsecret",
        "/static/..%23secret",
        "/static/a%00/../secret",
        "/static/a.",
        "/secret/../static/x",
        "/secret//../static/x",
        "/secret/%2e%2e/static/x",
        "//secret/static/x",
        "//static/x",
        "/static/./x",
        "/static/%u0061",
    ];
    for target in tricks {
        let page = raw(&gateway, target);
        assert!(!page.is_from_origin(), "{target}: {page:?}");
    }
    let seen: Vec<String> = origin.seen().into_iter().map(|seen| seen.target).collect();
    assert!(seen.is_empty(), "{seen:?}");
}

#[test]
fn no_path_that_might_mean_a_room_walks_around_it() {
    let origin = Origin::start();
    let room = "mode = \"hold\"\npaths = [\"/checkout\", \"/drop/*\"]";
    let gateway = Gateway::before(&origin).room("sale", room).start();
    assert!(raw(&gateway, "/").is_from_origin(), "outside of the room");
    assert!(raw(&gateway, "/checkouts").is_from_origin());
    assert!(raw(&gateway, "/z//a/../b").is_from_origin(), "dots of no room's");
    assert!(raw(&gateway, "/dropped").is_from_origin());
    origin.forget();
    let tricks = [
        "/checkout",
        "/checkout/",
        "/checkout?x=1",
        "/checkout?",
        "/./checkout",
        "/x/../checkout",
        "/../checkout",
        "//checkout",
        "///checkout//",
        "/%63heckout",
        "/%63%68%65%63%6b%6f%75%74",
        "/%2563heckout",
        "/checkout;a=1",
        "/checkout;",
        "/;/checkout",
        "/a;b/../checkout",
        "/checkout%3ba",
        "/%2fcheckout",
        "/%2Fcheckout",
        "/x%2f..%2fcheckout",
        "/x/%2e%2e/checkout",
        "/x/%2e./checkout",
        "/\\checkout",
        "/x\\..\\checkout",
        "/%5ccheckout",
        "/checkout%00",
        "/checkout%00x",
        "/checkout%3F",
        "/checkout%3Fx=1",
        "/checkout%253Fx",
        "/checkout%23x",
        "/checkout%20",
        "/checkout.",
        "/checkout%2f",
        "/checkout/.",
        "/checkout/x/..",
        "/drop",
        "/drop/",
        "/drop/7",
        "/drop//7",
        "/drop/../drop/7",
        "/drop%2f7",
        "/drop\\7",
        "/drop%5c7",
        "/drop;x/7",
        "/./drop/./7",
        "/%64rop/7",
        "/drop/%2e/7",
        "/x/..%2fdrop/7",
        "/CHECKOUT",
        "/Checkout/",
        "/%43heckout",
        "/checkou%54",
        "/Drop/7",
        "/DROP",
        "/x/../DROP/7",
        "/drop%3Fx/7",
        "/drop/7%23",
        "/drop//../item",
        "/drop/..",
        "/drop/%2e%2e/z",
        "/drop/../z",
        "/checkout/..",
        "/checkout/../z",
        "/z//../checkout",
        "/z/..//../checkout",
        "//z/checkout",
        "/%u0063heckout",
    ];
    for target in tricks {
        let page = raw(&gateway, target);
        assert!(!page.is_from_origin(), "{target}: {page:?}");
    }
    // And by the absolute form.
    for target in [
        "http://shop.example/checkout",
        "HTTP://shop.example//checkout",
        "http://shop.example/./checkout",
        "http://shop.example/CheckOut",
    ] {
        assert!(!raw(&gateway, target).is_from_origin(), "{target}");
    }
    let seen: Vec<String> = origin.seen().into_iter().map(|seen| seen.target).collect();
    assert!(seen.is_empty(), "{seen:?}");
}

/// Sloppy sites have links with two slashes: whoever is inside gets what they lead to, as it came.
#[test]
fn two_slashes_are_no_reason_to_turn_somebody_away() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "paths = [\"/drop/*\"]").start();
    let mut ann = Visitor::new(&gateway);
    for target in ["/drop//7", "//drop/7", "/drop/https://cdn.example/7"] {
        assert!(ann.open(target).is_from_origin(), "{target}");
        assert_eq!(origin.last().target, target);
        assert_eq!(origin.last().header("x-anteroom-number"), Some("1"), "{target}");
    }
}

/// Who is in one room is not in another for that, whatever a server makes of dots.
#[test]
fn a_pass_of_one_room_opens_no_other() {
    let origin = Origin::start();
    let config = Config::new(&[origin.address().to_string()])
        .room("all", "mode = \"hold\"")
        .room("drop", "paths = [\"/drop/*\"]")
        .tls();
    let gateway = Gateway::start(config);
    let mut ann = Visitor::secure(&gateway);
    assert!(ann.open("/drop/7").is_from_origin());
    assert!(ann.open("/drop/./7").is_from_origin(), "there in every reading");
    origin.forget();
    let mut door = Http2::open(&gateway);
    for target in ["/drop/../secret", "/drop//../secret", "/secret/../drop/7", "/./drop/7"] {
        let request = ann.dress(Request::get(target).by_browser());
        let (one, two) = (ann.connect().ask(&request), door.ask(&request));
        assert_eq!((one.status, two.status), (400, 400), "{target}: {one:?} {two:?}");
    }
    assert!(origin.seen().is_empty());
}

#[test]
fn by_method() {
    let (_origin, gateway) = held("{ method = \"OPTIONS\" }");
    let of = |method: &str, target: &str| {
        gateway.connect().ask(&Request::new(method, target)).is_from_origin()
    };
    assert!(of("OPTIONS", "/api"));
    for method in ["GET", "POST", "options", "OPTIONSX"] {
        assert!(!of(method, "/api"), "{method}");
    }
    assert!(!of("OPTIONS", "/a%2fb"), "only where every origin reads the path alike");
}

#[test]
fn by_header() {
    let (_origin, gateway) = held("{ header = \"x-probe: open sesame\" }");
    let with = |name: &str, value: &str| {
        gateway.connect().ask(&Request::get("/").with(name, value)).is_from_origin()
    };
    assert!(with("X-Probe", "open sesame"));
    assert!(with("x-probe", "  open sesame "));
    for value in ["", "open", "open sesame!", "Open Sesame", "open  sesame"] {
        assert!(!with("X-Probe", value), "{value}");
    }
    assert!(!with("X-Probe2", "open sesame"));
}

#[test]
fn by_address() {
    let (_origin, gateway) = held("{ address = \"127.0.0.1/32\" }");
    assert!(Visitor::new(&gateway).open("/").is_from_origin());
    let (_origin, gateway) = held("{ address = \"192.0.2.0/24\" }");
    let mut eve = Visitor::new(&gateway).with("X-Forwarded-For", "192.0.2.7");
    assert!(!eve.open("/").is_from_origin());
}
