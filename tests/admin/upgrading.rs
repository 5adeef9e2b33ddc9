//! Another process takes over, and operators do not notice either.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;

use super::join;
use crate::support::{Connection, Gateway, Operator, Origin, Request, eventually};

#[test]
fn under_load_not_one_request_of_an_operator_fails() {
    let origin = Origin::start();
    let plan = Gateway::before(&origin).room("sale", "mode = \"hold\"").embedded();
    let mut gateway = plan.top("upgrade_socket = \"upgrade.sock\"").start();
    join(&gateway, "sale", 400);
    let (address, admin) = (gateway.admin_addr(), Operator::new(&gateway));
    let (stop, asked) = (AtomicBool::new(false), AtomicUsize::new(0));
    let (failed, released) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let requests = [
            Request::get("/v1/rooms"),
            Request::get("/metrics"),
            Request::get("/health"),
            Request::call("/v1/rooms/sale/release", &json!({ "count": 1 })),
        ];
        for request in requests {
            let (stop, asked, failed, released, admin) =
                (&stop, &asked, &failed, &released, &admin);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let mut connection = Connection::open(admin.address);
                    let sent = connection.try_send(&admin.dress(request.clone()).bytes());
                    let answer = sent.map_err(|error| error.to_string()).and_then(|()| {
                        connection.try_read(false).map_err(|missing| format!("{missing:?}"))
                    });
                    asked.fetch_add(1, Ordering::Relaxed);
                    match answer {
                        Ok(answer) if answer.status == 200 => {
                            if request.method == "POST" {
                                let count = answer.json()["released"].as_u64().unwrap_or(0);
                                released.fetch_add(count as usize, Ordering::Relaxed);
                            }
                        }
                        other => failed
                            .lock()
                            .expect("no panic")
                            .push(format!("{} {other:?}", request.target)),
                    }
                    std::thread::sleep(Duration::from_millis(5));
                }
            });
        }
        let goes_on = |more: usize| {
            let from = asked.load(Ordering::Relaxed);
            eventually("it goes on", || {
                (asked.load(Ordering::Relaxed) >= from + more).then_some(())
            });
        };
        goes_on(50);
        for _ in 0..3 {
            let mut former = gateway.upgrade();
            assert_eq!(gateway.admin_addr(), address, "the same socket");
            goes_on(50);
            assert_eq!(former.wait().code(), Some(0), "{}", former.log().text());
        }
        goes_on(20);
        stop.store(true, Ordering::Relaxed);
    });
    let failed = failed.into_inner().expect("no panic");
    let count = asked.load(Ordering::Relaxed);
    assert!(
        failed.is_empty(),
        "{} of {count} failed: {:#?}",
        failed.len(),
        &failed[..failed.len().min(5)]
    );
    let room = Operator::new(&gateway).see("/v1/rooms/sale");
    let released = released.load(Ordering::Relaxed);
    assert_eq!(
        room["released_total"].as_u64(),
        Some(released as u64),
        "each release happened once"
    );
}
