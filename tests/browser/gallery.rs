//! One of every page there is, each reached as visitors reach it.

use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::Crowd;
use super::driver::Browser;
use super::relay::Relay;
use crate::support::shaky::Manner;
use crate::support::{CutOff, Gateway, Operator, Origin, Request, Visitor};

/// Its pages.
pub const PAGES: [&str; 23] = [
    "waiting",
    "paused",
    "opening",
    "classed",
    "unsent",
    "reconnecting",
    "admitted",
    "expired",
    "error",
    "over",
    "closed",
    "full",
    "busy",
    "lost",
    "arrived",
    "down",
    "slow",
    "frame",
    "cookies-off",
    "not-sent",
    "own",
    "name",
    "roster",
];

/// A gateway with a room for each.
pub struct Gallery {
    pub origin: Origin,
    pub gateway: Gateway,
    pub relay: Relay,
    elsewhere: Origin,
    /// Without a store: one that takes nobody, one that records arrivals.
    pub lost: [CutOff; 2],
    _crowd: Crowd,
    _full: Vec<Visitor>,
}

impl Gallery {
    /// Opens its doors.
    pub fn start() -> Gallery {
        let (origin, elsewhere) = (Origin::start(), Origin::named("elsewhere"));
        let servers = |address: SocketAddr| [address.to_string()];
        let (site, nowhere) = (servers(origin.address()), servers(nowhere()));
        let own = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/page/own.html");
        let plan = Gateway::before(&origin).with(|config| {
            config.origin("nowhere", &nowhere, "health_interval = \"none\"").origin(
                "late",
                &site,
                "health_interval = \"none\"\nread_timeout = \"100ms\"",
            )
        });
        let opens = anteroom::clock::moment(anteroom::clock::now_ms() + 7_200_000);
        let gateway = plan
            .room("sale", "max_active = 1")
            .room("opening", &format!("paths = [\"/opening/*\"]\nrate = 0\nschedule = [{{ opens = \"{opens}\", prequeue = \"3h\", draw = true }}]"))
            .room("classed", "paths = [\"/classed/*\"]\nrate = 0\nclasses = { presale = { skip = 1.0 } }")
            .room("paused", "paths = [\"/paused/*\"]\nmode = \"hold\"")
            .room("turn", "paths = [\"/turn/*\"]\nrate = \"2/s\"\nburst = 1")
            .room("gone", "paths = [\"/gone/*\"]\nrate = \"2/s\"\nburst = 1\nclaim_window = \"2s\"")
            .room("closed", "paths = [\"/closed/*\"]\nmode = \"closed\"")
            .room("full", "paths = [\"/full/*\"]\nmax_active = 1\nmax_waiting = 1")
            .room("busy", "paths = [\"/busy/*\"]\nmax_active = 1")
            .limits("join_per_address = \"1/h\"")
            .room("down", "paths = [\"/down/*\"]\nmax_active = 9\norigin = \"nowhere\"")
            .room("slow", "paths = [\"/slow\"]\nmax_active = 9\norigin = \"late\"")
            .room(
                "own",
                &format!("paths = [\"/own/*\"]\nmode = \"hold\"\npage = {{ file = {own:?} }}"),
            )
            .room("names", "paths = [\"/name/*\", \"/roster/*\"]\nmode = \"hold\"\nmax_active = 9\nroster = true")
            .start();
        let crowd = Crowd::before(&gateway, 0);
        let mut full = vec![Visitor::new(&gateway), Visitor::new(&gateway)];
        for visitor in &mut full {
            visitor.open("/full/");
        }
        Visitor::new(&gateway).open("/busy/");
        let relay = Relay::to(&gateway);
        let lost = ["on_loss = \"closed\"", ""]
            .map(|on_loss| CutOff::starting(&origin, "max_active = 1", on_loss, Manner::Refusing));
        Gallery { origin, gateway, relay, elsewhere, lost, _crowd: crowd, _full: full }
    }

