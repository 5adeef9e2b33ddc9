//! The document about the calls is made from the calls: what is in it is there, and what is there is in it.

use std::collections::BTreeSet;

use serde_json::Value;

use super::held;
use crate::support::{Operator, Origin};

/// Every object below a value.
fn objects<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
    match value {
        Value::Object(fields) => {
            found.push(value);
            fields.values().for_each(|value| objects(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| objects(value, found)),
        _ => {}
    }
}

#[test]
fn the_document_tells_of_every_call() {
    let origin = Origin::start();
    let gateway = held(&origin);
    let document = Operator::new(&gateway).see("/openapi.json");
    assert!(document["openapi"].as_str().is_some_and(|v| v.starts_with("3.1")), "{document:#}");
    let paths: BTreeSet<&str> =
        document["paths"].as_object().expect("paths").keys().map(String::as_str).collect();
    let known = [
        "/health",
        "/metrics",
        "/v1/admin/config",
        "/v1/admin/metrics",
        "/v1/admin/pause",
        "/v1/admin/release",
        "/v1/audit",
        "/v1/me",
        "/v1/nodes",
        "/v1/reload",
        "/v1/rooms",
        "/v1/rooms/{id}",
        "/v1/rooms/{id}/boost",
        "/v1/rooms/{id}/drain",
        "/v1/rooms/{id}/events",
        "/v1/rooms/{id}/health",
        "/v1/rooms/{id}/history",
        "/v1/rooms/{id}/inside",
        "/v1/rooms/{id}/invites",
        "/v1/rooms/{id}/invites/{invite}/revoke",
        "/v1/rooms/{id}/line",
        "/v1/rooms/{id}/message",
        "/v1/rooms/{id}/pause",
        "/v1/rooms/{id}/release",
        "/v1/rooms/{id}/repair",
        "/v1/rooms/{id}/reset",
        "/v1/rooms/{id}/resume",
        "/v1/rooms/{id}/revoke",
        "/v1/rooms/{id}/shadow",
        "/v1/rooms/{id}/visitors/{visitor}",
        "/v1/rooms/{id}/visitors/{visitor}/complete",
        "/v1/rooms/{id}/visitors/{visitor}/extend",
        "/v1/rooms/{id}/visitors/{visitor}/requeue",
        "/v1/rooms/{id}/visitors/{visitor}/revoke",
        "/v1/updates",
    ];
    assert_eq!(paths, known.into());
    let schemes = &document["components"]["securitySchemes"]["key"];
    assert_eq!((&schemes["type"], &schemes["scheme"]), (&"http".into(), &"bearer".into()));
    let mut all = Vec::new();
    objects(&document, &mut all);
    for object in all {
        if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
            let pointer = reference.strip_prefix('#').expect("within the document");
            assert!(document.pointer(pointer).is_some(), "{reference} leads nowhere");
        }
    }
}

/// What a room's status really has is what the document promises.
#[test]
fn answers_have_the_fields_that_are_documented() {
    let origin = Origin::start();
    let gateway = held(&origin);
    let admin = Operator::new(&gateway);
    let document = admin.see("/openapi.json");
    let documented = |schema: &str| -> BTreeSet<String> {
        let fields = &document["components"]["schemas"][schema]["properties"];
        fields.as_object().unwrap_or_else(|| panic!("{schema}")).keys().cloned().collect()
    };
    let told = |value: &Value| -> BTreeSet<String> {
        value.as_object().expect("an object").keys().cloned().collect()
    };
    assert_eq!(told(&admin.see("/v1/rooms/sale")), documented("Room"));
    assert_eq!(told(&admin.see("/v1/rooms/sale/line")), documented("Line"));
    assert_eq!(told(&admin.see("/health")), documented("Health"));
    assert_eq!(told(&admin.see("/v1/nodes")["nodes"][0]), documented("Node"));
}
