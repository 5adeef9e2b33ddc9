//! A process killed at any moment, over and over: nobody loses a place, no number is given twice.
//!
//! A child process works on a store's file and says aloud whatever it was told; it is killed with SIGKILL
//! at a random moment. After each kill a copy of the file, as it was left, is held against everything
//! ever said, and the next child goes on with the file itself.
//!
//! A kill leaves what was written in the system's hands, so this shows that nothing is told before it is
//! written, and that every half-written state is recovered from; that `fsync` comes first as well, only
//! a power cut could show.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anteroom::line::*;
use anteroom::store::{Embedded, Store};

use super::load::Rng;
use super::{Node, errand, errand_path, exchange, opening, patient};

const TEST: &str = "store::kill::whatever_was_told_is_there_after_a_kill";
const SEED: &str = "ANTEROOM_SEED";
const ROOMS: [(&str, u64); 2] = [("sale", 20), ("acme/tour", 3)];

fn open(path: &Path) -> Embedded {
    let clock = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
    Embedded::open(path, opening(Arc::new(clock))).unwrap()
}

#[test]
fn whatever_was_told_is_there_after_a_kill() {
    if let Some(path) = errand_path() {
        return victim(&path);
    }
    let seed = std::env::var(SEED).map_or_else(
        |_| SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64,
        |seed| seed.parse().unwrap(),
    );
    let kills = std::env::var("ANTEROOM_KILLS").map_or(30, |kills| kills.parse().unwrap());
    let _said = Said(seed);
    let (dir, mut rng) = (tempfile::tempdir().unwrap(), Rng(seed));
    let path = dir.path().join("store");
    let mut history = ROOMS.map(|(room, seats)| (room, History::new(seats)));
    let mut recoveries = 0;
    for round in 0..kills {
        let mut command = errand(TEST, &path);
        command.env(SEED, (seed + round).to_string());
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        // Some die young: while making the file or recovering it. The others at work.
        let young = rng.below(4) == 0;
        let life = Duration::from_micros(rng.below(if young { 20_000 } else { 200_000 }));
        let (opened, at_work) = channel();
        let killer = std::thread::spawn(move || {
            if !young {
                let _ = at_work.recv_timeout(Duration::from_secs(20));
            }
            std::thread::sleep(life);
            child.kill().unwrap();
            child.wait().unwrap()
        });
        let mut line = String::new();
        while lines.read_line(&mut line).unwrap() > 0 {
            // A line without an end was cut by the kill: nobody heard it.
            if let Some(said) = line.strip_prefix('@').and_then(|said| said.strip_suffix('\n')) {
                let words: Vec<&str> = said.split(' ').collect();
                match (words[0], history.iter_mut().find(|(room, _)| Some(room) == words.get(1))) {
                    ("opened", _) => {
                        recoveries += u32::from(words[1] != "0");
                        let _ = opened.send(());
                    }
                    (what, Some((_, history))) => history.hear(what, &words[2..]),
                    _ => panic!("{said}"),
                }
            }
            line.clear();
        }
        let status = killer.join().unwrap();
        assert!(!status.success(), "the child ended by itself: {status}");
        if path.exists() {
            let copy = dir.path().join("copy");
            std::fs::copy(&path, &copy).unwrap();
            let store = open(&copy);
            for (room, history) in &history {
                // Everybody now and then; otherwise those whom the last lives were about.
                let all = round % 10 == 9 || round + 1 == kills;
                history.audit(&store, room, if all { usize::MAX } else { 2_000 });
            }
        }
    }
    let told: usize = history.iter().map(|(_, history)| history.fates.len()).sum();
    let entered =
        |history: &History| history.fates.values().filter(|fate| fate.inside.is_some()).count();
    let entered: usize = history.iter().map(|(_, history)| entered(history)).sum();
    println!(
        "{kills} kills, {recoveries} recoveries, {told} numbers told, {entered} of them inside"
    );
    assert!(recoveries > kills as u32 / 4 && told > 100 && entered > 50, "the kills hit nothing");
}

/// Says which seed failed.
struct Said(u64);

