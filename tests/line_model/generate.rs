//! From a seed to a plan. Each seed leaves some operations out altogether: what hides behind the
//! noise of all the others shows when they are silent.

use anteroom::line::{Command, Ending};

use super::changes::{change, override_, schedule, settings};
use super::rng::Rng;
use super::steps::{
    Bad, Change, Faithful, Fate, Item, JoinKey, Ordered, Plan, Post, Room, Step, Who,
};

/// How many come at once.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Size {
    Tiny,
    Small,
    Medium,
    Huge,
}

/// Kinds of items, in the order of [`Habits::items`].
const ITEMS: usize = 20;

/// What a seed does, and how often.
struct Habits {
    size: Size,
    items: [u64; ITEMS],
    outages: bool,
    jumps: bool,
    again: bool,
    lost: bool,
    losses: u64,
    all_speak: bool,
    restarts: bool,
    /// Somebody is silent for more than an hour.
    hours: bool,
    pace_ms: u64,
    /// Events are written down, from this moment on.
    scheduled: Option<u64>,
}

/// A plan of about so many steps.
pub(super) fn plan(seed: u64, size: Size, losses: bool, steps: usize) -> Plan {
    let mut rng = Rng::new(seed);
    let habits = habits(&mut rng, size, losses);
    let wall_ms = if rng.one_in(8) {
        rng.range(1_000, 20_000)
    } else {
        1_700_000_000_000 + rng.below(1_000_000_000)
    };
    let mut habits = habits;
    habits.scheduled = (rng.one_in(3) && (!losses || rng.one_in(3))).then_some(wall_ms);
    let mut settings = settings(&mut rng, size);
    if habits.scheduled.is_some() {
        settings.schedule = schedule(&mut rng, wall_ms);
    }
    let room = Room {
        nodes: rng.pick(&[1, 1, 2, 2, 3, 4]),
        founded: rng.below(4) > 0,
        wall_ms,
        settings,
        tickets_prove: !rng.one_in(3),
        faithful: rng.pick(&[Faithful::Nobody, Faithful::Eager, Faithful::Lazy]),
    };
    let steps = (0..steps).map(|_| step(&mut rng, &habits, room.nodes)).collect();
    Plan { seed, room, steps }
}

fn habits(rng: &mut Rng, size: Size, losses: bool) -> Habits {
    //                 join key mark mine pres leave end renew ret vouch claim cmd offer old spend nonsense order post hang sent back
    let mut items =
        [30, 12, 14, 10, 8, 8, 6, 10, 12, 5, 30, 6, 6, 1, 8, u64::from(!losses), 8, 4, 6, 3];
    for weight in &mut items[1..] {
        if rng.one_in(4) {
            *weight = 0;
        } else if rng.one_in(6) {
            *weight *= 4;
        }
    }
    Habits {
        size,
        items,
        outages: rng.one_in(2),
        jumps: rng.one_in(3),
        again: rng.one_in(2),
        lost: rng.one_in(2),
        losses: if losses { rng.range(12, 60) } else { 0 },
        all_speak: rng.one_in(2),
        restarts: rng.one_in(3),
        hours: rng.one_in(40) && matches!(size, Size::Tiny | Size::Small) && !losses,
        pace_ms: rng.pick(&[100, 500, 1_000, 2_000, 2_000]),
        scheduled: None,
    }
}

