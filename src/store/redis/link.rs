//! The way to a Redis, whichever kind it is: one script at a time, or as many as there are rooms.
//!
//! Owns what an answer means for the connection it came on. Opens lazily, so that a node starts while Redis
//! is down, and inside the tokio runtime of whoever asks first.
//!
//! **Nothing is sent twice.** A question without an answer may have been heard; a script that was refused
//! (NOSCRIPT, MOVED, ASK) was not run, and only then it is sent on. Everything else is an error, and whoever
//! asked sends the same batch again under the same sequence: that is the store's contract.
//!
//! **What ends a connection**: silence, a break, and every answer that shows that it leads to the wrong
//! server or to one that no longer knows us (READONLY, MASTERDOWN, CLUSTERDOWN, NOAUTH). The next question opens a new
//! one, from the beginning: names are resolved, Sentinels asked, the server looked at. The redis crate's
//! `ConnectionManager` keeps its connection in each of those cases, lets callers wait for as long as it
//! reconnects, and never gives up a link that swallows everything.

use std::fmt;
use std::sync::Arc;

use redis::Value;

use super::address::{Address, Server, Target};
use super::cluster::Cluster;
use super::connection::{Connection, Fault, Place};
use super::dialler::Dialler;
use super::eval::{Question, Script};
use super::info::Part;
use super::sentinel;
use super::slot::Slot;
use super::trouble::Failure;
use crate::store::StoreError;

/// A way to a Redis.
pub struct Link {
    dialler: Arc<Dialler>,
    way: Way,
}

enum Way {
    /// To one server, whichever it is at the time.
    One(Slot, Master),
    /// To each of several.
    Many(Cluster),
}

/// Where the one is.
#[derive(Clone)]
enum Master {
    At(Place),
    KnownTo { sentinels: Vec<Server>, name: String },
}

impl Link {
    /// A link to an address. Nothing is opened yet.
    ///
    /// # Errors
    /// Certificates that can't be used.
    pub fn new(address: Address) -> Result<Link, StoreError> {
        let one = |master| Way::One(Slot::default(), master);
        let way = match address.target.clone() {
            Target::Server(server) => one(Master::At(Place::Server(server))),
            Target::Socket(path) => one(Master::At(Place::Socket(path))),
            Target::Sentinels { sentinels, master } => {
                one(Master::KnownTo { sentinels, name: master })
            }
            Target::Cluster(seeds) => Way::Many(Cluster::new(seeds)),
        };
        Ok(Link { dialler: Arc::new(Dialler::new(address)?), way })
    }

    /// Where it leads.
    pub fn address(&self) -> &Address {
        &self.dialler.address
    }

    /// Runs a script. All its keys must be in one slot where there is a cluster.
    ///
    /// # Errors
    /// The script was not run, or nobody knows whether it was.
    pub async fn eval(
        &self,
        script: &Script,
        keys: &[String],
        args: &[Vec<u8>],
    ) -> Result<Value, StoreError> {
        let question = Question { script, keys, args };
        match &self.way {
            Way::One(slot, master) => {
                let connection = self.master(slot, master).await?;
                let answer = question.on(&connection, false).await;
                Ok(answer.map_err(|fault| blame(&connection, &fault))?)
            }
            Way::Many(cluster) => Ok(cluster.eval(&self.dialler, question).await?),
        }
    }

    /// Whether lines can be kept there: reached, let in, new enough, evicting nothing. Each server is looked
    /// at when a connection to it is opened; this looks once more. Of a cluster it looks at one node.
    ///
    /// # Errors
    /// What is in the way; [`Trouble::is_passing`](super::Trouble::is_passing) tells whether it may pass by itself.
    pub async fn check(&self) -> Result<(), StoreError> {
        let (connection, part) = match &self.way {
            Way::One(slot, master) => (self.master(slot, master).await?, Part::Master),
            Way::Many(cluster) => (cluster.any(&self.dialler).await?, Part::Node),
        };
        let looked = connection.look(part).await;
        Ok(looked.map_err(|trouble| trouble.of(&connection.place))?)
    }

    async fn master(&self, slot: &Slot, master: &Master) -> Result<Arc<Connection>, Failure> {
        let open = || {
            let (dialler, master) = (self.dialler.clone(), master.clone());
            async move {
                match master {
                    Master::At(place) => dialler.open(&place, Part::Master).await,
                    Master::KnownTo { sentinels, name } => {
                        sentinel::open(&dialler, &sentinels, &name).await
                    }
                }
            }
        };
        slot.connection(&self.dialler.address, open).await
    }
}

/// Whose fault it was; ends a connection that leads nowhere any more.
pub(super) fn blame(connection: &Connection, fault: &Fault) -> Failure {
    if let Fault::Said(error) = fault
        && matches!(error.code(), "READONLY" | "MASTERDOWN" | "CLUSTERDOWN" | "NOAUTH")
    {
        connection.give_up();
    }
    fault.trouble().of(&connection.place)
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("address", &self.dialler.address).finish_non_exhaustive()
    }
}
