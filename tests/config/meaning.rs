//! What a good file means: the defaults that were promised, and what is made of what is written.

use std::time::Duration;

use anteroom::config::{LogFormat, LogLevel};
use anteroom::gateway::route::Bypass;
use anteroom::gateway::settings::{Bind, Bounds, Cookies, Loss, OnLoss, Origin, Room};
use anteroom::limit::Allowance;
use anteroom::line::{
    Adaptive, Class, ClassOrder, Event, JoinLimit, Mode, OnAbsence, Pace, Rate, Settings, Signal,
    Subject,
};

use super::{load, loaded, plan};

const SITE: &str = "[origins.shop]\nservers = [\"127.0.0.1:3000\"]\n";

/// A room with this in it.
fn room(text: &str) -> Room {
    let text = format!("{SITE}[rooms.sale]\norigin = \"shop\"\n{text}\n");
    plan(&text).gateway.rooms.remove(0)
}

#[test]
fn what_becomes_of_visitors_while_the_store_is_away() {
    let loss = |text: &str| {
        let room = "[rooms.sale]\norigin = \"shop\"\nrate = \"5/s\"\n";
        plan(&format!("[store]\nurl = \"memory:\"\n{text}\n{SITE}{room}")).gateway.loss
    };
    let on_loss = |on_loss| Loss { on_loss, open_after: None };
    assert_eq!(loss("on_loss = \"hold\""), on_loss(OnLoss::Hold));
    assert_eq!(loss("on_loss = \"open\""), on_loss(OnLoss::Open));
    assert_eq!(loss("on_loss = \"closed\""), on_loss(OnLoss::Closed));
    let open_after = Some(Duration::from_secs(300));
    assert_eq!(loss("open_after = \"5m\""), Loss { on_loss: OnLoss::Hold, open_after });
}

/// The defaults are promises to whoever leaves a key out.
#[test]
fn the_defaults_are_those_that_were_promised() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("anteroom.toml");
    std::fs::write(&path, format!("{SITE}[rooms.sale]\norigin = \"shop\"\nrate = \"5/s\"\n"))
        .expect("space for it");
    let (plan, warnings) = anteroom::config::load(&path, &Default::default()).expect("a good file");
    assert_eq!(warnings, []);
    assert_eq!(plan.source.as_deref(), Some(path.as_path()));
    assert_eq!(
        plan.store.url,
        format!("embedded:{}", directory.path().join("anteroom.db").display())
    );
    assert!(plan.keys.signing.is_empty() && plan.keys.pass.is_empty());
    assert_eq!((plan.log.level, plan.log.format), (LogLevel::Info, LogFormat::Auto));
    assert_eq!(plan.admin.listen.as_deref(), Some("127.0.0.1:9090"));
    assert_eq!((&plan.admin.metrics_listen, plan.admin.metrics_public), (&None, true));
    assert!(plan.admin.keys.is_empty());
    assert_eq!(plan.metrics.prefix, "anteroom_");

    let gateway = plan.gateway;
    assert_eq!(gateway.listen, ["0.0.0.0:8080"]);
    assert!(gateway.tls.is_empty() && gateway.trusted_proxies.is_empty());
    assert!(gateway.api_hosts.is_empty() && gateway.sites.is_empty());
    assert_eq!((gateway.threads, gateway.upgrade_socket), (None, None));
    assert_eq!(gateway.grace, Duration::from_secs(30));
    assert_eq!(gateway.bounds, Bounds::default());
    assert_eq!(gateway.loss, Loss { on_loss: OnLoss::Hold, open_after: None });
    assert_eq!(gateway.access, 0.0);
    let servers = vec!["127.0.0.1:3000".to_owned()];
    assert_eq!(gateway.origins["shop"], Origin { servers, ..Origin::default() });

    let room = &gateway.rooms[0];
    assert_eq!((room.guard.room.as_str(), room.guard.origin.as_str()), ("sale", "shop"));
    assert_eq!((&room.guard.hosts, &room.guard.paths), (&None, &None));
    assert!(room.guard.bypass.is_empty());
    let per = |subject, max, per_ms| JoinLimit { subject, max, per_ms };
    let line = Settings {
        mode: Mode::Auto,
        pace: Some(Pace::Rate { rate: Rate { count: 5, per_ms: 1_000 }, burst: 5 }),
        max_active: None,
        max_waiting: Some(100_000),
        claim_window_ms: 120_000,
        session_idle_ms: Some(300_000),
        session_max_ms: Some(1_800_000),
        session_first_ms: 30_000,
        heartbeat_timeout_ms: 150_000,
        on_absence: OnAbsence::Keep,
        ticket_max_ms: 86_400_000,
        join_limits: vec![
            per(Subject::Address, 20, 60_000),
            per(Subject::Device, 5, 60_000),
            per(Subject::User, 10, 60_000),
            per(Subject::User, 30, 3_600_000),
        ],
        webhooks: false,
        slots: Vec::new(),
        slot_grace_ms: 10_000,
        roster: false,
        classes: Vec::new(),
        class_order: ClassOrder::Skip,
        class_share: 1_000,
        adaptive: None,
        schedule: Vec::new(),
    };
    assert_eq!(room.line, line);
    assert_eq!(room.version, 0);
    assert_eq!(room.ticket_prefix, "A");
    assert_eq!((room.cookies, &room.cookie_domain), (Cookies::Lax, &None));
    assert_eq!((room.queued_status, &room.user_header), (503, &None));
    assert!(!room.single_use);
    assert_eq!(room.bind, Bind::default());
    assert_eq!(room.poll_max, Duration::from_secs(30));
    let minute = |max| Some(Allowance { max, per_ms: 60_000 });
    assert_eq!(room.limits.requests_per_address, minute(100));
    assert_eq!(room.limits.requests_per_ticket, minute(60));
    assert_eq!((room.limits.places_per_address, room.limits.events), (None, 2_000));
}

