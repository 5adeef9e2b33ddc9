//! Rooms guard what they say they guard, however it is asked for.

use std::io::Write as _;
use std::net::IpAddr;
use std::path::Path;
use std::process::{Command, Stdio};

use anteroom::gateway::path::Readings;
use anteroom::gateway::route::{Asked, Bypass, Guard, Routes, Way, same};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

fn guard(room: &str, hosts: &[&str], paths: &[&str]) -> Guard {
    let some = |list: &[&str]| {
        (!list.is_empty()).then(|| list.iter().map(|one| (*one).to_owned()).collect())
    };
    Guard {
        room: room.into(),
        origin: format!("{room}-origin"),
        hosts: some(hosts),
        paths: some(paths),
        bypass: vec![],
    }
}

/// A GET from nowhere in particular.
fn get<'a>(host: &'a str, path: &'a str) -> Asked<'a> {
    Asked {
        host,
        path,
        method: "GET",
        address: IpAddr::from([192, 0, 2, 7]),
        header: &|_, _| false,
    }
}

/// The room that guards it.
fn room<'a>(routes: &'a Routes, host: &str, path: &str) -> Option<&'a str> {
    match routes.way(&get(host, path)) {
        Way::Guarded { room, .. } => Some(room),
        _ => None,
    }
}

#[test]
fn a_host_nobody_names_goes_nowhere() {
    let routes = Routes::new(vec![guard("sale", &["shop.example.com"], &[])], &[]);
    assert_eq!(room(&routes, "shop.example.com", "/"), Some("sale"));
    for host in
        ["", "example.com", "evil.example", "shop.example.com.evil.example", "xshop.example.com"]
    {
        assert_eq!(routes.way(&get(host, "/")), Way::Misdirected, "{host}");
    }
    for host in ["SHOP.Example.COM", "shop.example.com.", "shop.example.com:8443"] {
        assert_eq!(room(&routes, host, "/"), Some("sale"), "{host}");
    }
}

#[test]
fn a_wildcard_stands_for_labels_never_for_none() {
    let routes = Routes::new(vec![guard("sale", &["*.example.com"], &[])], &[]);
    assert_eq!(room(&routes, "a.example.com", "/"), Some("sale"));
    assert_eq!(room(&routes, "b.a.example.com", "/"), Some("sale"));
    assert_eq!(routes.way(&get("example.com", "/")), Way::Misdirected);
    assert_eq!(routes.way(&get("badexample.com", "/")), Way::Misdirected);
}

#[test]
fn the_most_specific_room_wins() {
    let routes = Routes::new(
        vec![
            guard("any", &[], &[]),
            guard("wild", &["*.example.com"], &[]),
            guard("shop", &["shop.example.com"], &["/*"]),
            guard("drop", &["shop.example.com"], &["/drop/*"]),
            guard("one", &["shop.example.com"], &["/drop/one"]),
        ],
        &[],
    );
    for (host, path, expected) in [
        ("elsewhere.example", "/", "any"),
        ("www.example.com", "/drop/one", "wild"),
        ("shop.example.com", "/", "shop"),
        ("shop.example.com", "/dropped", "shop"),
        ("shop.example.com", "/drop", "drop"),
        ("shop.example.com", "/drop/two", "drop"),
        ("shop.example.com", "/drop/one", "one"),
        ("shop.example.com", "/drop/one/", "one"),
        ("shop.example.com", "/drop/one/more", "drop"),
        ("shop.example.com", "/Drop/ONE", "one"),
        ("shop.example.com", "/DROP/two", "drop"),
        ("shop.example.com", "/DROPPED", "shop"),
    ] {
        assert_eq!(room(&routes, host, path), Some(expected), "{host}{path}");
    }
}

#[test]
fn a_path_outside_every_room_goes_to_the_hosts_origin() {
    let sites = [("www.example.com".to_owned(), "www".to_owned())];
    let routes = Routes::new(vec![guard("sale", &["shop.example.com"], &["/checkout"])], &sites);
    assert_eq!(routes.way(&get("shop.example.com", "/about")), Way::Open { origin: "sale-origin" });
    assert_eq!(routes.way(&get("www.example.com", "/checkout")), Way::Open { origin: "www" });
    // A host that is named as a site is none of "any host"'s, and one of a name below a wildcard none of the wildcard's.
    let mut rooms = vec![guard("sale", &[], &[]), guard("wild", &["*.example.com"], &[])];
    for host in ["www.example.com", "WWW.example.com."] {
        let routes = Routes::new(rooms.clone(), &sites);
        assert_eq!(routes.way(&get(host, "/")), Way::Open { origin: "www" });
        assert_eq!(routes.rooms(host).count(), 0, "nor does its API know them");
        assert_eq!(room(&routes, "shop.example.com", "/"), Some("wild"));
        assert_eq!(room(&routes, "elsewhere.example", "/"), Some("sale"));
    }
    rooms.push(guard("own", &["www.example.com"], &["/checkout"]));
    let routes = Routes::new(rooms, &sites);
    assert_eq!(room(&routes, "www.example.com", "/checkout"), Some("own"), "but its own are");
    assert_eq!(routes.way(&get("www.example.com", "/")), Way::Open { origin: "www" });
    let mut api_only = guard("api", &[], &[]);
    api_only.hosts = Some(vec![]);
    let routes = Routes::new(vec![api_only], &sites);
    assert_eq!(routes.way(&get("shop.example.com", "/")), Way::Misdirected);
}

