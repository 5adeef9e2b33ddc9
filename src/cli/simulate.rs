//! `anteroom simulate`: a crowd through the real line, on a virtual clock.
//!
//! Owns the options, the bar while it runs, and where the results go; the run is [`crate::simulate`]'s.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Args;
use clap::builder::FalseyValueParser;

use super::{Done, Failure};
use crate::config::{self, Environment};
use crate::line::{Mode, OnAbsence, Pace, Settings};
use crate::simulate::{self, Change, Crowd, Faults, Plan, Shape};
use crate::units;

/// Let a described crowd through the real line on a virtual clock, and tell how it went
#[derive(Args)]
#[command(
    help_template = "{about}\n{usage-heading} {usage}\n{options}{after-help}",
    after_help = "Or ANTEROOM_SIMULATE_VISITORS, _RATE, _MAX_ACTIVE and so on. docs/scale.md has examples."
)]
pub(super) struct Simulate {
    /// How many come
    #[arg(long, value_name = "N", env = "ANTEROOM_SIMULATE_VISITORS", hide_env = true)]
    visitors: u32,
    /// How many enter in a time: 5/s, 300/m
    #[arg(long, value_name = "RATE", env = "ANTEROOM_SIMULATE_RATE", hide_env = true)]
    rate: Option<String>,
    /// How many may be inside at once
    #[arg(long, value_name = "N", env = "ANTEROOM_SIMULATE_MAX_ACTIVE", hide_env = true)]
    max_active: Option<u64>,
    /// Another rate later: 20m=10/s,1h=2/s
    #[arg(long, value_name = "AT=RATE", env = "ANTEROOM_SIMULATE_CHANGE", hide_env = true)]
    change: Option<String>,
    /// Other settings of the room: claim_window=1m,heartbeat_timeout=90s
    #[arg(long, value_name = "KEY=VALUE", env = "ANTEROOM_SIMULATE_SET", hide_env = true)]
    set: Option<String>,
    /// Take a room's settings from this configuration
    #[arg(short, long, value_name = "FILE", env = "ANTEROOM_SIMULATE_CONFIG", hide_env = true)]
    config: Option<PathBuf>,
    /// Which room of it, if there are several
    #[arg(long, requires = "config", env = "ANTEROOM_SIMULATE_ROOM", hide_env = true)]
    room: Option<String>,
    /// When they come: once, flash, even, evening [default: flash]
    #[arg(long, value_name = "SHAPE", env = "ANTEROOM_SIMULATE_ARRIVE", hide_env = true)]
    arrive: Option<String>,
    /// From the first to the last [default: 10m]
    #[arg(long, value_name = "TIME", env = "ANTEROOM_SIMULATE_ARRIVE_OVER", hide_env = true)]
    arrive_over: Option<String>,
    /// Half of them wait no longer, or none [default: 2h]
    #[arg(long, value_name = "TIME", env = "ANTEROOM_SIMULATE_PATIENCE", hide_env = true)]
    patience: Option<String>,
    /// Do not come when it is their turn [default: 5%]
    #[arg(long, value_name = "SHARE", env = "ANTEROOM_SIMULATE_NO_SHOWS", hide_env = true)]
    no_shows: Option<String>,
    /// Take a place and are never heard of again [default: 2%]
    #[arg(long, value_name = "SHARE", env = "ANTEROOM_SIMULATE_BOTS", hide_env = true)]
    bots: Option<String>,
    /// Phones that sleep while they wait [default: 10%]
    #[arg(long, value_name = "SHARE", env = "ANTEROOM_SIMULATE_SLEEPERS", hide_env = true)]
    sleepers: Option<String>,
    /// How long they stay inside, in the mean [default: 3m]
    #[arg(long, value_name = "TIME", env = "ANTEROOM_SIMULATE_STAY", hide_env = true)]
    stay: Option<String>,
    /// Nodes that share the line
    #[arg(
        long,
        value_name = "N",
        default_value_t = 2,
        env = "ANTEROOM_SIMULATE_NODES",
        hide_env = true
    )]
    nodes: u32,
    /// node=2,outage=1,loss=1: nodes killed, the store away, its memory lost
    #[arg(long, value_name = "WHAT=N", env = "ANTEROOM_SIMULATE_FAULTS", hide_env = true)]
    faults: Option<String>,
    /// Another one is another day
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        env = "ANTEROOM_SIMULATE_SEED",
        hide_env = true
    )]
    seed: u64,
    /// Print the report for scripts
    #[arg(
        long,
        env = "ANTEROOM_SIMULATE_JSON",
        hide_env = true,
        value_parser = FalseyValueParser::new()
    )]
    json: bool,
    /// Draw a chart into this file
    #[arg(long, value_name = "FILE", env = "ANTEROOM_SIMULATE_SVG", hide_env = true)]
    svg: Option<PathBuf>,
}

