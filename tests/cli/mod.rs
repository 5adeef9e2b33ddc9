//! The command line as people and scripts meet it: output, exit codes, and secrets that stay secret.

mod drawing;
mod inviting;
mod running;

use std::io::Write as _;
use std::process::{Command, Output, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use anteroom::token::{Key, KeyRing, Pass, RoomKeys, Secret, Ticket};

const SECRET: &str = "a secret of the tests, known to all";
const PASS_SECRET: &str = "a pass secret of the tests, known too";

/// The program with arguments and nothing of ours in its environment.
fn anteroom(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_anteroom"));
    command.args(arguments);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("ANTEROOM_") {
            command.env_remove(name);
        }
    }
    command
}

/// How it ended and what it printed. Neither stream ever shows a secret that was put in.
fn run(command: &mut Command) -> (i32, String, String) {
    finish(command.stdin(Stdio::null()).output().expect("the program starts"))
}

fn finish(output: Output) -> (i32, String, String) {
    let code = output.status.code().expect("an exit code");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    let (out, err) = (text(output.stdout), text(output.stderr));
    for secret in [SECRET, PASS_SECRET] {
        assert!(!out.contains(secret) && !err.contains(secret), "a secret was printed");
    }
    (code, out, err)
}

fn file(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(text.as_bytes()).expect("space for it");
    file
}

fn ring(pass: Option<&str>) -> KeyRing {
    let key =
        |id, secret| Key::new(id, Secret::new(secret).expect("a good secret")).expect("a good id");
    let pass = pass.map(|secret| key("p1", secret)).into_iter().collect();
    KeyRing::new(vec![key("k1", SECRET)], pass).expect("good keys")
}

fn room(pass: Option<&str>) -> RoomKeys {
    ring(pass).room("sale").expect("a good room")
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs()
}

fn pass_until(keys: &RoomKeys, expires_at: u64) -> String {
    let pass = Pass {
        device_id: Some("d\u{1b}[31m1".into()),
        user_id: None,
        user_proven: false,
        class: "vip".into(),
        slot: Some("X".into()),
        num: 1234,
        epoch: 3,
        issued_at: 1_764_583_200,
        admitted_at: 1_764_583_200,
        expires_at,
        nonce: keys.nonce(3, 1234).into(),
        bind: None,
    };
    keys.sign_pass(&pass).expect("within limits")
}

fn ticket() -> String {
    let keys = room(None);
    let ticket = Ticket {
        num: 1234,
        epoch: 3,
        class: "general".into(),
        joined_at: now() - 90,
        visitor: keys.visitor(3, 1234).into(),
        device_id: None,
        user_id: Some("user-42".into()),
        user_proven: false,
    };
    keys.sign_ticket(&ticket).expect("within limits")
}

#[test]
fn help_fits_a_screen_and_wrong_usage_ends_with_64() {
    let (code, out, err) = run(&mut anteroom(&[]));
    assert_eq!((code, out.as_str()), (64, ""));
    let commands =
        ["demo", "serve", "check", "keygen", "verify", "room", "invite", "draw", "simulate"];
    for command in commands {
        assert!(err.contains(&format!("  {command} ")), "{command}: {err}");
    }
    let asked = commands.map(|command| vec![command, "--help"]);
    for arguments in asked.into_iter().chain([vec!["--help"]]) {
        let (code, out, _) = run(&mut anteroom(&arguments));
        assert_eq!(code, 0);
        assert!(out.lines().count() <= 24, "{out}");
        assert!(out.lines().all(|line| line.chars().count() <= 100), "{out}");
    }
    // What overrules a file is nowhere else to be found.
    let (_, out, _) = run(&mut anteroom(&["serve", "--help"]));
    for name in ["_ADMIN_LISTEN", "_ADMIN_API_KEY", "_METRICS_PORT"] {
        assert!(out.contains(name), "{name}: {out}");
    }
    let (code, out, _) = run(&mut anteroom(&["--version"]));
    assert_eq!((code, out), (0, format!("anteroom {}\n", env!("CARGO_PKG_VERSION"))));
    for arguments in [&["nonsense"][..], &["keygen", "--nonsense"], &["verify"]] {
        assert_eq!(run(&mut anteroom(arguments)).0, 64, "{arguments:?}");
    }
}

