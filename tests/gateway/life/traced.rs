//! Whoever traces a request finds it again behind the gateway: the trace's headers go through as they came, by every door and on
//! every way to the origin.

use crate::support::http2::Http2;
use crate::support::tls::{self, Front};
use crate::support::{Config, Gateway, Origin, Request, Visitor};

/// W3C Trace Context and Baggage, and what Zipkin and others had before; in all the forms that mean the same or almost.
const TRACE: [(&str, &str); 7] = [
    ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
    ("tracestate", "rojo=00f067aa0ba902b7,  congo=t61rcWkgMzE"),
    ("tracestate", "vendor@tenant=a:b;c"),
    ("baggage", "userId=Am%C3%A9lie,serverNode=DF%2028;prop=1, isProduction=false"),
    ("baggage", "second=line"),
    ("b3", "80f198ee56343ba864fe8b2a57d3eff7-e457b5a2e4d86bd1-1"),
    ("x-request-id", "7f3c-1"),
];

fn traced(request: Request) -> Request {
    TRACE.iter().fold(request, |request, (name, value)| request.with(name, value))
}

/// A request without a body, which goes the short way where there is one, and one with a body, which never does.
fn requests() -> [Request; 2] {
    [Request::get("/echo").by_browser(), Request::post("/echo", "what is sent").by_browser()]
        .map(traced)
}

#[track_caller]
fn arrived(origin: &Origin, how: &str) {
    let seen = origin.last();
    let mut names: Vec<&str> = TRACE.map(|(name, _)| name).to_vec();
    names.dedup();
    for name in names {
        let sent: Vec<&str> =
            TRACE.iter().filter(|(other, _)| *other == name).map(|(_, value)| *value).collect();
        let came: Vec<&str> = seen.all(name).collect();
        assert_eq!(came, sent, "{name}, {how}: {}", seen.raw);
    }
}

/// Three doors, with and without a body, inside a room and outside of every one.
#[test]
fn a_trace_goes_through_by_every_door_and_way() {
    let origin = Origin::start();
    let site = tempfile::tempdir().expect("a temporary directory");
    tls::write_pair_for(site.path(), &["localhost"]);
    let front = Front::before(origin.address(), site.path());
    let plain = Config::new(&[origin.address().to_string()]);
    let port = front.address().port();
    let secure = Config::new(&[format!("localhost:{port}")])
        .site("tls = true")
        .trusting(&site.path().join("cert.pem"));
    for (to, config) in [("a plain origin", plain), ("an origin with TLS", secure)] {
        for (room, paths) in [("inside", "/*"), ("outside", "/elsewhere")] {
            let guarded = format!("max_active = 9\npaths = [\"{paths}\"]");
            let gateway = Gateway::start(config.clone().room("sale", &guarded).tls());
            let how = |door: &str, request: &Request| {
                format!("{} {room} to {to} by {door}", request.method)
            };
            let mut first = Visitor::new(&gateway);
            let mut sealed = Visitor::secure(&gateway);
            let mut second = Http2::open(&gateway);
            // A pass first, and one that need not be renewed: that alone would keep a request from the short way.
            for visitor in [&mut first, &mut sealed] {
                assert!((0..2).all(|_| visitor.open("/echo").is_from_origin()));
            }
            let entered = second.ask(&Request::get("/echo").by_browser());
            assert!(entered.is_from_origin(), "{entered:?}");
            let cookie = entered.header("set-cookie").and_then(|set| set.split(';').next());
            for request in requests() {
                assert!(first.send(request.clone()).is_from_origin());
                arrived(&origin, &how("HTTP/1.1", &request));
                assert!(sealed.send(request.clone()).is_from_origin());
                arrived(&origin, &how("HTTP/1.1 over TLS", &request));
                let held = match cookie {
                    Some(cookie) => request.clone().with("cookie", cookie),
                    None => request.clone(),
                };
                assert!(second.ask(&held).is_from_origin());
                arrived(&origin, &how("HTTP/2", &request));
            }
        }
    }
}
