//! The pictures of the README. `make screenshots` takes them: in a real browser, of a real line.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::come;
use super::driver::Browser;
use super::gallery::{Gallery, PAGES};
use super::manner::{DESK, PHONE, Screen};
use crate::support::operator::OPERATOR;
use crate::support::{Gateway, Origin, Request, Visitor};

/// How large a picture may be that everybody loads who looks at the README.
const MOST_BYTES: usize = 150 * 1_024;

/// A desk as wide as is worth showing.
const WINDOW: Screen = Screen { width: 1100, height: 760, mobile: false };

fn folder() -> PathBuf {
    let here = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/pictures");
    std::env::var_os("ANTEROOM_PICTURES").map_or_else(|| here.into(), PathBuf::from)
}

fn keep(name: &str, picture: &[u8]) {
    assert!(picture.len() < MOST_BYTES, "{name} has {} bytes", picture.len());
    std::fs::create_dir_all(folder()).expect("a folder");
    std::fs::write(folder().join(name), picture).expect("space for a picture");
}

impl Browser {
    /// What can be seen, as a PNG.
    fn picture(&self) -> Vec<u8> {
        let taken = self.cdp("Page.captureScreenshot", json!({ "format": "png" }));
        STANDARD.decode(taken["data"].as_str().unwrap_or_default()).expect("base64")
    }
}

#[test]
#[ignore = "writes docs/pictures: make screenshots"]
fn of_the_waiting_page() {
    let origin = Origin::start();
    let page = "page = { title = \"Aurora Records\", message = \"The Northern Lights box set goes on sale today. One per visitor.\" }";
    let room = format!("rate = \"4/s\"\nburst = 1\npoll_max = \"5s\"\n{page}");
    let gateway = Gateway::before(&origin).room("sale", &room).start();
    let browser = Browser::start();
    come(&gateway, 1_250);
    browser.visit(&gateway, "/");
    let first = browser.waits();
    come(&gateway, 800);
    for moved in [30, 60, 90] {
        browser
            .until("the line moves", || browser.position().is_some_and(|now| now + moved < first));
    }
    let mut taken = Vec::new();
    for (name, screen, dark) in [
        ("phone-light", PHONE, false),
        ("phone-dark", PHONE, true),
        ("desktop-light", WINDOW, false),
        ("desktop-dark", WINDOW, true),
    ] {
        browser.sized(screen, 2.0);
        browser.dark(dark);
        let picture = browser.picture();
        keep(&format!("{name}.png"), &picture);
        taken.push(STANDARD.encode(&picture));
    }
    let picture = |at: usize, width: u32| {
        format!("<img width={width} src='data:image/png;base64,{}'>", taken[at])
    };
    let sheet = format!(
        "<!doctype html><style>body {{ margin: 0; padding: 28px; display: flex; gap: 28px; align-items: center; background: #8b93a5 }}
         img {{ border-radius: 14px; box-shadow: 0 10px 30px #0005 }}</style>{}{}{}",
        picture(0, 250),
        picture(2, 760),
        picture(1, 250)
    );
    browser.open("about:blank");
    browser.sized(Screen { width: 1372, height: 600, mobile: false }, 1.0);
    browser.dark(false);
    browser.script(&format!("document.open(); document.write({}); document.close()", json!(sheet)));
    browser.until("the pictures are there", || {
        browser.script(
            "return [...document.images].every(image => image.complete && image.naturalWidth)",
        ) == true
    });
    keep("waiting.png", &browser.picture());
}

#[test]
#[ignore = "writes docs/pictures: make screenshots"]
fn of_the_dashboard() {
    let origin = Origin::start();
    let room = |host: &str, more: &str| {
        format!("hosts = [\"{host}.example\"]\nsession_idle = \"20s\"\n{more}")
    };
    let gateway = Gateway::before(&origin)
        .room("northern-lights", &room("lights", "rate = \"4/s\"\nmax_active = 120"))
        .room("vinyl-friday", &room("vinyl", "rate = \"1/s\""))
        .start();
    let line = |host: &str, count: usize| -> Vec<Visitor> {
        let new = |_| Visitor::new(&gateway).at(&format!("{host}.example"));
        let mut line: Vec<Visitor> = (0..count).map(new).collect();
        line.iter_mut().for_each(|visitor| drop(visitor.open("/")));
        line
    };
    let mut waiting = VecDeque::from(line("lights", 900));
    line("vinyl", 80);
    let browser = Browser::start();
    browser.logs_in(gateway.admin_addr(), OPERATOR);
    browser.open(&format!("http://{}/#/rooms/northern-lights", gateway.admin_addr()));
    // A minute and a half of a sale: some come, the first of the line enter, one of twelve does not.
    for second in 0..90_usize {
        let began = Instant::now();
        waiting.extend(line("lights", 1 + (second / 10) % 4 * 3));
        for turn in 0..4 {
            let next = waiting.pop_front();
            if let Some(mut visitor) = next.filter(|_| (second + turn) % 12 != 0) {
                visitor.open("/");
            }
        }
        std::thread::sleep(Duration::from_secs(1).saturating_sub(began.elapsed()));
    }
    browser.sized(Screen { width: 1440, height: 1000, mobile: false }, 1.0);
    browser.dark(false);
    std::thread::sleep(Duration::from_secs(2));
    keep("dashboard.png", &browser.picture());
}

/// Where pictures go that are looked at and not kept.
fn gallery() -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("ANTEROOM_GALLERY")?);
    std::fs::create_dir_all(&folder).expect("a folder");
    Some(folder)
}