/// Who goes before whom, in which seat, when it opens, and how fast: as it is written.
#[test]
fn ways_of_letting_people_in_mean_what_is_written() {
    let line = |text: &str| room(text).line;
    let found = line(
        "rate = \"50/s\"\nrate_min = \"30/m\"\nclass_order = \"strict\"\nclass_share = 0.375\n\
         classes = { vip = { skip = 0.5 }, presale = { skip = 1.0, rank = 2, open = true }, late = { rank = 9 } }\n\
         adaptive = { signal = \"completions\", target_p95 = \"750ms\", max_error_ratio = 0.015, completion_ratio = 0.6 }",
    );
    let class = |name: &str, skip, rank| Class { name: name.to_owned(), skip, rank };
    let mut classes = found.classes.clone();
    classes.sort_by(|one, other| one.name.cmp(&other.name));
    assert_eq!(classes, [class("late", 0, 9), class("presale", 1_000, 2), class("vip", 500, 0)]);
    assert_eq!((found.class_order, found.class_share), (ClassOrder::Strict, 375));
    let adaptive = Adaptive {
        signal: Signal::Completions,
        target_ms: 750,
        max_errors: 15,
        min: Rate { count: 30, per_ms: 60_000 },
        completes: 600,
    };
    assert_eq!(found.adaptive, Some(adaptive));
    let open =
        room("rate = \"5/s\"\nclasses = { a = { skip = 0.1, open = true }, b = { rank = 1 } }");
    assert_eq!(open.open_classes, ["a"], "the others want proof");
    assert_eq!(open.line.classes.iter().find(|class| class.name == "a").map(|a| a.skip), Some(100));
    for (share, thousandths) in
        [("0", 0), ("0.001", 1), ("0.29", 290), ("0.999", 999), ("1", 1_000)]
    {
        let text =
            format!("rate = \"5/s\"\nclasses = {{ a = {{ skip = 1 }} }}\nclass_share = {share}");
        assert_eq!(line(&text).class_share, thousandths, "{share}");
    }

    let found = line("slots = [\"X\", \"O\"]\nslot_grace = \"3s\"\nroster = true");
    assert_eq!(found.slots, ["X", "O"]);
    assert_eq!((found.slot_grace_ms, found.roster, found.max_active), (3_000, true, Some(2)));

    let found = line(
        "rate = \"5/s\"\nschedule = [\n\
         { opens = \"2026-12-01T10:00:00Z\", prequeue = \"30m\", draw = true, closes = \"2026-12-01T12:00:00+01:00\", every = \"week\" },\n\
         { opens = \"2026-12-24T00:00:00-05:00\", closes = \"2026-12-24T06:00:00Z\", every = \"day\" },\n\
         { opens = \"2027-01-01T00:00:00Z\" }]",
    );
    let opens_ms = 1_796_119_200_000;
    let hour_ms = 3_600_000;
    let weekly = Event {
        opens_ms,
        prequeue_ms: hour_ms / 2,
        draw: true,
        closes_ms: Some(opens_ms + hour_ms),
        every_ms: Some(7 * 24 * hour_ms),
    };
    // Five hours west of Greenwich, 22 days and 19 hours later.
    let daily_ms = opens_ms + (22 * 24 + 19) * hour_ms;
    let daily = Event {
        opens_ms: daily_ms,
        prequeue_ms: 0,
        draw: false,
        closes_ms: Some(daily_ms + hour_ms),
        every_ms: Some(24 * hour_ms),
    };
    let once = Event {
        opens_ms: opens_ms + (30 * 24 + 14) * hour_ms,
        prequeue_ms: 0,
        draw: false,
        closes_ms: None,
        every_ms: None,
    };
    assert_eq!(found.schedule, [weekly, daily, once]);
}

