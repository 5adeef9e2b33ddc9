//! Variables, options and secrets: what comes from outside the file, and what must not get out.

use std::path::Path;

use anteroom::admin::{Hash, Role};
use anteroom::config::{self, Environment, LogLevel, Plan, Problems, Quick, Warning};
use anteroom::gateway::route::Bypass;
use anteroom::line::{Pace, Rate};
use anteroom::store::redis::{Access, Password};

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
fn variables_move_the_operators_port_and_bring_a_key() {
    let admin = |text: &str, variables: &[(&str, &str)]| with(text, variables).admin;
    let key = "a-key-of-the-tests-from-the-environment";
    let plan = admin(GOOD, &[("ANTEROOM_ADMIN_API_KEY", key)]);
    assert_eq!(plan.listen.as_deref(), Some("127.0.0.1:9090"));
    let [found] = plan.keys.as_slice() else { panic!("{plan:?}") };
    assert_eq!((found.name.as_str(), found.role, &found.tenant), ("env", Role::Admin, &None));
    assert_eq!(found.hash, Hash::of(key.as_bytes()));
    assert!(!format!("{plan:?}").contains(key));
    let listen = |value| admin(GOOD, &[("ANTEROOM_ADMIN_LISTEN", value)]).listen;
    assert_eq!(listen("127.0.0.1:1").as_deref(), Some("127.0.0.1:1"));
    assert_eq!(listen("none"), None);
    let metrics = |text: &str, port| admin(text, &[("ANTEROOM_METRICS_PORT", port)]).metrics_listen;
    assert_eq!(metrics(GOOD, "9091").as_deref(), Some("127.0.0.1:9091"));
    assert_eq!(metrics(GOOD, "9090"), None, "they are there already");
    let open = format!("[admin]\nlisten = \"[::1]:9090\"\n{GOOD}");
    assert_eq!(metrics(&open, "9091").as_deref(), Some("[::1]:9091"));
    let own = format!("[admin]\nmetrics_listen = \"0.0.0.0:1\"\n{GOOD}");
    assert_eq!(metrics(&own, "2").as_deref(), Some("0.0.0.0:2"));
    let said =
        problems(GOOD, &[("ANTEROOM_METRICS_PORT", "x"), ("ANTEROOM_ADMIN_API_KEY", "hunter2")]);
    assert!(said.contains("ANTEROOM_METRICS_PORT=\"x\" is not a port"), "{said}");
    assert!(said.contains("ANTEROOM_ADMIN_API_KEY holds no key"), "{said}");
    assert!(!said.contains("hunter2"), "{said}");
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
        "ANTEROOM_REDIS_ADDR=\"redis:…\" names a Redis, and there is no key:",
        "ANTEROOM_TOKEN_SECRET holds nothing to sign with:",
    ] {
        assert!(said.lines().any(|other| other == line), "{line}\n{said}");
    }
    assert!(!said.contains("hunter2"), "{said}");
    let two = format!("listen = [\"127.0.0.1:1\", \"127.0.0.1:2\"]\n{GOOD}");
    assert!(problems(&two, &[("ANTEROOM_PORT", "3")]).contains("is the port of one address"));
    let unreadable = problems(GOOD, &[("ANTEROOM_REDIS_ADDR", "localhost:hunter2")]);
    assert!(unreadable.contains("ANTEROOM_REDIS_ADDR=\"redis:…\" has a port that is none"));
}

/// A file with a Redis, and these lines about it.
fn redis(lines: &str) -> String {
    let keys = format!("[keys]\nsigning = [{{ id = \"k1\", secret = \"{SECRET}\" }}]\n");
    keys + &GOOD.replace("url = \"memory:\"", lines)
}

