//! How long one stays inside: while one is active, never longer than allowed, and no ghost keeps a seat.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::support::forge::expires;
use crate::support::{Gateway, Origin, Visitor, eventually};

fn start(room: &str) -> (Origin, Gateway, Visitor, Visitor) {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", room).start();
    let (ann, bob) = (Visitor::new(&gateway), Visitor::new(&gateway));
    (origin, gateway, ann, bob)
}

/// Asks every now and then for so long; how often the pass was renewed.
fn stays_active(visitor: &mut Visitor, time: Duration) -> usize {
    let began = Instant::now();
    let mut renewed = 0;
    while began.elapsed() < time {
        let page = visitor.fetch("/part");
        assert!(page.is_from_origin(), "after {:?}: {page:?}", began.elapsed());
        renewed += page.all("set-cookie").count();
        std::thread::sleep(Duration::from_millis(150));
    }
    renewed
}

#[test]
fn activity_renews_the_pass_by_cookie() {
    let (_origin, _gateway, mut ann, _) = start("max_active = 1\nsession_idle = \"2s\"");
    assert!(ann.open("/").is_from_origin());
    let first = expires(&ann.token().expect("a pass").1);
    let renewed = stays_active(&mut ann, Duration::from_millis(4_500));
    assert!(renewed >= 2, "{renewed}");
    assert!(expires(&ann.token().expect("a pass").1) > first + 1);
}

#[test]
fn an_idle_seat_is_given_to_the_next() {
    let (_origin, _gateway, mut ann, mut bob) = start("max_active = 1\nsession_idle = \"1s\"");
    assert!(ann.open("/").is_from_origin());
    assert_eq!(bob.open("/").state().as_deref(), Some("waiting"));
    bob.await_turn();
    assert!(bob.open("/").is_from_origin());
    let page = ann.open("/");
    assert!(!page.is_from_origin(), "her seat is taken: {page:?}");
}

#[test]
fn who_comes_back_before_the_seat_is_given_away_goes_on() {
    let (_origin, _gateway, mut ann, _) = start("max_active = 1\nsession_idle = \"2s\"");
    assert!(ann.open("/").is_from_origin());
    let pass = ann.token().expect("a pass").1;
    let over = UNIX_EPOCH + Duration::from_millis(expires(&pass) * 1_000 + 1_200);
    std::thread::sleep(over.duration_since(SystemTime::now()).unwrap_or_default());
    // The seat lasts as long as the pass says or, passes being in whole seconds, for a part of a second more.
    // Any method: whoever filled in a form for too long must not lose it for that.
    let sent = ann.submit("/upload", "what=7");
    assert!(sent.is_from_origin(), "{sent:?}");
    assert_ne!(ann.token().expect("a pass").1, pass, "a new pass comes with it");
}

#[test]
fn no_activity_lasts_longer_than_the_longest_session() {
    let room = "max_active = 1\nsession_idle = \"1s\"\nsession_max = \"2s\"";
    let (_origin, _gateway, mut ann, mut bob) = start(room);
    let began = Instant::now();
    assert!(ann.open("/").is_from_origin());
    assert_eq!(bob.open("/").state().as_deref(), Some("waiting"));
    eventually("her time is over", || {
        let page = ann.fetch("/part");
        (!page.is_from_origin()).then_some(())
    });
    let lasted = began.elapsed();
    assert!(lasted >= Duration::from_millis(900) && lasted < Duration::from_secs(6), "{lasted:?}");
    bob.await_turn();
    assert!(bob.open("/").is_from_origin());
}

#[test]
fn a_ghost_that_never_comes_back_holds_a_seat_for_moments_only() {
    let room = "max_active = 1\nsession_idle = \"60s\"\nsession_first = \"1s\"";
    let (_origin, _gateway, mut bot, mut bob) = start(room);
    assert!(bot.open("/").is_from_origin());
    assert_eq!(bob.open("/").state().as_deref(), Some("waiting"));
    bob.await_turn();
    assert!(bob.open("/").is_from_origin());
}

#[test]
fn who_comes_back_once_gets_the_whole_idle_time() {
    let room = "max_active = 1\nsession_idle = \"60s\"\nsession_first = \"2s\"";
    let (_origin, _gateway, mut ann, mut bob) = start(room);
    assert!(ann.open("/").is_from_origin());
    let first = expires(&ann.token().expect("a pass").1);
    assert_eq!(bob.open("/").state().as_deref(), Some("waiting"));
    let page = ann.fetch("/part");
    assert!(page.is_from_origin(), "{page:?}");
    let full = expires(&ann.token().expect("a pass").1);
    assert!(full >= first + 50, "the first request that brings it back: {first} → {full}");
    std::thread::sleep(Duration::from_secs(3));
    let page = ann.open("/");
    assert!(page.is_from_origin(), "the seat is hers: {page:?}");
    assert_eq!(bob.position(), 1);
}

#[test]
fn who_has_waited_gets_the_whole_idle_time_at_once() {
    let room = "max_active = 1\nsession_idle = \"60s\"\nsession_first = \"2s\"";
    let (_origin, _gateway, mut ann, mut bob) = start(room);
    ann.open("/");
    bob.open("/");
    ann.complete();
    bob.await_turn();
    assert!(bob.open("/").is_from_origin());
    let until = expires(&bob.token().expect("a pass").1);
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    assert!(until > now.expect("after 1970").as_secs() + 50, "{until}");
}
