//! What was drawn, as words: so it is kept in Redis, told to nodes, and brought back by them.
//!
//! Owns that text: `lua/lib/draw.lua` has its shape. Numbers in digits, seeds and hashes in hex, `-` for what is not there.

use super::answer::wrong;
use crate::line::{Commitment, Draw, Draws, Lot, Prequeue, Seed};
use crate::store::StoreError;

fn hex(bytes: &Seed) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Seed> {
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (nth, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * nth..2 * nth + 2)?, 16).ok()?;
    }
    Some(bytes)
}

/// What a node brings to a draw.
pub(super) fn lot(lot: &Lot) -> String {
    let seed = lot.seed.as_ref().map_or("-".to_owned(), hex);
    format!("{} {} {} {seed}", lot.opens_ms, lot.kid, hex(&lot.hash))
}

/// All that a node knows.
pub(super) fn write(draws: &Draws) -> String {
    let (opens_ms, after) = draws.prequeue.map_or((0, 0), |it| (it.opens_ms, it.after));
    let promise = match &draws.commitment {
        Some(it) => format!("{} {} {}", it.opens_ms, it.kid, hex(&it.hash)),
        None => "- - -".to_owned(),
    };
    let mut text = format!("{} {} {opens_ms} {after} {promise}", draws.serial, draws.version);
    for Draw { version, opens_ms, after, upto, seed, kid, hash, kept, head } in &draws.made {
        let (seed, hash) = (hex(seed), hash.as_ref().map_or("-".to_owned(), hex));
        let kept = list(kept.iter().map(u64::to_string));
        let head = list(head.iter().map(|(number, place)| format!("{number}:{place}")));
        text += &format!("\n{version} {opens_ms} {after} {upto} {kid} {seed} {hash} {kept} {head}");
    }
    text
}

fn list(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    if items.is_empty() { "-".to_owned() } else { items.join(",") }
}

/// The items of a list.
fn listed<T>(text: &str, item: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    let items = text.split(',').filter(|_| text != "-");
    items.map(item).collect()
}

/// What the line tells; nothing, if it is not newer than the node has.
pub(super) fn read(text: &[u8]) -> Result<Option<Draws>, StoreError> {
    if text.is_empty() {
        return Ok(None);
    }
    std::str::from_utf8(text).ok().and_then(parse).map(Some).ok_or(wrong("draws"))
}

/// The same from its text, as it is kept.
pub fn parse(text: &str) -> Option<Draws> {
    let mut rows = text.lines();
    let mut words = rows.next()?.split(' ');
    let mut next = || words.next()?.parse::<u64>().ok();
    let (serial, version, opens_ms, after) = (next()?, next()?, next()?, next()?);
    let commitment = match (words.next()?, words.next()?, words.next()?) {
        ("-", ..) => None,
        (opens_ms, kid, hash) => {
            let (opens_ms, kid) = (opens_ms.parse().ok()?, kid.to_owned());
            Some(Commitment { opens_ms, kid, hash: unhex(hash)? })
        }
    };
    let prequeue = (opens_ms > 0).then_some(Prequeue { opens_ms, after });
    let made = rows.map(draw).collect::<Option<_>>()?;
    Some(Draws { serial, version, prequeue, commitment, made })
}

fn draw(row: &str) -> Option<Draw> {
    let mut words = row.split(' ');
    let mut number = || words.next()?.parse::<u64>().ok();
    let (version, opens_ms, after, upto) = (number()?, number()?, number()?, number()?);
    let (kid, seed) = (words.next()?.to_owned(), unhex(words.next()?)?);
    let hash = match words.next()? {
        "-" => None,
        hash => Some(unhex(hash)?),
    };
    let number = |text: &str| text.parse::<u64>().ok();
    let kept = listed(words.next()?, number)?;
    let pair = |text: &str| {
        let (number, place) = text.split_once(':')?;
        Some((number.parse().ok()?, place.parse().ok()?))
    };
    let head = listed(words.next()?, pair)?;
    let draw = Draw { version, opens_ms, after, upto, seed, kid, hash, kept, head };
    draw.is_sound().then_some(draw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_as_it_was_written() {
        let made = |version: u64, kept: Vec<u64>| {
            let (seed, hash) = ([version as u8; 32], (version > 1).then_some([9; 32]));
            let kid = "k-1".to_owned();
            let head = if version > 1 { vec![(12, 33), (13, 31)] } else { Vec::new() };
            Draw { version, opens_ms: 5, after: 10, upto: 30, seed, kid, hash, kept, head }
        };
        let mut draws = Draws::default();
        assert_eq!(parse(&write(&draws)).as_ref(), Some(&draws));
        draws.made = vec![made(1, vec![]), made(2, vec![11, 30])];
        (draws.serial, draws.version) = (7, 2);
        draws.prequeue = Some(Prequeue { opens_ms: 99, after: 4 });
        draws.commitment =
            Some(Commitment { opens_ms: 99, kid: "k1".to_owned(), hash: [0xab; 32] });
        assert_eq!(parse(&write(&draws)).as_ref(), Some(&draws));
        assert_eq!(read(b"").unwrap(), None);
        for bad in ["x", "1 2 3 4", "1 2 3 4 - - -\n1 2 3 3 k - - - -", "1 2 3 4 5 k zz"] {
            assert!(read(bad.as_bytes()).is_err(), "{bad}");
        }
        let seed = "07".repeat(32);
        let row = |lists: &str| format!("1 2 3 4 - - -\n1 2 10 14 k {seed} - {lists}");
        assert!(read(row("- 11:15,12:18").as_bytes()).is_ok());
        for bad in
            ["11", "- 11", "15 -", "12,11 -", "11 11:15", "- 11:15,12:15", "11 12:18", "- 11:14"]
        {
            assert!(read(row(bad).as_bytes()).is_err(), "{bad}");
        }
    }
}
