//! What the file keeps: everything told, over clean stops, crashes, snapshots and second keepers.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anteroom::line::*;
use anteroom::store::{self, Access, Embedded, Store, StoreError};

use super::load::{Rng, Twin};
use super::{
    Hand, Node, embedded, errand, errand_path, exchange, light_dir, opening, patient, runtime,
};

/// The file as a crash at this moment would leave it: all that a process has written is in the
/// system's hands, whatever becomes of the process.
fn crashed(path: &Path) -> PathBuf {
    let copy = path.with_extension("crashed");
    std::fs::copy(path, &copy).unwrap();
    copy
}

#[test]
fn a_clean_stop_leaves_the_same_lines_and_no_journal() {
    let (dir, hand, mut rng) = (tempfile::tempdir().unwrap(), Hand::new(), Rng(21));
    let path = dir.path().join("store");
    let mut twins = [Twin::new("a"), Twin::new("acme/b"), Twin::new("ccc")];
    for round in 0..4 {
        let store = embedded(&path, &hand).unwrap();
        assert_eq!(store.recovery().replayed, 0, "after a clean stop");
        assert_eq!(store.recovery().rooms, if round == 0 { 0 } else { 3 });
        if round > 0 {
            twins.iter_mut().for_each(|twin| twin.check(&store));
        }
        for _ in 0..60 {
            hand.pass(rng.below(1_500));
            twins[rng.below(3) as usize].stir(&store, &mut rng);
        }
        twins.iter_mut().for_each(|twin| twin.check(&store));
        store.close().unwrap();
    }
}

#[test]
fn a_crash_after_any_answer_leaves_the_same_lines() {
    let (dir, hand, mut rng) = (tempfile::tempdir().unwrap(), Hand::new(), Rng(22));
    let path = dir.path().join("store");
    let mut twins = [Twin::new("a"), Twin::new("acme/b")];
    let mut store = embedded(&path, &hand).unwrap();
    for _ in 0..25 {
        for _ in 0..rng.below(8) {
            hand.pass(rng.below(1_500));
            twins[rng.below(2) as usize].stir(&store, &mut rng);
        }
        // Whatever comes last must be lasting: marks alone may be lost, and then lines differ by them.
        twins.iter_mut().for_each(|twin| twin.check(&store));
        let copy = crashed(&path);
        drop(store);
        std::fs::rename(&copy, &path).unwrap();
        store = embedded(&path, &hand).unwrap();
        assert!(store.recovery().replayed > 0);
        twins.iter_mut().for_each(|twin| twin.check(&store));
    }
}

/// Each kind of thing alone, because in company any other one would see to its being written.
#[test]
fn whatever_is_told_is_kept_by_itself() {
    let (dir, hand) = (light_dir(), Hand::new());
    let path = dir.path().join("store");
    let store = embedded(&path, &hand).unwrap();
    let mut twin = Twin::new("sale");
    let offer = |version, seats| {
        let settings = patient(seats);
        Some(Offer { version, settings })
    };
    let (why, admitted_ms) = (Ending::Completed, 1_700_000_000_000);
    type Fill = Box<dyn Fn(&mut Batch)>;
    let alone: Vec<(&str, Fill)> = vec![
        ("an offer", Box::new(move |batch| batch.offer = offer(1, 3))),
        ("joins", Box::new(|batch| batch.joins = vec![Join::Plain(9)])),
        ("a leave", Box::new(|batch| batch.leaves = vec![7])),
        ("an end", Box::new(move |batch| batch.ends = vec![End { number: 1, why }])),
        ("a claim", Box::new(|batch| batch.claims = vec![4])),
        ("a return", Box::new(|batch| batch.returns = vec![5])),
        ("a voucher", Box::new(|batch| batch.vouched = vec![5])),
        (
            "a renewal",
            Box::new(move |batch| {
                let number = 2;
                batch.renewals = vec![Renewal { number, admitted_ms, ..Renewal::default() }];
            }),
        ),
        ("a pause", Box::new(|batch| batch.commands = vec![Command::Pause.into()])),
        ("another offer", Box::new(move |batch| batch.offer = offer(2, 5))),
        ("a release", Box::new(|batch| batch.commands = vec![Command::Release(1).into()])),
        (
            "proof of loss",
            Box::new(|batch| {
                let epoch = batch.epoch;
                let known = Known { epoch, issued: 1_000, ..Known::default() };
                batch.known = known;
            }),
        ),
        ("a reset", Box::new(|batch| batch.commands = vec![Command::Reset.into()])),
    ];
    for (what, fill) in alone {
        hand.pass(300);
        let mut batch = twin.node.batch();
        fill(&mut batch);
        let reply = twin.step(&store, batch);
        assert_eq!(reply.taken, Taken::Applied);
        let found = embedded(&crashed(&path), &hand).unwrap();
        assert!(found.recovery().replayed > 0, "{what}");
        twin.clone().check(&found);
    }
}

