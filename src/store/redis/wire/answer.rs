//! The script's answer as a reply.
//!
//! Owns the reading of bytes that another program keeps. Nothing in them is taken for granted: what can't be
//! is an error that says where it was found.

use redis::Value;

use super::super::script::LAYOUT;
use super::ending;
use super::places;
use crate::line::{
    Adapted, BitsUpdate, Claimed, Classed, Commanded, Counts, Done, Ending, ExpressUpdate, InForce,
    Joined, Letter, Named, NotClassed, Number, Offered, Override, Overrides, PLACES_MAX, Reason,
    Refusal, Reply, RosterUpdate, Standing, Subject, Taken, Terms, Update, Why,
};
use crate::store::StoreError;

/// What the script made of a batch.
///
/// # Errors
/// The keys are of a newer layout, or this is not what the script says.
pub fn decode(value: Value) -> Result<Reply, StoreError> {
    if let Some(newer) = newer_layout(&value) {
        return Err(newer?);
    }
    let parts = parts(value)?;
    let [
        head,
        answers,
        ended,
        live,
        used,
        express,
        strayed,
        called,
        file,
        overrides,
        letters,
        names,
        classes,
        classes_away,
        draws,
    ] = &parts[..]
    else {
        return Err(wrong("parts"));
    };
    let mut head = Tape::of(head, "head")?;
    let taken = taken(&mut head)?;
    let (run, wall_ms) = (head.next()?, head.next()?);
    let mut counts = counts(&mut head)?;
    let (bits_version, from, head_version, serial) =
        (head.next()?, head.next()?, head.next()?, head.next()?);
    let roster_version = head.next()?;
    counts.adapted = adapted(&mut head)?;
    head.end()?;
    let update = Update {
        bits: (bits_version > 0)
            .then(|| bits(bits_version, from, counts.issued, live, used))
            .transpose()?,
        express: (head_version > 0)
            .then(|| self::express(head_version, [express, strayed, called, classes, classes_away]))
            .transpose()?,
        ended: endings(ended)?,
        settings: match serial {
            0 => None,
            serial => Some(InForce {
                serial,
                file: serde_json::from_slice(file).map_err(|_| wrong("settings"))?,
                overrides: self::overrides(overrides)?,
            }),
        },
        roster: (roster_version > 0).then(|| roster(roster_version, names)).transpose()?,
        draws: super::draws::read(draws)?,
    };
    let letters = self::letters(letters)?;
    let reply = Reply { wall_ms, run, taken, letters, counts, update, ..Reply::default() };
    answered(answers, reply)
}

/// Whether a script found a layout that it does not know.
pub(super) fn newer_layout(value: &Value) -> Option<Result<StoreError, StoreError>> {
    let Value::Array(parts) = value else { return None };
    let [Value::BulkString(word), Value::BulkString(found)] = &parts[..] else { return None };
    let newer = |found| StoreError::NewerLayout { found, known: LAYOUT };
    let found = || std::str::from_utf8(found).ok()?.parse().ok().map(newer);
    (word == b"layout").then(|| found().ok_or(wrong("layout")))
}

/// What the script never says.
pub(super) fn wrong(what: &'static str) -> StoreError {
    StoreError::Answer { what }
}

fn parts(value: Value) -> Result<Vec<Vec<u8>>, StoreError> {
    let Value::Array(values) = value else {
        return Err(wrong("shape"));
    };
    let bytes = |value| match value {
        Value::BulkString(bytes) => Ok(bytes),
        _ => Err(wrong("shape")),
    };
    values.into_iter().map(bytes).collect()
}

/// Whole numbers, read one after the other.
struct Tape {
    numbers: std::vec::IntoIter<u64>,
    what: &'static str,
}

impl Tape {
    fn of(bytes: &[u8], what: &'static str) -> Result<Tape, StoreError> {
        let numbers: Vec<u64> = rmp_serde::from_slice(bytes).map_err(|_| wrong(what))?;
        Ok(Tape { numbers: numbers.into_iter(), what })
    }

    fn next(&mut self) -> Result<u64, StoreError> {
        self.numbers.next().ok_or(wrong(self.what))
    }

    fn next_u32(&mut self) -> Result<u32, StoreError> {
        u32::try_from(self.next()?).map_err(|_| wrong(self.what))
    }

