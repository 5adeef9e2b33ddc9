//! Limits that hold for all nodes together.

use super::alone;
use crate::support::redis::RedisServer;
use crate::support::{Gateway, Origin, Visitor};

/// Somebody without cookies comes again and again, to one node and the other.
#[test]
fn an_address_has_no_more_joins_for_there_being_two_nodes() {
    let _alone = alone();
    let (origin, redis) = (Origin::start(), RedisServer::start());
    let plan = Gateway::before(&origin).room("sale", "mode = \"hold\"");
    let plan = plan.limits("join_per_address = \"20/h\"");
    let plan = plan.with(|config| config.store_at(&redis.url()));
    let nodes = [plan.clone().start(), plan.start()];
    let joins = |nth: &usize| {
        let page = Visitor::new(&nodes[nth % 2]).open("/");
        assert!(page.status == 429 || page.state().as_deref() == Some("waiting"), "{page:?}");
        page.status != 429
    };
    let given = (0..60).filter(joins).count();
    assert!((20..=30).contains(&given), "{given} numbers for an address that may have 20");
}
