//! What the origin is told, by whom, and what it never gets to see.

use crate::support::forge;
use crate::support::http2::Http2;
use crate::support::{Gateway, Origin, Request, Visitor};

const OURS: [&str; 6] = ["room", "visitor", "number", "class", "expires", "pass"];

#[test]
fn the_origin_learns_who_is_inside() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1").start();
    let mut ann = Visitor::new(&gateway);
    // With the request that enters, the pass it is given; with the next, the pass it brings.
    for turn in 0..2 {
        let brought = ann.token();
        assert!(ann.open("/echo").is_from_origin());
        let pass = brought.or_else(|| ann.token()).expect("a pass").1;
        let seen = origin.last();
        let said = |name: &str| seen.header(&format!("x-anteroom-{name}")).unwrap_or_default();
        assert_eq!((said("room"), said("number"), said("class")), ("sale", "1", "general"));
        assert_eq!(said("pass"), pass, "the pass itself, turn {turn}");
        assert_eq!(said("expires"), forge::expires(&pass).to_string());
        let epoch = forge::read(&pass).1["epoch"].as_u64().expect("an epoch");
        assert_eq!(said("visitor"), forge::keys("sale").visitor(epoch, 1));
        assert_eq!(seen.header("x-anteroom-user"), None);
        assert_eq!(seen.header("x-anteroom-slot"), None);
    }
}

#[test]
fn nobody_else_speaks_in_our_name() {
    let origin = Origin::start();
    let room = "max_active = 1\npaths = [\"/shop\", \"/echo\"]\nbypass = [{ method = \"PUT\" }]";
    let gateway = Gateway::before(&origin).room("sale", room).start();
    let forged = |request: Request| {
        let mut request = request.with("X-ANTEROOM-admin", "yes").with("x-anteroom-user", "root");
        for name in OURS {
            request = request.with(&format!("X-Anteroom-{name}"), "forged");
        }
        request.with("X-Anteroom-Number", "7").with("X-Admission-Pass", "forged")
    };
    let mut ann = Visitor::new(&gateway);
    assert!(ann.send(forged(Request::get("/echo").by_browser())).is_from_origin());
    let inside = origin.last();
    for name in OURS {
        let values: Vec<_> = inside.all(&format!("x-anteroom-{name}")).collect();
        assert!(values.len() == 1 && values[0] != "forged", "{name}: {values:?}");
    }
    assert_eq!(inside.header("x-anteroom-number"), Some("1"));
    // Outside of every room, and by an exception: nothing at all.
    assert!(gateway.connect().ask(&forged(Request::get("/open"))).is_from_origin());
    let open = origin.last();
    let put = Request { method: "PUT".into(), ..Request::get("/shop") };
    assert!(gateway.connect().ask(&forged(put)).is_from_origin());
    for seen in [inside, open, origin.last()] {
        let allowed = |name: &str| {
            OURS.iter().any(|ours| name.eq_ignore_ascii_case(&format!("x-anteroom-{ours}")))
                && seen.target == "/echo"
        };
        for (name, value) in &seen.headers {
            let ours = name.to_ascii_lowercase().starts_with("x-anteroom")
                || name.eq_ignore_ascii_case("x-admission-pass");
            assert!(!ours || allowed(name), "{}: {name}: {value}", seen.target);
        }
    }
}

/// CGI, and much that came after it, knows headers by names like `HTTP_X_ANTEROOM_USER`: whatever is written `_` there
/// could be ours.
#[test]
fn nobody_speaks_in_our_name_by_another_spelling_of_it() {
    let origin = Origin::start();
    let plan = Gateway::before(&origin).room("sale", "paths = [\"/echo\"]").tls();
    let trusting = "trusted_proxies = [\"127.0.0.0/8\"]";
    // A trusted proxy's word counts, but none of ours writes it so: it came through it.
    for gateway in [plan.clone().start(), plan.top(trusting).start()] {
        let mut second = Http2::open(&gateway);
        for name in [
            "x_anteroom_user",
            "X_Anteroom_User",
            "X-Anteroom_User",
            "x_aNtErOoM-nUmBeR",
            "X_ANTEROOM_PASS",
            "X.Anteroom.User",
            "X-Anteroom~User",
            "x_admission_pass",
            "X_Forwarded_For",
            "x_forwarded-proto",
            "X-Forwarded_Host",
            "X_Real_IP",
            "x-real_ip",
            "X.Forwarded.For",
        ] {
            for target in ["/echo", "/open"] {
                let forged = Request::get(target).by_browser().with(name, "forged");
                let doors = [Visitor::secure(&gateway).send(forged.clone()), second.ask(&forged)];
                for answer in doors {
                    assert!(answer.is_from_origin(), "{name}: {answer:?}");
                    let seen = origin.last();
                    assert!(!seen.raw.contains("forged"), "{name}: {}", seen.raw);
                }
            }
        }
        // What only looks like it is the visitor's own.
        let fine = Request::get("/open").with("x_user", "ann").with("Forwarded_By", "bob");
        assert!(gateway.connect().ask(&fine).is_from_origin());
        let seen = origin.last();
        assert_eq!(
            (seen.header("x_user"), seen.header("forwarded_by")),
            (Some("ann"), Some("bob"))
        );
    }
}

