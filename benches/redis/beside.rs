//! The one table: bytes, calls, CPU and time, ours and the usual structure's.

use anteroom::line::{Batch, Number};
use anteroom::room::PART;

use super::Extent;
use super::figures::{Figures, Measured, median};
use super::node::{ITEMS, Node, Spread, joins, settings};
use super::server::{Redis, Spent};
use super::table::Table;
use super::usual::Usual;

/// Joins and polls are told by the thousand.
const THOUSAND: u64 = 1_000;
/// Newcomers in an exchange: what comes to a node in 5 ms at 20,000 a second.
const TOGETHER: u64 = 100;
/// In how many parts a node says the marks of the longest lines with a heartbeat timeout of 150 s, the usual one, and of a minute: see
/// `room::marks`.
const PARTS: u64 = 18;
const PARTS_OF_A_MINUTE: u64 = 7;
/// No figure: so many are not there, or there is nothing of the kind.
const NONE: &str = "—";

/// What exchanges take at a length of the line, in microseconds of Redis: medians.
struct Taken {
    waiting: u64,
    nothing: f64,
    marks: f64,
    /// Ten thousand, which travel as bits.
    many_marks: f64,
    many_marks_of_a_minute: f64,
    claims: f64,
    leaves: f64,
    joins: f64,
    many: f64,
}

/// The table; what it says about how little the length of a line matters is among the figures.
pub fn table(extent: &Extent, figures: &mut Figures) -> Table {
    let mut table = Table::new(["", "anteroom", "list + sorted set + hash", "times"]);
    let mut row = |name: String, ours: f64, theirs: Option<f64>, places: usize| {
        let cells = match theirs {
            Some(theirs) => [format!("{theirs:.places$}"), format!("{:.0}", theirs / ours)],
            None => [NONE, ""].map(str::to_owned),
        };
        let [theirs, times] = cells;
        table.row([name, format!("{ours:.places$}"), theirs, times]);
    };
    let (ours, theirs) = (ours(extent), theirs(extent));
    let many = grouped(extent.usual);
    let bytes = format!("bytes a visitor, {many} waiting");
    row(bytes, ours.bytes, Some(theirs.bytes), 2);
    for (what, one, other) in
        [("joins", ours.joins, theirs.joins), ("polls", ours.polls, theirs.polls)]
    {
        row(format!("Redis calls for 1,000 {what}"), one.calls, Some(other.calls), 1);
        row(format!("ms of Redis' CPU for 1,000 {what}"), one.cpu_ms, Some(other.cpu_ms), 2);
    }
    let lines: Vec<Taken> = extent.lines.iter().map(|waiting| line(extent, *waiting)).collect();
    for (nth, taken) in lines.iter().enumerate() {
        let name = |what: &str| format!("µs of Redis {what}, {} waiting", grouped(taken.waiting));
        row(name("for an exchange with nothing to say"), taken.nothing, None, 0);
        let (join, poll) = theirs.times.get(nth).copied().unzip();
        row(name("for 1,000 joins: one exchange, 1,000 calls"), taken.joins, join, 0);
        row(name("for 1,000 polls from all over: one exchange, 1,000 calls"), taken.marks, poll, 0);
    }
    if let (Some(few), Some(most)) = (lines.first(), lines.last()) {
        let (short, long) = (grouped(few.waiting), grouped(most.waiting));
        let (claims, leaves) = (format!("{ITEMS} claims"), format!("{ITEMS} leaves"));
        let name = |what: &str| format!("an exchange with {what}, {long} waiting beside {short}");
        let times = |few: f64, most: f64| {
            let note = format!("{most:.0} µs, {few:.0} µs");
            Measured::new(most / few, 2, "times").noting(note)
        };
        for (what, few, most) in [
            ("nothing to say", few.nothing, most.nothing),
            ("1,000 marks", few.marks, most.marks),
            ("10,000 marks, which are bits of a part of the line", few.many_marks, most.many_marks),
            (&claims, few.claims, most.claims),
            (&leaves, few.leaves, most.leaves),
            ("1,000 joins", few.joins, most.joins),
            ("100,000 joins", few.many, most.many),
        ] {
            figures.at_most(name(what), times(few, most), 2.0);
        }
        // The shorter the timeout, the larger a part: below 32 s it is all of the line.
        let what = name("10,000 marks, likewise, with a heartbeat timeout of a minute");
        figures.told(what, times(few.many_marks_of_a_minute, most.many_marks_of_a_minute));
    }
    table
}

