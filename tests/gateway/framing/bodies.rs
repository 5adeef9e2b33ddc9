//! Bodies, however they are cut.

use std::time::Duration;

use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::open_site;
use crate::support::site::pattern;
use crate::support::{Gateway, Origin, Request, Visitor};

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A request and its body, cut in two anywhere: some of the body may come with the head, all of it, or none.
#[test]
fn a_body_arrives_whole_wherever_it_is_cut() {
    let (_origin, gateway) = open_site();
    let body = pattern(64);
    let bytes = Request::post("/upload", body.clone()).bytes();
    let mut connection = gateway.connect();
    for split in 0..=bytes.len() {
        connection.send(&bytes[..split]);
        std::thread::sleep(Duration::from_micros(700));
        connection.send(&bytes[split..]);
        let got = connection.read().json();
        assert_eq!((&got["bytes"], &got["sha256"]), (&64.into(), &sha256(&body).into()), "{split}");
    }
}

#[test]
fn a_chunked_body_arrives_whole_wherever_it_is_cut() {
    let (_origin, gateway) = open_site();
    let body = pattern(300);
    let mut bytes =
        b"POST /upload HTTP/1.1\r\nHost: shop.example\r\nTransfer-Encoding: chunked\r\n\r\n"
            .to_vec();
    for (n, chunk) in body.chunks(97).enumerate() {
        let extension = if n == 1 { ";name=\"value\"" } else { "" };
        bytes.extend_from_slice(format!("{:x}{extension}\r\n", chunk.len()).as_bytes());
        bytes.extend_from_slice(chunk);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
    let mut connection = gateway.connect();
    for split in (0..=bytes.len()).step_by(3) {
        connection.send(&bytes[..split]);
        std::thread::sleep(Duration::from_micros(700));
        connection.send(&bytes[split..]);
        let got = connection.read().json();
        assert_eq!(
            (&got["bytes"], &got["sha256"]),
            (&300.into(), &sha256(&body).into()),
            "{split}"
        );
    }
}

#[test]
fn a_call_of_the_api_is_read_whole_wherever_it_is_cut() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "mode = \"hold\"").start();
    let call = json!({ "event_id": "sale", "device_id": "one and the same" });
    let bytes = Request::call("/.anteroom/v1/queue/join", &call).bytes();
    let mut connection = gateway.connect();
    let mut tickets = std::collections::BTreeSet::new();
    for split in 0..=bytes.len() {
        connection.send(&bytes[..split]);
        std::thread::sleep(Duration::from_micros(500));
        connection.send(&bytes[split..]);
        let answer = connection.read();
        assert!(matches!(answer.status, 200 | 409), "{split}: {answer:?}");
        tickets.insert(answer.json()["queue_id"].as_str().expect("a ticket").to_owned());
    }
    assert_eq!(tickets.len(), 1, "one device, one place");
}

#[test]
fn one_byte_at_a_time() {
    let (origin, gateway) = open_site();
    let mut connection = gateway.connect();
    for byte in Request::post("/upload", "hello").bytes() {
        connection.send(&[byte]);
    }
    assert_eq!(connection.read().json()["bytes"], 5);
    assert_eq!(origin.last().body, b"hello");
}

#[test]
fn whoever_waits_for_a_word_before_sending_gets_it() {
    let (origin, gateway) = open_site();
    let mut connection = gateway.connect();
    let body = pattern(5_000);
    let head = Request::new("POST", "/upload")
        .with("Content-Length", "5000")
        .with("Expect", "100-continue")
        .bytes();
    connection.send(&head);
    let interim = connection.read_some().expect("a word");
    assert!(interim.starts_with(b"HTTP/1.1 100 "), "{}", String::from_utf8_lossy(&interim));
    connection.send(&body);
    let answer = connection.read();
    assert_eq!(answer.json()["sha256"], sha256(&body), "{answer:?}");
    assert_eq!(origin.seen().len(), 1);
}

#[test]
fn whoever_waits_for_a_word_and_has_to_wait_in_line_is_told_at_once() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin).room("sale", "mode = \"hold\"").start();
    let mut ann = Visitor::new(&gateway);
    ann.open("/");
    let head = Request::new("POST", "/order")
        .with("Content-Length", "5000000")
        .with("Expect", "100-continue")
        .by_browser();
    let mut connection = gateway.connect();
    connection.send(&ann.dress(head).bytes());
    let answer = connection.read();
    assert_eq!((answer.status, answer.interim.len()), (503, 0), "{answer:?}");
    assert!(connection.ends());
    assert!(origin.seen().is_empty());
    // A call of the API is asked for its body.
    let call = json!({ "event_id": "sale", "device_id": "d1" }).to_string();
    let head = Request::new("POST", "/.anteroom/v1/queue/join")
        .with("Content-Length", &call.len().to_string())
        .with("Expect", "100-continue");
    let mut connection = gateway.connect();
    connection.send(&head.bytes());
    let interim = connection.read_some().expect("a word");
    assert!(interim.starts_with(b"HTTP/1.1 100 "), "{}", String::from_utf8_lossy(&interim));
    connection.send(call.as_bytes());
    assert_eq!(connection.read().status, 200);
}

#[test]
fn a_body_with_a_get_goes_with_it() {
    let (origin, gateway) = open_site();
    let mut connection = gateway.connect();
    let with_body = Request { method: "GET".into(), ..Request::post("/upload?get", "hello") };
    assert_eq!(connection.ask(&with_body).json()["bytes"], 5);
    assert!(connection.ask(&Request::get("/echo")).is_from_origin());
    let empty = Request::post("/upload?empty", "");
    assert_eq!(connection.ask(&empty).json()["bytes"], 0);
    assert_eq!(origin.seen().len(), 3);
}

#[test]
fn a_client_that_leaves_in_the_middle_of_a_body_disturbs_nobody() {
    let (origin, gateway) = open_site();
    for _ in 0..5 {
        let mut connection = gateway.connect();
        let head = Request::new("POST", "/upload").with("Content-Length", "100000").bytes();
        connection.send(&head);
        connection.send(&pattern(5_000));
    }
    for _ in 0..5 {
        let answer = gateway.connect().ask(&Request::post("/upload", "whole"));
        assert_eq!(answer.json()["bytes"], 5);
    }
    let whole = origin.seen().into_iter().filter(|seen| seen.problem.is_none()).count();
    assert_eq!(whole, 5, "no half body was ever made whole");
}
