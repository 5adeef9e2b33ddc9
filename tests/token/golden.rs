//! Tokens of each version of the format, made without any of our code. They must be readable forever,
//! and as long as a version is the one we write, signing must give the same bytes.

use std::fs;

use super::*;

/// The value of a line of a golden file.
fn line<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let named = |line: &'t str| line.strip_prefix(name)?.strip_prefix(' ');
    text.lines().find_map(named).map(str::trim_start)
}

#[test]
fn golden_tokens_are_readable_and_signed_the_same() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/token/golden");
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("the golden files are part of the repository")
        .map(|entry| entry.expect("a readable folder").path())
        .collect();
    files.sort();
    assert!(files.len() >= 10, "golden files are missing: {files:?}");
    for file in files {
        let text = fs::read_to_string(&file).expect("a text file");
        let get = |name| line(&text, name).unwrap_or_else(|| panic!("{file:?} has no {name}"));
        check(
            &file.display().to_string(),
            &text,
            get("room"),
            get("token"),
            get("header"),
            get("claims"),
        );
    }
}

fn check(file: &str, text: &str, room: &str, token: &str, header: &str, claims: &str) {
    let said: Value = serde_json::from_str(header).expect("a header in JSON");
    let (pass, id) = (line(text, "pass"), said["kid"].as_str().expect("a kid"));
    let signing =
        key(if pass.is_some() { "k1" } else { id }, line(text, "signing").expect("a secret"));
    let pass = pass.map(|secret| key(id, secret)).into_iter().collect();
    let keys =
        KeyRing::new(vec![signing], pass).expect("good keys").room(room).expect("a good room");

    // The readable lines are what the token says.
    let segments: Vec<_> =
        token.split('.').map(|part| B64.decode(part).expect("base64url")).collect();
    assert_eq!(segments[0], header.as_bytes(), "{file}");
    assert_eq!(segments[1], claims.as_bytes(), "{file}");

    let mut scratch = Scratch::new();
    if said["typ"] == "anteroom-provisional" {
        let provisional = keys.verify_provisional(token.as_bytes(), &mut scratch);
        let provisional = provisional.unwrap_or_else(|error| panic!("{file}: {error}"));
        assert_eq!(keys.sign_provisional(&provisional).as_deref(), Ok(token), "{file}");
    } else if said["typ"] == "anteroom-pass" {
        let pass = judge_pass(&keys, token, 0).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert_eq!(keys.sign_pass(&pass).as_deref(), Ok(token), "{file}");
        assert_eq!(keys.nonce(pass.epoch, pass.num), pass.nonce, "{file}");
    } else {
        let ticket = judge_ticket(&keys, token).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert_eq!(keys.sign_ticket(&ticket).as_deref(), Ok(token), "{file}");
        assert_eq!(keys.visitor(ticket.epoch, ticket.num), ticket.visitor, "{file}");
    }
}
