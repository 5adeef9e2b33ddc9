//! Variables, options and secrets: what comes from outside the file, and what must not get out.

use std::path::Path;

use anteroom::config::{self, Environment, LogLevel, Plan, Problems, Quick, Warning};
use anteroom::gateway::route::Bypass;
use anteroom::line::{Pace, Rate};

use super::{SECRETS, loaded};

const GOOD: &str = "[store]\nurl = \"memory:\"\n[origins.shop]\nservers = [\"127.0.0.1:3000\"]\n\
                    [rooms.sale]\norigin = \"shop\"\nrate = \"5/s\"\n";
const SECRET: &str = "a secret of the tests, known to all";

fn set(variables: &[(&str, &str)]) -> Environment {
    variables.iter().copied().collect()
}

fn with(text: &str, variables: &[(&str, &str)]) -> Plan {
    match loaded(text, &set(variables)) {
        Ok((plan, _)) => plan,
        Err(problems) => panic!("{problems}"),
    }
}

fn problems(text: &str, variables: &[(&str, &str)]) -> String {
    loaded(text, &set(variables)).expect_err("a problem").to_string()
}

#[test]
fn variables_overrule_the_file() {
    let plan = with(GOOD, &[("ANTEROOM_PORT", "9000"), ("ANTEROOM_LOG_LEVEL", "DEBUG")]);
    assert_eq!(plan.gateway.listen, ["0.0.0.0:9000"]);
    assert_eq!(plan.log.level, LogLevel::Debug);
    let local = format!("listen = [\"[::1]:8080\"]\n{GOOD}");
    assert_eq!(with(&local, &[("ANTEROOM_PORT", "0")]).gateway.listen, ["[::1]:0"]);
    assert_eq!(with(&local, &[("ANTEROOM_PORT", "")]).gateway.listen, ["[::1]:8080"]);
    let redis = GOOD.replace("memory:", "redis://127.0.0.1");
    assert_eq!(with(&redis, &[("ANTEROOM_REDIS_ADDR", "memory:")]).store.url, "memory:");
    // It signs; the file's own go on verifying.
    let keyed =
        format!("[keys]\npass = [{{ id = \"p1\", secret = \"another {SECRET}\" }}]\n{GOOD}");
    let plan = with(&keyed, &[("ANTEROOM_TOKEN_SECRET", SECRET)]);
    let ids: Vec<&str> = plan.keys.pass.iter().map(anteroom::token::Key::id).collect();
    assert_eq!(ids, ["env", "p1"]);
}

#[test]
fn variables_that_can_t_be_used_say_so_themselves() {
    let said = problems(
        GOOD,
        &[
            ("ANTEROOM_PORT", "http"),
            ("ANTEROOM_LOG_LEVEL", "inof"),
            ("ANTEROOM_REDIS_ADDR", "redis:6379"),
            ("ANTEROOM_TOKEN_SECRET", "hunter2"),
        ],
    );
    for line in [
        "ANTEROOM_PORT=\"http\" is not a port:",
        "ANTEROOM_LOG_LEVEL=\"inof\" is none of its words:",
        "ANTEROOM_REDIS_ADDR=\"redis:…\" names a Redis, which is not available in this version:",
        "ANTEROOM_TOKEN_SECRET holds nothing to sign with:",
    ] {
        assert!(said.lines().any(|other| other == line), "{line}\n{said}");
    }
    assert!(!said.contains("hunter2"), "{said}");
    let two = format!("listen = [\"127.0.0.1:1\", \"127.0.0.1:2\"]\n{GOOD}");
    assert!(problems(&two, &[("ANTEROOM_PORT", "3")]).contains("is the port of one address"));
    assert!(problems(GOOD, &[("ANTEROOM_REDIS_ADDR", "localhost:6379")]).contains("names a Redis"));
}

#[test]
fn options_of_a_site_without_a_file_are_idle_beside_one() {
    let (_, warnings) = loaded(GOOD, &set(&[("ANTEROOM_RATE", "9/s")])).expect("good");
    let said: Vec<String> = warnings.iter().map(Warning::to_string).collect();
    assert!(said[0].starts_with("ANTEROOM_RATE has no effect beside a file:"), "{said:?}");
}

fn quick(options: Quick, variables: &[(&str, &str)]) -> Result<Plan, Problems> {
    let memory = [("ANTEROOM_REDIS_ADDR", "memory:")];
    config::quick(options, &set(&[&memory, variables].concat())).map(|(plan, _)| plan)
}

fn options(origin: &str, rate: &str) -> Quick {
    Quick { origin: Some(origin.to_owned()), rate: Some(rate.to_owned()), ..Quick::default() }
}

