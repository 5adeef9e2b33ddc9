//! What operators are given besides the program: Prometheus' files, the dashboard, the unit, the pages about running it. Whatever
//! they name is there.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anteroom::metrics::{ALL, Kind};
use serde_json::Value;

use crate::support::tools::{printed, tool};

/// Figures that the dashboard leaves out on purpose, and why.
const NOT_SHOWN: [(&str, &str); 2] = [
    (
        "redis_operation_duration_seconds",
        "store_operation_duration_seconds has the same, of every store",
    ),
    ("order_spread_losing_seconds", "it never changes, and counts for some seconds of an outage"),
];

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A YAML file, as JSON. Read by PyYAML, which refuses what is none; keys that are there twice are refused here.
fn yaml(path: &str) -> Value {
    let program = "
import json, sys, yaml
class Strict(yaml.SafeLoader):
    pass
def mapping(loader, node):
    keys = [loader.construct_object(key) for key, _ in node.value]
    assert len(keys) == len(set(keys)), f'twice in {keys}'
    return loader.construct_mapping(node, deep=True)
Strict.add_constructor('tag:yaml.org,2002:map', mapping)
print(json.dumps(yaml.load(open(sys.argv[1]), Strict)))
";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let told = printed(Command::new(tool("venv/bin/python")).args(["-c", program]).arg(path));
    serde_json::from_str(&told).expect("JSON")
}

/// Every text below a value.
fn texts<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(values) => values.iter().for_each(|value| texts(value, found)),
        Value::Object(fields) => fields.values().for_each(|value| texts(value, found)),
        _ => {}
    }
}

/// The words that begin as our metrics do.
fn named(text: &str) -> BTreeSet<&str> {
    let word = |byte: char| byte.is_ascii_alphanumeric() || byte == '_';
    text.split(|byte| !word(byte)).filter(|word| word.starts_with("anteroom_")).collect()
}

/// The metric of the table behind a name in a query.
fn metric(name: &str) -> Option<&'static str> {
    let name = name.strip_prefix("anteroom_")?;
    let found = ALL.iter().find(|metric| match metric.kind {
        Kind::Histogram => ["_bucket", "_sum", "_count"]
            .iter()
            .any(|suffix| name.strip_suffix(suffix) == Some(metric.name)),
        Kind::Counter | Kind::Gauge => name == metric.name,
    });
    found.map(|metric| metric.name)
}

fn alerts() -> Vec<Value> {
    let file = yaml("conf/alerts.yml");
    let groups = file["groups"].as_array().expect("groups");
    let rules = groups.iter().flat_map(|group| group["rules"].as_array().expect("rules"));
    rules.cloned().collect()
}

/// The queries of the dashboard, with its variables filled in.
fn queries() -> Vec<String> {
    let dashboard: Value = serde_json::from_str(&read("conf/grafana.json")).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels");
    let targets = panels.iter().filter_map(|panel| panel["targets"].as_array()).flatten();
    let filled = |target: &Value| {
        let expr = target["expr"].as_str().expect("a query");
        let expr = expr.replace("$__rate_interval", "1m");
        ["$room", "$tenant", "$node"].iter().fold(expr, |expr, name| expr.replace(name, ".*"))
    };
    targets.map(filled).collect()
}

#[test]
fn every_figure_that_is_watched_is_there() {
    let dashboard: Value = serde_json::from_str(&read("conf/grafana.json")).expect("JSON");
    let (prometheus, alerts) = (yaml("conf/prometheus.yml"), Value::from(alerts()));
    let mut all = Vec::new();
    [&dashboard, &prometheus, &alerts].iter().for_each(|value| texts(value, &mut all));
    let names: BTreeSet<&str> = all.iter().flat_map(|text| named(text)).collect();
    assert!(names.len() > 30, "{names:?}");
    for name in names {
        assert!(metric(name).is_some(), "{name} is nothing that is measured");
    }
    for page in ["running-a-sale", "rollout", "operations"] {
        let text = read(&format!("docs/{page}.md"));
        for name in named(&text) {
            let whole =
                ALL.iter().any(|metric| name.strip_prefix("anteroom_") == Some(metric.name));
            assert!(whole || metric(name).is_some(), "{page}: {name} is nothing that is measured");
        }
    }
}

#[test]
fn every_figure_is_shown_or_left_out_on_purpose() {
    let queries = queries();
    let shown: BTreeSet<&str> =
        queries.iter().flat_map(|query| named(query)).filter_map(metric).collect();
    for one in ALL {
        let left_out = NOT_SHOWN.iter().any(|(name, _)| *name == one.name);
        assert!(shown.contains(one.name) != left_out, "{}: shown, or in NOT_SHOWN", one.name);
    }
}