/// What a visitor costs in one of the two.
struct Costs {
    bytes: f64,
    /// Of 1,000.
    joins: Spent,
    polls: Spent,
    /// Microseconds for 1,000 joins and 1,000 polls, at each length.
    times: Vec<(f64, f64)>,
}

fn ours(extent: &Extent) -> Costs {
    let many = extent.usual;
    let redis = Redis::start();
    let mut node = Node::open(&redis, None, settings());
    let before = redis.bytes();
    // The store alone: what it takes to read along is not counted.
    let joins = redis.spent(|| (0..many / TOGETHER).for_each(|_| node.tell(joins(TOGETHER))));
    let bytes = redis.bytes() - before;
    let polls = redis.spent(|| {
        for marks in Spread::new(many, THOUSAND, many / THOUSAND) {
            node.tell(Batch { marks, ..Batch::default() });
        }
    });
    let [joins, polls] = [joins, polls].map(|spent| spent.scaled(many, THOUSAND));
    Costs { bytes: bytes / many as f64, joins, polls, times: Vec::new() }
}

fn theirs(extent: &Extent) -> Costs {
    let redis = Redis::start();
    let mut usual = Usual::new(&redis);
    let before = redis.bytes();
    let (mut costs, mut times) = (None, Vec::new());
    let some = 10 * THOUSAND;
    for waiting in extent.lines.iter().copied().filter(|waiting| *waiting <= extent.usual) {
        usual.fill(waiting);
        let bytes = (redis.bytes() - before) / waiting as f64;
        let stride = (waiting / some).max(1);
        let polls = redis.spent(|| {
            (0..some).for_each(|nth| usual.poll(nth * stride % waiting));
        });
        let joins = redis.spent(|| (0..some).for_each(|_| usual.join()));
        let [joins, polls] = [joins, polls].map(|spent| spent.scaled(some, THOUSAND));
        times.push((joins.usec, polls.usec));
        costs = Some(Costs { bytes, joins, polls, times: Vec::new() });
    }
    Costs { times, ..costs.expect("a line") }
}

/// What exchanges take with so many waiting.
fn line(extent: &Extent, waiting: u64) -> Taken {
    let redis = Redis::start();
    let mut node = Node::open(&redis, None, settings());
    node.join(waiting);
    let rounds = extent.rounds;
    let mut marked = |count: u64, places: u64| {
        let stride = (places / count).max(1) as usize;
        let marks: Vec<Number> = (1..=places).step_by(stride).take(count as usize).collect();
        taken(&mut node, (0..rounds).map(|_| Batch { marks: marks.clone(), ..Batch::default() }))
    };
    let marks = marked(THOUSAND, waiting);
    // As a node says them: of a part of a long line.
    let mut many_marks =
        |parts: u64| marked(10 * THOUSAND, waiting.min((waiting / parts).max(PART)));
    let [many_marks, many_marks_of_a_minute] = [PARTS, PARTS_OF_A_MINUTE].map(&mut many_marks);
    let nothing = taken(&mut node, (0..rounds).map(|_| Batch::default()));
    // Half has had its turn: they come in, and of the others some leave.
    let half = waiting / 2;
    node.release(half);
    let some = || Spread::new(half, ITEMS, rounds.div_ceil(5));
    let claims = taken(&mut node, some().map(|claims| Batch { claims, ..Batch::default() }));
    assert_eq!(node.view.counts().inside, some().flatten().count() as u64, "it was their turn");
    let behind = some().map(|some| some.into_iter().map(|number| half + number).collect());
    let leaves = taken(&mut node, behind.map(|leaves| Batch { leaves, ..Batch::default() }));
    Taken {
        waiting,
        nothing,
        marks,
        many_marks,
        many_marks_of_a_minute,
        claims,
        leaves,
        joins: taken(&mut node, (0..rounds).map(|_| joins(THOUSAND))),
        many: taken(&mut node, (0..rounds.div_ceil(10)).map(|_| joins(100 * THOUSAND))),
    }
}

/// The median of what these take.
fn taken(node: &mut Node<'_>, batches: impl Iterator<Item = Batch>) -> f64 {
    let taken: Vec<f64> = batches.map(|batch| node.send(batch)).collect();
    median(&taken)
}

/// `10,000,000`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (nth, digit) in digits.chars().enumerate() {
        if nth > 0 && (digits.len() - nth).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
