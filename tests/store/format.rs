//! The file as its documentation draws it, read and bent with plain redb: a sound database in which a
//! record is missing, altered or moved is found out all the same.

use std::path::{Path, PathBuf};

use anteroom::line::*;
use anteroom::store::StoreError;
use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};
use sha2::{Digest, Sha256};

use super::{Hand, Node, embedded, exchange, light_dir, patient};

const FIELDS: TableDefinition<&str, &[u8]> = TableDefinition::new("anteroom");
const SNAPSHOTS: TableDefinition<&str, &[u8]> = TableDefinition::new("snapshots");
const JOURNAL: TableDefinition<u64, &[u8]> = TableDefinition::new("journal");

/// A store with two rooms' snapshots and four entries after them, as a crash leaves it.
fn sample(dir: &Path) -> PathBuf {
    let (hand, path) = (Hand::new(), dir.join("store"));
    let mut nodes = [Node::new(1), Node::new(2)];
    let store = embedded(&path, &hand).unwrap();
    nodes[0].greet(&store, "a", patient(1));
    nodes[1].greet(&store, "b", patient(1));
    store.close().unwrap();
    let store = embedded(&path, &hand).unwrap();
    for round in 0..4 {
        let batch = Batch { joins: vec![Join::Plain(1)], ..nodes[round % 2].batch() };
        exchange(&store, ["a", "b"][round % 2], batch).unwrap();
    }
    let copy = dir.join("sample");
    std::fs::copy(&path, &copy).unwrap();
    copy
}

fn field(db: &Database, name: &str) -> Vec<u8> {
    let read = db.begin_read().unwrap();
    let fields = read.open_table(FIELDS).unwrap();
    fields.get(name).unwrap().unwrap().value().to_owned()
}

fn set_field(db: &Database, name: &str, value: &[u8]) {
    let write = db.begin_write().unwrap();
    write.open_table(FIELDS).unwrap().insert(name, value).unwrap();
    write.commit().unwrap();
}

/// "base" as the documentation has it.
fn base(db: &Database) -> Vec<u8> {
    let next = field(db, "base")[..8].to_owned();
    let mut all = Sha256::new().chain_update(b"base\0");
    for name in ["layout", "rules", "run", "secret"] {
        all.update(field(db, name));
    }
    all.update(&next);
    let read = db.begin_read().unwrap();
    for item in read.open_table(SNAPSHOTS).unwrap().iter().unwrap() {
        let (room, line) = item.unwrap();
        all.update([room.value().len() as u8]);
        all.update(room.value());
        all.update(Sha256::digest(line.value()));
    }
    [next, all.finalize().to_vec()].concat()
}

/// "head", from "base" through every entry.
fn head(db: &Database) -> Vec<u8> {
    let base = base(db);
    let (mut next, mut digest) =
        (u64::from_le_bytes(base[..8].try_into().unwrap()), base[8..].to_vec());
    let read = db.begin_read().unwrap();
    for item in read.open_table(JOURNAL).unwrap().iter().unwrap() {
        let (index, entry) = item.unwrap();
        assert_eq!(index.value(), next);
        digest = Sha256::new()
            .chain_update(b"entry\0")
            .chain_update(&digest)
            .chain_update(next.to_le_bytes())
            .chain_update(entry.value())
            .finalize()
            .to_vec();
        next += 1;
    }
    [next.to_le_bytes().to_vec(), digest].concat()
}

#[test]
fn the_file_is_as_documented() {
    let dir = light_dir();
    let db = Database::open(sample(dir.path())).unwrap();
    assert_eq!(field(&db, "layout"), 1_u32.to_le_bytes());
    assert_eq!(field(&db, "run"), 0x5eed_u64.to_le_bytes());
    assert_eq!(field(&db, "secret"), [7; 32]);
    assert_eq!(field(&db, "base"), base(&db));
    assert_eq!(field(&db, "head"), head(&db));
    assert_ne!(field(&db, "head"), field(&db, "base"), "there is a journal");
}

type Bend = fn(&Database);

/// What is done to the file, and what must be said about it.
const BENT: &[(&str, Bend)] = &[
    ("the first entry gone", |db| remove(db, 0)),
    ("an entry gone", |db| remove(db, 1)),
    ("the last entry gone", |db| remove(db, 3)),
    ("all entries gone", |db| (0..4).for_each(|at| remove(db, at))),
    ("an entry altered", |db| alter(db, 2, |entry| entry[20] ^= 1)),
    ("an entry cut", |db| alter(db, 2, |entry| entry.truncate(20))),
    ("two entries changed places", |db| {
        let (first, second) = (entry(db, 0), entry(db, 2));
        alter(db, 0, |entry| *entry = second);
        alter(db, 2, |entry| *entry = first);
    }),
    ("an entry twice", |db| {
        let last = entry(db, 3);
        let write = db.begin_write().unwrap();
        let at = first(db) + 4;
        write.open_table(JOURNAL).unwrap().insert(at, last.as_slice()).unwrap();
        write.commit().unwrap();
    }),
    ("a snapshot gone", |db| {
        let write = db.begin_write().unwrap();
        write.open_table(SNAPSHOTS).unwrap().remove("b").unwrap();
        write.commit().unwrap();
    }),
    ("a snapshot altered", |db| {
        let write = db.begin_write().unwrap();
        let mut table = write.open_table(SNAPSHOTS).unwrap();
        let mut line = table.get("a").unwrap().unwrap().value().to_owned();
        line[3] ^= 1;
        table.insert("a", line.as_slice()).unwrap();
        drop(table);
        write.commit().unwrap();
    }),
    ("the run altered", |db| set_field(db, "run", &9_u64.to_le_bytes())),
    ("the run gone", |db| {
        let write = db.begin_write().unwrap();
        write.open_table(FIELDS).unwrap().remove("run").unwrap();
        write.commit().unwrap();
    }),
    ("the secret altered", |db| set_field(db, "secret", &[8; 32])),
    ("the secret short", |db| set_field(db, "secret", &[7; 31])),
    ("the head moved back", |db| {
        let base = field(db, "base");
        set_field(db, "head", &base);
    }),
];

