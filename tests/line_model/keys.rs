//! A line read from its keys in Redis, as `lua/README.md` draws them; nothing of the script's is used.
//!
//! The line's own fields are private. What is read here is written down as a snapshot of a line is, field by
//! field in the same order, and read back as one.

use std::collections::BTreeMap;

use anteroom::line::*;
use anteroom::store::redis::wire;
use redis::Value;
use serde::{Serialize, Serializer};

use super::mirror::Redis;

type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

#[derive(Serialize)]
struct LineKept {
    run: u64,
    epoch: u64,
    opened_ms: u64,
    clock_ms: u64,
    wall_ms: u64,
    settling: Option<(u64, u64, u64)>,
    config: Option<(u64, u64, Settings, Option<Settings>)>,
    paused: bool,
    issued: u64,
    released: u64,
    lapsed: u64,
    base: u64,
    live: Bits,
    used: Bits,
    seen: [Bits; 3],
    ring: u64,
    period_began_ms: u64,
    bits_version: u64,
    waiting: u64,
    claimable: u64,
    head: Head,
    sessions: Sessions,
    missing: u64,
    missing_until_ms: u64,
    bucket: (u64, u64, u64, u64),
    releases: (Vec<Second>, Second),
    totals: [u64; 6],
    joined: Aging<Key, FirstJoin>,
    limits: Aging<(Subject, u64, Key), (u64, u64, u64)>,
    nodes: BTreeMap<u128, Node>,
    swept: (u128, u64),
    spent: Vec<(u64, u64)>,
    overrides: Overrides,
    book: (u64, Vec<Entry>),
    asked: Aging<Key, (Key, Commanded)>,
    history: (u64, Vec<u64>, BTreeMap<u64, Minute>),
    outbox: Outbox,
    shadow: Option<Shadow>,
    roster: Roster,
    invites: Aging<Key, Invited>,
    class_balance: u64,
    class_overflow: u64,
    control: Control,
    draws: Draws,
}

#[derive(Serialize)]
struct Roster {
    names: BTreeMap<u64, String>,
    taken: BTreeMap<String, u64>,
    version: u64,
    changed: bool,
    published_ms: u64,
}

/// Waiting, inside, freed, seats, entered; and the minute.
type Shadow = (u64, u64, u64, u64, u64, Shadowed);
/// Epoch, used, uses, until, revoked, class.
type Invited = (u64, u64, u64, u64, bool, String);

/// As `lua/lib/adaptive.lua` packs it.
#[derive(Default, Serialize, serde::Deserialize)]
struct Control(
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    [u64; LATENCIES.count],
);

#[derive(Serialize)]
struct Outbox {
    serial: u64,
    /// When, from when on it may be taken, and its text.
    letters: BTreeMap<u64, (u64, u64, String)>,
    due: Vec<(u64, u64)>,
    lost: u64,
}

/// Second, released, turns.
type Second = (u64, u64, u64);
/// Number, joined, the key proves itself, idempotency, proof, user, and when.
type FirstJoin =
    (u64, u64, bool, Option<Key>, Option<Key>, Option<Key>, Option<u64>, Option<String>);
/// Entered, and the pass's times.
type Seat = (u64, Terms);

#[derive(Serialize)]
struct Head {
    express: Vec<(u64, u64)>,
    strayed: Vec<(u64, u64)>,
    called: Vec<(u64, u64)>,
    present: Vec<(u64, u64)>,
    version: u64,
    changed: bool,
    published_ms: u64,
    classes: Vec<(u64, u64)>,
    classes_away: Vec<(u64, u64)>,
    order: ClassOrder,
}

#[derive(Serialize)]
struct Sessions {
    seats: BTreeMap<u64, Seat>,
    until: Vec<(u64, u64)>,
    /// Serial, why, when, and the seat.
    ended: BTreeMap<u64, (u64, Ending, u64, Seat)>,
    log: BTreeMap<u64, u64>,
    serial: u64,
    held: BTreeMap<u64, u64>,
    hung: Vec<(u64, u64)>,
}