/// Every one of them reaches `/checkout/pay` on some server.
const WAYS_ROUND: [&str; 48] = [
    "/checkout/pay",
    "//checkout//pay",
    "/./checkout/./pay",
    "/static/../checkout/pay",
    "/static/%2e%2e/checkout/pay",
    "/static/..%2fcheckout/pay",
    "/static/..%2Fcheckout%2Fpay",
    "/static/..%5ccheckout/pay",
    "/static/..\\checkout\\pay",
    "\\checkout\\pay",
    "/%63heckout/pay",
    "/%2563heckout/pay",
    "/%252563heckout/pay",
    "/checkout;v=1/pay",
    "/checkout/pay;jsessionid=1",
    "/checkout%3bv=1/pay",
    "/checkout%00/pay",
    "/static/%2e%2e%2f%2e%2e%2fcheckout/pay/",
    "/CHECKOUT/pay",
    "/%43heckout/pay",
    "/STATIC/../Checkout/pay",
    "/STATIC/%2e%2e/checkOUT/Pay",
    "/checkout%3Fv=1",
    "/checkout%3f/../../static/x",
    "/checkout/pay%23top",
    "/checkout%2523/x",
    "/checkout%00x",
    "/checkout%00/../static/x",
    "/static/..%2fcheckout%3Fx",
    "/checkout./pay",
    "/checkout%20%20/pay",
    "/chec\u{212a}out/pay",
    // To one who keeps empty segments, to one who goes by the beginning, to one who takes the first for a host.
    "/checkout//../pay",
    "/x/..//../checkout/pay",
    "/static/..//checkout/pay",
    "/checkout/..",
    "/checkout/../static/x",
    "/checkout/%2e%2e/static/x",
    "/static/../checkout/../static/x",
    "/./checkout/../static/x",
    "/checkout//../../static/x",
    "//static/checkout/pay",
    "/\\static/checkout/pay",
    "///static/checkout/pay",
    // To one who resolves before decoding once more.
    "/static/../%2563heckout/%252e%252e/../pay",
    "/static/..%20/checkout/pay",
    // To IIS, and to others.
    "/%u0063heckout/pay",
    "/static/%u002e%u002e%u002fcheckout/pay",
];

#[test]
fn there_is_no_way_round() {
    let mut sale = guard("sale", &["shop.example.com"], &["/checkout/*"]);
    sale.bypass = vec![Bypass::Path("/static/*".into())];
    let mut everything = guard("all", &["all.example.com"], &[]);
    everything.bypass = vec![Bypass::Path("/static/*".into())];
    let routes = Routes::new(vec![sale, everything], &[]);
    for path in WAYS_ROUND {
        assert_eq!(room(&routes, "shop.example.com", path), Some("sale"), "{path}");
        assert_eq!(
            room(&routes, "all.example.com", path),
            Some("all"),
            "{path}: let by as /static"
        );
    }
    let by = Way::Bypassed { room: "all", origin: "all-origin", by_method: false };
    for path in [
        "/static/app.js",
        "/static",
        "/static/a%20b.css",
        "/static/%7euser/x",
        "/static//app.js",
        "/static/https://cdn.example/app.js",
        "/static/%u00",
    ] {
        assert_eq!(routes.way(&get("all.example.com", path)), by, "{path}");
    }
    for path in [
        "/staticx",
        "/static%2fapp.js",
        "/static/app.js;x",
        "/static/%00",
        "/static/..%3Fx",
        "/static/a%23b.css",
        "/static/a%3Fb.css",
        "/static/a.css.",
        "/static/a%20",
        "/STATIC/app.js",
        "/%53tatic/a",
        "//static/a",
        "/static/.",
        "/static/./a",
        "/static/a/..",
        "/secret/../static/x",
        "/secret//../static/x",
        "/static/../static/x",
        "/static/%u0061",
    ] {
        assert_eq!(room(&routes, "all.example.com", path), Some("all"), "{path}");
    }
}

