//! `anteroom simulate` as people and scripts meet it.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;

/// The program, with nothing of ours in its environment.
fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_anteroom"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("ANTEROOM_") {
            command.env_remove(name);
        }
    }
    command.arg("simulate").args(arguments).stdin(Stdio::null());
    command
}

/// How it ended, what it printed, what it complained of.
fn simulate(arguments: &[&str], environment: &[(&str, &str)]) -> (i32, String, String) {
    let output = command(arguments).envs(environment.iter().copied()).output();
    let output = output.expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("an exit code"), text(output.stdout), text(output.stderr))
}

/// A crowd that is through in a moment.
const SMALL: [&str; 4] = ["--visitors", "300", "--rate", "2/s"];

#[test]
fn a_table_for_people_and_no_bar_for_a_pipe() {
    let (code, out, err) = simulate(&SMALL, &[]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    for name in
        ["visitors", "entered", "wait", "rate reached", "estimates", "order of turns", "store"]
    {
        assert!(out.lines().any(|line| line.trim_start().starts_with(name)), "{name}: {out}");
    }
}

/// Whoever waits for it sees how far it is, and nothing of that stays behind.
#[test]
fn a_bar_for_a_terminal() {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&terminal).and_then(|()| unlockpt(&terminal)).expect("ours");
    let name = ptsname(&terminal, Vec::new()).expect("it has a name");
    let end = File::options().read(true).write(true).open(OsStr::from_bytes(name.to_bytes()));
    let arguments = ["--visitors", "5000", "--rate", "10/s"];
    let mut command = command(&arguments);
    let mut child =
        command.stdout(Stdio::null()).stderr(end.expect("opened")).spawn().expect("it starts");
    drop(command);
    let (mut shown, mut terminal) = (Vec::new(), File::from(terminal));
    // A terminal that nobody writes to any more ends with an error.
    let _ = terminal.read_to_end(&mut shown);
    assert!(child.wait().expect("a child of ours").success());
    let shown = String::from_utf8(shown).expect("UTF-8");
    let (bars, rest) = shown.rsplit_once('\r').expect("a bar");
    assert_eq!(rest, "\u{1b}[K", "it is gone");
    let percent = |bar: &str| bar.split_once(" %")?.0.rsplit(' ').next()?.parse::<u32>().ok();
    let shares: Vec<u32> = bars.split('\r').filter_map(percent).collect();
    assert!(
        !shares.is_empty() && shares.is_sorted() && shares.iter().all(|share| *share <= 100),
        "{shown:?}"
    );
    assert!(bars.contains('░') && bars.contains(" h "), "{shown:?}");
}

/// Scripts read these; what is here may only be added to, or the schema is another one.
#[test]
fn the_names_in_json_stay() {
    let (code, out, err) = simulate(&[&SMALL[..], &["--json"]].concat(), &[]);
    assert_eq!((code, err.as_str()), (0, ""));
    let report: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(report["schema"], anteroom::simulate::SCHEMA);
    for path in [
        "/plan/crowd/visitors",
        "/plan/seed",
        "/plan/nodes",
        "/plan/left_out",
        "/plan/settings/claim_window_ms",
        "/virtual_seconds",
        "/people/visitors",
        "/people/entered",
        "/people/gave_up",
        "/people/no_shows",
        "/people/bots",
        "/people/passed_over",
        "/people/turned_away",
        "/people/still_waiting",
        "/people/lost",
        "/people/peak_waiting",
        "/people/peak_inside",
        "/wait_seconds/p10",
        "/wait_seconds/p50",
        "/wait_seconds/p90",
        "/wait_seconds/p99",
        "/wait_seconds/max",
        "/wait_seconds/mean",
        "/entries/rate_set",
        "/entries/rate_reached",
        "/entries/reached_of_set",
        "/entries/contested_seconds",
        "/entries/turns",
        "/fairness/compared",
        "/fairness/turn_inversions",
        "/fairness/turn_tau",
        "/fairness/entry_inversions",
        "/fairness/entry_tau",
        "/eta/count",
        "/eta/median_error",
        "/eta/p90_error",
        "/eta/bias",
        "/eta/ranges_right",
        "/eta/ranges_right_exactly",
        "/eta_at_joining/median_error",
        "/eta_while_waiting/median_error",
        "/eta_overtaken",
        "/cost/calls",
        "/cost/calls_per_second",
        "/cost/calls_per_second_and_node",
        "/cost/calls_per_second_peak",
        "/cost/store_busy",
        "/cost/marks",
        "/cost/store_bytes_peak",
        "/cost/bytes_said_per_second",
        "/cost/bytes_heard_per_second",
        "/step_seconds",
        "/series/0/arrivals",
        "/series/0/waiting",
        "/series/0/inside",
        "/series/0/entries",
        "/series/0/turns",
        "/series/0/rate",
        "/samples/0/told",
        "/samples/0/was",
    ] {
        assert!(report.pointer(path).is_some_and(|value| !value.is_null()), "{path} is missing");
    }
    assert_eq!(report["people"]["visitors"], 300);
}

