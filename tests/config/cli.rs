//! `anteroom check` as scripts meet it: exit codes, and what goes where.

use std::process::{Command, Stdio};

/// The program in an empty directory with nothing of ours in its environment.
fn check(arguments: &[&str], variables: &[(&str, &str)]) -> (i32, String, String) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut command = Command::new(env!("CARGO_BIN_EXE_anteroom"));
    command.arg("check").args(arguments).current_dir(directory.path()).stdin(Stdio::null());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("ANTEROOM_") {
            command.env_remove(name);
        }
    }
    let output = command.envs(variables.iter().copied()).output().expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("an exit code"), text(output.stdout), text(output.stderr))
}

fn repository(path: &str) -> String {
    format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_good_file_is_summed_up() {
    let path = repository("conf/anteroom.toml");
    let store = repository("conf/anteroom.db");
    let there = || std::fs::exists(&store).expect("a look");
    let before = there(); // somebody may have run a node with it
    let (code, out, err) = check(&["-c", &path], &[]);
    assert_eq!((code, err.as_str()), (0, ""));
    let expected = format!(
        "{path} is good.
  listens  http://0.0.0.0:8080
  admin    http://127.0.0.1:9090, keys: ops (operator)
  store    embedded:{store}
  keys     the store's own
  room     sale: shop.example.com *.shop.example.com, /checkout /drop/* -> shop, exceptions: 4
           5/s, burst 5, 500 inside, 100,000 waiting
  site     www.example.com -> shop
  origin   shop: http://127.0.0.1:3000, 127.0.0.1:3001
"
    );
    assert_eq!(out, expected);
    assert_eq!(there(), before, "a check makes nothing");
}

#[test]
fn problems_go_to_standard_error_and_end_with_64() {
    let path = repository("tests/config/bad/heartbeat_timeout.toml");
    let expected = format!(
        "{path}: rooms.sale.heartbeat_timeout = \"5s\" is shorter than three times poll_max = \"30s\":\n  \
         waiting visitors would lose their place between two polls. Raise it to 90s or lower poll_max.\n\
         anteroom: 1 problem in the configuration\n"
    );
    assert_eq!(check(&["--config", &path], &[]), (64, String::new(), expected.clone()));
    assert_eq!(check(&[], &[("ANTEROOM_CONFIG", &path)]), (64, String::new(), expected));
    let (code, _, err) = check(&["-c", "no-such.toml"], &[]);
    assert_eq!(code, 64);
    assert!(err.contains("no-such.toml: can't be read"), "{err}");
}

#[test]
fn names_that_lead_nowhere_are_problems() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join("anteroom.toml");
    let text = "[origins.a]\nservers = ['no-such.invalid:80', '127.0.0.1:1', 'localhost:80']\n\
                [origins.b]\nservers = ['nor-this.invalid:80']\n\
                [rooms.sale]\norigin = 'a'\nrate = '5/s'\n[sites.'b.example']\norigin = 'b'\n";
    std::fs::write(&file, text).expect("space for it");
    let path = file.to_str().expect("UTF-8");
    let (code, out, err) = check(&["-c", path], &[]);
    assert_eq!((code, out.as_str()), (64, ""), "{err}");
    for (origin, server) in [("a", "no-such.invalid:80"), ("b", "nor-this.invalid:80")] {
        let said = format!("{path}: origins.{origin}: {server:?} is not found: ");
        assert!(err.contains(&said), "{err}");
    }
    assert!(err.contains("names are looked up when a node starts"), "{err}");
    assert!(err.ends_with("anteroom: 2 problems in the configuration\n"), "{err}");
    assert!(!err.contains("127.0.0.1") && !err.contains("localhost"), "{err}");
    let (code, _, err) = check(&["--origin", "http://no-such.invalid", "--rate", "5/s"], &[]);
    assert_eq!(code, 64);
    assert!(err.contains("\"no-such.invalid:80\" is not found"), "{err}");
}

#[test]
fn warnings_are_no_obstacle() {
    let path = repository("tests/config/warned/heartbeat_timeout.toml");
    let (code, out, err) = check(&["-c", &path], &[]);
    assert_eq!(code, 0);
    assert!(out.contains("is good, with a warning."), "{out}");
    assert!(err.starts_with("warning: ") && err.contains("heartbeat_timeout"), "{err}");
}

#[test]
fn without_a_file() {
    let site = ["--origin", "http://127.0.0.1:3000", "--rate", "5/s"];
    let (code, out, err) = check(&site, &[]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("room     site: any host, every path -> site"), "{out}");
    let variables = [("ANTEROOM_ORIGIN", "http://127.0.0.1:3000"), ("ANTEROOM_MAX_ACTIVE", "9")];
    let (code, out, _) = check(&[], &variables);
    assert_eq!(code, 0);
    assert!(out.contains("any pace, 9 inside"), "{out}");

    let (code, _, err) = check(&[], &[]);
    assert_eq!(code, 64);
    assert!(err.contains("-c") && err.contains("--origin"), "{err}");
    let (code, _, err) = check(&["-c", "x.toml", "--rate", "5/s"], &[]);
    assert_eq!(code, 64);
    assert!(err.contains("cannot be used with"), "{err}");
}
