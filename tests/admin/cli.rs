//! `anteroom room …` against a real node.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{becomes, held, join};
use crate::support::operator::{ADMIN, OPERATOR, VIEWER};
use crate::support::{Gateway, Operator, Origin};

/// The program at a node, with a key: exit code, output, errors. Neither ever shows the key.
fn room(gateway: &Gateway, key: &str, arguments: &[&str]) -> (i32, String, String) {
    room_with(gateway, key, arguments, &[])
}

/// The same, with variables.
fn room_with(
    gateway: &Gateway,
    key: &str,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_anteroom"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("ANTEROOM_") {
            command.env_remove(name);
        }
    }
    command.arg("room").args(arguments);
    command.env("ANTEROOM_ADMIN", format!("http://{}", gateway.admin_addr()));
    command.env("ANTEROOM_ADMIN_KEY", key).env("HTTP_PROXY", "http://127.0.0.1:9");
    command.envs(variables.iter().copied());
    let output = command.stdin(Stdio::null()).output().expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    let (out, err) = (text(output.stdout), text(output.stderr));
    let shown = !key.is_empty() && (out.contains(key) || err.contains(key));
    assert!(!shown, "the key is shown");
    (output.status.code().expect("an exit code"), out, err)
}

/// What it printed, if it worked.
#[track_caller]
fn good(gateway: &Gateway, arguments: &[&str]) -> String {
    let (code, out, err) = room(gateway, ADMIN, arguments);
    assert_eq!((code, err.as_str()), (0, ""), "{arguments:?}");
    out
}

#[test]
fn scripts_may_say_so_in_the_environment() {
    let origin = Origin::start();
    let gateway = held(&origin);
    let told = |json| room_with(&gateway, VIEWER, &["list"], &[("ANTEROOM_JSON", json)]).1;
    let answer: Value = serde_json::from_str(&told("1")).expect("the node's own answer");
    assert_eq!(answer["rooms"][0]["event_id"], "sale", "{answer}");
    assert!(told("0").starts_with("ROOM"), "a table");
}

#[test]
fn a_day_at_the_terminal() {
    let origin = Origin::start();
    let gateway = held(&origin);
    join(&gateway, "sale", 12);
    becomes(&Operator::new(&gateway), "sale", |room| room["waiting"] == 12);
    let list = good(&gateway, &["list"]);
    let rows: Vec<Vec<&str>> = list.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0][..3], ["ROOM", "MODE", "WAITING"], "{list}");
    assert_eq!(rows[1][..3], ["sale", "hold", "12"], "{list}");
    let status = good(&gateway, &["status", "sale"]);
    assert!(status.contains("waiting        12, at most 100,000\n"), "{status}");
    assert_eq!(
        good(&gateway, &["status"]).lines().count(),
        status.lines().count(),
        "the only room"
    );
    let line = good(&gateway, &["line", "--from", "3", "--limit", "2"]);
    let tickets: Vec<&str> =
        line.lines().skip(1).filter_map(|row| row.split_whitespace().nth(1)).collect();
    assert_eq!(tickets, ["B-000003", "B-000004"], "{line}");
    let who = good(&gateway, &["who", "B-000003", "sale"]);
    assert!(
        who.contains("status         waiting\n") && who.contains("position       3\n"),
        "{who}"
    );
    assert_eq!(good(&gateway, &["release", "2"]), "released 2: B-000001 to B-000002; 10 wait\n");
    assert_eq!(good(&gateway, &["release", "1", "sale"]), "released 1: B-000003; 9 wait\n");
    assert_eq!(good(&gateway, &["pause"]), "sale is paused: 9 wait\n");
    assert_eq!(good(&gateway, &["resume"]), "sale goes on: 9 wait\n");
    assert_eq!(good(&gateway, &["revoke", "12"]), "B-000012 is out\n");
    let watched = good(&gateway, &["watch", "--count", "2"]);
    assert_eq!(watched.lines().count(), 2, "{watched}");
    assert!(watched.contains("waiting 8 called"), "{watched}");
    assert_eq!(good(&gateway, &["reload"]), "the new configuration is in force\n");
    assert!(good(&gateway, &["reset", "--yes"]).starts_with("sale starts anew: epoch "));
    assert_eq!(Operator::new(&gateway).see("/v1/rooms/sale")["waiting"], 0);
}

