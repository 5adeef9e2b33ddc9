//! The way into the dashboard: a key becomes a session, which is as good as the key, and no better.

use serde_json::{Value, json};

use super::{held, join};
use crate::support::operator::{ADMIN, OPERATOR, VIEWER};
use crate::support::{Connection, Gateway, Operator, Origin, Request, Response, eventually};

/// A request as a page of the port's own makes it.
fn ours(gateway: &Gateway, request: Request) -> Request {
    let host = gateway.admin_addr().to_string();
    request.with("Origin", &format!("http://{host}")).host(&host)
}

fn ask(gateway: &Gateway, request: &Request) -> Response {
    Connection::open(gateway.admin_addr()).ask(request)
}

fn try_key(gateway: &Gateway, key: &str) -> Response {
    ask(gateway, &ours(gateway, Request::call("/login", &json!({ "key": key }))))
}

/// The cookie of whoever logs in with a key.
#[track_caller]
fn log_in(gateway: &Gateway, key: &str) -> String {
    let answer = try_key(gateway, key);
    assert_eq!(answer.status, 204, "{answer:?}");
    let kept = answer.header("set-cookie").expect("a cookie");
    kept.split(';').next().expect("a pair").to_owned()
}

/// What a session sees.
fn get(gateway: &Gateway, cookie: &str, path: &str) -> Response {
    ask(gateway, &Request::get(path).with("Cookie", cookie))
}

/// What a session does, from the dashboard itself.
fn act(gateway: &Gateway, cookie: &str, path: &str, body: &Value) -> Response {
    ask(gateway, &ours(gateway, Request::call(path, body)).with("Cookie", cookie))
}

#[test]
fn a_key_becomes_a_session_of_twelve_hours_that_only_browsers_read() {
    let origin = Origin::start();
    let gateway = held(&origin);
    let answer = try_key(&gateway, OPERATOR);
    assert_eq!((answer.status, answer.body.len()), (204, 0));
    let kept = answer.header("set-cookie").expect("a cookie");
    for flag in ["; HttpOnly", "; SameSite=Strict", "; Path=/", "; Max-Age=43200"] {
        assert!(kept.contains(flag), "{kept}");
    }
    assert!(!kept.contains("Secure"), "the port speaks plain HTTP: {kept}");
    assert!(!kept.contains("Domain") && !kept.contains(OPERATOR), "{kept}");
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let cookie = log_in(&gateway, OPERATOR);
    let me = get(&gateway, &cookie, "/v1/me").json();
    assert_eq!(me, json!({ "name": "operator", "role": "operator", "tenant_id": null }));
    assert_eq!(get(&gateway, &cookie, "/v1/rooms").status, 200);
    let said = &gateway.events("admin.login", 1)[0];
    assert_eq!(said["admin_id"], "operator");
    assert!(!gateway.log_contains(&cookie), "a session is as secret as a key");
}

#[test]
fn a_session_that_somebody_wrote_is_none() {
    let origin = Origin::start();
    let gateway = held(&origin);
    let good = log_in(&gateway, VIEWER);
    let (name, value) = good.split_once('=').expect("a pair");
    let (until, rest) = value.split_once('.').expect("a time");
    let later = until.parse::<u64>().expect("a number") + 1;
    let (_, seal) = rest.split_once('.').expect("a name");
    for wrong in [
        format!("{later}.{rest}"),
        format!("{until}.admin.{seal}"),
        format!("{until}.{rest}A"),
        format!("{until}.viewer."),
        format!("1.{rest}"),
        String::new(),
        "é.é.é".to_owned(),
    ] {
        let answer = get(&gateway, &format!("{name}={wrong}"), "/v1/rooms");
        assert_eq!(answer.status, 401, "{wrong}");
    }
    let among = format!("a=b; {name}=x; {good}; c=d");
    assert_eq!(get(&gateway, &among, "/v1/rooms").status, 200, "whatever else is in the jar");
    for _ in 0..20 {
        assert_eq!(
            get(&gateway, &format!("{name}=x"), "/v1/rooms").status,
            401,
            "an old one is no guess"
        );
    }
}

#[test]
fn wrong_keys_count_at_the_login_as_they_do_everywhere() {
    let origin = Origin::start();
    let gateway = held(&origin);
    for _ in 0..10 {
        let answer = try_key(&gateway, "nobody-guesses-this-key-of-the-tests");
        assert_eq!((answer.status, answer.header("set-cookie")), (401, None));
    }
    let answer = try_key(&gateway, ADMIN);
    assert_eq!((answer.status, answer.code().as_str()), (429, "rate_limited"));
    assert!(answer.header("retry-after").is_some());
    assert_eq!(Operator::new(&gateway).get("/v1/rooms").status, 429, "they are counted together");
    assert_eq!(gateway.events("admin.refused", 10).len(), 10);
    assert!(!gateway.log_contains("nobody-guesses-this"));
}