fn first(db: &Database) -> u64 {
    u64::from_le_bytes(field(db, "base")[..8].try_into().unwrap())
}

fn entry(db: &Database, at: u64) -> Vec<u8> {
    let read = db.begin_read().unwrap();
    let journal = read.open_table(JOURNAL).unwrap();
    journal.get(first(db) + at).unwrap().unwrap().value().to_owned()
}

fn remove(db: &Database, at: u64) {
    let at = first(db) + at;
    let write = db.begin_write().unwrap();
    write.open_table(JOURNAL).unwrap().remove(at).unwrap();
    write.commit().unwrap();
}

fn alter(db: &Database, at: u64, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = entry(db, at);
    change(&mut bytes);
    let at = first(db) + at;
    let write = db.begin_write().unwrap();
    write.open_table(JOURNAL).unwrap().insert(at, bytes.as_slice()).unwrap();
    write.commit().unwrap();
}

#[test]
fn a_bent_file_is_found_out() {
    let dir = light_dir();
    let sample = sample(dir.path());
    let path = dir.path().join("bent");
    for (what, bend) in BENT {
        std::fs::copy(&sample, &path).unwrap();
        bend(&Database::open(&path).unwrap());
        match embedded(&path, &Hand::new()) {
            Err(StoreError::Damaged { .. }) => {}
            other => panic!("{what}: {other:?}"),
        }
    }
    std::fs::copy(&sample, &path).unwrap();
    drop(Database::open(&path).unwrap());
    let straight = embedded(&path, &Hand::new()).unwrap();
    assert_eq!(straight.recovery().replayed, 4, "looking at it does no harm");
}

/// Brings the chain in order again after a deliberate change.
fn rechain(db: &Database) {
    let base = base(db);
    set_field(db, "base", &base);
    let head = head(db);
    set_field(db, "head", &head);
}

#[test]
fn versions_are_told_apart() {
    let dir = light_dir();
    let sample = sample(dir.path());
    let path = dir.path().join("versions");
    let opened = |change: &dyn Fn(&Database)| {
        std::fs::copy(&sample, &path).unwrap();
        let db = Database::open(&path).unwrap();
        change(&db);
        rechain(&db);
        drop(db);
        embedded(&path, &Hand::new())
    };
    let set = |name: &'static str, version: u32| {
        move |db: &Database| set_field(db, name, &version.to_le_bytes())
    };
    match opened(&set("layout", 2)) {
        Err(error @ StoreError::Newer { what: "layout", found: 2, known: 1, .. }) => {
            assert!(error.to_string().contains("start that version"), "{error}");
        }
        other => panic!("{other:?}"),
    }
    let newer = opened(&set("rules", 1_000));
    assert!(matches!(newer, Err(StoreError::Newer { what: "rules", .. })), "{newer:?}");
    match opened(&set("rules", 0)) {
        Err(error @ StoreError::OtherRules { found: 0, .. }) => {
            let said = error.to_string();
            assert!(said.contains("Start that version once and stop it, then upgrade"), "{said}");
        }
        other => panic!("{other:?}"),
    }
    // Cleanly stopped by older rules: the snapshots are read, and are ours from then on.
    let clean = |db: &Database| {
        (0..4).for_each(|at| remove(db, at));
        set("rules", 0)(db);
    };
    let store = opened(&clean).unwrap();
    assert_eq!((store.recovery().rooms, store.recovery().replayed), (2, 0));
    drop(store);
    let db = Database::open(&path).unwrap();
    assert_ne!(field(&db, "rules"), 0_u32.to_le_bytes());
    assert_eq!(field(&db, "head"), head(&db));
    drop(db);
    assert_eq!(embedded(&path, &Hand::new()).unwrap().recovery().rooms, 2);
}

#[test]
fn a_journal_that_replays_to_another_line_is_refused() {
    let dir = light_dir();
    let path = sample(dir.path());
    let db = Database::open(&path).unwrap();
    // The print of the answer, after "a" and six bytes of time.
    alter(&db, 2, |entry| {
        assert_eq!(entry[..2], [1, b'a']);
        entry[8] ^= 1;
    });
    rechain(&db);
    drop(db);
    match embedded(&path, &Hand::new()) {
        Err(error @ StoreError::Diverged { .. }) => {
            assert!(error.to_string().contains("answered otherwise"), "{error}");
        }
        other => panic!("{other:?}"),
    }
}