/// The manual writes the defaults out: it must not say others.
#[test]
fn the_manual_says_the_same() {
    let (manual, _) = load("conf/anteroom.toml").expect("the manual is good");
    let (minimal, _) = load("conf/minimal.toml").expect("the minimal file is good");
    assert_eq!(manual.gateway.listen, minimal.gateway.listen);
    assert_eq!(manual.gateway.grace, minimal.gateway.grace);
    assert_eq!(manual.gateway.bounds, minimal.gateway.bounds);
    assert_eq!((manual.store, manual.log), (minimal.store, minimal.log));
    assert_eq!(manual.gateway.access, minimal.gateway.access);
    assert_eq!(manual.admin.listen, minimal.admin.listen);
    assert_eq!(manual.admin.metrics_public, minimal.admin.metrics_public);
    assert_eq!(manual.metrics, minimal.metrics);
    let (one, other) = (&manual.gateway.rooms[0], &minimal.gateway.rooms[0]);
    assert_eq!((&one.line, one.limits), (&other.line, other.limits));
    assert_eq!((&one.ticket_prefix, one.poll_max), (&other.ticket_prefix, other.poll_max));
    assert_eq!((one.queued_status, one.cookies), (other.queued_status, other.cookies));
    let (one, other) = (&manual.gateway.origins["shop"], &minimal.gateway.origins["shop"]);
    let one = Origin { servers: other.servers.clone(), health_path: None, ..one.clone() };
    assert_eq!(&one, other);
}

#[test]
fn a_pace_is_what_was_written() {
    let pace = |text: &str| room(text).line.pace;
    let rate = |count, per_ms, burst| Some(Pace::Rate { rate: Rate { count, per_ms }, burst });
    assert_eq!(pace(""), None);
    assert_eq!(pace("rate = \"300/m\""), rate(300, 60_000, 5));
    assert_eq!(pace("rate = \"0.2/s\""), rate(1, 5_000, 1));
    assert_eq!(pace("rate = 0"), rate(0, 1_000, 1));
    assert_eq!(pace("rate = \"0\""), rate(0, 1_000, 1));
    assert_eq!(pace("rate = \"40/h\"\nburst = 7"), rate(40, 3_600_000, 7));
    assert_eq!(pace("rate = \"5/s\"\nburst = \"max_active\"\nmax_active = 90"), rate(5, 1_000, 90));
    let batch = |batch, interval_ms, windows| Some(Pace::Batch { batch, interval_ms, windows });
    assert_eq!(pace("batch = 50"), batch(50, 10_000, 2));
    assert_eq!(pace("batch = 50\ninterval = \"1m\"\nwindows = 3"), batch(50, 60_000, 3));
}

/// Who sets one of several that depend on each other must not be told to set the others.
#[test]
fn what_is_not_written_fits_what_is() {
    let poll_max = |text: &str| room(text).poll_max;
    assert_eq!(poll_max("rate = 1\n".replace('1', "\"1/s\"").as_str()), Duration::from_secs(30));
    assert_eq!(poll_max("heartbeat_timeout = \"60s\""), Duration::from_secs(20));
    assert_eq!(poll_max("claim_window = \"20s\""), Duration::from_secs(10));
    assert_eq!(poll_max("batch = 50"), Duration::from_secs(10));
    assert_eq!(poll_max("poll_max = \"45s\""), Duration::from_secs(45));
    assert_eq!(room("session_idle = \"20s\"").line.session_first_ms, 20_000);
    assert!(room("single_use = true").single_use);
    let only_max = room("session_idle = \"none\"").line;
    assert_eq!((only_max.session_idle_ms, only_max.session_max_ms), (None, Some(1_800_000)));
    let only_idle = room("session_max = \"none\"\nsession_idle = \"2h\"").line;
    assert_eq!((only_idle.session_idle_ms, only_idle.session_max_ms), (Some(7_200_000), None));
    assert_eq!(room("max_waiting = \"none\"").line.max_waiting, None);
}