#[test]
fn a_long_journal_becomes_a_snapshot() {
    let (dir, hand) = (tempfile::tempdir().unwrap(), Hand::new());
    let path = dir.path().join("store");
    let store = embedded(&path, &hand).unwrap();
    let mut node = Node::new(1);
    node.greet(&store, "sale", patient(1));
    let mut quiet = Node::new(1);
    quiet.greet(&store, "quiet", patient(1));
    // 100,000 marks a batch are some 100 kB of journal, so 40 batches are four times its limit.
    let count = 100_000;
    for round in 0..40 {
        let batch = Batch {
            joins: vec![Join::Plain(if round == 0 { count } else { 1 })],
            marks: (1..=u64::from(count)).collect(),
            ..node.batch()
        };
        exchange(&store, "sale", batch).unwrap();
    }
    let found = embedded(&crashed(&path), &hand).unwrap();
    let replayed = found.recovery().replayed;
    assert!(replayed < 20, "{replayed} of 42 exchanges replayed");
    assert_eq!(found.recovery().rooms, 2, "a room the journal is silent about is kept");
    let reply = exchange(&found, "sale", node.batch()).unwrap();
    assert_eq!(reply.counts.issued, u64::from(count) + 39);
    assert_eq!(reply.counts.waiting, u64::from(count) + 38);
    let size = std::fs::metadata(&path).unwrap().len();
    assert!(size < 16 << 20, "{size} bytes of file for 4 MB of exchanges");
}

