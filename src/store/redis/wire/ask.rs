//! A batch as the script's arguments.
//!
//! Owns their order and forms. Whole numbers in Lua are exact below 2^53: whatever may be higher is cut where
//! that makes no difference to the outcome, because nothing in a line is ever so high.

use serde::Serialize;
use serde_json::Value;

use super::super::script::{self, LAYOUT};
use super::places::Places;
use super::{code, draws};
use crate::line::{
    BadBatch, Batch, Change, Command, EXACT, ISSUED_MAX, Invite, Join, Key, Keyed, MARKS_LISTED,
    MS_MAX, Moment, Number, Offer, Order, Overrides, PLACES_MAX, Renewal, Report, folded,
};

/// What the script is called with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// KEYS.
    pub keys: Vec<String>,
    /// ARGV.
    pub args: Vec<Vec<u8>>,
}

/// Bitmaps reach no further back from the highest place than this: twice what a line may hold, and a
/// little, because `base` follows in steps.
const SPAN: u64 = 2 * PLACES_MAX + 0x1_0000;

/// A batch for a room. Without a moment the server's own time and run id count, as they should; tests turn
/// the clock.
///
/// # Errors
/// The batch can't be applied at all.
pub fn encode(room: &str, batch: &Batch, moment: Option<Moment>) -> Result<Call, BadBatch> {
    batch.check()?;
    if moment.is_some_and(|moment| moment.run == 0) {
        return Err(BadBatch::NoRun);
    }
    let moment = moment.unwrap_or(Moment { wall_ms: 0, run: 0 });
    let known = &batch.known;
    // A report by somebody who can't be believed is not heard.
    let report = known.report.as_deref().filter(|_| known.issued <= ISSUED_MAX);
    let low = known.issued.saturating_sub(SPAN);
    let live = Places::of_ranges(report.map_or(&[], |report| &report.live), low, known.released);
    let used = Places::of_ranges(report.map_or(&[], |report| &report.used), low, known.issued);
    let (marks, others) = match batch.marks.len() > MARKS_LISTED {
        true => Places::of_numbers(&batch.marks, SPAN),
        false => (Places::default(), batch.marks.clone()),
    };
    let have = &batch.have;
    let head = [
        u64::from(LAYOUT),
        moment.wall_ms,
        moment.run,
        batch.sequence,
        batch.epoch,
        known.epoch,
        known.issued,
        known.released,
        known.lapsed,
        known.taken,
        have.run,
        have.bits,
        have.express,
        have.ended,
        have.settings,
        report.map_or(0, |report| 1 + u64::from(report.paused) + 2 * u64::from(report.more)),
        marks.from,
        live.from,
        used.from,
        u64::from(batch.wants),
        have.roster,
        have.draws,
        batch.draw,
    ];
    let pairs = |list: &[(Number, u64)]| list.iter().flat_map(|(a, b)| [*a, *b]).collect();
    let ended = report.map_or(&[][..], |report| &report.ended).iter();
    let lists: [Vec<u64>; 18] = [
        others,
        batch.present.clone(),
        batch.leaves.clone(),
        batch.ends.iter().flat_map(|end| [end.number, code(end.why)]).collect(),
        batch.renewals.iter().flat_map(renewal).collect(),
        batch.returns.clone(),
        batch.vouched.clone(),
        batch.claims.clone(),
        batch.commands.iter().flat_map(command).collect(),
        pairs(report.map_or(&[], |report| &report.express)),
        report.map_or_else(Vec::new, |report| report.called.clone()),
        ended.flat_map(|(number, why)| [*number, code(*why)]).collect(),
        batch.spends.clone(),
        batch.sent.clone(),
        batch.figures.clone(),
        batch.hangups.clone(),
        pairs(report.map_or(&[], |report| &report.classes)),
        batch.joins.iter().filter_map(over).collect(),
    ];
    let joins = batch.joins.iter().map(|join| match join {
        Join::Plain(count) => i64::from(*count),
        Join::Keyed(_) => -1,
    });
    let mut lists: Vec<Vec<i64>> = lists.iter().map(|list| exact(list)).collect();
    lists.insert(9, joins.collect());
    let args = vec![
        msgpack(&exact(&head)),
        batch.node.to_be_bytes().to_vec(),
        batch.offer.as_ref().map_or_else(Vec::new, offer),
        msgpack(&lists),
        batch.joins.iter().flat_map(keyed).collect(),
        marks.bytes,
        live.bytes,
        used.bytes,
        slips(&batch.commands),
        batch.about.clone().unwrap_or_default().into_bytes(),
        json(&batch.tags, batch.tags.is_empty()),
        report.map_or_else(Vec::new, |report| overrides(&report.overrides)),
        names(batch, report),
        batch.lot.as_ref().map_or_else(Vec::new, |lot| draws::lot(lot).into_bytes()),
        report.map_or_else(Vec::new, |report| draws::write(&report.draws).into_bytes()),
    ];
    Ok(Call { keys: script::keys(room), args })
}

/// Numbers that Lua can hold.
fn exact(numbers: &[u64]) -> Vec<i64> {
    numbers.iter().map(|number| (*number).min(EXACT - 1).cast_signed()).collect()
}

/// Whole numbers in memory: nothing about writing them can fail.
fn msgpack(value: &impl Serialize) -> Vec<u8> {
    rmp_serde::to_vec(value).unwrap_or_default()
}

