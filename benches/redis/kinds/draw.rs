//! The draw: at an opening everybody who came before it is somewhere else.

use anteroom::line::{Batch, Class, Event, Join, Keyed, Known, Lot, Mode, Settings};

use super::super::beside::grouped;
use super::super::node::{Clock, ITEMS, Node, Spread, settings};
use super::super::server::Redis;
use super::Kind;

/// As many as may stand at the head of a line that is drawn; each gets a place of their own.
const CLASSED: u64 = 2_500;
/// So many may be drawn at an opening, and be longer about it than nobody.
const MANY: u64 = 1_000_000;

/// Who is there at an opening.
#[derive(Clone, Copy, Default)]
struct Crowd {
    people: u64,
    /// Of them.
    classed: u64,
    /// Of them, and gone again.
    left: u64,
    /// From before.
    inside: u64,
}

/// Those who came are drawn: a million of them, all of a long line, a million with a full head, and the same while many are inside and
/// some have left. The head was there before: it is brought back after a loss, with all draws.
pub(super) fn draws(waiting: u64, inside: u64, rounds: u64) -> Vec<Kind> {
    let people = MANY.min(waiting);
    let scene = |crowd: Crowd| -> Vec<f64> { (0..rounds.min(5)).map(|_| drawn(crowd).0).collect() };
    let classed = CLASSED.min(people / 10);
    let name = |people: u64| format!("the draw among {}", grouped(people));
    let with_head = format!("{}, {} of them of a class", name(people), grouped(classed));
    let left = people / 50;
    let usual = Crowd { people, classed, left, inside };
    let busy = format!("{with_head}, {} left, {} inside", grouped(left), grouped(inside));
    vec![
        Kind::new(name(people), scene(Crowd { people, ..Crowd::default() })),
        Kind::new(name(waiting), scene(Crowd { people: waiting, ..Crowd::default() })),
        Kind::new(with_head, scene(Crowd { people, classed, ..Crowd::default() })),
        Kind::new(busy, scene(usual)),
        Kind::new(
            "draws with a full head come back to a line that lost them",
            (0..rounds.min(3)).map(|_| drawn(usual).1).collect(),
        ),
    ]
}

/// What the exchange that draws takes, and one in which it comes back after a loss, in microseconds.
fn drawn(crowd: Crowd) -> (f64, f64) {
    let Crowd { people, classed, left, inside } = crowd;
    let (redis, clock) = (Redis::start(), Clock::new());
    let opens_ms = clock.moment().wall_ms + 60_000;
    let event =
        Event { opens_ms, prequeue_ms: 3_600_000, draw: true, closes_ms: None, every_ms: None };
    let class = Class { name: "presale".to_owned(), skip: 500, rank: 0 };
    let scheduled = Settings {
        mode: Mode::Auto,
        schedule: vec![event],
        classes: vec![class],
        join_limits: Vec::new(),
        ..settings()
    };
    let mut node = Node::open(&redis, Some(&clock), settings());
    node.join(inside);
    node.release(inside);
    for claims in (1..=inside).collect::<Vec<_>>().chunks(ITEMS as usize) {
        node.send(Batch { claims: claims.to_vec(), ..Batch::default() });
    }
    assert_eq!(node.view.counts().inside, inside);
    node.offer(scheduled.clone());
    node.join(people - classed);
    for leaves in Spread::new(people - classed, ITEMS, left.div_ceil(ITEMS)) {
        let leaves = leaves.into_iter().map(|nth| inside + nth).collect();
        node.send(Batch { leaves, ..Batch::default() });
    }
    let one = || {
        let class = Some("presale".to_owned());
        Join::Keyed(Keyed { class, ..Keyed::default() })
    };
    for _ in 0..classed / ITEMS {
        let joins = (0..ITEMS).map(|_| one()).collect();
        node.send(Batch { joins, ..Batch::default() });
    }
    assert_eq!(node.view.counts().classed, classed / ITEMS * ITEMS, "they wait");
    let lot = |seed| Lot { opens_ms, kid: "k1".to_owned(), hash: [7; 32], seed };
    node.send(Batch { lot: Some(lot(None)), ..Batch::default() });
    clock.pass(opens_ms - clock.moment().wall_ms);
    let version = node.view.drawn().told().version;
    let taken = node.send(Batch { lot: Some(lot(Some([3; 32]))), ..Batch::default() });
    assert_eq!(node.view.drawn().told().version, version + 1, "they were drawn");
    redis.flush();
    clock.lose();
    node.offer(scheduled);
    let report = node.view.report().parts(0).swap_remove(0);
    let known = Known { report: Some(Box::new(report)), ..Known::default() };
    let merged = node.send(Batch { known, ..Batch::default() });
    (taken, merged)
}
