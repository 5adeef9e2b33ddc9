//! What only the script could do wrong: bounds that no random run reaches, numbers that Lua can't hold, keys
//! that somebody else left, a server that is short of memory. Every exchange is compared with the line's.

use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use anteroom::line::*;
use anteroom::store::StoreError;
use anteroom::store::redis::{script, wire};
use redis::{Value, cmd};

use super::mirror::{Mirror, Redis};
use super::subject::Subject;

const START: Moment = Moment { wall_ms: 1_700_000_000_000, run: 1 };
const README: &str = include_str!("../../lua/README.md");

/// A room with a line in memory and in Redis, and one node that talks to it.
struct Room {
    redis: Rc<Redis>,
    subject: Subject,
    now: Moment,
    sequence: u64,
    view: View,
}

impl Room {
    /// One that nobody knows.
    fn unknown() -> Room {
        let redis = Redis::start();
        let (subject, view) = (Subject::mirrored(&redis), View::default());
        Room { redis, subject, now: START, sequence: 0, view }
    }

    /// One known to be new, with settings.
    fn new(settings: Settings) -> Room {
        let mut room = Room::unknown();
        room.subject = room.subject.founded(START);
        assert_eq!(room.offer(settings).taken, Taken::Applied);
        room
    }

    fn batch(&self) -> Batch {
        self.view.greeting(7, self.sequence + 1)
    }

    fn with(&mut self, edit: impl FnOnce(&mut Batch)) -> Reply {
        let mut batch = self.batch();
        edit(&mut batch);
        self.sequence += 1;
        let reply = self.subject.apply(&batch, self.now).expect("a batch within bounds");
        self.view.absorb(&reply);
        reply
    }

    fn offer(&mut self, settings: Settings) -> Reply {
        self.with(|batch| batch.offer = Some(Offer { version: 1, settings }))
    }

    fn mirror(&self) -> &Mirror {
        self.subject.mirror().expect("it is in Redis")
    }

    fn length(&self, name: &str) -> u64 {
        self.redis.ask(cmd("STRLEN").arg(self.mirror().key(name)))
    }
}

/// Nobody enters but by hand, nobody is late, anybody may wait.
fn hold() -> Settings {
    const DAY_MS: u64 = 86_400_000;
    Settings {
        mode: Mode::Hold,
        max_waiting: None,
        heartbeat_timeout_ms: DAY_MS,
        claim_window_ms: DAY_MS,
        ..Settings::default()
    }
}

#[test]
fn the_worked_examples_of_the_readme() {
    let mut room = Room::new(hold());
    room.with(|batch| batch.joins = vec![Join::Plain(12)]);
    room.with(|batch| batch.commands = vec![Command::Release(2).into()]);
    room.with(|batch| (batch.claims, batch.leaves) = (vec![1, 2], vec![5]));
    for name in ["live", "used"] {
        let bits: Vec<u8> = room.redis.ask(cmd("GET").arg(room.mirror().key(name)));
        let hex: String = bits.iter().map(|byte| format!("{byte:02X}")).collect();
        assert!(README.contains(&format!("  {name}   {hex} ")), "{name} {hex}");
    }
    room.with(|batch| batch.joins = vec![Join::Plain(58)]);
    room.with(|batch| batch.commands = vec![Command::Release(58 + 10).into()]);
    room.with(|batch| batch.claims = vec![70]);
    let seat: Vec<u8> = room.redis.ask(cmd("HGET").arg(room.mirror().key("seats")).arg(2));
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02X}")).collect::<String>();
    let mut words = vec![hex(&seat[..1])];
    words.extend(seat[1..].chunks(6).map(hex));
    assert!(README.contains(&format!("seats 2 → {}\n", words.join(" "))), "{words:?}");
    let member = [0, 0, 0, 0, 0, 70];
    let until = cmd("ZSCORE").arg(room.mirror().key("inside")).arg(&member).clone();
    let until: String = room.redis.ask(&until);
    assert!(README.contains(&format!("inside {} → {until}\n", hex(&member))), "{until}");
}

