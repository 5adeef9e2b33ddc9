//! Lines in a Redis that many nodes share: the exchange as one atomic script.
//!
//! Owns everything about Redis: nobody else knows its types. The rules are those of [`crate::line`], written
//! once more in Lua (`lua/`, with a README); model tests hold the two equal to the last outcome. In reading
//! order:
//! - [`script`]: its text and the keys it is given. Pure.
//! - [`wire`]: from a batch to its arguments, and from its answer to a reply. Pure.
//! - [`address`]: what a url names. Pure.
//! - [`trouble`]: what can be the matter, in sentences. Pure.
//! - `info`: what a server must be. Pure.
//! - `tls`, `connection`, `dialler`: one connection, from the socket to the first question.
//! - `slot`: a place for one, opened when somebody asks.
//! - `eval`: a script, run once.
//! - `sentinel`, `cluster`: who is the one to ask.
//! - [`link`]: all of it together, for one address.

pub mod address;
mod cluster;
mod connection;
mod dialler;
mod eval;
mod info;
pub mod link;
pub mod script;
mod sentinel;
mod slot;
mod tls;
pub mod trouble;
pub mod wire;

use std::fmt;

pub use address::{Access, Address, BadAddress, Password, Server, Target};
pub use connection::DEADLINE;
pub use eval::Script;
pub use link::Link;
pub use tls::certificates_in;
pub use trouble::Trouble;

use super::{BoxFuture, Store, StoreError, check_room};
use crate::line::{Batch, Found, Moment, Question, Reply};

/// The store in a Redis.
pub struct Redis {
    link: Link,
    script: Script,
    reading: Script,
    moment: Option<Turned>,
}

/// When an exchange happens, by somebody else than the server.
type Turned = Box<dyn Fn() -> Moment + Send + Sync>;

impl Redis {
    /// The store at an address. Nothing is opened yet, so it need not be there.
    ///
    /// # Errors
    /// Certificates that can't be used.
    pub fn new(address: Address) -> Result<Redis, StoreError> {
        let (script, reading) = (Script::new(script::TEXT), Script::new(script::READ));
        Ok(Redis { link: Link::new(address)?, script, reading, moment: None })
    }

    /// By another clock and memory than the server's own: for whoever must turn them.
    #[must_use]
    pub fn turned_by(mut self, moment: impl Fn() -> Moment + Send + Sync + 'static) -> Redis {
        self.moment = Some(Box::new(moment));
        self
    }

    /// Removes a room, with everybody in it. Only for one that nobody speaks for any more: a node that does would find
    /// a line without a memory, and bring back what it knows.
    ///
    /// # Errors
    /// It may still be there.
    pub async fn forget(&self, room: &str) -> Result<(), StoreError> {
        check_room(room)?;
        let forget = Script::new(script::FORGET);
        self.link.eval(&forget, &script::keys(room), &[]).await.map(|_| ())
    }

    /// Whether lines can be kept there. What may pass by itself is told, and no reason not to start.
    ///
    /// # Errors
    /// What an operator has to change.
    pub async fn check(&self) -> Result<(), StoreError> {
        match self.link.check().await {
            Err(StoreError::Redis { address, trouble }) if trouble.is_passing() => {
                tracing::warn!(event = "store.away", "{address}: {trouble}. Starting without it");
                Ok(())
            }
            checked => checked,
        }
    }
}

impl Store for Redis {
    fn exchange<'a>(
        &'a self,
        room: &'a str,
        batch: Batch,
    ) -> BoxFuture<'a, Result<Reply, StoreError>> {
        Box::pin(async move {
            check_room(room)?;
            let moment = self.moment.as_ref().map(|moment| moment());
            let call = wire::encode(room, &batch, moment)?;
            let answer = self.link.eval(&self.script, &call.keys, &call.args).await?;
            wire::decode(answer)
        })
    }

    fn find<'a>(
        &'a self,
        room: &'a str,
        question: Question,
    ) -> BoxFuture<'a, Result<Found, StoreError>> {
        Box::pin(async move {
            check_room(room)?;
            let args = wire::ask_for(question);
            let answer = self.link.eval(&self.reading, &script::keys(room), &args).await?;
            wire::found(question, answer)
        })
    }
}

impl fmt::Debug for Redis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redis").field("link", &self.link).finish_non_exhaustive()
    }
}