#[test]
fn who_is_logged_in_stays_so_while_somebody_beside_them_guesses() {
    let origin = Origin::start();
    let gateway = held(&origin);
    let cookie = log_in(&gateway, OPERATOR);
    for _ in 0..11 {
        try_key(&gateway, "nobody-guesses-this-key-of-the-tests");
    }
    assert_eq!(try_key(&gateway, OPERATOR).status, 429);
    assert_eq!(get(&gateway, &cookie, "/v1/rooms").status, 200);
}

#[test]
fn a_page_of_another_site_does_nothing_by_somebodys_session() {
    let origin = Origin::start();
    let gateway = held(&origin);
    let cookie = log_in(&gateway, ADMIN);
    let host = gateway.admin_addr().to_string();
    let port = gateway.addr().port();
    let elsewhere: [&[(&str, &str)]; 9] = [
        &[],
        &[("Origin", "https://evil.example")],
        &[("Origin", "null")],
        &[("Origin", "")],
        &[("Origin", "http://")],
        &[("Origin", &format!("http://127.0.0.1:{port}"))],
        &[("Origin", &format!("http://{host}")), ("Sec-Fetch-Site", "cross-site")],
        &[("Origin", &format!("http://{host}")), ("Sec-Fetch-Site", "same-site")],
        &[("Sec-Fetch-Site", "none")],
    ];
    for headers in elsewhere {
        for (path, body) in [
            ("/v1/rooms/sale/pause", json!({})),
            ("/v1/rooms/sale/reset", json!({})),
            ("/v1/reload", json!({})),
            ("/login", json!({ "key": VIEWER })),
            ("/logout", json!({})),
        ] {
            let request = Request::call(path, &body).host(&host).with("Cookie", &cookie);
            let request =
                headers.iter().fold(request, |request, (name, value)| request.with(name, value));
            let answer = ask(&gateway, &request);
            assert_eq!(
                (answer.status, answer.code().as_str()),
                (403, "cross_site"),
                "{path} {headers:?}"
            );
            assert_eq!(answer.header("set-cookie"), None);
        }
    }
    assert_eq!(Operator::new(&gateway).see("/v1/rooms/sale")["paused"], false);
    for (name, value) in [("Sec-Fetch-Site", "same-origin"), ("Origin", &format!("https://{host}"))]
    {
        let request = Request::call("/v1/rooms/sale/pause", &json!({})).host(&host);
        let answer = ask(&gateway, &request.with("Cookie", &cookie).with(name, value));
        assert_eq!(answer.status, 200, "{name}: {answer:?}");
    }
    // Whoever shows a key needs no page.
    assert_eq!(Operator::new(&gateway).post("/v1/rooms/sale/resume", &json!({})).status, 200);
}

#[test]
fn a_session_may_do_what_its_key_may() {
    let origin = Origin::start();
    let gateway = held(&origin);
    join(&gateway, "sale", 2);
    let [viewer, operator, admin] = [VIEWER, OPERATOR, ADMIN].map(|key| log_in(&gateway, key));
    let count = json!({ "count": 1 });
    assert_eq!(act(&gateway, &viewer, "/v1/rooms/sale/release", &count).status, 403);
    let released = act(&gateway, &operator, "/v1/rooms/sale/release", &count);
    assert_eq!((released.status, &released.json()["released"]), (200, &json!(1)));
    assert_eq!(act(&gateway, &operator, "/v1/rooms/sale/reset", &json!({})).status, 403);
    assert_eq!(act(&gateway, &admin, "/v1/rooms/sale/reset", &json!({})).status, 200);
    let said = &gateway.events("admin.release", 1)[0];
    assert_eq!(said["admin_id"], "operator", "who it was is told, however they came");
}