impl Drop for Said {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("again with {SEED}={}", self.0);
        }
    }
}

/// What was said about one room.
struct History {
    seats: u64,
    fates: BTreeMap<Number, Fate>,
    released: Number,
}

#[derive(Default)]
struct Fate {
    /// Told to be inside, since when.
    inside: Option<u64>,
    /// Somebody asked to end it: from here on it may be over.
    ending: bool,
    /// And was told that it is.
    over: bool,
}

impl History {
    fn new(seats: u64) -> Self {
        History { seats, fates: BTreeMap::new(), released: 0 }
    }

    fn hear(&mut self, what: &str, words: &[&str]) {
        let values: Vec<u64> = words.iter().map(|word| word.parse().unwrap()).collect();
        match (what, values.as_slice()) {
            ("given", &[first, count, entered, since]) => {
                for number in first..first + count {
                    let inside = (number < first + entered).then_some(since);
                    let fate = Fate { inside, ..Fate::default() };
                    let before = self.fates.insert(number, fate);
                    assert!(before.is_none(), "{number} was given twice");
                }
            }
            ("inside", &[number, since]) => {
                let fate = self.fates.entry(number).or_default();
                assert!(fate.inside.is_none_or(|before| before == since), "{number} entered twice");
                fate.inside = Some(since);
            }
            ("over", &[number]) => {
                let ending = self.fates.get(&number).is_some_and(|fate| fate.ending);
                assert!(ending, "{number} is over, and nobody had ended it");
            }
            ("ending", &[number]) => self.fates.entry(number).or_default().ending = true,
            ("ended", &[number]) => self.fates.entry(number).or_default().over = true,
            ("counts", &[taken, released]) => {
                assert!(taken <= self.seats, "{taken} on {} seats", self.seats);
                self.released = self.released.max(released);
            }
            other => panic!("{other:?}"),
        }
    }

    /// Holds a recovered line against what was said of so many numbers.
    fn audit(&self, store: &Embedded, room: &str, most: usize) {
        let mut node = Node::new(u128::MAX);
        let counts = node.greet(store, room, patient(self.seats)).counts;
        let taken = counts.inside + counts.admitted + counts.missing;
        assert!(taken <= self.seats, "{taken} on {} seats after recovery", self.seats);
        assert!(counts.released >= self.released, "released went back");
        let last = self.fates.keys().next_back().copied().unwrap_or(0);
        assert!(counts.issued >= last, "{last} was told, {} is the last", counts.issued);
        let numbers: Vec<Number> = self.fates.keys().rev().take(most).copied().collect();
        for some in numbers.chunks(MAX_ITEMS) {
            let batch = Batch { returns: some.to_vec(), ..node.batch() };
            let reply = exchange(store, room, batch).unwrap();
            assert_eq!(reply.counts.released, counts.released, "looking releases nobody");
            for (number, stands) in some.iter().zip(&reply.returns) {
                let (fate, called) = (&self.fates[number], *number <= counts.released);
                let right = match stands {
                    Claimed::Over(_) => fate.ending,
                    Claimed::Inside(terms) => {
                        let since = terms.admitted_ms;
                        called && !fate.over && fate.inside.is_none_or(|told| told == since)
                    }
                    Claimed::Admitted => called && !fate.over && fate.inside.is_none(),
                    Claimed::Waiting => !called && !fate.over && fate.inside.is_none(),
                    Claimed::Unknown | Claimed::Stale | Claimed::Away => false,
                };
                let Fate { inside, ending, over } = fate;
                assert!(
                    right,
                    "{room} {number} is {stands:?}, released {}; told inside {inside:?}, ending {ending}, over {over}",
                    counts.released
                );
            }
        }
    }
}

/// Works until it is killed. Says what it is about to end before it asks, and everything else after it
/// was told.
fn victim(path: &Path) {
    let seed: u64 = std::env::var(SEED).unwrap().parse().unwrap();
    let store = Arc::new(open(path));
    say(&format!("\n@opened {}\n", store.recovery().replayed)); // behind the harness's own words
    super::runtime().block_on(async {
        let mut nodes = Vec::new();
        for (room, seats) in ROOMS {
            for node in 0..3 {
                let seed = seed * 100 + nodes.len() as u64;
                nodes.push(tokio::spawn(work(store.clone(), room, seats, seed + node)));
            }
        }
        for node in nodes {
            node.await.unwrap();
        }
    });
}