#[test]
fn a_newer_layout_is_refused_before_anything_is_touched() {
    let mut room = Room::new(hold());
    room.with(|batch| batch.joins = vec![Join::Plain(12)]);
    let newer = script::LAYOUT + 1;
    room.redis.ask::<u64>(cmd("HSET").arg(room.mirror().key("state")).arg("layout").arg(newer));
    let before = room.mirror().line();
    let batch = Batch { joins: vec![Join::Plain(1)], ..room.batch() };
    let question = room.mirror().question(&batch, Some(room.now)).unwrap();
    let refused = wire::decode(room.redis.ask(&question));
    let Err(StoreError::NewerLayout { found, known }) = refused else { panic!("{refused:?}") };
    assert_eq!((found, known), (newer, script::LAYOUT));
    assert!(refused.unwrap_err().to_string().ends_with("start that version"));
    assert_eq!(room.mirror().line(), before);
}

/// Neither from memory nor in Redis is there more room at the head than there is.
#[test]
fn whoever_comes_back_to_a_full_head_is_to_ask_again() {
    const HEAD: u64 = 10_000;
    let mut room = Room::new(Settings { heartbeat_timeout_ms: 5_000, ..hold() });
    room.with(|batch| batch.joins = vec![Join::Plain(HEAD as u32 + 3)]);
    for _ in 0..10 {
        room.now.wall_ms += 1_000;
        room.with(|batch| batch.marks = vec![HEAD + 3]);
    }
    room.with(|batch| batch.commands = vec![Command::Release(1).into()]);
    for some in (1..=HEAD).collect::<Vec<_>>().chunks(MAX_ITEMS) {
        room.with(|batch| batch.returns = some.to_vec());
    }
    let (one, other) = (HEAD + 1, HEAD + 2);
    let away = vec![Claimed::Away];
    let reply = room.with(|batch| {
        (batch.returns, batch.vouched, batch.claims) = (vec![one], vec![one], vec![other]);
    });
    assert_eq!((&reply.returns, &reply.vouched, &reply.claims), (&away, &away, &away));
    // One of the head enters, so that there is room for another who asks in the same exchange, after it.
    room.with(|batch| batch.commands = vec![Command::Release(1).into()]);
    let reply = room.with(|batch| batch.claims = vec![one, other, 1]);
    let [first, second, third] = &reply.claims[..] else { panic!("three answers") };
    assert_eq!((first, second), (&Claimed::Waiting, &Claimed::Away));
    assert!(matches!(third, Claimed::Inside(_)), "{third:?}");
}

#[test]
fn a_server_that_is_short_of_memory_refuses_the_whole_batch() {
    let mut room = Room::new(hold());
    room.with(|batch| batch.joins = vec![Join::Plain(1_000)]);
    let before = room.mirror().line();
    room.redis.ask::<()>(cmd("CONFIG").arg("SET").arg("maxmemory").arg(1));
    let batch = Batch { joins: vec![Join::Plain(1)], ..room.batch() };
    let question = room.mirror().question(&batch, Some(room.now)).unwrap();
    let refused = room.redis.try_ask::<Value>(&question).unwrap_err().to_string();
    assert!(refused.contains("OOM"), "{refused}");
    assert_eq!(room.mirror().line(), before);
    room.redis.ask::<()>(cmd("CONFIG").arg("SET").arg("maxmemory").arg(0));
    room.with(|batch| batch.joins = vec![Join::Plain(1)]);
}

#[test]
fn what_is_left_of_a_room_without_its_state_is_nobodys() {
    let mut room = Room::new(hold());
    room.with(|batch| batch.joins = vec![Join::Plain(12)]);
    room.with(|batch| batch.commands = vec![Command::Release(5).into()]);
    room.with(|batch| batch.claims = vec![1, 2]);
    let mirror = room.mirror().clone();
    room.redis.ask::<u64>(cmd("UNLINK").arg(mirror.key("state")));
    let mut line = Line::default();
    let reply = line.apply(&room.batch(), room.now);
    mirror.follow(&room.batch(), room.now, &reply, &line);
}