#[derive(Serialize)]
struct Aging<K: Ord, V> {
    young: BTreeMap<K, V>,
    old: BTreeMap<K, V>,
    since_ms: u64,
}

#[derive(Serialize)]
struct Node {
    sequence: u64,
    heard_ms: u64,
    answers: Answers,
    about: String,
}

#[derive(Serialize)]
struct Answers {
    offered: Option<Offered>,
    leaves: Vec<Done>,
    ends: Vec<Done>,
    renewals: Vec<Claimed>,
    returns: Vec<Claimed>,
    vouched: Vec<Claimed>,
    claims: Vec<Claimed>,
    commands: Vec<Commanded>,
    joins: Vec<Joined>,
    spends: Vec<Done>,
}

/// A bitmap as a line writes it down: the number of the first chunk of 8,192 places, then for each chunk 0 (no
/// bit set), 1 (all) or 2 and its words.
struct Bits(Vec<u8>);

impl Serialize for Bits {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl Bits {
    fn of(bytes: &[u8], base: u64) -> Bits {
        let mut kept = (base / 8_192).to_le_bytes().to_vec();
        for chunk in bytes.chunks(1_024) {
            if chunk.iter().all(|byte| *byte == 0) {
                kept.push(0);
            } else if chunk.len() == 1_024 && chunk.iter().all(|byte| *byte == 0xff) {
                kept.push(1);
            } else {
                kept.push(2);
                let mut chunk = chunk.to_vec();
                chunk.resize(1_024, 0);
                kept.extend(chunk.iter().map(|byte| byte.reverse_bits()));
            }
        }
        Bits(kept)
    }
}

/// The line that these keys hold.
pub(super) fn read(redis: &Redis, keys: &[String]) -> Line {
    let mut questions = redis::pipe();
    for (nth, key) in keys.iter().enumerate() {
        match nth {
            0 | 8 | 14..=19 | 21 | 23..=26 | 28 | 30 | 31 | 34 | 35 => {
                questions.cmd("HGETALL").arg(key)
            }
            22 => questions.cmd("LRANGE").arg(key).arg(&[0, -1]),
            1..=5 => questions.cmd("GET").arg(key),
            6 | 7 | 9..=13 | 20 | 27 | 29 | 32 | 33 => {
                questions.cmd("ZRANGE").arg(key).arg(&[0, -1]).arg("WITHSCORES")
            }
            _ => questions.cmd("EXISTS").arg(key),
        };
    }
    let mut found = redis.ask_all(&questions).into_iter();
    let mut next = || found.next().expect("an answer a key");
    let state = State(pairs(next()).into_iter().collect());
    let base = state.number("base");
    let mut bits = || match next() {
        Value::BulkString(bytes) => Bits::of(&bytes, base),
        Value::Nil => Bits::of(&[], base),
        other => panic!("a bitmap is {other:?}"),
    };
    let (live, used, seen) = (bits(), bits(), [bits(), bits(), bits()]);
    let (inside, ended, seats) = (scores(next()), scores(next()), pairs(next()));
    let mut head = Head {
        express: scores(next()),
        strayed: scores(next()),
        called: scores(next()),
        present: scores(next()),
        version: state.number("head_version"),
        changed: state.number("head_changed") == 1,
        published_ms: state.number("head_published_ms"),
        classes: Vec::new(),
        classes_away: Vec::new(),
        order: match state.number("class_strict") {
            1 => ClassOrder::Strict,
            _ => ClassOrder::Skip,
        },
    };
    let releases = pairs(next()).into_iter().map(|(member, score)| second(&member, &score));
    let releases = releases.collect();
    let joined = aging(&state, "joined", pairs(next()), pairs(next()), first_join);
    let limits = aging(&state, "limits", pairs(next()), pairs(next()), window);
    let nodes = nodes(pairs(next()), pairs(next()));
    let spent = scores(next());
    let overrides = overrides(pairs(next()), state.number("overrides_serial"));
    let book: Vec<Vec<u8>> = redis::from_redis_value(next()).expect("a list");
    let book = (state.number("book_serial"), book.iter().map(|bytes| entry(bytes)).collect());
    let asked = aging(&state, "asked", pairs(next()), pairs(next()), asked);
    let history = history(pairs(next()), &state);
    let outbox = outbox(pairs(next()), scores(next()), &state);
    let slots = slots(pairs(next()), &state);
    let hung = scores(next());
    let roster = roster(pairs(next()), pairs(next()), &state);
    (head.classes, head.classes_away) = (scores(next()), scores(next()));
    let invites = aging(&state, "invites", pairs(next()), pairs(next()), invited);
    assert_eq!((next(), next()), (Value::Int(0), Value::Int(0)), "work is left in tmp");

    let settling_until = state.number("settling_until_ms");
    let (latest, taken) = (state.number("settling_latest_ms"), state.number("settling_taken"));
    let settling = (settling_until > 0).then_some((settling_until, latest, taken));
    let config = state.0.get(&b"settings"[..]).map(|text| {
        let file: Settings = serde_json::from_slice(text).expect("settings are JSON");
        let settings = file.with(&overrides);
        let file = (file != settings).then_some(file);
        (state.number("version"), state.number("serial"), settings, file)
    });
    let kept = LineKept {
        run: state.number("run"),
        epoch: state.number("epoch"),
        opened_ms: state.number("opened_ms"),
        clock_ms: state.number("clock_ms"),
        wall_ms: state.number("wall_ms"),
        settling,
        config,
        paused: state.number("paused") == 1,
        issued: state.number("issued"),
        released: state.number("released"),
        lapsed: state.number("lapsed"),
        base,
        live,
        used,
        seen,
        ring: state.number("ring"),
        period_began_ms: state.number("period_began_ms"),
        bits_version: state.number("bits_version"),
        waiting: state.number("waiting"),
        claimable: state.number("claimable"),
        head,
        sessions: sessions((inside, ended, seats), (slots, hung), state.number("ended_serial")),
        missing: state.number("missing"),
        missing_until_ms: state.number("missing_until_ms"),
        bucket: (
            state.number("credit"),
            state.number("owed"),
            state.number("next_batch_ms"),
            state.number("ahead"),
        ),
        releases: (
            releases,
            (
                state.number("before_second"),
                state.number("before_released"),
                state.number("before_turns"),
            ),
        ),
        totals: ["turns", "entered", "completed", "no_shows", "dropped", "last_entry_ms"]
            .map(|field| state.number(field)),
        joined,
        limits,
        nodes,
        swept: (state.node("swept_by"), state.number("swept_ms")),
        spent,
        overrides,
        book,
        asked,
        history,
        outbox,
        shadow: shadow(&state),
        roster,
        invites,
        class_balance: state.number("class_balance"),
        class_overflow: state.number("class_overflow"),
        control: state.control(),
        draws: draws(&state),
    };
    let bytes = rmp_serde::to_vec(&kept).expect("writes down");
    rmp_serde::from_slice(&bytes).expect("reads back as a line")
}

fn shadow(state: &State) -> Option<Shadow> {
    let [waiting, inside, freed, seats, entered] =
        ["waiting", "inside", "freed", "seats", "entered"]
            .map(|field| state.number(&format!("shadow_{field}")));
    let minute = Shadowed {
        arrived: state.number("shadow_arrived"),
        delayed: state.number("shadow_delayed"),
        refused: state.number("shadow_refused"),
        turns: state.number("shadow_turns"),
        waiting,
        peak: state.number("shadow_peak"),
        waited_ms: state.number("shadow_waited_ms"),
    };
    (state.number("shadow") == 1).then_some((waiting, inside, freed, seats, entered, minute))
}

struct State(BTreeMap<Vec<u8>, Vec<u8>>);

impl State {
    fn node(&self, field: &str) -> u128 {
        let bytes = self.0.get(field.as_bytes()).map_or(&[0; 16][..], Vec::as_slice);
        u128::from_be_bytes(bytes.try_into().expect("16 bytes"))
    }

