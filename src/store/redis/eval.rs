//! One script, run on one connection.
//!
//! Owns the two ways to name a script: by its hash, which is all that goes over the wire a million times, and
//! by its text, when the server has forgotten it. Never runs it twice: only an answer that says it was not
//! run leads to another question.

use redis::{Cmd, Pipeline, Value, cmd};
use sha1::{Digest as _, Sha1};

use super::connection::{Connection, Fault};

/// A script, and the name Redis has for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    text: String,
    sha1: String,
}

impl Script {
    /// A script of this text.
    pub fn new(text: impl Into<String>) -> Script {
        let text = text.into();
        let hash = Sha1::digest(text.as_bytes());
        Script { sha1: hash.iter().map(|byte| format!("{byte:02x}")).collect(), text }
    }

    /// Its hash, as EVALSHA takes it.
    pub fn sha1(&self) -> &str {
        &self.sha1
    }
}

/// A script with what it is given.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    pub(super) script: &'a Script,
    pub(super) keys: &'a [String],
    pub(super) args: &'a [Vec<u8>],
}

impl Question<'_> {
    /// By its hash; by its text if that is forgotten. `asking` tells a node of a cluster that another one
    /// sent us there.
    pub(super) async fn on(&self, connection: &Connection, asking: bool) -> Result<Value, Fault> {
        let by_hash = self.command("EVALSHA", &self.script.sha1);
        match ask(connection, by_hash, asking).await {
            Err(Fault::Said(error)) if error.code() == "NOSCRIPT" => {
                ask(connection, self.command("EVAL", &self.script.text), asking).await
            }
            answer => answer,
        }
    }

    fn command(&self, verb: &str, script: &str) -> Cmd {
        let mut command = cmd(verb);
        command.arg(script).arg(self.keys.len()).arg(self.keys).arg(self.args);
        command
    }
}

async fn ask(connection: &Connection, command: Cmd, asking: bool) -> Result<Value, Fault> {
    if !asking {
        return connection.ask(&command).await;
    }
    let mut both = Pipeline::new();
    both.cmd("ASKING").add_command(command);
    match connection.ask_all(&both).await?.pop() {
        Some(Value::ServerError(error)) => Err(Fault::Said(error)),
        answer => Ok(answer.unwrap_or(Value::Nil)),
    }
}