#[test]
fn letters_beyond_ascii_have_capitals_too() {
    for pattern in ["/caf%C3%A9", "/CAF%c3%89/*"] {
        let routes = Routes::new(vec![guard("tea", &[], &[pattern])], &[]);
        for path in ["/caf%C3%A9", "/CAF%C3%89", "/cafÉ/", "/Caf%25C3%2589", "/x/..%2fcaf%c3%a9"] {
            assert_eq!(room(&routes, "h", path), Some("tea"), "{pattern}: {path}");
        }
        assert_eq!(room(&routes, "h", "/cafe"), None);
    }
    let routes = Routes::new(vec![guard("sale", &[], &["/checkout"])], &[]);
    for path in ["/chec%E2%84%AAout", "/CHEC%e2%84%aaOUT"] {
        assert_eq!(room(&routes, "h", path), Some("sale"), "{path}");
    }
}

#[test]
fn exceptions_by_address_header_and_method() {
    let mut sale = guard("sale", &[], &[]);
    sale.bypass = vec![
        Bypass::Address("198.51.100.0/24".parse().expect("a net")),
        Bypass::Header("X-Probe".into(), "s3cret".into()),
        Bypass::Method("OPTIONS".into()),
    ];
    let routes = Routes::new(vec![sale], &[]);
    let by = Way::Bypassed { room: "sale", origin: "sale-origin", by_method: false };
    let by_method = Way::Bypassed { room: "sale", origin: "sale-origin", by_method: true };
    let plain = get("h", "/");
    assert!(matches!(routes.way(&plain), Way::Guarded { .. }));
    let options = Asked { method: "OPTIONS", ..plain };
    assert_eq!(routes.way(&options), by_method);
    let address = IpAddr::from([198, 51, 100, 9]);
    assert_eq!(routes.way(&Asked { address, ..options }), by, "whatever its method");
    assert!(matches!(routes.way(&Asked { method: "options", ..plain }), Way::Guarded { .. }));
    assert_eq!(routes.way(&Asked { address: IpAddr::from([198, 51, 100, 9]), ..plain }), by);
    for (value, expected) in [("s3cret", true), ("s3cre", false), ("s3crets", false), ("", false)] {
        let header =
            |name: &str, wanted: &[u8]| name == "x-probe" && same(value.as_bytes(), wanted);
        let way = routes.way(&Asked { header: &header, ..plain });
        assert_eq!(way == by, expected, "{value:?}");
    }
}

#[test]
fn a_path_with_dots_that_leads_to_two_rooms_leads_nowhere() {
    let mut all = guard("all", &[], &[]);
    all.bypass = vec![Bypass::Method("OPTIONS".into())];
    let routes = Routes::new(vec![all, guard("drop", &[], &["/drop/*"])], &[]);
    for path in ["/drop/../secret", "/drop//../secret", "/secret/../drop/7", "/drop/..", "/./drop"]
    {
        assert_eq!(routes.way(&get("h", path)), Way::Unclear, "{path}");
    }
    for path in ["/drop/../drop/7", "/drop/./7", "/drop/7/.."] {
        assert_eq!(room(&routes, "h", path), Some("drop"), "{path}");
    }
    // A pattern without dots about it is of the page it names alone.
    let routes = Routes::new(vec![guard("one", &[], &["/checkout"])], &[("*".into(), "x".into())]);
    assert_eq!(room(&routes, "h", "/checkout/../x"), Some("one"));
    assert_eq!(routes.way(&get("h", "/checkout/x")), Way::Open { origin: "x" });
    assert_eq!(routes.way(&get("h", "/a/../b")), Way::Open { origin: "x" });
}

#[test]
fn a_path_of_very_many_readings_leads_nowhere() {
    let routes = Routes::new(vec![guard("drop", &[], &["/drop/*"])], &[("*".into(), "x".into())]);
    for path in [format!("/{}/..", "a".repeat(2_000)), "/a%2f;/..\\%252e.//%2509.%3f/".repeat(12)] {
        assert_eq!(routes.way(&get("h", &path)), Way::Unclear, "{path}");
    }
    // Long alone, or full of slashes, it is as clear as any.
    for path in [format!("/{}", "a".repeat(20_000)), "/a//b".repeat(2_000)] {
        assert_eq!(routes.way(&get("h", &path)), Way::Open { origin: "x" });
    }
}

/// What paths are made of that lead astray.
const NASTY: [&str; 24] = [
    "drop",
    "drop",
    "static",
    "static",
    ".anteroom",
    "x",
    "..",
    "..",
    "..",
    ".",
    "",
    "",
    "%2e%2e",
    "%2E.",
    "..%2fdrop",
    "%2f",
    "..;",
    "drop;a",
    "..\\drop",
    "%5c..",
    "%252e%252e",
    "%64rop",
    "x%2f..",
    "..%252fdrop",
];