#[test]
fn every_option_has_a_twin_in_the_environment() {
    let typed = simulate(
        &[&SMALL[..], &["--no-shows", "30%", "--arrive", "once", "--seed", "9", "--json"]].concat(),
        &[],
    );
    let set = [
        ("ANTEROOM_SIMULATE_VISITORS", "300"),
        ("ANTEROOM_SIMULATE_RATE", "2/s"),
        ("ANTEROOM_SIMULATE_NO_SHOWS", "30%"),
        ("ANTEROOM_SIMULATE_ARRIVE", "once"),
        ("ANTEROOM_SIMULATE_SEED", "9"),
        ("ANTEROOM_SIMULATE_JSON", "1"),
    ];
    assert_eq!(simulate(&[], &set), typed);
}

#[test]
fn a_room_of_a_real_configuration() {
    let conf = concat!(env!("CARGO_MANIFEST_DIR"), "/conf/minimal.toml");
    let (code, out, err) = simulate(
        &["--visitors", "300", "--config", conf, "--json"],
        &[("ANTEROOM_SIGNING_KEY", "")],
    );
    assert_eq!(code, 0, "{err}");
    let report: Value = serde_json::from_str(&out).expect("JSON");
    assert!(report["entries"]["rate_set"].is_number(), "the file's rate counts");
    let (code, _, err) =
        simulate(&["--visitors", "300", "--config", conf, "--room", "nowhere"], &[]);
    assert!(code == 64 && err.contains("no room nowhere: it has "), "{code}: {err}");
}