/// Without a moment the server's clock and run id count, as they always do outside tests.
#[test]
fn time_and_run_are_the_servers() {
    let room = Room::unknown();
    let question = room.mirror().question(&room.batch(), None).unwrap();
    let reply = wire::decode(room.redis.ask(&question)).unwrap();
    let info: String = room.redis.ask(cmd("INFO").arg("server"));
    let run_id = info.lines().find_map(|line| line.strip_prefix("run_id:")).unwrap();
    assert_eq!(reply.run, u64::from_str_radix(&run_id[..13], 16).unwrap());
    let now_ms = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
    assert!(now_ms.abs_diff(reply.wall_ms) < 60_000, "{} is not now", reply.wall_ms);
    assert_eq!(reply.taken, Taken::Settling { left_ms: 2_000 }, "a room nobody knows");
}

/// A fresh store, and a node that has but one old ticket: what is long over costs no bitmap.
#[test]
fn a_proof_of_billions_costs_no_more_than_a_line_may_hold() {
    let mut room = Room::unknown();
    let known = Known { epoch: 5, issued: 5_000_000_000, ..Known::default() };
    let prove = |batch: &mut Batch| batch.known = known.clone();
    assert!(matches!(room.with(prove).taken, Taken::Settling { .. }));
    room.with(|batch| {
        prove(batch);
        batch.offer = Some(Offer { version: 1, settings: hold() });
    });
    room.now.wall_ms += 2_000;
    let counts = room.with(prove).counts;
    let lapsed = 5_000_000_000 - PLACES_MAX;
    assert_eq!((counts.issued, counts.lapsed), (5_000_100_000, lapsed));
    assert_eq!(counts.waiting, PLACES_MAX);
    assert!(room.length("live") < 2 << 20, "{} bytes", room.length("live"));
    let joined = room.with(|batch| batch.joins = vec![Join::Plain(1)]).joins[0];
    assert_eq!(joined, Joined::Refused(Refusal::Full), "the line holds no more");
    room.now.wall_ms += 100;
    room.with(|batch| batch.commands = vec![Command::Release(100).into()]);
    room.with(|batch| batch.claims = (lapsed + 1..lapsed + 101).collect());
}

/// A report of a node whose view begins far above place 0, brought to a fresh store; and one that is behind.
#[test]
fn a_report_from_far_up() {
    let mut room = Room::unknown();
    let report =
        |live, used, ended| Some(Box::new(Report { live, used, ended, ..Report::default() }));
    let known = Known {
        epoch: 5,
        issued: 30_000_000,
        released: 29_000_500,
        lapsed: 29_000_000,
        taken: 700,
        report: report(
            vec![(29_000_001, 29_000_007), (29_000_101, 29_000_400)],
            vec![(28_999_990, 29_000_000), (29_000_008, 29_000_100), (29_500_000, 29_500_000)],
            vec![(29_000_050, Ending::Completed)],
        ),
    };
    let behind = Known {
        issued: 20_000_000,
        released: 19_000_000,
        lapsed: 18_000_000,
        report: report(vec![(18_000_001, 18_500_000)], vec![(18_000_000, u64::MAX)], Vec::new()),
        ..known.clone()
    };
    let offer = Some(Offer { version: 1, settings: hold() });
    for (known, after_ms) in [(&known, 100), (&behind, 100), (&known, 2_000)] {
        let (known, offer) = (known.clone(), offer.clone());
        room.with(|batch| (batch.known, batch.offer) = (known, offer));
        room.now.wall_ms += after_ms;
    }
    let counts = room.with(|batch| batch.known = Known { report: None, ..known }).counts;
    assert_eq!((counts.admitted, counts.waiting), (307, 999_499));
    assert!(room.length("live") < 200_000, "{} bytes", room.length("live"));
}

#[test]
fn a_proof_further_above_than_can_have_been_lost_is_a_mistake() {
    let mut room = Room::new(hold());
    let known = |room: &Room, issued| Known { issued, ..room.view.known() };
    let absurd = known(&room, 10_000_001);
    assert_eq!(room.with(|batch| batch.known = absurd).counts.issued, 0);
    let proof = known(&room, 10_000_000);
    let counts = room.with(|batch| batch.known = proof).counts;
    assert_eq!((counts.issued, counts.waiting), (10_100_000, 10_000_000));
}

