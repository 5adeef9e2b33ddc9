//! The usage example of the client's specification, run by Node against a real gateway, with the client it serves.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::{call, join, room};
use crate::support::Request;

#[test]
fn the_usage_example_gets_in() {
    let (_origin, gateway) = room("max_active = 1");
    let first = join(&gateway, "somebody before").json();
    let served = gateway.connect().ask(&Request::get("/.anteroom/client.js"));
    let client = gateway.directory().join("client.mjs");
    std::fs::write(&client, &served.body).expect("a file");
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/page/usage.mjs");
    let mut command = Command::new("node");
    command
        .arg(example)
        .arg(&client)
        .arg(format!("http://{}/.anteroom/v1", gateway.addr()))
        .arg("sale");
    let running = std::thread::spawn(move || {
        command.output().unwrap_or_else(|error| panic!("node: {error}: run make tools"))
    });
    // It waits until somebody makes room.
    gateway.events("queue.created", 2);
    call(&gateway, "admission/complete", &json!({ "token": first["token"] }));
    let output = running.join().expect("no panic");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    let said: Value = serde_json::from_str(said.trim()).expect("JSON");
    assert_eq!(said["position"], 1, "{said}");
}
