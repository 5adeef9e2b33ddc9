//! A damaged file gives a sentence or the very line that was told, never another one, and never a panic.
//!
//! Accepted is damage where nothing lies that counts: free pages, padding, the commit before the last,
//! and a flag of redb's that we do not believe. Everything else must be refused.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use anteroom::line::{Batch, Have, Join, Reply};
use anteroom::store::{Embedded, StoreError};

use super::load::{Rng, Twin};
use super::{Hand, Node, embedded, exchange, light_dir};

/// What a node with an empty view is told about both rooms: all that a line can tell.
fn told(store: &Embedded) -> [Reply; 2] {
    ["a", "acme/b"].map(|room| {
        let batch =
            Batch { have: Have::default(), joins: vec![Join::Plain(1)], ..Node::new(77).batch() };
        exchange(store, room, batch).unwrap()
    })
}

/// A store in use: snapshots, a journal, free pages. As a crash leaves it, or as a clean stop does.
fn sample(dir: &Path, hand: &Hand, clean: bool) -> Vec<u8> {
    let (path, mut rng) = (dir.join("sample"), Rng(31));
    let mut twins = [Twin::new("a"), Twin::new("acme/b")];
    for round in 0..3 {
        let store = embedded(&path, hand).unwrap();
        for _ in 0..20 {
            hand.pass(rng.below(900));
            twins[rng.below(2) as usize].stir(&store, &mut rng);
        }
        twins.iter_mut().for_each(|twin| twin.check(&store));
        if round == 2 && !clean {
            return std::fs::read(&path).unwrap();
        }
    }
    std::fs::read(&path).unwrap()
}

struct Trial<'a> {
    dir: &'a Path,
    hand: &'a Hand,
    truth: [Reply; 2],
    outcomes: BTreeMap<&'static str, u32>,
}

impl Trial<'_> {
    fn of(&mut self, what: &str, bytes: &[u8]) -> bool {
        let path = self.dir.join("damaged");
        std::fs::write(&path, bytes).unwrap();
        let opened = catch_unwind(AssertUnwindSafe(|| match embedded(&path, self.hand) {
            Ok(store) => Ok(told(&store)),
            Err(error) => Err(error),
        }));
        let outcome = match opened {
            Ok(Ok(told)) => {
                assert!(told == self.truth, "{what}: opened as another line");
                "the same line"
            }
            Ok(Err(error)) => match &error {
                StoreError::Damaged { .. } => {
                    assert!(error.to_string().contains("restore a backup"), "{error}");
                    "damaged"
                }
                StoreError::Foreign { .. } => "foreign",
                other => panic!("{what}: {other:?}"),
            },
            Err(_) => panic!("{what}: panicked"),
        };
        *self.outcomes.entry(outcome).or_default() += 1;
        outcome == "the same line"
    }
}

fn damage(clean: bool, seed: u64) {
    let (dir, hand, mut rng) = (light_dir(), Hand::new(), Rng(seed));
    let bytes = sample(dir.path(), &hand, clean);
    let whole = dir.path().join("whole");
    std::fs::write(&whole, &bytes).unwrap();
    let truth = told(&embedded(&whole, &hand).unwrap());
    let outcomes = BTreeMap::new();
    let mut trial = Trial { dir: dir.path(), hand: &hand, truth, outcomes };
    let len = bytes.len() as u64;
    assert!(trial.of("nothing", &bytes));

    // The header, bit by bit: magic number, flags, sizes, both commit slots.
    for byte in 0..320 {
        for bit in if byte == 9 { 0..8 } else { byte as u32 % 8..byte as u32 % 8 + 1 } {
            let mut bent = bytes.clone();
            bent[byte] ^= 1 << bit;
            trial.of(&format!("header byte {byte} bit {bit}"), &bent);
        }
    }
    for round in 0..trials() {
        let mut bent = bytes.clone();
        let what = match round % 4 {
            0 => {
                let at = rng.below(len) as usize;
                bent[at] ^= 1 << rng.below(8);
                format!("a bit of byte {at}")
            }
            1 => {
                // Where pages say what they are.
                let at = (rng.below(len / 4096) * 4096 + rng.below(32)) as usize;
                bent[at] = bent[at].wrapping_add(1 + rng.below(255) as u8);
                format!("byte {at}")
            }
            2 => {
                let page = rng.below(len / 4096) as usize * 4096;
                bent[page..page + 4096].fill(0);
                format!("page at {page} zeroed")
            }
            _ => {
                let from = rng.below(len / 512) as usize * 512;
                let upto = (from + 512 * (1 + rng.below(32) as usize)).min(bent.len());
                let other = rng.below(len / 512) as usize * 512;
                let other = other.min(bent.len() - (upto - from));
                bent.copy_within(other..other + (upto - from), from);
                format!("bytes {from}..{upto} overwritten with those from {other}")
            }
        };
        trial.of(&format!("{what} (seed {seed}, round {round})"), &bent);
    }
    for round in 0..trials() / 4 {
        let cut = match round % 2 {
            0 => rng.below(len / 4096) as usize * 4096,
            _ => rng.below(len) as usize,
        };
        let same = trial.of(&format!("cut to {cut} bytes (seed {seed})"), &bytes[..cut]);
        assert!(!same || cut > bytes.len() / 2, "{cut} bytes are too few");
        let longer = [&bytes[..], &vec![0; cut]].concat();
        trial.of(&format!("{cut} zeros appended (seed {seed})"), &longer);
    }
    for size in [0, 1, 9, 320, 4_096, 100_000] {
        let mut noise: Vec<u8> = (0..size).map(|_| rng.below(256) as u8).collect();
        assert!(!trial.of("noise", &noise));
        let magic = noise.len().min(9);
        noise[..magic].copy_from_slice(&bytes[..magic]);
        assert!(!trial.of("noise behind the right beginning", &noise));
        assert!(!trial.of("zeros", &vec![0; size]));
    }
    let refused = trial.outcomes["damaged"];
    assert!(refused > trials() / 4, "{:?}: the trials hit nothing", trial.outcomes);
}

/// More by `ANTEROOM_DAMAGE_TRIALS`; 20,000 of each were run once.
fn trials() -> u32 {
    let asked = std::env::var("ANTEROOM_DAMAGE_TRIALS");
    asked.map_or(300, |trials| trials.parse().unwrap())
}

#[test]
fn after_a_crash() {
    damage(false, 41);
}

#[test]
fn after_a_clean_stop() {
    damage(true, 42);
}