#[test]
fn scripts_get_the_nodes_own_answer() {
    let origin = Origin::start();
    let gateway = held(&origin);
    join(&gateway, "sale", 2);
    let answer = |arguments: &[&str]| -> Value {
        serde_json::from_str(&good(&gateway, arguments)).expect("JSON")
    };
    assert_eq!(answer(&["list", "--json"])["rooms"][0]["id"], "sale");
    assert_eq!(answer(&["status", "--json", "sale"])["event_id"], "sale");
    let released = answer(&["--json", "release", "1"]);
    assert_eq!((&released["released"], &released["remaining"]), (&json!(1), &json!(1)));
}

#[test]
fn exit_codes_say_whether_trying_again_is_of_any_use() {
    let origin = Origin::start();
    let gateway = held(&origin);
    let (code, _, err) = room(&gateway, VIEWER, &["pause"]);
    assert_eq!(code, 64);
    assert!(err.contains("needs the role operator"), "{err}");
    let (code, _, err) = room(&gateway, "nobody-guesses-this-key", &["list"]);
    assert_eq!(code, 64);
    assert!(err.contains("this needs a key"), "{err}");
    assert_eq!(room(&gateway, ADMIN, &["status", "other"]).0, 64);
    assert_eq!(room(&gateway, ADMIN, &["who", "99"]).0, 64);
    assert_eq!(room(&gateway, ADMIN, &["release", "0"]).0, 64);
    assert_eq!(room(&gateway, ADMIN, &["release", "many"]).0, 64);
    let (code, _, err) = room(&gateway, OPERATOR, &["reset"]);
    assert_eq!(code, 64, "nobody to ask: {err}");
    assert!(err.contains("--yes"), "{err}");
    let (code, _, err) = room(&gateway, "", &["list"]);
    assert_eq!(code, 64);
    assert!(err.contains("ANTEROOM_ADMIN_KEY"), "{err}");
    let (code, _, err) = room(&gateway, ADMIN, &["list", "--admin", "http://127.0.0.1:9"]);
    assert_eq!(code, 1, "nobody is there");
    assert!(err.contains("http://127.0.0.1:9"), "{err}");
    assert_eq!(room(&gateway, ADMIN, &["list", "--admin", "ftp://x"]).0, 64);
    let visitors = format!("http://{}", gateway.addr());
    let (code, _, err) = room(&gateway, ADMIN, &["list", "--admin", &visitors]);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("no operators' port answers there"), "{err}");
}

#[test]
fn a_bad_configuration_is_told_problem_by_problem() {
    let origin = Origin::start();
    let gateway = held(&origin);
    let path = gateway.directory().join("anteroom.toml");
    let text = std::fs::read_to_string(&path).expect("the file");
    std::fs::write(&path, text.replace("mode = \"hold\"", "mode = \"hld\"")).expect("space for it");
    let (code, _, err) = room(&gateway, ADMIN, &["reload"]);
    assert_eq!(code, 64);
    assert!(
        err.contains("refused, the old one goes on") && err.contains("rooms.sale.mode"),
        "{err}"
    );
}

#[test]
fn of_several_rooms_one_must_be_named() {
    let origin = Origin::start();
    let plan = Gateway::before(&origin).room("sale", "rate = \"5/s\"\nhosts = [\"a.example\"]");
    let gateway = plan.room("drop", "rate = \"5/s\"\nhosts = [\"b.example\"]").start();
    let (code, _, err) = room(&gateway, ADMIN, &["pause"]);
    assert_eq!((code, err.as_str()), (64, "anteroom: which room? There are drop, sale\n"));
    assert_eq!(good(&gateway, &["pause", "drop"]), "drop is paused: 0 wait\n");
}
