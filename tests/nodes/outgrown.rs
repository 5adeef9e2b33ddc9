//! A line that a newer version keeps, as in the middle of an upgrade: an old node holds its visitors, whatever it is to do about a
//! store that is lost.

use std::time::Duration;

use super::state;
use crate::support::redis::RedisServer;
use crate::support::{Config, Gateway, Origin, Visitor, eventually};

#[test]
fn an_old_node_never_opens_the_doors_past_a_newer_ones_line() {
    for store in ["on_loss = \"open\"", "on_loss = \"closed\"", "open_after = \"10s\""] {
        let (mut redis, origin) = (RedisServer::start(), Origin::start());
        let config = Config::new(&[origin.address().to_string()]).room("sale", "max_active = 1");
        let old = Gateway::start(config.store_at(&redis.url()).store(store));
        let [mut ann, mut bob, mut eve] = [(); 3].map(|()| Visitor::new(&old));
        assert!(ann.open("/").is_from_origin());
        assert_eq!(bob.open("/").state().as_deref(), Some("waiting"));

        // A newer one writes.
        let layout = state(&redis, "layout");
        let newer = (layout + 1).to_string();
        let _: u64 = redis.ask(&["HSET", "anteroom:{sale}:state", "layout", &newer]);
        let told = old.events("store.outgrown", 1);
        assert!(told[0]["error"].as_str().is_some_and(|why| why.contains("start that version")));
        let issued = state(&redis, "issued");
        let held = |visitor: &mut Visitor, state: &str| {
            let page = visitor.open("/");
            assert!(!page.is_from_origin(), "{store}: {page:?}");
            assert_eq!(page.state().as_deref(), Some(state), "{store}: {page:?}");
        };
        if store.starts_with("open_after") {
            std::thread::sleep(Duration::from_secs(11));
        }
        held(&mut bob, "waiting");
        held(&mut eve, "provisional");
        assert_eq!(bob.status().code(), "store_unavailable", "{store}");
        assert!(ann.open("/").is_from_origin(), "{store}: passes work");
        assert_eq!(state(&redis, "issued"), issued, "nothing was touched");
        assert_eq!(state(&redis, "layout"), layout + 1);

        // Even if the store is lost on top of it: that it was outgrown is known.
        if store == "on_loss = \"open\"" {
            redis.kill();
            std::thread::sleep(Duration::from_secs(2));
            held(&mut bob, "waiting");
            continue;
        }

        // The upgrade is taken back.
        let _: u64 = redis.ask(&["HSET", "anteroom:{sale}:state", "layout", &layout.to_string()]);
        eventually("bob has his place again", || (bob.status().status == 200).then_some(()));
        assert_eq!(bob.position(), 1, "{store}");
    }
}