    fn next_bool(&mut self) -> Result<bool, StoreError> {
        Ok(self.next()? != 0)
    }

    fn end(&self) -> Result<(), StoreError> {
        if self.numbers.len() == 0 { Ok(()) } else { Err(wrong(self.what)) }
    }

    /// A list: how many there are, then each.
    fn list<T>(
        &mut self,
        one: impl Fn(&mut Tape) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let count = self.next()?;
        (0..count).map(|_| one(self)).collect()
    }

    /// A node, in six, six and four bytes.
    fn node(&mut self) -> Result<u128, StoreError> {
        let [high, middle, low] = [self.next()?, self.next()?, self.next()?].map(u128::from);
        Ok(high << 80 | middle << 32 | low)
    }

    fn terms(&mut self) -> Result<Terms, StoreError> {
        let (admitted_ms, issued_ms, expires_ms) = (self.next()?, self.next()?, self.next()?);
        Ok(Terms { admitted_ms, issued_ms, expires_ms, slot: self.next()? })
    }

    fn ending(&self, code: u64) -> Result<Ending, StoreError> {
        ending(code).ok_or(wrong(self.what))
    }
}

fn taken(tape: &mut Tape) -> Result<Taken, StoreError> {
    let (code, left_ms) = (tape.next()?, tape.next()?);
    Ok(match code {
        0 => Taken::Applied,
        1 => Taken::Repeated,
        2 => Taken::Superseded,
        3 => Taken::Settling { left_ms },
        4 => Taken::Unconfigured,
        _ => return Err(wrong("taken")),
    })
}

fn counts(tape: &mut Tape) -> Result<Counts, StoreError> {
    Ok(Counts {
        epoch: tape.next()?,
        clock_ms: tape.next()?,
        issued: tape.next()?,
        released: tape.next()?,
        lapsed: tape.next()?,
        waiting: tape.next()?,
        admitted: tape.next()?,
        inside: tape.next()?,
        missing: tape.next()?,
        paused: tape.next_bool()?,
        turns: tape.next()?,
        turns_1m: tape.next()?,
        turns_10m: tape.next()?,
        turns_since_ms: tape.next()?,
        entered: tape.next()?,
        completed: tape.next()?,
        no_shows: tape.next()?,
        dropped: tape.next()?,
        last_entry_ms: tape.next()?,
        nodes: tape.next()?,
        swept_by: tape.node()?,
        swept_ms: tape.next()?,
        backlog: tape.next_bool()?,
        letters: tape.next()?,
        letters_lost: tape.next()?,
        shadow_waiting: tape.next()?,
        classed: tape.next()?,
        class_overflow: tape.next()?,
        class_balance: tape.next()?,
        draw: tape.next()?,
        adapted: None, // last of all
    })
}

/// The rate, where it follows the origin.
fn adapted(tape: &mut Tape) -> Result<Option<Adapted>, StoreError> {
    let steered = tape.next_bool()?;
    let (rate, why) = (tape.next()?, Why::from_code(tape.next()?).ok_or(wrong("why"))?);
    let (p95_ms, slow, errors) = (tape.next()?, tape.next()?, tape.next()?);
    Ok(steered.then_some(Adapted { rate, why, p95_ms, slow, errors }))
}

/// The bitmaps, as long as the line's own: `live` up to the highest place, `used` up to the last one in it.
fn bits(
    version: u64,
    from: Number,
    upto: Number,
    live: &[u8],
    used: &[u8],
) -> Result<BitsUpdate, StoreError> {
    let span = upto.checked_sub(from).filter(|span| *span <= 4 * PLACES_MAX);
    let span = span.filter(|_| from.is_multiple_of(64)).ok_or(wrong("bits"))?;
    let length = (span / 64 + 1) as usize;
    let (mut live, mut used) = (places::words(live), places::words(used));
    live.resize(length, 0);
    let last = used.iter().rposition(|word| *word != 0).unwrap_or(0);
    used.resize(last + 1, 0);
    Ok(BitsUpdate { version, from, upto, live, used })
}