    fn control(&self) -> Control {
        let packed = self.0.get(&b"control"[..]);
        packed
            .map_or_else(Control::default, |packed| rmp_serde::from_slice(packed).expect("packed"))
    }

    /// What is not there is 0.
    fn number(&self, field: &str) -> u64 {
        let text = self.0.get(field.as_bytes()).map(Vec::as_slice).unwrap_or(b"0");
        let text = std::str::from_utf8(text).unwrap();
        text.parse().unwrap_or_else(|_| panic!("{field} is {text:?}: no plain number"))
    }
}

/// A hash, or a sorted set with its scores.
fn pairs(value: Value) -> Pairs {
    redis::from_redis_value(value).expect("pairs")
}

/// A number of so many bytes, taken from the front.
fn take(bytes: &mut &[u8], count: usize) -> u64 {
    let (number, rest) = bytes.split_at(count);
    *bytes = rest;
    number.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn take_key(bytes: &mut &[u8]) -> Key {
    let (key, rest) = bytes.split_first_chunk().expect("a key of 16 bytes");
    *bytes = rest;
    *key
}

fn score(text: &[u8]) -> u64 {
    std::str::from_utf8(text).unwrap().parse().expect("a whole number")
}

fn scores(value: Value) -> Vec<(u64, u64)> {
    let one = |(member, text): (Vec<u8>, Vec<u8>)| {
        assert_eq!(member.len(), 6);
        (take(&mut &member[..], 6), score(&text))
    };
    pairs(value).into_iter().map(one).collect()
}

fn second(mut member: &[u8], text: &[u8]) -> Second {
    let second = (take(&mut member, 6), take(&mut member, 6), take(&mut member, 6));
    assert_eq!((second.0, member), (score(text), &[][..]));
    second
}

fn slots(pairs: Pairs, state: &State) -> BTreeMap<u64, u64> {
    let slots: BTreeMap<u64, u64> =
        pairs.iter().map(|(number, slot)| (score(number), score(slot))).collect();
    assert_eq!(slots.len() as u64, state.number("slotted"), "slots are miscounted");
    slots
}

fn roster(names: Pairs, taken: Pairs, state: &State) -> Roster {
    let names: BTreeMap<u64, String> =
        names.iter().map(|(number, name)| (score(number), text(name))).collect();
    assert_eq!(names.len() as u64, state.number("names"), "names are miscounted");
    Roster {
        names,
        taken: taken.iter().map(|(name, number)| (text(name), score(number))).collect(),
        version: state.number("roster_version"),
        changed: state.number("roster_changed") == 1,
        published_ms: state.number("roster_published_ms"),
    }
}

type Scored = Vec<(u64, u64)>;

fn sessions(
    (until, ended, seats): (Scored, Scored, Pairs),
    (mut slots, hung): (BTreeMap<u64, u64>, Scored),
    serial: u64,
) -> Sessions {
    let mut records = BTreeMap::new();
    for (field, value) in seats {
        assert!(!value.is_empty(), "an empty bucket is left");
        let (offsets, times) = value.split_at(value.len() / 31);
        for (offset, mut record) in offsets.iter().zip(times.chunks(30)) {
            let number = score(&field) * 32 + u64::from(*offset);
            let mut next = || take(&mut record, 6);
            let (at_ms, entered_ms) = (next(), next());
            let (admitted_ms, issued_ms, expires_ms) = (next(), next(), next());
            let slot = slots.remove(&number).unwrap_or(0);
            let terms = Terms { admitted_ms, issued_ms, expires_ms, slot };
            assert_eq!(
                records.insert(number, (at_ms, (entered_ms, terms))),
                None,
                "{number} twice"
            );
        }
    }
    let mut sessions = Sessions {
        seats: BTreeMap::new(),
        until: until.clone(),
        ended: BTreeMap::new(),
        log: BTreeMap::new(),
        serial,
        held: BTreeMap::new(),
        hung,
    };
    assert!(slots.is_empty(), "slots of nobody are left: {slots:?}");
    for (number, _) in until {
        let (at_ms, seat) = records.remove(&number).expect("whoever is inside has a seat");
        assert_eq!(at_ms, 0, "{number} is inside and has ended");
        if seat.1.slot > 0 {
            sessions.held.insert(seat.1.slot, number);
        }
        sessions.seats.insert(number, seat);
    }
    let endings = [
        Ending::Completed,
        Ending::Left,
        Ending::Revoked,
        Ending::Idle,
        Ending::Capped,
        Ending::Requeued,
    ];
    for (number, score) in ended {
        let (at_ms, seat) = records.remove(&number).expect("whoever was inside had a seat");
        let (serial, why) = (score / 8, endings[score as usize % 8 - 1]);
        sessions.ended.insert(number, (serial, why, at_ms, seat));
        sessions.log.insert(serial, number);
    }
    assert!(records.is_empty(), "seats of nobody are left: {records:?}");
    sessions
}

fn aging<K: Ord, V>(
    state: &State,
    name: &str,
    zero: Pairs,
    one: Pairs,
    read: impl Fn(&[u8], &[u8]) -> (K, V),
) -> Aging<K, V> {
    let young = state.number(&format!("{name}_young")) == 1;
    let (young, old) = if young { (one, zero) } else { (zero, one) };
    let map = |pairs: Pairs| pairs.iter().map(|(field, value)| read(field, value)).collect();
    let since_ms = state.number(&format!("{name}_since_ms"));
    Aging { young: map(young), old: map(old), since_ms }
}

fn first_join(mut field: &[u8], mut value: &[u8]) -> (Key, FirstJoin) {
    let flags = take(&mut value, 1);
    let (number, joined_ms) = (take(&mut value, 6), take(&mut value, 6));
    let idempotency = (flags & 2 > 0).then(|| take_key(&mut value));
    let proof = (flags & 4 > 0).then(|| take_key(&mut value));
    let user = (flags & 8 > 0).then(|| take_key(&mut value));
    let at_ms = (flags & 16 > 0).then(|| take(&mut value, 6));
    let class = (flags & 32 > 0).then(|| text(std::mem::take(&mut value)));
    assert!(flags < 64 && value.is_empty(), "more than the flags say");
    let first = (number, joined_ms, flags & 1 > 0, idempotency, proof, user, at_ms, class);
    (take_key(&mut field), first)
}

fn invited(mut field: &[u8], mut value: &[u8]) -> (Key, Invited) {
    let (epoch, used, uses) = (take(&mut value, 6), take(&mut value, 4), take(&mut value, 4));
    let (until_ms, revoked) = (take(&mut value, 6), take(&mut value, 1) == 1);
    (take_key(&mut field), (epoch, used, uses, until_ms, revoked, text(value)))
}

fn window(mut field: &[u8], mut value: &[u8]) -> ((Subject, u64, Key), (u64, u64, u64)) {
    let subject = [Subject::Address, Subject::Device, Subject::User][take(&mut field, 1) as usize];
    let slot = (subject, take(&mut field, 4), take_key(&mut field));
    (slot, (take(&mut value, 6), take(&mut value, 4), take(&mut value, 4)))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

fn overrides(set: Pairs, serial: u64) -> Overrides {
    let one = |(name, value): (Vec<u8>, Vec<u8>)| {
        let value = text(&value);
        let (until, value) = value.split_once(' ').expect("a time and a value");
        let until_ms = until.parse().expect("a time");
        (text(&name), Override { value: value.to_owned(), until_ms })
    };
    Overrides { serial, set: set.into_iter().map(one).collect() }
}

fn entry(mut bytes: &[u8]) -> Entry {
    let (serial, at_ms) = (take(&mut bytes, 6), take(&mut bytes, 6));
    let length = take(&mut bytes, 4) as usize;
    let (note, result) = bytes.split_at(length);
    Entry { serial, at_ms, note: text(note), result: text(result) }
}

fn asked(mut field: &[u8], mut value: &[u8]) -> (Key, (Key, Commanded)) {
    let print = take_key(&mut value);
    let mut tape: Vec<u64> = rmp_serde::from_slice(value).expect("numbers");
    // As a reply whose only answer it is.
    tape.splice(0..0, [0, 0, 0, 0, 0, 0, 1]);
    tape.extend([0, 0]);
    let answer = told(rmp_serde::to_vec(&("", tape)).unwrap()).commands.remove(0);
    (take_key(&mut field), (print, answer))
}

fn history(past: Pairs, state: &State) -> (u64, Vec<u64>, BTreeMap<u64, Minute>) {
    let one = |(slot, value): (Vec<u8>, Vec<u8>)| {
        let minute: Minute = rmp_serde::from_slice(&value).expect("a minute");
        (score(&slot), minute)
    };
    let figures = state.0.get(&b"figures"[..]).filter(|bytes| !bytes.is_empty());
    let figures = figures.map_or_else(Vec::new, |bytes| rmp_serde::from_slice(bytes).unwrap());
    (state.number("minute"), figures, past.into_iter().map(one).collect())
}

/// As a node would be told.
fn draws(state: &State) -> Draws {
    let text = |field: &str| state.0.get(field.as_bytes()).map_or(String::new(), |it| text(it));
    let promise = Some(text("commitment")).filter(|it| !it.is_empty());
    let rows = text("draws");
    let told = format!(
        "{} {} {} {} {}{}{rows}",
        state.number("draws_serial"),
        state.number("draw_version"),
        state.number("prequeue_opens_ms"),
        state.number("prequeue_after"),
        promise.as_deref().unwrap_or("- - -"),
        if rows.is_empty() { "" } else { "\n" },
    );
    wire::draws(&told).expect("draws as a node is told")
}

fn outbox(letters: Pairs, due: Vec<(u64, u64)>, state: &State) -> Outbox {
    let when: BTreeMap<u64, u64> = due.iter().copied().collect();
    let one = |(serial, mut value): (Vec<u8>, &[u8])| {
        let serial = score(&serial);
        (serial, (take(&mut value, 6), when[&serial], text(value)))
    };
    let letters: BTreeMap<_, _> =
        letters.iter().map(|(serial, value)| one((serial.clone(), value))).collect();
    assert_eq!(state.number("letters"), letters.len() as u64, "letters are miscounted");
    Outbox {
        serial: state.number("letter_serial"),
        due: due.iter().map(|(serial, at)| (*at, *serial)).collect(),
        letters,
        lost: state.number("letters_lost"),
    }
}

fn nodes(nodes: Pairs, answers: Pairs) -> BTreeMap<u128, Node> {
    let mut answers: BTreeMap<_, _> = answers.into_iter().collect();
    let mut read = BTreeMap::new();
    for (id, value) in nodes {
        let mut value = &value[..];
        let (sequence, heard_ms) = (take(&mut value, 8), take(&mut value, 6));
        let about = text(value);
        let answers = told(answers.remove(&id).expect("a node's answers"));
        let id = u128::from_be_bytes(id.try_into().expect("16 bytes"));
        read.insert(id, Node { sequence, heard_ms, answers, about });
    }
    assert!(answers.is_empty(), "answers to nobody are left");
    read
}

/// What a node was last told, read as it would be told again.
fn told(answers: Vec<u8>) -> Answers {
    let nothing = || Value::BulkString(Vec::new());
    let head = rmp_serde::to_vec(&[0; 47][..]).unwrap();
    let mut parts = vec![Value::BulkString(head), Value::BulkString(answers)];
    parts.resize_with(15, nothing);
    let Reply {
        offered,
        leaves,
        ends,
        spends,
        renewals,
        returns,
        vouched,
        claims,
        commands,
        joins,
        ..
    } = wire::decode(Value::Array(parts)).expect("answers as in a reply");
    Answers { offered, leaves, ends, renewals, returns, vouched, claims, commands, joins, spends }
}