#[test]
fn a_connection_header_takes_nothing_of_ours_away() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "").start();
    for named in
        ["X-Anteroom-Number", "x-anteroom-pass", "X-Forwarded-For", "X-Anteroom-Room, Cookie"]
    {
        origin.forget();
        let connection = format!("keep-alive, {named}");
        let request = Request::get("/echo").by_browser().with("Connection", &connection);
        let answer = gateway.connect().ask(&request);
        if !answer.is_from_origin() {
            assert_eq!(answer.status, 400, "{named}: {answer:?}");
            assert!(origin.seen().is_empty(), "{named}");
            continue;
        }
        let seen = origin.last();
        for name in ["x-anteroom-number", "x-anteroom-pass", "x-forwarded-for", "x-anteroom-room"] {
            assert!(seen.header(name).is_some(), "{name} with {named} in {}", seen.raw);
        }
        let passed_on = seen.all("connection").any(|v| v.to_lowercase().contains("anteroom"));
        assert!(!passed_on, "an origin would drop them for it: {}", seen.raw);
    }
}

#[test]
fn our_cookies_are_ours() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "paths = [\"/echo\"]").start();
    let mut ann = Visitor::new(&gateway);
    assert!(ann.open("/echo").is_from_origin());
    ann.keep("a", "1");
    ann.keep("zz", "anteroom-no");
    ann.keep("anteroom-00000000", "of another room");
    ann.keep("__Host-anteroom-00000000", "of another room");
    for target in ["/echo", "/outside"] {
        assert!(ann.fetch(target).is_from_origin());
        assert_eq!(origin.last().header("cookie"), Some("a=1; zz=anteroom-no"), "{target}");
    }
    let mut bob = Visitor::new(&gateway);
    bob.keep("anteroom-00000000", "alone");
    assert!(bob.fetch("/outside").is_from_origin());
    assert_eq!(origin.last().header("cookie"), None);
}

#[test]
fn a_stranger_is_not_believed_about_where_they_come_from() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "paths = [\"/x\"]").start();
    let request = Request::get("/echo")
        .with("X-Forwarded-For", "198.51.100.9")
        .with("x-forwarded-for", "192.0.2.7, 10.0.0.1")
        .with("X-Forwarded-Proto", "https")
        .with("X-Forwarded-Host", "evil.example")
        .with("X-Forwarded-Port", "443")
        .with("Forwarded", "for=198.51.100.9")
        .with("X-Real-IP", "198.51.100.9");
    assert!(gateway.connect().ask(&request).is_from_origin());
    let seen = origin.last();
    assert_eq!(seen.all("x-forwarded-for").collect::<Vec<_>>(), ["127.0.0.1"]);
    assert_eq!(seen.all("x-forwarded-proto").collect::<Vec<_>>(), ["http"]);
    assert!(!seen.raw.contains("198.51.100.9") && !seen.raw.contains("192.0.2.7"), "{}", seen.raw);
    assert!(!seen.raw.contains("evil.example"), "{}", seen.raw);
    assert_eq!(seen.header("host"), Some("shop.example"));
}

/// IIS, older Symfony and Zend, and what came after them go by these instead of the path that was asked for.
#[test]
fn a_stranger_asks_for_no_other_path_than_the_one_that_was_judged() {
    let names = ["X-Original-URL", "x-rewrite-url", "X_Original_URL", "X-Rewrite.Url"];
    let origin = Origin::start();
    let plan = Gateway::before(&origin).room("sale", "paths = [\"/checkout\"]").tls();
    let gateway = plan.clone().start();
    let mut second = Http2::open(&gateway);
    for name in names {
        for request in [Request::get("/echo"), Request::post("/echo", "an order")] {
            let request = request.with(name, "/checkout");
            let doors = [gateway.connect().ask(&request), second.ask(&request)];
            for (answer, seen) in doors.iter().zip(origin.seen().iter().rev()) {
                assert!(answer.is_from_origin(), "{name}: {answer:?}");
                assert!(!seen.raw.contains("/checkout"), "{name}: {}", seen.raw);
            }
        }
    }
    assert_eq!(origin.seen().len(), names.len() * 4);
    // A trusted proxy may be one that rewrites.
    let gateway = plan.top("trusted_proxies = [\"127.0.0.0/8\"]").start();
    for request in [Request::get("/echo"), Request::post("/echo", "an order")] {
        let answer = gateway.connect().ask(&request.with("X-Original-URL", "/checkout"));
        assert!(answer.is_from_origin(), "{answer:?}");
        assert_eq!(origin.last().header("x-original-url"), Some("/checkout"));
    }
}

