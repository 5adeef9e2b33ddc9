//! The line in Redis does what the line does: the same runs, with every batch applied to both.

use super::generate::Size;
use super::mirror::Redis;
use super::scenarios;
use super::subject::Subject;
use super::{HUGE, MEDIUM, SMALL, TINY, judge};

fn mirrored() -> Subject {
    Subject::mirrored(&Redis::start())
}

#[test]
fn tiny_rooms() {
    judge("redis::tiny_rooms", mirrored(), (Size::Tiny, false), (300, 150), TINY);
}

#[test]
fn small_rooms() {
    judge("redis::small_rooms", mirrored(), (Size::Small, false), (100, 150), SMALL);
}

#[test]
fn medium_rooms() {
    judge("redis::medium_rooms", mirrored(), (Size::Medium, false), (40, 100), MEDIUM);
}

#[test]
fn huge_rooms() {
    judge("redis::huge_rooms", mirrored(), (Size::Huge, false), (10, 60), HUGE);
}

#[test]
fn hundreds_at_the_head() {
    let subject = mirrored();
    scenarios::all().iter().for_each(|plan| _ = scenarios::judged(plan, &subject));
}

#[test]
fn rooms_that_lose_their_memory() {
    let (name, size) = ("redis::rooms_that_lose_their_memory", Size::Small);
    // So few runs reach the rest too seldom; those without Redis must.
    let rules = ["losses", "settled", "a report was merged"];
    judge(name, mirrored(), (size, true), (60, 100), &rules);
}