/// As much as a batch may carry, spread so that nothing is read or written with anything else.
#[test]
fn a_full_batch_of_everything() {
    let mut room = Room::new(hold());
    for _ in 0..3 {
        room.with(|batch| batch.joins = vec![Join::Plain(1_000_000)]);
    }
    room.with(|batch| batch.commands = vec![Command::Release(2_000_000).into()]);
    let spread = |first: u64, count: u64| (0..count).map(move |nth| first + nth * 1_111);
    for (marks, claims) in [(250, 250), (1_000, 250), (1_001, 250), (60_000, 10)] {
        room.now.wall_ms += 500;
        room.with(|batch| {
            batch.marks = (0..marks).map(|nth| 2_900_000 - nth * 37 % 2_000_000).collect();
            batch.marks.extend([0, 1, 2_999_999, 3_000_001, 70_000_000, u64::MAX]);
            batch.marks.truncate(marks as usize);
            batch.claims = spread(1_500, claims).collect();
        });
    }
    let renewal = |number| Renewal { number, admitted_ms: START.wall_ms, ..Renewal::default() };
    room.with(|batch| batch.renewals = spread(1_500, 250).map(renewal).collect());
    let end = |number| End { number, why: Ending::Idle };
    room.with(|batch| batch.ends = spread(1_500, 250).map(end).collect());
    room.with(|batch| batch.returns = spread(1_500, 250).collect());
    room.with(|batch| batch.leaves = spread(1_500, 250).collect());
    for _ in 0..2 {
        room.with(|batch| batch.spends = spread(1_500, 250).collect());
    }
}

#[test]
fn a_room_of_layout_1_is_read_and_one_of_ours_from_then_on() {
    let mut room = Room::new(hold());
    room.with(|batch| batch.joins = vec![Join::Plain(12)]);
    let batch = Batch { claims: vec![3], leaves: vec![4], ..room.batch() };
    let (mirror, node) = (room.mirror(), batch.node.to_be_bytes());
    let first = mirror.exchange(&batch, room.now).unwrap();
    // As it was left: nothing about spends, nowhere.
    let told: Vec<u8> = room.redis.ask(cmd("HGET").arg(mirror.key("answers")).arg(&node));
    let (offered, mut tape): (String, Vec<u64>) = rmp_serde::from_slice(&told).unwrap();
    assert_eq!(tape.pop(), Some(0), "no spends");
    let told = rmp_serde::to_vec(&(offered, tape)).unwrap();
    room.redis.ask::<u64>(cmd("HSET").arg(mirror.key("answers")).arg(&node).arg(told));
    room.redis.ask::<u64>(cmd("HSET").arg(mirror.key("state")).arg("layout").arg(1));
    let again = mirror.exchange(&batch, room.now).unwrap();
    assert_eq!(again.taken, Taken::Repeated);
    assert_eq!((&again.claims, &again.leaves), (&first.claims, &first.leaves));
    let layout: u32 = room.redis.ask(cmd("HGET").arg(mirror.key("state")).arg("layout"));
    assert_eq!(layout, script::LAYOUT);
    let spends = Batch { sequence: batch.sequence + 1, spends: vec![3, 3], ..batch };
    let reply = mirror.exchange(&spends, room.now).unwrap();
    assert_eq!(reply.spends, [Done::Freed, Done::Already]);
}