#[test]
fn who_is_let_by_for_a_method_asks_by_no_other_one() {
    let names = ["X-HTTP-Method-Override", "x-http-method", "X-Method-Override", "X_HTTP_Method"];
    let origin = Origin::start();
    let room = |bypass: &str| format!("max_active = 1\nbypass = [{bypass}]");
    let methods = room("{ method = \"OPTIONS\" }, { method = \"GET\" }");
    let plan = Gateway::before(&origin).room("sale", &methods).tls();
    // Whoever is trusted hands on what a stranger says.
    for plan in [plan.clone(), plan.top("trusted_proxies = [\"127.0.0.0/8\"]")] {
        let gateway = plan.start();
        let mut second = Http2::open(&gateway);
        for name in names {
            for method in ["GET", "OPTIONS"] {
                let request = Request::new(method, "/echo").with(name, "DELETE");
                for answer in [gateway.connect().ask(&request), second.ask(&request)] {
                    assert!(answer.is_from_origin(), "{name}: {answer:?}");
                    let seen = origin.last();
                    assert!(!seen.raw.contains("DELETE"), "{name}: {}", seen.raw);
                }
            }
        }
    }
    // Whoever is inside, and whoever need not wait whatever they do, may say it.
    let paths = room("{ method = \"POST\" }, { path = \"/api/*\" }");
    let gateway = Gateway::before(&origin).room("sale", &paths).start();
    let delete = |target: &str| Request::post(target, "").with(names[0], "DELETE");
    assert!(gateway.connect().ask(&delete("/api/7")).is_from_origin());
    assert_eq!(origin.last().header(names[0]), Some("DELETE"));
    let gateway = Gateway::before(&origin).room("sale", "max_active = 1").start();
    let mut ann = Visitor::new(&gateway);
    assert!(ann.open("/").is_from_origin());
    assert!(ann.send(delete("/cart/7")).is_from_origin());
    assert_eq!(origin.last().header(names[0]), Some("DELETE"));
}

#[test]
fn a_trusted_proxy_is_believed() {
    let origin = Origin::start();
    let room =
        "max_active = 1\nuser_header = \"x-user\"\nbypass = [{ address = \"198.51.100.0/24\" }]";
    let plan = Gateway::before(&origin).room("sale", room);
    let gateway = plan.top("trusted_proxies = [\"127.0.0.0/8\", \"10.0.0.0/8\"]").start();
    let mut ann = Visitor::new(&gateway)
        .with("X-Forwarded-For", "198.51.100.9, 203.0.113.5, 10.1.1.1")
        .with("X-Forwarded-Proto", "https")
        .with("X-User", "ann@example");
    let page = ann.open("/echo");
    assert!(page.is_from_origin(), "{page:?}");
    let seen = origin.last();
    let hops = seen.all("x-forwarded-for").collect::<Vec<_>>().join(", ");
    assert!(hops.contains("203.0.113.5"), "{hops}");
    assert_eq!(seen.header("x-forwarded-proto"), Some("https"));
    assert_eq!(seen.header("x-anteroom-user"), Some("ann@example"));
    let (name, _) = ann.token().expect("a pass");
    assert!(name.starts_with("__Host-"), "their connection is encrypted: {name}");
    // The rightmost address that is nobody's we trust is the client: what stands left of it is only said.
    let mut eve = Visitor::new(&gateway).with("X-Forwarded-For", "198.51.100.9, 203.0.113.6");
    assert!(!eve.open("/").is_from_origin(), "no exception for what somebody wrote there");
    let mut mate = Visitor::new(&gateway).with("X-Forwarded-For", "198.51.100.9, 10.1.1.1");
    assert!(mate.open("/").is_from_origin(), "an exception by address");
    assert_eq!(mate.token(), None, "and no pass");
}

#[test]
fn without_trust_no_header_names_a_user() {
    let origin = Origin::start();
    let room = "max_active = 1\nuser_header = \"x-user\"";
    let gateway = Gateway::before(&origin).room("sale", room).start();
    let mut ann = Visitor::new(&gateway).with("X-User", "root");
    assert!(ann.open("/echo").is_from_origin());
    assert_eq!(origin.last().header("x-anteroom-user"), None);
}
