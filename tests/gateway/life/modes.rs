//! Rooms that are closed, full, held or empty out; and what a waiting page's status is.

use crate::support::{Gateway, Origin, Request, Visitor, eventually};
use serde_json::json;

fn start(room: &str) -> (Origin, Gateway) {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", room).start();
    (origin, gateway)
}

#[test]
fn closed() {
    let (origin, gateway) = start("mode = \"closed\"");
    let mut ann = Visitor::new(&gateway);
    let page = ann.open("/");
    assert_eq!((page.status, page.state().as_deref()), (503, Some("error")), "{page:?}");
    assert!(page.header("retry-after").is_some());
    assert_eq!(ann.token(), None, "no number");
    let body = json!({ "event_id": "sale", "device_id": "d1" });
    let answer = gateway.connect().ask(&Request::call("/.anteroom/v1/queue/join", &body));
    assert_eq!((answer.status, answer.code().as_str()), (503, "queue_disabled"));
    assert!(answer.header("retry-after").is_some());
    assert!(origin.seen().is_empty());
}

#[test]
fn full() {
    let (_origin, gateway) = start("max_active = 1\nmax_waiting = 1");
    let [mut ann, mut bob, mut cid] = [(); 3].map(|()| Visitor::new(&gateway));
    assert!(ann.open("/").is_from_origin());
    assert_eq!(bob.open("/").state().as_deref(), Some("waiting"));
    let page = cid.open("/");
    assert_eq!((page.status, page.state().as_deref()), (503, Some("error")), "{page:?}");
    assert!(page.header("retry-after").is_some());
    assert_eq!(cid.token(), None);
    let body = json!({ "event_id": "sale", "device_id": "d1" });
    let answer = gateway.connect().ask(&Request::call("/.anteroom/v1/queue/join", &body));
    assert_eq!((answer.status, answer.code().as_str()), (503, "queue_full"));
    assert!(answer.header("retry-after").is_some());
    assert_eq!(bob.position(), 1);
}

#[test]
fn held() {
    let (origin, gateway) = start("mode = \"hold\"\nmax_active = 10");
    let mut ann = Visitor::new(&gateway);
    assert_eq!(ann.open("/").state().as_deref(), Some("waiting"));
    assert_eq!(ann.position(), 1);
    assert!(origin.seen().is_empty());
}

/// Whoever is in line when a schedule closes the room is told that it is closed, and until when; before an opening it is no pause.
#[test]
fn closed_by_schedule() {
    let (_origin, gateway) = start("rate = 0");
    let mut ann = Visitor::new(&gateway);
    assert_eq!(ann.open("/").state().as_deref(), Some("waiting"));
    let config = gateway.config().text();
    let opens = anteroom::clock::moment(anteroom::clock::now_ms() + 3_600_000);
    for (prequeue, state) in [("30m", "waiting paused\""), ("2h", "waiting\"")] {
        let schedule =
            format!("rate = 0\nschedule = [{{ opens = \"{opens}\", prequeue = \"{prequeue}\" }}]");
        assert!(gateway.reload(&config.replace("rate = 0", &schedule)));
        let page = eventually("the page says when it opens", || {
            let page = ann.open("/");
            page.text().contains("data-anteroom-opens=\"3").then_some(page)
        });
        let text = page.text();
        assert!(text.contains(&format!("data-anteroom-state=\"{state}")), "{prequeue}: {text}");
        let left = page.shown("eta").expect("a countdown");
        let hour = ["1:00:00", "59:", "58:"]
            .iter()
            .any(|begin| left.starts_with(&format!("Opens in {begin}")));
        assert!(hour, "{prequeue}: {left}");
        let after = page.header("retry-after").and_then(|after| after.parse::<u64>().ok());
        assert!(after.is_some_and(|after| after <= 30), "it asks again: {after:?}");
    }
}

#[test]
fn drained() {
    let (_origin, gateway) = start("max_active = 1");
    let [mut ann, mut bob, mut cid] = [(); 3].map(|()| Visitor::new(&gateway));
    ann.open("/");
    bob.open("/");
    let text =
        gateway.config().text().replace("max_active = 1", "max_active = 1\nmode = \"drain\"");
    assert!(gateway.reload(&text));
    crate::support::eventually("nobody new is taken", || {
        cid.forget();
        (cid.open("/").state().as_deref() == Some("error")).then_some(())
    });
    assert!(ann.open("/").is_from_origin(), "who is inside stays");
    ann.complete();
    bob.await_turn();
    assert!(bob.open("/").is_from_origin(), "the line empties");
}

#[test]
fn a_waiting_page_has_the_status_the_operator_wants_and_a_program_is_never_misled() {
    for status in [200, 202, 429, 503] {
        let (_origin, gateway) = start(&format!("mode = \"hold\"\nqueued_status = {status}"));
        let mut ann = Visitor::new(&gateway);
        let page = ann.open("/");
        assert_eq!(page.status, status, "{page:?}");
        assert!(page.header("retry-after").is_some());
        assert!(page.header("cache-control").is_some_and(|value| value.contains("no-store")));
        let wanted = if status < 400 { 503 } else { status };
        assert_eq!(ann.fetch("/a.js").status, wanted);
    }
}

#[test]
fn own_words_and_numbers_on_the_page() {
    let room = "mode = \"hold\"\nticket_prefix = \"VIP\"\n\
                page = { title = \"The <Shop>\", message = \"Tea & cake\", accent = \"#112233\" }";
    let (_origin, gateway) = start(room);
    let mut ann = Visitor::new(&gateway);
    let page = ann.open("/");
    assert_eq!(page.shown("label").as_deref(), Some("VIP-000001"), "{}", page.text());
    assert!(page.text().contains("Tea &amp; cake") || page.text().contains("Tea &#38; cake"));
    assert!(!page.text().contains("<Shop>"), "{}", page.text());
    assert_eq!(ann.status().json()["message"], "Tea & cake");
    let german = Request::get("/").by_browser().with("Accept-Language", "de-AT, en;q=0.5");
    assert_eq!(ann.send(german).header("content-language"), Some("de"));
}