#[test]
fn a_site_without_a_file() {
    let plan = quick(options("http://127.0.0.1:3000", "5/s"), &[]).expect("good options");
    let gateway = plan.gateway;
    assert_eq!((gateway.listen.as_slice(), plan.source), (&["0.0.0.0:8080".to_owned()][..], None));
    let (room, origin) = (&gateway.rooms[0], &gateway.origins["site"]);
    assert_eq!((room.guard.room.as_str(), room.guard.origin.as_str()), ("site", "site"));
    assert_eq!((&room.guard.hosts, &room.guard.paths), (&None, &None));
    let rate = Rate { count: 5, per_ms: 1_000 };
    assert_eq!(room.line.pace, Some(Pace::Rate { rate, burst: 5 }));
    assert_eq!(
        (origin.servers.as_slice(), origin.tls),
        (&["127.0.0.1:3000".to_owned()][..], false)
    );

    for (url, server, tls) in [
        ("https://shop.internal", "shop.internal:443", true),
        ("HTTPS://shop.internal:8443/", "shop.internal:8443", true),
        ("http://[::1]", "[::1]:80", false),
        ("localhost:3000", "localhost:3000", false),
    ] {
        let plan = quick(options(url, "5/s"), &[]).expect(url);
        let origin = &plan.gateway.origins["site"];
        assert_eq!((origin.servers[0].as_str(), origin.tls), (server, tls), "{url}");
    }
}

#[test]
fn what_is_typed_outranks_what_is_set() {
    let variables = [
        ("ANTEROOM_ORIGIN", "http://127.0.0.1:1"),
        ("ANTEROOM_MAX_ACTIVE", "7"),
        ("ANTEROOM_LISTEN", "127.0.0.1:2"),
        ("ANTEROOM_PORT", "3"),
    ];
    let typed = Quick { origin: Some("http://127.0.0.1:9".to_owned()), ..Quick::default() };
    let plan = quick(typed, &variables).expect("good");
    assert_eq!(plan.gateway.origins["site"].servers, ["127.0.0.1:9"]);
    assert_eq!(plan.gateway.rooms[0].line.max_active, Some(7));
    assert_eq!(plan.gateway.listen, ["127.0.0.1:3"], "the port overrules a variable");
    let typed = Quick { listen: Some("127.0.0.1:4".to_owned()), ..Quick::default() };
    assert_eq!(quick(typed, &variables).expect("good").gateway.listen, ["127.0.0.1:4"]);
}

#[test]
fn options_that_can_t_be_used_are_told_all_at_once() {
    let wrong = Quick {
        origin: Some("ftp://127.0.0.1".to_owned()),
        rate: Some("5".to_owned()),
        max_active: None,
        listen: Some("8080".to_owned()),
    };
    let said = quick(wrong, &[("ANTEROOM_MAX_ACTIVE", "many")]).expect_err("problems").to_string();
    let first: Vec<&str> = said.lines().filter(|line| !line.starts_with(' ')).collect();
    let expected = [
        "--rate \"5\" is not a rate:",
        "ANTEROOM_MAX_ACTIVE=\"many\" is not a whole number:",
        "--origin \"ftp://127.0.0.1\" is no site we can speak to:",
        "--listen \"8080\" is not an address to listen on:",
    ];
    assert_eq!(first, expected);
    let said = quick(Quick::default(), &[]).expect_err("problems").to_string();
    assert!(
        said.contains("--origin is missing") && said.contains("--rate and --max-active"),
        "{said}"
    );
    let said = quick(options("http://127.0.0.1/shop", "5/s"), &[]).expect_err("a path").to_string();
    assert!(said.contains("is more than an address"), "{said}");
    let said = quick(options("http://ops:hunter2@127.0.0.1", "5/s"), &[]).expect_err("a password");
    assert!(!said.to_string().contains("hunter2"), "{said}");
}

#[test]
fn secrets_come_from_where_they_are_kept_and_stay_there() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let at = |name: &str| directory.path().join(name);
    std::fs::write(at("signing.key"), format!("{SECRET}\n")).expect("space for it");
    let text = format!(
        "{GOOD}bypass = [{{ header = \"x-probe: a value that nobody guesses\" }}]\n[keys]\n\
         signing = [{{ id = \"k1\", secret_file = \"signing.key\" }}, {{ id = \"k2\", secret_env = \"SHOP_KEY\" }}]\n\
         pass = [{{ id = \"p1\", secret = \"one more {SECRET}\" }}]\n"
    );
    std::fs::write(at("anteroom.toml"), text).expect("space for it");
    let variables = set(&[("SHOP_KEY", "another a secret of the tests, known to all")]);
    for (mode, open) in [(0o600, false), (0o640, false), (0o644, true)] {
        chmod(&at("signing.key"), mode);
        chmod(&at("anteroom.toml"), mode);
        let (plan, warnings) = config::load(&at("anteroom.toml"), &variables).expect("good");
        assert_eq!((plan.keys.signing.len(), plan.keys.pass.len()), (2, 1));
        let Bypass::Header(_, value) = &plan.gateway.rooms[0].guard.bypass[0] else { panic!() };
        assert_eq!(value, "a value that nobody guesses");
        let told: Vec<String> = warnings.iter().map(Warning::to_string).collect();
        assert_eq!(
            told.iter().filter(|line| line.contains("is open to others")).count(),
            2 * usize::from(open)
        );
        let shown = format!("{plan:?} {plan:#?} {told:?} {variables:?}");
        for secret in SECRETS {
            assert!(!shown.contains(secret), "a secret is shown");
        }
    }
}

fn chmod(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("our own file");
}
