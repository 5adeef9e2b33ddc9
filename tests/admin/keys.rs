//! Who may ask, and for what. Every call is tried with everything that can be wrong.

use serde_json::json;

use super::held;
use crate::support::operator::{ADMIN, OPERATOR, VIEWER};
use crate::support::{Connection, Gateway, Operator, Origin, Request, Response};

/// Every call that needs a key: method, path, a good body, the least role.
const CALLS: [(&str, &str, &str, &str); 28] = [
    ("GET", "/v1/me", "", VIEWER),
    ("GET", "/v1/updates", "", VIEWER),
    ("GET", "/v1/rooms", "", VIEWER),
    ("GET", "/v1/rooms/sale", "", VIEWER),
    ("GET", "/v1/rooms/sale/line", "", VIEWER),
    ("GET", "/v1/rooms/sale/visitors/1", "", VIEWER),
    ("GET", "/v1/rooms/sale/events", "", VIEWER),
    ("GET", "/v1/rooms/sale/history", "", VIEWER),
    ("GET", "/v1/rooms/sale/inside", "", VIEWER),
    ("GET", "/v1/rooms/sale/health", "", VIEWER),
    ("GET", "/v1/audit", "", VIEWER),
    ("GET", "/v1/nodes", "", VIEWER),
    ("GET", "/openapi.json", "", VIEWER),
    ("GET", "/v1/admin/metrics?event_id=sale", "", VIEWER),
    ("POST", "/v1/rooms/sale/pause", "{}", OPERATOR),
    ("POST", "/v1/rooms/sale/resume", "{}", OPERATOR),
    ("POST", "/v1/rooms/sale/release", r#"{"count":1}"#, OPERATOR),
    ("POST", "/v1/rooms/sale/revoke", r#"{"visitor":"1"}"#, OPERATOR),
    ("POST", "/v1/admin/release", r#"{"event_id":"sale","count":1}"#, OPERATOR),
    ("POST", "/v1/admin/pause", r#"{"event_id":"sale","paused":true}"#, OPERATOR),
    ("POST", "/v1/admin/config", r#"{"event_id":"sale","max_capacity":9}"#, OPERATOR),
    ("PATCH", "/v1/rooms/sale", r#"{"max_active":9}"#, OPERATOR),
    ("POST", "/v1/rooms/sale/boost", r#"{"rate":"9/s","seconds":5}"#, OPERATOR),
    ("POST", "/v1/rooms/sale/drain", "{}", OPERATOR),
    ("POST", "/v1/rooms/sale/message", r#"{"text":"Hello"}"#, OPERATOR),
    ("POST", "/v1/rooms/sale/repair", "{}", ADMIN),
    ("POST", "/v1/rooms/sale/reset", "{}", ADMIN),
    ("POST", "/v1/reload", "{}", ADMIN),
];

fn request(method: &str, path: &str, body: &str) -> Request {
    match method {
        "POST" | "PATCH" => {
            let post = Request::post(path, body).with("Content-Type", "application/json");
            Request { method: method.to_owned(), ..post }
        }
        _ => Request::new(method, path),
    }
}

/// The head alone: a stream of events has no end.
fn ask(operator: &Operator, request: Request) -> Response {
    let mut connection = Connection::open(operator.address);
    connection.send(&operator.dress(request).bytes());
    connection.read_head()
}

/// Each of these is wrong at most once for each call, and wrong keys are counted: a gateway for each kind of mistake.
fn gateway() -> (Origin, Gateway) {
    let origin = Origin::start();
    let gateway = held(&origin);
    (origin, gateway)
}

#[test]
fn without_a_key_nothing_is_told() {
    let (_origin, gateway) = gateway();
    let nobody = Operator::nobody(&gateway);
    for (method, path, body, _) in CALLS {
        let answer = nobody.send(request(method, path, body));
        assert_eq!((answer.status, answer.code().as_str()), (401, "unauthorized"), "{path}");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer realm=\"anteroom\""));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
    }
    for path in ["/v1/no/such/call", "/v1/rooms/sale/pause", "/dashboards"] {
        assert_eq!(nobody.get(path).status, 401, "{path}: not even what there is");
    }
    for path in ["/health", "/metrics"] {
        assert_eq!(nobody.get(path).status, 200, "{path}");
    }
}

#[test]
fn a_role_does_what_it_may_and_no_more() {
    let (_origin, gateway) = gateway();
    let roles = [VIEWER, OPERATOR, ADMIN];
    let rank = |key: &str| roles.iter().position(|role| *role == key).expect("a role");
    for (method, path, body, least) in CALLS {
        for key in roles {
            let operator = Operator::with_key(&gateway, key);
            let answer = ask(&operator, request(method, path, body));
            match rank(key) < rank(least) {
                true => assert_eq!(answer.status, 403, "{path} by {key}"),
                // Nobody has number 1.
                false if path.ends_with("/visitors/1") || path.ends_with("/revoke") => {
                    assert_eq!(answer.status, 404, "{path} by {key}");
                }
                false => assert_eq!(answer.status, 200, "{path} by {key}"),
            }
        }
    }
}

#[test]
fn a_wrong_key_is_none_and_too_many_of_them_are_waited_for() {
    let (_origin, gateway) = gateway();
    let right = format!("Bearer {VIEWER}");
    let wrong = [
        "Bearer nobody-guesses-this-key-of-the-tests".to_owned(),
        format!("Bearer {VIEWER}x"),
        format!("Bearer {}", &VIEWER[1..]),
        format!("Basic {VIEWER}"),
        VIEWER.to_owned(),
        "Bearer ".to_owned(),
        "Bearer".to_owned(),
        right.to_uppercase(),
    ];
    let ask = |value: &str| {
        let request = Request::get("/v1/rooms").with("Authorization", value);
        Operator::nobody(&gateway).send(request)
    };
    for wrong in &wrong {
        assert_eq!(ask(wrong).status, 401, "{wrong}");
        assert_eq!(ask(&right).status, 200, "after {wrong}");
    }
    for _ in wrong.len()..10 {
        assert_eq!(ask(&wrong[0]).status, 401);
    }
    let refused = ask(&wrong[0]);
    assert_eq!((refused.status, refused.code().as_str()), (429, "rate_limited"));
    let wait: u64 = refused.header("retry-after").expect("when").parse().expect("seconds");
    assert!((1..=120).contains(&wait), "{wait}");
    assert_eq!(ask(&right).status, 429, "whoever guesses must not learn that they were right");
    let nobody = Operator::nobody(&gateway);
    assert_eq!(nobody.get("/health").status, 200);
    let told = nobody.get("/metrics").text();
    assert!(told.contains("anteroom_rate_limit_hits_total{type=\"admin\"} 2"), "{told}");
    assert_eq!(gateway.events("admin.refused", 10).len(), 10);
    assert!(!gateway.log_contains("nobody-guesses-this"), "a key, even a wrong one, is never told");
}

#[test]
fn what_cannot_be_read_is_refused_with_a_sentence() {
    let (_origin, gateway) = gateway();
    let admin = Operator::new(&gateway);
    for (method, path, good, _) in CALLS.into_iter().filter(|(method, ..)| *method != "GET") {
        for bad in ["{", "[]", "\"x\"", "nothing", r#"{"surprise":1}"#, "\u{0}"] {
            let answer = admin.send(request(method, path, bad));
            assert_eq!(
                (answer.status, answer.code().as_str()),
                (400, "bad_request"),
                "{path} {bad}"
            );
            assert!(answer.json()["error"]["message"].as_str().is_some_and(|text| text.len() > 5));
        }
        let long = format!("{{\"count\":{}}}", " ".repeat(70_000) + "1");
        let answer = admin.send(request(method, path, &long));
        assert_eq!((answer.status, answer.code().as_str()), (413, "too_large"), "{path}");
        let forms = [(good, "text/plain"), ("count=1", "application/x-www-form-urlencoded")];
        for (body, kind) in forms {
            let form = Request::post(path, body).with("Content-Type", kind);
            let answer = admin.send(Request { method: method.to_owned(), ..form });
            assert_eq!(answer.status, 415, "{path}: {answer:?}");
        }
    }
    for (path, body) in [
        ("/v1/rooms/sale/release", json!({ "count": 0 })),
        ("/v1/rooms/sale/release", json!({ "count": -1 })),
        ("/v1/rooms/sale/release", json!({ "count": 1.5 })),
        ("/v1/rooms/sale/release", json!({ "count": 1_000_001 })),
        ("/v1/rooms/sale/release", json!({})),
        ("/v1/rooms/sale/revoke", json!({})),
        ("/v1/rooms/sale/revoke", json!({ "visitor": 1 })),
        ("/v1/admin/pause", json!({ "event_id": "sale" })),
    ] {
        assert_eq!(admin.post(path, &body).status, 400, "{path} {body}");
    }
    for query in ["from=0", "limit=0", "limit=1001", "from=x", "surprise=1", "from=-1"] {
        assert_eq!(admin.get(&format!("/v1/rooms/sale/line?{query}")).status, 400, "{query}");
    }
}

#[test]
fn what_is_not_there_is_told_so() {
    let (_origin, gateway) = gateway();
    let admin = Operator::new(&gateway);
    for path in [
        "/dashboard/x.js",
        "/v1",
        "/v1/rooms/",
        "/v1/rooms/sale/",
        "/v2/rooms",
        "/v1/rooms/sale/boost/x",
    ] {
        let answer = admin.get(path);
        assert_eq!((answer.status, answer.code().as_str()), (404, "not_found"), "{path}");
    }
    for path in ["/v1/rooms/other", "/v1/rooms/..", "/v1/rooms/sale%2F..", "/v1/rooms/%00"] {
        let answer = admin.get(path);
        assert_eq!((answer.status, answer.code().as_str()), (404, "not_found"), "{path}");
    }
    let answer = admin.get("/v1/rooms/sale/pause");
    assert_eq!((answer.status, answer.code().as_str()), (405, "method_not_allowed"));
    assert_eq!(answer.header("allow"), Some("POST"));
    assert_eq!(admin.post("/v1/rooms", &json!({})).status, 405);
    assert_eq!(admin.send(Request::new("DELETE", "/health")).status, 405);
}

#[test]
fn a_head_without_an_end_is_bounded_in_bytes() {
    let (_origin, gateway) = gateway();
    let admin = Operator::new(&gateway);
    let long = admin.send(Request::get("/v1/rooms").with("X-Long", &"x".repeat(100_000)));
    assert_eq!(long.status, 431, "{long:?}");
    let good = admin.send(Request::get("/v1/rooms").with("X-Long", &"x".repeat(30_000)));
    assert_eq!(good.status, 200);
}

#[test]
fn without_any_key_there_are_health_and_metrics_only() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "rate = \"5/s\"").start();
    let config = gateway.config().text();
    let keys = config.lines().find(|line| line.starts_with("keys = [{ name")).expect("keys");
    assert!(gateway.reload(&config.replace(keys, "keys = []")), "keys change with a reload");
    let admin = Operator::new(&gateway);
    assert_eq!(admin.get("/v1/rooms").status, 401);
    for path in ["/health", "/metrics"] {
        assert_eq!(Operator::nobody(&gateway).get(path).status, 200, "{path}");
    }
    assert!(gateway.reload(&config));
    assert_eq!(admin.get("/v1/rooms").status, 200);
}

#[test]
fn a_variable_brings_a_key() {
    let origin = Origin::start();
    let key = "a-key-of-the-tests-from-the-environment";
    let plan = Gateway::before(&origin).room("sale", "rate = \"5/s\"");
    let gateway =
        plan.with(|config| config.environment(&[("ANTEROOM_ADMIN_API_KEY", key)])).start();
    Operator::with_key(&gateway, key).does("/v1/rooms/sale/reset", &json!({}));
    let acted = &gateway.events("admin.reset", 1)[0];
    assert_eq!(acted["admin_id"], "env");
    assert!(!gateway.log_contains(key));
}