#[test]
fn keygen_makes_another_key_each_time_and_its_keys_work() {
    let key = || {
        let (code, out, err) = run(&mut anteroom(&["keygen"]));
        assert_eq!((code, err.as_str()), (0, ""));
        out
    };
    let (one, two) = (key(), key());
    assert_ne!(one, two);
    assert_eq!(one.trim_end().len(), 43);
    assert!(Secret::new(&one).is_ok());
}

#[test]
fn keygen_makes_a_key_for_operators_with_its_hash() {
    use sha2::{Digest as _, Sha256};
    let made = || {
        let (code, out, err) = run(&mut anteroom(&["keygen", "--admin"]));
        assert_eq!((code, err.as_str()), (0, ""));
        let field = |name: &str| {
            let line = out.lines().find(|line| line.starts_with(name)).expect(name);
            line.split_whitespace().nth(1).expect("a value").to_owned()
        };
        (field("key "), field("key_hash "))
    };
    let (key, hash) = made();
    assert_eq!(key.len(), 43, "32 random bytes");
    let digest: String = Sha256::digest(&key).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hash, digest, "as sha256sum says");
    assert_ne!(made().0, key);
    let (_, told, _) = run(anteroom(&["keygen"]).env("ANTEROOM_KEYGEN_ADMIN", "1"));
    assert!(told.contains("key_hash "), "{told}");
    let (_, told, _) = run(anteroom(&["keygen"]).env("ANTEROOM_KEYGEN_ADMIN", "0"));
    assert!(!told.contains("key_hash "), "{told}");
    assert_eq!(run(&mut anteroom(&["keygen", "--admin", "--pass-key", "sale"])).0, 64);
}

#[test]
fn keygen_shows_the_pass_key_of_a_room() {
    let expected =
        (0, format!("{}\n", ring(None).pass_key("sale").expect("a good room")), String::new());
    let key = file(&format!("{SECRET}\n"));
    let path = key.path().to_str().expect("UTF-8");
    let arguments = ["keygen", "--pass-key", "sale", "--key-file", path];
    assert_eq!(run(&mut anteroom(&arguments)), expected);
    assert_eq!(run(anteroom(&arguments[..3]).env("ANTEROOM_SIGNING_KEY", SECRET)), expected);
    assert_eq!(run(anteroom(&arguments[..3]).env("ANTEROOM_KEY_FILE", path)), expected);
    let mut told = anteroom(&arguments[..1]);
    told.env("ANTEROOM_KEYGEN_PASS_KEY", "sale").env("ANTEROOM_KEY_FILE", path);
    assert_eq!(run(&mut told), expected);

    let (code, _, err) = run(&mut anteroom(&arguments[..3]));
    assert_eq!(code, 64);
    assert!(err.contains("--key-file") && err.contains("ANTEROOM_SIGNING_KEY"), "{err}");
    let (code, _, err) =
        run(anteroom(&["keygen", "--pass-key", "a room"]).env("ANTEROOM_SIGNING_KEY", SECRET));
    assert_eq!(code, 64);
    assert!(err.contains("can't be a room's name"), "{err}");
}

#[test]
fn bad_keys_end_with_64_and_a_sentence() {
    let short = file("too short");
    let path = short.path().to_str().expect("UTF-8");
    let (code, _, err) = run(&mut anteroom(&["verify", "x.y.z", "--key-file", path]));
    assert_eq!(code, 64);
    assert!(err.contains(path) && err.contains("9 bytes") && !err.contains("too short"), "{err}");
    let (code, _, err) = run(&mut anteroom(&["verify", "x.y.z", "--key-file", "/nonexistent/key"]));
    assert_eq!(code, 64);
    assert!(err.contains("/nonexistent/key"), "{err}");
    let (code, _, err) = run(anteroom(&["verify", "x.y.z"]).env("ANTEROOM_SIGNING_KEY", "x"));
    assert_eq!(code, 64);
    assert!(err.contains("ANTEROOM_SIGNING_KEY"), "{err}");
    for token in [pass_until(&room(None), now() + 300), ticket()] {
        let (code, _, err) = run(&mut anteroom(&["verify", &token]));
        assert_eq!(code, 64);
        assert!(err.contains("--key-file"), "{err}");
    }
}