/// A time as the line itself would take it.
fn renewal(renewal: &Renewal) -> [u64; 4] {
    let Renewal { number, admitted_ms, slot, extend } = *renewal;
    [number, admitted_ms.min(MS_MAX), slot, u64::from(extend)]
}

fn command(order: &Order) -> [u64; 2] {
    match &order.command {
        Command::Release(count) => [1, *count],
        Command::Pause => [2, 0],
        Command::Resume => [3, 0],
        Command::Reset => [4, 0],
        Command::Revoke(number) => [5, *number],
        Command::Set(_) => [6, 0],
        Command::Repair => [7, 0],
        Command::Complete(number) => [8, *number],
        Command::Extend(number) => [9, *number],
        Command::Requeue(number) => [10, *number],
        Command::RevokeInvite(_) => [11, 0],
    }
}

/// What of an order is no number.
#[derive(Serialize)]
struct Slip<'a> {
    note: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    print: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    set: Vec<(&'a str, Value, u64)>,
    /// As it is written: Lua may not be able to hold it.
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    invite: Option<String>,
}

fn slips(orders: &[Order]) -> Vec<u8> {
    json(&orders.iter().map(slip).collect::<Vec<_>>(), orders.is_empty())
}

fn slip(order: &Order) -> Slip<'_> {
    let hex = |key: Key| key.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    Slip {
        note: &order.note,
        key: order.once.map(|once| hex(once.key)),
        print: order.once.map(|once| hex(once.print)),
        set: match &order.command {
            Command::Set(changes) => changes.iter().map(change).collect(),
            _ => Vec::new(),
        },
        number: order.command.number().map(|number| number.to_string()),
        invite: match order.command {
            Command::RevokeInvite(id) => Some(hex(id)),
            _ => None,
        },
    }
}

/// Lua's `nil` ends a list, so what is taken back is `false`.
fn change(change: &Change) -> (&str, Value, u64) {
    let value = change.value.clone().map_or(Value::Bool(false), Value::String);
    (&change.name, value, change.for_ms)
}

fn overrides(known: &Overrides) -> Vec<u8> {
    let set = known.set.iter().map(|(name, set)| (name, &set.value, set.until_ms));
    json(&(known.serial, set.collect::<Vec<_>>()), known.serial == 0)
}

/// Names, each with what two ways to write it have in common: Lua knows no letters but a to z.
fn names(batch: &Batch, report: Option<&Report>) -> Vec<u8> {
    let keyed = batch.joins.iter().filter_map(|join| match join {
        Join::Keyed(keyed) => Some(keyed),
        Join::Plain(_) => None,
    });
    let joins: Vec<_> = (1_u64..)
        .zip(keyed)
        .filter_map(|(nth, keyed)| keyed.name.as_ref().map(|name| (nth, name, folded(name))))
        .collect();
    let known = report.map_or(&[][..], |report| &report.names).iter();
    let report: Vec<_> =
        known.map(|(number, name)| ((*number).min(EXACT - 1), name, folded(name))).collect();
    let none = joins.is_empty() && report.is_empty();
    json(&(joins, report), none)
}

/// Texts and numbers in memory: nothing about writing them can fail.
fn json(value: &impl Serialize, is_empty: bool) -> Vec<u8> {
    if is_empty { Vec::new() } else { serde_json::to_vec(value).unwrap_or_default() }
}

/// Settings that make no sense do not travel: what is wrong with them does, and comes back.
fn offer(offer: &Offer) -> Vec<u8> {
    let problems = offer.settings.problems();
    let text = match problems.is_empty() {
        true => serde_json::to_string(&offer.settings)
            .map(|settings| format!("{:020}{settings}", offer.version)),
        false => serde_json::to_string(&problems).map(|problems| format!("!{problems}")),
    };
    text.unwrap_or_default().into_bytes() // plain numbers and words: nothing can fail
}

/// Of a keyed join: which number of theirs is said to be over; 0: none.
fn over(join: &Join) -> Option<u64> {
    match join {
        Join::Keyed(keyed) => Some(keyed.over.unwrap_or(0)),
        Join::Plain(_) => None,
    }
}

fn keyed(join: &Join) -> Vec<u8> {
    let Join::Keyed(keyed) = join else { return Vec::new() };
    let Keyed { once, idempotency, proof, address, device, user, class, invite, .. } = keyed;
    let keys: [&Option<Key>; 6] = [once, idempotency, address, device, user, proof];
    let flag = |(nth, key): (usize, &&Option<Key>)| u8::from(key.is_some()) << nth;
    let flags: u8 = keys.iter().enumerate().map(flag).sum();
    let others = u8::from(class.is_some()) << 6 | u8::from(invite.is_some()) << 7;
    let mut bytes = vec![flags | others];
    keys.into_iter().flatten().for_each(|key| bytes.extend(key));
    if let Some(name) = class {
        bytes.push(u8::try_from(name.len()).unwrap_or(u8::MAX)); // at most 64, by the batch's check
        bytes.extend(name.as_bytes());
    }
    if let Some(Invite { id, uses, until_ms }) = invite {
        bytes.extend(id);
        bytes.extend(uses.to_be_bytes());
        bytes.extend(&until_ms.to_be_bytes()[2..]);
    }
    bytes
}
