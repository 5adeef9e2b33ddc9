//! `anteroom invite`: a link that proves a class, made from the keys of a configuration, without a running node.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Args;

use super::source::Source;
use super::{Done, Failure, USAGE};
use crate::admin::invites::{MAX_SECONDS, with_token};
use crate::clock;
use crate::config::Environment;
use crate::token::{Invite, KeyRing};
use crate::units;

/// Make a signed invite: whoever opens the link joins with its class
#[derive(Args)]
#[command(
    after_help = "The keys are the configuration's. Where a store made its own, use the operators' port.\nOptions may also be given as ANTEROOM_CONFIG."
)]
pub(super) struct Make {
    /// The room, as the configuration calls it
    #[arg(long, value_name = "ROOM")]
    room: String,
    /// A class of the room
    #[arg(long, value_name = "CLASS")]
    class: String,
    /// How often it may be used; 0: any number of times
    #[arg(long, value_name = "N", default_value_t = 1)]
    uses: u32,
    /// For how long it is good, at most 30d
    #[arg(long, value_name = "TIME", default_value = "7d")]
    expires: String,
    /// Whom it is for: in the ticket and the pass of whoever uses it
    #[arg(long, value_name = "USER")]
    user: Option<String>,
    /// The address that the link leads to; without it the token alone is printed
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    #[command(flatten)]
    source: Source,
}

impl Make {
    pub(super) fn run(self) -> Done {
        let environment: Environment = std::env::vars_os().collect();
        let found = match self.source.plan(&environment) {
            Ok(found) => found,
            Err(refused) => {
                let _ = io::stderr().write_all(refused.text().as_bytes());
                return Ok((String::new(), USAGE.into()));
            }
        };
        let usage = |text: String| Failure::Usage(text);
        let mut rooms = found.plan.gateway.rooms.iter();
        let room = rooms
            .find(|room| room.guard.room == self.room)
            .ok_or_else(|| usage(format!("{} has no room {:?}", found.name, self.room)))?;
        if !room.line.classes.iter().any(|class| class.name == self.class) {
            let names: Vec<&str> = room.line.classes.iter().map(|c| c.name.as_str()).collect();
            let has = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return Err(usage(format!(
                "room {} has no class {:?}: it has {has}",
                self.room, self.class
            )));
        }
        if found.plan.keys.signing.is_empty() {
            let text = "the configuration has no [keys]: the store made one of its own. Make invites over the \
                        operators' port (POST /v1/rooms/ROOM/invites), or give the configuration keys";
            return Err(usage(text.to_owned()));
        }
        let seconds = units::duration(&self.expires)
            .map_err(|means| usage(format!("--expires {:?}: {means}", self.expires)))?
            / 1_000;
        if !(1..=MAX_SECONDS).contains(&seconds) {
            let text = "is more than none and at most 30d: for so long uses are remembered";
            return Err(usage(format!("--expires {:?} {text}", self.expires)));
        }
        let ring = KeyRing::new(found.plan.keys.signing.clone(), found.plan.keys.pass.clone());
        let keys = ring.and_then(|ring| ring.room(&self.room)).map_err(Failure::Room)?;
        let mut id = [0; 16];
        getrandom::fill(&mut id).map_err(Failure::Entropy)?;
        let invite = Invite {
            id,
            class: self.class.as_str().into(),
            uses: self.uses,
            expires_at: clock::now_ms() / 1_000 + seconds,
            user_id: self.user.as_deref().map(Into::into),
        };
        let token = keys.sign_invite(&invite).map_err(|error| usage(error.to_string()))?;
        let link = self.url.as_deref().map_or(token.clone(), |url| with_token(url, &token));
        // Whoever pipes it wants the link alone; who it was is for whoever revokes it.
        let _ = writeln!(io::stderr(), "invite {}", invite.name());
        Ok((format!("{link}\n"), ExitCode::SUCCESS))
    }
}