#[test]
fn a_session_ends_with_its_key_and_outlives_a_restart() {
    let origin = Origin::start();
    let mut gateway = held(&origin);
    let cookie = log_in(&gateway, OPERATOR);
    gateway.stop();
    gateway.restart();
    assert_eq!(get(&gateway, &cookie, "/v1/rooms").status, 200);
    let config = gateway.config().text();
    let keys = config.lines().find(|line| line.starts_with("keys = [{ name")).expect("keys");
    let other = config.replace(OPERATOR, "another-key-of-the-tests-for-the-same-name");
    assert!(gateway.reload(&other));
    assert_eq!(
        get(&gateway, &cookie, "/v1/rooms").status,
        401,
        "the same name is not the same key"
    );
    assert!(gateway.reload(&config));
    assert_eq!(get(&gateway, &cookie, "/v1/rooms").status, 200);
    assert!(gateway.reload(&config.replace(keys, "keys = []")));
    assert_eq!(get(&gateway, &cookie, "/v1/rooms").status, 401);
    assert!(get(&gateway, &cookie, "/").text().contains("id=\"login\""));
}

#[test]
fn whoever_logs_out_is_forgotten_by_the_browser() {
    let origin = Origin::start();
    let gateway = held(&origin);
    let cookie = log_in(&gateway, VIEWER);
    let answer = act(&gateway, &cookie, "/logout", &json!({}));
    assert_eq!(answer.status, 204);
    let gone = answer.header("set-cookie").expect("a cookie");
    assert!(gone.starts_with("anteroom-session=;") && gone.contains("Max-Age=0"), "{gone}");
}

#[test]
fn the_files_are_for_everybody_and_do_nothing_but_what_they_say() {
    let origin = Origin::start();
    let gateway = held(&origin);
    let nobody = Operator::nobody(&gateway);
    let cookie = log_in(&gateway, VIEWER);
    let (out, page) = (nobody.get("/"), get(&gateway, &cookie, "/"));
    assert!(out.text().contains("id=\"login\"") && !out.text().contains("main.js"));
    assert!(page.text().contains("/dashboard/main.js"));
    let files = ["page.css", "main.js", "login.js", "chart.js", "verbs.js"];
    let files = files.map(|name| nobody.get(&format!("/dashboard/{name}")));
    for answer in [out, page].iter().chain(&files) {
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("x-frame-options"), Some("DENY"));
        let policy = answer.header("content-security-policy").expect("a policy");
        for rule in [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "frame-ancestors 'none'",
        ] {
            assert!(policy.contains(rule), "{policy}");
        }
        assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
        assert!(!answer.text().contains("style=") && !answer.text().contains("onclick=\""));
    }
    for path in ["/dashboard/", "/dashboard/x", "/dashboard/..%2Fclient.js", "/dashboard/page.html"]
    {
        assert!([401, 404].contains(&nobody.get(path).status), "{path}");
    }
    assert_eq!(nobody.send(Request::new("DELETE", "/login")).status, 405);
}

#[test]
fn every_second_there_is_news_of_all_rooms_that_one_may_see() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin)
        .room("sale", "mode = \"hold\"\nhosts = [\"plain.example\"]")
        .room("acme/sale", "mode = \"hold\"\nhosts = [\"acme.example\"]")
        .start();
    let next = |operator: Operator| -> Vec<Value> {
        let mut connection = Connection::open(operator.address);
        connection.send(&operator.dress(Request::get("/v1/updates")).bytes());
        let head = connection.read_head();
        assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")));
        let mut unread = String::new();
        eventually("two events", || {
            unread += &String::from_utf8_lossy(&connection.read_chunk());
            let told: Vec<Value> = unread
                .split_inclusive("\n\n")
                .filter(|event| event.starts_with("event: rooms\n") && event.ends_with("\n\n"))
                .filter_map(|event| event.lines().find_map(|line| line.strip_prefix("data: ")))
                .map(|data| serde_json::from_str(data).expect("JSON"))
                .collect();
            (told.len() >= 2).then_some(told)
        })
    };
    let names = |told: &Value| -> Vec<String> {
        let rooms = told["rooms"].as_array().expect("rooms").iter();
        rooms.map(|room| room["event_id"].as_str().expect("a name").to_owned()).collect()
    };
    let viewer = Operator::with_key(&gateway, VIEWER);
    let told = next(viewer.clone().at("*"));
    assert_eq!(names(&told[1]), ["acme/sale", "sale"]);
    assert_eq!(
        (&told[1]["store"], &told[1]["node"]["store"]),
        (&json!("connected"), &json!("memory"))
    );
    assert!(told[1]["node"]["connections"].is_u64(), "{}", told[1]);
    assert_ne!(told[0]["node"]["uptime_seconds"], told[1]["node"]["uptime_seconds"], "each is new");
    let told = next(viewer.at("acme"));
    assert_eq!(names(&told[0]), ["acme/sale"]);
    assert_eq!(told[0]["node"]["connections"], json!(null), "the node is nobody's");
}
