//! The same by HTTP/2, where a connection carries many requests and pingora has fewer deadlines of its own.

use std::time::{Duration, Instant};

use crate::support::frames::{
    END_HEADERS, END_STREAM, ENHANCE_YOUR_CALM, Frames, GOAWAY, HEADERS, INITIAL_WINDOW_SIZE,
    MAX_CONCURRENT_STREAMS, MAX_HEADER_LIST_SIZE, REFUSED_STREAM, RST_STREAM, SETTINGS,
    WINDOW_UPDATE, framed, head,
};
use crate::support::http2::Http2;
use crate::support::{Gateway, Origin, Request, Visitor, eventually};

/// No deadline is met before about a second, and every one of them soon after.
const SOON: Duration = Duration::from_secs(10);

fn start(room: &str, more: &str) -> (Origin, Gateway) {
    let origin = Origin::start();
    let plan = Gateway::before(&origin).room("sale", room).tls();
    let bounds =
        "[bounds]\nheader_timeout = \"1s\"\nidle_timeout = \"1s\"\nbody_timeout = \"1s\"\n";
    (origin, plan.tables(&format!("{bounds}{more}")).start())
}

/// Connections that the gateway holds at its TLS address, as the system lists them.
fn held(gateway: &Gateway) -> usize {
    let port = format!(":{:04X}", gateway.tls_addr().port());
    let table = std::fs::read_to_string("/proc/net/tcp").expect("a table of connections");
    let ours = |line: &&str| {
        let mut fields = line.split_whitespace().skip(1);
        let local = fields.next().unwrap_or_default();
        let state = fields.nth(1).unwrap_or_default();
        // Established, or closed by the other end alone.
        local.ends_with(&port) && matches!(state, "01" | "08")
    };
    table.lines().filter(ours).count()
}

/// Reads nothing of what it asked for, though there is room for it on the way: everything is buffered, and nobody
/// waits for a window.
fn deaf(gateway: &Gateway, target: &str, cookie: Option<&str>) -> Frames {
    let mut deaf = Frames::open(gateway, &[(INITIAL_WINDOW_SIZE, 0x7fff_ffff)]);
    deaf.send(WINDOW_UPDATE, 0, 0, &0x7fff_0000_u32.to_be_bytes());
    deaf.ask(1, target, cookie);
    deaf
}

#[test]
fn a_reader_that_opens_no_window_is_cut_off() {
    let (_origin, gateway) = start("mode = \"hold\"", "");
    // The site's page goes through the proxy, the waiting page does not.
    let (_site, open) = start("paths = [\"/x\"]", "");
    for (name, gateway) in [("a waiting page", &gateway), ("a page of the site", &open)] {
        let mut reader = Frames::open(gateway, &[(INITIAL_WINDOW_SIZE, 0)]).patient(SOON);
        let began = Instant::now();
        reader.ask(1, "/drop", None);
        let end = loop {
            let frame = reader.read().unwrap_or_else(|missing| panic!("{name}: {missing:?}"));
            if matches!(frame.kind, RST_STREAM | GOAWAY) {
                break frame;
            }
            assert!(frame.flags & END_STREAM == 0 || frame.stream == 0, "{name}: {frame:?}");
        };
        assert_eq!((end.kind, end.stream), (RST_STREAM, 1), "{name}: {end:?}");
        assert!(began.elapsed() >= Duration::from_millis(900), "{name}: {:?}", began.elapsed());
        assert!(reader.rest().is_some(), "{name}: and then it is idle");
    }
}

#[test]
fn a_reader_that_leaves_everything_in_the_socket_is_dropped() {
    let (_origin, gateway) = start("", "");
    let mut ann = Visitor::secure(&gateway);
    assert!(ann.open("/").is_from_origin());
    eventually("hers is closed", || (held(&gateway) == 0).then_some(()));
    let deaf = deaf(&gateway, "/download?bytes=60000000", ann.cookie().as_deref());
    eventually("it is under way", || (held(&gateway) == 1).then_some(()));
    eventually("the connection is given up", || (held(&gateway) == 0).then_some(()));
    drop(deaf);
}

#[test]
fn a_stream_of_events_that_nobody_reads_is_dropped() {
    let (_origin, gateway) = start("mode = \"hold\"", "");
    let mut ann = Visitor::secure(&gateway);
    ann.open("/");
    let mut reader = Frames::open(&gateway, &[(INITIAL_WINDOW_SIZE, 0)]).patient(SOON);
    reader.ask(1, "/.anteroom/v1/queue/events?event_id=sale", ann.cookie().as_deref());
    let end = reader.read_kind(RST_STREAM);
    assert_eq!(end.stream, 1, "{end:?}");
    assert!(reader.rest().is_some());
}

