//! Every host has its rooms and its origin; one that nobody names has neither.

use crate::support::{Config, Gateway, Origin, Request, Visitor};

#[test]
fn a_host_nobody_names_goes_nowhere() {
    let origin = Origin::start();
    let room = "max_active = 5\nhosts = [\"shop.example\", \"*.wild.example\", \"[::1]\"]";
    let gateway = Gateway::before(&origin).room("sale", room).start();
    let status =
        |host: &str| gateway.connect().ask(&Request::get("/").by_browser().host(host)).status;
    for host in [
        "shop.example",
        "SHOP.example",
        "shop.example.",
        "shop.example:8080",
        "a.wild.example",
        "a.b.wild.example:1",
        "[::1]",
        "[::1]:80",
    ] {
        let answer = status(host);
        assert!(answer == 200 || answer == 503, "{host}: {answer}");
    }
    let before = origin.seen().len();
    for host in [
        "evil.example",
        "wild.example",
        "shop.example.evil.example",
        "xshop.example",
        "127.0.0.1",
        "shop",
        "example",
        "a.shop.example",
        ".wild.example",
        "xwild.example",
        "localhost:80",
    ] {
        assert_eq!(status(host), 421, "{host}");
    }
    assert_eq!(origin.seen().len(), before);
}

#[test]
fn each_host_has_its_own_origin_and_each_room_its_own_cookie() {
    let (shop, blog) = (Origin::named("shop"), Origin::named("blog"));
    let config = Config::new(&[shop.address().to_string()])
        .origin("blog", &[blog.address().to_string()], "")
        .room("sale", "hosts = [\"shop.example\"]\npaths = [\"/sale/*\"]\nmax_active = 1")
        .room("vip", "hosts = [\"shop.example\"]\npaths = [\"/sale/vip/*\"]\nmax_active = 1")
        .tables("[sites.\"blog.example\"]\norigin = \"blog\"\n");
    let gateway = Gateway::start(config);
    let from = |visitor: &mut Visitor, target: &str| {
        visitor.open(target).header("x-origin").map(str::to_owned)
    };
    let mut ann = Visitor::new(&gateway);
    assert_eq!(from(&mut ann, "/").as_deref(), Some("shop"));
    assert_eq!(ann.token(), None, "outside of every room");
    assert_eq!(from(&mut ann, "/sale/1").as_deref(), Some("shop"));
    let (sale, pass) = ann.token().expect("a pass");
    assert_eq!(from(&mut ann, "/sale/vip/1").as_deref(), Some("shop"));
    assert_eq!(ann.cookie().expect("two").split("; ").count(), 2, "one a room");
    let mut bob = Visitor::new(&gateway);
    bob.keep(&sale, &pass);
    assert_eq!(from(&mut bob, "/sale/2").as_deref(), Some("shop"), "the same pass");
    assert_eq!(from(&mut bob, "/sale/vip/2"), None, "is none of the other room's");
    let mut eve = Visitor::new(&gateway).at("blog.example");
    assert_eq!(from(&mut eve, "/sale/vip/2").as_deref(), Some("blog"), "rooms are of their hosts");
}

/// `[sites]` names hosts outside of every room: one for any host is none for them.
#[test]
fn a_site_is_outside_of_a_room_for_any_host() {
    let (shop, www) = (Origin::named("shop"), Origin::named("www"));
    let config = Config::new(&[shop.address().to_string()])
        .origin("www", &[www.address().to_string()], "")
        .room("sale", "mode = \"hold\"")
        .tables("[sites.\"www.example\"]\norigin = \"www\"\n");
    let gateway = Gateway::start(config);
    let mut ann = Visitor::new(&gateway).at("www.example");
    assert_eq!(ann.open("/").header("x-origin"), Some("www"));
    assert_eq!(ann.token(), None);
    let mut bob = Visitor::new(&gateway).at("elsewhere.example");
    assert_eq!(bob.open("/").state().as_deref(), Some("waiting"));
    assert!(shop.seen().is_empty());
}

#[test]
fn one_line_for_several_hosts() {
    let origin = Origin::start();
    let room = "max_active = 1\nhosts = [\"a.shop.example\", \"b.shop.example\"]\n\
                cookie_domain = \"shop.example\"";
    let gateway = Gateway::before(&origin).room("sale", room).tls().start();
    let mut ann = Visitor::secure(&gateway).at("a.shop.example");
    let page = ann.open("/");
    assert!(page.is_from_origin(), "{page:?}");
    let cookie = page.header("set-cookie").expect("a pass");
    assert!(cookie.starts_with("__Secure-anteroom-"), "{cookie}");
    assert!(cookie.contains("Domain=shop.example"), "{cookie}");
    let mut same = ann.clone().at("b.shop.example");
    assert!(same.open("/").is_from_origin());
}
