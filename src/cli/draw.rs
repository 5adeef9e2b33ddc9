//! `anteroom draw verify`: whether a draw was what was promised, and which place it gave.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::{Done, Failure};
use crate::line::{Permutation, Seed};

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
    after_help = "All of it is in GET /.anteroom/v1/draw: save that and pass it as --json, or copy the values.\nA place is where a number was drawn to, 1 is first."
)]
pub(super) struct Verify {
    /// What was promised before the opening: the seed's SHA-256, in hex
    #[arg(long, value_name = "HEX", conflicts_with = "json")]
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
    /// File with the answer of GET draw: its last draw is checked
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
    seed: String,
    after: u64,
    upto: u64,
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
            return Ok(Published {
                commitment: Some(self.commitment.clone().ok_or_else(|| missing("commitment"))?),
                seed: self.seed.clone().ok_or_else(|| missing("seed"))?,
                after: self.after.ok_or_else(|| missing("after"))?,
                upto: self.upto.ok_or_else(|| missing("upto"))?,
            });
        };
        let file = |problem| Failure::File { path: path.clone(), problem };
        let text = std::fs::read_to_string(path).map_err(file)?;
        let odd = |what: &str| usage(format!("{}: {what}", path.display()));
        let answer: Value =
            serde_json::from_str(&text).map_err(|_| odd("is not the answer of GET draw"))?;
        let draw = answer["draws"].as_array().and_then(|draws| draws.last());
        let draw = draw.ok_or_else(|| odd("tells of no draw that was made"))?;
        let number = |key: &str| draw[key].as_u64().ok_or_else(|| odd("a draw lacks its range"));
        Ok(Published {
            commitment: draw["commitment"].as_str().map(str::to_owned),
            seed: draw["seed"].as_str().ok_or_else(|| odd("a draw lacks its seed"))?.to_owned(),
            after: number("after")?,
            upto: number("upto")?,
        })
    }

    fn run(&self) -> Done {
        let Published { commitment, seed, after, upto } = self.published()?;
        let seed = bytes("the seed", &seed)?;
        let count = upto.checked_sub(after).filter(|count| *count > 0);
        let count = count.ok_or_else(|| usage("--upto is not above --after: nobody was drawn"))?;
        let mut text = String::new();
        let hash: Seed = Sha256::digest(seed).into();
        let kept = match &commitment {
            Some(promise) => bytes("the commitment", promise)? == hash,
            None => false,
        };
        let _ = match (&commitment, kept) {
            (_, true) => writeln!(text, "good: the seed is the one that was promised"),
            (Some(_), false) => writeln!(text, "not good: this is not the seed that was promised"),
            (None, false) => writeln!(text, "not good: nothing was promised before this draw"),
        };
        let _ = writeln!(text, "drawn: {count}, numbers {} to {upto}", after + 1);
        if let Some(number) = self.number {
            if number <= after || number > upto {
                let said = format!("--number {number} was not drawn: {} to {upto} were", after + 1);
                return Err(usage(said));
            }
            let place = Permutation::new(seed, count).place(number - after - 1) + 1;
            let _ = writeln!(text, "number {number}: place {place} of {count}");
        }
        Ok((text, if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }))
    }
}
