//! The programs in docs/origins, which people copy into their sites, judge golden tokens as we do.
//!
//! Python and Node are there wherever these tests run. The other languages are judged where they are installed;
//! `make origins` installs and demands them.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::*;

/// The language, how its program is run, and whether it must be there.
const PROGRAMS: [(&str, &[&str], bool); 5] = [
    ("Python", &["python3", "verify.py"], true),
    ("Node", &["node", "verify.mjs"], true),
    ("Go", &["go", "run", "verify.go"], false),
    ("PHP", &["php", "verify.php"], false),
    ("Java", &["java", "Verify.java"], false),
];

/// A moment at which the golden passes are good.
const GOOD: &str = "1764583300";
/// And one at which they are not, skew or no skew.
const LATE: &str = "1764583591";

/// What a program says: the claims, or why not.
fn judged(run: &[&str], token: &str, key: &str, room: &str, now: &str) -> Result<Value, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/origins");
    let said = Command::new(run[0])
        .args(&run[1..])
        .args([token, key, room, now])
        .current_dir(folder)
        .output()
        .expect("a program that is there");
    match said.status.success() {
        true => Ok(serde_json::from_slice(&said.stdout).expect("claims in JSON")),
        // `go run` adds a line of its own.
        false => Err(String::from_utf8_lossy(&said.stderr).lines().next().unwrap_or("").to_owned()),
    }
}

#[test]
fn programs_for_origins_agree_with_us() {
    let demanded = std::env::var_os("ANTEROOM_ALL_ORIGINS").is_some();
    for (language, run, always) in PROGRAMS {
        let version = if run[0] == "go" { "version" } else { "--version" };
        let asked = Command::new(run[0]).arg(version).output();
        let found = asked.is_ok_and(|output| output.status.success());
        if !found {
            assert!(!always && !demanded, "{language} is missing: make tools, or make origins");
            println!("{language} is not installed: its program was not judged");
            continue;
        }
        judge(language, run);
    }
}

fn judge(language: &str, run: &[&str]) {
    for (file, room) in [
        ("v1-pass-app", "acme/summer-sale"),
        ("v1-pass-browser", "sale"),
        ("v1-pass-shared", "sale"),
    ] {
        let path = format!("{}/tests/token/golden/{file}.txt", env!("CARGO_MANIFEST_DIR"));
        let text = fs::read_to_string(path).expect("a golden file");
        let get = |name: &str| {
            text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')).map(str::trim)
        };
        let token = get("token").expect("a token");
        let key = match get("pass") {
            Some(shared) => shared.to_owned(),
            None => {
                let signing = key("k1", get("signing").expect("a secret"));
                let ring = KeyRing::new(vec![signing], vec![]).expect("a good key");
                ring.pass_key(room).expect("a good room")
            }
        };
        let claims: Value = serde_json::from_str(get("claims").expect("claims")).expect("JSON");
        assert_eq!(judged(run, token, &key, room, GOOD), Ok(claims), "{language}, {file}");
        let mut forged = token.to_owned();
        let last = if forged.ends_with('A') { 'Q' } else { 'A' };
        forged.replace_range(forged.len() - 1.., &last.to_string());
        let middle = token.replacen(".eyJ", ".eyK", 1);
        for (what, token, key, room, now) in [
            ("expired", token, key.as_str(), room, LATE),
            ("for another room", token, &key, "other", GOOD),
            ("not signed by this key", token, "another key of at least 32 bytes", room, GOOD),
            ("not signed by this key", &forged, &key, room, GOOD),
            ("not signed by this key", &middle, &key, room, GOOD),
            ("not a pass", "a.b", &key, room, GOOD),
        ] {
            let said = judged(run, token, key, room, now);
            assert_eq!(said, Err(what.to_owned()), "{language}, {file}");
        }
    }
    let ticket = format!("{}/tests/token/golden/v1-ticket-browser.txt", env!("CARGO_MANIFEST_DIR"));
    let ticket = fs::read_to_string(ticket).expect("a golden file");
    let token = ticket.lines().find_map(|line| line.strip_prefix("token ")).expect("a token");
    let said = judged(run, token.trim(), "any key that has at least 32 bytes", "sale", GOOD);
    assert_eq!(said, Err("not a pass".to_owned()), "{language}: a ticket is no pass");
}
