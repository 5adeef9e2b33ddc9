//! What goes wrong, and what operators change: when.

use std::collections::VecDeque;

use super::{END_MS, turns_per_second};
use crate::simulate::random::{Chance, What};
use crate::simulate::{Faults, Plan};

/// What happens to the machines, and what operators do.
#[derive(Clone, Copy, Debug)]
pub(super) enum Break {
    Kill(u64),
    Restart(usize),
    Outage,
    Loss,
    Change(usize),
}

/// What goes wrong when, spread over as long as everybody would take.
pub(super) fn breaks(plan: &Plan) -> VecDeque<(u32, Break)> {
    let crowd = &plan.crowd;
    let by_rate = turns_per_second(&plan.settings);
    let by_seats = plan
        .settings
        .max_active
        .map_or(f64::INFINITY, |seats| seats as f64 * 1_000.0 / crowd.stay_ms.max(1_000) as f64);
    let rate = if by_rate > 0.0 { by_rate.min(by_seats) } else { by_seats };
    let people = f64::from(crowd.visitors) * (1.0 - crowd.bots);
    let span_ms = (people / rate * 1_000.0).max(crowd.arrive_over_ms as f64).max(10_000.0);
    let chance = Chance::new(plan.seed);
    let Faults { nodes, outages, losses } = plan.faults;
    let mut salt = 0;
    let mut some = |count: u32, what: fn(u64) -> Break| {
        let times = (0..count).map(|nth| {
            salt += 1;
            let part = (f64::from(nth) + chance.unit(What::Fault, salt)) / f64::from(count);
            let at_ms = (span_ms * (0.05 + 0.85 * part)).min(f64::from(END_MS)) as u32;
            (at_ms, what(chance.number(What::Fault, salt)))
        });
        times.collect::<Vec<_>>()
    };
    let mut all = some(nodes, Break::Kill);
    all.extend(some(outages, |_| Break::Outage));
    all.extend(some(losses, |_| Break::Loss));
    let changes = plan.changes.iter().enumerate();
    all.extend(
        changes.map(|(nth, change)| (change.at_ms.min(END_MS.into()) as u32, Break::Change(nth))),
    );
    all.sort_by_key(|(at_ms, _)| *at_ms);
    all.into()
}