#[test]
fn limits_can_be_several_or_switched_off() {
    let limited = room(
        "limits = { join_per_address = \"none\", join_per_device = [\"1/s\", \"9/h\"], join_per_user = \"3/m\", \
         requests_per_address = \"none\", requests_per_ticket = \"7/s\", events = 0 }",
    );
    let per = |subject, max, per_ms| JoinLimit { subject, max, per_ms };
    let joins = [
        per(Subject::Device, 1, 1_000),
        per(Subject::Device, 9, 3_600_000),
        per(Subject::User, 3, 60_000),
    ];
    assert_eq!(limited.line.join_limits, joins);
    assert_eq!(limited.limits.requests_per_address, None);
    assert_eq!(limited.limits.requests_per_ticket, Some(Allowance { max: 7, per_ms: 1_000 }));
    assert_eq!(limited.limits.events, 0);
}

#[test]
fn places_of_an_address_are_joins_in_the_life_of_a_ticket() {
    let limited = |text: &str| {
        let room = room(&format!("limits = {{ join_per_address = \"none\", {text}"));
        let joins = room.line.join_limits.into_iter();
        let places = joins.filter(|limit| limit.subject == Subject::Address).collect::<Vec<_>>();
        let known = room.limits.places_per_address;
        assert_eq!(
            places.first().map(|limit| (limit.max, limit.per_ms)),
            known.map(|limit| (limit.max, limit.per_ms)),
            "{text}"
        );
        known
    };
    let day = 86_400_000;
    let places = |max, per_ms| Some(Allowance { max, per_ms });
    assert_eq!(limited("places_per_address = 0 }"), None);
    assert_eq!(limited("places_per_address = 4 }"), places(4, day));
    assert_eq!(limited("places_per_address = 1 }\nticket_max = \"2h\""), places(1, 7_200_000));
    assert_eq!(limited("places_per_address = 1 }\nticket_max = \"7d\""), places(1, day));
}

#[test]
fn what_passes_are_bound_to() {
    let bind = |text: &str| {
        let Bind { device, agent } = room(text).bind;
        (device, agent)
    };
    assert_eq!(bind("bind = []"), (false, false));
    assert_eq!(bind("bind = [\"agent\"]"), (false, true));
    assert_eq!(bind("bind = [\"device\"]"), (true, false));
    assert_eq!(bind("bind = [\"agent\", \"device\", \"agent\"]"), (true, true));
}

#[test]
fn what_a_room_guards() {
    let guard = room(
        "hosts = [\"Shop.Example.com\", \"*.example.org\", \"[::1]\"]\npaths = [\"/checkout\", \"/drop/*\", \"/*\"]\n\
         bypass = [{ path = \"/static/*\" }, { address = \"192.0.2.7/24\" }, { address = \"2001:db8::1\" },\n\
         { header = \"X-Probe:  a value that nobody guesses \" }, { method = \"OPTIONS\" }]",
    )
    .guard;
    assert_eq!(guard.hosts.unwrap(), ["shop.example.com", "*.example.org", "::1"]);
    assert_eq!(guard.paths.unwrap(), ["/checkout", "/drop/*", "/*"]);
    let expected = [
        Bypass::Path("/static/*".to_owned()),
        Bypass::Address("192.0.2.0/24".parse().unwrap()),
        Bypass::Address("2001:db8::1/128".parse().unwrap()),
        Bypass::Header("x-probe".to_owned(), "a value that nobody guesses".to_owned()),
        Bypass::Method("OPTIONS".to_owned()),
    ];
    assert_eq!(guard.bypass, expected);
    assert_eq!(room("hosts = []").guard.hosts, Some(vec![]));
}

