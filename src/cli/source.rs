//! Where a node's configuration comes from: a file, or a few options. The same for `serve` and `check`.

use std::path::PathBuf;

use clap::Args;

use crate::config::{self, Environment, Plan, Problems, Quick, Warning};

/// Read where nothing else is said.
const DEFAULT_FILE: &str = "anteroom.toml";

/// A file, or a site without one.
#[derive(Args, Clone)]
pub(super) struct Source {
    /// Configuration file, by default anteroom.toml
    #[arg(
        short = 'c',
        long = "config",
        value_name = "FILE",
        conflicts_with_all = ["origin", "rate", "max_active", "listen"]
    )]
    config: Option<PathBuf>,
    /// Without a file: the site to stand in front of, http://127.0.0.1:3000
    #[arg(long, value_name = "URL")]
    origin: Option<String>,
    /// Without a file: how many enter in a time, 5/s or 300/m
    #[arg(long, value_name = "RATE")]
    rate: Option<String>,
    /// Without a file: how many may be inside at once
    #[arg(long, value_name = "N")]
    max_active: Option<String>,
    /// Without a file: where to listen, by default 0.0.0.0:8080
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
}

/// A plan, and what it came from, for people.
pub(super) struct Found {
    pub(super) plan: Plan,
    pub(super) warnings: Vec<Warning>,
    /// `conf/anteroom.toml`.
    pub(super) name: String,
}

/// Why there is no plan.
pub(super) enum Refused {
    /// Nothing was named.
    Nothing,
    /// Something was, and it can't be used.
    Problems(Problems),
}

impl Source {
    /// What is typed outranks what is set; a file outranks the variables of a site without one.
    pub(super) fn plan(&self, environment: &Environment) -> Result<Found, Refused> {
        let Source { config, origin, rate, max_active, listen } = self.clone();
        let quick = Quick { origin, rate, max_active, listen };
        let typed = [&quick.origin, &quick.rate, &quick.max_active, &quick.listen]
            .into_iter()
            .any(Option::is_some);
        let file = config.or_else(|| match typed {
            true => None,
            false => environment.get("ANTEROOM_CONFIG").map(PathBuf::from),
        });
        let unnamed = || PathBuf::from(DEFAULT_FILE);
        let file = match file {
            None if typed || environment.get("ANTEROOM_ORIGIN").is_some() => None,
            None if unnamed().exists() => Some(unnamed()),
            None => return Err(Refused::Nothing),
            named => named,
        };
        let (name, planned) = match file {
            Some(path) => (path.display().to_string(), config::load(&path, environment)),
            None => ("the site without a file".to_owned(), config::quick(quick, environment)),
        };
        let (plan, warnings) = planned.map_err(Refused::Problems)?;
        Ok(Found { plan, warnings, name })
    }
}

impl Refused {
    /// Problem by problem.
    pub(super) fn problems(&self) -> Vec<String> {
        match self {
            Refused::Nothing => vec![self.text().trim_end().to_owned()],
            Refused::Problems(problems) => problems.iter().map(ToString::to_string).collect(),
        }
    }

    /// Everything there is to say, with a line end.
    pub(super) fn text(&self) -> String {
        match self {
            Refused::Nothing => format!(
                "anteroom: there is no {DEFAULT_FILE} here. Name a configuration file with -c, or give \
                 --origin http://127.0.0.1:3000 --rate 5/s\n"
            ),
            Refused::Problems(problems) => {
                let count = problems.count();
                let noun = if count == 1 { "problem" } else { "problems" };
                format!("{problems}\nanteroom: {count} {noun} in the configuration\n")
            }
        }
    }
}

impl Found {
    /// The warnings, a paragraph each.
    pub(super) fn warned(&self) -> String {
        self.warnings.iter().map(|warning| format!("warning: {warning}\n")).collect()
    }
}
