//! What people cost in bytes: waiting, inside, known by a device.

use anteroom::line::{Batch, Claimed, End, Ending, Join, Joined, Key, Keyed, Settings};

use super::Extent;
use super::beside::grouped;
use super::figures::{Figures, Measured};
use super::node::{Clock, ITEMS, Node, default_limits, settings};
use super::server::Redis;

/// Ten million people in ten megabytes.
const LINE_MB: f64 = 10.0;
/// Somebody inside, or known by a device.
const EACH: f64 = 150.0;
/// The shortest there is: half of it is a period.
const HEARTBEAT_MS: u64 = 5_000;

/// All of it.
pub fn measure(extent: &Extent, figures: &mut Figures) {
    waiting(extent, figures);
    for stride in [1, 2, 4, 8] {
        inside(extent, stride, figures);
    }
    devices(extent, figures);
}

/// A line as it is after a while: everybody was heard of in each of three periods, and somebody at its end has left, so that
/// all five bitmaps are as long as they get.
fn waiting(extent: &Extent, figures: &mut Figures) {
    let people = extent.waiting();
    let (redis, clock) = (Redis::start(), Clock::new());
    let lively = Settings { heartbeat_timeout_ms: HEARTBEAT_MS, ..settings() };
    let mut node = Node::open(&redis, Some(&clock), lively);
    let before = redis.bytes();
    let named = |when: &str| format!("{} waiting, {when}", grouped(people));
    let more = |bytes: f64| Measured::new((bytes - before) / 1e6, 2, "MB");
    node.join(people);
    figures.at_most(named("just joined"), more(redis.bytes()), LINE_MB);
    node.send(Batch { leaves: vec![people], ..Batch::default() });
    for _ in 0..4 {
        node.hear_all(people - 1);
        node.idle(&clock, 2, HEARTBEAT_MS / 4);
    }
    assert_eq!(node.view.counts().waiting, people - 1, "everybody was heard of");
    let name = named("after four heartbeat periods");
    figures.at_most(name, more(redis.bytes()), LINE_MB);
    // What Redis needs while it answers: the question, what the script works with, the answer. Gone with it, and no part of
    // the line, so it is told, not judged; the more nodes wait for an answer, the more of them there may be.
    let name = named("at the worst moment of an exchange (`used_memory_peak`)");
    figures.told(name, more(redis.most_bytes()));
}

/// Every so-manieth number is inside.
fn inside(extent: &Extent, stride: u64, figures: &mut Figures) {
    let people = extent.people;
    let redis = Redis::start();
    let mut node = Node::open(&redis, None, settings());
    node.join(people * stride + 1);
    // The bits of places are of the line, whoever is inside: with somebody who leaves at its end there are all of them.
    node.send(Batch { leaves: vec![people * stride + 1], ..Batch::default() });
    node.release(people * stride);
    let before = redis.bytes();
    let each = |count: u64| (redis.bytes() - before) / count as f64;
    let mut worst = (0.0, 0);
    let numbers: Vec<u64> = (1..=people).map(|nth| nth * stride).collect();
    for (nth, claims) in numbers.chunks(ITEMS as usize).enumerate() {
        node.send(Batch { claims: claims.to_vec(), ..Batch::default() });
        assert!(node.last.claims.iter().all(|claimed| matches!(claimed, Claimed::Inside(_))));
        let count = nth as u64 * ITEMS + claims.len() as u64;
        if count >= people / 10 && each(count) > worst.0 {
            worst = (each(count), count);
        }
    }
    let which = match stride {
        1 => "numbers one after the other".to_owned(),
        2 => "every 2nd number".to_owned(),
        _ => format!("every {stride}th number"),
    };
    let name = format!("somebody inside, {which}");
    let measured = Measured::new(each(people), 0, "bytes");
    let note = format!("{:.0} at the worst size from {} on", worst.0, grouped(people / 10));
    figures.at_most(&name, measured.noting(note), EACH);
    for ended in numbers.chunks(ITEMS as usize) {
        let end = |number: &u64| End { number: *number, why: Ending::Completed };
        node.send(Batch { ends: ended.iter().map(end).collect(), ..Batch::default() });
    }
    if stride == 1 {
        let name = "somebody who was inside, for twice `session_idle`";
        figures.told(name, Measured::new(each(people), 0, "bytes"));
    }
}

/// The nth newcomer of a kind.
type Make = fn(u64) -> Keyed;

/// Newcomers whom the line is to find again, each from an address of their own, as the API sends them.
fn devices(extent: &Extent, figures: &mut Figures) {
    let people = extent.people;
    // The bound is of a device. Somebody who names a user besides is known by that, too, and so is an address of which
    // the nodes have heard half of what it may do.
    let makes: [(&str, bool, Make); 3] = [
        ("a device id", true, device),
        ("a device id and a user id", false, with_user),
        ("a device id, of an address that is counted", false, counted),
    ];
    for (who, judged, keyed) in makes {
        for (join_limits, how) in [
            (Vec::new(), "without join limits"),
            (default_limits(), "with the default join limits"),
        ] {
            let redis = Redis::start();
            let mut node = Node::open(&redis, None, Settings { join_limits, ..settings() });
            let before = redis.bytes();
            for first in (0..people).step_by(ITEMS as usize) {
                let joins = first..people.min(first + ITEMS);
                let joins = joins.map(|nth| Join::Keyed(keyed(nth))).collect();
                node.send(Batch { joins, ..Batch::default() });
                let given = |joined: &Joined| matches!(joined, Joined::Given { count: 1, .. });
                assert!(node.last.joins.iter().all(given));
            }
            let each = (redis.bytes() - before) / people as f64;
            let name = format!("somebody waiting with {who}, {how}");
            let measured = Measured::new(each, 0, "bytes");
            match judged {
                true => figures.at_most(name, measured, EACH),
                false => figures.told(name, measured),
            }
        }
    }
}

/// A newcomer by the API, as `queue/join` tells the line of one: where they are proves a repeated join to be theirs, and is
/// counted on the node.
pub fn device(nth: u64) -> Keyed {
    let device = Some(key(1, nth));
    Keyed { once: device, device, proof: Some(key(2, nth)), ..Keyed::default() }
}

/// The same as a user.
pub fn with_user(nth: u64) -> Keyed {
    Keyed { user: Some(key(3, nth)), ..device(nth) }
}

/// A newcomer by the API from an address that has joined so often that the line counts it, too.
pub fn counted(nth: u64) -> Keyed {
    Keyed { address: Some(key(2, nth)), ..device(nth) }
}

/// A keyed hash, as far as anybody can tell: no two alike, and no order in them.
pub fn key(kind: u64, nth: u64) -> Key {
    let mixed = |seed: u64| {
        let mut value = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        value ^ (value >> 31)
    };
    let (high, low) =
        (mixed(nth * 4 + kind), mixed(nth.wrapping_mul(0x2545_F491_4F6C_DD1D) + kind));
    (u128::from(high) << 64 | u128::from(low)).to_be_bytes()
}