/// A room of a file, as it is before a sale: what a run has none of is named, and what nobody would enter is refused.
#[test]
fn what_a_run_has_none_of_is_left_out_and_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("anteroom.toml");
    let conf = path.to_str().expect("UTF-8");
    let run = |room: &str, more: &[&str]| {
        let text = format!(
            "[origins.shop]\nservers = [\"127.0.0.1:3000\"]\n[rooms.sale]\norigin = \"shop\"\n{room}\n"
        );
        std::fs::write(&path, text).expect("space for it");
        simulate(&[&["--visitors", "300", "--config", conf, "--json"], more].concat(), &[])
    };
    for mode in ["hold", "drain", "closed", "bypass", "shadow"] {
        let room = format!("rate = \"5/s\"\nmode = \"{mode}\"");
        let (code, out, err) = run(&room, &[]);
        assert_eq!((code, out.as_str()), (64, ""), "{mode}: {err}");
        assert!(err.contains(mode) && err.contains("--set mode=auto"), "{mode}: {err}");
        let (code, _, err) = run(&room, &["--set", "mode=auto"]);
        assert_eq!((code, err.as_str()), (0, ""), "{mode}");
    }
    let room = "rate = \"5/s\"\nrate_min = \"1/s\"\nclasses = { vip = { skip = 1.0 } }
        schedule = [{ opens = \"2096-12-01T10:00:00Z\", draw = true, prequeue = \"30m\" }]
        [rooms.sale.adaptive]\nsignal = \"latency\"\ntarget_p95 = \"500ms\"";
    let (code, out, err) = run(room, &[]);
    assert_eq!(code, 0, "{err}");
    assert!(err.starts_with("left out: schedule, adaptive, classes; see "), "{err}");
    let report: Value = serde_json::from_str(&out).expect("JSON, and nothing else");
    assert_eq!(report["plan"]["left_out"], serde_json::json!(["schedule", "adaptive", "classes"]));
    assert!(report["people"]["entered"].as_u64() > Some(100), "they enter: {}", report["people"]);
    let (code, _, err) = run("slots = [\"X\", \"O\"]\nroster = true", &[]);
    assert!(code == 0 && err.starts_with("left out: slots, roster; see "), "{code}: {err}");
}

#[test]
fn a_chart_into_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("sale.svg");
    let name = path.to_str().expect("UTF-8");
    let (code, ..) = simulate(&[&SMALL[..], &["--svg", name]].concat(), &[]);
    assert_eq!(code, 0);
    assert!(!super::tags(&std::fs::read_to_string(&path).expect("written")).is_empty());
    let (code, _, err) = simulate(&[&SMALL[..], &["--svg", "/nowhere/at/all.svg"]].concat(), &[]);
    assert!(code == 64 && err.contains("/nowhere/at/all.svg"), "{code}: {err}");
}

#[test]
fn what_is_wrong_is_said_with_what_to_write_instead() {
    for (arguments, said) in [
        (&["--rate", "5/s"][..], "--visitors"),
        (&["--visitors", "10"], "give a rate above 0, or seats"),
        (&["--visitors", "0", "--rate", "5/s"], "give 1 to"),
        (&["--visitors", "10", "--rate", "5"], "Write \"5/s\""),
        (&["--visitors", "10", "--rate", "5/s", "--nodes", "0"], "0 nodes: give 1 to"),
        (
            &["--visitors", "10", "--rate", "5/s", "--no-shows", "130%"],
            "--no-shows 130%: write a share",
        ),
        (&["--visitors", "10", "--rate", "5/s", "--bots", "some"], "--bots some: write a share"),
        (
            &["--visitors", "10", "--rate", "5/s", "--arrive", "late"],
            "once, flash, even or evening",
        ),
        (&["--visitors", "10", "--rate", "5/s", "--patience", "5"], "--patience 5: it has no unit"),
        (&["--visitors", "10", "--rate", "5/s", "--stay", "90d"], "30d at most"),
        (&["--visitors", "10", "--rate", "5/s", "--faults", "fire=1"], "node, outage or loss"),
        (&["--visitors", "10", "--rate", "5/s", "--faults", "node"], "NAME=VALUE"),
        (&["--visitors", "10", "--rate", "5/s", "--set", "colour=red"], "write claim_window"),
        (&["--visitors", "10", "--rate", "5/s", "--set", "claim_window=1ms"], "claim_window"),
        (&["--visitors", "10", "--max-active", "5", "--set", "burst=2"], "it needs a --rate"),
        (&["--visitors", "10", "--rate", "5/s", "--change", "5m=fast"], "--change fast"),
        (&["--visitors", "10", "--room", "sale"], "--config"),
        (&["--visitors", "10", "--config", "/nowhere.toml"], "/nowhere.toml"),
    ] {
        let (code, out, err) = simulate(arguments, &[]);
        assert_eq!((code, out.as_str()), (64, ""), "{arguments:?}: {err}");
        assert!(err.contains(said), "{arguments:?}: {err}");
    }
}