/// A connection without a request is idle, however busy it looks.
#[test]
fn a_head_without_an_end_is_cut_off() {
    let (origin, gateway) = start("paths = [\"/x\"]", "");
    let whole = head("/evil", None);
    let mut stopped = Frames::open(&gateway, &[]).patient(SOON);
    stopped.send(HEADERS, END_STREAM, 1, &whole[..10]);
    assert!(stopped.rest().is_some(), "kept for ever");

    let mut dripping = Frames::open(&gateway, &[]);
    dripping.send(HEADERS, END_STREAM, 1, &whole[..1]);
    let began = Instant::now();
    let closed = whole[1..].iter().cycle().take(1_000).any(|byte| {
        const CONTINUATION: u8 = 9;
        std::thread::sleep(Duration::from_millis(20));
        dripping.try_send(CONTINUATION, 0, 1, &[*byte]).is_err()
    });
    assert!(closed, "dripped on for {:?}", began.elapsed());
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    assert!(origin.seen().is_empty());
}

#[test]
fn pings_keep_no_connection() {
    let (_origin, gateway) = start("", "");
    let mut busy = Frames::open(&gateway, &[]);
    let began = Instant::now();
    let closed = (0..1_000).any(|_| {
        const PING: u8 = 6;
        std::thread::sleep(Duration::from_millis(20));
        busy.try_send(PING, 0, 0, &[7; 8]).is_err()
    });
    assert!(closed && began.elapsed() < SOON, "kept for {:?}", began.elapsed());
}

#[test]
fn the_bounds_are_told_and_kept() {
    let (origin, gateway) = start("paths = [\"/x\"]", "header_bytes = \"16KiB\"\n");
    let mut frames = Frames::open(&gateway, &[]);
    let told = frames.read_kind(SETTINGS);
    assert_eq!(told.setting(MAX_HEADER_LIST_SIZE), Some(16 * 1024), "{told:?}");
    assert_eq!(told.setting(MAX_CONCURRENT_STREAMS), Some(100), "{told:?}");
    // Whoever does not listen: a hundred are served, and the others refused as if they had never been there.
    for number in 0..150 {
        frames.ask(2 * number + 1, "/slow?ms=700", None);
    }
    let (mut served, mut refused) = (0, 0);
    while served + refused < 150 {
        match frames.read() {
            Ok(frame) if frame.kind == HEADERS => served += 1,
            Ok(frame) if frame.kind == RST_STREAM => {
                assert_eq!(frame.code(), Some(REFUSED_STREAM), "{frame:?}");
                refused += 1;
            }
            Ok(frame) => assert_ne!(frame.kind, GOAWAY, "{frame:?}"),
            Err(missing) => panic!("{served} served, {refused} refused, then {missing:?}"),
        }
    }
    assert_eq!((served, refused), (100, 50));
    assert_eq!(origin.seen_at("/slow").len(), 100);
}

#[test]
fn too_much_of_a_head_is_refused_by_either_door() {
    let (origin, gateway) = start("paths = [\"/x\"]", "header_lines = 128\n");
    let ann = Visitor::secure(&gateway);
    let lines = |count: usize| {
        let more = |request: Request, line| request.with(&format!("X-{line}"), "y");
        (0..count).fold(Request::get("/lines"), more)
    };
    let mut door = Http2::open(&gateway);
    let mut both = |request: &Request| {
        let one = ann.connect().ask(request).status;
        // A head that the protocol itself is told not to take is refused before it is a request.
        (one, door.try_ask(request).map_or(431, |answer| answer.status))
    };
    // `Host` is a line of HTTP/1.1 alone.
    assert_eq!(both(&lines(127)), (200, 200), "as much as is allowed is allowed");
    assert_eq!(both(&lines(129)), (431, 431));
    assert_eq!(both(&Request::get("/bytes").with("X-Big", &"a".repeat(60_000))), (431, 431));
    assert_eq!(both(&Request::get("/bytes").with("X-Big", &"a".repeat(30_000))), (200, 200));
    assert_eq!(origin.seen_at("/lines").len() + origin.seen_at("/bytes").len(), 4);
    // A browser sends every cookie as a line of its own, and may have many.
    let cookies = (0..150)
        .fold(Request::get("/cookies"), |request, n| request.with("Cookie", &format!("a{n}=1")));
    assert!(door.ask(&cookies).is_from_origin());
    assert_eq!(origin.last().all("cookie").count(), 1, "one line to the origin");
}

#[test]
fn whoever_asks_and_takes_it_back_again_and_again_is_sent_away() {
    let (origin, gateway) = start("paths = [\"/x\"]", "");
    let mut restless = Frames::open(&gateway, &[]);
    let asked_and_not = |number: u32| {
        let (stream, cancel) = (2 * number + 1, 8_u32.to_be_bytes());
        let asked = framed(HEADERS, END_HEADERS | END_STREAM, stream, &head("/slow?ms=5000", None));
        [asked, framed(RST_STREAM, 0, stream, &cancel)].concat()
    };
    // In one piece: none of them is being served yet when it is taken back.
    restless.send_all(&(0..100).flat_map(asked_and_not).collect::<Vec<u8>>());
    let away = restless.read_kind(GOAWAY);
    assert_eq!(away.payload.get(4..8), Some(&ENHANCE_YOUR_CALM.to_be_bytes()[..]), "{away:?}");
    assert!(restless.rest().is_some());
    assert!(origin.seen().len() < 50, "{} of them reached the site", origin.seen().len());
    assert_eq!(Http2::open(&gateway).ask(&Request::get("/.anteroom/health")).status, 200);
}