/// The first room that was written is the first, whatever its name: it gives its host the origin.
#[test]
fn rooms_stay_in_the_order_they_were_written_in() {
    let text = format!(
        "{SITE}[rooms.zebra]\norigin = \"shop\"\nhosts = [\"z.example.com\"]\nrate = \"1/s\"\n\
         [rooms.ant]\norigin = \"shop\"\nhosts = [\"a.example.com\"]\nrate = \"1/s\"\n\
         [rooms.\"tenant/sale\"]\norigin = \"shop\"\nhosts = [\"t.example.com\"]\nrate = \"1/s\"\n"
    );
    let rooms = plan(&text).gateway.rooms;
    let names: Vec<&str> = rooms.iter().map(|room| room.guard.room.as_str()).collect();
    assert_eq!(names, ["zebra", "ant", "tenant/sale"]);
}

#[test]
fn two_origins_on_a_host_are_fine_where_nothing_is_left_open() {
    let rooms = |one: &str, other: &str, more: &str| {
        let text = format!(
            "{SITE}[origins.blog]\nservers = [\"127.0.0.1:4000\"]\n\
             [rooms.one]\norigin = \"shop\"\nhosts = [\"www.example.com\"]\nrate = \"1/s\"\n{one}\n\
             [rooms.other]\norigin = \"blog\"\nhosts = [\"www.example.com\"]\nrate = \"1/s\"\n{other}\n{more}\n"
        );
        loaded(&text, &Default::default()).map(|_| ()).map_err(|problems| problems.to_string())
    };
    let (checkout, blog) = ("paths = [\"/checkout\"]", "paths = [\"/blog/*\"]");
    assert!(rooms(checkout, blog, "").is_err());
    assert_eq!(rooms(checkout, "", ""), Ok(()), "the second guards all the rest");
    assert_eq!(rooms(checkout, "paths = [\"/*\"]", ""), Ok(()));
    assert_eq!(rooms(checkout, blog, "[sites.\"www.example.com\"]\norigin = \"shop\""), Ok(()));
    let any = "[rooms.any]\norigin = \"shop\"\nhosts = [\"*.example.com\"]\nrate = \"1/s\"";
    assert_eq!(rooms(checkout, blog, any), Ok(()), "the wildcard's room guards all the rest");
}

#[test]
fn versions_are_the_rooms_own_or_the_files() {
    let text = format!(
        "config_version = 3\n{SITE}[rooms.one]\norigin = \"shop\"\nhosts = [\"a.example\"]\nrate = \"1/s\"\n\
         [rooms.two]\norigin = \"shop\"\nhosts = [\"b.example\"]\nrate = \"1/s\"\nconfig_version = 9\n"
    );
    let rooms = plan(&text).gateway.rooms;
    assert_eq!((rooms[0].version, rooms[1].version), (3, 9));
}

#[test]
fn tls_alone_opens_nothing_plain() {
    let files = std::env::current_dir().expect("a directory").join("tests/config/files");
    let tls = format!(
        "[[tls]]\nlisten = \"127.0.0.1:8443\"\ncert = {:?}\nkey = {:?}\n",
        files.join("cert.pem"),
        files.join("key.pem")
    );
    let text = format!(
        "{SITE}[rooms.sale]\norigin = \"shop\"\nrate = \"1/s\"\ncookies = \"partitioned\"\n{tls}"
    );
    let plan = plan(&text);
    assert!(plan.gateway.listen.is_empty());
    assert_eq!(plan.gateway.tls[0].listen, "127.0.0.1:8443");
    assert!(plan.gateway.rooms[0].look.framed);
}

#[test]
fn a_picture_is_put_into_the_page_and_a_path_stays_one() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("anteroom.toml");
    std::fs::write(directory.path().join("logo.png"), b"\x89PNG").expect("space for it");
    std::fs::write(directory.path().join("large.png"), vec![0; 24 * 1024 + 1])
        .expect("space for it");
    let look = |logo: &str| {
        let text = format!(
            "{SITE}[rooms.sale]\norigin = \"shop\"\nrate = \"1/s\"\npaths = [\"/a\"]\npage = {{ logo = \"{logo}\" }}\n"
        );
        std::fs::write(&path, text).expect("space for it");
        let loaded = anteroom::config::load(&path, &Default::default());
        loaded.map(|(mut plan, _)| plan.gateway.rooms.remove(0).look.logo)
    };
    assert_eq!(look("logo.png").unwrap().unwrap(), "data:image/png;base64,iVBORw==");
    assert_eq!(look("/logo.png").unwrap().unwrap(), "/logo.png");
    assert!(look("large.png").unwrap_err().to_string().contains("larger than 24KiB"));
}
