//! Rooms guard what they say they guard, however it is asked for.

use std::net::IpAddr;

use anteroom::gateway::path::Readings;
use anteroom::gateway::route::{Asked, Bypass, Guard, Routes, Way, same};
use proptest::prelude::*;

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
    let mut api_only = guard("api", &[], &[]);
    api_only.hosts = Some(vec![]);
    let routes = Routes::new(vec![api_only], &sites);
    assert_eq!(routes.way(&get("shop.example.com", "/")), Way::Misdirected);
}

/// Every one of them reaches `/checkout/pay` on some server.
const WAYS_ROUND: [&str; 32] = [
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
    for path in ["/static/app.js", "/static", "/static/a%20b.css", "/static/%7euser/x"] {
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