fn express(version: u64, lists: [&[u8]; 5]) -> Result<ExpressUpdate, StoreError> {
    let [express, strayed, called, classes, classes_away] = lists;
    let by_place = |scored: Vec<(Number, u64)>| {
        scored.into_iter().map(|(number, place)| (place, number)).collect()
    };
    let called = scored(called, "called")?;
    let mut called: Vec<Number> = called.into_iter().map(|(number, _)| number).collect();
    called.sort_unstable();
    let waiting = by_place(scored(express, "express")?);
    let strayed = by_place(scored(strayed, "strayed")?);
    let classes = by_place(scored(classes, "classes")?);
    let classes_away = by_place(scored(classes_away, "classes away")?);
    Ok(ExpressUpdate { version, waiting, strayed, called, classes, classes_away })
}

fn endings(bytes: &[u8]) -> Result<Vec<(u64, Number, Ending)>, StoreError> {
    let ended = |(number, score): (Number, u64)| {
        let why = ending(score % 8).ok_or(wrong("ended"))?;
        Ok((score / 8, number, why))
    };
    scored(bytes, "ended")?.into_iter().map(ended).collect()
}

/// Numbers in six bytes, and their scores in digits as Redis writes them (`1.7e+12` in newer ones), between
/// spaces.
fn scored(mut bytes: &[u8], what: &'static str) -> Result<Vec<(Number, u64)>, StoreError> {
    let mut pairs = Vec::new();
    while !bytes.is_empty() {
        let (number, rest) = bytes.split_first_chunk::<6>().ok_or(wrong(what))?;
        let rest = rest.strip_prefix(b" ").ok_or(wrong(what))?;
        let end = rest.iter().position(|byte| *byte == b' ').unwrap_or(rest.len());
        let score = std::str::from_utf8(&rest[..end]).ok().and_then(|text| text.parse().ok());
        let score: f64 = score.ok_or(wrong(what))?;
        let number = number.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        pairs.push((number, score as u64));
        bytes = rest.get(end + 1..).unwrap_or(&[]);
    }
    Ok(pairs)
}

fn overrides(bytes: &[u8]) -> Result<Overrides, StoreError> {
    let (serial, set): (u64, Vec<(String, String, u64)>) =
        rmp_serde::from_slice(bytes).map_err(|_| wrong("overrides"))?;
    let set = set.into_iter().map(|(name, value, until_ms)| (name, Override { value, until_ms }));
    Ok(Overrides { serial, set: set.collect() })
}

fn roster(version: u64, bytes: &[u8]) -> Result<RosterUpdate, StoreError> {
    let names: Vec<(Number, bool, u64, String)> =
        rmp_serde::from_slice(bytes).map_err(|_| wrong("roster"))?;
    let named = |(number, inside, slot, name)| Named { number, inside, slot, name };
    Ok(RosterUpdate { version, names: names.into_iter().map(named).collect() })
}

fn letters(bytes: &[u8]) -> Result<Vec<Letter>, StoreError> {
    if bytes.is_empty() {
        return Ok(Vec::new()); // Not handed out while a line settles.
    }
    let letters: Vec<(u64, u64, String)> =
        rmp_serde::from_slice(bytes).map_err(|_| wrong("letters"))?;
    let letter = |(serial, at_ms, text)| Letter { serial, at_ms, text };
    Ok(letters.into_iter().map(letter).collect())
}

/// The answers to the batch's items.
fn answered(bytes: &[u8], reply: Reply) -> Result<Reply, StoreError> {
    let (offered, numbers): (String, Vec<u64>) =
        rmp_serde::from_slice(bytes).map_err(|_| wrong("answers"))?;
    let mut tape = Tape { numbers: numbers.into_iter(), what: "answers" };
    let reply = Reply {
        offered: self::offered(&offered)?,
        leaves: tape.list(done)?,
        ends: tape.list(done)?,
        renewals: tape.list(claimed)?,
        returns: tape.list(claimed)?,
        vouched: tape.list(claimed)?,
        claims: tape.list(claimed)?,
        commands: tape.list(commanded)?,
        joins: tape.list(joined)?,
        // What was kept by layout 1 ends before them.
        spends: if tape.end().is_ok() { Vec::new() } else { tape.list(done)? },
        ..reply
    };
    tape.end()?;
    Ok(reply)
}