fn step(rng: &mut Rng, habits: &Habits, nodes: usize) -> Step {
    let node = rng.below(nodes as u64) as usize;
    let after_ms = after(rng, habits);
    if habits.losses > 0 {
        if rng.one_in(12) {
            return Step::Save;
        }
        if rng.one_in(habits.losses) {
            let back = if rng.one_in(3) { None } else { Some(rng.below(3) as usize) };
            return Step::Lose { back, all: habits.all_speak };
        }
    }
    if habits.restarts && rng.one_in(25) {
        return Step::Restart { node };
    }
    if habits.again && rng.one_in(10) {
        let back = if rng.one_in(3) { rng.range(1, 3) as usize } else { 0 };
        return Step::Again { node, after_ms, back, heard: !rng.one_in(4) };
    }
    match rng.below(40) {
        0 if habits.size != Size::Huge => {
            let times = if habits.hours && rng.one_in(4) { 1_900 } else { rng.range(2, 12) as u32 };
            return Step::Idle { node, after_ms: 2_000, times };
        }
        1..=2 => return Step::Look { node, after_ms },
        3 if rng.one_in(3) => {
            let how = rng.pick(&[Bad::NoSequence, Bad::NoRun, Bad::Items, Bad::Bulk]);
            return Step::Bad { node, how };
        }
        _ => {}
    }
    let fate = match rng.below(12) {
        0 if habits.lost => Fate::AnswerLost,
        1 if habits.lost => Fate::NeverSent,
        _ => Fate::Answered,
    };
    let most = if rng.one_in(4) { 8 } else { 3 };
    let items = (0..rng.below(most + 1)).map(|_| item(rng, habits)).collect();
    Step::Exchange { node, after_ms, items, fate }
}

fn after(rng: &mut Rng, habits: &Habits) -> i64 {
    match rng.below(60) {
        0 if habits.jumps => -(rng.pick(&[1, 900, 5_000, 60_000, 3_600_000]) as i64),
        1 if habits.jumps => rng.pick(&[60_000, 3_600_000, 40 * 86_400_000]),
        2..=4 if habits.outages => rng.range(2_001, 120_000) as i64,
        5..=15 => rng.below(20) as i64,
        16..=30 => rng.range(0, habits.pace_ms) as i64,
        _ => habits.pace_ms as i64,
    }
}

fn item(rng: &mut Rng, habits: &Habits) -> Item {
    let mut drawn = rng.below(habits.items.iter().sum());
    let mut kind = 0;
    while drawn >= habits.items[kind] {
        drawn -= habits.items[kind];
        kind += 1;
    }
    let size = habits.size;
    match kind {
        0 => Item::Join(join_count(rng, size)),
        1 => Item::JoinKey(join_key(rng)),
        2 => Item::Mark { who: who(rng), count: count(rng, size) },
        3 => Item::MarkMine,
        4 => {
            let who = if rng.one_in(4) { who(rng) } else { Who::Returned(rng.below(4)) };
            Item::Present { who, count: count(rng, size) }
        }
        5 => Item::Leave { who: who(rng), count: rng.pick(&[1, 1, 1, 2, 5, 20]) },
        6 => {
            let why = [
                Ending::Completed,
                Ending::Completed,
                Ending::Revoked,
                Ending::Left,
                Ending::Idle,
                Ending::Capped,
                Ending::Requeued,
                Ending::Requeued,
            ];
            Item::End { who: inside_or(rng), why: rng.pick(&why) }
        }
        7 => Item::Renew {
            who: inside_or(rng),
            ago_ms: rng.pick(&[0, 500, 3_000, 20_000]),
            slot: rng.pick(&[0, 1, 1, 2, 3, 200]),
            extend: rng.one_in(4),
        },
        8 => Item::Return { who: who(rng), count: count(rng, size) },
        9 => Item::Vouch { who: who(rng), count: count(rng, size) },
        10 => {
            let who =
                if rng.one_in(2) { Who::Frontier(rng.below(4) as i64 - 1) } else { inside_or(rng) };
            Item::Claim { who, count: count(rng, size) }
        }
        11 => Item::Command(match rng.below(12) {
            0 => Command::Reset,
            1..=3 => Command::Pause,
            4..=6 => Command::Resume,
            _ => Command::Release(rng.pick(&[0, 1, 1, 2, 5, 100, u64::MAX])),
        }),
        12 => {
            let version = rng.pick(&[1, 1, 1, 1, 0, -1]);
            let change = match habits.scheduled {
                Some(start) if rng.one_in(6) => Change::Schedule(schedule(rng, start)),
                _ => change(rng, size),
            };
            Item::Offer { change, version }
        }
        13 => Item::OldEpoch,
        14 => Item::Spend { who: inside_or(rng), count: count(rng, size) },
        15 => Item::Nonsense,
        16 => Item::Order { what: ordered(rng, size), once: once(rng) },
        17 => Item::Post(post(rng)),
        18 => Item::HangUp { who: inside_or(rng), count: rng.pick(&[1, 1, 2, 5]) },
        _ => Item::SentBack { who: inside_or(rng) },
    }
}

