//! `anteroom demo`: everything at once, on this machine.

use std::net::SocketAddr;
use std::process::ExitCode;

use clap::Args;

use super::{Done, Failure};
use crate::config::{self, Plan, Quick};
use crate::store::redis::{Access, Address, Password};
use crate::token::{Key, MIN_SECRET, Secret};
use crate::{admin, app, demo};

/// Show a waiting room: a site, a gateway before it and a crowd, on this machine
#[derive(Args)]
#[command(
    after_help = "Options may also be given as ANTEROOM_VISITORS, _LISTEN, _ADMIN_LISTEN, _REDIS_ADDR.\nA password of that Redis comes by ANTEROOM_REDIS_PASSWORD."
)]
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
    /// Where operators are answered, if it is free
    #[arg(
        long,
        value_name = "ADDR",
        default_value = "127.0.0.1:9090",
        env = "ANTEROOM_ADMIN_LISTEN",
        hide_env = true
    )]
    admin: SocketAddr,
    /// Keep the line in this Redis, in a room of its own, instead of a file
    #[arg(long, value_name = "URL", env = "ANTEROOM_REDIS_ADDR", hide_env = true)]
    redis: Option<String>,
}

/// The key that signs while a demo lasts: a Redis keeps none.
const KEY: &str = "demo";
/// What opens that Redis: never an argument, which everybody on a machine can list.
const PASSWORD: &str = "ANTEROOM_REDIS_PASSWORD";

impl Demo {
    pub(super) fn run(self) -> Done {
        let folder =
            tempfile::tempdir().map_err(|error| Failure::App(app::Failure::Runtime(error)))?;
        let password = std::env::var(PASSWORD).ok().filter(|password| !password.is_empty());
        let redis = self.redis.as_deref().map(|url| InRedis::new(url, password));
        let redis = redis.transpose()?;
        let store = format!("embedded:{}", folder.path().join("demo.db").display());
        let listen = self.listen;
        let key = super::fresh()?;
        let operators = admin::Settings {
            listen: Some(self.admin.to_string()),
            metrics_listen: None,
            keys: vec![admin::Key {
                name: "demo".to_owned(),
                hash: admin::Hash::of(key.as_bytes()),
                role: admin::Role::Admin,
                tenant: None,
            }],
            metrics_public: true,
        };
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
            match redis {
                Some(redis) => redis.take_in(&mut plan),
                None => plan.store.url = store,
            }
            // Each of the crowd has an address of its own, by the word of this machine.
            plan.gateway.trusted_proxies = vec![std::net::IpAddr::from([127, 0, 0, 1]).into()];
            plan.admin = operators;
            Ok::<_, config::Problems>(plan)
        };
        plan.clone()(probe).map_err(|problems| Failure::Usage(problems.to_string()))?;
        let settings = demo::Settings {
            visitors: usize::from(self.visitors),
            listen,
            key,
            plan: Box::new(move |site| plan(site).expect("checked above; only the port differs")),
        };
        let runtime = tokio::runtime::Runtime::new();
        let runtime = runtime.map_err(|error| Failure::App(app::Failure::Runtime(error)))?;
        runtime.block_on(demo::run(settings)).map_err(Failure::App)?;
        Ok((String::new(), ExitCode::SUCCESS))
    }
}

/// A line in a Redis that may serve others: a room with a name that nobody has, and a key for it.
#[derive(Clone)]
struct InRedis {
    url: String,
    access: Access,
    room: String,
    key: Key,
}

impl InRedis {
    fn new(url: &str, password: Option<String>) -> Result<InRedis, Failure> {
        // A host and a port alone will do.
        let url = match url.split_once(':') {
            Some((scheme, _)) if Address::is_scheme(scheme) => url.to_owned(),
            _ => format!("redis://{url}"),
        };
        let said = |error: &dyn std::fmt::Display| Failure::Usage(format!("--redis: {error}"));
        let beside = Access { password: password.map(Password), ..Access::default() };
        let address = Address::parse(&url).and_then(|address| address.with(beside));
        let address = address.map_err(|error| said(&error))?;
        let mut entropy = [0; MIN_SECRET];
        getrandom::fill(&mut entropy).map_err(Failure::Entropy)?;
        let room = format!(
            "demo-{:08x}",
            u32::from_be_bytes([entropy[0], entropy[1], entropy[2], entropy[3]])
        );
        getrandom::fill(&mut entropy).map_err(Failure::Entropy)?;
        let key = Key::new(KEY, Secret::from_entropy(entropy).0).map_err(|error| said(&error))?;
        Ok(InRedis { url: address.to_string(), access: address.access, room, key })
    }

    fn take_in(self, plan: &mut Plan) {
        plan.store.url = self.url;
        plan.store.access = self.access;
        plan.keys.signing = vec![self.key];
        for room in &mut plan.gateway.rooms {
            room.guard.room.clone_from(&self.room);
        }
    }
}
