//! What visitors meet while the store is away, over real sockets.

mod full_disk;
mod newcomers;
mod places;
mod sessions;

use std::time::{Duration, Instant};

use crate::support::shaky::Manner;
use crate::support::{CutOff, Origin, PATIENCE, Response, Visitor, eventually};

/// Pages ask every second, so arrivals are played again within one.
const ROOM: &str = "max_active = 1\npoll_max = \"1s\"";

/// A room with Ann inside and Bob in the line.
struct Scene {
    origin: Origin,
    gateway: CutOff,
    ann: Visitor,
    bob: Visitor,
}

impl Scene {
    fn new(room: &str, store: &str) -> Scene {
        let origin = Origin::start();
        let gateway = CutOff::before(&origin, room, store);
        let [mut ann, mut bob] = [(); 2].map(|()| gateway.visitor());
        assert!(ann.open("/").is_from_origin());
        assert_eq!(bob.open("/").state().as_deref(), Some("waiting"));
        assert_eq!(bob.status().status, 200);
        origin.forget();
        Scene { origin, gateway, ann, bob }
    }

    /// Takes the store away, and waits until that is known.
    #[track_caller]
    fn lose(&mut self, manner: Manner) {
        self.gateway.store_is(manner);
        self.until(|told| told.status == 503 || told.json()["status"] == "admitted");
    }

    /// Gives it back, and waits until that is known.
    #[track_caller]
    fn find(&mut self) {
        self.gateway.store_is(Manner::Well);
        self.until(|told| told.status == 200 && told.json()["status"] == "waiting");
    }

    #[track_caller]
    fn until(&mut self, known: impl Fn(&Response) -> bool) {
        let bob = &mut self.bob;
        eventually("bob's poll tells of it", || known(&bob.status()).then_some(()));
    }
}

/// Opens a page as often as it says, until there is something else to see than an arrival.
#[track_caller]
fn until_placed(visitor: &mut Visitor) -> Response {
    let until = Instant::now() + PATIENCE;
    loop {
        let page = visitor.open("/");
        if page.state().as_deref() != Some("provisional") {
            return page;
        }
        assert!(Instant::now() < until, "{page:?}");
        std::thread::sleep(Duration::from_secs(retry_after(&page)));
    }
}

#[track_caller]
fn retry_after(page: &Response) -> u64 {
    page.header("retry-after").and_then(|value| value.parse().ok()).expect("Retry-After")
}
