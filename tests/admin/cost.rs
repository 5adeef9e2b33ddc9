//! A million who wait cost an operator's look no more than a thousand do.

use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anteroom::line::{Batch, Join, Mode, Offer, Settings};
use anteroom::store::{Embedded, Opening, Secret, Store as _};

use super::becomes;
use crate::support::client::Request;
use crate::support::operator::VIEWER;
use crate::support::{Connection, Gateway, Operator, Origin};

const DAY_MS: u64 = 86_400_000;

/// A line of so many, in a file.
fn fill(path: &Path, waiting: u32) {
    let clock = Arc::new(anteroom::clock::now_ms);
    let opening = Opening { clock, run: NonZeroU64::MIN, secret: Secret([7; 32]) };
    let store = Embedded::open(path, opening).expect("a new store");
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let mut sequence = 0;
    let mut send = |batch: Batch| {
        sequence += 1;
        let batch = Batch { node: 1, sequence, ..batch };
        runtime.block_on(store.exchange("sale", batch)).expect("an answer")
    };
    let (mode, heartbeat_timeout_ms) = (Mode::Hold, DAY_MS);
    let settings =
        Settings { mode, max_waiting: None, heartbeat_timeout_ms, ..Settings::default() };
    let offer = Some(Offer { version: 0, settings });
    let epoch = send(Batch { offer, ..Batch::default() }).counts.epoch;
    send(Batch { epoch, joins: vec![Join::Plain(waiting)], ..Batch::default() });
    store.close().expect("a clean stop");
}

/// The quickest of many: what it costs, and not what else the machine does.
fn quickest(gateway: &Gateway, path: &str) -> Duration {
    let viewer = Operator::with_key(gateway, VIEWER);
    let mut connection = Connection::open(viewer.address);
    let request = viewer.dress(Request::get(path));
    let took = (0..50).map(|_| {
        let began = Instant::now();
        assert_eq!(connection.ask(&request).status, 200, "{path}");
        began.elapsed()
    });
    took.min().expect("fifty")
}

#[test]
fn a_million_who_wait_cost_a_look_no_more_than_a_thousand() {
    let origin = Origin::start();
    let directory = tempfile::tempdir().expect("a temporary directory");
    let start = |waiting: u32| {
        let path = directory.path().join(format!("{waiting}.db"));
        fill(&path, waiting);
        let room = "mode = \"hold\"\nmax_waiting = \"none\"\nheartbeat_timeout = \"24h\"";
        let url = format!("embedded:{}", path.display());
        let plan = Gateway::before(&origin).room("sale", room);
        let gateway = plan.with(|config| config.store_at(&url)).start();
        becomes(&Operator::new(&gateway), "sale", |room| room["waiting"] == waiting);
        gateway
    };
    let (few, many) = (start(1_000), start(1_000_000));
    for (path, of_many) in [
        ("/metrics", "/metrics"),
        ("/v1/rooms", "/v1/rooms"),
        ("/v1/rooms/sale/line?from=900", "/v1/rooms/sale/line?from=999900"),
        ("/v1/rooms/sale/visitors/999", "/v1/rooms/sale/visitors/999999"),
    ] {
        let (few, many) = (quickest(&few, path), quickest(&many, of_many));
        println!("{path}: {few:?} of a thousand, {many:?} of a million");
        assert!(many < few * 3 + Duration::from_millis(2), "{path}: {few:?} and {many:?}");
    }
}
