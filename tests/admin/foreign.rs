//! What Prometheus' own library for Python reads of `/metrics`, while a crowd comes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anteroom::metrics::{ALL, Kind};
use serde::Deserialize;
use serde_json::json;

use crate::support::tools::{printed, python};
use crate::support::{Gateway, Operator, Origin, Request, Visitor};

/// A metric, as it is read there.
#[derive(Deserialize)]
struct Family {
    kind: String,
    help: String,
    labels: Vec<String>,
    samples: usize,
}

#[test]
fn prometheus_own_parser_reads_every_figure_under_load() {
    let origin = Origin::start();
    let gateway = Gateway::before(&origin)
        .room("sale", "rate = \"50/s\"\nmax_active = 20\nadaptive = {}")
        .room(
            "doors",
            "hosts = [\"doors.example\"]\nschedule = [{ opens = \"2096-12-01T10:00:00Z\" }]",
        )
        .start();
    let over = AtomicBool::new(false);
    let told = thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut connection = gateway.connect();
                while !over.load(Ordering::Relaxed) {
                    let body = json!({ "event_id": "sale" });
                    let joined = connection.ask(&Request::call("/.anteroom/v1/join", &body));
                    let ticket = joined.json()["queue_id"].as_str().expect("a ticket").to_owned();
                    let asked = Request::get("/.anteroom/v1/queue/status")
                        .with("Authorization", &format!("Bearer {ticket}"));
                    connection.ask(&asked);
                    Visitor::new(&gateway).open("/");
                    Operator::new(&gateway).get("/v1/rooms");
                }
            });
        }
        let url = format!("http://{}/metrics", gateway.admin_addr());
        let told = printed(python("tests/admin/foreign.py").args([&url, "30"]));
        over.store(true, Ordering::Relaxed);
        told
    });
    let families: BTreeMap<String, Family> = serde_json::from_str(&told).expect("JSON");
    for metric in ALL {
        let name = format!("anteroom_{}", metric.name);
        // The library names counters without their suffix.
        let family = families.get(name.trim_end_matches("_total"));
        let family = family.unwrap_or_else(|| panic!("{name} is not among {:?}", families.keys()));
        let kind = match metric.kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        assert_eq!((family.kind.as_str(), family.help.as_str()), (kind, metric.help), "{name}");
        let mut labels: Vec<&str> = metric.labels.to_vec();
        labels.sort_unstable();
        assert_eq!(family.labels, labels, "{name}");
        assert!(family.samples > 0, "{name}");
    }
    assert_eq!(families.len(), ALL.len());
}
