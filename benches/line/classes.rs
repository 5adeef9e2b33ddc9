//! Positions among class visitors, beside the same line without classes.
//!
//! Two lines of the same length, stirred the same way; in one of them 10,000 class visitors have joined among the others. Every order that
//! can be set is asked in turns with the line without, in the same round, so that both meet the same machine: ordinary visitors,
//! class visitors, and everybody as they stand in the line. What is found once a view, and what a list of the head costs, is told
//! beside.

use std::hint::black_box;

use anteroom::line::*;

use crate::figures::{Figures, Measured, median};
use crate::table::Spread;
use crate::{Ours, POSITIONS, positions, spread, stir, timed};

/// As many as the head of a line holds.
const CLASSED: u64 = 10_000;
/// At most so many times what a position costs without classes.
const BOUND: f64 = 2.0;

/// An order that can be set, and the view of a node that has just heard of it.
struct Order {
    name: &'static str,
    view: View,
    reply: Reply,
}

/// Some of those who wait.
struct Asked {
    name: &'static str,
    numbers: Vec<u64>,
}

/// A line of so many ordinary visitors, each order one after the other. A small run is not `judged`.
pub fn measure(size: u64, rounds: usize, judged: bool) -> Figures {
    let mut without = Ours::new(size);
    stir(&mut without, &[]);
    let (without, _) = read(&mut without);
    let mut ours = Ours::empty();
    let classed = join(&mut ours, size);
    stir(&mut ours, &classed);
    let orders: Vec<Order> = [
        ("skip", ClassOrder::Skip, 1_000),
        ("strict", ClassOrder::Strict, 1_000),
        ("skip, class_share 0.5", ClassOrder::Skip, 500),
        ("strict, class_share 0.5", ClassOrder::Strict, 500),
    ]
    .into_iter()
    .map(|(name, class_order, class_share)| {
        offer(&mut ours, |settings| {
            (settings.class_order, settings.class_share) = (class_order, class_share);
        });
        let (view, reply) = read(&mut ours);
        assert_eq!(view.counts().classed, CLASSED, "they wait");
        Order { name, view, reply }
    })
    .collect();

    let asked = spread(size, POSITIONS.min(size));
    let everybody = spread(size + CLASSED, POSITIONS.min(size));
    let ordinary = |number: &u64| classed.binary_search(number).is_err();
    let groups = [
        Asked {
            name: "an ordinary visitor",
            numbers: everybody.iter().copied().filter(ordinary).collect(),
        },
        Asked {
            name: "a class visitor",
            numbers: asked.iter().map(|nth| classed[(nth % CLASSED) as usize]).collect(),
        },
        Asked { name: "everybody", numbers: everybody },
    ];
    let mut plain = Vec::new();
    let mut times = vec![Vec::new(); orders.len() * groups.len()];
    for _ in 0..rounds {
        plain.push(positions(&without, &asked));
        let each = orders.iter().flat_map(|order| groups.iter().map(move |group| (order, group)));
        for (times, (order, group)) in times.iter_mut().zip(each) {
            times.push(positions(&order.view, &group.numbers));
        }
    }
    let mut figures = Figures::new(judged);
    let name = format!("a position, {size} waiting, without classes");
    figures.told(name, Measured::new(median(&plain), 3, "µs"));
    let mut times = times.iter();
    for order in &orders {
        for (group, times) in groups.iter().zip(&mut times) {
            let ratio = Measured::new(Spread::ratio(times, &plain).median, 2, "x");
            let name = format!("{}, {CLASSED} class visitors: {}", order.name, group.name);
            figures.at_most(name, ratio.noting(format!("{:.3} µs", median(times))), BOUND);
        }
        let first: Vec<f64> = (0..rounds).map(|_| first(order, &classed)).collect();
        let name = format!("{}: the first position of a view", order.name);
        figures.told(name, Measured::new(median(&first), 0, "µs"));
    }
    for order in &orders[..2] {
        let heard: Vec<f64> = (0..rounds).map(|_| heard(order)).collect();
        let name = format!("{}: a list of the head, taken in", order.name);
        figures.told(name, Measured::new(median(&heard), 0, "µs"));
    }
    figures
}

/// Newcomers, those of ten classes among the others: a run of each in turns. Who is of a class.
fn join(ours: &mut Ours, size: u64) -> Vec<u64> {
    offer(ours, |settings| {
        let class =
            |nth: u64| Class { name: format!("class-{nth}"), skip: 100 * nth + 50, rank: nth % 4 };
        settings.classes = (0..10).map(class).collect();
    });
    let keyed = |nth: u64| {
        Join::Keyed(Keyed { class: Some(format!("class-{}", nth % 10)), ..Keyed::default() })
    };
    const RUN: u64 = 50;
    let mut classed = Vec::new();
    for _ in 0..CLASSED / RUN {
        ours.send(|batch| batch.joins = vec![Join::Plain((size * RUN / CLASSED) as u32)]);
        let issued = ours.view.counts().issued;
        ours.send(|batch| batch.joins = (0..RUN).map(keyed).collect());
        classed.extend(issued + 1..=issued + RUN);
    }
    classed
}

/// Other settings from now on.
fn offer(ours: &mut Ours, edit: impl FnOnce(&mut Settings)) {
    let mut settings = ours.view.settings().cloned().unwrap_or_default();
    edit(&mut settings);
    let version = ours.sequence + 1; // above all before
    ours.send(|batch| batch.offer = Some(Offer { version, settings }));
}

/// What a node knows that has just come, and what it was told.
fn read(ours: &mut Ours) -> (View, Reply) {
    let mut view = View::default();
    let batch = view.greeting(u128::from(ours.sequence) << 64, 1);
    let moment = Moment { wall_ms: ours.wall_ms, run: 1 };
    let reply = ours.line.apply(&batch, moment).expect("a batch within bounds");
    view.absorb(&reply);
    (view, reply)
}

/// The first position that a view is asked for, of a class visitor.
fn first(order: &Order, classed: &[u64]) -> f64 {
    let mut view = View::default();
    view.absorb(&order.reply);
    timed(|| _ = black_box(view.position(classed[classed.len() / 2])))
}

/// What a list of the head costs a node that hears of it: once a second, at most.
fn heard(order: &Order) -> f64 {
    let mut reply = order.reply.clone();
    reply.update = Update { express: reply.update.express.take(), ..Update::default() };
    let mut view = order.view.clone();
    timed(|| view.absorb(black_box(&reply)))
}