#[test]
fn marks_are_written_within_a_second_or_two() {
    let (dir, hand) = (tempfile::tempdir().unwrap(), Hand::new());
    let path = dir.path().join("store");
    let store = embedded(&path, &hand).unwrap();
    let mut node = Node::new(1);
    node.greet(&store, "sale", patient(1));
    let batch = Batch { joins: vec![Join::Plain(10)], ..node.batch() };
    exchange(&store, "sale", batch).unwrap();
    let batch = Batch { marks: vec![3, 4], ..node.batch() };
    exchange(&store, "sale", batch).unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    while embedded(&crashed(&path), &hand).unwrap().recovery().replayed < 3 {
        assert!(Instant::now() < deadline, "marks are still not in the file");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_second_handle_is_told_who_has_it() {
    let (dir, hand) = (tempfile::tempdir().unwrap(), Hand::new());
    let path = dir.path().join("store");
    let store = embedded(&path, &hand).unwrap();
    match embedded(&path, &hand) {
        Err(error @ StoreError::InUse { .. }) => {
            assert!(error.to_string().contains("in use by another process"));
        }
        other => panic!("{other:?}"),
    }
    Node::new(1).greet(&store, "sale", patient(1));
    drop(store);
    assert_eq!(embedded(&path, &hand).unwrap().recovery().rooms, 1);
}

#[test]
fn a_second_process_is_told_who_has_it() {
    if let Some(path) = errand_path() {
        let refused = embedded(&path, &Hand::new());
        assert!(matches!(refused, Err(StoreError::InUse { .. })), "{refused:?}");
        return;
    }
    let (dir, hand) = (tempfile::tempdir().unwrap(), Hand::new());
    let path = dir.path().join("store");
    let store = embedded(&path, &hand).unwrap();
    let test = "store::durable::a_second_process_is_told_who_has_it";
    let output = errand(test, &path).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    Node::new(1).greet(&store, "sale", patient(1));
}

#[test]
fn many_makers_of_one_file_agree_on_one() {
    let (dir, hand) = (tempfile::tempdir().unwrap(), Hand::new());
    for round in 0..20 {
        let path = dir.path().join(format!("store{round}"));
        let made: Vec<Result<Embedded, StoreError>> = std::thread::scope(|scope| {
            let makers: Vec<_> = (0..4).map(|_| scope.spawn(|| embedded(&path, &hand))).collect();
            makers.into_iter().map(|maker| maker.join().unwrap()).collect()
        });
        let keepers: Vec<_> = made.iter().filter_map(|made| made.as_ref().ok()).collect();
        assert_eq!(keepers.len(), 1, "{made:?}");
        assert!(made.iter().all(|made| matches!(made, Ok(_) | Err(StoreError::InUse { .. }))));
        Node::new(1).greet(keepers[0], "sale", patient(1));
        drop(made);
        assert_eq!(embedded(&path, &hand).unwrap().recovery().rooms, 1);
    }
}

#[test]
fn a_file_half_made_is_made_anew() {
    let (dir, hand) = (tempfile::tempdir().unwrap(), Hand::new());
    let (path, scrap) = (dir.path().join("store"), dir.path().join("store.new"));
    for rubbish in [&b""[..], &[0; 70_000], b"redb and then something else"] {
        std::fs::write(&scrap, rubbish).unwrap();
        let store = embedded(&path, &hand).unwrap();
        Node::new(1).greet(&store, "sale", patient(1));
        assert!(!scrap.exists());
        store.close().unwrap();
        assert_eq!(embedded(&path, &hand).unwrap().recovery().rooms, 1);
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn the_secret_is_made_once_and_never_shown() {
    let (dir, hand) = (tempfile::tempdir().unwrap(), Hand::new());
    let path = dir.path().join("store");
    let first = store::Opening { secret: store::Secret([0xab; 32]), ..opening(hand.clock()) };
    let made = Embedded::open(&path, first.clone()).unwrap();
    assert_eq!(made.signing_secret(), store::Secret([0xab; 32]));
    for shown in [format!("{made:?}"), format!("{first:?}"), format!("{:?}", first.secret)] {
        let shown = shown.to_lowercase();
        assert!(!shown.contains("171") && !shown.contains("abab"), "{shown}");
    }
    drop(made);
    let url = format!("embedded:{}", path.display());
    let again =
        runtime().block_on(store::open(&url, Access::default(), opening(hand.clock()))).unwrap();
    assert_eq!(again.secret, Some(store::Secret([0xab; 32])), "the file's, not the offered one");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "nobody else may read it: {mode:o}");
    }
}

#[test]
fn the_url_says_which_store() {
    let (dir, hand) = (tempfile::tempdir().unwrap(), Hand::new());
    let file = format!("embedded:{}", dir.path().join("store").display());
    for url in ["memory:", &file] {
        let opened =
            runtime().block_on(store::open(url, Access::default(), opening(hand.clock()))).unwrap();
        assert_eq!(opened.secret, Some(store::Secret([7; 32])));
        Node::new(1).greet(&*opened.store, "sale", patient(1));
    }
    // A Redis keeps no secret, and need not be there.
    let nowhere = "redis://127.0.0.1:1";
    let opened = runtime().block_on(store::open(nowhere, Access::default(), opening(hand.clock())));
    assert_eq!(opened.unwrap().secret, None);
    for url in ["", "memory", "memory:x", "embedded:", "sqlite:x", "/var/x"] {
        match runtime().block_on(store::open(url, Access::default(), opening(hand.clock()))) {
            Err(error @ StoreError::Scheme { .. }) => {
                let said = error.to_string();
                assert!(said.contains("memory:") && said.contains("embedded:PATH"), "{said}");
            }
            other => panic!("{url} was opened: {other:?}"),
        }
    }
}

#[test]
fn what_waits_when_the_store_is_dropped_is_still_answered_and_kept() {
    let (dir, hand) = (tempfile::tempdir().unwrap(), Hand::new());
    let path = dir.path().join("store");
    let store = embedded(&path, &hand).unwrap();
    let mut node = Node::new(1);
    node.greet(&store, "sale", patient(1));
    let batch = Batch { joins: vec![Join::Plain(3)], ..node.batch() };
    super::runtime().block_on(async {
        let asked = store.exchange("sale", batch.clone());
        let _ = tokio::time::timeout(Duration::ZERO, asked).await;
    });
    store.close().unwrap();
    let store = embedded(&path, &hand).unwrap();
    let reply = exchange(&store, "sale", batch).unwrap();
    assert_eq!((reply.taken, reply.counts.issued), (Taken::Repeated, 3));
}
