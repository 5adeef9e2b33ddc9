//! How long an exchange may keep Redis from everybody else, whatever is in it.
//!
//! Each scene brings a long line into a state and then sends what is dearest in it, as often as the extent says; the longest
//! of each kind counts, in Redis' own microseconds. Full batches are full by the crate's own bounds, and [`longest`] has a line that is.

mod draw;
mod full;
mod longest;
mod loss;
mod people;
mod time;

use anteroom::line::{Batch, MAX_BULK};

use super::Extent;
use super::beside::grouped;
use super::figures::{Figures, Measured};
use super::node::{ITEMS, Node, joins, settings};
use super::server::Redis;

/// No exchange blocks Redis for longer.
const LONGEST_MS: f64 = 20.0;

/// Exchanges of one kind.
struct Kind {
    name: String,
    taken: Vec<f64>,
}

impl Kind {
    fn new(name: impl Into<String>, taken: Vec<f64>) -> Kind {
        Kind { name: name.into(), taken }
    }
}

/// A scene's name, and what it takes.
type Scene<'a> = (&'a str, &'a dyn Fn() -> Vec<Kind>);

/// All kinds, or those of the scenes that are named.
pub fn measure(extent: &Extent, figures: &mut Figures, is_wanted: impl Fn(&str) -> bool) {
    let waiting = extent.waiting();
    let rounds = extent.rounds.div_ceil(5).max(2);
    let scenes: [Scene<'_>; 18] = [
        ("plain", &|| plain(waiting, rounds)),
        ("turns", &|| people::turns(waiting, rounds)),
        ("seats", &|| people::seats(waiting, rounds)),
        ("devices", &|| people::devices(waiting, rounds)),
        ("head", &|| people::head(waiting, rounds)),
        ("sweeps", &|| time::sweeps(waiting, rounds)),
        ("moves", &|| time::base_moves(waiting, rounds)),
        ("everything", &|| time::everything(waiting, rounds)),
        ("losses", &|| loss::losses(waiting, rounds)),
        ("resets", &|| loss::resets(waiting, rounds)),
        ("heads", &|| full::heads(rounds)),
        ("rosters", &|| full::rosters(rounds)),
        ("letters", &|| full::letters(rounds)),
        ("games", &|| full::games(rounds)),
        ("orders", &|| full::orders(waiting, rounds)),
        ("questions", &|| full::questions(extent.people, rounds)),
        ("draws", &|| draw::draws(waiting, extent.people / 2, rounds)),
        ("longest", &|| longest::longest(extent.places, rounds)),
    ];
    let mut all = Vec::new();
    for (name, scene) in scenes {
        if !is_wanted("kinds") && !is_wanted(name) {
            continue;
        }
        eprintln!("measuring {name}");
        for kind in scene() {
            let name = match kind.name.starts_with("a question") {
                true => kind.name,
                false => format!("an exchange: {}", kind.name),
            };
            figures.at_most(name, Measured::longest(&kind.taken), LONGEST_MS);
            all.extend(kind.taken);
        }
    }
    if is_wanted("kinds") {
        let name = "the longest exchange of all these";
        figures.at_most(name, Measured::longest(&all), LONGEST_MS);
    }
}

/// What a line hears all day, as much of it as a batch may carry.
fn plain(waiting: u64, rounds: u64) -> Vec<Kind> {
    let redis = Redis::start();
    let mut node = Node::open(&redis, None, settings());
    node.join(waiting);
    let nothing = (0..rounds).map(|_| node.send(Batch::default())).collect();
    let stride = (waiting / ITEMS).max(1) as usize;
    let marks: Vec<u64> = (1..=waiting).step_by(stride).take(ITEMS as usize).collect();
    let few = (0..rounds).map(|_| node.send(Batch { marks: marks.clone(), ..Batch::default() }));
    let few = few.collect();
    let many = (0..rounds).flat_map(|_| node.hear_all(waiting)).collect();
    let leaves = super::node::Spread::new(waiting, ITEMS, rounds);
    let leaves = leaves.map(|leaves| node.send(Batch { leaves, ..Batch::default() })).collect();
    let crowd = MAX_BULK.min(waiting);
    let joined = (0..rounds).map(|_| node.send(joins(crowd))).collect();
    let view = |id: u64| Node::new(&redis, None, 100 + u128::from(id)).send(Batch::default());
    vec![
        Kind::new("nothing to say", nothing),
        Kind::new(format!("{ITEMS} marks from all over the line"), few),
        Kind::new(format!("{} marks from all over the line", grouped(crowd)), many),
        Kind::new(format!("{ITEMS} leave, from all over the line"), leaves),
        Kind::new(format!("{} join", grouped(crowd)), joined),
        Kind::new("a new node's first view", (0..rounds).map(view).collect()),
    ]
}