#[test]
fn verify_says_what_a_good_pass_says() {
    let token = pass_until(&room(None), now() + 3700);
    let (code, out, err) = run(anteroom(&["verify", &token]).env("ANTEROOM_SIGNING_KEY", SECRET));
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.starts_with("good: a pass for room sale, for another 1h 1m\n"), "{out}");
    for line in
        ["number     1234", "epoch      3", "class      vip", "slot       X", "key id     k1"]
    {
        assert!(out.contains(&format!("  {line}\n")), "{out}");
    }
    assert!(out.contains("issued     2025-12-01 10:00:00 UTC"), "{out}");
    assert!(out.contains(r"device     d\u{1b}[31m1"), "a terminal would have obeyed: {out:?}");
}

#[test]
fn verify_says_what_a_good_ticket_says() {
    let (code, out, _) = run(anteroom(&["verify", &ticket()]).env("ANTEROOM_SIGNING_KEY", SECRET));
    assert_eq!(code, 0);
    assert!(out.starts_with("good: a ticket for room sale, 1m 3"), "{out}");
    assert!(out.contains("  user       user-42\n"), "{out}");
}

#[test]
fn a_token_comes_by_standard_input() {
    let mut child = anteroom(&["verify", "-"])
        .env("ANTEROOM_SIGNING_KEY", SECRET)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let token = pass_until(&room(None), now() + 300);
    let mut stdin = child.stdin.take().expect("a pipe");
    writeln!(stdin, "{token}").expect("a reader");
    drop(stdin);
    let (code, out, _) = finish(child.wait_with_output().expect("an end"));
    assert_eq!(code, 0, "{out}");
}

#[test]
fn what_is_not_good_ends_with_1_and_the_reason() {
    let judged = |token: &str, more: &[&str]| {
        let arguments = [&["verify", token][..], more].concat();
        let (code, out, err) = run(anteroom(&arguments).env("ANTEROOM_SIGNING_KEY", SECRET));
        assert_eq!((code, err.as_str()), (1, ""), "{out}");
        out
    };
    let good = pass_until(&room(None), now() + 300);
    let out = judged(&pass_until(&room(None), now() - 60), &[]);
    assert!(out.starts_with("not good: a pass for room sale that expired 1m "), "{out}");
    assert!(out.contains("number     1234"), "{out}");

    let out = judged(&good, &["--room", "sale2"]);
    assert!(out.starts_with("not good: the token's signature is wrong\n"), "{out}");
    assert!(out.contains("It says it is a pass for room sale, which proves nothing."), "{out}");
    let forged = good.replacen("eyJl", "eyJm", 1);
    assert!(!judged(&forged, &[]).contains("number"), "claims without proof were shown");
    assert_eq!(judged("x.y.z", &[]), "not good: the token is malformed\n");
    assert_eq!(judged("", &[]), "not good: the token is malformed\n");
    assert_eq!(judged(&"x".repeat(3000), &[]), "not good: the token is longer than 2048 bytes\n");
}

#[test]
fn an_origin_verifies_with_its_pass_key() {
    let pass_key = ring(None).pass_key("sale").expect("a good room");
    for (secret, keys) in [(pass_key.as_str(), room(None)), (PASS_SECRET, room(Some(PASS_SECRET)))]
    {
        let token = pass_until(&keys, now() + 300);
        let key = file(secret);
        let path = key.path().to_str().expect("UTF-8");
        let (code, out, _) = run(&mut anteroom(&["verify", &token, "--pass-key-file", path]));
        assert_eq!(code, 0, "{out}");
        let (code, out, _) =
            run(anteroom(&["verify", &token]).env("ANTEROOM_TOKEN_SECRET", secret));
        assert_eq!(code, 0, "{out}");
        // It is no signing key, and verifies no ticket.
        let (code, ..) = run(&mut anteroom(&["verify", &token, "--key-file", path]));
        assert_eq!(code, 1);
        let (code, _, err) = run(&mut anteroom(&["verify", &ticket(), "--pass-key-file", path]));
        assert_eq!(code, 64);
        assert!(err.contains("signing key"), "{err}");
    }
}