fn ordered(rng: &mut Rng, size: Size) -> Ordered {
    match rng.below(11) {
        10 => Ordered::Plain(Command::RevokeInvite([rng.below(4) as u8; 16])),
        0 => Ordered::Plain(Command::Repair),
        1 => Ordered::Plain(rng.pick(&[Command::Pause, Command::Resume, Command::Resume])),
        2..=3 => Ordered::Plain(Command::Release(rng.pick(&[1, 3, 2_000]))),
        4 => match rng.below(4) {
            0 => Ordered::Complete(inside_or(rng)),
            1 => Ordered::Extend(inside_or(rng)),
            2 => Ordered::Requeue(inside_or(rng)),
            _ => Ordered::Revoke(inside_or(rng)),
        },
        _ => Ordered::Set((0..rng.range(1, 2)).map(|_| override_(rng, size)).collect()),
    }
}

fn once(rng: &mut Rng) -> Option<(u8, u8)> {
    rng.one_in(2).then(|| (rng.below(6) as u8, if rng.one_in(4) { 1 } else { 0 }))
}

fn post(rng: &mut Rng) -> Post {
    Post {
        wants: rng.pick(&[0, 1, 3, 100]),
        sent: rng.range(1, 40),
        tagged: rng.below(4) as u32,
        figures: rng.one_in(2),
        about: rng.one_in(2).then(|| rng.below(3) as u8),
    }
}

fn join_count(rng: &mut Rng, size: Size) -> u32 {
    let most = match size {
        Size::Tiny => 2,
        Size::Small => rng.pick(&[1, 5, 20]),
        Size::Medium => rng.pick(&[5, 200, 2_500]),
        Size::Huge => rng.pick(&[1, 1_000, 100_000, 100_000]),
    };
    if rng.one_in(2) { most } else { rng.range(1, u64::from(most)) as u32 }
}

fn count(rng: &mut Rng, size: Size) -> u64 {
    match size {
        Size::Tiny => rng.range(1, 2),
        Size::Small => rng.pick(&[1, 1, 3, 10]),
        Size::Medium | Size::Huge => rng.pick(&[1, 5, 40, 120, 600, 900]),
    }
}

fn join_key(rng: &mut Rng) -> JoinKey {
    let few = |rng: &mut Rng| (rng.below(3) > 0).then(|| rng.below(4) as u8);
    JoinKey {
        once: (rng.below(5) > 0).then(|| rng.below(6) as u8),
        by_device: rng.below(3) > 0,
        idempotency: few(rng),
        proof: few(rng),
        address: few(rng),
        user: few(rng),
        name: rng.one_in(2).then(|| rng.below(8) as u8),
        class: (rng.below(3) > 0).then(|| rng.below(9) as u8 / 2),
        invite: rng.one_in(2).then(|| {
            let good_for = rng.pick(&[60_000, 60_000, 60_000, 86_400_000, 0, 40 * 86_400_000]);
            (rng.below(4) as u8, rng.pick(&[0, 1, 1, 2]), good_for)
        }),
        over: rng.one_in(4),
    }
}

fn who(rng: &mut Rng) -> Who {
    match rng.below(12) {
        0..=1 => Who::Mine(rng.below(12)),
        2 => Who::Returned(rng.below(4)),
        3..=4 => Who::Anyones(rng.below(30)),
        5 => Who::Entered(rng.below(4)),
        6..=7 => Who::Frontier(rng.below(9) as i64 - 4),
        8 => Who::Lapsed(rng.below(7) as i64 - 3),
        9..=10 => Who::Share(rng.below(1_001)),
        _ => Who::Beyond(rng.below(3)),
    }
}

fn inside_or(rng: &mut Rng) -> Who {
    if rng.one_in(3) { who(rng) } else { Who::Entered(rng.below(5)) }
}
