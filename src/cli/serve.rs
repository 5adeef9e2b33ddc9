//! `anteroom serve`: runs a node.
//!
//! Owns its options; the node itself is [`crate::app`]'s.

use std::io::{self, Write as _};

use clap::Args;
use clap::builder::FalseyValueParser;

use super::source::Source;
use super::{Done, Failure, USAGE};
use crate::app;
use crate::config::Environment;

/// Run a node in front of a site
#[derive(Args)]
#[command(
    after_help = "Options may also be given as ANTEROOM_CONFIG, _ORIGIN, _RATE, _MAX_ACTIVE, _LISTEN, _UPGRADE.\nANTEROOM_PORT, _REDIS_ADDR, _REDIS_PASSWORD, _TOKEN_SECRET, _LOG_LEVEL,\n_ADMIN_LISTEN, _ADMIN_API_KEY and _METRICS_PORT overrule the file."
)]
pub(super) struct Serve {
    #[command(flatten)]
    source: Source,
    /// Take over from the node that listens at the file's upgrade_socket
    #[arg(long, env = "ANTEROOM_UPGRADE", hide_env = true, value_parser = FalseyValueParser::new())]
    upgrade: bool,
}

impl Serve {
    pub(super) fn run(self) -> Done {
        let environment: Environment = std::env::vars_os().collect();
        let found = match self.source.plan(&environment) {
            Ok(found) => found,
            Err(refused) => {
                // Nobody is left to tell if standard error is gone.
                let _ = io::stderr().write_all(refused.text().as_bytes());
                return Ok((String::new(), USAGE.into()));
            }
        };
        let _ = io::stderr().write_all(found.warned().as_bytes());
        let again = move || match self.source.plan(&environment) {
            Ok(found) => {
                for warning in &found.warnings {
                    tracing::warn!(event = "config.warned", %warning, "probably not meant so");
                }
                Ok(found.plan)
            }
            Err(refused) => Err(refused.problems()),
        };
        let code = app::serve(found.plan, self.upgrade, Box::new(again)).map_err(Failure::App)?;
        Ok((String::new(), code))
    }
}
