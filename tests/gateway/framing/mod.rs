//! Where a request begins and ends, without any doubt: what two servers could cut differently goes to neither.

mod answers;
mod bodies;
mod pipelining;
mod refused;

use crate::support::{Gateway, Origin};

/// A site that is open but for `/guarded`, which nobody gets into: whatever is not refused would be forwarded.
fn open_site() -> (Origin, Gateway) {
    let origin = Origin::start();
    let room = "paths = [\"/guarded\"]\nmode = \"hold\"";
    let gateway = Gateway::before(&origin).room("sale", room).start();
    (origin, gateway)
}
