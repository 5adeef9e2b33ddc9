//! `anteroom draw verify`: whether a draw was what was promised, and which place it gave.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::{Done, Failure};
use crate::line::{self, ALGORITHM, Drawn, Draws, Seed};

/// Check a draw: that its seed is the promised one, and whose place is which
#[derive(Args)]
pub(super) struct Draw {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Verify(Verify),
}

/// Check a draw; exit code 0 if its seed is the promised one, else 1
#[derive(Args)]
#[command(
    after_help = "All of it is in GET /.anteroom/v1/draw: save that and pass it as --json, or copy the values (where nobody had a class).\nSave the commitment before the opening and pass it, too: without it the file is measured by the commitment that it has itself.\nA place is where a number was drawn to, 1 is first."
)]
pub(super) struct Verify {
    /// What was promised before the opening: the seed's SHA-256, in hex; with --json instead of the file's
    #[arg(long, value_name = "HEX")]
    commitment: Option<String>,
    /// What was published after it, in hex
    #[arg(long, value_name = "HEX", conflicts_with = "json")]
    seed: Option<String>,
    /// The last number before those drawn
    #[arg(long, value_name = "NUMBER", conflicts_with = "json")]
    after: Option<u64>,
    /// The last number drawn
    #[arg(long, value_name = "NUMBER", conflicts_with = "json")]
    upto: Option<u64>,
    /// File with the answer of GET draw: the draw in which --number was is checked, without one the last
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// The number on a ticket, to see its place
    #[arg(long, value_name = "NUMBER")]
    number: Option<u64>,
}

impl Draw {
    pub(super) fn run(self) -> Done {
        let Verb::Verify(verify) = self.verb;
        verify.run()
    }
}

/// What is checked.
struct Published {
    commitment: Option<String>,
    /// Nothing in it but what places follow from.
    draw: line::Draw,
}

/// A draw by its seed and its range.
fn draw(seed: &str, after: u64, upto: u64) -> Result<line::Draw, Failure> {
    let (seed, kid, opens_ms) = (bytes("the seed", seed)?, String::new(), 0);
    let (kept, head) = (Vec::new(), Vec::new());
    Ok(line::Draw { version: 1, opens_ms, after, upto, seed, kid, hash: None, kept, head })
}

fn usage(text: impl Into<String>) -> Failure {
    Failure::Usage(text.into())
}

fn bytes(what: &str, text: &str) -> Result<Seed, Failure> {
    let text = text.trim();
    let wrong = || usage(format!("{what} is not 64 digits in hex"));
    let digits = || text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mut bytes = [0; 32];
    for (nth, byte) in bytes.iter_mut().enumerate() {
        let pair = text.get(2 * nth..2 * nth + 2).filter(|_| digits()).ok_or_else(wrong)?;
        *byte = u8::from_str_radix(pair, 16).map_err(|_| wrong())?;
    }
    Ok(bytes)
}

impl Verify {
    fn published(&self) -> Result<Published, Failure> {
        let Some(path) = &self.json else {
            let missing = |name: &str| {
                usage(format!(
                    "--{name} is missing: give --commitment, --seed, --after and --upto, or --json FILE"
                ))
            };
            let seed = self.seed.as_ref().ok_or_else(|| missing("seed"))?;
            let after = self.after.ok_or_else(|| missing("after"))?;
            let draw = draw(seed, after, self.upto.ok_or_else(|| missing("upto"))?)?;
            let commitment = self.commitment.clone().ok_or_else(|| missing("commitment"))?;
            return Ok(Published { commitment: Some(commitment), draw });
        };
        let file = |problem| Failure::File { path: path.clone(), problem };
        let text = std::fs::read_to_string(path).map_err(file)?;
        let odd = |what: &str| usage(format!("{}: {what}", path.display()));
        let answer: Value =
            serde_json::from_str(&text).map_err(|_| odd("is not the answer of GET draw"))?;
        if answer["algorithm"] != ALGORITHM {
            return Err(odd(&format!("was not drawn by {ALGORITHM}")));
        }
        let draws = answer["draws"].as_array().map_or(&[][..], Vec::as_slice);
        let number = |found: &Value, key: &str| {
            found[key].as_u64().ok_or_else(|| odd("a draw lacks its range"))
        };
        let mut theirs = draws.last().ok_or_else(|| odd("tells of no draw that was made"))?;
        for found in draws {
            let range = number(found, "after")? + 1..=number(found, "upto")?;
            if self.number.is_some_and(|number| range.contains(&number)) {
                theirs = found;
            }
        }
        // What somebody saved is about one of them; if about none, whichever it is measured by is not good.
        let saved = match &self.commitment {
            Some(saved) => Some(bytes("the commitment", saved)?),
            None => None,
        };
        let is_promised = |found: &&Value| {
            let seed = found["seed"].as_str().and_then(|seed| bytes("the seed", seed).ok());
            seed.is_some_and(|seed| Some(Sha256::digest(seed).into()) == saved)
        };
        theirs = draws.iter().find(is_promised).unwrap_or(theirs);
        let seed = theirs["seed"].as_str().ok_or_else(|| odd("a draw lacks its seed"))?;
        let mut draw = draw(seed, number(theirs, "after")?, number(theirs, "upto")?)?;
        let lacks = |_| odd("a draw lacks who was not drawn");
        draw.kept = serde_json::from_value(theirs["kept"].clone()).map_err(lacks)?;
        let pairs: Vec<(u64, u64)> =
            serde_json::from_value(theirs["head"].clone()).map_err(lacks)?;
        let place = |(number, place): &(u64, u64)| (*number, draw.upto.saturating_add(*place));
        draw.head = pairs.iter().map(place).collect();
        let own = || theirs["commitment"].as_str().map(str::to_owned);
        Ok(Published { commitment: self.commitment.clone().or_else(own), draw })
    }

    fn run(&self) -> Done {
        let Published { commitment, draw } = self.published()?;
        if draw.upto <= draw.after {
            return Err(usage("--upto is not above --after: nobody was drawn"));
        }
        if !draw.is_sound() {
            return Err(usage("somebody has two places in this draw, or two have one"));
        }
        let mut text = String::new();
        let hash: Seed = Sha256::digest(draw.seed).into();
        let kept = match &commitment {
            Some(promise) => bytes("the commitment", promise)? == hash,
            None => false,
        };
        let _ = match (&commitment, kept) {
            (_, true) => writeln!(text, "good: the seed is the one that was promised"),
            (Some(_), false) => writeln!(text, "not good: this is not the seed that was promised"),
            (None, false) => writeln!(text, "not good: nothing was promised before this draw"),
        };
        let (first, upto, count) = (draw.after + 1, draw.upto, draw.count());
        let _ = writeln!(text, "drawn: {count}, numbers {first} to {upto}");
        if let Some(number) = self.number {
            if !draw.is_of(number) {
                let said = format!("--number {number} was not drawn: {first} to {upto} were");
                return Err(usage(said));
            }
            let own = draw.place_of(number).is_some();
            let drawn = Drawn::new(Draws { made: vec![draw], ..Draws::default() });
            let _ = match drawn.place(number) {
                Some((_, place)) if own => {
                    writeln!(text, "number {number}: place {place} of {count}, one of its own")
                }
                Some((_, place)) => writeln!(text, "number {number}: place {place} of {count}"),
                None => {
                    writeln!(text, "number {number}: not drawn, its turn had come before")
                }
            };
        }
        Ok((text, if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }))
    }
}
