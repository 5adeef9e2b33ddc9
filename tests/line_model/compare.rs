//! The line against its model, after an exchange.

use std::collections::HashMap;
use std::fmt::Debug;

use anteroom::line::{Counts, Joined, Known, Number, Reason, Refusal, Reply, Standing, View};

use super::rng::Rng;
use super::subject::Subject;
use crate::model::{Kind, Model, Visitor, Waiter, Where};

/// Rooms of up to so many numbers are compared number by number, larger ones by a sample.
const ALL: usize = 1_500;
/// Where there are classes, the positions of those who are away are asked for in rooms of up to so many.
const FEW: usize = 150;

fn same<T: PartialEq + Debug>(what: &str, expected: &T, got: &T) -> Result<(), String> {
    if expected == got {
        return Ok(());
    }
    Err(format!("{what}:\n  model {expected:?}\n  line  {got:?}"))
}

/// Whatever a reply says but for estimates and the view.
pub(super) fn replies(expected: &Reply, got: &Reply) -> Result<(), String> {
    same("taken", &expected.taken, &got.taken)?;
    same("offered", &expected.offered, &got.offered)?;
    same("leaves", &expected.leaves, &got.leaves)?;
    same("ends", &expected.ends, &got.ends)?;
    same("spends", &expected.spends, &got.spends)?;
    same("renewals", &expected.renewals, &got.renewals)?;
    same("returns", &expected.returns, &got.returns)?;
    same("vouched", &expected.vouched, &got.vouched)?;
    same("claims", &expected.claims, &got.claims)?;
    same("commands", &expected.commands, &got.commands)?;
    let joins =
        |reply: &Reply| reply.joins.iter().map(without_retry).collect::<Result<Vec<_>, _>>();
    same("joins", &joins(expected)?, &joins(got)?)?;
    same("counts", &facts(&expected.counts), &facts(&got.counts))
}

/// When a refused visitor may come again is a guess; that it is never "now" is not.
fn without_retry(joined: &Joined) -> Result<Joined, String> {
    match *joined {
        Joined::Refused(Refusal::Limited { retry_ms: 0, .. }) => {
            Err("too many joins, yet come again at once".into())
        }
        Joined::Refused(Refusal::Limited { subject, .. }) => {
            Ok(Joined::Refused(Refusal::Limited { subject, retry_ms: 1 }))
        }
        other => Ok(other),
    }
}

/// The counters that are facts about visitors.
fn facts(counts: &Counts) -> Counts {
    let counts = Counts { turns_1m: 0, turns_10m: 0, turns_since_ms: 0, ..*counts };
    Counts { last_entry_ms: 0, letters: 0, letters_lost: 0, ..counts }
}

/// Where every number stands, or in a large room every number about which there is something to say.
pub(super) fn standings(model: &Model, line: &Subject) -> Result<(), String> {
    for number in interesting(model) {
        let (expected, got) = (model.standing(number), line.standing(number));
        if expected != got {
            return Err(format!("where {number} stands:\n  model {expected:?}\n  line  {got:?}"));
        }
    }
    Ok(())
}

fn interesting(model: &Model) -> Vec<Number> {
    let issued = model.counts.issued;
    if issued <= ALL as u64 {
        return (0..=issued + 1).collect();
    }
    let counts = &model.counts;
    let mut numbers = vec![0, 1, issued / 2];
    for border in [model.base, counts.lapsed, counts.released, issued] {
        numbers.extend([
            border.saturating_sub(1),
            border,
            border + 1,
            border + 63,
            border + 64,
            border + 65,
        ]);
    }
    if model.visitors.len() <= ALL {
        numbers.extend(model.visitors.iter().map(|visitor| visitor.number));
    } else {
        let mut rng = Rng::new(counts.clock_ms ^ issued);
        let special = model.visitors.iter().filter(|visitor| !matches!(visitor.found, Where::Line));
        numbers.extend(special.map(|visitor| visitor.number).take(200));
        let index = |rng: &mut Rng| rng.below(model.visitors.len() as u64) as usize;
        numbers.extend((0..200).map(|_| model.visitors[index(&mut rng)].number));
        numbers.extend((0..30).map(|_| rng.range(1, issued)));
    }
    numbers
}

/// A view that was just brought up to date, against the list.
pub(super) fn view(model: &Model, view: &View) -> Result<(), String> {
    let counts = model.counts();
    same("the view's waiting", &counts.waiting, &view.waiting())?;
    let over =
        |number| matches!(model.standing(number), Standing::Completed | Standing::Expired(_));
    let here = view.roster().names.iter().filter(|one| !over(one.number));
    let names: Vec<_> =
        here.map(|one| (one.number, one.name.clone(), one.inside.then_some(one.slot))).collect();
    same("the roster", &model.roster(), &names)?;
    let order = Order::of(model);
    let queue: Vec<Number> = view.queue(1, 50).into_iter().map(|(_, number)| number).collect();
    let first: Vec<Number> = order.order.iter().map(|waiter| waiter.number).take(50).collect();
    same("who stands where", &first, &queue)?;
    for number in interesting(model).into_iter().filter(|number| is_own(view, *number)) {
        let (standing, seen) = (model.standing(number), view.standing(number));
        if !as_far_as_known(model, number, standing, seen) {
            return Err(format!(
                "where {number} stands:\n  model {standing:?}\n  whole view {seen:?}"
            ));
        }
        if order.is_long(number) {
            continue;
        }
        same(
            &format!("position of {number} ({standing:?})"),
            &order.position(number),
            &view.position(number),
        )?;
    }
    Ok(())
}

