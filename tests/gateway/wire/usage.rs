//! The client a gateway serves, run by Node: the usage example of its specification, against that gateway, and how it wakes up.

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

#[test]
fn a_tab_that_wakes_up_heeds_what_it_was_told() {
    let (_origin, gateway) = room("max_active = 1");
    let served = gateway.connect().ask(&Request::get("/.anteroom/client.js"));
    let client = gateway.directory().join("client.mjs");
    std::fs::write(&client, &served.body).expect("a file");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/page/wake.mjs");
    let output = Command::new("node").arg(script).arg(&client).output();
    let output = output.unwrap_or_else(|error| panic!("node: {error}: run make tools"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
