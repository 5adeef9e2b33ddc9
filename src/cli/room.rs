//! `anteroom room …`: operators' verbs, over the operators' port of a running node.
//!
//! Owns the arguments, and what is said to people; with `--json` the node's own answer is printed as it came. Keys come from
//! a file or the environment, never from an argument.

mod call;
mod export;
mod show;
mod watch;

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::FalseyValueParser;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{Done, Failure};
use crate::units;
use call::Port;

/// Watch and steer the rooms of a running node
#[derive(Args)]
#[command(
    disable_help_subcommand = true,
    after_help = "And boost, message, rollout, shadow, revoke, complete, extend, requeue, reset, reload, audit,\n\
history, export, doctor. ROOM: if there are several. Or ANTEROOM_ADMIN, _ROOM, _TENANT, _JSON."
)]
pub(super) struct Room {
    /// The operators' port
    #[arg(
        long,
        value_name = "URL",
        default_value = "http://127.0.0.1:9090",
        env = "ANTEROOM_ADMIN",
        hide_env = true,
        hide_default_value = true,
        global = true
    )]
    admin: String,
    /// File with the key, else ANTEROOM_ADMIN_KEY
    #[arg(
        long,
        value_name = "FILE",
        env = "ANTEROOM_ADMIN_KEY_FILE",
        hide_env = true,
        global = true
    )]
    key_file: Option<PathBuf>,
    /// Whose rooms
    #[arg(long, env = "ANTEROOM_TENANT", hide_env = true, hide = true, global = true)]
    tenant: Option<String>,
    /// Print the answer for scripts
    #[arg(
        long,
        env = "ANTEROOM_JSON",
        hide_env = true,
        value_parser = FalseyValueParser::new(),
        global = true
    )]
    json: bool,
    #[command(subcommand)]
    verb: Verb,
}

/// Which room.
#[derive(Args)]
struct Which {
    /// The room, without its tenant
    #[arg(env = "ANTEROOM_ROOM", hide_env = true)]
    room: Option<String>,
}