    /// Opens a page in a browser, which comes as somebody new.
    #[track_caller]
    pub fn show(&self, browser: &Browser, page: &str) {
        browser.offline(false);
        self.relay.breaks(false);
        browser.visit(&self.gateway, "/.anteroom/health");
        browser.command("DELETE", "/cookie", &Value::Null);
        let state = |state: &str| {
            browser.until(page, || browser.state().as_deref() == Some(state));
        };
        match page {
            "waiting" => {
                browser.visit(&self.gateway, "/waiting");
                browser.until(page, || browser.is("live"));
            }
            "opening" => {
                browser.visit(&self.gateway, "/opening/");
                browser.until(page, || browser.is("live") && browser.is("draw"));
            }
            "classed" => {
                let operator = Operator::new(&self.gateway);
                let wanted = json!({ "class": "presale", "url": "/classed/" });
                let made = operator.does("/v1/rooms/classed/invites", &wanted);
                browser.visit(&self.gateway, made["invites"][0]["url"].as_str().expect("a link"));
                browser.until(page, || browser.is("live") && browser.is("classed"));
            }
            "paused" => {
                browser.visit(&self.gateway, "/paused/");
                browser.until(page, || browser.is("live"));
            }
            "own" => {
                browser.visit(&self.gateway, "/own/");
                browser.until(page, || browser.is("live"));
            }
            "unsent" => {
                browser.visit(&self.gateway, "/");
                browser.submit(&self.gateway, "/order");
                browser.until(page, || browser.is("live") && browser.is("unsent"));
            }
            "reconnecting" => {
                browser.visit(&self.gateway, "/");
                browser.waits();
                browser.offline(true);
                browser.until(page, || browser.is("reconnecting"));
            }
            "admitted" => self.show_admitted(browser),
            "expired" => {
                self.come_late(browser, "/gone/");
                browser.offline(true);
                let double = browser.double(&self.gateway);
                let status = Request::get("/.anteroom/v1/queue/status?event_id=gone");
                let status = double.dress(status.with("Sec-Fetch-Site", "same-origin"));
                browser.until("the turn is over", || double.connect().ask(&status).status == 410);
                browser.offline(false);
                state("expired");
            }
            "error" => {
                browser.open(&self.relay.url("/"));
                browser.waits();
                self.relay.breaks(true);
                state("error");
            }
            "over" => {
                browser.visit(&self.gateway, "/");
                browser.waits();
                browser.click("[data-anteroom=leave]");
                browser.question();
                browser.answer(true);
                state("expired");
            }
            "frame" => {
                browser.open(&format!("http://localhost:{}/", self.elsewhere.address().port()));
                browser.enter_frame(&format!("http://{}/", self.gateway.addr()));
                browser.until(page, || browser.sees("a[target=_top]").is_some());
            }
            "cookies-off" => browser.visit(&self.gateway, "/.anteroom/continue?to=/"),
            "not-sent" => {
                browser.open(&format!("http://{}/", self.origin.address()));
                browser.submit(&self.gateway, "/order");
                browser.until(page, || browser.sees("h1").is_some() && browser.path() == "/order");
            }
            "lost" => {
                browser.open(&self.lost[0].url("/"));
                state("error");
            }
            "arrived" => {
                browser.open(&self.lost[1].url("/"));
                state("provisional");
            }
            "name" => {
                browser.visit(&self.gateway, "/name/");
                browser.until(page, || browser.sees("form.name").is_some());
            }
            "roster" => {
                static NAMED: AtomicUsize = AtomicUsize::new(1);
                browser.visit(&self.gateway, "/roster/");
                browser.until("a name is asked for", || browser.sees("form.name").is_some());
                // Nobody else may have it.
                let nth = NAMED.fetch_add(1, Ordering::Relaxed);
                browser.types("#name", &format!("Somebody whose name is long, the {nth}th"));
                browser.click("form.name button");
                browser.until(page, || browser.sees(".roster .me").is_some() && browser.is("live"));
            }
            "slow" => browser.visit(&self.gateway, "/slow?ms=2000"),
            page => browser.visit(&self.gateway, &format!("/{page}/")),
        }
    }

    /// Others come first: who comes now waits a moment at least.
    fn come_late(&self, browser: &Browser, path: &str) {
        for _ in 0..4 {
            Visitor::new(&self.gateway).open(path);
        }
        browser.visit(&self.gateway, path);
        assert_eq!(browser.state().as_deref(), Some("waiting"));
    }

    /// Their turn, found by a form: the page that goes in by itself after a while, and here does not.
    fn show_admitted(&self, browser: &Browser) {
        self.come_late(browser, "/turn/");
        browser.visit(&self.gateway, "/.anteroom/health");
        let status = "return fetch('/.anteroom/v1/queue/status?event_id=turn').then(r => r.json()).then(s => s.status)";
        browser.until("a turn", || browser.script(status) == "admitted");
        browser.submit(&self.gateway, "/turn/");
        let hold =
            "if (document.body?.dataset.anteroomState?.startsWith('admitted') && self.anteroom) {
                for (let id = setTimeout(() => {}); id > 0; id--) clearTimeout(id);
                return document.querySelector('[data-anteroom=window]').textContent !== '';
            }
            return false;";
        browser.until("admitted", || browser.try_script(hold).is_ok_and(|held| held == true));
    }
}

impl Browser {
    /// Somebody with the same cookies.
    #[track_caller]
    pub fn double(&self, gateway: &Gateway) -> Visitor {
        let mut double = Visitor::new(gateway);
        for cookie in self.command("GET", "/cookie", &Value::Null).as_array().into_iter().flatten()
        {
            double.keep(
                cookie["name"].as_str().unwrap_or_default(),
                cookie["value"].as_str().unwrap_or_default(),
            );
        }
        double
    }

    /// Puts a frame into the page one is on, and goes on inside it.
    #[track_caller]
    pub fn enter_frame(&self, url: &str) {
        self.script(&format!(
            "const frame = document.createElement('iframe'); frame.src = {};
             frame.style = 'border: 0; width: 320px; height: 600px';
             document.body.style = 'margin: 0'; document.body.append(frame);",
            json!(url)
        ));
        let find = json!({ "using": "css selector", "value": "iframe" });
        let frame = self.command("POST", "/element", &find);
        self.command("POST", "/frame", &json!({ "id": frame }));
    }

    /// Goes on outside of all frames.
    #[track_caller]
    pub fn leave_frames(&self) {
        self.command("POST", "/frame", &json!({ "id": null }));
    }
}

/// An address at which nobody listens.
fn nowhere() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address")
}
