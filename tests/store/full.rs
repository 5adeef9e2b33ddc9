//! A disk that takes no more: what was told stays, nothing more is told.

use std::path::Path;

use anteroom::line::*;
use anteroom::store::StoreError;

use super::{ERRAND, Hand, Node, embedded, errand_path, exchange, patient};

const TEST: &str = "store::full::a_full_disk_ends_the_store_and_loses_nothing";

/// The system limits how long this process's files may get, which a write meets like a full disk. The
/// signal that comes with it is ignored, so that it is an error and not an end.
const LIMITED: &str = r#"trap "" XFSZ; ulimit -f 3072; exec "$0" "$@""#;

#[cfg(unix)]
#[test]
fn a_full_disk_ends_the_store_and_loses_nothing() {
    if let Some(path) = errand_path() {
        return fill(&path);
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store");
    let output = std::process::Command::new("sh")
        .args(["-c", LIMITED])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", TEST, "--nocapture", "--test-threads=1"])
        .env(ERRAND, &path)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    let told = said.lines().find_map(|line| line.strip_prefix("@told "));
    let told: u64 = told.unwrap_or_else(|| panic!("{said}")).parse().unwrap();

    let store = embedded(&path, &Hand::new()).unwrap();
    let mut node = Node::new(2);
    let issued = exchange(&store, "sale", node.batch()).unwrap().counts.issued;
    // What was told, and perhaps the one exchange of which nobody knows.
    assert!(issued == told || issued == told + 1_000, "{issued} in the file, {told} told");
    assert!(told >= 1_000);
}

/// Joins, and marks that need much space, until nothing goes any more.
fn fill(path: &Path) {
    let hand = Hand::new();
    let store = embedded(path, &hand).unwrap();
    let mut node = Node::new(1);
    node.greet(&store, "sale", patient(1));
    let mut told = 0;
    let last = loop {
        let batch = Batch {
            joins: vec![Join::Plain(1_000)],
            marks: (0..50_000).map(|mark| 1 + mark * 1_000).collect(),
            ..node.batch()
        };
        match exchange(&store, "sale", batch.clone()) {
            Ok(reply) => told = reply.counts.issued,
            Err(StoreError::Failed { why }) => {
                assert!(!why.is_empty());
                break batch;
            }
            Err(other) => panic!("{other:?}"),
        }
        assert!(told < 1_000_000, "the limit never came");
    };
    // From then on the same for everyone, whatever they ask: other rooms, marks, the same again.
    for (room, batch) in [("sale", last), ("other", node.batch()), ("sale", node.batch())] {
        let error = exchange(&store, room, batch).unwrap_err();
        assert!(matches!(error, StoreError::Failed { .. }), "{error:?}");
        assert!(error.to_string().contains("what it answered before is kept"), "{error}");
    }
    assert!(store.close().is_err());
    println!("\n@told {told}"); // on a line of its own, behind the harness's
}