/// A page on a phone and on a desk, light and dark.
fn look_at(browser: &Browser, folder: &Path, page: &str) {
    for (name, screen, dark) in [
        ("phone-light", PHONE, false),
        ("phone-dark", PHONE, true),
        ("desktop", DESK, false),
        ("desktop-dark", DESK, true),
    ] {
        browser.sized(screen, 1.0);
        browser.dark(dark);
        let name = format!("{page}-{name}.png");
        std::fs::write(folder.join(name), browser.picture()).expect("space for a picture");
    }
}

/// The same of the page of a draw, and of what operators see of classes, visitors and a report.
#[test]
#[ignore = "writes pictures of the draw and of the dashboard into the folder that ANTEROOM_GALLERY names"]
fn of_the_draw_and_of_the_dashboards_parts() {
    let Some(folder) = gallery() else { return };
    let (origin, opens_ms) = (Origin::start(), anteroom::clock::now_ms() + 8_000);
    let opens = anteroom::clock::moment(opens_ms);
    let drawn = format!(
        "paths = [\"/drawn\"]\nrate = \"1/m\"\nschedule = [{{ opens = \"{opens}\", prequeue = \"1h\", draw = true }}]"
    );
    let presale = "max_active = 1\nclasses = { presale = { skip = 1.0, rank = 2, open = true } }";
    let shadow = "paths = [\"/shadow\"]\nmode = \"shadow\"\nrate = \"1/m\"\nburst = 1";
    let plan = Gateway::before(&origin).room("sale", presale).room("drawn", &drawn);
    let gateway = plan.room("shadow", shadow).start();
    assert!(Visitor::new(&gateway).open("/").is_from_origin());
    for nth in 0..6 {
        let body = json!({ "event_id": "sale", "device_id": format!("d{nth}"), "priority_bucket": "presale" });
        gateway.connect().ask(&Request::call("/.anteroom/v1/queue/join", &body));
        Visitor::new(&gateway).open("/");
        Visitor::new(&gateway).open("/shadow");
        Visitor::new(&gateway).open("/drawn");
    }
    let browser = Browser::start();
    browser.visit(&gateway, "/drawn");
    browser.visit(&gateway, "/.anteroom/draw?event_id=drawn");
    browser.reads("Nothing has been drawn yet.");
    look_at(&browser, &folder, "draw-soon");
    browser.until("the draw", || browser.sees("#good").is_some());
    look_at(&browser, &folder, "draw-good");
    let room =
        |name: &str| browser.open(&format!("http://{}/#/rooms/{name}", gateway.admin_addr()));
    browser.logs_in(gateway.admin_addr(), OPERATOR);
    look_at(&browser, &folder, "rooms");
    room("sale");
    browser.reads("6 of a class");
    look_at(&browser, &folder, "room-classes");
    browser.finds("A-000001", "Standing");
    look_at(&browser, &folder, "room-visitor");
    browser.click("[data-steer=requeue]");
    browser.reads("Requeue A-000001?");
    look_at(&browser, &folder, "room-dialog");
    browser.click("dialog .quiet");
    room("shadow");
    browser.reads("Had the room counted");
    look_at(&browser, &folder, "room-shadow");
    room("drawn");
    browser.until("a room", || browser.sees(".title .pill").is_some());
    look_at(&browser, &folder, "room-drawn");
}

/// For those who change the pages: one of each, to be looked at.
#[test]
#[ignore = "writes pictures of every page into the folder that ANTEROOM_GALLERY names"]
fn of_every_page() {
    let Some(folder) = gallery() else { return };
    let language = std::env::var("ANTEROOM_GALLERY_LANGUAGE").unwrap_or_else(|_| "en".to_owned());
    let gallery = Gallery::start();
    let browser = Browser::start();
    for page in PAGES {
        browser.speaks(&language);
        gallery.show(&browser, page);
        look_at(&browser, &folder, &format!("{page}-{language}"));
        if page == "frame" {
            browser.leave_frames();
        }
    }
}