/// Labels in the queries are those of the metrics; Prometheus adds `instance`, `job` and `le`.
#[test]
fn queries_ask_for_labels_that_there_are() {
    let alerts = alerts();
    let asked = alerts.iter().map(|alert| alert["expr"].as_str().expect("a query").to_owned());
    for query in queries().into_iter().chain(asked) {
        let mut rest = query.as_str();
        while let Some(start) = rest.find("anteroom_") {
            rest = &rest[start..];
            let end =
                rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            let (name, behind) = rest.split_at(end);
            rest = behind;
            let name = metric(name).expect("a metric");
            let labels = ALL.iter().find(|one| one.name == name).expect("of the table").labels;
            let selected = behind.strip_prefix('{').and_then(|rest| rest.split_once('}'));
            for pair in selected.map_or("", |(selected, _)| selected).split(", ") {
                let label = pair.split(['=', '!']).next().unwrap_or_default();
                let known =
                    ["", "instance", "job", "le"].contains(&label) || labels.contains(&label);
                assert!(known, "{name} has no {label}: {query}");
            }
        }
    }
}

#[test]
fn every_alert_says_what_it_is_and_has_a_section() {
    let page = read("docs/operations.md");
    let sections: BTreeSet<&str> =
        page.lines().filter_map(|line| line.strip_prefix("### Anteroom")).collect();
    let mut alerts_named = BTreeSet::new();
    for alert in &alerts() {
        let name = alert["alert"].as_str().expect("a name");
        let short = name.strip_prefix("Anteroom").expect("ours");
        assert!(alerts_named.insert(short.to_owned()), "{name} twice");
        assert!(sections.contains(short), "docs/operations.md has no section {name}");
        let severity = alert["labels"]["severity"].as_str().unwrap_or_default();
        let section = page.split_once(&format!("### {name}\n\n")).expect("a section").1;
        assert!(section.starts_with(&format!("*{severity}.*")), "{name} is {severity}");
        assert!(alert["annotations"]["summary"].is_string(), "{name}");
    }
    let alerts_named: BTreeSet<&str> = alerts_named.iter().map(String::as_str).collect();
    assert_eq!(sections, alerts_named, "sections without an alert");
}

/// Prometheus' own judge, where it is installed.
#[test]
fn promtool_takes_the_files() {
    let Ok(found) = Command::new("promtool").arg("--version").output() else {
        println!("promtool is not installed: queries are not judged");
        return;
    };
    assert!(found.status.success());
    let conf = Path::new(env!("CARGO_MANIFEST_DIR")).join("conf");
    printed(Command::new("promtool").args(["check", "config"]).arg(conf.join("prometheus.yml")));
    let queries = queries();
    let rule = |query: &String| serde_json::json!({ "record": "shown", "expr": query });
    let rules: Vec<Value> = queries.iter().map(rule).collect();
    let directory = tempfile::tempdir().expect("a temporary directory");
    // JSON is YAML.
    let file = serde_json::json!({ "groups": [{ "name": "shown", "rules": rules }] });
    let path = directory.path().join("shown.yml");
    std::fs::write(&path, file.to_string()).expect("space for it");
    printed(Command::new("promtool").args(["check", "rules"]).arg(&path));
}

#[test]
fn the_dashboard_can_be_imported() {
    let dashboard: Value = serde_json::from_str(&read("conf/grafana.json")).expect("JSON");
    let variables: Vec<&str> = dashboard["templating"]["list"]
        .as_array()
        .expect("variables")
        .iter()
        .filter_map(|variable| variable["name"].as_str())
        .collect();
    assert_eq!(variables, ["datasource", "tenant", "room", "node"]);
    let panels = dashboard["panels"].as_array().expect("panels");
    let rows: Vec<&str> = panels
        .iter()
        .filter(|panel| panel["type"] == "row")
        .filter_map(|panel| panel["title"].as_str())
        .collect();
    let expected = [
        "Line",
        "Admissions",
        "Waits and ETA error",
        "Origin",
        "Nodes and store",
        "Limits and webhooks",
        "API",
    ];
    assert_eq!(rows, expected);
    let mut ids = BTreeSet::new();
    let mut cells = BTreeSet::new();
    for panel in panels {
        assert!(ids.insert(panel["id"].as_u64().expect("an id")), "{panel}");
        let at = |name: &str| panel["gridPos"][name].as_u64().expect("a place");
        assert!(at("x") + at("w") <= 24, "{}", panel["title"]);
        for x in at("x")..at("x") + at("w") {
            for y in at("y")..at("y") + at("h") {
                assert!(cells.insert((x, y)), "{} lies over another", panel["title"]);
            }
        }
        if panel["type"] != "row" {
            assert_eq!(panel["datasource"]["uid"], "${datasource}", "{}", panel["title"]);
        }
    }
}

