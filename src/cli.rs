//! The command line: arguments in, text and an exit code out.
//!
//! Owns what commands are called, what they print and how they end: 0 good, 1 not good or failed, 64
//! wrong usage or input. The work itself is done by the modules the commands call. Secrets come from
//! files and the environment, never from arguments, which every user of a machine can list, and
//! none is ever printed back; `keygen` prints new ones because that is what it is for.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::builder::FalseyValueParser;
use clap::{Args, Parser, Subcommand};

use crate::admin;
use crate::token::{Key, KeyError, KeyRing, MIN_SECRET, Secret};

mod check;
mod demo;
mod draw;
mod invite;
mod room;
mod serve;
mod simulate;
mod source;
mod verify;

const SIGNING_KEY: &str = "ANTEROOM_SIGNING_KEY";

/// `EX_USAGE` of sysexits.h: the command was used wrongly, trying again is no use.
const USAGE: u8 = 64;

/// A virtual waiting room: lets in as many visitors as a site can serve.
#[derive(Parser)]
#[command(name = "anteroom", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Demo(demo::Demo),
    Serve(serve::Serve),
    Check(check::Check),
    Keygen(Keygen),
    Verify(verify::Verify),
    Room(room::Room),
    Invite(invite::Make),
    Draw(draw::Draw),
    Simulate(Box<simulate::Simulate>),
}

/// Make a signing key or an operator's key, or show the key an origin verifies passes with
#[derive(Args)]
#[command(
    after_help = "A key is text: use it exactly as printed, here and in JWT libraries, without decoding it.\nOptions may also be given as ANTEROOM_KEYGEN_ADMIN, _KEYGEN_PASS_KEY, _KEY_FILE."
)]
struct Keygen {
    /// Make a key for the operators' port, with its hash for the file
    #[arg(
        long,
        conflicts_with_all = ["pass_key", "key_file"],
        env = "ANTEROOM_KEYGEN_ADMIN",
        hide_env = true,
        value_parser = FalseyValueParser::new()
    )]
    admin: bool,
    /// Print the pass key of this room, derived from the signing key
    #[arg(long, value_name = "ROOM", env = "ANTEROOM_KEYGEN_PASS_KEY", hide_env = true)]
    pass_key: Option<String>,
    /// File with the signing key, else ANTEROOM_SIGNING_KEY
    #[arg(long, value_name = "FILE", env = "ANTEROOM_KEY_FILE", hide_env = true)]
    key_file: Option<PathBuf>,
}

/// Why a command didn't do its work. That a token is not good is an answer and none of these.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("{0}")]
    Usage(String),
    #[error("{source_name}: {problem}")]
    Key { source_name: String, problem: KeyError },
    #[error("{path}: {problem}", path = .path.display())]
    File { path: PathBuf, problem: io::Error },
    #[error(transparent)]
    Room(KeyError),
    #[error("no randomness from the system: {0}")]
    Entropy(getrandom::Error),
    #[error("standard input: {0}")]
    Input(io::Error),
    #[error(transparent)]
    App(crate::app::Failure),
    /// The operators' port can't be reached, or can't do it now.
    #[error("{0}")]
    Admin(String),
}

impl Failure {
    fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) | Self::Key { .. } | Self::File { .. } | Self::Room(_) => USAGE.into(),
            Self::Entropy(_) | Self::Input(_) | Self::App(_) | Self::Admin(_) => ExitCode::FAILURE,
        }
    }
}

/// Runs the command that the process was started with.
#[must_use]
pub fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        // Help that was asked for is no error; help for want of a command is.
        Err(error) => {
            let code = if error.use_stderr() { USAGE } else { 0 };
            let _ = error.print();
            return code.into();
        }
    };
    let done = match cli.command {
        Command::Demo(command) => command.run(),
        Command::Serve(command) => command.run(),
        Command::Check(command) => command.run(),
        Command::Keygen(command) => command.run(),
        Command::Verify(command) => command.run(),
        Command::Room(command) => command.run(),
        Command::Invite(command) => command.run(),
        Command::Draw(draw) => draw.run(),
        Command::Simulate(command) => command.run(),
    };
    match done {
        Ok((text, code)) => print(&text, code),
        Err(failure) => {
            // Nobody is left to tell if standard error is gone.
            let _ = writeln!(io::stderr(), "anteroom: {failure}");
            failure.exit_code()
        }
    }
}

/// What a command prints, and how it ends.
type Done = Result<(String, ExitCode), Failure>;

/// A reader that left early, as in `anteroom keygen | true`, is no failure of ours.
fn print(text: &str, code: ExitCode) -> ExitCode {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let _ = writeln!(io::stderr(), "anteroom: standard output: {error}");
            ExitCode::FAILURE
        }
        _ => code,
    }
}

impl Keygen {
    fn run(self) -> Done {
        if self.admin {
            let key = fresh()?;
            let hash = admin::Hash::of(key.as_bytes());
            return Ok((format!("key       {key}\nkey_hash  {hash}\n"), ExitCode::SUCCESS));
        }
        let key = match self.pass_key {
            None => fresh()?,
            Some(room) => {
                let secret = secret(self.key_file.as_deref(), SIGNING_KEY)?
                    .ok_or_else(|| no_key("the signing key", "--key-file", SIGNING_KEY))?;
                ring("k1", secret).and_then(|ring| ring.pass_key(&room)).map_err(Failure::Room)?
            }
        };
        Ok((format!("{key}\n"), ExitCode::SUCCESS))
    }
}

/// A new key: 32 random bytes as text.
fn fresh() -> Result<String, Failure> {
    let mut entropy = [0; MIN_SECRET];
    getrandom::fill(&mut entropy).map_err(Failure::Entropy)?;
    Ok(Secret::from_entropy(entropy).1)
}

/// A ring of one key.
fn ring(id: &str, secret: Secret) -> Result<KeyRing, KeyError> {
    KeyRing::new(vec![Key::new(id, secret)?], vec![])
}

/// The secret in a file, else in a variable, else none.
fn secret(file: Option<&Path>, variable: &str) -> Result<Option<Secret>, Failure> {
    let (source_name, text) = match file {
        Some(path) => {
            let problem = |problem| Failure::File { path: path.to_owned(), problem };
            (path.display().to_string(), std::fs::read_to_string(path).map_err(problem)?)
        }
        None => match std::env::var_os(variable) {
            None => return Ok(None),
            Some(text) => {
                let text = text.into_string().map_err(|_| Failure::Key {
                    source_name: variable.to_owned(),
                    problem: KeyError::NotText,
                })?;
                (variable.to_owned(), text)
            }
        },
    };
    let problem = |problem| Failure::Key { source_name, problem };
    Secret::new(&text).map(Some).map_err(problem)
}

fn no_key(what: &str, option: &str, variable: &str) -> Failure {
    Failure::Usage(format!("{what} is needed: give {option}, or set {variable}"))
}
