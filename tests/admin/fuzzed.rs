//! schemathesis makes thousands of requests of the document about the calls, good ones and bad ones, one after the other and
//! in stories, and holds every answer against it: statuses, headers, bodies, methods; what is valid is taken, what is not is
//! refused, and nothing breaks.
//!
//! Of its checks one is left out: `ignored_auth` asks with wrong keys, and whoever does so too often is locked out, as they
//! should be. `keys` asks every call with wrong keys and without one. Streams have no end to be judged; `events` and `dashboard`
//! read them. And where a schema can't say what may be asked for (a rate, one of two fields, a class that there is, a number that a line can hold), whether
//! something is taken or refused is `orders`' and `named`'s to say; what is answered is judged here all the same.

use std::process::Command;

use super::join;
use crate::support::operator::{ADMIN, OPERATOR, VIEWER};
use crate::support::tools::{printed, tool};
use crate::support::{Gateway, Operator, Origin};

/// The same ones each time.
const SEED: &str = "5";

/// Calls whose bodies or parameters have rules beyond a schema.
const BEYOND: &str = r#"
[[operations]]
include-path-regex = "(/audit|/rooms/.id.|/config|/release|/boost|/message|/invites)$"
checks.positive_data_acceptance.enabled = false
checks.negative_data_rejection.enabled = false
"#;

fn gateway(origin: &Origin) -> Gateway {
    let gateway = Gateway::before(origin).room("sale", "rate = \"5/s\"\nmax_active = 3").start();
    join(&gateway, "sale", 10);
    gateway
}

/// Asks with a key, so many times a call; `more` are options.
#[track_caller]
fn judge(gateway: &Gateway, key: &str, examples: u32, settings: &str, more: &[&str]) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let settings = format!("{settings}{BEYOND}");
    std::fs::write(directory.path().join("schemathesis.toml"), settings).expect("space for it");
    let mut run = Command::new(tool("venv/bin/schemathesis"));
    run.arg("run").arg(format!("http://{}/openapi.json", gateway.admin_addr()));
    run.args(["--header", &format!("Authorization: Bearer {key}")]);
    run.args(["--exclude-path-regex", "/(events|updates)$", "--exclude-checks", "ignored_auth"]);
    run.args(["--generation-with-security-parameters", "false"]);
    run.args(["--generation-database", "none", "--request-timeout", "10", "--no-color"]);
    run.args(["--seed", SEED, "--max-examples", &examples.to_string()]).args(more);
    let told = printed(run.current_dir(directory.path()));
    let cases = told.lines().skip_while(|line| !line.starts_with("Test cases:")).nth(1);
    let cases = cases.and_then(|line| line.trim().split_once(" generated, "));
    let (generated, good) = cases.unwrap_or_else(|| panic!("{told}"));
    println!("{generated} requests");
    assert_eq!(good, format!("{generated} passed"), "{told}");
    assert_eq!(Operator::new(gateway).get("/health").status, 200, "{}", gateway.log().text());
}

#[test]
fn whatever_is_asked_the_answer_is_as_documented() {
    let origin = Origin::start();
    judge(&gateway(&origin), ADMIN, 30, "", &[]);
}

/// Of a room and a visitor that are there.
#[test]
fn who_asks_for_what_is_there_gets_what_is_documented() {
    let origin = Origin::start();
    let gateway = gateway(&origin);
    let known = "[parameters]\n\"path.id\" = \"sale\"\n\"path.visitor\" = \"A-000010\"\nevent_id = \"sale\"\n";
    judge(
        &gateway,
        ADMIN,
        20,
        known,
        &["--exclude-path-regex", "(events|updates|reset|revoke|reload|config|repair)$"],
    );
    // Whoever was inside may be gone: settings were among what was asked for.
    assert_eq!(Operator::new(&gateway).see("/v1/rooms/sale/health")["healthy"], true);
}

#[test]
fn who_may_less_is_refused_as_documented() {
    let origin = Origin::start();
    let gateway = gateway(&origin);
    for key in [VIEWER, OPERATOR] {
        judge(&gateway, key, 10, "", &["--phases", "examples,coverage,fuzzing"]);
    }
}
