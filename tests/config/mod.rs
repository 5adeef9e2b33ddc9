//! What an operator writes is either used as it was meant or refused with a sentence that helps.
//!
//! - `bad/`: one mistake a file, and the whole of what is said about it.
//! - `warned/`: good files that are probably not meant so, likewise.
//! - `files/`: what they name.

mod cli;
mod meaning;
mod outside;

use std::path::{Path, PathBuf};

use anteroom::config::{self, Environment, Plan, Problems, Warning};
use anteroom::units as text;
use proptest::prelude::*;

/// Appears in `bad/` as the secret to be kept.
const SECRETS: [&str; 3] = ["a secret of the tests", "hunter2", "nobody guesses"];

type Loaded = Result<(Plan, Vec<Warning>), Problems>;

fn load(path: &str) -> Loaded {
    config::load(Path::new(path), &Environment::default())
}

/// A file of this text, and what it loads as.
fn loaded(text: &str, environment: &Environment) -> Loaded {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("anteroom.toml");
    std::fs::write(&path, text).expect("space for it");
    config::load(&path, environment)
}

/// The plan of a text that is good.
fn plan(text: &str) -> Plan {
    match loaded(text, &Environment::default()) {
        Ok((plan, _)) => plan,
        Err(problems) => panic!("{problems}"),
    }
}

fn files(directory: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).expect(directory);
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    assert!(files.len() > 5, "{directory} is nearly empty");
    files
}

/// The `# expect:` lines of a file.
fn expected(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).expect("a readable file");
    let lines = text.lines().filter_map(|line| line.strip_prefix("# expect: "));
    lines.map(str::to_owned).collect()
}

/// What was said, without the name of the file in front of it.
fn said(path: &Path, all: &str) -> Vec<String> {
    let place = path.display().to_string();
    let line = |line: &str| {
        let Some(rest) = line.strip_prefix(&place) else {
            assert!(line.starts_with("  "), "a problem that doesn't say in which file: {line}");
            return line.to_owned();
        };
        rest.strip_prefix(": ").unwrap_or(rest).to_owned()
    };
    all.lines().map(line).collect()
}

/// Prints every difference before it fails: one run shows what a change of words did.
fn compare(directory: &str, judge: impl Fn(&Path) -> String) {
    let mut different = String::new();
    for path in files(directory) {
        let found = judge(&path);
        for secret in SECRETS {
            assert!(!found.contains(secret), "{} shows a secret: {found}", path.display());
        }
        let (found, expected) = (said(&path, &found), expected(&path));
        if found != expected {
            let [found, expected] = [found, expected].map(|lines| lines.join("\n# expect: "));
            different += &format!(
                "\n{}\nsays\n# expect: {found}\nand not\n# expect: {expected}\n",
                path.display()
            );
        }
    }
    assert!(different.is_empty(), "{different}");
}

#[test]
fn every_mistake_is_told_with_what_to_do_about_it() {
    compare("tests/config/bad", |path| match config::load(path, &Environment::default()) {
        Ok(_) => panic!("{} is taken for good", path.display()),
        Err(problems) => problems.to_string(),
    });
}

#[test]
fn what_is_probably_not_meant_so_gets_a_warning() {
    compare("tests/config/warned", |path| match config::load(path, &Environment::default()) {
        Ok((_, warnings)) => {
            let lines: Vec<String> = warnings.iter().map(Warning::to_string).collect();
            lines.join("\n")
        }
        Err(problems) => panic!("{problems}"),
    });
}

#[test]
fn the_examples_are_good() {
    for path in ["conf/anteroom.toml", "conf/minimal.toml"] {
        match load(path) {
            Ok((_, warnings)) => assert!(warnings.is_empty(), "{path}: {warnings:?}"),
            Err(problems) => panic!("{problems}"),
        }
    }
}

/// The manual tells of a key by writing it, or by writing it behind a comment sign.
#[test]
fn the_manual_tells_of_every_key() {
    let manual = std::fs::read_to_string("conf/anteroom.toml").expect("the manual");
    for (table, keys) in config::known_keys() {
        for key in keys {
            let told = [
                format!("{key} ="),
                format!("[{key}]"),
                format!("[[{key}]]"),
                format!("[{key}."),
                format!(".{key}]"),
            ];
            assert!(told.iter().any(|form| manual.contains(form)), "{key} of {table}");
        }
    }
}

#[test]
fn a_file_that_is_not_there_or_not_text() {
    let problems = load("no/such.toml").expect_err("there is none").to_string();
    assert!(problems.starts_with("no/such.toml: can't be read:\n  No such file"), "{problems}");
    assert!(problems.contains("ANTEROOM_CONFIG"), "{problems}");
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("binary.toml");
    std::fs::write(&path, [0xff, 0xfe]).expect("space for it");
    let problems = config::load(&path, &Environment::default()).expect_err("no text").to_string();
    assert!(problems.contains("is not text"), "{problems}");
}

proptest! {
    #[test]
    fn no_text_makes_the_parsers_panic(any in "\\PC{0,24}", near in "[0-9./smhdKMGiB+-]{0,12}") {
        for text in [&any, &near] {
            let _ = text::rate(text);
            let _ = text::allowance(text);
            if let Ok(ms) = text::duration(text) {
                prop_assert_eq!(text::duration(&text::span(ms)), Ok(ms));
            }
            if let Ok(bytes) = text::bytes(text) {
                prop_assert_eq!(text::bytes(&text::size(bytes)), Ok(bytes));
            }
        }
    }

    #[test]
    fn any_number_is_written_so_that_it_can_be_read(number in any::<u64>(), small in 1u64..1_000_000) {
        prop_assert_eq!(text::duration(&text::span(number)), Ok(number));
        prop_assert_eq!(text::bytes(&text::size(number)), Ok(number));
        prop_assert_eq!(text::allowance(&format!("{small}/m")), Ok((small, 60_000)));
    }

    /// A file of keys we know with values of any kind: refused or taken, never a panic.
    #[test]
    fn no_value_of_a_key_makes_the_reading_panic(
        picks in prop::collection::vec((0usize..1_000, 0usize..24), 1..12),
    ) {
        const VALUES: [&str; 24] = [
            "0", "1", "-1", "18446744073709551616", "9223372036854775807", "0.5", "nan", "true",
            "''", "'x'", "'none'", "'0'", "'5s'", "'213503982334601d'", "'0/s'", "'18446744073709551615/h'", "'0.000001/h'", "'*'", "'/'", "[]",
            "['a', 1]", "{}", "{ a = 1 }", "2026-01-01",
        ];
        let room = config::known_keys().find(|(name, _)| *name == "[rooms.NAME]");
        let keys = room.expect("rooms have keys").1;
        let mut text = "[origins.shop]\nservers = ['127.0.0.1:1']\n[rooms.sale]\n".to_owned();
        let mut written = std::collections::BTreeSet::new();
        for (key, value) in picks {
            let key = keys[key % keys.len()];
            if written.insert(key) {
                text += &format!("{key} = {}\n", VALUES[value]);
            }
        }
        if let Err(problems) = loaded(&text, &Environment::default()) {
            prop_assert!(problems.count() > 0 && !problems.to_string().is_empty());
        }
    }
}