fn say(lines: &str) {
    let mut out = std::io::stdout().lock();
    if out.write_all(lines.as_bytes()).and_then(|()| out.flush()).is_err() {
        std::process::exit(0); // nobody listens any more
    }
}

async fn work(store: Arc<Embedded>, room: &'static str, seats: u64, seed: u64) {
    let (mut node, mut rng) = (Node::new(seed.into()), Rng(seed));
    let (mut issued, mut released, mut inside) = (0_u64, 0_u64, Vec::new());
    let give_up = Instant::now() + Duration::from_secs(20);
    while Instant::now() < give_up {
        let mut batch = node.batch();
        if node.epoch == 0 {
            let (version, settings) = (1, patient(seats));
            batch.offer = Some(Offer { version, settings });
        } else {
            let mut some = |most: u64| -> Vec<Number> {
                let count = if issued == 0 { 0 } else { rng.below(most + 1) };
                (0..count).map(|_| 1 + rng.below(issued)).collect()
            };
            batch.marks = some(200);
            batch.claims = some(6);
            batch.leaves = some(1);
            // Whoever is next, and those inside, some of them since an earlier life.
            batch.claims.extend(released + 1..=issued.min(released + 3));
            let oldest = released.saturating_sub(60);
            let latest = (0..released.min(10)).map(|_| oldest + 1 + rng.below(released - oldest));
            batch.claims.extend(latest);
            if inside.len() > 1 && rng.below(2) == 0 {
                let number = inside.swap_remove(rng.below(inside.len() as u64) as usize);
                let why = Ending::Completed;
                batch.ends.push(End { number, why });
            }
            batch.joins = match rng.below(4) {
                0 => Vec::new(),
                1 => vec![Join::Keyed(Keyed::default()), Join::Plain(2)],
                _ => vec![Join::Plain(1 + rng.below(3) as u32)],
            };
        }
        let ends: Vec<Number> = batch.ends.iter().map(|end| end.number).collect();
        let ending = batch.leaves.iter().chain(&ends);
        say(&ending.map(|number| format!("@ending {room} {number}\n")).collect::<String>());

        let reply = store.exchange(room, batch.clone()).await.unwrap();
        node.epoch = reply.counts.epoch;
        (issued, released) = (reply.counts.issued, reply.counts.released);
        let mut said = String::new();
        for joined in &reply.joins {
            let Joined::Given { first, count, entered, terms, .. } = *joined else {
                panic!("{joined:?}")
            };
            let since = terms.map_or(0, |terms| terms.admitted_ms);
            said += &format!("@given {room} {first} {count} {entered} {since}\n");
            inside.extend(first..first + u64::from(entered));
        }
        for (number, claimed) in batch.claims.iter().zip(&reply.claims) {
            match claimed {
                Claimed::Inside(terms) => {
                    said += &format!("@inside {room} {number} {}\n", terms.admitted_ms);
                    if !inside.contains(number) {
                        inside.push(*number);
                    }
                }
                Claimed::Over(_) => said += &format!("@over {room} {number}\n"),
                Claimed::Waiting => {}
                other => panic!("{number}: {other:?}"),
            }
        }
        for (number, done) in batch.leaves.iter().zip(&reply.leaves) {
            assert!(matches!(done, Done::Freed | Done::Already), "{number}: {done:?}");
            said += &format!("@ended {room} {number}\n");
        }
        for (number, done) in ends.iter().zip(&reply.ends) {
            if *done == Done::Freed {
                said += &format!("@ended {room} {number}\n");
            }
        }
        let Counts { inside: within, admitted, missing, released, .. } = reply.counts;
        said += &format!("@counts {room} {} {released}\n", within + admitted + missing);
        say(&said);
    }
}
