//! The draw: at an opening everybody who came before it is somewhere else.

use anteroom::line::{Batch, Class, Event, Join, Keyed, Lot, Mode, Settings};

use super::super::beside::grouped;
use super::super::node::{Clock, ITEMS, Node, settings};
use super::super::server::Redis;
use super::Kind;

/// As many as may stand at the head of a line that is drawn; each gets a place of their own.
const CLASSED: u64 = 2_500;
/// So many may be drawn at an opening, and be longer about it than nobody.
const MANY: u64 = 1_000_000;

/// Those who came are drawn: a million of them, all of a long line, and a million with a full head.
pub(super) fn draws(waiting: u64, rounds: u64) -> Vec<Kind> {
    let many = MANY.min(waiting);
    let scene = |people: u64, classed: u64| -> Vec<f64> {
        (0..rounds.min(5)).map(|_| drawn(people, classed)).collect()
    };
    let classed = CLASSED.min(many / 10);
    vec![
        Kind::new(format!("the draw among {}", grouped(many)), scene(many, 0)),
        Kind::new(format!("the draw among {}", grouped(waiting)), scene(waiting, 0)),
        Kind::new(
            format!("the draw among {}, {} of them of a class", grouped(many), grouped(classed)),
            scene(many, classed),
        ),
    ]
}

/// What the exchange that draws takes, in microseconds.
fn drawn(people: u64, classed: u64) -> f64 {
    let (redis, clock) = (Redis::start(), Clock::new());
    let opens_ms = clock.moment().wall_ms + 60_000;
    let event =
        Event { opens_ms, prequeue_ms: 3_600_000, draw: true, closes_ms: None, every_ms: None };
    let class = Class { name: "presale".to_owned(), skip: 500, rank: 0 };
    let settings = Settings {
        mode: Mode::Auto,
        schedule: vec![event],
        classes: vec![class],
        join_limits: Vec::new(),
        ..settings()
    };
    let mut node = Node::open(&redis, Some(&clock), settings);
    node.join(people - classed);
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
    taken
}