/// What layout 4 brought to `state`, and layout 3 before it; and the keys likewise.
const SINCE_4: [&str; 34] = [
    "settling_latest_ms",
    "shadow",
    "shadow_waiting",
    "shadow_inside",
    "shadow_freed",
    "shadow_seats",
    "shadow_entered",
    "shadow_arrived",
    "shadow_delayed",
    "shadow_refused",
    "shadow_turns",
    "shadow_peak",
    "shadow_waited_ms",
    "slotted",
    "names",
    "roster_version",
    "roster_changed",
    "roster_published_ms",
    "class_strict",
    "class_balance",
    "class_overflow",
    "invites_young",
    "invites_since_ms",
    "draws_serial",
    "draw_version",
    "prequeue_opens_ms",
    "prequeue_after",
    "prequeue_seated",
    "ahead",
    "control",
    "commitment",
    "invites:0",
    "invites:1",
    "slots",
];
const SINCE_3: [&str; 13] = [
    "overrides_serial",
    "book_serial",
    "asked_young",
    "asked_since_ms",
    "minute",
    "figures",
    "letter_serial",
    "letters",
    "letters_lost",
    "overrides",
    "audit",
    "history",
    "due",
];

/// No program of those days runs here: it is a room of ours, without everything that they did not write.
#[test]
fn rooms_of_layouts_2_and_3_are_read_as_if_nothing_had_been_of_what_they_lacked() {
    let lacked: [(u32, Vec<&str>); 2] =
        [(3, SINCE_4.to_vec()), (2, [&SINCE_3[..], &SINCE_4].concat())];
    for (layout, lacked) in lacked {
        let room = || {
            let mut room = Room::new(hold());
            room.with(|batch| batch.joins = vec![Join::Plain(40)]);
            room.with(|batch| batch.commands = vec![Command::Release(8).into()]);
            room.with(|batch| (batch.claims, batch.leaves) = (vec![1, 2, 3], vec![5, 20]));
            let end = End { number: 3, why: Ending::Idle };
            room.with(|batch| batch.ends = vec![end]);
            room
        };
        let (ours, older) = (room(), room());
        for name in &lacked {
            let state = older.mirror().key("state");
            older.redis.ask::<u64>(cmd("HDEL").arg(state).arg(name));
            older.redis.ask::<u64>(cmd("UNLINK").arg(older.mirror().key(name)));
        }
        let state = older.mirror().key("state");
        older.redis.ask::<u64>(cmd("HSET").arg(&state).arg("layout").arg(layout));
        let batch = Batch {
            claims: vec![1, 3, 5, 8, 30],
            returns: vec![4, 20, 21],
            renewals: vec![Renewal { number: 2, ..Renewal::default() }],
            joins: vec![Join::Plain(3)],
            commands: vec![Command::Release(2).into()],
            ..ours.batch()
        };
        let [expected, reply] =
            [&ours, &older].map(|room| room.mirror().exchange(&batch, room.now).unwrap());
        assert_eq!(reply.taken, Taken::Applied, "layout {layout}");
        assert_eq!(reply, expected, "layout {layout}");
        let found: u32 = older.redis.ask(cmd("HGET").arg(&state).arg("layout"));
        assert_eq!(found, script::LAYOUT);
    }
}