impl Simulate {
    pub(super) fn run(self) -> Done {
        let plan = self.plan()?;
        let began = Instant::now();
        let mut bar = Bar::new();
        let report = simulate::run(&plan, &mut |share, ms| bar.show(share, ms));
        bar.clear();
        let report = report.map_err(|bad| Failure::Usage(bad.to_string()))?;
        if let Some(path) = self.svg {
            let written = std::fs::write(&path, simulate::chart(&report));
            written.map_err(|problem| Failure::File { path, problem })?;
        }
        let text = match self.json {
            true => serde_json::to_string_pretty(&report).unwrap_or_default() + "\n",
            false => {
                let took = began.elapsed().as_secs_f64();
                format!("{}  {:<26} {took:.1} s\n", report.table(), "took here")
            }
        };
        Ok((text, ExitCode::SUCCESS))
    }

    fn plan(&self) -> Result<Plan, Failure> {
        let mut settings = self.room_settings()?;
        let left_out = simulate::leave_out(&mut settings);
        if !left_out.is_empty() {
            // Beside the table. A report for scripts has them in its plan.
            let keys = left_out.join(", ");
            let told = format!("left out: {keys}; see {}\n", simulate::DOES_NOT);
            let _ = io::stderr().write_all(told.as_bytes());
        }
        if let Some(rate) = &self.rate {
            let rate = units::rate(rate).map_err(|how| wrong("--rate", rate, &how))?;
            let a_second = rate.count.div_ceil((rate.per_ms / 1_000).max(1));
            settings.pace = Some(Pace::Rate { rate, burst: a_second.max(1) });
        }
        settings.max_active = self.max_active.or(settings.max_active);
        for (key, value) in pairs("--set", self.set.as_deref())? {
            set(&mut settings, key, value)?;
        }
        let mut faults = Faults::default();
        for (what, count) in pairs("--faults", self.faults.as_deref())? {
            let number = count.parse().map_err(|_| wrong("--faults", count, "write a number"))?;
            match what {
                "node" => faults.nodes = number,
                "outage" => faults.outages = number,
                "loss" => faults.losses = number,
                _ => return Err(wrong("--faults", what, "write node, outage or loss")),
            }
        }
        let mut changes = Vec::new();
        for (at, rate) in pairs("--change", self.change.as_deref())? {
            let at_ms = units::duration(at).map_err(|how| wrong("--change", at, &how))?;
            let rate = units::rate(rate).map_err(|how| wrong("--change", rate, &how))?;
            changes.push(Change { at_ms, rate });
        }
        changes.sort_by_key(|change| change.at_ms);
        let crowd = Crowd {
            visitors: self.visitors,
            arrive: shape(self.arrive.as_deref().unwrap_or("flash"))?,
            arrive_over_ms: time("--arrive-over", self.arrive_over.as_deref().unwrap_or("10m"))?,
            patience_ms: match self.patience.as_deref().unwrap_or("2h") {
                "none" => None,
                patience => Some(time("--patience", patience)?),
            },
            no_shows: share("--no-shows", self.no_shows.as_deref().unwrap_or("5%"))?,
            bots: share("--bots", self.bots.as_deref().unwrap_or("2%"))?,
            sleepers: share("--sleepers", self.sleepers.as_deref().unwrap_or("10%"))?,
            stay_ms: time("--stay", self.stay.as_deref().unwrap_or("3m"))?,
        };
        let (nodes, seed) = (self.nodes, self.seed);
        let plan = Plan { crowd, settings, nodes, faults, changes, seed, left_out };
        plan.check().map_err(|bad| Failure::Usage(bad.to_string()))?;
        Ok(plan)
    }

    /// A room of a file, or one that nobody has limited yet.
    fn room_settings(&self) -> Result<Settings, Failure> {
        let Some(path) = &self.config else {
            return Ok(Settings { max_waiting: None, ..Settings::default() });
        };
        let environment: Environment = std::env::vars_os().collect();
        let (plan, _) = config::load(path, &environment)
            .map_err(|problems| Failure::Usage(problems.to_string()))?;
        let rooms = &plan.gateway.rooms;
        let names: Vec<&str> = rooms.iter().map(|room| room.guard.room.as_str()).collect();
        let found = match &self.room {
            Some(name) => rooms.iter().find(|room| room.guard.room == *name),
            None => rooms.first().filter(|_| rooms.len() == 1),
        };
        let listed = || match names.is_empty() {
            true => "it has none".to_owned(),
            false => format!("it has {}", names.join(", ")),
        };
        found.map(|room| room.line.clone()).ok_or_else(|| {
            let path = path.display();
            Failure::Usage(match &self.room {
                Some(name) => format!("{path} has no room {name}: {}", listed()),
                None => format!("name a room of {path} with --room: {}", listed()),
            })
        })
    }
}