/// How Node reads each of them.
fn read_by_node(paths: &[String]) -> Vec<Vec<String>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gateway/readings.mjs");
    let mut node = Command::new("node");
    let node = node.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut node = node.unwrap_or_else(|error| panic!("node: {error}: run make tools"));
    let said = serde_json::to_vec(paths).expect("JSON");
    node.stdin.take().expect("a pipe").write_all(&said).expect("it listens");
    let output = node.wait_with_output().expect("an end");
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Whatever Node makes of a path, by itself or behind another server, is guarded.
#[test]
fn a_path_is_guarded_wherever_node_finds_it() {
    let mut runner = TestRunner::default();
    let segments = prop::collection::vec(prop::sample::select(&NASTY[..]), 1..6);
    let made = (0..4_000).map(|_| {
        let segments = segments.new_tree(&mut runner).expect("a value").current();
        format!("/{}", segments.join("/"))
    });
    let paths: Vec<String> = made.collect();
    let begins = |reading: &str, stem: &str| {
        reading.strip_prefix(stem).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let site = [("*".to_owned(), "x".to_owned())];
    let drop = Routes::new(vec![guard("drop", &[], &["/drop/*"])], &site);
    let mut all = guard("all", &[], &[]);
    all.bypass = vec![Bypass::Path("/static/*".into())];
    let all = Routes::new(vec![all], &[]);
    let both = Routes::new(vec![guard("all", &[], &[]), guard("drop", &[], &["/drop/*"])], &[]);
    let (mut bypassed, mut unclear, mut guarded) = (0, 0, 0);
    for (path, found) in paths.iter().zip(read_by_node(&paths)) {
        let lies = |stem: &str| found.iter().any(|reading| begins(reading, stem));
        let readings = Readings::of(path);
        match drop.way(&get("h", path)) {
            Way::Unclear => unclear += 1,
            Way::Guarded { .. } => guarded += 1,
            way => assert!(!lies("/drop"), "{path}: {way:?} for {found:?}"),
        }
        let ours = readings.all().any(|reading| begins(reading, "/.anteroom"));
        assert!(ours || !readings.is_clear() || !lies("/.anteroom"), "{path}: {found:?}");
        if let Way::Bypassed { .. } = all.way(&get("h", path)) {
            bypassed += 1;
            assert!(found.iter().all(|reading| begins(reading, "/static")), "{path}: {found:?}");
        }
        if let Way::Guarded { room, .. } = both.way(&get("h", path))
            && readings.is_dotted()
        {
            let strays = |reading: &String| begins(reading, "/drop") != (room == "drop");
            assert!(!found.iter().any(strays), "{path}: {room} for {found:?}");
        }
    }
    assert!(bypassed > 10 && guarded > 1_000, "{bypassed} let by, {guarded} guarded");
    assert!(unclear < 80, "{unclear} of {} are too much", paths.len());
}

proptest! {
    /// However a guarded path is dressed up, it stays guarded.
    #[test]
    fn a_dressed_up_path_stays_guarded(
        dressing in prop::collection::vec((0..7u8, any::<prop::sample::Index>()), 0..6),
        tail in "[a-z]{0,8}",
    ) {
        let mut path = format!("/checkout/{tail}");
        for (kind, index) in dressing {
            let slashes: Vec<usize> = path.match_indices('/').map(|(at, _)| at).collect();
            let at = slashes[index.index(slashes.len())];
            let letters: Vec<usize> = path.char_indices().filter(|(_, c)| c.is_ascii_lowercase()).map(|(at, _)| at).collect();
            let letter = letters[index.index(letters.len())];
            match kind {
                0 => path.insert(at, '/'),
                1 => path.insert_str(at, "/."),
                2 => path.insert_str(at, "/x/.."),
                3 if at > 0 => path.replace_range(at..=at, "%2f"),
                4 if at > 0 => path.insert_str(at, ";p=1"),
                5 if !path[..letter].ends_with(|c: char| c == '%' || c.is_ascii_digit()) && !path[..letter].contains(';') =>
                    path.replace_range(letter..=letter, &format!("%{:02X}", path.as_bytes()[letter])),
                6 if !path[..letter].ends_with(|c: char| c == '%' || c.is_ascii_digit()) =>
                    path[letter..=letter].make_ascii_uppercase(),
                _ => {}
            }
        }
        let routes = Routes::new(vec![guard("sale", &[], &["/checkout/*"])], &[("*".into(), "x".into())]);
        prop_assert_eq!(room(&routes, "h", &path), Some("sale"), "{}", path);
    }

    /// Bytes from outside never panic, and a simple path is read as it stands.
    #[test]
    fn any_path_has_a_reading(path in ".{0,60}") {
        let readings = Readings::of(&path);
        prop_assert!(readings.all().all(|reading| reading.starts_with('/')));
    }
}
