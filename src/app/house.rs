//! The house on this node: what is kept beside the rooms, followed and told of.
//!
//! Owns which rooms operators have made, and this node's introduction. How rooms are put in force is the node's business.

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::broadcast::error::RecvError;
use tokio::time::sleep;

use super::node::Node;
use crate::admin;
use crate::name;
use crate::room::Room;

/// The rooms that operators have made, by name.
pub(super) fn made(house: &Room) -> BTreeSet<String> {
    let view = house.view();
    let set = view.overrides().map(|overrides| &overrides.set);
    let names = set.into_iter().flatten().filter_map(|(name, _)| name.strip_prefix(admin::MADE));
    names.filter(|name| name::is_room(name)).map(str::to_owned).collect()
}

/// Puts rooms in force as operators make them, on whichever node.
pub(super) async fn follow(node: Weak<Node>, house: Arc<Room>) {
    let mut news = house.news();
    let mut known = BTreeSet::new();
    loop {
        let wanted = made(&house);
        if wanted != known
            && let Some(node) = node.upgrade()
        {
            match node.refresh().await {
                Ok(()) => known = wanted,
                Err(error) => {
                    tracing::error!(%error, "a room that an operator made is not in force")
                }
            }
        }
        if matches!(news.recv().await, Err(RecvError::Closed)) {
            return;
        }
    }
}

/// Between two introductions: the clock's offset is the only thing in it that changes.
const INTRODUCED: Duration = Duration::from_secs(10);

/// Says in the house who this node is.
pub(super) async fn introduce(node: Weak<Node>) {
    while let Some(node) = node.upgrade() {
        node.introduce();
        drop(node);
        sleep(INTRODUCED).await;
    }
}
