//! The line beside the plain structure: a list of numbers in order and a map of visitors.
//!
//! `make bench` prints one table for 10 thousand to 10 million waiting: medians, ours and the plain one
//! row by row, one after the other, since the plain one's scans would empty the caches of ours. Then positions where
//! 10,000 class visitors wait among a million, beside the same line without classes ([`classes`]): a bound that is missed there
//! makes it fail. Without `--bench` (as `cargo test` runs it) the smallest size alone is done, once, and nothing is judged, so that
//! this can't rot. `ONLY=classes make bench-line` leaves the plain structure out.

mod classes;
#[path = "../redis/figures.rs"]
#[allow(dead_code)]
mod figures;
#[path = "../gateway/table.rs"]
#[allow(dead_code)]
mod table;

use std::alloc::System;
use std::collections::{HashMap, VecDeque};
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use anteroom::line::*;
use stats_alloc::{Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: StatsAlloc<System> = StatsAlloc::system();

const START_MS: u64 = 1_800_000_000_000;
const NODE: u128 = 1;
/// Enough that the time is that of the queries and not of the caches the plain scan before has emptied.
const POSITIONS: u64 = 500_000;

fn main() -> ExitCode {
    let full = std::env::args().any(|argument| argument == "--bench");
    let sizes: &[u64] = if full { &[10_000, 100_000, 1_000_000, 10_000_000] } else { &[10_000] };
    let rounds = if full { 9 } else { 1 };
    if std::env::var_os("ONLY").is_none_or(|only| only != "classes") {
        let columns: Vec<Column> =
            sizes.iter().map(|size| Column::measure(*size, rounds)).collect();
        print(&columns);
        if full {
            bounds(&columns);
        }
    }
    let found = classes::measure(if full { 1_000_000 } else { 20_000 }, rounds, full);
    println!("\n{found}");
    if found.is_missed() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// A line with one node, and the times an exchange took.
struct Ours {
    line: Line,
    view: View,
    wall_ms: u64,
    sequence: u64,
}

impl Ours {
    fn new(size: u64) -> Ours {
        let mut ours = Ours::empty();
        for start in (0..size).step_by(1_000_000) {
            join(&mut ours, (size - start).min(1_000_000) as u32);
        }
        ours
    }

    fn empty() -> Ours {
        let moment = Moment { wall_ms: START_MS, run: 1 };
        let mut ours = Ours {
            line: Line::founded(moment),
            view: View::default(),
            wall_ms: START_MS,
            sequence: 0,
        };
        let settings = Settings {
            mode: Mode::Hold,
            max_waiting: None,
            heartbeat_timeout_ms: 5_000,
            ..Settings::default()
        };
        ours.send(|batch| batch.offer = Some(Offer { version: 1, settings }));
        ours
    }

    /// One exchange; how long the line took.
    fn send(&mut self, edit: impl FnOnce(&mut Batch)) -> f64 {
        self.sequence += 1;
        let mut batch = self.view.greeting(NODE, self.sequence);
        edit(&mut batch);
        let moment = Moment { wall_ms: self.wall_ms, run: 1 };
        let start = Instant::now();
        let reply = black_box(self.line.apply(&batch, moment));
        let micros = start.elapsed().as_secs_f64() * 1e6;
        self.view.absorb(&reply.expect("a batch within bounds"));
        micros
    }

    /// One exchange with a sweep in it, the bitmaps not sent along: that is a copy of its own.
    fn sweep(&mut self) -> f64 {
        self.wall_ms += 1_300;
        self.send(|_| {});
        self.wall_ms += 1_300;
        self.send(|batch| batch.have.bits += 1)
    }
}

/// What one would write first: ids in order, and an entry a visitor found by id.
#[derive(Default)]
struct Plain {
    order: VecDeque<u128>,
    visitors: HashMap<u128, Visitor>,
    next: u64,
}

struct Visitor {
    _number: u64,
    _joined_ms: u64,
    _priority: u8,
    seen_ms: u64,
    here: bool,
}

/// A random id a visitor, as such systems give.
fn id(number: u64) -> u128 {
    u128::from(number.wrapping_mul(0x9E37_79B9_7F4A_7C15)) << 64 | u128::from(number)
}

impl Plain {
    fn join(&mut self, count: u64) {
        for _ in 0..count {
            self.next += 1;
            self.order.push_back(id(self.next));
            let visitor = Visitor {
                _number: self.next,
                _joined_ms: START_MS,
                _priority: 0,
                seen_ms: START_MS,
                here: true,
            };
            self.visitors.insert(id(self.next), visitor);
        }
    }

    fn mark(&mut self, numbers: &[u64], now_ms: u64) {
        for number in numbers {
            if let Some(visitor) = self.visitors.get_mut(&id(*number)) {
                visitor.seen_ms = now_ms;
                visitor.here = true;
            }
        }
    }

    fn position(&self, number: u64) -> Option<usize> {
        let here = self.order.iter().filter(|other| self.visitors[other].here);
        here.take_while(|other| **other != id(number)).count().checked_add(1)
    }

    fn release(&mut self, count: usize) {
        let mut released = Vec::new();
        while released.len() < count
            && let Some(id) = self.order.pop_front()
        {
            if self.visitors.remove(&id).is_some_and(|visitor| visitor.here) {
                released.push(id);
            }
        }
        black_box(released);
    }

    /// Lets the front fall silent, and releases one.
    fn release_behind(&mut self, absentees: u64) -> f64 {
        for id in self.order.iter().take(absentees as usize) {
            if let Some(visitor) = self.visitors.get_mut(id) {
                visitor.here = false;
            }
        }
        timed(|| self.release(1))
    }

    fn sweep(&mut self, before_ms: u64) {
        for visitor in self.visitors.values_mut() {
            visitor.here &= visitor.seen_ms >= before_ms;
        }
    }
}

/// Both sides of every row, for one size.
struct Column {
    size: u64,
    rows: Vec<(&'static str, f64, f64)>,
}

/// Numbers spread over the whole line, the same for both.
fn spread(size: u64, count: u64) -> Vec<u64> {
    (0..count).map(|nth| nth.wrapping_mul(0x9E37_79B9_7F4A_7C15) % size + 1).collect()
}

fn timed(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e6
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

impl Column {
    fn measure(size: u64, rounds: usize) -> Column {
        let region = Region::new(&ALLOCATOR);
        let mut ours = Ours::new(size);
        stir(&mut ours, &[]);
        let bytes = |region: &Region<System>| {
            let stats = region.change();
            (stats.bytes_allocated as f64 - stats.bytes_deallocated as f64) / size as f64
        };
        let our_bytes = bytes(&region);
        let region = Region::new(&ALLOCATOR);
        let mut plain = Plain::default();
        plain.join(size);
        let plain_bytes = bytes(&region);

        let absentees = (size / 2).min(1_000_000);
        let (some, asked) = (spread(size, 1_000), spread(size, POSITIONS));
        let mut rows = vec![("bytes a visitor, line and view", our_bytes, plain_bytes)];
        let mut row =
            |name, rounds, one: &dyn Fn(&mut Ours) -> f64, other: &dyn Fn(&mut Plain) -> f64| {
                let of_ours = (0..rounds).map(|_| one(&mut ours)).collect();
                let of_plain = (0..rounds).map(|_| other(&mut plain)).collect();
                rows.push((name, median(of_ours), median(of_plain)));
            };
        row("join of 1,000, µs", rounds, &|ours| join(ours, 1_000), &|plain| {
            timed(|| plain.join(1_000))
        });
        row("join of 100,000, µs", rounds, &|ours| join(ours, 100_000), &|plain| {
            timed(|| plain.join(100_000))
        });
        row(
            "1,000 marks, µs",
            rounds,
            &|ours| ours.send(|batch| batch.marks = some.clone()),
            &|plain| timed(|| plain.mark(&some, START_MS)),
        );
        row("a position, µs", rounds, &|ours| positions(&ours.view, &asked), &|plain| {
            timed(|| _ = black_box(plain.position(asked[1])))
        });
        row("a sweep, µs", rounds, &sweep_all, &|plain| timed(|| plain.sweep(START_MS)));
        row("release of 1,000, µs", rounds, &|ours| release(ours, 1_000), &|plain| {
            timed(|| plain.release(1_000))
        });
        row(
            "release of 1 behind a million absentees (half the line below 2 M), µs",
            1,
            &|ours| release_behind(ours, absentees),
            &|plain| plain.release_behind(absentees),
        );
        Column { size, rows }
    }
}

fn join(ours: &mut Ours, count: u32) -> f64 {
    ours.send(|batch| batch.joins = vec![Join::Plain(count)])
}

fn release(ours: &mut Ours, count: u64) -> f64 {
    ours.send(|batch| batch.commands = vec![Command::Release(count).into()])
}

/// The dearest case: no chunk of any bitmap is all zeros or all ones. One in ten is silent in each
/// period, another one each time; here and there somebody leaves. Those of a class are all here.
fn stir(ours: &mut Ours, classed: &[u64]) {
    let issued = ours.view.counts().issued;
    for period in 0..3 {
        for start in (1..=issued).step_by(1_000_000) {
            let numbers = start..=issued.min(start + 999_999);
            let marks = numbers.filter(|number| number % 10 != period).collect();
            ours.send(|batch| batch.marks = marks);
        }
        for some in classed.chunks(MAX_ITEMS) {
            ours.send(|batch| batch.present = some.to_vec());
        }
        ours.sweep();
    }
    let ordinary = |number: &u64| classed.binary_search(number).is_err();
    let leavers: Vec<u64> = (1..=issued).step_by(4_096).filter(ordinary).collect();
    for some in leavers.chunks(MAX_ITEMS) {
        ours.send(|batch| batch.leaves = some.to_vec());
    }
    ours.sweep();
    ours.send(|_| {}); // The view has the bitmaps.
}

/// The mean time of a position.
fn positions(view: &View, asked: &[u64]) -> f64 {
    let time = timed(|| {
        for number in asked {
            black_box(view.position(black_box(*number)));
        }
    });
    time / asked.len() as f64
}

/// A sweep of everybody, each heard of: one that finds nobody gone does as much work as any.
fn sweep_all(ours: &mut Ours) -> f64 {
    mark_all(ours, 1);
    ours.sweep()
}

fn release_behind(ours: &mut Ours, absentees: u64) -> f64 {
    let front = ours.view.counts().released;
    fall_silent(ours, front + 1, front + absentees);
    release(ours, 1)
}

/// Everybody from `low` on is heard of.
fn mark_all(ours: &mut Ours, low: u64) {
    let issued = ours.view.counts().issued;
    for start in (low..=issued).step_by(1_000_000) {
        let marks = (start..=issued.min(start + 999_999)).collect();
        ours.send(|batch| batch.marks = marks);
    }
}

/// A run of visitors falls silent: everybody behind it is heard of through three periods.
fn fall_silent(ours: &mut Ours, low: u64, high: u64) {
    for _ in 0..3 {
        mark_all(ours, high + 1);
        ours.sweep();
    }
    ours.send(|_| {}); // The bitmaps reach the view now, not with the release.
    assert_eq!(ours.line.standing(low), Standing::Away, "the front is absent");
}

fn print(columns: &[Column]) {
    print!("{:<70}", "ours / plain");
    columns.iter().for_each(|column| print!("{:>26}", format!("{} waiting", column.size)));
    println!();
    for (index, (name, ..)) in columns[0].rows.iter().enumerate() {
        print!("{name:<70}");
        for column in columns {
            let (_, ours, plain) = column.rows[index];
            print!("{:>26}", format!("{ours:.3} / {plain:.1}"));
        }
        println!();
    }
}

/// The figures the line is held to.
fn bounds(columns: &[Column]) {
    let at = |column: &Column, name: &str| {
        let row = column.rows.iter().find(|row| row.0.starts_with(name));
        row.map_or(f64::NAN, |row| row.1)
    };
    let (small, large) = (&columns[0], &columns[columns.len() - 1]);
    println!("\nbytes a visitor at 10 M: {:.2} (at most 1)", at(large, "bytes"));
    let ratio = at(large, "a position") / at(small, "a position");
    println!("a position at 10 M costs {ratio:.2}x what it costs at 10 k (at most 2x)");
    let writing = writing_bits();
    for column in columns {
        let (thousand, hundred) = (at(column, "join of 1,000"), at(column, "join of 100,000"));
        println!(
            "at {}: a join of 100,000 takes {:.2} of 2x one of 1,000 and {writing:.1} µs for writing its bits (at most 1)",
            column.size,
            hundred / (2.0 * thousand + writing)
        );
    }
}

/// What it takes to write the bits of 100,000 joins, twice (live and seen), into memory that was never
/// touched: as for the line itself, most of it is the system's handing out of pages.
fn writing_bits() -> f64 {
    const WORDS: usize = 2 * 1_563;
    let mut memory: Vec<u64> = Vec::with_capacity(200 * WORDS);
    median((0..200).map(|_| timed(|| memory.extend([u64::MAX; WORDS]))).collect())
}