#[derive(Subcommand)]
enum Verb {
    /// All rooms in a table
    List,
    /// One room
    Status(Which),
    /// One room as it changes, until Ctrl-C
    Watch {
        #[command(flatten)]
        which: Which,
        /// Look so often and end
        #[arg(long, value_name = "N")]
        count: Option<u64>,
    },
    /// Who is next
    Line {
        #[command(flatten)]
        which: Which,
        /// The first position
        #[arg(long, default_value_t = 1)]
        from: u64,
        /// How many, up to 1,000
        #[arg(long, default_value_t = 20)]
        limit: u64,
    },
    /// Where a visitor stands: a number, a label or a queue_ref
    Who {
        /// 123, A-000123 or q_…
        visitor: String,
        #[command(flatten)]
        which: Which,
    },
    /// Stop releasing by rate
    Pause(Which),
    /// Release by rate again
    Resume(Which),
    /// Call the next N now
    Release {
        /// How many
        #[arg(value_name = "N")]
        count: u64,
        #[command(flatten)]
        which: Which,
    },
    /// Turns a time from now on: 5/s, 300/m, 0; "file" for what the file says
    Rate {
        /// 5/s, 300/m or file
        rate: String,
        #[command(flatten)]
        which: Which,
    },
    /// auto, hold, drain, closed, bypass, shadow, or file
    Mode {
        /// Who is let in at all
        mode: String,
        #[command(flatten)]
        which: Which,
    },
    /// To how many of a hundred visitors the room applies, or file
    #[command(hide = true)]
    Rollout {
        /// 0 to 100
        percent: String,
        #[command(flatten)]
        which: Which,
    },
    /// What would have happened, of a room in mode shadow
    #[command(hide = true)]
    Shadow(Which),
    /// Another rate for a while
    #[command(hide = true)]
    Boost {
        /// 20/s
        rate: String,
        /// For so long
        #[arg(long = "for", value_name = "TIME", default_value = "5m")]
        span: String,
        #[command(flatten)]
        which: Which,
    },
    /// Tell waiting visitors something; "" for what the file says
    #[command(hide = true)]
    Message {
        /// What
        text: String,
        #[command(flatten)]
        which: Which,
    },
    /// Take a visitor's place or seat away
    #[command(hide = true)]
    Revoke {
        /// 123, A-000123 or q_…
        visitor: String,
        #[command(flatten)]
        which: Which,
    },
    /// End a visitor's session: they are done
    #[command(hide = true)]
    Complete {
        /// 123, A-000123 or q_…
        visitor: String,
        #[command(flatten)]
        which: Which,
    },
    /// Keep a visitor's seat for one idle time more
    #[command(hide = true)]
    Extend {
        /// 123, A-000123 or q_…
        visitor: String,
        #[command(flatten)]
        which: Which,
    },
    /// Send a visitor to the end of the line
    #[command(hide = true)]
    Requeue {
        /// 123, A-000123 or q_…
        visitor: String,
        #[command(flatten)]
        which: Which,
    },
    /// Start anew: every ticket and pass is void
    #[command(hide = true)]
    Reset {
        #[command(flatten)]
        which: Which,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// Read the node's configuration again
    #[command(hide = true)]
    Reload,
    /// What operators did, newest first
    #[command(hide = true)]
    Audit {
        /// How many
        #[arg(long, default_value_t = 20)]
        limit: u64,
    },
    /// The last day, minute by minute, as CSV
    #[command(hide = true)]
    History(Which),
    /// The room as JSON lines: itself, who waits, whose pass is in force
    #[command(hide = true)]
    Export(Which),
    /// Check the line against what must hold; says what it would repair
    #[command(hide = true)]
    Doctor {
        #[command(flatten)]
        which: Which,
        /// Repair it
        #[arg(long)]
        fix: bool,
    },
}

impl Room {
    pub(super) fn run(self) -> Done {
        let Room { admin, key_file, tenant, json, verb } = self;
        let port = Port::new(&admin, key_file.as_deref(), tenant)?;
        let (answer, text): Told = match verb {
            Verb::List => (port.get("/v1/rooms")?, show::list),
            Verb::Status(which) => (port.get(&which.path(&port, "")?)?, show::status),
            Verb::Watch { which, count } => {
                let path = which.path(&port, "")?;
                return watch::run(&port, &path, count, json);
            }
            Verb::Line { which, from, limit } => {
                let query = format!("/line?from={from}&limit={limit}");
                (port.get(&which.path(&port, &query)?)?, show::line)
            }
            Verb::Who { visitor, which } => {
                let visitor = format!("/visitors/{}", call::escaped(&visitor));
                (port.get(&which.path(&port, &visitor)?)?, show::visitor)
            }
            Verb::Complete { visitor, which } => steer(&port, &which, &visitor, "complete")?,
            Verb::Extend { visitor, which } => steer(&port, &which, &visitor, "extend")?,
            Verb::Requeue { visitor, which } => steer(&port, &which, &visitor, "requeue")?,
            Verb::Pause(which) => {
                (port.post(&which.path(&port, "/pause")?, &json!({}))?, show::paused)
            }
            Verb::Resume(which) => {
                (port.post(&which.path(&port, "/resume")?, &json!({}))?, show::paused)
            }
            Verb::Release { count, which } => {
                let body = json!({ "count": count });
                (port.post(&which.path(&port, "/release")?, &body)?, show::released)
            }
            Verb::Rate { rate, which } => {
                let body = json!({ "rate": or_file(rate) });
                (port.patch(&which.path(&port, "")?, &body)?, show::status)
            }
            Verb::Mode { mode, which } => {
                let body = json!({ "mode": or_file(mode) });
                (port.patch(&which.path(&port, "")?, &body)?, show::status)
            }
            Verb::Rollout { percent, which } => {
                let body = match or_file(percent) {
                    Value::String(percent) => {
                        let percent: u64 = percent.trim_end_matches('%').parse().map_err(|_| {
                            Failure::Usage(format!(
                                "{percent:?} is no percentage: write 0 to 100, or file"
                            ))
                        })?;
                        json!({ "rollout": percent })
                    }
                    file => json!({ "rollout": file }),
                };
                (port.patch(&which.path(&port, "")?, &body)?, show::status)
            }
            Verb::Shadow(which) => (port.get(&which.path(&port, "/shadow")?)?, show::shadow),
            Verb::Boost { rate, span, which } => {
                let ms = units::duration(&span)
                    .map_err(|why| Failure::Usage(format!("--for {span:?}: {why}")))?;
                let body = json!({ "rate": rate, "seconds": ms / 1_000 });
                (port.post(&which.path(&port, "/boost")?, &body)?, show::status)
            }
            Verb::Message { text, which } => {
                let body = json!({ "text": text });
                (port.post(&which.path(&port, "/message")?, &body)?, show::status)
            }
            Verb::Revoke { visitor, which } => {
                let body = json!({ "visitor": visitor });
                (port.post(&which.path(&port, "/revoke")?, &body)?, show::revoked)
            }
            Verb::Reset { which, yes } => {
                let path = which.path(&port, "")?;
                if !yes {
                    confirm(&show::text(&port.get(&path)?, "event_id"))?;
                }
                (port.post(&format!("{path}/reset"), &json!({}))?, show::reset)
            }
            Verb::Reload => (port.post("/v1/reload", &json!({}))?, show::reloaded),
            Verb::Audit { limit } => (port.get(&format!("/v1/audit?limit={limit}"))?, show::audit),
            Verb::History(which) if json => {
                (port.get(&which.path(&port, "/history?format=json")?)?, show::status)
            }
            Verb::History(which) => {
                let csv = port.text(&which.path(&port, "/history?format=csv")?)?;
                return Ok((csv, ExitCode::SUCCESS));
            }
            Verb::Export(which) => {
                let path = which.path(&port, "")?;
                return export::run(&port, &path).map(|text| (text, ExitCode::SUCCESS));
            }
            Verb::Doctor { which, fix } => {
                let path = which.path(&port, "")?;
                let answer = match fix {
                    true => port.post(&format!("{path}/repair"), &json!({}))?,
                    false => port.get(&format!("{path}/health"))?,
                };
                let health = if fix { &answer["health"] } else { &answer };
                let sound = health["healthy"] == true;
                let text = if json { format!("{answer}\n") } else { show::health(&answer) };
                return Ok((text, if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE }));
            }
        };
        let text = if json { format!("{answer}\n") } else { text(&answer) };
        Ok((text, ExitCode::SUCCESS))
    }
}