#[test]
fn a_redis_is_named_without_what_opens_it() {
    let plan = with(&redis("url = \"redis://ops:hunter2@10.0.0.1/2\""), &[]);
    assert_eq!(plan.store.url, "redis://10.0.0.1:6379/2");
    assert_eq!(plan.store.access, opened_by(Some("ops"), "hunter2"));
    assert!(!format!("{plan:?}").contains("hunter2"));
    let plan = with(&redis("url = \"valkeys-sentinel://10.0.0.1,10.0.0.2/sale\""), &[]);
    assert_eq!(plan.store.url, "rediss-sentinel://10.0.0.1:26379,10.0.0.2:26379/sale");
    assert_eq!(plan.store.access, Access::default());
}

#[test]
fn a_password_comes_from_where_it_is_kept() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let at = |name: &str| directory.path().join(name);
    std::fs::write(at("redis.password"), "hunter2\r\n").expect("space for it");
    chmod(&at("redis.password"), 0o600);
    let url = "url = \"unix:redis.sock\"\nusername = \"ops\"";
    for lines in [
        "password_file = \"redis.password\"",
        "password_env = \"SHOP_REDIS\"",
        "password = \"hunter2\"",
    ] {
        std::fs::write(at("anteroom.toml"), redis(&format!("{url}\n{lines}")))
            .expect("space for it");
        for (mode, open) in [(0o600, false), (0o644, lines.starts_with("password ="))] {
            chmod(&at("anteroom.toml"), mode);
            let variables = set(&[("SHOP_REDIS", "hunter2")]);
            let (plan, warnings) = config::load(&at("anteroom.toml"), &variables).expect(lines);
            let socket = format!("unix:{}", at("redis.sock").display());
            assert_eq!(
                (plan.store.url, plan.store.access),
                (socket, opened_by(Some("ops"), "hunter2"))
            );
            let warned = warnings.iter().any(|one| one.to_string().contains("store.password"));
            assert_eq!(warned, open, "{lines}: {warnings:?}");
        }
    }
}

#[test]
fn variables_overrule_what_opens_a_redis() {
    let access =
        |lines: &str, variables: &[(&str, &str)]| with(&redis(lines), variables).store.access;
    let (password, addr) = ("ANTEROOM_REDIS_PASSWORD", "ANTEROOM_REDIS_ADDR");
    let file = "url = \"redis://10.0.0.1\"\nusername = \"ops\"\npassword = \"old\"";
    assert_eq!(access(file, &[(password, "new")]), opened_by(Some("ops"), "new"));
    let gone = "url = \"redis://10.0.0.1\"\npassword_file = \"no-such.txt\"";
    assert_eq!(access(gone, &[(password, "new")]), opened_by(None, "new"));
    let inside = "url = \"redis://ops:old@10.0.0.1\"";
    assert_eq!(access(inside, &[(password, "new")]), opened_by(Some("ops"), "new"));
    // A url with a password in it brings its user, too.
    let whole = [(addr, "redis://other:new@10.0.0.2")];
    assert_eq!(access(file, &whole), opened_by(Some("other"), "new"));
    assert_eq!(access(file, &[(addr, "redis://10.0.0.2")]), opened_by(Some("ops"), "old"));
    // As other programs take it.
    let bare = with(&redis(file), &[(addr, "redis:6380")]);
    assert_eq!(bare.store.url, "redis://redis:6380");
}

#[test]
fn certificates_for_a_redis_are_read_beforehand() {
    let ca = std::env::current_dir().expect("a directory").join("tests/config/files/cert.pem");
    for (scheme, idle) in [("rediss", false), ("rediss-cluster", false), ("redis", true)] {
        let text = redis(&format!("url = \"{scheme}://10.0.0.1\"\nca_file = {ca:?}"));
        let (plan, warnings) = loaded(&text, &set(&[])).expect("good");
        assert_eq!(plan.store.access.ca_file.as_deref(), Some(ca.as_path()));
        let warned = warnings.iter().any(|one| one.to_string().contains("has no effect"));
        assert_eq!(warned, idle, "{scheme}: {warnings:?}");
    }
}

fn opened_by(username: Option<&str>, password: &str) -> Access {
    let password = Some(Password(password.to_owned()));
    Access { username: username.map(str::to_owned), password, ca_file: None }
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