fn offered(text: &str) -> Result<Option<Offered>, StoreError> {
    let Some((kind, rest)) = text.split_at_checked(1) else {
        return Ok(None);
    };
    let offered = match kind {
        "T" => Some(Offered::Taken),
        "O" => rest.parse().ok().map(Offered::Older),
        "I" => serde_json::from_str(rest).ok().map(Offered::Invalid),
        _ => None,
    };
    offered.map(Some).ok_or(wrong("offered"))
}

fn done(tape: &mut Tape) -> Result<Done, StoreError> {
    Ok(match tape.next()? {
        0 => Done::Freed,
        1 => Done::Already,
        2 => Done::Unknown,
        3 => Done::Stale,
        _ => return Err(wrong("done")),
    })
}

fn claimed(tape: &mut Tape) -> Result<Claimed, StoreError> {
    Ok(match tape.next()? {
        0 => Claimed::Waiting,
        1 => Claimed::Admitted,
        2 => Claimed::Unknown,
        3 => Claimed::Stale,
        4 => Claimed::Over(Reason::Passed),
        5 => Claimed::Over(Reason::Used),
        12 => Claimed::Away,
        20 => Claimed::Inside(tape.terms()?),
        over => Claimed::Over(Reason::Ended(tape.ending(over - 5)?)),
    })
}

fn commanded(tape: &mut Tape) -> Result<Commanded, StoreError> {
    Ok(match tape.next()? {
        0 => Commanded::Done,
        1 => Commanded::Released {
            count: tape.next()?,
            express: tape.next()?,
            after: tape.next()?,
            upto: tape.next()?,
            called: tape.list(Tape::next)?,
        },
        2 => Commanded::Ended(done(tape)?),
        3 => Commanded::Conflict,
        4 => Commanded::Repaired(tape.next()?),
        _ => return Err(wrong("commanded")),
    })
}

fn joined(tape: &mut Tape) -> Result<Joined, StoreError> {
    Ok(match tape.next()? {
        0 => Joined::Given {
            epoch: tape.next()?,
            first: tape.next()?,
            count: tape.next_u32()?,
            entered: tape.next_u32()?,
            joined_ms: tape.next()?,
            terms: match tape.next_bool()? {
                true => Some(tape.terms()?),
                false => None,
            },
            class: classed(tape)?,
        },
        1 => Joined::Already {
            epoch: tape.next()?,
            number: tape.next()?,
            joined_ms: tape.next()?,
            proven: tape.next_bool()?,
            standing: standing(tape)?,
            class: match tape.next_u32()? {
                0 => None,
                nth => Some(nth - 1),
            },
        },
        2 => Joined::Refused(Refusal::Full),
        3 => Joined::Refused(Refusal::Closed),
        4 => Joined::Refused(Refusal::Limited { subject: subject(tape)?, retry_ms: tape.next()? }),
        5 => Joined::Refused(Refusal::NameTaken),
        _ => return Err(wrong("joined")),
    })
}

fn classed(tape: &mut Tape) -> Result<Option<Classed>, StoreError> {
    let not = |why| Ok(Some(Classed::Not(why)));
    match tape.next()? {
        0 => Ok(None),
        1 => Ok(Some(Classed::Placed { place: tape.next()?, rank: tape.next()? })),
        2 => Ok(Some(Classed::Ordinary)),
        3 => not(NotClassed::Unknown),
        4 => not(NotClassed::Crowded),
        5 => not(NotClassed::Spent),
        6 => not(NotClassed::Revoked),
        7 => not(NotClassed::Expired),
        _ => Err(wrong("classed")),
    }
}

fn standing(tape: &mut Tape) -> Result<Standing, StoreError> {
    Ok(match tape.next()? {
        0 => Standing::Unknown,
        1 => Standing::Waiting,
        2 => Standing::Away,
        3 => Standing::Admitted,
        4 => Standing::Active,
        5 => Standing::Completed,
        6 => Standing::Expired(Reason::Passed),
        7 => Standing::Expired(Reason::Used),
        over => Standing::Expired(Reason::Ended(tape.ending(over - 7)?)),
    })
}

fn subject(tape: &mut Tape) -> Result<Subject, StoreError> {
    Ok(match tape.next()? {
        0 => Subject::Address,
        1 => Subject::Device,
        2 => Subject::User,
        _ => return Err(wrong("subject")),
    })
}
