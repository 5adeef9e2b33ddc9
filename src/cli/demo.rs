//! `anteroom demo`: everything at once, on this machine.

use std::net::SocketAddr;
use std::process::ExitCode;

use clap::Args;

use super::{Done, Failure};
use crate::config::{self, Quick};
use crate::{app, demo};

/// Show a waiting room: a site, a gateway before it and a crowd, on this machine
#[derive(Args)]
#[command(after_help = "Options may also be given as ANTEROOM_VISITORS, ANTEROOM_LISTEN.")]
pub(super) struct Demo {
    /// Simulated visitors in line before you
    #[arg(
        long,
        value_name = "N",
        default_value_t = 300,
        env = "ANTEROOM_VISITORS",
        hide_env = true
    )]
    visitors: u16,
    /// Where to listen
    #[arg(
        long,
        value_name = "ADDR",
        default_value = "127.0.0.1:8080",
        env = "ANTEROOM_LISTEN",
        hide_env = true
    )]
    listen: SocketAddr,
}

impl Demo {
    pub(super) fn run(self) -> Done {
        let folder =
            tempfile::tempdir().map_err(|error| Failure::App(app::Failure::Runtime(error)))?;
        let store = format!("embedded:{}", folder.path().join("demo.db").display());
        let listen = self.listen;
        let quick = move |site: SocketAddr| Quick {
            origin: Some(format!("http://{site}")),
            rate: Some(format!("{}/s", demo::RATE)),
            max_active: None,
            listen: Some(listen.to_string()),
        };
        // Checked before anything starts: what is wrong with the options is told as for `serve`.
        let probe = SocketAddr::from(([127, 0, 0, 1], 9));
        let plan = move |site: SocketAddr| {
            // In memory first: that the working directory could not be written is nothing to a demo.
            let memory = [("ANTEROOM_REDIS_ADDR", "memory:")].into_iter().collect();
            let (mut plan, _) = config::quick(quick(site), &memory)?;
            plan.store.url = store;
            // Each of the crowd has an address of its own, by the word of this machine.
            plan.gateway.trusted_proxies = vec![std::net::IpAddr::from([127, 0, 0, 1]).into()];
            Ok::<_, config::Problems>(plan)
        };
        plan.clone()(probe).map_err(|problems| Failure::Usage(problems.to_string()))?;
        let settings = demo::Settings {
            visitors: usize::from(self.visitors),
            listen,
            plan: Box::new(move |site| plan(site).expect("checked above; only the port differs")),
        };
        let runtime = tokio::runtime::Runtime::new();
        let runtime = runtime.map_err(|error| Failure::App(app::Failure::Runtime(error)))?;
        runtime.block_on(demo::run(settings)).map_err(Failure::App)?;
        Ok((String::new(), ExitCode::SUCCESS))
    }
}