fn wrong(option: &str, value: &str, how: &str) -> Failure {
    Failure::Usage(format!("{option} {value}: {how}"))
}

fn time(option: &str, text: &str) -> Result<u64, Failure> {
    /// What a run can last at most.
    const MONTH_MS: u64 = 30 * 86_400_000;
    match units::duration(text) {
        Ok(ms) if ms <= MONTH_MS => Ok(ms),
        Ok(_) => Err(wrong(option, text, "give 30d at most")),
        Err(how) => Err(wrong(option, text, &how)),
    }
}

/// `30%`, or 30.
fn share(option: &str, text: &str) -> Result<f64, Failure> {
    let number = text.strip_suffix('%').unwrap_or(text).parse::<f64>().ok();
    let percent = number.filter(|percent| (0.0..=100.0).contains(percent));
    percent
        .map(|percent| percent / 100.0)
        .ok_or_else(|| wrong(option, text, "write a share from 0% to 100%, as in 30%"))
}

fn shape(text: &str) -> Result<Shape, Failure> {
    Ok(match text {
        "once" => Shape::Once,
        "flash" => Shape::Flash,
        "even" => Shape::Even,
        "evening" => Shape::Evening,
        _ => return Err(wrong("--arrive", text, "write once, flash, even or evening")),
    })
}

/// `a=1,b=2`.
fn pairs<'a>(option: &str, text: Option<&'a str>) -> Result<Vec<(&'a str, &'a str)>, Failure> {
    let parts = text.into_iter().flat_map(|text| text.split(','));
    let parts = parts.map(str::trim).filter(|part| !part.is_empty());
    let pair = |part: &'a str| {
        let pair = part.split_once('=');
        pair.ok_or_else(|| wrong(option, part, "write NAME=VALUE, several with commas between"))
    };
    parts.map(pair).collect()
}

/// A setting of the room, by its name in a configuration.
fn set(settings: &mut Settings, key: &str, value: &str) -> Result<(), Failure> {
    let time = || time(&format!("--set {key}"), value);
    let count = || {
        value.parse::<u64>().map_err(|_| wrong(&format!("--set {key}"), value, "write a number"))
    };
    match key {
        "mode" if value == "auto" => settings.mode = Mode::Auto,
        "mode" => return Err(wrong("--set mode", value, "write auto: a run has no other")),
        "claim_window" => settings.claim_window_ms = time()?,
        "heartbeat_timeout" => settings.heartbeat_timeout_ms = time()?,
        "session_idle" => settings.session_idle_ms = Some(time()?),
        "session_max" => settings.session_max_ms = Some(time()?),
        "session_first" => settings.session_first_ms = time()?,
        "max_active" => settings.max_active = Some(count()?),
        "max_waiting" => settings.max_waiting = Some(count()?),
        "burst" => match &mut settings.pace {
            Some(Pace::Rate { burst, .. }) => *burst = count()?,
            _ => return Err(wrong("--set", "burst", "it needs a --rate")),
        },
        "on_absence" => {
            settings.on_absence = match value {
                "keep" => OnAbsence::Keep,
                "remove" => OnAbsence::Remove,
                _ => return Err(wrong("--set on_absence", value, "write keep or remove")),
            }
        }
        _ => {
            let known = "write claim_window, heartbeat_timeout, session_idle, session_max, \
                         session_first, max_active, max_waiting, burst, on_absence or mode";
            return Err(wrong("--set", key, known));
        }
    }
    Ok(())
}

/// How far it is, for somebody who looks on.
struct Bar {
    shown: Option<Instant>,
    terminal: bool,
}

impl Bar {
    fn new() -> Bar {
        Bar { shown: None, terminal: io::stderr().is_terminal() }
    }

    /// Ten times a second at most.
    fn show(&mut self, share: f64, virtual_ms: u64) {
        let lately = self.shown.is_some_and(|shown| shown.elapsed().as_millis() < 100);
        if !self.terminal || lately {
            return;
        }
        self.shown = Some(Instant::now());
        const WIDTH: usize = 40;
        let full = (share * WIDTH as f64) as usize;
        let (done, left) = ("█".repeat(full), "░".repeat(WIDTH.saturating_sub(full)));
        let (hours, minutes) = (virtual_ms / 3_600_000, virtual_ms / 60_000 % 60);
        let line = format!("\r  {done}{left} {:>3.0} %  {hours} h {minutes:02} m ", share * 100.0);
        // A bar that nobody sees is no failure.
        let _ = io::stderr().write_all(line.as_bytes());
    }

    fn clear(&self) {
        if self.shown.is_some() {
            let _ = io::stderr().write_all(b"\r\x1b[K");
        }
    }
}
