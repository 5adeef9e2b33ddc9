//! What of the operators' port is written into the log: every change, with who made it, and every wrong key.

use std::net::IpAddr;

use serde_json::Value;

use super::access::Caller;
use super::parts;

/// Somebody changed something: `admin.pause`. `room`: its whole name, if it is about one.
pub(super) fn acted(caller: &Caller, room: Option<&str>, action: &str, parameters: &Value) {
    let tenant = room.map(|room| parts(room).0).filter(|tenant| !tenant.is_empty());
    tracing::info!(
        event = format!("admin.{action}"),
        admin_id = &*caller.name,
        action,
        parameters = %parameters,
        event_id = room,
        tenant_id = tenant,
    );
}

/// A key that is none. How often one address is told of is bounded with its attempts.
pub(super) fn refused(address: IpAddr) {
    tracing::warn!(event = "admin.refused", %address, "a wrong key at the operators' port");
}
