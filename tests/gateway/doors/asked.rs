//! One of everything that may be asked for, with the status it gets: a request that came to nothing would compare well.

use serde_json::{Value, json};

use crate::support::{Config, Gateway, Origin, Request, Visitor};

/// A request, by name, and the status of its answer.
pub type Asked = (&'static str, u16, Request);

/// A gateway that has one of everything to answer, and who stands before it.
pub struct House {
    pub gateway: Gateway,
    _origin: Origin,
    /// Waits.
    ann: Visitor,
    /// Is inside.
    bob: Visitor,
    /// Has left the line, and kept the ticket.
    eve: Visitor,
}

const ROOMS: [(&str, &str); 9] = [
    ("sale", "mode = \"hold\""),
    ("shop", "max_active = 2"),
    ("shut", "mode = \"closed\""),
    ("full", "mode = \"hold\"\nmax_waiting = 1"),
    ("few", "mode = \"hold\""),
    ("rare", "mode = \"hold\""),
    ("dead", "origin = \"dead\""),
    ("slow", "origin = \"slow\""),
    ("inner", "mode = \"hold\"\ncookies = \"partitioned\""),
];

impl House {
    pub fn open() -> House {
        let origin = Origin::start();
        let servers = [origin.address().to_string()];
        let nobody = {
            let gone = Origin::start();
            gone.address().to_string()
        };
        let mut config = Config::new(&servers)
            .origin("dead", &[nobody], "health_interval = \"none\"")
            .origin("slow", &servers, "health_interval = \"none\"\nread_timeout = \"300ms\"")
            .tables("[bounds]\nbody_bytes = 100000\n[sites.\"shop.example\"]\norigin = \"site\"");
        for (name, text) in ROOMS {
            let guards = format!("hosts = [\"shop.example\"]\npaths = [\"/{name}/*\"]\n{text}");
            config = config.room(name, &guards);
            config = match name {
                "few" => {
                    config.limits("requests_per_address = \"1/h\"\nrequests_per_ticket = \"1/h\"")
                }
                "rare" => config.limits("join_per_address = \"1/h\"\nevents = 0"),
                _ => config,
            };
        }
        let gateway = Gateway::start(config.tls());
        let [mut ann, mut bob, mut eve] = [(); 3].map(|()| Visitor::secure(&gateway));
        for room in ["sale", "full", "few", "rare"] {
            assert_eq!(
                ann.open(&format!("/{room}/")).state().as_deref(),
                Some("waiting"),
                "{room}"
            );
        }
        assert_eq!(ann.open("/dead/").status, 502, "inside, all the same");
        // Once by the ticket, too.
        assert_eq!(ann.open("/few/").state().as_deref(), Some("waiting"));
        assert!(bob.open("/shop/").is_from_origin());
        eve.open("/sale/");
        let ticket = eve.token().expect("a ticket").1;
        let mut app = Visitor::secure(&gateway);
        let left = app.call("queue/leave", &json!({ "queue_id": ticket }));
        assert_eq!(left.status, 200, "{left:?}");
        House { gateway, _origin: origin, ann, bob, eve }
    }

    /// Everything.
    pub fn requests(&self) -> Vec<Asked> {
        [self.pages(), self.ours(), self.asking(), self.joining(), self.refused(), self.passing()]
            .concat()
    }

    /// What visitors see.
    fn pages(&self) -> Vec<Asked> {
        let House { ann, eve, .. } = self;
        let form = |target: &str| Request::post(target, "a=b").by_browser();
        let frame = |target: &str| {
            get(target)
                .with("Accept", "text/html")
                .with("Sec-Fetch-Mode", "navigate")
                .with("Sec-Fetch-Dest", "iframe")
        };
        let german = ann.dress(html("/sale/")).with("Accept-Language", "de");
        vec![
            ("a waiting page", 503, ann.dress(html("/sale/?a=b"))),
            ("in German, zipped", 503, german.with("Accept-Encoding", "gzip")),
            ("joining", 503, html("/sale/")),
            ("a part", 503, ann.dress(get("/sale/part"))),
            ("a part of a stranger", 503, get("/sale/part")),
            ("a prefetch", 503, html("/sale/").with("Sec-Purpose", "prefetch")),
            ("JSON", 503, json_of(ann.dress(get("/sale/part")))),
            ("JSON of a stranger", 503, json_of(get("/sale/part"))),
            ("a form", 503, ann.dress(form("/sale/form"))),
            ("a form of a stranger", 503, form("/sale/form")),
            ("a frame", 503, frame("/sale/")),
            ("a frame of who waits", 503, ann.dress(frame("/sale/"))),
            ("a frame where frames are at home", 503, frame("/inner/")),
            ("closed", 503, html("/shut/")),
            ("closed, for a script", 503, json_of(get("/shut/"))),
            ("full", 503, html("/full/")),
            ("over", 503, eve.dress(html("/sale/"))),
            ("over, a form", 503, eve.dress(form("/sale/form"))),
            ("over, a part", 503, eve.dress(get("/sale/part"))),
            ("over, for a script", 503, json_of(eve.dress(get("/sale/part")))),
            ("too often, by address", 429, html("/few/")),
            ("too often, a part", 429, get("/few/")),
            ("too often, for a script", 429, json_of(get("/few/"))),
            ("too often, by ticket", 429, ann.dress(html("/few/"))),
            ("one join too many", 429, html("/rare/")),
            ("an origin that is down", 502, html("/dead/")),
            ("an origin that is down, for a script", 502, json_of(ann.dress(get("/dead/")))),
            ("an origin that is slow", 504, html("/slow?ms=5000")),
            ("another host", 421, html("/").host("nobody.example")),
            ("another host, for a script", 421, json_of(get("/")).host("nobody.example")),
        ]
    }

    /// What is ours and not the API.
    fn ours(&self) -> Vec<Asked> {
        let House { ann, eve, .. } = self;
        let version = anteroom::page::client().version;
        let back = |to: &str| html(&format!("/.anteroom/continue?to={to}"));
        let rejoin = |body: &str| Request::post("/.anteroom/rejoin", body).by_browser();
        vec![
            ("health", 200, get("/.anteroom/health")),
            ("health, its head", 200, head("/.anteroom/health")),
            ("health of another host", 200, get("/.anteroom/health").host("nobody.example")),
            ("the client", 200, get("/.anteroom/client.js")),
            ("the client, its head", 200, head("/.anteroom/client.js")),
            (
                "the client, zipped",
                200,
                get("/.anteroom/client.js?v=x").with("Accept-Encoding", "gzip"),
            ),
            ("the client, for good", 200, get(&format!("/.anteroom/client.js?v={version}"))),
            ("the client by POST", 404, Request::post("/.anteroom/client.js", "")),
            ("not ours", 404, get("/.anteroom/nothing")),
            ("not ours, dressed up", 404, get("/%2eanteroom/nothing")),
            ("ours, of another host", 404, get("/.anteroom/nothing").host("nobody.example")),
            ("back", 303, ann.dress(back("%2Fsale%2F"))),
            ("back, its head", 303, ann.dress(head("/.anteroom/continue?to=/sale/"))),
            ("back, over", 303, eve.dress(back("%2Fsale%2F"))),
            ("back to where no room is", 303, back("/open?a=b")),
            ("back to nowhere", 303, html("/.anteroom/continue")),
            ("back to another site", 303, ann.dress(back("//evil.example"))),
            ("back by POST", 404, Request::post("/.anteroom/continue?to=/sale/", "")),
            ("cookies off", 503, back("%2Fsale%2F")),
            ("rejoin", 303, ann.dress(rejoin("to=%2Fsale%2F"))),
            ("rejoin, over", 303, eve.dress(rejoin("to=%2Fsale%2F"))),
            ("rejoin, nobody", 303, rejoin("to=%2Fsale%2F")),
            ("rejoin, without a word", 303, ann.dress(rejoin(""))),
            ("rejoin to another site", 303, ann.dress(rejoin("to=%2F%5Cevil.example"))),
            ("rejoin by GET", 404, html("/.anteroom/rejoin")),
            ("rejoin, too large", 413, rejoin(&" ".repeat(20_000))),
        ]
    }

    /// Asking for a place by the API.
    fn asking(&self) -> Vec<Asked> {
        let House { ann, bob, eve, .. } = self;
        let ticket = of(ann, "sale");
        let status = format!("{}?queue_id={ticket}", api("queue/status"));
        let left = of(eve, "sale");
        let by_cookie = |name: &str, room: &str| get(&format!("{}?event_id={room}", api(name)));
        let named = |name: &str, ticket: &str| get(&format!("{}?queue_id={ticket}", api(name)));
        let beat = |ticket: &str| call("queue/heartbeat", &json!({ "queue_id": ticket }));
        let bearer = get(&api("queue/status")).with("Authorization", &format!("Bearer {ticket}"));
        vec![
            ("status", 200, get(&status)),
            ("status, its head", 200, head(&status)),
            ("status by bearer", 200, bearer),
            ("status by cookie", 200, ann.dress(by_cookie("queue/status", "sale"))),
            ("status of who is inside", 200, bob.dress(by_cookie("queue/status", "shop"))),
            ("status of who left", 410, named("queue/status", &left)),
            ("status of nobody", 400, by_cookie("queue/status", "sale")),
            ("status of nothing", 404, named("queue/status", "x")),
            ("status of which", 400, ann.dress(get(&api("queue/status")))),
            ("status of a room that is none", 400, by_cookie("queue/status", "none")),
            ("status at another host", 404, get(&status).host("nobody.example")),
            ("status too often", 429, ann.dress(by_cookie("queue/status", "few"))),
            ("the short status", 200, named("status", &ticket)),
            ("heartbeat", 200, beat(&ticket)),
            ("heartbeat of who left", 410, beat(&left)),
            ("heartbeat of nothing", 404, beat("x")),
            (
                "heartbeat by cookie of another site",
                403,
                ann.dress(call("queue/heartbeat", &json!({ "event_id": "sale" }))),
            ),
            ("events", 200, bob.dress(by_cookie("queue/events", "shop"))),
            ("no events of nothing", 404, named("queue/events", "x")),
            ("no events of who left", 410, named("queue/events", &left)),
            ("no events of nobody", 400, by_cookie("queue/events", "sale")),
            (
                "no events where there are too many",
                503,
                ann.dress(by_cookie("queue/events", "rare")),
            ),
            ("no events by POST", 405, call("queue/events", &json!({ "queue_id": ticket }))),
        ]
    }

    /// Joining, leaving and entering by the API.
    fn joining(&self) -> Vec<Asked> {
        let House { ann, bob, eve, .. } = self;
        let join = |body: &Value| call("queue/join", body);
        let device = |room: &str| json!({ "event_id": room, "device_id": "d" });
        let ticket = of(ann, "sale");
        let pass = of(bob, "shop");
        let verify = |room: &str, token: &str| {
            call("admission/verify", &json!({ "event_id": room, "token": token }))
        };
        let foreign = ann.dress(call("queue/leave", &json!({ "event_id": "sale" })));
        vec![
            ("a join", 200, call("join", &json!({ "event_id": "sale" }))),
            ("a join without anything", 400, join(&json!({}))),
            ("a join without a device", 400, join(&json!({ "event_id": "sale" }))),
            ("a join of a number", 400, join(&json!({ "event_id": 7, "device_id": "d" }))),
            (
                "a join with too long a device",
                400,
                join(&json!({ "event_id": "sale", "device_id": "d".repeat(9_000) })),
            ),
            ("a join by two devices", 400, join(&device("sale")).with("X-Device-ID", "e")),
            ("a join of a room that is none", 400, join(&device("x"))),
            ("a join of a closed room", 503, join(&device("shut"))),
            ("a join of a full room", 503, join(&device("full"))),
            ("one join too many", 429, join(&device("rare"))),
            ("a join too often", 429, join(&device("few"))),
            ("leave nothing", 404, call("queue/leave", &json!({ "queue_id": "x" }))),
            ("leave again", 200, call("queue/leave", &json!({ "queue_id": of(eve, "sale") }))),
            ("leave, by another site", 403, foreign.with("Sec-Fetch-Site", "cross-site")),
            (
                "complete nothing",
                404,
                call("admission/complete", &json!({ "event_id": "shop", "token": "x" })),
            ),
            ("verify", 200, verify("shop", &pass)),
            ("verify for another room", 200, verify("sale", &pass)),
            ("verify nothing", 400, verify("sale", "x")),
            ("verify a ticket", 200, verify("sale", &ticket)),
        ]
    }

    /// What can't be asked at all.
    fn refused(&self) -> Vec<Asked> {
        let join = |body: &str| Request::post(&api("queue/join"), body);
        vec![
            ("not JSON", 400, join("hello").with("Content-Type", "application/json")),
            ("not said to be JSON", 415, join("{}").with("Content-Type", "text/plain")),
            (
                "a field twice",
                400,
                join("{\"a\":1,\"a\":2}").with("Content-Type", "application/json"),
            ),
            ("by another method", 405, get(&api("queue/join"))),
            ("by a method of browsers", 405, Request::new("OPTIONS", &api("queue/join"))),
            ("no such call", 404, get(&api("nothing"))),
            ("no such call by POST", 404, call("nothing", &json!({}))),
            ("too large", 413, join(&" ".repeat(20_000))),
            ("a method that is not served", 405, Request::new("TRACE", "/open")),
            ("a path that is not ASCII", 400, get("/caf\u{e9}")),
            ("a path in a room that is not ASCII", 400, html("/sale/\u{e9}")),
            ("a query that is not ASCII", 400, get("/open?\u{80}")),
            ("ours, not in ASCII", 400, get("/.anteroom/\u{e9}")),
            ("a list of hosts", 400, get("/open").host("shop.example,nobody.example")),
            ("a host with a bracket", 400, get("/open").host("shop.example(x)")),
            ("a host with a sign", 400, get("/open").host("shop.example;x=1")),
            ("a bad expectation", 417, get("/open").with("Expect", "200-ok")),
        ]
    }

    /// What goes to the origin.
    fn passing(&self) -> Vec<Asked> {
        let House { bob, .. } = self;
        vec![
            ("inside", 200, bob.dress(get("/shop/page"))),
            ("inside, a form", 200, bob.dress(Request::post("/shop/form", "hello"))),
            (
                "inside, too large a form",
                413,
                bob.dress(Request::post("/shop/form", vec![b' '; 100_001])),
            ),
            ("outside", 200, html("/open")),
            ("a form outside", 200, Request::post("/upload", "hello")),
            ("a large one", 200, get("/download?bytes=200000")),
            ("another status", 404, get("/reply?status=404&h=X-Thing:1&h=Set-Cookie:a=b")),
            ("not changed", 304, bob.dress(get("/reply?status=304&h=ETag:7"))),
            ("no content", 204, get("/reply?status=204")),
        ]
    }
}

fn get(target: &str) -> Request {
    Request::get(target)
}

fn head(target: &str) -> Request {
    Request::new("HEAD", target)
}

fn html(target: &str) -> Request {
    get(target).by_browser()
}

fn json_of(request: Request) -> Request {
    request.with("Accept", "application/json")
}

fn api(name: &str) -> String {
    format!("/.anteroom/v1/{name}")
}

fn call(name: &str, body: &Value) -> Request {
    Request::call(&api(name), body)
}

/// What a visitor holds of a room.
fn of(visitor: &Visitor, room: &str) -> String {
    let held = visitor
        .tokens()
        .into_iter()
        .find(|token| crate::support::forge::read(token).1["event_id"] == room);
    held.unwrap_or_else(|| panic!("nothing of {room}"))
}
