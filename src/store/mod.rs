//! Where lines are kept: the one question a node asks of them, and who answers it.
//!
//! Owns the contract between nodes and the keepers of lines. Decides nothing about visitors: every
//! rule is in [`crate::line`], and a store only says when a batch happens and keeps what came of it.
//!
//! | url | kept | for |
//! |---|---|---|
//! | `memory:` | until the process ends | tests, trying things out |
//! | `embedded:PATH` | in one file, across crashes | one node that needs nothing but itself |
//! | `redis://…` and its like | in a Redis | any number of nodes |
//!
//! # The contract
//!
//! [`Store::exchange`] applies one node's batch to one room and returns what became of it.
//!
//! 1. **Atomic.** A batch is applied whole or not at all, and no other batch of its room is applied
//!    meanwhile. Rooms know nothing of each other.
//! 2. **Applied once** for its (node, sequence). The same batch again is answered as the first time.
//! 3. **An error says nothing about what happened**, unless it is [`StoreError::Room`] or
//!    [`StoreError::Batch`], which refuse before anything is touched. After any other, or if the
//!    returned future is dropped, the batch may have been applied: send it again, the same one under the
//!    same sequence, until it is answered.
//! 4. **A reply is kept before it is told.** Numbers given, turns, entries, ends, settings, pauses and
//!    epochs in a reply survive whatever the store promises to survive. Only marks may be lost, by a
//!    crash, up to a second of them: the visitors' next polls repeat them.
//! 5. **In order.** Batches of a room happen one after the other, and a reply tells of all before it. A
//!    node has one exchange under way a room: of two at once the later sequence might come first, and
//!    the other would be superseded.
//! 6. **Time and memory are the store's**: [`Moment`](crate::line::Moment) comes from it. Another run id
//!    than before means that it may have lost something, and the line settles.
//! 7. **A room begins with its first exchange.** Names are given by operators, never by visitors, so
//!    there are few; [`crate::name`] says what may be one.
//! 8. **Nothing blocks.** The future may wait for a disk or a network, never a thread for it. It needs no
//!    particular runtime, unless the store is a Redis, whose sockets and deadlines are tokio's: a connection
//!    lives in the runtime of whoever needed it first, and once that has ended the next one opens its own.

mod backend;
mod embedded;
mod error;
#[cfg(test)]
mod faults;
mod file;
mod journal;
mod lines;
mod memory;
mod opening;
pub mod redis;
mod writer;

use std::fmt;
use std::num::NonZeroU64;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

pub use embedded::{Embedded, Recovery};
pub use error::StoreError;
pub use memory::Memory;
pub use redis::{Access, Redis};

use redis::Address;

use crate::line::{Batch, Found, Question, Reply};
use crate::name;

/// What is no room, but kept like one: which rooms operators have made, which nodes there are, what was done that is no single
/// room's. Nobody waits in it, and no room can be called so.
pub const HOUSE: &str = "*";

/// What an exchange returns: boxed, so that a node need not know which store it has.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The wall clock, in unix milliseconds. Handed in, so that tests can turn it.
pub type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// A keeper of lines. The contract is in the module's documentation.
pub trait Store: Send + Sync {
    /// Applies `batch` to `room`, once, and returns what became of it.
    fn exchange<'a>(
        &'a self,
        room: &'a str,
        batch: Batch,
    ) -> BoxFuture<'a, Result<Reply, StoreError>>;

    /// Answers an operator's question about a room, as it stands. Changes nothing, and so may be asked at any time.
    fn find<'a>(
        &'a self,
        room: &'a str,
        question: Question,
    ) -> BoxFuture<'a, Result<Found, StoreError>>;
}

/// What a store needs from outside, clock and chance. The random parts count only where there is
/// nothing yet: a file keeps those it was made with.
#[derive(Clone)]
pub struct Opening {
    /// The wall clock.
    pub clock: Clock,
    /// Random: names this memory, see [`Moment::run`](crate::line::Moment::run).
    pub run: NonZeroU64,
    /// Random: what signs tickets and passes where no keys are configured.
    pub secret: Secret,
}

/// A store, and what it keeps beside its lines.
pub struct Opened {
    /// Asked from everywhere.
    pub store: Arc<dyn Store>,
    /// What signs tickets and passes where no keys are configured. It lives as long as the lines do, so
    /// no ticket outlives its number. `None`: keys must be configured.
    pub secret: Option<Secret>,
}

/// Opens the store a url names, with `access` if it is a Redis: that need not be there yet.
///
/// # Errors
/// An unknown scheme, or whatever hinders the store; the sentence says what to do.
pub async fn open(url: &str, access: Access, opening: Opening) -> Result<Opened, StoreError> {
    match url.split_once(':') {
        Some(("memory", "")) => Ok(Opened {
            secret: Some(opening.secret),
            store: Arc::new(Memory::new(opening.clock, opening.run)),
        }),
        Some(("embedded", path)) if !path.is_empty() => {
            let store = Embedded::open(Path::new(path), opening)?;
            Ok(Opened { secret: Some(store.signing_secret()), store: Arc::new(store) })
        }
        Some((scheme, _)) if Address::is_scheme(scheme) => {
            let store = Redis::new(Address::parse(url)?.with(access)?)?;
            store.check().await?;
            Ok(Opened { secret: None, store: Arc::new(store) })
        }
        _ => Err(StoreError::Scheme { url: url.to_owned() }),
    }
}

/// 32 bytes that nobody may see.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Secret(pub [u8; 32]);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl fmt::Debug for Opening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opening").field("run", &self.run).finish_non_exhaustive()
    }
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened").finish_non_exhaustive()
    }
}

/// Contract 7.
fn check_room(room: &str) -> Result<(), StoreError> {
    match room == HOUSE || name::is_room(room) {
        true => Ok(()),
        false => Err(StoreError::Room { room: name::shortened(room) }),
    }
}
