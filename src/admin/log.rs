//! What of the operators' port is written into the log: every change, with who made it, and every wrong key. Never a key.

use std::net::IpAddr;

use serde_json::Value;

use super::access::Caller;
use crate::log::Seldom;

/// Somebody changed something: `admin.pause`. `room`: its whole name, if it is about one.
pub(super) fn acted(caller: &Caller, room: Option<&str>, action: &str, parameters: &Value) {
    tracing::info!(
        event = format!("admin.{action}"),
        admin_id = &*caller.name,
        action,
        parameters = %parameters,
        event_id = room,
    );
}

/// A key that is none. How often one address is told of is bounded with its attempts.
pub(super) fn refused(address: IpAddr) {
    tracing::warn!(event = "admin.refused", %address, "a wrong key at the operators' port");
}

/// An address that was wrong too often. `count`: how many times since the last such line, by anybody.
pub(super) fn limited(address: IpAddr) {
    static LIMITED: Seldom = Seldom::new();
    let Some(count) = LIMITED.happened() else { return };
    tracing::warn!(event = "rate_limit.hit", r#type = "admin", identifier = %address, count);
}