/// `file` takes a change back.
fn or_file(word: String) -> Value {
    if word == "file" { Value::Null } else { word.into() }
}

impl Which {
    /// The path of the room that is meant: the one there is, if none is named.
    fn path(&self, port: &Port, rest: &str) -> Result<String, Failure> {
        let room = match &self.room {
            Some(room) => room.clone(),
            None => {
                let rooms = port.get("/v1/rooms")?;
                let rooms = rooms["rooms"].as_array().map(Vec::as_slice).unwrap_or_default();
                let ids: Vec<String> = rooms.iter().map(|room| show::text(room, "id")).collect();
                match ids.as_slice() {
                    [] => return Err(Failure::Usage("there is no room".to_owned())),
                    [only] => only.clone(),
                    several => {
                        let message = format!("which room? There are {}", several.join(", "));
                        return Err(Failure::Usage(message));
                    }
                }
            }
        };
        Ok(format!("/v1/rooms/{}{rest}", call::escaped(&room)))
    }
}

/// What can't be undone is asked for twice.
fn confirm(room: &str) -> Result<(), Failure> {
    if !io::stdin().is_terminal() {
        let message = "every ticket and pass of the room would be void: say --yes";
        return Err(Failure::Usage(message.to_owned()));
    }
    let _ = write!(
        io::stderr(),
        "Every ticket and pass of {room} will be void, and whoever waits starts at the end. Type its name to go on: "
    );
    let mut typed = String::new();
    io::stdin().lock().read_line(&mut typed).map_err(Failure::Input)?;
    match typed.trim() == room {
        true => Ok(()),
        false => Err(Failure::Usage("nothing was done".to_owned())),
    }
}

/// An answer, and how people read it.
type Told = (Value, fn(&Value) -> String);

/// One visitor's session, steered.
fn steer(port: &Port, which: &Which, visitor: &str, verb: &str) -> Result<Told, Failure> {
    let path = format!("/visitors/{}/{verb}", call::escaped(visitor));
    Ok((port.post(&which.path(port, &path)?, &json!({}))?, show::steered))
}
