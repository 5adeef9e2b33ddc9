//! What lies below `/.anteroom` is ours, however it is written, and never the origin's.

use crate::support::{Gateway, Origin, Request};

/// A site that is open but for one path: whatever is not ours would be forwarded.
fn open_site() -> (Origin, Gateway) {
    let origin = Origin::start();
    let room = "hosts = [\"shop.example\"]\npaths = [\"/guarded\"]\nmax_active = 1";
    let gateway = Gateway::before(&origin).room("sale", room).start();
    (origin, gateway)
}

#[test]
fn nothing_of_ours_reaches_the_origin() {
    let (origin, gateway) = open_site();
    assert!(gateway.connect().ask(&Request::get("/anteroom")).is_from_origin());
    assert!(gateway.connect().ask(&Request::get("/.anteroomy")).is_from_origin());
    assert!(gateway.connect().ask(&Request::get("/x/.anteroom/")).is_from_origin());
    origin.forget();
    let dressed = [
        "/.anteroom",
        "/.anteroom/",
        "/.anteroom?x",
        "/.anteroom/nothing",
        "/.anteroom/v1",
        "/.anteroom/v1/",
        "/.anteroom/v2/queue/join",
        "/.anteroom/v1/admin",
        "/.anteroom/health/",
        "/.anteroom//health",
        "//.anteroom/health",
        "/./.anteroom/health",
        "/x/../.anteroom/health",
        "/%2eanteroom/health",
        "/%2Eanteroom/x",
        "/.%61nteroom/x",
        "/.anteroom%2fx",
        "/.anteroom%2Fhealth",
        "/.anteroom\\x",
        "/.anteroom%5cx",
        "/.anteroom;a/x",
        "/.anteroom/..;/.anteroom/x",
        "/%252eanteroom/x",
        "/%2e%61nteroom%2f..%2f.anteroom",
        "/x%2f..%2f.anteroom/x",
        "/.anteroom%00/x",
        "/;/.anteroom/x",
        "/.anteroom//../x",
        "/.anteroom/../x",
        "/.anteroom/..",
        "/x/..//../.anteroom/x",
        "//x/.anteroom/x",
        "/%u002eanteroom/x",
    ];
    for target in dressed {
        for method in ["GET", "POST", "HEAD"] {
            let answer = gateway.connect().ask(&Request::new(method, target));
            assert!(!answer.is_from_origin(), "{method} {target}: {answer:?}");
            assert!((400..500).contains(&answer.status), "{method} {target}: {answer:?}");
        }
    }
    let seen: Vec<String> = origin.seen().into_iter().map(|seen| seen.target).collect();
    assert!(seen.is_empty(), "{seen:?}");
}

/// A header is ASCII.
#[test]
fn the_way_back_is_escaped() {
    let (_origin, gateway) = open_site();
    let asked = Request::get("/.anteroom/continue?to=%2Fcaf%C3%A9%3Fa%3D%25C3%25A9").by_browser();
    let answer = gateway.connect().ask(&asked);
    assert_eq!((answer.status, answer.header("location")), (303, Some("/caf%C3%A9?a=%C3%A9")));
}

#[test]
fn balancers_learn_that_the_node_is_well() {
    let (origin, gateway) = open_site();
    for host in ["shop.example", "10.0.0.7:8080", "anything"] {
        let answer = gateway.connect().ask(&Request::get("/.anteroom/health").host(host));
        assert_eq!(answer.status, 200, "{host}: {answer:?}");
        assert_eq!(answer.json()["status"], "healthy");
    }
    let head = gateway.connect().ask(&Request::new("HEAD", "/.anteroom/health"));
    assert_eq!((head.status, head.body.len()), (200, 0));
    // As balancers ask that know no better.
    let mut old = gateway.connect();
    old.send(b"GET /.anteroom/health HTTP/1.0\r\n\r\n");
    assert_eq!(old.read().status, 200);
    assert!(old.ends());
    assert!(origin.seen().is_empty());
}

#[test]
fn health_does_not_depend_on_the_origin_or_on_room_in_the_room() {
    let (mut origin, gateway) = open_site();
    origin.stop();
    let answer = gateway.connect().ask(&Request::get("/.anteroom/health"));
    assert_eq!(answer.status, 200, "{answer:?}");
}

#[test]
fn the_client_is_served_and_kept() {
    let (_origin, gateway) = open_site();
    let plain = gateway.connect().ask(&Request::get("/.anteroom/client.js"));
    assert_eq!(plain.status, 200);
    assert_eq!(plain.header("content-type"), Some("text/javascript; charset=utf-8"));
    assert!(plain.text().contains("QueueClient"));
    assert!(plain.header("cache-control").is_some_and(|value| value.contains("max-age=300")));
    let version = anteroom::page::client().version;
    let target = format!("/.anteroom/client.js?v={version}");
    let zipped = gateway.connect().ask(&Request::get(&target).with("Accept-Encoding", "gzip, br"));
    assert_eq!(zipped.header("content-encoding"), Some("gzip"));
    assert!(zipped.header("cache-control").is_some_and(|value| value.contains("immutable")));
    assert!(zipped.header("vary").is_some_and(|value| value.contains("Accept-Encoding")));
    let mut text = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&zipped.body[..]), &mut text)
        .expect("gzip");
    assert_eq!(text, plain.text());
}