/// Where systemd is, its own judge; everywhere, that what it runs exists.
#[test]
fn the_unit_is_good() {
    let unit = read("conf/anteroom.service");
    let program = env!("CARGO_BIN_EXE_anteroom");
    assert_eq!(unit.matches("=/usr/local/bin/anteroom ").count(), 2);
    for needed in [
        "User=anteroom",
        "NoNewPrivileges=yes",
        "ProtectSystem=strict",
        "ExecReload=/bin/kill -HUP",
    ] {
        assert!(unit.lines().any(|line| line.starts_with(needed)), "{needed}");
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let ours = unit.replace("/usr/local/bin/anteroom ", &format!("{program} "));
    for (file, asked) in
        [("anteroom.service", "anteroom.service"), ("anteroom@.service", "anteroom@a.service")]
    {
        std::fs::write(directory.path().join(file), &ours).expect("space for it");
        let mut verify = Command::new("systemd-analyze");
        verify.arg("verify").arg(directory.path().join(asked));
        let Ok(output) = verify.output() else {
            println!("systemd-analyze is not installed: the unit is not judged");
            return;
        };
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        // It may also find fault with units of this machine.
        assert!(output.status.success() && !said.contains("anteroom"), "{said}");
    }
}

/// Commands in the pages, as they would be typed.
fn commands(page: &str) -> Vec<String> {
    let mut typed = Vec::new();
    let mut in_shell = false;
    for line in page.lines() {
        if let Some(language) = line.trim().strip_prefix("```") {
            in_shell = language == "sh";
        } else if in_shell {
            typed.extend(line.split([';', '|', '&', '(', ')']).map(str::to_owned));
        } else {
            // Every second part stands between signs of code.
            typed.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    let ours = typed.iter().filter_map(|text| {
        let text = text.split(" #").next().unwrap_or_default().trim();
        let text = text.strip_prefix("sudo -u anteroom ").unwrap_or(text);
        let text = text.split(['>', '…']).next().unwrap_or_default().trim();
        text.starts_with("anteroom ").then(|| text.to_owned())
    });
    ours.collect()
}

/// Every command of the pages exists, with every option it is given.
#[test]
fn every_command_in_the_pages_exists() {
    let mut seen = 0;
    for page in [
        "README.md",
        "docs/running-a-sale.md",
        "docs/rollout.md",
        "docs/operations.md",
        "docs/origins.md",
    ] {
        for command in commands(&read(page)) {
            let words: Vec<&str> = command.split_whitespace().skip(1).collect();
            let verbs =
                words.iter().take_while(|word| word.bytes().all(|byte| byte.is_ascii_lowercase()));
            let depth = if matches!(words.first(), Some(&("room" | "draw"))) { 2 } else { 1 };
            let verbs: Vec<&&str> = verbs.take(depth).collect();
            let mut help = Command::new(env!("CARGO_BIN_EXE_anteroom"));
            help.args(verbs.iter().map(|verb| **verb)).arg("--help");
            let help = printed(&mut help);
            for option in words.iter().filter(|word| word.starts_with('-')) {
                let option = option.split('=').next().unwrap_or_default();
                let known = help.split([' ', ',', '\n']).any(|word| word == option);
                assert!(known, "{page}: {command}: there is no {option}\n{help}");
            }
            seen += 1;
        }
    }
    assert!(seen > 40, "{seen} commands");
}

/// A link leads to a page that is there, and to a section of it.
#[test]
fn links_between_the_pages_lead_somewhere() {
    let anchors = |page: &str| -> BTreeSet<String> {
        let heads = page.lines().filter_map(|line| line.strip_prefix('#'));
        let anchor = |head: &str| {
            let head = head.trim_start_matches('#').trim().to_lowercase();
            let kept = head.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
            kept.map(|c| if c == ' ' { '-' } else { c }).collect()
        };
        heads.map(anchor).collect()
    };
    for name in ["running-a-sale.md", "rollout.md", "operations.md", "origins.md", "sizing.md"] {
        let page = read(&format!("docs/{name}"));
        for link in page.split("](").skip(1) {
            let link = link.split(')').next().unwrap_or_default();
            if link.contains("://") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { name } else { file };
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(target);
            assert!(path.exists(), "{name}: {link} leads nowhere");
            if !anchor.is_empty() {
                let there = anchors(&read(&format!("docs/{target}")));
                assert!(there.contains(anchor), "{name}: {link} has no such section: {there:?}");
            }
        }
    }
}