/// Whether a view means the same by a number on a ticket as the line does.
fn is_own(view: &View, number: Number) -> bool {
    view.drawn().number(number) == number
}

/// A line that settles asks for what a node knows: hearing so must not make the node forget any of it.
pub(super) fn kept(before: &Known, after: &Known) -> Result<(), String> {
    same("what a node knows while the line settles", before, after)
}

/// The view of a node that hears every answer: settings, endings, and after a sweep every position.
pub(super) fn kept_up(model: &Model, view: &View, reply: &Reply) -> Result<(), String> {
    same("the settings in a view", &model.settings.as_ref(), &view.settings())?;
    // What the line keeps for longer only because it forgets a thousand at a time, a view may forget.
    let kept = model.settings.as_ref().map_or(0, |settings| 2 * settings.session_ms());
    let young = |at: u64| at + kept > model.counts.clock_ms;
    let ended = model
        .visitors
        .iter()
        .filter(|visitor| matches!(visitor.found, Where::Ended { at, .. } if young(at)));
    if reply.update.ended.len() < 1_000 {
        for visitor in ended {
            let (number, standing) = (visitor.number, model.standing_of(visitor));
            same(&format!("how {number} ended, in a view"), &standing, &view.standing(number))?;
        }
    }
    let report = view.report();
    let head =
        |found: &Where| !matches!(found, Where::Line | Where::Inside(_) | Where::Ended { .. });
    let nobody_ahead =
        report.express.is_empty() && report.called.is_empty() && report.classes.is_empty();
    if reply.update.bits.is_some()
        && nobody_ahead
        && !model.visitors.iter().any(|visitor| head(&visitor.found))
    {
        let order = Order::of(model);
        for number in interesting(model).into_iter().filter(|number| is_own(view, *number)) {
            same(
                &format!("position of {number} after a sweep"),
                &order.position(number),
                &view.position(number),
            )?;
        }
    }
    Ok(())
}

/// A view has no list of those inside, bits only from `lapsed` on, and the last endings.
fn as_far_as_known(model: &Model, number: Number, standing: Standing, seen: Standing) -> bool {
    let gone = |standing| matches!(standing, Standing::Expired(Reason::Used | Reason::Passed));
    let ended =
        |standing| matches!(standing, Standing::Completed | Standing::Expired(Reason::Ended(_)));
    let below = number <= model.counts.lapsed;
    match standing {
        Standing::Active => gone(seen),
        _ if ended(standing) => seen == standing || gone(seen),
        _ if below && gone(standing) => gone(seen),
        _ => seen == standing,
    }
}

/// Those who wait, in the order of their turns, and where each is in it.
struct Order<'a> {
    model: &'a Model,
    order: Vec<Waiter>,
    at: HashMap<Number, u64>,
    late: Vec<(Number, Number)>,
    /// Somebody of a class waits.
    classed: bool,
}

impl<'a> Order<'a> {
    fn of(model: &'a Model) -> Order<'a> {
        let order = match &model.settings {
            Some(_) => model.in_order(u64::MAX, true),
            None => Vec::new(),
        };
        let order: Vec<Waiter> = order.into_iter().map(|(waiter, _)| waiter).collect();
        let at = (1..).zip(&order).map(|(nth, waiter)| (waiter.number, nth)).collect();
        let late = |visitor: &Visitor| match visitor.found {
            Where::Express { place, .. } => Some((place, visitor.number)),
            _ => None,
        };
        let late = model.visitors.iter().filter_map(late).collect();
        let classed = order.iter().any(|waiter| matches!(waiter.kind, Kind::Classed { .. }));
        Order { model, order, at, late, classed }
    }

    /// Whether it would take too long to find out: the whole line is put in order for everybody who is away.
    fn is_long(&self, number: Number) -> bool {
        self.classed
            && self.model.visitors.len() > FEW
            && self.model.standing(number) == Standing::Away
    }

    /// How many are present ahead, and one; of somebody who is away, where they would be.
    fn position(&self, number: Number) -> Option<u64> {
        let model = self.model;
        match model.standing(number) {
            Standing::Waiting if model.settings.is_some() => return self.at.get(&number).copied(),
            Standing::Waiting | Standing::Away => {}
            _ => return None,
        }
        let late = |place: Number| {
            self.late.iter().filter(|other| **other < (place, number)).count() as u64 + 1
        };
        match model.find(number).map_or(&Where::Line, |visitor| &visitor.found) {
            Where::Express { place, .. } | Where::Strayed { place } => Some(late(*place)),
            Where::ClassedAway { place, rank } => {
                let mut back = model.clone();
                let at = back.visitors.iter().position(|visitor| visitor.number == number)?;
                back.visitors[at].found = Where::Classed { place: *place, rank: *rank, heard: 0 };
                Order::of(&back).position(number)
            }
            _ if number <= model.counts.released => Some(late(model.counts.released)),
            _ if self.classed => {
                let mut back = model.clone();
                match back.visitors.binary_search_by_key(&number, |visitor| visitor.number) {
                    Ok(at) => back.visitors[at].live = true,
                    Err(at) => {
                        let visitor = Visitor { live: true, ..Visitor::nobody(number) };
                        back.visitors.insert(at, visitor);
                    }
                }
                Order::of(&back).position(number)
            }
            _ => {
                let behind =
                    |waiter: &Waiter| waiter.kind == Kind::Ordinary && waiter.number > number;
                let first = self.order.iter().position(behind).unwrap_or(self.order.len());
                Some(first as u64 + 1)
            }
        }
    }
}