/// Whatever a u64 may be, somebody may send it.
#[test]
fn numbers_that_lua_can_not_hold() {
    let mut room = Room::new(Settings { max_waiting: Some(u64::MAX), ..hold() });
    room.with(|batch| batch.joins = vec![Join::Plain(20)]);
    for huge in [u64::MAX, 1 << 63, (1 << 53) + 1, 1 << 53, (1 << 53) - 1, 1 << 48, (1 << 48) + 5] {
        room.now.wall_ms += 500;
        let numbers = vec![huge, 5, huge];
        room.with(|batch| {
            batch.marks = numbers.clone();
            batch.present = numbers.clone();
            batch.leaves = numbers.clone();
            batch.returns = numbers.clone();
            batch.vouched = numbers.clone();
            batch.claims = numbers.clone();
            batch.spends = numbers.clone();
            batch.ends = vec![End { number: huge, why: Ending::Revoked }];
            let renewal = |number| Renewal { number, admitted_ms: huge, slot: huge, extend: true };
            batch.hangups = numbers.clone();
            batch.renewals = vec![renewal(huge), renewal(7), renewal(7)];
            batch.commands = vec![Command::Release(huge).into(), Command::Revoke(huge).into()];
            batch.commands.push(Command::Extend(huge).into());
            batch.commands.push(Command::Requeue(huge).into());
            batch.sent = numbers.clone();
            batch.offer = Some(Offer { version: huge, settings: hold() });
        });
        room.with(|batch| (batch.known.issued, batch.known.taken) = (huge, huge));
        room.with(|batch| (batch.known.released, batch.known.lapsed) = (huge, 0));
        room.with(|batch| batch.known.epoch = huge);
        room.with(|batch| batch.epoch = huge);
        let have = Have {
            bits: huge,
            express: huge,
            ended: huge,
            settings: huge,
            roster: huge,
            draws: huge,
            run: 0,
        };
        room.with(|batch| batch.have = Have { run: 1, ..have });
        room.with(|batch| batch.have = Have { run: huge, ..have });
        room.now.run += 1;
        let report = Report {
            live: vec![(0, huge), (huge, huge)],
            used: vec![(huge, huge), (3, 4), (9, huge)],
            express: vec![(huge, 3), (11, huge)],
            called: vec![huge, 12],
            ended: vec![(huge, Ending::Capped), (13, Ending::Capped)],
            paused: false,
            overrides: Overrides::default(),
            names: vec![(huge, "Ada".to_owned()), (14, "Bo".to_owned())],
            classes: vec![(huge, 3), (14, huge)],
            draws: Draws::default(),
            more: true,
        };
        room.with(|batch| batch.known.report = Some(Box::new(report)));
        room.now.wall_ms += 2_000;
        room.with(|_| {});
    }
}

/// What somebody costs who is kept one by one, by Redis' own count: 150 bytes at most, whether they have named their device under the
/// limits that a room has by default, or are inside with numbers one after the other, in a table that is as full as this one.
/// What is beyond, `make bench-redis` judges: a table that has just grown, numbers far apart, a user beside the device.
#[test]
fn a_visitor_costs_a_hundred_and_fifty_bytes_at_most() {
    use anteroom::line::Subject as By;
    const PEOPLE: u64 = 5_000;
    let limit = |subject, max, per_ms| JoinLimit { subject, max, per_ms };
    let join_limits = vec![
        limit(By::Address, 20, 60_000),
        limit(By::Device, 5, 60_000),
        limit(By::User, 10, 60_000),
        limit(By::User, 30, 3_600_000),
    ];
    let settings = Settings { join_limits, ..hold() };
    let bytes = |room: &Room, names: &[&str]| -> u64 {
        let usage = |name: &&str| {
            let mut ask = cmd("MEMORY");
            ask.arg("USAGE").arg(room.mirror().key(name)).arg("SAMPLES").arg(0);
            room.redis.ask::<Option<u64>>(&ask).unwrap_or(0)
        };
        names.iter().map(usage).sum()
    };
    let bitmaps = ["live", "used", "seen:0", "seen:1", "seen:2"];

    let mut room = Room::new(settings.clone());
    let device = |nth: u64| {
        let key = |kind: u8| Some(std::array::from_fn(|at| nth.to_be_bytes()[at % 8] ^ kind));
        let (once, idempotency, proof) = (key(1), key(2), key(3));
        Join::Keyed(Keyed { once, idempotency, proof, device: once, ..Keyed::default() })
    };
    for first in (0..PEOPLE).step_by(250) {
        room.with(|batch| batch.joins = (first..first + 250).map(device).collect());
    }
    let tables = ["joined:0", "joined:1", "limits:0", "limits:1"];
    let each = bytes(&room, &[&tables[..], &bitmaps].concat()) as f64 / PEOPLE as f64;
    assert!(each < 150.0, "{each} bytes a device");

    let mut room = Room::new(settings);
    room.with(|batch| batch.joins = vec![Join::Plain(PEOPLE as u32)]);
    room.with(|batch| batch.commands = vec![Command::Release(PEOPLE).into()]);
    for first in (1..=PEOPLE).step_by(250) {
        room.with(|batch| batch.claims = (first..first + 250).collect());
    }
    let each = bytes(&room, &[&["inside", "seats"][..], &bitmaps].concat()) as f64 / PEOPLE as f64;
    assert!(each < 150.0, "{each} bytes inside");
}
